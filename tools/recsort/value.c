/* value.c - a key's value in a record, for messages. */
#include "value.h"

#include "support/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const recsort_field_desc *find_field(const recsort_field_desc *fields, size_t count,
                                            const char *name, size_t length)
{
  for (size_t i = 0; i < count; i++) {
    if (strncmp(fields[i].name, name, length) == 0 && fields[i].name[length] == '\0') {
      return &fields[i];
    }
  }
  return NULL;
}

/* Follows the path, which the sorter has accepted: "items[3].id". */
recsort_value key_value(const recsort_schema *schema, const recsort_key_info *key,
                        const void *record)
{
  const unsigned char *base = record;
  const char *path = key->path;
  const recsort_field_desc *fields = recsort_schema_describe(schema)->fields;
  size_t count = recsort_schema_describe(schema)->field_count;
  for (;;) {
    const size_t length = strcspn(path, ".[");
    const recsort_field_desc *const field = find_field(fields, count, path, length);
    char *rest = (char *)path + length;
    const size_t element = *rest == '[' ? (size_t)strtoull(rest + 1, &rest, 10) : 0;
    const char *const dot = strchr(rest, '.');
    if (field == NULL || dot == NULL) {
      recsort_value value;
      recsort_field_get(field != NULL ? field : key->field, base, element, &value, sizeof value);
      return value;
    }
    base += field->offset + element * field->size;
    fields = field->fields;
    count = field->field_count;
    path = dot + 1;
  }
}

bool key_is_value(const recsort_key_info *key)
{
  return key->field != NULL && (key->field->count == 0 || key->path[strlen(key->path) - 1] == ']');
}

bool key_values_equal(const recsort_key_info *key, recsort_value a, recsort_value b)
{
  const bool total = key->nan == RECSORT_NAN_TOTAL;
  switch (a.kind) {
  case RECSORT_VALUE_BYTES:
    if (key->field->type == RECSORT_CSTRING)
      return strncmp((const char *)a.as.bytes, (const char *)b.as.bytes, a.size) == 0;
    return memcmp(a.as.bytes, b.as.bytes, a.size) == 0;
  case RECSORT_VALUE_REAL:
    if (total) return memcmp(&a.as.real, &b.as.real, sizeof a.as.real) == 0;
    return a.as.real == b.as.real || (isnan(a.as.real) && isnan(b.as.real));
  case RECSORT_VALUE_SIGNED:
  case RECSORT_VALUE_UNSIGNED:
    break;
  }
  const bool both_null = tool_is_null(key->field, a) && tool_is_null(key->field, b);
  return a.as.u == b.as.u || (both_null && !total);
}

/* Longer texts end in dots. */
enum { FULL_TEXT = VALUE_TEXT - sizeof "\\xff...\"" };

/* Writes a string in quotes, with escapes for bytes that are not plain text. */
static void format_string(recsort_value value, value_text *to)
{
  const size_t length = strnlen((const char *)value.as.bytes, value.size);
  char *end = to->text;
  *end++ = '"';
  for (size_t i = 0; i < length; i++) {
    const unsigned char byte = value.as.bytes[i];
    if (end - to->text > FULL_TEXT) {
      end = stpcpy(end, "...");
      break;
    }
    if (byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\') {
      *end++ = (char)byte;
    } else {
      end += sprintf(end, "\\x%02x", byte);
    }
  }
  strcpy(end, "\"");
}

/* Writes hexadecimal digits. */
static void format_bytes(const recsort_field_desc *field, recsort_value value, value_text *to)
{
  enum { SHOWN_BYTES = FULL_TEXT / 2 + 1 };
  const size_t shown = value.size < SHOWN_BYTES ? value.size : SHOWN_BYTES;
  char *const end = tool_bytes_text(field->type, value.as.bytes, shown, to->text);
  if (shown < value.size) strcpy(end, "...");
}

static const char *enumerator_name(const recsort_field_desc *field, recsort_value value)
{
  for (size_t i = 0; i < field->enumerator_count; i++) {
    if (field->enumerators[i].value == value.as.i) return field->enumerators[i].name;
  }
  return NULL;
}

value_text value_as_text(const recsort_field_desc *field, recsort_value value)
{
  value_text to;
  const char *const name = field->type == RECSORT_ENUM ? enumerator_name(field, value) : NULL;
  if (name != NULL) {
    snprintf(to.text, sizeof to.text, "%s", name);
    return to;
  }
  if (recsort_type_describe(field->type)->type_class == RECSORT_CLASS_WIDE) {
    tool_wide_text(field, value.as.bytes, to.text);
    return to;
  }
  switch (value.kind) {
  case RECSORT_VALUE_SIGNED:
  case RECSORT_VALUE_UNSIGNED:
    if (recsort_type_describe(field->type)->type_class == RECSORT_CLASS_TIME)
      tool_time_text(field->type, value.as.i, to.text);
    else
      tool_integer_text(field, value, to.text);
    break;
  case RECSORT_VALUE_REAL:
    tool_float_text(field->type, value.as.real, to.text);
    break;
  case RECSORT_VALUE_BYTES:
    if (tool_is_text(field))
      format_string(value, &to);
    else
      format_bytes(field, value, &to);
    break;
  }
  return to;
}

/* The bytes of a value in a record. */
static const unsigned char *bytes_of(const recsort_field_desc *field, recsort_value value,
                                     unsigned char room[8])
{
  if (value.kind == RECSORT_VALUE_BYTES) return value.as.bytes;
  recsort_field_desc alone = *field;
  alone.offset = 0;
  recsort_field_set(&alone, room, 0, &value, sizeof value);
  return room;
}

value_bytes value_differing_bytes(const recsort_field_desc *field, recsort_value a, recsort_value b)
{
  const recsort_field_desc raw = {.type = RECSORT_BYTES};
  unsigned char room[2][8] = {{0}};
  const unsigned char *const of_a = bytes_of(field, a, room[0]);
  const unsigned char *const of_b = bytes_of(field, b, room[1]);
  value_bytes made = {.from = 0};
  if (2 * a.size > FULL_TEXT)
    while (made.from + 1 < a.size && of_a[made.from] == of_b[made.from])
      made.from++;
  a.as.bytes = of_a + made.from;
  b.as.bytes = of_b + made.from;
  a.size = b.size = a.size - made.from;
  format_bytes(&raw, a, &made.a);
  format_bytes(&raw, b, &made.b);
  return made;
}
