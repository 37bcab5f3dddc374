/* collect.cuh - collects the records that may be wanted, and ranks the last few. */
#ifndef RECSORT_CUDA_HEAD_COLLECT_CUH
#define RECSORT_CUDA_HEAD_COLLECT_CUH

#include "cuda/head/matrix.cuh"

namespace head
{

struct collect_args {
  static constexpr uint32_t max_threads = 256;
  read_args from;
  workspace to;
};

/* Reads the records of the chosen groups. Writes the records that are not beyond *bound, in any
 * order, and *collected_count.
 *
 * The memory limits it: of each row of a group WIDE neighbours are read, and so whole sectors. A
 * block reads one group after the other. A warp takes its places at once, as atomic operations on
 * one address come one after the other. */
template <reading How>
__global__ void __launch_bounds__(collect_args::max_threads)
    collect(const __grid_constant__ collect_args args)
{
  device_await_before();
  const matrix &shape = args.from.shape;
  const pair bound = *args.to.bound;
  const uint64_t groups = *args.to.chosen_count;
  bool valid = true;
  for (uint64_t g = blockIdx.x; g < groups; g += gridDim.x) {
    const uint32_t strand = strand_of(shape, args.to.chosen[g].words[0]);
    DEVICE_ASSERT(strand < shape.strands);
    for (uint64_t first = 0; first < shape.rows * WIDE; first += blockDim.x) {
      const uint64_t row = (first + threadIdx.x) / WIDE;
      const uint64_t at = record_at(shape, strand, threadIdx.x % WIDE, row);
      pair one = pair_of(UINT64_MAX);
      if (at < shape.count) one = read_pair<How>(args.from, at, &valid);
      const bool taken = at < shape.count && !is_less(bound, one);
      const uint64_t place = take_place(args.to.collected_count, taken);
      if (taken) args.to.collected[place] = one;
    }
  }
}

/* ---- rank ---- */

struct rank_args {
  static constexpr uint32_t max_threads = 256;
  workspace from; /* the pairs that were collected; if they are more than `most`, the last ones */
  uint64_t most;
  uint64_t head;
  void *order;
  uint32_t index_bits;
};

/* Reads all pairs that are left, for each of them. Writes the indices of the first `head`, in
 * order.
 *
 * A warp counts the pairs before one. That is as many comparisons as the square of their number,
 * but all at a time: a sort of so few pairs would wait from step to step. */
template <class = void>
__global__ void __launch_bounds__(rank_args::max_threads)
    rank_pairs(const __grid_constant__ rank_args args)
{
  device_await_before();
  const bool few = *args.from.collected_count <= args.most;
  const uint64_t count = few ? *args.from.collected_count : *args.from.last_count;
  const pair *const pairs = few ? args.from.collected : args.from.last;
  const uint64_t mine = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP_SIZE;
  const uint64_t lane = threadIdx.x % WARP_SIZE;
  if (mine >= count) return;
  const pair one = pairs[mine];
  uint32_t before = 0;
  for (uint64_t i = lane; i < count; i += WARP_SIZE)
    before += is_less(pairs[i], one);
  before = device_warp_sum(before);
  DEVICE_ASSERT(before < count);
  if (lane != 0 || before >= args.head) return;
  if (args.index_bits == 32)
    ((uint32_t *)args.order)[before] = (uint32_t)one.words[0];
  else
    ((uint64_t *)args.order)[before] = one.words[0];
}

} // namespace head

#endif
