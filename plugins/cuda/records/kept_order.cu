/* kept_order.cu - sorts records of which most are still where the last sort's order puts them.
 *
 * The kept order is cut into chunks of 1024 places. The pair at a chunk's first place is its fence:
 * fences ascend, so they say for any pair to which chunk it belongs.
 *
 *   sift         a block for each chunk: makes the keys of its records, in the kept order. Pairs
 *                that still belong to the chunk, in that order, stay; each other one is sent to the
 *                chunk where it belongs. If there is no kept order, or too many pairs come to a
 *                chunk, the order is lost. An array that is sorted in place is copied on the way,
 *                if the last sort had to move it
 *   copy_memory  does that late if `sift` has not, and something is to be moved after all
 *   merge        a block for each chunk: sorts the pairs that came, merges them with those that
 *                stayed, which it sorts first if they do not ascend, and moves their records
 *   keep         if the order is lost: takes over the one that another sort has found
 *
 * Where an order is lost the device decides to sort all records. That takes a while, so the other
 * kernels are launched beside it in any case: they find out by themselves what there is to do.
 *
 * What is kept may be stale: any permutation and any ascending fences give the right result. So
 * records may have changed, be others, or be at another place; then more of them move. There are
 * two ways to read them. If they are where the last sort left them in order, the kept order is 0,
 * 1, 2 ...; otherwise it is the permutation that a sort of as many records found last.
 *
 * Blocks of a kernel run in any order, or at once. So none reads what another one of the same
 * kernel writes, but for atomic additions to a tally, and constants. There are two tallies, in
 * turns: `sift` adds to one, `merge` reads it and clears the other one.
 */
#include "cuda/decision.cuh"
#include "cuda/pair.cuh"
#include "cuda/records/record_reading.cuh"
#include "cuda/records/record_units.h"
#include "cuda/sort/sample/block/shares.cuh"
#include "gpu/device_kept_order.h"

#ifndef KEPT_LEAST
#define KEPT_LEAST (1 << 18) /* fewer records are sorted faster */
#endif

#ifndef KEPT_GROUP
#define KEPT_GROUP 32
#endif

namespace
{

enum {
  BLOCK = 128,
  ROWS = 8,
  CHUNK = ROWS * BLOCK, /* places */
  GROUP = KEPT_GROUP,   /* chunks */
  APART = 8,            /* numbers of groups are 32 bytes apart, as many threads add to each */
  MOST_CAME = BLOCK,    /* pairs that may come to a chunk */
  FEW_STRAGGLERS = 32,  /* up to so many are sent to their own chunk; with more it is sorted */
  MOST_PAIRS = CHUNK + MOST_CAME,
  MOVED = 8 /* units of a thread, whose loads overlap */
};

struct last_sort {
  uint64_t count;     /* records; 0: there is no order */
  const void *sorted; /* where it left them; NULL: nowhere */
  uint32_t turn;      /* of the next sort: which tally it adds to */
  uint32_t moved;     /* it moved records */
};

/* What `sift` finds. */
struct finding {
  uint32_t lost;  /* the order is */
  uint32_t moved; /* records are not in order where they are */
};

struct state {
  last_sort last;   /* by `merge`, for the next `sift` */
  uint32_t turn;    /* of this sort, by the first block of `sift`, for `merge` */
  finding found[2]; /* of the tallies */
  uint32_t copied;  /* by `sift`: no copy is to be made late */
  /* By `merge`, for kernels that follow: */
  uint32_t lost;  /* the order is lost: all records must be sorted */
  uint32_t still; /* that, or they are in order: nothing is to be moved in place */
};

/* What `sift` adds up. */
struct tally {
  uint32_t *groups; /* how many pairs belong to the chunks of each group */
  uint32_t *came;   /* how many came to each chunk */
};

template <class Key> using pair_of = wide_pair<Key, uint32_t>;
template <class Key> using pairs_of = pair_array<pair_of<Key>>;

constexpr uint32_t DESCENDS = UINT32_C(1) << 31;

template <class Key> struct kept_memory {
  state *kept;
  tally tallies[2];
  uint32_t *indices;    /* the order: the record at each place */
  pairs_of<Key> fences; /* in that order */
  /* Of each chunk: */
  pairs_of<Key> bounds;   /* its fence in this sort */
  uint32_t *stayed;       /* how many pairs did, with DESCENDS if some of them descend */
  pairs_of<Key> arrivals; /* the pairs that came, MOST_CAME of each chunk */
};

/* Divides a block of memory; returns its bytes. NULL: only adds up. */
template <class Key> uint64_t divide(void *block, uint64_t most, kept_memory<Key> *memory)
{
  const uint64_t chunks = plan_blocks(most, CHUNK), arrivals = chunks * MOST_CAME;
  uint64_t used = 0;
  const auto take = [&](uint64_t bytes) {
    void *const taken = block ? (char *)block + used : NULL;
    used += device_aligned(bytes);
    return taken;
  };
  const auto take_numbers = [&](uint64_t count) {
    return (uint32_t *)take(count * sizeof(uint32_t));
  };
  const auto take_pairs = [&](uint64_t count) {
    const pairs_of<Key> pairs = {(Key *)take(count * sizeof(Key)), take_numbers(count)};
    return pairs;
  };
  memory->kept = (state *)take(sizeof(state));
  for (tally &one : memory->tallies)
    one = {take_numbers(plan_blocks(chunks, GROUP) * APART), take_numbers(chunks)};
  memory->stayed = take_numbers(chunks);
  memory->fences = take_pairs(chunks);
  memory->bounds = take_pairs(chunks);
  memory->arrivals = take_pairs(arrivals);
  memory->indices = take_numbers(most);
  return used;
}

/* ---- sift ---- */

template <class Key> struct sift_args {
  static constexpr uint32_t max_threads = BLOCK;
  /* reads */
  record_source source;
  const void *array; /* as in device_kept_order */
  uint64_t count, chunks;
  /* writes */
  kept_memory<Key> memory;
  pairs_of<Key> stayed; /* each chunk's at its places */
  unit_copy copy;       /* of the array that is moved in place; to NULL: none is */
  uint64_t copied_each; /* units of a chunk */
  device_decision decision;
};

enum decided { LOST, KEPT };

/* What a block of `sift` knows. */
struct sift_block {
  tally counts;   /* of all blocks */
  finding *found; /* by all blocks */
  bool in_order, copies;
};

/* The order is lost. Any thread may say so. */
template <class Key> DEVICE_INLINE void lose(const sift_args<Key> *args, finding *found)
{
  device_poke32(&found->lost, 1);
  device_decide(args->decision, LOST);
}

/* The first pair of a chunk in the kept order. */
template <class Key>
DEVICE_INLINE pair_of<Key> fence_of(const sift_args<Key> *args, bool in_order, uint64_t number)
{
  pair_of<Key> fence = pair_get(&args->memory.fences, number);
  if (in_order) fence.index = (uint32_t)(number * CHUNK);
  return fence;
}

/* The chunk where a pair belongs. */
template <class Key>
DEVICE_INLINE uint64_t chunk_of(const sift_args<Key> *args, bool in_order, pair_of<Key> pair)
{
  uint64_t low = 0, high = args->chunks - 1;
  while (low < high) {
    const uint64_t middle = (low + high + 1) / 2;
    if (pair_less(pair, fence_of(args, in_order, middle)))
      high = middle - 1;
    else
      low = middle;
  }
  return low;
}

/* Sends a pair to a chunk. */
template <class Key>
DEVICE_INLINE void send(const sift_args<Key> *args, const sift_block *block, uint64_t number,
                        pair_of<Key> pair)
{
  const uint32_t slot = device_add32(&block->counts.came[number], 1);
  if (slot == MOST_CAME) lose(args, block->found);
  if (slot >= MOST_CAME) return;
  pair_put(&args->memory.arrivals, number * MOST_CAME + slot, pair);
  (void)device_add32(&block->counts.groups[number / GROUP * APART], 1);
}

/* Pairs of a chunk, those of this thread. */
template <class Key> struct rows_of {
  pair_of<Key> pairs[ROWS];
  bool stays[ROWS];
};

/* Makes the pairs of the chunk; all but those beyond the last record stay. */
template <class Key, reading How>
DEVICE_INLINE void load_rows(const sift_args<Key> *args, bool in_order, rows_of<Key> *rows)
{
  const uint64_t first = (uint64_t)blockIdx.x * CHUNK + threadIdx.x;
  uint64_t words[ROWS];
  bool valid = true;
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++) {
    const uint64_t place = plan_min(first + r * BLOCK, args->count - 1);
    rows->stays[r] = first + r * BLOCK < args->count;
    rows->pairs[r].index = in_order ? (uint32_t)place : args->memory.indices[place];
  }
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++)
    words[r] = load_word<How>(args->source, rows->pairs[r].index);
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++) {
    const records_key key = key_with<How>(args->source, rows->pairs[r].index, words[r], &valid);
    rows->pairs[r].key = (Key)key.words[0];
    if constexpr (sizeof(Key) > sizeof(uint64_t)) rows->pairs[r].key |= (Key)key.words[1] << 64;
  }
  if (!valid) args->source.facts->invalid = 1;
}

/* The pairs that belong to a chunk are those from `low` on, if there is a chunk before, and before
 * `high`, if there is one behind. */
template <class Key> struct chunk_bounds {
  pair_of<Key> low, high;
};

template <class Key>
DEVICE_INLINE chunk_bounds<Key> bounds_of(const sift_args<Key> *args, bool in_order,
                                          uint64_t number)
{
  const bool has_next = number + 1 < args->chunks;
  return {fence_of(args, in_order, number), fence_of(args, in_order, number + has_next)};
}

/* Finds the pairs that belong to other chunks: they do not stay. */
template <class Key>
DEVICE_INLINE void find_strangers(const sift_args<Key> *args, const chunk_bounds<Key> &bounds,
                                  rows_of<Key> *rows)
{
  const uint64_t number = blockIdx.x;
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++) {
    const bool after = number == 0 || !pair_less(rows->pairs[r], bounds.low);
    const bool before = number + 1 == args->chunks || pair_less(rows->pairs[r], bounds.high);
    rows->stays[r] &= after && before;
  }
}

/* Divides the chunk's first `all` pairs: stores those that stay to the begin of the tile, in the
 * order of places, and the others to its end. Returns how many stay. Two barriers. */
template <class Key>
DEVICE_INLINE uint32_t part_rows(const rows_of<Key> *rows, uint32_t all, const pairs_of<Key> *tile)
{
  enum { WARPS = BLOCK / WARP_SIZE };
  DEVICE_SHARED_ARRAY(uint32_t, counts, ROWS * WARPS);
  const uint32_t lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
  uint32_t bits[ROWS];
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++) {
    bits[r] = device_ballot(rows->stays[r]);
    if (lane == 0) counts[r * WARPS + warp] = device_popc(bits[r]);
  }
  __syncthreads();
  const uint32_t count = counts[lane];
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++) {
    const uint32_t before = device_warp_sum(lane < r * WARPS + warp ? count : 0);
    const uint32_t at = before + device_popc(bits[r] & ((1u << lane) - 1));
    const uint32_t i = r * BLOCK + threadIdx.x;
    if (i < all) pair_put(tile, rows->stays[r] ? at : CHUNK - 1 - (i - at), rows->pairs[r]);
  }
  __syncthreads();
  return device_warp_sum(count);
}

/* Loads the pairs of the tile. Those that are in order with both neighbours stay. Returns how many
 * are not. */
template <class Key>
DEVICE_INLINE uint32_t find_stragglers(const pairs_of<Key> *tile, uint32_t count,
                                       rows_of<Key> *rows)
{
  uint32_t mine = 0;
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++) {
    const uint32_t i = r * BLOCK + threadIdx.x;
    rows->stays[r] = i < count;
    if (i >= count) continue;
    const pair_of<Key> pair = rows->pairs[r] = pair_get(tile, i);
    const bool before = i > 0 && pair_less(pair, pair_get(tile, i - 1));
    const bool after = i + 1 < count && pair_less(pair_get(tile, i + 1), pair);
    rows->stays[r] = !before && !after;
    mine += !rows->stays[r];
  }
  return sample::block_sum(mine);
}

/* Sifts the pairs of the chunk. Returns whether its records are in order where they are. */
template <class Key, reading How>
DEVICE_INLINE bool sift_chunk(const sift_args<Key> *args, const sift_block *block)
{
  DEVICE_SHARED_ARRAY(Key, keys, CHUNK);
  DEVICE_SHARED_ARRAY(uint32_t, indices, CHUNK);
  const uint64_t number = blockIdx.x, first = number * CHUNK;
  const uint32_t all = (uint32_t)plan_min(args->count - first, CHUNK);
  const pairs_of<Key> tile = {keys, indices};
  rows_of<Key> rows;
  if (block->copies)
    copy_range(&args->copy, number * args->copied_each, (number + 1) * args->copied_each);
  const chunk_bounds<Key> bounds = bounds_of(args, block->in_order, number);
  load_rows<Key, How>(args, block->in_order, &rows);
  find_strangers(args, bounds, &rows);
  uint32_t stayed = part_rows(&rows, all, &tile);
  for (uint32_t i = threadIdx.x; i < all - stayed; i += BLOCK) {
    const pair_of<Key> pair = pair_get(&tile, CHUNK - 1 - i);
    send(args, block, chunk_of(args, block->in_order, pair), pair);
  }
  uint32_t stragglers = find_stragglers(&tile, stayed, &rows);
  if (stragglers > 0 && stragglers <= FEW_STRAGGLERS) { /* without them the others mostly ascend */
    stayed = part_rows(&rows, stayed, &tile);
    if (threadIdx.x < stragglers)
      send(args, block, number, pair_get(&tile, CHUNK - 1 - threadIdx.x));
    stragglers = find_stragglers(&tile, stayed, &rows);
  }
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++) {
    const uint32_t i = r * BLOCK + threadIdx.x;
    if (i < all) pair_put(&args->stayed, first + i, rows.pairs[r]); /* `merge` loads them all */
  }
  if (threadIdx.x == 0) {
    args->memory.stayed[number] = stayed | (stragglers > 0 ? (uint32_t)DESCENDS : 0);
    pair_put(&args->memory.bounds, number, bounds.low);
    (void)device_add32(&block->counts.groups[number / GROUP * APART], stayed);
  }
  return block->in_order && stayed == all && stragglers == 0;
}

/* Blocks of a multiprocessor, so that all of 2^20 records run at once on an H200. Others than the
 * most frequent keys would not fit in that many registers. */
template <class Key, reading How> constexpr unsigned sift_blocks()
{
  return How == WORDS_OF_4 && sizeof(Key) == sizeof(uint32_t) ? 8 : 1;
}

template <class Key, reading How>
__global__ void __launch_bounds__(sift_args<Key>::max_threads,
                                  device_blocks(sift_args<Key>::max_threads,
                                                sift_blocks<Key, How>()))
    sift(const __grid_constant__ sift_args<Key> args)
{
  device_await_before();
  state *const kept = args.memory.kept;
  const last_sort last = kept->last;
  const bool is_known = last.count == args.count, is_first = blockIdx.x + threadIdx.x == 0;
  finding *const found = &kept->found[last.turn];
  if (is_first) kept->turn = last.turn;
  if (is_first && !is_known) lose(&args, found);
  if (!is_known) return;
  const sift_block block = {args.memory.tallies[last.turn], found, last.sorted == args.array,
                            args.copy.to && last.moved};
  const bool still = sift_chunk<Key, How>(&args, &block);
  if (still || threadIdx.x != 0) return;
  device_poke32(&found->moved, 1);
  if (!block.copies) device_poke32(&kept->copied, 0);
}

/* ---- merge ---- */

template <class Key> struct merge_args {
  static constexpr uint32_t max_threads = BLOCK;
  /* reads */
  uint64_t count, chunks;
  kept_memory<Key> memory; /* what `sift` found */
  pairs_of<Key> stayed;
  const void *sorted; /* as in device_kept_order */
  /* writes, besides fences */
  uint32_t *order[2];   /* the order; NULL: it is not wanted */
  record_units records; /* moved to their places; from NULL: none are */
  bool in_place;        /* if they are not in order there */
  uint32_t *disorder;   /* as in records_order */
};

/* Sorts a tile: a bitonic sort for any count, whose comparators all put the less pair first (K. E.
 * Batcher, "Sorting networks and their applications", 1968). By all threads of the block. */
template <class Key> DEVICE_INLINE void sort_tile(const pairs_of<Key> *tile, uint32_t count)
{
  for (uint32_t run = 2; run < 2 * count; run *= 2)
    for (uint32_t apart = run / 2; apart > 0; apart /= 2) {
      for (uint32_t t = threadIdx.x; t < count; t += BLOCK) {
        const uint32_t other = apart == run / 2 ? t ^ (run - 1) : t ^ apart;
        if (other <= t || other >= count) continue;
        const pair_of<Key> here = pair_get(tile, t), there = pair_get(tile, other);
        if (!pair_less(there, here)) continue;
        pair_put(tile, t, there);
        pair_put(tile, other, here);
      }
      __syncthreads();
    }
}

/* How many pairs of a sorted tile are less than a pair. */
template <class Key>
DEVICE_INLINE uint32_t rank_in(const pairs_of<Key> *tile, uint32_t count, pair_of<Key> pair)
{
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (pair_less(pair_get(tile, middle), pair))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The sum over the block is how many pairs the chunks before this one have. */
template <class Key>
DEVICE_INLINE uint32_t count_before(const merge_args<Key> *args, const tally *counts)
{
  const uint64_t number = blockIdx.x, group = number / GROUP;
  uint32_t mine = 0;
  for (uint64_t g = threadIdx.x; g < group; g += BLOCK)
    mine += counts->groups[g * APART];
  for (uint64_t c = group * GROUP + threadIdx.x; c < number; c += BLOCK)
    mine += (args->memory.stayed[c] & ~DESCENDS) + counts->came[c];
  return mine;
}

/* Pairs of a chunk, those of this thread: of those that stayed, and at most one of those that came.
 */
template <class Key> struct merged_rows {
  pair_of<Key> pairs[ROWS + 1];
  uint32_t places[ROWS + 1];
};

/* Loads more than there are, so that no load waits for a count. */
template <class Key>
DEVICE_INLINE void load_merged(const merge_args<Key> *args, merged_rows<Key> *rows)
{
  const uint64_t number = blockIdx.x, first = number * CHUNK + threadIdx.x;
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++)
    rows->pairs[r] = pair_get(&args->stayed, plan_min(first + r * BLOCK, args->count - 1));
  rows->pairs[ROWS] = pair_get(&args->memory.arrivals, number * MOST_CAME + threadIdx.x);
}

/* Leaves in the tile the pairs of the chunk in order. */
template <class Key>
DEVICE_INLINE void merge_rows(merged_rows<Key> *rows, const pairs_of<Key> *tile, uint32_t stayed,
                              uint32_t came)
{
  const uint32_t count = stayed & ~DESCENDS, t = threadIdx.x;
  const pairs_of<Key> arrivals = {tile->keys + CHUNK, tile->indices + CHUNK};
  DEVICE_UNROLL
  for (uint32_t r = 0; r <= ROWS; r++)
    pair_put(tile, r * BLOCK + t, rows->pairs[r]);
  __syncthreads();
  if (stayed & DESCENDS) sort_tile(tile, count);
  sort_tile(&arrivals, came);
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++) {
    const uint32_t i = r * BLOCK + t;
    rows->pairs[r] = pair_get(tile, i);
    rows->places[r] = i + rank_in(&arrivals, i < count ? came : 0, rows->pairs[r]);
  }
  rows->pairs[ROWS] = pair_get(&arrivals, t);
  rows->places[ROWS] = t + rank_in(tile, t < came ? count : 0, rows->pairs[ROWS]);
  __syncthreads();
  DEVICE_UNROLL
  for (uint32_t r = 0; r <= ROWS; r++)
    if (r < ROWS ? r * BLOCK + t < count : t < came)
      pair_put(tile, rows->places[r], rows->pairs[r]);
  __syncthreads();
}

/* True if pair `i` of the sorted chunk does not come after the one before it, or if the chunk has a
 * pair that does not belong to it. */
template <class Key>
DEVICE_INLINE bool is_out_of_order(const merge_args<Key> *args, const pairs_of<Key> *tile,
                                   uint32_t i, uint32_t count)
{
  const uint64_t number = blockIdx.x;
  const pairs_of<Key> *const bounds = &args->memory.bounds;
  const pair_of<Key> pair = pair_get(tile, i);
  if (i > 0 && !pair_less(pair_get(tile, i - 1), pair)) return true;
  if (i == 0 && number > 0 && pair_less(pair, pair_get(bounds, number))) return true;
  return i + 1 == count && number + 1 < args->chunks &&
         !pair_less(pair, pair_get(bounds, number + 1));
}

/* Stores the sorted chunk, whose pairs begin at place `first`. */
template <class Key>
DEVICE_INLINE void store_chunk(const merge_args<Key> *args, const pairs_of<Key> *tile,
                               uint64_t first, uint32_t count)
{
  for (uint32_t i = threadIdx.x; i < count; i += BLOCK) {
    const uint64_t place = first + i;
    for (uint32_t *const order : args->order)
      if (order) order[place] = tile->indices[i];
    if (place % CHUNK == 0) pair_put(&args->memory.fences, place / CHUNK, pair_get(tile, i));
    if (args->disorder && is_out_of_order(args, tile, i, count)) device_poke32(args->disorder, 1);
  }
}

/* Clears the tally of the next sort, and leaves to it what it must know. */
template <class Key>
DEVICE_INLINE void end_sort(const merge_args<Key> *args, uint32_t turn, finding found)
{
  const uint64_t number = blockIdx.x;
  const tally *const next = &args->memory.tallies[!turn];
  state *const kept = args->memory.kept;
  next->came[number] = 0;
  if (number % GROUP == 0) next->groups[number / GROUP * APART] = 0;
  if (number > 0) return;
  device_poke32(&kept->found[!turn].lost, 0);
  device_poke32(&kept->found[!turn].moved, 0);
  kept->last = {args->count, args->sorted, !turn, found.lost | found.moved};
  kept->copied = 1;
  kept->lost = found.lost;
  kept->still = found.lost | !found.moved;
}

/* Both are loaded, as that takes less time than to wait for `turn` first. */
DEVICE_INLINE finding finding_of(const state *kept, uint32_t turn)
{
  const finding first = {device_peek32(&kept->found[0].lost), device_peek32(&kept->found[0].moved)};
  const finding other = {device_peek32(&kept->found[1].lost), device_peek32(&kept->found[1].moved)};
  return turn ? other : first;
}

template <class Key>
__global__ void __launch_bounds__(merge_args<Key>::max_threads)
    merge(const __grid_constant__ merge_args<Key> args)
{
  DEVICE_SHARED_ARRAY(Key, keys, MOST_PAIRS);
  DEVICE_SHARED_ARRAY(uint32_t, indices, MOST_PAIRS);
  device_await_before();
  const uint32_t turn = args.memory.kept->turn;
  const finding found = finding_of(args.memory.kept, turn);
  const bool moves = args.records.from && (found.moved || !args.in_place);
  if (threadIdx.x == 0) end_sort(&args, turn, found);
  if (found.lost || (!found.moved && !moves && !args.order[0] && !args.order[1])) return;
  const tally counts = args.memory.tallies[turn];
  const pairs_of<Key> tile = {keys, indices};
  merged_rows<Key> rows;
  load_merged(&args, &rows);
  const uint32_t stayed = args.memory.stayed[blockIdx.x], came = counts.came[blockIdx.x];
  const uint32_t before = count_before(&args, &counts), count = (stayed & ~DESCENDS) + came;
  merge_rows(&rows, &tile, stayed, came);
  const uint32_t first = sample::block_sum(before);
  store_chunk(&args, &tile, first, count);
  if (moves) move_records<MOVED>(&args.records, first, indices, count);
}

/* ---- keep ---- */

template <class Key> struct keep_args {
  static constexpr uint32_t max_threads = BLOCK;
  pairs_of<Key> sorted;
  uint64_t count;
  kept_memory<Key> memory;
};

template <class Key>
__global__ void __launch_bounds__(keep_args<Key>::max_threads)
    keep(const __grid_constant__ keep_args<Key> args)
{
  device_await_before();
  const uint64_t i = (uint64_t)blockIdx.x * BLOCK + threadIdx.x;
  if (i >= args.count) return;
  args.memory.indices[i] = args.sorted.indices[i];
  if (i % CHUNK == 0) pair_put(&args.memory.fences, i / CHUNK, pair_get(&args.sorted, i));
}

/* ---- A sort ---- */

template <class Key> device_status start_sift(const device_job *job, const sift_args<Key> &args)
{
  const reading how = reading_of(args.source);
  return device_launch(how == WORDS_OF_4   ? sift<Key, WORDS_OF_4>
                       : how == WORDS_OF_8 ? sift<Key, WORDS_OF_8>
                       : how == FIELDS     ? sift<Key, FIELDS>
                                           : sift<Key, COMPUTED>,
                       args.chunks, BLOCK, 0, job->stream, args);
}

template <class Key>
sift_args<Key> plan_sift(const device_kept_order *kept, const device_job *job,
                         const pairs_of<Key> &stayed, const kept_memory<Key> &memory)
{
  const device_move *const move = &kept->move;
  sift_args<Key> args = {source_of(kept->program, kept->records, kept->facts),
                         kept->array,
                         job->count,
                         plan_blocks(job->count, CHUNK),
                         memory,
                         stayed,
                         {},
                         0,
                         {}};
  if (move->size && move->from == move->to) {
    args.copy = unit_copy_of(move->from, kept->copy, job->count * move->size);
    args.copied_each = CHUNK * move->size / args.copy.unit;
  }
  return args;
}

template <class Key>
merge_args<Key> plan_merge(const device_kept_order *kept, const sift_args<Key> &sifted)
{
  const device_move *const move = &kept->move;
  const bool wants_order = kept->wants_order || kept->sorted != kept->array;
  merge_args<Key> args = {
      sifted.count,
      sifted.chunks,
      sifted.memory,
      sifted.stayed,
      kept->sorted,
      {wants_order ? sifted.memory.indices : NULL, (uint32_t *)kept->permutation},
      {},
      sifted.copy.to != NULL,
      kept->disorder};
  if (move->size)
    args.records =
        record_units_of(args.in_place ? sifted.copy.to : move->from, move->to, move->size, BLOCK);
  return args;
}

/* Starts the copy that `sift` may have left to be made. */
template <class Key> device_status start_copy(const device_job *job, const sift_args<Key> &sifted)
{
  const unit_copy *const copy = &sifted.copy;
  return copy->to ? records_copy(copy->to, copy->from, copy->count * copy->unit,
                                 &sifted.memory.kept->copied, job->stream)
                  : 0;
}

template <class Key>
device_status sort(const device_kept_order *kept, const device_job *job,
                   const device_buffers *buffers, device_kept_work *work, void *context)
{
  kept_memory<Key> memory;
  (void)divide(kept->memory, kept->most, &memory);
  sift_args<Key> sifted =
      plan_sift(kept, job, pair_array_of_side<pair_of<Key>>(buffers, 0), memory);
  const merge_args<Key> merged = plan_merge(kept, sifted);
  const kept_order found = {
      {memory.indices, job->count, job->index_bits, job->key_width, NULL, NULL, &memory.kept->lost},
      &memory.kept->still};
  device_status status = device_begin_decision(job, &sifted.decision, KEPT);
  if (!status) status = start_sift(job, sifted);
  if (!status) status = start_copy(job, sifted);
  if (status) return status;
  const auto sort_all = [&](unsigned, const device_job *branch) {
    kept_order order = found;
    device_job inner = *branch;
    inner.branches[0] = NULL; /* it decides nothing */
    const device_status started = work(context, true, &inner, &order);
    const pairs_of<Key> sorted = {(Key *)order.pairs.keys, (uint32_t *)order.pairs.indices};
    const keep_args<Key> args = {sorted, job->count, memory};
    return started ? started
                   : device_launch(keep<Key>, plan_blocks(job->count, BLOCK), BLOCK, 0,
                                   inner.stream, args);
  };
  const auto go_on = [&] {
    kept_order order = found;
    const device_status started =
        device_launch(merge<Key>, sifted.chunks, BLOCK, 0, job->stream, merged);
    return started ? started : work(context, false, job, &order);
  };
  return device_branch_beside(job, sifted.decision, 1, sort_all, go_on);
}

} // namespace

uint64_t device_kept_order_bytes(uint64_t most, uint32_t key_width)
{
  kept_memory<uint32_t> narrow;
  kept_memory<uint64_t> wide;
  kept_memory<device_uint128> widest;
  return key_width == 32   ? divide(NULL, most, &narrow)
         : key_width == 64 ? divide(NULL, most, &wide)
                           : divide(NULL, most, &widest);
}

device_status device_forget_order(void *memory, uint64_t bytes, void *stream)
{
  return device_clear(memory, bytes, stream);
}

bool device_can_keep_order(const device_job *job)
{
  return job->index_bits == 32 && job->count >= KEPT_LEAST && device_can_decide(job);
}

device_status device_sort_kept(const device_kept_order *kept, const device_job *job,
                               const device_buffers *buffers, device_kept_work *work, void *context)
{
  return (job->key_width == 32   ? sort<uint32_t>
          : job->key_width == 64 ? sort<uint64_t>
                                 : sort<device_uint128>)(kept, job, buffers, work, context);
}
