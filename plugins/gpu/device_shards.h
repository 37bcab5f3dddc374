/* device_shards.h - what the search for cuts through sorted shards asks of a device (shard_cuts.c).
 */
#ifndef RECSORT_GPU_DEVICE_SHARDS_H
#define RECSORT_GPU_DEVICE_SHARDS_H

#include "gpu/device_sort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The keys of a shard, in device memory, in ascending order. */
typedef struct device_sorted_keys {
  const void *keys;
  uint64_t count;
  uint32_t key_width; /* 32, 64 or 128 */
  device_words words; /* in place of `keys`: the words that they are made of; bytes of 0: none */
} device_sorted_keys;

/* The keys [low, high), which are equal above the digit that is looked at. */
typedef struct device_range {
  uint64_t low;
  uint64_t high;
} device_range;

/* For each range and each value of the digit, bits [shift, shift + bits) of a key: writes to
 * ends[(range << bits) + value] where the keys end whose digit is not greater. `ranges` and `ends`
 * are pinned memory. Starts work on the stream. */
device_status device_find_ends(const device_sorted_keys *sorted, const device_range *ranges,
                               uint32_t range_count, uint32_t shift, uint32_t bits, uint64_t *ends,
                               void *stream);

#ifdef __cplusplus
}
#endif

#endif
