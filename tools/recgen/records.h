/* records.h - records of any schema, each a function of the seed and its number.
 *
 * Every field first gets a random value. Then, unless the distribution is `uniform`, the keys get
 * the record's rank, spread over them like the digits of a number, so that sorting by the keys
 * sorts by the rank. If there are no keys, the first field is the key.
 *
 * Values lie evenly in the whole range of an integer, a bitfield or an enum's values, in [0, 1024)
 * for floats (as fine as the type can tell apart all over that range), and among the printable
 * ASCII characters for char. Padding is zero.
 */
#ifndef RECGEN_RECORDS_H
#define RECGEN_RECORDS_H

#include "recgen/ranks.h"
#include "recsort/recsort.h"

typedef struct generator_options {
  distribution distribution;
  uint64_t count;
  uint64_t seed;
  bool special; /* one random float in 16 is a NaN, an infinity, a zero of either sign, below 0 */
} generator_options;

typedef struct generator generator;

/* Makes a generator. NULL: out of memory. The schema must outlive the generator. */
generator *generator_create(const recsort_schema *schema, const generator_options *options);
void generator_destroy(generator *generator);

/* Writes `count` records from number `first` on; the caller has zeroed `to` once. */
void generator_write(generator *generator, uint64_t first, size_t count, unsigned char *to);

#endif
