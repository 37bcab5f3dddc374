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

#include "cuda/sort/sample/agent/common.cuh"
#include "cuda/sort/sample/agent/policy.cuh"
#include "cuda/sort/sample/block/bins.cuh"

namespace sample
{

/* ---- Pairs ---- */

/* Copies only the index of a pair. */
template <class Pair>
DEVICE_INLINE void put_index(const pair_array<Pair> *to, uint64_t i, const pair_array<Pair> *from,
                             uint64_t at)
{
  if constexpr (!Pair::packed) {
    to->indices[i] = from->indices[at];
  }
}

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

/* ---- The range of keys, and its bins ---- */

/* The 32 bits after the first `zeros` bits of a key; these are not all of its bits. */
template <class Key> DEVICE_INLINE uint32_t lead_of_key(Key key, uint32_t zeros)
{
  if (sizeof(Key) == sizeof(uint32_t)) return (uint32_t)key << zeros;
  if (sizeof(Key) > sizeof(uint64_t)) {
    const uint64_t high = (uint64_t)((device_uint128)key >> 64);
    if (zeros <= 32) return lead_of(high, zeros);
    if (zeros < 64) return lead_of(high << 32 | (uint64_t)key >> 32, zeros - 32);
    return lead_of((uint64_t)key, zeros - 64);
  }
  return lead_of((uint64_t)key, zeros);
}

/* Maps a pair to its bin by its distance from the origin, of which it uses the most significant 32
 * bits. If key and index fit in 64 bits, the distance includes the index, and leaves out the low
 * zero bits that most keys share. */
template <class Pair> struct index_scale {
  uint64_t index_origin;
  uint32_t index_bits; /* 0: the distance does not include the index */
  uint32_t tail;       /* low zero bits that keys share */
};
template <> struct index_scale<packed_pair> {
};

template <class Pair> struct bin_scale : index_scale<Pair> {
  key_of<Pair> origin;
  uint32_t zeros;
  uint32_t factor;
};

/* The distance of a pair from the origin; `key` already is a distance. A key whose low bits are not
 * zero counts as the last index of the next lower key whose low bits are. */
template <class Pair>
DEVICE_INLINE uint64_t wide_in(const bin_scale<Pair> *scale, key_of<Pair> key, index_of<Pair> index)
{
  const key_of<Pair> head = key >> scale->tail;
  const uint64_t last = (UINT64_C(1) << scale->index_bits) - 1;
  const uint64_t place = head << scale->tail == key ? index : last;
  return ((uint64_t)head << scale->index_bits) + place - scale->index_origin;
}

/* The scale that cuts the range from `least` to `greatest`, inclusive, into `bins` bins. The two
 * keys, and most of those between them, agree in their last `tail` bits. */
template <class Pair>
DEVICE_INLINE bin_scale<Pair> scale_of(Pair least, Pair greatest, uint32_t index_bits,
                                       uint32_t tail, uint32_t bins)
{
  const key_of<Pair> range = greatest.key - least.key;
  bin_scale<Pair> scale;
  scale.origin = least.key;
  scale.zeros = range ? leading_zeros(range) : 0;
  uint32_t top = lead_of_key(range, scale.zeros);
  if constexpr (!Pair::packed) {
    const uint32_t bits = range ? 8 * sizeof(key_of<Pair>) - scale.zeros : tail;
    scale.index_bits = bits - tail + index_bits <= 64 ? index_bits : 0;
    scale.index_origin = least.index;
    scale.tail = tail;
    if (scale.index_bits) {
      const uint64_t wide = wide_in(&scale, range, greatest.index);
      scale.zeros = wide ? device_clz64(wide) : 0;
      top = lead_of(wide, scale.zeros);
    }
  }
  scale.factor = bin_factor(top, bins);
  return scale;
}

/* The most significant 32 bits of a pair's distance; bin_at() maps them to a bin. */
template <class Pair> DEVICE_INLINE uint32_t lead_in(const bin_scale<Pair> *scale, Pair pair)
{
  const key_of<Pair> key = pair.key - scale->origin;
  if constexpr (!Pair::packed) {
    if (scale->index_bits) return lead_of(wide_in(scale, key, pair.index), scale->zeros);
  }
  return lead_of_key(key, scale->zeros);
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

/* ---- Where sorted pairs go ---- */

/* Sorted pairs go to an array or, if packed, to the sink. If `chosen` is not 0, only `chosen` - 1
 * of `samples` pairs are stored, evenly spaced. `simple`: not chosen, and no sink of wide keys or
 * indices. */
template <class Pair> struct unpacked_output {
};
template <> struct unpacked_output<packed_pair> {
  pair_sink sink;
  uint32_t index_bits;
};

template <class Pair> struct tile_output : unpacked_output<Pair> {
  pair_array<Pair> to;
  uint32_t samples, chosen;
  bool simple;
};

template <class Pair>
DEVICE_INLINE void store_pair(const tile_output<Pair> *out, uint32_t rank, Pair pair, bool simply)
{
  if constexpr (Pair::packed) {
    if (simply) {
      if (out->sink.key_width == 32)
        ((uint32_t *)out->sink.keys)[rank] = (uint32_t)(pair.key >> out->index_bits);
      else
        ((uint64_t *)out->sink.keys)[rank] = pair.key >> out->index_bits;
      ((uint32_t *)out->sink.indices)[rank] =
          (uint32_t)pair.key & (uint32_t)((UINT64_C(1) << out->index_bits) - 1);
      return;
    }
  }
  if (!simply && out->chosen) {
    uint32_t number = (rank * out->chosen + out->samples - 1) / out->samples;
    for (; number < out->chosen && number * out->samples < (rank + 1) * out->chosen; number++)
      if (number) pair_put(&out->to, number - 1, pair);
    return;
  }
  if constexpr (Pair::packed) {
    store_unpacked(&out->sink, out->index_bits, rank, pair.key);
  } else {
    pair_put(&out->to, rank, pair);
  }
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

/* Stores the pairs of the thread's sorted tags. Returns a bit for each tag that is left. `simply`,
 * a compile-time constant: out->simple. */
template <class Pair>
DEVICE_INLINE uint32_t store_sorted(const tile_storage<Pair> *tile, const block_share *mine,
                                    bool whole, const tile_output<Pair> *out, bool simply)
{
  uint32_t left = 0;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < (whole ? policy<Pair>::usual : policy<Pair>::items); t++) {
    if (!share_goes_on(mine, t, whole)) break;
    if (!share_has(mine, t, whole)) continue;
    const uint32_t i = share_at(mine, t), tag = tile->tags[i];
    left |= tag >> 31 << t;
    if (tag_is_sorted(tag)) store_pair(out, i, pair_get(&tile->pairs, tag_number(tag)), simply);
  }
  return left;
}

/* Ranks and stores the pairs of the tags that store_sorted left. */
template <class Pair>
DEVICE_INLINE void store_unranked(const tile_storage<Pair> *tile, const block_share *mine,
                                  uint32_t left, const bin_scale<Pair> *scale,
                                  const tile_output<Pair> *out)
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
                             const bin_scale<Pair> *scale, const tile_output<Pair> *out)
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
