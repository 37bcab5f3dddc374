/* Invalid calls: each is refused and changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/tools.h"
#include "support/jobs.h"
#include "support/told.h"

enum { COUNT = 100 };

typedef struct entry {
  uint32_t key;
  uint32_t tag;
} entry;

static recsort_schema *schema;
static recsort_sorter *sorter;
static entry entries[2 * COUNT], before[2 * COUNT];

#define WRONG(call) assert_int_equal(call, RECSORT_INVALID_ARGUMENT)
#define RIGHT(call) assert_int_equal(call, RECSORT_OK)

static const recsort_field_desc fields[] = {
    {.name = "key", .type = RECSORT_UINT32, .offset = RECSORT_NO_OFFSET},
    {.name = "tag", .type = RECSORT_UINT32, .offset = RECSORT_NO_OFFSET}};
static const recsort_key_desc keys[] = {{.path = "key"}};
static const recsort_schema_desc description = {.struct_size = sizeof description,
                                                .record = "Entry",
                                                .fields = fields,
                                                .field_count = 2,
                                                .keys = keys,
                                                .key_count = 1};

static int open_all(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < 2 * COUNT; i++)
    entries[i] = (entry){i * 7919 % 31, i};
  memcpy(before, entries, sizeof entries);
  RIGHT(recsort_schema_create(&description, NULL, &schema, NULL));
  RIGHT(recsort_sorter_create(schema, NULL, &sorter, NULL));
  return 0;
}

static int close_all(void **state)
{
  (void)state;
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
  return 0;
}

static void expect_untouched(void)
{
  assert_memory_equal(entries, before, sizeof entries);
}

/* ---- Overlap ---- */

static void test_overlapping_arrays(void **state)
{
  recsort_error error = {0};
  (void)state;
  for (size_t by = 0; by < COUNT; by++) {
    WRONG(recsort_sort_to(sorter, entries, COUNT, entries + by, &error));
    WRONG(recsort_sort_to(sorter, entries + by, COUNT, entries, &error));
  }
  assert_non_null(strstr(error.text, "overlap"));
  WRONG(recsort_sort_to(sorter, entries, COUNT, (char *)(entries + COUNT) - 1, NULL));
  WRONG(recsort_argsort(sorter, entries, COUNT, entries + COUNT - 1, 32, NULL));
  WRONG(recsort_encode(sorter, entries, COUNT, entries + COUNT - 2, NULL));
  expect_untouched();
  RIGHT(recsort_sort_to(sorter, entries, 0, entries, NULL));
  RIGHT(recsort_sort_to(sorter, entries, COUNT, entries + COUNT, NULL));
  RIGHT(recsort_sort_to(sorter, entries + COUNT, COUNT, entries, NULL));
}

static void test_unaligned_results(void **state)
{
  static _Alignas(8) char memory[8 * COUNT + 8];
  (void)state;
  WRONG(recsort_argsort(sorter, entries, COUNT, memory + 2, 32, NULL));
  WRONG(recsort_argsort(sorter, entries, COUNT, memory + 4, 64, NULL));
  WRONG(recsort_encode(sorter, entries, COUNT, memory + 2, NULL));
  RIGHT(recsort_encode(sorter, entries, COUNT, memory + 4, NULL));
  RIGHT(recsort_argsort(sorter, entries, COUNT, memory + 4, 32, NULL));
}

/* ---- NULL ---- */

static void test_no_sorter_and_no_records(void **state)
{
  const recsort_job job = {.struct_size = sizeof job, .count = COUNT, .records = entries};
  recsort_needs needs = RECSORT_NEEDS_INIT;
  size_t disorder = 77;
  _Alignas(8) uint32_t room[2 * COUNT] = {77};
  (void)state;
  WRONG(recsort_sort(NULL, entries, COUNT, NULL));
  WRONG(recsort_sort_to(NULL, entries, COUNT, room, NULL));
  WRONG(recsort_argsort(NULL, entries, COUNT, room, 32, NULL));
  WRONG(recsort_run(NULL, &job, 1, NULL));
  WRONG(recsort_run(sorter, NULL, 1, NULL));
  WRONG(recsort_plan(NULL, &job, 1, &needs, NULL));
  WRONG(recsort_plan(sorter, NULL, 1, &needs, NULL));
  WRONG(recsort_plan(sorter, &job, 1, NULL, NULL));
  WRONG(recsort_unique(NULL, &job, &disorder, NULL));
  WRONG(recsort_unique(sorter, NULL, &disorder, NULL));
  WRONG(recsort_unique(sorter, &job, NULL, NULL));
  assert_null(recsort_sorter_permutation(NULL, NULL, NULL));
  WRONG(recsort_sorter_reserve(NULL, NULL, NULL));
  WRONG(recsort_check(NULL, entries, COUNT, &disorder, NULL));
  WRONG(recsort_encode(NULL, entries, COUNT, room, NULL));
  WRONG(recsort_sort(sorter, NULL, COUNT, NULL));
  WRONG(recsort_sort_to(sorter, NULL, COUNT, room, NULL));
  WRONG(recsort_argsort(sorter, NULL, COUNT, room, 32, NULL));
  WRONG(recsort_check(sorter, NULL, COUNT, &disorder, NULL));
  WRONG(recsort_check(sorter, entries, COUNT, NULL, NULL));
  WRONG(recsort_encode(sorter, NULL, COUNT, room, NULL));
  WRONG(recsort_encode(sorter, entries, COUNT, NULL, NULL));
  expect_untouched();
  assert_true(disorder == 77 && room[0] == 77);
}

/* No array can have so many records. */
static void test_counts_beyond_memory(void **state)
{
  permutation order = {0};
  size_t disorder;
  (void)state;
  const size_t count = SIZE_MAX / sizeof(entry) + 2;
  assert_int_equal(recsort_check(sorter, entries, count, &disorder, NULL), RECSORT_OUT_OF_MEMORY);
  assert_int_equal(recsort_encode(sorter, entries, count, before, NULL), RECSORT_OUT_OF_MEMORY);
  assert_int_equal(find_permutation(sorter, entries, count, &order, NULL), RECSORT_OUT_OF_MEMORY);
}

static void test_accessors_without_a_handle(void **state)
{
  (void)state;
  assert_null(recsort_schema_describe(NULL));
  assert_int_equal(recsort_key_size(NULL), 0);
  assert_null(key_of(NULL, 0).path);
  assert_null(key_of(sorter, 1).path);
  assert_null(stats_of(NULL).plugin);
  assert_null(plugin_at(NULL, 0).name);
  const recsort_plugin_info *list;
  RIGHT(recsort_plugins_find(NULL, &list, NULL));
  assert_null(plugin_at(list, SIZE_MAX).name);
  recsort_plugins_destroy(list);
  recsort_plugins_destroy(NULL);
  recsort_schema_destroy(NULL);
  recsort_sorter_destroy(NULL);
}

/* ---- Making a schema or a sorter ---- */

static void *allocate_nothing(void *context, size_t size)
{
  (void)context, (void)size;
  return NULL;
}

static void release_nothing(void *context, void *memory, size_t size)
{
  (void)context, (void)memory, (void)size;
}

static void test_options(void **state)
{
  static const recsort_allocator half = {.allocate = allocate_nothing},
                                 other_half = {.release = release_nothing};
  static const char *const told[] = {"device", "=1", "", NULL};
  const recsort_options wrong[] = {
      {.struct_size = sizeof *wrong, .key_count = 3},
      {.struct_size = sizeof *wrong, .plugin_option_count = 1},
      {.struct_size = sizeof *wrong, .plugin_options = &told[0], .plugin_option_count = 1},
      {.struct_size = sizeof *wrong, .plugin_options = &told[1], .plugin_option_count = 1},
      {.struct_size = sizeof *wrong, .plugin_options = &told[2], .plugin_option_count = 1},
      {.struct_size = sizeof *wrong, .plugin_options = &told[3], .plugin_option_count = 1},
      {.struct_size = sizeof *wrong, .record_size = sizeof(entry) + 1},
      {.struct_size = sizeof *wrong, .allocator = &half},
      {.struct_size = sizeof *wrong, .allocator = &other_half},
  };
  recsort_sorter *none = NULL;
  recsort_error error = {0};
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    WRONG(recsort_sorter_create(schema, &wrong[i], &none, &error));
    assert_null(none);
    assert_true(error.text[0] != '\0');
  }
  assert_non_null(strstr(error.text, "allocate and release"));
}

static void test_schemas(void **state)
{
  static const recsort_allocator half = {.allocate = allocate_nothing};
  recsort_schema *none = NULL;
  (void)state;
  WRONG(recsort_schema_create(NULL, NULL, &none, NULL));
  WRONG(recsort_schema_create(&description, NULL, NULL, NULL));
  WRONG(recsort_schema_create(&description, &half, &none, NULL));
  WRONG(recsort_schema_load_file(NULL, NULL, &none, NULL));
  WRONG(recsort_schema_load_file("x.yaml", NULL, NULL, NULL));
  WRONG(recsort_schema_load_file("x.yaml", &half, &none, NULL));
  WRONG(recsort_schema_load_memory(NULL, 1, "text", NULL, &none, NULL));
  WRONG(recsort_schema_load_memory("x", 1, "text", NULL, NULL, NULL));
  WRONG(recsort_schema_load_memory("x", 1, "text", &half, &none, NULL));
  WRONG(recsort_plugins_find(NULL, NULL, NULL));
  WRONG(recsort_plugins_find(&half, (const recsort_plugin_info **)&none, NULL));
  for (int i = 0; i < 2; i++) {
    recsort_schema_desc desc = description;
    if (i == 0)
      desc.fields = NULL;
    else
      desc.keys = NULL;
    assert_int_equal(recsort_schema_create(&desc, NULL, &none, NULL), RECSORT_INVALID_SCHEMA);
  }
  assert_null(none);
}

/* ---- Permutations ---- */

static permutation find(size_t count)
{
  permutation found;
  RIGHT(find_permutation(sorter, entries, count, &found, NULL));
  return found;
}

/* The job that made it cannot shorten it any more. */
static void expect_stale(permutation found)
{
  recsort_error error = {0};
  const size_t count = found.count;
  WRONG(make_unique(sorter, &found, &error));
  assert_string_equal(error.text, "the sorter keeps no permutation, or that of other records");
  assert_int_equal(found.count, count);
}

static void test_a_permutation_ends_with_the_next_sort(void **state)
{
  _Alignas(8) static uint32_t index[COUNT];
  static entry sorted[COUNT];
  (void)state;
  permutation last = find(COUNT);
  (void)find(COUNT / 2);
  expect_stale(last);
  last = find(COUNT);
  RIGHT(recsort_sort_to(sorter, entries, COUNT, sorted, NULL));
  expect_stale(last);
  last = find(COUNT);
  RIGHT(recsort_sort(sorter, sorted, COUNT, NULL));
  expect_stale(last);
  last = find(COUNT);
  RIGHT(recsort_argsort(sorter, entries, COUNT, index, 32, NULL));
  expect_stale(last);
  last = find(COUNT);
  RIGHT(recsort_sorter_reserve(sorter, NULL, NULL));
  expect_stale(last);
  last = find(COUNT);
  WRONG(recsort_sort_to(sorter, entries, COUNT, entries, NULL)); /* a call that is refused */
  RIGHT(make_unique(sorter, &last, NULL));
  assert_int_equal(last.count, 31);
}

static void test_a_permutation_is_of_one_sorter(void **state)
{
  recsort_sorter *other;
  permutation found;
  (void)state;
  RIGHT(recsort_sorter_create(schema, NULL, &other, NULL));
  RIGHT(find_permutation(other, entries, COUNT, &found, NULL));
  expect_stale(found);
  recsort_sorter_destroy(other);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
  const struct CMUnitTest tests[] = {
      TEST(test_overlapping_arrays),
      TEST(test_unaligned_results),
      TEST(test_no_sorter_and_no_records),
      TEST(test_counts_beyond_memory),
      TEST(test_accessors_without_a_handle),
      TEST(test_options),
      TEST(test_schemas),
      TEST(test_a_permutation_ends_with_the_next_sort),
      TEST(test_a_permutation_is_of_one_sorter),
  };
  return cmocka_run_group_tests_name("arguments", tests, NULL, NULL);
}
