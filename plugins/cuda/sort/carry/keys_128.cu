/* keys_128.cu - carry sorts of keys of 128 bits, with values of each width. */
#include "cuda/sort/carry/pair_sort.cuh"

template struct carry::pair_sort<device_uint128, carry::no_value>;
template struct carry::pair_sort<device_uint128, uint32_t>;
template struct carry::pair_sort<device_uint128, uint64_t>;
template struct carry::pair_sort<device_uint128, device_uint128>;
