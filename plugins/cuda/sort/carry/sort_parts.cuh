/* sort_parts.cuh - the last step: a block gathers a part in shared memory, finds its order and
 * writes keys and values to their places. */
#ifndef RECSORT_CUDA_CARRY_SORT_PARTS_CUH
#define RECSORT_CUDA_CARRY_SORT_PARTS_CUH

#include "cuda/sort/carry/block_sort.cuh"
#include "cuda/sort/carry/sections.cuh"

namespace carry
{

template <class Key, class Value> struct sort_parts_args {
  static constexpr uint32_t max_threads = CARRY_SORT_BLOCK;
  /* reads */
  key_order<Key> order;
  element_array<Key, Value> from;
  split_tiles tiles;
  const section *sections; /* NULL: one, all elements */
  part_list<Key> list;
  uint32_t most;
  /* writes */
  element_array<Key, Value> to;
  bool keys_wanted; /* else only values are written */
  bool numbered;    /* values ascend among equal keys */
  bool placed;      /* values with their places go to the balance, for who reads them next */
};

template <class Key, class Value> struct sort_parts_storage {
  element_array<Key, Value> elements;
  sort_storage by;
  run_list runs;           /* overlays the words and bins */
  code_sample<Key> sample; /* only of sort_hard */
};

template <class Key, class Value>
DEVICE_INLINE sort_parts_storage<Key, Value> sort_parts_storage_at(void *memory, uint32_t most)
{
  sort_parts_storage<Key, Value> all;
  void *at;
  all.elements = elements_at<Key, Value>(memory, most, &at);
  all.by = {(uint32_t *)at, (uint32_t *)at + most + WARP_SIZE};
  uint32_t *const heads = all.by.bins + CARRY_BINS / 2;
  all.runs = {(uint32_t *)at, (run_word *)heads};
  all.sample = code_sample_at<Key>(heads + most / WARP_SIZE * 2);
  return all;
}

template <class Key, class Value>
DEVICE_INLINE section_tiles tiles_of_part(const sort_parts_args<Key, Value> &args, uint32_t s)
{
  return args.sections ? tiles_of(args.tiles, args.sections[s])
                       : tiles_of_all(args.tiles, args.order.count);
}

/* Gathers a part, of which `run` is what find_run() has found. By all threads of the block;
 * device_await_copies() must follow, and a barrier. */
template <class Key, class Value>
DEVICE_INLINE void gather_part(const sort_parts_args<Key, Value> &args,
                               sort_parts_storage<Key, Value> by, const section_tiles &from,
                               const bucket_part &part, run_in_tile run)
{
  DEVICE_ASSERT(part.count <= args.most);
  list_runs(from, part, run, by.runs);
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CARRY_MOST / CARRY_SORT_BLOCK; t++) {
    const uint32_t i = t * CARRY_SORT_BLOCK + threadIdx.x;
    if (i < part.count) copy_element_in(args.from, run_element(by.runs, i), by.elements, i);
  }
}

/* Copies an element to a part of args.to. */
template <class Key, class Value>
DEVICE_INLINE void write_element(const sort_parts_args<Key, Value> &args,
                                 const element_array<Key, Value> &from, uint64_t at,
                                 const element_array<Key, Value> &to, uint64_t place)
{
  if (!has_value<Value> || args.keys_wanted) to.keys[place] = from.keys[at];
  if constexpr (has_value<Value>) to.values[place] = from.values[at];
}

/* Writes the elements in shared memory in their order, from place `begin` on: element number_of(j)
 * is the one of place j. */
template <class Key, class Value, class Number>
DEVICE_INLINE void write_sorted(const sort_parts_args<Key, Value> &args,
                                const element_array<Key, Value> &elements, uint32_t count,
                                uint32_t begin, const Number &number_of)
{
  const element_array<Key, Value> to = elements_from(args.to, (uint64_t)begin + threadIdx.x);
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CARRY_MOST / CARRY_SORT_BLOCK; t++) {
    const uint32_t j = t * CARRY_SORT_BLOCK + threadIdx.x;
    if (j < count) write_element(args, elements, number_of(j), to, t * CARRY_SORT_BLOCK);
  }
}

/* True if element `b`, which comes behind element `a`, does not belong there. */
template <class Key, class Value, class Code_of>
DEVICE_INLINE bool is_turned(const sort_parts_args<Key, Value> &args,
                             const element_array<Key, Value> &elements, uint32_t a, uint32_t b,
                             const Code_of &code_of)
{
  const Key before = code_of(elements.keys[a]), code = code_of(elements.keys[b]);
  if constexpr (std::is_integral_v<Value>)
    if (args.numbered && before == code) return elements.values[a] >= elements.values[b];
  return before > code;
}

/* Does the same, and subtracts the elements from *balance, of the block. Returns true if codes do
 * not ascend from the least to the greatest of a range; of equal ones, numbers. Lanes compare their
 * element with that of the lane before, and then a thread each the edges between warps. By all
 * threads of the block. */
template <class Key, class Value, class Number, class Code_of>
DEVICE_INLINE bool write_certified(const sort_parts_args<Key, Value> &args,
                                   const element_array<Key, Value> &elements, uint32_t count,
                                   uint32_t begin, const Number &number_of, code_range<Key> range,
                                   uint64_t *balance, const Code_of &code_of)
{
  const element_array<Key, Value> to = elements_from(args.to, (uint64_t)begin + threadIdx.x);
  const bool numbered = args.numbered, first_lane = threadIdx.x % WARP_SIZE == 0;
  uint64_t written = 0;
  bool wrong = false;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CARRY_MOST / CARRY_SORT_BLOCK; t++) {
    const uint32_t j = t * CARRY_SORT_BLOCK + threadIdx.x;
    if (j - threadIdx.x % WARP_SIZE >= count) break;
    const uint32_t at = number_of(j < count ? j : count - 1);
    const Key code = code_of(elements.keys[at]), before = number_before(code);
    bool turned = before > code;
    if constexpr (std::is_integral_v<Value>) {
      if (numbered) {
        const Value value = elements.values[at], there = number_before(value);
        turned |= before == code && there >= value && !first_lane;
        if (args.placed && j < count) written -= hash_placed((uint32_t)value, begin + j);
      }
    }
    if (j >= count) continue;
    wrong |= turned;
    written += hash_at(elements, at);
    write_element(args, elements, at, to, t * CARRY_SORT_BLOCK);
  }
  for (uint32_t j = WARP_SIZE * (threadIdx.x + 1); j < count; j += WARP_SIZE * CARRY_SORT_BLOCK)
    wrong |= is_turned(args, elements, number_of(j - 1), number_of(j), code_of);
  if (threadIdx.x == 0)
    wrong |= code_of(elements.keys[number_of(0)]) < range.least ||
             code_of(elements.keys[number_of(count - 1)]) > range.greatest;
  add_to_block(balance, 0 - written);
  return wrong;
}

/* Writes the elements in shared memory in their order, from place `begin` on. If a certificate is
 * wanted, looks at them too; `range` is that of their codes. By all threads of the block. */
template <class Key, class Value>
DEVICE_INLINE void write_elements(const sort_parts_args<Key, Value> &args,
                                  sort_parts_storage<Key, Value> by, uint32_t count,
                                  sort_result sorted, uint32_t begin, code_range<Key> range,
                                  uint64_t *balance)
{
  const auto number_of = [&](uint32_t j) { return sorted == ALIKE ? j : element_at(by.by, j); };
  if (!args.list.certificate.disorder) {
    write_sorted(args, by.elements, count, begin, number_of);
    return;
  }
  args.order.with([&](auto code_of) {
    if (write_certified(args, by.elements, count, begin, number_of, range, balance, code_of))
      device_poke32(args.list.certificate.disorder, 1);
  });
}

/* The range of the codes in shared memory, which are in `range`. */
template <class Key, class Value>
DEVICE_INLINE code_range<Key> narrow_range(const sort_parts_args<Key, Value> &args,
                                           sort_parts_storage<Key, Value> by, uint32_t count,
                                           code_range<Key> range)
{
  DEVICE_ASSERT(count > 0);
  if (range.least > 0 && range.greatest < (Key) ~(Key)0) return range; /* splitters have told it */
  return range_of_codes<Key>(count, key_codes<Key>{&args.order, by.elements.keys});
}

/* ---- Parts that are hard to sort ---- */

/* Calls work(has, code, at, number) for all elements of a bucket, block by block; element `number`
 * is at `at`. Threads behind the last one have none. */
template <class Key, class Value, class Work>
DEVICE_INLINE void for_each_of_bucket(const sort_parts_args<Key, Value> &args,
                                      sort_parts_storage<Key, Value> by, const section_tiles &from,
                                      const bucket_part &all, const Work &work)
{
  bucket_part part = all;
  for (uint32_t done = 0; done < all.count; done += part.count) {
    part.count = (uint32_t)plan_min(all.count - done, args.most);
    list_runs(from, part, find_run(from, part, 0), by.runs);
    for (uint32_t i = threadIdx.x; i - threadIdx.x < part.count; i += blockDim.x) {
      const bool has = i < part.count;
      const uint32_t at = has ? run_element(by.runs, i) : 0;
      work(has, has ? args.order.code(args.from.keys[at]) : 0, at, done + i);
    }
    __syncthreads();
    go_on(from, &part);
  }
}

/* The elements with codes in [low, high]. By all threads of the block. */
template <class Key, class Value>
DEVICE_INLINE uint32_t count_between(const sort_parts_args<Key, Value> &args,
                                     sort_parts_storage<Key, Value> by, const section_tiles &from,
                                     const bucket_part &all, Key low, Key high)
{
  uint32_t count = 0;
  for_each_of_bucket(args, by, from, all, [&](bool has, Key code, uint32_t, uint32_t) {
    count += has && code >= low && code <= high;
  });
  count = sample::block_sum(count);
  __syncthreads();
  return count;
}

/* Sorts the elements in shared memory, whose codes crowd, and writes them. By all threads of the
 * block. */
template <class Key, class Value>
DEVICE_INLINE void sort_rough_part(const sort_parts_args<Key, Value> &args,
                                   sort_parts_storage<Key, Value> by, uint32_t count,
                                   uint32_t begin, code_range<Key> range, uint64_t *balance)
{
  DEVICE_ASSERT(count > 0 && count <= args.most);
  const key_codes<Key> codes = {&args.order, by.elements.keys};
  const bool mixed = sort_crowded<CARRY_SORT_BLOCK, Key>(
      by.by, count, range_of_codes<Key>(count, codes), by.sample, codes);
  write_elements(args, by, count, mixed ? SORTED : ALIKE, begin, range, balance);
}

/* Samples the codes of a bucket. By all threads of the block; ends with a barrier. */
template <class Key, class Value>
DEVICE_INLINE void sample_bucket(const sort_parts_args<Key, Value> &args,
                                 sort_parts_storage<Key, Value> by, const section_tiles &from,
                                 const bucket_part &all)
{
  const auto cell = [&](uint32_t number) { return (uint64_t)number * CELLS / all.count; };
  for_each_of_bucket(args, by, from, all, [&](bool has, Key code, uint32_t, uint32_t number) {
    if (has && (number == 0 || cell(number) != cell(number - 1)))
      by.sample.codes[cell(number)] = code;
  });
  sort_sample(by.sample);
}

/* A range of codes, from `low` on, whose elements fit in shared memory, or one code; as far as a
 * sample tells where it ends, and otherwise by bisection. Sets *count to their number. */
template <class Key, class Value>
DEVICE_INLINE Key end_of_range(const sort_parts_args<Key, Value> &args,
                               sort_parts_storage<Key, Value> by, const section_tiles &from,
                               const bucket_part &all, Key low, uint32_t *count)
{
  DEVICE_ASSERT(all.count > args.most);
  uint32_t before = 0, some = (uint32_t)((uint64_t)CELLS * args.most / all.count * 3 / 4);
  sample_bucket(args, by, from, all);
  for (uint32_t half = CELLS / 2; half > 0; half /= 2)
    if (by.sample.codes[before + half - 1] < low) before += half;
  Key high = before + some < CELLS ? by.sample.codes[before + some] : (Key) ~(Key)0;
  for (;;) {
    if (high < low) high = low;
    *count = count_between(args, by, from, all, low, high);
    if (*count <= args.most || high == low) return high;
    some /= 2;
    high = some && before + some < CELLS ? by.sample.codes[before + some]
                                         : (Key)(low + (Key)(high - low) / 2);
  }
}

/* Sorts a bucket that does not fit in shared memory, range by range of its codes. All elements with
 * one code need no sort. */
template <class Key, class Value>
DEVICE_INLINE void sort_oversized(const sort_parts_args<Key, Value> &args,
                                  sort_parts_storage<Key, Value> by, const sorted_part<Key> &bucket,
                                  uint64_t *balance)
{
  const section_tiles from = tiles_of_part(args, bucket.section);
  const bucket_part &all = bucket.of;
  uint64_t written = 0; /* straight from one array to the other */
  Key low = 0;
  for (uint32_t done = 0; done < all.count;) {
    uint32_t count, taken = 0;
    const Key high = end_of_range(args, by, from, all, low, &count);
    for_each_of_bucket(args, by, from, all, [&](bool has, Key code, uint32_t at, uint32_t) {
      uint32_t some;
      const bool wanted = has && code >= low && code <= high;
      const uint32_t place = taken + sample::block_before_all(wanted, &some);
      if (wanted && count <= args.most) copy_element(args.from, at, by.elements, place);
      if (wanted && count > args.most) {
        write_element(args, args.from, at, elements_from(args.to, bucket.begin + done), place);
        if (args.list.certificate.disorder) written += hash_at(args.from, at);
        if constexpr (std::is_integral_v<Value>)
          if (args.list.certificate.disorder && args.placed)
            written -= hash_placed((uint32_t)args.from.values[at], bucket.begin + done + place);
      }
      taken += some;
      __syncthreads();
    });
    DEVICE_ASSERT(taken == count);
    const code_range<Key> range = {low > bucket.least ? low : bucket.least,
                                   high < bucket.greatest ? high : bucket.greatest};
    if (count && count <= args.most)
      sort_rough_part(args, by, count, bucket.begin + done, range, balance);
    if (count > args.most && range.least > range.greatest && args.list.certificate.disorder)
      device_poke32(args.list.certificate.disorder, 1);
    __syncthreads();
    done += count;
    low = (Key)(high + 1);
  }
  add_to_block(balance, 0 - written);
}

/* ---- All parts ---- */

/* A part, and what is loaded before its turn comes. */
template <class Key> struct upcoming_part {
  sorted_part<Key> part;
  section_tiles from;
  run_in_tile run;
};

template <class Key, class Value>
DEVICE_INLINE upcoming_part<Key> part_at(const sort_parts_args<Key, Value> &args,
                                         const sorted_part<Key> *parts, uint32_t p)
{
  upcoming_part<Key> next;
  next.part = parts[p];
  next.from = tiles_of_part(args, next.part.section);
  next.run = find_run(next.from, next.part.of, 0);
  return next;
}

/* Reads parts from the runs of their buckets. Writes them sorted, each to its place; crowded ones
 * are left to sort_hard. Shared memory for elements, words and bins leaves room for two blocks of a
 * multiprocessor, so that one loads while the other sorts. A block has one part after the other,
 * and finds where the next one is while it sorts one. */
template <class Key, class Value>
__global__ void __launch_bounds__(CARRY_SORT_BLOCK, device_blocks(CARRY_SORT_BLOCK, 2))
    sort_parts(const __grid_constant__ sort_parts_args<Key, Value> args)
{
  DEVICE_SHARED(char, memory);
  DEVICE_SHARED_ARRAY(uint64_t, balance, 1);
  const auto by = sort_parts_storage_at<Key, Value>(memory, args.most);
  device_await_before();
  const uint32_t parts = *args.list.count;
  if (blockIdx.x >= parts) return;
  if (threadIdx.x == 0) *balance = 0;
  upcoming_part<Key> next = part_at(args, args.list.parts, blockIdx.x);
  for (uint32_t p = blockIdx.x; p < parts; p += gridDim.x) {
    const sorted_part<Key> part = next.part;
    const uint32_t count = part.of.count;
    gather_part(args, by, next.from, part.of, next.run);
    if (p + gridDim.x < parts) next = part_at(args, args.list.parts, p + gridDim.x);
    device_await_copies();
    __syncthreads();
    const code_range<Key> range = narrow_range(args, by, count, {part.least, part.greatest});
    const sort_result sorted = sort_by_bins<CARRY_SORT_BLOCK, Key>(
        by.by, count, range, key_codes<Key>{&args.order, by.elements.keys});
    if (sorted != CROWDED) {
      write_elements(args, by, count, sorted, part.begin, {part.least, part.greatest}, balance);
      settle_part(args.list, part);
    } else if (threadIdx.x == 0) {
      add_hard(args.list, part);
    }
    __syncthreads();
  }
  add_block(args.list.certificate, *balance);
}

/* Reads the hard parts, and writes them sorted. It is a kernel of its own because it needs more
 * registers, which would slow down sort_parts. Most inputs have no hard part. */
template <class Key, class Value>
__global__ void __launch_bounds__(CARRY_SORT_BLOCK, device_blocks(CARRY_SORT_BLOCK, 2))
    sort_hard(const __grid_constant__ sort_parts_args<Key, Value> args)
{
  DEVICE_SHARED(char, memory);
  DEVICE_SHARED_ARRAY(uint64_t, balance, 1);
  const auto by = sort_parts_storage_at<Key, Value>(memory, args.most);
  device_await_before();
  if (blockIdx.x >= *args.list.hard_count) return;
  if (threadIdx.x == 0) *balance = 0;
  for (uint32_t i = blockIdx.x; i < *args.list.hard_count; i += gridDim.x) {
    const upcoming_part<Key> next = part_at(args, args.list.hard, i);
    if (next.part.of.count > args.most) {
      sort_oversized(args, by, next.part, balance);
    } else {
      gather_part(args, by, next.from, next.part.of, next.run);
      device_await_copies();
      __syncthreads();
      sort_rough_part(args, by, next.part.of.count, next.part.begin,
                      {next.part.least, next.part.greatest}, balance);
    }
    settle_part(args.list, next.part);
    __syncthreads();
  }
  add_block(args.list.certificate, *balance);
}

} // namespace carry

#endif
