/* pass.cuh - a pass over all pairs. */
#ifndef RECSORT_CUDA_PUBLISHED_PASS_CUH
#define RECSORT_CUDA_PUBLISHED_PASS_CUH

#include "cuda/algorithms.h"
#include "cuda/runs.cuh"

/* A pass that merges pairs of adjacent runs: the argument of every kernel here. */
template <class Pair> struct merge_pass {
  static constexpr uint32_t max_threads = DEVICE_MAX_BLOCK;

  global_run<Pair> from; /* reads: everything */
  pair_array<Pair> to;   /* writes */
  uint64_t width;        /* elements of a sorted run in `from` */
  uint64_t each;         /* elements of a thread or a block, if the kernel needs it */
  uint32_t tile;         /* elements of a tile, if the kernel needs it */
};

/* The pass from buffers `source` to the other ones. The first pass has runs of one element, and no
 * indices yet. */
template <class Pair>
static inline merge_pass<Pair> make_pass(const device_job *job, const device_buffers *buffers,
                                         unsigned source, uint64_t width)
{
  using key = key_of<Pair>;
  using index = index_of<Pair>;
  merge_pass<Pair> pass = {};
  pass.from = {(const key *)(width == 1 ? device_input(buffers) : buffers->keys[source]),
               width == 1 ? NULL : (const index *)buffers->indices[source], 0, job->count};
  pass.to = {(key *)buffers->keys[1 - source], (index *)buffers->indices[1 - source]};
  pass.width = width;
  pass.each = 1;
  return pass;
}

/* Calls sort(pair) with a pair of the job's type, if there is something to sort. Like sample_sort,
 * it leaves indices of 64 bits to merge_sort. */
template <class Sort>
static inline device_status sort_pairs(const device_job *job, const device_buffers *buffers,
                                       unsigned *result, const Sort &sort)
{
  if (job->index_bits == 64) return merge_sort(job, buffers, result);
  *result = 0;
  return job->count ? with_short_pair(job, sort) : 0;
}

#endif
