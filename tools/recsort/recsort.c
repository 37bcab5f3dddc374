/* recsort.c - sorts, checks and merges files of fixed-size records.
 *
 * Opens the schema, makes a sorter for it, and hands both to the command that was asked for.
 */
#include "commands.h"

#include "support/message.h"
#include "support/progress.h"

#include <inttypes.h>
#include <stdio.h>

static int print_version(void)
{
  printf("recsort %s\n", recsort_version());
  return tool_flush_stdout() ? TOOL_OK : TOOL_TROUBLE;
}

void job_error(const char *name, uint64_t first, const recsort_error *error)
{
  if (first == 0) {
    tool_error("%s: %s", name, error->text);
  } else {
    tool_error("%s: from record %" PRIu64 " on: %s", name, first, error->text);
  }
}

static int run_job(const cli_job *job)
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
  int status = TOOL_TROUBLE;
  recsort_error error;
  recsort_sorter *sorter = NULL;
  recsort_schema *const schema = tool_load_schema(options->schema);
  if (schema == NULL) return TOOL_TROUBLE;
  if (recsort_sorter_create(schema, &options->sorting, &sorter, &error) != RECSORT_OK) {
    tool_error_library(&error);
  } else {
    status = run_job(&(cli_job){options, schema, sorter});
    tool_progress_clear();
  }
  recsort_sorter_destroy(sorter);
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
  const int status = options_parse(&options, argc, argv) ? run(&options) : TOOL_TROUBLE;
  options_free(&options);
  return status;
}
