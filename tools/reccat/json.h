/* json.h - records as JSON objects. Structs become objects, arrays arrays, and numbers are exact;
 * NaN, infinities and all other values are strings. All records have the same shape: the same text
 * between their values. */
#ifndef RECCAT_JSON_H
#define RECCAT_JSON_H

#include "recsort/recsort.h"

typedef struct json_shape {
  char *text; /* the pieces between the values, each with a NUL behind it */
  size_t size;
  size_t capacity;
} json_shape;

/* The pieces of an object of the schema's fields: one before each value, in the order of `columns`,
 * and one behind the last. The opening brace is left out. False: out of memory. Call
 * json_shape_free in any case. */
bool json_shape_of(json_shape *shape, const recsort_schema *schema);
void json_shape_free(json_shape *shape);

/* Writes UTF-8 text without control characters as a string in quotes: at most 2 bytes for each of
 * the text, and 2. Returns its end; there is no NUL. */
char *json_string(const char *text, char *to);

#endif
