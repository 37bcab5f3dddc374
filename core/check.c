/* check.c - compares records with those before them, by their keys, in chunks of bounded memory: to
 * check whether a caller's records are sorted, to check a plugin's result, and to keep the first of
 * each run of equal keys. */
#include <string.h>

#include "base/assert.h"
#include "call.h"
#include "key/encode.h"
#include "recsort/record_hash.h"

/* ---- Windows ---- */

/* The key of the record before a chunk, then those of the chunk, so that each has a predecessor. */
typedef struct window {
  size_t records; /* records of a chunk */
  size_t key_size;
  unsigned char *keys; /* records + 1 keys; behind them is room for a copy of the chunk */
} window;

/* A window of a sorter, and its bytes. Chunks of large records are a single one, which needs no
 * copy. */
static window window_of(const recsort_sorter *sorter, size_t *size)
{
  enum { WINDOW_BYTES = 1 << 20, MOST_RECORDS = 4096 };
  const size_t key_size = rs_key_size(&sorter->plan);
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  RS_ASSERT(key_size > 0);
  const size_t fitting = WINDOW_BYTES / (key_size + record_size) + 1;
  const size_t records = fitting < MOST_RECORDS ? fitting : MOST_RECORDS;
  const size_t keys = (records + 1) * key_size;
  *size = keys + (records > 1 ? records * record_size : 0);
  return (window){.records = records, .key_size = key_size};
}

size_t rs_check_memory(const recsort_sorter *sorter)
{
  size_t size;
  (void)window_of(sorter, &size);
  return size;
}

static recsort_status open_window(recsort_sorter *sorter, window *w, recsort_error *error)
{
  size_t size;
  *w = window_of(sorter, &size);
  RS_ASSERT(w->records > 0 && size >= 2 * w->key_size);
  w->keys = rs_sorter_spare(sorter, size);
  return w->keys ? RECSORT_OK : rs_fail_memory(error, size);
}

/* Encodes the records at `part` places of an order, from place `first` on. */
static recsort_status encode_places(const recsort_sorter *sorter, const window *w,
                                    const rs_call *call, const rs_order *order, size_t first,
                                    size_t part, recsort_error *error)
{
  const team one = team_of_at_most(sorter->team, 1);
  RS_ASSERT(part > 0 && part <= w->records);
  RS_ASSERT(part <= order->count && first <= order->count - part);
  unsigned char *const keys = w->keys + w->key_size;
  recsort_status status = RECSORT_OK;
  if (w->records > 1 && call->job->records && !call->scope.offsets) {
    unsigned char *const chunk = w->keys + (w->records + 1) * w->key_size;
    rs_gather(order, first, part, call->job->records, (size_t)sorter->plan.program.record_size,
              chunk, one);
    return rs_key_encode(&sorter->plan, chunk, part, keys, one, first, error);
  }
  for (size_t i = 0; i < part && !status; i++) {
    const size_t index = (size_t)rs_order_at(order, first + i);
    status = rs_key_encode(&sorter->plan, rs_call_record(sorter, call, index), 1,
                           keys + i * w->key_size, one, index, error);
  }
  return status;
}

/* Moves the last of `count` keys to the front, before the next chunk. */
static void slide(const window *w, size_t count)
{
  RS_ASSERT(count <= w->records);
  memmove(w->keys, w->keys + count * w->key_size, w->key_size);
}

/* Compares record i of the chunk with the one before it. */
static inline int compare(const recsort_sorter *sorter, const window *w, size_t i)
{
  RS_ASSERT(i < w->records);
  const unsigned char *before = w->keys + i * w->key_size;
  return rs_key_compare(&sorter->plan, before, before + w->key_size);
}

/* ---- Are records sorted? ---- */

recsort_status rs_check_sorted(recsort_sorter *sorter, const void *records, size_t first,
                               size_t count, size_t *disorder, recsort_error *error)
{
  window w;
  size_t found = count;
  const size_t record_size = (size_t)sorter->plan.program.record_size;
  const team one = team_of_at_most(sorter->team, 1);
  recsort_status status = open_window(sorter, &w, error);
  for (size_t at = 0; at < count && found == count && !status; at += w.records) {
    const size_t part = count - at < w.records ? count - at : w.records;
    const void *const chunk = records ? (const char *)records + at * record_size : NULL;
    status = rs_key_encode(&sorter->plan, chunk, part, w.keys + w.key_size, one, first + at, error);
    for (size_t i = at == 0; i < part && found == count && !status; i++)
      if (compare(sorter, &w, i) > 0) found = at + i;
    slide(&w, part);
  }
  RS_ASSERT(found <= count);
  if (status == RECSORT_OK) *disorder = found;
  return status;
}

recsort_status recsort_check(recsort_sorter *sorter, const void *records, size_t count,
                             size_t *disorder, recsort_error *error)
{
  size_t bytes;
  if (!disorder) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "disorder must not be NULL");
  const recsort_status status = rs_sorter_check(sorter, records, count, &bytes, error);
  return status ? status : rs_check_sorted(sorter, records, 0, count, disorder, error);
}

/* ---- A plugin's result ---- */

static recsort_status fail_order(const recsort_sorter *sorter, const rs_order *order, size_t place,
                                 bool tie, recsort_error *error)
{
  RS_ASSERT(place > 0 && place < order->count);
  const unsigned long long here = rs_order_at(order, place), before = rs_order_at(order, place - 1);
  return rs_fail(error, RECSORT_CORRUPT_RESULT,
                 "plugin \"%s\": its order is wrong at place %zu: record %llu has %s record %llu "
                 "before it; nothing was moved",
                 sorter->choice.in_use->info.name, place, here,
                 tie ? "the key of the later" : "a lesser key than", before);
}

recsort_status rs_check_order(recsort_sorter *sorter, const rs_call *call, const rs_order *order,
                              recsort_error *error)
{
  window w;
  recsort_status status = open_window(sorter, &w, error);
  RS_ASSERT(order->count == call->count);
  for (size_t first = 0; !status && first < order->count; first += w.records) {
    const size_t left = order->count - first, part = left < w.records ? left : w.records;
    status = encode_places(sorter, &w, call, order, first, part, error);
    for (size_t i = first == 0; i < part && !status; i++) {
      const int compared = compare(sorter, &w, i);
      const bool turned = rs_order_at(order, first + i - 1) > rs_order_at(order, first + i);
      if (compared > 0 || (compared == 0 && turned))
        status = fail_order(sorter, order, first + i, compared == 0, error);
    }
    slide(&w, part);
  }
  return status;
}

static record_sums sum_records(const unsigned char *records, size_t count, size_t size)
{
  record_sums sums = {0, 0};
  RS_ASSERT(size > 0);
  for (size_t i = 0; i < count; i++)
    record_add(&sums, record_hash(records + i * size, size, 1));
  return sums;
}

recsort_status rs_check_moved(recsort_sorter *sorter, const rs_call *call, const void *sorted,
                              recsort_error *error)
{
  const char *const name = sorter->choice.in_use->info.name;
  const size_t size = (size_t)sorter->plan.program.record_size, count = call->count;
  RS_ASSERT(call->only_records && sorted);
  const record_sums before = sum_records(call->job->records, count, size),
                    after = sum_records(sorted, count, size);
  size_t disorder;
  if (before.low != after.low || before.high != after.high)
    return rs_fail(error, RECSORT_CORRUPT_RESULT,
                   "plugin \"%s\": the records that it moved are not those that it got: their "
                   "checksums differ",
                   name);
  const recsort_status status = rs_check_sorted(sorter, sorted, 0, count, &disorder, error);
  if (status || disorder == count) return status;
  return rs_fail(
      error, RECSORT_CORRUPT_RESULT,
      "plugin \"%s\": the records that it moved are not sorted: at place %zu is one with "
      "a lesser key than the one before it",
      name, disorder);
}

/* ---- The first of each run of equal keys ---- */

static inline void move_index(const rs_order *order, size_t to, size_t from)
{
  const size_t size = order->index_bits / 8;
  RS_ASSERT(to <= from && from < order->count);
  char *index = (char *)order->index;
  memmove(index + to * size, index + from * size, size);
}

/* Moves the indices that are kept to the front, and counts them. Records outside all segments are
 * kept. */
static recsort_status keep_firsts(recsort_sorter *sorter, const rs_call *call,
                                  const rs_order *order, size_t *count, recsort_error *error)
{
  window w;
  size_t kept = 0;
  recsort_status status = open_window(sorter, &w, error);
  for (size_t first = 0; !status && first < order->count; first += w.records) {
    const size_t left = order->count - first, part = left < w.records ? left : w.records;
    status = encode_places(sorter, &w, call, order, first, part, error);
    for (size_t i = 0; i < part && !status; i++)
      if (first + i == 0 || compare(sorter, &w, i) != 0 ||
          rs_scope_leaves(&sorter->plan.scope, (size_t)rs_order_at(order, first + i)))
        move_index(order, kept++, first + i);
    slide(&w, part);
  }
  RS_ASSERT(kept <= order->count);
  if (status == RECSORT_OK) *count = kept;
  return status;
}

/* True if the sorter's own permutation is that of the call's records. */
static bool made_of(const recsort_sorter *sorter, const rs_call *call)
{
  const recsort_job *const made = &sorter->made, *const job = call->job;
  return sorter->keeps && made->records == job->records &&
         made->part_records == job->part_records && made->count == job->count &&
         made->parts == job->parts && made->offsets == job->offsets &&
         made->part_count == job->part_count && made->offset_bits == job->offset_bits &&
         made->first_bit == job->first_bit && made->bits == job->bits &&
         sorter->made_columns == rs_plan_columns_mark(&sorter->plan);
}

/* The permutation to be shortened. */
static recsort_status find_order(const recsort_sorter *sorter, const rs_call *call, rs_order *order,
                                 recsort_error *error)
{
  const recsort_job *const job = call->job;
  if (call->in_place)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "the records must be as they were before the sort, which was in place");
  *order = sorter->kept;
  if (!job->permutation && !made_of(sorter, call))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT,
                   "the sorter keeps no permutation, or that of other records");
  if (!job->permutation) return RECSORT_OK;
  *order = (rs_order){job->permutation, call->index_bits, call->wanted};
  for (size_t i = 0; i < order->count; i++)
    if (rs_order_at(order, i) >= call->count)
      return rs_fail(error, RECSORT_INVALID_ARGUMENT, "permutation[%zu] is %llu, of %zu records", i,
                     (unsigned long long)rs_order_at(order, i), call->count);
  return RECSORT_OK;
}

recsort_status recsort_unique(recsort_sorter *sorter, const recsort_job *job, size_t *count,
                              recsort_error *error)
{
  rs_call call;
  rs_order order;
  size_t kept = 0;
  if (!count) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "count must not be NULL");
  recsort_status status = rs_call_read(sorter, job, 1, &call, error);
  if (status) return status;
  status = rs_call_open(sorter, &call, error);
  if (status == RECSORT_OK) status = find_order(sorter, &call, &order, error);
  if (status == RECSORT_OK) {
    status = keep_firsts(sorter, &call, &order, &kept, error);
    RS_ASSERT(kept <= call.count);
    if (!job->permutation && status == RECSORT_INVALID_RECORD) sorter->keeps = false;
    if (!job->permutation && status == RECSORT_OK) sorter->kept.count = kept;
  }
  rs_call_close(sorter);
  if (status == RECSORT_OK) *count = kept;
  return status;
}
