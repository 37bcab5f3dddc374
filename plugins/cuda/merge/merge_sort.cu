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

template <class Key>
static device_status sort_keys(const device_job *job, const device_buffers *buffers,
                               unsigned *result)
{
  if (plan_packs(job)) return pair_sort<Key, packed_pair>::sort(job, buffers, result);
  if constexpr (sizeof(Key) > sizeof(uint32_t))
    if (job->index_bits == 32)
      return pair_sort<Key, wide_pair<Key, uint32_t>>::sort(job, buffers, result);
  return pair_sort<Key, wide_pair<Key, uint64_t>>::sort(job, buffers, result);
}

device_status merge_sort(const device_job *job, const device_buffers *buffers, unsigned *result)
{
  *result = 0;
  if (job->count == 0) return 0;
  if (job->key_width == 32) return sort_keys<uint32_t>(job, buffers, result);
  if (job->key_width == 64) return sort_keys<uint64_t>(job, buffers, result);
  return sort_keys<device_uint128>(job, buffers, result);
}

uint64_t merge_extra_bytes(const device_job *job)
{
  if (job->count == 0) return 0;
  const uint64_t width = merge_last_width(job, merge_chunk_block(job) * MERGE_CHUNK_ITEMS);
  return width < job->count ? sample_merge_pairs_bytes(job, width) : 0;
}

/* ---- Two runs ---- */

template <class Index>
static device_status merge_keys(const device_job *job, uint64_t first,
                                const device_buffers *buffers)
{
  if (job->key_width == 32) return two_runs<wide_pair<uint32_t, Index>>::merge(job, first, buffers);
  if (job->key_width == 64) return two_runs<wide_pair<uint64_t, Index>>::merge(job, first, buffers);
  return two_runs<wide_pair<device_uint128, Index>>::merge(job, first, buffers);
}

device_status merge_two_runs(const device_job *job, uint64_t first, const device_buffers *buffers)
{
  return job->index_bits == 32 ? merge_keys<uint32_t>(job, first, buffers)
                               : merge_keys<uint64_t>(job, first, buffers);
}
