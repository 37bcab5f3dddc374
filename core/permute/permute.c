/* permute.c - the only loops that follow an index.
 *
 * A random gather waits for memory, not for the processor. So the loops ask for records some way
 * ahead of where they copy, and copy with sizes that the compiler knows.
 */
#include "permute/permute.h"

#include <assert.h>
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { AHEAD = 24, CACHE_LINE = 64 };

static inline uint64_t index_at(const void *index, unsigned bits, size_t i)
{
  return bits == 32 ? ((const uint32_t *)index)[i] : ((const uint64_t *)index)[i];
}

uint64_t recsort_permutation_at(const recsort_permutation *order, size_t place)
{
  assert(place < order->count);
  return index_at(order->index, order->index_bits, place);
}

/* The part of [0, count) that belongs to this thread of a team. */
typedef struct share {
  size_t begin;
  size_t end;
} share;

static share share_of(size_t count, size_t thread, size_t threads)
{
  const size_t each = count / threads, rest = count % threads;
  const size_t begin = each * thread + (thread < rest ? thread : rest);
  return (share){begin, begin + each + (thread < rest)};
}

static unsigned team_for(size_t bytes, unsigned threads)
{
  enum { WORTH_A_THREAD = 1 << 20 };
  const size_t useful = bytes / WORTH_A_THREAD + 1;
  return useful < threads ? (unsigned)useful : threads;
}

/* ---- Verify ---- */

/* One byte a record, each set with a plain store: as many stores as there are bytes, so if every
 * byte ends up set, none was set twice. No read-modify-write that the threads would queue for. */
static inline bool mark_all(const void *index, unsigned bits, share range, size_t count,
                            atomic_uchar *seen)
{
  for (size_t i = range.begin; i < range.end; i++) {
    const uint64_t at = index_at(index, bits, i);
    if (at >= count) return false;
    atomic_store_explicit(&seen[at], 1, memory_order_relaxed);
  }
  return true;
}

recsort_status rs_permutation_verify(const recsort_permutation *order, void *seen, unsigned threads,
                                     recsort_error *error)
{
  const size_t count = order->count;
  int good = 1;
  threads = team_for(count, threads);
#pragma omp parallel num_threads(threads) reduction(&& : good)
  {
    const size_t team = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
    const share range = share_of(count, me, team);
    memset((char *)seen + range.begin, 0, range.end - range.begin);
#pragma omp barrier
    good = order->index_bits == 32 ? mark_all(order->index, 32, range, count, seen)
                                   : mark_all(order->index, 64, range, count, seen);
#pragma omp barrier
    good = good && !memchr((char *)seen + range.begin, 0, range.end - range.begin);
  }
  if (good) return RECSORT_OK;
  return rs_fail(error, RECSORT_CORRUPT_RESULT,
                 "the plugin's result is not a permutation of %zu records; nothing was moved",
                 count);
}

bool rs_permutation_is_identity(const recsort_permutation *order)
{
  for (size_t i = 0; i < order->count; i++)
    if (index_at(order->index, order->index_bits, i) != i) return false;
  return true;
}

/* ---- Gather ---- */

typedef struct gather {
  const void *index;
  const unsigned char *from;
  unsigned char *to;
  size_t count; /* of `index`: nothing beyond is asked for */
} gather;

static inline void prefetch(const unsigned char *at, size_t size)
{
  for (size_t offset = 0; offset < size; offset += CACHE_LINE)
    __builtin_prefetch(at + offset);
  __builtin_prefetch(at + size - 1);
}

/* `bits` and, where it matters, `size` are constants at each call. */
static inline void gather_as(gather g, unsigned bits, size_t size, share range)
{
  const size_t prefetched = size < 8 * CACHE_LINE ? size : 8 * CACHE_LINE;
  for (size_t i = range.begin; i < range.end; i++) {
    if (i + AHEAD < g.count)
      prefetch(g.from + index_at(g.index, bits, i + AHEAD) * size, prefetched);
    memcpy(g.to + i * size, g.from + index_at(g.index, bits, i) * size, size);
  }
}

static void gather_bits(gather g, unsigned bits, size_t size, share range)
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

void recsort_gather(const recsort_permutation *order, size_t first, size_t count, const void *from,
                    size_t element_size, void *to, unsigned threads)
{
  assert(first <= order->count && count <= order->count - first && element_size > 0);
  if (count == 0) return; /* the addresses may be NULL */
  const size_t entry = order->index_bits / 8;
  const gather g = {(const char *)order->index + first * entry, from, to, order->count - first};
  if (threads == 0) threads = (unsigned)omp_get_num_procs();
  threads = team_for(count * element_size, threads);
#pragma omp parallel num_threads(threads)
  {
    const size_t team = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
    const share range = share_of(count, me, team);
    if (order->index_bits == 32)
      gather_bits(g, 32, element_size, range);
    else
      gather_bits(g, 64, element_size, range);
  }
}

/* ---- Copy ---- */

/* As memcpy, but where processors have such stores the target does not pass through their caches:
 * it is too large for them, and would be read first. */
static void copy_past_caches(char *to, const char *from, size_t size)
{
#ifdef __SSE2__
  const size_t unaligned = -(uintptr_t)to % CACHE_LINE;
  const size_t head = unaligned < size ? unaligned : size;
  const char *const end = from + size;
  memcpy(to, from, head);
  for (to += head, from += head; end - from >= CACHE_LINE; to += CACHE_LINE, from += CACHE_LINE)
    for (size_t i = 0; i < CACHE_LINE; i += sizeof(__m128i)) {
      const __m128i part = _mm_loadu_si128((const void *)(from + i));
      _mm_stream_si128((void *)(to + i), part);
    }
  _mm_sfence();
  size = (size_t)(end - from);
#endif
  memcpy(to, from, size);
}

void rs_copy(void *to, const void *from, size_t size, unsigned threads)
{
  enum { LARGE = 8 << 20 };
  if (size == 0) return; /* the addresses may be NULL */
  threads = team_for(size, threads);
#pragma omp parallel num_threads(threads)
  {
    const size_t team = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
    const share range = share_of(size, me, team);
    char *const part = (char *)to + range.begin;
    const char *const source = (const char *)from + range.begin;
    if (size < LARGE)
      memcpy(part, source, range.end - range.begin);
    else
      copy_past_caches(part, source, range.end - range.begin);
  }
}

void rs_permutation_copy(const recsort_permutation *order, void *index, unsigned index_bits,
                         unsigned threads)
{
  if (index_bits == order->index_bits) {
    if (index != order->index) rs_copy(index, order->index, order->count * index_bits / 8, threads);
    return;
  }
  for (size_t i = 0; i < order->count; i++) {
    const uint64_t at = index_at(order->index, order->index_bits, i);
    if (index_bits == 32)
      ((uint32_t *)index)[i] = (uint32_t)at;
    else
      ((uint64_t *)index)[i] = at;
  }
}
