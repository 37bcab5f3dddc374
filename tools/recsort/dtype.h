/* dtype.h - a dtype of NumPy, as the header of a .npy file has it, becomes fields of a schema. */
#ifndef RECSORT_DTYPE_H
#define RECSORT_DTYPE_H

#include "literal.h"

#include "support/format.h"

/* Parts of a schema's text. A type that the language of schemas lacks has NumPy's name in a
 * comment, so different dtypes have different fields. */
typedef struct dtype_schema {
  char *fields;
  char *keys;      /* the default keys */
  char *orderless; /* the paths that no key may name, each with a newline behind it */
  tool_why why;    /* not all fields can be keys; empty if they can */
} dtype_schema;

/* Describes rows of this dtype; those of an array that has `columns` elements in a row, unless that
 * is 0, are one field. `utf8`: that is how names are written; otherwise it is Latin-1. Free the
 * schema in any case. */
bool dtype_describe(literal dtype, uint64_t columns, bool utf8, dtype_schema *schema,
                    tool_why *why);
/* True if a key's path leads to a field that has no order. */
bool dtype_is_orderless(const dtype_schema *schema, const char *path);
void dtype_free(dtype_schema *schema);

#endif
