/* window.c - see window.h. */
#include <string.h>

#include "permute/permute.h"
#include "window.h"

recsort_status rs_window_open(const recsort_sorter *sorter, bool in_order, rs_window *window,
                              recsort_error *error)
{
  enum { WINDOW_BYTES = 1 << 20, MOST_RECORDS = 4096 };
  const size_t key_size = rs_key_size(&sorter->plan);
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  const size_t each = key_size + record_size;
  const size_t fitting = WINDOW_BYTES / each + 1;
  const size_t records = fitting < MOST_RECORDS ? fitting : MOST_RECORDS;
  const bool gathered = !in_order && records > 1;
  const size_t keys = (records + 1) * key_size,
               size = keys + (gathered ? records * record_size : 0);
  unsigned char *memory = rs_allocate(&sorter->allocator, size);
  if (!memory) return rs_fail_memory(error, size);
  *window = (rs_window){records, key_size, size, memory, gathered ? memory + keys : NULL};
  return RECSORT_OK;
}

void rs_window_close(const recsort_sorter *sorter, rs_window *window)
{
  rs_release(&sorter->allocator, window->keys, window->size);
}

/* Records of columns are encoded where they are, one after the other. */
static recsort_status encode_columns(const recsort_sorter *sorter, const rs_window *window,
                                     const recsort_permutation *order, size_t first, size_t part,
                                     recsort_error *error)
{
  const team one = team_of_at_most(sorter->team, 1);
  recsort_status status = RECSORT_OK;
  for (size_t i = 0; i < part && !status; i++)
    status = rs_key_encode(&sorter->plan, NULL, 1, window->keys + (i + 1) * window->key_size, one,
                           (size_t)recsort_permutation_at(order, first + i), error);
  return status;
}

recsort_status rs_window_fill(const recsort_sorter *sorter, const rs_window *window,
                              const void *records, const recsort_permutation *order, size_t first,
                              size_t part, recsort_error *error)
{
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  const team one = team_of_at_most(sorter->team, 1);
  const void *chunk = window->chunk;
  if (sorter->plan.program.columns)
    return encode_columns(sorter, window, order, first, part, error);
  if (chunk)
    rs_gather(order, first, part, records, record_size, window->chunk, one);
  else
    chunk = (const char *)records + recsort_permutation_at(order, first) * record_size;
  return rs_key_encode(&sorter->plan, chunk, part, window->keys + window->key_size, one, first,
                       error);
}

void rs_window_slide(rs_window *window, size_t count)
{
  memmove(window->keys, window->keys + count * window->key_size, window->key_size);
}
