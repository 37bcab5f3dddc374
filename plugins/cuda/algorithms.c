#include "cuda/algorithms.h"

#include "cuda/sample/sample.h"

#define SHOWN(name, description)                                                                   \
  {                                                                                                \
    sizeof(recsort_plugin_algorithm), 0, name, description                                         \
  }

const device_algorithm device_algorithms[DEVICE_ALGORITHMS] = {
    {SHOWN("sample",
           "sample sort: pairs to buckets by splitters, to bins by their keys, then ranked"),
     sample_extra_bytes, sample_sort},
    {SHOWN("rank", "every pass finds each element's place by a search in the sibling chunk"), NULL,
     rank_sort},
    {SHOWN("rank-sm8", "rank, the first 8 passes in shared memory"), NULL, rank_sm8_sort},
    {SHOWN("rank-sm9", "rank-sm8, and pass 9 with the sibling chunk in shared memory"), NULL,
     rank_sm9_sort},
    {SHOWN("rank-sm", "rank-sm9, and larger chunks while a sibling fits in shared memory"), NULL,
     rank_sm_sort},
    {SHOWN("corank", "each thread co-ranks its part of the output and merges it serially"), NULL,
     corank_sort},
    {SHOWN("corank-tiled", "corank, a block's parts through tiles in shared memory"), NULL,
     corank_tiled_sort},
    {SHOWN("corank-circular", "corank-tiled with ring buffers, so that nothing is loaded twice"),
     NULL, corank_circular_sort},
    {SHOWN("hybrid", "the former name of sample"), sample_extra_bytes, sample_sort},
};
