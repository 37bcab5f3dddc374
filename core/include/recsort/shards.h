/* shards.h - sorts records that are spread over the memory of several devices.
 *
 * A shard is an array of records in the memory of one device. A sort moves records between shards,
 * so that these, one after the other, are in the order that recsort_sort would give all records:
 * the first shard has the first of them, and so on. Equal records keep their order: that of the
 * shards, and in each that of its records. Several shards may be on one device, too.
 *
 *   recsort_shards_sorter_create    once: allocates all memory
 *   recsort_sort_shards             sorts, and waits until the records are in order
 *   recsort_shards_sorter_destroy
 *
 * Entities on two devices:
 *
 *   const int devices[] = {0, 1};
 *   const size_t most[] = {MOST, MOST};
 *   const recsort_shards_limits limits = {.struct_size = sizeof limits, .devices = devices,
 *                                         .most_records = most, .shard_count = 2};
 *   recsort_shards_sorter_create(schema, NULL, &limits, &sorter, &error);
 *   ...
 *   recsort_device_shard shards[] = {{.records = here, .count = n},
 *                                    {.records = there, .count = m}};
 *   recsort_sort_shards(sorter, shards, 2, &error);
 *
 * Each device sorts its shard; where the sorted shards are cut, so that the sizes come out, is
 * found exactly, by a selection over the bits of the keys; then each device writes its pieces
 * straight to the memory of those where they go, if there is peer access between them (otherwise
 * they go through the host), and merges what it got. docs/gpu-sort.md has more.
 *
 * device.h says what "device memory" is, and recsort.h what holds for every function. This header
 * needs no header of a GPU's maker.
 */
#ifndef RECSORT_SHARDS_H
#define RECSORT_SHARDS_H

#include "recsort.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct recsort_shards_sorter recsort_shards_sorter;

/* What a sorter of shards must be able to do. It reads the arrays only while it is made. */
typedef struct recsort_shards_limits {
  size_t struct_size;         /* RECSORT_SHARDS_LIMITS_INIT sets it */
  const int *devices;         /* of each shard: its device's number, as the CUDA runtime counts */
  const size_t *most_records; /* of each shard, before a sort and after it; at least 1 */
  size_t shard_count;         /* 1 to 256 */
  uint32_t balance;           /* 0: a shard has as many records after a sort as before; 1: all have
                               * equally many, but the first ones one more if that does not divide */
  uint32_t reserved;
} recsort_shards_limits;

#define RECSORT_SHARDS_LIMITS_INIT RECSORT_INIT(recsort_shards_limits)

/* A shard of a sort. */
typedef struct recsort_device_shard {
  void *records; /* memory of the shard's device, of any alignment; room for the records that it has
                  * after the sort. NULL is allowed if there are none before and after */
  size_t count;  /* records before the sort; with `balance` the sort sets it to those after it */
  void *stream;  /* a cudaStream_t of the device: the sort waits for your work on it; NULL: the
                  * default stream */
} recsort_device_shard;

/* Makes a sorter of shards; `options` may be NULL. You own it: destroy it with
 * recsort_shards_sorter_destroy.
 *  - The options `threads` and `executor` have no meaning here. "auto" is the best plugin that can;
 *    there is one, "cuda". It also opens the device that is current in your thread, or the one of
 *    its option `device`; the option `memory` limits each shard's memory.
 *  - Records and streams are of the devices' primary contexts, which the CUDA runtime uses. Between
 *    devices that have it, peer access of these contexts is enabled, and stays so.
 *  - The memory of a device: for each record of most_records up to three keys (of 32, 64 or
 *    128 bits), two indices (of 32 bits; of 64 for more than 2^32 records) and a copy of the
 *    record; for up to 2^28 records up to 70 MiB more; and 32 MiB, or a record if that is larger,
 *    if it has no access to a peer. recsort_shards_sorter_memory says how much.
 *  - Keys have at most 128 bits in all.
 *  - Later calls may come from any thread. None changes the device or context that is current
 *    in it.
 * Errors: as of recsort_device_sorter_create; INVALID_ARGUMENT also for a device's number below 0
 * or no shards; PLUGIN_ERROR also if there is no such device. Any thread. Waits for the devices. */
RECSORT_API recsort_status recsort_shards_sorter_create(const recsort_schema *schema,
                                                        const recsort_options *options,
                                                        const recsort_shards_limits *limits,
                                                        recsort_shards_sorter **sorter,
                                                        recsort_error *error);

/* Frees a sorter of shards; NULL is allowed. */
RECSORT_API void recsort_shards_sorter_destroy(recsort_shards_sorter *sorter);

/* The bytes of device memory that it holds for a shard; 0 for a number that is none. */
RECSORT_API size_t recsort_shards_sorter_memory(const recsort_shards_sorter *sorter, size_t shard);

/* Sorts `count` shards, as many as the sorter was made for, stably and in place. Waits for the
 * device; so you cannot capture it in a graph. Work that you enqueue afterwards, on any stream,
 * finds the records in order.
 * Errors:
 *  - INVALID_RECORD: a value of an enum is less or greater than all that have names. The text has
 *    the number of the shard and that of the record in it, from 0: the first one.
 *  - INVALID_ARGUMENT: another number of shards; records that are NULL; shards that overlap; with
 *    `balance`, a shard has too little room. PLUGIN_ERROR: a shard has more than its most_records.
 *  - DEVICE_ERROR: a device or the way to it failed, perhaps because of work enqueued earlier.
 *    CORRUPT_RESULT: a result is wrong, see the plugin's option `verify`. OUT_OF_MEMORY: the driver
 *    has no memory for a launch.
 * After an error the shards are as they were; but with one of the last three, which may come while
 * records are written to shards, they may be partly written. One thread at a time. */
RECSORT_API recsort_status recsort_sort_shards(recsort_shards_sorter *sorter,
                                               recsort_device_shard *shards, size_t count,
                                               recsort_error *error);

/* As recsort_sorter_set_parameter does, for sorts from now on. */
RECSORT_API recsort_status recsort_shards_sorter_set_parameter(recsort_shards_sorter *sorter,
                                                               const char *name,
                                                               const double *values, size_t count,
                                                               recsort_error *error);

#ifdef __cplusplus
}
#endif

#endif
