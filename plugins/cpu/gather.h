/* gather.h - moves records by an order, and checks on the way that this is a permutation. */
#ifndef RECSORT_CPU_GATHER_H
#define RECSORT_CPU_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/copy_record.h"

typedef struct gathering {
  const uint32_t *order; /* of all records; NULL: as they are */
  size_t count;          /* of all records */
  size_t size;           /* of a record */
  copy_class copy;       /* of that size */
  char *seen;            /* a byte for each record, first 0: set once the record has moved */
} gathering;

/* Moves the records that come at places [first, first + count) of the order. False: an index is
 * none of a record. */
bool gather_some(const gathering *g, size_t first, size_t count, const char *from, char *to);

/* True if each record has moved. n stores set n bytes only if all indices differ. */
bool gathered_all(const gathering *g);

#endif
