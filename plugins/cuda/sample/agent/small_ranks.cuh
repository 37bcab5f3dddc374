/* small_ranks.cuh - sorts few pairs by the ranks of their keys (ranks.cuh). */
#ifndef RECSORT_CUDA_SAMPLE_SMALL_RANKS_CUH
#define RECSORT_CUDA_SAMPLE_SMALL_RANKS_CUH

#include "cuda/sample/block/ranks.cuh"
namespace sample
{

/* Loads the block's run to shared memory, in whole groups where possible. By all threads of the
 * block. */
template <class Pair>
DEVICE_INLINE void load_run(const key_of<Pair> *keys, uint32_t count,
                            key_group<key_of<Pair>> *groups)
{
  const uint32_t whole = count / group_size<key_of<Pair>>;
  DEVICE_UNROLL_BY_4
  for (uint32_t g = threadIdx.x; g < whole; g += blockDim.x)
    groups[g] = ((const key_group<key_of<Pair>> *)keys)[g];
  for (uint32_t i = whole * group_size<key_of<Pair>> + threadIdx.x; i < count; i += blockDim.x)
    put_group(groups, i, keys[i]);
  fill_groups(groups, count);
}

/* Ranks each key in its run. */
template <class Pair> struct rank_runs_args {
  static constexpr uint32_t max_threads = SAMPLE_RANK_BLOCK;
  /* reads */
  const key_of<Pair> *keys;
  /* writes */
  key_runs<key_of<Pair>> runs; /* sorted; with fences if there are several */
  index_of<Pair> *indices;     /* the indices of the runs' keys */
};

template <class Pair>
__global__ void __launch_bounds__(SAMPLE_RANK_BLOCK)
    rank_runs(const __grid_constant__ rank_runs_args<Pair> args)
{
  device_await_before();
  auto *const groups = (key_group<key_of<Pair>> *)device_shared_memory();
  const run_share share = run_share_of(args.runs.count, args.runs.bits);
  load_run<Pair>(args.keys + share.begin, share.count, groups);
  __syncthreads();
  const ranked_key<key_of<Pair>> ranked = rank_in_run(groups, &share);
  if (!run_share_has(&share)) return;
  const uint32_t place = place_in_run(&args.runs, &share, ranked);
  args.runs.keys[place] = ranked.key;
  args.indices[place] = share.begin + share.first + threadIdx.x % WARP_SIZE;
}

/* Ranks each key among the keys of all runs. */
template <class Pair> struct rank_all_args {
  static constexpr uint32_t max_threads = SAMPLE_RANK_BLOCK;
  /* reads */
  key_runs<key_of<Pair>> runs;
  const index_of<Pair> *indices;
  /* writes */
  pair_array<Pair> to;
};

template <class Pair>
__global__ void __launch_bounds__(SAMPLE_RANK_BLOCK)
    rank_all(const __grid_constant__ rank_all_args<Pair> args)
{
  device_await_before();
  const uint32_t i = blockIdx.x * WARP_SIZE + threadIdx.x % WARP_SIZE;
  const bool mine = threadIdx.x < WARP_SIZE && i < args.runs.count;
  const key_of<Pair> key = args.runs.keys[plan_min(i, args.runs.count - 1)];
  const uint32_t rank = rank_in_all(&args.runs, i, key);
  if (mine) args.to.keys[rank] = key;
  if (mine) args.to.indices[rank] = args.indices[i];
}

} // namespace sample

#endif
