/* Tests sorts that stage records: that move them to another array, in an order of their own, and
 * tell where in there each of the sorted ones is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/sort/sample/plan.h"
#include "gpu/algorithms.h"
#include "gpu/records.h"
#include "emulator.h"
#include "support/random.h"

enum { POISON = 0xee, GUARD = 64, SHARED_BYTES = 227 << 10 };

/* Records of `size` bytes, and their key. */
static const struct {
  uint64_t size;
  recsort_key_step key;
} kinds[] = {
    {20, {.kind = RECSORT_KEY_FLOAT, .flags = RECSORT_KEY_DESCENDING, .offset = 16, .bytes = 4}},
    {8, {.kind = RECSORT_KEY_UNSIGNED, .bytes = 4}},
    {12, {.kind = RECSORT_KEY_FLOAT, .flags = RECSORT_KEY_NAN_FIRST, .offset = 4, .bytes = 4}},
    {16, {.kind = RECSORT_KEY_FLOAT, .offset = 8, .bytes = 8}},
    {24, {.kind = RECSORT_KEY_FLOAT, .flags = RECSORT_KEY_NAN_TOTAL, .bytes = 8}},
    {28, {.kind = RECSORT_KEY_SIGNED, .offset = 24, .bytes = 4}},
    {32, {.kind = RECSORT_KEY_SIGNED, .flags = RECSORT_KEY_DESCENDING, .offset = 8, .bytes = 8}},
};

static unsigned char *allocate(uint64_t size)
{
  const uint64_t all = (size + GUARD + DEVICE_ALIGNMENT - 1) / DEVICE_ALIGNMENT * DEVICE_ALIGNMENT;
  unsigned char *const at = aligned_alloc(DEVICE_ALIGNMENT, all);
  assert_non_null(at);
  memset(at, POISON, size + GUARD);
  return at;
}

static void release(unsigned char *at, uint64_t size)
{
  for (unsigned i = 0; i < GUARD; i++)
    assert_int_equal(at[size + i], POISON);
  free(at);
}

/* Few keys, so that there are ties; of floats also zeros of both signs, and NaNs. */
static void fill(unsigned kind, unsigned char *records, uint64_t count, uint64_t *random)
{
  const recsort_key_step *const key = &kinds[kind].key;
  const uint64_t few = 1 + random_below(random, 3) * random_below(random, count);
  fill_random(records, count * kinds[kind].size, random);
  for (uint64_t i = 0; i < count; i++) {
    unsigned char *const at = records + i * kinds[kind].size + key->offset;
    const int64_t number = (int64_t)random_below(random, few) - (int64_t)few / 2;
    const uint64_t zero = random_below(random, 4) ? 0 : UINT64_C(1) << (8 * key->bytes - 1);
    const double wide = (double)number;
    const float narrow = (float)wide;
    if (key->kind != RECSORT_KEY_FLOAT)
      memcpy(at, &number, key->bytes);
    else if (random_below(random, 8) == 0) /* a NaN: the other bits are random */
      at[key->bytes - 1] |= 0x7f, at[key->bytes - 2] |= 0xf8;
    else if (number == 0)
      memcpy(at, &zero, key->bytes);
    else
      memcpy(at, key->bytes == 4 ? (const void *)&narrow : (const void *)&wide, key->bytes);
  }
}

typedef struct numbered {
  uint64_t code, number;
} numbered;

static int compare(const void *a, const void *b)
{
  const numbered *const x = a, *const y = b;
  if (x->code != y->code) return x->code < y->code ? -1 : 1;
  return x->number < y->number ? -1 : 1;
}

/* The order of the records, by the codes that a kernel makes of their keys. */
static numbered *find_order(const records_program *program, const unsigned char *records,
                            uint64_t count)
{
  const uint64_t bytes = program->key_width / 8;
  records_facts facts = {0};
  unsigned char *const codes = allocate(count * bytes);
  numbered *const order = malloc(count * sizeof *order);
  assert_non_null(order);
  assert_int_equal(records_encode(program, records, count, codes, false, &facts, NULL), 0);
  for (uint64_t i = 0; i < count; i++) {
    order[i] = (numbered){0, i};
    memcpy(&order[i].code, codes + i * bytes, bytes);
  }
  qsort(order, count, sizeof *order, compare);
  release(codes, count * bytes);
  return order;
}

static void check(unsigned kind, uint64_t count, uint64_t offset, bool checked, uint64_t *random)
{
  static const sample_tuning tuning = {.most_alone = 2048,
                                       .run = 512,
                                       .least_detected = UINT64_MAX,
                                       .least_decided = UINT64_MAX,
                                       .drop_share = 16,
                                       .limit = 32,
                                       .asked = true};
  const uint64_t size = kinds[kind].size;
  records_program program = {
      .record_size = size, .key_width = 8u * kinds[kind].key.bytes, .step_count = 1};
  program.steps[0] = kinds[kind].key;
  program.steps[0].width = (uint8_t)program.key_width;
  program.steps[0].limit =
      program.key_width == 32 ? UINT64_C(0x7f800000) : UINT64_C(0x7ff0000000000000);
  unsigned char *const memory = allocate(count * size + offset), *const records = memory + offset;
  unsigned char *const room = allocate(count * size);
  uint32_t disorder = 0;
  uint64_t balance = 0;
  device_words words;
  device_job job = {.count = count,
                    .key_bits = program.key_width,
                    .key_width = program.key_width,
                    .index_bits = 32,
                    .shared_bytes = SHARED_BYTES,
                    .tuning = &tuning,
                    .multiprocessors = 2};
  fill(kind, records, count, random);
  numbered *const expected = find_order(&program, records, count);
  const device_algorithm *const algorithm = &device_algorithms[0];
  assert_true(algorithm->skills(&job).stages);
  assert_true(records_words(&program, records, &words));
  const device_move move = {records, room, size};
  job.move = &move;
  if (checked) job.certificate = (device_certificate){&disorder, &balance, 0};
  const uint64_t extra = algorithm->extra_bytes(&job), bytes = device_bytes(&job, extra);
  unsigned char *const space = allocate(bytes);
  device_buffers buffers = device_divide(&job, space, extra);
  unsigned side = 0;
  buffers.words = &words;
  assert_int_equal(algorithm->sort(&job, &buffers, &side), 0);
  const uint32_t *const places = buffers.indices[side];
  for (uint64_t i = 0; i < count; i++) {
    assert_true(places[i] < count);
    if (memcmp(room + places[i] * size, records + expected[i].number * size, size) != 0)
      fail_msg("record %d of %d, kind %u", (int)i, (int)count, kind);
  }
  unsigned char *const sorted = allocate(count * size);
  const records_order order = {
      .indices = places, .count = count, .index_bits = 32, .certificate = job.certificate};
  assert_int_equal(records_gather(room, size, &order, sorted, NULL), 0);
  for (uint64_t i = 0; i < count; i++)
    assert_memory_equal(sorted + i * size, records + expected[i].number * size, size);
  assert_true(disorder == 0 && balance == 0);
  release(sorted, count * size);
  free(expected);
  release(space, bytes);
  release(room, count * size);
  release(memory, count * size + offset);
}

static void test_records_are_staged(void **state)
{
  static const uint64_t counts[] = {2001, 4096, 9001};
  uint64_t random = 1;
  (void)state;
  for (unsigned kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
    for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
      emulator_set_order((emulator_order)random_below(&random, EMULATOR_ORDERS),
                         next_random(&random) | 1);
      check(kind, counts[c], c == 1 ? kinds[kind].key.bytes : 0, c > 0, &random);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_records_are_staged)};
  return cmocka_run_group_tests_name("staged", tests, NULL, NULL);
}
