/* device_carry.cu - see gpu/device_pairs.h: chooses the types of a job's keys and values. */
#include "cuda/sort/carry/pair_sorts.cuh"

namespace
{

using namespace carry;

/* Calls work(sort) with the pair_sort of the job. */
template <class Work> auto with_pair_sort(const device_pairs *job, const Work &work)
{
  return with_key(job->key_width, [&](auto key) {
    using code = decltype(key);
    if (!job->values_out) return work(pair_sort<code, no_value>());
    return with_key(job->value_width,
                    [&](auto value) { return work(pair_sort<code, decltype(value)>()); });
  });
}

/* Plans the sort of the job by `by`. */
template <class Sort>
bool plan_job(Sort by, carry_plan *plan, const device_pairs *job, uint64_t shared_bytes)
{
  return job->segments.count ? by.plan_segments(plan, *job, shared_bytes)
                             : by.plan(plan, job->count, shared_bytes, compares_all(*job));
}

} // namespace

uint64_t device_pairs_carry_bytes(const device_pairs *job, uint64_t shared_bytes)
{
  return with_pair_sort(job, [=](auto by) {
    carry_plan plan = {};
    return plan_job(by, &plan, job, shared_bytes) ? by.bytes(plan, job->keys_out != NULL, false)
                                                  : 0;
  });
}

bool device_pairs_carry_is_fast(const device_pairs *job)
{
  return job->segments.count
             ? carry_segments_are_fast(job->count, job->segments.count)
             : carry_is_fast(job->count,
                             (job->number_width ? job->number_width : job->key_width) / 8);
}

device_status device_pairs_carry(const device_pairs *job, const device_job *on, void *memory)
{
  return with_pair_sort(job, [&](auto by) {
    carry_plan plan = {};
    (void)plan_job(by, &plan, job, on->shared_bytes);
    return by.sort(plan, *job, on->multiprocessors, {NULL, NULL, memory}, on->certificate);
  });
}
