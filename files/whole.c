/* whole.c - sorts whole files into one, which is replaced in one step. */
#include "input.h"
#include "replace.h"
#include "sort.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 512 << 10 }; /* bytes that are read or written at a time; reads: at least a record */

static recsort_status fail_path(const char *path, int number, recsort_error *error)
{
  return rf_fail(error, RECSORT_IO_ERROR, "%.300s: %s", path, strerror(number));
}

/* ---- Inputs ---- */

static recsort_status append_records(recsort_file *file, const char *path, rf_input *input,
                                     recsort_error *error)
{
  const void *records;
  for (;;) {
    size_t size;
    if (!rf_input_next(input, &records, &size)) return fail_path(path, input->failure, error);
    if (size == 0) return RECSORT_OK;
    if (size % file->record_size != 0)
      return rf_fail(error, RECSORT_IO_ERROR,
                     "%.300s: its size is not a multiple of the record size (%zu)", path,
                     file->record_size);
    const recsort_status status =
        recsort_file_append(file, records, size / file->record_size, error);
    if (status) return status;
  }
}

/* True if a file of known size has another size now. */
static bool was_changed(int fd, uint64_t end)
{
  struct stat stat;
  return end != UINT64_MAX && (fstat(fd, &stat) != 0 || (uint64_t)stat.st_size != end);
}

static recsort_status append_file(recsort_file *file, const char *path, recsort_error *error)
{
  const size_t records = PIECE / file->record_size;
  const size_t piece = (records != 0 ? records : 1) * file->record_size;
  struct stat stat;
  rf_input input;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail_path(path, errno, error);
  /* the size of a file that the kernel makes is 0 */
  const bool has_end = fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size > 0;
  const uint64_t end = has_end ? (uint64_t)stat.st_size : UINT64_MAX;
  recsort_status status = rf_input_open(&input, fd, 0, end, piece)
                              ? append_records(file, path, &input, error)
                              : rf_fail_memory(error, 2 * (uint64_t)piece);
  rf_input_close(&input);
  if (status == RECSORT_OK && was_changed(fd, end))
    status =
        rf_fail(error, RECSORT_IO_ERROR, "%.300s: it was changed while it was being read", path);
  close(fd);
  return status;
}

/* ---- The output ---- */

typedef struct new_file {
  rf_replacement replacement;
  char folder[PATH_MAX];
  rf_file file;
  rf_writer writer;
} new_file;

static recsort_status open_output(new_file *to, const char *path, recsort_error *error)
{
  rf_replacement *const r = &to->replacement;
  if (!rf_replacement_find(r, path)) return fail_path(path, errno, error);
  if (r->exists && (r->in_proc || !S_ISREG(r->old.st_mode)))
    return rf_fail(error, RECSORT_INVALID_ARGUMENT, "%.300s: it is no regular file", path);
  if (!rf_replacement_open(r, NULL) || !rf_replacement_folder(r, to->folder, sizeof to->folder))
    return fail_path(path, errno, error);
  const int flags = fcntl(r->fd, F_GETFL);
  to->file.fd = r->fd;
  to->file.direct = flags >= 0 && fcntl(r->fd, F_SETFL, flags | O_DIRECT) == 0;
  if (!rf_writer_open(&to->writer, PIECE)) return rf_fail_memory(error, rf_writer_size(PIECE));
  rf_writer_begin(&to->writer, &to->file);
  return RECSORT_OK;
}

static recsort_status end_output(new_file *to, const char *path, recsort_error *error)
{
  if (!rf_writer_end(&to->writer, false) || !rf_writer_wait(&to->writer))
    return fail_path(path, to->writer.failure, error);
  return rf_replacement_commit(&to->replacement) ? RECSORT_OK : fail_path(path, errno, error);
}

static void close_output(new_file *to)
{
  rf_writer_close(&to->writer);
  (void)rf_replacement_close(&to->replacement);
}

/* ---- The sort ---- */

static recsort_status write_result(recsort_file *file, new_file *to, const char *output,
                                   recsort_error *error)
{
  const void *records;
  size_t count = 1;
  recsort_status status = recsort_file_finish(file, error);
  while (status == RECSORT_OK && count > 0) {
    status = recsort_file_next(file, &records, &count, error);
    if (status == RECSORT_OK && !rf_writer_add(&to->writer, records, count * file->record_size))
      status = fail_path(output, to->writer.failure, error);
  }
  return status ? status : end_output(to, output, error);
}

static recsort_status sort_files(recsort_file *file, const char *const *inputs, size_t input_count,
                                 new_file *to, const char *output, recsort_error *error)
{
  recsort_status status = RECSORT_OK;
  for (size_t i = 0; i < input_count && status == RECSORT_OK; i++)
    status = append_file(file, inputs[i], error);
  return status ? status : write_result(file, to, output, error);
}

recsort_status recsort_file_sort(recsort_sorter *sorter, const char *const *inputs,
                                 size_t input_count, const char *output,
                                 const recsort_file_options *options, recsort_error *error)
{
  recsort_file_options wanted = RECSORT_FILE_OPTIONS_INIT;
  recsort_file *file = NULL;
  if (output == NULL || (input_count > 0 && inputs == NULL))
    return rf_fail(error, RECSORT_INVALID_ARGUMENT, "the inputs or the output are NULL");
  if (options != NULL) wanted = *options;
  new_file *const to = calloc(1, sizeof *to);
  if (to == NULL) return rf_fail_memory(error, sizeof *to);
  recsort_status status = open_output(to, output, error);
  const char *const folder = to->folder;
  if (wanted.folder_count == 0) {
    wanted.folders = &folder;
    wanted.folder_count = 1;
  }
  if (status == RECSORT_OK) status = recsort_file_open(sorter, &wanted, &file, error);
  if (status == RECSORT_OK) status = sort_files(file, inputs, input_count, to, output, error);
  recsort_file_close(file);
  close_output(to);
  free(to);
  return status;
}
