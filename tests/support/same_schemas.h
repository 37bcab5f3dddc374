/* same_schemas.h - compares what two schemas say about themselves. */
#ifndef RECSORT_TESTS_SAME_SCHEMAS_H
#define RECSORT_TESTS_SAME_SCHEMAS_H

#include <string.h>

#include "recsort/tools.h"

static inline bool same_texts(const char *a, const char *b)
{
  return !a || !b ? a == b : strcmp(a, b) == 0;
}

/* `count` may be 0, and the arrays NULL. */
static inline bool same_bytes(const void *a, const void *b, size_t count, size_t size)
{
  return count == 0 || memcmp(a, b, count * size) == 0;
}

static inline bool same_fields(const recsort_field_desc *a, const recsort_field_desc *b,
                               size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const recsort_field_desc x = a[i], y = b[i];
    if (!same_texts(x.name, y.name) || x.type != y.type || x.base != y.base ||
        x.endian != y.endian || x.offset != y.offset || x.size != y.size || x.count != y.count ||
        !same_texts(x.bit_base, y.bit_base) || x.bit != y.bit || x.width != y.width ||
        !same_texts(x.scale, y.scale) || x.enumerator_count != y.enumerator_count ||
        x.field_count != y.field_count || x.null_count != y.null_count ||
        !same_bytes(x.nulls, y.nulls, x.null_count, sizeof *x.nulls) || x.line != y.line ||
        x.column != y.column)
      return false;
    for (size_t n = 0; n < x.enumerator_count; n++)
      if (!same_texts(x.enumerators[n].name, y.enumerators[n].name) ||
          x.enumerators[n].value != y.enumerators[n].value)
        return false;
    if (!same_fields(x.fields, y.fields, x.field_count)) return false;
  }
  return true;
}

static inline bool same_field(const recsort_field_desc *a, const recsort_field_desc *b)
{
  return !a || !b ? a == b : same_fields(a, b, 1);
}

static inline bool same_conditions(const recsort_condition_desc *a, const recsort_condition_desc *b)
{
  if (!a || !b) return a == b;
  return same_field(a->field, b->field) && a->alternative_count == b->alternative_count &&
         !a->values == !b->values && !a->texts == !b->texts &&
         (!a->values ||
          same_bytes(a->values, b->values, a->alternative_count, sizeof *a->values)) &&
         (!a->texts || same_bytes(a->texts, b->texts, a->alternative_count, a->field->size)) &&
         a->least == b->least && same_texts(a->line_text, b->line_text) && a->line == b->line &&
         a->column == b->column;
}

static inline bool same_places(const recsort_place_desc *a, const recsort_place_desc *b,
                               size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const recsort_place_desc x = a[i], y = b[i];
    if (x.kind != y.kind || !same_field(x.field, y.field) || !same_texts(x.word, y.word) ||
        x.behind != y.behind || x.unpadded != y.unpadded || x.plus != y.plus || x.unit != y.unit ||
        !same_conditions(x.when, y.when) || x.line != y.line || x.column != y.column)
      return false;
  }
  return true;
}

static inline bool same_keys(const recsort_key_desc *a, const recsort_key_desc *b, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (!same_texts(a[i].path, b[i].path) || a[i].order != b[i].order || a[i].nan != b[i].nan ||
        a[i].line != b[i].line || a[i].column != b[i].column)
      return false;
  return true;
}

static inline bool same_computed(const recsort_computed_desc *a, const recsort_computed_desc *b,
                                 size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const recsort_computed_desc x = a[i], y = b[i];
    if (!same_texts(x.name, y.name) || x.compute != y.compute || x.bits != y.bits ||
        x.coordinate_count != y.coordinate_count || !same_texts(x.parameter, y.parameter) ||
        !x.origin != !y.origin || !x.limit != !y.limit ||
        (x.origin && !same_bytes(x.origin, y.origin, x.coordinate_count, sizeof *x.origin)) ||
        (x.limit && !same_bytes(x.limit, y.limit, x.coordinate_count, sizeof *x.limit)) ||
        x.line != y.line || x.column != y.column)
      return false;
    for (size_t n = 0; n < x.coordinate_count; n++)
      if (!same_texts(x.coordinates[n], y.coordinates[n])) return false;
  }
  return true;
}

static inline bool same_schemas(const recsort_schema_desc *a, const recsort_schema_desc *b)
{
  return same_texts(a->record, b->record) && same_texts(a->source, b->source) &&
         a->endian == b->endian && a->layout == b->layout && a->size == b->size &&
         a->skip == b->skip && a->trailer == b->trailer && a->field_count == b->field_count &&
         same_fields(a->fields, b->fields, a->field_count) && a->key_count == b->key_count &&
         same_keys(a->keys, b->keys, a->key_count) && a->line == b->line &&
         a->column == b->column && a->computed_count == b->computed_count &&
         same_computed(a->computed, b->computed, a->computed_count) && a->count == b->count &&
         a->place_count == b->place_count && same_places(a->places, b->places, a->place_count) &&
         a->pad_to == b->pad_to && a->pad_with == b->pad_with && a->zero_all == b->zero_all &&
         a->repeat == b->repeat;
}

#endif
