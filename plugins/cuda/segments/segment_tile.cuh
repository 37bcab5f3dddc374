/* segment_tile.cuh - a tile: the records that a block sorts in its shared memory. They are one
 * whole segment, or several. With several, there may also be records before the first segment and
 * behind the last one, which stay where they are. */
#ifndef RECSORT_CUDA_SEGMENT_TILE_CUH
#define RECSORT_CUDA_SEGMENT_TILE_CUH

#include "cuda/records/offsets.cuh"
#include "cuda/records/reading.cuh"
#include "gpu/device_segments.h"

namespace segment_sort
{

using records::offset_at;
using records::reading;
using records::record_key;
using records::record_source;

enum {
  DIGIT_BITS = 8,
  DIGITS = 1 << DIGIT_BITS,
  MOST_WORDS = 4, /* of 32 bits, of a key */
  BATCH = 8       /* loads of a thread in flight */
};

/* The arguments of a kernel. */
struct segment_args {
  static constexpr uint32_t max_threads = 1024;
  record_source from;
  device_segments segments;
  uint64_t count;
  uint32_t part;  /* of all records, for a block: its tile has the segments that begin there; 0:
                   * each segment has its own tile */
  uint32_t tile;  /* the most records of one */
  uint32_t words; /* of a key */
  uint32_t index_bits;
  void *order;
  device_moved moved[DEVICE_MOST_MOVED];
  uint32_t moved_count;
  uint32_t *disorder;
};

/* Numbers of its records begin with 0. */
struct tile {
  uint64_t begin; /* the number of its first record among all */
  uint32_t count;
  uint32_t inner, outer; /* records [inner, outer) are in segments */
  bool several;          /* segments may be in it; else it is one */
  uint64_t first, last;  /* of several: offsets [first, last) are in the tile */
  uint32_t size, words;  /* the most records; 32-bit words of a key */
  /* in shared memory */
  uint32_t *keys;   /* a plane for each word of a key, the least significant first */
  uint32_t *heads;  /* a bit for each record: a segment begins there. One more is set at the end */
  uint16_t *order;  /* record order[i] comes in place i */
  uint16_t *before; /* for each word of `heads`: how many bits are set in the words before it */
  uint16_t *counts; /* of each digit in the records of each warp */
};

/* The bytes of these arrays. */
static inline uint64_t shared_bytes(uint32_t size, uint32_t words, uint32_t warps)
{
  RS_ASSERT(size % WARP_SIZE == 0);
  const uint64_t record = words * sizeof(uint32_t) + sizeof(uint16_t);
  const uint64_t marks = size / WARP_SIZE * (sizeof(uint32_t) + sizeof(uint16_t));
  return size * record + marks + sizeof(uint32_t) + DIGITS * (warps + 1) * sizeof(uint16_t);
}

/* Divides the memory among them. */
DEVICE_INLINE void divide(tile *mine, uint32_t *memory)
{
  DEVICE_ASSERT(mine->size % WARP_SIZE == 0 && mine->words <= MOST_WORDS);
  mine->keys = memory;
  mine->heads = mine->keys + (uint64_t)mine->words * mine->size;
  mine->order = (uint16_t *)(mine->heads + mine->size / WARP_SIZE + 1);
  mine->before = mine->order + mine->size;
  mine->counts = mine->before + mine->size / WARP_SIZE;
}

/* ---- Where a tile is ---- */

/* Where one tile ends and the next one begins. */
struct tile_end {
  uint64_t place;
  uint64_t offset; /* the number of the first offset that is not before it */
};

/* The end of the tile whose part ends at `place`: where the next segment begins or, outside all
 * segments, right there. By a warp. */
DEVICE_INLINE tile_end find_end(const segment_args &args, uint64_t place)
{
  if (place == 0) return {0, 0};
  const uint64_t next = records::warp_offsets_up_to(&args.segments, place - 1);
  const bool outside = next == 0 || next > args.segments.count || place >= args.count;
  const uint64_t begin = outside ? place : offset_at(&args.segments, next);
  return {plan_min(begin, args.count), next};
}

/* How many records from `begin` on are before `end`. */
DEVICE_INLINE uint32_t count_before(uint64_t begin, uint64_t end)
{
  return end <= begin ? 0 : (uint32_t)plan_min(end - begin, UINT32_MAX);
}

/* Finds the tile of a block that has several segments: those that begin in its part. Returns how
 * many records they have, which may be more than fit. By all threads; one barrier. */
DEVICE_INLINE uint64_t find_several(const segment_args &args, tile *mine)
{
  DEVICE_SHARED_ARRAY(tile_end, ends, 2);
  const device_segments *const segments = &args.segments;
  if (threadIdx.x < 2 * WARP_SIZE) {
    const uint32_t e = threadIdx.x / WARP_SIZE;
    const tile_end found = find_end(args, ((uint64_t)blockIdx.x + e) * args.part);
    if (threadIdx.x % WARP_SIZE == 0) ends[e] = found;
  }
  __syncthreads();
  mine->several = true;
  mine->begin = ends[0].place;
  mine->first = ends[0].offset;
  mine->last = plan_min(ends[1].offset, segments->count + 1);
  mine->inner = count_before(mine->begin, offset_at(segments, 0));
  mine->outer = count_before(mine->begin, offset_at(segments, segments->count));
  return ends[1].place - ends[0].place;
}

/* The same if a block has one segment. No barrier. */
DEVICE_INLINE uint64_t find_one(const segment_args &args, tile *mine)
{
  const uint64_t s = blockIdx.x;
  const uint64_t end = plan_min(offset_at(&args.segments, s + 1), args.count);
  mine->begin = plan_min(offset_at(&args.segments, s), args.count);
  mine->outer = UINT32_MAX;
  return end > mine->begin ? end - mine->begin : 0;
}

/* ---- Records that stay ---- */

DEVICE_INLINE void store_index(const segment_args &args, uint64_t i, uint64_t index)
{
  DEVICE_ASSERT(args.index_bits == 32 || args.index_bits == 64);
  if (args.index_bits == 32)
    ((uint32_t *)args.order)[i] = (uint32_t)index;
  else
    ((uint64_t *)args.order)[i] = index;
}

/* Writes records in the order that they have. */
DEVICE_INLINE void keep(const segment_args &args, uint64_t begin, uint64_t end)
{
  for (uint64_t i = begin + threadIdx.x; args.order && i < end; i += blockDim.x)
    store_index(args, i, i);
  for (uint32_t m = 0; m < args.moved_count; m++) {
    const device_moved &array = args.moved[m];
    for (uint64_t i = begin * array.words + threadIdx.x; i < end * array.words; i += blockDim.x)
      ((uint32_t *)array.to)[i] = ((const uint32_t *)array.from)[i];
  }
}

/* Keeps those that no segment has among args.tile records, the first of which is number
 * piece * args.tile. */
DEVICE_INLINE void keep_outside(const segment_args &args, uint64_t piece)
{
  const device_segments *const segments = &args.segments;
  const uint64_t begin = piece * args.tile, end = plan_min(begin + args.tile, args.count);
  keep(args, begin, plan_min(end, offset_at(segments, 0)));
  keep(args, plan_max(begin, offset_at(segments, segments->count)), end);
}

/* ---- Keys ---- */

/* The first of a thread's records. A thread has `batch` of them at a time, WARP_SIZE apart, so that
 * their addresses differ by constants. Its next batch is `batch` times the block's width away. */
DEVICE_INLINE uint32_t batch_begin(uint32_t batch)
{
  return threadIdx.x / WARP_SIZE * batch * WARP_SIZE + threadIdx.x % WARP_SIZE;
}

DEVICE_INLINE void store_key(const tile &mine, uint32_t i, const record_key &key)
{
  DEVICE_ASSERT(i < mine.size);
  DEVICE_UNROLL
  for (uint32_t w = 0; w < MOST_WORDS; w++)
    if (w < mine.words) mine.keys[w * mine.size + i] = (uint32_t)(key.words[w / 2] >> w % 2 * 32);
}

/* Makes the keys of the tile's records. They are 0 outside all segments. */
template <reading How> DEVICE_INLINE void load_keys(const segment_args &args, const tile &mine)
{
  enum { LOADS = How < reading::FIELDS ? BATCH : 1 };
  bool valid = true;
  for (uint32_t i = batch_begin(LOADS); i < mine.count; i += LOADS * blockDim.x) {
    uint64_t words[LOADS] = {};
    DEVICE_UNROLL
    for (uint32_t k = 0; k < LOADS; k++) {
      const uint32_t at = i + k * WARP_SIZE;
      if (at < mine.count) words[k] = records::load_word<How>(args.from, mine.begin + at);
    }
    DEVICE_UNROLL
    for (uint32_t k = 0; k < LOADS; k++) {
      const uint32_t at = i + k * WARP_SIZE;
      if (at >= mine.count) continue;
      const bool inside = at >= mine.inner && at < mine.outer;
      store_key(mine, at,
                inside ? records::key_with<How>(args.from, mine.begin + at, words[k], &valid)
                       : record_key{});
    }
  }
  if (!valid) args.from.facts->invalid = 1;
}

/* ---- Heads ---- */

/* Sets a bit for each offset in the tile, and one at its end. By all threads; two barriers. */
DEVICE_INLINE void mark_heads(const segment_args &args, const tile &mine)
{
  for (uint32_t w = threadIdx.x; w <= mine.size / WARP_SIZE; w += blockDim.x)
    mine.heads[w] = mine.count / WARP_SIZE == w ? 1u << mine.count % WARP_SIZE : 0;
  __syncthreads();
  for (uint64_t s = mine.first + threadIdx.x; s < mine.last; s += blockDim.x) {
    const uint64_t at = offset_at(&args.segments, s) - mine.begin;
    if (at < mine.count) (void)device_or32(&mine.heads[at / WARP_SIZE], 1u << at % WARP_SIZE);
  }
  __syncthreads();
}

DEVICE_INLINE bool is_head(const tile &mine, uint32_t i)
{
  return mine.heads[i / WARP_SIZE] >> i % WARP_SIZE & 1;
}

/* The bits of a word up to that of record i, which is in it. */
DEVICE_INLINE uint32_t bits_up_to(uint32_t i)
{
  return UINT32_MAX >> (WARP_SIZE - 1 - i % WARP_SIZE);
}

/* The last head that is not behind record `i`, or 0: where its segment begins. */
DEVICE_INLINE uint32_t head_of(const tile &mine, uint32_t i)
{
  DEVICE_ASSERT(i < mine.size);
  uint32_t w = i / WARP_SIZE, bits = mine.heads[w] & bits_up_to(i);
  while (bits == 0 && w > 0)
    bits = mine.heads[--w];
  return bits ? w * WARP_SIZE + 31 - device_clz32(bits) : 0;
}

/* The first head behind record `i`: where its segment ends. */
DEVICE_INLINE uint32_t next_head(const tile &mine, uint32_t i)
{
  DEVICE_ASSERT(i < mine.count);
  uint32_t w = i / WARP_SIZE, bits = mine.heads[w] & ~bits_up_to(i);
  while (bits == 0)
    bits = mine.heads[++w];
  return w * WARP_SIZE + device_first_lane(bits);
}

} // namespace segment_sort

#endif
