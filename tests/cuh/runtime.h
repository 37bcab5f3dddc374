/* runtime.h - as much of a CUDA runtime as programs with recsort.cuh call, for the emulator: the
 * device's memory is the host's, and work is done when its call returns, or is in a graph. There
 * are two devices, 0 and 1; 1 is small. Such a program is compiled with -include of this file.
 * (tests/cuda has a runtime that watches a whole plugin.) */
#ifndef RS_CUH_RUNTIME_H
#define RS_CUH_RUNTIME_H

#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "cuda_runtime_api.h"
#include "emulator.h"

enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal };

namespace standin
{

using graph = std::vector<std::function<cudaError_t()>>;
inline size_t calls; /* of the runtime, but for questions about the device and its choice */
inline int device;
inline graph *captured; /* null: no stream is being captured */

template <class Work> cudaError_t enqueue(Work work)
{
  if (!captured) return work();
  captured->push_back(work);
  return cudaSuccess;
}

/* A graph has its own copy of the arguments, as in CUDA. */
template <class Call>
int launch(const emulator_kernel *kernel, uint64_t grid, uint32_t block, uint64_t shared_bytes,
           const Call *call)
{
  return enqueue([=, kernel = *kernel, call = *call] {
    return (cudaError_t)emulator_launch(&kernel, grid, block, shared_bytes, &call);
  });
}

inline int copy(void *to, const void *from, size_t size)
{
  return enqueue([=] { return (cudaError_t)emulator_copy(to, from, size); });
}

} // namespace standin

#define emulator_copy standin::copy
#define emulator_launch standin::launch

using cudaGraph_t = standin::graph *;
using cudaGraphExec_t = standin::graph *;

extern "C" {

inline cudaError_t cudaSetDevice(int device)
{
  standin::device = device;
  return cudaSuccess;
}

inline cudaError_t cudaGetDevice(int *device)
{
  *device = standin::device;
  return cudaSuccess;
}

inline cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
  static const int multiprocessors[] = {3, 1}, shared_bytes[] = {227 << 10, 48 << 10};
  if (device < 0 || device > 1) return cudaErrorInvalidDevice;
  *value = (attribute == cudaDevAttrMultiProcessorCount ? multiprocessors : shared_bytes)[device];
  return cudaSuccess;
}

inline cudaError_t cudaMalloc(void **memory, size_t size)
{
  standin::calls++;
  *memory = std::aligned_alloc(256, (size + 255) / 256 * 256);
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

inline cudaError_t cudaFree(void *memory)
{
  standin::calls++;
  std::free(memory);
  return cudaSuccess;
}

inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind,
                                   cudaStream_t)
{
  standin::calls++;
  return standin::enqueue([=] {
    if (size) std::memcpy(to, from, size); /* of no bytes, `from` may be null */
    return cudaSuccess;
  });
}

inline cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t)
{
  standin::calls++;
  return standin::enqueue([=] { return std::memset(to, value, size), cudaSuccess; });
}

inline cudaError_t cudaDeviceSynchronize()
{
  standin::calls++;
  return standin::captured ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

inline cudaError_t cudaStreamSynchronize(cudaStream_t)
{
  return cudaDeviceSynchronize();
}

inline const char *cudaGetErrorString(cudaError_t code)
{
  return code == cudaErrorInvalidValue ? "invalid value" : code ? "error" : "no error";
}

} /* extern "C" */

template <class Element> cudaError_t cudaMalloc(Element **memory, size_t size)
{
  return cudaMalloc((void **)memory, size);
}

template <class Element> cudaError_t cudaMallocManaged(Element **memory, size_t size)
{
  return cudaMalloc((void **)memory, size);
}

inline cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
  *stream = (cudaStream_t)1; /* any but the default one */
  return cudaSuccess;
}

inline cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode)
{
  standin::captured = new standin::graph;
  return cudaSuccess;
}

inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph)
{
  *graph = standin::captured;
  standin::captured = nullptr;
  return cudaSuccess;
}

inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                        unsigned long long)
{
  *exec = new standin::graph(*graph);
  return cudaSuccess;
}

inline cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
  delete graph;
  return cudaSuccess;
}

inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
  delete exec;
  return cudaSuccess;
}

inline cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t)
{
  for (const auto &work : *exec)
    if (const cudaError_t error = work()) return error;
  return cudaSuccess;
}

#endif
