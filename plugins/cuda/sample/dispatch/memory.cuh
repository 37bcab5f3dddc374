/* memory.cuh - memory divided among arrays.
 */
#ifndef RECSORT_CUDA_SAMPLE_MEMORY_CUH
#define RECSORT_CUDA_SAMPLE_MEMORY_CUH

#include "cuda/device.h"

namespace sample
{

static inline uint32_t index_bits_of(const device_job *job)
{
  return job->count > 1 ? 64 - (uint32_t)__builtin_clzll(job->count - 1) : 1;
}

struct arena {
  char *at; /* NULL: only to add up */
  uint64_t taken;
};

static inline void *arena_take(arena *from, uint64_t bytes)
{
  const uint64_t taken = from->taken;
  from->taken += (bytes + 15) / 16 * 16;
  return from->at ? from->at + taken : NULL;
}

} // namespace sample

#endif
