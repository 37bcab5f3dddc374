/* order.c - the stable order of keys that fit in the caches: a radix sort of their indices from the
 * least significant digit up (H. Hollerith's sorter; Knuth, vol. 3, sect. 5.2.5).
 *
 * A bucket's keys differ in few bits. If these are more than it takes to tell nearly all keys
 * apart, only the upper ones are sorted, and an insertion sort repairs what they left. Where it
 * would have much to do, the sort starts again with all bits.
 *
 * What is sorted are words of 32 bits: bits of a key, and below them its index. Where an index
 * leaves too few bits for the key, the keys first go to parts, in each of which fewer bits vary.
 *
 * Nothing here branches on random data but the insertion sort.
 *
 * Each way ends with a check that the order is a permutation, in what is read anyway: words that
 * ascend strictly are those of all keys; keys with their indices that ascend strictly all differ;
 * and where whole runs follow one another, a byte for each index costs little.
 *
 * Few words have no time for tables of digits: few_words.h sorts them.
 *
 * Keys of which few are out of place are a case of their own: these few are taken out, sorted, and
 * merged back in.
 */
#include "cpu/order.h"

#include <stdbool.h>
#include <string.h>

#include "base/bits.h"
#include "cpu/few_words.h"

/* The width of keys is a constant in each call, which compilers should make use of. */
#define INLINED __attribute__((always_inline)) static inline

enum {
  DIGIT_BITS =
      11,        /* at most: its places should stay in the caches, and tasks have 64 KiB of stack */
  ENOUGH = 4,    /* more bits than count the keys: 1 in 16 is equal to another one */
  INSERTED = 24, /* keys that insertion sorts well in any order */
  FEW_DROPPED = 8 /* more than one key in 8 is too many to take out */
};

INLINED uint64_t key_at(const void *keys, unsigned width, size_t i)
{
  return width == 32 ? ((const uint32_t *)keys)[i] : ((const uint64_t *)keys)[i];
}

typedef void few_words(uint32_t *words, size_t count); /* few_words.h */

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

static unsigned least_of(unsigned a, unsigned b)
{
  return a < b ? a : b;
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

/* Counts of two digits in turn: to add to the number that was written just before takes a wait. */
static void add_counts(uint32_t *counts, const uint32_t *more, unsigned digit)
{
  for (size_t value = 0; value < (size_t)1 << digit; value++)
    counts[value] += more[value];
}

/* Sorts words by the `bits` above their indices, which are their highest ones, of two digits at
 * most. True: the result is in `words`. False: it is in `other`, as one digit was enough. */
INLINED bool sort_words(uint32_t *words, uint32_t *other, size_t count, unsigned index_bits,
                        unsigned bits)
{
  uint32_t lower[2][1 << DIGIT_BITS], upper[2][1 << DIGIT_BITS];
  const unsigned lower_bits = bits > least_of(DIGIT_BITS, index_bits) ? (bits + 1) / 2 : bits;
  const unsigned upper_bits = bits - lower_bits;
  const unsigned upper_at = least_of(index_bits + lower_bits, 31); /* 32 is no shift */
  const uint32_t lower_mask = (UINT32_C(1) << lower_bits) - 1;
  for (size_t n = 0; n < 2; n++) {
    memset(lower[n], 0, sizeof *lower[n] << lower_bits);
    memset(upper[n], 0, sizeof *upper[n] << upper_bits);
  }
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
  add_counts(lower[0], lower[1], lower_bits);
  turn_into_places(lower[0], lower_bits);
  for (size_t i = 0; i < count; i++)
    other[lower[0][words[i] >> index_bits & lower_mask]++] = words[i];
  if (upper_bits == 0) return false;
  add_counts(upper[0], upper[1], upper_bits);
  turn_into_places(upper[0], upper_bits);
  for (size_t i = 0; i < count; i++)
    words[upper[0][other[i] >> upper_at]++] = other[i];
  return true;
}

/* The word of a key: what it is above `least`, from bit `low` on, and its index. */
INLINED uint32_t word_at(const void *keys, unsigned width, uint64_t least, unsigned low,
                         unsigned index_bits, size_t i)
{
  const uint32_t bits = width == 32 ? (((const uint32_t *)keys)[i] - (uint32_t)least) >> low
                                    : (uint32_t)((((const uint64_t *)keys)[i] - least) >> low);
  return bits << index_bits | (uint32_t)i;
}

INLINED void keep_indices(uint32_t *words, size_t count, unsigned index_bits)
{
  for (size_t i = 0; i < count; i++)
    words[i] &= (UINT32_C(1) << index_bits) - 1;
}

/* True if words ascend strictly. */
INLINED bool words_ascend(const uint32_t *words, size_t count)
{
  uint32_t wrong = 0;
  for (size_t i = 1; i < count; i++)
    wrong |= words[i] <= words[i - 1];
  return !wrong;
}

/* Sorts by bits [low, low + bits) of what a key is above the least one, where these fit a word.
 * True if the words ascend strictly: then they are those of all keys, each once, as both arrays
 * hold no others, even at a place that no pass has written. */
INLINED bool order_by_words(const void *keys, unsigned width, size_t count, uint64_t least,
                            unsigned low, unsigned bits, uint32_t *order, uint32_t *other)
{
  const unsigned index_bits = bits_of(count - 1);
  for (size_t i = 0; i < count; i++)
    order[i] = other[i] = word_at(keys, width, least, low, index_bits, i);
  const bool there = sort_words(order, other, count, index_bits, bits);
  const bool ascend = words_ascend(there ? order : other, count);
  if (!there) memcpy(order, other, count * sizeof *order);
  keep_indices(order, count, index_bits);
  return ascend;
}

/* Sorts by bits [low, high), some at a time from the lowest one up. */
INLINED void order_by_all_bits(const void *keys, unsigned width, size_t count, uint64_t least,
                               unsigned low, unsigned high, uint32_t *order, uint32_t *other)
{
  const unsigned index_bits = bits_of(count - 1), most = least_of(32 - index_bits, 2 * DIGIT_BITS);
  for (size_t i = 0; i < count; i++)
    order[i] = (uint32_t)i;
  for (unsigned bits; low < high; low += bits) {
    bits = least_of(most, high - low);
    const uint32_t mask = (UINT32_C(1) << (index_bits + bits - 1) << 1) - 1;
    for (size_t i = 0; i < count; i++)
      order[i] = word_at(keys, width, least, low, index_bits, order[i]) & mask;
    if (!sort_words(order, other, count, index_bits, bits))
      memcpy(order, other, count * sizeof *order);
    keep_indices(order, count, index_bits);
  }
}

/* ---- Parts ---- */

enum {
  CELL_BITS = 13,    /* at most */
  KEYS_OF_CELL = 16, /* about */
  PARTS = 1 << 10
};

/* The keys of cells that follow one another. A cell has all keys whose upper bits are the same. */
typedef struct part {
  uint64_t least; /* that a key of the first cell can be */
  uint32_t end;   /* of its words so far */
  uint32_t low;   /* the lowest bit in its words */
} part;

/* Makes parts of at most `most` keys, or of one cell. Any two neighbours have more, so there are no
 * more than PARTS. Returns how many. */
static size_t make_parts(const uint32_t *cells, unsigned cell_bits, unsigned cell_low,
                         uint64_t least, unsigned bottom, unsigned fits, size_t most,
                         uint16_t *part_of, part *parts)
{
  const size_t all = (size_t)1 << cell_bits;
  size_t made = 0, begin = 0, keys = 0;
  for (size_t cell = 0, first = 0; cell <= all; cell++) {
    if (cell == all || (keys > 0 && keys + cells[cell] > most)) {
      const unsigned bits = cell_low + bits_of(cell - 1 - first);
      parts[made++] = (part){.least = least + ((uint64_t)first << cell_low),
                             .end = (uint32_t)begin,
                             .low = bits > bottom + fits ? bits - fits : bottom};
      first = cell;
      begin += keys;
      keys = 0;
    }
    if (cell == all) break;
    part_of[cell] = (uint16_t)made;
    keys += cells[cell];
  }
  return made;
}

/* Sorts by bits [bottom, high) as far as words hold them, in parts. */
INLINED void order_by_parts(const void *keys, unsigned width, size_t count, uint64_t least,
                            unsigned bottom, unsigned high, few_words *sort_few, uint32_t *order,
                            uint32_t *other)
{
  part parts[PARTS];
  uint32_t *const cells = other; /* and where they are no more, scratch memory */
  uint16_t *const part_of = (uint16_t *)(void *)(cells + (1 << CELL_BITS));
  const unsigned index_bits = bits_of(count - 1), fits = 32 - index_bits;
  const unsigned cell_bits =
      least_of(least_of(CELL_BITS, bits_of(count / KEYS_OF_CELL)), high - bottom);
  const unsigned cell_low = high - cell_bits;
  const size_t fair = count / (PARTS / 2) + 1, most = fair > FEW_WORDS ? fair : FEW_WORDS;
  memset(cells, 0, sizeof *cells << cell_bits);
  for (size_t i = 0; i < count; i++)
    cells[(key_at(keys, width, i) - least) >> cell_low]++;
  const size_t made =
      make_parts(cells, cell_bits, cell_low, least, bottom, fits, most, part_of, parts);
  for (size_t i = 0; i < count; i++) {
    part *const to = &parts[part_of[(key_at(keys, width, i) - least) >> cell_low]];
    order[to->end++] = word_at(keys, width, to->least, to->low, index_bits, i);
  }
  for (size_t p = 0, begin = 0; p < made; begin = parts[p++].end) {
    uint32_t *const words = order + begin;
    const size_t some = parts[p].end - begin;
    if (words_ascend(words, some)) continue; /* as those of equal keys do */
    if (some <= FEW_WORDS)
      sort_few(words, some);
    else if (!sort_words(words, other, some, index_bits, fits))
      memcpy(words, other, some * sizeof *words);
  }
  keep_indices(order, count, index_bits);
}

/* ---- Settling ---- */

enum { STRIDE = INDEX_STRETCH }; /* keys, most of which ascend, are passed over so many at a time */

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
    if (some == STRIDE && is_index_stretch(order + i) && order[i] <= count - STRIDE)
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

/* Keeps the indices of keys that ascend, and returns how many: drop-merge sort (E. Ernerfeldt,
 * 2017). A key that is less than the last kept one drops whichever was out of place: the kept one
 * if the new key fits behind the one before it, else the new one. After PATIENCE drops in a row it
 * is the kept keys that came too early: the function drops the kept keys that are greater than all
 * the new ones, and looks at the new ones again. */
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
 * too many, or a check failed. */
INLINED bool order_nearly(const void *keys, unsigned width, size_t count, uint32_t *order,
                          uint32_t *other)
{
  const size_t keep = keep_ascending(keys, width, count, order), drops = count - keep;
  size_t found = 0;
  if (drops > count / FEW_DROPPED || drops > (size_t)1 << KEYS_ORDER_BITS) return false;
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
  if (drops > 1 &&
      rs_keys_order(taken, width, drops, taken_order, taken_order + drops) == KEYS_WRONG)
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

/* True if they are not much fewer than take as long. */
static bool suit_few_words(size_t count)
{
  return count <= FEW_WORDS / 2 || (count <= FEW_WORDS && count > FEW_WORDS * 2 / 3);
}

INLINED keys_found order_unordered(const void *keys, unsigned width, size_t count, survey s,
                                   few_words *sort_few, uint32_t *order, uint32_t *other)
{
  const unsigned high = bits_of(s.greatest - s.least),
                 bottom = (unsigned)__builtin_ctzll(s.varying);
  const unsigned index_bits = bits_of(count - 1), fits = 32 - index_bits;
  const unsigned enough = bits_of(count) + ENOUGH;
  settled result = SETTLED;
  if (suit_few_words(count)) {
    const unsigned low = high > bottom + fits ? high - fits : bottom;
    for (size_t i = 0; i < count; i++)
      order[i] = word_at(keys, width, s.least, low, index_bits, i);
    sort_few(order, count);
    /* UINT32_MAX may be what rs_few_words_sort_avx2() fills up with. */
    const bool proven = order[count - 1] < UINT32_MAX && words_ascend(order, count);
    keep_indices(order, count, index_bits);
    if (low > bottom || !proven) result = settle(keys, width, count, proven, order);
  } else if (fits + 2 >= enough || high - bottom <= fits) {
    const unsigned bits = least_of(least_of(fits, enough), high - bottom), low = high - bits;
    if (!order_by_words(keys, width, count, s.least, low, bits, order, other)) return KEYS_WRONG;
    if (low > bottom) result = settle(keys, width, count, true, order);
  } else {
    order_by_parts(keys, width, count, s.least, bottom, high, sort_few, order, other);
    result = settle(keys, width, count, false, order);
  }
  if (result == TOO_FAR) {
    order_by_all_bits(keys, width, count, s.least, bottom, high, order, other);
    result = settle(keys, width, count, false, order);
  }
  return result == SETTLED ? KEYS_ORDERED : KEYS_WRONG;
}

/* A build of the code with some instructions. Tasks have 64 KiB of stack, and order_nearly() calls
 * rs_keys_order() again: so what it is part of is a function without tables. */
#define BUILD(name, instructions, sort_few)                                                        \
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
    return width == 32 ? order_unordered(keys, 32, count, s, sort_few, order, other)               \
                       : order_unordered(keys, 64, count, s, sort_few, order, other);              \
  }                                                                                                \
  static keys_found name(const void *keys, unsigned width, size_t count, uint32_t *order,          \
                         uint32_t *other)                                                          \
  {                                                                                                \
    survey s;                                                                                      \
    keys_found found = KEYS_IN_ORDER;                                                              \
    if (count == 0 || name##_ordered(keys, width, count, &s, order, other, &found)) return found;  \
    return name##_unordered(keys, width, count, s, order, other);                                  \
  }

BUILD(plain, , rs_few_words_sort)

keys_found rs_keys_order_plainly(const void *keys, unsigned width, size_t count, uint32_t *order,
                                 uint32_t *other)
{
  return plain(keys, width, count, order, other);
}

bool rs_order_has_each(const uint32_t *order, size_t count, char *seen)
{
  return has_each(order, count, seen);
}

bool rs_order_settles(const void *keys, unsigned width, size_t count, uint32_t *order)
{
  return (width == 32 ? settle(keys, 32, count, false, order)
                      : settle(keys, 64, count, false, order)) == SETTLED;
}

#ifdef RS_HAS_AVX
/* Shifts of one step and wider vectors. */
BUILD(avx2, __attribute__((target("avx2,bmi2"))), rs_few_words_sort_avx2)

static bool has_avx2(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}
#endif

keys_found rs_keys_order(const void *keys, unsigned width, size_t count, uint32_t *order,
                         uint32_t *other)
{
#ifdef RS_HAS_AVX
  if (has_avx2()) return avx2(keys, width, count, order, other);
#endif
  return plain(keys, width, count, order, other);
}

keys_found rs_keys_order_nearly(const void *keys, unsigned width, size_t count, uint32_t *order,
                                uint32_t *other)
{
  survey s;
  keys_found found = KEYS_IN_ORDER;
  if (count == 0) return found;
#ifdef RS_HAS_AVX
  if (has_avx2())
    return avx2_ordered(keys, width, count, &s, order, other, &found) ? found : KEYS_UNORDERED;
#endif
  return plain_ordered(keys, width, count, &s, order, other, &found) ? found : KEYS_UNORDERED;
}
