#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/checked.h"
#include "base/types.h"
#include "schema/parse.h"
#include "schema/words.h"

/* The size and alignment of a struct. */
typedef struct extent {
  size_t size;
  size_t alignment;
} extent;

typedef struct builder {
  const recsort_schema_desc *desc;
  rs_zero_offset zero;
  rs_arena *arena;
  recsort_error *error;
} builder;

/* A struct that is being laid out: turns `descs` into `fields`. */
typedef struct frame {
  const recsort_field_desc *descs;
  recsort_field_desc *fields;
  size_t count;
  recsort_endian endian;
  unsigned depth; /* 1: the record */
  extent extent;  /* extent of the fields so far */
} frame;

#define REFUSE(builder, desc, ...)                                                                 \
  rs_fail_at((builder)->error, RECSORT_INVALID_SCHEMA, place_of(builder, desc),                    \
             "field \"%.*s\": " __VA_ARGS__)

static rs_place place_of(const builder *b, const recsort_field_desc *desc)
{
  return (rs_place){b->desc->source, desc->line, desc->column};
}

/* True if a field has an offset though the layout computes offsets. */
static bool has_offset(const builder *b, const recsort_field_desc *desc)
{
  return desc->offset != RECSORT_NO_OFFSET && (desc->offset || b->zero == RS_ZERO_GIVEN);
}

/* ---- Names ---------------------------------------------------------------------------------- */

typedef struct named {
  const char *name;
  size_t index;
} named;

static int by_name(const void *a, const void *b)
{
  const named *x = a, *y = b;
  const int order = strcmp(x->name, y->name);
  return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

/* The index of the first name that repeats an earlier one, or `count`. Sorts `names`. */
static size_t find_twin(named *names, size_t count)
{
  size_t twin = count;
  qsort(names, count, sizeof *names, by_name);
  for (size_t i = 1; i < count; i++)
    if (strcmp(names[i].name, names[i - 1].name) == 0 && names[i].index < twin)
      twin = names[i].index;
  return twin;
}

static recsort_status check_names(const builder *b, const frame *f)
{
  named *names = rs_arena_array(b->arena, f->count, sizeof *names);
  if (!names) return rs_fail_memory(b->error, f->count);
  for (size_t i = 0; i < f->count; i++) {
    const recsort_field_desc *desc = &f->descs[i];
    if (!desc->name) return REFUSE(b, desc, "it has no name", RS_SHOWN(""));
    const char *why = rs_name_trouble(desc->name, true);
    if (why) return REFUSE(b, desc, "%s", RS_SHOWN(desc->name), why);
    names[i] = (named){desc->name, i};
  }
  const size_t twin = find_twin(names, f->count);
  if (twin == f->count) return RECSORT_OK;
  return REFUSE(b, &f->descs[twin], "another field of this struct has that name",
                RS_SHOWN(f->descs[twin].name));
}

/* ---- Types ---------------------------------------------------------------------------------- */

/* Copies the names of an enum's values. Several names may stand for one value. */
static recsort_status lay_enumerators(const builder *b, const recsort_field_desc *desc,
                                      recsort_field_desc *field)
{
  const size_t count = desc->enumerator_count;
  if (!rs_type_fills_bytes(desc->base))
    return REFUSE(b, desc, "the base of an enum must be an integer type of whole bytes",
                  RS_SHOWN(desc->name));
  if (count == 0 || !desc->enumerators)
    return REFUSE(b, desc, "an enum needs at least one name in values", RS_SHOWN(desc->name));
  recsort_enumerator *copies = rs_arena_array(b->arena, count, sizeof *copies);
  named *names = rs_arena_array(b->arena, count, sizeof *names);
  if (!copies || !names) return rs_fail_memory(b->error, count * sizeof *copies);
  for (size_t i = 0; i < count; i++) {
    const recsort_enumerator *from = &desc->enumerators[i];
    const char *why = from->name ? rs_name_trouble(from->name, false) : "a value has no name";
    if (why) return REFUSE(b, desc, "values: %s", RS_SHOWN(desc->name), why);
    if (!rs_type_holds(desc->base, from->value))
      return REFUSE(b, desc, "value \"%.*s\" = %lld does not fit %s", RS_SHOWN(desc->name),
                    RS_SHOWN(from->name), (long long)from->value,
                    recsort_type_describe(desc->base)->name);
    names[i] = (named){from->name, i};
    copies[i] = (recsort_enumerator){rs_arena_text(b->arena, from->name), from->value};
    if (!copies[i].name) return rs_fail_memory(b->error, strlen(from->name));
  }
  const size_t twin = find_twin(names, count);
  if (twin < count)
    return REFUSE(b, desc, "value \"%.*s\" is named twice", RS_SHOWN(desc->name),
                  RS_SHOWN(copies[twin].name));
  field->base = desc->base;
  field->enumerators = copies;
  field->enumerator_count = count;
  return RECSORT_OK;
}

static const recsort_field_desc *find_earlier(const frame *f, size_t end, const char *name)
{
  RS_ASSERT(end < f->count);
  for (size_t i = 0; i < end; i++)
    if (strcmp(f->fields[i].name, name) == 0) return &f->fields[i];
  return NULL;
}

static recsort_status refuse_bit_base(const builder *b, const frame *f, size_t at)
{
  const recsort_field_desc *desc = &f->descs[at];
  rs_guess guess = {.word = desc->bit_base};
  for (size_t i = 0; i < at; i++)
    if (rs_type_fills_bytes(f->fields[i].type)) rs_guess_offer(&guess, f->fields[i].name);
  return REFUSE(b, desc, "its base \"%.*s\" is not an earlier field of this struct%s%.*s%s",
                RS_SHOWN(desc->name), RS_SHOWN(desc->bit_base),
                guess.nearest ? "; did you mean " : "",
                RS_SHOWN(guess.nearest ? guess.nearest : ""), guess.nearest ? "?" : "");
}

static recsort_status check_bits_free(const builder *b, const frame *f, size_t at,
                                      const recsort_field_desc *base)
{
  const recsort_field_desc *desc = &f->descs[at];
  RS_ASSERT(base >= f->fields && base < f->fields + at);
  for (const recsort_field_desc *other = base + 1; other < f->fields + at; other++) {
    if (other->type != RECSORT_BITFIELD || other->offset != base->offset) continue;
    if (strcmp(f->descs[other - f->fields].bit_base, base->name) != 0) continue;
    if (desc->bit < other->bit + other->width && other->bit < desc->bit + desc->width)
      return REFUSE(b, desc, "its bits overlap those of \"%.*s\"", RS_SHOWN(desc->name),
                    RS_SHOWN(other->name));
  }
  return RECSORT_OK;
}

static recsort_status lay_bitfield(const builder *b, const frame *f, size_t at)
{
  const recsort_field_desc *desc = &f->descs[at];
  if (!desc->bit_base) return REFUSE(b, desc, "a bitfield needs a base", RS_SHOWN(desc->name));
  const recsort_field_desc *base = find_earlier(f, at, desc->bit_base);
  if (!base) return refuse_bit_base(b, f, at);
  if (desc->count || (has_offset(b, desc) && desc->offset != base->offset) ||
      (desc->endian && desc->endian != base->endian) || (desc->size && desc->size != base->size))
    return REFUSE(b, desc, "a bitfield takes count, size, offset and endian from its base",
                  RS_SHOWN(desc->name));
  if (!rs_type_fills_bytes(base->type) || base->count)
    return REFUSE(b, desc, "its base \"%.*s\" must be a single integer of whole bytes",
                  RS_SHOWN(desc->name), RS_SHOWN(base->name));
  const uint64_t bits = 8 * base->size;
  if (desc->width == 0 || (uint64_t)desc->bit + desc->width > bits)
    return REFUSE(b, desc, "bit %u and width %u lie outside the %u bits of \"%.*s\"",
                  RS_SHOWN(desc->name), desc->bit, desc->width, (unsigned)bits,
                  RS_SHOWN(base->name));
  RS_ASSERT(at < f->count && base < f->fields + at);
  recsort_field_desc *field = &f->fields[at];
  field->bit_base = base->name;
  field->base = base->type;
  field->endian = base->endian;
  field->offset = base->offset;
  field->size = base->size;
  field->bit = desc->bit;
  field->width = desc->width;
  return check_bits_free(b, f, at, base);
}

static recsort_status lay_struct(const builder *b, frame *f);

/* Lays out the fields of a struct field, and finds the extent of one element. */
static recsort_status lay_nested(const builder *b, const frame *f, const recsort_field_desc *desc,
                                 recsort_field_desc *field, extent *element)
{
  frame inner = {.descs = desc->fields,
                 .count = desc->field_count,
                 .endian = field->endian,
                 .depth = f->depth + 1};
  if (inner.depth > RS_SCHEMA_MAX_DEPTH)
    return REFUSE(b, desc, "fields are nested deeper than %d", RS_SHOWN(desc->name),
                  RS_SCHEMA_MAX_DEPTH);
  if (inner.count == 0 || !inner.descs)
    return REFUSE(b, desc, "a struct needs fields", RS_SHOWN(desc->name));
  const recsort_status status = lay_struct(b, &inner);
  if (status) return status;
  field->fields = inner.fields;
  field->field_count = inner.count;
  *element = inner.extent;
  RS_ASSERT(element->size > 0 && element->alignment > 0);
  return RECSORT_OK;
}

/* True if a text is a decimal greater than 0, within the limits that recsort_field_desc gives. */
static bool is_scale(const char *text)
{
  enum { MOST_DIGITS = 18, MOST_EXPONENT = 18 };
  size_t digits = 0, points = 0;
  bool positive = false;
  for (; (*text >= '0' && *text <= '9') || *text == '.'; text++) {
    points += *text == '.';
    digits += *text != '.';
    positive = positive || (*text != '.' && *text != '0');
  }
  if (!positive || digits > MOST_DIGITS || points > 1) return false;
  if (*text != 'e') return *text == '\0';
  text += 1 + (text[1] == '-' || text[1] == '+');
  const size_t length = strspn(text, "0123456789");
  return length > 0 && length <= 2 && !text[length] && atoi(text) <= MOST_EXPONENT;
}

static recsort_status lay_scale(const builder *b, const recsort_field_desc *desc,
                                recsort_field_desc *field)
{
  if (!rs_type_is_integer(desc->type) || !desc->scale) return RECSORT_OK;
  if (!is_scale(desc->scale))
    return REFUSE(
        b, desc,
        "scale \"%.*s\" is not a decimal greater than 0, such as 0.01 or 1e-7, of at most "
        "18 digits with an exponent from -18 to 18",
        RS_SHOWN(desc->name), RS_SHOWN(desc->scale));
  field->scale = rs_arena_text(b->arena, desc->scale);
  return field->scale ? RECSORT_OK : rs_fail_memory(b->error, strlen(desc->scale));
}

static int by_value(const void *a, const void *b)
{
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int by_unsigned_value(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Copies the null values of an integer, in ascending order. */
static recsort_status lay_nulls(const builder *b, const recsort_field_desc *desc,
                                recsort_field_desc *field)
{
  const size_t count = desc->null_count;
  const bool is_signed = rs_class_of(desc->type) == RECSORT_CLASS_SIGNED;
  if (!count) return RECSORT_OK;
  if (!rs_type_is_integer(desc->type))
    return REFUSE(b, desc, "null is for integers of at most 64 bits", RS_SHOWN(desc->name));
  if (count > RECSORT_MOST_NULLS || !desc->nulls)
    return REFUSE(b, desc, "it has %zu null values; 1 to %d are allowed", RS_SHOWN(desc->name),
                  desc->nulls ? count : 0, RECSORT_MOST_NULLS);
  int64_t *const nulls = rs_arena_array(b->arena, count, sizeof *nulls);
  if (!nulls) return rs_fail_memory(b->error, count * sizeof *nulls);
  for (size_t i = 0; i < count; i++) {
    nulls[i] = desc->nulls[i];
    if (!rs_type_holds(desc->type, nulls[i]))
      return REFUSE(b, desc, "null %lld does not fit %s", RS_SHOWN(desc->name), (long long)nulls[i],
                    recsort_type_describe(desc->type)->name);
  }
  qsort(nulls, count, sizeof *nulls, is_signed ? by_value : by_unsigned_value);
  for (size_t i = 1; i < count; i++)
    if (nulls[i] == nulls[i - 1])
      return REFUSE(b, desc, "null has the same value twice; leave one out", RS_SHOWN(desc->name));
  field->nulls = nulls;
  field->null_count = count;
  return RECSORT_OK;
}

/* Lays out a field except for its offset. `element` becomes the extent of one element. */
static recsort_status lay_type(const builder *b, const frame *f, const recsort_field_desc *desc,
                               recsort_field_desc *field, extent *element)
{
  const recsort_type_info *type = recsort_type_describe(desc->type);
  field->endian = desc->endian ? desc->endian : f->endian;
  field->count = desc->count;
  switch (type->type_class) {
  case RECSORT_CLASS_STRUCT:
    return lay_nested(b, f, desc, field, element);
  case RECSORT_CLASS_ENUM:
    type = recsort_type_describe(desc->base);
    *element = (extent){type->size, type->alignment};
    return lay_enumerators(b, desc, field);
  case RECSORT_CLASS_BYTES:
    *element = (extent){type->size, type->alignment};
    if (type->size) return RECSORT_OK;
    element->size = desc->size ? desc->size : 1;
    if (!desc->count) return RECSORT_OK;
    return REFUSE(b, desc, "its length is size, not count; there are no arrays of %s",
                  RS_SHOWN(desc->name), type->name);
  case RECSORT_CLASS_BOOL:
  case RECSORT_CLASS_SIGNED:
  case RECSORT_CLASS_UNSIGNED:
  case RECSORT_CLASS_FLOAT:
  case RECSORT_CLASS_WIDE:
  case RECSORT_CLASS_TIME:
  case RECSORT_CLASS_BITFIELD:
  case RECSORT_CLASS_NONE:
    *element = (extent){type->size, type->alignment};
  }
  RS_ASSERT(element->size > 0 && element->alignment > 0);
  return RECSORT_OK;
}

/* ---- Offsets --------------------------------------------------------------------------------- */

/* Finds the offset of the next field by the rules of the layout. */
static recsort_status find_offset(const builder *b, const frame *f, const recsort_field_desc *desc,
                                  size_t alignment, size_t *offset)
{
  const recsort_layout layout = b->desc->layout;
  const bool given = has_offset(b, desc);
  RS_ASSERT(alignment > 0 && (alignment & (alignment - 1)) == 0);
  if (layout == RECSORT_LAYOUT_EXPLICIT) {
    if (desc->offset == RECSORT_NO_OFFSET)
      return REFUSE(b, desc, "layout explicit wants an offset for every field",
                    RS_SHOWN(desc->name));
    *offset = desc->offset;
    return RECSORT_OK;
  }
  const size_t end = f->extent.size,
               place = layout == RECSORT_LAYOUT_C ? rs_round_up(end, alignment) : end;
  if (given && desc->offset != place)
    return REFUSE(b, desc, "offset %zu does not agree with layout %s, which puts it at %zu",
                  RS_SHOWN(desc->name), desc->offset, layout == RECSORT_LAYOUT_C ? "c" : "packed",
                  place);
  *offset = place;
  return RECSORT_OK;
}

static recsort_status place_field(const builder *b, frame *f, const recsort_field_desc *desc,
                                  extent element, recsort_field_desc *field)
{
  size_t offset = 0;
  RS_ASSERT(element.size > 0);
  const recsort_status status = find_offset(b, f, desc, element.alignment, &offset);
  if (status) return status;
  const size_t end = rs_sum(offset, rs_product(element.size, field->count ? field->count : 1));
  if (end > RS_RECORD_MAX_BYTES)
    return REFUSE(b, desc, "it ends beyond the %d bytes that a record may have",
                  RS_SHOWN(desc->name), RS_RECORD_MAX_BYTES);
  if (desc->size && desc->size != element.size)
    return REFUSE(b, desc, "size %zu is given, but it takes %zu bytes", RS_SHOWN(desc->name),
                  desc->size, element.size);
  field->offset = offset;
  field->size = element.size;
  if (end > f->extent.size) f->extent.size = end;
  if (element.alignment > f->extent.alignment) f->extent.alignment = element.alignment;
  return RECSORT_OK;
}

static int by_offset(const void *a, const void *b)
{
  const recsort_field_desc *x = *(const recsort_field_desc *const *)a,
                           *y = *(const recsort_field_desc *const *)b;
  if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* Given offsets may overlap; computed ones cannot. */
static recsort_status check_overlaps(const builder *b, const frame *f)
{
  size_t count = 0;
  const recsort_field_desc **sorted = rs_arena_array(b->arena, f->count, sizeof *sorted);
  if (!sorted) return rs_fail_memory(b->error, f->count * sizeof *sorted);
  for (size_t i = 0; i < f->count; i++)
    if (f->fields[i].type != RECSORT_BITFIELD) sorted[count++] = &f->fields[i];
  RS_ASSERT(count <= f->count);
  qsort(sorted, count, sizeof *sorted, by_offset);
  for (size_t i = 1; i < count; i++) {
    const recsort_field_desc *before = sorted[i - 1], *field = sorted[i];
    const size_t end = before->offset + before->size * (before->count ? before->count : 1);
    if (field->offset < end)
      return REFUSE(b, &f->descs[field - f->fields],
                    "at offset %zu it overlaps field \"%.*s\", which ends at %zu",
                    RS_SHOWN(field->name), field->offset, RS_SHOWN(before->name), end);
  }
  return RECSORT_OK;
}

static recsort_status check_desc(const builder *b, const recsort_field_desc *desc)
{
  if (!rs_is_type(desc->type))
    return REFUSE(b, desc, "its type is not a recsort_type", RS_SHOWN(desc->name));
  if (desc->endian < RECSORT_ENDIAN_DEFAULT || desc->endian > RECSORT_BIG_ENDIAN)
    return REFUSE(b, desc, "its endian is not a recsort_endian", RS_SHOWN(desc->name));
  if (desc->count > RS_RECORD_MAX_BYTES)
    return REFUSE(b, desc, "count %zu is more than the %d bytes that a record may have",
                  RS_SHOWN(desc->name), desc->count, RS_RECORD_MAX_BYTES);
  return RECSORT_OK;
}

static recsort_status lay_field(const builder *b, frame *f, size_t at)
{
  const recsort_field_desc *desc = &f->descs[at];
  RS_ASSERT(at < f->count);
  recsort_field_desc *field = &f->fields[at];
  extent element = {0};
  recsort_status status = check_desc(b, desc);
  if (status) return status;
  field->name = rs_arena_text(b->arena, desc->name);
  if (!field->name) return rs_fail_memory(b->error, strlen(desc->name));
  field->type = desc->type;
  field->line = desc->line;
  field->column = desc->column;
  status = lay_scale(b, desc, field);
  if (!status) status = lay_nulls(b, desc, field);
  if (status) return status;
  if (desc->type == RECSORT_BITFIELD) return lay_bitfield(b, f, at);
  status = lay_type(b, f, desc, field, &element);
  return status ? status : place_field(b, f, desc, element, field);
}

static recsort_status lay_struct(const builder *b, frame *f)
{
  RS_ASSERT(f->count > 0 && f->depth <= RS_SCHEMA_MAX_DEPTH);
  f->extent = (extent){0, 1};
  f->fields = rs_arena_array(b->arena, f->count, sizeof *f->fields);
  if (!f->fields) return rs_fail_memory(b->error, f->count * sizeof *f->fields);
  recsort_status status = check_names(b, f);
  for (size_t i = 0; !status && i < f->count; i++)
    status = lay_field(b, f, i);
  if (!status && b->desc->layout == RECSORT_LAYOUT_EXPLICIT) status = check_overlaps(b, f);
  if (!status && b->desc->layout == RECSORT_LAYOUT_C)
    f->extent.size = rs_round_up(f->extent.size, f->extent.alignment);
  RS_ASSERT(status || f->extent.size > 0);
  return status;
}

/* ---- The record ------------------------------------------------------------------------------ */

static recsort_status check_record(const builder *b)
{
  const recsort_schema_desc *d = b->desc;
  const rs_place place = {d->source, 0, 0};
  const char *why = d->record ? rs_name_trouble(d->record, false) : "the record has no name";
  if (why) return rs_fail_at(b->error, RECSORT_INVALID_SCHEMA, place, "record: %s", why);
  if (d->endian < RECSORT_ENDIAN_DEFAULT || d->endian > RECSORT_BIG_ENDIAN)
    why = "the record's endian is not a recsort_endian";
  else if (d->layout < RECSORT_LAYOUT_C || d->layout > RECSORT_LAYOUT_EXPLICIT)
    why = "the record's layout is not a recsort_layout";
  else if (d->field_count == 0 || !d->fields)
    why = "the record has no fields";
  else if (d->key_count && !d->keys)
    why = "the record's keys are missing";
  if (!why) return RECSORT_OK;
  return rs_fail_at(b->error, RECSORT_INVALID_SCHEMA, place, "%s", why);
}

/* The size of the record: that of its fields, or the declared one. */
static recsort_status find_size(const builder *b, size_t laid_out, size_t *size)
{
  const recsort_schema_desc *d = b->desc;
  const rs_place place = {d->source, d->line, d->column};
  if (d->size && d->size < laid_out)
    return rs_fail_at(b->error, RECSORT_INVALID_SCHEMA, place,
                      "size %llu is less than the %zu bytes that the fields take",
                      (unsigned long long)d->size, laid_out);
  *size = d->size ? (size_t)d->size : laid_out;
  if (d->size <= RS_RECORD_MAX_BYTES && laid_out <= RS_RECORD_MAX_BYTES) return RECSORT_OK;
  return rs_fail_at(b->error, RECSORT_INVALID_SCHEMA, place,
                    "size %zu is more than the %d bytes that a record may have", *size,
                    RS_RECORD_MAX_BYTES);
}

static recsort_status copy_keys(const builder *b, recsort_schema *schema)
{
  const size_t count = b->desc->key_count;
  recsort_key_desc *keys = rs_arena_array(b->arena, count, sizeof *keys);
  named *paths = rs_arena_array(b->arena, count, sizeof *paths);
  if (!keys || !paths) return rs_fail_memory(b->error, count * sizeof *keys);
  for (size_t i = 0; i < count; i++) {
    const recsort_key_desc *const key = &b->desc->keys[i];
    rs_target target;
    const recsort_status status =
        rs_layout_find(schema, key, schema->desc.source, &target, b->error);
    if (status) return status;
    keys[i] = *key;
    keys[i].path = rs_arena_text(b->arena, key->path);
    if (!keys[i].path) return rs_fail_memory(b->error, strlen(key->path));
    paths[i] = (named){keys[i].path, i};
  }
  const size_t twin = find_twin(paths, count); /* a path has one spelling only */
  if (twin < count)
    return rs_fail_at(b->error, RECSORT_INVALID_KEY,
                      (rs_place){schema->desc.source, keys[twin].line, keys[twin].column},
                      "key \"%.*s\": it is a key already; leave the later one out",
                      RS_SHOWN(keys[twin].path));
  schema->desc.keys = keys;
  return RECSORT_OK;
}

static recsort_status copy_texts(const builder *b, recsort_schema *schema)
{
  const char *source = b->desc->source;
  schema->desc.record = rs_arena_text(b->arena, b->desc->record);
  schema->desc.source = source ? rs_arena_text(b->arena, source) : NULL;
  if (!schema->desc.record || (source && !schema->desc.source))
    return rs_fail_memory(b->error, strlen(b->desc->record));
  return RECSORT_OK;
}

recsort_status rs_layout_create(const recsort_schema_desc *desc, rs_zero_offset zero,
                                recsort_schema *schema, recsort_error *error)
{
  const builder b = {desc, zero, &schema->arena, error};
  frame record = {.descs = desc->fields,
                  .count = desc->field_count,
                  .endian = desc->endian ? desc->endian : RECSORT_LITTLE_ENDIAN,
                  .depth = 1};
  schema->desc = *desc; /* what it points to is replaced below */
  schema->desc.endian = record.endian;
  recsort_status status = check_record(&b);
  if (!status) status = lay_struct(&b, &record);
  if (!status) status = find_size(&b, record.extent.size, &schema->desc.size);
  if (!status) status = copy_texts(&b, schema);
  if (status) return status;
  schema->fields_size = record.extent.size;
  RS_ASSERT(schema->fields_size <= schema->desc.size);
  schema->desc.fields = record.fields;
  status = rs_layout_file(desc, schema, error);
  if (!status) status = rs_layout_compute(desc, schema, error);
  return status ? status : copy_keys(&b, schema);
}
