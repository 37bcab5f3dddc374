/* order.c - the stable order of keys that fit in the caches: a radix sort of their indices from the
 * least significant digit up (H. Hollerith's sorter; Knuth, vol. 3, sect. 5.2.5).
 *
 * Keys of a bucket have few bits that vary. If they are still more than tell so few keys apart,
 * only the upper ones are sorted, and an insertion sort repairs what they left. Where it would have
 * much to do, the sort starts again with all bits.
 *
 * Nothing here branches on random data but the insertion sort.
 *
 * Each way ends with a check that the order is a permutation, in what is read anyway: words that
 * ascend strictly are those of all keys; keys with their indices that ascend strictly all differ;
 * and where whole runs follow one another, a byte for each index costs little.
 *
 * Up to 128 keys have no time for tables of digits. They are compared with one another,
 * many at once.
 *
 * Keys of which few are out of place are a case of their own: these few are taken out, sorted, and
 * merged back in.
 */
#include "cpu/order.h"

#include <stdbool.h>
#include <string.h>

/* The width of keys is a constant in each call, which compilers should make use of. */
#define INLINED __attribute__((always_inline)) static inline

enum {
  LOWER_BITS = 11, /* most bits of a lower digit: its places should stay in the caches */
  UPPER_BITS = 13, /* and of an upper one: tasks have 64 KiB of stack */
  ENOUGH = 4,      /* more bits than count the keys: 1 in 16 is equal to another one */
  MORE = 2,        /* bits of more keys than fit a word, as insertion then waits for memory, too */
  FEW = 128,       /* keys that ranks sort faster */
  INSERTED = 24,   /* keys that insertion sorts well in any order */
  FEW_DROPPED = 8  /* one key in 8 out of place is too much to be taken out */
};

INLINED uint64_t key_at(const void *keys, unsigned width, size_t i)
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
  uint64_t varying; /* the bits that are not the same in all keys */
  size_t descents;
} survey;

/* For keys of 32 and of 64 bits: in words of that width, so that the compiler uses vectors. */
#define SURVEY(name, word)                                                                         \
  INLINED survey name(const word *keys, size_t count)                                              \
  {                                                                                                \
    word least = keys[0], greatest = keys[0], varying = 0, descents = 0;                           \
    for (size_t i = 1; i < count; i++) {                                                           \
      least = keys[i] < least ? keys[i] : least;                                                   \
      varying |= keys[i] ^ keys[0];                                                                \
      greatest = keys[i] > greatest ? keys[i] : greatest;                                          \
      descents += keys[i] < keys[i - 1];                                                           \
    }                                                                                              \
    return (survey){least, greatest, varying, descents};                                           \
  }

SURVEY(survey_32, uint32_t)
SURVEY(survey_64, uint64_t)

/* Bits [low, low + lower + upper) of what a key is above the least one: two digits. */
typedef struct window {
  uint64_t least;
  unsigned low;
  unsigned lower;
  unsigned upper;
} window;

INLINED uint32_t window_at(const void *keys, unsigned width, window w, size_t i)
{
  const uint32_t mask = (UINT32_C(1) << (w.lower + w.upper)) - 1;
  if (width == 32) return (((const uint32_t *)keys)[i] - (uint32_t)w.least) >> w.low & mask;
  return (uint32_t)((((const uint64_t *)keys)[i] - w.least) >> w.low) & mask;
}

static void turn_into_places(uint32_t *counts, unsigned digit)
{
  uint32_t sum = 0;
  for (size_t value = 0; value < (size_t)1 << digit; value++) {
    const uint32_t count = counts[value];
    counts[value] = sum;
    sum += count;
  }
}

/* Two passes over `order`, or if that is not `ordered`, over all keys in input order: the first one
 * to `other`, where the upper digit stands above the index, and the second one back. For keys in
 * input order, the compiler makes the digits by vectors. */
INLINED void sort_window(const void *keys, unsigned width, size_t count, window w,
                         unsigned index_bits, bool ordered, uint32_t *order, uint32_t *other)
{
  uint32_t lower[1 << LOWER_BITS], upper[1 << UPPER_BITS];
  const uint32_t lower_mask = (UINT32_C(1) << w.lower) - 1;
  const uint32_t index_mask = (UINT32_C(1) << index_bits) - 1;
  memset(lower, 0, sizeof *lower << w.lower);
  memset(upper, 0, sizeof *upper << w.upper);
  for (size_t i = 0; i < count && !ordered; i++)
    order[i] = window_at(keys, width, w, i);
  for (size_t i = 0; i < count; i++) {
    const uint32_t bits = ordered ? window_at(keys, width, w, order[i]) : order[i];
    lower[bits & lower_mask]++;
    upper[bits >> w.lower]++;
  }
  turn_into_places(lower, w.lower);
  turn_into_places(upper, w.upper);
  for (size_t i = 0; i < count; i++) {
    const uint32_t index = ordered ? order[i] : (uint32_t)i;
    const uint32_t bits = ordered ? window_at(keys, width, w, index) : order[i];
    other[lower[bits & lower_mask]++] = bits >> w.lower << index_bits | index;
  }
  for (size_t i = 0; i < count; i++)
    order[upper[other[i] >> index_bits]++] = other[i] & index_mask;
}

/* Counts of two digits in turn: to add to the number that was written just before takes a wait. */
static void add_counts(uint32_t *counts, const uint32_t *more, unsigned digit)
{
  for (size_t value = 0; value < (size_t)1 << digit; value++)
    counts[value] += more[value];
}

/* Sorts by all bits of one window, which fits above an index of `index_bits` in a word of 32 bits:
 * the compiler makes these words by vectors, and to move them takes fewer steps. True if the words
 * ascend strictly: then they are those of all keys, each once, as both arrays hold no others, even
 * at a place that no pass has written. */
INLINED bool sort_words(const void *keys, unsigned width, size_t count, window w,
                        unsigned index_bits, uint32_t *order, uint32_t *other)
{
  uint32_t lower[2][1 << LOWER_BITS], upper[2][1 << LOWER_BITS], wrong = 0;
  const uint32_t lower_mask = (UINT32_C(1) << w.lower) - 1;
  const uint32_t index_mask = (UINT32_C(1) << index_bits) - 1;
  const unsigned upper_at = index_bits + w.lower;
  uint32_t *const words = w.upper ? order : other, *const half = w.upper ? other : order;
  for (size_t n = 0; n < 2; n++) {
    memset(lower[n], 0, sizeof *lower[n] << w.lower);
    memset(upper[n], 0, sizeof *upper[n] << w.upper);
  }
  for (size_t i = 0; i < count; i++)
    order[i] = other[i] = window_at(keys, width, w, i) << index_bits | (uint32_t)i;
  for (size_t i = 0; i < count; i += 2) {
    const uint32_t next = words[i + 1 < count ? i + 1 : i];
    lower[0][words[i] >> index_bits & lower_mask]++;
    upper[0][words[i] >> upper_at]++;
    lower[1][next >> index_bits & lower_mask]++;
    upper[1][next >> upper_at]++;
  }
  if (count % 2) {
    lower[1][words[count - 1] >> index_bits & lower_mask]--;
    upper[1][words[count - 1] >> upper_at]--;
  }
  add_counts(lower[0], lower[1], w.lower);
  turn_into_places(lower[0], w.lower);
  for (size_t i = 0; i < count; i++)
    half[lower[0][words[i] >> index_bits & lower_mask]++] = words[i];
  if (w.upper) {
    add_counts(upper[0], upper[1], w.upper);
    turn_into_places(upper[0], w.upper);
    for (size_t i = 0; i < count; i++)
      order[upper[0][half[i] >> upper_at]++] = half[i];
  }
  for (size_t i = 1; i < count; i++)
    wrong |= order[i] <= order[i - 1];
  for (size_t i = 0; i < count; i++)
    order[i] &= index_mask;
  return !wrong;
}

static unsigned least_of(unsigned a, unsigned b)
{
  return a < b ? a : b;
}

/* The window of two passes from bit `low` on. The upper digit fits above an index. It is larger
 * than a lower one only if there are sixteen keys for each of its values. */
static window window_of(uint64_t least, unsigned low, unsigned high, unsigned index_bits)
{
  const unsigned left = high - low;
  if (left <= least_of(LOWER_BITS, index_bits)) return (window){least, low, left, 0};
  const unsigned lower = least_of((left + 1) / 2, LOWER_BITS);
  const unsigned worth = index_bits < LOWER_BITS + 4 ? LOWER_BITS : index_bits - 4;
  const unsigned most = least_of(least_of(worth, UPPER_BITS), 32 - index_bits);
  return (window){least, low, lower, least_of(left - lower, most)};
}

/* Sorts by bits [low, high) above the least key. */
INLINED void sort_bits(const void *keys, unsigned width, size_t count, uint64_t least, unsigned low,
                       unsigned high, uint32_t *order, uint32_t *other)
{
  const unsigned index_bits = bits_of(count - 1);
  window w = {.least = least, .low = low};
  for (; w.low < high; w.low += w.lower + w.upper) {
    w = window_of(least, w.low, high, index_bits);
    if (w.low == low)
      sort_window(keys, width, count, w, index_bits, false, order, other);
    else
      sort_window(keys, width, count, w, index_bits, true, order, other);
  }
}

/* ---- Settling ---- */

enum { STRIDE = INDEX_RUN }; /* keys, most of which ascend, are passed over so many at a time */

/* For keys of 32 bits and of 64. Compilers did not use vectors for a loop. */
#define STRIDE_ASCENDS(name, word)                                                                 \
  INLINED bool name(const word *keys)                                                              \
  {                                                                                                \
    typedef word vector __attribute__((vector_size(32)));                                          \
    enum { EACH = sizeof(vector) / sizeof(word) };                                                 \
    vector less = {0}, each, next;                                                                 \
    uint64_t any[4];                                                                               \
    for (size_t i = 0; i < STRIDE; i += EACH) {                                                    \
      memcpy(&each, keys + i, sizeof each);                                                        \
      memcpy(&next, keys + i + 1, sizeof next);                                                    \
      less |= (vector)(next < each);                                                               \
    }                                                                                              \
    memcpy(any, &less, sizeof any);                                                                \
    return (any[0] | any[1] | any[2] | any[3]) == 0;                                               \
  }

STRIDE_ASCENDS(stride_ascends_32, uint32_t)
STRIDE_ASCENDS(stride_ascends_64, uint64_t)

/* True if keys [i, i + STRIDE] ascend. */
INLINED bool stride_ascends(const void *keys, unsigned width, size_t i)
{
  return width == 32 ? stride_ascends_32((const uint32_t *)keys + i)
                     : stride_ascends_64((const uint64_t *)keys + i);
}

/* True if a key goes before that of another index. None goes before itself. */
INLINED bool goes_before(const void *keys, unsigned width, uint64_t key, uint32_t index,
                         uint32_t other)
{
  const uint64_t other_key = key_at(keys, width, other);
  return key < other_key || (key == other_key && index < other);
}

typedef enum settled { SETTLED, TOO_FAR, WRONG } settled;

/* Sorts by insertion what is nearly in order, of which `proven` says that it is a permutation.
 * SETTLED: each index is less than `count`, and goes before the next one, so that no two are the
 * same. So the order is right, whatever made it. TOO_FAR: this would take too long, and `order` is
 * no permutation. WRONG: it never was one. */
INLINED settled settle(const void *keys, unsigned width, size_t count, bool proven, uint32_t *order)
{
  size_t left = 4 * count + (size_t)INSERTED * INSERTED;
  if (order[0] >= count) return WRONG;
  uint64_t last = key_at(keys, width, order[0]);
  for (size_t i = 1; i < count; i++) {
    const uint32_t index = order[i];
    if (!proven && index >= count) return WRONG;
    const uint64_t key = key_at(keys, width, index);
    if (key > last || (key == last && (proven || order[i - 1] < index))) {
      last = key;
      continue;
    }
    size_t at = i;
    for (; at > 0 && goes_before(keys, width, key, index, order[at - 1]); at--)
      if (left-- == 0)
        return TOO_FAR;
      else
        order[at] = order[at - 1];
    if (at > 0 && order[at - 1] == index) return WRONG;
    order[at] = index;
  }
  return SETTLED;
}

/* True if `order` is a permutation: n stores set n bytes only if all indices differ. */
INLINED bool has_each(const uint32_t *order, size_t count, char *seen)
{
  memset(seen, 0, count);
  for (size_t i = 0; i < count; i += STRIDE) {
    const size_t some = count - i < STRIDE ? count - i : STRIDE;
    if (some == STRIDE && is_index_run(order + i) && order[i] <= count - STRIDE)
      memset(seen + order[i], 1, STRIDE);
    else
      for (size_t j = i; j < i + some; j++)
        if (order[j] >= count)
          return false;
        else
          seen[order[j]] = 1;
  }
  return !memchr(seen, 0, count);
}

/* Keys that are compared at once, which the compiler makes of one vector or of several. */
typedef int16_t lanes __attribute__((vector_size(32)));

enum { LANES = sizeof(lanes) / sizeof(int16_t), RANK_BITS = 16, AT_ONCE = 4 };

_Static_assert(FEW <= 1 << 8 && FEW % (AT_ONCE * LANES) == 0, "whole vectors, places of 8 bits");

/* Few keys: the rank of a key, by bits [low, low + RANK_BITS) above the least, is the number of
 * keys that are less. */
INLINED void order_by_ranks(const void *keys, unsigned width, size_t count, uint64_t least,
                            unsigned low, uint32_t *order)
{
  lanes digits[FEW / LANES], ranks[FEW / LANES];
  int16_t *const digit = (int16_t *)(void *)digits;
  const int16_t *const rank = (const int16_t *)(const void *)ranks;
  uint8_t next[FEW];
  for (size_t i = 0; i < count; i++)
    digit[i] = (int16_t)((key_at(keys, width, i) - least) >> low ^ 0x8000);
  for (size_t i = count; i % (AT_ONCE * LANES) > 0; i++)
    digit[i] = 0;
  for (size_t i = 0; i * LANES < count; i += AT_ONCE) {
    lanes below[AT_ONCE] = {{0}};
    for (size_t j = 0; j < count; j++)
      for (size_t v = 0; v < AT_ONCE; v++)
        below[v] -= digit[j] < digits[i + v];
    for (size_t v = 0; v < AT_ONCE; v++)
      ranks[i + v] = below[v];
  }
  for (size_t i = 0; i < count; i++)
    next[i] = (uint8_t)i;
  for (size_t i = 0; i < count; i++) {
    order[next[rank[i]]++] = (uint32_t)i;
  }
}

/* Keeps the indices of keys that ascend, and returns how many: drop-merge sort (E. Ernerfeldt,
 * 2017), as in presorted.c, but what it drops is what is not kept. */
INLINED size_t keep_ascending(const void *keys, unsigned width, size_t count, uint32_t *kept)
{
  enum { PATIENCE = 8 };
  size_t keep = 0, in_a_row = 0;
  uint64_t last = 0;
  for (size_t i = 0; i < count; i++) {
    const uint64_t key = key_at(keys, width, i);
    if (i % STRIDE == 0 && i + STRIDE < count && last <= key && stride_ascends(keys, width, i)) {
      for (size_t j = 0; j < STRIDE; j++)
        kept[keep + j] = (uint32_t)(i + j);
      keep += STRIDE;
      i += STRIDE - 1;
      last = key_at(keys, width, i);
      in_a_row = 0;
    } else if (last <= key) {
      kept[keep++] = (uint32_t)i;
      last = key;
      in_a_row = 0;
    } else if (keep >= 2 && in_a_row == 0 && key_at(keys, width, kept[keep - 2]) <= key) {
      kept[keep - 1] = (uint32_t)i;
      last = key;
    } else if (in_a_row < PATIENCE) {
      in_a_row++;
    } else {
      uint64_t greatest = key;
      for (; in_a_row > 0; in_a_row--, i--)
        greatest = key_at(keys, width, i - 1) > greatest ? key_at(keys, width, i - 1) : greatest;
      while (keep > 0 && key_at(keys, width, kept[keep - 1]) > greatest)
        keep--;
      last = keep > 0 ? key_at(keys, width, kept[keep - 1]) : 0;
      i--;
    }
  }
  return keep;
}

/* Merges indices that were dropped, in order of their keys, into those that were kept. */
INLINED void merge_dropped(const void *keys, unsigned width, uint32_t *order, size_t keep,
                           const uint32_t *dropped, const uint32_t *dropped_order, size_t drops)
{
  for (; drops > 0; drops--) {
    const uint32_t index = dropped[dropped_order[drops - 1]];
    const uint64_t key = key_at(keys, width, index);
    while (keep >= STRIDE && goes_before(keys, width, key, index, order[keep - STRIDE])) {
      keep -= STRIDE;
      memmove(order + keep + drops, order + keep, STRIDE * sizeof *order);
    }
    for (; keep > 0 && goes_before(keys, width, key, index, order[keep - 1]); keep--)
      order[keep - 1 + drops] = order[keep - 1];
    order[keep + drops - 1] = index;
  }
}

/* Takes out the few keys that are out of place, sorts them, and merges them back. False: there are
 * too many. */
INLINED bool order_nearly(const void *keys, unsigned width, size_t count, uint32_t *order,
                          uint32_t *other)
{
  const size_t keep = keep_ascending(keys, width, count, order), drops = count - keep;
  size_t found = 0;
  if (drops > count / FEW_DROPPED) return false;
  for (size_t i = 0; i < count;) {
    const size_t at = i - found;
    const bool all = at + STRIDE <= keep && order[at + STRIDE - 1] == i + STRIDE - 1;
    if (!all && (at == keep || order[at] != i)) other[found++] = (uint32_t)i;
    i += all ? STRIDE : 1;
  }
  char *const after = (char *)(other + drops), *const taken = after + -(uintptr_t)after % 8;
  uint32_t *const taken_order = (uint32_t *)(void *)(taken + drops * (width / 8));
  for (size_t d = 0; d < drops; d++)
    memcpy(taken + d * (width / 8), (const char *)keys + other[d] * (width / 8), width / 8);
  taken_order[0] = 0;
  if (drops > 1 && keys_order(taken, width, drops, taken_order, taken_order + drops) == KEYS_WRONG)
    return false;
  merge_dropped(keys, width, order, keep, other, taken_order, drops);
  return true;
}

/* True if all is done, as the keys are in order, or nearly: `found` is the result. */
INLINED bool order_ordered(const void *keys, unsigned width, size_t count, survey *s,
                           uint32_t *order, uint32_t *other, keys_found *found)
{
  *s = width == 32 ? survey_32(keys, count) : survey_64(keys, count);
  *found = KEYS_IN_ORDER;
  if (s->descents == 0) {
    for (size_t i = 0; i < count; i++)
      order[i] = (uint32_t)i;
    return true;
  }
  if (s->descents > count / FEW_DROPPED || !order_nearly(keys, width, count, order, other))
    return false;
  *found = has_each(order, count, (char *)other) ? KEYS_ORDERED : KEYS_WRONG;
  return true;
}

INLINED keys_found order_unordered(const void *keys, unsigned width, size_t count, survey s,
                                   uint32_t *order, uint32_t *other)
{
  const unsigned high = bits_of(s.greatest - s.least),
                 bottom = (unsigned)__builtin_ctzll(s.varying);
  const unsigned index_bits = bits_of(count - 1), fits = 32 - index_bits;
  const unsigned enough = bits_of(count) + ENOUGH;
  const bool words = fits + 1 >= enough || high - bottom <= fits;
  const window two = window_of(s.least, 0, enough + MORE, index_bits);
  const unsigned most = count <= FEW ? RANK_BITS
                        : words      ? least_of(fits, enough)
                                     : two.lower + two.upper;
  const unsigned low = high > bottom + most ? high - most : bottom;
  settled result = SETTLED;
  if (count > FEW && words) {
    const window w = window_of(s.least, low, high, index_bits);
    if (!sort_words(keys, width, count, w, index_bits, order, other)) return KEYS_WRONG;
    if (low > bottom) result = settle(keys, width, count, true, order);
  } else {
    if (count <= FEW)
      order_by_ranks(keys, width, count, s.least, low, order);
    else
      sort_bits(keys, width, count, s.least, low, high, order, other);
    result = settle(keys, width, count, false, order);
  }
  if (result == TOO_FAR) {
    sort_bits(keys, width, count, s.least, bottom, high, order, other);
    result = settle(keys, width, count, false, order);
  }
  return result == SETTLED ? KEYS_ORDERED : KEYS_WRONG;
}

/* A build of the code with some instructions. Tasks have 64 KiB of stack, and order_nearly() calls
 * keys_order() again: so what it is part of is a function without tables. */
#define BUILD(name, instructions)                                                                  \
  __attribute__((noinline)) instructions static bool name##_ordered(                               \
      const void *keys, unsigned width, size_t count, survey *s, uint32_t *order, uint32_t *other, \
      keys_found *found)                                                                           \
  {                                                                                                \
    return width == 32 ? order_ordered(keys, 32, count, s, order, other, found)                    \
                       : order_ordered(keys, 64, count, s, order, other, found);                   \
  }                                                                                                \
  __attribute__((noinline)) instructions static keys_found name##_unordered(                       \
      const void *keys, unsigned width, size_t count, survey s, uint32_t *order, uint32_t *other)  \
  {                                                                                                \
    return width == 32 ? order_unordered(keys, 32, count, s, order, other)                         \
                       : order_unordered(keys, 64, count, s, order, other);                        \
  }                                                                                                \
  static keys_found name(const void *keys, unsigned width, size_t count, uint32_t *order,          \
                         uint32_t *other)                                                          \
  {                                                                                                \
    survey s;                                                                                      \
    keys_found found = KEYS_IN_ORDER;                                                              \
    if (count == 0 || name##_ordered(keys, width, count, &s, order, other, &found)) return found;  \
    return name##_unordered(keys, width, count, s, order, other);                                  \
  }

BUILD(plain, )

keys_found keys_order_plainly(const void *keys, unsigned width, size_t count, uint32_t *order,
                              uint32_t *other)
{
  return plain(keys, width, count, order, other);
}

bool order_has_each(const uint32_t *order, size_t count, char *seen)
{
  return has_each(order, count, seen);
}

bool order_settles(const void *keys, unsigned width, size_t count, uint32_t *order)
{
  return (width == 32 ? settle(keys, 32, count, false, order)
                      : settle(keys, 64, count, false, order)) == SETTLED;
}

#if defined(__x86_64__)
/* Shifts of one step and wider vectors. */
BUILD(avx2, __attribute__((target("avx2,bmi2"))))
#endif

keys_found keys_order(const void *keys, unsigned width, size_t count, uint32_t *order,
                      uint32_t *other)
{
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
    return avx2(keys, width, count, order, other);
#endif
  return keys_order_plainly(keys, width, count, order, other);
}
