/* order.h - the stable order of keys that fit in the caches. */
#ifndef RECSORT_CPU_ORDER_H
#define RECSORT_CPU_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KEYS_ORDER_BITS = 21 }; /* of an index. A digit and an index make a word of 32 bits */

/* Finds the stable order of `count` keys, at most 2^KEYS_ORDER_BITS, of `width` bits: 32 (uint32_t)
 * or 64 (uint64_t). `order` and `other` have room for `count` indices; `other` is scratch. True if
 * the keys are in order already. */
bool keys_order(const void *keys, unsigned width, size_t count, uint32_t *order, uint32_t *other);

/* The same without asking which vectors this processor has. */
bool keys_order_plainly(const void *keys, unsigned width, size_t count, uint32_t *order,
                        uint32_t *other);

#endif
