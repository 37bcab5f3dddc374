/* Merges of sorted runs: what is refused, what is named, memory, plugins, and keys so wide that
 * there are several passes. The conformance suite shows that merges are right. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recsort/recsort.h"
#include "support/failing_allocator.h"
#include "support/jobs.h"
#include "support/native.h"
#include "support/open.h"
#include "support/refused.h"

enum { COUNT = 12, RUNS = 4 };

typedef struct entry {
  uint16_t key;
  uint8_t kind; /* 0 or 1 */
  uint8_t tag;
} entry;

static const char text[] = "record: R\n" NATIVE "fields:\n- {name: key, type: uint16}\n"
                           "- {name: kind, type: enum, base: uint8, values: [x, y]}\n"
                           "- {name: tag, type: uint8}\nkeys: [{field: key}, {field: kind}]\n";

static const size_t offsets[RUNS + 1] = {0, 5, 5, 8, COUNT};
static const entry sorted_runs[COUNT] = {{1, 0, 0}, {3, 0, 1}, {3, 0, 2},  {3, 1, 3},
                                         {9, 0, 4}, {2, 0, 5}, {3, 0, 6},  {3, 1, 7},
                                         {0, 0, 8}, {3, 0, 9}, {9, 0, 10}, {9, 0, 11}};
static const uint8_t merged_tags[COUNT] = {8, 0, 5, 1, 2, 6, 9, 3, 7, 4, 10, 11};

static recsort_sorter *open_sorter(const recsort_options *options)
{
  return sorter_of(text, options);
}

static recsort_sorter *open_cpu(unsigned threads)
{
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = "cpu", .threads = threads};
  return open_sorter(&options);
}

static bool is_merged(const entry *entries)
{
  for (size_t i = 0; i < COUNT; i++)
    if (entries[i].tag != merged_tags[i]) return false;
  return true;
}

/* ---- Calls ---- */

static void test_each_way_to_merge(void **state)
{
  recsort_sorter *sorter = open_cpu(1);
  entry entries[COUNT], merged[COUNT];
  const void *arrays[RUNS] = {sorted_runs, NULL, sorted_runs + 5, sorted_runs + 8};
  recsort_job apart = runs_job(NULL, offsets, RUNS);
  uint32_t index[COUNT];
  (void)state;
  memcpy(entries, sorted_runs, sizeof entries);
  assert_int_equal(merge_in_place(sorter, entries, offsets, RUNS, NULL), RECSORT_OK);
  assert_true(is_merged(entries));
  assert_int_equal(merge_to(sorter, sorted_runs, offsets, RUNS, merged, NULL), RECSORT_OK);
  assert_true(is_merged(merged));
  memset(merged, 0xee, sizeof merged);
  apart.part_records = arrays;
  apart.sorted = merged;
  assert_int_equal(recsort_run(sorter, &apart, 1, NULL), RECSORT_OK);
  assert_true(is_merged(merged));
  assert_int_equal(argmerge(sorter, sorted_runs, offsets, RUNS, index, 32, NULL), RECSORT_OK);
  for (size_t i = 0; i < COUNT; i++)
    assert_int_equal(index[i], merged_tags[i]);
  recsort_sorter_destroy(sorter);
}

static void test_nothing_to_merge(void **state)
{
  static const size_t none[4] = {0};
  recsort_sorter *sorter = open_cpu(2);
  size_t bytes = 77;
  (void)state;
  assert_int_equal(merge_in_place(sorter, NULL, none, 3, NULL), RECSORT_OK);
  assert_int_equal(merge_in_place(sorter, NULL, none, 0, NULL), RECSORT_OK);
  assert_int_equal(plan_bytes(sorter, runs_job(NULL, none, 3), &bytes, NULL), RECSORT_OK);
  assert_int_equal(bytes, 0);
  recsort_sorter_destroy(sorter);
}

static void test_wrong_calls(void **state)
{
  static size_t many[RECSORT_MOST_RUNS + 2];
  const size_t late[3] = {1, 2, 3}, turned[3] = {0, 5, 4};
  recsort_sorter *sorter = open_cpu(1);
  entry entries[2 * COUNT] = {{0}};
  const void *arrays[RUNS] = {entries, NULL, NULL, entries};
  recsort_job apart = runs_job(NULL, offsets, RUNS), large = runs_job(NULL, many, 2);
  uint64_t index[COUNT + 1];
  size_t bytes;
  (void)state;
  REFUSED(merge_in_place(NULL, entries, offsets, RUNS, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(merge_in_place(sorter, NULL, offsets, RUNS, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(merge_in_place(sorter, entries, late, 2, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(merge_in_place(sorter, entries, turned, 2, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(merge_in_place(sorter, entries, many, RECSORT_MOST_RUNS + 1, &error),
          RECSORT_INVALID_ARGUMENT);
  assert_int_equal(merge_in_place(sorter, entries, many, RECSORT_MOST_RUNS, NULL), RECSORT_OK);
  many[1] = SIZE_MAX;
  REFUSED(merge_in_place(sorter, entries, many, 1, &error), RECSORT_OUT_OF_MEMORY);
  REFUSED(merge_to(sorter, entries, offsets, RUNS, entries + COUNT - 1, &error),
          RECSORT_INVALID_ARGUMENT);
  assert_int_equal(merge_to(sorter, entries, offsets, RUNS, entries + COUNT, NULL), RECSORT_OK);
  apart.part_records = arrays; /* run 2 has records */
  apart.sorted = entries + COUNT;
  REFUSED(recsort_run(sorter, &apart, 1, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(argmerge(sorter, entries, offsets, RUNS, index, 16, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(argmerge(sorter, entries, offsets, RUNS, (char *)index + 4, 64, &error),
          RECSORT_INVALID_ARGUMENT);
  REFUSED(argmerge(sorter, entries, offsets, RUNS, entries + COUNT - 2, 32, &error),
          RECSORT_INVALID_ARGUMENT);
  many[1] = (UINT64_C(1) << 32) + 1;
  REFUSED(argmerge(sorter, entries, many, 1, index, 32, &error), RECSORT_INVALID_ARGUMENT);
  many[1] = SIZE_MAX / sizeof(entry);
  REFUSED(argmerge(sorter, entries, many, 1, index, 64, &error), RECSORT_OUT_OF_MEMORY);
  large.sorted = entries;
  large.part_count = RECSORT_MOST_RUNS + 1;
  REFUSED(plan_bytes(sorter, large, &bytes, &error), RECSORT_INVALID_ARGUMENT);
  large.part_count = 2;
  large.count = SIZE_MAX / 4 + 1;
  REFUSED(plan_bytes(sorter, large, &bytes, &error), RECSORT_OUT_OF_MEMORY);
  large.records = entries;
  large.count = SIZE_MAX / 5;
  REFUSED(plan_bytes(sorter, large, &bytes, &error), RECSORT_OUT_OF_MEMORY);
  recsort_sorter_destroy(sorter);
}

/* ---- What is wrong with runs ---- */

/* Every call says the same of the runs, and nothing has moved in place. */
static void expect_fault(const entry *entries, recsort_status status, const char *words)
{
  recsort_sorter *sorter = open_cpu(2);
  entry own[COUNT], merged[COUNT];
  recsort_error errors[3] = {{0}};
  uint32_t index[COUNT];
  memcpy(own, entries, sizeof own);
  assert_int_equal(merge_in_place(sorter, own, offsets, RUNS, &errors[0]), status);
  assert_memory_equal(own, entries, sizeof own);
  assert_int_equal(merge_to(sorter, entries, offsets, RUNS, merged, &errors[1]), status);
  assert_int_equal(argmerge(sorter, entries, offsets, RUNS, index, 32, &errors[2]), status);
  for (size_t i = 0; i < 3; i++)
    if (strncmp(errors[i].text, words, strlen(words)) != 0) fail_msg("%s", errors[i].text);
  recsort_sorter_destroy(sorter);
}

static void test_what_is_wrong_is_named(void **state)
{
  entry entries[COUNT];
  (void)state;
  memcpy(entries, sorted_runs, sizeof entries);
  entries[10].key = 2;
  entries[7].key = 1;
  expect_fault(entries, RECSORT_UNSORTED_RUN, "run 2, record 2: its key is less than that of");
  memcpy(entries, sorted_runs, sizeof entries);
  entries[9].kind = 2;
  expect_fault(entries, RECSORT_INVALID_RECORD, "run 3, record 1: field \"kind\" holds 0x2,");
  memcpy(entries, sorted_runs, sizeof entries);
  entries[4].key = 2; /* the last of its run, which the next ones would hide */
  expect_fault(entries, RECSORT_UNSORTED_RUN, "run 0, record 4: ");
}

/* What is wrong is named by a check of its own, which may find no memory: that is the error, then.
 */
static void test_no_memory_to_name_it(void **state)
{
  failing_allocator memory = {0};
  const recsort_allocator allocator = failing_hook(&memory);
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = "cpu", .threads = 1, .allocator = &allocator};
  entry entries[COUNT];
  bool named = false;
  (void)state;
  memcpy(entries, sorted_runs, sizeof entries);
  entries[4].key = 2;
  for (size_t at = 1; !named; at++) {
    recsort_sorter *sorter = open_sorter(&options);
    recsort_error error = {0};
    for (size_t i = 0; i < 2; i++) {
      memory.fail_at = memory.calls + at;
      const recsort_status status =
          merge_in_place(sorter, entries, offsets, RUNS, i ? &error : NULL);
      named = status == RECSORT_UNSORTED_RUN;
      assert_true(named || status == RECSORT_OUT_OF_MEMORY);
    }
    memory.fail_at = 0;
    recsort_sorter_destroy(sorter);
  }
  assert_int_equal(memory.blocks, 0);
}

/* Runs that follow one another in order are not copied, but are checked. */
static void test_runs_that_are_one_already(void **state)
{
  recsort_sorter *sorter = open_cpu(1);
  entry entries[COUNT];
  (void)state;
  for (size_t i = 0; i < COUNT; i++)
    entries[i] = (entry){(uint16_t)(i / 2), 0, (uint8_t)i};
  assert_int_equal(merge_in_place(sorter, entries, offsets, RUNS, NULL), RECSORT_OK);
  for (size_t i = 0; i < COUNT; i++)
    assert_int_equal(entries[i].tag, i);
  entries[1].key = 3;
  assert_int_equal(merge_in_place(sorter, entries, offsets, RUNS, NULL), RECSORT_UNSORTED_RUN);
  assert_int_equal(entries[1].tag, 1);
  recsort_sorter_destroy(sorter);
}

/* ---- Memory ---- */

static void expect_as_said(size_t count, size_t run_count, bool in_place)
{
  failing_allocator memory = {0};
  const recsort_allocator hook = failing_hook(&memory);
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = "cpu", .threads = 3, .allocator = &hook};
  recsort_sorter *sorter = open_sorter(&options);
  entry *entries = calloc(count, sizeof *entries), *merged = calloc(count, sizeof *merged);
  uint64_t *index = calloc(count, sizeof *index);
  size_t *places = calloc(run_count + 1, sizeof *places);
  recsort_stats stats;
  size_t bytes = 0, of_permutation = 0;
  for (size_t r = 0; r <= run_count; r++)
    places[r] = count * r / run_count;
  for (size_t r = 0; r < run_count; r++)
    for (size_t i = places[r]; i < places[r + 1]; i++)
      entries[i].key = (uint16_t)((i - places[r]) / 3);
  recsort_job job = runs_job(entries, places, run_count);
  job.sorted = in_place ? entries : merged;
  assert_int_equal(plan_bytes(sorter, job, &bytes, NULL), RECSORT_OK);
  job.sorted = NULL;
  job.permutation = index;
  job.index_bits = 64;
  assert_int_equal(plan_bytes(sorter, job, &of_permutation, NULL), RECSORT_OK);
  if (!in_place && of_permutation > bytes) bytes = of_permutation;
  const size_t before = memory.bytes;
  memory.most_bytes = 0;
  if (in_place) {
    assert_int_equal(merge_in_place(sorter, entries, places, run_count, NULL), RECSORT_OK);
  } else {
    assert_int_equal(merge_to(sorter, entries, places, run_count, merged, NULL), RECSORT_OK);
    assert_int_equal(argmerge(sorter, entries, places, run_count, index, 64, NULL), RECSORT_OK);
  }
  recsort_sorter_get_stats(sorter, &stats, sizeof stats);
  assert_int_equal(stats.memory, bytes);
  assert_int_equal(stats.records, count);
  assert_true(memory.most_bytes <= before + bytes + 16 * run_count);
  if (in_place) assert_true(bytes >= count * sizeof *entries);
  if (in_place) assert_true(bytes < count * sizeof *entries + (4 << 20));
  if (!in_place && run_count <= 512) assert_true(bytes <= 3 * (3 << 19));
  recsort_sorter_destroy(sorter);
  assert_int_equal(memory.blocks, 0);
  free(entries);
  free(merged);
  free(index);
  free(places);
}

static void test_memory_is_as_said(void **state)
{
  (void)state;
  expect_as_said(1 << 20, 16, false);
  expect_as_said(1 << 20, 16, true);
  expect_as_said(1 << 18, 512, false);
  expect_as_said(1 << 18, 512, true);
  expect_as_said(1 << 18, 1000, false);
  expect_as_said(1 << 18, 1000, true);
}

/* 1.5 MiB a thread, whatever the key is, up to 512 runs. */
static void test_memory_of_threads(void **state)
{
  static const uint64_t ends[513];
  static char records, merged;
  static const recsort_field_desc fields[] = {{.name = "a", .type = RECSORT_UINT64},
                                              {.name = "b", .type = RECSORT_UINT64, .offset = 8},
                                              {.name = "c", .type = RECSORT_UINT64, .offset = 16},
                                              {.name = "d", .type = RECSORT_UINT64, .offset = 24}};
  static const recsort_key_desc keys[] = {
      {.path = "a"}, {.path = "b"}, {.path = "c"}, {.path = "d"}};
  (void)state;
  for (size_t key_count = 1; key_count <= 4; key_count++) {
    recsort_schema *schema;
    recsort_schema_desc desc = RECSORT_SCHEMA_DESC_INIT;
    desc.record = "Wide";
    desc.layout = RECSORT_LAYOUT_EXPLICIT;
    desc.endian = RECSORT_NATIVE_ENDIAN;
    desc.size = 32;
    desc.fields = fields;
    desc.field_count = 4;
    desc.keys = keys;
    desc.key_count = key_count;
    assert_int_equal(recsort_schema_create(&desc, NULL, &schema, NULL), RECSORT_OK);
    for (unsigned threads = 1; threads <= 16; threads *= 2) {
      const recsort_options options = {
          .struct_size = sizeof options, .plugin = "cpu", .threads = threads};
      recsort_sorter *sorter;
      assert_int_equal(recsort_sorter_create(schema, &options, &sorter, NULL), RECSORT_OK);
      for (size_t runs = 2; runs <= 512; runs *= 2) {
        size_t bytes = 0;
        recsort_job job = RECSORT_JOB_INIT;
        job.count = 50000000;
        job.records = &records;
        job.sorted = &merged;
        job.parts = RECSORT_RUNS;
        job.offsets = ends;
        job.part_count = runs;
        assert_int_equal(plan_bytes(sorter, job, &bytes, NULL), RECSORT_OK);
        assert_true(bytes <= threads * (size_t)(3 << 19));
      }
      recsort_sorter_destroy(sorter);
    }
    recsort_schema_destroy(schema);
  }
}

/* A merge works where a permutation was. */
static void test_a_merge_ends_a_permutation(void **state)
{
  recsort_sorter *sorter = open_cpu(1);
  permutation found;
  entry entries[COUNT];
  (void)state;
  memcpy(entries, sorted_runs, sizeof entries);
  assert_int_equal(find_permutation(sorter, entries, COUNT, &found, NULL), RECSORT_OK);
  assert_int_equal(merge_in_place(sorter, entries, offsets, RUNS, NULL), RECSORT_OK);
  assert_null(recsort_sorter_permutation(sorter, NULL, NULL));
  recsort_sorter_destroy(sorter);
}

/* ---- Many records ---- */

typedef struct row {
  uint32_t key;
  uint32_t rest[4];
} row;

/* So many that the result is stored past the caches, if there are threads enough. Sorting gives the
 * same. */
static void expect_as_sorted(size_t run_count, unsigned threads)
{
  enum { MANY = 500000 };
  static const char rows[] = "record: Row\n" NATIVE "fields:\n- {name: key, type: uint32}\n"
                             "- {name: rest, type: uint32, count: 4}\nkeys: [{field: key}]\n";
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = "cpu", .threads = threads};
  row *records = calloc(MANY, sizeof *records), *sorted = calloc(MANY, sizeof *sorted);
  size_t places[64];
  for (size_t r = 0; r <= run_count; r++)
    places[r] = MANY * r / run_count;
  for (size_t r = 0; r < run_count; r++)
    for (size_t i = places[r]; i < places[r + 1]; i++)
      records[i] = (row){(uint32_t)((i - places[r]) / (r + 2)), {(uint32_t)i, 0, 0, 7}};
  recsort_sorter *const sorter = sorter_of(rows, &options);
  assert_int_equal(recsort_sort_to(sorter, records, MANY, sorted, NULL), RECSORT_OK);
  assert_int_equal(merge_in_place(sorter, records, places, run_count, NULL), RECSORT_OK);
  assert_memory_equal(records, sorted, MANY * sizeof *records);
  recsort_sorter_destroy(sorter);
  free(records);
  free(sorted);
}

static void test_many_records(void **state)
{
  (void)state;
  for (unsigned threads = 1; threads <= 4; threads += 3) {
    expect_as_sorted(1, threads);
    expect_as_sorted(2, threads);
    expect_as_sorted(5, threads);
    expect_as_sorted(40, threads);
  }
}

/* ---- Disorder among many ---- */

enum { KEYS = 100000 };

static recsort_sorter *open_keys(unsigned threads, const recsort_executor *executor)
{
  static const char keys[] = "record: K\n" NATIVE "fields: [{name: key, type: uint32}]\n"
                             "keys: [{field: key}]\n";
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = "cpu", .threads = threads, .executor = executor};
  return sorter_of(keys, &options);
}

static void expect_unsorted(recsort_sorter *sorter, const uint32_t *keys, const char *words)
{
  const size_t places[3] = {0, KEYS / 2, KEYS};
  uint32_t *const own = malloc(KEYS * 4), *const merged = malloc(KEYS * 4);
  recsort_error errors[2];
  memcpy(own, keys, KEYS * 4);
  assert_int_equal(merge_in_place(sorter, own, places, 2, &errors[0]), RECSORT_UNSORTED_RUN);
  assert_memory_equal(own, keys, KEYS * 4);
  assert_int_equal(merge_to(sorter, keys, places, 2, merged, &errors[1]), RECSORT_UNSORTED_RUN);
  for (size_t i = 0; i < 2; i++)
    if (strncmp(errors[i].text, words, strlen(words)) != 0) fail_msg("%s", errors[i].text);
  free(own);
  free(merged);
}

/* Runs in no order at all, whose cuts are in none either; and a single record out of order,
 * wherever keys that are looked at together may begin. */
static void test_disorder_among_many(void **state)
{
  uint32_t *const keys = malloc(KEYS * 4);
  (void)state;
  for (unsigned threads = 1; threads <= 4; threads += 3) {
    recsort_sorter *sorter = open_keys(threads, NULL);
    uint32_t random = 1;
    for (size_t i = 0; i < KEYS; i++)
      keys[i] = random = random * 1664525u + 1013904223u;
    keys[0] = 7;
    keys[1] = 6;
    expect_unsorted(sorter, keys, "run 0, record 1: ");
    /* In run 0, splitters of its own second half have cuts there; greater ones of run 1 have theirs
     * at record 0. */
    for (size_t i = 0; i < KEYS; i++)
      keys[i] = (uint32_t)(i <= KEYS / 4 ? 10 * KEYS : i < KEYS / 2 ? i : 2 * KEYS + i);
    expect_unsorted(sorter, keys, "run 0, record 25001: ");
    for (size_t i = 0; i < KEYS; i++)
      keys[i] = (uint32_t)(i % (KEYS / 2));
    for (size_t at = 1; at < KEYS / 2; at++) {
      char words[64];
      if (at % 509 != 0 && at % (KEYS / 32) != 0) continue;
      keys[at] -= 2;
      (void)snprintf(words, sizeof words, "run 0, record %zu: ", at);
      expect_unsorted(sorter, keys, words);
      keys[at] += 2;
    }
    recsort_sorter_destroy(sorter);
  }
  free(keys);
}

static void run_second_task_first(void *context, void (*task)(void *argument, size_t number),
                                  void *argument, size_t count)
{
  (void)context;
  for (size_t i = 1; i <= count; i++)
    task(argument, i % count);
}

/* The cuts of a run that is not sorted may cross. That must be found even where no thread has come
 * to the disorder yet: the second task's pieces are in order, but their cuts cross. */
static void test_cuts_that_cross(void **state)
{
  const recsort_executor executor = {sizeof executor, NULL, run_second_task_first, 4};
  recsort_sorter *sorter = open_keys(4, &executor);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (KEYS * 4 / page + 1) * page;
  char *const pages = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                           -1, 0); /* the last one cannot be read */
  (void)state;
  assert_true(pages != MAP_FAILED && mprotect(pages + size, page, PROT_NONE) == 0);
  uint32_t *const keys = (uint32_t *)(void *)(pages + size) - KEYS;
  for (size_t i = 0; i < KEYS; i++)
    keys[i] = (uint32_t)i;
  keys[KEYS / 4] = 2 * KEYS;
  expect_unsorted(sorter, keys, "run 0, record 25001: ");
  recsort_sorter_destroy(sorter);
  (void)munmap(pages, size + page);
}

/* ---- Records that are keys ---- */

enum { INTEGERS = 60000, UNALIGNED = 3 };

static bool is_signed, is_descending;

static int compare_integers(const void *a, const void *b)
{
  uint64_t x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  const bool less = is_signed ? (int64_t)x < (int64_t)y : x < y;
  const int order = x == y ? 0 : less ? -1 : 1;
  return is_descending ? -order : order;
}

static void swap_with_next(unsigned char *at)
{
  unsigned char kept[8];
  memcpy(kept, at, 8);
  memcpy(at, at + 8, 8);
  memcpy(at + 8, kept, 8);
}

/* Integers of all 64 bits, some of which come often, in sorted runs; what comes of them, and that a
 * value out of order is found, wherever it is. They begin `offset` bytes from where one may be. */
static void expect_integers(recsort_sorter *sorter, size_t run_count, size_t offset)
{
  unsigned char *const memory = malloc(INTEGERS * 8 + 8), *const at = memory + offset;
  uint64_t *const expected = malloc(INTEGERS * 8), *const merged = malloc(INTEGERS * 8);
  size_t *const places = calloc(run_count + 1, sizeof *places);
  uint64_t random = 1;
  recsort_error error;
  for (size_t i = 0; i < INTEGERS; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const uint64_t value = i % 5 ? random : UINT64_MAX / 7 * (random >> 61);
    memcpy(at + 8 * i, &value, 8);
  }
  for (size_t r = 0; r <= run_count; r++)
    places[r] = INTEGERS * r / run_count;
  for (size_t r = 0; r < run_count; r++)
    qsort(at + 8 * places[r], places[r + 1] - places[r], 8, compare_integers);
  memcpy(expected, at, INTEGERS * 8);
  qsort(expected, INTEGERS, 8, compare_integers);
  assert_int_equal(merge_to(sorter, at, places, run_count, merged, NULL), RECSORT_OK);
  assert_memory_equal(merged, expected, INTEGERS * 8);
  for (size_t i = 1; i < INTEGERS; i += 997) {
    char words[64];
    size_t r = 0;
    while (places[r + 1] <= i)
      r++;
    if (places[r] == i || compare_integers(at + 8 * i - 8, at + 8 * i) == 0) continue;
    swap_with_next(at + 8 * i - 8);
    assert_int_equal(merge_to(sorter, at, places, run_count, merged, &error), RECSORT_UNSORTED_RUN);
    (void)snprintf(words, sizeof words, "run %zu, record %zu: ", r, i - places[r]);
    assert_memory_equal(error.text, words, strlen(words));
    swap_with_next(at + 8 * i - 8);
  }
  free(memory);
  free(expected);
  free(merged);
  free(places);
}

/* Keys that come often in each of three runs. What the merge before left in memory is less than any
 * of them: a merge that reads beyond a run shows it. */
static void test_keys_of_all_runs(void **state)
{
  enum { ALIKE = 8192, MOST = 400, RUNS_ALIKE = 3 };
  static uint64_t alike[ALIKE], keys[RUNS_ALIKE * MOST], expected[RUNS_ALIKE * MOST], merged[ALIKE];
  static const char yaml[] =
      "record: I\n" NATIVE "fields: [{name: i, type: uint64}]\nkeys: [{field: i}]\n";
  const recsort_options options = {.struct_size = sizeof options, .plugin = "cpu", .threads = 1};
  uint32_t random = 1;
  (void)state;
  recsort_sorter *const sorter = sorter_of(yaml, &options);
  is_signed = is_descending = false;
  for (int again = 0; again < 1000; again++) {
    size_t places[RUNS_ALIKE + 1] = {0, ALIKE / 3, ALIKE / 2, ALIKE};
    assert_int_equal(merge_to(sorter, alike, places, RUNS_ALIKE, merged, NULL), RECSORT_OK);
    for (size_t r = 1; r <= RUNS_ALIKE; r++)
      places[r] = places[r - 1] + MOST - (random = random * 1664525u + 1013904223u) % 200;
    for (size_t i = 0; i < places[RUNS_ALIKE]; i++)
      keys[i] = 1 + ((random = random * 1664525u + 1013904223u) >> 16) % (2 + (uint32_t)again % 20);
    for (size_t r = 0; r < RUNS_ALIKE; r++)
      qsort(keys + places[r], places[r + 1] - places[r], 8, compare_integers);
    memcpy(expected, keys, sizeof keys);
    qsort(expected, places[RUNS_ALIKE], 8, compare_integers);
    assert_int_equal(merge_to(sorter, keys, places, RUNS_ALIKE, merged, NULL), RECSORT_OK);
    assert_memory_equal(merged, expected, places[RUNS_ALIKE] * 8);
  }
  recsort_sorter_destroy(sorter);
}

static void test_records_that_are_keys(void **state)
{
  (void)state;
  for (int way = 0; way < 8; way++) {
    char yaml[160];
    const recsort_options options = {
        .struct_size = sizeof options, .plugin = "cpu", .threads = way & 4 ? 3 : 1};
    is_signed = way & 1;
    is_descending = way & 2;
    (void)snprintf(yaml, sizeof yaml,
                   "record: I\n" NATIVE "layout: packed\nfields: [{name: i, type: %s}]\n"
                   "keys: [{field: i, order: %s}]\n",
                   is_signed ? "int64" : "uint64", is_descending ? "desc" : "asc");
    recsort_sorter *const sorter = sorter_of(yaml, &options);
    expect_integers(sorter, 2, 0);
    expect_integers(sorter, 2, UNALIGNED);
    expect_integers(sorter, 37, 0);
    expect_integers(sorter, 300, UNALIGNED);
    recsort_sorter_destroy(sorter);
  }
}

/* ---- Several passes ---- */

enum { WIDE = (2 << 20) + 8, WIDE_COUNT = 9, WIDE_RUNS = 5 };

/* With keys of 2 MiB a pass merges two runs only: 5 runs take three passes, and one that copies. */
static void test_keys_so_wide_that_there_are_three_passes(void **state)
{
  static const char wide[] = "record: W\nlayout: packed\nfields:\n"
                             "- {name: key, type: bytes, count: 2097152}\n"
                             "- {name: tag, type: uint64}\nkeys: [{field: key}]\n";
  static const size_t places[WIDE_RUNS + 1] = {0, 2, 4, 6, 8, WIDE_COUNT};
  static const unsigned char keys[WIDE_COUNT] = {1, 5, 1, 4, 2, 5, 0, 9, 1};
  static const uint64_t expected[WIDE_COUNT] = {6, 0, 2, 8, 4, 3, 1, 5, 7};
  const recsort_options options = {.struct_size = sizeof options, .plugin = "cpu", .threads = 2};
  unsigned char *records = calloc(WIDE_COUNT, WIDE), *merged = calloc(WIDE_COUNT, WIDE);
  recsort_job job = runs_job(records, places, WIDE_RUNS);
  uint64_t index[WIDE_COUNT];
  size_t needed;
  recsort_stats stats;
  (void)state;
  for (uint64_t i = 0; i < WIDE_COUNT; i++) {
    records[i * WIDE + WIDE - 9] = keys[i];
    memcpy(records + (i + 1) * WIDE - 8, &i, 8);
  }
  recsort_sorter *const sorter = sorter_of(wide, &options);
  assert_int_equal(argmerge(sorter, records, places, WIDE_RUNS, index, 64, NULL), RECSORT_OK);
  assert_memory_equal(index, expected, sizeof index);
  assert_int_equal(recsort_sorter_reserve(sorter, NULL, NULL), RECSORT_OK);
  job.sorted = merged;
  assert_int_equal(plan_bytes(sorter, job, &needed, NULL), RECSORT_OK);
  assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
  recsort_sorter_get_stats(sorter, &stats, sizeof stats);
  assert_int_equal(stats.memory, needed);
  assert_int_equal(merge_in_place(sorter, records, places, WIDE_RUNS, NULL), RECSORT_OK);
  for (size_t i = 0; i < WIDE_COUNT; i++) {
    assert_memory_equal(records + (i + 1) * WIDE - 8, &expected[i], 8);
    assert_int_equal(records[i * WIDE + WIDE - 9], keys[expected[i]]);
  }
  assert_memory_equal(records, merged, (size_t)WIDE_COUNT * WIDE);
  recsort_sorter_destroy(sorter);
  free(records);
  free(merged);
}

/* ---- Plugins ---- */

static int forget(void **state)
{
  (void)state;
  return unsetenv("RECSORT_PLUGIN_PATH") || unsetenv("RECSORT_TEST_SCRIPT");
}

static recsort_sorter *open_scripted(const char *script, const char *plugin)
{
  const recsort_options options = {.struct_size = sizeof options, .plugin = plugin};
  assert_int_equal(setenv("RECSORT_PLUGIN_PATH", RS_TEST_PLUGINS "/scripted", 1), 0);
  assert_int_equal(setenv("RECSORT_TEST_SCRIPT", script, 1), 0);
  return open_sorter(&options);
}

/* The CPU merges whichever plugin sorts, even one that fails. */
static void test_the_cpu_merges_for_any_plugin(void **state)
{
  static const char *const scripts[] = {"well", "sort-failed", "sort-lost"};
  (void)state;
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
    recsort_sorter *sorter = open_scripted(scripts[i], "scripted");
    entry entries[COUNT], merged[COUNT];
    memcpy(entries, sorted_runs, sizeof entries);
    for (int again = 0; again < 2; again++) {
      assert_int_equal(merge_to(sorter, sorted_runs, offsets, RUNS, merged, NULL), RECSORT_OK);
      assert_true(is_merged(merged));
      assert_int_equal(recsort_sort(sorter, entries, COUNT, NULL) != RECSORT_OK, i > 0);
    }
    recsort_sorter_destroy(sorter);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_way_to_merge),
      cmocka_unit_test(test_nothing_to_merge),
      cmocka_unit_test(test_wrong_calls),
      cmocka_unit_test(test_what_is_wrong_is_named),
      cmocka_unit_test(test_no_memory_to_name_it),
      cmocka_unit_test(test_runs_that_are_one_already),
      cmocka_unit_test(test_memory_is_as_said),
      cmocka_unit_test(test_memory_of_threads),
      cmocka_unit_test(test_a_merge_ends_a_permutation),
      cmocka_unit_test(test_many_records),
      cmocka_unit_test(test_disorder_among_many),
      cmocka_unit_test(test_cuts_that_cross),
      cmocka_unit_test(test_records_that_are_keys),
      cmocka_unit_test(test_keys_of_all_runs),
      cmocka_unit_test(test_keys_so_wide_that_there_are_three_passes),
      cmocka_unit_test_teardown(test_the_cpu_merges_for_any_plugin, forget),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
