/* Permutations: wrong ones are caught with every number of threads, and elements of every size go
 * where they belong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "permute/permute.h"
#include "support/random.h"

enum { LARGE = 300000 }; /* enough for several threads */

static const unsigned thread_counts[] = {1, 2, 3, 5, 16};
static const size_t counts[] = {1, 2, 3, 64, 1000, 65536, 65537, LARGE};

#define EACH(i, list) (size_t i = 0; i < sizeof(list) / sizeof *(list); i++)

static uint32_t narrow[LARGE + 32];
static uint64_t wide[LARGE + 32];
static unsigned char seen[LARGE + 1];

/* Makes a random permutation of `count` indices, in both widths. */
static void shuffle(size_t count, uint64_t *random)
{
  for (size_t i = 0; i < count; i++)
    wide[i] = i;
  for (size_t i = count; i > 1; i--) {
    const size_t j = (size_t)random_below(random, i);
    const uint64_t swap = wide[i - 1];
    wide[i - 1] = wide[j];
    wide[j] = swap;
  }
  for (size_t i = 0; i < count; i++)
    narrow[i] = (uint32_t)wide[i];
}

static void set(size_t at, uint64_t value)
{
  wide[at] = value;
  narrow[at] = (uint32_t)value;
}

static recsort_status verify(size_t count, unsigned bits, unsigned threads, recsort_error *error)
{
  const rs_order order = {bits == 32 ? (const void *)narrow : wide, bits, count};
  memset(seen, 0xee, count + 1);
  const recsort_status status = rs_order_verify(&order, seen, rs_team(NULL, threads), error);
  assert_int_equal(seen[count], 0xee); /* nothing is written beyond it */
  return status;
}

static void expect_everywhere(size_t count, recsort_status expected)
{
  for
    EACH(t, thread_counts)
  for (unsigned bits = 32; bits <= 64; bits += 32) {
    recsort_error error = {0};
    assert_int_equal(verify(count, bits, thread_counts[t], &error), expected);
    assert_int_equal(error.status, expected);
  }
}

static void test_permutations_are_accepted(void **state)
{
  uint64_t random = 1;
  (void)state;
  for
    EACH(c, counts)
    {
      shuffle(counts[c], &random);
      expect_everywhere(counts[c], RECSORT_OK);
    }
}

static void test_a_duplicate_is_caught(void **state)
{
  uint64_t random = 2;
  (void)state;
  for
    EACH(c, counts)
    {
      const size_t count = counts[c];
      if (count < 2) continue;
      for (unsigned round = 0; round < 8; round++) {
        const size_t at = round == 0   ? 0
                          : round == 1 ? count - 1
                                       : (size_t)random_below(&random, count);
        shuffle(count, &random);
        set(at, wide[at ? at - 1 : 1]);
        expect_everywhere(count, RECSORT_CORRUPT_RESULT);
      }
    }
}

static void test_what_is_out_of_range_is_caught(void **state)
{
  uint64_t random = 3;
  (void)state;
  for
    EACH(c, counts)
    {
      const size_t count = counts[c];
      const uint64_t wrong[] = {count, count + 1, UINT32_MAX};
    for
      EACH(w, wrong)
      {
        shuffle(count, &random);
        set((size_t)random_below(&random, count), wrong[w]);
        expect_everywhere(count, RECSORT_CORRUPT_RESULT);
      }
    }
  shuffle(1000, &random);
  wide[17] |= UINT64_C(1) << 40; /* right in its low 32 bits */
  assert_int_equal(verify(1000, 64, 1, NULL), RECSORT_CORRUPT_RESULT);
}

static void test_identity(void **state)
{
  const rs_order order = {narrow, 32, 1000}, wider = {wide, 64, 1000};
  (void)state;
  for (size_t i = 0; i < 1000; i++)
    set(i, i);
  assert_true(rs_order_is_identity(&order));
  assert_true(rs_order_is_identity(&wider));
  set(998, 999);
  set(999, 998);
  assert_false(rs_order_is_identity(&order));
  assert_false(rs_order_is_identity(&wider));
}

/* ---- Gather ---- */

static const size_t sizes[] = {1,  2,  3,  4,  7,  8,  12, 16,  20,  24,
                               32, 33, 40, 48, 64, 65, 99, 100, 200, 1000};

/* Byte `b` of element `i` of the source. */
static unsigned char byte_of(size_t i, size_t b)
{
  return (unsigned char)mix(i * 1009 + b);
}

static void check_gather(size_t total, size_t first, size_t count, size_t size, unsigned bits,
                         unsigned threads)
{
  const rs_order order = {bits == 32 ? (const void *)narrow : wide, bits, total};
  unsigned char *from = malloc(total * size), *to = malloc(count * size + 1);
  assert_non_null(from);
  assert_non_null(to);
  for (size_t i = 0; i < total; i++)
    for (size_t b = 0; b < size; b++)
      from[i * size + b] = byte_of(i, b);
  to[count * size] = 0xee;
  rs_gather(&order, first, count, from, size, to, rs_team(NULL, threads));
  for (size_t i = 0; i < count; i++)
    for (size_t b = 0; b < size; b++)
      if (to[i * size + b] != byte_of((size_t)wide[first + i], b))
        fail_msg("size %zu, %u bits, %u threads: element %zu", size, bits, threads, i);
  assert_int_equal(to[count * size], 0xee);
  free(from);
  free(to);
}

static void test_gather(void **state)
{
  enum { TOTAL = 5000 };
  uint64_t random = 4;
  (void)state;
  shuffle(TOTAL, &random);
  for
    EACH(s, sizes)
    for
      EACH(t, thread_counts)
      {
        const unsigned bits = (s + t) % 2 ? 32 : 64;
        check_gather(TOTAL, 0, TOTAL, sizes[s], bits, thread_counts[t]);
        check_gather(TOTAL, 1234, 77, sizes[s], bits, thread_counts[t]);
        check_gather(TOTAL, TOTAL - 5, 5, sizes[s], bits, 0);
      }
}

static void test_gather_of_nothing(void **state)
{
  const rs_order order = {NULL, 32, 0};
  (void)state;
  rs_gather(&order, 0, 0, NULL, 8, NULL, rs_team(NULL, 2));
}

static void test_copy(void **state)
{
  static unsigned char from[LARGE], to[LARGE + 1];
  (void)state;
  for (size_t i = 0; i < LARGE; i++)
    from[i] = byte_of(i, 0);
  rs_copy(NULL, NULL, 0, rs_team(NULL, 2));
  for
    EACH(t, thread_counts)
    for
      EACH(c, counts)
      {
        memset(to, 0xee, sizeof to);
        rs_copy(to, from, counts[c], rs_team(NULL, thread_counts[t]));
        assert_memory_equal(to, from, counts[c]);
        assert_int_equal(to[counts[c]], 0xee);
      }
}

/* Non-temporal copies from and to every alignment; surrounding bytes are unchanged. */
static void test_copy_of_much(void **state)
{
  enum { MUCH = 9 << 20, AROUND = 128 };
  unsigned char *const from = malloc(MUCH + AROUND), *const to = malloc(MUCH + 2 * AROUND);
  uint64_t random = 8;
  (void)state;
  assert_non_null(from);
  assert_non_null(to);
  for (size_t i = 0; i < MUCH + AROUND; i++)
    from[i] = (unsigned char)(next_random(&random) | 1);
  for (size_t round = 0; round < 12; round++) {
    const size_t skip = random_below(&random, AROUND), ahead = random_below(&random, AROUND);
    const size_t size = MUCH - random_below(&random, 200);
    memset(to, 0, MUCH + 2 * AROUND);
    rs_copy(to + ahead, from + skip, size, rs_team(NULL, thread_counts[round % 5]));
    assert_memory_equal(to + ahead, from + skip, size);
    assert_true((ahead == 0 || to[ahead - 1] == 0) && to[ahead + size] == 0);
  }
  free(from);
  free(to);
}

static void test_permutation_copy_changes_the_width(void **state)
{
  static uint64_t to64[LARGE];
  static uint32_t to32[LARGE];
  uint64_t random = 5;
  (void)state;
  shuffle(LARGE, &random);
  const rs_order from32 = {narrow, 32, LARGE}, from64 = {wide, 64, LARGE};
  rs_order_copy(&from32, to64, 64, rs_team(NULL, 3));
  assert_memory_equal(to64, wide, sizeof to64);
  rs_order_copy(&from64, to32, 32, rs_team(NULL, 3));
  assert_memory_equal(to32, narrow, sizeof to32);
  memset(to64, 0, sizeof to64);
  memset(to32, 0, sizeof to32);
  rs_order_copy(&from64, to64, 64, rs_team(NULL, 3));
  assert_memory_equal(to64, wide, sizeof to64);
  rs_order_copy(&from32, to32, 32, rs_team(NULL, 3));
  assert_memory_equal(to32, narrow, sizeof to32);
  rs_order_copy(&from32, narrow, 32, rs_team(NULL, 3)); /* in place */
  assert_memory_equal(to32, narrow, sizeof to32);
  assert_true(rs_order_at(&from32, 17) == wide[17]);
  assert_true(rs_order_at(&from64, LARGE - 1) == wide[LARGE - 1]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_permutations_are_accepted),
      cmocka_unit_test(test_a_duplicate_is_caught),
      cmocka_unit_test(test_what_is_out_of_range_is_caught),
      cmocka_unit_test(test_identity),
      cmocka_unit_test(test_gather),
      cmocka_unit_test(test_gather_of_nothing),
      cmocka_unit_test(test_copy),
      cmocka_unit_test(test_copy_of_much),
      cmocka_unit_test(test_permutation_copy_changes_the_width),
  };
  return cmocka_run_group_tests_name("permute", tests, NULL, NULL);
}
