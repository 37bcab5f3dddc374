/* split.cuh - splits sections into buckets: each block orders a tile by bucket, stably, and leaves
 * it in its place. No element moves to another tile, so blocks need not know each other's counts,
 * and each writes one piece of memory. Whoever reads a bucket next gathers its runs (runs.cuh). */
#ifndef RECSORT_CUDA_CARRY_SPLIT_CUH
#define RECSORT_CUDA_CARRY_SPLIT_CUH

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

template <class Key, class Value> struct split_args {
  static constexpr uint32_t max_threads = CARRY_BLOCK;
  /* reads */
  key_order<Key> order;
  element_array<Key, Value> from; /* values may be NULL on the first level: their positions */
  splitter_set<Key> set;
  split_tiles source; /* the rest: of the level before; unused on the first */
  const section *sections;
  const tile_begin *begins;
  const uint32_t *tile_count;
  /* writes */
  split_tiles tiles;
  element_array<Key, Value> to;
};

/* What a block has in shared memory. The list of runs is needed before `order` and `counts`, and
 * overlays them. */
template <class Key, class Value> struct split_storage {
  element_array<Key, Value> elements;
  uint16_t *order;  /* numbers of elements, by bucket */
  uint32_t *counts; /* of each bucket, by warp, two in each; then where they begin */
  run_list runs;
  uint32_t *edges; /* a bit for each place where a bucket begins; overlays runs.heads */
  lookup<Key> search;
};

template <class Key, class Value>
DEVICE_INLINE split_storage<Key, Value> split_storage_at(void *memory, uint32_t tile,
                                                         uint32_t buckets)
{
  split_storage<Key, Value> by;
  void *at;
  by.elements = elements_at<Key, Value>(memory, tile, &at);
  by.search = lookup_at<Key>(at, buckets);
  at = by.search.table + carry_table_words(buckets);
  by.edges = (uint32_t *)at;
  at = by.edges + tile / WARP_SIZE + (tile / WARP_SIZE + 1) / 2; /* and runs.firsts */
  by.runs = run_list_at((uint32_t *)at, by.edges, tile);
  by.order = (uint16_t *)at;
  by.counts = (uint32_t *)(by.order + tile);
  return by;
}

/* The number of an element of the thread's: a warp's are neighbours, in its order. */
DEVICE_INLINE uint32_t warp_item(uint32_t items, uint32_t t)
{
  return (threadIdx.x / WARP_SIZE * items + t) * WARP_SIZE + threadIdx.x % WARP_SIZE;
}

/* Adds 1 to the warp's count of each lane's bucket. Returns what it had before, as if lanes added
 * one after the other. `exactly`: by a match of all lanes. Otherwise lanes with one bucket may add
 * in any order, which the caller finds out; but multiprocessors have been seen to keep it. */
DEVICE_INLINE uint32_t count_in_warp(uint32_t *counts, uint32_t bucket, bool exactly)
{
  const uint32_t shift = bucket % 2 * 16;
  if (!exactly) return device_add32(&counts[bucket / 2], 1u << shift) >> shift & 0xffff;
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
  const uint32_t warps = blockDim.x / WARP_SIZE, words = buckets / 2;
  const uint32_t each = (words + blockDim.x - 1) / blockDim.x, first = threadIdx.x * each;
  uint32_t sum = 0;
  for (uint32_t w = first; w < first + each && w < words; w++) {
    uint32_t both = 0;
    DEVICE_UNROLL_BY_4
    for (uint32_t warp = 0; warp < warps; warp++)
      both += counts[warp * words + w];
    sum += (both & 0xffff) + (both >> 16);
  }
  uint32_t place = sample::block_before(sum);
  for (uint32_t w = first; w < first + each && w < words; w++) {
    uint32_t both = 0;
    DEVICE_UNROLL_BY_4
    for (uint32_t warp = 0; warp < warps; warp++) {
      const uint32_t more = counts[warp * words + w];
      counts[warp * words + w] = both;
      both += more;
    }
    const uint32_t begins[2] = {place, place + (both & 0xffff)};
    const uint32_t add = begins[0] | begins[1] << 16;
    place = begins[1] + (both >> 16);
    DEVICE_UNROLL_BY_4
    for (uint32_t warp = 0; warp < warps; warp++)
      counts[warp * words + w] += add;
    for (uint32_t half = 0; half < 2; half++) {
      const uint32_t begin = (uint32_t)plan_min(begins[half], count);
      starts[(uint64_t)(2 * w + half) * distance] = (uint16_t)begin;
      if (begin < count) device_or32(&edges[begin / WARP_SIZE], 1u << begin % WARP_SIZE);
    }
  }
  __syncthreads();
}

/* A tile that a block splits. */
template <class Key, class Value> struct split_tile {
  uint32_t count;
  bool one_key;
  uint16_t *starts; /* where buckets begin, `distance` apart */
  uint32_t distance;
  element_array<Key, Value> to;
};

/* Finds the bucket of each of the thread's elements. `whole`, a compile-time constant, here and
 * below: the tile has as many elements as it can. Lanes behind the last element come last. */
template <class Key, class Value>
DEVICE_INLINE void find_buckets(const split_args<Key, Value> &args,
                                const split_storage<Key, Value> &by, uint32_t items, uint32_t count,
                                bool whole, uint32_t *slots)
{
  const auto code_at = [&](uint32_t t) {
    const uint32_t i = warp_item(items, t);
    return args.order.code(by.elements.keys[whole || i < count ? i : 0]);
  };
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CARRY_SPLIT_ITEMS; t++) {
    if (!whole && t >= items) break;
    const Key code = code_at(t);
    slots[t] = search_step(by.search, 0, find_entry(by.search, code), code);
  }
  if (by.search.steps > 1) {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < CARRY_SPLIT_ITEMS; t++) {
      if (!whole && t >= items) break;
      const Key code = code_at(t);
      slots[t] = find_entry(by.search, code);
      DEVICE_ROLLED
      for (uint32_t step = by.search.steps; step-- > 0;)
        slots[t] = search_step(by.search, step, slots[t], code);
    }
  }
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CARRY_SPLIT_ITEMS; t++)
    if (!whole && warp_item(items, t) >= count) slots[t] = args.set.buckets - 1;
}

/* Orders the tile in shared memory by bucket and writes it. Returns true if elements of a bucket
 * came out of order, unless `exactly`. By all threads of the block. */
template <class Key, class Value>
DEVICE_INLINE bool split_elements(const split_args<Key, Value> &args,
                                  const split_storage<Key, Value> &by,
                                  const split_tile<Key, Value> &tile, bool whole, bool exactly)
{
  const uint32_t buckets = args.set.buckets, words = blockDim.x / WARP_SIZE * buckets / 2;
  const uint32_t items = whole ? (uint32_t)CARRY_SPLIT_ITEMS : args.tiles.tile / blockDim.x;
  uint32_t *const mine = by.counts + threadIdx.x / WARP_SIZE * (buckets / 2);
  const uint16_t *const places = (const uint16_t *)mine;
  uint32_t slots[CARRY_SPLIT_ITEMS] = {};
  for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
    by.counts[i] = 0;
  for (uint32_t i = threadIdx.x; i < args.tiles.tile / WARP_SIZE; i += blockDim.x)
    by.edges[i] = 0;
  if (!tile.one_key) find_buckets(args, by, items, tile.count, whole, slots);
  __syncthreads();
  exactly |= sample::warp_is_contended(slots[0]);
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CARRY_SPLIT_ITEMS; t++)
    if (whole || t < items) slots[t] = slots[t] << 16 | count_in_warp(mine, slots[t], exactly);
  __syncthreads();
  place_buckets(by.counts, by.edges, buckets, tile.count, tile.starts, tile.distance);
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CARRY_SPLIT_ITEMS; t++)
    if (whole || t < items)
      by.order[places[slots[t] >> 16] + (slots[t] & 0xffff)] = (uint16_t)warp_item(items, t);
  __syncthreads();
  bool wrong = false;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CARRY_SPLIT_ITEMS; t++) {
    const uint32_t j = t * blockDim.x + threadIdx.x;
    if (!whole && (t >= items || j >= tile.count)) break;
    const uint32_t i = by.order[j], before = j ? by.order[j - 1] : 0;
    wrong |= before > i && !(by.edges[j / WARP_SIZE] >> j % WARP_SIZE & 1);
    if (!whole) wrong |= i >= tile.count;
    copy_element(by.elements, i, tile.to, j);
  }
  return wrong;
}

/* Copies element `at` of the caller's or of a level to shared memory. */
template <class Key, class Value, bool first>
DEVICE_INLINE void load_element(const element_array<Key, Value> &from, uint64_t at,
                                const element_array<Key, Value> &to, uint32_t i)
{
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
template <class Key, class Value, bool first>
DEVICE_INLINE void load_tile(const split_args<Key, Value> &args,
                             const split_storage<Key, Value> &by, uint64_t done, uint32_t items,
                             uint32_t count, bool whole)
{
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CARRY_SPLIT_ITEMS; t++) {
    const uint32_t i = warp_item(items, t);
    if (!whole && (t >= items || i >= count)) break;
    load_element<Key, Value, first>(args.from, first ? done + i : run_element(by.runs, i),
                                    by.elements, i);
  }
}

/* Reads a tile of a section, from the caller's arrays or from the runs of a bucket, and the
 * splitters of the section. Writes the tile by bucket, and where buckets begin in it. A
 * multiprocessor has two blocks, so that one loads while the other works in shared memory; this
 * limits the tile to half of it, and runs to a few dozen elements. */
template <class Key, class Value, bool first>
__global__ void __launch_bounds__(CARRY_BLOCK, device_blocks(CARRY_BLOCK, 2))
    split(const __grid_constant__ split_args<Key, Value> args)
{
  DEVICE_SHARED(char, memory);
  const uint32_t tile = args.tiles.tile, items = tile / blockDim.x;
  split_storage<Key, Value> by = split_storage_at<Key, Value>(memory, tile, args.set.buckets);
  device_await_before();
  tile_begin begin = {0, blockIdx.x, 0, 0};
  section of = {0, args.order.count(), 0, 0};
  if (!first) {
    if (blockIdx.x >= *args.tile_count) return;
    begin = args.begins[blockIdx.x];
    of = args.sections[begin.section];
  }
  const uint32_t done = begin.number * tile, count = (uint32_t)plan_min(of.count - done, tile);
  const bool whole = count == blockDim.x * CARRY_SPLIT_ITEMS;
  if (!of.one_key) load_lookup(args.set, begin.section, by.search);
  if (!first) {
    const section_tiles from = tiles_of(args.source, {0, args.order.count(), 0, 0});
    list_runs(from, {begin.section, begin.section + 1, begin.tile, begin.skip, count}, by.runs);
  }
  if (whole)
    load_tile<Key, Value, first>(args, by, done, CARRY_SPLIT_ITEMS, count, true);
  else
    load_tile<Key, Value, first>(args, by, done, items, count, false);
  DEVICE_SHARED_ARRAY(uint32_t, redo, 1);
  if (threadIdx.x == 0) *redo = 0;
  device_await_copies();
  __syncthreads();
  set_scale(&by.search);
  const split_tile<Key, Value> work = {
      count, of.one_key != 0,
      args.tiles.starts + (uint64_t)of.first_tile * args.set.buckets + begin.number,
      (uint32_t)plan_blocks(of.count, tile), elements_from(args.to, (uint64_t)of.begin + done)};
  const bool wrong = whole ? split_elements(args, by, work, true, false)
                           : split_elements(args, by, work, false, false);
  if (wrong) device_poke32(redo, 1);
  __syncthreads();
  if (*redo) {
    DEVICE_PATH("carry_exactly");
    split_elements(args, by, work, false, true);
  }
}

} // namespace carry

#endif
