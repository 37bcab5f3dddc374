/* reserve.c - uses fallocate(2), not the C library's emulation, which writes. */
#include "support/reserve.h"

#include <errno.h>
#include <fcntl.h>

/* Small enough to stop quickly, and to repeat after a signal, which undoes what one call has
 * reserved. */
static const uint64_t most = 64 << 20;

static int reserve(tool_reservation *reservation)
{
  while (reservation->reserved < reservation->wanted && !reservation->stopped) {
    const uint64_t rest = reservation->wanted - reservation->reserved;
    const uint64_t part = rest < most ? rest : most;
    if (fallocate(reservation->fd, 0, (off_t)reservation->reserved, (off_t)part) == 0) {
      reservation->reserved += part;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

static void run(void *context)
{
  (void)reserve(context);
}

void tool_reservation_begin(tool_reservation *reservation, uint64_t size)
{
  reservation->wanted = size;
  rf_task_begin(&reservation->task, run, reservation);
}

int tool_reservation_complete(tool_reservation *reservation, uint64_t size)
{
  rf_task_end(&reservation->task);
  reservation->wanted = size;
  return reserve(reservation);
}

void tool_reservation_stop(tool_reservation *reservation)
{
  reservation->stopped = true;
  rf_task_end(&reservation->task);
}
