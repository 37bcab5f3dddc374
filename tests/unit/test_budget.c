/* What schemas and sorts take of memory: a bound that hostile schemas cannot pass, and a forecast
 * that is what a sort then takes. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/recsort.h"
#include "support/failing_allocator.h"
#include "support/random.h"

enum { MIB = 1 << 20, SCHEMA_BYTES = 64 * MIB };

/* ---- Schemas -------------------------------------------------------------------------------- */

/* An array of 1,024 enums with 7,000 names, and each element a key: 59 KB of text. */
static char *write_schema(void)
{
  enum { ROOM = 1 << 17, NAMES = 7000, KEYS = 1024 };
  char *const text = malloc(ROOM);
  assert_non_null(text);
  size_t size = (size_t)snprintf(text, ROOM,
                                 "record: R\nfields:\n"
                                 "- {name: e, type: enum, base: uint16, count: %d, values: [",
                                 KEYS);
  for (int i = 0; i < NAMES; i++)
    size += (size_t)snprintf(text + size, ROOM - size, "n%d,", i);
  size += (size_t)snprintf(text + size, ROOM - size, "]}\nkeys:\n");
  for (int i = 0; i < KEYS; i++)
    size += (size_t)snprintf(text + size, ROOM - size, "- 'e[%d]'\n", i);
  assert_true(size < ROOM - 1);
  return text;
}

static void test_many_names_and_keys(void **state)
{
  failing_allocator counts = {0};
  const recsort_allocator hook = failing_hook(&counts);
  const recsort_options options = {.struct_size = sizeof options, .allocator = &hook};
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  char *const text = write_schema();
  (void)state;
  if (recsort_schema_load_memory(text, strlen(text), "t.yaml", &hook, &schema, &error) ||
      recsort_sorter_create(schema, &options, &sorter, &error))
    fail_msg("%s", error.text);
  recsort_schema_destroy(schema);
  free(text);
  if (counts.most_bytes > SCHEMA_BYTES) fail_msg("%zu bytes", counts.most_bytes);
  print_message("%zu bytes at the most\n", counts.most_bytes);
  assert_int_equal(recsort_sorter_key_count(sorter), 1024);
  for (size_t i = 0; i < 1024; i += 1023) {
    const recsort_field *const field = recsort_sorter_key(sorter, i).field;
    assert_string_equal(field->name, "e");
    assert_int_equal(field->enumerator_count, 7000);
    assert_string_equal(field->enumerators[6999].name, "n6999");
  }
  recsort_sorter_destroy(sorter);
  assert_int_equal(counts.blocks, 0);
}

/* What no text can say, a description in C can. */
static void test_endless_names(void **state)
{
  enum { NAMES = 2000000 };
  failing_allocator counts = {0};
  const recsort_allocator hook = failing_hook(&counts);
  recsort_enumerator *const values = calloc(NAMES, sizeof *values);
  char(*const names)[12] = calloc(NAMES, sizeof *names);
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  (void)state;
  assert_true(values && names);
  for (int i = 0; i < NAMES; i++) {
    (void)snprintf(names[i], sizeof names[i], "n%d", i);
    values[i] = (recsort_enumerator){names[i], i};
  }
  const recsort_field_desc field = {.name = "e",
                                    .type = RECSORT_ENUM,
                                    .base = RECSORT_INT32,
                                    .offset = RECSORT_NO_OFFSET,
                                    .enumerators = values,
                                    .enumerator_count = NAMES};
  const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                    .record = "R",
                                    .source = "here",
                                    .fields = &field,
                                    .field_count = 1};
  assert_int_equal(recsort_schema_create(&desc, &hook, &schema, &error), RECSORT_INVALID_SCHEMA);
  assert_string_equal(error.text,
                      "here: it takes more than the 32 MiB of memory that a schema may take");
  assert_null(schema);
  assert_int_equal(counts.blocks, 0);
  assert_true(counts.most_bytes <= SCHEMA_BYTES);
  free(values);
  free(names);
}

/* And so many keys. */
static void test_endless_keys(void **state)
{
  enum { KEYS = 1000000 };
  static const char text[] = "record: R\nfields: [{name: e, type: enum, values: [a]}]\n";
  failing_allocator counts = {0};
  const recsort_allocator hook = failing_hook(&counts);
  recsort_key_desc *const keys = calloc(KEYS, sizeof *keys);
  const recsort_options options = {
      .struct_size = sizeof options, .keys = keys, .key_count = KEYS, .allocator = &hook};
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  (void)state;
  assert_non_null(keys);
  for (int i = 0; i < KEYS; i++)
    keys[i].path = "e";
  assert_int_equal(recsort_schema_load_memory(text, sizeof text - 1, NULL, NULL, &schema, &error),
                   RECSORT_OK);
  assert_int_equal(recsort_sorter_create(schema, &options, &sorter, &error), RECSORT_INVALID_KEY);
  assert_string_equal(error.text, "the keys take more than the 32 MiB of memory that they may");
  assert_int_equal(counts.blocks, 0);
  assert_true(counts.most_bytes <= SCHEMA_BYTES);
  recsort_schema_destroy(schema);
  free(keys);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many_names_and_keys),
      cmocka_unit_test(test_endless_names),
      cmocka_unit_test(test_endless_keys),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
