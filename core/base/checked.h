/* checked.h - arithmetic on sizes that may not fit.
 *
 * A size that does not fit is SIZE_MAX, which no memory has. What is computed from it is SIZE_MAX
 * too, so one look at the end is enough. */
#ifndef RS_BASE_CHECKED_H
#define RS_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"

static inline size_t rs_sum(size_t a, size_t b)
{
  return a < SIZE_MAX - b ? a + b : SIZE_MAX;
}

static inline size_t rs_product(size_t a, size_t b)
{
  size_t product;
  return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

/* Rounds up to a multiple of `unit`, which is not 0. */
static inline size_t rs_round_up(size_t a, size_t unit)
{
  RS_ASSERT(unit > 0);
  const size_t sum = rs_sum(a, unit - 1);
  return sum < SIZE_MAX ? sum - sum % unit : SIZE_MAX;
}

/* True if two arrays share a byte. An array of no bytes shares none. */
static inline bool rs_overlap(const void *a, size_t a_size, const void *b, size_t b_size)
{
  const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
  return a_size && b_size && (x < y ? y - x < a_size : x - y < b_size);
}

#endif
