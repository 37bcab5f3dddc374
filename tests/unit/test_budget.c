/* Memory of schemas and sorts: a limit that hostile schemas cannot exceed, and a forecast that
 * sorts match. */
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
#include "support/jobs.h"
#include "support/open.h"
#include "support/random.h"
#include "support/told.h"

enum { MIB = 1 << 20, SCHEMA_BYTES = 64 * MIB };

/* ---- Schemas -------------------------------------------------------------------------------- */

/* An array of 1,024 enums with 7,000 names, where each element is a key: 59 KB of text. */
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
  assert_null(key_of(sorter, 1024).path);
  for (size_t i = 0; i < 1024; i += 1023) {
    const recsort_field_desc *const field = key_of(sorter, i).field;
    assert_string_equal(field->name, "e");
    assert_int_equal(field->enumerator_count, 7000);
    assert_string_equal(field->enumerators[6999].name, "n6999");
  }
  recsort_sorter_destroy(sorter);
  assert_int_equal(counts.blocks, 0);
}

/* A description in C can ask for what no text can. */
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
                      "here: it takes more than the 32 MiB of memory that a schema may take; "
                      "describe fewer fields, or some of them as one, of bytes");
  assert_null(schema);
  assert_int_equal(counts.blocks, 0);
  assert_true(counts.most_bytes <= SCHEMA_BYTES);
  free(values);
  free(names);
}

/* The same with many keys. */
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
  assert_string_equal(
      error.text,
      "the keys take more than the 32 MiB of memory that they may; sort by fewer of them");
  assert_int_equal(counts.blocks, 0);
  assert_true(counts.most_bytes <= SCHEMA_BYTES);
  recsort_schema_destroy(schema);
  free(keys);
}

/* ---- Sorts ---------------------------------------------------------------------------------- */

enum { RECORD = 64 };

typedef recsort_status sort_call(recsort_sorter *sorter, unsigned char *records, size_t count);

static recsort_status in_place(recsort_sorter *sorter, unsigned char *records, size_t count)
{
  return recsort_sort(sorter, records, count, NULL);
}

static recsort_status to(recsort_sorter *sorter, unsigned char *records, size_t count)
{
  return recsort_sort_to(sorter, records, count, records + count * RECORD, NULL);
}

static recsort_status order(recsort_sorter *sorter, unsigned char *records, size_t count)
{
  permutation found = {0};
  return find_permutation(sorter, records, count, &found, NULL);
}

/* A new sorter then takes exactly what it said. */
static void foretell(const char *type, const recsort_options *chosen, sort_call *call, size_t count)
{
  failing_allocator counts = {0};
  const recsort_allocator hook = failing_hook(&counts);
  recsort_options options = *chosen;
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  char text[200];
  size_t needed = 12345;
  uint64_t seed = count;
  unsigned char *const records = calloc(2 * count + 1, RECORD);
  assert_non_null(records);
  for (size_t i = 0; i < count * RECORD; i++)
    records[i] = (unsigned char)next_random(&seed);
  (void)snprintf(text, sizeof text, "record: R\nsize: 64\nfields: [{name: k, %s}]\nkeys: [k]\n",
                 type);
  options.allocator = &hook;
  if (recsort_schema_load_memory(text, strlen(text), NULL, NULL, &schema, &error) ||
      recsort_sorter_create(schema, &options, &sorter, &error) ||
      sort_bytes(sorter, count, call == in_place, &needed, &error))
    fail_msg("%s: %s", type, error.text);
  assert_int_equal(stats_of(sorter).memory, 0);
  const size_t before = counts.bytes;
  assert_int_equal(call(sorter, records, count), RECSORT_OK);
  if (counts.most_bytes - before != needed || stats_of(sorter).memory != needed)
    fail_msg("%s, %zu records: %zu bytes foretold, %zu taken, %zu held", type, count, needed,
             counts.most_bytes - before, stats_of(sorter).memory);
  /* held memory counts, even if fewer records need less */
  assert_int_equal(sort_bytes(sorter, count / 2, false, &needed, NULL), RECSORT_OK);
  assert_int_equal(needed, stats_of(sorter).memory);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
  free(records);
}

static void test_sorts_take_what_they_say(void **state)
{
  static const char *const types[] = {"type: uint8", "type: uint32", "type: int64",
                                      "type: bytes, count: 12", "type: bytes, count: 64"};
  static sort_call *const calls[] = {in_place, to, order};
  static const size_t record_counts[] = {0, 1, 1000, 70001};
  static const char *const algorithms[] = {"parallel", "sequential"};
  (void)state;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (size_t c = 0; c < 3 * 4 * 2; c++) {
      const recsort_options options = {.struct_size = sizeof options,
                                       .plugin = "cpu",
                                       .algorithm = algorithms[c % 2],
                                       .threads = 1 + (unsigned)c % 3};
      foretell(types[t], &options, calls[c / 2 % 3], record_counts[c / 6]);
    }
}

/* A key of 64 bytes counts in full. */
static void test_long_keys_count(void **state)
{
  static const char text[] = "record: R\nfields: [{name: k, type: bytes, count: 64}]\nkeys: [k]\n";
  size_t needed = 7;
  recsort_error error = {0};
  (void)state;
  recsort_sorter *const sorter = sorter_of(text, NULL);
  assert_int_equal(sort_bytes(sorter, 4000000, false, &needed, NULL), RECSORT_OK);
  assert_true(needed > 4000000 * (size_t)80);
  needed = 7;
  assert_int_equal(sort_bytes(sorter, SIZE_MAX / 32, true, &needed, &error), RECSORT_OUT_OF_MEMORY);
  assert_int_equal(sort_bytes(sorter, SIZE_MAX / 64, true, &needed, &error), RECSORT_PLUGIN_ERROR);
  assert_int_equal(needed, 7);
  recsort_sorter_destroy(sorter);
}

/* A check makes no copy of large records. */
static void test_large_records(void **state)
{
  enum { SIZE = 8 * MIB, COUNT = 4, WINDOW = MIB + MIB / 2 };
  static const char text[] =
      "record: R\nsize: 8388608\nfields: [{name: k, type: uint8}]\nkeys: [k]\n";
  static const unsigned char keys[COUNT] = {3, 1, 3, 2};
  static const uint64_t firsts[3] = {1, 3, 0};
  failing_allocator counts = {0};
  const recsort_allocator hook = failing_hook(&counts);
  const recsort_options options = {.struct_size = sizeof options, .allocator = &hook};
  permutation order = {0};
  size_t disorder;
  unsigned char *const records = calloc(COUNT, SIZE);
  (void)state;
  assert_non_null(records);
  for (size_t i = 0; i < COUNT; i++)
    records[i * SIZE] = keys[i];
  recsort_sorter *const sorter = sorter_of(text, &options);
  assert_int_equal(recsort_check(sorter, records, COUNT, &disorder, NULL), RECSORT_OK);
  assert_int_equal(disorder, 1);
  assert_int_equal(find_permutation(sorter, records, COUNT, &order, NULL), RECSORT_OK);
  assert_int_equal(make_unique(sorter, &order, NULL), RECSORT_OK);
  assert_int_equal(order.count, 3);
  for (size_t i = 0; i < order.count; i++)
    assert_int_equal(permutation_at(&order, i), firsts[i]);
  if (counts.most_bytes > WINDOW) fail_msg("%zu bytes", counts.most_bytes);
  recsort_sorter_destroy(sorter);
  free(records);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many_names_and_keys), cmocka_unit_test(test_endless_names),
      cmocka_unit_test(test_endless_keys),        cmocka_unit_test(test_sorts_take_what_they_say),
      cmocka_unit_test(test_long_keys_count),     cmocka_unit_test(test_large_records),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
