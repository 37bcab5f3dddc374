/* offsets.cuh - where buckets begin or end in an array of pairs, and the sections that they
 * split.
 */
#ifndef RECSORT_CUDA_SAMPLE_OFFSETS_CUH
#define RECSORT_CUDA_SAMPLE_OFFSETS_CUH

#include "cuda/device.h"
#include "cuda/sort/sample/plan.h"

namespace sample
{

/* An array of offsets of 32 or 64 bits each. `stride` is the distance between two of them. */
struct offsets {
  void *at;
  uint32_t bits, stride;
};

DEVICE_INLINE uint64_t offset_get(const offsets *all, uint64_t i)
{
  return all->bits == 32 ? ((const uint32_t *)all->at)[i * all->stride]
                         : ((const uint64_t *)all->at)[i * all->stride];
}

DEVICE_INLINE void offset_set(const offsets *all, uint64_t i, uint64_t place)
{
  if (all->bits == 32)
    ((uint32_t *)all->at)[i * all->stride] = (uint32_t)place;
  else
    ((uint64_t *)all->at)[i * all->stride] = place;
}

/* Atomic; returns the old value. */
DEVICE_INLINE uint64_t offset_add(const offsets *all, uint64_t i, uint32_t more)
{
  return all->bits == 32 ? device_add32((uint32_t *)all->at + i * all->stride, more)
                         : device_add64((uint64_t *)all->at + i * all->stride, more);
}

DEVICE_INLINE uint64_t bucket_begin(const offsets *ends, uint64_t bucket)
{
  return bucket ? offset_get(ends, bucket - 1) : 0;
}

DEVICE_INLINE uint64_t section_begin(const offsets *ends, uint32_t section)
{
  return bucket_begin(ends, section);
}

DEVICE_INLINE uint64_t section_end(const offsets *ends, uint32_t section, uint32_t sections,
                                   uint64_t count)
{
  return section + 1 == sections ? count : offset_get(ends, section);
}

/* The section of pair `at`. By all lanes of a warp, which search together. */
DEVICE_INLINE uint32_t section_at(const offsets *ends, uint32_t sections, uint64_t at)
{
  uint32_t low = 0, count = sections;
  while (count > 1) {
    const uint32_t every = (count + WARP_SIZE - 1) / WARP_SIZE;
    const uint32_t last = (threadIdx.x % WARP_SIZE + 1) * every - 1;
    const bool before = last + 1 < count && offset_get(ends, low + last) <= at;
    const uint32_t skipped = every * device_popc(device_ballot(before));
    low += skipped;
    count = (uint32_t)plan_min(every, count - skipped);
  }
  return low;
}

} // namespace sample

#endif
