/* settle.cuh - how one kernel looks at the result of a sort of few and writes the job's status. The
 * sort has set a number to 0 for it. Other jobs take one launch that clears, one that looks and one
 * that concludes; for few each launch takes longer than its work. */
#ifndef RECSORT_CUDA_SETTLE_CUH
#define RECSORT_CUDA_SETTLE_CUH

#include "cuda/balance.cuh"
#include "recsort/job.h"

/* Writes what all threads of the grid have found to *status, a recsort_status: that something is
 * wrong, or that their numbers do not add up to 0. The lower bits of *settled, which is 0 before,
 * count blocks, of which there are less than 2^SETTLED_BITS; the others are the sum: so one atomic
 * addition tells the last block all. By all threads, `threads` a block; one barrier. */
enum { SETTLED_BITS = 12 };
template <uint32_t threads>
DEVICE_INLINE void settle_status(uint64_t *settled, bool wrong, uint64_t number, uint32_t *status)
{
  DEVICE_SHARED_ARRAY(uint64_t, parts, threads / WARP_SIZE);
  const uint64_t one = UINT64_C(1) << SETTLED_BITS;
  DEVICE_ASSERT(gridDim.x < one);
  sum_parts(parts, number + (wrong ? hash_index(blockIdx.x) | 1 : 0));
  __syncthreads();
  if (threadIdx.x > 0) return;
  uint64_t all = 0;
  for (uint32_t w = 0; w < threads / WARP_SIZE; w++)
    all += parts[w];
  all = all * one + 1;
  if (gridDim.x > 1) all += device_add64(settled, all);
  if (all % one == gridDim.x) *status = all / one ? RECSORT_CORRUPT_RESULT : RECSORT_OK;
}

#endif
