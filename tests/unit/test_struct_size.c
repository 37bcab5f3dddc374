/* Structs with a size: the only one that is accepted is that of the library's header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/tools.h"
#include "support/told.h"

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
  const recsort_field_desc *const laid = recsort_schema_describe(schema)->fields;
  count = recsort_schema_describe(schema)->field_count;
  assert_int_equal(count, FIELDS);
  assert_int_equal(recsort_schema_describe(schema)->size, sizeof(item));
  assert_int_equal(laid[1].offset, offsetof(item, price));
  assert_int_equal(laid[2].offset, offsetof(item, part));
  assert_int_equal(laid[2].fields[1].offset, 8);
  assert_int_equal(laid[4].offset, offsetof(item, bits));
  assert_string_equal(laid[0].enumerators[1].name, "large");
  const recsort_key_desc *const key = recsort_schema_describe(schema)->keys;
  count = recsort_schema_describe(schema)->key_count;
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

static void test_a_record_size_that_is_another(void **state)
{
  recsort_options options = {.struct_size = sizeof options, .record_size = sizeof(item)};
  (void)state;
  recsort_sorter_destroy(open_sorter(&options));
  options.record_size++;
  expect_refused(&options, "record_size of the options is 33, but the schema's record Item has 32");
}

/* ---- Structs that you fill in ---- */

static recsort_schema *schema;
static recsort_sorter *sorter;
static item items[3];

/* Calls with a struct of this size. All refuse another size alike, so their statuses are too. */
typedef recsort_status call(size_t size, recsort_error *error);

static recsort_status make_schema(size_t size, recsort_error *error)
{
  recsort_schema *made = NULL;
  recsort_schema_desc desc = description();
  desc.struct_size = size;
  const recsort_status status = recsort_schema_create(&desc, NULL, &made, error);
  assert_true(!made == !!status);
  recsort_schema_destroy(made);
  return status;
}

static recsort_status make_sorter(const recsort_options *options, recsort_error *error)
{
  recsort_sorter *made = NULL;
  const recsort_status status = recsort_sorter_create(schema, options, &made, error);
  assert_true(!made == !!status);
  recsort_sorter_destroy(made);
  return status;
}

static recsort_status give_options(size_t size, recsort_error *error)
{
  recsort_options options = RECSORT_OPTIONS_INIT;
  options.struct_size = size;
  return make_sorter(&options, error);
}

static recsort_status give_executor(size_t size, recsort_error *error)
{
  recsort_options options = RECSORT_OPTIONS_INIT;
  recsort_executor executor = RECSORT_EXECUTOR_INIT;
  executor.struct_size = size;
  executor.run = run_here;
  options.executor = &executor;
  return make_sorter(&options, error);
}

static recsort_status give_job(size_t size, recsort_error *error)
{
  recsort_job job = RECSORT_JOB_INIT;
  job.struct_size = size;
  job.count = 3;
  job.records = items;
  return recsort_run(sorter, &job, 1, error);
}

static recsort_status give_needs(size_t size, recsort_error *error)
{
  const recsort_job job = RECSORT_JOB_INIT;
  recsort_needs needs = RECSORT_NEEDS_INIT;
  needs.struct_size = size;
  return recsort_plan(sorter, &job, 1, &needs, error);
}

#define ROW(type, init, call, status)                                                              \
  {                                                                                                \
#type, #init, sizeof(type), init.struct_size, call, status                                     \
  }

static void test_any_other_size_is_refused(void **state)
{
  const struct {
    const char *type, *init;
    size_t size, size_of_init;
    call *call;
    recsort_status status;
  } rows[] = {ROW(recsort_schema_desc, RECSORT_SCHEMA_DESC_INIT, make_schema, RECSORT_OK),
              ROW(recsort_options, RECSORT_OPTIONS_INIT, give_options, RECSORT_OK),
              ROW(recsort_executor, RECSORT_EXECUTOR_INIT, give_executor, RECSORT_OK),
              ROW(recsort_job, RECSORT_JOB_INIT, give_job, RECSORT_OK),
              ROW(recsort_needs, RECSORT_NEEDS_INIT, give_needs, RECSORT_OK)};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const size_t wrong[] = {0, 8, rows[i].size - 1, rows[i].size + 1, 2 * rows[i].size};
    recsort_error error = {0};
    char text[sizeof error.text];
    assert_int_equal(rows[i].size_of_init, rows[i].size);
    assert_int_equal(rows[i].call(rows[i].size, &error), rows[i].status);
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
      (void)snprintf(text, sizeof text, "struct_size is %zu, but a %s has %zu bytes: use %s",
                     wrong[w], rows[i].type, rows[i].size, rows[i].init);
      assert_int_equal(rows[i].call(wrong[w], &error), RECSORT_INVALID_ARGUMENT);
      assert_string_equal(error.text, text);
    }
  }
}

static void test_what_an_init_does_not_set_is_zero(void **state)
{
  const recsort_options options = RECSORT_OPTIONS_INIT;
  const recsort_schema_desc desc = RECSORT_SCHEMA_DESC_INIT;
  (void)state;
  assert_true(!options.keys && !options.plugin && !options.threads && !options.verify);
  assert_true(!desc.record && !desc.fields && !desc.places && !desc.pad_to && !desc.repeat);
}

/* ---- Structs that the library fills in ---- */

enum { MORE = 24 };

#define EXPECT_BYTES(at, first, last, byte)                                                        \
  for (size_t i_ = (first); i_ < (last); i_++)                                                     \
  assert_int_equal(((const unsigned char *)(at))[i_], byte)

/* Only a struct of the right size is filled in; of another size all is zeroed, and nothing behind
 * it is written. */
#define EXPECT_SIZED(type, member, call)                                                           \
  do {                                                                                             \
    union {                                                                                        \
      type is;                                                                                     \
      unsigned char bytes[sizeof(type) + MORE];                                                    \
    } made;                                                                                        \
    type *const out = &made.is;                                                                    \
    for (size_t size = 0; size <= sizeof made; size++) {                                           \
      memset(&made, 0xee, sizeof made);                                                            \
      call;                                                                                        \
      if (size != sizeof(type)) EXPECT_BYTES(&made, 0, size, 0);                                   \
      if (size == sizeof(type)) assert_true(out->member);                                          \
      EXPECT_BYTES(&made, size, sizeof made, 0xee);                                                \
    }                                                                                              \
  } while (0)

static void test_only_the_right_size_is_filled_in(void **state)
{
  static const char *const coordinates[] = {"price"};
  static const recsort_computed_desc near = {.name = "near",
                                             .compute = RECSORT_DISTANCE,
                                             .coordinates = coordinates,
                                             .coordinate_count = 1,
                                             .parameter = "point"};
  const recsort_field_desc field = {
      .type = RECSORT_UINT32, .endian = RECSORT_LITTLE_ENDIAN, .size = 4};
  recsort_schema_desc desc = description();
  (void)state;
  desc.computed = &near;
  desc.computed_count = 1;
  desc.skip = 7;
  recsort_schema *const computing = create(&desc);
  EXPECT_SIZED(recsort_stats, plugin, recsort_sorter_get_stats(sorter, out, size));
  EXPECT_SIZED(recsort_key_info, path, recsort_sorter_get_key(sorter, 0, out, size));
  EXPECT_SIZED(recsort_value, as.u, recsort_field_get(&field, "abcd", 0, out, size));
  recsort_schema_destroy(computing);
}

static void test_only_the_right_size_is_set(void **state)
{
  const recsort_field_desc field = {
      .type = RECSORT_UINT32, .endian = RECSORT_LITTLE_ENDIAN, .size = 4};
  const recsort_value values[2] = {{.kind = RECSORT_VALUE_UNSIGNED, .as.u = 5}};
  uint32_t record = 7;
  (void)state;
  recsort_field_set(&field, &record, 0, values, sizeof *values - 1);
  recsort_field_set(&field, &record, 0, values, sizeof *values + 1);
  assert_int_equal(record, 7);
  recsort_field_set(&field, &record, 0, values, sizeof *values);
  assert_int_equal(read_value(&field, &record, 0).as.u, 5);
}

static int set_up(void **state)
{
  const recsort_schema_desc desc = description();
  const recsort_options options = {.struct_size = sizeof options, .plugin = "cpu"};
  (void)state;
  schema = create(&desc);
  for (size_t i = 0; i < 3; i++)
    items[i].kind = 1;
  sorter = open_sorter(&options);
  return 0;
}

static int tear_down(void **state)
{
  (void)state;
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_header_has_the_version_of_the_library),
      cmocka_unit_test(test_a_zeroed_offset_is_not_given),
      cmocka_unit_test(test_a_zero_in_a_text_is_given),
      cmocka_unit_test(test_a_record_size_that_is_another),
      cmocka_unit_test(test_any_other_size_is_refused),
      cmocka_unit_test(test_what_an_init_does_not_set_is_zero),
      cmocka_unit_test(test_only_the_right_size_is_filled_in),
      cmocka_unit_test(test_only_the_right_size_is_set),
  };
  return cmocka_run_group_tests_name("struct_size", tests, set_up, tear_down);
}
