/* records.c - sorts records through the public functions and compares with the oracle. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "kinds.h"
#include "patterns.h"
#include "support/columns.h"
#include "support/jobs.h"
#include "support/random.h"

enum {
  SMALL_LENGTHS = 71,
  MAX_RECORDS = (1 << 18) + 1,
  MOST_IN_COLUMNS = (1 << 16) + 1 /* so many take several threads */
};

/* Counts at which sorts change their behaviour: powers of two, tiles, blocks; tested with their
 * neighbours. */
static const size_t edges[] = {128,
                               256,
                               512,
                               1024,
                               2048,
                               1 << 12,
                               3 << 11, /* tiles of devices */
                               1 << 13,
                               3 << 12,
                               1 << 14,
                               1 << 15,
                               (3 << 14) + 5461,
                               1 << 16,
                               (5 << 14) + 77,
                               1 << 17,
                               (1 << 17) + (1 << 16),
                               1 << 18};
enum { EDGES = sizeof edges / sizeof *edges };

/* A kind of record, with a sorter for each way and number of threads. */
typedef struct bench {
  const kind *kind;
  recsort_schema *schema;
  oracle_key keys[KIND_MAX_KEYS];
  size_t record_size;
  const way *ways;
  size_t way_count;
  bool few;
  recsort_sorter *sorters[MAX_WAYS][THREAD_COUNTS];
} bench;

/* An input with its expected result. */
typedef struct sample {
  const char *pattern;
  size_t count;
  unsigned char *records;
  unsigned char *expected;
  unsigned char *sorted;
  uint64_t *order;
  uint64_t *index;
  unsigned char *columns; /* for MOST_IN_COLUMNS */
} sample;

static void find_expected(const bench *b, sample *s)
{
  for (size_t i = 0; i < s->count; i++)
    s->order[i] = i;
  kind_sort(b->kind, b->keys, s->records, s->order, s->count);
  for (size_t i = 0; i < s->count; i++)
    memcpy(s->expected + i * b->record_size, s->records + s->order[i] * b->record_size,
           b->record_size);
}

static void make_records(const bench *b, const pattern *p, sample *s, uint64_t *random)
{
  p->fill(s->index, s->count, UINT64_C(1) << RANK_BITS, random);
  for (size_t i = 0; i < s->count; i++)
    kind_fill(b->kind, b->keys, s->index[i], next_random(random), i,
              s->records + i * b->record_size);
  s->pattern = p->name;
  find_expected(b, s);
}

/* Without ties, a test says nothing about stability. */
static bool has_ties(const bench *b, const sample *s)
{
  for (size_t i = 1; i < s->count; i++)
    if (oracle_compare(b->keys, b->kind->count, s->expected + (i - 1) * b->record_size,
                       s->expected + i * b->record_size) == 0)
      return true;
  return false;
}

/* ---- Cases ---- */

static void check_case(const bench *b, const sample *s, size_t w, size_t threads, unsigned bits,
                       tally *t)
{
  recsort_sorter *sorter = b->sorters[w][threads];
  const size_t bytes = s->count * b->record_size;
  recsort_error error = {0};
  memset(s->index, 0xee, s->count * sizeof *s->index);
  const char *what = "argsort";
  bool good = recsort_argsort(sorter, s->records, s->count, s->index, bits, &error) == RECSORT_OK &&
              is_order(s->index, bits, s->order, s->count);
  if (good) {
    what = bits == 32 ? "sort" : "sort_to";
    memcpy(s->sorted, s->records, bytes);
    good = (bits == 32
                ? recsort_sort(sorter, s->sorted, s->count, &error)
                : recsort_sort_to(sorter, s->records, s->count, s->sorted, &error)) == RECSORT_OK &&
           memcmp(s->sorted, s->expected, bytes) == 0;
  }
  count_case(t, good, "%s %s, %u threads, %u-bit index, %s, %s, %zu records: %s %s",
             b->ways[w].plugin, b->ways[w].algorithm, thread_counts[threads], bits, b->kind->name,
             s->pattern, s->count, what, error.text);
}

/* True if the keys are wider than the plugin sorts. */
static bool is_refused(const bench *b, size_t w)
{
  enum { MOST_OF_CUDA = 128 };
  recsort_stats stats;
  recsort_sorter_get_stats(b->sorters[w][0], &stats, sizeof stats);
  return strcmp(b->ways[w].plugin, "cuda") == 0 && stats.key_width > MOST_OF_CUDA;
}

static void check_refused(const bench *b, const sample *s, size_t w, tally *t)
{
  const size_t bytes = s->count * b->record_size;
  memcpy(s->sorted, s->records, bytes);
  const recsort_status status = recsort_sort(b->sorters[w][0], s->sorted, s->count, NULL);
  count_case(t,
             status == (s->count ? RECSORT_PLUGIN_ERROR : RECSORT_OK) &&
                 memcmp(s->sorted, s->records, bytes) == 0,
             "%s %s, %s, %zu records: its keys are not refused", b->ways[w].plugin,
             b->ways[w].algorithm, b->kind->name, s->count);
}

/* The first ones alone, few and many, up to more than there are. */
static void check_head(const bench *b, const sample *s, size_t w, size_t threads, size_t head,
                       tally *t)
{
  recsort_sorter *const sorter = b->sorters[w][threads];
  const size_t wanted = head < s->count ? head : s->count, bytes = wanted * b->record_size;
  unsigned char *const behind = s->sorted + bytes;
  recsort_error error = {0};
  memset(s->sorted, 0xee, bytes + 1);
  const recsort_job job = {
      .count = s->count, .records = s->records, .sorted = s->sorted, .head = head};
  const bool good = run_job(sorter, job, &error) == RECSORT_OK &&
                    memcmp(s->sorted, s->expected, bytes) == 0 && *behind == 0xee;
  count_case(t, good, "%s %s, %u threads, %s, %s, the first %zu of %zu records: %s",
             b->ways[w].plugin, b->ways[w].algorithm, thread_counts[threads], b->kind->name,
             s->pattern, head, s->count, error.text);
}

/* The fields in arrays of their own: the order of all, or of the first ones. */
static void check_columns(const bench *b, sample *s, size_t w, size_t threads, size_t head,
                          uint64_t *random, tally *t)
{
  recsort_sorter *const sorter = b->sorters[w][threads];
  const size_t wanted = head && head < s->count ? head : s->count;
  recsort_column columns[COLUMNS_MOST];
  recsort_error error = {0};
  const size_t count = columns_split(b->schema, s->records, s->count, s->columns, random, columns);
  memset(s->index, 0xee, s->count * sizeof *s->index);
  const recsort_job job = {.count = s->count,
                           .columns = columns,
                           .column_count = count,
                           .permutation = s->index,
                           .index_bits = 64,
                           .head = head};
  const bool good =
      run_job(sorter, job, &error) == RECSORT_OK && is_order(s->index, 64, s->order, wanted);
  count_case(t, good, "%s %s, %u threads, %s, %s, the first %zu of %zu in columns: %s",
             b->ways[w].plugin, b->ways[w].algorithm, thread_counts[threads], b->kind->name,
             s->pattern, wanted, s->count, error.text);
}

/* Sorts one input with every algorithm, with a random number of threads and a random index
 * width. */
static void check_sample(const bench *b, const pattern *p, size_t count, sample *s,
                         uint64_t *random, tally *t)
{
  enum { SURE = 12 }; /* with fewer, all may differ by chance */
  s->count = count;
  make_records(b, p, s, random);
  if (count >= SURE && !has_ties(b, s))
    count_case(t, false, "%s, %s, %zu records: no ties", b->kind->name, p->name, count);
  for (size_t w = 0; w < b->way_count; w++)
    if (is_refused(b, w))
      check_refused(b, s, w, t);
    else
      check_case(b, s, w, random_below(random, THREAD_COUNTS), random_below(random, 2) ? 32 : 64,
                 t);
  if (is_refused(b, 0)) return;
  const size_t few = count >> (4 + random_below(random, 12));
  check_head(b, s, 0, random_below(random, THREAD_COUNTS), few + 1, t);
  if (random_below(random, 8) == 0) check_head(b, s, 0, 0, 1 + random_below(random, count + 2), t);
  const size_t w = random_below(random, b->way_count);
  if (count <= MOST_IN_COLUMNS && random_below(random, 4) == 0 && !is_refused(b, w))
    check_columns(b, s, w, random_below(random, THREAD_COUNTS), random_below(random, 2) * (few + 1),
                  random, t);
}

/* Tests around edge `e`, with fewer kinds the larger it is. Up to 2^16, every pattern is tested
 * with at least one kind at one of the three lengths, and with other kinds at the next edge. */
static void check_edge(const bench *b, size_t e, sample *s, uint64_t *random, tally *t)
{
  enum { EACH = 400, NEIGHBOURS = 3, LARGE = 1 << 16 };
  const size_t least = (edges[e] > LARGE ? 4u : 1u) * NEIGHBOURS * kind_count;
  const size_t k = (size_t)(b->kind - kinds);
  const size_t stride = edges[e] / EACH < least ? edges[e] / EACH + 1 : least;
  for (size_t p = 0; p < pattern_count; p++)
    for (size_t n = 0; n < NEIGHBOURS; n++)
      if ((k + n * kind_count + 11 * p + 7 * e) % stride == 0)
        check_sample(b, &patterns[p], edges[e] - 1 + n, s, random, t);
}

static void check_kind(const bench *b, sample *s, tally *t)
{
  enum { FEW = 100 };
  uint64_t random = (uint64_t)(b->kind - kinds);
  for (size_t p = 0; p < pattern_count; p++)
    for (size_t count = 0; count < SMALL_LENGTHS; count++)
      if (!b->few || random_below(&random, FEW) == 0)
        check_sample(b, &patterns[p], count, s, &random, t);
  for (size_t e = 0; e < EDGES; e++)
    if (!b->few || random_below(&random, FEW) == 0) check_edge(b, e, s, &random, t);
}

/* Long runs of records that differ only in the last bits of a wide key, sorted with every number of
 * threads. */
static void check_long_runs(const bench *b, sample *s, tally *t)
{
  uint64_t random = 1;
  s->count = (1 << 17) + (1 << 16) + 5;
  for (size_t p = 0; p < pattern_count; p++) {
    if (strcmp(patterns[p].name, "one common prefix") != 0) continue;
    make_records(b, &patterns[p], s, &random);
    for (size_t w = 0; w < b->way_count; w++)
      for (size_t threads = 0; threads < THREAD_COUNTS && !is_refused(b, w); threads++)
        check_case(b, s, w, threads, threads % 2 ? 32 : 64, t);
  }
}

/* ---- Set-up ---- */

static bool open_bench(bench *b)
{
  b->schema = kind_schema(b->kind, b->keys);
  bool good = b->schema != NULL;
  for (size_t w = 0; w < b->way_count; w++)
    for (size_t i = 0; i < THREAD_COUNTS && good; i++) {
      const recsort_options options = {.struct_size = sizeof options,
                                       .plugin = b->ways[w].plugin,
                                       .algorithm = b->ways[w].algorithm,
                                       .threads = thread_counts[i]};
      good = recsort_sorter_create(b->schema, &options, &b->sorters[w][i], NULL) == RECSORT_OK;
    }
  return good;
}

static void close_bench(bench *b)
{
  for (size_t w = 0; w < b->way_count; w++)
    for (size_t i = 0; i < THREAD_COUNTS; i++)
      recsort_sorter_destroy(b->sorters[w][i]);
  recsort_schema_destroy(b->schema);
}

void test_records(const way *ways, size_t way_count, bool few, tally *t)
{
  const size_t bytes = (size_t)MAX_RECORDS * KIND_MAX_RECORD;
  sample s = {.records = malloc(bytes),
              .expected = malloc(bytes),
              .sorted = malloc(bytes + 1),
              .order = malloc(MAX_RECORDS * sizeof *s.order),
              .index = malloc(MAX_RECORDS * sizeof *s.index),
              .columns = malloc(columns_bytes(KIND_MAX_RECORD, MOST_IN_COLUMNS))};
  const bool have_memory = s.records && s.expected && s.sorted && s.order && s.index && s.columns;
  for (size_t k = 0; k < kind_count && have_memory; k++) {
    bench b = {.kind = &kinds[k],
               .record_size = kind_record_size(&kinds[k]),
               .ways = ways,
               .way_count = way_count,
               .few = few};
    const bool good = open_bench(&b);
    count_case(t, good, "kind %s: no sorter", kinds[k].name);
    if (good) check_kind(&b, &s, t);
    if (good && !few && (kinds[k].count == KIND_MAX_KEYS || strcmp(kinds[k].name, "char[80]") == 0))
      check_long_runs(&b, &s, t);
    close_bench(&b);
  }
  count_case(t, have_memory, "no memory for the samples");
  free(s.records);
  free(s.expected);
  free(s.sorted);
  free(s.order);
  free(s.index);
  free(s.columns);
}
