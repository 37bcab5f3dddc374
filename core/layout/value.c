/* value.c - single values of a record, in any byte order and at any address. */
#include <string.h>

#include "base/assert.h"
#include "base/struct_size.h"
#include "base/types.h"

/* ---- Bytes ---------------------------------------------------------------------------------- */

static uint64_t load(const unsigned char *bytes, size_t size, recsort_endian endian)
{
  RS_ASSERT(size > 0 && size <= 8);
  uint64_t bits = 0;
  for (size_t i = 0; i < size; i++)
    bits = bits << 8 | bytes[endian == RECSORT_BIG_ENDIAN ? i : size - 1 - i];
  return bits;
}

static void store(unsigned char *bytes, size_t size, recsort_endian endian, uint64_t bits)
{
  RS_ASSERT(size > 0 && size <= 8);
  for (size_t i = 0; i < size; i++, bits >>= 8)
    bytes[endian == RECSORT_BIG_ENDIAN ? size - 1 - i : i] = (unsigned char)bits;
}

static uint64_t low_bits(unsigned width)
{
  RS_ASSERT(width <= 64);
  return width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
}

static int64_t extend_sign(uint64_t bits, unsigned width)
{
  RS_ASSERT(width > 0 && width <= 64);
  const uint64_t sign = UINT64_C(1) << (width - 1);
  return (int64_t)(((bits & low_bits(width)) ^ sign) - sign);
}

/* ---- Floats --------------------------------------------------------------------------------- All
 * other formats are a double with fewer bits: a sign, an exponent, a fraction. Working on bits
 * keeps NaN payloads and does not depend on the compiler or the rounding mode. */

enum { DOUBLE_FRACTION = 52, DOUBLE_MAX_EXPONENT = 0x7ff, DOUBLE_BIAS = 1023 };
static const uint64_t quiet_nan = UINT64_C(0x7ff8) << 48;

/* The bits of exponent and fraction; the sign, if there is one, is above them. */
static unsigned magnitude_bits(const recsort_type_info *format)
{
  return format->exponent_bits + format->fraction_bits;
}

static bool has_sign(const recsort_type_info *format)
{
  return format->bits > magnitude_bits(format);
}

/* The least magnitude that is not a finite number. */
static uint64_t end_of_numbers(const recsort_type_info *format)
{
  const uint64_t most = low_bits(magnitude_bits(format));
  if (format->nans == RECSORT_NANS_IEEE)
    return low_bits(format->exponent_bits) << format->fraction_bits;
  return format->nans == RECSORT_NANS_ONES ? most : most + 1;
}

static uint64_t widen(uint64_t bits, const recsort_type_info *format)
{
  const unsigned added = DOUBLE_FRACTION - format->fraction_bits, width = magnitude_bits(format);
  const uint64_t sign = has_sign(format) ? bits >> width & 1 : 0,
                 magnitude = bits & low_bits(width);
  RS_ASSERT(format->fraction_bits <= DOUBLE_FRACTION && width < 64);
  uint64_t exponent = magnitude >> format->fraction_bits;
  uint64_t fraction = (magnitude & low_bits(format->fraction_bits)) << added;
  if (format->nans == RECSORT_NANS_MINUS_0 && sign && !magnitude) return quiet_nan;
  if (magnitude >= end_of_numbers(format)) {
    if (format->nans != RECSORT_NANS_IEEE) return sign << 63 | quiet_nan;
    exponent = DOUBLE_MAX_EXPONENT;
  } else if (magnitude || !format->fraction_bits) {
    const bool subnormal = exponent == 0 && format->fraction_bits;
    exponent += DOUBLE_BIAS - format->exponent_bias;
    if (subnormal) { /* a double can have its leading bit */
      for (; !(fraction >> DOUBLE_FRACTION); exponent--)
        fraction <<= 1;
      fraction &= low_bits(DOUBLE_FRACTION);
      exponent++;
    }
  }
  RS_ASSERT(exponent <= DOUBLE_MAX_EXPONENT && fraction >> DOUBLE_FRACTION == 0);
  return sign << 63 | exponent << DOUBLE_FRACTION | fraction;
}

/* Drops the low `shift` bits; ties go to the even neighbour. */
static uint64_t round_bits(uint64_t bits, unsigned shift)
{
  RS_ASSERT(shift > 0);
  if (shift > 63) return 0;
  const uint64_t half = UINT64_C(1) << (shift - 1), rest = bits & low_bits(shift);
  const uint64_t kept = bits >> shift;
  return kept + (rest > half || (rest == half && (kept & 1)));
}

/* The magnitude that is nearest to a finite number. */
static uint64_t round_magnitude(uint64_t bits, const recsort_type_info *format)
{
  const unsigned dropped = DOUBLE_FRACTION - format->fraction_bits;
  const int exponent = (int)(bits >> DOUBLE_FRACTION & DOUBLE_MAX_EXPONENT);
  RS_ASSERT(exponent < DOUBLE_MAX_EXPONENT);
  if (exponent == 0) return 0; /* far below the smallest of every narrower format */
  const uint64_t whole = (bits & low_bits(DOUBLE_FRACTION)) | UINT64_C(1) << DOUBLE_FRACTION;
  const int wanted = exponent - DOUBLE_BIAS + (int)format->exponent_bias;
  if (!format->fraction_bits) /* every magnitude is a power of two */
    return wanted < 0 ? 0 : (uint64_t)wanted + round_bits(whole, dropped) - 1;
  /* The leading bit of `whole` adds the last 1 to the exponent; so does a carry of the rounding. */
  return wanted > 0 ? ((uint64_t)(wanted - 1) << format->fraction_bits) + round_bits(whole, dropped)
                    : round_bits(whole, dropped + (unsigned)(1 - wanted));
}

/* The NaN of a format; of one that has none, 0. */
static uint64_t narrow_nan(uint64_t sign, uint64_t fraction, const recsort_type_info *format)
{
  const unsigned dropped = DOUBLE_FRACTION - format->fraction_bits;
  const uint64_t most = low_bits(magnitude_bits(format));
  RS_ASSERT(format->nans != RECSORT_NANS_IEEE || format->fraction_bits > 0);
  switch (format->nans) {
  case RECSORT_NANS_IEEE: {
    const uint64_t payload = fraction >> dropped;
    const uint64_t quiet = UINT64_C(1) << (format->fraction_bits - 1);
    return sign | end_of_numbers(format) | (payload ? payload : quiet);
  }
  case RECSORT_NANS_ONES:
    return sign | most;
  case RECSORT_NANS_MINUS_0:
    return most + 1;
  case RECSORT_NANS_NONE:
    break;
  }
  return 0;
}

/* Beyond the greatest number comes infinity; in formats without it a NaN, or if there is none that
 * number. So does what has no sign, where the number is not above 0. */
static uint64_t narrow(uint64_t bits, const recsort_type_info *format)
{
  const uint64_t sign = has_sign(format) ? bits >> 63 << magnitude_bits(format) : 0;
  const uint64_t end = end_of_numbers(format), fraction = bits & low_bits(DOUBLE_FRACTION);
  const uint64_t magnitude = bits & INT64_MAX, infinity = (uint64_t)DOUBLE_MAX_EXPONENT << 52;
  if (magnitude > infinity) return narrow_nan(sign, fraction, format);
  if (!has_sign(format) && (bits >> 63 || !magnitude)) return narrow_nan(0, 0, format);
  const uint64_t result = magnitude == infinity ? end : round_magnitude(bits, format);
  if (result >= end)
    return format->nans == RECSORT_NANS_IEEE   ? sign | end
           : format->nans == RECSORT_NANS_NONE ? sign | (end - 1)
                                               : narrow_nan(sign, 0, format);
  return format->nans == RECSORT_NANS_MINUS_0 && !result ? 0 : sign | result;
}

static double to_real(uint64_t bits, recsort_type type)
{
  double real;
  RS_ASSERT(rs_class_of(type) == RECSORT_CLASS_FLOAT);
  if (type != RECSORT_FLOAT64) bits = widen(bits, recsort_type_describe(type));
  memcpy(&real, &bits, sizeof real);
  return real;
}

static uint64_t from_real(double real, recsort_type type)
{
  uint64_t bits;
  RS_ASSERT(rs_class_of(type) == RECSORT_CLASS_FLOAT);
  memcpy(&bits, &real, sizeof bits);
  return type == RECSORT_FLOAT64 ? bits : narrow(bits, recsort_type_describe(type));
}

/* ---- Values --------------------------------------------------------------------------------- */

static recsort_value read_value(const recsort_field_desc *field, const void *base, size_t element)
{
  const unsigned char *bytes = (const unsigned char *)base + field->offset + element * field->size;
  const recsort_type type = field->type == RECSORT_ENUM ? field->base : field->type;
  const recsort_type_class type_class = rs_class_of(type);
  recsort_value value = {.kind = RECSORT_VALUE_BYTES, .as.bytes = bytes, .size = field->size};
  if (type_class == RECSORT_CLASS_BYTES || type_class == RECSORT_CLASS_WIDE) return value;
  const uint64_t bits = load(bytes, field->size, field->endian);
  value.kind = RECSORT_VALUE_UNSIGNED;
  value.as.u = bits;
  switch (type_class) {
  case RECSORT_CLASS_FLOAT:
    value.kind = RECSORT_VALUE_REAL;
    value.as.real = to_real(bits, type);
    break;
  case RECSORT_CLASS_SIGNED:
  case RECSORT_CLASS_TIME:
    value.kind = RECSORT_VALUE_SIGNED;
    value.as.i = extend_sign(bits, recsort_type_describe(type)->bits);
    break;
  case RECSORT_CLASS_BOOL:
    value.as.u = bits != 0;
    break;
  case RECSORT_CLASS_BITFIELD:
    value.as.u = bits >> field->bit & low_bits(field->width);
    break;
  case RECSORT_CLASS_UNSIGNED:
    value.as.u = bits & low_bits(recsort_type_describe(type)->bits);
    break;
  case RECSORT_CLASS_BYTES:
  case RECSORT_CLASS_WIDE:
  case RECSORT_CLASS_STRUCT:
  case RECSORT_CLASS_ENUM:
  case RECSORT_CLASS_NONE:
    break;
  }
  return value;
}

void recsort_field_get(const recsort_field_desc *field, const void *base, size_t element,
                       recsort_value *value, size_t size)
{
  const recsort_value read = read_value(field, base, element);
  rs_fill_struct(value, size, &read, sizeof read);
}

static double as_real(recsort_value value)
{
  switch (value.kind) {
  case RECSORT_VALUE_SIGNED:
    return (double)value.as.i;
  case RECSORT_VALUE_UNSIGNED:
    return (double)value.as.u;
  case RECSORT_VALUE_REAL:
    return value.as.real;
  case RECSORT_VALUE_BYTES:
    break;
  }
  return 0;
}

/* Converts a value to an integer. A real loses its fraction; reals outside the range of 64 bits,
 * and bytes, become 0. */
static uint64_t as_integer(recsort_value value)
{
  static const double signed_end = 9223372036854775808.0, unsigned_end = 18446744073709551616.0;
  switch (value.kind) {
  case RECSORT_VALUE_SIGNED:
    return (uint64_t)value.as.i;
  case RECSORT_VALUE_UNSIGNED:
    return value.as.u;
  case RECSORT_VALUE_REAL:
    if (value.as.real >= -signed_end && value.as.real < 0) return (uint64_t)(int64_t)value.as.real;
    return value.as.real >= 0 && value.as.real < unsigned_end ? (uint64_t)value.as.real : 0;
  case RECSORT_VALUE_BYTES:
    break;
  }
  return 0;
}

static void write_bytes(unsigned char *bytes, size_t size, recsort_value value)
{
  size_t given = value.kind == RECSORT_VALUE_BYTES ? value.size : 0;
  if (given > size) given = size;
  if (given) memmove(bytes, value.as.bytes, given);
  memset(bytes + given, 0, size - given);
}

/* The bits of a number; for a bitfield, including the bits around it at `bytes`. */
static uint64_t value_bits(const recsort_field_desc *field, recsort_value value,
                           const unsigned char *bytes)
{
  uint64_t mask;
  switch (rs_class_of(field->type)) {
  case RECSORT_CLASS_FLOAT:
    return from_real(as_real(value), field->type);
  case RECSORT_CLASS_BOOL:
    return as_real(value) != 0;
  case RECSORT_CLASS_BITFIELD:
    RS_ASSERT(field->width > 0 && field->bit + field->width <= 64);
    mask = low_bits(field->width) << field->bit;
    return (load(bytes, field->size, field->endian) & ~mask) |
           (as_integer(value) << field->bit & mask);
  case RECSORT_CLASS_SIGNED:
  case RECSORT_CLASS_UNSIGNED:
    return as_integer(value) & low_bits(recsort_type_describe(field->type)->bits);
  case RECSORT_CLASS_TIME:
  case RECSORT_CLASS_ENUM:
  case RECSORT_CLASS_BYTES:
  case RECSORT_CLASS_WIDE:
  case RECSORT_CLASS_STRUCT:
  case RECSORT_CLASS_NONE:
    break;
  }
  return as_integer(value);
}

void recsort_field_set(const recsort_field_desc *field, void *base, size_t element,
                       const recsort_value *value, size_t size)
{
  unsigned char *bytes = (unsigned char *)base + field->offset + element * field->size;
  if (size != sizeof *value) return;
  const recsort_type_class type_class = rs_class_of(field->type);
  if (type_class == RECSORT_CLASS_BYTES || type_class == RECSORT_CLASS_WIDE) {
    write_bytes(bytes, field->size, *value);
    return;
  }
  store(bytes, field->size, field->endian, value_bits(field, *value, bytes));
}
