/* runs.c - records compared by their keys: check and unique, in chunks of bounded memory. */
#include <string.h>

#include "key/encode.h"
#include "permute/permute.h"
#include "sorter.h"

size_t recsort_key_size(const recsort_sorter *sorter)
{
  return rs_key_size(&sorter->plan);
}

recsort_status recsort_encode(recsort_sorter *sorter, const void *records, size_t count, void *keys,
                              recsort_error *error)
{
  if ((!records || !keys) && count)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "records and keys must not be NULL");
  return rs_key_encode(&sorter->plan, records, count, keys, sorter->threads, 0, error);
}

int recsort_key_compare(const recsort_sorter *sorter, const void *a, const void *b)
{
  return rs_key_compare(&sorter->plan, a, b);
}

/* Keys of a chunk of records behind that of the record before it, so that each has a neighbour. */
typedef struct key_window {
  size_t records; /* of a chunk */
  size_t key_size;
  size_t size;          /* of the whole allocation */
  unsigned char *keys;  /* records + 1 of them */
  unsigned char *chunk; /* where records are gathered first; NULL: they need not be */
} key_window;

/* Records in no order are gathered, but for large ones, of which a chunk is a single one. */
static recsort_status open_window(const recsort_sorter *sorter, bool in_order, key_window *window,
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
  *window = (key_window){records, key_size, size, memory, gathered ? memory + keys : NULL};
  return RECSORT_OK;
}

/* Makes the last of `count` new keys the one before the next chunk. */
static void slide(key_window *window, size_t count)
{
  memmove(window->keys, window->keys + count * window->key_size, window->key_size);
}

/* Number i of the chunk against the one before it. */
static int compare_neighbours(const recsort_sorter *sorter, const key_window *window, size_t i)
{
  const unsigned char *before = window->keys + i * window->key_size;
  return rs_key_compare(&sorter->plan, before, before + window->key_size);
}

recsort_status recsort_check(recsort_sorter *sorter, const void *records, size_t count,
                             size_t *disorder, recsort_error *error)
{
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  key_window window = {0};
  size_t found = count;
  if ((!records && count) || !disorder)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "records and disorder must not be NULL");
  recsort_status status = open_window(sorter, true, &window, error);
  if (status) return status;
  for (size_t first = 0; first < count && found == count && !status; first += window.records) {
    const size_t part = count - first < window.records ? count - first : window.records;
    status = rs_key_encode(&sorter->plan, (const char *)records + first * record_size, part,
                           window.keys + window.key_size, 1, first, error);
    for (size_t i = first == 0; i < part && found == count && !status; i++)
      if (compare_neighbours(sorter, &window, i) > 0) found = first + i;
    slide(&window, part);
  }
  rs_release(&sorter->allocator, window.keys, window.size);
  if (status == RECSORT_OK) *disorder = found;
  return status;
}

static inline void move_index(const recsort_permutation *order, size_t to, size_t from)
{
  const size_t size = order->index_bits / 8;
  char *index = (char *)order->index;
  memmove(index + to * size, index + from * size, size);
}

recsort_status recsort_unique(recsort_sorter *sorter, const void *records,
                              recsort_permutation *order, recsort_error *error)
{
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  key_window window = {0};
  size_t kept = 0;
  if (!order || (!records && order->count) || (order->count && order->index != sorter->block))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "order must be what recsort_find_order last gave for these records");
  recsort_status status = open_window(sorter, false, &window, error);
  if (status) return status;
  for (size_t first = 0; first < order->count; first += window.records) {
    const size_t part =
        order->count - first < window.records ? order->count - first : window.records;
    const void *chunk = window.chunk;
    if (chunk)
      recsort_gather(order, first, part, records, record_size, window.chunk, 1);
    else
      chunk = (const char *)records + recsort_permutation_at(order, first) * record_size;
    status =
        rs_key_encode(&sorter->plan, chunk, part, window.keys + window.key_size, 1, first, error);
    if (status) break; /* the records have changed since they were sorted */
    for (size_t i = 0; i < part; i++)
      if (first + i == 0 || compare_neighbours(sorter, &window, i) != 0)
        move_index(order, kept++, first + i);
    slide(&window, part);
  }
  rs_release(&sorter->allocator, window.keys, window.size);
  if (status == RECSORT_OK) order->count = kept;
  return status;
}
