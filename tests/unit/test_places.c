/* test_places.c - what a schema says about files: the places that a text or a description gives, as
 * the public functions return them. tests/schema/hostile.txt has texts that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "recsort/tools.h"
#include "support/open.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
#define RECORD "record: R\nfields: [{name: a, type: int32}]\n"

static recsort_schema *load(const char *text, recsort_schema_desc *info)
{
  recsort_schema *const schema = schema_of(text);
  *info = *recsort_schema_describe(schema);
  return schema;
}

static const recsort_field_desc a = {.name = "a", .type = RECSORT_INT32};

static recsort_schema_desc described(const recsort_place_desc *places, size_t count)
{
  return (recsort_schema_desc){.struct_size = sizeof(recsort_schema_desc),
                               .record = "R",
                               .skip = 100,
                               .trailer = 8,
                               .count = 0,
                               .fields = &a,
                               .field_count = 1,
                               .places = places,
                               .place_count = count};
}

/* ---- Texts ---------------------------------------------------------------------------------- */

static void expect_field(const recsort_field_desc *field, recsort_type type, size_t offset,
                         size_t size, recsort_endian endian)
{
  assert_non_null(field);
  assert_int_equal(field->type, type);
  assert_int_equal(field->offset, offset);
  assert_int_equal(field->size, size);
  assert_int_equal(field->count, 0);
  assert_int_equal(field->endian, endian);
}

/* LAS: two counts, the older one only in some files, and offsets behind the points. */
static void reads_counts_and_what_they_need(void **state)
{
  recsort_schema_desc info;
  (void)state;
  recsort_schema *const schema =
      load(RECORD "skip: {offset: 96, type: uint32}\n"
                  "count:\n"
                  "  - {offset: 107, type: uint32}\n"
                  "  - {offset: 247, type: uint64, endian: big,\n"
                  "     when: {offset: 94, type: uint16, least: 375}}\n"
                  "after: [{offset: 235, type: uint64}, {offset: 8, type: <u4, unit: 512, "
                  "unpadded: true}]\n"
                  "size: {offset: 105, type: uint16, plus: -240, unit: 512}\n"
                  "zero: all\n"
                  "trailer: any\n",
           &info);
  static const recsort_place_kind kinds[] = {RECSORT_PLACE_SKIP,  RECSORT_PLACE_COUNT,
                                             RECSORT_PLACE_COUNT, RECSORT_PLACE_AFTER,
                                             RECSORT_PLACE_AFTER, RECSORT_PLACE_SIZE};
  assert_int_equal(info.place_count, LENGTH(kinds));
  for (size_t i = 0; i < LENGTH(kinds); i++) {
    assert_int_equal(info.places[i].kind, kinds[i]);
    assert_int_equal(info.places[i].unit, i >= 4 ? 512 : i == 3);
    assert_int_equal(info.places[i].plus, i == 5 ? -240 : 0);
    assert_int_equal(info.places[i].unpadded, i == 4);
    assert_false(info.places[i].behind);
    assert_null(info.places[i].word);
    assert_int_equal(info.places[i].when != NULL, i == 2);
  }
  expect_field(info.places[1].field, RECSORT_UINT32, 107, 4, RECSORT_LITTLE_ENDIAN);
  expect_field(info.places[2].field, RECSORT_UINT64, 247, 8, RECSORT_BIG_ENDIAN);
  expect_field(info.places[2].when->field, RECSORT_UINT16, 94, 2, RECSORT_LITTLE_ENDIAN);
  assert_int_equal(info.places[2].when->least, 375);
  assert_int_equal(info.places[2].when->alternative_count, 0);
  expect_field(info.places[5].field, RECSORT_UINT16, 105, 2, RECSORT_LITTLE_ENDIAN);
  assert_true(info.zero_all);
  assert_true(info.trailer == RECSORT_ANY_TRAILER);
  assert_int_equal(info.skip, 0);
  assert_int_equal(info.pad_to, 0);
  recsort_schema_destroy(schema);
}

/* FITS: padding with a heap before it; Fortran: the length before and behind the records. */
static void reads_lengths_and_padding(void **state)
{
  recsort_schema_desc info;
  (void)state;
  recsort_schema *schema = load(RECORD "skip: 4\ntrailer: 4\nlength: [{offset: 0, type: int32}, "
                                       "{trailer: 0, type: int32, plus: -36, unit: 4}]\n",
                                &info);
  assert_int_equal(info.place_count, 2);
  assert_int_equal(info.places[0].kind, RECSORT_PLACE_LENGTH);
  assert_false(info.places[0].behind);
  assert_int_equal(info.places[0].plus, 0);
  assert_true(info.places[1].behind);
  assert_int_equal(info.places[1].plus, -36);
  assert_int_equal(info.places[1].unit, 4);
  assert_false(info.zero_all);
  recsort_schema_destroy(schema);
  schema = load(RECORD "skip: 5760\ncount: {offset: 3210, type: char, count: 20}\ntrailer: any\n"
                       "pad: {to: 2880, with: 0x20, heap: {offset: 3370, type: S20}}\n",
                &info);
  assert_int_equal(info.pad_to, 2880);
  assert_int_equal(info.pad_with, 32);
  assert_int_equal(info.places[1].kind, RECSORT_PLACE_HEAP);
  expect_field(info.places[1].field, RECSORT_CHAR, 3370, 20, RECSORT_LITTLE_ENDIAN);
  recsort_schema_destroy(schema);
}

static void reads_text_headers(void **state)
{
  recsort_schema_desc info;
  (void)state;
  recsort_schema *schema =
      load(RECORD "skip: {line: end_header}\ncount: {word: element vertex}\n"
                  "expect: [{line: ply}, {line: [property float x, property float y]}]\n",
           &info);
  assert_int_equal(info.place_count, 4);
  assert_int_equal(info.places[0].kind, RECSORT_PLACE_SKIP_LINE);
  assert_string_equal(info.places[0].word, "end_header");
  assert_null(info.places[0].field);
  assert_int_equal(info.places[1].kind, RECSORT_PLACE_COUNT);
  assert_string_equal(info.places[1].word, "element vertex");
  assert_null(info.places[1].field);
  assert_int_equal(info.places[2].kind, RECSORT_PLACE_EXPECT);
  assert_string_equal(info.places[2].when->line_text, "ply");
  assert_null(info.places[2].when->field);
  assert_string_equal(info.places[3].when->line_text, "property float x\nproperty float y");
  recsort_schema_destroy(schema);
  schema = load(RECORD "skip: {lines: \"%\"}\n", &info);
  assert_int_equal(info.places[0].kind, RECSORT_PLACE_SKIP_LINES);
  assert_string_equal(info.places[0].word, "%");
  recsort_schema_destroy(schema);
}

static void expect_texts(const recsort_condition_desc *when, const char *texts, size_t size)
{
  assert_int_equal(when->alternative_count * when->field->size, size);
  assert_memory_equal(when->texts, texts, size);
}

static void expect_values(const recsort_condition_desc *when, int64_t first, int64_t last)
{
  assert_true(when->values[0] == first && when->values[when->alternative_count - 1] == last);
}

static void reads_conditions(void **state)
{
  recsort_schema_desc info;
  (void)state;
  recsort_schema *schema =
      load(RECORD "endian: big\nskip: 24\nexpect:\n"
                  "  - {offset: 0, bytes: LASF}\n"
                  "  - {offset: 4, bytes: [\"\\x7fA\", cd]}\n"
                  "  - {offset: 6, type: uint16, value: [1, 0x203]}\n"
                  "  - {offset: 8, type: int16, endian: little, value: -2}\n"
                  "  - {offset: 16, type: uint64, value: 18446744073709551615}\n"
                  "  - {offset: 1, type: uint8, least: 3}\n",
           &info);
  assert_int_equal(info.place_count, 6);
  for (size_t i = 0; i < 6; i++)
    assert_int_equal(info.places[i].kind, RECSORT_PLACE_EXPECT);
  expect_field(info.places[0].when->field, RECSORT_CHAR, 0, 4, RECSORT_BIG_ENDIAN);
  expect_texts(info.places[0].when, "LASF", 4);
  expect_field(info.places[1].when->field, RECSORT_CHAR, 4, 2, RECSORT_BIG_ENDIAN);
  expect_texts(info.places[1].when, "\177Acd", 4);
  expect_values(info.places[2].when, 1, 0x203);
  expect_values(info.places[3].when, -2, -2);
  expect_values(info.places[4].when, -1, -1);
  assert_int_equal(info.places[5].when->alternative_count, 0);
  assert_int_equal(info.places[5].when->least, 3);
  recsort_schema_destroy(schema);
}

/* ---- Descriptions --------------------------------------------------------------------------- */

static const recsort_field_desc number = {.type = RECSORT_UINT32, .offset = 4};
static const recsort_field_desc text = {.type = RECSORT_CHAR, .offset = 8, .size = 2};
static const recsort_field_desc raw = {.type = RECSORT_BYTES, .offset = 8, .size = 2};
static const recsort_field_desc real = {.type = RECSORT_FLOAT32, .offset = 4};
static const int64_t values[] = {7, 256}, negative[] = {-1};

static void takes_descriptions(void **state)
{
  const recsort_condition_desc seven = {.field = &number, .values = values, .alternative_count = 2},
                               two = {.field = &raw, .texts = "a\0cd", .alternative_count = 2},
                               lines = {.line_text = "ply\nformat"};
  const recsort_place_desc places[] = {
      {.kind = RECSORT_PLACE_LENGTH, .field = &number, .behind = true, .plus = 8, .when = &seven},
      {.kind = RECSORT_PLACE_EXPECT, .when = &two},
      {.kind = RECSORT_PLACE_EXPECT, .when = &lines},
      {.kind = RECSORT_PLACE_SIZE, .word = "size"}};
  recsort_schema_desc desc = described(places, LENGTH(places));
  recsort_schema *schema = NULL;
  recsort_schema_desc info;
  (void)state;
  desc.zero_all = true;
  desc.pad_to = 16;
  desc.pad_with = 255;
  assert_int_equal(recsort_schema_create(&desc, NULL, &schema, NULL), RECSORT_OK);
  info = *recsort_schema_describe(schema);
  assert_int_equal(info.place_count, 4);
  assert_true(info.places[0].behind);
  assert_int_equal(info.places[0].plus, 8);
  expect_values(info.places[0].when, 7, 256);
  expect_texts(info.places[1].when, "a\0cd", 4);
  assert_string_equal(info.places[2].when->line_text, "ply\nformat");
  assert_string_equal(info.places[3].word, "size");
  assert_true(info.zero_all);
  assert_int_equal(info.pad_to, 16);
  assert_int_equal(info.pad_with, 255);
  recsort_schema_destroy(schema);
}

/* What no text can say. */
static void refuses_descriptions(void **state)
{
  static const recsort_field_desc narrow = {.type = RECSORT_UINT32, .size = 3};
  static const recsort_condition_desc nothing = {.field = &number},
                                      no_text = {.field = &text, .least = 3},
                                      large = {.field = &number,
                                               .values = negative,
                                               .alternative_count = 1},
                                      of_real = {.field = &real, .least = 1},
                                      uncounted = {.field = &text, .texts = "abcd"},
                                      empty = {.line_text = ""}, none = {.least = 1},
                                      good = {.field = &number, .least = 1};
  static const struct {
    recsort_place_desc place;
    const char *message;
  } cases[] = {
      {{.kind = 0, .field = &number}, "the kind of a place is not a recsort_place_kind"},
      {{.kind = RECSORT_PLACE_EXPECT + 1}, "the kind of a place is not a recsort_place_kind"},
      {{.kind = RECSORT_PLACE_COUNT}, "count: it has neither field nor text"},
      {{.kind = RECSORT_PLACE_SKIP_LINE}, "skip: it has neither field nor text"},
      {{.kind = RECSORT_PLACE_COUNT, .field = &raw}, "count: it is neither an integer nor a char"},
      {{.kind = RECSORT_PLACE_COUNT, .word = "a\nb"}, "count: a line holds a control character"},
      {{.kind = RECSORT_PLACE_COUNT, .word = "a\x7f"}, "count: a line holds a control character"},
      {{.kind = RECSORT_PLACE_COUNT, .word = "a "},
       "count: a line ends with a blank; leave the blank out"},
      {{.kind = RECSORT_PLACE_COUNT, .word = "a \nb"},
       "count: a line ends with a blank; leave the blank out"},
      {{.kind = RECSORT_PLACE_COUNT, .field = &narrow}, "count: its size is not that of its type"},
      {{.kind = RECSORT_PLACE_COUNT, .word = "a", .behind = true},
       "count: a word is looked for in the header, not behind the records"},
      {{.kind = RECSORT_PLACE_COUNT, .field = &number, .plus = 1},
       "count: it has a word that only other places have"},
      {{.kind = RECSORT_PLACE_COUNT, .field = &number, .unit = 1},
       "count: it has a word that only other places have"},
      {{.kind = RECSORT_PLACE_LENGTH, .field = &number, .unpadded = true},
       "length: it has a word that only other places have"},
      {{.kind = RECSORT_PLACE_SIZE, .field = &number, .behind = true},
       "size: it has a word that only other places have"},
      {{.kind = RECSORT_PLACE_SIZE, .field = &number, .when = &good},
       "size: it has a word that only other places have"},
      {{.kind = RECSORT_PLACE_SKIP_LINES, .field = &number},
       "skip: it has a word that only other places have"},
      {{.kind = RECSORT_PLACE_EXPECT, .field = &number},
       "expect: it has a word that only other places have"},
      {{.kind = RECSORT_PLACE_EXPECT}, "expect: it says nothing"},
      {{.kind = RECSORT_PLACE_EXPECT, .when = &nothing}, "expect: it says no value"},
      {{.kind = RECSORT_PLACE_EXPECT, .when = &no_text}, "expect: it says no text"},
      {{.kind = RECSORT_PLACE_EXPECT, .when = &uncounted}, "expect: it says no text"},
      {{.kind = RECSORT_PLACE_EXPECT, .when = &large}, "expect: a value does not fit its type"},
      {{.kind = RECSORT_PLACE_EXPECT, .when = &of_real},
       "expect: it is neither an integer, a char nor bytes"},
      {{.kind = RECSORT_PLACE_EXPECT, .when = &empty}, "expect: a text is empty"},
      {{.kind = RECSORT_PLACE_EXPECT, .when = &none}, "expect: it has neither field nor text"},
      {{.kind = RECSORT_PLACE_HEAP, .field = &number}, "heap and pad_with need pad_to"},
      {{.kind = RECSORT_PLACE_SKIP, .field = &number},
       "skip is both a number and a field of the header"},
  };
  (void)state;
  for (size_t i = 0; i < LENGTH(cases); i++) {
    const recsort_schema_desc desc = described(&cases[i].place, 1);
    recsort_schema *schema = NULL;
    recsort_error error = {0};
    assert_int_equal(recsort_schema_create(&desc, NULL, &schema, &error), RECSORT_INVALID_SCHEMA);
    assert_string_equal(error.text, cases[i].message);
    assert_null(schema);
  }
}

static void refuses_two_of_one(void **state)
{
  static const recsort_place_desc places[] = {
      {.kind = RECSORT_PLACE_SKIP_LINE, .word = "a"}, {.kind = RECSORT_PLACE_COUNT, .word = "b"},
      {.kind = RECSORT_PLACE_SKIP, .word = "c"},      {.kind = RECSORT_PLACE_COUNT, .word = "d"},
      {.kind = RECSORT_PLACE_SIZE, .word = "e"},
  };
  recsort_schema_desc desc = described(places, 3);
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  (void)state;
  desc.skip = 0;
  assert_int_equal(recsort_schema_create(&desc, NULL, &schema, &error), RECSORT_INVALID_SCHEMA);
  assert_string_equal(error.text, "skip: it is given twice");
  desc = described(places + 3, 2);
  assert_int_equal(recsort_schema_create(&desc, NULL, &schema, &error), RECSORT_OK);
  recsort_schema_destroy(schema);
}

/* ---- The size of a record ------------------------------------------------------------------- */

/* Sorted by a field, in records that are larger than the schema's. */
static void takes_the_size_that_a_file_says(void **state)
{
  recsort_schema_desc info;
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  recsort_options options = {.struct_size = sizeof options};
  char records[] = "\2\0\0\0two\1\0\0\0one\2\0\0\0TWO";
  (void)state;
  recsort_schema *const schema =
      load(RECORD "skip: 2\nsize: {offset: 0, type: uint16}\nkeys: [a]\n", &info);
  assert_int_equal(recsort_schema_describe(schema)->size, 4);
  assert_int_equal(recsort_schema_set_record_size(schema, 3, &error), RECSORT_INVALID_SCHEMA);
  assert_string_equal(error.text, "a record of 3 bytes has no room for the fields, which take 4");
  assert_int_equal(recsort_schema_set_record_size(schema, (size_t)1 << 31, &error),
                   RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_schema_set_record_size(NULL, 4, &error), RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_schema_describe(schema)->size, 4);
  assert_int_equal(recsort_schema_set_record_size(schema, 7, &error), RECSORT_OK);
  assert_int_equal(recsort_schema_describe(schema)->size, 7);
  assert_int_equal(recsort_sorter_create(schema, &options, &sorter, &error), RECSORT_OK);
  assert_int_equal(recsort_sort(sorter, records, 3, &error), RECSORT_OK);
  assert_memory_equal(records, "\1\0\0\0one\2\0\0\0two\2\0\0\0TWO", 21);
  recsort_sorter_destroy(sorter);
  assert_int_equal(recsort_schema_set_record_size(schema, 4, &error), RECSORT_OK);
  recsort_schema_destroy(schema);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_counts_and_what_they_need),
      cmocka_unit_test(reads_lengths_and_padding),
      cmocka_unit_test(reads_text_headers),
      cmocka_unit_test(reads_conditions),
      cmocka_unit_test(takes_descriptions),
      cmocka_unit_test(refuses_descriptions),
      cmocka_unit_test(refuses_two_of_one),
      cmocka_unit_test(takes_the_size_that_a_file_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
