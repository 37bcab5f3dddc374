#include "plan/plan.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/bits.h"
#include "base/types.h"
#include "recsort/computed_key.h"

enum { MAX_KEY_BITS = 1 << 24, MAX_ELEMENTS = 1 << 18 };
#define TOO_WIDE "the keys take more than %d bits"
#define TOO_MANY "the keys are arrays of more than %d elements; sort by some of them"

static bool is_string(const recsort_field_desc *field)
{
  return rs_class_of(field->type) == RECSORT_CLASS_BYTES;
}

/* The null values that a key has to know: with TOTAL they are numbers. */
static size_t nulls_of(const recsort_field_desc *field, recsort_nan nan)
{
  return nan == RECSORT_NAN_TOTAL ? 0 : field->null_count;
}

/* A byte string takes a step for each 8 bytes, and so does an integer of 128 bits; one with null
 * values takes an operand for each of them. */
static size_t steps_of_value(const recsort_field_desc *field, recsort_nan nan)
{
  const bool wide = rs_class_of(field->type) == RECSORT_CLASS_WIDE;
  return is_string(field) || wide ? (field->size + 7) / 8 : 1 + nulls_of(field, nan);
}

/* The number of steps of a key; a computed value takes one more than it has coordinates. */
static size_t steps_of(const rs_target *target, recsort_nan nan)
{
  RS_ASSERT(target->computed || target->count > 0);
  if (target->computed) return 1 + target->computed->count;
  return target->count * steps_of_value(target->field, nan);
}

/* The limit is the greatest magnitude that is not a NaN. One more bit makes room for a NaN in
 * formats whose NaN is not above the numbers, or that have no NaN. */
static void plan_float(recsort_key_step *step, const recsort_type_info *type, recsort_nan nan)
{
  const unsigned bits = type->exponent_bits + type->fraction_bits;
  const bool apart = type->nans == RECSORT_NANS_MINUS_0 || type->nans == RECSORT_NANS_NONE;
  RS_ASSERT(1 + bits + apart <= 64);
  step->kind = RECSORT_KEY_FLOAT;
  step->bit = apart;
  step->width = (uint8_t)(1 + bits + apart);
  step->limit = type->nans == RECSORT_NANS_IEEE
                    ? key_mask(type->exponent_bits) << type->fraction_bits
                : type->nans == RECSORT_NANS_ONES ? key_mask(bits) - 1
                                                  : key_mask(bits) << 1;
  if (type->nans == RECSORT_NANS_MINUS_0) step->flags |= RECSORT_KEY_MINUS_0_NAN;
  if (nan == RECSORT_NAN_FIRST) step->flags |= RECSORT_KEY_NAN_FIRST;
  if (nan == RECSORT_NAN_TOTAL) step->flags |= RECSORT_KEY_NAN_TOTAL;
}

/* An enum's code is its distance from its least value. Values above the greatest one are
 * invalid. */
static void plan_enum(recsort_key_step *step, const recsort_field_desc *field)
{
  const uint64_t sign = rs_class_of(field->base) == RECSORT_CLASS_SIGNED ? UINT64_C(1) << 63 : 0;
  uint64_t least = UINT64_MAX, greatest = 0;
  RS_ASSERT(field->enumerator_count > 0);
  for (size_t i = 0; i < field->enumerator_count; i++) {
    const uint64_t value = (uint64_t)field->enumerators[i].value ^ sign;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  RS_ASSERT(least <= greatest);
  step->kind = RECSORT_KEY_OFFSET;
  step->bias = least ^ sign;
  step->limit = greatest - least;
  step->width = (uint8_t)bits_of(step->limit);
}

/* The code of a time is its distance from a time that comes first or second, so that none, the
 * least integer, comes where it should: the difference wraps around. */
static void plan_time(recsort_key_step *step, recsort_order order, recsort_nan nan)
{
  const bool up = (nan == RECSORT_NAN_LAST) == (order == RECSORT_ASCENDING);
  step->kind = nan == RECSORT_NAN_TOTAL ? RECSORT_KEY_SIGNED : RECSORT_KEY_OFFSET;
  if (nan == RECSORT_NAN_TOTAL) return;
  step->bias = (uint64_t)INT64_MIN + up;
  step->limit = UINT64_MAX;
}

/* What inverts the sign of a number of so many bits. */
static uint64_t sign_of(const recsort_type_info *type)
{
  return type->type_class == RECSORT_CLASS_SIGNED ? UINT64_C(1) << (type->bits - 1) : 0;
}

static void plan_integer(recsort_key_step *step, const recsort_field_desc *field, recsort_nan nan)
{
  const recsort_type_info *const type = recsort_type_describe(field->type);
  step->kind = type->type_class == RECSORT_CLASS_SIGNED ? RECSORT_KEY_SIGNED : RECSORT_KEY_UNSIGNED;
  step->width = (uint8_t)type->bits;
  RS_ASSERT(type->bits > 0 && type->bits <= 64);
  if (!nulls_of(field, nan)) return;
  step->kind = RECSORT_KEY_NULLABLE;
  RS_ASSERT(field->null_count <= RECSORT_MOST_NULLS);
  step->bit = (uint8_t)field->null_count;
  step->bias = sign_of(type);
  if (nan == RECSORT_NAN_FIRST) step->flags |= RECSORT_KEY_NAN_FIRST;
}

/* Null value `number` of an integer. */
static recsort_key_step plan_null(const recsort_field_desc *field, size_t number)
{
  const recsort_type_info *const type = recsort_type_describe(field->type);
  RS_ASSERT(number < field->null_count);
  const uint64_t value = (uint64_t)field->nulls[number] ^ sign_of(type);
  return (recsort_key_step){.kind = RECSORT_KEY_OPERAND, .bias = value & key_mask(type->bits)};
}

/* The step of a field that is not a byte string. */
static recsort_key_step plan_scalar(const recsort_field_desc *field, recsort_order order,
                                    recsort_nan nan)
{
  recsort_key_step step = {.bytes = (uint8_t)field->size, .width = (uint8_t)(8 * field->size)};
  RS_ASSERT(field->size > 0 && field->size <= 8);
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
  case RECSORT_CLASS_UNSIGNED:
    plan_integer(&step, field, nan);
    break;
  case RECSORT_CLASS_TIME:
    plan_time(&step, order, nan);
    break;
  case RECSORT_CLASS_BYTES: /* the other classes are not numbers of one step */
  case RECSORT_CLASS_WIDE:
  case RECSORT_CLASS_STRUCT:
  case RECSORT_CLASS_NONE:
    RS_ASSERT(false);
    step.kind = RECSORT_KEY_UNSIGNED;
  }
  return step;
}

/* Bytes [8 * part, ...) of a string, as a big-endian integer. */
static recsort_key_step plan_string(const recsort_field_desc *field, size_t part)
{
  const size_t left = field->size - 8 * part;
  RS_ASSERT(8 * part < field->size);
  const uint8_t bytes = (uint8_t)(left < 8 ? left : 8);
  const bool text = field->type == RECSORT_CSTRING;
  return (recsort_key_step){.kind = text ? RECSORT_KEY_TEXT : RECSORT_KEY_UNSIGNED,
                            .flags = RECSORT_KEY_BIG_ENDIAN,
                            .bytes = bytes,
                            .bit = text && part > 0,
                            .width = (uint8_t)(8 * bytes),
                            .offset = 8 * part};
}

/* The upper half of an integer of 128 bits, or the lower one. */
static recsort_key_step plan_half(const recsort_field_desc *field, bool lower)
{
  const bool is_signed = field->type == RECSORT_INT128 && !lower;
  const bool big = field->endian == RECSORT_BIG_ENDIAN;
  return (recsort_key_step){.kind = is_signed ? RECSORT_KEY_SIGNED : RECSORT_KEY_UNSIGNED,
                            .flags = big ? RECSORT_KEY_BIG_ENDIAN : 0,
                            .bytes = 8,
                            .width = 64,
                            .offset = lower == big ? 8 : 0};
}

/* Step `part` of a value at offset 0. */
static recsort_key_step plan_value(const recsort_field_desc *field, recsort_order order,
                                   recsort_nan nan, size_t part)
{
  if (rs_class_of(field->type) == RECSORT_CLASS_WIDE) return plan_half(field, part != 0);
  if (part > 0 && !is_string(field)) return plan_null(field, part - 1);
  return is_string(field) ? plan_string(field, part) : plan_scalar(field, order, nan);
}

/* ---- Computed values ---- */

/* True if no coordinate is more precise than a float32. */
static bool is_single(const rs_computed *computed)
{
  for (size_t i = 0; i < computed->count; i++) {
    const recsort_type_info *const type =
        recsort_type_describe(computed->coordinates[i].field->type);
    if (type->type_class != RECSORT_CLASS_FLOAT || type->size > sizeof(float)) return false;
  }
  return true;
}

static recsort_key_step plan_sum(const rs_computed *computed, recsort_nan nan)
{
  recsort_key_step step = {.width = is_single(computed) ? 32 : 64};
  plan_float(&step, recsort_type_describe(step.width == 32 ? RECSORT_FLOAT32 : RECSORT_FLOAT64),
             nan);
  step.kind = computed->compute == RECSORT_DOT ? RECSORT_KEY_DOT : RECSORT_KEY_DISTANCE;
  return step;
}

static recsort_key_step plan_curve(const rs_computed *computed, recsort_nan nan)
{
  const bool morton = computed->compute == RECSORT_MORTON;
  RS_ASSERT(computed->bits > 0 && computed->count * computed->bits <= 64);
  return (recsort_key_step){.kind = morton ? RECSORT_KEY_MORTON : RECSORT_KEY_HILBERT,
                            .flags = nan == RECSORT_NAN_FIRST ? RECSORT_KEY_NAN_FIRST : 0,
                            .width = (uint8_t)(computed->count * computed->bits)};
}

/* Coordinate `i` as an operand. */
static recsort_key_step plan_operand(const rs_computed *computed, size_t i)
{
  RS_ASSERT(i < computed->count);
  const recsort_field_desc *const field = computed->coordinates[i].field;
  recsort_key_step step = plan_scalar(field, RECSORT_ASCENDING, RECSORT_NAN_LAST);
  step.bit = (uint8_t)step.kind;
  step.kind = RECSORT_KEY_OPERAND;
  step.width = 0;
  step.shift = recsort_type_describe(field->type)->fraction_bits;
  step.bias = key_double_bits(computed->origin[i]);
  step.limit = key_double_bits(computed->scale[i]);
  return step;
}

/* ---- Keys ---- */

/* Step `i` of a key. */
static recsort_key_step plan_step(const rs_target *target, recsort_order order, recsort_nan nan,
                                  size_t i)
{
  const rs_computed *const computed = target->computed;
  recsort_key_step step;
  if (computed && i > 0) {
    step = plan_operand(computed, i - 1);
    step.offset = computed->coordinates[i - 1].offset;
  } else if (computed) {
    step = rs_is_curve(computed->compute) ? plan_curve(computed, nan) : plan_sum(computed, nan);
    step.bit = (uint8_t)computed->count;
  } else {
    const size_t each = steps_of_value(target->field, nan);
    RS_ASSERT(each > 0);
    step = plan_value(target->field, order, nan, i % each);
    step.offset += target->offset + i / each * target->field->size;
  }
  return step;
}

/* Fills in the steps of one key. Returns their number, and adds up their bits. */
static size_t plan_key(const rs_target *target, recsort_order order, recsort_nan nan, size_t number,
                       recsort_key_step *steps, uint64_t *bits)
{
  const size_t count = steps_of(target, nan);
  RS_ASSERT(count > 0);
  for (size_t i = 0; i < count; i++) {
    steps[i] = plan_step(target, order, nan, i);
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
    if (steps[i].kind == RECSORT_KEY_OPERAND) continue;
    steps[i].shift = shift;
    shift += steps[i].width;
  }
}

/* A copy of a field that outlives its schema, for recsort_sorter_get_key. */
static recsort_field_desc *copy_field(rs_arena *arena, const recsort_field_desc *field)
{
  recsort_field_desc *copy = rs_arena_array(arena, 1, sizeof *copy);
  if (!copy) return NULL;
  *copy = *field;
  copy->name = rs_arena_text(arena, field->name);
  if (field->scale && !(copy->scale = rs_arena_text(arena, field->scale))) return NULL;
  if (field->bit_base && !(copy->bit_base = rs_arena_text(arena, field->bit_base))) return NULL;
  const size_t count = field->enumerator_count;
  recsort_enumerator *values = rs_arena_array(arena, count, sizeof *values);
  if (!copy->name || !values) return NULL;
  for (size_t i = 0; i < count; i++) {
    values[i].value = field->enumerators[i].value;
    values[i].name = rs_arena_text(arena, field->enumerators[i].name);
    if (!values[i].name) return NULL;
  }
  copy->enumerators = values;
  if (!field->null_count) return copy;
  int64_t *const nulls = rs_arena_array(arena, field->null_count, sizeof *nulls);
  if (!nulls) return NULL;
  memcpy(nulls, field->nulls, field->null_count * sizeof *nulls);
  copy->nulls = nulls;
  return copy;
}

/* Finds the field of every key and counts the steps. */
static recsort_status find_targets(const recsort_schema *schema, const recsort_key_desc *keys,
                                   const char *source, rs_plan *plan, rs_target *targets,
                                   size_t *step_count, recsort_error *error)
{
  size_t elements = 0;
  *step_count = 0;
  for (size_t i = 0; i < plan->key_count; i++) {
    const recsort_status status = rs_layout_find(schema, &keys[i], source, &targets[i], error);
    if (status) return status;
    *step_count += steps_of(&targets[i], keys[i].nan);
    if (targets[i].count > 1) elements += targets[i].count;
    if (elements > MAX_ELEMENTS) return rs_fail(error, RECSORT_INVALID_KEY, TOO_MANY, MAX_ELEMENTS);
    /* all but the last step of a value take 64 bits */
    if (*step_count > MAX_KEY_BITS / 64 + plan->key_count + elements)
      return rs_fail(error, RECSORT_INVALID_KEY, TOO_WIDE, MAX_KEY_BITS);
  }
  return RECSORT_OK;
}

/* Keys that name elements of one array share a copy of its field. */
static const recsort_field_desc *field_of(rs_arena *arena, const rs_target *targets,
                                          const recsort_key_info *keys, size_t number)
{
  if (!targets[number].field) return NULL;
  for (size_t i = 0; i < number; i++)
    if (targets[i].field == targets[number].field) return keys[i].field;
  return copy_field(arena, targets[number].field);
}

static bool describe_key(rs_arena *arena, const recsort_key_desc *key,
                         const recsort_field_desc *field, recsort_order order,
                         recsort_key_info *info)
{
  info->path = rs_arena_text(arena, key->path);
  info->field = field;
  info->order = order;
  info->nan = key->nan;
  return info->path;
}

/* Lists the key's parameter, if it has one. */
static bool add_parameter(rs_arena *arena, const rs_target *target, recsort_key_step *steps,
                          rs_plan *plan)
{
  if (!target->computed || !target->computed->parameter) return true;
  const char *const name = rs_arena_text(arena, target->computed->parameter);
  RS_ASSERT(plan->parameter_count < plan->key_count);
  plan->parameters[plan->parameter_count++] =
      (rs_parameter){.name = name, .operands = steps + 1, .count = target->computed->count};
  return name;
}

recsort_status rs_plan_create(const recsort_schema *schema, const recsort_key_desc *keys,
                              size_t key_count, bool reverse, rs_arena *arena, rs_plan *plan,
                              recsort_error *error)
{
  const bool own = key_count == 0;
  rs_plan made = {.key_count = own ? schema->desc.key_count : key_count};
  size_t step_count = 0, next = 0;
  uint64_t bits = 0;
  if (own) keys = schema->desc.keys;
  if (made.key_count == 0)
    return rs_fail_at(error, RECSORT_INVALID_KEY, (rs_place){.source = schema->desc.source},
                      "record \"%s\" has no keys to sort by; add \"keys:\" to the schema or name "
                      "one of its fields",
                      schema->desc.record);

  rs_target *targets = rs_arena_array(arena, made.key_count, sizeof *targets);
  made.keys = rs_arena_array(arena, made.key_count, sizeof *made.keys);
  made.parameters = rs_arena_array(arena, made.key_count, sizeof *made.parameters);
  if (!targets || !made.keys || !made.parameters)
    return rs_fail_memory(error, made.key_count * sizeof *targets);
  const recsort_status status = find_targets(schema, keys, own ? schema->desc.source : NULL, &made,
                                             targets, &step_count, error);
  if (status) return status;
  recsort_key_step *steps = rs_arena_array(arena, step_count, sizeof *steps);
  if (!steps) return rs_fail_memory(error, step_count * sizeof *steps);

  for (size_t i = 0; i < made.key_count; i++) {
    const recsort_order order =
        (keys[i].order == RECSORT_DESCENDING) != reverse ? RECSORT_DESCENDING : RECSORT_ASCENDING;
    const uint64_t before = bits;
    if (!add_parameter(arena, &targets[i], steps + next, &made))
      return rs_fail_memory(error, sizeof *targets);
    next += plan_key(&targets[i], order, keys[i].nan, i, steps + next, &bits);
    made.keys[i].bits = (unsigned)(bits - before);
    const recsort_field_desc *const field = field_of(arena, targets, made.keys, i);
    if ((targets[i].field && !field) || !describe_key(arena, &keys[i], field, order, &made.keys[i]))
      return rs_fail_memory(error, sizeof *targets);
    if (bits > MAX_KEY_BITS) return rs_fail(error, RECSORT_INVALID_KEY, TOO_WIDE, MAX_KEY_BITS);
  }
  RS_ASSERT(next == step_count);
  place_steps(steps, step_count);
  for (size_t i = made.key_count, shift = 0; i-- > 0;) {
    made.keys[i].shift = (unsigned)shift;
    RS_ASSERT(shift + made.keys[i].bits <= bits);
    shift += made.keys[i].bits;
  }
  made.program = (recsort_key_program){.size = sizeof made.program,
                                       .step_count = (uint32_t)step_count,
                                       .steps = steps,
                                       .record_size = schema->desc.size,
                                       .key_bits = (uint32_t)(bits ? bits : 1),
                                       .key_width = rs_width_for(bits)};
  RS_ASSERT(made.program.key_bits <= made.program.key_width);
  made.key_bits = made.program.key_bits;
  made.key_width = made.program.key_width;
  if (!rs_plan_note_fields(schema, arena, &made)) return rs_fail_memory(error, sizeof *made.fields);
  *plan = made;
  return RECSORT_OK;
}

/* ---- Parameters ---- */

/* Refuses a name that no key has, and another number of values than a key takes. */
static recsort_status check_parameter(const rs_plan *plan, const char *name, size_t count,
                                      recsort_error *error)
{
  bool found = false;
  for (size_t i = 0; i < plan->parameter_count; i++) {
    const rs_parameter *const each = &plan->parameters[i];
    if (strcmp(each->name, name) != 0) continue;
    found = true;
    if (each->count != count)
      return rs_fail(error, RECSORT_INVALID_ARGUMENT, "parameter \"%.64s\" has %zu values, not %zu",
                     name, each->count, count);
  }
  if (!found)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "no key has a parameter \"%.64s\"", name);
  return RECSORT_OK;
}

/* Gives the operands the values, or the addresses of values in memory of a device. */
static void set_operands(rs_plan *plan, const char *name, const double *values, size_t count,
                         bool addresses)
{
  for (size_t i = 0; i < plan->parameter_count; i++) {
    rs_parameter *const each = &plan->parameters[i];
    if (strcmp(each->name, name) != 0) continue;
    RS_ASSERT(each->count == count);
    for (size_t v = 0; v < count; v++) {
      recsort_key_step *const operand = &each->operands[v];
      operand->bias = addresses ? (uintptr_t)(values + v) : key_double_bits(values[v]);
      operand->flags = (uint16_t)((operand->flags & ~RECSORT_KEY_POINT_AT) |
                                  (addresses ? RECSORT_KEY_POINT_AT : 0));
    }
    each->is_set = true;
  }
}

recsort_status rs_plan_set_parameter(rs_plan *plan, const char *name, const double *values,
                                     size_t count, recsort_error *error)
{
  const recsort_status status = check_parameter(plan, name, count, error);
  if (status) return status;
  for (size_t v = 0; v < count; v++)
    if (!isfinite(values[v]))
      return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                     "value %zu of parameter \"%.64s\" is not a finite number", v, name);
  set_operands(plan, name, values, count, false);
  return RECSORT_OK;
}

recsort_status rs_plan_bind_parameter(rs_plan *plan, const char *name, const double *values,
                                      size_t count, recsort_error *error)
{
  const recsort_status status = check_parameter(plan, name, count, error);
  if (status) return status;
  if ((uintptr_t)values % sizeof *values)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "the values of parameter \"%.64s\" are not aligned to 8 bytes", name);
  set_operands(plan, name, values, count, true);
  return RECSORT_OK;
}

recsort_status rs_plan_check_parameters(const rs_plan *plan, recsort_error *error)
{
  for (size_t i = 0; i < plan->parameter_count; i++)
    if (!plan->parameters[i].is_set)
      return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                     "parameter \"%.64s\" of the keys has no values; set it first",
                     plan->parameters[i].name);
  return RECSORT_OK;
}
