/* places.c - see places.h. */
#include "support/places.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* No file needs larger numbers, and sums of them do not overflow. */
static const uint64_t largest = INT64_MAX / 4;

enum {
  MOST_TEXT = 1 << 20,  /* bytes of a header in lines */
  FIRST_TEXT = 4 << 10, /* of them read at first */
  PLACE_TEXT = 120
};

static bool refuse(tool_why *why, const char *text)
{
  snprintf(why->text, sizeof why->text, "%s", text);
  return false;
}

/* ---- Lines ---- */

/* The first bytes of a file. */
typedef struct view {
  const unsigned char *bytes;
  size_t size;
  bool ended;
  size_t needed;
  tool_why *why;
} view;

/* A line without blanks at its end. */
typedef struct line {
  const char *text;
  size_t length;
  size_t next; /* where the next one begins */
  bool closed; /* by a newline */
} line;

static bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

/* The line at `at`; false if there is none. */
static bool line_at(const unsigned char *bytes, size_t size, size_t at, line *found)
{
  if (at >= size) return false;
  const unsigned char *const end = memchr(bytes + at, '\n', size - at);
  const size_t stop = end != NULL ? (size_t)(end - bytes) : size;
  *found = (line){(const char *)bytes + at, stop - at, stop + 1, end != NULL};
  while (found->length > 0 && is_blank(found->text[found->length - 1]))
    found->length--;
  return true;
}

/* True if it is the first line of a text. */
static bool line_is(const line *l, const char *text)
{
  return l->length == strcspn(text, "\n") && memcmp(l->text, text, l->length) == 0;
}

static bool line_begins(const line *l, const char *word)
{
  const size_t length = strlen(word);
  return l->length >= length && memcmp(l->text, word, length) == 0;
}

/* True if the lines of a text follow one another somewhere. Otherwise `missing` becomes the first
 * of them that is not there, behind those before it. */
static bool has_lines(const unsigned char *bytes, size_t size, const char *text,
                      const char **missing)
{
  line l, next;
  *missing = text;
  for (size_t at = 0; line_at(bytes, size, at, &l); at = l.next) {
    const char *rest = text;
    for (size_t behind = at; line_at(bytes, size, behind, &next) && line_is(&next, rest);
         behind = next.next) {
      rest += next.length;
      if (*rest == '\0') return true;
      rest++;
    }
    if (rest > *missing) *missing = rest;
  }
  return false;
}

/* True if the first `end` bytes are there. Otherwise they are needed, or the file is too short. */
static bool reaches(view *v, size_t end)
{
  if (end <= v->size) return true;
  v->needed = end;
  if (v->ended)
    snprintf(v->why->text, sizeof v->why->text, "%zu bytes are too few for its header", v->size);
  return false;
}

/* More of a text whose end has not been found. */
static bool read_on(view *v, const char *what, const char *word)
{
  if (!v->ended && v->size < MOST_TEXT) {
    v->needed = v->size < FIRST_TEXT ? FIRST_TEXT : 2 * v->size;
  } else {
    snprintf(v->why->text, sizeof v->why->text, "%s \"%.60s\"", what, word);
  }
  return false;
}

/* Finds where a header in lines ends. */
static bool find_end(view *v, const recsort_place_desc *place, uint64_t *skip)
{
  line l;
  size_t at = 0;
  if (place->kind == RECSORT_PLACE_SKIP_LINE) {
    for (; line_at(v->bytes, v->size, at, &l); at = l.next) {
      if (!l.closed && !v->ended) break;
      if (!line_is(&l, place->word)) continue;
      *skip = l.closed ? l.next : v->size;
      return true;
    }
    return read_on(v, "its header does not end: it has no line", place->word);
  }
  while (line_at(v->bytes, v->size, at, &l)) {
    if (!l.closed && !v->ended) return read_on(v, "its header does not end: all lines are", "");
    if (!line_begins(&l, place->word)) break;
    at = l.closed ? l.next : v->size;
  }
  if (at == v->size && !v->ended) return read_on(v, "its header does not end: all lines are", "");
  *skip = at;
  return true;
}

/* ---- Numbers ---- */

/* Decimal digits with blanks or NULs around them. */
static bool parse_digits(const unsigned char *text, size_t size, uint64_t *number)
{
  size_t digits = 0;
  *number = 0;
  while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\0'))
    size--;
  while (size > 0 && *text == ' ')
    text++, size--;
  for (; digits < size; digits++) {
    if (text[digits] < '0' || text[digits] > '9' || *number > largest / 10) return false;
    *number = 10 * *number + (uint64_t)(text[digits] - '0');
  }
  return digits > 0;
}

/* The digits behind the first line that begins with the word and a blank. */
static bool find_digits(const unsigned char *bytes, size_t size, const char *word, size_t *begin,
                        size_t *length)
{
  line l;
  for (size_t at = 0; line_at(bytes, size, at, &l); at = l.next) {
    size_t i = strlen(word);
    if (!line_begins(&l, word) || l.length == i || !is_blank(l.text[i])) continue;
    while (i < l.length && is_blank(l.text[i]))
      i++;
    *begin = at + i;
    while (i < l.length && !is_blank(l.text[i]))
      i++;
    *length = at + i - *begin;
    return true;
  }
  return false;
}

static const char *name_of(const recsort_place_desc *place)
{
  static const char *const names[] = {
      [RECSORT_PLACE_SKIP] = "skip",       [RECSORT_PLACE_SKIP_LINE] = "skip",
      [RECSORT_PLACE_SKIP_LINES] = "skip", [RECSORT_PLACE_COUNT] = "count",
      [RECSORT_PLACE_LENGTH] = "length",   [RECSORT_PLACE_AFTER] = "after",
      [RECSORT_PLACE_SIZE] = "size",       [RECSORT_PLACE_HEAP] = "heap",
      [RECSORT_PLACE_EXPECT] = "expect"};
  return names[place->kind];
}

/* "at offset 7", "behind POINTS". */
static const char *where(const recsort_place_desc *place, char text[PLACE_TEXT])
{
  if (place->field == NULL)
    snprintf(text, PLACE_TEXT, "behind \"%.60s\"", place->word);
  else
    snprintf(text, PLACE_TEXT, "at offset %zu%s", place->field->offset,
             place->behind ? " behind the records" : "");
  return text;
}

/* Reads a place among the first `size` bytes of the header, or of the trailer. */
static bool read_number(const recsort_place_desc *place, const unsigned char *bytes, size_t size,
                        uint64_t *number, tool_why *why)
{
  char text[PLACE_TEXT];
  bool good;
  if (place->field == NULL) {
    size_t at, length;
    good = find_digits(bytes, size, place->word, &at, &length) &&
           parse_digits(bytes + at, length, number);
  } else {
    recsort_value value;
    recsort_field_get(place->field, bytes, 0, &value, sizeof value);
    *number = value.as.u; /* a negative number is beyond the largest one */
    good = value.kind != RECSORT_VALUE_BYTES || parse_digits(value.as.bytes, value.size, number);
  }
  if (good && *number <= largest) return true;
  snprintf(why->text, sizeof why->text, "its %s has no valid %s %s",
           place->behind ? "trailer" : "header", name_of(place), where(place, text));
  return false;
}

/* All bits set, as in a header that was written before the data was known. */
static bool is_all_ones(const recsort_place_desc *place, const unsigned char *bytes)
{
  if (place->field == NULL || place->field->type == RECSORT_CHAR) return false;
  for (size_t i = 0; i < place->field->size; i++)
    if (bytes[place->field->offset + i] != 0xff) return false;
  return true;
}

/* ---- Conditions ---- */

static size_t end_of(const recsort_field_desc *field)
{
  return field != NULL ? field->offset + field->size : 0;
}

static bool is_least(const recsort_condition_desc *condition, recsort_value value)
{
  return value.kind == RECSORT_VALUE_SIGNED
             ? value.as.i >= 0 && (uint64_t)value.as.i >= condition->least
             : value.as.u >= condition->least;
}

/* A value that a field may have; `found` is the one that it has. */
static recsort_value alternative(const recsort_condition_desc *condition, size_t number,
                                 recsort_value found)
{
  if (found.kind == RECSORT_VALUE_BYTES)
    found.as.bytes = (const unsigned char *)condition->texts + number * found.size;
  else
    found.as.i = condition->values[number];
  return found;
}

static bool same(recsort_value a, recsort_value b)
{
  return a.kind == RECSORT_VALUE_BYTES ? memcmp(a.as.bytes, b.as.bytes, a.size) == 0
                                       : a.as.u == b.as.u;
}

/* A header that ends before the field does not meet the condition. */
static bool holds(const recsort_condition_desc *condition, const unsigned char *bytes, size_t size)
{
  const recsort_field_desc *const field = condition->field;
  const char *missing;
  if (field == NULL) return has_lines(bytes, size, condition->line_text, &missing);
  if (end_of(field) > size) return false;
  recsort_value value;
  recsort_field_get(field, bytes, 0, &value, sizeof value);
  for (size_t i = 0; i < condition->alternative_count; i++)
    if (same(value, alternative(condition, i, value))) return true;
  return condition->alternative_count == 0 && is_least(condition, value);
}

static bool is_there(const tool_format *format, const recsort_place_desc *place,
                     const unsigned char *bytes, size_t size)
{
  return tool_format_uses(format, place) &&
         (place->when == NULL || holds(place->when, bytes, size));
}

/* Appends a value: a number, or bytes in quotes. */
static void write_value(char *text, size_t room, recsort_value value)
{
  size_t used = strlen(text);
  if (value.kind == RECSORT_VALUE_SIGNED) {
    snprintf(text + used, room - used, "%" PRId64, value.as.i);
  } else if (value.kind != RECSORT_VALUE_BYTES) {
    snprintf(text + used, room - used, "%" PRIu64, value.as.u);
  } else {
    const char *quote = "\"";
    for (size_t i = 0; i < value.size && i < 16 && used + 8 < room; i++, quote = "") {
      const int c = value.as.bytes[i];
      const bool plain = c >= ' ' && c < 0x7f && c != '\\' && c != '"';
      used += (size_t)snprintf(text + used, room - used, plain ? "%s%c" : "%s\\x%02x", quote, c);
    }
    snprintf(text + used, room - used, "\"");
  }
}

static bool another_file(const recsort_condition_desc *condition, const unsigned char *bytes,
                         size_t size, tool_why *why)
{
  const recsort_field_desc *const field = condition->field;
  char wanted[120] = "", found[60] = "";
  if (field == NULL) {
    const char *missing;
    has_lines(bytes, size, condition->line_text, &missing);
    const int length = (int)strcspn(missing, "\n");
    snprintf(why->text, sizeof why->text,
             "it is not what the schema expects: its header has no line \"%.*s\"%s",
             length < 100 ? length : 100, missing,
             missing > condition->line_text ? " where it should be" : "");
    return false;
  }
  if (condition->alternative_count == 0)
    snprintf(wanted, sizeof wanted, "at least %" PRIu64, condition->least);
  recsort_value value;
  recsort_field_get(field, bytes, 0, &value, sizeof value);
  for (size_t i = 0; i < condition->alternative_count && strlen(wanted) < 70; i++) {
    if (i > 0) strcat(wanted, " or ");
    write_value(wanted, sizeof wanted, alternative(condition, i, value));
  }
  write_value(found, sizeof found, value);
  snprintf(why->text, sizeof why->text,
           "it is not what the schema expects: at offset %zu there is %s instead of %s",
           field->offset, found, wanted);
  return false;
}

/* Checks what is expected: fields, or else lines, for which the header's end must be known. */
static bool meets(const tool_format *format, view *v, bool lines, size_t size)
{
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_place_desc *const place = &format->file.places[i];
    if (place->kind != RECSORT_PLACE_EXPECT || lines != (place->when->field == NULL)) continue;
    if (!lines && !reaches(v, end_of(place->when->field))) return false;
    if (!holds(place->when, v->bytes, lines ? size : v->size))
      return another_file(place->when, v->bytes, lines ? size : v->size, v->why);
  }
  return true;
}

/* ---- Reading ---- */

static const recsort_place_desc *find_place(const tool_format *format, recsort_place_kind first,
                                            recsort_place_kind last)
{
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_place_desc *const place = &format->file.places[i];
    if (place->kind >= first && place->kind <= last && tool_format_uses(format, place))
      return place;
  }
  return NULL;
}

/* Whether a place, or what it depends on, is a line. */
static bool has_words(const tool_format *format)
{
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_place_desc *const place = &format->file.places[i];
    if (!tool_format_uses(format, place)) continue;
    if (place->when != NULL && place->when->field == NULL) return true;
    if (place->kind != RECSORT_PLACE_EXPECT && place->field == NULL) return true;
  }
  return false;
}

/* Finds where the header ends: `*size` becomes its bytes that places may be in. */
static bool find_skip(tool_format *format, view *v, size_t *size)
{
  const recsort_place_desc *const place =
      find_place(format, RECSORT_PLACE_SKIP, RECSORT_PLACE_SKIP_LINES);
  if (place != NULL && place->kind != RECSORT_PLACE_SKIP) {
    if (!find_end(v, place, &format->skip)) return false;
  } else if (place != NULL && place->field != NULL) {
    if (!reaches(v, end_of(place->field)) ||
        !read_number(place, v->bytes, v->size, &format->skip, v->why)) {
      return false;
    }
    if (format->skip < end_of(place->field)) {
      snprintf(v->why->text, sizeof v->why->text,
               "its header of %" PRIu64 " bytes ends before the numbers that it should hold",
               format->skip);
      return false;
    }
  } else if (place != NULL) {
    size_t at, length;
    if (!find_digits(v->bytes, v->size, place->word, &at, &length) || at + length == v->size) {
      if (!v->ended && v->size < MOST_TEXT)
        return read_on(v, "its header has no line", place->word);
    }
    if (!read_number(place, v->bytes, v->size, &format->skip, v->why)) return false;
  }
  *size = format->skip < MOST_TEXT ? (size_t)format->skip : MOST_TEXT;
  return !has_words(format) || reaches(v, *size);
}

/* The records that a count or a length means. `*unknown`: it is 0, or was never filled in. A block
 * of repeated ones is always filled in: its length may have all bits set. */
static bool to_records(const tool_format *format, const recsort_place_desc *place,
                       const unsigned char *bytes, size_t size, uint64_t *records, bool *unknown,
                       tool_why *why)
{
  char text[PLACE_TEXT];
  uint64_t number;
  *unknown =
      place->kind == RECSORT_PLACE_LENGTH && !format->file.repeat && is_all_ones(place, bytes);
  *records = 0;
  if (*unknown) return true;
  if (!read_number(place, bytes, size, &number, why)) return false;
  *records = number;
  *unknown = number == 0;
  if (place->kind == RECSORT_PLACE_COUNT || number == 0) return true;
  int64_t length = 0;
  const bool good = !__builtin_mul_overflow((int64_t)number, (int64_t)place->unit, &length) &&
                    !__builtin_sub_overflow(length, place->plus, &length) && length >= 0;
  *records = good ? (uint64_t)length / format->record_size : 0;
  *unknown = length == 0;
  if (good && (uint64_t)length % format->record_size == 0) return true;
  snprintf(why->text, sizeof why->text,
           "its %s of %" PRIu64 " %s is no whole number of records of %zu bytes", name_of(place),
           number, where(place, text), format->record_size);
  return false;
}

/* The next place from `*at` on that says a count and is in the header, or behind the records. */
static const recsort_place_desc *next_count(const tool_format *format, const tool_bytes *header,
                                            bool behind, size_t *at)
{
  while (*at < format->file.place_count) {
    const recsort_place_desc *const place = &format->file.places[(*at)++];
    if ((place->kind == RECSORT_PLACE_COUNT || place->kind == RECSORT_PLACE_LENGTH) &&
        place->behind == behind && is_there(format, place, header->data, header->size)) {
      return place;
    }
  }
  return NULL;
}

bool tool_places_count(const tool_format *format, const tool_bytes *header)
{
  size_t at = 0, at_behind = 0;
  return next_count(format, header, false, &at) != NULL ||
         next_count(format, header, true, &at_behind) != NULL;
}

/* All places that say the count must agree. One that says 0 while others say more is not used. */
static bool read_counts(tool_format *format, const unsigned char *bytes, size_t size, tool_why *why)
{
  const recsort_place_desc *first = NULL;
  bool any = false;
  uint64_t count = 0;
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_place_desc *const place = &format->file.places[i];
    uint64_t records;
    bool unknown;
    char texts[2][PLACE_TEXT];
    if ((place->kind != RECSORT_PLACE_COUNT && place->kind != RECSORT_PLACE_LENGTH) ||
        place->behind || !is_there(format, place, bytes, size)) {
      continue;
    }
    if (!to_records(format, place, bytes, size, &records, &unknown, why)) return false;
    any = true;
    if (unknown || (first != NULL && records == count)) continue;
    if (first != NULL) {
      snprintf(why->text, sizeof why->text,
               "its header says two numbers of records: %" PRIu64 " %s and %" PRIu64 " %s", count,
               where(first, texts[0]), records, where(place, texts[1]));
      return false;
    }
    first = place;
    count = records;
  }
  if (any) format->count = count;
  format->zero = any && first == NULL;
  return true;
}

/* The number says units of bytes, and `plus` bytes that are not of the record. */
static bool read_record_size(const recsort_place_desc *place, const unsigned char *bytes,
                             size_t size, uint64_t *record_size, tool_why *why)
{
  uint64_t number;
  int64_t found;
  if (!read_number(place, bytes, size, &number, why)) return false;
  if (__builtin_mul_overflow((int64_t)number, (int64_t)place->unit, &found) ||
      __builtin_sub_overflow(found, place->plus, &found)) {
    found = INT64_MAX;
  }
  *record_size = (uint64_t)found;
  return found > 0 ? true : refuse(why, "its header says that a record has no bytes");
}

static bool read_sizes(tool_format *format, const unsigned char *bytes, size_t size, tool_why *why)
{
  const recsort_place_desc *const heap = find_place(format, RECSORT_PLACE_HEAP, RECSORT_PLACE_HEAP);
  const recsort_place_desc *const own = find_place(format, RECSORT_PLACE_SIZE, RECSORT_PLACE_SIZE);
  uint64_t record_size = format->record_size;
  if (heap != NULL && !read_number(heap, bytes, size, &format->heap, why)) return false;
  if (own != NULL && !read_record_size(own, bytes, size, &record_size, why)) return false;
  if (format->settled && record_size != format->record_size) {
    snprintf(why->text, sizeof why->text,
             "its records have %" PRIu64 " bytes, and those of the first input have %zu",
             record_size, format->record_size);
    return false;
  }
  format->record_size = (size_t)record_size;
  return true;
}

/* The last byte that the places need whose condition holds. */
static size_t places_end(const tool_format *format, const unsigned char *bytes, size_t size)
{
  size_t end = 0;
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_place_desc *const place = &format->file.places[i];
    if (place->behind || !is_there(format, place, bytes, size)) continue;
    if (end_of(place->field) > end) end = end_of(place->field);
  }
  return end;
}

/* The last byte that conditions need, as far as the header goes. */
static size_t conditions_end(const tool_format *format, size_t size)
{
  size_t end = 0;
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_condition_desc *const condition = format->file.places[i].when;
    const size_t its = condition != NULL ? end_of(condition->field) : 0;
    if (its > end && its <= size) end = its;
  }
  return end;
}

bool tool_places_read(tool_format *format, const unsigned char *bytes, size_t size, bool ended,
                      size_t *needed, tool_why *why)
{
  view v = {bytes, size, ended, 0, why};
  size_t header;
  bool good = meets(format, &v, false, 0) && find_skip(format, &v, &header) &&
              meets(format, &v, true, header) && reaches(&v, conditions_end(format, header));
  if (good && places_end(format, bytes, header) > header) {
    snprintf(why->text, sizeof why->text,
             "its header of %" PRIu64 " bytes ends before the numbers that it should hold",
             format->skip);
    good = false;
  }
  good = good && reaches(&v, places_end(format, bytes, header)) &&
         read_sizes(format, bytes, header, why) && read_counts(format, bytes, header, why);
  *needed = good ? size : v.needed;
  return good || (v.needed > size && !ended);
}

bool tool_places_end_at(const tool_format *format, const tool_bytes *header, uint64_t end)
{
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_place_desc *const place = &format->file.places[i];
    uint64_t number;
    tool_why why;
    if (place->kind == RECSORT_PLACE_AFTER && !place->behind &&
        is_there(format, place, header->data, header->size) &&
        read_number(place, header->data, header->size, &number, &why) &&
        number * place->unit == end) {
      return true;
    }
  }
  return false;
}

size_t tool_places_behind(const tool_format *format)
{
  size_t end = 0;
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_place_desc *const place = &format->file.places[i];
    if (place->behind && tool_format_uses(format, place) && end_of(place->field) > end)
      end = end_of(place->field);
  }
  return end;
}

bool tool_places_check(tool_format *format, const tool_bytes *header, const tool_bytes *trailer,
                       uint64_t count, tool_why *why)
{
  bool zero = false, said = format->count != TOOL_ANY;
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_place_desc *const place = &format->file.places[i];
    uint64_t records;
    bool unknown;
    char text[PLACE_TEXT];
    if (!place->behind || !is_there(format, place, header->data, header->size)) continue;
    if (end_of(place->field) > trailer->size)
      return refuse(why, "its trailer ends before the numbers that it should hold");
    if (place->kind == RECSORT_PLACE_AFTER) continue;
    if (!to_records(format, place, trailer->data, trailer->size, &records, &unknown, why))
      return false;
    zero |= unknown;
    said |= !unknown;
    if (records == count || unknown) continue;
    snprintf(why->text, sizeof why->text,
             "it has %" PRIu64 " records, and the number %s says %" PRIu64, count,
             where(place, text), records);
    return false;
  }
  if (!zero || said || count == 0) return true;
  format->zero = format->file.zero_all;
  return format->zero ||
         refuse(why,
                "its trailer says 0 records, and there are more; zero: all in the schema takes "
                "them");
}

/* ---- Writing ---- */

static bool no_room(const recsort_place_desc *place, uint64_t number, tool_why *why)
{
  snprintf(why->text, sizeof why->text, "its %s has no room for a %s of %" PRIu64,
           place->behind ? "trailer" : "header", name_of(place), number);
  return false;
}

/* Writes a number into its field; digits to the right, unless they were to the left. */
static bool write_field(const recsort_place_desc *place, tool_bytes *bytes, uint64_t number,
                        tool_why *why)
{
  const recsort_field_desc *const field = place->field;
  char digits[24];
  uint64_t back = 0;
  recsort_value value = {.kind = RECSORT_VALUE_UNSIGNED, .as.u = number};
  unsigned char *const at = bytes->data + field->offset;
  const int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
  if (field->type != RECSORT_CHAR) {
    recsort_field_set(field, bytes->data, 0, &value, sizeof value);
  } else if ((size_t)length <= field->size) {
    const bool left = *at >= '0' && *at <= '9' && field->size > 1;
    const int blank = left && at[field->size - 1] == '\0' ? '\0' : ' ';
    memset(at, blank, field->size);
    memcpy(left ? at : at + field->size - (size_t)length, digits, (size_t)length);
  }
  return (read_number(place, bytes->data, bytes->size, &back, why) && back == number) ||
         no_room(place, number, why);
}

/* Whether a line may become longer: nothing has a fixed place behind it. */
static bool may_move(const tool_format *format, size_t at)
{
  const recsort_place_desc *const skip =
      find_place(format, RECSORT_PLACE_SKIP, RECSORT_PLACE_SKIP_LINES);
  if (skip == NULL || skip->kind == RECSORT_PLACE_SKIP) return false;
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_place_desc *const place = &format->file.places[i];
    if (!place->behind && end_of(place->field) > at) return false;
    if (place->when != NULL && end_of(place->when->field) > at) return false;
  }
  return true;
}

/* Writes a number behind its word, with blanks behind it if it had more digits or blanks. If it
 * needs more room, the rest of the header moves. */
static bool write_word(const tool_format *format, const recsort_place_desc *place,
                       tool_bytes *bytes, uint64_t number, tool_why *why)
{
  char digits[24];
  size_t at, length;
  const size_t wanted = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, number);
  if (!find_digits(bytes->data, bytes->size, place->word, &at, &length))
    return no_room(place, number, why);
  size_t room = length;
  while (at + room < bytes->size && bytes->data[at + room] == ' ')
    room++;
  const int next = at + room < bytes->size ? bytes->data[at + room] : '\n';
  if (room > length && next != '\n' && next != '\r') room--; /* a blank before the next word */
  if (wanted > room) {
    if (!may_move(format, at)) return no_room(place, number, why);
    if (!tool_bytes_reserve(bytes, bytes->size + wanted)) return refuse(why, "out of memory");
    memmove(bytes->data + at + wanted, bytes->data + at + room, bytes->size - at - room);
    bytes->size += wanted - room;
    room = wanted;
  }
  memset(bytes->data + at, ' ', room);
  memcpy(bytes->data + at, digits, wanted);
  return true;
}

static bool write_number(const tool_format *format, const recsort_place_desc *place,
                         tool_bytes *bytes, uint64_t number, tool_why *why)
{
  return place->field != NULL ? write_field(place, bytes, number, why)
                              : write_word(format, place, bytes, number, why);
}

/* The number of a count or length for `count` records. */
static bool to_number(const tool_format *format, const recsort_place_desc *place, uint64_t count,
                      uint64_t *number, tool_why *why)
{
  int64_t length = 0;
  *number = count;
  if (place->kind == RECSORT_PLACE_COUNT) return true;
  if (__builtin_mul_overflow((int64_t)count, (int64_t)format->record_size, &length) ||
      __builtin_add_overflow(length, place->plus, &length) || length < 0 ||
      length % (int64_t)place->unit != 0) {
    snprintf(why->text, sizeof why->text,
             "its %s counts units of %" PRIu32 " bytes, in which %" PRIu64
             " records cannot be said",
             name_of(place), place->unit, count);
    return false;
  }
  *number = (uint64_t)length / place->unit;
  return true;
}

/* Moves an offset along. */
static bool move_offset(const tool_format *format, const recsort_place_desc *place,
                        const tool_bytes *old, int64_t by, tool_bytes *made, tool_why *why)
{
  char text[PLACE_TEXT];
  uint64_t number;
  int64_t moved = 0;
  if (is_all_ones(place, old->data)) return true;
  if (!read_number(place, old->data, old->size, &number, why)) return false;
  if (number == 0) return true;
  if (__builtin_mul_overflow((int64_t)number, (int64_t)place->unit, &moved) ||
      __builtin_add_overflow(moved, by, &moved) || moved < 0 || moved % (int64_t)place->unit != 0) {
    snprintf(why->text, sizeof why->text,
             "the number %s cannot move by %" PRId64 " bytes along with the records",
             where(place, text), by);
    return false;
  }
  return write_number(format, place, made, (uint64_t)moved / place->unit, why);
}

static bool is_unknown(const tool_format *format, const recsort_place_desc *place,
                       const tool_bytes *old)
{
  uint64_t records;
  bool unknown = false;
  tool_why why;
  return to_records(format, place, old->data, old->size, &records, &unknown, &why) && unknown;
}

/* A place that stays as it is, 0 or with all bits set, as other places say the count (LAS 1.4's
 * older count). */
static bool is_unused(const tool_format *format, const recsort_place_desc *place,
                      const tool_bytes *header, const tool_bytes *old)
{
  const recsort_place_desc *other;
  if (format->zero || !is_unknown(format, place, old)) return false;
  for (size_t at = 0; (other = next_count(format, header, false, &at)) != NULL;)
    if (!is_unknown(format, other, header)) return true;
  for (size_t at = 0; old != header && (other = next_count(format, header, true, &at)) != NULL;)
    if (!is_unknown(format, other, old)) return true;
  return false;
}

/* Writes the counts, or else the offsets, in the header or the trailer. */
static bool write_kind(const tool_format *format, const tool_bytes *header, const tool_bytes *old,
                       bool counts, const tool_change *change, int64_t grown, tool_bytes *made,
                       tool_why *why)
{
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_place_desc *const place = &format->file.places[i];
    const bool its = counts
                         ? place->kind == RECSORT_PLACE_COUNT || place->kind == RECSORT_PLACE_LENGTH
                         : place->kind == RECSORT_PLACE_AFTER;
    uint64_t number;
    if (!its || place->behind != (old != header) ||
        !is_there(format, place, header->data, header->size)) {
      continue;
    }
    if (counts) {
      if (is_unused(format, place, header, old)) continue;
      if (!to_number(format, place, change->to, &number, why) ||
          !write_number(format, place, made, number, why)) {
        return false;
      }
      continue;
    }
    const uint64_t from = format->zero ? 0 : change->from; /* which the offset was written for */
    const int64_t records = ((int64_t)change->to - (int64_t)from) * (int64_t)format->record_size;
    const int64_t padding =
        (int64_t)change->padding_after - (format->zero ? 0 : (int64_t)change->padding);
    if (!move_offset(format, place, old, grown + records + (place->unpadded ? 0 : padding), made,
                     why)) {
      return false;
    }
  }
  return true;
}

/* A header that grows moves everything, but only the offsets in the header itself move along. */
static bool can_grow(const tool_format *format, tool_why *why)
{
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_place_desc *const place = &format->file.places[i];
    if (place->kind == RECSORT_PLACE_AFTER && place->behind)
      return refuse(why, "its header would grow, and an offset in its trailer not move along");
  }
  return true;
}

bool tool_places_write(const tool_format *format, const tool_bytes *header,
                       const tool_bytes *trailer, const tool_change *change, tool_bytes *made,
                       tool_why *why)
{
  const tool_bytes *const old = trailer != NULL ? trailer : header;
  if (!tool_bytes_append(made, old->data, old->size)) return refuse(why, "out of memory");
  if (change->from == change->to && !format->zero) return true;
  if (!write_kind(format, header, old, true, change, 0, made, why)) return false;
  const int64_t grown = (int64_t)made->size - (int64_t)old->size;
  tool_change moved = *change;
  if (grown != 0 && !can_grow(format, why)) return false;
  if (grown != 0)
    moved.padding_after = tool_format_padding(format, format->skip + (uint64_t)grown, change->to);
  if (!write_kind(format, header, old, false, &moved, grown, made, why)) return false;
  return (int64_t)made->size - (int64_t)old->size == grown ||
         refuse(why, "its header has no room for an offset that has more digits");
}

/* ---- New files ---- */

static bool append_text(tool_bytes *bytes, const char *text)
{
  return tool_bytes_append(bytes, text, strlen(text));
}

/* Appends the lines that are expected, or hold numbers. */
static bool append_lines(const tool_format *format, tool_bytes *bytes)
{
  const recsort_place_desc *const skip =
      find_place(format, RECSORT_PLACE_SKIP, RECSORT_PLACE_SKIP_LINES);
  const bool ends = skip != NULL && skip->kind == RECSORT_PLACE_SKIP_LINE;
  bool good = !has_words(format) || bytes->size == 0 || append_text(bytes, "\n");
  for (size_t i = 0; good && i < format->file.place_count; i++) {
    const recsort_place_desc *const place = &format->file.places[i];
    if (place->kind == RECSORT_PLACE_EXPECT && place->when->field == NULL) {
      if (ends && strcmp(place->when->line_text, skip->word) == 0) continue;
      good = append_text(bytes, place->when->line_text) && append_text(bytes, "\n");
    } else if (place->kind != RECSORT_PLACE_EXPECT && place->kind != RECSORT_PLACE_SKIP_LINE &&
               place->kind != RECSORT_PLACE_SKIP_LINES && place->field == NULL &&
               place->when == NULL) {
      good = append_text(bytes, place->word) && append_text(bytes, " 0                   \n");
    }
  }
  if (good && ends) good = append_text(bytes, skip->word) && append_text(bytes, "\n");
  return good;
}

/* Writes what is expected of the fields of a header. */
static void write_expected(const tool_format *format, tool_bytes *bytes)
{
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_condition_desc *const when = format->file.places[i].when;
    if (format->file.places[i].kind != RECSORT_PLACE_EXPECT || when->field == NULL) continue;
    recsort_value value;
    recsort_field_get(when->field, bytes->data, 0, &value, sizeof value);
    if (when->alternative_count != 0)
      value = alternative(when, 0, value);
    else
      value.as.u = when->least;
    recsort_field_set(when->field, bytes->data, 0, &value, sizeof value);
  }
}

/* The zeros that a new header begins with: those with places that are always there. */
static size_t fixed_end(const tool_format *format)
{
  size_t end = 0;
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_place_desc *const place = &format->file.places[i];
    const bool expected = place->kind == RECSORT_PLACE_EXPECT;
    if (place->behind || (!expected && place->when != NULL)) continue;
    const size_t its = end_of(expected ? place->when->field : place->field);
    if (its > end) end = its;
  }
  return end;
}

/* Writes skip, size, heap, and offsets that are not used. */
static bool write_sizes(const tool_format *format, tool_bytes *bytes, tool_why *why)
{
  for (size_t i = 0; i < format->file.place_count; i++) {
    const recsort_place_desc *const place = &format->file.places[i];
    const recsort_place_kind kind = place->kind;
    const bool offset = kind == RECSORT_PLACE_AFTER && !place->behind && place->when == NULL;
    if (kind != RECSORT_PLACE_SKIP && kind != RECSORT_PLACE_SIZE && kind != RECSORT_PLACE_HEAP &&
        !offset) {
      continue;
    }
    const int64_t size = (int64_t)format->record_size + place->plus;
    if (kind == RECSORT_PLACE_SIZE && (size < 0 || size % (int64_t)place->unit != 0))
      return refuse(why, "the header cannot say the size of the schema's records");
    const uint64_t number = kind == RECSORT_PLACE_SKIP   ? format->skip
                            : kind == RECSORT_PLACE_SIZE ? (uint64_t)size / place->unit
                                                         : 0;
    if (!write_number(format, place, bytes, number, why)) return false;
  }
  return true;
}

bool tool_header_make(tool_format *format, uint64_t count, tool_bytes *header, tool_bytes *trailer,
                      tool_why *why)
{
  const recsort_place_desc *const skip =
      find_place(format, RECSORT_PLACE_SKIP, RECSORT_PLACE_SKIP_LINES);
  const size_t fixed = fixed_end(format), behind = tool_places_behind(format);
  tool_bytes made = {0};
  if (!tool_bytes_reserve(header, fixed) || !tool_bytes_reserve(trailer, behind))
    return refuse(why, "out of memory");
  header->size = fixed;
  trailer->size = behind;
  write_expected(format, header);
  if (!append_lines(format, header)) return refuse(why, "out of memory");
  if (skip != NULL) format->skip = header->size;
  if (header->size > format->skip)
    return refuse(why, "the header of a new file would be longer than the schema says");
  if (!write_sizes(format, header, why)) return false;
  if (skip != NULL) format->skip = header->size;
  const tool_change change = {.from = 0, .to = count};
  format->zero = true; /* every place gets its number */
  bool good = tool_places_write(format, header, NULL, &change, &made, why);
  if (good && skip != NULL) format->skip = made.size;
  tool_bytes_free(header);
  *header = made;
  made = (tool_bytes){0};
  good = good && tool_places_write(format, header, trailer, &change, &made, why);
  tool_bytes_free(trailer);
  *trailer = made;
  return good;
}
