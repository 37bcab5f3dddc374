/* wide_order.h - the stable order of keys of several words. */
#ifndef RECSORT_CPU_WIDE_ORDER_H
#define RECSORT_CPU_WIDE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu/order.h"

/* Each key has `words` of 64 bits, two or more, least significant first. All but the lowest `bits`
 * are 0. */
typedef struct wide_keys {
  const uint64_t *keys;
  size_t words;
  unsigned bits; /* more than 64 * (words - 1), at most 64 * words */
} wide_keys;

/* The upper 64 of a key's bits. */
static inline uint64_t wide_prefix(const wide_keys *wide, size_t i)
{
  const uint64_t *const top = wide->keys + (i + 1) * wide->words - 1;
  const unsigned bits = wide->bits - 64 * (unsigned)(wide->words - 1);
  return bits < 64 ? top[0] << (64 - bits) | top[-1] >> bits : top[0];
}

/* Like rs_keys_order(), or if `nearly`, like rs_keys_order_nearly(), each for as many keys.
 * `column`, `other` and `spare` are scratch for `count` elements. */
keys_found rs_wide_order(const wide_keys *wide, bool nearly, size_t count, uint64_t *column,
                         uint32_t *order, uint32_t *other, uint32_t *spare);

#endif
