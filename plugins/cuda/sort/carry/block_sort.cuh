/* block_sort.cuh - a block finds the stable order of codes in shared memory. Each becomes a word of
 * 32 bits: its distance from the least code, in 19 bits, above its number. Words go to bins by
 * their distance, in any order, and small networks of compare-exchanges put neighbours in order.
 * Words of one distance whose codes differ are sorted by their codes.
 *
 * Distances are differences of codes, shifted to fit. If distances crowd in a few bins, the block
 * folds the codes: it leaves out bits that are the same in all of them. If folded codes crowd too,
 * a sample of the codes is sorted, distances are places in it and between its neighbours, and words
 * are sorted by the digits of their distance.
 */
#ifndef RECSORT_CUDA_CARRY_BLOCK_SORT_CUH
#define RECSORT_CUDA_CARRY_BLOCK_SORT_CUH

#include "cuda/sort/carry/elements.cuh"

namespace carry
{

enum {
  NUMBER_BITS = 13,                 /* of an element, in its word */
  DISTANCE_BITS = 32 - NUMBER_BITS, /* of its code */
  GROUP = 16,                       /* neighbours that a thread puts in order */
  MOST_IN_BIN = 300,                /* words that networks put in order */
  CELLS = 256,                      /* of a sample, one before each code */
  SAMPLED_BITS = 18,                /* of a distance that is a place in it */
  DIGIT_BITS = 6                    /* of such a distance: a thread has two counts of digits */
};

static_assert(CARRY_MOST <= 1 << NUMBER_BITS, "numbers fit in words");

/* What a block has in shared memory besides codes. */
struct sort_storage {
  uint32_t *words; /* GROUP more than elements, rounded up to 32; the word of place j, which is at
                    * word_place(j), is the number of an element, modulo 2^13 */
  uint32_t *bins;  /* two counts in each */
};

/* Where word j is: neighbouring threads, which have groups, then read four words at a time from
 * different banks of shared memory. */
DEVICE_INLINE uint32_t word_place(uint32_t j)
{
  return j ^ (j / 8 & 12);
}

DEVICE_INLINE uint32_t element_at(sort_storage by, uint32_t j)
{
  return by.words[word_place(j)] & ((1u << NUMBER_BITS) - 1);
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

/* The bits that any thread of the block has; one barrier. */
template <class Code> DEVICE_INLINE Code block_or(Code bits)
{
  DEVICE_SHARED_ARRAY(Code, all, WARP_SIZE);
  for (uint32_t round = 0; round < 2; round++) {
    DEVICE_ROLLED
    for (uint32_t bit = WARP_SIZE / 2; bit > 0; bit /= 2)
      bits |= key_from_lane(bits, threadIdx.x % WARP_SIZE ^ bit);
    if (round) break;
    if (threadIdx.x % WARP_SIZE == 0) all[threadIdx.x / WARP_SIZE] = bits;
    __syncthreads();
    bits = all[threadIdx.x % WARP_SIZE % (blockDim.x / WARP_SIZE)];
  }
  return bits;
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

/* Distances that are differences. */
template <class Code> struct linear_scale {
  Code least;
  uint32_t shift; /* codes with one distance may differ if this is not 0 */
  range_parts parts;

  DEVICE_MEMBER uint32_t distance(Code code) const
  {
    DEVICE_ASSERT(!(code < least));
    return (uint32_t)((Code)(code - least) >> shift);
  }
  DEVICE_MEMBER uint32_t bin(uint32_t distance) const
  {
    return parts(distance);
  }
};

template <class Code> DEVICE_INLINE linear_scale<Code> linear_scale_of(code_range<Code> range)
{
  DEVICE_ASSERT(!(range.greatest < range.least));
  const Code width = (Code)(range.greatest - range.least);
  const uint32_t shift = shift_to(width, DISTANCE_BITS);
  return {range.least, shift, range_parts_of(CARRY_BINS, (uint32_t)(width >> shift))};
}

/* Distances without the bits, between two that vary, in which all codes are alike: numbers of tiles
 * above depths, say, leave such a gap. */
template <class Code> struct folded_scale {
  linear_scale<Code> folded;
  uint32_t low_bits, gap;

  DEVICE_MEMBER Code fold(Code code) const
  {
    const Code low = (Code)(((Code)1 << low_bits) - 1);
    return (Code)((code >> gap & (Code)~low) | (code & low));
  }
  DEVICE_MEMBER uint32_t distance(Code code) const
  {
    return folded.distance(fold(code));
  }
  DEVICE_MEMBER uint32_t bin(uint32_t distance) const
  {
    return folded.bin(distance);
  }
};

/* Folds codes by the longest gap of `varying`, a bit for each in which they differ. */
template <class Code>
DEVICE_INLINE folded_scale<Code> folded_scale_of(code_range<Code> range, Code varying)
{
  folded_scale<Code> scale = {{}, 0, 0};
  uint32_t last = 8 * sizeof(Code);
  DEVICE_ROLLED
  for (uint32_t bit = 0; bit < 8 * sizeof(Code); bit++) {
    if (!(varying >> bit & 1)) continue;
    if (last < bit && bit - last > scale.gap) {
      scale.gap = bit - last - 1;
      scale.low_bits = last + 1;
    }
    last = bit;
  }
  scale.folded = linear_scale_of<Code>({scale.fold(range.least), scale.fold(range.greatest)});
  DEVICE_ASSERT(scale.low_bits + scale.gap <= 8 * sizeof(Code));
  return scale;
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
    DEVICE_ASSERT(cell <= CELLS);
    const uint32_t part = (uint32_t)((Code)(code - from) >> sample.shifts[cell]);
    return cell * ((1u << SAMPLED_BITS) / (CELLS + 1)) + part_of_range(part, sample.factors[cell]);
  }
};

/* Sorts a sample, by a bitonic network (Knuth, TAOCP 3, 5.3.4). By all threads of the block, after
 * a barrier; ends with one. */
template <class Code> DEVICE_INLINE void sort_sample(code_sample<Code> sample)
{
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
}

/* Samples `count` codes. By all threads of the block; ends with a barrier. */
template <class Code, class Code_at>
DEVICE_INLINE sampled_scale<Code> sampled_scale_of(code_sample<Code> sample, uint32_t count,
                                                   code_range<Code> range, Code_at code_at)
{
  DEVICE_ASSERT(count > 0);
  for (uint32_t i = threadIdx.x; i < CELLS; i += blockDim.x)
    sample.codes[i] = code_at((uint32_t)((uint64_t)i * count / CELLS));
  __syncthreads();
  sort_sample(sample);
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
  DEVICE_ASSERT(bin < CARRY_BINS);
  const uint32_t shift = bin % 2 * 16;
  return device_add32(&bins[bin / 2], 1u << shift) >> shift & 0xffff;
}

/* Turns counts into the places where bins begin, and returns the greatest count. By all threads of
 * the block; ends with a barrier. */
template <uint32_t threads> DEVICE_INLINE uint32_t place_bins(uint32_t *bins)
{
  constexpr uint32_t each = CARRY_BINS / threads;
  static_assert(each % 2 == 0 && each * threads == CARRY_BINS, "two bins are in a word");
  DEVICE_SHARED_ARRAY(uint32_t, greatest, 1);
  uint32_t counts[each], sum = 0, most = 0;
  if (threadIdx.x == 0) *greatest = 0;
  __syncthreads(); /* all are counted */
  DEVICE_UNROLL
  for (uint32_t i = 0; i < each; i++) {
    const uint32_t two = bins[(threadIdx.x * each + i) / 2];
    const uint32_t count = i % 2 ? two >> 16 : two & 0xffff;
    counts[i] = sum;
    sum += count;
    most = count > most ? count : most;
  }
  most = device_warp_max(most);
  if (threadIdx.x % WARP_SIZE == 0) device_max32(greatest, most);
  const uint32_t before = sample::block_before(sum);
  DEVICE_ASSERT(before + sum <= CARRY_MOST);
  DEVICE_UNROLL
  for (uint32_t i = 0; i < each; i += 2)
    bins[(threadIdx.x * each + i) / 2] = (before + counts[i]) | (before + counts[i + 1]) << 16;
  __syncthreads();
  return *greatest;
}

/* Where a bin begins. */
DEVICE_INLINE uint32_t bin_place(const uint32_t *bins, uint32_t bin)
{
  DEVICE_ASSERT(bin < CARRY_BINS);
  return ((const uint16_t *)bins)[bin];
}

/* ---- Networks ---- */

/* Batcher's odd-even merge sort of the words of a group (Knuth, TAOCP 3, 5.3.4). */
DEVICE_INLINE void sort_group(uint32_t *words)
{
  DEVICE_UNROLL
  for (uint32_t run = 1; run < GROUP; run *= 2)
    DEVICE_UNROLL
  for (uint32_t apart = run; apart > 0; apart /= 2)
    DEVICE_UNROLL
  for (uint32_t a = 0; a + apart < GROUP; a++) {
    const uint32_t b = a + apart;
    if (a < apart % run || (a - apart % run) / apart % 2 || a / (2 * run) != b / (2 * run))
      continue; /* known at compile time */
    const uint32_t low = words[a] < words[b] ? words[a] : words[b];
    words[b] = words[a] < words[b] ? words[b] : words[a];
    words[a] = low;
  }
}

/* Sorts groups of words that begin at every GROUP-th word from `first` on, 0 or GROUP / 2. */
template <uint32_t threads>
DEVICE_INLINE void sort_groups(uint32_t *words, uint32_t count, uint32_t first)
{
  DEVICE_ASSERT(first == 0 || first == GROUP / 2);
  DEVICE_ROLLED
  for (uint32_t at = threadIdx.x * GROUP + first; at < count; at += threads * GROUP) {
    uint32_t group[GROUP];
    DEVICE_UNROLL
    for (uint32_t i = 0; i < GROUP; i += 4) {
      const four_words some = *(const four_words *)&words[word_place(at + i)];
      for (uint32_t k = 0; k < 4; k++)
        group[i + k] = some.of[k];
    }
    sort_group(group);
    DEVICE_UNROLL
    for (uint32_t i = 0; i < GROUP; i += 4)
      *(four_words *)&words[word_place(at + i)] = {
          {group[i], group[i + 1], group[i + 2], group[i + 3]}};
  }
  __syncthreads();
}

/* Puts the words of each bin in order. Halves of groups are sorted in pairs, now with one
 * neighbour, now with the other: an odd-even transposition sort of halves, which takes as many
 * rounds as a bin touches halves (Knuth, TAOCP 3, 5.3.4). */
template <uint32_t threads>
DEVICE_INLINE void sort_bins(uint32_t *words, uint32_t count, uint32_t most_in_bin)
{
  const uint32_t half = GROUP / 2, rounds = (most_in_bin + half - 2) / half + 1;
  DEVICE_ROLLED
  for (uint32_t round = 0; round < rounds; round++)
    sort_groups<threads>(words, count, round % 2 * half);
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
        uint32_t *const one = &by.words[word_place(j)], *const other = &by.words[word_place(j + 1)];
        const uint32_t word = *one, next = *other;
        if ((word ^ next) >> NUMBER_BITS) continue;
        if (code_at(element_at(by, j)) <= code_at(element_at(by, j + 1))) continue;
        DEVICE_PATH("carry_ties");
        *one = next;
        *other = word;
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
template <uint32_t threads>
DEVICE_INLINE void sort_by_digit(sort_storage by, uint32_t count, uint32_t bit)
{
  DEVICE_ASSERT(count <= CARRY_MOST && bit + DIGIT_BITS <= 32);
  constexpr uint32_t items = CARRY_MOST / threads;
  const uint32_t warps = threads / WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
  const uint32_t lane = threadIdx.x % WARP_SIZE, digits = 1u << DIGIT_BITS;
  uint32_t *const counts = by.bins; /* digit by digit, one for each warp */
  uint32_t words[items], places[items];
  for (uint32_t i = threadIdx.x; i < warps * digits; i += threads)
    counts[i] = 0;
  __syncthreads();
  DEVICE_UNROLL
  for (uint32_t t = 0; t < items; t++) {
    const uint32_t j = (warp * items + t) * WARP_SIZE + lane;
    words[t] = j < count ? by.words[word_place(j)] : UINT32_MAX; /* comes last */
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
  for (uint32_t t = 0; t < items; t++) {
    const uint32_t j = (warp * items + t) * WARP_SIZE + lane;
    const uint32_t digit = words[t] >> bit & (digits - 1);
    if (j < count) by.words[word_place(counts[digit * warps + warp] + places[t])] = words[t];
  }
  __syncthreads();
}

/* ---- All of it ---- */

enum sort_result {
  ALIKE,  /* all codes are: there are no words */
  SORTED, /* words tell the order */
  CROWDED /* nothing is sorted: a bin has too many */
};

/* Finds the order of `count` codes by bins of a scale, unless a bin has too many. By all threads of
 * the block; ends with a barrier. */
template <uint32_t threads, class Scale, class Code_at>
DEVICE_INLINE sort_result sort_by_scale(sort_storage by, uint32_t count, const Scale &scale,
                                        Code_at code_at)
{
  DEVICE_ASSERT(count <= CARRY_MOST);
  constexpr uint32_t items = CARRY_MOST / threads;
  uint32_t mine[items] = {};
  DEVICE_UNROLL
  for (uint32_t i = 0; i < CARRY_BINS / 2 / threads; i++)
    by.bins[i * threads + threadIdx.x] = 0;
  __syncthreads();
  code_at.with([&](auto code) {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < items; t++) {
      const uint32_t i = t * threads + threadIdx.x;
      if (i < count) {
        const uint32_t distance = scale.distance(code(i));
        mine[t] = distance << NUMBER_BITS | add_to_bin(by.bins, scale.bin(distance));
      }
    }
  });
  const uint32_t most = place_bins<threads>(by.bins);
  if (most > MOST_IN_BIN) return CROWDED;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < items; t++) {
    const uint32_t i = t * threads + threadIdx.x, number = mine[t] & ((1u << NUMBER_BITS) - 1);
    if (i < count)
      by.words[word_place(bin_place(by.bins, scale.bin(mine[t] >> NUMBER_BITS)) + number)] =
          mine[t] - number + i;
  }
  if (threadIdx.x < GROUP) by.words[word_place(count + threadIdx.x)] = UINT32_MAX; /* for groups */
  __syncthreads();
  sort_bins<threads>(by.words, count, most);
  return SORTED;
}

/* Finds the order of `count` codes in a range, at most CARRY_MOST, by bins of their differences;
 * code_at(i) is one of them, see key_codes. By all threads of the block; ends with a barrier. */
template <uint32_t threads, class Code, class Code_at>
DEVICE_INLINE sort_result sort_by_bins(sort_storage by, uint32_t count, code_range<Code> range,
                                       Code_at code_at)
{
  if (range.least >= range.greatest) return ALIKE;
  const linear_scale<Code> scale = linear_scale_of(range);
  const sort_result sorted = sort_by_scale<threads>(by, count, scale, code_at);
  if (sorted == SORTED && scale.shift) sort_ties(by, count, code_at);
  return sorted;
}

/* The same of codes that crowd in a few of these bins: by bins of folded differences; or, if these
 * are crowded too, by the digits of places in a sample. `range` is that of the codes. */
template <uint32_t threads, class Code, class Code_at>
DEVICE_INLINE bool sort_crowded(sort_storage by, uint32_t count, code_range<Code> range,
                                code_sample<Code> sample, Code_at code_at)
{
  if (range.least >= range.greatest) return false;
  DEVICE_PATH("carry_folded");
  Code mine = 0;
  for (uint32_t i = threadIdx.x; i < count; i += threads)
    mine |= code_at(i) ^ range.least;
  const folded_scale<Code> folded = folded_scale_of(range, block_or(mine));
  if (sort_by_scale<threads>(by, count, folded, code_at) == CROWDED) {
    DEVICE_PATH("carry_sample");
    const sampled_scale<Code> scale = sampled_scale_of(sample, count, range, code_at);
    for (uint32_t i = threadIdx.x; i < count; i += threads)
      by.words[word_place(i)] = scale.distance(code_at(i)) << NUMBER_BITS | i;
    DEVICE_ROLLED
    for (uint32_t bit = NUMBER_BITS; bit < NUMBER_BITS + SAMPLED_BITS; bit += DIGIT_BITS)
      sort_by_digit<threads>(by, count, bit);
  }
  sort_ties(by, count, code_at);
  return true;
}

} // namespace carry

#endif
