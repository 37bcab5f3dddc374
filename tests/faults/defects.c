/* Sorts of a library that is compiled with defects, one in each sort: all must be reported, as
 * recsort_verify says. CMakeLists.txt has the defects. */
#include <recsort/recsort.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"

enum { FEW = 1000, MANY = 1 << 18, FAR = 100 /* places between keys that are out of order */ };

static const char yaml[] =
    "record: number\nfields: [{name: n, type: uint32}]\nkeys: [{field: n}]\n";

typedef struct trial {
  const char *algorithm;
  size_t count;
  uint32_t (*key)(size_t i, uint64_t random);
} trial;

static uint32_t any(size_t i, uint64_t random)
{
  (void)i;
  return (uint32_t)(random >> 40);
}

static uint32_t nearly(size_t i, uint64_t random)
{
  return (uint32_t)(i % FAR ? i : random % FEW);
}

static uint32_t frequent(size_t i, uint64_t random)
{
  return i % 2 ? 7 : (uint32_t)(random >> 40);
}

/* True if the sort reports that its result is wrong, and the records are as they were. */
static bool is_told(const trial *t)
{
  recsort_options options = RECSORT_OPTIONS_INIT;
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_error error;
  const size_t size = t->count * sizeof(uint32_t);
  uint32_t *const records = malloc(size), *const given = malloc(size);
  uint64_t state = 1;
  if (!records || !given) abort();
  for (size_t i = 0; i < t->count; i++)
    given[i] = t->key(i, next_random(&state));
  memcpy(records, given, size);
  options.plugin = "cpu";
  options.algorithm = t->algorithm;
  options.threads = 2;
  if (recsort_schema_load_memory(yaml, sizeof yaml - 1, "number", NULL, &schema, &error) ||
      recsort_sorter_create(schema, &options, &sorter, &error))
    abort();
  const recsort_status status = recsort_sort(sorter, records, t->count, &error);
  const bool intact = !memcmp(records, given, size);
  printf("%s, %zu numbers: %s\n", t->algorithm ? t->algorithm : "default", t->count,
         !status  ? "it is not reported"
         : intact ? error.text
                  : "the records are lost");
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
  free(records);
  free(given);
  return status == RECSORT_CORRUPT_RESULT && intact;
}

int main(void)
{
  static const trial trials[] = {
      {"sequential", FEW, any}, {NULL, FEW, nearly}, {NULL, MANY, frequent}};
  int missed = 0;
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
    missed += !is_told(&trials[i]);
  return missed != 0;
}
