/* reserve.h - reserves the space of a file before it is written, in a separate thread. */
#ifndef TOOL_RESERVE_H
#define TOOL_RESERVE_H

#include "files/task.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Zero it and set `fd` before use. */
typedef struct tool_reservation {
  int fd;
  uint64_t wanted;   /* bytes from the file's start */
  uint64_t reserved; /* bytes reserved; valid once the task has ended */
  atomic_bool stopped;
  rf_task task;
} tool_reservation;

/* Starts to reserve the first `size` bytes. tool_reservation_complete reports failures. The struct
 * must not move until it is completed or stopped. */
void tool_reservation_begin(tool_reservation *reservation, uint64_t size);
/* Waits, and reserves what is missing of `size` bytes. Returns 0 or an error number. On success the
 * file has at least that size, and writing to it needs no more space. */
int tool_reservation_complete(tool_reservation *reservation, uint64_t size);
/* Waits for the thread, which reserves no more. */
void tool_reservation_stop(tool_reservation *reservation);

#endif
