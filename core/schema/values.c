#include "schema/values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "schema/words.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* No record or file needs larger numbers, and the sum of two does not overflow. */
static const uint64_t largest = INT64_MAX / 2;

recsort_status rs_refuse_value(const rs_reader *reader, const rs_subject *subject, const char *word,
                               const rs_text *text, const char *why)
{
  return rs_refuse(reader, text->place, subject, "%s \"%.*s\" %s", word, RS_SHOWN(text->value),
                   why);
}

/* ---- Numbers -------------------------------------------------------------------------------- */

/* Splits an integer into sign and magnitude. Returns what is wrong with it, or NULL. */
static const char *split_integer(const rs_text *text, bool *negative, uint64_t *magnitude)
{
  const char *digits = text->value;
  RS_ASSERT(digits);
  if (text->quoted) return "is text; write the number without quotes";
  *negative = *digits == '-';
  digits += *negative;
  const bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  if (hex) digits += 2;
  if (!*digits || digits[strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789")])
    return "is not a whole number; write it in decimal or as 0x and hex digits";
  if (!hex && digits[0] == '0' && digits[1])
    return "begins with 0, which some take for octal; leave the 0 out";
  errno = 0;
  *magnitude = strtoull(digits, NULL, hex ? 16 : 10);
  return errno == ERANGE ? "does not fit 64 bits" : NULL;
}

recsort_status rs_read_number(const rs_reader *reader, const rs_subject *subject, const char *word,
                              const rs_text *text, uint64_t *number)
{
  bool negative = false;
  uint64_t magnitude = 0;
  if (!text->value) return RECSORT_OK;
  const char *why = split_integer(text, &negative, &magnitude);
  if (!why && negative) why = "is negative";
  if (!why && magnitude > largest) why = "is too large";
  if (why) return rs_refuse_value(reader, subject, word, text, why);
  *number = magnitude;
  return RECSORT_OK;
}

recsort_status rs_read_positive(const rs_reader *reader, const rs_subject *subject,
                                const char *word, const rs_text *text, uint64_t *number)
{
  const recsort_status status = rs_read_number(reader, subject, word, text, number);
  if (status || !text->value || *number) return status;
  return rs_refuse(reader, text->place, subject, "%s is 0; say 1 or more, or leave it out", word);
}

recsort_status rs_read_integer(const rs_reader *reader, const rs_subject *subject, const char *word,
                               const rs_text *text, recsort_type type, int64_t *value)
{
  bool negative = false;
  uint64_t magnitude = 0;
  const char *why = split_integer(text, &negative, &magnitude);
  const uint64_t limit = negative                 ? (uint64_t)INT64_MAX + 1
                         : type == RECSORT_UINT64 ? UINT64_MAX
                                                  : INT64_MAX;
  const int64_t found = (int64_t)(negative ? 0 - magnitude : magnitude);
  if (!why && (magnitude > limit || !rs_type_holds(type, found) ||
               (negative && magnitude && type == RECSORT_UINT64)))
    return rs_refuse(reader, text->place, subject, "%s \"%.*s\" does not fit %s", word,
                     RS_SHOWN(text->value), recsort_type_describe(type)->name);
  if (why) return rs_refuse_value(reader, subject, word, text, why);
  *value = found;
  return RECSORT_OK;
}

/* ---- Choices -------------------------------------------------------------------------------- */

recsort_status rs_read_choice(const rs_reader *reader, const rs_subject *subject, const char *word,
                              const rs_text *text, const rs_word_value *choices,
                              size_t choice_count, int *value)
{
  char known[100] = "";
  rs_guess guess = {.word = text->value};
  if (!text->value) return RECSORT_OK;
  for (size_t i = 0; i < choice_count; i++) {
    if (strcmp(choices[i].word, text->value) == 0) {
      *value = choices[i].value;
      return RECSORT_OK;
    }
    rs_guess_offer(&guess, choices[i].word);
    strcat(strcat(known, i ? ", " : ""), choices[i].word);
    RS_ASSERT(strlen(known) < sizeof known);
  }
  if (guess.nearest)
    return rs_refuse(reader, text->place, subject, "unknown %s \"%.*s\"; did you mean %s?", word,
                     RS_SHOWN(text->value), guess.nearest);
  return rs_refuse(reader, text->place, subject, "unknown %s \"%.*s\"; say one of %s", word,
                   RS_SHOWN(text->value), known);
}

recsort_status rs_read_endian(const rs_reader *reader, const rs_subject *subject,
                              const rs_text *text, recsort_endian *endian)
{
  static const rs_word_value choices[] = {{"little", RECSORT_LITTLE_ENDIAN},
                                          {"big", RECSORT_BIG_ENDIAN}};
  int value = (int)*endian;
  const recsort_status status =
      rs_read_choice(reader, subject, "endian", text, choices, LENGTH(choices), &value);
  *endian = (recsort_endian)value;
  return status;
}

/* ---- Words of fields ------------------------------------------------------------------------- */

recsort_status rs_read_type(const rs_reader *reader, const rs_subject *subject, const char *word,
                            const rs_text *text, rs_type_word *type)
{
  char hint[120];
  if (rs_type_parse(text->value, type)) return RECSORT_OK;
  rs_type_hint(text->value, hint, sizeof hint);
  return rs_refuse(reader, text->place, subject, "unknown %s \"%.*s\"%s", word,
                   RS_SHOWN(text->value), hint);
}

recsort_status rs_combine_endian(const rs_reader *reader, const rs_subject *subject,
                                 const char *word, const rs_text *type, recsort_endian spelled,
                                 recsort_endian *endian)
{
  if (!spelled) return RECSORT_OK;
  if (*endian && *endian != spelled)
    return rs_refuse_value(reader, subject, word, type,
                           spelled == RECSORT_BIG_ENDIAN ? "is big-endian, and endian says little"
                                                         : "is little-endian, and endian says big");
  *endian = spelled;
  return RECSORT_OK;
}

/* No record has SIZE_MAX bytes. */
static size_t to_size(uint64_t number)
{
  return number < SIZE_MAX ? (size_t)number : SIZE_MAX;
}

recsort_status rs_read_count(const rs_reader *reader, const rs_subject *subject,
                             const rs_text *text, uint64_t spelled, recsort_field_desc *field)
{
  uint64_t count = spelled;
  const recsort_status status = rs_read_positive(reader, subject, "count", text, &count);
  if (status) return status;
  if (text->value && spelled)
    return rs_refuse_value(reader, subject, "count", text,
                           "is given beside a type that has one already");
  *(rs_type_has_length(field->type) ? &field->size : &field->count) = to_size(count);
  return RECSORT_OK;
}

recsort_status rs_read_offset(const rs_reader *reader, const rs_subject *subject,
                              const rs_text *text, recsort_field_desc *field)
{
  uint64_t offset = field->offset;
  const recsort_status status = rs_read_number(reader, subject, "offset", text, &offset);
  field->offset = to_size(offset);
  return status;
}
