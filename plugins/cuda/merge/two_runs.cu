/* two_runs.cu - merges of two runs of keys. */
#include "cuda/merge/two_runs.cuh"

template struct merge::two_runs<wide_pair<uint32_t, uint32_t>>;
template struct merge::two_runs<wide_pair<uint64_t, uint32_t>>;
template struct merge::two_runs<wide_pair<device_uint128, uint32_t>>;
