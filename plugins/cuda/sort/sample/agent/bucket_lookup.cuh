/* bucket_lookup.cuh - finds the bucket of a pair: the number of splitters that are
 * not greater than the pair. The range of the splitters' keys is cut into bins. A table holds the
 * number of splitters below each bin, which is usually the answer; otherwise a search starts from
 * it. Bins have equal widths, or grow exponentially if splitters would crowd into few of them.
 */
#ifndef RECSORT_CUDA_SAMPLE_BUCKET_LOOKUP_CUH
#define RECSORT_CUDA_SAMPLE_BUCKET_LOOKUP_CUH

#include "cuda/sort/sample/agent/load.cuh"

namespace sample
{

#define ONE_BUCKET (1u << 15) /* in a table entry: the bin lies in one bucket */

/* The number of elements of an ascending array that are less than `bound`. */
DEVICE_INLINE uint32_t count_below(const uint32_t *numbers, uint32_t count, uint32_t bound)
{
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (numbers[middle] < bound)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ---- Exponential bins: their widths grow with their leads ---- */

/* The number of bits after the leading 1 of a lead that select its bin, if there are `bins`
 * bins. */
DEVICE_INLINE uint32_t exponential_bits_of(uint32_t bins)
{
  return bins >= 64 ? 31 - device_clz32(bins / 32) : 0;
}

DEVICE_INLINE uint32_t exponential_bin(uint32_t lead, uint32_t bits)
{
  DEVICE_ASSERT(bits <= 31);
  const uint32_t zeros = device_clz32(lead | 1);
  return ((30 - zeros) << bits) + ((lead | 1) << zeros >> (31 - bits));
}

/* The least lead that falls into a bin. */
DEVICE_INLINE uint64_t exponential_lead(uint32_t bin, uint32_t bits)
{
  const uint64_t all = UINT64_C(1) << bits, first = all | (bin & (all - 1));
  return ((first << (bin >> bits)) + all - 1) >> bits;
}

/* ---- The lookup ---- */

/* True if the bin of a pair depends on its index. */
template <class Pair> DEVICE_INLINE bool lookup_wants_index(const bucket_lookup<Pair> *lookup)
{
  if constexpr (Pair::packed) {
    return false;
  } else {
    return lookup->scale.index_bits > 0;
  }
}

/* True if bins depend on keys only and have equal widths, as is usual. */
template <class Pair> DEVICE_INLINE bool lookup_is_plain(const bucket_lookup<Pair> *lookup)
{
  return lookup->exponential_bits == 0 && !lookup_wants_index(lookup);
}

/* The bin of a pair. The last bin is for pairs above all splitters. `plainly`, a compile-time
 * constant: lookup_is_plain(). */
template <class Pair>
DEVICE_INLINE uint32_t lookup_bin(const bucket_lookup<Pair> *lookup, uint32_t bins, Pair pair,
                                  bool plainly)
{
  DEVICE_ASSERT(bins > 0);
  const bin_scale<Pair> *const scale = &lookup->scale;
  const key_of<Pair> key = pair.key - scale->origin; /* wraps around for keys below the origin */
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

/* Bits of the range; a lead is the first 32 of them. */
template <class Pair> DEVICE_INLINE uint32_t lookup_bits(const bucket_lookup<Pair> *lookup)
{
  if constexpr (!Pair::packed) {
    if (lookup->scale.index_bits) return lookup->wide_range ? 64 - lookup->scale.zeros : 0;
  }
  return lookup->range ? 8 * sizeof(key_of<Pair>) - lookup->scale.zeros : 0;
}

/* The least pair of a bin other than the first and the last. */
template <class Pair>
DEVICE_INLINE Pair lookup_pair(const bucket_lookup<Pair> *lookup, uint32_t bin)
{
  const bin_scale<Pair> *const scale = &lookup->scale;
  DEVICE_ASSERT(lookup->exponential_bits > 0 || scale->factor > 0);
  const uint64_t all = (uint64_t)bin << 32;
  const uint64_t lead = lookup->exponential_bits > 0
                            ? exponential_lead(bin, lookup->exponential_bits)
                            : (all + scale->factor - 1) / scale->factor;
  const uint32_t bits = lookup_bits(lookup), more = bits > 32 ? bits - 32 : 0;
  const uint32_t less = bits < 32 ? 32 - bits : 0;
  const uint64_t least = (lead + (UINT64_C(1) << less) - 1) >> less; /* but for `more` bits */
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

/* True if a splitter is alone in its bin and far from the others. */
DEVICE_INLINE bool is_movable(const uint32_t *bins, uint32_t last, uint32_t i)
{
  DEVICE_ASSERT(i <= last);
  enum { LIGHT = 4 }; /* least distance between splitters, in bins */
  return i > 0 && i < last && bins[i] >= bins[i - 1] + LIGHT && bins[i + 1] >= bins[i] + LIGHT;
}

/* The first stride of a search in the fullest bin: the largest power of two that is not more than
 * its splitters. By all threads of the block; two barriers. */
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

/* Computes the bins of the splitters, with equal widths or exponential ones (if there are enough
 * bins), and completes the lookup. By all threads of the block; three barriers. */
template <class Pair>
DEVICE_INLINE void set_lookup_bins(const splitter_set<Pair> *set, const pair_array<Pair> *splitters,
                                   bool exponential, uint32_t *bins, bucket_lookup<Pair> *lookup)
{
  lookup->exponential_bits = exponential ? exponential_bits_of(set->bins) : 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i + 1 < set->buckets; i += blockDim.x)
    bins[i] = lookup_bin(lookup, set->bins, pair_get(splitters, i), false);
  lookup->stride = stride_of(bins, set->buckets - 1);
  DEVICE_ASSERT(lookup->stride > 0 && lookup->stride <= set->buckets);
}

/* The number of low zero bits that the differences of all splitter keys from the first one have in
 * common. By all threads of the block; two barriers. */
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

/* Makes a part of the lookup: that of the block in its grid, by all threads of the block, from the
 * splitters in shared memory; `bins`, in shared memory too, is scratch space for their bins. Some
 * splitters move to a bin's boundary, so that most bins lie in one bucket and need no search. */
template <class Pair>
DEVICE_INLINE void make_lookup(const splitter_set<Pair> *set, const pair_array<Pair> *splitters,
                               uint32_t *bins)
{
  enum { CROWD = 4 }; /* splitters of a bin from which exponential bins are tried */
  const uint32_t last = set->buckets - 2, every = gridDim.x * blockDim.x;
  const uint32_t mine = blockIdx.x * blockDim.x + threadIdx.x;
  const Pair least = pair_get(splitters, 0), greatest = pair_get(splitters, last);
  DEVICE_ASSERT(set->buckets > 1 && set->buckets <= SAMPLE_MOST_BUCKETS);
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
  if (mine == 0) *set->lookup = lookup;
  for (uint32_t i = mine; i <= last; i += every)
    pair_put(&set->splitters, i,
             is_movable(bins, last, i) ? lookup_pair(&lookup, bins[i] + 1)
                                       : pair_get(splitters, i));
  for (uint32_t bin = mine; bin < set->bins; bin += every) {
    const uint32_t low = count_below(bins, last + 1, bin);
    const uint32_t high = count_below(bins, last + 1, bin + 1);
    DEVICE_ASSERT(low <= high && high <= last + 1);
    const bool one = low == high || (low + 1 == high && is_movable(bins, last, low));
    set->table[bin] = (uint16_t)(low | (one ? ONE_BUCKET : 0));
  }
}

/* The lookup in a block's shared memory. */
template <class Pair> struct lookup_storage {
  bucket_lookup<Pair> lookup;
  pair_array<Pair> splitters;
  uint32_t *counts;
  uint16_t *table;
};

/* True if pair `i`, whose key is `key`, is not less than a splitter. Loads its index only if the
 * keys are equal. */
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

/* Reads a first guess of each bucket from the table. The bit ONE_BUCKET says that it needs no
 * search. */
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
  }
  DEVICE_UNROLL
  for (uint32_t t = 0; t < policy<Pair>::batch; t++)
    buckets[t] = search->table[lookup_bin(&search->lookup, set->bins, mine[t], false)];
}

/* The first stride of a search among all splitters: a power of two, at least half of their
 * number. */
template <class Pair> DEVICE_INLINE uint32_t first_stride(const splitter_set<Pair> *set)
{
  return set->buckets > 2 ? 1u << (31 - device_clz32(set->buckets - 1)) : 1;
}

/* Finds the buckets of a batch of the thread's pairs, whose share starts at pair `begin`. The
 * table, if there is one, gives most of them. The searches for the others advance together, so that
 * their loads overlap. */
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
  DEVICE_ASSERT(buckets[0] < set->buckets);
}

/* Entries of a table that are loaded at once. */
struct DEVICE_ALIGNED(16) table_entries {
  uint64_t of[2];
};

/* Loads the splitters and the table to shared memory and clears the counts of the buckets. By all
 * threads of the block; ends with a barrier. */
template <class Pair>
DEVICE_INLINE void load_lookup(const splitter_set<Pair> *set, lookup_storage<Pair> *search)
{
  enum { ENTRIES = sizeof(table_entries) / sizeof(uint16_t) };
  DEVICE_ASSERT(set->bins % ENTRIES == 0 && (uintptr_t)set->table % sizeof(table_entries) == 0);
  const table_entries *const table = (const table_entries *)set->table;
  if (set->mode == LOOKUP_BY_TABLE) search->lookup = *set->lookup;
  for (uint32_t i = threadIdx.x; i < set->buckets; i += blockDim.x) {
    if (i + 1 < set->buckets) pair_put(&search->splitters, i, pair_get(&set->splitters, i));
    search->counts[i] = 0;
  }
  for (uint32_t i = threadIdx.x; i < set->bins / ENTRIES; i += blockDim.x)
    ((table_entries *)search->table)[i] = table[i];
  __syncthreads();
}

/* The space for splitters, in pairs, rounded up so that the arrays behind it are aligned. */
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
  return search;
}

template <class Pair> static uint64_t lookup_bytes(const splitter_set<Pair> *set)
{
  return lookup_capacity(set) * (uint64_t)(Pair::bytes + sizeof(uint32_t)) +
         set->bins * sizeof(uint16_t);
}

/* ---- The kernel that makes it ---- */

template <class Pair> struct tabulate_args {
  static constexpr uint32_t max_threads = SAMPLE_SPLITTER_BLOCK;
  /* reads */
  pair_array<Pair> candidates; /* splitters, before some of them move */
  /* writes */
  splitter_set<Pair> set;
};

/* A thread for each bin of the lookup. Reads the candidates. Writes the splitters, some of them
 * moved to the edge of a bin, and the lookup, which finds the bucket of a key. Loads take the
 * time, so many blocks share the bins. The launch asks for half of a multiprocessor's shared
 * memory, so that blocks spread. */
template <class Pair>
__global__ void __launch_bounds__(SAMPLE_SPLITTER_BLOCK)
    tabulate_lookup(const __grid_constant__ tabulate_args<Pair> args)
{
  device_await_before();
  void *const shared = device_shared_memory();
  DEVICE_SHARED_ARRAY(uint32_t, bins, SAMPLE_MOST_BUCKETS);
  const pair_array<Pair> splitters = pair_array_at<Pair>(shared, lookup_capacity(&args.set));
  for (uint32_t i = threadIdx.x; i + 1 < args.set.buckets; i += blockDim.x)
    pair_put(&splitters, i, pair_get(&args.candidates, i));
  __syncthreads();
  make_lookup(&args.set, &splitters, bins);
}

} // namespace sample

#endif
