/* check.c - whether the inputs, as one sequence, are sorted; in constant memory. */
#include "commands.h"

#include "value.h"

#include "support/input.h"
#include "support/message.h"
#include "support/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { piece_size = 4 << 20 };

/* The last record read so far stands first in the buffer, before what is read next. */
typedef struct check_state {
  const cli_job *job;
  tool_format format;
  unsigned char *buffer;
  size_t room;      /* records that are read at a time */
  size_t kept;      /* records from before in the buffer: 0 or 1 */
  uint64_t records; /* read so far, of all inputs */
} check_state;

/* The first key whose value differs is the one that is out of order. */
static void report_disorder(const check_state *checker, const char *name, uint64_t number,
                            const unsigned char *record)
{
  const cli_job *const job = checker->job;
  const unsigned char *const before = record - checker->format.record_size;
  const size_t key_count = recsort_sorter_key_count(job->sorter);
  for (size_t i = 0; i < key_count; i++) {
    const recsort_key_info key = recsort_sorter_key(job->sorter, i);
    const recsort_value value = key_value(job->schema, &key, record);
    const recsort_value value_before = key_value(job->schema, &key, before);
    if (key_values_equal(&key, value, value_before)) continue;
    tool_error("%s: record %" PRIu64 " is out of order (key %s = %s after %s)", name, number,
               key.path, value_as_text(key.field, value).text,
               value_as_text(key.field, value_before).text);
    return;
  }
}

static int check_input(check_state *checker, tool_reader *reader)
{
  const size_t size = checker->format.record_size;
  uint64_t done = 0;
  tool_progress_begin("checking", reader->left);
  for (;;) {
    recsort_error error;
    size_t got;
    size_t disorder;
    if (!tool_reader_read_records(reader, checker->buffer + checker->kept * size, checker->room,
                                  &got)) {
      return TOOL_TROUBLE;
    }
    if (got == 0) return TOOL_OK;
    const size_t count = checker->kept + got;
    if (recsort_check(checker->job->sorter, checker->buffer, count, &disorder, &error) !=
        RECSORT_OK) {
      job_error(reader->name, done + error_record(&error) - checker->kept, &error);
      return TOOL_TROUBLE;
    }
    if (disorder < count) {
      report_disorder(checker, reader->name, done + disorder - checker->kept,
                      checker->buffer + disorder * size);
      return TOOL_DISORDER;
    }
    memmove(checker->buffer, checker->buffer + (count - 1) * size, size);
    checker->kept = 1;
    checker->records += got;
    done += got;
    tool_progress_step(reader->given);
  }
}

static int check_inputs(check_state *checker)
{
  const cli_options *const options = checker->job->options;
  const size_t inputs = options->input_count != 0 ? options->input_count : 1;
  int status = TOOL_OK;
  for (size_t i = 0; status == TOOL_OK && i < inputs; i++) {
    tool_reader reader;
    const char *const path = options->input_count != 0 ? options->inputs[i] : NULL;
    status = tool_reader_open(&reader, path, &checker->format) ? check_input(checker, &reader)
                                                               : TOOL_TROUBLE;
    tool_reader_close(&reader);
  }
  return status;
}

int command_check(cli_job *job)
{
  if (!job_open_sorter(job)) return TOOL_TROUBLE;
  check_state checker = {.job = job, .format = tool_format_of(job->schema)};
  run_times times = {.begin = tool_seconds()};
  const size_t size = checker.format.record_size;
  checker.room = size < piece_size ? piece_size / size : 1;
  checker.buffer = calloc(checker.room + 1, size);
  if (checker.buffer == NULL) {
    tool_error_memory((checker.room + 1) * size);
    return TOOL_TROUBLE;
  }
  const int status = check_inputs(&checker);
  if (status != TOOL_TROUBLE) print_stats(job, checker.records, &times);
  free(checker.buffer);
  return status;
}
