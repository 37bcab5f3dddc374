/* memory.cuh - divides a block of memory into arrays. */
#ifndef RECSORT_CUDA_SAMPLE_MEMORY_CUH
#define RECSORT_CUDA_SAMPLE_MEMORY_CUH

#include "cuda/device.h"

namespace sample
{

struct arena {
  char *at; /* NULL: only adds up the bytes */
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
