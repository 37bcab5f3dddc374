/* pairs.h - an open plugin, and its sort of key-index pairs on the device. */
#ifndef RECSORT_GPU_PAIRS_H
#define RECSORT_GPU_PAIRS_H

#include "gpu/algorithms.h"
#include "gpu/device_merge.h"
#include "gpu/records.h"
#include "gpu/staging.h"

struct gpu_shards; /* shards.c */

/* An open plugin. The struct of a plugin begins with this one. */
typedef struct gpu_instance {
  const recsort_host *host;
  runtime_device *device;
  uint64_t least_count; /* as in recsort_plugin_limits */
  staging ring;
  void *branches[2];         /* device_job.branches */
  struct gpu_shards *shards; /* of the last sort of shards; NULL: there was none */
} gpu_instance;

/* Opens what an instance holds beside its device; call gpu_close even if this fails. Both by a
 * thread that has entered. */
recsort_status gpu_open(gpu_instance *self, recsort_error *error);
void gpu_close(gpu_instance *self);

/* The team of host threads of a job. */
static inline team gpu_team(const gpu_instance *self, const recsort_plugin_job *job)
{
  return team_of_host(self->host, job->threads);
}

/* The bits of an index among `count` records. */
static inline uint32_t gpu_index_bits(uint64_t count)
{
  return count > UINT64_C(1) << 32 ? 64 : 32;
}

/* Job `number` of several, with its defaults filled in. */
recsort_job gpu_read_job(const recsort_job *jobs, size_t number);

/* PLUGIN_ERROR, with a text: the job's workspace has fewer bytes. */
recsort_status gpu_check_workspace(const recsort_job *job, uint64_t bytes, recsort_error *error);

/* Sets *room to whether device->memory could have `bytes`. Asks the device only if it has fewer. */
recsort_status gpu_has_room(const runtime_device *device, uint64_t bytes, bool *room,
                            recsort_error *error);

/* The width of the integers in which the device sorts keys of so many bits, at most 128. */
static inline uint32_t gpu_pair_width(uint32_t key_bits)
{
  return key_bits <= 32 ? 32 : key_bits <= 64 ? 64 : 128;
}

/* A sort or a merge of pairs on the device. */
typedef struct gpu_pairs {
  const device_algorithm *algorithm;
  device_job job;
  uint64_t extra_bytes;
  uint64_t bytes;                 /* device memory in all */
  device_certificate certificate; /* without a balance: for the host, which looks at the order */
} gpu_pairs;

gpu_pairs gpu_plan_pairs(const runtime_device *device, const recsort_plugin_job *job);
/* On a stream of the caller's, on which the sort does not wait. */
gpu_pairs gpu_plan_resident(const gpu_instance *self, const recsort_plugin_job *job, void *stream);
/* More than of(context, count) for all counts up to `most`, if these grow about evenly. */
typedef uint64_t gpu_extra_of(const void *context, uint64_t count);
uint64_t gpu_most_extra(gpu_extra_of *of, const void *context, uint64_t most);
/* The most device memory that a sort of up to job->count pairs takes. */
uint64_t gpu_most_pair_bytes(const runtime_device *device, const recsort_plugin_job *job);
gpu_pairs gpu_plan_merge(const runtime_device *device, const recsort_plugin_job *job);
/* The most that a merge of up to so many takes. */
uint64_t gpu_most_merge_bytes(const runtime_device *device, const recsort_plugin_job *job);

/* The sorted pairs of a side, and where it is noted that they are not in order. */
records_order gpu_order_of(const gpu_pairs *pairs, const device_buffers *buffers, unsigned side);

/* Sorted keys on the device, and the original position of each. */
typedef struct gpu_sorted {
  const void *keys;
  const void *indices;
} gpu_sorted;

/* Allocates all memory, copies the job's keys to the device and sorts them. */
recsort_status gpu_sort_keys(gpu_instance *self, const recsort_plugin_job *job, const void *keys,
                             gpu_sorted *sorted, recsort_error *error);

/* Copies the job's keys or indices, `bits` bits each, to the host. */
recsort_status gpu_bring_down(gpu_instance *self, const recsort_plugin_job *job, const void *from,
                              void *to, uint32_t bits, recsort_error *error);

/* Sorts the keys in buffers.keys[0] and waits. On success *result is as device_sort says.
 * CORRUPT_RESULT: the sorted pairs do not ascend. */
recsort_status gpu_sort_pairs(const gpu_pairs *pairs, const device_buffers *buffers,
                              unsigned *result, recsort_error *error);

#endif
