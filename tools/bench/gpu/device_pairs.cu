/* device_pairs.cu - keys with values in device memory, by the public interface: the time of a sort
 * on a stream and replayed from a graph, beside CUB's radix sort and its merge sort. Each result is
 * compared with the host's. Prints a table; exit status 1 if a result is wrong. */
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/version.cuh>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "commit.h"
#include "measure.cuh"
#include "recsort/device_pairs.h"

namespace
{

__extension__ typedef unsigned __int128 uint128;

template <class Key> constexpr recsort_type type_of = RECSORT_UINT128;
template <> constexpr recsort_type type_of<float> = RECSORT_FLOAT32;
template <> constexpr recsort_type type_of<uint32_t> = RECSORT_UINT32;
template <> constexpr recsort_type type_of<uint64_t> = RECSORT_UINT64;

recsort_device_pairs *pairs;
bool wrong;

/* Random keys: of all bits, or of the low ones. */
template <class Key> std::vector<Key> make_keys(size_t count, unsigned bits)
{
  std::mt19937_64 random(count + bits);
  std::vector<Key> keys(count);
  for (Key &key : keys)
    if constexpr (std::is_same_v<Key, float>)
      key = (float)(int64_t)random();
    else
      key = (Key)((Key)((uint128)random() << 64 | random()) &
                  (Key) ~(Key)0 >> (8 * sizeof(Key) - bits));
  return keys;
}

struct less {
  template <class Key> __host__ __device__ bool operator()(const Key &a, const Key &b) const
  {
    return a < b;
  }
};

template <class Key, class Value> struct sorts {
  size_t count;
  unsigned bits;
  Key *in, *out;
  Value *values_in, *values_out;
  bool numbered; /* recsort gets no values, as they are positions */
};

/* Of recsort: on a stream and in a graph. */
template <class Key, class Value>
void measure_ours(const sorts<Key, Value> &s, double (&ms)[2], size_t *bytes)
{
  recsort_error error = {};
  recsort_device_pairs_job job = {};
  job.struct_size = sizeof job;
  job.count = s.count;
  job.type = type_of<Key>;
  job.end_bit = s.bits;
  job.value_bits = 8 * sizeof(Value);
  job.keys_in = s.in;
  job.keys_out = s.out;
  job.values_in = s.numbered ? nullptr : s.values_in;
  job.values_out = s.values_out;
  if (recsort_device_pairs_workspace(pairs, &job, bytes, &error)) {
    std::fprintf(stderr, "%s\n", error.text);
    std::exit(2);
  }
  char *const workspace = device_array<char>(*bytes);
  const auto run = [&](cudaStream_t on) {
    recsort_device_pairs_job own = job;
    own.stream = on;
    if (!recsort_device_pairs_sort(pairs, &own, workspace, *bytes, &error)) return;
    std::fprintf(stderr, "%s\n", error.text);
    std::exit(2);
  };
  ms[0] = measure([](cudaStream_t) {}, run);
  ms[1] = measure_graph([](cudaStream_t) {}, run);
  CHECK(cudaFree(workspace));
}

/* Of CUB: likewise. `by` asks for its memory, then sorts. */
template <class Sort> void measure_cub(const work &before, Sort by, double (&ms)[2], size_t *bytes)
{
  *bytes = 0;
  CHECK(by(nullptr, *bytes, stream));
  char *const memory = device_array<char>(*bytes);
  const auto run = [&](cudaStream_t on) { CHECK(by(memory, *bytes, on)); };
  ms[0] = measure(before, run);
  ms[1] = measure_graph(before, run);
  CHECK(cudaFree(memory));
}

/* Values are positions: each comes once, with its key; keys ascend, and equal ones' positions. */
template <class Key, class Value>
bool is_right(const sorts<Key, Value> &s, const std::vector<Key> &keys)
{
  const std::vector<Key> found = host_copy(s.out, s.count);
  const std::vector<Value> values = host_copy(s.values_out, s.count);
  std::vector<bool> seen(s.count);
  bool right = true;
  for (size_t i = 0; i < s.count && right; i++) {
    right = values[i] < s.count && !seen[values[i]] && found[i] == keys[values[i]] &&
            (i == 0 || found[i - 1] < found[i] ||
             (found[i - 1] == found[i] && values[i - 1] < values[i]));
    if (right) seen[values[i]] = true;
  }
  return right;
}

template <class Key, class Value>
void measure_pairs(const char *name, size_t count, unsigned bits, bool numbered = false)
{
  const std::vector<Key> keys = make_keys<Key>(count, bits);
  std::vector<Value> values(count);
  std::iota(values.begin(), values.end(), Value(0));
  const sorts<Key, Value> s = {count,
                               bits,
                               device_copy(keys),
                               device_array<Key>(count),
                               device_copy(values),
                               device_array<Value>(count),
                               numbered};
  double ours[2], radix[2], merge[2];
  size_t our_bytes, radix_bytes, merge_bytes;
  measure_ours(s, ours, &our_bytes);
  const bool right = is_right(s, keys);
  measure_cub([](cudaStream_t) {},
              [&](void *memory, size_t &bytes, cudaStream_t on) {
                return cub::DeviceRadixSort::SortPairs(memory, bytes, s.in, s.out, s.values_in,
                                                       s.values_out, (uint32_t)count, 0, (int)bits,
                                                       on);
              },
              radix, &radix_bytes);
  const auto restore = [&](cudaStream_t on) {
    CHECK(cudaMemcpyAsync(s.out, s.in, count * sizeof(Key), cudaMemcpyDeviceToDevice, on));
    CHECK(cudaMemcpyAsync(s.values_out, s.values_in, count * sizeof(Value),
                          cudaMemcpyDeviceToDevice, on));
  };
  measure_cub(
      restore,
      [&](void *memory, size_t &bytes, cudaStream_t on) {
        return cub::DeviceMergeSort::StableSortPairs(memory, bytes, s.out, s.values_out,
                                                     (uint32_t)count, less{}, on);
      },
      merge, &merge_bytes);
  wrong |= !right;
  std::printf("%-14s %10zu %10.4f %10.4f %10.4f %10.4f %10.4f %10.4f %8.2f %8.1f %8.1f%s\n", name,
              count, ours[0], radix[0], merge[0], ours[1], radix[1], merge[1],
              std::min(radix[1], merge[1]) / ours[1], (double)our_bytes / (double)count,
              (double)radix_bytes / (double)count, right ? "" : "  WRONG");
  for (void *memory : {(void *)s.in, (void *)s.out, (void *)s.values_in, (void *)s.values_out})
    CHECK(cudaFree(memory));
}

} // namespace

int main()
{
  recsort_error error = {};
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  if (recsort_device_pairs_create(nullptr, &pairs, &error)) {
    std::fprintf(stderr, "%s\n", error.text);
    return 2;
  }
  std::printf("%s, commit %s, CUB %d\n\nPairs of random keys and values, ms; bytes of workspace "
              "for each pair\n%-14s %10s %10s %10s %10s %10s %10s %10s %8s %8s %8s\n",
              recsort_version(), BENCH_COMMIT, CUB_VERSION, "", "pairs", "stream", "radix", "merge",
              "graph", "radix", "merge", "x best", "bytes", "radix");
  for (const unsigned power : {12, 16, 20, 22, 24}) {
    const size_t count = size_t(1) << power;
    measure_pairs<float, uint32_t>("f32 + u32", count, 32);
    measure_pairs<uint32_t, uint32_t>("u32 + u32", count, 32);
    measure_pairs<float, uint32_t>("f32, argsort", count, 32, true);
    measure_pairs<uint32_t, uint32_t>("u32, argsort", count, 32, true);
    measure_pairs<uint64_t, uint32_t>("u64 + u32", count, 64);
    measure_pairs<uint64_t, uint64_t>("u64 + u64", count, 64);
    measure_pairs<uint64_t, uint32_t>("40 bits + u32", count, 40);
    measure_pairs<uint128, uint32_t>("u128 + u32", count, 128);
  }
  recsort_device_pairs_destroy(pairs);
  return wrong;
}
