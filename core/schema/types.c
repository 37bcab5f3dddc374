#include "schema/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/words.h"

static const struct {
  const char *word;
  recsort_type type;
} aliases[] = {
    {"_Bool", RECSORT_BOOL},
    {"signed char", RECSORT_INT8},
    {"short", RECSORT_INT16},
    {"short int", RECSORT_INT16},
    {"int", RECSORT_INT32},
    {"signed", RECSORT_INT32},
    {"signed int", RECSORT_INT32},
    {"long long", RECSORT_INT64},
    {"long long int", RECSORT_INT64},
    {"unsigned char", RECSORT_UINT8},
    {"unsigned short", RECSORT_UINT16},
    {"unsigned short int", RECSORT_UINT16},
    {"unsigned", RECSORT_UINT32},
    {"unsigned int", RECSORT_UINT32},
    {"unsigned long long", RECSORT_UINT64},
    {"unsigned long long int", RECSORT_UINT64},
    {"int8_t", RECSORT_INT8},
    {"int16_t", RECSORT_INT16},
    {"int32_t", RECSORT_INT32},
    {"int64_t", RECSORT_INT64},
    {"uint8_t", RECSORT_UINT8},
    {"uint16_t", RECSORT_UINT16},
    {"uint32_t", RECSORT_UINT32},
    {"uint64_t", RECSORT_UINT64},
    {"_Float16", RECSORT_FLOAT16},
    {"half", RECSORT_FLOAT16},
    {"__bf16", RECSORT_BFLOAT16},
    {"float", RECSORT_FLOAT32},
    {"double", RECSORT_FLOAT64},
};

/* Words that mean different things to different readers, and what to say instead. */
static const struct {
  const char *word;
  const char *type;
  const char *advice; /* NULL: the type */
} ambiguous[] = {
    {"i1", "int8", NULL},
    {"i2", "int16", NULL},
    {"i4", "int32", NULL},
    {"i8", "int8", "int8 for 8 bits, int64 for 8 bytes"},
    {"i16", "int16", NULL},
    {"i32", "int32", NULL},
    {"i64", "int64", NULL},
    {"u1", "uint8", NULL},
    {"u2", "uint16", NULL},
    {"u4", "uint32", NULL},
    {"u8", "uint8", "uint8 for 8 bits, uint64 for 8 bytes"},
    {"u16", "uint16", NULL},
    {"u32", "uint32", NULL},
    {"u64", "uint64", NULL},
    {"f2", "float16", NULL},
    {"f4", "float32", NULL},
    {"f8", "float64", "float64 for 8 bytes"},
    {"f16", "float16", NULL},
    {"f32", "float32", NULL},
    {"f64", "float64", NULL},
    {"long", "int64", "int64, since the size of long differs between systems"},
    {"long int", "int64", "int64, since the size of long differs between systems"},
    {"unsigned long", "uint64", "uint64, since the size of long differs between systems"},
    {"unsigned long int", "uint64", "uint64, since the size of long differs between systems"},
    {"size_t", "uint64", "uint64, since its size differs between systems"},
    {"long double", "float64", "float64, if 8 bytes are what it takes"},
    {"string", "char", "char with a count"},
    {"str", "char", "char with a count"},
};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* NumPy's spellings after the byte order: a letter and the bytes of a number. */
static const struct {
  const char *word;
  recsort_type type;
} numpy[] = {
    {"?", RECSORT_BOOL},     {"b1", RECSORT_BOOL},    {"i1", RECSORT_INT8},
    {"u1", RECSORT_UINT8},   {"i2", RECSORT_INT16},   {"i4", RECSORT_INT32},
    {"i8", RECSORT_INT64},   {"u2", RECSORT_UINT16},  {"u4", RECSORT_UINT32},
    {"u8", RECSORT_UINT64},  {"f2", RECSORT_FLOAT16}, {"f4", RECSORT_FLOAT32},
    {"f8", RECSORT_FLOAT64},
};

/* S10, |S10 and V10: so many bytes. Ten digits are more than a record can hold. */
static bool parse_bytes(const char *word, rs_type_word *result)
{
  if (*word == '|') word++;
  const size_t digits = strspn(word + (*word != 0), "0123456789");
  if ((*word != 'S' && *word != 'V') || digits == 0 || digits > 10 || word[1 + digits])
    return false;
  if (word[1] == '0') return false;
  *result = (rs_type_word){.type = *word == 'S' ? RECSORT_CHAR : RECSORT_BYTES,
                           .count = strtoull(word + 1, NULL, 10)};
  return true;
}

static bool parse_numpy(const char *word, rs_type_word *result)
{
  if (strcmp(word, "?") != 0 && (!*word || !strchr("<>|", *word))) return false;
  const char *body = *word == '?' ? word : word + 1;
  for (size_t i = 0; i < LENGTH(numpy); i++) {
    if (strcmp(body, numpy[i].word) != 0) continue;
    const bool one_byte = strchr("?b", body[0]) || body[1] == '1';
    if (*word == '|' && !one_byte) return false;
    *result = (rs_type_word){.type = numpy[i].type,
                             .endian = one_byte       ? RECSORT_ENDIAN_DEFAULT
                                       : *word == '<' ? RECSORT_LITTLE_ENDIAN
                                                      : RECSORT_BIG_ENDIAN};
    return true;
  }
  return false;
}

static bool parse_name(const char *word, rs_type_word *result)
{
  for (recsort_type type = RECSORT_BOOL; type <= RECSORT_BITFIELD; type++) {
    if (strcmp(word, recsort_type_name(type)) != 0) continue;
    *result = (rs_type_word){.type = type};
    return true;
  }
  for (size_t i = 0; i < LENGTH(aliases); i++) {
    if (strcmp(word, aliases[i].word) != 0) continue;
    *result = (rs_type_word){.type = aliases[i].type};
    return true;
  }
  return false;
}

bool rs_type_parse(const char *word, rs_type_word *result)
{
  rs_type_word found;
  if (!parse_name(word, &found) && !parse_numpy(word, &found) && !parse_bytes(word, &found))
    return false;
  *result = found;
  return true;
}

void rs_type_hint(const char *word, char *hint, size_t size)
{
  rs_guess guess = {.word = word};
  for (recsort_type type = RECSORT_BOOL; type <= RECSORT_BITFIELD; type++)
    rs_guess_offer(&guess, recsort_type_name(type));
  for (size_t i = 0; i < LENGTH(aliases); i++)
    rs_guess_offer(&guess, aliases[i].word);
  for (size_t i = 0; i < LENGTH(ambiguous); i++)
    rs_guess_offer(&guess, ambiguous[i].word);
  for (size_t i = 0; i < LENGTH(ambiguous); i++) {
    if (guess.nearest != ambiguous[i].word) continue;
    guess.nearest = ambiguous[i].type;
    if (guess.distance > 0) break;
    const char *advice = ambiguous[i].advice ? ambiguous[i].advice : ambiguous[i].type;
    snprintf(hint, size, "; say %s", advice);
    return;
  }
  if (guess.nearest)
    snprintf(hint, size, "; did you mean %s?", guess.nearest);
  else
    snprintf(hint, size, "; say one such as int32, float32 or char");
}

bool rs_type_is_integer(recsort_type type)
{
  return type >= RECSORT_INT8 && type <= RECSORT_UINT64;
}

size_t rs_type_size(recsort_type type)
{
  switch (type) {
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
    return 8;
  default:
    return 1;
  }
}

bool rs_type_holds(recsort_type type, int64_t value)
{
  const unsigned bits = 8 * (unsigned)rs_type_size(type);
  if (bits == 64) return true;
  if (type >= RECSORT_UINT8) return value >= 0 && value >> bits == 0;
  const int64_t limit = INT64_C(1) << (bits - 1);
  return value >= -limit && value < limit;
}
