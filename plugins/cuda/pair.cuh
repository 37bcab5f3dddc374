/* pair.cuh - pairs of a key and its index, as kernels see them: a type of pair is a template
 * parameter of all that moves pairs.
 *
 *   wide_pair<Key, Index>   both beside each other, in arrays of their own
 *   packed_pair             both in 64 bits, the key in front; one array
 */
#ifndef RECSORT_CUDA_PAIR_CUH
#define RECSORT_CUDA_PAIR_CUH

#include "common/co_rank.h"
#include "cuda/device.h"

template <class Key, class Index> struct wide_pair {
  using key_type = Key;
  using index_type = Index;
  static constexpr bool packed = false;
  static constexpr uint32_t bytes = sizeof(Key) + sizeof(Index);

  Key key;
  Index index;
};

struct packed_pair {
  using key_type = uint64_t;
  using index_type = uint64_t;
  static constexpr bool packed = true;
  static constexpr uint32_t bytes = sizeof(uint64_t);

  uint64_t key; /* the index is in its low bits */
};

template <class Pair> using key_of = typename Pair::key_type;
template <class Pair> using index_of = typename Pair::index_type;

/* Where pairs are. `indices` of NULL: those of pairs that are where they were in the input. */
template <class Pair> struct pair_array {
  key_of<Pair> *keys;
  index_of<Pair> *indices;
};
template <> struct pair_array<packed_pair> {
  uint64_t *keys;
};

/* An array of `count` pairs that begins at `memory`. */
template <class Pair>
RECSORT_HD static inline pair_array<Pair> pair_array_at(void *memory, uint64_t count)
{
  pair_array<Pair> array;
  array.keys = (key_of<Pair> *)memory;
  if constexpr (!Pair::packed) array.indices = (index_of<Pair> *)(array.keys + count);
  return array;
}

/* Where such an array ends. */
template <class Pair>
RECSORT_HD static inline void *pair_array_end(const pair_array<Pair> *array, uint64_t count)
{
  if constexpr (Pair::packed)
    return array->keys + count;
  else
    return array->indices + count;
}

template <class Pair> DEVICE_INLINE Pair pair_get(const pair_array<Pair> *from, uint64_t i)
{
  Pair pair;
  pair.key = from->keys[i];
  if constexpr (!Pair::packed) pair.index = from->indices[i];
  return pair;
}

template <class Pair> DEVICE_INLINE void pair_put(const pair_array<Pair> *to, uint64_t i, Pair pair)
{
  to->keys[i] = pair.key;
  if constexpr (!Pair::packed) to->indices[i] = pair.index;
}

/* All pairs differ: no two have one index. */
template <class Pair> DEVICE_INLINE bool pair_less(Pair a, Pair b)
{
  if constexpr (Pair::packed)
    return a.key < b.key;
  else
    return a.key < b.key || (a.key == b.key && a.index < b.index);
}

/* What lane `from` of the warp has, of any unsigned type. */
template <class Key> DEVICE_INLINE Key key_from_lane(Key key, uint32_t from)
{
  if constexpr (sizeof(Key) <= sizeof(uint64_t)) {
    return (Key)__shfl_sync(UINT32_MAX, key, from);
  } else {
    const uint64_t low = __shfl_sync(UINT32_MAX, (uint64_t)key, from);
    const uint64_t high = __shfl_sync(UINT32_MAX, (uint64_t)(key >> 64), from);
    return (Key)high << 64 | low;
  }
}

#endif
