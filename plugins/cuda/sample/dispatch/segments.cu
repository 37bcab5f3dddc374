/* segments.cu - sorts of short segments, except those with indices of 64 bits; chooses the type of
 * pair, as sample_sort.cu does for many pairs. */
#include "cuda/sample/dispatch/sort_segments.cuh"

using namespace sample;

template struct sample::segment_sort<packed_pair>;
template struct sample::segment_sort<wide_pair<uint64_t, uint32_t>>;
template struct sample::segment_sort<wide_pair<device_uint128, uint32_t>>;

struct pair_segments {
  bool (*fits)(const device_job *job, uint64_t most);
  device_status (*sort)(const device_job *job, const device_segments *segments,
                        const device_buffers *buffers);
};

template <class Pair> static pair_segments pair_segments_of()
{
  return {segment_sort<Pair>::fits, segment_sort<Pair>::sort};
}

static pair_segments choose_segments(const device_job *job)
{
  const bool wide = job->index_bits == 64;
  if (job->key_bits + plan_index_bits(job) <= 64) return pair_segments_of<packed_pair>();
  if (job->key_width == 32) return pair_segments_of<wide_pair<uint32_t, uint64_t>>();
  if (job->key_width == 64)
    return wide ? pair_segments_of<wide_pair<uint64_t, uint64_t>>()
                : pair_segments_of<wide_pair<uint64_t, uint32_t>>();
  return wide ? pair_segments_of<wide_pair<device_uint128, uint64_t>>()
              : pair_segments_of<wide_pair<device_uint128, uint32_t>>();
}

bool device_segments_fit(const device_job *job, uint64_t most)
{
  return most > 0 && choose_segments(job).fits(job, most);
}

device_status device_sort_segments(const device_job *job, const device_segments *segments,
                                   const device_buffers *buffers, unsigned *result)
{
  *result = 1;
  return choose_segments(job).sort(job, segments, buffers);
}
