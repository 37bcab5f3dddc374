/* corank_tiled.cuh - the tiled kernel (PMPP, fig. 12.11 to 12.13). */
#ifndef RECSORT_CUDA_PUBLISHED_CORANK_TILED_CUH
#define RECSORT_CUDA_PUBLISHED_CORANK_TILED_CUH

#include "corank_block.cuh"

/* Loads the next elements of `from` into an empty tile. */
template <class Pair>
DEVICE_INLINE tile_run<Pair> load_tile(global_run<Pair> from, pair_array<Pair> tile, uint32_t size)
{
  const tile_run<Pair> run = {tile.keys, tile.indices, 0, (uint32_t)plan_min(size, from.count)};
  for (uint32_t i = threadIdx.x; i < run.count; i += blockDim.x) {
    tile.keys[i] = from.keys[from.first + i];
    tile.indices[i] = index_at(from, (uint64_t)i);
  }
  return run;
}

/* A block co-ranks its part of the output. Reads tile after tile of both runs, coalesced, to
 * shared memory, where each thread merges a part; writes the merged pairs. Two tiles have to fit
 * there. What a step has not taken of them is read again in the next one. */
template <class Pair>
__global__ void __launch_bounds__(merge_pass<Pair>::max_threads)
    tiled_pass(const __grid_constant__ merge_pass<Pair> pass)
{
  device_await_before();
  DEVICE_SHARED_ARRAY(uint64_t, bounds, 2);
  const tile_pair<Pair> tiles = cut_tiles<Pair>(pass.tile);
  block_merge<Pair> left = block_part(pass, bounds);
  while (left.a.count + left.b.count > 0) {
    const tile_run<Pair> a = load_tile(left.a, tiles.a, pass.tile);
    const tile_run<Pair> b = load_tile(left.b, tiles.b, pass.tile);
    const uint32_t step = (uint32_t)plan_min(pass.tile, left.a.count + left.b.count);
    __syncthreads();
    merge_serially(lane_begin(threadIdx.x, step, pass.tile),
                   lane_begin(threadIdx.x + 1, step, pass.tile), a, b, left.out);
    /* uses the number in the tile, as the last one may be shorter */
    const uint32_t taken = co_rank_of(step, a, b);
    left.a = part_of(left.a, taken, left.a.count);
    left.b = part_of(left.b, step - taken, left.b.count);
    left.out.keys += step;
    left.out.indices += step;
    __syncthreads();
  }
}

#endif
