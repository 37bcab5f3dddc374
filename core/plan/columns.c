/* columns.c - fields in arrays of their own: says for each step of the key program where its bytes
 * are. */
#include <string.h>

#include "base/assert.h"
#include "base/checked.h"
#include "plan/plan.h"

bool rs_plan_note_fields(const recsort_schema *schema, rs_arena *arena, rs_plan *plan)
{
  plan->fields = rs_arena_array(arena, schema->desc.field_count, sizeof *plan->fields);
  plan->places = rs_arena_array(arena, plan->program.step_count, sizeof *plan->places);
  if (!plan->fields || !plan->places) return false;
  for (size_t i = 0; i < schema->desc.field_count; i++) {
    const recsort_field_desc *const field = &schema->desc.fields[i];
    const bool bitfield = field->type == RECSORT_BITFIELD;
    rs_extent *const extent = &plan->fields[plan->field_count++];
    extent->name = rs_arena_text(arena, field->name);
    extent->offset = field->offset;
    extent->size = bitfield ? 0 : field->size * (field->count ? field->count : 1);
    if (!extent->name) return false;
  }
  RS_ASSERT(plan->field_count <= schema->desc.field_count);
  return true;
}

static const rs_extent *find_named(const rs_plan *plan, const char *name)
{
  for (size_t i = 0; i < plan->field_count; i++)
    if (strcmp(plan->fields[i].name, name) == 0) return &plan->fields[i];
  return NULL;
}

static bool has(const rs_extent *field, const recsort_key_step *step)
{
  return step->offset - field->offset < field->size;
}

/* True if the step reads the record; one that is computed has operands that do. */
static bool reads(const recsort_key_step *step)
{
  return step->bytes > 0;
}

static recsort_status check_column(const recsort_column *column, const rs_extent *field,
                                   size_t number, size_t count, recsort_error *error)
{
  if (!field)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "column %zu: no field of the record is \"%.64s\"", number,
                   column->name ? column->name : "");
  if (field->size == 0)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "column %zu: \"%.64s\" is a bitfield; name the field that holds its bits",
                   number, field->name);
  if (!column->data && count)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "column %zu, \"%.64s\": data must not be NULL",
                   number, field->name);
  if (column->stride && column->stride < field->size)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "column %zu, \"%.64s\": the stride is %zu, but the field has %zu bytes", number,
                   field->name, column->stride, (size_t)field->size);
  if (rs_product(count, column->stride ? column->stride : (size_t)field->size) == SIZE_MAX)
    return rs_fail_memory(error, SIZE_MAX);
  return RECSORT_OK;
}

/* Sets the places of all steps that read the field. */
static void place_field(rs_plan *plan, const recsort_column *column, const rs_extent *field)
{
  const uint64_t stride = column->stride ? column->stride : field->size;
  RS_ASSERT(field->size > 0 && stride >= field->size);
  for (uint32_t s = 0; s < plan->program.step_count; s++) {
    const recsort_key_step *const step = &plan->program.steps[s];
    if (reads(step) && has(field, step))
      plan->places[s] = (recsort_key_column){
          (void *)((uintptr_t)column->data + (uintptr_t)(step->offset - field->offset)), stride};
  }
}

static recsort_status check_places(const rs_plan *plan, recsort_error *error)
{
  for (uint32_t s = 0; s < plan->program.step_count; s++) {
    const recsort_key_step *const step = &plan->program.steps[s];
    if (!reads(step) || plan->places[s].stride) continue;
    const rs_extent *field = plan->fields;
    while (!has(field, step))
      field++;
    RS_ASSERT(field < plan->fields + plan->field_count);
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "the keys need the field \"%.64s\", which has no column", field->name);
  }
  return RECSORT_OK;
}

recsort_status rs_plan_set_columns(rs_plan *plan, const recsort_column *columns,
                                   size_t column_count, size_t count, recsort_error *error)
{
  RS_ASSERT(plan->places);
  memset(plan->places, 0, plan->program.step_count * sizeof *plan->places);
  for (size_t c = 0; c < column_count; c++) {
    const rs_extent *const field = columns[c].name ? find_named(plan, columns[c].name) : NULL;
    const recsort_status status = check_column(&columns[c], field, c, count, error);
    if (status) return status;
    for (size_t before = 0; before < c; before++)
      if (strcmp(columns[before].name, field->name) == 0)
        return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                       "columns %zu and %zu are both the field \"%.64s\"", before, c, field->name);
    place_field(plan, &columns[c], field);
  }
  const recsort_status status = check_places(plan, error);
  if (status == RECSORT_OK) plan->program.columns = plan->places;
  return status;
}

bool rs_plan_reads(const rs_plan *plan, size_t count, const void *memory, size_t size)
{
  RS_ASSERT(plan->program.columns);
  for (uint32_t s = 0; s < plan->program.step_count && count > 0; s++) {
    const recsort_key_column *const place = &plan->program.columns[s];
    const uint64_t bytes = (count - 1) * place->stride + plan->program.steps[s].bytes;
    if (rs_overlap(place->data, (size_t)bytes, memory, size)) return true;
  }
  return false;
}

uint64_t rs_plan_columns_mark(const rs_plan *plan)
{
  const recsort_key_column *const columns = plan->program.columns;
  uint64_t mark = 0; /* as a polynomial of all addresses and strides, at an odd number */
  for (uint32_t s = 0; columns && s < plan->program.step_count; s++) {
    mark = (mark + (uintptr_t)columns[s].data + 1) * UINT64_C(0x9e3779b97f4a7c15);
    mark = (mark + columns[s].stride + 1) * UINT64_C(0xbf58476d1ce4e5b9);
  }
  return mark;
}
