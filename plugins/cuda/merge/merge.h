/* merge.h - a merge of two sorted runs of keys on the device. (merge_sort is in algorithms.h.) */
#ifndef RECSORT_CUDA_MERGE_MERGE_H
#define RECSORT_CUDA_MERGE_MERGE_H

#include "gpu/device_sort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Merges keys [0, first) and [first, job->count) in buffers.keys[0], each of which ascend: the
 * pairs go to the second pair of buffers. Reads keys only, and needs no memory besides. */
device_status merge_two_runs(const device_job *job, uint64_t first, const device_buffers *buffers);

#ifdef __cplusplus
}
#endif

#endif
