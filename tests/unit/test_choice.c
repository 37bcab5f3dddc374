/* The choice of the plugin: no library is loaded before it is needed. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/platform/libraries.h"
#include "sorter.h"
#include "support/failing_allocator.h"
#include "support/jobs.h"
#include "support/native.h"
#include "support/open.h"
#include "support/plugins.h"
#include "support/told.h"

#define WRONG RS_TEST_PLUGINS "/wrong"
#define SCRIPTED RS_TEST_PLUGINS "/scripted"

enum { LEAST = 12288, MANY = 2 * LEAST }; /* as recsort.h says */

static uint32_t records[MANY];

/* musl never unloads a library. So there, what an earlier test loaded is no mistake. */
#if defined(__GLIBC__) || defined(_WIN32)
enum { UNLOADS = true };
#else
enum { UNLOADS = false };
#endif

static bool is_loaded(const char *path)
{
  void *const library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (library) dlclose(library);
  return library != NULL;
}

static bool scripted_is_loaded(void)
{
  return is_loaded(SCRIPTED "/librecsort_scripted" RS_LIBRARY_SUFFIX);
}

static bool wrong_is_loaded(void)
{
  return is_loaded(WRONG "/librecsort_wrong_score" RS_LIBRARY_SUFFIX);
}

static int find_both(void **state)
{
  (void)state;
  assert_false(UNLOADS && (scripted_is_loaded() || wrong_is_loaded()));
  return setenv("RECSORT_PLUGIN_PATH", WRONG RS_PATH_SEPARATOR SCRIPTED, 1);
}

static int forget(void **state)
{
  (void)state;
  return unsetenv("RECSORT_PLUGIN_PATH") || unsetenv("RECSORT_TEST_SCRIPT");
}

static recsort_schema *make_schema(void)
{
  static const recsort_field_desc field = {
      .name = "key", .type = RECSORT_UINT32, .endian = NATIVE_ENDIAN};
  static const recsort_key_desc key = {.path = "key"};
  const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                    .record = "R",
                                    .fields = &field,
                                    .field_count = 1,
                                    .keys = &key,
                                    .key_count = 1};
  recsort_schema *schema = NULL;
  assert_int_equal(recsort_schema_create(&desc, NULL, &schema, NULL), RECSORT_OK);
  return schema;
}

static recsort_sorter *create(recsort_options options)
{
  options.struct_size = sizeof options;
  options.threads = 2;
  return sorter_of_schema(make_schema(), &options);
}

/* Sorts records that are nearly sorted, as the scripted plugin is slow. */
static recsort_status sort(recsort_sorter *sorter, size_t count)
{
  for (uint32_t i = 0; i < count; i++)
    records[i] = i ^ 1;
  const recsort_status status = recsort_sort(sorter, records, count, NULL);
  for (size_t i = 1; i < count && status == RECSORT_OK; i++)
    assert_true(records[i - 1] < records[i]);
  return status;
}

static void expect_plugin(const recsort_sorter *sorter, const char *name)
{
  assert_string_equal(stats_of(sorter).plugin, name);
}

/* Sorts and other calls, with any number of records. */
static void test_another_one_is_not_loaded_for_the_cpu(void **state)
{
  recsort_sorter *const sorter = create((recsort_options){.plugin = "cpu"});
  size_t disorder;
  (void)state;
  assert_int_equal(sort(sorter, MANY), RECSORT_OK);
  assert_int_equal(recsort_check(sorter, records, MANY, &disorder, NULL), RECSORT_OK);
  expect_plugin(sorter, "cpu");
  assert_false(scripted_is_loaded() || wrong_is_loaded());
  recsort_sorter_destroy(sorter);
}

static void test_only_the_one_by_that_name_is_loaded(void **state)
{
  recsort_sorter *const sorter = create((recsort_options){.plugin = "scripted"});
  (void)state;
  assert_true(scripted_is_loaded() && !wrong_is_loaded());
  assert_int_equal(sort(sorter, 3), RECSORT_OK);
  expect_plugin(sorter, "scripted");
  recsort_sorter_destroy(sorter);
}

static void test_a_short_sort_loads_nothing(void **state)
{
  recsort_sorter *const sorter = create((recsort_options){.plugin = "auto"});
  size_t bytes, disorder;
  (void)state;
  expect_plugin(sorter, "cpu");
  assert_int_equal(sort_bytes(sorter, LEAST - 1, true, &bytes, NULL), RECSORT_OK);
  assert_int_equal(sort(sorter, LEAST - 1), RECSORT_OK);
  assert_int_equal(recsort_check(sorter, records, MANY, &disorder, NULL), RECSORT_OK);
  expect_plugin(sorter, "cpu");
  assert_int_equal(sort_bytes(sorter, MANY, true, &bytes, NULL), RECSORT_OK);
  assert_int_equal(sort(sorter, MANY), RECSORT_OK);
  expect_plugin(sorter, "cpu");
  assert_non_null(strstr(stats_of(sorter).choice, "sorts have not taken 7 s yet"));
  assert_false(scripted_is_loaded() || wrong_is_loaded());
  recsort_sorter_destroy(sorter);
}

static void expect_choice(const recsort_sorter *sorter, const char *text)
{
  const char *const choice = stats_of(sorter).choice;
  if (!strstr(choice, text)) fail_msg("%s", choice);
}

/* Once plugins are loaded, fewer records are not timed: the best one gets them, unless they are
 * below its least_count. */
static void test_few_records_go_to_the_best(void **state)
{
  (void)state;
  for (int least = 0; least < 2; least++) {
    recsort_sorter *const sorter = create((recsort_options){.plugin = NULL});
    assert_int_equal(setenv("RECSORT_TEST_SCRIPT", least ? "limit-least" : "", 1), 0);
    assert_int_equal(sort(sorter, 3), RECSORT_OK);
    expect_plugin(sorter, "cpu");
    load_plugins(sorter);
    assert_true(scripted_is_loaded() && wrong_is_loaded());
    assert_int_equal(sort(sorter, LEAST), RECSORT_OK);
    expect_plugin(sorter, "scripted");
    expect_choice(sorter, "tried for so many records; \"text\" cannot be used here: ");
    assert_null(stats_of(sorter).fallback);
    assert_int_equal(sort(sorter, 3), RECSORT_OK);
    expect_plugin(sorter, least ? "cpu" : "scripted");
    expect_choice(sorter, least ? "fewer than 5 records are not worth \"scripted\""
                                : "the best of those that can be used here (score 200)");
    recsort_sorter_destroy(sorter);
  }
}

/* No library is loaded to take memory; the memory is that of any plugin that is loaded, also if
 * another one refuses so many records. */
static void test_reserve_loads_nothing(void **state)
{
  char here;
  recsort_job job = RECSORT_JOB_INIT;
  size_t first, bytes;
  recsort_sorter *const sorter = create((recsort_options){.plugin = "auto"});
  (void)state;
  job.count = MANY;
  job.records = job.sorted = &here;
  assert_int_equal(recsort_sorter_reserve(sorter, &job, NULL), RECSORT_OK);
  assert_false(UNLOADS && scripted_is_loaded());
  first = stats_of(sorter).memory;
  load_plugins(sorter);
  assert_int_equal(setenv("RECSORT_TEST_SCRIPT", "size-unsupported", 1), 0);
  assert_int_equal(recsort_sorter_reserve(sorter, &job, NULL), RECSORT_OK);
  assert_int_equal(stats_of(sorter).memory, first);
  assert_int_equal(setenv("RECSORT_TEST_SCRIPT", "", 1), 0);
  assert_int_equal(sort_bytes(sorter, MANY, true, &bytes, NULL), RECSORT_OK);
  assert_int_equal(sort(sorter, MANY), RECSORT_OK);
  assert_true(stats_of(sorter).memory <= bytes);
  recsort_sorter_destroy(sorter);
}

/* What sorts of `count` records have taken, in the sorter's books. */
static void note(recsort_sorter *sorter, const char *plugin, size_t count, double seconds)
{
  rs_choice *const choice = &sorter->choice;
  rs_candidate *const before = choice->in_use;
  for (size_t i = 0; i < choice->plugins->count; i++)
    if (strcmp(choice->plugins->candidates[i]->info.name, plugin) == 0)
      choice->in_use = choice->plugins->candidates[i];
  rs_choice_note(choice, count, true, seconds);
  choice->in_use = before;
}

static const char *next_plugin(recsort_sorter *sorter, size_t count)
{
  rs_choice_for(&sorter->choice, count, true, true);
  return sorter->choice.in_use->info.name;
}

/* Plugins are loaded when sorts have taken twenty times as long as a start may, and one is tried
 * when as much time may be lost again. */
static void test_a_twentieth_may_be_lost(void **state)
{
  recsort_sorter *const sorter = create((recsort_options){.plugin = "auto"});
  (void)state;
  assert_int_equal(sort(sorter, MANY), RECSORT_OK);
  sorter->choice.spent = 0;
  note(sorter, "cpu", MANY, 6.99);
  assert_string_equal(next_plugin(sorter, MANY), "cpu");
  assert_false(UNLOADS && scripted_is_loaded());
  note(sorter, "cpu", LEAST, 0.02);
  assert_string_equal(next_plugin(sorter, LEAST - 1), "cpu");
  assert_false(UNLOADS && scripted_is_loaded());
  assert_string_equal(next_plugin(sorter, 4 * MANY), "cpu"); /* it has not sorted so many */
  assert_true(scripted_is_loaded());
  sorter->choice.lost = 0.35;
  assert_string_equal(next_plugin(sorter, LEAST), "cpu"); /* too little for 0.02 s more */
  sorter->choice.spent = 7.41;
  assert_string_equal(next_plugin(sorter, LEAST), "scripted");
  note(sorter, "scripted", LEAST, 0.5);
  assert_true(sorter->choice.lost > 0.82 && sorter->choice.lost < 0.84);
  assert_string_equal(next_plugin(sorter, LEAST), "cpu");
  recsort_sorter_destroy(sorter);
}

/* The fastest one sorts, each size by itself, also if one becomes slower. */
static void test_the_fastest_one_sorts(void **state)
{
  recsort_sorter *const sorter = create((recsort_options){.plugin = "auto"});
  (void)state;
  sorter->choice.spent = 1000;
  assert_string_equal(next_plugin(sorter, LEAST), "cpu");
  note(sorter, "cpu", LEAST, 2);
  for (int i = 0; i < RS_PACE_TRIES; i++) {
    assert_string_equal(next_plugin(sorter, LEAST), "scripted");
    note(sorter, "scripted", LEAST, i == 1 ? 1 : 3); /* the fastest try counts */
  }
  for (int i = 1; i < RS_PACE_TRIES; i++) {
    assert_string_equal(next_plugin(sorter, LEAST), "cpu");
    note(sorter, "cpu", LEAST, 2);
  }
  assert_string_equal(next_plugin(sorter, LEAST), "scripted");
  assert_string_equal(next_plugin(sorter, LEAST + LEAST / 4), "scripted"); /* as many, about */
  for (int i = 0; i < 2 * RS_PACE_TRIES; i++)
    note(sorter, i < RS_PACE_TRIES ? "scripted" : "cpu", 2 * MANY, i < RS_PACE_TRIES ? 2 : 1);
  assert_string_equal(next_plugin(sorter, 2 * MANY), "cpu");
  assert_string_equal(next_plugin(sorter, LEAST), "scripted");
  for (int i = 0; i < 30; i++)
    note(sorter, "scripted", LEAST, 4);
  assert_string_equal(next_plugin(sorter, LEAST), "cpu");
  for (int i = 0; i < 30; i++)
    note(sorter, "cpu", LEAST, 8);
  assert_string_equal(next_plugin(sorter, LEAST), "scripted");
  recsort_sorter_destroy(sorter);
}

/* Plugins are loaded before the first sort if the CPU's plugin lacks an option or the algorithm. */
static void test_what_the_cpu_does_not_have_is_looked_for(void **state)
{
  static const char *const colour[] = {"colour=red"};
  const recsort_options asked[] = {{.algorithm = "insertion"},
                                   {.plugin_options = colour, .plugin_option_count = 1}};
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    recsort_sorter *const sorter = create(asked[i]);
    assert_true(scripted_is_loaded() && wrong_is_loaded());
    expect_plugin(sorter, i ? "cpu" : "scripted");
    const char *const fallback = stats_of(sorter).fallback;
    assert_int_equal(fallback && strstr(fallback, "cannot be used here, \"cpu\" sorts"), i);
    assert_int_equal(sort(sorter, 3), RECSORT_OK);
    recsort_sorter_destroy(sorter);
  }
}

static void test_its_own_algorithm_loads_nothing(void **state)
{
  recsort_sorter *const sorter = create((recsort_options){.algorithm = "sequential"});
  (void)state;
  assert_int_equal(sort(sorter, 3), RECSORT_OK);
  assert_false(UNLOADS && (scripted_is_loaded() || wrong_is_loaded()));
  load_plugins(sorter);
  assert_int_equal(sort(sorter, LEAST), RECSORT_OK);
  expect_plugin(sorter, "cpu");
  assert_true(scripted_is_loaded());
  assert_null(stats_of(sorter).fallback);
  recsort_sorter_destroy(sorter);
}

#define SIX(text) text text text text text text

/* Loading may run out of memory: the CPU goes on, and the next sort loads them. So many plugins
 * take more than the memory that the sorter begins with. */
static void test_no_memory_to_load_them(void **state)
{
  static const char many[] = SIX(SIX(WRONG RS_PATH_SEPARATOR)) SCRIPTED;
  bool failed = false;
  (void)state;
  assert_int_equal(setenv("RECSORT_PLUGIN_PATH", many, 1), 0);
  for (size_t at = 1;; at++) {
    failing_allocator memory = {0};
    const recsort_allocator hook = failing_hook(&memory);
    recsort_sorter *const sorter = create((recsort_options){.allocator = &hook});
    const size_t before = memory.calls;
    memory.fail_at = before + at;
    load_plugins(sorter);
    const bool past = memory.calls < memory.fail_at;
    failed = failed || !sorter->choice.all_loaded;
    assert_non_null(sorter->choice.in_use);
    load_plugins(sorter);
    assert_true(sorter->choice.all_loaded);
    assert_int_equal(sort(sorter, LEAST), RECSORT_OK);
    recsort_sorter_destroy(sorter);
    assert_int_equal(memory.blocks, 0);
    assert_int_equal(memory.wrong, 0);
    if (past) break;
  }
  assert_true(failed);
}

/* Jobs on a device: no plugin here takes them, and whatever allocation fails, nothing leaks. */
static void test_no_plugin_sorts_on_a_device(void **state)
{
  static const char *const paths[] = {SCRIPTED, SCRIPTED RS_PATH_SEPARATOR WRONG};
  static const char *const words[][2] = {
      {"no plugin here sorts on a device", "on a device"},
      {"\"wrong_abi\" cannot be used: ", "; \"wrong_gaps\" cannot be used: its table has gaps"}};
  recsort_schema *const schema = make_schema();
  (void)state;
  for (size_t path = 0; path < 2; path++) {
    recsort_status status = RECSORT_OUT_OF_MEMORY;
    recsort_error error = {0};
    assert_int_equal(setenv("RECSORT_PLUGIN_PATH", paths[path], 1), 0);
    for (size_t fail_at = 1; status == RECSORT_OUT_OF_MEMORY; fail_at++) {
      failing_allocator memory = {.fail_at = fail_at};
      const recsort_allocator hook = failing_hook(&memory);
      const recsort_options options = {
          .struct_size = sizeof options, .allocator = &hook, .on_device = true};
      recsort_sorter *sorter = NULL;
      status = recsort_sorter_create(schema, &options, &sorter, &error);
      assert_null(sorter);
      assert_int_equal(memory.blocks, 0);
      assert_int_equal(memory.wrong, 0);
    }
    assert_int_equal(status, RECSORT_PLUGIN_ERROR);
    for (size_t w = 0; w < 2; w++)
      if (!strstr(error.text, words[path][w])) fail_msg("%s", error.text);
  }
  recsort_schema_destroy(schema);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, find_both, forget)

int main(void)
{
  const struct CMUnitTest tests[] = {
      /* those that load fewer plugins come first */
      TEST(test_another_one_is_not_loaded_for_the_cpu),
      TEST(test_a_short_sort_loads_nothing),
      TEST(test_only_the_one_by_that_name_is_loaded),
      TEST(test_its_own_algorithm_loads_nothing),
      TEST(test_a_twentieth_may_be_lost),
      TEST(test_reserve_loads_nothing),
      TEST(test_few_records_go_to_the_best),
      TEST(test_the_fastest_one_sorts),
      TEST(test_what_the_cpu_does_not_have_is_looked_for),
      TEST(test_no_memory_to_load_them),
      TEST(test_no_plugin_sorts_on_a_device),
  };
  return cmocka_run_group_tests_name("choice", tests, NULL, NULL);
}
