/* shards.h - a sort of several shards (shards.c), the search for where they are cut
 * (shard_cuts.c), and steps of all their devices (shard_seats.c). */
#ifndef RECSORT_GPU_SHARDS_H
#define RECSORT_GPU_SHARDS_H

#include "gpu/device_shards.h"
#include "gpu/gpu_plugin.h"

/* A shard's device, with a stream and memory for it alone. */
typedef struct gpu_seat {
  gpu_instance own;
  uint64_t most;       /* records */
  uint64_t pairs;      /* bytes before those of a sort: the keys that it receives */
  uint64_t pair_bytes; /* of a sort */
  uint64_t front;      /* bytes before the records that it receives */
  char *room;          /* for what is on its way to a device that kernels cannot write to */
  bool *reaches;       /* for each seat, whether this one's kernels can write there */
  void *pinned;
  device_range *ranges;      /* pinned: of each cut */
  uint64_t *ends;            /* pinned: of device_find_ends */
  device_sorted_keys sorted; /* by the sort that is under way, */
  records_order order;       /* with the records they belong to */
} gpu_seat;

typedef struct gpu_shards {
  uint64_t bytes; /* of this struct and its arrays */
  uint32_t count; /* of seats */
  uint32_t algorithm, index_bits, key_width;
  uint64_t record_size;
  gpu_seat *seats;
  uint64_t *cuts;   /* cuts[c * count + s]: how many records of sorted shard s go to shards before
                     * c, for c from 0 to count */
  uint64_t *bounds; /* of the runs of a merge: count + 1 */
  bool *reaches;
} gpu_shards;

/* ---- Seats (shard_seats.c) ---- */

/* A step of a seat, by a thread that has entered its device. */
typedef recsort_plugin_status seat_step(gpu_shards *shards, uint32_t seat, void *context,
                                        recsort_plugin_error *error);

/* Has each seat take a step; stops at the first error, whose text gets the shard's number. */
recsort_plugin_status gpu_each_seat(gpu_shards *shards, seat_step *step, void *context,
                                    recsort_plugin_error *error);

/* Waits for the streams of all seats. */
recsort_plugin_status gpu_wait_for_seats(gpu_shards *shards, recsort_plugin_error *error);

/* Adds a shard's number to an error's text. */
void gpu_name_shard(uint32_t s, recsort_plugin_error *error);

/* ---- Cuts (shard_cuts.c) ---- */

/* The bytes of pinned memory that a seat needs for its cuts; and the division of these bytes into
 * arrays. */
uint64_t gpu_cuts_bytes(uint32_t shards);
void gpu_divide_cuts(gpu_seat *seat, uint32_t shards);

/* Fills in shards->cuts, so that shard c gets `wanted` records of the order of all: of equal keys
 * those of the first shards come first, and of a shard those in front. Waits. */
recsort_plugin_status gpu_find_cuts(gpu_shards *shards, const recsort_plugin_shard *given,
                                    uint32_t key_bits, recsort_plugin_error *error);

#endif
