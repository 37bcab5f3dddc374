/* sort.c - read all records, find their order, write them in it.
 *
 * The input's buffer is the only copy of the records: they are gathered into small pieces on their
 * way out, so the peak is the input, about 16 bytes a record, and a constant. An output that is
 * memory itself, as files on tmpfs are, is filled where it lies; and if it is to hold all records,
 * they are sorted into it, so that a plugin can put them there.
 */
#include "commands.h"

#include "support/input.h"
#include "support/message.h"
#include "support/output.h"
#include "support/progress.h"
#include "support/task.h"
#include "support/team.h"

#include <endian.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
  working_size = 16,   /* bytes a record that the library takes */
  piece_size = 4 << 20 /* bytes that are gathered at a time */
};

/* Fills `to` with elements [first, first + count) of the output. */
typedef void (*fill_call)(const cli_job *job, const recsort_permutation *order, const void *records,
                          size_t first, size_t count, void *to);

static void fill_records(const cli_job *job, const recsort_permutation *order, const void *records,
                         size_t first, size_t count, void *to)
{
  recsort_gather(order, first, count, records, recsort_schema_record_size(job->schema), to,
                 job->options->sorting.threads);
}

static void fill_index32(const cli_job *job, const recsort_permutation *order, const void *records,
                         size_t first, size_t count, void *to)
{
  uint32_t *const index = to;
  (void)job, (void)records;
  for (size_t i = 0; i < count; i++) {
    index[i] = htole32((uint32_t)recsort_permutation_at(order, first + i));
  }
}

static void fill_index64(const cli_job *job, const recsort_permutation *order, const void *records,
                         size_t first, size_t count, void *to)
{
  uint64_t *const index = to;
  (void)job, (void)records;
  for (size_t i = 0; i < count; i++)
    index[i] = htole64(recsort_permutation_at(order, first + i));
}

/* The elements of the output, cut into pieces. */
typedef struct element_pieces {
  const cli_job *job;
  const recsort_permutation *order;
  const void *records;
  fill_call fill;
  size_t element_size;
  size_t each; /* elements of a piece */
} element_pieces;

static void fill_piece(const void *context, uint64_t piece, void *to, size_t *size)
{
  const element_pieces *const pieces = context;
  const size_t first = (size_t)piece * pieces->each, left = pieces->order->count - first;
  const size_t count = left < pieces->each ? left : pieces->each;
  pieces->fill(pieces->job, pieces->order, pieces->records, first, count, to);
  *size = count * pieces->element_size;
}

/* One piece after the other; each is gathered by all threads. */
static bool write_in_turn(tool_output *output, const element_pieces *pieces, uint64_t count)
{
  void *const buffer = malloc(pieces->each * pieces->element_size);
  bool written = buffer != NULL;
  if (!written) tool_error_memory(pieces->each * pieces->element_size);
  for (uint64_t piece = 0; written && piece < count; piece++) {
    size_t size;
    fill_piece(pieces, piece, buffer, &size);
    written = tool_output_write(output, buffer, size);
    tool_progress_step(piece + 1);
  }
  free(buffer);
  return written;
}

static bool write_pieces(const cli_job *job, tool_output *output, const recsort_permutation *order,
                         const void *records)
{
  const unsigned bits = job->options->index_bits;
  const size_t size = bits == 0 ? recsort_schema_record_size(job->schema) : bits / 8;
  const element_pieces pieces = {
      job,     order,
      records, bits == 0 ? fill_records : bits == 32 ? fill_index32 : fill_index64,
      size,    size < piece_size ? piece_size / size : 1};
  const size_t total = order->count * size;
  const uint64_t count = (order->count + pieces.each - 1) / pieces.each;
  tool_progress_begin("writing", count);
  if (count > 1 && tool_output_is_file(output)) {
    return tool_output_write_pieces(output,
                                    &(tool_pieces){fill_piece, &pieces, total, pieces.each * size});
  }
  return write_in_turn(output, &pieces, count);
}

static bool write_output(const cli_job *job, tool_output *output, const recsort_permutation *order,
                         const tool_records *input)
{
  const bool around = job->options->index_bits == 0;
  if (around && !tool_output_write(output, input->header.data, input->header.size)) return false;
  if (!write_pieces(job, output, order, input->records.data)) return false;
  return !around || tool_output_write(output, input->trailer.data, input->trailer.size);
}

static void report_error(const cli_job *job, const tool_records *input, const recsort_error *error)
{
  const cli_options *const options = job->options;
  const uint64_t number = error_record(error);
  size_t i = 0;
  while (i + 1 < options->input_count && number >= input->ends[i])
    i++;
  const char *const path = options->input_count > 0 ? options->inputs[i] : NULL;
  const bool of_all = options->input_count > 1 && error->status != RECSORT_INVALID_RECORD;
  job_error(of_all ? "the inputs" : tool_input_name(path),
            number - (i > 0 ? input->ends[i - 1] : 0), error);
}

/* Says how a call on all records went: false, after a message, if it failed. */
static bool sorted_well(const cli_job *job, const tool_records *input, recsort_status status,
                        const recsort_error *error)
{
  if (status != RECSORT_OK) {
    report_error(job, input, error);
    return false;
  }
  const char *const fallback = recsort_sorter_stats(job->sorter).fallback;
  if (fallback != NULL) tool_error("%s", fallback);
  return true;
}

static bool find_order(const cli_job *job, const tool_records *input, recsort_permutation *order)
{
  const cli_options *const options = job->options;
  recsort_error error;
  tool_progress_begin("sorting", 0);
  const recsort_status status =
      recsort_find_order(job->sorter, input->records.data, input->count, order, &error);
  if (!sorted_well(job, input, status, &error)) return false;
  if (options->unique &&
      recsort_unique(job->sorter, input->records.data, order, &error) != RECSORT_OK) {
    tool_error_library(&error);
    return false;
  }
  if (order->count > options->head) order->count = (size_t)options->head;
  return true;
}

/* ---- Into a mapping ---- */

static unsigned char *put(unsigned char *to, const tool_bytes *bytes)
{
  if (bytes->size > 0) memcpy(to, bytes->data, bytes->size);
  return to + bytes->size;
}

/* The whole output at once, where it is memory and holds all records: so a plugin can put them
 * there itself. */
static bool sort_into(const cli_job *job, tool_output *output, const tool_records *input,
                      unsigned char *at)
{
  unsigned char *const records = put(at, &input->header);
  recsort_error error;
  tool_progress_begin("sorting", 0);
  const recsort_status status =
      recsort_sort_to(job->sorter, input->records.data, input->count, records, &error);
  if (!sorted_well(job, input, status, &error)) return false;
  put(records + input->records.size, &input->trailer);
  return tool_output_filled(output);
}

static bool holds_all(const cli_options *options, const tool_records *input)
{
  return options->index_bits == 0 && !options->unique && input->count <= options->head;
}

/* ---- Before it is sorted ---- */

/* A sorter that is made while the records are read: to wake a GPU takes as long as that. */
typedef struct sorter_opening {
  cli_job *job;
  atomic_bool failed;
  recsort_error error;
} sorter_opening;

static void open_sorter(void *context)
{
  sorter_opening *const opening = context;
  cli_job *const job = opening->job;
  opening->failed = recsort_sorter_create(job->schema, &job->options->sorting, &job->sorter,
                                          &opening->error) != RECSORT_OK;
}

/* Files may be read meanwhile, for that ends; but nobody is to wait for what comes from a pipe only
 * to be told of a key that there is not. */
static bool read_and_open(cli_job *job, const tool_format *format, bool files, tool_records *input,
                          run_times *times)
{
  const cli_options *const options = job->options;
  sorter_opening opening = {.job = job};
  tool_task task = {0};
  tool_task_begin(&task, open_sorter, &opening);
  if (!files) tool_task_end(&task);
  const double begin = tool_seconds();
  const bool read = tool_read_records(input, options->inputs, options->input_count, format,
                                      working_size, &opening.failed);
  times->read = tool_seconds() - begin;
  tool_task_end(&task);
  if (read && opening.failed) tool_error_library(&opening.error);
  return read && !opening.failed;
}

/* Reserves room for what will be written, if that can be told. */
static void reserve_output(const cli_job *job, tool_output *output, const tool_format *format,
                           uint64_t count)
{
  const cli_options *const options = job->options;
  if (options->unique) return;
  if (count > options->head) count = options->head;
  tool_output_reserve(output, options->index_bits != 0
                                  ? count * (options->index_bits / 8)
                                  : format->skip + count * format->record_size + format->trailer);
}

static bool index_fits(const cli_job *job, const tool_records *input)
{
  if (job->options->index_bits != 32 || (uint64_t)input->count <= (uint64_t)1 << 32) return true;
  tool_error("--index=32: there are more than 2^32 records");
  return false;
}

/* ---- All of it ---- */

/* `*sorted` is when the order was known and records began to move, as tool_seconds tells it. */
static bool write_sorted(const cli_job *job, tool_output *output, const tool_records *input,
                         double *sorted)
{
  recsort_permutation order;
  void *at = NULL;
  if (holds_all(job->options, input) &&
      !tool_output_map(output, input->header.size + input->records.size + input->trailer.size,
                       &at)) {
    return false;
  }
  if (at != NULL) {
    const bool done = sort_into(job, output, input, at);
    *sorted = tool_seconds() - recsort_sorter_stats(job->sorter).permute_seconds;
    return done;
  }
  if (!find_order(job, input, &order)) return false;
  *sorted = tool_seconds();
  return write_output(job, output, &order, input);
}

int command_sort(cli_job *job)
{
  const cli_options *const options = job->options;
  const tool_format format = tool_format_of(job->schema);
  run_times times = {.begin = tool_seconds()};
  tool_records input = {0};
  double sorted = 0;
  uint64_t count;
  tool_output output;
  if (!tool_output_open(&output, options->output)) return TOOL_TROUBLE;
  tool_output_fill_by(&output, tool_team_size());
  const bool files = tool_count_records(options->inputs, options->input_count, &format, &count);
  if (files) reserve_output(job, &output, &format, count);
  bool done = read_and_open(job, &format, files, &input, &times) && index_fits(job, &input);
  done = done && write_sorted(job, &output, &input, &sorted);
  if (done) {
    done = tool_output_commit(&output);
  } else {
    tool_output_discard(&output);
  }
  times.write = tool_seconds() - sorted;
  if (done) print_stats(job, input.count, &times);
  tool_records_free(&input);
  return done ? TOOL_OK : TOOL_TROUBLE;
}
