/* columns.h - a record's fields as the columns of a table: `a`, `b.c`, `d[0]`, `d[1]`. */
#ifndef RECCAT_COLUMNS_H
#define RECCAT_COLUMNS_H

#include "recsort/recsort.h"

typedef struct column {
  char *name;
  const recsort_field *field; /* no struct */
  size_t base;                /* of the struct around it, from the record's start */
  size_t element;
} column;

typedef struct columns {
  column *at;
  size_t count;
  size_t capacity;
} columns;

/* Appends the columns of a schema; false: out of memory. columns_free is due in any case. */
bool columns_of(columns *columns, const recsort_schema *schema);
void columns_free(columns *columns);

#endif
