/* zip.c - two runs of a tile merged as records, without pairs.
 *
 * A step compares the next keys of both runs, moves one record, and waits for the step before it.
 * So there are four chains of steps, as in kernels_scalar.c: three from the front of a quarter
 * each, and one from the back. No step has a branch that depends on the data. A chain's only state
 * is how many records of run a it has passed: the rank gives those of run b.
 */
#include <string.h>

#include "base/assert.h"
#include "base/stream_copy.h"
#include "runs/runs.h"

#define INLINE static inline __attribute__((always_inline))

/* One of two addresses, without a branch: compilers make a conditional move, as both addresses are
 * in registers and nothing that follows can be done in the arms of a branch. */
INLINE const unsigned char *either(bool right, const unsigned char *a, const unsigned char *b)
{
  __asm__("" : "+r"(a), "+r"(b));
  const unsigned char *chosen = right ? b : a;
  __asm__("" : "+r"(chosen));
  return chosen;
}

INLINE uint64_t key_at(const unsigned char *keys, size_t place, size_t key_size)
{
  if (key_size == 4) return ((const uint32_t *)(const void *)keys)[place];
  return ((const uint64_t *)(const void *)keys)[place];
}

/* Whether record i of a goes before record j of b. */
INLINE bool a_goes_first(const run_zip *zip, size_t i, size_t j, size_t key_size)
{
  const unsigned char *const a = zip->a.keys, *const b = zip->b.keys;
  if (key_size <= 8) return left_goes_first(key_at(a, i, key_size), key_at(b, j, key_size));
  return LEFT_GOES_FIRST(run_key_of_16(a + 16 * i), run_key_of_16(b + 16 * j));
}

/* As co_rank. */
INLINE size_t co_rank_of(const run_zip *zip, size_t rank, size_t key_size)
{
  const size_t a_count = zip->a.count, b_count = zip->b.count;
  size_t low = rank > b_count ? rank - b_count : 0, high = rank < a_count ? rank : a_count;
  RS_ASSERT(rank <= a_count + b_count);
  while (low < high) {
    const size_t i = low + (high - low) / 2;
    if (a_goes_first(zip, i, rank - i - 1, key_size))
      low = i + 1;
    else
      high = i;
  }
  RS_ASSERT(low <= a_count && rank - low <= b_count);
  return low;
}

/* Prefetches what will be read, and what will be written: a store waits for its cache line, too.
 * `way`: 1 if the chain goes to higher addresses, otherwise -1. */
INLINE void move(size_t ahead, const unsigned char *from, unsigned char *to, size_t size, int way)
{
  enum { STORES_AHEAD = 512 };
  __builtin_prefetch(from + ahead);
  __builtin_prefetch(to + way * STORES_AHEAD, 1);
  memcpy(to, from, size);
}

/* A chain at rank `rank` of the merge, with `a` records of run a before it. Moves the next record;
 * returns `a` for the rank behind it. The compiler makes conditional moves of the choices. */
INLINE size_t step_front(run_zip zip, size_t a, size_t rank, unsigned char *to, size_t key_size,
                         size_t size)
{
  const size_t b = rank - a;
  RS_ASSERT(a <= rank);
  const bool right = !a_goes_first(&zip, a, b, key_size);
  move(zip.ahead, either(right, zip.a.records + a * size, zip.b.records + b * size), to, size, 1);
  return a + !right;
}

/* The same for the record before; returns `a` for its rank. */
INLINE size_t step_back(run_zip zip, size_t a, size_t rank, unsigned char *to, size_t key_size,
                        size_t size)
{
  const size_t b = rank - a;
  RS_ASSERT(a > 0 && b > 0);
  const bool right = a_goes_first(&zip, a - 1, b - 1, key_size);
  move(zip.ahead, either(right, zip.a.records + (a - 1) * size, zip.b.records + (b - 1) * size), to,
       size, -1);
  return a - !right;
}

/* How many records of run a, from a on, go before record b of run b; or if `right`, the other way.
 */
INLINE size_t count_first(const run_zip *zip, size_t a, size_t b, bool right, size_t key_size)
{
  const size_t from = right ? b : a, end = right ? zip->b.count : zip->a.count;
  size_t low = from, high = end;
  for (size_t place = from, step = 1; low < high; step *= 2) {
    const bool first =
        right ? !a_goes_first(zip, a, place, key_size) : a_goes_first(zip, place, b, key_size);
    if (first)
      low = place + 1;
    else
      high = place;
    place = high < end || high - low <= step ? low + (high - low) / 2 : low + step;
  }
  return low - from;
}

/* Whole stretches that lie together in a run, for runs that hardly interleave. */
INLINE void zip_stretches(const run_zip *zip, unsigned char *to, size_t key_size, size_t size)
{
  size_t a = 0, b = 0;
  for (bool right = false; a < zip->a.count && b < zip->b.count; right = !right) {
    const size_t count = count_first(zip, a, b, right, key_size);
    memcpy(to, right ? zip->b.records + b * size : zip->a.records + a * size, count * size);
    to += count * size;
    a += right ? 0 : count;
    b += right ? count : 0;
  }
  const size_t rest = (zip->a.count - a) * size;
  if (rest) memcpy(to, zip->a.records + a * size, rest);
  if (b < zip->b.count) memcpy(to + rest, zip->b.records + b * size, (zip->b.count - b) * size);
}

/* Whether most keys of a come so often that stretches are long. */
INLINE bool repeats(const run_zip *zip, size_t key_size)
{
  enum { SAMPLES = 16, MOST = 14, APART = 32 };
  const size_t step = zip->a.count / SAMPLES;
  size_t equal = 0;
  for (size_t i = 0; step > APART && i < SAMPLES; i++) {
    const unsigned char *const key = zip->a.keys + i * step * key_size;
    equal += memcmp(key, key + APART * key_size, key_size) == 0;
  }
  return equal >= MOST;
}

/* In four chains, each of which sees both runs beyond its part. */
INLINE void zip_quarters(const run_zip *zip, unsigned char *to, size_t key_size, size_t size)
{
  const size_t count = zip->a.count + zip->b.count, quarter = count / 4;
  const size_t a1 = co_rank_of(zip, quarter, key_size), a2 = co_rank_of(zip, 2 * quarter, key_size),
               a3 = co_rank_of(zip, 3 * quarter, key_size);
  if (a3 == 0 || a3 == zip->a.count || a3 == 3 * quarter || 3 * quarter - a3 == zip->b.count ||
      repeats(zip, key_size)) {
    zip_stretches(zip, to, key_size, size);
    return;
  }
  size_t chain0 = 0, chain1 = a1, chain2 = a2, chain3 = zip->a.count, rank3 = count;
  unsigned char *back = to + count * size;
  const unsigned char *const keys_a = zip->a.keys, *const keys_b = zip->b.keys,
                             *const from_a = zip->a.records, *const from_b = zip->b.records;
  const size_t ahead = zip->ahead;
  const run_zip runs = {.a = {keys_a, from_a, 0}, .b = {keys_b, from_b, 0}, .ahead = ahead};
  for (size_t k = 0; k < quarter; k++, to += size) {
    chain0 = step_front(runs, chain0, k, to, key_size, size);
    chain1 = step_front(runs, chain1, quarter + k, to + quarter * size, key_size, size);
    chain2 = step_front(runs, chain2, 2 * quarter + k, to + 2 * quarter * size, key_size, size);
    chain3 = step_back(runs, chain3, rank3--, back -= size, key_size, size);
  }
  RS_ASSERT(chain0 == a1 && chain1 == a2 && chain2 == a3);
  while (rank3 > 3 * quarter)
    chain3 = step_back(runs, chain3, rank3--, back -= size, key_size, size);
  RS_ASSERT(chain3 == a3);
}

/* The first `count` records of the merge; takes them off the runs. */
INLINE run_zip take(run_zip *zip, size_t count, size_t key_size, size_t size)
{
  run_zip taken = *zip;
  taken.a.count = co_rank_of(zip, count, key_size);
  taken.b.count = count - taken.a.count;
  RS_ASSERT(taken.a.count <= zip->a.count && taken.b.count <= zip->b.count);
  run_records *const runs[] = {&zip->a, &zip->b};
  const size_t counts[] = {taken.a.count, taken.b.count};
  for (size_t r = 0; r < 2; r++) {
    runs[r]->keys += counts[r] * key_size;
    runs[r]->records += counts[r] * size;
    runs[r]->count -= counts[r];
  }
  return taken;
}

INLINE void zip_as(run_zip zip, size_t key_size, size_t size)
{
  const size_t most = zip.stage_size / size;
  RS_ASSERT(!zip.stage || most > 0);
  for (size_t count; (count = zip.a.count + zip.b.count) > 0; zip.out += count * size) {
    if (zip.stage && count > most) count = most;
    const run_zip part = take(&zip, count, key_size, size);
    zip_quarters(&part, zip.stage ? zip.stage : zip.out, key_size, size);
    if (zip.stage) stream_copy(zip.out, zip.stage, count * size);
  }
}

void rs_run_zip_merge(const run_zip *zip, size_t key_size, size_t record_size)
{
  RS_ASSERT(key_size == 4 || key_size == 8 || key_size == 16);
  if (key_size == 4) switch (record_size) {
    case 4:
      zip_as(*zip, 4, 4);
      return;
    case 8:
      zip_as(*zip, 4, 8);
      return;
    case 12:
      zip_as(*zip, 4, 12);
      return;
    case 16:
      zip_as(*zip, 4, 16);
      return;
    case 20:
      zip_as(*zip, 4, 20);
      return;
    case 24:
      zip_as(*zip, 4, 24);
      return;
    case 32:
      zip_as(*zip, 4, 32);
      return;
    default:
      zip_as(*zip, 4, record_size);
      return;
    }
  if (key_size == 16) {
    if (record_size == 4)
      zip_as(*zip, 16, 4);
    else
      zip_as(*zip, 16, record_size);
    return;
  }
  switch (record_size) {
  case 4:
    zip_as(*zip, 8, 4);
    return;
  case 8:
    zip_as(*zip, 8, 8);
    return;
  case 16:
    zip_as(*zip, 8, 16);
    return;
  case 24:
    zip_as(*zip, 8, 24);
    return;
  case 32:
    zip_as(*zip, 8, 32);
    return;
  default:
    zip_as(*zip, 8, record_size);
    return;
  }
}
