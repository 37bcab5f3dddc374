/* host_merge.h - merges sorted runs of keys into one order, on the host.
 *
 * Each thread makes an equal part of the output. It finds the start of its part in every run by
 * bisecting the range of keys; from there, a tree of losers (Knuth, "The Art of Computer
 * Programming", vol. 3, 5.4.1) merges. The lower run goes first among equal keys, so the order is
 * stable if the runs are.
 */
#ifndef RECSORT_GPU_HOST_MERGE_H
#define RECSORT_GPU_HOST_MERGE_H

#include <stdint.h>

#include "recsort/team.h"

/* The state of a merge is on the stack: about 40 KiB for each thread. */
enum { HOST_MERGE_MOST_RUNS = 1024 };

typedef struct host_runs {
  uint32_t count;          /* number of runs, from 1 to HOST_MERGE_MOST_RUNS */
  uint32_t key_width;      /* 32, 64 or 128 */
  const uint64_t *bounds;  /* run r is elements [bounds[r], bounds[r + 1]); some may be empty */
  const void *keys;        /* sorted within each run */
  const uint32_t *indices; /* the original position of each key in its run */
} host_runs;

/* Writes, for each element in sorted order, its original position among all: bounds[run] + its
 * index. `order`, with elements of `index_bits` (32 or 64) bits, does not overlap keys or indices.
 * Allocates no memory; any thread. */
void host_merge(const host_runs *runs, void *order, uint32_t index_bits, team t);

#endif
