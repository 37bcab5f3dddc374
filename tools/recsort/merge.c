/* merge.c - one sorted output from sorted inputs, by librecsort_file, in memory that does not grow
 * with them.
 *
 * Each input is a run. If not all of them can be open at once, files are opened when their turn
 * comes, and groups of them are merged to temporary files first.
 */
#include "commands.h"
#include "spill.h"
#include "stats.h"

#include "support/around.h"
#include "support/message.h"
#include "support/output.h"
#include "support/records.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
  base_size = 40 << 20,  /* memory, and */
  input_size = 64 << 10, /* for each input, and */
  input_records = 8,     /* as many of its records */
  others_open =
      4 /* besides the inputs: the output, its folder, a temporary file, one for a moment */
};

typedef struct merge_input {
  tool_reader reader;
  const char *path;
  const tool_format *format;
  bool keeps_open; /* its trailer will be copied */
  bool closed;     /* it is opened again when its turn comes */
  bool ended;      /* all its records have been read */
} merge_input;

typedef struct merge_state {
  cli_job *job;
  tool_format format;
  tool_output output;
  merge_input *inputs;
  size_t input_count;
  size_t most_open; /* inputs; 0: all */
  spilled_sort spill;
} merge_state;

/* ---- Open files ---- */

/* The files below the limit that are open now. */
static rlim_t count_open_files(rlim_t limit)
{
  rlim_t count = 0;
  uint64_t number;
  DIR *const folder = opendir("/proc/self/fd");
  if (folder == NULL) return STDERR_FILENO + 1;
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
    count += tool_parse_count(entry->d_name, INT_MAX, &number) && number < limit;
  closedir(folder);
  return count - 1; /* the folder */
}

/* All inputs are open at once, if the limit of open files can be raised to what they need. */
static bool allow_open_files(merge_state *merge)
{
  const cli_options *const options = merge->job->options;
  struct rlimit limit;
  size_t files = 0;
  for (size_t i = 0; i < options->input_count; i++)
    files += !tool_is_standard(options->inputs[i]);
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return true;
  const rlim_t others = count_open_files(limit.rlim_max) + others_open, needed = others + files;
  if (needed <= limit.rlim_cur) return true;
  limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0 && needed <= limit.rlim_cur) return true;
  merge->most_open = limit.rlim_cur > others ? (size_t)(limit.rlim_cur - others) : 0;
  if (merge->most_open >= 2) return true;
  tool_error("--merge: the limit of open files (ulimit -Hn) leaves room for fewer than two inputs");
  return false;
}

/* ---- Inputs ---- */

static bool open_input(merge_input *input, bool is_first)
{
  return (is_first ? tool_reader_open : tool_later_open)(&input->reader, input->path,
                                                         input->format);
}

/* Opens all inputs, so that nothing is written if one is refused. */
static bool open_inputs(merge_state *merge)
{
  const cli_options *const options = merge->job->options;
  merge->inputs = calloc(merge->input_count, sizeof *merge->inputs);
  if (merge->inputs == NULL) {
    tool_error_memory(merge->input_count * sizeof *merge->inputs);
    return false;
  }
  for (size_t i = 0; i < merge->input_count; i++)
    merge->inputs[i].reader.stream.fd = -1;
  for (size_t i = 0; i < merge->input_count; i++) {
    merge_input *const input = &merge->inputs[i];
    input->path = options->input_count != 0 ? options->inputs[i] : NULL;
    input->format = &merge->format;
    if (!open_input(input, i == 0)) return false;
    if (merge->most_open == 0 || i == 0 || !input->reader.sized) continue;
    tool_reader_close(&input->reader);
    input->reader.stream.fd = -1;
    input->closed = true;
  }
  return true;
}

/* Opens a file again that was closed. */
static bool open_again(merge_input *input)
{
  const struct stat old = input->reader.status;
  if (!open_input(input, false)) return false;
  input->closed = false;
  const struct stat *const now = &input->reader.status;
  if (now->st_size == old.st_size && now->st_mtim.tv_sec == old.st_mtim.tv_sec &&
      now->st_mtim.tv_nsec == old.st_mtim.tv_nsec) {
    return true;
  }
  tool_error("%s: it was changed while the inputs were merged", input->reader.name);
  return false;
}

/* See recsort_file_read. What is wrong has been reported; then the error has no text. */
static recsort_status read_input(void *context, void *records, size_t capacity, size_t *count,
                                 recsort_error *error)
{
  merge_input *const input = context;
  error->text[0] = '\0';
  if ((input->closed && !open_again(input)) ||
      !tool_reader_read_records(&input->reader, records, capacity, count)) {
    return RECSORT_IO_ERROR;
  }
  input->ended = *count == 0;
  if (!input->ended || input->keeps_open || !input->reader.sized) return RECSORT_OK;
  tool_stream_close(&input->reader.stream);
  input->reader.stream.fd = -1;
  return RECSORT_OK;
}

/* "run R, record N: ..." is about record N of input R. */
static void report_run(const spilled_sort *spill, const recsort_error *error)
{
  const merge_input *const inputs = spill->inputs;
  recsort_error own = *error;
  uint64_t number = 0;
  size_t run = 0;
  int length = 0;
  if (error->text[0] == '\0') return;
  sscanf(error->text, "run %zu, record %" SCNu64 ": %n", &run, &number, &length);
  if (length == 0) {
    tool_error_library(error);
  } else if (error->status == RECSORT_UNSORTED_RUN) {
    tool_error("%s: it is not sorted: record %" PRIu64 " is out of order", inputs[run].reader.name,
               number);
  } else {
    snprintf(own.text, sizeof own.text, "record 0: %.400s", error->text + length);
    job_error(inputs[run].reader.name, number, &own);
  }
}

/* ---- The merge ---- */

/* The records of all inputs, or TOOL_ANY. False if the header needs it and it is not known. */
static bool count_records(merge_state *merge, uint64_t *count)
{
  tool_reader *const first = &merge->inputs[0].reader;
  const bool all = merge->job->options->head == UINT64_MAX && !merge->job->options->unique;
  bool known = true;
  *count = 0;
  for (size_t i = 0; i < merge->input_count && known; i++) {
    const uint64_t its = tool_reader_count(&merge->inputs[i].reader);
    known = its != TOOL_ANY && !__builtin_add_overflow(*count, its, count);
  }
  first->said = all && merge->input_count == 1; /* as many as before */
  if (!known) *count = TOOL_ANY;
  if (known || !tool_format_has_numbers(&first->format)) return true;
  tool_error("--merge: a header says 0 records, so how many follow it is not known before they "
             "are merged; sort the files instead");
  return false;
}

/* The memory that is worth taking, if there is so much. */
static uint64_t wanted_memory(const merge_state *merge)
{
  const uint64_t limit = job_memory_limit(merge->job->options);
  const uint64_t each = input_size + input_records * (uint64_t)merge->format.record_size;
  const uint64_t wanted = base_size + merge->input_count * each;
  return wanted < limit ? wanted : limit;
}

/* That of a pipe comes once all records before it have been passed over. */
static bool write_trailer(merge_state *merge)
{
  tool_reader *const first = &merge->inputs[0].reader;
  size_t count = first->sized ? 0 : 1;
  void *const record = malloc(merge->format.record_size);
  bool done = record != NULL;
  if (!done) tool_error_memory(merge->format.record_size);
  while (done && count > 0)
    done = tool_reader_read_records(first, record, 1, &count);
  free(record);
  return done && tool_around_end(first, &merge->output, merge->spill.given);
}

static bool merge_inputs(merge_state *merge)
{
  spilled_sort *const spill = &merge->spill;
  uint64_t count;
  recsort_error error;
  if (!open_inputs(merge) || !count_records(merge, &count) ||
      !spill_open(spill, merge->job, &merge->output, wanted_memory(merge), TOOL_ANY,
                  merge->most_open)) {
    return false;
  }
  const bool unknown = count == TOOL_ANY || merge->job->options->unique;
  const uint64_t head = merge->job->options->head, wanted = count < head ? count : head;
  /* before the records of a pipe are read */
  if (!tool_around_begin(&merge->inputs[0].reader, &merge->output, unknown ? TOOL_ANY : wanted))
    return false;
  spill->report = report_run;
  spill->inputs = merge->inputs;
  merge->inputs[0].keeps_open = true;
  for (size_t i = 0; i < merge->input_count; i++) {
    if (recsort_file_add_run(spill->file, read_input, &merge->inputs[i], &error) == RECSORT_OK)
      continue;
    tool_error_library(&error);
    return false;
  }
  return spill_write(spill, &merge->output, &merge->inputs[0].reader, count);
}

/* Counts what the output lacks of a later input, and passes over it. */
static bool end_later(merge_input *input, tool_dropped *dropped)
{
  if (!input->reader.sized && !input->ended) return true; /* the output has enough records */
  tool_dropped_add(dropped, &input->reader);
  return tool_reader_end(&input->reader);
}

int command_merge(cli_job *job)
{
  const cli_options *const options = job->options;
  merge_state merge = {.job = job,
                       .format = job->format,
                       .input_count = options->input_count != 0 ? options->input_count : 1};
  tool_dropped dropped = {0};
  run_times times = {.begin = tool_seconds()};
  if (!job_open_sorter(job) || !allow_open_files(&merge) ||
      !tool_output_open_apart(&merge.output, options->output, options->inputs,
                              options->input_count)) {
    return TOOL_TROUBLE;
  }
  bool done = merge_inputs(&merge);
  recsort_file_stats stats;
  recsort_file_get_stats(merge.spill.file, &stats, sizeof stats);
  if (done) print_stats(job, stats.records, &times, merge.spill.file);
  spill_close(&merge.spill); /* ends its threads, which read the inputs */
  done = done && write_trailer(&merge);
  for (size_t i = 1; done && i < merge.input_count; i++)
    done = end_later(&merge.inputs[i], &dropped);
  if (done) tool_dropped_say(&dropped);
  if (done) {
    done = tool_output_commit(&merge.output);
  } else {
    tool_output_discard(&merge.output);
  }
  for (size_t i = 0; merge.inputs != NULL && i < merge.input_count; i++)
    tool_reader_close(&merge.inputs[i].reader);
  free(merge.inputs);
  return done ? TOOL_OK : TOOL_TROUBLE;
}
