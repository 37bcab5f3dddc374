/* segments.cuh - segments of the caller's arrays become the sections of a sort, and elements that
 * are not sorted stay where they are. */
#ifndef RECSORT_CUDA_CARRY_SEGMENTS_CUH
#define RECSORT_CUDA_CARRY_SEGMENTS_CUH

#include "cuda/records/offsets.cuh"
#include "cuda/sort/carry/split.cuh"

namespace carry
{

using records::offset_at;

struct segments_args {
  static constexpr uint32_t max_threads = CARRY_BLOCK;
  /* reads */
  device_segments segments;
  uint32_t count; /* of elements */
  uint32_t tile;
  uint32_t most; /* elements that a block sorts: segments with no more are not split */
  /* writes */
  section *sections;
  tile_begin *begins;
  uint32_t *tile_count;
  uint32_t *parts; /* set to 0, for the kernels that follow: the numbers of parts */
};

/* Reads the offsets, all of them in each block. Writes the section of each segment, and its tiles.
 * If the offsets do not ascend, all sections are empty. */
template <class = void>
__global__ void __launch_bounds__(segments_args::max_threads)
    list_segments(const __grid_constant__ segments_args args)
{
  device_await_before();
  const uint32_t all = (uint32_t)args.segments.count, first = blockIdx.x * blockDim.x;
  const uint32_t s = first + threadIdx.x, lane = threadIdx.x % WARP_SIZE;
  const auto begin_of = [&](uint32_t segment) {
    return (uint32_t)plan_min(offset_at(&args.segments, segment), args.count);
  };
  uint32_t before = 0, descents = 0, total;
  for (uint32_t i = threadIdx.x; i < all; i += blockDim.x) {
    const uint32_t begin = begin_of(i), end = begin_of(i + 1);
    descents += end < begin;
    if (i < first) before += (uint32_t)plan_blocks(end - begin, args.tile);
  }
  before = sample::block_sum(before);
  __syncthreads();
  descents = sample::block_sum(descents);
  __syncthreads();
  section mine = {};
  if (s < all && descents == 0) {
    mine.begin = begin_of(s);
    mine.count = begin_of(s + 1) - mine.begin;
  }
  const uint32_t tiles = (uint32_t)plan_blocks(mine.count, args.tile);
  mine.first_tile = (descents ? 0 : before) + sample::block_before_all(tiles, &total);
  mine.one_key = mine.count <= args.most;
  if (s < all) args.sections[s] = mine;
  if (threadIdx.x == 0 && blockIdx.x + 1 == gridDim.x) {
    *args.tile_count = (descents ? 0 : before) + total;
    args.parts[0] = args.parts[1] = 0;
  }
  for (uint32_t k = 0; k < WARP_SIZE; k++) {
    const uint32_t at = __shfl_sync(UINT32_MAX, mine.first_tile, k);
    const uint32_t count = __shfl_sync(UINT32_MAX, tiles, k);
    for (uint32_t t = lane; t < count; t += WARP_SIZE)
      args.begins[at + t] = {s - lane + k, t, 0, 0};
  }
}

enum {
  KEPT_TOGETHER = 4, /* elements that a thread has on their way */
  KEPT_BLOCKS = 4    /* of a multiprocessor */
};

template <class Key, class Value> struct outside_args {
  static constexpr uint32_t max_threads = CARRY_BLOCK;
  device_segments segments; /* 0: the first `count` elements */
  element_count count;
  element_array<Key, Value> from; /* values may be NULL: their positions */
  element_array<Key, Value> to;
};

/* Reads the elements before the first segment and behind the last one, or behind as many as the
 * device says, and writes them to the same places. There are usually none. */
template <class Key, class Value>
__global__ void __launch_bounds__(CARRY_BLOCK)
    keep_outside(const __grid_constant__ outside_args<Key, Value> args)
{
  device_await_before();
  const auto edge = [&](uint64_t s) {
    return plan_min(offset_at(&args.segments, s), args.count.most);
  };
  const uint64_t before = args.segments.count ? edge(0) : 0;
  const uint64_t behind = args.segments.count ? edge(args.segments.count) : args.count();
  const uint64_t inside = behind > before ? behind - before : 0;
  DEVICE_ASSERT(inside <= args.count.most);
  const uint64_t all = args.count.most - inside, threads = (uint64_t)gridDim.x * blockDim.x;
  const auto place = [&](uint64_t i) { return i < before ? i : i + inside; };
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < all;
       i += KEPT_TOGETHER * threads) {
    Key keys[KEPT_TOGETHER] = {};
    Value values[KEPT_TOGETHER] = {};
    DEVICE_UNROLL
    for (uint32_t k = 0; k < KEPT_TOGETHER; k++) {
      const uint64_t at = place((uint64_t)plan_min(i + k * threads, all - 1));
      keys[k] = args.from.keys[at];
      if constexpr (std::is_integral_v<Value>) values[k] = (Value)at;
      if constexpr (has_value<Value>)
        if (args.from.values) values[k] = args.from.values[at];
    }
    DEVICE_UNROLL
    for (uint32_t k = 0; k < KEPT_TOGETHER; k++) {
      if (i + k * threads >= all) break;
      const uint64_t at = place(i + k * threads);
      args.to.keys[at] = keys[k];
      if constexpr (has_value<Value>) args.to.values[at] = values[k];
    }
  }
}

} // namespace carry

#endif
