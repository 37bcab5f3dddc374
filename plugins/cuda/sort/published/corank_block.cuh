/* corank_block.cuh - common code of the co-ranking sorts through shared memory: two tiles of pairs,
 * and a block's part of a pass. */
#ifndef RECSORT_CUDA_PUBLISHED_CORANK_BLOCK_CUH
#define RECSORT_CUDA_PUBLISHED_CORANK_BLOCK_CUH

#include "pass.cuh"

/* ---- Shared memory: two tiles of pairs ---- */

template <class Pair> struct tile_pair {
  pair_array<Pair> a;
  pair_array<Pair> b;
};

template <class Pair> DEVICE_INLINE tile_pair<Pair> cut_tiles(uint32_t tile)
{
  key_of<Pair> *const keys = (key_of<Pair> *)device_shared_memory();
  index_of<Pair> *const indices = (index_of<Pair> *)(keys + 2 * tile);
  return {{keys, indices}, {keys + tile, indices + tile}};
}

/* ---- A block's part of a pass ---- */

/* A block's part: it merges a and b to out. */
template <class Pair> struct block_merge {
  global_run<Pair> a;
  global_run<Pair> b;
  pair_array<Pair> out;
};

/* Finds the block's part. `bounds` is in shared memory. By all threads of the block; ends with a
 * barrier. */
template <class Pair>
DEVICE_INLINE block_merge<Pair> block_part(const merge_pass<Pair> &pass, uint64_t *bounds)
{
  const output_range range = plan_output(blockIdx.x, pass.each, pass.width, pass.from.count);
  const auto a = part_of(pass.from, range.pair.begin, range.pair.middle);
  const auto b = part_of(pass.from, range.pair.middle, range.pair.end);
  for (uint32_t i = threadIdx.x; i < 2; i += blockDim.x)
    bounds[i] = co_rank_of(i ? range.end : range.begin, a, b);
  __syncthreads();
  const uint64_t first = range.pair.begin + range.begin;
  return {part_of(a, bounds[0], bounds[1]),
          part_of(b, range.begin - bounds[0], range.end - bounds[1]),
          {pass.to.keys + first, pass.to.indices + first}};
}

/* The start of a thread's part of the `step` outputs of two tiles. */
DEVICE_INLINE uint32_t lane_begin(uint32_t thread, uint32_t step, uint32_t tile)
{
  const uint32_t each = (uint32_t)plan_blocks(tile, blockDim.x);
  return (uint32_t)plan_min(thread * each, step);
}

#endif
