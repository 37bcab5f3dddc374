/* fail_malloc.c - a library to preload, which makes memory allocations of a process fail, including
 * those of libyaml and the C library.
 *
 *   FAIL_AT=n          the n-th allocation fails, counted from 1
 *   FAIL_FOR_EVER=1    and all that follow
 *   FAIL_COUNT=path    the number of allocations is written there at exit
 *
 * or, from within, fail_malloc_plan. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

void fail_malloc_plan(long fail_at, bool for_ever);
long fail_malloc_calls(void);
long fail_malloc_live(void);

static atomic_long calls, live, fail_at;
static atomic_bool for_ever;

void fail_malloc_plan(long at, bool ever)
{
  calls = 0;
  for_ever = ever;
  fail_at = at;
}

long fail_malloc_calls(void)
{
  return calls;
}

long fail_malloc_live(void)
{
  return live;
}

__attribute__((constructor)) static void read_plan(void)
{
  const char *at = getenv("FAIL_AT");
  fail_malloc_plan(at ? atol(at) : 0, getenv("FAIL_FOR_EVER") != NULL);
}

__attribute__((destructor)) static void write_count(void)
{
  const char *path = getenv("FAIL_COUNT");
  char text[32];
  const int length = snprintf(text, sizeof text, "%ld\n", (long)calls);
  const int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
  if (file < 0) return;
  if (write(file, text, (size_t)length) != length) _exit(99);
  close(file);
}

static bool must_fail(void)
{
  const long call = atomic_fetch_add(&calls, 1) + 1, at = fail_at;
  if (!at || !(call == at || (for_ever && call > at))) return false;
  errno = ENOMEM;
  return true;
}

static void *counted(void *memory)
{
  if (memory) atomic_fetch_add(&live, 1);
  return memory;
}

void *malloc(size_t size)
{
  return must_fail() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
  return must_fail() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size)
{
  if (must_fail()) return NULL;
  void *moved = __libc_realloc(memory, size);
  return memory ? moved : counted(moved);
}

void *aligned_alloc(size_t alignment, size_t size)
{
  return must_fail() ? NULL : counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
  if (must_fail()) return ENOMEM;
  *memory = counted(__libc_memalign(alignment, size));
  return *memory ? 0 : ENOMEM;
}

void free(void *memory)
{
  if (memory) atomic_fetch_sub(&live, 1);
  __libc_free(memory);
}
