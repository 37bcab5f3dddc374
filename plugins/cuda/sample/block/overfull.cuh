/* overfull.cuh - the overfull bins of a tile, whatever the type of its pairs (overfull_bins.cuh).
 */
#ifndef RECSORT_CUDA_SAMPLE_OVERFULL_CUH
#define RECSORT_CUDA_SAMPLE_OVERFULL_CUH

#include "cuda/sample/block/bins.cuh"

namespace sample
{

#define NO_SLOT UINT32_MAX

/* ---- Some numbers sorted by a warp ----
 *
 * Each lane has some neighbours. (Batcher, "Sorting networks and their applications", 1968: the
 * bitonic sorter; here the first step of each merge is mirrored, so that all of them ascend.) */

enum { OVERFULL_EACH = 4 }; /* of a lane */

DEVICE_INLINE void overfull_compare(uint32_t *numbers, uint32_t i, uint32_t k)
{
  const uint32_t a = numbers[i], b = numbers[k];
  numbers[i] = a < b ? a : b;
  numbers[k] = a < b ? b : a;
}

/* The lesser ones of these and of those of another lane, or the greater ones. */
DEVICE_INLINE void overfull_exchange(uint32_t *numbers, uint32_t lanes, bool mirrored, bool greater)
{
  uint32_t others[OVERFULL_EACH];
  DEVICE_UNROLL
  for (uint32_t i = 0; i < OVERFULL_EACH; i++)
    others[i] = __shfl_xor_sync(UINT32_MAX, numbers[mirrored ? OVERFULL_EACH - 1 - i : i], lanes);
  DEVICE_UNROLL
  for (uint32_t i = 0; i < OVERFULL_EACH; i++) {
    const uint32_t a = numbers[i], b = others[i];
    numbers[i] = greater ? (a > b ? a : b) : (a < b ? a : b);
  }
}

DEVICE_INLINE void overfull_sort(uint32_t *numbers)
{
  const uint32_t lane = threadIdx.x % WARP_SIZE;
  overfull_compare(numbers, 0, 1);
  overfull_compare(numbers, 2, 3);
  overfull_compare(numbers, 0, 3);
  overfull_compare(numbers, 1, 2);
  overfull_compare(numbers, 0, 1);
  overfull_compare(numbers, 2, 3);
  DEVICE_UNROLL
  for (uint32_t lanes = 2; lanes <= WARP_SIZE; lanes *= 2) {
    overfull_exchange(numbers, lanes - 1, true, lane & lanes / 2);
    DEVICE_UNROLL
    for (uint32_t apart = lanes / 4; apart > 0; apart /= 2)
      overfull_exchange(numbers, apart, false, lane & apart);
    overfull_compare(numbers, 0, 2);
    overfull_compare(numbers, 1, 3);
    overfull_compare(numbers, 0, 1);
    overfull_compare(numbers, 2, 3);
  }
}

/* ---- Overfull bins ---- */

/* The tags of one tell which it is. By a warp, as one thread would take as long as the rest of the
 * block. */
DEVICE_INLINE void overfull_leave(uint32_t *tags, overfull_bins overfull, uint32_t bin)
{
  const uint32_t bits = TAG_OVERFULL | bin << TAG_NUMBER_BITS;
  DEVICE_ROLLED
  for (uint32_t i = overfull.of[bin].begin + threadIdx.x % WARP_SIZE; i < overfull.of[bin].end;
       i += WARP_SIZE)
    tags[i] = bits | tag_number(tags[i]);
  *overfull.left = 1;
}

/* From a place among their tags to one in the tile. */
DEVICE_INLINE uint32_t overfull_shift(overfull_bin bin)
{
  return (uint32_t)bin.to - bin.at;
}

/* The end of a bin's tags, among all of theirs. */
DEVICE_INLINE uint32_t overfull_end(overfull_bin bin)
{
  return (uint32_t)bin.at + bin.end - bin.begin;
}

/* What distinguishes the pairs of an overfull bin: the 32 bits behind those that all of them
 * have in common. */
struct DEVICE_ALIGNED(16) overfull_scale {
  uint32_t zeros;  /* how many these are */
  uint32_t origin; /* the least one's */
  uint32_t factor; /* at first the greatest one's */
  uint16_t shift;
  uint16_t first; /* of its new bins */
};

/* Overfull bins whose tags are to be cut into bins of their own. */
struct overfull_split {
  overfull_bins overfull;
  overfull_scale *scales;
  uint16_t *samples; /* the number of a pair of each, and whether its scale is guessed */
  uint32_t *tags;    /* how many, of all of them */
  uint32_t *unknown; /* whether there is a bin whose scale is not guessed */
  uint32_t *wrong;   /* whether a guess is */
};

#define OVERFULL_GUESSED (1u << 15) /* of a sample */

DEVICE_INLINE bool overfull_is_guessed(const overfull_split *cut, uint32_t bin)
{
  return cut->samples[bin] & OVERFULL_GUESSED;
}

/* One barrier, as of block_before(). There are more threads than overfull bins. */
DEVICE_INLINE void overfull_begin(const overfull_split *cut, const uint32_t *tags)
{
  const overfull_scale none = {UINT32_MAX, UINT32_MAX, 0, 0, 0};
  const uint32_t bin = threadIdx.x, count = *cut->overfull.count;
  overfull_bin *const one = &cut->overfull.of[bin];
  const uint32_t mine = bin < count ? (uint32_t)one->end - one->begin : 0;
  if (bin == 0) *cut->unknown = *cut->wrong = 0;
  if (bin < count) cut->scales[bin] = none;
  const uint32_t before = block_before(mine);
  if (bin >= count) return;
  one->at = (uint16_t)before;
  cut->samples[bin] = (uint16_t)tag_number(tags[one->begin]);
  if (bin + 1 == count) *cut->tags = before + mine;
}

/* Of so many new bins in all, those from the returned one to the next one's are within a bin
 * whose tags begin there: none in common with another one. */
DEVICE_INLINE uint32_t overfull_first_bin(const overfull_split *cut, uint32_t begin, uint32_t bins)
{
  return (begin * bins + *cut->tags - 1) / *cut->tags;
}

/* When it is known which bits all have in common, and the least and the greatest of those behind
 * them. */
DEVICE_INLINE void overfull_scale_set(const overfull_split *cut, uint32_t bin, uint32_t bins)
{
  const overfull_bin one = cut->overfull.of[bin];
  const uint32_t first = overfull_first_bin(cut, one.at, bins);
  overfull_scale *const scale = &cut->scales[bin];
  const uint32_t range = scale->factor - scale->origin, shift = device_clz32(range);
  scale->first = (uint16_t)first;
  scale->shift = (uint16_t)shift;
  scale->factor =
      bin_factor(range << shift, overfull_first_bin(cut, overfull_end(one), bins) - first);
}

/* The overfull bin that tag `i` of them is of. */
DEVICE_INLINE uint32_t overfull_of(const overfull_split *cut, uint32_t i)
{
  uint32_t low = 0, high = *cut->overfull.count - 1;
  DEVICE_ROLLED
  while (low < high) {
    const uint32_t middle = (low + high + 1) / 2;
    if (cut->overfull.of[middle].at <= i)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* Where the pairs of new ones go, which are parts of the ones before. */
DEVICE_INLINE void overfull_aim(const overfull_split *cut, overfull_bins made)
{
  DEVICE_ROLLED
  for (uint32_t bin = threadIdx.x; bin < *made.count; bin += blockDim.x) {
    overfull_bin *const one = &made.of[bin];
    one->to =
        (uint16_t)(one->begin + overfull_shift(cut->overfull.of[overfull_of(cut, one->begin)]));
  }
}

/* A warp's share of all their tags. */
DEVICE_INLINE uint32_t overfull_share(const overfull_split *cut)
{
  return (*cut->tags + blockDim.x - 1) / blockDim.x * WARP_SIZE;
}

/* Piece by piece: tags [at, end), which are of one bin. */
struct overfull_piece {
  uint32_t bin, at, end;
  uint32_t last; /* of the share */
  uint32_t lane;
};

DEVICE_INLINE void overfull_piece_end(const overfull_split *cut, overfull_piece *piece)
{
  piece->end = (uint32_t)plan_min(overfull_end(cut->overfull.of[piece->bin]), piece->last);
}

DEVICE_INLINE overfull_piece overfull_first_piece(const overfull_split *cut)
{
  const uint32_t each = overfull_share(cut);
  overfull_piece piece;
  piece.lane = threadIdx.x % WARP_SIZE;
  piece.at = threadIdx.x / WARP_SIZE * each;
  piece.last = (uint32_t)plan_min(piece.at + each, *cut->tags);
  piece.bin = overfull_of(cut, piece.at);
  overfull_piece_end(cut, &piece);
  return piece;
}

DEVICE_INLINE bool overfull_piece_is(const overfull_piece *piece)
{
  return piece->at < piece->last;
}

DEVICE_INLINE void overfull_next_piece(const overfull_split *cut, overfull_piece *piece)
{
  piece->at = piece->end;
  if (!overfull_piece_is(piece)) return;
  piece->bin++;
  overfull_piece_end(cut, piece);
}

} // namespace sample

#endif
