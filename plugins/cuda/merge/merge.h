/* merge.h - a merge of two sorted runs of keys on the device, and what merge_sort (algorithms.h)
 * needs. */
#ifndef RECSORT_CUDA_MERGE_MERGE_H
#define RECSORT_CUDA_MERGE_MERGE_H

#include "gpu/device_sort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes of device_buffers.extra that merge_sort needs, aligned to 16. */
uint64_t merge_extra_bytes(const device_job *job);

/* Merges keys [0, first) and [first, job->count) in buffers.keys[0], each of which ascend: the
 * pairs go to the second pair of buffers. Reads keys only, and needs no memory besides. */
device_status merge_two_runs(const device_job *job, uint64_t first, const device_buffers *buffers);

#ifdef __cplusplus
}
#endif

#endif
