/* in_runs.h - sorts jobs whose pairs of key and index do not fit in the device's memory.
 *
 * The device sorts the keys in runs of about equal length, one at a time and as few as fit. Then
 * the host merges them (runs/merge.h). In the caller's memory:
 *
 *   at first       |       | keys             |                          |       |
 *   runs           |       | keys of each run | indices of each, 32 bits |       |
 *   merging        | order | keys of each run | indices of each, 32 bits | tiles |
 */
#ifndef RECSORT_GPU_IN_RUNS_H
#define RECSORT_GPU_IN_RUNS_H

#include "gpu/pairs.h"

enum { IN_RUNS_MOST = 1024 /* runs */ };

/* True if a job is sorted in runs. This depends on the memory that was
 * free when the instance was opened, so that the answer does not change. Any thread. */
bool in_runs_wanted(const gpu_instance *self, const recsort_plugin_job *job);

/* The host memory that such a job needs. Any thread. */
recsort_plugin_work in_runs_work(const recsort_plugin_job *job);

/* The division of a job into runs. */
typedef struct in_runs_plan {
  uint32_t runs;
  uint64_t device_bytes; /* device memory for the largest run */
} in_runs_plan;

/* Finds the smallest number of runs that can be sorted with `room` bytes of device memory. False if
 * there is none up to IN_RUNS_MOST; device_bytes is then what the smallest runs would
 * need. */
bool in_runs_divide(const gpu_instance *self, const recsort_plugin_job *job, uint64_t room,
                    in_runs_plan *plan);

/* Like recsort_plugin.sort, with the memory that is free on the device now. */
recsort_status in_runs_sort(gpu_instance *self, const recsort_plugin_job *job, void *memory,
                            recsort_error *error);

/* The same for a job that in_runs_wanted() refused but for which the device has too little memory
 * now; its keys are at the start of `memory`. Allocates 8 or 12 bytes a key from the host, for the
 * order and the indices of the runs, and the memory to merge these. */
recsort_status in_runs_sort_unplanned(gpu_instance *self, const recsort_plugin_job *job,
                                      void *memory, recsort_error *error);

#endif
