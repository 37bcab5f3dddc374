/* pair_sort.cuh - what merge_sort.cu chooses from.
 */
#ifndef RECSORT_CUDA_MERGE_PAIR_SORT_CUH
#define RECSORT_CUDA_MERGE_PAIR_SORT_CUH

#include "cuda/pair.cuh"

namespace merge
{

/* A device_sort that moves pairs of one type. Compiled apart: packed.cu, wide.cu, wide_indices.cu.
 */
template <class Key, class Pair> struct pair_sort {
  static device_status sort(const device_job *job, const device_buffers *buffers, unsigned *result);
};

/* A merge of two runs of keys, keys [0, first) and the others. Compiled apart: two_runs.cu,
 * wide_indices.cu. */
template <class Pair> struct two_runs {
  static device_status merge(const device_job *job, uint64_t first, const device_buffers *buffers);
};

} // namespace merge

#endif
