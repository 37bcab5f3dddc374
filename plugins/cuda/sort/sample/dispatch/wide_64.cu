/* wide_64.cu - sorts of many pairs: keys of 64 bits. */
#include "cuda/sort/sample/dispatch/sort_many.cuh"

template struct sample::many_sort<wide_pair<uint64_t, uint32_t>>;
