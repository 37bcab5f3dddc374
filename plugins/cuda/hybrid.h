/* hybrid.h - the device sort that is meant to be fast. */
#ifndef RECSORT_CUDA_HYBRID_H
#define RECSORT_CUDA_HYBRID_H

#include "cuda/device_sort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Packs each key's leading bits and its index into one 64-bit pair, sorts tiles in registers and
 * shared memory, and merges these by co-ranks. Waits for the device where keys do not fit beside an
 * index: how many of their bits vary, and how often they tie, decides what is done. */
device_sort hybrid_sort;

/* Bytes of device_buffers.extra that it needs, aligned to 16. */
uint64_t hybrid_extra_bytes(const device_job *job);

#ifdef __cplusplus
}
#endif

#endif
