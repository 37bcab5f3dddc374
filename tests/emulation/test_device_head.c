/* Tests the kernels that find the first records of the order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/device_head.h"
#include "emulator.h"
#include "recsort/key_interpreter.h"
#include "support/random.h"

enum { POISON = 0xee, GUARD = 64, MOST = 9000, STRIP = 64 };

/* The key is two numbers: the second one only with 128 bits. */
typedef struct row {
  uint64_t high, low;
  uint32_t place;
} row;

static int compare_rows(const void *a, const void *b)
{
  const row *const x = a, *const y = b;
  if (x->high != y->high) return x->high < y->high ? -1 : 1;
  if (x->low != y->low) return x->low < y->low ? -1 : 1;
  return x->place < y->place ? -1 : x->place > y->place;
}

/* ---- Inputs: a rank for each record ---- */

static uint64_t many_values(uint64_t i, uint64_t count)
{
  (void)count;
  return mix(i + 1);
}

static uint64_t few_values(uint64_t i, uint64_t count)
{
  (void)count;
  return mix(i + 1) % 3;
}

static uint64_t all_equal(uint64_t i, uint64_t count)
{
  (void)i, (void)count;
  return UINT64_MAX;
}

static uint64_t ascending(uint64_t i, uint64_t count)
{
  (void)count;
  return i / 2;
}

static uint64_t descending(uint64_t i, uint64_t count)
{
  return (count - i) / 2;
}

/* The least ones are in the same column of each row, if nothing turns the rows. */
static uint64_t one_column(uint64_t i, uint64_t count)
{
  return i % STRIP == 5 ? i / STRIP : count + mix(i) % 100;
}

/* Each rank is its place in the top bits: digits decide one after the other. */
static uint64_t crowded(uint64_t i, uint64_t count)
{
  (void)count;
  return UINT64_C(1) << mix(i) % 64;
}

static uint64_t (*const inputs[])(uint64_t, uint64_t) = {
    many_values, few_values, all_equal, ascending, descending, one_column, crowded};
enum { INPUTS = sizeof inputs / sizeof *inputs };

/* ---- Cases ---- */

/* `turned`: the numbers are in the other byte order. */
static records_program program_of(uint32_t width, bool turned)
{
  const bool big = key_host_is_big_endian() != turned;
  const recsort_key_step high = {.kind = RECSORT_KEY_UNSIGNED,
                                 .flags = big ? RECSORT_KEY_BIG_ENDIAN : 0,
                                 .offset = offsetof(row, high),
                                 .bytes = 8,
                                 .width = (uint8_t)(width < 64 ? width : 64),
                                 .shift = width > 64 ? 64 : 0};
  records_program program = {.record_size = sizeof(row), .key_width = width, .step_count = 1};
  program.steps[0] = high;
  if (width > 64) {
    program.steps[1] = high;
    program.steps[1].offset = offsetof(row, low);
    program.steps[1].shift = 0;
    program.step_count = 2;
  }
  return program;
}

static void make_rows(row *rows, unsigned input, uint64_t count, uint32_t width)
{
  memset(rows, 0, count * sizeof *rows);
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t rank = inputs[input](i, count);
    const bool greatest = rank == UINT64_MAX; /* then all bits of the key are set */
    rows[i].high = width == 32 ? (uint32_t)rank : width == 64 || greatest ? rank : rank >> 20;
    rows[i].low = width == 128 ? (greatest ? rank : rank << 40) : 0;
    rows[i].place = (uint32_t)i;
  }
}

static uint64_t index_at(const void *order, uint32_t bits, uint64_t i)
{
  return bits == 32 ? ((const uint32_t *)order)[i] : ((const uint64_t *)order)[i];
}

static void check_case(unsigned input, uint64_t count, uint64_t head, uint32_t width, uint32_t bits)
{
  const bool turned = width == 64 && count % 2;
  const records_program program = program_of(width, turned);
  const size_t size = device_head_bytes(count, head), order_size = head * bits / 8;
  row *const rows = malloc(count * sizeof *rows), *const sorted = malloc(count * sizeof *sorted);
  unsigned char *const memory = malloc(size + GUARD), *const order = malloc(order_size + GUARD);
  records_facts facts = {0};
  assert_true(rows && sorted && memory && order);
  make_rows(rows, input, count, width);
  memcpy(sorted, rows, count * sizeof *rows);
  qsort(sorted, count, sizeof *sorted, compare_rows);
  for (uint64_t i = 0; turned && i < count; i++)
    rows[i].high = __builtin_bswap64(rows[i].high);
  memset(memory, POISON, size + GUARD);
  memset(order, POISON, order_size + GUARD);
  const device_head job = {.program = &program,
                           .records = rows,
                           .count = count,
                           .head = head,
                           .index_bits = bits,
                           .memory = memory,
                           .order = order,
                           .facts = &facts};
  if (device_head_find(&job)) fail_msg("%s", emulator_failure());
  for (uint64_t i = 0; i < head; i++)
    if (index_at(order, bits, i) != sorted[i].place)
      fail_msg("input %u, %u of %u, %u bits: place %u", input, (unsigned)head, (unsigned)count,
               width, (unsigned)i);
  for (size_t i = 0; i < GUARD; i++)
    assert_true(memory[size + i] == POISON && order[order_size + i] == POISON);
  assert_int_equal(facts.invalid, 0);
  free(rows);
  free(sorted);
  free(memory);
  free(order);
}

/* Every input, with one strip of columns and several, whole rows and parts. */
static void finds_the_first_records(void **state)
{
  static const struct {
    uint64_t count, head;
  } sizes[] = {{1024, 8}, {1025, 1}, {2047, 8}, {3000, 7}, {MOST, 64}, {MOST - 1, 3}};
  static const uint32_t widths[] = {32, 64, 128};
  uint64_t random = 1;
  (void)state;
  for (unsigned input = 0; input < INPUTS; input++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      const uint32_t width = widths[random_below(&random, 3)];
      emulator_set_order((emulator_order)random_below(&random, EMULATOR_ORDERS), 1 + s);
      check_case(input, sizes[s].count, sizes[s].head, width, random_below(&random, 2) ? 32 : 64);
    }
}

/* All in one strip of few columns: most records are collected, and narrowed digit by digit. */
static void narrows_what_was_collected(void **state)
{
  uint64_t random = 2;
  (void)state;
  for (unsigned input = 0; input < INPUTS; input++)
    for (uint32_t head = 20; head <= 32; head += 12) {
      emulator_set_order((emulator_order)random_below(&random, EMULATOR_ORDERS), 1 + head);
      check_case(input, 1500, head, 128, 32);
      check_case(input, 1500, head, 64, 32);
    }
}

static void reports_invalid_records(void **state)
{
  enum { COUNT = 1100 };
  static uint8_t values[COUNT];
  records_program program = {.record_size = 1, .key_width = 32, .step_count = 1};
  const uint64_t size = device_head_bytes(COUNT, 4);
  uint64_t *const memory = malloc(size);
  uint32_t order[4];
  records_facts facts = {0};
  (void)state;
  assert_non_null(memory);
  program.steps[0] =
      (recsort_key_step){.kind = RECSORT_KEY_OFFSET, .bytes = 1, .width = 2, .limit = 3};
  const device_head job = {.program = &program,
                           .records = values,
                           .count = COUNT,
                           .head = 4,
                           .index_bits = 32,
                           .memory = memory,
                           .order = order,
                           .facts = &facts};
  for (int invalid = 0; invalid < 2; invalid++) {
    values[COUNT - 1] = invalid ? 9 : 3;
    assert_int_equal(device_head_find(&job), 0);
    assert_int_equal(facts.invalid, invalid);
  }
  free(memory);
}

/* Few of many; the memory is less than that of a sort. */
static void suits_few_of_many(void **state)
{
  (void)state;
  assert_false(device_head_suits((1 << 19) - 1, 1));
  assert_true(device_head_suits(1 << 19, 256));
  assert_false(device_head_suits((1 << 21) - 1, 257));
  assert_true(device_head_suits(1 << 21, 2048));
  assert_false(device_head_suits(1 << 24, 2049));
  for (uint64_t count = 1 << 19; count < UINT64_C(1) << 40; count = count * 5 / 4)
    for (uint64_t head = 1; device_head_suits(count, head); head *= 2)
      assert_true(device_head_bytes(count, head) + 8 * head < 16 * count);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_the_first_records),
      cmocka_unit_test(narrows_what_was_collected),
      cmocka_unit_test(reports_invalid_records),
      cmocka_unit_test(suits_few_of_many),
  };
  return cmocka_run_group_tests_name("head", tests, NULL, NULL);
}
