/* plan.h - how the merge sort divides a job: pure functions, for the host. */
#ifndef RECSORT_CUDA_MERGE_PLAN_H
#define RECSORT_CUDA_MERGE_PLAN_H

#include "base/assert.h"
#include "cuda/plan.h"
#include "cuda/sort/sample/merge_plan.h"
#include "gpu/device_merge.h"

enum {
  MERGE_CHUNK_BLOCK = 512, /* threads that sort a chunk, at most */
  MERGE_CHUNK_ITEMS = 9,   /* keys of each: odd, so that the threads of a warp, which each read as
                              many neighbours, read different banks of shared memory */
  MERGE_TILE_BLOCK = 256,  /* threads that merge a tile, at most */
  MERGE_LEAST_BLOCK = 64   /* two warps: one for each end of a tile */
};

typedef struct merge_plan {
  uint32_t chunk_block; /* threads of a block that sorts a chunk: a power of two */
  uint32_t chunk;       /* keys of a chunk */
  uint32_t tile_block;  /* threads of a block that merges a tile */
  uint32_t tile;        /* pairs of a tile */
} merge_plan;

/* Shared memory of a block that sorts a chunk: an element for each key. */
static inline uint64_t merge_chunk_bytes(const merge_plan *plan)
{
  return plan->chunk * sizeof(uint32_t);
}

/* Shared memory of a block that merges a tile: pairs, digests and one behind the last, ranks. */
static inline uint64_t merge_tile_bytes(const merge_plan *plan, uint32_t pair_bytes)
{
  return plan->tile * (pair_bytes + sizeof(uint32_t) + sizeof(uint16_t)) + sizeof(uint32_t);
}

static inline uint64_t merge_asked_block(const device_job *job)
{
  return job->block ? plan_block(job) : (uint32_t)MERGE_CHUNK_BLOCK;
}

static inline uint32_t merge_chunk_block(const device_job *job)
{
  const uint64_t sorters = 2 * plan_power_below(plan_blocks(job->count, MERGE_CHUNK_ITEMS));
  return (uint32_t)plan_clamp(plan_min(merge_asked_block(job), sorters), MERGE_LEAST_BLOCK,
                              MERGE_CHUNK_BLOCK);
}

/* Chunks as large as they can be, as each pass costs a kernel; tiles smaller where there are few
 * pairs, so that every multiprocessor has one. `tile_items`: pairs of a thread that merges. */
static inline merge_plan merge_plan_of(const device_job *job, uint32_t tile_items,
                                       uint32_t pair_bytes)
{
  RS_ASSERT(job->multiprocessors > 0 && tile_items > 0);
  const uint64_t asked = merge_asked_block(job);
  const uint64_t mergers = plan_power_below(job->count / tile_items / job->multiprocessors + 1);
  merge_plan plan;
  plan.chunk_block = merge_chunk_block(job);
  plan.chunk = plan.chunk_block * MERGE_CHUNK_ITEMS;
  plan.tile_block =
      (uint32_t)plan_clamp(plan_min(asked, mergers), MERGE_LEAST_BLOCK, MERGE_TILE_BLOCK);
  plan.tile = plan.tile_block * tile_items;
  while (plan.tile_block > MERGE_LEAST_BLOCK &&
         merge_tile_bytes(&plan, pair_bytes) > job->shared_bytes) {
    plan.tile_block /= 2;
    plan.tile /= 2;
  }
  RS_ASSERT(plan.tile == plan.tile_block * tile_items);
  return plan;
}

/* ---- Merges that move records ---- */

typedef struct move_plan {
  uint32_t block; /* threads */
  uint32_t tile;  /* the most records of a tile */
} move_plan;

/* Shared memory of a block: a warp's samples of each run, and two elements a record. */
static inline uint64_t move_bytes(const move_plan *plan, uint32_t key_bytes)
{
  enum { WARP = 32 };
  return DEVICE_MOVED_RUNS * WARP * key_bytes + 2 * plan->tile * sizeof(uint32_t);
}

/* A round merges at most half as many lists of two as there are runs, each with a thread that has
 * fewer than `items` records. */
static inline move_plan move_plan_of(const device_job *job, uint32_t items, uint32_t key_bytes)
{
  move_plan plan = {merge_plan_of(job, items, 0).tile_block, 0};
  for (;; plan.block /= 2) {
    plan.tile = items * (plan.block - DEVICE_MOVED_RUNS / 2);
    if (plan.block <= MERGE_LEAST_BLOCK || move_bytes(&plan, key_bytes) <= job->shared_bytes)
      return plan;
  }
}

/* ---- The last pass ---- */

/* The width of the runs that the last pass merges all at once. It reads and writes each pair once,
 * where the passes of two runs that it replaces do so six times. job->count: there is no
 * such pass. */
static inline uint64_t merge_last_width(const device_job *job, sample_traits traits, uint32_t chunk)
{
  RS_ASSERT(chunk > 0);
  uint64_t width = chunk;
  while (width < job->count && !sample_merges_pairs(job, traits, plan_blocks(job->count, width)))
    width *= 2;
  return plan_min(width, job->count);
}

#endif
