/* keys.cuh - makes the keys of an input on the device, and checks results: if pairs ascend strictly
 * by (key, index), and each key belongs to its index, they are the stable order of all keys. */
#ifndef RECSORT_CUDA_BENCH_KEYS_CUH
#define RECSORT_CUDA_BENCH_KEYS_CUH

#include <stdexcept>

#include "bench.h"

namespace bench
{

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

/* Makes keys. `indices` may be NULL. Waits. */
template <typename Key, typename Index>
void fill_pairs(Key *keys, Index *indices, uint64_t count, const input &from)
{
  fill_kernel<<<blocks_for(count), 256>>>(keys, indices, count, from);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

/* Throws unless these are the pairs of the input in their stable order. */
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
