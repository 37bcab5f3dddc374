/* settle_few.cuh - looks at the result of few pairs, and writes the job's status. */
#ifndef RECSORT_CUDA_PAIRS_SETTLE_FEW_CUH
#define RECSORT_CUDA_PAIRS_SETTLE_FEW_CUH

#include "cuda/pairs/few.cuh"
#include "cuda/tally.cuh"

namespace pairs
{

template <class Key> struct settle_few_args {
  static constexpr uint32_t max_threads = PAIRS_BLOCK;
  few_args<Key> few;
  uint32_t *status;
};

/* Reads the result, and the hashes of rank_few. Writes the status: whether the sorted keys ascend,
 * the positions of equal keys ascend if the values are positions, and its pairs are the ones that
 * rank_few has read. All lanes load alike, without a branch, so that a thread's loads overlap. */
template <class Key, class Values>
__global__ void __launch_bounds__(PAIRS_BLOCK)
    settle_few(const __grid_constant__ settle_few_args<Key> args)
{
  device_await_before();
  const device_pairs &job = args.few.job;
  const uint64_t first = (uint64_t)blockIdx.x * PAIRS_BLOCK * EACH, count = job.count;
  const bool numbered = job.values_out && !job.values_in;
  uint64_t numbers[EACH], before[EACH], hashes[EACH], sum = 0;
  Key keys[EACH], keys_before[EACH];
  held_value<Values> values[EACH] = {}, values_before[EACH] = {};
  bool wrong = false;
  number_pairs(first, count, numbers);
  DEVICE_UNROLL
  for (uint32_t t = 0; t < EACH; t++)
    before[t] = numbers[t] - (numbers[t] > 0);
  load_pairs(job.keys_out, numbers, keys);
  load_pairs(job.keys_out, before, keys_before);
  load_pairs(args.few.runs.hashes, numbers, hashes);
  if (job.values_out) Values::load(job, job.values_out, numbers, values);
  if (numbered) Values::load(job, job.values_out, before, values_before);
  const uint64_t sorted = sorted_count(args.few);
  const Key mask = compared_mask<Key>(job);
  DEVICE_UNROLL
  for (uint32_t t = 0; t < EACH; t++) {
    const uint64_t number = pair_number(first, t);
    const Key a = args.few.coder(keys_before[t]) & mask, b = args.few.coder(keys[t]) & mask;
    if (number > 0 && number < sorted)
      wrong |= a > b || (a == b && numbered && values_before[t] >= values[t]);
    if (number < count) sum += hashes[t] - hash_pair<Key, Values>(job, keys[t], values[t]);
  }
  settle_status<PAIRS_BLOCK>(args.few.tally, wrong, sum, args.status);
}

/* Starts it, after start_few of such a job. */
template <class Key, class Values>
static device_status start_settle_few(const device_job *job, const device_pairs *pairs,
                                      const few_runs<Key> &runs, uint32_t *status)
{
  RS_ASSERT(pairs->keys_out && runs.hashes && job->count < (uint64_t)TALLY_BLOCKS * PAIRS_BLOCK);
  const settle_few_args<Key> args = {
      {*pairs, key_coder_of<Key>(pairs), runs, job->count, job->tally}, status};
  return device_launch(settle_few<Key, Values>, plan_blocks(job->count, PAIRS_BLOCK * EACH),
                       PAIRS_BLOCK, 0, job->stream, args);
}

} // namespace pairs

#endif
