/* memory.h - aligned memory of the system. */
#ifndef RS_PLATFORM_MEMORY_H
#define RS_PLATFORM_MEMORY_H

#include <stddef.h>

/* `alignment` is a power of two, and `size` a multiple of it. NULL: out of memory. Release it with
 * rs_aligned_release. */
void *rs_aligned_allocate(size_t alignment, size_t size);
void rs_aligned_release(void *memory);

/* Advises the system to use huge pages for this memory, where it takes such advice. */
void rs_advise_huge_pages(void *memory, size_t size);

#endif
