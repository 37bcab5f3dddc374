/* device_records.h - records on the device: their keys are made there, and they are moved there
 * once an order was found. whole_records.c finds it by a sort, merge_runs.c by a merge.
 *
 * Call the functions in this order, by a thread that has entered the device. Each that returns a
 * status fails like those of recsort_plugin. */
#ifndef RECSORT_GPU_DEVICE_RECORDS_H
#define RECSORT_GPU_DEVICE_RECORDS_H

#include "gpu/pairs.h"
#include "gpu/records.h"

/* Arrays on the device, and the work on them. */
typedef struct device_records {
  gpu_instance *self;
  const recsort_plugin_job *job;
  gpu_pairs pairs;
  device_buffers buffers;
  records_program program;
  char *records;
  char *room;
  uint64_t *bounds; /* of the runs */
  uint64_t bound_count;
  records_facts *facts;
  const void *order;
  const void *keys; /* sorted */
  bool verified;
  uint64_t bytes;
} device_records;

/* True if the device can make the keys. */
bool device_records_encodable(const recsort_key_program *program);

/* Plans. `pairs` are those of the sort or the merge; `bound_count`, of runs, is 0 for a sort. */
device_records device_records_plan(gpu_instance *self, const recsort_plugin_job *job,
                                   const recsort_key_program *program, gpu_pairs pairs,
                                   uint64_t bound_count);

/* Allocates all memory before anything starts. UNSUPPORTED: the device has too little. */
recsort_plugin_status device_records_reserve(device_records *s, recsort_plugin_error *error);

/* Sends the records, from one array or, if `read` is not NULL, as it copies them, and makes their
 * keys in buffers.keys[0]. */
recsort_plugin_status device_records_send(device_records *s, const void *records,
                                          staging_read *read, const void *context,
                                          recsort_plugin_error *error);

/* Waits for what was started, and reads what it found. UNSUPPORTED: a record holds an invalid
 * value, or a run is not sorted. CORRUPT: the order is no permutation. */
recsort_plugin_status device_records_judge(const device_records *s, recsort_plugin_error *error);

/* Checks the order that was left in one of the pairs of buffers, as above. */
recsort_plugin_status device_records_check(device_records *s, unsigned result,
                                           recsort_plugin_error *error);

/* Brings down the records in their order, and checks that they are those that were sent, each in
 * its place. */
recsort_plugin_status device_records_receive(device_records *s, void *sorted,
                                             recsort_plugin_error *error);

#endif
