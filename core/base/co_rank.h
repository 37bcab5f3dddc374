/* co_rank.h - cuts two sorted runs so that the parts can be merged independently.
 *
 * It has the tie rule of merges that compare keys alone: the left run goes first. An element of the
 * right run goes first only if it is strictly less than the head of the left one. Where a key is
 * compared together with its index, as in `sample` on a GPU, there are no ties.
 */
#ifndef RS_BASE_CO_RANK_H
#define RS_BASE_CO_RANK_H

#include <stddef.h>

#include "base/assert.h"
#include "base/bits.h"

/* For unsigned integers of any type. */
#define LEFT_GOES_FIRST(left, right) ((left) <= (right))

/* True if the head `left` of the left run goes before the head `right` of the right one. */
RECSORT_HD static inline bool left_goes_first(uint64_t left, uint64_t right)
{
  return LEFT_GOES_FIRST(left, right);
}

/* A sorted array. */
typedef struct run64 {
  const uint64_t *at;
  size_t count;
} run64;

/* The co-rank: how many of the first `rank` elements of the merge of a and b come from a. `rank` is
 * at most a.count + b.count. (Siebert and Traeff, "Efficient MPI Implementation of a Parallel,
 * Stable Merge Algorithm"; Kirk and Hwu, "Programming Massively Parallel Processors", ch. 12, fig.
 * 12.5.) */
RECSORT_HD static inline size_t co_rank(size_t rank, run64 a, run64 b)
{
  RS_ASSERT(rank <= a.count + b.count);
  size_t low = rank > b.count ? rank - b.count : 0;
  size_t high = rank < a.count ? rank : a.count;
  while (low < high) {
    const size_t i = low + (high - low) / 2;
    if (left_goes_first(a.at[i], b.at[rank - i - 1]))
      low = i + 1;
    else
      high = i;
  }
  RS_ASSERT(low <= a.count && rank - low <= b.count);
  RS_ASSERT(low == 0 || rank - low == b.count || left_goes_first(a.at[low - 1], b.at[rank - low]));
  RS_ASSERT(low == rank || low == a.count || !left_goes_first(a.at[low], b.at[rank - low - 1]));
  return low;
}

/* The number of elements of `run` that are strictly less than x: bSearchFirst of Montalto, "GPU
 * merge sort". */
RECSORT_HD static inline size_t rank_first(uint64_t x, run64 run)
{
  size_t low = 0, high = run.count;
  while (low < high) {
    const size_t i = low + (high - low) / 2;
    if (run.at[i] < x)
      low = i + 1;
    else
      high = i;
  }
  RS_ASSERT(low == run.count || run.at[low] >= x);
  RS_ASSERT(low == 0 || run.at[low - 1] < x);
  return low;
}

#endif
