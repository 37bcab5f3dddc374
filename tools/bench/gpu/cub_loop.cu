/* cub_loop.cu - see cub_loop.h. The gather is as fast as ours: adjacent threads write adjacent
 * words. */
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "cub_loop.h"

namespace bench
{

namespace
{

enum { BLOCK = 256, WORDS = sizeof(entity) / sizeof(uint32_t) };

__global__ void __launch_bounds__(BLOCK)
    take_keys(const entity *from, float *keys, uint32_t *numbers, uint32_t count)
{
  const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= count) return;
  keys[i] = from[i].distance;
  numbers[i] = i;
}

__global__ void __launch_bounds__(BLOCK)
    move_records(const uint32_t *from, const uint32_t *numbers, uint32_t *to, uint32_t count)
{
  __shared__ uint32_t places[BLOCK];
  const uint32_t first = blockIdx.x * BLOCK, some = min(count - first, (uint32_t)BLOCK);
  if (threadIdx.x < some) places[threadIdx.x] = numbers[first + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (uint32_t w = 0; w < WORDS; w++) {
    const uint32_t i = w * BLOCK + threadIdx.x;
    if (i < some * WORDS)
      to[(size_t)first * WORDS + i] = from[(size_t)places[i / WORDS] * WORDS + i % WORDS];
  }
}

struct farther {
  __host__ __device__ bool operator()(float a, float b) const
  {
    return a > b;
  }
};

cudaError_t sort_pairs(const cub_loop *loop, void *extra, size_t &bytes, cudaStream_t stream)
{
  return loop->sort == CUB_LOOP_RADIX
             ? cub::DeviceRadixSort::SortPairsDescending(extra, bytes, loop->keys[0], loop->keys[1],
                                                         loop->numbers[0], loop->numbers[1],
                                                         loop->count, 0, 32, stream)
             : cub::DeviceMergeSort::StableSortPairs(extra, bytes, loop->keys[0], loop->numbers[0],
                                                     loop->count, farther{}, stream);
}

} // namespace

cudaError_t cub_loop_open(cub_loop *loop, cub_loop_sort sort, uint32_t count)
{
  *loop = {};
  loop->sort = sort;
  loop->count = count;
  cudaError_t error = sort_pairs(loop, nullptr, loop->extra_bytes, nullptr);
  const size_t pairs = sort == CUB_LOOP_RADIX ? 2 : 1; /* the merge sort is in place */
  for (size_t i = 0; i < pairs && !error; i++) {
    error = cudaMalloc((void **)&loop->keys[i], count * sizeof(float));
    if (!error) error = cudaMalloc((void **)&loop->numbers[i], count * sizeof(uint32_t));
  }
  if (!error) error = cudaMalloc(&loop->extra, loop->extra_bytes);
  loop->bytes = loop->extra_bytes + pairs * count * (sizeof(float) + sizeof(uint32_t));
  return error;
}

void cub_loop_close(cub_loop *loop)
{
  void *const all[] = {loop->keys[0], loop->keys[1], loop->numbers[0], loop->numbers[1],
                       loop->extra};
  for (void *const memory : all)
    (void)cudaFree(memory);
}

cudaError_t cub_loop_run(const cub_loop *loop, const entity *from, entity *to, cudaStream_t stream)
{
  const uint32_t grid = (loop->count + BLOCK - 1) / BLOCK;
  size_t bytes = loop->extra_bytes;
  take_keys<<<grid, BLOCK, 0, stream>>>(from, loop->keys[0], loop->numbers[0], loop->count);
  const cudaError_t error = sort_pairs(loop, loop->extra, bytes, stream);
  if (error) return error;
  move_records<<<grid, BLOCK, 0, stream>>>((const uint32_t *)from,
                                           loop->numbers[loop->sort == CUB_LOOP_RADIX],
                                           (uint32_t *)to, loop->count);
  return cudaGetLastError();
}

} // namespace bench
