/* splitters.cuh - the splitters of all pairs: a sample of these, ranked (rank.inc) by as
 * many blocks as there are, so that none has much to do.
 */
#ifndef RECSORT_CUDA_SAMPLE_SPLITTERS_CUH
#define RECSORT_CUDA_SAMPLE_SPLITTERS_CUH

#include "cuda/sample/agent/load.cuh"
namespace sample
{

/* By one thread for each segment, before its pairs are split. */
template <class Pair>
DEVICE_INLINE void start_level(const sample_args<Pair> *args, uint32_t segment)
{
  const Pair none = {}; /* in place of a splitter behind the last bucket */
  pair_put(&args->splitters, (uint64_t)(segment + 1) * args->buckets - 1, none);
  if (segment == 0) args->oversized[0] = *args->tiles.count = 0;
}

/* Before the splitters of all pairs are used. */
template <class Pair> DEVICE_INLINE void start_first_level(const sample_args<Pair> *args)
{
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (args->to_chains) chains_begin(&args->chains, i, gridDim.x * blockDim.x);
  if (i < args->buckets && !args->to_chains)
    offset_set(&args->ends, i, (uint64_t)i * args->capacity);
  if (i == 0) start_level(args, 0);
}

/* Samples are taken where they are. */
template <class Pair>
DEVICE_INLINE void load_samples(const sample_args<Pair> *args, const run_share *run,
                                key_group<key_of<Pair>> *groups)
{
  const uint32_t most = blockDim.x * policy<Pair>::items;
  for (uint32_t done = 0; done < run->count; done += most) {
    const uint32_t some = (uint32_t)plan_min(run->count - done, most);
    const block_share share = share_of(some, share_each(some), policy<Pair>::items);
    Pair mine[policy<Pair>::items] = {};
    load_items(args, run->begin + done, &share, policy<Pair>::items, false, true, mine);
    DEVICE_UNROLL
    for (uint32_t t = 0; t < policy<Pair>::items; t++) {
      if (!share_goes_on(&share, t, false)) break;
      if (share_has(&share, t, false)) put_group(groups, done + share_at(&share, t), mine[t].key);
    }
  }
  fill_groups(groups, run->count);
}

/* Sample `i`, of which the key is known. */
template <class Pair>
DEVICE_INLINE Pair sampled_pair(const sample_args<Pair> *args, uint32_t i, key_of<Pair> key)
{
  Pair pair;
  pair.key = key;
  if constexpr (!Pair::packed) {
    pair.index = load_index(args, sample_position(i, args->distance));
  }
  return pair;
}

/* To the splitters, if it becomes one; if there is to be a table, to where it is made. */
template <class Pair>
DEVICE_INLINE void store_sample(const sample_args<Pair> *args, uint32_t rank, Pair pair)
{
  const tile_output<Pair> out =
      choice_of(args->bins ? args->candidates : args->splitters, args->runs.count, args->buckets);
  store_pair(&out, rank, pair, false);
}

template <class Pair>
__global__ void __launch_bounds__(SAMPLE_RANK_BLOCK)
    rank_samples(const __grid_constant__ sample_args<Pair> args)
{
  device_await_before();
  auto *const groups = (key_group<key_of<Pair>> *)device_shared_memory();
  const run_share share = run_share_of(args.runs.count, args.runs.bits);
  load_samples(&args, &share, groups);
  start_first_level(&args);
  __syncthreads();
  const ranked_key<key_of<Pair>> ranked = rank_in_run(groups, &share);
  if (!run_share_has(&share)) return;
  const Pair pair =
      sampled_pair(&args, share.begin + share.first + threadIdx.x % WARP_SIZE, ranked.key);
  if (are_several(&args.runs))
    pair_put(&args.sampled, place_in_run(&args.runs, &share, ranked), pair);
  else
    store_sample(&args, ranked.rank, pair);
}

template <class Pair>
__global__ void __launch_bounds__(SAMPLE_RANK_BLOCK)
    rank_all_samples(const __grid_constant__ sample_args<Pair> args)
{
  device_await_before();
  const uint32_t i = blockIdx.x * WARP_SIZE + threadIdx.x % WARP_SIZE;
  const Pair pair = pair_get(&args.sampled, plan_min(i, args.runs.count - 1));
  const uint32_t rank = rank_in_all(&args.runs, i, pair.key);
  if (threadIdx.x < WARP_SIZE && i < args.runs.count) store_sample(&args, rank, pair);
}

} // namespace sample

#endif
