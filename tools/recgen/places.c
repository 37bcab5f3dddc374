/* places.c - see places.h. The schema has checked the path of every key. */
#include "recgen/places.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const recsort_field_desc *find_field(const recsort_field_desc *fields, size_t count,
                                            const char *name, size_t length)
{
  for (size_t i = 0; i < count; i++) {
    if (strncmp(fields[i].name, name, length) == 0 && !fields[i].name[length]) return &fields[i];
  }
  return NULL;
}

static place place_of_path(const recsort_field_desc *fields, size_t count, const char *path)
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

static place first_place(const recsort_field_desc *fields)
{
  place found = {.field = &fields[0]};
  while (found.field->type == RECSORT_STRUCT) {
    found.base += found.field->offset;
    found.field = &found.field->fields[0];
  }
  return found;
}

static size_t start_of(const place *p)
{
  return p->base + p->field->offset + p->element * p->field->size;
}

/* Adds the elements of a key from `added` on: one, or those of a whole array. */
static size_t add_places(place *added, place first, const char *path)
{
  const bool whole = first.field->count != 0 && path[strlen(path) - 1] != ']';
  const size_t count = whole ? first.field->count : 1;
  for (size_t i = 0; added && i < count; i++, first.element++)
    added[i] = first;
  return count;
}

/* Finds which elements of a key, at `key`, share bits with those of an earlier one. */
static void bind_places(place *key, size_t count, const place *earlier, size_t earlier_count)
{
  const size_t size = key->field->size, earlier_size = earlier->field->size;
  const size_t end = start_of(earlier) + earlier_count * earlier_size;
  for (size_t i = 0; i < count; i++)
    key[i].bound |= start_of(&key[i]) < end && start_of(earlier) < start_of(&key[i]) + size;
}

place *places_of(const recsort_schema *schema, size_t *count)
{
  const recsort_schema_desc *const desc = recsort_schema_describe(schema);
  const recsort_field_desc *const fields = desc->fields;
  const recsort_key_desc *const keys = desc->keys;
  const size_t field_count = desc->field_count, key_count = desc->key_count;
  size_t place_count = 0;
  for (size_t i = 0; i < key_count; i++)
    place_count += add_places(NULL, place_of_path(fields, field_count, keys[i].path), keys[i].path);
  place *const places = calloc(place_count + !key_count, sizeof *places);
  size_t *const firsts = calloc(key_count + 1, sizeof *firsts);
  if (!places || !firsts) {
    free(places);
    free(firsts);
    return NULL;
  }
  places[0] = first_place(fields);
  for (size_t i = 0; i < key_count; i++) {
    place first = place_of_path(fields, field_count, keys[i].path);
    first.descending = keys[i].order == RECSORT_DESCENDING;
    place *const key = places + firsts[i];
    const size_t added = add_places(key, first, keys[i].path);
    for (size_t j = 0; j < i; j++)
      bind_places(key, added, places + firsts[j], firsts[j + 1] - firsts[j]);
    firsts[i + 1] = firsts[i] + added;
  }
  free(firsts);
  *count = place_count + !key_count;
  return places;
}
