/* main.c - finds the splitters of many ranks in one process, with the code of recsort_mpi_sort, and
 * shows how even the parts are. It exchanges no records, but counts what would be exchanged.
 *
 * Usage: simulate RECORDS RANKS...     RECORDS: of each rank
 * Exit status: 1 if a part has more than 5% above its share, or records are kept unevenly. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refine.h"

enum { UNIFORM, ZIPF, SORTED, EQUAL, INPUTS };
static const char *const names[INPUTS] = {"uniform", "zipf", "sorted", "all equal"};

typedef struct simulation {
  recsort_sorter *sorter;
  size_t ranks, each; /* records of a rank */
  uint64_t *records;
  refine *refines; /* of each rank */
  size_t mark_size;
  unsigned char *own, *samples;
  uint64_t *counts, *before, *cuts, *sums;
  refine_sum *sorted;
  uint64_t traffic; /* bytes that the rounds reduce */
} simulation;

static void *make(size_t count, size_t size)
{
  void *const memory = calloc(count, size);
  if (memory) return memory;
  fprintf(stderr, "simulate: out of memory\n");
  exit(2);
}

static void check(recsort_status status, const recsort_error *error)
{
  if (!status) return;
  fprintf(stderr, "simulate: %s\n", error->text);
  exit(2);
}

static recsort_sorter *open_sorter(void)
{
  const recsort_field_desc field = {.name = "key", .type = RECSORT_BYTES, .size = sizeof(uint64_t)};
  const recsort_key_desc key = {.path = "key"};
  const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                    .record = "R",
                                    .fields = &field,
                                    .field_count = 1,
                                    .keys = &key,
                                    .key_count = 1};
  const recsort_options options = {.struct_size = sizeof options, .plugin = "cpu"};
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  check(recsort_schema_create(&desc, NULL, &schema, &error), &error);
  check(recsort_sorter_create(schema, &options, &sorter, &error), &error);
  recsort_schema_destroy(schema);
  return sorter;
}

static uint64_t next_random(uint64_t *state)
{
  uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* Key k of 2^20 comes about 1 / k as often as the first. */
static uint64_t value_of(int input, size_t number, uint64_t *random)
{
  switch (input) {
  case UNIFORM:
    return next_random(random) >> 32;
  case ZIPF:
    return (uint64_t)exp2(20.0 * (double)(next_random(random) >> 11) * 0x1p-53);
  case SORTED:
    return number / 2;
  default:
    return 1;
  }
}

/* Each rank's records, sorted; keys are bytes, so that they are alike on every machine. */
static void fill(simulation *s, int input)
{
  uint64_t random = 1;
  recsort_error error = {0};
  for (size_t i = 0; i < s->ranks * s->each; i++) {
    const uint64_t value = value_of(input, i, &random);
    unsigned char *const at = (unsigned char *)&s->records[i];
    for (size_t byte = 0; byte < 8; byte++)
      at[byte] = (unsigned char)(value >> (56 - 8 * byte));
  }
  for (size_t r = 0; r < s->ranks; r++)
    check(recsort_sort(s->sorter, s->records + r * s->each, s->each, &error), &error);
}

static void begin(simulation *s, uint64_t tolerance)
{
  const size_t count = s->ranks - 1;
  for (size_t r = 0; r < s->ranks; r++) {
    refine *const one = &s->refines[r];
    void *const memory =
        one->splitters ? one->splitters : make(1, refine_memory(s->mark_size, count));
    *one = (refine){.sorter = s->sorter,
                    .records = s->records + r * s->each,
                    .record_count = s->each,
                    .first = r * s->each,
                    .count = count};
    refine_open(one, s->ranks * s->each, memory);
    one->tolerance = tolerance;
    for (size_t i = 0; i < count; i++)
      one->splitters[i].target = (i + 1) * s->each;
  }
  s->traffic = 0;
}

/* One round of all ranks. */
static void go_round(simulation *s, size_t left)
{
  const size_t samples = left * REFINE_SAMPLES, bytes = samples * s->mark_size;
  recsort_error error = {0};
  memset(s->before, 0, left * sizeof *s->before);
  memset(s->samples, 0, bytes);
  memset(s->sums, 0, samples * sizeof *s->sums);
  for (size_t r = 0; r < s->ranks; r++) {
    refine_counts(&s->refines[r], s->counts);
    check(refine_sample(&s->refines[r], s->before, s->own, &error), &error);
    for (size_t i = 0; i < left; i++)
      s->before[i] += s->counts[i];
    for (size_t i = 0; i < bytes; i++)
      s->samples[i] |= s->own[i];
  }
  for (size_t r = 0; r < s->ranks; r++) {
    uint64_t *const cuts = s->cuts + r * samples;
    check(refine_cut(&s->refines[r], s->samples, cuts, &error), &error);
    for (size_t i = 0; i < samples; i++)
      s->sums[i] += cuts[i];
  }
  for (size_t r = 0; r < s->ranks; r++)
    refine_narrow(&s->refines[r], s->samples, samples, s->cuts + r * samples, s->sums, s->sorted);
  s->traffic += left * sizeof *s->before + bytes + samples * sizeof *s->sums;
}

/* The splitters that are left, on every rank. */
static size_t count_left(simulation *s)
{
  size_t left = 0;
  for (size_t r = 0; r < s->ranks; r++)
    left = refine_left(&s->refines[r]);
  return left;
}

/* The cut of rank `r` by splitter `i`; splitter 0 is the beginning. */
static size_t cut_of(const simulation *s, size_t r, size_t i)
{
  return i == 0 ? 0 : i == s->ranks ? s->each : s->refines[r].splitters[i - 1].low_cut;
}

/* The most records of a part, and the most parts of one rank that are not empty. */
static void measure(const simulation *s, size_t *most, size_t *messages)
{
  *most = *messages = 0;
  for (size_t i = 0; i < s->ranks; i++) {
    size_t part = 0;
    for (size_t r = 0; r < s->ranks; r++)
      part += cut_of(s, r, i + 1) - cut_of(s, r, i);
    if (part > *most) *most = part;
  }
  for (size_t r = 0; r < s->ranks; r++) {
    size_t sent = 0;
    for (size_t i = 0; i < s->ranks; i++)
      sent += cut_of(s, r, i + 1) > cut_of(s, r, i);
    if (sent > *messages) *messages = sent;
  }
}

static int simulate(simulation *s, int input, double tolerance)
{
  unsigned rounds = 0;
  size_t most, messages;
  begin(s, (uint64_t)(tolerance / 2 * (double)s->each));
  for (size_t left; (left = count_left(s)) > 0; rounds++)
    go_round(s, left);
  measure(s, &most, &messages);
  const double above = 100 * ((double)most / (double)s->each - 1);
  printf("%-9s %6zu %8zu %6.0f%% %6u %8.2f%% %8.2f %8zu\n", names[input], s->ranks, s->each,
         100 * tolerance, rounds, above, (double)s->traffic / (1 << 20), messages);
  fflush(stdout);
  return (double)most > (1 + tolerance) * (double)s->each;
}

/* The same by regular samples alone, REFINE_SAMPLES of each rank. */
static void sample_once(simulation *s, int input)
{
  const size_t each = REFINE_SAMPLES < s->each ? REFINE_SAMPLES : s->each, count = s->ranks - 1;
  size_t most, messages;
  recsort_error error = {0};
  for (size_t r = 0; r < s->ranks; r++)
    check(recsort_partition_sample(s->sorter, s->records + r * s->each, s->each, r * s->each, each,
                                   s->samples + r * each * s->mark_size, &error),
          &error);
  check(recsort_partition_splitters(s->sorter, s->samples, s->ranks * each, s->own, count, &error),
        &error);
  size_t *const cuts = make(count, sizeof *cuts);
  for (size_t r = 0; r < s->ranks; r++) {
    check(recsort_partition_sorted(s->sorter, s->records + r * s->each, s->each, r * s->each,
                                   s->own, count, cuts, &error),
          &error);
    for (size_t i = 0; i < count; i++)
      s->refines[r].splitters[i].low_cut = cuts[i];
  }
  free(cuts);
  measure(s, &most, &messages);
  printf("%-9s %6zu %8zu %7s %6s %8.2f%% %8.2f %8zu\n", names[input], s->ranks, s->each, "-", "-",
         100 * ((double)most / (double)s->each - 1),
         (double)(s->ranks * each * s->mark_size) / (1 << 20), messages);
}

static int run(size_t each, size_t ranks)
{
  const size_t samples = ranks * REFINE_SAMPLES;
  simulation s = {.sorter = open_sorter(), .ranks = ranks, .each = each};
  int failed = 0;
  s.mark_size = recsort_key_size(s.sorter) + RECSORT_MARK_EXTRA;
  s.records = make(ranks * each, sizeof *s.records);
  s.refines = make(ranks, sizeof *s.refines);
  s.own = make(samples, s.mark_size);
  s.samples = make(samples, s.mark_size);
  s.counts = make(ranks, sizeof *s.counts);
  s.before = make(ranks, sizeof *s.before);
  s.cuts = make(samples * ranks, sizeof *s.cuts);
  s.sums = make(samples, sizeof *s.sums);
  s.sorted = make(samples, sizeof *s.sorted);
  for (int input = 0; input < INPUTS; input++) {
    fill(&s, input);
    failed |= simulate(&s, input, 0.05) | simulate(&s, input, 0);
    sample_once(&s, input);
  }
  for (size_t r = 0; r < ranks; r++)
    free(s.refines[r].splitters);
  free(s.sorted);
  free(s.sums);
  free(s.cuts);
  free(s.before);
  free(s.counts);
  free(s.samples);
  free(s.own);
  free(s.refines);
  free(s.records);
  recsort_sorter_destroy(s.sorter);
  return failed;
}

int main(int argc, char **argv)
{
  int failed = 0;
  if (argc < 3) {
    fprintf(stderr, "Usage: simulate RECORDS RANKS...\n");
    return 2;
  }
  printf("%-9s %6s %8s %7s %6s %9s %8s %8s\n", "input", "ranks", "records", "allowed", "rounds",
         "above", "MiB", "messages");
  for (int i = 2; i < argc; i++) {
    const size_t each = (size_t)strtoull(argv[1], NULL, 10);
    const size_t ranks = (size_t)strtoull(argv[i], NULL, 10);
    if (each == 0 || ranks < 2) {
      fprintf(stderr, "simulate: at least 1 record and 2 ranks\n");
      return 2;
    }
    failed |= run(each, ranks);
  }
  return failed;
}
