#include "base/platform/memory.h"

#include <malloc.h>

#include "base/assert.h"

void *rs_aligned_allocate(size_t alignment, size_t size)
{
  RS_ASSERT(alignment > 0 && (alignment & (alignment - 1)) == 0);
  RS_ASSERT(size > 0 && size % alignment == 0);
  return _aligned_malloc(size, alignment);
}

void rs_aligned_release(void *memory)
{
  _aligned_free(memory);
}

/* Windows gives large pages only to programs with a privilege, and then pins them. */
void rs_advise_huge_pages(void *memory, size_t size)
{
  (void)memory;
  (void)size;
}
