/* merge_pieces.cuh - merges sorted runs (merge_plan.h):
 *
 *   cut_runs       finds where each splitter cuts each run
 *   merge_pieces   a block collects the pieces of its tile, one of each run, and sorts them in
 *                  shared memory, as sort_padded does with a bucket
 *
 * Bins need no order within a tile, so that the pieces are sorted makes no difference: merging them
 * would take a stage for each power of two of runs, and tools/results/NOTES.md has what that costs.
 */
#ifndef RECSORT_CUDA_SAMPLE_MERGE_PIECES_CUH
#define RECSORT_CUDA_SAMPLE_MERGE_PIECES_CUH

#include "cuda/sort/sample/agent/load.cuh"
#include "cuda/sort/sample/agent/tile_sort.cuh"
#include "cuda/sort/sample/merge_plan.h"

namespace sample
{

/* ---- Cuts ---- */

/* The type of a sample: packed ones are stored unpacked, as results are. */
template <class Pair> struct sample_of {
  using type = Pair;
};
template <> struct sample_of<packed_pair> {
  using type = wide_pair<uint64_t, uint64_t>;
};

/* Sorted samples, of which every `each`-th is a splitter: the last pair of its tile. */
template <class Pair> struct merged_samples {
  pair_array<typename sample_of<Pair>::type> pairs;
  uint32_t each;
};

/* The splitter behind a tile. */
template <class Pair>
DEVICE_INLINE Pair splitter_of(const pair_source<Pair> *source, const merged_samples<Pair> *samples,
                               uint64_t tile)
{
  const auto sample = pair_get(&samples->pairs, (tile + 1) * samples->each - 1);
  if constexpr (Pair::packed)
    return pack(source, sample.key, sample.index);
  else
    return sample;
}

template <class Pair> struct cut_runs_args {
  static constexpr uint32_t max_threads = SAMPLE_CUT_BLOCK;
  /* reads */
  pair_source<Pair> source;
  sample_runs runs;
  merged_samples<Pair> samples;
  uint64_t splitters;
  uint32_t run_blocks; /* blocks that cut a run */
  /* writes */
  uint64_t *cuts; /* for each splitter, and for each run: its elements up to the splitter */
};

/* A thread for each splitter and run. Reads the splitter and, by bisection, elements of the run.
 * Writes how many of these are not behind it. The loads of a search wait for each other.
 * Neighbouring threads have neighbouring splitters, so that most steps of their searches read the
 * same keys. */
template <class Pair>
__global__ void __launch_bounds__(SAMPLE_CUT_BLOCK)
    cut_runs(const __grid_constant__ cut_runs_args<Pair> args)
{
  device_await_before();
  const uint32_t run = blockIdx.x / args.run_blocks, block = blockIdx.x % args.run_blocks;
  DEVICE_ASSERT(run < args.runs.count);
  const uint64_t tile = (uint64_t)block * blockDim.x + threadIdx.x;
  if (tile >= args.splitters) return;
  const Pair splitter = splitter_of(&args.source, &args.samples, tile);
  uint64_t low = 0, high = sample_run_length(&args.runs, run);
  while (low < high) {
    const uint64_t i = low + (high - low) / 2;
    if (pair_less(splitter, load(&args.source, sample_run_at(&args.runs, run, i))))
      high = i;
    else
      low = i + 1;
  }
  args.cuts[tile * args.runs.count + run] = low;
}

/* ---- Tiles ---- */

/* Writes tiles of merged pairs. */
template <class Pair> struct merge_pieces_args {
  static constexpr uint32_t max_threads = SAMPLE_TILE_BLOCK;
  /* reads */
  pair_source<Pair> source;
  sample_runs runs;
  merged_samples<Pair> samples;
  const uint64_t *cuts;
  uint32_t joined, limit; /* as in sample_merge_plan */
  /* writes */
  pair_target<Pair> target;
};

/* The pieces of a tile, one after the other, in shared memory. */
struct tile_pieces {
  uint64_t *bases; /* position of a pair among all keys, if it were the first of the tile */
  uint64_t *sums;  /* for each warp */
  uint32_t *ends;  /* of the pieces, in the tile */
};

/* In memory that has four words for each thread, more than this needs. */
DEVICE_INLINE tile_pieces pieces_at(uint32_t *words, uint32_t runs)
{
  tile_pieces pieces;
  pieces.bases = (uint64_t *)words;
  pieces.sums = pieces.bases + runs;
  pieces.ends = (uint32_t *)(pieces.sums + blockDim.x / WARP_SIZE);
  return pieces;
}

/* Lists the pieces of the block's tile, a thread for each run. Returns the number of pairs; *first,
 * in shared memory, becomes the place of the first one among all. Two barriers; *first is valid
 * behind another one. */
template <class Pair>
DEVICE_INLINE uint32_t list_pieces(const merge_pieces_args<Pair> &args, const tile_pieces &pieces,
                                   uint64_t *first)
{
  const uint32_t runs = args.runs.count, run = threadIdx.x;
  DEVICE_ASSERT(runs > 0 && runs <= blockDim.x);
  const uint64_t tile = blockIdx.x;
  uint64_t begin = 0, end = 0;
  if (run < runs) {
    if (tile > 0) begin = args.cuts[(tile - 1) * runs + run];
    end = tile + 1 < gridDim.x ? args.cuts[tile * runs + run] : sample_run_length(&args.runs, run);
  }
  DEVICE_ASSERT(begin <= end);
  const uint32_t count = (uint32_t)(end - begin), before = block_before(count);
  if (run < runs) {
    pieces.bases[run] = sample_run_at(&args.runs, run, begin - before);
    pieces.ends[run] = before + count;
  }
  for (uint32_t lanes = WARP_SIZE / 2; lanes > 0; lanes /= 2)
    begin += __shfl_xor_sync(UINT32_MAX, begin, lanes);
  if (threadIdx.x % WARP_SIZE == 0) pieces.sums[threadIdx.x / WARP_SIZE] = begin;
  __syncthreads();
  if (threadIdx.x == 0) {
    uint64_t sum = 0;
    for (uint32_t warp = 0; warp * WARP_SIZE < runs; warp++)
      sum += pieces.sums[warp];
    *first = sum;
  }
  return pieces.ends[runs - 1];
}

/* Says for load_items where a tile's pairs are. A thread asks for them in ascending order. */
struct pieces_of {
  tile_pieces pieces;
  uint32_t shift, piece, end;
  uint64_t base;

  DEVICE_MEMBER void enter(uint32_t number)
  {
    piece = number;
    end = pieces.ends[number];
    base = pieces.bases[number];
  }
  DEVICE_MEMBER uint64_t at(uint32_t i)
  {
    while (i >= end)
      enter(piece + 1);
    return base + ((uint64_t)i << shift);
  }
};

/* Begins with the piece of pair `i`, which may be behind the last one. */
DEVICE_INLINE pieces_of pieces_from(const tile_pieces &pieces, const sample_runs *runs, uint32_t i)
{
  DEVICE_ASSERT(runs->count > 0);
  pieces_of some = {pieces, runs->shift, 0, 0, 0};
  uint32_t low = 0, high = runs->count - 1;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (pieces.ends[middle] <= i)
      low = middle + 1;
    else
      high = middle;
  }
  some.enter(low);
  return some;
}

/* A block for each tile. Reads the tile's pieces, one of each run, between two rows of cuts.
 * Writes their pairs in order. Sorts them in shared memory by bins, as sort_padded does and with
 * its limits: merging would take a stage for each power of two of runs. The list of pieces lies
 * where tags or bins come later, and the place of the tile in shared memory, so that fewer
 * registers spill. */
template <class Pair>
__global__ void __launch_bounds__(SAMPLE_TILE_BLOCK,
                                  device_blocks(SAMPLE_TILE_BLOCK, policy<Pair>::tile_blocks))
    merge_pieces(const __grid_constant__ merge_pieces_args<Pair> args)
{
  device_await_before();
  const tile_storage<Pair> tile =
      tile_storage_at<Pair>(device_shared_memory(), args.source.index_bits, args.limit);
  const bool known = blockIdx.x > 0 && blockIdx.x + 1 < gridDim.x; /* between two splitters */
  /* What sort_bins overwrites only behind a barrier: all have loaded their pairs then. */
  const tile_pieces pieces = pieces_at(known ? tile.tags : tile.bins, args.runs.count);
  DEVICE_SHARED_ARRAY(uint64_t, first, 1);
  const uint32_t count = list_pieces(args, pieces, first);
  const uint32_t each = share_each((uint32_t)plan_max(count, args.joined));
  const block_share mine = share_of(count, each, policy<Pair>::usual);
  const uint32_t limit = limit_of(&tile, count);
  load_to_tile(&args.source, pieces_from(pieces, &args.runs, mine.first), &mine, &tile.pairs);
  bin_scale<Pair> scale;
  if (known)
    scale = scale_of(splitter_of(&args.source, &args.samples, blockIdx.x - 1),
                     splitter_of(&args.source, &args.samples, blockIdx.x), args.source.index_bits,
                     0, blockDim.x * policy<Pair>::bins);
  sort_bins(&tile, &mine, limit, known, &scale);
  const pair_output<Pair> out = output_of(&args.target, *first, args.source.index_bits);
  store_tile(&tile, count, each, &mine, limit, &scale, &out);
}

} // namespace sample

#endif
