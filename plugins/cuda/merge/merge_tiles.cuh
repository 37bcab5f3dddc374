/* merge_tiles.cuh - a merge pass: every two sorted runs become one. A block merges a tile of the
 * output:
 *
 *   two of its warps co-rank the ends of the tile in the two runs
 *   each thread loads pairs of the parts between, and puts their digests in shared memory
 *   each thread co-ranks its part of the output there, and merges it serially: that gives the
 *   rank of each pair in the tile
 *   pairs go to the place of their rank in shared memory, and from there to the output
 */
#ifndef RECSORT_CUDA_MERGE_TILES_CUH
#define RECSORT_CUDA_MERGE_TILES_CUH

#include "cuda/merge/digest.cuh"
#include "cuda/merge/plan.h"
#include "cuda/merge/target.cuh"
#include "cuda/runs.cuh"

namespace merge
{

/* Pairs of a thread: as many as there are registers for, and odd, so that the parts of a warp's
 * threads begin in different banks of shared memory. Measured on an H200 (tools/results/NOTES.md).
 */
template <class Pair> static constexpr uint32_t tile_items = Pair::bytes <= 8 ? 13 : 7;

/* Blocks of a multiprocessor at once. */
template <class Pair>
static constexpr uint32_t tile_blocks = Pair::bytes <= 8    ? 5
                                        : Pair::bytes <= 16 ? 6
                                                            : 4;

/* The co-rank: how many of the first `rank` elements of the merge of a and b come from a. The lanes
 * of a warp try 32 candidates a round. In all but the last rounds these are multiples of a power of
 * 32, the same for all tiles of a pass, so they are in the cache. */
template <class Run> DEVICE_INLINE uint64_t warp_co_rank(uint64_t rank, Run a, Run b)
{
  DEVICE_ASSERT(rank <= a.count + b.count);
  uint64_t low = rank > b.count ? rank - b.count : 0;
  const uint64_t high = rank < a.count ? rank : a.count;
  uint32_t bits = 0;
  while ((high - low) >> bits >= WARP_SIZE)
    bits += WARP_BITS;
  for (;; bits -= WARP_BITS) {
    const uint64_t i = ((low >> bits) + 1 + threadIdx.x % WARP_SIZE) << bits;
    const bool found = i <= high && LEFT_GOES_FIRST(key_at(a, i - 1), key_at(b, rank - i));
    const uint32_t more = device_popc(device_ballot(found));
    if (more) low = ((low >> bits) + more) << bits;
    if (bits == 0) return low;
  }
}

/* Merges neighbouring runs, two at a time: the pairs are in spans, each of which has a run of
 * `width` pairs and behind it another one. The last span may be shorter. */
template <class Pair> struct merge_tiles_args {
  static constexpr uint32_t max_threads = MERGE_TILE_BLOCK;
  /* reads */
  pair_array<Pair> from; /* `indices` are not read if pairs are numbered */
  uint64_t count;
  uint64_t width;
  uint64_t span;
  uint32_t pair_tiles; /* tiles of a whole span */
  uint32_t tile;       /* pairs of a tile */
  /* writes */
  merge_target<Pair> to;
};

/* Part of a run. */
template <class Pair> struct run_part {
  pair_array<Pair> pairs; /* the pointers to add a pair's number in the tile to */
  uint64_t first;         /* likewise, its position among all pairs */
};

/* What the index of a pair is: stored, or its position among all pairs. */
enum numbering { STORED_INDICES, POSITIONS };

/* The parts of two runs that a block merges: its pairs [0, a_count) and [a_count, count). */
template <class Pair> struct tile_parts {
  run_part<Pair> a, b;
  uint32_t a_count, count;

  DEVICE_MEMBER const run_part<Pair> &part(uint32_t i) const
  {
    return i < a_count ? a : b;
  }
  DEVICE_MEMBER key_of<Pair> left(uint32_t i) const
  {
    return a.pairs.keys[i];
  }
  DEVICE_MEMBER key_of<Pair> right(uint32_t i) const
  {
    return b.pairs.keys[i];
  }
  template <numbering numbers> DEVICE_MEMBER Pair pair(uint32_t i) const
  {
    if constexpr (numbers == STORED_INDICES)
      return pair_get(&part(i).pairs, i);
    else
      return {part(i).pairs.keys[i], (index_of<Pair>)(part(i).first + i)};
  }
};

template <numbering numbers, class Pair>
DEVICE_INLINE run_part<Pair> part_from(const pair_array<Pair> *all, int64_t first)
{
  run_part<Pair> part = {*all, (uint64_t)first};
  part.pairs.keys += first;
  if constexpr (numbers == STORED_INDICES && !Pair::packed) part.pairs.indices += first;
  return part;
}

/* The outputs of a tile. */
template <class Pair>
DEVICE_INLINE output_range tile_range(const merge_tiles_args<Pair> &args, uint64_t tile)
{
  const uint32_t number = (uint32_t)tile / args.pair_tiles;
  const uint64_t first = number * args.span;
  const pair_range pair = {first, plan_min(first + args.width, args.count),
                           plan_min(first + args.span, args.count)};
  const uint64_t length = pair.end - pair.begin;
  DEVICE_ASSERT(args.width <= args.span && first <= args.count);
  const uint64_t begin = plan_min((tile - number * args.pair_tiles) * (uint64_t)args.tile, length);
  return {pair, begin, plan_min(begin + args.tile, length)};
}

/* The co-rank of output `rank` of two runs. A warp. */
template <class Pair>
DEVICE_INLINE uint64_t pair_co_rank(const merge_tiles_args<Pair> &args, pair_range pair,
                                    uint64_t rank)
{
  const global_run<Pair> a = {args.from.keys, NULL, pair.begin, pair.middle - pair.begin};
  const global_run<Pair> b = {args.from.keys, NULL, pair.middle, pair.end - pair.middle};
  return warp_co_rank(rank, a, b);
}

/* The parts of the block's tile. One barrier. */
template <numbering numbers, class Pair>
DEVICE_INLINE tile_parts<Pair> find_parts(const merge_tiles_args<Pair> &args, output_range range)
{
  DEVICE_SHARED_ARRAY(uint64_t, ends, 2);
  const uint32_t warp = threadIdx.x / WARP_SIZE;
  if (warp < 2) {
    const uint64_t found = pair_co_rank(args, range.pair, warp ? range.end : range.begin);
    if (threadIdx.x % WARP_SIZE == 0) ends[warp] = found;
  }
  __syncthreads();
  const uint32_t a_count = (uint32_t)(ends[1] - ends[0]);
  DEVICE_ASSERT(ends[0] <= ends[1] && ends[1] - ends[0] <= args.tile);
  const int64_t b_first = (int64_t)(range.pair.middle + range.begin - ends[0]) - a_count;
  return {part_from<numbers>(&args.from, (int64_t)(range.pair.begin + ends[0])),
          part_from<numbers>(&args.from, b_first), a_count, (uint32_t)(range.end - range.begin)};
}

/* The digest for the tile's keys, by the first and the last one of each part. */
template <class Pair>
DEVICE_INLINE key_digest<key_of<Pair>> tile_digest(const tile_parts<Pair> &parts)
{
  DEVICE_ASSERT(parts.count > 0);
  const bool has_a = parts.a_count > 0, has_b = parts.a_count < parts.count;
  const key_of<Pair> *const a = parts.a.pairs.keys, *const b = parts.b.pairs.keys;
  key_of<Pair> least = has_a ? a[0] : b[0];
  key_of<Pair> greatest = has_b ? b[parts.count - 1] : a[parts.count - 1];
  if (has_a && has_b) {
    if (b[parts.a_count] < least) least = b[parts.a_count];
    if (greatest < a[parts.a_count - 1]) greatest = a[parts.a_count - 1];
  }
  return digest_of(least, greatest, 32);
}

/* ---- Merging digests in shared memory ---- */

/* How pairs of equal digests are compared: the left one goes first, or their keys decide. */
enum tie_rule { TIES_GO_LEFT, TIES_BY_KEY };

template <tie_rule ties, class Parts>
DEVICE_INLINE bool goes_left(const Parts &parts, uint32_t i, uint32_t j, uint32_t left,
                             uint32_t right)
{
  if (ties == TIES_BY_KEY && left == right) return LEFT_GOES_FIRST(parts.left(i), parts.right(j));
  return LEFT_GOES_FIRST(left, right);
}

/* Merges a thread's part of the output, `items` pairs: notes the number of each pair that comes
 * there, and its rank in the tile. Returns whether it compared two equal digests. Every digest that
 * both parts have is compared with its equal by some thread. */
template <tie_rule ties, uint32_t items, class Parts, class Note>
DEVICE_INLINE bool merge_digests(const Parts &parts, const uint32_t *digests, Note note)
{
  const uint32_t first = threadIdx.x * items, a_count = parts.a_count, count = parts.count;
  const uint32_t b_count = count - a_count;
  bool tied = false;
  if (first >= count) return false;
  uint32_t low = first > b_count ? first - b_count : 0, high = first < a_count ? first : a_count;
  while (low < high) { /* PMPP, fig. 12.5 */
    const uint32_t i = (low + high) / 2, j = a_count + first - i - 1;
    if (goes_left<ties>(parts, i, j, digests[i], digests[j]))
      low = i + 1;
    else
      high = i;
  }
  DEVICE_ASSERT(low <= a_count && first - low <= b_count);
  uint32_t i = low, j = a_count + first - low;
  uint32_t left = digests[i], right = digests[j]; /* there is one more behind the last */
  DEVICE_UNROLL
  for (uint32_t k = 0; k < items; k++) {
    const bool is_left = j >= count || (i < a_count && goes_left<ties>(parts, i, j, left, right));
    tied = tied || left == right;
    if (first + k < count) note(is_left ? i : j, first + k);
    i += is_left;
    j += !is_left;
    const uint32_t next = digests[is_left ? i : j];
    left = is_left ? next : left;
    right = is_left ? right : next;
  }
  return tied;
}

/* Merges a tile whose digests the threads have put in shared memory; by keys, if different ones may
 * have the same digest. *tied is 0 before. By all threads of the block; begins with a barrier. What
 * is noted last is visible to all. */
template <uint32_t items, class Parts, class Note>
DEVICE_INLINE void merge_tile(const Parts &parts, const uint32_t *digests, uint32_t shift,
                              uint32_t *tied, Note note)
{
  __syncthreads();
  if (merge_digests<TIES_GO_LEFT, items>(parts, digests, note) && shift > 0)
    (void)device_or32(tied, 1);
  __syncthreads();
  if (*tied) {
    (void)merge_digests<TIES_BY_KEY, items>(parts, digests, note);
    __syncthreads();
  }
}

/* A block merges a tile of the output. Reads the parts of two runs; writes their pairs in order.
 * Pairs stay in registers, as many as these hold, and digests are merged in shared memory: wider
 * keys would conflict in its banks. Pairs go to the output through shared memory, as stores at
 * their ranks send half-filled sectors to the second-level cache. While two warps search for the
 * tile's ends, other blocks of the multiprocessor work. */
template <class Pair, numbering numbers>
__global__ void __launch_bounds__(MERGE_TILE_BLOCK,
                                  device_blocks(MERGE_TILE_BLOCK, tile_blocks<Pair>))
    merge_tiles(const __grid_constant__ merge_tiles_args<Pair> args)
{
  constexpr uint32_t items = tile_items<Pair>;
  device_await_before();
  DEVICE_SHARED_ARRAY(uint32_t, tied, 1);
  const pair_array<Pair> sorted = pair_array_at<Pair>(device_shared_memory(), args.tile);
  uint32_t *const digests = (uint32_t *)pair_array_end(&sorted, args.tile);
  uint16_t *const ranks = (uint16_t *)(digests + args.tile + 1);
  const auto note = [&](uint32_t number, uint32_t rank) { ranks[number] = (uint16_t)rank; };
  if (threadIdx.x == 0) *tied = 0;
  const output_range range = tile_range(args, blockIdx.x);
  const tile_parts<Pair> parts = find_parts<numbers>(args, range);
  DEVICE_ASSERT(parts.count <= args.tile && args.tile <= items * blockDim.x);
  const key_digest<key_of<Pair>> digest = tile_digest(parts);
  Pair mine[items] = {};
  DEVICE_UNROLL
  for (uint32_t k = 0; k < items; k++) {
    const uint32_t i = threadIdx.x + k * blockDim.x;
    if (i < parts.count) mine[k] = parts.template pair<numbers>(i);
  }
  DEVICE_UNROLL
  for (uint32_t k = 0; k < items; k++)
    digests[threadIdx.x + k * blockDim.x] = digest.of(mine[k].key);
  merge_tile<items>(parts, digests, digest.shift, tied, note);
  DEVICE_UNROLL
  for (uint32_t k = 0; k < items; k++) {
    const uint32_t i = threadIdx.x + k * blockDim.x;
    if (i < parts.count) pair_put(&sorted, ranks[i], mine[k]);
  }
  __syncthreads();
  store_pairs(args.to, range.pair.begin + range.begin, parts.count, sorted);
}

} // namespace merge

#endif
