/* gpu_plugin.h - the functions of the plugin's table (recsort/plugin.h). An instance is a struct
 * that begins with a gpu_instance.
 *
 *   sort        pairs of key and index: copies the keys to the device, sorts them by one of
 *               device_algorithms, and copies the permutation back. More of them than fit in the
 *               device's memory: in runs, merged on the host (in_runs.h)
 *   extension   whole records (whole_records.c), and jobs in the device's memory (resident.c) or in
 *               that of several devices (shards.c)
 */
#ifndef RECSORT_GPU_GPU_PLUGIN_H
#define RECSORT_GPU_GPU_PLUGIN_H

#include "gpu/pairs.h"

void gpu_limits(const void *instance, recsort_plugin_limits *limits);

recsort_status gpu_work_size(const void *instance, const recsort_plugin_job *job,
                             recsort_plugin_work *work, recsort_error *error);

recsort_status gpu_sort(void *instance, const recsort_plugin_job *job, void *memory,
                        recsort_error *error);

const void *gpu_extension(const char *name);

/* Like recsort_plugin_records.sort, by a thread that has entered (whole_records.c). */
recsort_status gpu_sort_whole(gpu_instance *self, const recsort_plugin_job *job,
                              const recsort_key_program *program, const void *records, void *sorted,
                              recsort_plugin_times *times, recsort_error *error);

/* A job in a device's memory (resident.c): `plan` and `run` of recsort_plugin_device. */
recsort_status gpu_plan_job(const gpu_instance *self, uint32_t algorithm,
                            const recsort_key_program *program, const recsort_job *job,
                            recsort_needs *needs, recsort_error *error);
recsort_status gpu_run_job(const gpu_instance *self, uint32_t algorithm,
                           const recsort_key_program *program, const recsort_job *job,
                           recsort_error *error);

/* The bytes of its workspace that a job needs, at least, if it has job->workspace_size of them. */
recsort_status gpu_job_bytes(const gpu_instance *self, uint32_t algorithm,
                             const recsort_key_program *program, const recsort_job *job,
                             uint64_t *bytes, recsort_error *error);

#endif
