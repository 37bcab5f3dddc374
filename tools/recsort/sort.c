/* sort.c - reads all records, sorts them and writes them. Records that do not fit in memory go to
 * spill.h; the rest of this comment is about records that fit.
 *
 * The input's buffer is the only copy of the records: they are gathered into small pieces when they
 * are written, or written one by one if they are large. So the peak is the input, the sorter's
 * memory and a constant. The command compares it with the available memory before it reads files,
 * and while it reads a pipe. An output on tmpfs is memory: it is mapped and filled in place. If it
 * takes all records, they are sorted into it, so that a plugin can write them there.
 */
#include "commands.h"
#include "ordered.h"
#include "spill.h"
#include "unique_watch.h"
#include "stats.h"

#include "support/around.h"
#include "files/available.h"
#include "support/message.h"
#include "support/output.h"
#include "support/progress.h"
#include "support/records.h"
#include "files/task.h"
#include "support/team.h"

#include <endian.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { piece_size = 4 << 20 }; /* bytes gathered at a time */

/* Fills `to` with elements [first, first + count) of the output. */
typedef void (*fill_call)(const cli_job *job, const cli_order *order, const void *records,
                          size_t first, size_t count, void *to);

static void fill_records(const cli_job *job, const cli_order *order, const void *records,
                         size_t first, size_t count, void *to)
{
  const char *const index = (const char *)order->index + first * (order->index_bits / 8);
  recsort_gather(job->sorter, index, order->index_bits, count, records,
                 recsort_schema_describe(job->schema)->size, to);
}

static void fill_index32(const cli_job *job, const cli_order *order, const void *records,
                         size_t first, size_t count, void *to)
{
  uint32_t *const index = to;
  (void)job, (void)records;
  for (size_t i = 0; i < count; i++) {
    index[i] = htole32((uint32_t)order_at(order, first + i));
  }
}

static void fill_index64(const cli_job *job, const cli_order *order, const void *records,
                         size_t first, size_t count, void *to)
{
  uint64_t *const index = to;
  (void)job, (void)records;
  for (size_t i = 0; i < count; i++)
    index[i] = htole64(order_at(order, first + i));
}

/* The elements of the output, cut into pieces. */
typedef struct element_pieces {
  const cli_job *job;
  const cli_order *order;
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

/* Writes one piece after the other; all threads gather each. */
static bool write_in_turn(tool_output *output, const element_pieces *pieces, uint64_t count)
{
  void *const buffer = malloc(pieces->each * pieces->element_size);
  bool written = buffer != NULL;
  if (!written) tool_error_memory(pieces->each * pieces->element_size);
  for (uint64_t piece = 0; written && piece < count; piece++) {
    size_t size;
    fill_piece(pieces, piece, buffer, &size);
    written = tool_output_write(output, buffer, size);
    tool_progress_update(piece + 1);
  }
  free(buffer);
  return written;
}

/* Large records do not need to be gathered. */
static bool write_one_by_one(tool_output *output, const cli_order *order,
                             const unsigned char *records, size_t size)
{
  bool written = true;
  for (size_t i = 0; written && i < order->count; i++) {
    written = tool_output_write(output, records + order_at(order, i) * size, size);
    tool_progress_update(i + 1);
  }
  return written;
}

static bool write_pieces(const cli_job *job, tool_output *output, const cli_order *order,
                         const void *records)
{
  const unsigned bits = job->options->index_bits;
  const size_t size = bits == 0 ? recsort_schema_describe(job->schema)->size : bits / 8;
  const element_pieces pieces = {
      job,     order,
      records, bits == 0 ? fill_records : bits == 32 ? fill_index32 : fill_index64,
      size,    size < piece_size ? piece_size / size : 1};
  const size_t total = order->count * size;
  const uint64_t count = (order->count + pieces.each - 1) / pieces.each;
  tool_progress_begin("writing", count);
  if (size >= piece_size) return write_one_by_one(output, order, records, size);
  if (count > 1 && tool_output_is_file(output)) {
    return tool_output_write_pieces(output,
                                    &(tool_pieces){fill_piece, &pieces, total, pieces.each * size});
  }
  return write_in_turn(output, &pieces, count);
}

/* Writes the headers that are repeated, each with as many records behind it as it had. */
static bool write_blocks(const cli_job *job, tool_output *output, const cli_order *order,
                         const tool_records *input)
{
  const tool_reader *const from = &input->first;
  const tool_block *const blocks = (const tool_block *)(const void *)from->blocks.data;
  const size_t count = from->blocks.size / sizeof *blocks;
  const size_t size = recsort_schema_describe(job->schema)->size;
  const size_t each = size < piece_size ? piece_size / size : 1;
  const unsigned char *header = from->header.data;
  unsigned char *const buffer = malloc(each * size);
  bool written = buffer != NULL;
  if (!written) tool_error_memory(each * size);
  for (size_t b = 0, place = 0; written && b < count; b++) {
    written = tool_output_write(output, header, blocks[b].header_size);
    header += blocks[b].header_size;
    for (size_t left = (size_t)blocks[b].records, part; written && left > 0; left -= part) {
      part = left < each ? left : each;
      fill_records(job, order, input->records.data, place, part, buffer);
      written = tool_output_write(output, buffer, part * size);
      place += part;
    }
  }
  free(buffer);
  return written;
}

/* True if a call on all records succeeded; otherwise reports the error. */
static bool sorted_well(const cli_job *job, const tool_records *input, recsort_status status,
                        const recsort_error *error)
{
  if (status != RECSORT_OK) {
    spill_report_record(job, input, error);
    return false;
  }
  const recsort_stats stats = job_stats(job);
  if (stats.fallback != NULL) tool_error("%s", stats.fallback);
  return true;
}

/* The order of records, which stays in the sorter. The library finds the first records without
 * sorting the others, unless only sorting all tells which those are. */
static recsort_job sorting_of(const cli_job *job, const void *records, size_t count)
{
  const cli_options *const options = job->options;
  recsort_job sorting = RECSORT_JOB_INIT;
  sorting.count = count;
  sorting.records = records;
  if (options->has_head && !options->unique)
    sorting.head = options->head ? (size_t)options->head : 1; /* 0 would be all */
  return sorting;
}

static bool find_order(const cli_job *job, const tool_records *input, cli_order *order)
{
  const cli_options *const options = job->options;
  const recsort_job sorting = sorting_of(job, input->records.data, input->count);
  recsort_error error;
  tool_progress_begin("sorting", 0);
  const recsort_status status = recsort_run(job->sorter, &sorting, 1, &error);
  if (!sorted_well(job, input, status, &error)) return false;
  order->index = recsort_sorter_permutation(job->sorter, &order->index_bits, &order->count);
  if (options->unique && !unique_watch_order(job, input->records.data, order)) return false;
  if (options->unique &&
      recsort_unique(job->sorter, &sorting, &order->count, &error) != RECSORT_OK) {
    tool_error_library(&error);
    return false;
  }
  if (order->count > options->head) order->count = (size_t)options->head;
  return true;
}

/* ---- Into a mapping ---- */

/* Sorts all records into the mapped output at `at`, so that a plugin can write them there. */
static bool sort_into(const cli_job *job, tool_output *output, const tool_records *input, void *at)
{
  recsort_error error;
  tool_progress_begin("sorting", 0);
  const recsort_status status =
      recsort_sort_to(job->sorter, input->records.data, input->count, at, &error);
  return sorted_well(job, input, status, &error) && tool_output_filled(output);
}

static bool holds_all(const cli_options *options, const tool_records *input)
{
  return options->index_bits == 0 && !options->unique && input->count <= options->head;
}

/* ---- Memory ---- */

/* The memory for writing besides the records: a buffer for each thread, if they are gathered. */
static uint64_t buffer_size(const cli_job *job, uint64_t total)
{
  const recsort_stats stats = job_stats(job);
  const unsigned threads = stats.threads;
  const bool gathered =
      job->options->index_bits != 0 || recsort_schema_describe(job->schema)->size < piece_size;
  const uint64_t pieces = total / piece_size + 1;
  return gathered ? piece_size * (pieces < threads ? pieces : threads) : 0;
}

bool sort_memory(cli_job *job, uint64_t count, sort_needs *needs, recsort_error *error)
{
  const recsort_job sorting = sorting_of(job, NULL, (size_t)count);
  recsort_needs planned = RECSORT_NEEDS_INIT;
  if (recsort_plan(job->sorter, &sorting, 1, &planned, error) != RECSORT_OK) return false;
  needs->records = count * recsort_schema_describe(job->schema)->size;
  needs->working = planned.host;
  needs->buffers = buffer_size(job, needs->records);
  return true;
}

/* A sorter that is created while the records are read, as creating a GPU context can take as
 * long. */
typedef struct sorter_opening {
  cli_job *job;
  bool files;      /* the inputs are files, so `count` and their memory are known beforehand */
  uint64_t count;  /* records */
  uint64_t output; /* bytes of memory that the output will take */
  uint64_t
      available; /* memory that may be taken: what --memory says, or is available at the start */
  rf_task task;
  atomic_bool failed;
  recsort_error error;
  bool spills; /* the records do not fit: */
  ordered_copy ordered;
  spilled_sort spill;
  tool_records *input;
  tool_output *to;
} sorter_opening;

/* Finds out whether there is enough memory to sort files. False if they cannot be sorted. */
static bool measure_files(sorter_opening *opening, recsort_error *error)
{
  sort_needs needs;
  if (!sort_memory(opening->job, opening->count, &needs, error)) return false;
  opening->spills =
      needs.records + needs.working + needs.buffers + opening->output > opening->available;
  return true;
}

static void open_sorter(void *context)
{
  sorter_opening *const opening = context;
  cli_job *const job = opening->job;
  opening->failed = !job_create_sorter(job, &opening->error) ||
                    (opening->files && !measure_files(opening, &opening->error));
}

/* See tool_reading. What files need is known once the sorter is created, which runs beside the
 * reading if the memory is surely enough. */
static tool_room find_room(void *context, const char *name, uint64_t more, uint64_t count)
{
  sorter_opening *const opening = context;
  const size_t size = recsort_schema_describe(opening->job->schema)->size;
  sort_needs needs = {0};
  recsort_error error;
  (void)name, (void)more;
  if (opening->files) {
    enum {
      SURELY = 128
    }; /* bytes that a record takes besides itself, at most, but for wide keys */
    if (opening->count * (size + SURELY) <= opening->available) return TOOL_ROOM;
    rf_task_end(&opening->task);
    return opening->spills ? TOOL_PASS_THEM : TOOL_ROOM;
  }
  if (!sort_memory(opening->job, (size_t)count, &needs, &error)) {
    tool_error_library(&error);
    return TOOL_NO_ROOM;
  }
  opening->spills = needs.records + needs.working + needs.buffers > opening->available;
  opening->count = count;
  return opening->spills ? TOOL_PASS_THEM : TOOL_ROOM;
}

static void report_passed(const spilled_sort *spill, const recsort_error *error)
{
  spill_report_record(&spill->own, spill->inputs, error);
}

static bool open_spill(sorter_opening *opening)
{
  const bool asked = opening->job->options->memory != 0 || opening->job->options->percent != 0;
  /* a quarter of the available memory stays for other programs and the page cache */
  const uint64_t memory = asked ? opening->available : opening->available / 4 * 3;
  if (!spill_open(&opening->spill, opening->job, opening->to, memory, opening->count, 0))
    return false;
  opening->spill.report = report_passed;
  opening->spill.inputs = opening->input;
  return ordered_begin(&opening->ordered, opening->job, opening->to, &opening->input->first,
                       opening->files ? opening->count : TOOL_ANY);
}

static bool pass_back(void *context, const void *records, size_t count)
{
  return spill_pass(context, records, count);
}

/* See tool_reading. */
static bool pass(void *context, const void *records, size_t count)
{
  sorter_opening *const opening = context;
  ordered_copy *const ordered = &opening->ordered;
  rf_task_end(&opening->task);
  if (opening->failed) return true; /* which is reported when the reading ends */
  if (opening->spill.file == NULL && !open_spill(opening)) return false;
  if (ordered->copies) {
    if (!ordered_add(ordered, records, count)) return false;
    if (ordered->copies) return true;
    if (!ordered_take_back(ordered, pass_back, &opening->spill)) return false;
  }
  return spill_pass(&opening->spill, records, count);
}

/* ---- Reading ---- */

/* Reads files while the sorter is created. A pipe may never end, so it is read afterwards: then a
 * wrong key is an error at once. */
static bool read_and_open(sorter_opening *opening, const tool_format *format, tool_output *output,
                          tool_records *input, run_times *times)
{
  const cli_options *const options = opening->job->options;
  const tool_reading reading = {.output = options->index_bits == 0 ? output : NULL,
                                .room = find_room,
                                .pass = pass,
                                .context = opening,
                                .unwanted = &opening->failed};
  rf_task_begin(&opening->task, open_sorter, opening);
  if (!opening->files) rf_task_end(&opening->task);
  const double begin = tool_seconds();
  bool read = tool_read_records(input, options->inputs, options->input_count, format, &reading);
  times->read = tool_seconds() - begin;
  rf_task_end(&opening->task);
  if (read && opening->failed) tool_error_library(&opening->error);
  /* wide keys take so much that it is known too late */
  if (read && opening->spills && !input->passing) read = tool_records_pass(input, &reading);
  return read && !opening->failed;
}

/* The bytes of the output for these inputs; 0 if unknown. */
static uint64_t output_size(const cli_job *job, const tool_format *format,
                            const tool_extent *extent)
{
  const cli_options *const options = job->options;
  const uint64_t count = extent->count < options->head ? extent->count : options->head;
  if (options->unique) return 0;
  return options->index_bits != 0 ? count * (options->index_bits / 8)
                                  : count * format->record_size + extent->around;
}

static bool index_fits(const cli_job *job, const tool_records *input)
{
  if (job->options->index_bits != 32 || (uint64_t)input->count <= (uint64_t)1 << 32) return true;
  tool_error("--index=32: there are more than 2^32 records");
  return false;
}

/* ---- The command ---- */

/* Sorts and writes. `*sorted` becomes the tool_seconds() at which the order was known and writing
 * began. Nothing is written to a pipe or device before that, so a failed sort writes nothing. */
static bool write_sorted(const cli_job *job, tool_output *output, tool_records *input,
                         double *sorted)
{
  cli_order order = {.index_bits = 32};
  void *at = NULL;
  const bool around = job->options->index_bits == 0;
  const bool blocks = around && input->first.format.file.repeat;
  const bool whole = !blocks && holds_all(job->options, input) && tool_output_is_file(output);
  if (whole && (!tool_around_begin(&input->first, output, input->count) ||
                !tool_output_map(output, input->records.size, &at))) {
    return false;
  }
  if (at != NULL) {
    if (!sort_into(job, output, input, at)) return false;
    const recsort_stats stats = job_stats(job);
    *sorted = tool_seconds() - stats.permute_seconds;
  } else {
    if (!find_order(job, input, &order)) return false;
    *sorted = tool_seconds();
    if (blocks) return write_blocks(job, output, &order, input);
    if (around && !whole && !tool_around_begin(&input->first, output, order.count)) {
      return false;
    }
    if (!write_pieces(job, output, &order, input->records.data)) return false;
  }
  return around ? tool_around_end(&input->first, output, whole ? input->count : order.count)
                : tool_reader_end(&input->first);
}

int command_sort(cli_job *job)
{
  const cli_options *const options = job->options;
  const tool_format format = job->format;
  run_times times = {.begin = tool_seconds()};
  tool_output output;
  tool_records input = {.first.stream.fd = -1};
  sorter_opening opening = {
      .job = job, .available = job_memory_limit(options), .input = &input, .to = &output};
  tool_extent extent;
  double sorted = 0;
  if (!tool_output_open_apart(&output, options->output, options->inputs, options->input_count)) {
    return TOOL_TROUBLE;
  }
  tool_output_fill_by(&output, tool_team_size());
  opening.files = tool_measure(options->inputs, options->input_count, &format, &extent);
  if (opening.files) {
    const uint64_t size = output_size(job, &format, &extent);
    opening.count = extent.count;
    if (output.mappable) opening.output = size;
    if (size != 0) tool_output_reserve(&output, size);
  }
  bool done = read_and_open(&opening, &format, &output, &input, &times) && index_fits(job, &input);
  if (done && opening.ordered.copies) {
    sorted = tool_seconds();
    done = tool_around_end(&input.first, &output, input.count);
  } else if (done && opening.spills) {
    sorted = tool_seconds();
    done = spill_write(&opening.spill, &output, &input.first, input.count);
  } else if (done) {
    done = write_sorted(job, &output, &input, &sorted);
  }
  if (done) tool_dropped_say(&input.dropped);
  if (done) {
    done = tool_output_commit(&output);
  } else {
    tool_output_discard(&output);
  }
  times.write = tool_seconds() - sorted;
  if (done) print_stats(job, input.count, &times, opening.spill.file);
  if (opening.spills) spill_close(&opening.spill);
  ordered_end(&opening.ordered);
  tool_records_free(&input);
  return done ? TOOL_OK : TOOL_TROUBLE;
}
