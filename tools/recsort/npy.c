/* npy.c - see npy.h.
 *
 * A .npy file begins with a magic number, a version, the length of the rest of the header, and a
 * Python literal: {'descr': ..., 'fortran_order': False, 'shape': (3,), }, blanks and a newline.
 * The records follow. `descr` becomes the fields of a schema's text.
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

enum { PREFIX = 12, MOST_BYTES = 1 << 20, ALIGNMENT = 64 };

static bool refuse(tool_why *why, const char *text)
{
  snprintf(why->text, sizeof why->text, "%s", text);
  return false;
}

/* ---- The header --------------------------------------------------------------------------- */

typedef struct npy_header {
  size_t start; /* of the literal */
  size_t size;
  literal dtype;
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

/* NumPy has no array of more than INT64_MAX rows. */
static bool take_whole_shape(literal *text, npy_header *header)
{
  uint64_t number;
  literal digits;
  if (!literal_take(text, '(')) return false;
  if (!literal_take_length(text, &header->count, &header->rows) || header->rows > INT64_MAX) {
    return false;
  }
  while (literal_take(text, ',') && literal_peek(text) != ')') {
    if (header->columns == 0) header->columns = 1;
    if (!literal_take_length(text, &digits, &number) || number == 0 ||
        __builtin_mul_overflow(header->columns, number, &header->columns)) {
      return false;
    }
  }
  return literal_take(text, ')');
}

static bool parse_header(npy_header *header, const unsigned char *bytes, size_t size, tool_why *why)
{
  *header = (npy_header){.size = size};
  if (size < PREFIX || header_size(bytes, &header->start) != size) {
    return refuse(why, "it is not a .npy file, or its version is not known");
  }
  literal text = {(const char *)bytes + header->start, (const char *)bytes + size};
  bool shaped = false, typed = false, columns_first = false, good = literal_take(&text, '{');
  while (good && !literal_take(&text, '}')) {
    literal word = {0};
    good = literal_take_string(&text, &word) && literal_take(&text, ':');
    literal_peek(&text);
    literal value = text;
    if (good && literal_equals(word, "shape")) {
      if (!take_whole_shape(&value, header)) {
        return refuse(why, "its shape is not one of rows, which records would be");
      }
      shaped = true;
    }
    good = good && literal_skip(&text);
    value.end = text.at;
    columns_first |= literal_equals(word, "fortran_order") && !literal_equals(value, "False");
    typed |= literal_equals(word, "descr");
    if (literal_equals(word, "descr")) header->dtype = value;
    (void)literal_take(&text, ',');
  }
  if (!good || !shaped || !typed) return refuse(why, "its header is not valid");
  if (columns_first && header->columns > 1) {
    return refuse(why, "its rows are no records, as its columns are stored one after the other "
                       "(Fortran order)");
  }
  return true;
}

static bool describe(const unsigned char *bytes, const npy_header *header, dtype_schema *schema,
                     tool_why *why)
{
  return dtype_describe(header->dtype, header->columns, bytes[6] == 3, schema, why);
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
  dtype_schema schema;
  if (!parse_header(&header, bytes, size, why)) return false;
  bool good = describe(bytes, &header, &schema, why);
  if (good && first != NULL && strcmp(first->dtype.fields, schema.fields) != 0) {
    good = refuse(why, "its dtype is not that of the first input");
  }
  dtype_free(&schema);
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
  return (tool_format){.record_size =
                           npy->schema != NULL ? recsort_schema_describe(npy->schema)->size : 0,
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

/* True if fields with an order are what the records are to be sorted by. */
static bool check_keys(const dtype_schema *dtype, const recsort_options *sorting, tool_why *why)
{
  if (sorting->key_count == 0) {
    *why = dtype->why;
    return why->text[0] == '\0';
  }
  for (size_t i = 0; i < sorting->key_count; i++) {
    const char *const path = sorting->keys[i].path;
    if (!dtype_is_orderless(dtype, path)) continue;
    snprintf(why->text, sizeof why->text, "key \"%.60s\": recsort has no order for its dtype",
             path);
    return false;
  }
  return true;
}

bool npy_make_schema(npy_input *npy, const char *name, const tool_bytes *bytes,
                     const recsort_options *sorting)
{
  npy_header header;
  recsort_error error;
  tool_why why;
  char *text = NULL;
  const bool own_keys = sorting->key_count == 0;
  bool good = parse_header(&header, bytes->data, bytes->size, &why) &&
              describe(bytes->data, &header, &npy->dtype, &why) &&
              check_keys(&npy->dtype, sorting, &why);
  if (!good) tool_error("%s: %s", name, why.text);
  if (good &&
      asprintf(&text, "record: npy\nlayout: packed\nfields: [\n%s]\n%s%s", npy->dtype.fields,
               own_keys ? "keys:\n" : "", own_keys ? npy->dtype.keys : "") < 0) {
    text = NULL;
    tool_error("out of memory");
    good = false;
  }
  if (good && recsort_schema_load_memory(text, strlen(text), name, NULL, &npy->schema, &error) !=
                  RECSORT_OK) {
    report_types(name, &error);
    good = false;
  }
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
  return good && npy_make_schema(npy, name, &ahead->bytes, &options->sorting);
}

void npy_close(npy_input *npy)
{
  recsort_schema_destroy(npy->schema);
  dtype_free(&npy->dtype);
}
