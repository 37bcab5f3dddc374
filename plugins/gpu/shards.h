/* shards.h - a sort of several shards (shards.c), the search for where they are cut
 * (shard_cuts.c), and steps of all their devices (shard_seats.c). */
#ifndef RECSORT_GPU_SHARDS_H
#define RECSORT_GPU_SHARDS_H

#include "base/assert.h"
#include "gpu/device_shards.h"
#include "gpu/gpu_plugin.h"

/* The memory of a shard, in this order, and its bytes without those of the sort: its records,
 * sorted; their keys, if these are not words of the records; and what the sort works in. When all
 * shards are sorted, this is for the records that come from other devices, and behind them for
 * their keys, or for the pairs of a merge that moves no records. */
typedef struct gpu_seat_rooms {
  uint64_t keys, work, received_keys, bytes;
} gpu_seat_rooms;

/* A shard's device, with streams for it alone, and its part of the sort that is under way. */
typedef struct gpu_seat {
  runtime_device *device;
  void *streams[2]; /* the device's, and another one */
  void *pinned;
  device_range *ranges; /* pinned: of each cut */
  uint64_t *ends;       /* pinned: of device_find_ends */
  uint32_t *status;     /* pinned: of the shard's sort */
  recsort_job job;
  uint64_t first, wanted; /* records of the sort: those in front of this shard's, and these */
  gpu_seat_rooms rooms;
  char *memory;
  device_sorted_keys sorted;
} gpu_seat;

/* A part is what a merge makes: one of `parts` equal ones of each shard, numbered in the order of
 * all.
 */
typedef struct gpu_shards {
  uint64_t bytes; /* of this struct and its arrays */
  uint32_t count; /* of seats */
  gpu_seat *seats;
  int *devices;   /* their numbers */
  uint64_t *cuts; /* cuts[p * count + s]: how many records of sorted shard s go to parts before p,
                   * for p from 0 to the number of parts */
  /* Of the sort that is under way: */
  const recsort_key_program *program;
  uint32_t algorithm, index_bits, key_width, parts;
  bool are_words; /* keys are made of words of the records */
  bool has_heads; /* which say how many records each gets */
} gpu_shards;

/* The first record of a part in the order of all. */
static inline uint64_t gpu_part_first(const gpu_shards *shards, uint32_t part)
{
  const gpu_seat *const last = &shards->seats[shards->count - 1];
  if (part == shards->count * shards->parts) return last->first + last->wanted;
  const gpu_seat *const seat = &shards->seats[part / shards->parts];
  return seat->first + seat->wanted / shards->parts * (part % shards->parts);
}

/* How many records go from shard s to a part. */
static inline uint64_t gpu_piece_count(const gpu_shards *shards, uint32_t s, uint32_t part)
{
  RS_ASSERT(s < shards->count && part < shards->count * shards->parts);
  return shards->cuts[(uint64_t)(part + 1) * shards->count + s] -
         shards->cuts[(uint64_t)part * shards->count + s];
}

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

/* The most parts of a sort of so many shards. */
uint32_t gpu_most_parts(uint32_t shards);

/* The bytes of pinned memory that a seat needs for its cuts; and the division of these bytes into
 * arrays. */
uint64_t gpu_cuts_bytes(uint32_t shards);
void gpu_divide_cuts(gpu_seat *seat, uint32_t shards);

/* Fills in shards->cuts, so that each part gets its records of the order of all: of equal keys
 * those of the first shards come first, and of a shard those in front. Waits. */
recsort_status gpu_find_cuts(gpu_shards *shards, recsort_error *error);

#endif
