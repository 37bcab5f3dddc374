/* order.h - the stable order of keys that fit in the caches. */
#ifndef RECSORT_CPU_ORDER_H
#define RECSORT_CPU_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Finds the stable order of `count` keys, at most 2^32, of `width` bits: 32 (uint32_t) or 64
 * (uint64_t). `a` and `b` have room for `count` indices. Returns the one that holds the order. */
const uint32_t *keys_order(const void *keys, unsigned width, size_t count, uint32_t *a,
                           uint32_t *b);

#endif
