/* literal.h - reads Python literals, of which the header of a .npy file consists. */
#ifndef RECSORT_LITERAL_H
#define RECSORT_LITERAL_H

#include <stdbool.h>
#include <stdint.h>

/* Text that is still to be read. A function that returns false may have read a part. */
typedef struct literal {
  const char *at;
  const char *end;
} literal;

/* The next character that is no blank; NUL at the end. */
char literal_peek(literal *text);
/* Passes over `wanted` if it is next. */
bool literal_take(literal *text, char wanted);
/* A string: what is between its quotes, with its escapes. */
bool literal_take_string(literal *text, literal *string);
/* Digits. No blank may be before them. */
bool literal_take_number(literal *text, uint64_t *number);
/* A number of elements, and its digits. */
bool literal_take_length(literal *text, literal *digits, uint64_t *number);
/* (3, 4), or 3: the product of the numbers. */
bool literal_take_shape(literal *text, uint64_t *product);
/* Passes over a value: strings, and whatever is in brackets. */
bool literal_skip(literal *text);
bool literal_equals(literal string, const char *word);

#endif
