/* header.h - a schema as a struct in C. */
#ifndef RECSCHEMA_HEADER_H
#define RECSCHEMA_HEADER_H

#include "recsort/recsort.h"

/* Prints a header for C11 and C++11 with a struct that has the layout of the schema's record, and
 * an assertion for its size and each offset. */
void header_print(const recsort_schema *schema);

#endif
