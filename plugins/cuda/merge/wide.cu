/* wide.cu - the merge sort of keys that do not fit in 64 bits with their indices. */
#include "cuda/merge/dispatch.cuh"

template struct merge::pair_sort<uint64_t, wide_pair<uint64_t, uint32_t>>;
template struct merge::pair_sort<device_uint128, wide_pair<device_uint128, uint32_t>>;
