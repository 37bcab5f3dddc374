/* computed.c - checks the values that a schema computes from coordinates, and finds these. */
#include "base/assert.h"
#include "layout/layout.h"

#include <math.h>
#include <string.h>

#include "base/types.h"
#include "schema/words.h"

/* A description that is being read. */
typedef struct reading {
  const recsort_computed_desc *desc;
  const recsort_schema *schema;
  rs_arena *arena;
  recsort_error *error;
} reading;

#define REFUSE(reading, ...)                                                                       \
  rs_fail_at(                                                                                      \
      (reading)->error, RECSORT_INVALID_KEY,                                                       \
      (rs_place){(reading)->schema->desc.source, (reading)->desc->line, (reading)->desc->column},  \
      __VA_ARGS__)
/* The subject of a message, for "%.*s". */
#define NAME(reading) RS_SHOWN((reading)->desc->name)

static bool is_curve(const reading *r)
{
  return rs_is_curve(r->desc->compute);
}

/* What the coordinates are computed with, if they are on no curve. */
static const char *point_word(const reading *r)
{
  return r->desc->compute == RECSORT_DOT ? "vector" : "point";
}

static recsort_status check_name(const reading *r)
{
  const char *const name = r->desc->name;
  if (!name) return REFUSE(r, "a computed value has no name");
  const char *why = rs_name_trouble(name, false);
  for (size_t i = 0; !why && i < r->schema->desc.field_count; i++)
    if (strcmp(r->schema->desc.fields[i].name, name) == 0) why = "a field has that name";
  for (size_t i = 0; !why && i < r->schema->computed_count; i++)
    if (strcmp(r->schema->computed[i].name, name) == 0)
      why = "it is computed already; leave the later one out";
  return why ? REFUSE(r, "key \"%.*s\": %s", NAME(r), why) : RECSORT_OK;
}

static recsort_status check_counts(const reading *r)
{
  const recsort_computed_desc *const desc = r->desc;
  const size_t count = desc->coordinate_count, least = is_curve(r) ? 2 : 1;
  if (desc->compute < RECSORT_DISTANCE || desc->compute > RECSORT_DOT)
    return REFUSE(r, "key \"%.*s\": it is not a recsort_compute", NAME(r));
  if (count < least || count > RECSORT_MOST_COORDINATES || !desc->coordinates)
    return REFUSE(r, "key \"%.*s\": it takes %zu to %d fields, not %zu", NAME(r), least,
                  RECSORT_MOST_COORDINATES, count);
  if (is_curve(r) && (desc->bits == 0 || desc->bits > 64 / count))
    return REFUSE(r, "key \"%.*s\": bits is %u; for %zu fields it is 1 to %zu", NAME(r), desc->bits,
                  count, 64 / count);
  if (is_curve(r) && (!desc->origin || !desc->limit))
    return REFUSE(r, "key \"%.*s\": its grid needs a min and a max", NAME(r));
  if (!is_curve(r) && !desc->parameter == !desc->origin)
    return REFUSE(r, "key \"%.*s\": its %s needs a name or coordinates", NAME(r), point_word(r));
  return RECSORT_OK;
}

static recsort_status find_coordinate(const reading *r, const char *path, rs_target *target)
{
  const recsort_key_desc key = {.path = path, .line = r->desc->line, .column = r->desc->column};
  const recsort_status status =
      rs_layout_find(r->schema, &key, r->schema->desc.source, target, r->error);
  if (status) return status;
  if (target->computed)
    return REFUSE(r, "key \"%.*s\": %.*s is computed itself; coordinates are fields", NAME(r),
                  RS_SHOWN(path));
  if (target->count > 1)
    return REFUSE(r, "key \"%.*s\": %.*s is an array of %zu; say which element", NAME(r),
                  RS_SHOWN(target->field->name), target->count);
  const recsort_type type = target->field->type;
  const recsort_type_info *const info = recsort_type_describe(type);
  const bool is_float = info->type_class == RECSORT_CLASS_FLOAT;
  if (!is_float && !rs_type_is_integer(type))
    return REFUSE(r, "key \"%.*s\": %.*s is %s, not an integer or a float", NAME(r),
                  RS_SHOWN(target->field->name), recsort_type_describe(type)->name);
  if (is_float ? info->nans != RECSORT_NANS_IEEE : !rs_type_fills_bytes(type))
    return REFUSE(
        r, "key \"%.*s\": %.*s is %s, which no coordinate can be; convert it to int8 or float32",
        NAME(r), RS_SHOWN(target->field->name), recsort_type_describe(type)->name);
  if (target->field->null_count)
    return REFUSE(r, "key \"%.*s\": %.*s has null values, which are no coordinates", NAME(r),
                  RS_SHOWN(target->field->name));
  return RECSORT_OK;
}

/* The cells of a unit along a coordinate of a grid. */
static recsort_status find_scale(const reading *r, size_t i, double *scale)
{
  const double least = r->desc->origin[i], greatest = r->desc->limit[i];
  const char *const path = r->desc->coordinates[i];
  RS_ASSERT(is_curve(r) && r->desc->bits > 0 && r->desc->bits <= 32);
  *scale = (double)(UINT64_C(1) << r->desc->bits) / (greatest - least);
  if (!(greatest > least))
    return REFUSE(r, "key \"%.*s\": the max of %.*s is not greater than its min", NAME(r),
                  RS_SHOWN(path));
  if (isfinite(greatest - least) && isfinite(*scale) && *scale > 0) return RECSORT_OK;
  return REFUSE(r, "key \"%.*s\": the min and max of %.*s are too far apart or too close", NAME(r),
                RS_SHOWN(path));
}

static recsort_status read_coordinates(const reading *r, rs_computed *computed)
{
  const recsort_computed_desc *const desc = r->desc;
  RS_ASSERT(computed->count > 0 && computed->count <= RECSORT_MOST_COORDINATES);
  for (size_t i = 0; i < computed->count; i++) {
    if (!desc->coordinates[i]) return REFUSE(r, "key \"%.*s\": a field has no path", NAME(r));
    recsort_status status = find_coordinate(r, desc->coordinates[i], &computed->coordinates[i]);
    if (!status && desc->origin) {
      computed->origin[i] = desc->origin[i];
      if (!isfinite(desc->origin[i]))
        status = REFUSE(r, "key \"%.*s\": the %s%s of %.*s is not a finite number", NAME(r),
                        is_curve(r) ? "min" : point_word(r), is_curve(r) ? "" : "'s coordinate",
                        RS_SHOWN(desc->coordinates[i]));
    }
    if (!status && is_curve(r)) {
      computed->limit[i] = desc->limit[i];
      status = find_scale(r, i, &computed->scale[i]);
    }
    if (status) return status;
    computed->paths[i] = rs_arena_text(r->arena, desc->coordinates[i]);
    if (!computed->paths[i]) return rs_fail_memory(r->error, strlen(desc->coordinates[i]));
  }
  return RECSORT_OK;
}

static recsort_status read_computed(const reading *r, rs_computed *computed)
{
  const recsort_computed_desc *const desc = r->desc;
  recsort_status status = check_name(r);
  if (!status) status = check_counts(r);
  if (status) return status;
  *computed = (rs_computed){.compute = desc->compute,
                            .bits = desc->bits,
                            .count = desc->coordinate_count,
                            .name = rs_arena_text(r->arena, desc->name)};
  if (desc->parameter && !is_curve(r)) {
    const char *const why = rs_name_trouble(desc->parameter, false);
    if (why)
      return REFUSE(r, "key \"%.*s\": the name of its %s is not one: %s", NAME(r), point_word(r),
                    why);
    computed->parameter = rs_arena_text(r->arena, desc->parameter);
  }
  if (!computed->name || (desc->parameter && !is_curve(r) && !computed->parameter))
    return rs_fail_memory(r->error, sizeof *computed);
  return read_coordinates(r, computed);
}

static recsort_computed_desc describe(const recsort_computed_desc *desc,
                                      const rs_computed *computed)
{
  RS_ASSERT(computed->count == desc->coordinate_count);
  return (recsort_computed_desc){.name = computed->name,
                                 .compute = computed->compute,
                                 .bits = computed->bits,
                                 .coordinates = computed->paths,
                                 .coordinate_count = computed->count,
                                 .parameter = computed->parameter,
                                 .origin = computed->parameter ? NULL : computed->origin,
                                 .limit = rs_is_curve(desc->compute) ? computed->limit : NULL,
                                 .line = desc->line,
                                 .column = desc->column};
}

recsort_status rs_layout_compute(const recsort_schema_desc *desc, recsort_schema *schema,
                                 recsort_error *error)
{
  const size_t count = desc->computed_count;
  schema->desc.computed = NULL;
  if (count == 0) return RECSORT_OK;
  if (!desc->computed)
    return rs_fail_at(error, RECSORT_INVALID_SCHEMA, (rs_place){.source = schema->desc.source},
                      "the record's computed values are missing");
  rs_computed *const made = rs_arena_array(&schema->arena, count, sizeof *made);
  recsort_computed_desc *const descs = rs_arena_array(&schema->arena, count, sizeof *descs);
  if (!made || !descs) return rs_fail_memory(error, count * sizeof *made);
  recsort_status status = RECSORT_OK;
  schema->computed = made;
  schema->desc.computed = descs;
  for (size_t i = 0; !status && i < count; i++) {
    const reading r = {&desc->computed[i], schema, &schema->arena, error};
    status = read_computed(&r, &made[i]);
    if (!status) descs[i] = describe(r.desc, &made[i]);
    schema->computed_count += !status;
  }
  RS_ASSERT(status || schema->computed_count == count);
  return status;
}
