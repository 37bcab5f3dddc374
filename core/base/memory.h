/* memory.h - allocates all memory of the library, so that tests can make every allocation fail.
 *
 *   rs_allocate / rs_release   single blocks through the caller's hook
 *   rs_arena                   many small things that live and die together (a schema, a plan)
 */
#ifndef RS_BASE_MEMORY_H
#define RS_BASE_MEMORY_H

#include "recsort/recsort.h"

/* A copy of `allocator`, or the default one if it is NULL. The default one aligns large blocks to
 * huge pages and asks the kernel to use them; without these, a random gather misses the TLB at
 * every record. */
recsort_allocator rs_allocator(const recsort_allocator *allocator);

/* INVALID_ARGUMENT if `allocator` lacks one of its functions. NULL is valid. */
recsort_status rs_check_allocator(const recsort_allocator *allocator, recsort_error *error);

/* NULL if there is no memory, or if size is 0. */
void *rs_allocate(const recsort_allocator *allocator, size_t size);
void rs_release(const recsort_allocator *allocator, void *memory, size_t size);

/* The most that an arena may hold. So a schema and a plan together take at most twice as much, for
 * any input. */
enum { RS_ARENA_MAX_MIB = 32 };

typedef struct rs_arena {
  recsort_allocator allocator;
  struct rs_arena_block *blocks;
  size_t size;  /* size of all blocks */
  bool is_full; /* a request exceeded the limit */
} rs_arena;

void rs_arena_init(rs_arena *arena, const recsort_allocator *allocator);
/* Zeroed memory for `count` elements of `size` bytes, aligned for any type; never NULL for a count
 * of 0. NULL: out of memory, the product overflows, or arena->is_full. */
void *rs_arena_array(rs_arena *arena, size_t count, size_t size);
char *rs_arena_text(rs_arena *arena, const char *text);
void rs_arena_free(rs_arena *arena);

#endif
