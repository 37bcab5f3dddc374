/* Random sorts by recsort.cuh on a GPU, for as long as you like: sort_pairs with positions, of
 * random types, sizes, contents and bits, in place or not, on a stream or from a graph. The device
 * checks each result: keys are in order, equal ones by position, each position has its key's bits,
 * and occurs once. Usage: header-soak [SECONDS [SEED]] */
#include <recsort.cuh>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuh/device_array.h"
#include "support/random.h"

namespace
{

uint64_t state = 39;

enum contents {
  RANDOM,
  FEW,
  ALIKE,
  ASCENDING,
  DESCENDING,
  SAW,
  SHORT,
  NEARLY,
  REPEATS,
  PACKED,
  EXTREME,
  CONTENTS
};

__host__ __device__ uint64_t mix(uint64_t x)
{
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

__device__ uint64_t key_bits(contents how, uint64_t seed, uint64_t i, uint64_t count,
                             unsigned width)
{
  const uint64_t random = mix(seed + (i + 1) * 0x9e3779b97f4a7c15);
  switch (how) {
  case FEW:
    return random % 11;
  case ALIKE:
    return seed;
  case ASCENDING:
    return i;
  case DESCENDING:
    return count - i;
  case SAW:
    return i % 1021 << (width - 12);
  case SHORT:
    return random >> mix(random) % 64;
  case NEARLY:
    return random % 100 ? i << 3 : random;
  case REPEATS:
    return mix(random % (count / 200 + 1));
  case PACKED:
    return random % 3000 << width / 2 |
           (uint64_t)__float_as_uint(1 + (float)(random >> 40) * 1e-6f) >> (width == 32 ? 16 : 0);
  case EXTREME:
    return random % 5 == 0   ? (uint64_t)1 << (width - 1)
           : random % 5 == 1 ? 0
           : random % 5 == 2 ? ~(uint64_t)0 >> random % 13
                             : random;
  default:
    return random;
  }
}

template <class Bits> __global__ void fill(Bits *keys, contents how, uint64_t seed, uint64_t count)
{
  for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < count;
       i += (uint64_t)gridDim.x * blockDim.x)
    keys[i] = (Bits)key_bits(how, seed, i, count, 8 * sizeof(Bits));
}

/* A number in the order of keys: not a word of it is recsort's. */
template <class Bits>
__device__ Bits rank_of(Bits bits, int kind, bool descending, unsigned first, unsigned used)
{
  const Bits sign = (Bits)1 << (8 * sizeof(Bits) - 1), all = (Bits) ~(Bits)0;
  const Bits infinity = sizeof(Bits) == 4 ? (Bits)0x7f800000 : (Bits)0x7ff0000000000000;
  if (kind == 1) bits ^= sign;
  if (kind == 2) {
    if ((bits & ~sign) > infinity)
      return (Bits)(all >> first) & (used < 8 * sizeof(Bits) ? ((Bits)1 << used) - 1 : all);
    if ((bits & ~sign) == 0) bits = 0;
    bits = bits & sign ? (Bits)~bits : (Bits)(bits | sign);
  }
  if (descending) bits = (Bits)~bits;
  return (Bits)(bits >> first) & (used < 8 * sizeof(Bits) ? ((Bits)1 << used) - 1 : all);
}

template <class Bits>
__global__ void check(const Bits *in, const Bits *keys, const uint32_t *places, uint32_t *seen,
                      uint64_t count, int kind, bool descending, unsigned first, unsigned used,
                      uint32_t *wrong)
{
  for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < count;
       i += (uint64_t)gridDim.x * blockDim.x) {
    const uint32_t place = places[i];
    bool bad = place >= count || keys[i] != in[place < count ? place : 0];
    if (place < count && atomicOr(&seen[place / 32], 1u << place % 32) >> place % 32 & 1)
      bad = true;
    if (i > 0) {
      const Bits a = rank_of(keys[i - 1], kind, descending, first, used),
                 b = rank_of(keys[i], kind, descending, first, used);
      bad |= a > b || (a == b && places[i - 1] >= place);
    }
    if (bad) atomicAdd(wrong, 1u);
  }
}

void need(cudaError_t error)
{
  check_cuda("CUDA", error);
}

template <class Key, class Bits> bool sort_once(int kind, uint64_t most, bool with_keys)
{
  const uint64_t bound = (uint64_t)1 << (4 + random_below(&state, 22));
  const uint64_t count = 1 + random_below(&state, bound < most ? bound : most);
  const auto how = (contents)random_below(&state, CONTENTS);
  const bool descending = random_below(&state, 2), in_place = random_below(&state, 2),
             graph = random_below(&state, 4) == 0;
  const unsigned width = 8 * sizeof(Bits), some = random_below(&state, 4) == 0;
  const unsigned first = some ? (unsigned)random_below(&state, width) : 0;
  const unsigned bits = some ? (unsigned)random_below(&state, width - first + 1) : 0,
                 used = bits ? bits : width - first;
  cudaStream_t stream;
  need(cudaStreamCreate(&stream));
  Bits *in, *copy, *out;
  uint32_t *places, *seen, wrong = 0;
  need(cudaMalloc(&in, count * sizeof(Bits)));
  need(cudaMalloc(&copy, count * sizeof(Bits)));
  need(cudaMalloc(&out, count * sizeof(Bits)));
  need(cudaMalloc(&places, count * 4));
  need(cudaMalloc(&seen, (count / 32 + 2) * 4));
  fill<<<512, 256, 0, stream>>>(copy, how, next_random(&state), count);
  Bits *const to = !with_keys ? nullptr : in_place ? in : out;
  const auto call = [&](void *workspace, size_t &bytes) {
    return descending
               ? recsort::sort_pairs<recsort::order::descending>(
                     workspace, bytes, (const Key *)in, (Key *)to, (const uint32_t *)nullptr,
                     places, count, stream, first, bits)
               : recsort::sort_pairs(workspace, bytes, (const Key *)in, (Key *)to,
                                     (const uint32_t *)nullptr, places, count, stream, first, bits);
  };
  size_t bytes = 0;
  void *workspace;
  need(call(nullptr, bytes));
  need(cudaMalloc(&workspace, bytes));
  need(cudaMemsetAsync(workspace, 0xa5, bytes, stream));
  need(cudaMemsetAsync(out, 0xee, count * sizeof(Bits), stream));
  need(cudaMemsetAsync(places, 0xee, count * 4, stream));
  need(cudaMemsetAsync(seen, 0, (count / 32 + 2) * 4, stream));
  need(cudaMemcpyAsync(in, copy, count * sizeof(Bits), cudaMemcpyDeviceToDevice, stream));
  if (graph) {
    cudaGraph_t captured;
    cudaGraphExec_t ready;
    need(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    need(call(workspace, bytes));
    need(cudaStreamEndCapture(stream, &captured));
    need(cudaGraphInstantiate(&ready, captured, 0));
    need(cudaGraphLaunch(ready, stream));
    need(cudaStreamSynchronize(stream));
    need(cudaGraphExecDestroy(ready));
    need(cudaGraphDestroy(captured));
  } else {
    need(call(workspace, bytes));
  }
  if (!with_keys) { /* gathered, for the check */
    need(cudaStreamSynchronize(stream));
    std::vector<Bits> from(count), sorted(count);
    std::vector<uint32_t> order(count);
    need(cudaMemcpy(from.data(), copy, count * sizeof(Bits), cudaMemcpyDeviceToHost));
    need(cudaMemcpy(order.data(), places, count * 4, cudaMemcpyDeviceToHost));
    for (uint64_t i = 0; i < count; i++)
      sorted[i] = from[order[i] < count ? order[i] : 0];
    need(cudaMemcpy(out, sorted.data(), count * sizeof(Bits), cudaMemcpyHostToDevice));
  }
  uint32_t *const errors = seen + count / 32 + 1;
  check<<<512, 256, 0, stream>>>(copy, to ? to : out, places, seen, count, kind, descending, first,
                                 used, errors);
  need(cudaMemcpyAsync(&wrong, errors, 4, cudaMemcpyDeviceToHost, stream));
  need(cudaStreamSynchronize(stream));
  for (void *memory :
       {(void *)in, (void *)copy, (void *)out, (void *)places, (void *)seen, workspace})
    need(cudaFree(memory));
  need(cudaStreamDestroy(stream));
  if (wrong == 0) return true;
  std::printf("%u of %llu wrong: contents %d, kind %d, %u bits wide, descending %d, in place %d, "
              "graph %d, bits %u from %u\n",
              wrong, (unsigned long long)count, how, kind, width, descending, in_place, graph, used,
              first);
  return false;
}

} // namespace

int main(int argc, char **argv)
{
  enum { MOST = 12 << 20 };
  const double seconds = argc > 1 ? std::atof(argv[1]) : 5;
  if (argc > 2) state = std::strtoull(argv[2], nullptr, 10);
  const auto begin = std::chrono::steady_clock::now();
  unsigned long sorts = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
         seconds) {
    bool right = false;
    const bool with_keys = random_below(&state, 16) > 0;
    switch (random_below(&state, 6)) {
    case 0:
      right = sort_once<uint32_t, uint32_t>(0, MOST, with_keys);
      break;
    case 1:
      right = sort_once<int32_t, uint32_t>(1, MOST, with_keys);
      break;
    case 2:
      right = sort_once<float, uint32_t>(2, MOST, with_keys);
      break;
    case 3:
      right = sort_once<uint64_t, uint64_t>(0, MOST, with_keys);
      break;
    case 4:
      right = sort_once<int64_t, uint64_t>(1, MOST, with_keys);
      break;
    default:
      right = sort_once<double, uint64_t>(2, MOST, with_keys);
    }
    if (!right) return 1;
    sorts++;
  }
  std::printf("passed: %lu sorts\n", sorts);
  return 0;
}
