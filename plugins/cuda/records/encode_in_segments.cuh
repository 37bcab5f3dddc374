/* encode_in_segments.cuh - makes keys with the number of the record's segment above each, so that
 * one sort sorts each segment by itself. */
#ifndef RECSORT_CUDA_RECORDS_ENCODE_IN_SEGMENTS_CUH
#define RECSORT_CUDA_RECORDS_ENCODE_IN_SEGMENTS_CUH

#include "cuda/records/encode.cuh"
#include "cuda/records/offsets.cuh"

namespace records
{

struct segments_args {
  static constexpr uint32_t max_threads = BLOCK;
  encode_args encode;
  device_segments segments;
  uint32_t key_bits;
};

/* Two warps find the segments of the block's first and last record; that leaves few for the others
 * to search. */
template <bool Computed> DEVICE_INLINE void make_key_in_segment(const segments_args *args)
{
  DEVICE_SHARED_ARRAY(uint64_t, ends, 2);
  const device_segments *const segments = &args->segments;
  const encode_args *const encode = &args->encode;
  const uint64_t i = thread_number(),
                 last = plan_min(i - threadIdx.x + blockDim.x, encode->count) - 1;
  const uint32_t warp = threadIdx.x / WARP_SIZE;
  if (warp < 2) {
    const uint64_t found = warp_offsets_up_to(segments, warp ? last : i - threadIdx.x);
    if (threadIdx.x % WARP_SIZE == 0) ends[warp] = found;
  }
  __syncthreads();
  const bool mine = i < encode->count;
  const uint64_t number = mine ? offsets_up_to(segments, ends[0], ends[1], i) : 0;
  record_key key = {{0, 0}};
  if (number > 0 && number <= segments->count) {
    bool valid = true;
    key = make_key<Computed>(&encode->program, i, &valid);
    if (!valid) encode->facts->invalid = 1;
  }
  place_code(&key, args->key_bits, number);
  if (mine) store_key(encode->keys, encode->program.key_width, i, key);
  if (encode->certificate.index_bits)
    add_to_balance<BLOCK>(encode->certificate, mine ? balance_of(encode, key, i) : 0);
}

/* Reads the records, or the columns, and some offsets of segments. Writes the keys, with the number
 * of offsets up to the record above key_bits, and facts->invalid. The key of a record outside all
 * segments is 0 below its number.
 *
 * Each step of a search waits for a load, so the two warps try 32 offsets a step. */
template <bool Computed>
__global__ void __launch_bounds__(segments_args::max_threads)
    encode_in_segments(const __grid_constant__ segments_args args)
{
  device_await_before();
  make_key_in_segment<Computed>(&args);
}

/* Starts it, if `Computed` is has_computed of the program. */
template <bool Computed>
device_status start_encode_in_segments(const records_program *program, const void *records,
                                       uint64_t count, const device_segments *segments,
                                       uint32_t key_bits, void *keys, records_facts *facts,
                                       void *stream, const device_certificate &certificate = {})
{
  const segments_args args = {
      {program_at(program, records), NULL, keys, facts, count, 0, 1, certificate},
      *segments,
      key_bits};
  return device_launch(encode_in_segments<Computed>, plan_blocks(count, BLOCK), BLOCK, 0, stream,
                       args);
}

} // namespace records

#endif
