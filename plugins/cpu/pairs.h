/* pairs.h - what the CPU merge sort sorts: a key and an index packed into one 64-bit integer.
 *
 * The index in the low bits makes every pair different from every other, and the order of the
 * integers the stable order of the keys. So the merges below need no stability of their own, may
 * work from both ends, and move one array instead of two. Bit 61 is always set and those above it
 * never, which makes each pair a positive, normal double as well, in the same order: vector units
 * have min and max for these.
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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/co_rank.h"
#include "recsort/team.h"
#include "cpu/kernels.h"

#define PAIR_MARK (UINT64_C(1) << PAIR_BITS)

enum {
  PAIR_BITS = 61,        /* for a part of a key and an index */
  BLOCK_PAIRS = 1 << 14, /* two buffers of a block: half of a 512 KiB cache */
  MULTIWAY_RUNS = 16,    /* runs that one pass merges */
  TILE_PAIRS = 1 << 13,  /* pairs that a pass merges in the cache at a time, of all runs */
  MULTIWAY_WINDOW = TILE_PAIRS / MULTIWAY_RUNS /* of each run, if there are as many as can be */
};

/* Two arrays of `count` pairs, the data in `data`, and where threads keep their tiles. */
typedef struct pair_buffers {
  uint64_t *data;
  uint64_t *other;
  size_t count;
  uint64_t *tiles; /* 2 * TILE_PAIRS for each slot of the team */
  const merge_kernels *kernels;
  team team;
  unsigned index_bits; /* the low bits of a pair that are its index */
} pair_buffers;

/* Bytes of tiles that `threads` threads need. */
static inline size_t pairs_tiles_size(unsigned threads)
{
  return (size_t)threads * 2 * TILE_PAIRS * sizeof(uint64_t);
}

/* Sorts; the result is in buffers.other, and buffers.data is lost. */
void pairs_sort(pair_buffers buffers);

/* Merges two runs into `out`, which overlaps neither. */
void merge_runs(const merge_kernels *kernels, run64 a, run64 b, uint64_t *out);

/* Sorts up to BLOCK_PAIRS pairs at `data`; the result is in `other` or in `data`, as asked. */
void block_sort(const merge_kernels *kernels, uint64_t *data, uint64_t *other, size_t count,
                bool into_other);

/* Merges each group of MULTIWAY_RUNS neighbouring runs of `run_count` pairs (the last may be
 * shorter) from buffers.data to the same places in buffers.other. */
void multiway_pass(pair_buffers buffers, size_t run_count);

/* Sorts without a look at the order that is there, into buffers.other or buffers.data. */
void random_sort(pair_buffers buffers, bool into_other);

/* Handles what is sorted, reversed or nearly sorted, as pairs_sort; false and nothing lost (but the
 * order of the data) if it is none of these. What is out of place goes to random_sort. */
bool presorted_sort(pair_buffers buffers);

#endif
