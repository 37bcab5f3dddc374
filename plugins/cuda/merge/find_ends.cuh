/* find_ends.cuh - where each value of a digit ends in sorted keys: the search for the cuts of
 * shards (gpu/device_shards.h). */
#ifndef RECSORT_CUDA_MERGE_FIND_ENDS_CUH
#define RECSORT_CUDA_MERGE_FIND_ENDS_CUH

#include "cuda/device.h"
#include "cuda/key_words.h"
#include "cuda/plan.h"
#include "gpu/device_shards.h"

namespace merge
{

struct find_ends_args {
  static constexpr uint32_t max_threads = 128;
  /* reads */
  device_sorted_keys sorted;
  const device_range *ranges;
  /* writes */
  uint64_t *ends;
  uint32_t range_count, shift, bits;
};

DEVICE_INLINE uint32_t digit_at(const find_ends_args *args, uint64_t i)
{
  const uint32_t mask = (1u << args->bits) - 1;
  const device_words *const words = &args->sorted.words;
  if (words->code.bytes) {
    const char *const word = (const char *)words->data + i * words->stride;
    const uint64_t code = words->code.bytes == sizeof(uint32_t)
                              ? word_code_32(&words->code, *(const uint32_t *)(const void *)word)
                              : word_code_64(&words->code, *(const uint64_t *)(const void *)word);
    return (uint32_t)(code >> args->shift) & mask;
  }
  if (args->sorted.key_width == 32)
    return ((const uint32_t *)args->sorted.keys)[i] >> args->shift & mask;
  const uint32_t each = args->sorted.key_width / 64, word = args->shift / 64,
                 below = args->shift % 64;
  const uint64_t *const key = (const uint64_t *)args->sorted.keys + i * each;
  uint64_t digit = key[word] >> below;
  if (below > 64 - args->bits && word + 1 < each) digit |= key[word + 1] << (64 - below);
  return (uint32_t)digit & mask;
}

/* A thread finds an end. Reads the ranges, and a key in each step of a bisection; writes an end for
 * each range and value. The loads of a bisection wait for each other, so each end has a thread of
 * its own. Neighbouring threads write neighbouring ends, as pinned memory is behind the link. */
template <class = void>
__global__ void __launch_bounds__(find_ends_args::max_threads)
    find_ends(const __grid_constant__ find_ends_args args)
{
  device_await_before();
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, range = i >> args.bits;
  if (range >= args.range_count) return;
  const uint32_t value = i & ((1u << args.bits) - 1);
  uint64_t low = args.ranges[range].low, high = args.ranges[range].high;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (digit_at(&args, middle) > value)
      high = middle;
    else
      low = middle + 1;
  }
  DEVICE_ASSERT(low <= args.ranges[range].high);
  args.ends[i] = low;
}

/* See device_find_ends. */
template <class = void>
static device_status start_find_ends(const find_ends_args &args, void *stream)
{
  RS_ASSERT(args.bits > 0 && args.bits < 32);
  const uint64_t grid =
      plan_blocks((uint64_t)args.range_count << args.bits, find_ends_args::max_threads);
  return device_launch(find_ends<>, grid, find_ends_args::max_threads, 0, stream, args);
}

} // namespace merge

#endif
