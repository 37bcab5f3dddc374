/* output.c - replaces a file in one step, or not at all. */
#include "support/output.h"

#include "files/available.h"
#include "support/message.h"
#include "support/progress.h"
#include "support/signals.h"
#include "support/team.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Write-back is started after so many bytes, so that the fsync at the end is short. */
static const uint64_t write_back_size = 16 << 20;

/* From this many threads on, filling a mapping is faster than writing a file on tmpfs. */
enum { least_threads = 4 };

/* ---- Opening ---- */

/* Opens a link in /proc to an open file, such as /dev/fd/3. Our own descriptor is written at its
 * current offset, as by a shell; another process's file can only be reopened, without truncating
 * it. */
static int open_descriptor(const char *link, const struct stat *status)
{
  const char *const slash = strrchr(link, '/');
  struct stat own;
  uint64_t number;
  if (!tool_parse_count(slash != NULL ? slash + 1 : link, INT_MAX, &number) ||
      fstat((int)number, &own) != 0 || own.st_dev != status->st_dev ||
      own.st_ino != status->st_ino) {
    return open(link, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
  }
  const int flags = fcntl((int)number, F_GETFL);
  if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) {
    errno = EBADF;
    return -1;
  }
  return fcntl((int)number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/* Opens the output. False, with errno, on failure. */
static bool open_path(tool_output *output, const char *path)
{
  rf_replacement *const file = &output->file;
  if (!rf_replacement_find(file, path)) return false;
  if (file->exists && file->in_proc) {
    output->fd = open_descriptor(file->target, &file->old);
  } else if (file->exists && !S_ISREG(file->old.st_mode)) { /* fails for a folder */
    output->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  } else {
    const bool opened = rf_replacement_open(file, tool_catch_signals());
    output->fd = file->fd;
    return opened;
  }
  return output->fd >= 0;
}

static void report(const tool_output *output)
{
  if (errno == EBUSY && tool_output_is_file(output)) {
    tool_error("%s: it is a mount point, which no other file can replace; mount its folder instead",
               output->name);
  } else {
    tool_error_errno(output->name, errno);
  }
}

static tool_output no_output(const char *name)
{
  tool_output output = TOOL_NO_OUTPUT;
  output.name = name;
  return output;
}

bool tool_output_open(tool_output *output, const char *path)
{
  *output = no_output(tool_output_name(path));
  signal(SIGXFSZ, SIG_IGN); /* so that a write over the limit just fails */
  if (tool_is_standard(path) || strcmp(path, "/dev/stdout") == 0) {
    output->fd = STDOUT_FILENO;
    return true;
  }
  if (open_path(output, path)) return true;
  report(output);
  tool_output_discard(output);
  return false;
}

/* The same file, or the same disk. */
static bool is_same(const struct stat *a, const struct stat *b)
{
  if (S_ISBLK(a->st_mode) && S_ISBLK(b->st_mode)) return a->st_rdev == b->st_rdev;
  return S_ISREG(a->st_mode) && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool get_status(const char *path, struct stat *status)
{
  return (tool_is_standard(path) ? fstat(STDIN_FILENO, status) : stat(path, status)) == 0;
}

bool tool_output_open_apart(tool_output *output, const char *path, char *const *inputs,
                            size_t input_count)
{
  static char *const standard[] = {NULL};
  struct stat own, other;
  if (!tool_output_open(output, path)) return false;
  if (tool_output_is_file(output) || fstat(output->fd, &own) != 0) return true;
  if (input_count == 0) {
    inputs = standard;
    input_count = 1;
  }
  for (size_t i = 0; i < input_count; i++) {
    if (!get_status(inputs[i], &other) || !is_same(&own, &other)) continue;
    tool_error("%s: it is an input, and the output would overwrite it while it is read; to replace "
               "it, name it: --output FILE",
               tool_input_name(inputs[i]));
    tool_output_discard(output);
    return false;
  }
  return true;
}

/* ---- Writing ---- */

static bool is_in_memory(int fd)
{
  struct statfs system;
  return fstatfs(fd, &system) == 0 && system.f_type == TMPFS_MAGIC;
}

static bool failed(const tool_output *output)
{
  report(output);
  return false;
}

void tool_output_bypass_cache(tool_output *output)
{
  enum { PIECE = 512 << 10 };
  const size_t held = (size_t)(output->written % RF_SECTOR);
  const int flags = fcntl(output->fd, F_GETFL);
  if (!tool_output_is_file(output) || is_in_memory(output->fd) || flags < 0 ||
      fcntl(output->fd, F_SETFL, flags | O_DIRECT) != 0) {
    return;
  }
  output->direct = (rf_file){.fd = output->fd, .end = output->written - held, .direct = true};
  if (rf_writer_open(&output->writer, PIECE)) {
    rf_writer_begin(&output->writer, &output->direct);
    /* a sector that has been written in part is written again */
    const bool again = held == 0 || pread(output->fd, rf_writer_room(&output->writer), RF_SECTOR,
                                          (off_t)output->direct.end) == (ssize_t)held;
    output->writer.held = held;
    if (again) return;
    rf_writer_close(&output->writer);
  }
  fcntl(output->fd, F_SETFL, flags);
}

/* Writes what is left, and makes the file one that is written as others are. */
static bool end_direct(tool_output *output)
{
  if (output->writer.memory == NULL) return true;
  const bool written = rf_writer_end(&output->writer, false) && rf_writer_wait(&output->writer);
  const int failure = output->writer.failure, flags = fcntl(output->fd, F_GETFL);
  rf_writer_close(&output->writer);
  if (flags >= 0) fcntl(output->fd, F_SETFL, flags & ~O_DIRECT);
  errno = failure;
  return written || failed(output);
}

bool tool_output_write(tool_output *output, const void *data, size_t size)
{
  const unsigned char *from = data;
  if (output->writer.memory != NULL) {
    output->written += size;
    if (rf_writer_add(&output->writer, data, size)) return true;
    errno = output->writer.failure;
    return failed(output);
  }
  while (size > 0) {
    const ssize_t done = write(output->fd, from, size < (1u << 30) ? size : 1u << 30);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return failed(output);
    from += done;
    size -= (size_t)done;
    output->written += (uint64_t)done;
  }
  const uint64_t pending_bytes = output->written - output->write_back;
  if (tool_output_is_file(output) && pending_bytes >= write_back_size) {
    sync_file_range(output->fd, (off_t)output->write_back, (off_t)pending_bytes,
                    SYNC_FILE_RANGE_WRITE);
    output->write_back = output->written;
  }
  return true;
}

static bool write_at(int fd, const unsigned char *from, size_t size, uint64_t offset)
{
  while (size > 0) {
    const ssize_t done = pwrite(fd, from, size, (off_t)offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    from += done;
    size -= (size_t)done;
    offset += (uint64_t)done;
  }
  return true;
}

/* Moves the file position behind what was written at explicit offsets. */
static bool seek_end(tool_output *output)
{
  return lseek(output->fd, (off_t)output->written, SEEK_SET) >= 0 || failed(output);
}

bool tool_output_overwrite(tool_output *output, const void *data, size_t size)
{
  return end_direct(output) && (write_at(output->fd, data, size, 0) || failed(output)) &&
         seek_end(output);
}

bool tool_output_read(tool_output *output, uint64_t offset, void *to, size_t size)
{
  unsigned char *at = to;
  if (!end_direct(output)) return false;
  while (size > 0) {
    const ssize_t got = pread(output->fd, at, size, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO; /* somebody has made it shorter */
    if (got <= 0) return failed(output);
    at += got;
    size -= (size_t)got;
    offset += (uint64_t)got;
  }
  return true;
}

bool tool_output_truncate(tool_output *output, uint64_t size)
{
  if (!end_direct(output)) return false;
  if (ftruncate(output->fd, (off_t)size) != 0) return failed(output);
  output->written = size;
  output->write_back = size < output->write_back ? size : output->write_back;
  return seek_end(output);
}

bool tool_output_write_byte(tool_output *output, unsigned char value, uint64_t size)
{
  unsigned char bytes[1 << 14];
  if (size != 0) memset(bytes, value, size < sizeof bytes ? (size_t)size : sizeof bytes);
  for (size_t part; size > 0; size -= part) {
    part = size < sizeof bytes ? (size_t)size : sizeof bytes;
    if (!tool_output_write(output, bytes, part)) return false;
  }
  return true;
}

/* ---- Space ---- */

void tool_output_fill_by(tool_output *output, unsigned threads)
{
  output->mappable =
      threads >= least_threads && tool_output_is_file(output) && is_in_memory(output->fd);
  output->reservation.fd = output->fd;
}

/* Space on tmpfs is memory. If there is too little, reserves nothing: reading may refuse the
 * job. */
void tool_output_reserve(tool_output *output, uint64_t size)
{
  if (output->mappable && size <= rf_memory_available())
    tool_reservation_begin(&output->reservation, size);
}

static size_t page_size(void)
{
  return (size_t)sysconf(_SC_PAGESIZE);
}

static bool map_space(tool_output *output, size_t size)
{
  const size_t before = output->written % page_size();
  if (size > SIZE_MAX - before) return false;
  void *const mapping = mmap(NULL, before + size, PROT_READ | PROT_WRITE, MAP_SHARED, output->fd,
                             (off_t)(output->written - before));
  if (mapping == MAP_FAILED) return false;
  output->mapping = mapping;
  output->mapping_size = before + size;
  return true;
}

/* Reports at once an error that a write would also meet. */
bool tool_output_map(tool_output *output, size_t size, void **at)
{
  *at = NULL;
  if (!output->mappable || size == 0) return true;
  const int error = tool_reservation_complete(&output->reservation, output->written + size);
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    errno = error;
    return failed(output);
  }
  if (error != 0 || !map_space(output, size)) return true;
  *at = (unsigned char *)output->mapping + (output->mapping_size - size);
  return true;
}

static void unmap(tool_output *output)
{
  if (output->mapping != NULL) munmap(output->mapping, output->mapping_size);
  output->mapping = NULL;
}

bool tool_output_filled(tool_output *output)
{
  const size_t page = page_size();
  output->written += output->mapping_size - output->written % page;
  unmap(output);
  return seek_end(output);
}

/* ---- Pieces ---- */

bool tool_output_is_file(const tool_output *output)
{
  return output->file.folder >= 0;
}

bool tool_output_share(tool_output *output, char *path, size_t size)
{
  if (!rf_replacement_folder(&output->file, path, size) ||
      !rf_temporary_name(&output->file.temporary)) {
    return failed(output);
  }
  const size_t length = strlen(path), left = size - length;
  if ((size_t)snprintf(path + length, left, "/%s", output->file.temporary.name) < left) return true;
  errno = ENAMETOOLONG;
  return failed(output);
}

/* Writes one piece through `buffer`. Returns its bytes, or 0 with errno. */
static size_t write_piece(const tool_output *output, const tool_pieces *pieces, uint64_t piece,
                          void *buffer)
{
  const uint64_t offset = output->written + piece * pieces->size;
  size_t size;
  pieces->fill(pieces->context, piece, buffer, &size);
  if (!write_at(output->fd, buffer, size, offset)) return 0;
  sync_file_range(output->fd, (off_t)offset, (off_t)size, SYNC_FILE_RANGE_WRITE);
  return size;
}

static uint64_t piece_count(const tool_pieces *pieces)
{
  return (pieces->total + pieces->size - 1) / pieces->size;
}

typedef struct piece_job {
  const tool_output *output;
  const tool_pieces *pieces;
  unsigned char *at; /* the mapping; NULL: through buffers */
  void **buffers;    /* for each slot, allocated on demand */
  atomic_uint_fast64_t written;
  atomic_int error;
} piece_job;

static void fill_piece_of_mapping(void *argument, size_t piece, unsigned slot)
{
  const piece_job *const job = argument;
  size_t size;
  job->pieces->fill(job->pieces->context, piece, job->at + piece * job->pieces->size, &size);
  if (slot == 0) tool_progress_update(piece);
}

static bool fill_mapping(tool_output *output, const tool_pieces *pieces, unsigned char *at)
{
  piece_job job = {.output = output, .pieces = pieces, .at = at};
  tool_team_each(piece_count(pieces), fill_piece_of_mapping, &job);
  return tool_output_filled(output);
}

static void write_piece_through_buffer(void *argument, size_t piece, unsigned slot)
{
  piece_job *const job = argument;
  void **const buffer = &job->buffers[slot];
  if (job->error != 0) return;
  if (*buffer == NULL) *buffer = malloc(job->pieces->size);
  const size_t size = *buffer != NULL ? write_piece(job->output, job->pieces, piece, *buffer) : 0;
  if (size == 0) job->error = *buffer != NULL ? errno : ENOMEM;
  job->written += size;
  if (slot == 0) tool_progress_update(job->written / job->pieces->size);
}

static bool write_through_buffers(tool_output *output, const tool_pieces *pieces)
{
  const unsigned slots = tool_team_size();
  piece_job job = {.output = output, .pieces = pieces, .buffers = calloc(slots, sizeof(void *))};
  if (job.buffers != NULL)
    tool_team_each(piece_count(pieces), write_piece_through_buffer, &job);
  else
    job.error = ENOMEM;
  for (unsigned s = 0; s < slots && job.buffers != NULL; s++)
    free(job.buffers[s]);
  free(job.buffers);
  errno = job.error;
  if (job.error != 0) return failed(output);
  output->written += job.written;
  output->write_back = output->written;
  return seek_end(output);
}

bool tool_output_write_pieces(tool_output *output, const tool_pieces *pieces)
{
  void *at;
  if (!tool_output_map(output, pieces->total, &at)) return false;
  return at != NULL ? fill_mapping(output, pieces, at) : write_through_buffers(output, pieces);
}

/* ---- The end ---- */

/* Truncates the file, as more space may have been reserved than was written. */
static bool give_back_room(tool_output *output)
{
  tool_reservation_stop(&output->reservation);
  return !output->mappable || ftruncate(output->fd, (off_t)output->written) == 0;
}

/* Puts the new file in place. */
static bool replace(tool_output *output)
{
  if (!give_back_room(output)) return failed(output);
  if (rf_replacement_commit(&output->file)) return true;
  if (!output->file.unsettled) return failed(output);
  tool_error("%s: it is complete, but may be the old one again after a crash: %s", output->name,
             strerror(errno));
  return false;
}

/* Ends what is open. False if the file could not be closed. */
static bool end(tool_output *output)
{
  tool_reservation_stop(&output->reservation);
  rf_writer_close(&output->writer);
  unmap(output);
  const bool closed = output->fd == output->file.fd || close(output->fd) == 0 || errno == EINTR;
  const bool ended = rf_replacement_close(&output->file);
  *output = no_output(output->name);
  return closed && ended;
}

bool tool_output_commit(tool_output *output)
{
  const bool done = end_direct(output) && (!tool_output_is_file(output) || replace(output));
  const bool closed = end(output);
  return done && (closed || failed(output));
}

void tool_output_discard(tool_output *output)
{
  if (output->fd == STDOUT_FILENO) output->fd = -1; /* it stays open */
  (void)end(output);
}
