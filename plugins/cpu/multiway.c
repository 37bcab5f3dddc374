/* multiway.c - up to 16 runs into one with a single read and write of memory.
 *
 * A task merges one piece of the output. Multiway co-ranks give it a range of each run. Of each it
 * looks at a window; all pairs below the least of the windows' last ones can be merged now, without
 * regard to what lies beyond. That part, a tile, is merged pairwise in the cache, and the last of
 * these merges writes to the output.
 */
#include <string.h>

#include "cpu/pairs.h"

typedef struct run_set {
  run64 runs[MULTIWAY_RUNS];
  size_t count;
} run_set;

/* A cut: how many pairs of each run lie before it. */
typedef struct cut {
  size_t at[MULTIWAY_RUNS];
} cut;

static size_t widest(const run_set *set, const cut *low, const cut *high)
{
  size_t found = 0, most = 0;
  for (size_t r = 0; r < set->count; r++)
    if (high->at[r] - low->at[r] > most) {
      most = high->at[r] - low->at[r];
      found = r;
    }
  return found;
}

/* The cut before which exactly `rank` pairs lie, none of them greater than one behind it. Pairs
 * are all different, so there is just one. Halves the widest interval each time. */
static cut multiway_co_rank(const run_set *set, size_t rank)
{
  cut low = {{0}}, high = {{0}}, middle = {{0}};
  for (size_t r = 0; r < set->count; r++)
    high.at[r] = set->runs[r].count;
  for (;;) {
    const size_t pick = widest(set, &low, &high);
    if (low.at[pick] == high.at[pick]) return low;
    const uint64_t pivot = set->runs[pick].at[low.at[pick] + (high.at[pick] - low.at[pick]) / 2];
    size_t below = 0;
    for (size_t r = 0; r < set->count; r++) {
      const run64 open = {set->runs[r].at + low.at[r], high.at[r] - low.at[r]};
      middle.at[r] = low.at[r] + rank_first(pivot, open);
      below += middle.at[r];
    }
    if (below > rank) {
      high = middle;
    } else {
      low = middle;
      if (below < rank) low.at[pick]++; /* the pivot itself */
    }
    if (below == rank) return middle;
  }
}

/* Cuts the next tile off the fronts of the runs. Returns its pairs. */
static size_t cut_tile(run_set *set, run_set *tile)
{
  const size_t most = TILE_PAIRS / set->count;
  uint64_t bound = UINT64_MAX;
  size_t total = 0;
  for (size_t r = 0; r < set->count; r++) {
    const run64 *run = &set->runs[r];
    if (run->count > most && run->at[most - 1] < bound) bound = run->at[most - 1];
  }
  tile->count = set->count;
  for (size_t r = 0; r < set->count; r++) {
    run64 *run = &set->runs[r];
    const size_t window = run->count < most ? run->count : most;
    const size_t taken = rank_first(bound, (run64){run->at, window});
    tile->runs[r] = (run64){run->at, taken};
    *run = (run64){run->at + taken, run->count - taken};
    total += taken;
  }
  return total;
}

/* Merges neighbours until one run is left; the last merge writes to `out`. */
static void merge_tile(const merge_kernels *kernels, run_set *tile, uint64_t *buffers,
                       uint64_t *out)
{
  uint64_t *to = buffers, *next = buffers + TILE_PAIRS;
  while (tile->count > 1) {
    const size_t half = (tile->count + 1) / 2;
    uint64_t *at = half == 1 ? out : to;
    for (size_t r = 0; r < half; r++) {
      const run64 a = tile->runs[2 * r];
      const run64 b = 2 * r + 1 < tile->count ? tile->runs[2 * r + 1] : (run64){a.at, 0};
      const run64 merged = {at, a.count + b.count};
      rs_merge_runs(kernels, a, b, at);
      tile->runs[r] = merged;
      at += merged.count;
    }
    tile->count = half;
    uint64_t *const swap = to;
    to = next;
    next = swap;
  }
}

/* Pairs [begin, end) of the merge of `set`. */
static void merge_piece(const merge_kernels *kernels, const run_set *set, size_t begin, size_t end,
                        uint64_t *tile_buffers, uint64_t *out)
{
  const cut from = multiway_co_rank(set, begin), to = multiway_co_rank(set, end);
  run_set rest = {.count = set->count}, tile;
  for (size_t r = 0; r < set->count; r++)
    rest.runs[r] = (run64){set->runs[r].at + from.at[r], to.at[r] - from.at[r]};
  for (size_t done = begin; done < end;) {
    const size_t taken = cut_tile(&rest, &tile);
    merge_tile(kernels, &tile, tile_buffers, out + done);
    done += taken;
  }
}

/* Enough pieces that the threads end together, but few enough that their co-ranks cost nothing. */
static size_t piece_for(const pair_buffers *buffers)
{
  enum { LEAST = 1 << 15, MOST = 1 << 20 };
  const size_t even = buffers->count / (8 * (size_t)buffers->team.threads);
  return even < LEAST ? LEAST : even > MOST ? MOST : even;
}

typedef struct pass {
  pair_buffers buffers;
  size_t run_count;
  size_t group; /* pairs of the runs that become one */
  size_t piece;
} pass;

/* The runs of the group of `size` pairs that begins at `start`. */
static run_set runs_of_group(const pass *p, size_t start, size_t size)
{
  run_set set = {.count = 0};
  for (size_t run = 0; run < size; run += p->run_count)
    set.runs[set.count++] = (run64){p->buffers.data + start + run,
                                    size - run < p->run_count ? size - run : p->run_count};
  return set;
}

/* A piece may end inside a group, or hold several: each part is merged by itself. */
static void pass_piece(void *argument, size_t number, unsigned slot)
{
  const pass *const p = argument;
  const pair_buffers *const b = &p->buffers;
  uint64_t *const tile_buffers = b->tiles + (size_t)slot * 2 * TILE_PAIRS;
  const size_t first = number * p->piece;
  const size_t piece_end = b->count - first < p->piece ? b->count : first + p->piece;
  for (size_t at = first, end; at < piece_end; at = end) {
    const size_t start = at / p->group * p->group;
    const size_t size = b->count - start < p->group ? b->count - start : p->group;
    const run_set set = runs_of_group(p, start, size);
    end = start + size < piece_end ? start + size : piece_end;
    if (set.count == 1)
      memcpy(b->other + at, b->data + at, (end - at) * sizeof(uint64_t));
    else
      merge_piece(b->kernels, &set, at - start, end - start, tile_buffers, b->other + start);
  }
}

void rs_multiway_pass(pair_buffers buffers, size_t run_count)
{
  const size_t group = run_count > SIZE_MAX / MULTIWAY_RUNS ? SIZE_MAX : run_count * MULTIWAY_RUNS;
  pass p = {buffers, run_count, group, piece_for(&buffers)};
  team_each(buffers.team, (buffers.count + p.piece - 1) / p.piece, pass_piece, &p);
}

/* ---- The sort ---- */

/* Passes that make one run of `count` pairs from runs of `run_count`. */
static unsigned passes_for(size_t count, size_t run_count)
{
  unsigned passes = 0;
  for (size_t runs = (count + run_count - 1) / run_count; runs > 1;
       runs = (runs + MULTIWAY_RUNS - 1) / MULTIWAY_RUNS)
    passes++;
  return passes;
}

static pair_buffers swapped(pair_buffers buffers)
{
  uint64_t *const data = buffers.data;
  buffers.data = buffers.other;
  buffers.other = data;
  return buffers;
}

static void merge_up(pair_buffers buffers, size_t run_count)
{
  for (size_t run = run_count; run < buffers.count; run *= MULTIWAY_RUNS) {
    rs_multiway_pass(buffers, run);
    buffers = swapped(buffers);
    if (run > SIZE_MAX / MULTIWAY_RUNS) break;
  }
}

typedef struct block_job {
  pair_buffers buffers;
  bool into_other;
} block_job;

static void sort_one_block(void *argument, size_t number, unsigned slot)
{
  const block_job *const job = argument;
  const pair_buffers *const b = &job->buffers;
  const size_t begin = number * BLOCK_PAIRS, left = b->count - begin;
  (void)slot;
  rs_block_sort(b->kernels, b->data + begin, b->other + begin,
                left < BLOCK_PAIRS ? left : BLOCK_PAIRS, job->into_other);
}

void rs_random_sort(pair_buffers buffers, bool into_other)
{
  if (buffers.count <= BLOCK_PAIRS) {
    rs_block_sort(buffers.kernels, buffers.data, buffers.other, buffers.count, into_other);
    return;
  }
  const unsigned passes = passes_for(buffers.count, BLOCK_PAIRS);
  block_job job = {buffers, (passes % 2 == 0) == into_other};
  team_each(buffers.team, (buffers.count + BLOCK_PAIRS - 1) / BLOCK_PAIRS, sort_one_block, &job);
  merge_up(job.into_other ? swapped(buffers) : buffers, BLOCK_PAIRS);
}
