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

inline unsigned blocks_for(uint64_t count)
{
  return (unsigned)((count + 255) / 256);
}

template <typename Key, typename Index>
__global__ void fill_kernel(Key *keys, Index *indices, uint64_t count, uint64_t seed)
{
  const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  keys[i] = random_key<Key>::at(seed, i);
  if (indices) indices[i] = (Index)i;
}

template <typename Key, typename Index>
__global__ void count_wrong_kernel(const Key *keys, const Index *indices, uint64_t count,
                                   uint64_t seed, unsigned *wrong)
{
  const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  bool good = indices[i] < count && keys[i] == random_key<Key>::at(seed, indices[i]);
  if (i + 1 < count)
    good =
        good && (keys[i] < keys[i + 1] || (keys[i] == keys[i + 1] && indices[i] < indices[i + 1]));
  if (!good) atomicAdd(wrong, 1u);
}

/* `indices` may be NULL. Waits. */
template <typename Key, typename Index>
void fill_pairs(Key *keys, Index *indices, uint64_t count, uint64_t seed)
{
  fill_kernel<<<blocks_for(count), 256>>>(keys, indices, count, seed);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

/* Throws if these are not the pairs of that seed in their stable order. */
template <typename Key, typename Index>
void check_pairs(const Key *keys, const Index *indices, uint64_t count, uint64_t seed)
{
  memory wrong(sizeof(unsigned));
  unsigned found = 0;
  CHECK(cudaMemset(wrong.as<void>(), 0, sizeof found));
  count_wrong_kernel<<<blocks_for(count), 256>>>(keys, indices, count, seed, wrong.as<unsigned>());
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&found, wrong.as<void>(), sizeof found, cudaMemcpyDeviceToHost));
  if (found) throw std::runtime_error("a result is wrong in " + std::to_string(found) + " places");
}

} // namespace bench

#endif
