/* Tests the kernels for pairs: with indices of 64 bits too, which only more than 2^32 pairs have,
 * that their check notices errors, and sorts of few pairs of all sizes, with the count on the
 * device. tests/cuda/test_pairs.c has whole sorts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/sort/sample/sample.h"
#include "emulator.h"
#include "gpu/device_pairs.h"
#include "recsort/job.h"
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
                                      index_bits, &differ, {&disorder, NULL, 0}};
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

/* ---- Few pairs ---- */

enum { FEW = 16 << 10, FEW_WIDE = 8 << 10 };

typedef struct few {
  uint64_t count, sorted;
  unsigned char *keys, *keys_out, *values, *values_out, *memory;
  device_pairs job;
} few;

/* The code of a key by its value: the key, from less to greater, of all floats of a kind. */
static wide few_code(const device_pairs *job, wide key)
{
  const wide half = (wide)1 << (job->key_width - 1), most = half - 1 + half;
  const wide size = key & (half - 1),
             infinity = job->key_width == 32 ? 0x7f800000 : (wide)0x7ff00000 << 32;
  const bool negative = key >= half, total = job->flags & RECSORT_KEY_NAN_TOTAL;
  wide code = key;
  if (job->kind == RECSORT_KEY_SIGNED) code = negative ? key - half : key + half;
  if (job->kind == RECSORT_KEY_FLOAT) {
    code = negative ? half - 1 - size : half + size;
    if (!total && size == 0) code = half;
  }
  if (job->flags & RECSORT_KEY_DESCENDING) code = most - code;
  if (job->kind == RECSORT_KEY_FLOAT && !total && size > infinity)
    code = job->flags & RECSORT_KEY_NAN_FIRST ? 0 : most;
  return low_bits(code >> job->first_bit, job->bits);
}

static void *few_array(uint64_t bytes)
{
  unsigned char *const made = aligned_alloc(DEVICE_ALIGNMENT, device_aligned(bytes + GUARD));
  assert_non_null(made);
  memset(made, POISON, device_aligned(bytes + GUARD));
  return made;
}

/* Few values, both zeros and NaNs among them. */
static void few_fill(few *f, uint64_t *random)
{
  const uint32_t width = f->job.key_width;
  for (uint64_t i = 0; i < f->count * (width / 8); i++)
    f->keys[i] = (unsigned char)(random_below(random, 30) == 0);
  for (uint64_t i = 0; i < f->count; i++) {
    unsigned char *const key = f->keys + i * (width / 8), *const top = key + width / 8 - 1;
    const uint64_t kind = random_below(random, 8);
    if (kind == 0) memset(key, 0, width / 8);
    if (kind < 3) *top = 0x80;
    if (kind == 3) memset(top - 1, 0xff, 2), *top = random_below(random, 2) ? 0x7f : 0xff;
    if (kind == 4) memset(key, 0xff, width / 8);
  }
  for (uint64_t i = 0; i < f->count * (f->job.value_width / 8); i++)
    f->values[i] = (unsigned char)next_random(random);
}

typedef struct few_place {
  wide code;
  uint64_t from;
} few_place;

static int compare_few(const void *x, const void *y)
{
  const few_place *const one = x, *const other = y;
  if (one->code != other->code) return one->code < other->code ? -1 : 1;
  return (one->from > other->from) - (one->from < other->from);
}

static void check_few(few *f, bool keys_stay, bool values_stay, uint64_t *random)
{
  const uint32_t key = f->job.key_width / 8, value = f->job.value_width / 8;
  few_place *const places = malloc((f->count + 1) * sizeof *places);
  uint64_t tally = next_random(random);
  uint32_t status = RECSORT_CORRUPT_RESULT;
  unsigned char *const keys = few_array(f->count * key), *const values =
                                                             few_array(f->count * value);
  assert_non_null(places);
  few_fill(f, random);
  memcpy(keys, f->keys, f->count * key);
  memcpy(values, f->values, f->count * value);
  for (uint64_t i = 0; i < f->count; i++)
    places[i] = (few_place){few_code(&f->job, load(keys, f->job.key_width, i)), i};
  qsort(places, f->sorted, sizeof *places, compare_few);
  f->job.keys_in = f->keys;
  f->job.keys_out = keys_stay ? f->keys : f->keys_out;
  if (value && f->job.values_in) f->job.values_in = f->values;
  f->job.values_out = value ? values_stay ? f->values : f->values_out : NULL;
  const device_job sort = {.count = f->count,
                           .key_bits = f->job.bits,
                           .key_width = f->job.key_width,
                           .index_bits = 32,
                           .shared_bytes = 48 << 10,
                           .multiprocessors = 3,
                           .tally = random_below(random, 2) ? &tally : NULL};
  uint64_t *const hashes = sort.tally ? few_array(f->count * sizeof *hashes) : NULL;
  assert_int_equal(
      device_pairs_sort_few(&f->job, &sort, f->memory, hashes, hashes ? &status : NULL), 0);
  if (hashes) {
    assert_int_equal(status, RECSORT_OK);
    expect_guard((const unsigned char *)(hashes + f->count));
    free(hashes);
  }
  for (uint64_t i = 0; i < f->count; i++) {
    const unsigned char *const at = f->job.keys_out;
    assert_memory_equal(at + i * key, keys + places[i].from * key, key);
    if (value)
      assert_true(
          load(f->job.values_out, f->job.value_width, i) ==
          (f->job.values_in ? load(values, f->job.value_width, places[i].from) : places[i].from));
  }
  expect_guard(f->keys + f->count * key);
  expect_guard(f->keys_out + f->count * key);
  expect_guard(f->values + f->count * value);
  expect_guard(f->values_out + f->count * value);
  expect_guard(f->memory + device_bytes(&sort, sample_extra_bytes(&sort)));
  free(places);
  free(keys);
  free(values);
}

/* Sizes around each limit: of a warp, a block, one run, several, the most. */
static void sorts_few(void **state)
{
  static const uint64_t sizes[] = {1,    2,    15,   16,   17,   33,   511,  512,      513,
                                   1024, 1025, 2047, 2048, 2049, 2560, 2561, FEW_WIDE, FEW};
  static const uint32_t kinds[] = {RECSORT_KEY_UNSIGNED, RECSORT_KEY_SIGNED, RECSORT_KEY_FLOAT};
  uint64_t random = 3, device_count;
  (void)state;
  for (unsigned n = 0; n < sizeof sizes / sizeof *sizes; n++)
    for (unsigned round = 0; round < (sizes[n] > 3000 ? 2 : 36); round++) {
      const uint32_t width = 32u << round % 3, values[] = {0, 32, 64};
      if (width == 128 && sizes[n] > FEW_WIDE) continue;
      few f = {.count = sizes[n]};
      f.job = (device_pairs){.count = f.count,
                             .kind = kinds[random_below(&random, width == 128 ? 2 : 3)],
                             .key_width = width,
                             .bits = width,
                             .value_width = values[round / 3 % 3],
                             .values_in = round / 9 % 2 ? &random : NULL};
      if (random_below(&random, 2)) f.job.flags |= RECSORT_KEY_DESCENDING;
      if (f.job.kind == RECSORT_KEY_FLOAT)
        f.job.flags |=
            (uint32_t[]){0, RECSORT_KEY_NAN_FIRST, RECSORT_KEY_NAN_TOTAL}[random_below(&random, 3)];
      if (round % 5 == 0) f.job.bits -= 1 + (uint32_t)random_below(&random, 20);
      f.job.first_bit = (uint32_t)random_below(&random, width - f.job.bits + 1);
      device_count = f.sorted = round % 4 == 3 ? random_below(&random, f.count + 1) : f.count;
      if (round % 4 == 3) f.job.device_count = &device_count;
      const device_job sort = {
          .count = f.count, .key_width = width, .index_bits = 32, .shared_bytes = 48 << 10};
      f.keys = few_array(f.count * (width / 8));
      f.keys_out = few_array(f.count * (width / 8));
      f.values = few_array(f.count * (f.job.value_width / 8));
      f.values_out = few_array(f.count * (f.job.value_width / 8));
      f.memory = few_array(device_bytes(&sort, sample_extra_bytes(&sort)));
      emulator_set_order((emulator_order)((n + round) % EMULATOR_ORDERS), n + 1);
      check_few(&f, round / 2 % 2, f.job.values_in && round / 4 % 2, &random);
      free(f.keys);
      free(f.keys_out);
      free(f.values);
      free(f.values_out);
      free(f.memory);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(encodes_and_finishes),
                                     cmocka_unit_test(sorts_few)};
  return cmocka_run_group_tests_name("device_pairs", tests, NULL, NULL);
}
