/* presorted.cuh - sorts keys that ascend or descend already, or nearly ascend. */
#ifndef RECSORT_CUDA_SAMPLE_PRESORTED_CUH
#define RECSORT_CUDA_SAMPLE_PRESORTED_CUH

#include "cuda/sort/sample/agent/drop_merge.cuh"
#include "cuda/sort/sample/agent/detect_order.cuh"
#include "cuda/sort/sample/dispatch/sorts.cuh"

namespace sample
{

/* Detects whether all keys ascend, descend, or seem to ascend except for a few, if that is
 * `mergeable`. It reports a key_order. If they ascend, the result is in side 0, or in side 1 if the
 * host is not told; if they descend, in side 1. */
template <class Pair>
device_status presorted<Pair>::detect(const device_job *job, const device_buffers *buffers,
                                      order_flags *flags, bool mergeable, order_report *report)
{
  enum { BLOCKS = 8 }; /* for each multiprocessor */
  const uint64_t blocks =
      plan_min(plan_blocks(job->count, DETECT_BLOCK), (uint64_t)BLOCKS * job->multiprocessors);
  const bool told = job->mailbox != NULL;
  device_status status = expect_report(job, report);
  const detect_args args = {device_input(buffers),
                            job->count,
                            mergeable,
                            buffers->indices[told ? 0 : 1],
                            told ? NULL : buffers->keys[1],
                            buffers->keys[1],
                            buffers->indices[1],
                            flags,
                            job->unchanged ? job->unchanged->found : NULL,
                            *report};
  if (status == 0) status = device_launch(clear_flags, 1, 1, 0, job->stream, args);
  return status ? status
                : device_launch(detect_order<Pair>, blocks, DETECT_BLOCK, 0, job->stream, args);
}

/* ---- Drop-merge ---- */

/* The blocks that have a warp for each chunk. */
static inline uint64_t chunk_blocks(uint64_t chunks)
{
  return plan_blocks(chunks, DROP_MERGE_BLOCK / WARP_SIZE);
}

/* Divides memory for a drop-merge: that of the indices of side 0, which are not written yet. False:
 * there is too little. */
template <class Pair>
bool presorted<Pair>::prepare(const device_job *job, const device_buffers *buffers,
                              order_flags *flags, drop_merge<Pair> *work)
{
  const uint64_t chunks = plan_blocks(job->count, DROP_MERGE_CHUNK);
  arena *const at = &work->memory;
  *work = {};
  *at = {(char *)buffers->indices[0], 0};
  work->in = {(const key_of<Pair> *)device_input(buffers), job->count, chunks};
  work->flags = flags;
  work->to = {(key_of<Pair> *)buffers->keys[1], (index_of<Pair> *)buffers->indices[1]};
  work->filtered.kept = (uint32_t *)arena_take(at, chunks * CHUNK_ROWS * sizeof(uint32_t));
  work->bounds = (key_of<Pair> *)arena_take(at, chunks * sizeof(key_of<Pair>));
  work->filtered.drops = (uint16_t *)arena_take(at, chunks * sizeof(uint16_t));
  work->filtered.groups =
      (uint64_t *)arena_take(at, plan_blocks(chunks, SUM_GROUP) * sizeof(uint64_t));
  work->firsts = (uint64_t *)arena_take(at, (chunks + 1) * sizeof(uint64_t));
  return at->taken <= job->count * sizeof(index_of<Pair>);
}

/* Finds the keys to drop. It reports how many they are, 0 if a drop-merge is of no use; the
 * decision is whether it is. */
template <class Pair>
device_status presorted<Pair>::filter(const device_job *job, const drop_merge<Pair> *work,
                                      order_report *report)
{
  const uint64_t chunks = work->in.chunks, groups = plan_blocks(chunks, SUM_GROUP);
  const uint64_t adders =
      plan_min(plan_blocks(groups, WARP_SIZE) * WARP_SIZE, SAMPLE_SPLITTER_BLOCK);
  device_status status = expect_report(job, report);
  const find_bounds_args<Pair> bound = {work->in, work->bounds};
  const filter_args<Pair> filtered = {work->in, work->bounds, work->filtered, work->flags};
  const sum_dropped_args sum = {work->filtered.drops,     chunks,
                                work->filtered.groups,    work->flags,
                                sample_most_dropped(job), *report};
  if (status == 0)
    status = device_launch(find_bounds<Pair>, plan_blocks(chunks, DROP_MERGE_BLOCK),
                           DROP_MERGE_BLOCK, 0, job->stream, bound);
  if (status == 0)
    status = device_launch(sample::filter<Pair>, chunk_blocks(chunks), DROP_MERGE_BLOCK, 0,
                           job->stream, filtered);
  return status ? status : device_launch(sum_dropped, 1, (uint32_t)adders, 0, job->stream, sum);
}

/* Divides memory into buffers to sort the dropped pairs in. False: there is too little. */
template <class Pair>
bool presorted<Pair>::reserve(const device_job *job, const device_job *dropped,
                              uint64_t extra_bytes, drop_merge<Pair> *work)
{
  arena *const at = &work->memory;
  work->sorted = dropped->count;
  work->indices = (index_of<Pair> *)arena_take(at, dropped->count * sizeof(index_of<Pair>));
  at->taken = device_aligned(at->taken);
  void *const block = arena_take(at, device_bytes(dropped, extra_bytes));
  if (at->taken > job->count * sizeof(index_of<Pair>)) return false;
  work->buffers = device_divide(dropped, block, extra_bytes);
  return true;
}

/* Copies the dropped pairs to side 0 of those buffers. */
template <class Pair>
device_status presorted<Pair>::extract(const device_job *job, const drop_merge<Pair> *work)
{
  const key_of<Pair> all = (key_of<Pair>)~(key_of<Pair>)0;
  const uint32_t width = 8 * sizeof all;
  const key_of<Pair> greatest = all >> (width - plan_min(job->key_bits, width));
  const pair_array<Pair> to = {(key_of<Pair> *)work->buffers.keys[0], work->indices};
  const extract_dropped_args<Pair> args = {work->in,     work->filtered, &work->flags->dropped,
                                           work->sorted, greatest,       to};
  return device_launch(extract_dropped<Pair>, chunk_blocks(work->in.chunks), DROP_MERGE_BLOCK, 0,
                       job->stream, args);
}

/* Merges all pairs to side 1 of the job's buffers. The dropped pairs are sorted, in side `side`. */
template <class Pair>
device_status presorted<Pair>::merge(const device_job *job, unsigned side,
                                     const drop_merge<Pair> *work)
{
  const uint64_t chunks = work->in.chunks;
  const dropped_pairs<Pair> dropped = {(const key_of<Pair> *)work->buffers.keys[side],
                                       (const index_of<Pair> *)work->buffers.indices[side],
                                       work->indices, &work->flags->dropped};
  const partition_dropped_args<Pair> partition = {work->bounds, chunks, dropped, work->firsts};
  const merge_args<Pair> merged = {work->in,     work->filtered, dropped,
                                   work->firsts, work->to,       work->flags};
  device_status status =
      device_launch(partition_dropped<Pair>, plan_blocks(chunks + 1, DROP_MERGE_BLOCK),
                    DROP_MERGE_BLOCK, 0, job->stream, partition);
  if (status == 0)
    status = device_launch(merge_sparse<Pair>, chunk_blocks(chunks), DROP_MERGE_BLOCK, 0,
                           job->stream, merged);
  if (status == 0)
    status = device_launch(merge_dense<Pair>, plan_blocks(work->sorted, DROP_MERGE_BLOCK),
                           DROP_MERGE_BLOCK, 0, job->stream, merged);
  return status;
}

} // namespace sample

#endif
