/* block_sort.cuh - a block finds the stable order of codes in shared memory. Each becomes a word of
 * 32 bits: its distance from the least code, in 19 bits, above its number. Words go to bins by
 * their distance, in any order, and small networks of compare-exchanges put neighbours in order.
 * Words of one distance whose codes differ are sorted by these.
 *
 * Distances are differences of codes, shifted to fit. If these crowd in a few bins, a sample of the
 * codes is sorted, distances are places in it and between its neighbours, and words are sorted by
 * the digits of their distance.
 */
#ifndef RECSORT_CUDA_CARRY_BLOCK_SORT_CUH
#define RECSORT_CUDA_CARRY_BLOCK_SORT_CUH

#include "cuda/sort/carry/elements.cuh"

namespace carry
{

enum {
  NUMBER_BITS = 13,                 /* of an element, in its word */
  DISTANCE_BITS = 32 - NUMBER_BITS, /* of its code */
  GROUP = 8,                        /* neighbours that a thread puts in order */
  MOST_IN_BIN = 300,                /* words that networks put in order */
  CELLS = 256,                      /* of a sample, one before each code */
  SAMPLED_BITS = 18,                /* of a distance that is a place in it */
  DIGIT_BITS = 6                    /* of such a distance: a thread has two counts of digits */
};

static_assert(CARRY_SORT_BLOCK * CARRY_SORT_ITEMS <= 1 << NUMBER_BITS, "numbers fit in words");

/* What a block has in shared memory besides codes. */
struct sort_storage {
  uint32_t *words; /* 8 more than elements; words[j] % 2^13 is the number of the one in place j */
  uint32_t *bins;  /* two counts in each */
};

DEVICE_INLINE uint32_t element_at(sort_storage by, uint32_t j)
{
  return by.words[j] & ((1u << NUMBER_BITS) - 1);
}

template <class Code> struct code_range {
  Code least, greatest;
};

/* The least and the greatest code of the block, from those of each thread; one barrier. */
template <class Code> DEVICE_INLINE code_range<Code> block_range(code_range<Code> range)
{
  DEVICE_SHARED_ARRAY(code_range<Code>, ranges, WARP_SIZE);
  for (uint32_t round = 0; round < 2; round++) {
    DEVICE_ROLLED
    for (uint32_t bit = WARP_SIZE / 2; bit > 0; bit /= 2) {
      const uint32_t other = threadIdx.x % WARP_SIZE ^ bit;
      const Code least = key_from_lane(range.least, other);
      const Code greatest = key_from_lane(range.greatest, other);
      if (least < range.least) range.least = least;
      if (greatest > range.greatest) range.greatest = greatest;
    }
    if (round) break;
    if (threadIdx.x % WARP_SIZE == 0) ranges[threadIdx.x / WARP_SIZE] = range;
    __syncthreads();
    range = ranges[threadIdx.x % WARP_SIZE % (blockDim.x / WARP_SIZE)];
  }
  return range;
}

/* The range of `count` codes. By all threads of the block; one barrier. */
template <class Code, class Code_at>
DEVICE_INLINE code_range<Code> range_of_codes(uint32_t count, Code_at code_at)
{
  code_range<Code> range = {(Code) ~(Code)0, 0};
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const Code code = code_at(i);
    if (code < range.least) range.least = code;
    if (code > range.greatest) range.greatest = code;
  }
  return block_range(range);
}

/* The factor that makes numbers below `parts` of numbers up to `most`: the upper half of the
 * product. */
DEVICE_INLINE uint32_t part_factor(uint32_t parts, uint32_t most)
{
  const uint64_t factor = ((uint64_t)parts << 32) / ((uint64_t)most + 1);
  return factor > UINT32_MAX ? UINT32_MAX : (uint32_t)factor;
}

DEVICE_INLINE uint32_t part_of_range(uint32_t number, uint32_t factor)
{
  return (uint32_t)(device_product(number, factor) >> 32);
}

/* How far numbers up to `width` are to be shifted to have so many bits. */
template <class Code> DEVICE_INLINE uint32_t shift_to(Code width, uint32_t bits)
{
  const uint32_t all = width ? 8 * sizeof(Code) - leading_zeros(width) : 0;
  return all > bits ? all - bits : 0;
}

/* Distances that are differences. */
template <class Code> struct linear_scale {
  Code least;
  uint32_t shift; /* codes with one distance may differ if this is not 0 */
  uint32_t factor;

  DEVICE_MEMBER uint32_t distance(Code code) const
  {
    return (uint32_t)((Code)(code - least) >> shift);
  }
  DEVICE_MEMBER uint32_t bin(uint32_t distance) const
  {
    return part_of_range(distance, factor);
  }
};

template <class Code> DEVICE_INLINE linear_scale<Code> linear_scale_of(code_range<Code> range)
{
  const Code width = (Code)(range.greatest - range.least);
  const uint32_t shift = shift_to(width, DISTANCE_BITS);
  return {range.least, shift, part_factor(CARRY_BINS * blockDim.x, (uint32_t)(width >> shift))};
}

/* A sorted sample, in shared memory, and how to divide what is between two of its codes. */
template <class Code> struct code_sample {
  Code *codes;
  uint32_t *shifts, *factors;
};

template <class Code> DEVICE_INLINE code_sample<Code> code_sample_at(void *memory)
{
  code_sample<Code> sample;
  sample.codes = (Code *)memory;
  sample.shifts = (uint32_t *)(sample.codes + CELLS);
  sample.factors = sample.shifts + CELLS + 1;
  return sample;
}

template <class Code>
constexpr uint32_t code_sample_bytes = CELLS * sizeof(Code) + (2 * CELLS + 2) * 4;

/* Distances that are places in a sample. */
template <class Code> struct sampled_scale {
  code_sample<Code> sample;
  Code least;

  DEVICE_MEMBER uint32_t distance(Code code) const
  {
    uint32_t cell = 0; /* the number of codes of the sample that are not greater */
    DEVICE_UNROLL
    for (uint32_t half = CELLS / 2; half > 0; half /= 2)
      if (sample.codes[cell + half - 1] <= code) cell += half;
    if (sample.codes[cell] <= code) cell++;
    const Code from = cell ? sample.codes[cell - 1] : least;
    const uint32_t part = (uint32_t)((Code)(code - from) >> sample.shifts[cell]);
    return cell * ((1u << SAMPLED_BITS) / (CELLS + 1)) + part_of_range(part, sample.factors[cell]);
  }
};

/* Samples `count` codes and sorts these, by a bitonic network (Knuth, TAOCP 3, 5.3.4). By all
 * threads of the block; ends with a barrier. */
template <class Code, class Code_at>
DEVICE_INLINE sampled_scale<Code> sampled_scale_of(code_sample<Code> sample, uint32_t count,
                                                   code_range<Code> range, Code_at code_at)
{
  for (uint32_t i = threadIdx.x; i < CELLS; i += blockDim.x)
    sample.codes[i] = code_at((uint32_t)((uint64_t)i * count / CELLS));
  __syncthreads();
  for (uint32_t run = 2; run <= CELLS; run *= 2) {
    for (uint32_t apart = run / 2; apart > 0; apart /= 2) {
      for (uint32_t i = threadIdx.x; i < CELLS; i += blockDim.x) {
        const uint32_t other = i ^ apart;
        if (other < i) continue; /* another thread's */
        const Code a = sample.codes[i], b = sample.codes[other];
        if ((a > b) == ((i & run) == 0)) {
          sample.codes[i] = b;
          sample.codes[other] = a;
        }
      }
      __syncthreads();
    }
  }
  for (uint32_t cell = threadIdx.x; cell <= CELLS; cell += blockDim.x) {
    const Code from = cell ? sample.codes[cell - 1] : range.least;
    const Code width = (Code)((cell < CELLS ? sample.codes[cell] : range.greatest) - from);
    sample.shifts[cell] = shift_to(width, WARP_SIZE);
    sample.factors[cell] =
        part_factor((1u << SAMPLED_BITS) / (CELLS + 1), (uint32_t)(width >> sample.shifts[cell]));
  }
  __syncthreads();
  return {sample, range.least};
}

/* ---- Bins ---- */

/* Counts an element in its bin, and returns how many the bin had before. */
DEVICE_INLINE uint32_t add_to_bin(uint32_t *bins, uint32_t bin)
{
  const uint32_t shift = bin % 2 * 16;
  return device_add32(&bins[bin / 2], 1u << shift) >> shift & 0xffff;
}

/* Turns counts into the places where bins begin, and returns the greatest count. By all threads of
 * the block; ends with a barrier. */
DEVICE_INLINE uint32_t place_bins(uint32_t *bins)
{
  DEVICE_SHARED_ARRAY(uint32_t, greatest, 1);
  uint32_t counts[CARRY_BINS], sum = 0, most = 0;
  if (threadIdx.x == 0) *greatest = 0;
  __syncthreads(); /* all are counted */
  DEVICE_UNROLL
  for (uint32_t i = 0; i < CARRY_BINS; i++) {
    const uint32_t two = bins[(threadIdx.x * CARRY_BINS + i) / 2];
    const uint32_t count = i % 2 ? two >> 16 : two & 0xffff;
    counts[i] = sum;
    sum += count;
    most = count > most ? count : most;
  }
  most = device_warp_max(most);
  if (threadIdx.x % WARP_SIZE == 0) device_max32(greatest, most);
  const uint32_t before = sample::block_before(sum);
  DEVICE_UNROLL
  for (uint32_t i = 0; i < CARRY_BINS; i += 2)
    bins[(threadIdx.x * CARRY_BINS + i) / 2] = (before + counts[i]) | (before + counts[i + 1])
                                                                          << 16;
  __syncthreads();
  return *greatest;
}

DEVICE_INLINE uint32_t bin_place(const uint32_t *bins, uint32_t bin)
{
  return bins[bin / 2] >> bin % 2 * 16 & 0xffff;
}

/* ---- Networks ---- */

DEVICE_INLINE void exchange(uint32_t *words, uint32_t a, uint32_t b)
{
  const uint32_t low = words[a] < words[b] ? words[a] : words[b];
  words[b] = words[a] < words[b] ? words[b] : words[a];
  words[a] = low;
}

/* Batcher's odd-even merge sort of 8 words: 19 exchanges (Knuth, TAOCP 3, 5.3.4). */
DEVICE_INLINE void sort_group(uint32_t *w)
{
  exchange(w, 0, 1), exchange(w, 2, 3), exchange(w, 4, 5), exchange(w, 6, 7);
  exchange(w, 0, 2), exchange(w, 1, 3), exchange(w, 4, 6), exchange(w, 5, 7);
  exchange(w, 1, 2), exchange(w, 5, 6);
  exchange(w, 0, 4), exchange(w, 1, 5), exchange(w, 2, 6), exchange(w, 3, 7);
  exchange(w, 2, 4), exchange(w, 3, 5);
  exchange(w, 1, 2), exchange(w, 3, 4), exchange(w, 5, 6);
}

DEVICE_INLINE bool is_sorted(const uint32_t *w)
{
  bool sorted = true;
  DEVICE_UNROLL
  for (uint32_t i = 1; i < GROUP; i++)
    sorted &= w[i - 1] <= w[i];
  return sorted;
}

struct DEVICE_ALIGNED(16) four_words {
  uint32_t of[4];
};

/* Sorts groups of words that begin at every eighth word from `first` on, 0 or 4. */
DEVICE_INLINE void sort_groups(uint32_t *words, uint32_t count, uint32_t first)
{
  for (uint32_t at = threadIdx.x * GROUP + first; at < count; at += blockDim.x * GROUP) {
    four_words *const from = (four_words *)(words + at);
    const four_words low = from[0], high = from[1];
    uint32_t w[GROUP] = {low.of[0],  low.of[1],  low.of[2],  low.of[3],
                         high.of[0], high.of[1], high.of[2], high.of[3]};
    if (is_sorted(w)) continue;
    sort_group(w);
    from[0] = {{w[0], w[1], w[2], w[3]}};
    from[1] = {{w[4], w[5], w[6], w[7]}};
  }
  __syncthreads();
}

/* Puts the words of each bin in order. Halves of groups are sorted in pairs, now with one
 * neighbour, now with the other: an odd-even transposition sort of halves, which takes as many
 * rounds as a bin touches halves (Knuth, TAOCP 3, 5.3.4). */
DEVICE_INLINE void sort_bins(uint32_t *words, uint32_t count, uint32_t most_in_bin)
{
  const uint32_t rounds = (most_in_bin + 2) / (GROUP / 2) + 1;
  DEVICE_ROLLED
  for (uint32_t round = 0; round < rounds; round++)
    sort_groups(words, count, round % 2 * (GROUP / 2));
}

/* ---- Distances that tie ---- */

/* True if `value` is, in any thread of the block. By all threads; two barriers. */
DEVICE_INLINE bool block_any(bool value)
{
  DEVICE_SHARED_ARRAY(uint32_t, any, 1);
  if (threadIdx.x == 0) *any = 0;
  __syncthreads();
  if (device_ballot(value) && threadIdx.x % WARP_SIZE == 0) device_poke32(any, 1);
  __syncthreads();
  return *any != 0;
}

/* Sorts words of one distance by their codes, stably: swaps neighbours until none is wrong. Usually
 * there are few, and most of these have the same code. By all threads of the block; ends with a
 * barrier. */
template <class Code_at>
DEVICE_INLINE void sort_ties(sort_storage by, uint32_t count, Code_at code_at)
{
  for (bool again = true; again;) {
    again = false;
    for (uint32_t odd = 0; odd < 2; odd++) {
      for (uint32_t j = 2 * threadIdx.x + odd; j + 1 < count; j += 2 * blockDim.x) {
        const uint32_t word = by.words[j], next = by.words[j + 1];
        if ((word ^ next) >> NUMBER_BITS) continue;
        if (code_at(element_at(by, j)) <= code_at(element_at(by, j + 1))) continue;
        DEVICE_PATH("carry_ties");
        by.words[j] = next;
        by.words[j + 1] = word;
        again = true;
      }
      __syncthreads();
    }
    again = block_any(again);
  }
}

/* ---- By digits ---- */

/* Sorts words by a digit that begins at a bit, stably. Each warp counts the digits of its words,
 * and then knows the places of these. By all threads of the block. */
DEVICE_INLINE void sort_by_digit(sort_storage by, uint32_t count, uint32_t bit)
{
  const uint32_t warps = blockDim.x / WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
  const uint32_t lane = threadIdx.x % WARP_SIZE, digits = 1u << DIGIT_BITS;
  uint32_t *const counts = by.bins; /* digit by digit, one for each warp */
  uint32_t words[CARRY_SORT_ITEMS], places[CARRY_SORT_ITEMS];
  for (uint32_t i = threadIdx.x; i < warps * digits; i += blockDim.x)
    counts[i] = 0;
  __syncthreads();
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CARRY_SORT_ITEMS; t++) {
    const uint32_t j = (warp * CARRY_SORT_ITEMS + t) * WARP_SIZE + lane;
    words[t] = j < count ? by.words[j] : UINT32_MAX; /* comes last */
    const uint32_t digit = words[t] >> bit & (digits - 1);
    const uint32_t alike = device_match_bits(digit, DIGIT_BITS);
    const uint32_t before = device_popc(alike & ((1u << lane) - 1));
    const uint32_t there = counts[digit * warps + warp];
    __syncwarp();
    if (before == 0) counts[digit * warps + warp] = there + device_popc(alike);
    __syncwarp();
    places[t] = there + before;
  }
  __syncthreads();
  const uint32_t one = counts[2 * threadIdx.x], two = counts[2 * threadIdx.x + 1];
  const uint32_t first = sample::block_before(one + two);
  counts[2 * threadIdx.x] = first;
  counts[2 * threadIdx.x + 1] = first + one;
  __syncthreads();
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CARRY_SORT_ITEMS; t++) {
    const uint32_t j = (warp * CARRY_SORT_ITEMS + t) * WARP_SIZE + lane;
    const uint32_t digit = words[t] >> bit & (digits - 1);
    if (j < count) by.words[counts[digit * warps + warp] + places[t]] = words[t];
  }
  __syncthreads();
}

/* ---- All of it ---- */

enum sort_result {
  ALIKE,  /* all codes are: there are no words */
  SORTED, /* words tell the order */
  CROWDED /* nothing is sorted: a bin has too many */
};

/* Finds the order of `count` codes in a range, at most blockDim.x * CARRY_SORT_ITEMS; code_at(i) is
 * one of them. By all threads of the block; ends with a barrier. */
template <class Code, class Code_at>
DEVICE_INLINE sort_result sort_by_bins(sort_storage by, uint32_t count, code_range<Code> range,
                                       Code_at code_at)
{
  uint32_t mine[CARRY_SORT_ITEMS] = {};
  if (range.least >= range.greatest) return ALIKE;
  const linear_scale<Code> scale = linear_scale_of(range);
  for (uint32_t i = threadIdx.x; i < CARRY_BINS / 2 * blockDim.x; i += blockDim.x)
    by.bins[i] = 0;
  __syncthreads();
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CARRY_SORT_ITEMS; t++) {
    const uint32_t i = t * blockDim.x + threadIdx.x;
    if (i < count) {
      const uint32_t distance = scale.distance(code_at(i));
      mine[t] = distance << NUMBER_BITS | add_to_bin(by.bins, scale.bin(distance));
    }
  }
  const uint32_t most = place_bins(by.bins);
  if (most > MOST_IN_BIN) return CROWDED;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CARRY_SORT_ITEMS; t++) {
    const uint32_t i = t * blockDim.x + threadIdx.x, number = mine[t] & ((1u << NUMBER_BITS) - 1);
    if (i < count)
      by.words[bin_place(by.bins, scale.bin(mine[t] >> NUMBER_BITS)) + number] =
          mine[t] - number + i;
  }
  if (threadIdx.x < GROUP) by.words[count + threadIdx.x] = UINT32_MAX; /* they stay there */
  __syncthreads();
  sort_bins(by.words, count, most);
  if (scale.shift) sort_ties(by, count, code_at);
  return SORTED;
}

/* The same by digits of places in a sample, whatever the codes are. */
template <class Code, class Code_at>
DEVICE_INLINE sort_result sort_by_sample(sort_storage by, uint32_t count, code_range<Code> range,
                                         code_sample<Code> sample, Code_at code_at)
{
  if (range.least >= range.greatest) return ALIKE;
  DEVICE_PATH("carry_sample");
  const sampled_scale<Code> scale = sampled_scale_of(sample, count, range, code_at);
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
    by.words[i] = scale.distance(code_at(i)) << NUMBER_BITS | i;
  DEVICE_ROLLED
  for (uint32_t bit = NUMBER_BITS; bit < NUMBER_BITS + SAMPLED_BITS; bit += DIGIT_BITS)
    sort_by_digit(by, count, bit);
  sort_ties(by, count, code_at);
  return SORTED;
}

} // namespace carry

#endif
