/* store.c - see store.h. */
#include "store.h"

#include "available.h"
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

/* A file without a name, or one that loses its name at once. */
static int make_file(const char *path)
{
  rf_temporary temporary;
  const int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC); /* it need not be readable */
  if (folder < 0) return -1;
  const bool made = rf_temporary_open(&temporary, folder, "temporary", 0600, NULL);
  const int error = errno;
  if (made) rf_temporary_remove(&temporary);
  close(folder);
  errno = error;
  return made ? temporary.fd : -1;
}

static bool make(rf_file *file)
{
  if (file->fd >= 0) return true;
  file->fd = make_file(file->folder);
  if (file->fd < 0) return false;
  const int flags = fcntl(file->fd, F_GETFL);
  file->direct = flags >= 0 && fcntl(file->fd, F_SETFL, flags | O_DIRECT) == 0;
  file->in_memory = rf_in_memory(file->folder);
  return true;
}

/* A file system may allow O_DIRECT and then refuse an access by it. `direct`: what the file was
 * before the access. */
static bool goes_without_direct(rf_file *file, bool direct)
{
  if (errno != EINVAL || !direct) return false;
  const int flags = fcntl(file->fd, F_GETFL);
  if (flags < 0 || fcntl(file->fd, F_SETFL, flags & ~O_DIRECT) != 0) return false;
  file->direct = false;
  return true;
}

static recsort_status fail_file(const rf_file *file, const char *what, int number,
                                recsort_error *error)
{
  return rf_fail(error, RECSORT_IO_ERROR, "%.300s: a temporary file could not be %s: %s",
                 file->folder, what, strerror(number));
}

recsort_status rf_store_fail_changed(const rf_store *store, const rf_extent *run,
                                     recsort_error *error)
{
  return rf_fail(error, RECSORT_IO_ERROR,
                 "%.300s: a temporary file does not hold what was written to it",
                 store->files[run->file].folder);
}

/* ---- Checksums ---- */

enum { LEAST_PART = 64 << 10 };

/* Adds bytes up to the end of their part, at most `size`. Returns how many. */
static size_t add_to_part(rf_checksum *sum, uint64_t part, const unsigned char *bytes, size_t size)
{
  const uint64_t left = part - sum->size % part;
  if (left < size) size = (size_t)left;
  rf_checksum_add(sum, bytes, size);
  return size;
}

/* Keeps the checksums of bytes that are written. */
static void keep_sums(rf_sums *sums, rf_checksum *sum, const unsigned char *bytes, size_t size)
{
  for (size_t part; size > 0; bytes += part, size -= part) {
    if (sum->size == RF_PARTS * sums->part) { /* every second one stays */
      for (size_t i = 0; i < RF_PARTS / 2; i++)
        sums->sums[i] = sums->sums[2 * i + 1];
      sums->part *= 2;
    }
    part = add_to_part(sum, sums->part, bytes, size);
    sums->sums[(sum->size - 1) / sums->part] = rf_checksum_of(sum);
  }
}

/* Compares those of bytes that were read. */
static bool are_same(const rf_extent *run, rf_checksum *sum, const unsigned char *bytes,
                     size_t size)
{
  const rf_sums *const sums = &run->sums;
  bool same = true;
  for (size_t part; size > 0; bytes += part, size -= part) {
    part = add_to_part(sum, sums->part, bytes, size);
    if (rf_store_rest(run, sum) == 0)
      same &= sums->sums[(sum->size - 1) / sums->part] == rf_checksum_of(sum);
  }
  return same;
}

uint64_t rf_store_rest(const rf_extent *run, const rf_checksum *sum)
{
  const uint64_t part = run->sums.part, rest = sum->size % part, left = run->size - sum->size;
  return rest == 0 ? 0 : left < part - rest ? left : part - rest;
}

/* ---- Reading ---- */

int rf_file_read(rf_file *file, uint64_t begin, size_t size, void *memory, void **at, size_t *got)
{
  const uint64_t first = begin / RF_SECTOR * RF_SECTOR, last = up(begin + size);
  uint64_t place = first;
  *at = (char *)memory + (begin - first);
  while (place < last) {
    const bool direct = file->direct;
    const ssize_t part =
        pread(file->fd, (char *)memory + (place - first), (size_t)(last - place), (off_t)place);
    if (part == 0) break;
    if (part < 0 && errno != EINTR && !goes_without_direct(file, direct)) return errno;
    if (part > 0) place += (uint64_t)part;
  }
  if (!file->direct)
    posix_fadvise(file->fd, (off_t)first, (off_t)(last - first), POSIX_FADV_DONTNEED);
  const uint64_t read = place > begin ? place - begin : 0;
  *got = read < size ? (size_t)read : size;
  return 0;
}

recsort_status rf_store_read(rf_store *store, const rf_extent *run, uint64_t offset, size_t size,
                             void *memory, void **at, recsort_error *error)
{
  rf_file *const file = &store->files[run->file];
  size_t got;
  const int failure = rf_file_read(file, run->begin + offset, size, memory, at, &got);
  /* fewer: it is shorter than what was written */
  if (failure != 0 || got < size)
    return fail_file(file, "read", failure != 0 ? failure : EIO, error);
  atomic_fetch_add(&store->read, size);
  return RECSORT_OK;
}

recsort_status rf_store_next(rf_store *store, const rf_extent *run, rf_checksum *sum, size_t size,
                             void *memory, void **at, recsort_error *error)
{
  const recsort_status status = rf_store_read(store, run, sum->size, size, memory, at, error);
  if (status || are_same(run, sum, *at, size)) return status;
  return rf_store_fail_changed(store, run, error);
}

bool rf_store_has_room(const rf_store *store, size_t file, uint64_t size)
{
  return rf_space_available(store->files[file].folder, 0) >= size;
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
  *writer = (rf_writer){.piece = piece, .memory = rf_map(2 * room_of(piece))};
  if (writer->memory == NULL) return false;
  writer->buffers[0] = writer->memory;
  writer->buffers[1] = writer->memory + room_of(piece);
  return true;
}

void rf_writer_close(rf_writer *writer)
{
  if (writer->memory == NULL) return;
  rf_task_end(&writer->task);
  rf_unmap(writer->memory, 2 * room_of(writer->piece));
  writer->memory = NULL;
}

void rf_writer_begin(rf_writer *writer, rf_file *file)
{
  writer->file = file;
  writer->begin = file->end;
  writer->size = 0;
  writer->held = 0;
  writer->sums.part = 0;
}

void *rf_writer_room(const rf_writer *writer)
{
  return writer->buffers[0] + writer->held;
}

/* Counts bytes that were put into the buffer. */
static void pass(rf_writer *writer, size_t size)
{
  if (writer->sums.part > 0) keep_sums(&writer->sums, &writer->sum, rf_writer_room(writer), size);
  writer->held += size;
  writer->size += size;
}

/* Writes the pages of this piece, and drops those of the one before, which is on the disk by now.
 */
static void drop_pages(const rf_write *write, size_t piece)
{
  const int fd = write->file->fd;
  const uint64_t before = write->at < up(piece) ? write->at : up(piece), at = write->at - before;
  sync_file_range(fd, (off_t)write->at, (off_t)write->size, SYNC_FILE_RANGE_WRITE);
  sync_file_range(fd, (off_t)at, (off_t)before,
                  SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
  posix_fadvise(fd, (off_t)at, (off_t)before, POSIX_FADV_DONTNEED);
}

/* Returns an error number. `piece`: the most that is written at a time. */
static int write_all(const rf_write *write, size_t piece)
{
  for (size_t done = 0; done < write->size;) {
    const bool direct = write->file->direct;
    const ssize_t put =
        pwrite(write->file->fd, write->from + done, write->size - done, (off_t)(write->at + done));
    if (put > 0) {
      done += (size_t)put;
    } else if (put < 0 && errno != EINTR && !goes_without_direct(write->file, direct)) {
      return errno;
    }
  }
  if (!write->file->direct) drop_pages(write, piece);
  return 0;
}

static void write_task(void *context)
{
  rf_writer *const writer = context;
  writer->failure = write_all(&writer->write, writer->piece);
}

/* Begins to write the first `size` bytes of the buffer, once the other one is written. Moves the
 * others there; it is filled from now on. */
static bool turn(rf_writer *writer, size_t size)
{
  unsigned char *const full = writer->buffers[0], *const next = writer->buffers[1];
  if (!rf_writer_wait(writer)) return false;
  writer->held -= size;
  memcpy(next, full + size, writer->held);
  writer->buffers[0] = next;
  writer->buffers[1] = full;
  writer->write = (rf_write){writer->file, writer->file->end, full, size};
  writer->file->end += size;
  rf_task_begin(&writer->task, write_task, writer);
  return true;
}

bool rf_writer_put(rf_writer *writer, size_t size)
{
  pass(writer, size);
  const size_t whole = writer->held / RF_SECTOR * RF_SECTOR;
  return whole == 0 || turn(writer, whole);
}

bool rf_writer_add(rf_writer *writer, const void *data, size_t size)
{
  const unsigned char *from = data;
  const size_t full = (size_t)up(writer->piece); /* a piece may have less than a sector */
  for (size_t part; size > 0; size -= part, from += part) {
    part = size < full - writer->held ? size : full - writer->held;
    memcpy(rf_writer_room(writer), from, part);
    pass(writer, part);
    if (writer->held == full && !rf_writer_put(writer, 0)) return false;
  }
  return true;
}

bool rf_writer_wait(rf_writer *writer)
{
  rf_task_end(&writer->task);
  return writer->failure == 0;
}

bool rf_writer_end(rf_writer *writer, bool pads)
{
  rf_file *const file = writer->file;
  if (writer->held == 0) return true;
  if (pads) {
    memset(rf_writer_room(writer), 0, (size_t)up(writer->held) - writer->held);
    writer->held = (size_t)up(writer->held);
  }
  if (writer->held % RF_SECTOR != 0) { /* such a write cannot be direct */
    if (!rf_writer_wait(writer)) return false;
    const int flags = fcntl(file->fd, F_GETFL);
    if (file->direct && flags >= 0) fcntl(file->fd, F_SETFL, flags & ~O_DIRECT);
    file->direct = false;
  }
  return turn(writer, writer->held);
}

/* ---- Runs ---- */

/* Takes the files in turn, and passes over a file whose folder has no room for `size` bytes. NULL
 * if the file cannot be made. */
static rf_file *next_file(rf_store *store, uint64_t size, recsort_error *error)
{
  size_t tried = 0; /* if none has room, the write says so */
  while (tried + 1 < store->file_count && !rf_store_has_room(store, store->next, size)) {
    store->next = (store->next + 1) % store->file_count;
    tried++;
  }
  rf_file *const file = &store->files[store->next];
  store->next = (store->next + 1) % store->file_count;
  if (make(file)) return file;
  (void)fail_file(file, "made", errno, error);
  return NULL;
}

static recsort_status fail_write(const rf_write *write, int failure, recsort_error *error)
{
  if (failure != ENOSPC && failure != EDQUOT && failure != EFBIG)
    return fail_file(write->file, "written", failure, error);
  return rf_fail(error, RECSORT_IO_ERROR,
                 "%.300s: no room for a temporary file beyond %" PRIu64
                 " MiB: %s; name another folder",
                 write->file->folder, write->at >> 20, strerror(failure));
}

void rf_passed_open(rf_passed *passed)
{
  pthread_mutex_init(&passed->mutex, NULL);
  pthread_cond_init(&passed->changed, NULL);
}

void rf_passed_close(rf_passed *passed)
{
  pthread_cond_destroy(&passed->changed);
  pthread_mutex_destroy(&passed->mutex);
}

void rf_passed_set(rf_passed *passed, uint64_t size)
{
  pthread_mutex_lock(&passed->mutex);
  passed->size = size;
  pthread_cond_signal(&passed->changed);
  pthread_mutex_unlock(&passed->mutex);
}

uint64_t rf_passed_wait(rf_passed *passed, uint64_t least)
{
  pthread_mutex_lock(&passed->mutex);
  while (passed->size < least)
    pthread_cond_wait(&passed->changed, &passed->mutex);
  const uint64_t size = passed->size;
  pthread_mutex_unlock(&passed->mutex);
  return size;
}

/* Some pieces of each run, so that it is filled again soon. */
static uint64_t piece_of(uint64_t size)
{
  enum { PIECES = 8, LEAST = 64 << 10, MOST = 4 << 20 };
  const uint64_t piece = up(size / PIECES);
  return piece < LEAST ? LEAST : piece > MOST ? MOST : piece;
}

recsort_status rf_store_write(rf_store *store, unsigned char *memory, uint64_t size,
                              rf_passed *passed, rf_extent *run, recsort_error *error)
{
  rf_file *const file = next_file(store, size, error);
  if (file == NULL) return RECSORT_IO_ERROR;
  const uint64_t all = up(size), piece = piece_of(size);
  rf_checksum sum = {0};
  *run = (rf_extent){(size_t)(file - store->files), file->end, size, {.part = LEAST_PART}};
  memset(memory + size, 0, (size_t)(all - size));
  for (uint64_t done = 0, part; done < all; done += part) {
    part = all - done < piece ? all - done : piece;
    const rf_write write = {file, file->end, memory + done, (size_t)part};
    keep_sums(&run->sums, &sum, write.from, (size_t)(size - done < part ? size - done : part));
    const int failure = write_all(&write, (size_t)piece);
    if (failure != 0) return fail_write(&write, failure, error);
    file->end += part;
    if (passed != NULL) rf_passed_set(passed, done + part);
  }
  store->written += all;
  return RECSORT_OK;
}

recsort_status rf_store_begin(rf_store *store, rf_writer *writer, uint64_t size,
                              recsort_error *error)
{
  rf_file *const file = next_file(store, size, error);
  if (file == NULL) return RECSORT_IO_ERROR;
  rf_writer_begin(writer, file);
  writer->sums.part = LEAST_PART;
  writer->sum = (rf_checksum){0};
  return RECSORT_OK;
}

recsort_status rf_store_fail(const rf_writer *writer, recsort_error *error)
{
  return fail_write(&writer->write, writer->failure, error);
}

recsort_status rf_store_end(rf_store *store, rf_writer *writer, rf_extent *run,
                            recsort_error *error)
{
  if (!rf_writer_end(writer, true)) return rf_store_fail(writer, error);
  *run =
      (rf_extent){(size_t)(writer->file - store->files), writer->begin, writer->size, writer->sums};
  store->written += writer->file->end - writer->begin;
  return RECSORT_OK;
}

recsort_status rf_store_wait(rf_writer *writer, recsort_error *error)
{
  return rf_writer_wait(writer) ? RECSORT_OK : rf_store_fail(writer, error);
}
