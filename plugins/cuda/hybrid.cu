/* hybrid.cu - the device sort that is meant to be fast.
 *
 *   look    whether very many keys ascend already, or descend: then they are numbered, or turned
 *           round (hybrid_order.inc); or ascend but for a few, which are sorted apart and merged
 *           with the others (hybrid_mend.inc)
 *   rank    few pairs: for each the others before it are counted (hybrid_rank.inc)
 *   deal    more: to buckets with room to spare, which are then sorted
 *   split   many: to buckets of known sizes, level by level (hybrid_find.inc and hybrid_buckets.inc
 *           for both)
 *   parts   what is too large for a tile: each block collects a part (hybrid_select.inc)
 *
 * Blocks sort up to some thousand pairs in shared memory, as a tile (hybrid_tile.inc).
 *
 * A pair is a key and its index, and all pairs differ: so no step need be stable. Where both fit in
 * 64 bits they are packed, the index below, and one array moves instead of two.
 */
#include "cuda/hybrid.h"

#include "cuda/device.h"
#include "cuda/hybrid_plan.h"

enum {
  HYBRID_ORDER_BLOCK = 256,
  HYBRID_FEW_DESCEND = 12, /* one of so many, of keys that may be nearly sorted */
  HYBRID_CHUNK = 256,      /* of these, for a warp */
  HYBRID_MEND_BLOCK = 128,
  HYBRID_RANK_BLOCK = 512,
  HYBRID_MOST_HEAVY = 104, /* cells of a tile with more pairs than the limit */
  HYBRID_TEAM = 8,         /* lanes that look for the ends of one */
  HYBRID_PART = 64,        /* marks of one that they look at at once */
  HYBRID_FEW = 8,          /* pairs that one thread settles */
  HYBRID_NUMBER_BITS = 13  /* of a mark */
};
#define HYBRID_UNSETTLED (1u << 31)  /* of a mark */
#define HYBRID_HEAVY (1u << 30)      /* of an unsettled one */
#define HYBRID_ONE_BUCKET (1u << 15) /* of a table of cells */

static uint32_t place_bits_of(const device_job *job)
{
  return job->count > 1 ? 64 - (uint32_t)__builtin_clzll(job->count - 1) : 1;
}

/* ---- From keys to packed pairs, and back ---- */

typedef struct key_source {
  const void *keys; /* NULL: pairs are there already */
  uint32_t key_width;
} key_source;

typedef struct pair_sink {
  void *keys;
  void *indices; /* NULL: to pairs */
  uint32_t key_width, index_bits;
} pair_sink;

/* A key of which only the low 64 bits can be other than 0. */
DEVICE_INLINE uint64_t load_key(const key_source *source, uint64_t i)
{
  if (source->key_width == 32) return ((const uint32_t *)source->keys)[i];
  if (source->key_width == 64) return ((const uint64_t *)source->keys)[i];
  return (uint64_t)((const device_uint128 *)source->keys)[i];
}

DEVICE_INLINE void store_unpacked(const pair_sink *sink, uint32_t place_bits, uint32_t i,
                                  uint64_t pair)
{
  const uint64_t place = pair & ((UINT64_C(1) << place_bits) - 1), key = pair >> place_bits;
  if (sink->index_bits == 32)
    ((uint32_t *)sink->indices)[i] = (uint32_t)place;
  else
    ((uint64_t *)sink->indices)[i] = place;
  if (sink->key_width == 32)
    ((uint32_t *)sink->keys)[i] = (uint32_t)key;
  else if (sink->key_width == 64)
    ((uint64_t *)sink->keys)[i] = key;
  else
    ((device_uint128 *)sink->keys)[i] = key;
}

/* The part that begins with pair `first`. */
DEVICE_INLINE pair_sink sink_from(const pair_sink *all, uint64_t first)
{
  pair_sink sink = *all;
  if (!sink.indices) return sink;
  sink.keys = (char *)sink.keys + first * (sink.key_width / 8);
  sink.indices = (char *)sink.indices + first * (sink.index_bits / 8);
  return sink;
}

/* ---- Places in an array of pairs ---- */

/* 32 or 64 bits each, every so many. */
typedef struct places {
  void *at;
  uint32_t bits, stride;
} places;

DEVICE_INLINE uint64_t place_get(const places *all, uint64_t i)
{
  return all->bits == 32 ? ((const uint32_t *)all->at)[i * all->stride]
                         : ((const uint64_t *)all->at)[i * all->stride];
}

DEVICE_INLINE void place_set(const places *all, uint64_t i, uint64_t place)
{
  if (all->bits == 32)
    ((uint32_t *)all->at)[i * all->stride] = (uint32_t)place;
  else
    ((uint64_t *)all->at)[i * all->stride] = place;
}

/* Returns what was there before. */
DEVICE_INLINE uint64_t place_add(const places *all, uint64_t i, uint32_t more)
{
  return all->bits == 32 ? device_add32((uint32_t *)all->at + i * all->stride, more)
                         : device_add64((uint64_t *)all->at + i * all->stride, more);
}

DEVICE_INLINE uint64_t bucket_begin(const places *ends, uint64_t bucket)
{
  return bucket ? place_get(ends, bucket - 1) : 0;
}

DEVICE_INLINE uint64_t segment_begin(const places *ends, uint32_t segment)
{
  return bucket_begin(ends, segment);
}

DEVICE_INLINE uint64_t segment_end(const places *ends, uint32_t segment, uint32_t segments,
                                   uint64_t count)
{
  return segment + 1 == segments ? count : place_get(ends, segment);
}

/* The segment that pair `at` is in: by a warp, which looks at as many places at once as it has
 * lanes. All its lanes come along. */
DEVICE_INLINE uint32_t segment_at(const places *ends, uint32_t segments, uint64_t at)
{
  uint32_t low = 0, count = segments;
  while (count > 1) {
    const uint32_t every = (count + HYBRID_WARP - 1) / HYBRID_WARP;
    const uint32_t last = (threadIdx.x % HYBRID_WARP + 1) * every - 1;
    const bool before = last + 1 < count && place_get(ends, low + last) <= at;
    const uint32_t skipped = every * device_popc(device_ballot(before));
    low += skipped;
    count = (uint32_t)plan_min(every, count - skipped);
  }
  return low;
}

/* ---- Tiles of neighbouring buckets ---- */

/* Pairs [from, from + count), of bucket `first` or of some from there on. If it is known between
 * which splitters they are: what their scale is beside the lesser one. */
typedef struct bucket_tile {
  uint64_t from;
  uint32_t count, first;
  uint32_t factor;
  uint16_t zeros;
  bool by_index, known;
} bucket_tile;

typedef struct tile_list {
  bucket_tile *of;
  uint32_t *count;
} tile_list;

/* The end of the tile that begins with bucket `first`: it has room for `tile` pairs, or has one
 * bucket. */
DEVICE_INLINE uint32_t tile_end(const uint64_t *begins, uint32_t first, uint32_t buckets,
                                uint32_t tile)
{
  uint32_t low = first + 1, high = buckets;
  while (low < high) {
    const uint32_t middle = (low + high + 1) / 2;
    if (begins[middle] - begins[first] <= tile)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* ---- Samples ---- */

/* One of some places that are `distance` / 2^16 apart, but for 16 bits of chance, so that no
 * pattern of the input is in step with them. No two are the same. */
DEVICE_INLINE uint64_t sample_place(uint32_t i, uint64_t distance)
{
  const uint64_t first = i * distance >> 16, next = (i + 1) * distance >> 16;
  const uint32_t chance = (i + 1) * 2654435761u >> 16; /* Knuth, volume 3, 6.4 */
  return first + (chance * (next - first) >> 16);
}

/* How many of `count` ascending numbers are less than `bound`. */
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

/* ---- A block's pairs ---- */

/* A thread's: number `first`, and every HYBRID_WARP from there on, before `end`. Those of a warp
 * are neighbours, so that where a thread's lie differs by constants. */
typedef struct block_share {
  uint32_t first, end;
  bool whole; /* no lane of the warp could have more */
} block_share;

/* Of `count` pairs, `each` a thread, of `most` that there could be. */
DEVICE_INLINE block_share share_of(uint32_t count, uint32_t each, uint32_t most)
{
  const uint32_t warps = HYBRID_WARP * each, begin = threadIdx.x / HYBRID_WARP * warps;
  const block_share mine = {begin + threadIdx.x % HYBRID_WARP,
                            (uint32_t)plan_min(begin + warps, count),
                            each == most && begin + warps <= count};
  return mine;
}

/* So many a thread, that all have about as many; the block has a power of two. */
DEVICE_INLINE uint32_t share_each(uint32_t count)
{
  return (count + blockDim.x - 1) >> (31 - device_clz32(blockDim.x));
}

DEVICE_INLINE uint32_t share_at(const block_share *mine, uint32_t t)
{
  return mine->first + t * HYBRID_WARP;
}

/* Without the first ones. */
DEVICE_INLINE block_share share_from(const block_share *all, uint32_t t)
{
  block_share some = *all;
  some.first = share_at(all, t);
  return some;
}

/* Whether any lane of the warp has so many; it comes before share_has(). `whole`: a constant. */
DEVICE_INLINE bool share_goes_on(const block_share *mine, uint32_t t, bool whole)
{
  return whole || share_at(mine, t) - threadIdx.x % HYBRID_WARP < mine->end;
}

DEVICE_INLINE bool share_has(const block_share *mine, uint32_t t, bool whole)
{
  return whole || share_at(mine, t) < mine->end;
}

/* ---- Sums over a block ---- */

/* The sum of what the threads before have, and that of all. One barrier: callers need another one
 * before the next call. */
DEVICE_INLINE uint32_t block_before_all(uint32_t mine, uint32_t *all)
{
  DEVICE_SHARED_ARRAY(uint32_t, sums, HYBRID_SAMPLE_BLOCK / HYBRID_WARP);
  const uint32_t lane = threadIdx.x % HYBRID_WARP, warp = threadIdx.x / HYBRID_WARP;
  uint32_t sum = mine;
  DEVICE_UNROLL
  for (uint32_t lanes = 1; lanes < HYBRID_WARP; lanes *= 2) {
    const uint32_t before = __shfl_up_sync(UINT32_MAX, sum, lanes);
    if (lane >= lanes) sum += before;
  }
  if (lane == HYBRID_WARP - 1) sums[warp] = sum;
  __syncthreads();
  const uint32_t other = lane < blockDim.x / HYBRID_WARP ? sums[lane] : 0;
  *all = device_warp_sum(other);
  return sum - mine + device_warp_sum(lane < warp ? other : 0);
}

DEVICE_INLINE uint32_t block_before(uint32_t mine)
{
  uint32_t all;
  return block_before_all(mine, &all);
}

/* Of all threads, for all of them; likewise. */
DEVICE_INLINE uint32_t block_sum(uint32_t mine)
{
  DEVICE_SHARED_ARRAY(uint32_t, sums, HYBRID_SAMPLE_BLOCK / HYBRID_WARP);
  const uint32_t lane = threadIdx.x % HYBRID_WARP, sum = device_warp_sum(mine);
  if (lane == 0) sums[threadIdx.x / HYBRID_WARP] = sum;
  __syncthreads();
  return device_warp_sum(lane < blockDim.x / HYBRID_WARP ? sums[lane] : 0);
}

/* Of the same lane in all warps, for the first warp. */
DEVICE_INLINE uint32_t rank_sum(uint32_t mine)
{
  DEVICE_SHARED_ARRAY(uint32_t, sums, HYBRID_WARP);
  if (threadIdx.x < HYBRID_WARP) sums[threadIdx.x] = 0;
  __syncthreads();
  (void)device_add32(&sums[threadIdx.x % HYBRID_WARP], mine);
  __syncthreads();
  return sums[threadIdx.x % HYBRID_WARP];
}

DEVICE_INLINE uint64_t block_before64(uint64_t mine)
{
  DEVICE_SHARED_ARRAY(uint64_t, sums, HYBRID_SAMPLE_BLOCK / HYBRID_WARP);
  const uint32_t lane = threadIdx.x % HYBRID_WARP, warp = threadIdx.x / HYBRID_WARP;
  uint64_t sum = mine;
  for (uint32_t lanes = 1; lanes < HYBRID_WARP; lanes *= 2) {
    const uint64_t before = __shfl_up_sync(UINT32_MAX, sum, lanes);
    if (lane >= lanes) sum += before;
  }
  if (lane == HYBRID_WARP - 1) sums[warp] = sum;
  __syncthreads();
  for (uint32_t i = 0; i < warp; i++)
    sum += sums[i];
  return sum - mine;
}

/* ---- Buckets of a block's pairs ---- */

/* By counts: where each bucket's pairs begin among the block's, and how far they move from there to
 * the room that is taken for them behind `ends` number `first` and on. Two buckets a thread. */
DEVICE_INLINE void take_room(uint32_t buckets, const uint32_t *counts, const places *ends,
                             uint64_t first, uint16_t *starts, uint64_t *moves)
{
  const uint32_t i = 2 * threadIdx.x;
  const uint32_t one = i < buckets ? counts[i] : 0, two = i + 1 < buckets ? counts[i + 1] : 0;
  const uint32_t before = block_before(one + two);
  if (i < buckets) starts[i] = (uint16_t)before;
  if (one) moves[i] = place_add(ends, first + i, one) - before;
  if (i + 1 < buckets) starts[i + 1] = (uint16_t)(before + one);
  if (two) moves[i + 1] = place_add(ends, first + i + 1, two) - before - one;
}

/* ---- Cells of a range ---- */

/* The 32 bits behind the first `zeros` of a number, which are less than 64. */
DEVICE_INLINE uint32_t lead_of(uint64_t number, uint32_t zeros)
{
  return (uint32_t)(number << zeros >> 32);
}

/* By which numbers up to `top`, whose first bit is 1, are multiplied so that the upper 32 bits are
 * less than `cells`, but not by much for the greatest: rounding changes less than the margin. */
DEVICE_INLINE uint32_t cell_factor(uint32_t top, uint32_t cells)
{
  const float all = 4294967296.0f, margin = 0.999999f;
  return top ? (uint32_t)device_quotient((float)cells * (all * margin), (float)top) : 0;
}

DEVICE_INLINE uint32_t cell_at(uint32_t lead, uint32_t factor)
{
  return (uint32_t)(device_product(lead, factor) >> 32);
}

/* ---- Marks: of which of some cells, how far into it, and the pair's number ----
 *
 * The first bit of one tells that it is left, the second one that its cell is heavy, and then it
 * tells which of these in place of the first things. */

/* Of a place among cells, in 2^32ths of one. */
DEVICE_INLINE uint32_t mark_of(uint64_t place, uint32_t number)
{
  enum { KEY_BITS = 30 - HYBRID_NUMBER_BITS };
  const uint32_t key = (uint32_t)(place * (1 << KEY_BITS) / HYBRID_CELLS >> 32);
  return (key & ((1u << KEY_BITS) - 1)) << HYBRID_NUMBER_BITS | number;
}

DEVICE_INLINE uint32_t mark_number(uint32_t mark)
{
  return mark & ((1u << HYBRID_NUMBER_BITS) - 1);
}

DEVICE_INLINE bool mark_is_heavy(uint32_t mark)
{
  return (mark & (HYBRID_UNSETTLED | HYBRID_HEAVY)) == (HYBRID_UNSETTLED | HYBRID_HEAVY);
}

/* Which heavy cell it is of. */
DEVICE_INLINE uint32_t mark_heavy(uint32_t mark)
{
  return (mark & ~(HYBRID_UNSETTLED | HYBRID_HEAVY)) >> HYBRID_NUMBER_BITS;
}

/* ---- Cells of a tile ---- */

/* One with more pairs than the limit. */
typedef struct heavy_cell {
  uint16_t begin, end; /* of its marks */
  uint16_t to;         /* where the first of its pairs goes */
} heavy_cell;

typedef struct heavy_cells {
  heavy_cell *of;
  uint32_t *count;
} heavy_cells;

/* One of two lists of the block: those of one round are cut while those of the next are found. */
DEVICE_INLINE heavy_cells heavy_list(uint32_t number)
{
  DEVICE_SHARED_ARRAY(heavy_cell, cells, 2 * HYBRID_MOST_HEAVY);
  DEVICE_SHARED_ARRAY(uint32_t, counts, 2);
  const heavy_cells list = {cells + number * HYBRID_MOST_HEAVY, counts + number};
  return list;
}

/* Some neighbours, of which a thread has one or two: those of all threads lie one behind the other,
 * and the second ones behind them, so that no two of a warp's are in the same bank. */
typedef struct DEVICE_ALIGNED(16) cell_counts {
  uint32_t of[HYBRID_CELLS];
} cell_counts;

DEVICE_INLINE cell_counts *cells_mine(uint32_t *cells, uint32_t group)
{
  return (cell_counts *)cells + group * blockDim.x + threadIdx.x;
}

DEVICE_INLINE void cells_clear(uint32_t *cells, uint32_t groups)
{
  const cell_counts none = {{0}};
  DEVICE_UNROLL
  for (uint32_t g = 0; g < groups; g++)
    *cells_mine(cells, g) = none;
}

/* Counts to begins, the first of which is `at`. */
DEVICE_INLINE cell_counts cells_begin(cell_counts counts, uint32_t at)
{
  cell_counts begins;
  DEVICE_UNROLL
  for (uint32_t i = 0; i < HYBRID_CELLS; i++) {
    begins.of[i] = at;
    at += counts.of[i];
  }
  return begins;
}

DEVICE_INLINE uint32_t cells_sum(cell_counts counts)
{
  uint32_t sum = 0;
  DEVICE_UNROLL
  for (uint32_t i = 0; i < HYBRID_CELLS; i++)
    sum += counts.of[i];
  return sum;
}

/* Whether one has more than so many. */
DEVICE_INLINE bool cells_exceed(cell_counts counts, uint32_t limit)
{
  bool exceed = false;
  DEVICE_UNROLL
  for (uint32_t i = 0; i < HYBRID_CELLS; i++)
    exceed |= counts.of[i] > limit;
  return exceed;
}

/* Which of some neighbours are heavy: by where they begin, and where the last one ends. */
DEVICE_INLINE void cells_note(const cell_counts *begins, uint32_t end, uint32_t limit,
                              heavy_cells heavy)
{
  DEVICE_ROLLED
  for (uint32_t cell = HYBRID_CELLS; cell > 0; cell--) {
    const uint32_t begin = begins->of[cell - 1];
    if (end - begin > limit) {
      heavy_cell *const one = &heavy.of[device_add32(heavy.count, 1)];
      one->begin = one->to = (uint16_t)begin;
      one->end = (uint16_t)end;
    }
    end = begin;
  }
}

/* Counts to begins, and behind them the end. The sums of two groups are added up in one number. */
DEVICE_INLINE void cells_place(uint32_t *cells, uint32_t groups, uint32_t limit, heavy_cells heavy)
{
  uint32_t sums = 0, all, end = 0;
  bool exceed = false;
  DEVICE_UNROLL
  for (uint32_t g = 0; g < groups; g++) {
    const cell_counts counts = *cells_mine(cells, g);
    sums += cells_sum(counts) << 16 * g;
    exceed |= cells_exceed(counts, limit);
  }
  const uint32_t before = block_before_all(sums, &all);
  DEVICE_UNROLL
  for (uint32_t g = 0; g < groups; g++) {
    const cell_counts counts = *cells_mine(cells, g);
    const uint32_t begin = g ? (all & 0xffff) + (before >> 16) : before & 0xffff;
    end = begin + cells_sum(counts);
    *cells_mine(cells, g) = cells_begin(counts, begin);
    if (exceed) cells_note(cells_mine(cells, g), end, limit, heavy);
  }
  if (threadIdx.x + 1 == blockDim.x) cells[groups * HYBRID_CELLS * blockDim.x] = end;
}

/* Batcher's odd-even merge sort, which has fewer comparators than a bitonic network: 19 for 8
 * numbers, not 24. (Batcher, "Sorting networks and their applications", 1968.) */
DEVICE_INLINE void few_sort(uint32_t *few)
{
  DEVICE_UNROLL
  for (uint32_t run = 1; run < HYBRID_FEW; run *= 2) {
    DEVICE_UNROLL
    for (uint32_t gap = run; gap > 0; gap /= 2) {
      DEVICE_UNROLL
      for (uint32_t i = 0; i + gap < HYBRID_FEW; i++) {
        const uint32_t other = i + gap, first = gap == run ? 0 : gap;
        const bool compared = i % (2 * run) >= first && (i - first) / gap % 2 == 0 &&
                              i / (2 * run) == other / (2 * run);
        if (compared) {
          const uint32_t x = few[i], y = few[other];
          few[i] = x < y ? x : y;
          few[other] = x < y ? y : x;
        }
      }
    }
  }
}

/* Marks [first, end), if they are few that do not tie. */
DEVICE_INLINE bool few_settle(uint32_t *marks, uint32_t first, uint32_t end)
{
  const uint32_t count = end - first;
  uint32_t few[HYBRID_FEW];
  bool settled = count <= HYBRID_FEW;
  if (settled) {
    DEVICE_UNROLL
    for (uint32_t i = 0; i < HYBRID_FEW; i++)
      few[i] = i < count ? marks[first + i] : UINT32_MAX - (i << HYBRID_NUMBER_BITS);
    few_sort(few);
    DEVICE_UNROLL
    for (uint32_t i = 1; i < HYBRID_FEW; i++)
      settled &= TWIN(HYBRID_LEAD, true, (few[i] ^ few[i - 1]) >> HYBRID_NUMBER_BITS != 0);
  }
  if (settled) {
    DEVICE_UNROLL
    for (uint32_t i = 0; i < HYBRID_FEW; i++)
      if (i < count) marks[first + i] = few[i];
  }
  return settled;
}

/* Those of some neighbouring cells are left, which their first bit tells; not of heavy ones. */
DEVICE_INLINE void few_leave(uint32_t *marks, const cell_counts *begins, uint32_t end,
                             uint32_t limit)
{
  const bool light = end - begins->of[0] <= limit; /* all together */
  DEVICE_ROLLED
  for (uint32_t cell = HYBRID_CELLS; cell > 0 && end > begins->of[0]; cell--) {
    const uint32_t begin = begins->of[light ? 0 : cell - 1];
    const bool heavy = end - begin > limit;
    DEVICE_UNROLL_BY_4
    for (uint32_t i = begin; i < end && !heavy; i++)
      marks[i] |= HYBRID_UNSETTLED;
    end = begin;
  }
}

/* Those of the thread's cells. */
DEVICE_INLINE void cells_settle(uint32_t *marks, uint32_t *cells, uint32_t groups, uint32_t limit)
{
  DEVICE_UNROLL
  for (uint32_t g = 0; g < groups; g++) {
    const cell_counts *const begins = cells_mine(cells, g);
    const uint32_t end = cells[(g * blockDim.x + threadIdx.x + 1) * HYBRID_CELLS];
    if (!few_settle(marks, begins->of[0], end)) few_leave(marks, begins, end, limit);
  }
}

/* The marks of heavy cells tell which: by the block, as one thread would take as long as the rest
 * of it. */
DEVICE_INLINE void heavy_leave(uint32_t *marks, heavy_cells heavy)
{
  DEVICE_ROLLED
  for (uint32_t cell = 0; cell < *heavy.count; cell++) {
    DEVICE_ROLLED
    for (uint32_t i = heavy.of[cell].begin + threadIdx.x; i < heavy.of[cell].end; i += blockDim.x)
      marks[i] =
          HYBRID_UNSETTLED | HYBRID_HEAVY | cell << HYBRID_NUMBER_BITS | mark_number(marks[i]);
  }
}

/* How the pairs of a heavy cell are told apart: by how far they are from the least one. */
typedef struct heavy_scale {
  uint32_t factor;
  uint16_t first; /* of its new cells */
  uint16_t least; /* its number */
  uint8_t zeros;
  bool by_index; /* too */
} heavy_scale;

/* Heavy cells whose marks are to be cut into cells of their own, with the marks of all of them one
 * behind the other. */
typedef struct heavy_cut {
  heavy_cells heavy;
  heavy_scale *scales;
  uint16_t *begins; /* of their marks, then; and behind them the end */
} heavy_cut;

/* One barrier, as of block_before(). */
DEVICE_INLINE void heavy_begin(const heavy_cut *cut)
{
  const uint32_t cell = threadIdx.x, count = *cut->heavy.count;
  const uint32_t mine =
      cell < count ? (uint32_t)cut->heavy.of[cell].end - cut->heavy.of[cell].begin : 0;
  const uint32_t before = block_before(mine);
  if (cell < count) cut->begins[cell] = (uint16_t)before;
  if (cell + 1 == count) cut->begins[count] = (uint16_t)(before + mine);
}

DEVICE_INLINE uint32_t heavy_marks(const heavy_cut *cut)
{
  return cut->begins[*cut->heavy.count];
}

/* Of so many new cells in all, those from the returned one to the next one's are within a cell
 * whose marks begin there: as many as pairs, if there are so many, and none in common with another
 * one. */
DEVICE_INLINE uint32_t heavy_first_cell(const heavy_cut *cut, uint32_t begin, uint32_t cells)
{
  const uint32_t marks = heavy_marks(cut), most = (uint32_t)plan_min(cells, marks);
  return (begin * most + marks - 1) / marks;
}

/* The heavy cell that mark `i` of them is of. */
DEVICE_INLINE uint32_t heavy_of(const heavy_cut *cut, uint32_t i)
{
  uint32_t low = 0, high = *cut->heavy.count - 1;
  DEVICE_ROLLED
  while (low < high) {
    const uint32_t middle = (low + high + 1) / 2;
    if (cut->begins[middle] <= i)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* All their marks in rows, each row in parts of one heavy cell: the number of the part that mark
 * `i`, one of some cell's, is in. */
DEVICE_INLINE uint32_t heavy_part(uint32_t cell, uint32_t i)
{
  return i / HYBRID_PART + cell;
}

DEVICE_INLINE uint32_t heavy_of_part(const heavy_cut *cut, uint32_t part)
{
  uint32_t low = 0, high = *cut->heavy.count - 1;
  DEVICE_ROLLED
  while (low < high) {
    const uint32_t middle = (low + high + 1) / 2;
    if (heavy_part(middle, cut->begins[middle]) <= part)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* From a place among their marks to one in the tile. */
DEVICE_INLINE uint32_t heavy_shift(const heavy_cut *cut, uint32_t cell)
{
  return (uint32_t)cut->heavy.of[cell].to - cut->begins[cell];
}

/* Where the pairs of new ones go, which are parts of the ones before. */
DEVICE_INLINE void heavy_aim(const heavy_cut *cut, heavy_cells made)
{
  DEVICE_ROLLED
  for (uint32_t cell = threadIdx.x; cell < *made.count; cell += blockDim.x) {
    heavy_cell *const one = &made.of[cell];
    one->to = (uint16_t)(one->begin + heavy_shift(cut, heavy_of(cut, one->begin)));
  }
}

/* What a block has collected of the pairs that it looked at (hybrid_select.inc). */
typedef struct collection {
  uint64_t below; /* pairs below the bounds */
  uint32_t count; /* within; there may not have been room for all of them */
} collection;

/* ---- Memory ---- */

typedef struct arena {
  char *at; /* NULL: only to add up */
  uint64_t taken;
} arena;

static void *arena_take(arena *from, uint64_t bytes)
{
  const uint64_t taken = from->taken;
  from->taken += (bytes + 15) / 16 * 16;
  return from->at ? from->at + taken : NULL;
}

/* ---- Kinds of pairs ---- */

#define KEY uint64_t
#define PACKED
#define ITEMS 8
#define CELLS 8
#define TILE_BLOCKS 3
#define SCATTER_BLOCKS 3
#define TYPED(name) name##_packed
#include "cuda/hybrid_kind.inc"
#undef PACKED

#define KEY uint32_t
#define INDEX uint64_t
#define ITEMS 8
#define CELLS 4
#define TILE_BLOCKS 3
#define SCATTER_BLOCKS 2
#define TYPED(name) name##_32_64
#include "cuda/hybrid_kind.inc"

#define KEY uint64_t
#define INDEX uint32_t
#define ITEMS 8
#define CELLS 4
#define TILE_BLOCKS 3
#define SCATTER_BLOCKS 2
#define TYPED(name) name##_64_32
#include "cuda/hybrid_kind.inc"

#define KEY uint64_t
#define INDEX uint64_t
#define ITEMS 8
#define CELLS 4
#define TILE_BLOCKS 3
#define SCATTER_BLOCKS 2
#define TYPED(name) name##_64_64
#include "cuda/hybrid_kind.inc"

#define KEY device_uint128
#define INDEX uint32_t
#define ITEMS 8
#define CELLS 4
#define TILE_BLOCKS 2
#define SCATTER_BLOCKS 2
#define TYPED(name) name##_128_32
#include "cuda/hybrid_kind.inc"

#define KEY device_uint128
#define INDEX uint64_t
#define ITEMS 8
#define CELLS 4
#define TILE_BLOCKS 2
#define SCATTER_BLOCKS 2
#define TYPED(name) name##_128_64
#include "cuda/hybrid_kind.inc"

typedef struct pair_kind {
  uint64_t (*extra_bytes)(const device_job *job);
  device_status (*sort)(const device_job *job, const device_buffers *buffers, void *extra,
                        unsigned *result);
} pair_kind;

#define KIND(name)                                                                                 \
  {                                                                                                \
    extra_bytes_##name, sort_##name                                                                \
  }

static pair_kind kind_of(const device_job *job)
{
  static const pair_kind packed = KIND(packed), key32 = KIND(32_64),
                         key64[2] = {KIND(64_32), KIND(64_64)},
                         key128[2] = {KIND(128_32), KIND(128_64)};
  const unsigned wide = job->index_bits == 64;
  const bool test = job->tile && wide && job->key_width == 32; /* what else many pairs alone need */
  if (job->key_bits + place_bits_of(job) <= 64 && !test) return packed;
  if (job->key_width == 32) return key32; /* 2^32 and more */
  return job->key_width == 64 ? key64[wide] : key128[wide];
}

static device_status sort_pairs(const device_job *job, const device_buffers *buffers, void *extra,
                                unsigned *result)
{
  return kind_of(job).sort(job, buffers, extra, result);
}

/* ---- An order that is there already ---- */

typedef struct hybrid_facts {
  uint32_t unsorted;   /* some key is less than the one before */
  uint32_t unreversed; /* some key is not */
  uint32_t unlike;     /* more than a few of those that were glanced at descend */
  uint32_t unmendable; /* what seems to be an order is none */
  uint32_t crowded;    /* many keys that are in nobody's order belong to one place */
  uint64_t gone;       /* keys that are in nobody's order */
} hybrid_facts;

enum { FACTS_BYTES = 32 };

typedef struct order_step {
  const void *keys;
  void *numbered; /* indices, if keys ascend */
  void *turned_keys;
  void *turned; /* and their indices, if keys descend */
  volatile hybrid_facts *facts;
  uint64_t count;
} order_step;

/* So many may be out of order: sorted apart and merged, they cost less than all of them. */
static uint64_t hybrid_most_gone(const device_job *job)
{
  return job->count / (job->tile ? 3 : 16);
}

#define TYPED_SOURCE "cuda/hybrid_order.inc"
#include "cuda/each_type.h"

DEVICE_SORT(hybrid)

uint64_t hybrid_extra_bytes(const device_job *job)
{
  return FACTS_BYTES + kind_of(job).extra_bytes(job);
}
