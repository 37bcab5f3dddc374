/* merge_runs.cuh - merges sorted runs of keys: chooses how, by their number.
 *
 *   up to two       two_runs: one pass, by co-ranks
 *   up to 128       sample's merge: cuts all runs by splitters, and sorts the tiles between them
 *   more, or few    a sort, which ignores that there are runs
 *   keys, or more
 *   than 2^32
 *
 * docs/gpu-sort.md has the reasons. What is chosen from is compiled apart for the plugin. A program
 * of headers alone includes two_runs.cuh, and merge_runs.cuh, sort_many.cuh and sort_small.cuh of
 * sample, and so compiles it itself.
 */
#ifndef RECSORT_CUDA_MERGE_RUNS_CUH
#define RECSORT_CUDA_MERGE_RUNS_CUH

#include "cuda/merge/pair_sort.cuh"
#include "cuda/sort/sample/dispatch/merges.cuh"
#include "cuda/sort/sample/dispatch/mixed.cuh"
#include "gpu/device_merge.h"

namespace merge
{

/* Copies the bounds of up to SAMPLE_MOST_RUNS runs that are not empty, without the empty ones.
 * Returns their number, or one more than SAMPLE_MOST_RUNS. */
static inline uint32_t leave_out_empty(const device_runs *runs, uint64_t *bounds)
{
  uint32_t count = 0;
  bounds[0] = 0;
  for (uint32_t r = 0; r < runs->count && count <= SAMPLE_MOST_RUNS; r++)
    if (runs->bounds[r + 1] > bounds[count]) bounds[++count] = runs->bounds[r + 1];
  RS_ASSERT(count <= SAMPLE_MOST_RUNS + 1);
  return count;
}

/* The bytes of buffers->extra that merge_runs needs for any number of runs. */
template <class Pair, pair_form form = form_of<Pair>>
static uint64_t merge_runs_bytes(const device_job *job)
{
  return sample::choose_sort<Pair, form>(job).extra_bytes(job);
}

/* Merges runs of keys as device_merge does (gpu/device_merge.h), for a job with the key and index
 * of `Pair`, a wide one. The keys are in buffers->keys[0], or in buffers->input. `sort` sorts those
 * that no merge takes. */
template <class Pair, pair_form form = form_of<Pair>>
static device_status merge_runs(const device_job *job, const device_runs *runs,
                                const device_buffers *buffers, unsigned *result,
                                device_sort *sort = sample::sort_mixed<Pair, form>)
{
  uint64_t bounds[SAMPLE_MOST_RUNS + 2];
  const uint32_t count = leave_out_empty(runs, bounds);
  RS_ASSERT(count > SAMPLE_MOST_RUNS || bounds[count] == job->count);
  *result = 1;
  if (count == 0) return 0;
  if (count <= 2) return two_runs<Pair>::merge(job, bounds[1], buffers);
  if constexpr (sizeof(index_of<Pair>) == sizeof(uint32_t))
    if (count <= SAMPLE_MOST_RUNS && sample::merges<Pair, form>(job, count))
      return sample::merge_bounds<Pair, form>(job, bounds, count, buffers);
  return sort(job, buffers, result);
}

} // namespace merge

#endif
