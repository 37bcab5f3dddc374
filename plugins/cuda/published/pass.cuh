/* pass.cuh - a pass over all pairs, and the choice of the type of pair. */
#ifndef RECSORT_CUDA_PUBLISHED_PASS_CUH
#define RECSORT_CUDA_PUBLISHED_PASS_CUH

#include "cuda/algorithms.h"
#include "runs.cuh"

/* Merges pairs of neighbouring runs: the argument of every kernel here. */
template <class Pair> struct merge_pass {
  static constexpr uint32_t max_threads = DEVICE_MAX_BLOCK;

  global_run<Pair> from; /* reads: everything */
  pair_array<Pair> to;   /* writes */
  uint64_t width;        /* of the sorted runs in `from` */
  uint64_t each;         /* elements a thread or block, where the kernel asks for it */
  uint32_t tile;         /* elements of a tile, likewise */
};

/* From the buffers `source` to the others. The first pass has runs of one element, and no indices
 * yet. */
template <class Pair>
static inline merge_pass<Pair> make_pass(const device_job *job, const device_buffers *buffers,
                                         unsigned source, uint64_t width)
{
  using key = key_of<Pair>;
  using index = index_of<Pair>;
  merge_pass<Pair> pass = {};
  pass.from = {(const key *)buffers->keys[source],
               width == 1 ? NULL : (const index *)buffers->indices[source], 0, job->count};
  pass.to = {(key *)buffers->keys[1 - source], (index *)buffers->indices[1 - source]};
  pass.width = width;
  pass.each = 1;
  return pass;
}

/* sort(pair) for the job's type of pair, of which `pair` is any. */
template <class Key, class Sort>
static inline device_status sort_keys(const device_job *job, const Sort &sort)
{
  return job->index_bits == 64 ? sort(wide_pair<Key, uint64_t>())
                               : sort(wide_pair<Key, uint32_t>());
}

template <class Sort>
static inline device_status sort_pairs(const device_job *job, unsigned *result, const Sort &sort)
{
  if (job->count == 0) {
    *result = 0;
    return 0;
  }
  if (job->key_width == 32) return sort_keys<uint32_t>(job, sort);
  if (job->key_width == 64) return sort_keys<uint64_t>(job, sort);
  return sort_keys<device_uint128>(job, sort);
}

#endif
