/* stats.h - the figures of --stats. */
#ifndef RECSORT_STATS_H
#define RECSORT_STATS_H

#include "job.h"

/* What the tool itself measures; the rest is the sorter's. */
typedef struct run_times {
  double begin; /* tool_seconds at the start */
  double read;  /* while the sorter may be made as well */
  double write; /* gathering included */
} run_times;

/* Writes --stats to standard error, if they are asked for. */
void print_stats(const cli_job *job, uint64_t records, const run_times *times);

#endif
