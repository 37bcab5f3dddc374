/* output.c - replaces a file in one step, or not at all. */
#include "support/output.h"

#include "support/attributes.h"
#include "files/available.h"
#include "support/message.h"
#include "support/progress.h"
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

static char *join_link(const char *path, const char *link)
{
  const char *const slash = link[0] == '/' ? NULL : strrchr(path, '/');
  const size_t folder = slash != NULL ? (size_t)(slash - path) + 1 : 0;
  const size_t size = folder + strlen(link) + 1;
  char *const joined = malloc(size);
  if (joined == NULL) return NULL;
  memcpy(joined, path, folder);
  memcpy(joined + folder, link, size - folder);
  return joined;
}

/* True for links in /proc that lead to open files; their text is not a name that can be
 * followed. */
static bool is_in_proc(char *path)
{
  struct statfs system;
  char *const slash = strrchr(path, '/');
  if (slash == NULL) return statfs(".", &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
  const char first = slash[1];
  slash[1] = '\0';
  const bool found = statfs(path, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
  slash[1] = first;
  return found;
}

/* The file that a write to `path` would reach: the end of a chain of symbolic links, whether it
 * exists or not, or a link in /proc; then *in_proc is set. NULL, with errno, on failure. */
static char *follow_links(const char *path, bool *in_proc)
{
  char link[PATH_MAX];
  char *target = strdup(path);
  *in_proc = false;
  for (int depth = 0; target != NULL; depth++) {
    const ssize_t length = readlink(target, link, sizeof link - 1);
    if (length < 0) break;
    *in_proc = is_in_proc(target);
    if (*in_proc) break;
    link[length] = '\0';
    char *const next = depth < 40 ? join_link(target, link) : NULL;
    if (depth >= 40) errno = ELOOP;
    free(target);
    target = next;
  }
  return target;
}

/* Splits off the folder of `target` and opens it. `target` keeps the name. */
static int open_folder(char *target)
{
  char *const slash = strrchr(target, '/');
  if (*target == '\0') {
    errno = ENOENT;
    return -1;
  }
  if (slash == NULL) return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  char *const name = slash + 1;
  if (*name == '\0') {
    errno = EISDIR;
    return -1;
  }
  const char first = *name;
  *name = '\0'; /* "folder/" or "/" */
  const int folder = open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int error = errno;
  *name = first;
  memmove(target, name, strlen(name) + 1);
  errno = error;
  return folder;
}

static bool is_mount_point(const tool_output *output)
{
  struct statx status;
  return statx(output->folder, output->target, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE,
               &status) == 0 &&
         (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

static bool open_atomic(tool_output *output)
{
  /* a file without write permission must not be replaced either */
  if (output->replaces && faccessat(AT_FDCWD, output->name, W_OK, AT_EACCESS) != 0) return false;
  output->folder = open_folder(output->target);
  if (output->folder < 0) return false;
  if (output->replaces && is_mount_point(output)) {
    errno = EBUSY;
    return false;
  }
  /* only its owner may read it until it has the old file's mode */
  const mode_t mode = output->replaces ? 0600 : 0666;
  const bool opened = tool_temporary_open(&output->temporary, output->folder, output->target, mode);
  output->fd = output->temporary.fd;
  return opened;
}

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
  bool in_proc;
  const bool exists = stat(path, &output->old) == 0;
  if (!exists && errno != ENOENT) return false;
  output->target = follow_links(path, &in_proc);
  if (output->target == NULL) return false;
  if (exists && in_proc) {
    output->fd = open_descriptor(output->target, &output->old);
  } else if (exists && !S_ISREG(output->old.st_mode)) { /* fails for a folder */
    output->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  } else {
    output->replaces = exists;
    return open_atomic(output);
  }
  return output->fd >= 0;
}

static void report(const tool_output *output)
{
  if (errno == EBUSY && output->folder >= 0) {
    tool_error("%s: it is a mount point, which no other file can replace; mount its folder instead",
               output->name);
  } else {
    tool_error_errno(output->name, errno);
  }
}

bool tool_output_open(tool_output *output, const char *path)
{
  *output = (tool_output){.name = tool_output_name(path), .fd = -1, .folder = -1};
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
  if (rf_writer_open(&output->writer, PIECE, 2)) {
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
  const int failure = output->writer.failure;
  rf_writer_close(&output->writer);
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
  if (output->folder >= 0 && pending_bytes >= write_back_size) {
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
  return output->folder >= 0;
}

bool tool_output_share(tool_output *output, char *path, size_t size)
{
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", output->folder);
  const ssize_t length = readlink(link, path, size);
  if (length < 0 || !tool_temporary_name(&output->temporary)) return failed(output);
  const size_t left = size - (size_t)length;
  if ((size_t)snprintf(path + length, left, "/%s", output->temporary.name) < left) return true;
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

static bool sync_descriptor(int fd)
{
  int result;
  do {
    result = fsync(fd);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

/* Copies the current attributes of the old file, which may be gone. */
static bool keep_attributes(tool_output *output)
{
  if (!output->replaces) return true;
  if (stat(output->name, &output->old) != 0 && errno != ENOENT) return false;
  return tool_keep_attributes(output->fd, output->name, &output->old);
}

/* Truncates the file, as more space may have been reserved than was written. */
static bool give_back_room(tool_output *output)
{
  tool_reservation_stop(&output->reservation);
  return !output->mappable || ftruncate(output->fd, (off_t)output->written) == 0;
}

static bool commit_atomic(tool_output *output)
{
  if (!give_back_room(output)) return failed(output);
  if (!keep_attributes(output) || !sync_descriptor(output->fd)) return failed(output);
  if (!tool_temporary_replace(&output->temporary)) return failed(output);
  /* some file systems cannot sync a folder and return EINVAL */
  if (!sync_descriptor(output->folder) && errno != EINVAL) {
    tool_error("%s: it is complete, but may be the old one again after a crash: %s", output->name,
               strerror(errno));
    return false;
  }
  return true;
}

bool tool_output_commit(tool_output *output)
{
  bool done = end_direct(output) && (output->folder < 0 || commit_atomic(output));
  tool_temporary_remove(&output->temporary); /* while the open file is locked */
  const int fd = output->fd;
  output->fd = -1;
  if (close(fd) != 0 && done && errno != EINTR) done = failed(output);
  tool_output_discard(output);
  return done;
}

void tool_output_discard(tool_output *output)
{
  tool_temporary_remove(&output->temporary);
  tool_reservation_stop(&output->reservation);
  rf_writer_close(&output->writer);
  unmap(output);
  if (output->fd > STDERR_FILENO) close(output->fd);
  if (output->folder >= 0) close(output->folder);
  free(output->target);
  *output = (tool_output){.name = output->name, .fd = -1, .folder = -1};
}
