/* heavy.h - the heavy cells of a tile, whatever its pairs are (heavy.inc). */
#ifndef RECSORT_CUDA_HYBRID_HEAVY_H
#define RECSORT_CUDA_HYBRID_HEAVY_H

#include "cuda/device.h"
#include "cuda/hybrid/cells.h"

#define HYBRID_NO_SLOT UINT32_MAX

/* ---- Some numbers sorted by a warp ----
 *
 * Each lane has some neighbours. (Batcher, "Sorting networks and their applications", 1968: the
 * bitonic sorter; here the first step of each merge is mirrored, so that all of them ascend.) */

enum { HEAVY_EACH = 4 }; /* of a lane */

DEVICE_INLINE void heavy_compare(uint32_t *numbers, uint32_t i, uint32_t k)
{
  const uint32_t a = numbers[i], b = numbers[k];
  numbers[i] = a < b ? a : b;
  numbers[k] = a < b ? b : a;
}

/* The lesser ones of these and of those of another lane, or the greater ones. */
DEVICE_INLINE void heavy_exchange(uint32_t *numbers, uint32_t lanes, bool mirrored, bool greater)
{
  uint32_t others[HEAVY_EACH];
  DEVICE_UNROLL
  for (uint32_t i = 0; i < HEAVY_EACH; i++)
    others[i] = __shfl_xor_sync(UINT32_MAX, numbers[mirrored ? HEAVY_EACH - 1 - i : i], lanes);
  DEVICE_UNROLL
  for (uint32_t i = 0; i < HEAVY_EACH; i++) {
    const uint32_t a = numbers[i], b = others[i];
    numbers[i] = greater ? (a > b ? a : b) : (a < b ? a : b);
  }
}

DEVICE_INLINE void heavy_sort(uint32_t *numbers)
{
  const uint32_t lane = threadIdx.x % HYBRID_WARP;
  heavy_compare(numbers, 0, 1);
  heavy_compare(numbers, 2, 3);
  heavy_compare(numbers, 0, 3);
  heavy_compare(numbers, 1, 2);
  heavy_compare(numbers, 0, 1);
  heavy_compare(numbers, 2, 3);
  DEVICE_UNROLL
  for (uint32_t lanes = 2; lanes <= HYBRID_WARP; lanes *= 2) {
    heavy_exchange(numbers, lanes - 1, true, lane & lanes / 2);
    DEVICE_UNROLL
    for (uint32_t apart = lanes / 4; apart > 0; apart /= 2)
      heavy_exchange(numbers, apart, false, lane & apart);
    heavy_compare(numbers, 0, 2);
    heavy_compare(numbers, 1, 3);
    heavy_compare(numbers, 0, 1);
    heavy_compare(numbers, 2, 3);
  }
}

/* ---- Heavy cells ---- */

/* The marks of one tell which it is. By a warp, as one thread would take as long as the rest of the
 * block. */
DEVICE_INLINE void heavy_leave(uint32_t *marks, heavy_cells heavy, uint32_t cell)
{
  const uint32_t bits = HYBRID_HEAVY | cell << HYBRID_NUMBER_BITS;
  DEVICE_ROLLED
  for (uint32_t i = heavy.of[cell].begin + threadIdx.x % HYBRID_WARP; i < heavy.of[cell].end;
       i += HYBRID_WARP)
    marks[i] = bits | mark_number(marks[i]);
  *heavy.left = 1;
}

/* From a place among their marks to one in the tile. */
DEVICE_INLINE uint32_t heavy_shift(heavy_cell cell)
{
  return (uint32_t)cell.to - cell.at;
}

/* The end of a cell's marks, among all of theirs. */
DEVICE_INLINE uint32_t heavy_behind(heavy_cell cell)
{
  return (uint32_t)cell.at + cell.end - cell.begin;
}

/* How the pairs of a heavy cell are told apart: by the 32 bits behind those that all of them have
 * in common. */
typedef struct DEVICE_ALIGNED(16) heavy_scale {
  uint32_t zeros;  /* how many these are */
  uint32_t origin; /* the least one's */
  uint32_t factor; /* at first the greatest one's */
  uint16_t shift;
  uint16_t first; /* of its new cells */
} heavy_scale;

/* Heavy cells whose marks are to be cut into cells of their own. */
typedef struct heavy_cut {
  heavy_cells heavy;
  heavy_scale *scales;
  uint16_t *samples; /* the number of a pair of each, and whether its scale is guessed */
  uint32_t *marks;   /* how many, of all of them */
  uint32_t *unknown; /* whether there is a cell whose scale is not guessed */
  uint32_t *wrong;   /* whether a guess is */
} heavy_cut;

#define HEAVY_GUESSED (1u << 15) /* of a sample */

DEVICE_INLINE bool heavy_is_guessed(const heavy_cut *cut, uint32_t cell)
{
  return cut->samples[cell] & HEAVY_GUESSED;
}

/* One barrier, as of block_before(). There are more threads than heavy cells. */
DEVICE_INLINE void heavy_begin(const heavy_cut *cut, const uint32_t *marks)
{
  const heavy_scale none = {UINT32_MAX, UINT32_MAX, 0, 0, 0};
  const uint32_t cell = threadIdx.x, count = *cut->heavy.count;
  heavy_cell *const one = &cut->heavy.of[cell];
  const uint32_t mine = cell < count ? (uint32_t)one->end - one->begin : 0;
  if (cell == 0) *cut->unknown = *cut->wrong = 0;
  if (cell < count) cut->scales[cell] = none;
  const uint32_t before = block_before(mine);
  if (cell >= count) return;
  one->at = (uint16_t)before;
  cut->samples[cell] = (uint16_t)mark_number(marks[one->begin]);
  if (cell + 1 == count) *cut->marks = before + mine;
}

/* Of so many new cells in all, those from the returned one to the next one's are within a cell
 * whose marks begin there: none in common with another one. */
DEVICE_INLINE uint32_t heavy_first_cell(const heavy_cut *cut, uint32_t begin, uint32_t cells)
{
  return (begin * cells + *cut->marks - 1) / *cut->marks;
}

/* When it is known which bits all have in common, and the least and the greatest of those behind
 * them. */
DEVICE_INLINE void heavy_scale_set(const heavy_cut *cut, uint32_t cell, uint32_t cells)
{
  const heavy_cell one = cut->heavy.of[cell];
  const uint32_t first = heavy_first_cell(cut, one.at, cells);
  heavy_scale *const scale = &cut->scales[cell];
  const uint32_t range = scale->factor - scale->origin, shift = device_clz32(range);
  scale->first = (uint16_t)first;
  scale->shift = (uint16_t)shift;
  scale->factor =
      cell_factor(range << shift, heavy_first_cell(cut, heavy_behind(one), cells) - first);
}

/* The heavy cell that mark `i` of them is of. */
DEVICE_INLINE uint32_t heavy_of(const heavy_cut *cut, uint32_t i)
{
  uint32_t low = 0, high = *cut->heavy.count - 1;
  DEVICE_ROLLED
  while (low < high) {
    const uint32_t middle = (low + high + 1) / 2;
    if (cut->heavy.of[middle].at <= i)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* Where the pairs of new ones go, which are parts of the ones before. */
DEVICE_INLINE void heavy_aim(const heavy_cut *cut, heavy_cells made)
{
  DEVICE_ROLLED
  for (uint32_t cell = threadIdx.x; cell < *made.count; cell += blockDim.x) {
    heavy_cell *const one = &made.of[cell];
    one->to = (uint16_t)(one->begin + heavy_shift(cut->heavy.of[heavy_of(cut, one->begin)]));
  }
}

/* A warp's share of all their marks. */
DEVICE_INLINE uint32_t heavy_share(const heavy_cut *cut)
{
  return (*cut->marks + blockDim.x - 1) / blockDim.x * HYBRID_WARP;
}

/* Piece by piece: marks [at, end), which are of one cell. */
typedef struct heavy_piece {
  uint32_t cell, at, end;
  uint32_t last; /* of the share */
  uint32_t lane;
} heavy_piece;

DEVICE_INLINE void heavy_piece_end(const heavy_cut *cut, heavy_piece *piece)
{
  piece->end = (uint32_t)plan_min(heavy_behind(cut->heavy.of[piece->cell]), piece->last);
}

DEVICE_INLINE heavy_piece heavy_first_piece(const heavy_cut *cut)
{
  const uint32_t each = heavy_share(cut);
  heavy_piece piece;
  piece.lane = threadIdx.x % HYBRID_WARP;
  piece.at = threadIdx.x / HYBRID_WARP * each;
  piece.last = (uint32_t)plan_min(piece.at + each, *cut->marks);
  piece.cell = heavy_of(cut, piece.at);
  heavy_piece_end(cut, &piece);
  return piece;
}

DEVICE_INLINE bool heavy_piece_is(const heavy_piece *piece)
{
  return piece->at < piece->last;
}

DEVICE_INLINE void heavy_next_piece(const heavy_cut *cut, heavy_piece *piece)
{
  piece->at = piece->end;
  if (!heavy_piece_is(piece)) return;
  piece->cell++;
  heavy_piece_end(cut, piece);
}

#endif
