/* merge.cuh - a merge of sorted runs of keys with values. */
#ifndef RECSORT_CUDA_CALL_MERGE_CUH
#define RECSORT_CUDA_CALL_MERGE_CUH

#include "cuda/call/pairs.cuh"
#include "cuda/merge/merge_runs.cuh"
#include "cuda/merge/two_runs.cuh"
#include "cuda/sort/sample/dispatch/merge_runs.cuh"

namespace call
{

/* Merges runs of pairs: run r is [bounds[r], bounds[r + 1]). */
template <class Values, class Key>
static cudaError_t merge_pairs(void *given, size_t &bytes, const device_pairs &pairs,
                               uint32_t value_bytes, const uint64_t *bounds, uint32_t runs)
{
  using code = code_of<Key>;
  device_limits limits;
  cudaError_t error = limits_of_device(&limits);
  if (error) return error;
  const device_job job =
      job_of(pairs.count, pairs.bits, pairs.key_width, limits, (cudaStream_t)pairs.stream);
  constexpr pair_form form = form_of_code<code>;
  const uint64_t extra = merge::merge_runs_bytes<pair_of<code>, form>(&job);
  workspace space = {(char *)given, 0};
  const pairs_memory memory = divide_pairs(job, pairs, extra, value_bytes, &space);
  if (ends_with(space, given, bytes, &error) || pairs.count == 0) return error;
  const device_runs all = {bounds, runs};
  return (cudaError_t)start_pairs<code, Values>(job, pairs, value_bytes, memory, pairs.count,
                                                [&](const device_buffers *buffers, unsigned *side) {
                                                  return merge::merge_runs<pair_of<code>, form>(
                                                      &job, &all, buffers, side);
                                                });
}

} // namespace call

#endif
