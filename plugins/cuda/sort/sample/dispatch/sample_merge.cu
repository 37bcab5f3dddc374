/* sample_merge.cu - merges sorted runs. */
#include "cuda/sort/sample/dispatch/merges.cuh"

using namespace sample;

static pair_merge merge_of(const device_job *job)
{
  return with_short_pair(job, [=](auto pair) { return choose_merge<decltype(pair)>(job); });
}

bool sample_merges(const device_job *job, uint32_t runs)
{
  if (job->index_bits == 64) return false;
  return with_short_pair(job, [=](auto pair) { return merges<decltype(pair)>(job, runs); });
}

device_status sample_merge(const device_job *job, const uint64_t *bounds, uint32_t runs,
                           const device_buffers *buffers)
{
  return with_short_pair(
      job, [=](auto pair) { return merge_bounds<decltype(pair)>(job, bounds, runs, buffers); });
}

/* ---- Of pairs ---- */

static sample_runs runs_of_width(const device_job *job, uint64_t width)
{
  sample_runs runs = {(uint32_t)plan_blocks(job->count, width), 0, {0}};
  for (uint32_t r = 1; r <= runs.count; r++)
    runs.bounds[r] = plan_min(r * width, job->count);
  return runs;
}

bool sample_merges_pairs(const device_job *job, uint64_t runs)
{
  return job->index_bits == 32 && job->count >= sample_tuning_of(job).least_merged &&
         runs <= SAMPLE_MERGED_RUNS && merge_of(job).fits(job, (uint32_t)runs);
}

uint64_t sample_merge_pairs_bytes(const device_job *job, uint64_t width)
{
  const sample_runs runs = runs_of_width(job, width);
  return merge_of(job).extra_bytes(job, &runs);
}

device_status sample_merge_pairs(const device_job *job, uint64_t width,
                                 const device_buffers *buffers, unsigned side)
{
  const sample_runs runs = runs_of_width(job, width);
  return merge_of(job).merge_pairs(job, &runs, buffers, side);
}
