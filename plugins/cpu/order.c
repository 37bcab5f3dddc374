/* order.c - the stable order of keys that fit in the caches: a radix sort of their indices from the
 * least significant digit up (H. Hollerith's sorter; Knuth, vol. 3, sect. 5.2.5).
 *
 * Keys of a bucket have few bits that vary. If they are still more than tell so few keys apart, only
 * the upper ones are sorted, and an insertion sort repairs what they left. Where it would have much
 * to do, the sort starts again with all bits.
 *
 * Nothing here branches on random data but the insertion sort.
 */
#include "cpu/order.h"

#include <stdbool.h>
#include <string.h>

enum {
  DIGIT_BITS = 11,           /* counts of a digit: 8 KiB, which fits a first-level cache */
  WINDOW = 2 * DIGIT_BITS,   /* bits of two passes */
  ENOUGH = 8,                /* more bits than count the keys: 1 in 256 is equal to another one */
  FEW = 24                   /* keys that insertion alone sorts faster */
};

static inline uint64_t key_at(const void *keys, unsigned width, size_t i)
{
  return width == 32 ? ((const uint32_t *)keys)[i] : ((const uint64_t *)keys)[i];
}

static unsigned bits_of(uint64_t value)
{
  return value ? 64u - (unsigned)__builtin_clzll(value) : 0;
}

/* What one look at the keys tells. */
typedef struct survey {
  uint64_t least;
  uint64_t greatest;
  size_t descents; /* neighbours that descend */
} survey;

static inline survey survey_as(const void *keys, unsigned width, size_t count)
{
  survey s = {key_at(keys, width, 0), key_at(keys, width, 0), 0};
  for (size_t i = 1; i < count; i++) {
    const uint64_t key = key_at(keys, width, i);
    s.descents += key_at(keys, width, i - 1) > key;
    s.least = key < s.least ? key : s.least;
    s.greatest = key > s.greatest ? key : s.greatest;
  }
  return s;
}

/* The digit of a key: bits [shift, shift + bits) of what it is above the least one. */
typedef struct digit {
  uint64_t least;
  unsigned shift;
  unsigned bits;
} digit;

static inline size_t digit_at(const void *keys, unsigned width, digit d, size_t i)
{
  return (size_t)((key_at(keys, width, i) - d.least) >> d.shift & ((UINT64_C(1) << d.bits) - 1));
}

/* Orders by one digit. `from` NULL: the keys are in input order. */
static inline void pass_as(const void *keys, unsigned width, size_t count, digit d,
                           const uint32_t *from, uint32_t *to)
{
  uint32_t next[1 << DIGIT_BITS];
  memset(next, 0, sizeof *next << d.bits);
  for (size_t i = 0; i < count; i++)
    next[digit_at(keys, width, d, i)]++;
  for (uint32_t value = 0, sum = 0, own; value < UINT32_C(1) << d.bits; value++, sum += own) {
    own = next[value];
    next[value] = sum;
  }
  if (from)
    for (size_t i = 0; i < count; i++)
      to[next[digit_at(keys, width, d, from[i])]++] = from[i];
  else
    for (size_t i = 0; i < count; i++)
      to[next[digit_at(keys, width, d, i)]++] = (uint32_t)i;
}

/* Orders by bits [low, high) above the least key, which are not none. */
static inline uint32_t *passes_as(const void *keys, unsigned width, size_t count, uint64_t least,
                                  unsigned low, unsigned high, uint32_t *a, uint32_t *b)
{
  const unsigned passes = (high - low + DIGIT_BITS - 1) / DIGIT_BITS;
  digit d = {least, low, (high - low + passes - 1) / passes};
  const uint32_t *from = NULL;
  for (; d.shift < high; d.shift += d.bits) {
    pass_as(keys, width, count, d, from, a);
    from = a;
    a = b;
    b = (uint32_t *)(uintptr_t)from;
  }
  return b;
}

/* Sorts by insertion what is nearly in order. False if that would take too long; `order` is then
 * still a permutation. */
static inline bool insert_as(const void *keys, unsigned width, size_t count, uint32_t *order)
{
  size_t left = 4 * count + (size_t)FEW * FEW;
  for (size_t i = 1; i < count && left > 0; i++) {
    const uint32_t index = order[i];
    const uint64_t key = key_at(keys, width, index);
    size_t at = i;
    for (; at > 0 && left > 0 && key_at(keys, width, order[at - 1]) > key; at--, left--)
      order[at] = order[at - 1];
    order[at] = index;
  }
  return left > 0;
}

static inline const uint32_t *order_as(const void *keys, unsigned width, size_t count, uint32_t *a,
                                       uint32_t *b)
{
  const survey s = survey_as(keys, width, count);
  if (s.descents == 0 || count <= FEW) {
    for (size_t i = 0; i < count; i++)
      a[i] = (uint32_t)i;
    if (s.descents > 0) (void)insert_as(keys, width, count, a);
    return a;
  }
  const unsigned high = bits_of(s.greatest - s.least), enough = bits_of(count) + ENOUGH;
  const unsigned window = enough < WINDOW ? enough : WINDOW, low = high > window ? high - window : 0;
  uint32_t *const order = passes_as(keys, width, count, s.least, low, high, a, b);
  if (low == 0 || insert_as(keys, width, count, order)) return order;
  return passes_as(keys, width, count, s.least, 0, high, a, b);
}

const uint32_t *keys_order(const void *keys, unsigned width, size_t count, uint32_t *a, uint32_t *b)
{
  if (count == 0) return a;
  return width == 32 ? order_as(keys, 32, count, a, b) : order_as(keys, 64, count, a, b);
}
