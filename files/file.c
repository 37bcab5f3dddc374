/* file.c - the calls of recsort/file.h. */
#include "available.h"
#include "sort.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Errors ---- */

/* Keeps a failure: every later call returns it. */
static recsort_status keep(recsort_file *file, recsort_status status, const recsort_error *found,
                           recsort_error *error)
{
  if (status == RECSORT_OK) return status;
  file->failed = status;
  file->error = *found;
  file->error.status = status;
  if (error) *error = file->error;
  return status;
}

static recsort_status refuse_call(recsort_file *file, bool after_finish, recsort_error *error)
{
  if (file == NULL) return rf_fail(error, RECSORT_INVALID_ARGUMENT, "the file is NULL");
  if (file->failed && error) *error = file->error;
  if (file->failed) return file->failed;
  if (file->finished != after_finish)
    return rf_fail(error, RECSORT_INVALID_ARGUMENT,
                   after_finish ? "call recsort_file_finish before the result is read"
                                : "nothing can be added after recsort_file_finish");
  return RECSORT_OK;
}

/* ---- Open and close ---- */

static recsort_status check_options(const recsort_file_options *options, recsort_error *error)
{
  if (options->struct_size != sizeof *options)
    return rf_fail(error, RECSORT_INVALID_ARGUMENT,
                   "struct_size is %zu, but a recsort_file_options has %zu bytes: use "
                   "RECSORT_FILE_OPTIONS_INIT",
                   options->struct_size, sizeof *options);
  if (options->folder_count > RECSORT_FILE_MOST_FOLDERS ||
      (options->folder_count > 0 && options->folders == NULL)) {
    return rf_fail(error, RECSORT_INVALID_ARGUMENT, "there can be 0 to %d folders",
                   RECSORT_FILE_MOST_FOLDERS);
  }
  if (options->most_runs == 1)
    return rf_fail(error, RECSORT_INVALID_ARGUMENT, "most_runs is 0, or at least 2");
  return RECSORT_OK;
}

/* The most that is written of a group at a time. */
static size_t piece_size(const recsort_file *file)
{
  enum { SHARE = 32, LEAST = 4 << 10, MOST = 4 << 20 };
  uint64_t size = file->memory / SHARE;
  size = size < LEAST ? LEAST : size > MOST ? MOST : size;
  const uint64_t records = size / file->record_size;
  return (size_t)(records != 0 ? records * file->record_size : file->record_size);
}

static recsort_status open_store(recsort_file *file, const recsort_file_options *options,
                                 recsort_error *error)
{
  const char *const usual = rf_usual_folder();
  return options->folder_count > 0
             ? rf_store_open(&file->store, options->folders, options->folder_count, error)
             : rf_store_open(&file->store, &usual, 1, error);
}

recsort_status recsort_file_open(recsort_sorter *sorter, const recsort_file_options *options,
                                 recsort_file **result, recsort_error *error)
{
  recsort_file_options usual = RECSORT_FILE_OPTIONS_INIT;
  if (sorter == NULL || result == NULL)
    return rf_fail(error, RECSORT_INVALID_ARGUMENT, "the sorter or the result is NULL");
  if (options == NULL) options = &usual;
  recsort_status status = check_options(options, error);
  if (status) return status;
  uint64_t least;
  recsort_stats stats;
  recsort_sorter_get_stats(sorter, &stats, sizeof stats);
  recsort_file *const file = calloc(1, sizeof *file);
  if (file == NULL) return rf_fail_memory(error, sizeof *file);
  file->sorter = sorter;
  file->record_size = stats.record_size;
  file->key_size = recsort_key_size(sorter);
  file->memory = options->memory != 0 ? options->memory : rf_memory_available() / 4 * 3;
  file->head = options->head != 0 ? options->head : UINT64_MAX;
  file->most_runs = options->most_runs;
  file->progress = options->progress;
  file->context = options->context;
  status = rf_free_sorter(sorter, error);
  if (status == RECSORT_OK) status = open_store(file, options, error);
  file->writer.piece = piece_size(file);
  rf_passed_open(&file->load.passed);
  if (status == RECSORT_OK) status = rf_merge_least(file, &least, error);
  if (status == RECSORT_OK && least > file->memory) {
    status = rf_load_least(file, &least, error);
    if (status == RECSORT_OK) status = rf_fail_least(file, least, error);
  }
  file->stats.memory = file->memory;
  if (status) {
    recsort_file_close(file);
    return status;
  }
  *result = file;
  return status;
}

void recsort_file_close(recsort_file *file)
{
  if (file == NULL) return;
  rf_merge_close(file);
  rf_load_close(file);
  rf_passed_close(&file->load.passed);
  rf_writer_close(&file->writer);
  rf_store_close(&file->store);
  free(file->sources);
  free(file);
}

/* ---- Adding ---- */

recsort_status recsort_file_append(recsort_file *file, const void *records, size_t count,
                                   recsort_error *error)
{
  recsort_error found = {0};
  recsort_status status = refuse_call(file, false, error);
  if (status || count == 0) return status;
  if (records == NULL) return rf_fail(error, RECSORT_INVALID_ARGUMENT, "the records are NULL");
  status = rf_load_append(file, records, count, &found);
  if (status == RECSORT_OK) file->stats.records += count;
  return keep(file, status, &found, error);
}

recsort_status recsort_file_add_run(recsort_file *file, recsort_file_read read, void *context,
                                    recsort_error *error)
{
  recsort_error found = {0};
  recsort_status status = refuse_call(file, false, error);
  if (status) return status;
  if (read == NULL) return rf_fail(error, RECSORT_INVALID_ARGUMENT, "the function is NULL");
  status = rf_load_flush(file, &found);
  const rf_source source = {.read = read, .context = context, .number = file->caller_runs};
  if (status == RECSORT_OK) status = rf_add_source(file, &source, &found);
  if (status == RECSORT_OK) file->caller_runs++;
  return keep(file, status, &found, error);
}

/* ---- Finish ---- */

/* Writes the result of a merge as a run. */
static recsort_status write_merged(recsort_file *file, uint64_t size, rf_extent *run,
                                   uint64_t *done, recsort_error *error)
{
  size_t count;
  recsort_status status = rf_store_begin(&file->store, &file->writer, size, error);
  while (status == RECSORT_OK) {
    const void *merged;
    status = rf_merge_next(file, &merged, &count, error);
    if (status || count == 0) break;
    if (!rf_writer_add(&file->writer, merged, count * file->record_size))
      status = rf_store_fail(&file->writer, error);
    *done += count;
    if (status == RECSORT_OK) status = rf_tell(file, RECSORT_FILE_GROUPS, *done, error);
  }
  if (status == RECSORT_OK) status = rf_store_end(&file->store, &file->writer, run, error);
  return status ? status : rf_store_wait(&file->writer, error);
}

/* Merges neighbours until at most `most` runs are left. */
static recsort_status merge_groups(recsort_file *file, size_t most, recsort_error *error)
{
  size_t at = 0;
  uint64_t done = 0;
  while (file->source_count > most) {
    size_t count = file->source_count - most + 1;
    if (count > most) count = most;
    if (at + count > file->source_count) at = 0;
    rf_source merged = {0};
    recsort_status status = rf_merge_open(file, at, count, file->head, error);
    if (status == RECSORT_OK)
      status = write_merged(file, rf_merge_size(file), &merged.extent, &done, error);
    rf_merge_close(file);
    if (status) return status;
    file->sources[at++] = merged;
    memmove(file->sources + at, file->sources + at + count - 1,
            (file->source_count - at - count + 1) * sizeof *file->sources);
    file->source_count -= count - 1;
    file->stats.runs++;
  }
  return RECSORT_OK;
}

/* Merges groups, which are written as runs, until one merge takes all. */
static recsort_status merge_to_runs(recsort_file *file, recsort_error *error)
{
  uint64_t least;
  recsort_status status = RECSORT_OK;
  if (!rf_writer_open(&file->writer, file->writer.piece))
    status = rf_fail_memory(error, rf_writer_size(file->writer.piece));
  if (status == RECSORT_OK) status = rf_merge_least(file, &least, error);
  if (status == RECSORT_OK && least > file->memory) status = rf_fail_least(file, least, error);
  if (status == RECSORT_OK) status = merge_groups(file, rf_merge_most(file), error);
  rf_writer_close(&file->writer);
  return status;
}

static recsort_status finish(recsort_file *file, recsort_error *error)
{
  const bool in_memory = file->load.before == 0 || file->load.keeps_head;
  /* otherwise a run may be on its way to the sources */
  if (in_memory && file->source_count == 0) return rf_load_sort(file, error);
  recsort_status status = rf_load_flush(file, error);
  if (status) return status;
  rf_load_close(file);
  status = rf_free_sorter(file->sorter, error);
  if (status == RECSORT_OK && file->source_count > rf_merge_most(file)) {
    status = merge_to_runs(file, error);
  }
  return status ? status : rf_merge_open(file, 0, file->source_count, file->head, error);
}

recsort_status recsort_file_finish(recsort_file *file, recsort_error *error)
{
  recsort_error found = {0};
  recsort_status status = refuse_call(file, false, error);
  if (status) return status;
  status = finish(file, &found);
  file->finished = status == RECSORT_OK;
  return keep(file, status, &found, error);
}

/* ---- The result ---- */

recsort_status recsort_file_next(recsort_file *file, const void **records, size_t *count,
                                 recsort_error *error)
{
  recsort_error found = {0};
  recsort_status status = refuse_call(file, true, error);
  if (status) return status;
  if (records == NULL || count == NULL)
    return rf_fail(error, RECSORT_INVALID_ARGUMENT, "there is no place for the result");
  *records = NULL;
  *count = 0;
  if (file->merge == NULL) {
    rf_load_next(file, records, count);
  } else {
    status = rf_merge_next(file, records, count, &found);
  }
  file->given += *count;
  if (status == RECSORT_OK) status = rf_tell(file, RECSORT_FILE_MERGE, file->given, &found);
  return keep(file, status, &found, error);
}

recsort_status recsort_file_verify(recsort_file *file, recsort_error *error)
{
  recsort_error found = {0};
  recsort_status status = refuse_call(file, true, error);
  if (status) return status;
  if (file->merge != NULL) status = rf_merge_compare(file, &found);
  return keep(file, status, &found, error);
}

void recsort_file_get_stats(recsort_file *file, recsort_file_stats *stats, size_t size)
{
  memset(stats, 0, size);
  if (file == NULL || size != sizeof *stats) return;
  rf_task_end(&file->load.sorting);
  rf_task_end(&file->load.writing);
  rf_merge_wait(file);
  *stats = file->stats;
  stats->records += atomic_load(&file->caller_records);
  stats->bytes_written = file->store.written;
  stats->bytes_read = atomic_load(&file->store.read);
}
