/* job.h - a run of the command on one schema, and what its commands share. */
#ifndef RECSORT_JOB_H
#define RECSORT_JOB_H

#include "options.h"

#include "support/input.h"

/* What every command on records needs. */
typedef struct cli_job {
  const cli_options *options;
  const recsort_schema *schema;
  recsort_sorter *sorter; /* NULL until it is opened; the owner of the job destroys it */
} cli_job;

/* Makes the sorter; false, after a message, if there can be none. */
bool job_open_sorter(cli_job *job);

/* How the inputs are divided: as the schema says, or the command line. */
tool_format job_format(const cli_job *job);

/* Whether `needed` bytes of memory are available; if not, says so. */
bool job_fits(const char *purpose, uint64_t needed);

/* The record that the call failed on, counted from 0; 0 if it failed on none. */
uint64_t error_record(const recsort_error *error);
/* Says what a library call failed on. `name` is the input, `number` the record's number in it. */
void job_error(const char *name, uint64_t number, const recsort_error *error);

#endif
