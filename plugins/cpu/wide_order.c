/* wide_order.c - sorts keys by their upper 64 bits. These most often tell apart all keys that are
 * not equal. If keys with the same upper bits are out of order, sorts by one word after the other,
 * the least significant one first.
 */
#include "cpu/wide_order.h"

#include <string.h>

/* True if key `a` is less than key `b`. */
static bool is_less(const wide_keys *wide, size_t a, size_t b)
{
  const uint64_t *const x = wide->keys + a * wide->words, *const y = wide->keys + b * wide->words;
  for (size_t w = wide->words; w-- > 0;)
    if (x[w] != y[w]) return x[w] < y[w];
  return false;
}

/* What an order by prefixes is for the keys: UNORDERED if a key is less than the one before it,
 * which has the same prefix. */
static keys_found check_keys(const wide_keys *wide, size_t count, const uint64_t *prefixes,
                             const uint32_t *order, keys_found found)
{
  for (size_t i = 1; i < count; i++) {
    const uint64_t last = prefixes[order[i - 1]], prefix = prefixes[order[i]];
    if (prefix < last) return KEYS_WRONG;
    if (prefix == last && is_less(wide, order[i], order[i - 1])) found = KEYS_UNORDERED;
  }
  return found;
}

static keys_found order_by_each_word(const wide_keys *wide, size_t count, uint64_t *column,
                                     uint32_t *order, uint32_t *other, uint32_t *spare)
{
  for (size_t i = 0; i < count; i++)
    order[i] = (uint32_t)i;
  for (size_t w = 0; w < wide->words; w++) {
    for (size_t i = 0; i < count; i++)
      column[i] = wide->keys[order[i] * wide->words + w];
    if (rs_keys_order(column, 64, count, other, spare) == KEYS_WRONG) return KEYS_WRONG;
    for (size_t i = 0; i < count; i++)
      spare[i] = order[other[i]];
    memcpy(order, spare, count * sizeof *order);
  }
  return KEYS_ORDERED;
}

keys_found rs_wide_order(const wide_keys *wide, bool nearly, size_t count, uint64_t *column,
                         uint32_t *order, uint32_t *other, uint32_t *spare)
{
  for (size_t i = 0; i < count; i++)
    column[i] = wide_prefix(wide, i);
  const keys_found by_prefix =
      (nearly ? rs_keys_order_nearly : rs_keys_order)(column, 64, count, order, other);
  if (by_prefix == KEYS_WRONG || by_prefix == KEYS_UNORDERED) return by_prefix;
  const keys_found found = check_keys(wide, count, column, order, by_prefix);
  if (found != KEYS_UNORDERED || nearly) return found;
  return order_by_each_word(wide, count, column, order, other, spare);
}
