/* columns.c - see columns.h. */
#include "reccat/columns.h"

#include <stdio.h>
#include <stdlib.h>

static bool append(columns *c, column new)
{
  if (c->count == c->capacity) {
    const size_t capacity = c->capacity ? 2 * c->capacity : 16;
    column *const at = reallocarray(c->at, capacity, sizeof *at);
    if (!at) return false;
    c->at = at;
    c->capacity = capacity;
  }
  c->at[c->count++] = new;
  return true;
}

/* NULL: out of memory. */
static char *path_of(const char *prefix, const recsort_field_desc *field, size_t element)
{
  char *path;
  const char *const dot = *prefix ? "." : "";
  const int length = field->count
                         ? asprintf(&path, "%s%s%s[%zu]", prefix, dot, field->name, element)
                         : asprintf(&path, "%s%s%s", prefix, dot, field->name);
  return length < 0 ? NULL : path;
}

static bool append_fields(columns *c, const char *prefix, const recsort_field_desc *fields,
                          size_t count, size_t base)
{
  for (const recsort_field_desc *field = fields; field < fields + count; field++) {
    for (size_t i = 0; i < (field->count ? field->count : 1); i++) {
      char *const path = path_of(prefix, field, i);
      if (!path) return false;
      bool done;
      if (field->type == RECSORT_STRUCT) {
        const size_t inner = base + field->offset + i * field->size;
        done = append_fields(c, path, field->fields, field->field_count, inner);
        free(path);
      } else {
        done = append(c, (column){path, field, base, i, cell_kind_of(field)});
        if (!done) free(path);
      }
      if (!done) return false;
    }
  }
  return true;
}

bool columns_of(columns *c, const recsort_schema *schema)
{
  const recsort_schema_desc *const desc = recsort_schema_describe(schema);
  return append_fields(c, "", desc->fields, desc->field_count, 0);
}

void columns_free(columns *c)
{
  for (size_t i = 0; i < c->count; i++)
    free(c->at[i].name);
  free(c->at);
}
