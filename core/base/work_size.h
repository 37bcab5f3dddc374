/* work_size.h - the sum of what a job needs. */
#ifndef RS_BASE_WORK_SIZE_H
#define RS_BASE_WORK_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"

/* More than memory has. It stays so, whatever is added: one look at the end is enough. */
#define WORK_TOO_MUCH (UINT64_MAX - 63)

static inline bool work_fits(uint64_t total)
{
  return total != WORK_TOO_MUCH;
}

/* Adds a * b, rounded up to 64, to *total. */
static inline void work_add(uint64_t *total, uint64_t a, uint64_t b)
{
  uint64_t bytes;
  RS_ASSERT(*total % 64 == 0);
  if (__builtin_mul_overflow(a, b, &bytes) || __builtin_add_overflow(bytes, 63, &bytes) ||
      __builtin_add_overflow(*total, bytes & ~UINT64_C(63), total) || *total > SIZE_MAX / 2)
    *total = WORK_TOO_MUCH;
}

/* Likewise for a part of the job's memory, whose place is then *at. */
static inline void work_place(uint64_t *total, uint64_t *at, uint64_t a, uint64_t b)
{
  *at = *total;
  work_add(total, a, b);
}

#endif
