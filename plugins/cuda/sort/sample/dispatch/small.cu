/* small.cu - sorts of few pairs. */
#include "cuda/sort/sample/dispatch/sort_small.cuh"

template struct sample::small_sort<wide_pair<uint32_t, uint32_t>>;
template struct sample::small_sort<wide_pair<uint64_t, uint32_t>>;
template struct sample::small_sort<wide_pair<device_uint128, uint32_t>>;
