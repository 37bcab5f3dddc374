/* scatter.cuh - scatters pairs to their buckets: to buckets that are counted, to padded ones, or to
 * chains of extents (partition.cuh).
 */
#ifndef RECSORT_CUDA_SAMPLE_SCATTER_CUH
#define RECSORT_CUDA_SAMPLE_SCATTER_CUH

#include "cuda/sort/sample/agent/partition.cuh"

namespace sample
{

/* Scatters the pairs of sections to their buckets. */
template <class Pair> struct scatter_args {
  static constexpr uint32_t max_threads = SAMPLE_SCATTER_BLOCK;
  /* reads */
  pair_source<Pair> source;
  section_set sections;
  splitter_set<Pair> set;
  uint32_t each; /* pairs of a block; the last block may have fewer */
  /* writes */
  bucket_set buckets;
  pair_array<Pair> to;
};

/* A block's pairs in shared memory. `order`, sorted by bucket, holds a bucket's number, a pair's
 * position, and a bit for pairs that go to a second extent. */
#define IN_SECOND_EXTENT (1u << 15)
template <class Pair> struct staged_pairs {
  pair_array<Pair> pairs;
  uint32_t *order;
};

template <class Pair> DEVICE_INLINE staged_pairs<Pair> staged_pairs_at(void *at, uint32_t most)
{
  staged_pairs<Pair> staged;
  staged.pairs = pair_array_at<Pair>(at, most);
  if constexpr (Pair::packed) {
    staged.order = (uint32_t *)(staged.pairs.keys + most);
  } else {
    staged.order = (uint32_t *)(staged.pairs.indices + most);
  }
  return staged;
}

/* The space for pairs, rounded up so that the arrays behind it are aligned. */
template <class Pair>
RECSORT_HD static inline uint32_t staged_capacity(const scatter_args<Pair> *args)
{
  return (args->each + 7) / 8 * 8;
}

template <class Pair> RECSORT_HD static inline uint64_t staged_bytes(const scatter_args<Pair> *args)
{
  return staged_capacity(args) * (uint64_t)(Pair::bytes + sizeof(uint32_t));
}

/* The shared memory of a block that scatters. */
template <class Pair> struct scatter_storage {
  lookup_storage<Pair> search;
  staged_pairs<Pair> staged;
  uint16_t *starts; /* where a bucket's pairs start among those of the block */
  uint64_t *moves;  /* how far they go from there */
  uint32_t *cut;    /* TO_CHAINED: nonzero if some bucket's pairs go to two extents */
};

template <class Pair>
DEVICE_INLINE scatter_storage<Pair> scatter_storage_at(const scatter_args<Pair> *args, void *at)
{
  scatter_storage<Pair> by;
  by.staged = staged_pairs_at<Pair>(at, staged_capacity(args));
  by.search = lookup_storage_at(&args->set, by.staged.order + staged_capacity(args));
  by.moves = (uint64_t *)(by.search.table + args->set.bins);
  by.starts = (uint16_t *)(by.moves + args->set.buckets);
  return by;
}

template <class Pair> static uint64_t scatter_bytes(const scatter_args<Pair> *args)
{
  return staged_bytes(args) + lookup_bytes(&args->set) +
         args->set.buckets * (sizeof(uint64_t) + sizeof(uint16_t));
}

/* Stores the thread's pairs in shared memory, and the first batch of keys in `keys`. If there are
 * too few registers for all keys, the thread reads the others back from there. */
template <class Pair>
DEVICE_INLINE void stage_pairs(const staged_pairs<Pair> *staged, const block_share *share,
                               bool whole, const Pair *mine, key_of<Pair> *keys)
{
  DEVICE_UNROLL
  for (uint32_t t = 0; t < SAMPLE_SCATTER_ITEMS; t++) {
    if (!share_goes_on(share, t, whole)) break;
    if (share_has(share, t, whole)) pair_put(&staged->pairs, share_at(share, t), mine[t]);
  }
  DEVICE_UNROLL
  for (uint32_t t = 0; t < policy<Pair>::batch; t++)
    keys[t] = mine[t].key;
}

/* Adds a batch to the block's counts and turns its buckets into slots: a bucket, and the pair's
 * position among the block's pairs of that bucket. */
template <class Pair>
DEVICE_INLINE void add_slots(uint32_t *counts, const block_share *share, bool whole,
                             uint32_t *slots)
{
  const bool contended = whole && !policy<Pair>::few_registers && warp_is_contended(slots[0]);
  DEVICE_UNROLL
  for (uint32_t t = 0; !contended && t < policy<Pair>::batch; t++) {
    if (!share_goes_on(share, t, whole)) break;
    if (share_has(share, t, whole)) slots[t] = slots[t] << 16 | device_add32(&counts[slots[t]], 1);
  }
  DEVICE_UNROLL
  for (uint32_t t = 0; contended && t < policy<Pair>::batch; t++)
    slots[t] = slots[t] << 16 | warp_add(counts, slots[t]);
}

/* Finds the slots of all of the thread's pairs. */
template <class Pair>
DEVICE_INLINE void take_slots(const scatter_args<Pair> *args, const scatter_storage<Pair> *by,
                              uint64_t begin, const block_share *share, bool whole,
                              key_of<Pair> *keys, uint32_t *slots)
{
  DEVICE_UNROLL
  for (uint32_t t = 0; t < SAMPLE_SCATTER_ITEMS; t += policy<Pair>::batch) {
    const block_share some = share_from(share, t);
    DEVICE_UNROLL
    for (uint32_t k = 0; t > 0 && k < policy<Pair>::batch && !by->search.one_key; k++)
      keys[k] = share_has(&some, k, whole) ? by->staged.pairs.keys[share_at(&some, k)] : 0;
    find_buckets(&args->source, &args->set, &by->search, begin, &some, whole, keys, slots + t);
    add_slots<Pair>(by->search.counts, &some, whole, slots + t);
  }
}

/* Reserves space for the block's pairs in each bucket, by atomic additions to `ends` from element
 * `first` on. From the block's counts it computes where a bucket's pairs start among those of the
 * block, and how far they move from there. By all threads of the block, two buckets each. */
DEVICE_INLINE void reserve_space(uint32_t buckets, const uint32_t *counts, const offsets *ends,
                                 uint64_t first, uint16_t *starts, uint64_t *moves)
{
  const uint32_t i = 2 * threadIdx.x;
  const uint32_t one = i < buckets ? counts[i] : 0, two = i + 1 < buckets ? counts[i + 1] : 0;
  const uint32_t before = block_before(one + two);
  if (i < buckets) starts[i] = (uint16_t)before;
  if (one) moves[i] = offset_add(ends, first + i, one) - before;
  if (i + 1 < buckets) starts[i + 1] = (uint16_t)(before + one);
  if (two) moves[i + 1] = offset_add(ends, first + i + 1, two) - before - one;
}

/* Reserves space for the block's pairs; overwrites splitters and counts, which are no longer
 * needed. `to` is a compile-time constant, here and below. By all threads of the block. */
template <class Pair>
DEVICE_INLINE void reserve(const scatter_args<Pair> *args, const scatter_storage<Pair> *by,
                           uint32_t section, bucket_form to)
{
  const chain_moves moves = {by->starts, by->moves, (uint64_t *)by->search.splitters.keys,
                             by->search.counts, by->cut};
  if (to == TO_CHAINED)
    chains_reserve(&args->buckets.chains, &moves);
  else
    reserve_space(args->set.buckets, by->search.counts, &args->buckets.ends,
                  (uint64_t)section * args->set.buckets, by->starts, by->moves);
}

template <class Pair>
DEVICE_INLINE void set_order(const scatter_storage<Pair> *by, const block_share *share, bool whole,
                             const uint32_t *slots, bucket_form to)
{
  const bool cut = to == TO_CHAINED && *by->cut;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < SAMPLE_SCATTER_ITEMS; t++) {
    if (!share_goes_on(share, t, whole)) break;
    if (!share_has(share, t, whole)) continue;
    const uint32_t bucket = slots[t] >> 16, at = by->starts[bucket] + (slots[t] & 0xffff);
    const bool second = cut && at >= by->search.counts[bucket];
    by->staged.order[at] = bucket << 16 | (second ? IN_SECOND_EXTENT : 0) | share_at(share, t);
  }
}

/* Copies only the index of a pair. */
template <class Pair>
DEVICE_INLINE void put_index(const pair_array<Pair> *to, uint64_t i, const pair_array<Pair> *from,
                             uint64_t at)
{
  if constexpr (!Pair::packed) {
    to->indices[i] = from->indices[at];
  }
}

/* Writes the staged pairs in bucket order, so that the writes to each bucket are coalesced. */
template <class Pair>
DEVICE_INLINE void write_staged(const scatter_args<Pair> *args, const scatter_storage<Pair> *by,
                                uint32_t count, bucket_form to)
{
  DEVICE_ROLLED
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const uint32_t from = by->staged.order[i], bucket = from >> 16;
    const bool second = to == TO_CHAINED && (from & IN_SECOND_EXTENT);
    const uint64_t *const seconds = (const uint64_t *)by->search.splitters.keys;
    const uint64_t place = (second ? seconds : by->moves)[bucket] + i;
    const uint32_t staged = from % IN_SECOND_EXTENT;
    if (to == TO_COUNTED && by->search.one_key)
      put_index(&args->to, place, &by->staged.pairs, staged);
    else if (to != TO_PADDED || place < (uint64_t)(bucket + 1) * args->buckets.capacity)
      pair_put(&args->to, place, pair_get(&by->staged.pairs, staged));
  }
}

/* Scatters the block's pairs of one section. The loads of pairs overlap those of the lookup if
 * registers allow; for padded buckets, they even start before the previous kernel has finished.
 * `whole` is a compile-time constant. By all threads of the block. */
template <class Pair>
DEVICE_INLINE void scatter_share(const scatter_args<Pair> *args, scatter_storage<Pair> *by,
                                 uint32_t section, uint64_t begin, const block_share *share,
                                 uint32_t count, bool whole, bucket_form to)
{
  Pair mine[SAMPLE_SCATTER_ITEMS] = {};
  key_of<Pair> keys[policy<Pair>::batch];
  uint32_t slots[SAMPLE_SCATTER_ITEMS];
  if (by->search.one_key)
    load_indices(&args->source, begin, share, SAMPLE_SCATTER_ITEMS, whole, mine);
  else if (to == TO_COUNTED)
    load_items(&args->source, neighbours{begin}, share, SAMPLE_SCATTER_ITEMS, whole, mine);
  else
    load_items<READS_KEYS>(&args->source, neighbours{begin}, share, SAMPLE_SCATTER_ITEMS, whole,
                           mine);
  if (policy<Pair>::few_registers) stage_pairs(&by->staged, share, whole, mine, keys);
  if (to == TO_PADDED) device_await_before();
  load_lookup(&args->set, section, &by->search);
  if (!policy<Pair>::few_registers) stage_pairs(&by->staged, share, whole, mine, keys);
  if (by->search.one_key) repeat_key<Pair>(by->search.splitters.keys[0], keys);
  take_slots(args, by, begin, share, whole, keys, slots);
  __syncthreads();
  reserve(args, by, section, to);
  __syncthreads();
  set_order(by, share, whole, slots, to);
  __syncthreads();
  write_staged(args, by, count, to);
}

/* Reads pairs and lookups. Writes each pair to its bucket, whose size is known. A block stages its
 * pairs in shared memory in the order of buckets, so that stores to each are coalesced. It
 * reserves space by one atomic addition for each bucket: the begin advances, and finally becomes
 * the end. Packed pairs that are staged leave room for three blocks of a multiprocessor; in
 * registers, for two. Shared memory and four barriers take the time. */
template <class Pair>
__global__ void __launch_bounds__(SAMPLE_SCATTER_BLOCK,
                                  device_blocks(SAMPLE_SCATTER_BLOCK, policy<Pair>::scatter_blocks))
    scatter_to_counted(const __grid_constant__ scatter_args<Pair> args)
{
  device_await_before();
  void *const shared = device_shared_memory();
  scatter_storage<Pair> by = scatter_storage_at(&args, shared);
  for (block_span span = span_of<Pair>(&args.sections, args.each); span.begin < span.end;
       span.section++) {
    const uint64_t stop = span_stop(&args.sections, &span);
    if (span.begin == stop) continue;
    const uint32_t count = (uint32_t)(stop - span.begin);
    const block_share share = share_of(count, share_each(count), SAMPLE_SCATTER_ITEMS);
    by.search.one_key = span.one_key;
    if (count == blockDim.x * SAMPLE_SCATTER_ITEMS)
      scatter_share(&args, &by, span.section, span.begin, &share, count, true, TO_COUNTED);
    else
      scatter_share(&args, &by, span.section, span.begin, &share, count, false, TO_COUNTED);
    span.begin = stop;
    if (span.begin < span.end) __syncthreads(); /* before staged pairs are overwritten */
  }
}

/* Scatters the block's pairs on the first level, which has one section. */
template <class Pair>
DEVICE_INLINE void scatter_first(const scatter_args<Pair> *args, scatter_storage<Pair> *by,
                                 bucket_form to)
{
  const uint64_t begin = (uint64_t)blockIdx.x * args->each;
  const uint32_t count = (uint32_t)plan_min(args->sections.pairs - begin, args->each);
  const block_share share = share_of(count, share_each(count), SAMPLE_SCATTER_ITEMS);
  if (to == TO_CHAINED && threadIdx.x == 0) *by->cut = 0;
  if (count == blockDim.x * SAMPLE_SCATTER_ITEMS)
    scatter_share(args, by, 0, begin, &share, count, true, to);
  else
    scatter_share(args, by, 0, begin, &share, count, false, to);
}

/* The first of several levels. Reads the keys, splitters and lookup. Writes pairs to extents of
 * their buckets, so that no kernel reads all keys before just to count. Stages pairs as
 * scatter_to_counted does. Blocks would wait for the one that allocates the next extent, so that
 * is done when the last quarter of one begins. The states of buckets lie apart, as all blocks add
 * to them. */
template <class Pair>
__global__ void __launch_bounds__(SAMPLE_SCATTER_BLOCK,
                                  device_blocks(SAMPLE_SCATTER_BLOCK, policy<Pair>::scatter_blocks))
    scatter_to_chains(const __grid_constant__ scatter_args<Pair> args)
{
  device_await_before();
  void *const shared = device_shared_memory();
  DEVICE_SHARED_ARRAY(uint32_t, cut, 1);
  scatter_storage<Pair> by = scatter_storage_at(&args, shared);
  by.cut = cut;
  scatter_first(&args, &by, TO_CHAINED);
}

/* Reads the keys, splitters and lookup. Writes each pair to its bucket, which has spare space;
 * pairs that do not fit are counted but not written. Atomics on the ends of buckets and scattered
 * stores take the time, so a block stages its pairs and reserves space once for each bucket. Its
 * loads of pairs begin before the kernel before has finished: see scatter_share. */
template <class Pair>
__global__ void __launch_bounds__(SAMPLE_SCATTER_BLOCK,
                                  device_blocks(SAMPLE_SCATTER_BLOCK, policy<Pair>::scatter_blocks))
    scatter_to_padded(const __grid_constant__ scatter_args<Pair> args)
{
  void *const shared = device_shared_memory();
  scatter_storage<Pair> by = scatter_storage_at(&args, shared);
  scatter_first(&args, &by, TO_PADDED);
}

} // namespace sample

#endif
