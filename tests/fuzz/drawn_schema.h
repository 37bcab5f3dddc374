/* drawn_schema.h - a schema at random, laid out here as docs/schema.md says, and the order of its
 * records as that page and recsort.h define it: by comparing values, not their codes.
 */
#ifndef RS_FUZZ_DRAWN_SCHEMA_H
#define RS_FUZZ_DRAWN_SCHEMA_H

#include <stdio.h>

#include "draw.h"
#include "fuzz.h"
#include "support/oracle.h"

/* Positional initializers name each member of a public struct, so that one which is added does not
 * compile until a choice is made for it. */
#pragma GCC diagnostic error "-Wmissing-field-initializers"

enum { MOST_FIELDS = 6, MOST_INNER = 3, MOST_KEYS = 4, MOST_COMPUTED = 2, MOST_COORDINATES = 4 };
enum { MOST_ENUMS = 256, NAME = 24, PATH = 80 };

/* The value that a key or a coordinate names. */
typedef struct target {
  char path[PATH];
  size_t top; /* the record's field that holds its bytes */
  const recsort_field_desc *field;
  oracle_key place;
} target;

typedef struct computed {
  char name[NAME], parameter[NAME];
  target coordinates[MOST_COORDINATES];
  const char *paths[MOST_COORDINATES];
  double origin[MOST_COORDINATES], limit[MOST_COORDINATES];
  size_t count;
  recsort_compute compute;
  unsigned bits;
  bool is_set; /* if it is a parameter */
} computed;

typedef struct ordering {
  target field;
  const computed *value; /* NULL: it is the field */
  recsort_order order;
  recsort_nan nan;
} ordering;

/* An element of an enum anywhere in a record. */
typedef struct enum_place {
  oracle_key place;
  int64_t least, most;
} enum_place;

typedef struct drawn_fields {
  recsort_field_desc at[MOST_FIELDS];    /* with all that a schema fills in, */
  recsort_field_desc given[MOST_FIELDS]; /* and as they are declared */
  size_t count;
  char names[MOST_FIELDS][NAME];
  recsort_enumerator values[MOST_FIELDS][3];
  int64_t nulls[MOST_FIELDS][3];
  size_t end, alignment;
} drawn_fields;

typedef struct drawn_schema {
  drawing *d;
  recsort_layout layout;
  recsort_schema_desc desc;
  drawn_fields outer, inner[MOST_FIELDS];
  size_t record_size;
  enum_place enums[MOST_ENUMS];
  size_t enum_count;
  computed computed[MOST_COMPUTED];
  recsort_computed_desc computed_descs[MOST_COMPUTED];
  size_t computed_count;
  ordering keys[2][MOST_KEYS]; /* the schema's, and those of the options */
  recsort_key_desc key_descs[2][MOST_KEYS];
  size_t key_counts[2];
  const ordering *chosen; /* what is compared */
  size_t chosen_count;
} drawn_schema;

/* ---- Fields ---- */

/* Types with bytes of their own; 0: the length is drawn. */
static const struct {
  recsort_type type;
  uint8_t size, alignment;
} drawn_types[] = {{RECSORT_UINT32, 4, 4},         {RECSORT_BOOL, 1, 1},
                   {RECSORT_INT8, 1, 1},           {RECSORT_INT16, 2, 2},
                   {RECSORT_INT32, 4, 4},          {RECSORT_INT64, 8, 8},
                   {RECSORT_UINT8, 1, 1},          {RECSORT_UINT16, 2, 2},
                   {RECSORT_UINT64, 8, 8},         {RECSORT_INT24, 3, 1},
                   {RECSORT_INT40, 5, 1},          {RECSORT_INT48, 6, 1},
                   {RECSORT_INT56, 7, 1},          {RECSORT_UINT24, 3, 1},
                   {RECSORT_UINT40, 5, 1},         {RECSORT_UINT48, 6, 1},
                   {RECSORT_UINT56, 7, 1},         {RECSORT_FLOAT16, 2, 2},
                   {RECSORT_BFLOAT16, 2, 2},       {RECSORT_FLOAT32, 4, 4},
                   {RECSORT_FLOAT64, 8, 8},        {RECSORT_CHAR, 0, 1},
                   {RECSORT_BYTES, 0, 1},          {RECSORT_CSTRING, 0, 1},
                   {RECSORT_UUID, 16, 1},          {RECSORT_IPV4, 4, 4},
                   {RECSORT_IPV6, 16, 4},          {RECSORT_MAC, 6, 1},
                   {RECSORT_INT128, 16, 16},       {RECSORT_UINT128, 16, 16},
                   {RECSORT_DATETIME_D, 8, 8},     {RECSORT_DATETIME_S, 8, 8},
                   {RECSORT_DATETIME_MS, 8, 8},    {RECSORT_DATETIME_US, 8, 8},
                   {RECSORT_DATETIME_NS, 8, 8},    {RECSORT_INT1, 1, 1},
                   {RECSORT_INT2, 1, 1},           {RECSORT_INT4, 1, 1},
                   {RECSORT_UINT1, 1, 1},          {RECSORT_UINT2, 1, 1},
                   {RECSORT_UINT4, 1, 1},          {RECSORT_FLOAT8_E3M4, 1, 1},
                   {RECSORT_FLOAT8_E4M3, 1, 1},    {RECSORT_FLOAT8_E4M3B11FNUZ, 1, 1},
                   {RECSORT_FLOAT8_E4M3FN, 1, 1},  {RECSORT_FLOAT8_E4M3FNUZ, 1, 1},
                   {RECSORT_FLOAT8_E5M2, 1, 1},    {RECSORT_FLOAT8_E5M2FNUZ, 1, 1},
                   {RECSORT_FLOAT8_E8M0FNU, 1, 1}, {RECSORT_FLOAT6_E2M3FN, 1, 1},
                   {RECSORT_FLOAT6_E3M2FN, 1, 1},  {RECSORT_FLOAT4_E2M1FN, 1, 1}};
enum { DRAWN_TYPES = sizeof drawn_types / sizeof *drawn_types };
enum { STRUCT_TYPE = DRAWN_TYPES, ENUM_TYPE, BITFIELD_TYPE, ALL_TYPES };

static inline bool is_signed_integer(recsort_type type)
{
  return (type >= RECSORT_INT8 && type <= RECSORT_INT64) ||
         (type >= RECSORT_INT24 && type <= RECSORT_INT56);
}

/* An integer of whole bytes, of at most 64 bits. */
static inline bool is_whole_integer(recsort_type type)
{
  return is_signed_integer(type) || (type >= RECSORT_UINT8 && type <= RECSORT_UINT64) ||
         (type >= RECSORT_UINT24 && type <= RECSORT_UINT56);
}

static inline bool is_time(recsort_type type)
{
  return type >= RECSORT_DATETIME_D && type <= RECSORT_DATETIME_NS;
}

static inline size_t elements_of(const recsort_field_desc *field)
{
  return field->count ? field->count : 1;
}

/* Where the next field goes. */
static inline size_t place_of(const drawn_schema *s, const drawn_fields *fields, size_t alignment)
{
  switch (s->layout) {
  case RECSORT_LAYOUT_C:
    return (fields->end + alignment - 1) / alignment * alignment;
  case RECSORT_LAYOUT_EXPLICIT:
    return fields->end + draw(s->d, 4);
  default:
    return fields->end;
  }
}

static inline recsort_enumerator draw_value(drawing *d, recsort_type base, const char *name)
{
  const int64_t value = (int64_t)draw(d, 20);
  return (recsort_enumerator){name, is_signed_integer(base) && one_in(d, 2) ? -value : value};
}

/* The field before is a base that a bitfield can have. */
static inline const recsort_field_desc *base_before(const drawn_fields *fields)
{
  const recsort_field_desc *const before = fields->count ? &fields->at[fields->count - 1] : NULL;
  return before && is_whole_integer(before->type) && !before->count ? before : NULL;
}

/* What a field is made of. */
typedef struct choice {
  recsort_type type, base;
  recsort_endian endian;      /* as declared, */
  recsort_endian real_endian; /* and in effect */
  size_t size, alignment, count;
  const recsort_field_desc *bit_base;
  const drawn_fields *inner;
} choice;

static inline void draw_fields(drawn_schema *s, drawn_fields *fields, drawn_fields *inner,
                               size_t most, recsort_endian endian);

static inline choice choose_number(drawing *d, size_t row)
{
  choice c = {.type = drawn_types[row].type,
              .size = drawn_types[row].size,
              .alignment = drawn_types[row].alignment};
  if (c.size == 0)
    c.size = 1 + draw(d, 40);
  else if (one_in(d, 3))
    c.count = 1 + draw(d, 3);
  return c;
}

static inline choice choose_field(drawn_schema *s, const drawn_fields *fields, drawn_fields *inner,
                                  recsort_endian endian)
{
  drawing *const d = s->d;
  const size_t row = draw(d, ALL_TYPES);
  const recsort_field_desc *const before = base_before(fields);
  if (row == BITFIELD_TYPE && before)
    return (choice){.type = RECSORT_BITFIELD,
                    .base = before->type,
                    .real_endian = before->endian,
                    .size = before->size,
                    .bit_base = before};
  choice c = choose_number(d, row < DRAWN_TYPES ? row : row == ENUM_TYPE ? 2 + draw(d, 15) : 0);
  c.endian = (recsort_endian)draw(d, 3);
  c.real_endian = c.endian ? c.endian : endian;
  if (row == ENUM_TYPE) {
    c.base = c.type;
    c.type = RECSORT_ENUM;
  }
  if (row == STRUCT_TYPE && inner) {
    draw_fields(s, inner, NULL, MOST_INNER, c.real_endian);
    c.type = RECSORT_STRUCT;
    c.inner = inner;
    c.size = inner->end;
    c.alignment = inner->alignment;
  }
  return c;
}

static inline recsort_field_desc describe(drawn_schema *s, drawn_fields *fields, const choice *c,
                                          const char *letter)
{
  static const char *const value_names[3] = {"u", "v", "w"};
  drawing *const d = s->d;
  const size_t number = fields->count, bits = 8 * c->size;
  const bool is_integer = is_whole_integer(c->type);
  const size_t values = c->type == RECSORT_ENUM ? 1 + draw(d, 3) : 0;
  const size_t nulls = is_integer && one_in(d, 6) ? 1 + draw(d, 3) : 0;
  const uint32_t bit = c->bit_base ? (uint32_t)draw(d, bits) : 0;
  (void)snprintf(fields->names[number], NAME, "%s%zu", letter, number);
  for (size_t i = 0; i < values; i++)
    fields->values[number][i] = draw_value(d, c->base, value_names[i]);
  for (size_t i = 0; i < nulls; i++)
    fields->nulls[number][i] = (int64_t)i - is_signed_integer(c->type);
  return (recsort_field_desc){fields->names[number],
                              c->type,
                              c->base,
                              c->real_endian,
                              c->bit_base ? c->bit_base->offset : place_of(s, fields, c->alignment),
                              c->size,
                              c->count,
                              c->bit_base ? c->bit_base->name : NULL,
                              bit,
                              c->bit_base ? 1 + (uint32_t)draw(d, bits - bit) : 0,
                              is_integer && one_in(d, 6) ? "0.25" : NULL,
                              values ? fields->values[number] : NULL,
                              values,
                              c->inner ? c->inner->at : NULL,
                              c->inner ? c->inner->count : 0,
                              nulls ? fields->nulls[number] : NULL,
                              nulls,
                              (uint32_t)draw(d, 3),
                              (uint32_t)draw(d, 3)};
}

/* A declaration may leave out what follows from the rest. */
static inline recsort_field_desc declare(const drawn_schema *s, const recsort_field_desc *whole,
                                         const choice *c)
{
  const bool has_length =
      c->type == RECSORT_CHAR || c->type == RECSORT_BYTES || c->type == RECSORT_CSTRING;
  recsort_field_desc given = *whole;
  given.endian = c->endian;
  if (s->layout != RECSORT_LAYOUT_EXPLICIT && !one_in(s->d, 3))
    given.offset = one_in(s->d, 2) ? RECSORT_NO_OFFSET : 0;
  if (!has_length && !one_in(s->d, 3)) given.size = 0;
  if (c->bit_base) given.base = (recsort_type)0;
  if (c->inner) given.fields = c->inner->given;
  return given;
}

static inline void draw_fields(drawn_schema *s, drawn_fields *fields, drawn_fields *inner,
                               size_t most, recsort_endian endian)
{
  fields->alignment = 1;
  for (size_t left = 1 + draw(s->d, most); left > 0; left--) {
    drawn_fields *const own = inner ? &inner[fields->count] : NULL;
    const choice c = choose_field(s, fields, own, endian);
    recsort_field_desc *const whole = &fields->at[fields->count];
    *whole = describe(s, fields, &c, inner ? "f" : "g");
    fields->given[fields->count++] = declare(s, whole, &c);
    if (!c.bit_base) fields->end = whole->offset + whole->size * elements_of(whole);
    if (c.alignment > fields->alignment) fields->alignment = c.alignment;
  }
  if (s->layout == RECSORT_LAYOUT_C)
    fields->end = (fields->end + fields->alignment - 1) / fields->alignment * fields->alignment;
}

/* ---- Where values are ---- */

static inline oracle_key place_in(const recsort_field_desc *field, size_t offset)
{
  return (oracle_key){.type = field->type == RECSORT_ENUM ? field->base : field->type,
                      .endian = field->endian,
                      .offset = offset,
                      .size = field->size,
                      .bit = field->bit,
                      .bits = field->width,
                      .nulls = field->nulls,
                      .null_count = field->null_count};
}

/* A field or an element of one; a whole array if that is allowed. */
static inline target draw_target(const drawn_schema *s, bool arrays)
{
  drawing *const d = s->d;
  const drawn_fields *fields = &s->outer;
  size_t number = draw(d, fields->count), offset = 0;
  char prefix[PATH / 2] = "";
  target t = {.top = number};
  const recsort_field_desc *field = &fields->at[number];
  while (t.top > 0 && s->outer.at[t.top].type == RECSORT_BITFIELD)
    t.top--;
  if (field->type == RECSORT_STRUCT) {
    const size_t element = draw(d, elements_of(field));
    offset = field->offset + element * field->size;
    if (field->count)
      (void)snprintf(prefix, sizeof prefix, "%s[%zu].", field->name, element);
    else
      (void)snprintf(prefix, sizeof prefix, "%s.", field->name);
    fields = &s->inner[number];
    field = &fields->at[draw(d, fields->count)];
  }
  const size_t element = draw(d, elements_of(field));
  const bool whole = field->count && arrays && one_in(d, 2);
  t.field = field;
  t.place = place_in(field, offset + field->offset + (whole ? 0 : element * field->size));
  if (whole) t.place.count = field->count;
  if (field->count && !whole)
    (void)snprintf(t.path, sizeof t.path, "%s%s[%zu]", prefix, field->name, element);
  else
    (void)snprintf(t.path, sizeof t.path, "%s%s", prefix, field->name);
  return t;
}

static inline void note_enum(drawn_schema *s, const recsort_field_desc *field, size_t offset)
{
  enum_place e = {place_in(field, offset + field->offset), INT64_MAX, INT64_MIN};
  for (size_t v = 0; v < field->enumerator_count; v++) {
    const int64_t value = field->enumerators[v].value;
    if (value < e.least) e.least = value;
    if (value > e.most) e.most = value;
  }
  for (size_t i = 0; i < elements_of(field); i++, e.place.offset += field->size) {
    EXPECT(s->enum_count < MOST_ENUMS);
    s->enums[s->enum_count++] = e;
  }
}

static inline void note_enums(drawn_schema *s)
{
  for (size_t f = 0; f < s->outer.count; f++) {
    const recsort_field_desc *const field = &s->outer.at[f];
    if (field->type == RECSORT_ENUM) note_enum(s, field, 0);
    for (size_t e = 0; field->type == RECSORT_STRUCT && e < elements_of(field); e++)
      for (size_t i = 0; i < s->inner[f].count; i++)
        if (s->inner[f].at[i].type == RECSORT_ENUM)
          note_enum(s, &s->inner[f].at[i], field->offset + e * field->size);
  }
}

/* ---- Keys ---- */

static inline bool is_coordinate(const target *t)
{
  const char nan = oracle_format_of(t->field->type).nan;
  return !t->field->null_count && (is_whole_integer(t->field->type) || nan == 'i');
}

static inline double draw_number(drawing *d)
{
  static const double special[] = {0, -0.0, 0.5, 1e300, -1e-300, 3e38, 1.0 / 3, -1};
  return one_in(d, 8) ? special[draw(d, 8)] : ((double)draw(d, 256) - 128) / 8;
}

static inline void draw_computed(drawn_schema *s)
{
  drawing *const d = s->d;
  const size_t number = s->computed_count;
  computed *const c = &s->computed[number];
  c->compute = (recsort_compute)(RECSORT_DISTANCE + draw(d, 4));
  const bool is_curve = c->compute == RECSORT_MORTON || c->compute == RECSORT_HILBERT;
  for (size_t tries = 1 + draw(d, MOST_COORDINATES) + is_curve; tries > 0; tries--) {
    const target t = draw_target(s, false);
    if (!is_coordinate(&t) || c->count == MOST_COORDINATES) continue;
    c->coordinates[c->count] = t;
    c->origin[c->count] = draw_number(d);
    c->limit[c->count] = c->origin[c->count] + (double)(1 + draw(d, 256)) / 4;
    c->paths[c->count] = c->coordinates[c->count].path;
    if (is_curve && !(c->limit[c->count] > c->origin[c->count])) continue; /* it is no grid */
    c->count++;
  }
  if (c->count < 1u + is_curve) return;
  const bool is_parameter = !is_curve && one_in(d, 2);
  const size_t most = 64 / c->count < 32 ? 64 / c->count : 32;
  c->bits = is_curve ? 1 + (unsigned)draw(d, most) : 0;
  (void)snprintf(c->name, sizeof c->name, "c%zu", number);
  if (is_parameter) (void)snprintf(c->parameter, sizeof c->parameter, "p%zu", number);
  s->computed_descs[number] = (recsort_computed_desc){c->name,
                                                      c->compute,
                                                      c->bits,
                                                      c->paths,
                                                      c->count,
                                                      is_parameter ? c->parameter : NULL,
                                                      is_parameter ? NULL : c->origin,
                                                      is_curve ? c->limit : NULL,
                                                      (uint32_t)draw(d, 3),
                                                      (uint32_t)draw(d, 3)};
  s->computed_count++;
}

static inline void draw_key(drawn_schema *s, size_t list)
{
  drawing *const d = s->d;
  const size_t number = s->key_counts[list];
  ordering *const key = &s->keys[list][number];
  const size_t value = one_in(d, 3) ? draw(d, MOST_COMPUTED) : MOST_COMPUTED;
  *key = (ordering){.order = (recsort_order)draw(d, 2)};
  if (value < s->computed_count)
    key->value = &s->computed[value];
  else
    key->field = draw_target(s, true);
  const char *const path = key->value ? key->value->name : key->field.path;
  for (size_t k = 0; k < number; k++)
    if (strcmp(s->key_descs[list][k].path, path) == 0) return; /* would be refused */
  const recsort_field_desc *const field = key->field.field;
  if (key->value)
    key->nan = (recsort_nan)draw(d, 2);
  else if (oracle_is_float(field->type) || is_time(field->type) || field->null_count)
    key->nan = (recsort_nan)draw(d, 3);
  s->key_descs[list][number] =
      (recsort_key_desc){path, key->order, key->nan, (uint32_t)draw(d, 3), (uint32_t)draw(d, 3)};
  s->key_counts[list]++;
}

/* Makes the description. The schema must stay where it is. */
static inline void draw_schema(drawn_schema *s, drawing *d)
{
  s->d = d;
  s->layout = (recsort_layout)draw(d, 3);
  const recsort_endian endian = (recsort_endian)draw(d, 3);
  draw_fields(s, &s->outer, s->inner, MOST_FIELDS, endian ? endian : RECSORT_LITTLE_ENDIAN);
  note_enums(s);
  s->record_size = s->outer.end + (one_in(d, 3) ? draw(d, 20) : 0);
  for (size_t tries = draw(d, MOST_COMPUTED + 1); tries > 0; tries--)
    draw_computed(s);
  for (size_t list = 0; list < 2; list++)
    for (size_t tries = 1 - list + draw(d, MOST_KEYS); tries > 0; tries--)
      draw_key(s, list);
  const bool says_size = s->record_size != s->outer.end || one_in(d, 2);
  s->desc = (recsort_schema_desc){sizeof s->desc,
                                  "Drawn",
                                  one_in(d, 2) ? "fuzz" : NULL,
                                  endian,
                                  s->layout,
                                  says_size ? s->record_size : 0,
                                  draw(d, 3), /* skip */
                                  draw(d, 3), /* trailer */
                                  s->outer.given,
                                  s->outer.count,
                                  s->key_descs[0],
                                  s->key_counts[0],
                                  (uint32_t)draw(d, 3), /* line */
                                  (uint32_t)draw(d, 3), /* column */
                                  s->computed_descs,
                                  s->computed_count,
                                  draw(d, 3), /* records of a file */
                                  NULL,       /* places, which are those of files, */
                                  0,
                                  0, /* and padding, */
                                  0,
                                  false, /* and what counts of 0 mean, */
                                  false /* and repeated headers */};
}

/* ---- The order ---- */

static inline double coordinate_of(const target *t, const void *record)
{
  if (oracle_is_float(t->place.type)) {
    const oracle_float real = oracle_real(&t->place, record);
    return real.nan ? NAN : real.value;
  }
  const uint64_t raw = oracle_integer(&t->place, record);
  return is_signed_integer(t->place.type) ? (double)oracle_signed(raw, oracle_bits(&t->place))
                                          : (double)raw;
}

/* A value that is computed: a sum, or the coordinates of a place on a curve of which the bits are
 * to be interleaved. */
typedef struct computed_value {
  bool is_nan;
  double sum;
  uint64_t cells[MOST_COORDINATES];
} computed_value;

static inline computed_value sum_of(const computed *c, const void *record)
{
  computed_value value = {.sum = 0};
  bool is_short = true; /* all coordinates are float32 or shorter */
  for (size_t i = 0; i < c->count; i++) {
    const double x = coordinate_of(&c->coordinates[i], record);
    double term = c->compute == RECSORT_DOT ? x : x - c->origin[i];
    term = term * (c->compute == RECSORT_DOT ? c->origin[i] : term);
    value.sum += term;
    is_short = is_short && oracle_is_float(c->coordinates[i].place.type) &&
               c->coordinates[i].place.size <= 4;
  }
  if (is_short) value.sum = (double)(float)value.sum;
  value.is_nan = isnan(value.sum);
  return value;
}

/* The axes of a cell as those whose interleaved bits are its place on the Hilbert curve: from the
 * largest cubes down to the smallest, what is below a bit is exchanged with the first axis, or
 * mirrored; then all is a Gray code (Skilling, 2004). */
static inline void turn_to_hilbert(uint64_t *cells, size_t count, unsigned bits)
{
  uint64_t flips = 0;
  for (uint64_t cube = UINT64_C(1) << (bits - 1); cube > 1; cube /= 2)
    for (size_t i = 0; i < count; i++) {
      if (cells[i] / cube % 2) {
        cells[0] ^= cube - 1;
        continue;
      }
      const uint64_t a = cells[0] % cube, b = cells[i] % cube;
      cells[0] = cells[0] - a + b;
      if (i > 0) cells[i] = cells[i] - b + a;
    }
  for (size_t i = 1; i < count; i++)
    cells[i] ^= cells[i - 1];
  for (uint64_t cube = UINT64_C(1) << (bits - 1); cube > 1; cube /= 2)
    if (cells[count - 1] / cube % 2) flips ^= cube - 1;
  for (size_t i = 0; i < count; i++)
    cells[i] ^= flips;
}

/* `last`: where a NaN goes. */
static inline computed_value cell_of(const computed *c, const void *record, bool last)
{
  const uint64_t cells = UINT64_C(1) << c->bits;
  computed_value value = {.sum = 0};
  for (size_t i = 0; i < c->count; i++) {
    const double x = coordinate_of(&c->coordinates[i], record);
    const double place = (x - c->origin[i]) * ((double)cells / (c->limit[i] - c->origin[i]));
    value.is_nan = value.is_nan || isnan(x);
    value.cells[i] = !(place >= 0) ? 0 : place >= (double)cells ? cells - 1 : (uint64_t)place;
  }
  if (c->compute == RECSORT_HILBERT) turn_to_hilbert(value.cells, c->count, c->bits);
  for (size_t i = 0; i < c->count && value.is_nan; i++)
    value.cells[i] = last ? cells - 1 : 0;
  return value;
}

/* By the highest bit in which two places differ; of several coordinates, by the first. */
static inline int compare_cells(const uint64_t *a, const uint64_t *b, size_t count)
{
  for (unsigned bit = 32; bit-- > 0;)
    for (size_t i = 0; i < count; i++)
      if ((a[i] ^ b[i]) >> bit & 1) return a[i] >> bit & 1 ? 1 : -1;
  return 0;
}

static inline int compare_computed(const ordering *key, const void *left, const void *right)
{
  const computed *const c = key->value;
  const int direction = key->order == RECSORT_DESCENDING ? -1 : 1;
  const bool is_first = key->nan == RECSORT_NAN_FIRST;
  if (c->compute == RECSORT_MORTON || c->compute == RECSORT_HILBERT) {
    const bool last = is_first == (key->order == RECSORT_DESCENDING);
    const computed_value a = cell_of(c, left, last), b = cell_of(c, right, last);
    return direction * compare_cells(a.cells, b.cells, c->count);
  }
  const computed_value a = sum_of(c, left), b = sum_of(c, right);
  if (a.is_nan || b.is_nan) return (is_first ? -1 : 1) * ((int)a.is_nan - (int)b.is_nan);
  return direction * ((a.sum > b.sum) - (a.sum < b.sum));
}

/* `reverse`: the order of every key is the other one. */
static inline int compare_records(const drawn_schema *s, bool reverse, const void *left,
                                  const void *right)
{
  int order = 0;
  for (size_t k = 0; k < s->chosen_count && order == 0; k++) {
    ordering key = s->chosen[k];
    if (reverse)
      key.order = key.order == RECSORT_ASCENDING ? RECSORT_DESCENDING : RECSORT_ASCENDING;
    if (key.value) {
      order = compare_computed(&key, left, right);
      continue;
    }
    key.field.place.order = key.order;
    key.field.place.nan = key.nan;
    order = oracle_compare(&key.field.place, 1, left, right);
  }
  return order;
}

/* ---- Values of enums ---- */

static inline bool is_named(const enum_place *e, const void *record)
{
  const uint64_t raw = oracle_integer(&e->place, record);
  if (!is_signed_integer(e->place.type))
    return raw >= (uint64_t)e->least && raw <= (uint64_t)e->most;
  const int64_t value = oracle_signed(raw, oracle_bits(&e->place));
  return value >= e->least && value <= e->most;
}

/* Makes the value one of those between the least and the greatest that have names. */
static inline void give_name(const enum_place *e, uint8_t *record)
{
  const uint64_t raw = oracle_integer(&e->place, record);
  const uint64_t value = (uint64_t)e->least + raw % ((uint64_t)(e->most - e->least) + 1);
  for (size_t i = 0; i < e->place.size; i++) {
    const size_t at = e->place.endian == RECSORT_BIG_ENDIAN ? e->place.size - 1 - i : i;
    record[e->place.offset + at] = (uint8_t)(value >> 8 * i);
  }
}

/* True if a key compares a value that the schema rules out. */
static inline bool is_ruled_out(const drawn_schema *s, const void *record)
{
  for (size_t e = 0; e < s->enum_count; e++)
    for (size_t k = 0; k < s->chosen_count; k++) {
      const ordering *const key = &s->chosen[k];
      const size_t begin = key->field.place.offset;
      const size_t bytes =
          key->field.place.size * (key->field.place.count ? key->field.place.count : 1);
      if (!key->value && key->field.field->type == RECSORT_ENUM &&
          s->enums[e].place.offset - begin < bytes && !is_named(&s->enums[e], record))
        return true;
    }
  return false;
}

#endif
