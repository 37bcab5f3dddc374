/* merge_files.c - files merged by all threads, in rounds.
 *
 * Of each file three blocks of records are in memory. A round merges what it may of the first two:
 * the records before the least of the last ones, for nothing that is still to be read comes before
 * those. The library merges them, each block as a run; meanwhile one thread reads blocks that are
 * free, and another one writes what the round before merged.
 *
 * The library checks the order within what it gets. Where blocks and rounds meet, this file does.
 */
#include "merge_files.h"

#include "unique_watch.h"

#include "support/around.h"
#include "support/message.h"
#include "support/progress.h"
#include "support/records.h"
#include "files/task.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  BLOCKS = 3,            /* of a file */
  MERGED = 2,            /* of them, that a round may merge */
  OUTPUTS = 2,           /* one is filled while the other is written */
  LEAST_RECORDS = 16,    /* of a block */
  LEAST_SIZE = 16 << 10, /* of a block, in bytes */
  MOST_SIZE = 2 << 20,
  TOTAL_SIZE = 8 << 20 /* of one block of each file, as far as LEAST_SIZE allows */
};

/* Records of a file, in the order in which they were read. */
typedef struct merge_block {
  unsigned char *records;
  size_t count;   /* 0: free */
  size_t at;      /* records passed over */
  uint64_t first; /* records of the file before these */
} merge_block;

typedef struct merge_file {
  tool_reader reader;
  merge_block blocks[BLOCKS];
  size_t head;   /* the block with the next record */
  size_t used;   /* blocks that hold records, from there on */
  uint64_t read; /* records */
  bool ended;    /* all have been read */
  bool any;      /* a record has been passed over: */
  unsigned char *last_key;
} merge_file;

/* A part of a block that a round merges. */
typedef struct merge_part {
  size_t file;
  merge_block *block;
  size_t count;
} merge_part;

typedef struct merge_output {
  unsigned char *records;
  size_t count;
} merge_output;

typedef struct file_merge {
  cli_job *job;
  const tool_format *format;
  tool_output *output;
  tool_dropped dropped;
  size_t record_size;
  size_t key_size;
  size_t capacity; /* records of a block */
  merge_file *files;
  size_t file_count;
  tool_bytes memory;
  unsigned char *keys; /* three: scratch, the bound's, and that of the record written last */
  merge_part *parts;   /* of the round */
  size_t part_count;
  const void **arrays;
  uint64_t *offsets;
  merge_output outputs[OUTPUTS];
  uint64_t taken;
  uint64_t written;
  unique_watch watch;
  bool read_failed;
  bool write_failed;
  merge_output *writing;
} file_merge;

/* ---- Memory ---- */

static size_t block_capacity(size_t file_count, size_t record_size)
{
  size_t size = TOTAL_SIZE / file_count;
  size = size < LEAST_SIZE ? LEAST_SIZE : size > MOST_SIZE ? MOST_SIZE : size;
  return size / record_size;
}

static uint64_t memory_size(const cli_job *job, size_t capacity)
{
  const size_t files = job->options->input_count;
  const uint64_t blocks = (uint64_t)files * capacity * recsort_schema_describe(job->schema)->size;
  return blocks * (BLOCKS + OUTPUTS * MERGED);
}

bool merge_files_can(const cli_job *job, const tool_format *format)
{
  const cli_options *const options = job->options;
  const size_t files = options->input_count;
  tool_extent extent;
  recsort_needs needs = RECSORT_NEEDS_INIT;
  if (files < 2 || files * MERGED > RECSORT_MOST_RUNS) return false;
  const size_t capacity = block_capacity(files, format->record_size);
  if (capacity < LEAST_RECORDS || !tool_measure(options->inputs, files, format, &extent)) {
    return false;
  }
  char records, sorted;
  const uint64_t offset = 0;
  recsort_job merging = RECSORT_JOB_INIT;
  merging.count = files * MERGED * capacity;
  merging.records = &records;
  merging.sorted = &sorted;
  merging.parts = RECSORT_RUNS;
  merging.offsets = &offset;
  merging.part_count = files * MERGED;
  return recsort_plan(job->sorter, &merging, 1, &needs, NULL) == RECSORT_OK &&
         job_can_take(memory_size(job, capacity) + needs.host);
}

static bool take_memory(file_merge *merge)
{
  const size_t files = merge->file_count, keys = files + 3,
               block = merge->capacity * merge->record_size;
  merge->files = calloc(files, sizeof *merge->files);
  merge->keys = calloc(keys, merge->key_size);
  merge->parts = calloc(files * MERGED, sizeof *merge->parts);
  merge->arrays = calloc(files * MERGED, sizeof *merge->arrays);
  merge->offsets = calloc(files * MERGED + 1, sizeof *merge->offsets);
  const size_t size = (size_t)memory_size(merge->job, merge->capacity);
  if (merge->files == NULL || merge->keys == NULL || merge->parts == NULL ||
      merge->arrays == NULL || merge->offsets == NULL ||
      !tool_bytes_reserve(&merge->memory, size)) {
    tool_error_memory(size);
    return false;
  }
  unsigned char *at = merge->memory.data;
  for (size_t f = 0; f < files; f++) {
    merge_file *const file = &merge->files[f];
    file->reader.stream.fd = -1;
    file->last_key = merge->keys + (3 + f) * merge->key_size;
    for (size_t b = 0; b < BLOCKS; b++, at += block)
      file->blocks[b].records = at;
  }
  for (size_t i = 0; i < OUTPUTS; i++, at += files * MERGED * block)
    merge->outputs[i].records = at;
  return true;
}

static void free_merge(file_merge *merge)
{
  for (size_t f = 0; merge->files != NULL && f < merge->file_count; f++)
    tool_reader_close(&merge->files[f].reader);
  free(merge->files);
  free(merge->keys);
  free(merge->parts);
  free(merge->arrays);
  free(merge->offsets);
  tool_bytes_free(&merge->memory);
}

/* ---- Reading ---- */

static bool read_block(file_merge *merge, merge_file *file)
{
  merge_block *const block = &file->blocks[(file->head + file->used) % BLOCKS];
  size_t count;
  if (!tool_reader_read_records(&file->reader, block->records, merge->capacity, &count)) {
    return false;
  }
  file->ended = count == 0;
  if (file->ended) {
    if (file != merge->files) tool_dropped_add(&merge->dropped, &file->reader);
    return true;
  }
  block->count = count;
  block->at = 0;
  block->first = file->read;
  file->read += count;
  file->used++;
  return true;
}

/* Fills the blocks that are free. While a round merges, it runs beside it: it changes `used`, so
 * what the round needs to know of that stands in its parts. */
static void read_blocks(void *context)
{
  file_merge *const merge = context;
  for (size_t f = 0; f < merge->file_count && !merge->read_failed; f++) {
    merge_file *const file = &merge->files[f];
    while (!file->ended && file->used < BLOCKS && !merge->read_failed)
      merge->read_failed = !read_block(merge, file);
  }
}

static bool open_files(file_merge *merge)
{
  for (size_t f = 0; f < merge->file_count; f++) {
    if (!(f > 0 ? tool_later_open : tool_reader_open)(
            &merge->files[f].reader, merge->job->options->inputs[f], merge->format)) {
      return false;
    }
  }
  const uint64_t head = merge->job->options->head;
  uint64_t count = 0;
  for (size_t f = 0; f < merge->file_count; f++) /* all of them are sized */
    count += merge->files[f].reader.size / merge->record_size;
  return tool_around_begin(&merge->files[0].reader, merge->output,
                           merge->job->options->unique ? TOOL_ANY
                           : count < head              ? count
                                                       : head);
}

/* ---- Keys ---- */

static void report_record(const file_merge *merge, size_t file, uint64_t number,
                          const recsort_error *error)
{
  job_error(merge->files[file].reader.name, number, error);
}

static bool report_disorder(const file_merge *merge, size_t file, uint64_t number)
{
  tool_error("%s: it is not sorted: record %" PRIu64 " is out of order",
             merge->files[file].reader.name, number);
  return false;
}

static const unsigned char *record_at(const file_merge *merge, const merge_block *block, size_t at)
{
  return block->records + at * merge->record_size;
}

static bool read_key(const file_merge *merge, size_t file, const merge_block *block, size_t at,
                     unsigned char *key)
{
  recsort_error error;
  if (recsort_encode(merge->job->sorter, record_at(merge, block, at), 1, key, &error) ==
      RECSORT_OK) {
    return true;
  }
  report_record(merge, file, block->first + at, &error);
  return false;
}

static int compare(const file_merge *merge, const unsigned char *a, const unsigned char *b)
{
  return recsort_key_compare(merge->job->sorter, a, b);
}

/* ---- A round ---- */

static merge_block *block_at(merge_file *file, size_t number)
{
  return &file->blocks[(file->head + number) % BLOCKS];
}

static size_t merged_blocks(const merge_file *file)
{
  return file->used < MERGED ? file->used : MERGED;
}

/* Finds the least of the records before which this round stops: its key, and its file; that is
 * file_count if the round takes all there is. */
static bool find_bound(file_merge *merge, unsigned char *bound, size_t *found)
{
  *found = merge->file_count;
  for (size_t f = 0; f < merge->file_count; f++) {
    merge_file *const file = &merge->files[f];
    const size_t blocks = merged_blocks(file);
    if (blocks == 0 || (file->ended && file->used == blocks)) continue;
    const merge_block *const last = block_at(file, blocks - 1);
    if (!read_key(merge, f, last, last->count - 1, merge->keys)) return false;
    if (*found < merge->file_count && compare(merge, merge->keys, bound) >= 0) continue;
    memcpy(bound, merge->keys, merge->key_size);
    *found = f;
  }
  return true;
}

/* Where in a block the records begin that this round leaves: those greater than the bound, and
 * unless `or_equal` those that are equal. */
static bool find_end(const file_merge *merge, size_t file, const merge_block *block,
                     const unsigned char *bound, bool or_equal, size_t *end)
{
  size_t low = block->at, high = block->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (!read_key(merge, file, block, middle, merge->keys)) return false;
    const int order = compare(merge, merge->keys, bound);
    if (order < 0 || (or_equal && order == 0)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *end = low;
  return true;
}

/* Adds the next `count` records of a block to the round. */
static bool add_part(file_merge *merge, size_t file, merge_block *block, size_t count)
{
  merge_file *const from = &merge->files[file];
  if (!read_key(merge, file, block, block->at, merge->keys)) return false;
  if (from->any && compare(merge, from->last_key, merge->keys) > 0) {
    return report_disorder(merge, file, block->first + block->at);
  }
  from->any = true;
  if (!read_key(merge, file, block, block->at + count - 1, from->last_key)) return false;
  merge->parts[merge->part_count] = (merge_part){file, block, count};
  merge->arrays[merge->part_count] = record_at(merge, block, block->at);
  merge->offsets[merge->part_count + 1] = merge->offsets[merge->part_count] + count;
  merge->part_count++;
  return true;
}

/* Finds the parts of a round; none: all is done. */
static bool find_parts(file_merge *merge)
{
  unsigned char *const bound = merge->keys + merge->key_size;
  size_t least;
  merge->part_count = 0;
  if (!find_bound(merge, bound, &least)) return false;
  for (size_t f = 0; f < merge->file_count; f++) {
    merge_file *const file = &merge->files[f];
    const size_t blocks = merged_blocks(file);
    const bool all = least == merge->file_count || f == least;
    bool stopped = false;
    for (size_t b = 0; b < blocks && !stopped; b++) {
      merge_block *const block = block_at(file, b);
      size_t end = block->count;
      if (!all && !find_end(merge, f, block, bound, f < least, &end)) return false;
      if (end > block->at && !add_part(merge, f, block, end - block->at)) return false;
      stopped = end < block->count;
    }
  }
  return true;
}

/* After a round and the reading beside it. */
static void pass_over(file_merge *merge)
{
  for (size_t p = 0; p < merge->part_count; p++) {
    const merge_part *const part = &merge->parts[p];
    merge_file *const file = &merge->files[part->file];
    part->block->at += part->count;
    merge->taken += part->count;
    if (part->block->at < part->block->count) continue;
    file->head = (file->head + 1) % BLOCKS;
    file->used--;
  }
}

/* What the library found in a part. */
static bool report_part(const file_merge *merge, const recsort_error *error)
{
  recsort_error own = *error;
  uint64_t number = 0;
  size_t run = 0;
  int length = 0;
  sscanf(error->text, "run %zu, record %" SCNu64 ": %n", &run, &number, &length);
  if (length == 0 || run >= merge->part_count) {
    tool_error_library(error);
    return false;
  }
  const merge_part *const part = &merge->parts[run];
  number += part->block->first + part->block->at;
  if (error->status == RECSORT_UNSORTED_RUN) return report_disorder(merge, part->file, number);
  snprintf(own.text, sizeof own.text, "record 0: %s", error->text + length);
  report_record(merge, part->file, number, &own);
  return false;
}

/* Keeps the first record of each run of equal keys. */
static bool keep_first(file_merge *merge, merge_output *to)
{
  unsigned char *const last = merge->keys + 2 * merge->key_size;
  recsort_error error;
  size_t kept = 0;
  unsigned char *const keys = malloc(to->count * merge->key_size);
  if (keys == NULL) {
    tool_error_memory(to->count * merge->key_size);
    return false;
  }
  const bool done =
      recsort_encode(merge->job->sorter, to->records, to->count, keys, &error) == RECSORT_OK;
  if (!done) tool_error_library(&error);
  for (size_t i = 0; i < to->count && done; i++) {
    const unsigned char *const key = keys + i * merge->key_size;
    if ((merge->written > 0 || kept > 0) && compare(merge, last, key) == 0) {
      unique_watch_drop(&merge->watch, to->records + i * merge->record_size);
      continue;
    }
    memcpy(last, key, merge->key_size);
    unique_watch_keep(&merge->watch, to->records + i * merge->record_size);
    memmove(to->records + kept++ * merge->record_size, to->records + i * merge->record_size,
            merge->record_size);
  }
  if (done) to->count = kept;
  free(keys);
  return done;
}

static bool merge_parts(file_merge *merge, merge_output *to)
{
  recsort_job merging = RECSORT_JOB_INIT;
  const uint64_t wanted = merge->job->options->head - merge->written;
  recsort_error error;
  to->count = (size_t)merge->offsets[merge->part_count];
  merging.count = to->count;
  merging.part_records = merge->arrays;
  merging.parts = RECSORT_RUNS;
  merging.offsets = merge->offsets;
  merging.part_count = merge->part_count;
  merging.sorted = to->records;
  if (recsort_run(merge->job->sorter, &merging, 1, &error) != RECSORT_OK) {
    return report_part(merge, &error);
  }
  if (merge->job->options->unique && !keep_first(merge, to)) return false;
  if (to->count > wanted) to->count = (size_t)wanted;
  merge->written += to->count;
  return true;
}

/* ---- Rounds ---- */

static void write_output(void *context)
{
  file_merge *const merge = context;
  merge->write_failed = !tool_output_write(merge->output, merge->writing->records,
                                           merge->writing->count * merge->record_size);
}

/* Each round waits for the blocks that were read beside the one before it, and for the output of
 * the one before that. */
static bool merge_rounds(file_merge *merge)
{
  rf_task reading = {0}, writing = {0};
  bool good = true;
  tool_progress_begin("merging", 0);
  read_blocks(merge);
  for (size_t round = 0; good; round++) {
    good = !merge->read_failed && find_parts(merge);
    if (!good || merge->part_count == 0 || merge->written >= merge->job->options->head) break;
    merge_output *const to = &merge->outputs[round % OUTPUTS];
    rf_task_begin(&reading, read_blocks, merge);
    good = merge_parts(merge, to);
    rf_task_end(&reading);
    rf_task_end(&writing);
    pass_over(merge);
    good = good && !merge->write_failed;
    if (!good) break;
    merge->writing = to;
    rf_task_begin(&writing, write_output, merge);
    tool_progress_update(merge->written);
  }
  rf_task_end(&writing);
  return good && !merge->write_failed;
}

bool merge_files(cli_job *job, const tool_format *format, tool_output *output, uint64_t *taken)
{
  const size_t files = job->options->input_count;
  file_merge merge = {.job = job,
                      .format = format,
                      .output = output,
                      .record_size = format->record_size,
                      .key_size = recsort_key_size(job->sorter),
                      .capacity = block_capacity(files, format->record_size),
                      .file_count = files};
  bool done = unique_watch_begin(&merge.watch, job) && take_memory(&merge) && open_files(&merge) &&
              merge_rounds(&merge);
  done = done && tool_around_end(&merge.files[0].reader, output, merge.written);
  if (done) tool_dropped_say(&merge.dropped);
  *taken = merge.taken;
  unique_watch_end(&merge.watch);
  free_merge(&merge);
  return done;
}
