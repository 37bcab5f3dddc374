// cub_sorts.cu - the sorts of CUB, for sortsuite_gpu: a key and the place of its record in the
// input.
#include <cstring>
#include <vector>

#include <cub/cub.cuh>
#include <cuda_fp16.h>

#include "sorts.h"

namespace
{

// Device memory, as large as the largest input so far.
struct memory {
  void *at = nullptr;
  size_t size = 0;
  void *of(size_t bytes)
  {
    if (bytes > size) {
      cudaFree(at);
      size = cudaMalloc(&at, bytes) == cudaSuccess ? bytes : 0;
    }
    return size ? at : nullptr;
  }
};

struct less {
  template <typename Key> __device__ bool operator()(const Key &a, const Key &b) const
  {
    return a < b;
  }
};

struct radix {
  template <typename Key>
  static cudaError_t sort(void *extra, size_t &bytes, Key *keys, uint32_t *places, Key *sorted_keys,
                          uint32_t *sorted, size_t count)
  {
    return cub::DeviceRadixSort::SortPairs(extra, bytes, keys, sorted_keys, places, sorted, count);
  }
};

struct merge {
  template <typename Key>
  static cudaError_t sort(void *extra, size_t &bytes, Key *keys, uint32_t *places, Key *sorted_keys,
                          uint32_t *sorted, size_t count)
  {
    if (extra) { // it sorts in place
      cudaMemcpy(sorted_keys, keys, count * sizeof(Key), cudaMemcpyDeviceToDevice);
      cudaMemcpy(sorted, places, count * sizeof(uint32_t), cudaMemcpyDeviceToDevice);
    }
    return cub::DeviceMergeSort::StableSortPairs(extra, bytes, sorted_keys, sorted, count, less());
  }
};

template <typename Sort, typename Key> int sort_on_device(const suite_case *c)
{
  static memory blocks[5];
  std::vector<Key> keys(c->count);
  std::vector<uint32_t> places(c->count);
  for (size_t i = 0; i < c->count; i++) {
    std::memcpy(static_cast<void *>(&keys[i]), c->input + i * c->record_size, sizeof(Key));
    places[i] = static_cast<uint32_t>(i);
  }
  const size_t key_bytes = c->count * sizeof(Key), place_bytes = c->count * sizeof(uint32_t);
  Key *const from = static_cast<Key *>(blocks[0].of(key_bytes + 1));
  Key *const to = static_cast<Key *>(blocks[1].of(key_bytes + 1));
  uint32_t *const numbers = static_cast<uint32_t *>(blocks[2].of(place_bytes + 1));
  uint32_t *const sorted = static_cast<uint32_t *>(blocks[3].of(place_bytes + 1));
  size_t extra = 0;
  if (!from || !to || !numbers || !sorted ||
      Sort::sort(nullptr, extra, from, numbers, to, sorted, c->count))
    return SUITE_BROKEN;
  void *const space = blocks[4].of(extra + 1);
  if (!space || cudaMemcpy(from, keys.data(), key_bytes, cudaMemcpyHostToDevice) ||
      cudaMemcpy(numbers, places.data(), place_bytes, cudaMemcpyHostToDevice) ||
      cudaMemset(sorted, 0xff, place_bytes) ||
      Sort::sort(space, extra, from, numbers, to, sorted, c->count) ||
      cudaMemcpy(places.data(), sorted, place_bytes, cudaMemcpyDeviceToHost))
    return SUITE_BROKEN;
  for (size_t i = 0; i < c->count; i++)
    c->places[i] = places[i];
  return SUITE_PLACED;
}

template <typename Sort> int sort_numbers(void *, const suite_case *c)
{
  static const struct {
    const char *kind;
    int (*sort)(const suite_case *);
  } types[] = {
      {"int8", sort_on_device<Sort, int8_t>},    {"uint8", sort_on_device<Sort, uint8_t>},
      {"int16", sort_on_device<Sort, int16_t>},  {"uint16", sort_on_device<Sort, uint16_t>},
      {"int32", sort_on_device<Sort, int32_t>},  {"uint32", sort_on_device<Sort, uint32_t>},
      {"int64", sort_on_device<Sort, int64_t>},  {"uint64", sort_on_device<Sort, uint64_t>},
      {"float16", sort_on_device<Sort, __half>}, {"float32", sort_on_device<Sort, float>},
      {"float64", sort_on_device<Sort, double>}, {"int128", sort_on_device<Sort, __int128>}};
  for (const auto &type : types)
    if (std::strcmp(type.kind, c->kind) == 0) return type.sort(c);
  return SUITE_REFUSED;
}

const char *no_device()
{
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0 ? nullptr : "there is no GPU";
}

const sort_entry cub_sorts[] = {
    {"cub::DeviceRadixSort", true, false, sort_numbers<radix>, nullptr, no_device},
    {"cub::DeviceMergeSort by <", true, false, sort_numbers<merge>, nullptr, no_device},
    {nullptr, false, false, nullptr, nullptr, nullptr}};

} // namespace

extern "C" const sort_entry *const sort_lists[] = {cub_sorts, nullptr};
