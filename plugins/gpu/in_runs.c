#include "gpu/in_runs.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "runs/merge.h"

enum { RUN_INDEX_BITS = 32, ALIGNMENT = 64 };

#define MOST_OF_A_RUN (UINT64_C(1) << RUN_INDEX_BITS)

static uint64_t align(uint64_t bytes)
{
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---- Plans ---- */

bool in_runs_wanted(const gpu_instance *self, const recsort_plugin_job *job)
{
  return job->count && gpu_plan_pairs(self->device, job).bytes > self->device->first_room;
}

/* The merge of a job's runs, in one pass. */
static run_job merge_of(const recsort_plugin_job *job, uint32_t runs)
{
  RS_ASSERT(runs > 0 && runs <= IN_RUNS_MOST);
  const size_t key_size = job->key_width / 8;
  return (run_job){.format = {.record_size = key_size,
                              .key_size = key_size,
                              .key_bits = job->key_bits,
                              .is_plain = true},
                   .run_count = runs,
                   .count = job->count,
                   .fan = runs,
                   .threads = job->threads,
                   .index_bits = job->index_bits,
                   .check = true};
}

/* The memory to merge any number of runs. It does not overflow, as no pass makes a copy. */
static uint64_t merge_size(const recsort_plugin_job *job)
{
  const run_job merge = merge_of(job, IN_RUNS_MOST);
  uint64_t bytes = 0;
  (void)rs_run_merge_size(&merge, &bytes);
  return bytes;
}

/* Where in a job's memory what is. */
typedef struct in_runs_parts {
  uint64_t keys, indices, merge, bytes;
} in_runs_parts;

static in_runs_parts divide(const recsort_plugin_job *job)
{
  const uint64_t order = align(job->count * (job->index_bits / 8));
  const uint64_t indices = order + align(job->count * (job->key_width / 8));
  const uint64_t merge = indices + align(job->count * (RUN_INDEX_BITS / 8));
  return (in_runs_parts){order, indices, merge, merge + merge_size(job)};
}

recsort_plugin_work in_runs_work(const recsort_plugin_job *job)
{
  const in_runs_parts parts = divide(job);
  return (recsort_plugin_work){.keys_offset = parts.keys, .bytes = parts.bytes};
}

/* The start of a run. The first runs have one more key if the lengths cannot be equal. */
static uint64_t bound_of(uint64_t count, uint32_t runs, uint32_t run)
{
  RS_ASSERT(runs > 0 && run <= runs);
  const uint64_t longer = count % runs;
  return count / runs * run + (run < longer ? run : longer);
}

static recsort_plugin_job run_of(const recsort_plugin_job *job, uint64_t count)
{
  RS_ASSERT(count <= MOST_OF_A_RUN);
  recsort_plugin_job run = *job;
  run.count = count;
  run.index_bits = RUN_INDEX_BITS;
  return run;
}

/* The device memory for the runs. A sort may need more memory for fewer keys, so this considers
 * both lengths. */
static uint64_t bytes_of_runs(const gpu_instance *self, const recsort_plugin_job *job,
                              uint32_t runs)
{
  const recsort_plugin_job shorter = run_of(job, job->count / runs);
  const recsort_plugin_job longer = run_of(job, shorter.count + (job->count % runs != 0));
  const uint64_t a = gpu_plan_pairs(self->device, &shorter).bytes;
  const uint64_t b = gpu_plan_pairs(self->device, &longer).bytes;
  return a > b ? a : b;
}

bool in_runs_divide(const gpu_instance *self, const recsort_plugin_job *job, uint64_t room,
                    in_runs_plan *plan)
{
  RS_ASSERT(job->count > 0);
  const uint64_t most = job->count < IN_RUNS_MOST ? job->count : IN_RUNS_MOST;
  uint64_t least_bytes = UINT64_MAX;
  for (uint64_t runs = (job->count - 1) / MOST_OF_A_RUN + 1; runs <= most; runs++) {
    const uint64_t bytes = bytes_of_runs(self, job, (uint32_t)runs);
    if (bytes < least_bytes) least_bytes = bytes;
    *plan = (in_runs_plan){(uint32_t)runs, least_bytes};
    if (bytes <= room) return true;
  }
  return false;
}

/* ---- Sorting ---- */

/* Where a job's keys and indices are on the host, and the memory to merge them. */
typedef struct host_pairs {
  char *keys;
  uint32_t *indices;
  void *merge;
} host_pairs;

/* Sorts keys [begin, end), and brings them and their indices back. */
static recsort_status sort_run(gpu_instance *self, const recsort_plugin_job *job, host_pairs pairs,
                               uint64_t begin, uint64_t end, recsort_error *error)
{
  RS_ASSERT(begin <= end && end <= job->count);
  const recsort_plugin_job run = run_of(job, end - begin);
  char *const keys = pairs.keys + begin * (job->key_width / 8);
  gpu_sorted sorted;
  recsort_status status = gpu_sort_keys(self, &run, keys, &sorted, error);
  if (status == RECSORT_OK)
    status = gpu_bring_down(self, &run, sorted.keys, keys, job->key_width, error);
  if (status == RECSORT_OK)
    status =
        gpu_bring_down(self, &run, sorted.indices, pairs.indices + begin, RUN_INDEX_BITS, error);
  return status;
}

/* Allocates what the largest run needs before the first one starts. */
static recsort_status reserve(gpu_instance *self, const recsort_plugin_job *job, in_runs_plan *plan,
                              recsort_error *error)
{
  uint64_t room = 0;
  const recsort_status status = runtime_room(self->device, &room, error);
  if (status) return status;
  if (!in_runs_divide(self, job, room, plan))
    return runtime_refuse(plan->device_bytes, room, error);
  return runtime_reserve(self->device, plan->device_bytes, error);
}

static recsort_status sort_and_merge(gpu_instance *self, const recsort_plugin_job *job,
                                     host_pairs pairs, void *order, recsort_error *error)
{
  recsort_plugin_run runs[IN_RUNS_MOST];
  in_runs_plan plan = {0, 0};
  recsort_status status = reserve(self, job, &plan, error);
  for (uint32_t r = 0; status == RECSORT_OK && r < plan.runs; r++) {
    const uint64_t begin = bound_of(job->count, plan.runs, r),
                   end = bound_of(job->count, plan.runs, r + 1);
    runs[r] = (recsort_plugin_run){pairs.keys + begin * (job->key_width / 8), end - begin};
    status = sort_run(self, job, pairs, begin, end, error);
  }
  if (status) return status;
  RS_ASSERT(plan.runs > 0 && plan.runs <= IN_RUNS_MOST);
  run_job merge = merge_of(job, plan.runs);
  merge.runs = runs;
  merge.indices = pairs.indices;
  if (rs_run_merge(&merge, gpu_team(self, job), pairs.merge, order)) return RECSORT_OK;
  (void)snprintf(error->text, sizeof error->text, "a run that it sorted is not in order");
  return RECSORT_CORRUPT_RESULT;
}

recsort_status in_runs_sort(gpu_instance *self, const recsort_plugin_job *job, void *memory,
                            recsort_error *error)
{
  char *const start = memory;
  const in_runs_parts parts = divide(job);
  RS_ASSERT(parts.indices <= parts.merge && parts.merge <= parts.bytes);
  const host_pairs pairs = {start + parts.keys, (uint32_t *)(void *)(start + parts.indices),
                            start + parts.merge};
  return sort_and_merge(self, job, pairs, memory, error);
}

recsort_status in_runs_sort_unplanned(gpu_instance *self, const recsort_plugin_job *job,
                                      void *memory, recsort_error *error)
{
  const uint64_t order_bytes = job->count * (job->index_bits / 8);
  const uint64_t indices = align(order_bytes),
                 merge = indices + align(job->count * (RUN_INDEX_BITS / 8)),
                 bytes = merge + merge_size(job);
  const recsort_host *const host = self->host;
  char *const order = host->allocate(host->context, bytes);
  if (!order) {
    (void)snprintf(error->text, sizeof error->text,
                   "no memory to merge what does not fit on the device at once: %llu bytes",
                   (unsigned long long)bytes);
    return RECSORT_OUT_OF_MEMORY;
  }
  const host_pairs pairs = {memory, (uint32_t *)(void *)(order + indices), order + merge};
  const recsort_status status = sort_and_merge(self, job, pairs, order, error);
  if (status == RECSORT_OK) memcpy(memory, order, order_bytes);
  host->release(host->context, order, bytes);
  return status;
}
