/* merges.cuh - chooses the merge of sorted runs by the width of their keys. */
#ifndef RECSORT_CUDA_SAMPLE_MERGES_CUH
#define RECSORT_CUDA_SAMPLE_MERGES_CUH

#include "cuda/sort/sample/dispatch/sorts.cuh"
#include "cuda/sort/sample/sample.h"

namespace sample
{

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

/* The merge for a job with the key and index of `Pair`, a wide one: see choose_sort. */
template <class Pair, pair_form form = form_of<Pair>>
static pair_merge choose_merge(const device_job *job)
{
  if constexpr (form == ALWAYS_PACKED) return pair_merge_of<packed_pair>();
  if constexpr (form == EITHER)
    if (plan_packs(job)) return pair_merge_of<packed_pair>();
  if constexpr (form != ALWAYS_PACKED) return pair_merge_of<Pair>();
}

/* True if choose_merge's merge takes so many runs, and is faster than a sort. */
template <class Pair, pair_form form = form_of<Pair>>
static bool merges(const device_job *job, uint32_t runs)
{
  const pair_merge by = choose_merge<Pair, form>(job);
  return !sample_is_small(job) && sample_merge_pays(job, by.packed, runs) && by.fits(job, runs);
}

/* See sample_merge. */
template <class Pair, pair_form form = form_of<Pair>>
static device_status merge_bounds(const device_job *job, const uint64_t *bounds, uint32_t runs,
                                  const device_buffers *buffers)
{
  sample_runs all = {runs, 0, {0}};
  for (uint32_t r = 0; r <= runs; r++)
    all.bounds[r] = bounds[r];
  return choose_merge<Pair, form>(job).merge(job, &all, buffers);
}

} // namespace sample

#endif
