/* file.c - where the records of a file are, and the places in it that say so. */
#include "base/assert.h"
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/types.h"
#include "schema/together.h"
#include "schema/words.h"

/* Tools hold a header up to the last of these fields in memory. */
enum { HEADER_MAX_BYTES = 1 << 20 };

/* What a place of a kind may have. */
enum {
  NUMBER = 1,    /* a field or a word that holds a number; otherwise a text */
  ONCE = 1 << 1, /* a file has only one */
  BEHIND = 1 << 2,
  UNPADDED = 1 << 3,
  PLUS = 1 << 4,
  UNIT = 1 << 5,
  WHEN = 1 << 6,
  REPEATED = 1 << 7 /* it may be in headers that are repeated */
};

typedef struct rule {
  const char *name;
  unsigned may;
} rule;

static const rule rules[] = {
    [RECSORT_PLACE_SKIP] = {"skip", NUMBER | ONCE | REPEATED},
    [RECSORT_PLACE_SKIP_LINE] = {"skip", ONCE},
    [RECSORT_PLACE_SKIP_LINES] = {"skip", ONCE},
    [RECSORT_PLACE_COUNT] = {"count", NUMBER | BEHIND | WHEN | REPEATED},
    [RECSORT_PLACE_LENGTH] = {"length", NUMBER | BEHIND | PLUS | UNIT | WHEN | REPEATED},
    [RECSORT_PLACE_AFTER] = {"after", NUMBER | BEHIND | UNPADDED | UNIT | WHEN},
    [RECSORT_PLACE_SIZE] = {"size", NUMBER | ONCE | PLUS | UNIT},
    [RECSORT_PLACE_HEAP] = {"heap", NUMBER | ONCE},
    [RECSORT_PLACE_EXPECT] = {"expect", WHEN | REPEATED},
};

typedef struct filer {
  const recsort_schema_desc *desc;
  recsort_schema *schema;
  recsort_error *error;
} filer;

/* ---- Fields --------------------------------------------------------------------------------- */

static const char *field_trouble(const recsort_field_desc *desc, bool condition)
{
  const bool text = desc->type == RECSORT_CHAR || (condition && desc->type == RECSORT_BYTES);
  if (!text && !rs_type_is_integer(desc->type))
    return condition ? "it is neither an integer, a char nor bytes"
                     : "it is neither an integer nor a char";
  if (!text && !rs_type_fills_bytes(desc->type)) return "it is not an integer of whole bytes";
  if (desc->count) return "it is an array";
  if (!text && desc->size && desc->size != recsort_type_describe(desc->type)->size)
    return "its size is not that of its type";
  if (desc->endian < RECSORT_ENDIAN_DEFAULT || desc->endian > RECSORT_BIG_ENDIAN)
    return "its endian is not a recsort_endian";
  if (desc->offset == RECSORT_NO_OFFSET) return "it has no offset";
  if (desc->offset > HEADER_MAX_BYTES || desc->size > HEADER_MAX_BYTES - desc->offset ||
      desc->offset + recsort_type_describe(desc->type)->size > HEADER_MAX_BYTES)
    return "it ends beyond 1048576 bytes";
  return NULL;
}

/* The room that a place has, in bytes. UINT64_MAX: the header says how long it is. */
static uint64_t room_of(const recsort_schema_desc *desc, bool behind)
{
  if (behind) return desc->trailer;
  return rs_has_place(desc, RECSORT_PLACE_SKIP, RECSORT_PLACE_SKIP_LINES) ? UINT64_MAX : desc->skip;
}

/* Lays out a field of the header, or behind the records. */
static recsort_status lay_field(const filer *f, const char *name, const recsort_field_desc *given,
                                bool behind, bool condition, const recsort_field_desc **field)
{
  const rs_place at = {f->desc->source, given->line, given->column};
  const char *const side = behind ? "trailer" : "header";
  const char *why = field_trouble(given, condition);
  if (!why && behind && f->desc->trailer == RECSORT_ANY_TRAILER)
    why = "a trailer of any size has no fields; say how many bytes it has";
  if (why) return rs_fail_at(f->error, RECSORT_INVALID_SCHEMA, at, "%s: %s", name, why);
  const unsigned size = recsort_type_describe(given->type)->size;
  const recsort_endian of_record = f->desc->endian ? f->desc->endian : RECSORT_LITTLE_ENDIAN;
  const recsort_field_desc made = {.name = name,
                                   .type = given->type,
                                   .endian = given->endian ? given->endian : of_record,
                                   .offset = given->offset,
                                   .size = size          ? size
                                           : given->size ? given->size
                                                         : 1,
                                   .line = given->line,
                                   .column = given->column};
  RS_ASSERT(made.size > 0);
  const uint64_t room = room_of(f->desc, behind);
  if (made.offset + made.size > room)
    return rs_fail_at(f->error, RECSORT_INVALID_SCHEMA, at,
                      "%s: it ends beyond the %s, which has the %llu bytes that %s says", name,
                      side, (unsigned long long)room, behind ? "trailer" : "skip");
  recsort_field_desc *const copy = rs_arena_array(&f->schema->arena, 1, sizeof *copy);
  if (!copy) return rs_fail_memory(f->error, sizeof *copy);
  *copy = made;
  *field = copy;
  return RECSORT_OK;
}

/* What is wrong with a line of a header, or the word that one begins with. Blanks at the end of a
 * line do not count. */
static const char *text_trouble(const char *text, bool several)
{
  if (!text) return "it has neither field nor text";
  if (!*text) return "a text is empty";
  for (const char *c = text; *c; c++)
    if (((unsigned char)*c < ' ' && !(several && *c == '\n')) || *c == 0x7f)
      return "a line holds a control character";
    else if (*c == ' ' && (!c[1] || c[1] == '\n'))
      return "a line ends with a blank; leave the blank out";
  return NULL;
}

static recsort_status copy_text(const filer *f, const char *name, rs_place at, const char *given,
                                bool several, const char **copy)
{
  const char *const why = text_trouble(given, several);
  if (why) return rs_fail_at(f->error, RECSORT_INVALID_SCHEMA, at, "%s: %s", name, why);
  *copy = rs_arena_text(&f->schema->arena, given);
  return *copy ? RECSORT_OK : rs_fail_memory(f->error, strlen(given));
}

/* ---- Conditions ----------------------------------------------------------------------------- */

static const char *condition_trouble(const recsort_condition_desc *given)
{
  const recsort_type type = given->field->type;
  if (!rs_type_is_integer(type))
    return given->texts && given->alternative_count ? NULL : "it says no text";
  if (given->alternative_count ? !given->values : !given->least) return "it says no value";
  for (size_t i = 0; i < given->alternative_count; i++)
    if (!rs_type_holds(type, given->values[i])) return "a value does not fit its type";
  return NULL;
}

static recsort_status copy_alternatives(const filer *f, const recsort_condition_desc *given,
                                        recsort_condition_desc *made)
{
  const size_t count = given->alternative_count;
  const bool integers = rs_type_is_integer(made->field->type);
  const size_t size = integers ? sizeof *given->values : made->field->size;
  RS_ASSERT(size > 0);
  void *const copy = rs_arena_array(&f->schema->arena, count, size);
  if (!copy) return rs_fail_memory(f->error, count);
  made->alternative_count = count;
  if (count)
    memcpy(copy, integers ? (const void *)given->values : given->texts, count * size);
  else
    made->least = given->least;
  if (integers)
    made->values = copy;
  else
    made->texts = copy;
  return RECSORT_OK;
}

static recsort_status lay_condition(const filer *f, const char *name,
                                    const recsort_condition_desc *given,
                                    const recsort_condition_desc **condition)
{
  const rs_place at = {f->desc->source, given->line, given->column};
  recsort_condition_desc *const made = rs_arena_array(&f->schema->arena, 1, sizeof *made);
  if (!made) return rs_fail_memory(f->error, sizeof *made);
  made->line = given->line;
  made->column = given->column;
  *condition = made;
  if (!given->field) return copy_text(f, name, at, given->line_text, true, &made->line_text);
  recsort_status status = lay_field(f, name, given->field, false, true, &made->field);
  if (status) return status;
  const char *const why = condition_trouble(given);
  if (why) return rs_fail_at(f->error, RECSORT_INVALID_SCHEMA, at, "%s: %s", name, why);
  return copy_alternatives(f, given, made);
}

/* ---- Places --------------------------------------------------------------------------------- */

static const char *place_trouble(const filer *f, const recsort_place_desc *given)
{
  const rule *const its = &rules[given->kind];
  RS_ASSERT(its->name);
  const unsigned given_words = (given->behind ? BEHIND : 0) | (given->unpadded ? UNPADDED : 0) |
                               (given->plus ? PLUS : 0) | (given->unit ? UNIT : 0) |
                               (given->when ? WHEN : 0) | (given->field ? NUMBER : 0) |
                               (f->desc->repeat ? REPEATED : 0);
  if (given_words & ~its->may & REPEATED) return "it does not go with repeat";
  if (given_words & ~its->may) return "it has a word that only other places have";
  if (given->behind && !given->field)
    return "a word is looked for in the header, not behind the records";
  if (given->kind == RECSORT_PLACE_EXPECT && !given->when) return "it says nothing";
  if (given->kind == RECSORT_PLACE_AFTER && !f->desc->count &&
      !rs_has_place(f->desc, RECSORT_PLACE_COUNT, RECSORT_PLACE_LENGTH))
    return "it needs a count or length, which change along";
  for (const recsort_place_desc *p = f->desc->places; p < given && (its->may & ONCE); p++)
    if (strcmp(rules[p->kind].name, its->name) == 0) return "it is given twice";
  return NULL;
}

static recsort_status lay_place(const filer *f, const recsort_place_desc *given,
                                recsort_place_desc *made)
{
  const rs_place at = {f->desc->source, given->line, given->column};
  if (given->kind < RECSORT_PLACE_SKIP || given->kind > RECSORT_PLACE_EXPECT)
    return rs_fail_at(f->error, RECSORT_INVALID_SCHEMA, at,
                      "the kind of a place is not a recsort_place_kind");
  const char *const name = rules[given->kind].name, *const why = place_trouble(f, given);
  if (why) return rs_fail_at(f->error, RECSORT_INVALID_SCHEMA, at, "%s: %s", name, why);
  *made = (recsort_place_desc){.kind = given->kind,
                               .behind = given->behind,
                               .unpadded = given->unpadded,
                               .plus = given->plus,
                               .unit = given->unit || !(rules[given->kind].may & UNIT) ? given->unit
                                                                                       : 1,
                               .line = given->line,
                               .column = given->column};
  recsort_status status = RECSORT_OK;
  if (given->field)
    status = lay_field(f, name, given->field, given->behind, false, &made->field);
  else if (given->kind != RECSORT_PLACE_EXPECT)
    status = copy_text(f, name, at, given->word, false, &made->word);
  if (!status && given->when) status = lay_condition(f, name, given->when, &made->when);
  return status;
}

recsort_status rs_layout_file(const recsort_schema_desc *desc, recsort_schema *schema,
                              recsort_error *error)
{
  const filer f = {desc, schema, error};
  recsort_place_desc *const places =
      rs_arena_array(&schema->arena, desc->place_count, sizeof *places);
  if (!places) return rs_fail_memory(error, desc->place_count * sizeof *places);
  schema->desc.places = places;
  for (size_t i = 0; i < desc->place_count; i++) {
    const recsort_status status = lay_place(&f, &desc->places[i], &places[i]);
    if (status) return status;
  }
  RS_ASSERT(schema->desc.place_count == desc->place_count);
  rs_file_word at;
  const char *const why = rs_file_trouble(desc, &at);
  if (!why) return RECSORT_OK;
  return rs_fail_at(error, RECSORT_INVALID_SCHEMA, (rs_place){.source = desc->source}, "%s", why);
}
