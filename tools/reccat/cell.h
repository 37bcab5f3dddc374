/* cell.h - the text of one value.
 *
 * Integers are decimal, bytes hexadecimal, bools `true` and `false`; an enum's value is its name,
 * or the number if it has none. A float is the shortest decimal that reads back as the same value,
 * or nan, -nan, inf or -inf. A string is shown without its trailing NULs; bytes that are not
 * printable UTF-8 become \xNN, and a backslash is doubled.
 */
#ifndef RECCAT_CELL_H
#define RECCAT_CELL_H

#include "recsort/recsort.h"

typedef enum cell_kind {
  CELL_NUMBER, /* or NaN or infinity */
  CELL_BOOL,
  CELL_PLAIN, /* ASCII without quotation marks, commas and backslashes */
  CELL_TEXT,
} cell_kind;

cell_kind cell_kind_of(const recsort_field_desc *field);

/* The greatest width of a field's values in columns, by its type. */
size_t cell_width(const recsort_field_desc *field);
/* The most bytes of the text, with its NUL. */
size_t cell_text_size(const recsort_field_desc *field);

/* Writes the text of element `element` of a field in the struct at `base`. Returns its end, where
 * its NUL is. */
char *cell_write(const recsort_field_desc *field, const void *base, size_t element, char *text);

#endif
