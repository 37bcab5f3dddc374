/* example.cuh - what the examples share: random input, and the time of a sort. */
#ifndef BENCH_EXAMPLE_CUH
#define BENCH_EXAMPLE_CUH

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

inline void check(cudaError_t error)
{
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(1);
}

/* An array in memory that host and device share. */
template <class Type> Type *make(size_t count)
{
  Type *array;
  check(cudaMallocManaged(&array, count * sizeof(Type)));
  return array;
}

inline size_t fill(int argc, char **argv, size_t usual, std::vector<float> *keys,
                   std::vector<int> *values)
{
  const size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : usual;
  std::mt19937 random(38);
  keys->resize(count);
  values->resize(count);
  for (size_t i = 0; i < count; i++) {
    (*keys)[i] = (float)(random() % (4 * count)) - (float)count; /* some are equal */
    (*values)[i] = (int)random();
  }
  return count;
}

/* Runs a call some times, and prints the median time between two events. */
template <class Call> void time_of(const Call &call)
{
  cudaEvent_t begin, end;
  std::vector<float> times;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  for (int i = 0; i < 51; i++) {
    float ms;
    check(cudaEventRecord(begin));
    check(call());
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    check(cudaEventElapsedTime(&ms, begin, end));
    if (i > 0) times.push_back(1000 * ms);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  std::printf("%.1f us\n", times[times.size() / 2]);
}

/* Whether keys and values are those of the places, in their order. */
inline void compare(const std::vector<float> &keys, const std::vector<int> &values,
                    const std::vector<int> &places, const float *keys_found,
                    const int *values_found)
{
  for (size_t i = 0; i < places.size(); i++)
    if (keys_found[i] != keys[places[i]] ||
        (values_found && values_found[i] != values[places[i]])) {
      std::printf("FAIL\n");
      std::exit(1);
    }
  std::printf("PASS\n");
}

#endif
