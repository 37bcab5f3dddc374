/* presorted.cuh - keys that ascend or descend already, or nearly.
 */
#ifndef RECSORT_CUDA_SAMPLE_PRESORTED_CUH
#define RECSORT_CUDA_SAMPLE_PRESORTED_CUH

#include "cuda/sample/agent/drop_merge.cuh"
#include "cuda/sample/agent/detect_order.cuh"
#include "cuda/sample/dispatch/sorts.cuh"

namespace sample
{

/* Whether all keys ascend, descend, or seem to ascend but for a few. If they do, the result is
 * there: in side 0, or, if they descend, in side 1. Waits. */
template <class Pair>
device_status presorted<Pair>::detect(const device_job *job, const device_buffers *buffers,
                                      order_flags *flags, key_order *found)
{
  enum { BLOCKS = 8 }; /* a multiprocessor */
  const uint64_t blocks =
      plan_min(plan_blocks(job->count, DETECT_BLOCK), (uint64_t)BLOCKS * job->multiprocessors);
  const detect_args args = {
      buffers->keys[0],  buffers->indices[0], buffers->keys[1], buffers->indices[1], flags,
      expect_flags(job), job->count};
  order_flags seen = {};
  device_status status = device_launch(clear_flags, 1, 1, 0, job->stream, args);
  if (status == 0)
    status = device_launch(detect_order<Pair>, blocks, DETECT_BLOCK, 0, job->stream, args);
  if (status == 0) status = await_flags(job, &seen);
  *found = !seen.unsorted     ? KEYS_ASCEND
           : !seen.unreversed ? KEYS_DESCEND
           : !seen.unlike     ? KEYS_NEARLY_ASCEND
                              : KEYS_MIXED;
  return status;
}

/* ---- Drop-merge ---- */

/* A warp for each of so many chunks. */
static inline uint64_t chunk_blocks(uint64_t chunks)
{
  return plan_blocks(chunks, DROP_MERGE_BLOCK / WARP_SIZE);
}

/* How many are dropped; 0 if a drop-merge is of no use. Waits. */
template <class Pair>
static device_status count_dropped(const device_job *job, drop_merge_args<Pair> *args)
{
  const uint64_t groups = plan_blocks(args->chunks, SUM_GROUP);
  const uint64_t adders =
      plan_min(plan_blocks(groups, WARP_SIZE) * WARP_SIZE, SAMPLE_SPLITTER_BLOCK);
  order_flags flags = {};
  args->notice = expect_flags(job);
  device_status status =
      device_launch(find_bounds<Pair>, plan_blocks(args->chunks, DROP_MERGE_BLOCK),
                    DROP_MERGE_BLOCK, 0, job->stream, *args);
  if (status == 0)
    status = device_launch(filter<Pair>, chunk_blocks(args->chunks), DROP_MERGE_BLOCK, 0,
                           job->stream, *args);
  if (status == 0)
    status = device_launch(sum_dropped<Pair>, 1, (uint32_t)adders, 0, job->stream, *args);
  if (status == 0) status = await_flags(job, &flags);
  args->dropped_count =
      flags.unmergeable || flags.dropped > sample_most_dropped(job) ? 0 : flags.dropped;
  return status;
}

/* Counts the keys to be dropped; none if a drop-merge is of no use, or has no space: all that it
 * needs lies where indices are yet to come. Waits. */
template <class Pair>
device_status presorted<Pair>::filter(const device_job *job, const device_buffers *buffers,
                                      order_flags *flags, drop_merge<Pair> *work)
{
  const uint64_t chunks = plan_blocks(job->count, DROP_MERGE_CHUNK);
  arena *const at = &work->memory;
  drop_merge_args<Pair> *const args = &work->args;
  *at = {(char *)buffers->indices[0], 0};
  *args = {};
  args->keys = (const key_of<Pair> *)buffers->keys[0];
  args->count = job->count;
  args->chunks = chunks;
  args->flags = flags;
  args->to_keys = (key_of<Pair> *)buffers->keys[1];
  args->to = (index_of<Pair> *)buffers->indices[1];
  args->kept = (uint32_t *)arena_take(at, chunks * CHUNK_ROWS * sizeof(uint32_t));
  args->bounds = (key_of<Pair> *)arena_take(at, chunks * sizeof(key_of<Pair>));
  args->drops = (uint16_t *)arena_take(at, chunks * sizeof(uint16_t));
  args->groups = (uint64_t *)arena_take(at, plan_blocks(chunks, SUM_GROUP) * sizeof(uint64_t));
  args->firsts = (uint64_t *)arena_take(at, (chunks + 1) * sizeof(uint64_t));
  if (at->taken > job->count * sizeof(index_of<Pair>)) return 0;
  return count_dropped(job, args);
}

/* Buffers to sort the dropped pairs in. False: there is no space. */
template <class Pair>
bool presorted<Pair>::reserve(const device_job *job, const device_job *dropped,
                              uint64_t extra_bytes, drop_merge<Pair> *work)
{
  arena *const at = &work->memory;
  work->args.dropped = (index_of<Pair> *)arena_take(at, dropped->count * sizeof(index_of<Pair>));
  at->taken = device_aligned(at->taken);
  void *const block = arena_take(at, device_bytes(dropped, extra_bytes));
  if (at->taken > job->count * sizeof(index_of<Pair>)) return false;
  work->buffers = device_divide(dropped, block, extra_bytes);
  work->args.dropped_keys = (key_of<Pair> *)work->buffers.keys[0];
  return true;
}

/* To side 0 of those buffers. */
template <class Pair>
device_status presorted<Pair>::extract(const device_job *job, const drop_merge<Pair> *work)
{
  return device_launch(extract_dropped<Pair>, chunk_blocks(work->args.chunks), DROP_MERGE_BLOCK, 0,
                       job->stream, work->args);
}

/* When they are sorted, in side `side`: all pairs to side 1 of the job's buffers. */
template <class Pair>
device_status presorted<Pair>::merge(const device_job *job, unsigned side, drop_merge<Pair> *work)
{
  drop_merge_args<Pair> *const args = &work->args;
  args->sorted_keys = (const key_of<Pair> *)work->buffers.keys[side];
  args->sorted = (const index_of<Pair> *)work->buffers.indices[side];
  device_status status =
      device_launch(partition_dropped<Pair>, plan_blocks(args->chunks + 1, DROP_MERGE_BLOCK),
                    DROP_MERGE_BLOCK, 0, job->stream, *args);
  if (status == 0)
    status = device_launch(merge_sparse<Pair>, chunk_blocks(args->chunks), DROP_MERGE_BLOCK, 0,
                           job->stream, *args);
  if (status == 0)
    status = device_launch(merge_dense<Pair>, plan_blocks(args->dropped_count, DROP_MERGE_BLOCK),
                           DROP_MERGE_BLOCK, 0, job->stream, *args);
  return status;
}

} // namespace sample

#endif
