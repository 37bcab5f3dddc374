#include "schema/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "schema/words.h"

/* Ambiguous words, and what to write instead. */
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
    {"float8", "float8_e4m3fn", "float8_e4m3fn, float8_e5m2 or another with its bits"},
    {"f32", "float32", NULL},
    {"f64", "float64", NULL},
    {"long", "int64", "int64, since the size of long differs between systems"},
    {"long int", "int64", "int64, since the size of long differs between systems"},
    {"unsigned long", "uint64", "uint64, since the size of long differs between systems"},
    {"unsigned long int", "uint64", "uint64, since the size of long differs between systems"},
    {"size_t", "uint64", "uint64, since its size differs between systems"},
    {"long double", "float64", "float64, if 8 bytes are what it takes"},
    {"string", "char", "char or cstring, with a count"},
    {"str", "char", "char or cstring, with a count"},
};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* True if a list, which NULL ends, contains the word. */
static bool is_among(const char *const *words, const char *word)
{
  while (*words && strcmp(*words, word) != 0)
    words++;
  return *words;
}

static bool parse_name(const char *word, rs_type_word *result)
{
  for (recsort_type type = RECSORT_BOOL; rs_is_type(type); type++) {
    const rs_type *row = rs_type_of(type);
    if (strcmp(word, row->info.name) != 0 && !is_among(row->words, word)) continue;
    *result = (rs_type_word){.type = type};
    return true;
  }
  return false;
}

/* A byte order, a letter and a number of bytes: <i4, >f8, |u1. */
static bool parse_numpy(const char *word, rs_type_word *result)
{
  if (strcmp(word, "?") != 0 && (!*word || !strchr("<>|", *word))) return false;
  const char *body = *word == '?' ? word : word + 1;
  for (recsort_type type = RECSORT_BOOL; rs_is_type(type); type++) {
    const rs_type *row = rs_type_of(type);
    if (!row->info.size || !is_among(row->numpy, body)) continue;
    const bool one_byte = row->info.size == 1;
    if (*word == '|' && !one_byte) return false;
    *result = (rs_type_word){.type = type,
                             .endian = one_byte       ? RECSORT_ENDIAN_DEFAULT
                                       : *word == '<' ? RECSORT_LITTLE_ENDIAN
                                                      : RECSORT_BIG_ENDIAN};
    return true;
  }
  return false;
}

/* S10, |S10 and V10: bytes. Any number of ten digits exceeds a record. */
static bool parse_numpy_bytes(const char *word, rs_type_word *result)
{
  if (*word == '|') word++;
  const size_t digits = strspn(word + (*word != 0), "0123456789");
  if (digits == 0 || digits > 10 || word[1 + digits] || word[1] == '0') return false;
  for (recsort_type type = RECSORT_BOOL; rs_is_type(type); type++) {
    const rs_type *row = rs_type_of(type);
    if (row->info.size || !row->numpy[0] || *row->numpy[0] != *word) continue;
    *result = (rs_type_word){.type = type, .count = strtoull(word + 1, NULL, 10)};
    return true;
  }
  return false;
}

bool rs_type_parse(const char *word, rs_type_word *result)
{
  return parse_name(word, result) || parse_numpy(word, result) || parse_numpy_bytes(word, result);
}

/* Offers every word that is a type or is often mistaken for one. */
static void offer_types(rs_guess *guess)
{
  for (recsort_type type = RECSORT_BOOL; rs_is_type(type); type++)
    rs_guess_offer(guess, recsort_type_describe(type)->name);
  for (recsort_type type = RECSORT_BOOL; rs_is_type(type); type++)
    for (const char *const *word = rs_type_of(type)->words; *word; word++)
      rs_guess_offer(guess, *word);
  for (size_t i = 0; i < LENGTH(ambiguous); i++)
    rs_guess_offer(guess, ambiguous[i].word);
}

void rs_type_hint(const char *word, char *hint, size_t size)
{
  rs_guess guess = {.word = word};
  RS_ASSERT(size > 0);
  offer_types(&guess);
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
