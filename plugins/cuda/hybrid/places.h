/* places.h - where buckets begin or end in an array of pairs, and the segments that they
 * split.
 */
#ifndef RECSORT_CUDA_HYBRID_PLACES_H
#define RECSORT_CUDA_HYBRID_PLACES_H

#include "cuda/device.h"
#include "cuda/hybrid/plan.h"

/* 32 or 64 bits each, every so many. */
typedef struct places {
  void *at;
  uint32_t bits, stride;
} places;

DEVICE_INLINE uint64_t place_get(const places *all, uint64_t i)
{
  return all->bits == 32 ? ((const uint32_t *)all->at)[i * all->stride]
                         : ((const uint64_t *)all->at)[i * all->stride];
}

DEVICE_INLINE void place_set(const places *all, uint64_t i, uint64_t place)
{
  if (all->bits == 32)
    ((uint32_t *)all->at)[i * all->stride] = (uint32_t)place;
  else
    ((uint64_t *)all->at)[i * all->stride] = place;
}

/* Returns what was there before. */
DEVICE_INLINE uint64_t place_add(const places *all, uint64_t i, uint32_t more)
{
  return all->bits == 32 ? device_add32((uint32_t *)all->at + i * all->stride, more)
                         : device_add64((uint64_t *)all->at + i * all->stride, more);
}

DEVICE_INLINE uint64_t bucket_begin(const places *ends, uint64_t bucket)
{
  return bucket ? place_get(ends, bucket - 1) : 0;
}

DEVICE_INLINE uint64_t segment_begin(const places *ends, uint32_t segment)
{
  return bucket_begin(ends, segment);
}

DEVICE_INLINE uint64_t segment_end(const places *ends, uint32_t segment, uint32_t segments,
                                   uint64_t count)
{
  return segment + 1 == segments ? count : place_get(ends, segment);
}

/* The segment that pair `at` is in: by a warp, which looks at as many places at once as it has
 * lanes. All its lanes come along. */
DEVICE_INLINE uint32_t segment_at(const places *ends, uint32_t segments, uint64_t at)
{
  uint32_t low = 0, count = segments;
  while (count > 1) {
    const uint32_t every = (count + HYBRID_WARP - 1) / HYBRID_WARP;
    const uint32_t last = (threadIdx.x % HYBRID_WARP + 1) * every - 1;
    const bool before = last + 1 < count && place_get(ends, low + last) <= at;
    const uint32_t skipped = every * device_popc(device_ballot(before));
    low += skipped;
    count = (uint32_t)plan_min(every, count - skipped);
  }
  return low;
}

#endif
