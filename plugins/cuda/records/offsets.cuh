/* offsets.cuh - device functions that find the segment of an element. */
#ifndef RECSORT_CUDA_RECORDS_OFFSETS_CUH
#define RECSORT_CUDA_RECORDS_OFFSETS_CUH

#include "cuda/device.h"
#include "cuda/plan.h"
#include "gpu/records.h"

namespace records
{

DEVICE_INLINE uint64_t offset_at(const device_segments *segments, uint64_t i)
{
  return segments->offset_bits == 32 ? ((const uint32_t *)segments->offsets)[i]
                                     : ((const uint64_t *)segments->offsets)[i];
}

/* How many offsets are at most `place`. The lanes of a warp try 32 a round. */
DEVICE_INLINE uint64_t warp_offsets_up_to(const device_segments *segments, uint64_t place)
{
  uint64_t low = 0, high = segments->count + 1;
  while (low < high) {
    const uint64_t step = (high - low + WARP_SIZE - 1) / WARP_SIZE;
    const uint64_t at = low + threadIdx.x % WARP_SIZE * step;
    const bool found = at < high && offset_at(segments, at) <= place;
    const uint32_t more = device_popc(device_ballot(found));
    if (more == 0) return low;
    high = plan_min(high, low + more * step);
    low += (more - 1) * step + 1;
  }
  return low;
}

/* The same for a thread, which knows that it is from `low` to `high`. */
DEVICE_INLINE uint64_t offsets_up_to(const device_segments *segments, uint64_t low, uint64_t high,
                                     uint64_t place)
{
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (offset_at(segments, middle) <= place)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

} // namespace records

#endif
