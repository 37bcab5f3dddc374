/* tile_bins.cuh - a block sorts a tile of pairs in shared memory.
 *
 * The range between the least key and the greatest is cut into bins of equal width, about as many
 * as there are pairs (policy.cuh), so that most bins get none, one or two:
 *
 *   count    counts the pairs of each bin
 *   place    computes where each bin begins: the prefix sums of the counts
 *   scatter  moves the tags of pairs to their bins, in any order: a tag is a pair's number and as
 *            many bits of its key as fit beside it
 *   sort     each thread sorts the tags of its bins; if tags tie, or are more than a few, it
 *            leaves them for the next step
 *   store    stores the pairs in order; those that were left are ranked within their bins first
 *
 * (Distributive partitioning: Dobosiewicz, "Sorting by distributive partitioning", 1978.) An
 * overfull bin, one with too many pairs to rank, then becomes a range of its own. All pairs differ,
 * so the least and the greatest of a range never fall into the same bin. So a range of keys of w
 * bits is split at most w / log2(bins) times, for any keys.
 */
#ifndef RECSORT_CUDA_SAMPLE_TILE_BINS_CUH
#define RECSORT_CUDA_SAMPLE_TILE_BINS_CUH

#include "cuda/sort/sample/agent/policy.cuh"
#include "cuda/sort/sample/block/bin_scale.cuh"
#include "cuda/sort/sample/block/pair_output.cuh"

namespace sample
{

/* True if pair `i` in shared memory goes before another pair. */
template <class Pair>
DEVICE_INLINE bool goes_before(const pair_array<Pair> *shared, uint32_t i, Pair other)
{
  const key_of<Pair> key = shared->keys[i];
  if constexpr (Pair::packed) {
    return key < other.key;
  } else {
    return key < other.key || (key == other.key && shared->indices[i] < other.index);
  }
}

/* ---- The least pair and the greatest ---- */

template <class Pair> struct min_max {
  Pair least, greatest;
};

template <class Pair> DEVICE_INLINE Pair pair_from_lane(Pair pair, uint32_t lanes)
{
  Pair other;
  other.key = key_from_lane(pair.key, threadIdx.x % WARP_SIZE ^ lanes);
  if constexpr (!Pair::packed) {
    other.index = __shfl_xor_sync(UINT32_MAX, pair.index, lanes);
  }
  return other;
}

template <class Pair> DEVICE_INLINE void widen(min_max<Pair> *range, Pair least, Pair greatest)
{
  if (pair_less(least, range->least)) range->least = least;
  if (pair_less(range->greatest, greatest)) range->greatest = greatest;
}

/* ---- A tile ---- */

/* The shared memory of a block that sorts, of sample_tile_bytes(). Pairs stay in place; their tags
 * move. */
template <class Pair> struct tile_storage {
  pair_array<Pair> pairs;
  uint32_t *tags;
  uint32_t *bins;
  void *end;
  uint32_t index_bits, limit;
};

template <class Pair>
DEVICE_INLINE tile_storage<Pair> tile_storage_at(void *shared, uint32_t index_bits, uint32_t limit)
{
  const uint32_t most = blockDim.x * policy<Pair>::items;
  tile_storage<Pair> tile;
  tile.pairs.keys = (key_of<Pair> *)shared;
  if constexpr (Pair::packed) {
    tile.tags = (uint32_t *)(tile.pairs.keys + most);
  } else {
    tile.pairs.indices = (index_of<Pair> *)(tile.pairs.keys + most);
    tile.tags = (uint32_t *)(tile.pairs.indices + most);
  }
  tile.bins = tile.tags + most;
  tile.end = tile.bins + blockDim.x * policy<Pair>::bins + 4;
  tile.index_bits = index_bits;
  tile.limit = limit;
  return tile;
}

/* The position of a pair among the bins, in 2^-32 bins. */
template <class Pair> DEVICE_INLINE uint64_t bin_position(const bin_scale<Pair> *scale, Pair pair)
{
  return device_product(lead_in(scale, pair), scale->factor);
}

/* Counts the thread's pairs in their bins, and sets each one's tag and slot: its bin, and its
 * position there. */
template <class Pair>
DEVICE_INLINE void count_bins(const tile_storage<Pair> *tile, const block_share *mine, bool whole,
                              const bin_scale<Pair> *scale, uint32_t *tags, uint32_t *slots)
{
  DEVICE_UNROLL
  for (uint32_t t = 0; t < (whole ? policy<Pair>::usual : policy<Pair>::items); t++) {
    if (!share_goes_on(mine, t, whole)) break;
    if (!share_has(mine, t, whole)) continue;
    const uint32_t i = share_at(mine, t);
    const uint64_t place = bin_position(scale, pair_get(&tile->pairs, i));
    const uint32_t bin = (uint32_t)(place >> 32);
    tags[t] = tag_of(place, i);
    slots[t] = bin << 16 | device_add32(&tile->bins[bin], 1);
  }
}

template <class Pair>
DEVICE_INLINE void write_tags(const tile_storage<Pair> *tile, const block_share *mine, bool whole,
                              const uint32_t *tags, const uint32_t *slots)
{
  DEVICE_UNROLL
  for (uint32_t t = 0; t < (whole ? policy<Pair>::usual : policy<Pair>::items); t++) {
    if (!share_goes_on(mine, t, whole)) break;
    if (!share_has(mine, t, whole)) continue;
    tile->tags[tile->bins[slots[t] >> 16] + (slots[t] & 0xffff)] = tags[t];
  }
}

/* Scatters the tags of the block's pairs to their bins, and notes overfull ones. By all threads of
 * the block. */
template <class Pair>
DEVICE_INLINE void scatter_to_bins(const tile_storage<Pair> *tile, const block_share *mine,
                                   uint32_t limit, const bin_scale<Pair> *scale,
                                   overfull_bins overfull)
{
  uint32_t tags[policy<Pair>::items] = {}, slots[policy<Pair>::items] = {};
  bins_clear(tile->bins, policy<Pair>::bin_groups);
  __syncthreads();
  if (mine->whole)
    count_bins(tile, mine, true, scale, tags, slots);
  else
    count_bins(tile, mine, false, scale, tags, slots);
  __syncthreads();
  bins_place(tile->bins, policy<Pair>::bin_groups, limit, overfull);
  __syncthreads();
  if (mine->whole)
    write_tags(tile, mine, true, tags, slots);
  else
    write_tags(tile, mine, false, tags, slots);
}

/* The rank in the tile of an unsorted pair: compares the tags of its bin or, if these tie, the
 * pairs. */
template <class Pair>
DEVICE_INLINE uint32_t rank_in_bin(const tile_storage<Pair> *tile, uint32_t bin, uint32_t tag,
                                   Pair pair)
{
  const uint32_t first = tile->bins[bin], end = tile->bins[bin + 1];
  const uint32_t low = tag - tag_number(tag), high = low + (1u << TAG_NUMBER_BITS);
  uint32_t less = first, not_greater = first;
  DEVICE_UNROLL_BY_4
  for (uint32_t k = first; k < end; k++) {
    less += tile->tags[k] < low;
    not_greater += tile->tags[k] < high;
  }
  if (not_greater - less == 1) return less;
  less = first;
  DEVICE_ROLLED
  for (uint32_t k = first; k < end; k++)
    less += goes_before(&tile->pairs, tag_number(tile->tags[k]), pair);
  return less;
}

/* Stores the pair of the thread's tag `t`, if it is sorted. Returns its bit, if it is left. */
template <class Pair>
DEVICE_INLINE uint32_t store_tagged(const tile_storage<Pair> *tile, const block_share *mine,
                                    uint32_t t, const pair_output<Pair> *out, bool simply)
{
  const uint32_t i = share_at(mine, t), tag = tile->tags[i];
  if (tag_is_sorted(tag)) store_pair(out, i, pair_get(&tile->pairs, tag_number(tag)), simply);
  return tag >> 31 << t;
}

/* Stores the pairs of the thread's sorted tags. Returns a bit for each tag that is left. `simply`,
 * a compile-time constant: out->simple. Otherwise there is so much code for each that it is not
 * repeated. */
template <class Pair>
DEVICE_INLINE uint32_t store_sorted(const tile_storage<Pair> *tile, const block_share *mine,
                                    bool whole, const pair_output<Pair> *out, bool simply)
{
  uint32_t left = 0;
  if (!simply) {
    DEVICE_ROLLED
    for (uint32_t t = 0; share_has(mine, t, false); t++)
      left |= store_tagged(tile, mine, t, out, false);
    return left;
  }
  DEVICE_UNROLL
  for (uint32_t t = 0; t < (whole ? policy<Pair>::usual : policy<Pair>::items); t++) {
    if (!share_goes_on(mine, t, whole)) break;
    if (share_has(mine, t, whole)) left |= store_tagged(tile, mine, t, out, true);
  }
  return left;
}

/* Ranks and stores the pairs of the tags that store_sorted left. */
template <class Pair>
DEVICE_INLINE void store_unranked(const tile_storage<Pair> *tile, const block_share *mine,
                                  uint32_t left, const bin_scale<Pair> *scale,
                                  const pair_output<Pair> *out)
{
  DEVICE_ROLLED
  for (; left; left &= left - 1) {
    const uint32_t tag = tile->tags[share_at(mine, device_first_lane(left))];
    const Pair pair = pair_get(&tile->pairs, tag_number(tag));
    const uint32_t bin = bin_at(lead_in(scale, pair), scale->factor);
    store_pair(out, rank_in_bin(tile, bin, tag, pair), pair, false);
  }
}

template <class Pair>
DEVICE_INLINE void store_all(const tile_storage<Pair> *tile, const block_share *mine,
                             const bin_scale<Pair> *scale, const pair_output<Pair> *out)
{
  const uint32_t left = !out->simple  ? store_sorted(tile, mine, false, out, false)
                        : mine->whole ? store_sorted(tile, mine, true, out, true)
                                      : store_sorted(tile, mine, false, out, true);
  store_unranked(tile, mine, left, scale, out);
}

/* The minimum and maximum over a warp, for all of its lanes. */
template <class Pair> DEVICE_INLINE min_max<Pair> warp_min_max(min_max<Pair> range)
{
  DEVICE_ROLLED
  for (uint32_t bit = WARP_SIZE / 2; bit > 0; bit /= 2) {
    const Pair least = pair_from_lane(range.least, bit);
    widen(&range, least, pair_from_lane(range.greatest, bit));
  }
  return range;
}

/* The minimum and maximum of the block's pairs, of which there is at least one. Uses the memory of
 * tags. By all threads of the block; one barrier. */
template <class Pair>
DEVICE_INLINE min_max<Pair> block_min_max(const tile_storage<Pair> *tile, const block_share *mine)
{
  min_max<Pair> *const ranges = (min_max<Pair> *)tile->tags; /* one for each warp */
  min_max<Pair> range;
  range.least.key = (key_of<Pair>)~(key_of<Pair>)0;
  range.greatest.key = 0;
  if constexpr (!Pair::packed) {
    range.least.index = (index_of<Pair>)~(index_of<Pair>)0;
    range.greatest.index = 0;
  }
  DEVICE_ROLLED
  for (uint32_t i = mine->first; i < mine->end; i += WARP_SIZE) {
    const Pair pair = pair_get(&tile->pairs, i);
    widen(&range, pair, pair);
  }
  range = warp_min_max(range);
  if (threadIdx.x % WARP_SIZE == 0) ranges[threadIdx.x / WARP_SIZE] = range;
  __syncthreads();
  range = ranges[threadIdx.x % WARP_SIZE % (blockDim.x / WARP_SIZE)];
  return warp_min_max(range);
}

/* The scale of a tile's own range, otherwise like block_min_max(). */
template <class Pair>
DEVICE_INLINE bin_scale<Pair> tile_scale(const tile_storage<Pair> *tile, const block_share *mine)
{
  const min_max<Pair> range = block_min_max(tile, mine);
  return scale_of(range.least, range.greatest, tile->index_bits, 0,
                  blockDim.x * policy<Pair>::bins);
}

/* Shared memory for the scale of a tile with overfull bins. As an argument it would cost registers
 * in all tiles. */
template <class Pair> DEVICE_INLINE bin_scale<Pair> *saved_scale()
{
  DEVICE_SHARED_ARRAY(bin_scale<Pair>, kept, 1);
  return kept;
}

} // namespace sample

#endif
