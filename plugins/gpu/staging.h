/* staging.h - copies between the caller's memory and the device's.
 *
 * Copies are fastest with pinned memory, so they go through a small ring of it. Each of several
 * couriers, one for each host thread, moves its share of the pieces through STAGING_SLOTS slots:
 * the thread copies one while the device copies another. Each slot has a stream, on which a step on
 * the device follows or precedes the copy of a piece: keys are made while the next piece comes up,
 * and records are gathered while the previous one goes down.
 *
 *   up      caller's memory --thread--> slot --device--> device memory --step--> ...
 *   down    ... --step--> device memory --device--> slot --thread--> caller's memory
 */
#ifndef RECSORT_GPU_STAGING_H
#define RECSORT_GPU_STAGING_H

#include "gpu/device_sort.h"
#include "gpu/runtime.h"
#include "recsort/team.h"

/* Bytes of a slot; with smaller slots the link is idle more often. */
#ifndef STAGING_PIECE
#define STAGING_PIECE (1 << 21)
#endif

enum { STAGING_MAX_COURIERS = 6, STAGING_SLOTS = 3 };

typedef struct staging_slot {
  void *stream;
  char *pinned;
} staging_slot;

/* Zero it and set `device` before the first use. Keeps what it allocated for the next use. */
typedef struct staging {
  const runtime_device *device; /* each courier's thread enters it */
  void *memory;                 /* pinned */
  unsigned couriers;
  staging_slot slots[STAGING_MAX_COURIERS][STAGING_SLOTS];
} staging;

/* Starts work on a stream on elements [first, first + count), which are or will be at `at`. */
typedef device_status staging_step(const void *context, uint64_t first, uint64_t count, void *at,
                                   void *stream);

typedef struct staging_copy {
  const void *from; /* up: the caller's; down: the device's; NULL: the step makes each piece */
  void *to;         /* up: the device's; down: the caller's */
  uint64_t count;
  uint64_t element;   /* bytes, at most STAGING_PIECE */
  char *room;         /* device memory where the step makes pieces: staging_room() bytes */
  staging_step *step; /* NULL: none */
  const void *context;
} staging_copy;

/* The number of couriers that are worth using, and the bytes of device memory for their pieces. */
unsigned staging_couriers(uint64_t count, uint64_t element, unsigned threads);
uint64_t staging_room(uint64_t count, uint64_t element, unsigned threads);

/* Allocates the pinned memory and the streams of that many couriers. */
recsort_status staging_reserve(staging *ring, unsigned couriers, recsort_error *error);
void staging_close(staging *ring);

/* Copy with a team of host threads and the reserved couriers, and return when all is copied.
 * Earlier work on other streams must be finished. If they fail, no work is left in progress. */
recsort_status staging_up(staging *ring, const staging_copy *copy, team t, recsort_error *error);
recsort_status staging_down(staging *ring, const staging_copy *copy, team t, recsort_error *error);

#endif
