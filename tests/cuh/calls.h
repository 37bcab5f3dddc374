/* calls.h - calls of every function of recsort.cuh. Two source files of one program include it, and
 * so both have the same kernels. */
#ifndef RS_CUH_CALLS_H
#define RS_CUH_CALLS_H

#include <recsort.cuh>

#include <functional>
#include <string>
#include <vector>

#include "cuh/device_array.h"
#include "support/random.h"

struct call_record {
  unsigned serial;
  float distance;
  bool near;
};

struct fat_value {
  unsigned char bytes[12];
};

__extension__ typedef __int128 wide_key;

struct call_arrays {
  const size_t count;
  const std::vector<uint32_t> offsets;
  const std::vector<size_t> bounds;
  device_array<float> floats, other_floats;
  device_array<uint64_t> numbers;
  device_array<wide_key> wides;
  device_array<fat_value> fats;
  device_array<call_record> records;
  device_array<uint32_t> positions, device_offsets, device_halves;

  explicit call_arrays(size_t elements)
      : count(elements), offsets({1, 9, 9, 20, 30}), bounds({0, 10, 10, 25, elements}),
        floats(elements), other_floats(elements), numbers(elements), wides(elements),
        fats(elements), records(elements), positions(elements), device_offsets(offsets),
        device_halves({0, (uint32_t)elements / 2, (uint32_t)elements})
  {
  }

  /* The same contents each time. The memory of the device is the host's. */
  void fill()
  {
    uint64_t state = 7;
    for (size_t i = 0; i < count; i++) {
      const uint64_t random = next_random(&state);
      floats.data[i] = other_floats.data[i] = (float)(random % 1000) - 500;
      numbers.data[i] = random;
      wides.data[i] = (wide_key)random * (random % 2 ? 1 : -1);
      std::memset(&fats.data[i], (int)(random % 256), sizeof(fat_value));
      std::memset((void *)&records.data[i], 0, sizeof(call_record));
      records.data[i].serial = (unsigned)i;
      records.data[i].distance = (float)(random % 50);
      records.data[i].near = random % 3 == 0;
      positions.data[i] = 0;
    }
  }
};

struct named_call {
  std::string name;
  std::function<cudaError_t(void *workspace, size_t &bytes)> make;
};

/* Sorts in place where that takes copies. `a` must live as long as they do. */
static inline std::vector<named_call> calls_on(call_arrays &a)
{
  using recsort::asc;
  using recsort::desc;
  using recsort::order;
  const auto on = stream;
  const size_t segments = a.offsets.size() - 1, sorted_runs = a.bounds.size() - 1;
  return {
      {"sort_pairs",
       [=, &a](void *w, size_t &b) {
         return recsort::sort_pairs<order::descending>(
             w, b, a.floats.data, a.floats.data, a.fats.data, a.fats.data, a.count, on, 3, 20);
       }},
      {"sort_keys",
       [=, &a](void *w, size_t &b) {
         return recsort::sort_keys(w, b, a.wides.data, a.wides.data, a.count, on);
       }},
      {"sort_records",
       [=, &a](void *w, size_t &b) {
         return recsort::sort_records(w, b, a.records.data, a.records.data, a.count, on,
                                      desc(&call_record::distance));
       }},
      {"sort_records by several",
       [=, &a](void *w, size_t &b) {
         return recsort::sort_records(w, b, a.records.data, a.records.data, a.count, on,
                                      asc(&call_record::near), desc(&call_record::serial));
       }},
      {"segments",
       [=, &a](void *w, size_t &b) {
         return recsort::segmented_sort_pairs(w, b, a.floats.data, a.floats.data, a.fats.data,
                                              a.fats.data, a.count, a.device_offsets.data, segments,
                                              on);
       }},
      {"short segments",
       [=, &a](void *w, size_t &b) {
         return recsort::segmented_sort_pairs(w, b, a.floats.data, a.floats.data, a.fats.data,
                                              a.fats.data, a.count, a.device_offsets.data, segments,
                                              on, 11);
       }},
      {"longer segments",
       [=, &a](void *w, size_t &b) {
         return recsort::segmented_sort_pairs(w, b, a.numbers.data, a.numbers.data,
                                              a.other_floats.data, a.other_floats.data, a.count,
                                              a.device_offsets.data, segments, on, 6000);
       }},
      {"top",
       [=, &a](void *w, size_t &b) {
         return recsort::top(w, b, a.floats.data, a.floats.data, nullptr, a.positions.data, a.count,
                             a.count / 500 + 1, on);
       }},
      {"top of segments",
       [=, &a](void *w, size_t &b) {
         return recsort::segmented_top(w, b, a.floats.data, a.other_floats.data, nullptr,
                                       a.positions.data, a.count, a.device_offsets.data, segments,
                                       5, on);
       }},
      {"top of long segments",
       [=, &a](void *w, size_t &b) {
         return recsort::segmented_top<order::descending>(w, b, a.floats.data, a.other_floats.data,
                                                          nullptr, a.positions.data, a.count,
                                                          a.device_halves.data, 2, 20, on);
       }},
      {"merge",
       [=, &a](void *w, size_t &b) {
         return recsort::merge(w, b, a.floats.data, a.floats.data, a.fats.data, a.fats.data,
                               a.bounds.data(), sorted_runs, on);
       }},
  };
}

#endif
