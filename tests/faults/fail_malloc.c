/* fail_malloc.c - a library to be preloaded that makes memory allocations of a whole process fail,
 * those of libyaml and of the C library too.
 *
 *   FAIL_AT=n          the n-th allocation fails, counted from 1
 *   FAIL_FOR_EVER=1    and all that follow
 *   FAIL_COUNT=path    the number of allocations is written there at exit
 *
 * or, from within, fail_malloc_plan. Allocations of the OpenMP runtimes, libgomp and libomp, are
 * left alone, those of files that they open too: they end the process when they have no memory for a
 * team of threads, and there is no way to tell them not to. */
#define _GNU_SOURCE
#include <dlfcn.h>
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

static _Thread_local bool within_openmp;
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

/* dladdr allocates nothing. */
static bool is_openmp(const void *caller)
{
  Dl_info info;
  if (within_openmp) return true;
  return dladdr(caller, &info) && info.dli_fname &&
         (strstr(info.dli_fname, "libgomp") || strstr(info.dli_fname, "libomp"));
}

static bool must_fail(const void *caller)
{
  if (is_openmp(caller)) return false;
  const long call = atomic_fetch_add(&calls, 1) + 1, at = fail_at;
  if (!at || !(call == at || (for_ever && call > at))) return false;
  errno = ENOMEM;
  return true;
}

static void *counted(void *memory, const void *caller)
{
  if (memory && !is_openmp(caller)) atomic_fetch_add(&live, 1);
  return memory;
}

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

void *malloc(size_t size)
{
  return must_fail(CALLER) ? NULL : counted(__libc_malloc(size), CALLER);
}

void *calloc(size_t count, size_t size)
{
  return must_fail(CALLER) ? NULL : counted(__libc_calloc(count, size), CALLER);
}

void *realloc(void *memory, size_t size)
{
  if (must_fail(CALLER)) return NULL;
  void *moved = __libc_realloc(memory, size);
  return memory ? moved : counted(moved, CALLER);
}

void *aligned_alloc(size_t alignment, size_t size)
{
  return must_fail(CALLER) ? NULL : counted(__libc_memalign(alignment, size), CALLER);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
  if (must_fail(CALLER)) return ENOMEM;
  *memory = counted(__libc_memalign(alignment, size), CALLER);
  return *memory ? 0 : ENOMEM;
}

void free(void *memory)
{
  if (memory && !is_openmp(CALLER)) atomic_fetch_sub(&live, 1);
  __libc_free(memory);
}

FILE *fopen(const char *path, const char *mode)
{
  FILE *(*next)(const char *, const char *) = NULL;
  *(void **)&next = dlsym(RTLD_NEXT, "fopen");
  within_openmp = is_openmp(CALLER);
  FILE *file = next(path, mode);
  within_openmp = false;
  return file;
}
