/* sample_merge.cu - merges sorted runs. */
#include "cuda/sort/sample/dispatch/sorts.cuh"
#include "cuda/sort/sample/sample.h"

using namespace sample;

struct pair_merge {
  bool packed;
  bool (*fits)(const device_job *job, uint32_t runs);
  device_status (*merge)(const device_job *job, const sample_runs *runs,
                         const device_buffers *buffers);
  uint64_t (*extra_bytes)(const device_job *job, const sample_runs *runs);
  device_status (*merge_pairs)(const device_job *job, const sample_runs *runs,
                               const device_buffers *buffers, unsigned side);
};

static pair_merge choose_merge(const device_job *job)
{
  return with_pair(job, [](auto pair) -> pair_merge {
    using by = run_merge<decltype(pair)>;
    return {by::packed, by::fits, by::merge, by::extra_bytes, by::merge_pairs};
  });
}

bool sample_merges(const device_job *job, uint32_t runs)
{
  const pair_merge by = choose_merge(job);
  return !sample_is_small(job) && sample_merge_pays(job, by.packed, runs) && by.fits(job, runs);
}

device_status sample_merge(const device_job *job, const uint64_t *bounds, uint32_t runs,
                           const device_buffers *buffers)
{
  sample_runs all = {runs, 0, {0}};
  for (uint32_t r = 0; r <= runs; r++)
    all.bounds[r] = bounds[r];
  return choose_merge(job).merge(job, &all, buffers);
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
  return job->count >= sample_tuning_of(job).least_merged && runs <= SAMPLE_MERGED_RUNS &&
         choose_merge(job).fits(job, (uint32_t)runs);
}

uint64_t sample_merge_pairs_bytes(const device_job *job, uint64_t width)
{
  const sample_runs runs = runs_of_width(job, width);
  return choose_merge(job).extra_bytes(job, &runs);
}

device_status sample_merge_pairs(const device_job *job, uint64_t width,
                                 const device_buffers *buffers, unsigned side)
{
  const sample_runs runs = runs_of_width(job, width);
  return choose_merge(job).merge_pairs(job, &runs, buffers, side);
}
