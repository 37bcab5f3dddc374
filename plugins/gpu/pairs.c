#include "gpu/pairs.h"

#include <stdio.h>

#include "base/assert.h"
#include "gpu/records.h"

recsort_job gpu_read_job(const recsort_job *jobs, size_t number)
{
  recsort_job job = jobs[number];
  if (!job.offset_bits) job.offset_bits = 64;
  if (!job.index_bits || !job.permutation) job.index_bits = gpu_index_bits(job.count);
  RS_ASSERT(job.index_bits == 32 || job.index_bits == 64);
  return job;
}

recsort_status gpu_check_workspace(const recsort_job *job, uint64_t bytes, recsort_error *error)
{
  if (job->workspace_size >= bytes) return RECSORT_OK;
  (void)snprintf(error->text, sizeof error->text,
                 "the workspace has %zu bytes; this job takes %llu", job->workspace_size,
                 (unsigned long long)bytes);
  return RECSORT_PLUGIN_ERROR;
}

recsort_status gpu_has_room(const runtime_device *device, uint64_t bytes, bool *room,
                            recsort_error *error)
{
  uint64_t most = device->memory_bytes;
  const recsort_status status = bytes <= most ? RECSORT_OK : runtime_room(device, &most, error);
  *room = bytes <= most;
  return status;
}

static gpu_pairs plan_pairs(const runtime_device *device, const recsort_plugin_job *job,
                            uint64_t (*extra_bytes)(const device_job *job))
{
  RS_ASSERT(job->algorithm < device_algorithm_count);
  gpu_pairs pairs = {
      .algorithm = &device_algorithms[job->algorithm],
      .certificate = {.disorder = runtime_verifies(device) ? device->disorder : NULL},
      .job = {.count = job->count,
              .key_bits = job->key_bits,
              .key_width = job->key_width,
              .index_bits = job->index_bits,
              .shared_bytes = device->shared_bytes,
              .multiprocessors = device->multiprocessors,
              .stream = device->stream,
              .mailbox = device->mailbox}};
  if (extra_bytes) pairs.extra_bytes = extra_bytes(&pairs.job);
  pairs.bytes = device_bytes(&pairs.job, pairs.extra_bytes);
  RS_ASSERT(pairs.bytes >= pairs.extra_bytes);
  return pairs;
}

gpu_pairs gpu_plan_pairs(const runtime_device *device, const recsort_plugin_job *job)
{
  return plan_pairs(device, job, device_algorithms[job->algorithm].extra_bytes);
}

gpu_pairs gpu_plan_resident(const gpu_instance *self, const recsort_plugin_job *job, void *stream)
{
  gpu_pairs pairs = gpu_plan_pairs(self->device, job);
  pairs.job.stream = stream;
  pairs.job.mailbox = NULL;
  pairs.job.branches[0] = self->branches[0];
  pairs.job.branches[1] = self->branches[1];
  return pairs;
}

static void note_extra(gpu_extra_of *of, const void *context, uint64_t count, uint64_t *most)
{
  const uint64_t found = of(context, count);
  if (found > *most) *most = found;
}

/* The memory of a sort beside its pairs does not grow evenly with their number: plans change at
 * some, mostly near powers of two. So it is looked up for counts that are a sixty-fourth apart, and
 * on both sides of each power of two; a sixteenth more is for what lies between. */
uint64_t gpu_most_extra(gpu_extra_of *of, const void *context, uint64_t most)
{
  enum { APART = 64, SHARE = 16 };
  uint64_t extra = 0;
  for (uint64_t count = most; count > 0; count -= count / APART + 1)
    note_extra(of, context, count, &extra);
  for (uint64_t power = 1; power <= most && power; power *= 2)
    for (uint64_t count = power - 1; count <= power + 1 && count <= most; count++)
      note_extra(of, context, count, &extra);
  return extra + extra / SHARE;
}

typedef gpu_pairs plan_of(const runtime_device *device, const recsort_plugin_job *job);

typedef struct planned {
  const runtime_device *device;
  plan_of *plan;
  const recsort_plugin_job *job;
} planned;

static uint64_t extra_of_plan(const void *context, uint64_t count)
{
  const planned *const p = context;
  recsort_plugin_job job = *p->job;
  job.count = count;
  return p->plan(p->device, &job).extra_bytes;
}

static uint64_t most_bytes(const runtime_device *device, plan_of *plan,
                           const recsort_plugin_job *job)
{
  const planned context = {device, plan, job};
  const gpu_pairs pairs = plan(device, job);
  return device_bytes(&pairs.job, gpu_most_extra(extra_of_plan, &context, job->count));
}

uint64_t gpu_most_pair_bytes(const runtime_device *device, const recsort_plugin_job *job)
{
  return most_bytes(device, gpu_plan_pairs, job);
}

gpu_pairs gpu_plan_merge(const runtime_device *device, const recsort_plugin_job *job)
{
  return plan_pairs(device, job, device_merge_extra_bytes);
}

uint64_t gpu_most_merge_bytes(const runtime_device *device, const recsort_plugin_job *job)
{
  return most_bytes(device, gpu_plan_merge, job);
}

records_order gpu_order_of(const gpu_pairs *pairs, const device_buffers *buffers, unsigned side)
{
  RS_ASSERT(side < 2);
  const device_job *const job = &pairs->job;
  const records_order order = {.indices = buffers->indices[side],
                               .count = job->count,
                               .index_bits = job->index_bits,
                               .key_width = job->key_width,
                               .keys = buffers->keys[side],
                               .certificate = pairs->certificate};
  return order;
}

recsort_status gpu_sort_pairs(const gpu_pairs *pairs, const device_buffers *buffers,
                              unsigned *result, recsort_error *error)
{
  const device_job *const job = &pairs->job;
  uint32_t *const disorder = pairs->certificate.disorder;
  recsort_status status = judge_launch(pairs->algorithm->sort(job, buffers, result), error);
  const records_order order = gpu_order_of(pairs, buffers, *result);
  if (disorder) *disorder = 0;
  if (!status && disorder) status = judge_launch(records_ordered(&order, job->stream), error);
  if (!status) status = runtime_wait(job->stream, error);
  if (status || !disorder || !*disorder) return status;
  (void)snprintf(error->text, sizeof error->text, "the keys that it sorted are not in order");
  return RECSORT_CORRUPT_RESULT;
}

/* Allocates all that a job needs before anything starts; on the device, as one block. */
static recsort_status reserve(gpu_instance *self, const gpu_pairs *pairs,
                              const recsort_plugin_job *job, recsort_error *error)
{
  const unsigned couriers = staging_couriers(job->count, job->key_width / 8, job->threads);
  const recsort_status status = runtime_reserve(self->device, pairs->bytes, error);
  return status ? status : staging_reserve(&self->ring, couriers, error);
}

recsort_status gpu_sort_keys(gpu_instance *self, const recsort_plugin_job *job, const void *keys,
                             gpu_sorted *sorted, recsort_error *error)
{
  const gpu_pairs pairs = gpu_plan_pairs(self->device, job);
  unsigned result = 0;
  recsort_status status = reserve(self, &pairs, job, error);
  if (status) return status;
  const device_buffers buffers = device_divide(&pairs.job, self->device->memory, pairs.extra_bytes);
  const staging_copy up = {
      .from = keys, .to = buffers.keys[0], .count = job->count, .element = job->key_width / 8};
  status = staging_up(&self->ring, &up, gpu_team(self, job), error);
  if (status == RECSORT_OK) status = gpu_sort_pairs(&pairs, &buffers, &result, error);
  *sorted = (gpu_sorted){buffers.keys[result], buffers.indices[result]};
  return status;
}

recsort_status gpu_bring_down(gpu_instance *self, const recsort_plugin_job *job, const void *from,
                              void *to, uint32_t bits, recsort_error *error)
{
  RS_ASSERT(bits > 0 && bits % 8 == 0);
  const staging_copy down = {.from = from, .to = to, .count = job->count, .element = bits / 8};
  return staging_down(&self->ring, &down, gpu_team(self, job), error);
}
