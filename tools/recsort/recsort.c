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
#include <sys/stat.h>

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

/* The trailer behind counted records is copied after they are written, so it cannot be another
 * input. */
static bool reads_standard_input_twice(const cli_job *job)
{
  const tool_format *const format = &job->format;
  size_t times = 0;
  for (size_t i = 0; i < job->options->input_count; i++)
    times += tool_is_standard(job->options->inputs[i]);
  if (times < 2 || (format->count == TOOL_ANY && !tool_format_is_counted_by_file(format))) {
    return false;
  }
  tool_usage_error("with a count, standard input can be one of the inputs only once");
  return true;
}

/* Repeated headers keep their places and their numbers of records. */
static bool breaks_blocks(const cli_job *job)
{
  const cli_options *const options = job->options;
  const bool writes = options->command == COMMAND_SORT && options->index_bits == 0;
  if (!job->format.file.repeat) return false;
  if (options->command == COMMAND_EXPLAIN && options->input_count != 0) {
    tool_usage_error("--explain does not read files whose headers are repeated");
  } else if (options->files.trailer != TOOL_ANY) {
    tool_usage_error("no --trailer, as header and records are repeated up to the end");
  } else if (options->command == COMMAND_MERGE ||
             (writes && (options->input_count > 1 || options->unique || options->has_head))) {
    tool_usage_error("a file whose headers are repeated is sorted alone and whole: no --merge, "
                     "--unique or --head");
  } else {
    return false;
  }
  return true;
}

static int run_job(cli_job *job)
{
  if (breaks_blocks(job)) return TOOL_TROUBLE;
  if (reads_standard_input_twice(job)) return TOOL_TROUBLE;
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

/* --explain does not open what might block until another process writes. */
static bool may_look(const cli_options *options)
{
  struct stat status;
  return options->command != COMMAND_EXPLAIN ||
         (options->input_count != 0 && !tool_is_standard(options->inputs[0]) &&
          stat(options->inputs[0], &status) == 0 && S_ISREG(status.st_mode));
}

static int run_with_schema(const cli_options *options)
{
  npy_input npy = {0};
  tool_ahead ahead = {0};
  cli_job job = {0};
  int status = TOOL_TROUBLE;
  if (job_open(&job, options, &npy, &ahead, may_look(options))) {
    status = run_job(&job);
    tool_progress_clear();
    recsort_sorter_destroy(job.sorter);
  }
  npy_close(&npy);
  tool_ahead_close(&ahead);
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

static bool may_write(const cli_options *options)
{
  const bool writes = options->command == COMMAND_SORT || options->command == COMMAND_MERGE;
  return !writes || tool_may_write(options->output);
}

int main(int argc, char **argv)
{
  cli_options options;
  tool_set_name("recsort");
  const bool parsed = options_parse(&options, argc, argv) && may_write(&options);
  tool_team_set(options.sorting.threads);
  options.sorting.threads = tool_team_size();
  const int status = parsed && names_read(&options) ? run(&options) : TOOL_TROUBLE;
  options_free(&options);
  return status;
}
