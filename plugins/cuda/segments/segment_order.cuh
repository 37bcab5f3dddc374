/* segment_order.cuh - finds the order of a tile's records, in two ways: by ranks and by a radix
 * sort. Both are stable, and leave it in tile::order. */
#ifndef RECSORT_CUDA_SEGMENT_ORDER_CUH
#define RECSORT_CUDA_SEGMENT_ORDER_CUH

#include "cuda/sort/sample/block/shares.cuh"
#include "cuda/segments/segment_tile.cuh"

namespace segment_sort
{

enum {
  ITEMS = 16,      /* records of a thread in a radix sort */
  NUMBER_BITS = 14 /* bits for the number of a record in its tile */
};

/* ---- By ranks: how many records of a segment come before this one ---- */

/* A key of one word, and the number of its record below it: all pairs differ. */
DEVICE_INLINE uint64_t pair_of(const tile &mine, uint32_t i)
{
  return (uint64_t)mine.keys[i] << 32 | i;
}

/* Whether record `a` comes before record `b` of the same segment. */
DEVICE_INLINE bool comes_before(const tile &mine, uint32_t a, uint32_t b)
{
  if (mine.words == 1) return pair_of(mine, a) < pair_of(mine, b);
  for (uint32_t w = mine.words; w-- > 0;) {
    const uint32_t x = mine.keys[w * mine.size + a], y = mine.keys[w * mine.size + b];
    if (x != y) return x < y;
  }
  return a < b;
}

/* The place of record `i` of the segment from `begin` to `end`. */
DEVICE_INLINE uint32_t rank(const tile &mine, uint32_t begin, uint32_t end, uint32_t i)
{
  uint32_t taken = 0; /* 0 minus those that come before: to subtract a borrow is one instruction */
  if (mine.words == 1) {
    const uint64_t pair = pair_of(mine, i);
    DEVICE_UNROLL_BY_4
    for (uint32_t k = begin; k < end; k++)
      taken = device_take_if_less(taken, pair_of(mine, k), pair);
  } else {
    for (uint32_t k = begin; k < end; k++)
      taken -= comes_before(mine, k, i);
  }
  return begin - taken;
}

/* By all threads; one barrier. */
DEVICE_INLINE void order_by_ranks(const tile &mine)
{
  for (uint32_t i = threadIdx.x; i < mine.count; i += blockDim.x) {
    const bool inside = i >= mine.inner && i < mine.outer;
    mine.order[inside ? rank(mine, head_of(mine, i), next_head(mine, i), i) : i] = (uint16_t)i;
  }
  __syncthreads();
}

/* ---- By a radix sort: a pass for each digit, the least significant first ---- */

/* What a pass sorts by: DIGIT_BITS bits, from bit `shift` on, of a plane of the keys. If `plane` is
 * NULL, of the number of a record's segment in the tile. */
struct digit {
  const uint32_t *plane;
  uint32_t shift;
};

/* Counts the heads before each word of tile::heads. By all threads; two barriers. */
DEVICE_INLINE void number_heads(const tile &mine)
{
  const uint32_t w = threadIdx.x, words = mine.size / WARP_SIZE;
  const uint32_t before = sample::block_before(w < words ? device_popc(mine.heads[w]) : 0);
  if (w < words) mine.before[w] = (uint16_t)before;
  __syncthreads();
}

/* The number of a record's segment in the tile: how many begin before the record or with it. */
DEVICE_INLINE uint32_t segment_of(const tile &mine, uint32_t i)
{
  const uint32_t w = i / WARP_SIZE;
  return mine.before[w] + device_popc(mine.heads[w] & bits_up_to(i));
}

DEVICE_INLINE uint32_t digit_of(const tile &mine, const digit &by, uint32_t i)
{
  return (by.plane ? by.plane[i] : segment_of(mine, i)) >> by.shift & (DIGITS - 1);
}

/* What a thread holds of a record during a pass, in one word: its number, its digit, and how many
 * records of the warp that have this digit come before it. */
enum { DIGIT_AT = NUMBER_BITS, RANK_AT = DIGIT_AT + DIGIT_BITS };

DEVICE_INLINE uint32_t number_in(uint32_t held)
{
  return held & ((1u << NUMBER_BITS) - 1);
}

DEVICE_INLINE uint32_t digit_in(uint32_t held)
{
  return held >> DIGIT_AT & (DIGITS - 1);
}

/* A warp has records that are neighbours in the order, ITEMS for each lane. This is the place of
 * the first one. */
DEVICE_INLINE uint32_t warp_begin(void)
{
  return threadIdx.x / WARP_SIZE * ITEMS * WARP_SIZE;
}

/* How many each of its lanes has: loops compare with this number, as ptxas 13.0 runs out of
 * predicates if each place is compared with the tile's count. */
DEVICE_INLINE uint32_t warp_items(const tile &mine)
{
  const uint32_t begin = warp_begin();
  return mine.count <= begin ? 0 : (mine.count - begin + WARP_SIZE - 1) / WARP_SIZE;
}

/* The warp's count of a digit. A digit has a count for each warp and an unused one behind them, so
 * that a warp's counts of many digits are spread over the banks. */
DEVICE_INLINE uint16_t *count_of(const tile &mine, uint32_t digit)
{
  const uint32_t warps = blockDim.x / WARP_SIZE;
  return &mine.counts[digit * (warps + 1) + threadIdx.x / WARP_SIZE];
}

/* Count number i of all that are used: those of the first digit, then those of the next one ... */
DEVICE_INLINE uint16_t *count_at(const tile &mine, uint32_t i)
{
  const uint32_t warp_bits = 31 - device_clz32(blockDim.x / WARP_SIZE);
  return &mine.counts[i + (i >> warp_bits)];
}

/* Reads a warp's records, and counts their digits. Afterwards held[t] says all of a record that
 * `scatter` asks for. By a warp. */
DEVICE_INLINE void count_digits(const tile &mine, const digit &by, uint32_t held[ITEMS])
{
  const uint32_t lane = threadIdx.x % WARP_SIZE, items = warp_items(mine);
  for (uint32_t d = lane; d < DIGITS; d += WARP_SIZE)
    *count_of(mine, d) = 0;
  __syncwarp();
  DEVICE_UNROLL
  for (uint32_t t = 0; t < ITEMS; t++) {
    if (t >= items) break;
    held[t] = mine.order[warp_begin() + t * WARP_SIZE + lane];
  }
  DEVICE_UNROLL
  for (uint32_t t = 0; t < ITEMS; t++) {
    if (t >= items) break;
    const uint32_t value = digit_of(mine, by, held[t]);
    const uint32_t alike = device_match_bits(value, DIGIT_BITS);
    uint16_t *const count = count_of(mine, value);
    const uint32_t before = *count + device_popc(alike & ((1u << lane) - 1));
    __syncwarp();
    if (alike >> lane == 1) *count = (uint16_t)(before + 1); /* the last of these lanes */
    __syncwarp();
    held[t] |= value << DIGIT_AT | before << RANK_AT;
  }
}

/* Turns each count into the place of the first record that it counts. There are DIGITS counts for
 * each warp, so each thread has EACH. By all threads; one barrier. */
DEVICE_INLINE void place_counts(const tile &mine)
{
  enum { EACH = DIGITS / WARP_SIZE };
  uint32_t counts[EACH], sum = 0;
  DEVICE_UNROLL
  for (uint32_t k = 0; k < EACH; k++) {
    counts[k] = *count_at(mine, threadIdx.x * EACH + k);
    sum += counts[k];
  }
  uint32_t place = sample::block_before(sum);
  DEVICE_UNROLL
  for (uint32_t k = 0; k < EACH; k++) {
    *count_at(mine, threadIdx.x * EACH + k) = (uint16_t)place;
    place += counts[k];
  }
}

/* Writes a warp's records to their places. */
DEVICE_INLINE void scatter(const tile &mine, const uint32_t held[ITEMS])
{
  const uint32_t items = warp_items(mine);
  DEVICE_UNROLL
  for (uint32_t t = 0; t < ITEMS; t++) {
    if (t >= items) break;
    mine.order[*count_of(mine, digit_in(held[t])) + (held[t] >> RANK_AT)] =
        (uint16_t)number_in(held[t]);
  }
}

/* Sorts the order by a digit, stably. By all threads; four barriers. */
DEVICE_INLINE void sort_by(const tile &mine, const digit &by)
{
  uint32_t held[ITEMS] = {};
  count_digits(mine, by, held);
  __syncthreads();
  place_counts(mine);
  __syncthreads();
  scatter(mine, held);
  __syncthreads();
}

/* The bits of a plane in which not all keys agree; `varied` is 0. By all threads; one barrier. */
DEVICE_INLINE uint32_t varied_bits(const tile &mine, const uint32_t *plane, uint32_t *varied)
{
  uint32_t bits = 0;
  for (uint32_t i = threadIdx.x; i < mine.count; i += blockDim.x)
    bits |= plane[i] ^ plane[0];
  if (bits) (void)device_or32(varied, bits);
  __syncthreads();
  return *varied;
}

/* Begins with the records as they are. The last ones are filled up to a multiple of a warp's lanes,
 * so that each lane has one: what is added has the greatest key, so it stays at the end. By all
 * threads. */
DEVICE_INLINE void begin_order(const tile &mine)
{
  const uint32_t all = (mine.count + WARP_SIZE - 1) / WARP_SIZE * WARP_SIZE;
  for (uint32_t i = threadIdx.x; i < all; i += blockDim.x) {
    mine.order[i] = (uint16_t)i;
    for (uint32_t w = 0; i >= mine.count && w < mine.words; w++)
      mine.keys[w * mine.size + i] = UINT32_MAX;
  }
}

/* Skips digits in which all keys agree. By all threads. */
DEVICE_INLINE void order_by_keys(const tile &mine)
{
  /* each word has its own, so that none is set while threads read another */
  DEVICE_SHARED_ARRAY(uint32_t, all_varied, MOST_WORDS);
  if (threadIdx.x < MOST_WORDS) all_varied[threadIdx.x] = 0;
  __syncthreads();
  for (uint32_t w = 0; w < mine.words; w++) {
    const uint32_t *const plane = mine.keys + w * mine.size;
    const uint32_t varied = varied_bits(mine, plane, &all_varied[w]);
    for (uint32_t shift = 0; shift < 32; shift += DIGIT_BITS)
      if (varied >> shift & (DIGITS - 1)) sort_by(mine, {plane, shift});
  }
}

/* Brings the records of each segment together again, in the order of their keys. What begin_order
 * added has the number last + 1. By all threads. */
DEVICE_INLINE void order_by_segments(const tile &mine)
{
  number_heads(mine);
  const uint32_t last = segment_of(mine, mine.count - 1);
  if (segment_of(mine, 0) == last) return;
  for (uint32_t shift = 0; (last + 1) >> shift; shift += DIGIT_BITS)
    sort_by(mine, {NULL, shift});
}

} // namespace segment_sort

#endif
