/* What looks at the elements that a carry sort writes: it finds each that is out of order, or not
 * in the range of its part. Faults in memory cannot show that, as a block has just sorted them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

extern "C" { /* not every version of the header says so */
#include <cmocka.h>
}
#include <utility>

#include "cuda/sort/carry/sort_parts.cuh"

using namespace carry;

enum { MOST = 1500 };

struct look_args {
  static constexpr uint32_t max_threads = CARRY_SORT_BLOCK;
  element_array<uint32_t, uint32_t> from, to;
  const uint32_t *order;
  uint32_t count;
  bool numbered;
  code_range<uint32_t> range;
  bool *wrong;
  uint64_t *balance;
};

static __global__ void __launch_bounds__(CARRY_SORT_BLOCK)
    look(const __grid_constant__ look_args args)
{
  DEVICE_SHARED_ARRAY(uint64_t, balance, 1);
  sort_parts_args<uint32_t, uint32_t> part = {};
  device_await_before();
  part.to = args.to;
  part.keys_wanted = true;
  part.numbered = args.numbered;
  if (threadIdx.x == 0) *balance = 0;
  __syncthreads();
  if (write_certified(
          part, args.from, args.count, 0, [&](uint32_t j) { return args.order[j]; }, args.range,
          balance, integer_order<uint32_t>{0, UINT32_MAX}))
    *args.wrong = true;
  __syncthreads();
  if (threadIdx.x == 0) *args.balance = *balance;
}

static uint32_t keys[MOST], numbers[MOST], order[MOST], keys_out[MOST], numbers_out[MOST];
static uint64_t balance;

/* Keys 10, 10, 11, 11 ... with numbers that ascend; `order` puts them in order. */
static bool is_wrong(uint32_t count, bool numbered, code_range<uint32_t> range)
{
  bool wrong = false;
  const look_args args = {
      {keys, numbers}, {keys_out, numbers_out}, order, count, numbered, range, &wrong, &balance};
  assert_int_equal(device_launch(look, 1, CARRY_SORT_BLOCK, 0, NULL, args), 0);
  return wrong;
}

/* With `shift` 1 the first key is alone, so that two that are equal may be in two warps. */
static void prepare(uint32_t count, uint32_t shift)
{
  for (uint32_t i = 0; i < count; i++) {
    order[i] = (i * 7 + 3) % count;
    keys[order[i]] = 10 + (i + shift) / 2;
    numbers[order[i]] = i;
  }
}

static const uint32_t counts[] = {1, 2, 31, 32, 33, 100, 513, 1499}; /* no multiples of 7 */

static void find_each_disorder(uint32_t count, uint32_t shift)
{
  const code_range<uint32_t> range = {10, 10 + (count - 1 + shift) / 2};
  prepare(count, shift);
  assert_false(is_wrong(count, true, range));
  const uint64_t right = balance;
  for (uint32_t i = 0; i + 1 < count; i += 1 + count / 300) {
    const bool tie = (i + shift) % 2 == 0;
    uint32_t &number = numbers[order[i + 1]];
    std::swap(order[i], order[i + 1]);
    assert_true(is_wrong(count, true, range));
    assert_int_equal(is_wrong(count, false, range), !tie);
    assert_true(balance == right); /* none is lost */
    std::swap(order[i], order[i + 1]);
    const uint32_t kept = std::exchange(number, numbers[order[i]]);
    assert_int_equal(is_wrong(count, true, range), tie);
    assert_true(balance != right);
    number = kept;
  }
  if (count == 1) return;
  order[count - 1] = order[0]; /* one is lost, and another one comes twice */
  (void)is_wrong(count, true, range);
  assert_true(balance != right);
}

static void test_each_disorder_is_found(void **state)
{
  (void)state;
  for (const uint32_t count : counts)
    for (uint32_t shift = 0; shift < 2; shift++)
      find_each_disorder(count, shift);
}

static void test_the_range_is_looked_at(void **state)
{
  (void)state;
  for (const uint32_t count : counts) {
    const uint32_t last = 10 + (count - 1) / 2;
    prepare(count, 0);
    assert_false(is_wrong(count, true, {0, UINT32_MAX}));
    assert_true(is_wrong(count, true, {11, last}) && is_wrong(count, true, {10, last - 1}));
  }
}

int main(void)
{
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_each_disorder_is_found),
      cmocka_unit_test(test_the_range_is_looked_at),
  };
  return cmocka_run_group_tests_name("certificate", tests, NULL, NULL);
}
