/* in_runs.h - jobs whose pairs of key and index do not fit in the device's memory.
 *
 * The keys are sorted there in runs, as few as fit one at a time and of even lengths; then the host
 * merges the runs (host_merge.h). In the caller's memory:
 *
 *   at first       |       | keys             |                          |
 *   runs           |       | keys of each run | indices of each, 32 bits |
 *   merged         | order |                                             |
 */
#ifndef RECSORT_GPU_IN_RUNS_H
#define RECSORT_GPU_IN_RUNS_H

#include "gpu/pairs.h"

/* Whether a job of keys of up to 128 bits is sorted this way: by what the device had free when the
 * instance was opened, so that the answer is always the same. Any thread. */
bool in_runs_wanted(const gpu_instance *self, const recsort_plugin_job *job);

/* The memory that such a job needs. Any thread. */
recsort_plugin_work in_runs_work(const recsort_plugin_job *job);

/* Runs in order. */
typedef struct in_runs_plan {
  uint32_t runs;
  uint64_t device_bytes; /* that the largest one needs */
} in_runs_plan;

/* As few runs as can be sorted with `room` bytes of device memory. False: none can, or they would
 * be more than are merged at once; device_bytes then is what the least of them would need. */
bool in_runs_divide(const gpu_instance *self, const recsort_plugin_job *job, uint64_t room,
                    in_runs_plan *plan);

/* As recsort_plugin.sort, with what is free on the device now. */
recsort_plugin_status in_runs_sort(gpu_instance *self, const recsort_plugin_job *job, void *memory,
                                   recsort_plugin_error *error);

/* The same for a job that was not wanted in runs, but for which the device has less memory now: its
 * keys are at the start of `memory`. The order and the indices of the runs, 8 or 12 bytes a key,
 * are put in memory of the host's own, which is asked for only then. */
recsort_plugin_status in_runs_sort_unplanned(gpu_instance *self, const recsort_plugin_job *job,
                                             void *memory, recsort_plugin_error *error);

#endif
