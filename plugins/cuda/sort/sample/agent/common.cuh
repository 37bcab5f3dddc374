/* common.cuh - definitions that the agents share. */
#ifndef RECSORT_CUDA_SAMPLE_COMMON_CUH
#define RECSORT_CUDA_SAMPLE_COMMON_CUH

#include "cuda/pair.cuh"
#include "cuda/sort/sample/block/offsets.cuh"
#include "cuda/sort/sample/block/shares.cuh"

namespace sample
{

#define ONE_BUCKET (1u << 15) /* in a table entry: the bin lies in one bucket */

/* ---- Tiles of neighbouring buckets ---- */

/* Pairs [from, from + count): those of one or more buckets from `first` on. `known`: they lie
 * between two splitters, so place_buckets has computed their scale: `factor`, `zeros`, `tail` and
 * `by_index`. Its origin, the lower splitter, is not stored here. */
struct bucket_tile {
  uint64_t from;
  uint32_t count, first;
  uint32_t factor;
  uint8_t zeros, tail;
  bool by_index : 1, known : 1;
  bool one_key : 1; /* all have the splitters' key; only their indices are stored */
};

/* The tiles of a sort by levels. A level begins with none (start_level); on the last level,
 * place_buckets adds those of each segment; then sort_buckets has a block for each. */
struct tile_list {
  bucket_tile *of;
  uint32_t *count;
};

/* The end of the tile that begins with bucket `first`: as many buckets as have at most `tile`
 * pairs, but at least one. */
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

/* The position of sample `i`. Samples are `distance` / 2^16 pairs apart, with a random offset, so
 * that no pattern of the input is in step with them. All positions differ. */
DEVICE_INLINE uint64_t sample_position(uint32_t i, uint64_t distance)
{
  const uint64_t first = i * distance >> 16, next = (i + 1) * distance >> 16;
  const uint32_t chance = (i + 1) * 2654435761u >> 16; /* Knuth, volume 3, 6.4 */
  return first + (chance * (next - first) >> 16);
}

/* The number of elements of an ascending array that are less than `bound`. */
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

/* ---- Buckets of a block's pairs ---- */

/* Reserves space for the block's pairs in each bucket, by atomic additions to `ends` from element
 * `first` on. From the block's counts it computes where a bucket's pairs start among those of the
 * block, and how far they move from there. By all threads of the block, two buckets each. */
DEVICE_INLINE void reserve_space(uint32_t buckets, const uint32_t *counts, const offsets *ends,
                                 uint64_t first, uint16_t *starts, uint64_t *moves)
{
  const uint32_t i = 2 * threadIdx.x;
  const uint32_t one = i < buckets ? counts[i] : 0, two = i + 1 < buckets ? counts[i + 1] : 0;
  const uint32_t before = block_before(one + two);
  if (i < buckets) starts[i] = (uint16_t)before;
  if (one) moves[i] = offset_add(ends, first + i, one) - before;
  if (i + 1 < buckets) starts[i + 1] = (uint16_t)(before + one);
  if (two) moves[i + 1] = offset_add(ends, first + i + 1, two) - before - one;
}

/* ---- Exponential bins: their widths grow with their leads ---- */

/* The number of bits after the leading 1 of a lead that select its bin, if there are `bins`
 * bins. */
DEVICE_INLINE uint32_t exponential_bits_of(uint32_t bins)
{
  return bins >= 64 ? 31 - device_clz32(bins / 32) : 0;
}

DEVICE_INLINE uint32_t exponential_bin(uint32_t lead, uint32_t bits)
{
  const uint32_t zeros = device_clz32(lead | 1);
  return ((30 - zeros) << bits) + ((lead | 1) << zeros >> (31 - bits));
}

/* The least lead that falls into a bin. */
DEVICE_INLINE uint64_t exponential_lead(uint32_t bin, uint32_t bits)
{
  const uint64_t all = UINT64_C(1) << bits, first = all | (bin & (all - 1));
  return ((first << (bin >> bits)) + all - 1) >> bits;
}

/* ---- Kinds of buckets ---- */

enum bucket_form { TO_COUNTED, TO_CHAINED, TO_PADDED };

/* What a block has collected from the pairs that it read (oversized.cuh). */
struct collection {
  uint64_t below; /* pairs below the bounds */
  uint32_t count; /* pairs within the bounds; the tile may have had space for fewer */
};

} // namespace sample

#endif
