/* json.c - see json.h. */
#include "reccat/json.h"

#include <stdlib.h>
#include <string.h>

char *json_string(const char *text, char *to)
{
  *to++ = '"';
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') *to++ = '\\';
    *to++ = *text;
  }
  *to++ = '"';
  return to;
}

static char *reserve(json_shape *s, size_t size)
{
  if (s->capacity - s->size < size) {
    const size_t capacity = 2 * (s->size + size);
    char *const text = realloc(s->text, capacity);
    if (!text) return NULL;
    s->text = text;
    s->capacity = capacity;
  }
  return s->text + s->size;
}

/* Adds text; its NUL is not counted, so the next text follows at once. */
static bool add(json_shape *s, const char *text)
{
  const size_t length = strlen(text);
  char *const to = reserve(s, length + 1);
  if (!to) return false;
  memcpy(to, text, length + 1);
  s->size += length;
  return true;
}

static bool add_name(json_shape *s, const char *name)
{
  char *const to = reserve(s, 2 * strlen(name) + 3);
  if (!to) return false;
  char *const end = json_string(name, to);
  *end = '\0';
  s->size += (size_t)(end - to);
  return add(s, ":");
}

static bool add_members(json_shape *s, const recsort_field_desc *fields, size_t count);

static bool add_value(json_shape *s, const recsort_field_desc *field)
{
  if (field->type == RECSORT_STRUCT)
    return add(s, "{") && add_members(s, field->fields, field->field_count);
  s->size++; /* the piece ends here, with its NUL */
  return add(s, "");
}

static bool add_array(json_shape *s, const recsort_field_desc *field)
{
  for (size_t i = 0; i < field->count; i++)
    if (!add(s, i == 0 ? "[" : ",") || !add_value(s, field)) return false;
  return add(s, "]");
}

static bool add_members(json_shape *s, const recsort_field_desc *fields, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    if (i > 0 && !add(s, ",")) return false;
    if (!add_name(s, fields[i].name)) return false;
    if (!(fields[i].count ? add_array(s, &fields[i]) : add_value(s, &fields[i]))) return false;
  }
  return add(s, "}");
}

bool json_shape_of(json_shape *s, const recsort_schema *schema)
{
  const recsort_schema_desc *const desc = recsort_schema_describe(schema);
  *s = (json_shape){NULL, 0, 0};
  return add(s, "") && add_members(s, desc->fields, desc->field_count);
}

void json_shape_free(json_shape *s)
{
  free(s->text);
}
