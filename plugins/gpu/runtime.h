/* runtime.h - a GPU as the code here sees it: a device, one block of its memory, copies. A plugin
 * writes these functions for its vendor's runtime.
 *
 *   runtime_enter      the calling thread's calls go to the device, until runtime_leave
 *   runtime_room       how much of its memory could be had
 *   runtime_reserve    memory, before anything is started
 *   runtime_pin        host memory that the device reads and writes itself
 *   runtime_start_up, runtime_start_down, the kernels, runtime_wait
 *
 * Every call is checked. One that fails becomes a status and a text with the call's name; if the
 * device cannot be used any more the status is LOST. Any thread; one at a time for each
 * runtime_device and each stream. All but runtime_refuse is for threads that have entered.
 */
#ifndef RECSORT_GPU_RUNTIME_H
#define RECSORT_GPU_RUNTIME_H

#include <stdbool.h>

#include "gpu/device_sort.h"
#include "recsort/plugin.h"

/* An open device. A plugin's own struct begins with it. */
typedef struct runtime_device {
  void *stream;
  void *mailbox;         /* DEVICE_MAILBOX bytes, pinned */
  uint32_t *disorder;    /* pinned: set where a result is not in order */
  uint64_t verify_least; /* results of so many records are checked */
  char *memory;          /* on the device; NULL: none */
  uint64_t memory_bytes;
  uint64_t memory_limit; /* that `memory` may have, whatever is free */
  uint64_t first_room;   /* runtime_room() when it was opened */
  uint64_t shared_bytes; /* that a block may use */
  uint32_t multiprocessors;
} runtime_device;

/* From here on the calling thread's calls go to the device; then again to where they went.
 * `error` is NULL where all is closed, and nothing depends on it any more. */
recsort_plugin_status runtime_enter(const runtime_device *device, recsort_plugin_error *error);
void runtime_leave(const runtime_device *device);

/* The bytes that device->memory could have: what it has and what is free now, but for a little that
 * is left to the driver, and no more than the limit. */
recsort_plugin_status runtime_room(const runtime_device *device, uint64_t *bytes,
                                   recsort_plugin_error *error);

/* Makes device->memory at least `bytes` large; what was in it is lost. */
recsort_plugin_status runtime_reserve(runtime_device *device, uint64_t bytes,
                                      recsort_plugin_error *error);

/* Pinned host memory; release it with runtime_unpin. */
recsort_plugin_status runtime_pin(void **memory, uint64_t bytes, recsort_plugin_error *error);
void runtime_unpin(void *memory);

/* A stream of its own, beside the device's. What runs on different streams is in no order. */
recsort_plugin_status runtime_open_stream(void **stream, recsort_plugin_error *error);
void runtime_close_stream(void *stream);

/* Copies between pinned memory and the device's, after what was started on the stream before. They
 * do not wait; runtime_wait does, for all of the stream. */
recsort_plugin_status runtime_start_up(void *stream, void *to, const void *from, uint64_t bytes,
                                       recsort_plugin_error *error);
recsort_plugin_status runtime_start_down(void *stream, void *to, const void *from, uint64_t bytes,
                                         recsort_plugin_error *error);
recsort_plugin_status runtime_wait(void *stream, recsort_plugin_error *error);

/* What a device_status means for the job: OK if it is 0. `call` failed with it. */
recsort_plugin_status runtime_judge(device_status code, const char *call,
                                    recsort_plugin_error *error);

/* ---- The same for every GPU (runtime.c) ---- */

/* OUT_OF_MEMORY, with a text: so many bytes of the device's are needed, and so many could be had.
 */
recsort_plugin_status runtime_refuse(uint64_t needed, uint64_t room, recsort_plugin_error *error);

#endif
