/* encode.cuh - makes the keys of all records. The memory limits it: each record is read once and
 * each key written once. */
#ifndef RECSORT_CUDA_RECORDS_ENCODE_CUH
#define RECSORT_CUDA_RECORDS_ENCODE_CUH

#include "cuda/records/hashes.cuh"
#include "cuda/records/key.cuh"

namespace records
{

struct encode_args {
  static constexpr uint32_t max_threads = BLOCK;
  records_program program; /* with its `word` set */
  const unsigned char *records;
  void *keys;
  records_facts *facts;
  uint64_t count;
  uint32_t unit; /* of sums */
  uint32_t each; /* records of a thread */
  device_certificate certificate;
};

/* Records of a thread that encodes fields, so that their loads overlap. Few records are better
 * spread over many threads. */
#ifndef ENCODED_LEAST
#define ENCODED_LEAST (1 << 18)
#endif
enum { ENCODED = 4 };

/* What a key adds to the balance, if it has keys with their numbers. */
DEVICE_INLINE uint64_t balance_of(const encode_args *args, const record_key &key, uint64_t number)
{
  const uint32_t index_bits = args->certificate.index_bits;
  return index_bits ? hash_numbered(key, args->program.key_width, number, index_bits) : 0;
}

/* Makes the keys of `each` records, at most ENCODED, at the distance of a block. */
template <bool Computed> DEVICE_INLINE void make_keys(const encode_args *args, uint32_t each)
{
  const uint64_t first = (uint64_t)blockIdx.x * blockDim.x * each + threadIdx.x;
  record_key keys[ENCODED];
  uint64_t sum = 0;
  bool valid = true;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < ENCODED; t++) {
    const uint64_t i = first + t * blockDim.x;
    if (t < each && i < args->count) keys[t] = make_key<Computed>(&args->program, i, &valid);
  }
  DEVICE_UNROLL
  for (uint32_t t = 0; t < ENCODED; t++) {
    const uint64_t i = first + t * blockDim.x;
    if (t < each && i < args->count) {
      store_key(args->keys, args->program.key_width, i, keys[t]);
      sum += balance_of(args, keys[t], i);
    }
  }
  if (args->certificate.index_bits) add_to_balance<BLOCK>(args->certificate, sum);
  if (!valid) args->facts->invalid = 1;
}

/* Reads the records, or the columns. Writes their keys, and facts->invalid; adds keys and their
 * numbers to the balance, if it has them.
 *
 * A load takes so long that a thread needs several in flight: of fields it makes args.each keys
 * before it stores one, as a store must not overtake a load that may be of the same memory.
 * Computed values need the registers for themselves: a thread makes one. */
template <bool Computed>
__global__ void __launch_bounds__(encode_args::max_threads)
    encode(const __grid_constant__ encode_args args)
{
  device_await_before();
  make_keys<Computed>(&args, Computed ? 1 : args.each);
}

/* Reads the array of records. Writes their keys, facts->invalid, and adds the sum of the records'
 * hashes to facts->came.
 *
 * All threads of a block add up their hashes before one adds to the sum: atomic additions to one
 * address come one after the other. */
template <bool Computed>
__global__ void __launch_bounds__(encode_args::max_threads)
    encode_summed(const __grid_constant__ encode_args args)
{
  device_await_before();
  const uint64_t i = thread_number(), size = args.program.record_size;
  const bool mine = i < args.count;
  make_keys<Computed>(&args, 1);
  add_hashes(&args.facts->came, mine ? hash_record(args.records + i * size, size, args.unit) : 0);
}

/* Starts encode, if `Computed` is has_computed of the program. If `records` is NULL, the keys are
 * made of the program's columns. */
template <bool Computed>
device_status start_encode(const records_program *program, const void *records, uint64_t count,
                           void *keys, records_facts *facts, void *stream,
                           const device_certificate &certificate = {})
{
  const uint32_t each = !Computed && count >= ENCODED_LEAST ? ENCODED : 1;
  const encode_args args = {
      program_at(program, records), NULL, keys, facts, count, 0, each, certificate};
  return device_launch(encode<Computed>, plan_blocks(count, BLOCK * each), BLOCK, 0, stream, args);
}

/* Starts encode_summed of an array of records that is aligned to 8 bytes. */
template <bool Computed>
device_status start_encode_summed(const records_program *program, const void *records,
                                  uint64_t count, void *keys, records_facts *facts, void *stream)
{
  const encode_args args = {program_at(program, records),
                            (const unsigned char *)records,
                            keys,
                            facts,
                            count,
                            load_unit(program->record_size),
                            1,
                            {}};
  return device_launch(encode_summed<Computed>, plan_blocks(count, BLOCK), BLOCK, 0, stream, args);
}

} // namespace records

#endif
