/* Tests host_merge: runs of any lengths, keys of every width, parts for any number of threads,
 * compared with the definition of the order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/host_merge.h"
#include "support/random.h"

__extension__ typedef unsigned __int128 uint128;

enum { MAX_COUNT = 3000, MOST_THREADS = 7 };

/* An element for the oracle: a run, and a position in it. */
typedef struct element {
  uint128 key;
  uint32_t run;
  uint32_t index;
} element;

static const uint32_t widths[] = {32, 64, 128};
enum { WIDTHS = sizeof widths / sizeof *widths };

static int compare_keys(const void *a, const void *b)
{
  const element *const x = a, *const y = b;
  return x->key < y->key ? -1 : x->key > y->key;
}

static void sort_stably(element *elements, size_t count, element *room)
{
  if (count < 2) return;
  const size_t half = count / 2;
  sort_stably(elements, half, room);
  sort_stably(elements + half, count - half, room);
  for (size_t i = 0, a = 0, b = half; i < count; i++) {
    const bool left = b == count || (a < half && compare_keys(&elements[a], &elements[b]) <= 0);
    room[i] = elements[left ? a++ : b++];
  }
  memcpy(elements, room, count * sizeof *elements);
}

static void store_key(void *keys, uint32_t width, size_t i, uint128 key)
{
  if (width == 32)
    ((uint32_t *)keys)[i] = (uint32_t)key;
  else if (width == 64)
    ((uint64_t *)keys)[i] = (uint64_t)key;
  else
    ((uint128 *)keys)[i] = key;
}

static uint64_t order_at(const void *order, uint32_t bits, size_t i)
{
  return bits == 32 ? ((const uint32_t *)order)[i] : ((const uint64_t *)order)[i];
}

/* Some keys are the greatest one, as exhausted runs have that key. */
static uint128 make_key(uint32_t width, uint64_t values, uint64_t *random)
{
  const uint128 greatest = ~(uint128)0 >> (128 - width);
  const uint64_t value = random_below(random, values);
  if (value == 0) return greatest;
  return ((uint128)mix(value % 5) << 64 | value) & greatest;
}

/* Fills runs of the given lengths: numbers their elements, then sorts them. Afterwards `elements`
 * holds all of them in the expected order. */
static void make_runs(host_runs *runs, element *elements, uint64_t values, uint64_t *random)
{
  static element room[MAX_COUNT];
  const size_t count = (size_t)runs->bounds[runs->count];
  uint32_t *const indices = (uint32_t *)(uintptr_t)runs->indices;
  for (uint32_t r = 0; r < runs->count; r++) {
    const size_t begin = (size_t)runs->bounds[r], end = (size_t)runs->bounds[r + 1];
    for (size_t i = begin; i < end; i++)
      elements[i] = (element){make_key(runs->key_width, values, random), r, (uint32_t)(i - begin)};
    sort_stably(elements + begin, end - begin, room);
    for (size_t i = begin; i < end; i++) {
      store_key((void *)(uintptr_t)runs->keys, runs->key_width, i, elements[i].key);
      indices[i] = elements[i].index;
    }
  }
  sort_stably(elements, count, room);
}

/* Merges in memory of exactly the right size, so that sanitizers notice accesses beyond it. */
static void check(uint32_t width, uint32_t run_count, const uint64_t *bounds, uint64_t values,
                  uint64_t *random)
{
  static element elements[MAX_COUNT];
  const size_t count = (size_t)bounds[run_count];
  void *const keys = aligned_alloc(16, (count * (width / 8) + 15) / 16 * 16 + 16);
  uint32_t *const indices = malloc(count * sizeof *indices + 1);
  uint64_t *const order = malloc(count * sizeof *order + 1);
  assert_true(keys && indices && order);
  host_runs runs = {run_count, width, bounds, keys, indices};
  make_runs(&runs, elements, values, random);
  for (uint32_t bits = 32; bits <= 64; bits += 32) {
    const unsigned threads = 1 + (unsigned)random_below(random, MOST_THREADS);
    memset(order, 0xee, count * sizeof *order);
    host_merge(&runs, order, bits, (team){team_run_alone, NULL, threads});
    for (size_t i = 0; i < count; i++)
      if (order_at(order, bits, i) != bounds[elements[i].run] + elements[i].index)
        fail_msg("%zu keys of %u bits in %u runs, %u threads: element %zu", count, width, run_count,
                 threads, i);
  }
  free(keys);
  free(indices);
  free(order);
}

/* ---- Cases ---- */

static void test_runs_of_any_lengths(void **state)
{
  static const uint64_t values[] = {1, 2, 3, 40, 1 << 30};
  uint64_t bounds[41] = {0}, random = 1;
  (void)state;
  for (unsigned round = 0; round < 1500; round++) {
    const uint32_t runs = 1 + (uint32_t)random_below(&random, 40);
    const uint64_t most = round % 3 ? 1 + random_below(&random, 70) : 3;
    for (uint32_t r = 0; r < runs; r++)
      bounds[r + 1] = bounds[r] + random_below(&random, most);
    check(widths[round % WIDTHS], runs, bounds, values[round / 3 % 5], &random);
  }
}

static void test_empty_runs(void **state)
{
  static const uint64_t bounds[][6] = {
      {0, 0, 0, 0, 0, 0}, {0, 9, 9, 9, 9, 9}, {0, 0, 0, 0, 0, 9}, {0, 0, 5, 5, 7, 7}};
  uint64_t random = 2;
  (void)state;
  for (size_t w = 0; w < WIDTHS; w++)
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
      check(widths[w], 5, bounds[b], 2, &random);
}

static void test_all_equal(void **state)
{
  uint64_t random = 3;
  (void)state;
  for (size_t w = 0; w < WIDTHS; w++)
    for (uint64_t each = 1; each < 100; each += 7) {
      const uint64_t bounds[] = {0, each, 2 * each, 2 * each + 1, 9 * each};
      check(widths[w], 4, bounds, 1, &random);
    }
}

static void test_as_many_runs_as_can_be(void **state)
{
  static uint64_t bounds[HOST_MERGE_MOST_RUNS + 1];
  uint64_t random = 4;
  (void)state;
  for (uint32_t r = 0; r < HOST_MERGE_MOST_RUNS; r++)
    bounds[r + 1] = bounds[r] + random_below(&random, 5);
  for (size_t w = 0; w < WIDTHS; w++)
    check(widths[w], HOST_MERGE_MOST_RUNS, bounds, 700, &random);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_runs_of_any_lengths), cmocka_unit_test(test_empty_runs),
      cmocka_unit_test(test_all_equal), cmocka_unit_test(test_as_many_runs_as_can_be)};
  return cmocka_run_group_tests_name("host_merge", tests, NULL, NULL);
}
