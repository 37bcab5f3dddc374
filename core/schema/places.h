/* places.h - reads what a schema says about files: skip, count, length, expect and the like. */
#ifndef RS_SCHEMA_PLACES_H
#define RS_SCHEMA_PLACES_H

#include "recsort/tools.h"

#include "schema/reader.h"

enum { RS_FILE_WORDS = 10 };

/* The places of one word. */
typedef struct rs_place_list {
  struct rs_file_text *file;
  const struct rs_place_word *word;
  rs_text number; /* a number in place of places */
} rs_place_list;

/* The text of these words, which may come in any order. */
typedef struct rs_file_text {
  rs_place_list lists[6];
  rs_text trailer, repeat, zero;
  rs_text pad_to, pad_with;
  recsort_place_desc *places;
  size_t place_count;
} rs_file_text;

/* Fills in RS_FILE_WORDS slots, which read into `file`. */
void rs_file_slots(rs_file_text *file, rs_slot *slots);

/* Turns what was read into the members of `desc` about files, and its `size`. */
recsort_status rs_judge_file(const rs_reader *reader, const rs_file_text *file,
                             recsort_schema_desc *desc);

#endif
