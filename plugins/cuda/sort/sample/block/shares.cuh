/* shares.cuh - divides a block's pairs among its threads; sums over a warp or a block. */
#ifndef RECSORT_CUDA_SAMPLE_SHARES_CUH
#define RECSORT_CUDA_SAMPLE_SHARES_CUH

#include "cuda/device.h"
#include "cuda/sort/sample/plan.h"

namespace sample
{

/* ---- A block's pairs ---- */

/* A thread's pairs: number `first`, and every WARP_SIZE-th from there on, before `end`. A warp's
 * pairs are adjacent, and the addresses of a thread's pairs differ by constants. */
struct block_share {
  uint32_t first, end;
  bool whole; /* all lanes of the warp have the most possible */
};

/* The thread's share of `count` pairs, `each` for a thread; `most` is the most that it could be. */
DEVICE_INLINE block_share share_of(uint32_t count, uint32_t each, uint32_t most)
{
  const uint32_t warps = WARP_SIZE * each, begin = threadIdx.x / WARP_SIZE * warps;
  const block_share mine = {begin + threadIdx.x % WARP_SIZE,
                            (uint32_t)plan_min(begin + warps, count),
                            each == most && begin + warps <= count};
  return mine;
}

/* Pairs for each thread if all get about equally many. The size of the block is a power of two. */
DEVICE_INLINE uint32_t share_each(uint32_t count)
{
  return (count + blockDim.x - 1) >> (31 - device_clz32(blockDim.x));
}

DEVICE_INLINE uint32_t share_at(const block_share *mine, uint32_t t)
{
  return mine->first + t * WARP_SIZE;
}

/* The share without its first `t` pairs. */
DEVICE_INLINE block_share share_from(const block_share *all, uint32_t t)
{
  block_share some = *all;
  some.first = share_at(all, t);
  return some;
}

/* True if any lane of the warp has more than `t` pairs; tested before share_has(), as it is uniform
 * in the warp. `whole` is a compile-time constant. */
DEVICE_INLINE bool share_goes_on(const block_share *mine, uint32_t t, bool whole)
{
  return whole || share_at(mine, t) - threadIdx.x % WARP_SIZE < mine->end;
}

DEVICE_INLINE bool share_has(const block_share *mine, uint32_t t, bool whole)
{
  return whole || share_at(mine, t) < mine->end;
}

/* ---- Keys of a run that a block ranks ---- */

struct run_share {
  uint32_t begin, count; /* of the run */
  uint32_t first;        /* the first of the warp's SAMPLE_WARP_RANKED keys, counted from begin */
};

/* The warp's keys, if `all` keys are in runs of 2^bits. */
DEVICE_INLINE run_share run_share_of(uint32_t all, uint32_t bits)
{
  const uint32_t each = blockDim.x / WARP_SIZE * SAMPLE_WARP_RANKED, first = blockIdx.x * each;
  run_share share;
  share.begin = first >> bits << bits;
  share.count = (uint32_t)plan_min(1u << bits, all - share.begin);
  share.first = first - share.begin + threadIdx.x / WARP_SIZE * SAMPLE_WARP_RANKED;
  return share;
}

/* True if the lane holds one of the warp's keys. */
DEVICE_INLINE bool run_share_has(const run_share *share)
{
  const uint32_t lane = threadIdx.x % WARP_SIZE;
  return lane < SAMPLE_WARP_RANKED && share->first + lane < share->count;
}

/* ---- Counts that many lanes add to ---- */

/* True if the lanes of a warp hold so few different numbers that atomic additions to their counts
 * would contend. Judges by the number of neighbours that are equal. */
DEVICE_INLINE bool warp_is_contended(uint32_t number)
{
  const uint32_t neighbour = __shfl_xor_sync(UINT32_MAX, number, 1);
  return device_popc(device_ballot(number == neighbour)) > WARP_SIZE / 2;
}

/* Adds 1 to counts[number] for each lane, with one atomic addition for all lanes with the same
 * number. Returns what a lane's own addition would have. By all lanes of a warp. */
DEVICE_INLINE uint32_t warp_add(uint32_t *counts, uint32_t number)
{
  const uint32_t lane = threadIdx.x % WARP_SIZE, alike = device_match(number);
  const uint32_t first = device_first_lane(alike), before = alike & ((1u << lane) - 1);
  uint32_t there = 0;
  if (lane == first) there = device_add32(&counts[number], device_popc(alike));
  there = __shfl_sync(UINT32_MAX, there, first);
  return there + device_popc(before);
}

/* ---- Sums over a block ---- */

/* Exclusive prefix sum over the block, and the sum of all. By all threads; one barrier. Callers
 * need another barrier before the next call. */
DEVICE_INLINE uint32_t block_before_all(uint32_t mine, uint32_t *all)
{
  DEVICE_SHARED_ARRAY(uint32_t, sums, SAMPLE_SPLITTER_BLOCK / WARP_SIZE);
  const uint32_t lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
  uint32_t sum = mine;
  DEVICE_UNROLL
  for (uint32_t lanes = 1; lanes < WARP_SIZE; lanes *= 2) {
    const uint32_t before = __shfl_up_sync(UINT32_MAX, sum, lanes);
    if (lane >= lanes) sum += before;
  }
  if (lane == WARP_SIZE - 1) sums[warp] = sum;
  __syncthreads();
  const uint32_t other = lane < blockDim.x / WARP_SIZE ? sums[lane] : 0;
  *all = device_warp_sum(other);
  return sum - mine + device_warp_sum(lane < warp ? other : 0);
}

DEVICE_INLINE uint32_t block_before(uint32_t mine)
{
  uint32_t all;
  return block_before_all(mine, &all);
}

/* The sum over the block, for all threads; barriers as above. */
DEVICE_INLINE uint32_t block_sum(uint32_t mine)
{
  DEVICE_SHARED_ARRAY(uint32_t, sums, SAMPLE_SPLITTER_BLOCK / WARP_SIZE);
  const uint32_t lane = threadIdx.x % WARP_SIZE, sum = device_warp_sum(mine);
  if (lane == 0) sums[threadIdx.x / WARP_SIZE] = sum;
  __syncthreads();
  return device_warp_sum(lane < blockDim.x / WARP_SIZE ? sums[lane] : 0);
}

/* The sum over the same lane of all warps, valid in the first warp; barriers as above. */
DEVICE_INLINE uint32_t rank_sum(uint32_t mine)
{
  DEVICE_SHARED_ARRAY(uint32_t, sums, SAMPLE_RANK_BLOCK);
  uint32_t sum = 0;
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (uint32_t i = threadIdx.x; threadIdx.x < WARP_SIZE && i < blockDim.x; i += WARP_SIZE)
    sum += sums[i];
  return sum;
}

} // namespace sample

#endif
