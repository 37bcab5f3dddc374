/* segments.cu - the functions of device_segments.h. */
#include "gpu/device_segments.h"

#include "cuda/segments/counted.cuh"
#include "cuda/segments/measure.cuh"
#include "cuda/segments/sort_segments.cuh"

bool device_segments_suit(const device_segment_sort *job)
{
  segment_sort::segment_plan plan;
  return segment_sort::plan_segments(job, &plan);
}

device_status device_segments_sort(const device_segment_sort *job)
{
  segment_sort::segment_plan plan = {};
  (void)segment_sort::plan_segments(job, &plan);
  const auto from = records::source_of(job->program, job->records, job->facts);
  return records::with_reading(
      from, [&](auto how) { return segment_sort::start_sort<how>(job, plan, from); });
}

bool device_segments_measurable(const device_segment_sort *job, const device_job *sort)
{
  return segment_sort::is_measurable(job, sort);
}

device_status device_segments_measure(const device_segment_sort *job, const device_job *sort,
                                      uint32_t memory[DEVICE_MEASURE_WORDS],
                                      device_segment_work *work, void *context)
{
  return segment_sort::start_measured(
      job, sort, memory,
      [&](uint64_t longest, const device_job *inner) { return work(context, longest, inner); });
}

bool device_count_measurable(const device_job *sort)
{
  return counted::is_measurable(sort);
}

device_status device_count_measure(const uint64_t *count, const device_job *sort,
                                   device_segment_work *work, void *context)
{
  return counted::start_counted(count, sort, [&](uint64_t most, const device_job *inner) {
    return work(context, most, inner);
  });
}

device_status device_number_rest(void *to, uint32_t bits, uint64_t first, uint64_t end,
                                 void *stream)
{
  return counted::start_numbers(to, bits, first, end, stream);
}
