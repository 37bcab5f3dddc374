/* hybrid.h - the device sort that is meant to be fast. */
#ifndef RECSORT_CUDA_HYBRID_H
#define RECSORT_CUDA_HYBRID_H

#include "cuda/device_sort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Packs each key's leading bits and its index into one 64-bit pair; merges sorted tiles of pairs by
 * co-ranks, or, where there are many, ranks them among splitters into buckets and sorts these as
 * tiles. Where keys do not fit beside an index it ranks whole keys if they are few. Otherwise it
 * waits for the device: to see whether many keys are in order already, and whether ties were many.
 */
device_sort hybrid_sort;

/* Bytes of device_buffers.extra that it needs, aligned to 16. */
uint64_t hybrid_extra_bytes(const device_job *job);

#ifdef __cplusplus
}
#endif

#endif
