/* merge.h - what merge_sort (algorithms.h) needs. */
#ifndef RECSORT_CUDA_MERGE_MERGE_H
#define RECSORT_CUDA_MERGE_MERGE_H

#include "gpu/device_sort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes of device_buffers.extra that merge_sort needs, aligned to 16. */
uint64_t merge_extra_bytes(const device_job *job);

#ifdef __cplusplus
}
#endif

#endif
