/* Sorts by all ranks of the program that mpirun starts. Rank 0 gathers input and output, and sorts
 * the input itself, by comparisons of what the keys were made of.
 *
 * Usage: mpirun -n K test_sort [some]     some: fewer sorts, for an MPI library that waits badly */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/mpi.h"
#include "support/failing_allocator.h"
#include "support/native.h"
#include "support/random.h"

typedef struct item {
  uint64_t value;
  float key; /* descending in value */
  uint32_t rank;
  uint32_t position;
  uint8_t kind;
  uint8_t unused[3];
} item;

static const char schema_text[] = "record: Item\n" NATIVE "fields:\n"
                                  "  - {name: value, type: uint64}\n"
                                  "  - {name: key, type: float32}\n"
                                  "  - {name: rank, type: uint32}\n"
                                  "  - {name: position, type: uint32}\n"
                                  "  - {name: kind, type: enum, base: uint8, values: [x]}\n"
                                  "  - {name: unused, type: bytes, count: 3}\n"
                                  "keys: [{field: key, order: desc}, kind]\n";

static int rank, ranks;
static bool some;

/* What all ranks must agree on: a failed assertion on one would leave the others waiting. */
#define REQUIRE(condition) require(condition, #condition, __LINE__)

static void require(bool condition, const char *text, int line)
{
  if (condition) return;
  fprintf(stderr, "rank %d of %d, line %d: not true: %s\n", rank, ranks, line, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static recsort_sorter *open_sorter(const recsort_allocator *allocator)
{
  const recsort_options options = {.struct_size = sizeof options,
                                   .record_size = sizeof(item),
                                   .plugin = "cpu",
                                   .threads = 1,
                                   .allocator = allocator};
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  REQUIRE(recsort_schema_load_memory(schema_text, sizeof schema_text - 1, "item", NULL, &schema,
                                     NULL) == RECSORT_OK);
  REQUIRE(recsort_sorter_create(schema, &options, &sorter, NULL) == RECSORT_OK);
  recsort_schema_destroy(schema);
  return sorter;
}

/* ---- Inputs ---- */

enum { RANDOM, FEW, EQUAL, ASCENDING, DESCENDING, RANK_ORDER, INPUTS };

static uint64_t value_of(int input, uint64_t *random, size_t i, size_t count)
{
  switch (input) {
  case RANDOM:
    return random_below(random, 1000);
  case FEW:
    return random_below(random, 3);
  case ASCENDING:
    return ((uint64_t)rank * count + i) / 2;
  case DESCENDING:
    return 1000000 - ((uint64_t)rank * count + i) / 2;
  case RANK_ORDER: /* each rank has its own few keys */
    return (uint64_t)(ranks - rank) * 10 + i % 2;
  default:
    return 5;
  }
}

/* The records of a rank: none for some, and more for later ones. */
static size_t count_of(int r, size_t each, bool uneven)
{
  return !uneven ? each : r % 3 == 1 ? 0 : each * (size_t)(r + 1);
}

static item *make_items(int input, size_t count)
{
  item *const items = calloc(count + !count, sizeof *items);
  uint64_t random = 1 + (uint64_t)rank;
  for (size_t i = 0; i < count; i++) {
    items[i] = (item){.value = value_of(input, &random, i, count),
                      .rank = (uint32_t)rank,
                      .position = (uint32_t)i};
    items[i].key = (float)(1 << 21) - (float)items[i].value;
  }
  return items;
}

/* ---- The oracle ---- */

static int compare_items(const void *a, const void *b)
{
  const item *const x = a, *const y = b;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return (x->position > y->position) - (x->position < y->position);
}

/* The records of all ranks, on rank 0. */
static item *gather(const void *items, size_t count, size_t *total)
{
  int own = (int)(count * sizeof(item)), *const sizes = calloc((size_t)ranks, sizeof *sizes);
  int *const places = calloc((size_t)ranks + 1, sizeof *places);
  MPI_Gather(&own, 1, MPI_INT, sizes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; r++)
    places[r + 1] = places[r] + sizes[r];
  item *const all = calloc(1, (size_t)places[ranks] + 1);
  MPI_Gatherv(items, own, MPI_BYTE, all, sizes, places, MPI_BYTE, 0, MPI_COMM_WORLD);
  *total = (size_t)places[ranks] / sizeof(item);
  free(places);
  free(sizes);
  return all;
}

/* Makes `count` records, and sorts them as `job` says. Returns what the sort did. */
static recsort_mpi_job sort_and_check(int input, size_t count, recsort_mpi_job job)
{
  recsort_sorter *sorter = open_sorter(NULL);
  item *const items = make_items(input, count);
  size_t total, new_total;
  item *const expected = gather(items, count, &total);
  recsort_error error = {0};
  job.struct_size = sizeof job;
  job.records = count ? items : NULL;
  job.count = count;
  if (count == 0) free(items);
  if (recsort_mpi_sort(sorter, MPI_COMM_WORLD, &job, &error)) {
    fprintf(stderr, "%s\n", error.text);
    REQUIRE(false);
  }
  item *const found = gather(job.records, job.count, &new_total);
  qsort(expected, total, sizeof *expected, compare_items);
  REQUIRE(total == new_total);
  REQUIRE(memcmp(expected, found, total * sizeof *found) == 0);
  uint64_t own = count, sum;
  MPI_Allreduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  REQUIRE(job.total == sum && job.sent <= count);
  if (!job.balance) {
    REQUIRE(job.count == count);
  } else {
    const double share = (double)sum / ranks, tolerance = job.tolerance;
    REQUIRE((double)job.count <= share * (1 + (tolerance > 0 ? tolerance : 0.05)) + 1);
  }
  free(found);
  free(expected);
  free(job.records);
  recsort_sorter_destroy(sorter);
  return job;
}

/* ---- Tests ---- */

static void test_all_inputs(void **state)
{
  static const size_t sizes[] = {0, 1, 3, 40, 1000};
  (void)state;
  for (int input = 0; input < INPUTS; input++)
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
      for (int way = 0; way < 4; way++) {
        if (some && (input + 3 * (int)n + way) % 8 != 0) continue;
        const recsort_mpi_job job = {.balance = way % 2};
        sort_and_check(input, count_of(rank, sizes[n], way / 2), job);
      }
}

/* Messages so short that each pair of ranks needs more than are under way at a time. */
static void test_many_messages(void **state)
{
  const recsort_mpi_job job = {.message = 7};
  (void)state;
  sort_and_check(RANDOM, count_of(rank, 300, true), job);
  sort_and_check(RANK_ORDER, 300, job);
}

static void test_tolerance(void **state)
{
  const recsort_mpi_job exact = {.balance = true, .tolerance = 1e-9};
  const recsort_mpi_job loose = {.balance = true, .tolerance = 0.5};
  (void)state;
  const unsigned many = sort_and_check(RANDOM, count_of(rank, 3000, true), exact).rounds;
  sort_and_check(RANDOM, 300 + 2 * (size_t)(rank == 0), exact); /* 2 more than can be divided */
  const unsigned few = sort_and_check(RANDOM, count_of(rank, 3000, true), loose).rounds;
  REQUIRE(ranks == 1 || few < many);
}

/* Memory for the splitters of all ranks, and its bytes. */
static void *splitters_of(size_t *size)
{
  recsort_sorter *sorter = open_sorter(NULL);
  *size = ((size_t)ranks - 1) * (recsort_key_size(sorter) + RECSORT_MARK_EXTRA);
  recsort_sorter_destroy(sorter);
  return calloc(1, *size + 1);
}

/* Sorts again from the splitters of the last time: of the same records it takes one round. */
static void check_loop(bool balance)
{
  size_t size;
  const recsort_mpi_job job = {.balance = balance, .splitters = splitters_of(&size)};
  for (int input = 0; input < (some ? 1 : INPUTS); input++) {
    const unsigned first = sort_and_check(input, 2000, job).rounds;
    const unsigned second = sort_and_check(input, 2000, job).rounds;
    REQUIRE(ranks == 1 ? first == 0 && second == 0 : first > 0 && second == 1);
    sort_and_check(input, count_of(rank, 500, true), job);
  }
  free(job.splitters);
}

static void test_a_loop(void **state)
{
  (void)state;
  check_loop(false);
  check_loop(true);
}

/* Rank 0's splitters count. Every rank that gives memory gets the new ones, and they are the same.
 */
static void test_splitters_of_one_rank(void **state)
{
  size_t size;
  recsort_mpi_job job = {.splitters = splitters_of(&size)}, none = {.splitters = NULL};
  unsigned char *const own = job.splitters, *const first = calloc(1, size + 1);
  (void)state;
  const unsigned afresh = sort_and_check(RANDOM, 2000, none).rounds;
  REQUIRE(sort_and_check(RANDOM, 2000, rank == 0 ? none : job).rounds == afresh);
  if (rank == 1) memcpy(first, own, size);
  if (ranks > 1) MPI_Bcast(first, (int)size, MPI_BYTE, 1, MPI_COMM_WORLD);
  REQUIRE(rank == 0 || memcmp(first, own, size) == 0);
  sort_and_check(RANDOM, 2000, job);
  REQUIRE(memcmp(first, own, size) == 0);
  REQUIRE(sort_and_check(RANDOM, 2000, rank == 0 ? job : none).rounds == (ranks > 1));
  free(first);
  free(own);
}

/* What is no splitter, or one of another sort, costs a round. */
static void test_wrong_splitters(void **state)
{
  size_t size;
  const recsort_mpi_job job = {.splitters = splitters_of(&size)}, none = {.splitters = NULL};
  unsigned char *const bytes = job.splitters;
  uint64_t random = 7 + (uint64_t)rank; /* others on each rank */
  (void)state;
  for (int content = 0; content < 4; content++)
    for (int input = 0; input < INPUTS; input++) {
      if (some && (input + content) % 4 != 0) continue;
      const size_t count = count_of(rank, 400, content % 2);
      const unsigned afresh = sort_and_check(input, count, none).rounds;
      for (size_t i = 0; i < size; i++)
        bytes[i] = content == 0   ? 0
                   : content == 1 ? 0xff
                                  : (unsigned char)random_below(&random, 256);
      if (content == 3) sort_and_check((input + 1) % INPUTS, 100, job);
      REQUIRE(sort_and_check(input, count, job).rounds <= afresh + 1);
    }
  free(bytes);
}

/* ---- Errors ---- */

/* All ranks have the same error, and their records as before. */
static recsort_error fails(recsort_sorter *sorter, const item *items, size_t count,
                           recsort_mpi_job job, recsort_status status)
{
  item *const copy = malloc(count * sizeof *copy);
  recsort_error error = {0}, first;
  memcpy(copy, items, count * sizeof *copy);
  job.records = copy;
  job.count = count;
  job.total = job.sent = 99;
  const recsort_mpi_job before = job;
  REQUIRE(recsort_mpi_sort(sorter, MPI_COMM_WORLD, &job, &error) == status);
  REQUIRE(error.status == status && error.text[0]);
  first = error;
  MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
  REQUIRE(strcmp(first.text, error.text) == 0);
  REQUIRE(memcmp(&job, &before, sizeof job) == 0);
  REQUIRE(memcmp(copy, items, count * sizeof *copy) == 0);
  free(copy);
  return error;
}

static void test_a_record_that_is_wrong(void **state)
{
  recsort_sorter *sorter = open_sorter(NULL);
  char text[64];
  (void)state;
  for (int bad = 0; bad < ranks; bad++) {
    item *const items = make_items(RANDOM, 500);
    if (rank >= bad) items[123 + rank].kind = 9;
    snprintf(text, sizeof text, "rank %d, record %d: ", bad, 123 + bad);
    const recsort_error error =
        fails(sorter, items, 500, RECSORT_MPI_JOB_INIT, RECSORT_INVALID_RECORD);
    REQUIRE(strstr(error.text, text) == error.text);
    free(items);
  }
  recsort_sorter_destroy(sorter);
}

/* Each allocation fails once, on one rank. */
static void test_no_memory(void **state)
{
  failing_allocator memory = {0};
  const recsort_allocator hook = failing_hook(&memory);
  recsort_sorter *sorter = open_sorter(NULL);
  item *const items = make_items(RANDOM, 50);
  (void)state;
  for (size_t at = 1, failed = 1; failed; at++) {
    recsort_mpi_job job = {
        .struct_size = sizeof job, .count = 50, .balance = true, .allocator = &hook};
    recsort_error error = {0};
    job.records = hook.allocate(hook.context, job.count * sizeof(item));
    memcpy(job.records, items, job.count * sizeof(item));
    memory.fail_at = rank == (int)(at % (size_t)ranks) ? memory.calls + at : 0;
    const recsort_status status = recsort_mpi_sort(sorter, MPI_COMM_WORLD, &job, &error);
    failed = status != RECSORT_OK;
    REQUIRE(!failed || (status == RECSORT_OUT_OF_MEMORY && job.count == 50 &&
                        memcmp(job.records, items, job.count * sizeof(item)) == 0));
    size_t all = failed;
    MPI_Bcast(&all, sizeof all, MPI_BYTE, 0, MPI_COMM_WORLD);
    REQUIRE(all == failed);
    REQUIRE(failed || at > 5);
    memory.fail_at = 0;
    hook.release(hook.context, job.records, job.count * sizeof(item));
    REQUIRE(memory.blocks == 0 && memory.wrong == 0);
  }
  free(items);
  recsort_sorter_destroy(sorter);
}

/* The same with the sorter's allocations, of which there are some in every step. */
static void test_no_memory_for_a_sorter(void **state)
{
  failing_allocator memory = {0};
  const recsort_allocator hook = failing_hook(&memory);
  item *const items = make_items(RANDOM, 50);
  size_t failures = 0;
  (void)state;
  for (size_t at = 1, failed = 1; failed; at++) {
    recsort_sorter *sorter = open_sorter(&hook);
    item *const copy = malloc(50 * sizeof *copy);
    recsort_mpi_job job = {.struct_size = sizeof job, .records = copy, .count = 50};
    memcpy(copy, items, 50 * sizeof *copy);
    memory.fail_at = rank == (int)(at % (size_t)ranks) ? memory.calls + at : 0;
    failed = recsort_mpi_sort(sorter, MPI_COMM_WORLD, &job, NULL) != RECSORT_OK;
    REQUIRE(!failed || (job.records == copy && memcmp(copy, items, 50 * sizeof *copy) == 0));
    size_t all = failed;
    MPI_Bcast(&all, sizeof all, MPI_BYTE, 0, MPI_COMM_WORLD);
    REQUIRE(all == failed);
    failures += failed;
    memory.fail_at = 0;
    recsort_sorter_destroy(sorter);
    REQUIRE(memory.blocks == 0 && memory.wrong == 0);
    free(job.records);
  }
  REQUIRE(failures >= (ranks > 1 ? 2 : 1));
  free(items);
}

static void test_wrong_calls(void **state)
{
  recsort_sorter *sorter = open_sorter(NULL);
  item *const items = make_items(RANDOM, 20);
  const bool last = rank == ranks - 1;
  const recsort_mpi_job good = RECSORT_MPI_JOB_INIT;
  recsort_mpi_job other = good, small = good, long_one = good, high = good, large = good,
                  none = good;
  const recsort_status wrong = RECSORT_INVALID_ARGUMENT;
  (void)state;
  small.struct_size--;
  long_one.struct_size++;
  high.tolerance = 1;
  large.message = (size_t)1 << 31;
  other.balance = true;
  fails(last ? NULL : sorter, items, 20, good, wrong);
  fails(sorter, items, 20, last ? small : good, wrong);
  fails(sorter, items, 20, last ? long_one : good, wrong);
  fails(sorter, items, 20, last ? high : good, wrong);
  fails(sorter, items, 20, last ? large : good, wrong);
  if (ranks > 1) fails(sorter, items, 20, last ? other : good, wrong);
  none.records = last ? NULL : items;
  none.count = 20;
  REQUIRE(recsort_mpi_sort(sorter, MPI_COMM_WORLD, &none, NULL) == wrong);
  REQUIRE(recsort_mpi_sort(sorter, MPI_COMM_WORLD, last ? NULL : &none, NULL) == wrong);
  free(items);
  recsort_sorter_destroy(sorter);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_inputs),
      cmocka_unit_test(test_many_messages),
      cmocka_unit_test(test_tolerance),
      cmocka_unit_test(test_a_loop),
      cmocka_unit_test(test_splitters_of_one_rank),
      cmocka_unit_test(test_wrong_splitters),
      cmocka_unit_test(test_a_record_that_is_wrong),
      cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_no_memory_for_a_sorter),
      cmocka_unit_test(test_wrong_calls),
  };
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  some = argc > 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  MPI_Finalize();
  return failed;
}
