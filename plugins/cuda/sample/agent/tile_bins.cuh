/* tile_bins.cuh - a tile of pairs sorted in shared memory by one block.
 *
 * The range between the least key and the greatest is cut into as many bins of equal width as
 * there are pairs, or twice as many, so that most bins get none, one or two:
 *
 *   count    how many pairs fall into each bin
 *   place    where each bin begins: the sums of the counts before
 *   scatter  to each bin the tags of its pairs, in any order: a pair's number, and as many bits
 *            of its key as there is space for beside it
 *   sort     each thread sorts the few tags of its bins; where they tie, or are more than a few,
 *            it leaves them for the next step
 *   store    pairs to where they belong; those that were left are ranked among all of their bin
 *
 * (Distributive partitioning: Dobosiewicz, "Sorting by distributive partitioning", 1978.) A bin
 * with more pairs than are soon ranked becomes a range of its own afterwards. As all pairs differ,
 * the least and the greatest of a range never fall into the same bin; so a range of keys of w bits
 * is narrowed by the number of bins at most w / log2(bins) times, whatever the keys are like.
 */
#ifndef RECSORT_CUDA_SAMPLE_TILE_BINS_CUH
#define RECSORT_CUDA_SAMPLE_TILE_BINS_CUH

#include "cuda/sample/agent/common.cuh"
#include "cuda/sample/agent/policy.cuh"
#include "cuda/sample/block/bins.cuh"

namespace sample
{

/* ---- Pairs ---- */

/* Its index alone. */
template <class Pair>
DEVICE_INLINE void put_index(const pair_array<Pair> *to, uint64_t i, const pair_array<Pair> *from,
                             uint64_t at)
{
  if constexpr (!Pair::packed) {
    to->indices[i] = from->indices[at];
  }
}

/* Whether pair `i` of those in shared memory goes before another one. */
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

/* Of what is not 0. */
template <class Key> DEVICE_INLINE uint32_t leading_zeros(Key key)
{
  if (sizeof(Key) == sizeof(uint32_t)) return device_clz32((uint32_t)key);
  if (sizeof(Key) > sizeof(uint64_t)) {
    const uint64_t high = (uint64_t)((device_uint128)key >> 64);
    return high ? device_clz64(high) : 64 + device_clz64((uint64_t)key);
  }
  return device_clz64((uint64_t)key);
}

/* The 32 bits behind the first `zeros` of a key, which are not all of its bits. */
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

/* From a key to its bin: how far it is from the origin, in the 32 bits that tell most. Where there
 * is space in 64 bits the index is a part of that, behind the key, without the zeros that keys end
 * in: as far as it is known, that is, as some may not. */
template <class Pair> struct index_scale {
  uint64_t index_origin;
  uint32_t index_bits; /* of the index; 0: the key alone */
  uint32_t tail;       /* zeros that keys end in */
};
template <> struct index_scale<packed_pair> {
};

template <class Pair> struct bin_scale : index_scale<Pair> {
  key_of<Pair> origin;
  uint32_t zeros;
  uint32_t factor;
};

/* The key, from the origin on, and the index. A key that does not end in zeros goes behind all
 * indices of the greatest one before that does. */
template <class Pair>
DEVICE_INLINE uint64_t wide_in(const bin_scale<Pair> *scale, key_of<Pair> key, index_of<Pair> index)
{
  const key_of<Pair> head = key >> scale->tail;
  const uint64_t last = (UINT64_C(1) << scale->index_bits) - 1;
  const uint64_t place = head << scale->tail == key ? index : last;
  return ((uint64_t)head << scale->index_bits) + place - scale->index_origin;
}

/* What lies between two pairs, the greatest of all included, in so many bins. Their keys, and most
 * of those between them, differ in none of their last `tail` bits. */
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

/* The 32 bits that tell most: its bin is bin_at() of them. */
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

/* To an array, or to the sink (packed pairs only). If `chosen`: of `samples` pairs only so many
 * less one, at even distances. Simple: neither chosen, nor to a sink of wide keys or indices. */
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

/* Shared memory of a block that sorts; sample_tile_bytes(). Pairs stay where they are put; their
 * tags move. */
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

/* Where it lies among bins, in 2^32ths of one. */
template <class Pair> DEVICE_INLINE uint64_t bin_position(const bin_scale<Pair> *scale, Pair pair)
{
  return device_product(lead_in(scale, pair), scale->factor);
}

/* A thread's pairs to their bins' counts: the tag of each, and its slot: its bin, and its place
 * there. */
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

/* The tags of the block's pairs to their bins. */
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

/* Where the pair of a tag that is left goes, which is of some bin: by the bin's tags, or, where
 * these tie, by the pairs. */
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

/* The pairs of a thread's tags to where they go, but for those that are left: a bit for each.
 * `simply`: a constant, and as most do. */
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

/* The pairs of tags that are left, unless their bins are overfull. */
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

/* Of all lanes, for all of them. */
template <class Pair> DEVICE_INLINE min_max<Pair> warp_min_max(min_max<Pair> range)
{
  DEVICE_ROLLED
  for (uint32_t bit = WARP_SIZE / 2; bit > 0; bit /= 2) {
    const Pair least = pair_from_lane(range.least, bit);
    widen(&range, least, pair_from_lane(range.greatest, bit));
  }
  return range;
}

/* Of the block's pairs, at least one. There are no tags yet. One barrier. */
template <class Pair>
DEVICE_INLINE min_max<Pair> block_min_max(const tile_storage<Pair> *tile, const block_share *mine)
{
  min_max<Pair> *const ranges = (min_max<Pair> *)tile->tags; /* a warp's */
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

/* Likewise. */
template <class Pair>
DEVICE_INLINE bin_scale<Pair> tile_scale(const tile_storage<Pair> *tile, const block_share *mine)
{
  const min_max<Pair> range = block_min_max(tile, mine);
  return scale_of(range.least, range.greatest, tile->index_bits, 0,
                  blockDim.x * policy<Pair>::bins);
}

/* Where the scale of a tile with overfull bins is kept: to hand it over would take registers of all
 * others. */
template <class Pair> DEVICE_INLINE bin_scale<Pair> *saved_scale()
{
  DEVICE_SHARED_ARRAY(bin_scale<Pair>, kept, 1);
  return kept;
}

} // namespace sample

#endif
