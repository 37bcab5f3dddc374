/* npy.c - see npy.h.
 *
 * A .npy file begins with a magic number, a version, the length of the rest of the header, and a
 * Python literal: {'descr': ..., 'fortran_order': False, 'shape': (3,), }, blanks and a newline.
 * The records follow. `descr` is the spelling of a type, or a list of fields, which become the
 * fields of a schema's text. So the library judges the types.
 */
#include "npy.h"

#include "support/input.h"
#include "support/message.h"
#include "support/signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PREFIX = 12, MOST_BYTES = 1 << 20, MOST_LEVELS = 32, ALIGNMENT = 64 };

/* ---- Python literals ---------------------------------------------------------------------- */

typedef struct literal {
  const char *at;
  const char *end;
} literal;

/* The next character that is no blank; NUL at the end. */
static char peek(literal *text)
{
  while (text->at < text->end && *text->at == ' ')
    text->at++;
  return text->at < text->end ? *text->at : '\0';
}

static bool take(literal *text, char wanted)
{
  const bool found = peek(text) == wanted;
  if (found) text->at++;
  return found;
}

/* A string without escapes. */
static bool take_string(literal *text, literal *string)
{
  const char quote = peek(text);
  if (quote != '\'' && quote != '"') return false;
  const char *const begin = text->at + 1;
  const char *const end = memchr(begin, quote, (size_t)(text->end - begin));
  if (end == NULL || memchr(begin, '\\', (size_t)(end - begin)) != NULL) return false;
  *string = (literal){begin, end};
  text->at = end + 1;
  return true;
}

static bool equals(literal string, const char *word)
{
  const size_t length = (size_t)(string.end - string.at);
  return length == strlen(word) && memcmp(string.at, word, length) == 0;
}

static bool take_number(literal *text, uint64_t *number)
{
  *number = 0;
  peek(text);
  const char *const begin = text->at;
  for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++) {
    if (__builtin_mul_overflow(*number, 10u, number) ||
        __builtin_add_overflow(*number, (uint64_t)(*text->at - '0'), number)) {
      return false;
    }
  }
  return text->at > begin;
}

/* Passes over a value: strings, and whatever is in brackets. */
static bool skip_value(literal *text)
{
  size_t open = 0;
  for (char c; (c = peek(text)) != '\0';) {
    literal string;
    if (open == 0 && (c == ',' || c == '}' || c == ')' || c == ']')) return true;
    if (c == '\'' || c == '"') {
      if (!take_string(text, &string)) return false;
      continue;
    }
    open += c == '(' || c == '[';
    open -= c == ')' || c == ']';
    text->at++;
  }
  return false;
}

/* (3, 4): the product of the numbers. */
static bool take_shape(literal *text, uint64_t *product)
{
  *product = 1;
  if (!take(text, '(')) return take_number(text, product);
  while (!take(text, ')')) {
    uint64_t number;
    if (!take_number(text, &number) || __builtin_mul_overflow(*product, number, product)) {
      return false;
    }
    if (!take(text, ',') && peek(text) != ')') return false;
  }
  return true;
}

/* ---- Fields ------------------------------------------------------------------------------- */

/* The schema as it is written. */
typedef struct writer {
  FILE *fields;
  FILE *keys;
  bool utf8;      /* otherwise names are Latin-1 */
  bool unordered; /* there is an array of structs, which cannot be a key */
  unsigned padding;
  tool_why *why;
} writer;

static bool refuse(tool_why *why, const char *text)
{
  snprintf(why->text, sizeof why->text, "%s", text);
  return false;
}

static void write_name(const writer *w, FILE *to, literal name)
{
  for (; name.at < name.end; name.at++) {
    const unsigned char c = (unsigned char)*name.at;
    if (c == '"') fputc('\\', to);
    if (c >= 0x80 && !w->utf8) {
      fputc(0xc0 | c >> 6, to);
      fputc(0x80 | (c & 0x3f), to);
    } else {
      fputc(c, to);
    }
  }
}

/* Writes the type of `count` elements; 0: no array. Text of 4-byte characters is compared like an
 * array of integers; an array of strings, like one string. */
static bool write_type(const writer *w, literal type, uint64_t count)
{
  const size_t length = (size_t)(type.end - type.at);
  const char kind = length > 1 ? type.at[1] : '\0';
  const bool text = kind == 'U', string = kind == 'S' || kind == 'V';
  uint64_t size = 1;
  if (length < 3 || strchr("biufMUSV", kind) == NULL || memchr(type.at, '"', length) != NULL) {
    snprintf(w->why->text, sizeof w->why->text, "recsort has no type for the dtype '%.*s'",
             length > 40 ? 40 : (int)length, type.at);
    return false;
  }
  if (text || string) {
    literal digits = {type.at + 2, type.end};
    if (!take_number(&digits, &size) || digits.at != digits.end || size == 0 ||
        __builtin_mul_overflow(size, count != 0 ? count : 1, &count)) {
      return refuse(w->why, "its header has a string without a length");
    }
  }
  if (text) {
    fprintf(w->fields, "type: \"%cu4\"", *type.at);
  } else if (string) {
    fprintf(w->fields, "type: %s", kind == 'S' ? "char" : "bytes");
  } else {
    fprintf(w->fields, "type: \"%.*s\"", (int)length, type.at);
  }
  if (count != 0) fprintf(w->fields, ", count: %" PRIu64, count);
  return true;
}

static bool write_fields(writer *w, literal *list, const char *path, unsigned level);

/* Writes the type of a field and its key. `path` is NULL if it is no key. */
static bool write_value(writer *w, literal *text, uint64_t count, const char *path, unsigned level)
{
  literal type;
  if (peek(text) == '[') {
    const bool array = count != 0;
    w->unordered |= array && path != NULL;
    fputs("type: struct", w->fields);
    if (array) fprintf(w->fields, ", count: %" PRIu64, count);
    fputs(", fields: [", w->fields);
    if (!write_fields(w, text, array ? NULL : path, level + 1)) return false;
    fputs("]", w->fields);
    return true;
  }
  if (!take_string(text, &type)) return refuse(w->why, "its header is not a valid dtype");
  if (path != NULL) fprintf(w->keys, "- \"%s\"\n", path);
  return write_type(w, type, count);
}

/* A field: its name, or a title and a name; its type; and a shape if it is an array. */
static bool write_field(writer *w, literal *list, const char *path, unsigned level)
{
  static const char invalid[] = "its header is not a valid dtype";
  literal name;
  uint64_t count = 0;
  bool good = take(list, '(');
  if (good && take(list, '(')) {
    good =
        take_string(list, &name) && take(list, ',') && take_string(list, &name) && take(list, ')');
  } else {
    good = good && take_string(list, &name);
  }
  good = good && take(list, ',');
  literal type = *list;
  if (!good || (peek(&type) == '[' ? !skip_value(list) : !take_string(list, &(literal){0}))) {
    return refuse(w->why, invalid);
  }
  if (take(list, ',') && peek(list) != ')' && !take_shape(list, &count)) {
    return refuse(w->why, invalid);
  }
  if (!take(list, ')')) return refuse(w->why, invalid);
  const bool padding = name.at == name.end;
  char *whole = NULL;
  size_t size;
  FILE *const own = open_memstream(&whole, &size);
  if (own == NULL) return refuse(w->why, "out of memory");
  if (path != NULL) fprintf(own, "%s%s", path, *path != '\0' ? "." : "");
  write_name(w, own, name);
  fclose(own);
  fputs("{name: \"", w->fields);
  if (padding) fprintf(w->fields, "padding %u", ++w->padding);
  write_name(w, w->fields, name);
  fputs("\", ", w->fields);
  good = write_value(w, &type, count, path != NULL && !padding ? whole : NULL, level);
  fputs("},\n", w->fields);
  free(whole);
  return good;
}

static bool write_fields(writer *w, literal *list, const char *path, unsigned level)
{
  if (level > MOST_LEVELS) return refuse(w->why, "its fields are nested too deep");
  if (!take(list, '[') || peek(list) == ']') {
    return refuse(w->why, "its header is not a valid dtype");
  }
  while (!take(list, ']')) {
    if (!write_field(w, list, path, level)) return false;
    if (!take(list, ',') && peek(list) != ']') {
      return refuse(w->why, "its header is not a valid dtype");
    }
  }
  return true;
}

/* ---- The header --------------------------------------------------------------------------- */

typedef struct npy_header {
  size_t start; /* of the literal */
  size_t size;
  literal types;
  literal count; /* the digits of the first number of the shape */
  uint64_t rows;
  uint64_t columns; /* elements of a row; 0: there is one dimension */
} npy_header;

/* The bytes before the literal, and with it; 0: it is no .npy file, or too large. */
static size_t header_size(const unsigned char *bytes, size_t *start)
{
  const bool small = bytes[6] == 1;
  const uint64_t length = small ? (uint64_t)bytes[8] | (uint64_t)bytes[9] << 8
                                : (uint64_t)bytes[8] | (uint64_t)bytes[9] << 8 |
                                      (uint64_t)bytes[10] << 16 | (uint64_t)bytes[11] << 24;
  if (memcmp(bytes, "\x93NUMPY", 6) != 0 || bytes[6] < 1 || bytes[6] > 3 || length > MOST_BYTES) {
    return 0;
  }
  *start = small ? 10 : 12;
  return *start + (size_t)length;
}

static bool take_whole_shape(literal *text, npy_header *header)
{
  uint64_t number;
  if (!take(text, '(')) return false;
  peek(text);
  header->count.at = text->at;
  if (!take_number(text, &header->rows)) return false;
  header->count.end = text->at;
  while (take(text, ',') && peek(text) != ')') {
    if (header->columns == 0) header->columns = 1;
    if (!take_number(text, &number) || number == 0 ||
        __builtin_mul_overflow(header->columns, number, &header->columns)) {
      return false;
    }
  }
  return take(text, ')');
}

static bool parse_header(npy_header *header, const unsigned char *bytes, size_t size, tool_why *why)
{
  *header = (npy_header){.size = size};
  if (size < PREFIX || header_size(bytes, &header->start) != size) {
    return refuse(why, "it is not a .npy file, or its version is not known");
  }
  literal text = {(const char *)bytes + header->start, (const char *)bytes + size};
  bool shaped = false, typed = false, columns_first = false, good = take(&text, '{');
  while (good && !take(&text, '}')) {
    literal word = {0};
    good = take_string(&text, &word) && take(&text, ':');
    peek(&text);
    literal value = text;
    if (good && equals(word, "shape")) {
      if (!take_whole_shape(&value, header)) {
        return refuse(why, "its shape is not one of rows, which records would be");
      }
      shaped = true;
    }
    good = good && skip_value(&text);
    value.end = text.at;
    columns_first |= equals(word, "fortran_order") && !equals(value, "False");
    typed |= equals(word, "descr");
    if (equals(word, "descr")) header->types = value;
    (void)take(&text, ',');
  }
  if (!good || !shaped || !typed) return refuse(why, "its header is not valid");
  if (columns_first && header->columns > 1) {
    return refuse(why, "its rows are no records, as its columns are stored one after the other "
                       "(Fortran order)");
  }
  return true;
}

/* Writes the fields and keys that the header means. The caller frees them. */
static bool describe(const npy_header *header, bool utf8, char **fields, char **keys,
                     bool *unordered, tool_why *why)
{
  size_t sizes[2];
  writer w = {.fields = open_memstream(fields, &sizes[0]),
              .keys = open_memstream(keys, &sizes[1]),
              .utf8 = utf8,
              .why = why};
  bool good = w.fields != NULL && w.keys != NULL;
  if (!good) refuse(why, "out of memory");
  literal types = header->types;
  if (good && peek(&types) == '[' && header->columns == 0) {
    good = write_fields(&w, &types, "", 1);
  } else if (good) {
    fputs("{name: value, ", w.fields);
    good = write_value(&w, &types, header->columns, "value", 1);
    fputs("}", w.fields);
  }
  *unordered = w.unordered;
  if (w.fields != NULL) fclose(w.fields);
  if (w.keys != NULL) fclose(w.keys);
  return good;
}

/* ---- As a header of inputs ---------------------------------------------------------------- */

static size_t npy_needed(const tool_format *format, const unsigned char *bytes, size_t size)
{
  size_t start;
  (void)format;
  if (size < PREFIX) return PREFIX;
  const size_t whole = header_size(bytes, &start);
  return whole > size ? whole : size;
}

static bool npy_read(tool_format *format, const unsigned char *bytes, size_t size, tool_why *why)
{
  const npy_input *const first = format->context;
  npy_header header;
  char *fields = NULL, *keys = NULL;
  bool unordered;
  if (!parse_header(&header, bytes, size, why)) return false;
  bool good = describe(&header, bytes[6] == 3, &fields, &keys, &unordered, why);
  if (good && first != NULL && strcmp(first->fields, fields) != 0) {
    good = refuse(why, "its dtype is not that of the first input");
  }
  free(fields);
  free(keys);
  format->skip = size;
  format->count = header.rows;
  return good;
}

/* Replaces the number in the shape. The blanks at the end of the header make room for it. */
static bool npy_write_count(const tool_format *format, tool_bytes *bytes, uint64_t count,
                            tool_why *why)
{
  npy_header header;
  char digits[24];
  (void)format;
  if (!parse_header(&header, bytes->data, bytes->size, why)) return false;
  if (header.rows == count) return true;
  const char *const begin = (const char *)bytes->data;
  const char *end = begin + bytes->size;
  while (end > header.count.end && (end[-1] == '\n' || end[-1] == ' '))
    end--;
  const size_t before = (size_t)(header.count.at - begin), rest = (size_t)(end - header.count.end);
  const size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, count);
  const size_t used = before + length + rest + 1;
  const size_t size =
      used <= bytes->size ? bytes->size : (used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if ((bytes->data[6] == 1 && size - header.start > UINT16_MAX) ||
      !tool_bytes_reserve(bytes, size)) {
    return refuse(why, "its header has no room for the number of records");
  }
  unsigned char *const at = bytes->data + before;
  memmove(at + length, at + (header.count.end - header.count.at), rest);
  memcpy(at, digits, length);
  memset(at + length + rest, ' ', size - used);
  bytes->data[size - 1] = '\n';
  bytes->size = size;
  for (size_t i = 0, left = size - header.start; i < header.start - 8; i++, left >>= 8)
    bytes->data[8 + i] = (unsigned char)left;
  return true;
}

static const tool_header npy_kind = {npy_needed, npy_read, npy_write_count};

tool_format npy_format(const npy_input *npy)
{
  return (tool_format){.record_size = recsort_schema_record_size(npy->schema),
                       .settled = true,
                       .count = TOOL_ANY,
                       .said = TOOL_SAID_NOTHING,
                       .header = &npy_kind,
                       .context = npy};
}

/* ---- The schema --------------------------------------------------------------------------- */

/* Prints the message without its line and column: this program wrote the schema, not the user. */
static void report_types(const char *name, const recsort_error *error)
{
  char place[64];
  const char *text = error->text;
  if (strncmp(text, name, strlen(name)) == 0) text += strlen(name);
  snprintf(place, sizeof place, ":%u:%u: ", (unsigned)error->line, (unsigned)error->column);
  if (strncmp(text, place, strlen(place)) == 0) text += strlen(place);
  tool_error("%s: %s", name, text);
}

bool npy_make_schema(npy_input *npy, const char *name, const tool_bytes *bytes, bool own_keys)
{
  npy_header header;
  recsort_error error;
  tool_why why;
  char *keys = NULL, *text = NULL;
  bool unordered = false;
  bool good = parse_header(&header, bytes->data, bytes->size, &why) &&
              describe(&header, bytes->data[6] == 3, &npy->fields, &keys, &unordered, &why);
  if (good && own_keys && unordered) {
    good = refuse(&why, "an array of structs has no order; say which keys: -k 'value[0].x'");
  }
  if (!good) tool_error("%s: %s", name, why.text);
  if (good && asprintf(&text, "record: npy\nlayout: packed\nfields: [\n%s]\n%s%s", npy->fields,
                       own_keys ? "keys:\n" : "", own_keys ? keys : "") < 0) {
    text = NULL;
    tool_error("out of memory");
    good = false;
  }
  if (good && recsort_schema_load_memory(text, strlen(text), name, NULL, &npy->schema, &error) !=
                  RECSORT_OK) {
    report_types(name, &error);
    good = false;
  }
  free(keys);
  free(text);
  return good;
}

/* A pipe can be read only once. */
static bool is_pipe_by_name(const char *path)
{
  struct stat status;
  return !tool_is_standard(path) && stat(path, &status) == 0 && !S_ISREG(status.st_mode) &&
         !S_ISDIR(status.st_mode);
}

bool npy_open(npy_input *npy, const cli_options *options, tool_ahead *ahead)
{
  const char *const path = options->input_count != 0 ? options->inputs[0] : NULL;
  const char *const name = tool_input_name(path);
  tool_format format = {.header = &npy_kind};
  tool_why why;
  *npy = (npy_input){0};
  if ((tool_is_standard(path) && isatty(STDIN_FILENO)) || is_pipe_by_name(path)) {
    tool_usage_error("a schema is needed: --schema FILE");
    return false;
  }
  bool good = tool_ahead_open(ahead, path, &format, &why);
  if (!good) {
    if (why.system || tool_signature_is_npy(ahead->bytes.data, ahead->bytes.size)) {
      tool_error("%s: %s", *name != '\0' ? name : "''", why.text);
    } else {
      tool_usage_error("%s is not a .npy file, so a schema is needed: --schema FILE", name);
    }
  }
  return good && npy_make_schema(npy, name, &ahead->bytes, options->sorting.key_count == 0);
}

void npy_close(npy_input *npy)
{
  recsort_schema_destroy(npy->schema);
  free(npy->fields);
}
