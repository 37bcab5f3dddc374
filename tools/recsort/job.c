/* job.c - see job.h. */
#include "job.h"

#include "support/memory.h"
#include "support/message.h"

#include <inttypes.h>
#include <stdio.h>

/* The number of the record in an error's text, and the rest of the text. */
static uint64_t split_error(const recsort_error *error, const char **rest)
{
  uint64_t number = 0;
  int length = 0;
  if (error->status == RECSORT_INVALID_RECORD) {
    sscanf(error->text, "record %" SCNu64 ": %n", &number, &length);
  }
  *rest = error->text + length;
  return number;
}

uint64_t error_record(const recsort_error *error)
{
  const char *rest;
  return split_error(error, &rest);
}

void job_error(const char *name, uint64_t number, const recsort_error *error)
{
  const char *rest;
  split_error(error, &rest);
  if (rest != error->text) {
    tool_error("%s: record %" PRIu64 ": %s", name, number, rest);
  } else {
    tool_error("%s: %s", name, error->text);
  }
}

tool_format job_format(const cli_job *job)
{
  const cli_options *const options = job->options;
  tool_format format = tool_format_of(job->schema);
  format.count = options->count;
  if (options->skip != TOOL_ANY) format.skip = options->skip;
  if (options->trailer != TOOL_ANY || options->count != TOOL_ANY) format.trailer = options->trailer;
  return format;
}

bool job_can_take(uint64_t needed)
{
  return needed <= tool_memory_available();
}

bool job_fits(const char *purpose, uint64_t needed)
{
  const uint64_t available = tool_memory_available();
  if (needed <= available) return true;
  tool_error("not enough memory: %" PRIu64 " MiB are needed to %s, %" PRIu64 " MiB are available",
             needed >> 20, purpose, available >> 20);
  return false;
}

bool job_open_sorter(cli_job *job)
{
  recsort_error error;
  if (recsort_sorter_create(job->schema, &job->options->sorting, &job->sorter, &error) ==
      RECSORT_OK) {
    return true;
  }
  tool_error_library(&error);
  return false;
}
