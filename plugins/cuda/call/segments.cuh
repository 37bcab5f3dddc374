/* segments.cuh - sorts of segments of keys with values. */
#ifndef RECSORT_CUDA_CALL_SEGMENTS_CUH
#define RECSORT_CUDA_CALL_SEGMENTS_CUH

#include "cuda/call/numbers.cuh"
#include "cuda/call/pairs.cuh"
#include "cuda/records/encode_in_segments.cuh"
#include "cuda/segments/sort_segments.cuh"

namespace call
{

/* A sort of segments, by any way. */
struct segments_call {
  device_pairs pairs; /* with the segments */
  uint32_t value_bytes;
  records_program program; /* of the keys */
  device_limits limits;
};

/* ---- Short segments: a block sorts some, in its shared memory ---- */

static inline device_segment_sort tiles_of(const segments_call &call)
{
  device_segment_sort tiles = {};
  tiles.program = &call.program;
  tiles.key_bits = call.pairs.key_width;
  tiles.records = call.pairs.keys_in;
  tiles.count = call.pairs.count;
  tiles.segments = call.pairs.segments;
  tiles.shared_bytes = call.limits.shared_bytes;
  tiles.index_bits = 32;
  tiles.stream = call.pairs.stream;
  return tiles;
}

static inline void add_moved(device_segment_sort *tiles, const void *from, void *to, uint32_t bytes)
{
  if (to) tiles->moved[tiles->moved_count++] = {from, to, bytes / 4};
}

/* True if the blocks move the values, too: words of 4 bytes. */
template <class Values> static bool moves_values(const segments_call &call)
{
  constexpr bool are_words = (Values::bytes == 4 || Values::bytes == 8) && Values::aligned % 4 == 0;
  return are_words && call.pairs.values_in;
}

template <class Values, class Key>
static cudaError_t sort_tiles(void *given, size_t &bytes, const segments_call &call,
                              const segment_sort::segment_plan &plan)
{
  device_segment_sort tiles = tiles_of(call);
  workspace space = {(char *)given, 0};
  pairs_memory memory = {};
  device_pairs values = call.pairs;
  const bool ordered = call.pairs.values_out && !moves_values<Values>(call);
  cudaError_t error;
  values.keys_out = NULL;
  tiles.facts = (records_facts *)space.take(sizeof(records_facts));
  if (ordered) {
    tiles.order = space.take(call.pairs.count * sizeof(uint32_t));
    divide_copies(values, false, call.value_bytes, &space, &memory);
  }
  if (ends_with(space, given, bytes, &error)) return error;
  if (moves_values<Values>(call))
    add_moved(&tiles, call.pairs.values_in, call.pairs.values_out, call.value_bytes);
  add_moved(&tiles, call.pairs.keys_in, call.pairs.keys_out, sizeof(Key));
  const auto from = records::source_of(&call.program, call.pairs.keys_in, tiles.facts);
  const device_status status = segment_sort::start_sort<reading_of_key<Key>>(&tiles, plan, from);
  if (status || !ordered) return (cudaError_t)status;
  return (cudaError_t)write_by_order<Key, Values>(values, call.value_bytes, call.pairs.count,
                                                  memory, (const uint32_t *)tiles.order);
}

/* ---- Longer segments: values move along with their keys ---- */

/* Returns false if a segment may be too long, and then has done nothing. */
template <class Values, class Key>
static bool carry_each(void *given, size_t &bytes, const segments_call &call, cudaError_t *error)
{
  using sort = carry::pair_sort<code_of<Key>, carried<typename Values::type>>;
  carry_plan plan;
  if (!sort::plan_segments(&plan, call.pairs, call.limits.shared_bytes)) return false;
  *error = start_carry<sort>(given, bytes, call.pairs, call.limits, plan);
  return true;
}

/* ---- Segments of any length: one sort by the segment and then by the key ---- */

/* Room for a key below the number of its segment. */
template <class Key>
using code_in_segment = std::conditional_t<sizeof(Key) == 4, uint64_t, device_uint128>;

template <class Values, class Key>
static device_status start_all(const segments_call &call, const device_job &job,
                               const pairs_memory &memory)
{
  using pair = pair_of<code_in_segment<Key>>;
  const device_buffers buffers = device_divide(&job, memory.pairs, memory.extra_bytes);
  records_program program = call.program;
  unsigned side = 0;
  program.key_width = job.key_width;
  device_status status = records::start_encode_in_segments<false>(
      &program, call.pairs.keys_in, job.count, &call.pairs.segments, call.pairs.key_width,
      buffers.keys[0], NULL, job.stream);
  if (!status) status = sample::sort_mixed<pair, NEVER_PACKED>(&job, &buffers, &side);
  return status ? status
                : write_by_order<Key, Values>(call.pairs, call.value_bytes, job.count, memory,
                                              (const uint32_t *)buffers.indices[side]);
}

template <class Values, class Key>
static cudaError_t sort_all(void *given, size_t &bytes, const segments_call &call)
{
  using code = code_in_segment<Key>;
  const uint32_t bits = call.pairs.key_width + records_segment_bits(call.pairs.segments.count);
  const device_job job = job_of(call.pairs.count, bits, 8 * sizeof(code), call.limits,
                                (cudaStream_t)call.pairs.stream);
  workspace space = {(char *)given, 0};
  pairs_memory memory = {};
  cudaError_t error;
  memory.extra_bytes = sample::choose_sort<pair_of<code>, NEVER_PACKED>(&job).extra_bytes(&job);
  memory.pairs = space.take(device_bytes(&job, memory.extra_bytes));
  divide_copies(call.pairs, true, call.value_bytes, &space, &memory);
  if (ends_with(space, given, bytes, &error)) return error;
  return (cudaError_t)start_all<Values, Key>(call, job, memory);
}

/* The arguments of a sort of segments: see are_valid. */
template <class Key, class Offset>
static bool are_valid_segments(const void *workspace, const Key *keys_in, uint64_t count,
                               uint64_t segments)
{
  static_assert(sizeof(Key) <= sizeof(uint64_t), "recsort: keys in segments have 4 or 8 bytes");
  static_assert(std::is_integral_v<Offset> && (sizeof(Offset) == 4 || sizeof(Offset) == 8),
                "recsort: offsets have 32 or 64 bits");
  return are_valid(workspace, keys_in, count, 0, 0) && segments <= UINT64_C(1) << 31;
}

/* Sorts each segment by itself. */
template <class Values, class Key>
static cudaError_t sort_segments(void *given, size_t &bytes, const device_pairs &pairs,
                                 uint32_t value_bytes, bool descending,
                                 const device_segments &segments)
{
  segments_call call = {pairs, value_bytes, program_of_number<Key>(descending), {}};
  segment_sort::segment_plan plan = {};
  cudaError_t error = limits_of_device(&call.limits);
  if (error) return error;
  call.pairs.segments = segments;
  if (pairs.count == 0) {
    (void)ends_with({}, given, bytes, &error);
    return error;
  }
  const device_segment_sort tiles = tiles_of(call);
  if (segment_sort::plan_segments(&tiles, &plan))
    return sort_tiles<Values, Key>(given, bytes, call, plan);
  if constexpr (can_carry<typename Values::type>)
    if (carry_segments_are_fast(pairs.count, segments.count) &&
        carry_each<Values, Key>(given, bytes, call, &error))
      return error;
  return sort_all<Values, Key>(given, bytes, call);
}

} // namespace call

#endif
