/* cpu_plugin.c - the table of the plugin that is linked in. It keeps nothing between jobs: an
 * instance is the host, whose threads it uses. */
#include "cpu/cpu_plugin.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "cpu/sorts.h"

typedef struct cpu_algorithm {
  recsort_plugin_algorithm shown;
  bool (*work_size)(const recsort_host *host, const recsort_plugin_job *job,
                    recsort_plugin_work *work);
  recsort_status (*sort)(const recsort_host *host, const recsort_plugin_job *job, void *memory);
} cpu_algorithm;

static const cpu_algorithm parallel_algorithm = {{sizeof(recsort_plugin_algorithm), 0, "parallel",
                                                  "on all threads: in buckets that fit a cache"},
                                                 rs_parallel_work_size,
                                                 rs_parallel_sort};

static const cpu_algorithm sequential_algorithm = {
    {sizeof(recsort_plugin_algorithm), 0, "sequential",
     "bottom-up merge sort on one thread: the baseline and the oracle"},
    rs_sequential_work_size,
    rs_sequential_sort};

static const cpu_algorithm *const algorithms[] = {&parallel_algorithm, &sequential_algorithm};
static const recsort_plugin_algorithm *const shown[] = {&parallel_algorithm.shown,
                                                        &sequential_algorithm.shown};

static uint32_t cpu_score(const recsort_host *host, char *reason, size_t reason_size)
{
  (void)host;
  (void)reason;
  (void)reason_size;
  return 100;
}

static recsort_status cpu_open(const recsort_host *host, void **instance, recsort_error *error)
{
  RS_ASSERT(host);
  (void)error;
  *instance = (void *)(uintptr_t)host;
  return RECSORT_OK;
}

static void cpu_close(void *instance)
{
  (void)instance;
}

static void cpu_limits(const void *instance, recsort_plugin_limits *limits)
{
  (void)instance;
  limits->max_key_bits = UINT32_MAX;
  limits->max_index_bits = 64;
  limits->max_count = RS_CPU_MOST;
}

static recsort_status cpu_work_size(const void *instance, const recsort_plugin_job *job,
                                    recsort_plugin_work *work, recsort_error *error)
{
  RS_ASSERT(job->algorithm < sizeof algorithms / sizeof *algorithms);
  if (job->count <= RS_CPU_MOST && algorithms[job->algorithm]->work_size(instance, job, work))
    return RECSORT_OK;
  (void)snprintf(error->text, sizeof error->text, "%llu records are more than memory can hold",
                 (unsigned long long)job->count);
  return RECSORT_PLUGIN_ERROR;
}

static recsort_status cpu_sort(void *instance, const recsort_plugin_job *job, void *memory,
                               recsort_error *error)
{
  RS_ASSERT(job->algorithm < sizeof algorithms / sizeof *algorithms);
  const recsort_status status = algorithms[job->algorithm]->sort(instance, job, memory);
  if (status)
    (void)snprintf(error->text, sizeof error->text,
                   status == RECSORT_CORRUPT_RESULT
                       ? "the order found of %llu records is wrong: a check failed"
                       : "no sample divides the keys of %llu records",
                   (unsigned long long)job->count);
  return status;
}

static const void *cpu_extension(const char *name)
{
  if (strcmp(name, RECSORT_PLUGIN_RECORDS) == 0) return &rs_cpu_records;
  return strcmp(name, RECSORT_PLUGIN_MERGE) == 0 ? &rs_cpu_merge : NULL;
}

static const recsort_plugin table = {.size = sizeof table,
                                     .abi = RECSORT_PLUGIN_ABI,
                                     .name = "cpu",
                                     .version = "1.0",
                                     .description = "sorts on the processor's cores",
                                     .algorithms = shown,
                                     .algorithm_count = sizeof shown / sizeof *shown,
                                     .score = cpu_score,
                                     .open = cpu_open,
                                     .close = cpu_close,
                                     .limits = cpu_limits,
                                     .work_size = cpu_work_size,
                                     .sort = cpu_sort,
                                     .extension = cpu_extension};

const recsort_plugin *rs_cpu_plugin_entry(uint32_t host_abi)
{
  return host_abi == RECSORT_PLUGIN_ABI ? &table : NULL;
}
