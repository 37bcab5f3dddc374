/* gather.h - moves records by an order. */
#ifndef RECSORT_CPU_GATHER_H
#define RECSORT_CPU_GATHER_H

#include <stddef.h>
#include <stdint.h>

#include "cpu/copy_record.h"

typedef struct gathering {
  const uint32_t *order; /* of all records, a permutation; NULL: as they are */
  size_t count;          /* of all records */
  size_t size;           /* of a record */
  copy_class copy;       /* of that size */
} gathering;

/* Moves the records that come at places [first, first + count) of the order. */
void rs_gather_some(const gathering *g, size_t first, size_t count, const char *from, char *to);

#endif
