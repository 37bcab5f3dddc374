#include "gpu/host_merge.h"

#include <stdbool.h>

#include "common/co_rank.h"

#define SPENT (UINT32_C(1) << 31)

__extension__ typedef unsigned __int128 uint128;

/* The start of each part of the output is found once, with keys of any width as 128 bits. The code
 * that runs for each element is compiled for each width: these functions are inlined where the
 * width is a constant. */
#define FOR_EACH_WIDTH static inline __attribute__((always_inline))

/* Elements [begin, end) of an order, 32 or 64 bits each. */
typedef struct order_part {
  void *order;
  uint32_t bits;
  uint64_t begin;
  uint64_t end;
} order_part;

static inline void set(order_part part, uint64_t i, uint64_t value)
{
  if (part.bits == 32)
    ((uint32_t *)part.order)[i] = (uint32_t)value;
  else
    ((uint64_t *)part.order)[i] = value;
}

/* ---- Keys ---- */

FOR_EACH_WIDTH uint128 key_at(const host_runs *runs, uint64_t i, uint32_t width)
{
  if (width == 32) return ((const uint32_t *)runs->keys)[i];
  if (width == 64) return ((const uint64_t *)runs->keys)[i];
  return ((const uint128 *)runs->keys)[i];
}

/* ---- The start of a part ---- */

/* The position in a run of the first key that is not less than `key`, or of the first that is
 * greater. */
static uint64_t search(const host_runs *runs, uint32_t run, uint128 key, bool greater)
{
  uint64_t low = runs->bounds[run], high = runs->bounds[run + 1];
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    const uint128 found = key_at(runs, middle, runs->key_width);
    if (found < key || (greater && found == key))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static uint64_t count_up_to(const host_runs *runs, uint128 key)
{
  uint64_t count = 0;
  for (uint32_t r = 0; r < runs->count; r++)
    count += search(runs, r, key, true) - runs->bounds[r];
  return count;
}

/* The least key such that at least `rank` keys are not greater. */
static uint128 select_key(const host_runs *runs, uint64_t rank)
{
  uint128 low = ~(uint128)0, high = 0;
  for (uint32_t r = 0; r < runs->count; r++) {
    const uint64_t begin = runs->bounds[r], end = runs->bounds[r + 1];
    if (begin == end) continue;
    const uint128 first = key_at(runs, begin, runs->key_width),
                  last = key_at(runs, end - 1, runs->key_width);
    if (first < low) low = first;
    if (last > high) high = last;
  }
  while (low < high) {
    const uint128 middle = low + (high - low) / 2;
    if (count_up_to(runs, middle) >= rank)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* ---- The tree ---- */

/* The head of a run, as a player of the tree. An exhausted run has a number with SPENT set and the
 * greatest key, so it loses to all others. */
typedef struct player {
  uint128 key;
  uint32_t run;
} player;

typedef struct tree {
  const host_runs *runs;
  uint64_t at[HOST_MERGE_MOST_RUNS]; /* the heads */
  player losers[HOST_MERGE_MOST_RUNS];
} tree;

/* Sets the heads so that `rank` elements lie before them: all that are less than some key, and as
 * many equal ones as are missing, from the first runs. */
static void cut(tree *t, uint64_t rank)
{
  const host_runs *const runs = t->runs;
  const uint128 key = select_key(runs, rank);
  uint64_t wanted = rank;
  for (uint32_t r = 0; r < runs->count; r++) {
    t->at[r] = search(runs, r, key, false);
    wanted -= t->at[r] - runs->bounds[r];
  }
  for (uint32_t r = 0; r < runs->count; r++) {
    const uint64_t equal = search(runs, r, key, true) - t->at[r];
    const uint64_t taken = equal < wanted ? equal : wanted;
    t->at[r] += taken;
    wanted -= taken;
  }
}

/* Without branches, half of which would be mispredicted. */
FOR_EACH_WIDTH bool wins(player a, player b, uint32_t width)
{
  const uint64_t x = (uint64_t)a.key, y = (uint64_t)b.key;
  const bool less = width == 128 ? !LEFT_GOES_FIRST(b.key, a.key) : !LEFT_GOES_FIRST(y, x);
  const bool equal_or_less = width == 128 ? LEFT_GOES_FIRST(a.key, b.key) : LEFT_GOES_FIRST(x, y);
  return less | ((a.run < b.run) & equal_or_less);
}

FOR_EACH_WIDTH player head(const tree *t, uint32_t run, uint32_t width)
{
  const uint64_t at = t->at[run];
  if (at == t->runs->bounds[run + 1]) return (player){~(uint128)0, run | SPENT};
  return (player){key_at(t->runs, at, width), run};
}

/* Plays the subtree of a node and returns the winner. The children of a node are 2 * node and the
 * next one; nodes from number `count` on are the leaves, which are the runs. */
static player play(tree *t, uint32_t node)
{
  const uint32_t width = t->runs->key_width;
  if (node >= t->runs->count) return head(t, node - t->runs->count, width);
  const player left = play(t, 2 * node), right = play(t, 2 * node + 1);
  const bool left_wins = wins(left, right, width);
  t->losers[node] = left_wins ? right : left;
  return left_wins ? left : right;
}

/* Replays the path from a run's leaf to the root, after its head has advanced. Returns the new
 * winner. */
FOR_EACH_WIDTH player replay(tree *t, uint32_t run, uint32_t width)
{
  player winner = head(t, run, width);
  for (uint32_t node = (run + t->runs->count) / 2; node > 0; node /= 2) {
    const player loser = t->losers[node];
    const bool loser_wins = wins(loser, winner, width);
    t->losers[node] = loser_wins ? winner : loser;
    winner = loser_wins ? loser : winner;
  }
  return winner;
}

FOR_EACH_WIDTH void merge_part(tree *t, order_part part, uint32_t width)
{
  player winner = play(t, 1);
  for (uint64_t i = part.begin; i < part.end; i++) {
    const uint32_t run = winner.run;
    set(part, i, t->runs->bounds[run] + t->runs->indices[t->at[run]++]);
    winner = replay(t, run, width);
  }
}

/* Merges elements [begin, end) of the output. */
static void merge(const host_runs *runs, order_part part)
{
  tree t;
  t.runs = runs;
  cut(&t, part.begin);
  if (runs->key_width == 32)
    merge_part(&t, part, 32);
  else if (runs->key_width == 64)
    merge_part(&t, part, 64);
  else
    merge_part(&t, part, 128);
}

/* ---- Parts ---- */

typedef struct merge_job {
  const host_runs *runs;
  void *order;
  uint32_t index_bits;
  size_t pieces;
} merge_job;

static void merge_piece(void *argument, size_t piece, unsigned slot)
{
  const merge_job *const job = argument;
  const host_runs *const runs = job->runs;
  const team_range range = team_cut((size_t)runs->bounds[runs->count], piece, job->pieces);
  (void)slot;
  merge(runs, (order_part){job->order, job->index_bits, range.begin, range.end});
}

void host_merge(const host_runs *runs, void *order, uint32_t index_bits, team t)
{
  merge_job job = {runs, order, index_bits, team_pieces(t)};
  team_each(t, job.pieces, merge_piece, &job);
}
