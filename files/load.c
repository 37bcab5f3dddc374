/* load.c - loads of records are sorted and written as runs. */
#include "sort.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ONE_BUFFER = 1, TWO_BUFFERS, THREE_BUFFERS };

static size_t least_size(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* ---- The caller ---- */

recsort_status rf_tell(recsort_file *file, recsort_file_phase phase, uint64_t done,
                       recsort_error *error)
{
  if (file->progress == NULL) return RECSORT_OK;
  *error = (recsort_error){0};
  return file->progress(file->context, phase, done, error);
}

/* ---- Memory ---- */

recsort_status rf_fail_least(const recsort_file *file, uint64_t least, recsort_error *error)
{
  return rf_fail(error, RECSORT_OUT_OF_MEMORY,
                 "not enough memory: records of %zu bytes need at least %" PRIu64 " KiB",
                 file->record_size, (least + 1023) >> 10);
}

static recsort_job job_of(const recsort_file *file, const void *records, size_t count, void *sorted)
{
  recsort_job job = RECSORT_JOB_INIT;
  job.count = count;
  job.records = records;
  job.sorted = sorted;
  if (file->head < count) job.head = (size_t)file->head;
  return job;
}

/* A job to plan by. Its pointers only say what there is. */
static recsort_job job_like(const recsort_file *file, size_t count, unsigned buffers)
{
  static char records, sorted;
  return job_of(file, &records, count, buffers == ONE_BUFFER ? NULL : &sorted);
}

/* Each is written from where it is, so it ends with a sector. */
static uint64_t buffer_size(const recsort_file *file, size_t room)
{
  return ((uint64_t)room * file->record_size + RF_SECTOR - 1) / RF_SECTOR * RF_SECTOR;
}

/* The bytes that buffers for `room` records take, one of which is sorted. */
static recsort_status size_of(recsort_file *file, size_t room, unsigned buffers, uint64_t *size,
                              recsort_error *error)
{
  const recsort_job job = job_like(file, room, buffers);
  const uint64_t writer = buffers == ONE_BUFFER ? rf_writer_size(file->writer.piece) : 0;
  recsort_needs needs = RECSORT_NEEDS_INIT;
  const recsort_status status = recsort_plan(file->sorter, &job, 1, &needs, error);
  if (status == RECSORT_OK) *size = needs.host + writer + buffers * buffer_size(file, room);
  return status;
}

/* The most records of a buffer; 0: not even one. */
static size_t most_records(recsort_file *file, unsigned buffers)
{
  size_t low = 0, high = (size_t)(file->memory / file->record_size / buffers) + 1;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    uint64_t size;
    const bool fits = size_of(file, middle, buffers, &size, NULL) == RECSORT_OK;
    if (fits && size <= file->memory) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

recsort_status rf_load_least(recsort_file *file, uint64_t *memory, recsort_error *error)
{
  uint64_t two, merge;
  recsort_status status = size_of(file, 2, TWO_BUFFERS, &two, error);
  if (status == RECSORT_OK) status = rf_merge_least(file, &merge, error);
  if (status) return status;
  merge += rf_writer_size(file->writer.piece); /* of groups */
  *memory = two > merge ? two : merge;
  return status;
}

static recsort_status map_buffers(recsort_file *file, unsigned buffers, size_t room,
                                  recsort_error *error)
{
  rf_load *const load = &file->load;
  const size_t each = (size_t)buffer_size(file, room);
  load->memory = rf_map(buffers * each);
  if (load->memory == NULL) return rf_fail_memory(error, buffers * each);
  load->size = buffers * each;
  load->room = room;
  load->buffers = buffers;
  load->records = load->memory;
  load->sorted = buffers > 1 ? load->memory + each : NULL;
  load->source = buffers > 2 ? load->memory + 2 * each : NULL;
  rf_passed_set(&load->passed, SIZE_MAX);
  return RECSORT_OK;
}

static void unmap_buffers(recsort_file *file)
{
  rf_unmap(file->load.memory, file->load.size);
  file->load.memory = NULL;
  rf_writer_close(&file->writer);
}

/* Divides the memory, when the first records come: for one buffer, as all records may fit in it.
 * Two keep few wanted records in memory, however many come; and need no writer. */
static recsort_status take_memory(recsort_file *file, recsort_error *error)
{
  uint64_t least;
  recsort_status status = rf_load_least(file, &least, error);
  if (status) return status;
  if (least > file->memory) return rf_fail_least(file, least, error);
  const size_t one = most_records(file, ONE_BUFFER), two = most_records(file, TWO_BUFFERS);
  file->load.keeps_head = file->head <= two / 2;
  if (file->load.keeps_head || one <= two) return map_buffers(file, TWO_BUFFERS, two, error);
  if (!rf_writer_open(&file->writer, file->writer.piece))
    return rf_fail_memory(error, rf_writer_size(file->writer.piece));
  return map_buffers(file, ONE_BUFFER, one, error);
}

/* Divides it for three, when not all records fit in one; unless there is too little of it. */
static recsort_status divide_memory(recsort_file *file, recsort_error *error)
{
  const size_t room = most_records(file, THREE_BUFFERS);
  if (room < 2) return RECSORT_OK;
  /* a smaller load needs less of the sorter, and gets more of the memory */
  recsort_status status = rf_free_sorter(file->sorter, error);
  if (status) return status;
  unmap_buffers(file);
  status = map_buffers(file, THREE_BUFFERS, room, error);
  /* by this thread: the C library keeps what others allocate in heaps of their own */
  const recsort_job job = job_like(file, room, THREE_BUFFERS);
  return status ? status : recsort_sorter_reserve(file->sorter, &job, error);
}

void rf_load_close(recsort_file *file)
{
  rf_load *const load = &file->load;
  rf_task_end(&load->sorting);
  rf_task_end(&load->writing);
  if (load->memory != NULL) unmap_buffers(file);
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

/* Sorts records to another buffer; NULL: only the order is found, and stays in the sorter. */
static recsort_status sort_load(recsort_file *file, const void *records, size_t count,
                                uint64_t before, void *sorted, recsort_error *error)
{
  const double begin = rf_seconds();
  const recsort_job job = job_of(file, records, count, sorted);
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

/* Of so many records these are wanted. */
static size_t wanted(const recsort_file *file, size_t count)
{
  return file->head < count ? (size_t)file->head : count;
}

/* Reports each piece that is written to `passed`, which may be NULL. */
static recsort_status write_run(recsort_file *file, unsigned char *sorted, size_t count,
                                rf_passed *passed, recsort_error *error)
{
  rf_source source = {0};
  const double begin = rf_seconds();
  const uint64_t size = (uint64_t)wanted(file, count) * file->record_size;
  recsort_status status = rf_store_write(&file->store, sorted, size, passed, &source.extent, error);
  if (status == RECSORT_OK) status = rf_add_source(file, &source, error);
  file->stats.write_seconds += rf_seconds() - begin;
  return status;
}

/* Gathers records [first, first + count) of the order. */
static void gather(const recsort_file *file, size_t first, size_t count, void *to)
{
  size_t all;
  unsigned bits;
  const unsigned char *const index = recsort_sorter_permutation(file->sorter, &bits, &all);
  recsort_gather(file->sorter, index + first * (bits / 8), bits, count, file->load.records,
                 file->record_size, to);
}

/* Writes what is loaded as a run, gathered by the order. */
static recsort_status write_gathered(recsort_file *file, recsort_error *error)
{
  rf_source source = {0};
  const double begin = rf_seconds();
  const size_t all = wanted(file, file->load.count), each = file->writer.piece / file->record_size;
  recsort_status status =
      rf_store_begin(&file->store, &file->writer, (uint64_t)all * file->record_size, error);
  for (size_t at = 0, part; status == RECSORT_OK && at < all; at += part) {
    part = least_size(each, all - at);
    gather(file, at, part, rf_writer_room(&file->writer));
    if (!rf_writer_put(&file->writer, part * file->record_size))
      status = rf_store_fail(&file->writer, error);
  }
  if (status == RECSORT_OK)
    status = rf_store_end(&file->store, &file->writer, &source.extent, error);
  if (status == RECSORT_OK) status = rf_store_wait(&file->writer, error);
  if (status == RECSORT_OK) status = rf_add_source(file, &source, error);
  file->stats.write_seconds += rf_seconds() - begin;
  return status;
}

/* ---- Beside the caller ---- */

static void sort_task(void *context)
{
  recsort_file *const file = context;
  rf_load *const load = &file->load;
  load->sort_status = sort_load(file, load->source, load->source_count, load->source_before,
                                load->sorted, &load->sort_error);
}

static void write_task(void *context)
{
  recsort_file *const file = context;
  rf_load *const load = &file->load;
  load->write_status =
      write_run(file, load->records, load->written_count, &load->passed, &load->write_error);
  rf_passed_set(&load->passed, SIZE_MAX);
}

static recsort_status wait_for_tasks(rf_load *load, recsort_error *error)
{
  rf_task_end(&load->sorting);
  rf_task_end(&load->writing);
  if (load->sort_status) *error = load->sort_error;
  if (load->sort_status) return load->sort_status;
  if (load->write_status) *error = load->write_error;
  return load->write_status;
}

/* Waits for room in the buffer that is filled. Returns how many records it can have. */
static size_t wait_for_room(recsort_file *file)
{
  rf_load *const load = &file->load;
  const uint64_t least = (uint64_t)(load->count + 1) * file->record_size;
  return least_size(load->room, rf_passed_wait(&load->passed, least) / file->record_size);
}

/* ---- Loads ---- */

static void swap_buffers(unsigned char **a, unsigned char **b)
{
  unsigned char *const kept = *a;
  *a = *b;
  *b = kept;
}

/* Keeps the wanted records of a full load. */
static recsort_status keep_head(recsort_file *file, recsort_error *error)
{
  rf_load *const load = &file->load;
  const recsort_status status =
      sort_load(file, load->records, load->count, load->before, load->sorted, error);
  if (status) return status;
  swap_buffers(&load->records, &load->sorted);
  load->before += load->count - wanted(file, load->count);
  load->count = wanted(file, load->count);
  return RECSORT_OK;
}

/* Sorts and writes what is loaded while the caller waits. */
static recsort_status write_load(recsort_file *file, recsort_error *error)
{
  rf_load *const load = &file->load;
  unsigned char *const to = load->buffers == THREE_BUFFERS ? load->source : load->sorted;
  recsort_status status = sort_load(file, load->records, load->count, load->before, to, error);
  if (status == RECSORT_OK)
    status =
        to != NULL ? write_run(file, to, load->count, NULL, error) : write_gathered(file, error);
  load->before += load->count;
  load->count = 0;
  return status;
}

/* Begins to sort what is loaded, and to write what was sorted before, whose buffer is filled now.
 */
static void turn(recsort_file *file)
{
  rf_load *const load = &file->load;
  unsigned char *const full = load->records;
  load->written_count = load->source_count;
  load->records = load->sorted;
  load->sorted = load->source;
  load->source = full;
  load->source_count = load->count;
  load->source_before = load->before;
  load->before += load->count;
  load->count = 0;
  rf_task_begin(&load->sorting, sort_task, file);
  if (load->written_count == 0) return;
  rf_passed_set(&load->passed, 0);
  rf_task_begin(&load->writing, write_task, file);
}

/* Makes room in a full load. */
static recsort_status unload(recsort_file *file, recsort_error *error)
{
  rf_load *const load = &file->load;
  if (load->keeps_head) return keep_head(file, error);
  recsort_status status = wait_for_tasks(load, error);
  if (status == RECSORT_OK)
    status = rf_tell(file, RECSORT_FILE_RUNS, load->before + load->count, error);
  if (status) return status;
  if (load->buffers == THREE_BUFFERS) turn(file);
  if (load->buffers == THREE_BUFFERS) return RECSORT_OK;
  status = write_load(file, error);
  return status ? status : divide_memory(file, error);
}

recsort_status rf_load_append(recsort_file *file, const unsigned char *records, size_t count,
                              recsort_error *error)
{
  rf_load *const load = &file->load;
  recsort_status status = load->memory != NULL ? RECSORT_OK : take_memory(file, error);
  while (count > 0 && status == RECSORT_OK) {
    if (load->count == load->room) {
      status = unload(file, error);
      if (status) return status;
    }
    const size_t part = least_size(count, wait_for_room(file) - load->count);
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
  recsort_status status = wait_for_tasks(load, error);
  if (status == RECSORT_OK && load->source_count > 0)
    status = write_run(file, load->sorted, load->source_count, NULL, error);
  load->source_count = 0;
  if (status || load->count == 0) return status;
  return write_load(file, error);
}

recsort_status rf_load_sort(recsort_file *file, recsort_error *error)
{
  const rf_load *const load = &file->load;
  return load->count != 0
             ? sort_load(file, load->records, load->count, load->before, load->sorted, error)
             : RECSORT_OK;
}

void rf_load_next(recsort_file *file, const void **records, size_t *count)
{
  const rf_load *const load = &file->load;
  const size_t given = (size_t)file->given, left = wanted(file, load->count) - given;
  if (left == 0) return;
  *count = load->sorted != NULL ? left : least_size(left, file->writer.piece / file->record_size);
  *records = load->sorted != NULL ? load->sorted + given * file->record_size : file->writer.memory;
  if (load->sorted == NULL) gather(file, given, *count, file->writer.memory);
}
