/* Jobs: every mixture of what there is and what is wanted gives what a stable merge sort in this
 * file gives. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/tools.h"
#include "support/failing_allocator.h"
#include "support/native.h"
#include "support/open.h"
#include "support/random.h"
#include "support/told.h"

enum { MOST = 70000, MOST_PARTS = 300, GUARD = 0x5b };

typedef struct item {
  uint16_t narrow;
  uint8_t low;
  uint8_t kind; /* 0 to 2 */
  uint32_t wide;
  unsigned char text[12];
  uint32_t tag;
} item;

#define FIELDS                                                                                     \
  "record: Item\n" NATIVE "fields:\n- {name: narrow, type: uint16}\n- {name: low, type: uint8}\n"  \
  "- {name: kind, type: enum, base: uint8, values: [x, y, z]}\n- {name: wide, type: uint32}\n"     \
  "- {name: text, type: bytes, count: 12}\n- {name: tag, type: uint32}\n"

/* How records compare: by a number, of which some bits count, or by the text. */
typedef struct ordering {
  const char *schema;
  unsigned bits; /* of the number; 0: the text */
} ordering;

static const ordering orderings[] = {{FIELDS "keys: [narrow]\n", 16},
                                     {FIELDS "keys: [wide]\n", 32},
                                     {FIELDS "keys: [kind, wide, low]\n", 42},
                                     {FIELDS "keys: [text]\n", 0}};
enum { ORDERINGS = sizeof orderings / sizeof *orderings };

/* ---- The oracle ---- */

typedef struct oracle {
  const item *items;
  const ordering *by;
  unsigned first_bit, bits;
} oracle;

static uint64_t number_of(const oracle *o, uint64_t i)
{
  const item *const one = &o->items[i];
  const uint64_t whole = o->by->bits == 16 ? one->narrow
                         : o->by->bits == 32
                             ? one->wide
                             : (uint64_t)one->kind << 40 | (uint64_t)one->wide << 8 | one->low;
  const uint64_t shifted = whole >> o->first_bit;
  return o->bits ? shifted & ((UINT64_C(1) << o->bits) - 1) : shifted;
}

static int compare(const oracle *o, uint64_t a, uint64_t b)
{
  if (!o->by->bits) return memcmp(o->items[a].text, o->items[b].text, sizeof o->items[a].text);
  const uint64_t x = number_of(o, a), y = number_of(o, b);
  return (x > y) - (x < y);
}

static uint64_t merged[MOST];

/* A stable merge sort of indices. */
static void sort_indices(const oracle *o, uint64_t *index, size_t count)
{
  if (count < 2) return;
  const size_t half = count / 2;
  size_t left = 0, right = half;
  sort_indices(o, index, half);
  sort_indices(o, index + half, count - half);
  for (size_t i = 0; i < count; i++)
    merged[i] = right == count || (left < half && compare(o, index[left], index[right]) <= 0)
                    ? index[left++]
                    : index[right++];
  memcpy(index, merged, count * sizeof *index);
}

/* ---- A job at random, and what it must give ---- */

typedef struct trial {
  uint64_t random;
  const ordering *by;
  recsort_job job;
  oracle oracle;
  bool columns, apart, in_place;
  size_t wanted;
  uint64_t part[MOST_PARTS + 1];
  uint32_t part32[MOST_PARTS + 1];
  const void *runs[MOST_PARTS];
  recsort_column column[5];
  recsort_array array[3];
  unsigned char *from[3]; /* what array[] was before */
} trial;

static item items[MOST], before[MOST], sorted[MOST + 1], run_items[2 * MOST + 1];
static uint64_t expected[MOST], firsts[MOST], index_room[MOST + 1], keys_room[2 * MOST + 1],
    keys[2 * MOST + 1];
static unsigned char arrays_from[3][MOST * 9 + 1], arrays_to[3][MOST * 9 + 1],
    arrays_before[3][MOST * 9 + 1];
static const size_t element_sizes[3] = {1, 4, 9};

static size_t draw(trial *t, size_t end)
{
  return (size_t)random_below(&t->random, end);
}

static bool toss(trial *t)
{
  return draw(t, 2) == 0;
}

static void fill_items(trial *t, size_t count)
{
  const size_t values = 1 + draw(t, 40);
  for (size_t i = 0; i < count; i++) {
    memset(&items[i], 0, sizeof items[i]);
    const uint64_t value = random_below(&t->random, values);
    items[i].narrow = (uint16_t)(mix(value) % 5 * 1000 + value);
    items[i].wide = (uint32_t)(mix(value) % 3 << 28 | value);
    items[i].low = (uint8_t)draw(t, 3);
    items[i].kind = (uint8_t)draw(t, 3);
    items[i].text[draw(t, 12)] = (unsigned char)draw(t, 3);
    items[i].tag = (uint32_t)i;
  }
}

/* Offsets that do not descend, with empty parts among them; some records are outside if that is
 * allowed. */
static void make_parts(trial *t, size_t count, bool outside)
{
  const size_t parts = 1 + draw(t, count < MOST_PARTS ? 5 : MOST_PARTS);
  const size_t first = outside && toss(t) ? draw(t, count + 1) / 3 : 0;
  const size_t last = outside && toss(t) ? count - draw(t, count - first + 1) / 3 : count;
  t->part[0] = first;
  for (size_t p = 1; p < parts; p++) {
    const size_t rest = last - t->part[p - 1];
    const size_t step = draw(t, 4) ? draw(t, 2 * rest / (parts - p + 1) + 1) : 0;
    t->part[p] = t->part[p - 1] + (step < rest ? step : rest);
  }
  t->part[parts] = last;
  for (size_t p = 0; p <= parts; p++)
    t->part32[p] = (uint32_t)t->part[p];
  t->job.offset_bits = 32 * (unsigned)draw(t, 3);
  t->job.offsets = t->job.offset_bits == 32 ? (const void *)t->part32 : t->part;
  t->job.part_count = parts;
}

/* Brings the records of each run into order. */
static void sort_runs(trial *t)
{
  const oracle o = t->oracle;
  for (size_t p = 0; p < t->job.part_count; p++) {
    const size_t first = t->part[p], count = t->part[p + 1] - first;
    for (size_t i = 0; i < count; i++)
      expected[i] = first + i;
    sort_indices(&o, expected, count);
    for (size_t i = 0; i < count; i++)
      sorted[i] = items[expected[i]];
    memcpy(items + first, sorted, count * sizeof *items);
  }
}

static void expect_order(const trial *t)
{
  const size_t count = t->job.count;
  for (size_t i = 0; i < count; i++)
    expected[i] = i;
  if (t->job.parts != RECSORT_SEGMENTS) {
    sort_indices(&t->oracle, expected, count);
    return;
  }
  for (size_t p = 0; p < t->job.part_count; p++)
    sort_indices(&t->oracle, expected + t->part[p], t->part[p + 1] - t->part[p]);
}

static size_t longest_part(const trial *t)
{
  size_t most = 0;
  for (size_t p = 0; p < t->job.part_count; p++)
    if (t->part[p + 1] - t->part[p] > most) most = t->part[p + 1] - t->part[p];
  return most;
}

static void choose_input(trial *t, size_t count)
{
  static const char *const names[5] = {"narrow", "low", "kind", "wide", "text"};
  static const size_t offsets[5] = {offsetof(item, narrow), offsetof(item, low),
                                    offsetof(item, kind), offsetof(item, wide),
                                    offsetof(item, text)};
  t->columns = draw(t, 3) == 0;
  t->job.count = count;
  t->job.parts = (recsort_parts)draw(t, 3);
  t->apart = t->job.parts == RECSORT_RUNS && !t->columns && toss(t);
  if (t->by->bits && draw(t, 3) == 0) {
    t->job.first_bit = (unsigned)draw(t, t->by->bits);
    t->job.bits = (unsigned)draw(t, t->by->bits - t->job.first_bit + 1);
  }
  t->oracle = (oracle){items, t->by, t->job.first_bit, t->job.bits};
  fill_items(t, count);
  if (t->job.parts) make_parts(t, count, t->job.parts == RECSORT_SEGMENTS);
  if (t->job.parts == RECSORT_RUNS) sort_runs(t);
  if (t->job.parts == RECSORT_SEGMENTS && toss(t)) t->job.longest_part = longest_part(t);
  for (size_t c = 0; c < 5; c++)
    t->column[c] = (recsort_column){names[c], (char *)items + offsets[c], sizeof *items};
  memcpy(before, items, count * sizeof *items);
  if (t->columns) {
    t->job.columns = t->column;
    t->job.column_count = 5;
  } else if (t->apart) { /* from the last run to the first, with gaps */
    size_t at = 1;
    for (size_t p = t->job.part_count; p-- > 0;) {
      const size_t n = t->part[p + 1] - t->part[p];
      t->runs[p] = n ? run_items + at : NULL;
      memcpy(run_items + at, items + t->part[p], n * sizeof *items);
      at += n + (at < MOST / 2);
    }
    t->job.part_records = t->runs;
  } else {
    t->job.records = items;
  }
}

static void choose_results(trial *t, size_t count)
{
  const bool can_cut = t->job.parts != RECSORT_SEGMENTS;
  const size_t shape = draw(t, 5);
  if (can_cut && toss(t))
    t->job.head = draw(t, 3) ? 1 + draw(t, count / 20 + 1) : draw(t, count + 2);
  if (!can_cut && toss(t)) t->job.head = count + draw(t, 2); /* all, which is no head */
  t->wanted = t->job.head && t->job.head < count ? t->job.head : count;
  const bool all = t->wanted == count;
  if (shape == 0) return; /* nothing: the permutation stays */
  if (!t->columns && (shape == 1 || toss(t))) {
    t->in_place = all && !t->apart && toss(t);
    t->job.sorted = t->in_place ? items : sorted;
  }
  if (shape == 1) return;
  if (toss(t)) t->job.permutation = index_room;
  if (toss(t)) t->job.keys_out = keys_room;
  t->job.index_bits = 32 * (unsigned)draw(t, 3);
  t->job.arrays = t->array;
  t->job.array_count = draw(t, 4);
  for (size_t a = 0; a < t->job.array_count; a++) {
    const bool here = all && toss(t);
    fill_random(arrays_from[a], count * element_sizes[a], &t->random);
    memcpy(arrays_before[a], arrays_from[a], count * element_sizes[a]);
    t->array[a] =
        (recsort_array){arrays_from[a], here ? arrays_from[a] : arrays_to[a], element_sizes[a]};
  }
}

#define EXPECT(condition, t)                                                                       \
  do {                                                                                             \
    if (!(condition))                                                                              \
      fail_msg("%s: count %zu, parts %d, head %zu, bits [%u, +%u), %s, key %u", #condition,        \
               (t)->job.count, (int)(t)->job.parts, (t)->job.head, (t)->job.first_bit,             \
               (t)->job.bits,                                                                      \
               (t)->columns ? "columns"                                                            \
               : (t)->apart ? "apart"                                                              \
                            : "records",                                                           \
               (t)->by->bits);                                                                     \
  } while (0)

static void expect_indices(const trial *t, const void *index, unsigned bits, size_t count,
                           const uint64_t *wanted)
{
  for (size_t i = 0; i < count; i++)
    EXPECT((bits == 32 ? ((const uint32_t *)index)[i] : ((const uint64_t *)index)[i]) == wanted[i],
           t);
}

static void expect_results(const trial *t, recsort_sorter *sorter)
{
  const recsort_job *const job = &t->job;
  const unsigned char *const records = (const unsigned char *)job->sorted;
  const size_t key_size = recsort_key_size(sorter);
  if (records) {
    for (size_t i = 0; i < t->wanted; i++)
      EXPECT(memcmp(records + i * sizeof(item), &before[expected[i]], sizeof(item)) == 0, t);
    if (!t->in_place) EXPECT(records[t->wanted * sizeof(item)] == GUARD, t);
  }
  if (!t->in_place) assert_memory_equal(items, before, job->count * sizeof *items);
  if (job->permutation) {
    const unsigned bits = job->index_bits ? job->index_bits : 32;
    expect_indices(t, job->permutation, bits, t->wanted, expected);
    EXPECT(((unsigned char *)job->permutation)[t->wanted * bits / 8] == GUARD, t);
  }
  if (job->keys_out) {
    static item gathered[MOST];
    for (size_t i = 0; i < t->wanted; i++)
      gathered[i] = before[expected[i]];
    assert_int_equal(recsort_encode(sorter, gathered, t->wanted, keys, NULL), RECSORT_OK);
    EXPECT(memcmp(keys, job->keys_out, t->wanted * key_size) == 0, t);
    EXPECT(((unsigned char *)job->keys_out)[t->wanted * key_size] == GUARD, t);
  }
  for (size_t a = 0; a < job->array_count; a++) {
    const size_t size = element_sizes[a];
    const unsigned char *const to = job->arrays[a].to;
    for (size_t i = 0; i < t->wanted; i++)
      EXPECT(memcmp(to + i * size, arrays_before[a] + expected[i] * size, size) == 0, t);
    if (to == arrays_to[a]) {
      EXPECT(to[t->wanted * size] == GUARD, t);
      assert_memory_equal(arrays_from[a], arrays_before[a], job->count * size);
    }
  }
}

static bool is_outside(const trial *t, uint64_t record)
{
  return t->job.parts == RECSORT_SEGMENTS &&
         (record < t->part[0] || record >= t->part[t->job.part_count]);
}

static size_t segment_of(const trial *t, uint64_t record)
{
  size_t s = 0;
  while (t->part[s + 1] <= record)
    s++;
  return s;
}

/* The first record of each run of equal keys. */
static size_t expect_firsts(const trial *t)
{
  size_t count = 0;
  for (size_t i = 0; i < t->wanted; i++) {
    const uint64_t here = expected[i], last = i ? expected[i - 1] : 0;
    const bool apart =
        i == 0 || is_outside(t, here) || is_outside(t, last) ||
        (t->job.parts == RECSORT_SEGMENTS && segment_of(t, here) != segment_of(t, last));
    if (apart || compare(&t->oracle, last, here) != 0) firsts[count++] = here;
  }
  return count;
}

static void expect_permutation(trial *t, recsort_sorter *sorter)
{
  const recsort_job *const job = &t->job;
  const bool keeps = !job->sorted && !job->keys_out && !job->permutation && !job->array_count;
  unsigned bits;
  size_t count;
  const void *const own = recsort_sorter_permutation(sorter, &bits, &count);
  if (!keeps) assert_true(own == NULL && count == 0);
  if (keeps) {
    assert_int_equal(count, t->wanted);
    assert_true(bits == 32 && (own || !count));
    expect_indices(t, own, bits, count, expected);
  }
  if (t->in_place || (!keeps && !job->permutation)) return;
  if (t->columns)
    for (size_t a = 0; a < job->array_count; a++)
      t->array[a] = (recsort_array){arrays_before[a], arrays_to[a], element_sizes[a]};
  const size_t wanted = expect_firsts(t);
  assert_int_equal(recsort_unique(sorter, job, &count, NULL), RECSORT_OK);
  EXPECT(count == wanted, t);
  expect_indices(t, keeps ? own : job->permutation, keeps || job->index_bits != 64 ? 32 : 64, count,
                 firsts);
  if (keeps) {
    assert_true(recsort_sorter_permutation(sorter, NULL, &count) == own || !wanted);
    assert_int_equal(count, wanted);
  }
}

static void try_job(trial *t, recsort_sorter *sorter, size_t count)
{
  recsort_error error = {0};
  recsort_needs needs = {.struct_size = sizeof needs, .host = 1, .device = 1};
  t->job = RECSORT_JOB_INIT;
  choose_input(t, count);
  memset(sorted, GUARD, (count + 1) * sizeof *sorted);
  memset(index_room, GUARD, (count + 1) * sizeof *index_room);
  memset(keys_room, GUARD, (2 * count + 1) * sizeof *keys_room);
  for (size_t a = 0; a < 3; a++)
    memset(arrays_to[a], GUARD, count * element_sizes[a] + 1);
  t->in_place = false;
  choose_results(t, count);
  expect_order(t);
  if (recsort_plan(sorter, &t->job, 1, &needs, &error)) fail_msg("%s", error.text);
  if (recsort_run(sorter, &t->job, 1, &error)) fail_msg("%s", error.text);
  EXPECT(needs.host == stats_of(sorter).memory && needs.device == 0, t);
  expect_results(t, sorter);
  expect_permutation(t, sorter);
}

static void test_every_mixture(void **state)
{
  enum { ROUNDS = 240, JOBS = 25 };
  static trial t = {.random = 36};
  (void)state;
  for (size_t round = 0; round < ROUNDS; round++) {
    t.by = &orderings[round % ORDERINGS];
    const recsort_options options = {.struct_size = sizeof options,
                                     .plugin = round % 3 ? "cpu" : NULL,
                                     .threads = 1 + (unsigned)round % 3,
                                     .record_size = sizeof(item),
                                     .verify = (recsort_verify)(round % 5 % 3)};
    recsort_sorter *const sorter = sorter_of(t.by->schema, &options);
    for (size_t j = 0; j < JOBS; j++)
      try_job(&t, sorter, j == 0 ? 20000 + draw(&t, MOST - 20000) : draw(&t, j < 4 ? 4 : 900));
    recsort_sorter_destroy(sorter);
  }
}

/* ---- What is refused ---- */

static item few[8], other[8];
static uint64_t room[8];
static const uint64_t good_offsets[] = {0, 3, 8}, late[] = {1, 3, 8}, turned[] = {0, 5, 4, 8},
                      early[] = {0, 3, 7}, beyond[] = {0, 3, 9};
static const recsort_array twice[] = {{room, room, 1}, {few, other, 1}};

static recsort_job few_items(void)
{
  recsort_job job = RECSORT_JOB_INIT;
  job.count = 8;
  job.records = few;
  return job;
}

/* Refuses the job and says so; its results and the sorter's permutation are as they were. */
static void refuse(recsort_sorter *sorter, recsort_job job, const char *text)
{
  static const item zeros[8];
  recsort_job kept = few_items();
  recsort_error error = {0};
  size_t count;
  assert_int_equal(recsort_run(sorter, &kept, 1, NULL), RECSORT_OK);
  assert_int_equal(recsort_run(sorter, &job, 1, &error), RECSORT_INVALID_ARGUMENT);
  assert_string_equal(error.text, text);
  assert_memory_equal(few, zeros, sizeof few);
  assert_memory_equal(other, zeros, sizeof other);
  assert_non_null(recsort_sorter_permutation(sorter, NULL, &count));
  assert_int_equal(count, 8);
}

/* Refused by recsort_plan and recsort_sorter_reserve too. */
static void refuse_all(recsort_sorter *sorter, recsort_job job, const char *text)
{
  recsort_needs needs = RECSORT_NEEDS_INIT;
  recsort_error error = {0};
  size_t count;
  refuse(sorter, job, text);
  assert_int_equal(recsort_plan(sorter, &job, 1, &needs, &error), RECSORT_INVALID_ARGUMENT);
  assert_string_equal(error.text, text);
  assert_int_equal(recsort_sorter_reserve(sorter, &job, NULL), RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_unique(sorter, &job, &count, NULL), RECSORT_INVALID_ARGUMENT);
}

#define REFUSED_ALL(text, ...)                                                                     \
  do {                                                                                             \
    recsort_job job = few_items();                                                                 \
    __VA_ARGS__;                                                                                   \
    refuse_all(sorter, job, text);                                                                 \
  } while (0)
#define REFUSED_RUN(text, ...)                                                                     \
  do {                                                                                             \
    recsort_job job = few_items();                                                                 \
    __VA_ARGS__;                                                                                   \
    refuse(sorter, job, text);                                                                     \
  } while (0)

static void test_wrong_members(void **state)
{
  static const recsort_column column = {"narrow", few, sizeof *few};
  const void *const runs[3] = {few, few + 3, NULL};
  recsort_sorter *const sorter = sorter_of(orderings[0].schema, NULL);
  char text[100];
  int status;
  (void)state;
  for (size_t size = 0; size < 2 * sizeof(recsort_job); size++) {
    if (size == sizeof(recsort_job)) continue;
    (void)snprintf(text, sizeof text,
                   "struct_size is %zu, but a recsort_job has %zu bytes: use RECSORT_JOB_INIT",
                   size, sizeof(recsort_job));
    REFUSED_ALL(text, job.struct_size = size);
  }
  static const char device[] = "device_count, stream, workspace, status and device are only for "
                               "sorters of records on a device";
  REFUSED_ALL(device, job.device_count = room);
  REFUSED_ALL(device, job.stream = &status);
  REFUSED_ALL(device, job.workspace = room);
  REFUSED_ALL(device, job.workspace_size = 1);
  REFUSED_ALL(device, job.status = &status);
  REFUSED_ALL(device, job.device = 1);
  static const char one[] = "only one of records, columns and part_records can be given";
  REFUSED_ALL(one, job.columns = &column);
  REFUSED_ALL(one, job.column_count = 1);
  REFUSED_ALL(one, job.part_records = runs);
  REFUSED_ALL(one, job.records = NULL; job.columns = &column; job.part_records = runs);
  REFUSED_ALL("with columns, sorted must be NULL; arrays are moved", job.records = NULL;
              job.columns = &column; job.column_count = 1; job.sorted = other);
  REFUSED_ALL("column_count is 1, columns is NULL", job.records = NULL; job.column_count = 1);
  REFUSED_ALL("parts is no recsort_parts", job.parts = (recsort_parts)3);
  static const char offsets[] =
      "there are offsets, so parts must be RECSORT_SEGMENTS or RECSORT_RUNS";
  REFUSED_ALL(offsets, job.offsets = good_offsets);
  REFUSED_ALL(offsets, job.part_count = 1);
  REFUSED_ALL(offsets, job.records = NULL; job.part_records = runs);
  REFUSED_ALL("offsets must not be NULL", job.parts = RECSORT_SEGMENTS; job.part_count = 2);
  REFUSED_ALL("offsets must not be NULL", job.parts = RECSORT_RUNS);
  REFUSED_ALL("part_records is for runs", job.records = NULL; job.part_records = runs;
              job.parts = RECSORT_SEGMENTS; job.offsets = good_offsets);
  REFUSED_ALL("longest_part is for segments", job.longest_part = 1);
  REFUSED_ALL("longest_part is for segments", job.longest_part = 1; job.parts = RECSORT_RUNS;
              job.offsets = good_offsets; job.part_count = 2);
  REFUSED_ALL("65537 runs are more than 65536", job.parts = RECSORT_RUNS;
              job.offsets = good_offsets; job.part_count = 65537);
  REFUSED_ALL("offset_bits is 16, not 32 or 64", job.offset_bits = 16);
  REFUSED_ALL("bits [16, 16 + 0) are not all in a key of 16", job.first_bit = 16);
  REFUSED_ALL("bits [3, 3 + 14) are not all in a key of 16", job.first_bit = 3; job.bits = 14);
  REFUSED_ALL("index_bits is 16, not 32 or 64", job.index_bits = 16);
  REFUSED_ALL("4294967297 records need an index of 64 bits", job.count = (UINT64_C(1) << 32) + 1;
              job.index_bits = 32; job.permutation = room);
  REFUSED_ALL("head is 2, but with segments all records are sorted", job.head = 2;
              job.parts = RECSORT_SEGMENTS; job.offsets = good_offsets; job.part_count = 2);
  REFUSED_ALL("in place, the records behind the first 7 would be lost", job.head = 7;
              job.sorted = few);
  REFUSED_ALL("arrays[0]: in place, the elements behind the first 7 would be lost", job.head = 7;
              job.arrays = twice; job.array_count = 1);
  REFUSED_ALL("array_count is 1, arrays is NULL", job.array_count = 1);
  static const char no_array[] = "arrays[1]: from and to must not be NULL, nor element_size 0";
  recsort_array wrong[2] = {{room, room, 1}, {NULL, other, 1}};
  REFUSED_ALL(no_array, job.arrays = wrong; job.array_count = 2);
  wrong[1] = (recsort_array){few, NULL, 1};
  REFUSED_ALL(no_array, job.arrays = wrong; job.array_count = 2);
  wrong[1] = (recsort_array){few, other, 0};
  REFUSED_ALL(no_array, job.arrays = wrong; job.array_count = 2);
  recsort_sorter_destroy(sorter);
}

static void test_long_keys_are_compared_whole(void **state)
{
  recsort_sorter *const sorter = sorter_of(orderings[3].schema, NULL);
  (void)state;
  REFUSED_ALL("of a key with 96 bits, only on a device some can be compared", job.bits = 95);
  recsort_job job = few_items();
  job.bits = 96;
  assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
  recsort_sorter_destroy(sorter);
}

static void test_wrong_arrays(void **state)
{
  recsort_sorter *const sorter = sorter_of(orderings[2].schema, NULL);
  const void *const runs[3] = {few, NULL, NULL}, *const apart[2] = {few, few + 5};
  const recsort_column columns[] = {{"kind", &few->kind, sizeof *few},
                                    {"wide", &few->wide, sizeof *few},
                                    {"low", &few->low, sizeof *few}};
  char *const odd = (char *)room;
  (void)state;
  REFUSED_RUN("records must not be NULL", job.records = NULL);
  REFUSED_RUN("records must not be NULL", job.records = NULL; job.sorted = other);
  REFUSED_RUN("permutation is not at a multiple of 4 bytes", job.permutation = odd + 1);
  REFUSED_RUN("permutation is not at a multiple of 8 bytes", job.permutation = odd + 4;
              job.index_bits = 64);
  REFUSED_RUN("keys_out is not at a multiple of 8 bytes", job.keys_out = odd + 4);
  REFUSED_RUN("offsets is not at a multiple of 8 bytes", job.parts = RECSORT_SEGMENTS;
              job.offsets = odd + 4);
  REFUSED_RUN("offsets is not at a multiple of 4 bytes", job.parts = RECSORT_SEGMENTS;
              job.offsets = odd + 2; job.offset_bits = 32);
  REFUSED_RUN("the first offset of runs is 0, not 1", job.parts = RECSORT_RUNS; job.offsets = late;
              job.part_count = 2);
  REFUSED_RUN("part 1: its offsets descend", job.parts = RECSORT_RUNS; job.offsets = turned;
              job.part_count = 3);
  REFUSED_RUN("part 1: its offsets descend", job.parts = RECSORT_SEGMENTS; job.offsets = turned;
              job.part_count = 3);
  REFUSED_RUN("the last offset is 7, of 8 records", job.parts = RECSORT_RUNS; job.offsets = early;
              job.part_count = 2);
  REFUSED_RUN("the last offset is 9, of 8 records", job.parts = RECSORT_SEGMENTS;
              job.offsets = beyond; job.part_count = 2);
  REFUSED_RUN("part 1 has 5 records; longest_part is 4", job.parts = RECSORT_SEGMENTS;
              job.offsets = good_offsets; job.part_count = 2; job.longest_part = 4);
  REFUSED_RUN("run 1: its address is NULL", job.records = NULL; job.part_records = runs;
              job.parts = RECSORT_RUNS; job.offsets = good_offsets; job.part_count = 2);
  REFUSED_RUN("records and sorted overlap", job.sorted = few + 1);
  REFUSED_RUN("records and keys_out overlap", job.keys_out = few + 1);
  REFUSED_RUN("records and permutation overlap", job.permutation = few);
  REFUSED_RUN("records and arrays[0].to overlap", job.arrays = &(recsort_array){room, few, 1};
              job.array_count = 1);
  REFUSED_RUN("sorted and permutation overlap", job.sorted = other; job.permutation = other);
  REFUSED_RUN("keys_out and permutation overlap", job.keys_out = room; job.permutation = room + 7);
  REFUSED_RUN("offsets and permutation overlap", job.permutation = room; job.index_bits = 64;
              job.offsets = room + 7; job.parts = RECSORT_SEGMENTS);
  REFUSED_RUN("offsets and permutation overlap", job.permutation = (char *)room + 8;
              job.offsets = room; job.part_count = 1; job.parts = RECSORT_SEGMENTS);
  REFUSED_RUN("offsets and sorted overlap", job.sorted = other; job.offsets = other;
              job.parts = RECSORT_SEGMENTS);
  REFUSED_RUN("arrays[1].from and sorted overlap", job.records = other; job.sorted = few;
              job.arrays = twice; job.array_count = 2);
  REFUSED_RUN("arrays[1].from and sorted overlap", job.sorted = few; job.arrays = twice;
              job.array_count = 2);
  REFUSED_RUN("arrays[0].from and permutation overlap", job.permutation = room; job.arrays = twice;
              job.array_count = 1);
  REFUSED_RUN("sorted and arrays[1].to overlap", job.sorted = other; job.arrays = twice;
              job.array_count = 2);
  const recsort_array over[] = {{few, other, 2}, {few, (char *)other + 15, 2}};
  REFUSED_RUN("arrays[0].to and arrays[1].to overlap", job.arrays = over; job.array_count = 2);
  const recsort_array itself[] = {{room, odd + 1, 2}};
  REFUSED_RUN("arrays[0].from and arrays[0].to overlap", job.arrays = itself; job.array_count = 1);
  REFUSED_RUN("part_records[1] and sorted overlap", job.records = NULL; job.part_records = apart;
              job.parts = RECSORT_RUNS; job.offsets = good_offsets; job.part_count = 2;
              job.sorted = few + 5);
  REFUSED_RUN("a column and permutation overlap", job.records = NULL; job.columns = columns;
              job.column_count = 3; job.permutation = few);
  const recsort_array onto[] = {{other, few, sizeof *few}};
  REFUSED_RUN("a column and arrays[0].to overlap", job.records = NULL; job.columns = columns;
              job.column_count = 3; job.arrays = onto; job.array_count = 1);
  REFUSED_RUN("the keys need the field \"low\", which has no column", job.records = NULL;
              job.columns = columns; job.column_count = 2);
  recsort_sorter_destroy(sorter);
}

static void test_wrong_calls(void **state)
{
  recsort_sorter *const sorter = sorter_of(orderings[0].schema, NULL);
  recsort_job jobs[2] = {few_items(), few_items()};
  recsort_needs needs[2] = {RECSORT_NEEDS_INIT, RECSORT_NEEDS_INIT};
  recsort_error error = {0};
  size_t count;
  (void)state;
#define WRONG(call) assert_int_equal(call, RECSORT_INVALID_ARGUMENT)
  WRONG(recsort_run(NULL, jobs, 1, NULL));
  WRONG(recsort_run(sorter, NULL, 1, NULL));
  WRONG(recsort_run(sorter, jobs, 0, NULL));
  WRONG(recsort_run(sorter, jobs, 2, &error));
  assert_string_equal(error.text, "there are 2 jobs; several are shards, which are on devices");
  WRONG(recsort_plan(NULL, jobs, 1, needs, NULL));
  WRONG(recsort_plan(sorter, NULL, 1, needs, NULL));
  WRONG(recsort_plan(sorter, jobs, 2, needs, NULL));
  WRONG(recsort_plan(sorter, jobs, 1, NULL, NULL));
  needs->struct_size--;
  WRONG(recsort_plan(sorter, jobs, 1, needs, &error));
  assert_string_equal(
      error.text, "struct_size is 23, but a recsort_needs has 24 bytes: use RECSORT_NEEDS_INIT");
  WRONG(recsort_sorter_reserve(NULL, jobs, NULL));
  WRONG(recsort_unique(NULL, jobs, &count, NULL));
  WRONG(recsort_unique(sorter, NULL, &count, NULL));
  WRONG(recsort_unique(sorter, jobs, NULL, NULL));
  WRONG(recsort_unique(sorter, jobs, &count, &error)); /* nothing was sorted */
  assert_null(recsort_sorter_permutation(sorter, NULL, NULL));
  assert_null(recsort_sorter_permutation(NULL, NULL, &count));
  assert_int_equal(count, 0);
  jobs->count = SIZE_MAX / 4;
  assert_int_equal(recsort_run(sorter, jobs, 1, NULL), RECSORT_OUT_OF_MEMORY);
  jobs->count = 2;
  const recsort_array vast = {few, other, SIZE_MAX};
  jobs->arrays = &vast;
  jobs->array_count = 1;
  assert_int_equal(recsort_run(sorter, jobs, 1, NULL), RECSORT_OUT_OF_MEMORY);
  recsort_sorter_destroy(sorter);
}

/* ---- What the mixture does not show ---- */

/* Columns may be the arrays that move. */
static void test_columns_move_in_place(void **state)
{
  enum { COUNT = 500 };
  static uint16_t narrow[COUNT], was[COUNT];
  static uint32_t tags[COUNT], key_of[COUNT];
  uint64_t random = 5;
  recsort_sorter *const sorter = sorter_of(orderings[0].schema, NULL);
  const recsort_column column = {"narrow", narrow, 0};
  const recsort_array moved[] = {{narrow, narrow, sizeof *narrow}, {tags, tags, sizeof *tags}};
  recsort_job job = RECSORT_JOB_INIT;
  (void)state;
  for (uint32_t i = 0; i < COUNT; i++) {
    was[i] = narrow[i] = (uint16_t)random_below(&random, 50);
    tags[i] = i;
  }
  job.count = COUNT;
  job.columns = &column;
  job.column_count = 1;
  job.arrays = moved;
  job.array_count = 2;
  job.keys_out = key_of;
  assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
  for (size_t i = 0; i < COUNT; i++) {
    assert_int_equal(narrow[i], was[tags[i]]);
    assert_int_equal(key_of[i], narrow[i]); /* made before the columns moved */
    if (i)
      assert_true(narrow[i - 1] < narrow[i] ||
                  (narrow[i - 1] == narrow[i] && tags[i - 1] < tags[i]));
  }
  recsort_sorter_destroy(sorter);
}

/* A schema of one number sorts keys with values, or alone; floats with NaNs where they are to go.
 */
static void test_numbers(void **state)
{
  enum { COUNT = 300 };
  static float floats[COUNT];
  static uint32_t places[COUNT];
  recsort_schema *schema = NULL;
  const recsort_array values = {places, places, sizeof *places};
  recsort_job job = RECSORT_JOB_INIT;
  (void)state;
  assert_int_equal(recsort_schema_create_number(RECSORT_FLOAT32, RECSORT_DESCENDING,
                                                RECSORT_NAN_FIRST, NULL, &schema, NULL),
                   RECSORT_OK);
  assert_int_equal(recsort_schema_describe(schema)->size, sizeof *floats);
  recsort_sorter *const sorter = sorter_of_schema(schema, NULL);
  assert_string_equal(key_of(sorter, 0).path, "key");
  for (uint32_t i = 0; i < COUNT; i++) {
    floats[i] = i % 10 == 0 ? NAN : (float)(mix(i) % 20);
    places[i] = i;
  }
  job.count = COUNT;
  job.records = job.sorted = floats;
  job.arrays = &values;
  job.array_count = 1;
  assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
  for (uint32_t i = 0; i < COUNT; i++) {
    const bool nan = i < COUNT / 10;
    assert_true(isnan(floats[i]) == nan && (places[i] % 10 == 0) == nan);
    if (!nan) assert_true(floats[i] == (float)(mix(places[i]) % 20));
    if (i && (nan || floats[i - 1] == floats[i])) assert_true(places[i - 1] < places[i]);
    if (i > COUNT / 10) assert_true(floats[i - 1] >= floats[i]);
  }
  recsort_sorter_destroy(sorter);
}

static void test_what_is_a_number(void **state)
{
  (void)state;
  for (int type = -1; type < 80; type++) {
    recsort_schema *schema = NULL;
    const recsort_status status = recsort_schema_create_number(
        (recsort_type)type, RECSORT_ASCENDING, RECSORT_NAN_LAST, NULL, &schema, NULL);
    const recsort_type_info *const info = recsort_type_describe((recsort_type)type);
    const bool is_number =
        info->type_class == RECSORT_CLASS_BOOL || info->type_class == RECSORT_CLASS_SIGNED ||
        info->type_class == RECSORT_CLASS_UNSIGNED || info->type_class == RECSORT_CLASS_FLOAT ||
        info->type_class == RECSORT_CLASS_WIDE || info->type_class == RECSORT_CLASS_TIME;
    assert_int_equal(status, is_number ? RECSORT_OK : RECSORT_INVALID_ARGUMENT);
    assert_int_equal(schema != NULL, is_number);
    if (schema) assert_int_equal(recsort_schema_describe(schema)->size, info->size);
    recsort_schema_destroy(schema);
  }
  recsort_schema *none = NULL;
  assert_int_equal(recsort_schema_create_number(RECSORT_INT8, (recsort_order)2, RECSORT_NAN_LAST,
                                                NULL, &none, NULL),
                   RECSORT_INVALID_KEY);
  assert_int_equal(recsort_schema_create_number(RECSORT_FLOAT32, RECSORT_ASCENDING, (recsort_nan)3,
                                                NULL, &none, NULL),
                   RECSORT_INVALID_KEY);
  assert_int_equal(recsort_schema_create_number(RECSORT_INT8, RECSORT_ASCENDING, RECSORT_NAN_LAST,
                                                NULL, NULL, NULL),
                   RECSORT_INVALID_ARGUMENT);
  assert_null(none);
}

/* What is wrong is named, and what is in place is as it was. */
static void expect_fault(recsort_sorter *sorter, recsort_job job, recsort_status status,
                         const char *text)
{
  static item was[8];
  static uint64_t values[8], values_were[8];
  const recsort_array array = {values, values, sizeof *values};
  recsort_error error = {0};
  memcpy(was, few, sizeof was);
  for (size_t i = 0; i < 8; i++)
    values[i] = values_were[i] = i;
  if (job.records) job.sorted = few;
  for (size_t with = 0; with < 2; with++) {
    job.arrays = &array;
    job.array_count = with;
    assert_int_equal(recsort_run(sorter, &job, 1, &error), status);
    if (strncmp(error.text, text, strlen(text)) != 0) fail_msg("%s", error.text);
    assert_memory_equal(few, was, sizeof was);
    assert_memory_equal(values, values_were, sizeof values);
  }
}

static void test_faults_are_named(void **state)
{
  static const recsort_column columns[] = {{"kind", &few->kind, sizeof *few},
                                           {"wide", &few->wide, sizeof *few},
                                           {"low", &few->low, sizeof *few}};
  recsort_sorter *const sorter = sorter_of(orderings[2].schema, NULL);
  recsort_job records = few_items();
  (void)state;
  memset(few, 0, sizeof few);
  for (uint32_t i = 0; i < 8; i++)
    few[i].wide = i / 2;
  few[5].kind = 3;
  recsort_job fields = records;
  fields.records = NULL;
  fields.columns = columns;
  fields.column_count = 3;
  static const char invalid[] = "record 5: field \"kind\" holds 0x3,";
  expect_fault(sorter, records, RECSORT_INVALID_RECORD, invalid);
  expect_fault(sorter, fields, RECSORT_INVALID_RECORD, invalid);
  for (size_t way = 0; way < 3; way++) {
    recsort_job runs = way ? records : fields;
    runs.parts = RECSORT_RUNS;
    runs.offsets = good_offsets; /* 0, 3, 8 */
    runs.part_count = 2;
    if (way == 2) runs.bits = 41;
    few[5].kind = 3;
    expect_fault(sorter, runs, RECSORT_INVALID_RECORD,
                 "run 1, record 2: field \"kind\" holds 0x3,");
    few[5].kind = 0;
    few[5].wide = 1;
    expect_fault(sorter, runs, RECSORT_UNSORTED_RUN,
                 "run 1, record 2: its key is less than that of the record before it");
    few[5].wide = 2;
  }
  memset(few, 0, sizeof few);
  recsort_sorter_destroy(sorter);
}

/* Records outside all segments are not read. */
static void test_records_outside_may_be_invalid(void **state)
{
  static const uint64_t inner[] = {2, 4, 6};
  recsort_sorter *const sorter = sorter_of(orderings[2].schema, NULL);
  recsort_job job = few_items();
  (void)state;
  memset(few, 0, sizeof few);
  for (uint32_t i = 0; i < 8; i++) {
    few[i].kind = i < 2 || i >= 6 ? 7 : 1;
    few[i].wide = few[i].tag = 8 - i;
  }
  job.sorted = few;
  job.parts = RECSORT_SEGMENTS;
  job.offsets = inner;
  job.part_count = 2;
  job.keys_out = room;
  static const uint32_t tags[] = {8, 7, 5, 6, 3, 4, 2, 1};
  assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
  for (size_t i = 0; i < 8; i++)
    assert_int_equal(few[i].tag, tags[i]);
  few[3].kind = 3;
  expect_fault(sorter, job, RECSORT_INVALID_RECORD, "record 3: field \"kind\" holds 0x3,");
  memset(few, 0, sizeof few);
  recsort_sorter_destroy(sorter);
}

/* A permutation knows whose it is, and one of the caller's is not trusted. */
static void test_permutations_of_others_are_refused(void **state)
{
  static uint16_t one[8], two[8];
  recsort_column columns[] = {{"narrow", one, 0}};
  recsort_sorter *const sorter = sorter_of(orderings[0].schema, NULL);
  static const uint64_t same_offsets[] = {0, 3, 8};
  const recsort_job good = few_items();
  uint32_t index[8] = {0, 1, 2, 3, 4, 5, 6, 8}, was[8];
  recsort_job job = good, made = good;
  recsort_error error = {0};
  size_t count = 77;
  (void)state;
#define OTHER(...)                                                                                 \
  do {                                                                                             \
    job = made;                                                                                    \
    __VA_ARGS__;                                                                                   \
    assert_int_equal(recsort_unique(sorter, &job, &count, &error), RECSORT_INVALID_ARGUMENT);      \
    assert_string_equal(error.text, "the sorter keeps no permutation, or that of other records");  \
  } while (0)
  made.bits = 3;
  assert_int_equal(recsort_run(sorter, &made, 1, NULL), RECSORT_OK);
  OTHER(job.first_bit = 1);
  made = good;
  made.parts = RECSORT_SEGMENTS;
  made.offsets = good_offsets;
  made.part_count = 2;
  assert_int_equal(recsort_run(sorter, &made, 1, NULL), RECSORT_OK);
  OTHER(job.offsets = same_offsets);
  OTHER(job.part_count = 1);
  OTHER(job.offset_bits = 32);
  OTHER(job.parts = RECSORT_RUNS);
  made = good;
  assert_int_equal(recsort_run(sorter, &made, 1, NULL), RECSORT_OK);
  OTHER(job.records = other);
  OTHER(job.count = 7);
  OTHER(job.bits = 3);
  OTHER(job.parts = RECSORT_SEGMENTS; job.offsets = good_offsets; job.part_count = 2);
  OTHER(job.records = NULL; job.columns = columns; job.column_count = 1);
  job = good;
  job.sorted = few;
  assert_int_equal(recsort_unique(sorter, &job, &count, &error), RECSORT_INVALID_ARGUMENT);
  assert_string_equal(error.text,
                      "the records must be as they were before the sort, which was in place");
  assert_int_equal(recsort_unique(sorter, &good, &count, NULL), RECSORT_OK);
  assert_int_equal(count, 1);
  assert_int_equal(recsort_unique(sorter, &good, &count, NULL), RECSORT_OK); /* it was shortened */
  assert_int_equal(count, 1);
  assert_int_equal(recsort_sort_to(sorter, few, 8, other, NULL), RECSORT_OK);
  OTHER((void)0); /* another sort has ended it */
  job = good;
  job.records = NULL;
  job.columns = columns;
  job.column_count = 1;
  assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
  columns->data = two;
  assert_int_equal(recsort_unique(sorter, &job, &count, NULL), RECSORT_INVALID_ARGUMENT);
  columns->data = one;
  columns->stride = 4;
  assert_int_equal(recsort_unique(sorter, &job, &count, NULL), RECSORT_INVALID_ARGUMENT);
  columns->stride = 2; /* what 0 stands for */
  assert_int_equal(recsort_unique(sorter, &job, &count, NULL), RECSORT_OK);
  OTHER((void)0);
  job = good;
  job.permutation = index;
  memcpy(was, index, sizeof was);
  assert_int_equal(recsort_unique(sorter, &job, &count, &error), RECSORT_INVALID_ARGUMENT);
  assert_string_equal(error.text, "permutation[7] is 8, of 8 records");
  job.permutation = (char *)index + 1;
  assert_int_equal(recsort_unique(sorter, &job, &count, &error), RECSORT_INVALID_ARGUMENT);
  assert_string_equal(error.text, "permutation is not at a multiple of 4 bytes");
  job.permutation = index;
  assert_memory_equal(index, was, sizeof was);
  job.head = 7;
  assert_int_equal(recsort_unique(sorter, &job, &count, NULL), RECSORT_OK);
  assert_int_equal(count, 1);
  memset(other, 0, sizeof other);
  recsort_sorter_destroy(sorter);
}

/* ---- Memory ---- */

enum { MANY = 30000, MEMORY_JOBS = 17 };
static const uint64_t halves[3] = {0, MANY / 2, MANY};

/* Jobs that take memory of every kind. */
static void make_jobs(recsort_job *jobs)
{
  static const recsort_array arrays[2] = {{arrays_from[2], arrays_from[2], 9},
                                          {arrays_from[1], arrays_to[1], 4}};
  for (size_t j = 0; j < MEMORY_JOBS; j++, jobs++) {
    const size_t way = j / 3;
    *jobs = RECSORT_JOB_INIT;
    jobs->count = MANY;
    jobs->records = items;
    jobs->parts = way == 5 ? (j % 3 ? RECSORT_RUNS : RECSORT_ONE_PART) : (recsort_parts)(j % 3);
    jobs->offsets = jobs->parts ? halves : NULL;
    jobs->part_count = jobs->parts ? 2 : 0;
    if (way < 4) jobs->sorted = way == 0 ? items : sorted;
    if (way == 2 || way == 3) {
      jobs->arrays = arrays;
      jobs->array_count = way - 1;
    }
    if (way == 2) jobs->keys_out = keys_room;
    if (way == 3) jobs->permutation = index_room;
    if (way == 5) jobs->head = 100;
  }
}

/* Fills in records, which are sorted if they are to be runs. */
static void fill_for(const recsort_job *job)
{
  for (uint32_t i = 0; i < MANY; i++)
    items[i] =
        (item){.wide = job->parts == RECSORT_RUNS ? i / 2 : (uint32_t)(mix(i) % 5000), .tag = i};
}

/* The plans of a job with ever more records: each takes as much memory as the one before or more,
 * up to where no memory is so large. Of a head, fewer records may take more. */
static void grow_plans(const char *schema, recsort_job job)
{
  recsort_sorter *const sorter = sorter_of(schema, NULL);
  size_t least = 0;
  bool refused = false;
  job.index_bits = 64;
  for (unsigned step = 0; step < 4 * 60; step++) {
    const size_t power = (size_t)1 << (4 + step / 4);
    recsort_needs needs = RECSORT_NEEDS_INIT;
    job.count = power + power / 4 * (step % 4);
    const recsort_status status = recsort_plan(sorter, &job, 1, &needs, NULL);
    if (status == RECSORT_OK) {
      assert_true(job.head || (!refused && needs.host >= least));
      least = needs.host;
    } else {
      assert_true(status == RECSORT_OUT_OF_MEMORY || status == RECSORT_PLUGIN_ERROR);
      assert_int_equal(needs.host, 0);
      refused = true;
    }
  }
  assert_true(refused || job.head);
  recsort_sorter_destroy(sorter);
}

/* Of records of one byte there may be so many that only other things are too large. */
static void test_plans_of_any_size(void **state)
{
  recsort_job jobs[MEMORY_JOBS];
  static const char byte[] = "record: Byte\nfields: [{name: key, type: uint8}]\nkeys: [key]\n";
  (void)state;
  make_jobs(jobs);
  for (size_t j = 0; j < MEMORY_JOBS; j++) {
    grow_plans(orderings[1].schema, jobs[j]);
    if (!jobs[j].columns && !jobs[j].bits && !jobs[j].first_bit) grow_plans(byte, jobs[j]);
  }
}

/* A sorter holds what recsort_plan says, and allocates nothing more once that is reserved: neither
 * for this job, nor with fewer records. */
static void test_memory_is_as_planned(void **state)
{
  recsort_job jobs[MEMORY_JOBS];
  (void)state;
  make_jobs(jobs);
  for (size_t j = 0; j < 4 * MEMORY_JOBS; j++) {
    recsort_job job = jobs[j / 4];
    failing_allocator memory = {0};
    const recsort_allocator hook = failing_hook(&memory);
    const recsort_options options = {.struct_size = sizeof options,
                                     .plugin = "cpu",
                                     .threads = 1 + (unsigned)j % 2,
                                     .verify =
                                         j % 4 > 1 ? RECSORT_VERIFY_FULL : RECSORT_VERIFY_DEFAULT,
                                     .allocator = &hook};
    recsort_sorter *const sorter = sorter_of(orderings[1].schema, &options);
    recsort_needs needs = RECSORT_NEEDS_INIT;
    const size_t bytes = memory.bytes, calls = memory.calls;
    memory.most_bytes = 0;
    fill_for(&job);
    assert_int_equal(recsort_plan(sorter, &job, 1, &needs, NULL), RECSORT_OK);
    assert_int_equal(memory.calls, calls);
    assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
    assert_int_equal(memory.bytes - bytes, needs.host);
    assert_int_equal(memory.most_bytes, memory.bytes);
    assert_int_equal(stats_of(sorter).memory, needs.host);
    assert_int_equal(recsort_sorter_reserve(sorter, NULL, NULL), RECSORT_OK);
    assert_int_equal(memory.bytes, bytes);
    assert_int_equal(recsort_sorter_reserve(sorter, &job, NULL), RECSORT_OK);
    assert_true(memory.bytes - bytes >= needs.host); /* of a head, fewer records need more */
    if (!job.head) assert_int_equal(memory.bytes - bytes, needs.host);
    const size_t reserved = memory.calls;
    for (; job.count > 0; job.count = job.count * 3 / 4) {
      const uint64_t offsets[3] = {0, job.count / 2, job.count};
      if (job.parts) job.offsets = offsets;
      fill_for(&job);
      assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
      assert_int_equal(memory.calls, reserved);
    }
    recsort_sorter_destroy(sorter);
    assert_true(memory.blocks == 0 && memory.wrong == 0);
  }
}

/* Whichever allocation fails, what is in place is as it was, and the sorter can be used again. */
static void test_failed_allocations_change_nothing(void **state)
{
  recsort_job jobs[MEMORY_JOBS];
  (void)state;
  make_jobs(jobs);
  for (size_t j = 0; j < MEMORY_JOBS; j++) {
    failing_allocator memory = {0};
    const recsort_allocator hook = failing_hook(&memory);
    const recsort_options options = {.struct_size = sizeof options,
                                     .plugin = "cpu",
                                     .threads = 1,
                                     .verify = RECSORT_VERIFY_FULL,
                                     .allocator = &hook};
    recsort_sorter *const sorter = sorter_of(orderings[1].schema, &options);
    recsort_status status = RECSORT_OUT_OF_MEMORY;
    size_t failed = 0;
    fill_for(&jobs[j]);
    memcpy(before, items, sizeof before);
    memcpy(arrays_before[2], arrays_from[2], sizeof arrays_from[2]);
    for (;; failed++) {
      assert_int_equal(recsort_sorter_reserve(sorter, NULL, NULL), RECSORT_OK);
      memory.fail_at = memory.calls + 1 + failed;
      status = recsort_run(sorter, &jobs[j], 1, NULL);
      if (status == RECSORT_OK) break;
      assert_int_equal(status, RECSORT_OUT_OF_MEMORY);
      assert_memory_equal(items, before, sizeof before);
      assert_memory_equal(arrays_from[2], arrays_before[2], sizeof arrays_from[2]);
    }
    assert_in_range(failed, 1, 3);
    recsort_sorter_destroy(sorter);
    assert_true(memory.blocks == 0 && memory.wrong == 0);
  }
}

/* The bits of an index do not matter if there is none. */
static void test_what_is_not_wanted_has_no_width(void **state)
{
  recsort_sorter *const sorter = sorter_of(orderings[0].schema, NULL);
  recsort_needs needs = RECSORT_NEEDS_INIT;
  recsort_job job = RECSORT_JOB_INIT;
  (void)state;
  job.count = (UINT64_C(1) << 32) + 1;
  job.records = job.sorted = few;
  job.index_bits = 32;
  assert_int_equal(recsort_plan(sorter, &job, 1, &needs, NULL), RECSORT_OK);
  recsort_sorter_destroy(sorter);
}

/* ---- One call after another ---- */

static void expect_backwards(recsort_sorter *sorter)
{
  uint32_t index[8];
  memset(other, 0, sizeof other);
  assert_int_equal(recsort_argsort(sorter, few, 8, index, 32, NULL), RECSORT_OK);
  for (uint32_t i = 0; i < 8; i++)
    assert_true(index[i] == 7 - i && other[i].narrow == 0);
  assert_int_equal(recsort_sort_to(sorter, few, 8, other, NULL), RECSORT_OK);
  for (uint32_t i = 0; i < 8; i++)
    assert_int_equal(other[i].tag, 7 - i);
}

/* What one call is given is nothing to the next one. */
static void test_calls_leave_nothing_behind(void **state)
{
  recsort_sorter *const sorter = sorter_of(orderings[0].schema, NULL);
  recsort_needs needs = RECSORT_NEEDS_INIT;
  recsort_job jobs[2] = {few_items(), few_items()}, more = few_items();
  (void)state;
  for (uint32_t i = 0; i < 8; i++)
    few[i] = (item){.narrow = (uint16_t)(80 - 10 * i), .tag = i};
  jobs[0].bits = 1;
  jobs[1].parts = RECSORT_SEGMENTS;
  jobs[1].offsets = good_offsets;
  jobs[1].part_count = 2;
  for (size_t j = 0; j < 2; j++) {
    assert_int_equal(recsort_plan(sorter, &jobs[j], 1, &needs, NULL), RECSORT_OK);
    expect_backwards(sorter);
    assert_int_equal(recsort_sorter_reserve(sorter, &jobs[j], NULL), RECSORT_OK);
    expect_backwards(sorter);
    assert_int_equal(recsort_run(sorter, &jobs[j], 1, NULL), RECSORT_OK);
    expect_backwards(sorter);
  }
  assert_int_equal(recsort_run(sorter, jobs, 1, NULL), RECSORT_OK);
  assert_non_null(recsort_sorter_permutation(sorter, NULL, NULL));
  more.count = MOST;
  assert_int_equal(recsort_sorter_reserve(sorter, &more, NULL), RECSORT_OK);
  assert_null(recsort_sorter_permutation(sorter, NULL, NULL));
  memset(few, 0, sizeof few);
  memset(other, 0, sizeof other);
  recsort_sorter_destroy(sorter);
}

/* As many records, in place or not, with segments or without. */
static void test_jobs_of_one_count_take_turns(void **state)
{
  static const uint64_t parts[] = {0, MANY / 3, MANY};
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = "cpu", .verify = RECSORT_VERIFY_FULL};
  (void)state;
  for (size_t pair = 0; pair < 16; pair++) {
    recsort_sorter *const sorter = sorter_of(orderings[1].schema, &options);
    for (size_t turn = 0; turn < 2; turn++) {
      const size_t way = turn ? pair / 4 : pair % 4;
      recsort_needs needs = RECSORT_NEEDS_INIT;
      recsort_job job = RECSORT_JOB_INIT;
      job.count = MANY;
      job.records = items;
      job.sorted = way % 2 ? items : sorted;
      if (way / 2) {
        job.parts = RECSORT_SEGMENTS;
        job.offsets = parts;
        job.part_count = 2;
      }
      fill_for(&job);
      assert_int_equal(recsort_plan(sorter, &job, 1, &needs, NULL), RECSORT_OK);
      assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
      assert_int_equal(stats_of(sorter).memory, needs.host);
      const item *const result = job.sorted;
      for (size_t i = 1; i < MANY; i++)
        assert_true((way / 2 && i == parts[1]) || result[i - 1].wide <= result[i].wide);
    }
    recsort_sorter_destroy(sorter);
  }
}

/* ---- Threads ---- */

typedef struct crew {
  size_t most, calls;
} crew;

static void run_in_turn(void *context, void (*task)(void *argument, size_t number), void *argument,
                        size_t count)
{
  crew *const c = context;
  if (count > c->most) c->most = count;
  c->calls++;
  for (size_t i = 0; i < count; i++)
    task(argument, i);
}

/* An executor gets all the work, gathers too, and no more tasks at once than threads. */
static void test_the_executor_does_everything(void **state)
{
  recsort_job jobs[MEMORY_JOBS];
  crew all = {0};
  const recsort_executor executor = {sizeof executor, &all, run_in_turn, 2};
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = "cpu", .executor = &executor};
  recsort_sorter *const sorter = sorter_of(orderings[1].schema, &options);
  (void)state;
  make_jobs(jobs);
  for (size_t j = 0; j < MEMORY_JOBS; j++) {
    fill_for(&jobs[j]);
    assert_int_equal(recsort_run(sorter, &jobs[j], 1, NULL), RECSORT_OK);
  }
  for (size_t i = 0; i < MOST; i++)
    index_room[i] = MOST - 1 - i;
  all.calls = 0;
  for (uint32_t i = 0; i < MOST; i++)
    items[i].tag = i;
  recsort_gather(sorter, index_room, 64, MOST, items, sizeof *items, run_items);
  assert_int_equal(all.calls, 1);
  assert_int_equal(all.most, 2);
  for (size_t i = 0; i < MOST; i++)
    assert_int_equal(run_items[i].tag, MOST - 1 - i);
  recsort_sorter_destroy(sorter);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_mixture),
      cmocka_unit_test(test_wrong_members),
      cmocka_unit_test(test_long_keys_are_compared_whole),
      cmocka_unit_test(test_wrong_arrays),
      cmocka_unit_test(test_wrong_calls),
      cmocka_unit_test(test_columns_move_in_place),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_what_is_a_number),
      cmocka_unit_test(test_faults_are_named),
      cmocka_unit_test(test_records_outside_may_be_invalid),
      cmocka_unit_test(test_permutations_of_others_are_refused),
      cmocka_unit_test(test_memory_is_as_planned),
      cmocka_unit_test(test_plans_of_any_size),
      cmocka_unit_test(test_failed_allocations_change_nothing),
      cmocka_unit_test(test_what_is_not_wanted_has_no_width),
      cmocka_unit_test(test_calls_leave_nothing_behind),
      cmocka_unit_test(test_jobs_of_one_count_take_turns),
      cmocka_unit_test(test_the_executor_does_everything),
  };
  return cmocka_run_group_tests_name("jobs", tests, NULL, NULL);
}
