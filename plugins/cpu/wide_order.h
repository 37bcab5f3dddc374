/* wide_order.h - the stable order of keys of several words. */
#ifndef RECSORT_CPU_WIDE_ORDER_H
#define RECSORT_CPU_WIDE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "cpu/order.h"

/* Each key has `words` of 64 bits, two or more, least significant first. All but the lowest `bits`
 * are 0. */
typedef struct wide_keys {
  const uint64_t *keys;
  size_t words;
  unsigned bits; /* more than 64 * (words - 1), at most 64 * words */
} wide_keys;

/* The 64 bits of a key below bit `high`, which is at least 1. */
static inline uint64_t wide_bits(const uint64_t *key, unsigned high)
{
  RS_ASSERT(high > 0);
  const size_t top = (high - 1) / 64;
  const unsigned bits = (high - 1) % 64 + 1;
  if (bits == 64) return key[top];
  return key[top] << (64 - bits) | (top > 0 ? key[top - 1] >> bits : 0);
}

static inline bool wide_is_less(const uint64_t *a, const uint64_t *b, size_t words)
{
  for (size_t w = words; w-- > 0;)
    if (a[w] != b[w]) return a[w] < b[w];
  return false;
}

/* Like rs_keys_order(), for as many keys. `column`, `other` and `spare` are scratch for `count`
 * elements. */
keys_found rs_wide_order(const wide_keys *wide, size_t count, uint64_t *column, uint32_t *order,
                         uint32_t *other, uint32_t *spare);

/* Like rs_keys_order_nearly(), for as many keys. */
keys_found rs_wide_order_nearly(const wide_keys *wide, size_t count, uint64_t *column,
                                uint32_t *order, uint32_t *other);

#endif
