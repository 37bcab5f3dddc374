/* sorts.cuh - the sorts that sample_sort.cu chooses from, for each type of pair, and the merges
 * that merge_runs.cu does. They are compiled in separate files: packed.cu and wide_*.cu
 * (many_sort), small.cu (small_sort), presorted.cu and merges.cu (run_merge). */
#ifndef RECSORT_CUDA_SAMPLE_SORTS_CUH
#define RECSORT_CUDA_SAMPLE_SORTS_CUH

#include "cuda/sort/sample/agent/order_flags.cuh"
#include "cuda/sort/sample/dispatch/memory.cuh"
#include "cuda/sort/sample/merge_plan.h"

namespace sample
{

/* Sorts by scattering to padded buckets. `side` is that of the result. */
template <class Pair> struct many_sort {
  static constexpr bool reads_words = true, certifies = false;
  static bool stages(const device_job *)
  {
    return false;
  }
  static bool suits(const device_job *job); /* false: they would take too much memory */
  static uint64_t extra_bytes(const device_job *job);
  static unsigned side(const device_job *job);
  static device_status sort(const device_job *job, const device_buffers *buffers, unsigned *result);
};

/* Sorts by counting the keys before each key. */
template <class Pair> struct small_sort {
  static constexpr bool reads_words = true, certifies = false;
  static bool stages(const device_job *)
  {
    return false;
  }
  static uint64_t extra_bytes(const device_job *job);
  static unsigned side(const device_job *job);
  static device_status sort(const device_job *job, const device_buffers *buffers, unsigned *result);
};

/* Merges sorted runs. */
template <class Pair> struct run_merge {
  /* From the keys of side 0, without indices, to side 1. */
  static device_status merge(const device_job *job, const sample_runs *runs,
                             const device_buffers *buffers);
  /* From the pairs of a side to the other one: the last pass of a merge sort. No two pairs have the
   * same index. Packed pairs are where pair_array_of_side() says; the result is unpacked. Needs
   * extra_bytes() of buffers.extra; waits for nothing. */
  static uint64_t extra_bytes(const device_job *job, const sample_runs *runs);
  static device_status merge_pairs(const device_job *job, const sample_runs *runs,
                                   const device_buffers *buffers, unsigned side);
};

/* The state of a drop-merge between its launches. */
template <class Pair> struct drop_merge {
  key_chunks<Pair> in;
  key_of<Pair> *bounds;
  filter_result filtered;
  uint64_t *firsts;
  order_flags *flags;
  pair_array<Pair> to;
  arena memory;
  uint64_t sorted;         /* how many dropped pairs are sorted, those added behind them included */
  device_buffers buffers;  /* for these */
  index_of<Pair> *indices; /* the original indices of the dropped pairs */
};

/* Keys that are in order, or nearly: see presorted.cuh. */
template <class Pair> struct presorted {
  static device_status detect(const device_job *job, const device_buffers *buffers,
                              order_flags *flags, bool mergeable, order_report *report);
  static bool prepare(const device_job *job, const device_buffers *buffers, order_flags *flags,
                      drop_merge<Pair> *work);
  static device_status filter(const device_job *job, const drop_merge<Pair> *work,
                              order_report *report);
  static bool reserve(const device_job *job, const device_job *dropped, uint64_t extra_bytes,
                      drop_merge<Pair> *work);
  static device_status extract(const device_job *job, const drop_merge<Pair> *work);
  static device_status merge(const device_job *job, unsigned side, const drop_merge<Pair> *work);
};

} // namespace sample

#endif
