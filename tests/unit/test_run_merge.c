/* Merges of sorted runs of keys: runs of any lengths, keys of every width, pieces for any number of
 * threads, one pass or several, compared with the definition of the order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "runs/merge.h"
#include "support/random.h"

enum { MOST_WORDS = 4, MOST_RUNS = 1024, MOST_THREADS = 7, GUARD = 64, POISON = 0xee };

/* An element for the oracle: its key, its run, and the index that it has there. */
typedef struct element {
  uint64_t key[MOST_WORDS];
  uint32_t run;
  uint32_t index;
} element;

static const uint32_t widths[] = {32, 64, 128, 192, 256};
enum { WIDTHS = sizeof widths / sizeof *widths };

static uint64_t state = 1;

/* ---- The oracle ---- */

static int compare_keys(const element *a, const element *b)
{
  for (size_t w = MOST_WORDS; w-- > 0;)
    if (a->key[w] != b->key[w]) return a->key[w] < b->key[w] ? -1 : 1;
  return 0;
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

/* ---- Input ---- */

/* What keys are like: all different, few values, values that differ far up and far down, or runs
 * that follow one another but for a few keys. */
typedef enum shape { DIFFERENT, FEW, SPREAD, FOLLOWING, SHAPES } shape;

static void make_key(element *e, shape how, uint32_t width, uint64_t place)
{
  const size_t words = (width + 63) / 64;
  for (size_t w = 0; w < words; w++) {
    const uint64_t random = next_random(&state);
    e->key[w] = how == DIFFERENT    ? random
                : how == FEW        ? mix(random % 7)
                : w + 1 < words     ? random
                : how == SPREAD     ? mix(random % 5) << 40 | random >> 60
                : random % 100 == 0 ? random
                                    : place;
  }
  if (how != FOLLOWING && random_below(&state, 50) == 0) memset(e->key, 0xff, words * 8);
  if (width == 32) e->key[0] &= UINT32_MAX;
}

/* Everything of a merge, in memory of exactly the right size, so that sanitizers notice accesses
 * beyond it. */
typedef struct input {
  uint32_t width;
  uint32_t run_count;
  const uint64_t *bounds;
  size_t count;
  element *elements; /* in the order that is expected */
  unsigned char *keys;
  uint32_t *indices;
  recsort_plugin_run runs[MOST_RUNS];
} input;

static void *allocate(size_t bytes)
{
  void *const memory = malloc(bytes + 1);
  assert_non_null(memory);
  return memory;
}

static void make_input(input *in, shape how)
{
  const size_t size = in->width / 8;
  in->count = (size_t)in->bounds[in->run_count];
  in->elements = allocate(in->count * sizeof *in->elements);
  in->keys = allocate(in->count * size);
  in->indices = allocate(in->count * sizeof *in->indices);
  element *const room = allocate(in->count * sizeof *room);
  for (uint32_t r = 0; r < in->run_count; r++) {
    const size_t begin = (size_t)in->bounds[r], end = (size_t)in->bounds[r + 1];
    for (size_t i = begin; i < end; i++) {
      in->elements[i] = (element){.run = r, .index = (uint32_t)(i - begin)};
      make_key(&in->elements[i], how, in->width, i / 2);
    }
    sort_stably(in->elements + begin, end - begin, room);
    in->runs[r] = (recsort_plugin_run){in->keys + begin * size, end - begin};
    for (size_t i = begin; i < end; i++) {
      const uint32_t low = (uint32_t)in->elements[i].key[0];
      memcpy(in->keys + i * size, size == 4 ? (const void *)&low : in->elements[i].key, size);
      in->indices[i] = in->elements[i].index;
    }
  }
  sort_stably(in->elements, in->count, room);
  free(room);
}

static void free_input(input *in)
{
  free(in->elements);
  free(in->keys);
  free(in->indices);
}

/* ---- Merges ---- */

static run_job job_for(const input *in, uint32_t index_bits, size_t threads)
{
  const size_t size = in->width / 8;
  return (run_job){
      .format = {.record_size = size, .key_size = size, .key_bits = in->width, .is_plain = true},
      .runs = in->runs,
      .run_count = in->run_count,
      .count = in->count,
      .fan = in->run_count < 2 ? 2 : in->run_count,
      .threads = threads,
      .index_bits = index_bits,
      .check = random_below(&state, 2) != 0};
}

/* Merges to `result`, of `bytes` bytes and a guard. */
static bool merge(const run_job *job, unsigned char *result, size_t bytes)
{
  uint64_t size = 0;
  assert_true(rs_run_merge_size(job, &size));
  void *const memory = allocate((size_t)size);
  memset(memory, POISON, (size_t)size);
  memset(result, POISON, bytes + GUARD);
  const bool done =
      rs_run_merge(job, (team){team_run_alone, NULL, (unsigned)job->threads}, memory, result);
  for (size_t i = 0; i < GUARD; i++)
    assert_int_equal(result[bytes + i], POISON);
  free(memory);
  return done;
}

static uint64_t index_at(const void *order, uint32_t bits, size_t i)
{
  return bits == 32 ? ((const uint32_t *)order)[i] : ((const uint64_t *)order)[i];
}

static void check_order(const input *in, const run_job *job)
{
  unsigned char *const order = allocate(in->count * 8 + GUARD);
  assert_true(merge(job, order, in->count * (job->index_bits / 8)));
  for (size_t i = 0; i < in->count; i++) {
    const element *const e = &in->elements[i];
    if (index_at(order, job->index_bits, i) != in->bounds[e->run] + e->index)
      fail_msg("%zu keys of %u bits in %u runs, fan %zu, %zu threads: element %zu", in->count,
               in->width, in->run_count, job->fan, job->threads, i);
  }
  free(order);
}

/* Merges the keys, which makes records of them, too. */
static void check_records(const input *in, const run_job *job)
{
  const size_t size = in->width / 8;
  unsigned char *const keys = allocate(in->count * size + GUARD);
  assert_true(merge(job, keys, in->count * size));
  for (size_t i = 0; i < in->count; i++) {
    const uint32_t low = (uint32_t)in->elements[i].key[0];
    const void *const key = size == 4 ? (const void *)&low : in->elements[i].key;
    if (memcmp(keys + i * size, key, size))
      fail_msg("%zu keys of %u bits in %u runs: key %zu", in->count, in->width, in->run_count, i);
  }
  free(keys);
}

/* The order by indices of their own, in one pass and in passes of a few runs, and the keys. */
static void check(uint32_t width, uint32_t run_count, const uint64_t *bounds, shape how)
{
  static input in;
  in = (input){.width = width, .run_count = run_count, .bounds = bounds};
  make_input(&in, how);
  for (uint32_t bits = 32; bits <= 64; bits += 32) {
    run_job job = job_for(&in, bits, 1 + (size_t)random_below(&state, MOST_THREADS));
    job.indices = in.indices;
    check_order(&in, &job);
    job.fan = 2 + (size_t)random_below(&state, 4);
    check_order(&in, &job);
  }
  const run_job job = job_for(&in, 0, 1 + (size_t)random_below(&state, MOST_THREADS));
  check_records(&in, &job);
  free_input(&in);
}

/* ---- Cases ---- */

static void test_runs_of_any_lengths(void **unused)
{
  uint64_t bounds[41] = {0};
  (void)unused;
  for (uint32_t round = 0; round < 1500; round++) {
    const uint32_t runs = 1 + (uint32_t)random_below(&state, 40);
    const uint64_t most = round % 3 ? 1 + random_below(&state, 70) : 3;
    for (uint32_t r = 0; r < runs; r++)
      bounds[r + 1] = bounds[r] + random_below(&state, most);
    check(widths[round % WIDTHS], runs, bounds, round / WIDTHS % SHAPES);
  }
}

static void test_empty_runs(void **unused)
{
  static const uint64_t bounds[][6] = {
      {0, 0, 0, 0, 0, 0}, {0, 9, 9, 9, 9, 9}, {0, 0, 0, 0, 0, 9}, {0, 0, 5, 5, 7, 7}};
  (void)unused;
  for (size_t w = 0; w < WIDTHS; w++)
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
      check(widths[w], 5, bounds[b], FEW);
}

/* Many pieces and tiles; runs of other lengths than windows have. */
static void test_many_keys(void **unused)
{
  static const uint32_t runs[] = {1, 2, 3, 16, 17, 64, 65, 255, 256, MOST_RUNS};
  static uint64_t bounds[MOST_RUNS + 1];
  (void)unused;
  for (size_t k = 0; k < sizeof runs / sizeof *runs; k++)
    for (size_t w = 0; w < 3; w++)
      for (shape how = 0; how < SHAPES; how++) {
        const uint64_t most = 2 * 50000 / runs[k];
        for (uint32_t r = 0; r < runs[k]; r++)
          bounds[r + 1] = bounds[r] + random_below(&state, most);
        check(widths[w], runs[k], bounds, how);
      }
}

/* So many that there are more pieces than one thread needs. Run r has every RUNS-th key from r on.
 */
static void test_more_pieces_than_threads(void **unused)
{
  enum { RUNS = 3, EACH = 1 << 20, COUNT = RUNS * EACH };
  static input in;
  in = (input){.width = 32, .run_count = RUNS, .count = COUNT};
  uint32_t *const keys = allocate(COUNT * sizeof *keys);
  unsigned char *const order = allocate(COUNT * sizeof(uint32_t) + GUARD);
  (void)unused;
  for (uint32_t r = 0; r < RUNS; r++) {
    in.runs[r] = (recsort_plugin_run){keys + (size_t)r * EACH, EACH};
    for (uint32_t i = 0; i < EACH; i++)
      keys[(size_t)r * EACH + i] = RUNS * i + r;
  }
  const run_job job = job_for(&in, 32, 1);
  assert_true(merge(&job, order, COUNT * sizeof(uint32_t)));
  for (uint32_t i = 0; i < COUNT; i++)
    if (index_at(order, 32, i) != i % RUNS * EACH + i / RUNS) fail_msg("element %u", i);
  free(keys);
  free(order);
}

/* One value in many runs, more of it than a window holds. */
static void test_all_equal(void **unused)
{
  static uint64_t bounds[257];
  (void)unused;
  for (size_t w = 0; w < WIDTHS; w++) {
    static input in;
    in = (input){.width = widths[w], .run_count = 256, .bounds = bounds};
    for (uint32_t r = 0; r < 256; r++)
      bounds[r + 1] = bounds[r] + random_below(&state, 300);
    make_input(&in, FEW);
    memset(in.keys, 1, in.count * (widths[w] / 8));
    run_job job = job_for(&in, 64, 1 + w);
    unsigned char *const order = allocate(in.count * 8 + GUARD);
    assert_true(merge(&job, order, in.count * 8));
    for (size_t i = 0; i < in.count; i++) /* without indices of their own, by place */
      assert_int_equal(index_at(order, 64, i), i);
    free(order);
    free_input(&in);
  }
}

/* A key that is less than the one before it, wherever it is, and whoever reads it. */
static void test_what_is_not_sorted(void **unused)
{
  uint64_t bounds[] = {0, 30000, 50000, 70000};
  (void)unused;
  for (size_t w = 0; w < WIDTHS; w++)
    for (size_t times = 0; times < 20; times++) {
      static input in;
      in = (input){.width = widths[w], .run_count = 3, .bounds = bounds};
      make_input(&in, DIFFERENT);
      const size_t size = widths[w] / 8, run = (size_t)random_below(&state, 3);
      const size_t at =
          1 + (size_t)(bounds[run] + random_below(&state, bounds[run + 1] - bounds[run] - 1));
      unsigned char *const key = in.keys + at * size;
      memset(key, 0, size); /* no other key is */
      run_job job = job_for(&in, times % 2 ? 32 : 0, 1 + times % MOST_THREADS);
      job.check = true;
      unsigned char *const result = allocate(in.count * size + in.count * 4 + GUARD);
      assert_false(merge(&job, result, in.count * (times % 2 ? 4 : size)));
      free(result);
      free_input(&in);
    }
}

/* A caller that does not know yet how many runs there will be. */
static void test_memory_grows_with_the_runs(void **unused)
{
  (void)unused;
  for (size_t w = 0; w < WIDTHS; w++)
    for (size_t threads = 1; threads <= 64; threads *= 8) {
      input in = {.width = widths[w], .count = 1 << 20};
      uint64_t before = 0;
      for (uint32_t runs = 1; runs <= MOST_RUNS; runs++) {
        uint64_t bytes = 0;
        in.run_count = runs;
        const run_job job = job_for(&in, 32, threads);
        assert_true(rs_run_merge_size(&job, &bytes));
        if (bytes < before) fail_msg("%u runs take less memory than %u", runs, runs - 1);
        before = bytes;
      }
    }
}

static void test_too_much(void **unused)
{
  input in = {.width = 64, .run_count = 1000};
  run_job job = job_for(&in, 0, 1);
  uint64_t bytes = 7;
  (void)unused;
  job.fan = 16;
  job.count = UINT64_MAX / 4;
  assert_false(rs_run_merge_size(&job, &bytes));
  assert_int_equal(bytes, 7);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs_of_any_lengths),
                                     cmocka_unit_test(test_empty_runs),
                                     cmocka_unit_test(test_many_keys),
                                     cmocka_unit_test(test_more_pieces_than_threads),
                                     cmocka_unit_test(test_all_equal),
                                     cmocka_unit_test(test_what_is_not_sorted),
                                     cmocka_unit_test(test_memory_grows_with_the_runs),
                                     cmocka_unit_test(test_too_much)};
  return cmocka_run_group_tests_name("run_merge", tests, NULL, NULL);
}
