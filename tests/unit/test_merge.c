/* The CPU's merges, with every set of kernels that runs here: all lengths, cuts at every rank, no
 * access out of bounds. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pool.h"
#include "cpu/pairs.h"
#include "cpu/sorts.h"
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

/* ---- Many runs ---- */

static void check_block(const merge_kernels *with, size_t count, bool into_other, uint64_t *random)
{
  uint64_t *data = allocate(count), *other = allocate(count), *expected = allocate(count);
  const uint64_t end = random_below(random, 2) ? 7 : UINT64_C(1) << 30;
  for (size_t i = 0; i < count; i++)
    data[i] = expected[i] = pair(random_below(random, end), i);
  qsort(expected, count, sizeof *expected, compare);
  rs_block_sort(with, data, other, count, into_other);
  if (memcmp(into_other ? other : data, expected, count * sizeof *expected) != 0)
    fail_msg("%s kernels: block of %zu pairs", with->name, count);
  free(data);
  free(other);
  free(expected);
}

static void test_blocks_of_all_lengths(void **state)
{
  uint64_t random = 3;
  (void)state;
  for
    EACH_KERNEL(k)
    {
      for (size_t count = 0; count < 600; count++)
        check_block(kernels[k], count, count % 2, &random);
      for (size_t count = BLOCK_PAIRS - 3; count <= BLOCK_PAIRS; count++)
        for (int into_other = 0; into_other < 2; into_other++)
          check_block(kernels[k], count, into_other, &random);
    }
}

static pair_buffers open_buffers(const merge_kernels *with, size_t count, unsigned threads)
{
  return (pair_buffers){allocate(count),
                        allocate(count),
                        count,
                        malloc(pairs_tiles_size(threads)),
                        with,
                        rs_team(NULL, threads),
                        20};
}

static void close_buffers(pair_buffers buffers)
{
  free(buffers.data);
  free(buffers.other);
  free(buffers.tiles);
}

static void test_multiway_passes(void **state)
{
  static const size_t runs[] = {1, 5, MULTIWAY_WINDOW - 1, MULTIWAY_WINDOW + 1, 5000, BLOCK_PAIRS};
  static const size_t totals[] = {1, 2, 17, 40000, 70001};
  uint64_t random = 4;
  (void)state;
  for (size_t r = 0; r < sizeof runs / sizeof *runs; r++)
    for (size_t t = 0; t < sizeof totals / sizeof *totals; t++) {
      const size_t count = totals[t], group = runs[r] * MULTIWAY_RUNS;
      pair_buffers buffers = open_buffers(kernels[t % kernel_count], count, 2);
      uint64_t *expected = allocate(count);
      for (size_t i = 0; i < count; i++)
        buffers.data[i] = expected[i] = pair(random_below(&random, r % 2 ? 50 : 1 << 20), i);
      for (size_t i = 0; i < count; i += runs[r])
        qsort(buffers.data + i, count - i < runs[r] ? count - i : runs[r], sizeof *expected,
              compare);
      for (size_t i = 0; i < count; i += group)
        qsort(expected + i, count - i < group ? count - i : group, sizeof *expected, compare);
      rs_multiway_pass(buffers, runs[r]);
      assert_memory_equal(buffers.other, expected, count * sizeof *expected);
      close_buffers(buffers);
      free(expected);
    }
}

/* ---- Presorted input ---- */

/* Sorts buffers.data with rs_presorted_sort and checks it. Returns whether the order was of use. */
static bool check_presorted(pair_buffers buffers)
{
  uint64_t *expected = allocate(buffers.count);
  memcpy(expected, buffers.data, buffers.count * sizeof *expected);
  qsort(expected, buffers.count, sizeof *expected, compare);
  const bool handled = rs_presorted_sort(buffers);
  if (!handled) rs_pairs_sort(buffers);
  if (memcmp(buffers.other, expected, buffers.count * sizeof *expected) != 0)
    fail_msg("%zu pairs, %u threads", buffers.count, buffers.team.threads);
  free(expected);
  return handled;
}

/* Sorted by key except for `moved` pairs; or reversed. */
static void test_presorted(void **state)
{
  static const size_t moves[] = {0, 1, 2, 30, 400, 30000};
  enum { COUNT = 40001 };
  uint64_t random = 5;
  (void)state;
  for (unsigned variant = 0; variant < 12; variant++)
    for (size_t m = 0; m < sizeof moves / sizeof *moves; m++) {
      const bool reversed = variant & 1;
      pair_buffers buffers = open_buffers(kernels[variant % kernel_count], COUNT, variant % 5 + 1);
      for (size_t i = 0; i < COUNT; i++)
        buffers.data[i] = pair((reversed ? COUNT - i : i) / 4, i);
      for (size_t moved = 0; moved < moves[m]; moved++) {
        const size_t at = random_below(&random, COUNT);
        buffers.data[at] = pair(random_below(&random, COUNT / 4), at);
      }
      const bool handled = check_presorted(buffers);
      if (m == 0) assert_true(handled);
      if (m == 4) assert_true(handled || reversed);
      close_buffers(buffers);
    }
}

/* Equal keys, many or few, across the boundaries between threads. */
static void test_reversed_ties(void **state)
{
  (void)state;
  for (size_t ties = 1; ties < 5000; ties += ties / 2 + 1)
    for (unsigned threads = 1; threads <= 7; threads++) {
      pair_buffers buffers = open_buffers(kernels[0], 5001 + ties % 7, threads);
      for (size_t i = 0; i < buffers.count; i++)
        buffers.data[i] = pair((buffers.count - i) / ties, i);
      assert_true(check_presorted(buffers));
      close_buffers(buffers);
    }
}

/* A piece of a sorted array is moved, and the first and last pairs of a thread's stretch are among
 * the least and greatest: so a thread's pairs overlap those of others, or belong between them. */
static void test_overlapping_stretches(void **state)
{
  enum { COUNT = 4096, ROUNDS = 400 };
  uint64_t random = 6;
  size_t handled = 0;
  (void)state;
  for (unsigned round = 0; round < ROUNDS; round++) {
    const unsigned threads = round % 6 + 1;
    pair_buffers buffers = open_buffers(kernels[round % kernel_count], COUNT, threads);
    const size_t piece = round % 3 ? random_below(&random, 900) : COUNT / threads / (round % 2 + 1);
    const size_t from = random_below(&random, COUNT - piece + 1);
    const size_t to = random_below(&random, COUNT - piece + 1);
    for (size_t i = 0; i < COUNT; i++) {
      const bool inside = i >= to && i < to + piece;
      const size_t rest = i < to ? i : i - piece;
      buffers.data[i] = pair(1 + (inside ? from + i - to : rest < from ? rest : rest + piece), i);
    }
    for (unsigned t = 0; t < threads && round % 4; t++) {
      const size_t each = (COUNT + threads - 1) / threads;
      const size_t at = t * each + random_below(&random, 2) * (each - 1);
      if (at < COUNT) buffers.data[at] = pair(random_below(&random, 2) * (COUNT + 1), at);
    }
    handled += check_presorted(buffers);
    close_buffers(buffers);
  }
  assert_true(handled > ROUNDS / 2);
}

/* ---- Depth ---- */

/* Key i below `words` is 0 except for word words - 1 - i, and all other keys are 0. Each window
 * separates one record and leaves the others tied, so that repairs nest `words` deep. */
typedef struct staggered {
  size_t count;
  size_t words;
  unsigned threads;
  size_t failures;
  bool done;
} staggered;

static size_t expected_at(const staggered *s, size_t i)
{
  return i < s->count - s->words ? s->words + i : s->count - 1 - i;
}

static void *sort_staggered(void *argument)
{
  staggered *const s = argument;
  const uint32_t bits = (uint32_t)(64 * s->words);
  const recsort_plugin_job job = {.size = sizeof job,
                                  .count = s->count,
                                  .key_bits = bits,
                                  .key_width = bits,
                                  .index_bits = 32,
                                  .threads = s->threads};
  recsort_plugin_work work = {.size = sizeof work};
  if (!rs_merge_work_size(&job, &work)) return NULL;
  char *memory = calloc(1, (size_t)work.bytes);
  if (!memory) return NULL;
  uint64_t *keys = (uint64_t *)(void *)(memory + work.keys_offset);
  for (size_t i = 0; i < s->words; i++)
    keys[i * s->words + s->words - 1 - i] = 1;
  rs_merge_sort(&job, memory, rs_team(NULL, s->threads));
  for (size_t i = 0; i < s->count; i++)
    s->failures += ((uint32_t *)(void *)memory)[i] != expected_at(s, i);
  s->done = true;
  free(memory);
  return NULL;
}

/* Sorts on a stack that is too small for a nested call at each depth. */
static void sort_on_a_small_stack(staggered s)
{
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
  const size_t wanted = 96 << 10;
#else
  const size_t wanted = 384 << 10;
#endif
  const size_t least = (size_t)sysconf(_SC_THREAD_STACK_MIN);
  const size_t stack_size = wanted > least ? wanted : least;
  pthread_attr_t attributes;
  pthread_t thread;
  assert_int_equal(pthread_attr_init(&attributes), 0);
  assert_int_equal(pthread_attr_setstacksize(&attributes, stack_size), 0);
  assert_int_equal(pthread_create(&thread, &attributes, sort_staggered, &s), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(pthread_attr_destroy(&attributes), 0);
  assert_true(s.done);
  assert_int_equal(s.failures, 0);
}

static void test_deep_ties_take_little_stack(void **state)
{
  (void)state;
  sort_on_a_small_stack((staggered){.count = 2500, .words = 2500, .threads = 1});
  sort_on_a_small_stack((staggered){.count = 3 << 16, .words = 200, .threads = 3});
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_co_rank_takes_from_the_left_first),
      cmocka_unit_test(test_rank_first_counts_what_is_less),
      cmocka_unit_test(test_merge_of_all_lengths),
      cmocka_unit_test(test_blocks_of_all_lengths),
      cmocka_unit_test(test_multiway_passes),
      cmocka_unit_test(test_presorted),
      cmocka_unit_test(test_reversed_ties),
      cmocka_unit_test(test_overlapping_stretches),
      cmocka_unit_test(test_deep_ties_take_little_stack),
  };
  kernels[kernel_count++] = &rs_scalar_kernels;
  if (rs_best_kernels() != &rs_scalar_kernels) kernels[kernel_count++] = rs_best_kernels();
  return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
