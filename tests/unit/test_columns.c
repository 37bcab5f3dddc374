/* Records whose fields are in arrays of their own. That every kind of key is right is tested in
 * conformance. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/recsort.h"
#include "support/failing_allocator.h"
#include "support/jobs.h"
#include "support/native.h"
#include "support/open.h"
#include "support/random.h"
#include "support/refused.h"

enum { COUNT = 5000 };

static const char schema_text[] =
    "record: Entity\n" NATIVE "fields:\n"
    "  - {name: flags, type: uint16}\n"
    "  - {name: layer, type: bitfield, base: flags, bit: 3, width: 4}\n"
    "  - {name: kind, type: enum, base: uint8, values: [tree, bush, rock]}\n"
    "  - {name: x, type: float32}\n"
    "  - {name: y, type: float32}\n"
    "  - {name: at, type: struct, count: 2, fields: [{name: u, type: int8}, {name: v, type: "
    "int16}]}\n"
    "  - {name: unused, type: uint64}\n"
    "keys: [layer, kind, {distance: {fields: [x, y], from: eye}, order: desc}, \"at[1].v\"]\n";

/* The columns, and for each record the values that order it. */
typedef struct place {
  int8_t u;
  int16_t v;
} place;
static struct entities {
  uint16_t flags[COUNT];
  uint8_t kind[COUNT];
  struct {
    float x, y;
    double between;
  } at[COUNT];
  place pairs[COUNT][2];
} e;

static const recsort_column columns[] = {{"kind", e.kind, 0},
                                         {"x", &e.at[0].x, sizeof e.at[0]},
                                         {"y", &e.at[0].y, sizeof e.at[0]},
                                         {"flags", e.flags, sizeof *e.flags},
                                         {"at", e.pairs, 0}};
enum { COLUMNS = sizeof columns / sizeof *columns };
static const double eye[] = {3, -1};

static recsort_sorter *open_sorter(recsort_options options)
{
  options.struct_size = sizeof options;
  recsort_sorter *const sorter = sorter_of(schema_text, &options);
  assert_int_equal(recsort_sorter_set_parameter(sorter, "eye", eye, 2, NULL), RECSORT_OK);
  return sorter;
}

static int fill(void **state)
{
  uint64_t random = 1;
  (void)state;
  for (size_t i = 0; i < COUNT; i++) {
    e.flags[i] = (uint16_t)next_random(&random);
    e.kind[i] = (uint8_t)random_below(&random, 3);
    e.at[i].x = (float)random_below(&random, 4);
    e.at[i].y = (float)random_below(&random, 4);
    e.pairs[i][1].v = (int16_t)(random_below(&random, 3) - 1);
  }
  return 0;
}

/* ---- The oracle ---- */

static double distance_of(uint32_t i)
{
  const double dx = (double)e.at[i].x - eye[0], dy = (double)e.at[i].y - eye[1];
  return dx * dx + dy * dy;
}

static int compare_keys(uint32_t a, uint32_t b)
{
  const int layers = (e.flags[a] >> 3 & 15) - (e.flags[b] >> 3 & 15);
  const double far = distance_of(b) - distance_of(a);
  if (layers) return layers;
  if (e.kind[a] != e.kind[b]) return e.kind[a] - e.kind[b];
  if (far < 0 || far > 0) return far < 0 ? -1 : 1;
  return e.pairs[a][1].v - e.pairs[b][1].v;
}

static int compare(const void *x, const void *y)
{
  const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
  const int order = compare_keys(a, b);
  return order ? order : (a > b) - (a < b);
}

static uint32_t expected[COUNT], found[COUNT];

static void find_expected(void)
{
  size_t ties = 0;
  for (uint32_t i = 0; i < COUNT; i++)
    expected[i] = i;
  qsort(expected, COUNT, sizeof *expected, compare);
  for (size_t i = 1; i < COUNT; i++)
    ties += compare_keys(expected[i - 1], expected[i]) == 0;
  assert_in_range(ties, COUNT / 10, COUNT);
}

static void expect_sorted(recsort_sorter *sorter)
{
  recsort_error error = {0};
  find_expected();
  memset(found, 0xa5, sizeof found);
  if (argsort_columns(sorter, columns, COLUMNS, COUNT, found, 32, &error))
    fail_msg("%s", error.text);
  assert_memory_equal(found, expected, sizeof found);
}

/* ---- Orders ---- */

static void fields_of_several_kinds_decide(void **state)
{
  (void)state;
  for (unsigned verify = 0; verify <= RECSORT_VERIFY_FULL; verify++) {
    recsort_sorter *const sorter = open_sorter((recsort_options){.verify = (recsort_verify)verify});
    expect_sorted(sorter);
    recsort_sorter_destroy(sorter);
  }
}

/* A struct of arrays in place. */
static void arrays_move_by_the_order(void **state)
{
  recsort_sorter *const sorter = open_sorter((recsort_options){.threads = 1});
  const recsort_array moved[] = {{e.flags, e.flags, sizeof *e.flags},
                                 {e.kind, e.kind, sizeof *e.kind},
                                 {e.at, e.at, sizeof *e.at},
                                 {e.pairs, e.pairs, sizeof *e.pairs}};
  const recsort_job job = {.count = COUNT,
                           .columns = columns,
                           .column_count = COLUMNS,
                           .arrays = moved,
                           .array_count = 4};
  uint64_t again[COUNT];
  (void)state;
  find_expected();
  struct entities *const before = malloc(sizeof e);
  assert_non_null(before);
  *before = e;
  assert_int_equal(run_job(sorter, job, NULL), RECSORT_OK);
  for (size_t i = 0; i < COUNT; i++) {
    assert_int_equal(e.flags[i], before->flags[expected[i]]);
    assert_memory_equal(&e.at[i], &before->at[expected[i]], sizeof e.at[i]);
  }
  assert_int_equal(argsort_columns(sorter, columns, COLUMNS, COUNT, again, 64, NULL), RECSORT_OK);
  for (size_t i = 0; i < COUNT; i++)
    assert_int_equal(again[i], i);
  free(before);
  recsort_sorter_destroy(sorter);
}

static void the_first_ones_are_found(void **state)
{
  enum { HEAD = 20 };
  recsort_sorter *const sorter = open_sorter((recsort_options){0});
  (void)state;
  assert_int_equal(fill(NULL), 0);
  find_expected();
  memset(found, 0xa5, sizeof found);
  const recsort_job job = {.count = COUNT,
                           .columns = columns,
                           .column_count = COLUMNS,
                           .permutation = found,
                           .head = HEAD};
  assert_int_equal(run_job(sorter, job, NULL), RECSORT_OK);
  assert_memory_equal(found, expected, HEAD * sizeof *found);
  assert_int_equal(found[HEAD], 0xa5a5a5a5);
  e.kind[4321] = 9;
  recsort_error error = {0};
  assert_int_equal(run_job(sorter, job, &error), RECSORT_INVALID_RECORD);
  assert_string_equal(error.text, "record 4321: field \"kind\" holds 0x9, which is outside the "
                                  "range of its enum");
  recsort_sorter_destroy(sorter);
  e.kind[4321] = 0;
}

static void invalid_values_are_named(void **state)
{
  recsort_sorter *const sorter = open_sorter((recsort_options){0});
  recsort_error error = {0};
  (void)state;
  e.kind[1234] = 3;
  assert_int_equal(argsort_columns(sorter, columns, COLUMNS, COUNT, found, 32, &error),
                   RECSORT_INVALID_RECORD);
  assert_string_equal(error.text, "record 1234: field \"kind\" holds 0x3, which is outside the "
                                  "range of its enum");
  e.kind[1234] = 1;
  recsort_sorter_destroy(sorter);
}

/* The check of a plugin's result reads the columns, in the order that the plugin says. */
static void wrong_orders_are_found(void **state)
{
  static const char *const scripts[] = {"sort-unsorted", "sort-ties"};
  (void)state;
  assert_int_equal(setenv("RECSORT_PLUGIN_PATH", RS_TEST_PLUGINS "/scripted", 1), 0);
  for (size_t i = 0; i < 2; i++) {
    recsort_sorter *const sorter =
        open_sorter((recsort_options){.plugin = "scripted", .verify = RECSORT_VERIFY_FULL});
    assert_int_equal(unsetenv("RECSORT_TEST_SCRIPT"), 0);
    expect_sorted(sorter);
    assert_int_equal(setenv("RECSORT_TEST_SCRIPT", scripts[i], 1), 0);
    REFUSED(argsort_columns(sorter, columns, COLUMNS, COUNT, found, 32, &error),
            RECSORT_CORRUPT_RESULT);
    recsort_sorter_destroy(sorter);
  }
  assert_int_equal(unsetenv("RECSORT_TEST_SCRIPT"), 0);
  assert_int_equal(unsetenv("RECSORT_PLUGIN_PATH"), 0);
}

/* ---- Refusals ---- */

static void wrong_columns_are_refused(void **state)
{
  static const struct {
    recsort_column column; /* instead of the one for `kind`, or behind the others */
    bool added;
    const char *text;
  } cases[] = {
      {{NULL, e.kind, 0}, true, "column 5: no field of the record is \"\""},
      {{"colour", e.kind, 0}, true, "column 5: no field of the record is \"colour\""},
      {{"at.u", e.kind, 0}, true, "column 5: no field of the record is \"at.u\""},
      {{"layer", e.flags, 0},
       true,
       "column 5: \"layer\" is a bitfield; name the field that holds its bits"},
      {{"x", e.at, sizeof *e.at}, true, "columns 1 and 5 are both the field \"x\""},
      {{"unused", NULL, 0}, true, "column 5, \"unused\": data must not be NULL"},
      {{"unused", e.at, 7},
       true,
       "column 5, \"unused\": the stride is 7, but the field has 8 bytes"},
      {{"kind", NULL, 0}, false, "column 0, \"kind\": data must not be NULL"},
      {{"unused", e.at, 0}, false, "the keys need the field \"kind\", which has no column"},
  };
  recsort_sorter *const sorter = open_sorter((recsort_options){0});
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    recsort_column wrong[COLUMNS + 1];
    recsort_error error = {0};
    memcpy(wrong, columns, sizeof columns);
    wrong[cases[i].added ? COLUMNS : 0] = cases[i].column;
    assert_int_equal(
        argsort_columns(sorter, wrong, COLUMNS + cases[i].added, COUNT, found, 32, &error),
        RECSORT_INVALID_ARGUMENT);
    assert_string_equal(error.text, cases[i].text);
  }
  REFUSED(argsort_columns(sorter, NULL, 1, COUNT, found, 32, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(argsort_columns(sorter, NULL, 0, COUNT, found, 32, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(argsort_columns(NULL, columns, COLUMNS, COUNT, found, 32, &error),
          RECSORT_INVALID_ARGUMENT);
  REFUSED(argsort_columns(sorter, columns, COLUMNS, COUNT, found, 16, &error),
          RECSORT_INVALID_ARGUMENT);
  REFUSED(argsort_columns(sorter, columns, COLUMNS, SIZE_MAX / 4, found, 64, &error),
          RECSORT_OUT_OF_MEMORY);
  REFUSED(argsort_columns(sorter, columns, COLUMNS - 1, COUNT, NULL, 0, &error),
          RECSORT_INVALID_ARGUMENT);
  expect_sorted(sorter); /* as if nothing had happened */
  recsort_sorter_destroy(sorter);
}

/* The index may be beside what keys are made of, but may not overlap it. */
static void an_index_beside_a_column_is_allowed(void **state)
{
  enum { FEW = 100 };
  recsort_sorter *const sorter = open_sorter((recsort_options){0});
  static uint32_t memory[3 * FEW];
  recsort_column moved[COLUMNS];
  (void)state;
  memcpy(moved, columns, sizeof columns);
  moved[0] = (recsort_column){"kind", memory + FEW, sizeof *memory};
  for (size_t at = 0; at <= 2 * FEW; at++) {
    memset(memory, 0, sizeof memory);
    assert_int_equal(argsort_columns(sorter, moved, COLUMNS, FEW, memory + at, 32, NULL),
                     at == 0 || at == 2 * FEW ? RECSORT_OK : RECSORT_INVALID_ARGUMENT);
  }
  recsort_sorter_destroy(sorter);
}

/* Columns of no elements may be NULL, and those of records come after those of columns. */
static void calls_follow_one_another(void **state)
{
  recsort_column none[COLUMNS];
  recsort_sorter *const sorter = open_sorter((recsort_options){0});
  unsigned char records[3][40] = {{0}};
  uint32_t index[3];
  (void)state;
  memcpy(none, columns, sizeof columns);
  for (size_t c = 0; c < COLUMNS; c++)
    none[c].data = NULL;
  assert_int_equal(argsort_columns(sorter, none, COLUMNS, 0, NULL, 32, NULL), RECSORT_OK);
  records[0][2] = 1; /* kind */
  assert_int_equal(recsort_argsort(sorter, records, 3, index, 32, NULL), RECSORT_OK);
  assert_int_equal(index[0], 1);
  assert_int_equal(index[2], 0);
  expect_sorted(sorter);
  recsort_sorter_destroy(sorter);
}

/* The point must be set, and each allocation may fail. */
static void failures_leave_the_sorter_usable(void **state)
{
  failing_allocator memory = {0};
  const recsort_allocator hook = failing_hook(&memory);
  size_t failed = 0;
  const recsort_options options = {
      .struct_size = sizeof options, .allocator = &hook, .threads = 1, .plugin = "cpu"};
  (void)state;
  recsort_sorter *const sorter = sorter_of(schema_text, &options);
  REFUSED(argsort_columns(sorter, columns, COLUMNS, COUNT, found, 32, &error),
          RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_sorter_set_parameter(sorter, "eye", eye, 2, NULL), RECSORT_OK);
  for (;; failed++) {
    assert_int_equal(recsort_sorter_reserve(sorter, NULL, NULL), RECSORT_OK);
    memory.calls = 0;
    memory.fail_at = failed + 1;
    const recsort_status status = argsort_columns(sorter, columns, COLUMNS, COUNT, found, 32, NULL);
    if (status == RECSORT_OK) break;
    assert_int_equal(status, RECSORT_OUT_OF_MEMORY);
  }
  assert_in_range(failed, 1, 10);
  memory.fail_at = 0;
  expect_sorted(sorter);
  const size_t calls = memory.calls;
  expect_sorted(sorter);
  assert_int_equal(memory.calls, calls); /* the second call of a size allocates nothing */
  recsort_sorter_destroy(sorter);
  assert_int_equal(memory.blocks, 0);
  assert_int_equal(memory.wrong, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_of_several_kinds_decide),
      cmocka_unit_test(arrays_move_by_the_order),
      cmocka_unit_test(the_first_ones_are_found),
      cmocka_unit_test(invalid_values_are_named),
      cmocka_unit_test(wrong_orders_are_found),
      cmocka_unit_test(wrong_columns_are_refused),
      cmocka_unit_test(an_index_beside_a_column_is_allowed),
      cmocka_unit_test(calls_follow_one_another),
      cmocka_unit_test(failures_leave_the_sorter_usable),
  };
  return cmocka_run_group_tests(tests, fill, NULL);
}
