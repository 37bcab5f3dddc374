/* move_tiles.cu - merges two runs of keys, and moves the records that they belong to in place of
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
#include "cuda/key_words.h"
#include "cuda/merge/merge.h"
#include "cuda/merge/merge_tiles.cuh"
#include "cuda/record_units.h"

namespace merge
{

/* Keys of a thread: see tile_items. */
template <class Key>
static constexpr uint32_t moved_items = sizeof(Key) <= 4   ? 13
                                        : sizeof(Key) <= 8 ? 9
                                                           : 7;

enum {
  MOVED_BLOCKS = 6, /* of a multiprocessor at once */
  MOVED_UNITS = 8   /* of a thread, whose loads overlap, of up to 4 bytes; see move_units */
};

template <class Key> struct stored_keys {
  using type = Key;
  const Key *keys;

  DEVICE_MEMBER Key at(uint64_t i) const
  {
    return keys[i];
  }
};

/* They are made of words of the records, which need not come with keys. */
template <class Key> struct made_keys {
  using type = Key;
  device_words words;

  DEVICE_MEMBER Key at(uint64_t i) const
  {
    if constexpr (sizeof(Key) == sizeof(uint32_t))
      return key_of_word(&words, i);
    else
      return key_of_word_64(&words, i);
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
  return run.keys.at(run.first + i);
}

/* The parts of two runs that a block merges, as in tile_parts. */
template <class Keys> struct moved_parts {
  using key = typename Keys::type;
  Keys keys;
  uint64_t a, b; /* a record's number in the tile is added, for its position among all */
  uint32_t a_count, count;

  DEVICE_MEMBER uint64_t position(uint32_t i) const
  {
    return (i < a_count ? a : b) + i;
  }
  DEVICE_MEMBER key left(uint32_t i) const
  {
    return keys.at(a + i);
  }
  DEVICE_MEMBER key right(uint32_t i) const
  {
    return keys.at(b + i);
  }
};

/* The parts of the block's tile. One barrier. */
template <class Keys> DEVICE_INLINE moved_parts<Keys> find_parts(const move_tiles_args<Keys> &args)
{
  DEVICE_SHARED_ARRAY(uint64_t, ends, 2);
  const uint64_t begin = (uint64_t)blockIdx.x * args.tile;
  const uint64_t end = plan_min(begin + args.tile, args.count);
  const uint32_t warp = threadIdx.x / WARP_SIZE;
  const key_run<Keys> a = {args.keys, 0, args.first};
  const key_run<Keys> b = {args.keys, args.first, args.count - args.first};
  if (warp < 2) {
    const uint64_t found = warp_co_rank(warp ? end : begin, a, b);
    if (threadIdx.x % WARP_SIZE == 0) ends[warp] = found;
  }
  __syncthreads();
  const uint32_t a_count = (uint32_t)(ends[1] - ends[0]);
  return {args.keys, ends[0], args.first + begin - ends[0] - a_count, a_count,
          (uint32_t)(end - begin)};
}

/* ---- Places ---- */

/* Where the records of a tile come from, in their order: numbers in the tile, in shared memory. */
template <class Keys> struct moved_places {
  moved_parts<Keys> parts;
  const uint16_t *numbers;

  DEVICE_MEMBER uint64_t operator[](uint32_t rank) const
  {
    return parts.position(numbers[rank]);
  }
};

/* True if record `right` of the tile may follow record `left`. */
template <class Keys>
DEVICE_INLINE bool may_follow(const moved_parts<Keys> &parts, const uint32_t *digests,
                              bool digests_suffice, uint32_t left, uint32_t right)
{
  if (digests[left] != digests[right]) return digests[left] < digests[right];
  if (!digests_suffice) {
    const auto x = parts.keys.at(parts.position(left)), y = parts.keys.at(parts.position(right));
    if (x != y) return x < y;
  }
  return left < right;
}

template <class Keys>
DEVICE_INLINE bool is_ordered(const moved_places<Keys> &places, const uint32_t *digests,
                              bool digests_suffice)
{
  bool right = true;
  for (uint32_t i = threadIdx.x + 1; i < places.parts.count; i += blockDim.x)
    right &= may_follow(places.parts, digests, digests_suffice, places.numbers[i - 1],
                        places.numbers[i]);
  return right;
}

/* Writes the digests of the tile's keys. Returns whether those of this thread are in range: a key
 * that is out of order may have any digest. */
template <class Keys>
DEVICE_INLINE bool put_digests(const moved_parts<Keys> &parts,
                               const key_digest<typename Keys::type> &digest, uint32_t *digests)
{
  constexpr uint32_t items = moved_items<typename Keys::type>;
  typename Keys::type mine[items] = {};
  bool right = true;
  DEVICE_UNROLL
  for (uint32_t k = 0; k < items; k++) {
    const uint32_t i = threadIdx.x + k * blockDim.x;
    mine[k] = i < parts.count ? parts.keys.at(parts.position(i)) : digest.least;
  }
  DEVICE_UNROLL
  for (uint32_t k = 0; k < items; k++) {
    const auto all = (mine[k] - digest.least) >> digest.shift;
    const uint32_t low = (uint32_t)all;
    digests[threadIdx.x + k * blockDim.x] = low;
    right &= all == low;
  }
  return right;
}

/* A block merges a tile. */
template <class Keys>
__global__ void __launch_bounds__(MERGE_TILE_BLOCK, device_blocks(MERGE_TILE_BLOCK, MOVED_BLOCKS))
    move_tiles(const __grid_constant__ move_tiles_args<Keys> args)
{
  constexpr uint32_t items = moved_items<typename Keys::type>;
  device_await_before();
  DEVICE_SHARED_ARRAY(uint32_t, tied, 1);
  uint32_t *const digests = (uint32_t *)device_shared_memory();
  uint16_t *const numbers = (uint16_t *)(digests + args.tile + 1);
  const auto note = [&](uint32_t number, uint32_t rank) { numbers[rank] = (uint16_t)number; };
  if (threadIdx.x == 0) *tied = 0;
  const moved_parts<Keys> parts = find_parts(args);
  const auto digest = tile_digest(parts);
  bool right = put_digests(parts, digest, digests);
  __syncthreads();
  if (merge_digests<TIES_GO_LEFT, items>(parts, digests, note) && digest.shift > 0)
    (void)device_or32(tied, 1);
  __syncthreads();
  if (*tied) {
    (void)merge_digests<TIES_BY_KEY, items>(parts, digests, note);
    __syncthreads();
  }
  const moved_places<Keys> places = {parts, numbers};
  if (args.disorder) {
    right &= is_ordered(places, digests, digest.shift == 0);
    if (!right) device_poke32(args.disorder, 1);
  }
  move_records<MOVED_UNITS>(&args.move, (uint64_t)blockIdx.x * args.tile, places, parts.count);
}

/* ---- Launch ---- */

template <class Keys>
static device_status start(const device_job *job, uint64_t first, Keys keys,
                           const device_merge_move *move)
{
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

template <class Key>
static device_status start_with(const device_job *job, uint64_t first,
                                const device_buffers *buffers, const device_merge_move *move)
{
  if constexpr (sizeof(Key) <= sizeof(uint64_t))
    if (move->words) return start(job, first, made_keys<Key>{*move->words}, move);
  return start(job, first, stored_keys<Key>{(const Key *)buffers->keys[0]}, move);
}

} // namespace merge

device_status merge_and_move(const device_job *job, uint64_t first, const device_buffers *buffers,
                             const device_merge_move *move)
{
  using namespace merge;
  if (job->key_width == 32) return start_with<uint32_t>(job, first, buffers, move);
  if (job->key_width == 64) return start_with<uint64_t>(job, first, buffers, move);
  return start_with<device_uint128>(job, first, buffers, move);
}
