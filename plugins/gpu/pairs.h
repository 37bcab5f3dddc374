/* pairs.h - an open plugin, and its sort of pairs of key and index on the device. */
#ifndef RECSORT_GPU_PAIRS_H
#define RECSORT_GPU_PAIRS_H

#include "gpu/algorithms.h"
#include "gpu/staging.h"

/* What the code here knows of an open plugin. A plugin's own struct begins with it. */
typedef struct gpu_instance {
  const recsort_host *host;
  runtime_device *device;
  uint64_t least_count; /* fewer records are left to other plugins */
  staging ring;
} gpu_instance;

/* The host threads of a job. */
static inline team gpu_team(const gpu_instance *self, const recsort_plugin_job *job)
{
  return team_of_host(self->host, job->threads);
}

/* Whether device->memory could have `bytes`. Asks the device only if it has fewer. */
recsort_plugin_status gpu_has_room(const runtime_device *device, uint64_t bytes, bool *room,
                                   recsort_plugin_error *error);

/* A sort of pairs on the device. */
typedef struct gpu_pairs {
  const device_algorithm *algorithm;
  device_job job;
  uint64_t extra_bytes;
  uint64_t bytes;     /* of device memory, in all */
  uint32_t *disorder; /* pinned: set to 1 by disorder; NULL: not checked */
} gpu_pairs;

gpu_pairs gpu_plan_pairs(const runtime_device *device, const recsort_plugin_job *job);

/* Keys in order, and what was at each one's place before; on the device. */
typedef struct gpu_sorted {
  const void *keys;
  const void *indices;
} gpu_sorted;

/* Takes all memory, then brings the job's keys up and sorts them. */
recsort_plugin_status gpu_sort_keys(gpu_instance *self, const recsort_plugin_job *job,
                                    const void *keys, gpu_sorted *sorted,
                                    recsort_plugin_error *error);

/* Brings the job's keys or indices down: `bits` of each. */
recsort_plugin_status gpu_bring_down(gpu_instance *self, const recsort_plugin_job *job,
                                     const void *from, void *to, uint32_t bits,
                                     recsort_plugin_error *error);

/* Sorts the keys in buffers.keys[0] and waits. On success *result is as device_sort says. CORRUPT:
 * the sorted pairs do not ascend. */
recsort_plugin_status gpu_sort_pairs(const gpu_pairs *pairs, const device_buffers *buffers,
                                     unsigned *result, recsort_plugin_error *error);

#endif
