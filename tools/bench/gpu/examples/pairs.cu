/* pairs.cu - keys with values. */
#ifdef WITH_CUB
#include <cub/device/device_radix_sort.cuh>
#else
#include <recsort.cuh>
#endif
#include "example.cuh"

int main(int argc, char **argv)
{
  std::vector<float> keys;
  std::vector<int> values;
  const size_t count = fill(argc, argv, 150, &keys, &values);
  float *const keys_in = make<float>(count), *const keys_out = make<float>(count);
  int *const values_in = make<int>(count), *const values_out = make<int>(count);
  std::copy(keys.begin(), keys.end(), keys_in);
  std::copy(values.begin(), values.end(), values_in);
  size_t bytes = 0;
#ifdef WITH_CUB
  check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys_in, keys_out, values_in, values_out,
                                        count));
  void *const workspace = make<char>(bytes);
  time_of([&] {
    return cub::DeviceRadixSort::SortPairs(workspace, bytes, keys_in, keys_out, values_in,
                                           values_out, count);
  });
#else
  check(recsort::sort_pairs(nullptr, bytes, keys_in, keys_out, values_in, values_out, count));
  void *const workspace = make<char>(bytes);
  time_of([&] {
    return recsort::sort_pairs(workspace, bytes, keys_in, keys_out, values_in, values_out, count);
  });
#endif
  std::vector<int> places(count);
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  compare(keys, values, places, keys_out, values_out);
}
