/* kernels.h - the inner loops of the merge sort, once in plain C and once for AVX.
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
  size_t leaf; /* pairs */
  /* Sorts `leaf` pairs; `to` may be `from`. */
  void (*sort_leaf)(const uint64_t *from, uint64_t *to);
  /* Merges runs 0 and 1, and runs 2 and 3, of `half` pairs each. The four runs are adjacent. */
  void (*merge_equal_twice)(const uint64_t *runs, ptrdiff_t half, uint64_t *out);
  /* Merges two runs, both of which have pairs on either side of the last cut. */
  void (*merge_quarters)(run64 a, run64 b, const quarter_cuts *cuts, uint64_t *out);
} merge_kernels;

extern const merge_kernels rs_scalar_kernels;
#ifdef RS_HAS_AVX
extern const merge_kernels rs_avx_kernels;
#endif

/* The fastest kernels that this processor can run. */
const merge_kernels *rs_best_kernels(void);

/* The optimal network of 19 comparators for 8 elements (Knuth, vol. 3, sect. 5.3.4). Written out,
 * not looped over, so that compilers keep the elements in registers. */
#define NETWORK_OF_EIGHT(C)                                                                        \
  C(0, 2)                                                                                          \
  C(1, 3)                                                                                          \
  C(4, 6)                                                                                          \
  C(5, 7)                                                                                          \
  C(0, 4) C(1, 5) C(2, 6) C(3, 7) C(0, 1) C(2, 3) C(4, 5) C(6, 7) C(2, 4) C(3, 5) C(1, 4) C(3, 6)  \
      C(1, 2) C(3, 4) C(5, 6)

#endif
