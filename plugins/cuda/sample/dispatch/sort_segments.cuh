/* sort_segments.cuh - launches the sort of short segments. */
#ifndef RECSORT_CUDA_SAMPLE_DISPATCH_SORT_SEGMENTS_CUH
#define RECSORT_CUDA_SAMPLE_DISPATCH_SORT_SEGMENTS_CUH

#include "cuda/sample/agent/sort_segments.cuh"
#include "cuda/sample/dispatch/sort_many.cuh"

namespace sample
{

/* A tile may begin in the middle of a segment and so at its end: it has space for `most` more. */
template <class Pair> bool segment_sort<Pair>::fits(const device_job *job, uint64_t most)
{
  const sample_plan plan = sample_plan_of_tiles(job, policy<Pair>::traits());
  return most <= plan.tile / 4 * 3;
}

template <class Pair>
device_status segment_sort<Pair>::sort(const device_job *job, const device_segments *segments,
                                       const device_buffers *buffers)
{
  const sample_traits traits = policy<Pair>::traits();
  const sample_plan plan = sample_plan_of_tiles(job, traits);
  const uint32_t each = plan.tile - (uint32_t)segments->most + 1;
  sort_segments_args<Pair> args = {source_of<Pair>(job, buffers), *segments,  job->count, plan.tile,
                                   sample_joined(&plan, traits),  plan.limit, each,       {}};
  if constexpr (Pair::packed)
    args.target.sink = {buffers->keys[1], buffers->indices[1], job->key_width, job->index_bits};
  else
    args.target.pairs = pair_array_of_side<Pair>(buffers, 1);
  return device_launch(sort_segments<Pair>, plan_blocks(job->count, each), plan.block,
                       sample_tile_bytes(plan.block, traits), job->stream, args);
}

} // namespace sample

#endif
