/* cuda_runtime.h - what device.h and two kernels need of CUDA, by the checker: so they are compiled
 * as for nvcc, with their fences. A fence is one of seq_cst; atomic functions order nothing;
 * volatile accesses are relaxed (NVIDIA's PTX manual, Memory Consistency Model). Warps are not
 * modelled: a block here has fewer threads than a warp, and what lanes exchange is of no use to
 * these kernels. */
#ifndef INTERLEAVE_CUDA_RUNTIME_H
#define INTERLEAVE_CUDA_RUNTIME_H

#define __CUDACC__
#define __CUDA_ARCH__ 900 /* where kernels overlap */

#include <stddef.h>
#include <stdint.h>

#include "interleave/checker.h"

#define __global__
#define __device__
#define __host__
#define __managed__
#define __shared__
#define __forceinline__ inline
#define __noinline__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

/* ---- Threads ---- */

struct dim3 {
  unsigned x;
  explicit dim3(unsigned wanted) : x(wanted)
  {
  }
};

enum { BLOCKS = 2, THREADS = 2 }; /* of a block */

/* The checker's first thread is the host, the next one is the kernel before. */
enum { BEFORE = 1, FIRST, LAST = FIRST + BLOCKS * THREADS - 1 };
static inline dim3 index_in_block()
{
  return dim3((checker_self() - FIRST) % THREADS);
}
static inline dim3 index_of_block()
{
  return dim3((checker_self() - FIRST) / THREADS);
}
#define threadIdx index_in_block()
#define blockIdx index_of_block()
static const dim3 blockDim(THREADS), gridDim(BLOCKS);

#define cudaGridDependencySynchronize() (checker_self() == BEFORE ? (void)0 : checker_join(BEFORE))
#define cudaTriggerProgrammaticLaunchCompletion() ((void)0)

#define __syncthreads() checker_barrier(blockIdx.x, THREADS)
#define __syncwarp() ((void)0)
#define __ballot_sync(mask, value) ((void)(mask), (uint32_t)(value))
#define __match_any_sync(mask, value) ((void)(mask), (value))
#define __shfl_sync(mask, value, lane) ((void)(mask), (void)(lane), (value))
#define __shfl_xor_sync(mask, value, lane) ((void)(mask), (void)(lane), (value))
#define __shfl_up_sync(mask, value, by) ((void)(mask), (void)(by), (value))
#define __shfl_down_sync(mask, value, by) ((void)(mask), (void)(by), (value))

#define __reduce_add_sync(mask, value) ((void)(mask), (value))
#define __reduce_min_sync(mask, value) ((void)(mask), (value))
#define __reduce_max_sync(mask, value) ((void)(mask), (value))
#define __cvta_generic_to_shared(at) ((size_t)(at))
#define __trap() checker_fail("an assertion", __FILE__, __LINE__)

/* ---- Memory ---- */

#define __threadfence() checker_fence()
#define __threadfence_system() checker_fence()
#define atomicAdd(at, more) __atomic_fetch_add(at, more, __ATOMIC_RELAXED)
#define atomicOr(at, bits) __atomic_fetch_or(at, bits, __ATOMIC_RELAXED)
#define atomicMin(at, other) checker_min32(at, other)
#define atomicMax(at, other) checker_max32(at, other)

/* ---- Arithmetic ---- */

#define __clz(bits) __builtin_clz((unsigned)(bits))
#define __clzll(bits) __builtin_clzll((unsigned long long)(bits))
#define __popc(bits) __builtin_popcount(bits)
#define __ffs(bits) __builtin_ffs(bits)
#define __fdividef(x, y) ((x) / (y))
#define __dmul_rn(x, y) ((x) * (y))

/* ---- The host: launches nothing by CUDA ---- */

typedef enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorNotReady = 600,
  cudaErrorLaunchFailure = 719
} cudaError_t;
typedef void *cudaStream_t;
struct cudaFuncAttributes {
  int ptxVersion;
};
struct cudaLaunchAttribute {
  int id;
  struct {
    int programmaticStreamSerializationAllowed;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim{1}, blockDim{1};
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};
enum {
  cudaFuncAttributeMaxDynamicSharedMemorySize,
  cudaFuncAttributePreferredSharedMemoryCarveout,
  cudaLaunchAttributeProgrammaticStreamSerialization,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDeviceToHost
};
static inline cudaError_t launch_nothing(...)
{
  return cudaErrorLaunchFailure;
}
#define cudaGetDevice launch_nothing
#define cudaFuncGetAttributes launch_nothing
#define cudaFuncSetAttribute launch_nothing
#define cudaLaunchKernelExC launch_nothing
#define cudaMemsetAsync launch_nothing
#define cudaMemcpyAsync launch_nothing
#define cudaStreamSynchronize launch_nothing

/* The blocks are all that is on the stream. */
static inline cudaError_t stream_state()
{
  (void)checker_time();
  for (unsigned thread = FIRST; thread <= LAST; thread++)
    if (!checker_has_ended(thread)) return cudaErrorNotReady;
  for (unsigned thread = FIRST; thread <= LAST; thread++)
    checker_join(thread);
  return cudaSuccess;
}
#define cudaStreamQuery(stream) ((void)(stream), stream_state())

#endif
