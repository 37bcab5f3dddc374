/* commands.h - the commands of recsort, each in its own file. Every command reports its own errors
 * and returns the exit status. */
#ifndef RECSORT_COMMANDS_H
#define RECSORT_COMMANDS_H

#include "cli_job.h"

/* The bytes of memory that a sort to an output takes. */
typedef struct sort_needs {
  uint64_t records;
  uint64_t working; /* the sorter's */
  uint64_t buffers; /* buffers in which records are gathered */
} sort_needs;

/* False if `count` records cannot be sorted. */
bool sort_memory(cli_job *job, uint64_t count, sort_needs *needs, recsort_error *error);

int command_sort(cli_job *job);
int command_check(cli_job *job);
int command_merge(cli_job *job);
int command_explain(cli_job *job);
int command_list_plugins(void);

#endif
