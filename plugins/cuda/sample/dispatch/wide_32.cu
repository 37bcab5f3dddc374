/* wide_32.cu - sorts of many pairs: keys of 32 bits, of which there are 2^32 or more. */
#include "cuda/sample/dispatch/sort_many.cuh"

template struct sample::many_sort<wide_pair<uint32_t, uint64_t>>;
