/* The plugin among several devices: from any thread, all calls go to the chosen device, no other
 * gets a context, and each thread's current device stays the same. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "cuda_runtime_api.h"
#include "recsort/recsort.h"
#include "standin.h"
#include "cuda/driver.h"
#include "support/told.h"

enum { COUNT = 400, LANES = 2 };

typedef struct entity {
  float x, y, angle;
  int16_t sprite;
  float distance;
} entity;

static entity input[COUNT], entities[COUNT];

static void fill(void)
{
  for (size_t i = 0; i < COUNT; i++)
    input[i] = (entity){(float)i, 0, 0, (int16_t)(i % 7), (float)(i * 7919 % 97)};
  memcpy(entities, input, sizeof input);
}

static bool are_first_in_order(const entity *sorted, size_t count)
{
  for (size_t i = 1; i < count; i++) {
    const float a = sorted[i - 1].distance, b = sorted[i].distance;
    if (a < b || (a == b && sorted[i - 1].x >= sorted[i].x)) return false;
  }
  return true;
}

static bool are_in_order(const entity *sorted)
{
  return are_first_in_order(sorted, COUNT);
}

static bool in_order(void)
{
  return are_in_order(entities);
}

/* `told`: up to three options, separated by semicolons. */
static recsort_status create(const char *plugin, const char *told, recsort_sorter **sorter,
                             recsort_error *error)
{
  enum { MOST = 3 };
  char copy[64], *rest;
  const char *each[MOST];
  size_t count = 0;
  assert_true(told == NULL || strlen(told) < sizeof copy);
  (void)strcpy(copy, told ? told : "");
  for (char *at = strtok_r(copy, ";", &rest); at; at = strtok_r(NULL, ";", &rest)) {
    assert_true(count < MOST);
    each[count++] = at;
  }
  recsort_schema *schema = NULL;
  const recsort_options options = {.struct_size = sizeof options,
                                   .plugin = plugin,
                                   .threads = LANES,
                                   .plugin_options = each,
                                   .plugin_option_count = count};
  assert_int_equal(recsort_schema_load_file(RS_SCHEMAS "/entity.yaml", NULL, &schema, NULL),
                   RECSORT_OK);
  const recsort_status status = recsort_sorter_create(schema, &options, sorter, error);
  recsort_schema_destroy(schema);
  return status;
}

/* Checks that the calling thread's device is unchanged. */
static void expect_current(int device)
{
  assert_int_equal(standin_current(), device);
  assert_int_equal(standin_depth(), 0);
}

static void expect_only(int device)
{
  const standin_state state = standin_look();
  for (int d = 0; d < 2 * STANDIN_DEVICES; d++)
    assert_int_equal(state.work[d] != 0, d == device);
  assert_int_equal(state.misuses, 0);
}

/* Starts a plan with four devices; the thread's current one is `device`. */
static void begin(int device)
{
  standin_begin((standin_plan){.devices = STANDIN_DEVICES - 1});
  if (standin_current() != device) assert_int_equal(cudaSetDevice(device), 0);
  standin_begin((standin_plan){.devices = STANDIN_DEVICES - 1});
}

static void sort_and_look(recsort_sorter *sorter, int thread_device, int sort_device)
{
  recsort_error error = {0};
  fill();
  if (recsort_sort(sorter, entities, COUNT, &error)) fail_msg("%s", error.text);
  assert_true(in_order());
  assert_string_equal(stats_of(sorter).plugin, "cuda");
  expect_current(thread_device);
  expect_only(sort_device);
}

/* ---- The caller's device, and another ---- */

/* Whole records and keys alone; couriers of two threads, some of them the library's own. */
static void test_the_device_of_the_caller(void **state)
{
  (void)state;
  for (int device = 0; device < STANDIN_DEVICES; device++)
    for (int keys = 0; keys < 2; keys++) {
      recsort_sorter *sorter = NULL;
      recsort_error error = {0};
      begin(device);
      if (create("cuda", keys ? "memory=4000" : NULL, &sorter, &error)) fail_msg("%s", error.text);
      expect_current(device);
      sort_and_look(sorter, device, device);
      assert_int_equal(stats_of(sorter).whole_records, !keys);
      recsort_sorter_destroy(sorter);
      expect_current(device);
      expect_only(device);
      assert_int_equal(standin_look().blocks + standin_look().streams, 0);
    }
}

static void test_the_device_of_the_options(void **state)
{
  static const struct {
    const char *told;
    int current, chosen;
  } table[] = {{"device=0", 1, 0}, {"device=3", 0, 3}, {"memory=1M;device=1;device=2", 3, 2}};
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    recsort_sorter *sorter = NULL;
    begin(table[i].current);
    assert_int_equal(create("cuda", table[i].told, &sorter, NULL), RECSORT_OK);
    expect_current(table[i].current);
    sort_and_look(sorter, table[i].current, table[i].chosen);
    recsort_sorter_destroy(sorter);
    expect_current(table[i].current);
    for (int d = 0; d < STANDIN_DEVICES; d++)
      assert_int_equal(standin_look().woken[d], d == table[i].chosen);
  }
}

/* ---- Threads ---- */

typedef struct errand {
  recsort_sorter *sorter;
  int device; /* device to set first; -1: none */
  int found;
  bool good;
} errand;

static void *run_errand(void *context)
{
  errand *const e = context;
  if (e->device >= 0) (void)cudaSetDevice(e->device);
  e->good = recsort_sort(e->sorter, entities, COUNT, NULL) == RECSORT_OK;
  (void)cudaGetDevice(&e->found);
  e->good = e->good && standin_depth() == 0;
  return NULL;
}

static void test_another_thread(void **state)
{
  (void)state;
  for (int device = -1; device < 1; device++) {
    errand e = {.device = device};
    pthread_t thread;
    begin(2);
    assert_int_equal(create("cuda", NULL, &e.sorter, NULL), RECSORT_OK);
    fill();
    assert_int_equal(pthread_create(&thread, NULL, run_errand, &e), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(e.good && in_order());
    assert_int_equal(e.found, 0);
    expect_only(2);
    assert_int_equal(standin_look().woken[0], device == 0);
    recsort_sorter_destroy(e.sorter);
    expect_current(2);
  }
}

/* ---- Contexts ---- */

/* A context that is not the primary one, current in this thread until it is destroyed. */
static CUcontext make_context(int device)
{
  CUcontext context = NULL;
  CUresult (*create_it)(CUcontext *, unsigned, CUdevice);
  driver_call("cuCtxCreate", &create_it);
  assert_int_equal(create_it(&context, 0, device), CUDA_SUCCESS);
  return context;
}

static void drop_context(CUcontext context)
{
  CUresult (*destroy)(CUcontext);
  driver_call("cuCtxDestroy", &destroy);
  assert_int_equal(destroy(context), CUDA_SUCCESS);
}

/* The caller's context is used wherever it is one of the device, whether or not the primary one is
 * in use too; and from threads that have none. */
static void test_the_context_of_the_caller(void **state)
{
  static const struct {
    const char *told;
    int device, used; /* of the context, and where the work goes */
  } table[] = {{NULL, 2, STANDIN_DEVICES + 2},
               {"device=2", 2, STANDIN_DEVICES + 2},
               {"device=1", 2, 1},
               {NULL, 1, STANDIN_DEVICES + 1}};
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
      errand e = {.device = -1};
      pthread_t thread;
      begin(table[i].device);
      const CUcontext context = make_context(table[i].device);
      assert_int_equal(create("cuda", table[i].told, &e.sorter, NULL), RECSORT_OK);
      assert_int_equal(standin_depth(), 1);
      fill();
      if (elsewhere) {
        assert_int_equal(pthread_create(&thread, NULL, run_errand, &e), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_true(e.good && e.found == 0);
      } else {
        assert_int_equal(recsort_sort(e.sorter, entities, COUNT, NULL), RECSORT_OK);
      }
      assert_true(in_order());
      expect_only(table[i].used);
      recsort_sorter_destroy(e.sorter);
      assert_int_equal(standin_depth(), 1);
      assert_int_equal(standin_current(), table[i].device);
      expect_only(table[i].used);
      drop_context(context);
      expect_current(table[i].device);
      assert_int_equal(standin_look().blocks + standin_look().streams, 0);
    }
}

/* In a thread that never used the runtime the primary context does not come into being. */
static void *sort_in_a_context(void *good)
{
  recsort_sorter *sorter = NULL;
  const CUcontext context = make_context(3);
  fill();
  *(bool *)good = create("cuda", NULL, &sorter, NULL) == RECSORT_OK &&
                  recsort_sort(sorter, entities, COUNT, NULL) == RECSORT_OK && in_order();
  recsort_sorter_destroy(sorter);
  drop_context(context);
  return NULL;
}

static void test_no_primary_context_is_made(void **state)
{
  bool good = false;
  pthread_t thread;
  (void)state;
  begin(0);
  assert_int_equal(pthread_create(&thread, NULL, sort_in_a_context, &good), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_true(good);
  for (int c = 0; c < 2 * STANDIN_DEVICES; c++)
    assert_int_equal(standin_look().woken[c], c == STANDIN_DEVICES + 3);
  expect_only(STANDIN_DEVICES + 3);
}

/* ---- At once ---- */

typedef struct worker {
  pthread_t thread;
  int device;
  bool own_context; /* not the primary one */
  bool good;
} worker;

static void *work_alone(void *context)
{
  enum { SORTS = 5 };
  worker *const w = context;
  entity mine[COUNT];
  recsort_sorter *sorter = NULL;
  CUcontext made = NULL;
  int found = -1;
  w->good = cudaSetDevice(w->device) == cudaSuccess;
  if (w->own_context) made = make_context(w->device);
  w->good &= create("cuda", NULL, &sorter, NULL) == RECSORT_OK;
  for (int i = 0; i < SORTS; i++) {
    memcpy(mine, input, sizeof mine);
    w->good &= recsort_sort(sorter, mine, COUNT, NULL) == RECSORT_OK && are_in_order(mine);
  }
  recsort_sorter_destroy(sorter);
  w->good &= standin_depth() == w->own_context;
  if (made) drop_context(made);
  w->good &= cudaGetDevice(&found) == cudaSuccess && found == w->device;
  return NULL;
}

/* A thread for each context of each device, all at the same time. */
static void test_all_devices_at_once(void **state)
{
  worker workers[2 * STANDIN_DEVICES];
  (void)state;
  begin(0);
  fill();
  for (int w = 0; w < 2 * STANDIN_DEVICES; w++) {
    workers[w] = (worker){.device = w % STANDIN_DEVICES, .own_context = w >= STANDIN_DEVICES};
    assert_int_equal(pthread_create(&workers[w].thread, NULL, work_alone, &workers[w]), 0);
  }
  for (int w = 0; w < 2 * STANDIN_DEVICES; w++) {
    assert_int_equal(pthread_join(workers[w].thread, NULL), 0);
    assert_true(workers[w].good);
  }
  const standin_state after = standin_look();
  for (int c = 0; c < 2 * STANDIN_DEVICES; c++)
    assert_true(after.work[c] > 0);
  assert_int_equal(after.misuses, 0);
  assert_int_equal(after.blocks + after.streams, 0);
  expect_current(0);
}

/* ---- Failures ---- */

static void check_failures(const char *told)
{
  recsort_sorter *sorter = NULL;
  size_t failed = 0;
  begin(1);
  assert_int_equal(create("cuda", told, &sorter, NULL), RECSORT_OK);
  fill();
  assert_int_equal(recsort_sort(sorter, entities, COUNT, NULL), RECSORT_OK);
  recsort_sorter_destroy(sorter);
  const long calls = standin_look().calls;
  for (long at = 1; at <= calls; at++) {
    sorter = NULL;
    standin_begin((standin_plan){.devices = STANDIN_DEVICES - 1, .fail_at = at});
    const long before = standin_look().blocks + standin_look().streams; /* closing may fail */
    fill();
    const bool good = create("cuda", told, &sorter, NULL) == RECSORT_OK &&
                      recsort_sort(sorter, entities, COUNT, NULL) == RECSORT_OK;
    assert_memory_equal(good ? input : entities, input, sizeof input);
    failed += !good;
    expect_current(1);
    recsort_sorter_destroy(sorter);
    expect_current(1);
    if (!good) assert_int_equal(standin_look().blocks + standin_look().streams, before);
  }
  assert_true(failed > 20);
}

static void test_the_current_device_after_failures(void **state)
{
  (void)state;
  check_failures("device=2");
  check_failures("device=0;memory=4000");
}

/* ---- Options that are wrong ---- */

static const struct {
  const char *told, *text;
} wrong[] = {
    {"device=4", "option \"device=4\": there are 4 CUDA devices, numbered from 0"},
    {"device=99999999999999999999", "the value must be the number of a device, from 0"},
    {"device=x", "option \"device=x\": the value must be the number of a device, from 0"},
    {"device=", "the number of a device"},
    {"memory=3 runs", "option \"memory=3 runs\": the value must be a size such as 512M or 8G"},
    {"memory=0", "a size such as"},
    {"memory=M", "a size such as"},
    {"memory=99999999999T", "a size such as"},
    {"device=1;colour=red", "has no option \"colour\""},
    {"devic=1", "has no option \"devic\""},
    {"devices=0,1", "has no option \"devices\""},
};

static void test_wrong_options(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    recsort_sorter *sorter = NULL;
    recsort_error error = {0};
    begin(1);
    assert_int_equal(create("cuda", wrong[i].told, &sorter, &error), RECSORT_PLUGIN_ERROR);
    if (!strstr(error.text, wrong[i].text)) fail_msg("%s", error.text);
    assert_int_equal(create("auto", wrong[i].told, &sorter, &error), RECSORT_OK);
    recsort_stats stats;
    recsort_sorter_get_stats(sorter, &stats, sizeof stats);
    assert_string_equal(stats.plugin, "cpu");
    assert_non_null(stats.fallback);
    if (!strstr(stats.fallback, wrong[i].text)) fail_msg("%s", stats.fallback);
    fill();
    assert_int_equal(recsort_sort(sorter, entities, COUNT, NULL), RECSORT_OK);
    assert_true(in_order());
    recsort_sorter_destroy(sorter);
    expect_current(1);
  }
}

/* The option `memory` takes precedence over the environment. */
static void test_memory(void **state)
{
  recsort_sorter *sorter;
  (void)state;
  begin(0);
  assert_int_equal(setenv("RECSORT_CUDA_MEMORY", "nonsense", 1), 0);
  assert_int_equal(create("cuda", "memory=1M", &sorter, NULL), RECSORT_OK);
  sort_and_look(sorter, 0, 0);
  recsort_sorter_destroy(sorter);
  assert_true(standin_look().most <= 1 << 20);
  assert_int_equal(create("cuda", "device=0", &sorter, NULL), RECSORT_PLUGIN_ERROR);
  assert_int_equal(create("auto", "device=0", &sorter, NULL), RECSORT_OK);
  assert_non_null(strstr(stats_of(sorter).fallback, "RECSORT_CUDA_MEMORY holds no"));
  recsort_sorter_destroy(sorter);
  assert_int_equal(unsetenv("RECSORT_CUDA_MEMORY"), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_primary_context_is_made), /* first: others make all of them */
      cmocka_unit_test(test_the_device_of_the_caller),
      cmocka_unit_test(test_the_device_of_the_options),
      cmocka_unit_test(test_another_thread),
      cmocka_unit_test(test_the_context_of_the_caller),
      cmocka_unit_test(test_all_devices_at_once),
      cmocka_unit_test(test_the_current_device_after_failures),
      cmocka_unit_test(test_wrong_options),
      cmocka_unit_test(test_memory),
  };
  if (setenv("RECSORT_PLUGIN_PATH", RS_CUDA_PLUGIN, 1) != 0) return 2;
  return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}
