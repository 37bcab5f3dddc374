/* threads.cuh - how the kernels of this folder divide work: a thread takes a record, or a few that
 * are a block's width apart, so that the addresses of a warp are neighbours. */
#ifndef RECSORT_CUDA_RECORDS_THREADS_CUH
#define RECSORT_CUDA_RECORDS_THREADS_CUH

#include "cuda/device.h"
#include "cuda/plan.h"

namespace records
{

#ifndef RECORDS_THREADS
#define RECORDS_THREADS 256
#endif
enum { BLOCK = RECORDS_THREADS };

/* The number of the thread in the grid. */
DEVICE_INLINE uint64_t thread_number(void)
{
  return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* Index `i` of an order whose indices have 32 or 64 bits. */
DEVICE_INLINE uint64_t index_at(const void *order, uint32_t bits, uint64_t i)
{
  return bits == 32 ? ((const uint32_t *)order)[i] : ((const uint64_t *)order)[i];
}

} // namespace records

#endif
