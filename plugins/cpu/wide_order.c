/* wide_order.c - sorts keys by 64 bits at a time, the most significant ones first. The first 64
 * that differ at all most often tell apart all keys that are not equal. Where they do not, each tie
 * is sorted by the next ones.
 */
#include "cpu/wide_order.h"

#include <string.h>

#include "base/assert.h"
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

/* Marks ties of an order, whose place `i` has word column[places[i]]. False: words descend. */
static bool mark_ties(const uint64_t *column, const uint32_t *places, size_t count, uint32_t *order,
                      bool *ties)
{
  RS_ASSERT(count > 0);
  uint64_t last = column[places[0]];
  bool any = false, wrong = false;
  for (size_t i = 1; i < count; i++) {
    const uint64_t word = column[places[i]];
    wrong |= word < last;
    if (word == last) {
      order[i] |= tied;
      any = true;
    }
    last = word;
  }
  *ties |= any;
  return !wrong;
}

/* Sorts a tie by 64 bits below `high`. Its first index has no mark. */
static bool order_tie(const wide_keys *wide, unsigned high, size_t count, uint64_t *column,
                      uint32_t *order, uint32_t *other, uint32_t *spare, bool *ties)
{
  RS_ASSERT(count > 1 && high > 0);
  for (size_t i = 0; i < count; i++) {
    order[i] &= ~tied;
    column[i] = wide_bits(wide->keys + order[i] * wide->words, high);
  }
  if (rs_keys_order(column, 64, count, other, spare) == KEYS_WRONG) return false;
  for (size_t i = 0; i < count; i++)
    spare[i] = order[other[i]];
  memcpy(order, spare, count * sizeof *order);
  return mark_ties(column, other, count, order, ties);
}

/* Sorts all ties by 64 bits below `high`. */
static bool order_ties(const wide_keys *wide, unsigned high, size_t count, uint64_t *column,
                       uint32_t *order, uint32_t *other, uint32_t *spare, bool *ties)
{
  for (size_t begin = 0, end; begin < count; begin = end) {
    for (end = begin + 1; end < count && order[end] & tied;)
      end++;
    if (end - begin > 1 &&
        !order_tie(wide, high, end - begin, column, order + begin, other, spare, ties))
      return false;
  }
  return true;
}

keys_found rs_wide_order(const wide_keys *wide, size_t count, uint64_t *column, uint32_t *order,
                         uint32_t *other, uint32_t *spare)
{
  unsigned high = varying_below(wide, count);
  bool ties = false;
  if (count == 0) return KEYS_IN_ORDER;
  RS_ASSERT(high > 0 && high <= 64 * wide->words);
  for (size_t i = 0; i < count; i++)
    column[i] = wide_bits(wide->keys + i * wide->words, high);
  const keys_found found = rs_keys_order(column, 64, count, order, other);
  if (found == KEYS_WRONG || !mark_ties(column, order, count, order, &ties)) return KEYS_WRONG;
  if (!ties) return found;
  for (; ties && high > 64; high -= 64) {
    ties = false;
    if (!order_ties(wide, high - 64, count, column, order, other, spare, &ties)) return KEYS_WRONG;
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
