/* sample_merge.cu - merges sorted runs: chooses the type of pair, as sample_sort.cu does for many
 * pairs. */
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

template <class Pair> static pair_merge pair_merge_of()
{
  using by = run_merge<Pair>;
  return {by::packed, by::fits, by::merge, by::extra_bytes, by::merge_pairs};
}

/* As in choose_many (sample_sort.cu). */
static pair_merge choose_merge(const device_job *job)
{
  const bool wide = job->index_bits == 64;
  if (plan_packs(job)) return pair_merge_of<packed_pair>();
  if (job->key_width == 32) return pair_merge_of<wide_pair<uint32_t, uint64_t>>();
  if (job->key_width == 64)
    return wide ? pair_merge_of<wide_pair<uint64_t, uint64_t>>()
                : pair_merge_of<wide_pair<uint64_t, uint32_t>>();
  return wide ? pair_merge_of<wide_pair<device_uint128, uint64_t>>()
              : pair_merge_of<wide_pair<device_uint128, uint32_t>>();
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
