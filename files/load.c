/* load.c - loads of records are sorted and written as runs. */
#include "sort.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t least_size(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* ---- Memory ---- */

recsort_status rf_fail_least(const recsort_file *file, uint64_t least, recsort_error *error)
{
  return rf_fail(error, RECSORT_OUT_OF_MEMORY,
                 "not enough memory: records of %zu bytes need at least %" PRIu64 " KiB",
                 file->record_size, (least + 1023) >> 10);
}

static recsort_job job_of(const recsort_file *file, const void *records, size_t count)
{
  recsort_job job = RECSORT_JOB_INIT;
  job.count = count;
  job.records = records;
  if (file->head < count) job.head = (size_t)file->head;
  return job;
}

/* A load is written while the next one is sorted, if there are several. */
static size_t buffer_count(const recsort_file *file, size_t count, unsigned loads)
{
  const size_t pieces = file->writer.piece / file->record_size;
  return 2 + (loads > 1 ? (count + pieces - 1) / pieces : 0);
}

/* The bytes that `loads` loads of `count` records take, one of which is sorted. */
static recsort_status size_of(recsort_file *file, size_t count, unsigned loads, uint64_t *size,
                              recsort_error *error)
{
  const recsort_job job = job_of(file, NULL, count);
  recsort_needs needs = RECSORT_NEEDS_INIT;
  const recsort_status status = recsort_plan(file->sorter, &job, 1, &needs, error);
  if (status == RECSORT_OK)
    *size = needs.host + rf_writer_size(file->writer.piece, buffer_count(file, count, loads)) +
            loads * (uint64_t)count * file->record_size;
  return status;
}

/* The most records of a load; 0: not even one. */
static size_t most_records(recsort_file *file, unsigned loads)
{
  size_t low = 0, high = (size_t)(file->memory / file->record_size / loads) + 1;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    uint64_t size;
    const bool fits = size_of(file, middle, loads, &size, NULL) == RECSORT_OK;
    if (fits && size <= file->memory) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The most that is gathered and written at a time. */
static size_t piece_size(const recsort_file *file)
{
  enum { SHARE = 32, LEAST = 64 << 10, MOST = 4 << 20 };
  uint64_t size = file->memory / SHARE;
  size = size < LEAST ? LEAST : size > MOST ? MOST : size;
  const uint64_t records = size / file->record_size;
  return (size_t)(records != 0 ? records * file->record_size : file->record_size);
}

void rf_load_plan(recsort_file *file)
{
  file->writer.piece = piece_size(file);
}

static recsort_status map_records(rf_load *load, size_t size, recsort_error *error)
{
  load->size = size;
  load->memory = load->records = rf_map(size);
  return load->memory != NULL ? RECSORT_OK : rf_fail_memory(error, size);
}

static recsort_status open_writer(recsort_file *file, unsigned loads, recsort_error *error)
{
  const size_t count = buffer_count(file, file->load.half, loads), piece = file->writer.piece;
  return rf_writer_open(&file->writer, piece, count)
             ? RECSORT_OK
             : rf_fail_memory(error, rf_writer_size(piece, count));
}

recsort_status rf_load_least(recsort_file *file, uint64_t *memory, recsort_error *error)
{
  uint64_t two, merge;
  recsort_status status = size_of(file, 2, 1, &two, error);
  if (status == RECSORT_OK) status = rf_merge_least(file, &merge, error);
  if (status) return status;
  merge += rf_writer_size(file->writer.piece, 2); /* of groups */
  *memory = two > merge ? two : merge;
  return status;
}

/* Divides the memory, when the first records come. */
static recsort_status take_memory(recsort_file *file, recsort_error *error)
{
  rf_load *const load = &file->load;
  uint64_t least;
  recsort_status status = rf_load_least(file, &least, error);
  if (status) return status;
  if (least > file->memory) return rf_fail_least(file, least, error);
  const size_t first = most_records(file, 1), half = most_records(file, 2);
  load->half = half >= 2 ? half : 0; /* 0: there is one load */
  load->keeps_head = half >= 2 && file->head <= half / 2;
  load->most = load->keeps_head ? half : first;
  status = map_records(load, (load->keeps_head ? 2 * half : first) * file->record_size, error);
  return status ? status : open_writer(file, 1, error);
}

void rf_load_close(recsort_file *file)
{
  rf_task_end(&file->load.task);
  rf_unmap(file->load.memory, file->load.size);
  file->load.memory = NULL;
}

/* ---- A run ---- */

recsort_status rf_add_source(recsort_file *file, const rf_source *source, recsort_error *error)
{
  if (file->source_count == file->source_room) {
    const size_t room = file->source_room != 0 ? 2 * file->source_room : 16;
    rf_source *const sources = realloc(file->sources, room * sizeof *sources);
    if (sources == NULL) return rf_fail_memory(error, room * sizeof *sources);
    file->sources = sources;
    file->source_room = room;
  }
  file->sources[file->source_count++] = *source;
  if (source->read == NULL) file->stats.runs++;
  return RECSORT_OK;
}

/* Finds the order of a load, which stays in the sorter. */
static recsort_status find_order(recsort_file *file, const void *records, size_t count,
                                 uint64_t before, recsort_error *error)
{
  const double begin = rf_seconds();
  const recsort_job job = job_of(file, records, count);
  recsort_error found;
  const recsort_status status = recsort_run(file->sorter, &job, 1, &found);
  file->stats.sort_seconds += rf_seconds() - begin;
  if (status == RECSORT_OK) return status;
  uint64_t number;
  int length = 0;
  if (status == RECSORT_INVALID_RECORD)
    sscanf(found.text, "record %" SCNu64 ": %n", &number, &length);
  if (length == 0) {
    if (error) *error = found;
    return status;
  }
  return rf_fail(error, status, "record %" PRIu64 ": %.400s", before + number, found.text + length);
}

/* Gathers records [first, first + count) of the order. */
static void gather(const recsort_file *file, const unsigned char *records, size_t first,
                   size_t count, void *to)
{
  size_t all;
  unsigned bits;
  const unsigned char *const index = recsort_sorter_permutation(file->sorter, &bits, &all);
  recsort_gather(file->sorter, index + first * (bits / 8), bits, count, records, file->record_size,
                 to);
}

static size_t order_count(const recsort_file *file)
{
  size_t count;
  unsigned bits;
  (void)recsort_sorter_permutation(file->sorter, &bits, &count);
  return count;
}

static recsort_status write_run(recsort_file *file, const unsigned char *records, size_t count,
                                uint64_t before, recsort_error *error)
{
  rf_source source = {0};
  recsort_status status = find_order(file, records, count, before, error);
  if (status) return status;
  const double begin = rf_seconds();
  const size_t all = order_count(file), each = file->writer.piece / file->record_size;
  status = rf_store_begin(&file->store, &file->writer, (uint64_t)all * file->record_size, error);
  for (size_t at = 0, part; status == RECSORT_OK && at < all; at += part) {
    part = least_size(each, all - at);
    gather(file, records, at, part, rf_writer_room(&file->writer));
    if (!rf_writer_put(&file->writer, part * file->record_size))
      status = rf_store_fail(&file->writer, error);
  }
  if (status == RECSORT_OK)
    status = rf_store_end(&file->store, &file->writer, &source.extent, error);
  if (status == RECSORT_OK) status = rf_add_source(file, &source, error);
  file->stats.write_seconds += rf_seconds() - begin;
  return status;
}

static void write_other(void *context)
{
  recsort_file *const file = context;
  rf_load *const load = &file->load;
  load->status = write_run(file, load->other, load->other_count, load->other_before, &load->error);
}

static recsort_status wait_for_other(recsort_file *file, recsort_error *error)
{
  rf_load *const load = &file->load;
  rf_task_end(&load->task);
  if (load->status && error) *error = load->error;
  return load->status;
}

/* ---- Loads ---- */

/* Moves the wanted records of a full load to the other one. */
static recsort_status keep_head(recsort_file *file, recsort_error *error)
{
  rf_load *const load = &file->load;
  const recsort_status status = find_order(file, load->records, load->count, load->before, error);
  if (status) return status;
  unsigned char *const to =
      load->memory + (load->records == load->memory ? load->half * file->record_size : 0);
  const size_t kept = order_count(file);
  gather(file, load->records, 0, kept, to);
  load->before += load->count - kept;
  load->count = kept;
  load->records = to;
  return RECSORT_OK;
}

/* Makes room in a full load. */
static recsort_status unload(recsort_file *file, recsort_error *error)
{
  rf_load *const load = &file->load;
  recsort_status status = wait_for_other(file, error);
  if (status) return status;
  if (load->keeps_head) return keep_head(file, error);
  if (file->progress) file->progress(file->context, RECSORT_FILE_RUNS, load->before + load->count);
  if (load->half == 0 || load->most != load->half) { /* the first load is as large as can be */
    status = write_run(file, load->records, load->count, load->before, error);
    if (status == RECSORT_OK) status = rf_store_wait(&file->writer, error);
    if (status) return status;
    /* a smaller load needs less of the sorter, and gets more of the memory */
    if (load->half != 0) status = rf_free_sorter(file->sorter, error);
    if (status == RECSORT_OK && load->half != 0) {
      rf_unmap(load->memory, load->size);
      rf_writer_close(&file->writer);
      status = map_records(load, 2 * load->half * file->record_size, error);
      if (status == RECSORT_OK) status = open_writer(file, 2, error);
      load->most = load->half;
      /* by this thread: the C library keeps what others allocate in heaps of their own */
      const recsort_job job = job_of(file, NULL, load->half);
      if (status == RECSORT_OK) status = recsort_sorter_reserve(file->sorter, &job, error);
    }
  } else {
    load->other = load->records;
    load->other_count = load->count;
    load->other_before = load->before;
    load->records =
        load->memory + (load->records == load->memory ? load->half * file->record_size : 0);
    rf_task_begin(&load->task, write_other, file);
  }
  load->before += load->count;
  load->count = 0;
  return status;
}

recsort_status rf_load_append(recsort_file *file, const unsigned char *records, size_t count,
                              recsort_error *error)
{
  rf_load *const load = &file->load;
  recsort_status status = load->memory != NULL ? RECSORT_OK : take_memory(file, error);
  while (count > 0 && status == RECSORT_OK) {
    if (load->count == load->most) {
      status = unload(file, error);
      if (status) return status;
    }
    const size_t part = least_size(count, load->most - load->count);
    memcpy(load->records + load->count * file->record_size, records, part * file->record_size);
    load->count += part;
    records += part * file->record_size;
    count -= part;
  }
  return status;
}

recsort_status rf_load_flush(recsort_file *file, recsort_error *error)
{
  rf_load *const load = &file->load;
  recsort_status status = wait_for_other(file, error);
  if (status == RECSORT_OK && load->count > 0)
    status = write_run(file, load->records, load->count, load->before, error);
  if (status) return status;
  load->before += load->count;
  load->count = 0;
  return file->writer.memory != NULL ? rf_store_wait(&file->writer, error) : RECSORT_OK;
}

recsort_status rf_load_sort(recsort_file *file, recsort_error *error)
{
  const rf_load *const load = &file->load;
  return load->count != 0 ? find_order(file, load->records, load->count, load->before, error)
                          : RECSORT_OK;
}

void rf_load_next(recsort_file *file, const void **records, size_t *count)
{
  const size_t all = file->load.count != 0 ? order_count(file) : 0;
  const size_t left = all - (size_t)file->given;
  *count = least_size(left, file->writer.piece / file->record_size);
  *records = file->writer.memory;
  if (*count > 0)
    gather(file, file->load.records, (size_t)file->given, *count, file->writer.memory);
}
