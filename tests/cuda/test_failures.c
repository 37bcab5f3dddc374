/* The CUDA plugin on a runtime whose calls fail in turn: each one once, and each one with all later
 * ones.
 *
 * Each case has its own process, as an error of the second kind is permanent for a process. With
 * "auto" the result is the CPU's and the statistics say why; by name it is an error and the records
 * are unchanged. Prints "N faults, 0 crashes, ...". */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recsort/tools.h"
#include "standin.h"
#include "support/failing_allocator.h"
#include "support/jobs.h"
#include "support/told.h"

#define THREE_RUNS "4000"

enum { COUNT = 400, ALGORITHMS_MAX = 16, ILLEGAL_ADDRESS = 700, POISON = 0xee };

typedef struct entity {
  float x, y, angle;
  int16_t sprite;
  float distance;
} entity;

/* Shared by all processes. */
typedef struct tally {
  size_t faults;
  size_t crashes;
  size_t errors;    /* faults that a call reported */
  size_t fallbacks; /* fallbacks to the CPU */
  size_t changed;   /* changed inputs of failed calls */
  size_t wrong;     /* wrong results, texts or choices */
  size_t spoilt;    /* changed outputs of failed calls to another array */
  size_t leaks;
} tally;

/* The calls of a run without faults. */
typedef struct call_counts {
  long search; /* until the plugin was found */
  long open;   /* until it was opened */
  long sort;   /* until the first sort was done */
  long all;
} call_counts;

static tally *t;
static entity input[COUNT], expected[COUNT], entities[COUNT], sorted[COUNT];

static void expect(bool good, const char *what)
{
  if (good) return;
  t->wrong++;
  if (t->wrong <= 20) (void)printf("FAILED: %s\n", what);
}

/* ---- Records ---- */

static void make_input(void)
{
  for (size_t i = 0; i < COUNT; i++)
    input[i] = (entity){(float)i, 0, 0, (int16_t)(i % 7), (float)(i * 7919 % 97)};
}

static recsort_status create(const char *plugin, const char *algorithm,
                             const recsort_allocator *memory, recsort_sorter **sorter,
                             recsort_error *error)
{
  recsort_schema *schema = NULL;
  static const char *const device[] = {"device=0"}; /* so that "auto" starts it at once */
  const recsort_options options = {.struct_size = sizeof options,
                                   .plugin = plugin,
                                   .algorithm = algorithm,
                                   .plugin_options = device,
                                   .plugin_option_count = !plugin || strcmp(plugin, "auto") == 0,
                                   .threads = 2,
                                   .allocator = memory};
  recsort_status status =
      recsort_schema_load_file(RS_SCHEMAS "/entity.yaml", memory, &schema, error);
  if (status == RECSORT_OK) status = recsort_sorter_create(schema, &options, sorter, error);
  recsort_schema_destroy(schema);
  return status;
}

static void make_expected(void)
{
  recsort_sorter *sorter = NULL;
  memcpy(expected, input, sizeof input);
  expect(create("cpu", "sequential", NULL, &sorter, NULL) == RECSORT_OK &&
             recsort_sort(sorter, expected, COUNT, NULL) == RECSORT_OK,
         "the CPU does not sort");
  recsort_sorter_destroy(sorter);
}

/* Sorts. On failure, the records must be unchanged, and the text must be one line. */
static bool sort_well(recsort_sorter *sorter)
{
  recsort_error error = {0};
  memcpy(entities, input, sizeof input);
  if (recsort_sort(sorter, entities, COUNT, &error) == RECSORT_OK) {
    expect(memcmp(entities, expected, sizeof expected) == 0, "the result is not the CPU's");
    return true;
  }
  t->errors++;
  t->changed += memcmp(entities, input, sizeof input) != 0;
  expect(strstr(error.text, "plugin \"cuda\": ") && !strchr(error.text, '\n'), error.text);
  return false;
}

/* Sorts to another array. On failure, that is unchanged unless the first records have come down
 * already. */
static bool sort_to_well(recsort_sorter *sorter, const char *memory)
{
  recsort_error error = {0};
  memcpy(entities, input, sizeof input);
  memset(sorted, POISON, sizeof sorted);
  if (recsort_sort_to(sorter, entities, COUNT, sorted, &error) == RECSORT_OK) {
    expect(memcmp(sorted, expected, sizeof expected) == 0, "sort_to: the result is not the CPU's");
    return true;
  }
  const standin_state state = standin_look();
  const bool may_change = !memory && state.first_down && state.first_down < state.calls;
  bool changed = false;
  for (size_t i = 0; i < sizeof sorted; i++)
    changed = changed || ((const unsigned char *)sorted)[i] != POISON;
  t->spoilt += changed;
  t->changed += memcmp(entities, input, sizeof input) != 0;
  expect(!changed || may_change, "sort_to: the other array has changed");
  return false;
}

/* ---- Processes ---- */

typedef struct fault {
  const char *algorithm; /* NULL: plugin "auto" */
  const char *memory;    /* limit of device memory: too little for all keys; NULL: none */
  standin_plan plan;
  call_counts calls;
} fault;

typedef void body(fault *f);

/* Runs `run` in a new process; this one has started no thread. */
static void apart(body *run, fault *f)
{
  (void)fflush(stdout);
  const pid_t child = fork();
  int status = 0;
  if (child == 0) {
    if (f->memory && setenv("RECSORT_CUDA_MEMORY", f->memory, 1) != 0) exit(1);
    run(f);
    (void)fflush(stdout);
    exit(0);
  }
  const bool ended = child > 0 && waitpid(child, &status, 0) == child;
  t->crashes += !ended || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  t->faults++;
}

static call_counts *shared_counts;

static void count_calls(fault *f)
{
  const recsort_plugin_info *list = NULL;
  recsort_sorter *sorter = NULL;
  standin_begin((standin_plan){0});
  expect(recsort_plugins_find(NULL, &list, NULL) == RECSORT_OK, "no list of plugins");
  recsort_plugins_destroy(list);
  shared_counts->search = standin_look().calls;
  standin_begin((standin_plan){0});
  make_expected();
  standin_begin((standin_plan){0});
  expect(create(f->algorithm ? "cuda" : NULL, f->algorithm, NULL, &sorter, NULL) == RECSORT_OK,
         "no sorter");
  shared_counts->open = standin_look().calls;
  expect(sort_well(sorter), "it does not sort without faults");
  shared_counts->sort = standin_look().calls;
  recsort_stats stats;
  recsort_sorter_get_stats(sorter, &stats, sizeof stats);
  expect(strcmp(stats.plugin, "cuda") == 0, "another plugin was chosen");
  expect(stats.whole_records == !f->memory, "whole records go to the device if they have room");
  recsort_sorter_destroy(sorter);
  shared_counts->all = standin_look().calls;
  t->leaks += standin_look().blocks || standin_look().streams;
}

/* ---- One call fails ---- */

/* True if `cuda` is available; otherwise `reason` says why not. */
static bool is_offered(char reason[256])
{
  const recsort_plugin_info *list = NULL;
  bool offered = false;
  *reason = '\0';
  if (recsort_plugins_find(NULL, &list, NULL) != RECSORT_OK) return false;
  for (const recsort_plugin_info *info = list; info; info = info->next) {
    if (strcmp(info->name, "cuda") != 0) continue;
    offered = info->score > 0;
    (void)snprintf(reason, 256, "%s", info->reason ? info->reason : "");
  }
  recsort_plugins_destroy(list);
  return offered;
}

/* The calls of the search. An option that names the device saves one. */
static long search_calls(const fault *f)
{
  return f->algorithm ? f->calls.search : f->calls.search - 1;
}

/* The runtime works again: checks that the plugin does too. */
static void check_afterwards(const fault *f)
{
  char reason[256];
  standin_begin((standin_plan){0});
  const bool offered = is_offered(reason);
  const bool lost =
      f->plan.sticky && f->plan.fail_at > search_calls(f) && f->plan.fail_at <= f->calls.sort;
  expect(offered == !lost, lost ? "a lost device is on offer" : reason);
  if (!lost) return;
  expect(strstr(reason, "failed earlier in this process") != NULL, reason);
  expect(standin_look().calls == 0, "a lost device was tried again");
}

static void check_choice(const fault *f, recsort_sorter *sorter)
{
  const long at = f->plan.fail_at;
  recsort_stats stats;
  recsort_sorter_get_stats(sorter, &stats, sizeof stats);
  const bool found = at > search_calls(f), failed = at <= f->calls.sort;
  expect(strcmp(stats.plugin, at <= f->calls.sort ? "cpu" : "cuda") == 0, "the wrong plugin");
  expect(found == !strstr(stats.choice, "\"cuda\" cannot be used here: "), "the choice's text");
  expect(failed == (stats.fallback != NULL), "the fallback is not told, or none was needed");
  const char *const told =
      found ? "plugin \"cuda\": " : "plugin \"cuda\" cannot be used here, \"cpu\" sorts: ";
  expect(!stats.fallback || strstr(stats.fallback, told), "the fallback's text");
  t->fallbacks += stats.fallback != NULL;
}

static void fail_automatic(fault *f)
{
  recsort_sorter *sorter = NULL;
  make_expected();
  standin_begin(f->plan);
  expect(create("auto", NULL, NULL, &sorter, NULL) == RECSORT_OK, "no sorter");
  expect(sort_well(sorter), "the CPU did not take over");
  check_choice(f, sorter);
  recsort_sorter_destroy(sorter);
  t->leaks += !f->plan.sticky && f->plan.fail_at <= f->calls.sort &&
              (standin_look().blocks || standin_look().streams);
  expect(standin_look().misuses == 0, "the runtime was misused");
  check_afterwards(f);
}

/* By name: an error. If only one call failed, the next sort succeeds. */
static void fail_by_name(fault *f)
{
  const long at = f->plan.fail_at;
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  make_expected();
  standin_begin(f->plan);
  const bool created = create("cuda", f->algorithm, NULL, &sorter, &error) == RECSORT_OK;
  expect(created == (at > f->calls.open), "creation fails if and only if one of its calls does");
  if (!created) {
    t->errors++;
    expect(sorter == NULL && strstr(error.text, "\"cuda\"") != NULL, error.text);
  } else {
    expect(sort_well(sorter) == (at > f->calls.sort), "a sort fails if one of its calls does");
    if (!f->plan.sticky && at <= f->calls.sort) expect(sort_well(sorter), "the next sort is well");
  }
  recsort_sorter_destroy(sorter);
  expect(standin_look().misuses == 0, "the runtime was misused");
  check_afterwards(f);
}

static void fail_sort_to(fault *f)
{
  recsort_sorter *sorter = NULL;
  make_expected();
  standin_begin(f->plan);
  if (create("cuda", f->algorithm, NULL, &sorter, NULL) == RECSORT_OK)
    expect(sort_to_well(sorter, f->memory) == (f->plan.fail_at > f->calls.sort),
           "sort_to fails if one of its calls does");
  recsort_sorter_destroy(sorter);
}

static void fail_each_sort_to(const char *algorithm, const char *memory)
{
  fault f = {.algorithm = algorithm, .memory = memory};
  apart(count_calls, &f);
  f.calls = *shared_counts;
  for (long at = f.calls.open + 1; at <= f.calls.sort + 1; at++) {
    f.plan = (standin_plan){.fail_at = at};
    apart(fail_sort_to, &f);
  }
}

static void fail_each_call(const char *algorithm, const char *memory)
{
  fault f = {.algorithm = algorithm, .memory = memory};
  apart(count_calls, &f);
  f.calls = *shared_counts;
  for (int sticky = 0; sticky < 2; sticky++)
    for (long at = 1; at <= f.calls.all; at++) {
      f.plan =
          (standin_plan){.fail_at = at, .sticky = sticky, .code = sticky ? ILLEGAL_ADDRESS : 0};
      apart(algorithm ? fail_by_name : fail_automatic, &f);
    }
  expect(f.calls.search > 0 && f.calls.open > f.calls.search && f.calls.sort > f.calls.open + 4 &&
             f.calls.all > f.calls.sort,
         "too few calls were counted");
  (void)printf("%s, %s of memory: %ld calls\n", algorithm ? algorithm : "auto",
               memory ? memory : "all", f.calls.all);
}

/* ---- No memory ---- */

static void run_short_of_memory(fault *f)
{
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  make_expected();
  standin_begin((standin_plan){.memory = 1000});
  expect(create(f->algorithm ? "cuda" : NULL, f->algorithm, NULL, &sorter, NULL) == RECSORT_OK,
         "no sorter");
  memcpy(entities, input, sizeof input);
  const recsort_status status = recsort_sort(sorter, entities, COUNT, &error);
  const char *const fallback = stats_of(sorter).fallback;
  const char *const text = f->algorithm ? error.text : fallback ? fallback : "";
  expect(status == (f->algorithm ? RECSORT_OUT_OF_MEMORY : RECSORT_OK), "the status");
  expect(memcmp(entities, f->algorithm ? input : expected, sizeof entities) == 0, "the records");
  expect(strstr(text, "MiB of device memory are needed") && strstr(text, "are free"), text);
  recsort_sorter_destroy(sorter);
  t->leaks += standin_look().blocks || standin_look().streams;
}

/* An invalid limit: by name an error; with "auto" the CPU sorts and the statistics say why. */
static void refuse_limit(fault *f)
{
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  make_expected();
  standin_begin((standin_plan){0});
  const recsort_status status =
      create(f->algorithm ? "cuda" : NULL, f->algorithm, NULL, &sorter, &error);
  expect(status == (f->algorithm ? RECSORT_PLUGIN_ERROR : RECSORT_OK), error.text);
  const char *const fallback = sorter ? stats_of(sorter).fallback : NULL;
  const char *const text = f->algorithm ? error.text : fallback ? fallback : "";
  expect(strstr(text, "plugin \"cuda\": RECSORT_CUDA_MEMORY holds no size"), text);
  expect(f->algorithm || sort_well(sorter), "the CPU did not take over");
  recsort_sorter_destroy(sorter);
}

/* Enough memory for the keys, but not for the records. */
static void send_keys_alone(fault *f)
{
  recsort_sorter *sorter = NULL;
  (void)f;
  make_expected();
  standin_begin((standin_plan){.memory = 16000});
  expect(create("cuda", NULL, NULL, &sorter, NULL) == RECSORT_OK, "no sorter");
  expect(sort_well(sorter), "the keys do not find room");
  expect(!stats_of(sorter).whole_records, "the records found room");
  recsort_sorter_destroy(sorter);
  t->leaks += standin_look().blocks || standin_look().streams;
}

/* Found on the device, named by the host. */
static void name_invalid_record(fault *f)
{
  static const char text[] =
      "record: r\nfields:\n  - {name: e, type: enum, base: uint8, values: [a, b]}\nkeys:\n  - e\n";
  const recsort_options options = {.struct_size = sizeof options, .plugin = "cuda"};
  unsigned char records[] = {1, 0, 1, 7, 0}, before[sizeof records];
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  (void)f;
  memcpy(before, records, sizeof records);
  expect(recsort_schema_load_memory(text, sizeof text - 1, "text", NULL, &schema, &error) ==
                 RECSORT_OK &&
             recsort_sorter_create(schema, &options, &sorter, &error) == RECSORT_OK,
         error.text);
  recsort_schema_destroy(schema);
  if (!sorter) return;
  expect(recsort_sort(sorter, records, sizeof records, &error) == RECSORT_INVALID_RECORD &&
             strstr(error.text, "record 3"),
         error.text);
  t->changed += memcmp(records, before, sizeof records) != 0;
  records[3] = 1;
  expect(recsort_sort(sorter, records, sizeof records, &error) == RECSORT_OK &&
             stats_of(sorter).whole_records,
         "the next sort is well");
  recsort_sorter_destroy(sorter);
}

/* The device fails, and then the host has no memory for the CPU. */
static void fail_both(fault *f)
{
  const bool for_ever = f->plan.sticky;
  make_expected();
  for (size_t at = 1;; at++) {
    failing_allocator memory = {.fail_at = at, .for_ever = for_ever};
    const recsort_allocator hook = failing_hook(&memory);
    recsort_sorter *sorter = NULL;
    recsort_error error = {0};
    standin_begin((standin_plan){.fail_at = f->plan.fail_at});
    if (create("auto", NULL, &hook, &sorter, &error) == RECSORT_OK) {
      memcpy(entities, input, sizeof input);
      if (recsort_sort(sorter, entities, COUNT, &error) == RECSORT_OK)
        expect(memcmp(entities, expected, sizeof expected) == 0, "the result is not the CPU's");
      else
        t->changed += memcmp(entities, input, sizeof input) != 0;
    }
    recsort_sorter_destroy(sorter);
    t->errors += error.status != RECSORT_OK;
    t->leaks += memory.blocks != 0;
    expect(memory.wrong == 0, "the allocator was misused");
    if (memory.calls < at) break;
    t->faults++;
  }
}

/* ---- No device ---- */

static void refuse_device(fault *f)
{
  char reason[256];
  standin_begin(f->plan);
  expect(!is_offered(reason), "it is on offer where it cannot work");
  if (!strstr(reason, f->algorithm)) expect(false, reason);
}

static void refuse_each(void)
{
  fault refusals[] = {
      {.plan = {.driver = 1}, .algorithm = "no NVIDIA driver was found"},
      {.plan = {.driver = 12020}, .algorithm = "it is for CUDA 12.2, and 13.0 is needed"},
      {.plan = {.devices = -1}, .algorithm = "no CUDA device was found"},
      {.plan = {.capability = 61}, .algorithm = "its compute capability is 6.1, and 9.0 is needed"},
      {.plan = {.fail_at = 1, .code = 999}, .algorithm = "cannot be used: some other error"}};
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    apart(refuse_device, &refusals[i]);
}

static size_t find_algorithms(char names[ALGORITHMS_MAX][32])
{
  const recsort_plugin_info *list = NULL;
  size_t count = 0;
  if (recsort_plugins_find(NULL, &list, NULL) != RECSORT_OK) return 0;
  for (const recsort_plugin_info *info = list; info; info = info->next) {
    for (size_t a = 0; strcmp(info->name, "cuda") == 0 && a < info->algorithm_count; a++)
      (void)snprintf(names[count++], 32, "%s", info->algorithms[a]);
  }
  recsort_plugins_destroy(list);
  return count;
}

int main(int argc, char **argv)
{
  char names[ALGORITHMS_MAX][32];
  char *const shared = mmap(NULL, sizeof *t + sizeof *shared_counts, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED || setenv("RECSORT_PLUGIN_PATH", RS_CUDA_PLUGIN, 1) != 0) return 2;
  t = (tally *)(void *)shared;
  shared_counts = (call_counts *)(void *)(shared + sizeof *t);
  make_input();
  refuse_each();
  fail_each_call(NULL, NULL);
  const call_counts calls = *shared_counts;
  for (long at = calls.search + 1; at <= calls.sort; at++)
    for (int for_ever = 0; for_ever < 2; for_ever++)
      apart(fail_both, &(fault){.plan = {.fail_at = at, .sticky = for_ever}});
  const size_t all = find_algorithms(names), count = argc > 1 ? (size_t)argc - 1 : all;
  for (size_t a = 0; a < count; a++) {
    const char *const name = argc > 1 ? argv[a + 1] : names[a];
    fail_each_call(name, NULL);
    apart(run_short_of_memory, &(fault){.algorithm = name});
  }
  fail_each_call(NULL, THREE_RUNS);
  fail_each_call("corank", THREE_RUNS);
  fail_each_sort_to("sample", NULL);
  fail_each_sort_to("corank", THREE_RUNS);
  apart(run_short_of_memory, &(fault){.algorithm = NULL});
  apart(refuse_limit, &(fault){.memory = "3 runs"});
  apart(refuse_limit, &(fault){.algorithm = "corank", .memory = "3 runs"});
  apart(send_keys_alone, &(fault){.algorithm = NULL});
  apart(name_invalid_record, &(fault){.algorithm = NULL});
  (void)printf("%zu faults, %zu crashes, %zu leaks, %zu changed inputs, %zu wrong (%zu errors "
               "reported, %zu fallbacks, %zu results spoilt)\n",
               t->faults, t->crashes, t->leaks, t->changed, t->wrong, t->errors, t->fallbacks,
               t->spoilt);
  return all > 1 && t->errors && t->fallbacks && t->spoilt && !t->crashes && !t->leaks &&
                 !t->changed && !t->wrong
             ? 0
             : 1;
}
