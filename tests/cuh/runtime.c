/* runtime.c - as much of a CUDA runtime as test_cuh.cpp calls: the device's memory is the host's,
 * and work is done when its call returns. (tests/cuda has one that watches a whole plugin.) */
#include <stdlib.h>
#include <string.h>

#include "cuda_runtime_api.h"

cudaError_t cudaGetDevice(int *device)
{
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
  if (device != 0) return cudaErrorInvalidDevice;
  *value = attribute == cudaDevAttrMultiProcessorCount ? 3 : 227 << 10;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t size)
{
  *memory = aligned_alloc(256, (size + 255) / 256 * 256);
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFree(void *memory)
{
  free(memory);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
  (void)kind;
  (void)stream;
  memcpy(to, from, size);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream)
{
  (void)stream;
  memset(to, value, size);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
  (void)stream;
  return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t code)
{
  return code == cudaErrorInvalidValue ? "invalid value" : "error";
}
