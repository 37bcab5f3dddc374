/* list_extents.cuh - lists the extents of all chains, bucket by bucket (chains.cuh). */
#ifndef RECSORT_CUDA_SAMPLE_LIST_EXTENTS_CUH
#define RECSORT_CUDA_SAMPLE_LIST_EXTENTS_CUH

#include "cuda/sort/sample/block/chains.cuh"

namespace sample
{

/* Every block computes the prefix sums of all buckets, two for each thread, so that no block waits
 * for another, and lists some extents. Reads the states of the chains and the owner of each
 * extent. Writes the list of extents, bucket by bucket; block 0 also writes the ends of buckets.
 * */
template <class = void>
__global__ void __launch_bounds__(SAMPLE_SCATTER_BLOCK)
    list_extents(const __grid_constant__ list_args args)
{
  device_await_before();
  DEVICE_SHARED_ARRAY(uint32_t, firsts, SAMPLE_MOST_BUCKETS);
  DEVICE_SHARED_ARRAY(extent_last, lasts, SAMPLE_MOST_BUCKETS);
  const bucket_chains *const all = &args.all;
  const uint32_t i = 2 * threadIdx.x;
  uint64_t counts[2] = {};
  uint32_t of[2] = {0, 0}, chained;
  DEVICE_UNROLL
  for (uint32_t k = 0; k < 2; k++)
    if (i + k < all->buckets) {
      lasts[i + k] = chain_last(all, i + k);
      counts[k] = ((uint64_t)lasts[i + k].number << all->bits) + lasts[i + k].count;
      of[k] = lasts[i + k].number + 1;
    }
  const uint64_t end = block_before64(counts[0] + counts[1]) + counts[0];
  const uint32_t first = block_before_all(of[0] + of[1], &chained);
  DEVICE_UNROLL
  for (uint32_t k = 0; k < 2; k++)
    if (i + k < all->buckets) {
      firsts[i + k] = first + (k ? of[0] : 0);
      if (blockIdx.x > 0) continue;
      all->firsts[i + k] = firsts[i + k];
      offset_set(&args.ends, i + k, end + (k ? counts[1] : 0));
    }
  if (blockIdx.x == 0 && threadIdx.x == 0) all->counts[1] = chained;
  __syncthreads();
  for (uint32_t number = blockIdx.x * blockDim.x + threadIdx.x; number < all->counts[0];
       number += gridDim.x * blockDim.x) {
    const extent_owner owner = all->owners[number];
    const extent_last last = lasts[owner.bucket];
    const extent one = {(uint64_t)number << all->bits,
                        owner.number < last.number ? extent_size(all) : last.count,
                        (uint16_t)owner.bucket, all->one_key && all->one_key[owner.bucket]};
    if (owner.number <= last.number) all->list[firsts[owner.bucket] + owner.number] = one;
  }
}

} // namespace sample

#endif
