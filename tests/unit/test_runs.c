/* Sorted records: check, unique, and keys for merges. Lengths exceed the chunks in which the
 * library reads records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/recsort.h"
#include "support/jobs.h"
#include "support/open.h"
#include "support/random.h"

static const char schema_text[] = "record: R\n"
                                  "layout: packed\n"
                                  "fields:\n"
                                  "- {name: state, type: enum, base: uint8, values: [a, b, c]}\n"
                                  "- {name: number, type: int32}\n"
                                  "- {name: text, type: char, count: 20}\n"
                                  "- {name: tag, type: uint32}\n";

enum { RECORD = 29, MOST = 20000 };

static recsort_sorter *open_sorter(const char *path, recsort_order order)
{
  const recsort_key_desc key = {.path = path, .order = order};
  const recsort_options options = {.struct_size = sizeof options, .keys = &key, .key_count = 1};
  return sorter_of(schema_text, &options);
}

static unsigned char records[MOST * RECORD];

static void put(size_t i, int32_t number)
{
  unsigned char *record = records + i * RECORD;
  const uint32_t tag = (uint32_t)i;
  memset(record, 'x', RECORD);
  record[0] = 0;
  for (unsigned b = 0; b < 4; b++) {
    record[1 + b] = (unsigned char)(number >> 8 * b);
    record[24 - b] = record[1 + b]; /* the number, as text, at its end */
  }
  memcpy(record + 25, &tag, sizeof tag);
}

static void test_check_finds_the_first_disorder(void **state)
{
  static const char *const paths[] = {"number", "text"}; /* keys of 4 and of 24 bytes */
  (void)state;
  for (size_t p = 0; p < 2; p++) {
    recsort_sorter *sorter = open_sorter(paths[p], RECSORT_ASCENDING);
    for (size_t i = 0; i < MOST; i++)
      put(i, (int32_t)(i / 3) + 1);
    size_t disorder = 99;
    assert_int_equal(recsort_check(sorter, records, MOST, &disorder, NULL), RECSORT_OK);
    assert_int_equal(disorder, MOST);
    assert_int_equal(recsort_check(sorter, NULL, 0, &disorder, NULL), RECSORT_OK);
    assert_int_equal(disorder, 0);
    assert_int_equal(recsort_check(sorter, records, 1, &disorder, NULL), RECSORT_OK);
    assert_int_equal(disorder, 1);
    for (size_t at = MOST - 1; at > 0; at = at > 4200 ? at - 97 : at - 1) {
      put(at, (int32_t)((at - 1) / 3)); /* less than the one before */
      assert_int_equal(recsort_check(sorter, records, MOST, &disorder, NULL), RECSORT_OK);
      assert_int_equal(disorder, at);
      put(at, (int32_t)(at / 3) + 1);
    }
    recsort_sorter_destroy(sorter);
  }
}

static void test_check_takes_the_order_of_its_keys(void **state)
{
  recsort_sorter *sorter = open_sorter("number", RECSORT_DESCENDING);
  size_t disorder;
  (void)state;
  for (size_t i = 0; i < 10; i++)
    put(i, 10 - (int32_t)i);
  assert_int_equal(recsort_check(sorter, records, 10, &disorder, NULL), RECSORT_OK);
  assert_int_equal(disorder, 10);
  put(4, 100);
  assert_int_equal(recsort_check(sorter, records, 10, &disorder, NULL), RECSORT_OK);
  assert_int_equal(disorder, 4);
  recsort_sorter_destroy(sorter);
}

static void test_check_reports_an_invalid_record(void **state)
{
  recsort_sorter *sorter = open_sorter("state", RECSORT_ASCENDING);
  recsort_error error = {0};
  size_t disorder = 99;
  (void)state;
  for (size_t i = 0; i < MOST; i++)
    put(i, 0);
  records[9001 * RECORD] = 3;
  assert_int_equal(recsort_check(sorter, records, MOST, &disorder, &error), RECSORT_INVALID_RECORD);
  assert_non_null(strstr(error.text, "record 9001:"));
  assert_int_equal(disorder, 99);
  recsort_sorter_destroy(sorter);
}

static void test_unique_keeps_the_first_of_each_run(void **state)
{
  static const char *const paths[] = {"number", "text"};
  (void)state;
  for (size_t p = 0; p < 2; p++)
    for (uint64_t values = 1; values <= 30000; values = values * 10 + 3) {
      recsort_sorter *sorter = open_sorter(paths[p], RECSORT_ASCENDING);
      static size_t first[40000];
      permutation order = {0};
      size_t distinct = 0, next = 0;
      memset(first, 0xff, sizeof first);
      for (size_t i = MOST; i-- > 0;) {
        const size_t number = (size_t)(mix(i) % values);
        put(i, (int32_t)number);
        distinct += first[number] == SIZE_MAX;
        first[number] = i;
      }
      assert_int_equal(find_permutation(sorter, records, MOST, &order, NULL), RECSORT_OK);
      assert_int_equal(make_unique(sorter, &order, NULL), RECSORT_OK);
      assert_int_equal(order.count, distinct);
      for (size_t number = 0; number < values; number++)
        if (first[number] != SIZE_MAX)
          assert_int_equal(permutation_at(&order, next++), first[number]);
      recsort_sorter_destroy(sorter);
    }
}

static void test_unique_of_nothing(void **state)
{
  recsort_sorter *sorter = open_sorter("number", RECSORT_ASCENDING);
  permutation order = {0};
  (void)state;
  assert_int_equal(find_permutation(sorter, NULL, 0, &order, NULL), RECSORT_OK);
  assert_int_equal(make_unique(sorter, &order, NULL), RECSORT_OK);
  assert_int_equal(order.count, 0);
  recsort_sorter_destroy(sorter);
}

static void test_keys_compare_as_records(void **state)
{
  enum { COUNT = 200 };
  static const struct {
    const char *path;
    size_t size;
  } table[] = {{"number", 4}, {"text", 24}};
  static _Alignas(8) unsigned char keys[COUNT * 24];
  (void)state;
  for (size_t t = 0; t < 2; t++) {
    recsort_sorter *sorter = open_sorter(table[t].path, RECSORT_ASCENDING);
    assert_int_equal(recsort_key_size(sorter), table[t].size);
    for (size_t i = 0; i < COUNT; i++)
      put(i, (int32_t)(mix(i) % 50));
    assert_int_equal(recsort_encode(sorter, records, COUNT, keys, NULL), RECSORT_OK);
    for (size_t i = 0; i < COUNT; i++)
      for (size_t j = 0; j < COUNT; j++) {
        const uint64_t a = mix(i) % 50, b = mix(j) % 50;
        const int order =
            recsort_key_compare(sorter, keys + i * table[t].size, keys + j * table[t].size);
        assert_int_equal((order > 0) - (order < 0), (a > b) - (a < b));
      }
    recsort_sorter_destroy(sorter);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_check_finds_the_first_disorder),
      cmocka_unit_test(test_check_takes_the_order_of_its_keys),
      cmocka_unit_test(test_check_reports_an_invalid_record),
      cmocka_unit_test(test_unique_keeps_the_first_of_each_run),
      cmocka_unit_test(test_unique_of_nothing),
      cmocka_unit_test(test_keys_compare_as_records),
  };
  return cmocka_run_group_tests_name("runs", tests, NULL, NULL);
}
