/* device.h - sorts records that are in a device's memory already, on your stream.
 *
 * A device sorter is made for a schema and a maximum number of records. Making it
 * allocates all memory; a sort then only enqueues work and returns. It does not wait for the device
 * and allocates nothing, so you may capture the stream in a graph and replay it with other records
 * at the same place. The result has the same bytes as recsort_sort's.
 *
 *   recsort_device_sorter_create    once
 *   recsort_device_sort             each frame: enqueues
 *   recsort_device_sorter_check     reports errors of sorts that have finished; optional
 *   recsort_device_sorter_destroy
 *
 * Entities that are sorted in place in each frame:
 *
 *   recsort_device_limits limits = {.struct_size = sizeof limits, .most_records = MOST,
 *                                   .most_in_place = sizeof(struct Entity)};
 *   recsort_device_sorter_create(schema, NULL, &limits, &sorter, &error);
 *   ...
 *   recsort_device_job job = {.struct_size = sizeof job, .stream = stream, .count = count,
 *                             .records = entities, .sorted = entities};
 *   recsort_device_sort(sorter, &job, &error);
 *
 * Arrays of keys, with values or without, are device_pairs.h's.
 *
 * "Device memory" is memory that kernels of the device can access: with CUDA that of cudaMalloc,
 * cudaMallocAsync, cudaMallocManaged and cudaMallocHost. recsort.h says what holds for every
 * function. This header needs no header of a GPU's maker.
 */
#ifndef RECSORT_DEVICE_H
#define RECSORT_DEVICE_H

#include "recsort.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct recsort_device_sorter recsort_device_sorter;

/* What a device sorter must be able to do. */
typedef struct recsort_device_limits {
  size_t struct_size;     /* RECSORT_DEVICE_LIMITS_INIT sets it */
  size_t most_records;    /* of a sort; at least 1 */
  size_t most_in_place;   /* bytes of the largest element that you move in place: the record's, or
                           * that of another array; 0: nothing is moved in place. Takes most_records
                           * times as much memory */
  size_t most_segments;   /* of a sort; 0: none has segments */
  size_t most_in_segment; /* records of the longest segment; 0: not known. Segments are sorted
                           * faster if they have at most 8192 (on an H200), or at most 16,384 and
                           * the average segment has at least half as many. If keys have more than
                           * 64 bits, these limits are half as large */
  unsigned index_bits;    /* of permutations: 32 or 64; 0: 32 */
  uint32_t reserved;
} recsort_device_limits;

#define RECSORT_DEVICE_LIMITS_INIT RECSORT_INIT(recsort_device_limits)

/* Makes a device sorter; `options` may be NULL. You own it: destroy it with
 * recsort_device_sorter_destroy.
 *  - The options `threads` and `executor` have no meaning here. "auto" is the best plugin that can
 *    sort on a device; there is one, "cuda".
 *  - The device is the one that is current in your thread, or the one of the plugin's option
 *    `device`. If the current context is one of that device, it is used; otherwise the device's
 *    primary one is, as by the CUDA runtime. Streams and memory must be of that context, which must
 *    outlive the sorter. Later calls may come from threads with another device or context, or
 *    none; no call changes those of your thread.
 *  - The memory: for each record two keys (of 32, 64 or 128 bits), two indices and most_in_place
 *    bytes; for up to 2^28 records up to 70 MiB more.
 *    recsort_device_sorter_memory says how much.
 *  - Keys have at most 128 bits in all, with the number of a segment, if there are any.
 * Errors: INVALID_KEY, PLUGIN_ERROR (no plugin here can, and why; or not by such keys),
 * OUT_OF_MEMORY, DEVICE_ERROR, INVALID_ARGUMENT. Any thread. Waits for the device. */
RECSORT_API recsort_status recsort_device_sorter_create(const recsort_schema *schema,
                                                        const recsort_options *options,
                                                        const recsort_device_limits *limits,
                                                        recsort_device_sorter **sorter,
                                                        recsort_error *error);

/* Frees a device sorter; NULL is allowed. Its sorts must have finished, and graphs that have them
 * must not run any more. */
RECSORT_API void recsort_device_sorter_destroy(recsort_device_sorter *sorter);

/* The bytes of device memory that it holds. */
RECSORT_API size_t recsort_device_sorter_memory(const recsort_device_sorter *sorter);

/* An array with an element for each record. */
typedef struct recsort_device_array {
  const void *from;    /* device memory, as the next one */
  void *to;            /* `from`, or memory that does not overlap it */
  size_t element_size; /* at most 8 MiB */
} recsort_device_array;

/* A sort. All pointers but `arrays` and `columns` are to device memory. */
typedef struct recsort_device_job {
  size_t struct_size;  /* RECSORT_DEVICE_JOB_INIT sets it */
  void *stream;        /* a cudaStream_t; NULL: the default stream */
  size_t count;        /* records; may be 0 */
  const void *records; /* of any alignment */
  void *sorted;        /* the sorted records: `records`, in place; or memory that does not overlap
                        * them; NULL: records are not moved */
  void *permutation;   /* record permutation[i] of the input is record i of the output; index_bits
                        * each; NULL: not wanted */
  const recsort_device_array *arrays; /* moved as the records are, if given */
  size_t array_count;                 /* more than 16 take host memory for the time of the call */
  const void *offsets; /* device memory; NULL: all records are sorted. See "Segments" below */
  size_t segment_count;
  unsigned offset_bits; /* 32 or 64: of an offset; 0: 32 */
  uint32_t reserved;
  size_t head; /* only the first `head` records of the order are wanted; 0: all. See "The first
                * records" below */
  const recsort_column *columns; /* instead of `records`, if fields are in arrays of their own;
                                  * NULL: they are not. See "Columns" below */
  size_t column_count;
} recsort_device_job;

#define RECSORT_DEVICE_JOB_INIT RECSORT_INIT(recsort_device_job)

/* Columns: keys are made of the fields where they are, as by recsort_argsort_columns; the `data` of
 * a column is device memory. Then `records` and `sorted` are NULL. What `arrays` has is moved,
 * which may be the columns themselves, in place. */

/* The first records: with a head less than `count`, `sorted`, `permutation` and each `to` get
 * `head` elements, the first ones of what they get without it. Then nothing may be moved in place,
 * as the others would be in no order, and there may be no segments (INVALID_ARGUMENT). Of 2^21
 * records or more up to 2048, and of 2^19 or more up to 256, are selected without sorting the
 * others: each record is read once, and a few of them again. More are found by sorting all.
 * Like any sort it neither waits nor allocates, and the result is exact for every input. The check
 * of large results (the option `verify`) is not made. */

/* Segments: many small sorts in one. Segment s is records [offsets[s], offsets[s + 1]), for s from
 * 0 to segment_count - 1, and is sorted by itself; there are segment_count + 1 offsets, which
 * ascend and are read when the stream gets there. Records before the first offset or from the last
 * one on stay where they are. So one segment with the offsets 0 and n sorts the first n records,
 * where n is a number that only the device knows.
 *
 * Short segments are sorted faster: if you give most_in_segment, or if you capture the stream, have
 * 2^15 records or more and the plugin was built with CUDA 13. Then the device finds the longest. In
 * all other sorts the time depends on `count` alone. If a segment has more records than
 * most_in_segment, it and those beside it may be left as they are, which
 * recsort_device_sorter_check reports. */

/* Enqueues a stable sort and returns. The sorts of a device sorter share its memory: if you use
 * several streams, order them yourself.
 *
 * The sort uses the values that parameters have when you make this call
 * (recsort_device_sorter_set_parameter), and a graph keeps them; or it reads them later, where
 * recsort_device_sorter_bind_parameter said. Where a record with an invalid value
 * of an enum goes is not specified.
 *
 * If you capture the stream, the device detects whether 2^21 records or more are sorted, reversed
 * or nearly sorted, and skips work that they do not need. This requires the default algorithm, a
 * plugin built with CUDA 13, and fewer than about 2^29 records. On a stream that you do not
 * capture, they are sorted like any others: only a graph can skip work without asking the host.
 *
 * Errors: PLUGIN_ERROR (more than most_records), OUT_OF_MEMORY (more than 16 arrays), DEVICE_ERROR
 * (a launch failed, perhaps because of work enqueued earlier), INVALID_ARGUMENT. Without an error,
 * records, permutation and arrays are as asked once the stream gets there; with one they may be
 * partly written. One thread at a time.
 */
RECSORT_API recsort_status recsort_device_sort(recsort_device_sorter *sorter,
                                               const recsort_device_job *job, recsort_error *error);

/* Reports what finished sorts have found since the last call. Wait for the stream first: this call
 * does not. Errors: INVALID_RECORD (the value of an enum is less or greater than all that have
 * names), CORRUPT_RESULT (a segment is longer than most_in_segment; or the result of a sort of many
 * records is wrong, see the plugin's option `verify`). One thread at a time. */
RECSORT_API recsort_status recsort_device_sorter_check(recsort_device_sorter *sorter,
                                                       recsort_error *error);

/* As recsort_sorter_set_parameter does, for sorts that are enqueued from now on. */
RECSORT_API recsort_status recsort_device_sorter_set_parameter(recsort_device_sorter *sorter,
                                                               const char *name,
                                                               const double *values, size_t count,
                                                               recsort_error *error);

/* The same, but `values` is device memory, aligned to 8 bytes, which each of these sorts reads when
 * the stream gets there. So a graph can be replayed with another point. The values should be
 * finite: with an infinity or a NaN among them, distances are infinite or NaNs, and those are
 * equal. */
RECSORT_API recsort_status recsort_device_sorter_bind_parameter(recsort_device_sorter *sorter,
                                                                const char *name,
                                                                const double *values, size_t count,
                                                                recsort_error *error);

#ifdef __cplusplus
}
#endif

#endif
