/* small_ranks.cuh - few pairs sorted by the ranks of their keys (ranks.cuh).
 */
#ifndef RECSORT_CUDA_SAMPLE_SMALL_RANKS_CUH
#define RECSORT_CUDA_SAMPLE_SMALL_RANKS_CUH

#include "cuda/sample/block/ranks.cuh"
namespace sample
{

template <class Pair> struct small_args {
  static constexpr uint32_t max_threads = SAMPLE_RANK_BLOCK;

  const key_of<Pair> *keys;
  key_runs<key_of<Pair>> runs;
  index_of<Pair> *run_indices;
  key_of<Pair> *to_keys; /* if there are several runs */
  index_of<Pair> *to;
};

/* A run comes to shared memory, by whole groups as far as can be. */
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

template <class Pair>
__global__ void __launch_bounds__(SAMPLE_RANK_BLOCK)
    rank_runs(const __grid_constant__ small_args<Pair> few)
{
  device_await_before();
  auto *const groups = (key_group<key_of<Pair>> *)device_shared_memory();
  const run_share share = run_share_of(few.runs.count, few.runs.bits);
  load_run<Pair>(few.keys + share.begin, share.count, groups);
  __syncthreads();
  const ranked_key<key_of<Pair>> ranked = rank_in_run(groups, &share);
  if (!run_share_has(&share)) return;
  const uint32_t place = place_in_run(&few.runs, &share, ranked);
  few.runs.keys[place] = ranked.key;
  few.run_indices[place] = share.begin + share.first + threadIdx.x % WARP_SIZE;
}

template <class Pair>
__global__ void __launch_bounds__(SAMPLE_RANK_BLOCK)
    rank_all(const __grid_constant__ small_args<Pair> few)
{
  device_await_before();
  const uint32_t i = blockIdx.x * WARP_SIZE + threadIdx.x % WARP_SIZE;
  const bool mine = threadIdx.x < WARP_SIZE && i < few.runs.count;
  const key_of<Pair> key = few.runs.keys[plan_min(i, few.runs.count - 1)];
  const uint32_t rank = rank_in_all(&few.runs, i, key);
  if (mine) few.to_keys[rank] = key;
  if (mine) few.to[rank] = few.run_indices[i];
}

} // namespace sample

#endif
