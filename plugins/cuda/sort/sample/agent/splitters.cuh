/* splitters.cuh - finds candidates for splitters: ranks a sample of all
 * pairs (ranks.cuh) with many blocks, so that each has little to do. */
#ifndef RECSORT_CUDA_SAMPLE_SPLITTERS_CUH
#define RECSORT_CUDA_SAMPLE_SPLITTERS_CUH

#include "cuda/sort/sample/agent/load.cuh"
#include "cuda/sort/sample/block/ranks.cuh"

namespace sample
{

/* What a scatter starts with: empty buckets, and a last splitter that is unused. */
template <class Pair> struct scatter_start {
  splitter_set<Pair> set;
  bucket_set to;
};

/* By all threads of the grid, before the splitters are used. */
template <class Pair> DEVICE_INLINE void start_scatter(const scatter_start<Pair> *start)
{
  const Pair none = {};
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < start->set.buckets) *bucket_end(&start->to.ends, i) = i * start->to.capacity;
  if (i == 0) pair_put(&start->set.splitters, start->set.buckets - 1, none);
}

/* Loads the block's run of samples to shared memory, straight from their positions. By all threads
 * of the block. */
template <class Pair>
DEVICE_INLINE void load_samples(const pair_source<Pair> *source, uint64_t distance,
                                const run_share *run, key_group<key_of<Pair>> *groups)
{
  const uint32_t most = blockDim.x * policy<Pair>::items;
  for (uint32_t done = 0; done < run->count; done += most) {
    const uint32_t some = (uint32_t)plan_min(run->count - done, most);
    const block_share share = share_of(some, share_each(some), policy<Pair>::items);
    Pair mine[policy<Pair>::items] = {};
    load_items<READS_KEYS>(source, sampled{run->begin + done, distance}, &share,
                           policy<Pair>::items, false, mine);
    DEVICE_UNROLL
    for (uint32_t t = 0; t < policy<Pair>::items; t++) {
      if (!share_goes_on(&share, t, false)) break;
      if (share_has(&share, t, false)) put_group(groups, done + share_at(&share, t), mine[t].key);
    }
  }
  fill_groups(groups, run->count);
}

/* Sample `i`, whose key is known. */
template <class Pair>
DEVICE_INLINE Pair sampled_pair(const pair_source<Pair> *source, uint64_t distance, uint32_t i,
                                key_of<Pair> key)
{
  Pair pair;
  pair.key = key;
  if constexpr (!Pair::packed) {
    pair.index = load_index(source, sample_position(i, distance));
  }
  return pair;
}

/* The choice of splitters: evenly spaced samples, one fewer than there are buckets. */
template <class Pair> struct sample_choice {
  pair_array<Pair> to;
  uint32_t samples, buckets;
};

template <class Pair>
DEVICE_INLINE void store_sample(const sample_choice<Pair> *choice, uint32_t rank, Pair pair)
{
  const pair_output<Pair> out = choice_of(choice->to, choice->samples, choice->buckets);
  store_pair(&out, rank, pair, false);
}

/* Ranks each sample in its run. */
template <class Pair> struct rank_samples_args {
  static constexpr uint32_t max_threads = SAMPLE_RANK_BLOCK;
  /* reads */
  pair_source<Pair> source;
  uint64_t distance; /* between samples, in 2^-16 pairs */
  /* writes */
  key_runs<key_of<Pair>> runs; /* sorted; with fences if there are several */
  pair_array<Pair> sampled;    /* the same runs with indices */
  sample_choice<Pair> choice;  /* written if there is one run */
  scatter_start<Pair> start;
};

/* Ranks samples as rank_runs does keys. Reads a sample of the keys where they lie. Writes its
 * sorted runs with fences, or, if one run has all, the candidates for splitters; empties the
 * buckets. So short a kernel is one load and one wait after the other: a
 * kernel that takes the sample first, or one that clears, would be another launch to wait for. */
template <class Pair>
__global__ void __launch_bounds__(SAMPLE_RANK_BLOCK,
                                  device_blocks(SAMPLE_RANK_BLOCK, Pair::packed ? 4 : 1))
    rank_samples(const __grid_constant__ rank_samples_args<Pair> args)
{
  device_await_before();
  auto *const groups = (key_group<key_of<Pair>> *)device_shared_memory();
  const run_share share = run_share_of(args.runs.count, args.runs.bits);
  load_samples(&args.source, args.distance, &share, groups);
  start_scatter(&args.start);
  __syncthreads();
  const ranked_key<key_of<Pair>> ranked = rank_in_run(groups, &share);
  if (!run_share_has(&share)) return;
  const Pair pair = sampled_pair(&args.source, args.distance,
                                 share.begin + share.first + threadIdx.x % WARP_SIZE, ranked.key);
  if (are_several(&args.runs))
    pair_put(&args.sampled, place_in_run(&args.runs, &share, ranked), pair);
  else
    store_sample(&args.choice, ranked.rank, pair);
}

/* Ranks each sample among all samples. */
template <class Pair> struct rank_all_samples_args {
  static constexpr uint32_t max_threads = SAMPLE_RANK_BLOCK;
  /* reads */
  key_runs<key_of<Pair>> runs;
  pair_array<Pair> sampled;
  /* writes */
  sample_choice<Pair> choice;
};

/* Ranks samples as rank_all does keys. Reads their runs and fences. Writes the candidates for
 * splitters, evenly spaced in the order of all samples. Loads that wait for each other take the
 * time; fences make them few. */
template <class Pair>
__global__ void __launch_bounds__(SAMPLE_RANK_BLOCK)
    rank_all_samples(const __grid_constant__ rank_all_samples_args<Pair> args)
{
  device_await_before();
  const uint32_t i = blockIdx.x * WARP_SIZE + threadIdx.x % WARP_SIZE;
  const Pair pair = pair_get(&args.sampled, plan_min(i, args.runs.count - 1));
  const uint32_t rank = rank_in_all(&args.runs, i, pair.key);
  if (threadIdx.x < WARP_SIZE && i < args.runs.count) store_sample(&args.choice, rank, pair);
}

} // namespace sample

#endif
