/* corank_block.cu - co-ranking merge sorts through shared memory (Kirk and Hwu, "Programming
 * Massively Parallel Processors", ch. 12).
 *
 *   tiles             each block sorts one in shared memory
 *   corank-tiled      a block co-ranks its part of a pass's output, then again and again loads a
 *                     tile of both runs, of which each thread merges a part (corank_tiled.cuh)
 *   corank-circular   the same, but what a tile still holds stays there (corank_circular.cuh)
 *
 * Unlike the published code: the bounds of a block have their own array; the last tile may be
 * shorter; each thread's part is rounded up. Extra memory: none.
 */
#include "corank_circular.cuh"
#include "corank_tiled.cuh"

/* The first passes: each block sorts a tile (PMPP lecture 14, the one-shot block form). Reads the
 * keys of the tile; writes its sorted pairs. Each pass goes from one half of shared memory to the
 * other one, so a tile is half of what fits there. */
template <class Pair>
__global__ void __launch_bounds__(merge_pass<Pair>::max_threads)
    corank_tile(const __grid_constant__ merge_pass<Pair> pass)
{
  device_await_before();
  const tile_pair<Pair> tiles = cut_tiles<Pair>(pass.tile);
  pair_array<Pair> from = tiles.a, to = tiles.b;
  const uint64_t first = (uint64_t)blockIdx.x * pass.tile;
  const uint32_t count = (uint32_t)plan_min(pass.tile, pass.from.count - first);
  const uint32_t each = (uint32_t)plan_blocks(count, blockDim.x);
  const uint32_t begin = (uint32_t)plan_min(threadIdx.x * each, count);
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    from.keys[i] = pass.from.keys[first + i];
    from.indices[i] = (index_of<Pair>)(first + i);
  }
  __syncthreads();
  for (uint32_t width = 1; width < count; width *= 2) {
    const tile_run<Pair> all = {from.keys, from.indices, 0, count};
    const pair_array<Pair> next = from;
    merge_pairs_serially(begin, (uint32_t)plan_min(begin + each, count), width, all, to);
    from = to;
    to = next;
    __syncthreads();
  }
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    pass.to.keys[first + i] = from.keys[i];
    pass.to.indices[first + i] = from.indices[i];
  }
}

template <class Pair>
static device_status corank_blocks(const device_job *job, const device_buffers *buffers,
                                   void (*merge)(merge_pass<Pair>), unsigned *result)
{
  enum { TILES = 8 }; /* the most tiles that a block merges */
  const uint32_t block = plan_block(job), tile = plan_tile(job, Pair::bytes);
  const uint64_t shared = 2 * (uint64_t)tile * Pair::bytes;
  merge_pass<Pair> pass = make_pass<Pair>(job, buffers, 0, 1);
  pass.tile = tile;
  device_status status = device_launch(corank_tile<Pair>, plan_blocks(job->count, tile), block,
                                       shared, job->stream, pass);
  unsigned source = 1;
  for (uint64_t width = tile; !status && width < job->count; width *= 2) {
    pass = make_pass<Pair>(job, buffers, source, width);
    pass.tile = tile;
    pass.each = plan_outputs(width, (uint64_t)TILES * tile);
    status =
        device_launch(merge, plan_blocks(job->count, pass.each), block, shared, job->stream, pass);
    source = 1 - source;
  }
  if (!status) *result = source;
  return status;
}

device_status corank_tiled_sort(const device_job *job, const device_buffers *buffers,
                                unsigned *result)
{
  return sort_pairs(job, buffers, result, [=](auto pair) {
    return corank_blocks(job, buffers, tiled_pass<decltype(pair)>, result);
  });
}

device_status corank_circular_sort(const device_job *job, const device_buffers *buffers,
                                   unsigned *result)
{
  return sort_pairs(job, buffers, result, [=](auto pair) {
    return corank_blocks(job, buffers, circular_pass<decltype(pair)>, result);
  });
}
