/* head.cu - the functions of device_head.h. */
#include "gpu/device_head.h"

#include "cuda/head/find_head.cuh"

bool device_head_suits(uint64_t count, uint64_t head)
{
  return head::suits(count, head);
}

uint64_t device_head_bytes(uint64_t count, uint64_t head)
{
  return head::bytes(count, head);
}

device_status device_head_find(const device_head *job)
{
  const auto from = records::source_of(job->program, job->records, job->facts);
  return records::with_reading(from, [&](auto how) { return head::start_find<how>(job, from); });
}
