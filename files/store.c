/* store.c - see store.h. */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t up(uint64_t size)
{
  return (size + RF_SECTOR - 1) / RF_SECTOR * RF_SECTOR;
}

/* ---- Files ---- */

recsort_status rf_store_open(rf_store *store, const char *const *folders, size_t count,
                             recsort_error *error)
{
  *store = (rf_store){.file_count = count};
  for (size_t i = 0; i < count; i++)
    store->files[i].fd = -1;
  for (size_t i = 0; i < count; i++) {
    store->files[i].folder = strdup(folders[i]);
    if (store->files[i].folder == NULL) {
      rf_store_close(store);
      return rf_fail_memory(error, strlen(folders[i]) + 1);
    }
  }
  return RECSORT_OK;
}

void rf_store_close(rf_store *store)
{
  for (size_t i = 0; i < store->file_count; i++) {
    if (store->files[i].fd >= 0) close(store->files[i].fd);
    free(store->files[i].folder);
  }
  store->file_count = 0;
}

/* A file without a name. */
static int make_file(const char *folder)
{
  char path[PATH_MAX];
  const int fd = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
  const int length = snprintf(path, sizeof path, "%s/.recsort-XXXXXX", folder);
  if (length < 0 || (size_t)length >= sizeof path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  const int named = mkostemp(path, O_CLOEXEC);
  if (named >= 0 && unlink(path) != 0) {
    close(named);
    return -1;
  }
  return named;
}

static bool make(rf_file *file)
{
  if (file->fd >= 0) return true;
  file->fd = make_file(file->folder);
  if (file->fd < 0) return false;
  const int flags = fcntl(file->fd, F_GETFL);
  file->direct = flags >= 0 && fcntl(file->fd, F_SETFL, flags | O_DIRECT) == 0;
  return true;
}

/* A file system may allow O_DIRECT and then refuse every access by it. */
static bool goes_without_direct(rf_file *file)
{
  if (errno != EINVAL || !file->direct) return false;
  const int flags = fcntl(file->fd, F_GETFL);
  file->direct = false;
  return flags >= 0 && fcntl(file->fd, F_SETFL, flags & ~O_DIRECT) == 0;
}

static recsort_status fail_file(const rf_file *file, const char *what, int number,
                                recsort_error *error)
{
  return rf_fail(error, RECSORT_IO_ERROR, "%.300s: a temporary file could not be %s: %s",
                 file->folder, what, strerror(number));
}

/* ---- Reading ---- */

recsort_status rf_store_read(rf_store *store, const rf_extent *run, uint64_t offset, size_t size,
                             void *memory, void **at, recsort_error *error)
{
  rf_file *const file = &store->files[run->file];
  const uint64_t begin = run->begin + offset, first = begin / RF_SECTOR * RF_SECTOR;
  const uint64_t last = up(begin + size);
  *at = (char *)memory + (begin - first);
  for (uint64_t place = first; place < last;) {
    const ssize_t got =
        pread(file->fd, (char *)memory + (place - first), (size_t)(last - place), (off_t)place);
    if (got > 0) {
      place += (uint64_t)got;
    } else if (got == 0) {
      return fail_file(file, "read", EIO, error); /* it is shorter than what was written */
    } else if (errno != EINTR) {
      return fail_file(file, "read", errno, error);
    }
  }
  if (!file->direct)
    posix_fadvise(file->fd, (off_t)first, (off_t)(last - first), POSIX_FADV_DONTNEED);
  atomic_fetch_add(&store->read, last - first);
  return RECSORT_OK;
}

void rf_store_drop(rf_store *store, const rf_extent *run, uint64_t size)
{
  const uint64_t whole = size < run->size ? size / RF_SECTOR * RF_SECTOR : up(size);
  if (whole == 0) return;
  (void)fallocate(store->files[run->file].fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)run->begin, (off_t)whole);
}

/* ---- Writing ---- */

static size_t room_of(size_t piece)
{
  return (size_t)up(piece) + RF_SECTOR;
}

uint64_t rf_writer_size(size_t piece)
{
  return 2 * (uint64_t)room_of(piece);
}

bool rf_writer_open(rf_writer *writer, size_t piece)
{
  *writer = (rf_writer){.piece = piece};
  writer->memory = rf_map((size_t)rf_writer_size(piece));
  writer->buffer[0] = writer->memory;
  writer->buffer[1] = writer->memory + room_of(piece);
  return writer->memory != NULL;
}

void rf_writer_close(rf_writer *writer)
{
  rf_task_end(&writer->task);
  if (writer->memory != NULL) rf_unmap(writer->memory, (size_t)rf_writer_size(writer->piece));
  writer->memory = NULL;
}

void rf_writer_begin(rf_writer *writer, rf_file *file)
{
  writer->file = file;
  writer->begin = file->end;
  writer->size = 0;
  writer->held = 0;
  writer->failure = 0;
}

void *rf_writer_room(const rf_writer *writer)
{
  return writer->buffer[writer->filling] + writer->held;
}

/* Writes the buffer that is not filled. */
static void write_buffer(void *context)
{
  rf_writer *const writer = context;
  rf_file *const file = writer->file;
  const unsigned char *const from = writer->buffer[!writer->filling];
  const uint64_t begin = file->end;
  for (size_t done = 0; done < writer->writing;) {
    const ssize_t put =
        pwrite(file->fd, from + done, writer->writing - done, (off_t)(begin + done));
    if (put > 0) {
      done += (size_t)put;
    } else if (put < 0 && errno != EINTR && !goes_without_direct(file)) {
      writer->failure = errno;
      return;
    }
  }
  file->end += writer->writing;
  if (file->direct) return;
  /* begins to write this piece, and drops the one before, which is on the disk by now */
  sync_file_range(file->fd, (off_t)begin, (off_t)writer->writing, SYNC_FILE_RANGE_WRITE);
  const uint64_t before =
      begin - writer->begin < writer->piece ? begin - writer->begin : up(writer->piece);
  sync_file_range(file->fd, (off_t)(begin - before), (off_t)before,
                  SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
  posix_fadvise(file->fd, (off_t)(begin - before), (off_t)before, POSIX_FADV_DONTNEED);
}

/* Begins to write `size` bytes of the buffer, and makes the other one the next to be filled. */
static bool turn(rf_writer *writer, size_t size, size_t held)
{
  rf_task_end(&writer->task);
  if (writer->failure != 0) return false;
  const unsigned char *const from = writer->buffer[writer->filling];
  writer->filling = !writer->filling;
  memcpy(writer->buffer[writer->filling], from + size, held);
  writer->held = held;
  writer->writing = size;
  if (size > 0) rf_task_begin(&writer->task, write_buffer, writer);
  return true;
}

bool rf_writer_put(rf_writer *writer, size_t size)
{
  const size_t all = writer->held + size, whole = all / RF_SECTOR * RF_SECTOR;
  writer->size += size;
  writer->held = all;
  return whole == 0 || turn(writer, whole, all - whole);
}

bool rf_writer_add(rf_writer *writer, const void *data, size_t size)
{
  const unsigned char *from = data;
  for (size_t part; size > 0; size -= part, from += part) {
    part = size < writer->piece - writer->held ? size : writer->piece - writer->held;
    memcpy(rf_writer_room(writer), from, part);
    writer->held += part;
    writer->size += part;
    if (writer->held == writer->piece && !rf_writer_put(writer, 0)) return false;
  }
  return true;
}

bool rf_writer_end(rf_writer *writer, bool pads)
{
  size_t size = writer->held;
  if (size > 0 && pads) {
    memset(writer->buffer[writer->filling] + size, 0, up(size) - size);
    size = (size_t)up(size);
  }
  rf_task_end(&writer->task);
  if (writer->file->direct && size % RF_SECTOR != 0) { /* such a write cannot be direct */
    const int flags = fcntl(writer->file->fd, F_GETFL);
    writer->file->direct = false;
    if (flags >= 0) fcntl(writer->file->fd, F_SETFL, flags & ~O_DIRECT);
  }
  if (size > 0 && !turn(writer, size, 0)) return false;
  rf_task_end(&writer->task);
  return writer->failure == 0;
}

/* ---- Runs ---- */

recsort_status rf_store_begin(rf_store *store, rf_writer *writer, recsort_error *error)
{
  rf_file *const file = &store->files[store->next];
  if (!make(file)) return fail_file(file, "made", errno, error);
  rf_writer_begin(writer, file);
  store->next = (store->next + 1) % store->file_count;
  return RECSORT_OK;
}

recsort_status rf_store_fail(const rf_writer *writer, recsort_error *error)
{
  const int failure = writer->failure;
  if (failure != ENOSPC && failure != EDQUOT && failure != EFBIG)
    return fail_file(writer->file, "written", failure, error);
  return rf_fail(error, RECSORT_IO_ERROR,
                 "%.300s: no room for a temporary file beyond %" PRIu64
                 " MiB: %s; name another folder",
                 writer->file->folder, writer->file->end >> 20, strerror(failure));
}

recsort_status rf_store_end(rf_store *store, rf_writer *writer, rf_extent *run,
                            recsort_error *error)
{
  if (!rf_writer_end(writer, true)) return rf_store_fail(writer, error);
  *run = (rf_extent){(size_t)(writer->file - store->files), writer->begin, writer->size};
  store->written += writer->file->end - writer->begin;
  return RECSORT_OK;
}
