/* overflow.cuh - sorts a padded bucket that overflowed: a block reads all pairs, collects those of
 * the bucket, and sorts them as a tile; in several rounds if they are more than one. */
#ifndef RECSORT_CUDA_SAMPLE_OVERFLOW_CUH
#define RECSORT_CUDA_SAMPLE_OVERFLOW_CUH

#include "cuda/sort/sample/agent/load.cuh"
#include "cuda/sort/sample/agent/tile_sort.cuh"

namespace sample
{

/* Pairs in [low, high); either bound may be missing. */
template <class Pair> struct part_bounds {
  Pair low, high;
  bool has_low, has_high;
};

/* The bounds of a bucket: its splitters. */
template <class Pair>
DEVICE_INLINE part_bounds<Pair> bucket_bounds(const splitter_set<Pair> *set, uint32_t bucket)
{
  part_bounds<Pair> part = {{}, {}, bucket > 0, bucket + 1 < set->buckets};
  if (part.has_low) part.low = pair_get(&set->splitters, bucket - 1);
  if (part.has_high) part.high = pair_get(&set->splitters, bucket);
  return part;
}

/* What a block has collected from the pairs that it read. */
struct collection {
  uint64_t below; /* pairs below the bounds */
  uint32_t count; /* pairs within the bounds; the tile may have had space for fewer */
};

/* Copies the pairs within the bounds to the tile, unordered, until it is full, and counts them all.
 * By all threads of the block; all must have read `found` of the previous round, as they have
 * before they sort a tile. */
template <class Pair>
DEVICE_INLINE void collect(const tile_work<Pair> *work, const tile_storage<Pair> *tile,
                           uint64_t count, const part_bounds<Pair> *bounds, collection *found)
{
  uint64_t below = 0;
  if (threadIdx.x == 0) found->below = 0;
  if (threadIdx.x == 0) found->count = 0;
  __syncthreads();
  for (uint64_t done = 0; done < count; done += (uint64_t)blockDim.x * policy<Pair>::items) {
    const uint32_t some =
        (uint32_t)plan_min(count - done, (uint64_t)blockDim.x * policy<Pair>::items);
    const block_share share = share_of(some, policy<Pair>::items, policy<Pair>::items);
    Pair mine[policy<Pair>::items] = {};
    load_items<READS_KEYS>(&work->source, neighbours{done}, &share, policy<Pair>::items, false,
                           mine);
    DEVICE_UNROLL
    for (uint32_t t = 0; t < policy<Pair>::items; t++) {
      if (!share_has(&share, t, false)) continue;
      if (bounds->has_low && pair_less(mine[t], bounds->low)) {
        below++;
      } else if (!bounds->has_high || pair_less(mine[t], bounds->high)) {
        const uint32_t at = device_add32(&found->count, 1);
        if (at < work->tile) pair_put(&tile->pairs, at, mine[t]);
      }
    }
  }
  for (uint32_t lanes = WARP_SIZE / 2; lanes > 0; lanes /= 2)
    below += __shfl_xor_sync(UINT32_MAX, below, lanes);
  if (threadIdx.x % WARP_SIZE == 0 && below) (void)device_add64(&found->below, below);
  __syncthreads();
}

/* Sorts those of `count` pairs that lie within the bounds, and stores them where they belong. If
 * they are more than a tile, it tries again up to the median of those collected, and goes on from
 * there. By all threads of the block. */
template <class Pair>
DEVICE_INLINE void sort_part(const tile_work<Pair> *work, const tile_storage<Pair> *tile,
                             collection *found, uint64_t count, const part_bounds<Pair> *part)
{
  const pair_array<Pair> middle = pair_array_at<Pair>(tile->end, 1);
  part_bounds<Pair> go = *part;
  for (bool all = false; !all;) {
    collect(work, tile, count, &go, found);
    const bool full = found->count > work->tile;
    const pair_output<Pair> out =
        full ? choice_of(middle, work->tile, 2)
             : output_of(&work->target, found->below, work->source.index_bits);
    sort_tile(tile, full ? work->tile : found->count, &out);
    if (full) {
      __syncthreads();
      go.high = pair_get(&middle, 0);
      go.has_high = true;
      continue;
    }
    all = go.has_high == part->has_high && (!part->has_high || !pair_less(go.high, part->high));
    go = {go.high, part->high, true, part->has_high};
  }
}

/* Sorts a padded bucket that overflowed, by collecting its pairs from the whole input. Not inlined,
 * as it hardly ever happens; it gets the address of shared memory itself, as sort_rest does. */
template <class Pair>
DEVICE_APART void sort_overflow(const tile_work<Pair> *work, uint64_t all, uint32_t bucket)
{
  void *const shared = device_shared_memory();
  DEVICE_SHARED_ARRAY(collection, found, 1);
  const tile_storage<Pair> tile =
      tile_storage_at<Pair>(shared, work->source.index_bits, work->limit);
  const part_bounds<Pair> part = bucket_bounds(&work->set, bucket);
  DEVICE_PATH("padded overflow");
  sort_part(work, &tile, found, all, &part);
}

} // namespace sample

#endif
