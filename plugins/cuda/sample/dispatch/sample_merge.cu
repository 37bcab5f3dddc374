/* sample_merge.cu - merges sorted runs: chooses the type of pair, as sample_sort.cu does for many
 * pairs. */
#include "cuda/sample/dispatch/sorts.cuh"
#include "cuda/sample/sample.h"

using namespace sample;

struct pair_merge {
  bool (*suits)(const device_job *job, uint32_t runs);
  device_status (*merge)(const device_job *job, const sample_runs *runs,
                         const device_buffers *buffers);
};

template <class Pair> static pair_merge pair_merge_of()
{
  return {run_merge<Pair>::suits, run_merge<Pair>::merge};
}

/* Packed if a key and its index fit in 64 bits. */
static pair_merge choose_merge(const device_job *job)
{
  const bool wide = job->index_bits == 64;
  if (job->key_bits + plan_index_bits(job) <= 64) return pair_merge_of<packed_pair>();
  if (job->key_width == 32) return pair_merge_of<wide_pair<uint32_t, uint64_t>>();
  if (job->key_width == 64)
    return wide ? pair_merge_of<wide_pair<uint64_t, uint64_t>>()
                : pair_merge_of<wide_pair<uint64_t, uint32_t>>();
  return wide ? pair_merge_of<wide_pair<device_uint128, uint64_t>>()
              : pair_merge_of<wide_pair<device_uint128, uint32_t>>();
}

bool sample_merges(const device_job *job, uint32_t runs)
{
  return !sample_is_small(job) && choose_merge(job).suits(job, runs);
}

device_status sample_merge(const device_job *job, const uint64_t *bounds, uint32_t runs,
                           const device_buffers *buffers)
{
  sample_runs all = {runs, 0, {0}};
  for (uint32_t r = 0; r <= runs; r++)
    all.bounds[r] = bounds[r];
  return choose_merge(job).merge(job, &all, buffers);
}
