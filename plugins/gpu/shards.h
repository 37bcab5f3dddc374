/* shards.h - a sort of several shards (shards.c), the search for where they are cut
 * (shard_cuts.c), and steps of all their devices (shard_seats.c). */
#ifndef RECSORT_GPU_SHARDS_H
#define RECSORT_GPU_SHARDS_H

#include "gpu/device_shards.h"
#include "gpu/gpu_plugin.h"

/* The memory of a shard, in this order, and its bytes: the keys that it receives, if it can; the
 * pairs of the sort, which begin at `pairs`; the records that it receives; and what is on its way
 * to a device that kernels cannot write to. The pairs of the merge begin where the keys do, over
 * those of the sort, which are not needed any more. */
typedef struct gpu_seat_rooms {
  uint64_t pairs, records, way, bytes;
} gpu_seat_rooms;

/* A shard's device, with a stream for it alone, and its part of the sort that is under way. */
typedef struct gpu_seat {
  runtime_device *device;
  bool *reaches; /* for each seat, whether this one's kernels can write there */
  void *pinned;
  device_range *ranges; /* pinned: of each cut */
  uint64_t *ends;       /* pinned: of device_find_ends */
  recsort_job job;
  uint64_t wanted; /* records after the sort */
  gpu_seat_rooms rooms;
  char *memory;
  device_sorted_keys sorted; /* by the sort, */
  records_order order;       /* with the records they belong to */
} gpu_seat;

typedef struct gpu_shards {
  uint64_t bytes; /* of this struct and its arrays */
  uint32_t count; /* of seats */
  gpu_seat *seats;
  int *devices;     /* their numbers */
  uint64_t *cuts;   /* cuts[c * count + s]: how many records of sorted shard s go to shards before
                     * c, for c from 0 to count */
  uint64_t *bounds; /* of the runs of a merge: count + 1 */
  bool *reaches;
  /* Of the sort that is under way: */
  const recsort_key_program *program;
  uint32_t algorithm, index_bits, key_width;
  bool is_apart;  /* on several devices */
  bool has_heads; /* which say how many records each gets */
} gpu_shards;

/* `plan` and `run` of recsort_plugin_device, of several jobs; and the end of what they have opened,
 * by a thread that has entered. */
recsort_status gpu_plan_shards(const gpu_instance *self, uint32_t algorithm,
                               const recsort_key_program *program, const recsort_job *jobs,
                               size_t job_count, recsort_needs *needs, recsort_error *error);
recsort_status gpu_sort_shards(gpu_instance *self, uint32_t algorithm,
                               const recsort_key_program *program, const recsort_job *jobs,
                               size_t job_count, recsort_error *error);
void gpu_close_shards(gpu_instance *self);

/* ---- Seats (shard_seats.c) ---- */

/* A step of a seat, by a thread that has entered its device. */
typedef recsort_status seat_step(gpu_shards *shards, uint32_t seat, void *context,
                                 recsort_error *error);

/* Has each seat take a step; stops at the first error, whose text gets the shard's number. */
recsort_status gpu_each_seat(gpu_shards *shards, seat_step *step, void *context,
                             recsort_error *error);

/* Waits for the streams of all seats. */
recsort_status gpu_wait_for_seats(gpu_shards *shards, recsort_error *error);

/* Adds a shard's number to an error's text. */
void gpu_name_shard(uint32_t s, recsort_error *error);

/* ---- Cuts (shard_cuts.c) ---- */

/* The bytes of pinned memory that a seat needs for its cuts; and the division of these bytes into
 * arrays. */
uint64_t gpu_cuts_bytes(uint32_t shards);
void gpu_divide_cuts(gpu_seat *seat, uint32_t shards);

/* Fills in shards->cuts, so that each shard gets the records that it wants of the order of all: of
 * equal keys those of the first shards come first, and of a shard those in front. Waits. */
recsort_status gpu_find_cuts(gpu_shards *shards, recsort_error *error);

#endif
