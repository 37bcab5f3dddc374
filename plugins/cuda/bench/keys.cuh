/* keys.cuh - keys that are a function of their place, so that a result can be checked with nothing
 * but itself: pairs that ascend strictly by (key, index), each key the one of its index, are the
 * one stable order of all keys. */
#ifndef RECSORT_CUDA_BENCH_KEYS_CUH
#define RECSORT_CUDA_BENCH_KEYS_CUH

#include <stdexcept>

#include "bench.h"

namespace bench
{

/* splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). */
__host__ __device__ inline uint64_t mix(uint64_t x)
{
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* A random float of [0, 1000). */
__host__ __device__ inline float random_float(uint64_t seed, uint64_t i)
{
  return (float)(mix(seed ^ mix(i)) >> 40) * (1000.0f / (1 << 24));
}

__host__ __device__ inline uint32_t float_bits(float value)
{
  union {
    float real;
    uint32_t bits;
  } both = {value};
  return both.bits;
}

/* What the keys are a function of. A seed alone: random ones. */
struct input {
  input(uint64_t seed_, order kind_ = order::random, uint64_t count_ = 0)
      : seed(seed_), kind(kind_), count(count_)
  {
  }
  uint64_t seed;
  order kind;
  uint64_t count;
  const uint32_t *ranks = nullptr; /* of order::banks: on the device, */
  const uint32_t *host_ranks = nullptr;
};

__host__ __device__ inline uint32_t rank_at(const input &from, uint64_t i)
{
#ifdef __CUDA_ARCH__
  return from.ranks[i];
#else
  return from.host_ranks[i];
#endif
}

template <typename Key> struct random_key;

/* The code of a float that is not negative: what a float field becomes. */
template <> struct random_key<uint32_t> {
  static constexpr const char *name = "f32";
  __host__ __device__ static uint32_t at(uint64_t seed, uint64_t i)
  {
    return float_bits(random_float(seed, i)) | 0x80000000u;
  }
};

template <> struct random_key<uint64_t> {
  static constexpr const char *name = "u64";
  __host__ __device__ static uint64_t at(uint64_t seed, uint64_t i)
  {
    return mix(seed ^ mix(i));
  }
};

template <> struct random_key<unsigned __int128> {
  static constexpr const char *name = "u128";
  __host__ __device__ static unsigned __int128 at(uint64_t seed, uint64_t i)
  {
    const uint64_t high = mix(seed ^ mix(i));
    return (unsigned __int128)high << 64 | mix(high);
  }
};

/* A number of 1 to 2^bits - 1, each as often as its inverse says, or nearly so. */
__host__ __device__ inline uint64_t zipf(uint64_t chance, unsigned bits)
{
  const unsigned bit = (unsigned)(chance % bits);
  return ((uint64_t)1 << bit) | ((chance >> 8) & (((uint64_t)1 << bit) - 1));
}

/* Key `i` of an input: of its own, or that of its rank in a sorted one. */
template <typename Key> __host__ __device__ Key key_at(const input &from, uint64_t i)
{
  constexpr unsigned shift = sizeof(Key) == 4 ? 0 : sizeof(Key) == 8 ? 32 : 96;
  const uint64_t chance = mix(from.seed ^ mix(i));
  switch (from.kind) {
  case order::sorted:
    return (Key)i << shift;
  case order::reversed:
    return (Key)(from.count - 1 - i) << shift;
  case order::nearly:
    return (Key)(chance % 100 ? i : (chance >> 8) % from.count) << shift;
  case order::few:
    return (Key)(chance % 16) << shift;
  case order::saws:
    return (Key)(i % 10000) << shift;
  case order::organ:
    return (Key)(i < from.count / 2 ? i : from.count - 1 - i) << shift;
  case order::equal:
    return (Key)7 << shift;
  case order::zipf:
    return (Key)zipf(chance, 24) << shift;
  case order::holes:
    return (Key)(chance % 100 ? i : 0) << shift;
  case order::repeats:
    return (Key)mix(chance % (from.count / 100 + 1)) << (sizeof(Key) == 16 ? 64 : 0);
  case order::banks:
    return (Key)rank_at(from, i) << shift;
  case order::bits36:
    return (Key)(chance >> 28); /* not of 32-bit keys */
  default:
    return random_key<Key>::at(from.seed, i);
  }
}

inline unsigned blocks_for(uint64_t count)
{
  return (unsigned)((count + 255) / 256);
}

template <typename Key, typename Index>
__global__ void fill_kernel(Key *keys, Index *indices, uint64_t count, input from)
{
  const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  keys[i] = key_at<Key>(from, i);
  if (indices) indices[i] = (Index)i;
}

template <typename Key, typename Index>
__global__ void count_wrong_kernel(const Key *keys, const Index *indices, uint64_t count,
                                   input from, unsigned *wrong)
{
  const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  bool good = indices[i] < count && keys[i] == key_at<Key>(from, indices[i]);
  if (i + 1 < count)
    good =
        good && (keys[i] < keys[i + 1] || (keys[i] == keys[i + 1] && indices[i] < indices[i + 1]));
  if (!good) atomicAdd(wrong, 1u);
}

/* `indices` may be NULL. Waits. */
template <typename Key, typename Index>
void fill_pairs(Key *keys, Index *indices, uint64_t count, const input &from)
{
  fill_kernel<<<blocks_for(count), 256>>>(keys, indices, count, from);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

/* Throws if these are not the pairs of that input in their stable order. */
template <typename Key, typename Index>
void check_pairs(const Key *keys, const Index *indices, uint64_t count, const input &from)
{
  memory wrong(sizeof(unsigned));
  unsigned found = 0;
  CHECK(cudaMemset(wrong.as<void>(), 0, sizeof found));
  count_wrong_kernel<<<blocks_for(count), 256>>>(keys, indices, count, from, wrong.as<unsigned>());
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&found, wrong.as<void>(), sizeof found, cudaMemcpyDeviceToHost));
  if (found) throw std::runtime_error("a result is wrong in " + std::to_string(found) + " places");
}

} // namespace bench

#endif
