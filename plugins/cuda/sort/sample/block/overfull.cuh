/* overfull.cuh - the overfull bins of a tile, for all types of pair (overfull_bins.cuh). */
#ifndef RECSORT_CUDA_SAMPLE_OVERFULL_CUH
#define RECSORT_CUDA_SAMPLE_OVERFULL_CUH

#include "cuda/sort/sample/block/bins.cuh"

namespace sample
{

#define NO_SLOT UINT32_MAX

/* ---- A warp sorts numbers ----
 *
 * Each lane has OVERFULL_EACH adjacent ones. (Batcher, "Sorting networks and their applications",
 * 1968: the bitonic sorter; here the first step of each merge is mirrored, so that all of them
 * ascend.) */

enum { OVERFULL_EACH = 4 }; /* numbers of each lane */

DEVICE_INLINE void overfull_compare(uint32_t *numbers, uint32_t i, uint32_t k)
{
  const uint32_t a = numbers[i], b = numbers[k];
  numbers[i] = a < b ? a : b;
  numbers[k] = a < b ? b : a;
}

/* Compares the numbers with those of another lane, and keeps the lesser or the greater ones. */
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

/* Marks the tags of an overfull bin with its number. By all lanes of a warp, as one thread would
 * take as long as the rest of the block. */
DEVICE_INLINE void overfull_leave(uint32_t *tags, overfull_bins overfull, uint32_t bin)
{
  DEVICE_ASSERT(bin < MOST_OVERFULL);
  const uint32_t bits = TAG_OVERFULL | bin << TAG_NUMBER_BITS;
  DEVICE_ROLLED
  for (uint32_t i = overfull.of[bin].begin + threadIdx.x % WARP_SIZE; i < overfull.of[bin].end;
       i += WARP_SIZE)
    tags[i] = bits | tag_number(tags[i]);
  *overfull.left = 1;
}

/* The distance from a position among the tags of overfull bins to the rank in the tile. */
DEVICE_INLINE uint32_t overfull_shift(overfull_bin bin)
{
  return (uint32_t)bin.to - bin.at;
}

/* The end of a bin's tags, counting only those of overfull bins. */
DEVICE_INLINE uint32_t overfull_end(overfull_bin bin)
{
  return (uint32_t)bin.at + bin.end - bin.begin;
}

/* The scale of an overfull bin: it uses the 32 bits after those that all its pairs share. */
struct DEVICE_ALIGNED(16) overfull_scale {
  uint32_t zeros;  /* number of bits that they share */
  uint32_t origin; /* the least value of the 32 bits */
  uint32_t factor; /* at first the greatest value */
  uint16_t shift;
  uint16_t first; /* its first new bin */
};

/* Overfull bins that are being split into new bins. */
struct overfull_split {
  overfull_bins overfull;
  overfull_scale *scales;
  uint16_t *samples; /* for each: the number of one pair, and whether its scale is guessed */
  uint32_t *tags;    /* the number of tags in all overfull bins */
  uint32_t *unknown; /* nonzero if some scale is not guessed */
  uint32_t *wrong;   /* nonzero if some guess is wrong */
};

#define OVERFULL_GUESSED (1u << 15) /* a bit of samples[] */

DEVICE_INLINE bool overfull_is_guessed(const overfull_split *cut, uint32_t bin)
{
  return cut->samples[bin] & OVERFULL_GUESSED;
}

/* Starts a round: resets the scales and picks a sample of each bin. By all threads of the block, of
 * which there are more than overfull bins; one barrier, that of block_before(). */
DEVICE_INLINE void overfull_begin(const overfull_split *cut, const uint32_t *tags)
{
  const overfull_scale none = {UINT32_MAX, UINT32_MAX, 0, 0, 0};
  const uint32_t bin = threadIdx.x, count = *cut->overfull.count;
  DEVICE_ASSERT(count <= MOST_OVERFULL && count <= blockDim.x);
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

/* The first new bin of the overfull bin whose tags begin at `begin`, if there are `bins` new bins.
 * They are divided in proportion to tags, and no two overfull bins share one. */
DEVICE_INLINE uint32_t overfull_first_bin(const overfull_split *cut, uint32_t begin, uint32_t bins)
{
  DEVICE_ASSERT(*cut->tags > 0);
  return (begin * bins + *cut->tags - 1) / *cut->tags;
}

/* Completes a scale whose `zeros` is known, and whose `origin` and `factor` hold the least and the
 * greatest value. */
DEVICE_INLINE void overfull_scale_set(const overfull_split *cut, uint32_t bin, uint32_t bins)
{
  const overfull_bin one = cut->overfull.of[bin];
  const uint32_t first = overfull_first_bin(cut, one.at, bins);
  overfull_scale *const scale = &cut->scales[bin];
  DEVICE_ASSERT(scale->factor >= scale->origin);
  const uint32_t range = scale->factor - scale->origin, shift = device_clz32(range);
  scale->first = (uint16_t)first;
  scale->shift = (uint16_t)shift;
  scale->factor =
      bin_factor(range << shift, overfull_first_bin(cut, overfull_end(one), bins) - first);
}

/* The overfull bin of tag `i`, counting only tags of overfull bins. */
DEVICE_INLINE uint32_t overfull_of(const overfull_split *cut, uint32_t i)
{
  DEVICE_ASSERT(*cut->overfull.count > 0);
  uint32_t low = 0, high = *cut->overfull.count - 1;
  DEVICE_ROLLED
  while (low < high) {
    const uint32_t middle = (low + high + 1) / 2;
    if (cut->overfull.of[middle].at <= i)
      low = middle;
    else
      high = middle - 1;
  }
  DEVICE_ASSERT(cut->overfull.of[low].at <= i);
  return low;
}

/* Sets the ranks of the new overfull bins, from those of the bins that they are parts of. */
DEVICE_INLINE void overfull_aim(const overfull_split *cut, overfull_bins made)
{
  DEVICE_ROLLED
  for (uint32_t bin = threadIdx.x; bin < *made.count; bin += blockDim.x) {
    overfull_bin *const one = &made.of[bin];
    one->to =
        (uint16_t)(one->begin + overfull_shift(cut->overfull.of[overfull_of(cut, one->begin)]));
  }
}

/* The number of overfull tags for each warp. */
DEVICE_INLINE uint32_t overfull_share(const overfull_split *cut)
{
  return (*cut->tags + blockDim.x - 1) / blockDim.x * WARP_SIZE;
}

/* A warp's current piece: tags [at, end), all of one bin. */
struct overfull_piece {
  uint32_t bin, at, end;
  uint32_t last; /* end of the warp's share */
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
  DEVICE_ASSERT(piece->bin < *cut->overfull.count);
  overfull_piece_end(cut, piece);
}

} // namespace sample

#endif
