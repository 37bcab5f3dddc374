/* bucket_lookup.cuh - which bucket of a segment a pair belongs to: how many of its splitters are
 * not greater. The range of the splitters' keys is cut into bins, and a table tells for each how
 * many splitters are below it; mostly that is the answer. Otherwise a search begins there. All bins
 * are as wide, or, where splitters would crowd in few of them, each power of two of the range has
 * as many.
 */
#ifndef RECSORT_CUDA_SAMPLE_BUCKET_LOOKUP_CUH
#define RECSORT_CUDA_SAMPLE_BUCKET_LOOKUP_CUH

#include "cuda/sample/agent/load.cuh"
namespace sample
{

/* Whether the bin of a pair depends on its index. */
template <class Pair> DEVICE_INLINE bool lookup_wants_index(const bucket_lookup<Pair> *lookup)
{
  if constexpr (Pair::packed) {
    return false;
  } else {
    return lookup->scale.index_bits > 0;
  }
}

/* Whether bins are those of keys alone, all as wide: as they mostly are. */
template <class Pair> DEVICE_INLINE bool lookup_is_plain(const bucket_lookup<Pair> *lookup)
{
  return lookup->exponential_bits == 0 && !lookup_wants_index(lookup);
}

/* The last bin is for what is above all splitters. `plainly`: a constant. */
template <class Pair>
DEVICE_INLINE uint32_t lookup_bin(const bucket_lookup<Pair> *lookup, uint32_t bins, Pair pair,
                                  bool plainly)
{
  const bin_scale<Pair> *const scale = &lookup->scale;
  const key_of<Pair> key = pair.key - scale->origin; /* of a lesser one: very great */
  bool within = key <= lookup->range, below = pair.key < scale->origin;
  uint32_t lead = 0;
  bool by_index = false;
  if constexpr (!Pair::packed) by_index = !plainly && scale->index_bits;
  if constexpr (!Pair::packed) {
    if (by_index) {
      const uint64_t wide = wide_in(scale, key, pair.index);
      within = within && wide <= lookup->wide_range;
      below = below || (key == 0 && pair.index < scale->index_origin);
      lead = lead_of(wide, scale->zeros);
    }
  }
  if (!by_index) lead = lead_of_key(key, scale->zeros);
  if (!within) return below ? 0 : bins - 1;
  return !plainly && lookup->exponential_bits ? exponential_bin(lead, lookup->exponential_bits)
                                              : bin_at(lead, scale->factor);
}

/* That of an index, where all splitters and pairs have one key. */
template <class Pair>
DEVICE_INLINE uint32_t lookup_index_bin(const bucket_lookup<Pair> *lookup, uint32_t bins,
                                        index_of<Pair> index)
{
  const uint64_t from = (uint64_t)index - lookup->scale.index_origin;
  if (from > lookup->wide_range) return index < lookup->scale.index_origin ? 0 : bins - 1;
  return bin_at(lead_of(from, lookup->scale.zeros), lookup->scale.factor);
}

/* Bits of the range, of which a lead tells the first 32. */
template <class Pair> DEVICE_INLINE uint32_t lookup_bits(const bucket_lookup<Pair> *lookup)
{
  if constexpr (!Pair::packed) {
    if (lookup->scale.index_bits) return lookup->wide_range ? 64 - lookup->scale.zeros : 0;
  }
  return lookup->range ? 8 * sizeof(key_of<Pair>) - lookup->scale.zeros : 0;
}

/* The least pair of a bin that is neither the first nor the last. */
template <class Pair>
DEVICE_INLINE Pair lookup_pair(const bucket_lookup<Pair> *lookup, uint32_t bin)
{
  const bin_scale<Pair> *const scale = &lookup->scale;
  const uint64_t all = (uint64_t)bin << 32;
  const uint64_t lead = lookup->exponential_bits > 0
                            ? exponential_lead(bin, lookup->exponential_bits)
                            : (all + scale->factor - 1) / scale->factor;
  const uint32_t bits = lookup_bits(lookup), more = bits > 32 ? bits - 32 : 0;
  const uint32_t less = bits < 32 ? 32 - bits : 0;
  const uint64_t least = (lead + (UINT64_C(1) << less) - 1) >> less; /* of `more` bits less */
  Pair pair = {};
  if constexpr (!Pair::packed) {
    if (scale->index_bits) {
      const uint64_t wide = (least << more) + scale->index_origin;
      pair.key = scale->origin + ((key_of<Pair>)(wide >> scale->index_bits) << scale->tail);
      pair.index = (index_of<Pair>)(wide & ((UINT64_C(1) << scale->index_bits) - 1));
      return pair;
    }
  }
  pair.key = scale->origin + ((key_of<Pair>)least << more);
  return pair;
}

/* Whether a splitter is the only one in its bin, and far from others. */
DEVICE_INLINE bool is_movable(const uint32_t *bins, uint32_t last, uint32_t i)
{
  enum { LIGHT = 4 }; /* bins from one splitter to the next */
  return i > 0 && i < last && bins[i] >= bins[i - 1] + LIGHT && bins[i + 1] >= bins[i] + LIGHT;
}

/* The first stride of a search in the fullest bin: a power of two, and as many splitters are
 * there, but not twice as many. Two barriers. */
DEVICE_INLINE uint32_t stride_of(const uint32_t *bins, uint32_t splitters)
{
  DEVICE_SHARED_ARRAY(uint32_t, strides, 1);
  if (threadIdx.x == 0) strides[0] = 1;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < splitters; i += blockDim.x) {
    uint32_t stride = 1;
    while (i + 2 * stride <= splitters && bins[i + 2 * stride - 1] == bins[i])
      stride *= 2;
    if (stride > 1) (void)device_or32(strides, stride);
  }
  __syncthreads();
  return 1u << (31 - device_clz32(strides[0]));
}

/* Of the splitters; and what the lookup should know of bins: either all are as wide, or, if there
 * are enough, each power of two has as many. Three barriers. */
template <class Pair>
DEVICE_INLINE void set_lookup_bins(const splitter_set<Pair> *set, const pair_array<Pair> *splitters,
                                   bool exponential, uint32_t *bins, bucket_lookup<Pair> *lookup)
{
  lookup->exponential_bits = exponential ? exponential_bits_of(set->bins) : 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i + 1 < set->buckets; i += blockDim.x)
    bins[i] = lookup_bin(lookup, set->bins, pair_get(splitters, i), false);
  lookup->stride = stride_of(bins, set->buckets - 1);
}

/* In how many zeros all keys of splitters end, from the first one's on. Two barriers. */
template <class Pair>
DEVICE_INLINE uint32_t tail_of(const pair_array<Pair> *splitters, uint32_t count)
{
  if constexpr (Pair::packed) {
    return 0;
  } else {
    DEVICE_SHARED_ARRAY(uint64_t, ends, 2);
    key_of<Pair> end = 0;
    if (threadIdx.x < 2) ends[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
      end |= splitters->keys[i] - splitters->keys[0];
    if ((uint64_t)end) (void)device_or64(&ends[0], (uint64_t)end);
    if (sizeof end > sizeof *ends)
      (void)device_or64(&ends[1], (uint64_t)((device_uint128)end >> 64));
    __syncthreads();
    for (uint32_t i = 0; i < 2; i++)
      if (ends[i]) return 64 * i + 63 - device_clz64(ends[i] & (0 - ends[i]));
    return 0;
  }
}

/* Splitter `i` as it will be: moved to where the next bin begins, if it can be. */
template <class Pair>
DEVICE_INLINE Pair moved_splitter(const bucket_lookup<Pair> *lookup,
                                  const pair_array<Pair> *splitters, const uint32_t *bins,
                                  uint32_t last, uint32_t i)
{
  return is_movable(bins, last, i) ? lookup_pair(lookup, bins[i] + 1) : pair_get(splitters, i);
}

/* From a segment's splitters, which are in shared memory; their bins go there, too. Some are
 * moved: so most bins lie in one bucket, and need no search. A block makes part `part` of so
 * many. Where `one_key` is not NULL, it tells which buckets have one key. */
template <class Pair>
DEVICE_INLINE void make_lookup(const splitter_set<Pair> *set, uint32_t segment,
                               const pair_array<Pair> *splitters, uint32_t *bins, bool *one_key,
                               uint32_t part, uint32_t parts)
{
  enum { CROWD = 4 }; /* splitters of a bin */
  const uint64_t first = (uint64_t)segment * set->buckets;
  const uint32_t last = set->buckets - 2, every = parts * blockDim.x;
  uint16_t *const table = set->tables + (uint64_t)segment * set->bins;
  const Pair least = pair_get(splitters, 0), greatest = pair_get(splitters, last);
  bucket_lookup<Pair> lookup;
  const uint32_t tail = tail_of(splitters, last + 1);
  lookup.scale = scale_of(least, greatest, set->index_bits, tail, set->bins - 1);
  lookup.range = greatest.key - least.key;
  if constexpr (!Pair::packed) {
    lookup.wide_range = wide_in(&lookup.scale, lookup.range, greatest.index);
  }
  set_lookup_bins(set, splitters, false, bins, &lookup);
  if (lookup.stride >= CROWD) {
    const uint32_t stride = lookup.stride;
    set_lookup_bins(set, splitters, true, bins, &lookup);
    if (lookup.stride >= stride) set_lookup_bins(set, splitters, false, bins, &lookup);
  }
  if (part == 0 && threadIdx.x == 0) set->lookups[segment] = lookup;
  for (uint32_t i = part * blockDim.x + threadIdx.x; i <= last; i += every) {
    const Pair splitter = moved_splitter(&lookup, splitters, bins, last, i);
    pair_put(&set->splitters, first + i, splitter);
    if constexpr (!Pair::packed) {
      if (!one_key) continue;
      const uint32_t before = i - (i > 0);
      one_key[i] =
          i > 0 && moved_splitter(&lookup, splitters, bins, last, before).key == splitter.key;
      if (i == last) one_key[last + 1] = false;
    }
  }
  for (uint32_t bin = part * blockDim.x + threadIdx.x; bin < set->bins; bin += every) {
    const uint32_t low = count_below(bins, last + 1, bin);
    const uint32_t high = count_below(bins, last + 1, bin + 1);
    const bool one = low == high || (low + 1 == high && is_movable(bins, last, low));
    table[bin] = (uint16_t)(low | (one ? ONE_BUCKET : 0));
  }
}

/* What a block has in shared memory of the segment whose pairs it takes. */
template <class Pair> struct lookup_storage {
  bucket_lookup<Pair> lookup;
  pair_array<Pair> splitters;
  uint32_t *counts;
  uint16_t *table;
  bool one_key; /* the pairs have that of the splitters, and of them only indices are there */
};

/* Whether the pair of a key, number `i`, is not less than a splitter. Its index is looked at only
 * where it matters. */
template <class Pair>
DEVICE_INLINE bool is_right(const pair_source<Pair> *source, const lookup_storage<Pair> *search,
                            uint32_t splitter, key_of<Pair> key, uint64_t i)
{
  const key_of<Pair> bound = search->splitters.keys[splitter];
  if constexpr (!Pair::packed) {
    if (bound == key) return search->splitters.indices[splitter] <= load_index(source, i);
  }
  return bound <= key;
}

/* Before a search, by the table: another bit tells that there is none. */
template <class Pair>
DEVICE_INLINE void first_buckets(const pair_source<Pair> *source, const splitter_set<Pair> *set,
                                 const lookup_storage<Pair> *search, uint64_t begin,
                                 const block_share *share, bool whole, const key_of<Pair> *keys,
                                 uint32_t *buckets)
{
  Pair mine[policy<Pair>::batch] = {};
  DEVICE_UNROLL
  for (uint32_t t = 0; t < policy<Pair>::batch; t++)
    mine[t].key = keys[t];
  if (lookup_is_plain(&search->lookup)) {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < policy<Pair>::batch; t++)
      buckets[t] = search->table[lookup_bin(&search->lookup, set->bins, mine[t], true)];
    return;
  }
  if constexpr (!Pair::packed) {
    const bool wanted = lookup_wants_index(&search->lookup);
    DEVICE_UNROLL
    for (uint32_t t = 0; t < policy<Pair>::batch; t++)
      mine[t].index =
          wanted && share_has(share, t, whole) ? load_index(source, begin + share_at(share, t)) : 0;
    if (search->one_key && wanted && search->lookup.exponential_bits == 0) {
      DEVICE_UNROLL
      for (uint32_t t = 0; t < policy<Pair>::batch; t++)
        buckets[t] = search->table[lookup_index_bin(&search->lookup, set->bins, mine[t].index)];
      return;
    }
  }
  DEVICE_UNROLL
  for (uint32_t t = 0; t < policy<Pair>::batch; t++)
    buckets[t] = search->table[lookup_bin(&search->lookup, set->bins, mine[t], false)];
}

/* A power of two, and half of the splitters or more. */
template <class Pair> DEVICE_INLINE uint32_t first_stride(const splitter_set<Pair> *set)
{
  return set->buckets > 2 ? 1u << (31 - device_clz32(set->buckets - 1)) : 1;
}

/* The buckets of a batch of a thread's share of the pairs from `begin` on: for each how many
 * splitters are not greater. The table, if there is one, gives most of them; the others are searched
 * for step by step together, so that they need not wait for each other. */
template <class Pair>
DEVICE_INLINE void find_buckets(const pair_source<Pair> *source, const splitter_set<Pair> *set,
                                const lookup_storage<Pair> *search, uint64_t begin,
                                const block_share *share, bool whole, const key_of<Pair> *keys,
                                uint32_t *buckets)
{
  uint32_t stride = set->mode == LOOKUP_BY_TABLE ? search->lookup.stride : first_stride(set);
  DEVICE_UNROLL
  for (uint32_t t = 0; t < policy<Pair>::batch; t++)
    buckets[t] = 0;
  if (set->mode == LOOKUP_BY_TABLE)
    first_buckets(source, set, search, begin, share, whole, keys, buckets);
  DEVICE_ROLLED
  for (; stride > 0; stride /= 2) {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < policy<Pair>::batch; t++) {
      const uint32_t next = buckets[t] + stride;
      if (!share_goes_on(share, t, whole)) break;
      if (next >= set->buckets || !share_has(share, t, whole)) continue;
      if (is_right(source, search, next - 1, keys[t], begin + share_at(share, t)))
        buckets[t] = next;
    }
  }
  DEVICE_UNROLL
  for (uint32_t t = 0; t < policy<Pair>::batch; t++)
    buckets[t] %= ONE_BUCKET;
}

/* Some neighbours of a table. */
struct DEVICE_ALIGNED(16) table_entries {
  uint64_t of[2];
};

/* Splitters and table of a segment; and the counts of its buckets cleared. */
template <class Pair>
DEVICE_INLINE void load_lookup(const splitter_set<Pair> *set, uint32_t segment,
                               lookup_storage<Pair> *search)
{
  enum { ENTRIES = sizeof(table_entries) / sizeof(uint16_t) };
  const uint64_t first = (uint64_t)segment * set->buckets;
  const table_entries *const table =
      (const table_entries *)(set->tables + (uint64_t)segment * set->bins);
  if (set->mode == LOOKUP_BY_TABLE) search->lookup = set->lookups[segment];
  for (uint32_t i = threadIdx.x; i < set->buckets; i += blockDim.x) {
    if (i + 1 < set->buckets) pair_put(&search->splitters, i, pair_get(&set->splitters, first + i));
    search->counts[i] = 0;
  }
  for (uint32_t i = threadIdx.x; i < set->bins / ENTRIES; i += blockDim.x)
    ((table_entries *)search->table)[i] = table[i];
  __syncthreads();
}

/* For splitters, so many that what comes behind is aligned. */
template <class Pair>
RECSORT_HD static inline uint32_t lookup_capacity(const splitter_set<Pair> *set)
{
  return (set->buckets + 3) / 4 * 4;
}

template <class Pair>
DEVICE_INLINE lookup_storage<Pair> lookup_storage_at(const splitter_set<Pair> *set, void *at)
{
  lookup_storage<Pair> search;
  const uint32_t most = lookup_capacity(set);
  search.splitters = pair_array_at<Pair>(at, most);
  if constexpr (Pair::packed) {
    search.counts = (uint32_t *)(search.splitters.keys + most);
  } else {
    search.counts = (uint32_t *)(search.splitters.indices + most);
  }
  search.table = (uint16_t *)(search.counts + most);
  search.one_key = false;
  return search;
}

template <class Pair> static uint64_t lookup_bytes(const splitter_set<Pair> *set)
{
  return lookup_capacity(set) * (uint64_t)(Pair::bytes + sizeof(uint32_t)) +
         set->bins * sizeof(uint16_t);
}

} // namespace sample

#endif
