/* merge_suite.c - see merge_suite.h. Sorting the runs, and comparing the result, is not timed. */
#include "merge_suite.h"

#include "memory_suite.h"
#include "support/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STD_MERGE "std::merge"
#define HEAP "std::priority_queue"
#define MULTIWAY "gnu_parallel::multiway_merge"

enum { RUN_COUNTS = 3, MOST_RUNS = 256 };

static const size_t run_counts[RUN_COUNTS] = {2, 16, MOST_RUNS};
/* What a contender merges with. */
typedef struct merge_job {
  size_t run_count;
  size_t offsets[MOST_RUNS + 1];
  unsigned char *merged; /* one for all, since they take turns */
  peer_merge *peer;
  recsort_sorter *sorter;
} merge_job;

/* ---- The contenders' runs ------------------------------------------------------------------- */

/* Every byte of the result is the contender's: what stood there before is not. */
static void spoil(const bench_contender *self)
{
  enum { POISON = 0xee };
  const merge_job *const job = self->job;
  memset(job->merged, POISON, self->input->size);
}

static bool finish(bench_contender *self, double seconds)
{
  const merge_job *const job = self->job;
  return workload_verify(self->input, job->merged, self->method) &&
         contender_add(self, WALL, "s", seconds);
}

static bool run_peer(bench_contender *self)
{
  const merge_job *const job = self->job;
  spoil(self);
  const double before = tool_seconds();
  const bool merged =
      job->peer(self->input->records, job->offsets, job->run_count, job->merged, self->threads);
  const double seconds = tool_seconds() - before;
  if (!merged) tool_error("%s: out of memory", self->method);
  return merged && finish(self, seconds);
}

static bool finish_own(bench_contender *self, recsort_status status, const recsort_error *error,
                       double seconds)
{
  const merge_job *const job = self->job;
  recsort_stats stats;
  if (status != RECSORT_OK) {
    tool_error_library(error);
    return false;
  }
  recsort_sorter_get_stats(job->sorter, &stats, sizeof stats);
  return finish(self, seconds) &&
         contender_add(self, "held", "bytes/record", (double)stats.memory / (double)stats.records);
}

static bool run_to(bench_contender *self)
{
  const merge_job *const job = self->job;
  const recsort_runs runs = {.struct_size = sizeof runs,
                             .count = job->run_count,
                             .offsets = job->offsets,
                             .records = self->input->records};
  recsort_error error;
  spoil(self);
  const double before = tool_seconds();
  const recsort_status status = recsort_merge_to(job->sorter, &runs, job->merged, &error);
  return finish_own(self, status, &error, tool_seconds() - before);
}

static bool run_in_place(bench_contender *self)
{
  const merge_job *const job = self->job;
  recsort_error error;
  memcpy(job->merged, self->input->records, self->input->size);
  const double before = tool_seconds();
  const recsort_status status =
      recsort_merge(job->sorter, job->merged, job->offsets, job->run_count, &error);
  return finish_own(self, status, &error, tool_seconds() - before);
}

/* ---- The contenders ------------------------------------------------------------------------- */

static bool add(bench_group *group, bench_contender contender, const merge_job *job)
{
  merge_job *const own = malloc(sizeof *own);
  if (own == NULL) {
    tool_error("out of memory");
    return false;
  }
  *own = *job;
  contender.job = own;
  if (group_add(group, &contender) != NULL) return true;
  free(own);
  return false;
}

static bool add_peer(bench_group *group, bench_contender contender, merge_job job,
                     const char *method, peer_merge *peer)
{
  if (peer == NULL) return true;
  contender.method = method;
  contender.run = run_peer;
  job.peer = peer;
  return add(group, contender, &job);
}

/* The library and the parallel peer with every number of threads, the others with one. */
static bool add_contenders(bench_group *group, const bench_options *options,
                           const bench_method *method, recsort_sorter *const *sorters, size_t i,
                           merge_job job)
{
  const record_id record = group->inputs[i].record;
  bench_contender contender = {.threads = 1, .input = &group->inputs[i]};
  if (job.run_count == 2 && !add_peer(group, contender, job, STD_MERGE, peer_merge_std(record))) {
    return false;
  }
  if (!add_peer(group, contender, job, HEAP, peer_merge_heap(record))) return false;
  for (size_t t = 0; t < options->thread_count; t++) {
    contender.threads = options->threads[t];
    if (!add_peer(group, contender, job, MULTIWAY, peer_merge_parallel(record))) return false;
    job.sorter = sorters[t];
    bench_contender own = contender;
    own.method = RECSORT;
    own.plugin = method->plugin;
    own.algorithm = method->algorithm;
    own.run = run_to;
    if (!add(group, own, &job)) return false;
    own.variant = "in place";
    own.run = run_in_place;
    if (!add(group, own, &job)) return false;
  }
  return true;
}

/* ---- Requirements --------------------------------------------------------------------------- */

/* The library with the most threads beside the fastest peer: 1.5 times, for entities and words. */
static void add_target(bench_group *group, size_t i, unsigned threads)
{
  const record_id record = group->inputs[i].record;
  double best = 0, own = 0;
  for (size_t c = 0; c < group->contender_count; c++) {
    const bench_contender *const contender = &group->contenders[c];
    if (contender->input != &group->inputs[i] || contender->variant != NULL) continue;
    const double seconds = contender_seconds(contender);
    if (contender->plugin == NULL && (best == 0 || seconds < best)) best = seconds;
    if (contender->plugin != NULL && contender->threads == threads) own = seconds;
  }
  if (best <= 0 || own <= 0 || (record != RECORD_ENTITY && record != RECORD_WORD)) return;
  bench_target target = {.value = best / own, .bound = 1.5};
  snprintf(target.text, sizeof target.text, "%s, %zu runs, over the best peer, %u thread%s",
           record_name(record), group->inputs[i].runs, threads, threads == 1 ? "" : "s");
  group_add_target(group, &target);
}

/* ---- The suite ------------------------------------------------------------------------------ */

static bool make_runs(bench_workload *input, record_id record, size_t count, merge_job *job,
                      recsort_sorter *sorter)
{
  recsort_error error;
  if (!workload_make(input, record, DISTRIBUTION_RANDOM, count)) return false;
  input->runs = job->run_count;
  for (size_t r = 0; r <= job->run_count; r++) {
    job->offsets[r] = (size_t)((double)count / (double)job->run_count * (double)r);
  }
  job->offsets[job->run_count] = count;
  for (size_t r = 0; r < job->run_count; r++) {
    if (recsort_sort(sorter, input->records + job->offsets[r] * record_size(record),
                     job->offsets[r + 1] - job->offsets[r], &error) != RECSORT_OK) {
      tool_error_library(&error);
      return false;
    }
  }
  return true;
}

bool merge_suite(bench_group *group, const bench_options *options, const bench_method *method,
                 record_id record, size_t count)
{
  recsort_sorter *sorters[LIST_MAX] = {0};
  unsigned char *merged = NULL;
  recsort_schema *schema = memory_schema(record);
  bool done = schema != NULL;
  for (size_t t = 0; t < options->thread_count && done; t++) {
    sorters[t] = method_sorter(method, options->threads[t], schema);
    done = sorters[t] != NULL;
  }
  for (size_t i = 0; i < RUN_COUNTS && done; i++) {
    merge_job job = {.run_count = run_counts[i]};
    group->input_count = i + 1;
    done = make_runs(&group->inputs[i], record, count, &job, sorters[0]);
    if (done && merged == NULL) merged = malloc(group->inputs[i].size);
    if (done && merged == NULL) tool_error("out of memory");
    job.merged = merged;
    done = done && merged != NULL && add_contenders(group, options, method, sorters, i, job);
  }
  done = done && group_measure(group, options->repeat);
  for (size_t i = 0; i < RUN_COUNTS && done; i++)
    add_target(group, i, options->threads[options->thread_count - 1]);
  for (size_t c = 0; c < group->contender_count; c++)
    free(group->contenders[c].job);
  for (size_t t = 0; t < LIST_MAX; t++)
    recsort_sorter_destroy(sorters[t]);
  free(merged);
  recsort_schema_destroy(schema);
  group_free_inputs(group);
  return done;
}
