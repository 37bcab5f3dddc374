/* places.c - see places.h. The schema has checked the path of every key. */
#include "recgen/places.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const recsort_field *find_field(const recsort_field *fields, size_t count, const char *name,
                                       size_t length)
{
  for (size_t i = 0; i < count; i++) {
    if (strncmp(fields[i].name, name, length) == 0 && !fields[i].name[length]) return &fields[i];
  }
  return NULL;
}

static place place_of_path(const recsort_field *fields, size_t count, const char *path)
{
  place found = {0};
  for (;;) {
    const size_t length = strcspn(path, ".[");
    found.field = find_field(fields, count, path, length);
    assert(found.field);
    path += length;
    found.element = 0;
    if (*path == '[') {
      char *end;
      found.element = (size_t)strtoull(path + 1, &end, 10);
      path = end + 1;
    }
    if (*path != '.') return found;
    path++;
    found.base += found.field->offset + found.element * found.field->size;
    fields = found.field->fields;
    count = found.field->field_count;
  }
}

static place first_place(const recsort_field *fields)
{
  place found = {.field = &fields[0]};
  while (found.field->type == RECSORT_STRUCT) {
    found.base += found.field->offset;
    found.field = &found.field->fields[0];
  }
  return found;
}

static bool overlap(const place *a, const place *b)
{
  const size_t first = a->base + a->field->offset + a->element * a->field->size;
  const size_t second = b->base + b->field->offset + b->element * b->field->size;
  return first < second + b->field->size && second < first + a->field->size;
}

place *places_of(const recsort_schema *schema, size_t *count)
{
  size_t field_count, key_count;
  const recsort_field *const fields = recsort_schema_fields(schema, &field_count);
  const recsort_key_desc *const keys = recsort_schema_keys(schema, &key_count);
  const size_t place_count = key_count ? key_count : 1;
  place *const places = calloc(place_count, sizeof *places);
  if (!places) return NULL;
  places[0] = first_place(fields);
  for (size_t i = 0; i < key_count; i++) {
    places[i] = place_of_path(fields, field_count, keys[i].path);
    places[i].descending = keys[i].order == RECSORT_DESCENDING;
    for (size_t j = 0; j < i; j++)
      places[i].bound |= overlap(&places[i], &places[j]);
  }
  *count = place_count;
  return places;
}
