/* sorts.cuh - what sample_sort.cu chooses from, for each type of pair. Each is compiled apart: wide
 * pairs in wide_*.cu, packed ones in packed.cu, small_sort and presorted in small.cu and
 * presorted.cu.
 */
#ifndef RECSORT_CUDA_SAMPLE_SORTS_CUH
#define RECSORT_CUDA_SAMPLE_SORTS_CUH

#include "cuda/sample/agent/order_flags.cuh"
#include "cuda/sample/block/chains.cuh"
#include "cuda/sample/dispatch/memory.cuh"

namespace sample
{

/* By splitters, into buckets that make tiles. `extra`: of extra_bytes(). */
template <class Pair> struct many_sort {
  static uint64_t extra_bytes(const device_job *job);
  static device_status sort(const device_job *job, const device_buffers *buffers, void *extra,
                            unsigned *result);
};

/* By counting the keys before each. */
template <class Pair> struct small_sort {
  static uint64_t extra_bytes(const device_job *job);
  static device_status sort(const device_job *job, const device_buffers *buffers, void *extra,
                            unsigned *result);
};

enum key_order { KEYS_MIXED, KEYS_NEARLY_ASCEND, KEYS_ASCEND, KEYS_DESCEND };

/* A drop-merge between its launches. */
template <class Pair> struct drop_merge {
  key_chunks<Pair> in;
  key_of<Pair> *bounds;
  filter_result filtered;
  uint64_t *firsts;
  order_flags *flags;
  pair_array<Pair> to;
  dropped_pairs<Pair> dropped;
  arena memory;
  device_buffers buffers;  /* of the dropped pairs */
  index_of<Pair> *indices; /* likewise: those that they had */
};

/* Keys that are in order, or nearly: see presorted.cuh. */
template <class Pair> struct presorted {
  static device_status detect(const device_job *job, const device_buffers *buffers,
                              order_flags *flags, key_order *found);
  static device_status filter(const device_job *job, const device_buffers *buffers,
                              order_flags *flags, drop_merge<Pair> *work);
  static bool reserve(const device_job *job, const device_job *dropped, uint64_t extra_bytes,
                      drop_merge<Pair> *work);
  static device_status extract(const device_job *job, const drop_merge<Pair> *work);
  static device_status merge(const device_job *job, unsigned side, drop_merge<Pair> *work);
};

/* The only kernel of a sort of many pairs that is the same for all types. */
device_status start_list_extents(const device_job *job, uint64_t blocks, uint32_t block,
                                 const list_args &args);

} // namespace sample

#endif
