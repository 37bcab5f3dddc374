/* Plans: the bits of each key, their places, and what outlives the schema. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "plan/plan.h"

static const recsort_enumerator one[] = {{"only", 41}};
static const recsort_enumerator two[] = {{"a", -1}, {"b", 0}};
static const recsort_enumerator five[] = {{"a", 10}, {"b", 14}, {"c", 12}};
static const recsort_enumerator whole[] = {{"least", 0}, {"most", -1}}; /* of uint64 */

#define PLAIN(n, t)                                                                                \
  {                                                                                                \
    .name = n, .type = RECSORT_##t, .offset = RECSORT_NO_OFFSET                                    \
  }
#define TEXT(n, t, bytes)                                                                          \
  {                                                                                                \
    .name = n, .type = RECSORT_##t, .size = bytes, .offset = RECSORT_NO_OFFSET                     \
  }
#define ARRAY(n, t, elements)                                                                      \
  {                                                                                                \
    .name = n, .type = RECSORT_##t, .count = elements, .offset = RECSORT_NO_OFFSET                 \
  }
#define NAMED(n, b, list)                                                                          \
  {                                                                                                \
    .name = n, .type = RECSORT_ENUM, .base = RECSORT_##b, .enumerators = list,                     \
    .enumerator_count = sizeof(list) / sizeof *(list), .offset = RECSORT_NO_OFFSET                 \
  }
#define BITS(n, from, first, many)                                                                 \
  {                                                                                                \
    .name = n, .type = RECSORT_BITFIELD, .bit_base = from, .bit = first, .width = many,            \
    .offset = RECSORT_NO_OFFSET                                                                    \
  }

static const recsort_field_desc fields[] = {
    PLAIN("bool", BOOL),          PLAIN("i8", INT8),
    PLAIN("i16", INT16),          PLAIN("i32", INT32),
    PLAIN("i64", INT64),          PLAIN("u8", UINT8),
    PLAIN("u16", UINT16),         PLAIN("u32", UINT32),
    PLAIN("u64", UINT64),         PLAIN("f16", FLOAT16),
    PLAIN("bf16", BFLOAT16),      PLAIN("f32", FLOAT32),
    PLAIN("f64", FLOAT64),        TEXT("char1", CHAR, 0),
    TEXT("char9", CHAR, 9),       TEXT("bytes80", BYTES, 80),
    NAMED("one", INT8, one),      NAMED("two", INT16, two),
    NAMED("five", UINT8, five),   NAMED("whole", UINT64, whole),
    BITS("low3", "u16", 0, 3),    BITS("high5", "u16", 11, 5),
    TEXT("huge", BYTES, 1 << 22), TEXT("vast", BYTES, 1 << 29),
    ARRAY("flags", BOOL, 262144), ARRAY("many", BOOL, 262145),
    TEXT("long", BYTES, 2000000), ARRAY("pair", INT16, 2)};

static recsort_schema *open_schema(void)
{
  const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                    .record = "R",
                                    .source = "r.yaml",
                                    .layout = RECSORT_LAYOUT_PACKED,
                                    .fields = fields,
                                    .field_count = sizeof fields / sizeof *fields};
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  if (recsort_schema_create(&desc, NULL, &schema, &error)) fail_msg("%s", error.text);
  return schema;
}

static recsort_status plan_for(const recsort_schema *schema, const char *const *paths, size_t count,
                               bool reverse, rs_arena *arena, rs_plan *plan, recsort_error *error)
{
  const recsort_allocator memory = rs_allocator(NULL);
  recsort_key_desc keys[8] = {{0}};
  for (size_t i = 0; i < count; i++)
    keys[i] = (recsort_key_desc){.path = paths[i],
                                 .order = i % 2 ? RECSORT_DESCENDING : RECSORT_ASCENDING};
  rs_arena_init(arena, &memory);
  return rs_plan_create(schema, keys, count, reverse, arena, plan, error);
}

static void test_bits_of_each_type(void **state)
{
  static const struct {
    const char *path;
    unsigned bits, width;
  } table[] = {{"bool", 1, 32}, {"i8", 8, 32},    {"i16", 16, 32},    {"i32", 32, 32},
               {"i64", 64, 64}, {"u8", 8, 32},    {"u16", 16, 32},    {"u32", 32, 32},
               {"u64", 64, 64}, {"f16", 16, 32},  {"bf16", 16, 32},   {"f32", 32, 32},
               {"f64", 64, 64}, {"char1", 8, 32}, {"char9", 72, 128}, {"bytes80", 640, 640},
               {"one", 0, 32},  {"two", 1, 32},   {"five", 3, 32},    {"whole", 64, 64},
               {"low3", 3, 32}, {"high5", 5, 32}};
  recsort_schema *schema = open_schema();
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    rs_arena arena;
    rs_plan plan;
    assert_int_equal(plan_for(schema, &table[i].path, 1, false, &arena, &plan, NULL), RECSORT_OK);
    assert_int_equal(plan.keys[0].bits, table[i].bits);
    assert_int_equal(plan.keys[0].shift, 0);
    assert_int_equal(plan.program.key_bits, table[i].bits ? table[i].bits : 1);
    assert_int_equal(plan.program.key_width, table[i].width);
    assert_int_equal(plan.program.record_size, recsort_schema_describe(schema)->size);
    rs_arena_free(&arena);
  }
  recsort_schema_destroy(schema);
}

static void test_widths_of_several_keys(void **state)
{
  static const struct {
    const char *paths[5];
    size_t count;
    unsigned bits, width;
  } table[] = {{{"i16", "u16"}, 2, 32, 32},
               {{"i32", "bool"}, 2, 33, 64},
               {{"u32", "i32"}, 2, 64, 64},
               {{"u64", "bool"}, 2, 65, 128},
               {{"u64", "i64"}, 2, 128, 128},
               {{"u64", "i64", "one", "two"}, 4, 129, 192},
               {{"bool", "five", "low3", "f16", "char1"}, 5, 31, 32}};
  recsort_schema *schema = open_schema();
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    rs_arena arena;
    rs_plan plan;
    unsigned below = table[i].bits;
    assert_int_equal(plan_for(schema, table[i].paths, table[i].count, false, &arena, &plan, NULL),
                     RECSORT_OK);
    assert_int_equal(plan.program.key_bits, table[i].bits);
    assert_int_equal(plan.program.key_width, table[i].width);
    for (size_t k = 0; k < plan.key_count; k++) { /* without gaps, most significant first */
      below -= plan.keys[k].bits;
      assert_int_equal(plan.keys[k].shift, below);
    }
    assert_int_equal(below, 0);
    rs_arena_free(&arena);
  }
  recsort_schema_destroy(schema);
}

static void test_steps_of_a_long_string(void **state)
{
  static const char *const paths[] = {"bool", "char9"};
  recsort_schema *schema = open_schema();
  rs_arena arena;
  rs_plan plan;
  (void)state;
  assert_int_equal(plan_for(schema, paths, 2, false, &arena, &plan, NULL), RECSORT_OK);
  const recsort_key_step *steps = plan.program.steps;
  assert_int_equal(plan.program.step_count, 3);
  assert_int_equal(steps[0].shift, 72);
  assert_int_equal(steps[1].bytes, 8);
  assert_int_equal(steps[1].shift, 8);
  assert_int_equal(steps[2].bytes, 1);
  assert_int_equal(steps[2].shift, 0);
  assert_int_equal(steps[2].offset, steps[1].offset + 8);
  assert_true(steps[1].flags & RECSORT_KEY_BIG_ENDIAN);
  assert_int_equal(steps[0].key, 0);
  assert_int_equal(steps[2].key, 1);
  rs_arena_free(&arena);
  recsort_schema_destroy(schema);
}

static void test_reverse_turns_every_order(void **state)
{
  static const char *const paths[] = {"i8", "f32"};
  recsort_schema *schema = open_schema();
  (void)state;
  for (int reverse = 0; reverse < 2; reverse++) {
    rs_arena arena;
    rs_plan plan;
    assert_int_equal(plan_for(schema, paths, 2, reverse, &arena, &plan, NULL), RECSORT_OK);
    for (size_t k = 0; k < 2; k++) {
      const bool descending = (k == 1) != reverse;
      assert_int_equal(plan.keys[k].order, descending ? RECSORT_DESCENDING : RECSORT_ASCENDING);
      assert_int_equal(!!(plan.program.steps[k].flags & RECSORT_KEY_DESCENDING), descending);
    }
    rs_arena_free(&arena);
  }
  recsort_schema_destroy(schema);
}

static void test_a_plan_outlives_its_schema(void **state)
{
  static const char *const paths[] = {"five"};
  recsort_schema *schema = open_schema();
  rs_arena arena;
  rs_plan plan;
  (void)state;
  assert_int_equal(plan_for(schema, paths, 1, false, &arena, &plan, NULL), RECSORT_OK);
  recsort_schema_destroy(schema);
  assert_string_equal(plan.keys[0].path, "five");
  assert_string_equal(plan.keys[0].field->name, "five");
  assert_int_equal(plan.keys[0].field->enumerator_count, 3);
  assert_string_equal(plan.keys[0].field->enumerators[1].name, "b");
  assert_int_equal(plan.keys[0].field->enumerators[1].value, 14);
  rs_arena_free(&arena);
}

/* Each operand of a point gets the address of its own value. */
static void test_a_bound_point(void **state)
{
  static const char *const coordinates[] = {"f64", "f32"};
  static const recsort_computed_desc near = {.name = "near",
                                             .compute = RECSORT_DISTANCE,
                                             .coordinates = coordinates,
                                             .coordinate_count = 2,
                                             .parameter = "eye"};
  static const double eye[2] = {1, 2};
  const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                    .record = "R",
                                    .fields = fields,
                                    .field_count = sizeof fields / sizeof *fields,
                                    .computed = &near,
                                    .computed_count = 1};
  const char *const path = near.name;
  recsort_schema *schema = NULL;
  rs_arena arena;
  rs_plan plan;
  (void)state;
  assert_int_equal(recsort_schema_create(&desc, NULL, &schema, NULL), RECSORT_OK);
  assert_int_equal(plan_for(schema, &path, 1, false, &arena, &plan, NULL), RECSORT_OK);
  assert_int_equal(rs_plan_bind_parameter(&plan, "eye", eye, 2, NULL), RECSORT_OK);
  for (size_t v = 0; v < 2; v++)
    assert_true(plan.program.steps[1 + v].bias == (uintptr_t)&eye[v]);
  rs_arena_free(&arena);
  recsort_schema_destroy(schema);
}

static void test_refusals(void **state)
{
  static const struct {
    const char *path, *text;
  } table[] = {{"none", "there is no field"},
               {"huge", "the keys take more than 16777216 bits"},
               {"vast", "the keys take more than 16777216 bits"},
               {"many", "the keys are arrays of more than 262144 elements; sort by some of them"}};
  recsort_schema *schema = open_schema();
  rs_plan untouched = {.key_count = 77}, plan = untouched;
  recsort_error error;
  rs_arena arena;
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    assert_int_equal(plan_for(schema, &table[i].path, 1, false, &arena, &plan, &error),
                     RECSORT_INVALID_KEY);
    assert_non_null(strstr(error.text, table[i].text));
    assert_memory_equal(&plan, &untouched, sizeof plan);
    rs_arena_free(&arena);
  }
  assert_int_equal(plan_for(schema, NULL, 0, false, &arena, &plan, &error), RECSORT_INVALID_KEY);
  assert_non_null(strstr(error.text, "r.yaml: record \"R\" has no keys to sort by"));
  rs_arena_free(&arena);
  static const char *const more[] = {"u64", "pair", "flags"};
  assert_int_equal(plan_for(schema, more, 3, false, &arena, &plan, &error), RECSORT_INVALID_KEY);
  assert_non_null(strstr(error.text, "arrays of more than 262144 elements"));
  rs_arena_free(&arena);
  static const char *const allowed[] = {"flags", "u64", "long", "i8"}; /* values do not count */
  assert_int_equal(plan_for(schema, allowed, 4, false, &arena, &plan, &error), RECSORT_OK);
  assert_int_equal(plan.keys[0].bits, 262144);
  assert_int_equal(plan.keys[2].bits, 16000000);
  rs_arena_free(&arena);
  recsort_schema_destroy(schema);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bits_of_each_type),
      cmocka_unit_test(test_widths_of_several_keys),
      cmocka_unit_test(test_steps_of_a_long_string),
      cmocka_unit_test(test_reverse_turns_every_order),
      cmocka_unit_test(test_a_plan_outlives_its_schema),
      cmocka_unit_test(test_a_bound_point),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
