/* tally.cuh - how one kernel looks at the result of a sort of few and writes the job's status.
 * Other jobs take one launch that clears what is found, one that looks and one that concludes; for
 * few each launch takes longer than its work. */
#ifndef RECSORT_CUDA_TALLY_CUH
#define RECSORT_CUDA_TALLY_CUH

#include "cuda/balance.cuh"
#include "recsort/job.h"

/* The lower bits of a tally count blocks, of which there are fewer than TALLY_BLOCKS. The upper
 * bits are the sum of the blocks' findings. So each block makes one atomic addition, and the last
 * block gets the findings of all. */
enum { TALLY_BLOCKS = 1 << 12 };

/* Writes to *status, a recsort_status, what all threads of the grid have found: that something is
 * wrong, or that their hashes, which fold_hash() has made, do not add up to 0. The tally is 0
 * before: the sort has cleared it. By all threads, `threads` a block; one barrier. */
template <uint32_t threads>
DEVICE_INLINE void settle_status(uint64_t *tally, bool wrong, uint64_t hashes, uint32_t *status)
{
  DEVICE_SHARED_ARRAY(uint64_t, parts, threads / WARP_SIZE);
  DEVICE_ASSERT(gridDim.x < TALLY_BLOCKS);
  sum_parts(parts, hashes + (wrong ? hash_index(blockIdx.x) | 1 : 0));
  __syncthreads();
  if (threadIdx.x > 0) return;
  uint64_t all = 0;
  for (uint32_t w = 0; w < threads / WARP_SIZE; w++)
    all += parts[w];
  all = all * TALLY_BLOCKS + 1;
  if (gridDim.x > 1) all += device_add64(tally, all);
  if (all % TALLY_BLOCKS == gridDim.x)
    *status = all / TALLY_BLOCKS ? RECSORT_CORRUPT_RESULT : RECSORT_OK;
}

#endif
