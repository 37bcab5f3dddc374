/* kernels_scalar.c - the inner loops in plain C, without branches that depend on the data.
 *
 * One step takes the lesser head and advances in its run. Each step depends on the one before it
 * and takes about nine cycles for ten instructions, so four chains of steps run side by side. A
 * chain sees both runs beyond the part that it merges, so it needs no check for the end of a run as
 * long as no run ends before it has done its steps.
 */
#include "base/assert.h"
#include "runs/kernels.h"

/* Takes one pair at the front: `i` of the `k` taken so far came from a. */
#define STEP_FRONT(a, b, i, k, out)                                                                \
  do {                                                                                             \
    const uint64_t x = (a)[i], y = (b)[(k) - (i)];                                                 \
    (out)[k] = left_goes_first(x, y) ? x : y;                                                      \
    (i) += left_goes_first(x, y);                                                                  \
  } while (0)

/* Takes one pair at the back: a, b and out are the addresses of the last pairs. */
#define STEP_BACK(a, b, i, k, out)                                                                 \
  do {                                                                                             \
    const uint64_t x = (a)[-(i)], y = (b)[-((k) - (i))];                                           \
    (out)[-(k)] = left_goes_first(x, y) ? y : x;                                                   \
    (i) += !left_goes_first(x, y);                                                                 \
  } while (0)

static void merge_quarters(run64 a, run64 b, const quarter_cuts *cuts, uint64_t *out)
{
  const size_t quarter = cuts->quarter, *const cut = cuts->a;
  const ptrdiff_t count = (ptrdiff_t)(a.count + b.count), q = (ptrdiff_t)quarter;
  const uint64_t *const a0 = a.at, *const a1 = a.at + cut[1], *const a2 = a.at + cut[2];
  const uint64_t *const b0 = b.at, *const b1 = b.at + quarter - cut[1];
  const uint64_t *const b2 = b.at + 2 * quarter - cut[2];
  const uint64_t *const a3 = a.at + a.count - 1, *const b3 = b.at + b.count - 1;
  uint64_t *const out1 = out + quarter, *const out2 = out1 + quarter, *const out3 = out + count - 1;
  ptrdiff_t i0 = 0, i1 = 0, i2 = 0, i3 = 0;
  RS_ASSERT(cut[0] == 0 && cut[3] <= a.count && 3 * quarter - cut[3] <= b.count);
  for (ptrdiff_t k = 0; k < q; k++) {
    STEP_FRONT(a0, b0, i0, k, out);
    STEP_FRONT(a1, b1, i1, k, out1);
    STEP_FRONT(a2, b2, i2, k, out2);
    STEP_BACK(a3, b3, i3, k, out3);
  }
  RS_ASSERT((size_t)i0 == cut[1] && (size_t)i1 == cut[2] - cut[1] && (size_t)i2 == cut[3] - cut[2]);
  for (ptrdiff_t k = q; k < count - 3 * q; k++)
    STEP_BACK(a3, b3, i3, k, out3);
}

const merge_kernels rs_scalar_kernels = {"scalar", merge_quarters};
