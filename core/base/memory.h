/* memory.h - all memory of the library comes through here, so that every allocation can be made
 * to fail in a test.
 *
 *   rs_allocate / rs_release   single blocks through the caller's hook
 *   rs_arena                   many small things that live and die together (a schema, a plan)
 */
#ifndef RS_BASE_MEMORY_H
#define RS_BASE_MEMORY_H

#include "recsort/recsort.h"

/* `allocator` as given, or the C library's if NULL. The C library's large blocks are aligned to
 * huge pages, and the kernel is asked to use them: otherwise a random gather misses the TLB at
 * every record. */
recsort_allocator rs_allocator(const recsort_allocator *allocator);

/* INVALID_ARGUMENT if one of its functions is missing; NULL is whole. */
recsort_status rs_check_allocator(const recsort_allocator *allocator, recsort_error *error);

/* NULL if there is none, or if size is 0. */
void *rs_allocate(const recsort_allocator *allocator, size_t size);
void rs_release(const recsort_allocator *allocator, void *memory, size_t size);

/* What an arena may hold: a schema and a plan together are bounded by twice as much, whatever a
 * text or a caller says. */
enum { RS_ARENA_MAX_MIB = 32 };

typedef struct rs_arena {
  recsort_allocator allocator;
  struct rs_arena_block *blocks;
  size_t size;  /* of all blocks */
  bool is_full; /* more was wanted than it may hold */
} rs_arena;

void rs_arena_init(rs_arena *arena, const recsort_allocator *allocator);
/* Zeroed memory for `count` elements of `size` bytes, aligned for any type; never NULL for a count
 * of 0. NULL: out of memory, the product overflows, or arena->is_full. */
void *rs_arena_array(rs_arena *arena, size_t count, size_t size);
char *rs_arena_text(rs_arena *arena, const char *text);
void rs_arena_free(rs_arena *arena);

#endif
