/* merge_runs.c - two sorted runs into one, and blocks sorted from nothing.
 *
 * The fast path cuts the output into quarters by co-ranks, and a kernel merges all four at once.
 */
#include <string.h>

#include "cpu/kernels.h"
#include "cpu/pairs.h"

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

void merge_runs(const merge_kernels *kernels, run64 a, run64 b, uint64_t *out)
{
  enum { WORTH_CUTTING = 64 };
  const size_t count = a.count + b.count, quarter = count / 16 * 4;
  if (a.count == 0 || b.count == 0 || left_goes_first(a.at[a.count - 1], b.at[0])) {
    concatenate(a, b, out);
    return;
  }
  if (!left_goes_first(a.at[0], b.at[b.count - 1])) {
    concatenate(b, a, out);
    return;
  }
  const size_t last = count < WORTH_CUTTING ? 0 : co_rank(3 * quarter, a, b);
  const size_t rest = 3 * quarter - last;
  if (last == 0 || rest == 0 || last == a.count || rest == b.count) {
    merge_checked(a, b, out);
    return;
  }
  const quarter_cuts cuts = {quarter,
                             {0, co_rank(quarter, a, b), co_rank(2 * quarter, a, b), last}};
  kernels->merge_quarters(a, b, &cuts, out);
}

/* ---- Blocks ---- */

/* Merges neighbouring runs of `half` pairs; the last two may be shorter, or missing. */
static void merge_level(const merge_kernels *kernels, const uint64_t *runs, size_t count,
                        size_t half, uint64_t *out)
{
  size_t done = 0;
  for (; count - done >= 4 * half; done += 4 * half)
    kernels->merge_equal_twice(runs + done, (ptrdiff_t)half, out + done);
  while (done < count) {
    const size_t left = count - done;
    const run64 a = {runs + done, left < half ? left : half};
    const run64 b = {a.at + a.count, left - a.count < half ? left - a.count : half};
    merge_runs(kernels, a, b, out + done);
    done += a.count + b.count;
  }
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

void block_sort(const merge_kernels *kernels, uint64_t *data, uint64_t *other, size_t count,
                bool into_other)
{
  unsigned levels = 0;
  for (size_t run = kernels->leaf; run < count; run *= 2)
    levels++;
  const bool leaves_into_other = (levels % 2 == 0) == into_other;
  uint64_t *from = leaves_into_other ? other : data;
  uint64_t *to = leaves_into_other ? data : other;
  size_t done = 0;
  for (; count - done >= kernels->leaf; done += kernels->leaf)
    kernels->sort_leaf(data + done, from + done);
  insertion_sort(data + done, from + done, count - done);
  for (size_t run = kernels->leaf; run < count; run *= 2) {
    merge_level(kernels, from, count, run, to);
    uint64_t *const swap = from;
    from = to;
    to = swap;
  }
}
