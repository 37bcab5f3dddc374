/* together.h - what a description says about files, judged as a whole: for descriptions from C and
 * from text alike. */
#ifndef RS_SCHEMA_TOGETHER_H
#define RS_SCHEMA_TOGETHER_H

#include <stdbool.h>

#include "recsort/tools.h"

/* True if a description has a place whose kind is in [first, last]. */
bool rs_has_place(const recsort_schema_desc *desc, recsort_place_kind first,
                  recsort_place_kind last);

typedef enum rs_file_word {
  RS_OTHER_WORD,
  RS_TRAILER_WORD,
  RS_PAD_WORD,
  RS_ZERO_WORD,
  RS_REPEAT_WORD
} rs_file_word;

/* What is wrong with the words about files together, whatever the single places are; NULL: nothing.
 * `at` becomes the word that needs others. */
const char *rs_file_trouble(const recsort_schema_desc *desc, rs_file_word *at);

#endif
