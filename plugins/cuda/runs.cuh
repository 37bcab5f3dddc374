/* runs.cuh - sorted runs of pairs: searches and serial merges.
 *
 * A run is a struct with the types `pair` and `position`, an unsigned type that counts elements,
 * and a member `count`; key_at(run, i) and index_at(run, i) are its elements. The runs here are
 * contiguous; corank_circular.cuh has ring buffers.
 */
#ifndef RECSORT_CUDA_RUNS_CUH
#define RECSORT_CUDA_RUNS_CUH

#include "cuda/pair.cuh"
#include "cuda/plan.h"

template <class Pair, class Position> struct linear_run {
  using pair = Pair;
  using position = Position;

  const key_of<Pair> *keys;
  const index_of<Pair> *indices; /* NULL: an index is the position of its element */
  Position first;
  Position count;
};

template <class Pair> using global_run = linear_run<Pair, uint64_t>;
template <class Pair> using tile_run = linear_run<Pair, uint32_t>; /* in shared memory */

template <class Run> using position_of = typename Run::position;
template <class Run> using run_key = key_of<typename Run::pair>;

template <class Pair, class Position>
DEVICE_INLINE key_of<Pair> key_at(linear_run<Pair, Position> run, Position i)
{
  return run.keys[run.first + i];
}

template <class Pair, class Position>
DEVICE_INLINE index_of<Pair> index_at(linear_run<Pair, Position> run, Position i)
{
  return run.indices ? run.indices[run.first + i] : (index_of<Pair>)(run.first + i);
}

template <class Pair, class Position>
DEVICE_INLINE linear_run<Pair, Position> part_of(linear_run<Pair, Position> run, uint64_t begin,
                                                 uint64_t end)
{
  DEVICE_ASSERT(begin <= end && end <= run.count);
  return {run.keys, run.indices, run.first + (Position)begin, (Position)(end - begin)};
}

/* ---- Searches ---- */

/* bSearchFirst (Montalto, "GPU merge sort", 3.1): the rank of x, of the left run, in the right one.
 */
template <class Run> DEVICE_INLINE position_of<Run> rank_in_right(run_key<Run> x, Run right)
{
  position_of<Run> low = 0, high = right.count;
  while (low < high) {
    const position_of<Run> i = low + (high - low) / 2;
    if (LEFT_GOES_FIRST(x, key_at(right, i)))
      high = i;
    else
      low = i + 1;
  }
  return low;
}

/* bSearchLast: the rank of x, of the right run, in the left one. */
template <class Run> DEVICE_INLINE position_of<Run> rank_in_left(run_key<Run> x, Run left)
{
  position_of<Run> low = 0, high = left.count;
  while (low < high) {
    const position_of<Run> i = low + (high - low) / 2;
    if (LEFT_GOES_FIRST(key_at(left, i), x))
      low = i + 1;
    else
      high = i;
  }
  return low;
}

/* The co-rank: how many of the first `rank` elements of the merge of a and b come from a (PMPP,
 * fig. 12.5; fig. 12.18 for rings). */
template <class Run> DEVICE_INLINE position_of<Run> co_rank_of(position_of<Run> rank, Run a, Run b)
{
  DEVICE_ASSERT(rank <= a.count + b.count);
  position_of<Run> low = rank > b.count ? rank - b.count : 0;
  position_of<Run> high = rank < a.count ? rank : a.count;
  while (low < high) {
    const position_of<Run> i = low + (high - low) / 2;
    if (LEFT_GOES_FIRST(key_at(a, i), key_at(b, rank - i - 1)))
      low = i + 1;
    else
      high = i;
  }
  return low;
}

/* The position of element i of `all`, which has runs of `width` elements, in the merge of its pair
 * of runs. */
template <class Pair, class Position>
DEVICE_INLINE Position place_of(Position i, uint64_t width, linear_run<Pair, Position> all)
{
  DEVICE_ASSERT(i < all.count);
  const pair_range pair = plan_pair_at(i, width, all.count);
  const auto left = part_of(all, pair.begin, pair.middle);
  const auto right = part_of(all, pair.middle, pair.end);
  const key_of<Pair> key = all.keys[all.first + i];
  if (i < pair.middle) return i + rank_in_right(key, right);
  return i - left.count + rank_in_left(key, left);
}

/* ---- Merges ---- */

/* Writes elements [begin, end) of the merge of a and b to the same places of `to` (PMPP, fig. 12.2
 * and 12.9; fig. 12.20 for rings). */
template <class Run>
DEVICE_INLINE void merge_serially(position_of<Run> begin, position_of<Run> end, Run a, Run b,
                                  pair_array<typename Run::pair> to)
{
  DEVICE_ASSERT(begin >= end || end <= a.count + b.count);
  position_of<Run> i = begin < end ? co_rank_of(begin, a, b) : 0;
  position_of<Run> j = begin - i;
  for (position_of<Run> k = begin; k < end; k++) {
    const bool left = j >= b.count || (i < a.count && LEFT_GOES_FIRST(key_at(a, i), key_at(b, j)));
    to.keys[k] = left ? key_at(a, i) : key_at(b, j);
    to.indices[k] = left ? index_at(a, i) : index_at(b, j);
    i += left;
    j += !left;
  }
  DEVICE_ASSERT(begin >= end || (i <= a.count && j <= b.count));
}

/* Writes elements [begin, end) of the merge of all pairs of runs of `all`. */
template <class Pair, class Position>
DEVICE_INLINE void merge_pairs_serially(Position begin, Position end, Position width,
                                        linear_run<Pair, Position> all, pair_array<Pair> to)
{
  while (begin < end) {
    const pair_range pair = plan_pair_at(begin, width, all.count);
    DEVICE_ASSERT(pair.end > begin);
    const Position first = (Position)pair.begin, stop = (Position)plan_min(end, pair.end);
    const pair_array<Pair> out = {to.keys + first, to.indices + first};
    merge_serially<linear_run<Pair, Position>>(begin - first, stop - first,
                                               part_of(all, first, pair.middle),
                                               part_of(all, pair.middle, pair.end), out);
    begin = stop;
  }
}

#endif
