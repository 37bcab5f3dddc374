/* The ways that data of the host takes with a GPU, in the order of docs/gpu.md: whole records, else
 * runs, else the CPU. The statistics and the counters of the stand-in show which one it took. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/recsort.h"
#include "standin.h"
#include "support/jobs.h"
#include "support/random.h"
#include "support/told.h"

enum { COUNT = 400, MOST_SIZE = 256, ILLEGAL_ADDRESS = 700 };

/* Device memory for all records of 24 bytes; for all pairs, but not for these; for some pairs. */
#define ALL "memory=1M"
#define PAIRS "memory=12000"
#define SOME_PAIRS "memory=4000"

static unsigned char input[COUNT * MOST_SIZE], expected[COUNT * MOST_SIZE],
    sorted[COUNT * MOST_SIZE];

/* What a sort did. */
typedef struct way {
  recsort_status status;
  recsort_stats stats;
  recsort_error error;
  long launches;
} way;

static recsort_sorter *open_sorter(const char *plugin, const char *option, size_t size, size_t key)
{
  char text[160];
  const int length =
      snprintf(text, sizeof text,
               "record: R\nlayout: packed\nfields: [{name: k, type: bytes, count: %zu}, {name: r, "
               "type: bytes, count: %zu}]\nkeys: [k]\n",
               key, size - key);
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  const recsort_options options = {.struct_size = sizeof options,
                                   .plugin = plugin,
                                   .threads = 2,
                                   .plugin_options = &option,
                                   .plugin_option_count = 1};
  assert_int_equal(recsort_schema_load_memory(text, (size_t)length, "ways", NULL, &schema, NULL),
                   RECSORT_OK);
  assert_int_equal(recsort_sorter_create(schema, &options, &sorter, NULL), RECSORT_OK);
  recsort_schema_destroy(schema);
  return sorter;
}

/* Records with few different keys, and what becomes of them by insertion. */
static void make_records(size_t size, size_t key)
{
  uint64_t random = size + key;
  size_t made = 0;
  for (size_t i = 0; i < COUNT * size; i++)
    input[i] =
        (unsigned char)(i % size < key ? random_below(&random, 2) : random_below(&random, 256));
  for (; made < COUNT; made++) {
    size_t at = made;
    for (; at && memcmp(expected + (at - 1) * size, input + made * size, key) > 0; at--)
      memcpy(expected + at * size, expected + (at - 1) * size, size);
    memcpy(expected + at * size, input + made * size, size);
  }
}

/* Sorts records, or finds their order, and checks the result. */
static way sort(recsort_sorter *sorter, bool order, size_t size, size_t key)
{
  uint32_t index[COUNT];
  way w = {.status = RECSORT_OK};
  const long before = standin_look().launches;
  make_records(size, key);
  w.status = order ? recsort_argsort(sorter, input, COUNT, index, 32, &w.error)
                   : recsort_sort_to(sorter, input, COUNT, sorted, &w.error);
  w.launches = standin_look().launches - before;
  w.stats = stats_of(sorter);
  for (size_t i = 0; order && !w.status && i < COUNT; i++)
    memcpy(sorted + i * size, input + index[i] * size, size);
  if (!w.status) assert_memory_equal(sorted, expected, COUNT * size);
  return w;
}

static way sort_by(const char *plugin, const char *option, bool order, size_t size, size_t key)
{
  standin_begin((standin_plan){0});
  recsort_sorter *const sorter = open_sorter(plugin, option, size, key);
  way w = sort(sorter, order, size, key);
  w.stats.choice = w.stats.fallback = w.stats.transfer = NULL; /* they go with the sorter */
  recsort_sorter_destroy(sorter);
  assert_int_equal(standin_look().misuses, 0);
  return w;
}

static void expect_device(const way *w, bool whole)
{
  if (w->status) fail_msg("%s", w->error.text);
  assert_string_equal(w->stats.plugin, "cuda");
  assert_int_equal(w->stats.whole_records, whole);
  assert_true(w->launches > 0);
}

/* ---- 1. Whole records ---- */

static void test_whole_records_that_fit(void **state)
{
  static const size_t sizes[] = {5, 24, 41, 128};
  (void)state;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const way w = sort_by("auto", ALL, false, sizes[s], 4);
    expect_device(&w, true);
  }
}

/* ---- 2. Runs ---- */

/* An order has no records to move, and those of more than 128 bytes stay on the host. */
static void test_keys_alone_of_orders_and_large_records(void **state)
{
  (void)state;
  const way order = sort_by("auto", ALL, true, 24, 4), large = sort_by("auto", ALL, false, 129, 4);
  expect_device(&order, false);
  expect_device(&large, false);
}

static void test_records_without_room_are_sorted_by_their_keys(void **state)
{
  (void)state;
  const way all = sort_by("auto", ALL, true, 24, 4), w = sort_by("auto", PAIRS, false, 24, 4);
  expect_device(&w, false);
  assert_int_equal(w.launches, all.launches); /* all pairs at once */
  assert_true(standin_look().most <= 12000);
}

static void test_pairs_without_room_are_sorted_in_runs(void **state)
{
  (void)state;
  for (int order = 0; order < 2; order++) {
    const way all = sort_by("auto", ALL, true, 24, 4),
              runs = sort_by("auto", SOME_PAIRS, order, 24, 4);
    expect_device(&runs, false);
    assert_true(runs.launches > all.launches);
    assert_true(standin_look().most <= 4000);
  }
}

/* Others take the memory after the sorter was opened. */
static void test_memory_that_is_gone_later(void **state)
{
  static const struct {
    long memory;
    bool whole;
    const char *plugin;
  } table[] = {
      {0, true, "cuda"}, {12000, false, "cuda"}, {4000, false, "cuda"}, {100, false, "cpu"}};
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    standin_begin((standin_plan){0});
    recsort_sorter *const sorter = open_sorter("auto", ALL, 24, 4);
    standin_begin((standin_plan){.memory = table[i].memory});
    const way w = sort(sorter, false, 24, 4);
    assert_int_equal(w.status, RECSORT_OK);
    assert_string_equal(w.stats.plugin, table[i].plugin);
    assert_int_equal(w.stats.whole_records && strcmp(w.stats.plugin, "cuda") == 0, table[i].whole);
    recsort_sorter_destroy(sorter);
  }
}

/* ---- 3. The CPU ---- */

static void test_wide_keys_are_the_cpus(void **state)
{
  size_t bytes;
  (void)state;
  standin_begin((standin_plan){0});
  recsort_sorter *sorter = open_sorter("auto", ALL, 24, 17);
  assert_int_equal(sort_bytes(sorter, COUNT, true, &bytes, NULL), RECSORT_OK);
  for (int order = 0; order < 2; order++) {
    const way w = sort(sorter, order, 24, 17);
    assert_int_equal(w.status, RECSORT_OK);
    assert_string_equal(w.stats.plugin, "cpu");
    assert_non_null(strstr(w.stats.choice, "\"cuda\" cannot sort keys of 192 bits"));
    assert_int_equal(w.launches, 0);
  }
  recsort_sorter_destroy(sorter);
  const way named = sort_by("cuda", ALL, false, 24, 17), fits = sort_by("cuda", ALL, false, 24, 16);
  assert_int_equal(named.status, RECSORT_PLUGIN_ERROR);
  assert_int_equal(named.launches, 0);
  expect_device(&fits, true);
}

static void test_no_device_memory_is_the_cpus(void **state)
{
  (void)state;
  standin_begin((standin_plan){0});
  recsort_sorter *const sorter = open_sorter("auto", "memory=100", 24, 4);
  const way w = sort(sorter, false, 24, 4), named = sort_by("cuda", "memory=100", false, 24, 4);
  assert_int_equal(w.status, RECSORT_OK);
  assert_string_equal(w.stats.plugin, "cpu");
  assert_non_null(strstr(w.stats.fallback, "MiB of device memory are needed"));
  assert_int_equal(w.launches, 0);
  assert_int_equal(named.status, RECSORT_OUT_OF_MEMORY);
  recsort_sorter_destroy(sorter);
}

/* Last, as a device that is lost is so for the whole process. */
static void test_a_lost_device_is_the_cpus(void **state)
{
  (void)state;
  standin_begin((standin_plan){0});
  recsort_sorter *const sorter = open_sorter("auto", ALL, 24, 4);
  const way before = sort(sorter, false, 24, 4);
  expect_device(&before, true);
  standin_begin((standin_plan){.fail_at = 5, .sticky = 1, .code = ILLEGAL_ADDRESS});
  const way w = sort(sorter, false, 24, 4);
  assert_int_equal(w.status, RECSORT_OK);
  assert_string_equal(w.stats.plugin, "cpu");
  assert_non_null(w.stats.fallback);
  recsort_sorter_destroy(sorter);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole_records_that_fit),
      cmocka_unit_test(test_keys_alone_of_orders_and_large_records),
      cmocka_unit_test(test_records_without_room_are_sorted_by_their_keys),
      cmocka_unit_test(test_pairs_without_room_are_sorted_in_runs),
      cmocka_unit_test(test_memory_that_is_gone_later),
      cmocka_unit_test(test_wide_keys_are_the_cpus),
      cmocka_unit_test(test_no_device_memory_is_the_cpus),
      cmocka_unit_test(test_a_lost_device_is_the_cpus),
  };
  if (setenv("RECSORT_PLUGIN_PATH", RS_CUDA_PLUGIN, 1) != 0) return 2;
  return cmocka_run_group_tests_name("ways", tests, NULL, NULL);
}
