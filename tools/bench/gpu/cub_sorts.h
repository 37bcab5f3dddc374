/* cub_sorts.h - the sorts and the merge of one version of CUB. Versions have functions of the same
 * names, so each is compiled separately (cub_sorts.cu) and exports only this table. */
#ifndef RECSORT_CUDA_BENCH_CUB_SORTS_H
#define RECSORT_CUDA_BENCH_CUB_SORTS_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

namespace bench
{

/* Like device_buffers; keys have 32, 64 or 128 bits. */
struct cub_pairs {
  unsigned key_width, key_bits; // only the low `key_bits` can be nonzero
  void *keys[2];
  uint32_t *indices[2];
  uint32_t count;
  uint32_t first; // to merge: how many are the first run; the others are the second one
};

/* Starts a stable sort, or merge, of the first pairs on the legacy stream. If `extra` is NULL, sets
 * `bytes` to the memory that it needs there, and sorts nothing. */
using cub_sort = cudaError_t(const cub_pairs &at, void *extra, size_t &bytes);

/* Starts the search for the `head` least of `count` float keys, with their values, in no order. */
using cub_top = cudaError_t(const float *keys, const uint32_t *values, uint32_t count,
                            uint32_t head, float *keys_to, uint32_t *values_to, cudaStream_t stream,
                            void *extra, size_t &bytes);

struct cub_sorts {
  unsigned version; // CUB_VERSION
  cub_sort *merge;  // in place
  cub_sort *radix;  // to the second pairs
  cub_sort *runs;   // DeviceMerge: two runs, to the second pairs
  cub_top *top;     // DeviceTopK; NULL: not in this version
};

extern const cub_sorts cub_of_toolkit;
extern __attribute__((visibility("default"))) const cub_sorts cub_of_headers; // RECSORT_BENCH_CUB

} // namespace bench

#endif
