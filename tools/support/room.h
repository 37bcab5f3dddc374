/* room.h - room for a file that will be written, found ahead by a thread of its own. */
#ifndef TOOL_ROOM_H
#define TOOL_ROOM_H

#include "support/task.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* All zero, but for `fd`: none yet. */
typedef struct tool_room {
  int fd;
  uint64_t wanted; /* bytes from the file's start */
  uint64_t found;  /* of these; known once the task has ended */
  atomic_bool stopped;
  tool_task task;
} tool_room;

/* Begins to find room for the first `size` bytes. That it failed is known when it is completed. The
 * room must stay where it is until it is completed or stopped. */
void tool_room_begin(tool_room *room, uint64_t size);
/* Waits, and finds what is still missing for `size` bytes: 0 or an error number. The file then has
 * at least that size, and to write there needs no more room. */
int tool_room_complete(tool_room *room, uint64_t size);
/* Waits for the thread, which finds no more. */
void tool_room_stop(tool_room *room);

#endif
