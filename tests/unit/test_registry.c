/* The registry: wrong plugins are listed with a reason and never used. A plugin that fails in use
 * is replaced with "auto", and is an error if it was named. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/platform/libraries.h"
#include "plugin/registry.h"
#include "support/failing_allocator.h"
#include "support/jobs.h"
#include "support/plugins.h"
#include "support/told.h"

#define WRONG RS_TEST_PLUGINS "/wrong"
#define SCRIPTED RS_TEST_PLUGINS "/scripted"

static void search(const char *path)
{
  assert_int_equal(path ? setenv("RECSORT_PLUGIN_PATH", path, 1) : unsetenv("RECSORT_PLUGIN_PATH"),
                   0);
}

static void script(const char *text)
{
  assert_int_equal(text ? setenv("RECSORT_TEST_SCRIPT", text, 1) : unsetenv("RECSORT_TEST_SCRIPT"),
                   0);
}

static int forget(void **state)
{
  (void)state;
  search(NULL);
  script(NULL);
  return 0;
}

static const recsort_plugin_info *open_list(const char *path)
{
  const recsort_plugin_info *list = NULL;
  search(path);
  assert_int_equal(recsort_plugins_find(NULL, &list, NULL), RECSORT_OK);
  return list;
}

/* ---- The search ---- */

static void test_the_cpu_is_always_there(void **state)
{
  const recsort_plugin_info *list = open_list(NULL);
  (void)state;
  const recsort_plugin_info cpu = plugin_at(list, 0);
  assert_string_equal(cpu.name, "cpu");
  assert_null(cpu.path);
  assert_null(cpu.reason);
  assert_int_equal(cpu.score, 100);
  assert_string_equal(cpu.algorithms[0], "parallel");
  assert_string_equal(cpu.algorithms[1], "sequential");
  recsort_plugins_destroy(list);
  recsort_plugins_destroy(NULL);
}

static const recsort_plugin_info *find(const recsort_plugin_info *list, const char *path)
{
  while (list && !(list->path && strcmp(list->path, path) == 0))
    list = list->next;
  return list;
}

static void test_wrong_plugins_are_refused_with_a_reason(void **state)
{
  static const struct {
    const char *path, *name, *reason;
  } table[] = {
      {WRONG "/librecsort_wrong_abi" RS_LIBRARY_SUFFIX, "wrong_abi",
       "another version of the plugin interface"},
      {WRONG "/librecsort_wrong_algorithm" RS_LIBRARY_SUFFIX, "wrong_algorithm",
       "its table has gaps"},
      {WRONG "/librecsort_wrong_gaps" RS_LIBRARY_SUFFIX, "wrong_gaps", "its table has gaps"},
      {WRONG "/librecsort_wrong_host" RS_LIBRARY_SUFFIX, "wrong_host",
       "cannot work with this version"},
      {WRONG "/librecsort_wrong_longer" RS_LIBRARY_SUFFIX, "wrong_longer",
       "another version of the plugin interface"},
      {WRONG "/librecsort_wrong_mute" RS_LIBRARY_SUFFIX, "wrong", "it gave no reason"},
      {WRONG "/librecsort_wrong_score" RS_LIBRARY_SUFFIX, "wrong", "there is no such device here"},
      {WRONG "/librecsort_wrong_shorter" RS_LIBRARY_SUFFIX, "wrong_shorter",
       "another version of the plugin interface"},
      {WRONG "/librecsort_wrong_symbol" RS_LIBRARY_SUFFIX, "wrong_symbol",
       "no symbol recsort_plugin_entry"},
      {WRONG "/librecsort_text" RS_LIBRARY_SUFFIX, "text", "librecsort_text" RS_LIBRARY_SUFFIX}};
  enum { COUNT = sizeof table / sizeof *table };
  const recsort_plugin_info *list = open_list(WRONG);
  (void)state;
  for (size_t i = 0; i < COUNT; i++) {
    const recsort_plugin_info *info = find(list, table[i].path);
    assert_non_null(info);
    assert_string_equal(info->name, table[i].name);
    assert_int_equal(info->score, 0);
    assert_non_null(info->reason);
    if (!strstr(info->reason, table[i].reason)) fail_msg("%s: %s", info->path, info->reason);
  }
  assert_non_null(plugin_at(list, COUNT).name);
  assert_null(plugin_at(list, COUNT + 1).name);
  assert_string_equal(plugin_at(list, 0).name, "cpu");
  recsort_plugins_destroy(list);
}

static void test_only_absolute_folders_are_searched(void **state)
{
  (void)state;
  char here[4096];
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(chdir(RS_TEST_PLUGINS), 0);
  const recsort_plugin_info *list =
      open_list("scripted" RS_PATH_SEPARATOR RS_PATH_SEPARATOR
                "./scripted" RS_PATH_SEPARATOR RS_TEST_PLUGINS "/nowhere" RS_PATH_SEPARATOR);
  assert_null(plugin_at(list, 3).name);
  for (size_t i = 1; i < 3; i++) {
    const recsort_plugin_info info = plugin_at(list, i);
    assert_string_equal(info.name, i == 1 ? "scripted" : "./scripted");
    assert_int_equal(info.score, 0);
    assert_non_null(strstr(info.reason, "absolute"));
  }
  recsort_plugins_destroy(list);
  assert_int_equal(chdir(here), 0);
}

static void test_best_score_first(void **state)
{
  const recsort_plugin_info *list =
      open_list(WRONG RS_PATH_SEPARATOR SCRIPTED RS_PATH_SEPARATOR SCRIPTED);
  (void)state;
  assert_string_equal(plugin_at(list, 0).name, "scripted");
  assert_string_equal(plugin_at(list, 1).name, "scripted");
  assert_string_equal(plugin_at(list, 2).name, "cpu");
  assert_int_equal(plugin_at(list, 3).score, 0);
  recsort_plugins_destroy(list);
}

static void test_the_list_fails_cleanly_without_memory(void **state)
{
  (void)state;
  search(WRONG ":" SCRIPTED);
  for (size_t fail_at = 1;; fail_at++) {
    failing_allocator memory = {.fail_at = fail_at};
    const recsort_allocator hook = failing_hook(&memory);
    const recsort_plugin_info *list = NULL;
    recsort_error error = {0};
    const recsort_status status = recsort_plugins_find(&hook, &list, &error);
    if (status == RECSORT_OK) {
      recsort_plugins_destroy(list);
      assert_true(memory.calls < fail_at && fail_at > 1);
      assert_int_equal(memory.blocks, 0);
      break;
    }
    assert_int_equal(status, RECSORT_OUT_OF_MEMORY);
    assert_null(list);
    assert_int_equal(memory.blocks, 0);
    assert_int_equal(memory.wrong, 0);
  }
}

/* ---- Use ---- */

typedef struct entry {
  uint32_t key;
  uint32_t tag;
} entry;

enum { COUNT = 500 };

static recsort_schema *open_schema(void)
{
  const recsort_field_desc fields[] = {
      {.name = "key", .type = RECSORT_UINT32, .offset = RECSORT_NO_OFFSET},
      {.name = "tag", .type = RECSORT_UINT32, .offset = RECSORT_NO_OFFSET}};
  const recsort_key_desc keys[] = {{.path = "key"}};
  const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                    .record = "Entry",
                                    .fields = fields,
                                    .field_count = 2,
                                    .keys = keys,
                                    .key_count = 1};
  recsort_schema *schema = NULL;
  assert_int_equal(recsort_schema_create(&desc, NULL, &schema, NULL), RECSORT_OK);
  return schema;
}

static void fill(entry entries[COUNT])
{
  for (uint32_t i = 0; i < COUNT; i++)
    entries[i] = (entry){i * 7919 % 97, i};
}

static bool in_stable_order(const entry entries[COUNT])
{
  for (uint32_t i = 1; i < COUNT; i++)
    if (entries[i - 1].key > entries[i].key ||
        (entries[i - 1].key == entries[i].key && entries[i - 1].tag >= entries[i].tag))
      return false;
  return true;
}

static recsort_status create(const char *plugin, const char *algorithm,
                             const recsort_allocator *memory, recsort_sorter **sorter,
                             recsort_error *error)
{
  recsort_schema *schema = open_schema();
  const recsort_options options = {.struct_size = sizeof options,
                                   .plugin = plugin,
                                   .algorithm = algorithm,
                                   .threads = 2,
                                   .allocator = memory};
  const recsort_status status = recsort_sorter_create(schema, &options, sorter, error);
  recsort_schema_destroy(schema);
  if (status == RECSORT_OK) load_plugins(*sorter);
  return status;
}

static void test_a_refused_plugin_by_name(void **state)
{
  recsort_sorter *sorter = NULL;
  recsort_error error;
  (void)state;
  search(WRONG);
  assert_int_equal(create("wrong", NULL, NULL, &sorter, &error), RECSORT_PLUGIN_ERROR);
  assert_non_null(strstr(error.text, "it gave no reason"));
  assert_int_equal(create("wrong_abi", NULL, NULL, &sorter, &error), RECSORT_PLUGIN_ERROR);
  assert_non_null(strstr(error.text, "another version"));
  assert_int_equal(create("nothing", NULL, NULL, &sorter, &error), RECSORT_PLUGIN_ERROR);
  assert_non_null(strstr(error.text, "there is no plugin \"nothing\"; the plugins that work here: "
                                     "cpu; the library searched "));
  assert_non_null(strstr(error.text, WRONG));
  assert_null(strstr(error.text, "recsort-cuda"));
  assert_int_equal(create("a\x7f\x1b", NULL, NULL, &sorter, &error), RECSORT_PLUGIN_ERROR);
  assert_non_null(
      strstr(error.text, "there is no plugin \"a??\"; the plugins that work here: cpu"));
  search(RS_TEST_PLUGINS "/none");
  assert_int_equal(create("cuda", NULL, NULL, &sorter, &error), RECSORT_PLUGIN_ERROR);
  assert_non_null(strstr(error.text, "; install the Debian package or the wheel recsort-cuda"));
  search(WRONG);
  assert_int_equal(create("cpu", "quantum", NULL, &sorter, &error), RECSORT_PLUGIN_ERROR);
  assert_non_null(strstr(error.text, "no algorithm \"quantum\"; it has parallel, sequential"));
  assert_int_equal(create(NULL, "quantum", NULL, &sorter, &error), RECSORT_PLUGIN_ERROR);
  assert_null(sorter);
  assert_int_equal(create("auto", NULL, NULL, &sorter, &error), RECSORT_OK);
  assert_string_equal(stats_of(sorter).plugin, "cpu");
  assert_non_null(strstr(stats_of(sorter).choice, "cannot be used here"));
  assert_null(stats_of(sorter).fallback);
  recsort_sorter_destroy(sorter);
}

static void test_the_best_plugin_is_used(void **state)
{
  failing_allocator memory = {0};
  const recsort_allocator hook = failing_hook(&memory);
  recsort_sorter *sorter;
  recsort_error error = {0};
  entry entries[COUNT];
  (void)state;
  search(SCRIPTED);
  for (int by_name = 0; by_name < 2; by_name++) {
    fill(entries);
    assert_int_equal(create(by_name ? "scripted" : NULL, NULL, &hook, &sorter, &error), RECSORT_OK);
    const recsort_status status = recsort_sort(sorter, entries, COUNT, &error);
    if (status) fail_msg("%s", error.text);
    assert_true(in_stable_order(entries));
    assert_string_equal(stats_of(sorter).plugin, "scripted");
    assert_string_equal(stats_of(sorter).algorithm, "insertion");
    assert_null(stats_of(sorter).fallback);
    recsort_sorter_destroy(sorter);
    assert_int_equal(memory.blocks, 0);
    assert_int_equal(memory.wrong, 0);
  }
}

/* With "auto", sorts below a plugin's least_count go to the next plugin, and back. Not if the
 * plugin is named, or the next one lacks the algorithm. */
static void test_few_records_go_to_the_next_plugin(void **state)
{
  static const size_t counts[] = {4, 5, 1, COUNT, 3};
  failing_allocator memory = {0};
  const recsort_allocator hook = failing_hook(&memory);
  (void)state;
  search(SCRIPTED);
  script("limit-least");
  for (int way = 0; way < 3; way++) {
    recsort_sorter *sorter;
    size_t disorder;
    entry entries[COUNT];
    assert_int_equal(
        create(way == 1 ? "scripted" : "auto", way == 2 ? "insertion" : NULL, &hook, &sorter, NULL),
        RECSORT_OK);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
      const bool next = way == 0 && counts[i] < 5;
      fill(entries);
      assert_int_equal(recsort_sort(sorter, entries, counts[i], NULL), RECSORT_OK);
      assert_string_equal(stats_of(sorter).plugin, next ? "cpu" : "scripted");
      assert_int_equal(strstr(stats_of(sorter).choice, "fewer than 5 records") != NULL, way != 1);
      assert_int_equal(recsort_check(sorter, entries, counts[i], &disorder, NULL), RECSORT_OK);
      assert_int_equal(disorder, counts[i]);
    }
    recsort_sorter_destroy(sorter);
  }
  assert_int_equal(memory.blocks, 0);
}

/* A plugin that takes whole records gets them; if it prefers keys, or only a permutation is needed,
 * it gets keys. */
static void test_whole_records(void **state)
{
  static const char *const scripts[] = {"whole", "whole-unsupported", "whole-host"};
  (void)state;
  search(SCRIPTED);
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
    recsort_sorter *sorter;
    permutation order = {0};
    recsort_error error = {0};
    entry entries[COUNT], sorted[COUNT];
    script(scripts[i]);
    assert_int_equal(create("scripted", NULL, NULL, &sorter, &error), RECSORT_OK);
    for (int in_place = 0; in_place < 2; in_place++) {
      fill(entries);
      if (in_place) memcpy(sorted, entries, sizeof sorted);
      const recsort_status status = in_place
                                        ? recsort_sort(sorter, sorted, COUNT, &error)
                                        : recsort_sort_to(sorter, entries, COUNT, sorted, &error);
      if (status) fail_msg("%s", error.text);
      assert_true(in_stable_order(sorted));
      recsort_stats stats;
      recsort_sorter_get_stats(sorter, &stats, sizeof stats);
      assert_int_equal(stats.whole_records, i == 0);
      assert_string_equal(stats.transfer, "whole, as the script says");
      assert_int_equal(stats.records, COUNT);
      assert_null(stats.fallback);
      if (i > 0) continue;
      assert_true(stats.encode_seconds == 1 && stats.sort_seconds == 2 &&
                  stats.verify_seconds == 3 && stats.permute_seconds >= 4);
      assert_int_equal(stats.index_bits, 32);
    }
    assert_int_equal(find_permutation(sorter, entries, COUNT, &order, &error), RECSORT_OK);
    assert_int_equal(order.count, COUNT);
    assert_false(stats_of(sorter).whole_records);
    recsort_sorter_destroy(sorter);
  }
}

/* A plugin whose functions for whole records are in a table of another size gets keys. */
static void test_an_extension_of_another_size_is_ignored(void **state)
{
  recsort_sorter *sorter;
  entry entries[COUNT];
  (void)state;
  search(SCRIPTED);
  script("whole-size");
  assert_int_equal(create("scripted", NULL, NULL, &sorter, NULL), RECSORT_OK);
  fill(entries);
  assert_int_equal(recsort_sort(sorter, entries, COUNT, NULL), RECSORT_OK);
  assert_true(in_stable_order(entries));
  assert_string_equal(stats_of(sorter).plugin, "scripted");
  assert_null(stats_of(sorter).transfer);
  assert_false(stats_of(sorter).whole_records);
  recsort_sorter_destroy(sorter);
}

/* A sort whose records the plugin refuses passes keys; the next one passes records again. */
static void test_records_come_first_again(void **state)
{
  enum { MANY = 1 << 16, SORTS = 6 };
  entry *const entries = calloc(MANY, sizeof *entries);
  recsort_sorter *sorter;
  recsort_error error = {0};
  (void)state;
  search(SCRIPTED);
  assert_non_null(entries);
  script("whole");
  assert_int_equal(create("scripted", NULL, NULL, &sorter, &error), RECSORT_OK);
  for (int sorts = 0; sorts < SORTS; sorts++) {
    script(sorts % 2 ? "whole" : "whole-unsupported");
    assert_int_equal(recsort_sort(sorter, entries, MANY, &error), RECSORT_OK);
    assert_int_equal(stats_of(sorter).whole_records, sorts % 2);
    assert_string_equal(stats_of(sorter).transfer, "whole, as the script says");
  }
  recsort_sorter_destroy(sorter);
  free(entries);
}

/* Once many records have made "auto" load a plugin, few of them are planned with it anew. */
static void test_a_plan_is_of_its_plugin(void **state)
{
  enum { MANY = 1 << 14 };
  (void)state;
  search(SCRIPTED);
  script("whole"); /* sorts many records without a plan of the host's memory */
  recsort_schema *const schema = open_schema();
  const recsort_options options = {.struct_size = sizeof options, .threads = 2};
  recsort_sorter *sorter;
  uint32_t index[COUNT];
  entry entries[COUNT], sorted[COUNT];
  entry *const many = calloc(2 * MANY, sizeof *many);
  assert_non_null(many);
  assert_int_equal(recsort_sorter_create(schema, &options, &sorter, NULL), RECSORT_OK);
  fill(entries);
  for (int turn = 0; turn < 2; turn++) {
    assert_int_equal(recsort_argsort(sorter, entries, COUNT, index, 32, NULL), RECSORT_OK);
    for (size_t i = 0; i < COUNT; i++)
      sorted[i] = entries[index[i]];
    assert_true(in_stable_order(sorted));
    assert_string_equal(stats_of(sorter).plugin, turn ? "scripted" : "cpu");
    load_plugins(sorter);
    assert_int_equal(recsort_sort_to(sorter, many, MANY, many + MANY, NULL), RECSORT_OK);
    assert_true(stats_of(sorter).whole_records);
  }
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
  free(many);
}

static void test_an_algorithm_picks_the_plugin_that_has_it(void **state)
{
  recsort_sorter *sorter;
  (void)state;
  search(SCRIPTED);
  assert_int_equal(create(NULL, "sequential", NULL, &sorter, NULL), RECSORT_OK);
  assert_string_equal(stats_of(sorter).plugin, "cpu");
  assert_string_equal(stats_of(sorter).algorithm, "sequential");
  assert_null(stats_of(sorter).fallback);
  recsort_sorter_destroy(sorter);
}

static const struct failure {
  const char *script, *text;
  recsort_status status;
  bool at_open;
} failures[] = {
    {"open-failed", "open failed", RECSORT_DEVICE_ERROR, true},
    {"open-memory", "no memory", RECSORT_OUT_OF_MEMORY, true},
    {"limit-count", "cannot sort", RECSORT_PLUGIN_ERROR, false},
    {"size-unsupported", "such jobs are not done here", RECSORT_PLUGIN_ERROR, false},
    {"size-huge", "out of memory", RECSORT_OUT_OF_MEMORY, false},
    {"size-outside", "does not hold the keys", RECSORT_DEVICE_ERROR, false},
    {"size-unaligned", "does not hold the keys", RECSORT_DEVICE_ERROR, false},
    {"sort-failed", "sort failed", RECSORT_DEVICE_ERROR, false},
    {"sort-memory", "no memory", RECSORT_OUT_OF_MEMORY, false},
    {"sort-foreign", "no status of plugins", RECSORT_DEVICE_ERROR, false},
    {"sort-number", "no status at all", RECSORT_DEVICE_ERROR, false},
    {"sort-lost", "the device is gone", RECSORT_DEVICE_LOST, false},
    {"sort-duplicate", "not a permutation", RECSORT_CORRUPT_RESULT, false},
    {"sort-range", "not a permutation", RECSORT_CORRUPT_RESULT, false},
    {"sort-nothing", "not a permutation", RECSORT_CORRUPT_RESULT, false},
    {"sort-corrupt", "its sums differ", RECSORT_CORRUPT_RESULT, false},
    {"whole-failed", "whole failed", RECSORT_DEVICE_ERROR, false},
    {"whole-memory", "no memory", RECSORT_OUT_OF_MEMORY, false},
    {"whole-lost", "the device is gone", RECSORT_DEVICE_LOST, false},
};
enum { FAILURES = sizeof failures / sizeof *failures };

/* The cause may pass: a sorter keeps what it fell back to, and only a new one tries again. */
static void test_auto_does_not_try_again(void **state)
{
  (void)state;
  search(SCRIPTED);
  for (size_t i = 0; i < FAILURES; i++) {
    failing_allocator memory = {0};
    const recsort_allocator hook = failing_hook(&memory);
    script(failures[i].script);
    for (int other = 0; other < 2; other++) {
      recsort_sorter *sorter;
      recsort_error error = {0};
      entry entries[COUNT];
      assert_int_equal(create(NULL, NULL, &hook, &sorter, &error), RECSORT_OK);
      for (int again = 0; again < 2; again++) {
        recsort_stats stats;
        fill(entries);
        assert_int_equal(recsort_sort(sorter, entries, COUNT, &error), RECSORT_OK);
        recsort_sorter_get_stats(sorter, &stats, sizeof stats);
        assert_string_equal(stats.plugin, other ? "scripted" : "cpu");
        script(NULL);
      }
      recsort_sorter_destroy(sorter);
    }
  }
}

static void test_auto_falls_back(void **state)
{
  (void)state;
  search(SCRIPTED);
  for (size_t i = 0; i < FAILURES; i++) {
    failing_allocator memory = {0};
    const recsort_allocator hook = failing_hook(&memory);
    recsort_sorter *sorter;
    recsort_error error = {0};
    entry entries[COUNT];
    script(failures[i].script);
    assert_int_equal(create(NULL, NULL, &hook, &sorter, &error), RECSORT_OK);
    for (int again = 0; again < 2; again++) {
      fill(entries);
      assert_int_equal(recsort_sort(sorter, entries, COUNT, &error), RECSORT_OK);
      assert_true(in_stable_order(entries));
      recsort_stats stats;
      recsort_sorter_get_stats(sorter, &stats, sizeof stats);
      assert_string_equal(stats.plugin, "cpu");
      assert_string_equal(stats.algorithm, "parallel");
      assert_non_null(stats.fallback);
      if (!strstr(stats.fallback, failures[i].text)) fail_msg("%s", stats.fallback);
    }
    recsort_sorter_destroy(sorter);
    assert_int_equal(memory.blocks, 0);
    assert_int_equal(memory.wrong, 0);
  }
}

static void test_by_name_a_failure_is_an_error(void **state)
{
  (void)state;
  search(SCRIPTED);
  for (size_t i = 0; i < FAILURES; i++) {
    const struct failure *failure = &failures[i];
    failing_allocator memory = {0};
    const recsort_allocator hook = failing_hook(&memory);
    recsort_sorter *sorter = NULL;
    recsort_error error = {0};
    entry entries[COUNT], before[COUNT];
    script(failure->script);
    recsort_status status = create("scripted", NULL, &hook, &sorter, &error);
    assert_int_equal(status, failure->at_open ? failure->status : RECSORT_OK);
    if (status == RECSORT_OK) {
      fill(entries);
      fill(before);
      status = recsort_sort(sorter, entries, COUNT, &error);
      assert_memory_equal(entries, before, sizeof entries);
      assert_null(stats_of(sorter).fallback);
    }
    assert_int_equal(status, failure->status);
    assert_int_equal(error.status, failure->status);
    if (!strstr(error.text, failure->text)) fail_msg("%s: %s", failure->script, error.text);

    script(NULL); /* all works again, except for a lost device */
    if (sorter) {
      const bool lost = strstr(failure->script, "-lost") != NULL;
      status = recsort_sort(sorter, entries, COUNT, &error);
      assert_int_equal(status, lost ? RECSORT_DEVICE_LOST : RECSORT_OK);
      if (lost)
        assert_non_null(strstr(error.text, "has lost its device"));
      else
        assert_true(in_stable_order(entries));
    }
    recsort_sorter_destroy(sorter);
  }
}

/* ---- Verification ---- */

static const struct {
  const char *script, *text;
} lies[] = {
    {"sort-unsorted", "\"scripted\": its order is wrong at place 1: record "},
    {"sort-ties", "\"scripted\": its order is wrong at place 1: record 0 has the key of the later "
                  "record 97 before it; nothing was moved"},
    {"whole-zeros", "are not those that it got: their checksums differ"},
    {"whole-twice", "are not those that it got: their checksums differ"},
    {"whole-flip", "are not those that it got: their checksums differ"},
    {"whole-unsorted", "are not sorted: at place 2 is one with a lesser key"},
};

static recsort_status create_full(const char *plugin, recsort_sorter **sorter)
{
  recsort_schema *schema = open_schema();
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = plugin, .threads = 2, .verify = RECSORT_VERIFY_FULL};
  const recsort_status status = recsort_sorter_create(schema, &options, sorter, NULL);
  recsort_schema_destroy(schema);
  if (status == RECSORT_OK) load_plugins(*sorter);
  return status;
}

/* With full verification no wrong result passes: by name it is an error, and records in place are
 * unchanged; with "auto" the next plugin sorts. Right results pass. */
static void test_full_verification(void **state)
{
  enum { LIES = sizeof lies / sizeof *lies };
  (void)state;
  search(SCRIPTED);
  for (size_t i = 0; i < LIES + 2; i++)
    for (int way = 0; way < 4; way++) {
      const bool lie = i < LIES, by_name = way % 2, in_place = way / 2;
      recsort_sorter *sorter = NULL;
      recsort_error error = {0};
      entry entries[COUNT], before[COUNT], sorted[COUNT];
      script(lie ? lies[i].script : i == LIES ? "whole" : NULL);
      fill(entries);
      fill(before);
      assert_int_equal(create_full(by_name ? "scripted" : "auto", &sorter), RECSORT_OK);
      const recsort_status status = in_place
                                        ? recsort_sort(sorter, entries, COUNT, &error)
                                        : recsort_sort_to(sorter, entries, COUNT, sorted, &error);
      assert_int_equal(status, lie && by_name ? RECSORT_CORRUPT_RESULT : RECSORT_OK);
      if (status || !in_place) assert_memory_equal(entries, before, sizeof entries);
      if (!status) assert_true(in_stable_order(in_place ? entries : sorted));
      recsort_stats stats;
      recsort_sorter_get_stats(sorter, &stats, sizeof stats);
      const char *const text = by_name ? error.text : stats.fallback;
      if (lie && !(text && strstr(text, lies[i].text))) fail_msg("%s: %s", lies[i].script, text);
      assert_string_equal(stats.plugin, lie && !by_name ? "cpu" : "scripted");
      recsort_sorter_destroy(sorter);
    }
}

/* The same for a permutation; the check may also run out of memory. */
static void test_full_verification_of_an_order(void **state)
{
  recsort_sorter *sorter = NULL;
  permutation order = {0};
  recsort_error error = {0};
  entry entries[COUNT];
  (void)state;
  search(SCRIPTED);
  script("sort-ties");
  fill(entries);
  assert_int_equal(create_full("scripted", &sorter), RECSORT_OK);
  assert_int_equal(find_permutation(sorter, entries, COUNT, &order, &error),
                   RECSORT_CORRUPT_RESULT);
  assert_int_equal(order.count, 0);
  script(NULL);
  assert_int_equal(find_permutation(sorter, entries, COUNT, &order, &error), RECSORT_OK);
  assert_int_equal(order.count, COUNT);
  recsort_sorter_destroy(sorter);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_the_cpu_is_always_there, forget),
      cmocka_unit_test_teardown(test_wrong_plugins_are_refused_with_a_reason, forget),
      cmocka_unit_test_teardown(test_only_absolute_folders_are_searched, forget),
      cmocka_unit_test_teardown(test_best_score_first, forget),
      cmocka_unit_test_teardown(test_the_list_fails_cleanly_without_memory, forget),
      cmocka_unit_test_teardown(test_a_refused_plugin_by_name, forget),
      cmocka_unit_test_teardown(test_the_best_plugin_is_used, forget),
      cmocka_unit_test_teardown(test_few_records_go_to_the_next_plugin, forget),
      cmocka_unit_test_teardown(test_whole_records, forget),
      cmocka_unit_test_teardown(test_a_plan_is_of_its_plugin, forget),
      cmocka_unit_test_teardown(test_an_extension_of_another_size_is_ignored, forget),
      cmocka_unit_test_teardown(test_records_come_first_again, forget),
      cmocka_unit_test_teardown(test_an_algorithm_picks_the_plugin_that_has_it, forget),
      cmocka_unit_test_teardown(test_auto_falls_back, forget),
      cmocka_unit_test_teardown(test_auto_does_not_try_again, forget),
      cmocka_unit_test_teardown(test_by_name_a_failure_is_an_error, forget),
      cmocka_unit_test_teardown(test_full_verification, forget),
      cmocka_unit_test_teardown(test_full_verification_of_an_order, forget),
  };
  return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
