/* presorted.c - order that is already there.
 *
 * A sample of neighbours tells whether to look closer. Then one read counts the descents, and
 *
 *   none            the array is sorted
 *   no ascents      it is reversed; equal keys stand in input order and are turned back
 *   few descents    most pairs are in order but for some that are out of place: these are taken
 * out, sorted, and merged back in (drop-merge sort; E. Ernerfeldt, 2017)
 */
#include <omp.h>
#include <string.h>

#include "cpu/pairs.h"

/* Neighbours that descend as pairs, and that ascend as keys. */
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

static trend full_trend(const pair_buffers *buffers)
{
  size_t descents = 0, ascents = 0;
#pragma omp parallel for num_threads(buffers->threads) reduction(+ : descents, ascents)
  for (size_t i = 1; i < buffers->count; i++) {
    trend found = {0, 0};
    count_neighbours(buffers, i, &found);
    descents += found.descents;
    ascents += found.ascents;
  }
  return (trend){descents, ascents};
}

static void copy_pairs(pair_buffers buffers)
{
#pragma omp parallel num_threads(buffers.threads)
  {
    const size_t team = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
    const size_t begin = buffers.count / team * me;
    const size_t end = me + 1 == team ? buffers.count : buffers.count / team * (me + 1);
    memcpy(buffers.other + begin, buffers.data + begin, (end - begin) * sizeof(uint64_t));
  }
}

/* Keys never ascend: runs of equal keys come out last run first, each in its own order. */
static void reverse_pairs(pair_buffers buffers)
{
  for (size_t end = buffers.count, out = 0; end > 0;) {
    const uint64_t key = buffers.data[end - 1] >> buffers.index_bits;
    size_t begin = end - 1;
    while (begin > 0 && buffers.data[begin - 1] >> buffers.index_bits == key)
      begin--;
    for (size_t i = begin; i < end; i++)
      buffers.other[out++] = buffers.data[i];
    end = begin;
  }
}

/* ---- Drop-merge ---- */

/* Splits data into `kept`, which ascends, and `dropped`; either may be data itself. Returns how
 * many were kept. When a pair is less than the last one kept, either may be the one out of place:
 * the last one if the pair before it is in order with the new one, and also if many in a row are
 * less, for then it is rather that one which came too early. */
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
      while (keep > 0 && kept[keep - 1] > pair)
        dropped[drops++] = kept[--keep];
      kept[keep++] = pair;
      in_a_row = 0;
    }
  }
  return keep;
}

/* Sorts one stretch, by one thread; the result is in buffers.other or buffers.data, as asked. */
static void drop_merge_sort(pair_buffers buffers, bool into_other)
{
  uint64_t *const kept = into_other ? buffers.data : buffers.other;
  uint64_t *const dropped = into_other ? buffers.other : buffers.data;
  const size_t keep = drop(buffers.data, buffers.count, kept, dropped);
  pair_buffers rest = buffers;
  rest.data = dropped;
  rest.other = kept + keep;
  rest.count = buffers.count - keep;
  random_sort(rest, true);
  merge_runs(buffers.kernels, (run64){kept, keep}, (run64){kept + keep, rest.count}, dropped);
}

static void nearly_sorted_sort(pair_buffers buffers)
{
  const size_t most = buffers.threads < MULTIWAY_RUNS ? buffers.threads : MULTIWAY_RUNS;
  const size_t stretch = (buffers.count + most - 1) / most;
  const size_t stretches = (buffers.count + stretch - 1) / stretch;
#pragma omp parallel for num_threads(buffers.threads) schedule(static, 1)
  for (size_t s = 0; s < stretches; s++) {
    const size_t begin = s * stretch, left = buffers.count - begin;
    pair_buffers part = buffers;
    part.data += begin;
    part.other += begin;
    part.count = left < stretch ? left : stretch;
    part.tiles += (size_t)omp_get_thread_num() * 2 * TILE_PAIRS;
    part.threads = 1;
    drop_merge_sort(part, stretches == 1);
  }
  if (stretches > 1) multiway_pass(buffers, stretch);
}

bool presorted_sort(pair_buffers buffers)
{
  const trend sample = sample_trend(&buffers);
  const size_t sampled = sample.descents + sample.ascents;
  if (sample.descents > sampled / 8 && sample.ascents > 0) return false;
  const trend full = full_trend(&buffers);
  if (full.descents == 0)
    copy_pairs(buffers);
  else if (full.ascents == 0)
    reverse_pairs(buffers);
  else if (full.descents <= buffers.count / 8)
    nearly_sorted_sort(buffers);
  else
    return false;
  return true;
}
