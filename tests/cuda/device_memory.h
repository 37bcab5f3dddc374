/* device_memory.h - memory and a stream of the device, for tests that are built twice: with the
 * stand-in for the CUDA runtime and, with RS_REAL_GPU, for a real one. Needs cmocka.h and
 * cuda_runtime_api.h. */
#ifndef RS_TEST_DEVICE_MEMORY_H
#define RS_TEST_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifndef RS_REAL_GPU
#include "cuda/standin.h"
#endif

static cudaStream_t stream;

/* With a number in the environment at most so many records, for tools that are slow. */
static inline size_t at_most(size_t count)
{
  const char *const text = getenv("RECSORT_TEST_MOST");
  const size_t most = text ? strtoul(text, NULL, 10) : count;
  return most < count ? most : count;
}

/* A pattern in the environment chooses tests, for the same. */
static inline void choose_tests(void)
{
  cmocka_set_test_filter(getenv("RECSORT_TEST_ONLY"));
}

static inline void *make(size_t size)
{
  void *memory = NULL;
  assert_int_equal(cudaMalloc(&memory, size), cudaSuccess);
  return memory;
}

static inline void drop(void *memory)
{
  assert_int_equal(cudaFree(memory), cudaSuccess);
}

#ifdef RS_REAL_GPU
/* Not with a variable in the environment, for sanitizers: they do not understand graphs. */
static inline bool captures(void)
{
  return !getenv("RECSORT_TEST_STREAM");
}

/* What is called between the first two is captured in a graph; if nothing is captured, that is
 * NULL, and the calls have run. */
static inline void begin_capture(void)
{
  if (captures())
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
}

static inline cudaGraphExec_t end_capture(void)
{
  cudaGraphExec_t made = NULL;
  cudaGraph_t graph;
  if (!captures()) return NULL;
  assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  assert_int_equal(cudaGraphInstantiate(&made, graph, 0), cudaSuccess);
  assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
  return made;
}

/* Waits until it has run. */
static inline void replay(cudaGraphExec_t graph)
{
  if (graph) assert_int_equal(cudaGraphLaunch(graph, stream), cudaSuccess);
  assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
}

static inline void drop_graph(cudaGraphExec_t graph)
{
  if (graph) assert_int_equal(cudaGraphExecDestroy(graph), cudaSuccess);
}

/* cudaMemcpy may return before the data has arrived, and `stream` does not wait for it. */
static inline void put(void *to, const void *from, size_t size)
{
  assert_int_equal(cudaMemcpy(to, from, size, cudaMemcpyHostToDevice), cudaSuccess);
  assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
}
static inline void get(void *to, const void *from, size_t size)
{
  assert_int_equal(cudaMemcpy(to, from, size, cudaMemcpyDeviceToHost), cudaSuccess);
}
static inline void begin(void)
{
}
#else
static inline void put(void *to, const void *from, size_t size)
{
  memcpy(to, from, size);
}
static inline void get(void *to, const void *from, size_t size)
{
  memcpy(to, from, size);
}
static inline void begin(void)
{
  standin_begin((standin_plan){.memory = 1 << 28});
}
#endif

static inline int open_stream(void **state)
{
  (void)state;
  begin();
  return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess;
}

static inline int close_stream(void **state)
{
  (void)state;
  return cudaStreamDestroy(stream) != cudaSuccess;
}

#endif
