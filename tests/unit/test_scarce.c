/* Memory runs out anywhere. The library allocates large blocks, so which request needs a new one
 * depends on earlier ones; a text of every length comes first, to fill the current block. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/platform/libraries.h"
#include "recsort/tools.h"
#include "support/failing_allocator.h"

enum { PIECE = 4096, STEP = 16, MOST = PIECE + PIECE / 2 };

/* An action with names that begin with `pad`. */
typedef recsort_status act(const char *pad, const recsort_allocator *memory, recsort_error *error);

static recsort_status create_schema(const char *pad, const recsort_allocator *memory,
                                    recsort_error *error)
{
  static const recsort_enumerator values[] = {{"a", 0}, {"b", 1}, {"c", 5}};
  const recsort_field_desc inner[] = {{.name = "x", .type = RECSORT_FLOAT32, .offset = 0},
                                      {.name = "y", .type = RECSORT_FLOAT32, .offset = 4}};
  const recsort_field_desc fields[] = {
      {.name = pad, .type = RECSORT_UINT32, .offset = 12},
      {.name = "low",
       .type = RECSORT_BITFIELD,
       .offset = RECSORT_NO_OFFSET,
       .bit_base = pad,
       .width = 3},
      {.name = "kind",
       .type = RECSORT_ENUM,
       .base = RECSORT_UINT8,
       .enumerators = values,
       .enumerator_count = 3,
       .offset = 8},
      {.name = "at", .type = RECSORT_STRUCT, .offset = 0, .fields = inner, .field_count = 2}};
  const recsort_key_desc keys[] = {{.path = "kind"}, {.path = "at.x"}, {.path = "low"}};
  const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                    .record = "R",
                                    .layout = RECSORT_LAYOUT_EXPLICIT,
                                    .fields = fields,
                                    .field_count = 4,
                                    .keys = keys,
                                    .key_count = 3};
  recsort_schema *schema = NULL;
  const recsort_status status = recsort_schema_create(&desc, memory, &schema, error);
  assert_int_equal(schema != NULL, status == RECSORT_OK);
  recsort_schema_destroy(schema);
  return status;
}

static recsort_status load_schema(const char *pad, const recsort_allocator *memory,
                                  recsort_error *error)
{
  static const char rest[] =
      "\nfields:\n"
      "- {name: kind, type: enum, base: uint8, values: [a, {name: b, value: 7}, c]}\n"
      "- {name: at, type: struct, fields: [{name: x, type: float32}]}\n"
      "- {name: bits, type: uint16}\n"
      "- {name: low, type: bitfield, base: bits, bit: 0, width: 3}\n"
      "keys: [kind, {field: at.x, order: desc}, low]\n";
  static char text[MOST + sizeof rest + 20];
  recsort_schema *schema = NULL;
  const int size = snprintf(text, sizeof text, "record: %s%s", pad, rest);
  const recsort_status status =
      recsort_schema_load_memory(text, (size_t)size, pad, memory, &schema, error);
  assert_int_equal(schema != NULL, status == RECSORT_OK);
  recsort_schema_destroy(schema);
  return status;
}

/* The schema does not fail. The sorter's first text is its algorithm, which cannot be long, so long
 * paths of keys fill the block. */
static recsort_status create_sorter(const char *pad, const recsort_allocator *memory,
                                    recsort_error *error)
{
  static char name[MOST + 1], path[MOST + 8];
  (void)snprintf(name, sizeof name, "%s", pad);
  (void)snprintf(path, sizeof path, "%s.x", pad);
  static const recsort_enumerator values[] = {{"a", 0}, {"b", 1}, {"c", 5}};
  const recsort_field_desc inner[] = {
      {.name = "x", .type = RECSORT_FLOAT32, .offset = RECSORT_NO_OFFSET}};
  const recsort_field_desc fields[] = {{.name = name,
                                        .type = RECSORT_STRUCT,
                                        .offset = RECSORT_NO_OFFSET,
                                        .fields = inner,
                                        .field_count = 1},
                                       {.name = "kind",
                                        .type = RECSORT_ENUM,
                                        .base = RECSORT_UINT8,
                                        .enumerators = values,
                                        .enumerator_count = 3,
                                        .offset = RECSORT_NO_OFFSET}};
  const recsort_key_desc keys[] = {{.path = path}, {.path = "kind"}};
  const recsort_schema_desc desc = {
      .struct_size = sizeof desc, .record = "R", .fields = fields, .field_count = 2};
  const recsort_options options = {.struct_size = sizeof options,
                                   .plugin = "cpu",
                                   .algorithm = "parallel",
                                   .keys = keys,
                                   .key_count = 2,
                                   .allocator = memory};
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  assert_int_equal(recsort_schema_create(&desc, NULL, &schema, NULL), RECSORT_OK);
  const recsort_status status = recsort_sorter_create(schema, &options, &sorter, error);
  assert_int_equal(sorter != NULL, status == RECSORT_OK);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
  return status;
}

/* RECSORT_PLUGIN_PATH fills the block. */
static recsort_status list_plugins(const char *pad, const recsort_allocator *memory,
                                   recsort_error *error)
{
  static char path[MOST + 200];
  const recsort_plugin_info *list = NULL;
  (void)snprintf(path, sizeof path, "%s" RS_PATH_SEPARATOR "%s", pad,
                 RS_TEST_PLUGINS "/wrong" RS_PATH_SEPARATOR RS_TEST_PLUGINS "/scripted");
  assert_int_equal(setenv("RECSORT_PLUGIN_PATH", path, 1), 0);
  const recsort_status status = recsort_plugins_find(memory, &list, error);
  assert_int_equal(list != NULL, status == RECSORT_OK);
  recsort_plugins_destroy(list);
  assert_int_equal(unsetenv("RECSORT_PLUGIN_PATH"), 0);
  return status;
}

static void run_out(act *does, size_t step)
{
  static char pad[MOST + 1];
  size_t refused = 0;
  for (size_t length = 1; length < MOST; length += step) {
    memset(pad, 'n', length);
    pad[length] = '\0';
    failing_allocator counted = {0};
    recsort_allocator memory = failing_hook(&counted);
    recsort_error error = {0};
    if (does(pad, &memory, &error) != RECSORT_OK) fail_msg("%zu: %s", length, error.text);
    for (size_t at = 1; at <= counted.calls; at++) {
      failing_allocator scarce = {.fail_at = at};
      memory = failing_hook(&scarce);
      error = (recsort_error){0};
      assert_int_equal(does(pad, &memory, &error), RECSORT_OUT_OF_MEMORY);
      assert_int_equal(error.status, RECSORT_OUT_OF_MEMORY);
      assert_true(scarce.blocks == 0 && scarce.wrong == 0);
      refused++;
    }
  }
  assert_true(refused > MOST / step);
}

static void test_schemas_in_c(void **state)
{
  (void)state;
  run_out(create_schema, STEP);
}

static void test_schemas_in_yaml(void **state)
{
  (void)state;
  run_out(load_schema, STEP);
}

static void test_sorters(void **state)
{
  (void)state;
  run_out(create_sorter, STEP);
}

static void test_lists_of_plugins(void **state)
{
  (void)state;
  run_out(list_plugins, STEP);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_schemas_in_c),
      cmocka_unit_test(test_schemas_in_yaml),
      cmocka_unit_test(test_sorters),
      cmocka_unit_test(test_lists_of_plugins),
  };
  return cmocka_run_group_tests_name("scarce", tests, NULL, NULL);
}
