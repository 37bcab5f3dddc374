/* long_segments.cu - sorts of segments of 2^14 to 2^20 elements by recsort.cuh beside CUB's
 * segmented radix sort and segmented sort, on a stream; and from a graph, and if the longest
 * segment is not known. Rounds are interleaved, inputs are fresh in each, and results are compared
 * with CUB's. Usage: long_segments [SIZE], elements are 2^SIZE; times in microseconds. */
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <recsort.cuh>

namespace
{

enum contents { RANDOM, FEW, ASCENDING, SHORT, ALIKE, REPEATS, CONTENTS };
const char *const names[] = {"random",         "16 values", "ascending",
                             "of all lengths", "all equal", "256 of each"};
enum way { RADIX, SEGMENTED, TOLD, GRAPH, UNTOLD, WAYS };
enum shape { EVEN, RANDOM_LENGTHS, GIANT };

void need(cudaError_t error)
{
  if (!error) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(1);
}

__host__ __device__ uint64_t mix(uint64_t x)
{
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/* 64 bits, of which the upper ones matter most. */
__device__ uint64_t number(contents how, uint64_t seed, uint64_t i, uint64_t count)
{
  const uint64_t random = mix(seed + i);
  switch (how) {
  case FEW:
    return random >> 60 << 33;
  case ASCENDING:
    return i << 33;
  case SHORT:
    return random >> random % 40;
  case ALIKE:
    return (uint64_t)77 << 33;
  case REPEATS:
    return mix(random % (count / 256 + 1));
  default:
    return random;
  }
}

__device__ void set(uint32_t *key, uint64_t bits)
{
  *key = (uint32_t)(bits >> 32);
}
__device__ void set(uint64_t *key, uint64_t bits)
{
  *key = bits;
}
__device__ void set(float *key, uint64_t bits)
{
  *key = ((float)(bits >> 40) - (float)(1 << 23) + 0.5f) * 1e-3f;
}

template <class Key, class Value>
__global__ void fill(Key *keys, Value *values, contents how, uint64_t seed, uint64_t count)
{
  for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < count;
       i += (uint64_t)gridDim.x * blockDim.x) {
    set(&keys[i], number(how, seed, i, count));
    values[i] = (Value)mix(i ^ seed);
  }
}

template <class Key, class Value>
__global__ void compare(const Key *keys, const Value *values, const Key *other, const Value *others,
                        uint64_t count, uint32_t *wrong)
{
  for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < count;
       i += (uint64_t)gridDim.x * blockDim.x)
    if (keys[i] != other[i] || (values && values[i] != others[i])) atomicAdd(wrong, 1u);
}

template <class Type> Type *take(uint64_t count)
{
  void *memory;
  need(cudaMalloc(&memory, count * sizeof(Type)));
  return (Type *)memory;
}

/* Segments of one length, or of random ones of that average, up to 2^20; or one that has half of
 * all, and others of one length. */
std::vector<uint32_t> offsets_of(uint64_t count, uint32_t length, shape how)
{
  std::mt19937_64 random(39);
  std::exponential_distribution<double> lengths(1.0 / length);
  std::vector<uint32_t> offsets = {0};
  if (how == GIANT) offsets.push_back((uint32_t)(count / 2));
  while (offsets.back() < count) {
    const double one = how == RANDOM_LENGTHS ? std::min(lengths(random), 1048576.0) : length;
    offsets.push_back((uint32_t)std::min<uint64_t>(count, offsets.back() + (uint64_t)one));
  }
  return offsets;
}

template <class Key, class Value>
void measure(const char *name, contents how, uint64_t count, bool with_values, uint32_t length,
             shape lengths, int rounds = 9)
{
  const std::vector<uint32_t> offsets_in = offsets_of(count, length, lengths);
  const int segments = (int)offsets_in.size() - 1;
  uint32_t longest = 0;
  for (int s = 0; s < segments; s++)
    longest = std::max(longest, offsets_in[s + 1] - offsets_in[s]);
  uint32_t *const offsets = take<uint32_t>(offsets_in.size()), *const wrong = take<uint32_t>(1);
  Key *const in = take<Key>(count), *const keys = take<Key>(count),
             *const cub_keys = take<Key>(count);
  Value *const values_in = take<Value>(count), *const values = take<Value>(count),
               *const cub_values = take<Value>(count);
  cudaStream_t stream;
  cudaEvent_t begin, end;
  cudaGraph_t captured;
  cudaGraphExec_t graph;
  need(cudaStreamCreate(&stream));
  need(cudaEventCreate(&begin));
  need(cudaEventCreate(&end));
  need(cudaMemset(wrong, 0, sizeof *wrong));
  need(cudaMemcpy(offsets, offsets_in.data(), offsets_in.size() * sizeof *offsets,
                  cudaMemcpyHostToDevice));
  const auto by_radix = [&](void *memory, size_t &bytes) {
    return with_values
               ? cub::DeviceSegmentedRadixSort::SortPairs(
                     memory, bytes, in, cub_keys, values_in, cub_values, (int)count, segments,
                     offsets, offsets + 1, 0, 8 * (int)sizeof(Key), stream)
               : cub::DeviceSegmentedRadixSort::SortKeys(memory, bytes, in, cub_keys, (int)count,
                                                         segments, offsets, offsets + 1, 0,
                                                         8 * (int)sizeof(Key), stream);
  };
  const auto by_segmented = [&](void *memory, size_t &bytes) {
    return with_values
               ? cub::DeviceSegmentedSort::StableSortPairs(memory, bytes, in, cub_keys, values_in,
                                                           cub_values, (int)count, segments,
                                                           offsets, offsets + 1, stream)
               : cub::DeviceSegmentedSort::StableSortKeys(memory, bytes, in, cub_keys, (int)count,
                                                          segments, offsets, offsets + 1, stream);
  };
  const auto by_recsort = [&](void *memory, size_t &bytes, size_t most) {
    return with_values ? recsort::segmented_sort_pairs(memory, bytes, in, keys, values_in, values,
                                                       count, offsets, segments, stream, most)
                       : recsort::segmented_sort_keys(memory, bytes, in, keys, count, offsets,
                                                      segments, stream, most);
  };
  size_t radix_bytes = 0, segmented_bytes = 0, bytes = 0, untold_bytes = 0;
  need(by_radix(nullptr, radix_bytes));
  need(by_segmented(nullptr, segmented_bytes));
  need(by_recsort(nullptr, bytes, longest));
  need(by_recsort(nullptr, untold_bytes, 0));
  const size_t most_bytes = std::max(bytes, untold_bytes);
  char *const radix = take<char>(radix_bytes), *const segmented = take<char>(segmented_bytes);
  char *const memory = take<char>(most_bytes);
  need(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  need(by_recsort(memory, bytes, longest));
  need(cudaStreamEndCapture(stream, &captured));
  need(cudaGraphInstantiate(&graph, captured, 0));
  need(cudaGraphDestroy(captured));
  const std::function<void()> ways[WAYS] = {[&] { need(by_radix(radix, radix_bytes)); },
                                            [&] { need(by_segmented(segmented, segmented_bytes)); },
                                            [&] { need(by_recsort(memory, bytes, longest)); },
                                            [&] { need(cudaGraphLaunch(graph, stream)); },
                                            [&] { need(by_recsort(memory, untold_bytes, 0)); }};
  std::vector<float> times[WAYS];
  uint64_t seed = 39;
  for (int round = -1; round < rounds; round++) {
    seed = mix(seed);
    fill<<<1024, 256, 0, stream>>>(in, values_in, how, seed, count);
    for (int w : {SEGMENTED, RADIX, TOLD, GRAPH, UNTOLD}) {
      float time;
      if (w >= TOLD) {
        need(cudaMemsetAsync(keys, 0xee, count * sizeof(Key), stream));
        need(cudaMemsetAsync(values, 0xee, count * sizeof(Value), stream));
        need(cudaMemsetAsync(memory, 0xa5, most_bytes, stream));
      }
      need(cudaStreamSynchronize(stream));
      need(cudaEventRecord(begin, stream));
      ways[w]();
      need(cudaEventRecord(end, stream));
      need(cudaStreamSynchronize(stream));
      need(cudaEventElapsedTime(&time, begin, end));
      if (round >= 0) times[w].push_back(1000 * time);
      if (w >= TOLD)
        compare<<<1024, 256, 0, stream>>>(cub_keys, with_values ? cub_values : nullptr, keys,
                                          values, count, wrong);
    }
  }
  uint32_t differ;
  need(cudaMemcpy(&differ, wrong, sizeof differ, cudaMemcpyDeviceToHost));
  float medians[WAYS];
  for (int w = 0; w < WAYS; w++) {
    std::sort(times[w].begin(), times[w].end());
    medians[w] = times[w][times[w].size() / 2];
  }
  std::printf(
      "| %s | %llu | %d | %s%u | %s | %.1f | %.1f | %.1f | %.1f | %.1f | %.2f | %.2f | %.0f "
      "| %.0f | %.0f |%s\n",
      name, (unsigned long long)count, segments, lengths == EVEN ? "" : "up to ", longest,
      names[how], medians[RADIX], medians[SEGMENTED], medians[UNTOLD], medians[TOLD],
      medians[GRAPH], medians[RADIX] / medians[UNTOLD], medians[RADIX] / medians[TOLD],
      1e-6 * (double)radix_bytes, 1e-6 * (double)untold_bytes, 1e-6 * (double)bytes,
      differ ? " WRONG" : "");
  std::fflush(stdout);
  need(cudaGraphExecDestroy(graph));
  for (void *each : {(void *)in, (void *)keys, (void *)cub_keys, (void *)values_in, (void *)values,
                     (void *)cub_values, (void *)wrong, (void *)offsets, (void *)radix,
                     (void *)segmented, (void *)memory})
    need(cudaFree(each));
  need(cudaEventDestroy(begin));
  need(cudaEventDestroy(end));
  need(cudaStreamDestroy(stream));
  if (differ) std::exit(1);
}

void measure_types(uint64_t count, uint32_t length, shape lengths)
{
  measure<uint32_t, uint32_t>("u32 + u32", RANDOM, count, true, length, lengths);
  measure<float, uint32_t>("f32 + u32", RANDOM, count, true, length, lengths);
  measure<uint32_t, uint32_t>("u32", RANDOM, count, false, length, lengths);
  measure<uint64_t, uint32_t>("u64 + u32", RANDOM, count, true, length, lengths);
  measure<uint64_t, uint64_t>("u64 + u64", RANDOM, count, true, length, lengths);
}

} // namespace

int main(int argc, char **argv)
{
  const uint64_t count = (uint64_t)1 << (argc > 1 ? std::atoi(argv[1]) : 24);
  cudaDeviceProp device;
  need(cudaGetDeviceProperties(&device, 0));
  std::printf("%s, CUB %d\n\n| keys + values | count | segments | longest | contents | CUB, radix "
              "| CUB, segmented | longest not known | known | known, graph | radix / not known | "
              "radix / known | MB: CUB | not known | known |\n| --- | ---: | ---: | --- | --- |",
              device.name, CUB_VERSION);
  for (int column = 0; column < 10; column++)
    std::printf(" ---: |");
  std::printf("\n");
  for (uint32_t length :
       {1u << 14, 20000u, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20})
    measure_types(count, length, EVEN);
  for (uint32_t length : {1u << 12, 1u << 14, 1u << 17})
    measure_types(count, length, RANDOM_LENGTHS);
  measure_types(count, 1 << 16, GIANT);
  for (int how = RANDOM + 1; how < CONTENTS; how++) {
    measure<uint32_t, uint32_t>("u32 + u32", (contents)how, count, true, 1 << 17, EVEN);
    measure<uint64_t, uint32_t>("u64 + u32", (contents)how, count, true, 1 << 17, EVEN);
  }
  for (uint64_t fewer : {1 << 16, 1 << 17, 1 << 18, 1 << 20, 1 << 22})
    for (uint32_t length : {1u << 15, 1u << 18})
      if (length < fewer)
        measure<uint32_t, uint32_t>("u32 + u32", RANDOM, fewer, true, length, EVEN);
  return 0;
}
