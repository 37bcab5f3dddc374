/* builtin.h - the plugins that are linked into the library.
 *
 * The core knows no plugin. The build that links plugins into the library defines this function.
 */
#ifndef RS_PLUGIN_BUILTIN_H
#define RS_PLUGIN_BUILTIN_H

#include "recsort/plugin.h"

/* Their entry functions, the one for the CPU first; NULL ends them. */
const recsort_plugin_entry_fn *rs_builtin_plugins(void);

/* ---- Merging -----------------------------------------------------------------------------------
 * An extension that only the plugin for the CPU has: it merges the host's sorted runs of records,
 * whichever plugin sorts. */

#define RECSORT_PLUGIN_MERGE "recsort.merge/1"

typedef struct recsort_plugin_run {
  const void *records; /* unaligned; may be NULL if there are none */
  uint64_t count;
} recsort_plugin_run;

typedef struct recsort_plugin_merge_job {
  uint32_t run_count;             /* 0 is allowed; at most 2^16 */
  const recsort_plugin_run *runs; /* NULL for work_size */
  uint64_t count;                 /* records of all runs */
  const recsort_key_program *program;
  uint32_t index_bits; /* 0: the result is the merged records; 32 or 64: it is their permutation,
                        * which counts the records of all runs, one run after the other */
  uint32_t threads;    /* host threads the plugin may use, at least 1 */
  uint32_t in_place;   /* 1: the runs follow one another where the merged records go */
  /* [any thread] The host's encoder, as in recsort_plugin_job. */
  uint32_t (*encode)(const recsort_key_program *program, const void *records, uint64_t count,
                     void *keys);
} recsort_plugin_merge_job;

typedef struct recsort_plugin_merge {
  /* [any thread] Says how much host memory `job` needs. Does not block or allocate.
   * OUT_OF_MEMORY: the size overflows. */
  recsort_status (*work_size)(const void *instance, const recsort_plugin_merge_job *job,
                              uint64_t *bytes, recsort_error *error);

  /* [one thread] Merges to `result`; blocks until done. `memory` is as work_size asked, aligned to
   * 64 bytes. On failure what is at `result` is lost; but if the job is in place, nothing there
   * has changed.
   * UNSORTED_RUN: a run is not sorted, or a record holds an invalid value; the host then finds out
   * which. The plugin checks all runs. */
  recsort_status (*merge)(void *instance, const recsort_plugin_merge_job *job, void *memory,
                          void *result, recsort_error *error);
} recsort_plugin_merge;

#endif
