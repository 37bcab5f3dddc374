/* main.c - recbench: how fast recsort is here, beside its peers. */
#include "file_suite.h"
#include "memory_suite.h"
#include "merge_suite.h"
#include "report.h"
#include "support/message.h"
#include "support/progress.h"

#include <stdio.h>
#include <stdlib.h>

/* What a suite sorts in memory by default. */
typedef struct bench_suite {
  const char *name;
  record_id records[RECORD_COUNT];
  size_t record_count;
  bench_distribution distributions[DISTRIBUTION_COUNT];
  size_t distribution_count;
} bench_suite;

static const bench_suite suites[] = {
    {"entity", {RECORD_ENTITY}, 1, {DISTRIBUTION_RANDOM}, 1},
    {"keys", {RECORD_KEY64, RECORD_KEY128, RECORD_GENSORT}, 3, {DISTRIBUTION_RANDOM}, 1},
    {"distributions",
     {RECORD_ENTITY},
     1,
     {DISTRIBUTION_RANDOM, DISTRIBUTION_SORTED, DISTRIBUTION_REVERSE, DISTRIBUTION_NEARLY,
      DISTRIBUTION_FEW, DISTRIBUTION_EQUAL},
     6},
};

enum { SUITE_COUNT = sizeof suites / sizeof *suites };
/* A group for each suite (and merges), kind of record and count, and one for the file. */
enum { GROUP_MAX = (SUITE_COUNT + 1) * RECORD_COUNT * LIST_MAX + 1 };

typedef struct bench_work {
  bench_options options;
  bench_machine machine;
  bench_runner *runner;
  bench_method methods[METHOD_MAX];
  size_t method_count;
  bench_group *groups; /* not moved: contenders point into them */
  size_t group_count;
} bench_work;

static bool run_memory_suite(bench_work *bench, const bench_suite *suite)
{
  const bench_options *const o = &bench->options;
  const record_id *const records = o->record_count ? o->records : suite->records;
  const size_t record_count = o->record_count ? o->record_count : suite->record_count;
  const bool own = o->distribution_count != 0;
  const size_t *counts;
  const size_t count_count = options_counts(o, suite->name, &counts);
  for (size_t r = 0; r < record_count; r++) {
    for (size_t n = 0; n < count_count; n++) {
      bench_group *const group = &bench->groups[bench->group_count++];
      group->suite = suite->name;
      if (!memory_suite(group, o, bench->methods, bench->method_count, records[r],
                        own ? o->distributions : suite->distributions,
                        own ? o->distribution_count : suite->distribution_count, counts[n])) {
        return false;
      }
      report_table(group);
    }
  }
  return true;
}

static bool run_merge_suite(bench_work *bench)
{
  static const record_id usual[] = {RECORD_WORD, RECORD_ENTITY};
  const bench_options *const o = &bench->options;
  const record_id *const records = o->record_count ? o->records : usual;
  const size_t record_count = o->record_count ? o->record_count : sizeof usual / sizeof *usual;
  const size_t *counts;
  const size_t count_count = options_counts(o, "merge", &counts);
  for (size_t r = 0; r < record_count; r++) {
    for (size_t n = 0; n < count_count; n++) {
      bench_group *const group = &bench->groups[bench->group_count++];
      group->suite = "merge";
      if (!merge_suite(group, o, &bench->methods[0], records[r], counts[n])) return false;
      report_table(group);
    }
  }
  return true;
}

static bool run_file_suite(bench_work *bench)
{
  bench_group *const group = &bench->groups[bench->group_count++];
  group->suite = "file";
  if (!file_suite(group, &bench->options, &bench->methods[0], bench->runner)) return false;
  report_table(group);
  return true;
}

static bool run_suites(bench_work *bench)
{
  bench->groups = calloc(GROUP_MAX, sizeof *bench->groups);
  if (bench->groups == NULL) {
    tool_error("out of memory");
    return false;
  }
  report_machine(&bench->machine);
  if (peer_std(RECORD_ENTITY) == NULL) printf("built without a C++ compiler: no peers\n");
  for (size_t s = 0; s < SUITE_COUNT; s++) {
    if (options_suite(&bench->options, suites[s].name) && !run_memory_suite(bench, &suites[s])) {
      return false;
    }
  }
  if (options_suite(&bench->options, "merge") && !run_merge_suite(bench)) return false;
  return bench->runner == NULL || run_file_suite(bench);
}

static bool report(const bench_work *bench)
{
  const bench_options *const o = &bench->options;
  bool done = tool_flush_stdout();
  if (o->json != NULL) {
    done = report_json(o->json, &bench->machine, bench->groups, bench->group_count) && done;
  }
  if (o->svg != NULL) {
    done = report_picture(o->svg, &bench->machine, bench->groups, bench->group_count) && done;
  }
  return done;
}

static void free_groups(bench_work *bench)
{
  for (size_t g = 0; g < bench->group_count; g++)
    group_free(&bench->groups[g]);
  free(bench->groups);
}

/* Measures with the available plugins, or lists them. */
static bool run(bench_work *bench, options_result what)
{
  recsort_plugin_list *plugins = NULL;
  recsort_error error;
  if (recsort_plugin_list_create(NULL, &plugins, &error) != RECSORT_OK) {
    tool_error_library(&error);
    return false;
  }
  bool done;
  if (what == OPTIONS_LIST) {
    methods_print(plugins);
    done = tool_flush_stdout();
  } else {
    done = methods_find(&bench->options, plugins, bench->methods, &bench->method_count) &&
           run_suites(bench) && report(bench);
    free_groups(bench);
  }
  recsort_plugin_list_destroy(plugins);
  return done;
}

int main(int argc, char **argv)
{
  bench_work bench = {0};
  bench_runner runner;
  tool_set_name("recbench");
  tool_progress_set("auto");
  const options_result what = options_read(&bench.options, argc, argv);
  if (what == OPTIONS_WRONG) return TOOL_TROUBLE;
  if (what == OPTIONS_DONE) return tool_flush_stdout() ? TOOL_OK : TOOL_TROUBLE;
  bench.machine = machine_here();
  if (what == OPTIONS_RUN && options_suite(&bench.options, "file")) {
    if (!runner_start(&runner)) return TOOL_TROUBLE;
    bench.runner = &runner;
  }
  const bool done = run(&bench, what);
  if (bench.runner != NULL) runner_stop(bench.runner);
  return done ? TOOL_OK : TOOL_TROUBLE;
}
