/* text.h - the text of numbers, of times, and of bytes that are not strings. Functions return the
 * end of the text, where its NUL is. */
#ifndef TOOL_TEXT_H
#define TOOL_TEXT_H

#include "recsort/tools.h"

enum { TOOL_NUMBER_TEXT = 64 }; /* space for the text of any number or time, and a NUL */

static inline bool tool_is_float(const recsort_field_desc *field)
{
  return recsort_type_describe(field->type)->type_class == RECSORT_CLASS_FLOAT;
}

/* True if a field may hold what is no number or no time, and a key says where that goes. */
static inline bool tool_has_nan(const recsort_field_desc *field)
{
  return tool_is_float(field) || field->null_count > 0 ||
         recsort_type_describe(field->type)->type_class == RECSORT_CLASS_TIME;
}

/* True if the bytes of a field are text. */
static inline bool tool_is_text(const recsort_field_desc *field)
{
  return field->type == RECSORT_CHAR || field->type == RECSORT_CSTRING;
}

/* True if a value of an integer field stands for no number. */
static inline bool tool_is_null(const recsort_field_desc *field, recsort_value value)
{
  for (size_t i = 0; i < field->null_count; i++)
    if (field->nulls[i] == value.as.i) return true;
  return false;
}

static inline bool tool_is_bytes(const recsort_field_desc *field)
{
  return recsort_type_describe(field->type)->type_class == RECSORT_CLASS_BYTES;
}

/* The shortest decimal that reads back as the same value of a float type, or nan, -nan, inf, -inf.
 * Needs TOOL_NUMBER_TEXT bytes. */
char *tool_float_text(recsort_type type, double value, char *text);

/* The decimal text of an integer of 128 bits. Needs TOOL_NUMBER_TEXT bytes. */
char *tool_wide_text(const recsort_field_desc *field, const unsigned char *bytes, char *text);

/* The decimal text of an integer of at most 64 bits, times the scale of its field if it has one:
 * exact, and with as many decimals as the scale has. Needs TOOL_NUMBER_TEXT bytes. */
char *tool_integer_text(const recsort_field_desc *field, recsort_value value, char *text);

/* A time as in 2026-11-23T14:15:00.123, with as many decimals as its unit has; NaT if it is none;
 * the number if its year has more than 9 digits. Needs TOOL_NUMBER_TEXT bytes. */
char *tool_time_text(recsort_type type, int64_t time, char *text);

/* Writes bytes as hexadecimal digits, a uuid's in groups: 00112233-4455-6677-8899-aabbccddeeff; or
 * as an address: 192.0.2.1, 2001:db8::1, 00:00:5e:00:53:01. */
char *tool_bytes_text(recsort_type type, const unsigned char *bytes, size_t size, char *text);
/* The most characters of that text, without the NUL. */
size_t tool_bytes_text_length(recsort_type type, size_t size);

#endif
