/* recsort.c - sorts, checks and merges files of fixed-size records.
 *
 * Opens the schema and hands it to the command that was asked for, which makes a sorter for it.
 */
#include "commands.h"

#include "support/memory.h"
#include "support/message.h"
#include "support/progress.h"
#include "support/team.h"

#include <inttypes.h>
#include <stdio.h>

static int print_version(void)
{
  printf("recsort %s\n", recsort_version());
  return tool_flush_stdout() ? TOOL_OK : TOOL_TROUBLE;
}

/* The number that the text begins with, and what follows it. */
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

static int run_job(cli_job *job)
{
  switch (job->options->command) {
  case COMMAND_CHECK:
    return command_check(job);
  case COMMAND_MERGE:
    return command_merge(job);
  case COMMAND_EXPLAIN:
    return command_explain(job);
  default:
    return command_sort(job);
  }
}

static int run_with_schema(const cli_options *options)
{
  recsort_schema *const schema = tool_load_schema(options->schema);
  if (schema == NULL) return TOOL_TROUBLE;
  cli_job job = {.options = options, .schema = schema};
  const int status = run_job(&job);
  tool_progress_clear();
  recsort_sorter_destroy(job.sorter);
  recsort_schema_destroy(schema);
  return status;
}

static int run(const cli_options *options)
{
  switch (options->command) {
  case COMMAND_HELP:
    return print_help() ? TOOL_OK : TOOL_TROUBLE;
  case COMMAND_VERSION:
    return print_version();
  case COMMAND_LIST_PLUGINS:
    return command_list_plugins();
  default:
    return run_with_schema(options);
  }
}

int main(int argc, char **argv)
{
  cli_options options;
  tool_set_name("recsort");
  const bool parsed = options_parse(&options, argc, argv);
  tool_team_set(options.sorting.threads);
  const int status = parsed ? run(&options) : TOOL_TROUBLE;
  options_free(&options);
  return status;
}
