/* blocks.cpp - what blocks of a kernel and the host tell each other: the kernels as they are. The
 * last block that ends concludes for all (device_is_last), and posts a flag that the host polls
 * (device_post, device_await). Other kernels only add atomically, and are ordered by the stream. */
#include <cuda_runtime.h>

#define RECSORT_DECIDES_ON_HOST
#include "interleave/checker.h"
#include "interleave/scenarios.h"

#include "base/assert.h"

#define __atomic_load_n(at, order) (checker_pause(), __atomic_load_n(at, order))
#include "cuda/device.h"
#undef DEVICE_SHARED_ARRAY
#define DEVICE_SHARED_ARRAY(type, name, count) type *const name = (type *)shared[blockIdx.x]
static uint64_t shared[BLOCKS][64]; /* a kernel here has one array */

#include "cuda/segments/measure.cuh"
#include "cuda/sort/sample/agent/detect_order.cuh"

/* Starts the kernel before, of one thread, and the blocks. They overlap. */
static void start_kernels(void (*before)(void *), void (*thread)(void *), void *args)
{
  (void)checker_start(before, args);
  for (unsigned i = 0; i < BLOCKS * THREADS; i++)
    (void)checker_start(thread, args);
}

/* ---- A report to the host ---- */

typedef wide_pair<uint32_t, uint32_t> pair;

enum { LOOKS = 8, KEYS = LOOKS * THREADS + 4 }; /* the second block has 4 */

static void detect(void *args)
{
  sample::detect_order<pair>(*(const sample::detect_args *)args);
}

static void clear(void *args)
{
  sample::clear_flags(*(const sample::detect_args *)args);
}

/* The keys ascend but for one, which only the last thread finds. */
static void report(void)
{
  static uint32_t keys[KEYS], numbered[KEYS], turned_keys[KEYS], turned[KEYS];
  static sample::order_flags flags;
  static sample::order_mailbox mailbox;
  static sample::detect_args args;
  device_job job = {};
  uint64_t found = 0;
  for (uint32_t i = 0; i < KEYS; i++)
    keys[i] = i;
  keys[KEYS - 2] = 0;
  flags.unsorted = flags.unreversed = 0;
  flags.looked = 77; /* until the kernel before has cleared it */
  job.mailbox = &mailbox;
  args = {keys, KEYS, false, numbered, NULL, turned_keys, turned, &flags, NULL, {}};
  checker_assert(sample::expect_report(&job, &args.report) == 0);
  start_kernels(clear, detect, &args);
  const device_status status = sample::await_report(&job, &found);
  checker_assert(status == 0 && found == sample::KEYS_MIXED);
}

/* ---- A decision of the last block ---- */

enum { SEGMENTS = segment_sort::MEASURE_BLOCK + THREADS };

static void measure(void *args)
{
  segment_sort::measure_segments<>(*(const segment_sort::measure_args *)args);
}

static uint32_t offsets[SEGMENTS + 1];

/* The longest segment is one of the last block's. */
static void fill(void *)
{
  for (uint32_t i = 1; i <= SEGMENTS; i++)
    offsets[i] = offsets[i - 1] + (i == SEGMENTS ? 100 : i % 64);
}

static void decision(void)
{
  static uint32_t longest, ended, number;
  static segment_sort::measure_args args;
  longest = ended = number = 0;
  args = {{offsets, SEGMENTS, 32, 0}, {64, 256, 1024}, 3, &longest, &ended, {&number}};
  start_kernels(fill, measure, &args);
  for (unsigned i = FIRST; i <= LAST; i++)
    checker_join(i);
  const bool right = number == 1 && longest == 0 && ended == 0;
  checker_assert(right);
}

const scenario block_scenarios[] = {
    {"two blocks report to the host", report, 0, 1},
    {"the last of two blocks decides", decision, 0, CHECKER_ANY},
};
const size_t block_scenario_count = sizeof block_scenarios / sizeof *block_scenarios;
