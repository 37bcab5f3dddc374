/* kinds.h - kinds of records, and how to make a record from a number.
 *
 * A record consists of its key fields, packed, and a tag: its position in the input. The tag is not
 * a key, so an unstable result differs from the oracle's.
 */
#ifndef RS_CONFORMANCE_KINDS_H
#define RS_CONFORMANCE_KINDS_H

#include "support/oracle.h"

enum { KIND_MAX_KEYS = 5, KIND_MAX_RECORD = 128, RANK_BITS = 20 };

/* One key field. */
typedef struct kind_field {
  recsort_type type;
  recsort_type base;  /* enum, bitfield */
  size_t size;        /* bytes of a string */
  unsigned bit, bits; /* bitfield */
  recsort_endian endian;
  recsort_order order;
  recsort_nan nan;
  size_t count; /* elements of an array; 0: none */
  const int64_t *nulls;
  size_t null_count;
} kind_field;

typedef struct kind {
  const char *name;
  size_t count;
  kind_field fields[KIND_MAX_KEYS];
} kind;

extern const kind kinds[];
extern const size_t kind_count;

/* The keys of a kind, for the oracle. */
void kind_keys(const kind *k, oracle_key keys[KIND_MAX_KEYS]);

/* Bytes of a record. */
size_t kind_record_size(const kind *k);

/* Makes a record. Records of equal `rank`, a number of RANK_BITS bits, have equal keys; those of a
 * greater rank usually have greater ones. `noise` determines what does not affect the order. */
void kind_fill(const kind *k, const oracle_key *keys, uint64_t rank, uint64_t noise, uint64_t tag,
               unsigned char *record);

/* Sorts places among `records` as the oracle does: by the keys, then by the place. */
void kind_sort(const kind *k, const oracle_key *keys, const unsigned char *records,
               uint64_t *places, size_t count);

#endif
