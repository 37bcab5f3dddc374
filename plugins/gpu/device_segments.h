/* device_segments.h - the interface of sorts of short segments on a device. A plugin defines these.
 *
 * Like a sort (device_sort.h), one of segments gets `count` keys in buffers.keys[0], numbers them
 * from 0, and leaves the sorted pairs in one of the two pairs of buffers. But keys of later
 * segments are greater, so pairs do not leave their segment.
 */
#ifndef RECSORT_GPU_DEVICE_SEGMENTS_H
#define RECSORT_GPU_DEVICE_SEGMENTS_H

#include <stdbool.h>

#include "gpu/device_sort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Segments of an array: segment s is [offset s, offset s + 1). */
typedef struct device_segments {
  const void *offsets; /* device memory: count + 1 of them, which ascend */
  uint64_t count;
  uint32_t offset_bits; /* 32 or 64 */
  uint64_t most;        /* elements of the longest segment; 0: not known */
  uint32_t *overlong;   /* set to 1 if a segment is longer, and not sorted */
} device_segments;

/* True if segments of so many keys are short. */
bool device_segments_fit(const device_job *job, uint64_t most);

/* Sorts short segments. Launches kernels on the stream and waits for none; needs no extra memory.
 * On success *result is the number, 0 or 1, of the buffers that hold the sorted pairs. */
device_status device_sort_segments(const device_job *job, const device_segments *segments,
                                   const device_buffers *buffers, unsigned *result);

#ifdef __cplusplus
}
#endif

#endif
