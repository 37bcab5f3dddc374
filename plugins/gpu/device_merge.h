/* device_merge.h - the interface of merges of sorted runs on a device. A plugin defines these.
 *
 * Like a sort (device_sort.h), a merge gets `count` keys in buffers.keys[0], numbers them from 0,
 * and leaves the pairs of keys and indices, in the stable order of all, in one of the two pairs of
 * buffers. But the keys are sorted runs, one after the other; if one is not sorted, the order of
 * the result is undefined.
 */
#ifndef RECSORT_GPU_DEVICE_MERGE_H
#define RECSORT_GPU_DEVICE_MERGE_H

#include "gpu/device_sort.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct device_runs {
  const uint64_t *bounds; /* host memory: run r is keys [bounds[r], bounds[r + 1]), perhaps empty;
                           * the first bound is 0, the last one is the job's count */
  uint32_t count;         /* of runs; 0 if there are no keys */
} device_runs;

/* The bytes of device_buffers.extra that a merge of any number of runs needs. */
uint64_t device_merge_extra_bytes(const device_job *job);

/* Merges. Launches kernels on the stream; waits for none of the last ones, and has read the bounds
 * when it returns. On success *result is the number, 0 or 1, of the buffers with the merged
 * pairs. */
device_status device_merge(const device_job *job, const device_runs *runs,
                           const device_buffers *buffers, unsigned *result);

/* A run of records with its keys, in the memory of any device that the merge's kernels can read. */
typedef struct device_piece {
  const void *keys; /* or the first of the words that keys are made of */
  const void *records;
  uint64_t count; /* not 0 */
} device_piece;

/* Where the records of a merge go. */
typedef struct device_merge_move {
  void *to;                  /* overlaps no piece */
  uint64_t size;             /* bytes of a record */
  uint32_t *disorder;        /* pinned: set to 1 if they are not in order; NULL: not looked at */
  const device_words *words; /* how keys are made of words, whatever their address; NULL: they are
                              * in arrays */
} device_merge_move;

enum { DEVICE_MOVED_RUNS = 8 };

/* True if device_merge_records takes a merge of so many pieces: of up to DEVICE_MOVED_RUNS, if
 * records are small. */
bool device_merge_moves(uint64_t pieces, uint64_t record_size);

/* Merges job->count records of pieces: it reads and writes each once. Needs no memory. */
device_status device_merge_records(const device_job *job, const device_piece *pieces,
                                   uint32_t piece_count, const device_merge_move *move);

#ifdef __cplusplus
}
#endif

#endif
