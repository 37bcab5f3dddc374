/* commands.h - what recsort can do, each in a file of its own. Every command says by itself what
 * went wrong and returns the exit status. */
#ifndef RECSORT_COMMANDS_H
#define RECSORT_COMMANDS_H

#include "options.h"

/* What every command on records needs. */
typedef struct cli_job {
  const cli_options *options;
  const recsort_schema *schema;
  recsort_sorter *sorter; /* NULL until it is opened; whoever made the job destroys it */
} cli_job;

/* Makes the sorter; false, after a message, if there can be none. */
bool job_open_sorter(cli_job *job);

int command_sort(cli_job *job);
int command_check(cli_job *job);
int command_merge(cli_job *job);
int command_explain(cli_job *job);
int command_list_plugins(void);

/* What the tool itself measures; the rest is the sorter's. */
typedef struct run_times {
  double begin; /* tool_seconds at the start */
  double read;  /* while the sorter may be made as well */
  double write; /* gathering included */
} run_times;

/* Writes --stats to standard error, if they are asked for. */
void print_stats(const cli_job *job, uint64_t records, const run_times *times);

/* Which of the call's records it failed on, from 0; 0 as well if it was none of them. */
uint64_t error_record(const recsort_error *error);
/* Says what a library call failed on. `name` is the input, `number` the record's number in it. */
void job_error(const char *name, uint64_t number, const recsort_error *error);

#endif
