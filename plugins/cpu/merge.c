/* merge.c - the parallel merge sort: keys of any width by way of 64-bit pairs.
 *
 *   pack      the top bits of each key that vary, as many as fit, above its index
 *   sort      pairs.h
 *   repair    where pairs of equal top bits stand together, pack their next bits and sort again
 *   unpack    the indices
 *
 * A key of up to 61 bits less those of an index needs no repair. Memory: two arrays of pairs, the
 * keys (in the second array if they need not be kept), and a tile for each thread.
 */
#include <omp.h>
#include <string.h>

#include "cpu/pairs.h"
#include "cpu/sorts.h"

/* A job with its memory. */
typedef struct merge_job {
  const void *keys;
  uint64_t *a; /* the pairs, and at the end the permutation */
  uint64_t *b; /* the sorted pairs */
  uint64_t *tiles;
  const merge_kernels *kernels;
  size_t count;
  unsigned key_width;
  unsigned key_bits;
  unsigned index_bits; /* those that an index needs */
  unsigned result_bits;
  unsigned threads;
} merge_job;

static unsigned bits_of(uint64_t value)
{
  return value ? 64u - (unsigned)__builtin_clzll(value) : 0;
}

static unsigned index_bits_for(uint64_t count)
{
  return count > 1 ? bits_of(count - 1) : 1;
}

/* Keys that fit beside the index are not looked at again once they are packed, and may lie where
 * the sorted pairs go; unless they are wider than a pair. */
static bool keys_are_kept(const recsort_plugin_job *job)
{
  return job->key_bits + index_bits_for(job->count) > PAIR_BITS || job->key_width > 64;
}

static uint64_t tiles_bytes(const recsort_plugin_job *job)
{
  return pairs_tiles_size(job->threads);
}

bool merge_work_size(const recsort_plugin_job *job, recsort_plugin_work *work)
{
  uint64_t pairs = 0, keys = 0, bytes = 0;
  if (!work_add(&pairs, job->count, sizeof(uint64_t)) ||
      !work_add(&keys, job->count, job->key_width / 8) || !work_add(&bytes, pairs, 2))
    return false;
  work->keys_offset = keys_are_kept(job) ? bytes : bytes - keys;
  if (keys_are_kept(job) && !work_add(&bytes, keys, 1)) return false;
  if (!work_add(&bytes, tiles_bytes(job), 1)) return false;
  work->bytes = bytes;
  return true;
}

/* ---- Keys ---- */

static inline uint64_t key_word(const merge_job *job, size_t i, size_t word)
{
  if (job->key_width == 32) return ((const uint32_t *)job->keys)[i];
  return ((const uint64_t *)job->keys)[i * (job->key_width / 64) + word];
}

/* Bits [low, low + width) of a key; width is 1 to 63. */
static inline uint64_t key_bits_at(const merge_job *job, size_t i, unsigned low, unsigned width)
{
  const size_t word = low / 64;
  const unsigned bit = low % 64;
  uint64_t bits = key_word(job, i, word) >> bit;
  if (bit + width > 64) bits |= key_word(job, i, word + 1) << (64 - bit);
  return bits & ((UINT64_C(1) << width) - 1);
}

/* A window of the key: bits [low, low + width). */
typedef struct key_window {
  unsigned low;
  unsigned width;
} key_window;

/* The widest window that fits beside an index and ends below bit `high`. */
static key_window window_below(const merge_job *job, unsigned high)
{
  const unsigned most = PAIR_BITS - job->index_bits, width = high < most ? high : most;
  return (key_window){high - width, width};
}

static inline uint64_t pack(const merge_job *job, key_window window, size_t i)
{
  return PAIR_MARK | key_bits_at(job, i, window.low, window.width) << job->index_bits | i;
}

static inline size_t index_of(const merge_job *job, uint64_t pair)
{
  return (size_t)(pair & ((UINT64_C(1) << job->index_bits) - 1));
}

static inline uint64_t prefix_of(const merge_job *job, uint64_t pair)
{
  return pair >> job->index_bits;
}

/* One more than the highest bit below `high` in which one of keys [begin, end) differs from key
 * `reference`; 0 if they are all equal there. The keys are those of `pairs`, or if that is NULL all
 * keys in input order. */
static unsigned varying_below(const merge_job *job, const uint64_t *pairs, size_t begin, size_t end,
                              size_t reference, unsigned high)
{
  for (size_t word = (high + 63) / 64; word-- > 0;) {
    const unsigned bits = high - 64 * (unsigned)word;
    const uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    const uint64_t expected = key_word(job, reference, word);
    uint64_t differing = 0;
    for (size_t i = begin; i < end; i++)
      differing |= key_word(job, pairs ? index_of(job, pairs[i]) : i, word) ^ expected;
    if (differing & mask) return 64 * (unsigned)word + bits_of(differing & mask);
  }
  return 0;
}

static unsigned varying_in_all(const merge_job *job)
{
  const size_t threads = job->threads, each = job->count / threads + 1;
  unsigned highest = 0;
#pragma omp parallel for num_threads(job->threads) reduction(max : highest)
  for (size_t t = 0; t < threads; t++) {
    const size_t begin = t * each < job->count ? t * each : job->count;
    const size_t end = job->count - begin > each ? begin + each : job->count;
    const unsigned found = varying_below(job, NULL, begin, end, 0, job->key_bits);
    if (found > highest) highest = found;
  }
  return highest;
}

/* ---- Repair ---- */

static pair_buffers buffers_at(const merge_job *job, uint64_t *data, uint64_t *other, size_t count)
{
  return (pair_buffers){data,         other,        count,          job->tiles,
                        job->kernels, job->threads, job->index_bits};
}

/* The same job for the calling thread of a team alone, with the tiles of that thread. */
static merge_job alone(const merge_job *job)
{
  merge_job mine = *job;
  mine.tiles += (size_t)omp_get_thread_num() * 2 * TILE_PAIRS;
  mine.threads = 1;
  return mine;
}

static void repair(const merge_job *job, uint64_t *sorted, uint64_t *other, size_t count,
                   unsigned low);

/* Sorts a run of pairs whose keys are equal from bit `high` up. What stands above the indices is
 * changed. */
static void sort_tied(const merge_job *job, uint64_t *pairs, uint64_t *other, size_t count,
                      unsigned high)
{
  high = varying_below(job, pairs, 1, count, index_of(job, pairs[0]), high);
  if (high == 0) return; /* equal keys: the order of the indices stands */
  const key_window window = window_below(job, high);
  for (size_t i = 0; i < count; i++)
    other[i] = pack(job, window, index_of(job, pairs[i]));
  pairs_sort(buffers_at(job, other, pairs, count));
  if (window.low > 0) repair(job, pairs, other, count, window.low);
}

static size_t run_end(const merge_job *job, const uint64_t *sorted, size_t begin, size_t count)
{
  size_t end = begin + 1;
  while (end < count && prefix_of(job, sorted[end]) == prefix_of(job, sorted[begin]))
    end++;
  return end;
}

enum { LONG_RUN = 1 << 16 };

/* Sorts the runs of [begin, end), which begins and ends with whole runs, by one thread; but for
 * the long ones if `leave_long`. */
static void repair_piece(const merge_job *job, uint64_t *sorted, uint64_t *other, size_t begin,
                         size_t end, unsigned low, bool leave_long)
{
  for (size_t next; begin < end; begin = next) {
    next = run_end(job, sorted, begin, end);
    const size_t count = next - begin;
    if (count > 1 && !(leave_long && count >= LONG_RUN))
      sort_tied(job, sorted + begin, other + begin, count, low);
  }
}

/* The run around pair `at` of a sorted array. */
static void find_run(const merge_job *job, const uint64_t *sorted, size_t count, size_t at,
                     size_t *begin, size_t *end)
{
  const uint64_t prefix = prefix_of(job, sorted[at]), below = prefix << job->index_bits;
  const uint64_t last = below | ((UINT64_C(1) << job->index_bits) - 1);
  const run64 all = {sorted, count};
  *begin = rank_first(below, all);
  *end = rank_first(last, all);
  if (*end < count && sorted[*end] == last) ++*end;
}

/* Long runs, one after the other, each by all threads. A long run holds two neighbouring probes.
 * The prefixes are put back, so that the array is still sorted by them. */
static void repair_long_runs(const merge_job *job, uint64_t *sorted, uint64_t *other, size_t count,
                             unsigned low)
{
  enum { PROBE = LONG_RUN / 2 };
  const uint64_t index_mask = (UINT64_C(1) << job->index_bits) - 1;
  for (size_t at = 0; at + PROBE < count; at += PROBE) {
    const uint64_t prefix = prefix_of(job, sorted[at]);
    if (prefix != prefix_of(job, sorted[at + PROBE])) continue;
    size_t begin, end;
    find_run(job, sorted, count, at, &begin, &end);
    if (end - begin >= LONG_RUN) {
      sort_tied(job, sorted + begin, other + begin, end - begin, low);
      for (size_t i = begin; i < end; i++)
        sorted[i] = prefix << job->index_bits | (sorted[i] & index_mask);
    }
    at = (end - 1) / PROBE * PROBE;
  }
}

/* The pieces of the threads are cut, at ends of runs, before any run is sorted: to sort a run
 * changes its prefixes. Never inlined: repair calls itself once for each window of a key, and must
 * not take this much of the stack each time. */
__attribute__((noinline)) static void repair_by_all(const merge_job *job, uint64_t *sorted,
                                                    uint64_t *other, size_t count, unsigned low)
{
  enum { PIECES = 256 };
  size_t cuts[PIECES + 1] = {0};
  repair_long_runs(job, sorted, other, count, low);
  for (size_t p = 1; p <= PIECES; p++) {
    const size_t even = count / PIECES * p;
    cuts[p] = p == PIECES           ? count
              : even <= cuts[p - 1] ? cuts[p - 1]
                                    : run_end(job, sorted, even - 1, count);
  }
#pragma omp parallel for num_threads(job->threads) schedule(dynamic)
  for (size_t p = 0; p < PIECES; p++) {
    const merge_job mine = alone(job);
    repair_piece(&mine, sorted, other, cuts[p], cuts[p + 1], low, true);
  }
}

/* `sorted` is in order of the bits from `low` up: sorts each run of equal ones by the bits below.
 */
static void repair(const merge_job *job, uint64_t *sorted, uint64_t *other, size_t count,
                   unsigned low)
{
  if (job->threads == 1 || count < LONG_RUN)
    repair_piece(job, sorted, other, 0, count, low, false);
  else
    repair_by_all(job, sorted, other, count, low);
}

/* ---- The sort ---- */

/* A thread costs more than it saves below some thousand records. */
static unsigned useful_threads(const recsort_plugin_job *job)
{
  enum { WORTH_A_THREAD = 1 << 15 };
  const uint64_t useful = job->count / WORTH_A_THREAD + 1;
  return useful < job->threads ? (unsigned)useful : job->threads;
}

static void pack_all(const merge_job *job, key_window window)
{
#pragma omp parallel for num_threads(job->threads)
  for (size_t i = 0; i < job->count; i++)
    job->a[i] = pack(job, window, i);
}

static void unpack_all(const merge_job *job)
{
#pragma omp parallel for num_threads(job->threads)
  for (size_t i = 0; i < job->count; i++) {
    const uint64_t index = job->b[i] & ((UINT64_C(1) << job->index_bits) - 1);
    if (job->result_bits == 32)
      ((uint32_t *)job->a)[i] = (uint32_t)index;
    else
      job->a[i] = index;
  }
}

static merge_job open_job(const recsort_plugin_job *job, void *memory)
{
  recsort_plugin_work work = {0};
  uint64_t pairs = 0;
  (void)merge_work_size(job, &work);
  (void)work_add(&pairs, job->count, sizeof(uint64_t));
  char *const start = memory;
  return (merge_job){.keys = start + work.keys_offset,
                     .a = memory,
                     .b = (uint64_t *)(void *)(start + pairs),
                     .tiles = (uint64_t *)(void *)(start + work.bytes - tiles_bytes(job)),
                     .kernels = rs_best_kernels(),
                     .count = (size_t)job->count,
                     .key_width = job->key_width,
                     .key_bits = job->key_bits,
                     .index_bits = index_bits_for(job->count),
                     .result_bits = job->index_bits,
                     .threads = useful_threads(job)};
}

void merge_sort(const recsort_plugin_job *plugin_job, void *memory)
{
  const merge_job job = open_job(plugin_job, memory);
  if (job.count == 0) return;
  const unsigned high = keys_are_kept(plugin_job) ? varying_in_all(&job) : job.key_bits;
  const key_window window = window_below(&job, high ? high : 1);
  pack_all(&job, window);
  pairs_sort(buffers_at(&job, job.a, job.b, job.count));
  if (window.low > 0) repair(&job, job.b, job.a, job.count, window.low);
  unpack_all(&job);
}
