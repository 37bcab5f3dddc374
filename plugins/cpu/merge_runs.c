/* merge_runs.c - two sorted runs into one, without a branch that depends on the data.
 *
 * One step takes the lesser head and moves on in its run. A step has to wait for the one before it,
 * about nine cycles, though it is only ten instructions: so four chains of steps run side by side.
 * Co-ranks cut the output into quarters; three chains fill theirs from the front, the last from
 * the back. A chain that works on its own quarter sees both runs beyond it, so it needs no check
 * for the end of a run as long as no run ends before the last cut.
 */
#include <string.h>

#include "cpu/pairs.h"

/* Takes one pair at the front: `i` of the `k` taken so far came from a. */
#define STEP_FRONT(a, b, i, k, out)                                                                \
  do {                                                                                             \
    const uint64_t x = (a)[i], y = (b)[(k) - (i)];                                                 \
    (out)[k] = left_goes_first(x, y) ? x : y;                                                      \
    (i) += left_goes_first(x, y);                                                                  \
  } while (0)

/* The same at the back: a, b and out are the addresses of the last pairs. */
#define STEP_BACK(a, b, i, k, out)                                                                 \
  do {                                                                                             \
    const uint64_t x = (a)[-(i)], y = (b)[-((k) - (i))];                                           \
    (out)[-(k)] = left_goes_first(x, y) ? y : x;                                                   \
    (i) += !left_goes_first(x, y);                                                                 \
  } while (0)

/* With a check at each step, for runs that are short or do not interleave. */
static void merge_checked(run64 a, run64 b, uint64_t *out)
{
  const uint64_t *x = a.at, *const x_end = a.at + a.count;
  const uint64_t *y = b.at, *const y_end = b.at + b.count;
  while (x < x_end && y < y_end)
    *out++ = left_goes_first(*x, *y) ? *x++ : *y++;
  memcpy(out, x, (size_t)(x_end - x) * sizeof *x);
  memcpy(out + (x_end - x), y, (size_t)(y_end - y) * sizeof *y);
}

static void concatenate(run64 first, run64 second, uint64_t *out)
{
  memcpy(out, first.at, first.count * sizeof *out);
  memcpy(out + first.count, second.at, second.count * sizeof *out);
}

static void merge_quarters(run64 a, run64 b, const size_t cut[4], size_t quarter, uint64_t *out)
{
  const ptrdiff_t count = (ptrdiff_t)(a.count + b.count), q = (ptrdiff_t)quarter;
  const uint64_t *const a0 = a.at, *const a1 = a.at + cut[1], *const a2 = a.at + cut[2];
  const uint64_t *const b0 = b.at, *const b1 = b.at + quarter - cut[1];
  const uint64_t *const b2 = b.at + 2 * quarter - cut[2];
  const uint64_t *const a3 = a.at + a.count - 1, *const b3 = b.at + b.count - 1;
  uint64_t *const out1 = out + quarter, *const out2 = out1 + quarter, *const out3 = out + count - 1;
  ptrdiff_t i0 = 0, i1 = 0, i2 = 0, i3 = 0;
  for (ptrdiff_t k = 0; k < q; k++) {
    STEP_FRONT(a0, b0, i0, k, out);
    STEP_FRONT(a1, b1, i1, k, out1);
    STEP_FRONT(a2, b2, i2, k, out2);
    STEP_BACK(a3, b3, i3, k, out3);
  }
  for (ptrdiff_t k = q; k < count - 3 * q; k++)
    STEP_BACK(a3, b3, i3, k, out3);
}

void merge_runs(run64 a, run64 b, uint64_t *out)
{
  enum { WORTH_CUTTING = 64 };
  const size_t count = a.count + b.count, quarter = count / 4;
  if (a.count == 0 || b.count == 0 || left_goes_first(a.at[a.count - 1], b.at[0])) {
    concatenate(a, b, out);
    return;
  }
  if (!left_goes_first(a.at[0], b.at[b.count - 1])) {
    concatenate(b, a, out);
    return;
  }
  const size_t cut = count < WORTH_CUTTING ? 0 : co_rank(3 * quarter, a, b);
  const size_t rest = 3 * quarter - cut;
  if (cut == 0 || rest == 0 || cut == a.count || rest == b.count) {
    merge_checked(a, b, out);
    return;
  }
  const size_t cuts[4] = {0, co_rank(quarter, a, b), co_rank(2 * quarter, a, b), cut};
  merge_quarters(a, b, cuts, quarter, out);
}

/* ---- Blocks ---- */

/* Two neighbouring runs of `half` pairs each, from the front and from the back at once: after
 * `half` steps each chain has at most used up one run, so none needs a check. */
static void merge_equal(const uint64_t *runs, ptrdiff_t half, uint64_t *out)
{
  const uint64_t *const a = runs, *const b = runs + half;
  const uint64_t *const a_end = b - 1, *const b_end = b + half - 1;
  uint64_t *const out_end = out + 2 * half - 1;
  ptrdiff_t i = 0, j = 0;
  for (ptrdiff_t k = 0; k < half; k++) {
    STEP_FRONT(a, b, i, k, out);
    STEP_BACK(a_end, b_end, j, k, out_end);
  }
}

/* Two such merges side by side: four chains. */
static void merge_equal_twice(const uint64_t *runs, ptrdiff_t half, uint64_t *out)
{
  const uint64_t *const a = runs, *const b = a + half, *const c = b + half, *const d = c + half;
  const uint64_t *const a_end = b - 1, *const b_end = c - 1, *const c_end = d - 1;
  const uint64_t *const d_end = d + half - 1;
  uint64_t *const out_end = out + 2 * half - 1;
  uint64_t *const next = out + 2 * half, *const next_end = next + 2 * half - 1;
  ptrdiff_t i = 0, j = 0, m = 0, n = 0;
  for (ptrdiff_t k = 0; k < half; k++) {
    STEP_FRONT(a, b, i, k, out);
    STEP_BACK(a_end, b_end, j, k, out_end);
    STEP_FRONT(c, d, m, k, next);
    STEP_BACK(c_end, d_end, n, k, next_end);
  }
}

static void merge_level(const uint64_t *runs, size_t count, size_t half, uint64_t *out)
{
  size_t done = 0;
  for (; count - done >= 4 * half; done += 4 * half)
    merge_equal_twice(runs + done, (ptrdiff_t)half, out + done);
  if (count - done >= 2 * half) {
    merge_equal(runs + done, (ptrdiff_t)half, out + done);
    done += 2 * half;
  }
  const size_t left = count - done < half ? count - done : half;
  merge_runs((run64){runs + done, left}, (run64){runs + done + left, count - done - left},
             out + done);
}

static inline void order_two(uint64_t *a, uint64_t *b)
{
  const uint64_t x = *a, y = *b;
  *a = x < y ? x : y;
  *b = x < y ? y : x;
}

/* The optimal network of 19 comparators for 8 elements (Knuth, vol. 3, sect. 5.3.4). */
static void sort_eight(const uint64_t *from, uint64_t *to)
{
  static const unsigned char network[19][2] = {
      {0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}, {0, 1}, {2, 3},
      {4, 5}, {6, 7}, {2, 4}, {3, 5}, {1, 4}, {3, 6}, {1, 2}, {3, 4}, {5, 6}};
  uint64_t v[8];
  memcpy(v, from, sizeof v);
#pragma GCC unroll 19
  for (int i = 0; i < 19; i++)
    order_two(&v[network[i][0]], &v[network[i][1]]);
  memcpy(to, v, sizeof v);
}

static void insertion_sort(const uint64_t *from, uint64_t *to, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const uint64_t pair = from[i];
    size_t j = i;
    for (; j > 0 && to[j - 1] > pair; j--)
      to[j] = to[j - 1];
    to[j] = pair;
  }
}

void block_sort(uint64_t *data, uint64_t *other, size_t count, bool into_other)
{
  enum { RUN = 8 };
  unsigned levels = 0;
  for (size_t run = RUN; run < count; run *= 2)
    levels++;
  const bool first_into_other = (levels % 2 == 0) == into_other;
  uint64_t *from = first_into_other ? other : data;
  uint64_t *to = first_into_other ? data : other;
  size_t done = 0;
  for (; count - done >= RUN; done += RUN)
    sort_eight(data + done, from + done);
  insertion_sort(data + done, from + done, count - done);
  for (size_t run = RUN; run < count; run *= 2) {
    merge_level(from, count, run, to);
    uint64_t *const swap = from;
    from = to;
    to = swap;
  }
}
