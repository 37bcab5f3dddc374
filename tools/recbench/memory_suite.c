/* memory_suite.c - see memory_suite.h. Copying the input, and comparing the result, is not timed.
 */
#include "memory_suite.h"

#include "support/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The contenders' runs ------------------------------------------------------------------- */

static bool finish(bench_contender *self, const memory_job *job, double seconds)
{
  return workload_verify(self->input, job->scratch, self->method) &&
         contender_add(self, WALL, "s", seconds);
}

static bool run_peer(bench_contender *self)
{
  const memory_job *const job = self->job;
  memcpy(job->scratch, self->input->records, self->input->size);
  const double before = tool_seconds();
  const bool sorted = job->peer(job->scratch, self->input->count, self->threads);
  const double seconds = tool_seconds() - before;
  if (!sorted) tool_error("%s: out of memory", self->method);
  return sorted && finish(self, job, seconds);
}

static bool sort_copy(const bench_contender *self, recsort_sorter *sorter)
{
  const memory_job *const job = self->job;
  recsort_error error;
  if (recsort_sort(sorter, job->scratch, self->input->count, &error) == RECSORT_OK) return true;
  tool_error_library(&error);
  return false;
}

static bool add_stages(bench_contender *self, const recsort_stats *stats)
{
  return contender_add(self, "encode", "s", stats->encode_seconds) &&
         contender_add(self, "sort", "s", stats->sort_seconds) &&
         contender_add(self, "verify", "s", stats->verify_seconds) &&
         contender_add(self, "permute", "s", stats->permute_seconds) &&
         contender_add(self, "held", "bytes/record",
                       (double)stats->memory / (double)stats->records);
}

bool memory_run_warm(bench_contender *self)
{
  memory_job *const job = self->job;
  if (!job->warm) {
    memcpy(job->scratch, self->input->records, self->input->size);
    if (!sort_copy(self, job->sorter)) return false;
    job->warm = true;
  }
  memcpy(job->scratch, self->input->records, self->input->size);
  const double before = tool_seconds();
  const bool sorted = sort_copy(self, job->sorter);
  const double seconds = tool_seconds() - before;
  recsort_stats stats;
  recsort_sorter_get_stats(job->sorter, &stats, sizeof stats);
  return sorted && finish(self, job, seconds) && add_stages(self, &stats);
}

/* Fills the target first, so that every byte of the result must come from the sorter. */
bool memory_run_to(bench_contender *self)
{
  enum { POISON = 0xee };
  const memory_job *const job = self->job;
  recsort_error error;
  memset(job->scratch, POISON, self->input->size);
  const double before = tool_seconds();
  const bool sorted = recsort_sort_to(job->sorter, self->input->records, self->input->count,
                                      job->scratch, &error) == RECSORT_OK;
  const double seconds = tool_seconds() - before;
  recsort_stats stats;
  recsort_sorter_get_stats(job->sorter, &stats, sizeof stats);
  if (!sorted) tool_error_library(&error);
  return sorted && finish(self, job, seconds) && add_stages(self, &stats);
}

bool memory_run_new(bench_contender *self)
{
  const memory_job *const job = self->job;
  memcpy(job->scratch, self->input->records, self->input->size);
  const double before = tool_seconds();
  recsort_sorter *sorter = method_sorter(&job->method, self->threads, job->schema);
  const bool sorted = sorter != NULL && sort_copy(self, sorter);
  const double seconds = tool_seconds() - before;
  recsort_sorter_destroy(sorter);
  return sorted && finish(self, job, seconds);
}

/* ---- The contenders ------------------------------------------------------------------------- */

recsort_schema *memory_schema(record_id record)
{
  const char *const text = record_schema(record);
  recsort_schema *schema = NULL;
  recsort_error error;
  if (recsort_schema_load_memory(text, strlen(text), record_name(record), NULL, &schema, &error) ==
      RECSORT_OK) {
    return schema;
  }
  tool_error_library(&error);
  return NULL;
}

static bool add(bench_group *group, bench_contender contender, memory_job job)
{
  memory_job *const own = malloc(sizeof *own);
  if (own == NULL) {
    tool_error("out of memory");
    return false;
  }
  *own = job;
  contender.job = own;
  if (group_add(group, &contender) != NULL) return true;
  free(own);
  return false;
}

static bool add_peers(bench_group *group, const bench_options *options, bench_workload *input,
                      unsigned char *scratch)
{
  memory_job job = {.scratch = scratch, .peer = peer_std(input->record)};
  bench_contender contender = {.method = STD, .threads = 1, .input = input, .run = run_peer};
  if (job.peer != NULL && !add(group, contender, job)) return false;

  job.peer = peer_parallel(input->record);
  contender.method = PARALLEL;
  for (size_t t = 0; t < options->thread_count && job.peer != NULL; t++) {
    contender.threads = options->threads[t];
    if (contender.threads > 1 && !add(group, contender, job)) return false;
  }
  return true;
}

/* Adds one method with every number of threads. Its sorters serve all inputs of the group. */
static bool add_method(bench_group *group, const bench_options *options, const bench_method *method,
                       recsort_sorter **sorters, memory_job job)
{
  for (size_t t = 0; t < options->thread_count; t++) {
    const unsigned threads = options->threads[t];
    job.method = *method;
    job.sorter = sorters[t] = method_sorter(method, threads, job.schema);
    if (sorters[t] == NULL) return false;
    for (size_t i = 0; i < group->input_count; i++) {
      bench_contender contender = {.method = RECSORT,
                                   .plugin = method->plugin,
                                   .algorithm = method->algorithm,
                                   .threads = threads,
                                   .input = &group->inputs[i],
                                   .run = memory_run_warm};
      if (!add(group, contender, job)) return false;
      contender.variant = "to";
      contender.run = memory_run_to;
      if (!add(group, contender, job)) return false;
      contender.variant = "first";
      contender.run = memory_run_new;
      if (!add(group, contender, job)) return false;
    }
  }
  return true;
}

/* ---- Targets ----------------------------------------------------------------------------- */

/* The seconds of the first contender that matches; 0 if there is none. */
static double seconds_of(const bench_group *group, const char *method, unsigned threads,
                         bench_distribution distribution)
{
  for (size_t c = 0; c < group->contender_count; c++) {
    const bench_contender *const contender = &group->contenders[c];
    if (strcmp(contender->method, method) == 0 && contender->variant == NULL &&
        contender->threads == threads && contender->input->distribution == distribution) {
      return contender_seconds(contender);
    }
  }
  return 0;
}

static void add_target(bench_group *group, double slow, double fast, double bound, const char *what,
                       unsigned threads, const char *than)
{
  if (slow <= 0 || fast <= 0) return;
  bench_target target = {.value = slow / fast, .bound = bound};
  snprintf(target.text, sizeof target.text, "speed of %s over %s, %u thread%s", what, than, threads,
           threads == 1 ? "" : "s");
  group_add_target(group, &target);
}

/* Targets against the peers: 3 and 4 times as fast for 2^22 entities, as fast for the other
 * records. */
static void add_peer_targets(bench_group *group, unsigned most)
{
  const bench_workload *const input = &group->inputs[0];
  const bool is_entity = input->record == RECORD_ENTITY;
  if (is_entity && input->count != (size_t)1 << 22) return;
  const char *const name = record_name(input->record);
  add_target(group, seconds_of(group, STD, 1, DISTRIBUTION_RANDOM),
             seconds_of(group, RECSORT, 1, DISTRIBUTION_RANDOM), is_entity ? 3 : 1, name, 1, STD);
  if (most == 1) return;
  add_target(group, seconds_of(group, PARALLEL, most, DISTRIBUTION_RANDOM),
             seconds_of(group, RECSORT, most, DISTRIBUTION_RANDOM), is_entity ? 4 : 1, name, most,
             "__gnu_parallel");
}

/* Targets against random input: twice as fast if the input is sorted, reversed or nearly sorted. */
static void add_order_targets(bench_group *group, unsigned threads)
{
  static const bench_distribution easy[] = {DISTRIBUTION_SORTED, DISTRIBUTION_REVERSE,
                                            DISTRIBUTION_NEARLY};
  const double random = seconds_of(group, RECSORT, threads, DISTRIBUTION_RANDOM);
  for (size_t i = 0; i < sizeof easy / sizeof *easy; i++) {
    add_target(group, random, seconds_of(group, RECSORT, threads, easy[i]), 2,
               distribution_name(easy[i]), threads, "random");
  }
}

static void add_targets(bench_group *group, const bench_options *options)
{
  const unsigned least = options->threads[0];
  const unsigned most = options->threads[options->thread_count - 1];
  add_peer_targets(group, most);
  add_order_targets(group, least);
  if (most != least) add_order_targets(group, most);
}

/* ---- The suite ------------------------------------------------------------------------------ */

static bool make_inputs(bench_group *group, record_id record,
                        const bench_distribution *distributions, size_t distribution_count,
                        size_t count)
{
  for (size_t i = 0; i < distribution_count; i++) {
    group->input_count = i + 1;
    if (!workload_make(&group->inputs[i], record, distributions[i], count)) return false;
  }
  return true;
}

bool memory_suite(bench_group *group, const bench_options *options, const bench_method *methods,
                  size_t method_count, record_id record, const bench_distribution *distributions,
                  size_t distribution_count, size_t count)
{
  recsort_sorter *sorters[METHOD_MAX][LIST_MAX] = {0};
  unsigned char *scratch = NULL;
  recsort_schema *schema = memory_schema(record);
  bool done =
      schema != NULL && make_inputs(group, record, distributions, distribution_count, count);
  if (!done) goto out;
  scratch = malloc(group->inputs[0].size);
  done = scratch != NULL;
  if (!done) tool_error("out of memory");

  for (size_t i = 0; i < group->input_count && done; i++) {
    done = add_peers(group, options, &group->inputs[i], scratch);
  }
  for (size_t m = 0; m < method_count && done; m++) {
    done = add_method(group, options, &methods[m], sorters[m],
                      (memory_job){.scratch = scratch, .schema = schema});
  }
  done = done && group_measure(group, options->repeat);
  if (done) add_targets(group, options);
out:
  for (size_t c = 0; c < group->contender_count; c++)
    free(group->contenders[c].job);
  for (size_t m = 0; m < METHOD_MAX; m++) {
    for (size_t t = 0; t < LIST_MAX; t++)
      recsort_sorter_destroy(sorters[m][t]);
  }
  free(scratch);
  recsort_schema_destroy(schema);
  group_free_inputs(group);
  return done;
}
