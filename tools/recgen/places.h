/* places.h - where in a record the values are that a rank is spread over. */
#ifndef RECGEN_PLACES_H
#define RECGEN_PLACES_H

#include "recsort/recsort.h"

typedef struct place {
  const recsort_field *field; /* no struct */
  size_t base;                /* of the struct around it, from the record's start */
  size_t element;
  bool descending;
  bool bound; /* some of its bits belong to a place before it */
} place;

/* The places of the schema's keys, or of its first field if there are none; to be freed by the
 * caller. NULL: out of memory. */
place *places_of(const recsort_schema *schema, size_t *count);

#endif
