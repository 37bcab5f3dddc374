#include "plan/plan.h"

#include <assert.h>

#include "base/types.h"

enum { MAX_KEY_BITS = 1 << 24 };
#define TOO_WIDE "the keys take more than %d bits"

static unsigned bits_of(uint64_t value)
{
  return value ? 64u - (unsigned)__builtin_clzll(value) : 0;
}

static bool is_string(const recsort_field *field)
{
  return rs_class_of(field->type) == RECSORT_CLASS_BYTES;
}

/* The number of steps of a field: a byte string takes one for each 8 bytes. */
static size_t steps_of(const recsort_field *field)
{
  return is_string(field) ? (field->size + 7) / 8 : 1;
}

/* The limit is infinity: a greater magnitude is a NaN. */
static void plan_float(recsort_key_step *step, const recsort_type_info *type, recsort_nan nan)
{
  step->kind = RECSORT_KEY_FLOAT;
  step->limit = ((UINT64_C(1) << type->exponent_bits) - 1) << type->fraction_bits;
  if (nan == RECSORT_NAN_FIRST) step->flags |= RECSORT_KEY_NAN_FIRST;
  if (nan == RECSORT_NAN_TOTAL) step->flags |= RECSORT_KEY_NAN_TOTAL;
}

/* An enum's code is its distance from its least value. Values above the greatest one are
 * invalid. */
static void plan_enum(recsort_key_step *step, const recsort_field *field)
{
  const uint64_t sign = rs_class_of(field->base) == RECSORT_CLASS_SIGNED ? UINT64_C(1) << 63 : 0;
  uint64_t least = UINT64_MAX, greatest = 0;
  assert(field->enumerator_count > 0);
  for (size_t i = 0; i < field->enumerator_count; i++) {
    const uint64_t value = (uint64_t)field->enumerators[i].value ^ sign;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  step->kind = RECSORT_KEY_OFFSET;
  step->bias = least ^ sign;
  step->limit = greatest - least;
  step->width = (uint8_t)bits_of(step->limit);
}

/* The step of a field that is not a byte string. */
static recsort_key_step plan_scalar(const recsort_field *field, recsort_nan nan)
{
  recsort_key_step step = {.bytes = (uint8_t)field->size, .width = (uint8_t)(8 * field->size)};
  if (field->endian == RECSORT_BIG_ENDIAN) step.flags |= RECSORT_KEY_BIG_ENDIAN;
  switch (rs_class_of(field->type)) {
  case RECSORT_CLASS_BOOL:
    step.kind = RECSORT_KEY_BOOL;
    step.width = 1;
    break;
  case RECSORT_CLASS_FLOAT:
    plan_float(&step, recsort_type_describe(field->type), nan);
    break;
  case RECSORT_CLASS_ENUM:
    plan_enum(&step, field);
    break;
  case RECSORT_CLASS_BITFIELD:
    step.kind = RECSORT_KEY_UNSIGNED;
    step.bit = (uint8_t)field->bit;
    step.width = (uint8_t)field->width;
    break;
  case RECSORT_CLASS_SIGNED:
    step.kind = RECSORT_KEY_SIGNED;
    break;
  case RECSORT_CLASS_UNSIGNED:
  case RECSORT_CLASS_BYTES: /* the other classes are not numbers */
  case RECSORT_CLASS_STRUCT:
  case RECSORT_CLASS_NONE:
    step.kind = RECSORT_KEY_UNSIGNED;
  }
  return step;
}

/* Bytes [8 * part, ...) of a string, as a big-endian integer. */
static recsort_key_step plan_string(const recsort_field *field, size_t part)
{
  const size_t left = field->size - 8 * part;
  const uint8_t bytes = (uint8_t)(left < 8 ? left : 8);
  return (recsort_key_step){.kind = RECSORT_KEY_UNSIGNED,
                            .flags = RECSORT_KEY_BIG_ENDIAN,
                            .bytes = bytes,
                            .width = (uint8_t)(8 * bytes)};
}

/* Fills in the steps of one key. Returns their number, and adds up their bits. */
static size_t plan_key(const rs_target *target, recsort_order order, recsort_nan nan, size_t number,
                       recsort_key_step *steps, uint64_t *bits)
{
  const recsort_field *field = target->field;
  const bool string = is_string(field);
  const size_t count = steps_of(field);
  for (size_t i = 0; i < count; i++) {
    steps[i] = string ? plan_string(field, i) : plan_scalar(field, nan);
    steps[i].offset = target->offset + 8 * i;
    steps[i].key = (uint32_t)number;
    if (order == RECSORT_DESCENDING) steps[i].flags |= RECSORT_KEY_DESCENDING;
    *bits += steps[i].width;
  }
  return count;
}

/* Assigns bits to the steps; the last one ends at bit 0. */
static void place_steps(recsort_key_step *steps, size_t count)
{
  uint32_t shift = 0;
  for (size_t i = count; i-- > 0;) {
    steps[i].shift = shift;
    shift += steps[i].width;
  }
}

static uint32_t width_for(uint64_t bits)
{
  if (bits <= 32) return 32;
  return (uint32_t)((bits + 63) / 64 * 64);
}

/* A copy of a field that outlives its schema, for recsort_sorter_get_key. */
static recsort_field *copy_field(rs_arena *arena, const recsort_field *field)
{
  recsort_field *copy = rs_arena_array(arena, 1, sizeof *copy);
  if (!copy) return NULL;
  *copy = *field;
  copy->name = rs_arena_text(arena, field->name);
  recsort_enumerator *values = rs_arena_array(arena, field->enumerator_count, sizeof *values);
  if (!copy->name || !values) return NULL;
  for (size_t i = 0; i < field->enumerator_count; i++) {
    values[i].value = field->enumerators[i].value;
    values[i].name = rs_arena_text(arena, field->enumerators[i].name);
    if (!values[i].name) return NULL;
  }
  copy->enumerators = values;
  return copy;
}

/* Finds the field of every key and counts the steps. */
static recsort_status find_targets(const recsort_schema *schema, const recsort_key_desc *keys,
                                   const char *source, rs_plan *plan, rs_target *targets,
                                   size_t *step_count, recsort_error *error)
{
  *step_count = 0;
  for (size_t i = 0; i < plan->key_count; i++) {
    const recsort_status status = rs_layout_find(schema, &keys[i], source, &targets[i], error);
    if (status) return status;
    *step_count += steps_of(targets[i].field);
    /* all but the last step of a key take 64 bits */
    if (*step_count > MAX_KEY_BITS / 64 + plan->key_count)
      return rs_fail(error, RECSORT_INVALID_KEY, TOO_WIDE, MAX_KEY_BITS);
  }
  return RECSORT_OK;
}

/* Keys that name elements of one array share a copy of its field. */
static const recsort_field *field_of(rs_arena *arena, const rs_target *targets,
                                     const recsort_key_info *keys, size_t number)
{
  for (size_t i = 0; i < number; i++)
    if (targets[i].field == targets[number].field) return keys[i].field;
  return copy_field(arena, targets[number].field);
}

static bool describe_key(rs_arena *arena, const recsort_key_desc *key, const recsort_field *field,
                         recsort_order order, recsort_key_info *info)
{
  info->path = rs_arena_text(arena, key->path);
  info->field = field;
  info->order = order;
  info->nan = key->nan;
  return info->path && info->field;
}

recsort_status rs_plan_create(const recsort_schema *schema, const recsort_key_desc *keys,
                              size_t key_count, bool reverse, rs_arena *arena, rs_plan *plan,
                              recsort_error *error)
{
  const bool own = key_count == 0;
  rs_plan made = {.key_count = own ? schema->key_count : key_count};
  size_t step_count = 0, next = 0;
  uint64_t bits = 0;
  if (own) keys = schema->keys;
  if (made.key_count == 0)
    return rs_fail_at(error, RECSORT_INVALID_KEY, (rs_place){.source = schema->source},
                      "record \"%s\" has no keys to sort by; add \"keys:\" to the schema or name "
                      "one of its fields",
                      schema->record);

  rs_target *targets = rs_arena_array(arena, made.key_count, sizeof *targets);
  made.keys = rs_arena_array(arena, made.key_count, sizeof *made.keys);
  if (!targets || !made.keys) return rs_fail_memory(error, made.key_count * sizeof *targets);
  const recsort_status status =
      find_targets(schema, keys, own ? schema->source : NULL, &made, targets, &step_count, error);
  if (status) return status;
  recsort_key_step *steps = rs_arena_array(arena, step_count, sizeof *steps);
  if (!steps) return rs_fail_memory(error, step_count * sizeof *steps);

  for (size_t i = 0; i < made.key_count; i++) {
    const recsort_order order =
        (keys[i].order == RECSORT_DESCENDING) != reverse ? RECSORT_DESCENDING : RECSORT_ASCENDING;
    const uint64_t before = bits;
    next += plan_key(&targets[i], order, keys[i].nan, i, steps + next, &bits);
    made.keys[i].bits = (unsigned)(bits - before);
    const recsort_field *const field = field_of(arena, targets, made.keys, i);
    if (!describe_key(arena, &keys[i], field, order, &made.keys[i]))
      return rs_fail_memory(error, sizeof *targets);
    if (bits > MAX_KEY_BITS) return rs_fail(error, RECSORT_INVALID_KEY, TOO_WIDE, MAX_KEY_BITS);
  }
  assert(next == step_count);
  place_steps(steps, step_count);
  for (size_t i = made.key_count, shift = 0; i-- > 0;) {
    made.keys[i].shift = (unsigned)shift;
    shift += made.keys[i].bits;
  }
  made.program = (recsort_key_program){.size = sizeof made.program,
                                       .step_count = (uint32_t)step_count,
                                       .steps = steps,
                                       .record_size = schema->record_size,
                                       .key_bits = (uint32_t)(bits ? bits : 1),
                                       .key_width = width_for(bits)};
  *plan = made;
  return RECSORT_OK;
}
