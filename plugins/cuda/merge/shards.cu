/* shards.cu - see gpu/device_shards.h. A thread searches for one end. */
#include "gpu/device_shards.h"

#include "cuda/device.h"
#include "cuda/plan.h"

namespace
{

enum { SHARDS_BLOCK = 128 };

struct ends_args {
  static constexpr uint32_t max_threads = SHARDS_BLOCK;
  device_sorted_keys sorted;
  const device_range *ranges;
  uint64_t *ends;
  uint32_t range_count, shift, bits;
};

DEVICE_INLINE uint32_t digit_at(const ends_args *args, uint64_t i)
{
  const uint32_t mask = (1u << args->bits) - 1;
  if (args->sorted.key_width == 32)
    return ((const uint32_t *)args->sorted.keys)[i] >> args->shift & mask;
  const uint32_t each = args->sorted.key_width / 64, word = args->shift / 64,
                 below = args->shift % 64;
  const uint64_t *const key = (const uint64_t *)args->sorted.keys + i * each;
  uint64_t digit = key[word] >> below;
  if (below > 64 - args->bits && word + 1 < each) digit |= key[word + 1] << (64 - below);
  return (uint32_t)digit & mask;
}

static __global__ void __launch_bounds__(ends_args::max_threads)
    find_ends(const __grid_constant__ ends_args args)
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
  args.ends[i] = low;
}

} // namespace

device_status device_find_ends(const device_sorted_keys *sorted, const device_range *ranges,
                               uint32_t range_count, uint32_t shift, uint32_t bits, uint64_t *ends,
                               void *stream)
{
  ends_args args = {*sorted, ranges, ends, range_count, shift, bits};
  const uint64_t grid = plan_blocks((uint64_t)range_count << bits, SHARDS_BLOCK);
  return device_launch(find_ends, grid, SHARDS_BLOCK, 0, stream, args);
}
