/* keys_64.cu - carry sorts of keys of 64 bits, with values of each width, and of records. */
#include "cuda/sort/carry/pair_sort.cuh"

template struct carry::pair_sort<uint64_t, carry::no_value>;
template struct carry::pair_sort<uint64_t, uint32_t>;
template struct carry::pair_sort<uint64_t, uint64_t>;
template struct carry::pair_sort<uint64_t, device_uint128>;
template struct carry::record_sort<uint64_t>;
