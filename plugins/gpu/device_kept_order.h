/* device_kept_order.h - starts a sort from the order that the last one found, where most records
 * have hardly moved since. What the last sort left decides how long a sort takes, never its
 * result. */
#ifndef RECSORT_GPU_DEVICE_KEPT_ORDER_H
#define RECSORT_GPU_DEVICE_KEPT_ORDER_H

#include "gpu/records.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct device_kept_order {
  void *memory;  /* device memory: of device_kept_order_bytes for `most` records */
  uint64_t most; /* records of a sort */
  const records_program *program;
  const void *records; /* NULL: the program's columns */
  const void *array;   /* an array that is moved as they are: the records, or a column */
  const void *sorted;  /* where it is in order after this sort; NULL: nowhere */
  records_facts *facts;
  device_move move;   /* an array that the sort moves, of elements of at most
                       * DEVICE_MOST_KEPT_MOVED bytes; `to` may be `from`. Size 0: none */
  void *copy;         /* if it is moved in place: memory for as much */
  void *permutation;  /* gets the order; NULL: it is not wanted */
  bool wants_order;   /* `work` needs the order */
  uint32_t *disorder; /* as in records_order */
} device_kept_order;

enum { DEVICE_MOST_KEPT_MOVED = 128 };

typedef struct kept_order {
  records_order pairs;   /* without keys; kernels that use them leave if the order is lost */
  const uint32_t *still; /* device memory: not 0 if nothing is to be moved in place by them */
} kept_order;

/* Starts what follows, on job->stream. It is called twice while a sort is enqueued, once for each
 * outcome; the device runs one.
 *  - Not `lost`: the kept order was of use. Moves what was not moved, with kernels that look at
 *    pairs.skip and `still`, as they are started in either case.
 *  - `lost`: sorts all records, without decisions, writes the permutation, moves all arrays, and
 *    sets `pairs` to the sorted ones, with keys. */
typedef device_status device_kept_work(void *context, bool lost, const device_job *job,
                                       kept_order *order);

/* The bytes of memory for a kept order. */
uint64_t device_kept_order_bytes(uint64_t most, uint32_t key_width);

/* Starts to set the memory to 0: there is no order yet. Before the first sort. */
device_status device_forget_order(void *memory, uint64_t bytes, void *stream);

/* Whether the device uses a kept order for this job: one of many records with indices of 32 bits,
 * on a stream where kernels may decide what follows. */
bool device_can_keep_order(const device_job *job);

/* Starts a sort of the records; calls `work` twice. Overwrites the buffers. */
device_status device_sort_kept(const device_kept_order *kept, const device_job *job,
                               const device_buffers *buffers, device_kept_work *work,
                               void *context);

#ifdef __cplusplus
}
#endif

#endif
