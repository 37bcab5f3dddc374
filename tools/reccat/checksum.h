/* checksum.h - a checksum of a set of records. It does not depend on their order, and changes if
 * one is lost, doubled or changed. It is the sum modulo 2^128 of the records' XXH3 128-bit
 * hashes. */
#ifndef RECCAT_CHECKSUM_H
#define RECCAT_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

typedef struct checksum {
  uint64_t high;
  uint64_t low;
} checksum;

void checksum_add(checksum *sum, const void *records, size_t count, size_t record_size);

#endif
