/* scatter.cuh - scatters many pairs to buckets that a block can sort. Splitters are taken from a
 * sorted sample; a pair's bucket is its rank among them. All pairs differ, so splitters divide any
 * keys, and the pairs of a bucket may be in any order. (Frazer and McKellar, "Samplesort", 1970;
 * Leischner, Osipov and Sanders, "GPU sample sort", 2010.) Buckets have spare space, so that
 * nothing is counted before. */
#ifndef RECSORT_CUDA_SAMPLE_SCATTER_CUH
#define RECSORT_CUDA_SAMPLE_SCATTER_CUH

#include "cuda/sort/sample/agent/bucket_lookup.cuh"

namespace sample
{

/* Scatters pairs to their buckets. */
template <class Pair> struct scatter_args {
  static constexpr uint32_t max_threads = SAMPLE_SCATTER_BLOCK;
  /* reads */
  pair_source<Pair> source;
  uint64_t count;
  splitter_set<Pair> set;
  uint32_t each; /* pairs of a block; the last block may have fewer */
  /* writes */
  bucket_set buckets;
  pair_array<Pair> to;
};

/* A block's pairs in shared memory. `order`, sorted by bucket, holds a bucket's number and a pair's
 * position. */
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
  uint32_t *moves;  /* how far they go from there */
};

template <class Pair>
DEVICE_INLINE scatter_storage<Pair> scatter_storage_at(const scatter_args<Pair> *args, void *at)
{
  scatter_storage<Pair> by;
  by.staged = staged_pairs_at<Pair>(at, staged_capacity(args));
  by.search = lookup_storage_at(&args->set, by.staged.order + staged_capacity(args));
  by.moves = (uint32_t *)(by.search.table + args->set.bins);
  by.starts = (uint16_t *)(by.moves + args->set.buckets);
  return by;
}

template <class Pair> static uint64_t scatter_bytes(const scatter_args<Pair> *args)
{
  return staged_bytes(args) + lookup_bytes(&args->set) +
         args->set.buckets * (sizeof(uint32_t) + sizeof(uint16_t));
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
    for (uint32_t k = 0; t > 0 && k < policy<Pair>::batch; k++)
      keys[k] = share_has(&some, k, whole) ? by->staged.pairs.keys[share_at(&some, k)] : 0;
    find_buckets(&args->source, &args->set, &by->search, begin, &some, whole, keys, slots + t);
    add_slots<Pair>(by->search.counts, &some, whole, slots + t);
  }
}

/* Reserves space for the block's pairs in each bucket, by atomic additions to its end. From the
 * block's counts it computes where a bucket's pairs start among those of the block, and how far
 * they move from there, modulo 2^32. By all threads of the block, two buckets each. */
template <class Pair>
DEVICE_INLINE void reserve(const scatter_args<Pair> *args, const scatter_storage<Pair> *by)
{
  const uint32_t *const counts = by->search.counts;
  const uint32_t buckets = args->set.buckets, i = 2 * threadIdx.x;
  const bucket_ends *const ends = &args->buckets.ends;
  const uint32_t one = i < buckets ? counts[i] : 0, two = i + 1 < buckets ? counts[i + 1] : 0;
  const uint32_t before = block_before(one + two);
  if (i < buckets) by->starts[i] = (uint16_t)before;
  if (one) by->moves[i] = device_add32(bucket_end(ends, i), one) - before;
  if (i + 1 < buckets) by->starts[i + 1] = (uint16_t)(before + one);
  if (two) by->moves[i + 1] = device_add32(bucket_end(ends, i + 1), two) - before - one;
}

template <class Pair>
DEVICE_INLINE void set_order(const scatter_storage<Pair> *by, const block_share *share, bool whole,
                             const uint32_t *slots)
{
  DEVICE_UNROLL
  for (uint32_t t = 0; t < SAMPLE_SCATTER_ITEMS; t++) {
    if (!share_goes_on(share, t, whole)) break;
    if (!share_has(share, t, whole)) continue;
    const uint32_t bucket = slots[t] >> 16, at = by->starts[bucket] + (slots[t] & 0xffff);
    by->staged.order[at] = bucket << 16 | share_at(share, t);
  }
}

/* Writes the staged pairs in bucket order, so that the writes to each bucket are coalesced. */
template <class Pair>
DEVICE_INLINE void write_staged(const scatter_args<Pair> *args, const scatter_storage<Pair> *by,
                                uint32_t count)
{
  DEVICE_ROLLED
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const uint32_t from = by->staged.order[i], bucket = from >> 16;
    const uint32_t place = by->moves[bucket] + i;
    if (place < (bucket + 1) * args->buckets.capacity)
      pair_put(&args->to, place, pair_get(&by->staged.pairs, from & 0xffff));
  }
}

/* Scatters the block's share of `count` pairs. The loads of pairs overlap those of the lookup if
 * registers allow, and start before the previous kernel has finished. `whole` is a compile-time
 * constant. By all threads of the block. */
template <class Pair>
DEVICE_INLINE void scatter_share(const scatter_args<Pair> *args, scatter_storage<Pair> *by,
                                 uint64_t begin, const block_share *share, uint32_t count,
                                 bool whole)
{
  Pair mine[SAMPLE_SCATTER_ITEMS] = {};
  key_of<Pair> keys[policy<Pair>::batch];
  uint32_t slots[SAMPLE_SCATTER_ITEMS];
  load_items<READS_KEYS>(&args->source, neighbours{begin}, share, SAMPLE_SCATTER_ITEMS, whole,
                         mine);
  if (policy<Pair>::few_registers) stage_pairs(&by->staged, share, whole, mine, keys);
  device_await_before();
  load_lookup(&args->set, &by->search);
  if (!policy<Pair>::few_registers) stage_pairs(&by->staged, share, whole, mine, keys);
  take_slots(args, by, begin, share, whole, keys, slots);
  __syncthreads();
  reserve(args, by);
  __syncthreads();
  set_order(by, share, whole, slots);
  __syncthreads();
  write_staged(args, by, count);
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
  const uint64_t begin = (uint64_t)blockIdx.x * args.each;
  const uint32_t count = (uint32_t)plan_min(args.count - begin, args.each);
  const block_share share = share_of(count, share_each(count), SAMPLE_SCATTER_ITEMS);
  if (count == blockDim.x * SAMPLE_SCATTER_ITEMS)
    scatter_share(&args, &by, begin, &share, count, true);
  else
    scatter_share(&args, &by, begin, &share, count, false);
}

} // namespace sample

#endif
