/* presorted.c - sorts pairs that are in order already, or nearly so.
 *
 * A sample of neighbours decides whether to go on. Then one pass counts the descents:
 *
 *   none            the array is sorted
 *   no ascents      it is reversed, except that equal keys are in input order and stay so
 *   few descents    all but a few pairs are in order: these few are taken out, sorted, and merged
 *                   back in (drop-merge sort; E. Ernerfeldt, 2017)
 */
#include <stdatomic.h>
#include <string.h>

#include "cpu/pairs.h"

/* The numbers of neighbours that descend as pairs, and that ascend as keys. */
typedef struct trend {
  size_t descents;
  size_t ascents;
} trend;

static inline void count_neighbours(const pair_buffers *buffers, size_t i, trend *found)
{
  const uint64_t before = buffers->data[i - 1], pair = buffers->data[i];
  found->descents += before > pair;
  found->ascents += before >> buffers->index_bits < pair >> buffers->index_bits;
}

static trend sample_trend(const pair_buffers *buffers)
{
  enum { SAMPLES = 1024 };
  const size_t stride = buffers->count > SAMPLES ? buffers->count / SAMPLES : 1;
  trend found = {0, 0};
  for (size_t i = 1; i < buffers->count; i += stride)
    count_neighbours(buffers, i, &found);
  return found;
}

/* A pass over all pairs, cut into pieces. */
typedef struct scan {
  pair_buffers buffers;
  size_t pieces;
  atomic_size_t descents;
  atomic_size_t ascents;
} scan;

static void trend_piece(void *argument, size_t piece, unsigned slot)
{
  scan *const s = argument;
  const team_range range = team_cut(s->buffers.count, piece, s->pieces);
  trend found = {0, 0};
  (void)slot;
  for (size_t i = range.begin ? range.begin : 1; i < range.end; i++)
    count_neighbours(&s->buffers, i, &found);
  (void)atomic_fetch_add(&s->descents, found.descents);
  (void)atomic_fetch_add(&s->ascents, found.ascents);
}

static trend full_trend(const pair_buffers *buffers)
{
  scan s = {.buffers = *buffers, .pieces = team_pieces(buffers->team)};
  team_each(buffers->team, s.pieces, trend_piece, &s);
  return (trend){s.descents, s.ascents};
}

static void copy_piece(void *argument, size_t piece, unsigned slot)
{
  const scan *const s = argument;
  const team_range range = team_cut(s->buffers.count, piece, s->pieces);
  (void)slot;
  memcpy(s->buffers.other + range.begin, s->buffers.data + range.begin,
         (range.end - range.begin) * sizeof(uint64_t));
}

static void copy_pairs(pair_buffers buffers)
{
  scan s = {.buffers = buffers, .pieces = team_pieces(buffers.team)};
  team_each(buffers.team, s.pieces, copy_piece, &s);
}

/* True if the key at `i` differs from the one before, or there is none. */
static inline bool key_begins(const pair_buffers *buffers, size_t i)
{
  return i == 0 || i == buffers->count ||
         buffers->data[i] >> buffers->index_bits != buffers->data[i - 1] >> buffers->index_bits;
}

/* Each piece takes whole runs of equal keys and searches for their ends, so there are few
 * pieces. */
static void reverse_piece(void *argument, size_t piece, unsigned slot)
{
  const scan *const s = argument;
  const pair_buffers *const buffers = &s->buffers;
  team_range range = team_cut(buffers->count, piece, s->pieces);
  (void)slot;
  while (!key_begins(buffers, range.begin))
    range.begin++;
  while (!key_begins(buffers, range.end))
    range.end++;
  for (size_t out = buffers->count - range.end; range.end > range.begin;) {
    size_t begin = range.end - 1;
    while (!key_begins(buffers, begin))
      begin--;
    for (size_t i = begin; i < range.end; i++)
      buffers->other[out++] = buffers->data[i];
    range.end = begin;
  }
}

/* Reverses pairs whose keys never ascend: the runs of equal keys in reverse, each in its own
 * order. */
static void reverse_pairs(pair_buffers buffers)
{
  scan s = {.buffers = buffers, .pieces = buffers.team.threads};
  team_each(buffers.team, s.pieces, reverse_piece, &s);
}

/* ---- Drop-merge ----
 * Each thread takes a stretch of the array and drops the pairs that are out of place. The dropped
 * pairs are sorted and stored in the gaps, in order. Then both the kept and the dropped pairs are
 * ascending sequences in pieces, and each thread merges its kept pairs with the dropped ones that
 * belong among them.
 *
 *   data    | kept ........ gap | kept ........ gap | ...    a stretch each
 *   other   | dropped           | dropped           | ... */
enum { MOST_STRETCHES = 64 };

typedef struct stretch {
  uint64_t *kept;
  uint64_t *dropped; /* until they are copied to the gap */
  size_t keeps;
  size_t drops;
} stretch;

typedef struct split {
  stretch at[MOST_STRETCHES];
  size_t count;
} split;

/* Splits data into `kept`, which ascends, and `dropped`; `kept` may be data itself. Returns the
 * number of kept pairs. When a pair is less than the last one kept, either of them may be out of
 * place. It is the last one if the pair before that is in order with the new one, or if more than
 * PATIENCE pairs in a row are less: then what was kept came too early. It is dropped as far as it
 * is greater than all of these, which are looked at again. One of them may be out of place too, so
 * it does not decide alone. */
static size_t drop(const uint64_t *data, size_t count, uint64_t *kept, uint64_t *dropped)
{
  enum { PATIENCE = 8 };
  size_t keep = 0, drops = 0, in_a_row = 0;
  for (size_t i = 0; i < count; i++) {
    const uint64_t pair = data[i];
    if (keep == 0 || kept[keep - 1] <= pair) {
      kept[keep++] = pair;
      in_a_row = 0;
    } else if (keep >= 2 && in_a_row == 0 && kept[keep - 2] <= pair) {
      dropped[drops++] = kept[keep - 1];
      kept[keep - 1] = pair;
    } else if (in_a_row < PATIENCE) {
      dropped[drops++] = pair;
      in_a_row++;
    } else {
      uint64_t greatest = pair;
      for (; in_a_row > 0; in_a_row--, i--)
        greatest = data[i - 1] > greatest ? data[i - 1] : greatest;
      drops -= PATIENCE;
      while (keep > 0 && kept[keep - 1] > greatest)
        dropped[drops++] = kept[--keep];
      i--;
    }
  }
  return keep;
}

typedef struct mending {
  const pair_buffers *buffers;
  split all;
  size_t each; /* pairs of a stretch; the last one has the rest */
} mending;

static void split_stretch(void *argument, size_t number, unsigned slot)
{
  mending *const m = argument;
  const size_t begin = number * m->each, left = m->buffers->count - begin;
  const size_t count = left < m->each ? left : m->each;
  uint64_t *const kept = m->buffers->data + begin, *const dropped = m->buffers->other + begin;
  const size_t keeps = drop(kept, count, kept, dropped);
  (void)slot;
  m->all.at[number] = (stretch){kept, dropped, keeps, count - keeps};
}

static mending split_all(const pair_buffers *buffers)
{
  const size_t threads = buffers->team.threads;
  const size_t most = threads < MOST_STRETCHES ? threads : MOST_STRETCHES;
  mending m = {.buffers = buffers, .each = (buffers->count + most - 1) / most};
  m.all.count = (buffers->count + m.each - 1) / m.each;
  team_each(buffers->team, m.all.count, split_stretch, &m);
  return m;
}

/* Drops the kept pairs [begin, end) of a stretch. */
static void drop_more(stretch *s, size_t begin, size_t end)
{
  memcpy(s->dropped + s->drops, s->kept + begin, (end - begin) * sizeof *s->kept);
  memmove(s->kept + begin, s->kept + end, (s->keeps - end) * sizeof *s->kept);
  s->drops += end - begin;
  s->keeps -= end - begin;
}

/* Makes the kept pairs ascend from stretch to stretch: if two overlap, drops the fewer pairs. */
static void join(split *all)
{
  for (size_t s = 1; s < all->count; s++)
    for (size_t before = s; before > 0 && all->at[s].keeps > 0; before--) {
      stretch *const a = &all->at[before - 1], *const b = &all->at[s];
      const size_t below = a->keeps ? rank_first(b->kept[0], (run64){a->kept, a->keeps}) : 0;
      const size_t early =
          a->keeps ? rank_first(a->kept[a->keeps - 1], (run64){b->kept, b->keeps}) : 0;
      if (early < a->keeps - below)
        drop_more(b, 0, early);
      else
        drop_more(a, below, a->keeps);
      if (a->keeps > 0) break;
    }
}

/* Sorts the dropped pairs and stores them in the gaps. False: there are too many to be worth it;
 * they are stored unsorted. */
static bool fill_gaps(const pair_buffers *buffers, const split *all)
{
  pair_buffers dropped = *buffers;
  dropped.data = buffers->other;
  dropped.count = 0;
  for (size_t s = 0; s < all->count; s++) {
    memmove(dropped.data + dropped.count, all->at[s].dropped, all->at[s].drops * sizeof(uint64_t));
    dropped.count += all->at[s].drops;
  }
  dropped.other = dropped.data + dropped.count;
  const bool few = dropped.count <= buffers->count / 4;
  if (few) rs_random_sort(dropped, false);
  for (size_t s = 0; s < all->count; s++) {
    memcpy(all->at[s].kept + all->at[s].keeps, dropped.data, all->at[s].drops * sizeof(uint64_t));
    dropped.data += all->at[s].drops;
  }
  return few;
}

static run64 gap_of(const stretch *s)
{
  return (run64){s->kept + s->keeps, s->drops};
}

/* The number of dropped pairs that are less than x. */
static size_t dropped_below(const split *all, uint64_t x)
{
  size_t below = 0;
  for (size_t s = 0; s < all->count; s++)
    below += rank_first(x, gap_of(&all->at[s]));
  return below;
}

/* Merges the kept pairs of stretch `number` with the dropped ones from its first kept pair (the
 * first stretch: from the start) up to the first kept pair of the next stretch that has any. */
static void merge_stretch(const pair_buffers *buffers, const split *all, size_t number)
{
  run64 kept = {all->at[number].kept, all->at[number].keeps};
  size_t next = number + 1, kept_before = 0, begin, end = SIZE_MAX, gap_begin = 0;
  for (size_t s = 0; s < number; s++)
    kept_before += all->at[s].keeps;
  while (next < all->count && all->at[next].keeps == 0)
    next++;
  if (kept.count == 0) return;
  begin = kept_before ? dropped_below(all, kept.at[0]) : 0;
  if (next < all->count) end = dropped_below(all, all->at[next].kept[0]);
  uint64_t *out = buffers->other + kept_before + begin;
  for (size_t s = 0; s < all->count; gap_begin += all->at[s].drops, s++) {
    const run64 gap = gap_of(&all->at[s]);
    const size_t from = begin > gap_begin ? begin - gap_begin : 0;
    const size_t to = end - gap_begin < gap.count ? end - gap_begin : gap.count;
    if (gap_begin >= end || from >= to) continue;
    const run64 part = {gap.at + from, to - from};
    const run64 among = {kept.at, rank_first(part.at[part.count - 1], kept)};
    rs_merge_runs(buffers->kernels, among, part, out);
    out += among.count + part.count;
    kept = (run64){kept.at + among.count, kept.count - among.count};
  }
  memcpy(out, kept.at, kept.count * sizeof *out);
}

static void merge_one_stretch(void *argument, size_t number, unsigned slot)
{
  const mending *const m = argument;
  (void)slot;
  merge_stretch(m->buffers, &m->all, number);
}

static bool nearly_sorted_sort(pair_buffers buffers)
{
  mending m = split_all(&buffers);
  join(&m.all);
  if (!fill_gaps(&buffers, &m.all)) return false;
  team_each(buffers.team, m.all.count, merge_one_stretch, &m);
  return true;
}

bool rs_presorted_sort(pair_buffers buffers)
{
  const trend sample = sample_trend(&buffers);
  const size_t sampled = sample.descents + sample.ascents;
  if (sample.descents > sampled / 8 && sample.ascents > 0) return false;
  const trend full = full_trend(&buffers);
  if (full.descents == 0)
    copy_pairs(buffers);
  else if (full.ascents == 0)
    reverse_pairs(buffers);
  else
    return full.descents <= buffers.count / 8 && nearly_sorted_sort(buffers);
  return true;
}
