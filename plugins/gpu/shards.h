/* shards.h - a sort of several shards (shards.c), the search for where they are cut
 * (shard_cuts.c), and steps of all their devices (shard_lanes.c). */
#ifndef RECSORT_GPU_SHARDS_H
#define RECSORT_GPU_SHARDS_H

#include "gpu/device_shards.h"
#include "gpu/gpu_plugin.h"

/* A shard's device, with a stream and memory for it alone. */
typedef struct gpu_lane {
  gpu_instance own;
  uint64_t most;       /* records */
  uint64_t pairs;      /* bytes before those of a sort: the keys that it receives */
  uint64_t pair_bytes; /* of a sort */
  uint64_t front;      /* bytes before the records that it receives */
  char *room;          /* for what is on its way to a device that kernels cannot write to */
  bool *reaches;       /* for each lane, whether this one's kernels can write there */
  void *pinned;
  device_range *ranges;      /* pinned: of each cut */
  uint64_t *ends;            /* pinned: of device_find_ends */
  device_sorted_keys sorted; /* by the sort that is under way, */
  records_order order;       /* with the records they belong to */
} gpu_lane;

typedef struct gpu_shards {
  uint64_t bytes; /* of this struct and its arrays */
  uint32_t count; /* of lanes */
  uint32_t algorithm, index_bits, key_width;
  uint64_t record_size;
  gpu_lane *lanes;
  uint64_t *cuts;   /* cuts[c * count + s]: how many records of sorted shard s go to shards before
                     * c, for c from 0 to count */
  uint64_t *bounds; /* of the runs of a merge: count + 1 */
  bool *reaches;
} gpu_shards;

/* ---- Lanes (shard_lanes.c) ---- */

/* A step of a lane, by a thread that has entered its device. */
typedef recsort_plugin_status lane_step(gpu_shards *shards, uint32_t lane, void *context,
                                        recsort_plugin_error *error);

/* Has each lane take a step; stops at the first error, whose text gets the shard's number. */
recsort_plugin_status gpu_each_lane(gpu_shards *shards, lane_step *step, void *context,
                                    recsort_plugin_error *error);

/* Waits for the streams of all lanes. */
recsort_plugin_status gpu_wait_for_lanes(gpu_shards *shards, recsort_plugin_error *error);

/* Adds a shard's number to an error's text. */
void gpu_name_shard(uint32_t s, recsort_plugin_error *error);

/* ---- Cuts (shard_cuts.c) ---- */

/* The bytes of pinned memory of a lane, and what it is divided into. */
uint64_t gpu_cuts_bytes(uint32_t shards);
void gpu_divide_cuts(gpu_lane *lane, uint32_t shards);

/* Fills in shards->cuts, so that shard c gets `wanted` records of the order of all: of equal keys
 * those of the first shards come first, and of a shard those in front. Waits. */
recsort_plugin_status gpu_find_cuts(gpu_shards *shards, const recsort_plugin_shard *given,
                                    uint32_t key_bits, recsort_plugin_error *error);

#endif
