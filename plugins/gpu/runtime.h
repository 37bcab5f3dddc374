/* runtime.h - a device, one block of its memory, copies: what the host code asks of CUDA's runtime.
 * plugins/cuda/runtime.c implements these functions.
 *
 *   runtime_enter      makes the device current in the calling thread, until runtime_leave
 *   runtime_room       how much of its memory is available
 *   runtime_reserve    allocates the block of memory, before any work starts
 *   runtime_pin        allocates pinned host memory, for copies without waiting
 *   runtime_start_up, runtime_start_down, the kernels, runtime_wait
 *
 * A failure becomes a status and a text with the name of the call; the status is
 * DEVICE_LOST if the device can no longer be used. Any thread, one at a time for each
 * runtime_device and each stream. The thread must have entered, except for runtime_refuse.
 */
#ifndef RECSORT_GPU_RUNTIME_H
#define RECSORT_GPU_RUNTIME_H

#include <stdbool.h>
#include <stdio.h>

#include "gpu/device_sort.h"
#include "recsort/plugin.h"

/* An open device. The struct of a plugin begins with this one. */
typedef struct runtime_device {
  void *stream;
  void *mailbox;      /* DEVICE_MAILBOX bytes, pinned */
  uint32_t *disorder; /* pinned; nonzero: a result is not in order */
  void *facts;        /* pinned, DEVICE_MAILBOX bytes: about records that are looked at again */
  recsort_verify verify;
  char *memory; /* the block on the device; NULL: none */
  uint64_t memory_bytes;
  uint64_t memory_limit; /* the most bytes of `memory`, even if more are free */
  uint64_t first_room;   /* runtime_room() when it was opened */
  uint64_t shared_bytes; /* shared memory that a block may use */
  uint32_t multiprocessors;
} runtime_device;

/* True if results are checked. */
static inline bool runtime_verifies(const runtime_device *device)
{
  return device->verify != RECSORT_VERIFY_OFF;
}

/* runtime_enter makes the device current in the calling thread; runtime_leave restores the previous
 * state. `error` is NULL when the device is being closed and errors no longer matter. */
recsort_status runtime_enter(const runtime_device *device, recsort_error *error);
void runtime_leave(const runtime_device *device);

/* The bytes that device->memory could have: those it has and those that are free now, less a
 * reserve for the driver, but at most the limit. */
recsort_status runtime_room(const runtime_device *device, uint64_t *bytes, recsort_error *error);

/* Makes device->memory at least `bytes` large. Its contents are lost. */
recsort_status runtime_reserve(runtime_device *device, uint64_t bytes, recsort_error *error);

/* Returns OUT_OF_MEMORY, with a text: `needed` bytes of device memory are needed, `room` are
 * available. */
recsort_status runtime_refuse(uint64_t needed, uint64_t room, recsort_error *error);

/* Allocates pinned host memory; free it with runtime_unpin. */
recsort_status runtime_pin(void **memory, uint64_t bytes, recsort_error *error);
void runtime_unpin(void *memory);

/* Opens another stream. Work on different streams is not ordered. */
recsort_status runtime_open_stream(void **stream, recsort_error *error);
void runtime_close_stream(void *stream);

/* Start copies between pinned memory and device memory, after earlier work on the stream. They do
 * not wait; runtime_wait waits for all work on the stream. */
recsort_status runtime_start_up(void *stream, void *to, const void *from, uint64_t bytes,
                                recsort_error *error);
recsort_status runtime_start_down(void *stream, void *to, const void *from, uint64_t bytes,
                                  recsort_error *error);
recsort_status runtime_wait(void *stream, recsort_error *error);

/* Start to set device memory to 0, and a copy within it. Judge what they return, as that of a
 * kernel's launch, by runtime_judge. */
device_status runtime_start_clear(void *stream, void *memory, uint64_t bytes);
device_status runtime_start_across(void *stream, void *to, const void *from, uint64_t bytes);

/* Turns the device_status of `call` into a status and a text: OK if it is 0. */
recsort_status runtime_judge(device_status code, const char *call, recsort_error *error);

static inline recsort_status judge_launch(device_status started, recsort_error *error)
{
  return runtime_judge(started, "a kernel's launch", error);
}

/* For what the plugin cannot do: PLUGIN_ERROR, with that text. */
static inline recsort_status refuse(recsort_error *error, const char *why)
{
  (void)snprintf(error->text, sizeof error->text, "%s", why);
  return RECSORT_PLUGIN_ERROR;
}

/* ---- Several devices ---- */

/* Sets in *found, a copy of `like`, what grid plans must know of device `number`. PLUGIN_ERROR:
 * there is no such device, or it cannot run the kernels. Nothing is opened or taken. */
recsort_status runtime_look(const runtime_device *like, int number, runtime_device *found,
                            recsort_error *error);

/* Opens device `number` beside one that is open, with its limits. Its context is the primary one,
 * whichever is current. Close it by runtime_close_other. PLUGIN_ERROR: as runtime_look. Neither
 * needs a thread that has entered. An open device takes runtime_other_bytes of the host's memory.
 */
uint64_t runtime_other_bytes(void);
recsort_status runtime_open_other(const recsort_host *host, const runtime_device *like, int number,
                                  runtime_device **opened, recsort_error *error);
void runtime_close_other(const recsort_host *host, runtime_device *device);

/* Has copies from the memory of `peer` to that of `device`, which the thread has entered, go
 * straight between them, if they can. Both are from runtime_open_other. */
recsort_status runtime_reach(const runtime_device *device, const runtime_device *peer,
                             recsort_error *error);

/* Starts a copy from the memory of `peer` to that of `device`, which the thread has entered:
 * through the host if need be. */
recsort_status runtime_start_over(const runtime_device *device, void *stream, void *to,
                                  const runtime_device *peer, const void *from, uint64_t bytes,
                                  recsort_error *error);

#endif
