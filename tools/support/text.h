/* text.h - the text of floats, and of bytes that are not strings. */
#ifndef TOOL_TEXT_H
#define TOOL_TEXT_H

#include "recsort/recsort.h"

enum { TOOL_NUMBER_TEXT = 32 }; /* space for the text of any number and a NUL */

static inline bool tool_is_float(const recsort_field *field)
{
  return recsort_type_describe(field->type)->type_class == RECSORT_CLASS_FLOAT;
}

static inline bool tool_is_bytes(const recsort_field *field)
{
  return recsort_type_describe(field->type)->type_class == RECSORT_CLASS_BYTES;
}

/* The shortest decimal that reads back as the same value of a float type, or nan, -nan, inf, -inf.
 * Needs TOOL_NUMBER_TEXT bytes. */
void tool_float_text(recsort_type type, double value, char *text);

/* Writes bytes as hexadecimal digits, a uuid's in groups: 00112233-4455-6677-8899-aabbccddeeff.
 * Returns the end of the text, where its NUL is. */
char *tool_bytes_text(recsort_type type, const unsigned char *bytes, size_t size, char *text);
/* The length of that text, without the NUL. */
static inline size_t tool_bytes_text_length(recsort_type type, size_t size)
{
  return 2 * size + (type == RECSORT_UUID ? 4 : 0);
}

#endif
