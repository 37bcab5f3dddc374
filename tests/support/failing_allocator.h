/* failing_allocator.h - an allocator hook that counts calls, checks what is released, and fails on
 * demand.
 *
 * Blocks are filled with garbage, and have the least alignment that the hook promises, so that
 * callers cannot rely on more. One thread at a time. Needs _POSIX_C_SOURCE.
 */
#ifndef RS_TEST_FAILING_ALLOCATOR_H
#define RS_TEST_FAILING_ALLOCATOR_H

#include <stdlib.h>
#include <string.h>

#include "recsort/recsort.h"

typedef struct failing_allocator {
  size_t calls;      /* number of allocations */
  size_t fail_at;    /* the call that fails, from 1; 0: none */
  bool for_ever;     /* every later call fails too */
  size_t blocks;     /* blocks not released */
  size_t bytes;      /* bytes not released */
  size_t most_bytes; /* the most bytes at a time */
  size_t wrong;      /* releases with a wrong size, or of memory never allocated */
} failing_allocator;

typedef struct failing_block {
  failing_allocator *owner;
  size_t size;
  size_t guard;
} failing_block;

enum { FAILING_HEADER = 80 }; /* a multiple of 16 but not of 64 */

static inline void *failing_allocate(void *context, size_t size)
{
  failing_allocator *a = context;
  a->calls++;
  if (a->fail_at && (a->calls == a->fail_at || (a->for_ever && a->calls > a->fail_at))) return NULL;
  if (size > SIZE_MAX / 4) return NULL; /* sanitizers would end the process */
  const size_t whole = size + FAILING_HEADER;
  void *start;
  if (posix_memalign(&start, 64, whole) != 0) return NULL;
  const failing_block block = {a, size, size ^ 0x5a5a5a5a};
  memset(start, 0xee, whole);
  memcpy(start, &block, sizeof block);
  a->blocks++;
  a->bytes += size;
  if (a->bytes > a->most_bytes) a->most_bytes = a->bytes;
  return (unsigned char *)start + FAILING_HEADER;
}

static inline void failing_release(void *context, void *memory, size_t size)
{
  failing_allocator *a = context;
  unsigned char *start = (unsigned char *)memory - FAILING_HEADER;
  failing_block block;
  memcpy(&block, start, sizeof block);
  if (block.owner != a || block.size != size || block.guard != (size ^ 0x5a5a5a5a)) {
    a->wrong++;
    return;
  }
  a->blocks--;
  a->bytes -= size;
  free(start);
}

static inline recsort_allocator failing_hook(failing_allocator *a)
{
  return (recsort_allocator){a, failing_allocate, failing_release};
}

#endif
