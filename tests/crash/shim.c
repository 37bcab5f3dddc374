/* shim.c - a library that the crash test preloads into recsort.
 *
 *   SHIM_NO_TMPFILE=1     the file system has no O_TMPFILE
 *   SHIM_NO_FSYNC=WHAT    fsync does nothing for WHAT: "file", "folder" or "all"
 *   SHIM_COMMIT=path      before each call that changes something, another program's fsync (of
 *                         `path`) makes the file system commit its journal */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void commit(void)
{
  const char *const path = getenv("SHIM_COMMIT");
  const int saved = errno;
  if (!path) return;
  const long file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0 || syscall(SYS_write, file, "x", 1) != 1 || syscall(SYS_fsync, file) != 0) _exit(99);
  syscall(SYS_close, file);
  errno = saved;
}

int openat(int folder, const char *path, int flags, ...)
{
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  if ((flags & O_TMPFILE) == O_TMPFILE && getenv("SHIM_NO_TMPFILE")) {
    errno = EOPNOTSUPP;
    return -1;
  }
  if (flags & (O_CREAT | __O_TMPFILE)) commit();
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}

ssize_t write(int file, const void *data, size_t size)
{
  commit();
  return syscall(SYS_write, file, data, size);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t offset)
{
  commit();
  return syscall(SYS_pwrite64, file, data, size, offset);
}

int fchmod(int file, mode_t mode)
{
  commit();
  return (int)syscall(SYS_fchmod, file, mode);
}

int fsync(int file)
{
  const char *const none = getenv("SHIM_NO_FSYNC");
  struct stat status;
  commit();
  if (none && (strcmp(none, "all") == 0 ||
               (fstat(file, &status) == 0 &&
                strcmp(none, S_ISDIR(status.st_mode) ? "folder" : "file") == 0)))
    return 0;
  return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file)
{
  return fsync(file);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
  commit();
  return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
  commit();
  return (int)syscall(SYS_renameat, from_folder, from, to_folder, to);
}
