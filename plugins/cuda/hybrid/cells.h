/* cells.h - the cells of a tile, and the marks of its pairs, whatever these are
 * (tile.inc). */
#ifndef RECSORT_CUDA_HYBRID_CELLS_H
#define RECSORT_CUDA_HYBRID_CELLS_H

#include "cuda/device.h"
#include "cuda/hybrid/block.h"
#include "cuda/hybrid/plan.h"

enum {
  HYBRID_MOST_HEAVY = 80, /* cells of a tile with more pairs than the limit */
  HYBRID_FEW = 8,         /* pairs that one thread settles */
  HYBRID_NUMBER_BITS = 13 /* of a mark */
};
#define HYBRID_UNRANKED (1u << 31) /* of a mark: its pair is to be ranked in its cell */
#define HYBRID_HEAVY (1u << 30)    /* its cell is to be cut */

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
 * One that is settled has none of the first two bits. Where the second one tells that its cell is
 * heavy, the next ones tell which of these. */

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

DEVICE_INLINE bool mark_is_settled(uint32_t mark)
{
  return mark < HYBRID_HEAVY;
}

DEVICE_INLINE bool mark_is_heavy(uint32_t mark)
{
  return (mark & (HYBRID_UNRANKED | HYBRID_HEAVY)) == HYBRID_HEAVY;
}

/* Which heavy cell it is of. */
DEVICE_INLINE uint32_t mark_heavy(uint32_t mark)
{
  return (mark & (HYBRID_HEAVY - 1)) >> HYBRID_NUMBER_BITS;
}

/* ---- Cells of a tile ---- */

/* One with more pairs than the limit; or, when these are settled, with none. */
typedef struct heavy_cell {
  uint16_t begin, end; /* of its marks */
  uint16_t to;         /* where the first of its pairs goes */
  uint16_t at;         /* its marks' place, if those of all heavy cells lie one behind the other */
} heavy_cell;

typedef struct heavy_cells {
  heavy_cell *of;
  uint32_t *count;
  uint32_t *left; /* whether some are not settled */
} heavy_cells;

/* One of two lists of the block: those of one round are cut while those of the next are found. */
DEVICE_INLINE heavy_cells heavy_list(uint32_t number)
{
  DEVICE_SHARED_ARRAY(heavy_cell, cells, 2 * HYBRID_MOST_HEAVY);
  DEVICE_SHARED_ARRAY(uint32_t, counts, 4);
  const heavy_cells list = {cells + number * HYBRID_MOST_HEAVY, counts + number,
                            counts + 2 + number};
  return list;
}

/* Before others find some. */
DEVICE_INLINE void heavy_forget(heavy_cells heavy)
{
  if (threadIdx.x == 0) *heavy.count = *heavy.left = 0;
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
DEVICE_INLINE void cells_note(cell_counts begins, uint32_t end, uint32_t limit, heavy_cells heavy)
{
  DEVICE_UNROLL
  for (uint32_t cell = HYBRID_CELLS; cell > 0; cell--) {
    const uint32_t begin = begins.of[cell - 1];
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
  bool exceed[2] = {false, false}; /* of groups */
  DEVICE_UNROLL
  for (uint32_t g = 0; g < groups; g++) {
    const cell_counts counts = *cells_mine(cells, g);
    sums += cells_sum(counts) << 16 * g;
    exceed[g] = cells_exceed(counts, limit);
  }
  const uint32_t before = block_before_all(sums, &all);
  DEVICE_UNROLL
  for (uint32_t g = 0; g < groups; g++) {
    const cell_counts counts = *cells_mine(cells, g);
    const uint32_t begin = g ? (all & 0xffff) + (before >> 16) : before & 0xffff;
    end = begin + cells_sum(counts);
    const cell_counts begins = cells_begin(counts, begin);
    *cells_mine(cells, g) = begins;
    if (exceed[g]) cells_note(begins, end, limit, heavy);
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
  if (count <= 1) return true;
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
DEVICE_INLINE void few_leave(uint32_t *marks, cell_counts begins, uint32_t end, uint32_t limit)
{
  const bool light = end - begins.of[0] <= limit; /* all together */
  DEVICE_UNROLL
  for (uint32_t cell = HYBRID_CELLS; cell > 0; cell--) {
    const uint32_t begin = light ? begins.of[0] : begins.of[cell - 1];
    DEVICE_ROLLED
    for (uint32_t i = begin; i < end && end - begin <= limit; i++)
      marks[i] |= HYBRID_UNRANKED;
    end = begin;
  }
}

/* Those of the thread's cells. */
DEVICE_INLINE void cells_settle(uint32_t *marks, uint32_t *cells, uint32_t groups, uint32_t limit)
{
  DEVICE_UNROLL
  for (uint32_t g = 0; g < groups; g++) {
    const cell_counts begins = *cells_mine(cells, g);
    const uint32_t end = cells[(g * blockDim.x + threadIdx.x + 1) * HYBRID_CELLS];
    if (!few_settle(marks, begins.of[0], end)) few_leave(marks, begins, end, limit);
  }
}

#endif
