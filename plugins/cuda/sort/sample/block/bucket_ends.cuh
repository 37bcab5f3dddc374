/* bucket_ends.cuh - where padded buckets end in an array of pairs. */
#ifndef RECSORT_CUDA_SAMPLE_BUCKET_ENDS_CUH
#define RECSORT_CUDA_SAMPLE_BUCKET_ENDS_CUH

#include "cuda/device.h"
#include "cuda/sort/sample/plan.h"

namespace sample
{

/* The ends of buckets, each in a sector of memory of its own, as all blocks add to them. */
struct bucket_ends {
  uint32_t *at;
};

DEVICE_INLINE uint32_t *bucket_end(const bucket_ends *all, uint32_t bucket)
{
  return &all->at[bucket * SAMPLE_ENDS_STRIDE];
}

} // namespace sample

#endif
