/* sort_padded.cuh - the last step of a sort of many pairs: a block sorts a bucket in shared memory.
 * If it has overflowed, its pairs are collected from the input (overflow.cuh). */
#ifndef RECSORT_CUDA_SAMPLE_SORT_PADDED_CUH
#define RECSORT_CUDA_SAMPLE_SORT_PADDED_CUH

#include "cuda/sort/sample/agent/bucket_tiles.cuh"
#include "cuda/sort/sample/agent/overflow.cuh"

namespace sample
{

/* Loads `items` pairs of the thread's share, from the `first` on, to shared memory. The share
 * starts at pair `begin`. `whole` is a compile-time constant. */
template <class Pair>
DEVICE_INLINE void load_some(const pair_array<Pair> *from, uint64_t begin, const block_share *mine,
                             uint32_t first, uint32_t items, bool whole, const pair_array<Pair> *to)
{
  const Pair none = {};
  Pair some[policy<Pair>::items] = {};
  DEVICE_UNROLL
  for (uint32_t t = 0; t < items; t++) {
    if (!share_goes_on(mine, first + t, whole)) break;
    some[t] = share_has(mine, first + t, whole) ? pair_get(from, begin + share_at(mine, first + t))
                                                : none;
  }
  DEVICE_UNROLL
  for (uint32_t t = 0; t < items; t++) {
    if (!share_goes_on(mine, first + t, whole)) break;
    if (share_has(mine, first + t, whole)) pair_put(to, share_at(mine, first + t), some[t]);
  }
}

/* Loads the thread's share of a tile to shared memory, in two halves to save registers. */
template <class Pair>
DEVICE_INLINE void load_tile(const pair_array<Pair> *from, uint64_t begin, const block_share *mine,
                             const pair_array<Pair> *to)
{
  enum { HALF = policy<Pair>::items / 2 };
  if (mine->whole) {
    load_some(from, begin, mine, 0, HALF, true, to);
    load_some(from, begin, mine, HALF, policy<Pair>::usual - HALF, true, to);
  } else {
    load_some(from, begin, mine, 0, HALF, false, to);
    load_some(from, begin, mine, HALF, HALF, false, to);
  }
}

/* Sorts the padded buckets, a block for each. */
template <class Pair> struct sort_padded_args {
  static constexpr uint32_t max_threads = SAMPLE_TILE_BLOCK;
  /* reads */
  pair_array<Pair> padded;
  bucket_ends ends;
  uint32_t capacity; /* of a bucket */
  uint64_t count;    /* all pairs, in the source, from which overflowed buckets are collected */
  /* reads and writes */
  tile_work<Pair> work;
};

/* The number of pairs in all padded buckets before one. By all threads of the block. */
template <class Pair>
DEVICE_INLINE uint64_t padded_before(const sort_padded_args<Pair> *args, uint32_t bucket)
{
  uint32_t before = 0;
  for (uint32_t i = threadIdx.x; i < bucket; i += blockDim.x)
    before += *bucket_end(&args->ends, i) - i * args->capacity;
  return block_sum(before);
}

template <class Pair>
DEVICE_INLINE bucket_tile padded_tile(const sort_padded_args<Pair> *args, uint32_t bucket)
{
  bucket_tile tile;
  tile.from = (uint64_t)bucket * args->capacity;
  tile.count = *bucket_end(&args->ends, bucket) - bucket * args->capacity;
  tile.first = bucket;
  set_scale(&args->work.set, &tile);
  return tile;
}

/* ---- Tiles ---- */

/* Sorts a tile that fits in shared memory and stores it from `to` on in the result. By all threads
 * of the block. */
template <class Pair>
DEVICE_INLINE void sort_one(const tile_work<Pair> *work, const pair_array<Pair> *from,
                            const bucket_tile *all, uint64_t to)
{
  void *const shared = device_shared_memory();
  const tile_storage<Pair> tile =
      tile_storage_at<Pair>(shared, work->source.index_bits, work->limit);
  const uint32_t each = share_each(all->count);
  const block_share mine = share_of(all->count, each, policy<Pair>::usual);
  const uint32_t limit = limit_of(&tile, all->count);
  load_tile(from, all->from, &mine, &tile.pairs);
  bin_scale<Pair> scale = scale_from(work, all);
  sort_bins(&tile, &mine, limit, all->known, &scale);
  const pair_output<Pair> out = output_of(&work->target, to, work->source.index_bits);
  store_tile(&tile, all->count, each, &mine, limit, &scale, &out);
}

/* A block for each bucket. Reads the bucket, and the ends of those before: it adds up their pairs
 * itself, which saves a kernel. Writes the result. If the bucket overflowed, its block reads all
 * keys and collects those of the bucket, as one more kernel would cost every sort a launch. Shared
 * memory limits it, where pairs are counted and scattered to bins. A third of that traffic is bank
 * conflicts, though a warp's bins are laid out in different banks. Three blocks of a
 * multiprocessor, or two with keys of 128 bits, leave a thread 40 or 64 registers. */
template <class Pair>
__global__ void __launch_bounds__(SAMPLE_TILE_BLOCK,
                                  device_blocks(SAMPLE_TILE_BLOCK, policy<Pair>::tile_blocks))
    sort_padded(const __grid_constant__ sort_padded_args<Pair> args)
{
  device_await_before();
  const bucket_tile all = padded_tile(&args, blockIdx.x);
  const uint64_t to = padded_before(&args, blockIdx.x);
  if (all.count == 0) return;
  if (all.count <= args.work.tile)
    sort_one(&args.work, &args.padded, &all, to);
  else
    sort_overflow(&args.work, args.count, all.first);
}

} // namespace sample

#endif
