/* printer.h - prints records to standard output, as a table, as CSV (RFC 4180) or as JSON, one
 * object a line. In a table, strings and bytes are cut to 32 columns; the other formats show all of
 * them. */
#ifndef RECCAT_PRINTER_H
#define RECCAT_PRINTER_H

#include "reccat/columns.h"
#include "reccat/json.h"

typedef enum print_format { PRINT_TABLE, PRINT_CSV, PRINT_JSONL } print_format;

typedef struct printer {
  const recsort_schema *schema;
  print_format format;
  bool numbered; /* adds a first column, `#`, with the record's number from 0 */
  columns columns;
  json_shape shape; /* if the format is JSON */
  char *text;       /* a buffer for the text of any value */
  char *line;       /* and one for a line of CSV or JSON */
} printer;

/* False: out of memory. Call printer_close in any case. */
bool printer_open(printer *printer, const recsort_schema *schema, print_format format,
                  bool numbered);
void printer_header(const printer *printer);
void printer_record(const printer *printer, uint64_t number, const unsigned char *record);
void printer_close(printer *printer);

#endif
