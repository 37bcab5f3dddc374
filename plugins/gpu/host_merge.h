/* host_merge.h - sorted runs of keys into one order, on the host.
 *
 * Each thread makes an equal part of the output. Where its part begins in every run is found by
 * halving the range of keys until so many keys lie before it; from there a tree of losers (Knuth,
 * "The Art of Computer Programming", vol. 3, 5.4.1) merges. Among equal keys the lower run goes
 * first, so the order is stable if the runs are.
 */
#ifndef RECSORT_GPU_HOST_MERGE_H
#define RECSORT_GPU_HOST_MERGE_H

#include <stdint.h>

#include "recsort/team.h"

/* The state of a merge lies on the stack: some 40 KiB a thread. */
enum { HOST_MERGE_MOST_RUNS = 1024 };

typedef struct host_runs {
  uint32_t count;          /* of runs: from 1 to HOST_MERGE_MOST_RUNS */
  uint32_t key_width;      /* 32, 64 or 128 */
  const uint64_t *bounds;  /* run r is elements [bounds[r], bounds[r + 1]); some may be empty */
  const void *keys;        /* in order within a run */
  const uint32_t *indices; /* where each key stood in its run */
} host_runs;

/* Writes for each element in order where it stood among all: bounds[run] + its index. `order`, of
 * `index_bits` (32 or 64) each, overlaps neither keys nor indices. Takes no memory; any thread. */
void host_merge(const host_runs *runs, void *order, uint32_t index_bits, team t);

#endif
