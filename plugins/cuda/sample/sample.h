/* sample.h - the default sort of the device: a sample sort. docs/gpu-sort.md shows how it goes.
 */
#ifndef RECSORT_CUDA_SAMPLE_H
#define RECSORT_CUDA_SAMPLE_H

#include "gpu/device_sort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sorts pairs of a key and its index, of which no two are the same: few by their ranks, many by
 * ranks among splitters into buckets that make tiles. Waits for the device only where pairs are
 * many: to see whether their keys are in order already. */
device_sort sample_sort;

/* Bytes of device_buffers.extra that it needs, aligned to 16. */
uint64_t sample_extra_bytes(const device_job *job);

#ifdef __cplusplus
}
#endif

#endif
