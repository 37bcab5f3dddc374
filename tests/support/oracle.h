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
  size_t count; /* elements of a whole array, each of `size` bytes; 0: no array */
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

static inline int64_t oracle_signed(uint64_t value, size_t size)
{
  switch (size) {
  case 1:
    return (int8_t)value;
  case 2:
    return (int16_t)value;
  case 4:
    return (int32_t)value;
  default:
    return (int64_t)value;
  }
}

/* The parts of a float of any format. */
typedef struct oracle_float {
  bool negative;
  bool nan;
  uint64_t magnitude; /* the bits of exponent and fraction */
  double value;
} oracle_float;

static inline oracle_float oracle_real(const oracle_key *key, const unsigned char *record)
{
  const unsigned bits = 8 * (unsigned)key->size;
  const unsigned fraction_bits = key->type == RECSORT_FLOAT16    ? 10
                                 : key->type == RECSORT_BFLOAT16 ? 7
                                 : key->type == RECSORT_FLOAT32  ? 23
                                                                 : 52;
  const uint64_t raw = oracle_integer(key, record);
  const uint64_t sign = UINT64_C(1) << (bits - 1), unit = UINT64_C(1) << fraction_bits;
  const uint64_t top = sign / unit - 1;
  const int bias = (int)(top / 2);
  oracle_float real = {.negative = raw >= sign, .magnitude = raw % sign};
  const uint64_t exponent = real.magnitude / unit, fraction = real.magnitude % unit;
  real.nan = exponent == top && fraction;
  if (exponent == top)
    real.value = INFINITY;
  else if (exponent == 0)
    real.value = ldexp((double)fraction, 1 - bias - (int)fraction_bits);
  else
    real.value = ldexp((double)(unit + fraction), (int)exponent - bias - (int)fraction_bits);
  if (real.negative) real.value = -real.value;
  return real;
}

static inline int oracle_sign(bool greater, bool less)
{
  return (int)greater - (int)less;
}

static inline int oracle_compare_reals(const oracle_key *key, oracle_float a, oracle_float b)
{
  const int direction = key->order == RECSORT_DESCENDING ? -1 : 1;
  if (key->nan == RECSORT_NAN_TOTAL) {
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
  case RECSORT_FLOAT16:
  case RECSORT_BFLOAT16:
  case RECSORT_FLOAT32:
  case RECSORT_FLOAT64:
    return oracle_compare_reals(key, oracle_real(key, left), oracle_real(key, right));
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
  default:
    a = oracle_integer(key, left);
    b = oracle_integer(key, right);
  }
  if (key->type == RECSORT_BOOL) {
    a = a != 0;
    b = b != 0;
  }
  if (key->type == RECSORT_BITFIELD) {
    const uint64_t values = key->bits < 64 ? UINT64_C(1) << key->bits : 0; /* 0: all */
    a = values ? (a >> key->bit) % values : a;
    b = values ? (b >> key->bit) % values : b;
  }
  if (key->type >= RECSORT_INT8 && key->type <= RECSORT_INT64) {
    const int64_t x = oracle_signed(a, key->size), y = oracle_signed(b, key->size);
    return direction * oracle_sign(x > y, x < y);
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
