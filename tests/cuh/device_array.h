/* device_array.h - arrays in the memory of the device, for test_cuh.cpp. */
#ifndef RS_CUH_DEVICE_ARRAY_H
#define RS_CUH_DEVICE_ARRAY_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "cuh/watch.h"

static inline void check_cuda(const char *what, cudaError_t error)
{
  if (!error) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

static inline std::vector<uint32_t> identity(size_t count)
{
  std::vector<uint32_t> places(count);
  std::iota(places.begin(), places.end(), 0);
  return places;
}

/* Has poison in it and behind it at first. */
template <class Element> struct device_array {
  enum { POISON = 0xee, GUARD = 256 };
  Element *data = nullptr;
  size_t count;

  explicit device_array(size_t elements) : count(elements)
  {
    void *memory;
    check_cuda("cudaMalloc", cudaMalloc(&memory, bytes() + GUARD));
    data = (Element *)memory;
    check_cuda("cudaMemsetAsync", cudaMemsetAsync(data, POISON, bytes() + GUARD, nullptr));
  }
  explicit device_array(const std::vector<Element> &from) : device_array(from.size())
  {
    check_cuda("cudaMemcpyAsync",
               cudaMemcpyAsync(data, from.data(), bytes(), cudaMemcpyHostToDevice, nullptr));
    check_cuda("cudaStreamSynchronize", cudaStreamSynchronize(nullptr));
  }
  device_array(const device_array &) = delete;
  ~device_array()
  {
    (void)read();
    (void)cudaFree(data);
  }
  size_t bytes() const
  {
    return count * sizeof(Element);
  }

  /* Fails if something has been written behind it. */
  std::vector<Element> read() const
  {
    std::vector<unsigned char> all(bytes() + GUARD);
    check_cuda("cudaMemcpyAsync",
               cudaMemcpyAsync(all.data(), data, all.size(), cudaMemcpyDeviceToHost, nullptr));
    check_cuda("cudaStreamSynchronize", cudaStreamSynchronize(nullptr));
    for (size_t i = bytes(); i < all.size(); i++)
      if (all[i] != POISON) {
        std::printf("written behind an array\n");
        std::exit(1);
      }
    std::vector<Element> elements(count);
    if (count) std::memcpy((void *)elements.data(), all.data(), bytes());
    return elements;
  }

  void expect_poison() const
  {
    const std::vector<Element> found = read();
    for (size_t i = 0; i < bytes(); i++)
      if (((const unsigned char *)found.data())[i] != POISON) {
        std::printf("written by a call that failed\n");
        std::exit(1);
      }
  }
};

static inline cudaStream_t a_stream()
{
  cudaStream_t made;
  check_cuda("cudaStreamCreate", cudaStreamCreate(&made));
  return made;
}
static const cudaStream_t stream = a_stream(); /* of all calls */
static unsigned runs;

/* Makes a call in a graph. */
template <class Call> static void run_graph(const char *what, const Call &call)
{
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  check_cuda(what, cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  check_cuda(what, call());
  check_cuda(what, cudaStreamEndCapture(stream, &graph));
  check_cuda(what, cudaGraphInstantiate(&exec, graph, 0));
  check_cuda(what, cudaGraphLaunch(exec, stream));
  check_cuda(what, cudaStreamSynchronize(stream));
  check_cuda(what, cudaGraphExecDestroy(exec));
  check_cuda(what, cudaGraphDestroy(graph));
}

/* Asks for the bytes of a call, and makes it with just so many; every third one in a graph. */
template <class Call> static void run(const char *what, const Call &call)
{
  size_t bytes = 0;
  check_cuda(what, watched(what, stream, false, [&] { return call(nullptr, bytes); }));
  const device_array<char> workspace(bytes);
  const auto make = [&] {
    return watched(what, stream, true, [&] { return call(workspace.data, bytes); });
  };
  if (++runs % 3 == 0)
    run_graph(what, make);
  else
    check_cuda(what, make());
  check_cuda(what, cudaStreamSynchronize(stream));
}

#endif
