/* checked.h - arithmetic on sizes that reports overflow. */
#ifndef RS_BASE_CHECKED_H
#define RS_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each returns false, and leaves `result` alone, if the result does not fit. */
static inline bool rs_add(size_t a, size_t b, size_t *result)
{
  size_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return false;
  *result = sum;
  return true;
}

static inline bool rs_multiply(size_t a, size_t b, size_t *result)
{
  size_t product;
  if (__builtin_mul_overflow(a, b, &product)) return false;
  *result = product;
  return true;
}

/* Rounds up to a multiple of `unit`, which is not 0. */
static inline bool rs_round_up(size_t a, size_t unit, size_t *result)
{
  size_t sum;
  if (!rs_add(a, unit - 1, &sum)) return false;
  *result = sum - sum % unit;
  return true;
}

/* True if two arrays share a byte. An array of no bytes shares none. */
static inline bool rs_overlap(const void *a, size_t a_size, const void *b, size_t b_size)
{
  const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
  return a_size && b_size && (x < y ? y - x < a_size : x - y < b_size);
}

#endif
