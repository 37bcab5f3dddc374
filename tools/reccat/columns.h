/* columns.h - a record's fields as the columns of a table: `a`, `b.c`, `d[0]`, `d[1]`. */
#ifndef RECCAT_COLUMNS_H
#define RECCAT_COLUMNS_H

#include "reccat/cell.h"

typedef struct column {
  char *name;
  const recsort_field_desc *field; /* not a struct */
  size_t base;                     /* offset of the enclosing struct in the record */
  size_t element;
  cell_kind kind;
} column;

typedef struct columns {
  column *at;
  size_t count;
  size_t capacity;
} columns;

/* Appends the columns of a schema. False: out of memory. Call columns_free in any case. */
bool columns_of(columns *columns, const recsort_schema *schema);
void columns_free(columns *columns);

#endif
