/* tile_sort.cuh - puts the steps of tile_bins.cuh and overfull_bins.cuh together. */
#ifndef RECSORT_CUDA_SAMPLE_TILE_SORT_CUH
#define RECSORT_CUDA_SAMPLE_TILE_SORT_CUH

#include "cuda/sort/sample/agent/overfull_bins.cuh"

namespace sample
{

/* The most pairs of a bin that is not overfull, large enough that the list has space for all
 * overfull bins. */
template <class Pair>
DEVICE_INLINE uint32_t limit_of(const tile_storage<Pair> *tile, uint32_t count)
{
  return (uint32_t)plan_max(tile->limit, count / MOST_OVERFULL);
}

/* Sorts the tags of the tile into their bins, and marks those that are left for later. Each thread
 * has stored its own pairs in the tile. Computes the scale unless it is known. By all threads of
 * the block. */
template <class Pair>
DEVICE_INLINE void sort_bins(const tile_storage<Pair> *tile, const block_share *mine,
                             uint32_t limit, bool known, bin_scale<Pair> *scale)
{
  const overfull_bins overfull = overfull_list(0);
  overfull_forget(overfull);
  if (!known) *scale = tile_scale(tile, mine);
  scatter_to_bins(tile, mine, limit, scale, overfull);
  __syncthreads();
  bins_sort(tile->tags, tile->bins, policy<Pair>::bin_groups, limit);
}

/* Stores the pairs after sort_bins: `count` pairs, `each` for a thread, of which `mine` is the
 * share of this one. By all threads of the block; others may still be using shared memory when one
 * returns. */
template <class Pair>
DEVICE_INLINE void store_tile(const tile_storage<Pair> *tile, uint32_t count, uint32_t each,
                              const block_share *mine, uint32_t limit, const bin_scale<Pair> *scale,
                              const pair_output<Pair> *out)
{
  if (*overfull_list(0).count > 0) {
    if (threadIdx.x == 0) *saved_scale<Pair>() = *scale;
    sort_rest(tile->index_bits, limit, count, each, *out);
    return;
  }
  __syncthreads();
  store_all(tile, mine, scale, out);
}

/* Sorts the first `count` pairs of a tile, where each thread has stored its share of
 * policy<Pair>::items. By all threads of the block. */
template <class Pair>
DEVICE_INLINE void sort_tile(const tile_storage<Pair> *tile, uint32_t count,
                             const pair_output<Pair> *out)
{
  const uint32_t limit = limit_of(tile, count);
  const block_share mine = share_of(count, policy<Pair>::items, policy<Pair>::usual);
  bin_scale<Pair> scale;
  sort_bins(tile, &mine, limit, false, &scale);
  store_tile(tile, count, policy<Pair>::items, &mine, limit, &scale, out);
}

} // namespace sample

#endif
