#include "schema/parse.h"

#include <string.h>

#include "base/assert.h"
#include "schema/compute.h"
#include "schema/places.h"
#include "schema/values.h"
#include "schema/words.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static recsort_status check_name(const rs_reader *reader, const rs_subject *subject,
                                 const rs_text *name, bool in_paths)
{
  const char *why = rs_name_trouble(name->value, in_paths);
  return why ? rs_refuse(reader, name->place, subject, "%s", why) : RECSORT_OK;
}

/* ---- Enumerators ---------------------------------------------------------------------------- */

/* They are kept as text until their type is known, which may be declared after them. */
typedef struct enumerator_text {
  rs_text name;
  rs_text value;
} enumerator_text;

typedef struct enumerator_list {
  const rs_subject *subject;
  enumerator_text *items;
  size_t count;
} enumerator_list;

static recsort_status read_enumerator(rs_reader *reader, void *context)
{
  enumerator_list *list = context;
  enumerator_text item = {0};
  recsort_status status;
  if (rs_reader_at_text(reader)) {
    status = rs_read_text(reader, list->subject, "name", &item.name);
  } else {
    const rs_place place = rs_reader_place(reader);
    rs_slot slots[] = {{.word = "name", .text = &item.name},
                       {.word = "value", .text = &item.value}};
    status = rs_read_mapping(reader, list->subject, slots, LENGTH(slots));
    if (!status && !item.name.value)
      status = rs_refuse(reader, place, list->subject,
                         "a value without a name; say {name: ..., value: ...}");
  }
  if (status) return status;
  enumerator_text *items = rs_reader_grow(reader, list->items, list->count, sizeof *items);
  if (!items) return RECSORT_OUT_OF_MEMORY;
  list->items = items;
  items[list->count++] = item;
  return RECSORT_OK;
}

/* The value of one name: the given one, or one more than that of the name before it. */
static recsort_status number_enumerator(const rs_reader *reader, const rs_subject *subject,
                                        const enumerator_text *text, recsort_type base,
                                        const int64_t *previous, int64_t *value)
{
  if (text->value.value)
    return rs_read_integer(reader, subject, "value", &text->value, base, value);
  const int64_t last = base == RECSORT_UINT64 ? -1 : INT64_MAX; /* the greatest of 64 bits */
  *value = previous ? (int64_t)((uint64_t)*previous + 1) : 0;
  if (previous && (*previous == last || !rs_type_holds(base, *value)))
    return rs_refuse_value(reader, subject, "name", &text->name,
                           "follows the largest value of the base type; give it one");
  return RECSORT_OK;
}

static recsort_status number_enumerators(const rs_reader *reader, const rs_subject *subject,
                                         const enumerator_list *list, recsort_field_desc *field)
{
  RS_ASSERT(rs_type_fills_bytes(field->base));
  recsort_enumerator *values = rs_reader_memory(reader, list->count, sizeof *values);
  if (!values) return RECSORT_OUT_OF_MEMORY;
  for (size_t i = 0; i < list->count; i++) {
    const enumerator_text *text = &list->items[i];
    recsort_status status = check_name(reader, subject, &text->name, false);
    if (!status)
      status = number_enumerator(reader, subject, text, field->base,
                                 i ? &values[i - 1].value : NULL, &values[i].value);
    if (status) return status;
    values[i].name = text->name.value;
  }
  field->enumerators = values;
  field->enumerator_count = list->count;
  return RECSORT_OK;
}

/* ---- Null values ---------------------------------------------------------------------------- */

/* They are kept as text until their type is known. */
typedef struct null_list {
  const rs_subject *subject;
  rs_text *items;
  size_t count;
} null_list;

static recsort_status read_null(rs_reader *reader, void *context)
{
  null_list *const list = context;
  rs_text item = {0};
  const recsort_status status = rs_read_text(reader, list->subject, "null", &item);
  if (status) return status;
  rs_text *const items = rs_reader_grow(reader, list->items, list->count, sizeof *items);
  if (!items) return RECSORT_OUT_OF_MEMORY;
  list->items = items;
  items[list->count++] = item;
  return RECSORT_OK;
}

/* One value, or a list of them. */
static recsort_status read_nulls(rs_reader *reader, void *context)
{
  const null_list *const list = context;
  if (!rs_reader_at_list(reader)) return read_null(reader, context);
  const rs_place place = rs_reader_place(reader);
  const recsort_status status = rs_read_list(reader, list->subject, "null", read_null, context);
  if (status || list->count) return status;
  return rs_refuse(reader, place, list->subject, "null is an empty list; leave it out");
}

static recsort_status judge_nulls(const rs_reader *reader, const rs_subject *subject,
                                  const null_list *list, recsort_field_desc *field)
{
  if (!list->count) return RECSORT_OK;
  int64_t *const values = rs_reader_memory(reader, list->count, sizeof *values);
  if (!values) return RECSORT_OUT_OF_MEMORY;
  for (size_t i = 0; i < list->count; i++) {
    const recsort_status status =
        rs_read_integer(reader, subject, "null", &list->items[i], field->type, &values[i]);
    if (status) return status;
  }
  field->nulls = values;
  field->null_count = list->count;
  return RECSORT_OK;
}

/* ---- Fields --------------------------------------------------------------------------------- */

typedef struct field_list {
  const rs_subject *owner; /* the struct; NULL: the record */
  unsigned depth;
  recsort_field_desc *items;
  size_t count;
} field_list;

enum { NAME, TYPE, COUNT, OFFSET, ENDIAN, BASE, BIT, WIDTH, SCALE, NULLS, VALUES, FIELDS, WORDS };

/* The text of a field. Its words may come in any order, so they are checked after the last one. */
typedef struct field_text {
  rs_subject subject;
  rs_text text[WORDS];
  null_list nulls;
  enumerator_list values;
  field_list fields;
} field_text;

/* Refuses words that do not apply to this type of field, and fields that lack a word. */
static recsort_status check_words(const rs_reader *reader, const field_text *field,
                                  recsort_type type, const rs_slot *slots)
{
  static const unsigned for_enum = 1u << BASE | 1u << VALUES;
  static const unsigned for_bits = 1u << BASE | 1u << BIT | 1u << WIDTH;
  static const unsigned for_any = 1u << NAME | 1u << TYPE;
  static const unsigned for_room = 1u << COUNT | 1u << OFFSET | 1u << ENDIAN;
  const unsigned allowed = for_any | (type == RECSORT_BITFIELD ? for_bits : for_room) |
                           (type == RECSORT_ENUM ? for_enum : 0) |
                           (rs_type_is_integer(type) ? 1u << SCALE | 1u << NULLS : 0) |
                           (type == RECSORT_STRUCT ? 1u << FIELDS : 0);
  const unsigned wanted = type == RECSORT_ENUM       ? 1u << VALUES
                          : type == RECSORT_STRUCT   ? 1u << FIELDS
                          : type == RECSORT_BITFIELD ? 1u << BASE | 1u << BIT
                                                     : 0;
  for (unsigned i = 0; i < WORDS; i++) {
    const bool given = slots[i].place.line;
    if (given && !(allowed >> i & 1))
      return rs_refuse(reader, slots[i].place, &field->subject, "%s does not go with type %s",
                       slots[i].word, recsort_type_describe(type)->name);
    if (!given && (wanted >> i & 1))
      return rs_refuse(reader, field->text[TYPE].place, &field->subject, "type %s needs %s",
                       recsort_type_describe(type)->name, slots[i].word);
  }
  return RECSORT_OK;
}

static recsort_status read_enum(const rs_reader *reader, const field_text *field,
                                recsort_field_desc *desc)
{
  rs_type_word base = {.type = RECSORT_INT32};
  const rs_text *text = &field->text[BASE];
  recsort_status status = RECSORT_OK;
  if (text->value) status = rs_read_type(reader, &field->subject, "base", text, &base);
  if (status) return status;
  if (!rs_type_fills_bytes(base.type))
    return rs_refuse_value(reader, &field->subject, "base", text,
                           rs_type_is_integer(base.type) ? "is not of whole bytes; say uint8"
                                                         : "is not an integer type; say uint8");
  status = rs_combine_endian(reader, &field->subject, "base", text, base.endian, &desc->endian);
  if (status) return status;
  desc->base = base.type;
  return number_enumerators(reader, &field->subject, &field->values, desc);
}

static recsort_status read_bits(const rs_reader *reader, const field_text *field,
                                recsort_field_desc *desc)
{
  uint64_t bit = 0, width = 1;
  const rs_text *text = field->text;
  recsort_status status = rs_read_number(reader, &field->subject, "bit", &text[BIT], &bit);
  if (!status) status = rs_read_positive(reader, &field->subject, "width", &text[WIDTH], &width);
  if (status) return status;
  if (bit > 63) return rs_refuse_value(reader, &field->subject, "bit", &text[BIT], "is beyond 63");
  if (width > 64)
    return rs_refuse_value(reader, &field->subject, "width", &text[WIDTH], "is beyond 64");
  desc->bit_base = text[BASE].value;
  desc->bit = (uint32_t)bit;
  desc->width = (uint32_t)width;
  return RECSORT_OK;
}

/* Turns the text of a field into its description. */
static recsort_status judge_field(const rs_reader *reader, const field_text *field,
                                  const rs_slot *slots, recsort_field_desc *desc)
{
  const rs_text *text = field->text;
  const rs_subject *subject = &field->subject;
  rs_type_word type;
  recsort_status status = rs_read_type(reader, subject, "type", &text[TYPE], &type);
  if (status) return status;
  *desc = (recsort_field_desc){.name = text[NAME].value,
                               .type = type.type,
                               .offset = RECSORT_NO_OFFSET,
                               .scale = text[SCALE].value,
                               .fields = field->fields.items,
                               .field_count = field->fields.count,
                               .line = text[NAME].place.line,
                               .column = text[NAME].place.column};
  status = check_words(reader, field, type.type, slots);
  if (!status) status = rs_read_endian(reader, subject, &text[ENDIAN], &desc->endian);
  if (!status)
    status =
        rs_combine_endian(reader, &field->subject, "type", &text[TYPE], type.endian, &desc->endian);
  if (!status) status = rs_read_count(reader, subject, &text[COUNT], type.count, desc);
  if (!status) status = rs_read_offset(reader, subject, &text[OFFSET], desc);
  if (!status) status = judge_nulls(reader, subject, &field->nulls, desc);
  if (!status && type.type == RECSORT_ENUM) status = read_enum(reader, field, desc);
  if (!status && type.type == RECSORT_BITFIELD) status = read_bits(reader, field, desc);
  return status;
}

static recsort_status read_field(rs_reader *reader, void *context)
{
  field_list *list = context;
  const rs_place place = rs_reader_place(reader);
  field_text field = {.subject = {"field", &field.text[NAME]}};
  field.values.subject = &field.subject;
  field.nulls.subject = &field.subject;
  field.fields = (field_list){.owner = &field.subject, .depth = list->depth + 1};
  rs_slot slots[WORDS] = {
      [NAME] = {.word = "name"},
      [TYPE] = {.word = "type"},
      [COUNT] = {.word = "count"},
      [OFFSET] = {.word = "offset"},
      [ENDIAN] = {.word = "endian"},
      [BASE] = {.word = "base"},
      [BIT] = {.word = "bit"},
      [WIDTH] = {.word = "width"},
      [SCALE] = {.word = "scale"},
      [NULLS] = {.word = "null", .node = read_nulls, .list = &field.nulls},
      [VALUES] = {.word = "values", .item = read_enumerator, .list = &field.values},
      [FIELDS] = {.word = "fields", .item = read_field, .list = &field.fields},
  };
  for (unsigned i = 0; i < NULLS; i++)
    slots[i].text = &field.text[i];
  RS_ASSERT(list->depth > 0);
  if (list->depth > RS_SCHEMA_MAX_DEPTH)
    return rs_refuse(reader, place, list->owner, "fields are nested deeper than %d",
                     RS_SCHEMA_MAX_DEPTH);
  recsort_status status = rs_read_mapping(reader, &field.subject, slots, WORDS);
  if (status) return status;
  for (unsigned i = NAME; i <= TYPE; i++)
    if (!field.text[i].value)
      return rs_refuse(reader, place, &field.subject, "it has no %s; say {name: x, type: int32}",
                       slots[i].word);
  recsort_field_desc *items = rs_reader_grow(reader, list->items, list->count, sizeof *items);
  if (!items) return RECSORT_OUT_OF_MEMORY;
  list->items = items;
  status = judge_field(reader, &field, slots, &items[list->count]);
  list->count += !status;
  return status;
}

/* ---- Keys ----------------------------------------------------------------------------------- */

typedef struct key_list {
  recsort_key_desc *items;
  size_t count;
  recsort_computed_desc *computed; /* what some of them are computed from */
  size_t computed_count;
} key_list;

/* A key has a field, or what it is computed from. */
enum { DISTANCE, DOT, MORTON, HILBERT, COMPUTINGS };

/* Adds the computed value of a key, if it has one; its name is the key's path. */
static recsort_status add_computed(const rs_reader *reader, key_list *list, rs_place place,
                                   const rs_computing *computings, rs_text *path)
{
  size_t given = path->value != NULL;
  const recsort_computed_desc *found = NULL;
  for (size_t i = 0; i < COMPUTINGS; i++) {
    if (!computings[i].desc.name) continue;
    found = &computings[i].desc;
    given++;
  }
  if (given > 1)
    return rs_refuse(reader, place, NULL,
                     "a key is one of field, distance, dot, morton and hilbert");
  if (!found) return RECSORT_OK;
  recsort_computed_desc *const items =
      rs_reader_grow(reader, list->computed, list->computed_count, sizeof *items);
  if (!items) return RECSORT_OUT_OF_MEMORY;
  list->computed = items;
  items[list->computed_count++] = *found;
  *path = (rs_text){.value = found->name, .place = {.line = found->line, .column = found->column}};
  return RECSORT_OK;
}

static recsort_status read_key_words(rs_reader *reader, key_list *list, recsort_key_desc *key,
                                     rs_text *path)
{
  static const rs_word_value orders[] = {{"asc", RECSORT_ASCENDING}, {"desc", RECSORT_DESCENDING}};
  static const rs_word_value nans[] = {
      {"last", RECSORT_NAN_LAST}, {"first", RECSORT_NAN_FIRST}, {"total", RECSORT_NAN_TOTAL}};
  const rs_place place = rs_reader_place(reader);
  const rs_subject subject = {"key", path};
  rs_text order = {0}, nan = {0};
  int order_value = RECSORT_ASCENDING, nan_value = RECSORT_NAN_LAST;
  rs_computing computings[COMPUTINGS] = {
      [DISTANCE] = {.word = "distance", .given = "from", .desc = {.compute = RECSORT_DISTANCE}},
      [DOT] = {.word = "dot", .given = "with", .desc = {.compute = RECSORT_DOT}},
      [MORTON] = {.word = "morton", .desc = {.compute = RECSORT_MORTON}},
      [HILBERT] = {.word = "hilbert", .desc = {.compute = RECSORT_HILBERT}}};
  rs_slot slots[] = {{.word = "field", .text = path},
                     {.word = "order", .text = &order},
                     {.word = "nan", .text = &nan},
                     {.word = "distance", .node = rs_read_computing, .list = &computings[DISTANCE]},
                     {.word = "dot", .node = rs_read_computing, .list = &computings[DOT]},
                     {.word = "morton", .node = rs_read_computing, .list = &computings[MORTON]},
                     {.word = "hilbert", .node = rs_read_computing, .list = &computings[HILBERT]}};
  recsort_status status = rs_read_mapping(reader, &subject, slots, LENGTH(slots));
  if (!status) status = add_computed(reader, list, place, computings, path);
  if (status) return status;
  if (!path->value)
    return rs_refuse(reader, place, &subject, "it has no field; say {field: x, order: asc}");
  status = rs_read_choice(reader, &subject, "order", &order, orders, LENGTH(orders), &order_value);
  if (!status)
    status = rs_read_choice(reader, &subject, "nan", &nan, nans, LENGTH(nans), &nan_value);
  key->order = (recsort_order)order_value;
  key->nan = (recsort_nan)nan_value;
  return status;
}

static recsort_status read_key(rs_reader *reader, void *context)
{
  enum { MAX_KEYS = 1024 }; /* a limit, as each is looked up among all fields */
  key_list *list = context;
  recsort_key_desc key = {0};
  rs_text path = {0};
  const rs_subject subject = {"key", &path};
  const recsort_status status = rs_reader_at_text(reader)
                                    ? rs_read_text(reader, &subject, "field", &path)
                                    : read_key_words(reader, list, &key, &path);
  if (status) return status;
  RS_ASSERT(path.value);
  if (list->count == MAX_KEYS)
    return rs_refuse(reader, path.place, &subject, "more than %d keys, which no order needs",
                     MAX_KEYS);
  recsort_key_desc *items = rs_reader_grow(reader, list->items, list->count, sizeof *items);
  if (!items) return RECSORT_OUT_OF_MEMORY;
  key.path = path.value;
  key.line = path.place.line;
  key.column = path.place.column;
  list->items = items;
  items[list->count++] = key;
  return RECSORT_OK;
}

/* ---- The schema ----------------------------------------------------------------------------- */

typedef struct schema_text {
  rs_text record, endian, layout;
  rs_file_text file;
  field_list fields;
  key_list keys;
} schema_text;

static recsort_status judge_schema(const rs_reader *reader, const schema_text *schema,
                                   recsort_schema_desc *desc)
{
  static const rs_word_value layouts[] = {{"c", RECSORT_LAYOUT_C},
                                          {"packed", RECSORT_LAYOUT_PACKED},
                                          {"explicit", RECSORT_LAYOUT_EXPLICIT}};
  int layout = RECSORT_LAYOUT_C;
  *desc = (recsort_schema_desc){.struct_size = sizeof *desc,
                                .record = schema->record.value,
                                .fields = schema->fields.items,
                                .field_count = schema->fields.count,
                                .keys = schema->keys.items,
                                .key_count = schema->keys.count,
                                .computed = schema->keys.computed,
                                .computed_count = schema->keys.computed_count};
  recsort_status status = check_name(reader, NULL, &schema->record, false);
  if (!status) status = rs_read_endian(reader, NULL, &schema->endian, &desc->endian);
  if (!status)
    status =
        rs_read_choice(reader, NULL, "layout", &schema->layout, layouts, LENGTH(layouts), &layout);
  if (!status) status = rs_judge_file(reader, &schema->file, desc);
  desc->layout = (recsort_layout)layout;
  return status;
}

static recsort_status read_schema(rs_reader *reader, recsort_schema_desc *desc)
{
  enum { OWN_WORDS = 5 };
  schema_text schema = {.fields = {.depth = 1}};
  const rs_place place = rs_reader_place(reader);
  rs_slot slots[OWN_WORDS + RS_FILE_WORDS] = {
      {.word = "record", .text = &schema.record},
      {.word = "endian", .text = &schema.endian},
      {.word = "layout", .text = &schema.layout},
      {.word = "fields", .item = read_field, .list = &schema.fields},
      {.word = "keys", .item = read_key, .list = &schema.keys},
  };
  rs_file_slots(&schema.file, slots + OWN_WORDS);
  recsort_status status = rs_read_mapping(reader, NULL, slots, LENGTH(slots));
  if (!status) status = rs_reader_end(reader);
  if (status) return status;
  if (!schema.record.value)
    return rs_refuse(reader, place, NULL, "no record; begin with record: and the record's name");
  if (schema.fields.count == 0)
    return rs_refuse(reader, place, NULL, "no fields; say fields: and list at least one");
  return judge_schema(reader, &schema, desc);
}

recsort_status rs_schema_parse(const void *text, size_t size, const char *name, rs_arena *arena,
                               recsort_schema_desc *desc, recsort_error *error)
{
  rs_reader *reader = NULL;
  recsort_schema_desc parsed;
  recsort_status status = rs_reader_open(text, size, name, arena, &reader, error);
  if (!status) status = read_schema(reader, &parsed);
  rs_reader_close(reader);
  if (status) return status;
  RS_ASSERT(parsed.fields && parsed.field_count > 0);
  parsed.source = name;
  *desc = parsed;
  return RECSORT_OK;
}
