/* elements.cuh - the elements of a carry sort: a key as the caller has it, and its value. The code
 * of a key, which is compared, is computed wherever it is needed, so each key keeps its own bits.
 */
#ifndef RECSORT_CUDA_CARRY_ELEMENTS_CUH
#define RECSORT_CUDA_CARRY_ELEMENTS_CUH

#include <type_traits>

#include "cuda/pairs/pairs.cuh"
#include "cuda/sort/carry/plan.h"
#include "cuda/sort/sample/block/shares.cuh"

namespace carry
{

/* The type of value of a sort of keys alone. */
struct no_value {
};
/* Elements of the first level that are records: they move, with their keys, and have no values. */
struct moved_record {
};
/* The value of a record on the second level: where the first one has left it. */
struct record_place {
  uint32_t number;
};
template <class Value> constexpr bool is_moved = std::is_same_v<Value, moved_record>;
template <class Value>
constexpr bool has_value = !std::is_same_v<Value, no_value> && !is_moved<Value>;
template <class Value> constexpr uint32_t value_bytes = has_value<Value> ? sizeof(Value) : 0;
template <class Key, class Value>
constexpr uint32_t element_bytes = sizeof(Key) + value_bytes<Value>;

/* Elements, in an array of keys and one of values. `Key` is the unsigned integer of a key's size.
 */
template <class Key, class Value> struct element_array {
  Key *keys;
  Value *values;
};

/* The address of word `i`; word i + 1 begins `stride` bytes behind word i. */
template <class Key> DEVICE_INLINE const Key *word_at(const Key *words, uint64_t i, uint64_t stride)
{
  DEVICE_ASSERT((uintptr_t)words % alignof(Key) == 0);
  return (const Key *)(const void *)((const char *)words + i * stride);
}

template <class Key, class Value>
RECSORT_HD static inline element_array<Key, Value>
elements_from(const element_array<Key, Value> &all, uint64_t first)
{
  element_array<Key, Value> part = {all.keys + first, all.values};
  if constexpr (has_value<Value>) part.values += first;
  return part;
}

/* Arrays of `count` elements in shared memory; *end is what is behind them. */
template <class Key, class Value>
DEVICE_INLINE element_array<Key, Value> elements_at(void *memory, uint32_t count, void **end)
{
  element_array<Key, Value> all = {(Key *)memory, NULL};
  *end = all.keys + count;
  if constexpr (has_value<Value>) {
    all.values = (Value *)*end;
    *end = (char *)all.values + (count * sizeof(Value) + 15) / 16 * 16;
  }
  return all;
}

template <class Key, class Value>
DEVICE_INLINE void copy_element(const element_array<Key, Value> &from, uint64_t at,
                                const element_array<Key, Value> &to, uint64_t place)
{
  to.keys[place] = from.keys[at];
  if constexpr (has_value<Value>) to.values[place] = from.values[at];
}

/* The same to shared memory; see device_copy_in(). */
template <class Key, class Value>
DEVICE_INLINE void copy_element_in(const element_array<Key, Value> &from, uint64_t at,
                                   const element_array<Key, Value> &to, uint32_t place)
{
  device_copy_in(&to.keys[place], &from.keys[at]);
  if constexpr (has_value<Value>) device_copy_in(&to.values[place], &from.values[at]);
}

struct DEVICE_ALIGNED(16) four_words {
  uint32_t of[4];
};

/* How far numbers up to `width` are to be shifted to have so many bits. */
template <class Code> DEVICE_INLINE uint32_t shift_to(Code width, uint32_t bits)
{
  const uint32_t all = width ? 8 * sizeof(Code) - leading_zeros(width) : 0;
  return all > bits ? all - bits : 0;
}

/* The factor that makes numbers below `parts` of numbers up to `most`: the upper half of the
 * product. */
DEVICE_INLINE uint32_t part_factor(uint32_t parts, uint32_t most)
{
  const uint64_t factor = ((uint64_t)parts << 32) / ((uint64_t)most + 1);
  return factor > UINT32_MAX ? UINT32_MAX : (uint32_t)factor;
}

DEVICE_INLINE uint32_t part_of_range(uint32_t number, uint32_t factor)
{
  return (uint32_t)(device_product(number, factor) >> 32);
}

/* Divides numbers up to `most` in parts in this way; if there are no more numbers than parts, each
 * has its own: (number + 1) (2^32 - 1) is a little less than (number + 1) 2^32. */
struct range_parts {
  uint32_t factor, more; /* `more`: 0, or the factor */

  DEVICE_MEMBER uint32_t operator()(uint32_t number) const
  {
    return (uint32_t)((device_product(number, factor) + more) >> 32);
  }
};

DEVICE_INLINE range_parts range_parts_of(uint32_t parts, uint32_t most)
{
  const uint32_t factor = part_factor(parts, most);
  return {factor, factor == UINT32_MAX ? factor : 0};
}

/* The code of an integer; of the bits that are compared, where they are in the key. */
template <class Key> struct integer_order {
  Key flip; /* bits to invert */
  Key mask;

  DEVICE_MEMBER Key operator()(Key key) const
  {
    return (key ^ flip) & mask;
  }
};

/* The same of a float; see key_float_code(). A float of 32 bits in a key of 64 has its code at the
 * top. */
template <class Key> struct float_order {
  Key flip; /* of positive numbers; of negative ones, all others are inverted */
  Key mask;
  Key limit;     /* greater magnitudes are NaNs, whose code is ... */
  Key nan_code;  /* ... this one */
  Key magnitude; /* the bits of a magnitude */
  Key negative;  /* 1: -0 is less than 0 */
  uint32_t up;   /* from the top of the float to that of the key */

  DEVICE_MEMBER Key operator()(Key key) const
  {
    constexpr Key sign = (Key)((Key)1 << (8 * sizeof(Key) - 1));
    if constexpr (sizeof(Key) == sizeof(uint64_t)) key <<= up;
    const Key size = key & magnitude;
    if (size > limit) return nan_code;
    const Key inverted = (size | negative) && key & sign ? (Key) ~(Key)0 : 0;
    return (size ^ flip ^ inverted) & mask;
  }
};

/* How many elements there are: as many as device memory tells, if that is not NULL, but at most
 * `most`. */
struct element_count {
  uint32_t most;
  const uint64_t *told;

  DEVICE_MEMBER uint32_t operator()() const
  {
    return told ? (uint32_t)plan_min(*told, most) : most;
  }
};

/* The order of so many keys. */
template <class Key> struct key_order {
  element_count count;
  bool floats;
  float_order<Key> code_of; /* of integers the first two members */

  /* work(order), of the type that keys have. */
  template <class Work> DEVICE_MEMBER void with(const Work &work) const
  {
    if constexpr (sizeof(Key) <= sizeof(uint64_t))
      if (floats) {
        work(code_of);
        return;
      }
    work(integer_order<Key>{code_of.flip, code_of.mask});
  }

  DEVICE_MEMBER Key code(Key key) const
  {
    if constexpr (sizeof(Key) <= sizeof(uint64_t))
      if (floats) return code_of(key);
    return (key ^ code_of.flip) & code_of.mask;
  }
};

template <class Key> static key_order<Key> key_order_of(const device_pairs &job)
{
  constexpr uint32_t all_bits = 8 * sizeof(Key);
  const bool descending = job.flags & RECSORT_KEY_DESCENDING,
             floats = job.kind == RECSORT_KEY_FLOAT;
  const bool total = job.flags & RECSORT_KEY_NAN_TOTAL;
  const uint32_t width = job.number_width ? job.number_width : all_bits;
  RS_ASSERT(width + job.number_bit <= all_bits);
  const uint32_t above = all_bits - width - job.number_bit;          /* bits above the number, */
  const uint32_t below = floats ? all_bits - width : job.number_bit; /* and below its code */
  const Key all = (Key) ~(Key)0, number = (Key)(all >> (all_bits - width) << below);
  const Key sign = (Key)((Key)1 << (below + width - 1));
  key_order<Key> order = {{(uint32_t)job.count, job.device_count}, floats, {}};
  order.code_of.flip =
      (job.kind == RECSORT_KEY_UNSIGNED ? (Key)0 : sign) ^ (descending ? all : (Key)0);
  order.code_of.mask = pairs::compared_mask<Key>(job) << below;
  order.code_of.magnitude = (Key)(number ^ sign);
  order.code_of.limit =
      total ? all
            : (Key)((Key)(width == 32 ? pairs::infinity_of<uint32_t> : pairs::infinity_of<uint64_t>)
                    << below);
  order.code_of.nan_code = (job.flags & RECSORT_KEY_NAN_FIRST ? 0 : all) & order.code_of.mask;
  order.code_of.negative = total;
  order.code_of.up = floats ? above : 0;
  return order;
}

/* The order of words of records. */
template <class Key> static key_order<Key> key_order_of(const records_word &word, uint64_t count)
{
  const bool special = word.magnitude != 0;
  key_order<Key> order = {{(uint32_t)count, NULL}, word.negative != 0, {}};
  order.code_of.flip = (Key)word.if_clear;
  order.code_of.mask = (Key) ~(Key)0;
  order.code_of.limit = special ? (Key)word.infinity : order.code_of.mask;
  order.code_of.nan_code = (Key)word.nan_code;
  order.code_of.magnitude = order.code_of.mask >> 1;
  order.code_of.negative = !special;
  return order;
}

/* The codes of keys in shared memory. By value: its address would cost a frame in local memory. */
template <class Key> struct key_codes {
  const key_order<Key> *order;
  const Key *keys;

  DEVICE_MEMBER Key operator()(uint32_t i) const
  {
    return order->code(keys[i]);
  }

  /* work(codes), of the type that keys have. */
  template <class Work> DEVICE_MEMBER void with(const Work &work) const
  {
    order->with([&](auto code_of) { work([=](uint32_t i) { return code_of(keys[i]); }); });
  }
};

} // namespace carry

#endif
