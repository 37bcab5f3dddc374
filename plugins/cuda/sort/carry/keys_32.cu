/* keys_32.cu - carry sorts of keys of 32 bits, with values of each width, and of records. */
#include "cuda/sort/carry/pair_sort.cuh"

template struct carry::pair_sort<uint32_t, carry::no_value>;
template struct carry::pair_sort<uint32_t, uint32_t>;
template struct carry::pair_sort<uint32_t, uint64_t>;
template struct carry::pair_sort<uint32_t, device_uint128>;
template struct carry::record_sort<uint32_t>;
