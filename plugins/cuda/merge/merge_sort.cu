/* merge_sort.cu - the merge sort: chooses the type of pair.
 *
 *   sort_chunks    chunks of keys, each by a block in shared memory
 *   merge_tiles    pass after pass, two sorted runs become one
 *   merge_pieces   of many pairs: a last pass, in which all runs that are left become one
 *
 * Ties go to the left run, so the sort is stable by itself. Where a key and its index fit in 64
 * bits they are packed, and one array moves instead of two.
 */
#include "cuda/algorithms.h"
#include "cuda/merge/pair_sort.cuh"

using namespace merge;

/* Calls work(sort) with a pair_sort for the job. */
template <class Work> static auto with_pair_sort(const device_job *job, const Work &work)
{
  return with_wide_pair(job, [&](auto wide) {
    using key = key_of<decltype(wide)>;
    return with_form<decltype(wide)>(
        job, [&](auto pair) { return work(pair_sort<key, decltype(pair)>()); });
  });
}

device_status merge_sort(const device_job *job, const device_buffers *buffers, unsigned *result)
{
  *result = 0;
  if (job->count == 0) return 0;
  return with_pair_sort(job, [=](auto by) { return by.sort(job, buffers, result); });
}

uint64_t merge_extra_bytes(const device_job *job)
{
  if (job->count == 0) return 0;
  return with_pair_sort(job, [=](auto by) { return by.extra_bytes(job); });
}
