/* tile_sort.cuh - a tile of pairs sorted in shared memory by one block (tile_bins.cuh).
 */
#ifndef RECSORT_CUDA_SAMPLE_TILE_SORT_CUH
#define RECSORT_CUDA_SAMPLE_TILE_SORT_CUH

#include "cuda/sample/agent/overfull_bins.cuh"

namespace sample
{

/* The most pairs of a bin that is not overfull, such that there is space for all overfull ones. */
template <class Pair>
DEVICE_INLINE uint32_t limit_of(const tile_storage<Pair> *tile, uint32_t count)
{
  return (uint32_t)plan_max(tile->limit, count / MOST_OVERFULL);
}

/* The tags of the block's pairs, each of which its own thread has put to the tile, to where these
 * go, but for those that are left. The scale may be known. */
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

/* Afterwards; `count` pairs in all, `each` a thread; this one's are `mine`. Other threads may still
 * be busy with shared memory when one returns. */
template <class Pair>
DEVICE_INLINE void store_tile(const tile_storage<Pair> *tile, uint32_t count, uint32_t each,
                              const block_share *mine, uint32_t limit, const bin_scale<Pair> *scale,
                              const tile_output<Pair> *out)
{
  if (*overfull_list(0).count > 0) {
    if (threadIdx.x == 0) *saved_scale<Pair>() = *scale;
    sort_rest(tile->index_bits, limit, count, each, *out);
    return;
  }
  __syncthreads();
  store_all(tile, mine, scale, out);
}

/* Sorts the first `count` pairs of a tile, which threads have put there as their share of
 * policy<Pair>::items. */
template <class Pair>
DEVICE_INLINE void sort_tile(const tile_storage<Pair> *tile, uint32_t count,
                             const tile_output<Pair> *out)
{
  const uint32_t limit = limit_of(tile, count);
  const block_share mine = share_of(count, policy<Pair>::items, policy<Pair>::usual);
  bin_scale<Pair> scale;
  sort_bins(tile, &mine, limit, false, &scale);
  store_tile(tile, count, policy<Pair>::items, &mine, limit, &scale, out);
}

} // namespace sample

#endif
