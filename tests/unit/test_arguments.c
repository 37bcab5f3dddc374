/* Invalid calls: each is refused and changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/recsort.h"
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
  recsort_permutation order = {.struct_size = sizeof order};
  size_t disorder = 77;
  _Alignas(8) uint32_t room[2 * COUNT] = {77};
  (void)state;
  WRONG(recsort_sort(NULL, entries, COUNT, NULL));
  WRONG(recsort_sort_to(NULL, entries, COUNT, room, NULL));
  WRONG(recsort_argsort(NULL, entries, COUNT, room, 32, NULL));
  WRONG(recsort_find_permutation(NULL, entries, COUNT, &order, NULL));
  WRONG(recsort_permutation_unique(NULL, entries, &order, NULL));
  WRONG(recsort_sorter_reserve(NULL, NULL, NULL));
  recsort_sorter_trim(NULL);
  WRONG(recsort_permutation_apply(NULL, &order, entries, sizeof *entries, NULL));
  WRONG(recsort_check(NULL, entries, COUNT, &disorder, NULL));
  WRONG(recsort_encode(NULL, entries, COUNT, room, NULL));
  WRONG(recsort_memory_needed(NULL, COUNT, true, &disorder, NULL));
  WRONG(recsort_memory_needed(sorter, COUNT, true, NULL, NULL));
  WRONG(recsort_sort(sorter, NULL, COUNT, NULL));
  WRONG(recsort_sort_to(sorter, NULL, COUNT, room, NULL));
  WRONG(recsort_argsort(sorter, NULL, COUNT, room, 32, NULL));
  WRONG(recsort_find_permutation(sorter, NULL, COUNT, &order, NULL));
  WRONG(recsort_check(sorter, NULL, COUNT, &disorder, NULL));
  WRONG(recsort_check(sorter, entries, COUNT, NULL, NULL));
  WRONG(recsort_encode(sorter, NULL, COUNT, room, NULL));
  WRONG(recsort_encode(sorter, entries, COUNT, NULL, NULL));
  expect_untouched();
  assert_true(disorder == 77 && room[0] == 77 && order.index == NULL && order.count == 0);
}

/* No array can have so many records. */
static void test_counts_beyond_memory(void **state)
{
  recsort_permutation order = {.struct_size = sizeof order};
  size_t disorder;
  (void)state;
  const size_t count = SIZE_MAX / sizeof(entry) + 2;
  assert_int_equal(recsort_check(sorter, entries, count, &disorder, NULL), RECSORT_OUT_OF_MEMORY);
  assert_int_equal(recsort_encode(sorter, entries, count, before, NULL), RECSORT_OUT_OF_MEMORY);
  assert_int_equal(recsort_find_permutation(sorter, entries, count, &order, NULL),
                   RECSORT_OUT_OF_MEMORY);
}

static void test_accessors_without_a_handle(void **state)
{
  size_t count = 77;
  (void)state;
  assert_null(recsort_schema_record_name(NULL));
  assert_int_equal(recsort_schema_record_size(NULL), 0);
  assert_int_equal(recsort_schema_skip(NULL), 0);
  assert_int_equal(recsort_schema_trailer(NULL), 0);
  assert_null(recsort_schema_fields(NULL, &count));
  assert_int_equal(count, 0);
  count = 77;
  assert_null(recsort_schema_keys(NULL, &count));
  assert_int_equal(count, 0);
  assert_non_null(recsort_schema_fields(schema, NULL));
  assert_non_null(recsort_schema_keys(schema, NULL));
  assert_int_equal(recsort_key_size(NULL), 0);
  assert_int_equal(recsort_sorter_key_count(NULL), 0);
  assert_null(key_of(NULL, 0).path);
  assert_null(key_of(sorter, 1).path);
  assert_null(stats_of(NULL).plugin);
  assert_int_equal(recsort_plugin_list_count(NULL), 0);
  assert_null(plugin_at(NULL, 0).name);
  recsort_plugin_list *list;
  RIGHT(recsort_plugin_list_create(NULL, &list, NULL));
  assert_null(plugin_at(list, recsort_plugin_list_count(list)).name);
  recsort_plugin_list_destroy(list);
  recsort_plugin_list_destroy(NULL);
  recsort_schema_destroy(NULL);
  recsort_sorter_destroy(NULL);
}

/* ---- Making a schema or a sorter ---- */

static void *allocate_nothing(void *context, size_t size)
{
  (void)context, (void)size;
  return NULL;
}

static void test_options(void **state)
{
  static const recsort_allocator half = {.allocate = allocate_nothing};
  static const char *const told[] = {"device", "=1", "", NULL};
  const recsort_options wrong[] = {
      {.struct_size = sizeof *wrong, .key_count = 3},
      {.struct_size = sizeof *wrong, .verify = RECSORT_VERIFY_FULL + 1},
      {.struct_size = sizeof *wrong, .plugin_option_count = 1},
      {.struct_size = sizeof *wrong, .plugin_options = &told[0], .plugin_option_count = 1},
      {.struct_size = sizeof *wrong, .plugin_options = &told[1], .plugin_option_count = 1},
      {.struct_size = sizeof *wrong, .plugin_options = &told[2], .plugin_option_count = 1},
      {.struct_size = sizeof *wrong, .plugin_options = &told[3], .plugin_option_count = 1},
      {.struct_size = sizeof *wrong, .record_size = sizeof(entry) + 1},
      {.struct_size = sizeof *wrong, .allocator = &half},
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
  WRONG(recsort_plugin_list_create(NULL, NULL, NULL));
  WRONG(recsort_plugin_list_create(&half, (recsort_plugin_list **)&none, NULL));
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

static recsort_permutation find_order(size_t count)
{
  recsort_permutation order = {.struct_size = sizeof order};
  RIGHT(recsort_find_permutation(sorter, entries, count, &order, NULL));
  return order;
}

/* Both calls refuse the permutation, and the array is unchanged. */
static void expect_refused(recsort_permutation order)
{
  static uint16_t array[2 * COUNT], same[2 * COUNT];
  recsort_error error = {0};
  for (uint16_t i = 0; i < 2 * COUNT; i++)
    array[i] = same[i] = i;
  WRONG(recsort_permutation_apply(sorter, &order, array, sizeof *array, &error));
  assert_non_null(strstr(error.text, "permutation"));
  assert_memory_equal(array, same, sizeof array);
  const size_t count = order.count;
  WRONG(recsort_permutation_unique(sorter, entries, &order, &error));
  assert_int_equal(order.count, count);
}

static void test_stale_permutations(void **state)
{
  _Alignas(8) static uint32_t index[COUNT];
  static entry sorted[COUNT];
  (void)state;
  const recsort_permutation first = find_order(COUNT), second = find_order(COUNT);
  expect_refused(first); /* of the same count, at the same place */
  (void)find_order(COUNT / 2);
  expect_refused(second);
  const recsort_permutation third = find_order(COUNT);
  RIGHT(recsort_sort_to(sorter, entries, COUNT, sorted, NULL));
  expect_refused(third);
  const recsort_permutation fourth = find_order(COUNT);
  RIGHT(recsort_sort(sorter, sorted, COUNT, NULL));
  expect_refused(fourth);
  const recsort_permutation fifth = find_order(COUNT);
  RIGHT(recsort_argsort(sorter, entries, COUNT, index, 32, NULL));
  expect_refused(fifth);
  recsort_permutation last = find_order(COUNT), copy = last;
  WRONG(recsort_sort_to(sorter, entries, COUNT, entries, NULL)); /* a failed sort */
  RIGHT(recsort_permutation_apply(sorter, &last, sorted, sizeof *sorted, NULL));
  RIGHT(recsort_permutation_unique(sorter, entries, &last, NULL));
  expect_refused(copy); /* it has been shortened since */
  RIGHT(recsort_permutation_unique(sorter, entries, &last, NULL));
}

static void test_permutations_of_another_count(void **state)
{
  (void)state;
  for (int more = -1; more <= 1; more += 2) {
    recsort_permutation order = find_order(COUNT);
    order.count += (size_t)(ptrdiff_t)more;
    expect_refused(order);
  }
  recsort_permutation wide = find_order(COUNT);
  wide.index_bits = 64;
  expect_refused(wide);
}

static void test_permutations_of_another_sorter(void **state)
{
  recsort_sorter *other;
  recsort_permutation order = {.struct_size = sizeof order};
  (void)state;
  RIGHT(recsort_sorter_create(schema, NULL, &other, NULL));
  (void)find_order(COUNT);
  RIGHT(recsort_find_permutation(other, entries, COUNT, &order, NULL));
  expect_refused(order);
  recsort_sorter_destroy(other);
}

/* A caller's permutation is refused before anything moves if it is not one. */
static void test_permutations_of_the_caller(void **state)
{
  uint32_t index[COUNT];
  entry moved[COUNT];
  (void)state;
  for (uint32_t i = 0; i < COUNT; i++)
    index[i] = COUNT - 1 - i;
  recsort_permutation order = {
      .index = index, .index_bits = 32, .struct_size = sizeof order, .count = COUNT};
  memcpy(moved, entries, sizeof moved);
  RIGHT(recsort_permutation_apply(sorter, &order, moved, sizeof *moved, NULL));
  for (size_t i = 0; i < COUNT; i++)
    assert_int_equal(moved[i].tag, COUNT - 1 - i);
  order.index_bits = 16;
  expect_refused(order);
  order.index_bits = 32;
  WRONG(recsort_permutation_apply(sorter, &order, index, sizeof *index, NULL)); /* its own index */
  index[7] = COUNT;
  expect_refused(order);
  index[7] = 8;
  expect_refused(order);
  order.index = NULL;
  expect_refused(order);
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
      TEST(test_stale_permutations),
      TEST(test_permutations_of_another_count),
      TEST(test_permutations_of_another_sorter),
      TEST(test_permutations_of_the_caller),
  };
  return cmocka_run_group_tests_name("arguments", tests, NULL, NULL);
}
