/* cli_job.h - a run of the command with one schema, and functions that its commands share. */
#ifndef RECSORT_CLI_JOB_H
#define RECSORT_CLI_JOB_H

#include "npy.h"
#include "options.h"

#include "support/input.h"

/* The data of every command on records. */
typedef struct cli_job {
  const cli_options *options;
  const recsort_schema *schema;
  const npy_input *npy;   /* the schema comes from it; NULL: it was read from a file */
  tool_format format;     /* how the inputs are divided */
  recsort_sorter *sorter; /* NULL until job_open_sorter; destroyed by the owner of the job */
} cli_job;

/* The first `count` elements of a permutation. */
typedef struct cli_order {
  const void *index;
  unsigned index_bits;
  size_t count;
} cli_order;

static inline uint64_t order_at(const cli_order *order, size_t place)
{
  return order->index_bits == 32 ? ((const uint32_t *)order->index)[place]
                                 : ((const uint64_t *)order->index)[place];
}

/* Makes the sorter and sets its parameters. False, with `error` filled in, on failure. */
bool job_create_sorter(cli_job *job, recsort_error *error);
/* The same. False, after a message, on failure. */
bool job_open_sorter(cli_job *job);
/* Those of its sorter. */
recsort_stats job_stats(const cli_job *job);

/* Opens the schema, or makes it of the first input, a .npy file, and finds the job's format; with
 * `look`, opens the first input for that if need be. What it opens belongs to `npy` and `ahead`.
 * False, after a message, on failure. */
bool job_open(cli_job *job, const cli_options *options, npy_input *npy, tool_ahead *ahead,
              bool look);

/* The bytes of memory that a sort may take: what --memory says, or what is available. */
uint64_t job_memory_limit(const cli_options *options);
/* Whether `needed` bytes of memory are available. */
bool job_can_take(uint64_t needed);
/* The same; if not, reports an error, which ends with the advice. */
bool job_fits(const char *purpose, uint64_t needed, const char *advice);

/* The record that a call failed on, from 0; 0 if the error is about no record. */
uint64_t error_record(const recsort_error *error);
/* Reports the error of a library call. `name` is the input, `number` the record's number in it. */
void job_error(const char *name, uint64_t number, const recsort_error *error);

#endif
