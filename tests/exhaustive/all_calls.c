/* Every call of the CPU on all orderings of a few records (orderings.h), with keys of every width
 * whose values are at both ends. CMakeLists.txt also builds this with a library whose thresholds
 * are so low that these few records take the ways of many.
 *
 * Usage: all_calls MOST-RECORDS THREADS */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exhaustive/orderings.h"
#include "recsort/partition.h"
#include "support/native.h"
#include "support/open.h"

enum { MOST_SIZE = 24, MOST_RANKS = MOST_ELEMENTS, MARK_ROOM = 64 };

/* Records up to which everything that can be asked for is: more are cut into two segments, and are
 * not partitioned. From 7 on, a third of the forms have one mapping each; 8 have half as many
 * forms. */
enum { ASKED_ALL = 5, FEWER_FORMS = 7, FEWEST_FORMS = 8 };

static size_t most; /* records */
static unsigned threads;

/* What the keys are. */
typedef enum kind { NUMBER, REAL } kind;

typedef struct form {
  const char *type;
  kind kind;
  size_t bytes;
  bool is_signed;
  bool descending;
  bool place; /* behind the key is the record's number; otherwise a record is its key */
} form;

static const form forms[] = {
    {"uint8", NUMBER, 1, false, false, true},    {"int16", NUMBER, 2, true, true, true},
    {"uint32", NUMBER, 4, false, false, true},   {"int32", NUMBER, 4, true, true, true},
    {"uint64", NUMBER, 8, false, true, true},    {"int64", NUMBER, 8, true, false, true},
    {"uint128", NUMBER, 16, false, false, true}, {"int128", NUMBER, 16, true, true, true},
    {"float32", REAL, 4, true, false, true},     {"float64", REAL, 8, true, true, true},
    {"uint32", NUMBER, 4, false, false, false},  {"uint64", NUMBER, 8, false, false, false}};
enum { FORMS = sizeof forms / sizeof *forms };

/* ---- Values ---- */

__extension__ typedef unsigned __int128 uint128;

/* How ranks become numbers: half of them at each end, at equal distances, or the first at the least
 * value and the others so close together that only the lowest bits tell them apart. */
typedef enum mapping { ENDS, SPREAD, CLOSE, MAPPINGS } mapping;

static uint128 number_of(mapping how, size_t rank, size_t ranks, uint128 greatest)
{
  switch (how) {
  case ENDS:
    return 2 * rank < ranks ? rank : greatest - (ranks - 1 - rank);
  case SPREAD:
    return rank + 1 == ranks ? greatest : greatest / ranks * rank;
  default:
    return rank == 0 ? 0 : greatest / 2 + rank;
  }
}

/* Floats in ascending order: NaNs are last in either direction. */
static double real_of(const form *f, mapping how, size_t rank, size_t ranks, bool other)
{
  const double greatest = f->bytes == 4 ? (double)FLT_MAX : DBL_MAX;
  const double least = f->bytes == 4 ? (double)FLT_TRUE_MIN : DBL_TRUE_MIN;
  const double reals[MAPPINGS][MOST_RANKS - 1] = {
      {-(double)INFINITY, -greatest, -least, other ? -0.0 : 0.0, least, greatest, (double)INFINITY},
      {-3, -2, -1, other ? -0.0 : 0.0, 1, 2, 3},
      {-greatest, 1, 1.5, 2, 3, 4, greatest}};
  const size_t numbers = ranks < MOST_RANKS ? ranks : MOST_RANKS - 1;
  if (rank == numbers) return other ? -(double)NAN : (double)NAN;
  return reals[how][f->descending ? numbers - 1 - rank : rank];
}

/* Writes the key of a rank. `other`: equal values that have other bits. */
static void write_key(const form *f, mapping how, size_t rank, size_t ranks, bool other, void *to)
{
  if (f->kind == REAL) {
    const double real = real_of(f, how, rank, ranks, other);
    const float half = (float)real;
    memcpy(to, f->bytes == 4 ? (const void *)&half : &real, f->bytes);
    return;
  }
  const uint128 all = ~(uint128)0 >> (128 - 8 * f->bytes);
  uint128 number = number_of(how, rank, ranks, all);
  if (f->descending) number = all - number;
  if (f->is_signed) number ^= (all >> 1) + 1;
  unsigned char *const bytes = to;
  for (size_t i = 0; i < f->bytes; i++)
    bytes[NATIVE_ENDIAN == RECSORT_BIG_ENDIAN ? f->bytes - 1 - i : i] =
        (unsigned char)(number >> 8 * i);
}

/* ---- Checks ---- */

/* A sorter, and the ordering that it sorts. */
typedef struct trial {
  form form;
  mapping how;
  recsort_sorter *sorter;
  const ordering *o;
  size_t size; /* of a record */
  unsigned char records[MOST_ELEMENTS * MOST_SIZE];
  unsigned char sorted[MOST_ELEMENTS * MOST_SIZE];
  unsigned char out[MOST_ELEMENTS * MOST_SIZE + 1];
} trial;

static void fail_with(const trial *t, const char *call)
{
  char text[4 * MOST_ELEMENTS + 1] = "";
  for (size_t i = 0; i < t->o->count; i++)
    (void)snprintf(text + strlen(text), 5, " %u", t->o->rank[i]);
  fail_msg("%s, %s%s, mapping %d, ranks%s", call, t->form.type,
           t->form.descending ? " descending" : "", (int)t->how, text);
}

static void expect(const trial *t, bool good, const char *call)
{
  if (!good) fail_with(t, call);
}

/* The first `count` records of the order, and nothing behind them. */
static void expect_sorted(const trial *t, size_t count, const char *call)
{
  expect(t, memcmp(t->out, t->sorted, count * t->size) == 0, call);
  expect(t, t->out[count * t->size] == 0xee, call);
}

static void clear(trial *t)
{
  memset(t->out, 0xee, sizeof t->out);
}

static recsort_job job_of(const trial *t)
{
  recsort_job job = RECSORT_JOB_INIT;
  job.count = t->o->count;
  job.records = t->records;
  return job;
}

static void try_sorts(trial *t)
{
  const size_t count = t->o->count, bytes = count * t->size;
  size_t disorder = SIZE_MAX, first = 1;
  clear(t);
  expect(t, !recsort_sort_to(t->sorter, t->records, count, t->out, NULL), "sort_to");
  expect_sorted(t, count, "sort_to");
  clear(t);
  memcpy(t->out, t->records, bytes);
  expect(t, !recsort_sort(t->sorter, t->out, count, NULL), "sort");
  expect_sorted(t, count, "sort");
  while (first < count && t->o->rank[first - 1] <= t->o->rank[first])
    first++;
  expect(t, !recsort_check(t->sorter, t->records, count, &disorder, NULL), "check");
  expect(t, disorder == (first < count ? first : count), "check");
}

static void try_argsorts(trial *t)
{
  const size_t count = t->o->count;
  uint32_t halves[MOST_ELEMENTS];
  uint64_t wholes[MOST_ELEMENTS];
  size_t kept = 0, ranks = 0;
  recsort_job job = job_of(t);
  expect(t, !recsort_argsort(t->sorter, t->records, count, wholes, 64, NULL), "argsort of 64");
  expect(t, !recsort_argsort(t->sorter, t->records, count, halves, 32, NULL), "argsort of 32");
  for (size_t i = 0; i < count; i++)
    expect(t, wholes[i] == t->o->place[i] && halves[i] == t->o->place[i], "argsort");
  job.permutation = halves;
  job.index_bits = 32;
  expect(t, !recsort_unique(t->sorter, &job, &kept, NULL), "unique");
  for (size_t i = 0; i < count; i++)
    if (i == 0 || t->o->rank[t->o->place[i]] != t->o->rank[t->o->place[i - 1]])
      expect(t, ranks < kept && halves[ranks++] == t->o->place[i], "unique");
  expect(t, kept == ranks, "unique");
}

static void try_heads(trial *t)
{
  recsort_job job = job_of(t);
  job.sorted = t->out;
  for (job.head = 1; job.head < job.count; job.head++) {
    clear(t);
    expect(t, !recsort_run(t->sorter, &job, 1, NULL), "head");
    expect_sorted(t, job.head, "head");
  }
}

/* Bounds of the parts that begin at the bits of `cuts`. Returns how many parts there are. */
static size_t bounds_of(unsigned cuts, size_t count, uint32_t *bounds)
{
  size_t parts = 0;
  bounds[0] = 0;
  for (size_t i = 1; i < count; i++)
    if (cuts >> i & 1) bounds[++parts] = (uint32_t)i;
  bounds[++parts] = (uint32_t)count;
  return parts;
}

/* All ways to cut few records into segments, and all single cuts of more. */
static void try_segments(trial *t)
{
  const size_t count = t->o->count;
  uint32_t bounds[MOST_ELEMENTS + 1];
  recsort_job job = job_of(t);
  job.sorted = t->out;
  job.parts = RECSORT_SEGMENTS;
  job.offsets = bounds;
  job.offset_bits = 32;
  for (unsigned cuts = 0; cuts < 1u << count; cuts += 2) {
    if (count > ASKED_ALL && (cuts & (cuts - 1))) continue;
    job.part_count = bounds_of(cuts, count, bounds);
    clear(t);
    expect(t, !recsort_run(t->sorter, &job, 1, NULL), "segments");
    size_t at = 0;
    for (size_t part = 0; part < job.part_count; part++)
      for (size_t i = 0; i < count; i++)
        if (t->o->place[i] >= bounds[part] && t->o->place[i] < bounds[part + 1])
          expect(t,
                 !memcmp(t->out + at++ * t->size, t->records + t->o->place[i] * t->size, t->size),
                 "segments");
    expect(t, at == count, "segments");
  }
}

/* All ways to cut records into sorted runs. */
static void try_merges(trial *t)
{
  const size_t count = t->o->count;
  uint32_t bounds[MOST_ELEMENTS + 1], order[MOST_ELEMENTS];
  for (unsigned cuts = 0; cuts < 1u << count; cuts += 2) {
    if (descents_of(t->o) & ~cuts) continue;
    recsort_job job = job_of(t);
    job.parts = RECSORT_RUNS;
    job.offsets = bounds;
    job.offset_bits = 32;
    job.part_count = bounds_of(cuts, count, bounds);
    job.sorted = t->out;
    clear(t);
    expect(t, !recsort_run(t->sorter, &job, 1, NULL), "merge");
    expect_sorted(t, count, "merge");
    memcpy(t->out, t->records, count * t->size);
    job.records = t->out;
    expect(t, !recsort_run(t->sorter, &job, 1, NULL), "merge in place");
    expect_sorted(t, count, "merge in place");
    job = job_of(t);
    job.parts = RECSORT_RUNS;
    job.offsets = bounds;
    job.offset_bits = 32;
    job.part_count = bounds_of(cuts, count, bounds);
    job.permutation = order;
    job.index_bits = 32;
    expect(t, !recsort_run(t->sorter, &job, 1, NULL), "order of runs");
    for (size_t i = 0; i < count; i++)
      expect(t, order[i] == t->o->place[i], "order of runs");
  }
}

/* Each pair of records as splitters, one of which may be the other. */
static void try_partitions(trial *t)
{
  const size_t count = t->o->count, mark = recsort_key_size(t->sorter) + RECSORT_MARK_EXTRA;
  unsigned char marks[MOST_ELEMENTS * MARK_ROOM], pair[2 * MARK_ROOM];
  size_t offsets[4], cuts[2];
  expect(t, !recsort_partition_sample(t->sorter, t->records, count, 0, count, marks, NULL),
         "sample");
  for (size_t low = 0; low < count; low++)
    for (size_t high = low; high < count; high++) {
      memcpy(pair, marks + t->o->place[low] * mark, mark);
      memcpy(pair + mark, marks + t->o->place[high] * mark, mark);
      clear(t);
      expect(t,
             !recsort_partition_records(t->sorter, t->records, count, 0, pair, 2, t->out, offsets,
                                        NULL),
             "partition");
      expect(t, offsets[0] == 0 && offsets[1] == low && offsets[2] == high && offsets[3] == count,
             "partition");
      size_t at = 0;
      for (size_t part = 0; part < 3; part++)
        for (size_t i = 0; i < count; i++) {
          size_t where = 0;
          while (t->o->place[where] != i)
            where++;
          if (where >= offsets[part] && where < offsets[part + 1])
            expect(t, !memcmp(t->out + at++ * t->size, t->records + i * t->size, t->size),
                   "partition");
        }
    }
  expect(t, !recsort_partition_sample(t->sorter, t->sorted, count, 0, count, marks, NULL),
         "sample");
  for (size_t low = 0; low < count; low++)
    for (size_t high = 0; high < count; high++) {
      memcpy(pair, marks + low * mark, mark);
      memcpy(pair + mark, marks + high * mark, mark);
      expect(t, !recsort_partition_sorted(t->sorter, t->sorted, count, 0, pair, 2, cuts, NULL),
             "cuts");
      expect(t, cuts[0] == low && cuts[1] == high, "cuts");
    }
}

/* ---- All of them ---- */

static void begin(trial *t, const ordering *o)
{
  t->o = o;
  for (size_t i = 0; i < o->count; i++) {
    unsigned char *const record = t->records + i * t->size;
    write_key(&t->form, t->how, o->rank[i], o->ranks, i % 2, record);
    if (t->form.place) record[t->size - 1] = (unsigned char)i;
  }
  for (size_t i = 0; i < o->count; i++)
    memcpy(t->sorted + i * t->size, t->records + o->place[i] * t->size, t->size);
}

static void try_all(const ordering *o, void *argument)
{
  trial *const t = argument;
  begin(t, o);
  try_sorts(t);
  if (t->form.place) try_argsorts(t);
  try_heads(t);
  try_segments(t);
  try_merges(t);
  if (o->count <= ASKED_ALL) try_partitions(t);
}

static void try_order(const ordering *o, void *argument)
{
  begin(argument, o);
  try_sorts(argument);
  try_argsorts(argument);
}

/* Runs tasks one after the other, the last one first. */
static void run_backwards(void *context, void (*task)(void *argument, size_t number),
                          void *argument, size_t count)
{
  (void)context;
  while (count-- > 0)
    task(argument, count);
}

static recsort_sorter *open_sorter(const form *f, const char *algorithm)
{
  static const recsort_key_desc keys[] = {{.path = "key"},
                                          {.path = "key", .order = RECSORT_DESCENDING}};
  const recsort_executor executor = {
      .struct_size = sizeof executor, .run = run_backwards, .threads = threads};
  const recsort_options options = {.struct_size = sizeof options,
                                   .keys = &keys[f->descending],
                                   .key_count = 1,
                                   .plugin = "cpu",
                                   .algorithm = algorithm,
                                   .threads = threads,
                                   .executor = &executor};
  char text[200];
  (void)snprintf(text, sizeof text,
                 "record: R\n" NATIVE "layout: packed\nfields:\n  - {name: key, type: %s}\n%s",
                 f->type, f->place ? "  - {name: place, type: uint8}\n" : "");
  return sorter_of(text, &options);
}

static void try_forms(const char *algorithm, void (*body)(const ordering *, void *))
{
  for (size_t f = 0; f < FORMS; f++) {
    recsort_sorter *const sorter = open_sorter(&forms[f], algorithm);
    for (size_t count = 0; count <= most; count++)
      for (mapping how = 0; how < MAPPINGS; how++) {
        trial t = {forms[f], how, sorter, .size = forms[f].bytes + forms[f].place};
        if (count >= FEWER_FORMS && (f % 3 || how != f / 3 % MAPPINGS)) continue;
        if (count >= FEWEST_FORMS && f % 2 == 0) continue;
        assert_int_equal(each_ordering(count, body, &t), orderings_of[count]);
      }
    recsort_sorter_destroy(sorter);
  }
}

static void test_parallel(void **state)
{
  (void)state;
  try_forms("parallel", try_all);
}

static void test_sequential(void **state)
{
  (void)state;
  try_forms("sequential", try_order);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_parallel),
                                     cmocka_unit_test(test_sequential)};
  if (argc != 3) return 2;
  most = strtoul(argv[1], NULL, 10);
  threads = (unsigned)strtoul(argv[2], NULL, 10);
  if (most == 0 || most > MOST_ELEMENTS) return 2;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
