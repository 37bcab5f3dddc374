/* oversized.cuh - sorts buckets that are too large for a tile: each block reads all pairs of a
 * bucket, collects those of one part of its range, and sorts them as a tile.
 *
 * The bounds of parts come from a small sample, which each block ranks by itself. A part that turns
 * out to be larger than a tile is collected in several rounds.
 */
#ifndef RECSORT_CUDA_SAMPLE_OVERSIZED_CUH
#define RECSORT_CUDA_SAMPLE_OVERSIZED_CUH

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
template <source_reading How, class Pair>
DEVICE_INLINE void collect(const tile_work<Pair> *work, const tile_storage<Pair> *tile,
                           uint64_t begin, uint64_t count, const part_bounds<Pair> *bounds,
                           collection *found)
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
    load_items<How>(&work->source, neighbours{begin + done}, &share, policy<Pair>::items, false,
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

/* Computes the bounds of part `number` of `parts` parts of pairs [begin, begin + count), by ranking
 * a sample. By all threads of the block. */
template <class Pair>
DEVICE_INLINE part_bounds<Pair> find_part_bounds(const tile_work<Pair> *work,
                                                 const tile_storage<Pair> *tile, uint64_t begin,
                                                 uint64_t count, uint32_t number, uint32_t parts)
{
  enum { SAMPLES = 16 }; /* for each part */
  const pair_array<Pair> splitters = pair_array_at<Pair>(tile->end, SAMPLE_MOST_PARTS);
  const uint32_t samples = (uint32_t)plan_min(count, plan_min(work->samples, SAMPLES * parts));
  const uint64_t distance = (count << 16) / samples;
  const pair_output<Pair> out = choice_of(splitters, samples, parts);
  part_bounds<Pair> part = {{}, {}, number > 0, number + 1 < parts};
  for (uint32_t i = threadIdx.x; i < samples; i += blockDim.x)
    pair_put(&tile->pairs, i,
             load<READS_PAIRS>(&work->source, begin + sample_position(i, distance)));
  __syncthreads();
  DEVICE_ROLLED
  for (uint32_t i = threadIdx.x; i < samples; i += blockDim.x) {
    const Pair pair = pair_get(&tile->pairs, i);
    uint32_t rank = 0;
    DEVICE_UNROLL_BY_4
    for (uint32_t k = 0; k < samples; k++)
      rank += goes_before(&tile->pairs, k, pair);
    store_pair(&out, rank, pair, false);
  }
  __syncthreads();
  if (part.has_low) part.low = pair_get(&splitters, number - 1);
  if (part.has_high) part.high = pair_get(&splitters, number);
  return part;
}

/* Sorts those of pairs [begin, begin + count) that lie within the bounds, and stores them where
 * they belong. If they are more than a tile, it tries again up to the median of those collected,
 * and goes on from there. By all threads of the block. */
template <source_reading How, class Pair>
DEVICE_INLINE void sort_part(const tile_work<Pair> *work, const tile_storage<Pair> *tile,
                             collection *found, uint64_t begin, uint64_t count,
                             const part_bounds<Pair> *part)
{
  const pair_array<Pair> middle = pair_array_at<Pair>(tile->end, SAMPLE_MOST_PARTS);
  part_bounds<Pair> go = *part;
  for (bool all = false; !all;) {
    collect<How>(work, tile, begin, count, &go, found);
    const bool full = found->count > work->tile;
    const pair_output<Pair> out =
        full ? choice_of(middle, work->tile, 2)
             : output_of(&work->target, begin + found->below, work->source.index_bits);
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
  sort_part<READS_KEYS>(work, &tile, found, 0, all, &part);
}

/* Sorts buckets that are larger than a tile, in parts of about a quarter of a tile. */
template <class Pair> struct sort_oversized_args {
  static constexpr uint32_t max_threads = SAMPLE_TILE_BLOCK;
  /* reads; sets the keys first if a bucket has one key */
  uint32_t *oversized; /* the number of oversized buckets, then their numbers */
  offsets ends;        /* of the buckets */
  bool *one_key;       /* for each section; NULL: none has one key */
  /* reads and writes */
  tile_work<Pair> work;
};

/* Writes the keys of a bucket that has one key, of which only indices are stored. Every block does
 * this, as none waits for another. Call it before a barrier. */
template <class Pair>
DEVICE_INLINE void fill_keys(const sort_oversized_args<Pair> *args, uint32_t bucket, uint64_t begin,
                             uint64_t count)
{
  if constexpr (!Pair::packed) {
    if (!args->one_key || !args->one_key[bucket / args->work.set.buckets]) return;
    const key_of<Pair> key = section_key(&args->work.set, bucket);
    DEVICE_PATH("oversized bucket of one key");
    for (uint64_t i = threadIdx.x; i < count; i += blockDim.x)
      args->work.source.pairs.keys[begin + i] = key;
  }
}

/* Reads the list of buckets larger than a tile, and for each part of such a bucket all of its
 * pairs. Writes the result. Shared memory holds a tile only, so a block finds the bounds of a part
 * by a sample, and collects the part's pairs. The host does not know how many there are, so the
 * grid is two blocks for each multiprocessor, which share all parts; mostly there is nothing to
 * do. */
template <class Pair>
__global__ void __launch_bounds__(SAMPLE_TILE_BLOCK, device_blocks(SAMPLE_TILE_BLOCK, 2))
    sort_oversized(const __grid_constant__ sort_oversized_args<Pair> args)
{
  device_await_before();
  void *const shared = device_shared_memory();
  DEVICE_SHARED_ARRAY(collection, found, 1);
  const tile_storage<Pair> tile =
      tile_storage_at<Pair>(shared, args.work.source.index_bits, args.work.limit);
  for (uint32_t i = 0; i < args.oversized[0]; i++) {
    const uint32_t bucket = args.oversized[1 + i];
    const uint64_t begin = bucket_begin(&args.ends, bucket);
    const uint64_t count = offset_get(&args.ends, bucket) - begin;
    const uint32_t parts = (uint32_t)plan_min(plan_blocks(4 * count, args.work.tile),
                                              plan_min(args.work.samples, SAMPLE_MOST_PARTS));
    fill_keys(&args, bucket, begin, count);
    for (uint32_t number = (blockIdx.x + i) % gridDim.x; number < parts; number += gridDim.x) {
      __syncthreads();
      const part_bounds<Pair> part =
          find_part_bounds(&args.work, &tile, begin, count, number, parts);
      DEVICE_PATH("oversized bucket");
      sort_part<READS_PAIRS>(&args.work, &tile, found, begin, count, &part);
    }
  }
}

} // namespace sample

#endif
