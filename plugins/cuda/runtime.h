/* runtime.h - the CUDA runtime as the plugin sees it: a device, one block of its memory, copies.
 *
 *   runtime_usable     is there a device that can run the kernels, and if not, why
 *   runtime_open       a stream and what the grid plans must know of the device
 *   runtime_enter      the calling thread's calls go to the device, until runtime_leave
 *   runtime_room       how much of its memory could be had
 *   runtime_reserve    memory, before anything is started
 *   runtime_pin        host memory that the device reads and writes itself
 *   runtime_start_up, runtime_start_down, the kernels, runtime_wait
 *   runtime_close
 *
 * Every call is checked. One that fails becomes a status and a text with the call's name. If the
 * device does not answer after that either, the error is a sticky one: the status is LOST, and for
 * the rest of the process runtime_usable says so. Any thread; one at a time for each runtime_device
 * and each stream.
 *
 * The CUDA runtime sends a thread's calls to that thread's current device. So all between open and
 * close, but runtime_usable, runtime_open and runtime_close, is for threads that have entered.
 * They push the device's context and pop it when they leave, as that alone leaves a thread as it
 * was: to set the device back by its number would make a context on one that was never used, and
 * drop one that is not the runtime's.
 */
#ifndef RECSORT_CUDA_RUNTIME_H
#define RECSORT_CUDA_RUNTIME_H

#include <cuda.h>
#include <stdbool.h>

#include "cuda/device_sort.h"
#include "cuda/options.h"

/* The driver's calls on contexts. They are found through the runtime: nothing links the driver. */
typedef struct runtime_contexts {
  CUresult (*retain)(CUcontext *context, CUdevice device);
  CUresult (*release)(CUdevice device);
  CUresult (*push)(CUcontext context);
  CUresult (*pop)(CUcontext *context);
} runtime_contexts;

typedef struct runtime_device {
  int number;
  runtime_contexts contexts;
  CUcontext context;
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

/* False, and why in `reason`, if no sort can work here. Keeps nothing. */
bool runtime_usable(const cuda_options *options, char *reason, size_t reason_size);

/* Where the options give no limit of device->memory, the environment variable RECSORT_CUDA_MEMORY
 * may: bytes, or with a suffix K, M, G or T as many times 2^10, 2^20, 2^30 or 2^40. Unset or empty:
 * no limit. UNSUPPORTED, and nothing is opened: it is something else, or 0. */
recsort_plugin_status runtime_open(const cuda_options *options, runtime_device *device,
                                   recsort_plugin_error *error);
void runtime_close(runtime_device *device);

/* From here on the calling thread's CUDA calls go to the device; then again to where they went.
 * `error` is NULL where all is closed, and nothing depends on it any more. */
recsort_plugin_status runtime_enter(const runtime_device *device, recsort_plugin_error *error);
void runtime_leave(const runtime_device *device);

/* The bytes that device->memory could have: what it has and what is free now, but for a little that
 * is left to the driver, and no more than the limit. */
recsort_plugin_status runtime_room(const runtime_device *device, uint64_t *bytes,
                                   recsort_plugin_error *error);

/* Whether it could have `bytes`. Asks the device only if it has fewer. */
recsort_plugin_status runtime_has_room(const runtime_device *device, uint64_t bytes, bool *room,
                                       recsort_plugin_error *error);

/* Makes device->memory at least `bytes` large; what was in it is lost. */
recsort_plugin_status runtime_reserve(runtime_device *device, uint64_t bytes,
                                      recsort_plugin_error *error);

/* OUT_OF_MEMORY, with a text: so many bytes of the device's are needed, and so many could be had.
 */
recsort_plugin_status runtime_refuse(uint64_t needed, uint64_t room, recsort_plugin_error *error);

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

/* What a number of the CUDA runtime's means for the job: OK if it is 0. `call` failed with it. */
recsort_plugin_status runtime_judge(int code, const char *call, recsort_plugin_error *error);

#endif
