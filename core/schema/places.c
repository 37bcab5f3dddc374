#include "schema/places.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "schema/together.h"
#include "schema/values.h"
#include "schema/words.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

enum { MAX_PLACES = 1024 }; /* a limit, as each is compared with the others */

/* ---- Words of a place ----------------------------------------------------------------------- */

enum { OFFSET, TRAILER, TYPE, COUNT, ENDIAN, LINE_WORD, LINES, PLUS, UNIT, UNPADDED, LEAST, TEXTS };
/* Words that are no single text. */
enum { LINE = TEXTS, BYTES, VALUE, WHEN, WORDS };

static const char *const words[WORDS] = {
    [OFFSET] = "offset", [TRAILER] = "trailer",   [TYPE] = "type",   [COUNT] = "count",
    [ENDIAN] = "endian", [LINE_WORD] = "word",    [LINES] = "lines", [PLUS] = "plus",
    [UNIT] = "unit",     [UNPADDED] = "unpadded", [LEAST] = "least", [LINE] = "line",
    [BYTES] = "bytes",   [VALUE] = "value",       [WHEN] = "when"};

enum {
  FIELD = 1u << OFFSET | 1u << TYPE | 1u << COUNT | 1u << ENDIAN,
  NUMBER = FIELD | 1u << LINE_WORD,
  BEHIND = NUMBER | 1u << TRAILER | 1u << WHEN,
  CONDITION = FIELD | 1u << LINE | 1u << BYTES | 1u << VALUE | 1u << LEAST
};

/* A word of the schema that has places. */
typedef struct rs_place_word {
  const char *word;
  recsort_place_kind kind;
  bool number; /* it may be a number in place of a place */
  bool list;   /* it may have several places */
  unsigned may;
} place_word;

static const place_word place_words[] = {
    {"size", RECSORT_PLACE_SIZE, true, false, NUMBER | 1u << PLUS | 1u << UNIT},
    {"skip", RECSORT_PLACE_SKIP, true, false, NUMBER | 1u << LINE | 1u << LINES},
    {"count", RECSORT_PLACE_COUNT, true, true, BEHIND},
    {"length", RECSORT_PLACE_LENGTH, false, true, BEHIND | 1u << PLUS | 1u << UNIT},
    {"after", RECSORT_PLACE_AFTER, false, true, BEHIND | 1u << UNPADDED | 1u << UNIT},
    {"expect", RECSORT_PLACE_EXPECT, false, true, CONDITION}};
enum { SIZE_WORD, SKIP_WORD, COUNT_WORD };
static const place_word when_word = {"when", RECSORT_PLACE_EXPECT, false, false, CONDITION};
static const place_word heap_word = {"heap", RECSORT_PLACE_HEAP, false, false, NUMBER};

/* The subject of a message is a word, which has no name. */
static const rs_text no_name = {0};

/* Texts of a list, or one. */
typedef struct text_list {
  const char *word;
  rs_text *items;
  size_t count;
} text_list;

/* The text of a place or a condition. */
typedef struct place_text {
  const place_word *word;
  rs_subject subject;
  rs_place place;
  rs_text text[TEXTS];
  text_list line, bytes, value;
  const recsort_condition_desc *when;
} place_text;

static recsort_status read_listed_text(rs_reader *reader, void *context)
{
  text_list *const list = context;
  rs_text *const items = rs_reader_grow(reader, list->items, list->count, sizeof *items);
  if (!items) return RECSORT_OUT_OF_MEMORY;
  list->items = items;
  const recsort_status status = rs_read_text(reader, NULL, list->word, &items[list->count]);
  list->count += !status;
  return status;
}

static recsort_status read_texts(rs_reader *reader, void *context)
{
  text_list *const list = context;
  if (!rs_reader_at_list(reader)) return read_listed_text(reader, list);
  const rs_place place = rs_reader_place(reader);
  const recsort_status status = rs_read_list(reader, NULL, list->word, read_listed_text, list);
  if (status || list->count) return status;
  return rs_refuse(reader, place, NULL, "%s is an empty list", list->word);
}

static recsort_status read_when(rs_reader *reader, void *context);

/* Reads the words of a place; which ones it may have, `text->word` says. */
static recsort_status read_words(rs_reader *reader, place_text *text)
{
  rs_slot slots[WORDS];
  size_t count = 0;
  text->place = rs_reader_place(reader);
  text->subject = (rs_subject){text->word->word, &no_name};
  text->line.word = words[LINE];
  text->bytes.word = words[BYTES];
  text->value.word = words[VALUE];
  RS_ASSERT(text->word->may);
  for (unsigned i = 0; i < WORDS; i++) {
    if (!(text->word->may >> i & 1)) continue;
    rs_slot *const slot = &slots[count++];
    *slot = (rs_slot){.word = words[i]};
    if (i < TEXTS) {
      slot->text = &text->text[i];
    } else {
      slot->node = i == WHEN ? read_when : read_texts;
      slot->list = i == LINE    ? (void *)&text->line
                   : i == BYTES ? (void *)&text->bytes
                   : i == VALUE ? (void *)&text->value
                                : (void *)&text->when;
    }
  }
  RS_ASSERT(count > 0);
  return rs_read_mapping(reader, &text->subject, slots, count);
}

/* ---- Fields --------------------------------------------------------------------------------- */

/* Texts one after the other, with what stands between them. */
static char *join(const rs_reader *reader, const text_list *list, const char *between)
{
  size_t size = 1;
  for (size_t i = 0; i < list->count; i++)
    size += strlen(list->items[i].value) + strlen(between);
  char *const joined = rs_reader_memory(reader, size, 1);
  char *end = joined;
  for (size_t i = 0; i < list->count && joined; i++)
    end += sprintf(end, "%s%s", i ? between : "", list->items[i].value);
  RS_ASSERT(!joined || (size_t)(end - joined) < size);
  return joined;
}

/* A field of the header, or behind the records. Of a condition with bytes, which have no type, it
 * is a char of their length. */
static recsort_status make_field(const rs_reader *reader, const place_text *text,
                                 const recsort_field_desc **field)
{
  const rs_text *const offset = &text->text[text->text[TRAILER].value ? TRAILER : OFFSET];
  const rs_text *const type = &text->text[TYPE];
  recsort_field_desc *const made = rs_reader_memory(reader, 1, sizeof *made);
  if (!made) return RECSORT_OUT_OF_MEMORY;
  *made = (recsort_field_desc){.name = text->word->word,
                               .type = RECSORT_CHAR,
                               .line = text->place.line,
                               .column = text->place.column};
  *field = made;
  recsort_status status = rs_read_offset(reader, &text->subject, offset, made);
  if (status) return status;
  if (text->bytes.count) {
    made->size = strlen(text->bytes.items[0].value);
    return RECSORT_OK;
  }
  rs_type_word found = {0};
  if (!type->value)
    return rs_refuse(reader, text->place, &text->subject,
                     "it has no type; say {offset: 8, type: uint32}");
  status = rs_read_type(reader, &text->subject, words[TYPE], type, &found);
  if (status) return status;
  made->type = found.type;
  status = rs_read_endian(reader, &text->subject, &text->text[ENDIAN], &made->endian);
  if (!status)
    status =
        rs_combine_endian(reader, &text->subject, words[TYPE], type, found.endian, &made->endian);
  if (status) return status;
  return rs_read_count(reader, &text->subject, &text->text[COUNT], found.count, made);
}

/* Refuses the words of a field beside a word that stands for one, or for its type. */
static recsort_status refuse_beside(const rs_reader *reader, const place_text *text, unsigned first,
                                    const char *beside)
{
  RS_ASSERT(first <= ENDIAN);
  for (unsigned i = first; i <= ENDIAN; i++)
    if (text->text[i].value)
      return rs_refuse(reader, text->text[i].place, &text->subject, "%s does not go with %s",
                       words[i], beside);
  return RECSORT_OK;
}

/* ---- Conditions ----------------------------------------------------------------------------- */

static recsort_status make_bytes(const rs_reader *reader, const place_text *text,
                                 recsort_condition_desc *condition)
{
  const text_list *const bytes = &text->bytes;
  for (size_t i = 0; i < bytes->count; i++) {
    const size_t size = strlen(bytes->items[i].value);
    if (size == 0 || size != strlen(bytes->items[0].value))
      return rs_refuse_value(reader, &text->subject, words[BYTES], &bytes->items[i],
                             size ? "is not as long as the text before it" : "is empty");
  }
  condition->texts = join(reader, bytes, "");
  condition->alternative_count = bytes->count;
  return condition->texts ? RECSORT_OK : RECSORT_OUT_OF_MEMORY;
}

static recsort_status make_values(const rs_reader *reader, const place_text *text,
                                  recsort_condition_desc *condition)
{
  const text_list *const value = &text->value;
  const recsort_type type = condition->field->type;
  if (!rs_type_is_integer(type))
    return rs_refuse_value(reader, &text->subject, words[TYPE], &text->text[TYPE],
                           "is not an integer type; say {offset: 0, bytes: ABCD} for text");
  int64_t *const values = rs_reader_memory(reader, value->count, sizeof *values);
  if (!values) return RECSORT_OUT_OF_MEMORY;
  recsort_status status =
      rs_read_positive(reader, &text->subject, words[LEAST], &text->text[LEAST], &condition->least);
  for (size_t i = 0; i < value->count && !status; i++)
    status =
        rs_read_integer(reader, &text->subject, words[VALUE], &value->items[i], type, &values[i]);
  condition->values = values;
  condition->alternative_count = value->count;
  return status;
}

static recsort_status make_condition(const rs_reader *reader, const place_text *text,
                                     recsort_condition_desc *condition)
{
  const bool field = text->text[OFFSET].value, line = text->line.count;
  const int says =
      (text->bytes.count > 0) + (text->value.count > 0) + (text->text[LEAST].value != NULL) + line;
  *condition = (recsort_condition_desc){.line = text->place.line, .column = text->place.column};
  if (says != 1 || field == line)
    return rs_refuse(reader, text->place, &text->subject,
                     "it has an offset and one of bytes, value and least, or a line");
  recsort_status status = RECSORT_OK;
  if (line) {
    condition->line_text = join(reader, &text->line, "\n");
    return condition->line_text ? refuse_beside(reader, text, TYPE, words[LINE])
                                : RECSORT_OUT_OF_MEMORY;
  }
  if (text->bytes.count) status = refuse_beside(reader, text, TYPE, words[BYTES]);
  if (!status) status = make_field(reader, text, &condition->field);
  if (status) return status;
  return text->bytes.count ? make_bytes(reader, text, condition)
                           : make_values(reader, text, condition);
}

static recsort_status read_condition(rs_reader *reader, const place_word *word,
                                     const recsort_condition_desc **condition)
{
  place_text text = {.word = word};
  recsort_condition_desc *const made = rs_reader_memory(reader, 1, sizeof *made);
  if (!made) return RECSORT_OUT_OF_MEMORY;
  *condition = made;
  const recsort_status status = read_words(reader, &text);
  return status ? status : make_condition(reader, &text, made);
}

static recsort_status read_when(rs_reader *reader, void *context)
{
  return read_condition(reader, &when_word, context);
}

/* ---- Places --------------------------------------------------------------------------------- */

/* Reads the words that only some places have. */
static recsort_status read_extras(const rs_reader *reader, const place_text *text,
                                  recsort_place_desc *place)
{
  static const rs_word_value yes_or_no[] = {{"false", false}, {"true", true}};
  const rs_text *const given = text->text;
  int unpadded = false;
  uint64_t unit = 0;
  recsort_status status = rs_read_choice(reader, &text->subject, words[UNPADDED], &given[UNPADDED],
                                         yes_or_no, LENGTH(yes_or_no), &unpadded);
  if (!status && given[PLUS].value)
    status = rs_read_integer(reader, &text->subject, words[PLUS], &given[PLUS], RECSORT_INT32,
                             &place->plus);
  if (!status) status = rs_read_positive(reader, &text->subject, words[UNIT], &given[UNIT], &unit);
  if (!status && unit > UINT32_MAX)
    status = rs_refuse_value(reader, &text->subject, words[UNIT], &given[UNIT], "is too large");
  place->unpadded = unpadded;
  place->unit = (uint32_t)unit;
  return status;
}

static recsort_status make_place(const rs_reader *reader, const place_text *text,
                                 recsort_place_desc *place)
{
  const rs_text *const given = text->text;
  const char *word = given[LINES].value ? given[LINES].value : given[LINE_WORD].value;
  const bool field = given[OFFSET].value || given[TRAILER].value;
  const int says = (given[OFFSET].value != NULL) + (given[TRAILER].value != NULL) +
                   (given[LINE_WORD].value != NULL) + (given[LINES].value != NULL) +
                   (text->line.count > 0);
  *place = (recsort_place_desc){.kind = text->word->kind,
                                .behind = given[TRAILER].value != NULL,
                                .when = text->when,
                                .line = text->place.line,
                                .column = text->place.column};
  if (says != 1 && !field)
    return rs_refuse(reader, text->place, &text->subject,
                     "it has no offset; say {offset: 8, type: uint32}");
  if (says != 1 || text->line.count > 1)
    return rs_refuse(reader, text->place, &text->subject, "it says more than one place");
  if (text->line.count) {
    place->kind = RECSORT_PLACE_SKIP_LINE;
    word = text->line.items[0].value;
  }
  if (given[LINES].value) place->kind = RECSORT_PLACE_SKIP_LINES;
  place->word = word;
  const recsort_status status =
      field ? make_field(reader, text, &place->field)
            : refuse_beside(reader, text, TYPE,
                            given[LINE_WORD].value ? words[LINE_WORD] : words[LINE]);
  return status ? status : read_extras(reader, text, place);
}

static recsort_status read_place(rs_reader *reader, rs_file_text *file, const place_word *word)
{
  recsort_place_desc place = {.kind = word->kind};
  place_text text = {.word = word};
  recsort_status status;
  if (file->place_count == MAX_PLACES)
    return rs_refuse(reader, rs_reader_place(reader), NULL,
                     "more than %d places, which no file has", MAX_PLACES);
  if (word->kind == RECSORT_PLACE_EXPECT) {
    status = read_condition(reader, word, &place.when);
    if (status) return status;
    place.line = place.when->line;
    place.column = place.when->column;
  } else {
    status = read_words(reader, &text);
    if (!status) status = make_place(reader, &text, &place);
  }
  if (status) return status;
  recsort_place_desc *const places =
      rs_reader_grow(reader, file->places, file->place_count, sizeof *places);
  if (!places) return RECSORT_OUT_OF_MEMORY;
  file->places = places;
  places[file->place_count++] = place;
  return RECSORT_OK;
}

static recsort_status read_listed_place(rs_reader *reader, void *context)
{
  rs_place_list *const list = context;
  return read_place(reader, list->file, list->word);
}

static recsort_status read_places(rs_reader *reader, void *context)
{
  rs_place_list *const list = context;
  if (list->word->number && rs_reader_at_text(reader))
    return rs_read_text(reader, NULL, list->word->word, &list->number);
  if (!list->word->list || !rs_reader_at_list(reader)) return read_listed_place(reader, list);
  const rs_place place = rs_reader_place(reader);
  const size_t before = list->file->place_count;
  const recsort_status status =
      rs_read_list(reader, NULL, list->word->word, read_listed_place, list);
  if (status || list->file->place_count > before) return status;
  return rs_refuse(reader, place, NULL, "%s is an empty list", list->word->word);
}

static recsort_status read_heap(rs_reader *reader, void *file)
{
  return read_place(reader, file, &heap_word);
}

static const rs_subject pad_subject = {"pad", &no_name};

static recsort_status read_pad(rs_reader *reader, void *context)
{
  rs_file_text *const file = context;
  const rs_place place = rs_reader_place(reader);
  rs_slot slots[] = {{.word = "to", .text = &file->pad_to},
                     {.word = "with", .text = &file->pad_with},
                     {.word = "heap", .node = read_heap, .list = file}};
  const recsort_status status = rs_read_mapping(reader, &pad_subject, slots, LENGTH(slots));
  if (status || file->pad_to.value) return status;
  return rs_refuse(reader, place, &pad_subject, "it has no to; say {to: 2880}");
}

/* ---- All words ------------------------------------------------------------------------------ */

void rs_file_slots(rs_file_text *file, rs_slot *slots)
{
  for (size_t i = 0; i < LENGTH(place_words); i++) {
    file->lists[i] = (rs_place_list){.file = file, .word = &place_words[i]};
    *slots++ = (rs_slot){.word = place_words[i].word, .node = read_places, .list = &file->lists[i]};
  }
  *slots++ = (rs_slot){.word = "trailer", .text = &file->trailer};
  *slots++ = (rs_slot){.word = "pad", .node = read_pad, .list = file};
  *slots++ = (rs_slot){.word = "zero", .text = &file->zero};
  *slots = (rs_slot){.word = "repeat", .text = &file->repeat};
}

static recsort_status read_trailer(const rs_reader *reader, const rs_text *text, uint64_t *trailer)
{
  if (!text->value || text->quoted || strcmp(text->value, "any") != 0)
    return rs_read_number(reader, NULL, "trailer", text, trailer);
  *trailer = RECSORT_ANY_TRAILER;
  return RECSORT_OK;
}

static recsort_status read_pads(const rs_reader *reader, const rs_file_text *file,
                                recsort_schema_desc *desc)
{
  uint64_t to = 0;
  int64_t with = 0;
  recsort_status status = rs_read_positive(reader, &pad_subject, "to", &file->pad_to, &to);
  if (!status && file->pad_with.value)
    status = rs_read_integer(reader, &pad_subject, "with", &file->pad_with, RECSORT_UINT8, &with);
  if (!status && to > UINT32_MAX)
    status = rs_refuse_value(reader, &pad_subject, "to", &file->pad_to, "is too large");
  desc->pad_to = (uint32_t)to;
  desc->pad_with = (uint8_t)with;
  return status;
}

static recsort_status check_together(const rs_reader *reader, const rs_file_text *file,
                                     const recsort_schema_desc *desc)
{
  rs_file_word at = RS_OTHER_WORD;
  const char *const why = rs_file_trouble(desc, &at);
  if (!why) return RECSORT_OK;
  const rs_place places[] = {[RS_OTHER_WORD] = file->lists[SKIP_WORD].number.place,
                             [RS_TRAILER_WORD] = file->trailer.place,
                             [RS_PAD_WORD] = file->pad_to.place,
                             [RS_ZERO_WORD] = file->zero.place,
                             [RS_REPEAT_WORD] = file->repeat.place};
  RS_ASSERT((size_t)at < LENGTH(places));
  return rs_refuse(reader, places[at], NULL, "%s", why);
}

recsort_status rs_judge_file(const rs_reader *reader, const rs_file_text *file,
                             recsort_schema_desc *desc)
{
  static const rs_word_value repeats[] = {{"false", false}, {"true", true}};
  static const rs_word_value zeros[] = {{"all", true}};
  const rs_text *const size = &file->lists[SIZE_WORD].number;
  int repeat = false, zero = false;
  desc->places = file->places;
  desc->place_count = file->place_count;
  desc->line = size->place.line;
  desc->column = size->place.column;
  uint64_t bytes = 0;
  recsort_status status = rs_read_positive(reader, NULL, "size", size, &bytes);
  desc->size = bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
  if (!status)
    status = rs_read_number(reader, NULL, "skip", &file->lists[SKIP_WORD].number, &desc->skip);
  if (!status)
    status = rs_read_positive(reader, NULL, "count", &file->lists[COUNT_WORD].number, &desc->count);
  if (!status) status = read_trailer(reader, &file->trailer, &desc->trailer);
  if (!status) status = read_pads(reader, file, desc);
  if (!status)
    status =
        rs_read_choice(reader, NULL, "repeat", &file->repeat, repeats, LENGTH(repeats), &repeat);
  if (!status)
    status = rs_read_choice(reader, NULL, "zero", &file->zero, zeros, LENGTH(zeros), &zero);
  desc->repeat = repeat;
  desc->zero_all = zero;
  return status ? status : check_together(reader, file, desc);
}
