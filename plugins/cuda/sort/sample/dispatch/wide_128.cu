/* wide_128.cu - sorts of many pairs: keys of 128 bits. */
#include "cuda/sort/sample/dispatch/sort_many.cuh"

template struct sample::many_sort<wide_pair<device_uint128, uint32_t>>;
