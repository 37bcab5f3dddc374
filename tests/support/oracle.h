/* oracle.h - the order of records as the schema language defines it, compared field by field.
 *
 * It shares no code with the library: it compares C values and does not encode them. So the oracle
 * cannot have the same errors as the encoding.
 */
#ifndef RS_TEST_ORACLE_H
#define RS_TEST_ORACLE_H

#include <math.h>
#include <string.h>

#include "recsort/recsort.h"

typedef struct oracle_key {
  recsort_type type; /* of an enum: its base */
  recsort_endian endian;
  size_t offset;
  size_t size;        /* in bytes */
  unsigned bit, bits; /* bitfield */
  recsort_order order;
  recsort_nan nan;
  size_t count;         /* elements of a whole array, each of `size` bytes; 0: no array */
  const int64_t *nulls; /* of an integer */
  size_t null_count;
} oracle_key;

static inline uint64_t oracle_integer(const oracle_key *key, const unsigned char *record)
{
  uint64_t value = 0;
  for (size_t i = 0; i < key->size; i++) {
    const size_t place = key->endian == RECSORT_BIG_ENDIAN ? key->size - 1 - i : i;
    value += (uint64_t)record[key->offset + i] << 8 * place;
  }
  return value;
}

/* The bits of an integer that count. */
static inline unsigned oracle_bits(const oracle_key *key)
{
  switch (key->type) {
  case RECSORT_INT1:
  case RECSORT_UINT1:
    return 1;
  case RECSORT_INT2:
  case RECSORT_UINT2:
    return 2;
  case RECSORT_INT4:
  case RECSORT_UINT4:
    return 4;
  default:
    return 8 * (unsigned)key->size;
  }
}

static inline bool oracle_is_signed(recsort_type type)
{
  return (type >= RECSORT_INT8 && type <= RECSORT_INT64) ||
         (type >= RECSORT_INT24 && type <= RECSORT_INT56) ||
         (type >= RECSORT_INT1 && type <= RECSORT_INT4);
}

static inline int64_t oracle_signed(uint64_t value, unsigned bits)
{
  const uint64_t half = UINT64_C(1) << (bits - 1);
  if (value < half) return (int64_t)value;
  return (int64_t)(value - half) - (int64_t)(half - 1) - 1;
}

/* The formats of floats: bits of exponent and fraction, the exponent's bias, and which bits are
 * NaN: the greatest exponent but for infinity (i), all ones (o), a set sign alone (m), none (n).
 * `u`: all ones, and there is no sign. */
typedef struct oracle_format {
  recsort_type type;
  unsigned exponent, fraction;
  int bias;
  char nan;
} oracle_format;

static inline oracle_format oracle_format_of(recsort_type type)
{
  static const oracle_format formats[] = {
      {RECSORT_FLOAT16, 5, 10, 15, 'i'},           {RECSORT_BFLOAT16, 8, 7, 127, 'i'},
      {RECSORT_FLOAT32, 8, 23, 127, 'i'},          {RECSORT_FLOAT64, 11, 52, 1023, 'i'},
      {RECSORT_FLOAT8_E3M4, 3, 4, 3, 'i'},         {RECSORT_FLOAT8_E4M3, 4, 3, 7, 'i'},
      {RECSORT_FLOAT8_E4M3B11FNUZ, 4, 3, 11, 'm'}, {RECSORT_FLOAT8_E4M3FN, 4, 3, 7, 'o'},
      {RECSORT_FLOAT8_E4M3FNUZ, 4, 3, 8, 'm'},     {RECSORT_FLOAT8_E5M2, 5, 2, 15, 'i'},
      {RECSORT_FLOAT8_E5M2FNUZ, 5, 2, 16, 'm'},    {RECSORT_FLOAT8_E8M0FNU, 8, 0, 127, 'u'},
      {RECSORT_FLOAT6_E2M3FN, 2, 3, 1, 'n'},       {RECSORT_FLOAT6_E3M2FN, 3, 2, 3, 'n'},
      {RECSORT_FLOAT4_E2M1FN, 2, 1, 1, 'n'}};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (formats[i].type == type) return formats[i];
  return (oracle_format){.nan = 0}; /* not a float */
}

static inline bool oracle_is_float(recsort_type type)
{
  return (type >= RECSORT_FLOAT16 && type <= RECSORT_FLOAT64) || type >= RECSORT_FLOAT8_E3M4;
}

/* The parts of a float of any format. */
typedef struct oracle_float {
  bool negative;
  bool nan;
  uint64_t magnitude; /* the bits of exponent and fraction */
  double value;
} oracle_float;

static inline oracle_float oracle_float_of(recsort_type type, uint64_t raw)
{
  const oracle_format format = oracle_format_of(type);
  const uint64_t unit = UINT64_C(1) << format.fraction, end = unit << format.exponent;
  const uint64_t top = (UINT64_C(1) << format.exponent) - 1;
  oracle_float real = {.negative = format.nan != 'u' && raw / end % 2, .magnitude = raw % end};
  const uint64_t exponent = real.magnitude / unit, fraction = real.magnitude % unit;
  const int digits = (int)format.fraction;
  switch (format.nan) {
  case 'i':
    real.nan = exponent == top && fraction;
    break;
  case 'o':
  case 'u':
    real.nan = real.magnitude == end - 1;
    break;
  case 'm':
    real.nan = real.negative && real.magnitude == 0;
    break;
  default:
    break;
  }
  if (format.nan == 'i' && exponent == top)
    real.value = INFINITY;
  else if (exponent == 0 && format.nan != 'u')
    real.value = ldexp((double)fraction, 1 - format.bias - digits);
  else
    real.value = ldexp((double)(unit + fraction), (int)exponent - format.bias - digits);
  if (real.negative) real.value = -real.value;
  return real;
}

static inline oracle_float oracle_real(const oracle_key *key, const unsigned char *record)
{
  return oracle_float_of(key->type, oracle_integer(key, record));
}

static inline int oracle_sign(bool greater, bool less)
{
  return (int)greater - (int)less;
}

static inline int oracle_compare_reals(const oracle_key *key, oracle_float a, oracle_float b)
{
  const int direction = key->order == RECSORT_DESCENDING ? -1 : 1;
  if (key->nan == RECSORT_NAN_TOTAL) {
    const bool minus_0 = oracle_format_of(key->type).nan == 'm'; /* the NaN is the least */
    if (minus_0 && (a.nan || b.nan)) return direction * oracle_sign(b.nan, a.nan);
    if (a.negative != b.negative) return a.negative ? -direction : direction;
    const int order = oracle_sign(a.magnitude > b.magnitude, a.magnitude < b.magnitude);
    return a.negative ? -order * direction : order * direction;
  }
  if (a.nan || b.nan) {
    const int last = oracle_sign(a.nan, b.nan);
    return key->nan == RECSORT_NAN_LAST ? last : -last;
  }
  return direction * oracle_sign(a.value > b.value, a.value < b.value);
}

/* Integers of 128 bits, from the most significant byte down. */
static inline int oracle_compare_wide(const oracle_key *key, const unsigned char *left,
                                      const unsigned char *right)
{
  for (size_t i = 0; i < key->size; i++) {
    const size_t at = key->offset + (key->endian == RECSORT_BIG_ENDIAN ? i : key->size - 1 - i);
    int a = left[at], b = right[at];
    if (i == 0 && key->type == RECSORT_INT128) {
      a = (signed char)a;
      b = (signed char)b;
    }
    if (a != b) return a < b ? -1 : 1;
  }
  return 0;
}

static inline int oracle_compare_times(const oracle_key *key, int64_t a, int64_t b)
{
  const int direction = key->order == RECSORT_DESCENDING ? -1 : 1;
  if (key->nan != RECSORT_NAN_TOTAL && (a == INT64_MIN || b == INT64_MIN)) {
    const int last = oracle_sign(a == INT64_MIN, b == INT64_MIN);
    return key->nan == RECSORT_NAN_LAST ? last : -last;
  }
  return direction * oracle_sign(a > b, a < b);
}

static inline bool oracle_is_null(const oracle_key *key, int64_t value)
{
  for (size_t i = 0; i < key->null_count; i++)
    if (key->nulls[i] == value) return true;
  return false;
}

static inline int oracle_compare_integers(const oracle_key *key, const void *left,
                                          const void *right)
{
  const int direction = key->order == RECSORT_DESCENDING ? -1 : 1;
  const unsigned bits = oracle_bits(key);
  uint64_t a = oracle_integer(key, left), b = oracle_integer(key, right);
  if (bits < 64) {
    a %= UINT64_C(1) << bits;
    b %= UINT64_C(1) << bits;
  }
  const bool is_signed = oracle_is_signed(key->type);
  const int64_t x = is_signed ? oracle_signed(a, bits) : (int64_t)a;
  const int64_t y = is_signed ? oracle_signed(b, bits) : (int64_t)b;
  const bool no_x = oracle_is_null(key, x), no_y = oracle_is_null(key, y);
  if (key->nan != RECSORT_NAN_TOTAL && (no_x || no_y)) {
    const int last = oracle_sign(no_x, no_y);
    return key->nan == RECSORT_NAN_LAST ? last : -last;
  }
  return direction * (is_signed ? oracle_sign(x > y, x < y) : oracle_sign(a > b, a < b));
}

static inline int oracle_compare_key(const oracle_key *key, const void *left, const void *right)
{
  const int direction = key->order == RECSORT_DESCENDING ? -1 : 1;
  uint64_t a, b;
  switch (key->type) {
  case RECSORT_CHAR:
  case RECSORT_BYTES:
  case RECSORT_UUID:
  case RECSORT_IPV4:
  case RECSORT_IPV6:
  case RECSORT_MAC: {
    const int order =
        memcmp((const char *)left + key->offset, (const char *)right + key->offset, key->size);
    return direction * oracle_sign(order > 0, order < 0);
  }
  case RECSORT_CSTRING: {
    const int order =
        strncmp((const char *)left + key->offset, (const char *)right + key->offset, key->size);
    return direction * oracle_sign(order > 0, order < 0);
  }
  case RECSORT_INT128:
  case RECSORT_UINT128:
    return direction * oracle_compare_wide(key, left, right);
  case RECSORT_DATETIME_D:
  case RECSORT_DATETIME_S:
  case RECSORT_DATETIME_MS:
  case RECSORT_DATETIME_US:
  case RECSORT_DATETIME_NS:
    return oracle_compare_times(key, (int64_t)oracle_integer(key, left),
                                (int64_t)oracle_integer(key, right));
  case RECSORT_BOOL:
    a = oracle_integer(key, left) != 0;
    b = oracle_integer(key, right) != 0;
    break;
  case RECSORT_BITFIELD: {
    const uint64_t values = key->bits < 64 ? UINT64_C(1) << key->bits : 0; /* 0: all */
    a = oracle_integer(key, left);
    b = oracle_integer(key, right);
    a = values ? (a >> key->bit) % values : a;
    b = values ? (b >> key->bit) % values : b;
    break;
  }
  default:
    if (oracle_is_float(key->type))
      return oracle_compare_reals(key, oracle_real(key, left), oracle_real(key, right));
    return oracle_compare_integers(key, left, right);
  }
  return direction * oracle_sign(a > b, a < b);
}

/* Less than, equal to or greater than 0, if record `left` goes before, ties with or goes after
 * `right`. */
static inline int oracle_compare(const oracle_key *keys, size_t count, const void *left,
                                 const void *right)
{
  int order = 0;
  for (size_t k = 0; k < count && order == 0; k++) {
    oracle_key key = keys[k];
    for (size_t i = 0; i < (key.count ? key.count : 1) && order == 0; i++, key.offset += key.size)
      order = oracle_compare_key(&key, left, right);
  }
  return order;
}

#endif
