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
template <class Value> constexpr bool has_value = !std::is_same_v<Value, no_value>;
template <class Value> constexpr uint32_t value_bytes = has_value<Value> ? sizeof(Value) : 0;
template <class Key, class Value>
constexpr uint32_t element_bytes = sizeof(Key) + value_bytes<Value>;

/* Elements, in an array of keys and one of values. `Key` is the unsigned integer of a key's size.
 */
template <class Key, class Value> struct element_array {
  Key *keys;
  Value *values;
};

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

/* The order of keys: what pairs::code_of() does, with as much as possible computed once. */
template <class Key> struct key_order {
  enum form { RAW, INTEGER, FLOAT, ANY };
  device_pairs job;
  form how;
  Key flip;     /* for INTEGER and FLOAT, the bits to invert; of negative floats, all others */
  Key nan_code; /* for FLOAT */

  DEVICE_MEMBER uint32_t count() const
  {
    return (uint32_t)job.count;
  }

  DEVICE_MEMBER Key code(Key key) const
  {
    if (how == RAW) return key;
    if (how == INTEGER) return key ^ flip;
    if constexpr (sizeof(Key) <= sizeof(uint64_t))
      if (how == FLOAT) {
        constexpr Key sign = pairs::sign_of<Key>;
        const Key magnitude = key & ~sign;
        if (magnitude > (Key)pairs::infinity_of<Key>) return nan_code;
        return magnitude && key & sign ? (Key)(~key ^ flip ^ sign) : magnitude ^ flip;
      }
    key = pairs::code_of(job, key);
    return (Key)((key & pairs::compared_mask<Key>(job)) >> job.first_bit);
  }
};

template <class Key> static key_order<Key> key_order_of(const device_pairs &job)
{
  key_order<Key> order = {job, key_order<Key>::ANY, 0, 0};
  const bool descending = job.flags & RECSORT_KEY_DESCENDING;
  const Key all = (Key) ~(Key)0, sign = (Key)((Key)1 << (8 * sizeof(Key) - 1));
  if (job.bits < job.key_width || job.flags & RECSORT_KEY_NAN_TOTAL) return order;
  order.nan_code = job.flags & RECSORT_KEY_NAN_FIRST ? 0 : all;
  order.flip = (job.kind == RECSORT_KEY_UNSIGNED ? (Key)0 : sign) ^ (descending ? all : (Key)0);
  order.how = job.kind == RECSORT_KEY_FLOAT ? key_order<Key>::FLOAT
              : order.flip                  ? key_order<Key>::INTEGER
                                            : key_order<Key>::RAW;
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
};

} // namespace carry

#endif
