/* wide_order.c - sorts keys by 64 bits at a time, the most significant ones first. The first 64
 * that differ at all most often tell apart all keys that are not equal. Where they do not, each tie
 * is sorted by the next ones.
 */
#include "cpu/wide_order.h"

#include <string.h>

#include "base/bits.h"

/* The bit from which on up all keys are the same; at least 1. */
static unsigned varying_below(const wide_keys *wide, size_t count)
{
  for (size_t w = wide->words; w-- > 0;) {
    uint64_t differing = 0;
    for (size_t i = 1; i < count; i++)
      differing |= wide->keys[i * wide->words + w] ^ wide->keys[w];
    if (differing) return 64 * (unsigned)w + bits_of(differing);
  }
  return 1;
}

/* An index in an order, with a mark in its highest bit if it is tied with the one before it. */
static const uint32_t tied = UINT32_C(1) << 31;

_Static_assert(KEYS_ORDER_BITS < 31, "an index leaves the mark free");

/* Sorts the tie `order`, the first of which has no mark, by 64 bits below `high`; takes the marks
 * away where these differ. */
static bool order_tie(const wide_keys *wide, unsigned high, size_t count, uint64_t *column,
                      uint32_t *order, uint32_t *other, uint32_t *spare)
{
  for (size_t i = 0; i < count; i++) {
    order[i] &= ~tied;
    column[i] = wide_bits(wide->keys + order[i] * wide->words, high);
  }
  if (rs_keys_order(column, 64, count, other, spare) == KEYS_WRONG) return false;
  for (size_t i = 0; i < count; i++)
    spare[i] = order[other[i]];
  for (size_t i = 0; i < count; i++) {
    const uint64_t last = column[other[i ? i - 1 : 0]], word = column[other[i]];
    if (word < last) return false;
    order[i] = i > 0 && word == last ? spare[i] | tied : spare[i];
  }
  return true;
}

keys_found rs_wide_order(const wide_keys *wide, size_t count, uint64_t *column, uint32_t *order,
                         uint32_t *other, uint32_t *spare)
{
  unsigned high = varying_below(wide, count);
  bool ties = true;
  for (size_t i = 0; i < count; i++)
    order[i] = i ? (uint32_t)i | tied : 0;
  for (; ties; high = high > 64 ? high - 64 : 0) {
    ties = false;
    for (size_t begin = 0, end; begin < count && high > 0; begin = end) {
      for (end = begin + 1; end < count && order[end] & tied;)
        end++;
      if (end - begin == 1) continue;
      ties = true;
      if (!order_tie(wide, high, end - begin, column, order + begin, other, spare))
        return KEYS_WRONG;
    }
  }
  bool ascend = true;
  for (size_t i = 0; i < count; i++) {
    order[i] &= ~tied;
    ascend &= order[i] == i;
  }
  return ascend ? KEYS_IN_ORDER : KEYS_ORDERED;
}

keys_found rs_wide_order_nearly(const wide_keys *wide, size_t count, uint64_t *column,
                                uint32_t *order, uint32_t *other)
{
  for (size_t i = 0; i < count; i++)
    column[i] = wide_bits(wide->keys + i * wide->words, wide->bits);
  const keys_found found = rs_keys_order_nearly(column, 64, count, order, other);
  if (found != KEYS_IN_ORDER && found != KEYS_ORDERED) return found;
  for (size_t i = 1; i < count; i++) {
    const uint64_t last = column[order[i - 1]], word = column[order[i]];
    if (word < last) return KEYS_WRONG;
    if (word == last && wide_is_less(wide->keys + order[i] * wide->words,
                                     wide->keys + order[i - 1] * wide->words, wide->words))
      return KEYS_UNORDERED;
  }
  return found;
}
