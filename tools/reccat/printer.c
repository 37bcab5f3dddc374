/* printer.c - see printer.h. */
#include "reccat/printer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "recsort/tools.h"

enum { MOST_COLUMNS = 32, NUMBER_COLUMNS = 12, NUMBER_TEXT = 40 };

/* The most bytes of a line: each byte of a value, or of a name in the header of CSV, may take two,
 * and there are quotes around it. */
static size_t line_size(const printer *p)
{
  size_t size = p->shape.size + NUMBER_TEXT;
  for (size_t i = 0; i < p->columns.count; i++) {
    const column *const c = &p->columns.at[i];
    size += 2 * (cell_text_size(c->field) + strlen(c->name)) + strlen("\"\",");
  }
  return size;
}

bool printer_open(printer *p, const recsort_schema *schema, print_format format, bool numbered)
{
  *p = (printer){.schema = schema, .format = format, .numbered = numbered};
  if (!columns_of(&p->columns, schema)) return false;
  if (format == PRINT_JSONL && !json_shape_of(&p->shape, schema)) return false;
  size_t size = 0;
  for (size_t i = 0; i < p->columns.count; i++) {
    const size_t needed = cell_text_size(p->columns.at[i].field);
    if (needed > size) size = needed;
  }
  p->text = malloc(size);
  p->line = malloc(line_size(p));
  return p->text && p->line;
}

void printer_close(printer *p)
{
  columns_free(&p->columns);
  json_shape_free(&p->shape);
  free(p->text);
  free(p->line);
}

/* ---- Table -------------------------------------------------------------------------------- */

/* The width of a UTF-8 text in columns, up to `most`; `size` becomes the bytes of that part. */
static size_t text_width(const char *text, size_t most, size_t *size)
{
  mbstate_t state = {0};
  size_t width = 0;
  *size = 0;
  for (;;) {
    wchar_t c;
    const size_t length = mbrtowc(&c, text + *size, MB_CUR_MAX, &state);
    if (length == 0 || length > MB_CUR_MAX) return width;
    const int known = wcwidth(c);
    const size_t wide = known > 0 ? (size_t)known : 0;
    if (width + wide > most) return width;
    width += wide;
    *size += length;
  }
}

/* Only fields whose values may have any length are cut. */
static size_t column_width(const column *c)
{
  const size_t name = strlen(c->name);
  const size_t value = cell_width(c->field);
  const bool fixed = recsort_type_describe(c->field->type)->size != 0;
  const size_t cut = fixed || value < MOST_COLUMNS ? value : MOST_COLUMNS;
  return name > cut ? name : cut;
}

/* Aligns numbers at the right, other values at the left. */
static void print_cell(const column *c, const char *text)
{
  static const char dots[] = "...";
  const size_t wanted = column_width(c);
  size_t size;
  size_t width = text_width(text, wanted, &size);
  const bool cut = text[size];
  if (cut) width = text_width(text, wanted - strlen(dots), &size) + strlen(dots);
  const int padding = (int)(wanted - width);
  if (c->kind == CELL_NUMBER)
    printf("  %*s%s", padding, "", text);
  else
    printf("  %.*s%s%*s", (int)size, text, cut ? dots : "", padding, "");
}

static void print_row(const printer *p, const unsigned char *record)
{
  for (size_t i = 0; i < p->columns.count; i++) {
    const column *const c = &p->columns.at[i];
    cell_write(c->field, record + c->base, c->element, p->text);
    print_cell(c, p->text);
  }
  putchar('\n');
}

static void print_table_header(const printer *p)
{
  if (p->numbered) printf("%*s", NUMBER_COLUMNS, "#");
  for (size_t i = 0; i < p->columns.count; i++) {
    print_cell(&p->columns.at[i], p->columns.at[i].name);
  }
  putchar('\n');
}

/* ---- CSV ---------------------------------------------------------------------------------- */

/* Writes a text, in quotes if it needs them. Returns its end; there is no NUL. */
static char *csv_text(const char *text, char *to)
{
  if (!strpbrk(text, ",\"\r\n")) return stpcpy(to, text);
  *to++ = '"';
  for (; *text; text++) {
    if (*text == '"') *to++ = '"';
    *to++ = *text;
  }
  *to++ = '"';
  return to;
}

static void print_csv_header(const printer *p)
{
  if (p->numbered) putchar('#');
  for (size_t i = 0; i < p->columns.count; i++) {
    if (i > 0 || p->numbered) putchar(',');
    char *const end = csv_text(p->columns.at[i].name, p->line);
    fwrite(p->line, 1, (size_t)(end - p->line), stdout);
  }
  fputs("\r\n", stdout);
}

static char *csv_line(const printer *p, uint64_t number, const unsigned char *record)
{
  char *to = p->line;
  if (p->numbered) to += sprintf(to, "%" PRIu64, number);
  for (size_t i = 0; i < p->columns.count; i++) {
    const column *const c = &p->columns.at[i];
    if (i > 0 || p->numbered) *to++ = ',';
    char *const text = c->kind == CELL_TEXT ? p->text : to;
    char *const end = cell_write(c->field, record + c->base, c->element, text);
    to = c->kind == CELL_TEXT ? csv_text(text, to) : end;
  }
  return stpcpy(to, "\r\n");
}

/* ---- JSON --------------------------------------------------------------------------------- */

/* Writes a value. Returns its end; there is no NUL. */
static char *json_value(const printer *p, const column *c, const unsigned char *record, char *to)
{
  if (c->kind == CELL_TEXT) {
    cell_write(c->field, record + c->base, c->element, p->text);
    return json_string(p->text, to);
  }
  char *end = cell_write(c->field, record + c->base, c->element, to + 1);
  const bool finite = '0' <= end[-1] && end[-1] <= '9';
  if (c->kind == CELL_BOOL || (c->kind == CELL_NUMBER && finite)) {
    memmove(to, to + 1, (size_t)(end - to - 1));
    return end - 1;
  }
  *to = *end++ = '"';
  return end;
}

static char *json_line(const printer *p, uint64_t number, const unsigned char *record)
{
  const char *text = p->shape.text;
  char *to = p->line;
  *to++ = '{';
  if (p->numbered) to += sprintf(to, "\"#\":%" PRIu64 ",", number);
  for (size_t i = 0; i < p->columns.count; i++) {
    char *const end = stpcpy(to, text);
    text += end - to + 1;
    to = json_value(p, &p->columns.at[i], record, end);
  }
  return stpcpy(stpcpy(to, text), "\n");
}

/* ---- All ---------------------------------------------------------------------------------- */

void printer_header(const printer *p)
{
  if (p->format == PRINT_TABLE) print_table_header(p);
  if (p->format == PRINT_CSV) print_csv_header(p);
}

void printer_record(const printer *p, uint64_t number, const unsigned char *record)
{
  if (p->format == PRINT_TABLE) {
    if (p->numbered) printf("%*" PRIu64, NUMBER_COLUMNS, number);
    print_row(p, record);
  } else {
    const char *const end =
        p->format == PRINT_CSV ? csv_line(p, number, record) : json_line(p, number, record);
    fwrite_unlocked(p->line, 1, (size_t)(end - p->line), stdout);
  }
}
