#include "schema/reader.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/assert.h"
#include "schema/parse.h"
#include "schema/words.h"

struct rs_reader {
  yaml_parser_t yaml;
  yaml_event_t event; /* the next one */
  const char *source;
  rs_arena *arena;
  recsort_error *error;
  size_t words;
};

static rs_place place_of(const rs_reader *reader, yaml_mark_t mark)
{
  return (rs_place){reader->source, (uint32_t)mark.line + 1, (uint32_t)mark.column + 1};
}

rs_place rs_reader_place(const rs_reader *reader)
{
  return place_of(reader, reader->event.start_mark);
}

bool rs_reader_at_text(const rs_reader *reader)
{
  return reader->event.type == YAML_SCALAR_EVENT;
}

bool rs_reader_at_list(const rs_reader *reader)
{
  return reader->event.type == YAML_SEQUENCE_START_EVENT;
}

recsort_status rs_refuse(const rs_reader *reader, rs_place place, const rs_subject *subject,
                         const char *format, ...)
{
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (!subject) return rs_fail_at(reader->error, RECSORT_INVALID_SCHEMA, place, "%s", text);
  if (!subject->name->value)
    return rs_fail_at(reader->error, RECSORT_INVALID_SCHEMA, place, "%s: %s", subject->what, text);
  return rs_fail_at(reader->error, RECSORT_INVALID_SCHEMA, place, "%s \"%.*s\": %s", subject->what,
                    RS_SHOWN(subject->name->value), text);
}

/* ---- Checks of the whole text, before libyaml reads it
 * ------------------------------------------ */

/* True for the characters that YAML allows. The others are invisible, or a sign of another
 * encoding. */
static bool is_printable(uint32_t c)
{
  if (c < 0x20) return c == '\t' || c == '\n' || c == '\r';
  return (c < 0x7f || c >= 0xa0 || c == 0x85) && c != 0xfeff && c != 0xfffe && c != 0xffff;
}

/* libyaml compares each %TAG directive with all earlier ones, which takes long, and tags are not
 * allowed anyway. */
static bool is_tag_directive(const unsigned char *text, size_t size)
{
  return size >= 4 && memcmp(text, "%TAG", 4) == 0;
}

static const char *judge_character(const unsigned char *text, size_t size, size_t *length,
                                   uint32_t *character)
{
  *length = rs_utf8_next(text, size, character);
  if (*length == 0) return "bytes that are not UTF-8; save the file as UTF-8";
  if (*character == 0) return "a NUL character; save the file as UTF-8, not UTF-16";
  if (*character == 0xfeff) return "a byte order mark; save the file without one";
  if (!is_printable(*character)) return "a control character; remove it";
  return NULL;
}

static recsort_status check_text(const unsigned char *text, size_t size, const char *source,
                                 recsort_error *error)
{
  rs_place place = {source, 1, 1};
  if (size > RS_SCHEMA_MAX_BYTES)
    return rs_fail_at(error, RECSORT_INVALID_SCHEMA, (rs_place){source, 0, 0},
                      "larger than 1 MiB, which no schema is");
  for (size_t at = 0, length; at < size; at += length) {
    uint32_t c;
    const char *trouble = judge_character(text + at, size - at, &length, &c);
    if (!trouble && place.column == 1 && is_tag_directive(text + at, size - at))
      trouble = "tags are not allowed in a schema; leave the %TAG line out";
    if (trouble) return rs_fail_at(error, RECSORT_INVALID_SCHEMA, place, "%s", trouble);
    RS_ASSERT(length > 0 && length <= size - at);
    const bool ends_line = c == '\n' || (c == '\r' && !(at + 1 < size && text[at + 1] == '\n'));
    place.line += ends_line;
    place.column = ends_line ? 1 : place.column + 1;
  }
  return RECSORT_OK;
}

/* ---- Events --------------------------------------------------------------------------------- */

/* The usual cause of one of libyaml's messages. */
static const char *syntax_hint(const yaml_parser_t *yaml)
{
  const char *context = yaml->context ? yaml->context : "";
  if (strstr(context, "block scalar")) return "; put a type such as \">i2\" or \"|u1\" in quotes";
  if (strstr(yaml->problem, "cannot start any token"))
    return "; indent with spaces, and quote what begins with a special character, such as \">i2\"";
  if (strstr(context, "flow mapping") || strstr(context, "flow sequence"))
    return "; look for a missing bracket or comma, and put a path such as \"pos[2]\" in quotes";
  return "; look at the indentation, and for a missing colon or dash";
}

static recsort_status fail_syntax(const rs_reader *reader)
{
  const yaml_parser_t *yaml = &reader->yaml;
  if (yaml->error == YAML_MEMORY_ERROR || !yaml->problem)
    return rs_fail(reader->error, RECSORT_OUT_OF_MEMORY, "out of memory while reading YAML");
  return rs_refuse(reader, place_of(reader, yaml->problem_mark), NULL, "not YAML: %s%s",
                   yaml->problem, syntax_hint(yaml));
}

static const char *forbidden(const yaml_event_t *event)
{
  const yaml_char_t *anchor = NULL, *tag = NULL;
  switch (event->type) {
  case YAML_ALIAS_EVENT:
    return "aliases are not allowed in a schema; write the value again";
  case YAML_SCALAR_EVENT:
    anchor = event->data.scalar.anchor;
    tag = event->data.scalar.tag;
    break;
  case YAML_SEQUENCE_START_EVENT:
    anchor = event->data.sequence_start.anchor;
    tag = event->data.sequence_start.tag;
    break;
  case YAML_MAPPING_START_EVENT:
    anchor = event->data.mapping_start.anchor;
    tag = event->data.mapping_start.tag;
    break;
  default:
    break;
  }
  if (anchor) return "anchors are not allowed in a schema; leave the & word out";
  return tag ? "tags are not allowed in a schema; leave the ! word out" : NULL;
}

/* Moves on to the next event. */
static recsort_status advance(rs_reader *reader)
{
  yaml_event_delete(&reader->event);
  if (!yaml_parser_parse(&reader->yaml, &reader->event)) return fail_syntax(reader);
  const char *trouble = forbidden(&reader->event);
  if (trouble) return rs_refuse(reader, rs_reader_place(reader), NULL, "%s", trouble);
  if (rs_reader_at_text(reader) && ++reader->words > RS_SCHEMA_MAX_WORDS)
    return rs_refuse(reader, rs_reader_place(reader), NULL,
                     "more than %d words and values, which no schema has", RS_SCHEMA_MAX_WORDS);
  return RECSORT_OK;
}

static recsort_status begin(rs_reader *reader)
{
  recsort_status status = advance(reader); /* to the start of the stream, of the document, */
  if (!status) status = advance(reader);
  if (status) return status;
  if (reader->event.type == YAML_STREAM_END_EVENT)
    return rs_refuse(reader, (rs_place){reader->source, 1, 1}, NULL,
                     "empty; a schema begins with record: and the record's name");
  return advance(reader); /* of the mapping */
}

recsort_status rs_reader_open(const void *text, size_t size, const char *name, rs_arena *arena,
                              rs_reader **reader, recsort_error *error)
{
  recsort_status status = check_text(text, size, name, error);
  if (status) return status;
  rs_reader *opened = rs_arena_array(arena, 1, sizeof *opened);
  if (!opened) return rs_fail_memory(error, sizeof *opened);
  opened->source = name;
  opened->arena = arena;
  opened->error = error;
  if (!yaml_parser_initialize(&opened->yaml))
    return rs_fail(error, RECSORT_OUT_OF_MEMORY, "out of memory while reading YAML");
  yaml_parser_set_encoding(&opened->yaml, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&opened->yaml, text, size);
  *reader = opened;
  return begin(opened);
}

void rs_reader_close(rs_reader *reader)
{
  if (!reader) return;
  yaml_event_delete(&reader->event);
  yaml_parser_delete(&reader->yaml);
}

recsort_status rs_reader_end(rs_reader *reader)
{
  const recsort_status status = advance(reader); /* past the end of the document */
  if (status || reader->event.type == YAML_STREAM_END_EVENT) return status;
  return rs_refuse(reader, rs_reader_place(reader), NULL,
                   "a second document begins; a schema is one document");
}

/* ---- Nodes ---------------------------------------------------------------------------------- */

static const char *name_of_event(yaml_event_type_t type)
{
  switch (type) {
  case YAML_SCALAR_EVENT:
    return "a single value";
  case YAML_SEQUENCE_START_EVENT:
    return "a list";
  case YAML_MAPPING_START_EVENT:
    return "a mapping";
  default:
    return "nothing";
  }
}

static recsort_status expect(const rs_reader *reader, const rs_subject *subject, const char *what,
                             yaml_event_type_t type)
{
  if (reader->event.type == type) return RECSORT_OK;
  return rs_refuse(reader, rs_reader_place(reader), subject, "%s must be %s, not %s", what,
                   name_of_event(type), name_of_event(reader->event.type));
}

recsort_status rs_read_text(rs_reader *reader, const rs_subject *subject, const char *what,
                            rs_text *text)
{
  const recsort_status status = expect(reader, subject, what, YAML_SCALAR_EVENT);
  if (status) return status;
  const char *value = (const char *)reader->event.data.scalar.value;
  const size_t length = reader->event.data.scalar.length;
  const rs_place place = rs_reader_place(reader);
  if (strlen(value) != length)
    return rs_refuse(reader, place, subject, "%s holds a NUL character; leave it out", what);
  value = rs_arena_text(reader->arena, value);
  if (!value) return rs_fail_memory(reader->error, length);
  const bool quoted = reader->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  *text = (rs_text){value, quoted, place};
  return advance(reader);
}

recsort_status rs_read_list(rs_reader *reader, const rs_subject *subject, const char *what,
                            rs_item_reader *item, void *list)
{
  recsort_status status = expect(reader, subject, what, YAML_SEQUENCE_START_EVENT);
  if (!status) status = advance(reader);
  while (!status && reader->event.type != YAML_SEQUENCE_END_EVENT)
    status = item(reader, list);
  return status ? status : advance(reader);
}

static recsort_status refuse_word(const rs_reader *reader, const rs_subject *subject,
                                  const rs_text *word, const rs_slot *slots, size_t slot_count)
{
  char known[200];
  size_t used = 0;
  rs_guess guess = {.word = word->value};
  for (size_t i = 0; i < slot_count; i++) {
    rs_guess_offer(&guess, slots[i].word);
    used +=
        (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", slots[i].word);
    RS_ASSERT(used < sizeof known);
  }
  if (guess.nearest)
    return rs_refuse(reader, word->place, subject, "unknown word \"%.*s\"; did you mean %s?",
                     RS_SHOWN(word->value), guess.nearest);
  return rs_refuse(reader, word->place, subject, "unknown word \"%.*s\"; known here: %s",
                   RS_SHOWN(word->value), known);
}

static recsort_status read_pair(rs_reader *reader, const rs_subject *subject, rs_slot *slots,
                                size_t slot_count)
{
  rs_text word = {0};
  const recsort_status status = rs_read_text(reader, subject, "a word before a colon", &word);
  if (status) return status;
  rs_slot *slot = slots;
  while (slot < slots + slot_count && strcmp(slot->word, word.value) != 0)
    slot++;
  if (slot == slots + slot_count) return refuse_word(reader, subject, &word, slots, slot_count);
  if (slot->place.line)
    return rs_refuse(reader, word.place, subject, "%s is given twice, first on line %u", slot->word,
                     slot->place.line);
  slot->place = word.place;
  RS_ASSERT(slot->text || slot->node || slot->item);
  if (slot->text) return rs_read_text(reader, subject, slot->word, slot->text);
  return slot->node ? slot->node(reader, slot->list)
                    : rs_read_list(reader, subject, slot->word, slot->item, slot->list);
}

recsort_status rs_read_mapping(rs_reader *reader, const rs_subject *subject, rs_slot *slots,
                               size_t slot_count)
{
  const char *what = subject ? "it" : "a schema";
  recsort_status status = expect(reader, subject, what, YAML_MAPPING_START_EVENT);
  if (!status) status = advance(reader);
  while (!status && reader->event.type != YAML_MAPPING_END_EVENT)
    status = read_pair(reader, subject, slots, slot_count);
  return status ? status : advance(reader);
}

void *rs_reader_memory(const rs_reader *reader, size_t count, size_t size)
{
  void *memory = rs_arena_array(reader->arena, count, size);
  if (!memory) rs_fail_memory(reader->error, count * size);
  return memory;
}

void *rs_reader_grow(const rs_reader *reader, void *items, size_t count, size_t size)
{
  RS_ASSERT(items || count == 0);
  if (count & (count - 1)) return items; /* full only at the powers of two */
  void *larger = rs_reader_memory(reader, count ? 2 * count : 1, size);
  return larger && count ? memcpy(larger, items, count * size) : larger;
}
