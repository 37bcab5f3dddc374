/* bins.cuh - the bins of a tile and the tags of its pairs, for all types of pair
 * (tile_bins.cuh). */
#ifndef RECSORT_CUDA_SAMPLE_BINS_CUH
#define RECSORT_CUDA_SAMPLE_BINS_CUH

#include "cuda/sort/sample/block/shares.cuh"

namespace sample
{

enum {
  MOST_OVERFULL = 80,  /* overfull bins of a tile */
  NETWORK_SIZE = 8,    /* tags that one thread sorts in registers */
  TAG_NUMBER_BITS = 13 /* of a tag: the pair's number in the tile */
};
#define TAG_UNRANKED (1u << 31) /* of a tag: its pair must be ranked in its bin */
#define TAG_OVERFULL (1u << 30) /* its bin is to be split */

/* ---- Bins of a range ---- */

/* The 32 bits after the first `zeros` bits of a number; `zeros` is less than 64. */
DEVICE_INLINE uint32_t lead_of(uint64_t number, uint32_t zeros)
{
  DEVICE_ASSERT(zeros < 64);
  return (uint32_t)(number << zeros >> 32);
}

/* The factor that maps leads to bins: the upper 32 bits of lead * factor are below `bins` for all
 * leads up to `top`, and close to it for `top`. The first bit of `top` is 1, so rounding errors are
 * smaller than the margin. */
DEVICE_INLINE uint32_t bin_factor(uint32_t top, uint32_t bins)
{
  const float all = 4294967296.0f, margin = 0.999999f;
  return top ? (uint32_t)device_quotient((float)bins * (all * margin), (float)top) : 0;
}

DEVICE_INLINE uint32_t bin_at(uint32_t lead, uint32_t factor)
{
  return (uint32_t)(device_product(lead, factor) >> 32);
}

/* ---- Tags: the bin's low bits, the position in it, and the pair's number ----
 *
 * The first two bits of a sorted tag are 0. If the second bit says that the bin is overfull, the
 * next ones hold the number of the overfull bin. */

/* The tag of a pair at a position among the bins, in 2^-32 bins. */
DEVICE_INLINE uint32_t tag_of(uint64_t place, uint32_t number)
{
  DEVICE_ASSERT(number < 1u << TAG_NUMBER_BITS);
  enum { KEY_BITS = 30 - TAG_NUMBER_BITS };
  const uint32_t key = (uint32_t)(place * (1 << KEY_BITS) / SAMPLE_BIN_GROUP >> 32);
  return (key & ((1u << KEY_BITS) - 1)) << TAG_NUMBER_BITS | number;
}

DEVICE_INLINE uint32_t tag_number(uint32_t tag)
{
  return tag & ((1u << TAG_NUMBER_BITS) - 1);
}

DEVICE_INLINE bool tag_is_sorted(uint32_t tag)
{
  return tag < TAG_OVERFULL;
}

DEVICE_INLINE bool tag_is_overfull(uint32_t tag)
{
  return (tag & (TAG_UNRANKED | TAG_OVERFULL)) == TAG_OVERFULL;
}

/* The number of a tag's overfull bin. */
DEVICE_INLINE uint32_t tag_overfull(uint32_t tag)
{
  return (tag & (TAG_OVERFULL - 1)) >> TAG_NUMBER_BITS;
}

/* ---- Bins of a tile ---- */

/* A bin with more pairs than the limit; once these are sorted, end equals begin. */
struct overfull_bin {
  uint16_t begin, end; /* of its tags */
  uint16_t to;         /* rank of its first pair in the tile */
  uint16_t at;         /* position of its tags, counting only those of overfull bins */
};

struct overfull_bins {
  overfull_bin *of;
  uint32_t *count;
  uint32_t *left; /* nonzero if some are not sorted yet */
};

/* One of the block's two lists: a round splits the bins of one and adds overfull ones to the
 * other. */
DEVICE_INLINE overfull_bins overfull_list(uint32_t number)
{
  DEVICE_ASSERT(number < 2);
  DEVICE_SHARED_ARRAY(overfull_bin, bins, 2 * MOST_OVERFULL);
  DEVICE_SHARED_ARRAY(uint32_t, counts, 4);
  const overfull_bins list = {bins + number * MOST_OVERFULL, counts + number, counts + 2 + number};
  return list;
}

/* Empties a list. Needs a barrier before bins are added. */
DEVICE_INLINE void overfull_forget(overfull_bins overfull)
{
  if (threadIdx.x == 0) *overfull.count = *overfull.left = 0;
}

/* A group of adjacent bins. A thread has one or two groups: the first groups of all threads lie
 * side by side, then the second ones, to avoid bank conflicts. */
struct DEVICE_ALIGNED(16) bin_counts {
  uint32_t of[SAMPLE_BIN_GROUP];
};

DEVICE_INLINE bin_counts *bins_mine(uint32_t *bins, uint32_t group)
{
  return (bin_counts *)bins + group * blockDim.x + threadIdx.x;
}

DEVICE_INLINE void bins_clear(uint32_t *bins, uint32_t groups)
{
  const bin_counts none = {};
  DEVICE_UNROLL
  for (uint32_t g = 0; g < groups; g++)
    *bins_mine(bins, g) = none;
}

/* Prefix sums: turns the counts of a group into begins, of which the first is `at`. */
DEVICE_INLINE bin_counts bins_begin(bin_counts counts, uint32_t at)
{
  bin_counts begins;
  DEVICE_UNROLL
  for (uint32_t i = 0; i < SAMPLE_BIN_GROUP; i++) {
    begins.of[i] = at;
    at += counts.of[i];
  }
  return begins;
}

DEVICE_INLINE uint32_t bins_sum(bin_counts counts)
{
  uint32_t sum = 0;
  DEVICE_UNROLL
  for (uint32_t i = 0; i < SAMPLE_BIN_GROUP; i++)
    sum += counts.of[i];
  return sum;
}

/* True if a bin has more pairs than the limit. */
DEVICE_INLINE bool bins_exceed(bin_counts counts, uint32_t limit)
{
  bool exceed = false;
  DEVICE_UNROLL
  for (uint32_t i = 0; i < SAMPLE_BIN_GROUP; i++)
    exceed |= counts.of[i] > limit;
  return exceed;
}

/* Adds the overfull bins of a group to the list. `end` is where its last bin ends. */
DEVICE_INLINE void bins_note(bin_counts begins, uint32_t end, uint32_t limit,
                             overfull_bins overfull)
{
  DEVICE_UNROLL
  for (uint32_t bin = SAMPLE_BIN_GROUP; bin > 0; bin--) {
    const uint32_t begin = begins.of[bin - 1];
    if (end - begin > limit) {
      overfull_bin *const one = &overfull.of[device_add32(overfull.count, 1)];
      DEVICE_ASSERT(one < overfull.of + MOST_OVERFULL);
      one->begin = one->to = (uint16_t)begin;
      one->end = (uint16_t)end;
    }
    end = begin;
  }
}

/* Turns the counts of all bins into begins, with the end behind them, and lists overfull bins. One
 * scan adds up the sums of both groups of a thread, 16 bits each. By all threads of the block; one
 * barrier. */
DEVICE_INLINE void bins_place(uint32_t *bins, uint32_t groups, uint32_t limit,
                              overfull_bins overfull)
{
  DEVICE_ASSERT(groups == 1 || groups == 2);
  uint32_t sums = 0, all, end = 0;
  bool exceed[2] = {false, false}; /* one for each group */
  DEVICE_UNROLL
  for (uint32_t g = 0; g < groups; g++) {
    const bin_counts counts = *bins_mine(bins, g);
    sums += bins_sum(counts) << 16 * g;
    exceed[g] = bins_exceed(counts, limit);
  }
  const uint32_t before = block_before_all(sums, &all);
  DEVICE_UNROLL
  for (uint32_t g = 0; g < groups; g++) {
    const bin_counts counts = *bins_mine(bins, g);
    const uint32_t begin = g ? (all & 0xffff) + (before >> 16) : before & 0xffff;
    end = begin + bins_sum(counts);
    const bin_counts begins = bins_begin(counts, begin);
    *bins_mine(bins, g) = begins;
    if (exceed[g]) bins_note(begins, end, limit, overfull);
  }
  if (threadIdx.x + 1 == blockDim.x) bins[groups * SAMPLE_BIN_GROUP * blockDim.x] = end;
}

/* Batcher's odd-even merge sort, which has fewer comparators than a bitonic network: 19 for 8
 * numbers, not 24. (Batcher, "Sorting networks and their applications", 1968.) */
DEVICE_INLINE void network_sort(uint32_t *few)
{
  DEVICE_UNROLL
  for (uint32_t run = 1; run < NETWORK_SIZE; run *= 2) {
    DEVICE_UNROLL
    for (uint32_t gap = run; gap > 0; gap /= 2) {
      DEVICE_UNROLL
      for (uint32_t i = 0; i + gap < NETWORK_SIZE; i++) {
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

/* Sorts tags [first, end) in registers. False, and nothing changed, if they are too many or some
 * tie. */
DEVICE_INLINE bool sort_few_tags(uint32_t *tags, uint32_t first, uint32_t end)
{
  DEVICE_ASSERT(first <= end);
  const uint32_t count = end - first;
  uint32_t few[NETWORK_SIZE];
  bool settled = count <= NETWORK_SIZE;
  if (count <= 1) return true;
  if (settled) {
    DEVICE_UNROLL
    for (uint32_t i = 0; i < NETWORK_SIZE; i++)
      few[i] = i < count ? tags[first + i] : UINT32_MAX - (i << TAG_NUMBER_BITS);
    network_sort(few);
    DEVICE_UNROLL
    for (uint32_t i = 1; i < NETWORK_SIZE; i++)
      settled &= (few[i] ^ few[i - 1]) >> TAG_NUMBER_BITS != 0;
  }
  if (settled) {
    DEVICE_UNROLL
    for (uint32_t i = 0; i < NETWORK_SIZE; i++)
      if (i < count) tags[first + i] = few[i];
  }
  return settled;
}

/* Marks the tags of a group's bins as unranked, except those of overfull bins. */
DEVICE_INLINE void leave_unranked(uint32_t *tags, bin_counts begins, uint32_t end, uint32_t limit)
{
  const bool light = end - begins.of[0] <= limit; /* all bins of the group together */
  DEVICE_UNROLL
  for (uint32_t bin = SAMPLE_BIN_GROUP; bin > 0; bin--) {
    const uint32_t begin = light ? begins.of[0] : begins.of[bin - 1];
    DEVICE_ROLLED
    for (uint32_t i = begin; i < end && end - begin <= limit; i++)
      tags[i] |= TAG_UNRANKED;
    end = begin;
  }
}

/* Sorts the tags of the thread's bins, or marks them. */
DEVICE_INLINE void bins_sort(uint32_t *tags, uint32_t *bins, uint32_t groups, uint32_t limit)
{
  DEVICE_UNROLL
  for (uint32_t g = 0; g < groups; g++) {
    const bin_counts begins = *bins_mine(bins, g);
    const uint32_t end = bins[(g * blockDim.x + threadIdx.x + 1) * SAMPLE_BIN_GROUP];
    if (!sort_few_tags(tags, begins.of[0], end)) leave_unranked(tags, begins, end, limit);
  }
}

} // namespace sample

#endif
