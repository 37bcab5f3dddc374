/* pairs.h - the CPU merge sort, of pairs (runs/pair.h).
 *
 * Each calls only those below it:
 *
 *   pairs_sort          any array
 *     presorted_sort    if it is sorted, reversed, or nearly sorted
 *     random_sort       if it is not
 *       multiway_pass   up to 16 runs into one, so that memory is read and written seldom
 *       block_sort      blocks that stay in the second-level cache
 *         merge_runs    two runs into one, by four chains of steps at once
 */
#ifndef RECSORT_CPU_PAIRS_H
#define RECSORT_CPU_PAIRS_H

#include "recsort/team.h"
#include "runs/pair.h"

enum {
  BLOCK_PAIRS = 1 << 14,                       /* two buffers of a block: half of a 512 KiB cache */
  MULTIWAY_RUNS = 16,                          /* runs that one pass merges */
  MULTIWAY_WINDOW = TILE_PAIRS / MULTIWAY_RUNS /* of each run, if there are MULTIWAY_RUNS */
};

/* Two arrays of `count` pairs, of which `data` holds the input, and the tiles of threads. */
typedef struct pair_buffers {
  uint64_t *data;
  uint64_t *other;
  size_t count;
  uint64_t *tiles; /* 2 * TILE_PAIRS for each slot of the team */
  const merge_kernels *kernels;
  team team;
  unsigned index_bits; /* low bits of a pair that hold its index */
} pair_buffers;

/* Bytes of tiles that `threads` threads need. */
static inline size_t pairs_tiles_size(unsigned threads)
{
  return (size_t)threads * 2 * TILE_PAIRS * sizeof(uint64_t);
}

/* Sorts any pairs. The result is in buffers.other; buffers.data is lost. */
void pairs_sort(pair_buffers buffers);

/* Sorts up to BLOCK_PAIRS pairs at `data`. The result is in `other` if `into_other`, else in
 * `data`. */
void block_sort(const merge_kernels *kernels, uint64_t *data, uint64_t *other, size_t count,
                bool into_other);

/* Merges each group of MULTIWAY_RUNS neighbouring runs of `run_count` pairs (the last may be
 * shorter) from buffers.data to the same places in buffers.other. */
void multiway_pass(pair_buffers buffers, size_t run_count);

/* Sorts pairs in random order, into buffers.other or buffers.data. */
void random_sort(pair_buffers buffers, bool into_other);

/* Like pairs_sort, for pairs that are sorted, reversed or nearly sorted; it sorts those out of
 * place with random_sort. False if they are none of these: then `data` holds the same pairs,
 * perhaps in another order. */
bool presorted_sort(pair_buffers buffers);

#endif
