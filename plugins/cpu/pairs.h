/* pairs.h - the CPU merge sort, of pairs (runs/pair.h).
 *
 * Each calls only those below it:
 *
 *   rs_pairs_sort          any array
 *     rs_presorted_sort    if it is sorted, reversed, or nearly sorted
 *     rs_random_sort       if it is not
 *       rs_multiway_pass   up to 16 runs into one, so that memory is read and written seldom
 *       rs_block_sort      blocks that stay in the second-level cache
 *         rs_merge_runs    two runs into one, by four chains of steps at once
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
void rs_pairs_sort(pair_buffers buffers);

/* Sorts up to BLOCK_PAIRS pairs at `data`. The result is in `other` if `into_other`, else in
 * `data`. */
void rs_block_sort(const merge_kernels *kernels, uint64_t *data, uint64_t *other, size_t count,
                   bool into_other);

/* Merges each group of MULTIWAY_RUNS neighbouring runs of `run_count` pairs (the last may be
 * shorter) from buffers.data to the same places in buffers.other. */
void rs_multiway_pass(pair_buffers buffers, size_t run_count);

/* Sorts pairs in random order, into buffers.other or buffers.data. */
void rs_random_sort(pair_buffers buffers, bool into_other);

/* Like rs_pairs_sort, for pairs that are sorted, reversed or nearly sorted; it sorts those out of
 * place with rs_random_sort. False if they are none of these: then `data` holds the same pairs,
 * perhaps in another order. */
bool rs_presorted_sort(pair_buffers buffers);

#endif
