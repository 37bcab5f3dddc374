/* Merges of sorted runs by the CUDA plugin: the same as the CPU's, and the CPU's if the plugin is
 * not asked, cannot, or fails. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/recsort.h"
#include "standin.h"
#include "support/random.h"

enum { MOST = 3000, MOST_RUNS = 300, THREADS = 2, MEMORY = 1 << 24 };

typedef struct row {
  uint32_t key;
  uint8_t kind; /* 0 or 1 */
  uint8_t rest[7];
  uint64_t place;
} row;

static const char row_schema[] =
    "record: Row\nfields:\n- {name: key, type: uint32}\n"
    "- {name: kind, type: enum, base: uint8, values: [x, y]}\n"
    "- {name: rest, type: uint8, count: 7}\n- {name: place, type: uint64}\n"
    "keys: [{field: key}, {field: kind}]\n";

static const char wide_schema[] =
    "record: Row\nfields:\n- {name: text, type: bytes, count: 24}\nkeys: [{field: text}]\n";

static row rows[MOST], merged[MOST], expected[MOST];
static size_t offsets[MOST_RUNS + 1];
static size_t run_count, count;
static uint64_t random_state = 5;

/* ---- Runs ---- */

static int compare_rows(const void *a, const void *b)
{
  const row *const x = a, *const y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  return x->place < y->place ? -1 : x->place > y->place;
}

/* Makes runs, some of them empty, and what must become of them. */
static void make_runs(size_t runs, size_t records)
{
  run_count = runs;
  count = records;
  for (size_t r = 0; r < runs; r++)
    offsets[r] = r % 5 == 3 ? offsets[r - 1] : records * r / runs;
  offsets[runs] = records;
  for (size_t i = 0; i < records; i++)
    rows[i] = (row){(uint32_t)random_below(&random_state, records / 3 + 1),
                    (uint8_t)random_below(&random_state, 2),
                    {0},
                    i};
  for (size_t r = 0; r < runs; r++)
    qsort(rows + offsets[r], offsets[r + 1] - offsets[r], sizeof *rows, compare_rows);
  for (size_t i = 0; i < records; i++)
    rows[i].place = i;
  memcpy(expected, rows, records * sizeof *rows);
  qsort(expected, records, sizeof *rows, compare_rows);
}

static recsort_runs runs_at(const row *records)
{
  return (recsort_runs){.struct_size = sizeof(recsort_runs),
                        .count = run_count,
                        .offsets = offsets,
                        .records = records};
}

/* ---- Sorters ---- */

static recsort_status create(const char *plugin, const char *option, recsort_sorter **sorter)
{
  recsort_schema *schema = NULL;
  const recsort_options options = {.struct_size = sizeof options,
                                   .plugin = plugin,
                                   .threads = THREADS,
                                   .plugin_options = &option,
                                   .plugin_option_count = option != NULL};
  assert_int_equal(
      recsort_schema_load_memory(row_schema, sizeof row_schema - 1, "row", NULL, &schema, NULL),
      RECSORT_OK);
  const recsort_status status = recsort_sorter_create(schema, &options, sorter, NULL);
  recsort_schema_destroy(schema);
  return status;
}

static recsort_sorter *open_sorter(const char *plugin, const char *option)
{
  recsort_sorter *sorter = NULL;
  standin_begin((standin_plan){.memory = MEMORY});
  assert_int_equal(create(plugin, option, &sorter), RECSORT_OK);
  return sorter;
}

static void close_sorter(recsort_sorter *sorter)
{
  recsort_sorter_destroy(sorter);
  assert_int_equal(standin_look().blocks + standin_look().streams + standin_look().misuses, 0);
}

/* Whether the device has worked since the last time. */
static bool device_worked(void)
{
  static long before;
  const long launches = standin_look().launches;
  const bool worked = launches != before;
  before = launches;
  return worked;
}

static void expect_merged(const row *records)
{
  assert_memory_equal(records, expected, count * sizeof *records);
}

/* By each of the three calls; on the device, or not. */
static void merge_each_way(recsort_sorter *sorter, bool on_device)
{
  static uint64_t index[MOST];
  const recsort_runs runs = runs_at(rows);
  const void *arrays[MOST_RUNS] = {NULL};
  recsort_runs apart = runs;
  (void)device_worked();
  memcpy(merged, rows, sizeof rows);
  assert_int_equal(recsort_merge(sorter, merged, offsets, run_count, NULL), RECSORT_OK);
  expect_merged(merged);
  assert_int_equal(device_worked(), on_device && count > 0);
  memset(merged, 0xee, sizeof merged);
  for (size_t r = 0; r < run_count; r++)
    arrays[r] = offsets[r] < offsets[r + 1] ? rows + offsets[r] : NULL;
  apart.arrays = arrays;
  apart.records = NULL;
  assert_int_equal(recsort_merge_to(sorter, &apart, merged, NULL), RECSORT_OK);
  expect_merged(merged);
  assert_int_equal(device_worked(), on_device && count > 0);
  for (unsigned bits = 32; bits <= 64; bits += 32) {
    memset(index, 0xee, sizeof index);
    assert_int_equal(recsort_argmerge(sorter, &runs, index, bits, NULL), RECSORT_OK);
    for (size_t i = 0; i < count; i++)
      assert_int_equal(bits == 32 ? ((const uint32_t *)index)[i] : index[i], expected[i].place);
    assert_int_equal(device_worked(), on_device && count > 0);
  }
}

/* ---- On the device ---- */

static void test_as_the_cpu_does(void **state)
{
  static const size_t runs[] = {1, 2, 3, 20, MOST_RUNS}, records[] = {0, 1, 60, 500, MOST};
  recsort_sorter *const sorter = open_sorter("cuda", "merge=device");
  (void)state;
  for (size_t r = 0; r < sizeof runs / sizeof *runs; r++)
    for (size_t n = 0; n < sizeof records / sizeof *records; n++) {
      make_runs(runs[r], records[n]);
      merge_each_way(sorter, true);
    }
  close_sorter(sorter);
}

static void test_the_host_unless_asked(void **state)
{
  static const char *const options[] = {NULL, "merge=host", "memory=16M"};
  (void)state;
  make_runs(7, 1000);
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    recsort_sorter *const sorter = open_sorter("cuda", options[i]);
    merge_each_way(sorter, false);
    close_sorter(sorter);
  }
}

static void test_wrong_options(void **state)
{
  static const char *const options[] = {"merge=", "merge=cpu", "merge=devices", "merge=hos"};
  (void)state;
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    recsort_sorter *sorter = NULL;
    standin_begin((standin_plan){.memory = MEMORY});
    assert_int_equal(create("cuda", options[i], &sorter), RECSORT_PLUGIN_ERROR);
  }
}

/* ---- What is wrong with runs ---- */

static void expect_fault(recsort_sorter *sorter, const row *records, recsort_status status,
                         const char *words)
{
  const recsort_runs runs = runs_at(records);
  static uint32_t index[MOST];
  static row own[MOST];
  recsort_error errors[3] = {{0}};
  memcpy(own, records, sizeof own);
  (void)device_worked();
  assert_int_equal(recsort_merge(sorter, own, offsets, run_count, &errors[0]), status);
  assert_memory_equal(own, records, sizeof own);
  assert_int_equal(recsort_merge_to(sorter, &runs, merged, &errors[1]), status);
  assert_int_equal(recsort_argmerge(sorter, &runs, index, 32, &errors[2]), status);
  assert_true(device_worked());
  for (size_t i = 0; i < 3; i++)
    if (strncmp(errors[i].text, words, strlen(words)) != 0) fail_msg("%s", errors[i].text);
}

static void test_what_is_wrong_is_named(void **state)
{
  static row wrong[MOST];
  recsort_sorter *const sorter = open_sorter("cuda", "merge=device");
  (void)state;
  make_runs(4, 1000); /* run 2 is empty */
  memcpy(wrong, rows, sizeof wrong);
  wrong[offsets[2] - 1] = wrong[offsets[1]]; /* the next run hides it */
  expect_fault(sorter, wrong, RECSORT_UNSORTED_RUN, "run 1, record 249: ");
  memcpy(wrong, rows, sizeof wrong);
  wrong[1].key = UINT32_MAX;
  expect_fault(sorter, wrong, RECSORT_UNSORTED_RUN, "run 0, record 2: ");
  memcpy(wrong, rows, sizeof wrong);
  wrong[offsets[1]].kind = 2;
  expect_fault(sorter, wrong, RECSORT_INVALID_RECORD, "run 1, record 0: field \"kind\" holds 0x2");
  merge_each_way(sorter, true);
  close_sorter(sorter);
}

/* ---- What the device cannot do ---- */

static void test_too_little_memory(void **state)
{
  (void)state;
  make_runs(7, 1000);
  recsort_sorter *sorter = NULL;
  standin_begin((standin_plan){.memory = 20000});
  assert_int_equal(create("cuda", "merge=device", &sorter), RECSORT_OK);
  merge_each_way(sorter, false);
  close_sorter(sorter);
  sorter = open_sorter("cuda", "merge=device");
  standin_begin((standin_plan){.memory = 20000}); /* others have taken it */
  merge_each_way(sorter, false);
  standin_begin((standin_plan){.memory = MEMORY});
  merge_each_way(sorter, true);
  close_sorter(sorter);
}

static void test_keys_that_are_too_wide(void **state)
{
  static const char *const option = "merge=device";
  static const size_t bounds[] = {0, 2, 3};
  char records[3][24] = {"a", "c", "b"};
  const recsort_options options = {.struct_size = sizeof options,
                                   .plugin = "cuda",
                                   .plugin_options = &option,
                                   .plugin_option_count = 1};
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  (void)state;
  standin_begin((standin_plan){.memory = MEMORY});
  assert_int_equal(
      recsort_schema_load_memory(wide_schema, sizeof wide_schema - 1, "wide", NULL, &schema, NULL),
      RECSORT_OK);
  assert_int_equal(recsort_sorter_create(schema, &options, &sorter, NULL), RECSORT_OK);
  recsort_schema_destroy(schema);
  (void)device_worked();
  assert_int_equal(recsort_merge(sorter, records, bounds, 2, NULL), RECSORT_OK);
  assert_false(device_worked());
  assert_true(records[0][0] == 'a' && records[1][0] == 'b' && records[2][0] == 'c');
  close_sorter(sorter);
}

/* ---- Failures ---- */

/* Each call fails in turn. In place nothing has changed then. */
static void test_each_call_fails(void **state)
{
  recsort_sorter *sorter = open_sorter("cuda", "merge=device");
  size_t failed = 0;
  (void)state;
  make_runs(7, 500);
  const long open = standin_look().calls;
  assert_int_equal(
      recsort_merge(sorter, memcpy(merged, rows, sizeof rows), offsets, run_count, NULL),
      RECSORT_OK);
  const long calls = standin_look().calls;
  close_sorter(sorter);
  for (long at = open + 1; at <= calls; at++) {
    sorter = NULL;
    standin_begin((standin_plan){.memory = MEMORY, .fail_at = at});
    assert_int_equal(create("cuda", "merge=device", &sorter), RECSORT_OK);
    memcpy(merged, rows, sizeof rows);
    const recsort_status status = recsort_merge(sorter, merged, offsets, run_count, NULL);
    assert_memory_equal(merged, status ? rows : expected, count * sizeof *rows);
    failed += status != RECSORT_OK;
    if (at % 8 == 0) merge_each_way(sorter, true);
    close_sorter(sorter);
  }
  assert_true(failed > 20);
}

/* With "auto", the CPU merges then. */
static void test_the_cpu_takes_over(void **state)
{
  (void)state;
  make_runs(7, 500);
  recsort_sorter *sorter = open_sorter("auto", "merge=device");
  assert_int_equal(
      recsort_merge(sorter, memcpy(merged, rows, sizeof rows), offsets, run_count, NULL),
      RECSORT_OK);
  assert_true(standin_look().launches > 0);
  standin_begin((standin_plan){.memory = MEMORY, .fail_at = 20});
  memcpy(merged, rows, sizeof rows);
  assert_int_equal(recsort_merge(sorter, merged, offsets, run_count, NULL), RECSORT_OK);
  expect_merged(merged);
  close_sorter(sorter);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_as_the_cpu_does),   cmocka_unit_test(test_the_host_unless_asked),
      cmocka_unit_test(test_wrong_options),     cmocka_unit_test(test_what_is_wrong_is_named),
      cmocka_unit_test(test_too_little_memory), cmocka_unit_test(test_keys_that_are_too_wide),
      cmocka_unit_test(test_each_call_fails),   cmocka_unit_test(test_the_cpu_takes_over),
  };
  if (setenv("RECSORT_PLUGIN_PATH", RS_CUDA_PLUGIN, 1) != 0) return 2;
  return cmocka_run_group_tests_name("merges", tests, NULL, NULL);
}
