/* stats.h - the figures of --stats. */
#ifndef RECSORT_STATS_H
#define RECSORT_STATS_H

#include "cli_job.h"

#include "recsort/file.h"

/* The times that the tool measures itself. */
typedef struct run_times {
  double begin; /* tool_seconds() at the start */
  double read;  /* may include creating the sorter */
  double write; /* gathering included */
} run_times;

/* Writes the figures to standard error if --stats was given. `file`: what sorted by way of
 * temporary files, or NULL. */
void print_stats(const cli_job *job, uint64_t records, const run_times *times,
                 recsort_file *file);

#endif
