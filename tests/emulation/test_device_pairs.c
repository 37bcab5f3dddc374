/* Tests the kernels for pairs: with indices of 64 bits too, which only more than 2^32 pairs have,
 * and that their check notices errors. tests/cuda/test_pairs.c has whole sorts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "emulator.h"
#include "gpu/device_pairs.h"
#include "support/random.h"

enum { POISON = 0xee, GUARD = 64, MOST = 3000, WIDEST = 16 };

static const uint64_t counts[] = {1, 2, 255, 256, 257, 1023, 1024, 1025, MOST};
enum { COUNTS = sizeof counts / sizeof *counts };

__extension__ typedef unsigned __int128 wide;

typedef struct arrays {
  _Alignas(WIDEST) unsigned char keys[MOST * WIDEST], values[MOST * 8],
      codes[MOST * WIDEST + GUARD], sorted[MOST * WIDEST], order[MOST * 8],
      keys_out[MOST * WIDEST + GUARD], values_out[MOST * 8 + GUARD];
  uint64_t places[MOST];
} arrays;

static arrays a;

/* An unsigned integer of `width` bits. */
static wide load(const unsigned char *from, uint32_t width, uint64_t i)
{
  uint32_t narrow;
  uint64_t middle;
  wide all;
  from += i * (width / 8);
  if (width == 32) return memcpy(&narrow, from, sizeof narrow), narrow;
  if (width == 64) return memcpy(&middle, from, sizeof middle), middle;
  return memcpy(&all, from, sizeof all), all;
}

static wide low_bits(wide x, uint32_t bits)
{
  return bits == 128 ? x : x % ((wide)1 << bits);
}

static uint32_t code_width;

static int compare_places(const void *x, const void *y)
{
  const uint64_t p = *(const uint64_t *)x, q = *(const uint64_t *)y;
  const wide c = load(a.codes, code_width, p), d = load(a.codes, code_width, q);
  if (c != d) return c < d ? -1 : 1;
  return p < q ? -1 : p > q;
}

/* Sorts the codes as a sort of the device would. */
static void sort_codes(uint64_t count, uint32_t index_bits)
{
  for (uint64_t i = 0; i < count; i++)
    a.places[i] = i;
  qsort(a.places, count, sizeof *a.places, compare_places);
  for (uint64_t i = 0; i < count; i++) {
    const uint32_t narrow = (uint32_t)a.places[i];
    memcpy(a.sorted + i * (code_width / 8), a.codes + a.places[i] * (code_width / 8),
           code_width / 8);
    memcpy(a.order + i * (index_bits / 8), index_bits == 32 ? (const void *)&narrow : &a.places[i],
           index_bits / 8);
  }
}

static void expect_guard(const unsigned char *at)
{
  for (size_t i = 0; i < GUARD; i++)
    assert_int_equal(at[i], POISON);
}

/* Swaps two neighbours. */
static void swap(unsigned char *at, uint32_t width, uint64_t i)
{
  const size_t size = width / 8;
  unsigned char kept[WIDEST];
  memcpy(kept, at + i * size, size);
  memcpy(at + i * size, at + (i + 1) * size, size);
  memcpy(at + (i + 1) * size, kept, size);
}

static uint32_t differ;

static uint32_t finish(const device_pairs *job, uint32_t index_bits)
{
  uint32_t disorder = 0;
  const device_pairs_sorted sorted = {a.sorted,   a.order, code_width,
                                      index_bits, &differ, &disorder};
  assert_int_equal(device_pairs_finish(job, &sorted), 0);
  return disorder;
}

static void check_finish(const device_pairs *job, uint32_t index_bits, uint64_t *random)
{
  const uint32_t key = job->key_width, value = job->value_width;
  memset(&a.keys_out, POISON, sizeof a.keys_out);
  memset(&a.values_out, POISON, sizeof a.values_out);
  assert_int_equal(finish(job, index_bits), 0);
  for (uint64_t i = 0; i < job->count; i++) {
    assert_memory_equal(a.keys_out + i * (key / 8), a.keys + a.places[i] * (key / 8), key / 8);
    if (value)
      assert_true(load(a.values_out, value, i) ==
                  (job->values_in ? load(a.values, value, a.places[i]) : a.places[i]));
  }
  expect_guard(a.keys_out + job->count * (key / 8));
  expect_guard(a.values_out + job->count * (value / 8));
  if (job->count < 2) return;
  const uint64_t at = random_below(random, job->count - 1);
  const bool equal = load(a.sorted, code_width, at) == load(a.sorted, code_width, at + 1);
  if (equal)
    swap(a.order, index_bits, at);
  else
    swap(a.sorted, code_width, at);
  assert_int_equal(finish(job, index_bits), 1);
}

/* Whether keys differ in bits that are not compared. */
static uint32_t others_differ(const device_pairs *job)
{
  const wide mask = low_bits(~(wide)0, job->bits) << job->first_bit;
  for (uint64_t i = 1; i < job->count; i++)
    if ((load(a.keys, job->key_width, i) & ~mask) != (load(a.keys, job->key_width, 0) & ~mask))
      return 1;
  return 0;
}

/* Keys of which there are a few, in all orders of threads and blocks. */
static void encodes_and_finishes(void **state)
{
  static const uint32_t widths[] = {32, 64, 128};
  uint64_t random = 1;
  (void)state;
  for (unsigned k = 0; k < 3; k++)
    for (unsigned c = 0; c <= k; c++)
      for (unsigned n = 0; n < COUNTS; n++)
        for (uint32_t index_bits = 32; index_bits <= 64; index_bits += 32) {
          const uint32_t values[] = {0, 32, 64};
          device_pairs job = {.count = counts[n],
                              .kind = RECSORT_KEY_UNSIGNED,
                              .key_width = widths[k],
                              .bits = widths[c] - (n % 3 ? 0 : 7),
                              .value_width = values[random_below(&random, 3)],
                              .keys_in = a.keys,
                              .keys_out = a.keys_out,
                              .values_in = n % 2 ? a.values : NULL,
                              .values_out = a.values_out};
          if (!job.value_width) job.values_in = job.values_out = NULL;
          job.first_bit = (uint32_t)random_below(&random, widths[k] - job.bits + 1);
          code_width = widths[c];
          for (size_t i = 0; i < sizeof a.keys; i++)
            a.keys[i] = (unsigned char)(random_below(&random, 40) == 0); /* ties */
          for (size_t i = 0; i < sizeof a.values; i++)
            a.values[i] = (unsigned char)next_random(&random);
          memset(a.codes, POISON, sizeof a.codes);
          emulator_set_order((emulator_order)(n % EMULATOR_ORDERS), n + 1);
          assert_int_equal(device_pairs_encode(&job, a.codes, code_width, &differ), 0);
          assert_int_equal(differ, others_differ(&job));
          expect_guard(a.codes + job.count * (code_width / 8));
          for (uint64_t i = 0; i < job.count; i++)
            assert_true(load(a.codes, code_width, i) ==
                        low_bits(load(a.keys, widths[k], i) >> job.first_bit, job.bits));
          sort_codes(job.count, index_bits);
          check_finish(&job, index_bits, &random);
        }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(encodes_and_finishes)};
  return cmocka_run_group_tests_name("device_pairs", tests, NULL, NULL);
}
