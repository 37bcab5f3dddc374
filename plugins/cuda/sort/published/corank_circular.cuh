/* corank_circular.cuh - the tiled kernel with ring buffers (PMPP, fig. 12.16 to 12.20). */
#ifndef RECSORT_CUDA_PUBLISHED_CORANK_CIRCULAR_CUH
#define RECSORT_CUDA_PUBLISHED_CORANK_CIRCULAR_CUH

#include "corank_block.cuh"

/* The next elements of a run in a ring buffer: in a tile from `first` on, wrapping around its
 * end. */
template <class Pair> struct ring_run {
  using pair = Pair;
  using position = uint32_t;

  key_of<Pair> *keys;
  index_of<Pair> *indices;
  uint32_t size;
  uint32_t first; /* less than size */
  uint32_t count; /* at most size */
};

/* The position of element i in the tile; i is at most the size, so it wraps at most once. */
template <class Pair> DEVICE_INLINE uint32_t ring_slot(ring_run<Pair> ring, uint32_t i)
{
  const uint32_t slot = ring.first + i;
  return slot >= ring.size ? slot - ring.size : slot;
}

template <class Pair> DEVICE_INLINE key_of<Pair> key_at(ring_run<Pair> ring, uint32_t i)
{
  return ring.keys[ring_slot(ring, i)];
}

template <class Pair> DEVICE_INLINE index_of<Pair> index_at(ring_run<Pair> ring, uint32_t i)
{
  return ring.indices[ring_slot(ring, i)];
}

/* Fills up the ring. `from` is the part of the run that it has not loaded yet. */
template <class Pair> DEVICE_INLINE void ring_fill(ring_run<Pair> *ring, global_run<Pair> *from)
{
  const uint32_t held = ring->count;
  const uint32_t count = (uint32_t)plan_min(ring->size - held, from->count);
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const uint32_t slot = ring_slot(*ring, held + i);
    ring->keys[slot] = from->keys[from->first + i];
    ring->indices[slot] = index_at(*from, (uint64_t)i);
  }
  ring->count = held + count;
  *from = part_of(*from, count, from->count);
}

template <class Pair> DEVICE_INLINE void ring_take(ring_run<Pair> *ring, uint32_t count)
{
  ring->first = ring_slot(*ring, count);
  ring->count -= count;
}

/* As tiled_pass, but what a step has not taken stays in the ring buffers. Reads each element of
 * both runs once, to shared memory; writes the merged pairs. Two tiles have to fit there. */
template <class Pair>
__global__ void __launch_bounds__(merge_pass<Pair>::max_threads)
    circular_pass(const __grid_constant__ merge_pass<Pair> pass)
{
  device_await_before();
  DEVICE_SHARED_ARRAY(uint64_t, bounds, 2);
  const tile_pair<Pair> tiles = cut_tiles<Pair>(pass.tile);
  block_merge<Pair> left = block_part(pass, bounds);
  ring_run<Pair> a = {tiles.a.keys, tiles.a.indices, pass.tile, 0, 0};
  ring_run<Pair> b = {tiles.b.keys, tiles.b.indices, pass.tile, 0, 0};
  for (uint64_t count = left.a.count + left.b.count; count > 0;) {
    const uint32_t step = (uint32_t)plan_min(pass.tile, count);
    ring_fill(&a, &left.a);
    ring_fill(&b, &left.b);
    __syncthreads();
    merge_serially(lane_begin(threadIdx.x, step, pass.tile),
                   lane_begin(threadIdx.x + 1, step, pass.tile), a, b, left.out);
    const uint32_t taken = co_rank_of(step, a, b);
    __syncthreads();
    ring_take(&a, taken);
    ring_take(&b, step - taken);
    left.out.keys += step;
    left.out.indices += step;
    count -= step;
  }
}

#endif
