/* cli_job.c - see cli_job.h. */
#include "cli_job.h"

#include "recsort/tools.h"

#include "files/available.h"
#include "support/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool job_open(cli_job *job, const cli_options *options, npy_input *npy, tool_ahead *ahead,
              bool look)
{
  const char *const path = options->input_count != 0 ? options->inputs[0] : NULL;
  job->options = options;
  if (options->schema == NULL) {
    if (!npy_open(npy, options, ahead)) return false;
    job->npy = npy;
    job->schema = npy->schema;
    job->format = npy_format(npy);
    job->format.said = options->files;
    job->format.ahead = ahead;
    if (options->files.trailer != TOOL_ANY) job->format.trailer = options->files.trailer;
    return true;
  }
  npy->schema = tool_load_schema(options->schema);
  job->schema = npy->schema;
  return npy->schema != NULL &&
         tool_format_open(&job->format, npy->schema, &options->files, path, look, ahead);
}

uint64_t job_memory_limit(const cli_options *options)
{
  const uint64_t available = rf_memory_available();
  return options->memory != 0 ? options->memory
                              : available / 100 * (options->percent ? options->percent : 100);
}

bool job_can_take(uint64_t needed)
{
  return needed <= rf_memory_available();
}

bool job_fits(const char *purpose, uint64_t needed, const char *advice)
{
  const uint64_t available = rf_memory_available();
  if (needed <= available) return true;
  tool_error("not enough memory: %" PRIu64 " MiB are needed to %s, %" PRIu64
             " MiB are available; %s",
             needed >> 20, purpose, available >> 20, advice);
  return false;
}

static bool set_parameter(cli_job *job, const cli_parameter *parameter, recsort_error *error)
{
  char *const name = strndup(parameter->name, parameter->name_length);
  if (name == NULL) {
    snprintf(error->text, sizeof error->text, "out of memory");
    return false;
  }
  const recsort_status status =
      recsort_sorter_set_parameter(job->sorter, name, parameter->values, parameter->count, error);
  free(name);
  return status == RECSORT_OK;
}

/* --explain sorts nothing, so it needs no values. */
static bool has_parameters(const cli_job *job, recsort_error *error)
{
  size_t count;
  bool is_set = true;
  const char *name = "";
  for (size_t i = 0; name != NULL && is_set && job->options->command != COMMAND_EXPLAIN; i++) {
    name = recsort_sorter_get_parameter(job->sorter, i, &count, &is_set);
  }
  if (name == NULL || is_set) return true;
  snprintf(error->text, sizeof error->text,
           "%.200s: the keys are computed with \"%.64s\"; say what it is: --param %.64s=%s",
           job->options->schema, name, name,
           count == 1   ? "X"
           : count == 2 ? "X,Y"
                        : "X,Y,Z...");
  return false;
}

/* A GPU does not pay for files, and takes memory; so "auto" starts none unless it is asked for. */
static bool is_for_cpu(const recsort_options *sorting)
{
  const bool automatic = sorting->plugin == NULL || strcmp(sorting->plugin, "auto") == 0;
  return automatic && sorting->algorithm == NULL && sorting->plugin_option_count == 0;
}

bool job_create_sorter(cli_job *job, recsort_error *error)
{
  const cli_options *const options = job->options;
  recsort_options sorting = options->sorting;
  if (is_for_cpu(&sorting)) sorting.plugin = "cpu";
  if (recsort_sorter_create(job->schema, &sorting, &job->sorter, error) != RECSORT_OK) return false;
  for (size_t i = 0; i < options->parameter_count; i++)
    if (!set_parameter(job, &options->parameters[i], error)) return false;
  return has_parameters(job, error);
}

recsort_stats job_stats(const cli_job *job)
{
  recsort_stats stats;
  recsort_sorter_get_stats(job->sorter, &stats, sizeof stats);
  if (is_for_cpu(&job->options->sorting) && strcmp(stats.choice, "asked for by name") == 0)
    stats.choice = "a GPU, if there is one, does not pay for files; name it if it is to sort";
  return stats;
}

bool job_open_sorter(cli_job *job)
{
  recsort_error error;
  if (job_create_sorter(job, &error)) return true;
  tool_error_library(&error);
  return false;
}
