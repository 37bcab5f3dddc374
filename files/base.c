/* base.c - see base.h. */
#include "base.h"

#include <inttypes.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

recsort_status rf_fail(recsort_error *error, recsort_status status, const char *format, ...)
{
  va_list arguments;
  if (error == NULL) return status;
  *error = (recsort_error){.status = status};
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  return status;
}

recsort_status rf_fail_memory(recsort_error *error, uint64_t size)
{
  return rf_fail(error, RECSORT_OUT_OF_MEMORY, "out of memory: %" PRIu64 " bytes are needed", size);
}

void *rf_map(size_t size)
{
  void *const memory = mmap(NULL, size != 0 ? size : 1, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory != MAP_FAILED ? memory : NULL;
}

void rf_unmap(void *memory, size_t size)
{
  if (memory != NULL) munmap(memory, size != 0 ? size : 1);
}

recsort_status rf_free_sorter(recsort_sorter *sorter, recsort_error *error)
{
  const recsort_status status = recsort_sorter_reserve(sorter, NULL, error);
#if defined(__GLIBC__)
  malloc_trim(0); /* it keeps up to twice the largest block that was freed, up to 64 MiB */
#endif
  return status;
}

double rf_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
