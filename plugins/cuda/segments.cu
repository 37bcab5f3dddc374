/* segments.cu - sorts short segments: a block has a tile, which is some whole segments or one, in
 * its shared memory.
 *
 *   load     makes the keys of the tile's records, as planes of 32-bit words
 *   mark     sets a bit where a segment begins
 *   order    finds which record comes where: for the shortest segments each record counts those
 *            before it in its segment; otherwise by the digits of keys, the last ones first, and
 *            then by the numbers of segments in the tile. Both are stable
 *   write    writes the order, and moves elements through shared memory
 *
 * A tile holds at most 2^14 records, so their numbers have 14 bits. No sample or range of keys is
 * looked at: the time hardly depends on what the keys are. Digits in which all keys of a tile agree
 * are skipped. Tiles begin at segments, and where there are none, anywhere.
 */
#include "cuda/record_reading.cuh"
#include "cuda/sample/block/shares.cuh"
#include "cuda/segments.h"
#include "gpu/device_segments.h"

namespace
{

enum {
  MOST_COUNTED = 64, /* records of a segment that are counted: as many steps for each of them */
  COUNTED_BLOCK = 256,
  COUNTED_BLOCKS = 6, /* of them that should run on a multiprocessor at once */
  COUNTED_TILE = 2048,
  ITEMS = 16, /* records of a thread that sorts by digits */
  LEAST_BLOCK = 128,
  MOST_BLOCK = 1024,
  LEAST_WHOLE = 256, /* records of the longest segment, for a block to have just one */
  NUMBER_BITS = 14,  /* of a record in its tile */
  DIGIT_BITS = 8,
  DIGITS = 1 << DIGIT_BITS,
  MOST_WORDS = 4, /* of a key */
  BATCH = 8       /* loads of a thread in flight */
};

struct segment_args {
  static constexpr uint32_t max_threads = MOST_BLOCK;
  record_source from;
  device_segments segments;
  uint64_t count;
  uint32_t each;  /* records from where a tile may begin to where the next one may; 0: a tile is a
                   * segment */
  uint32_t tile;  /* the most records of one */
  uint32_t words; /* of a key */
  uint32_t index_bits;
  void *order;
  device_moved moved[DEVICE_MOST_MOVED];
  uint32_t moved_count;
  uint32_t *disorder;
};

/* ---- Tiles ---- */

struct tile_place {
  uint64_t begin, offset; /* of the first offset from there on */
};

struct tile {
  uint64_t begin;
  uint32_t count;
  uint32_t inner, outer; /* records [inner, outer) of the tile are in segments */
  uint64_t first, last;  /* offsets [first, last) are in it */
  uint32_t size, words;  /* as segment_args has them */
  /* shared memory */
  uint32_t *keys;   /* plane after plane, the least significant first */
  uint32_t *heads;  /* a bit for each record: a segment begins with it; another one at the end */
  uint16_t *order;  /* record order[i] comes in place i */
  uint16_t *before; /* bits in the words of `heads` before this one */
  uint16_t *counts; /* of a digit in the records of a warp */
};

uint64_t shared_bytes(uint32_t size, uint32_t words, uint32_t warps)
{
  const uint64_t each = words * sizeof(uint32_t) + sizeof(uint16_t);
  const uint64_t marks = size / WARP_SIZE * (sizeof(uint32_t) + sizeof(uint16_t));
  return size * each + marks + sizeof(uint32_t) + DIGITS * (warps + 1) * sizeof(uint16_t);
}

/* Where a tile begins that may begin from `place` on. By a warp. */
DEVICE_INLINE tile_place place_of(const segment_args &args, uint64_t place)
{
  if (place == 0) return {0, 0};
  const uint64_t next = warp_offsets_up_to(&args.segments, place - 1);
  const bool outside = next == 0 || next > args.segments.count || place >= args.count;
  const uint64_t begin = outside ? place : offset_at(&args.segments, next);
  return {plan_min(begin, args.count), next};
}

/* How many records of the tile are before place `end`. */
DEVICE_INLINE uint32_t clip(uint64_t begin, uint32_t count, uint64_t end)
{
  return end <= begin ? 0 : (uint32_t)plan_min(end - begin, count);
}

/* Divides the shared memory. */
DEVICE_INLINE void divide(tile *mine, uint32_t *memory)
{
  mine->keys = memory;
  mine->heads = mine->keys + (uint64_t)mine->words * mine->size;
  mine->order = (uint16_t *)(mine->heads + mine->size / WARP_SIZE + 1);
  mine->before = mine->order + mine->size;
  mine->counts = mine->before + mine->size / WARP_SIZE;
}

/* The block's records; their number may be more than fit. By all threads; one barrier. */
DEVICE_INLINE uint64_t find_tile(const segment_args &args, tile *mine)
{
  DEVICE_SHARED_ARRAY(tile_place, ends, 2);
  const device_segments *const segments = &args.segments;
  const uint64_t b = blockIdx.x;
  *mine = {};
  if (args.each == 0) {
    mine->begin = plan_min(offset_at(segments, b), args.count);
    const uint64_t end = plan_min(offset_at(segments, b + 1), args.count);
    mine->outer = UINT32_MAX;
    return end > mine->begin ? end - mine->begin : 0;
  }
  if (threadIdx.x < 2 * WARP_SIZE) {
    const uint32_t end = threadIdx.x / WARP_SIZE;
    const tile_place found = place_of(args, (b + end) * args.each);
    if (threadIdx.x % WARP_SIZE == 0) ends[end] = found;
  }
  __syncthreads();
  const uint64_t count = ends[1].begin - ends[0].begin;
  mine->begin = ends[0].begin;
  mine->first = ends[0].offset;
  mine->last = plan_min(ends[1].offset, segments->count + 1);
  mine->inner = clip(mine->begin, UINT32_MAX, offset_at(segments, 0));
  mine->outer = clip(mine->begin, UINT32_MAX, offset_at(segments, segments->count));
  return count;
}

DEVICE_INLINE void store_index(const segment_args &args, uint64_t i, uint64_t index)
{
  if (args.index_bits == 32)
    ((uint32_t *)args.order)[i] = (uint32_t)index;
  else
    ((uint64_t *)args.order)[i] = index;
}

/* Leaves records as they are. */
DEVICE_INLINE void leave(const segment_args &args, uint64_t begin, uint64_t end)
{
  for (uint64_t i = begin + threadIdx.x; args.order && i < end; i += blockDim.x)
    store_index(args, i, i);
  for (uint32_t m = 0; m < args.moved_count; m++) {
    const device_moved &array = args.moved[m];
    for (uint64_t i = begin * array.words + threadIdx.x; i < end * array.words; i += blockDim.x)
      ((uint32_t *)array.to)[i] = ((const uint32_t *)array.from)[i];
  }
}

/* Leaves those of the block's part of all records that no segment has. */
DEVICE_INLINE void leave_outside(const segment_args &args)
{
  const device_segments *const segments = &args.segments;
  const uint64_t begin = (blockIdx.x - segments->count) * args.tile;
  const uint64_t end = plan_min(begin + args.tile, args.count);
  leave(args, begin, plan_min(end, offset_at(segments, 0)));
  leave(args, plan_max(begin, offset_at(segments, segments->count)), end);
}

/* The first of a thread's records. It has BATCH of them at a time, WARP_SIZE apart, so that their
 * addresses differ by constants; the next ones are BATCH for each thread of the block away. */
DEVICE_INLINE uint32_t batch_begin(uint32_t batch)
{
  return threadIdx.x / WARP_SIZE * batch * WARP_SIZE + threadIdx.x % WARP_SIZE;
}

/* ---- load, mark ---- */

/* Records outside all segments get keys of 0. */
template <reading How>
DEVICE_INLINE void load_keys(const segment_args &args, const tile &mine, uint32_t words)
{
  enum { LOADS = How < FIELDS ? BATCH : 1 };
  bool valid = true;
  for (uint32_t i = batch_begin(LOADS); i < mine.count; i += LOADS * blockDim.x) {
    uint64_t loaded[LOADS] = {};
    DEVICE_UNROLL
    for (uint32_t k = 0; k < LOADS; k++) {
      const uint32_t at = i + k * WARP_SIZE;
      if (at < mine.count) loaded[k] = load_word<How>(args.from, mine.begin + at);
    }
    DEVICE_UNROLL
    for (uint32_t k = 0; k < LOADS; k++) {
      const uint32_t at = i + k * WARP_SIZE;
      const bool inside = at >= mine.inner && at < mine.outer;
      if (at >= mine.count) continue;
      const records_key key =
          inside ? key_with<How>(args.from, mine.begin + at, loaded[k], &valid) : records_key{};
      DEVICE_UNROLL
      for (uint32_t w = 0; w < MOST_WORDS; w++)
        if (w < words) mine.keys[w * mine.size + at] = (uint32_t)(key.words[w / 2] >> w % 2 * 32);
    }
  }
  if (!valid) args.from.facts->invalid = 1;
}

/* Sets bits for the offsets in the tile, and one at its end. By all threads; two barriers. */
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

/* Bits up to number i of a word. */
DEVICE_INLINE uint32_t bits_up_to(uint32_t i)
{
  return UINT32_MAX >> (WARP_SIZE - 1 - i % WARP_SIZE);
}

DEVICE_INLINE bool is_head(const tile &mine, uint32_t i)
{
  return mine.heads[i / WARP_SIZE] >> i % WARP_SIZE & 1;
}

/* ---- Order, by counting ---- */

/* The last head up to `i`, or 0. */
DEVICE_INLINE uint32_t head_of(const tile &mine, uint32_t i)
{
  uint32_t w = i / WARP_SIZE, bits = mine.heads[w] & bits_up_to(i);
  while (bits == 0 && w > 0)
    bits = mine.heads[--w];
  return bits ? w * WARP_SIZE + 31 - device_clz32(bits) : 0;
}

/* The first head behind `i`. */
DEVICE_INLINE uint32_t next_head(const tile &mine, uint32_t i)
{
  uint32_t w = i / WARP_SIZE, bits = mine.heads[w] & ~bits_up_to(i);
  while (bits == 0)
    bits = mine.heads[++w];
  return w * WARP_SIZE + device_first_lane(bits);
}

/* The key and number of a record whose key has one word. */
DEVICE_INLINE uint64_t pair_of(const tile &mine, uint32_t i)
{
  return (uint64_t)mine.keys[i] << 32 | i;
}

/* Whether record `a` goes before record `b` of the same segment. */
DEVICE_INLINE bool goes_before(const tile &mine, uint32_t a, uint32_t b)
{
  if (mine.words == 1) return pair_of(mine, a) < pair_of(mine, b);
  for (uint32_t w = mine.words; w-- > 0;) {
    const uint32_t x = mine.keys[w * mine.size + a], y = mine.keys[w * mine.size + b];
    if (x != y) return x < y;
  }
  return a < b;
}

/* The place of record `i` of the segment from `begin` to `end`. */
DEVICE_INLINE uint32_t place_by_counting(const tile &mine, uint32_t begin, uint32_t end, uint32_t i)
{
  uint32_t taken = 0;
  if (mine.words == 1) {
    const uint64_t pair = pair_of(mine, i);
    DEVICE_UNROLL_BY_4
    for (uint32_t k = begin; k < end; k++)
      taken = device_take_if_less(taken, pair_of(mine, k), pair);
  } else {
    for (uint32_t k = begin; k < end; k++)
      taken -= goes_before(mine, k, i);
  }
  return begin - taken;
}

/* By all threads; one barrier. */
DEVICE_INLINE void order_by_counting(const tile &mine)
{
  for (uint32_t i = threadIdx.x; i < mine.count; i += blockDim.x) {
    uint32_t place = i;
    if (i >= mine.inner && i < mine.outer) {
      place = place_by_counting(mine, head_of(mine, i), next_head(mine, i), i);
    }
    mine.order[place] = (uint16_t)i;
  }
  __syncthreads();
}

/* ---- Order, by digits ---- */

/* A digit: bits of a plane of keys or, if it is NULL, of the numbers of segments. */
struct digit {
  const uint32_t *plane;
  uint32_t shift;
};

/* Counts the heads before each word of them. By all threads; two barriers. */
DEVICE_INLINE void number_heads(const tile &mine)
{
  const uint32_t w = threadIdx.x, words = mine.size / WARP_SIZE;
  const uint32_t before = sample::block_before(w < words ? device_popc(mine.heads[w]) : 0);
  if (w < words) mine.before[w] = (uint16_t)before;
  __syncthreads();
}

/* How many segments of the tile begin up to a record. */
DEVICE_INLINE uint32_t number_of(const tile &mine, uint32_t i)
{
  const uint32_t w = i / WARP_SIZE;
  return mine.before[w] + device_popc(mine.heads[w] & bits_up_to(i));
}

DEVICE_INLINE uint32_t digit_of(const tile &mine, const digit &by, uint32_t i)
{
  return (by.plane ? by.plane[i] : number_of(mine, i)) >> by.shift & (DIGITS - 1);
}

/* Where a count is: as many counts of each digit as there are warps, and one unused, so that those
 * of a warp are in different banks. `i`: its number without those. */
DEVICE_INLINE uint32_t count_at(uint32_t i)
{
  const uint32_t warp_bits = 31 - device_clz32(blockDim.x / WARP_SIZE);
  return i + (i >> warp_bits);
}

/* Turns counts into places: each thread has as many as there are digits for a lane. By all threads;
 * one barrier. */
DEVICE_INLINE void place_counts(const tile &mine)
{
  enum { EACH = DIGITS / WARP_SIZE };
  uint32_t counts[EACH], sum = 0;
  DEVICE_UNROLL
  for (uint32_t k = 0; k < EACH; k++) {
    counts[k] = mine.counts[count_at(threadIdx.x * EACH + k)];
    sum += counts[k];
  }
  uint32_t place = sample::block_before(sum);
  DEVICE_UNROLL
  for (uint32_t k = 0; k < EACH; k++) {
    mine.counts[count_at(threadIdx.x * EACH + k)] = (uint16_t)place;
    place += counts[k];
  }
}

/* Sorts the order by a digit, stably. A warp has neighbours of it, as many for each lane. By all
 * threads; four barriers. */
DEVICE_INLINE void sort_by(const tile &mine, const digit &by)
{
  enum { DIGIT_AT = NUMBER_BITS, RANK_AT = DIGIT_AT + DIGIT_BITS };
  const uint32_t lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
  const uint32_t warps = blockDim.x / WARP_SIZE, first = warp * ITEMS * WARP_SIZE;
  uint16_t *const counts = mine.counts + warp; /* a digit's are warps + 1 apart */
  uint32_t held[ITEMS] = {};
  for (uint32_t d = lane; d < DIGITS; d += WARP_SIZE)
    counts[d * (warps + 1)] = 0;
  __syncwarp();
  DEVICE_UNROLL
  for (uint32_t t = 0; t < ITEMS; t++) {
    if (first + t * WARP_SIZE >= mine.count) break; /* the whole warp */
    held[t] = mine.order[first + t * WARP_SIZE + lane];
  }
  DEVICE_UNROLL
  for (uint32_t t = 0; t < ITEMS; t++) {
    if (first + t * WARP_SIZE >= mine.count) break;
    const uint32_t value = digit_of(mine, by, held[t]);
    const uint32_t alike = device_match_bits(value, DIGIT_BITS);
    uint16_t *const count = &counts[value * (warps + 1)];
    const uint32_t rank = *count + device_popc(alike & ((1u << lane) - 1));
    __syncwarp();
    if (alike >> lane == 1) *count = (uint16_t)(rank + 1); /* the last lane of those */
    __syncwarp();
    held[t] |= value << DIGIT_AT | rank << RANK_AT;
  }
  __syncthreads();
  place_counts(mine);
  __syncthreads();
  DEVICE_UNROLL
  for (uint32_t t = 0; t < ITEMS; t++) {
    if (first + t * WARP_SIZE >= mine.count) break;
    const uint32_t value = held[t] >> DIGIT_AT & (DIGITS - 1), rank = held[t] >> RANK_AT;
    mine.order[counts[value * (warps + 1)] + rank] =
        (uint16_t)(held[t] & ((1u << NUMBER_BITS) - 1));
  }
  __syncthreads();
}

/* The bits of a plane in which not all keys agree. By all threads; two barriers. Without another
 * one it may be called again only if this is 0. */
DEVICE_INLINE uint32_t varied_bits(const tile &mine, const uint32_t *plane)
{
  DEVICE_SHARED_ARRAY(uint32_t, varied, 1);
  uint32_t bits = 0;
  if (threadIdx.x == 0) *varied = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < mine.count; i += blockDim.x)
    bits |= plane[i] ^ plane[0];
  if (bits) (void)device_or32(varied, bits);
  __syncthreads();
  return *varied;
}

/* So that all lanes of a warp have a record, those behind the last one are sorted too: their keys
 * and numbers are the greatest, so that they stay there. By all threads. */
DEVICE_INLINE void order_by_digits(const tile &mine, bool numbered)
{
  const uint32_t all = (mine.count + WARP_SIZE - 1) / WARP_SIZE * WARP_SIZE;
  for (uint32_t i = threadIdx.x; i < all; i += blockDim.x) {
    mine.order[i] = (uint16_t)i;
    for (uint32_t w = 0; i >= mine.count && w < mine.words; w++)
      mine.keys[w * mine.size + i] = UINT32_MAX;
  }
  for (uint32_t w = 0; w < mine.words; w++) {
    const uint32_t *const plane = mine.keys + w * mine.size;
    const uint32_t varied = varied_bits(mine, plane);
    for (uint32_t shift = 0; shift < 32; shift += DIGIT_BITS)
      if (varied >> shift & (DIGITS - 1)) sort_by(mine, {plane, shift});
  }
  if (!numbered) return;
  number_heads(mine);
  const uint32_t last = number_of(mine, mine.count - 1);
  if (number_of(mine, 0) == last) return;
  for (uint32_t shift = 0; (last + 1) >> shift; shift += DIGIT_BITS)
    sort_by(mine, {NULL, shift});
}

/* ---- write ---- */

/* Each record is checked with the one before it in its segment. */
DEVICE_INLINE void check_order(const segment_args &args, const tile &mine, bool numbered)
{
  bool wrong = false;
  for (uint32_t i = threadIdx.x + 1; i < mine.count; i += blockDim.x)
    wrong |=
        !(numbered && is_head(mine, i)) && !goes_before(mine, mine.order[i - 1], mine.order[i]);
  if (wrong) device_poke32(args.disorder, 1);
}

/* Moves words of an array by the order, through the memory of the keys. They are `apart`. By all
 * threads; two barriers. */
DEVICE_INLINE void move_words(const uint32_t *from, uint32_t *to, uint32_t apart, const tile &mine)
{
  __syncthreads();
  for (uint32_t i = batch_begin(BATCH); i < mine.count; i += BATCH * blockDim.x) {
    uint32_t words[BATCH] = {};
    DEVICE_UNROLL
    for (uint32_t k = 0; k < BATCH; k++)
      if (i + k * WARP_SIZE < mine.count) words[k] = from[(i + k * WARP_SIZE) * apart];
    DEVICE_UNROLL
    for (uint32_t k = 0; k < BATCH; k++)
      if (i + k * WARP_SIZE < mine.count) mine.keys[i + k * WARP_SIZE] = words[k];
  }
  __syncthreads();
  for (uint32_t i = batch_begin(BATCH); i < mine.count; i += BATCH * blockDim.x) {
    DEVICE_UNROLL
    for (uint32_t k = 0; k < BATCH; k++)
      if (i + k * WARP_SIZE < mine.count)
        to[(i + k * WARP_SIZE) * apart] = mine.keys[mine.order[i + k * WARP_SIZE]];
  }
}

/* By all threads. */
DEVICE_INLINE void move(const device_moved &array, const tile &mine)
{
  const uint32_t *const from = (const uint32_t *)array.from + mine.begin * array.words;
  uint32_t *const to = (uint32_t *)array.to + mine.begin * array.words;
  if (array.words == 1) {
    move_words(from, to, 1, mine);
    return;
  }
  for (uint32_t w = 0; w < array.words; w++)
    move_words(from + w, to + w, array.words, mine);
}

DEVICE_INLINE void write(const segment_args &args, const tile &mine, bool numbered)
{
  if (args.disorder) check_order(args, mine, numbered);
  if (args.order)
    for (uint32_t i = threadIdx.x; i < mine.count; i += blockDim.x)
      store_index(args, mine.begin + i, mine.begin + mine.order[i]);
  for (uint32_t m = 0; m < args.moved_count; m++)
    move(args.moved[m], mine);
}

/* ---- Kernels ---- */

/* Whether the block has records to sort, which it then loads. By all threads. */
template <reading How>
DEVICE_INLINE bool load(const segment_args &args, tile *mine, uint32_t *memory)
{
  const uint64_t count = find_tile(args, mine);
  if (count > args.tile) {
    if (threadIdx.x == 0) args.from.facts->overlong = 1;
    leave(args, mine->begin, mine->begin + count);
    return false;
  }
  mine->count = (uint32_t)count;
  mine->size = args.tile;
  mine->words = How == WORDS_OF_4 ? 1 : args.words;
  divide(mine, memory);
  load_keys<How>(args, *mine, mine->words);
  return count > 0;
}

template <reading How>
__global__ void __launch_bounds__(COUNTED_BLOCK, device_blocks(COUNTED_BLOCK, COUNTED_BLOCKS))
    count_segments(const __grid_constant__ segment_args args)
{
  DEVICE_SHARED(uint32_t, memory);
  device_await_before();
  tile mine;
  if (!load<How>(args, &mine, memory)) return;
  mark_heads(args, mine);
  order_by_counting(mine);
  write(args, mine, true);
}

template <reading How>
__global__ void __launch_bounds__(MOST_BLOCK, 1)
    sort_segments(const __grid_constant__ segment_args args)
{
  DEVICE_SHARED(uint32_t, memory);
  device_await_before();
  const bool numbered = args.each > 0;
  if (!numbered && blockIdx.x >= args.segments.count) {
    leave_outside(args);
    return;
  }
  tile mine;
  if (!load<How>(args, &mine, memory)) return;
  if (numbered) mark_heads(args, mine);
  order_by_digits(mine, numbered);
  write(args, mine, numbered);
}

/* ---- Plans ---- */

/* How segments are sorted. */
struct segment_plan {
  bool counted;
  uint32_t block;
  uint32_t tile;
  uint32_t each; /* as in segment_args */
};

uint32_t words_of(const device_segment_sort *job)
{
  return job->key_bits <= 32 ? 1 : job->key_bits <= 64 ? 2 : 4;
}

bool fits(const device_segment_sort *job, uint32_t block)
{
  enum { STATIC = 1 << 10 /* bytes */ };
  const uint32_t warps = block / WARP_SIZE;
  return shared_bytes(block * ITEMS, words_of(job), warps) + STATIC <= job->shared_bytes;
}

/* If segments are about equally long, a block has one each: there are no numbers to sort by, and
 * tiles are full. Otherwise as many as begin in a part of the records; tiles are at least half
 * full then. */
bool plan_segments(const device_segment_sort *job, segment_plan *plan)
{
  const uint64_t most = job->segments.most, tiles = 2 * most;
  if (most == 0) return false;
  if (most <= MOST_COUNTED) {
    *plan = {true, COUNTED_BLOCK, COUNTED_TILE, COUNTED_TILE - (uint32_t)most + 1};
    return true;
  }
  const bool whole = most >= LEAST_WHOLE && job->segments.count <= 2 * job->count / most;
  uint64_t block = LEAST_BLOCK;
  if (whole) block = WARP_SIZE;
  while (block < MOST_BLOCK && block * ITEMS < (whole ? most : 2 * tiles) &&
         fits(job, (uint32_t)(2 * block)))
    block *= 2;
  const uint32_t tile = (uint32_t)block * ITEMS;
  *plan = {false, (uint32_t)block, tile, whole ? 0 : tile - (uint32_t)most + 1};
  return tile >= (whole ? most : tiles);
}

template <reading How>
device_status start(const device_segment_sort *job, const segment_plan &plan, segment_args args)
{
  const uint64_t bytes = shared_bytes(plan.tile, args.words, plan.block / WARP_SIZE);
  const uint64_t grid = plan.each ? plan_blocks(job->count, plan.each)
                                  : job->segments.count + plan_blocks(job->count, plan.tile);
  return plan.counted
             ? device_launch(count_segments<How>, grid, plan.block, bytes, job->stream, args)
             : device_launch(sort_segments<How>, grid, plan.block, bytes, job->stream, args);
}

} // namespace

bool device_segments_suit(const device_segment_sort *job)
{
  segment_plan plan;
  return plan_segments(job, &plan);
}

device_status device_segments_sort(const device_segment_sort *job)
{
  segment_plan plan;
  (void)plan_segments(job, &plan);
  segment_args args = {source_of(job->program, job->records, job->facts),
                       job->segments,
                       job->count,
                       plan.each,
                       plan.tile,
                       words_of(job),
                       job->index_bits,
                       job->order,
                       {},
                       job->moved_count,
                       job->disorder};
  for (uint32_t m = 0; m < job->moved_count; m++)
    args.moved[m] = job->moved[m];
  switch (reading_of(args.from)) {
  case WORDS_OF_4:
    return start<WORDS_OF_4>(job, plan, args);
  case WORDS_OF_8:
    return start<WORDS_OF_8>(job, plan, args);
  case FIELDS:
    return start<FIELDS>(job, plan, args);
  default:
    return start<COMPUTED>(job, plan, args);
  }
}
