/* partition.cuh - splits many pairs into buckets that a block can sort. Splitters are taken from a
 * sorted sample; a pair's bucket is its rank among them. All pairs differ, so splitters divide any
 * keys, and the pairs of a bucket may be in any order. (Frazer and McKellar, "Samplesort", 1970;
 * Leischner, Osipov and Sanders, "GPU sample sort", 2010.)
 *
 * A level splits each section into the same number of buckets, which are the sections of the next
 * level. The first level has one section, all pairs. The kernels of a level:
 *
 *   rank_samples, rank_all_samples  candidates for the splitters of all pairs (splitters.cuh)
 *   tabulate_lookup                 the splitters themselves, and their lookup
 *   choose_splitters                or both, by a block for each section
 *   count_buckets, count_chained    count the pairs of each bucket
 *   place_buckets                   computes where each begins, and joins buckets to tiles
 *   scatter_to_counted              moves each pair to its bucket (scatter.cuh)
 *
 * The first of several levels does not count: it scatters to chains of extents (chains.cuh), and
 * list_extents follows. If there are two levels, and both splitters of a chained bucket have the
 * same key, so do its pairs; from then on only their indices move.
 *
 * Up to about a million pairs are scattered to padded buckets instead, without a count.
 */
#ifndef RECSORT_CUDA_SAMPLE_PARTITION_CUH
#define RECSORT_CUDA_SAMPLE_PARTITION_CUH

#include "cuda/sort/sample/agent/bucket_lookup.cuh"
#include "cuda/sort/sample/agent/bucket_tiles.cuh"
#include "cuda/sort/sample/agent/splitters.cuh"
#include "cuda/sort/sample/agent/tile_sort.cuh"

namespace sample
{

/* ---- Splitters ---- */

/* Makes the lookup of the first level with many blocks. */
template <class Pair> struct tabulate_args {
  static constexpr uint32_t max_threads = SAMPLE_SPLITTER_BLOCK;
  /* reads */
  pair_array<Pair> candidates; /* splitters, before some of them move */
  /* writes */
  splitter_set<Pair> set;
  bool *one_key; /* for each bucket; NULL: not wanted */
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
  make_lookup(&args.set, 0, &splitters, bins, args.one_key, blockIdx.x, gridDim.x);
}

/* Chooses the splitters of each section and makes its lookup, a block for each section. */
template <class Pair> struct choose_splitters_args {
  static constexpr uint32_t max_threads = SAMPLE_SPLITTER_BLOCK;
  /* reads */
  pair_source<Pair> source;
  section_set sections;
  uint32_t samples; /* for each section */
  uint32_t limit;   /* as in sample_plan */
  /* writes */
  level_start<Pair> level;
};

/* Sorts a sample of the block's section and writes the splitters, evenly spaced, to `to`. By all
 * threads of the block. */
template <class Pair>
DEVICE_INLINE void sort_sample(const choose_splitters_args<Pair> *args,
                               const tile_storage<Pair> *tile, uint64_t begin, uint64_t count,
                               pair_array<Pair> to)
{
  const uint32_t samples = (uint32_t)plan_min(count, args->samples);
  const pair_output<Pair> out = choice_of(to, samples, args->level.set.buckets);
  const uint64_t distance = (count << 16) / samples;
  const block_share mine = share_of(samples, policy<Pair>::items, policy<Pair>::items);
  DEVICE_UNROLL
  for (uint32_t t = 0; t < policy<Pair>::items; t++) {
    const uint32_t i = share_at(&mine, t);
    if (i >= mine.end) continue;
    const uint64_t at = sample_position(i, distance);
    pair_put(&tile->pairs, i,
             load<READS_PAIRS>(&args->source,
                               args->sections.form == SECTIONS_CHAINED
                                   ? chain_position(&args->sections.chains, blockIdx.x, at)
                                   : begin + at));
  }
  sort_tile(tile, samples, &out);
}

/* A block for each section. Reads a sample of the section. Writes its splitters and its lookup,
 * and clears the counts of its buckets. Sorting the sample takes the time, so it is sorted like a
 * tile, in shared memory, with up to 1024 threads. One block of a multiprocessor is asked for:
 * then each of them has 64 registers. */
template <class Pair>
__global__ void __launch_bounds__(SAMPLE_SPLITTER_BLOCK, 1)
    choose_splitters(const __grid_constant__ choose_splitters_args<Pair> args)
{
  device_await_before();
  void *const shared = device_shared_memory();
  const splitter_set<Pair> *const set = &args.level.set;
  const uint64_t first = (uint64_t)blockIdx.x * set->buckets;
  const uint64_t begin = section_begin(&args.sections.ends, blockIdx.x);
  const uint64_t count =
      section_end(&args.sections.ends, blockIdx.x, args.sections.count, args.sections.pairs) -
      begin;
  const tile_storage<Pair> tile = tile_storage_at<Pair>(shared, set->index_bits, args.limit);
  const pair_array<Pair> splitters = pair_array_at<Pair>(tile.end, SAMPLE_MOST_BUCKETS);
  if (threadIdx.x == 0) start_level(&args.level, blockIdx.x);
  for (uint32_t i = threadIdx.x; i < set->buckets; i += blockDim.x)
    offset_set(&args.level.to.ends, first + i, 0);
  if (count == 0) return; /* its splitters are never used */
  sort_sample(&args, &tile, begin, count, splitters);
  __syncthreads();
  make_lookup(set, blockIdx.x, &splitters, tile.bins, (bool *)NULL, 0, 1);
}

/* ---- Buckets ---- */

/* The pairs [begin, end) of a block, from one or several adjacent sections, or from one extent of a
 * chain. */
struct block_span {
  uint64_t begin, end;
  uint32_t section; /* of the first pair */
  bool one_key;
};

template <class Pair> DEVICE_INLINE bool has_one_key(const extent *one)
{
  if constexpr (Pair::packed) {
    return false;
  } else {
    return one->one_key;
  }
}

/* The block's span: `each` pairs or fewer. `each` is at most the size of an extent. */
template <class Pair> DEVICE_INLINE block_span span_of(const section_set *sections, uint32_t each)
{
  block_span span = {0, 0, 0, false};
  const uint64_t first = (uint64_t)blockIdx.x * each;
  if (sections->form == SECTIONS_CHAINED) {
    const uint32_t number = (uint32_t)(first >> sections->chains.bits);
    const uint32_t from = (uint32_t)first & (extent_size(&sections->chains) - 1);
    if (number >= sections->chains.counts[1]) return span;
    const extent one = sections->chains.list[number];
    span.begin = one.from + from;
    span.end = one.from + plan_clamp(one.count, from, from + each);
    span.section = one.bucket;
    span.one_key = has_one_key<Pair>(&one);
  } else {
    span.begin = first;
    span.end = plan_min(first + each, sections->pairs);
    span.section = section_at(&sections->ends, sections->count, first);
  }
  return span;
}

/* The end of the part of a span that lies in its first section. */
DEVICE_INLINE uint64_t span_stop(const section_set *sections, const block_span *span)
{
  if (sections->form == SECTIONS_CHAINED) return span->end;
  return plan_min(section_end(&sections->ends, span->section, sections->count, sections->pairs),
                  span->end);
}

template <class Pair> DEVICE_INLINE void repeat_key(key_of<Pair> key, key_of<Pair> *keys)
{
  DEVICE_UNROLL
  for (uint32_t t = 0; t < policy<Pair>::batch; t++)
    keys[t] = key;
}

/* Counts the pairs of each bucket, in adjacent or chained sections. */
template <class Pair> struct count_args {
  static constexpr uint32_t max_threads = SAMPLE_SCATTER_BLOCK;
  /* reads */
  pair_source<Pair> source;
  section_set sections;
  splitter_set<Pair> set;
  uint32_t each; /* pairs a block */
  /* adds to */
  offsets ends;
};

template <source_reading How, class Pair>
DEVICE_INLINE void count_some(const count_args<Pair> *args, const lookup_storage<Pair> *search,
                              uint64_t begin, const block_share *share, bool whole)
{
  DEVICE_UNROLL
  for (uint32_t t = 0; t < SAMPLE_SCATTER_ITEMS; t += policy<Pair>::batch) {
    const block_share some = share_from(share, t);
    key_of<Pair> keys[policy<Pair>::batch];
    uint32_t buckets[policy<Pair>::batch];
    if (search->one_key)
      repeat_key<Pair>(search->splitters.keys[0], keys);
    else
      load_keys<How>(&args->source, begin, &some, policy<Pair>::batch, whole, keys);
    find_buckets(&args->source, &args->set, search, begin, &some, whole, keys, buckets);
    DEVICE_UNROLL
    for (uint32_t k = 0; k < policy<Pair>::batch; k++)
      if (share_has(&some, k, whole)) (void)device_add32(&search->counts[buckets[k]], 1);
  }
}

/* Counts the pairs of a span up to `end`, in the section whose lookup is loaded. By all threads of
 * the block. */
template <source_reading How, class Pair>
DEVICE_INLINE void count_span(const count_args<Pair> *args, const lookup_storage<Pair> *search,
                              uint64_t end, block_span *span)
{
  const uint32_t most = blockDim.x * SAMPLE_SCATTER_ITEMS;
  while (span->begin < end) {
    const uint32_t some = (uint32_t)plan_min(end - span->begin, most);
    const block_share share = share_of(some, share_each(some), SAMPLE_SCATTER_ITEMS);
    if (share.whole)
      count_some<How>(args, search, span->begin, &share, true);
    else
      count_some<How>(args, search, span->begin, &share, false);
    span->begin += some;
  }
}

/* Adds the block's counts of a section's buckets to the global counts. By all threads of the block;
 * begins with a barrier. */
template <class Pair>
DEVICE_INLINE void add_counts(const count_args<Pair> *args, uint32_t section,
                              const uint32_t *counts)
{
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < args->set.buckets; i += blockDim.x)
    if (counts[i])
      (void)offset_add(&args->ends, (uint64_t)section * args->set.buckets + i, counts[i]);
}

/* Reads the keys of adjacent sections and the lookups of these. Writes counts: adds the pairs of
 * each bucket. A block's span may cover several sections, which it processes in turn. Counts and
 * table are in shared memory, which limits this kernel; a global count takes one atomic addition
 * of a block, not one for each pair. If there are many pairs, a block counts up to 32768, as each
 * one loads the table. */
template <class Pair>
__global__ void __launch_bounds__(SAMPLE_SCATTER_BLOCK,
                                  device_blocks(SAMPLE_SCATTER_BLOCK, policy<Pair>::scatter_blocks))
    count_buckets(const __grid_constant__ count_args<Pair> args)
{
  device_await_before();
  void *const shared = device_shared_memory();
  lookup_storage<Pair> search = lookup_storage_at(&args.set, shared);
  for (block_span span = span_of<Pair>(&args.sections, args.each); span.begin < span.end;
       span.section++) {
    const uint64_t stop = span_stop(&args.sections, &span);
    if (span.begin == stop) continue; /* an empty section has no splitters */
    load_lookup(&args.set, span.section, &search);
    search.one_key = span.one_key;
    count_span<READS_EITHER>(&args, &search, stop, &span);
    add_counts(&args, span.section, search.counts);
  }
}

/* Counts the pairs of chained sections, if an extent has fewer than a block counts. Reads some
 * consecutive extents and the lookups of their sections. Writes counts, as count_buckets does.
 * Most extents of a block belong to the same section, so its lookup comes to shared memory once,
 * not once for each extent. */
template <class Pair>
__global__ void __launch_bounds__(SAMPLE_SCATTER_BLOCK,
                                  device_blocks(SAMPLE_SCATTER_BLOCK, policy<Pair>::scatter_blocks))
    count_chained(const __grid_constant__ count_args<Pair> args)
{
  device_await_before();
  void *const shared = device_shared_memory();
  lookup_storage<Pair> search = lookup_storage_at(&args.set, shared);
  const uint32_t some = args.each >> args.sections.chains.bits, first = blockIdx.x * some;
  const uint32_t last = (uint32_t)plan_min(first + some, args.sections.chains.counts[1]);
  uint32_t section = UINT32_MAX;
  for (uint32_t number = first; number < last; number++) {
    const extent one = args.sections.chains.list[number];
    block_span span = {one.from, one.from + one.count, one.bucket, has_one_key<Pair>(&one)};
    if (section != one.bucket) {
      if (section != UINT32_MAX) add_counts(&args, section, search.counts);
      section = one.bucket;
      load_lookup(&args.set, section, &search);
      search.one_key = span.one_key;
    }
    count_span<READS_PAIRS>(&args, &search, span.end, &span);
  }
  if (section != UINT32_MAX) add_counts(&args, section, search.counts);
}

/* Turns the counts of buckets into their begins, and joins the buckets of the last level to
 * tiles. */
template <class Pair> struct place_buckets_args {
  static constexpr uint32_t max_threads = SAMPLE_SCATTER_BLOCK;
  /* reads */
  offsets section_ends;
  splitter_set<Pair> set;
  bool *one_key;         /* for each section; NULL: none has one key */
  bool last;             /* this is the last level */
  uint32_t joined;       /* as in sample_plan */
  uint32_t tile_threads; /* threads of a block that sorts a tile */
  /* turns counts into begins */
  offsets ends;
  /* writes */
  tile_list tiles;
};

/* Makes a tile of the buckets [low, high) of a section whose first bucket is number `first`. An
 * empty section has no lookup to read. */
template <class Pair>
DEVICE_INLINE void join_buckets(const place_buckets_args<Pair> *args, uint32_t first,
                                const uint64_t *begins, uint32_t low, uint32_t high,
                                bucket_tile *to)
{
  bucket_tile tile = {};
  tile.from = begins[low];
  tile.count = (uint32_t)plan_min(begins[high] - begins[low], UINT32_MAX);
  tile.first = first + low;
  tile.one_key = args->one_key && args->one_key[blockIdx.x];
  if (tile.count > 0)
    set_scale(&args->set, first + high, section_tail(&args->set, blockIdx.x), args->tile_threads,
              &tile);
  *to = tile;
}

/* A block for each section, a thread for two buckets. Reads the counts of buckets. Writes in their
 * place where the buckets begin, and on the last level the list of tiles, each of as many adjacent
 * buckets as fit. A section's begin is known, so no block waits for another. A tile in the list
 * has all that sort_buckets needs to know, for loads there wait for each other. */
template <class Pair>
__global__ void __launch_bounds__(SAMPLE_SCATTER_BLOCK)
    place_buckets(const __grid_constant__ place_buckets_args<Pair> args)
{
  device_await_before();
  DEVICE_SHARED_ARRAY(uint64_t, begins, SAMPLE_MOST_BUCKETS + 2);
  DEVICE_SHARED_ARRAY(uint16_t, ends, SAMPLE_MOST_BUCKETS);
  DEVICE_SHARED_ARRAY(uint16_t, firsts, SAMPLE_MOST_BUCKETS);
  DEVICE_SHARED_ARRAY(uint32_t, first_tile, 2); /* its position in the list; the number of tiles */
  const uint64_t first = (uint64_t)blockIdx.x * args.set.buckets;
  const uint32_t i = 2 * threadIdx.x;
  const uint64_t one = i < args.set.buckets ? offset_get(&args.ends, first + i) : 0;
  const uint64_t two = i + 1 < args.set.buckets ? offset_get(&args.ends, first + i + 1) : 0;
  const uint64_t at = section_begin(&args.section_ends, blockIdx.x) + block_before64(one + two);
  if (i < args.set.buckets) offset_set(&args.ends, first + i, at);
  if (i + 1 < args.set.buckets) offset_set(&args.ends, first + i + 1, at + one);
  if (!args.last) return;
  begins[i] = at;
  begins[i + 1] = at + one;
  if (threadIdx.x + 1 == blockDim.x) begins[i + 2] = at + one + two;
  __syncthreads();
  if (args.joined == 0) {
    if (threadIdx.x == 0) first_tile[0] = device_add32(args.tiles.count, args.set.buckets);
    __syncthreads();
    for (uint32_t b = threadIdx.x; b < args.set.buckets; b += blockDim.x)
      join_buckets(&args, (uint32_t)first, begins, b, b + 1, &args.tiles.of[first_tile[0] + b]);
    return;
  }
  for (uint32_t b = threadIdx.x; b < args.set.buckets; b += blockDim.x)
    ends[b] = (uint16_t)tile_end(begins, b, args.set.buckets, args.joined);
  __syncthreads();
  if (threadIdx.x == 0) { /* each tile begins where the one before it ends */
    uint32_t count = 0;
    for (uint32_t b = 0; b < args.set.buckets; b = ends[b])
      firsts[count++] = (uint16_t)b;
    first_tile[0] = device_add32(args.tiles.count, count);
    first_tile[1] = count;
  }
  __syncthreads();
  for (uint32_t t = threadIdx.x; t < first_tile[1]; t += blockDim.x)
    join_buckets(&args, (uint32_t)first, begins, firsts[t], ends[firsts[t]],
                 &args.tiles.of[first_tile[0] + t]);
}

} // namespace sample

#endif
