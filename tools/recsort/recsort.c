/* recsort.c - sorts, checks and merges files of fixed-size records.
 *
 * Opens the schema and passes it to the command, which makes a sorter for it. */
#include "commands.h"
#include "completion.h"
#include "names.h"

#include "support/message.h"
#include "support/progress.h"
#include "support/team.h"

#include <stdio.h>

static int print_version(void)
{
  printf("recsort %s\n", recsort_version());
  return tool_flush_stdout() ? TOOL_OK : TOOL_TROUBLE;
}

static int print_completion(const char *shell)
{
  if (!completion_exists(shell))
    return tool_usage_error("--completion: '%s' is not bash, zsh or fish", shell);
  return completion_print(shell) ? TOOL_OK : TOOL_TROUBLE;
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
  case COMMAND_COMPLETION:
    return print_completion(options->shell);
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
  const int status = parsed && names_read(&options) ? run(&options) : TOOL_TROUBLE;
  options_free(&options);
  return status;
}
