/* pair.h - a key and an index packed into one 64-bit integer, and the merge of two runs of these.
 *
 * The index in the low bits makes every pair different from every other, and the order of the
 * integers the stable order of the keys. So merges need no stability of their own, may work from
 * both ends, and move one array instead of two. Bit 61 is always set and those above it never,
 * which makes each pair a positive, normal double as well, in the same order: vector units have min
 * and max for these.
 */
#ifndef RECSORT_RUNS_PAIR_H
#define RECSORT_RUNS_PAIR_H

#include "runs/kernels.h"

#define PAIR_MARK (UINT64_C(1) << PAIR_BITS)

enum {
  PAIR_BITS = 61,      /* for a part of a key and an index */
  TILE_PAIRS = 1 << 13 /* pairs of all runs that a pass merges in the cache at a time */
};

/* Merges two runs into `out`, which overlaps neither. */
void rs_merge_runs(const merge_kernels *kernels, run64 a, run64 b, uint64_t *out);

#endif
