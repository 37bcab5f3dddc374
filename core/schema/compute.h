/* compute.h - reads what a key is computed from: {fields: [x, y], from: here} and the like. */
#ifndef RS_SCHEMA_COMPUTE_H
#define RS_SCHEMA_COMPUTE_H

#include "schema/reader.h"

/* A computed value that is being read. */
typedef struct rs_computing {
  const char *word;  /* distance, dot, morton or hilbert */
  const char *given; /* from or with: the schema's word before the point or vector; NULL: a grid */
  recsort_computed_desc desc;
} rs_computing;

/* Reads the mapping behind the `word` of *context, an rs_computing whose `desc` has only its
 * `compute`, and makes up a name from it. The parts of `desc` are in the reader's arena. An
 * rs_item_reader. */
recsort_status rs_read_computing(rs_reader *reader, void *context);

#endif
