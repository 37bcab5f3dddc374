/* faults - every allocation of the library fails in turn, alone and with all later ones.
 *
 * Each scenario does what a program that embeds the library does. It runs first without a fault, to
 * count allocations, then with a fault at each of them. A call may fail or recover. Either way
 * nothing may leak, the input of a failed call must be unchanged, and the result of a successful
 * one must be right.
 *
 * Run with fail_malloc preloaded, it does the same to every malloc of the process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/tools.h"
#include "support/failing_allocator.h"
#include "support/jobs.h"

enum { FEW = 3000, MANY = (1 << 18) + 1000 /* enough for threads in all stages */ };

typedef struct entity {
  float x, y, angle;
  int16_t sprite;
  float distance;
} entity;

typedef struct tally {
  size_t faults;
  size_t errors; /* faults that a call reported */
  size_t leaks;
  size_t changed; /* changed inputs */
  size_t wrong;   /* wrong results, statuses or texts */
} tally;

typedef void scenario(const recsort_allocator *memory, tally *t);

/* ---- The input ---- */

static entity entities[MANY], input[MANY], output[MANY], sorted_runs[MANY];
static uint32_t index_of[MANY];
static size_t count = FEW;
static recsort_schema *kept; /* the schema, if loading it is not part of the scenario */

static void make_input(void)
{
  for (size_t i = 0; i < MANY; i++)
    input[i] = (entity){(float)i, 0, 0, (int16_t)(i % 7), (float)(i * 7919 % 997)};
}

static void copy_input(void)
{
  memcpy(entities, input, count * sizeof *input);
}

static bool has_changed(void)
{
  return memcmp(entities, input, count * sizeof *input) != 0;
}

static bool in_order(const entity *e)
{
  for (size_t i = 1; i < count; i++)
    if (e[i - 1].distance < e[i].distance ||
        (e[i - 1].distance == e[i].distance && e[i - 1].x >= e[i].x))
      return false;
  return true;
}

/* True if a call succeeded. If it failed, its error must be complete. */
static bool went_well(recsort_status status, const recsort_error *error, tally *t)
{
  if (status == RECSORT_OK) return true;
  t->errors++;
  t->wrong += error->status != status || error->text[0] == '\0';
  return false;
}

/* ---- Scenarios ---- */

static recsort_sorter *open_sorter(const recsort_allocator *memory, tally *t)
{
  recsort_error error = {0};
  recsort_schema *schema = kept;
  recsort_sorter *sorter = NULL;
  static const char *const asked[] = {"asked=1"}; /* so that "auto" is the scripted plugin */
  const recsort_options options = {.struct_size = sizeof options,
                                   .plugin_options = asked,
                                   .plugin_option_count = getenv("RECSORT_TEST_SCRIPT") != NULL,
                                   .threads = 4,
                                   .allocator = memory};
  if (kept ||
      went_well(recsort_schema_load_file(RS_NATIVE_SCHEMAS "/entity.yaml", memory, &schema, &error),
                &error, t))
    (void)went_well(recsort_sorter_create(schema, &options, &sorter, &error), &error, t);
  if (!kept) recsort_schema_destroy(schema);
  return sorter;
}

static void sort_in_place(const recsort_allocator *memory, tally *t)
{
  recsort_error error = {0};
  recsort_sorter *sorter = open_sorter(memory, t);
  copy_input();
  for (int again = 0; sorter && again < 2; again++) {
    const bool fresh = !has_changed();
    if (went_well(recsort_sort(sorter, entities, count, &error), &error, t))
      t->wrong += !in_order(entities);
    else
      t->changed += fresh && has_changed();
  }
  recsort_sorter_destroy(sorter);
}

static void use_permutations(const recsort_allocator *memory, tally *t)
{
  const recsort_array moved = {entities, entities, sizeof *entities};
  recsort_job job = RECSORT_JOB_INIT;
  recsort_error error = {0};
  recsort_sorter *sorter = open_sorter(memory, t);
  size_t disorder = 0, firsts = 0;
  if (!sorter) return;
  copy_input();
  if (went_well(recsort_sort_to(sorter, entities, count, output, &error), &error, t))
    t->wrong += !in_order(output);
  t->changed += has_changed();
  if (went_well(recsort_check(sorter, entities, count, &disorder, &error), &error, t))
    t->wrong += disorder != 1;
  job.count = count;
  job.records = input;
  if (went_well(recsort_run(sorter, &job, 1, &error), &error, t)) {
    if (went_well(recsort_unique(sorter, &job, &firsts, &error), &error, t))
      t->wrong += firsts != 997;
    else
      t->wrong += firsts != 0;
  }
  job.arrays = &moved;
  job.array_count = 1;
  if (went_well(recsort_run(sorter, &job, 1, &error), &error, t))
    t->wrong += !in_order(entities);
  else
    t->changed += has_changed();
  recsort_sorter_destroy(sorter);
}

static void merge_runs(const recsort_allocator *memory, tally *t)
{
  enum { RUNS = 300 }; /* two passes */
  recsort_error error = {0};
  recsort_sorter *sorter = open_sorter(memory, t);
  size_t offsets[RUNS + 1];
  if (!sorter) return;
  for (size_t r = 0; r <= RUNS; r++)
    offsets[r] = count * r / RUNS;
  for (size_t r = 0; r < RUNS; r++)
    for (size_t i = offsets[r]; i < offsets[r + 1]; i++)
      sorted_runs[i] = (entity){(float)i, 0, 0, 0, -(float)((i - offsets[r]) / 3)};
  memcpy(entities, sorted_runs, count * sizeof *entities);
  if (went_well(merge_in_place(sorter, entities, offsets, RUNS, &error), &error, t))
    t->wrong += !in_order(entities);
  else
    t->changed += memcmp(entities, sorted_runs, count * sizeof *entities) != 0;
  if (went_well(merge_to(sorter, sorted_runs, offsets, RUNS, output, &error), &error, t))
    t->wrong += !in_order(output);
  if (went_well(argmerge(sorter, sorted_runs, offsets, RUNS, index_of, 32, &error), &error, t))
    for (size_t i = 0; i < count; i++)
      t->wrong += sorted_runs[index_of[i]].x != output[i].x;
  recsort_sorter_destroy(sorter);
}

static const char computed[] =
    "record: point\n"
    "fields: [{name: x, type: float64}, {name: y, type: float64}]\n"
    "keys: [{dot: {fields: [x, y], with: [1, 2]}}, {distance: {fields: [x, y], from: eye}}]\n";

static void load_schemas(const recsort_allocator *memory, tally *t)
{
  static const char *const files[] = {"everything.yaml", "las.yaml", "ply.yaml", "segy.yaml",
                                      "fits.yaml"};
  enum { FILES = sizeof files / sizeof *files };
  char path[512];
  for (size_t i = 0; i <= FILES; i++) {
    recsort_error error = {0};
    recsort_schema *schema = NULL;
    (void)snprintf(path, sizeof path, RS_SCHEMAS "/%s", i < FILES ? files[i] : "");
    const recsort_status status =
        i < FILES ? recsort_schema_load_file(path, memory, &schema, &error)
                  : recsort_schema_load_memory(computed, strlen(computed), "computed", memory,
                                               &schema, &error);
    if (went_well(status, &error, t)) {
      recsort_sorter *sorter = NULL;
      const recsort_options options = {.struct_size = sizeof options, .allocator = memory};
      if (!went_well(recsort_sorter_create(schema, &options, &sorter, &error), &error, t))
        t->wrong += sorter != NULL;
      recsort_sorter_destroy(sorter);
    } else {
      t->wrong += schema != NULL;
    }
    recsort_schema_destroy(schema);
  }
}

static void find_plugins(const recsort_allocator *memory, tally *t)
{
  recsort_error error = {0};
  const recsort_plugin_info *list = NULL;
  if (!went_well(recsort_plugins_find(memory, &list, &error), &error, t)) t->wrong += list != NULL;
  recsort_plugins_destroy(list);
}

/* ---- Faults through the allocator hook ---- */

static size_t count_hook(scenario *run)
{
  failing_allocator memory = {0};
  const recsort_allocator hook = failing_hook(&memory);
  tally t = {0};
  run(&hook, &t);
  return t.errors || t.wrong ? 0 : memory.calls;
}

static void fail_hook(scenario *run, size_t calls, bool for_ever, tally *t)
{
  for (size_t at = 1; at <= calls; at++) {
    failing_allocator memory = {.fail_at = at, .for_ever = for_ever};
    const recsort_allocator hook = failing_hook(&memory);
    run(&hook, t);
    t->faults++;
    t->leaks += memory.blocks != 0;
    t->wrong += memory.wrong != 0;
  }
}

/* ---- Faults of malloc ---- */

typedef struct shim {
  void (*plan)(long at, bool for_ever);
  long (*calls)(void);
  long (*live)(void);
} shim;

static void *find_symbol(const char *name)
{
  return dlsym(RTLD_DEFAULT, name);
}

static bool find_shim(shim *found)
{
  void *const plan = find_symbol("fail_malloc_plan"),
              *const calls = find_symbol("fail_malloc_calls"),
              *const live = find_symbol("fail_malloc_live");
  memcpy(&found->plan, &plan, sizeof plan);
  memcpy(&found->calls, &calls, sizeof calls);
  memcpy(&found->live, &live, sizeof live);
  return plan && calls && live;
}

static size_t count_malloc(const shim *s, scenario *run)
{
  tally t = {0};
  run(NULL, &t); /* allocates what is made only once */
  s->plan(0, false);
  run(NULL, &t);
  return t.errors || t.wrong ? 0 : (size_t)s->calls();
}

/* True if a run whose allocation number `at` fails leaves memory behind. */
static bool leaves_memory(const shim *s, scenario *run, size_t at, bool for_ever, tally *t)
{
  const long live = s->live();
  s->plan((long)at, for_ever);
  run(NULL, t);
  s->plan(0, false);
  return s->live() > live;
}

/* Things that are made only once, such as a thread, may be made in any run; a leak recurs. */
static void fail_malloc(const shim *s, scenario *run, size_t calls, bool for_ever, tally *t)
{
  for (size_t at = 1; at <= calls; at++) {
    tally again = {0};
    t->faults++;
    if (leaves_memory(s, run, at, for_ever, t))
      t->leaks += leaves_memory(s, run, at, for_ever, &again);
  }
}

/* ---- All scenarios ---- */

static const struct {
  const char *name;
  scenario *run;
  const char *script; /* for the scripted plugin; NULL: without it */
  size_t count;       /* with MANY, the schema's allocations are skipped */
} scenarios[] = {
    {"sort in place", sort_in_place, NULL, FEW},
    {"permutations", use_permutations, NULL, FEW},
    {"merge", merge_runs, NULL, FEW},
    {"merge many", merge_runs, NULL, MANY},
    {"schemas", load_schemas, NULL, FEW},
    {"plugins", find_plugins, NULL, FEW},
    {"sort many in place", sort_in_place, NULL, MANY},
#ifndef RS_SLOW
    {"permutations of many", use_permutations, NULL, MANY},
#endif
    {"sort with a plugin", sort_in_place, "well", FEW},
    {"merge with a plugin that does not", merge_runs, "well", FEW},
    {"sort with a plugin that fails", sort_in_place, "sort-failed", FEW},
    {"sort with a plugin that is lost", use_permutations, "sort-lost", FEW},
    {"sort with a plugin that lies", sort_in_place, "sort-duplicate", FEW},
#ifndef RS_SLOW
    {"sort many with a plugin that asks for too much", sort_in_place, "size-huge", MANY},
    {"permutations of many with a plugin that cannot", use_permutations, "limit-count", MANY},
#endif
};

static bool run_scenario(size_t i, const shim *s, tally *t)
{
  scenario *const run = scenarios[i].run;
  count = scenarios[i].count;
  if (count == MANY &&
      recsort_schema_load_file(RS_NATIVE_SCHEMAS "/entity.yaml", NULL, &kept, NULL) != RECSORT_OK)
    return false;
  if (scenarios[i].script) {
    (void)setenv("RECSORT_PLUGIN_PATH", RS_TEST_PLUGINS "/scripted", 1);
    (void)setenv("RECSORT_TEST_SCRIPT", scenarios[i].script, 1);
  }
  const size_t calls = s ? count_malloc(s, run) : count_hook(run);
  for (int for_ever = 0; for_ever < 2; for_ever++)
    if (s)
      fail_malloc(s, run, calls, for_ever, t);
    else
      fail_hook(run, calls, for_ever, t);
  recsort_schema_destroy(kept);
  kept = NULL;
  return calls > 0;
}

int main(void)
{
  shim found;
  const shim *s = find_shim(&found) ? &found : NULL;
  tally t = {0};
  bool good = true;
  make_input();
  for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
    const size_t before = t.faults;
    if (!run_scenario(i, s, &t)) {
      (void)printf("%s: does not work without faults\n", scenarios[i].name);
      good = false;
    }
    (void)printf("%s: %zu faults\n", scenarios[i].name, t.faults - before);
  }
  /* a crash ends the process before this line */
  (void)printf("%zu faults, 0 crashes, %zu leaks, %zu changed inputs, %zu wrong (%zu errors "
               "reported)\n",
               t.faults, t.leaks, t.changed, t.wrong, t.errors);
  return good && t.faults && t.errors && !t.leaks && !t.changed && !t.wrong ? 0 : 1;
}
