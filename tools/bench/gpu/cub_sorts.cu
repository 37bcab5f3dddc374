/* cub_sorts.cu - see cub_sorts.h. CUB_SORTS names the table. */
#include <cub/device/device_merge.cuh>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#if __has_include(<cub/device/device_topk.cuh>)
#include <cub/device/device_topk.cuh>
#define HAVE_TOP 1
#endif

#include "cub_sorts.h"

namespace bench
{

namespace
{

struct less {
  template <typename Key> __host__ __device__ bool operator()(const Key &a, const Key &b) const
  {
    return a < b;
  }
};

template <typename Key> cudaError_t merge_keys(const cub_pairs &at, void *extra, size_t &bytes)
{
  return cub::DeviceMergeSort::StableSortPairs(extra, bytes, (Key *)at.keys[0], at.indices[0],
                                               at.count, less{});
}

template <typename Key> cudaError_t radix_keys(const cub_pairs &at, void *extra, size_t &bytes)
{
  return cub::DeviceRadixSort::SortPairs(extra, bytes, (const Key *)at.keys[0], (Key *)at.keys[1],
                                         at.indices[0], at.indices[1], at.count, 0,
                                         (int)at.key_bits);
}

template <typename Key> cudaError_t merge_runs(const cub_pairs &at, void *extra, size_t &bytes)
{
  const Key *const keys = (const Key *)at.keys[0];
  return cub::DeviceMerge::MergePairs(extra, bytes, keys, at.indices[0], at.first, keys + at.first,
                                      at.indices[0] + at.first, at.count - at.first,
                                      (Key *)at.keys[1], at.indices[1], less{});
}

cudaError_t merge(const cub_pairs &at, void *extra, size_t &bytes)
{
  return at.key_width == 32   ? merge_keys<uint32_t>(at, extra, bytes)
         : at.key_width == 64 ? merge_keys<uint64_t>(at, extra, bytes)
                              : merge_keys<unsigned __int128>(at, extra, bytes);
}

cudaError_t radix(const cub_pairs &at, void *extra, size_t &bytes)
{
  return at.key_width == 32   ? radix_keys<uint32_t>(at, extra, bytes)
         : at.key_width == 64 ? radix_keys<uint64_t>(at, extra, bytes)
                              : radix_keys<unsigned __int128>(at, extra, bytes);
}

cudaError_t runs(const cub_pairs &at, void *extra, size_t &bytes)
{
  return at.key_width == 32   ? merge_runs<uint32_t>(at, extra, bytes)
         : at.key_width == 64 ? merge_runs<uint64_t>(at, extra, bytes)
                              : merge_runs<unsigned __int128>(at, extra, bytes);
}

#ifdef HAVE_TOP
cudaError_t top_of(const float *keys, const uint32_t *values, uint32_t count, uint32_t head,
                   float *keys_to, uint32_t *values_to, cudaStream_t stream, void *extra,
                   size_t &bytes)
{
  const auto wanted = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                               cuda::execution::output_ordering::unsorted);
  const auto how = cuda::std::execution::env{cuda::stream_ref{stream}, wanted};
  return cub::DeviceTopK::MinPairs(extra, bytes, keys, keys_to, values, values_to, count, head,
                                   how);
}
constexpr cub_top *top = top_of;
#else
constexpr cub_top *top = nullptr;
#endif

} // namespace

const cub_sorts CUB_SORTS = {CUB_VERSION, merge, radix, runs, top};

} // namespace bench
