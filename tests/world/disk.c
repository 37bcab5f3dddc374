/* disk.c - calls of the disk, which the linker leads here (--wrap); see world.h. */
#include "world.h"

#include "support/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's */
int __real_open(const char *path, int flags, ...);
int __real_openat(int folder, const char *path, int flags, ...);
int __real_close(int file);
ssize_t __real_read(int file, void *to, size_t size);
ssize_t __real_pread(int file, void *to, size_t size, off_t offset);
ssize_t __real_write(int file, const void *from, size_t size);
ssize_t __real_pwrite(int file, const void *from, size_t size, off_t offset);
int __real_memfd_create(const char *name, unsigned flags);
int __real_fsync(int file);
int __real_linkat(int from, const char *path, int to, const char *name, int flags);
int __real_renameat(int from, const char *path, int to, const char *name);

/* ---- What goes wrong ---- */

/* A point, then false, with errno, if the call fails; true: then *size may be less. Threads have
 * no points, and their calls are counted apart, so that a seed gives the same again. */
static bool begin(int call, const char *name, size_t *size)
{
  if (own_rank < 0) return true;
  world *const w = the_world;
  rank_state *const r = &w->rank[own_rank];
  const fault *const f = &w->fault;
  const bool by_thread = !world_is_main_thread();
  if (!by_thread) {
    if (world_chance(w->weather.slow_disk)) {
      r->slow_until = w->step + 2 + world_below(w->weather.longest);
      world_count(SLOW_DISK);
    }
    world_point(name);
  }
  const uint64_t number = ++r->calls[by_thread][call];
  if ((f->event == BROKEN || f->event == NO_SPACE) && f->rank == own_rank && f->call == call &&
      f->by_thread == by_thread && (number == f->at || (f->event == NO_SPACE && number > f->at))) {
    if (number == f->at) world_count(f->event);
    errno = f->number;
    return false;
  }
  const uint64_t place =
      (uint64_t)own_rank << 48 | (uint64_t)by_thread << 40 | (uint64_t)call << 32;
  const uint64_t chance = mix(w->pure ^ place ^ number);
  const bool moves =
      call == CALL_READ || call == CALL_PREAD || call == CALL_WRITE || call == CALL_PWRITE;
  if ((moves || call == CALL_SYNC) && chance % 256 < w->weather.interrupted) {
    world_count(INTERRUPTED);
    errno = EINTR;
    return false;
  }
  if (moves && *size > 1 && chance / 256 % 256 < w->weather.short_call) {
    *size = 1 + (size_t)(chance >> 16) % (*size - 1);
    world_count(SHORT);
  }
  return true;
}

/* Messages that are held back are in memory, which is no disk. */
static int in_memory = -1;

int __wrap_memfd_create(const char *name, unsigned flags)
{
  in_memory = __real_memfd_create(name, flags);
  return in_memory;
}

/* A bit of a temporary file, which has no name, is another one. */
static void flip(int file, unsigned char *data, ssize_t size)
{
  struct stat status;
  const fault *const f = &the_world->fault;
  if (own_rank < 0 || size <= 0 || fstat(file, &status) != 0 || status.st_nlink > 0) return;
  const bool by_thread = !world_is_main_thread();
  if (++the_world->rank[own_rank].temporary_reads[by_thread] != f->at || f->event != FLIPPED_FILE ||
      f->rank != own_rank || f->by_thread != by_thread)
    return;
  data[f->bit / 8 % (uint64_t)size] ^= (unsigned char)(1 << f->bit % 8);
  world_count(FLIPPED_FILE);
}

/* ---- What is on the disk ---- */

static uint64_t number_of(int file)
{
  struct stat status;
  return fstat(file, &status) == 0 ? status.st_ino : 0;
}

static void forget(rank_state *r, uint64_t file)
{
  for (int i = 0; i < MOST_DIRTY; i++)
    if (r->dirty[i] == file) r->dirty[i] = 0;
}

/* This rank wrote to a file. */
static void changed(int file)
{
  if (own_rank < 0 || !world_is_main_thread()) return;
  rank_state *const r = &the_world->rank[own_rank];
  const uint64_t number = number_of(file);
  forget(r, number);
  for (int i = 0; i < MOST_DIRTY; i++)
    if (r->dirty[i] == 0) {
      r->dirty[i] = number;
      return;
    }
  world_fail("too many files are written to");
}

/* On file systems of clusters a rank brings only what it wrote itself to the disk. */
static void check_synced(uint64_t file)
{
  for (int i = 0; i < the_world->ranks; i++)
    for (int k = 0; k < MOST_DIRTY; k++)
      if (the_world->rank[i].dirty[k] == file)
        world_fail("a file got its name before rank %d brought it to the disk", i);
}

const char *disk_end(void)
{
  return the_world->renamed ? "a folder was not brought to the disk after a rename" : NULL;
}

/* ---- Calls ---- */

int __wrap_open(const char *path, int flags, ...)
{
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return begin(CALL_OPEN, "open", NULL) ? __real_open(path, flags, mode) : -1;
}

int __wrap_openat(int folder, const char *path, int flags, ...)
{
  va_list arguments;
  va_start(arguments, flags);
  const bool makes = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
  const mode_t mode = makes ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return begin(CALL_OPEN, "openat", NULL) ? __real_openat(folder, path, flags, mode) : -1;
}

int __wrap_close(int file)
{
  if (own_rank < 0 || file == in_memory) {
    in_memory = -1;
    return __real_close(file);
  }
  const bool done = begin(CALL_CLOSE, "close", NULL);
  const int number = errno, result = __real_close(file);
  if (!done) errno = number;
  return done ? result : -1;
}

ssize_t __wrap_read(int file, void *to, size_t size)
{
  if (own_rank < 0 || file == in_memory) return __real_read(file, to, size);
  return begin(CALL_READ, "read", &size) ? __real_read(file, to, size) : -1;
}

ssize_t __wrap_pread(int file, void *to, size_t size, off_t offset)
{
  const ssize_t got = begin(CALL_PREAD, "pread", &size) ? __real_pread(file, to, size, offset) : -1;
  flip(file, to, got);
  return got;
}

ssize_t __wrap_write(int file, const void *from, size_t size)
{
  const ssize_t done = begin(CALL_WRITE, "write", &size) ? __real_write(file, from, size) : -1;
  if (done > 0) changed(file);
  return done;
}

ssize_t __wrap_pwrite(int file, const void *from, size_t size, off_t offset)
{
  const ssize_t done =
      begin(CALL_PWRITE, "pwrite", &size) ? __real_pwrite(file, from, size, offset) : -1;
  if (done > 0) changed(file);
  return done;
}

int __wrap_fsync(int file)
{
  const int result = begin(CALL_SYNC, "fsync", NULL) ? __real_fsync(file) : -1;
  if (result == 0 && own_rank >= 0) {
    const uint64_t number = number_of(file);
    forget(&the_world->rank[own_rank], number);
    if (the_world->renamed == number) the_world->renamed = 0;
  }
  return result;
}

int __wrap_linkat(int from, const char *path, int to, const char *name, int flags)
{
  return begin(CALL_LINK, "linkat", NULL) ? __real_linkat(from, path, to, name, flags) : -1;
}

int __wrap_renameat(int from, const char *path, int to, const char *name)
{
  struct stat status;
  if (!begin(CALL_RENAME, "renameat", NULL)) return -1;
  if (own_rank >= 0 && fstatat(from, path, &status, 0) == 0) check_synced(status.st_ino);
  const int result = __real_renameat(from, path, to, name);
  if (result == 0 && own_rank >= 0) the_world->renamed = number_of(to);
  return result;
}
/* NOLINTEND(bugprone-reserved-identifier) */
