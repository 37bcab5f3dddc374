/* cub_sorts.cu - see cub_sorts.h. CUB_SORTS names the table. */
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
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
  template <class Key> __host__ __device__ bool operator()(const Key &a, const Key &b) const
  {
    return a < b;
  }
};

struct greater {
  template <class Key> __host__ __device__ bool operator()(const Key &a, const Key &b) const
  {
    return a > b;
  }
};

/* Pairs of one type. */
template <class Key, class Value> struct sorts {
  static cudaError_t merge(const cub_pairs &at, void *extra, size_t &bytes, cudaStream_t stream)
  {
    Key *const keys = (Key *)at.keys[1];
    Value *const values = (Value *)at.values[1];
    if (!values)
      return cub::DeviceMergeSort::StableSortKeys(extra, bytes, keys, at.count, less{}, stream);
    if constexpr (std::is_same_v<Key, float>)
      if (at.descending)
        return cub::DeviceMergeSort::StableSortPairs(extra, bytes, keys, values, at.count,
                                                     greater{}, stream);
    return cub::DeviceMergeSort::StableSortPairs(extra, bytes, keys, values, at.count, less{},
                                                 stream);
  }

  static cudaError_t radix(const cub_pairs &at, void *extra, size_t &bytes, cudaStream_t stream)
  {
    const Key *const keys = (const Key *)at.keys[0];
    const Value *const values = (const Value *)at.values[0];
    if (!values)
      return cub::DeviceRadixSort::SortKeys(extra, bytes, keys, (Key *)at.keys[1], at.count, 0,
                                            (int)at.bits, stream);
    if constexpr (std::is_same_v<Key, float>)
      if (at.descending)
        return cub::DeviceRadixSort::SortPairsDescending(extra, bytes, keys, (Key *)at.keys[1],
                                                         values, (Value *)at.values[1], at.count, 0,
                                                         (int)at.bits, stream);
    return cub::DeviceRadixSort::SortPairs(extra, bytes, keys, (Key *)at.keys[1], values,
                                           (Value *)at.values[1], at.count, 0, (int)at.bits,
                                           stream);
  }
};

/* The function of the pairs' type. */
#define OF_TYPE(name)                                                                              \
  cudaError_t name(const cub_pairs &at, void *extra, size_t &bytes, cudaStream_t stream)           \
  {                                                                                                \
    cub_sort *const sort = at.value_bytes == 8        ? sorts<uint64_t, uint64_t>::name            \
                           : at.type == cub_type::f32 ? sorts<float, uint32_t>::name               \
                           : at.type == cub_type::u32 ? sorts<uint32_t, uint32_t>::name            \
                           : at.type == cub_type::u64 ? sorts<uint64_t, uint32_t>::name            \
                                                      : sorts<unsigned __int128, uint32_t>::name;  \
    return sort(at, extra, bytes, stream);                                                         \
  }
OF_TYPE(merge)
OF_TYPE(radix)

cudaError_t segments(const cub_pairs &at, void *extra, size_t &bytes, cudaStream_t stream)
{
  return cub::DeviceSegmentedSort::StableSortPairs(
      extra, bytes, (const float *)at.keys[0], (float *)at.keys[1], (const uint32_t *)at.values[0],
      (uint32_t *)at.values[1], (int)at.count, (int)at.segments, at.offsets, at.offsets + 1,
      stream);
}

cudaError_t segments_radix(const cub_pairs &at, void *extra, size_t &bytes, cudaStream_t stream)
{
  return cub::DeviceSegmentedRadixSort::SortPairs(
      extra, bytes, (const float *)at.keys[0], (float *)at.keys[1], (const uint32_t *)at.values[0],
      (uint32_t *)at.values[1], (int)at.count, (int)at.segments, at.offsets, at.offsets + 1, 0, 32,
      stream);
}

#ifdef HAVE_TOP
cudaError_t top_of(const cub_pairs &at, void *extra, size_t &bytes, cudaStream_t stream)
{
  const auto wanted = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                               cuda::execution::output_ordering::unsorted);
  const auto how = cuda::std::execution::env{cuda::stream_ref{stream}, wanted};
  return cub::DeviceTopK::MinPairs(extra, bytes, (const float *)at.keys[0], (float *)at.keys[1],
                                   (const uint32_t *)at.values[0], (uint32_t *)at.values[1],
                                   at.count, at.head, how);
}
constexpr cub_sort *top = top_of;
#else
constexpr cub_sort *top = nullptr;
#endif

} // namespace

const cub_sorts CUB_SORTS = {CUB_VERSION, merge, radix, segments, segments_radix, top};

} // namespace bench
