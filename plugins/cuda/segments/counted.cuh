/* counted.cuh - sorts of as many records as the device says. A kernel reads how many there are, and
 * decides which sort follows: one that is planned for at most so many.
 *
 *   measure_count    decides
 *   a branch         a sort of at most 2^14 records, of 1/64, 1/16 or 1/4 of all, or of all
 *   number_rest      the permutation of the records behind these
 */
#ifndef RECSORT_CUDA_COUNTED_CUH
#define RECSORT_CUDA_COUNTED_CUH

#include "cuda/decision.cuh"
#include "cuda/plan.h"

#ifndef COUNTED_FEW
#define COUNTED_FEW (1 << 14) /* fewer are not told apart */
#endif

namespace counted
{

enum { LIMITS = 4, NUMBER_BLOCK = 256, NUMBER_BLOCKS = 1 << 10 };

struct count_args {
  static constexpr uint32_t max_threads = 1;
  const uint64_t *count;
  uint64_t limits[LIMITS]; /* ascend */
  uint32_t limit_count;
  device_decision decision;
};

/* Reads the count. Sets the decision: the number of the least limit that it is within. One thread;
 * the time is that of a launch. */
template <class = void>
__global__ void __launch_bounds__(count_args::max_threads)
    measure_count(const __grid_constant__ count_args args)
{
  device_await_before();
  uint32_t number = 0;
  while (number < args.limit_count && args.limits[number] < *args.count)
    number++;
  device_decide(args.decision, number);
}

struct number_args {
  static constexpr uint32_t max_threads = NUMBER_BLOCK;
  void *to;
  uint64_t first, end;
  uint32_t bits;
};

/* Reads nothing. Writes each number from `first` on to its place. The memory limits it. */
template <class = void>
__global__ void __launch_bounds__(number_args::max_threads)
    number_rest(const __grid_constant__ number_args args)
{
  device_await_before();
  for (uint64_t i = args.first + (uint64_t)blockIdx.x * NUMBER_BLOCK + threadIdx.x; i < args.end;
       i += (uint64_t)gridDim.x * NUMBER_BLOCK)
    if (args.bits == 32)
      ((uint32_t *)args.to)[i] = (uint32_t)i;
    else
      ((uint64_t *)args.to)[i] = i;
}

static inline uint32_t find_limits(uint64_t all, uint64_t limits[LIMITS])
{
  uint32_t count = 0;
  limits[count++] = COUNTED_FEW;
  for (uint32_t shift = 6; shift > 0; shift -= 2)
    if (all >> shift > COUNTED_FEW) limits[count++] = all >> shift;
  return count;
}

static inline bool is_measurable(const device_job *sort)
{
  return sort->count > COUNTED_FEW && device_can_decide(sort);
}

/* Starts the kernel, and work(most, job) for each limit, if is_measurable. */
template <class Work>
device_status start_counted(const uint64_t *count, const device_job *sort, const Work &work)
{
  count_args args = {count, {}, 0, {}};
  args.limit_count = find_limits(sort->count, args.limits);
  device_status status = device_begin_decision(sort, &args.decision);
  if (!status) status = device_launch(measure_count<>, 1, 1, 0, sort->stream, args);
  if (status) return status;
  return device_branch(
      sort, args.decision, args.limit_count + 1, [&](unsigned number, const device_job *branch) {
        device_job inner = *branch;
        inner.branches[0] = NULL; /* it decides nothing */
        return work(number < args.limit_count ? args.limits[number] : sort->count, &inner);
      });
}

/* See device_number_rest. */
static inline device_status start_numbers(void *to, uint32_t bits, uint64_t first, uint64_t end,
                                          void *stream)
{
  const uint64_t grid = plan_min(plan_blocks(end - first, NUMBER_BLOCK), NUMBER_BLOCKS);
  const number_args args = {to, first, end, bits};
  return device_launch(number_rest<>, grid, NUMBER_BLOCK, 0, stream, args);
}

} // namespace counted

#endif
