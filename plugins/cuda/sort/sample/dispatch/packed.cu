/* packed.cu - sorts of many packed pairs: keys and indices that fit in 64 bits. */
#include "cuda/sort/sample/dispatch/sort_many.cuh"

template struct sample::many_sort<packed_pair>;
