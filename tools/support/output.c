/* output.c - a new file takes the old one's place in one step, or not at all. */
#include "support/output.h"

#include "support/memory.h"
#include "support/message.h"
#include "support/progress.h"
#include "support/team.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* How much is written before the disk is set to work, so that the fsync at the end is short. */
static const uint64_t write_back_size = 16 << 20;

/* From how many threads on a mapping is filled sooner than a file on tmpfs is written. */
enum { least_threads = 4 };

/* ---- Signals ---- */

static const int fatal_signals[] = {SIGABRT, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGXCPU};
enum { fatal_signal_count = sizeof fatal_signals / sizeof fatal_signals[0] };

/* The output's temporary, for the handler; NULL: none. While `changing` is set its name and the
 * file are not yet in step. */
static const tool_output *_Atomic pending;
static atomic_bool changing;

/* The thread that changes something has these signals blocked, so this waits for another one. */
static void remove_pending(int number)
{
  while (atomic_load(&changing)) {
  }
  const tool_output *const output = atomic_load(&pending);
  if (output != NULL) unlinkat(output->folder, output->temporary, 0);
  raise(number); /* to its default action, now that SA_RESETHAND has restored that */
}

static void catch_signals(void)
{
  struct sigaction action = {.sa_handler = remove_pending, .sa_flags = (int)SA_RESETHAND};
  for (int i = 0; i < fatal_signal_count; i++) {
    struct sigaction old;
    if (sigaction(fatal_signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) {
      sigaction(fatal_signals[i], &action, NULL);
    }
  }
  signal(SIGXFSZ, SIG_IGN); /* a write over the limit then fails as any other */
}

static void begin_change(sigset_t *old)
{
  sigset_t blocked;
  sigemptyset(&blocked);
  for (int i = 0; i < fatal_signal_count; i++)
    sigaddset(&blocked, fatal_signals[i]);
  pthread_sigmask(SIG_BLOCK, &blocked, old);
  atomic_store(&changing, true);
}

static void end_change(const tool_output *temporary, const sigset_t *old)
{
  atomic_store(&pending, temporary);
  atomic_store(&changing, false);
  pthread_sigmask(SIG_SETMASK, old, NULL);
}

/* ---- Temporaries ---- */

typedef int (*create_call)(tool_output *output);

/* Makes a temporary under a new random name by `create`, which returns less than 0 on failure. */
static int create_named(tool_output *output, create_call create)
{
  int result;
  int error;
  sigset_t old;
  uint64_t attempt = (uint64_t)getpid(); /* should there be no random number */
  begin_change(&old);
  do {
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) number = attempt++;
    snprintf(output->temporary, sizeof output->temporary, ".recsort-%016" PRIx64, number);
    result = create(output);
    error = errno;
  } while (result < 0 && error == EEXIST);
  if (result < 0) output->temporary[0] = '\0';
  end_change(result < 0 ? NULL : output, &old);
  errno = error;
  return result;
}

static int open_temporary(tool_output *output)
{
  return openat(output->folder, output->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static void descriptor_path(const tool_output *output, char path[static 32])
{
  snprintf(path, 32, "/proc/self/fd/%d", output->fd);
}

static int link_temporary(tool_output *output)
{
  char path[32];
  descriptor_path(output, path);
  return linkat(AT_FDCWD, path, output->folder, output->temporary, AT_SYMLINK_FOLLOW);
}

static void remove_temporary(tool_output *output)
{
  sigset_t old;
  if (output->temporary[0] == '\0') return;
  begin_change(&old);
  unlinkat(output->folder, output->temporary, 0);
  output->temporary[0] = '\0';
  end_change(NULL, &old);
}

/* A file in the target's folder: without a name if the file system can, and can name it later. */
static int create_file(tool_output *output)
{
  output->fd = openat(output->folder, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
  if (output->fd >= 0) {
    char path[32];
    descriptor_path(output, path);
    if (access(path, F_OK) == 0) return 0;
    close(output->fd);
  } else if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT) {
    return -1;
  }
  output->fd = create_named(output, open_temporary);
  return output->fd < 0 ? -1 : 0;
}

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

/* Where a write to `path` would end up: the name that the last of a chain of symbolic links leads
 * to, whether it exists or not. NULL, with errno, if that cannot be told. */
static char *follow_links(const char *path)
{
  char link[PATH_MAX];
  char *target = strdup(path);
  for (int depth = 0; target != NULL; depth++) {
    const ssize_t length = readlink(target, link, sizeof link - 1);
    if (length < 0) break;
    link[length] = '\0';
    char *const next = depth < 40 ? join_link(target, link) : NULL;
    if (depth >= 40) errno = ELOOP;
    free(target);
    target = next;
  }
  return target;
}

/* Splits off the folder of `target` and opens it. What is left in `target` is the name. */
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

/* Owner and mode of the old file. An owner that cannot be given must not get set-id bits. */
static bool keep_mode(const tool_output *output, const struct stat *old)
{
  mode_t mode = old->st_mode & 07777;
  if (fchown(output->fd, old->st_uid, old->st_gid) != 0) {
    mode &= (mode_t) ~(S_ISUID | S_ISGID);
    if (fchown(output->fd, (uid_t)-1, old->st_gid) != 0) mode &= (mode_t)~S_ISGID;
  }
  return fchmod(output->fd, mode) == 0;
}

static bool open_atomic(tool_output *output, const char *path, const struct stat *old)
{
  /* A file that may not be written is not to be replaced either. */
  if (old != NULL && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0) return false;
  output->target = follow_links(path);
  if (output->target == NULL) return false;
  output->folder = open_folder(output->target);
  if (output->folder < 0) return false;
  catch_signals();
  if (create_file(output) != 0) return false;
  return old == NULL || keep_mode(output, old);
}

bool tool_output_open(tool_output *output, const char *path)
{
  struct stat old;
  bool opened;
  *output = (tool_output){.name = tool_output_name(path), .fd = -1, .folder = -1};
  if (tool_is_standard(path) || strcmp(path, "/dev/stdout") == 0) {
    signal(SIGXFSZ, SIG_IGN);
    output->fd = STDOUT_FILENO;
    return true;
  }
  if (stat(path, &old) != 0) {
    opened = errno == ENOENT && open_atomic(output, path, NULL);
  } else if (S_ISREG(old.st_mode)) {
    opened = open_atomic(output, path, &old);
  } else { /* of a folder this fails */
    output->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    opened = output->fd >= 0;
  }
  if (opened) return true;
  tool_error_errno(output->name, errno);
  tool_output_discard(output);
  return false;
}

/* ---- Writing ---- */

static bool failed(const tool_output *output)
{
  tool_error_errno(output->name, errno);
  return false;
}

bool tool_output_write(tool_output *output, const void *data, size_t size)
{
  const unsigned char *from = data;
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

/* ---- Room ---- */

static bool is_in_memory(int fd)
{
  struct statfs system;
  return fstatfs(fd, &system) == 0 && system.f_type == TMPFS_MAGIC;
}

void tool_output_fill_by(tool_output *output, unsigned threads)
{
  output->mappable =
      threads >= least_threads && tool_output_is_file(output) && is_in_memory(output->fd);
  output->room.fd = output->fd;
}

/* Room on tmpfs is memory: what there is not is not begun with, as reading may refuse the job. */
void tool_output_reserve(tool_output *output, uint64_t size)
{
  if (output->mappable && size <= tool_memory_available()) tool_room_begin(&output->room, size);
}

static size_t page_size(void)
{
  return (size_t)sysconf(_SC_PAGESIZE);
}

static bool map_room(tool_output *output, size_t size)
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

/* An error that a write would meet as well is told at once. */
bool tool_output_map(tool_output *output, size_t size, void **at)
{
  *at = NULL;
  if (!output->mappable || size == 0) return true;
  const int error = tool_room_complete(&output->room, output->written + size);
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    errno = error;
    return failed(output);
  }
  if (error != 0 || !map_room(output, size)) return true;
  *at = (unsigned char *)output->mapping + (output->mapping_size - size);
  return true;
}

static void unmap(tool_output *output)
{
  if (output->mapping != NULL) munmap(output->mapping, output->mapping_size);
  output->mapping = NULL;
}

/* What is written without an offset follows what was written with one. */
static bool seek_end(tool_output *output)
{
  return lseek(output->fd, (off_t)output->written, SEEK_SET) >= 0 || failed(output);
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

/* One piece, through `buffer`; its bytes, or 0 with errno. */
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
  void **buffers;    /* of each slot, made when it is first wanted */
  atomic_uint_fast64_t written;
  atomic_int error;
} piece_job;

static void fill_piece_of_mapping(void *argument, size_t piece, unsigned slot)
{
  const piece_job *const job = argument;
  size_t size;
  job->pieces->fill(job->pieces->context, piece, job->at + piece * job->pieces->size, &size);
  if (slot == 0) tool_progress_step(piece);
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
  if (slot == 0) tool_progress_step(job->written / job->pieces->size);
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

static bool replace_target(tool_output *output)
{
  sigset_t old;
  begin_change(&old);
  const bool renamed =
      renameat(output->folder, output->temporary, output->folder, output->target) == 0;
  if (renamed) output->temporary[0] = '\0';
  end_change(renamed ? NULL : output, &old);
  return renamed;
}

/* More may have been reserved than was written. */
static bool give_back_room(tool_output *output)
{
  tool_room_stop(&output->room);
  return !output->mappable || ftruncate(output->fd, (off_t)output->written) == 0;
}

static bool commit_atomic(tool_output *output)
{
  if (!give_back_room(output)) return failed(output);
  if (!sync_descriptor(output->fd)) return failed(output);
  if (output->temporary[0] == '\0' && create_named(output, link_temporary) != 0) {
    return failed(output);
  }
  if (!replace_target(output)) return failed(output);
  /* Some file systems cannot sync a folder, and say EINVAL. */
  if (!sync_descriptor(output->folder) && errno != EINVAL) {
    tool_error("%s: it is complete, but may be the old one again after a crash: %s", output->name,
               strerror(errno));
    return false;
  }
  return true;
}

bool tool_output_commit(tool_output *output)
{
  bool done = output->folder < 0 || commit_atomic(output);
  const int fd = output->fd;
  output->fd = -1;
  if (close(fd) != 0 && done && errno != EINTR) done = failed(output);
  tool_output_discard(output);
  return done;
}

void tool_output_discard(tool_output *output)
{
  remove_temporary(output);
  tool_room_stop(&output->room);
  unmap(output);
  if (output->fd > STDERR_FILENO) close(output->fd);
  if (output->folder >= 0) close(output->folder);
  free(output->target);
  *output = (tool_output){.name = output->name, .fd = -1, .folder = -1};
}
