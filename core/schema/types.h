/* types.h - the spellings of types: recsort's own, C's and NumPy's. */
#ifndef RS_SCHEMA_TYPES_H
#define RS_SCHEMA_TYPES_H

#include "base/types.h"

typedef struct rs_type_word {
  recsort_type type;
  recsort_endian endian; /* what a NumPy spelling says */
  uint64_t count;        /* of NumPy's S10 and V10; 0 where the spelling says nothing */
} rs_type_word;

/* False, and `result` untouched, if `word` is not a type. */
bool rs_type_parse(const char *word, rs_type_word *result);

/* Why an unknown type is refused and what to say instead: "; did you mean float32?", or an
 * empty text. Written to `hint`, at most `size` bytes. */
void rs_type_hint(const char *word, char *hint, size_t size);

#endif
