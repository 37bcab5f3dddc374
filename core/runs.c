/* runs.c - records compared by their keys, in chunks of bounded memory: check and unique, and what
 * a plugin gave. */
#include <string.h>

#include "base/checked.h"
#include "common/record_hash.h"
#include "key/encode.h"
#include "permute/permute.h"
#include "sorter.h"

size_t recsort_key_size(const recsort_sorter *sorter)
{
  return sorter ? rs_key_size(&sorter->plan) : 0;
}

recsort_status recsort_encode(recsort_sorter *sorter, const void *records, size_t count, void *keys,
                              recsort_error *error)
{
  size_t bytes, key_bytes;
  const recsort_status status = rs_sorter_check(sorter, records, count, &bytes, error);
  if (status) return status;
  const size_t key_size = rs_key_size(&sorter->plan);
  if (count && (!keys || (uintptr_t)keys % (key_size < 8 ? key_size : 8)))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "keys must not be NULL, and aligned to 8 bytes, or 4 if they have 4");
  if (!rs_multiply(count, key_size, &key_bytes)) return rs_fail_memory(error, SIZE_MAX);
  if (rs_overlap(records, bytes, keys, key_bytes))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "records and keys overlap");
  return rs_key_encode(&sorter->plan, records, count, keys, sorter->team, 0, error);
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
  key_window window = {0};
  size_t found = count, bytes;
  if (!disorder) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "disorder must not be NULL");
  recsort_status status = rs_sorter_check(sorter, records, count, &bytes, error);
  if (status) return status;
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  const team one = team_of_at_most(sorter->team, 1);
  status = open_window(sorter, true, &window, error);
  if (status) return status;
  for (size_t first = 0; first < count && found == count && !status; first += window.records) {
    const size_t part = count - first < window.records ? count - first : window.records;
    status = rs_key_encode(&sorter->plan, (const char *)records + first * record_size, part,
                           window.keys + window.key_size, one, first, error);
    for (size_t i = first == 0; i < part && found == count && !status; i++)
      if (compare_neighbours(sorter, &window, i) > 0) found = first + i;
    slide(&window, part);
  }
  rs_release(&sorter->allocator, window.keys, window.size);
  if (status == RECSORT_OK) *disorder = found;
  return status;
}

/* ---- What a plugin gave ---- */

/* The keys of `part` records from place `first` of the order on. */
static recsort_status fill_window(const recsort_sorter *sorter, const key_window *window,
                                  const void *records, const recsort_permutation *order,
                                  size_t first, size_t part, recsort_error *error)
{
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  const team one = team_of_at_most(sorter->team, 1);
  const void *chunk = window->chunk;
  if (chunk)
    rs_gather(order, first, part, records, record_size, window->chunk, one);
  else
    chunk = (const char *)records + recsort_permutation_at(order, first) * record_size;
  return rs_key_encode(&sorter->plan, chunk, part, window->keys + window->key_size, one, first,
                       error);
}

static recsort_status fail_order(const recsort_sorter *sorter, const recsort_permutation *order,
                                 size_t place, bool tie, recsort_error *error)
{
  const unsigned long long here = recsort_permutation_at(order, place),
                           before = recsort_permutation_at(order, place - 1);
  return rs_fail(error, RECSORT_CORRUPT_RESULT,
                 "plugin \"%s\": its order is wrong at place %zu: record %llu has %s record %llu "
                 "before it; nothing was moved",
                 sorter->instance.plugin->name, place, here,
                 tie ? "the key of the later" : "a lesser key than", before);
}

recsort_status rs_sorter_check_order(const recsort_sorter *sorter, const void *records,
                                     const recsort_permutation *order, recsort_error *error)
{
  key_window window = {0};
  recsort_status status = open_window(sorter, false, &window, error);
  for (size_t first = 0; first < order->count && !status; first += window.records) {
    const size_t left = order->count - first, part = left < window.records ? left : window.records;
    status = fill_window(sorter, &window, records, order, first, part, error);
    for (size_t i = first == 0; i < part && !status; i++) {
      const int compared = compare_neighbours(sorter, &window, i);
      const bool turned =
          recsort_permutation_at(order, first + i - 1) > recsort_permutation_at(order, first + i);
      if (compared > 0 || (compared == 0 && turned))
        status = fail_order(sorter, order, first + i, compared == 0, error);
    }
    slide(&window, part);
  }
  rs_release(&sorter->allocator, window.keys, window.size);
  return status;
}

static record_sums sum_records(const unsigned char *records, size_t count, size_t size)
{
  record_sums sums = {0, 0};
  for (size_t i = 0; i < count; i++)
    record_add(&sums, record_hash(records + i * size, size, 1));
  return sums;
}

recsort_status rs_sorter_check_moved(recsort_sorter *sorter, const void *records,
                                     const void *sorted, size_t count, recsort_error *error)
{
  const char *const name = sorter->instance.plugin->name;
  const size_t size = (size_t)sorter->plan.program.record_size;
  const record_sums before = sum_records(records, count, size),
                    after = sum_records(sorted, count, size);
  size_t disorder;
  if (before.low != after.low || before.high != after.high)
    return rs_fail(error, RECSORT_CORRUPT_RESULT,
                   "plugin \"%s\": the records that it moved are not those that it got: their "
                   "checksums differ",
                   name);
  const recsort_status status = recsort_check(sorter, sorted, count, &disorder, error);
  if (status || disorder == count) return status;
  return rs_fail(
      error, RECSORT_CORRUPT_RESULT,
      "plugin \"%s\": the records that it moved are not sorted: at place %zu is one with "
      "a lesser key than the one before it",
      name, disorder);
}

/* ---- Unique ---- */

static inline void move_index(const recsort_permutation *order, size_t to, size_t from)
{
  const size_t size = order->index_bits / 8;
  char *index = (char *)order->index;
  memmove(index + to * size, index + from * size, size);
}

recsort_status recsort_permutation_unique(recsort_sorter *sorter, const void *records,
                                          recsort_permutation *permutation, recsort_error *error)
{
  recsort_permutation own;
  const recsort_permutation *const order = &own;
  key_window window = {0};
  size_t kept = 0;
  if (!sorter || !permutation || (!records && permutation->count))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "sorter, records and permutation must not be NULL");
  recsort_status status = rs_read_permutation(&own, permutation, error);
  if (status) return status;
  if (!rs_sorter_holds(sorter, order))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "this is not the permutation that recsort_find_permutation last gave");
  status = open_window(sorter, false, &window, error);
  if (status) return status;
  for (size_t first = 0; first < order->count; first += window.records) {
    const size_t part =
        order->count - first < window.records ? order->count - first : window.records;
    status = fill_window(sorter, &window, records, order, first, part, error);
    if (status) break; /* the records have changed since they were sorted */
    for (size_t i = 0; i < part; i++)
      if (first + i == 0 || compare_neighbours(sorter, &window, i) != 0)
        move_index(order, kept++, first + i);
    slide(&window, part);
  }
  rs_release(&sorter->allocator, window.keys, window.size);
  if (status == RECSORT_OK) sorter->order.count = permutation->count = kept;
  return status;
}
