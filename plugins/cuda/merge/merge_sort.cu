/* merge_sort.cu - the merge sort, and the merge of two runs: which type of pair keys are in.
 *
 *   sort_chunks    chunks of keys, each by a block in shared memory
 *   merge_tiles    pass after pass, two sorted runs become one
 *   merge_pieces   of many pairs: a last pass, in which all runs that are left become one
 *
 * Ties go to the left run, so the sort is stable by itself. Where a key and its index fit in 64
 * bits they are packed, and one array moves instead of two.
 *
 * A merge of two runs is one pass of merge_tiles. It reads keys alone, so nothing is packed.
 */
#include "cuda/algorithms.h"
#include "cuda/merge/merge.h"
#include "cuda/merge/pair_sort.cuh"
#include "cuda/merge/plan.h"

using namespace merge;

device_status merge_sort(const device_job *job, const device_buffers *buffers, unsigned *result)
{
  *result = 0;
  if (job->count == 0) return 0;
  return with_key(job->key_width, [=](auto key) {
    return with_pair_of<decltype(key)>(job, [=](auto pair) {
      return pair_sort<decltype(key), decltype(pair)>::sort(job, buffers, result);
    });
  });
}

uint64_t merge_extra_bytes(const device_job *job)
{
  if (job->count == 0) return 0;
  const uint64_t width = merge_last_width(job, merge_chunk_block(job) * MERGE_CHUNK_ITEMS);
  return width < job->count ? sample_merge_pairs_bytes(job, width) : 0;
}

device_status merge_two_runs(const device_job *job, uint64_t first, const device_buffers *buffers)
{
  return with_wide_pair(
      job, [=](auto pair) { return two_runs<decltype(pair)>::merge(job, first, buffers); });
}
