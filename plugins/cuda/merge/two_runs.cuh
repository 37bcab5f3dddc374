/* two_runs.cuh - a merge of two runs of keys: one pass, which numbers them. */
#ifndef RECSORT_CUDA_MERGE_TWO_RUNS_CUH
#define RECSORT_CUDA_MERGE_TWO_RUNS_CUH

#include "cuda/merge/merge_tiles.cuh"
#include "cuda/merge/pair_sort.cuh"

namespace merge
{

template <class Pair>
device_status two_runs<Pair>::merge(const device_job *job, uint64_t first,
                                    const device_buffers *buffers)
{
  const merge_plan plan = merge_plan_of(job, tile_items<Pair>, Pair::bytes);
  const uint64_t tiles = plan_blocks(job->count, plan.tile);
  const merge_tiles_args<Pair> args = {
      {(key_of<Pair> *)device_input(buffers), NULL},
      job->count,
      first,
      job->count,
      (uint32_t)tiles,
      plan.tile,
      {{(key_of<Pair> *)buffers->keys[1], (index_of<Pair> *)buffers->indices[1]}}};
  return device_launch(merge_tiles<Pair, POSITIONS>, tiles, plan.tile_block,
                       merge_tile_bytes(&plan, Pair::bytes), job->stream, args);
}

} // namespace merge

#endif
