/* runs.h - sorted runs of records merged into one: the extension "recsort.merge/1".
 *
 * Records are read and written once for each pass, and one pass merges up to 256 runs, so that
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
#include <stdbool.h>

#include "recsort/team.h"
#include "runs/pair.h"

enum {
  RUN_MOST = 256,           /* runs that a pass merges into one */
  RUN_TILE_PAIRS = 1 << 14, /* of a tile */
  RUN_BIG_KEYS = 1 << 22 /* bytes of keys that all runs of a tile may have, if there is a choice */
};

/* How the keys of records are read. */
typedef struct run_format {
  size_t record_size;
  size_t key_size; /* 4, 8, or more by 8 */
  const recsort_plugin_merge_job *job;
  bool is_keyed; /* a record is a key as it is, and behind it 8 bytes of an index */
  bool is_plain; /* a record is an integer of 8 bytes, which `flip` turns into its key */
  uint64_t flip;
} run_format;

/* Bytes from the start of a keyed record to its index. */
static inline size_t keyed_index_at(size_t key_size)
{
  return (key_size + 7) / 8 * 8;
}

/* Less than, equal to or greater than 0. */
static inline int run_compare(size_t key_size, const unsigned char *a, const unsigned char *b)
{
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
  RUN_KEYED    /* keys and indices */
} run_output;

/* One pass: groups of `fan` runs, each into one. */
typedef struct run_pass {
  run_format format;
  const recsort_plugin_run *runs;
  const uint64_t *first; /* run_count + 1: the records before each run */
  size_t run_count;
  size_t fan;
  run_output output;
  unsigned index_bits; /* of RUN_INDEX */
  unsigned char *to;   /* element first[r] of it is where the group that begins with run r goes */
  bool check;          /* look whether the runs are sorted */
  bool stream;         /* the output is too large for the caches */
  unsigned char *scratch;
  size_t scratch_size; /* of each thread */
  atomic_bool bad;     /* a run is not sorted, or a value invalid */
} run_pass;

/* The runs of a group. */
static inline size_t run_group_size(const run_pass *pass, size_t group)
{
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

/* ---- merge.c ---- */

extern const recsort_plugin_merge rs_cpu_merge;

/* ---- keys.c ---- */

/* Reads keys. Returns false if a value is invalid. */
bool run_read_keys(const run_format *format, const void *records, size_t count, void *keys);

/* Whether keys are in order. */
bool run_in_order(size_t key_size, const unsigned char *keys, size_t count);

/* ---- cuts.c ---- */

/* A record. `prefix` is the top of its key. */
typedef struct run_sample {
  uint64_t prefix;
  uint64_t at;
  size_t run; /* of all runs of the pass */
} run_sample;

/* Fills in `count` samples of a group, and sorts them. `scratch` is for two keys. Returns false if
 * a value is invalid. */
bool run_sample_group(const run_pass *pass, size_t group, run_sample *samples, size_t count,
                      unsigned char *scratch);

/* How many records of each run of a group come before `splitter`. Likewise. */
bool run_cut(const run_pass *pass, size_t group, const run_sample *splitter, uint64_t *cut,
             unsigned char *scratch);

/* ---- tile.c ---- */

/* Bytes that a thread needs to merge pieces of up to `fan` runs, or 0 on overflow. */
size_t run_tile_scratch(size_t fan, size_t key_size);

/* Merges a piece. Sets pass->bad if it finds that it cannot be done. */
void run_merge_piece(run_pass *pass, const run_piece *piece, unsigned char *scratch);

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
void run_zip_merge(const run_zip *zip, size_t key_size, size_t record_size);

/* ---- tree.c ---- */

/* Keys of one run. */
typedef struct run_keys {
  const unsigned char *at;
  size_t count;
} run_keys;

/* Merges up to RUN_MOST sorted runs of keys of any size: writes run << shift | place in the run for
 * each key. */
void run_tree_merge(const run_keys *runs, size_t run_count, size_t key_size, unsigned shift,
                    uint64_t *to);

#endif
