/* gpu_plugin.c - which way the host's data takes. The first of these that can be used sorts it, and
 * docs/gpu.md shows the same list:
 *
 *   1. whole records   suits()        a record to move has at most 128 bytes
 *                      sort_records   the device has room for all of them
 *   2. runs            gpu_sort       pairs of key and index, all at once or as many as the device
 *                                     has room for. The host merges runs, and moves the records
 *   3. the CPU         gpu_limits     keys of more than 128 bits, and few records
 *                                     what fails here: the host turns to its next plugin
 */
#include "gpu/gpu_plugin.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "gpu/in_runs.h"
#include "gpu/shards.h"

enum { HOST_ALIGNMENT = 64, MAX_COUNT_BITS = 40 };

/* ---- 1. Whole records ---- */

/* Up to this size of a record, in bytes, to send whole records takes less time than to send keys
 * and to gather on the host, or as much (tools/results/NOTES.md). */
enum { MOST_WHOLE = 128 };

static uint32_t suits(const void *instance, const recsort_key_program *program)
{
  (void)instance;
  return records_encodable(program) && program->record_size <= MOST_WHOLE;
}

static const char *reason(const void *instance, const recsort_key_program *program)
{
  if (suits(instance, program))
    return "whole records if they fit on the device: up to 128 bytes, sending them is faster than "
           "gathering on the host";
  if (program->key_width > RECORDS_MOST_KEY_BITS)
    return "nothing: the CPU sorts keys of more than 128 bits";
  return records_encodable(program)
             ? "keys alone: above 128 bytes, gathering on the host is faster than sending whole "
               "records"
             : "keys alone: the device does not make keys of more than 16 parts";
}

static recsort_status sort_records(void *instance, const recsort_plugin_job *job,
                                   const recsort_key_program *program, const void *records,
                                   void *sorted, recsort_plugin_times *times, recsort_error *error)
{
  gpu_instance *const self = instance;
  RS_ASSERT(records_encodable(program) && program->record_size <= MOST_WHOLE);
  recsort_status status = runtime_enter(self->device, error);
  if (status) return status;
  status = gpu_sort_whole(self, job, program, records, sorted, times, error);
  runtime_leave(self->device);
  return status;
}

static const recsort_plugin_records whole_records = {
    .size = sizeof whole_records, .suits = suits, .reason = reason, .sort = sort_records};

/* ---- 2. Runs ---- */

static uint64_t round_up(uint64_t bytes, uint64_t alignment)
{
  RS_ASSERT((alignment & (alignment - 1)) == 0);
  return (bytes + alignment - 1) / alignment * alignment;
}

/* The permutation overwrites the keys unless they are sorted in runs. */
recsort_status gpu_work_size(const void *instance, const recsort_plugin_job *job,
                             recsort_plugin_work *work, recsort_error *error)
{
  recsort_plugin_work needed = {.bytes = 0};
  if (job->count > UINT64_C(1) << MAX_COUNT_BITS || job->key_width > RECORDS_MOST_KEY_BITS) {
    (void)snprintf(error->text, sizeof error->text, "%llu keys of %u bits are too many",
                   (unsigned long long)job->count, job->key_width);
    return RECSORT_PLUGIN_ERROR;
  }
  if (in_runs_wanted(instance, job)) {
    needed = in_runs_work(job);
  } else {
    const uint64_t keys = round_up(job->count * (job->key_width / 8), HOST_ALIGNMENT);
    const uint64_t order = round_up(job->count * (job->index_bits / 8), HOST_ALIGNMENT);
    needed.bytes = keys > order ? keys : order;
  }
  work->keys_offset = needed.keys_offset;
  work->bytes = needed.bytes;
  return RECSORT_OK;
}

/* Sorts keys at the place that gpu_work_size said. Leaves the permutation at the start. */
static recsort_status sort_entered(gpu_instance *self, const recsort_plugin_job *job, void *memory,
                                   recsort_error *error)
{
  gpu_sorted sorted;
  RS_ASSERT(job->count > 0);
  if (in_runs_wanted(self, job)) return in_runs_sort(self, job, memory, error);
  bool room = false; /* there was enough memory when the instance was opened */
  recsort_status status =
      gpu_has_room(self->device, gpu_plan_pairs(self->device, job).bytes, &room, error);
  if (status) return status;
  if (!room) return in_runs_sort_unplanned(self, job, memory, error);
  status = gpu_sort_keys(self, job, memory, &sorted, error);
  if (status) return status;
  return gpu_bring_down(self, job, sorted.indices, memory, job->index_bits, error);
}

recsort_status gpu_sort(void *instance, const recsort_plugin_job *job, void *memory,
                        recsort_error *error)
{
  gpu_instance *const self = instance;
  if (job->count == 0) return RECSORT_OK;
  recsort_status status = runtime_enter(self->device, error);
  if (status) return status;
  status = sort_entered(self, job, memory, error);
  runtime_leave(self->device);
  return status;
}

/* ---- 3. The CPU ---- */

void gpu_limits(const void *instance, recsort_plugin_limits *limits)
{
  const gpu_instance *const self = instance;
  limits->max_key_bits = RECORDS_MOST_KEY_BITS;
  limits->max_index_bits = 64;
  limits->max_count = UINT64_C(1) << MAX_COUNT_BITS; /* more than any host has memory for */
  limits->least_count = self->least_count;
}

/* ---- Jobs in the memory of devices ---- */

static recsort_status plan_jobs(const void *instance, uint32_t algorithm,
                                const recsort_key_program *program, const recsort_job *jobs,
                                size_t job_count, recsort_needs *needs, recsort_error *error)
{
  return job_count > 1
             ? gpu_plan_shards(instance, algorithm, program, jobs, job_count, needs, error)
             : gpu_plan_job(instance, algorithm, program, jobs, needs, error);
}

static recsort_status run_jobs(void *instance, uint32_t algorithm,
                               const recsort_key_program *program, const recsort_job *jobs,
                               size_t job_count, recsort_error *error)
{
  return job_count > 1 ? gpu_sort_shards(instance, algorithm, program, jobs, job_count, error)
                       : gpu_run_job(instance, algorithm, program, jobs, error);
}

static const recsort_plugin_device device_jobs = {
    .size = sizeof device_jobs, .plan = plan_jobs, .run = run_jobs};

/* ---- The rest of the table ---- */

recsort_status gpu_open(gpu_instance *self, recsort_error *error)
{
  RS_ASSERT(self->host && self->device);
  const recsort_status status = runtime_open_stream(&self->branches[0], error);
  return status ? status : runtime_open_stream(&self->branches[1], error);
}

void gpu_close(gpu_instance *self)
{
  gpu_close_shards(self);
  staging_close(&self->ring);
  for (unsigned i = 0; i < 2; i++)
    runtime_close_stream(self->branches[i]);
}

const void *gpu_extension(const char *name)
{
  if (strcmp(name, RECSORT_PLUGIN_DEVICE) == 0) return &device_jobs;
  return strcmp(name, RECSORT_PLUGIN_RECORDS) == 0 ? &whole_records : NULL;
}
