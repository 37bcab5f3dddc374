/* wide_indices.cu - sorts and merges of more than 2^32 pairs: indices of 64 bits. A build for every
 * GPU makes this for compute capability 9.0 and later only: older GPUs have no memory for so many.
 */
#include "cuda/sort/sample/dispatch/merge_runs.cuh"
#include "cuda/sort/sample/dispatch/presorted.cuh"
#include "cuda/sort/sample/dispatch/sort_many.cuh"
#include "cuda/sort/sample/dispatch/sort_small.cuh"

template struct sample::many_sort<wide_pair<uint32_t, uint64_t>>;
template struct sample::many_sort<wide_pair<uint64_t, uint64_t>>;
template struct sample::many_sort<wide_pair<device_uint128, uint64_t>>;

template struct sample::small_sort<wide_pair<uint32_t, uint64_t>>;
template struct sample::small_sort<wide_pair<uint64_t, uint64_t>>;
template struct sample::small_sort<wide_pair<device_uint128, uint64_t>>;

template struct sample::presorted<wide_pair<uint32_t, uint64_t>>;
template struct sample::presorted<wide_pair<uint64_t, uint64_t>>;
template struct sample::presorted<wide_pair<device_uint128, uint64_t>>;

template struct sample::run_merge<wide_pair<uint32_t, uint64_t>>;
template struct sample::run_merge<wide_pair<uint64_t, uint64_t>>;
template struct sample::run_merge<wide_pair<device_uint128, uint64_t>>;
