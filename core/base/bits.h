/* bits.h - how many bits numbers take. */
#ifndef RS_BASE_BITS_H
#define RS_BASE_BITS_H

#include <stdint.h>

static inline unsigned bits_of(uint64_t value)
{
  return value ? 64u - (unsigned)__builtin_clzll(value) : 0;
}

/* The bits that the indices of `count` elements can have other than 0, but at least 1. */
static inline unsigned index_bits_for(uint64_t count)
{
  return count > 1 ? bits_of(count - 1) : 1;
}

#endif
