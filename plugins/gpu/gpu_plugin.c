#include "gpu/gpu_plugin.h"

#include <stdio.h>
#include <string.h>

#include "base/struct_size.h"
#include "gpu/in_runs.h"
#include "gpu/wide_keys.h"

enum { HOST_ALIGNMENT = 64, MAX_PAIR_WIDTH = 128, MAX_COUNT_BITS = 40 };

static wide_keys_part_work pair_work;
static wide_keys_part_sort pair_sort;
static const wide_keys_parts pair_sorter = {pair_work, pair_sort};

void gpu_limits(const void *instance, recsort_plugin_limits *limits)
{
  const gpu_instance *const self = instance;
  const recsort_plugin_limits known = {
      .size = limits->size,
      .max_key_bits = UINT32_MAX,
      .max_index_bits = 64,
      .max_count = UINT64_C(1) << MAX_COUNT_BITS, /* more than any host has memory for */
      .least_count = self->least_count};
  sized_copy(limits, limits->size, &known, sizeof known);
}

/* ---- Memory ---- */

static uint64_t round_up(uint64_t bytes, uint64_t alignment)
{
  return (bytes + alignment - 1) / alignment * alignment;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

/* The memory for keys of up to 128 bits. The permutation overwrites them unless they are sorted in
 * runs. */
static recsort_plugin_work pair_work(const void *instance, const recsort_plugin_job *job)
{
  if (in_runs_wanted(instance, job)) return in_runs_work(job);
  const uint64_t keys = round_up(job->count * (job->key_width / 8), HOST_ALIGNMENT);
  const uint64_t order = round_up(job->count * (job->index_bits / 8), HOST_ALIGNMENT);
  return (recsort_plugin_work){.bytes = larger(keys, order)};
}

recsort_plugin_status gpu_work_size(const void *instance, const recsort_plugin_job *job,
                                    recsort_plugin_work *work, recsort_plugin_error *error)
{
  enum { MAX_WIDTH = 1 << 20 }; /* so that no product of a count and a width overflows */
  if (job->count > UINT64_C(1) << MAX_COUNT_BITS || job->key_width > MAX_WIDTH) {
    (void)snprintf(error->text, sizeof error->text, "%llu keys of %u bits are too many",
                   (unsigned long long)job->count, job->key_width);
    return RECSORT_PLUGIN_UNSUPPORTED;
  }
  const recsort_plugin_work needed = job->key_width > MAX_PAIR_WIDTH
                                         ? wide_keys_work(&pair_sorter, instance, job)
                                         : pair_work(instance, job);
  work->keys_offset = needed.keys_offset;
  work->bytes = needed.bytes;
  return RECSORT_PLUGIN_OK;
}

/* ---- Sorting ---- */

/* Sorts keys of up to 128 bits, at the place that pair_work said. Leaves the permutation at the
 * start. */
static recsort_plugin_status pair_sort(void *instance, const recsort_plugin_job *job, void *memory,
                                       recsort_plugin_error *error)
{
  gpu_instance *const self = instance;
  gpu_sorted sorted;
  if (in_runs_wanted(self, job)) return in_runs_sort(self, job, memory, error);
  bool room = false; /* there was enough memory when the instance was opened */
  recsort_plugin_status status =
      gpu_has_room(self->device, gpu_plan_pairs(self->device, job).bytes, &room, error);
  if (status) return status;
  if (!room) return in_runs_sort_unplanned(self, job, memory, error);
  status = gpu_sort_keys(self, job, memory, &sorted, error);
  if (status) return status;
  return gpu_bring_down(self, job, sorted.indices, memory, job->index_bits, error);
}

recsort_plugin_status gpu_sort(void *instance, const recsort_plugin_job *job, void *memory,
                               recsort_plugin_error *error)
{
  const gpu_instance *const self = instance;
  if (job->count == 0) return RECSORT_PLUGIN_OK;
  recsort_plugin_status status = runtime_enter(self->device, error);
  if (status) return status;
  status = job->key_width > MAX_PAIR_WIDTH
               ? wide_keys_sort(&pair_sorter, instance, job, memory, error)
               : pair_sort(instance, job, memory, error);
  runtime_leave(self->device);
  return status;
}

void gpu_close(gpu_instance *self)
{
  gpu_close_shards(self);
  staging_close(&self->ring);
  gpu_end_resident(self);
}

const void *gpu_extension(const char *name)
{
  if (strcmp(name, RECSORT_PLUGIN_MERGE) == 0) return &gpu_merge_runs;
  if (strcmp(name, RECSORT_PLUGIN_DEVICE) == 0) return &gpu_resident_records;
  if (strcmp(name, RECSORT_PLUGIN_DEVICE_PAIRS) == 0) return &gpu_resident_pairs;
  if (strcmp(name, RECSORT_PLUGIN_SHARDS) == 0) return &gpu_shard_sorts;
  return strcmp(name, RECSORT_PLUGIN_RECORDS) == 0 ? &gpu_whole_records : NULL;
}
