/* many_records - sorts more records than 31 or 32 bits can count.
 *
 *   many_records [--spoil] [--wide] PLUGIN[:ALGORITHM] COUNT[,COUNT]...
 *                                              such as cuda 2^31-1,2^32+2097152
 *
 * A record is its key, a byte, or with --wide an integer of 32 bits that repeats a byte. So there
 * are 256 keys, of which each comes millions of times. The sort in place must give the bytes of a
 * counting sort. In the permutation, the indices of each key must ascend, and name records with
 * this key; as a counting sort tells where each key begins, only one permutation does that.
 * --spoil: shows that errors would be noticed.
 *
 * Needs, besides the plugin's memory, each record and 8 bytes for its index. Exit status: 0
 * all is right, 1 something is wrong, 2 the test could not run. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "recsort/recsort.h"
#include "support/jobs.h"
#include "support/random.h"

enum { VALUES = 256 };

static size_t size = 1; /* of a record */

static double seconds_now(void)
{
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Parses "N" or "2^E", optionally followed by +N or -N. */
static bool read_count(const char **text, uint64_t *count)
{
  char *end;
  *count = strtoull(*text, &end, 10);
  if (end == *text) return false;
  if (*end == '^') {
    const uint64_t exponent = strtoull(end + 1, &end, 10);
    if (*count != 2 || exponent > 40) return false;
    *count = UINT64_C(1) << exponent;
  }
  if (*end == '+')
    *count += strtoull(end + 1, &end, 10);
  else if (*end == '-')
    *count -= strtoull(end + 1, &end, 10);
  *text = end + (*end == ',');
  return *end == ',' || *end == '\0';
}

/* Fills eight bytes at a time, and counts each value. */
static void fill(unsigned char *records, uint64_t count, uint64_t often[VALUES])
{
  memset(often, 0, VALUES * sizeof *often);
  for (uint64_t i = 0; i < count; i += 8) {
    const uint64_t eight = mix(i + 1);
    for (unsigned b = 0; b < 8 && i + b < count; b++) {
      const unsigned char value = (unsigned char)(eight >> 8 * b);
      memset(records + (i + b) * size, value, size);
      often[value]++;
    }
  }
}

/* What is wrong with sorted records; NULL: nothing. */
static const char *judge_records(const unsigned char *records, const uint64_t often[VALUES])
{
  for (unsigned value = 0; value < VALUES; value++) {
    for (uint64_t i = 0; i < often[value] * size; i++)
      if (records[i] != value) return "a value is missing, or in a wrong place";
    records += often[value] * size;
  }
  return NULL;
}

/* What is wrong with an order; NULL: nothing. */
static const char *judge_order(const permutation *order, const unsigned char *records,
                               uint64_t count, const uint64_t often[VALUES])
{
  uint64_t at = 0;
  if (order->count != count) return "it has another length";
  for (unsigned value = 0; value < VALUES; value++)
    for (uint64_t i = 0; i < often[value]; i++, at++) {
      const uint64_t index = permutation_at(order, (size_t)at);
      if (index >= count) return "an index is beyond the end";
      if (records[index * size] != value) return "a record is out of order";
      if (i && index <= permutation_at(order, (size_t)at - 1))
        return "a record comes twice, or before one that was before it";
    }
  return NULL;
}

static recsort_sorter *open_sorter(const char *method)
{
  char text[64], plugin[32];
  const char *const colon = strchr(method, ':');
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = plugin, .algorithm = colon ? colon + 1 : NULL};
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  (void)snprintf(plugin, sizeof plugin, "%.*s",
                 (int)(colon ? colon - method : (ptrdiff_t)strlen(method)), method);
  const int length = snprintf(
      text, sizeof text, "record: R\nfields: [{name: a, type: uint%zu}]\nkeys: [a]\n", 8 * size);
  if (recsort_schema_load_memory(text, (size_t)length, "bytes", NULL, &schema, &error) ||
      recsort_sorter_create(schema, &options, &sorter, &error))
    (void)fprintf(stderr, "many_records: %s\n", error.text);
  recsort_schema_destroy(schema);
  return sorter;
}

/* Prints a line; `why` says what is wrong. */
static bool tell(uint64_t count, const char *what, const char *why, double seconds,
                 const recsort_sorter *sorter)
{
  recsort_stats stats;
  recsort_sorter_get_stats(sorter, &stats, sizeof stats);
  (void)printf("%" PRIu64 " records of %zu bytes, %s: %s (%s %s, indices of %u bits, %s, %.1f s)\n",
               count, size, what, why ? why : "right", stats.plugin ? stats.plugin : "-",
               stats.algorithm ? stats.algorithm : "-", stats.index_bits,
               stats.whole_records ? "whole records" : "keys alone", seconds);
  (void)fflush(stdout);
  return !why;
}

static bool try_order(const char *method, unsigned char *records, uint64_t count,
                      const uint64_t often[VALUES], bool spoil)
{
  recsort_sorter *const sorter = open_sorter(method);
  permutation order = {0};
  recsort_error error = {0};
  if (!sorter) return false;
  const double start = seconds_now();
  const char *why =
      find_permutation(sorter, records, (size_t)count, &order, &error) ? error.text : NULL;
  const double seconds = seconds_now() - start;
  if (!why && spoil) {
    uint32_t *const index = (uint32_t *)order.index; /* for at most 2^32 records */
    if (count % 2) index[1] = index[0];
    if (count % 2 == 0) index[count / 2] = index[0];
  }
  if (!why) why = judge_order(&order, records, count, often);
  const bool good = tell(count, "put in order", why, seconds, sorter);
  recsort_sorter_destroy(sorter);
  return good;
}

static bool try_sort(const char *method, unsigned char *records, uint64_t count,
                     const uint64_t often[VALUES], bool spoil)
{
  recsort_sorter *const sorter = open_sorter(method);
  recsort_error error = {0};
  if (!sorter) return false;
  const double start = seconds_now();
  const char *why = recsort_sort(sorter, records, (size_t)count, &error) ? error.text : NULL;
  const double seconds = seconds_now() - start;
  if (!why) {
    if (spoil) records[count / 2 * size]++;
    why = judge_records(records, often);
  }
  const bool good = tell(count, "sorted in place", why, seconds, sorter);
  recsort_sorter_destroy(sorter);
  return good;
}

/* Tests the permutation first, as a sort changes the records. */
static int try_count(const char *method, uint64_t count, bool spoil)
{
  uint64_t often[VALUES];
  unsigned char *records = count > SIZE_MAX / 8 ? NULL : malloc((size_t)count * size + 1);
  if (!records) {
    (void)fprintf(stderr, "many_records: no memory for %" PRIu64 " records\n", count);
    return 2;
  }
  fill(records, count, often);
  const bool ordered = try_order(method, records, count, often, spoil);
  const bool sorted = try_sort(method, records, count, often, spoil);
  free(records);
  return ordered && sorted ? 0 : 1;
}

int main(int argc, char **argv)
{
  bool spoil = false;
  int status = 0;
  for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
    if (strcmp(argv[1], "--spoil") == 0) spoil = true;
    if (strcmp(argv[1], "--wide") == 0) size = 4;
  }
  if (argc != 3) {
    (void)fputs("Usage: many_records [--spoil] [--wide] PLUGIN[:ALGORITHM] COUNT[,COUNT]...\n",
                stderr);
    return 2;
  }
  for (const char *rest = argv[2]; *rest && status != 2;) {
    uint64_t count;
    const int tried = read_count(&rest, &count) ? try_count(argv[1], count, spoil) : 2;
    if (tried) status = tried;
  }
  return status;
}
