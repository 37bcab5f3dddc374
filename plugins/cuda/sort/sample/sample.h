/* sample.h - the default sort of the device, a sample sort. docs/gpu-sort.md shows how it goes. */
#ifndef RECSORT_CUDA_SAMPLE_H
#define RECSORT_CUDA_SAMPLE_H

#include <stdbool.h>

#include "gpu/device_sort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sorts pairs of a key and its index, no two of which are equal: few by their ranks, many by
 * scattering them to buckets; pairs with indices of 64 bits, as merge_sort does. Waits for the
 * device only if pairs are many and the job has a mailbox, to see whether their keys are in order
 * already. */
device_sort sample_sort;

/* The bytes of device_buffers.extra that it needs, aligned to 16. */
uint64_t sample_extra_bytes(const device_job *job);

device_skills sample_skills(const device_job *job);

#ifdef __cplusplus
}
#endif

#endif
