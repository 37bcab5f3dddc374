/* room.c - fallocate(2), never the C library's emulation, which writes. */
#include "support/room.h"

#include <errno.h>
#include <fcntl.h>

/* Small enough to be stopped soon, and to be done again after a signal, which makes the kernel give
 * back what it has found in one call. */
static const uint64_t step = 64 << 20;

static int find_room(tool_room *room)
{
  while (room->found < room->wanted && !room->stopped) {
    const uint64_t rest = room->wanted - room->found, part = rest < step ? rest : step;
    if (fallocate(room->fd, 0, (off_t)room->found, (off_t)part) == 0) {
      room->found += part;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

static void run(void *context)
{
  (void)find_room(context);
}

void tool_room_begin(tool_room *room, uint64_t size)
{
  room->wanted = size;
  tool_task_begin(&room->task, run, room);
}

int tool_room_complete(tool_room *room, uint64_t size)
{
  tool_task_end(&room->task);
  room->wanted = size;
  return find_room(room);
}

void tool_room_stop(tool_room *room)
{
  room->stopped = true;
  tool_task_end(&room->task);
}
