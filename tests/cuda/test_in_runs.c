/* Jobs that need more device memory than there is, through the plugin's table: any number of runs,
 * all widths of keys and indices, counts around the boundaries of runs, compared with an
 * independent oracle. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/in_runs.h"
#include "recsort/plugin.h"
#include "runs/merge.h"
#include "standin.h"
#include "support/random.h"

enum { MAX_COUNT = 16500, MAX_WORDS = 2, GUARD = 4096, POISON = 0xee };

static uint64_t words[MAX_COUNT][MAX_WORDS], expected[MAX_COUNT];
static uint64_t random_state = 7;

const recsort_plugin *recsort_plugin_entry(uint32_t host_abi);

/* ---- The plugin ---- */

static bool host_is_full;

static void *allocate(void *context, size_t size)
{
  (void)context;
  return host_is_full ? NULL : malloc(size);
}

static void release(void *context, void *memory, size_t size)
{
  (void)context;
  (void)size;
  free(memory);
}

static const recsort_host host = {.size = sizeof host,
                                  .abi = RECSORT_PLUGIN_ABI,
                                  .allocate = allocate,
                                  .release = release,
                                  .run = team_run_alone};

static const recsort_plugin *plugin(void)
{
  return recsort_plugin_entry(RECSORT_PLUGIN_ABI);
}

static gpu_instance *open_instance(void)
{
  recsort_error error = {0};
  void *instance = NULL;
  assert_int_equal(plugin()->open(&host, &instance, &error), RECSORT_OK);
  return instance;
}

/* Closes the instance, and checks that all was freed and that the runtime was used correctly. */
static void close_instance(gpu_instance *self)
{
  plugin()->close(self);
  assert_int_equal(standin_look().blocks, 0);
  assert_int_equal(standin_look().streams, 0);
  assert_int_equal(standin_look().misuses, 0);
}

static void set_limit(const char *text)
{
  assert_int_equal(text ? setenv("RECSORT_CUDA_MEMORY", text, 1) : unsetenv("RECSORT_CUDA_MEMORY"),
                   0);
}

static gpu_instance *open_with(uint64_t limit)
{
  char text[32];
  (void)snprintf(text, sizeof text, "%llu", (unsigned long long)limit);
  set_limit(text);
  standin_begin((standin_plan){0});
  return open_instance();
}

/* The device memory to sort `count` keys at once. */
static uint64_t bytes_for(const recsort_plugin_job *job, uint64_t count, uint32_t index_bits)
{
  gpu_instance *const self = open_with(UINT32_MAX);
  recsort_plugin_job run = *job;
  run.count = count;
  run.index_bits = index_bits;
  const uint64_t bytes = gpu_plan_pairs(self->device, &run).bytes;
  close_instance(self);
  return bytes;
}

/* ---- Keys ---- */

static int compare_places(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  for (size_t w = MAX_WORDS; w-- > 0;)
    if (words[x][w] != words[y][w]) return words[x][w] < words[y][w] ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* Makes keys, each several times, in random order, sorted, or reversed, including the greatest
 * possible one. */
static void make_keys(uint64_t count, uint32_t bits)
{
  const uint64_t values = 1 + random_below(&random_state, count + 1),
                 shape = random_below(&random_state, 3);
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t place = shape == 0   ? next_random(&random_state)
                           : shape == 1 ? i / 3
                                        : (count - i) / 3;
    const uint64_t value = place % values;
    expected[i] = i;
    for (uint32_t w = 0; w < MAX_WORDS; w++) {
      const uint64_t word = value == 0 ? UINT64_MAX : w % 2 ? mix(value % 7) : value;
      const uint32_t used = bits > 64 * w ? bits - 64 * w : 0;
      words[i][w] = used >= 64 ? word : used ? word & ((UINT64_C(1) << used) - 1) : 0;
    }
  }
  qsort(expected, count, sizeof *expected, compare_places);
}

static void store_keys(const recsort_plugin_job *job, void *at)
{
  for (uint64_t i = 0; i < job->count; i++)
    if (job->key_width == 32)
      ((uint32_t *)at)[i] = (uint32_t)words[i][0];
    else
      memcpy((char *)at + i * (job->key_width / 8), words[i], job->key_width / 8);
}

static bool is_poison(const unsigned char *at)
{
  for (size_t i = 0; i < GUARD; i++)
    if (at[i] != POISON) return false;
  return true;
}

static bool is_expected(const recsort_plugin_job *job, const void *order)
{
  for (uint64_t i = 0; i < job->count; i++)
    if ((job->index_bits == 32 ? ((const uint32_t *)order)[i] : ((const uint64_t *)order)[i]) !=
        expected[i])
      return false;
  return true;
}

/* ---- Jobs ---- */

/* Sorts in exactly the memory that was asked for. */
static recsort_status sort(gpu_instance *self, const recsort_plugin_job *job, recsort_error *error)
{
  recsort_plugin_work work = {.size = sizeof work};
  unsigned char *memory = NULL;
  make_keys(job->count, job->key_bits);
  assert_int_equal(plugin()->work_size(self, job, &work, error), RECSORT_OK);
  assert_int_equal(work.keys_offset % 64, 0);
  memory = aligned_alloc(64, (size_t)(work.bytes + 63) / 64 * 64 + 2 * GUARD);
  assert_non_null(memory);
  memset(memory, POISON, (size_t)work.bytes + 2 * GUARD);
  store_keys(job, memory + GUARD + work.keys_offset);
  const recsort_status status = plugin()->sort(self, job, memory + GUARD, error);
  assert_true(is_poison(memory) && is_poison(memory + GUARD + work.bytes));
  if (status == RECSORT_OK && !is_expected(job, memory + GUARD))
    fail_msg("wrong order: %u keys of %u of %u bits, %u-bit index, %u threads",
             (unsigned)job->count, job->key_bits, job->key_width, job->index_bits, job->threads);
  free(memory);
  return status;
}

static void sort_well(gpu_instance *self, const recsort_plugin_job *job)
{
  recsort_error error = {0};
  if (sort(self, job, &error)) fail_msg("%s", error.text);
}

/* Sorts with memory for `each` keys, and checks that the number of runs is the least possible. */
static void sort_in(const recsort_plugin_job *job, uint64_t each, uint32_t runs)
{
  const uint64_t limit = bytes_for(job, each, 32);
  gpu_instance *const self = open_with(limit);
  in_runs_plan plan = {0, 0};
  assert_true(in_runs_divide(self, job, limit, &plan));
  assert_int_equal(plan.runs, runs);
  assert_true(plan.device_bytes <= limit);
  sort_well(self, job);
  assert_true(standin_look().most > 0 && (uint64_t)standin_look().most <= limit);
  close_instance(self);
}

static recsort_plugin_job job_of(uint32_t algorithm, uint64_t count, uint32_t bits,
                                 uint32_t index_bits, uint32_t threads)
{
  return (recsort_plugin_job){.size = sizeof(recsort_plugin_job),
                              .algorithm = algorithm,
                              .count = count,
                              .key_bits = bits,
                              .key_width = bits <= 32 ? 32 : (bits + 63) / 64 * 64,
                              .index_bits = index_bits,
                              .threads = threads};
}

/* ---- Cases ---- */

enum { HYBRID = 0, RANK = 1, EACH = 64 }; /* device memory is rounded to 64 keys of 32 bits */

static void test_borders_of_runs(void **state)
{
  static const uint32_t bits[] = {1, 8, 17, 32, 33, 64, 65, 100, 128};
  static const uint32_t runs[] = {2, 3, 7, 20};
  (void)state;
  for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++)
      for (uint32_t more = 0; more < 3; more++) {
        const uint64_t count = runs[r] * EACH + more - 1;
        const uint32_t threads = 1 + (uint32_t)random_below(&random_state, 5);
        const recsort_plugin_job job =
            job_of(b % 2 ? HYBRID : RANK, count, bits[b], (r + more) % 2 ? 32 : 64, threads);
        sort_in(&job, EACH, runs[r] + (more == 2));
      }
}

/* A sorter switches between runs and one piece, and never exceeds its memory limit. */
static void test_one_instance(void **state)
{
  static const uint64_t counts[] = {100, 300, 101, 1, 100, 700, 0};
  const recsort_plugin_job fitting = job_of(HYBRID, 101, 32, 32, 2);
  const uint64_t limit = bytes_for(&fitting, fitting.count, 32);
  gpu_instance *const self = open_with(limit);
  (void)state;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    recsort_plugin_job job = fitting;
    job.count = counts[i];
    assert_int_equal(in_runs_wanted(self, &job), counts[i] > fitting.count + 64);
    sort_well(self, &job);
  }
  assert_true((uint64_t)standin_look().most <= limit);
  close_instance(self);
}

/* The memory to merge any number of runs of a job's keys. */
static uint64_t bytes_to_merge(const recsort_plugin_job *job)
{
  const run_job merge = {.format = {.record_size = job->key_width / 8,
                                    .key_size = job->key_width / 8,
                                    .key_bits = job->key_bits,
                                    .is_plain = true},
                         .run_count = IN_RUNS_MOST,
                         .count = job->count,
                         .fan = IN_RUNS_MOST,
                         .threads = job->threads,
                         .index_bits = job->index_bits};
  uint64_t bytes = 0;
  assert_true(rs_run_merge_size(&merge, &bytes));
  return bytes;
}

/* A job that just fits is sorted in one piece, in place of the keys. */
static void test_what_just_fits(void **state)
{
  const recsort_plugin_job job = job_of(RANK, 1000, 64, 64, 2);
  const uint64_t bytes = bytes_for(&job, job.count, 64);
  (void)state;
  for (uint64_t less = 0; less < 2; less++) {
    gpu_instance *const self = open_with(bytes - less);
    recsort_plugin_work work = {.size = sizeof work};
    assert_int_equal(plugin()->work_size(self, &job, &work, NULL), RECSORT_OK);
    assert_int_equal(work.keys_offset, less ? 8000 : 0);
    assert_int_equal(work.bytes, less ? 8000 + 8000 + 4032 + bytes_to_merge(&job) : 8000);
    sort_well(self, &job);
    close_instance(self);
  }
}

/* The greatest number of runs, and one key more. */
static void test_most_runs(void **state)
{
  enum { LEAST = 16 }; /* keys of 128 bits in the smallest block */
  const recsort_plugin_job most = job_of(RANK, LEAST * IN_RUNS_MOST, 128, 32, 3);
  recsort_plugin_job more = most, few = most;
  recsort_error error = {0};
  (void)state;
  sort_in(&most, LEAST, IN_RUNS_MOST);
  gpu_instance *const self = open_with(bytes_for(&most, LEAST, 32));
  more.count++;
  assert_int_equal(sort(self, &more, &error), RECSORT_OUT_OF_MEMORY);
  assert_non_null(strstr(error.text, "MiB of device memory are needed"));
  assert_int_equal(standin_look().most, 0);
  few.count = 3 * LEAST;
  sort_well(self, &few);
  close_instance(self);
}

/* ---- Faults ---- */

enum { CORANK = 6, MANY = 3000 }; /* keys that it sorts by several kernels */

static gpu_instance *struck;
static recsort_plugin_job struck_job;
static long strike_at;

/* Before a run's last kernel the keys become others, in no order. */
static void strike(long number)
{
  const gpu_pairs pairs = gpu_plan_pairs(struck->device, &struck_job);
  const device_buffers buffers =
      device_divide(&pairs.job, struck->device->memory, pairs.extra_bytes);
  if (number != strike_at) return;
  for (size_t i = 0; i < MANY; i++)
    ((uint64_t *)buffers.keys[0])[i] = ((uint64_t *)buffers.keys[1])[i] =
        next_random(&random_state);
}

/* A device that returns a run that is not sorted, and does not look itself: the merge does. */
static void test_a_run_that_is_not_sorted(void **state)
{
  const recsort_plugin_job job = job_of(CORANK, 2 * MANY, 64, 32, 1);
  recsort_error error = {0};
  (void)state;
  struck_job = job_of(CORANK, MANY, 64, 32, 1);
  struck = open_with(bytes_for(&job, MANY, 32));
  struck->device->verify = RECSORT_VERIFY_OFF;
  sort_well(struck, &struck_job);
  strike_at = standin_look().launches;
  assert_true(strike_at > 1);
  standin_begin((standin_plan){0});
  standin_watch(strike);
  assert_int_equal(sort(struck, &job, &error), RECSORT_CORRUPT_RESULT);
  standin_watch(NULL);
  assert_non_null(strstr(error.text, "not in order"));
  sort_well(struck, &job);
  close_instance(struck);
}

/* ---- Other processes ---- */

/* Another process allocates or frees memory after the plugin was opened. */
static void test_free_memory_changes(void **state)
{
  enum { MUCH = 40000, LITTLE = 3000, NONE = 100 };
  const recsort_plugin_job small = job_of(RANK, 1000, 32, 32, 2),
                           large = job_of(RANK, 4000, 32, 32, 2);
  recsort_error error = {0};
  (void)state;
  set_limit(NULL);
  standin_begin((standin_plan){.memory = MUCH});
  gpu_instance *const self = open_instance();
  assert_false(in_runs_wanted(self, &small));
  assert_true(in_runs_wanted(self, &large));
  standin_begin((standin_plan){.memory = LITTLE});
  sort_well(self, &large);
  assert_true(standin_look().most < LITTLE);
  assert_false(in_runs_wanted(self, &small));
  sort_well(self, &small); /* still in runs */
  assert_true(standin_look().most < LITTLE);
  host_is_full = true;
  assert_int_equal(sort(self, &small, &error), RECSORT_OUT_OF_MEMORY);
  assert_non_null(strstr(error.text, "no memory"));
  host_is_full = false;
  standin_begin((standin_plan){.memory = NONE});
  assert_int_equal(sort(self, &small, &error), RECSORT_OUT_OF_MEMORY);
  assert_non_null(strstr(error.text, "are free"));
  standin_begin((standin_plan){0});
  sort_well(self, &small);
  sort_well(self, &large);
  close_instance(self);
}

/* Memory shrinks, for keys of every width: the result is the same. */
static void test_free_memory_shrinks(void **state)
{
  static const uint32_t bits[] = {17, 32, 64, 100, 128};
  (void)state;
  for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
    for (uint32_t index_bits = 32; index_bits <= 64; index_bits += 32) {
      const recsort_plugin_job job = job_of(b % 2, 1500, bits[b], index_bits, 3);
      const uint64_t least = bytes_for(&job, 400, 32);
      set_limit(NULL);
      standin_begin((standin_plan){0});
      gpu_instance *const self = open_instance();
      assert_false(in_runs_wanted(self, &job));
      standin_begin((standin_plan){.memory = (long)least});
      sort_well(self, &job);
      assert_true((uint64_t)standin_look().most <= least);
      close_instance(self);
    }
}

/* ---- The environment variable ---- */

static void test_limits(void **state)
{
  static const struct {
    const char *text;
    uint64_t limit;
  } cases[] = {{NULL, UINT64_MAX},
               {"", UINT64_MAX},
               {"1", 1},
               {"0090", 90},
               {"3K", 3 << 10},
               {"5M", 5 << 20},
               {"7G", UINT64_C(7) << 30},
               {"16777215T", UINT64_C(16777215) << 40},
               {"18446744073709551615", UINT64_MAX}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    set_limit(cases[i].text);
    standin_begin((standin_plan){0});
    gpu_instance *const self = open_instance();
    assert_int_equal(self->device->memory_limit, cases[i].limit);
    assert_true(self->device->first_room <= cases[i].limit);
    close_instance(self);
  }
}

static void test_bad_limits(void **state)
{
  static const char *const texts[] = {"0",   "0K",   "K",         "x",
                                      "-1",  "+1",   " 1",        "1 ",
                                      "1KB", "1.5G", "16777216T", "18446744073709551616",
                                      "1k",  "8GiB"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    recsort_error error = {0};
    void *instance = NULL;
    set_limit(texts[i]);
    standin_begin((standin_plan){0});
    if (plugin()->open(&host, &instance, &error) != RECSORT_PLUGIN_ERROR || instance)
      fail_msg("\"%s\" is taken", texts[i]);
    assert_non_null(strstr(error.text, "RECSORT_CUDA_MEMORY"));
    assert_null(strchr(error.text, '\n'));
    assert_int_equal(standin_look().calls, 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_borders_of_runs),
                                     cmocka_unit_test(test_one_instance),
                                     cmocka_unit_test(test_what_just_fits),
                                     cmocka_unit_test(test_most_runs),
                                     cmocka_unit_test(test_a_run_that_is_not_sorted),
                                     cmocka_unit_test(test_free_memory_changes),
                                     cmocka_unit_test(test_free_memory_shrinks),
                                     cmocka_unit_test(test_limits),
                                     cmocka_unit_test(test_bad_limits)};
  return cmocka_run_group_tests_name("in_runs", tests, NULL, NULL);
}
