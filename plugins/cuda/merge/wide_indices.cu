/* wide_indices.cu - the merge sort, and merges of two runs, of more than 2^32 keys: indices of 64
 * bits. A build for every GPU makes these for compute capability 9.0 and later only: older GPUs
 * have no memory for so many.
 */
#include "cuda/merge/dispatch.cuh"
#include "cuda/merge/two_runs.cuh"

template struct merge::pair_sort<uint32_t, wide_pair<uint32_t, uint64_t>>;
template struct merge::pair_sort<uint64_t, wide_pair<uint64_t, uint64_t>>;
template struct merge::pair_sort<device_uint128, wide_pair<device_uint128, uint64_t>>;

template struct merge::two_runs<wide_pair<uint32_t, uint64_t>>;
template struct merge::two_runs<wide_pair<uint64_t, uint64_t>>;
template struct merge::two_runs<wide_pair<device_uint128, uint64_t>>;
