/* permute.c - checks permutations and moves elements by them.
 *
 * A random gather waits for memory, not for the processor. So the loops prefetch records well ahead
 * of the copy, and copy sizes that the compiler knows.
 */
#include "permute/permute.h"

#include <stdatomic.h>
#include <string.h>

#include "base/assert.h"
#include "base/stream_copy.h"

enum { AHEAD = 24, CACHE_LINE = 64 };

static inline uint64_t index_at(const void *index, unsigned bits, size_t i)
{
  RS_ASSERT(bits == 32 || bits == 64);
  return bits == 32 ? ((const uint32_t *)index)[i] : ((const uint64_t *)index)[i];
}

static team team_for(size_t bytes, team t)
{
  enum { WORTH_A_THREAD = 1 << 20 };
  return team_of_at_most(t, bytes / WORTH_A_THREAD + 1);
}

/* ---- Verify ---- */

/* One byte for each record, set by a plain store. n stores set all n bytes only if all n indices
 * differ, so no atomic operations are needed, which would contend. */
static inline bool mark_all(const void *index, unsigned bits, team_range range, size_t count,
                            atomic_uchar *seen)
{
  RS_ASSERT(range.end <= count);
  for (size_t i = range.begin; i < range.end; i++) {
    const uint64_t at = index_at(index, bits, i);
    if (at >= count) return false;
    atomic_store_explicit(&seen[at], 1, memory_order_relaxed);
  }
  return true;
}

typedef struct verification {
  const rs_order *order;
  atomic_uchar *seen;
  size_t pieces;
  atomic_bool good;
} verification;

static void clear_piece(void *argument, size_t piece, unsigned slot)
{
  const verification *const v = argument;
  const team_range range = team_cut(v->order->count, piece, v->pieces);
  (void)slot;
  RS_ASSERT(piece < v->pieces && range.end <= v->order->count);
  memset((char *)v->seen + range.begin, 0, range.end - range.begin);
}

static void mark_piece(void *argument, size_t piece, unsigned slot)
{
  verification *const v = argument;
  const size_t count = v->order->count;
  const team_range range = team_cut(count, piece, v->pieces);
  (void)slot;
  RS_ASSERT(piece < v->pieces);
  if (!(v->order->index_bits == 32 ? mark_all(v->order->index, 32, range, count, v->seen)
                                   : mark_all(v->order->index, 64, range, count, v->seen)))
    v->good = false;
}

static void check_piece(void *argument, size_t piece, unsigned slot)
{
  verification *const v = argument;
  const team_range range = team_cut(v->order->count, piece, v->pieces);
  (void)slot;
  RS_ASSERT(piece < v->pieces);
  if (memchr((char *)v->seen + range.begin, 0, range.end - range.begin)) v->good = false;
}

recsort_status rs_order_verify(const rs_order *order, void *seen, team t, recsort_error *error)
{
  RS_ASSERT(order->index_bits == 32 || order->index_bits == 64);
  RS_ASSERT(seen || order->count == 0);
  t = team_for(order->count, t);
  verification v = {.order = order, .seen = seen, .pieces = team_pieces(t), .good = true};
  team_each(t, v.pieces, clear_piece, &v);
  team_each(t, v.pieces, mark_piece, &v);
  if (v.good) team_each(t, v.pieces, check_piece, &v);
  if (v.good) return RECSORT_OK;
  return rs_fail(error, RECSORT_CORRUPT_RESULT,
                 "the plugin's result is not a permutation of %zu records; nothing was moved",
                 order->count);
}

/* Blocks of a constant size have no branch for each index, so the compiler vectorizes them. */
static inline bool is_identity(const void *index, unsigned bits, size_t count)
{
  enum { BLOCK = 256 };
  size_t i = 0;
  for (; count - i >= BLOCK; i += BLOCK) {
    size_t wrong = 0;
    for (size_t j = i; j < i + BLOCK; j++)
      wrong |= bits == 32 ? ((const uint32_t *)index)[j] ^ (uint32_t)j
                          : ((const uint64_t *)index)[j] ^ j;
    if (wrong) return false;
  }
  for (; i < count; i++)
    if (index_at(index, bits, i) != i) return false;
  return true;
}

bool rs_order_is_identity(const rs_order *order)
{
  return order->index_bits == 32 ? is_identity(order->index, 32, order->count)
                                 : is_identity(order->index, 64, order->count);
}

/* ---- Gather ---- */

typedef struct gather {
  const void *index;
  const unsigned char *from;
  unsigned char *to;
  size_t count; /* elements of `index`, beyond which nothing is prefetched */
} gather;

static inline void prefetch(const unsigned char *at, size_t size)
{
  for (size_t offset = 0; offset < size; offset += CACHE_LINE)
    __builtin_prefetch(at + offset);
  __builtin_prefetch(at + size - 1);
}

/* `bits` and, where it matters, `size` are constants in each call. */
static inline void gather_as(gather g, unsigned bits, size_t size, team_range range)
{
  const size_t prefetched = size < 8 * CACHE_LINE ? size : 8 * CACHE_LINE;
  RS_ASSERT(range.begin <= range.end && range.end <= g.count);
  for (size_t i = range.begin; i < range.end; i++) {
    if (i + AHEAD < g.count)
      prefetch(g.from + index_at(g.index, bits, i + AHEAD) * size, prefetched);
    memcpy(g.to + i * size, g.from + index_at(g.index, bits, i) * size, size);
  }
}

static void gather_bits(gather g, unsigned bits, size_t size, team_range range)
{
  switch (size) {
  case 4:
    gather_as(g, bits, 4, range);
    break;
  case 8:
    gather_as(g, bits, 8, range);
    break;
  case 12:
    gather_as(g, bits, 12, range);
    break;
  case 16:
    gather_as(g, bits, 16, range);
    break;
  case 20:
    gather_as(g, bits, 20, range);
    break;
  case 24:
    gather_as(g, bits, 24, range);
    break;
  case 32:
    gather_as(g, bits, 32, range);
    break;
  case 40:
    gather_as(g, bits, 40, range);
    break;
  case 48:
    gather_as(g, bits, 48, range);
    break;
  case 64:
    gather_as(g, bits, 64, range);
    break;
  case 100:
    gather_as(g, bits, 100, range);
    break;
  default:
    gather_as(g, bits, size, range);
  }
}

typedef struct gather_job {
  gather what;
  unsigned index_bits;
  size_t count;
  size_t element_size;
  size_t pieces;
} gather_job;

static void gather_piece(void *argument, size_t piece, unsigned slot)
{
  const gather_job *const job = argument;
  const team_range range = team_cut(job->count, piece, job->pieces);
  (void)slot;
  RS_ASSERT(piece < job->pieces);
  if (job->index_bits == 32)
    gather_bits(job->what, 32, job->element_size, range);
  else
    gather_bits(job->what, 64, job->element_size, range);
}

void rs_gather(const rs_order *order, size_t first, size_t count, const void *from,
               size_t element_size, void *to, team t)
{
  RS_ASSERT(first <= order->count && count <= order->count - first && element_size > 0);
  RS_ASSERT(order->index_bits == 32 || order->index_bits == 64);
  if (count == 0) return; /* the addresses may be NULL */
  t = team_for(count * element_size, t);
  const char *const index = (const char *)order->index + first * (order->index_bits / 8);
  gather_job job = {.what = {index, from, to, order->count - first},
                    .index_bits = order->index_bits,
                    .count = count,
                    .element_size = element_size,
                    .pieces = team_pieces(t)};
  team_each(t, job.pieces, gather_piece, &job);
}

/* ---- Copy ---- */

typedef struct copy_job {
  char *to;
  const char *from;
  size_t size;
  size_t pieces;
} copy_job;

static void copy_piece(void *argument, size_t piece, unsigned slot)
{
  const copy_job *const job = argument;
  const team_range range = team_cut(job->size, piece, job->pieces);
  (void)slot;
  RS_ASSERT(piece < job->pieces);
  if (job->size < STREAM_LEAST)
    memcpy(job->to + range.begin, job->from + range.begin, range.end - range.begin);
  else
    stream_copy(job->to + range.begin, job->from + range.begin, range.end - range.begin);
}

void rs_copy(void *to, const void *from, size_t size, team t)
{
  if (size == 0) return; /* the addresses may be NULL */
  RS_ASSERT(to && from);
  t = team_for(size, t);
  copy_job job = {to, from, size, team_pieces(t)};
  team_each(t, job.pieces, copy_piece, &job);
}

void rs_order_copy(const rs_order *order, void *index, unsigned index_bits, team t)
{
  RS_ASSERT(index_bits == 32 || index_bits == 64);
  if (index_bits == order->index_bits) {
    if (index != order->index) rs_copy(index, order->index, order->count * index_bits / 8, t);
    return;
  }
  for (size_t i = 0; i < order->count; i++) {
    const uint64_t at = index_at(order->index, order->index_bits, i);
    RS_ASSERT(index_bits == 64 || at <= UINT32_MAX);
    if (index_bits == 32)
      ((uint32_t *)index)[i] = (uint32_t)at;
    else
      ((uint64_t *)index)[i] = at;
  }
}
