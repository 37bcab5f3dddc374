/* records.c - sorts records through the public functions and compares with the oracle. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "kind_schema.h"
#include "patterns.h"
#include "suite.h"
#include "support/columns.h"
#include "support/jobs.h"
#include "support/random.h"

enum { MOST_IN_COLUMNS = (1 << 16) + 1 /* so many take several threads */ };

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

/* An input, and memory for what the checks make of it. */
typedef struct sample {
  suite *suite;
  const suite_case *now;
  const uint64_t *order; /* the expected result */
  unsigned char *sorted;
  uint64_t *index;
  unsigned char *columns; /* for MOST_IN_COLUMNS */
} sample;

/* ---- Cases ---- */

/* One call of the library as the suite wants it. */
typedef struct call {
  recsort_sorter *sorter;
  unsigned bits;
  recsort_error error;
} call;

static int argsort(void *context, const suite_case *c)
{
  call *const made = context;
  if (recsort_argsort(made->sorter, c->input, c->count, c->places, made->bits, &made->error))
    return SUITE_BROKEN;
  for (size_t i = made->bits == 32 ? c->count : 0; i-- > 0;) { /* each takes the room of two */
    uint32_t narrow;
    memcpy(&narrow, (const char *)c->places + i * sizeof narrow, sizeof narrow);
    c->places[i] = narrow;
  }
  return SUITE_PLACED;
}

static int sort(void *context, const suite_case *c)
{
  call *const made = context;
  const recsort_status status =
      made->bits == 32
          ? recsort_sort(made->sorter, c->records, c->count, &made->error)
          : recsort_sort_to(made->sorter, c->input, c->count, c->records, &made->error);
  return status ? SUITE_BROKEN : SUITE_SORTED;
}

static const char *first_fault(unsigned faults)
{
  for (size_t i = 0; i < SUITE_FAULTS; i++)
    if (faults >> i & 1) return suite_fault_names[i];
  return "";
}

static void check_case(const bench *b, const sample *s, size_t w, size_t threads, unsigned bits,
                       tally *t)
{
  call made = {b->sorters[w][threads], bits, {0}};
  const char *what = "argsort";
  unsigned faults = suite_try(s->suite, argsort, &made, NULL);
  if (!faults) {
    what = bits == 32 ? "sort" : "sort_to";
    faults = suite_try(s->suite, sort, &made, NULL);
  }
  count_case(t, !faults, "%s %s, %u threads, %u-bit index, %s, %s, %zu records: %s: %s %s",
             b->ways[w].plugin, b->ways[w].algorithm, thread_counts[threads], bits, b->kind->name,
             s->now->pattern, s->now->count, what, first_fault(faults), made.error.text);
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
  const size_t bytes = s->now->count * b->record_size;
  memcpy(s->sorted, s->now->input, bytes);
  const recsort_status status = recsort_sort(b->sorters[w][0], s->sorted, s->now->count, NULL);
  count_case(t,
             status == (s->now->count ? RECSORT_PLUGIN_ERROR : RECSORT_OK) &&
                 memcmp(s->sorted, s->now->input, bytes) == 0,
             "%s %s, %s, %zu records: its keys are not refused", b->ways[w].plugin,
             b->ways[w].algorithm, b->kind->name, s->now->count);
}

/* Whether `sorted` begins with these records of the input. */
static bool has_order(const bench *b, const sample *s, size_t count)
{
  const size_t size = b->record_size;
  for (size_t i = 0; i < count; i++)
    if (memcmp(s->sorted + i * size, s->now->input + s->order[i] * size, size) != 0) return false;
  return true;
}

/* The first ones alone, few and many, up to more than there are. */
static void check_head(const bench *b, const sample *s, size_t w, size_t threads, size_t head,
                       tally *t)
{
  recsort_sorter *const sorter = b->sorters[w][threads];
  const size_t wanted = head < s->now->count ? head : s->now->count,
               bytes = wanted * b->record_size;
  unsigned char *const behind = s->sorted + bytes;
  recsort_error error = {0};
  memset(s->sorted, 0xee, bytes + 1);
  const recsort_job job = {
      .count = s->now->count, .records = s->now->input, .sorted = s->sorted, .head = head};
  const bool good =
      run_job(sorter, job, &error) == RECSORT_OK && has_order(b, s, wanted) && *behind == 0xee;
  count_case(t, good, "%s %s, %u threads, %s, %s, the first %zu of %zu records: %s",
             b->ways[w].plugin, b->ways[w].algorithm, thread_counts[threads], b->kind->name,
             s->now->pattern, head, s->now->count, error.text);
}

/* The fields in arrays of their own: the order of all, or of the first ones. */
static void check_columns(const bench *b, sample *s, size_t w, size_t threads, size_t head,
                          uint64_t *random, tally *t)
{
  recsort_sorter *const sorter = b->sorters[w][threads];
  const size_t wanted = head && head < s->now->count ? head : s->now->count;
  recsort_column columns[COLUMNS_MOST];
  recsort_error error = {0};
  const size_t count =
      columns_split(b->schema, s->now->input, s->now->count, s->columns, random, columns);
  memset(s->index, 0xee, s->now->count * sizeof *s->index);
  const recsort_job job = {.count = s->now->count,
                           .columns = columns,
                           .column_count = count,
                           .permutation = s->index,
                           .index_bits = 64,
                           .head = head};
  const bool good =
      run_job(sorter, job, &error) == RECSORT_OK && is_order(s->index, 64, s->order, wanted);
  count_case(t, good, "%s %s, %u threads, %s, %s, the first %zu of %zu in columns: %s",
             b->ways[w].plugin, b->ways[w].algorithm, thread_counts[threads], b->kind->name,
             s->now->pattern, wanted, s->now->count, error.text);
}

/* What suite_each calls. */
typedef struct visit {
  const bench *bench;
  sample *sample;
  uint64_t random;
  tally *tally;
} visit;

/* Sorts one input with every algorithm, with a random number of threads and a random index
 * width. */
static void check_sample(void *context, suite_input input)
{
  enum { SURE = 12 }; /* with fewer, all may differ by chance */
  visit *const v = context;
  const size_t count = input.count;
  const bench *const b = v->bench;
  sample *const s = v->sample;
  tally *const t = v->tally;
  uint64_t *const random = &v->random;
  s->now = suite_make(s->suite, input, random);
  if (count >= SURE && !suite_has_ties(s->suite)) /* it would say nothing about stability */
    count_case(t, false, "%s, %s, %zu records: no ties", b->kind->name, s->now->pattern, count);
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

/* Long runs of records that differ only in the last bits of a wide key, sorted with every number of
 * threads. */
static void check_long_runs(const bench *b, sample *s, tally *t)
{
  enum { COUNT = (1 << 17) + (1 << 16) + 5 };
  uint64_t random = 1;
  for (size_t p = 0; p < pattern_count; p++) {
    if (strcmp(patterns[p].name, "one common prefix") != 0) continue;
    s->now = suite_make(s->suite, (suite_input){(size_t)(b->kind - kinds), p, COUNT}, &random);
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
  const size_t bytes = (size_t)SUITE_MOST * KIND_MAX_RECORD;
  sample s = {.suite = suite_create(SUITE_MOST),
              .sorted = malloc(bytes + 1),
              .index = malloc(SUITE_MOST * sizeof *s.index),
              .columns = malloc(columns_bytes(KIND_MAX_RECORD, MOST_IN_COLUMNS))};
  const bool have_memory = s.suite && s.sorted && s.index && s.columns;
  if (have_memory) s.order = suite_places(s.suite);
  for (size_t k = 0; k < kind_count && have_memory; k++) {
    bench b = {.kind = &kinds[k],
               .record_size = kind_record_size(&kinds[k]),
               .ways = ways,
               .way_count = way_count,
               .few = few};
    const bool good = open_bench(&b);
    count_case(t, good, "kind %s: no sorter", kinds[k].name);
    visit v = {&b, &s, k, t};
    if (good) suite_each(k, few, check_sample, &v);
    if (good && !few && (kinds[k].count == KIND_MAX_KEYS || strcmp(kinds[k].name, "char[80]") == 0))
      check_long_runs(&b, &s, t);
    close_bench(&b);
  }
  count_case(t, have_memory, "no memory for the samples");
  suite_destroy(s.suite);
  free(s.sorted);
  free(s.index);
  free(s.columns);
}
