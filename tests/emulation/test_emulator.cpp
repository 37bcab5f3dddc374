/* Tests the emulator: it runs correct kernels in every order, and reports errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

extern "C" { /* not every version of the header says so */
#include <cmocka.h>
}
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/device.h"

enum { BLOCK = 48, GRID = 5, SHARED = 40 };

struct trace {
  static constexpr uint32_t max_threads = BLOCK;
  unsigned *runs;  /* of each thread */
  unsigned *order; /* the threads in the order in which they ran */
  unsigned *count;
};

static __global__ void __launch_bounds__(BLOCK) note_thread(const __grid_constant__ trace t)
{
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  t.order[*t.count] = thread;
  ++*t.count;
  t.runs[thread]++;
}

static void each_thread_runs_once_in_any_order(void **state)
{
  (void)state;
  unsigned orders[EMULATOR_ORDERS][GRID * BLOCK];
  for (unsigned o = 0; o < EMULATOR_ORDERS; o++) {
    unsigned runs[GRID * BLOCK] = {0}, count = 0;
    const trace t = {runs, orders[o], &count};
    emulator_set_order((emulator_order)o, 7);
    assert_int_equal(device_launch(note_thread, GRID, BLOCK, 0, NULL, t), 0);
    for (unsigned i = 0; i < GRID * BLOCK; i++)
      assert_int_equal(runs[i], 1);
  }
  for (unsigned i = 0; i < GRID * BLOCK; i++) {
    assert_int_equal(orders[EMULATOR_FORWARD][i], i);
    assert_int_equal(orders[EMULATOR_REVERSE][i], GRID * BLOCK - 1 - i);
  }
  assert_memory_not_equal(orders[EMULATOR_SHUFFLED], orders[EMULATOR_FORWARD], sizeof *orders);
  emulator_set_order(EMULATOR_FORWARD, 0);
}

/* Every thread reads what its neighbour wrote. */
static __global__ void __launch_bounds__(BLOCK) rotate(const __grid_constant__ trace t)
{
  DEVICE_SHARED(unsigned, values);
  DEVICE_SHARED_ARRAY(unsigned, copies, BLOCK);
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  copies[threadIdx.x] = values[(threadIdx.x + 1) % blockDim.x];
  __syncthreads();
  t.runs[threadIdx.x] = copies[(threadIdx.x + 1) % blockDim.x];
}

static void barriers_order_shared_memory(void **state)
{
  (void)state;
  for (unsigned o = 0; o < EMULATOR_ORDERS; o++) {
    unsigned seen[BLOCK];
    const trace t = {seen, NULL, NULL};
    emulator_set_order((emulator_order)o, 3);
    assert_int_equal(device_launch(rotate, 1, BLOCK, BLOCK * sizeof(unsigned), NULL, t), 0);
    for (unsigned i = 0; i < BLOCK; i++)
      assert_int_equal(seen[i], (i + 2) % BLOCK);
  }
  emulator_set_order(EMULATOR_FORWARD, 0);
}

static __global__ void __launch_bounds__(BLOCK) shuffle(const __grid_constant__ trace t)
{
  const unsigned lane = threadIdx.x % 32, mine = threadIdx.x;
  unsigned good = __shfl_sync(~0u, mine, 5) == threadIdx.x - lane + 5;
  for (unsigned round = 0; round < 3; round++)
    good &= __shfl_xor_sync(~0u, mine + round, 1) == (mine ^ 1) + round;
  good &= __shfl_up_sync(~0u, mine, 2) == (lane < 2 ? mine : mine - 2);
  __syncwarp();
  good &= __shfl_down_sync(~0u, mine, 1) ==
          (lane == 31 || threadIdx.x == blockDim.x - 1 ? mine : mine + 1);
  const unsigned lanes = blockDim.x - (mine - lane), all = lanes < 32 ? (1u << lanes) - 1 : ~0u;
  good &= __ballot_sync(~0u, lane % 3 == 1) == (0x92492492u & all);
  good &= __match_any_sync(~0u, lane % 3) == (0x49249249u << lane % 3 & all);
  t.runs[threadIdx.x] = good;
}

static void warps_exchange_values(void **state)
{
  (void)state;
  unsigned good[BLOCK] = {0};
  const trace t = {good, NULL, NULL};
  assert_int_equal(device_launch(shuffle, 1, BLOCK, 0, NULL, t), 0);
  for (unsigned i = 0; i < BLOCK; i++)
    assert_int_equal(good[i], 1);
}

/* Writes a mark to shared memory, and must find none of the previous block. */
static __global__ void __launch_bounds__(BLOCK) look_at_shared(const __grid_constant__ trace t)
{
  DEVICE_SHARED(unsigned char, bytes);
  DEVICE_SHARED_ARRAY(unsigned char, array, SHARED);
  if (threadIdx.x == 0)
    for (unsigned i = 0; i < SHARED; i++)
      *t.count += bytes[i] == 0xee && array[i] == 0xee;
  __syncthreads();
  memset(threadIdx.x ? bytes : array, 1, SHARED);
}

static void shared_memory_is_poisoned(void **state)
{
  (void)state;
  unsigned count = 0;
  emulator_set_order(EMULATOR_FORWARD, 0);
  const trace t = {NULL, NULL, &count};
  assert_int_equal(device_launch(look_at_shared, GRID, 2, SHARED, NULL, t), 0);
  assert_int_equal(count, GRID * SHARED);
}

/* ---- Mistakes ---- */

static __global__ void __launch_bounds__(BLOCK) return_early(const __grid_constant__ trace t)
{
  (void)t;
  if (threadIdx.x == 3) return;
  __syncthreads();
}

static __global__ void __launch_bounds__(BLOCK) two_barriers(const __grid_constant__ trace t)
{
  (void)t;
  if (threadIdx.x == 3)
    __syncthreads();
  else
    __syncthreads();
}

static __global__ void __launch_bounds__(BLOCK) half_a_warp(const __grid_constant__ trace t)
{
  if (threadIdx.x < 16) t.runs[0] = __shfl_xor_sync(~0u, threadIdx.x, 1);
}

static void divergence_is_reported(void **state)
{
  (void)state;
  unsigned seen = 0;
  const trace t = {&seen, NULL, NULL};
  assert_int_equal(device_launch(return_early, 1, BLOCK, 0, NULL, t), EMULATOR_LAUNCH_FAILED);
  assert_non_null(strstr(emulator_failure(), "thread 0 waits"));
  assert_int_equal(device_launch(two_barriers, 1, BLOCK, 0, NULL, t), EMULATOR_LAUNCH_FAILED);
  assert_int_equal(device_launch(half_a_warp, 1, BLOCK, 0, NULL, t), EMULATOR_LAUNCH_FAILED);
}

static __global__ void __launch_bounds__(BLOCK) write_behind(const __grid_constant__ trace t)
{
  DEVICE_SHARED(unsigned char, bytes);
  bytes[SHARED + *t.count] = 1;
}

/* True if a launch fails, or a sanitizer ends the process. */
static int ends_well(unsigned behind)
{
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    const trace t = {NULL, NULL, &behind};
    (void)close(STDERR_FILENO);
    _exit(device_launch(write_behind, 1, 1, SHARED + 1, NULL, t) != 0);
  }
  assert_true(child > 0 && waitpid(child, &status, 0) == child);
  return status == 0;
}

static void a_write_behind_shared_memory_is_reported(void **state)
{
  (void)state;
  assert_true(ends_well(0));
  assert_false(ends_well(1));
}

static void impossible_launches_are_refused(void **state)
{
  (void)state;
  const trace t = {NULL, NULL, NULL};
  assert_int_equal(device_launch(return_early, 0, BLOCK, 0, NULL, t), EMULATOR_BAD_LAUNCH);
  assert_int_equal(device_launch(return_early, UINT64_C(1) << 31, BLOCK, 0, NULL, t),
                   EMULATOR_BAD_LAUNCH);
  assert_int_equal(device_launch(return_early, 1, 0, 0, NULL, t), EMULATOR_BAD_LAUNCH);
  assert_int_equal(device_launch(return_early, 1, BLOCK + 1, 0, NULL, t), EMULATOR_BAD_LAUNCH);
  assert_int_equal(device_launch(return_early, 1, BLOCK, 1 << 20, NULL, t), EMULATOR_BAD_LAUNCH);
}

/* A smaller device: static arrays count too, though a launch does not mention them. */
static void shared_memory_has_a_limit(void **state)
{
  (void)state;
  unsigned count = 0;
  const trace t = {NULL, NULL, &count};
  emulator_set_order(EMULATOR_FORWARD, 0);
  emulator_set_shared(2 * SHARED);
  assert_int_equal(device_launch(look_at_shared, 1, 2, SHARED, NULL, t), 0);
  emulator_set_shared(2 * SHARED - 1);
  assert_int_equal(device_launch(look_at_shared, 1, 2, SHARED, NULL, t), EMULATOR_LAUNCH_FAILED);
  assert_non_null(strstr(emulator_failure(), "shared memory"));
  emulator_set_shared(SHARED - 1);
  assert_int_equal(device_launch(look_at_shared, 1, 2, SHARED, NULL, t), EMULATOR_BAD_LAUNCH);
  emulator_set_shared(EMULATOR_SHARED_BYTES);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_thread_runs_once_in_any_order),
      cmocka_unit_test(barriers_order_shared_memory),
      cmocka_unit_test(warps_exchange_values),
      cmocka_unit_test(shared_memory_is_poisoned),
      cmocka_unit_test(divergence_is_reported),
      cmocka_unit_test(a_write_behind_shared_memory_is_reported),
      cmocka_unit_test(impossible_launches_are_refused),
      cmocka_unit_test(shared_memory_has_a_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
