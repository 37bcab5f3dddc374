#include "base/memory.h"

#include <stdalign.h>
#include <string.h>

#include "base/assert.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/platform/memory.h"

enum { HUGE_PAGE = 2 << 20, BLOCK_ALIGNMENT = 64, ARENA_BLOCK = 4 << 10 };

static void *library_allocate(void *context, size_t size)
{
  (void)context;
  const bool large = size >= (size_t)HUGE_PAGE;
  const size_t alignment = large ? (size_t)HUGE_PAGE : (size_t)BLOCK_ALIGNMENT;
  const size_t rounded = rs_round_up(size, alignment);
  if (rounded == SIZE_MAX) return NULL;
  RS_ASSERT(rounded >= size && rounded % alignment == 0);
  void *memory = rs_aligned_allocate(alignment, rounded);
  if (memory && large) rs_advise_huge_pages(memory, rounded);
  RS_ASSERT((uintptr_t)memory % alignment == 0);
  return memory;
}

static void library_release(void *context, void *memory, size_t size)
{
  (void)context;
  (void)size;
  rs_aligned_release(memory);
}

recsort_allocator rs_allocator(const recsort_allocator *allocator)
{
  if (allocator) return *allocator;
  return (recsort_allocator){NULL, library_allocate, library_release};
}

recsort_status rs_check_allocator(const recsort_allocator *allocator, recsort_error *error)
{
  if (!allocator || (allocator->allocate && allocator->release)) return RECSORT_OK;
  return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                 "an allocator needs both functions, allocate and release");
}

void *rs_allocate(const recsort_allocator *allocator, size_t size)
{
  RS_ASSERT(allocator->allocate && allocator->release);
  return size && size < SIZE_MAX ? allocator->allocate(allocator->context, size) : NULL;
}

void rs_release(const recsort_allocator *allocator, void *memory, size_t size)
{
  RS_ASSERT(!memory || size > 0);
  if (memory) allocator->release(allocator->context, memory, size);
}

struct rs_arena_block {
  struct rs_arena_block *next;
  size_t size; /* size of the whole block */
  size_t used;
};

void rs_arena_init(rs_arena *arena, const recsort_allocator *allocator)
{
  RS_ASSERT(allocator->allocate && allocator->release);
  *arena = (rs_arena){.allocator = *allocator};
}

static size_t header_size(void)
{
  const size_t a = alignof(max_align_t);
  return (sizeof(struct rs_arena_block) + a - 1) / a * a;
}

static struct rs_arena_block *add_block(rs_arena *arena, size_t wanted)
{
  RS_ASSERT(wanted > 0 && arena->size <= (size_t)RS_ARENA_MAX_MIB << 20);
  size_t size = rs_sum(wanted, header_size());
  if (size < ARENA_BLOCK) size = ARENA_BLOCK;
  if (size > ((size_t)RS_ARENA_MAX_MIB << 20) - arena->size) {
    arena->is_full = true;
    return NULL;
  }
  struct rs_arena_block *block = rs_allocate(&arena->allocator, size);
  if (!block) return NULL;
  arena->size += size;
  *block = (struct rs_arena_block){arena->blocks, size, header_size()};
  RS_ASSERT(header_size() + wanted <= size);
  return arena->blocks = block;
}

void *rs_arena_array(rs_arena *arena, size_t count, size_t size)
{
  RS_ASSERT(size > 0);
  const size_t bytes = rs_round_up(rs_product(count ? count : 1, size), alignof(max_align_t));
  if (bytes == SIZE_MAX) return NULL;
  struct rs_arena_block *block = arena->blocks;
  RS_ASSERT(!block || block->used <= block->size);
  if (!block || block->size - block->used < bytes) block = add_block(arena, bytes);
  if (!block) return NULL;
  void *memory = (char *)block + block->used;
  RS_ASSERT((uintptr_t)memory % alignof(max_align_t) == 0);
  block->used += bytes;
  RS_ASSERT(block->used <= block->size);
  return memset(memory, 0, bytes);
}

char *rs_arena_text(rs_arena *arena, const char *text)
{
  const size_t size = strlen(text) + 1;
  char *copy = rs_arena_array(arena, size, 1);
  return copy ? memcpy(copy, text, size) : NULL;
}

void rs_arena_free(rs_arena *arena)
{
  struct rs_arena_block *block = arena->blocks;
  RS_ASSERT((block == NULL) == (arena->size == 0));
  while (block) {
    struct rs_arena_block *next = block->next;
    RS_ASSERT(block->used <= block->size && block->size <= arena->size);
    rs_release(&arena->allocator, block, block->size);
    block = next;
  }
  rs_arena_init(arena, &arena->allocator);
}
