/* order.c - the stable order of keys that fit in the caches: a radix sort of their indices from the
 * least significant digit up (H. Hollerith's sorter; Knuth, vol. 3, sect. 5.2.5).
 *
 * What is sorted are words: bits of a key, and below them its index. As an index leaves few bits
 * for the key, the keys first go to parts, in each of which few bits vary. Keys that these do not
 * tell apart are sorted by insertion. Where that would have much to do, the sort starts again with
 * all bits.
 *
 * Nothing here branches on random data but the insertion sort.
 *
 * Each way ends with a check that the order is right, and a permutation, in what is read anyway:
 * words that ascend strictly are those of all keys; keys with their indices that ascend strictly
 * all differ.
 *
 * Where there is AVX2, few_words.h sorts few words, which have no time for tables of digits.
 *
 * Keys of which few are out of place are a case of their own: these few are taken out, sorted, and
 * merged back in.
 */
#include "cpu/order.h"

#include <stdbool.h>
#include <string.h>

#include "base/assert.h"
#include "base/bits.h"
#include "cpu/few_words.h"

/* The width of keys is a constant in each call, which compilers should make use of. */
#define INLINED __attribute__((always_inline)) static inline

__extension__ typedef unsigned __int128 uint128;

/* What was built for some processors. */
typedef struct build {
  void (*sort_digits)(uint32_t *words, uint32_t *other, size_t count, unsigned low, unsigned bits);
  bool networks; /* rs_few_words_sort() can be called */
} build;

enum {
  DIGIT_BITS = 11,   /* at most: places stay in the caches, and tables in 64 KiB of stack */
  ENOUGH = 4,        /* more bits than count the keys: 1 in 16 is equal to another one */
  WORD_BITS = 31,    /* no word is UINT32_MAX, as few_words.h asks for */
  COUNTED_BITS = 16, /* the counts of as many values fit in the caches */
  INSERTED = 24,     /* keys that insertion sorts well in any order */
  FEW_DROPPED = 8    /* more than one key in 8 is too many to take out */
};

INLINED uint64_t key_at(const void *keys, unsigned width, size_t i)
{
  RS_ASSERT(width == 32 || width == 64);
  return width == 32 ? ((const uint32_t *)keys)[i] : ((const uint64_t *)keys)[i];
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

static unsigned least_of(unsigned a, unsigned b)
{
  return a < b ? a : b;
}

/* Bits of a key in a word beside one of `count` indices. */
static unsigned key_bits(size_t count)
{
  RS_ASSERT(count > 0 && count <= (size_t)1 << KEYS_ORDER_BITS);
  return least_of(WORD_BITS - bits_of(count - 1), 2 * DIGIT_BITS);
}

static void turn_into_places(uint32_t *counts, unsigned digit)
{
  RS_ASSERT(digit <= COUNTED_BITS);
  uint32_t sum = 0;
  for (size_t value = 0; value < (size_t)1 << digit; value++) {
    const uint32_t count = counts[value];
    counts[value] = sum;
    sum += count;
  }
}

/* Counts of two words in turn: to add to the number that was written just before takes a wait. */
static void add_counts(uint32_t *counts, unsigned digit)
{
  for (size_t value = 0; value < (size_t)1 << digit; value++)
    counts[value] += counts[value + ((size_t)1 << digit)];
}

/* Sorts words by bits [low, low + bits), which are their highest ones, of two digits at most. The
 * tables follow one another closely: where the same places of several are 4 KiB apart, processors
 * take one for the other, and wait. */
INLINED void sort_digits(uint32_t *words, uint32_t *other, size_t count, unsigned low,
                         unsigned bits)
{
  uint32_t tables[4 << DIGIT_BITS];
  const bool one = bits <= least_of(DIGIT_BITS, bits_of(count / 4));
  const unsigned lower_bits = one ? bits : (bits + 1) / 2, upper_bits = bits - lower_bits;
  RS_ASSERT(bits <= 2 * DIGIT_BITS && low + bits <= 32);
  RS_ASSERT(lower_bits <= DIGIT_BITS && upper_bits <= DIGIT_BITS);
  const unsigned upper_at = least_of(low + lower_bits, 31); /* 32 is no shift */
  const uint32_t lower_mask = (UINT32_C(1) << lower_bits) - 1;
  uint32_t *const lower = tables, *const lower_next = lower + lower_mask + 1;
  uint32_t *const upper = lower_next + lower_mask + 1;
  uint32_t *const upper_next = upper + ((size_t)1 << upper_bits);
  memset(tables, 0, (size_t)((char *)(upper_next + ((size_t)1 << upper_bits)) - (char *)tables));
  for (size_t i = 0; i + 1 < count; i += 2) {
    lower[words[i] >> low & lower_mask]++;
    upper[words[i] >> upper_at]++;
    lower_next[words[i + 1] >> low & lower_mask]++;
    upper_next[words[i + 1] >> upper_at]++;
  }
  if (count % 2) {
    lower[words[count - 1] >> low & lower_mask]++;
    upper[words[count - 1] >> upper_at]++;
  }
  add_counts(lower, lower_bits);
  turn_into_places(lower, lower_bits);
  for (size_t i = 0; i < count; i++)
    other[lower[words[i] >> low & lower_mask]++] = words[i];
  RS_ASSERT(lower[lower_mask] == count);
  if (one) {
    memcpy(words, other, count * sizeof *words);
    return;
  }
  add_counts(upper, upper_bits);
  turn_into_places(upper, upper_bits);
  for (size_t i = 0; i < count; i++)
    words[upper[other[i] >> upper_at]++] = other[i];
  RS_ASSERT(upper[((size_t)1 << upper_bits) - 1] == count);
}

/* Words that may be moved by insertion before that takes longer than to sort by more bits. */
static size_t insertions(size_t count)
{
  return 4 * count + (size_t)INSERTED * INSERTED;
}

/* Sorts words by insertion. False: that takes too long, and some words were passed over. */
static bool insert_words(uint32_t *words, size_t count)
{
  size_t left = insertions(count);
  for (size_t i = 1; i < count; i++) {
    const uint32_t word = words[i];
    size_t at = i;
    for (; at > 0 && words[at - 1] > word && left > 0; at--, left--)
      words[at] = words[at - 1];
    words[at] = word;
  }
  return left > 0;
}

/* Sorts words whose indices have `index_bits`: at most `most` by networks, if the build has them.
 */
INLINED void sort_words(uint32_t *words, uint32_t *other, size_t count, unsigned index_bits,
                        build by, size_t most)
{
  enum { WORTH_REPAIR = 3 }; /* bits: for fewer, digits are not made shorter */
  uint32_t any = 0;
#ifdef RS_HAS_AVX
  if (by.networks && count <= most) {
    rs_few_words_sort(words, count);
    return;
  }
#else
  (void)most;
#endif
  if (count <= INSERTED && insert_words(words, count)) return;
  for (size_t i = 0; i < count; i++)
    any |= words[i];
  const unsigned high = bits_of(any), enough = bits_of(count) + ENOUGH;
  if (high >= index_bits + enough + WORTH_REPAIR) {
    by.sort_digits(words, other, count, high - enough, enough);
    if (insert_words(words, count)) return;
  }
  RS_ASSERT(high >= index_bits);
  by.sort_digits(words, other, count, index_bits, high - index_bits);
}

/* The word of a key: what it is above `least`, from bit `low` on, and its index. */
INLINED uint32_t word_at(const void *keys, unsigned width, uint64_t least, unsigned low,
                         unsigned index_bits, size_t i)
{
  RS_ASSERT(index_bits < 32 && i >> index_bits == 0);
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

/* Sorts by bits [low, high), some at a time from the lowest one up. */
INLINED void order_by_all_bits(const void *keys, unsigned width, size_t count, uint64_t least,
                               unsigned low, unsigned high, build by, uint32_t *order,
                               uint32_t *other)
{
  const unsigned index_bits = bits_of(count - 1), most = key_bits(count);
  RS_ASSERT(low <= high);
  for (size_t i = 0; i < count; i++)
    order[i] = (uint32_t)i;
  for (unsigned bits; low < high; low += bits) {
    bits = least_of(most, high - low);
    RS_ASSERT(bits > 0);
    const uint32_t mask = (UINT32_C(1) << (index_bits + bits - 1) << 1) - 1;
    for (size_t i = 0; i < count; i++)
      order[i] = word_at(keys, width, least, low, index_bits, order[i]) & mask;
    by.sort_digits(order, other, count, index_bits, bits);
    keep_indices(order, count, index_bits);
  }
}

/* ---- Settling ---- */

/* True if a key goes before that of another index. None goes before itself. */
INLINED bool goes_before(const void *keys, unsigned width, uint64_t key, uint32_t index,
                         uint32_t other)
{
  const uint64_t other_key = key_at(keys, width, other);
  return key < other_key || (key == other_key && index < other);
}

typedef enum settled { SETTLED, TOO_FAR, WRONG } settled;

/* True if a key and its index are greater than the last ones. One comparison, as ties are random.
 */
INLINED bool follows(unsigned width, uint64_t key, uint32_t index, uint64_t last,
                     uint32_t last_index)
{
  if (width == 32) return (key << 32 | index) > (last << 32 | last_index);
  return ((uint128)key << 32 | index) > ((uint128)last << 32 | last_index);
}

/* Sorts by insertion what is nearly in order. SETTLED: each index is less than `count`, and goes
 * before the next one, so that no two are the same. So the order is right, whatever made it.
 * TOO_FAR: this would take too long, and `order` is no permutation. WRONG: it never was one. */
INLINED settled settle(const void *keys, unsigned width, size_t count, uint32_t *order)
{
  size_t left = insertions(count);
  RS_ASSERT(count > 0);
  if (order[0] >= count) return WRONG;
  uint64_t last = key_at(keys, width, order[0]);
  for (size_t i = 1; i < count; i++) {
    const uint32_t index = order[i];
    if (index >= count) return WRONG;
    const uint64_t key = key_at(keys, width, index);
    if (follows(width, key, index, last, order[i - 1])) {
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

/* Sorts by `bits` from `low` on, which are all that vary, and not more than `other` can count. */
INLINED void order_by_values(const void *keys, unsigned width, size_t count, uint64_t least,
                             unsigned low, unsigned bits, uint32_t *order, uint32_t *other)
{
  RS_ASSERT(bits <= COUNTED_BITS && (size_t)1 << bits <= count);
  memset(other, 0, sizeof *other << bits);
  for (size_t i = 0; i < count; i++)
    other[(key_at(keys, width, i) - least) >> low]++;
  turn_into_places(other, bits);
  for (size_t i = 0; i < count; i++)
    order[other[(key_at(keys, width, i) - least) >> low]++] = (uint32_t)i;
  RS_ASSERT(other[((size_t)1 << bits) - 1] == count);
}

/* ---- Parts ---- */

enum {
  CELL_BITS = 13,    /* at most */
  KEYS_OF_CELL = 16, /* about */
  PARTS = 1 << 10,
  WORTH_PARTS = 1 << 13, /* fewer keys are sorted as one part, and lose some bits */
  WORDS_OF_PART = 1 << 8 /* at least as many are worth a part */
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
      RS_ASSERT(made < PARTS);
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
  RS_ASSERT(made > 0 && made <= PARTS);
  return made;
}

INLINED void order_by_parts(const void *keys, unsigned width, size_t count, survey s,
                            unsigned bottom, build by, part *parts, uint32_t *order,
                            uint32_t *other)
{
  const unsigned index_bits = bits_of(count - 1), fits = key_bits(count);
  const unsigned high = bits_of(s.greatest - s.least);
  RS_ASSERT(high > bottom);
  const unsigned cell_bits =
      least_of(least_of(CELL_BITS, bits_of(count / KEYS_OF_CELL)), high - bottom);
  const unsigned cell_low = high - cell_bits;
  uint32_t *const cells = other; /* and where they are no more, scratch memory */
  uint16_t *const part_of = (uint16_t *)(void *)(cells + ((size_t)1 << cell_bits));
  const size_t fair = (count + PARTS / 2 - 1) / (PARTS / 2);
  const size_t most = fair > WORDS_OF_PART ? fair : WORDS_OF_PART;
  memset(cells, 0, sizeof *cells << cell_bits);
  for (size_t i = 0; i < count; i++)
    cells[(key_at(keys, width, i) - s.least) >> cell_low]++;
  const size_t made =
      make_parts(cells, cell_bits, cell_low, s.least, bottom, fits, most, part_of, parts);
  for (size_t i = 0; i < count; i++) {
    part *const to = &parts[part_of[(key_at(keys, width, i) - s.least) >> cell_low]];
    order[to->end++] = word_at(keys, width, to->least, to->low, index_bits, i);
    RS_ASSERT(to->end <= count);
  }
  for (size_t p = 0, begin = 0; p < made; begin = parts[p++].end) {
    uint32_t *const words = order + begin;
    const size_t some = parts[p].end - begin;
    RS_ASSERT(begin <= parts[p].end);
    if (!words_ascend(words, some)) /* as those of equal keys do */
      sort_words(words, other, some, index_bits, by, WORDS_OF_PART);
  }
  keep_indices(order, count, index_bits);
}

/* ---- Nearly sorted keys ---- */

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

/* True if indices are below `count`, and keys with their indices ascend strictly in this order: so
 * these differ, and it is a permutation. */
INLINED bool ascends(const void *keys, unsigned width, const uint32_t *order, size_t count)
{
  bool wrong = count > 0 && order[0] >= count;
  uint64_t last = count > 0 && !wrong ? key_at(keys, width, order[0]) : 0;
  for (size_t i = 1; i < count && !wrong;) {
    const uint32_t before = order[i - 1];
    if (count - i >= STRIDE && order[i + STRIDE - 1] == before + STRIDE &&
        order[i + STRIDE - 1] < count && is_index_stretch(order + i)) {
      wrong = !stride_ascends(keys, width, before);
      i += STRIDE;
      last = key_at(keys, width, before + STRIDE);
    } else {
      const uint32_t index = order[i++];
      if (index >= count) return false;
      const uint64_t key = key_at(keys, width, index);
      wrong = key < last || (key == last && index <= before);
      last = key;
    }
  }
  return !wrong;
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
  RS_ASSERT(keep <= count);
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

/* `other` holds of each key that is taken out its index, its key of up to 8 bytes, its place in
 * their order, and scratch; and up to 7 bytes that align the keys. */
_Static_assert(FEW_DROPPED >= 7, "4 * FEW_DROPPED >= 4 + 8 + 4 + 4 + 7: they fit in 4 bytes a key");

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
  RS_ASSERT(found == drops);
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
  *found = ascends(keys, width, order, count) ? KEYS_ORDERED : KEYS_WRONG;
  return true;
}

/* Sorts keys that are so few that parts of them are not worth it, or that words have all bits of.
 * True: words have all bits, and ascend strictly. Then they are those of all keys, each once, as
 * both arrays hold no others, even at a place that no pass has written, and none of them is what
 * fills up rows of networks. So the order is right. */
INLINED bool order_as_one(const void *keys, unsigned width, size_t count, survey s, unsigned bottom,
                          build by, uint32_t *order, uint32_t *other)
{
  const unsigned index_bits = bits_of(count - 1), high = bits_of(s.greatest - s.least);
  const unsigned fits = key_bits(count);
  const unsigned low = high > bottom + fits ? high - fits : bottom;
  RS_ASSERT(low >= bottom);
  for (size_t i = 0; i < count; i++)
    order[i] = other[i] = word_at(keys, width, s.least, low, index_bits, i);
  sort_words(order, other, count, index_bits, by, FEW_WORDS);
  const bool ascend = words_ascend(order, count) && order[count - 1] >> WORD_BITS == 0;
  keep_indices(order, count, index_bits);
  return ascend && low == bottom;
}

INLINED keys_found order_unordered(const void *keys, unsigned width, size_t count, survey s,
                                   build by, part *parts, uint32_t *order, uint32_t *other)
{
  RS_ASSERT(s.varying != 0);
  const unsigned bottom = (unsigned)__builtin_ctzll(s.varying);
  const unsigned bits = bits_of(s.greatest - s.least) - bottom;
  if (bits > key_bits(count) && bits <= COUNTED_BITS && count >> bits > 0)
    order_by_values(keys, width, count, s.least, bottom, bits, order, other);
  else if (count > WORTH_PARTS && bits > key_bits(count))
    order_by_parts(keys, width, count, s, bottom, by, parts, order, other);
  else if (order_as_one(keys, width, count, s, bottom, by, order, other))
    return KEYS_ORDERED;
  settled result = settle(keys, width, count, order);
  if (result == TOO_FAR) {
    order_by_all_bits(keys, width, count, s.least, bottom, bits_of(s.greatest - s.least), by, order,
                      other);
    result = settle(keys, width, count, order);
  }
  return result == SETTLED ? KEYS_ORDERED : KEYS_WRONG;
}

/* A build of the code with some instructions. Tasks have 64 KiB of stack, and order_nearly() calls
 * rs_keys_order() again: so what it is part of is a function without tables. */
#define BUILD(name, instructions, networks)                                                        \
  __attribute__((noinline)) instructions static void name##_digits(                                \
      uint32_t *words, uint32_t *other, size_t count, unsigned low, unsigned bits)                 \
  {                                                                                                \
    sort_digits(words, other, count, low, bits);                                                   \
  }                                                                                                \
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
    const build by = {name##_digits, networks};                                                    \
    part parts[PARTS]; /* here, as compilers gave each width an array of its own */                \
    return width == 32 ? order_unordered(keys, 32, count, s, by, parts, order, other)              \
                       : order_unordered(keys, 64, count, s, by, parts, order, other);             \
  }                                                                                                \
  static keys_found name(const void *keys, unsigned width, size_t count, uint32_t *order,          \
                         uint32_t *other)                                                          \
  {                                                                                                \
    survey s;                                                                                      \
    keys_found found = KEYS_IN_ORDER;                                                              \
    if (count == 0 || name##_ordered(keys, width, count, &s, order, other, &found)) return found;  \
    return name##_unordered(keys, width, count, s, order, other);                                  \
  }

BUILD(plain, , false)

keys_found rs_keys_order_plainly(const void *keys, unsigned width, size_t count, uint32_t *order,
                                 uint32_t *other)
{
  return plain(keys, width, count, order, other);
}

bool rs_order_ascends(const void *keys, unsigned width, const uint32_t *order, size_t count)
{
  return width == 32 ? ascends(keys, 32, order, count) : ascends(keys, 64, order, count);
}

bool rs_order_settles(const void *keys, unsigned width, size_t count, uint32_t *order)
{
  return (width == 32 ? settle(keys, 32, count, order) : settle(keys, 64, count, order)) == SETTLED;
}

#ifdef RS_HAS_AVX
/* Shifts of one step and wider vectors. */
BUILD(avx2, __attribute__((target("avx2,bmi2"))), true)

static bool has_avx2(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}
#endif

keys_found rs_keys_order(const void *keys, unsigned width, size_t count, uint32_t *order,
                         uint32_t *other)
{
  RS_ASSERT((width == 32 || width == 64) && count <= (size_t)1 << KEYS_ORDER_BITS);
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
  RS_ASSERT((width == 32 || width == 64) && count <= UINT32_MAX);
  if (count == 0) return found;
#ifdef RS_HAS_AVX
  if (has_avx2())
    return avx2_ordered(keys, width, count, &s, order, other, &found) ? found : KEYS_UNORDERED;
#endif
  return plain_ordered(keys, width, count, &s, order, other, &found) ? found : KEYS_UNORDERED;
}
