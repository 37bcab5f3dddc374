/* Tests the kernels for records, and that their checks notice errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/records.h"
#include "emulator.h"
#include "support/random.h"

enum { POISON = 0xee, GUARD = 64 };

static const uint64_t counts[] = {1, 2, 31, 32, 33, 255, 256, 257, 1000};
enum { COUNTS = sizeof counts / sizeof *counts, MOST = 1000 };

/* Allocates `size` bytes and a guard behind them. */
static unsigned char *allocate(size_t size)
{
  unsigned char *const at = malloc(size + GUARD);
  assert_non_null(at);
  memset(at, POISON, size + GUARD);
  return at;
}

/* Frees it. False if the guard was overwritten. */
static bool release(unsigned char *at, size_t size)
{
  bool whole = true;
  for (size_t i = 0; i < GUARD; i++)
    whole = whole && at[size + i] == POISON;
  free(at);
  return whole;
}

static void shuffle(uint64_t *order, uint64_t count, uint64_t *random)
{
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t j = random_below(random, i + 1);
    order[i] = order[j];
    order[j] = i;
  }
}

static void narrow(const uint64_t *order, uint64_t count, uint32_t bits, void *to)
{
  for (uint64_t i = 0; i < count; i++)
    if (bits == 32)
      ((uint32_t *)to)[i] = (uint32_t)order[i];
    else
      ((uint64_t *)to)[i] = order[i];
}

/* ---- Keys ---- */

/* 13 bytes: a big-endian uint32_t, an enum from 5 to 8, a uint64_t. */
enum { RECORD = 13, ENUM_AT = 4, WORD_AT = 5, LEAST = 5, VALUES = 4, ENUM_BITS = 2 };

static const recsort_key_step steps[] = {
    {.kind = RECSORT_KEY_UNSIGNED, .flags = RECSORT_KEY_BIG_ENDIAN, .bytes = 4, .width = 32},
    {.kind = RECSORT_KEY_OFFSET,
     .flags = RECSORT_KEY_DESCENDING,
     .offset = ENUM_AT,
     .bytes = 1,
     .width = ENUM_BITS,
     .bias = LEAST,
     .limit = VALUES - 1},
    {.kind = RECSORT_KEY_UNSIGNED, .offset = WORD_AT, .bytes = 8, .width = 64}};

/* A key program of `steps_used` steps from `first` on. */
static records_program program_of(uint32_t first, uint32_t steps_used, uint32_t key_width)
{
  records_program program = {
      .record_size = RECORD, .key_width = key_width, .step_count = steps_used};
  uint32_t shift = 0;
  for (uint32_t s = steps_used; s-- > 0;) {
    program.steps[s] = steps[first + s];
    program.steps[s].shift = shift;
    shift += steps[first + s].width;
  }
  return program;
}

/* The values of a record. */
typedef struct values {
  uint32_t number;
  unsigned value; /* the enum's, from 0 */
  uint64_t word;
} values;

static values put_record(unsigned char *record, uint64_t *random)
{
  const values v = {(uint32_t)next_random(random), (unsigned)random_below(random, VALUES),
                    next_random(random)};
  for (unsigned i = 0; i < 4; i++)
    record[i] = (unsigned char)(v.number >> (24 - 8 * i));
  record[ENUM_AT] = (unsigned char)(LEAST + v.value);
  memcpy(record + WORD_AT, &v.word, sizeof v.word);
  return v;
}

/* True if a key is right: the enum and the number, 34 bits in 64; all fields, 98 bits in 128; the
 * number in 32. */
static bool is_key(const unsigned char *key, uint32_t width, values v)
{
  const uint64_t descending = VALUES - 1 - v.value;
  uint64_t words[2] = {0, 0};
  memcpy(words, key, width / 8);
  if (width == 32) return words[0] == v.number;
  if (width == 64) return words[0] == ((uint64_t)v.number << ENUM_BITS | descending);
  return words[0] == v.word && words[1] == ((uint64_t)v.number << ENUM_BITS | descending);
}

/* The sums, computed byte by byte. */
static record_sums sums_of(const unsigned char *records, uint64_t count, uint64_t size)
{
  record_sums sums = {0, 0};
  for (uint64_t i = 0; i < count; i++)
    record_add(&sums, record_hash(records + i * size, size, 1));
  return sums;
}

static bool is_same(record_sums a, record_sums b)
{
  return a.low == b.low && a.high == b.high;
}

static bool encodes(uint64_t count, uint32_t width, bool spoil, uint64_t *random)
{
  const records_program program = program_of(0, width == 32 ? 1 : width == 64 ? 2 : 3, width);
  unsigned char *const records = allocate(count * RECORD), *const keys =
                                                               allocate(count * width / 8);
  const bool summed = next_random(random) % 2;
  values v[MOST];
  records_facts facts, found = {.invalid = 7, .broken = 7};
  for (uint64_t i = 0; i < count; i++)
    v[i] = put_record(records + i * RECORD, random);
  const uint64_t spoilt = random_below(random, count);
  if (spoil) records[spoilt * RECORD + ENUM_AT] = LEAST + VALUES;
  bool good = records_begin(&facts, NULL) == 0 &&
              records_encode(&program, records, count, keys, summed, &facts, NULL) == 0 &&
              records_end(&facts, &found, NULL) == 0 && !found.broken &&
              (found.invalid != 0) == (spoil && width > 32) &&
              is_same(found.came, summed ? sums_of(records, count, RECORD) : (record_sums){0, 0});
  for (uint64_t i = 0; i < count; i++)
    good =
        good && ((spoil && i == spoilt && width > 32) || is_key(keys + i * width / 8, width, v[i]));
  good = release(keys, count * width / 8) && good;
  return release(records, count * RECORD) && good;
}

/* One field of every kind, width and order; it is an aligned word of the device's order of bytes,
 * or not. The host's interpreter makes the same keys. */
static bool makes_words(uint64_t count, uint64_t *random)
{
  static const uint64_t special[] = {0, 1, UINT64_MAX, INT64_MAX, 0x7f800000, 0x7ff0000000000000};
  const uint8_t bytes = random_below(random, 2) ? 4 : 8;
  const uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
  const uint16_t flags[] = {RECSORT_KEY_DESCENDING, RECSORT_KEY_NAN_TOTAL, RECSORT_KEY_NAN_FIRST,
                            RECSORT_KEY_BIG_ENDIAN};
  recsort_key_step step = {.kind = (uint16_t)(1 + random_below(random, RECSORT_KEY_FLOAT)),
                           .offset = random_below(random, 3) ? 8 : 5,
                           .bytes = bytes,
                           .width = (uint8_t)(8 * bytes)};
  for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
    if (random_below(random, 2)) step.flags |= flags[f];
  if (step.kind == RECSORT_KEY_FLOAT) step.limit = bytes == 4 ? 0x7f800000 : 0x7ff0000000000000;
  if (step.kind == RECSORT_KEY_OFFSET) step.limit = UINT64_MAX;
  records_program program = {.record_size = random_below(random, 3) ? 24 : 21,
                             .key_width = step.width,
                             .step_count = 1,
                             .steps = {step}};
  const size_t size = program.record_size, key_bytes = count * bytes;
  unsigned char *const records = allocate(count * size), *const keys = allocate(key_bytes);
  records_facts facts = {0};
  for (uint64_t i = 0; i < count; i++) {
    uint64_t value = next_random(random);
    if (i % 2) value = special[random_below(random, 6)] ^ (random_below(random, 2) ? sign : 0);
    if (i % 8 == 1) value += random_below(random, 3) - 1;
    key_store(records + i * size + step.offset, bytes, key_host_is_big_endian(), value);
  }
  bool good = records_encode(&program, records, count, keys, false, &facts, NULL) == 0;
  for (uint64_t i = 0; i < count; i++) {
    bool valid = true;
    const uint64_t code = key_field(&step, records + i * size, &valid);
    good = good && key_load(keys + i * bytes, bytes, key_host_is_big_endian()) == code;
  }
  good = release(keys, key_bytes) && good;
  return release(records, count * size) && good;
}

/* A C string of 11 bytes in two steps, an integer of 3 bytes with two null values, and a float of
 * one byte, with any flags. The host's interpreter makes the same keys: test_key.c judges it. */
static bool makes_fields(uint64_t count, uint64_t *random)
{
  enum { SIZE = 15, STEPS = 6, KEY_WORDS = 2 };
  static const uint16_t flags[] = {RECSORT_KEY_DESCENDING, RECSORT_KEY_NAN_FIRST};
  records_program program = {
      .record_size = SIZE,
      .key_width = 64 * KEY_WORDS,
      .step_count = STEPS,
      .steps = {
          {.kind = RECSORT_KEY_TEXT, .bytes = 8, .width = 64, .shift = 57},
          {.kind = RECSORT_KEY_TEXT, .offset = 8, .bytes = 3, .bit = 1, .width = 24, .shift = 33},
          {.kind = RECSORT_KEY_NULLABLE,
           .offset = 11,
           .bytes = 3,
           .bit = 2,
           .width = 24,
           .shift = 9,
           .bias = 0x800000},
          {.kind = RECSORT_KEY_OPERAND, .bias = 0x7fffff},
          {.kind = RECSORT_KEY_OPERAND, .bias = 0x800000},
          {.kind = RECSORT_KEY_FLOAT,
           .flags = RECSORT_KEY_MINUS_0_NAN,
           .offset = 14,
           .bytes = 1,
           .bit = 1,
           .width = 9,
           .limit = 0xfe}}};
  const uint16_t text = random_below(random, 2) ? RECSORT_KEY_DESCENDING : 0;
  if (random_below(random, 3) == 0) program.step_count = 2; /* none has operands */
  unsigned char *const records = allocate(count * SIZE), *const keys = allocate(count * 16);
  records_facts facts = {0};
  for (uint32_t s = 0; s < STEPS; s++) {
    if (s < 2) program.steps[s].flags |= RECSORT_KEY_BIG_ENDIAN | text;
    for (size_t f = 0; f < 2 && s >= 2; f++)
      if (random_below(random, 2)) program.steps[s].flags |= flags[f];
  }
  for (uint64_t i = 0; i < count; i++) {
    unsigned char *const record = records + i * SIZE;
    for (size_t b = 0; b < SIZE; b++)
      record[b] = (unsigned char)next_random(random);
    if (random_below(random, 4)) record[random_below(random, 11)] = 0;
    if (random_below(random, 2)) key_store(record + 11, 3, false, random_below(random, 3) - 1);
    if (random_below(random, 4) == 0) record[14] = 0x80;
  }
  bool good = records_encode(&program, records, count, keys, false, &facts, NULL) == 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t expected[KEY_WORDS] = {0, 0}, code = 0;
    bool valid = true;
    for (uint32_t s = 0; s < program.step_count; s++) {
      code = key_step(&program.steps[s], records + i * SIZE, code, &valid);
      key_place(expected, &program.steps[s], code);
    }
    good = good && memcmp(keys + i * 16, expected, sizeof expected) == 0;
  }
  good = release(keys, count * 16) && good;
  return release(records, count * SIZE) && good;
}

/* A distance and a dot product of the same three fields, which are not aligned; some coordinates of
 * the vector are in memory. The host's interpreter makes the same keys: test_computed.c judges it.
 */
static bool makes_sums(uint64_t count, uint64_t *random)
{
  enum { SIZE = 15, STEPS = 8, KEY_WORDS = 2 };
  static const double vector[] = {0.6, -3, 0.7};
  records_program program = {.record_size = SIZE, .key_width = 128, .step_count = STEPS};
  for (uint32_t s = 0; s < STEPS; s++) {
    recsort_key_step *const step = &program.steps[s];
    const uint32_t c = s % 4 - 1;
    if (s % 4 == 0) {
      *step = (recsort_key_step){.kind = s ? RECSORT_KEY_DOT : RECSORT_KEY_DISTANCE,
                                 .flags = random_below(random, 2) ? RECSORT_KEY_DESCENDING : 0,
                                 .bit = 3,
                                 .width = s ? 32 : 64,
                                 .shift = s ? 0 : 32,
                                 .limit = s ? 0x7f800000 : 0x7ff0000000000000};
      continue;
    }
    *step = (recsort_key_step){.kind = RECSORT_KEY_OPERAND,
                               .offset = 1 + 4 * c,
                               .bytes = 4,
                               .bit = RECSORT_KEY_FLOAT,
                               .shift = 23,
                               .bias = key_double_bits(vector[c])};
    if (s < 4 || random_below(random, 2)) continue;
    step->flags |= RECSORT_KEY_POINT_AT;
    step->bias = (uintptr_t)&vector[c];
  }
  unsigned char *const records = allocate(count * SIZE), *const keys = allocate(count * 16);
  records_facts facts = {0};
  for (uint64_t i = 0; i < count; i++)
    for (uint32_t c = 0; c < 3; c++) {
      const float number = (float)random_below(random, 50) / 3 - 8;
      const uint64_t raw = random_below(random, 9) ? key_float_bits(number) : next_random(random);
      key_store(records + i * SIZE + 1 + 4 * c, 4, false, raw);
    }
  bool good = records_encode(&program, records, count, keys, false, &facts, NULL) == 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t expected[KEY_WORDS] = {0, 0};
    bool valid = true;
    for (uint32_t s = 0; s < STEPS; s += 4)
      key_place(expected, &program.steps[s],
                key_step(&program.steps[s], records + i * SIZE, 0, &valid));
    good = good && memcmp(keys + i * 16, expected, sizeof expected) == 0;
  }
  good = release(keys, count * 16) && good;
  return release(records, count * SIZE) && good;
}

/* Records on their way back: a bit of one is flipped, or one of a key. */
typedef enum stray { NO_STRAY, STRAY_RECORD, STRAY_KEY, STRAYS } stray;

static bool confirms(uint64_t count, uint32_t width, uint64_t size, stray planted, uint64_t *random)
{
  records_program program = program_of(0, width == 32 ? 1 : width == 64 ? 2 : 3, width);
  const uint64_t spoilt = random_below(random, count), key_bytes = width / 8;
  unsigned char *const records = allocate(count * size), *const keys = allocate(count * key_bytes);
  records_facts facts;
  program.record_size = size;
  for (uint64_t i = 0; i < count; i++) {
    (void)put_record(records + i * size, random);
    for (uint64_t b = RECORD; b < size; b++)
      records[i * size + b] = (unsigned char)next_random(random);
  }
  bool good = records_begin(&facts, NULL) == 0 &&
              records_encode(&program, records, count, keys, true, &facts, NULL) == 0;
  if (planted == STRAY_RECORD) records[spoilt * size + random_below(random, size)] ^= 1;
  if (planted == STRAY_KEY) keys[spoilt * key_bytes + random_below(random, key_bytes)] ^= 0x80;
  good = good && records_confirm(&program, records, count, keys, &facts, NULL) == 0;
  const record_sums left = facts.left;
  good = good && is_same(left, sums_of(records, count, size)) &&
         is_same(facts.came, left) == (planted != STRAY_RECORD) &&
         (planted == STRAY_RECORD || (facts.strayed != 0) == (planted == STRAY_KEY));
  good = release(keys, count * key_bytes) && good;
  return release(records, count * size) && good;
}

/* ---- Pairs ---- */

typedef enum pair_fault { NO_PAIR_FAULT, TIE_TURNED, TIE_TWICE, LESS, PAIR_FAULTS } pair_fault;

static void put_key(unsigned char *keys, uint32_t width, uint64_t i, uint64_t value)
{
  if (width == 32)
    ((uint32_t *)(void *)keys)[i] = (uint32_t)value;
  else
    for (uint32_t w = 0; w < width / 64; w++)
      ((uint64_t *)(void *)keys)[i * (width / 64) + w] = w + 1 == width / 64 ? value : ~value;
}

/* Pairs in order, two for each key, with a fault planted at the second of two, or later. */
static bool sees_order(uint64_t count, uint32_t width, uint32_t bits, pair_fault planted,
                       uint64_t *random)
{
  uint64_t order[MOST + 1];
  const size_t key_bytes = count * width / 8, order_bytes = count * bits / 8;
  unsigned char *const keys = allocate(key_bytes), *const at = allocate(order_bytes);
  uint32_t disorder = 0;
  const uint64_t place = random_below(random, 2) ? count - 1 : random_below(random, count);
  const bool tie = place % 2 == 1, first = place == 0;
  for (uint64_t i = 0; i < count; i++) {
    put_key(keys, width, i, i / 2 + 1);
    order[i] = i % 2 ? count + 7 : i;
  }
  if (planted == TIE_TURNED && tie) order[place - 1] = count + 8;
  if (planted == TIE_TWICE && tie) order[place - 1] = count + 7;
  if (planted == LESS) put_key(keys, width, place, place / 2 - (!tie && !first));
  narrow(order, count, bits, at);
  const bool wrong = planted == LESS ? !first : planted != NO_PAIR_FAULT && tie;
  const records_order pairs = {at, count, bits, (uint32_t)width, keys, {&disorder, NULL, 0}};
  bool good = records_ordered(&pairs, NULL) == 0 && (disorder != 0) == wrong;
  good = release(keys, key_bytes) && good;
  return release(at, order_bytes) && good;
}

/* ---- Permutations ---- */

typedef enum fault { NO_FAULT, ONE_TWICE, OUT_OF_RANGE, FAR_OUT, FAULTS } fault;

/* True if the check gives the right answer. */
static bool judges(uint64_t count, uint32_t bits, fault planted, uint64_t *random)
{
  uint64_t order[MOST];
  const size_t order_bytes = count * bits / 8, seen_bytes = records_seen_bytes(count);
  unsigned char *const at = allocate(order_bytes), *const seen = allocate(seen_bytes);
  records_facts facts = {0};
  shuffle(order, count, random);
  const uint64_t i = random_below(random, count);
  if (planted == ONE_TWICE) order[i] = order[(i + 1) % count];
  if (planted == OUT_OF_RANGE) order[i] = count;
  if (planted == FAR_OUT) order[i] = UINT32_MAX;
  narrow(order, count, bits, at);
  bool good = records_check(at, bits, count, (uint32_t *)(void *)seen, &facts, NULL) == 0 &&
              !facts.invalid &&
              (facts.broken != 0) == (planted != NO_FAULT && !(planted == ONE_TWICE && count == 1));
  good = release(at, order_bytes) && good;
  return release(seen, seen_bytes) && good;
}

/* ---- Gather ---- */

/* A key that is too small, or equal to the one before it, may be planted, which is seen on the
 * way. */
static bool gathers(uint64_t count, uint64_t size, uint32_t bits, uint64_t *random)
{
  uint64_t order[MOST];
  uint32_t keys[MOST], disorder = 0;
  uint64_t balance = 0;
  const size_t order_bytes = count * bits / 8, bytes = count * size;
  unsigned char *const records = allocate(bytes), *const at = allocate(order_bytes),
                       *const to = allocate(bytes);
  const uint64_t planted = random_below(random, 2 * count);
  const bool tie = random_below(random, 2);
  for (uint64_t i = 0; i < count; i++)
    keys[i] = i == planted ? (tie ? (uint32_t)i : 0) : (uint32_t)i + 1;
  for (size_t i = 0; i < bytes; i++)
    records[i] = (unsigned char)next_random(random);
  shuffle(order, count, random);
  narrow(order, count, bits, at);
  const bool turned =
      planted > 0 && planted < count && (!tie || order[planted - 1] > order[planted]);
  records_order wanted = {at, count, bits, 32, keys, {&disorder, &balance, 0}};
  bool good = records_gather(records, size, &wanted, to, NULL) == 0 && (disorder != 0) == turned;
  good = balance == 0 && good;
  wanted.certificate = (device_certificate){NULL, NULL, 0}; /* then no keys are read */
  wanted.keys = NULL;
  good = good && records_gather(records, size, &wanted, to, NULL) == 0;
  for (uint64_t i = 0; i < count; i++)
    good = good && memcmp(to + i * size, records + order[i] * size, size) == 0;
  good = release(records, bytes) && good;
  good = release(at, order_bytes) && good;
  return release(to, bytes) && good;
}

/* ---- All cases ---- */

static bool all_is_well(void)
{
  static const uint64_t sizes[] = {1, 2, 3, 4, 6, 8, 13, 16, 20, 24, 48, 64};
  static const uint64_t loads[] = {20, RECORD, 24}; /* loaded by 4 bytes, 1 and 8 */
  uint64_t random = 1;
  bool good = true;
  for (size_t c = 0; c < COUNTS; c++)
    for (unsigned wide = 0; wide < 2; wide++) {
      const uint32_t bits = wide ? 64 : 32;
      emulator_set_order((emulator_order)random_below(&random, EMULATOR_ORDERS),
                         next_random(&random) | 1);
      for (uint32_t width = 32; width <= 128; width *= 2)
        good = encodes(counts[c], width, wide, &random) && good;
      for (unsigned i = 0; i < 40; i++)
        good = makes_words(counts[c], &random) && makes_fields(counts[c], &random) &&
               makes_sums(counts[c], &random) && good;
      for (uint32_t width = 32; width <= 128; width *= 2) {
        for (stray s = NO_STRAY; s < STRAYS; s++)
          good = confirms(counts[c], width, loads[c % 3], s, &random) && good;
        for (pair_fault p = NO_PAIR_FAULT; p < PAIR_FAULTS; p++)
          good = sees_order(counts[c], width, bits, p, &random) && good;
      }
      for (fault f = NO_FAULT; f < FAULTS; f++)
        good = judges(counts[c], bits, f, &random) && good;
      for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        good = gathers(counts[c], sizes[s], bits, &random) && good;
    }
  return good;
}

static void test_all_is_well(void **state)
{
  (void)state;
  assert_true(all_is_well());
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_is_well)};
  return cmocka_run_group_tests_name("records", tests, NULL, NULL);
}
