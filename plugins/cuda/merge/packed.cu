/* packed.cu - the merge sort of keys that fit in 64 bits with their indices. */
#include "cuda/merge/dispatch.cuh"

template struct merge::pair_sort<uint32_t, packed_pair>;
template struct merge::pair_sort<uint64_t, packed_pair>;
template struct merge::pair_sort<device_uint128, packed_pair>;
