/* cub_sorts.h - CUB's sorts of one version of CUB. Another version has functions of the same names,
 * so each is compiled by itself (cub_sorts.cu) and shows this table only. */
#ifndef RECSORT_CUDA_BENCH_CUB_SORTS_H
#define RECSORT_CUDA_BENCH_CUB_SORTS_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

namespace bench
{

/* As of device_buffers; keys of 32, 64 or 128 bits. */
struct cub_pairs {
  unsigned key_width, key_bits; // only the low `key_bits` can be other than 0
  void *keys[2];
  uint32_t *indices[2];
  uint32_t count;
};

/* Each starts a stable sort of the first pairs on the legacy stream. With `extra` NULL it says in
 * `bytes` how much memory it needs there, and sorts nothing. */
using cub_sort = cudaError_t(const cub_pairs &at, void *extra, size_t &bytes);

struct cub_sorts {
  unsigned version; // CUB_VERSION
  cub_sort *merge;  // in place
  cub_sort *radix;  // to the second pairs
};

extern const cub_sorts cub_of_toolkit;
extern __attribute__((visibility("default"))) const cub_sorts cub_of_headers; // RECSORT_BENCH_CUB

} // namespace bench

#endif
