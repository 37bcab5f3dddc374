/* presorted.cu - sorts of keys that are in order or nearly so. */
#include "cuda/sort/sample/dispatch/presorted.cuh"

template struct sample::presorted<wide_pair<uint32_t, uint32_t>>;
template struct sample::presorted<wide_pair<uint64_t, uint32_t>>;
template struct sample::presorted<wide_pair<device_uint128, uint32_t>>;
