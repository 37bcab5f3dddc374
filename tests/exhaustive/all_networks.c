/* The networks of few_words.c on all inputs that tell whether they sort.
 *
 * The 0-1 principle: a network of comparators that sorts all inputs of zeros and ones sorts all
 * inputs (Knuth, vol. 3, sect. 5.3.4, theorem Z), as what a network does commutes with every
 * function that never decreases. Three things follow:
 *  - A network that begins with one for each column, which leaves sorted columns as they are, is
 *    known by its results for sorted columns and by what it does to a column.
 *  - A network that merges two sorted halves is known by its results for sorted halves of zeros
 *    and ones: pairs of numbers of zeros.
 *  - Different words stand for all inputs of zeros and ones that thresholds make of them. In the
 *    order "some of b, all of a, the rest of b" these are all pairs in which b has as many zeros,
 *    and others.
 *
 * So what is found here holds for all words. Takes no arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu/few_words.c" /* for its static functions */

#ifdef RS_HAS_AVX

enum { WORDS = ROWS * WIDTH, ZERO_ONE = 20 };

static void expect_sorted(const uint32_t *words, size_t count, size_t zeros, const char *network)
{
  for (size_t i = 0; i < count; i++)
    if (words[i] != (i >= zeros))
      fail_msg("%s, %zu zeros of %zu: place %zu", network, zeros, count, i);
}

/* All inputs of zeros and ones: of few words, which are one row, and of more, which are eight. */
static void test_all_few(void **state)
{
  uint32_t words[ZERO_ONE];
  (void)state;
  for (size_t count = 1; count <= ZERO_ONE; count++)
    for (uint32_t ones = 0; ones < UINT32_C(1) << count; ones++) {
      for (size_t i = 0; i < count; i++)
        words[i] = ones >> i & 1;
      rs_few_words_sort(words, count);
      expect_sorted(words, count, count - (size_t)__builtin_popcount(ones), "few words");
    }
}

AVX2 static void sort_columns(row *rows)
{
  EACH_ROW(LOAD)
  NETWORK_OF_EIGHT(EXCHANGE)
  EACH_ROW(STORE)
}

/* All columns of zeros and ones: column c of input i is number i + c. */
static void test_columns(void **state)
{
  uint32_t words[ROWS][WIDTH];
  row rows[ROWS];
  (void)state;
  for (uint32_t input = 0; input < 1u << ROWS; input++) {
    for (uint32_t i = 0; i < WORDS; i++)
      words[i / WIDTH][i % WIDTH] = (input + i % WIDTH) >> i / WIDTH & 1;
    memcpy(rows, words, sizeof rows);
    sort_columns(rows);
    memcpy(words, rows, sizeof rows);
    for (uint32_t c = 0; c < WIDTH; c++) {
      const uint32_t zeros = ROWS - (uint32_t)__builtin_popcount((input + c) % (1u << ROWS));
      for (uint32_t r = 0; r < ROWS; r++)
        assert_int_equal(words[r][c], r >= zeros);
    }
  }
}

/* All sorted columns of zeros and ones. */
static void test_rows(void **state)
{
  uint32_t zeros[WIDTH] = {0}, words[ROWS][WIDTH], sorted[2 * WORDS] = {0};
  row rows[ROWS];
  size_t all = 0, inputs = 0, column;
  (void)state;
  for (size_t i = WORDS; i < sizeof sorted / sizeof *sorted; i++)
    sorted[i] = 1;
  for (size_t i = 0; i < WORDS; i++)
    words[i / WIDTH][i % WIDTH] = 1;
  do {
    memcpy(rows, words, sizeof rows);
    sort_rows(rows);
    if (memcmp(rows, sorted + WORDS - all, sizeof rows)) fail_msg("rows, input %zu", inputs);
    inputs++;
    for (column = 0; column < WIDTH && zeros[column] == ROWS; column++) {
      for (size_t r = 0; r < ROWS; r++)
        words[r][column] = 1;
      zeros[column] = 0;
      all -= ROWS;
    }
    if (column < WIDTH) {
      words[zeros[column]++][column] = 0;
      all++;
    }
  } while (column < WIDTH);
  assert_int_equal(inputs, 43046721); /* 9^8 */
}

/* Merges rows [0, half) and [half, all) in whose order `first` words of the second half come before
 * the first one. */
static void try_merge(size_t half, size_t all, size_t first)
{
  static row rows[FEW_WORDS / WIDTH];
  static uint32_t words[FEW_WORDS];
  const size_t left = half * WIDTH, count = all * WIDTH;
  for (size_t i = 0; i < count; i++)
    words[i] = (uint32_t)(i < left ? first + i : i - left < first ? i - left : i);
  memcpy(rows, words, all * sizeof *rows);
  merge_rows(rows, half, all);
  memcpy(words, rows, all * sizeof *rows);
  for (size_t i = 0; i < count; i++)
    if (words[i] != i)
      fail_msg("merge of %zu and %zu rows, %zu: place %zu", half, all - half, first, i);
}

static void test_merges(void **state)
{
  (void)state;
  for (size_t half = ROWS; half < FEW_WORDS / WIDTH; half *= 2)
    for (size_t all = half + ROWS; all <= 2 * half; all += ROWS)
      for (size_t first = 0; first <= (all - half) * WIDTH; first++)
        try_merge(half, all, first);
}

/* That each number of words is filled up and merged to the end. */
static void test_counts(void **state)
{
  static uint32_t words[FEW_WORDS];
  (void)state;
  for (size_t count = 1; count <= FEW_WORDS; count++) {
    for (size_t i = 0; i < count; i++)
      words[i] = (uint32_t)(count - 1 - i);
    rs_few_words_sort(words, count);
    for (size_t i = 0; i < count; i++)
      if (words[i] != i) fail_msg("%zu words: place %zu", count, i);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_few), cmocka_unit_test(test_columns),
                                     cmocka_unit_test(test_rows), cmocka_unit_test(test_merges),
                                     cmocka_unit_test(test_counts)};
  if (__builtin_cpu_supports("avx2")) return cmocka_run_group_tests(tests, NULL, NULL);
  puts("This processor has no AVX2, and no networks run.");
  return 77;
}
#else
int main(void)
{
  puts("There are no networks for this processor.");
  return 77;
}
#endif
