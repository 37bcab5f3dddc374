#define _DEFAULT_SOURCE
#include "base/platform/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/assert.h"

void *rs_aligned_allocate(size_t alignment, size_t size)
{
  RS_ASSERT(alignment > 0 && (alignment & (alignment - 1)) == 0);
  RS_ASSERT(size > 0 && size % alignment == 0);
  return aligned_alloc(alignment, size);
}

void rs_aligned_release(void *memory)
{
  free(memory);
}

void rs_advise_huge_pages(void *memory, size_t size)
{
  RS_ASSERT(memory && size > 0);
#ifdef MADV_HUGEPAGE
  (void)madvise(memory, size, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)size;
#endif
}
