/* Marks, splitters and parts: several ranks in one process, and an oracle that compares the values
 * that the keys were made of, the rank and the position. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/partition.h"
#include "support/failing_allocator.h"
#include "support/native.h"
#include "support/open.h"
#include "support/random.h"
#include "support/refused.h"

/* Each key is made of `value`: 32 bits, 64, and 128. */
typedef struct item {
  uint64_t value;
  uint32_t rank;
  uint32_t position;
  float less; /* descending */
  uint8_t kind;
  uint8_t unused[3];
  int64_t large;
  unsigned char wide[16];
} item;

static const char schema_text[] = "record: Item\n" NATIVE "fields:\n"
                                  "  - {name: value, type: uint64}\n"
                                  "  - {name: rank, type: uint32}\n"
                                  "  - {name: position, type: uint32}\n"
                                  "  - {name: less, type: float32}\n"
                                  "  - {name: kind, type: enum, base: uint8, values: [x]}\n"
                                  "  - {name: unused, type: bytes, count: 3}\n"
                                  "  - {name: large, type: int64}\n"
                                  "  - {name: wide, type: bytes, count: 16}\n";

enum { KEYS = 4, MOST = 200000, RANKS = 5 };
static const recsort_key_desc keys[KEYS] = {{.path = "less", .order = RECSORT_DESCENDING},
                                            {.path = "large"},
                                            {.path = "wide"},
                                            {.path = "kind"}};
enum { OF_KIND = 3 };
static const size_t key_sizes[KEYS] = {4, 8, 16, 4};

static recsort_sorter *open_sorter(size_t key, unsigned threads, const recsort_allocator *allocator)
{
  const recsort_options options = {.struct_size = sizeof options,
                                   .record_size = sizeof(item),
                                   .keys = &keys[key],
                                   .key_count = 1,
                                   .threads = threads,
                                   .allocator = allocator,
                                   .plugin = "cpu"};
  return sorter_of(schema_text, &options);
}

/* ---- Inputs ---- */

static uint64_t at_random(uint64_t *random, size_t i, size_t count)
{
  (void)i;
  return random_below(random, count / 2 + 1);
}

static uint64_t few_values(uint64_t *random, size_t i, size_t count)
{
  (void)i, (void)count;
  return random_below(random, 3);
}

static uint64_t all_equal(uint64_t *random, size_t i, size_t count)
{
  (void)random, (void)i, (void)count;
  return 7;
}

static uint64_t ascending(uint64_t *random, size_t i, size_t count)
{
  (void)random, (void)count;
  return i / 3;
}

/* Half of all values are 0, a quarter 1 ... */
static uint64_t skewed(uint64_t *random, size_t i, size_t count)
{
  uint64_t value = 0;
  (void)i, (void)count;
  while (next_random(random) & 1)
    value++;
  return value;
}

typedef uint64_t input(uint64_t *random, size_t i, size_t count);
static input *const inputs[] = {at_random, few_values, all_equal, ascending, skewed};
enum { INPUTS = sizeof inputs / sizeof *inputs };

static item *make_items(input *values, size_t count, uint32_t rank)
{
  item *const items = calloc(count + !count, sizeof *items);
  uint64_t random = 1 + rank;
  for (size_t i = 0; i < count; i++) {
    item *const one = &items[i];
    *one = (item){.value = values(&random, i, count), .rank = rank, .position = (uint32_t)i};
    one->less = 3.0f - (float)one->value;
    one->large = (int64_t)one->value * 1000003 - 5;
    for (size_t byte = 0; byte < 8; byte++)
      one->wide[15 - byte] = (unsigned char)(one->value >> 8 * byte);
  }
  return items;
}

/* ---- The oracle ---- */

static int compare_values(const void *a, const void *b)
{
  const item *const x = a, *const y = b;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return (x->position > y->position) - (x->position < y->position);
}

/* Sorts a shard; its records then have the positions that they stand at. */
static void sort_items(item *items, size_t count)
{
  qsort(items, count, sizeof *items, compare_values);
  for (size_t i = 0; i < count; i++)
    items[i].position = (uint32_t)i;
}

static size_t count_before(const item *items, size_t count, const item *splitter)
{
  size_t before = 0;
  for (size_t i = 0; i < count; i++)
    before += compare_values(&items[i], splitter) < 0;
  return before;
}

/* ---- Several ranks ---- */

typedef struct job {
  recsort_sorter *sorter;
  size_t each; /* positions of a rank */
  item *items[RANKS];
  size_t counts[RANKS];
} job;

static job open_job(size_t key, input *values, size_t each, unsigned threads)
{
  job j = {.sorter = open_sorter(key, threads, NULL), .each = each};
  for (uint32_t r = 0; r < RANKS; r++) {
    j.counts[r] = each;
    j.items[r] = make_items(values, each, r);
  }
  return j;
}

static void close_job(job *j)
{
  for (size_t r = 0; r < RANKS; r++)
    free(j->items[r]);
  recsort_sorter_destroy(j->sorter);
}

/* The records of a rank, as arguments. */
#define SHARD(j, r) (j)->items[r], (j)->counts[r], (r) * (j)->each

/* The position at the end of a mark, most significant byte first. */
static uint64_t position_in(const unsigned char *mark, size_t key_size)
{
  uint64_t position = 0;
  for (size_t i = 0; i < RECSORT_MARK_EXTRA; i++)
    position = position << 8 | mark[key_size + i];
  return position;
}

static const item *marked(const job *j, const unsigned char *mark)
{
  const uint64_t position = position_in(mark, recsort_key_size(j->sorter));
  assert_true(position < RANKS * j->each);
  return &j->items[position / j->each][position % j->each];
}

/* Marks of all records of all ranks. */
static unsigned char *mark_all(const job *j, size_t *count)
{
  const size_t size = recsort_key_size(j->sorter) + RECSORT_MARK_EXTRA;
  unsigned char *const marks = malloc(RANKS * j->counts[0] * size);
  *count = 0;
  for (uint32_t r = 0; r < RANKS; r++) {
    assert_int_equal(
        recsort_partition_sample(j->sorter, SHARD(j, r), j->counts[r], marks + *count * size, NULL),
        RECSORT_OK);
    *count += j->counts[r];
  }
  return marks;
}

/* ---- Tests ---- */

static void test_marks_have_the_order_of_the_records(void **state)
{
  (void)state;
  for (size_t key = 0; key < OF_KIND; key++) {
    job j = open_job(key, few_values, 40, 1);
    const size_t size = recsort_key_size(j.sorter) + RECSORT_MARK_EXTRA;
    size_t count;
    unsigned char *const marks = mark_all(&j, &count);
    assert_int_equal(size, key_sizes[key] + 8);
    for (size_t a = 0; a < count; a++)
      for (size_t b = 0; b < count; b++) {
        const int found = memcmp(marks + a * size, marks + b * size, size);
        const int right = compare_values(&j.items[a / 40][a % 40], &j.items[b / 40][b % 40]);
        assert_int_equal((found > 0) - (found < 0), right);
      }
    free(marks);
    close_job(&j);
  }
}

static void test_samples_are_at_equal_distances(void **state)
{
  job j = open_job(0, at_random, 100, 1);
  unsigned char marks[100 * 12];
  (void)state;
  for (size_t samples = 1; samples <= 100; samples++) {
    assert_int_equal(recsort_partition_sample(j.sorter, SHARD(&j, 2), samples, marks, NULL),
                     RECSORT_OK);
    for (size_t i = 0; i < samples; i++) {
      const size_t at = marked(&j, marks + 12 * i)->position;
      const double distance =
          (double)(2 * at + 1) / 2 - (2.0 * (double)i + 1) * 50 / (double)samples;
      assert_true(distance > -1 && distance < 1);
    }
  }
  assert_int_equal(recsort_partition_sample(j.sorter, j.items[2] + 50, 1, 250, 1, marks, NULL),
                   RECSORT_OK);
  assert_ptr_equal(marked(&j, marks), &j.items[2][50]);
  close_job(&j);
}

/* The parts of sorted shards, cut by splitters of regular samples, are no larger than
 * partition.h says; and all records are where the oracle says. */
static void check_regular_sampling(const job *j, size_t samples)
{
  const size_t size = recsort_key_size(j->sorter) + RECSORT_MARK_EXTRA, share = j->counts[0];
  unsigned char *const marks = malloc(RANKS * samples * size);
  unsigned char *const splitters = malloc(RANKS * size);
  size_t cuts[RANKS], before[RANKS + 1] = {0};
  for (uint32_t r = 0; r < RANKS; r++)
    assert_int_equal(
        recsort_partition_sample(j->sorter, SHARD(j, r), samples, marks + r * samples * size, NULL),
        RECSORT_OK);
  assert_int_equal(
      recsort_partition_splitters(j->sorter, marks, RANKS * samples, splitters, RANKS - 1, NULL),
      RECSORT_OK);
  for (uint32_t r = 0; r < RANKS; r++) {
    assert_int_equal(
        recsort_partition_sorted(j->sorter, SHARD(j, r), splitters, RANKS - 1, cuts, NULL),
        RECSORT_OK);
    for (size_t i = 0; i + 1 < RANKS; i++) {
      const item *const splitter = marked(j, splitters + i * size);
      assert_int_equal(cuts[i], count_before(j->items[r], share, splitter));
      before[i + 1] += cuts[i];
    }
  }
  before[RANKS] = RANKS * share;
  for (size_t i = 0; i < RANKS; i++) {
    assert_true(before[i] <= before[i + 1]);
    assert_true(before[i + 1] - before[i] <= share + share * (RANKS + 1) / samples + 3 * RANKS);
  }
  free(splitters);
  free(marks);
}

static void test_regular_samples_bound_the_parts(void **state)
{
  static const size_t sizes[] = {40, 1000, 5000}, samples[] = {4, 40, 40};
  (void)state;
  for (size_t key = 0; key < OF_KIND; key++)
    for (size_t i = 0; i < INPUTS; i++)
      for (size_t n = 0; n < 3; n++) {
        job j = open_job(key, inputs[i], sizes[n], 2);
        for (uint32_t r = 0; r < RANKS; r++)
          sort_items(j.items[r], j.counts[r]);
        check_regular_sampling(&j, samples[n]);
        close_job(&j);
      }
}

/* Records that all have one key are divided evenly. */
static void test_equal_keys_are_divided_evenly(void **state)
{
  enum { EACH = 1000 };
  job j = open_job(1, all_equal, EACH, 2);
  const size_t size = recsort_key_size(j.sorter) + RECSORT_MARK_EXTRA;
  size_t count, cuts[RANKS], before[RANKS - 1] = {0};
  unsigned char *const marks = mark_all(&j, &count), splitters[(RANKS - 1) * 16];
  (void)state;
  assert_int_equal(recsort_partition_splitters(j.sorter, marks, count, splitters, RANKS - 1, NULL),
                   RECSORT_OK);
  for (uint32_t r = 0; r < RANKS; r++) {
    assert_int_equal(
        recsort_partition_sorted(j.sorter, SHARD(&j, r), splitters, RANKS - 1, cuts, NULL),
        RECSORT_OK);
    for (size_t i = 0; i < RANKS - 1; i++)
      before[i] += cuts[i];
  }
  for (size_t i = 0; i < RANKS - 1; i++) {
    assert_int_equal(before[i], (i + 1) * EACH);
    assert_ptr_equal(marked(&j, splitters + i * size), &j.items[i + 1][0]);
  }
  free(marks);
  close_job(&j);
}

/* Many splitters and more than one thread: as with few and one. */
static void test_threads_cut_alike(void **state)
{
  job j = open_job(1, few_values, 3000, 4);
  size_t *const cuts = malloc(3000 * sizeof *cuts);
  unsigned char *const marks = malloc(3000 * (recsort_key_size(j.sorter) + RECSORT_MARK_EXTRA));
  (void)state;
  sort_items(j.items[1], 3000);
  assert_int_equal(recsort_partition_sample(j.sorter, SHARD(&j, 1), 3000, marks, NULL), RECSORT_OK);
  assert_int_equal(recsort_partition_sorted(j.sorter, SHARD(&j, 1), marks, 3000, cuts, NULL),
                   RECSORT_OK);
  for (size_t i = 0; i < 3000; i++)
    assert_int_equal(cuts[i], i);
  free(marks);
  free(cuts);
  close_job(&j);
}

/* ---- Parts ---- */

/* The parts of one shard that is not sorted, by splitters that other shards have too. */
static void check_partition(const job *j, const unsigned char *splitters, size_t splitter_count,
                            uint32_t r)
{
  const size_t count = j->counts[r], size = recsort_key_size(j->sorter) + RECSORT_MARK_EXTRA;
  item *const moved = malloc((count + !count) * sizeof *moved);
  size_t *const offsets = malloc((splitter_count + 2) * sizeof *offsets);
  size_t *const only = malloc((splitter_count + 2) * sizeof *only);
  assert_int_equal(recsort_partition_records(j->sorter, SHARD(j, r), splitters, splitter_count,
                                             moved, offsets, NULL),
                   RECSORT_OK);
  assert_int_equal(recsort_partition_records(j->sorter, SHARD(j, r), splitters, splitter_count,
                                             NULL, only, NULL),
                   RECSORT_OK);
  assert_memory_equal(only, offsets, (splitter_count + 2) * sizeof *offsets);
  assert_int_equal(offsets[0], 0);
  assert_int_equal(offsets[splitter_count + 1], count);
  for (size_t part = 0; part <= splitter_count; part++)
    for (size_t i = offsets[part]; i < offsets[part + 1]; i++) {
      assert_memory_equal(&moved[i], &j->items[r][moved[i].position], sizeof *moved);
      if (part > 0)
        assert_true(compare_values(marked(j, splitters + (part - 1) * size), &moved[i]) <= 0);
      if (part < splitter_count)
        assert_true(compare_values(&moved[i], marked(j, splitters + part * size)) < 0);
      if (i > offsets[part]) assert_true(moved[i - 1].position < moved[i].position);
    }
  free(only);
  free(offsets);
  free(moved);
}

static void test_parts_are_right(void **state)
{
  static const size_t sizes[] = {1, 30, 40000}, splitter_counts[] = {0, 1, 4, 150};
  (void)state;
  for (size_t key = 0; key < OF_KIND; key++)
    for (size_t i = 0; i < INPUTS; i++)
      for (size_t n = 0; n < (key == i % OF_KIND ? 3 : 2); n++)
        for (size_t s = 0; s < 4; s++) {
          job j = open_job(key, inputs[i], sizes[n], 4);
          unsigned char splitters[150 * 24];
          size_t count;
          unsigned char *const marks = mark_all(&j, &count);
          assert_int_equal(recsort_partition_splitters(j.sorter, marks, count, splitters,
                                                       splitter_counts[s], NULL),
                           RECSORT_OK);
          for (uint32_t r = 0; r < RANKS; r += 2)
            check_partition(&j, splitters, splitter_counts[s], r);
          j.counts[1] = 0;
          if (sizes[n] < 100 && splitter_counts[s] == 0) check_partition(&j, splitters, 0, 1);
          free(marks);
          close_job(&j);
        }
}

/* Each thread has a count for each part; many parts may take more memory than the records. */
static void test_memory_of_parts(void **state)
{
  enum { COUNT = 40000, SPLITTERS = 20000, SMALL = 2048 };
  item *const items = make_items(at_random, COUNT, 0);
  unsigned char *const marks = malloc(COUNT * 16), *const splitters = malloc(SPLITTERS * 16);
  size_t *const offsets = malloc((SPLITTERS + 2) * sizeof *offsets);
  (void)state;
  for (unsigned threads = 1; threads <= 2; threads++)
    for (size_t some = 3; some <= SPLITTERS; some += SPLITTERS - 3) {
      failing_allocator memory = {0};
      const recsort_allocator allocator = failing_hook(&memory);
      recsort_sorter *const sorter = open_sorter(1, threads, &allocator);
      assert_int_equal(recsort_partition_sample(sorter, items, COUNT, 0, COUNT, marks, NULL),
                       RECSORT_OK);
      assert_int_equal(recsort_partition_splitters(sorter, marks, COUNT, splitters, some, NULL),
                       RECSORT_OK);
      const size_t before = memory.most_bytes = memory.bytes;
      assert_int_equal(
          recsort_partition_records(sorter, items, COUNT, 0, splitters, some, NULL, offsets, NULL),
          RECSORT_OK);
      assert_true(memory.most_bytes - before <= 4 * COUNT + 8 * threads * (some + 1) + SMALL);
      assert_true(memory.most_bytes - before >= 4 * COUNT + sizeof(size_t) * threads * some);
      recsort_sorter_destroy(sorter);
    }
  free(offsets);
  free(splitters);
  free(marks);
  free(items);
}

/* ---- What is refused ---- */

static void test_wrong_calls(void **state)
{
  job j = open_job(0, at_random, 10, 1);
  unsigned char marks[10 * 12], splitters[3 * 12];
  size_t cuts[5];
  item moved[10];
  (void)state;
  const recsort_status wrong = RECSORT_INVALID_ARGUMENT;
  REFUSED(recsort_partition_sample(NULL, SHARD(&j, 0), 1, marks, &error), wrong);
  REFUSED(recsort_partition_sample(j.sorter, NULL, 10, 0, 1, marks, &error), wrong);
  REFUSED(recsort_partition_sample(j.sorter, SHARD(&j, 0), 11, marks, &error), wrong);
  REFUSED(recsort_partition_sample(j.sorter, SHARD(&j, 0), 1, NULL, &error), wrong);
  assert_int_equal(recsort_partition_sample(j.sorter, SHARD(&j, 0), 10, marks, NULL), RECSORT_OK);
  REFUSED(recsort_partition_splitters(NULL, marks, 10, splitters, 3, &error), wrong);
  REFUSED(recsort_partition_splitters(j.sorter, NULL, 10, splitters, 3, &error), wrong);
  REFUSED(recsort_partition_splitters(j.sorter, marks, 10, NULL, 3, &error), wrong);
  REFUSED(recsort_partition_splitters(j.sorter, marks, 0, splitters, 3, &error), wrong);
  REFUSED(recsort_partition_splitters(j.sorter, marks, 10, marks + 12, 3, &error), wrong);
  assert_int_equal(recsort_partition_splitters(j.sorter, marks, 10, splitters, 3, NULL),
                   RECSORT_OK);
  REFUSED(recsort_partition_sorted(NULL, SHARD(&j, 0), splitters, 3, cuts, &error), wrong);
  REFUSED(recsort_partition_sorted(j.sorter, SHARD(&j, 0), NULL, 3, cuts, &error), wrong);
  REFUSED(recsort_partition_sorted(j.sorter, SHARD(&j, 0), splitters, 3, NULL, &error), wrong);
  REFUSED(recsort_partition_records(j.sorter, SHARD(&j, 0), NULL, 3, moved, cuts, &error), wrong);
  REFUSED(recsort_partition_records(j.sorter, SHARD(&j, 0), splitters, 3, moved, NULL, &error),
          wrong);
  REFUSED(
      recsort_partition_records(j.sorter, SHARD(&j, 0), splitters, 3, j.items[0] + 9, cuts, &error),
      wrong);
  REFUSED(recsort_partition_records(j.sorter, SHARD(&j, 0), splitters, (size_t)1 << 32, moved, cuts,
                                    &error),
          wrong);
  memcpy(splitters, splitters + 12, 12);
  assert_int_equal(
      recsort_partition_records(j.sorter, SHARD(&j, 0), splitters, 3, moved, cuts, NULL),
      RECSORT_OK);
  memcpy(splitters, splitters + 24, 12);
  REFUSED(recsort_partition_records(j.sorter, SHARD(&j, 0), splitters, 3, moved, cuts, &error),
          wrong);
  close_job(&j);
}

/* No samples, no splitters, and one part. */
static void test_nothing_is_asked_for(void **state)
{
  job j = open_job(0, at_random, 10, 1);
  item moved[10];
  size_t offsets[2] = {9, 9};
  (void)state;
  assert_int_equal(recsort_partition_sample(j.sorter, SHARD(&j, 0), 0, NULL, NULL), RECSORT_OK);
  assert_int_equal(recsort_partition_splitters(j.sorter, NULL, 0, NULL, 0, NULL), RECSORT_OK);
  assert_int_equal(recsort_partition_sorted(j.sorter, SHARD(&j, 0), NULL, 0, NULL, NULL),
                   RECSORT_OK);
  assert_int_equal(recsort_partition_records(j.sorter, SHARD(&j, 0), NULL, 0, NULL, offsets, NULL),
                   RECSORT_OK);
  assert_true(offsets[0] == 0 && offsets[1] == 10);
  assert_int_equal(recsort_partition_records(j.sorter, SHARD(&j, 0), NULL, 0, moved, offsets, NULL),
                   RECSORT_OK);
  assert_memory_equal(moved, j.items[0], sizeof moved);
  close_job(&j);
}

/* The error names the first record that is wrong, counted from the first one of the rank. */
static void test_invalid_records_are_named(void **state)
{
  recsort_sorter *sorter = open_sorter(OF_KIND, 4, NULL);
  item *const items = make_items(all_equal, MOST, 0), *const moved = malloc(MOST * sizeof *moved);
  unsigned char marks[2 * 12];
  size_t offsets[3], cuts[1];
  recsort_error error = {0};
  (void)state;
  assert_int_equal(recsort_partition_sample(sorter, items, MOST, 1000, 2, marks, NULL), RECSORT_OK);
  items[MOST - 3].kind = items[MOST / 2].kind = 5;
  assert_int_equal(
      recsort_partition_records(sorter, items, MOST, 1000, marks, 1, moved, offsets, &error),
      RECSORT_INVALID_RECORD);
  assert_ptr_equal(strstr(error.text, "record 101000: "), error.text);
  error.text[0] = '\0';
  assert_int_equal(recsort_partition_sorted(sorter, items, MOST, 1000, marks, 1, cuts, &error),
                   RECSORT_INVALID_RECORD);
  assert_ptr_equal(strstr(error.text, "record 101000: "), error.text);
  error.text[0] = '\0';
  assert_int_equal(
      recsort_partition_sample(sorter, items + MOST - 3, 1, 1000 + MOST - 3, 1, marks, &error),
      RECSORT_INVALID_RECORD);
  assert_ptr_equal(strstr(error.text, "record 200997: "), error.text);
  free(moved);
  free(items);
  recsort_sorter_destroy(sorter);
}

/* Each allocation fails once. Nothing is lost, and the next call works. */
static void test_without_memory(void **state)
{
  failing_allocator memory = {0};
  const recsort_allocator allocator = failing_hook(&memory);
  item *const items = make_items(few_values, 50, 0), moved[50];
  bool failed[4] = {false};
  (void)state;
  for (size_t at = 1, failures = 1; failures > 0; at++) {
    unsigned char marks[50 * 16], splitters[3 * 16];
    size_t cuts[3], offsets[5];
    failures = 0;
    for (size_t call = 0; call < 4; call++) {
      recsort_sorter *sorter = open_sorter(1, 1, &allocator);
      recsort_error error = {0};
      for (size_t step = 0; step <= call; step++) {
        recsort_status status = RECSORT_OK;
        memory.fail_at = step == call ? memory.calls + at : 0;
        if (step == 0) status = recsort_partition_sample(sorter, items, 50, 0, 50, marks, &error);
        if (step == 1)
          status = recsort_partition_splitters(sorter, marks, 50, splitters, 3, &error);
        if (step == 2)
          status = recsort_partition_sorted(sorter, items, 50, 0, splitters, 3, cuts, &error);
        if (step == 3)
          status =
              recsort_partition_records(sorter, items, 50, 0, splitters, 3, moved, offsets, &error);
        if (status == RECSORT_OK) continue;
        assert_int_equal(status, RECSORT_OUT_OF_MEMORY);
        assert_int_equal(step, call);
        failed[call] = true;
        failures++;
      }
      memory.fail_at = 0;
      recsort_sorter_destroy(sorter);
      assert_int_equal(memory.blocks, 0);
      assert_int_equal(memory.wrong, 0);
    }
  }
  assert_true(failed[0] && failed[1] && failed[3]); /* a cut needs no more than a sample */
  free(items);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_marks_have_the_order_of_the_records),
      cmocka_unit_test(test_samples_are_at_equal_distances),
      cmocka_unit_test(test_regular_samples_bound_the_parts),
      cmocka_unit_test(test_equal_keys_are_divided_evenly),
      cmocka_unit_test(test_threads_cut_alike),
      cmocka_unit_test(test_parts_are_right),
      cmocka_unit_test(test_memory_of_parts),
      cmocka_unit_test(test_wrong_calls),
      cmocka_unit_test(test_nothing_is_asked_for),
      cmocka_unit_test(test_invalid_records_are_named),
      cmocka_unit_test(test_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
