/* test_value.c - single values: every type in both byte orders, and the narrow floats bit by bit.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "recsort/recsort.h"
#include "support/told.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static uint64_t bits_of(double real)
{
  uint64_t bits;
  memcpy(&bits, &real, sizeof bits);
  return bits;
}

static double real_of(uint64_t bits)
{
  double real;
  memcpy(&real, &bits, sizeof real);
  return real;
}

static recsort_value signed_value(int64_t i)
{
  return (recsort_value){.kind = RECSORT_VALUE_SIGNED, .as.i = i};
}

static recsort_value unsigned_value(uint64_t u)
{
  return (recsort_value){.kind = RECSORT_VALUE_UNSIGNED, .as.u = u};
}

static recsort_value real_value(double real)
{
  return (recsort_value){.kind = RECSORT_VALUE_REAL, .as.real = real};
}

/* ---- Integers ---------------------------------------------------------------------------------
 */

static const unsigned char pattern[] = {0x55, 0x81, 0x82, 0x03, 0x04, 0x85, 0x06, 0x07, 0x88, 0x55};

/* The values read from `pattern` + 1, an address that is aligned for no type. */
static const struct {
  recsort_type type;
  size_t size;
  uint64_t little, big;
} integers[] = {
    {RECSORT_BOOL, 1, 1, 1},
    {RECSORT_UINT8, 1, 0x81, 0x81},
    {RECSORT_UINT16, 2, 0x8281, 0x8182},
    {RECSORT_UINT32, 4, 0x04038281, 0x81820304},
    {RECSORT_UINT64, 8, 0x8807068504038281, 0x8182030485060788},
    {RECSORT_INT8, 1, 0xffffffffffffff81, 0xffffffffffffff81},
    {RECSORT_INT16, 2, 0xffffffffffff8281, 0xffffffffffff8182},
    {RECSORT_INT32, 4, 0x04038281, 0xffffffff81820304},
    {RECSORT_INT64, 8, 0x8807068504038281, 0x8182030485060788},
};

static void check_integer(const recsort_field *field, recsort_type type, uint64_t expected)
{
  unsigned char copy[sizeof pattern];
  const bool is_signed = type >= RECSORT_INT8 && type <= RECSORT_INT64;
  recsort_value value;
  recsort_field_get(field, pattern, 0, &value, sizeof value);
  assert_int_equal(value.kind, is_signed ? RECSORT_VALUE_SIGNED : RECSORT_VALUE_UNSIGNED);
  assert_int_equal(value.size, field->size);
  assert_true((is_signed ? (uint64_t)value.as.i : value.as.u) == expected);
  if (type == RECSORT_BOOL) return;
  memset(copy, 0x55, sizeof copy);
  write_value(field, copy, 0, value);
  assert_memory_equal(copy + 1, pattern + 1, field->size);
  assert_int_equal(copy[0], 0x55);
  assert_int_equal(copy[1 + field->size], 0x55);
}

static void reads_and_writes_integers(void **state)
{
  (void)state;
  for (size_t i = 0; i < LENGTH(integers); i++) {
    recsort_field field = {.type = integers[i].type,
                           .offset = 1,
                           .size = integers[i].size,
                           .endian = RECSORT_LITTLE_ENDIAN};
    check_integer(&field, integers[i].type, integers[i].little);
    field.endian = RECSORT_BIG_ENDIAN;
    check_integer(&field, integers[i].type, integers[i].big);
    if (integers[i].type == RECSORT_BOOL) continue;
    field.base = field.type;
    field.type = RECSORT_ENUM;
    check_integer(&field, integers[i].type, integers[i].big);
  }
}

static void reads_and_writes_elements(void **state)
{
  const recsort_field field = {
      .type = RECSORT_UINT16, .offset = 1, .size = 2, .count = 4, .endian = RECSORT_BIG_ENDIAN};
  unsigned char copy[sizeof pattern] = {0};
  (void)state;
  assert_int_equal(read_value(&field, pattern, 3).as.u, 0x0788);
  write_value(&field, copy, 2, unsigned_value(0xabcd));
  assert_int_equal(copy[5], 0xab);
  assert_int_equal(copy[6], 0xcd);
  assert_int_equal(copy[4] | copy[7], 0);
}

static void reads_and_writes_bits(void **state)
{
  static const struct {
    recsort_endian endian;
    uint32_t bit, width;
    uint64_t value;
    unsigned char written[4]; /* zeros, after all bits of the field are set */
  } cases[] = {
      {RECSORT_LITTLE_ENDIAN, 0, 1, 1, {1, 0, 0, 0}},
      {RECSORT_LITTLE_ENDIAN, 7, 3, 5, {0x80, 3, 0, 0}},
      {RECSORT_LITTLE_ENDIAN, 0, 32, 0x04038281, {255, 255, 255, 255}},
      {RECSORT_BIG_ENDIAN, 0, 3, 4, {0, 0, 0, 7}},
      {RECSORT_BIG_ENDIAN, 31, 1, 1, {0x80, 0, 0, 0}},
      {RECSORT_BIG_ENDIAN, 15, 10, 0x304, {0x01, 0xff, 0x80, 0}},
  };
  (void)state;
  for (size_t i = 0; i < LENGTH(cases); i++) {
    const recsort_field field = {.type = RECSORT_BITFIELD,
                                 .base = RECSORT_INT32,
                                 .offset = 1,
                                 .size = 4,
                                 .endian = cases[i].endian,
                                 .bit = cases[i].bit,
                                 .width = cases[i].width};
    unsigned char copy[6] = {0x55, 0, 0, 0, 0, 0x55};
    recsort_value value;
    recsort_field_get(&field, pattern, 0, &value, sizeof value);
    assert_int_equal(value.kind, RECSORT_VALUE_UNSIGNED);
    assert_true(value.as.u == cases[i].value);
    assert_int_equal(value.size, 4);
    write_value(&field, copy, 0, unsigned_value(UINT64_MAX));
    assert_memory_equal(copy + 1, cases[i].written, 4);
    write_value(&field, copy, 0, unsigned_value(0));
    assert_memory_equal(copy, "\x55\0\0\0\0\x55", 6);
  }
  const recsort_field whole = {.type = RECSORT_BITFIELD,
                               .base = RECSORT_UINT64,
                               .size = 8,
                               .endian = RECSORT_LITTLE_ENDIAN,
                               .width = 64};
  assert_true(read_value(&whole, pattern + 1, 0).as.u == 0x8807068504038281);
}

/* ---- Floats -----------------------------------------------------------------------------------
 */

typedef struct small_float {
  recsort_type type;
  uint32_t bits;
  double real;
} small_float;

static uint64_t raw_bits(const recsort_field *field, const unsigned char *bytes)
{
  recsort_field raw = *field;
  raw.type = field->size == 2 ? RECSORT_UINT16 : RECSORT_UINT32;
  return read_value(&raw, bytes, 0).as.u;
}

static uint64_t write_real(recsort_type type, double real)
{
  unsigned char bytes[4];
  const recsort_field field = {
      .type = type, .size = type == RECSORT_FLOAT32 ? 4 : 2, .endian = RECSORT_BIG_ENDIAN};
  write_value(&field, bytes, 0, real_value(real));
  return raw_bits(&field, bytes);
}

static void reads_known_floats(void **state)
{
  static const small_float known[] = {
      {RECSORT_FLOAT16, 0x0000, 0.0},
      {RECSORT_FLOAT16, 0x8000, -0.0},
      {RECSORT_FLOAT16, 0x3c00, 1.0},
      {RECSORT_FLOAT16, 0xc000, -2.0},
      {RECSORT_FLOAT16, 0x7bff, 65504.0},
      {RECSORT_FLOAT16, 0x0400, 0x1p-14},
      {RECSORT_FLOAT16, 0x03ff, 0x3ffp-24},
      {RECSORT_FLOAT16, 0x0001, 0x1p-24},
      {RECSORT_FLOAT16, 0x3555, 0x1.554p-2},
      {RECSORT_FLOAT16, 0x7c00, INFINITY},
      {RECSORT_FLOAT16, 0xfc00, -INFINITY},
      {RECSORT_BFLOAT16, 0x3f80, 1.0},
      {RECSORT_BFLOAT16, 0x8000, -0.0},
      {RECSORT_BFLOAT16, 0x7f7f, 0x1.fep127},
      {RECSORT_BFLOAT16, 0x0080, 0x1p-126},
      {RECSORT_BFLOAT16, 0x0001, 0x1p-133},
      {RECSORT_BFLOAT16, 0x4049, 3.140625},
      {RECSORT_BFLOAT16, 0xff80, -INFINITY},
      {RECSORT_FLOAT32, 0x3f800000, 1.0},
      {RECSORT_FLOAT32, 0x00000001, 0x1p-149},
      {RECSORT_FLOAT32, 0x007fffff, 0x7fffffp-149},
      {RECSORT_FLOAT32, 0x7f7fffff, 0x1.fffffep127},
  };
  (void)state;
  for (size_t i = 0; i < LENGTH(known); i++) {
    const size_t size = known[i].type == RECSORT_FLOAT32 ? 4 : 2;
    const recsort_field raw = {.type = size == 2 ? RECSORT_UINT16 : RECSORT_UINT32,
                               .size = size,
                               .endian = RECSORT_LITTLE_ENDIAN};
    recsort_field field = raw;
    unsigned char bytes[4];
    field.type = known[i].type;
    write_value(&raw, bytes, 0, unsigned_value(known[i].bits));
    recsort_value value;
    recsort_field_get(&field, bytes, 0, &value, sizeof value);
    assert_int_equal(value.kind, RECSORT_VALUE_REAL);
    assert_true(bits_of(value.as.real) == bits_of(known[i].real));
    assert_true(write_real(known[i].type, known[i].real) == known[i].bits);
  }
}

/* Fractions are dropped; values outside 64-bit integers become 0. */
static void writes_reals_to_integers(void **state)
{
  static const struct {
    double real;
    uint64_t bits;
  } known[] = {{2.75, 2},     {-2.75, (uint64_t)-2}, {0x1p63, UINT64_C(1) << 63},
               {0x1p64, 0},   {-0x1p64, 0},          {NAN, 0},
               {-INFINITY, 0}};
  const recsort_field field = {.type = RECSORT_UINT64, .size = 8, .endian = RECSORT_LITTLE_ENDIAN};
  (void)state;
  for (size_t i = 0; i < LENGTH(known); i++) {
    unsigned char bytes[8];
    recsort_value value;
    write_value(&field, bytes, 0, real_value(known[i].real));
    recsort_field_get(&field, bytes, 0, &value, sizeof value);
    assert_true(value.as.u == known[i].bits);
  }
}

/* Every half and every bfloat16 survives a round trip, including NaN payloads. */
static void keeps_every_16_bit_float(void **state)
{
  (void)state;
  for (recsort_type type = RECSORT_FLOAT16; type <= RECSORT_BFLOAT16; type++) {
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
      const unsigned char bytes[2] = {(unsigned char)(bits >> 8), (unsigned char)bits};
      const recsort_field field = {.type = type, .size = 2, .endian = RECSORT_BIG_ENDIAN};
      unsigned char copy[2];
      write_value(&field, copy, 0, read_value(&field, bytes, 0));
      assert_memory_equal(copy, bytes, 2);
    }
  }
}

/* The value exactly between two neighbours rounds to the even one, and the next double to its
 * nearest one. */
static void rounds_to_nearest_even(void **state)
{
  (void)state;
  for (recsort_type type = RECSORT_FLOAT16; type <= RECSORT_BFLOAT16; type++) {
    const uint32_t infinity = type == RECSORT_FLOAT16 ? 0x7c00 : 0x7f80;
    for (uint32_t bits = 0; bits + 1 < infinity; bits++) {
      const unsigned char low[2] = {(unsigned char)(bits >> 8), (unsigned char)bits};
      const unsigned char high[2] = {(unsigned char)((bits + 1) >> 8), (unsigned char)(bits + 1)};
      const recsort_field field = {.type = type, .size = 2, .endian = RECSORT_BIG_ENDIAN};
      const double a = read_value(&field, low, 0).as.real;
      const double b = read_value(&field, high, 0).as.real;
      const uint64_t middle = bits_of(a + (b - a) / 2); /* exact in double */
      assert_true(a < b);
      assert_true(write_real(type, real_of(middle)) == bits + (bits & 1));
      assert_true(write_real(type, real_of(middle - 1)) == bits);
      assert_true(write_real(type, real_of(middle + 1)) == bits + 1);
      assert_true(write_real(type, -real_of(middle)) == (0x8000 | (bits + (bits & 1))));
    }
  }
}

static void rounds_beyond_the_ends(void **state)
{
  (void)state;
  assert_int_equal(write_real(RECSORT_FLOAT16, 65519.999), 0x7bff);
  assert_int_equal(write_real(RECSORT_FLOAT16, 65520.0), 0x7c00);
  assert_int_equal(write_real(RECSORT_FLOAT16, -1e300), 0xfc00);
  assert_int_equal(write_real(RECSORT_FLOAT16, 0x1p-25), 0);
  assert_int_equal(write_real(RECSORT_FLOAT16, 0x1.8p-25), 1);
  assert_int_equal(write_real(RECSORT_FLOAT16, -0x1p-1074), 0x8000);
  assert_int_equal(write_real(RECSORT_FLOAT16, 0x1p-1022), 0);
  assert_int_equal(write_real(RECSORT_BFLOAT16, 0x1.ffp127), 0x7f80);
  assert_int_equal(write_real(RECSORT_BFLOAT16, 0x1.fefp127), 0x7f7f);
  /* a NaN whose payload is in the dropped bits stays a NaN */
  assert_int_equal(write_real(RECSORT_FLOAT16, real_of(0x7ff0000000000001)), 0x7e00);
  assert_int_equal(write_real(RECSORT_BFLOAT16, real_of(0xfff0000000000001)), 0xffc0);
}

static void narrows_to_float32_as_the_processor_does(void **state)
{
  uint64_t random = 1;
  (void)state;
  for (int i = 0; i < 200000; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    /* exponents around and beyond those of a float */
    const uint64_t exponent = 1023 - 160 + (random >> 33) % 300;
    const double real = real_of((random & 0x800fffffffffffff) | exponent << 52);
    const float expected = (float)real;
    uint32_t bits;
    memcpy(&bits, &expected, sizeof bits);
    assert_true(write_real(RECSORT_FLOAT32, real) == bits);
  }
}

static void keeps_float64_and_signalling_float32(void **state)
{
  const recsort_field f64 = {.type = RECSORT_FLOAT64, .size = 8, .endian = RECSORT_BIG_ENDIAN};
  const recsort_field f32 = {.type = RECSORT_FLOAT32, .size = 4, .endian = RECSORT_LITTLE_ENDIAN};
  const unsigned char signalling[4] = {1, 0, 0x80, 0xff};
  unsigned char bytes[8];
  (void)state;
  write_value(&f64, bytes, 0, real_value(-2.5));
  assert_memory_equal(bytes, "\xc0\x04\0\0\0\0\0\0", 8);
  assert_true(read_value(&f64, bytes, 0).as.real == -2.5);
  write_value(&f32, bytes, 0, read_value(&f32, signalling, 0));
  assert_memory_equal(bytes, signalling, 4);
}

/* ---- Bytes, and values of another kind --------------------------------------------------------
 */

static void reads_and_pads_bytes(void **state)
{
  const recsort_field field = {.type = RECSORT_CHAR, .offset = 1, .size = 4};
  unsigned char record[6] = "xabcdx";
  (void)state;
  recsort_value value;
  recsort_field_get(&field, record, 0, &value, sizeof value);
  assert_int_equal(value.kind, RECSORT_VALUE_BYTES);
  assert_ptr_equal(value.as.bytes, record + 1);
  assert_int_equal(value.size, 4);
  write_value(&field, record, 0,
              (recsort_value){
                  .kind = RECSORT_VALUE_BYTES, .as.bytes = (const unsigned char *)"yz", .size = 2});
  assert_memory_equal(record, "xyz\0\0x", 6);
  write_value(&field, record, 0,
              (recsort_value){.kind = RECSORT_VALUE_BYTES,
                              .as.bytes = (const unsigned char *)"123456",
                              .size = 6});
  assert_memory_equal(record, "x1234x", 6);
  write_value(&field, record, 0, unsigned_value(7));
  assert_memory_equal(record, "x\0\0\0\0x", 6);
}

static void cuts_values_that_do_not_fit(void **state)
{
  const recsort_value text = {
      .kind = RECSORT_VALUE_BYTES, .as.bytes = (const unsigned char *)"7", .size = 1};
  const struct {
    recsort_type type;
    size_t size;
    recsort_value value;
    int64_t expected;
  } cases[] = {
      {RECSORT_INT8, 1, signed_value(300), 44},
      {RECSORT_INT16, 2, unsigned_value(0x18000), -32768},
      {RECSORT_INT32, 4, real_value(-3.99), -3},
      {RECSORT_INT64, 8, real_value(-0x1p63), INT64_MIN},
      {RECSORT_INT64, 8, real_value(1e30), 0},
      {RECSORT_INT64, 8, real_value(-1e30), 0},
      {RECSORT_INT64, 8, real_value(real_of(0x7ff8000000000000)), 0},
      {RECSORT_INT32, 4, text, 0},
  };
  unsigned char bytes[8];
  (void)state;
  for (size_t i = 0; i < LENGTH(cases); i++) {
    const recsort_field field = {
        .type = cases[i].type, .size = cases[i].size, .endian = RECSORT_LITTLE_ENDIAN};
    memset(bytes, 0x55, sizeof bytes);
    write_value(&field, bytes, 0, cases[i].value);
    assert_true(read_value(&field, bytes, 0).as.i == cases[i].expected);
  }
  const recsort_field truth = {.type = RECSORT_BOOL, .size = 1, .endian = RECSORT_LITTLE_ENDIAN};
  write_value(&truth, bytes, 0, unsigned_value(256));
  assert_int_equal(bytes[0], 1);
  write_value(&truth, bytes, 0, signed_value(0));
  assert_int_equal(bytes[0], 0);
  const recsort_field real = {.type = RECSORT_FLOAT64, .size = 8, .endian = RECSORT_LITTLE_ENDIAN};
  write_value(&real, bytes, 0, signed_value(-5));
  assert_true(read_value(&real, bytes, 0).as.real == -5.0);
  write_value(&real, bytes, 0, text);
  assert_true(read_value(&real, bytes, 0).as.real == 0.0);
}

static void names_every_type(void **state)
{
  (void)state;
  for (recsort_type a = RECSORT_BOOL; a <= RECSORT_DATETIME_NS; a++) {
    assert_string_not_equal(recsort_type_name(a), "unknown type");
    for (recsort_type b = RECSORT_BOOL; b < a; b++)
      assert_string_not_equal(recsort_type_name(a), recsort_type_name(b));
  }
  assert_string_equal(recsort_type_name((recsort_type)0), "unknown type");
}

static void describes_every_type(void **state)
{
  static const struct {
    recsort_type type;
    recsort_type_info info;
  } known[] = {
      {RECSORT_BOOL, {"bool", RECSORT_CLASS_BOOL, 1, 1, 0, 0}},
      {RECSORT_INT8, {"int8", RECSORT_CLASS_SIGNED, 1, 1, 0, 0}},
      {RECSORT_INT64, {"int64", RECSORT_CLASS_SIGNED, 8, 8, 0, 0}},
      {RECSORT_UINT16, {"uint16", RECSORT_CLASS_UNSIGNED, 2, 2, 0, 0}},
      {RECSORT_FLOAT16, {"float16", RECSORT_CLASS_FLOAT, 2, 2, 5, 10}},
      {RECSORT_BFLOAT16, {"bfloat16", RECSORT_CLASS_FLOAT, 2, 2, 8, 7}},
      {RECSORT_FLOAT32, {"float32", RECSORT_CLASS_FLOAT, 4, 4, 8, 23}},
      {RECSORT_FLOAT64, {"float64", RECSORT_CLASS_FLOAT, 8, 8, 11, 52}},
      {RECSORT_CHAR, {"char", RECSORT_CLASS_BYTES, 0, 1, 0, 0}},
      {RECSORT_UUID, {"uuid", RECSORT_CLASS_BYTES, 16, 1, 0, 0}},
      {RECSORT_IPV4, {"ipv4", RECSORT_CLASS_BYTES, 4, 4, 0, 0}},
      {RECSORT_IPV6, {"ipv6", RECSORT_CLASS_BYTES, 16, 4, 0, 0}},
      {RECSORT_MAC, {"mac", RECSORT_CLASS_BYTES, 6, 1, 0, 0}},
      {RECSORT_INT128, {"int128", RECSORT_CLASS_WIDE, 16, 16, 0, 0}},
      {RECSORT_UINT128, {"uint128", RECSORT_CLASS_WIDE, 16, 16, 0, 0}},
      {RECSORT_DATETIME_D, {"datetime_d", RECSORT_CLASS_TIME, 8, 8, 0, 0}},
      {RECSORT_DATETIME_NS, {"datetime_ns", RECSORT_CLASS_TIME, 8, 8, 0, 0}},
      {RECSORT_STRUCT, {"struct", RECSORT_CLASS_STRUCT, 0, 0, 0, 0}},
      {RECSORT_ENUM, {"enum", RECSORT_CLASS_ENUM, 0, 0, 0, 0}},
      {RECSORT_BITFIELD, {"bitfield", RECSORT_CLASS_BITFIELD, 0, 0, 0, 0}},
      {(recsort_type)0, {"unknown type", RECSORT_CLASS_NONE, 0, 0, 0, 0}},
      {(recsort_type)(RECSORT_DATETIME_NS + 1), {"unknown type", RECSORT_CLASS_NONE, 0, 0, 0, 0}},
      {(recsort_type)-1, {"unknown type", RECSORT_CLASS_NONE, 0, 0, 0, 0}},
  };
  (void)state;
  for (size_t i = 0; i < LENGTH(known); i++) {
    const recsort_type_info *found = recsort_type_describe(known[i].type);
    const recsort_type_info *expected = &known[i].info;
    assert_string_equal(found->name, expected->name);
    assert_int_equal(found->type_class, expected->type_class);
    assert_int_equal(found->size, expected->size);
    assert_int_equal(found->alignment, expected->alignment);
    assert_int_equal(found->exponent_bits, expected->exponent_bits);
    assert_int_equal(found->fraction_bits, expected->fraction_bits);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_and_writes_integers),
      cmocka_unit_test(reads_and_writes_elements),
      cmocka_unit_test(reads_and_writes_bits),
      cmocka_unit_test(reads_known_floats),
      cmocka_unit_test(writes_reals_to_integers),
      cmocka_unit_test(keeps_every_16_bit_float),
      cmocka_unit_test(rounds_to_nearest_even),
      cmocka_unit_test(rounds_beyond_the_ends),
      cmocka_unit_test(narrows_to_float32_as_the_processor_does),
      cmocka_unit_test(keeps_float64_and_signalling_float32),
      cmocka_unit_test(reads_and_pads_bytes),
      cmocka_unit_test(cuts_values_that_do_not_fit),
      cmocka_unit_test(names_every_type),
      cmocka_unit_test(describes_every_type),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
