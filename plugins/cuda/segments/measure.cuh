/* measure.cuh - segments of which the host does not know how long they are. A kernel finds the
 * longest one, and decides which sort follows: one of short segments, planned for the least limit
 * that the longest is within, or that of all records.
 *
 *   measure_segments   reads all offsets; its last block decides
 *   a branch           a sort of segments of at most 64, 256 ... 16,384 records, or of any
 */
#ifndef RECSORT_CUDA_MEASURE_CUH
#define RECSORT_CUDA_MEASURE_CUH

#include "cuda/decision.cuh"
#include "cuda/segments/sort_segments.cuh"

#ifndef MEASURED_LEAST
#define MEASURED_LEAST (1 << 15) /* fewer records are sorted before a decision would be made */
#endif

namespace segment_sort
{

/* Segments of at most so many records have a branch of their own. For more, tiles are too small. */
static constexpr uint64_t limits[] = {64, 256, 1024, 4096, 8192, 16384};
enum { LIMITS = sizeof limits / sizeof *limits, MEASURE_BLOCK = 256, MEASURE_BLOCKS = 1 << 10 };

struct measure_args {
  static constexpr uint32_t max_threads = MEASURE_BLOCK;
  device_segments segments;
  uint32_t limits[LIMITS];
  uint32_t limit_count;
  uint32_t *longest; /* 0 between sorts */
  uint32_t *ended;   /* blocks; 0 between sorts */
  device_decision decision;
};

/* Reads the offsets. Writes *longest, and the decision: the number of the least limit that no
 * segment exceeds.
 *
 * The memory limits it. Blocks are few, as each has an atomic operation on *longest, and they come
 * one after the other. Blocks do not wait for each other, so the last one decides. */
template <class = void>
__global__ void __launch_bounds__(measure_args::max_threads)
    measure_segments(const __grid_constant__ measure_args args)
{
  DEVICE_SHARED_ARRAY(uint32_t, longest, 1);
  device_await_before();
  if (threadIdx.x == 0) *longest = 0;
  __syncthreads();
  uint64_t most = 0;
  for (uint64_t s = (uint64_t)blockIdx.x * MEASURE_BLOCK + threadIdx.x; s < args.segments.count;
       s += (uint64_t)gridDim.x * MEASURE_BLOCK)
    most = plan_max(most, offset_at(&args.segments, s + 1) - offset_at(&args.segments, s));
  device_max32(longest, (uint32_t)plan_min(most, UINT32_MAX));
  __syncthreads();
  if (threadIdx.x > 0) return;
  device_max32(args.longest, *longest);
  if (!device_is_last(args.ended)) return;
  const uint32_t found = device_max32(args.longest, 0);
  uint32_t number = 0;
  while (number < args.limit_count && args.limits[number] < found)
    number++;
  *args.longest = 0;
  *args.ended = 0;
  device_decide(args.decision, number);
}

/* The limits for which there is a sort of short segments. */
static inline uint32_t find_limits(const device_segment_sort *job, uint32_t found[LIMITS])
{
  uint32_t count = 0;
  device_segment_sort asked = *job;
  for (const uint64_t limit : limits) {
    asked.segments.most = limit;
    segment_plan plan;
    if (plan_segments(&asked, &plan)) found[count++] = (uint32_t)limit;
  }
  return count;
}

static inline bool is_measurable(const device_segment_sort *job, const device_job *sort)
{
  return job->segments.most == 0 && job->count >= MEASURED_LEAST && device_can_decide(sort);
}

/* Starts the kernel, and work(longest, job) for each number that it may find, if is_measurable.
 * `longest` is 0 if there is no limit. The words of `memory` are 0 before and after. */
template <class Work>
device_status start_measured(const device_segment_sort *job, const device_job *sort,
                             uint32_t memory[DEVICE_MEASURE_WORDS], const Work &work)
{
  measure_args args = {job->segments, {}, 0, &memory[0], &memory[1], {}};
  args.limit_count = find_limits(job, args.limits);
  const uint64_t blocks =
      plan_min(plan_blocks(job->segments.count, 4 * MEASURE_BLOCK), MEASURE_BLOCKS);
  device_status status = device_begin_decision(sort, &args.decision);
  if (!status)
    status = device_launch(measure_segments<>, blocks, MEASURE_BLOCK, 0, sort->stream, args);
  if (status) return status;
  return device_branch(sort, args.decision, args.limit_count + 1,
                       [&](unsigned number, const device_job *branch) {
                         device_job inner = *branch;
                         inner.branches[0] = NULL; /* it decides nothing */
                         const bool within = number < args.limit_count;
                         return work(within ? args.limits[number] : 0, &inner);
                       });
}

} // namespace segment_sort

#endif
