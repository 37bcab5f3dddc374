/* verify_cost - measures the cost of checking results on the device: sorters with and without the
 * check take turns, and medians are compared.
 *
 * Usage: verify-cost [RECORDS]... */
#define _DEFAULT_SOURCE
#include <recsort/recsort.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 25, WARM_UP = 5, WORDS = 16 };

static double now_ms(void)
{
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void fail(const recsort_error *error)
{
  fprintf(stderr, "verify-cost: %s\n", error->text);
  exit(2);
}

static recsort_sorter *open_sorter(unsigned words, const char *plugin_option)
{
  const recsort_field_desc fields[] = {
      {.name = "key", .type = RECSORT_FLOAT32},
      {.name = "rest", .type = RECSORT_UINT32, .count = words - 1}};
  const recsort_key_desc key = {.path = "key"};
  const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                    .record = "R",
                                    .fields = fields,
                                    .field_count = 2,
                                    .keys = &key,
                                    .key_count = 1};
  const recsort_options options = {.struct_size = sizeof options,
                                   .plugin = "cuda",
                                   .plugin_options = &plugin_option,
                                   .plugin_option_count = 1};
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_error error;
  if (recsort_schema_create(&desc, NULL, &schema, &error) ||
      recsort_sorter_create(schema, &options, &sorter, &error))
    fail(&error);
  recsort_schema_destroy(schema);
  return sorter;
}

static void measure(unsigned words, size_t count)
{
  recsort_sorter *const sorters[2] = {open_sorter(words, "verify=off"),
                                      open_sorter(words, "verify=on")};
  const size_t size = 4 * words;
  float *const records = malloc(count * size), *const sorted = malloc(count * size);
  double ms[2][REPEATS];
  recsort_error error;
  if (!records || !sorted) exit(2);
  srandom(1);
  for (size_t i = 0; i < count * words; i++)
    records[i] = (float)random();
  for (int r = -WARM_UP; r < REPEATS; r++)
    for (int v = 0; v < 2; v++) {
      const double start = now_ms();
      if (recsort_sort_to(sorters[v], records, count, sorted, &error)) fail(&error);
      if (r >= 0) ms[v][r] = now_ms() - start;
    }
  for (int v = 0; v < 2; v++)
    qsort(ms[v], REPEATS, sizeof(double), compare);
  recsort_stats stats;
  recsort_sorter_get_stats(sorters[1], &stats, sizeof stats);
  printf("%9zu records of %2zu bytes, %s: without %8.3f ms, with %8.3f ms, %+.1f %%\n", count, size,
         stats.whole_records ? "whole" : "keys ", ms[0][REPEATS / 2], ms[1][REPEATS / 2],
         100 * (ms[1][REPEATS / 2] / ms[0][REPEATS / 2] - 1));
  (void)fflush(stdout);
  recsort_sorter_destroy(sorters[0]);
  recsort_sorter_destroy(sorters[1]);
  free(records);
  free(sorted);
}

int main(int argc, char **argv)
{
  static const size_t counts[] = {1 << 14, 1 << 17, 1 << 20, 1 << 22, 1 << 24};
  const size_t number = argc > 1 ? (size_t)argc - 1 : sizeof counts / sizeof *counts;
  for (unsigned words = 5; words <= WORDS; words += WORDS - 5)
    for (size_t i = 0; i < number; i++)
      measure(words, argc > 1 ? strtoull(argv[i + 1], NULL, 10) : counts[i]);
  return 0;
}
