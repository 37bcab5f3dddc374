/* tree.c - a tree of losers (Knuth, vol. 3, sect. 5.4.1) for keys of any size. */
#include "runs/runs.h"

typedef struct tree {
  run_keys runs[RUN_MOST];
  size_t count;
  size_t key_size;
  size_t losers[RUN_MOST];
} tree;

/* A run that is spent loses to every other. */
static bool comes_first(const tree *t, size_t a, size_t b)
{
  if (t->runs[a].count == 0 || t->runs[b].count == 0) return t->runs[a].count != 0;
  const int order = run_compare(t->key_size, t->runs[a].at, t->runs[b].at);
  return order < 0 || (order == 0 && a < b);
}

/* Plays what is below a node, whose sons are 2 * node and the next; the runs are the leaves, from
 * number count on. Returns the winner. */
static size_t play(tree *t, size_t node)
{
  if (node >= t->count) return node - t->count;
  const size_t left = play(t, 2 * node), right = play(t, 2 * node + 1);
  const bool left_wins = comes_first(t, left, right);
  t->losers[node] = left_wins ? right : left;
  return left_wins ? left : right;
}

void run_tree_merge(const run_keys *runs, size_t run_count, size_t key_size, unsigned shift,
                    uint64_t *to)
{
  tree t = {.count = run_count, .key_size = key_size};
  size_t total = 0;
  for (size_t r = 0; r < run_count; r++) {
    t.runs[r] = runs[r];
    total += runs[r].count;
  }
  size_t winner = run_count > 1 ? play(&t, 1) : 0;
  for (size_t i = 0; i < total; i++) {
    run_keys *const run = &t.runs[winner];
    to[i] = (uint64_t)winner << shift | (runs[winner].count - run->count);
    run->at += key_size;
    run->count--;
    for (size_t node = (winner + run_count) / 2; node > 0; node /= 2)
      if (comes_first(&t, t.losers[node], winner)) {
        const size_t loser = winner;
        winner = t.losers[node];
        t.losers[node] = loser;
      }
  }
}
