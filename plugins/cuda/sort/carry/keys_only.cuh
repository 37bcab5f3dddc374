/* keys_only.cuh - the sort of keys of 32 bits alone, all bits of which are compared: keys with one
 * code are identical, so the sort need not be stable. Each block writes keys straight to their
 * places, and stores neither the numbers of elements nor their order. sort_hard sorts hard parts.
 */
#ifndef RECSORT_CUDA_CARRY_KEYS_ONLY_CUH
#define RECSORT_CUDA_CARRY_KEYS_ONLY_CUH

#include "cuda/sort/carry/sort_parts.cuh"
#include "cuda/sort/carry/split.cuh"

namespace carry
{

template <class Key, class Value>
constexpr bool
    can_be_keys_only = sizeof(Key) == sizeof(uint32_t) && std::is_same_v<Value, no_value>;

/* ---- Tiles ---- */

/* What a block that splits a tile has in shared memory. */
struct key_tile {
  uint32_t *counts; /* of each bucket; then where it begins */
  uint32_t *keys;   /* by bucket */
  run_list runs;    /* overlays the counts and keys */
  lookup<uint32_t> search;
};

DEVICE_INLINE key_tile key_tile_at(void *memory, uint32_t buckets)
{
  key_tile by;
  by.counts = by.runs.from = (uint32_t *)memory;
  by.keys = by.counts + CARRY_KEYS_COUNTS;
  by.runs.words = (run_word *)(by.keys + CARRY_KEYS_TILE);
  by.search = lookup_at<uint32_t>(by.runs.words + CARRY_KEYS_TILE / WARP_SIZE, buckets);
  return by;
}

/* Turns counts into places, and writes where buckets begin. A thread has two buckets; one more,
 * behind these, begins at `count`. By all threads of the block. */
DEVICE_INLINE void place_key_buckets(uint32_t *counts, uint32_t buckets, uint32_t count,
                                     uint16_t *starts, uint32_t distance)
{
  DEVICE_ASSERT(buckets % 2 == 0 && buckets <= 2 * CARRY_BLOCK);
  const uint32_t b = 2 * threadIdx.x;
  const uint32_t one = b < buckets ? counts[b] : 0, two = b < buckets ? counts[b + 1] : 0;
  const uint32_t place = sample::block_before(one + two);
  if (threadIdx.x == 0) counts[buckets] = count;
  if (b < buckets) {
    counts[b] = place;
    counts[b + 1] = place + one;
    starts[(uint64_t)b * distance] = (uint16_t)place;
    starts[(uint64_t)(b + 1) * distance] = (uint16_t)(place + one);
  }
  __syncthreads();
}

/* The buckets of keys, each with LOOKUP_UNSURE or without. */
template <uint32_t most>
DEVICE_INLINE void find_key_buckets(const key_order<uint32_t> &order,
                                    const lookup<uint32_t> &search, const uint32_t *keys,
                                    uint32_t *buckets)
{
  const integer_order<uint32_t> code_of = {order.code_of.flip, order.code_of.mask};
  uint32_t all = 0;
  if (search.flat) {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < most; t++)
      all |= buckets[t] = look_up(search, true, code_of(keys[t]));
  } else {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < most; t++)
      all |= buckets[t] = look_up(search, false, code_of(keys[t]));
  }
  if (all < LOOKUP_UNSURE) return;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < most; t++)
    if (buckets[t] >= LOOKUP_UNSURE)
      buckets[t] = search_bucket(search, buckets[t] - LOOKUP_UNSURE, code_of(keys[t]));
}

/* Reads and writes what split does. */
template <bool first>
__global__ void __launch_bounds__(CARRY_BLOCK, device_blocks(CARRY_BLOCK, 2))
    split_keys(const __grid_constant__ split_args<uint32_t, no_value> args)
{
  constexpr uint32_t items = CARRY_KEYS_ITEMS;
  DEVICE_SHARED(char, memory);
  DEVICE_SHARED_ARRAY(uint64_t, balance, 1);
  const uint32_t buckets = args.set.buckets;
  const key_tile by = key_tile_at(memory, buckets);
  device_await_before();
  tile_work mine;
  if (!find_tile<first>(args, &mine)) return;
  DEVICE_ASSERT(mine.count <= CARRY_KEYS_TILE);
  uint32_t keys[items], slots[items] = {};
  const auto has = [&](uint32_t t) { return t * CARRY_BLOCK + threadIdx.x < mine.count; };
  const auto key_at = [&](uint32_t t) {
    const uint32_t i = t * CARRY_BLOCK + threadIdx.x;
    return args.from.keys[first ? mine.of.begin + mine.done + i : run_element(by.runs, i)];
  };
  const bool whole = mine.count == CARRY_KEYS_TILE;
  if (!mine.of.one_key) load_lookup(args.set, mine.begin.section, by.search);
  if (!first) list_tile_runs(args, mine, by.runs);
  if (whole) {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < items; t++)
      keys[t] = key_at(t);
  } else {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < items; t++)
      keys[t] = has(t) ? key_at(t) : 0;
  }
  if (threadIdx.x == 0) *balance = 0;
  __syncthreads(); /* the runs are read */
  const bool certified = first && args.certificate.disorder && !args.certificate.index_bits;
  if (certified) {
    uint64_t read = 0;
    DEVICE_UNROLL
    for (uint32_t t = 0; t < items; t++)
      if (has(t)) read += hash_key(keys[t]);
    add_to_block(balance, read);
  }
  for (uint32_t b = threadIdx.x; b <= buckets; b += CARRY_BLOCK)
    by.counts[b] = 0;
  device_await_copies();
  __syncthreads();
  if (!mine.of.one_key) {
    lookup<uint32_t> search = by.search;
    set_scale(&search);
    find_key_buckets<items>(args.order, search, keys, slots);
  }
  if (!whole) {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < items; t++)
      if (!has(t)) slots[t] = buckets; /* one more, whose keys are not written */
  }
  if (sample::warp_is_contended(slots[0])) {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < items; t++)
      slots[t] = (slots[t] << 16) + sample::warp_add(by.counts, slots[t]);
  } else {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < items; t++)
      slots[t] = (slots[t] << 16) + device_add32(&by.counts[slots[t]], 1);
  }
  __syncthreads();
  place_key_buckets(by.counts, buckets, mine.count, mine.starts, mine.distance);
  DEVICE_UNROLL
  for (uint32_t t = 0; t < items; t++)
    by.keys[by.counts[slots[t] >> 16] + (slots[t] & 0xffff)] = keys[t];
  __syncthreads();
  uint32_t *const to = args.to.keys + mine.of.begin + mine.done + threadIdx.x;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < items; t++)
    if (whole || has(t)) to[t * CARRY_BLOCK] = by.keys[t * CARRY_BLOCK + threadIdx.x];
  if (certified) add_block(args.certificate, *balance);
}

/* ---- Parts ---- */

/* What a block that sorts a part has in shared memory; runs overlay the words and bins. */
struct key_part {
  sort_storage by;
  run_list runs;
};

DEVICE_INLINE key_part key_part_at(void *memory, uint32_t most)
{
  uint32_t *const words = (uint32_t *)memory, *const bins = words + most + WARP_SIZE;
  return {{words, bins}, {words, (run_word *)(bins + CARRY_BINS / 2)}};
}

constexpr uint32_t key_part_items = CARRY_MOST / CARRY_SORT_BLOCK;

/* Calls work(t, i, has) for all items of the thread, of which item t has number i; `has` is false
 * behind `count`. Items have no branches, so that they do not wait for each other. The branch
 * before them keeps what several loops compute out of registers. */
template <class Work> DEVICE_INLINE void for_items(uint32_t count, const Work &work)
{
  if (count == 0) return;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < key_part_items; t++)
    work(t, t * CARRY_SORT_BLOCK + threadIdx.x, t * CARRY_SORT_BLOCK + threadIdx.x < count);
}

/* True if words are in order. By all threads of the block; two barriers. */
DEVICE_INLINE bool are_sorted(const uint32_t *words, uint32_t count)
{
  DEVICE_ASSERT(count > 0);
  bool wrong = false;
  for_items(count - 1, [&](uint32_t, uint32_t j, bool has) {
    wrong |= has && words[word_place(j)] > words[word_place(j + 1)];
  });
  return !block_any(wrong);
}

/* Puts the words of each bin in order; false if a bin has too many that differ. A bin of words that
 * are the same takes no more rounds than a small one. */
DEVICE_INLINE bool sort_key_bins(uint32_t *words, uint32_t count, uint32_t most_in_bin)
{
  enum { FEW = 40 };
  if (most_in_bin > FEW) {
    sort_bins<CARRY_SORT_BLOCK>(words, count, FEW / 4);
    if (are_sorted(words, count)) return true;
    if (most_in_bin > MOST_IN_BIN) return false;
  }
  sort_bins<CARRY_SORT_BLOCK>(words, count, most_in_bin);
  return true;
}

/* Sorts codes in a range, of which the thread has those of its items. Words are differences from
 * the least code. By all threads of the block; ends with a barrier. */
DEVICE_INLINE sort_result sort_codes(sort_storage by, uint32_t count, code_range<uint32_t> range,
                                     const uint32_t *codes)
{
  DEVICE_ASSERT(count <= CARRY_MOST);
  const range_parts bin_of = range_parts_of(CARRY_BINS, range.greatest - range.least);
  uint32_t numbers[key_part_items / 2] = {}; /* in their bins, two in each */
  if (range.least >= range.greatest) return ALIKE;
  DEVICE_UNROLL
  for (uint32_t i = 0; i < CARRY_BINS / 2 / CARRY_SORT_BLOCK; i++)
    by.bins[i * CARRY_SORT_BLOCK + threadIdx.x] = 0;
  __syncthreads();
  for_items(count, [&](uint32_t t, uint32_t, bool has) {
    const uint32_t bin = bin_of(codes[t] - range.least), shift = bin % 2 * 16;
    const uint32_t two = device_add32(&by.bins[has ? bin / 2 : threadIdx.x], has ? 1u << shift : 0);
    numbers[t / 2] |= (two >> shift & 0xffff) << t % 2 * 16;
  });
  const uint32_t most = place_bins<CARRY_SORT_BLOCK>(by.bins);
  for_items(count, [&](uint32_t t, uint32_t, bool has) {
    const uint32_t word = codes[t] - range.least, number = numbers[t / 2] >> t % 2 * 16 & 0xffff;
    const uint32_t place = bin_place(by.bins, bin_of(word)) + number;
    by.words[word_place(has ? place : count)] = has ? word : UINT32_MAX;
  });
  if (threadIdx.x < GROUP) by.words[word_place(count + threadIdx.x)] = UINT32_MAX; /* for groups */
  __syncthreads();
  return sort_key_bins(by.words, count, most) ? SORTED : CROWDED;
}

/* The range of all threads' codes. By all threads of the block; one barrier. */
DEVICE_INLINE code_range<uint32_t> range_of_items(const uint32_t *codes)
{
  code_range<uint32_t> range = {UINT32_MAX, 0};
  DEVICE_UNROLL
  for (uint32_t t = 0; t < key_part_items; t++) {
    range.least = (uint32_t)plan_min(range.least, codes[t]);
    range.greatest = (uint32_t)plan_max(range.greatest, codes[t]);
  }
  return block_range(range);
}

/* Writes the codes `least` + word, as keys, and does besides what write_elements does. By all
 * threads of the block. */
DEVICE_INLINE void write_codes(const sort_parts_args<uint32_t, no_value> &args,
                               const uint32_t *words, const sorted_part<uint32_t> &part,
                               uint32_t least, sort_result sorted, uint64_t *balance)
{
  const uint32_t flip = args.order.code_of.flip, count = part.of.count;
  const auto code_at = [&](uint32_t j) {
    return least + (sorted == ALIKE ? 0 : words[word_place(j)]);
  };
  uint32_t *const to = args.to.keys + part.begin + threadIdx.x;
  if (!args.list.certificate.disorder) {
    for_items(count, [&](uint32_t t, uint32_t j, bool has) {
      const uint32_t code = code_at(j);
      if (has) to[t * CARRY_SORT_BLOCK] = code ^ flip;
    });
    return;
  }
  uint64_t written = 0;
  bool wrong = false;
  for_items(count, [&](uint32_t t, uint32_t j, bool has) {
    const uint32_t code = code_at(has ? j : count - 1);
    wrong |= number_before(code) > code;
    if (!has) return;
    written += hash_key(code ^ flip);
    to[t * CARRY_SORT_BLOCK] = code ^ flip;
  });
  for (uint32_t j = WARP_SIZE * (threadIdx.x + 1); j < count; j += WARP_SIZE * CARRY_SORT_BLOCK)
    wrong |= code_at(j - 1) > code_at(j);
  if (threadIdx.x == 0) wrong |= code_at(0) < part.least || code_at(count - 1) > part.greatest;
  add_to_block(balance, 0 - written);
  if (wrong) device_poke32(args.list.certificate.disorder, 1);
}

/* Reads and writes what sort_parts does. */
template <class = void>
__global__ void __launch_bounds__(CARRY_SORT_BLOCK, device_blocks(CARRY_SORT_BLOCK, 3))
    sort_key_parts(const __grid_constant__ sort_parts_args<uint32_t, no_value> args)
{
  DEVICE_SHARED(char, memory);
  DEVICE_SHARED_ARRAY(uint64_t, balance, 1);
  const key_part by = key_part_at(memory, args.most);
  device_await_before();
  const uint32_t parts = *args.list.count, flip = args.order.code_of.flip;
  if (blockIdx.x >= parts) return;
  if (threadIdx.x == 0) *balance = 0;
  upcoming_part<uint32_t> next = part_at(args, args.list.parts, blockIdx.x);
  for (uint32_t p = blockIdx.x; p < parts; p += gridDim.x) {
    const sorted_part<uint32_t> part = next.part;
    const uint32_t count = part.of.count;
    DEVICE_ASSERT(count > 0 && count <= args.most);
    uint32_t codes[key_part_items] = {};
    list_runs(next.from, part.of, next.run, by.runs);
    for_items(count, [&](uint32_t t, uint32_t i,
                         bool) { /* those behind the last one are like it */
                                 const uint32_t there = (uint32_t)plan_min(i, count - 1);
                                 codes[t] = args.from.keys[run_element(by.runs, there)] ^ flip;
    });
    if (p + gridDim.x < parts) next = part_at(args, args.list.parts, p + gridDim.x);
    const bool known = part.least > 0 && part.greatest < UINT32_MAX; /* splitters have told it */
    const code_range<uint32_t> range =
        known ? code_range<uint32_t>{part.least, part.greatest} : range_of_items(codes);
    __syncthreads(); /* the runs are read */
    const sort_result sorted = sort_codes(by.by, count, range, codes);
    if (sorted == CROWDED) {
      if (threadIdx.x == 0) add_hard(args.list, part);
    } else {
      write_codes(args, by.by.words, part, range.least, sorted, balance);
      settle_part(args.list, part);
    }
    __syncthreads();
  }
  add_block(args.list.certificate, *balance);
}

} // namespace carry

#endif
