/* cub_sorts.h - the sorts of one version of CUB. Versions have functions of the same names, so each
 * is compiled separately (cub_sorts.cu) and exports only this table.
 *
 * Each function starts a sort on the stream. If `extra` is NULL, it sets `bytes` to the memory that
 * the sort needs there, and sorts nothing. */
#ifndef BENCH_CUB_SORTS_H
#define BENCH_CUB_SORTS_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

namespace bench
{

enum class cub_type { f32, u32, u64, u128 };

struct cub_pairs {
  cub_type type;
  unsigned bits;        // only these low bits of a key can be nonzero
  unsigned value_bytes; // 4, or 8 for keys of 64 bits
  void *keys[2];
  void *values[2]; // NULL: keys alone, which ascend
  uint32_t count;
  bool descending;         // for floats with values of 4 bytes
  const uint32_t *offsets; // of segments, for floats with values of 4 bytes
  uint32_t segments;
  uint32_t head; // of the search for the least, for floats with values of 4 bytes
};

using cub_sort = cudaError_t(const cub_pairs &at, void *extra, size_t &bytes, cudaStream_t stream);

struct cub_sorts {
  unsigned version;         // CUB_VERSION
  cub_sort *merge;          // of the second pairs, in place
  cub_sort *radix;          // from the first pairs to the second ones, as the next ones
  cub_sort *segments;       // DeviceSegmentedSort
  cub_sort *segments_radix; // DeviceSegmentedRadixSort
  cub_sort *top;            // DeviceTopK, in no order; NULL: not in this version
};

extern const cub_sorts cub_of_toolkit;
extern __attribute__((visibility("default"))) const cub_sorts cub_of_headers; // RECSORT_BENCH_CUB

} // namespace bench

#endif
