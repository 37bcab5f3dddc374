/* cell.c - see cell.h. */
#include "reccat/cell.h"

#include "support/text.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

static recsort_type_class class_of(const recsort_field_desc *field)
{
  return recsort_type_describe(field->type)->type_class;
}

cell_kind cell_kind_of(const recsort_field_desc *field)
{
  switch (class_of(field)) {
  case RECSORT_CLASS_SIGNED:
  case RECSORT_CLASS_UNSIGNED:
  case RECSORT_CLASS_FLOAT:
  case RECSORT_CLASS_WIDE:
  case RECSORT_CLASS_BITFIELD:
    return CELL_NUMBER;
  case RECSORT_CLASS_BOOL:
    return CELL_BOOL;
  case RECSORT_CLASS_TIME:
    return CELL_PLAIN;
  case RECSORT_CLASS_BYTES:
    return tool_is_text(field) ? CELL_TEXT : CELL_PLAIN;
  case RECSORT_CLASS_ENUM:
  case RECSORT_CLASS_STRUCT:
  case RECSORT_CLASS_NONE:
    break;
  }
  return CELL_TEXT;
}

/* ---- Sizes --------------------------------------------------------------------------------- */

static size_t longest_name(const recsort_field_desc *field)
{
  size_t longest = 0;
  for (size_t i = 0; i < field->enumerator_count; i++) {
    const size_t length = strlen(field->enumerators[i].name);
    if (length > longest) longest = length;
  }
  return longest;
}

/* The digits of the largest number of so many bits. */
static size_t digits_of(size_t bits)
{
  return (size_t)((double)bits * 0.30103) + 1; /* log10(2) */
}

/* The text of the number that is farthest from 0. */
static size_t scaled_width(const recsort_field_desc *field, bool is_signed)
{
  char text[TOOL_NUMBER_TEXT];
  const unsigned unused = 64 - recsort_type_describe(field->type)->bits;
  const recsort_value least = {.kind = RECSORT_VALUE_SIGNED, .as.i = INT64_MIN >> unused};
  const recsort_value most = {.kind = RECSORT_VALUE_UNSIGNED, .as.u = UINT64_MAX >> unused};
  tool_integer_text(field, is_signed ? least : most, text);
  return strlen(text);
}

size_t cell_width(const recsort_field_desc *field)
{
  switch (class_of(field)) {
  case RECSORT_CLASS_BOOL:
    return strlen("false");
  case RECSORT_CLASS_SIGNED:
    return scaled_width(field, true);
  case RECSORT_CLASS_WIDE:
    return strlen("-") + digits_of(8 * field->size - 1);
  case RECSORT_CLASS_TIME:
    return strlen("1970-01-01T00:00:00.000000000");
  case RECSORT_CLASS_UNSIGNED:
    return scaled_width(field, false);
  case RECSORT_CLASS_BITFIELD:
    return digits_of(field->width);
  case RECSORT_CLASS_FLOAT:
    return strlen(field->size == 8   ? "-1.2345678901234567e-308"
                  : field->size == 4 ? "-1.23456789e-38"
                                     : "-1.2345e-38");
  case RECSORT_CLASS_ENUM:
    return longest_name(field);
  case RECSORT_CLASS_BYTES:
    return tool_is_text(field) ? field->size : tool_bytes_text_length(field->type, field->size);
  case RECSORT_CLASS_STRUCT:
  case RECSORT_CLASS_NONE:
    break;
  }
  return 0;
}

size_t cell_text_size(const recsort_field_desc *field)
{
  const size_t text = tool_is_text(field) ? 4 * field->size : cell_width(field);
  return (text > TOOL_NUMBER_TEXT ? text : TOOL_NUMBER_TEXT) + 1;
}

/* ---- Numbers ------------------------------------------------------------------------------ */

static char *write_enum(const recsort_field_desc *field, recsort_value value, char *text)
{
  const uint64_t bits = value.kind == RECSORT_VALUE_SIGNED ? (uint64_t)value.as.i : value.as.u;
  for (size_t i = 0; i < field->enumerator_count; i++) {
    if ((uint64_t)field->enumerators[i].value == bits)
      return stpcpy(text, field->enumerators[i].name);
  }
  return tool_integer_text(field, value, text);
}

/* ---- Strings ------------------------------------------------------------------------------ */

/* The length of the printable character at `bytes`; 0 if there is none. */
static size_t printable_length(const char *bytes, size_t size)
{
  mbstate_t state = {0};
  wchar_t c;
  const size_t length = mbrtowc(&c, bytes, size, &state);
  return length <= size && iswprint((wint_t)c) ? length : 0;
}

static char *write_text(const unsigned char *bytes, size_t size, char *text)
{
  while (size && !bytes[size - 1])
    size--;
  for (size_t i = 0; i < size;) {
    const size_t length = printable_length((const char *)bytes + i, size - i);
    if (!length) {
      text += sprintf(text, "\\x%02x", (unsigned)bytes[i++]);
      continue;
    }
    if (bytes[i] == '\\') *text++ = '\\';
    memcpy(text, bytes + i, length);
    text += length;
    i += length;
  }
  *text = '\0';
  return text;
}

char *cell_write(const recsort_field_desc *field, const void *base, size_t element, char *text)
{
  recsort_value value;
  recsort_field_get(field, base, element, &value, sizeof value);
  switch (class_of(field)) {
  case RECSORT_CLASS_BOOL:
    return stpcpy(text, value.as.u ? "true" : "false");
  case RECSORT_CLASS_ENUM:
    return write_enum(field, value, text);
  case RECSORT_CLASS_BYTES:
    if (field->type == RECSORT_CSTRING)
      value.size = strnlen((const char *)value.as.bytes, value.size);
    return tool_is_text(field) ? write_text(value.as.bytes, value.size, text)
                               : tool_bytes_text(field->type, value.as.bytes, value.size, text);
  case RECSORT_CLASS_WIDE:
    return tool_wide_text(field, value.as.bytes, text);
  case RECSORT_CLASS_TIME:
    return tool_time_text(field->type, value.as.i, text);
  case RECSORT_CLASS_FLOAT:
    return tool_float_text(field->type, value.as.real, text);
  case RECSORT_CLASS_SIGNED:
  case RECSORT_CLASS_UNSIGNED:
  case RECSORT_CLASS_BITFIELD:
  case RECSORT_CLASS_STRUCT:
  case RECSORT_CLASS_NONE:
    break;
  }
  return tool_integer_text(field, value, text);
}
