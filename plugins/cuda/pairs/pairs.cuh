/* pairs.cuh - what comes before and after the sort of keys with values: keys become codes, whose
 * order is that of unsigned integers, and keys and values are written in the order that was found.
 * Each thread takes a few pairs that are a block's width apart, so that its loads overlap and those
 * of a warp are neighbours. */
#ifndef RECSORT_CUDA_PAIRS_CUH
#define RECSORT_CUDA_PAIRS_CUH

#include <type_traits>

#include "cuda/balance.cuh"
#include "cuda/pair.cuh"
#include "gpu/device_pairs.h"
#include "recsort/key_interpreter.h"

#ifndef PAIRS_MOST_BLOCKS
#define PAIRS_MOST_BLOCKS 1024
#endif

namespace pairs
{

#ifndef PAIRS_THREADS
#define PAIRS_THREADS 256
#endif
enum { PAIRS_BLOCK = PAIRS_THREADS, EACH = 4 };

/* The number of pair `t` of the thread, of pairs from `first` on. The threads beyond the last pair
 * take that one once more, and write nothing. */
DEVICE_INLINE uint64_t pair_number(uint64_t first, uint32_t t)
{
  return first + t * PAIRS_BLOCK + threadIdx.x;
}

DEVICE_INLINE void number_pairs(uint64_t first, uint64_t count, uint64_t *numbers)
{
  DEVICE_ASSERT(count > 0);
  DEVICE_UNROLL
  for (uint32_t t = 0; t < EACH; t++)
    numbers[t] = plan_min(pair_number(first, t), count - 1);
}

/* The elements with those numbers. */
template <class Element>
DEVICE_INLINE void load_pairs(const void *from, const uint64_t *numbers, Element *elements)
{
  DEVICE_UNROLL
  for (uint32_t t = 0; t < EACH; t++)
    elements[t] = ((const Element *)from)[numbers[t]];
}

template <class Element>
DEVICE_INLINE void store_pairs(void *to, uint64_t first, uint64_t count, const Element *elements)
{
  DEVICE_UNROLL
  for (uint32_t t = 0; t < EACH; t++)
    if (pair_number(first, t) < count) ((Element *)to)[pair_number(first, t)] = elements[t];
}

/* ---- Codes ---- */

template <class Key> constexpr uint32_t width_of = 8 * sizeof(Key);
template <class Key> constexpr Key sign_of = (Key)1 << (width_of<Key> - 1);
template <class Key> constexpr Key all_of = (Key) ~(Key)0;
template <class Key>
constexpr uint64_t infinity_of = sizeof(Key) == 4 ? 0x7f800000 : 0x7ff0000000000000;

template <class Key> DEVICE_INLINE Key code_of(const device_pairs &job, Key key)
{
  if constexpr (sizeof(Key) <= sizeof(uint64_t))
    if (job.kind == RECSORT_KEY_FLOAT)
      return (Key)key_float_code(key, width_of<Key>, job.flags, infinity_of<Key>);
  if (job.kind == RECSORT_KEY_SIGNED) key ^= sign_of<Key>;
  return job.flags & RECSORT_KEY_DESCENDING ? (Key)~key : key;
}

/* The bits of a code that are compared, where they are in it. */
template <class Key> RECSORT_HD static inline Key compared_mask(const device_pairs &job)
{
  RS_ASSERT(job.bits > 0 && job.bits + job.first_bit <= width_of<Key>);
  return all_of<Key> >> (width_of<Key> - job.bits) << job.first_bit;
}

/* True if no other key has this code. */
template <class Key> DEVICE_INLINE bool tells_key(const device_pairs &job, Key code)
{
  if (job.kind != RECSORT_KEY_FLOAT || job.flags & RECSORT_KEY_NAN_TOTAL) return true;
  const Key zero = job.flags & RECSORT_KEY_DESCENDING ? (Key)~sign_of<Key> : sign_of<Key>;
  return code != zero && code != (job.flags & RECSORT_KEY_NAN_FIRST ? 0 : all_of<Key>);
}

/* The key, of a code that tells it. */
template <class Key> DEVICE_INLINE Key key_of_code(const device_pairs &job, Key code)
{
  if (job.flags & RECSORT_KEY_DESCENDING) code = (Key)~code;
  if (job.kind == RECSORT_KEY_UNSIGNED) return code;
  return job.kind == RECSORT_KEY_SIGNED || code & sign_of<Key> ? code ^ sign_of<Key> : (Key)~code;
}

struct encode_pairs_args {
  static constexpr uint32_t max_threads = PAIRS_BLOCK;
  device_pairs job;
  void *codes;
  uint32_t *differ;
};

/* Reads keys and writes the code of each, or the part of it that is compared; *differ becomes 1 if
 * keys differ in the rest. Blocks are few, and each goes on to further pairs: it tells at most once
 * that keys differ, as writes of many to one place would wait for each other. Four loads of a
 * thread are on their way at a time, as memory takes hundreds of cycles to answer. */
template <class Key, class Code>
__global__ void __launch_bounds__(PAIRS_BLOCK)
    encode_pairs(const __grid_constant__ encode_pairs_args args)
{
  const uint64_t each = PAIRS_BLOCK * EACH, count = args.job.count;
  device_await_before();
  const Key mask = compared_mask<Key>(args.job),
            like = code_of(args.job, *(const Key *)args.job.keys_in);
  bool differ = false;
  for (uint64_t first = blockIdx.x * each; first < count; first += gridDim.x * each) {
    uint64_t numbers[EACH];
    Key keys[EACH];
    Code codes[EACH];
    number_pairs(first, count, numbers);
    load_pairs(args.job.keys_in, numbers, keys);
    DEVICE_UNROLL
    for (uint32_t t = 0; t < EACH; t++) {
      const Key code = code_of(args.job, keys[t]);
      codes[t] = (Code)((code & mask) >> args.job.first_bit);
      differ |= ((code ^ like) & ~mask) != 0;
    }
    store_pairs(args.codes, first, count, codes);
  }
  if (differ && args.differ) device_poke32(args.differ, 1);
}

/* ---- Results ---- */

struct finish_pairs_args {
  static constexpr uint32_t max_threads = PAIRS_BLOCK;
  device_pairs job;
  device_pairs_sorted sorted;
};

DEVICE_INLINE void load_order(const device_pairs_sorted &sorted, const uint64_t *numbers,
                              uint64_t *order)
{
  DEVICE_ASSERT(sorted.index_bits == 32 || sorted.index_bits == 64);
  if (sorted.index_bits == 64) {
    load_pairs(sorted.order, numbers, order);
    return;
  }
  uint32_t narrow[EACH];
  load_pairs(sorted.order, numbers, narrow);
  DEVICE_UNROLL
  for (uint32_t t = 0; t < EACH; t++)
    order[t] = narrow[t];
}

/* Compares each pair with the one before it, and adds what shows whether the order is a permutation
 * to the balance; `numbers` may repeat the last one, `count` - 1. By all threads of the block. */
template <class Code>
DEVICE_INLINE void check_pairs(const device_pairs_sorted &sorted, uint64_t first, uint64_t count,
                               const uint64_t *numbers, const Code *codes, const uint64_t *order)
{
  uint64_t before[EACH], order_before[EACH], sum = 0;
  Code codes_before[EACH];
  bool wrong = false;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < EACH; t++)
    before[t] = numbers[t] - (numbers[t] > 0);
  load_pairs(sorted.codes, before, codes_before);
  load_order(sorted, before, order_before);
  DEVICE_UNROLL
  for (uint32_t t = 0; t < EACH; t++) {
    const Code a = codes_before[t], b = codes[t];
    wrong |= numbers[t] > 0 && (a > b || (a == b && order_before[t] >= order[t]));
    if (pair_number(first, t) < count) sum += hash_index(order[t]) - hash_index(numbers[t]);
  }
  if (wrong) device_poke32(sorted.certificate.disorder, 1);
  if (sorted.certificate.balance) add_to_balance<PAIRS_BLOCK>(sorted.certificate, sum);
}

/* Only keys that their codes do not tell are gathered. */
template <class Key, class Code>
DEVICE_INLINE void write_keys(const device_pairs &job, const device_pairs_sorted &sorted,
                              uint64_t first, const Code *codes, const uint64_t *order)
{
  const Key *const from = (const Key *)job.keys_in;
  const bool all = job.bits == width_of<Key>, whole = all || (sorted.differ && !*sorted.differ);
  const Key rest = all || !whole ? 0 : code_of(job, *from) & ~compared_mask<Key>(job);
  Key keys[EACH];
  DEVICE_UNROLL
  for (uint32_t t = 0; t < EACH; t++) {
    const Key code = (Key)codes[t] << job.first_bit | rest;
    keys[t] = whole && tells_key(job, code) ? key_of_code(job, code) : from[order[t]];
  }
  store_pairs(job.keys_out, first, job.count, keys);
}

template <class Value>
DEVICE_INLINE void write_values_of(const device_pairs &job, uint64_t first, const uint64_t *order)
{
  Value values[EACH];
  if constexpr (std::is_integral_v<Value>) {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < EACH; t++)
      values[t] = (Value)order[t];
  }
  if (job.values_in) load_pairs(job.values_in, order, values);
  store_pairs(job.values_out, first, job.count, values);
}

/* How values are written: not at all, of a type, or of one that the job tells. A thread may hold
 * one: get() has value `i` of an array, or without an array `i`; put() stores it. */
struct no_values {
  using type = void;
  static constexpr bool certifies = false;
  static constexpr uint32_t bytes = 0, aligned = 0;
  struct held {
  };
  DEVICE_MEMBER static held get(const device_pairs &, const void *, uint64_t)
  {
    return {};
  }
  DEVICE_MEMBER static void put(const device_pairs &, void *, uint64_t, held)
  {
  }
  DEVICE_MEMBER static void write(const device_pairs &, uint64_t, const uint64_t *)
  {
  }
};
template <class Value> struct values_of {
  using type = Value;
  using held = Value;
  static constexpr bool certifies = false;
  static constexpr uint32_t bytes = sizeof(Value), aligned = alignof(Value);
  DEVICE_MEMBER static held get(const device_pairs &, const void *from, uint64_t i)
  {
    if constexpr (std::is_integral_v<Value>)
      if (!from) return (Value)i;
    return ((const Value *)from)[i];
  }
  DEVICE_MEMBER static void put(const device_pairs &, void *to, uint64_t i, const held &value)
  {
    ((Value *)to)[i] = value;
  }
  DEVICE_MEMBER static void write(const device_pairs &job, uint64_t first, const uint64_t *order)
  {
    write_values_of<Value>(job, first, order);
  }
};
struct values_by_width {
  using held = uint64_t;
  static constexpr bool certifies = true; /* rank_few keeps hashes for this type only */
  DEVICE_MEMBER static held get(const device_pairs &job, const void *from, uint64_t i)
  {
    if (!from) return i;
    return job.value_width == 32 ? ((const uint32_t *)from)[i] : ((const uint64_t *)from)[i];
  }
  DEVICE_MEMBER static void put(const device_pairs &job, void *to, uint64_t i, held value)
  {
    if (job.value_width == 32)
      ((uint32_t *)to)[i] = (uint32_t)value;
    else
      ((uint64_t *)to)[i] = value;
  }
  /* The values of `from` with those numbers. */
  DEVICE_MEMBER static void load(const device_pairs &job, const void *from, const uint64_t *numbers,
                                 held *values)
  {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < EACH && job.value_width == 32; t++)
      values[t] = ((const uint32_t *)from)[numbers[t]];
    if (job.value_width == 64) load_pairs(from, numbers, values);
  }
  DEVICE_MEMBER static void write(const device_pairs &job, uint64_t first, const uint64_t *order)
  {
    if (!job.values_out) return;
    if (job.value_width == 32)
      write_values_of<uint32_t>(job, first, order);
    else
      write_values_of<uint64_t>(job, first, order);
  }
};

/* Reads sorted codes and the order, keys that their codes do not tell, and values. Writes keys and
 * values in their places; looks whether the codes are in order, and the order is a permutation. A
 * warp's writes are neighbours. Its reads of values are scattered: each takes a sector of 32 bytes,
 * and these take most of the time. A thread starts four reads before it waits for one. */
template <class Key, class Code, class Values>
__global__ void __launch_bounds__(PAIRS_BLOCK)
    finish_pairs(const __grid_constant__ finish_pairs_args args)
{
  const uint64_t first = (uint64_t)blockIdx.x * (PAIRS_BLOCK * EACH);
  uint64_t numbers[EACH], order[EACH];
  Code codes[EACH];
  device_await_before();
  number_pairs(first, args.job.count, numbers);
  load_pairs(args.sorted.codes, numbers, codes);
  load_order(args.sorted, numbers, order);
  if (args.sorted.certificate.disorder)
    check_pairs(args.sorted, first, args.job.count, numbers, codes, order);
  if (args.job.keys_out) write_keys<Key>(args.job, args.sorted, first, codes, order);
  Values::write(args.job, first, order);
}

/* ---- Launches ---- */

/* See device_pairs_encode. */
template <class Key, class Code>
static device_status start_encode(const device_pairs *job, void *codes, uint32_t *differ)
{
  const uint64_t grid = plan_min(plan_blocks(job->count, PAIRS_BLOCK * EACH), PAIRS_MOST_BLOCKS);
  const device_status status = differ ? device_clear(differ, sizeof *differ, job->stream) : 0;
  if (status) return status;
  const encode_pairs_args args = {*job, codes, differ};
  return device_launch(encode_pairs<Key, Code>, grid, PAIRS_BLOCK, 0, job->stream, args);
}

/* See device_pairs_finish. */
template <class Key, class Code, class Values>
static device_status start_finish(const device_pairs *job, const device_pairs_sorted *sorted)
{
  const uint64_t grid = plan_blocks(job->count, PAIRS_BLOCK * EACH);
  const finish_pairs_args args = {*job, *sorted};
  return device_launch(finish_pairs<Key, Code, Values>, grid, PAIRS_BLOCK, 0, job->stream, args);
}

/* See device_pairs_reads_keys. */
static inline bool reads_keys(const device_pairs *job)
{
  return job->bits < job->key_width ||
         (job->kind == RECSORT_KEY_FLOAT && !(job->flags & RECSORT_KEY_NAN_TOTAL));
}

/* True if the keys are their own codes, and a sort can read them where they are. */
static inline bool are_codes(const device_pairs *job)
{
  return (uintptr_t)job->keys_in % DEVICE_INPUT_ALIGNMENT == 0 &&
         job->kind == RECSORT_KEY_UNSIGNED && !(job->flags & RECSORT_KEY_DESCENDING) &&
         job->bits == job->key_width;
}

} // namespace pairs

#endif
