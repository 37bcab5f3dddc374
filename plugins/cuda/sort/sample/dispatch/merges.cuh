/* merges.cuh - merges sorted runs of keys: chooses the type of pair. */
#ifndef RECSORT_CUDA_SAMPLE_MERGES_CUH
#define RECSORT_CUDA_SAMPLE_MERGES_CUH

#include "cuda/sort/sample/agent/policy.cuh"
#include "cuda/sort/sample/dispatch/sorts.cuh"

namespace sample
{

/* True if merge_bounds takes so many runs of a job with the key and index of `Pair`, a wide one,
 * and is faster than a sort. */
template <class Pair, pair_form form = form_of<Pair>>
static bool merges(const device_job *job, uint32_t runs)
{
  return !sample_is_small(job) && with_form<Pair, form>(job, [=](auto pair) {
    using by = decltype(pair);
    return sample_merge_pays(job, by::packed, runs) &&
           sample_merge_fits(job, policy<by>::traits(), runs);
  });
}

/* Merges sorted runs of keys in buffers.keys[0], or in buffers.input, none of them empty: run r is
 * keys [bounds[r], bounds[r + 1]). The pairs go to the second pair of buffers. Needs no other
 * memory; waits for nothing. */
template <class Pair, pair_form form = form_of<Pair>>
static device_status merge_bounds(const device_job *job, const uint64_t *bounds, uint32_t runs,
                                  const device_buffers *buffers)
{
  sample_runs all = {runs, 0, {0}};
  for (uint32_t r = 0; r <= runs; r++)
    all.bounds[r] = bounds[r];
  return with_form<Pair, form>(
      job, [&](auto pair) { return run_merge<decltype(pair)>::merge(job, &all, buffers); });
}

} // namespace sample

#endif
