#include "kinds.h"

#include <stdlib.h>

#include "support/random.h"

#define ASC RECSORT_ASCENDING
#define DESC RECSORT_DESCENDING
#define BIG RECSORT_BIG_ENDIAN
#define INTEGER(t)                                                                                 \
  {                                                                                                \
    .type = RECSORT_##t                                                                            \
  }
#define STRING(t, n)                                                                               \
  {                                                                                                \
    .type = RECSORT_##t, .size = (n)                                                               \
  }

#define FIRST RECSORT_NAN_FIRST
#define TOTAL RECSORT_NAN_TOTAL
/* An integer with null values, from an array of them. */
#define NULLS(t, list)                                                                             \
  .type = RECSORT_##t, .nulls = (list), .null_count = sizeof(list) / sizeof *(list)

static const int64_t minus_99[] = {-99};
static const int64_t ends[] = {INT16_MAX, 0, INT16_MIN, -1};
static const int64_t greatest[] = {255};
static const int64_t least[] = {INT64_MIN};
static const int64_t far[] = {-1, 0, 1, INT64_MAX}; /* of uint64: the greatest and others */
static const int64_t three[] = {3, -8};

const kind kinds[] = {
    {"bool", 1, {INTEGER(BOOL)}},
    {"int8", 1, {INTEGER(INT8)}},
    {"uint8 desc", 1, {{.type = RECSORT_UINT8, .order = DESC}}},
    {"int16 big", 1, {{.type = RECSORT_INT16, .endian = BIG}}},
    {"uint16", 1, {INTEGER(UINT16)}},
    {"int32", 1, {INTEGER(INT32)}},
    {"int32 desc", 1, {{.type = RECSORT_INT32, .order = DESC}}},
    {"uint32 big", 1, {{.type = RECSORT_UINT32, .endian = BIG}}},
    {"int64 big desc", 1, {{.type = RECSORT_INT64, .endian = BIG, .order = DESC}}},
    {"uint64", 1, {INTEGER(UINT64)}},
    {"float16", 1, {INTEGER(FLOAT16)}},
    {"bfloat16 desc", 1, {{.type = RECSORT_BFLOAT16, .order = DESC}}},
    {"float32", 1, {INTEGER(FLOAT32)}},
    {"float32 desc", 1, {{.type = RECSORT_FLOAT32, .order = DESC}}},
    {"float32 nan first", 1, {{.type = RECSORT_FLOAT32, .nan = RECSORT_NAN_FIRST}}},
    {"float32 total big", 1, {{.type = RECSORT_FLOAT32, .nan = RECSORT_NAN_TOTAL, .endian = BIG}}},
    {"float64 desc", 1, {{.type = RECSORT_FLOAT64, .order = DESC}}},
    {"float64 total desc", 1, {{.type = RECSORT_FLOAT64, .nan = RECSORT_NAN_TOTAL, .order = DESC}}},
    {"enum int16", 1, {{.type = RECSORT_ENUM, .base = RECSORT_INT16}}},
    {"enum uint64 desc", 1, {{.type = RECSORT_ENUM, .base = RECSORT_UINT64, .order = DESC}}},
    {"bitfield", 1, {{.type = RECSORT_BITFIELD, .base = RECSORT_UINT32, .bit = 5, .bits = 11}}},
    {"char[4]", 1, {STRING(CHAR, 4)}},
    {"bytes[7] desc", 1, {{.type = RECSORT_BYTES, .size = 7, .order = DESC}}},
    {"char[8]", 1, {STRING(CHAR, 8)}},
    {"bytes[10]", 1, {STRING(BYTES, 10)}},
    {"char[16]", 1, {STRING(CHAR, 16)}},
    {"char[24] desc", 1, {{.type = RECSORT_CHAR, .size = 24, .order = DESC}}},
    {"char[80]", 1, {STRING(CHAR, 80)}},
    {"uuid", 1, {INTEGER(UUID)}},
    {"uuid desc, uint8", 2, {{.type = RECSORT_UUID, .order = DESC}, INTEGER(UINT8)}},
    {"mac, ipv4 desc", 2, {INTEGER(MAC), {.type = RECSORT_IPV4, .order = DESC}}},
    {"int128", 1, {INTEGER(INT128)}},
    {"int128 big desc", 1, {{.type = RECSORT_INT128, .endian = BIG, .order = DESC}}},
    {"uint128 big", 1, {{.type = RECSORT_UINT128, .endian = BIG}}},
    {"uint128 desc, int8", 2, {{.type = RECSORT_UINT128, .order = DESC}, INTEGER(INT8)}},
    {"datetime", 1, {INTEGER(DATETIME_NS)}},
    {"datetime desc", 1, {{.type = RECSORT_DATETIME_S, .order = DESC}}},
    {"datetime first big",
     1,
     {{.type = RECSORT_DATETIME_D, .nan = RECSORT_NAN_FIRST, .endian = BIG}}},
    {"datetime first desc",
     1,
     {{.type = RECSORT_DATETIME_MS, .nan = RECSORT_NAN_FIRST, .order = DESC}}},
    {"datetime total desc",
     1,
     {{.type = RECSORT_DATETIME_US, .nan = RECSORT_NAN_TOTAL, .order = DESC}}},
    {"float32[3]", 1, {{.type = RECSORT_FLOAT32, .count = 3}}},
    {"bool[5], int16[2] big desc",
     2,
     {{.type = RECSORT_BOOL, .count = 5},
      {.type = RECSORT_INT16, .endian = BIG, .order = DESC, .count = 2}}},
    {"enum int16[4]", 1, {{.type = RECSORT_ENUM, .base = RECSORT_INT16, .count = 4}}},
    {"ipv6[2], int128[2]",
     2,
     {{.type = RECSORT_IPV6, .count = 2}, {.type = RECSORT_INT128, .count = 2}}},
    {"bool, int32", 2, {{.type = RECSORT_BOOL, .order = DESC}, INTEGER(INT32)}},
    {"float32, uint32", 2, {{.type = RECSORT_FLOAT32, .order = DESC}, INTEGER(UINT32)}},
    {"uint64, uint8", 2, {INTEGER(UINT64), {.type = RECSORT_UINT8, .order = DESC}}},
    {"int64, float64", 2, {INTEGER(INT64), {.type = RECSORT_FLOAT64, .order = DESC}}},
    {"bitfield, char[5], float64, int8",
     4,
     {{.type = RECSORT_BITFIELD, .base = RECSORT_UINT16, .bit = 3, .bits = 9, .endian = BIG},
      STRING(CHAR, 5),
      {.type = RECSORT_FLOAT64, .order = DESC},
      INTEGER(INT8)}},
    {"cstring[4]", 1, {STRING(CSTRING, 4)}},
    {"cstring[8] desc", 1, {{.type = RECSORT_CSTRING, .size = 8, .order = DESC}}},
    {"cstring[13]", 1, {STRING(CSTRING, 13)}},
    {"cstring[16] desc", 1, {{.type = RECSORT_CSTRING, .size = 16, .order = DESC}}},
    {"cstring[60] desc", 1, {{.type = RECSORT_CSTRING, .size = 60, .order = DESC}}},
    {"int8, cstring[9], uint8", 3, {INTEGER(INT8), STRING(CSTRING, 9), INTEGER(UINT8)}},
    {"int24", 1, {INTEGER(INT24)}},
    {"uint24 big desc", 1, {{.type = RECSORT_UINT24, .endian = BIG, .order = DESC}}},
    {"int40 big", 1, {{.type = RECSORT_INT40, .endian = BIG}}},
    {"uint40", 1, {INTEGER(UINT40)}},
    {"int48 desc", 1, {{.type = RECSORT_INT48, .order = DESC}}},
    {"uint48 big", 1, {{.type = RECSORT_UINT48, .endian = BIG}}},
    {"int56", 1, {INTEGER(INT56)}},
    {"uint56 desc, int24 big",
     2,
     {{.type = RECSORT_UINT56, .order = DESC}, {.type = RECSORT_INT24, .endian = BIG}}},
    {"int32 null", 1, {{NULLS(INT32, minus_99)}}},
    {"int32 null desc", 1, {{NULLS(INT32, minus_99), .order = DESC}}},
    {"int32 null first big", 1, {{NULLS(INT32, minus_99), .nan = FIRST, .endian = BIG}}},
    {"int16 nulls first desc", 1, {{NULLS(INT16, ends), .nan = FIRST, .order = DESC}}},
    {"int16 nulls total desc", 1, {{NULLS(INT16, ends), .nan = TOTAL, .order = DESC}}},
    {"uint8 null", 1, {{NULLS(UINT8, greatest)}}},
    {"int64 null desc", 1, {{NULLS(INT64, least), .order = DESC}}},
    {"uint64 nulls", 1, {{NULLS(UINT64, far)}}},
    {"uint64 nulls first desc", 1, {{NULLS(UINT64, far), .nan = FIRST, .order = DESC}}},
    {"int40 null, int16[2] nulls",
     2,
     {{NULLS(INT40, minus_99), .order = DESC}, {NULLS(INT16, ends), .nan = FIRST, .count = 2}}},
    {"int4", 1, {INTEGER(INT4)}},
    {"uint4 desc, int2", 2, {{.type = RECSORT_UINT4, .order = DESC}, INTEGER(INT2)}},
    {"int4 nulls, uint2, int1 desc, uint1",
     4,
     {{NULLS(INT4, three)}, INTEGER(UINT2), {.type = RECSORT_INT1, .order = DESC}, INTEGER(UINT1)}},
    {"float8_e3m4", 1, {INTEGER(FLOAT8_E3M4)}},
    {"float8_e4m3 desc", 1, {{.type = RECSORT_FLOAT8_E4M3, .order = DESC}}},
    {"float8_e4m3b11fnuz", 1, {INTEGER(FLOAT8_E4M3B11FNUZ)}},
    {"float8_e4m3fn first", 1, {{.type = RECSORT_FLOAT8_E4M3FN, .nan = FIRST}}},
    {"float8_e4m3fnuz desc", 1, {{.type = RECSORT_FLOAT8_E4M3FNUZ, .order = DESC}}},
    {"float8_e4m3fnuz first", 1, {{.type = RECSORT_FLOAT8_E4M3FNUZ, .nan = FIRST}}},
    {"float8_e5m2 total", 1, {{.type = RECSORT_FLOAT8_E5M2, .nan = TOTAL}}},
    {"float8_e5m2fnuz total desc",
     1,
     {{.type = RECSORT_FLOAT8_E5M2FNUZ, .nan = TOTAL, .order = DESC}}},
    {"float8_e8m0fnu", 1, {INTEGER(FLOAT8_E8M0FNU)}},
    {"float8_e8m0fnu first desc",
     1,
     {{.type = RECSORT_FLOAT8_E8M0FNU, .nan = FIRST, .order = DESC}}},
    {"float6_e2m3fn desc, float6_e3m2fn",
     2,
     {{.type = RECSORT_FLOAT6_E2M3FN, .order = DESC}, INTEGER(FLOAT6_E3M2FN)}},
    {"float4_e2m1fn[4] first", 1, {{.type = RECSORT_FLOAT4_E2M1FN, .nan = FIRST, .count = 4}}},
    {"enum, bool, uint64, uint64, int16",
     5,
     {{.type = RECSORT_ENUM, .base = RECSORT_INT16, .order = DESC},
      INTEGER(BOOL),
      INTEGER(UINT64),
      {.type = RECSORT_UINT64, .order = DESC},
      INTEGER(INT16)}},
    {"uint8", 1, {INTEGER(UINT8)}},
    {"int16", 1, {INTEGER(INT16)}},
    {"uint32", 1, {INTEGER(UINT32)}},
    {"int64", 1, {INTEGER(INT64)}},
    {"float64", 1, {INTEGER(FLOAT64)}},
};
const size_t kind_count = sizeof kinds / sizeof *kinds;

static size_t field_size(const kind_field *field)
{
  switch (field->type == RECSORT_ENUM || field->type == RECSORT_BITFIELD ? field->base
                                                                         : field->type) {
  case RECSORT_INT16:
  case RECSORT_UINT16:
  case RECSORT_FLOAT16:
  case RECSORT_BFLOAT16:
    return 2;
  case RECSORT_INT32:
  case RECSORT_UINT32:
  case RECSORT_FLOAT32:
    return 4;
  case RECSORT_INT64:
  case RECSORT_UINT64:
  case RECSORT_FLOAT64:
  case RECSORT_DATETIME_D:
  case RECSORT_DATETIME_S:
  case RECSORT_DATETIME_MS:
  case RECSORT_DATETIME_US:
  case RECSORT_DATETIME_NS:
    return 8;
  case RECSORT_INT24:
  case RECSORT_UINT24:
    return 3;
  case RECSORT_INT40:
  case RECSORT_UINT40:
    return 5;
  case RECSORT_INT48:
  case RECSORT_UINT48:
    return 6;
  case RECSORT_INT56:
  case RECSORT_UINT56:
    return 7;
  case RECSORT_CHAR:
  case RECSORT_CSTRING:
  case RECSORT_BYTES:
    return field->size;
  case RECSORT_IPV4:
    return 4;
  case RECSORT_MAC:
    return 6;
  case RECSORT_UUID:
  case RECSORT_IPV6:
  case RECSORT_INT128:
  case RECSORT_UINT128:
    return 16;
  default:
    return 1;
  }
}

/* Bytes of all elements. */
static size_t whole_size(const kind_field *field)
{
  return field_size(field) * (field->count ? field->count : 1);
}

size_t kind_record_size(const kind *k)
{
  size_t size = sizeof(uint64_t);
  for (size_t i = 0; i < k->count; i++)
    size += whole_size(&k->fields[i]);
  return size;
}

static oracle_key key_of(const kind_field *field, size_t offset)
{
  return (oracle_key){field->type == RECSORT_ENUM ? field->base : field->type,
                      field->endian,
                      offset,
                      field_size(field),
                      field->bit,
                      field->bits,
                      field->order,
                      field->nan,
                      field->count,
                      field->nulls,
                      field->null_count};
}

void kind_keys(const kind *k, oracle_key keys[KIND_MAX_KEYS])
{
  size_t offset = 0;
  for (size_t i = 0; i < k->count; i++) {
    keys[i] = key_of(&k->fields[i], offset);
    offset += whole_size(&k->fields[i]);
  }
}

/* ---- Records ---- */

static void store(unsigned char *at, size_t size, recsort_endian endian, uint64_t value)
{
  for (size_t i = 0; i < size; i++)
    at[endian == RECSORT_BIG_ENDIAN ? size - 1 - i : i] = (unsigned char)(value >> 8 * i);
}

/* Spreads a rank over `bits` bits: the high bits ascend with it, and the low ones are not all 0. */
static uint64_t spread(uint64_t rank, unsigned bits)
{
  if (bits <= RANK_BITS) return rank >> (RANK_BITS - bits);
  const uint64_t high = rank << (bits - RANK_BITS);
  return bits >= 2 * RANK_BITS ? high | rank : high;
}

static uint64_t integer_for(uint64_t rank, unsigned bits, bool is_signed)
{
  const uint64_t all = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
  uint64_t value = spread(rank, bits);
  if (mix(rank) % 64 == 0) value = mix(rank) & 64 ? all : 0; /* extremes */
  return is_signed ? value ^ (all / 2 + 1) : value;
}

/* Every kind of number; if several have the same key, noise selects one. */
static uint64_t float_for(const oracle_key *key, uint64_t rank, uint64_t noise)
{
  const unsigned bits = 8 * (unsigned)key->size;
  const uint64_t sign = UINT64_C(1) << (bits - 1);
  const uint64_t infinity = key->type == RECSORT_FLOAT16    ? 0x7c00
                            : key->type == RECSORT_BFLOAT16 ? 0x7f80
                            : key->type == RECSORT_FLOAT32  ? 0x7f800000
                                                            : UINT64_C(0x7ff) << 52;
  const bool total = key->nan == RECSORT_NAN_TOTAL;
  const uint64_t chosen = total ? mix(rank ^ 77) : noise;
  const uint64_t any_sign = chosen & 1 ? sign : 0;
  uint64_t raw = spread(rank, bits);
  raw = raw & sign ? raw ^ sign : raw ^ (sign | (sign - 1));
  switch (mix(rank) % 40) {
  case 0:
    raw = any_sign;
    break;
  case 1:
    raw = any_sign | infinity | (chosen >> 1 & 3) | 1;
    break;
  case 2:
    raw = infinity;
    break;
  case 3:
    raw = infinity | sign;
    break;
  case 4:
    raw = 1; /* the least denormal */
    break;
  default:
    break;
  }
  return raw;
}

/* A float of one byte: by rank, so that all values come; of several NaNs, and of the zeros, noise
 * selects one, and the bits that do not count. */
static uint64_t small_float_for(const oracle_key *key, uint64_t rank, uint64_t noise)
{
  const unsigned bits = key->type == RECSORT_FLOAT4_E2M1FN   ? 4
                        : key->type >= RECSORT_FLOAT6_E2M3FN ? 6
                                                             : 8;
  const uint64_t sign = UINT64_C(1) << (bits - 1), unused = bits < 8 ? noise << bits & 255 : 0;
  uint64_t raw = spread(rank, bits);
  if (key->type != RECSORT_FLOAT8_E8M0FNU)
    raw = raw & sign ? raw ^ sign : raw ^ (sign | (sign - 1));
  const oracle_float real = oracle_float_of(key->type, raw);
  if (key->nan != RECSORT_NAN_TOTAL && key->type != RECSORT_FLOAT8_E8M0FNU) {
    const uint64_t other = raw ^ (noise & 1 ? sign : 0);
    const bool same = oracle_float_of(key->type, other).nan == real.nan;
    if ((real.nan || real.value == 0) && same) raw = other;
  }
  return raw | unused;
}

/* A common prefix, of various lengths, and the rank. */
static void fill_string(unsigned char *at, size_t size, uint64_t rank)
{
  const size_t digits = size < 4 ? size : 4;
  const size_t prefix = (size_t)(rank >> (RANK_BITS - 3)) * (size - digits) / 7;
  memset(at, 'm', size);
  for (size_t i = 0; i < digits; i++)
    at[prefix + i] = (unsigned char)('n' + (rank >> 5 * (digits - 1 - i)) % 32);
}

/* The same, with a NUL in most strings, and anything behind it. */
static void fill_cstring(unsigned char *at, size_t size, uint64_t rank, uint64_t noise)
{
  const size_t end = (size_t)(mix(rank) % (size + 2));
  fill_string(at, size, rank);
  if (end >= size) return;
  at[end] = 0;
  for (size_t i = end + 1; i < size; i++)
    at[i] = mix(noise + i) & 3 ? (unsigned char)mix(noise + i) : 0;
}

/* Some ranks are null: any of the values, as noise selects, unless they are numbers. */
static uint64_t nullable_for(const oracle_key *key, uint64_t rank, uint64_t noise)
{
  const uint64_t chosen = key->nan == RECSORT_NAN_TOTAL ? mix(rank ^ 77) : noise;
  if (key->null_count && mix(rank) % 20 == 1) return (uint64_t)key->nulls[chosen % key->null_count];
  return integer_for(rank, oracle_bits(key), oracle_is_signed(key->type));
}

/* Bits above those that count are noise. */
static uint64_t low_bits_for(const oracle_key *key, uint64_t rank, uint64_t noise)
{
  const unsigned bits = oracle_bits(key);
  const uint64_t value = nullable_for(key, rank, noise);
  if (bits == 8 * key->size) return value;
  const uint64_t all = (UINT64_C(1) << bits) - 1;
  return (noise & ~all) | (value & all);
}

/* The lower half of the ranks is negative in a signed type. */
static void fill_wide(const oracle_key *key, uint64_t rank, unsigned char *at)
{
  unsigned char big[16];
  fill_string(big, sizeof big, rank);
  if ((rank >> (RANK_BITS - 1)) ^ (key->type == RECSORT_INT128)) big[0] ^= 0x80;
  for (size_t i = 0; i < sizeof big; i++)
    at[i] = big[key->endian == RECSORT_BIG_ENDIAN ? i : sizeof big - 1 - i];
}

static void fill_field(const kind_field *field, const oracle_key *key, uint64_t rank,
                       uint64_t noise, unsigned char *at)
{
  const unsigned bits = 8 * (unsigned)key->size;
  uint64_t value;
  switch (field->type) {
  case RECSORT_CHAR:
  case RECSORT_BYTES:
  case RECSORT_UUID:
  case RECSORT_IPV4:
  case RECSORT_IPV6:
  case RECSORT_MAC:
    fill_string(at, key->size, rank);
    return;
  case RECSORT_CSTRING:
    fill_cstring(at, key->size, rank, noise);
    return;
  case RECSORT_INT128:
  case RECSORT_UINT128:
    fill_wide(key, rank, at);
    return;
  case RECSORT_DATETIME_D:
  case RECSORT_DATETIME_S:
  case RECSORT_DATETIME_MS:
  case RECSORT_DATETIME_US:
  case RECSORT_DATETIME_NS:
    value = mix(rank) % 40 == 1 ? (uint64_t)INT64_MIN : integer_for(rank, bits, true);
    break;
  case RECSORT_BOOL:
    value = rank >> (RANK_BITS - 1) ? noise % 255 + 1 : 0;
    break;
  case RECSORT_FLOAT16:
  case RECSORT_BFLOAT16:
  case RECSORT_FLOAT32:
  case RECSORT_FLOAT64:
    value = float_for(key, rank, noise);
    break;
  case RECSORT_ENUM:
    value = field->base == RECSORT_INT16 ? (rank >> (RANK_BITS - 10)) - 500
                                         : integer_for(rank, bits, false) | 7;
    break;
  case RECSORT_BITFIELD: {
    const uint64_t mask = ((UINT64_C(1) << field->bits) - 1) << field->bit;
    value = (noise & ~mask) | integer_for(rank, field->bits, false) << field->bit;
    break;
  }
  default:
    value = oracle_is_float(field->type) ? small_float_for(key, rank, noise)
                                         : low_bits_for(key, rank, noise);
  }
  store(at, key->size, key->endian, value);
}

void kind_fill(const kind *k, const oracle_key *keys, uint64_t rank, uint64_t noise, uint64_t tag,
               unsigned char *record)
{
  uint64_t field_rank = k->count > 1 ? rank >> 6 << 6 : rank;
  size_t end = 0;
  for (size_t i = 0; i < k->count; i++) {
    const size_t count = keys[i].count ? keys[i].count : 1;
    for (size_t e = 0; e < count; e++) {
      const uint64_t all = (UINT64_C(1) << RANK_BITS) - 1;
      const uint64_t coarse = e + 1 < count ? all << (RANK_BITS - 6) : all;
      fill_field(&k->fields[i], &keys[i], (field_rank << 6 * (e % 3)) & all & coarse,
                 mix(noise + i + e), record + keys[i].offset + e * keys[i].size);
    }
    field_rank = (rank >> 2 * i & 7) << (RANK_BITS - 3);
    end = keys[i].offset + count * keys[i].size;
  }
  memcpy(record + end, &tag, sizeof tag);
}

/* ---- The order; static, as qsort has no context ---- */

static const kind *judged;
static const oracle_key *judged_keys;
static const unsigned char *judged_records;
static size_t judged_size;

static int compare_places(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  const int found = oracle_compare(judged_keys, judged->count, judged_records + x * judged_size,
                                   judged_records + y * judged_size);
  return found ? found : x < y ? -1 : x > y;
}

void kind_sort(const kind *k, const oracle_key *keys, const unsigned char *records,
               uint64_t *places, size_t count)
{
  judged = k;
  judged_keys = keys;
  judged_records = records;
  judged_size = kind_record_size(k);
  if (count > 0) qsort(places, count, sizeof *places, compare_places);
}
