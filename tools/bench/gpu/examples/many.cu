/* many.cu - sorts of many pairs and keys by recsort.cuh beside cub::DeviceRadixSort, on a stream
 * and from a graph, of random and other contents. Rounds are interleaved, inputs are fresh in each,
 * and results are compared with CUB's. Usage: many [LEAST [MOST]], powers of two; times in
 * microseconds. */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <cub/device/device_radix_sort.cuh>
#include <recsort.cuh>

namespace
{

enum contents {
  RANDOM,
  FEW,
  ASCENDING,
  DESCENDING,
  SHORT,
  ALIKE,
  SAW,
  NEARLY,
  REPEATS,
  SCREEN,
  CONTENTS
};
const char *const names[] = {"random",         "16 values",        "ascending", "descending",
                             "of all lengths", "all equal",        "sawtooth",  "1% displaced",
                             "256 of each",    "tiles with depths"};

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
  const uint64_t random = mix(seed + i), four = mix((i / 4) ^ seed);
  switch (how) {
  case FEW:
    return random >> 60 << 33;
  case ASCENDING:
    return i << 33;
  case DESCENDING:
    return (count - i) << 33;
  case SHORT:
    return random >> random % 40;
  case ALIKE:
    return (uint64_t)77 << 33;
  case SAW:
    return i % 1000 << 50 | i;
  case NEARLY:
    return random % 100 ? i << 32 : random;
  case REPEATS:
    return mix(random % (count / 256 + 1));
  case SCREEN: /* as a renderer sorts what it has for each tile: four neighbours see the same depth
                */
    return (((four >> 8) % 45 + i / 2 % 2) * 81 + four % 80 + i % 2) << 32 |
           __float_as_uint(1 + (float)(four >> 40) * 1.7e-6f);
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
  *key = (float)(bits >> 40) * 1e-3f;
}

template <class Key>
__global__ void fill(Key *keys, uint32_t *values, contents how, uint64_t seed, unsigned bits,
                     uint64_t count)
{
  for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < count;
       i += (uint64_t)gridDim.x * blockDim.x) {
    const uint64_t all = number(how, seed, i, count);
    set(&keys[i], bits ? all & (((uint64_t)1 << bits) - 1) : all);
    values[i] = (uint32_t)mix(i ^ seed);
  }
}

template <class Key>
__global__ void compare(const Key *keys, const uint32_t *values, const Key *other,
                        const uint32_t *others, uint64_t count, uint32_t *wrong)
{
  for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < count;
       i += (uint64_t)gridDim.x * blockDim.x)
    if (keys[i] != other[i] || (values && values[i] != others[i])) atomicAdd(wrong, 1u);
}

struct way {
  std::function<void()> run;
  cudaGraphExec_t graph;
  std::vector<float> times;
};

template <class Type> Type *take(uint64_t count)
{
  void *memory;
  need(cudaMalloc(&memory, count * sizeof(Type)));
  return (Type *)memory;
}

/* `bits`: of keys that have only so many; 0: all. */
template <class Key>
void measure(const char *name, contents how, uint64_t count, bool with_values, unsigned bits,
             int rounds)
{
  Key *const in = take<Key>(count), *const keys = take<Key>(count),
             *const cub_keys = take<Key>(count);
  uint32_t *const values_in = take<uint32_t>(count), *const values = take<uint32_t>(count);
  uint32_t *const cub_values = take<uint32_t>(count), *const wrong = take<uint32_t>(1);
  cudaStream_t stream;
  cudaEvent_t begin, end;
  need(cudaStreamCreate(&stream));
  need(cudaEventCreate(&begin));
  need(cudaEventCreate(&end));
  need(cudaMemset(wrong, 0, sizeof *wrong));
  const int last = bits ? (int)bits : 8 * (int)sizeof(Key);
  const auto by_cub = [&](void *memory, size_t &bytes) {
    return with_values ? cub::DeviceRadixSort::SortPairs(memory, bytes, in, cub_keys, values_in,
                                                         cub_values, count, 0, last, stream)
                       : cub::DeviceRadixSort::SortKeys(memory, bytes, in, cub_keys, count, 0, last,
                                                        stream);
  };
  const auto by_recsort = [&](void *memory, size_t &bytes) {
    return with_values ? recsort::sort_pairs(memory, bytes, in, keys, values_in, values, count,
                                             stream, 0, bits)
                       : recsort::sort_keys(memory, bytes, in, keys, count, stream, 0, bits);
  };
  size_t cub_bytes = 0, bytes = 0;
  need(by_cub(nullptr, cub_bytes));
  need(by_recsort(nullptr, bytes));
  char *const cub_memory = take<char>(cub_bytes), *const memory = take<char>(bytes);
  std::vector<way> ways(4);
  ways[0].run = ways[2].run = [&] { need(by_cub(cub_memory, cub_bytes)); };
  ways[1].run = ways[3].run = [&] { need(by_recsort(memory, bytes)); };
  for (int w = 2; w < 4; w++) {
    cudaGraph_t captured;
    need(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    ways[w].run();
    need(cudaStreamEndCapture(stream, &captured));
    need(cudaGraphInstantiate(&ways[w].graph, captured, 0));
    need(cudaGraphDestroy(captured));
  }
  uint64_t seed = 39;
  for (int round = -1; round < rounds; round++) {
    seed = mix(seed);
    fill<<<1024, 256, 0, stream>>>(in, values_in, how, seed, bits, count);
    for (int w = 0; w < 4; w++) {
      float time;
      if (w % 2) need(cudaMemsetAsync(keys, 0xee, count * sizeof(Key), stream));
      if (w % 2) need(cudaMemsetAsync(values, 0xee, count * sizeof *values, stream));
      need(cudaStreamSynchronize(stream));
      need(cudaEventRecord(begin, stream));
      if (w < 2)
        ways[w].run();
      else
        need(cudaGraphLaunch(ways[w].graph, stream));
      need(cudaEventRecord(end, stream));
      need(cudaStreamSynchronize(stream));
      need(cudaEventElapsedTime(&time, begin, end));
      if (round >= 0) ways[w].times.push_back(1000 * time);
      if (w % 2)
        compare<<<1024, 256, 0, stream>>>(cub_keys, with_values ? cub_values : nullptr, keys,
                                          values, count, wrong);
    }
  }
  uint32_t differ;
  need(cudaMemcpy(&differ, wrong, sizeof differ, cudaMemcpyDeviceToHost));
  float medians[4];
  for (int w = 0; w < 4; w++) {
    std::sort(ways[w].times.begin(), ways[w].times.end());
    medians[w] = ways[w].times[ways[w].times.size() / 2];
  }
  std::printf("| %s | %llu | %s | %.1f | %.1f | %.2f | %.1f | %.1f | %.2f | %.0f | %.0f |%s\n",
              name, (unsigned long long)count, names[how], medians[0], medians[1],
              medians[0] / medians[1], medians[2], medians[3], medians[2] / medians[3],
              1e-6 * (double)cub_bytes, 1e-6 * (double)bytes, differ ? " WRONG" : "");
  std::fflush(stdout);
  need(cudaGraphExecDestroy(ways[2].graph));
  need(cudaGraphExecDestroy(ways[3].graph));
  for (void *each : {(void *)in, (void *)keys, (void *)cub_keys, (void *)values_in, (void *)values,
                     (void *)cub_values, (void *)wrong, (void *)cub_memory, (void *)memory})
    need(cudaFree(each));
  need(cudaEventDestroy(begin));
  need(cudaEventDestroy(end));
  need(cudaStreamDestroy(stream));
  if (differ) std::exit(1);
}

} // namespace

int main(int argc, char **argv)
{
  const int least = argc > 1 ? std::atoi(argv[1]) : 20, most = argc > 2 ? std::atoi(argv[2]) : 28;
  cudaDeviceProp device;
  need(cudaGetDeviceProperties(&device, 0));
  std::printf("%s, CUB %d\n\n| keys + values | count | contents | CUB | recsort.cuh | ratio | CUB, "
              "graph | recsort.cuh | "
              "ratio | MB: CUB | MB: recsort.cuh |\n| --- | ---: | --- |",
              device.name, CUB_VERSION);
  std::printf(" ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (int size = least; size <= most; size += size < 22 ? 1 : size < 24 ? 2 : 4) {
    const uint64_t count = (uint64_t)1 << size;
    const int rounds = size > 25 ? 5 : 15;
    measure<uint32_t>("u32 + u32", RANDOM, count, true, 0, rounds);
    measure<uint32_t>("u32", RANDOM, count, false, 0, rounds);
    measure<float>("f32 + u32", RANDOM, count, true, 0, rounds);
    measure<float>("f32", RANDOM, count, false, 0, rounds);
    measure<uint64_t>("u64 + u32", RANDOM, count, true, 0, rounds);
    measure<uint64_t>("u64", RANDOM, count, false, 0, rounds);
  }
  for (uint64_t count : {1000000, 5000000, 20000000})
    measure<uint64_t>("45 bits of u64 + u32", RANDOM, count, true, 45, 11);
  for (int how = RANDOM + 1; how < CONTENTS; how++) {
    measure<uint32_t>("u32 + u32", (contents)how, 1 << 24, true, 0, 5);
    measure<uint64_t>("u64 + u32", (contents)how, 1 << 24, true, 0, 5);
  }
  return 0;
}
