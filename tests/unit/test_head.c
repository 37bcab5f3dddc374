/* The first records of the order, which the library finds without sorting the others. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/recsort.h"
#include "support/failing_allocator.h"
#include "support/jobs.h"
#include "support/native.h"
#include "support/open.h"
#include "support/random.h"
#include "support/told.h"

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define NATIVE_WORD "big"
#define OTHER_WORD "little"
#else
#define NATIVE_WORD "little"
#define OTHER_WORD "big"
#endif

/* Keys of 32 bits, 64, 128, and many. */
typedef struct item {
  uint32_t small;
  uint32_t place;
  uint64_t large;
  unsigned char wide[16];
  unsigned char wider[24];
} item;

static const char schema_text[] = "record: Item\n" NATIVE "fields:\n"
                                  "  - {name: small, type: uint32}\n"
                                  "  - {name: place, type: uint32}\n"
                                  "  - {name: large, type: uint64}\n"
                                  "  - {name: wide, type: bytes, count: 16}\n"
                                  "  - {name: wider, type: bytes, count: 24}\n"
                                  "keys: [small]\n";

static const char *const paths[] = {"small", "large", "wide", "wider"};
enum { PATHS = sizeof paths / sizeof *paths };

static recsort_sorter *open_sorter(const char *path, recsort_options options)
{
  const recsort_key_desc key = {.path = path};
  options.struct_size = sizeof options;
  options.record_size = sizeof(item);
  options.keys = &key;
  options.key_count = 1;
  return sorter_of(schema_text, &options);
}

/* ---- Inputs: all keys of a record have the order of one rank ---- */

static uint64_t at_random(size_t i, size_t count)
{
  return mix(i) % (count / 2 + 1);
}

static uint64_t few_values(size_t i, size_t count)
{
  (void)count;
  return mix(i) % 3;
}

static uint64_t all_equal(size_t i, size_t count)
{
  (void)i, (void)count;
  return UINT32_MAX; /* the greatest code: no bound is above it */
}

static uint64_t all_least(size_t i, size_t count)
{
  (void)i, (void)count;
  return 0;
}

static uint64_t ascending(size_t i, size_t count)
{
  (void)count;
  return i / 2;
}

static uint64_t descending(size_t i, size_t count)
{
  return (count - i) / 2;
}

typedef uint64_t rank_of(size_t i, size_t count);
static rank_of *const inputs[] = {at_random, few_values, all_equal,
                                  all_least, ascending,  descending};
enum { INPUTS = sizeof inputs / sizeof *inputs };

static item *make_items(rank_of *rank, size_t count)
{
  item *const items = calloc(count, sizeof *items);
  assert_non_null(items);
  for (size_t i = 0; i < count; i++) {
    const uint64_t value = rank(i, count);
    items[i].place = (uint32_t)i;
    items[i].small = (uint32_t)value;
    items[i].large = value == UINT32_MAX ? UINT64_MAX : value << 30;
    for (size_t b = 0; b < 4; b++) { /* the last bytes decide, behind equal ones */
      const unsigned char byte = (unsigned char)(value >> (24 - 8 * b));
      items[i].wide[12 + b] = byte;
      items[i].wider[(b < 2 ? 0 : 20) + b] = byte;
    }
  }
  return items;
}

/* ---- The oracle: qsort by rank and place ---- */

static int compare_items(const void *a, const void *b)
{
  const item *const x = a, *const y = b;
  if (x->small != y->small) return x->small < y->small ? -1 : 1;
  return x->place < y->place ? -1 : x->place > y->place;
}

static void check_first(recsort_sorter *sorter, const item *items, const item *expected,
                        size_t count, size_t head, bool selected)
{
  const size_t wanted = head < count ? head : count;
  item *const sorted = calloc(wanted + 1, sizeof *sorted);
  uint64_t *const index = calloc(wanted + 1, sizeof *index);
  recsort_job job = {.count = count, .records = items, .head = head};
  permutation order;
  assert_true(sorted && index);
  index[wanted] = 77;
  sorted[wanted].large = 77;
  assert_int_equal(find_by_job(sorter, job, &order, NULL), RECSORT_OK);
  assert_int_equal(order.count, wanted);
  for (size_t i = 0; i < wanted; i++)
    assert_int_equal(permutation_at(&order, i), expected[i].place);
  job.sorted = sorted;
  assert_int_equal(run_job(sorter, job, NULL), RECSORT_OK);
  assert_memory_equal(sorted, expected, wanted * sizeof *sorted);
  assert_int_equal(strcmp(stats_of(sorter).algorithm, "selection") == 0, selected);
  assert_int_equal(stats_of(sorter).records, count);
  job.sorted = NULL;
  job.permutation = index;
  job.index_bits = 64;
  assert_int_equal(run_job(sorter, job, NULL), RECSORT_OK);
  for (size_t i = 0; i < wanted; i++)
    assert_int_equal(index[i], expected[i].place);
  assert_true(sorted[wanted].large == 77 && index[wanted] == 77);
  free(sorted);
  free(index);
}

/* So many that several threads take part. */
static void test_the_first_ones_are_those_of_the_whole_order(void **state)
{
  enum { COUNT = 3 * (1 << 16) + 77 };
  static const size_t heads[] = {1, 100, 5000, COUNT / 16, COUNT / 16 + 1, COUNT, COUNT + 1};
  (void)state;
  for (size_t in = 0; in < INPUTS; in++) {
    item *const items = make_items(inputs[in], COUNT), *const expected =
                                                           make_items(inputs[in], COUNT);
    qsort(expected, COUNT, sizeof *expected, compare_items);
    for (size_t p = 0; p < PATHS; p++) {
      recsort_sorter *const sorter = open_sorter(paths[p], (recsort_options){.threads = 3});
      for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        if (p == 0 || h % PATHS == p)
          check_first(sorter, items, expected, COUNT, heads[h], heads[h] <= COUNT / 16);
      recsort_sorter_destroy(sorter);
    }
    free(items);
    free(expected);
  }
}

/* Integers that are their own keys; and those that are not: signed, turned, descending, unaligned.
 */
static void test_plain_integers(void **state)
{
  enum { COUNT = 5000, HEAD = 100 };
  static const char *const fields[] = {
      "type: uint64, endian: " NATIVE_WORD, "type: uint64, endian: " OTHER_WORD,
      "type: int64, endian: " NATIVE_WORD, "type: uint32, count: 2, endian: " NATIVE_WORD};
  static uint64_t values[COUNT + 1];
  (void)state;
  for (size_t i = 0; i < COUNT; i++)
    values[i] = mix(i) << 32 | mix(i + 7) % 5;
  for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
    for (unsigned way = 0; way < 4; way++) {
      char text[200];
      const recsort_options options = {.struct_size = sizeof options, .reverse = way & 1};
      unsigned char *const records = (unsigned char *)values + (way & 2 ? 1 : 0);
      uint32_t all[COUNT], first[HEAD];
      (void)snprintf(text, sizeof text,
                     "record: R\nfields: [{name: k, %s}]\nkeys: "
                     "[%s]\n",
                     fields[f], f == 3 ? "'k[0]'" : "k");
      recsort_sorter *const sorter = sorter_of(text, &options);
      assert_int_equal(recsort_argsort(sorter, records, COUNT, all, 32, NULL), RECSORT_OK);
      const recsort_job job = {
          .count = COUNT, .records = records, .permutation = first, .head = HEAD};
      assert_int_equal(run_job(sorter, job, NULL), RECSORT_OK);
      assert_memory_equal(first, all, sizeof first);
      recsort_sorter_destroy(sorter);
    }
}

static void run_backwards(void *context, void (*task)(void *argument, size_t number),
                          void *argument, size_t count)
{
  size_t *const most = context;
  if (count > *most) *most = count;
  while (count > 0)
    task(argument, --count);
}

/* A thread may take later pieces before earlier ones. */
static void test_the_order_of_tasks_does_not_matter(void **state)
{
  enum { COUNT = 4 << 16 };
  size_t most = 0;
  const recsort_executor executor = {sizeof executor, &most, run_backwards, 4};
  recsort_sorter *const sorter = open_sorter("large", (recsort_options){.executor = &executor});
  (void)state;
  for (size_t in = 0; in < INPUTS; in++) {
    item *const items = make_items(inputs[in], COUNT), *const expected =
                                                           make_items(inputs[in], COUNT);
    qsort(expected, COUNT, sizeof *expected, compare_items);
    check_first(sorter, items, expected, COUNT, 1000, true);
    free(items);
    free(expected);
  }
  assert_int_equal(most, 4);
  recsort_sorter_destroy(sorter);
}

/* ---- What the other calls do ---- */

/* Other arrays move, and runs of equal keys are shortened, as by any permutation. */
static void test_the_permutation_is_like_any_other(void **state)
{
  enum { COUNT = 1000, HEAD = 60 };
  item *const items = make_items(few_values, COUNT), *const expected =
                                                         make_items(few_values, COUNT);
  recsort_sorter *const sorter = open_sorter("small", (recsort_options){0});
  permutation order;
  uint32_t places[COUNT], moved[HEAD];
  (void)state;
  for (uint32_t i = 0; i < COUNT; i++)
    places[i] = i;
  qsort(expected, COUNT, sizeof *expected, compare_items);
  const recsort_array array = {places, moved, sizeof *places};
  recsort_job job = {.count = COUNT, .records = items, .head = HEAD};
  job.arrays = &array;
  job.array_count = 1;
  assert_int_equal(run_job(sorter, job, NULL), RECSORT_OK);
  for (size_t i = 0; i < HEAD; i++)
    assert_int_equal(moved[i], expected[i].place);
  job.array_count = 0;
  assert_int_equal(find_by_job(sorter, job, &order, NULL), RECSORT_OK);
  assert_int_equal(make_unique(sorter, &order, NULL), RECSORT_OK);
  assert_int_equal(order.count, 1);
  assert_int_equal(permutation_at(&order, 0), expected[0].place);
  recsort_sorter_destroy(sorter);
  free(items);
  free(expected);
}

static void test_full_verification_sorts_all(void **state)
{
  enum { COUNT = 4000 };
  item *const items = make_items(at_random, COUNT), *const expected = make_items(at_random, COUNT);
  recsort_sorter *const sorter =
      open_sorter("wide", (recsort_options){.verify = RECSORT_VERIFY_FULL});
  (void)state;
  qsort(expected, COUNT, sizeof *expected, compare_items);
  check_first(sorter, items, expected, COUNT, 10, false);
  recsort_sorter_destroy(sorter);
  free(items);
  free(expected);
}

/* ---- Memory, and records that are refused ---- */

static void test_memory_depends_on_the_head(void **state)
{
  enum { COUNT = 1 << 18 };
  item *const items = make_items(at_random, COUNT);
  recsort_sorter *const sorter = open_sorter("large", (recsort_options){.threads = 2});
  recsort_job job = {.count = COUNT, .records = items, .head = 100};
  size_t few = 0, many = 0, all = 0;
  (void)state;
  assert_int_equal(plan_bytes(sorter, job, &few, NULL), RECSORT_OK);
  job.count = (size_t)COUNT << 20;
  assert_int_equal(plan_bytes(sorter, job, &many, NULL), RECSORT_OK);
  assert_int_equal(few, many);
  job.count = COUNT;
  assert_int_equal(run_job(sorter, job, NULL), RECSORT_OK);
  assert_int_equal(stats_of(sorter).memory, few);
  job.head = 0;
  assert_int_equal(plan_bytes(sorter, job, &all, NULL), RECSORT_OK);
  assert_true(few < all / 20);
  job.count = SIZE_MAX;
  job.head = SIZE_MAX / 64;
  assert_int_equal(plan_bytes(sorter, job, &many, NULL), RECSORT_OUT_OF_MEMORY);
  recsort_sorter_destroy(sorter);
  free(items);
}

static void test_a_failed_allocation_changes_nothing(void **state)
{
  enum { COUNT = 1000 };
  failing_allocator failing = {0};
  const recsort_allocator memory = failing_hook(&failing);
  item *const items = make_items(at_random, COUNT);
  recsort_sorter *const sorter = open_sorter("small", (recsort_options){.allocator = &memory});
  item sorted[5] = {{.small = 7}};
  const recsort_job job = {.count = COUNT, .records = items, .sorted = sorted, .head = 5};
  (void)state;
  failing.fail_at = failing.calls + 1;
  assert_int_equal(run_job(sorter, job, NULL), RECSORT_OUT_OF_MEMORY);
  assert_int_equal(sorted[0].small, 7);
  assert_int_equal(run_job(sorter, job, NULL), RECSORT_OK);
  recsort_sorter_destroy(sorter);
  assert_true(failing.blocks == 0 && failing.wrong == 0);
  free(items);
}

/* Whichever thread meets one first. */
static void test_the_first_invalid_record_is_named(void **state)
{
  enum { COUNT = 4 << 16 };
  static const char text[] = "record: R\nfields: [{name: kind, type: enum, base: uint8, "
                             "values: [tree, bush]}]\nkeys: [kind]\n";
  size_t most = 0;
  const recsort_executor executor = {sizeof executor, &most, run_backwards, 4};
  const recsort_options options = {.struct_size = sizeof options, .executor = &executor};
  unsigned char *const records = calloc(COUNT, 1);
  const recsort_job job = {.count = COUNT, .records = records, .head = 3};
  recsort_error error = {0};
  (void)state;
  recsort_sorter *const sorter = sorter_of(text, &options);
  records[70001] = 7;
  records[200000] = 9;
  records[COUNT - 1] = 8;
  assert_int_equal(run_job(sorter, job, &error), RECSORT_INVALID_RECORD);
  assert_non_null(strstr(error.text, "record 70001: "));
  records[70001] = records[200000] = 0;
  assert_int_equal(run_job(sorter, job, &error), RECSORT_INVALID_RECORD);
  assert_non_null(strstr(error.text, "record 262143: "));
  recsort_sorter_destroy(sorter);
  free(records);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_first_ones_are_those_of_the_whole_order),
      cmocka_unit_test(test_plain_integers),
      cmocka_unit_test(test_the_order_of_tasks_does_not_matter),
      cmocka_unit_test(test_the_permutation_is_like_any_other),
      cmocka_unit_test(test_full_verification_sorts_all),
      cmocka_unit_test(test_memory_depends_on_the_head),
      cmocka_unit_test(test_a_failed_allocation_changes_nothing),
      cmocka_unit_test(test_the_first_invalid_record_is_named),
  };
  return cmocka_run_group_tests_name("head", tests, NULL, NULL);
}
