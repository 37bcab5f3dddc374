/* segment_heads.cuh - the first pairs of each segment. */
#ifndef RECSORT_CUDA_CALL_SEGMENT_HEADS_CUH
#define RECSORT_CUDA_CALL_SEGMENT_HEADS_CUH

#include "cuda/call/pairs.cuh"
#include "cuda/head/segment_heads.cuh"

namespace call
{

static constexpr size_t most_of_segments = head::LIST_MOST;

/* Writes the first `head` pairs of each segment. */
template <class Value, class Key, bool Descending>
static cudaError_t find_in_segments(void *given, size_t &bytes, const device_pairs &pairs,
                                    const device_segments &segments, uint32_t head)
{
  using code = code_of<Key>;
  device_limits limits;
  cudaError_t error = limits_of_device(&limits);
  if (error) return error;
  head::slices_args args = {pairs, segments, head, 1, head::list_kept(head), NULL, NULL, NULL};
  workspace space = {(char *)given, 0};
  const bool any = pairs.count && segments.count && head;
  if (any)
    args.parts = head::parts_of<code>(pairs.count, segments.count, head, limits.multiprocessors);
  if (args.parts > 1) {
    const uint64_t lists = segments.count * args.parts;
    args.codes = space.take(lists * args.kept * sizeof(code));
    args.places = (uint32_t *)space.take(lists * args.kept * sizeof(uint32_t));
    args.counts = (uint32_t *)space.take(lists * sizeof(uint32_t));
  }
  if (ends_with(space, given, bytes, &error) || !any) return error;
  return (cudaError_t)head::start_slices<code, kind_of<Key>(), Descending, Value>(args);
}

} // namespace call

#endif
