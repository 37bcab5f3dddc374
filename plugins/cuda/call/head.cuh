/* head.cuh - the first pairs of the order. */
#ifndef RECSORT_CUDA_CALL_HEAD_CUH
#define RECSORT_CUDA_CALL_HEAD_CUH

#include "cuda/call/numbers.cuh"
#include "cuda/call/pairs.cuh"
#include "cuda/head/find_head.cuh"

namespace call
{

/* Writes the first `head` pairs of the order: finds these alone if they are few, else sorts all. */
template <class Values, class Key>
static cudaError_t find_pairs(void *given, size_t &bytes, device_pairs pairs, uint32_t value_bytes,
                              bool descending, uint64_t head)
{
  if (!head::suits(pairs.count, head))
    return sort_by_order<Values, Key>(given, bytes, pairs, value_bytes, head);
  const records_program program = program_of_number<Key>(descending);
  workspace space = {(char *)given, 0};
  pairs_memory memory = {};
  device_head job = {};
  cudaError_t error;
  job.program = &program;
  job.records = pairs.keys_in;
  job.count = pairs.count;
  job.head = head;
  job.index_bits = 32;
  job.memory = space.take(head::bytes(pairs.count, head));
  job.order = space.take(head * sizeof(uint32_t));
  job.stream = pairs.stream;
  divide_copies(pairs, true, value_bytes, &space, &memory);
  if (ends_with(space, given, bytes, &error)) return error;
  const uint64_t count = pairs.count;
  const auto from = records::source_of(&program, pairs.keys_in, NULL);
  const device_status status = head::start_find<reading_of_key<Key>>(&job, from);
  pairs.count = head;
  return (cudaError_t)(status ? status
                              : write_by_order<Key, Values>(pairs, value_bytes, count, memory,
                                                            (const uint32_t *)job.order));
}

} // namespace call

#endif
