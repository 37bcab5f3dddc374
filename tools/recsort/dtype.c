/* dtype.c - see dtype.h.
 *
 * A dtype is the spelling of a type, or a list of fields. It is read twice: first for its size, as
 * fields without bytes are left out, then to write it. Its names need not be such as paths can
 * hold, and padding has none: these get names of the schema's own.
 */
#include "dtype.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LEVELS = 32, IS_STRUCT = '[' };

/* A type as NumPy spells it, such as '<i4' or '<M8[25s]', or a struct. */
typedef struct npy_type {
  literal spelled; /* of a struct, the list of its fields */
  literal unit;    /* of a time, in its brackets */
  char order;      /* <, > or, for strings only, | */
  char kind;       /* NumPy's letter, or IS_STRUCT */
  uint64_t size;   /* bytes of an element */
  uint64_t count;  /* elements: 1 if it is no array */
  bool array;
} npy_type;

typedef struct npy_field {
  literal written; /* the name, with its escapes; empty for padding */
  npy_type type;
  char *name; /* in the schema, unless it got a number: */
  char *numbered;
} npy_field;

static bool refuse(tool_why *why, const char *text)
{
  snprintf(why->text, sizeof why->text, "%s", text);
  return false;
}

static bool refuse_dtype(tool_why *why)
{
  return refuse(why, "its header is not a valid dtype");
}

/* ---- Types -------------------------------------------------------------------------------- */

static bool is_string(char kind)
{
  return kind == 'S' || kind == 'V';
}

static bool is_time(char kind)
{
  return kind == 'm' || kind == 'M';
}

/* [s], [25s], or nothing. */
static bool is_unit(literal text)
{
  static const char *const units[] = {"Y",  "M",  "W",  "D",  "h",  "m",  "s",
                                      "ms", "us", "ns", "ps", "fs", "as", "generic"};
  uint64_t multiple;
  if (text.at == text.end) return true;
  if (text.end[-1] != ']' || *text.at++ != '[') return false;
  text.end--;
  (void)literal_take_number(&text, &multiple);
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (literal_equals(text, units[i])) return true;
  return false;
}

/* Reads the spelling. False if it is that of no type, or of one whose size is not known. */
static bool read_spelling(npy_type *type)
{
  literal text = type->spelled;
  char order = '\0';
  if (text.at < text.end && strchr("<>|=", *text.at) != NULL) order = *text.at++;
  if (text.at == text.end || strchr("?abiufcmMSUV", *text.at) == NULL) return false;
  type->kind = *text.at++;
  const bool sized = literal_take_number(&text, &type->size);
  if (type->kind == '?' && !sized) {
    type->kind = 'b';
    type->size = 1;
  } else if (type->kind == 'a') {
    type->kind = 'S';
  }
  const bool string = is_string(type->kind);
  if (order == '\0' && string) order = '|';
  if (order == '\0' || order == '=' || (order == '|' && !string))
    order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
  type->order = order;
  type->unit = text;
  if (type->kind == 'U' && __builtin_mul_overflow(type->size, 4u, &type->size)) return false;
  if (is_time(type->kind)) return type->size == 8 && is_unit(text);
  return text.at == text.end && (type->size != 0 || string || type->kind == 'U');
}

static bool refuse_spelling(literal spelled, tool_why *why)
{
  const size_t length = (size_t)(spelled.end - spelled.at);
  const bool object = length <= 3 && memchr(spelled.at, 'O', length) != NULL;
  snprintf(why->text, sizeof why->text,
           object ? "it holds Python objects (dtype '%.*s'), which are no records"
                  : "recsort has no type for the dtype '%.*s'",
           length > 40 ? 40 : (int)length, spelled.at);
  return false;
}

static bool take_field(literal *list, unsigned level, npy_field *field, tool_why *why);

/* The list of a struct's fields, and their size. */
static bool take_struct(literal *list, unsigned level, uint64_t *size, tool_why *why)
{
  if (level > MOST_LEVELS) return refuse(why, "its fields are nested too deep");
  *size = 0;
  (void)literal_take(list, '[');
  while (!literal_take(list, ']')) {
    npy_field field;
    uint64_t bytes;
    if (!take_field(list, level, &field, why)) return false;
    if (__builtin_mul_overflow(field.type.size, field.type.count, &bytes) ||
        __builtin_add_overflow(*size, bytes, size)) {
      return refuse_dtype(why);
    }
  }
  return true;
}

static bool take_type(literal *text, unsigned level, npy_type *type, tool_why *why);

/* A type in a tuple with a shape, or with what a program has added to it. */
static bool take_tuple(literal *text, unsigned level, npy_type *type, tool_why *why)
{
  uint64_t count = 1;
  if (level > MOST_LEVELS) return refuse(why, "its fields are nested too deep");
  if (!take_type(text, level + 1, type, why)) return false;
  if (!literal_take(text, ',')) return refuse_dtype(why);
  const bool added = literal_peek(text) == '{';
  if (!(added ? literal_skip(text) : literal_take_shape(text, &count)) ||
      !literal_take(text, ')') || __builtin_mul_overflow(type->count, count, &type->count)) {
    return refuse_dtype(why);
  }
  type->array |= !added;
  return true;
}

static bool take_type(literal *text, unsigned level, npy_type *type, tool_why *why)
{
  *type = (npy_type){.kind = IS_STRUCT, .count = 1};
  if (literal_take(text, '(')) return take_tuple(text, level, type, why);
  if (literal_peek(text) == '[') {
    type->spelled.at = text->at;
    if (!take_struct(text, level + 1, &type->size, why)) return false;
    type->spelled.end = text->at;
    return true;
  }
  if (!literal_take_string(text, &type->spelled)) return refuse_dtype(why);
  return read_spelling(type) || refuse_spelling(type->spelled, why);
}

/* A field: its name, or a title and a name; its type; and a shape if it is an array. With the comma
 * behind it. */
static bool take_field(literal *list, unsigned level, npy_field *field, tool_why *why)
{
  uint64_t count = 1;
  npy_type *const type = &field->type;
  bool good = literal_take(list, '(');
  if (good && literal_take(list, '(')) {
    good = literal_take_string(list, &field->written) && literal_take(list, ',') &&
           literal_take_string(list, &field->written) && literal_take(list, ')');
  } else {
    good = good && literal_take_string(list, &field->written);
  }
  if (!good || !literal_take(list, ',')) return refuse_dtype(why);
  if (!take_type(list, level, type, why)) return false;
  if (literal_take(list, ',') && literal_peek(list) != ')') {
    if (!literal_take_shape(list, &count)) return refuse_dtype(why);
    type->array = true;
  }
  if (!literal_take(list, ')') || (!literal_take(list, ',') && literal_peek(list) != ']') ||
      __builtin_mul_overflow(type->count, count, &type->count)) {
    return refuse_dtype(why);
  }
  return true;
}

/* ---- Names -------------------------------------------------------------------------------- */

/* The name in UTF-8. What a path or the option -k cannot hold is an underscore there, and then it
 * is `changed`. */
static char *copy_name(literal name, bool utf8, bool *changed)
{
  char *copy = NULL;
  size_t size;
  FILE *const to = open_memstream(&copy, &size);
  if (to == NULL) return NULL;
  for (; name.at < name.end; name.at++) {
    if (*name.at == '\\' && name.at + 1 < name.end && strchr("\\'\"", name.at[1]) != NULL) {
      fputc(*++name.at, to);
      continue;
    }
    const unsigned char c = (unsigned char)*name.at;
    const bool wide = utf8 && c == 0xc2 && name.at + 1 < name.end;
    const unsigned char code = wide ? (unsigned char)name.at[1] : c;
    const bool control = code < 0x20 || code == 0x7f || (code >> 5 == 4 && (wide || !utf8));
    if (control || strchr(".[],:\\", c) != NULL) {
      fputc('_', to);
      name.at += wide;
      *changed = true;
    } else if (c >= 0x80 && !utf8) {
      fputc(0xc0 | c >> 6, to);
      fputc(0x80 | (c & 0x3f), to);
    } else {
      fputc(c, to);
    }
  }
  if (fclose(to) == 0) return copy;
  free(copy);
  return NULL;
}

static bool is_padding(const npy_field *field)
{
  return field->written.at == field->written.end && field->type.kind == 'V';
}

/* The fields of a struct that have bytes. */
typedef struct field_list {
  npy_field *fields;
  size_t count;
  char **sorted; /* the names before any of them got a number */
  unsigned number;
} field_list;

static int by_name(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* True if more than `most` names are this one. */
static bool is_taken(const field_list *list, const char *name, size_t most)
{
  size_t low = 0, high = list->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (strcmp(list->sorted[middle], name) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low + most < list->count && strcmp(list->sorted[low + most], name) == 0;
}

/* Gives the field a number if another one has its name. No number comes twice. */
static bool number_field(field_list *list, npy_field *field)
{
  if (!is_taken(list, field->name, 1)) return true;
  do {
    free(field->numbered);
    if (asprintf(&field->numbered, "%s %u", field->name, ++list->number) < 0) {
      field->numbered = NULL;
      return false;
    }
  } while (is_taken(list, field->numbered, 0));
  return true;
}

static const char *name_of(const npy_field *field)
{
  return field->numbered != NULL ? field->numbered : field->name;
}

/* Names the fields: names of the file stay, and those that it cannot have make way. */
static bool name_fields(field_list *list, bool utf8)
{
  static const char padding[] = "padding", none[] = "unnamed";
  bool *const changed = calloc(list->count + 1, sizeof *changed);
  list->sorted = calloc(list->count + 1, sizeof *list->sorted);
  bool good = changed != NULL && list->sorted != NULL;
  for (size_t i = 0; i < list->count && good; i++) {
    npy_field *const field = &list->fields[i];
    literal name = field->written;
    changed[i] = name.at == name.end;
    if (changed[i]) {
      name = is_padding(field) ? (literal){padding, padding + sizeof padding - 1}
                               : (literal){none, none + sizeof none - 1};
    }
    field->name = list->sorted[i] = copy_name(name, utf8, &changed[i]);
    good = field->name != NULL;
  }
  if (good) qsort(list->sorted, list->count, sizeof *list->sorted, by_name);
  for (size_t i = 0; i < list->count && good; i++)
    if (changed[i]) good = number_field(list, &list->fields[i]);
  free(changed);
  return good;
}

static void free_list(field_list *list)
{
  for (size_t i = 0; i < list->count; i++) {
    free(list->fields[i].name);
    free(list->fields[i].numbered);
  }
  free(list->fields);
  free(list->sorted);
}

/* The fields of a struct whose bytes were counted already. */
static bool list_fields(literal text, bool utf8, field_list *list, tool_why *why)
{
  size_t room = 0;
  *list = (field_list){0};
  (void)literal_take(&text, '[');
  while (!literal_take(&text, ']')) {
    if (list->count == room) {
      npy_field *const more = realloc(list->fields, (room = 2 * room + 8) * sizeof *more);
      if (more == NULL) return refuse(why, "out of memory");
      list->fields = more;
    }
    npy_field *const field = &list->fields[list->count];
    *field = (npy_field){0};
    if (!take_field(&text, 1, field, why)) return false;
    list->count += field->type.size != 0 && field->type.count != 0;
  }
  return name_fields(list, utf8) || refuse(why, "out of memory");
}

/* ---- Text of a schema --------------------------------------------------------------------- */

/* The schema as it is written. */
typedef struct writer {
  FILE *fields;
  FILE *keys;
  FILE *orderless;
  bool utf8;
  char *first_key;
  tool_why trouble; /* why some field is no key, and what is one instead */
  bool in_vain;     /* the trouble needs the first key */
  tool_why *why;
} writer;

static void write_quoted(FILE *to, const char *text)
{
  fputc('"', to);
  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\') fputc('\\', to);
    fputc(*text, to);
  }
  fputc('"', to);
}

static bool is_one_of(uint64_t size, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
  return size == a || size == b || size == c || size == d;
}

/* Types of ml_dtypes are saved as bytes with a byte order: which one it was is not known. */
static bool is_ordered(const npy_type *type)
{
  switch (type->kind) {
  case 'b':
    return type->size == 1;
  case 'i':
  case 'u':
    return is_one_of(type->size, 1, 2, 4, 8);
  case 'f':
    return is_one_of(type->size, 2, 2, 4, 8);
  case 'c':
    return false;
  case 'V':
    return type->order == '|';
  default:
    return true;
  }
}

static bool is_complex(const npy_type *type)
{
  return type->kind == 'c' && is_one_of(type->size, 4, 4, 8, 16);
}

/* Times whose unit the language of schemas has. */
static bool is_datetime(const npy_type *type)
{
  static const char *const units[] = {"[D]", "[s]", "[ms]", "[us]", "[ns]"};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (type->kind == 'M' && literal_equals(type->unit, units[i])) return true;
  return false;
}

/* Writes the type of a field that is no struct. Text of 4-byte characters is compared like an array
 * of integers; an array of strings, like one string. */
static bool write_type(const writer *w, const npy_type *type)
{
  const bool text = type->kind == 'U', complex = is_complex(type),
             bytes = is_string(type->kind) || (!complex && !is_ordered(type));
  uint64_t count = type->count;
  const uint64_t factor = bytes ? type->size : text ? type->size / 4 : 1;
  if (__builtin_mul_overflow(count, factor, &count)) return refuse_dtype(w->why);
  if (bytes) {
    fprintf(w->fields, "type: %s", type->kind == 'S' ? "char" : "bytes");
  } else if (complex) {
    const unsigned half = (unsigned)type->size / 2;
    fprintf(w->fields, "type: struct, fields: [{name: real, type: \"%cf%u\"}, ", type->order, half);
    fprintf(w->fields, "{name: imag, type: \"%cf%u\"}]", type->order, half);
  } else if (type->kind == 'b') {
    fputs("type: bool", w->fields);
  } else if (is_datetime(type)) {
    fprintf(w->fields, "type: \"%cM8%.*s\"", type->order, (int)(type->unit.end - type->unit.at),
            type->unit.at);
  } else if (is_time(type->kind)) {
    fprintf(w->fields, "type: \"%ci8\", null: %" PRId64, type->order, INT64_MIN);
  } else {
    fprintf(w->fields, "type: \"%c%c%u\"", type->order, text ? 'u' : type->kind,
            text ? 4 : (unsigned)type->size);
  }
  if (bytes || text || type->array) fprintf(w->fields, ", count: %" PRIu64, count);
  if (complex || (is_time(type->kind) && !is_datetime(type)) || (bytes && !is_string(type->kind)) ||
      (type->kind == 'V' && type->order != '|')) {
    fprintf(w->fields, " # %c%c%" PRIu64 "%.*s\n", type->order, type->kind, type->size,
            (int)(type->unit.end - type->unit.at), type->unit.at);
  }
  return true;
}

/* Keeps why not all fields can be keys: the first reason. */
static void complain(writer *w, const char *path, const npy_type *type)
{
  if (w->trouble.text[0] != '\0') return;
  if (type->kind == IS_STRUCT) {
    snprintf(w->trouble.text, sizeof w->trouble.text,
             "field \"%.50s\": an array of structs has no order; say which keys, such as "
             "-k '%.50s[0].x'",
             path, path);
  } else if (is_complex(type)) {
    snprintf(w->trouble.text, sizeof w->trouble.text,
             "field \"%.50s\": complex numbers have no order; say which keys, such as "
             "-k '%.50s%s.real'",
             path, path, type->array ? "[0]" : "");
  } else {
    w->in_vain = true;
    snprintf(w->trouble.text, sizeof w->trouble.text,
             type->kind == 'V'
                 ? "field \"%.50s\": the dtype '%c%c%" PRIu64 "' does not say what its bytes are"
                 : "field \"%.50s\": recsort has no order for the dtype '%c%c%" PRIu64 "'",
             path, type->order, type->kind, type->size);
  }
}

static bool write_fields(writer *w, literal text, const char *path, bool are_keys);

/* Writes what follows the name of a field, and its key. */
static bool write_value(writer *w, const npy_type *type, const char *path, bool is_key)
{
  if (type->kind == IS_STRUCT) {
    if (is_key && type->array) complain(w, path, type);
    fputs("type: struct", w->fields);
    if (type->array) fprintf(w->fields, ", count: %" PRIu64, type->count);
    fputs(", fields: [\n", w->fields);
    if (!write_fields(w, type->spelled, path, is_key && !type->array)) return false;
    fputs("]", w->fields);
    return true;
  }
  if (!is_ordered(type)) {
    if (is_key) complain(w, path, type);
    if (!is_complex(type)) fprintf(w->orderless, "%s\n", path);
  } else if (is_key) {
    if (w->first_key == NULL) w->first_key = strdup(path);
    fputs("- ", w->keys);
    write_quoted(w->keys, path);
    fputc('\n', w->keys);
  }
  return write_type(w, type);
}

static bool write_field(writer *w, const npy_field *field, const char *path, bool is_key)
{
  const char *const name = name_of(field);
  char *whole;
  if (asprintf(&whole, "%s%s%s", path, *path != '\0' ? "." : "", name) < 0) {
    return refuse(w->why, "out of memory");
  }
  fputs("{name: ", w->fields);
  write_quoted(w->fields, name);
  fputs(", ", w->fields);
  const bool good = write_value(w, &field->type, whole, is_key && !is_padding(field));
  fputs("},\n", w->fields);
  free(whole);
  return good;
}

static bool write_fields(writer *w, literal text, const char *path, bool are_keys)
{
  field_list list;
  bool good = list_fields(text, w->utf8, &list, w->why);
  for (size_t i = 0; i < list.count && good; i++)
    good = write_field(w, &list.fields[i], path, are_keys);
  free_list(&list);
  return good;
}

static bool write_schema(writer *w, literal dtype, uint64_t columns)
{
  npy_type type;
  if (!take_type(&dtype, 1, &type, w->why)) return false;
  if (literal_peek(&dtype) != '\0') return refuse_dtype(w->why);
  if (columns != 0) type.array = true;
  if (columns != 0 && __builtin_mul_overflow(type.count, columns, &type.count)) {
    return refuse_dtype(w->why);
  }
  if (type.size == 0 || type.count == 0) return refuse(w->why, "its rows have no bytes");
  if (type.kind == IS_STRUCT && !type.array) return write_fields(w, type.spelled, "", true);
  fputs("{name: value, ", w->fields);
  const bool good = write_value(w, &type, "value", true);
  fputs("}", w->fields);
  return good;
}

bool dtype_describe(literal dtype, uint64_t columns, bool utf8, dtype_schema *schema, tool_why *why)
{
  size_t sizes[3];
  *schema = (dtype_schema){0};
  writer w = {.fields = open_memstream(&schema->fields, &sizes[0]),
              .keys = open_memstream(&schema->keys, &sizes[1]),
              .orderless = open_memstream(&schema->orderless, &sizes[2]),
              .utf8 = utf8,
              .why = why};
  bool good = w.fields != NULL && w.keys != NULL && w.orderless != NULL;
  good = good ? write_schema(&w, dtype, columns) : refuse(why, "out of memory");
  schema->why = w.trouble;
  if (w.in_vain) {
    const size_t used = strlen(w.trouble.text);
    snprintf(schema->why.text + used, sizeof schema->why.text - used,
             w.first_key != NULL ? "; say which keys: -k '%.50s'"
                                 : ", and no other field can be a key",
             w.first_key);
  }
  FILE *const files[] = {w.fields, w.keys, w.orderless};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (files[i] != NULL && fclose(files[i]) != 0 && good) good = refuse(why, "out of memory");
  free(w.first_key);
  return good;
}

bool dtype_is_orderless(const dtype_schema *schema, const char *path)
{
  for (const char *line = schema->orderless; *line != '\0'; line = strchr(line, '\n') + 1) {
    const char *at = line, *of = path;
    while (*of != '\0') {
      if (*of == '[') of += strcspn(of, "]");
      if (*of == ']') {
        of++;
        continue;
      }
      if (*at != *of) break;
      at++;
      of++;
    }
    if (*of == '\0' && *at == '\n') return true;
  }
  return false;
}

void dtype_free(dtype_schema *schema)
{
  free(schema->fields);
  free(schema->keys);
  free(schema->orderless);
}
