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
#include <stdatomic.h>
#include <string.h>

#include "base/bits.h"
#include "base/work_size.h"
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
  team team;
} merge_job;

/* Keys that fit beside the index are not looked at again once they are packed, and may lie where
 * the sorted pairs go; unless they are wider than a pair. */
static bool keys_are_kept(const recsort_plugin_job *job)
{
  return !packs(job->key_bits, index_bits_for(job->count), PAIR_BITS) || job->key_width > 64;
}

static uint64_t tiles_bytes(const recsort_plugin_job *job)
{
  return pairs_tiles_size(job->threads);
}

bool rs_merge_work_size(const recsort_plugin_job *job, recsort_plugin_work *work)
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

typedef struct survey {
  const merge_job *job;
  size_t pieces;
  atomic_uint highest;
} survey;

static void survey_piece(void *argument, size_t piece, unsigned slot)
{
  survey *const s = argument;
  const team_range range = team_cut(s->job->count, piece, s->pieces);
  const unsigned found = varying_below(s->job, NULL, range.begin, range.end, 0, s->job->key_bits);
  unsigned highest = atomic_load(&s->highest);
  (void)slot;
  while (found > highest && !atomic_compare_exchange_weak(&s->highest, &highest, found))
    continue;
}

static unsigned varying_in_all(const merge_job *job)
{
  survey s = {.job = job, .pieces = team_pieces(job->team)};
  team_each(job->team, s.pieces, survey_piece, &s);
  return s.highest;
}

/* ---- Repair ---- */

static pair_buffers buffers_at(const merge_job *job, uint64_t *data, uint64_t *other, size_t count)
{
  return (pair_buffers){data, other, count, job->tiles, job->kernels, job->team, job->index_bits};
}

/* The same job for one thread of the team alone, with the tiles of its slot. */
static merge_job alone(const merge_job *job, unsigned slot)
{
  merge_job mine = *job;
  mine.tiles += (size_t)slot * 2 * TILE_PAIRS;
  mine.team.threads = 1;
  return mine;
}

/* Neighbouring pairs of a sorted array whose keys are equal from bit `low` up. */
typedef struct tied {
  size_t begin;
  size_t count;
  unsigned low; /* 0: nothing is left to do */
} tied;

/* Sorts a tie by the next bits that differ, and says below which bit its keys may still differ, in
 * order but for ties. What stands above the indices is changed. */
static tied sort_tied(const merge_job *job, uint64_t *pairs, uint64_t *other, tied tie)
{
  uint64_t *const from = pairs + tie.begin, *const to = other + tie.begin;
  const unsigned high = varying_below(job, from, 1, tie.count, index_of(job, from[0]), tie.low);
  if (high == 0)
    return (tied){tie.begin, tie.count, 0}; /* equal keys: the order of indices stands */
  const key_window window = window_below(job, high);
  for (size_t i = 0; i < tie.count; i++)
    to[i] = pack(job, window, index_of(job, from[i]));
  rs_pairs_sort(buffers_at(job, to, from, tie.count));
  return (tied){tie.begin, tie.count, window.low};
}

static size_t tie_end(const merge_job *job, const uint64_t *sorted, size_t begin, size_t count)
{
  size_t end = begin + 1;
  while (end < count && prefix_of(job, sorted[end]) == prefix_of(job, sorted[begin]))
    end++;
  return end;
}

enum { LONG_TIE = 1 << 16 };

/* Sorts the ties of a part that begins and ends with whole ties, by one thread. Of the ties that
 * it has met it leaves the longest for the end and goes on with that in place of calling itself: so
 * each call within a call has at most half of the pairs, however many windows a key has. */
static void repair_piece(const merge_job *job, uint64_t *sorted, uint64_t *other, tied part)
{
  while (part.low > 0) {
    tied longest = {part.begin, 1, 0};
    for (size_t begin = part.begin, end = begin + part.count, next; begin < end; begin = next) {
      next = tie_end(job, sorted, begin, end);
      tied tie = {begin, next - begin, part.low};
      if (tie.count > longest.count) {
        const tied shorter = longest;
        longest = tie;
        tie = shorter;
      }
      if (tie.count > 1) repair_piece(job, sorted, other, sort_tied(job, sorted, other, tie));
    }
    part = longest.count > 1 ? sort_tied(job, sorted, other, longest) : longest;
  }
}

/* The short ties of a part. */
static void repair_short_ties(const merge_job *job, uint64_t *sorted, uint64_t *other, tied part)
{
  for (size_t begin = part.begin, end = begin + part.count, next; begin < end; begin = next) {
    next = tie_end(job, sorted, begin, end);
    const tied tie = {begin, next - begin, part.low};
    if (tie.count > 1 && tie.count < LONG_TIE)
      repair_piece(job, sorted, other, sort_tied(job, sorted, other, tie));
  }
}

/* The tie around pair `at` of a sorted part. */
static tied find_tie(const merge_job *job, const uint64_t *sorted, tied part, size_t at)
{
  const uint64_t prefix = prefix_of(job, sorted[at]), below = prefix << job->index_bits;
  const uint64_t last = below | ((UINT64_C(1) << job->index_bits) - 1);
  const run64 all = {sorted + part.begin, part.count};
  const size_t begin = rank_first(below, all);
  size_t end = rank_first(last, all);
  if (end < part.count && all.at[end] == last) end++;
  return (tied){part.begin + begin, end - begin, part.low};
}

static void repair(const merge_job *job, uint64_t *sorted, uint64_t *other, tied part);

/* Long ties, one after the other, each by all threads, but for the longest, which is left and
 * returned. A long tie holds two neighbouring probes. The prefixes are put back, so that the array
 * is still sorted by them. */
static tied repair_long_ties(const merge_job *job, uint64_t *sorted, uint64_t *other, tied part)
{
  enum { PROBE = LONG_TIE / 2 };
  const uint64_t index_mask = (UINT64_C(1) << job->index_bits) - 1;
  tied longest = {part.begin, LONG_TIE - 1, 0};
  for (size_t at = 0; at + PROBE < part.count; at += PROBE) {
    const uint64_t *const probe = sorted + part.begin + at;
    if (prefix_of(job, probe[0]) != prefix_of(job, probe[PROBE])) continue;
    tied tie = find_tie(job, sorted, part, part.begin + at);
    at = (tie.begin - part.begin + tie.count - 1) / PROBE * PROBE;
    if (tie.count > longest.count) {
      const tied shorter = longest;
      longest = tie;
      tie = shorter;
    }
    if (tie.count < LONG_TIE) continue;
    const uint64_t prefix = prefix_of(job, sorted[tie.begin]) << job->index_bits;
    repair(job, sorted, other, sort_tied(job, sorted, other, tie));
    for (size_t i = tie.begin; i < tie.begin + tie.count; i++)
      sorted[i] = prefix | (sorted[i] & index_mask);
  }
  return longest;
}

enum { PIECES = 256 };

typedef struct repair_cuts {
  const merge_job *job;
  uint64_t *sorted;
  uint64_t *other;
  unsigned low;
  size_t at[PIECES + 1];
} repair_cuts;

static void repair_between_cuts(void *argument, size_t number, unsigned slot)
{
  const repair_cuts *const c = argument;
  const merge_job mine = alone(c->job, slot);
  const size_t begin = c->at[number], count = c->at[number + 1] - begin;
  repair_short_ties(&mine, c->sorted, c->other, (tied){begin, count, c->low});
}

/* The pieces are cut, at ends of ties, before any tie is sorted: to sort a tie changes its
 * prefixes. Returns the longest tie, which is left. Never inlined: repair goes on with that tie,
 * and calls itself with at most half of the pairs, but must not take this much of the stack each
 * time. */
__attribute__((noinline)) static tied repair_all_but_longest(const merge_job *job, uint64_t *sorted,
                                                             uint64_t *other, tied part)
{
  repair_cuts cuts = {.job = job, .sorted = sorted, .other = other, .low = part.low};
  const tied longest = repair_long_ties(job, sorted, other, part);
  const size_t end = part.begin + part.count;
  cuts.at[0] = part.begin;
  for (size_t p = 1; p <= PIECES; p++) {
    const size_t even = part.begin + part.count / PIECES * p;
    cuts.at[p] = p == PIECES              ? end
                 : even <= cuts.at[p - 1] ? cuts.at[p - 1]
                                          : tie_end(job, sorted, even - 1, end);
  }
  team_each(job->team, PIECES, repair_between_cuts, &cuts);
  return longest;
}

/* `part` is in order of the bits from part.low up: sorts each tie by the bits below.
 */
static void repair(const merge_job *job, uint64_t *sorted, uint64_t *other, tied part)
{
  while (part.low > 0 && part.count >= LONG_TIE && job->team.threads > 1) {
    part = repair_all_but_longest(job, sorted, other, part);
    if (part.low > 0) part = sort_tied(job, sorted, other, part);
  }
  repair_piece(job, sorted, other, part);
}

/* ---- The sort ---- */

/* A thread costs more than it saves below some thousand records. */
static team useful_team(const recsort_plugin_job *job, team t)
{
  enum { WORTH_A_THREAD = 1 << 15 };
  return team_of_at_most(t, (size_t)(job->count / WORTH_A_THREAD + 1));
}

/* A loop over all records. */
typedef struct pack_pass {
  const merge_job *job;
  key_window window;
  size_t pieces;
} pack_pass;

static void pack_piece(void *argument, size_t piece, unsigned slot)
{
  const pack_pass *const p = argument;
  const merge_job *const job = p->job;
  const team_range range = team_cut(job->count, piece, p->pieces);
  (void)slot;
  for (size_t i = range.begin; i < range.end; i++)
    job->a[i] = pack(job, p->window, i);
}

static void pack_all(const merge_job *job, key_window window)
{
  pack_pass p = {job, window, team_pieces(job->team)};
  team_each(job->team, p.pieces, pack_piece, &p);
}

static void unpack_piece(void *argument, size_t piece, unsigned slot)
{
  const pack_pass *const p = argument;
  const merge_job *const job = p->job;
  const team_range range = team_cut(job->count, piece, p->pieces);
  (void)slot;
  for (size_t i = range.begin; i < range.end; i++) {
    const size_t index = index_of(job, job->b[i]);
    if (job->result_bits == 32)
      ((uint32_t *)job->a)[i] = (uint32_t)index;
    else
      job->a[i] = index;
  }
}

static void unpack_all(const merge_job *job)
{
  pack_pass p = {.job = job, .pieces = team_pieces(job->team)};
  team_each(job->team, p.pieces, unpack_piece, &p);
}

static merge_job open_job(const recsort_plugin_job *job, void *memory, team t)
{
  recsort_plugin_work work = {0};
  uint64_t pairs = 0;
  (void)rs_merge_work_size(job, &work);
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
                     .team = useful_team(job, t)};
}

void rs_merge_sort(const recsort_plugin_job *plugin_job, void *memory, team t)
{
  const merge_job job = open_job(plugin_job, memory, t);
  if (job.count == 0) return;
  const unsigned high = keys_are_kept(plugin_job) ? varying_in_all(&job) : job.key_bits;
  const key_window window = window_below(&job, high ? high : 1);
  pack_all(&job, window);
  rs_pairs_sort(buffers_at(&job, job.a, job.b, job.count));
  repair(&job, job.b, job.a, (tied){0, job.count, window.low});
  unpack_all(&job);
}
