/* device.h - what a kernel and the plan of its grid need, twice: CUDA's under nvcc, otherwise the
 * emulator's, which runs every thread of a block as a fiber (tests/emulation).
 *
 * Kernels are written in what C11 and CUDA C++ have in common:
 *
 *   DEVICE_INLINE uint32_t lane_next(uint32_t x) {...}       a function of the device
 *   DEVICE_KERNEL(name, max_threads, type, args) {...}       a kernel; its one argument, by value
 *     DEVICE_SHARED(type, keys);                             the dynamic shared memory: a pointer
 *     DEVICE_SHARED_ARRAY(type, bounds, 2);                  a static shared array
 *     threadIdx.x blockIdx.x blockDim.x gridDim.x __syncthreads() __syncwarp() __shfl_xor_sync()
 * ... DEVICE_LAUNCH(name, grid, block, shared_bytes, stream, args)   args: an lvalue; a
 * device_status
 */
#ifndef RECSORT_CUDA_DEVICE_H
#define RECSORT_CUDA_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/device_sort.h"
#include "cuda/twin.h"

__extension__ typedef unsigned __int128 device_uint128;

#ifdef __CUDACC__

#include <cuda_runtime.h>

#define DEVICE_INLINE static __device__ __forceinline__
#define DEVICE_KERNEL(name, max_threads, type, args)                                               \
  static __global__ void __launch_bounds__(max_threads) name(const type args)
#define DEVICE_SHARED(type, name)                                                                  \
  extern __shared__ __align__(16) unsigned char device_shared[];                                   \
  type *const name = (type *)device_shared
#define DEVICE_SHARED_ARRAY(type, name, count) __shared__ type name[count]

/* A block gets more than 48 KiB, the kernel's own static arrays included, only if it is allowed them. */
static inline device_status device_launch(const void *kernel, uint64_t grid, uint32_t block,
                                          uint64_t shared_bytes, void *stream, void *args)
{
  if (grid > INT32_MAX) return (device_status)cudaErrorInvalidConfiguration;
  if (shared_bytes > 32 * 1024) {
    const cudaError_t error = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);
    if (error) return (device_status)error;
  }
  return (device_status)cudaLaunchKernel(kernel, dim3((unsigned)grid), dim3(block), &args,
                                         (size_t)shared_bytes, (cudaStream_t)stream);
}

#define DEVICE_LAUNCH(kernel, grid, block, shared_bytes, stream, args)                             \
  device_launch((const void *)(kernel), grid, block, shared_bytes, stream, (void *)&(args))

#else

#include "emulator.h"

#define DEVICE_INLINE static inline
#define DEVICE_KERNEL(name, max_threads, type, args)                                               \
  DEVICE_KERNEL_NAMED(name, max_threads, type, args)
#define DEVICE_KERNEL_NAMED(name, max_threads, type, args)                                         \
  static void name(const type args);                                                               \
  static void name##_thread(const void *argument)                                                  \
  {                                                                                                \
    name(*(const type *)argument);                                                                 \
  }                                                                                                \
  static const emulator_kernel name##_kernel = {name##_thread, max_threads};                       \
  static void name(const type args)
#define DEVICE_SHARED(type, name) type *const name = (type *)emulator_shared()
#define DEVICE_SHARED_ARRAY(type, name, count)                                                     \
  static const char name##_id;                                                                     \
  type *const name = (type *)emulator_shared_array(&name##_id, (count) * sizeof(type))

#define DEVICE_LAUNCH(kernel, grid, block, shared_bytes, stream, args)                             \
  DEVICE_LAUNCH_NAMED(kernel, grid, block, shared_bytes, stream, args)
#define DEVICE_LAUNCH_NAMED(kernel, grid, block, shared_bytes, stream, args)                       \
  ((void)(stream), emulator_launch(&kernel##_kernel, grid, block, shared_bytes, &(args)))

#endif

#endif
