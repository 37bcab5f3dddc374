/* split.cuh - splits sections into buckets: each block orders a tile by bucket, stably, and leaves
 * it in its place. No element moves to another tile, so blocks need not know each other's counts,
 * and each writes one piece of memory. Whoever reads a bucket next gathers its runs (runs.cuh). */
#ifndef RECSORT_CUDA_CARRY_SPLIT_CUH
#define RECSORT_CUDA_CARRY_SPLIT_CUH

#include "cuda/record_units.cuh"
#include "cuda/sort/carry/certificate.cuh"
#include "cuda/sort/carry/lookup.cuh"
#include "cuda/sort/carry/runs.cuh"

namespace carry
{

/* A tile of a section of the second level: where its elements begin among the tiles of the first.
 */
struct tile_begin {
  uint32_t section, number; /* of the tile in its section */
  uint32_t tile, skip;
};

enum { RECORDS_MOVED = 8 /* units of a thread, whose loads overlap */ };

/* Records of which the first level has keys, and which it moves as these. */
struct moved_records {
  record_units units; /* from the caller's array to another one */
  uint32_t size;      /* bytes of a record, */
  uint32_t offset;    /* and those before its key */
};

template <class Key, class Value> struct split_args {
  static constexpr uint32_t max_threads = CARRY_BLOCK;
  /* reads */
  key_order<Key> order;
  element_array<Key, Value> from; /* values may be NULL on the first level: their positions */
  splitter_set<Key> set;
  split_tiles source;      /* of the level before; unused on the first */
  const section *sections; /* the rest: of segments, and of the second level */
  const tile_begin *begins;
  const uint32_t *tile_count; /* of segments; else NULL */
  /* writes */
  split_tiles tiles;
  element_array<Key, Value> to;
  moved_records moved;            /* in place of `from` if Value is moved_record */
  device_certificate certificate; /* on the first level */
};

/* What a block has in shared memory. The list of runs is needed before `order` and `counts`, and
 * overlays them. */
template <class Key, class Value> struct split_storage {
  element_array<Key, Value> elements;
  uint16_t *order;  /* numbers of elements, by bucket; order[-1] is 0 */
  uint32_t *counts; /* of each bucket, by warp, two in each; then where they begin */
  run_list runs;
  uint32_t *edges; /* a bit for each place where a bucket begins; overlays runs.words */
  lookup<Key> search;
};

/* With elements of so many bytes. */
template <class Key, class Value>
DEVICE_INLINE split_storage<Key, Value> split_storage_at(void *memory, uint32_t tile,
                                                         uint32_t buckets, uint32_t bytes)
{
  DEVICE_ASSERT(tile % WARP_SIZE == 0 && buckets % 2 == 0);
  enum { ALIGNED = 8 };
  split_storage<Key, Value> by;
  void *at;
  by.elements = elements_at<Key, Value>(memory, tile, &at);
  if constexpr (is_moved<Value>) at = (char *)memory + tile * bytes;
  by.search = lookup_at<Key>(at, buckets);
  at = by.search.splitters + buckets;
  by.runs.words = (run_word *)at;
  by.edges = (uint32_t *)at;
  at = by.runs.words + tile / WARP_SIZE;
  by.runs.from = (uint32_t *)at;
  by.order = (uint16_t *)at + ALIGNED;
  by.counts = (uint32_t *)(by.order + tile);
  return by;
}

/* Key `i` of the tile. */
template <class Key, class Value>
DEVICE_INLINE Key tile_key(const split_args<Key, Value> &args, const split_storage<Key, Value> &by,
                           uint32_t i)
{
  if constexpr (is_moved<Value>)
    return *(const Key *)(const void *)((const char *)by.elements.keys + i * args.moved.size +
                                        args.moved.offset);
  else
    return by.elements.keys[i];
}

/* The most elements of a thread, and the blocks of a multiprocessor. */
template <class Value, bool first>
constexpr uint32_t split_items = is_moved<Value> ? (uint32_t)CARRY_MOVED_ITEMS
                                 : first         ? (uint32_t)CARRY_FIRST_ITEMS
                                                 : (uint32_t)CARRY_SECOND_ITEMS;
template <bool first> constexpr unsigned split_blocks = first ? 2 : 3;

/* The number of an element of the thread's: a warp's are neighbours, in its order. */
DEVICE_INLINE uint32_t warp_item(uint32_t items, uint32_t t)
{
  return (threadIdx.x / WARP_SIZE * items + t) * WARP_SIZE + threadIdx.x % WARP_SIZE;
}

/* Adds 1 to the warp's count of each lane's bucket. Returns what it had before, as if lanes added
 * one after the other; but lanes with one bucket may add in any order. */
DEVICE_INLINE uint32_t count_in_warp(uint32_t *counts, uint32_t bucket)
{
  const uint32_t shift = bucket % 2 * 16;
  return device_add32(&counts[bucket / 2], 1u << shift) >> shift & 0xffff;
}

/* The same in the order of lanes. */
DEVICE_INLINE uint32_t count_exactly(uint32_t *counts, uint32_t bucket)
{
  const uint32_t shift = bucket % 2 * 16;
  const uint32_t lane = threadIdx.x % WARP_SIZE, alike = device_match(bucket);
  const uint32_t first = device_first_lane(alike), before = alike & ((1u << lane) - 1);
  uint32_t there = 0;
  if (lane == first)
    there = device_add32(&counts[bucket / 2], device_popc(alike) << shift) >> shift & 0xffff;
  return __shfl_sync(UINT32_MAX, there, first) + device_popc(before);
}

/* Turns counts into places: first by bucket, then by warp. Writes where buckets begin in the tile,
 * for whoever reads it, and marks the edges. A thread has two buckets, whose counts are in one
 * word. By all threads of the block. */
DEVICE_INLINE void place_buckets(uint32_t *counts, uint32_t *edges, uint32_t buckets,
                                 uint32_t count, uint16_t *starts, uint32_t distance)
{
  constexpr uint32_t warps = CARRY_BLOCK / WARP_SIZE;
  const uint32_t words = buckets / 2, w = threadIdx.x;
  DEVICE_ASSERT(buckets % 2 == 0 && words <= CARRY_BLOCK);
  uint32_t mine[warps], all = 0;
  DEVICE_UNROLL
  for (uint32_t warp = 0; warp < warps; warp++) {
    const uint32_t more = w < words ? counts[warp * words + w] : 0;
    mine[warp] = all;
    all += more;
  }
  const uint32_t place = sample::block_before((all & 0xffff) + (all >> 16));
  const uint32_t begins[2] = {place, place + (all & 0xffff)};
  if (w < words) {
    DEVICE_UNROLL
    for (uint32_t warp = 0; warp < warps; warp++)
      counts[warp * words + w] = mine[warp] + (begins[0] | begins[1] << 16);
    for (uint32_t half = 0; half < 2; half++) {
      const uint32_t begin = (uint32_t)plan_min(begins[half], count);
      starts[(uint64_t)(2 * w + half) * distance] = (uint16_t)begin;
      if (begin < count) device_or32(&edges[begin / WARP_SIZE], 1u << begin % WARP_SIZE);
    }
  }
  __syncthreads();
}

/* A tile that a block splits. */
struct tile_work {
  tile_begin begin;
  section of;
  uint32_t done; /* elements of the section before it */
  uint32_t count;
  uint16_t *starts; /* where buckets begin, `distance` apart */
  uint32_t distance;
};

/* Sets *mine to the block's tile. Returns false if the block has no tile. */
template <bool first, class Key, class Value>
DEVICE_INLINE bool find_tile(const split_args<Key, Value> &args, tile_work *mine)
{
  const uint32_t tile = args.tiles.tile, count = args.order.count();
  mine->begin = {0, blockIdx.x, 0, 0};
  mine->of = {0, count, 0, 0};
  if (!first || args.tile_count) {
    const uint32_t tiles = first ? *args.tile_count : count / tile + args.source.buckets;
    if (blockIdx.x >= tiles) return false; /* see list_segments(), list_section() */
    mine->begin = args.begins[blockIdx.x];
    mine->of = args.sections[mine->begin.section];
  }
  mine->done = mine->begin.number * tile;
  if (mine->done >= mine->of.count) return false;
  mine->count = (uint32_t)plan_min(mine->of.count - mine->done, tile);
  mine->starts =
      args.tiles.starts + (uint64_t)mine->of.first_tile * args.set.buckets + mine->begin.number;
  mine->distance = (uint32_t)plan_blocks(mine->of.count, tile);
  DEVICE_ASSERT(mine->begin.number < mine->distance);
  return true;
}

/* Lists the runs of a tile of the second level. By all threads of the block. */
template <class Key, class Value>
DEVICE_INLINE void list_tile_runs(const split_args<Key, Value> &args, const tile_work &mine,
                                  run_list runs)
{
  const tile_begin begin = mine.begin;
  DEVICE_ASSERT(begin.section < args.source.buckets);
  const section_tiles from = tiles_of_all(args.source, args.order.count);
  const bucket_part part = {begin.section, begin.section + 1, begin.tile, begin.skip, mine.count};
  list_runs(from, part, find_run(from, part, 0), runs);
}

/* Finds the bucket of each of the thread's elements. There is a loop for each form of table and of
 * keys, for tiles that are `whole`: they have as many elements as they can. In others, lanes behind
 * the last element come last. */
template <class Key, class Value, uint32_t most, bool whole>
DEVICE_INLINE void find_buckets(const split_args<Key, Value> &args,
                                const split_storage<Key, Value> &by, uint32_t items, uint32_t count,
                                uint32_t *slots)
{
  DEVICE_ASSERT(items <= most && count <= items * CARRY_BLOCK);
  const auto key_at = [&](uint32_t t) {
    const uint32_t i = warp_item(whole ? most : items, t);
    return tile_key(args, by, whole || i < count ? i : 0);
  };
  uint32_t all = 0;
  if constexpr (whole) {
    args.order.with([&](auto code_of) {
      if (by.search.flat) {
        DEVICE_UNROLL
        for (uint32_t t = 0; t < most; t++)
          all |= slots[t] = look_up(by.search, true, code_of(key_at(t)));
      } else {
        DEVICE_UNROLL
        for (uint32_t t = 0; t < most; t++)
          all |= slots[t] = look_up(by.search, false, code_of(key_at(t)));
      }
    });
  } else {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < most; t++)
      if (t < items)
        all |= slots[t] = look_up(by.search, by.search.flat, args.order.code(key_at(t)));
  }
  if (all >= LOOKUP_UNSURE) {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < most; t++)
      if (slots[t] >= LOOKUP_UNSURE)
        slots[t] = search_bucket(by.search, slots[t] - LOOKUP_UNSURE, args.order.code(key_at(t)));
  }
  if constexpr (!whole) {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < most; t++)
      if (warp_item(items, t) >= count) slots[t] = args.set.buckets - 1;
  }
}

/* Orders the tile in shared memory by bucket and writes it. Returns true if elements of a bucket
 * came out of order, unless `exactly`. By all threads of the block. */
template <class Key, class Value, uint32_t most, bool whole>
DEVICE_INLINE bool split_elements(const split_args<Key, Value> &args,
                                  const split_storage<Key, Value> &by, const tile_work &tile,
                                  bool exactly)
{
  const element_array<Key, Value> to = elements_from(args.to, (uint64_t)tile.of.begin + tile.done);
  const uint32_t buckets = args.set.buckets, words = CARRY_BLOCK / WARP_SIZE * buckets / 2;
  const uint32_t items = whole ? most : args.tiles.tile / CARRY_BLOCK;
  uint32_t *const mine = by.counts + threadIdx.x / WARP_SIZE * (buckets / 2);
  const uint16_t *const places = (const uint16_t *)mine;
  uint32_t slots[most] = {};
  DEVICE_ASSERT(tile.count > 0 && buckets <= CARRY_MOST_BUCKETS);
  for (uint32_t i = threadIdx.x; i < words; i += CARRY_BLOCK)
    by.counts[i] = 0;
  for (uint32_t i = threadIdx.x; i < args.tiles.tile / WARP_SIZE; i += CARRY_BLOCK)
    by.edges[i] = 0;
  if (threadIdx.x == 0) by.order[-1] = 0;
  if (!tile.of.one_key) find_buckets<Key, Value, most, whole>(args, by, items, tile.count, slots);
  __syncthreads();
  if (exactly || sample::warp_is_contended(slots[0])) {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < most; t++)
      if (whole || t < items) slots[t] = slots[t] << 16 | count_exactly(mine, slots[t]);
  } else {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < most; t++)
      if (whole || t < items) slots[t] = slots[t] << 16 | count_in_warp(mine, slots[t]);
  }
  __syncthreads();
  place_buckets(by.counts, by.edges, buckets, tile.count, tile.starts, tile.distance);
  DEVICE_UNROLL
  for (uint32_t t = 0; t < most; t++)
    if (whole || t < items)
      by.order[places[slots[t] >> 16] + (slots[t] & 0xffff)] = (uint16_t)warp_item(items, t);
  __syncthreads();
  bool wrong = false;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < most; t++) {
    const uint32_t j = t * CARRY_BLOCK + threadIdx.x;
    if (!whole && (t >= items || j >= tile.count)) break;
    const uint32_t i = by.order[j], before = by.order[(int32_t)j - 1];
    wrong |= before > i && !(by.edges[j / WARP_SIZE] & 1u << threadIdx.x % WARP_SIZE);
    if (!whole) wrong |= i >= tile.count;
    if constexpr (is_moved<Value>)
      to.keys[j] = tile_key(args, by, i);
    else
      copy_element(by.elements, i, to, j);
  }
  if constexpr (is_moved<Value>) {
    record_units units = args.moved.units;
    units.from = by.elements.keys;
    move_records<RECORDS_MOVED>(&units, (uint64_t)(to.keys - args.to.keys), by.order, tile.count);
  }
  return wrong;
}

/* Copies element `at` of the caller's or of a level to shared memory. */
template <class Key, class Value, bool first>
DEVICE_INLINE void load_element(const element_array<Key, Value> &from, uint64_t at,
                                const element_array<Key, Value> &to, uint32_t i)
{
  if constexpr (std::is_same_v<Value, record_place>) {
    device_copy_in(&to.keys[i], &from.keys[at]);
    to.values[i] = {(uint32_t)at};
    return;
  }
  if constexpr (has_value<Value> && first && std::is_integral_v<Value>) {
    if (!from.values) {
      device_copy_in(&to.keys[i], &from.keys[at]);
      to.values[i] = (Value)at;
      return;
    }
  }
  copy_element_in(from, at, to, i);
}

/* Loads a tile: by run_element(), or from `done` on. */
template <class Key, class Value, bool first, bool whole>
DEVICE_INLINE void load_tile(const split_args<Key, Value> &args,
                             const split_storage<Key, Value> &by, uint64_t done, uint32_t count)
{
  constexpr uint32_t most = split_items<Value, first>;
  const uint32_t items = whole ? most : args.tiles.tile / CARRY_BLOCK;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < most; t++) {
    const uint32_t i = warp_item(items, t);
    if (!whole && (t >= items || i >= count)) break;
    load_element<Key, Value, first>(args.from, first ? done + i : run_element(by.runs, i),
                                    by.elements, i);
  }
}

/* Adds the hashes of a tile's elements to *balance, of the block: as they came, so that it shows if
 * one gets lost. By all threads of the block. */
template <uint32_t most, class Key, class Value>
DEVICE_INLINE void add_tile(const split_storage<Key, Value> &by, uint32_t count, uint64_t *balance)
{
  const element_array<Key, Value> mine = elements_from(by.elements, threadIdx.x);
  uint64_t read = 0;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < most; t++)
    if (count == most * CARRY_BLOCK || t * CARRY_BLOCK + threadIdx.x < count)
      read += hash_at(mine, t * CARRY_BLOCK);
  add_to_block(balance, read);
}

/* The same of records. On the second level, the value of one is its place, which is known when they
 * have been split; so this looks whether each is among them, too. By all threads of the block. */
template <class Key>
DEVICE_INLINE void add_records(const split_args<Key, moved_record> &args,
                               const split_storage<Key, moved_record> &by, const tile_work &tile,
                               uint64_t *balance)
{
  const uint32_t begin = tile.of.begin + tile.done;
  uint64_t read = 0;
  for (uint32_t j = threadIdx.x; j < tile.count; j += CARRY_BLOCK) {
    const uint32_t i = by.order[j];
    const Key key = tile_key(args, by, i);
    read += hash_both(tile_key(args, by, j), j) - hash_both(key, i);
    read += hash_both(key, begin + j);
  }
  add_to_block(balance, read);
}

/* Loads the records of a tile, 16 bytes at a time if they are aligned. */
DEVICE_INLINE void load_records(const moved_records &moved, uint64_t first, uint32_t count,
                                char *memory)
{
  const char *const from = (const char *)moved.units.from + first * moved.size;
  const uint32_t bytes = count * moved.size, four = sizeof(uint32_t), most = 4 * four;
  DEVICE_ASSERT((uintptr_t)from % four == 0 && bytes % four == 0);
  const uint32_t large = (uintptr_t)from % most ? 0 : bytes / most;
  for (uint32_t i = threadIdx.x; i < large; i += CARRY_BLOCK)
    device_copy_in((records_unit16 *)memory + i, (const records_unit16 *)(const void *)from + i);
  for (uint32_t i = large * 4 + threadIdx.x; i < bytes / four; i += CARRY_BLOCK)
    device_copy_in((uint32_t *)memory + i, (const uint32_t *)(const void *)from + i);
}

/* Reads a tile of a section, from the caller's arrays or from the runs of a bucket, and the
 * splitters of the section. Writes the tile by bucket, and where buckets begin in it; of records,
 * their keys and the records themselves. A
 * multiprocessor has two blocks, so that one loads while the other works in shared memory, or on
 * the second level three, as loads wait for each other; this limits the tile, and runs to a few
 * dozen elements. Blocks that run together have neighbouring tiles, whose runs share lines of the
 * cache.
 */
template <class Key, class Value, bool first>
__global__ void __launch_bounds__(CARRY_BLOCK, device_blocks(CARRY_BLOCK, split_blocks<first>))
    split(const __grid_constant__ split_args<Key, Value> args)
{
  DEVICE_SHARED(char, memory);
  DEVICE_SHARED_ARRAY(uint32_t, redo, 1);
  DEVICE_SHARED_ARRAY(uint64_t, balance, 1);
  split_storage<Key, Value> by =
      split_storage_at<Key, Value>(memory, args.tiles.tile, args.set.buckets, args.moved.size);
  device_await_before();
  tile_work mine;
  if (!find_tile<first>(args, &mine)) return;
  constexpr uint32_t most = split_items<Value, first>;
  const bool whole = mine.count == CARRY_BLOCK * most;
  const uint64_t begin = (uint64_t)mine.of.begin + mine.done;
  if (!mine.of.one_key) load_lookup(args.set, mine.begin.section, by.search);
  if (!first) list_tile_runs(args, mine, by.runs);
  if constexpr (is_moved<Value>)
    load_records(args.moved, begin, mine.count, memory);
  else if (whole)
    load_tile<Key, Value, first, true>(args, by, begin, mine.count);
  else
    load_tile<Key, Value, first, false>(args, by, begin, mine.count);
  if (threadIdx.x == 0) *redo = 0;
  if (threadIdx.x == 0) *balance = 0;
  device_await_copies();
  __syncthreads();
  const bool certified = first && args.certificate.disorder && !args.certificate.index_bits;
  if constexpr (!is_moved<Value>)
    if (certified) add_tile<most>(by, mine.count, balance);
  set_scale(&by.search);
  const bool wrong = whole ? split_elements<Key, Value, most, true>(args, by, mine, false)
                           : split_elements<Key, Value, most, false>(args, by, mine, false);
  if (wrong) device_poke32(redo, 1);
  __syncthreads();
  if (*redo) {
    DEVICE_PATH("carry_exactly");
    split_elements<Key, Value, most, false>(args, by, mine, true);
  }
  if constexpr (is_moved<Value>) {
    if (certified) add_records(args, by, mine, balance);
    __syncthreads();
  }
  if (certified) add_block(args.certificate, *balance);
}

} // namespace carry

#endif
