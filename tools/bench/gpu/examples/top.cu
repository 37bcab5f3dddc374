/* top.cu - the ten least keys with their values. */
#ifdef WITH_CUB
#include <cuda/__execution/determinism.h>
#include <cuda/__execution/output_ordering.h>
#include <cuda/__execution/require.h>
#include <cub/device/device_topk.cuh>
#else
#include <recsort.cuh>
#endif
#include "example.cuh"

int main(int argc, char **argv)
{
  enum { MOST = 10 };
  std::vector<float> keys;
  std::vector<int> values;
  const size_t count = fill(argc, argv, 10240, &keys, &values);
  float *const keys_in = make<float>(count), *const keys_out = make<float>(MOST);
  int *const values_in = make<int>(count), *const values_out = make<int>(MOST);
  std::copy(keys.begin(), keys.end(), keys_in);
  std::copy(values.begin(), values.end(), values_in);
  std::vector<int> places(count);
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  places.resize(MOST);
  size_t bytes = 0;
#ifdef WITH_CUB
  const auto anyhow = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                               cuda::execution::output_ordering::unsorted);
  const auto on = cuda::std::execution::env{anyhow};
  check(cub::DeviceTopK::MinPairs(nullptr, bytes, keys_in, keys_out, values_in, values_out,
                                  (int)count, (int)MOST, on));
  void *const workspace = make<char>(bytes);
  time_of([&] {
    return cub::DeviceTopK::MinPairs(workspace, bytes, keys_in, keys_out, values_in, values_out,
                                     (int)count, (int)MOST, on);
  });
  std::sort(keys_out, keys_out + MOST); /* CUB writes them in no order, and any of equal ones */
  compare(keys, values, places, keys_out, nullptr);
#else
  check(recsort::top(nullptr, bytes, keys_in, keys_out, values_in, values_out, count, MOST));
  void *const workspace = make<char>(bytes);
  time_of([&] {
    return recsort::top(workspace, bytes, keys_in, keys_out, values_in, values_out, count, MOST);
  });
  compare(keys, values, places, keys_out, values_out);
#endif
}
