/* The sort of whole records on the CPU: orders of few keys, splitters, and what happens if a check
 * fails in the middle. The conformance suite tests whole sorts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/copy_record.h"
#include "cpu/few_words.h"
#include "cpu/gather.h"
#include "cpu/order.h"
#include "cpu/sorts.h"
#include "cpu/splitters.h"
#include "cpu/streams.h"
#include "cpu/wide_order.h"
#include "support/random.h"

/* ---- Orders ---- */

enum { PATTERNS = 10 };

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
  default:
    return i % 2 ? random % 7 : UINT64_MAX - random % 7;
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
  static const size_t counts[] = {1000,  2047,  2048,  2049,   16383, 16384,
                                  16385, 20000, 40000, 131072, 131073};
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
  assert_true(rs_order_has_each(order, KEYS, (char *)other));
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
      rs_wide_order(&wide, false, count, column, order, order + count, order + 2 * count);
  assert_true(found == KEYS_ORDERED || (found == KEYS_IN_ORDER && ascend));
  for (size_t i = 0; i < count; i++)
    if (order[i] != expected[i].index)
      fail_msg("pattern %u, %u bits, %zu keys: place %zu", pattern, bits, count, i);
  const keys_found nearly =
      rs_wide_order(&wide, true, count, column, order, order + count, order + 2 * count);
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

/* Words of `bits`, of which the upper 16 say where they go, and the lowest ones that few were
 * there first. */
static void check_few_words(void (*sort)(uint32_t *, size_t), size_t count, unsigned bits,
                            uint64_t *seed)
{
  numbered expected[FEW_WORDS];
  uint32_t words[FEW_WORDS + 1];
  const unsigned low = bits > 16 ? bits - 16 : 0;
  const uint32_t most = (UINT32_C(1) << (bits - low)) - 1;
  for (size_t i = 0; i < count; i++) {
    const uint32_t any = (uint32_t)next_random(seed) & most;
    const uint32_t upper = i == 0 ? most : i % 3 == 2 ? words[i - 1] >> low : any;
    words[i] = upper << low | ((uint32_t)i & ((UINT32_C(1) << low) - 1));
    expected[i] = (numbered){words[i], (uint32_t)i};
  }
  words[count] = 12345;
  qsort(expected, count, sizeof *expected, compare);
  sort(words, count);
  for (size_t i = 0; i < count; i++)
    if (words[i] != expected[i].key) fail_msg("%zu words of %u bits: place %zu", count, bits, i);
  assert_int_equal(words[count], 12345);
}

static void test_few_words(void **state)
{
  static const unsigned bits[] = {1, 9, 16, 24, 32};
  uint64_t seed = 1;
  (void)state;
  for (size_t count = 1; count <= FEW_WORDS; count++)
    for (size_t b = 0; b < sizeof bits / sizeof *bits; b++) {
      check_few_words(rs_few_words_sort, count, bits[b], &seed);
#if defined(__x86_64__)
      if (__builtin_cpu_supports("avx2"))
        check_few_words(rs_few_words_sort_avx2, count, bits[b], &seed);
#endif
    }
}

/* ---- Splitters ---- */

static int compare_words(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

enum { INDEX_BITS = 20 };

/* Words in ascending order have buckets in ascending order, none of which is crowded if the words
 * differ, as they do where `key_bits` bits of a key are above an index. Keys of 32 bits tell the
 * same buckets where they need no index. Returns whether they did. */
static bool check_splitters(unsigned pattern, size_t buckets, unsigned key_bits)
{
  enum { EACH = 200, MOST_TIMES = 4 };
  const bool differ = key_bits < 64;
  const unsigned index_bits = differ ? INDEX_BITS : 0;
  const size_t count = buckets * EACH;
  uint64_t seed = pattern;
  splitters *const made = malloc(splitters_size(buckets));
  uint64_t *const words = malloc(count * sizeof *words);
  uint64_t *const sample = malloc(buckets * SAMPLES_A_BUCKET * sizeof *sample);
  size_t *const sizes = calloc(buckets, sizeof *sizes);
  for (size_t i = 0; i < count; i++) {
    const uint64_t key = key_of(pattern, i, next_random(&seed));
    words[i] = differ ? key >> (64 - key_bits) << INDEX_BITS | i : key;
  }
  for (size_t i = 0; i < buckets * SAMPLES_A_BUCKET; i++)
    sample[i] = words[i * EACH / SAMPLES_A_BUCKET];
  qsort(words, count, sizeof *words, compare_words);
  qsort(sample, buckets * SAMPLES_A_BUCKET, sizeof *sample, compare_words);
  rs_splitters_make(made, sample, buckets, index_bits);
  const bool keys_tell = key_bits == 32 && splitters_need_keys_only(made);
  uint16_t last = 0;
  for (size_t i = 0; i < count; i += CLASSIFY_AT_ONCE) {
    uint16_t found[CLASSIFY_AT_ONCE];
    const size_t some = count - i < CLASSIFY_AT_ONCE ? count - i : CLASSIFY_AT_ONCE;
    rs_splitters_classify(made, words + i, some, found);
    if (keys_tell) {
      uint32_t keys[CLASSIFY_AT_ONCE];
      uint16_t by_key[CLASSIFY_AT_ONCE];
      for (size_t n = 0; n < some; n++)
        keys[n] = (uint32_t)(words[i + n] >> INDEX_BITS);
      rs_splitters_classify_keys(made, keys, some, by_key);
      assert_memory_equal(by_key, found, some * sizeof *found);
    }
    for (size_t n = 0; n < some; n++) {
      assert_true(found[n] >= last && found[n] < buckets);
      if (i + n > 0 && words[i + n] == words[i + n - 1]) assert_int_equal(found[n], last);
      last = found[n];
      sizes[last]++;
    }
  }
  for (size_t b = 0; b < buckets; b++)
    if (differ && sizes[b] > MOST_TIMES * EACH)
      fail_msg("pattern %u, %zu buckets: %zu in bucket %zu", pattern, buckets, sizes[b], b);
  free(made);
  free(words);
  free(sample);
  free(sizes);
  return keys_tell;
}

static void test_splitters(void **state)
{
  size_t by_keys = 0, all = 0;
  (void)state;
  for (unsigned pattern = 0; pattern < PATTERNS; pattern++)
    for (size_t buckets = 2; buckets <= MOST_BUCKETS; buckets *= 4) {
      check_splitters(pattern, buckets, 64);
      check_splitters(pattern, buckets, 64 - INDEX_BITS);
      by_keys += check_splitters(pattern, buckets, 32);
      all++;
    }
  assert_in_range(by_keys, 1, all - 1); /* both ways were taken */
}

/* Most words are in a band of the range, where a cell is due so many samples. */
static size_t largest_in_band(unsigned each_cell, size_t buckets, uint64_t seed)
{
  enum { EACH = 100, OUTSIDE = 50 };
  const size_t count = buckets * EACH, samples = buckets * SAMPLES_A_BUCKET;
  const uint64_t band = ((uint64_t)UINT32_MAX << INDEX_BITS) / each_cell;
  splitters *const made = malloc(splitters_size(buckets));
  uint64_t *const words = malloc(count * sizeof *words);
  uint64_t *const sample = malloc(samples * sizeof *sample);
  size_t *const sizes = calloc(buckets, sizeof *sizes), largest = 0;
  for (size_t i = 0; i < count; i++) {
    const uint64_t word = next_random(&seed) >> (32 - INDEX_BITS);
    words[i] = i % OUTSIDE == 0 ? word : band + word % band;
  }
  for (size_t i = 0; i < samples; i++)
    sample[i] = words[next_random(&seed) % count];
  qsort(sample, samples, sizeof *sample, compare_words);
  rs_splitters_make(made, sample, buckets, INDEX_BITS);
  for (size_t i = 0; i < count; i += CLASSIFY_AT_ONCE) {
    uint16_t found[CLASSIFY_AT_ONCE];
    const size_t some = count - i < CLASSIFY_AT_ONCE ? count - i : CLASSIFY_AT_ONCE;
    rs_splitters_classify(made, words + i, some, found);
    for (size_t n = 0; n < some; n++)
      if (++sizes[found[n]] > largest) largest = sizes[found[n]];
  }
  free(made);
  free(words);
  free(sample);
  free(sizes);
  return largest * 10 / EACH;
}

/* Cells that have about as many words as let their splitters move: no bucket gets more than 4.2
 * times its share, and a sort has room for 5. */
static void test_crowded_cells(void **state)
{
  static const unsigned each[] = {12, 18, 22, 26, 32, 40, 55};
  size_t worst = 0;
  (void)state;
  for (size_t e = 0; e < sizeof each / sizeof *each; e++)
    for (size_t buckets = 256; buckets <= MOST_BUCKETS; buckets *= 4)
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

/* ---- Failures ---- */

enum { RECORD = 24, COUNT = 300000, FEW_RECORDS = 700 };

/* The host's encoder, which fails at call `fail_at`. A record has a key of 64 bits, its number, and
 * more; keys of 32 bits are the upper half. */
static atomic_size_t calls; /* by all threads */
static size_t fail_at;

static uint32_t encode(const recsort_key_program *program, const void *records, uint64_t count,
                       void *keys)
{
  for (size_t i = 0; i < count; i++) {
    uint64_t key;
    memcpy(&key, (const char *)records + RECORD * i, sizeof key);
    if (program->key_width == 64)
      ((uint64_t *)keys)[i] = key;
    else
      ((uint32_t *)keys)[i] = (uint32_t)(key >> 32);
  }
  return atomic_fetch_add(&calls, 1) + 1 != fail_at;
}

static recsort_status sort(unsigned width, unsigned threads, const char *records, size_t count,
                           char *sorted)
{
  const team pool = rs_team(NULL, threads);
  const recsort_host host = {.size = sizeof host, .run = pool.run, .context = pool.context};
  const recsort_key_program program = {
      .size = sizeof program, .record_size = RECORD, .key_bits = width, .key_width = width};
  recsort_plugin_job job = {.size = sizeof job,
                            .count = count,
                            .key_bits = width,
                            .key_width = width,
                            .index_bits = 32,
                            .threads = threads,
                            .encode = encode};
  recsort_plugin_times times = {.size = sizeof times};
  recsort_error error = {0};
  uint64_t bytes = 0;
  void *const instance = (void *)(uintptr_t)&host;
  calls = 0;
  assert_int_equal(
      rs_cpu_records.work_size(instance, &job, &program, records == sorted, &bytes, &error),
      RECSORT_OK);
  enum { ALIGNED = 64 };
  char *const memory = malloc((size_t)bytes + ALIGNED);
  assert_non_null(memory);
  job.memory = memory + -(uintptr_t)memory % ALIGNED;
  const recsort_status status =
      rs_cpu_records.sort(instance, &job, &program, records, sorted, &times, &error);
  assert_int_equal(status == RECSORT_CORRUPT_RESULT, error.text[0] != 0);
  free(memory);
  return status;
}

static uint64_t word_at(const char *records, size_t i, size_t word)
{
  uint64_t value;
  memcpy(&value, records + i * RECORD + 8 * word, sizeof value);
  return value;
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

/* Keys ascend, equal ones by their numbers, and each record is one of the input's. */
static void check_sorted(unsigned width, const char *before, const char *sorted, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const size_t from = word_at(sorted, i, 1);
    assert_true(from < count);
    assert_memory_equal(sorted + i * RECORD, before + from * RECORD, RECORD);
    if (i == 0) continue;
    const uint64_t last = word_at(sorted, i - 1, 0) >> (64 - width);
    const uint64_t key = word_at(sorted, i, 0) >> (64 - width);
    if (last > key || (last == key && word_at(sorted, i - 1, 1) >= from))
      fail_msg("%u bits, %zu records: place %zu", width, count, i);
  }
}

static void test_sorts(void **state)
{
  char *const sorted = malloc((size_t)COUNT * RECORD);
  (void)state;
  for (unsigned n = 0; n < 16; n++) {
    const unsigned width = n & 1 ? 64 : 32, threads = n & 2 ? 3 : 1, usual = n & 4 ? 3 : 0;
    const size_t count = n & 8 ? FEW_RECORDS : COUNT;
    char *const records = make_records(count, usual), *const before = make_records(count, usual);
    const recsort_status status = sort(width, threads, records, count, sorted);
    /* too many equal words for a bucket: a key of 64 bits leaves no room for an index */
    const bool crowded = width == 64 && usual > 0 && count == COUNT;
    assert_int_equal(status, crowded ? RECSORT_PLUGIN_ERROR : RECSORT_OK);
    assert_memory_equal(records, before, count * RECORD);
    assert_int_equal(sort(width, threads, records, count, records), status);
    if (status == RECSORT_OK) {
      check_sorted(width, before, sorted, count);
      check_sorted(width, before, records, count);
    }
    free(records);
    free(before);
  }
  free(sorted);
}

/* Nearly sorted records are one bucket for one thread. Several threads leave them to the sort of
 * keys, and so does one if its sample missed that they are in no order. */
static void test_sorts_nearly(void **state)
{
  enum { IN_ORDER, NEARLY, HIDDEN, REVERSED, INPUTS };
  char *const sorted = malloc((size_t)COUNT * RECORD);
  (void)state;
  for (unsigned n = 0; n < 4 * INPUTS; n++) {
    const unsigned input = n / 4, width = n & 1 ? 64 : 32, threads = n & 2 ? 3 : 1;
    char *const records = make_records(COUNT, 0), *const before = malloc((size_t)COUNT * RECORD);
    const uint64_t step = UINT64_MAX / COUNT / 2;
    for (size_t i = 0; i < COUNT; i++) {
      const uint64_t place = input == REVERSED ? COUNT - i : i / 2 * 2;
      const bool stays = (input == NEARLY && i % 100 == 7) || (input == HIDDEN && i % 292 > 200);
      const uint64_t key = place * step;
      if (!stays) memcpy(records + i * RECORD, &key, sizeof key);
    }
    memcpy(before, records, (size_t)COUNT * RECORD);
    const recsort_status status = sort(width, threads, records, COUNT, sorted);
    assert_int_equal(status, threads == 1 && input < HIDDEN ? RECSORT_OK : RECSORT_PLUGIN_ERROR);
    assert_int_equal(sort(width, threads, records, COUNT, records), status);
    if (status == RECSORT_OK) {
      check_sorted(width, before, sorted, COUNT);
      check_sorted(width, before, records, COUNT);
    } else {
      assert_memory_equal(records, before, (size_t)COUNT * RECORD);
    }
    free(records);
    free(before);
  }
  free(sorted);
}

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

/* A copy, 3 bytes a record, and what each thread works in. */
static void check_memory(unsigned width, size_t size, uint64_t each)
{
  enum { THREADS = 16 };
  const team pool = rs_team(NULL, THREADS);
  const recsort_host host = {.size = sizeof host, .run = pool.run, .context = pool.context};
  const recsort_key_program program = {
      .size = sizeof program, .record_size = (uint32_t)size, .key_bits = width, .key_width = width};
  const recsort_plugin_job job = {.size = sizeof job,
                                  .count = UINT64_C(1) << 27,
                                  .key_bits = width,
                                  .key_width = width,
                                  .index_bits = 32,
                                  .threads = THREADS};
  uint64_t bytes = 0;
  assert_int_equal(
      rs_cpu_records.work_size((void *)(uintptr_t)&host, &job, &program, 1, &bytes, NULL),
      RECSORT_OK);
  assert_true(bytes > job.count * size);
  assert_true(bytes <= job.count * (size + 3) + THREADS * each);
}

static void test_memory_of_threads(void **state)
{
  (void)state;
  check_memory(32, 8, UINT64_C(6) << 20);
  check_memory(64, 16, UINT64_C(6) << 20);
  check_memory(128, 16, UINT64_C(14) << 20);
  check_memory(256, 32, UINT64_C(14) << 20);
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

/* Whichever call of the encoder fails, the records are as they were. */
static void check_failures(size_t count, size_t step)
{
  char *const before = make_records(count, 0), *const records = make_records(count, 0);
  fail_at = 0;
  assert_int_equal(sort(32, 1, records, count, records), RECSORT_OK);
  const size_t all = calls;
  for (size_t at = 1; at <= all; at = at < all && at + step > all ? all : at + step) {
    memcpy(records, before, count * RECORD);
    fail_at = at;
    assert_int_equal(sort(32, 1, records, count, records),
                     at == all && count == COUNT ? RECSORT_CORRUPT_RESULT : RECSORT_PLUGIN_ERROR);
    assert_memory_equal(records, before, count * RECORD);
  }
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

static void test_what_is_no_permutation(void **state)
{
  enum { MANY = 100 };
  static const uint32_t good[] = {2, 0, 3, 1}, twice[] = {2, 0, 3, 3}, outside[] = {2, 0, 4, 1};
  uint32_t order[MANY];
  char seen[MANY + 1] = {0};
  (void)state;
  assert_true(rs_order_has_each(good, 4, seen));
  assert_false(rs_order_has_each(twice, 4, seen));
  assert_false(rs_order_has_each(outside, 4, seen));
  assert_int_equal(seen[4], 0); /* nothing is written there */
  for (uint32_t from = 0; from < MANY; from++) {
    for (uint32_t i = 0; i < MANY; i++)
      order[i] = (i + from) % MANY;
    assert_true(rs_order_has_each(order, MANY, seen));
    for (uint32_t i = 0; i < MANY; i++)
      order[i] = i + from;
    assert_int_equal(rs_order_has_each(order, MANY, seen), from == 0);
    order[60] = order[61]; /* in a run, one comes twice */
    assert_false(rs_order_has_each(order, MANY, seen));
  }
  assert_int_equal(seen[MANY], 0);
}

/* What settle() takes for right is right, and it finds what is not a permutation. */
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
    char seen[KEYS];
    const bool each = rs_order_has_each(order, KEYS, seen);
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
      cmocka_unit_test(test_few_words),
      cmocka_unit_test(test_splitters),
      cmocka_unit_test(test_crowded_cells),
      cmocka_unit_test(test_copies_of_any_size),
      cmocka_unit_test(test_streams),
      cmocka_unit_test(test_what_is_no_permutation),
      cmocka_unit_test(test_settles),
      cmocka_unit_test(test_runs_of_records),
      cmocka_unit_test(test_gathers),
      cmocka_unit_test(test_sorts),
      cmocka_unit_test(test_sorts_nearly),
      cmocka_unit_test(test_memory_of_threads),
      cmocka_unit_test(test_few_records_have_one_thread),
      cmocka_unit_test(test_failures_put_records_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
