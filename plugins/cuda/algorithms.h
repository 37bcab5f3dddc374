/* algorithms.h - the list of the plugin's sorts. To add one, add a source file and a row here.
 *
 *   ROW(sort, extra_bytes, skills, name, description)    the default first
 *
 * The first three are members of device_algorithm.
 */
#ifndef RECSORT_CUDA_ALGORITHMS_H
#define RECSORT_CUDA_ALGORITHMS_H

#include "cuda/merge/merge.h"
#include "cuda/sort/sample/sample.h"
#include "gpu/algorithms.h"

#define CUDA_ALGORITHMS(ROW)                                                                       \
  ROW(sample_sort, sample_extra_bytes, sample_skills, "sample",                                    \
      "sample sort: pairs to buckets by splitters, to bins by their keys, then ranked")            \
  ROW(merge_sort, merge_extra_bytes, NULL, "merge",                                                \
      "merge sort: chunks in shared memory, co-ranked tiles of two runs, at last all runs at "     \
      "once")                                                                                      \
  ROW(rank_sort, NULL, NULL, "rank",                                                               \
      "every pass finds each element's place by a search in the sibling chunk")                    \
  ROW(rank_sm8_sort, NULL, NULL, "rank-sm8", "rank, the first 8 passes in shared memory")          \
  ROW(rank_sm9_sort, NULL, NULL, "rank-sm9",                                                       \
      "rank-sm8, and pass 9 with the sibling chunk in shared memory")                              \
  ROW(rank_sm_sort, NULL, NULL, "rank-sm",                                                         \
      "rank-sm9, and larger chunks while a sibling fits in shared memory")                         \
  ROW(corank_sort, NULL, NULL, "corank",                                                           \
      "each thread co-ranks its part of the output and merges it serially")                        \
  ROW(corank_tiled_sort, NULL, NULL, "corank-tiled",                                               \
      "corank, a block's parts through tiles in shared memory")                                    \
  ROW(corank_circular_sort, NULL, NULL, "corank-circular",                                         \
      "corank-tiled with ring buffers, so that nothing is loaded twice")

#ifdef __cplusplus
extern "C" {
#endif

#define CUDA_ALGORITHM_DECLARED(sort, extra_bytes, skills, name, description) device_sort sort;
CUDA_ALGORITHMS(CUDA_ALGORITHM_DECLARED)
#undef CUDA_ALGORITHM_DECLARED

#ifdef __cplusplus
}
#endif

#endif
