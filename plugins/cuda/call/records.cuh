/* records.cuh - a sort of records by some of their members. */
#ifndef RECSORT_CUDA_CALL_RECORDS_CUH
#define RECSORT_CUDA_CALL_RECORDS_CUH

#include "cuda/call/numbers.cuh"
#include "cuda/records/encode.cuh"
#include "cuda/records/gather.cuh"
#include "cuda/call/sorts.cuh"

namespace call
{

/* ---- Keys ---- */

/* If a program has recsort.hpp, too, asc and desc of recsort.cuh are chosen where both have one
 * that fits. So what they return is also a key of recsort.hpp, and they take no member that only a
 * sort of recsort.hpp takes, such as a string. */
#ifdef RECSORT_RECSORT_HPP
template <class Record> using key_of_hpp = ::recsort::key<Record>;
template <class Record, class... Path>
static key_of_hpp<Record> as_in_hpp(bool descending, Path... path)
{
  key_of_hpp<Record> key = ::recsort::detail::key_of(::recsort::member(path...));
  key.order = descending ? ::RECSORT_DESCENDING : ::RECSORT_ASCENDING;
  return key;
}
template <class Number>
constexpr bool is_taken = std::is_arithmetic_v<Number> && sizeof(Number) <= 8;
#else
template <class Record> struct key_of_hpp {
};
template <class Record, class... Path> static key_of_hpp<Record> as_in_hpp(bool, Path...)
{
  return {};
}
template <class Number>
constexpr bool is_taken = true; /* or an assertion of step_of says why not */
#endif

/* A member of a record by which it is sorted. */
template <class Record, uint32_t Bits> struct record_key : key_of_hpp<Record> {
  using record = Record;
  static constexpr uint32_t bits = Bits;
  recsort_key_step step; /* its shift is not set */
};

/* The offset of a member, which a pointer to it holds. */
template <class Record, class Member> uint64_t offset_of(Member Record::*member)
{
  static_assert(std::is_standard_layout_v<Record> && std::is_trivially_copyable_v<Record>,
                "recsort: a record is standard layout, and copied byte by byte");
  static_assert(sizeof member == sizeof(int64_t), "recsort: define a struct before its keys");
  int64_t offset;
  memcpy(&offset, &member, sizeof offset);
  return (uint64_t)offset;
}

template <class Record, class Member>
using key_of =
    std::enable_if_t<is_taken<number_of<Member>>, record_key<Record, bits_of<number_of<Member>>>>;

/* The path to a member ends at an offset. */
template <class Record, class Member, class... Path>
static key_of<Record, Member> key_at(uint64_t offset, bool descending, Path... path)
{
  return {as_in_hpp<Record>(descending, path...), step_of<number_of<Member>>(offset, descending)};
}

template <uint32_t Bits>
using code_of_bits = std::conditional_t<Bits <= 32, uint32_t,
                                        std::conditional_t<Bits <= 64, uint64_t, device_uint128>>;

/* Keys of a little more than 32 bits often fit in 64 bits with their indices. */
template <uint32_t Bits>
constexpr pair_form form_of_bits = Bits <= 32   ? ALWAYS_PACKED
                                   : Bits <= 44 ? EITHER
                                                : NEVER_PACKED;

/* How to make the key of a record: the first of `keys` is most significant. */
template <class Record, class... Keys> records_program program_of(const Keys &...keys)
{
  uint32_t above = (Keys::bits + ...);
  records_program program = {};
  program.record_size = sizeof(Record);
  program.key_width = 8 * sizeof(code_of_bits<(Keys::bits + ...)>);
  (add_step(&program, keys.step, &above), ...);
  return program;
}

/* ---- Sort ---- */

struct records_memory {
  uint64_t extra_bytes;
  void *pairs;
  void *copy; /* of records that are sorted in place; or NULL */
};

/* Makes the keys, unless the sort does, sorts, and moves the records, unless the sort does. */
template <class Code, pair_form form>
static device_status start_records(device_job job, const records_program &program, const void *from,
                                   void *to, const records_memory &memory)
{
  device_buffers buffers = device_divide(&job, memory.pairs, memory.extra_bytes);
  device_words words;
  unsigned side = 0;
  device_status status = 0;
  if (memory.copy) {
    status = device_copy(memory.copy, from, job.count * program.record_size, job.stream);
    from = memory.copy;
  }
  const bool small = sample_is_small(&job);
  const bool reads = sizeof(Code) == sizeof(uint32_t) &&
                     sample::choose_sort<pair_of<Code>, form>(&job).reads_words;
  const device_move move = {from, to, program.record_size};
  if (small) job.move = &move;
  if (reads && records::words_of(&program, from, &words))
    buffers.words = &words;
  else if (!status)
    status =
        records::start_encode<false>(&program, from, job.count, buffers.keys[0], NULL, job.stream);
  if (!status) status = sample::sort_mixed<pair_of<Code>, form>(&job, &buffers, &side);
  if (status || small) return status;
  records_order order = {};
  order.indices = buffers.indices[side];
  order.count = job.count;
  order.index_bits = 32;
  return records::start_gather(from, program.record_size, &order, to, job.stream);
}

template <uint32_t bits>
static cudaError_t sort_records(void *given, size_t &bytes, const records_program &program,
                                const void *from, void *to, uint64_t count, cudaStream_t stream)
{
  using code = code_of_bits<bits>;
  constexpr pair_form form = form_of_bits<bits>;
  device_limits limits;
  cudaError_t error = limits_of_device(&limits);
  if (error) return error;
  const device_job job = job_of(count, bits, program.key_width, limits, stream);
  workspace space = {(char *)given, 0};
  records_memory memory = {};
  if (count) {
    memory.extra_bytes = sample::choose_sort<pair_of<code>, form>(&job).extra_bytes(&job);
    memory.pairs = space.take(device_bytes(&job, memory.extra_bytes));
    if (from == to) memory.copy = space.take(count * program.record_size);
  }
  if (ends_with(space, given, bytes, &error) || count == 0) return error;
  return (cudaError_t)start_records<code, form>(job, program, from, to, memory);
}

} // namespace call

#endif
