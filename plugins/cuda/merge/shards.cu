/* shards.cu - see gpu/device_shards.h. */
#include "cuda/merge/find_ends.cuh"

device_status device_find_ends(const device_sorted_keys *sorted, const device_range *ranges,
                               uint32_t range_count, uint32_t shift, uint32_t bits, uint64_t *ends,
                               void *stream)
{
  return merge::start_find_ends({*sorted, ranges, ends, range_count, shift, bits}, stream);
}
