/* types.h - the spellings of types: recsort's own, C's and NumPy's. */
#ifndef RS_SCHEMA_TYPES_H
#define RS_SCHEMA_TYPES_H

#include "base/error.h"

typedef struct rs_type_word {
  recsort_type type;
  recsort_endian endian; /* what a NumPy spelling says */
  uint64_t count;        /* of NumPy's S10 and V10; 0 where the spelling says nothing */
} rs_type_word;

/* False, and `result` untouched, if `word` is no type. */
bool rs_type_parse(const char *word, rs_type_word *result);

/* Why a word that is no type is refused and what to say instead: "; did you mean float32?", or an
 * empty text. Written to `hint`, at most `size` bytes. */
void rs_type_hint(const char *word, char *hint, size_t size);

bool rs_type_is_integer(recsort_type type);
/* Bytes of a number; 1 for whatever is none. */
size_t rs_type_size(recsort_type type);
/* Whether an integer type has this value; for uint64 it stands for the same 64 bits. */
bool rs_type_holds(recsort_type type, int64_t value);

#endif
