#include "base/types.h"

#define CLASS(name) RECSORT_CLASS_##name

/* clang-format off */
const rs_type rs_types[RS_TYPE_ROWS] = {
    /*                   name, class, size, alignment, exponent bits, fraction bits; NumPy; words */
    [0] =                {{"unknown type", CLASS(NONE),     0, 0,  0,  0}, {NULL}, {NULL}},
    [RECSORT_BOOL] =     {{"bool",         CLASS(BOOL),     1, 1,  0,  0}, {"?", "b1"}, {"_Bool"}},
    [RECSORT_INT8] =     {{"int8",         CLASS(SIGNED),   1, 1,  0,  0}, {"i1"},
                          {"signed char", "int8_t"}},
    [RECSORT_INT16] =    {{"int16",        CLASS(SIGNED),   2, 2,  0,  0}, {"i2"},
                          {"short", "short int", "int16_t"}},
    [RECSORT_INT32] =    {{"int32",        CLASS(SIGNED),   4, 4,  0,  0}, {"i4"},
                          {"int", "signed", "signed int", "int32_t"}},
    [RECSORT_INT64] =    {{"int64",        CLASS(SIGNED),   8, 8,  0,  0}, {"i8"},
                          {"long long", "long long int", "int64_t"}},
    [RECSORT_UINT8] =    {{"uint8",        CLASS(UNSIGNED), 1, 1,  0,  0}, {"u1"},
                          {"unsigned char", "uint8_t"}},
    [RECSORT_UINT16] =   {{"uint16",       CLASS(UNSIGNED), 2, 2,  0,  0}, {"u2"},
                          {"unsigned short", "unsigned short int", "uint16_t"}},
    [RECSORT_UINT32] =   {{"uint32",       CLASS(UNSIGNED), 4, 4,  0,  0}, {"u4"},
                          {"unsigned", "unsigned int", "uint32_t"}},
    [RECSORT_UINT64] =   {{"uint64",       CLASS(UNSIGNED), 8, 8,  0,  0}, {"u8"},
                          {"unsigned long long", "unsigned long long int", "uint64_t"}},
    [RECSORT_FLOAT16] =  {{"float16",      CLASS(FLOAT),    2, 2,  5, 10}, {"f2"},
                          {"_Float16", "half"}},
    [RECSORT_BFLOAT16] = {{"bfloat16",     CLASS(FLOAT),    2, 2,  8,  7}, {NULL}, {"__bf16"}},
    [RECSORT_FLOAT32] =  {{"float32",      CLASS(FLOAT),    4, 4,  8, 23}, {"f4"}, {"float"}},
    [RECSORT_FLOAT64] =  {{"float64",      CLASS(FLOAT),    8, 8, 11, 52}, {"f8"}, {"double"}},
    [RECSORT_CHAR] =     {{"char",         CLASS(BYTES),    0, 1,  0,  0}, {"S"}, {NULL}},
    [RECSORT_BYTES] =    {{"bytes",        CLASS(BYTES),    0, 1,  0,  0}, {"V"}, {NULL}},
    [RECSORT_UUID] =     {{"uuid",         CLASS(BYTES),   16, 1,  0,  0}, {NULL}, {NULL}},
    [RECSORT_IPV4] =     {{"ipv4",         CLASS(BYTES),    4, 4,  0,  0}, {NULL}, {NULL}},
    [RECSORT_IPV6] =     {{"ipv6",         CLASS(BYTES),   16, 4,  0,  0}, {NULL}, {NULL}},
    [RECSORT_MAC] =      {{"mac",          CLASS(BYTES),    6, 1,  0,  0}, {NULL}, {NULL}},
    [RECSORT_INT128] =   {{"int128",       CLASS(WIDE),    16, 16, 0,  0}, {NULL},
                          {"__int128", "__int128_t"}},
    [RECSORT_UINT128] =  {{"uint128",      CLASS(WIDE),    16, 16, 0,  0}, {NULL},
                          {"unsigned __int128", "__uint128_t"}},
    [RECSORT_DATETIME_D] =  {{"datetime_d",  CLASS(TIME), 8, 8, 0, 0}, {"M8[D]"}, {NULL}},
    [RECSORT_DATETIME_S] =  {{"datetime_s",  CLASS(TIME), 8, 8, 0, 0}, {"M8[s]"}, {"time_t"}},
    [RECSORT_DATETIME_MS] = {{"datetime_ms", CLASS(TIME), 8, 8, 0, 0}, {"M8[ms]"}, {NULL}},
    [RECSORT_DATETIME_US] = {{"datetime_us", CLASS(TIME), 8, 8, 0, 0}, {"M8[us]"}, {NULL}},
    [RECSORT_DATETIME_NS] = {{"datetime_ns", CLASS(TIME), 8, 8, 0, 0}, {"M8[ns]"}, {NULL}},
    [RECSORT_STRUCT] =   {{"struct",       CLASS(STRUCT),   0, 0,  0,  0}, {NULL}, {NULL}},
    [RECSORT_ENUM] =     {{"enum",         CLASS(ENUM),     0, 0,  0,  0}, {NULL}, {NULL}},
    [RECSORT_BITFIELD] = {{"bitfield",     CLASS(BITFIELD), 0, 0,  0,  0}, {NULL}, {NULL}},
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

const char *recsort_type_name(recsort_type type)
{
  return rs_type_of(type)->info.name;
}

bool rs_type_holds(recsort_type type, int64_t value)
{
  const recsort_type_info *info = &rs_type_of(type)->info;
  const unsigned bits = 8 * info->size;
  if (bits == 64) return true;
  if (info->type_class == RECSORT_CLASS_UNSIGNED) return value >= 0 && value >> bits == 0;
  const int64_t limit = INT64_C(1) << (bits - 1);
  return value >= -limit && value < limit;
}
