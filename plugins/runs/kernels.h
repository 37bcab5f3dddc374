/* kernels.h - the inner loops of merges, once in plain C and once for AVX.
 *
 * Both give the same result for all input; each sort chooses one at its start. */
#ifndef RECSORT_RUNS_KERNELS_H
#define RECSORT_RUNS_KERNELS_H

#include "base/avx.h"
#include "base/co_rank.h"

/* Cuts that divide a merge of two runs into four: `a[i]` pairs of run a, and `quarter * i - a[i]`
 * of run b, lie before cut i. */
typedef struct quarter_cuts {
  size_t quarter; /* a multiple of 4 */
  size_t a[4];
} quarter_cuts;

typedef struct merge_kernels {
  const char *name;
  /* Merges two runs, both of which have pairs on either side of the last cut. */
  void (*merge_quarters)(run64 a, run64 b, const quarter_cuts *cuts, uint64_t *out);
} merge_kernels;

extern const merge_kernels rs_scalar_kernels;
#ifdef RS_HAS_AVX
extern const merge_kernels rs_avx_kernels;
#endif

/* The fastest kernels that this processor can run. */
const merge_kernels *rs_best_kernels(void);

#endif
