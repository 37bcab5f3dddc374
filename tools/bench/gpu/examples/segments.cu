/* segments.cu - keys with values, in segments of at most 100. */
#ifdef WITH_CUB
#include <cub/device/device_segmented_sort.cuh>
#else
#include <recsort.cuh>
#endif
#include "example.cuh"

int main(int argc, char **argv)
{
  enum { LONGEST = 100 };
  std::vector<float> keys;
  std::vector<int> values;
  const size_t count = fill(argc, argv, 10000, &keys, &values);
  float *const keys_in = make<float>(count), *const keys_out = make<float>(count);
  int *const values_in = make<int>(count), *const values_out = make<int>(count);
  int *const offsets = make<int>(count + 2);
  int segments = 0;
  std::copy(keys.begin(), keys.end(), keys_in);
  std::copy(values.begin(), values.end(), values_in);
  for (offsets[0] = 0; offsets[segments] < (int)count; segments++)
    offsets[segments + 1] =
        std::min((int)count, offsets[segments] + std::abs(values[segments]) % (LONGEST + 1));
  size_t bytes = 0;
#ifdef WITH_CUB
  check(cub::DeviceSegmentedSort::StableSortPairs(nullptr, bytes, keys_in, keys_out, values_in,
                                                  values_out, (int)count, segments, offsets,
                                                  offsets + 1));
  void *const workspace = make<char>(bytes);
  time_of([&] {
    return cub::DeviceSegmentedSort::StableSortPairs(workspace, bytes, keys_in, keys_out, values_in,
                                                     values_out, (int)count, segments, offsets,
                                                     offsets + 1);
  });
#else
  check(recsort::segmented_sort_pairs(nullptr, bytes, keys_in, keys_out, values_in, values_out,
                                      count, offsets, segments, nullptr, LONGEST));
  void *const workspace = make<char>(bytes);
  time_of([&] {
    return recsort::segmented_sort_pairs(workspace, bytes, keys_in, keys_out, values_in, values_out,
                                         count, offsets, segments, nullptr, LONGEST);
  });
#endif
  std::vector<int> places(count);
  std::iota(places.begin(), places.end(), 0);
  for (int s = 0; s < segments; s++)
    std::stable_sort(places.begin() + offsets[s], places.begin() + offsets[s + 1],
                     [&](int a, int b) { return keys[a] < keys[b]; });
  compare(keys, values, places, keys_out, values_out);
}
