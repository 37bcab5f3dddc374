/* instance.h - an open plugin: what sorts of keys and of whole records share. */
#ifndef RECSORT_CUDA_INSTANCE_H
#define RECSORT_CUDA_INSTANCE_H

#include "cuda/algorithms.h"
#include "cuda/staging.h"

typedef struct cuda_instance {
  const recsort_host *host;
  runtime_device device;
  staging ring;
} cuda_instance;

/* The host threads of a job. */
static inline team cuda_team(const cuda_instance *self, const recsort_plugin_job *job)
{
  return team_of_host(self->host, job->threads);
}

/* A sort of pairs on the device. */
typedef struct cuda_pairs {
  const device_algorithm *algorithm;
  device_job job;
  uint64_t extra_bytes;
  uint64_t bytes;     /* of device memory, in all */
  uint32_t *disorder; /* pinned: set to 1 by disorder; NULL: not checked */
} cuda_pairs;

cuda_pairs cuda_plan_pairs(const runtime_device *device, const recsort_plugin_job *job);

/* Keys in order, and what was at each one's place before; on the device. */
typedef struct cuda_sorted {
  const void *keys;
  const void *indices;
} cuda_sorted;

/* Takes all memory, then brings the job's keys up and sorts them. */
recsort_plugin_status cuda_sort_keys(cuda_instance *self, const recsort_plugin_job *job,
                                     const void *keys, cuda_sorted *sorted,
                                     recsort_plugin_error *error);

/* Brings the job's keys or indices down: `bits` of each. */
recsort_plugin_status cuda_bring_down(cuda_instance *self, const recsort_plugin_job *job,
                                      const void *from, void *to, uint32_t bits,
                                      recsort_plugin_error *error);

/* Sorts the keys in buffers.keys[0] and waits. On success *result is as device_sort says. CORRUPT:
 * the sorted pairs do not ascend. */
recsort_plugin_status cuda_sort_pairs(const cuda_pairs *pairs, const device_buffers *buffers,
                                      unsigned *result, recsort_plugin_error *error);

/* The extension RECSORT_PLUGIN_RECORDS (recsort/plugin.h; whole_records.c). */
extern const recsort_plugin_records cuda_whole_records;

#endif
