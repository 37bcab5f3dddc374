#define _DEFAULT_SOURCE
#include "base/platform/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

void *rs_aligned_allocate(size_t alignment, size_t size)
{
  return aligned_alloc(alignment, size);
}

void rs_aligned_release(void *memory)
{
  free(memory);
}

void rs_advise_huge_pages(void *memory, size_t size)
{
#ifdef MADV_HUGEPAGE
  (void)madvise(memory, size, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)size;
#endif
}
