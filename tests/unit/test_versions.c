/* Programs of other versions: structs that are shorter or longer than the library's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "recsort/recsort.h"
#include "support/told.h"

enum { LATER = 24 }; /* bytes that a later version appends to each struct */

#define LATER_STRUCT(type)                                                                         \
  struct {                                                                                         \
    type now;                                                                                      \
    unsigned char later[LATER];                                                                    \
  }

/* ---- The version ---- */

static void test_the_header_has_the_version_of_the_library(void **state)
{
  char text[64];
  (void)state;
  (void)snprintf(text, sizeof text, "%d.%d.%d%s", RECSORT_VERSION_MAJOR, RECSORT_VERSION_MINOR,
                 RECSORT_VERSION_PATCH, RECSORT_VERSION_SUFFIX);
  assert_string_equal(text, recsort_version());
#if RECSORT_VERSION_NUMBER < 10000 || RECSORT_VERSION_NUMBER >= 1000000
  fail();
#endif
}

/* ---- Structs that do not grow ---- */

static void test_what_does_not_grow(void **state)
{
  (void)state;
  assert_int_equal(sizeof(recsort_error), 512);
  assert_int_equal(sizeof(recsort_allocator), 3 * sizeof(void *));
  assert_int_equal(sizeof(recsort_enumerator), 16);
  assert_int_equal(sizeof(recsort_field), 104);
}

/* ---- Descriptions ---- */

typedef struct item {
  uint8_t kind;
  uint32_t price;
  struct {
    uint16_t id;
    uint64_t weight;
  } part;
  uint32_t bits;
} item;

static const recsort_enumerator kinds[] = {{"small", 1}, {"large", 2}};
static const recsort_field_desc parts[] = {{.name = "id", .type = RECSORT_UINT16},
                                           {.name = "weight", .type = RECSORT_UINT64}};
static const recsort_field_desc fields[] = {
    {.name = "kind",
     .type = RECSORT_ENUM,
     .base = RECSORT_UINT8,
     .enumerators = kinds,
     .enumerator_count = 2},
    {.name = "price", .type = RECSORT_UINT32},
    {.name = "part", .type = RECSORT_STRUCT, .fields = parts, .field_count = 2},
    {.name = "bits", .type = RECSORT_UINT32},
    {.name = "low", .type = RECSORT_BITFIELD, .bit_base = "bits", .width = 3}};
static const recsort_key_desc keys[] = {{.path = "kind"}, {.path = "part.id"}};

enum { FIELDS = sizeof fields / sizeof *fields };

static recsort_schema_desc description(void)
{
  return (recsort_schema_desc){.struct_size = sizeof(recsort_schema_desc),
                               .record = "Item",
                               .fields = fields,
                               .field_count = FIELDS,
                               .keys = keys,
                               .key_count = 2};
}

static recsort_schema *create(const recsort_schema_desc *desc)
{
  recsort_schema *schema = NULL;
  recsort_error error;
  if (recsort_schema_create(desc, NULL, &schema, &error)) fail_msg("%s", error.text);
  return schema;
}

static void expect_item(const recsort_schema *schema)
{
  size_t count;
  const recsort_field *const laid = recsort_schema_fields(schema, &count);
  assert_int_equal(count, FIELDS);
  assert_int_equal(recsort_schema_record_size(schema), sizeof(item));
  assert_int_equal(laid[1].offset, offsetof(item, price));
  assert_int_equal(laid[2].offset, offsetof(item, part));
  assert_int_equal(laid[2].fields[1].offset, 8);
  assert_int_equal(laid[4].offset, offsetof(item, bits));
  assert_string_equal(laid[0].enumerators[1].name, "large");
  const recsort_key_desc *const key = recsort_schema_keys(schema, &count);
  assert_int_equal(count, 2);
  assert_string_equal(key[1].path, "part.id");
}

static void test_a_zeroed_offset_is_not_given(void **state)
{
  recsort_field_desc wrong[2] = {fields[1], fields[3]};
  recsort_schema_desc desc = description();
  recsort_schema *schema = create(&desc);
  recsort_error error;
  (void)state;
  expect_item(schema);
  recsort_schema_destroy(schema);
  desc.fields = wrong;
  desc.field_count = 2;
  desc.key_count = 0;
  wrong[1].offset = 8;
  schema = NULL;
  assert_int_equal(recsort_schema_create(&desc, NULL, &schema, &error), RECSORT_INVALID_SCHEMA);
  assert_non_null(strstr(error.text, "offset 8 does not agree"));
  wrong[1].offset = 0; /* explicit: the first byte, which another field has */
  desc.layout = RECSORT_LAYOUT_EXPLICIT;
  assert_int_equal(recsort_schema_create(&desc, NULL, &schema, &error), RECSORT_INVALID_SCHEMA);
  assert_non_null(strstr(error.text, "overlaps"));
  assert_null(schema);
}

/* In a text, an offset of 0 is given. */
static void test_a_zero_in_a_text_is_given(void **state)
{
  static const char text[] = "record: R\nfields:\n  - {name: a, type: int8, offset: 0}\n"
                             "  - {name: b, type: int8, offset: 0}\n";
  recsort_schema *schema = NULL;
  recsort_error error;
  (void)state;
  assert_int_equal(recsort_schema_load_memory(text, sizeof text - 1, "text", NULL, &schema, &error),
                   RECSORT_INVALID_SCHEMA);
  assert_non_null(strstr(error.text, "offset 0 does not agree"));
}

#define MAKE_LATER(to, from, count)                                                                \
  do {                                                                                             \
    memset((to), 0xee, sizeof(to));                                                                \
    for (size_t made_ = 0; made_ < (count); made_++)                                               \
      (to)[made_].now = (from)[made_];                                                             \
  } while (0)

static void test_a_later_description(void **state)
{
  LATER_STRUCT(recsort_schema_desc) desc;
  LATER_STRUCT(recsort_field_desc) later[FIELDS], later_parts[2];
  LATER_STRUCT(recsort_enumerator) later_kinds[2];
  LATER_STRUCT(recsort_key_desc) later_keys[2];
  (void)state;
  MAKE_LATER(later, fields, FIELDS);
  MAKE_LATER(later_parts, parts, 2);
  MAKE_LATER(later_kinds, kinds, 2);
  MAKE_LATER(later_keys, keys, 2);
  memset(&desc, 0xee, sizeof desc);
  desc.now = description();
  desc.now.struct_size = sizeof desc;
  desc.now.fields = &later[0].now;
  later[0].now.enumerators = &later_kinds[0].now;
  later[2].now.fields = &later_parts[0].now;
  desc.now.keys = &later_keys[0].now;
  desc.now.field_stride = sizeof *later;
  desc.now.enumerator_stride = sizeof *later_kinds;
  desc.now.key_stride = sizeof *later_keys;
  recsort_schema *const schema = create(&desc.now);
  expect_item(schema);
  recsort_schema_destroy(schema);
}

/* ---- Options ---- */

static recsort_sorter *open_sorter(const recsort_options *options)
{
  const recsort_schema_desc desc = description();
  recsort_schema *const schema = create(&desc);
  recsort_sorter *sorter = NULL;
  recsort_error error;
  if (recsort_sorter_create(schema, options, &sorter, &error)) fail_msg("%s", error.text);
  recsort_schema_destroy(schema);
  return sorter;
}

static void expect_refused(const recsort_options *options, const char *text)
{
  const recsort_schema_desc desc = description();
  recsort_schema *const schema = create(&desc);
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  assert_int_equal(recsort_sorter_create(schema, options, &sorter, &error),
                   RECSORT_INVALID_ARGUMENT);
  assert_null(sorter);
  if (!strstr(error.text, text)) fail_msg("%s", error.text);
  recsort_schema_destroy(schema);
}

static void run_here(void *context, void (*task)(void *argument, size_t number), void *argument,
                     size_t count)
{
  (void)context;
  for (size_t i = 0; i < count; i++)
    task(argument, i);
}

static void test_later_options(void **state)
{
  LATER_STRUCT(recsort_options) options;
  LATER_STRUCT(recsort_executor) executor;
  LATER_STRUCT(recsort_key_desc) later_keys[2];
  (void)state;
  MAKE_LATER(later_keys, keys, 2);
  memset(&options, 0xee, sizeof options);
  memset(&executor, 0xee, sizeof executor);
  executor.now = (recsort_executor){sizeof executor, NULL, run_here, 3};
  options.now = (recsort_options){.struct_size = sizeof options,
                                  .plugin = "cpu",
                                  .executor = &executor.now,
                                  .record_size = sizeof(item),
                                  .keys = &later_keys[0].now,
                                  .key_count = 2,
                                  .key_stride = sizeof *later_keys};
  recsort_sorter *const sorter = open_sorter(&options.now);
  assert_int_equal(stats_of(sorter).threads, 3);
  assert_string_equal(key_of(sorter, 1).path, "part.id");
  recsort_sorter_destroy(sorter);
}

static void test_options_that_are_too_short(void **state)
{
  recsort_options options = {.struct_size = RS_FIRST_OPTIONS, .plugin = "cpu"};
  (void)state;
  recsort_sorter_destroy(open_sorter(&options));
  options.struct_size--;
  expect_refused(&options, "struct_size is 63, but a recsort_options has at least 64 bytes");
}

static void test_executors_that_are_too_short(void **state)
{
  const recsort_executor executor = {RS_FIRST_EXECUTOR - 1, NULL, run_here, 3};
  const recsort_options options = {.struct_size = sizeof options, .executor = &executor};
  (void)state;
  expect_refused(&options, "set it to sizeof(recsort_executor)");
}

static void test_a_record_size_that_is_another(void **state)
{
  recsort_options options = {.struct_size = sizeof options, .record_size = sizeof(item)};
  (void)state;
  recsort_sorter_destroy(open_sorter(&options));
  options.record_size++;
  expect_refused(&options, "record_size of the options is 33, but the schema's record Item has 32");
}

/* ---- Structs that the library fills in ---- */

#define EXPECT_BYTES(at, first, last, byte)                                                        \
  for (size_t i_ = (first); i_ < (last); i_++)                                                     \
  assert_int_equal(((const unsigned char *)(at))[i_], byte)

/* The library writes no more of a struct than its caller has, and members that it lacks become
 * 0. */
#define EXPECT_SIZED(type, call)                                                                   \
  do {                                                                                             \
    LATER_STRUCT(type) made;                                                                       \
    type *const out = &made.now;                                                                   \
    size_t size = sizeof(type) / 2;                                                                \
    memset(&made, 0xee, sizeof made);                                                              \
    call;                                                                                          \
    EXPECT_BYTES(&made, size, sizeof made, 0xee);                                                  \
    memset(&made, 0xee, sizeof made);                                                              \
    size = sizeof made;                                                                            \
    call;                                                                                          \
    EXPECT_BYTES(&made, sizeof(type), sizeof made, 0);                                             \
  } while (0)

static void test_no_more_is_written_than_there_is(void **state)
{
  const recsort_options options = {.struct_size = sizeof options, .plugin = "cpu"};
  recsort_sorter *const sorter = open_sorter(&options);
  const recsort_field field = {.type = RECSORT_UINT32, .endian = RECSORT_LITTLE_ENDIAN, .size = 4};
  recsort_plugin_list *list = NULL;
  (void)state;
  assert_int_equal(recsort_plugin_list_create(NULL, &list, NULL), RECSORT_OK);
  EXPECT_SIZED(recsort_stats, recsort_sorter_get_stats(sorter, out, size));
  EXPECT_SIZED(recsort_key_info, recsort_sorter_get_key(sorter, 0, out, size));
  EXPECT_SIZED(recsort_plugin_info, recsort_plugin_list_get(list, 0, out, size));
  EXPECT_SIZED(recsort_value, recsort_field_get(&field, "abcd", 0, out, size));
  recsort_plugin_list_destroy(list);
  recsort_sorter_destroy(sorter);
}

static void test_permutations_have_a_size(void **state)
{
  const recsort_options options = {.struct_size = sizeof options, .plugin = "cpu"};
  recsort_sorter *const sorter = open_sorter(&options);
  item items[3] = {{.kind = 2, .price = 7}, {.kind = 1}, {.kind = 1}};
  LATER_STRUCT(recsort_permutation) later;
  recsort_permutation none = {0};
  recsort_error error = {0};
  (void)state;
  memset(&later, 0xee, sizeof later);
  later.now = (recsort_permutation){.struct_size = sizeof later};
  assert_int_equal(recsort_find_permutation(sorter, items, 3, &later.now, &error), RECSORT_OK);
  assert_int_equal(later.now.struct_size, sizeof later);
  EXPECT_BYTES(&later, sizeof later.now, sizeof later, 0);
  assert_int_equal(recsort_permutation_unique(sorter, items, &later.now, &error), RECSORT_OK);
  assert_int_equal(later.now.count, 2);
  assert_int_equal(recsort_permutation_at(&later.now, 1), 0);
  assert_int_equal(recsort_find_permutation(sorter, items, 3, &none, &error),
                   RECSORT_INVALID_ARGUMENT);
  assert_non_null(strstr(error.text, "set it to sizeof(recsort_permutation)"));
  none.index = later.now.index;
  assert_int_equal(recsort_permutation_apply(sorter, &none, items, sizeof *items, &error),
                   RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_permutation_unique(sorter, items, &none, &error),
                   RECSORT_INVALID_ARGUMENT);
  recsort_sorter_destroy(sorter);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_header_has_the_version_of_the_library),
      cmocka_unit_test(test_what_does_not_grow),
      cmocka_unit_test(test_a_zeroed_offset_is_not_given),
      cmocka_unit_test(test_a_zero_in_a_text_is_given),
      cmocka_unit_test(test_a_later_description),
      cmocka_unit_test(test_later_options),
      cmocka_unit_test(test_options_that_are_too_short),
      cmocka_unit_test(test_executors_that_are_too_short),
      cmocka_unit_test(test_a_record_size_that_is_another),
      cmocka_unit_test(test_no_more_is_written_than_there_is),
      cmocka_unit_test(test_permutations_have_a_size),
  };
  return cmocka_run_group_tests_name("versions", tests, NULL, NULL);
}
