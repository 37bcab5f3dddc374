/* commands.h - what recsort can do, each in a file of its own. Every command says by itself what
 * went wrong and returns the exit status. */
#ifndef RECSORT_COMMANDS_H
#define RECSORT_COMMANDS_H

#include "options.h"

/* What every command on records needs. */
typedef struct cli_job {
  const cli_options *options;
  const recsort_schema *schema;
  recsort_sorter *sorter;
} cli_job;

int command_sort(const cli_job *job);
int command_check(const cli_job *job);
int command_merge(const cli_job *job);
int command_explain(const cli_job *job);
int command_list_plugins(void);

/* What the tool itself measures; the rest is the sorter's. */
typedef struct run_times {
  double begin; /* tool_seconds at the start */
  double read;
  double write; /* gathering included */
} run_times;

/* Writes --stats to standard error, if they are asked for. */
void print_stats(const cli_job *job, uint64_t records, const run_times *times);

/* Says which record a library call failed on, or what else is wrong. `name` is the input, `first`
 * the number in it of the call's first record. */
void job_error(const char *name, uint64_t first, const recsort_error *error);

#endif
