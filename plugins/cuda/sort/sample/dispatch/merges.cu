/* merges.cu - merges of sorted runs, except those with indices of 64 bits. */
#include "cuda/sort/sample/dispatch/merge_runs.cuh"

template struct sample::run_merge<packed_pair>;
template struct sample::run_merge<wide_pair<uint64_t, uint32_t>>;
template struct sample::run_merge<wide_pair<device_uint128, uint32_t>>;
