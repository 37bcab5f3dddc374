/* Sorts on a device by plugins of earlier versions: what they lack is refused, the rest is sorted.
 */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/device.h"
#include "support/native.h"
#include "support/refused.h"

enum { COUNT = 6 };

static const uint32_t records[COUNT] = {5, 1, 5, 0, 9, 1};

static recsort_device_sorter *open_version(const char *minor)
{
  static const char yaml[] = "record: R\n" NATIVE "fields: [{name: x, type: uint32}]\n"
                             "keys: [{distance: {fields: [x], from: eye}}]\n";
  const recsort_options options = {.struct_size = sizeof options, .plugin = "scripted"};
  const recsort_device_limits limits = {.struct_size = sizeof limits, .most_records = COUNT};
  const double eye = 4;
  recsort_schema *schema = NULL;
  recsort_device_sorter *sorter = NULL;
  recsort_error error = {0};
  assert_int_equal(setenv("RECSORT_PLUGIN_PATH", RS_TEST_PLUGINS "/scripted", 1), 0);
  assert_int_equal(setenv("RECSORT_TEST_SCRIPT", "device", 1), 0);
  assert_int_equal(setenv("RECSORT_TEST_EARLIER", minor, 1), 0);
  assert_int_equal(recsort_schema_load_memory(yaml, sizeof yaml - 1, "test", NULL, &schema, NULL),
                   RECSORT_OK);
  if (recsort_device_sorter_create(schema, &options, &limits, &sorter, &error))
    fail_msg("%s", error.text);
  recsort_schema_destroy(schema);
  assert_int_equal(recsort_device_sorter_set_parameter(sorter, "eye", &eye, 1, NULL), RECSORT_OK);
  return sorter;
}

static recsort_device_job job_of(uint32_t *order)
{
  return (recsort_device_job){.struct_size = sizeof(recsort_device_job),
                              .count = COUNT,
                              .records = records,
                              .permutation = order};
}

static void expect_sorted(recsort_device_sorter *sorter)
{
  static const uint32_t expected[COUNT] = {0, 2, 1, 5, 3, 4}; /* by the distance from 4 */
  uint32_t order[COUNT];
  const recsort_device_job job = job_of(order);
  recsort_error error = {0};
  if (recsort_device_sort(sorter, &job, &error)) fail_msg("%s", error.text);
  assert_memory_equal(order, expected, sizeof expected);
}

#define EXPECT(call, given, words)                                                                 \
  do {                                                                                             \
    recsort_error error = {0};                                                                     \
    const recsort_status status = call;                                                            \
    assert_int_equal(status, (given) ? RECSORT_OK : RECSORT_PLUGIN_ERROR);                         \
    if (!(given))                                                                                  \
      assert_string_equal(error.text, "plugin \"scripted\" is of an earlier version, "             \
                                      "which " words);                                             \
  } while (0)

static void expect_version(const char *minor, bool head, bool columns, bool points)
{
  static const double eye = 4;
  recsort_device_sorter *const sorter = open_version(minor);
  uint32_t order[COUNT];
  recsort_device_job job = job_of(order);
  job.head = 2;
  EXPECT(recsort_device_sort(sorter, &job, &error), head, "always sorts all records");
  job.head = COUNT; /* all: the plugin need not know */
  assert_int_equal(recsort_device_sort(sorter, &job, NULL), RECSORT_OK);
  job.records = NULL;
  job.columns = &(const recsort_column){"x", records, 0};
  job.column_count = 1;
  EXPECT(recsort_device_sort(sorter, &job, &error), columns, "reads no columns");
  expect_sorted(sorter);
  EXPECT(recsort_device_sorter_bind_parameter(sorter, "eye", &eye, 1, &error), points,
         "reads no parameters from the device's memory");
  expect_sorted(sorter);
  recsort_device_sorter_destroy(sorter);
}

static void earlier_plugins_refuse_what_they_lack(void **state)
{
  (void)state;
  expect_version("2", false, false, false);
  expect_version("3", true, false, false);
  expect_version("4", true, true, true);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(earlier_plugins_refuse_what_they_lack)};
  return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
