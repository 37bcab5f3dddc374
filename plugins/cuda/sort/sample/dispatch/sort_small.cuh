/* sort_small.cuh - sorts few pairs: launches the kernels. */
#ifndef RECSORT_CUDA_SAMPLE_SORT_SMALL_CUH
#define RECSORT_CUDA_SAMPLE_SORT_SMALL_CUH

#include "cuda/sort/sample/agent/small_ranks.cuh"
#include "cuda/sort/sample/dispatch/sorts.cuh"

namespace sample
{

template <class Pair> uint64_t small_sort<Pair>::extra_bytes(const device_job *job)
{
  const sample_ranking how = sample_ranking_of(job, job->count);
  return sample_fences(&how, job->count) * sizeof(key_of<Pair>);
}

/* Sorts into runs in side 1 and, if there are several, merges them into side 0. */
template <class Pair> unsigned small_sort<Pair>::side(const device_job *job)
{
  return sample_ranking_of(job, job->count).alone ? 1 : 0;
}

template <class Pair>
device_status small_sort<Pair>::sort(const device_job *job, const device_buffers *buffers,
                                     unsigned *result)
{
  const sample_ranking how = sample_ranking_of(job, job->count);
  const key_runs<key_of<Pair>> runs = {(key_of<Pair> *)buffers->keys[1],
                                       (key_of<Pair> *)buffers->extra, (uint32_t)job->count,
                                       how.run_bits};
  index_of<Pair> *const indices = (index_of<Pair> *)buffers->indices[1];
  const device_move *const move = job->move;
  record_units units = {};
  if (move) units = record_units_of(move->from, move->to, move->size, how.block);
  rank_runs_args<Pair> args = {
      (const key_of<Pair> *)device_input(buffers), {}, {}, runs, indices, job->tally};
  if (buffers->words) args.words = *buffers->words;
  if (how.alone) args.move = units;
  *result = side(job);
  const device_status status =
      device_launch(rank_runs<Pair>, sample_rank_blocks(&how, job->count), how.block,
                    run_bytes<key_of<Pair>>(&how), job->stream, args);
  if (status || how.alone) return status;
  const rank_all_args<Pair> all = {
      runs,
      indices,
      {(key_of<Pair> *)buffers->keys[0], (index_of<Pair> *)buffers->indices[0]},
      units};
  return device_launch(rank_all<Pair>, plan_blocks(job->count, WARP_SIZE), how.block, 0,
                       job->stream, all);
}

} // namespace sample

#endif
