/* test_value.c - single values: every type in both byte orders, and the narrow floats bit by bit.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "recsort/tools.h"
#include "support/oracle.h"
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
    {RECSORT_UINT24, 3, 0x038281, 0x818203},
    {RECSORT_UINT40, 5, 0x8504038281, 0x8182030485},
    {RECSORT_UINT48, 6, 0x068504038281, 0x818203048506},
    {RECSORT_UINT56, 7, 0x07068504038281, 0x81820304850607},
    {RECSORT_INT24, 3, 0x038281, 0xffffffffff818203},
    {RECSORT_INT40, 5, 0xffffff8504038281, 0xffffff8182030485},
    {RECSORT_INT48, 6, 0x068504038281, 0xffff818203048506},
    {RECSORT_INT56, 7, 0x07068504038281, 0xff81820304850607},
};

static void check_integer(const recsort_field_desc *field, recsort_type type, uint64_t expected)
{
  unsigned char copy[sizeof pattern];
  const bool is_signed = oracle_is_signed(type);
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
    recsort_field_desc field = {.type = integers[i].type,
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
  const recsort_field_desc field = {
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
    const recsort_field_desc field = {.type = RECSORT_BITFIELD,
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
  const recsort_field_desc whole = {.type = RECSORT_BITFIELD,
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

static uint64_t raw_bits(const recsort_field_desc *field, const unsigned char *bytes)
{
  recsort_field_desc raw = *field;
  raw.type = field->size == 2 ? RECSORT_UINT16 : RECSORT_UINT32;
  return read_value(&raw, bytes, 0).as.u;
}

static uint64_t write_real(recsort_type type, double real)
{
  unsigned char bytes[4];
  const recsort_field_desc field = {
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
    const recsort_field_desc raw = {.type = size == 2 ? RECSORT_UINT16 : RECSORT_UINT32,
                                    .size = size,
                                    .endian = RECSORT_LITTLE_ENDIAN};
    recsort_field_desc field = raw;
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
  const recsort_field_desc field = {
      .type = RECSORT_UINT64, .size = 8, .endian = RECSORT_LITTLE_ENDIAN};
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
      const recsort_field_desc field = {.type = type, .size = 2, .endian = RECSORT_BIG_ENDIAN};
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
      const recsort_field_desc field = {.type = type, .size = 2, .endian = RECSORT_BIG_ENDIAN};
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
  const recsort_field_desc f64 = {.type = RECSORT_FLOAT64, .size = 8, .endian = RECSORT_BIG_ENDIAN};
  const recsort_field_desc f32 = {
      .type = RECSORT_FLOAT32, .size = 4, .endian = RECSORT_LITTLE_ENDIAN};
  const unsigned char signalling[4] = {1, 0, 0x80, 0xff};
  unsigned char bytes[8];
  (void)state;
  write_value(&f64, bytes, 0, real_value(-2.5));
  assert_memory_equal(bytes, "\xc0\x04\0\0\0\0\0\0", 8);
  assert_true(read_value(&f64, bytes, 0).as.real == -2.5);
  write_value(&f32, bytes, 0, read_value(&f32, signalling, 0));
  assert_memory_equal(bytes, signalling, 4);
}

/* ---- Values in the low bits of a byte ----------------------------------------------------------
 */

/* Every byte of every float of up to 8 bits, whose bits above the float do not count: its value,
 * and what is written for that value. */
static void reads_and_writes_every_small_float(void **state)
{
  unsigned nans = 0, infinities = 0;
  (void)state;
  for (recsort_type type = RECSORT_FLOAT8_E3M4; type <= RECSORT_FLOAT4_E2M1FN; type++)
    for (unsigned byte = 0; byte < 256; byte++) {
      const recsort_field_desc field = {.type = type, .size = 1, .endian = RECSORT_LITTLE_ENDIAN};
      const unsigned char from = (unsigned char)byte;
      const oracle_float expected = oracle_float_of(type, byte);
      unsigned char to = 0x55;
      const recsort_value value = read_value(&field, &from, 0);
      assert_int_equal(value.kind, RECSORT_VALUE_REAL);
      assert_int_equal(isnan(value.as.real) != 0, expected.nan);
      nans += expected.nan;
      infinities += isinf(expected.value) != 0;
      if (!expected.nan) assert_true(bits_of(value.as.real) == bits_of(expected.value));
      write_value(&field, &to, 0, value);
      assert_int_equal(to, byte & (type == RECSORT_FLOAT4_E2M1FN   ? 0x0f
                                   : type > RECSORT_FLOAT8_E8M0FNU ? 0x3f
                                                                   : 0xff));
    }
  assert_int_equal(nans, (30 + 14 + 6) + 2 + 3 * 1 + 1); /* IEEE, e4m3fn, fnuz, e8m0fnu */
  assert_int_equal(infinities, (30 + 14 + 6) + 3 * 2);   /* the NaNs of IEEE too */
}

/* The nearest of all numbers of a type, of two the even one; what lies beyond the greatest. */
static void rounds_to_small_floats(void **state)
{
  static const struct {
    recsort_type type;
    double real;
    unsigned byte;
  } known[] = {
      {RECSORT_FLOAT8_E3M4, 15.74, 0x6f},        {RECSORT_FLOAT8_E3M4, 15.75, 0x70},
      {RECSORT_FLOAT8_E4M3, 247.9, 0x77},        {RECSORT_FLOAT8_E4M3, -248, 0xf8},
      {RECSORT_FLOAT8_E4M3, -NAN, 0xfc},         {RECSORT_FLOAT8_E4M3FN, 464, 0x7e},
      {RECSORT_FLOAT8_E4M3FN, 464.1, 0x7f},      {RECSORT_FLOAT8_E4M3FN, -INFINITY, 0xff},
      {RECSORT_FLOAT8_E4M3FN, 0x1p-10, 0},       {RECSORT_FLOAT8_E4M3FN, 0x1.1p-10, 1},
      {RECSORT_FLOAT8_E4M3FN, -0.0, 0x80},       {RECSORT_FLOAT8_E5M2, 61439, 0x7b},
      {RECSORT_FLOAT8_E5M2, 61440, 0x7c},        {RECSORT_FLOAT8_E4M3FNUZ, -0.0, 0},
      {RECSORT_FLOAT8_E4M3FNUZ, -1e-9, 0},       {RECSORT_FLOAT8_E4M3FNUZ, 1e9, 0x80},
      {RECSORT_FLOAT8_E4M3FNUZ, NAN, 0x80},      {RECSORT_FLOAT8_E4M3FNUZ, 247.9, 0x7f},
      {RECSORT_FLOAT8_E4M3B11FNUZ, -1, 0xd8},    {RECSORT_FLOAT8_E5M2FNUZ, -INFINITY, 0x80},
      {RECSORT_FLOAT8_E8M0FNU, 1, 0x7f},         {RECSORT_FLOAT8_E8M0FNU, 1.5, 0x80},
      {RECSORT_FLOAT8_E8M0FNU, 1.49, 0x7f},      {RECSORT_FLOAT8_E8M0FNU, 0x1p-127, 0},
      {RECSORT_FLOAT8_E8M0FNU, 0x1p-140, 0},     {RECSORT_FLOAT8_E8M0FNU, 0x1.4p127, 0xfe},
      {RECSORT_FLOAT8_E8M0FNU, 0x1.8p127, 0xff}, {RECSORT_FLOAT8_E8M0FNU, 0, 0xff},
      {RECSORT_FLOAT8_E8M0FNU, -1, 0xff},        {RECSORT_FLOAT8_E8M0FNU, NAN, 0xff},
      {RECSORT_FLOAT6_E2M3FN, 1e9, 0x1f},        {RECSORT_FLOAT6_E2M3FN, -INFINITY, 0x3f},
      {RECSORT_FLOAT6_E3M2FN, -1, 0x2c},         {RECSORT_FLOAT6_E3M2FN, NAN, 0},
      {RECSORT_FLOAT4_E2M1FN, 2.5, 4},           {RECSORT_FLOAT4_E2M1FN, -5.1, 15},
  };
  (void)state;
  for (size_t i = 0; i < LENGTH(known); i++) {
    const recsort_field_desc field = {
        .type = known[i].type, .size = 1, .endian = RECSORT_LITTLE_ENDIAN};
    unsigned char byte = 0x55;
    write_value(&field, &byte, 0, real_value(known[i].real));
    if (byte != known[i].byte)
      fail_msg("%s: %g is %#x, not %#x", recsort_type_describe(known[i].type)->name, known[i].real,
               byte, known[i].byte);
  }
}

static void reads_and_writes_small_integers(void **state)
{
  static const struct {
    recsort_type type;
    unsigned byte;
    int64_t value;
    unsigned written;
  } known[] = {
      {RECSORT_INT4, 0x07, 7, 0x07},   {RECSORT_INT4, 0x08, -8, 0x08},
      {RECSORT_INT4, 0xff, -1, 0x0f},  {RECSORT_INT4, 0x71, 1, 0x01},
      {RECSORT_UINT4, 0x0f, 15, 0x0f}, {RECSORT_UINT4, 0xf1, 1, 0x01},
      {RECSORT_INT2, 0x02, -2, 0x02},  {RECSORT_INT2, 0xfd, 1, 0x01},
      {RECSORT_UINT2, 0xfe, 2, 0x02},  {RECSORT_INT1, 0x01, -1, 0x01},
      {RECSORT_INT1, 0xfe, 0, 0x00},   {RECSORT_UINT1, 0xff, 1, 0x01},
  };
  (void)state;
  for (size_t i = 0; i < LENGTH(known); i++) {
    const recsort_field_desc field = {
        .type = known[i].type, .size = 1, .endian = RECSORT_LITTLE_ENDIAN};
    const unsigned char from = (unsigned char)known[i].byte;
    unsigned char to = 0x55;
    const recsort_value value = read_value(&field, &from, 0);
    assert_int_equal(value.as.i, known[i].value);
    write_value(&field, &to, 0, value);
    assert_int_equal(to, known[i].written);
  }
}

/* ---- Bytes, and values of another kind --------------------------------------------------------
 */

static void reads_and_pads_bytes(void **state)
{
  const recsort_field_desc field = {.type = RECSORT_CHAR, .offset = 1, .size = 4};
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

/* Integers of 128 bits are too wide for a number: a value has their bytes. */
static void reads_and_writes_wide_integers_as_bytes(void **state)
{
  const recsort_field_desc field = {.type = RECSORT_UINT128, .offset = 1, .size = 16};
  unsigned char record[18], copy[18];
  recsort_value value;
  (void)state;
  for (unsigned char i = 0; i < sizeof record; i++)
    record[i] = copy[i] = (unsigned char)(7 * i);
  recsort_field_get(&field, record, 0, &value, sizeof value);
  assert_int_equal(value.kind, RECSORT_VALUE_BYTES);
  assert_int_equal(value.size, 16);
  assert_ptr_equal(value.as.bytes, record + 1);
  memset(copy + 1, 0, 16);
  recsort_field_set(&field, copy, 0, &value, sizeof value);
  assert_memory_equal(copy, record, sizeof record);
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
    const recsort_field_desc field = {
        .type = cases[i].type, .size = cases[i].size, .endian = RECSORT_LITTLE_ENDIAN};
    memset(bytes, 0x55, sizeof bytes);
    write_value(&field, bytes, 0, cases[i].value);
    assert_true(read_value(&field, bytes, 0).as.i == cases[i].expected);
  }
  const recsort_field_desc truth = {
      .type = RECSORT_BOOL, .size = 1, .endian = RECSORT_LITTLE_ENDIAN};
  write_value(&truth, bytes, 0, unsigned_value(256));
  assert_int_equal(bytes[0], 1);
  write_value(&truth, bytes, 0, signed_value(0));
  assert_int_equal(bytes[0], 0);
  const recsort_field_desc real = {
      .type = RECSORT_FLOAT64, .size = 8, .endian = RECSORT_LITTLE_ENDIAN};
  write_value(&real, bytes, 0, signed_value(-5));
  assert_true(read_value(&real, bytes, 0).as.real == -5.0);
  write_value(&real, bytes, 0, text);
  assert_true(read_value(&real, bytes, 0).as.real == 0.0);
}

static void names_every_type(void **state)
{
  (void)state;
  for (recsort_type a = RECSORT_BOOL; a <= RECSORT_FLOAT4_E2M1FN; a++) {
    assert_string_not_equal(recsort_type_describe(a)->name, "unknown type");
    for (recsort_type b = RECSORT_BOOL; b < a; b++)
      assert_string_not_equal(recsort_type_describe(a)->name, recsort_type_describe(b)->name);
  }
  assert_string_equal(recsort_type_describe((recsort_type)0)->name, "unknown type");
}

static void describes_every_type(void **state)
{
  static const struct {
    recsort_type type;
    recsort_type_info info;
  } known[] = {
      {RECSORT_BOOL, {"bool", RECSORT_CLASS_BOOL, 1, 1, 0, 0, 8, 0, RECSORT_NANS_IEEE}},
      {RECSORT_INT8, {"int8", RECSORT_CLASS_SIGNED, 1, 1, 0, 0, 8, 0, RECSORT_NANS_IEEE}},
      {RECSORT_INT64, {"int64", RECSORT_CLASS_SIGNED, 8, 8, 0, 0, 64, 0, RECSORT_NANS_IEEE}},
      {RECSORT_UINT16, {"uint16", RECSORT_CLASS_UNSIGNED, 2, 2, 0, 0, 16, 0, RECSORT_NANS_IEEE}},
      {RECSORT_FLOAT16, {"float16", RECSORT_CLASS_FLOAT, 2, 2, 5, 10, 16, 15, RECSORT_NANS_IEEE}},
      {RECSORT_BFLOAT16, {"bfloat16", RECSORT_CLASS_FLOAT, 2, 2, 8, 7, 16, 127, RECSORT_NANS_IEEE}},
      {RECSORT_FLOAT32, {"float32", RECSORT_CLASS_FLOAT, 4, 4, 8, 23, 32, 127, RECSORT_NANS_IEEE}},
      {RECSORT_FLOAT64,
       {"float64", RECSORT_CLASS_FLOAT, 8, 8, 11, 52, 64, 1023, RECSORT_NANS_IEEE}},
      {RECSORT_CHAR, {"char", RECSORT_CLASS_BYTES, 0, 1, 0, 0, 0, 0, RECSORT_NANS_IEEE}},
      {RECSORT_UUID, {"uuid", RECSORT_CLASS_BYTES, 16, 1, 0, 0, 0, 0, RECSORT_NANS_IEEE}},
      {RECSORT_IPV4, {"ipv4", RECSORT_CLASS_BYTES, 4, 4, 0, 0, 0, 0, RECSORT_NANS_IEEE}},
      {RECSORT_IPV6, {"ipv6", RECSORT_CLASS_BYTES, 16, 4, 0, 0, 0, 0, RECSORT_NANS_IEEE}},
      {RECSORT_MAC, {"mac", RECSORT_CLASS_BYTES, 6, 1, 0, 0, 0, 0, RECSORT_NANS_IEEE}},
      {RECSORT_INT128, {"int128", RECSORT_CLASS_WIDE, 16, 16, 0, 0, 128, 0, RECSORT_NANS_IEEE}},
      {RECSORT_UINT128, {"uint128", RECSORT_CLASS_WIDE, 16, 16, 0, 0, 128, 0, RECSORT_NANS_IEEE}},
      {RECSORT_DATETIME_D,
       {"datetime_d", RECSORT_CLASS_TIME, 8, 8, 0, 0, 64, 0, RECSORT_NANS_IEEE}},
      {RECSORT_DATETIME_NS,
       {"datetime_ns", RECSORT_CLASS_TIME, 8, 8, 0, 0, 64, 0, RECSORT_NANS_IEEE}},
      {RECSORT_STRUCT, {"struct", RECSORT_CLASS_STRUCT, 0, 0, 0, 0, 0, 0, RECSORT_NANS_IEEE}},
      {RECSORT_ENUM, {"enum", RECSORT_CLASS_ENUM, 0, 0, 0, 0, 0, 0, RECSORT_NANS_IEEE}},
      {RECSORT_BITFIELD, {"bitfield", RECSORT_CLASS_BITFIELD, 0, 0, 0, 0, 0, 0, RECSORT_NANS_IEEE}},
      {(recsort_type)0, {"unknown type", RECSORT_CLASS_NONE, 0, 0, 0, 0, 0, 0, RECSORT_NANS_IEEE}},
      {(recsort_type)(RECSORT_FLOAT4_E2M1FN + 1),
       {"unknown type", RECSORT_CLASS_NONE, 0, 0, 0, 0, 0, 0, RECSORT_NANS_IEEE}},
      {(recsort_type)-1, {"unknown type", RECSORT_CLASS_NONE, 0, 0, 0, 0, 0, 0, RECSORT_NANS_IEEE}},
      {RECSORT_CSTRING, {"cstring", RECSORT_CLASS_BYTES, 0, 1, 0, 0, 0, 0, RECSORT_NANS_IEEE}},
      {RECSORT_INT24, {"int24", RECSORT_CLASS_SIGNED, 3, 1, 0, 0, 24, 0, RECSORT_NANS_IEEE}},
      {RECSORT_UINT56, {"uint56", RECSORT_CLASS_UNSIGNED, 7, 1, 0, 0, 56, 0, RECSORT_NANS_IEEE}},
      {RECSORT_INT1, {"int1", RECSORT_CLASS_SIGNED, 1, 1, 0, 0, 1, 0, RECSORT_NANS_IEEE}},
      {RECSORT_UINT4, {"uint4", RECSORT_CLASS_UNSIGNED, 1, 1, 0, 0, 4, 0, RECSORT_NANS_IEEE}},
      {RECSORT_FLOAT8_E4M3FN,
       {"float8_e4m3fn", RECSORT_CLASS_FLOAT, 1, 1, 4, 3, 8, 7, RECSORT_NANS_ONES}},
      {RECSORT_FLOAT8_E4M3B11FNUZ,
       {"float8_e4m3b11fnuz", RECSORT_CLASS_FLOAT, 1, 1, 4, 3, 8, 11, RECSORT_NANS_MINUS_0}},
      {RECSORT_FLOAT8_E8M0FNU,
       {"float8_e8m0fnu", RECSORT_CLASS_FLOAT, 1, 1, 8, 0, 8, 127, RECSORT_NANS_ONES}},
      {RECSORT_FLOAT6_E3M2FN,
       {"float6_e3m2fn", RECSORT_CLASS_FLOAT, 1, 1, 3, 2, 6, 3, RECSORT_NANS_NONE}},
      {RECSORT_FLOAT4_E2M1FN,
       {"float4_e2m1fn", RECSORT_CLASS_FLOAT, 1, 1, 2, 1, 4, 1, RECSORT_NANS_NONE}},
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
    assert_int_equal(found->bits, expected->bits);
    assert_int_equal(found->exponent_bias, expected->exponent_bias);
    assert_int_equal(found->nans, expected->nans);
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
      cmocka_unit_test(reads_and_writes_every_small_float),
      cmocka_unit_test(rounds_to_small_floats),
      cmocka_unit_test(reads_and_writes_small_integers),
      cmocka_unit_test(reads_and_pads_bytes),
      cmocka_unit_test(reads_and_writes_wide_integers_as_bytes),
      cmocka_unit_test(cuts_values_that_do_not_fit),
      cmocka_unit_test(names_every_type),
      cmocka_unit_test(describes_every_type),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
