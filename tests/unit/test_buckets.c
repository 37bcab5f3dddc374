/* The sort on the CPU: orders of few keys, splitters, sorts of records and of keys, and what
 * happens if a check fails in the middle. The conformance suite tests whole sorts. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pool.h"
#include "cpu/copy_record.h"
#include "cpu/few_words.h"
#include "cpu/gather.h"
#include "cpu/order.h"
#include "cpu/sorts.h"
#include "cpu/splitters.h"
#include "cpu/streams.h"
#include "cpu/wide_order.h"
#include "support/random.h"

/* ---- Orders ---- */

enum { PATTERNS = 12 };

/* Key `i` of a pattern. There are ties in all of them. */
static uint64_t key_of(unsigned pattern, size_t i, uint64_t random)
{
  switch (pattern) {
  case 0:
    return random & 0x7fff0; /* few bits: one more than fit above an index below 2^14 */
  case 1:
    return random << 32 | (random & 3); /* far apart, and close together */
  case 2:
    return i / 3;
  case 3:
    return UINT64_MAX - i / 3;
  case 4:
    return random % 50 ? i / 5 : random;
  case 5:
    return UINT64_MAX;
  case 6:
    return UINT64_C(1) << random % 64; /* half of all values are close to the least one */
  case 7: /* in order but for one that is too great, two that are too small, and one tied ahead */
    return i % 97 == 3                   ? UINT32_MAX - i
           : i % 97 == 4 || i % 97 == 12 ? i % 7
           : i % 97 == 50                ? i / 4
                                         : i / 2;
  case 8: /* only the first one has a lowest bit, and others are equal above it */
    return i ? (random % 40 + 1) << 4 : 20 << 4 | 1;
  case 9:
    return i % 2 ? random % 7 : UINT64_MAX - random % 7;
  case 10: /* 16 bits vary: too many for an index above 2^15, and no more than are counted */
    return 5 + (random & 0xffff) * 8;
  default: /* words tie that have many bits more than it takes to tell them apart */
    return (random % 2000) << 20 | (random >> 60 & 3);
  }
}

typedef struct numbered {
  uint64_t key;
  uint32_t index;
} numbered;

static int compare(const void *a, const void *b)
{
  const numbered *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->index < y->index ? -1 : 1;
}

typedef keys_found order_function(const void *keys, unsigned width, size_t count, uint32_t *order,
                                  uint32_t *other);

static void check_order(order_function *find, unsigned pattern, unsigned width, size_t count)
{
  uint64_t seed = pattern + count;
  uint64_t *const keys = malloc((count + 1) * sizeof *keys);
  uint32_t *const halves = malloc((count + 1) * sizeof *halves);
  uint32_t *const order = malloc((2 * count + 1) * sizeof *order);
  numbered *const expected = malloc((count + 1) * sizeof *expected);
  order[2 * count] = 12345;
  for (size_t i = 0; i < count; i++) {
    keys[i] = key_of(pattern, i, next_random(&seed));
    halves[i] = (uint32_t)(keys[i] >> 32 ^ keys[i]);
    expected[i] = (numbered){width == 32 ? halves[i] : keys[i], (uint32_t)i};
  }
  bool ascend = true;
  for (size_t i = 1; i < count; i++)
    ascend = ascend && expected[i - 1].key <= expected[i].key;
  qsort(expected, count, sizeof *expected, compare);
  const keys_found found =
      find(width == 32 ? (const void *)halves : keys, width, count, order, order + count);
  assert_int_equal(found, ascend ? KEYS_IN_ORDER : KEYS_ORDERED);
  assert_int_equal(order[2 * count], 12345);
  for (size_t i = 0; i < count; i++)
    if (order[i] != expected[i].index)
      fail_msg("pattern %u, %u bits, %zu keys: place %zu", pattern, width, count, i);
  free(keys);
  free(halves);
  free(order);
  free(expected);
}

static void check_orders(order_function *find)
{
  static const size_t counts[] = {1000,  4095,  4096,  4097,  8192,   8193,  16383,
                                  16384, 16385, 20000, 40000, 131072, 131073};
  for (unsigned pattern = 0; pattern < PATTERNS; pattern++)
    for (unsigned width = 32; width <= 64; width += 32) {
      for (size_t count = 0; count < 300; count++)
        check_order(find, pattern, width, count);
      for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        check_order(find, pattern, width, counts[c]);
    }
  check_order(find, 1, 64, ((size_t)1 << 20) + 1); /* an index that leaves few bits for a digit */
}

static void test_orders(void **state)
{
  (void)state;
  check_orders(rs_keys_order);
  check_orders(rs_keys_order_plainly);
}

/* More keys than rs_keys_order() takes. */
static void test_orders_nearly(void **state)
{
  enum { KEYS = (1 << KEYS_ORDER_BITS) + 5 };
  uint32_t *const keys = malloc(KEYS * sizeof *keys), *const order = malloc(KEYS * sizeof *order);
  uint32_t *const other = malloc(KEYS * sizeof *other);
  uint64_t seed = 1;
  (void)state;
  for (uint32_t i = 0; i < KEYS; i++)
    keys[i] = i / 3;
  assert_int_equal(rs_keys_order_nearly(keys, 32, KEYS, order, other), KEYS_IN_ORDER);
  for (uint32_t i = 0; i < KEYS; i++)
    assert_int_equal(order[i], i);
  for (size_t i = 0; i < KEYS; i += 100)
    keys[i] = (uint32_t)next_random(&seed) % (KEYS / 3);
  assert_int_equal(rs_keys_order_nearly(keys, 32, KEYS, order, other), KEYS_ORDERED);
  assert_true(rs_order_ascends(keys, 32, order, KEYS));
  for (size_t i = 1; i < KEYS; i++)
    assert_true(keys[order[i - 1]] < keys[order[i]] ||
                (keys[order[i - 1]] == keys[order[i]] && order[i - 1] < order[i]));
  for (size_t i = 0; i < KEYS; i += 4)
    keys[i] = (uint32_t)next_random(&seed);
  assert_int_equal(rs_keys_order_nearly(keys, 32, KEYS, order, other), KEYS_UNORDERED);
  free(keys);
  free(order);
  free(other);
}

/* ---- Orders of wide keys ---- */

enum { MOST_WORDS = 4 };

typedef struct numbered_wide {
  uint64_t key[MOST_WORDS];
  size_t words;
  uint32_t index;
} numbered_wide;

static int compare_wide(const void *a, const void *b)
{
  const numbered_wide *x = a, *y = b;
  for (size_t w = x->words; w-- > 0;)
    if (x->key[w] != y->key[w]) return x->key[w] < y->key[w] ? -1 : 1;
  return x->index < y->index ? -1 : 1;
}

enum { ANY, SAME_PREFIX, FEW_VALUES, ASCENDING_KEYS, LAST_BIT, WIDE_PATTERNS };

static uint64_t wide_word(unsigned pattern, size_t i, size_t w, size_t words, uint64_t random)
{
  switch (pattern) {
  case SAME_PREFIX: /* what tells keys apart is below */
    return w + 1 == words ? 1 : w + 2 == words ? random & 1 : random % 5;
  case FEW_VALUES:
    return i * 7 % 5 * UINT64_C(0x3333333333333333);
  case ASCENDING_KEYS:
    return w == 0 ? i / 2 : w + 1 == words;
  case LAST_BIT: /* in order but for bit 0 of the last key */
    return w == 0 ? (i == 16 ? 0 : i / 2 + 1) : 1;
  default:
    return random;
  }
}

static void check_wide_order(unsigned pattern, size_t words, unsigned bits, size_t count)
{
  uint64_t *const keys = malloc(count * words * sizeof *keys), seed = bits + count;
  uint64_t *const column = malloc(count * sizeof *column);
  uint32_t *const order = malloc((3 * count + 1) * sizeof *order);
  numbered_wide *const expected = malloc((count + 1) * sizeof *expected);
  bool ascend = true;
  for (size_t i = 0; i < count; i++) {
    expected[i] = (numbered_wide){.words = words, .index = (uint32_t)i};
    for (size_t w = 0; w < words; w++) {
      uint64_t word = wide_word(pattern, i, w, words, next_random(&seed));
      if (w + 1 == words) word &= UINT64_MAX >> (64 * words - bits);
      if (i % 9 == 8) word = expected[i - 3].key[w];
      keys[i * words + w] = expected[i].key[w] = word;
    }
    ascend = ascend && (i == 0 || compare_wide(&expected[i - 1], &expected[i]) < 0);
  }
  const wide_keys wide = {keys, words, bits};
  qsort(expected, count, sizeof *expected, compare_wide);
  const keys_found found =
      rs_wide_order(&wide, count, column, order, order + count, order + 2 * count);
  assert_int_equal(found, ascend ? KEYS_IN_ORDER : KEYS_ORDERED);
  for (size_t i = 0; i < count; i++)
    if (order[i] != expected[i].index)
      fail_msg("pattern %u, %u bits, %zu keys: place %zu", pattern, bits, count, i);
  const keys_found nearly = rs_wide_order_nearly(&wide, count, column, order, order + count);
  if (pattern == SAME_PREFIX && count > 20) assert_int_equal(nearly, KEYS_UNORDERED);
  if (ascend) assert_int_equal(nearly, KEYS_IN_ORDER);
  if (nearly != KEYS_UNORDERED)
    for (size_t i = 0; i < count; i++)
      assert_int_equal(order[i], expected[i].index);
  free(keys);
  free(column);
  free(order);
  free(expected);
}

static void test_wide_orders(void **state)
{
  static const unsigned below[] = {0, 1, 32, 63};
  (void)state;
  for (unsigned pattern = 0; pattern < WIDE_PATTERNS; pattern++)
    for (size_t words = 2; words <= MOST_WORDS; words++)
      for (size_t b = 0; b < sizeof below / sizeof *below; b++) {
        for (size_t count = 0; count < 40; count++)
          check_wide_order(pattern, words, 64 * (unsigned)words - below[b], count);
        check_wide_order(pattern, words, 64 * (unsigned)words - below[b], 3000);
      }
}

/* ---- Few words ---- */

#ifdef RS_HAS_AVX
/* Words of at most `bits`, of which one in three comes again. */
static void check_few_words(size_t count, unsigned bits, uint64_t *seed)
{
  numbered expected[FEW_WORDS];
  uint32_t words[FEW_WORDS + 1];
  for (size_t i = 0; i < count; i++) {
    words[i] = i % 3 == 2 ? words[i / 2] : (uint32_t)(next_random(seed) >> (64 - bits));
    expected[i] = (numbered){words[i], (uint32_t)i};
  }
  words[count] = 12345;
  qsort(expected, count, sizeof *expected, compare);
  rs_few_words_sort(words, count);
  for (size_t i = 0; i < count; i++)
    if (words[i] != expected[i].key) fail_msg("%zu words of %u bits: place %zu", count, bits, i);
  assert_int_equal(words[count], 12345);
}

static void test_few_words(void **state)
{
  static const unsigned bits[] = {1, 9, 31};
  uint64_t seed = 1;
  (void)state;
  if (!__builtin_cpu_supports("avx2")) skip();
  for (size_t count = 1; count <= FEW_WORDS; count += count < 300 ? 1 : count < 3900 ? 61 : 13)
    for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
      check_few_words(count, bits[b], &seed);
  for (size_t count = FEW_WORDS / 2; count <= FEW_WORDS; count *= 2)
    check_few_words(count, 31, &seed);
}
#endif

/* ---- Splitters ---- */

enum { EACH = 200 /* keys a bucket */ };

typedef struct key_array {
  uint64_t *words;
  size_t each; /* words of a key */
  size_t count;
} key_array;

static const uint64_t *key_in(const key_array *keys, size_t i)
{
  return keys->words + i * keys->each;
}

static int compare_full(const uint64_t *a, const uint64_t *b, size_t words)
{
  for (size_t w = words; w-- > 0;)
    if (a[w] != b[w]) return a[w] < b[w] ? -1 : 1;
  return 0;
}

static int compare_pair(const void *a, const void *b)
{
  return compare_full(a, b, 2);
}

static int compare_word(const void *a, const void *b)
{
  return compare_full(a, b, 1);
}

static void sort_keys(const key_array *keys)
{
  qsort(keys->words, keys->count, keys->each * sizeof(uint64_t),
        keys->each == 1 ? compare_word : compare_pair);
}

/* Keys of 32, 64 or 128 bits, sorted. The upper words of 128 bits have few values, or one. */
static key_array make_keys(unsigned pattern, unsigned width, size_t count)
{
  const key_array keys = {malloc(count * 16), width > 64 ? 2 : 1, count};
  uint64_t seed = pattern;
  for (size_t i = 0; i < count; i++) {
    const uint64_t key = key_of(pattern, i, next_random(&seed));
    keys.words[i * keys.each] = width == 32 ? (uint32_t)(key >> 32 ^ key) : key;
    if (width > 64) keys.words[i * 2 + 1] = pattern % 2 ? 9 : next_random(&seed) % 5 << 40;
  }
  sort_keys(&keys);
  return keys;
}

/* Splitters of a sample that has each key as often as is due to it. */
static splitters *make_splitters(const key_array *keys, size_t buckets)
{
  const size_t samples = buckets * SAMPLES_A_BUCKET;
  splitters *const made = malloc(rs_splitters_size(buckets, keys->each));
  uint32_t *const order = malloc(samples * sizeof *order);
  for (size_t i = 0; i < samples; i++)
    order[i] = (uint32_t)(i * (keys->count / buckets) / SAMPLES_A_BUCKET);
  rs_splitters_make(made, buckets, &(key_sample){keys->words, order, keys->each});
  free(order);
  return made;
}

static void classify_some(const splitters *s, const key_array *keys, unsigned width, size_t first,
                          size_t count, uint16_t *found)
{
  uint32_t halves[CLASSIFY_AT_ONCE];
  for (size_t n = 0; n < count; n++)
    halves[n] = (uint32_t)*key_in(keys, first + n);
  rs_splitters_classify(s, width == 32 ? (const void *)halves : key_in(keys, first), width, count,
                        found);
}

/* Keys in ascending order have buckets in ascending order, equal keys the same one. No bucket is
 * crowded, unless it is said to have equal keys, as it then has. Returns the steps of a search. */
static unsigned check_splitters(unsigned pattern, size_t buckets, unsigned width, size_t *equal)
{
  enum { MOST_TIMES = 4 };
  const key_array keys = make_keys(pattern, width, buckets * EACH);
  splitters *const made = make_splitters(&keys, buckets);
  const unsigned steps = made->steps;
  size_t last = 0, size = 0;
  for (size_t i = 0; i < keys.count; i += CLASSIFY_AT_ONCE) {
    uint16_t found[CLASSIFY_AT_ONCE];
    const size_t some = keys.count - i < CLASSIFY_AT_ONCE ? keys.count - i : CLASSIFY_AT_ONCE;
    classify_some(made, &keys, width, i, some, found);
    for (size_t n = 0; n < some; n++) {
      const bool same =
          i + n > 0 && compare_full(key_in(&keys, i + n), key_in(&keys, i + n - 1), keys.each) == 0;
      assert_true(found[n] >= last && found[n] < buckets);
      if (same || (made->equal[found[n]] && i + n > 0)) assert_int_equal(same, found[n] == last);
      size = found[n] == last ? size + 1 : 1;
      last = found[n];
      *equal += made->equal[last];
      if (size > MOST_TIMES * EACH && !made->equal[last])
        fail_msg("pattern %u, %u bits, %zu buckets: %zu is crowded", pattern, width, buckets, last);
    }
  }
  free(made);
  free(keys.words);
  return steps;
}

static void test_splitters(void **state)
{
  static const unsigned widths[] = {32, 64, 128};
  size_t at_once = 0, all = 0;
  (void)state;
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
    size_t equal = 0;
    for (unsigned pattern = 0; pattern < PATTERNS; pattern++)
      for (size_t buckets = 2; buckets <= 1 << 12; buckets *= 4, all++)
        at_once += check_splitters(pattern, buckets, widths[w], &equal) == 0;
    assert_true(equal > 0); /* frequent keys were found */
  }
  assert_in_range(at_once, 1, all - 1); /* both ways were taken */
}

/* Keys that no sample had: the ones beside a frequent one, and what differs above the window. */
static void test_splitters_of_rare_keys(void **state)
{
  enum { BUCKETS = 8, KEYS = 5 };
  static const uint64_t top[KEYS] = {2, 3, 3, 3, 4}, low[KEYS] = {7, 0, 1, 2, 7};
  (void)state;
  for (unsigned words = 1; words <= 2; words++)
    for (uint64_t frequent = 0; frequent <= UINT64_C(1) << 33; frequent += UINT64_C(1) << 32) {
      const key_array keys = {malloc(BUCKETS * EACH * 16), words, (size_t)BUCKETS * EACH};
      for (size_t i = 0; i < keys.count; i++) {
        keys.words[i * words] = i % 2 ? frequent : frequent + i * 1000;
        if (words == 2) keys.words[i * 2 + 1] = 3;
      }
      sort_keys(&keys);
      splitters *const made = make_splitters(&keys, BUCKETS);
      uint64_t rare[2 * KEYS];
      uint16_t found[KEYS];
      for (size_t k = 0; k < KEYS; k++) {
        rare[k * words] = words == 2 ? frequent + low[k] - 1 : frequent + k - 1;
        if (words == 2) rare[k * 2 + 1] = top[k];
      }
      if (frequent == 0) rare[words == 2 ? 2 : 0] = 0; /* no key is less */
      rs_splitters_classify(made, rare, 64 * words, KEYS, found);
      const size_t at = words == 2 ? 2 : 1; /* the frequent key */
      assert_true(made->equal[found[at]]);
      for (size_t k = 0; k < KEYS; k++) {
        const int side = compare_full(rare + k * words, rare + at * words, words);
        assert_true(side < 0   ? found[k] < found[at]
                    : side > 0 ? found[k] > found[at]
                               : found[k] == found[at]);
      }
      free(made);
      free(keys.words);
    }
}

/* `values` values from `first` on, in a sample that has all of them. Each gets a bucket if there
 * are enough; a key that the sample does not have shares none with them. */
static void check_counted(uint64_t first, size_t values)
{
  enum { BUCKETS = 16 };
  const key_array keys = {malloc(BUCKETS * EACH * sizeof(uint64_t)), 1, (size_t)BUCKETS * EACH};
  for (size_t i = 0; i < keys.count; i++)
    keys.words[i] = first + i * values / keys.count;
  splitters *const made = make_splitters(&keys, BUCKETS);
  const uint64_t some[] = {first, first + values - 1, first - 1, first + values};
  uint16_t found[4];
  rs_splitters_classify(made, some, 64, 4, found);
  for (size_t n = 0; n < 4; n++)
    assert_true(found[n] < BUCKETS && made->count < BUCKETS);
  if (values <= BUCKETS - 2) {
    assert_true(made->equal[found[0]] && made->equal[found[1]]);
    assert_int_equal(found[1] - found[0], values - 1);
  }
  if (first > 0) assert_true(found[2] < found[0] || !made->equal[found[0]]);
  if (first + values > first) assert_true(found[3] > found[1] || !made->equal[found[1]]);
  free(made);
  free(keys.words);
}

static void test_splitters_that_count(void **state)
{
  (void)state;
  for (size_t values = 1; values < 20; values++) {
    check_counted(0, values);
    check_counted(1, values);
    check_counted(1000, values);
    check_counted(UINT64_MAX - values, values);
    check_counted(UINT64_MAX - values + 1, values);
  }
}

/* Most keys are in a band of the range, where a cell is due so many samples. */
static size_t largest_in_band(unsigned each_cell, size_t buckets, uint64_t seed)
{
  enum { OUTSIDE = 50, MEAN = 100 };
  const size_t count = buckets * MEAN, samples = buckets * SAMPLES_A_BUCKET;
  const uint64_t band = ((uint64_t)UINT32_MAX << 20) / each_cell;
  splitters *const made = malloc(rs_splitters_size(buckets, 1));
  uint64_t *const words = malloc(count * sizeof *words);
  uint64_t *const sample = malloc(samples * sizeof *sample);
  uint32_t *const order = malloc(samples * sizeof *order);
  size_t *const sizes = calloc(buckets, sizeof *sizes), largest = 0;
  for (size_t i = 0; i < count; i++) {
    const uint64_t word = next_random(&seed) >> 12;
    words[i] = i % OUTSIDE == 0 ? word : band + word % band;
  }
  for (size_t i = 0; i < samples; i++) {
    sample[i] = words[next_random(&seed) % count];
    order[i] = (uint32_t)i;
  }
  qsort(sample, samples, sizeof *sample, compare_word);
  rs_splitters_make(made, buckets, &(key_sample){sample, order, 1});
  for (size_t i = 0; i < count; i += CLASSIFY_AT_ONCE) {
    uint16_t found[CLASSIFY_AT_ONCE];
    const size_t some = count - i < CLASSIFY_AT_ONCE ? count - i : CLASSIFY_AT_ONCE;
    rs_splitters_classify(made, words + i, 64, some, found);
    for (size_t n = 0; n < some; n++)
      if (++sizes[found[n]] > largest) largest = sizes[found[n]];
  }
  free(made);
  free(words);
  free(sample);
  free(order);
  free(sizes);
  return largest * 10 / MEAN;
}

/* Cells that have about as many words as let their splitters move: no bucket gets more than 4.2
 * times its share, and a sort has room for LARGEST_BUCKET. */
static void test_crowded_cells(void **state)
{
  static const unsigned each[] = {12, 18, 22, 26, 32, 40, 55};
  size_t worst = 0;
  (void)state;
  for (size_t e = 0; e < sizeof each / sizeof *each; e++)
    for (size_t buckets = 256; buckets <= 1 << 12; buckets *= 4)
      for (uint64_t seed = 1; seed <= 4; seed++) {
        const size_t tenths = largest_in_band(each[e], buckets, seed * 1000 + e);
        if (tenths > worst) worst = tenths;
      }
  assert_in_range(worst, 20, 42);
}

/* ---- Copies of records ---- */

static void test_copies_of_any_size(void **state)
{
  char from[200], to[200];
  (void)state;
  for (size_t i = 0; i < sizeof from; i++)
    from[i] = (char)(i + 1);
  for (size_t size = 1; size < 150; size++) {
    memset(to, 0, sizeof to);
    copy_record(to + 1, from + 3, size, copy_class_of(size));
    assert_memory_equal(to + 1, from + 3, size);
    assert_int_equal(to[0], 0);
    for (size_t i = size + 1; i < sizeof to; i++)
      assert_int_equal(to[i], 0);
  }
}

/* ---- Streams ---- */

enum { STREAMS = 7, STREAM_ROOM = 3 * STREAM_PART + 200, GUARD = 0x5a };

/* A record of random bytes at the end of a stream, and of what should be there. */
static void write_one(stream *s, char *part, char *expected, size_t *bytes, size_t size,
                      uint64_t *seed)
{
  char record[STREAM_RECORD];
  for (size_t i = 0; i < size; i++)
    record[i] = (char)next_random(seed);
  copy_record(part + s->filled, record, size, copy_class_of(size));
  s->filled += (uint32_t)size;
  if (s->filled >= STREAM_PART) stream_leave(s, part);
  memcpy(expected + *bytes, record, size);
  *bytes += size;
}

/* Streams to places that begin anywhere in a line, and have no, few or many records. */
static void check_streams(size_t size, uint64_t seed)
{
  static _Alignas(64) char parts[STREAMS][STREAM_BYTES];
  static char places[STREAMS * STREAM_ROOM], expected[STREAMS * STREAM_ROOM];
  stream streams[STREAMS];
  size_t begin[STREAMS], bytes[STREAMS] = {0};
  memset(places, GUARD, sizeof places);
  memset(expected, GUARD, sizeof expected);
  for (size_t n = 0; n < STREAMS; n++) {
    begin[n] = n * STREAM_ROOM + next_random(&seed) % 100;
    streams[n] = stream_at(places + begin[n]);
  }
  for (size_t i = 0; i < STREAMS * STREAM_ROOM; i++) {
    const size_t n = (size_t)next_random(&seed) % (STREAMS - 1); /* the last one stays empty */
    if (bytes[n] + size > (n + 1) * STREAM_PART / 2) continue;
    write_one(&streams[n], parts[n], expected + begin[n], &bytes[n], size, &seed);
  }
  for (size_t n = 0; n < STREAMS; n++) {
    stream_end(&streams[n], parts[n]);
    assert_ptr_equal(streams[n].to, places + begin[n] + bytes[n]);
  }
  stream_done();
  assert_memory_equal(places, expected, sizeof places);
}

static void test_streams(void **state)
{
  (void)state;
  for (size_t size = 1; size <= STREAM_RECORD; size++)
    for (uint64_t seed = 1; seed <= 3; seed++)
      check_streams(size, seed);
}

/* ---- Sorts ---- */

enum { RECORD = 24, COUNT = 300000, FEW_RECORDS = 700 };

/* The host's encoder, which fails from call `fail_at` on. A record has a key of 64 bits, its
 * number, and more; keys of 32 bits are the upper half, and keys of 128 bits go on with a few
 * values. */
static atomic_size_t calls; /* by all threads */
static size_t fail_at;

static uint64_t word_at(const char *records, size_t i, size_t word)
{
  uint64_t value;
  memcpy(&value, records + i * RECORD + 8 * word, sizeof value);
  return value;
}

/* The key of a record, least significant word first. */
static void key_words_of(unsigned width, const char *records, size_t i, uint64_t *words)
{
  const uint64_t key = word_at(records, i, 0);
  words[0] = width == 32 ? key >> 32 : width == 64 ? key : word_at(records, i, 2) % 5;
  words[1] = width == 128 ? key : 0;
}

static void encode_all(unsigned width, const char *records, size_t count, void *keys)
{
  for (size_t i = 0; i < count; i++) {
    uint64_t words[2];
    key_words_of(width, records, i, words);
    const uint32_t half = (uint32_t)words[0];
    memcpy((char *)keys + i * width / 8, width == 32 ? (const void *)&half : words, width / 8);
  }
}

static uint32_t encode(const recsort_key_program *program, const void *records, uint64_t count,
                       void *keys)
{
  encode_all(program->key_width, records, (size_t)count, keys);
  return atomic_fetch_add(&calls, 1) + 1 < fail_at || fail_at == 0;
}

static recsort_plugin_job job_of(unsigned width, unsigned threads, size_t count)
{
  return (recsort_plugin_job){.size = sizeof(recsort_plugin_job),
                              .count = count,
                              .key_bits = width,
                              .key_width = width,
                              .index_bits = 32,
                              .threads = threads,
                              .encode = encode};
}

static recsort_host host_of(unsigned threads)
{
  const team pool = rs_team(NULL, threads);
  return (recsort_host){.size = sizeof(recsort_host), .run = pool.run, .context = pool.context};
}

/* As a job's memory is: aligned, and full of whatever was there. */
static char *make_memory(uint64_t bytes, char **block)
{
  enum { ALIGNED = 64 };
  *block = malloc((size_t)bytes + ALIGNED);
  assert_non_null(*block);
  char *const memory = *block + -(uintptr_t)*block % ALIGNED;
  memset(memory, 0xc3, (size_t)bytes);
  return memory;
}

static recsort_status sort(unsigned width, unsigned threads, const char *records, size_t count,
                           char *sorted)
{
  const recsort_host host = host_of(threads);
  const recsort_key_program program = {
      .size = sizeof program, .record_size = RECORD, .key_bits = width, .key_width = width};
  recsort_plugin_job job = job_of(width, threads, count);
  recsort_plugin_times times = {.size = sizeof times};
  recsort_error error = {0};
  uint64_t bytes = 0;
  char *block;
  void *const instance = (void *)(uintptr_t)&host;
  calls = 0;
  assert_int_equal(
      rs_cpu_records.work_size(instance, &job, &program, records == sorted, &bytes, &error),
      RECSORT_OK);
  job.memory = make_memory(bytes, &block);
  const recsort_status status =
      rs_cpu_records.sort(instance, &job, &program, records, sorted, &times, &error);
  assert_int_equal(status == RECSORT_CORRUPT_RESULT, error.text[0] != 0);
  free(block);
  return status;
}

/* Records in no order; `usual` of 8 have the same key. */
static char *make_records(size_t count, unsigned usual)
{
  char *const records = malloc(count * RECORD);
  uint64_t seed = count;
  assert_non_null(records);
  for (size_t i = 0; i < count; i++) {
    const uint64_t any = next_random(&seed);
    const uint64_t words[] = {any % 8 < usual ? UINT64_C(5) << 60 : any / 3 * 3, i, any};
    memcpy(records + i * RECORD, words, sizeof words);
  }
  return records;
}

/* Fails if record `from` of the input does not come after record `last`. */
static void check_neighbours(unsigned width, const char *before, size_t last, size_t from,
                             size_t place)
{
  uint64_t left[2], right[2];
  key_words_of(width, before, last, left);
  key_words_of(width, before, from, right);
  const int side = compare_full(left, right, 2);
  if (side > 0 || (side == 0 && last >= from))
    fail_msg("%u bits: place %zu has record %zu after %zu", width, place, from, last);
}

/* Keys ascend, equal ones by their numbers, and each record is one of the input's. */
static void check_sorted(unsigned width, const char *before, const char *sorted, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const size_t from = word_at(sorted, i, 1);
    assert_true(from < count);
    assert_memory_equal(sorted + i * RECORD, before + from * RECORD, RECORD);
    if (i > 0) check_neighbours(width, before, word_at(sorted, i - 1, 1), from, i);
  }
}

/* The same for a sort of keys, which gives indices of 32 or 64 bits. */
static void check_keys(unsigned width, unsigned threads, const char *before, size_t count,
                       unsigned index_bits)
{
  const recsort_host host = host_of(threads);
  recsort_plugin_job job = job_of(width, threads, count);
  recsort_plugin_work work = {.size = sizeof work};
  char *block;
  job.index_bits = index_bits;
  assert_true(rs_parallel_work_size(&host, &job, &work));
  char *const memory = make_memory(work.bytes, &block);
  encode_all(width, before, count, memory + work.keys_offset);
  assert_int_equal(rs_parallel_sort(&host, &job, memory), RECSORT_OK);
  size_t last = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t from =
        index_bits == 32 ? ((uint32_t *)(void *)memory)[i] : ((uint64_t *)(void *)memory)[i];
    assert_true(from < count);
    if (i > 0) check_neighbours(width, before, last, from, i);
    last = from;
  }
  free(block);
}

static const unsigned widths[] = {32, 64, 128};
enum { WIDTHS = sizeof widths / sizeof *widths };

/* Sorts the same records in place, to another array, and by their keys. */
static void check_all_sorts(unsigned width, unsigned threads, const char *records, size_t count)
{
  char *const copy = malloc(count * RECORD), *const sorted = malloc(count * RECORD);
  memcpy(copy, records, count * RECORD);
  assert_int_equal(sort(width, threads, copy, count, sorted), RECSORT_OK);
  assert_memory_equal(copy, records, count * RECORD);
  check_sorted(width, records, sorted, count);
  assert_int_equal(sort(width, threads, copy, count, copy), RECSORT_OK);
  check_sorted(width, records, copy, count);
  check_keys(width, threads, records, count, 32);
  check_keys(width, threads, records, count, 64);
  free(copy);
  free(sorted);
}

static void test_sorts(void **state)
{
  static const unsigned usuals[] = {0, 3, 8};
  (void)state;
  for (unsigned n = 0; n < 4 * 3 * WIDTHS; n++) {
    const unsigned width = widths[n / 12], threads = n & 1 ? 3 : 1, usual = usuals[n / 2 % 3];
    const size_t count = n % 12 < 6 ? FEW_RECORDS : COUNT;
    char *const records = make_records(count, usual);
    check_all_sorts(width, threads, records, count);
    free(records);
  }
}

/* Nearly sorted records are one bucket for one thread, unless its sample missed that they are in no
 * order. */
static void test_sorts_nearly(void **state)
{
  enum { IN_ORDER, NEARLY, HIDDEN, REVERSED, INPUTS };
  (void)state;
  for (unsigned n = 0; n < 2 * WIDTHS * INPUTS; n++) {
    const unsigned input = n % INPUTS, width = widths[n / INPUTS % WIDTHS];
    char *const records = make_records(COUNT, 0);
    const uint64_t step = UINT64_MAX / COUNT / 2;
    for (size_t i = 0; i < COUNT; i++) {
      const uint64_t place = input == REVERSED ? COUNT - i : i / 2 * 2;
      const bool stays = (input == NEARLY && i % 100 == 7) || (input == HIDDEN && i % 292 > 200);
      const uint64_t key = place * step;
      if (!stays) memcpy(records + i * RECORD, &key, sizeof key);
    }
    check_all_sorts(width, n < WIDTHS * INPUTS ? 1 : 3, records, COUNT);
    free(records);
  }
}

/* Two neighbours are out of order, where one piece or one block of keys ends and the next begins.
 */
static void test_one_descent(void **state)
{
  enum { PIECE = COUNT / 12, AT_ONCE = CLASSIFY_AT_ONCE };
  static const size_t places[] = {
      1,     AT_ONCE - 1, AT_ONCE,   AT_ONCE + 1,         PIECE - 1,
      PIECE, PIECE + 1,   COUNT - 1, PIECE + AT_ONCE - 2, PIECE + AT_ONCE};
  char *const records = make_records(COUNT, 0);
  (void)state;
  for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
    for (size_t i = 0; i < COUNT; i++) {
      const uint64_t key = (uint64_t)(i == places[p]       ? i - 1
                                      : i + 1 == places[p] ? i + 1
                                                           : i)
                           << 40;
      memcpy(records + i * RECORD, &key, sizeof key);
    }
    check_all_sorts(32, 3, records, COUNT);
  }
  free(records);
}

/* One thread puts so many keys in buckets. */
static void test_many_keys(void **state)
{
  enum { MANY = (1 << 20) + 77 };
  char *const records = make_records(MANY, 3);
  (void)state;
  check_keys(32, 1, records, MANY, 32);
  check_keys(128, 1, records, MANY, 32);
  free(records);
}

/* What the first sample sees is spread over all values, and everything else has few of them: so one
 * bucket would have nearly all records. Another sample sees more. */
static void test_a_misleading_sample(void **state)
{
  enum { BUCKETS = 64 };
  char *const records = make_records(COUNT, 0);
  (void)state;
  for (size_t i = 0; i < COUNT; i++) {
    const uint64_t key = (UINT64_C(1) << 63) + (i * 7919 % COUNT << 32);
    memcpy(records + i * RECORD, &key, sizeof key);
  }
  for (size_t n = 0; n < BUCKETS * SAMPLES_A_BUCKET; n++) { /* as bucket_sort.c takes it */
    const team_range from = team_cut(COUNT, n, (size_t)BUCKETS * SAMPLES_A_BUCKET);
    const uint64_t mixed = (n + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 32, key = n << 54;
    memcpy(records + (from.begin + (size_t)(mixed % (from.end - from.begin))) * RECORD, &key,
           sizeof key);
  }
  check_all_sorts(32, 3, records, COUNT);
  check_all_sorts(128, 1, records, COUNT);
  free(records);
}

/* ---- Keys of very many words ---- */

/* Key i below `words` is 0 except for word words - 1 - i, and all other keys are 0. Each word tells
 * one record apart and leaves the others tied. */
typedef struct staggered {
  size_t count;
  size_t words;
  unsigned threads;
  size_t failures;
  bool done;
} staggered;

static size_t expected_at(const staggered *s, size_t i)
{
  return i < s->count - s->words ? s->words + i : s->count - 1 - i;
}

static void *sort_staggered(void *argument)
{
  staggered *const s = argument;
  const recsort_host host = host_of(s->threads);
  const recsort_plugin_job job = job_of(64 * (unsigned)s->words, s->threads, s->count);
  recsort_plugin_work work = {.size = sizeof work};
  if (!rs_parallel_work_size(&host, &job, &work)) return NULL;
  char *block, *const memory = make_memory(work.bytes, &block);
  uint64_t *const keys = (uint64_t *)(void *)(memory + work.keys_offset);
  memset(keys, 0, s->count * s->words * sizeof *keys);
  for (size_t i = 0; i < s->words; i++)
    keys[i * s->words + s->words - 1 - i] = 1;
  if (rs_parallel_sort(&host, &job, memory)) return NULL;
  for (size_t i = 0; i < s->count; i++)
    s->failures += ((uint32_t *)(void *)memory)[i] != expected_at(s, i);
  s->done = true;
  free(block);
  return NULL;
}

/* Sorts on a small stack: tasks have 64 KiB of it. */
static void sort_on_a_small_stack(staggered s)
{
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
  const size_t wanted = 96 << 10;
#else
  const size_t wanted = 384 << 10;
#endif
  const size_t least = (size_t)sysconf(_SC_THREAD_STACK_MIN);
  const size_t stack_size = wanted > least ? wanted : least;
  pthread_attr_t attributes;
  pthread_t thread;
  assert_int_equal(pthread_attr_init(&attributes), 0);
  assert_int_equal(pthread_attr_setstacksize(&attributes, stack_size), 0);
  assert_int_equal(pthread_create(&thread, &attributes, sort_staggered, &s), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(pthread_attr_destroy(&attributes), 0);
  assert_true(s.done);
  assert_int_equal(s.failures, 0);
}

static void test_keys_of_many_words(void **state)
{
  (void)state;
  sort_on_a_small_stack((staggered){.count = 2500, .words = 2500, .threads = 1});
  sort_on_a_small_stack((staggered){.count = 3 << 16, .words = 30, .threads = 1});
  sort_on_a_small_stack((staggered){.count = 3 << 16, .words = 30, .threads = 3});
}

/* ---- Threads, memory, failures ---- */

/* One thread sorts so few records at once, and encodes them by few calls. */
static bool has_one_bucket(unsigned threads, size_t count)
{
  enum { FEW_CALLS = 10 };
  char *const records = make_records(count, 0), *const before = make_records(count, 0);
  assert_int_equal(sort(32, threads, records, count, records), RECSORT_OK);
  check_sorted(32, before, records, count);
  free(records);
  free(before);
  return calls < FEW_CALLS;
}

/* A copy, 3 bytes a record, and what each thread works in. A sort of keys has the keys too. */
static void check_memory(unsigned width, size_t size)
{
  enum { THREADS = 16, ELEMENTS = 200000 /* a thread, as recsort.h says */ };
  const uint64_t each = ELEMENTS * ((uint64_t)width / 8 + 20);
  const recsort_host host = host_of(THREADS);
  const recsort_key_program program = {
      .size = sizeof program, .record_size = (uint32_t)size, .key_bits = width, .key_width = width};
  const recsort_plugin_job job = job_of(width, THREADS, (size_t)1 << 27);
  recsort_plugin_work work = {.size = sizeof work};
  uint64_t bytes = 0;
  assert_int_equal(
      rs_cpu_records.work_size((void *)(uintptr_t)&host, &job, &program, 1, &bytes, NULL),
      RECSORT_OK);
  assert_true(bytes > job.count * size);
  assert_true(bytes <= job.count * (size + 3) + THREADS * each);
  assert_true(rs_parallel_work_size(&host, &job, &work));
  assert_true(work.bytes <= job.count * (2 * (uint64_t)width / 8 + 7) + THREADS * each);
}

static void test_memory_of_threads(void **state)
{
  (void)state;
  check_memory(32, 8);
  check_memory(64, 16);
  check_memory(128, 16);
  check_memory(256, 32);
}

/* More records never need less memory, up to more than any machine has. */
static void test_memory_grows(void **state)
{
  enum { TWICE = 2 }; /* with one thread, and with four */
  const uint64_t turns[] = {UINT32_MAX, UINT64_C(11453243391)};
  const recsort_host host = host_of(4);
  uint64_t last[TWICE] = {0};
  size_t turn = 0;
  (void)state;
  for (uint64_t count = 1; count < RS_CPU_MOST; count += count / 5 + 1) {
    if (turn < sizeof turns / sizeof *turns && count > turns[turn]) count = turns[turn++];
    for (unsigned n = 0; n < 2 * TWICE; n++) {
      const recsort_plugin_job job = job_of(64, n % 2 ? 4 : 1, (size_t)(count + n / 2));
      recsort_plugin_work work = {.size = sizeof work};
      assert_true(rs_parallel_work_size(&host, &job, &work));
      assert_true(work.bytes >= last[n % 2]);
      assert_true(work.bytes <=
                  count * 22 + (UINT64_C(1) << 31)); /* buckets do not grow for ever */
      last[n % 2] = work.bytes;
    }
  }
  const recsort_plugin_job most = job_of(64, 4, (size_t)RS_CPU_MOST + 1);
  assert_false(rs_parallel_work_size(&host, &most, &(recsort_plugin_work){.size = 0}));
}

static void test_few_records_have_one_thread(void **state)
{
  (void)state;
  assert_true(has_one_bucket(1, 131072));
  assert_true(has_one_bucket(2, 131071));
  assert_false(has_one_bucket(2, 131072));
  assert_true(has_one_bucket(3, 65535));
  assert_false(has_one_bucket(3, 65536));
}

/* From whichever call on the encoder fails, the records are as they were. It is a wrong result if
 * they had begun to move. */
static void check_failures(size_t count, size_t step)
{
  char *const before = make_records(count, 0), *const records = make_records(count, 0);
  recsort_status last = RECSORT_PLUGIN_ERROR;
  fail_at = 0;
  assert_int_equal(sort(32, 1, records, count, records), RECSORT_OK);
  const size_t all = calls;
  for (size_t at = 1; at <= all; at = at < all && at + step > all ? all : at + step) {
    memcpy(records, before, count * RECORD);
    fail_at = at;
    const recsort_status status = sort(32, 1, records, count, records);
    assert_true(status == RECSORT_CORRUPT_RESULT || status == last);
    assert_memory_equal(records, before, count * RECORD);
    last = status;
  }
  assert_int_equal(last, count == COUNT ? RECSORT_CORRUPT_RESULT : RECSORT_PLUGIN_ERROR);
  fail_at = 0;
  free(before);
  free(records);
}

static void test_failures_put_records_back(void **state)
{
  (void)state;
  check_failures(FEW_RECORDS, 1);
  check_failures(COUNT, 397);
}

typedef struct numbers_in_order {
  const uint32_t *keys;
  const uint64_t *wide;
  const uint32_t *order;
} numbers_in_order;

static bool ascends(const numbers_in_order *check, size_t count)
{
  const bool narrow = rs_order_ascends(check->keys, 32, check->order, count);
  assert_int_equal(rs_order_ascends(check->wide, 64, check->order, count), narrow);
  return narrow;
}

/* Runs of indices that follow one another, from `from` on and then from 0, with a defect at each
 * place in turn. */
static void test_what_does_not_ascend(void **state)
{
  enum { MANY = 100 };
  uint32_t order[MANY], keys[MANY + 1];
  uint64_t wide[MANY + 1];
  (void)state;
  for (uint32_t from = 0; from < MANY; from += 7) {
    for (uint32_t i = 0; i < MANY; i++) {
      order[i] = (i + from) % MANY;
      keys[order[i]] = i + 1;
      wide[order[i]] = (uint64_t)(i + 1) << 32;
    }
    const numbers_in_order check = {keys, wide, order};
    assert_true(ascends(&check, MANY));
    for (uint32_t i = 0; i < MANY; i++) {
      const uint32_t index = order[i];
      order[i] = order[(i + 1) % MANY]; /* one comes twice */
      assert_false(ascends(&check, MANY));
      order[i] = MANY; /* outside */
      assert_false(ascends(&check, MANY));
      order[i] = index;
      if (i == 0) continue;
      keys[index] = i; /* as the key before it: then the indices decide */
      wide[index] = (uint64_t)i << 32;
      assert_int_equal(ascends(&check, MANY), order[i - 1] < index);
      keys[index] = i - 1;
      wide[index] = (uint64_t)(i - 1) << 32;
      assert_false(ascends(&check, MANY));
      keys[index] = i + 1;
      wide[index] = (uint64_t)(i + 1) << 32;
    }
  }
  for (uint32_t i = 0; i <= MANY; i++) {
    keys[i] = i;
    wide[i] = i;
    if (i > 0) order[i - 1] = i; /* a run that ends outside, at each place of a stretch */
  }
  for (size_t first = 0; first < INDEX_STRETCH; first++)
    assert_false(ascends(&(numbers_in_order){keys, wide, order + first}, MANY - first));
}

/* What settle() takes for right is right, and it finds what is not a permutation. Only the right
 * one ascends. */
static void test_settles(void **state)
{
  enum { KEYS = 5 };
  static const uint32_t keys[KEYS] = {3, 1, 3, 0, 1};
  static const uint64_t wide[KEYS] = {3, 1, 3, 0, 1};
  static const uint32_t right[KEYS] = {3, 1, 4, 0, 2};
  size_t settled = 0;
  (void)state;
  for (uint32_t n = 0; n < 7776; n++) { /* each order of KEYS indices, of which one is too great */
    uint32_t order[KEYS], other[KEYS], some = n;
    for (size_t i = 0; i < KEYS; i++, some /= KEYS + 1)
      order[i] = other[i] = some % (KEYS + 1);
    unsigned seen = 0;
    for (size_t i = 0; i < KEYS; i++)
      seen |= 1u << order[i];
    const bool each = seen == (1u << KEYS) - 1;
    const bool is_right = !memcmp(order, right, sizeof right);
    assert_int_equal(rs_order_ascends(keys, 32, order, KEYS), is_right);
    assert_int_equal(rs_order_ascends(wide, 64, order, KEYS), is_right);
    assert_int_equal(rs_order_settles(keys, 32, KEYS, order), each);
    assert_int_equal(rs_order_settles(wide, 64, KEYS, other), each);
    if (each) {
      assert_memory_equal(order, right, sizeof right);
      assert_memory_equal(other, right, sizeof right);
      settled++;
    }
  }
  assert_int_equal(settled, 120);
}

/* Records that follow one another, but `from` places further on. */
static void test_runs_of_records(void **state)
{
  enum { RECORDS = 100 };
  uint32_t order[RECORDS], records[RECORDS], to[RECORDS];
  const gathering g = {order, RECORDS, sizeof *records, COPY_TWO_4};
  (void)state;
  for (uint32_t from = 0; from < RECORDS; from++) {
    for (uint32_t i = 0; i < RECORDS; i++) {
      records[i] = 7 * i;
      order[i] = (i + from) % RECORDS;
    }
    rs_gather_some(&g, 0, RECORDS, (char *)records, (char *)to);
    for (uint32_t i = 0; i < RECORDS; i++)
      assert_int_equal(to[i], 7 * order[i]);
  }
}

/* Records of any size, few and more than the caches hold, as a loop over their bytes moves them. */
static void check_gather(size_t size, size_t count)
{
  uint64_t seed = size;
  uint32_t *const order = malloc(count * sizeof *order);
  char *const from = malloc(count * size), *const to = malloc(count * size);
  for (size_t i = 0; i < count * size; i++)
    from[i] = (char)next_random(&seed);
  for (size_t i = 0; i < count; i++)
    order[i] = (uint32_t)(count - 1 - i);
  const gathering g = {order, count, size, copy_class_of(size)};
  rs_gather_some(&g, 0, count, from, to);
  for (size_t i = 0; i < count * size; i++)
    assert_true(to[i] == from[(count - 1 - i / size) * size + i % size]);
  const gathering as_they_are = {NULL, count, size, g.copy};
  const size_t half = count / 2;
  rs_gather_some(&as_they_are, half, half, from, to);
  assert_memory_equal(to, from + half * size, half * size);
  free(order);
  free(from);
  free(to);
}

static void test_gathers(void **state)
{
  (void)state;
  for (size_t size = 1; size < 70; size++)
    check_gather(size, 50);
  check_gather(20, 30000);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_orders),
      cmocka_unit_test(test_orders_nearly),
      cmocka_unit_test(test_wide_orders),
#ifdef RS_HAS_AVX
      cmocka_unit_test(test_few_words),
#endif
      cmocka_unit_test(test_splitters),
      cmocka_unit_test(test_splitters_of_rare_keys),
      cmocka_unit_test(test_splitters_that_count),
      cmocka_unit_test(test_crowded_cells),
      cmocka_unit_test(test_copies_of_any_size),
      cmocka_unit_test(test_streams),
      cmocka_unit_test(test_what_does_not_ascend),
      cmocka_unit_test(test_settles),
      cmocka_unit_test(test_runs_of_records),
      cmocka_unit_test(test_gathers),
      cmocka_unit_test(test_sorts),
      cmocka_unit_test(test_sorts_nearly),
      cmocka_unit_test(test_one_descent),
      cmocka_unit_test(test_many_keys),
      cmocka_unit_test(test_a_misleading_sample),
      cmocka_unit_test(test_keys_of_many_words),
      cmocka_unit_test(test_memory_of_threads),
      cmocka_unit_test(test_memory_grows),
      cmocka_unit_test(test_few_records_have_one_thread),
      cmocka_unit_test(test_failures_put_records_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
