/* confirm.cuh - checks records that have been sorted. */
#ifndef RECSORT_CUDA_RECORDS_CONFIRM_CUH
#define RECSORT_CUDA_RECORDS_CONFIRM_CUH

#include "cuda/records/hashes.cuh"
#include "cuda/records/key.cuh"

namespace records
{

struct confirm_args {
  static constexpr uint32_t max_threads = BLOCK;
  records_program program; /* with its `word` set */
  const unsigned char *records;
  const void *keys;
  records_facts *facts;
  uint64_t count;
  uint32_t unit;
};

template <bool Computed> DEVICE_INLINE bool has_key(const confirm_args *args, uint64_t i)
{
  bool valid = true;
  return is_key(make_key<Computed>(&args->program, i, &valid),
                load_key(args->keys, args->program.key_width, i));
}

/* Reads the records and the sorted keys. Sets facts->strayed unless the records have these keys,
 * and adds the sum of their hashes to facts->left.
 *
 * All threads of a block add up their hashes before one adds to the sum: atomic additions to one
 * address come one after the other. */
template <bool Computed>
__global__ void __launch_bounds__(confirm_args::max_threads)
    confirm(const __grid_constant__ confirm_args args)
{
  device_await_before();
  const uint64_t i = thread_number();
  const unsigned char *const record = args.records + i * args.program.record_size;
  uint64_t hash = 0;
  if (i < args.count) {
    if (!has_key<Computed>(&args, i)) args.facts->strayed = 1;
    hash = hash_record(record, args.program.record_size, args.unit);
  }
  add_hashes(&args.facts->left, hash);
}

/* Starts it, if `Computed` is has_computed of the program. */
template <bool Computed>
device_status start_confirm(const records_program *program, const void *records, uint64_t count,
                            const void *keys, records_facts *facts, void *stream)
{
  const confirm_args args = {
      program_at(program, records),   (const unsigned char *)records, keys, facts, count,
      load_unit(program->record_size)};
  return device_launch(confirm<Computed>, plan_blocks(count, BLOCK), BLOCK, 0, stream, args);
}

} // namespace records

#endif
