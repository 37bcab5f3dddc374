/* sort_segments.cuh - sorts short segments, each by itself. A block has the keys of a tile in its
 * shared memory: records are read and written once, and what their keys are hardly changes the
 * time.
 *
 *   records of the longest segment       kernel                 segments of a tile
 *   up to 64                             rank_segments          several, of 2048 records in all
 *   256 to 16,384, if the average is     radix_sort_segments    one
 *   at least half of that
 *   65 to 8192, else                     radix_sort_segments    several, of 16,384 in all
 *   more                                 none: their tiles do not fit in shared memory
 *
 * (16,384 and 8192 are for keys of up to 64 bits on an H200. For wider keys they are half of that.)
 *
 * A rank takes as many comparisons as the segment has records, but all of them need one barrier.
 * Beyond 64 records a radix sort costs less: four passes for keys of 32 bits, and one or two for
 * the numbers of the tile's segments. A tile of one segment saves the latter. But if segments
 * differ much in length, most such tiles would be nearly empty, so tiles have several.
 *
 *   load     makes the keys of the tile's records                    segment_tile.cuh
 *   mark     sets a bit where a segment begins                       segment_tile.cuh
 *   order    finds which record comes where                          segment_order.cuh
 *   write    writes the order, and moves small elements by it        here
 */
#ifndef RECSORT_CUDA_SORT_SEGMENTS_CUH
#define RECSORT_CUDA_SORT_SEGMENTS_CUH

#include "cuda/segments/segment_order.cuh"
#include "cuda/segments/segment_tile.cuh"
#include "gpu/device_segments.h"

namespace segment_sort
{

enum {
  MOST_RANKED = 64, /* records of a segment */
  RANK_BLOCK = 256,
  RANK_BLOCKS = 6, /* that should run on a multiprocessor at once */
  RANK_TILE = 2048,
  LEAST_BLOCK = 128, /* of a radix sort, if a tile has some segments */
  LEAST_OWN = 256    /* records of the longest segment, for each to have its own tile */
};

/* ---- Write ---- */

/* Each record is checked with the one before it in its segment. */
DEVICE_INLINE void check_order(const segment_args &args, const tile &mine)
{
  bool wrong = false;
  for (uint32_t i = threadIdx.x + 1; i < mine.count; i += blockDim.x) {
    const bool first = mine.several && is_head(mine, i);
    wrong |= !first && !comes_before(mine, mine.order[i - 1], mine.order[i]);
  }
  if (wrong) device_poke32(args.disorder, 1);
}

/* Moves a word of each element by the order, through the memory of the keys, which are not needed
 * any more. These words are `apart` words from each other. By all threads; two barriers. */
DEVICE_INLINE void move_words(const uint32_t *from, uint32_t *to, uint32_t apart, const tile &mine)
{
  __syncthreads();
  for (uint32_t i = batch_begin(BATCH); i < mine.count; i += BATCH * blockDim.x) {
    uint32_t words[BATCH] = {};
    DEVICE_UNROLL
    for (uint32_t k = 0; k < BATCH; k++)
      if (i + k * WARP_SIZE < mine.count) words[k] = from[(i + k * WARP_SIZE) * apart];
    DEVICE_UNROLL
    for (uint32_t k = 0; k < BATCH; k++)
      if (i + k * WARP_SIZE < mine.count) mine.keys[i + k * WARP_SIZE] = words[k];
  }
  __syncthreads();
  for (uint32_t i = batch_begin(BATCH); i < mine.count; i += BATCH * blockDim.x) {
    DEVICE_UNROLL
    for (uint32_t k = 0; k < BATCH; k++)
      if (i + k * WARP_SIZE < mine.count)
        to[(i + k * WARP_SIZE) * apart] = mine.keys[mine.order[i + k * WARP_SIZE]];
  }
}

/* Moves an array, word by word of its elements. By all threads. */
DEVICE_INLINE void move(const device_moved &array, const tile &mine)
{
  const uint32_t *const from = (const uint32_t *)array.from + mine.begin * array.words;
  uint32_t *const to = (uint32_t *)array.to + mine.begin * array.words;
  if (array.words == 1) {
    move_words(from, to, 1, mine); /* a constant makes it faster */
    return;
  }
  for (uint32_t w = 0; w < array.words; w++)
    move_words(from + w, to + w, array.words, mine);
}

DEVICE_INLINE void write(const segment_args &args, const tile &mine)
{
  if (args.disorder) check_order(args, mine);
  if (args.order)
    for (uint32_t i = threadIdx.x; i < mine.count; i += blockDim.x)
      store_index(args, mine.begin + i, mine.begin + mine.order[i]);
  for (uint32_t m = 0; m < args.moved_count; m++)
    move(args.moved[m], mine);
}

/* ---- Kernels ---- */

/* Loads a tile of `count` records from mine->begin on. Returns whether there is something to sort.
 * By all threads. */
template <reading How>
DEVICE_INLINE bool load(const segment_args &args, uint64_t count, tile *mine, uint32_t *memory)
{
  if (count > args.tile) {
    if (threadIdx.x == 0) args.from.facts->overlong = 1;
    keep(args, mine->begin, mine->begin + count);
    return false;
  }
  mine->count = (uint32_t)count;
  mine->size = args.tile;
  mine->words =
      How == reading::WORDS_OF_4 ? 1 : args.words; /* a constant makes all that follows faster */
  divide(mine, memory);
  load_keys<How>(args, *mine);
  return count > 0;
}

/* Reads the records of a tile, and the offsets of its segments. Writes their order, and the arrays
 * that it moves.
 *
 * The keys are in shared memory, as each is compared with all of its segment. Such a tile is small,
 * so that RANK_BLOCKS fit on a multiprocessor: while one waits at its barriers, others compare. */
template <reading How>
__global__ void __launch_bounds__(RANK_BLOCK, device_blocks(RANK_BLOCK, RANK_BLOCKS))
    rank_segments(const __grid_constant__ segment_args args)
{
  DEVICE_SHARED(uint32_t, memory);
  device_await_before();
  tile mine = {};
  if (!load<How>(args, find_several(args, &mine), &mine, memory)) return;
  mark_heads(args, mine);
  order_by_ranks(mine);
  write(args, mine);
}

/* Reads and writes the same. If each segment has its own tile, a block for each comes first. The
 * blocks behind these keep the records that no segment has.
 *
 * The shared memory limits the longest segment: a tile has all that a block may use, and memory is
 * read once and written once however many digits the keys have. */
template <reading How>
__global__ void __launch_bounds__(segment_args::max_threads, 1)
    radix_sort_segments(const __grid_constant__ segment_args args)
{
  DEVICE_SHARED(uint32_t, memory);
  device_await_before();
  const bool several = args.part > 0;
  if (!several && blockIdx.x >= args.segments.count) {
    keep_outside(args, blockIdx.x - args.segments.count);
    return;
  }
  tile mine = {};
  const uint64_t count = several ? find_several(args, &mine) : find_one(args, &mine);
  if (!load<How>(args, count, &mine, memory)) return;
  if (several) mark_heads(args, mine);
  begin_order(mine);
  order_by_keys(mine);
  if (several) order_by_segments(mine);
  write(args, mine);
}

/* ---- Plans ---- */

/* How segments are sorted. */
struct segment_plan {
  bool ranked;
  uint32_t block;
  uint32_t tile;
  uint32_t part; /* as in segment_args */
};

static inline uint32_t words_of(const device_segment_sort *job)
{
  return job->key_bits <= 32 ? 1 : job->key_bits <= 64 ? 2 : 4;
}

/* Whether a block of a radix sort has the shared memory that it needs. */
static inline bool fits(const device_segment_sort *job, uint64_t block)
{
  enum { STATIC = 1 << 10 /* bytes that the kernel has besides */ };
  const uint32_t threads = (uint32_t)block;
  return shared_bytes(threads * ITEMS, words_of(job), threads / WARP_SIZE) + STATIC <=
         job->shared_bytes;
}

/* Returns false if no kernel has space for the longest segment. A tile of several segments has
 * space for two of the longest at least, and for four if these fit: its part is then at least half
 * of the tile. */
static inline bool plan_segments(const device_segment_sort *job, segment_plan *plan)
{
  const uint64_t longest = job->segments.most;
  if (longest == 0 || longest > UINT32_MAX) return false;
  if (longest <= MOST_RANKED) {
    *plan = {true, RANK_BLOCK, RANK_TILE, RANK_TILE - (uint32_t)longest + 1};
    return true;
  }
  const bool own = longest >= LEAST_OWN && job->segments.count <= 2 * job->count / longest;
  const uint64_t least = own ? longest : 2 * longest, wanted = own ? longest : 4 * longest;
  uint64_t block = LEAST_BLOCK;
  if (own) block = WARP_SIZE;
  while (block < segment_args::max_threads && block * ITEMS < wanted && fits(job, 2 * block))
    block *= 2;
  const uint64_t tile = block * ITEMS;
  if (tile < least) return false;
  *plan = {false, (uint32_t)block, (uint32_t)tile, own ? 0 : (uint32_t)(tile - longest + 1)};
  return true;
}

/* Starts the sort by a plan that plan_segments has found. `How` is reading_of the source. */
template <reading How>
device_status start_sort(const device_segment_sort *job, const segment_plan &plan,
                         const record_source &from)
{
  RS_ASSERT(job->moved_count <= DEVICE_MOST_MOVED);
  segment_args args = {from,      job->segments,    job->count,      plan.part,
                       plan.tile, words_of(job),    job->index_bits, job->order,
                       {},        job->moved_count, job->disorder};
  for (uint32_t m = 0; m < job->moved_count; m++)
    args.moved[m] = job->moved[m];
  const uint64_t bytes = shared_bytes(plan.tile, args.words, plan.block / WARP_SIZE);
  RS_ASSERT(bytes <= job->shared_bytes);
  const uint64_t grid = plan.part ? plan_blocks(job->count, plan.part)
                                  : job->segments.count + plan_blocks(job->count, plan.tile);
  return plan.ranked
             ? device_launch(rank_segments<How>, grid, plan.block, bytes, job->stream, args)
             : device_launch(radix_sort_segments<How>, grid, plan.block, bytes, job->stream, args);
}

} // namespace segment_sort

#endif
