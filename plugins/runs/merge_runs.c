/* merge_runs.c - two sorted runs of pairs into one.
 *
 * The fast path cuts the output into quarters by co-ranks, and a kernel merges all four at once.
 */
#include <string.h>

#include "base/assert.h"
#include "runs/pair.h"

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

void rs_merge_runs(const merge_kernels *kernels, run64 a, run64 b, uint64_t *out)
{
  enum { WORTH_CUTTING = 64 };
  const size_t count = a.count + b.count, quarter = count / 16 * 4;
  RS_ASSERT(a.count == 0 || out + count <= a.at || a.at + a.count <= out);
  RS_ASSERT(b.count == 0 || out + count <= b.at || b.at + b.count <= out);
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
