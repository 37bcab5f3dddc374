/* value.c - a key's value in a record, for messages. */
#include "value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const recsort_field *find_field(const recsort_field *fields, size_t count, const char *name,
                                       size_t length)
{
  for (size_t i = 0; i < count; i++) {
    if (strncmp(fields[i].name, name, length) == 0 && fields[i].name[length] == '\0') {
      return &fields[i];
    }
  }
  return NULL;
}

/* Walks the path, which the sorter has accepted: "items[3].id". */
recsort_value key_value(const recsort_schema *schema, const recsort_key_info *key,
                        const void *record)
{
  const unsigned char *base = record;
  const char *path = key->path;
  size_t count;
  const recsort_field *fields = recsort_schema_fields(schema, &count);
  for (;;) {
    const size_t length = strcspn(path, ".[");
    const recsort_field *const field = find_field(fields, count, path, length);
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

bool key_values_equal(const recsort_key_info *key, recsort_value a, recsort_value b)
{
  switch (a.kind) {
  case RECSORT_VALUE_BYTES:
    return memcmp(a.as.bytes, b.as.bytes, a.size) == 0;
  case RECSORT_VALUE_REAL:
    if (key->nan == RECSORT_NAN_TOTAL) return memcmp(&a.as.real, &b.as.real, sizeof a.as.real) == 0;
    return a.as.real == b.as.real || (isnan(a.as.real) && isnan(b.as.real));
  default:
    return a.as.u == b.as.u;
  }
}

/* The shortest decimal that reads back as the same value of the field's width. */
static void format_real(recsort_value value, value_text *to)
{
  const double real = value.as.real;
  const bool narrow = value.size <= sizeof(float);
  const int digits = narrow ? 9 : 17;
  for (int precision = 1; precision <= digits; precision++) {
    snprintf(to->text, sizeof to->text, "%.*g", precision, real);
    const double back = narrow ? (double)strtof(to->text, NULL) : strtod(to->text, NULL);
    if (memcmp(&back, &real, sizeof back) == 0) return;
  }
}

/* Bytes as hexadecimal digits, a string in quotes as far as it is plain text. */
static void format_bytes(const recsort_field *field, recsort_value value, value_text *to)
{
  const bool is_text = field->type == RECSORT_CHAR;
  const size_t length = is_text ? strnlen((const char *)value.as.bytes, value.size) : value.size;
  const size_t room = sizeof to->text - sizeof "\\xff...\"";
  char *end = to->text;
  if (is_text) *end++ = '"';
  for (size_t i = 0; i < length; i++) {
    const unsigned char byte = value.as.bytes[i];
    if ((size_t)(end - to->text) > room) {
      end = stpcpy(end, "...");
      break;
    }
    if (is_text && byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\') {
      *end++ = (char)byte;
    } else {
      end += sprintf(end, is_text ? "\\x%02x" : "%02x", byte);
    }
  }
  if (is_text) *end++ = '"';
  *end = '\0';
}

static const char *enumerator_name(const recsort_field *field, recsort_value value)
{
  for (size_t i = 0; i < field->enumerator_count; i++) {
    if (field->enumerators[i].value == value.as.i) return field->enumerators[i].name;
  }
  return NULL;
}

value_text value_as_text(const recsort_field *field, recsort_value value)
{
  value_text to;
  const char *const name = field->type == RECSORT_ENUM ? enumerator_name(field, value) : NULL;
  if (name != NULL) {
    snprintf(to.text, sizeof to.text, "%s", name);
  } else if (value.kind == RECSORT_VALUE_SIGNED) {
    snprintf(to.text, sizeof to.text, "%" PRId64, value.as.i);
  } else if (value.kind == RECSORT_VALUE_UNSIGNED) {
    snprintf(to.text, sizeof to.text, "%" PRIu64, value.as.u);
  } else if (value.kind == RECSORT_VALUE_REAL) {
    format_real(value, &to);
  } else {
    format_bytes(field, value, &to);
  }
  return to;
}
