/* tree.c - a tree of losers (Knuth, "The Art of Computer Programming", vol. 3, sect. 5.4.1). */
#include "base/assert.h"
#include "base/co_rank.h"
#include "runs/runs.h"

#define SPENT (UINT64_C(1) << 63)

/* The code that runs for each key is compiled for each of its sizes, with the size as a constant.
 */
#define FOR_EACH_SIZE static inline __attribute__((always_inline))

typedef struct tree {
  run_player *players;
  size_t count;
  size_t key_size;
} tree;

/* The next key of a run, or its top 16 bytes. A run that is spent has the greatest key and a number
 * with SPENT, so it loses to all others. */
FOR_EACH_SIZE run_head head(const tree *t, size_t run, size_t key_size)
{
  const run_player *const player = &t->players[run];
  const uint64_t *const words = (const void *)player->at;
  RS_ASSERT(run < t->count && player->place <= player->count);
  if (player->place == player->count) return (run_head){UINT64_MAX, UINT64_MAX, run | SPENT};
  if (key_size == 8) return (run_head){0, words[0], run};
  return (run_head){words[key_size / 8 - 1], words[key_size / 8 - 2], run};
}

FOR_EACH_SIZE uint128 key_of(run_head head, size_t key_size)
{
  return key_size == 8 ? head.low : (uint128)head.high << 64 | head.low;
}

/* Up to 16 bytes without branches, half of which would be mispredicted. */
FOR_EACH_SIZE bool wins(const tree *t, run_head a, run_head b, size_t key_size)
{
  const uint128 x = key_of(a, key_size), y = key_of(b, key_size);
  if (key_size > 16 && x == y && !((a.run | b.run) & SPENT)) {
    const int order = run_compare(key_size, t->players[a.run].at, t->players[b.run].at);
    if (order) return order < 0;
  }
  const bool less = !LEFT_GOES_FIRST(y, x), equal_or_less = LEFT_GOES_FIRST(x, y);
  return less | ((a.run < b.run) & equal_or_less);
}

FOR_EACH_SIZE void exchange_if(bool condition, run_head *a, run_head *b)
{
  const uint64_t all = -(uint64_t)condition;
  const uint64_t high = (a->high ^ b->high) & all, low = (a->low ^ b->low) & all,
                 run = (a->run ^ b->run) & all;
  *a = (run_head){a->high ^ high, a->low ^ low, a->run ^ run};
  *b = (run_head){b->high ^ high, b->low ^ low, b->run ^ run};
}

/* Plays what is below a node, whose sons are 2 * node and the next; the runs are the leaves, from
 * number count on. Returns the winner. */
static run_head play(const tree *t, size_t node)
{
  if (node >= t->count) return head(t, node - t->count, t->key_size);
  const run_head left = play(t, 2 * node), right = play(t, 2 * node + 1);
  const bool left_wins = wins(t, left, right, t->key_size);
  t->players[node].loser = left_wins ? right : left;
  return left_wins ? left : right;
}

FOR_EACH_SIZE void merge_as(const tree *t, size_t total, unsigned shift, uint64_t *to,
                            size_t key_size)
{
  run_head winner = play(t, 1);
  for (size_t i = 0; i < total; i++) {
    const size_t run = (size_t)winner.run;
    run_player *const player = &t->players[run];
    to[i] = (uint64_t)run << shift | player->place++;
    player->at += key_size;
    winner = head(t, run, key_size);
    for (size_t node = (run + t->count) / 2; node > 0; node /= 2) {
      run_head *const loser = &t->players[node].loser;
      exchange_if(wins(t, *loser, winner, key_size), loser, &winner);
    }
  }
  RS_ASSERT(winner.run & SPENT);
}

void rs_run_tree_merge(run_player *players, size_t count, size_t key_size, unsigned shift,
                       uint64_t *to)
{
  const tree t = {players, count, key_size};
  size_t total = 0;
  RS_ASSERT(count > 1 && key_size >= 8 && key_size % 8 == 0);
  for (size_t r = 0; r < count; r++)
    total += players[r].count;
  if (key_size == 8)
    merge_as(&t, total, shift, to, 8);
  else if (key_size == 16)
    merge_as(&t, total, shift, to, 16);
  else
    merge_as(&t, total, shift, to, key_size);
}
