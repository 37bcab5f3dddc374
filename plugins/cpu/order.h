/* order.h - the stable order of keys that fit in the caches. */
#ifndef RECSORT_CPU_ORDER_H
#define RECSORT_CPU_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KEYS_ORDER_BITS = 24 }; /* of an index. A digit and an index make a word of 32 bits */

typedef enum keys_found {
  KEYS_IN_ORDER, /* already */
  KEYS_ORDERED,
  KEYS_UNORDERED, /* rs_keys_order_nearly() only */
  KEYS_WRONG      /* a check failed; the order must not be used */
} keys_found;

/* Finds the stable order of `count` keys, at most 2^KEYS_ORDER_BITS, of `width` bits: 32 (uint32_t)
 * or 64 (uint64_t). `order` and `other` have room for `count` indices; `other` is scratch. What is
 * found has been checked: it is a permutation in which the keys ascend, and equal ones by index. */
keys_found rs_keys_order(const void *keys, unsigned width, size_t count, uint32_t *order,
                         uint32_t *other);

/* The same for up to 2^32 - 1 keys, of which few are out of place: KEYS_UNORDERED if these are more
 * than can be taken out and merged back. Reads and writes by streams. */
keys_found rs_keys_order_nearly(const void *keys, unsigned width, size_t count, uint32_t *order,
                                uint32_t *other);

/* The same as rs_keys_order() without asking which vectors this processor has. */
keys_found rs_keys_order_plainly(const void *keys, unsigned width, size_t count, uint32_t *order,
                                 uint32_t *other);

enum {
  INDEX_STRETCH = 16
}; /* where few keys are out of place, so many indices are looked at at once */

/* True if INDEX_STRETCH indices follow one another. */
static inline bool is_index_stretch(const uint32_t *order)
{
  uint32_t differ = 0;
  for (uint32_t j = 0; j < INDEX_STRETCH; j++)
    differ |= (order[j] - order[0]) ^ j;
  return differ == 0;
}

/* The checks, for tests. The first is true if each index below `count` comes once, and the keys
 * ascend, equal ones by index. The second sorts by insertion what is nearly in order, and is false
 * if it is not a permutation, or takes too long. */
bool rs_order_ascends(const void *keys, unsigned width, const uint32_t *order, size_t count);
bool rs_order_settles(const void *keys, unsigned width, size_t count, uint32_t *order);

#endif
