/* bits.h - how many bits numbers take. */
#ifndef RS_BASE_BITS_H
#define RS_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"

#ifndef RECSORT_HD
#ifdef __CUDACC__
#define RECSORT_HD __host__ __device__
#else
#define RECSORT_HD
#endif
#endif

static inline unsigned bits_of(uint64_t value)
{
  return value ? 64u - (unsigned)__builtin_clzll(value) : 0;
}

/* The bits that the indices of `count` elements can have other than 0, but at least 1. */
static inline unsigned index_bits_for(uint64_t count)
{
  return count > 1 ? bits_of(count - 1) : 1;
}

/* True if a key and an index, with so many bits that can be other than 0, fit in an integer of
 * `bits` bits, the index in the low ones: then one array moves instead of two. */
RECSORT_HD static inline bool packs(unsigned key_bits, unsigned index_bits, unsigned bits)
{
  RS_ASSERT(index_bits <= 64);
  return key_bits + index_bits <= bits;
}

#endif
