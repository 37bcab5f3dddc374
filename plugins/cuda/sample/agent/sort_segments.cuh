/* sort_segments.cuh - sorts short segments: a block for each tile of whole ones, in shared memory,
 * as sort_buckets does. Tiles begin at segments, and where there are none, anywhere. */
#ifndef RECSORT_CUDA_SAMPLE_SORT_SEGMENTS_CUH
#define RECSORT_CUDA_SAMPLE_SORT_SEGMENTS_CUH

#include "cuda/sample/agent/load.cuh"
#include "cuda/segments.h"

namespace sample
{

template <class Pair> struct sort_segments_args {
  static constexpr uint32_t max_threads = SAMPLE_TILE_BLOCK;
  /* reads */
  pair_source<Pair> source;
  device_segments segments; /* writes `overlong` */
  uint64_t count;
  uint32_t tile, joined, limit; /* as in sample_plan */
  uint32_t each;                /* pairs from where a tile may begin to where the next one may */
  /* writes */
  pair_target<Pair> target;
};

/* Where a tile begins that may begin from `place` on. By a warp. */
template <class Pair>
DEVICE_INLINE uint64_t tile_begin(const sort_segments_args<Pair> &args, uint64_t place)
{
  if (place == 0 || place >= args.count) return plan_min(place, args.count);
  const uint64_t next = warp_offsets_up_to(&args.segments, place - 1);
  const bool outside = next == 0 || next > args.segments.count;
  return outside ? place : plan_min(offset_at(&args.segments, next), args.count);
}

/* Leaves pairs as they are: too many for a tile, as a segment is longer than was said. */
template <class Pair>
DEVICE_INLINE void copy_overlong(const sort_segments_args<Pair> &args, uint64_t begin, uint64_t end)
{
  if (threadIdx.x == 0) *args.segments.overlong = 1;
  for (uint64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const Pair pair = load(&args.source, i);
    if constexpr (Pair::packed)
      store_unpacked(&args.target.sink, args.source.index_bits, i, pair.key);
    else
      pair_put(&args.target.pairs, i, pair);
  }
}

template <class Pair>
__global__ void __launch_bounds__(SAMPLE_TILE_BLOCK,
                                  device_blocks(SAMPLE_TILE_BLOCK, policy<Pair>::tile_blocks))
    sort_segments(const __grid_constant__ sort_segments_args<Pair> args)
{
  device_await_before();
  DEVICE_SHARED_ARRAY(uint64_t, ends, 2);
  for (uint32_t end = threadIdx.x / WARP_SIZE; end < 2; end += blockDim.x / WARP_SIZE) {
    const uint64_t found = tile_begin(args, ((uint64_t)blockIdx.x + end) * args.each);
    if (threadIdx.x % WARP_SIZE == 0) ends[end] = found;
  }
  __syncthreads();
  const uint64_t begin = ends[0], length = ends[1] - begin;
  if (length == 0) return;
  if (length > args.tile) {
    copy_overlong(args, begin, begin + length);
    return;
  }
  const tile_storage<Pair> tile =
      tile_storage_at<Pair>(device_shared_memory(), args.source.index_bits, args.limit);
  const uint32_t count = (uint32_t)length, limit = limit_of(&tile, count);
  const uint32_t each = share_each((uint32_t)plan_max(count, args.joined));
  const block_share mine = share_of(count, each, policy<Pair>::usual);
  load_to_tile(&args.source, neighbours{begin}, &mine, &tile.pairs);
  bin_scale<Pair> scale;
  sort_bins(&tile, &mine, limit, false, &scale);
  const tile_output<Pair> out = output_of(&args.target, begin, args.source.index_bits);
  store_tile(&tile, count, each, &mine, limit, &scale, &out);
}

} // namespace sample

#endif
