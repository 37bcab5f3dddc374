/* test_layout.c - offsets as a C compiler computes them, descriptions made by calls, and paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <net/ethernet.h>
#include <netinet/in.h>

#include <cmocka.h>

#include "layout/layout.h"
#include "recsort/tools.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
#define ANYWHERE .offset = RECSORT_NO_OFFSET

/* ---- Layout c against the compiler ---------------------------------------------------------- */

struct inner {
  uint8_t tag;
  double weight;
  int16_t pair[2];
};

struct outer {
  bool alive;
  int16_t i16;
  int8_t i8;
  uint32_t u32;
  uint8_t u8;
  uint64_t u64;
  char name[5];
  float f32;
  unsigned char raw[3];
  struct inner one;
  int8_t i8b;
  struct inner three[3];
  uint16_t kind; /* an enum over uint16 */
  int64_t i64;
  uint16_t half;
  double last[2];
  char end;
  unsigned char ids[2][16];
};

static const recsort_enumerator kinds[] = {{"a", 0}, {"b", 65535}};

static const recsort_field_desc inner_fields[] = {
    {.name = "tag", .type = RECSORT_UINT8, ANYWHERE},
    {.name = "weight", .type = RECSORT_FLOAT64, ANYWHERE},
    {.name = "pair", .type = RECSORT_INT16, .count = 2, ANYWHERE},
};

static const recsort_field_desc outer_fields[] = {
    {.name = "alive", .type = RECSORT_BOOL, ANYWHERE},
    {.name = "i16", .type = RECSORT_INT16, ANYWHERE},
    {.name = "i8", .type = RECSORT_INT8, ANYWHERE},
    {.name = "u32", .type = RECSORT_UINT32, ANYWHERE},
    {.name = "u8", .type = RECSORT_UINT8, ANYWHERE},
    {.name = "u64", .type = RECSORT_UINT64, ANYWHERE},
    {.name = "name", .type = RECSORT_CHAR, .size = 5, ANYWHERE},
    {.name = "f32", .type = RECSORT_FLOAT32, ANYWHERE},
    {.name = "raw", .type = RECSORT_BYTES, .size = 3, ANYWHERE},
    {.name = "one", .type = RECSORT_STRUCT, .fields = inner_fields, .field_count = 3, ANYWHERE},
    {.name = "i8b", .type = RECSORT_INT8, ANYWHERE},
    {.name = "three",
     .type = RECSORT_STRUCT,
     .count = 3,
     .fields = inner_fields,
     .field_count = 3,
     ANYWHERE},
    {.name = "kind",
     .type = RECSORT_ENUM,
     .base = RECSORT_UINT16,
     .enumerators = kinds,
     .enumerator_count = 2,
     ANYWHERE},
    {.name = "i64", .type = RECSORT_INT64, ANYWHERE},
    {.name = "half", .type = RECSORT_FLOAT16, ANYWHERE},
    {.name = "last", .type = RECSORT_FLOAT64, .count = 2, ANYWHERE},
    {.name = "end", .type = RECSORT_CHAR, ANYWHERE},
    {.name = "ids", .type = RECSORT_UUID, .count = 2, ANYWHERE},
};

static const struct {
  size_t offset, size, count;
} outer_places[] = {
    {offsetof(struct outer, alive), 1, 0}, {offsetof(struct outer, i16), 2, 0},
    {offsetof(struct outer, i8), 1, 0},    {offsetof(struct outer, u32), 4, 0},
    {offsetof(struct outer, u8), 1, 0},    {offsetof(struct outer, u64), 8, 0},
    {offsetof(struct outer, name), 5, 0},  {offsetof(struct outer, f32), 4, 0},
    {offsetof(struct outer, raw), 3, 0},   {offsetof(struct outer, one), sizeof(struct inner), 0},
    {offsetof(struct outer, i8b), 1, 0},   {offsetof(struct outer, three), sizeof(struct inner), 3},
    {offsetof(struct outer, kind), 2, 0},  {offsetof(struct outer, i64), 8, 0},
    {offsetof(struct outer, half), 2, 0},  {offsetof(struct outer, last), 8, 2},
    {offsetof(struct outer, end), 1, 0},   {offsetof(struct outer, ids), 16, 2},
};

static recsort_schema_desc outer_desc(void)
{
  return (recsort_schema_desc){.struct_size = sizeof(recsort_schema_desc),
                               .record = "outer",
                               .fields = outer_fields,
                               .field_count = LENGTH(outer_fields)};
}

static recsort_schema *create(const recsort_schema_desc *desc)
{
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  if (recsort_schema_create(desc, NULL, &schema, &error)) fail_msg("refused: %s", error.text);
  return schema;
}

static void lays_out_as_the_compiler_does(void **state)
{
  const recsort_schema_desc desc = outer_desc();
  recsort_schema *schema = create(&desc);
  size_t count;
  const recsort_field_desc *fields = recsort_schema_describe(schema)->fields;
  count = recsort_schema_describe(schema)->field_count;
  (void)state;
  assert_int_equal(count, LENGTH(outer_places));
  for (size_t i = 0; i < count; i++) {
    assert_string_equal(fields[i].name, outer_fields[i].name);
    assert_int_equal(fields[i].offset, outer_places[i].offset);
    assert_int_equal(fields[i].size, outer_places[i].size);
    assert_int_equal(fields[i].count, outer_places[i].count);
    assert_int_equal(fields[i].endian, RECSORT_LITTLE_ENDIAN);
  }
  const recsort_field_desc *inner = fields[11].fields;
  assert_int_equal(inner[1].offset, offsetof(struct inner, weight));
  assert_int_equal(inner[2].offset, offsetof(struct inner, pair));
  assert_int_equal(recsort_schema_describe(schema)->size, sizeof(struct outer));
  recsort_schema_destroy(schema);
}

enum hue { NO_HUE = -1, RED };

struct described {
  bool alive;
  char letter;
  signed char i8;
  uint8_t u8;
  int16_t i16;
  uint16_t u16;
  int32_t i32;
  uint32_t u32;
  long i;
  unsigned long u;
  int64_t i64;
  uint64_t u64;
  float f32;
  double f64;
  enum hue hue;
  char name[5];
  unsigned char raw[3];
};

/* The macros give each member the type and place that it has. */
static void describes_structs_of_c(void **state)
{
#define MEMBERS(DO)                                                                                \
  DO(alive, "bool")                                                                                \
  DO(letter, "char")                                                                               \
  DO(i8, "int8")                                                                                   \
  DO(u8, "uint8")                                                                                  \
  DO(i16, "int16")                                                                                 \
  DO(u16, "uint16")                                                                                \
  DO(i32, "int32") DO(u32, "uint32") DO(i, sizeof(long) == 8 ? "int64" : "int32")                  \
      DO(u, sizeof(long) == 8 ? "uint64" : "uint32") DO(i64, "int64") DO(u64, "uint64")            \
          DO(f32, "float32") DO(f64, "float64") DO(hue, "int32") DO(name, "cstring")               \
              DO(raw, "bytes")
#define DESCRIBE(member, type) RECSORT_FIELD(struct described, member),
#define EXPECT(member, type)                                                                       \
  {type, #member, offsetof(struct described, member), sizeof((struct described *)0)->member},
  static const recsort_field_desc fields[] = {MEMBERS(DESCRIBE)};
  static const recsort_key_desc keys[] = {{.path = "hue"}, {.path = "name"}};
  static const recsort_schema_desc desc = RECSORT_STRUCT(struct described, fields, keys);
  const struct {
    const char *type, *name;
    size_t offset, size;
  } expected[] = {MEMBERS(EXPECT)};
  recsort_schema *schema = NULL;
  size_t count = 0;
  (void)state;
  assert_int_equal(recsort_schema_create(&desc, NULL, &schema, NULL), RECSORT_OK);
  assert_int_equal(recsort_schema_describe(schema)->size, sizeof(struct described));
  const recsort_field_desc *const found = recsort_schema_describe(schema)->fields;
  count = recsort_schema_describe(schema)->field_count;
  assert_int_equal(count, LENGTH(expected));
  for (size_t i = 0; i < count; i++) {
    assert_string_equal(found[i].name, expected[i].name);
    assert_string_equal(recsort_type_describe(found[i].type)->name, expected[i].type);
    assert_int_equal(found[i].offset, expected[i].offset);
    assert_int_equal(found[i].size, expected[i].size);
    assert_int_equal(found[i].endian, desc.endian);
  }
  assert_int_equal(recsort_schema_describe(schema)->key_count, LENGTH(keys));
  recsort_schema_destroy(schema);
}

static void aligns_addresses_as_the_system_does(void **state)
{
  __extension__ typedef __int128 wide;
  struct host {
    char first;
    struct in_addr v4;
    char second;
    struct in6_addr v6;
    char third;
    struct ether_addr mac;
    wide number;
  };
  static const recsort_field_desc fields[] = {
      {.name = "first", .type = RECSORT_CHAR, ANYWHERE},
      {.name = "v4", .type = RECSORT_IPV4, ANYWHERE},
      {.name = "second", .type = RECSORT_CHAR, ANYWHERE},
      {.name = "v6", .type = RECSORT_IPV6, ANYWHERE},
      {.name = "third", .type = RECSORT_CHAR, ANYWHERE},
      {.name = "mac", .type = RECSORT_MAC, ANYWHERE},
      {.name = "number", .type = RECSORT_INT128, ANYWHERE},
  };
  const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                    .record = "host",
                                    .fields = fields,
                                    .field_count = LENGTH(fields)};
  recsort_schema *schema = create(&desc);
  const recsort_field_desc *laid = recsort_schema_describe(schema)->fields;
  (void)state;
  assert_int_equal(laid[1].offset, offsetof(struct host, v4));
  if (_Alignof(struct in6_addr) == 4) { /* 2 on Windows */
    assert_int_equal(laid[3].offset, offsetof(struct host, v6));
    assert_int_equal(laid[5].offset, offsetof(struct host, mac));
  }
  if (_Alignof(wide) == 16) /* 8 on s390x */
    assert_int_equal(laid[6].offset, offsetof(struct host, number));
  recsort_schema_destroy(schema);
}

static void packs_without_padding(void **state)
{
  recsort_schema_desc desc = outer_desc();
  size_t count, end = 0;
  (void)state;
  desc.layout = RECSORT_LAYOUT_PACKED;
  recsort_schema *schema = create(&desc);
  const recsort_field_desc *fields = recsort_schema_describe(schema)->fields;
  count = recsort_schema_describe(schema)->field_count;
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(fields[i].offset, end);
    end += fields[i].size * (fields[i].count ? fields[i].count : 1);
  }
  assert_int_equal(fields[9].size, 1 + 8 + 4);
  assert_int_equal(recsort_schema_describe(schema)->size, end);
  recsort_schema_destroy(schema);
}

static void checks_offsets_that_agree(void **state)
{
  recsort_field_desc fields[LENGTH(outer_fields)];
  recsort_schema_desc desc = outer_desc();
  recsort_schema *schema = NULL;
  (void)state;
  memcpy(fields, outer_fields, sizeof fields);
  for (size_t i = 0; i < LENGTH(fields); i++)
    fields[i].offset = outer_places[i].offset;
  desc.fields = fields;
  recsort_schema_destroy(create(&desc));
  fields[3].offset++;
  assert_int_equal(recsort_schema_create(&desc, NULL, &schema, NULL), RECSORT_INVALID_SCHEMA);
}

static void places_fields_in_any_order(void **state)
{
  static const recsort_field_desc fields[] = {
      {.name = "c", .type = RECSORT_INT16, .offset = 9},
      {.name = "a", .type = RECSORT_INT64, .offset = 1},
      {.name = "b", .type = RECSORT_INT8, .offset = 0},
  };
  const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                    .record = "R",
                                    .layout = RECSORT_LAYOUT_EXPLICIT,
                                    .fields = fields,
                                    .field_count = 3};
  (void)state;
  recsort_schema *schema = create(&desc);
  assert_int_equal(recsort_schema_describe(schema)->size, 11);
  recsort_schema_destroy(schema);
}

static void pads_to_the_size_asked_for(void **state)
{
  recsort_schema_desc desc = outer_desc();
  recsort_schema *schema = NULL;
  (void)state;
  desc.size = sizeof(struct outer) + 3;
  schema = create(&desc);
  assert_int_equal(recsort_schema_describe(schema)->size, sizeof(struct outer) + 3);
  recsort_schema_destroy(schema);
  schema = NULL;
  desc.size = sizeof(struct outer) - 1;
  assert_int_equal(recsort_schema_create(&desc, NULL, &schema, NULL), RECSORT_INVALID_SCHEMA);
  desc.size = (uint64_t)INT32_MAX;
  recsort_schema_destroy(create(&desc));
  desc.size++;
  assert_int_equal(recsort_schema_create(&desc, NULL, &schema, NULL), RECSORT_INVALID_SCHEMA);
  assert_null(schema);
}

static void hands_endian_down(void **state)
{
  static const recsort_field_desc inside[] = {
      {.name = "same", .type = RECSORT_INT16, ANYWHERE},
      {.name = "other", .type = RECSORT_INT16, .endian = RECSORT_LITTLE_ENDIAN, ANYWHERE},
      {.name = "bits", .type = RECSORT_BITFIELD, .bit_base = "other", .width = 3, ANYWHERE},
  };
  static const recsort_field_desc fields[] = {
      {.name = "a", .type = RECSORT_INT16, ANYWHERE},
      {.name = "s",
       .type = RECSORT_STRUCT,
       .endian = RECSORT_BIG_ENDIAN,
       .fields = inside,
       .field_count = 3,
       ANYWHERE},
  };
  const recsort_schema_desc desc = {
      .struct_size = sizeof desc, .record = "R", .fields = fields, .field_count = 2};
  (void)state;
  recsort_schema *schema = create(&desc);
  const recsort_field_desc *laid = recsort_schema_describe(schema)->fields;
  assert_int_equal(recsort_schema_describe(schema)->endian, RECSORT_LITTLE_ENDIAN);
  assert_int_equal(laid[0].endian, RECSORT_LITTLE_ENDIAN);
  assert_int_equal(laid[1].fields[0].endian, RECSORT_BIG_ENDIAN);
  assert_int_equal(laid[1].fields[1].endian, RECSORT_LITTLE_ENDIAN);
  assert_int_equal(laid[1].fields[2].endian, RECSORT_LITTLE_ENDIAN);
  assert_int_equal(laid[1].fields[2].offset, 2);
  assert_int_equal(laid[1].fields[2].size, 2);
  assert_int_equal(laid[1].fields[2].base, RECSORT_INT16);
  assert_int_equal(laid[1].size, 4);
  recsort_schema_destroy(schema);
}

/* ---- Descriptions that no text can contain --------------------------------------------------- */

static void expect_refused(const recsort_schema_desc *desc, const char *message)
{
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  const recsort_status status = recsort_schema_create(desc, NULL, &schema, &error);
  assert_string_equal(error.text, message);
  assert_int_equal(status, error.status);
  assert_int_not_equal(status, RECSORT_OK);
  assert_null(schema);
}

static void refuses_bad_fields_made_by_calls(void **state)
{
  static const recsort_enumerator nameless[] = {{NULL, 0}}, big[] = {{"b", 128}};
  static const int64_t nulls[] = {5, 32768};
  static const struct {
    recsort_field_desc field;
    const char *message;
  } cases[] = {
      {{.type = RECSORT_INT8, ANYWHERE}, "field \"\": it has no name"},
      {{.name = "", .type = RECSORT_INT8, ANYWHERE}, "field \"\": a name must not be empty"},
      {{.name = "a.b", .type = RECSORT_INT8, ANYWHERE},
       "field \"a.b\": a name must not hold . [ or ], which paths use"},
      {{.name = "\xff", .type = RECSORT_INT8, ANYWHERE}, "field \"\xff\": a name must be UTF-8"},
      {{.name = "a", ANYWHERE}, "field \"a\": its type is not a recsort_type"},
      {{.name = "a", .type = (recsort_type)(RECSORT_FLOAT4_E2M1FN + 1), ANYWHERE},
       "field \"a\": its type is not a recsort_type"},
      {{.name = "a", .type = RECSORT_INT8, .endian = (recsort_endian)3, ANYWHERE},
       "field \"a\": its endian is not a recsort_endian"},
      {{.name = "a", .type = RECSORT_INT8, .count = UINT64_MAX, ANYWHERE},
       "field \"a\": count 18446744073709551615 is more than the 2147483647 bytes that a record "
       "may "
       "have"},
      {{.name = "a", .type = RECSORT_STRUCT, .field_count = 2, ANYWHERE},
       "field \"a\": a struct needs fields"},
      {{.name = "a", .type = RECSORT_ENUM, .base = RECSORT_INT8, ANYWHERE},
       "field \"a\": an enum needs at least one name in values"},
      {{.name = "a", .type = RECSORT_ENUM, .enumerators = big, .enumerator_count = 1, ANYWHERE},
       "field \"a\": the base of an enum must be an integer type of whole bytes"},
      {{.name = "a",
        .type = RECSORT_ENUM,
        .base = RECSORT_INT8,
        .enumerators = nameless,
        .enumerator_count = 1,
        ANYWHERE},
       "field \"a\": values: a value has no name"},
      {{.name = "a",
        .type = RECSORT_ENUM,
        .base = RECSORT_INT8,
        .enumerators = big,
        .enumerator_count = 1,
        ANYWHERE},
       "field \"a\": value \"b\" = 128 does not fit int8"},
      {{.name = "a", .type = RECSORT_CHAR, .nulls = nulls, .null_count = 1, ANYWHERE},
       "field \"a\": null is for integers of at most 64 bits"},
      {{.name = "a", .type = RECSORT_INT16, .nulls = nulls, .null_count = 256, ANYWHERE},
       "field \"a\": it has 256 null values; 1 to 255 are allowed"},
      {{.name = "a", .type = RECSORT_INT16, .null_count = 1, ANYWHERE},
       "field \"a\": it has 0 null values; 1 to 255 are allowed"},
      {{.name = "a", .type = RECSORT_INT16, .nulls = nulls, .null_count = 2, ANYWHERE},
       "field \"a\": null 32768 does not fit int16"},
      {{.name = "a", .type = RECSORT_BITFIELD, .width = 1, ANYWHERE},
       "field \"a\": a bitfield needs a base"},
      {{.name = "a", .type = RECSORT_INT32, .size = 8, ANYWHERE},
       "field \"a\": size 8 is given, but it takes 4 bytes"},
      {{.name = "a", .type = RECSORT_CSTRING, .count = 8, ANYWHERE},
       "field \"a\": its length is size, not count; there are no arrays of cstring"},
  };
  (void)state;
  for (size_t i = 0; i < LENGTH(cases); i++) {
    const recsort_schema_desc desc = {
        .struct_size = sizeof desc, .record = "R", .fields = &cases[i].field, .field_count = 1};
    expect_refused(&desc, cases[i].message);
  }
}

static void refuses_bad_bitfields_made_by_calls(void **state)
{
  recsort_field_desc fields[] = {
      {.name = "a", .type = RECSORT_UINT32, ANYWHERE},
      {.name = "b", .type = RECSORT_BITFIELD, .bit_base = "a", ANYWHERE},
  };
  const recsort_schema_desc desc = {
      .struct_size = sizeof desc, .record = "R", .fields = fields, .field_count = 2};
  (void)state;
  expect_refused(&desc, "field \"b\": bit 0 and width 0 lie outside the 32 bits of \"a\"");
  fields[1].width = 2;
  fields[1].bit = UINT32_MAX;
  expect_refused(&desc, "field \"b\": bit 4294967295 and width 2 lie outside the 32 bits of \"a\"");
  fields[1].bit = 30;
  recsort_schema_destroy(create(&desc));
  for (unsigned wrong = 0; wrong < 4; wrong++) {
    recsort_field_desc *const bits = &fields[1];
    bits->endian = wrong == 0 ? RECSORT_BIG_ENDIAN : RECSORT_ENDIAN_DEFAULT;
    bits->offset = wrong == 1 ? 4 : RECSORT_NO_OFFSET;
    bits->count = wrong == 2;
    bits->size = wrong == 3 ? 2 : 0;
    expect_refused(&desc,
                   "field \"b\": a bitfield takes count, size, offset and endian from its base");
  }
}

static void refuses_bad_records_made_by_calls(void **state)
{
  static const recsort_key_desc keys[] = {{.path = NULL},
                                          {.path = "i8", .order = (recsort_order)2},
                                          {.path = "f32", .nan = (recsort_nan)3}};
  const recsort_schema_desc good = outer_desc();
  recsort_schema_desc desc;
  (void)state;
#define CASE(change, message)                                                                      \
  desc = good;                                                                                     \
  change;                                                                                          \
  expect_refused(&desc, message)
  CASE(desc.struct_size = 8,
       "struct_size is 8, but a recsort_schema_desc has 144 bytes: use RECSORT_SCHEMA_DESC_INIT");
  CASE(desc.record = NULL, "record: the record has no name");
  CASE(desc.record = "", "record: a name must not be empty");
  CASE(desc.endian = (recsort_endian)3, "the record's endian is not a recsort_endian");
  CASE(desc.layout = (recsort_layout)3, "the record's layout is not a recsort_layout");
  CASE(desc.fields = NULL, "the record has no fields");
  CASE(desc.field_count = 0, "the record has no fields");
  CASE(desc.key_count = 1, "the record's keys are missing");
  CASE((desc.skip = INT64_MAX, desc.trailer = 1), "skip and trailer together are larger than any "
                                                  "file");
  CASE(desc.trailer = RECSORT_ANY_TRAILER - 1,
       "skip and trailer together are larger than any file");
  CASE(desc.trailer = RECSORT_ANY_TRAILER,
       "a trailer of any size needs a count or length: where would it begin?");
#define SKIP(of)                                                                                   \
  (desc.places = &(recsort_place_desc){.kind = RECSORT_PLACE_SKIP, .field = of},                   \
   desc.place_count = 1)
#define COUNT(of)                                                                                  \
  (desc.places = &(recsort_place_desc){.kind = RECSORT_PLACE_COUNT, .field = of},                  \
   desc.place_count = 1)
  const recsort_field_desc number = {.type = RECSORT_INT32, .offset = 4};
  const recsort_field_desc real = {.type = RECSORT_FLOAT32, .offset = 4};
  CASE((desc.count = 1, desc.skip = 1, desc.trailer = 1, desc.repeat = true),
       "what is repeated has a skip, a count and no trailer");
  CASE((desc.count = 1, desc.repeat = true), "what is repeated has a skip, a count and no trailer");
  CASE((desc.count = 1, desc.skip = 8, COUNT(&number)),
       "count is both a number and a field of the header");
  CASE((desc.skip = 8, SKIP(&number)), "skip is both a number and a field of the header");
  CASE((desc.skip = 7, COUNT(&number)),
       "count: it ends beyond the header, which has the 7 bytes that skip says");
  CASE(SKIP(&real), "skip: it is neither an integer nor a char");
  const recsort_field_desc several = {.type = RECSORT_INT32, .offset = 4, .count = 2},
                           turned = {.type = RECSORT_INT32, .endian = (recsort_endian)3},
                           under = {.type = RECSORT_INT32, .endian = (recsort_endian)-1},
                           anywhere = {.type = RECSORT_INT32, .offset = RECSORT_NO_OFFSET},
                           far = {.type = RECSORT_INT32, .offset = (1 << 20) + 1},
                           last = {.type = RECSORT_INT32, .offset = (1 << 20) - 3},
                           text = {.type = RECSORT_CHAR, .offset = 4, .size = 1 << 20};
  CASE(SKIP(&several), "skip: it is an array");
  CASE(SKIP(&turned), "skip: its endian is not a recsort_endian");
  CASE(SKIP(&under), "skip: its endian is not a recsort_endian");
  CASE(SKIP(&anywhere), "skip: it has no offset");
  CASE(SKIP(&far), "skip: it ends beyond 1048576 bytes");
  CASE(SKIP(&last), "skip: it ends beyond 1048576 bytes");
  CASE(SKIP(&text), "skip: it ends beyond 1048576 bytes");
  CASE((desc.skip = 8, desc.repeat = true), "what is repeated has a skip, a count and no trailer");
  CASE((desc.keys = keys, desc.key_count = 1), "a key has no path");
  CASE((desc.keys = keys + 1, desc.key_count = 1), "key \"i8\": its order is not a recsort_order");
  CASE((desc.keys = keys + 2, desc.key_count = 1), "key \"f32\": its nan is not a recsort_nan");
  CASE((desc.source = "here", desc.record = ""), "here: record: a name must not be empty");
#undef CASE
}

static void refuses_structs_in_structs_for_ever(void **state)
{
  recsort_field_desc fields[2];
  (void)state;
  for (size_t i = 0; i < LENGTH(fields); i++)
    fields[i] = (recsort_field_desc){.name = "s",
                                     .type = RECSORT_STRUCT,
                                     .fields = &fields[(i + 1) % LENGTH(fields)],
                                     .field_count = 1,
                                     ANYWHERE};
  const recsort_schema_desc desc = {
      .struct_size = sizeof desc, .record = "R", .fields = fields, .field_count = 1};
  expect_refused(&desc, "field \"s\": fields are nested deeper than 32");
}

static void nests_32_deep_and_no_deeper(void **state)
{
  recsort_field_desc fields[33]; /* one for each level; the last is not a struct */
  (void)state;
  for (size_t i = 0; i < LENGTH(fields); i++)
    fields[i] = (recsort_field_desc){.name = "s",
                                     .type = i < 32 ? RECSORT_STRUCT : RECSORT_INT8,
                                     .fields = i < 32 ? &fields[i + 1] : NULL,
                                     .field_count = i < 32,
                                     ANYWHERE};
  recsort_schema_desc desc = {
      .struct_size = sizeof desc, .record = "R", .fields = fields, .field_count = 1};
  expect_refused(&desc, "field \"s\": fields are nested deeper than 32");
  desc.fields = fields + 1;
  recsort_schema_destroy(create(&desc));
}

/* ---- Paths ------------------------------------------------------------------------------------
 */

static void follows_paths(void **state)
{
  static const struct {
    const char *path;
    size_t offset;
    const char *name;
  } cases[] = {
      {"alive", offsetof(struct outer, alive), "alive"},
      {"name", offsetof(struct outer, name), "name"},
      {"one.weight", offsetof(struct outer, one.weight), "weight"},
      {"one.pair[1]", offsetof(struct outer, one.pair[1]), "pair"},
      {"three[0].tag", offsetof(struct outer, three[0].tag), "tag"},
      {"three[2].weight", offsetof(struct outer, three[2].weight), "weight"},
      {"three[1].pair[1]", offsetof(struct outer, three[1].pair[1]), "pair"},
      {"last[1]", offsetof(struct outer, last[1]), "last"},
      {"kind", offsetof(struct outer, kind), "kind"},
  };
  const recsort_schema_desc desc = outer_desc();
  recsort_schema *schema = create(&desc);
  (void)state;
  for (size_t i = 0; i < LENGTH(cases); i++) {
    const recsort_key_desc key = {.path = cases[i].path};
    rs_target target = {0};
    recsort_error error = {0};
    if (rs_layout_find(schema, &key, NULL, &target, &error)) fail_msg("refused: %s", error.text);
    assert_int_equal(target.offset, cases[i].offset);
    assert_string_equal(target.field->name, cases[i].name);
  }
  recsort_schema_destroy(schema);
}

static void refuses_a_path_with_its_place(void **state)
{
  const recsort_schema_desc desc = outer_desc();
  const recsort_key_desc key = {.path = "tree[0].tag", .line = 7, .column = 9};
  recsort_schema *schema = create(&desc);
  rs_target target = {0};
  recsort_error error = {0};
  (void)state;
  assert_int_equal(rs_layout_find(schema, &key, "a.yaml", &target, &error), RECSORT_INVALID_KEY);
  assert_string_equal(error.text,
                      "a.yaml:7:9: key \"tree[0].tag\": there is no field \"tree\"; did "
                      "you mean three?");
  assert_int_equal(rs_layout_find(schema, &key, NULL, &target, &error), RECSORT_INVALID_KEY);
  assert_string_equal(error.text,
                      "key \"tree[0].tag\": there is no field \"tree\"; did you mean three?");
  assert_null(target.field);
  recsort_schema_destroy(schema);
}

static void takes_nan_for_every_float_and_nothing_else(void **state)
{
  static const struct {
    recsort_type type;
    bool taken;
  } cases[] = {{RECSORT_BOOL, false},   {RECSORT_INT32, false},   {RECSORT_UINT64, false},
               {RECSORT_FLOAT16, true}, {RECSORT_BFLOAT16, true}, {RECSORT_FLOAT32, true},
               {RECSORT_FLOAT64, true}, {RECSORT_CHAR, false},    {RECSORT_BYTES, false}};
  (void)state;
  for (size_t i = 0; i < LENGTH(cases); i++) {
    const recsort_field_desc field = {.name = "f", .type = cases[i].type, ANYWHERE};
    const recsort_key_desc key = {.path = "f", .nan = RECSORT_NAN_FIRST};
    const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                      .record = "R",
                                      .fields = &field,
                                      .field_count = 1,
                                      .keys = &key,
                                      .key_count = 1};
    recsort_schema *schema = NULL;
    assert_int_equal(recsort_schema_create(&desc, NULL, &schema, NULL),
                     cases[i].taken ? RECSORT_OK : RECSORT_INVALID_KEY);
    recsort_schema_destroy(schema);
  }
}

static recsort_field_desc bits(const char *name, const char *base, uint32_t bit, uint32_t width)
{
  return (recsort_field_desc){
      .name = name, .type = RECSORT_BITFIELD, .bit_base = base, .bit = bit, .width = width};
}

/* Bitfields of several bases, in any order of bits: exactly the overlaps are found. */
static void tells_overlaps_of_bitfields(void **state)
{
  const recsort_field_desc apart[] = {
      {.name = "a", .type = RECSORT_UINT8},
      {.name = "b", .type = RECSORT_UINT8},
      bits("high", "b", 4, 4),
      bits("low", "b", 0, 4),
      bits("of_a", "a", 2, 4),
      bits("above", "a", 6, 2),
      bits("below", "a", 0, 2),
  };
  recsort_schema_desc desc = {
      .struct_size = sizeof desc, .record = "R", .fields = apart, .field_count = LENGTH(apart)};
  recsort_schema *schema = NULL;
  (void)state;
  assert_int_equal(recsort_schema_create(&desc, NULL, &schema, NULL), RECSORT_OK);
  recsort_schema_destroy(schema);
  for (uint32_t bit = 1; bit < 4; bit++) {
    recsort_field_desc fields[LENGTH(apart)];
    memcpy(fields, apart, sizeof fields);
    fields[3].bit = bit; /* four bits that reach into "high" */
    desc.fields = fields;
    schema = NULL;
    assert_int_equal(recsort_schema_create(&desc, NULL, &schema, NULL), RECSORT_INVALID_SCHEMA);
    assert_null(schema);
  }
}

/* The message names the first repeated name, however many others are repeated. */
static void tells_the_first_name_that_comes_twice(void **state)
{
  static const char *const names[][4] = {
      {"a", "a", "b", "b"}, {"b", "b", "a", "a"}, {"b", "a", "b", "a"}, {"a", "a", "a", "b"}};
  static const char told[] = {'a', 'b', 'b', 'a'};
  (void)state;
  for (size_t i = 0; i < LENGTH(names); i++) {
    recsort_field_desc fields[4] = {{0}};
    for (size_t f = 0; f < 4; f++)
      fields[f] = (recsort_field_desc){.name = names[i][f], .type = RECSORT_UINT8};
    const recsort_schema_desc desc = {
        .struct_size = sizeof desc, .record = "R", .fields = fields, .field_count = 4};
    recsort_schema *schema = NULL;
    recsort_error error = {0};
    const char name[] = {'"', told[i], '"', 0};
    assert_int_equal(recsort_schema_create(&desc, NULL, &schema, &error), RECSORT_INVALID_SCHEMA);
    if (!strstr(error.text, name)) fail_msg("%zu: %s", i, error.text);
  }
}

/* A base must be an integer, so only integers are suggested. */
static void offers_integers_as_bases(void **state)
{
  const recsort_field_desc fields[] = {{.name = "flagz", .type = RECSORT_FLOAT32},
                                       {.name = "flags", .type = RECSORT_UINT32},
                                       bits("bit", "flagy", 0, 1)};
  const recsort_schema_desc desc = {
      .struct_size = sizeof desc, .record = "R", .fields = fields, .field_count = 3};
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  (void)state;
  assert_int_equal(recsort_schema_create(&desc, NULL, &schema, &error), RECSORT_INVALID_SCHEMA);
  if (!strstr(error.text, "flags") || strstr(error.text, "flagz")) fail_msg("%s", error.text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tells_overlaps_of_bitfields),
      cmocka_unit_test(tells_the_first_name_that_comes_twice),
      cmocka_unit_test(offers_integers_as_bases),
      cmocka_unit_test(lays_out_as_the_compiler_does),
      cmocka_unit_test(describes_structs_of_c),
      cmocka_unit_test(aligns_addresses_as_the_system_does),
      cmocka_unit_test(packs_without_padding),
      cmocka_unit_test(checks_offsets_that_agree),
      cmocka_unit_test(places_fields_in_any_order),
      cmocka_unit_test(pads_to_the_size_asked_for),
      cmocka_unit_test(hands_endian_down),
      cmocka_unit_test(refuses_bad_fields_made_by_calls),
      cmocka_unit_test(refuses_bad_bitfields_made_by_calls),
      cmocka_unit_test(refuses_bad_records_made_by_calls),
      cmocka_unit_test(refuses_structs_in_structs_for_ever),
      cmocka_unit_test(nests_32_deep_and_no_deeper),
      cmocka_unit_test(follows_paths),
      cmocka_unit_test(refuses_a_path_with_its_place),
      cmocka_unit_test(takes_nan_for_every_float_and_nothing_else),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
