/* work_size.h - the sum of what a job needs. */
#ifndef RS_BASE_WORK_SIZE_H
#define RS_BASE_WORK_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"

/* Adds a * b, rounded up to 64, to *total. False on overflow. */
static inline bool work_add(uint64_t *total, uint64_t a, uint64_t b)
{
  uint64_t bytes;
  RS_ASSERT(*total % 64 == 0);
  return !__builtin_mul_overflow(a, b, &bytes) && !__builtin_add_overflow(bytes, 63, &bytes) &&
         !__builtin_add_overflow(*total, bytes & ~UINT64_C(63), total) && *total <= SIZE_MAX / 2;
}

/* Likewise for a part of the job's memory, whose place is then *at. */
static inline bool work_place(uint64_t *total, uint64_t *at, uint64_t a, uint64_t b)
{
  *at = *total;
  return work_add(total, a, b);
}

#endif
