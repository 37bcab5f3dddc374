/* hybrid_plan.h - how the hybrid sort goes about a job: pure functions, for the host. */
#ifndef RECSORT_CUDA_HYBRID_PLAN_H
#define RECSORT_CUDA_HYBRID_PLAN_H

#include "cuda/plan.h"

enum {
  HYBRID_MAX_BLOCK = 512,
  HYBRID_SAMPLE_BLOCK = 2 * HYBRID_MAX_BLOCK, /* of those who choose splitters */
  HYBRID_FEW_ITEMS = 5, /* pairs a thread, where pairs are few, or many: odd (hybrid_pairs.inc) */
  HYBRID_MANY_ITEMS = 17,
  HYBRID_MOST_BUCKETS = 256, /* that a segment is split into */
  HYBRID_MAX_LEVELS = 8
};

/* By merges: tiles are sorted, then merged. By buckets: levels of splitting, then each bucket
 * sorted as a tile. A step writes all pairs once. */
typedef struct hybrid_plan {
  uint32_t block;                      /* threads, a power of two */
  uint32_t items;                      /* pairs a thread */
  uint32_t levels;                     /* 0: by merges */
  uint32_t buckets[HYBRID_MAX_LEVELS]; /* that a segment is split into */
  uint32_t sample_block;               /* threads and their pairs that sort a segment's sample */
  uint32_t sample_items;
  uint32_t steps;
} hybrid_plan;

/* One pair behind the last is read, but not used. */
static inline uint64_t hybrid_shared_bytes(uint64_t tile)
{
  return (tile + 1) * sizeof(uint64_t);
}

static inline hybrid_plan hybrid_merges(const device_job *job, uint32_t block, uint32_t items)
{
  hybrid_plan plan = {block, items, 0, {0}, 0, 0, 1};
  for (uint64_t run = (uint64_t)block * items; run < job->count; run *= 2)
    plan.steps++;
  return plan;
}

/* The least b with b to the power of `levels` at least `buckets`. */
static inline uint64_t hybrid_root_up(uint64_t buckets, uint32_t levels)
{
  for (uint64_t root = 1;; root++) {
    uint64_t power = 1;
    for (uint32_t level = 0; level < levels && power < buckets; level++)
      power *= root;
    if (power >= buckets) return root;
  }
}

/* At least `buckets` in all, about as many on each of as few levels as can be. `sampling`: the
 * threads of a block that sort a sample. */
static inline hybrid_plan hybrid_buckets(uint32_t block, uint32_t sampling, uint64_t buckets,
                                         uint32_t most)
{
  hybrid_plan plan = {block, HYBRID_MANY_ITEMS, 1, {0}, sampling, HYBRID_MANY_ITEMS, 0};
  for (uint64_t power = most; power < buckets; power *= most)
    plan.levels++;
  for (uint32_t level = 0; level < plan.levels; level++) {
    plan.buckets[level] = (uint32_t)hybrid_root_up(buckets, plan.levels - level);
    buckets = plan_blocks(buckets, plan.buckets[level]);
  }
  plan.steps = plan.levels + 1;
  return plan;
}

/* A smaller sample, which more threads sort sooner, where it is still enough for the buckets. */
static inline hybrid_plan hybrid_sample_less(hybrid_plan plan)
{
  enum { SAMPLES = 16 }; /* for a bucket, at least */
  if (2 * plan.sample_block * HYBRID_FEW_ITEMS < SAMPLES * plan.buckets[0]) return plan;
  plan.sample_block *= 2;
  plan.sample_items = HYBRID_FEW_ITEMS;
  return plan;
}

/* The places of a level's buckets are kept every so many: those of a first level, few that all
 * blocks add to, apart, so that they do not wait for each other. */
static inline uint32_t hybrid_stride(const hybrid_plan *plan, uint32_t level)
{
  return plan->levels > 1 && level == 0 ? 8 : 1;
}

/* The fewer samples a splitter is chosen from, and the more levels there are, the more the buckets
 * differ, and the smaller they must be on the average for none to be larger than a tile. */
static inline hybrid_plan hybrid_many(uint64_t count, uint32_t block, uint32_t sampling)
{
  enum { FEW_BUCKETS = 60, SOME_BUCKETS = 100 };
  const uint64_t tile = (uint64_t)block * HYBRID_MANY_ITEMS;
  hybrid_plan plan =
      hybrid_buckets(block, sampling, plan_blocks(count, 4 * tile / 7), HYBRID_MOST_BUCKETS);
  if (plan.levels == 2 && plan.buckets[0] <= FEW_BUCKETS) return hybrid_sample_less(plan);
  plan = hybrid_buckets(block, sampling, plan_blocks(count, tile / 2), HYBRID_MOST_BUCKETS);
  const bool less = plan.levels == 1 || plan.buckets[0] <= SOME_BUCKETS;
  return less ? hybrid_sample_less(plan) : plan;
}

/* Few pairs whose keys do not fit beside a place: to find what varies, to repair and to unpack
 * would take longer than to rank whole keys. */
static inline bool hybrid_ranks(const device_job *job)
{
  const uint64_t most = UINT64_C(1) << (job->key_width == 128 ? 16 : 17);
  return !job->tile && job->count <= most;
}

/* It costs a wait, and many pairs must be worth that. */
static inline bool hybrid_looks(const device_job *job)
{
  return job->count >= (job->tile ? 2 : 1 << 23);
}

/* Few pairs are sorted soonest by many threads that have little to do. Jobs that ask for a tile are
 * tests, which want all of it, large buckets too, on few pairs. */
static inline hybrid_plan hybrid_plan_of(const device_job *job)
{
  enum { SMALL_COUNT = 1 << 18, SMALL_BLOCK = 256, FEW_TILES = 2, TEST_BUCKETS = 7 };
  uint32_t block = job->block ? plan_block(job) : HYBRID_MAX_BLOCK;
  while (block > 4 && hybrid_shared_bytes(block * HYBRID_MANY_ITEMS) > job->shared_bytes)
    block /= 2;
  const uint64_t tile = (uint64_t)block * HYBRID_MANY_ITEMS;
  if (job->tile && job->count <= FEW_TILES * tile)
    return hybrid_merges(job, block, HYBRID_MANY_ITEMS);
  if (job->tile)
    return hybrid_buckets(block, block, plan_blocks(job->count, tile + tile / 2), TEST_BUCKETS);
  if (job->count <= SMALL_COUNT)
    return hybrid_merges(job, block < SMALL_BLOCK ? block : SMALL_BLOCK, HYBRID_FEW_ITEMS);
  const hybrid_plan plan = hybrid_many(job->count, block, block),
                    small = hybrid_many(job->count, block / 2, block);
  return small.levels == plan.levels ? small : plan; /* more blocks at once on a multiprocessor */
}

#endif
