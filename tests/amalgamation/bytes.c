/* bytes.c - sorts records of each schema and prints a checksum of the output, or the error message
 * if the library refuses. The shared library, the static one and
 * recsort.c print the same, which amalgamation.bytes shows.
 *
 * Usage: bytes SCHEMA... */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "recsort/recsort.h"

static uint64_t state;

/* xorshift64*, of S. Vigna */
static uint64_t next(void)
{
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545f4914f6cdd1d;
}

static uint64_t checksum(const unsigned char *bytes, size_t size)
{
  uint64_t sum = 0xcbf29ce484222325; /* FNV-1a */
  for (size_t i = 0; i < size; i++)
    sum = (sum ^ bytes[i]) * 0x100000001b3;
  return sum;
}

/* Bytes of which many are the same, so that keys tie, and words of which some are NaNs. */
static void fill(unsigned char *bytes, size_t size)
{
  state = size;
  for (size_t i = 0; i < size; i++)
    bytes[i] = (unsigned char)(next() % 3 ? next() % 2 : next() >> 56);
  for (size_t i = 0; i + 8 < size; i += 8 * (1 + next() % 50))
    for (size_t j = 0; j < 8; j++)
      bytes[i + j] = 0xff;
}

static bool sort(const recsort_schema *schema, size_t count, unsigned threads)
{
  const size_t size = recsort_schema_describe(schema)->size * count;
  unsigned char *const records = malloc(size);
  recsort_options options = RECSORT_OPTIONS_INIT;
  recsort_sorter *sorter = NULL;
  recsort_error error;
  options.plugin = "cpu";
  options.threads = threads;
  if (!records || recsort_sorter_create(schema, &options, &sorter, &error)) return false;
  recsort_sorter_set_parameter(sorter, "camera", (const double[]){0.1, 0.7, 1e10}, 3, NULL);
  fill(records, size);
  if (recsort_sort(sorter, records, count, &error))
    printf("%s\n", error.text);
  else
    printf("%zu records, %u threads: %016" PRIx64 "\n", count, threads, checksum(records, size));
  recsort_sorter_destroy(sorter);
  free(records);
  return true;
}

int main(int argc, char **argv)
{
  static const size_t counts[] = {2, 17, 300, 5000, 70000};
  for (int i = 1; i < argc; i++) {
    recsort_schema *schema = NULL;
    recsort_error error;
    bool sorted = !recsort_schema_load_file(argv[i], NULL, &schema, &error);
    printf("%s\n", argv[i]);
    for (size_t c = 0; sorted && c < sizeof counts / sizeof *counts; c++)
      sorted = sort(schema, counts[c], 1) && sort(schema, counts[c], 3);
    if (!sorted) return fprintf(stderr, "%s: %s\n", argv[i], error.text), 1;
    recsort_schema_destroy(schema);
  }
  return 0;
}
