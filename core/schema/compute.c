#include "schema/compute.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "schema/words.h"

/* Some numbers: a list, or one for all coordinates. */
typedef struct numbers {
  const rs_subject *subject;
  const char *word;
  rs_place place; /* line 0: not given */
  bool is_list;
  size_t count;
  double values[RECSORT_MOST_COORDINATES];
} numbers;

typedef struct paths {
  const rs_subject *subject;
  size_t count;
  const char *values[RECSORT_MOST_COORDINATES];
} paths;

/* ---- Numbers ---- */

/* The length of a decimal number: [-+]digits[.digits][e[-+]digits]; 0: `text` does not begin with
 * one. */
static size_t number_length(const char *text)
{
  static const char digits[] = "0123456789";
  size_t length = *text == '-' || *text == '+';
  const size_t whole = strspn(text + length, digits);
  length += whole;
  size_t fraction = 0;
  if (text[length] == '.') {
    fraction = strspn(text + length + 1, digits);
    length += 1 + fraction;
  }
  if (whole + fraction == 0) return 0;
  if (text[length] != 'e' && text[length] != 'E') return length;
  const size_t sign = text[length + 1] == '-' || text[length + 1] == '+';
  const size_t exponent = strspn(text + length + 1 + sign, digits);
  return exponent ? length + 1 + sign + exponent : 0;
}

/* strtod() expects the point of the program's locale. */
static bool parse_number(const char *text, double *number)
{
  enum { MOST_TEXT = 64 };
  char local[MOST_TEXT];
  const size_t length = strlen(text);
  if (length == 0 || length >= sizeof local || number_length(text) != length) return false;
  memcpy(local, text, length + 1);
  char *const point = strchr(local, '.');
  if (point) *point = *localeconv()->decimal_point;
  *number = strtod(local, NULL);
  return true;
}

static recsort_status read_value(rs_reader *reader, void *context)
{
  numbers *const list = context;
  rs_text text = {0};
  const recsort_status status = rs_read_text(reader, list->subject, list->word, &text);
  if (status) return status;
  if (list->count == RECSORT_MOST_COORDINATES)
    return rs_refuse(reader, text.place, list->subject, "%s has more than %d numbers", list->word,
                     RECSORT_MOST_COORDINATES);
  if (text.quoted || !parse_number(text.value, &list->values[list->count]))
    return rs_refuse(reader, text.place, list->subject, "%s \"%.*s\" is not a number", list->word,
                     RS_SHOWN(text.value));
  list->count++;
  RS_ASSERT(list->count <= RECSORT_MOST_COORDINATES);
  return RECSORT_OK;
}

static recsort_status read_values(rs_reader *reader, void *context)
{
  numbers *const list = context;
  list->place = rs_reader_place(reader);
  list->is_list = rs_reader_at_list(reader);
  return list->is_list ? rs_read_list(reader, list->subject, list->word, read_value, list)
                       : read_value(reader, list);
}

/* As many numbers as there are coordinates. NULL: refused. */
static const double *spread(const rs_reader *reader, const numbers *list, size_t count,
                            recsort_status *status)
{
  if (list->is_list && list->count != count) {
    *status = rs_refuse(reader, list->place, list->subject, "%s has %zu numbers for %zu fields",
                        list->word, list->count, count);
    return NULL;
  }
  RS_ASSERT(count <= RECSORT_MOST_COORDINATES);
  double *const values = rs_reader_memory(reader, count, sizeof *values);
  if (!values) *status = RECSORT_OUT_OF_MEMORY;
  for (size_t i = 0; values && i < count; i++)
    values[i] = list->values[list->is_list ? i : 0];
  return values;
}

/* ---- Fields ---- */

static recsort_status read_path(rs_reader *reader, void *context)
{
  paths *const list = context;
  rs_text text = {0};
  const recsort_status status = rs_read_text(reader, list->subject, "fields", &text);
  if (status) return status;
  if (list->count == RECSORT_MOST_COORDINATES)
    return rs_refuse(reader, text.place, list->subject, "more than %d fields",
                     RECSORT_MOST_COORDINATES);
  list->values[list->count++] = text.value;
  return RECSORT_OK;
}

static const char *const *copy_paths(const rs_reader *reader, const paths *list)
{
  RS_ASSERT(list->count > 0);
  const char **const copies = rs_reader_memory(reader, list->count, sizeof *copies);
  if (copies) memcpy(copies, list->values, list->count * sizeof *copies);
  return copies;
}

/* ---- The mapping ---- */

typedef struct point_text {
  rs_text name;
  numbers values;
} point_text;

/* A point or a vector is a list of numbers, or a name. */
static recsort_status read_point(rs_reader *reader, void *context)
{
  point_text *const point = context;
  if (rs_reader_at_list(reader)) return read_values(reader, &point->values);
  return rs_read_text(reader, point->values.subject, point->values.word, &point->name);
}

/* "distance(x, y from here)", cut if it is long. */
static const char *make_name(const rs_reader *reader, const char *word, const paths *fields,
                             const point_text *point)
{
  char name[256];
  size_t used = (size_t)snprintf(name, sizeof name, "%s(", word);
  for (size_t i = 0; i < fields->count && used < sizeof name; i++)
    used +=
        (size_t)snprintf(name + used, sizeof name - used, "%s%s", i ? ", " : "", fields->values[i]);
  if (point->name.value && used < sizeof name)
    used += (size_t)snprintf(name + used, sizeof name - used, " %s %s", point->values.word,
                             point->name.value);
  for (size_t i = 0; i < point->values.count && used < sizeof name; i++)
    used += (size_t)snprintf(name + used, sizeof name - used, "%s%s %.17g", i ? "," : " ",
                             i ? "" : point->values.word, point->values.values[i]);
  if (used < sizeof name) (void)snprintf(name + used, sizeof name - used, ")");
  while (rs_name_trouble(name, false)) /* the cut may be inside a character */
    name[strlen(name) - 1] = '\0';
  RS_ASSERT(name[0]);
  char *const copy = rs_reader_memory(reader, strlen(name) + 1, 1);
  return copy ? strcpy(copy, name) : NULL;
}

static recsort_status read_bits(const rs_reader *reader, const rs_subject *subject,
                                const rs_text *text, uint32_t *bits)
{
  char *end = NULL;
  const unsigned long value = strtoul(text->value, &end, 10);
  if (text->quoted || strspn(text->value, "0123456789") != strlen(text->value) || value == 0 ||
      value > 32)
    return rs_refuse(reader, text->place, subject, "bits \"%.*s\" is not a number from 1 to 32",
                     RS_SHOWN(text->value));
  *bits = (uint32_t)value;
  return RECSORT_OK;
}

recsort_status rs_read_computing(rs_reader *reader, void *context)
{
  rs_computing *const computing = context;
  recsort_computed_desc *const desc = &computing->desc;
  const rs_place place = rs_reader_place(reader);
  const rs_text word = {.value = computing->word};
  const rs_subject subject = {"key", &word};
  const char *const given = computing->given;
  paths fields = {.subject = &subject};
  point_text point = {.values = {.subject = &subject, .word = given}};
  numbers min = {.subject = &subject, .word = "min"}, max = {.subject = &subject, .word = "max"};
  rs_text bits = {0};
  rs_slot slots[] = {{.word = "fields", .item = read_path, .list = &fields},
                     {.word = given, .node = read_point, .list = &point},
                     {.word = "bits", .text = &bits},
                     {.word = "min", .node = read_values, .list = &min},
                     {.word = "max", .node = read_values, .list = &max}};
  if (!given) memmove(&slots[1], &slots[2], 3 * sizeof *slots); /* a grid has other words */
  recsort_status status = rs_read_mapping(reader, &subject, slots, given ? 2 : 4);
  if (status) return status;
  if (fields.count == 0)
    return rs_refuse(reader, place, &subject, "it has no fields; say fields: [x, y]");
  if (given && !point.name.value && !point.values.place.line)
    return rs_refuse(reader, place, &subject,
                     "it has no %s; say %s: and a name for it, or its coordinates",
                     desc->compute == RECSORT_DOT ? "vector" : "point", given);
  if (!given && (!bits.value || !min.place.line || !max.place.line))
    return rs_refuse(reader, place, &subject,
                     "it has no grid; say bits:, and min: and max: of the fields");
  if (!given) status = read_bits(reader, &subject, &bits, &desc->bits);
  if (!status && (!given || !point.name.value))
    desc->origin = spread(reader, given ? &point.values : &min, fields.count, &status);
  if (!status && !given) desc->limit = spread(reader, &max, fields.count, &status);
  if (status) return status;
  desc->parameter = point.name.value;
  desc->coordinates = copy_paths(reader, &fields);
  desc->coordinate_count = fields.count;
  desc->name = make_name(reader, computing->word, &fields, &point);
  desc->line = place.line;
  desc->column = place.column;
  return desc->coordinates && desc->name ? RECSORT_OK : RECSORT_OUT_OF_MEMORY;
}
