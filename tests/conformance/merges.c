/* merges.c - sorted runs merged through the public calls, and held against the oracle: the order of
 * all records, one run after the other, sorted stably. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "kind_schema.h"
#include "support/jobs.h"
#include "support/random.h"

enum { MOST_RECORDS = 200000, MERGE_THREADS = 3 };
static const unsigned merge_threads[MERGE_THREADS] = {1, 2, 4};

/* How many runs, of how many records in all. */
typedef struct shape {
  const char *name;
  size_t runs;
  size_t records;
} shape;

static const shape shapes[] = {
    {"no run", 0, 0},
    {"one run", 1, 20000},
    {"two runs", 2, 100},
    {"two long runs", 2, 70001},
    {"three runs", 3, 17000},
    {"16 runs", 16, 40000},
    {"17 runs", 17, 40000},
    {"65 runs", 65, 3000},
    {"257 runs", 257, 40000},
    {"512 runs", 512, 50000},
    {"513 runs", 513, 40000},
    {"1000 runs", 1000, 60000},
    {"65536 runs", 65536, MOST_RECORDS},
};

/* How many records a run has. Empty ones come in each. */
typedef enum spread { SPREAD_ANY, SPREAD_EVEN, SPREAD_ONE_LONG, SPREADS } spread;
static const char *const spread_names[SPREADS] = {"any lengths", "even lengths", "one long run"};

typedef enum order { ORDER_RANDOM, ORDER_EQUAL, ORDER_FEW, ORDER_APART, ORDERS } order;
static const char *const order_names[ORDERS] = {"random", "all equal", "few values",
                                                "one run after the other"};

typedef struct merge_bench {
  const char *plugin;
  const kind *kind;
  oracle_key keys[KIND_MAX_KEYS];
  size_t record_size;
  recsort_sorter *sorters[MERGE_THREADS];
  size_t *offsets; /* RECSORT_MOST_RUNS + 1 */
  const void **arrays;
  size_t run_count;
  size_t count;
  unsigned char *records;
  unsigned char *sorted;
  unsigned char *expected;
  uint64_t *places;
  uint64_t *index;
} merge_bench;

/* ---- The oracle ---- */

/* Sorts records [begin, end) of `from` into the same places of `to`. */
static void sort_places(const merge_bench *b, const unsigned char *from, size_t begin, size_t end,
                        unsigned char *to)
{
  for (size_t i = begin; i < end; i++)
    b->places[i] = i;
  kind_sort(b->kind, b->keys, from, b->places + begin, end - begin);
  for (size_t i = begin; i < end; i++)
    memcpy(to + i * b->record_size, from + b->places[i] * b->record_size, b->record_size);
}

/* ---- Runs ---- */

static void make_lengths(merge_bench *b, const shape *s, spread how, uint64_t *random)
{
  size_t left = s->records;
  b->run_count = s->runs;
  b->offsets[0] = 0;
  for (size_t r = 0; r < s->runs; r++) {
    const size_t runs_left = s->runs - r, mean = left / runs_left;
    size_t count = mean;
    if (how == SPREAD_ANY) count = (size_t)random_below(random, 2 * mean + 2);
    if (how == SPREAD_ONE_LONG) count = r == s->runs / 2 ? left - left / 4 : mean / 3;
    if (random_below(random, 10) == 0) count = 0;
    if (count > left) count = left;
    if (how != SPREAD_ONE_LONG && runs_left == 1) count = left;
    b->offsets[r + 1] = b->offsets[r] + count;
    left -= count;
  }
  b->count = b->offsets[s->runs];
}

static uint64_t rank_for(order what, size_t run, size_t run_count, uint64_t *random)
{
  const uint64_t end = UINT64_C(1) << RANK_BITS;
  switch (what) {
  case ORDER_EQUAL:
    return end / 3;
  case ORDER_FEW:
    return random_below(random, 7) * (end / 7);
  case ORDER_APART:
    return (run * end + random_below(random, end)) / run_count;
  default:
    return random_below(random, end / 2) * 2;
  }
}

/* Records in sorted runs, each with its place as its tag, and what must become of them. */
static void make_runs(merge_bench *b, order what, uint64_t *random)
{
  for (size_t r = 0; r < b->run_count; r++) {
    for (size_t i = b->offsets[r]; i < b->offsets[r + 1]; i++)
      kind_fill(b->kind, b->keys, rank_for(what, r, b->run_count, random), next_random(random), 0,
                b->sorted + i * b->record_size);
    sort_places(b, b->sorted, b->offsets[r], b->offsets[r + 1], b->records);
  }
  for (size_t i = 0; i < b->count; i++) {
    const uint64_t tag = i;
    memcpy(b->records + (i + 1) * b->record_size - sizeof tag, &tag, sizeof tag);
  }
  sort_places(b, b->records, 0, b->count, b->expected);
}

static bool has_ties(const merge_bench *b)
{
  for (size_t i = 1; i < b->count; i++)
    if (oracle_compare(b->keys, b->kind->count, b->expected + (i - 1) * b->record_size,
                       b->expected + i * b->record_size) == 0)
      return true;
  return false;
}

/* ---- Cases ---- */

/* Runs that are not in one array. */
static recsort_status merge_apart(const merge_bench *b, recsort_sorter *sorter,
                                  recsort_error *error)
{
  recsort_job job = runs_job(NULL, b->offsets, b->run_count);
  job.part_records = b->arrays;
  job.sorted = b->sorted;
  return recsort_run(sorter, &job, 1, error);
}

/* What failed; NULL: nothing. */
static const char *merge_all_ways(const merge_bench *b, recsort_sorter *sorter, unsigned bits,
                                  recsort_error *error)
{
  const size_t bytes = b->count * b->record_size;
  memset(b->index, 0xee, b->count * sizeof *b->index);
  if (argmerge(sorter, b->records, b->offsets, b->run_count, b->index, bits, error) ||
      !is_order(b->index, bits, b->places, b->count))
    return "permutation";
  memset(b->sorted, 0xee, bytes);
  if (merge_apart(b, sorter, error) || memcmp(b->sorted, b->expected, bytes)) return "apart";
  memcpy(b->sorted, b->records, bytes);
  if (merge_in_place(sorter, b->sorted, b->offsets, b->run_count, error) ||
      memcmp(b->sorted, b->expected, bytes))
    return "in place";
  return NULL;
}

/* Two neighbours of a run change places, so that the latter is the only one out of order. False if
 * none are found whose keys differ. */
static bool plant_disorder(merge_bench *b, uint64_t *random, size_t *run, size_t *record)
{
  for (unsigned tries = 0; tries < 100 && b->count > 1; tries++) {
    const size_t at = 1 + (size_t)random_below(random, b->count - 1);
    unsigned char *const later = b->records + at * b->record_size, *const earlier =
                                                                       later - b->record_size;
    if (oracle_compare(b->keys, b->kind->count, earlier, later) >= 0) continue;
    size_t r = 0;
    while (b->offsets[r + 1] <= at)
      r++;
    if (b->offsets[r] == at) continue;
    *run = r;
    *record = at - b->offsets[r];
    for (size_t i = 0; i < b->record_size; i++) {
      const unsigned char byte = later[i];
      later[i] = earlier[i];
      earlier[i] = byte;
    }
    return true;
  }
  return false;
}

/* Every call finds what is not sorted, and names it; nothing has moved in place. */
static bool names_disorder(merge_bench *b, recsort_sorter *sorter, uint64_t *random)
{
  const size_t bytes = b->count * b->record_size;
  recsort_error errors[3];
  char text[64];
  size_t run, record;
  if (!plant_disorder(b, random, &run, &record)) return true;
  memcpy(b->sorted, b->records, bytes);
  (void)snprintf(text, sizeof text, "run %zu, record %zu: ", run, record);
  bool good = merge_in_place(sorter, b->sorted, b->offsets, b->run_count, &errors[0]) ==
                  RECSORT_UNSORTED_RUN &&
              memcmp(b->sorted, b->records, bytes) == 0 &&
              merge_to(sorter, b->records, b->offsets, b->run_count, b->sorted, &errors[1]) ==
                  RECSORT_UNSORTED_RUN &&
              argmerge(sorter, b->records, b->offsets, b->run_count, b->index, 64, &errors[2]) ==
                  RECSORT_UNSORTED_RUN;
  for (size_t i = 0; i < 3 && good; i++)
    good = strncmp(errors[i].text, text, strlen(text)) == 0;
  return good;
}

static void check_runs(merge_bench *b, const shape *s, spread how, order what, uint64_t *random,
                       tally *t)
{
  enum { SURE = 200 };
  make_lengths(b, s, how, random);
  make_runs(b, what, random);
  for (size_t r = 0; r < b->run_count; r++)
    b->arrays[r] =
        b->offsets[r] < b->offsets[r + 1] ? b->records + b->offsets[r] * b->record_size : NULL;
  if (b->count >= SURE && b->kind->count == 1 && b->kind->fields[0].size == 0 && !has_ties(b) &&
      what != ORDER_RANDOM)
    count_case(t, false, "%s, %s: no ties", b->kind->name, s->name);
  const size_t threads = random_below(random, MERGE_THREADS);
  const unsigned bits = random_below(random, 2) ? 32 : 64;
  recsort_error error = {0};
  const char *why = merge_all_ways(b, b->sorters[threads], bits, &error);
  count_case(t, !why, "%s: merge of %s, %s, %s, %s, %u threads: %s %s", b->plugin, s->name,
             spread_names[how], order_names[what], b->kind->name, merge_threads[threads], why,
             error.text);
  count_case(t, names_disorder(b, b->sorters[threads], random),
             "%s: disorder in %s, %s, %s, %s, %u threads", b->plugin, s->name, spread_names[how],
             order_names[what], b->kind->name, merge_threads[threads]);
}

static bool is_cuda(const merge_bench *b)
{
  return strcmp(b->plugin, "cuda") == 0;
}

/* Every kind with every shape; the longer, the fewer of the spreads and orders. A GPU may be an
 * emulated one, and would take minutes for all of them. */
static void check_kind(merge_bench *b, bool few, tally *t)
{
  enum { SHAPES = sizeof shapes / sizeof *shapes, LONG = 10000, MOST_EMULATED = 20000 };
  const size_t k = (size_t)(b->kind - kinds);
  uint64_t random = 77 + k;
  for (size_t s = 0; s < SHAPES; s++)
    for (size_t v = 0; v < SPREADS * ORDERS; v++) {
      if (few && is_cuda(b) && (k % 4 || shapes[s].records > MOST_EMULATED)) continue;
      const size_t stride = shapes[s].records > MOST_RECORDS / 2 ? 72
                            : shapes[s].records > LONG           ? 12
                                                                 : 2;
      if ((k + 5 * s + v) % (few ? 4 * stride : stride) == 0)
        check_runs(b, &shapes[s], (spread)(v / ORDERS), (order)(v % ORDERS), &random, t);
    }
}

static bool open_sorters(merge_bench *b)
{
  recsort_schema *schema = kind_schema(b->kind, b->keys);
  bool good = schema != NULL;
  for (size_t i = 0; i < MERGE_THREADS && good; i++) {
    const recsort_options options = {
        .struct_size = sizeof options, .plugin = b->plugin, .threads = merge_threads[i]};
    good = recsort_sorter_create(schema, &options, &b->sorters[i], NULL) == RECSORT_OK;
  }
  recsort_schema_destroy(schema);
  return good;
}

void test_merges(const char *plugin, bool few, tally *t)
{
  const size_t bytes = (size_t)MOST_RECORDS * KIND_MAX_RECORD;
  merge_bench b = {.plugin = plugin,
                   .offsets = malloc((RECSORT_MOST_RUNS + 1) * sizeof(size_t)),
                   .arrays = malloc(RECSORT_MOST_RUNS * sizeof(void *)),
                   .records = malloc(bytes),
                   .sorted = malloc(bytes),
                   .expected = malloc(bytes),
                   .places = malloc(MOST_RECORDS * sizeof(uint64_t)),
                   .index = malloc(MOST_RECORDS * sizeof(uint64_t))};
  const bool have_memory =
      b.offsets && b.arrays && b.records && b.sorted && b.expected && b.places && b.index;
  for (size_t k = 0; k < kind_count && have_memory; k++) {
    b.kind = &kinds[k];
    b.record_size = kind_record_size(&kinds[k]);
    memset(b.sorters, 0, sizeof b.sorters);
    const bool good = open_sorters(&b);
    count_case(t, good, "kind %s: no sorter", kinds[k].name);
    if (good) check_kind(&b, few, t);
    for (size_t i = 0; i < MERGE_THREADS; i++)
      recsort_sorter_destroy(b.sorters[i]);
  }
  count_case(t, have_memory, "no memory for the runs");
  free(b.offsets);
  free(b.arrays);
  free(b.records);
  free(b.sorted);
  free(b.expected);
  free(b.places);
  free(b.index);
}
