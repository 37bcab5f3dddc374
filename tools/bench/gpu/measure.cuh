/* measure.cuh - memory of the device, and the time of work on a stream. For programs of one file.
 */
#ifndef RECSORT_CUDA_BENCH_MEASURE_CUH
#define RECSORT_CUDA_BENCH_MEASURE_CUH

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    const int code = (int)(call);                                                                  \
    if (code) {                                                                                    \
      std::fprintf(stderr, "%s: error %d\n", #call, code);                                         \
      std::exit(2);                                                                                \
    }                                                                                              \
  } while (0)

namespace
{

using work = std::function<void(cudaStream_t)>;
enum { RUNS = 21, WARM = 3 };

cudaStream_t stream;

template <class T> T *device_array(size_t count)
{
  void *memory = nullptr;
  CHECK(cudaMalloc(&memory, count * sizeof(T) + 16));
  return (T *)memory;
}

template <class T> T *device_copy(const std::vector<T> &from)
{
  T *const memory = device_array<T>(from.size());
  CHECK(cudaMemcpy(memory, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  CHECK(cudaDeviceSynchronize()); /* cudaMemcpy may return before the data has arrived */
  return memory;
}

template <class T> std::vector<T> host_copy(const T *from, size_t count)
{
  std::vector<T> copy(count);
  CHECK(cudaMemcpy(copy.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
  return copy;
}

/* The device is busy while the host enqueues, so that only its time counts. */
__global__ void spin(long long cycles)
{
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

/* The median time of `measured` in ms. `before` restores the input. */
double measure(const work &before, const work &measured)
{
  std::vector<float> times;
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  for (int i = 0; i < WARM + RUNS; i++) {
    float ms = 0;
    before(stream);
    spin<<<1, 1, 0, stream>>>(400000);
    CHECK(cudaEventRecord(begin, stream));
    measured(stream);
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (i >= WARM) times.push_back(ms);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  std::nth_element(times.begin(), times.begin() + RUNS / 2, times.end());
  return times[RUNS / 2];
}

/* The same, replayed from a graph. */
double measure_graph(const work &before, const work &measured)
{
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  measured(stream);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&replay, graph, 0));
  const double ms = measure(before, [&](cudaStream_t s) { CHECK(cudaGraphLaunch(replay, s)); });
  CHECK(cudaGraphExecDestroy(replay));
  CHECK(cudaGraphDestroy(graph));
  return ms;
}

} // namespace

#endif
