/* cell.h - the text of one value.
 *
 * Integers are decimal, bytes hexadecimal, bools `true` and `false`; an enum's value is its name,
 * or the number if it has none. A float is the shortest decimal that reads back as the same value,
 * or nan, -nan, inf or -inf. A string stands without the NULs that fill it up; what is not
 * printable UTF-8 is \xNN, and a backslash is doubled.
 */
#ifndef RECCAT_CELL_H
#define RECCAT_CELL_H

#include "recsort/recsort.h"

/* Whether a value stands as a number (but for NaN and infinity), so that JSON needs no quotes. */
bool cell_is_number(const recsort_field *field);

/* The columns that values of a field take, as far as its type says. */
size_t cell_width(const recsort_field *field);
/* How many bytes the text can have, with its final NUL. */
size_t cell_text_size(const recsort_field *field);

/* Writes the text of element `element` of a field in the struct at `base`. */
void cell_write(const recsort_field *field, const void *base, size_t element, char *text);

#endif
