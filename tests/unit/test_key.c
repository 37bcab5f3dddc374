/* Keys: the order and the round trip of every type, at difficult values.
 *
 * The order of codes is compared with oracle.h, which compares values and does not encode them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "recsort/key_interpreter.h"
#include "base/pool.h"
#include "key/encode.h"
#include "layout/layout.h"
#include "support/oracle.h"
#include "support/random.h"

/* Raw bits of values; types with fewer bits store the least significant ones. */
static const uint64_t integers[] = {0,
                                    1,
                                    2,
                                    0x7f,
                                    0x80,
                                    0xff,
                                    0x100,
                                    0x7fff,
                                    0x8000,
                                    0xffff,
                                    0x10000,
                                    0x7fffffff,
                                    0x80000000,
                                    0x80000001,
                                    0xfffffffe,
                                    0xffffffff,
                                    1ULL << 32,
                                    0x0123456789abcdef,
                                    1ULL << 63,
                                    (1ULL << 63) - 1,
                                    (1ULL << 63) + 1,
                                    UINT64_MAX - 1,
                                    UINT64_MAX};

/* Zeros, denormals, one, the largest, infinity, NaNs quiet and signalling with payloads; each of
 * both signs. */
#define FLOATS(sign, inf, one)                                                                     \
  {                                                                                                \
    0, 1, 2, (inf)-1, (inf), (inf) + 1, (inf) | (inf) >> 1, (sign)-1, one, one + 1, (sign),        \
        (sign) | 1, (sign) | ((inf)-1), (sign) | inf, (sign) | (inf + 1), (sign) | ((sign)-1),     \
        (sign) | one, (sign) | (one + 1)                                                           \
  }
static const uint64_t float16s[] = FLOATS(0x8000, 0x7c00, 0x3c00);
static const uint64_t bfloat16s[] = FLOATS(0x8000, 0x7f80, 0x3f80);
static const uint64_t float32s[] = FLOATS(0x80000000, 0x7f800000, 0x3f800000);
static const uint64_t float64s[] = FLOATS(1ULL << 63, (0x7ffULL << 52), (0x3ffULL << 52));

static const uint64_t bytes[] = {0,    1,    2,    0x07, 0x08, 0x0f, 0x10, 0x1f, 0x20, 0x3e, 0x3f,
                                 0x40, 0x6f, 0x70, 0x77, 0x78, 0x79, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f,
                                 0x80, 0x81, 0x82, 0xf8, 0xf9, 0xfc, 0xfd, 0xfe, 0xff};

#define VALUES(list) (list), sizeof(list) / sizeof *(list)

static const struct {
  recsort_type type;
  size_t size;
  const uint64_t *values;
  size_t count;
} table[] = {
    {RECSORT_BOOL, 1, VALUES(integers)},        {RECSORT_INT8, 1, VALUES(integers)},
    {RECSORT_INT16, 2, VALUES(integers)},       {RECSORT_INT32, 4, VALUES(integers)},
    {RECSORT_INT64, 8, VALUES(integers)},       {RECSORT_UINT8, 1, VALUES(integers)},
    {RECSORT_UINT16, 2, VALUES(integers)},      {RECSORT_UINT32, 4, VALUES(integers)},
    {RECSORT_UINT64, 8, VALUES(integers)},      {RECSORT_FLOAT16, 2, VALUES(float16s)},
    {RECSORT_BFLOAT16, 2, VALUES(bfloat16s)},   {RECSORT_FLOAT32, 4, VALUES(float32s)},
    {RECSORT_FLOAT64, 8, VALUES(float64s)},     {RECSORT_CHAR, 5, VALUES(integers)},
    {RECSORT_BYTES, 8, VALUES(integers)},       {RECSORT_CHAR, 13, VALUES(integers)},
    {RECSORT_BITFIELD, 4, VALUES(integers)},    {RECSORT_ENUM, 2, VALUES(integers)},
    {RECSORT_CSTRING, 5, VALUES(integers)},     {RECSORT_CSTRING, 8, VALUES(integers)},
    {RECSORT_CSTRING, 13, VALUES(integers)},    {RECSORT_INT24, 3, VALUES(integers)},
    {RECSORT_INT40, 5, VALUES(integers)},       {RECSORT_INT48, 6, VALUES(integers)},
    {RECSORT_INT56, 7, VALUES(integers)},       {RECSORT_UINT24, 3, VALUES(integers)},
    {RECSORT_UINT40, 5, VALUES(integers)},      {RECSORT_UINT48, 6, VALUES(integers)},
    {RECSORT_UINT56, 7, VALUES(integers)},      {RECSORT_INT1, 1, VALUES(bytes)},
    {RECSORT_INT2, 1, VALUES(bytes)},           {RECSORT_INT4, 1, VALUES(bytes)},
    {RECSORT_UINT1, 1, VALUES(bytes)},          {RECSORT_UINT2, 1, VALUES(bytes)},
    {RECSORT_UINT4, 1, VALUES(bytes)},          {RECSORT_FLOAT8_E3M4, 1, VALUES(bytes)},
    {RECSORT_FLOAT8_E4M3, 1, VALUES(bytes)},    {RECSORT_FLOAT8_E4M3B11FNUZ, 1, VALUES(bytes)},
    {RECSORT_FLOAT8_E4M3FN, 1, VALUES(bytes)},  {RECSORT_FLOAT8_E4M3FNUZ, 1, VALUES(bytes)},
    {RECSORT_FLOAT8_E5M2, 1, VALUES(bytes)},    {RECSORT_FLOAT8_E5M2FNUZ, 1, VALUES(bytes)},
    {RECSORT_FLOAT8_E8M0FNU, 1, VALUES(bytes)}, {RECSORT_FLOAT6_E2M3FN, 1, VALUES(bytes)},
    {RECSORT_FLOAT6_E3M2FN, 1, VALUES(bytes)},  {RECSORT_FLOAT4_E2M1FN, 1, VALUES(bytes)},
};

static const recsort_enumerator all_of_int16[] = {{"least", INT16_MIN}, {"most", INT16_MAX}};

enum {
  MAX_BYTES = 40,
  MAX_VALUES = 32,
  LEAD = 3 /* bytes before the field, so that nothing is
            * aligned */
};

/* A field of one type with a plan for it. */
typedef struct subject {
  rs_arena arena;
  recsort_schema *schema;
  rs_plan plan;
  oracle_key key;
} subject;

/* `beside`: adds a second key field, so that the key takes more than one step. */
static void open_subject(subject *s, oracle_key key, bool beside)
{
  const bool string =
      key.type == RECSORT_CHAR || key.type == RECSORT_BYTES || key.type == RECSORT_CSTRING;
  const bool bits = key.type == RECSORT_BITFIELD, names = key.type == RECSORT_ENUM;
  const recsort_field_desc fields[] = {
      {.name = "lead", .type = RECSORT_BYTES, .size = LEAD, .offset = RECSORT_NO_OFFSET},
      {.name = "value",
       .type = bits ? RECSORT_UINT32 : key.type,
       .base = names ? RECSORT_INT16 : (recsort_type)0,
       .endian = key.endian,
       .size = string ? key.size : 0,
       .nulls = key.nulls,
       .null_count = key.null_count,
       .enumerators = names ? all_of_int16 : NULL,
       .enumerator_count = names ? 2 : 0,
       .offset = RECSORT_NO_OFFSET},
      {.name = "flag", .type = RECSORT_BOOL, .offset = RECSORT_NO_OFFSET},
      {.name = "bits",
       .type = RECSORT_BITFIELD,
       .bit_base = "value",
       .bit = key.bit,
       .width = key.bits,
       .offset = RECSORT_NO_OFFSET}};
  const recsort_key_desc keys[] = {
      {.path = bits ? "bits" : "value", .order = key.order, .nan = key.nan}, {.path = "flag"}};
  const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                    .record = "R",
                                    .layout = RECSORT_LAYOUT_PACKED,
                                    .fields = fields,
                                    .field_count = bits ? 4 : 3,
                                    .keys = keys,
                                    .key_count = beside ? 2 : 1};
  const recsort_allocator memory = rs_allocator(NULL);
  recsort_error error = {0};
  assert_int_equal(recsort_schema_create(&desc, NULL, &s->schema, &error), RECSORT_OK);
  rs_arena_init(&s->arena, &memory);
  assert_int_equal(rs_plan_create(s->schema, NULL, 0, false, &s->arena, &s->plan, &error),
                   RECSORT_OK);
  if (names) key.type = RECSORT_INT16;
  s->key = key;
}

static void close_subject(subject *s)
{
  rs_arena_free(&s->arena);
  recsort_schema_destroy(s->schema);
}

static void put(const oracle_key *key, uint64_t value, unsigned char *record)
{
  memset(record, 0xab, MAX_BYTES);
  for (size_t i = 0; i < key->size; i++) {
    const size_t place = key->endian == RECSORT_BIG_ENDIAN ? key->size - 1 - i : i;
    record[key->offset + i] = (unsigned char)(place < 8 ? value >> 8 * place : 0x30);
  }
  record[key->offset + key->size] = 0;
}

static int sign_of(int order)
{
  return (order > 0) - (order < 0);
}

/* For all pairs of values, codes are in the order of the values; decoding a code gives a value that
 * has this code and compares equal. */
static void check_subject(const subject *s, const uint64_t *values, size_t count)
{
  unsigned char records[MAX_VALUES][MAX_BYTES], keys[MAX_VALUES][MAX_BYTES];
  const size_t record_size = s->schema->desc.size;
  assert_true(count <= MAX_VALUES);
  for (size_t i = 0; i < count; i++) {
    _Alignas(8) unsigned char key[MAX_BYTES] = {0}, again[MAX_BYTES] = {0};
    unsigned char decoded[MAX_BYTES];
    put(&s->key, values[i], records[i]);
    assert_int_equal(rs_key_encode(&s->plan, records[i], 1, key, rs_team(NULL, 1), 0, NULL),
                     RECSORT_OK);
    memcpy(decoded, records[i], sizeof decoded);
    memset(decoded + s->key.offset, 0, s->key.size + 1);
    rs_key_decode(&s->plan, key, decoded);
    assert_int_equal(oracle_compare(&s->key, 1, records[i], decoded), 0);
    assert_int_equal(rs_key_encode(&s->plan, decoded, 1, again, rs_team(NULL, 1), 0, NULL),
                     RECSORT_OK);
    assert_memory_equal(key, again, rs_key_size(&s->plan));
    assert_memory_equal(decoded, records[i], LEAD);
    assert_true(decoded[record_size] == 0xab);
    memcpy(keys[i], key, sizeof key);
  }
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < count; j++) {
      _Alignas(8) unsigned char a[MAX_BYTES], b[MAX_BYTES];
      memcpy(a, keys[i], sizeof a);
      memcpy(b, keys[j], sizeof b);
      const int expected = oracle_compare(&s->key, 1, records[i], records[j]);
      const int found = sign_of(rs_key_compare(&s->plan, a, b));
      if (found != expected)
        fail_msg("%s: %#llx against %#llx: %d, not %d", recsort_type_describe(s->key.type)->name,
                 (unsigned long long)values[i], (unsigned long long)values[j], found, expected);
    }
}

static void test_order_and_round_trip(void **state)
{
  size_t subjects = 0;
  (void)state;
  for (size_t t = 0; t < sizeof table / sizeof *table; t++)
    for (unsigned variant = 0; variant < 24; variant++) {
      const recsort_nan nan = (recsort_nan)(variant >> 3);
      subject s;
      if (nan != RECSORT_NAN_LAST && !oracle_is_float(table[t].type)) continue;
      open_subject(&s,
                   (oracle_key){.type = table[t].type,
                                .endian = variant & 1 ? RECSORT_BIG_ENDIAN : RECSORT_LITTLE_ENDIAN,
                                .offset = LEAD,
                                .size = table[t].size,
                                .bit = 7,
                                .bits = 13,
                                .order = variant & 2 ? RECSORT_DESCENDING : RECSORT_ASCENDING,
                                .nan = nan},
                   variant & 4);
      check_subject(&s, table[t].values, table[t].count);
      close_subject(&s);
      subjects++;
    }
  assert_int_equal(subjects, 8 * 31 + 24 * 15);
}

/* Integers of every size with one null value, and with several: the ends of the range, its middle
 * and neighbours. */
static void test_null_values(void **state)
{
  static const recsort_type types[] = {RECSORT_INT8,  RECSORT_UINT8, RECSORT_INT16,
                                       RECSORT_INT24, RECSORT_INT32, RECSORT_UINT32,
                                       RECSORT_INT56, RECSORT_INT64, RECSORT_UINT64};
  static const int64_t of_signed[] = {0, -99, INT8_MIN, INT8_MAX, -1, -98},
                       of_unsigned[] = {0, 99, 127, 128, 255, 98};
  static const uint64_t values[] = {0,
                                    1,
                                    2,
                                    97,
                                    98,
                                    99,
                                    100,
                                    126,
                                    127,
                                    128,
                                    129,
                                    254,
                                    255,
                                    256,
                                    0x7fff,
                                    0x8000,
                                    0xffffff9d,
                                    0xffffff9e,
                                    UINT64_MAX,
                                    UINT64_MAX - 1,
                                    (uint64_t)-98,
                                    (uint64_t)-99,
                                    (uint64_t)-100,
                                    (uint64_t)INT8_MIN,
                                    (uint64_t)INT8_MIN - 1,
                                    UINT64_C(1) << 63,
                                    INT64_MAX,
                                    0x800000};
  (void)state;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (unsigned variant = 0; variant < 24 * 7; variant++) {
      const bool is_signed = oracle_is_signed(types[t]);
      const size_t given = variant / 24; /* one of them, or all */
      subject s;
      open_subject(&s,
                   (oracle_key){.type = types[t],
                                .endian = variant & 1 ? RECSORT_BIG_ENDIAN : RECSORT_LITTLE_ENDIAN,
                                .offset = LEAD,
                                .size = recsort_type_describe(types[t])->size,
                                .order = variant & 2 ? RECSORT_DESCENDING : RECSORT_ASCENDING,
                                .nan = (recsort_nan)(variant % 24 / 8),
                                .nulls = (is_signed ? of_signed : of_unsigned) + given % 6,
                                .null_count = given < 6 ? 1 : 6},
                   variant & 4);
      check_subject(&s, values, sizeof values / sizeof *values);
      assert_int_equal(s.plan.keys[0].bits, 8 * recsort_type_describe(types[t])->size);
      close_subject(&s);
    }
}

/* What stands behind the first NUL of a C string does not count, however far behind it is; a string
 * that fills its bytes has no NUL. */
static void test_cstring_ends_at_its_nul(void **state)
{
  enum { SIZE = 29 };
  static unsigned char records[SIZE + 1][LEAD + SIZE + 1], leftover[SIZE + 1][LEAD + SIZE + 1];
  (void)state;
  for (unsigned order = 0; order < 2; order++) {
    subject s;
    open_subject(&s,
                 (oracle_key){.type = RECSORT_CSTRING,
                              .offset = LEAD,
                              .size = SIZE,
                              .order = order ? RECSORT_DESCENDING : RECSORT_ASCENDING},
                 true);
    uint64_t last[8] = {0};
    for (size_t length = 0; length <= SIZE; length++) {
      uint64_t key[8] = {0}, other[8] = {0};
      memset(records[length], 0, sizeof *records);
      memset(records[length] + LEAD, 'a', length);
      memcpy(leftover[length], records[length], sizeof *records);
      for (size_t i = length + 1; i < SIZE; i++) /* the byte at `length` is NUL, and some others */
        leftover[length][LEAD + i] = i % 5 ? 'z' : 0;
      rs_key_encode(&s.plan, records[length], 1, key, rs_team(NULL, 1), 0, NULL);
      rs_key_encode(&s.plan, leftover[length], 1, other, rs_team(NULL, 1), 0, NULL);
      assert_int_equal(rs_key_compare(&s.plan, key, other), 0);
      if (length) assert_int_equal(rs_key_compare(&s.plan, last, key), order ? 1 : -1);
      memcpy(last, key, sizeof last);
    }
    close_subject(&s);
  }
}

static void test_random_values(void **state)
{
  uint64_t random = 7, values[MAX_VALUES];
  (void)state;
  for (unsigned round = 0; round < 400; round++) {
    const size_t t = round % (sizeof table / sizeof *table);
    subject s;
    for (size_t i = 0; i < MAX_VALUES; i++)
      values[i] = next_random(&random) >> random_below(&random, 60);
    open_subject(&s,
                 (oracle_key){.type = table[t].type,
                              .endian = RECSORT_LITTLE_ENDIAN,
                              .offset = LEAD,
                              .size = table[t].size,
                              .bit = (unsigned)random_below(&random, 16),
                              .bits = (unsigned)random_below(&random, 16) + 1,
                              .order = random & 64 ? RECSORT_DESCENDING : RECSORT_ASCENDING},
                 random & 32);
    check_subject(&s, values, MAX_VALUES);
    close_subject(&s);
  }
}

static void test_decoding_a_bitfield_keeps_the_bits_around_it(void **state)
{
  const oracle_key key = {.type = RECSORT_BITFIELD,
                          .endian = RECSORT_LITTLE_ENDIAN,
                          .offset = LEAD,
                          .size = 4,
                          .bit = 7,
                          .bits = 13};
  _Alignas(8) unsigned char code[MAX_BYTES];
  unsigned char record[MAX_BYTES];
  subject s;
  (void)state;
  open_subject(&s, key, false);
  put(&key, 0xffffffff, record);
  assert_int_equal(rs_key_encode(&s.plan, record, 1, code, rs_team(NULL, 1), 0, NULL), RECSORT_OK);
  put(&key, 0xf0000000 | 5 << 7 | 0x55, record);
  rs_key_decode(&s.plan, code, record);
  assert_true(oracle_integer(&key, record) == (0xf0000000 | 0x1fff << 7 | 0x55));
  close_subject(&s);
}

/* ---- Packing ---- */

static void test_codes_straddle_words(void **state)
{
  (void)state;
  for (unsigned shift = 0; shift < 128; shift++)
    for (unsigned width = 0; width <= 64 && shift + width <= 192; width++) {
      const recsort_key_step step = {.shift = shift, .width = (uint8_t)width};
      const uint64_t code = mix(shift * 64 + width) & key_mask(width);
      uint64_t words[4] = {0, 0, 0, 0};
      key_place(words, &step, code);
      assert_true(key_take(words, &step) == code);
      assert_true(words[3] == 0);
      for (unsigned bit = 0; bit < 192; bit++) {
        const bool inside = bit >= shift && bit < shift + width;
        const uint64_t expected = inside ? code >> (bit - shift) & 1 : 0;
        assert_true((words[bit / 64] >> bit % 64 & 1) == expected);
      }
    }
}

static void test_placing_keeps_what_is_there(void **state)
{
  uint64_t words[2] = {UINT64_C(0x8000000000000001), 1};
  const recsort_key_step step = {.shift = 1, .width = 62};
  (void)state;
  key_place(words, &step, 0);
  assert_true(words[0] == UINT64_C(0x8000000000000001) && words[1] == 1);
}

/* ---- Enums ---- */

static void test_enum_out_of_range_names_the_record(void **state)
{
  static const recsort_enumerator values[] = {{"low", -2}, {"high", 5}};
  const recsort_field_desc fields[] = {
      {.name = "pad", .type = RECSORT_UINT8, .offset = RECSORT_NO_OFFSET},
      {.name = "state",
       .type = RECSORT_ENUM,
       .base = RECSORT_INT8,
       .enumerators = values,
       .enumerator_count = 2,
       .offset = RECSORT_NO_OFFSET}};
  const recsort_key_desc keys[] = {{.path = "state"}, {.path = "pad"}};
  enum { COUNT = 40000 };
  static unsigned char records[2 * COUNT];
  static uint32_t codes[COUNT];
  (void)state;
  for (size_t key_count = 1; key_count <= 2; key_count++) {
    const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                      .record = "R",
                                      .fields = fields,
                                      .field_count = 2,
                                      .keys = keys,
                                      .key_count = key_count};
    const recsort_allocator memory = rs_allocator(NULL);
    recsort_schema *schema;
    recsort_error error = {0};
    rs_arena arena;
    rs_plan plan;
    assert_int_equal(recsort_schema_create(&desc, NULL, &schema, &error), RECSORT_OK);
    rs_arena_init(&arena, &memory);
    assert_int_equal(rs_plan_create(schema, NULL, 0, false, &arena, &plan, &error), RECSORT_OK);
    memset(records, 0, sizeof records);
    for (unsigned threads = 1; threads <= 3; threads++) {
      assert_int_equal(
          rs_key_encode(&plan, records, COUNT, codes, rs_team(NULL, threads), 0, &error),
          RECSORT_OK);
      records[2 * 39000 + 1] = 6;                 /* one above */
      records[2 * 17000 + 1] = (unsigned char)-3; /* one below, and first */
      assert_int_equal(
          rs_key_encode(&plan, records, COUNT, codes, rs_team(NULL, threads), 1000, &error),
          RECSORT_INVALID_RECORD);
      assert_non_null(strstr(error.text, "record 18000: field \"state\" holds 0xfd,"));
      records[2 * 17000 + 1] = 5;
      assert_int_equal(
          rs_key_encode(&plan, records, COUNT, codes, rs_team(NULL, threads), 0, &error),
          RECSORT_INVALID_RECORD);
      assert_non_null(strstr(error.text, "record 39000: field \"state\" holds 0x6,"));
      records[2 * 39000 + 1] = (unsigned char)-2;
    }
    rs_arena_free(&arena);
    recsort_schema_destroy(schema);
  }
}

/* ---- Loops ---- */

/* The loops that are compiled for one kind and size agree with the interpreter. */
static void test_loops_agree_with_the_interpreter(void **state)
{
  enum { COUNT = 33000 };
  static unsigned char records[COUNT * MAX_BYTES];
  static uint64_t keys[COUNT * 3];
  uint64_t random = 3;
  (void)state;
  for (size_t i = 0; i < sizeof records; i++)
    records[i] = (unsigned char)next_random(&random);
  for (size_t t = 0; t < sizeof table / sizeof *table; t++)
    for (unsigned variant = 0; variant < 16; variant++) {
      subject s;
      open_subject(&s,
                   (oracle_key){.type = table[t].type,
                                .endian = variant & 1 ? RECSORT_BIG_ENDIAN : RECSORT_LITTLE_ENDIAN,
                                .offset = LEAD,
                                .size = table[t].size,
                                .bit = variant & 8 ? 3 : 0,
                                .bits = 20,
                                .order = variant & 2 ? RECSORT_DESCENDING : RECSORT_ASCENDING},
                   variant & 4);
      const recsort_key_program *program = &s.plan.program;
      assert_int_equal(rs_key_encode(&s.plan, records, COUNT, keys, rs_team(NULL, 2), 0, NULL),
                       RECSORT_OK);
      for (size_t i = 0; i < COUNT; i++) {
        uint64_t expected[3] = {0, 0, 0}, code = 0;
        bool valid = true;
        for (uint32_t step = 0; step < program->step_count; step++) {
          code = key_step(&program->steps[step], records + i * program->record_size, code, &valid);
          key_place(expected, &program->steps[step], code);
        }
        const size_t size = rs_key_size(&s.plan);
        const uint32_t half = (uint32_t)expected[0];
        assert_memory_equal((char *)keys + i * size, size == 4 ? (void *)&half : expected, size);
      }
      close_subject(&s);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order_and_round_trip),
      cmocka_unit_test(test_random_values),
      cmocka_unit_test(test_null_values),
      cmocka_unit_test(test_cstring_ends_at_its_nul),
      cmocka_unit_test(test_decoding_a_bitfield_keeps_the_bits_around_it),
      cmocka_unit_test(test_codes_straddle_words),
      cmocka_unit_test(test_placing_keeps_what_is_there),
      cmocka_unit_test(test_enum_out_of_range_names_the_record),
      cmocka_unit_test(test_loops_agree_with_the_interpreter),
  };
  return cmocka_run_group_tests_name("key", tests, NULL, NULL);
}
