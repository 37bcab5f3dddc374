/* move_tiles.cuh - merges two runs of keys, and moves the records that they belong to in place of
 * pairs. A block merges a tile of the output:
 *
 *   two of its warps co-rank the ends of the tile in the two runs
 *   each thread loads keys of the parts between, and puts their digests in shared memory
 *   each thread co-ranks its part of the output there, and merges it serially: that gives the
 *   number in the tile of each record that comes there
 *   the records move from where these numbers say: they are neighbours in one of the two parts
 *
 * Digests and numbers are all that is in shared memory, so that many blocks have room.
 */
#ifndef RECSORT_CUDA_MERGE_MOVE_TILES_CUH
#define RECSORT_CUDA_MERGE_MOVE_TILES_CUH

#include "cuda/key_words.h"
#include "cuda/merge/merge_tiles.cuh"
#include "cuda/record_units.cuh"
#include "gpu/device_merge.h"

namespace merge
{

/* Keys of a thread: see tile_items. */
template <class Key>
static constexpr uint32_t moved_items = sizeof(Key) <= 4   ? 13
                                        : sizeof(Key) <= 8 ? 9
                                                           : 7;

enum {
  MOVED_BLOCKS = 5, /* of a multiprocessor at once */
  MOVED_UNITS = 8   /* of a thread, whose loads overlap, of up to 4 bytes; see move_units */
};

/* Keys in an array. */
template <class Key> struct stored_keys {
  using type = Key;
  static constexpr uint32_t stride = sizeof(Key);
  const char *data;

  DEVICE_MEMBER Key code(Key word) const
  {
    return word;
  }
};

/* Keys that are made of words of the records, and need not come with them. */
template <class Key> struct made_keys {
  using type = Key;
  uint32_t stride;
  const char *data;
  records_word how;

  DEVICE_MEMBER Key code(Key word) const
  {
    if constexpr (sizeof(Key) == sizeof(uint32_t))
      return word_code_32(&how, word);
    else
      return word_code_64(&how, word);
  }
};

template <class Keys> struct move_tiles_args {
  static constexpr uint32_t max_threads = MERGE_TILE_BLOCK;
  /* reads */
  Keys keys;
  uint64_t first; /* of the second run */
  uint64_t count;
  uint32_t tile; /* records of a tile */
  /* writes */
  record_units move;
  uint32_t *disorder; /* set if they are not in order; NULL: not looked at */
};

/* ---- Parts ---- */

template <class Keys> struct key_run {
  Keys keys;
  uint64_t first, count;
};

template <class Keys> DEVICE_INLINE typename Keys::type key_at(const key_run<Keys> &run, uint64_t i)
{
  const char *const at = run.keys.data + (run.first + i) * run.keys.stride;
  return run.keys.code(*(const typename Keys::type *)at);
}

/* The parts of two runs that a block merges: its records [0, a_count) and [a_count, count). */
template <class Keys> struct moved_parts {
  using key = typename Keys::type;
  Keys keys;
  const char *a, *b; /* where the word of its record 0 would be, if that were in this part */
  uint32_t a_count, count;

  DEVICE_MEMBER key word(uint32_t i) const
  {
    return *(const key *)((i < a_count ? a : b) + i * keys.stride);
  }
  DEVICE_MEMBER key left(uint32_t i) const
  {
    return keys.code(*(const key *)(a + i * keys.stride));
  }
  DEVICE_MEMBER key right(uint32_t i) const
  {
    return keys.code(*(const key *)(b + i * keys.stride));
  }
};

/* In shared memory: of the left run, how many records come before the tile, and before the next
 * one; and what is added to a number in the right part, for its position among all. */
struct tile_cuts {
  uint64_t before[2];
  uint64_t right;
};

/* The parts of the block's tile. One barrier; cuts->right is valid behind another one. */
template <class Keys>
DEVICE_INLINE moved_parts<Keys> find_parts(const move_tiles_args<Keys> &args, tile_cuts *cuts)
{
  const uint64_t begin = (uint64_t)blockIdx.x * args.tile;
  const uint64_t end = plan_min(begin + args.tile, args.count);
  const uint32_t warp = threadIdx.x / WARP_SIZE;
  const key_run<Keys> left = {args.keys, 0, args.first};
  const key_run<Keys> right = {args.keys, args.first, args.count - args.first};
  if (warp < 2) {
    const uint64_t found = warp_co_rank(warp ? end : begin, left, right);
    if (threadIdx.x % WARP_SIZE == 0) cuts->before[warp] = found;
  }
  __syncthreads();
  const uint64_t a = cuts->before[0];
  const uint32_t a_count = (uint32_t)(cuts->before[1] - a);
  DEVICE_ASSERT(a_count <= end - begin);
  const uint64_t b = args.first + begin - a - a_count;
  if (threadIdx.x == 0) cuts->right = b;
  const char *const data = args.keys.data;
  return {args.keys, data + (int64_t)(a * args.keys.stride), data + (int64_t)(b * args.keys.stride),
          a_count, (uint32_t)(end - begin)};
}

/* ---- Places ---- */

/* Where the records of a tile come from, in their order: numbers in the tile, in shared memory; and
 * what is added to the number of a unit in the tile, for its position among all. */
struct moved_places {
  const uint16_t *numbers;
  uint64_t a, b;
  uint32_t a_count;
};

DEVICE_INLINE uint64_t unit_from(const moved_places &places, uint32_t record, uint32_t unit,
                                 uint32_t each)
{
  const uint32_t number = places.numbers[record];
  return (number < places.a_count ? places.a : places.b) + (number * each + unit);
}

/* True if record `next` of the tile may follow record `one`. */
template <class Keys>
DEVICE_INLINE bool may_follow(const moved_parts<Keys> &parts, const uint32_t *digests,
                              bool digests_suffice, uint32_t one, uint32_t next)
{
  if (digests[one] != digests[next]) return digests[one] < digests[next];
  if (!digests_suffice) {
    const auto x = parts.keys.code(parts.word(one)), y = parts.keys.code(parts.word(next));
    if (x != y) return x < y;
  }
  return one < next;
}

template <class Keys>
DEVICE_INLINE bool is_ordered(const moved_parts<Keys> &parts, const uint32_t *digests,
                              bool digests_suffice, const uint16_t *numbers)
{
  bool good = true;
  for (uint32_t i = threadIdx.x + 1; i < parts.count; i += blockDim.x)
    good &= may_follow(parts, digests, digests_suffice, numbers[i - 1], numbers[i]);
  return good;
}

/* The digest for the tile's keys, by the first and the last one of each part: if one part is empty,
 * by some of the other one twice. */
template <class Keys>
DEVICE_INLINE key_digest<typename Keys::type> moved_digest(const moved_parts<Keys> &parts)
{
  const uint32_t last = parts.count - 1, next = parts.a_count < last ? parts.a_count : last;
  const auto a = parts.word(0), a_last = parts.word(parts.a_count ? parts.a_count - 1 : 0);
  const auto b = parts.word(next), b_last = parts.word(last);
  const auto left = parts.keys.code(a), right = parts.keys.code(b);
  const auto left_last = parts.keys.code(a_last), right_last = parts.keys.code(b_last);
  return digest_of(left < right ? left : right, left_last < right_last ? right_last : left_last,
                   32);
}

/* Writes the digests of the tile's keys. Sets *good to whether those of this thread are in range: a
 * key that is out of order may have any digest. A thread loads its words before it looks at one. */
template <class Keys>
DEVICE_INLINE key_digest<typename Keys::type> put_digests(const moved_parts<Keys> &parts,
                                                          uint32_t *digests, bool *good)
{
  DEVICE_ASSERT(parts.count > 0);
  constexpr uint32_t items = moved_items<typename Keys::type>;
  typename Keys::type words[items];
  DEVICE_UNROLL
  for (uint32_t k = 0; k < items; k++)
    words[k] = parts.word((uint32_t)plan_min(threadIdx.x + k * blockDim.x, parts.count - 1));
  const auto digest = moved_digest(parts);
  *good = true;
  DEVICE_UNROLL
  for (uint32_t k = 0; k < items; k++) {
    const auto all = (parts.keys.code(words[k]) - digest.least) >> digest.shift;
    const uint32_t low = (uint32_t)all;
    digests[threadIdx.x + k * blockDim.x] = low;
    *good &= all == low;
  }
  return digest;
}

/* A block merges a tile. Reads the keys, or the words of records that keys are made of, and the
 * records; writes the records in order, and a flag if they are not. Shared memory has 6 bytes a
 * record, and a thread 48 registers, so five blocks of a multiprocessor have room. With six the
 * registers are too few for loads that overlap. */
template <class Keys>
__global__ void __launch_bounds__(MERGE_TILE_BLOCK, device_blocks(MERGE_TILE_BLOCK, MOVED_BLOCKS))
    move_tiles(const __grid_constant__ move_tiles_args<Keys> args)
{
  constexpr uint32_t items = moved_items<typename Keys::type>;
  device_await_before();
  DEVICE_SHARED_ARRAY(uint32_t, tied, 1);
  DEVICE_SHARED_ARRAY(tile_cuts, cuts, 1);
  uint32_t *const digests = (uint32_t *)device_shared_memory();
  uint16_t *const numbers = (uint16_t *)(digests + args.tile + 1);
  const auto note = [&](uint32_t number, uint32_t rank) { numbers[rank] = (uint16_t)number; };
  if (threadIdx.x == 0) *tied = 0;
  const moved_parts<Keys> parts = find_parts(args, cuts);
  bool good = true;
  const auto digest = put_digests(parts, digests, &good);
  merge_tile<items>(parts, digests, digest.shift, tied, note);
  if (args.disorder) {
    good &= is_ordered(parts, digests, digest.shift == 0, numbers);
    if (!good) device_poke32(args.disorder, 1);
  }
  const uint32_t each = args.move.each;
  const moved_places places = {numbers, cuts->before[0] * each, cuts->right * each, parts.a_count};
  move_records<MOVED_UNITS>(&args.move, (uint64_t)blockIdx.x * args.tile, places, parts.count);
}

/* ---- Launch ---- */

template <class Keys>
static device_status start_move_tiles(const device_job *job, uint64_t first, Keys keys,
                                      const device_merge_move *move)
{
  RS_ASSERT(first <= job->count);
  const merge_plan plan = merge_plan_of(job, moved_items<typename Keys::type>, 0);
  const move_tiles_args<Keys> args = {
      keys,
      first,
      job->count,
      plan.tile,
      record_units_of(move->from, move->to, move->size, plan.tile_block),
      move->disorder};
  return device_launch(move_tiles<Keys>, plan_blocks(job->count, plan.tile), plan.tile_block,
                       merge_tile_bytes(&plan, 0), job->stream, args);
}

/* Merges keys [0, first) and [first, job->count), each of which ascend: writes no pairs, but moves
 * the records. The keys are in buffers->keys[0], or made of move->words; job->key_width is that of
 * Key. Needs no other memory. */
template <class Key>
static device_status two_moved_runs(const device_job *job, uint64_t first,
                                    const device_buffers *buffers, const device_merge_move *move)
{
  const device_words *const words = move->words;
  if constexpr (sizeof(Key) <= sizeof(uint64_t))
    if (words)
      return start_move_tiles(
          job, first,
          made_keys<Key>{(uint32_t)words->stride, (const char *)words->data, words->code}, move);
  return start_move_tiles(job, first, stored_keys<Key>{(const char *)buffers->keys[0]}, move);
}

} // namespace merge

#endif
