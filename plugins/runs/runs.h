/* runs.h - the parts of a merge of sorted runs (merge.h).
 *
 * Records are read and written once for each pass, and one pass merges up to 512 runs, so that
 * usually there is one pass. Each calls only those below it:
 *
 *   merge.c       memory, the passes, and the pieces that threads take
 *     cuts.c      where the pieces begin in each run, by splitters of a sample
 *     tile.c      one piece: keys are read, merged as pairs (pair.h), and the records moved, a tile
 *                 that stays in the cache at a time
 *       zip.c     a tile of two runs, without pairs
 *       tree.c    a tile whose keys do not fit in pairs
 *     keys.c      keys, for all of these
 *
 * The stable order of records is that of (key, run, place in the run). It is total, so a splitter
 * divides any input, also one whose keys are all equal.
 */
#ifndef RECSORT_RUNS_RUNS_H
#define RECSORT_RUNS_RUNS_H

#include <stdatomic.h>

#include "base/assert.h"
#include "runs/merge.h"
#include "runs/pair.h"

__extension__ typedef unsigned __int128 uint128;

/* A key of 16 bytes. */
static inline uint128 run_key_of_16(const unsigned char *key)
{
  const uint64_t *const words = (const void *)key;
  return (uint128)words[1] << 64 | words[0];
}

/* Less than, equal to or greater than 0. */
static inline int run_compare(size_t key_size, const unsigned char *a, const unsigned char *b)
{
  RS_ASSERT(key_size == 4 || key_size % 8 == 0);
  if (key_size == 4) {
    const uint32_t x = *(const uint32_t *)(const void *)a, y = *(const uint32_t *)(const void *)b;
    return (x > y) - (x < y);
  }
  const uint64_t *const x = (const void *)a, *const y = (const void *)b;
  for (size_t w = key_size / 8; w-- > 0;)
    if (x[w] != y[w]) return x[w] < y[w] ? -1 : 1;
  return 0;
}

typedef enum run_output {
  RUN_RECORDS, /* the records */
  RUN_INDEX,   /* their indices */
  RUN_KEYED    /* their keys, and apart from them their indices */
} run_output;

/* One pass: groups of `fan` runs, each into one. */
typedef struct run_pass {
  run_format format;
  const recsort_plugin_run *runs;
  const uint64_t *first; /* run_count + 1: the records before each run */
  size_t run_count;
  size_t fan;
  const unsigned char *indices; /* of all records, run by run; NULL: their places among all */
  size_t index_size;            /* bytes of each of these */
  bool relative;                /* first[r] is to be added to those of run r */
  run_output output;
  size_t order_size;         /* bytes of an index that is written */
  unsigned char *to;         /* element first[r] is where the group that begins with run r goes */
  unsigned char *to_indices; /* likewise, for the indices of RUN_KEYED */
  bool check;                /* look whether the runs are sorted */
  bool stream;               /* the output is too large for the caches */
  unsigned char *scratch;
  size_t scratch_size; /* of each thread */
  atomic_bool bad;     /* a run is not sorted, or a value invalid */
} run_pass;

/* The runs of a group. */
static inline size_t run_group_size(const run_pass *pass, size_t group)
{
  RS_ASSERT(group * pass->fan < pass->run_count);
  const size_t left = pass->run_count - group * pass->fan;
  return left < pass->fan ? left : pass->fan;
}

/* A piece of a group's output: of run r of the group records [from[r], to[r]). */
typedef struct run_piece {
  size_t group;
  const uint64_t *from;
  const uint64_t *to;
  uint64_t at; /* in the output, in elements */
} run_piece;

/* ---- keys.c ---- */

/* Reads keys. Returns false if a value is invalid. */
bool rs_run_read_keys(const run_format *format, const void *records, size_t count, void *keys);

/* Whether keys are in order. */
bool rs_run_in_order(size_t key_size, const unsigned char *keys, size_t count);

/* ---- cuts.c ---- */

/* A record. `prefix` is the top of its key. */
typedef struct run_sample {
  uint64_t prefix;
  uint64_t at;
  size_t run; /* of all runs of the pass */
} run_sample;

/* Fills in `count` samples of a group, and sorts them. `scratch` is for two keys. Returns false if
 * a value is invalid. */
bool rs_run_sample_group(const run_pass *pass, size_t group, run_sample *samples, size_t count,
                         unsigned char *scratch);

/* How many records of each run of a group come before `splitter`. Likewise. */
bool rs_run_cut(const run_pass *pass, size_t group, const run_sample *splitter, uint64_t *cut,
                unsigned char *scratch);

/* ---- tile.c ---- */

/* Bytes that a thread needs to merge pieces of up to `fan` runs. */
uint64_t rs_run_tile_scratch(size_t fan, size_t key_size);

/* Merges a piece. Sets pass->bad if it finds that it cannot be done. */
void rs_run_merge_piece(run_pass *pass, const run_piece *piece, unsigned char *scratch);

/* ---- zip.c ---- */

/* Records of a run, and their keys. */
typedef struct run_records {
  const unsigned char *keys;
  const unsigned char *records;
  size_t count;
} run_records;

/* Two runs and where their records go. */
typedef struct run_zip {
  run_records a;
  run_records b;
  unsigned char *out;
  unsigned char *stage; /* stage_size bytes on the way there, past the caches; NULL: none */
  size_t stage_size;    /* at least a record */
  size_t ahead;         /* bytes from a record to what is to be prefetched with it */
} run_zip;

/* Merges two runs of records with keys of 4 or 8 bytes. */
void rs_run_zip_merge(const run_zip *zip, size_t key_size, size_t record_size);

/* ---- tree.c ---- */

/* What the tree compares. */
typedef struct run_head {
  uint64_t high;
  uint64_t low;
  uint64_t run;
} run_head;

/* A run as a player of the tree, and the loser at the node of its number. */
typedef struct run_player {
  const unsigned char *at; /* its next key */
  size_t place;            /* of that in the run; at first 0 */
  size_t count;
  run_head loser; /* set by the merge */
} run_player;

/* Merges at least two sorted runs of keys of at least 8 bytes: writes run << shift | place in the
 * run for each key. */
void rs_run_tree_merge(run_player *players, size_t count, size_t key_size, unsigned shift,
                       uint64_t *to);

#endif
