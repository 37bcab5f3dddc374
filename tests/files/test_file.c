/* test_file.c - sorts of more records than memory holds, with limits so small that kilobytes take
 * every way: runs, groups of runs, groups of groups.
 *
 * A record is a key, bytes that depend on its number, and the number, as far as they fit. The
 * oracle sorts (key, number) by qsort. Keys have ties, always.
 */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "random.h"
#include "recsort/file.h"

static uint64_t state = 20261127;

/* A sanitizer of addresses keeps what has been freed; after a fork, one of threads allows no new
 * ones. */
#if defined(__SANITIZE_ADDRESS__)
enum { WATCHES_MEMORY = true };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { WATCHES_MEMORY = true };
#else
enum { WATCHES_MEMORY = false };
#endif
#else
enum { WATCHES_MEMORY = false };
#endif
#if defined(__SANITIZE_THREAD__)
enum { WATCHES_THREADS = true };
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
enum { WATCHES_THREADS = true };
#else
enum { WATCHES_THREADS = false };
#endif
#else
enum { WATCHES_THREADS = false };
#endif

/* ---- Records ---- */

typedef struct example {
  size_t size;     /* of a record: at least 4 */
  uint32_t values; /* different keys */
  recsort_order order;
} example;

typedef struct ranked {
  uint32_t key;
  uint32_t number;
} ranked;

static int by_key(const void *a, const void *b)
{
  const ranked *const x = a, *const y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

static recsort_sorter *open_sorter(const example *e, recsort_schema **schema)
{
  recsort_error error = {0};
  const recsort_field_desc fields[] = {
      {.name = "key", .type = RECSORT_UINT32},
      {.name = "rest", .type = RECSORT_BYTES, .offset = 4, .size = e->size - 4}};
  const recsort_key_desc key = {.path = "key", .order = e->order};
  recsort_schema_desc desc = RECSORT_SCHEMA_DESC_INIT;
  recsort_options options = RECSORT_OPTIONS_INIT;
  recsort_sorter *sorter = NULL;
  desc.record = "Example";
  desc.layout = RECSORT_LAYOUT_EXPLICIT;
  desc.endian = RECSORT_NATIVE_ENDIAN;
  desc.size = e->size;
  desc.fields = fields;
  desc.field_count = e->size > 4 ? 2 : 1;
  desc.keys = &key;
  desc.key_count = 1;
  options.threads = 2;
  if (recsort_schema_create(&desc, NULL, schema, &error) != RECSORT_OK) fail_msg("%s", error.text);
  if (recsort_sorter_create(*schema, &options, &sorter, &error) != RECSORT_OK)
    fail_msg("%s", error.text);
  return sorter;
}

static void fill_record(unsigned char *to, const example *e, uint32_t key, uint32_t number)
{
  memset(to, (int)(number % 251), e->size);
  memcpy(to, &key, 4);
  if (e->size >= 8) memcpy(to + e->size - 4, &number, 4);
}

typedef enum input_order { RANDOM, SORTED, REVERSED, EQUAL } input_order;

static uint32_t key_of(const example *e, input_order order, size_t i, size_t count)
{
  const uint64_t place = order == REVERSED ? count - 1 - i : i;
  if (order == EQUAL) return 7;
  if (order == RANDOM) return (uint32_t)random_below(&state, e->values);
  return (uint32_t)(place * e->values / (count + 1));
}

/* Records, and what the result must be. */
typedef struct job {
  unsigned char *records;
  unsigned char *sorted;
  size_t count;
} job;

static job make_job(const example *e, input_order order, size_t count)
{
  job j = {malloc(count * e->size + 1), malloc(count * e->size + 1), count};
  ranked *const ranks = malloc((count + 1) * sizeof *ranks);
  for (size_t i = 0; i < count; i++) {
    const uint32_t key = key_of(e, order, i, count);
    fill_record(j.records + i * e->size, e, key, (uint32_t)i);
    ranks[i] = (ranked){e->order == RECSORT_DESCENDING ? ~key : key, (uint32_t)i};
  }
  qsort(ranks, count, sizeof *ranks, by_key);
  for (size_t i = 0; i < count; i++)
    memcpy(j.sorted + i * e->size, j.records + ranks[i].number * e->size, e->size);
  free(ranks);
  return j;
}

static void free_job(job *j)
{
  free(j->records);
  free(j->sorted);
}

/* ---- Sorts ---- */

static recsort_file *open_file(recsort_sorter *sorter, uint64_t memory, uint64_t head)
{
  recsort_file_options options = RECSORT_FILE_OPTIONS_INIT;
  recsort_file *file = NULL;
  recsort_error error;
  options.memory = memory;
  options.head = head;
  if (recsort_file_open(sorter, &options, &file, &error) != RECSORT_OK) fail_msg("%s", error.text);
  return file;
}

/* Whether a sort with so much memory takes records. */
static recsort_status takes_records(recsort_sorter *sorter, uint64_t memory, recsort_error *error)
{
  static const unsigned char record[8192] = "record";
  recsort_file_options options = RECSORT_FILE_OPTIONS_INIT;
  recsort_file *file = NULL;
  options.memory = memory;
  recsort_status status = recsort_file_open(sorter, &options, &file, error);
  if (status == RECSORT_OK) status = recsort_file_append(file, record, 1, error);
  recsort_file_close(file);
  return status;
}

/* The least memory, as the refusals name it. */
static uint64_t least_memory(recsort_sorter *sorter)
{
  recsort_error error;
  uint64_t least = 1;
  for (unsigned refusals = 0; refusals < 3; refusals++) {
    unsigned long kib = 0;
    const recsort_status status = takes_records(sorter, least, &error);
    if (status == RECSORT_OK) return least;
    assert_int_equal(status, RECSORT_OUT_OF_MEMORY);
    const char *const number = strstr(error.text, "at least ");
    assert_non_null(number);
    assert_int_equal(sscanf(number, "at least %lu KiB", &kib), 1);
    assert_true((uint64_t)kib << 10 > least);
    least = (uint64_t)kib << 10;
  }
  fail_msg("refused again: %s", error.text);
  return 0;
}

static void append_all(recsort_file *file, const example *e, const job *j)
{
  recsort_error error;
  for (size_t at = 0, part; at < j->count; at += part) {
    part = (size_t)random_below(&state, 2 * (j->count / 7 + 1)) + 1;
    if (part > j->count - at) part = j->count - at;
    if (recsort_file_append(file, j->records + at * e->size, part, &error) != RECSORT_OK)
      fail_msg("%s", error.text);
  }
}

/* Ends the sort, and compares the result. */
static recsort_file_stats take_all(recsort_file *file, const example *e, const job *j,
                                   uint64_t head)
{
  const uint64_t wanted = head != 0 && head < j->count ? head : j->count;
  recsort_file_stats stats;
  recsort_error error;
  const void *records;
  uint64_t got = 0;
  size_t count;
  if (recsort_file_finish(file, &error) != RECSORT_OK) fail_msg("%s", error.text);
  for (;;) {
    if (recsort_file_next(file, &records, &count, &error) != RECSORT_OK) fail_msg("%s", error.text);
    if (count == 0) break;
    assert_true(got + count <= wanted);
    assert_memory_equal(records, j->sorted + got * e->size, count * e->size);
    got += count;
  }
  assert_int_equal(got, wanted);
  assert_int_equal(recsort_file_next(file, &records, &count, &error), RECSORT_OK);
  assert_int_equal(count, 0); /* and stays at the end */
  recsort_file_get_stats(file, &stats, sizeof stats);
  recsort_file_close(file);
  return stats;
}

static recsort_file_stats sort_all(recsort_sorter *sorter, const example *e, const job *j,
                                   uint64_t memory, uint64_t head)
{
  recsort_file *const file = open_file(sorter, memory, head);
  append_all(file, e, j);
  const recsort_file_stats stats = take_all(file, e, j, head);
  assert_int_equal(stats.records, j->count);
  return stats;
}

static const example examples[] = {{4, 1000, RECSORT_ASCENDING},    {8, 50, RECSORT_DESCENDING},
                                   {20, 100000, RECSORT_ASCENDING}, {33, 3, RECSORT_ASCENDING},
                                   {4096, 40, RECSORT_DESCENDING},  {5000, 10, RECSORT_ASCENDING}};

/* From the least memory on, every count sorts as the oracle does. */
static void sorts_with_any_memory(void **unused)
{
  (void)unused;
  for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
    const example *const e = &examples[i];
    recsort_schema *schema;
    recsort_sorter *const sorter = open_sorter(e, &schema);
    const uint64_t least = least_memory(sorter);
    uint64_t runs = 0;
    for (unsigned round = 0; round < 16; round++) {
      const uint64_t memory = least + (round % 4) * (least / 3) + random_below(&state, least);
      const uint64_t most = 4 * memory / e->size;
      job j = make_job(e, (input_order)(round % 4), (size_t)random_below(&state, most) + 1);
      const recsort_file_stats stats = sort_all(sorter, e, &j, memory, 0);
      assert_true(stats.bytes_written >= (stats.runs > 0 ? j.count * e->size : 0));
      runs += stats.runs;
      free_job(&j);
    }
    assert_true(runs > 16);
    recsort_sorter_destroy(sorter);
    recsort_schema_destroy(schema);
  }
}

/* What fits is never written. */
static void keeps_what_fits(void **unused)
{
  const example *const e = &examples[2];
  recsort_schema *schema;
  recsort_sorter *const sorter = open_sorter(e, &schema);
  (void)unused;
  for (size_t count = 0; count < 30000; count = 3 * count + 1) {
    job j = make_job(e, RANDOM, count);
    const recsort_file_stats stats = sort_all(sorter, e, &j, 16 << 20, 0);
    assert_int_equal(stats.runs, 0);
    assert_int_equal(stats.bytes_written, 0);
    free_job(&j);
  }
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

/* More runs than one merge takes: groups are merged, and groups of them. */
static void merges_groups(void **unused)
{
  const example e = {1000, 30, RECSORT_ASCENDING};
  recsort_schema *schema;
  recsort_sorter *const sorter = open_sorter(&e, &schema);
  const uint64_t least = least_memory(sorter);
  (void)unused;
  job j = make_job(&e, RANDOM, (size_t)(16 * least / e.size));
  const recsort_file_stats stats = sort_all(sorter, &e, &j, least, 0);
  assert_true(stats.bytes_written > 3 * j.count * e.size); /* several times */
  free_job(&j);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

/* The first records: few stay in memory, many are merged. */
static void gives_the_head(void **unused)
{
  const example *const e = &examples[2];
  recsort_schema *schema;
  recsort_sorter *const sorter = open_sorter(e, &schema);
  const uint64_t memory = 2 * least_memory(sorter);
  job j = make_job(e, RANDOM, 60000);
  (void)unused;
  for (uint64_t head = 1; head < 100000; head = 3 * head + 1) {
    const recsort_file_stats stats = sort_all(sorter, e, &j, memory, head);
    if (head < 100) assert_int_equal(stats.runs, 0);
    if (head > 10000) assert_true(stats.runs > 0);
  }
  free_job(&j);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

/* ---- Runs of the caller ---- */

typedef struct run {
  const unsigned char *records;
  size_t size, count, at;
  size_t fails_at; /* SIZE_MAX: never */
} run;

static recsort_status read_run(void *context, void *records, size_t capacity, size_t *count,
                               recsort_error *error)
{
  run *const r = context;
  if (r->at >= r->fails_at) {
    snprintf(error->text, sizeof error->text, "the run is gone");
    return RECSORT_IO_ERROR;
  }
  *count = r->count - r->at < capacity ? r->count - r->at : capacity;
  memcpy(records, r->records + r->at * r->size, *count * r->size);
  r->at += *count;
  return RECSORT_OK;
}

/* Sorted runs and appended records, mixed: equal ones come in the order of the calls. */
static void merges_runs_of_the_caller(void **unused)
{
  enum { RUNS = 9 };
  const example *const e = &examples[2];
  recsort_schema *schema;
  recsort_sorter *const sorter = open_sorter(e, &schema);
  const uint64_t least = least_memory(sorter);
  recsort_error error;
  (void)unused;
  for (unsigned round = 0; round < 20; round++) {
    const size_t count = (size_t)random_below(&state, 30000) + RUNS;
    job j = make_job(e, RANDOM, count);
    run runs[RUNS];
    recsort_file *const file = open_file(sorter, 3 * least, 0);
    for (size_t r = 0, at = 0; r < RUNS; r++) {
      const size_t part = r + 1 < RUNS ? (size_t)random_below(&state, count / RUNS) : count - at;
      unsigned char *const records = j.records + at * e->size;
      if (r % 3 == 1) {
        assert_int_equal(recsort_file_append(file, records, part, &error), RECSORT_OK);
      } else { /* sorted by the oracle, so that the numbers keep the order of equal keys */
        ranked *const ranks = malloc((part + 1) * sizeof *ranks);
        unsigned char *const copy = malloc(part * e->size + 1);
        memcpy(copy, records, part * e->size);
        for (size_t i = 0; i < part; i++) {
          memcpy(&ranks[i].key, copy + i * e->size, 4);
          ranks[i].number = (uint32_t)i;
        }
        qsort(ranks, part, sizeof *ranks, by_key);
        for (size_t i = 0; i < part; i++)
          memcpy(records + i * e->size, copy + ranks[i].number * e->size, e->size);
        free(copy);
        free(ranks);
        runs[r] = (run){records, e->size, part, 0, SIZE_MAX};
        assert_int_equal(recsort_file_add_run(file, read_run, &runs[r], &error), RECSORT_OK);
      }
      at += part;
    }
    const recsort_file_stats stats = take_all(file, e, &j, 0);
    assert_int_equal(stats.records, count);
    free_job(&j);
  }
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

/* A sort that must fail: when it is finished, or when its result is taken. */
static void fails(recsort_file *file, recsort_status status, const char *text)
{
  recsort_error error = {0}, again = {0};
  const void *records;
  size_t count = 1;
  recsort_status got = recsort_file_finish(file, &error);
  while (got == RECSORT_OK && count > 0)
    got = recsort_file_next(file, &records, &count, &error);
  assert_int_equal(got, status);
  assert_int_equal(error.status, status);
  if (strstr(error.text, text) == NULL) fail_msg("%s", error.text);
  assert_int_equal(recsort_file_append(file, "12345678", 1, &again), status);
  assert_string_equal(again.text, error.text);
  recsort_file_close(file);
}

/* With the least memory, records are given one at a time. */
static void merges_with_little(void **unused)
{
  const example e = {3 << 20, 5, RECSORT_ASCENDING};
  recsort_schema *schema;
  recsort_sorter *const sorter = open_sorter(&e, &schema);
  job j = make_job(&e, SORTED, 12);
  run runs[3];
  recsort_file *const file = open_file(sorter, 10 << 20, 0);
  (void)unused;
  for (size_t r = 0; r < 3; r++) {
    runs[r] = (run){j.records + 4 * r * e.size, e.size, 4, 0, SIZE_MAX};
    assert_int_equal(recsort_file_add_run(file, read_run, &runs[r], NULL), RECSORT_OK);
  }
  take_all(file, &e, &j, 0);
  recsort_file *const less = open_file(sorter, 7 << 20, 0); /* enough for two, not for three */
  for (size_t r = 0; r < 3; r++)
    assert_int_equal(recsort_file_add_run(less, read_run, &runs[r], NULL), RECSORT_OK);
  fails(less, RECSORT_OUT_OF_MEMORY, "records of 3145728 bytes need at least");
  free_job(&j);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

/* The least memory that merges two runs: records are given one at a time. */
static uint64_t least_of_a_merge(recsort_sorter *sorter)
{
  recsort_file_options options = RECSORT_FILE_OPTIONS_INIT;
  recsort_file *file = NULL;
  recsort_error error;
  unsigned long kib = 0;
  options.memory = 1;
  assert_int_equal(recsort_file_open(sorter, &options, &file, &error), RECSORT_OUT_OF_MEMORY);
  assert_int_equal(sscanf(strstr(error.text, "at least "), "at least %lu KiB", &kib), 1);
  return (uint64_t)kib << 10;
}

static void names_what_is_wrong_with_a_run(void **unused)
{
  const example *const e = &examples[1];
  recsort_schema *schema;
  recsort_sorter *const sorter = open_sorter(e, &schema);
  const uint64_t least = least_memory(sorter),
                 memories[] = {least_of_a_merge(sorter), least, 3 * least};
  recsort_error error;
  (void)unused;
  for (unsigned round = 0; round < 12; round++) {
    const uint64_t memory = memories[round % 3];
    const size_t count = 20000, wrong = (size_t)random_below(&state, count - 1) + 1;
    unsigned char *const records = malloc(count * e->size);
    char text[80];
    for (size_t i = 0; i < count; i++) /* descending */
      fill_record(records + i * e->size, e, (uint32_t)(count - i), (uint32_t)i);
    fill_record(records + wrong * e->size, e, UINT32_MAX, 0);
    run runs[2] = {{records, e->size, wrong, 0, SIZE_MAX}, {records, e->size, count, 0, SIZE_MAX}};
    recsort_file *file = open_file(sorter, memory, 0);
    for (size_t r = 0; r < 2; r++)
      assert_int_equal(recsort_file_add_run(file, read_run, &runs[r], &error), RECSORT_OK);
    snprintf(text, sizeof text, "run 1, record %zu: its key is less than", wrong);
    fails(file, RECSORT_UNSORTED_RUN, text);
    runs[0].at = runs[1].at = 0;
    runs[1].fails_at = wrong;
    runs[1].count = wrong;
    file = open_file(sorter, memory, 0);
    for (size_t r = 0; r < 2; r++)
      assert_int_equal(recsort_file_add_run(file, read_run, &runs[r], &error), RECSORT_OK);
    fails(file, RECSORT_IO_ERROR, "the run is gone");
    free(records);
  }
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

/* ---- What can fail ---- */

/* A record is named by its number among all that were appended: in the first load, in later ones,
 * and if only the first few are kept. */
static void names_what_is_wrong_with_a_record(void **unused)
{
  enum { COUNT = 60000, SIZE = 8 };
  static const recsort_enumerator values[] = {{"red", 0}, {"blue", 1}};
  const recsort_field_desc fields[] = {
      {.name = "key",
       .type = RECSORT_ENUM,
       .base = RECSORT_UINT8,
       .enumerators = values,
       .enumerator_count = 2},
      {.name = "rest", .type = RECSORT_BYTES, .offset = 1, .size = SIZE - 1}};
  const recsort_key_desc key = {.path = "key"};
  recsort_schema_desc desc = RECSORT_SCHEMA_DESC_INIT;
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_error error;
  (void)unused;
  desc.record = "Coloured";
  desc.layout = RECSORT_LAYOUT_EXPLICIT;
  desc.size = SIZE;
  desc.fields = fields;
  desc.field_count = 2;
  desc.keys = &key;
  desc.key_count = 1;
  assert_int_equal(recsort_schema_create(&desc, NULL, &schema, &error), RECSORT_OK);
  assert_int_equal(recsort_sorter_create(schema, NULL, &sorter, &error), RECSORT_OK);
  const uint64_t least = least_memory(sorter);
  unsigned char *const records = calloc(COUNT, SIZE);
  for (size_t wrong = 7; wrong < COUNT; wrong = 2 * wrong + 1) {
    for (uint64_t head = 0; head < 20; head += 10) {
      char text[40];
      recsort_file *const file = open_file(sorter, least, head);
      records[wrong * SIZE] = 9;
      recsort_status status = recsort_file_append(file, records, COUNT, &error);
      if (status == RECSORT_OK) status = recsort_file_finish(file, &error);
      assert_int_equal(status, RECSORT_INVALID_RECORD);
      snprintf(text, sizeof text, "record %zu: ", wrong);
      if (strncmp(error.text, text, strlen(text)) != 0) fail_msg("%s, not %s", error.text, text);
      records[wrong * SIZE] = 0;
      recsort_file_close(file);
    }
  }
  free(records);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

static void refuses_wrong_calls(void **unused)
{
  const example *const e = &examples[1];
  recsort_schema *schema;
  recsort_sorter *const sorter = open_sorter(e, &schema);
  recsort_file_options options = RECSORT_FILE_OPTIONS_INIT;
  recsort_file *file = NULL;
  recsort_error error;
  const void *records;
  size_t count;
  (void)unused;
  assert_int_equal(recsort_file_open(NULL, &options, &file, &error), RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_file_open(sorter, &options, NULL, &error), RECSORT_INVALID_ARGUMENT);
  options.struct_size--;
  assert_int_equal(recsort_file_open(sorter, &options, &file, &error), RECSORT_INVALID_ARGUMENT);
  options.struct_size++;
  options.folder_count = 1;
  assert_int_equal(recsort_file_open(sorter, &options, &file, &error), RECSORT_INVALID_ARGUMENT);
  options.folder_count = RECSORT_FILE_MOST_FOLDERS + 1;
  assert_int_equal(recsort_file_open(sorter, &options, &file, &error), RECSORT_INVALID_ARGUMENT);
  options.folder_count = 0;
  assert_int_equal(recsort_file_append(NULL, "", 1, &error), RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_file_open(sorter, NULL, &file, &error), RECSORT_OK);
  assert_int_equal(recsort_file_next(file, &records, &count, &error), RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_file_append(file, NULL, 1, &error), RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_file_add_run(file, NULL, NULL, &error), RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_file_append(file, "01234567", 1, &error), RECSORT_OK);
  assert_int_equal(recsort_file_finish(file, &error), RECSORT_OK);
  assert_int_equal(recsort_file_append(file, "01234567", 1, &error), RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_file_finish(file, &error), RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_file_next(file, NULL, &count, &error), RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_file_next(file, &records, &count, &error), RECSORT_OK);
  assert_int_equal(count, 1);
  assert_memory_equal(records, "01234567", 8);
  recsort_file_close(file);
  recsort_file_close(NULL);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

static void wants_the_least_memory(void **unused)
{
  (void)unused;
  for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
    const example *const e = &examples[i];
    recsort_schema *schema;
    recsort_sorter *const sorter = open_sorter(e, &schema);
    const uint64_t least = least_memory(sorter);
    assert_int_equal(takes_records(sorter, least - 1024, NULL), RECSORT_OUT_OF_MEMORY);
    recsort_sorter_destroy(sorter);
    recsort_schema_destroy(schema);
  }
}

static void tells_that_a_folder_is_wrong(void **unused)
{
  const example *const e = &examples[2];
  const char *const folder = "/no/such/folder";
  recsort_schema *schema;
  recsort_sorter *const sorter = open_sorter(e, &schema);
  recsort_file_options options = RECSORT_FILE_OPTIONS_INIT;
  recsort_file *file = NULL;
  recsort_error error;
  job j = make_job(e, RANDOM, 50000);
  (void)unused;
  options.memory = least_memory(sorter);
  options.folders = &folder;
  options.folder_count = 1;
  assert_int_equal(recsort_file_open(sorter, &options, &file, &error), RECSORT_OK);
  recsort_status status = recsort_file_append(file, j.records, j.count, &error);
  if (status == RECSORT_OK) status = recsort_file_finish(file, &error);
  assert_int_equal(status, RECSORT_IO_ERROR);
  assert_string_equal(error.text, "/no/such/folder: a temporary file could not be made: No such "
                                  "file or directory");
  recsort_file_close(file);
  free_job(&j);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

/* In a child, whose files can have only so many bytes: as on a full disk. */
static void tells_that_a_disk_is_full(void **unused)
{
  const example *const e = &examples[2];
  int status;
  (void)unused;
  if (WATCHES_THREADS) skip();
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    recsort_schema *schema;
    recsort_sorter *const sorter = open_sorter(e, &schema);
    const struct rlimit limit = {300000, 300000};
    recsort_error error = {0};
    job j = make_job(e, RANDOM, 50000);
    recsort_file *const file = open_file(sorter, least_memory(sorter), 0);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    recsort_status got = recsort_file_append(file, j.records, j.count, &error);
    if (got == RECSORT_OK) got = recsort_file_finish(file, &error);
    _exit(got == RECSORT_IO_ERROR && strstr(error.text, "no room for a temporary file") ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

/* The peak of a process that sorts 4 times its limit. */
static void keeps_its_limit(void **unused)
{
  const example *const e = &examples[2];
  int status;
  (void)unused;
  if (WATCHES_MEMORY || WATCHES_THREADS) skip();
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    enum { MEMORY = 64 << 20, CHUNK = 1000 };
    unsigned char chunk[CHUNK * 20];
    recsort_schema *schema;
    recsort_sorter *const sorter = open_sorter(e, &schema);
    struct rusage before, after;
    const void *records;
    size_t count = 1;
    uint64_t got = 0;
    recsort_status failed = RECSORT_OK;
    getrusage(RUSAGE_SELF, &before);
    recsort_file *const file = open_file(sorter, MEMORY, 0);
    const size_t chunks = (size_t)4 * MEMORY / sizeof chunk;
    for (size_t i = 0; i < chunks && failed == RECSORT_OK; i++) {
      for (size_t n = 0; n < CHUNK; n++)
        fill_record(chunk + n * e->size, e, (uint32_t)next_random(&state), (uint32_t)n);
      failed = recsort_file_append(file, chunk, CHUNK, NULL);
    }
    if (failed == RECSORT_OK) failed = recsort_file_finish(file, NULL);
    for (; count > 0 && failed == RECSORT_OK; got += count)
      failed = recsort_file_next(file, &records, &count, NULL);
    getrusage(RUSAGE_SELF, &after);
    const long grown = after.ru_maxrss - before.ru_maxrss, most = MEMORY / 1024 * 101 / 100 + 8192;
    if (grown > most) fprintf(stderr, "it took %ld KiB\n", grown);
    _exit(failed != RECSORT_OK || got != chunks * CHUNK || grown > most);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static size_t files_in(const char *folder)
{
  size_t count = 0;
  DIR *const open = opendir(folder);
  assert_non_null(open);
  for (const struct dirent *entry; (entry = readdir(open)) != NULL;)
    count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  closedir(open);
  return count;
}

/* Both folders are used; no file in them has a name, and none is left. */
static void leaves_no_names(void **unused)
{
  const example *const e = &examples[2];
  char folders[2][32] = {"test-file-XXXXXX", "test-file-XXXXXX"};
  const char *const names[] = {mkdtemp(folders[0]), mkdtemp(folders[1])};
  recsort_schema *schema;
  recsort_sorter *const sorter = open_sorter(e, &schema);
  recsort_file_options options = RECSORT_FILE_OPTIONS_INIT;
  recsort_file *file = NULL;
  recsort_error error;
  job j = make_job(e, RANDOM, 50000);
  (void)unused;
  options.memory = least_memory(sorter);
  options.folders = names;
  options.folder_count = 2;
  assert_int_equal(recsort_file_open(sorter, &options, &file, &error), RECSORT_OK);
  append_all(file, e, &j);
  assert_int_equal(files_in(folders[0]) + files_in(folders[1]), 0);
  take_all(file, e, &j, 0);
  assert_int_equal(files_in(folders[0]) + files_in(folders[1]), 0);
  assert_int_equal(rmdir(folders[0]) | rmdir(folders[1]), 0);
  free_job(&j);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

/* ---- Whole files ---- */

static void write_file(const char *path, const void *data, size_t size)
{
  FILE *const file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static void has(const char *path, const void *data, size_t size)
{
  unsigned char *const got = malloc(size + 2);
  FILE *const file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fread(got, 1, size + 2, file), size);
  assert_memory_equal(got, data, size);
  fclose(file);
  free(got);
}

/* The page cache has none of a file of a disk. */
static void forget(const char *path)
{
  const int fd = open(path, O_RDONLY);
  assert_true(fd >= 0);
  assert_int_equal(fsync(fd) | posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
  close(fd);
}

/* Another process writes to a pipe. */
static pid_t write_pipe(const char *path, const void *data, size_t size)
{
  assert_int_equal(mkfifo(path, 0600), 0);
  const pid_t process = fork();
  assert_true(process >= 0);
  if (process > 0) return process;
  const int fd = open(path, O_WRONLY);
  const unsigned char *at = data;
  for (ssize_t put = 0; size > 0 && put >= 0; at += put, size -= (size_t)put)
    put = write(fd, at, size < 12345 ? size : 12345);
  _exit(size == 0 ? 0 : 1);
}

/* Inputs of several pieces: in the page cache, in part, not at all; and by pipes, whose writers may
 * have gone. */
static void reads_pieces(void **unused)
{
  const example *const e = &examples[2];
  char folder[] = "test-file-XXXXXX";
  recsort_schema *schema;
  recsort_sorter *const sorter = open_sorter(e, &schema);
  const char *const inputs[] = {"cold", "pipe", "short", "warm", "mixed"};
  recsort_file_options options = RECSORT_FILE_OPTIONS_INIT;
  recsort_error error;
  int status;
  (void)unused;
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chdir(folder), 0);
  job j = make_job(e, RANDOM, 400001);
  const size_t all = j.count * e->size, part = j.count / 4 * e->size;
  options.memory = 2 * least_memory(sorter);
  write_file("cold", j.records, part);
  const pid_t writers[] = {write_pipe("pipe", j.records + part, part - e->size),
                           write_pipe("short", j.records + 2 * part - e->size, e->size)};
  write_file("warm", j.records + 2 * part, part);
  write_file("mixed", j.records + 3 * part, all - 3 * part);
  forget("cold");
  forget("mixed");
  FILE *const mixed = fopen("mixed", "rb");
  char some[100000];
  assert_int_equal(fread(some, 1, sizeof some, mixed), sizeof some);
  fclose(mixed);
  assert_int_equal(recsort_file_sort(sorter, inputs, 5, "out", &options, &error), RECSORT_OK);
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(waitpid(writers[i], &status, 0), writers[i]);
    assert_int_equal(status, 0);
  }
  has("out", j.sorted, all);
  assert_int_equal(unlink("cold") | unlink("pipe") | unlink("warm") | unlink("mixed"), 0);
  assert_int_equal(unlink("out") | unlink("short") | chdir(".."), 0);
  assert_int_equal(rmdir(folder), 0);
  free_job(&j);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

/* With files and without, of several inputs, onto one of them, by a link; its mode and attributes
 * stay, and what an earlier sort left goes. */
static void sorts_whole_files(void **unused)
{
  const example *const e = &examples[2];
  char folder[] = "test-file-XXXXXX";
  recsort_schema *schema;
  recsort_sorter *const sorter = open_sorter(e, &schema);
  const uint64_t least = least_memory(sorter);
  const char *const inputs[] = {"a", "b", "c"};
  recsort_file_options options = RECSORT_FILE_OPTIONS_INIT;
  recsort_error error;
  struct stat status;
  (void)unused;
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chdir(folder), 0);
  for (size_t count = 3; count < 100000; count *= 11) {
    job j = make_job(e, RANDOM, count);
    const size_t third = count / 3 * e->size, all = count * e->size;
    for (unsigned i = 0; i < 2; i++) {
      options.memory = i == 0 ? least : 64 << 20;
      write_file("a", j.records, third);
      write_file("b", j.records + third, third);
      write_file("c", j.records + 2 * third, all - 2 * third);
      assert_int_equal(recsort_file_sort(sorter, inputs, 3, "out", &options, &error), RECSORT_OK);
      has("out", j.sorted, all);
      write_file("place", j.records, all);
      assert_int_equal(chmod("place", 0640), 0);
      const bool attributes = setxattr("place", "user.tag", "t", 1, 0) == 0;
      write_file(".place.recsort-0", "left", 4); /* as by a process that was killed */
      assert_int_equal(symlink("place", "link"), 0);
      const char *const link = "link";
      assert_int_equal(recsort_file_sort(sorter, &link, 1, link, &options, &error), RECSORT_OK);
      has("place", j.sorted, all);
      assert_int_equal(lstat("link", &status), 0);
      assert_true(S_ISLNK(status.st_mode));
      assert_int_equal(stat("place", &status), 0);
      assert_int_equal(status.st_mode & 07777, 0640);
      char tag;
      if (attributes) assert_int_equal(getxattr("place", "user.tag", &tag, 1), 1);
      assert_int_equal(unlink("link") | unlink("out") | unlink("place"), 0);
    }
    free_job(&j);
  }
  assert_int_equal(recsort_file_sort(sorter, NULL, 0, "out", NULL, &error), RECSORT_OK);
  has("out", "", 0);
  assert_int_equal(unlink("a") | unlink("b") | unlink("c") | unlink("out"), 0);
  assert_int_equal(chdir(".."), 0);
  assert_int_equal(rmdir(folder), 0); /* nothing is left */
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

static recsort_status append_byte(void *context, recsort_file_phase phase, uint64_t done,
                                  recsort_error *error)
{
  FILE *const file = fopen("in", "ab");
  (void)context, (void)phase, (void)done, (void)error;
  assert_non_null(file);
  assert_int_equal(fputc(1, file) == EOF || fclose(file) != 0, 0);
  return RECSORT_OK;
}

/* An input may grow, the kernel may make it, and a pipe may stay open after the sort has failed. */
static void reads_unusual_files(void **unused)
{
  const example *const e = &examples[1];
  char folder[] = "test-file-XXXXXX";
  recsort_schema *schema;
  recsort_sorter *const sorter = open_sorter(e, &schema);
  const char *const in = "in", *const made = "/proc/self/auxv", *const pipe = "pipe",
                    *const missing = "missing";
  recsort_file_options options = RECSORT_FILE_OPTIONS_INIT;
  recsort_error error;
  (void)unused;
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chdir(folder), 0);
  job j = make_job(e, RANDOM, 100000);
  const size_t all = j.count * e->size;
  options.memory = 2 * least_memory(sorter);
  options.progress = append_byte;
  write_file("in", j.records, all);
  assert_int_equal(recsort_file_sort(sorter, &in, 1, "out", &options, &error), RECSORT_IO_ERROR);
  assert_string_equal(error.text, "in: it was changed while it was being read");
  options.progress = NULL;
  assert_int_equal(recsort_file_sort(sorter, &made, 1, "out", &options, &error), RECSORT_OK);
  struct stat status;
  assert_int_equal(stat("out", &status), 0);
  assert_true(status.st_size > 0);
  assert_int_equal(mkfifo(pipe, 0600), 0);
  const int fd = open(pipe, O_RDWR);
  assert_true(fd >= 0);
  assert_int_equal(fcntl(fd, F_SETPIPE_SZ, 1 << 20) >= 1 << 20, 1);
  for (unsigned i = 0; i < 2; i++)
    assert_int_equal(write(fd, j.records, 512 << 10), 512 << 10);
  options.folders = &missing;
  options.folder_count = 1;
  assert_int_equal(recsort_file_sort(sorter, &pipe, 1, "out", &options, &error), RECSORT_IO_ERROR);
  close(fd);
  assert_int_equal(unlink(pipe) | unlink("in") | unlink("out") | chdir(".."), 0);
  assert_int_equal(rmdir(folder), 0);
  free_job(&j);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

/* Each failure says what is wrong, and the output is the old one. */
static void leaves_old_files(void **unused)
{
  const example *const e = &examples[1];
  char folder[] = "test-file-XXXXXX";
  recsort_schema *schema;
  recsort_sorter *const sorter = open_sorter(e, &schema);
  recsort_error error;
  (void)unused;
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chdir(folder), 0);
  write_file("odd", "123456789", 9);
  write_file("out", "old", 3);
  static const struct {
    const char *input, *output, *text;
    recsort_status status;
  } wrong[] = {
      {"odd", "out", "odd: its size is not a multiple of the record size (8)", RECSORT_IO_ERROR},
      {"none", "out", "none: No such file or directory", RECSORT_IO_ERROR},
      {".", "out", ".: Is a directory", RECSORT_IO_ERROR},
      {"out", "none/out", "none/out: No such file or directory", RECSORT_IO_ERROR},
      {"out", ".", ".: it is no regular file", RECSORT_INVALID_ARGUMENT},
      {"out", "/dev/null", "/dev/null: it is no regular file", RECSORT_INVALID_ARGUMENT}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_int_equal(recsort_file_sort(sorter, &wrong[i].input, 1, wrong[i].output, NULL, &error),
                     wrong[i].status);
    assert_string_equal(error.text, wrong[i].text);
    has("out", "old", 3);
  }
  assert_int_equal(recsort_file_sort(sorter, NULL, 1, "out", NULL, &error),
                   RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_file_sort(sorter, NULL, 0, NULL, NULL, &error),
                   RECSORT_INVALID_ARGUMENT);
  assert_int_equal(files_in("."), 2);
  assert_int_equal(unlink("odd") | unlink("out"), 0);
  assert_int_equal(chdir(".."), 0);
  assert_int_equal(rmdir(folder), 0);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

/* ---- Records, a run, and more records ---- */

static recsort_status read_nothing(void *context, void *records, size_t capacity, size_t *count,
                                   recsort_error *error)
{
  (void)context, (void)records, (void)capacity, (void)error;
  *count = 0;
  return RECSORT_OK;
}

static void appends_behind_a_run(void **unused)
{
  const example e = {20, 16, RECSORT_ASCENDING};
  recsort_schema *schema;
  recsort_sorter *const sorter = open_sorter(&e, &schema);
  recsort_file_options options = RECSORT_FILE_OPTIONS_INIT;
  recsort_file *file = NULL;
  (void)unused;
  options.memory = 2 * least_memory(sorter);
  job j = make_job(&e, RANDOM, (size_t)(12 * options.memory / e.size));
  const size_t half = j.count / 2;
  assert_int_equal(recsort_file_open(sorter, &options, &file, NULL), RECSORT_OK);
  assert_int_equal(recsort_file_append(file, j.records, half, NULL), RECSORT_OK);
  assert_int_equal(recsort_file_add_run(file, read_nothing, NULL, NULL), RECSORT_OK);
  assert_int_equal(recsort_file_append(file, j.records + half * e.size, j.count - half, NULL),
                   RECSORT_OK);
  take_all(file, &e, &j, 0);
  free_job(&j);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

/* ---- Progress ---- */

typedef struct seen {
  recsort_file_phase phase;
  uint64_t done;
  size_t calls[3];
  uint64_t space; /* bytes of temporary files, at the most */
} seen;

/* Bytes on the disk of the files without a name that this process has open. */
static uint64_t nameless_space(void)
{
  uint64_t space = 0;
  struct stat status;
  DIR *const open = opendir("/proc/self/fd");
  assert_non_null(open);
  for (const struct dirent *entry; (entry = readdir(open)) != NULL;) {
    if (fstatat(dirfd(open), entry->d_name, &status, 0) == 0 && S_ISREG(status.st_mode) &&
        status.st_nlink == 0)
      space += (uint64_t)status.st_blocks * 512;
  }
  closedir(open);
  return space;
}

static recsort_status see(void *context, recsort_file_phase phase, uint64_t done,
                          recsort_error *error)
{
  seen *const s = context;
  assert_true(phase > s->phase || (phase == s->phase && done >= s->done));
  s->phase = phase;
  s->done = done;
  s->calls[phase]++;
  const uint64_t space = nameless_space();
  if (space > s->space) s->space = space;
  (void)error;
  return RECSORT_OK;
}

/* ---- Its end ---- */

typedef struct ending {
  recsort_file_phase phase;
  uint64_t done;
} ending;

static recsort_status end_there(void *context, recsort_file_phase phase, uint64_t done,
                                recsort_error *error)
{
  const ending *const end = context;
  if (phase != end->phase || done < end->done) return RECSORT_OK;
  (void)snprintf(error->text, sizeof error->text, "ended at %u", (unsigned)phase);
  return RECSORT_DEVICE_ERROR;
}

static void progress_ends_it(void **unused)
{
  const example e = {1000, 30, RECSORT_ASCENDING};
  recsort_schema *schema;
  recsort_sorter *const sorter = open_sorter(&e, &schema);
  recsort_file_options options = RECSORT_FILE_OPTIONS_INIT;
  (void)unused;
  options.memory = 2 * least_memory(sorter);
  options.most_runs = 2;
  options.progress = end_there;
  job j = make_job(&e, RANDOM, (size_t)(8 * options.memory / e.size));
  for (ending end = {RECSORT_FILE_RUNS, 0}; end.phase <= RECSORT_FILE_MERGE; end.phase++) {
    char text[32];
    recsort_file *file = NULL;
    recsort_error error = {0};
    const void *records;
    size_t count = 1;
    end.done = end.phase == RECSORT_FILE_MERGE ? j.count / 2 : 0;
    options.context = &end;
    assert_int_equal(recsort_file_open(sorter, &options, &file, NULL), RECSORT_OK);
    recsort_status status = recsort_file_append(file, j.records, j.count, &error);
    if (!status) status = recsort_file_finish(file, &error);
    while (!status && count > 0)
      status = recsort_file_next(file, &records, &count, &error);
    (void)snprintf(text, sizeof text, "ended at %u", (unsigned)end.phase);
    assert_int_equal(status, RECSORT_DEVICE_ERROR);
    assert_int_equal(error.status, RECSORT_DEVICE_ERROR);
    assert_string_equal(error.text, text);
    assert_int_equal(recsort_file_next(file, &records, &count, &error), RECSORT_DEVICE_ERROR);
    recsort_file_close(file);
  }
  free_job(&j);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

static void tells_how_far_it_is(void **unused)
{
  const example e = {1000, 30, RECSORT_ASCENDING};
  recsort_schema *schema;
  recsort_sorter *const sorter = open_sorter(&e, &schema);
  recsort_file_options options = RECSORT_FILE_OPTIONS_INIT;
  recsort_file_stats stats;
  seen s = {0};
  recsort_file *file = NULL;
  (void)unused;
  options.memory = 2 * least_memory(sorter); /* runs of many sectors */
  options.most_runs = 2;
  options.progress = see;
  options.context = &s;
  job j = make_job(&e, RANDOM, (size_t)(8 * options.memory / e.size));
  assert_int_equal(recsort_file_open(sorter, &options, &file, NULL), RECSORT_OK);
  append_all(file, &e, &j);
  recsort_file_get_stats(file, &stats, sizeof stats); /* while a load is sorted and written */
  assert_int_equal(stats.records, j.count);
  assert_true(stats.runs > 10 && stats.bytes_written > 0);
  take_all(file, &e, &j, 0);
  assert_true(s.calls[RECSORT_FILE_RUNS] > 10 && s.calls[RECSORT_FILE_GROUPS] > 10);
  assert_true(s.calls[RECSORT_FILE_MERGE] > 10);
  assert_int_equal(s.done, j.count);
  assert_true(s.space <= j.count * e.size / 10 * 11); /* what is read makes room */
  free_job(&j);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sorts_with_any_memory),
      cmocka_unit_test(keeps_what_fits),
      cmocka_unit_test(merges_groups),
      cmocka_unit_test(gives_the_head),
      cmocka_unit_test(merges_runs_of_the_caller),
      cmocka_unit_test(merges_with_little),
      cmocka_unit_test(names_what_is_wrong_with_a_run),
      cmocka_unit_test(names_what_is_wrong_with_a_record),
      cmocka_unit_test(refuses_wrong_calls),
      cmocka_unit_test(wants_the_least_memory),
      cmocka_unit_test(tells_that_a_folder_is_wrong),
      cmocka_unit_test(tells_that_a_disk_is_full),
      cmocka_unit_test(keeps_its_limit),
      cmocka_unit_test(leaves_no_names),
      cmocka_unit_test(sorts_whole_files),
      cmocka_unit_test(reads_pieces),
      cmocka_unit_test(reads_unusual_files),
      cmocka_unit_test(leaves_old_files),
      cmocka_unit_test(appends_behind_a_run),
      cmocka_unit_test(tells_how_far_it_is),
      cmocka_unit_test(progress_ends_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
