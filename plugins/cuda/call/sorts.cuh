/* sorts.cuh - the sorts of keys in no order that calls start. */
#ifndef RECSORT_CUDA_CALL_SORTS_CUH
#define RECSORT_CUDA_CALL_SORTS_CUH

#include "cuda/merge/dispatch.cuh"
#include "cuda/sort/carry/pair_sort.cuh"
#include "cuda/sort/sample/dispatch/merge_runs.cuh"
#include "cuda/sort/sample/dispatch/mixed.cuh"
#include "cuda/sort/sample/dispatch/sort_many.cuh"
#include "cuda/sort/sample/dispatch/sort_small.cuh"

#endif
