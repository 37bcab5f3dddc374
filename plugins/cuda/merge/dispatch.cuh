/* dispatch.cuh - a merge sort of pairs of one type: chunks, then passes from side to side, each of
 * which merges two runs at a time; of many pairs the last one merges all runs that are left.
 */
#ifndef RECSORT_CUDA_MERGE_DISPATCH_CUH
#define RECSORT_CUDA_MERGE_DISPATCH_CUH

#include "cuda/merge/merge_tiles.cuh"
#include "cuda/merge/pair_sort.cuh"
#include "cuda/merge/sort_chunks.cuh"
#include "cuda/sort/sample/dispatch/merges.cuh"

namespace merge
{

/* The last step's output is unpacked. */
template <class Pair>
static merge_target<Pair> side_target(const device_job *job, const device_buffers *buffers,
                                      unsigned side, bool last)
{
  RS_ASSERT(side < 2);
  merge_target<Pair> to = {};
  to.pairs = pair_array_of_side<Pair>(buffers, side);
  if constexpr (Pair::packed) {
    to.index_bits = plan_index_bits(job);
    if (last)
      to.sink = {buffers->keys[side], buffers->indices[side], job->key_width, job->index_bits};
  }
  return to;
}

/* False for pairs of which the last pass never merges all runs that are left. */
template <class Pair>
static constexpr bool merges_all = Pair::packed || sizeof(index_of<Pair>) == 4;

/* Where the last pass begins: see merge_last_width. */
template <class Pair> static uint64_t last_width(const device_job *job)
{
  if constexpr (merges_all<Pair>)
    return merge_last_width(job, sample::policy<Pair>::traits(),
                            merge_chunk_block(job) * MERGE_CHUNK_ITEMS);
  return job->count;
}

template <class Key, class Pair> uint64_t pair_sort<Key, Pair>::extra_bytes(const device_job *job)
{
  const uint64_t width = last_width<Pair>(job);
  if constexpr (merges_all<Pair>)
    if (width < job->count) {
      const sample_runs runs = sample_runs_of_width(job, width);
      return sample::run_merge<Pair>::extra_bytes(job, &runs);
    }
  return 0;
}

template <class Key, class Pair>
device_status pair_sort<Key, Pair>::sort(const device_job *job, const device_buffers *buffers,
                                         unsigned *result)
{
  const merge_plan plan = merge_plan_of(job, tile_items<Pair>, Pair::bytes);
  RS_ASSERT(plan.chunk > 0 && plan.tile > 0);
  const sort_chunks_args<Key, Pair> chunks = {
      (const Key *)device_input(buffers), job->count, plan_index_bits(job),
      side_target<Pair>(job, buffers, 1, job->count <= plan.chunk)};
  device_status status =
      device_launch(sort_chunks<Key, Pair>, plan_blocks(job->count, plan.chunk), plan.chunk_block,
                    merge_chunk_bytes(&plan), job->stream, chunks);
  unsigned side = 1;
  const uint64_t last = last_width<Pair>(job);
  for (uint64_t width = plan.chunk; !status && width < last; width *= 2) {
    const uint64_t pair_tiles = plan_blocks(2 * width, plan.tile), pairs = job->count / (2 * width);
    const uint64_t tiles = pairs * pair_tiles + plan_blocks(job->count % (2 * width), plan.tile);
    const merge_tiles_args<Pair> pass = {
        pair_array_of_side<Pair>(buffers, side),
        job->count,
        width,
        2 * width,
        (uint32_t)pair_tiles,
        plan.tile,
        side_target<Pair>(job, buffers, 1 - side, width >= job->count - width)};
    status = device_launch(merge_tiles<Pair, STORED_INDICES>, tiles, plan.tile_block,
                           merge_tile_bytes(&plan, Pair::bytes), job->stream, pass);
    side = 1 - side;
  }
  if constexpr (merges_all<Pair>)
    if (!status && last < job->count) {
      const sample_runs runs = sample_runs_of_width(job, last);
      status = sample::run_merge<Pair>::merge_pairs(job, &runs, buffers, side);
      side = 1 - side;
    }
  *result = side;
  return status;
}

} // namespace merge

#endif
