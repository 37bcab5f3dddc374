/* target.cuh - where a step of the merge sort puts its pairs: to an array, or, if they are packed
 * and the step is the last one, unpacked.
 */
#ifndef RECSORT_CUDA_MERGE_TARGET_CUH
#define RECSORT_CUDA_MERGE_TARGET_CUH

#include "cuda/merge/plan.h"
#include "cuda/pair.cuh"

namespace merge
{

template <class Pair> struct merge_target {
  pair_array<Pair> pairs;
};
template <> struct merge_target<packed_pair> {
  pair_array<packed_pair> pairs;
  pair_sink sink; /* `indices` of NULL: they stay packed */
  uint32_t index_bits;
};

template <class Pair>
DEVICE_INLINE void target_put(const merge_target<Pair> *to, uint64_t i, Pair pair)
{
  if constexpr (Pair::packed) {
    if (to->sink.indices) {
      store_unpacked(&to->sink, to->index_bits, i, pair.key);
      return;
    }
  }
  pair_put(&to->pairs, i, pair);
}

/* The first `count` of the block's pairs to the places from `first` on. */
template <class Pair>
DEVICE_INLINE void store_pairs(const merge_target<Pair> &to, uint64_t first, uint32_t count,
                               pair_array<Pair> from)
{
  if constexpr (Pair::packed) {
    if (to.sink.indices) {
      const pair_sink sink = sink_from(&to.sink, first);
      DEVICE_UNROLL_BY_4
      for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
        store_unpacked(&sink, to.index_bits, i, from.keys[i]);
      return;
    }
  }
  DEVICE_UNROLL_BY_4
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
    pair_put(&to.pairs, first + i, pair_get(&from, i));
}

} // namespace merge

#endif
