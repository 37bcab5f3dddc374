/* staging.h - between the caller's memory and the device's.
 *
 * The device copies soonest from and to pinned memory. A ring of a little of it stands between:
 * each of several lanes, a host thread each, moves every so many-th piece through two slots, so
 * that one is copied by the thread while the device copies the other. What is done with a piece on
 * the device follows it there on the slot's stream: keys are made while the next piece comes up,
 * records gathered while the last one goes down.
 *
 *   up      caller's memory --thread--> slot --device--> device memory --step--> ...
 *   down    ... --step--> device memory --device--> slot --thread--> caller's memory
 */
#ifndef RECSORT_GPU_STAGING_H
#define RECSORT_GPU_STAGING_H

#include "gpu/device_sort.h"
#include "gpu/runtime.h"
#include "recsort/team.h"

/* Bytes of a slot; with smaller ones the link is idle more often. */
#ifndef STAGING_PIECE
#define STAGING_PIECE (1 << 21)
#endif

enum { STAGING_MAX_LANES = 6, STAGING_SLOTS = 3 };

typedef struct staging_slot {
  void *stream;
  char *pinned;
} staging_slot;

/* Zeroed at first, but for the device. Keeps what it took for the next time. */
typedef struct staging {
  const runtime_device *device; /* that each lane's thread enters */
  void *memory;                 /* pinned */
  unsigned lanes;
  staging_slot slots[STAGING_MAX_LANES][STAGING_SLOTS];
} staging;

/* Starts work on elements [first, first + count), which are or are to be at `at`, on a stream. */
typedef device_status staging_step(const void *context, uint64_t first, uint64_t count, void *at,
                                   void *stream);

typedef struct staging_copy {
  const void *from; /* up: the caller's; down: the device's, NULL: the step makes each piece */
  void *to;         /* up: the device's; down: the caller's */
  uint64_t count;
  uint64_t element;   /* bytes, at most STAGING_PIECE */
  char *room;         /* where the step makes pieces: staging_room() bytes of the device's */
  staging_step *step; /* NULL: nothing */
  const void *context;
} staging_copy;

/* Lanes that are of use, and the bytes of the device's memory that they need for pieces. */
unsigned staging_lanes(uint64_t count, uint64_t element, unsigned threads);
uint64_t staging_room(uint64_t count, uint64_t element, unsigned threads);

/* Takes the pinned memory and the streams for that many lanes. */
recsort_plugin_status staging_reserve(staging *ring, unsigned lanes, recsort_plugin_error *error);
void staging_close(staging *ring);

/* Both work by a team of host threads, with the lanes that were reserved, and return once all is
 * where it belongs. What was started on other streams before must be done. If one fails, nothing of
 * it is under way any more. */
recsort_plugin_status staging_up(staging *ring, const staging_copy *copy, team t,
                                 recsort_plugin_error *error);
recsort_plugin_status staging_down(staging *ring, const staging_copy *copy, team t,
                                   recsort_plugin_error *error);

#endif
