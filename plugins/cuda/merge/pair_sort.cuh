/* pair_sort.cuh - what merge_sort.cu and merge_runs.cuh choose from. */
#ifndef RECSORT_CUDA_MERGE_PAIR_SORT_CUH
#define RECSORT_CUDA_MERGE_PAIR_SORT_CUH

#include "cuda/pair.cuh"

namespace merge
{

/* A device_sort that moves pairs of one type. Compiled apart: packed.cu, wide.cu, wide_indices.cu.
 */
template <class Key, class Pair> struct pair_sort {
  static device_status sort(const device_job *job, const device_buffers *buffers, unsigned *result);
  /* Of buffers->extra. */
  static uint64_t extra_bytes(const device_job *job);
};

/* A merge of two runs of keys, keys [0, first) and the others, in buffers->keys[0] or in
 * buffers->input: the pairs go to the second pair of buffers. Needs no memory besides. Compiled
 * apart: two_runs.cu, wide_indices.cu. */
template <class Pair> struct two_runs {
  static device_status merge(const device_job *job, uint64_t first, const device_buffers *buffers);
};

} // namespace merge

#endif
