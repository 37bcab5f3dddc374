/* fail_calls.c - a library to preload, which makes calls of a program fail or do only part of their
 * work. It works for large arrays and many threads, for which a tracer is too slow.
 *
 *   FAIL_CALL=name       read, pread, write, pwrite, open (openat too), fsync or pthread_create
 *   FAIL_AT=n            the n-th such call, counted from 1; 0: every second one
 *   FAIL_FOR_EVER=1      and all that follow
 *   FAIL_ERROR=number    fails with that error; 0: it does half of it
 *   FAIL_COUNT=path      how many there were of each is written there at exit: "name number" a line
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef enum call { READ, PREAD, WRITE, PWRITE, OPEN, FSYNC, PTHREAD_CREATE, CALLS } call;

static const char *const names[CALLS] = {"read", "pread", "write",         "pwrite",
                                         "open", "fsync", "pthread_create"};
static atomic_long made[CALLS];
static call chosen = CALLS;
static long fail_at;
static bool for_ever;
static int error;

__attribute__((constructor)) static void read_plan(void)
{
  const char *const name = getenv("FAIL_CALL"), *const at = getenv("FAIL_AT"),
                    *const number = getenv("FAIL_ERROR");
  for (chosen = 0; name && chosen < CALLS && strcmp(name, names[chosen]) != 0; chosen++) {
  }
  if (!name) chosen = CALLS;
  fail_at = at ? atol(at) : 0;
  for_ever = getenv("FAIL_FOR_EVER") != NULL;
  error = number ? atoi(number) : 0;
}

__attribute__((destructor)) static void write_counts(void)
{
  const char *const path = getenv("FAIL_COUNT");
  char text[256];
  size_t length = 0;
  if (!path) return;
  for (int i = 0; i < CALLS; i++)
    length += (size_t)snprintf(text + length, sizeof text - length, "%s %ld\n", names[i], made[i]);
  const long file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || syscall(SYS_write, file, text, length) != (long)length) _exit(99);
  syscall(SYS_close, file);
}

static bool is_chosen(call which)
{
  const long number = atomic_fetch_add(&made[which], 1) + 1;
  if (which != chosen) return false;
  if (fail_at == 0) return number % 2 == 1;
  return number == fail_at || (for_ever && number > fail_at);
}

/* The bytes that a call may do; -1: it fails. */
static ssize_t allowed(call which, size_t size)
{
  if (!is_chosen(which)) return (ssize_t)size;
  errno = error;
  return error ? -1 : (ssize_t)(size / 2 + size % 2);
}

ssize_t read(int file, void *data, size_t size)
{
  const ssize_t some = allowed(READ, size);
  return some < 0 ? -1 : syscall(SYS_read, file, data, some);
}

ssize_t pread(int file, void *data, size_t size, off_t offset)
{
  const ssize_t some = allowed(PREAD, size);
  return some < 0 ? -1 : syscall(SYS_pread64, file, data, some, offset);
}

ssize_t write(int file, const void *data, size_t size)
{
  const ssize_t some = allowed(WRITE, size);
  return some < 0 ? -1 : syscall(SYS_write, file, data, some);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t offset)
{
  const ssize_t some = allowed(PWRITE, size);
  return some < 0 ? -1 : syscall(SYS_pwrite64, file, data, some, offset);
}

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
  if (allowed(OPEN, 1) < 0) return -1;
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_at(folder, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_at(AT_FDCWD, path, flags, mode);
}

int fsync(int file)
{
  return allowed(FSYNC, 1) < 0 ? -1 : (int)syscall(SYS_fsync, file);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
  static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (is_chosen(PTHREAD_CREATE)) return error;
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
  return next(thread, attributes, start, argument);
}
