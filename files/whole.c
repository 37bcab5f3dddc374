/* whole.c - sorts whole files into one, which is replaced in one step. */
#include "replace.h"
#include "sort.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 256 << 10 }; /* bytes that are read or written at a time; reads: at least a record */

static recsort_status fail_path(const char *path, int number, recsort_error *error)
{
  return rf_fail(error, RECSORT_IO_ERROR, "%.300s: %s", path, strerror(number));
}

/* ---- Inputs ---- */

/* Reads until the buffer is full or the file ends. */
static recsort_status fill(int fd, const char *path, unsigned char *to, size_t size, size_t *got,
                           recsort_error *error)
{
  for (*got = 0; *got < size;) {
    const ssize_t part = read(fd, to + *got, size - *got);
    if (part == 0) break;
    if (part < 0 && errno != EINTR) return fail_path(path, errno, error);
    if (part > 0) *got += (size_t)part;
  }
  return RECSORT_OK;
}

static recsort_status append_file(recsort_file *file, const char *path, unsigned char *buffer,
                                  size_t size, recsort_error *error)
{
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail_path(path, errno, error);
  size_t got = size;
  recsort_status status = RECSORT_OK;
  while (status == RECSORT_OK && got == size) {
    status = fill(fd, path, buffer, size, &got, error);
    if (status == RECSORT_OK && got % file->record_size != 0)
      status = rf_fail(error, RECSORT_IO_ERROR,
                       "%.300s: its size is not a multiple of the record size (%zu)", path,
                       file->record_size);
    if (status == RECSORT_OK)
      status = recsort_file_append(file, buffer, got / file->record_size, error);
  }
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
  if (!rf_writer_open(&to->writer, CHUNK)) return rf_fail_memory(error, rf_writer_size(CHUNK));
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
  const size_t records = CHUNK / file->record_size;
  const size_t size = (records != 0 ? records : 1) * file->record_size;
  unsigned char *const buffer = rf_map(size);
  recsort_status status = buffer != NULL ? RECSORT_OK : rf_fail_memory(error, size);
  for (size_t i = 0; i < input_count && status == RECSORT_OK; i++)
    status = append_file(file, inputs[i], buffer, size, error);
  rf_unmap(buffer, size);
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
