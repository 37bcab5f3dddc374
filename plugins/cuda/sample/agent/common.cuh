/* common.cuh - what the agents share.
 */
#ifndef RECSORT_CUDA_SAMPLE_COMMON_CUH
#define RECSORT_CUDA_SAMPLE_COMMON_CUH

#include "cuda/pair.cuh"
#include "cuda/sample/block/offsets.cuh"
#include "cuda/sample/block/shares.cuh"

namespace sample
{

#define ONE_BUCKET (1u << 15) /* of a table of bins */

/* ---- From keys to packed pairs, and back ---- */

struct pair_sink {
  void *keys;
  void *indices; /* NULL: to pairs */
  uint32_t key_width, index_width;
};

DEVICE_INLINE void store_unpacked(const pair_sink *sink, uint32_t index_bits, uint32_t i,
                                  uint64_t pair)
{
  const uint64_t place = pair & ((UINT64_C(1) << index_bits) - 1), key = pair >> index_bits;
  if (sink->index_width == 32)
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
  sink.indices = (char *)sink.indices + first * (sink.index_width / 8);
  return sink;
}

/* ---- Tiles of neighbouring buckets ---- */

/* Pairs [from, from + count), of bucket `first` or of some from there on. If it is known between
 * which splitters they are: what their scale is beside the lesser one. */
struct bucket_tile {
  uint64_t from;
  uint32_t count, first;
  uint32_t factor;
  uint8_t zeros, tail;
  bool by_index : 1, known : 1;
  bool one_key : 1; /* that of the splitters; only indices are there */
};

struct tile_list {
  bucket_tile *of;
  uint32_t *count;
};

/* The end of the tile that begins with bucket `first`: it has space for `tile` pairs, or has one
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
DEVICE_INLINE uint64_t sample_position(uint32_t i, uint64_t distance)
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

/* ---- Buckets of a block's pairs ---- */

/* By counts: where each bucket's pairs begin among the block's, and how far they move from there to
 * the space that is reserved for them behind `ends` number `first` and on. Two buckets a thread. */
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

/* ---- Exponential bins: the wider, the greater what falls there is ---- */

/* With so many bins: the bits behind the first one of a number that tell its place between two
 * powers of two. */
DEVICE_INLINE uint32_t exponential_bits_of(uint32_t bins)
{
  return bins >= 64 ? 31 - device_clz32(bins / 32) : 0;
}

DEVICE_INLINE uint32_t exponential_bin(uint32_t lead, uint32_t bits)
{
  const uint32_t zeros = device_clz32(lead | 1);
  return ((30 - zeros) << bits) + ((lead | 1) << zeros >> (31 - bits));
}

/* The least lead of a bin. */
DEVICE_INLINE uint64_t exponential_lead(uint32_t bin, uint32_t bits)
{
  const uint64_t all = UINT64_C(1) << bits, first = all | (bin & (all - 1));
  return ((first << (bin >> bits)) + all - 1) >> bits;
}

/* ---- Where pairs are scattered to ---- */

enum bucket_form { TO_COUNTED, TO_CHAINED, TO_PADDED };

/* What a block has collected of the pairs that it looked at (oversized.cuh). */
struct collection {
  uint64_t below; /* pairs below the bounds */
  uint32_t count; /* within; there may not have been space for all of them */
};

} // namespace sample

#endif
