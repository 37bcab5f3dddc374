/* printer.c - see printer.h. */
#include "reccat/printer.h"
#include "reccat/cell.h"
#include "reccat/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { MOST_COLUMNS = 32, NUMBER_COLUMNS = 12 };

bool printer_open(printer *p, const recsort_schema *schema, print_format format, bool numbered)
{
  *p = (printer){.schema = schema, .format = format, .numbered = numbered};
  if (!columns_of(&p->columns, schema)) return false;
  size_t size = 0;
  for (size_t i = 0; i < p->columns.count; i++) {
    const size_t needed = cell_text_size(p->columns.at[i].field);
    if (needed > size) size = needed;
  }
  p->text = malloc(size);
  return p->text;
}

void printer_close(printer *p)
{
  columns_free(&p->columns);
  free(p->text);
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
  if (cell_is_number(c->field))
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

static void print_csv_cell(bool first, const char *text)
{
  if (!first) putchar(',');
  if (!strpbrk(text, ",\"\r\n")) {
    fputs(text, stdout);
    return;
  }
  putchar('"');
  for (; *text; text++) {
    if (*text == '"') putchar('"');
    putchar(*text);
  }
  putchar('"');
}

static void print_csv_header(const printer *p)
{
  if (p->numbered) putchar('#');
  for (size_t i = 0; i < p->columns.count; i++) {
    print_csv_cell(i == 0 && !p->numbered, p->columns.at[i].name);
  }
  fputs("\r\n", stdout);
}

static void print_csv_row(const printer *p, const unsigned char *record)
{
  for (size_t i = 0; i < p->columns.count; i++) {
    const column *const c = &p->columns.at[i];
    cell_write(c->field, record + c->base, c->element, p->text);
    print_csv_cell(i == 0 && !p->numbered, p->text);
  }
  fputs("\r\n", stdout);
}

/* ---- All ---------------------------------------------------------------------------------- */

void printer_header(const printer *p)
{
  if (p->format == PRINT_TABLE) print_table_header(p);
  if (p->format == PRINT_CSV) print_csv_header(p);
}

bool printer_record(const printer *p, uint64_t number, const unsigned char *record)
{
  switch (p->format) {
  case PRINT_TABLE:
    if (p->numbered) printf("%*" PRIu64, NUMBER_COLUMNS, number);
    print_row(p, record);
    return true;
  case PRINT_CSV:
    if (p->numbered) printf("%" PRIu64, number);
    print_csv_row(p, record);
    return true;
  case PRINT_JSONL:
    break;
  }
  return json_print(p->schema, p->numbered ? &number : NULL, record, p->text);
}
