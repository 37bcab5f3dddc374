#include "base/types.h"

#include "base/assert.h"

/* The rows begin with the name. */
#define CLASS(name) RECSORT_CLASS_##name
#define OTHER(name, class, size, alignment)                                                        \
  {                                                                                                \
    name, CLASS(class), size, alignment, 0, 0, 0, 0, 0                                             \
  }
#define NUMBER(name, class, size, alignment, bits)                                                 \
  {                                                                                                \
    name, CLASS(class), size, alignment, 0, 0, bits, 0, 0                                          \
  }
#define FLOAT(name, size, exponent, fraction, bits, bias, nans)                                    \
  {                                                                                                \
    name, CLASS(FLOAT), size, size, exponent, fraction, bits, bias, RECSORT_NANS_##nans            \
  }

/* clang-format off */
const rs_type rs_types[RS_TYPE_ROWS] = {
    /* OTHER: name, class, size, alignment; NUMBER: and bits that count;
     * FLOAT: name, size, bits of the exponent, of the fraction, that count, bias of the exponent, NaNs;
     * then NumPy; words */
    [0] = {OTHER("unknown type", NONE, 0, 0), {NULL}, {NULL}},
    [RECSORT_BOOL] = {NUMBER("bool", BOOL, 1, 1, 8), {"?", "b1"}, {"_Bool"}},
    [RECSORT_INT8] = {NUMBER("int8", SIGNED, 1, 1, 8), {"i1"},
                          {"signed char", "int8_t"}},
    [RECSORT_INT16] = {NUMBER("int16", SIGNED, 2, 2, 16), {"i2"},
                          {"short", "short int", "int16_t"}},
    [RECSORT_INT32] = {NUMBER("int32", SIGNED, 4, 4, 32), {"i4"},
                          {"int", "signed", "signed int", "int32_t"}},
    [RECSORT_INT64] = {NUMBER("int64", SIGNED, 8, 8, 64), {"i8"},
                          {"long long", "long long int", "int64_t"}},
    [RECSORT_UINT8] = {NUMBER("uint8", UNSIGNED, 1, 1, 8), {"u1"},
                          {"unsigned char", "uint8_t"}},
    [RECSORT_UINT16] = {NUMBER("uint16", UNSIGNED, 2, 2, 16), {"u2"},
                          {"unsigned short", "unsigned short int", "uint16_t"}},
    [RECSORT_UINT32] = {NUMBER("uint32", UNSIGNED, 4, 4, 32), {"u4"},
                          {"unsigned", "unsigned int", "uint32_t"}},
    [RECSORT_UINT64] = {NUMBER("uint64", UNSIGNED, 8, 8, 64), {"u8"},
                          {"unsigned long long", "unsigned long long int", "uint64_t"}},
    [RECSORT_FLOAT16] = {FLOAT("float16", 2, 5, 10, 16, 15, IEEE), {"f2"},
                          {"_Float16", "half"}},
    [RECSORT_BFLOAT16] = {FLOAT("bfloat16", 2, 8, 7, 16, 127, IEEE), {NULL}, {"__bf16"}},
    [RECSORT_FLOAT32] = {FLOAT("float32", 4, 8, 23, 32, 127, IEEE), {"f4"}, {"float"}},
    [RECSORT_FLOAT64] = {FLOAT("float64", 8, 11, 52, 64, 1023, IEEE), {"f8"}, {"double"}},
    [RECSORT_CHAR] = {OTHER("char", BYTES, 0, 1), {"S"}, {NULL}},
    [RECSORT_BYTES] = {OTHER("bytes", BYTES, 0, 1), {"V"}, {NULL}},
    [RECSORT_UUID] = {OTHER("uuid", BYTES, 16, 1), {NULL}, {NULL}},
    [RECSORT_IPV4] = {OTHER("ipv4", BYTES, 4, 4), {NULL}, {NULL}},
    [RECSORT_IPV6] = {OTHER("ipv6", BYTES, 16, 4), {NULL}, {NULL}},
    [RECSORT_MAC] = {OTHER("mac", BYTES, 6, 1), {NULL}, {NULL}},
    [RECSORT_INT128] = {NUMBER("int128", WIDE, 16, 16, 128), {NULL},
                          {"__int128", "__int128_t"}},
    [RECSORT_UINT128] = {NUMBER("uint128", WIDE, 16, 16, 128), {NULL},
                          {"unsigned __int128", "__uint128_t"}},
    [RECSORT_DATETIME_D] = {NUMBER("datetime_d", TIME, 8, 8, 64), {"M8[D]"}, {NULL}},
    [RECSORT_DATETIME_S] = {NUMBER("datetime_s", TIME, 8, 8, 64), {"M8[s]"}, {"time_t"}},
    [RECSORT_DATETIME_MS] = {NUMBER("datetime_ms", TIME, 8, 8, 64), {"M8[ms]"}, {NULL}},
    [RECSORT_DATETIME_US] = {NUMBER("datetime_us", TIME, 8, 8, 64), {"M8[us]"}, {NULL}},
    [RECSORT_DATETIME_NS] = {NUMBER("datetime_ns", TIME, 8, 8, 64), {"M8[ns]"}, {NULL}},
    [RECSORT_STRUCT] = {OTHER("struct", STRUCT, 0, 0), {NULL}, {NULL}},
    [RECSORT_ENUM] = {OTHER("enum", ENUM, 0, 0), {NULL}, {NULL}},
    [RECSORT_BITFIELD] = {OTHER("bitfield", BITFIELD, 0, 0), {NULL}, {NULL}},
    [RECSORT_CSTRING] = {OTHER("cstring", BYTES, 0, 1), {NULL}, {NULL}},
    [RECSORT_INT24] = {NUMBER("int24", SIGNED, 3, 1, 24), {NULL}, {NULL}},
    [RECSORT_INT40] = {NUMBER("int40", SIGNED, 5, 1, 40), {NULL}, {NULL}},
    [RECSORT_INT48] = {NUMBER("int48", SIGNED, 6, 1, 48), {NULL}, {NULL}},
    [RECSORT_INT56] = {NUMBER("int56", SIGNED, 7, 1, 56), {NULL}, {NULL}},
    [RECSORT_UINT24] = {NUMBER("uint24", UNSIGNED, 3, 1, 24), {NULL}, {NULL}},
    [RECSORT_UINT40] = {NUMBER("uint40", UNSIGNED, 5, 1, 40), {NULL}, {NULL}},
    [RECSORT_UINT48] = {NUMBER("uint48", UNSIGNED, 6, 1, 48), {NULL}, {NULL}},
    [RECSORT_UINT56] = {NUMBER("uint56", UNSIGNED, 7, 1, 56), {NULL}, {NULL}},
    [RECSORT_INT1] = {NUMBER("int1", SIGNED, 1, 1, 1), {NULL}, {NULL}},
    [RECSORT_INT2] = {NUMBER("int2", SIGNED, 1, 1, 2), {NULL}, {NULL}},
    [RECSORT_INT4] = {NUMBER("int4", SIGNED, 1, 1, 4), {NULL}, {NULL}},
    [RECSORT_UINT1] = {NUMBER("uint1", UNSIGNED, 1, 1, 1), {NULL}, {NULL}},
    [RECSORT_UINT2] = {NUMBER("uint2", UNSIGNED, 1, 1, 2), {NULL}, {NULL}},
    [RECSORT_UINT4] = {NUMBER("uint4", UNSIGNED, 1, 1, 4), {NULL}, {NULL}},
    [RECSORT_FLOAT8_E3M4] = {FLOAT("float8_e3m4", 1, 3, 4, 8, 3, IEEE), {NULL}, {NULL}},
    [RECSORT_FLOAT8_E4M3] = {FLOAT("float8_e4m3", 1, 4, 3, 8, 7, IEEE), {NULL}, {NULL}},
    [RECSORT_FLOAT8_E4M3B11FNUZ] = {FLOAT("float8_e4m3b11fnuz", 1, 4, 3, 8, 11, MINUS_0), {NULL}, {NULL}},
    [RECSORT_FLOAT8_E4M3FN] = {FLOAT("float8_e4m3fn", 1, 4, 3, 8, 7, ONES), {NULL}, {NULL}},
    [RECSORT_FLOAT8_E4M3FNUZ] = {FLOAT("float8_e4m3fnuz", 1, 4, 3, 8, 8, MINUS_0), {NULL}, {NULL}},
    [RECSORT_FLOAT8_E5M2] = {FLOAT("float8_e5m2", 1, 5, 2, 8, 15, IEEE), {NULL}, {NULL}},
    [RECSORT_FLOAT8_E5M2FNUZ] = {FLOAT("float8_e5m2fnuz", 1, 5, 2, 8, 16, MINUS_0), {NULL}, {NULL}},
    [RECSORT_FLOAT8_E8M0FNU] = {FLOAT("float8_e8m0fnu", 1, 8, 0, 8, 127, ONES), {NULL}, {NULL}},
    [RECSORT_FLOAT6_E2M3FN] = {FLOAT("float6_e2m3fn", 1, 2, 3, 6, 1, NONE), {NULL}, {NULL}},
    [RECSORT_FLOAT6_E3M2FN] = {FLOAT("float6_e3m2fn", 1, 3, 2, 6, 3, NONE), {NULL}, {NULL}},
    [RECSORT_FLOAT4_E2M1FN] = {FLOAT("float4_e2m1fn", 1, 2, 1, 4, 1, NONE), {NULL}, {NULL}},
};
/* clang-format on */

const rs_type *rs_type_of(recsort_type type)
{
  return &rs_types[rs_is_type(type) ? type : 0];
}

const recsort_type_info *recsort_type_describe(recsort_type type)
{
  return &rs_type_of(type)->info;
}

bool rs_type_holds(recsort_type type, int64_t value)
{
  const recsort_type_info *info = &rs_type_of(type)->info;
  const unsigned bits = info->bits;
  RS_ASSERT(rs_type_is_integer(type) && bits > 0 && bits <= 64);
  if (bits == 64) return true;
  if (info->type_class == RECSORT_CLASS_UNSIGNED) return value >= 0 && value >> bits == 0;
  const int64_t limit = INT64_C(1) << (bits - 1);
  return value >= -limit && value < limit;
}
