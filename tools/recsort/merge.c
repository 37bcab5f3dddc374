/* merge.c - one sorted output from sorted inputs, in memory that does not grow with them.
 *
 * Files are merged by all threads (merge_files.c). What follows is for pipes, large records and
 * little memory, and runs on one thread.
 *
 * Each input has a buffer of records and their encoded keys. A binary heap of the inputs, ordered
 * by the key of the next record of each and then by the input's number, says which record goes out
 * next; so equal records stay in the order of the inputs. The merge ends with an error at the first
 * input that is not sorted.
 */
#include "commands.h"
#include "unique_watch.h"
#include "merge_files.h"
#include "stats.h"

#include "support/around.h"
#include "support/message.h"
#include "support/output.h"
#include "support/progress.h"
#include "support/records.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
  least_size = 64 << 10, /* of a buffer */
  most_size = 1 << 20,
  total_size = 64 << 20, /* of all buffers, as far as least_size allows */
  others_open = 3        /* besides the inputs: the output, its folder, and one more for a moment */
};

typedef struct merge_run {
  tool_reader reader;
  unsigned char *records;
  unsigned char *keys; /* [0] is that of the record before records[0] */
  size_t count;        /* in the buffer */
  size_t at;           /* the next one */
  uint64_t first;      /* records before those in the buffer */
  bool ended;
} merge_run;

typedef struct merge_state {
  const cli_job *job;
  tool_format format;
  size_t key_size;
  size_t capacity; /* records in a buffer */
  merge_run *runs;
  size_t run_count;
  size_t *heap; /* numbers of the runs that have records left */
  size_t heap_count;
  tool_output output;
  tool_dropped dropped;
  unsigned char
      *pending; /* records on their way out; NULL: large ones, which are written at once */
  size_t pending_count;
  unsigned char *last_key; /* of the record that went out last */
  uint64_t taken;          /* records read from the runs */
  uint64_t written;
  unique_watch watch;
} merge_state;

static const unsigned char *next_key(const merge_state *merge, const merge_run *run)
{
  return run->keys + (run->at + 1) * merge->key_size;
}

/* ---- Reading ---- */

static bool check_run(const merge_state *merge, const merge_run *run)
{
  for (size_t i = run->first == 0 ? 1 : 0; i < run->count; i++) {
    const unsigned char *const key = run->keys + i * merge->key_size;
    if (recsort_key_compare(merge->job->sorter, key, key + merge->key_size) <= 0) continue;
    tool_error("%s: it is not sorted: record %" PRIu64 " is out of order", run->reader.name,
               run->first + i);
    return false;
  }
  return true;
}

static bool fill_run(merge_state *merge, merge_run *run)
{
  recsort_error error;
  size_t count;
  if (run->count > 0) {
    memcpy(run->keys, run->keys + run->count * merge->key_size, merge->key_size);
  }
  run->first += run->count;
  run->count = run->at = 0;
  if (!tool_reader_read_records(&run->reader, run->records, merge->capacity, &count)) return false;
  run->ended = count == 0;
  run->count = count;
  if (run->ended && run != merge->runs) {
    tool_dropped_add(&merge->dropped, &run->reader);
    return tool_reader_end(&run->reader);
  }
  if (recsort_encode(merge->job->sorter, run->records, count, run->keys + merge->key_size,
                     &error) != RECSORT_OK) {
    job_error(run->reader.name, run->first + error_record(&error), &error);
    return false;
  }
  return check_run(merge, run);
}

/* ---- The heap ---- */

static bool comes_first(const merge_state *merge, size_t a, size_t b)
{
  const int order = recsort_key_compare(merge->job->sorter, next_key(merge, &merge->runs[a]),
                                        next_key(merge, &merge->runs[b]));
  return order < 0 || (order == 0 && a < b);
}

/* Moves the run at `place` down to where it belongs. */
static void sift_down(const merge_state *merge, size_t place)
{
  size_t *const heap = merge->heap;
  const size_t run = heap[place];
  for (;;) {
    size_t child = 2 * place + 1;
    if (child >= merge->heap_count) break;
    if (child + 1 < merge->heap_count && comes_first(merge, heap[child + 1], heap[child])) child++;
    if (comes_first(merge, run, heap[child])) break;
    heap[place] = heap[child];
    place = child;
  }
  heap[place] = run;
}

/* Passes over the record that is at the top. */
static bool advance(merge_state *merge)
{
  merge_run *const run = &merge->runs[merge->heap[0]];
  run->at++;
  merge->taken++;
  if (run->at == run->count && !fill_run(merge, run)) return false;
  if (run->ended) merge->heap[0] = merge->heap[--merge->heap_count];
  if (merge->heap_count > 0) sift_down(merge, 0);
  return true;
}

/* ---- Writing ---- */

static bool flush_pending(merge_state *merge)
{
  const size_t size = merge->pending_count * merge->format.record_size;
  merge->pending_count = 0;
  tool_progress_update(merge->written);
  return tool_output_write(&merge->output, merge->pending, size);
}

static bool put_record(merge_state *merge, const unsigned char *record, const unsigned char *key)
{
  const size_t size = merge->format.record_size;
  if (merge->job->options->unique) {
    if (merge->written > 0 && recsort_key_compare(merge->job->sorter, merge->last_key, key) == 0) {
      unique_watch_drop(&merge->watch, record);
      return true;
    }
    memcpy(merge->last_key, key, merge->key_size);
    unique_watch_keep(&merge->watch, record);
  }
  merge->written++;
  if (merge->pending == NULL) return tool_output_write(&merge->output, record, size);
  memcpy(merge->pending + merge->pending_count++ * size, record, size);
  return merge->pending_count < merge->capacity || flush_pending(merge);
}

/* That of a pipe is known once all records before it have been passed over. */
static bool write_trailer(merge_state *merge)
{
  merge_run *const first = &merge->runs[0];
  while (!first->ended && !first->reader.sized) {
    if (!fill_run(merge, first)) return false;
  }
  return tool_around_end(&first->reader, &merge->output, merge->written);
}

/* Once all inputs are open, so that nothing is written if one is refused. */
static bool write_header(merge_state *merge)
{
  const uint64_t head = merge->job->options->head;
  tool_reader *const first = &merge->runs[0].reader;
  bool known = !merge->job->options->unique;
  uint64_t count = 0;
  first->said = known && merge->run_count == 1 && head == UINT64_MAX; /* as many as before */
  for (size_t i = 0; i < merge->run_count && known; i++) {
    const uint64_t its = tool_reader_count(&merge->runs[i].reader);
    known = its != TOOL_ANY && !__builtin_add_overflow(count, its, &count);
  }
  if (!known && tool_format_has_numbers(&first->format)) {
    tool_error("--merge: a header says 0 records, so how many follow it is not known before they "
               "are merged; sort the files instead");
    return false;
  }
  return tool_around_begin(first, &merge->output, !known ? TOOL_ANY : count < head ? count : head);
}

static bool merge_runs(merge_state *merge)
{
  tool_progress_begin("merging", 0);
  while (merge->heap_count > 0 && merge->written < merge->job->options->head) {
    const merge_run *const run = &merge->runs[merge->heap[0]];
    if (!put_record(merge, run->records + run->at * merge->format.record_size,
                    next_key(merge, run)) ||
        !advance(merge)) {
      return false;
    }
  }
  return flush_pending(merge) && write_trailer(merge);
}

/* ---- Beginning and end ---- */

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

/* All inputs are open at once. Raises the limit to what they need. */
static bool allow_open_files(const cli_options *options)
{
  struct rlimit limit;
  size_t inputs = 0;
  for (size_t i = 0; i < options->input_count; i++)
    inputs += !tool_is_standard(options->inputs[i]);
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return true;
  const rlim_t others = count_open_files(limit.rlim_max) + others_open, needed = others + inputs;
  if (needed <= limit.rlim_cur) return true;
  if (needed > limit.rlim_max) {
    tool_error("--merge: %zu inputs cannot be open at once; the limit of open files (ulimit -Hn) "
               "leaves room for %ju: merge so many at a time, or raise it",
               inputs, (uintmax_t)(limit.rlim_max > others ? limit.rlim_max - others : 0));
    return false;
  }
  limit.rlim_cur = needed;
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return true;
  tool_error("--merge: %zu inputs cannot be open at once: %s", inputs, strerror(errno));
  return false;
}

static bool open_run(merge_state *merge, size_t number)
{
  const cli_options *const options = merge->job->options;
  merge_run *const run = &merge->runs[number];
  run->records = calloc(merge->capacity, merge->format.record_size);
  run->keys = calloc(merge->capacity + 1, merge->key_size);
  if (run->records == NULL || run->keys == NULL) {
    tool_error_memory(merge->capacity * (merge->format.record_size + merge->key_size));
    return false;
  }
  const char *const path = options->input_count != 0 ? options->inputs[number] : NULL;
  return (number > 0 ? tool_later_open : tool_reader_open)(&run->reader, path, &merge->format);
}

/* Large records go out from where they were read. */
static bool take_memory(merge_state *merge)
{
  const size_t record_size = merge->format.record_size, unit = record_size + merge->key_size;
  size_t size = total_size / merge->run_count;
  size = size < least_size ? least_size : size > most_size ? most_size : size;
  merge->capacity = size > unit ? size / unit : 1;
  const size_t pending = merge->capacity > 1 ? merge->capacity * record_size : 0;
  if (!job_fits("merge them", (uint64_t)merge->run_count * merge->capacity * unit + pending,
                "merge fewer files at a time")) {
    return false;
  }
  merge->runs = calloc(merge->run_count, sizeof *merge->runs);
  merge->heap = calloc(merge->run_count, sizeof *merge->heap);
  merge->last_key = calloc(1, merge->key_size);
  if (pending != 0) merge->pending = malloc(pending);
  if (merge->runs != NULL && merge->heap != NULL && merge->last_key != NULL &&
      (pending == 0 || merge->pending != NULL)) {
    return true;
  }
  tool_error_memory(pending + merge->run_count * sizeof *merge->runs);
  return false;
}

static bool open_runs(merge_state *merge)
{
  if (!take_memory(merge) || !unique_watch_begin(&merge->watch, merge->job)) return false;
  for (size_t i = 0; i < merge->run_count; i++)
    merge->runs[i].reader.stream.fd = -1;
  for (size_t i = 0; i < merge->run_count; i++) {
    if (!open_run(merge, i)) return false;
  }
  if (!write_header(merge)) return false;
  for (size_t i = 0; i < merge->run_count; i++) {
    if (!fill_run(merge, &merge->runs[i])) return false;
    if (!merge->runs[i].ended) merge->heap[merge->heap_count++] = i;
  }
  for (size_t i = merge->heap_count / 2; i-- > 0;)
    sift_down(merge, i);
  return true;
}

static void free_merge(merge_state *merge)
{
  for (size_t i = 0; merge->runs != NULL && i < merge->run_count; i++) {
    tool_reader_close(&merge->runs[i].reader);
    free(merge->runs[i].records);
    free(merge->runs[i].keys);
  }
  free(merge->runs);
  free(merge->heap);
  free(merge->pending);
  free(merge->last_key);
  unique_watch_end(&merge->watch);
}

int command_merge(cli_job *job)
{
  const cli_options *const options = job->options;
  const tool_format format = job->format;
  if (options->unique && tool_format_has_numbers(&format)) {
    tool_error(
        "--merge: the header says how many records follow, and with --unique that is not known "
        "before they are merged; sort the files instead");
    return TOOL_TROUBLE;
  }
  if (!job_open_sorter(job)) return TOOL_TROUBLE;
  run_times times = {.begin = tool_seconds()};
  merge_state merge = {.job = job,
                       .format = format,
                       .key_size = recsort_key_size(job->sorter),
                       .run_count = options->input_count != 0 ? options->input_count : 1};
  if (!allow_open_files(options) ||
      !tool_output_open_apart(&merge.output, options->output, options->inputs,
                              options->input_count)) {
    return TOOL_TROUBLE;
  }
  bool done = merge_files_can(job, &merge.format)
                  ? merge_files(job, &merge.format, &merge.output, &merge.taken)
                  : open_runs(&merge) && merge_runs(&merge);
  if (done) tool_dropped_say(&merge.dropped);
  if (done) {
    done = tool_output_commit(&merge.output);
  } else {
    tool_output_discard(&merge.output);
  }
  if (done) print_stats(job, merge.taken, &times, NULL);
  free_merge(&merge);
  return done ? TOOL_OK : TOOL_TROUBLE;
}
