/* places.h - the places in a record that a rank is spread over. */
#ifndef RECGEN_PLACES_H
#define RECGEN_PLACES_H

#include "recsort/recsort.h"

typedef struct place {
  const recsort_field_desc *field; /* not a struct */
  size_t base;                     /* offset of the enclosing struct in the record */
  size_t element;
  bool descending;
  bool bound; /* shares bits with an earlier place */
} place;

/* The places of the schema's keys, or of its first field if there are none; the caller frees them.
 * NULL: out of memory. */
place *places_of(const recsort_schema *schema, size_t *count);

#endif
