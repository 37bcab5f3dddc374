/* types.h - the spellings of types: recsort's own, C's and NumPy's. */
#ifndef RS_SCHEMA_TYPES_H
#define RS_SCHEMA_TYPES_H

#include "base/types.h"

typedef struct rs_type_word {
  recsort_type type;
  recsort_endian endian; /* from a NumPy spelling */
  uint64_t count;        /* from NumPy's S10 and V10; 0: not given */
} rs_type_word;

/* False, and `result` is unchanged, if `word` is not a type. */
bool rs_type_parse(const char *word, rs_type_word *result);

/* Writes a hint on an unknown type, such as "; did you mean float32?", or an empty text, to `hint`,
 * at most `size` bytes. */
void rs_type_hint(const char *word, char *hint, size_t size);

#endif
