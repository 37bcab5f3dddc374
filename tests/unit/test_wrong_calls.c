/* Wrong calls, and counts that exceed memory: refused with a message, and nothing is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu_plugin.h"
#include "recsort/recsort.h"
#include "support/jobs.h"
#include "support/open.h"
#include "support/refused.h"

enum { COUNT = 8 };

static const char text[] = "record: R\nfields:\n- {name: a, type: uint16}\n"
                           "- {name: e, type: enum, base: uint8, values: [x, y]}\n"
                           "- {name: wide, type: bytes, count: 300}\n";

static recsort_sorter *open_sorter(const char *path, const char *algorithm)
{
  const recsort_key_desc key = {.path = path};
  const recsort_options options = {.struct_size = sizeof options,
                                   .plugin = "cpu",
                                   .algorithm = algorithm,
                                   .keys = &key,
                                   .key_count = 1};
  return sorter_of(text, &options);
}

static void test_schemas(void **state)
{
  recsort_schema *schema = NULL;
  const recsort_schema_desc desc = {.struct_size = sizeof desc}, short_one = {.struct_size = 8};
  (void)state;
  REFUSED(recsort_schema_create(NULL, NULL, &schema, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_schema_create(&desc, NULL, NULL, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_schema_create(&short_one, NULL, &schema, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_schema_load_memory(NULL, 1, "r", NULL, &schema, &error),
          RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_schema_load_memory(text, 1, "r", NULL, NULL, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_schema_load_file(NULL, NULL, &schema, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_schema_load_file("/dev/null", NULL, NULL, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_schema_load_file("/dev/null", NULL, &schema, &error), RECSORT_IO_ERROR);
  REFUSED(recsort_schema_load_file("/proc/self/mem", NULL, &schema, &error), RECSORT_IO_ERROR);
  assert_null(schema);
}

/* A description with one mistake. */
static recsort_status describe(const recsort_field_desc *fields, size_t count, recsort_error *error)
{
  recsort_schema *schema = NULL;
  const recsort_schema_desc desc = {
      .struct_size = sizeof desc, .record = "R", .fields = fields, .field_count = count};
  const recsort_status status = recsort_schema_create(&desc, NULL, &schema, error);
  assert_null(schema);
  return status;
}

static void test_descriptions(void **state)
{
  const recsort_field_desc base = {.name = "b", .type = RECSORT_UINT8, .offset = RECSORT_NO_OFFSET};
  const recsort_field_desc bits = {.name = "x",
                                   .type = RECSORT_BITFIELD,
                                   .bit_base = "b",
                                   .width = 1,
                                   .offset = RECSORT_NO_OFFSET};
  recsort_field_desc pair[2] = {base, bits};
  (void)state;
  pair[1].count = 2;
  REFUSED(describe(pair, 2, &error), RECSORT_INVALID_SCHEMA);
  pair[1] = bits;
  pair[1].offset = 1;
  REFUSED(describe(pair, 2, &error), RECSORT_INVALID_SCHEMA);
  pair[1] = bits;
  pair[1].endian = RECSORT_BIG_ENDIAN;
  REFUSED(describe(pair, 2, &error), RECSORT_INVALID_SCHEMA);
  pair[1] = (recsort_field_desc){.name = "e",
                                 .type = RECSORT_ENUM,
                                 .base = RECSORT_UINT8,
                                 .enumerator_count = 1,
                                 .offset = RECSORT_NO_OFFSET};
  REFUSED(describe(pair, 2, &error), RECSORT_INVALID_SCHEMA); /* the only value is not given */
  pair[0].count = UINT64_MAX / 2;
  pair[0].offset = UINT64_MAX - 1;
  REFUSED(describe(pair, 1, &error), RECSORT_INVALID_SCHEMA);
}

static void test_sorts(void **state)
{
  recsort_sorter *sorter = open_sorter("a", NULL);
  const size_t record = 304; /* 2 + 1 + 300, and a byte of padding */
  unsigned char *records = calloc(COUNT, record), *keys = calloc(COUNT, 8);
  const recsort_job job = {.struct_size = sizeof job, .count = COUNT, .records = records};
  const recsort_job no_records = {.struct_size = sizeof job, .count = COUNT};
  size_t count = 77;
  size_t disorder = 77;
  (void)state;
  REFUSED(recsort_encode(sorter, NULL, 1, keys, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_encode(sorter, records, 1, NULL, &error), RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_encode(sorter, NULL, 0, NULL, NULL), RECSORT_OK);
  REFUSED(recsort_check(sorter, NULL, 1, &disorder, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_check(sorter, records, 1, NULL, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_run(sorter, &no_records, 1, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_unique(sorter, &job, &count, &error), RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
  REFUSED(recsort_unique(sorter, &no_records, &count, &error), RECSORT_INVALID_ARGUMENT);
  assert_int_equal(count, 77);
  assert_int_equal(disorder, 77);
  free(records);
  free(keys);
  recsort_sorter_destroy(sorter);
}

/* Records that have changed since the sort: an invalid value is reported, and the permutation is
 * unchanged. */
static void test_unique_of_records_that_have_changed(void **state)
{
  recsort_sorter *sorter = open_sorter("e", NULL);
  unsigned char *records = calloc(COUNT, 304);
  permutation order = {0};
  (void)state;
  assert_int_equal(find_permutation(sorter, records, COUNT, &order, NULL), RECSORT_OK);
  records[3 * 304 + 2] = 9;
  REFUSED(make_unique(sorter, &order, &error), RECSORT_INVALID_RECORD);
  assert_int_equal(order.count, COUNT);
  assert_null(recsort_sorter_permutation(sorter, NULL, NULL));
  free(records);
  recsort_sorter_destroy(sorter);
}

/* Counts whose bytes overflow 64 bits at some step of the computation. */
static void test_counts_beyond_memory(void **state)
{
  static const char *const paths[] = {"a", "wide"};
  static const char *const algorithms[] = {"parallel", "sequential"};
  static const size_t counts[] = {
      SIZE_MAX,       SIZE_MAX / 2,         SIZE_MAX / 8,  SIZE_MAX / 300, (SIZE_MAX >> 16) + 2,
      SIZE_MAX >> 16, (SIZE_MAX >> 16) - 7, SIZE_MAX >> 18};
  unsigned char record[304] = {0};
  permutation order = {0};
  (void)state;
  for (size_t p = 0; p < 2; p++)
    for (size_t a = 0; a < 2; a++)
      for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        recsort_sorter *sorter = open_sorter(paths[p], algorithms[a]);
        recsort_error error = {0};
        const recsort_status status = find_permutation(sorter, record, counts[c], &order, &error);
        assert_true(status == RECSORT_OUT_OF_MEMORY || status == RECSORT_PLUGIN_ERROR);
        assert_true(error.text[0]);
        assert_int_not_equal(recsort_sort(sorter, record, counts[c], NULL), RECSORT_OK);
        recsort_sorter_destroy(sorter);
      }
}

/* The CPU plugin, with jobs that core would not pass to it. */
static void test_work_beyond_memory(void **state)
{
  const recsort_plugin *const plugin = rs_cpu_plugin_entry(RECSORT_PLUGIN_ABI);
  (void)state;
  assert_null(rs_cpu_plugin_entry(RECSORT_PLUGIN_ABI - 1));
  assert_null(rs_cpu_plugin_entry(RECSORT_PLUGIN_ABI + 1));
  for (uint32_t algorithm = 0; algorithm < plugin->algorithm_count; algorithm++)
    for (uint32_t width = 32; width <= 1u << 30; width *= 2)
      for (unsigned bits = 0; bits < 64; bits++) {
        recsort_error error = {0};
        recsort_plugin_work work = {.size = sizeof work};
        const recsort_plugin_job job = {.size = sizeof job,
                                        .algorithm = algorithm,
                                        .count = UINT64_C(1) << bits,
                                        .key_bits = width,
                                        .key_width = width,
                                        .index_bits = 64,
                                        .threads = 2};
        const recsort_status status = plugin->work_size(NULL, &job, &work, &error);
        const double least = (double)job.count * (width / 8 + 8);
        if (status == RECSORT_OK)
          assert_true((double)work.bytes >= least);
        else
          assert_true(error.text[0] && least > 1e12);
      }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_schemas),
      cmocka_unit_test(test_descriptions),
      cmocka_unit_test(test_sorts),
      cmocka_unit_test(test_unique_of_records_that_have_changed),
      cmocka_unit_test(test_counts_beyond_memory),
      cmocka_unit_test(test_work_beyond_memory),
  };
  return cmocka_run_group_tests_name("wrong calls", tests, NULL, NULL);
}
