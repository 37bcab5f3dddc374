/* The merge of two runs, with every set of kernels that runs here: all lengths, cuts at every rank,
 * no access out of bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "runs/pair.h"
#include "support/random.h"

static const merge_kernels *kernels[2];
static size_t kernel_count;

#define EACH_KERNEL(k) (size_t k = 0; k < kernel_count; k++)

static int compare(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Memory for exactly `count` pairs, so that sanitizers notice accesses beyond it. */
static uint64_t *allocate(size_t count)
{
  uint64_t *pairs = malloc((count ? count : 1) * sizeof *pairs);
  assert_non_null(pairs);
  return pairs;
}

/* A pair as the sort makes it: bit 61, a key, and a unique index. */
static uint64_t pair(uint64_t key, size_t index)
{
  return PAIR_MARK | (key << 20 & (PAIR_MARK - 1)) | index;
}

/* ---- Ranks ---- */

static void test_co_rank_takes_from_the_left_first(void **state)
{
  uint64_t random = 1;
  (void)state;
  for (unsigned round = 0; round < 300; round++) {
    uint64_t a[20], b[20];
    const size_t m = random_below(&random, 20), n = random_below(&random, 20);
    for (size_t i = 0; i < 20; i++) {
      a[i] = random_below(&random, 8);
      b[i] = random_below(&random, 8);
    }
    qsort(a, m, sizeof *a, compare);
    qsort(b, n, sizeof *b, compare);
    size_t i = 0;
    for (size_t rank = 0; rank <= m + n; rank++) {
      assert_int_equal(co_rank(rank, (run64){a, m}, (run64){b, n}), i);
      if (rank < m + n) i += i < m && (rank - i >= n || a[i] <= b[rank - i]);
    }
  }
}

static void test_rank_first_counts_what_is_less(void **state)
{
  static const uint64_t run[] = {2, 2, 5, 5, 5, 9, UINT64_MAX};
  (void)state;
  for (uint64_t x = 0; x < 12; x++) {
    size_t less = 0;
    while (less < 7 && run[less] < x)
      less++;
    assert_int_equal(rank_first(x, (run64){run, 7}), less);
  }
  assert_int_equal(rank_first(UINT64_MAX, (run64){run, 7}), 6);
  assert_int_equal(rank_first(5, (run64){run, 0}), 0);
}

/* ---- Two runs ---- */

static void check_merge(const merge_kernels *with, const uint64_t *pairs, size_t m, size_t n)
{
  uint64_t *a = allocate(m), *b = allocate(n), *out = allocate(m + n), *expected = allocate(m + n);
  memcpy(a, pairs, m * sizeof *a);
  memcpy(b, pairs + m, n * sizeof *b);
  qsort(a, m, sizeof *a, compare);
  qsort(b, n, sizeof *b, compare);
  memcpy(expected, pairs, (m + n) * sizeof *expected);
  qsort(expected, m + n, sizeof *expected, compare);
  memset(out, 0, (m + n) * sizeof *out);
  rs_merge_runs(with, (run64){a, m}, (run64){b, n}, out);
  if (memcmp(out, expected, (m + n) * sizeof *out) != 0)
    fail_msg("%s kernels: runs of %zu and %zu pairs", with->name, m, n);
  free(a);
  free(b);
  free(out);
  free(expected);
}

static void test_merge_of_all_lengths(void **state)
{
  uint64_t random = 2, pairs[400];
  (void)state;
  for
    EACH_KERNEL(k)
  for (size_t m = 0; m < 200; m += 1 + m / 40)
    for (size_t n = 0; n < 200; n += 1 + n / 40)
      for (unsigned shape = 0; shape < 4; shape++) {
        for (size_t i = 0; i < m + n; i++) {
          const uint64_t far = shape == 1 && i < m ? 1000 : shape == 2 && i >= m ? 1000 : 0;
          const uint64_t key =
              shape == 3 ? random_below(&random, 2) * 500 + i % 3 : random_below(&random, 1000);
          pairs[i] = pair(key + far * random_below(&random, 2), i);
        }
        check_merge(kernels[k], pairs, m, n);
      }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_co_rank_takes_from_the_left_first),
      cmocka_unit_test(test_rank_first_counts_what_is_less),
      cmocka_unit_test(test_merge_of_all_lengths),
  };
  kernels[kernel_count++] = &rs_scalar_kernels;
  if (rs_best_kernels() != &rs_scalar_kernels) kernels[kernel_count++] = rs_best_kernels();
  return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
