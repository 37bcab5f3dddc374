/* work_size.h - the sum of what a job needs. */
#ifndef RECSORT_COMMON_WORK_SIZE_H
#define RECSORT_COMMON_WORK_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* Adds a * b, rounded up to 64, to *total. False on overflow. */
static inline bool work_add(uint64_t *total, uint64_t a, uint64_t b)
{
  uint64_t bytes;
  return !__builtin_mul_overflow(a, b, &bytes) && !__builtin_add_overflow(bytes, 63, &bytes) &&
         !__builtin_add_overflow(*total, bytes & ~UINT64_C(63), total) && *total <= SIZE_MAX / 2;
}

#endif
