/* ranks.h - the distributions: the rank of each record in the sorted order.
 *
 * A record's rank depends only on its number. It is computed with integers only, as other machines
 * may round logarithms or powers differently:
 *
 *   uniform     drawn at random
 *   sorted      the record's number
 *   reverse     the same from the end
 *   nearly      sorted, but for 1% of the records, which are swapped in pairs over any distance
 *   few         one of 16, at random
 *   equal       one for all
 *   zipf        k with a probability proportional to 1/k, k below the least power of two above
 *               the count; which value is how frequent is scattered
 *   saw         16 ascending teeth over the whole range, no two ranks equal
 *   organ-pipe  up, then down
 */
#ifndef RECGEN_RANKS_H
#define RECGEN_RANKS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum distribution {
  DISTRIBUTION_UNIFORM,
  DISTRIBUTION_SORTED,
  DISTRIBUTION_REVERSE,
  DISTRIBUTION_NEARLY,
  DISTRIBUTION_FEW,
  DISTRIBUTION_EQUAL,
  DISTRIBUTION_ZIPF,
  DISTRIBUTION_SAW,
  DISTRIBUTION_ORGAN_PIPE
} distribution;

bool distribution_find(const char *name, distribution *found);

typedef struct ranks {
  distribution shape;
  uint64_t count; /* number of records */
  uint64_t range; /* every rank is below it; at least 1 */
  uint64_t seed;
  unsigned bits; /* nearly, zipf: 2^bits is the least power of two above `count` */
} ranks;

ranks ranks_of(distribution shape, uint64_t count, uint64_t seed);
uint64_t rank_of(const ranks *ranks, uint64_t record);

#endif
