/* merge.h - merges sorted runs of records, or of keys, on the host: into one run, or into the order
 * of all records.
 *
 * The stable order of records is that of (key, run, place in the run). runs.h shows the parts.
 */
#ifndef RECSORT_RUNS_MERGE_H
#define RECSORT_RUNS_MERGE_H

#include <stdbool.h>

#include "plugin/builtin.h"
#include "recsort/team.h"

/* How the keys of records are read: by `encode`, unless a record is plain. */
typedef struct run_format {
  size_t record_size;
  size_t key_size;   /* 4, 8, or more by 8 */
  uint32_t key_bits; /* that may differ, from the lowest up */
  bool is_plain;     /* a record is its key, or if that has 8 bytes, the xor of it and `flip` */
  uint64_t flip;
  const recsort_key_program *program;
  uint32_t (*encode)(const recsort_key_program *program, const void *records, uint64_t count,
                     void *keys); /* as in recsort_plugin_merge_job */
} run_format;

typedef struct run_job {
  run_format format;
  const recsort_plugin_run *runs; /* NULL for rs_run_merge_size */
  size_t run_count;
  uint64_t count;      /* records of all runs */
  size_t fan;          /* runs that a pass merges into one, at least 2; a few hundred are fast */
  size_t threads;      /* at least 1 */
  unsigned index_bits; /* 0: the result is the merged records; 32 or 64: it is their order */
  const uint32_t *indices; /* one run after the other: an index to be added to the number of records
                            * before the run. NULL: a record's place in its run */
  bool in_place;           /* the runs follow one another where the merged records go */
  bool check;              /* of the runs: whether they are sorted */
} run_job;

/* Sets *bytes to the memory that a job needs. In one pass, more runs never need less. False if it
 * overflows; *bytes stays as it was. Any thread. */
bool rs_run_merge_size(const run_job *job, uint64_t *bytes);

/* Merges into `result`, which overlaps neither `memory` nor the runs, except those of a job in
 * place. `memory` has rs_run_merge_size() bytes, aligned to 8. False if a run is found not to be
 * sorted, or a value to be invalid: what is at `result` is lost then; but in place nothing there
 * has changed. */
bool rs_run_merge(const run_job *job, team t, void *memory, void *result);

#endif
