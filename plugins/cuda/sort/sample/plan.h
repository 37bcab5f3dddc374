/* plan.h - how the sample sort divides a job: pure functions, for the host. */
#ifndef RECSORT_CUDA_SAMPLE_PLAN_H
#define RECSORT_CUDA_SAMPLE_PLAN_H

#include "base/assert.h"
#include "cuda/plan.h"

#ifndef SAMPLE_LEAST_DECIDED
#define SAMPLE_LEAST_DECIDED (1 << 21)
#endif
#ifndef SAMPLE_MOST_SMALL
#define SAMPLE_MOST_SMALL (16 << 10)
#endif
#ifndef SAMPLE_MOST_ALONE
#define SAMPLE_MOST_ALONE 2048
#endif
#ifndef SAMPLE_RUN
#define SAMPLE_RUN 512
#endif

enum {
  SAMPLE_BIN_GROUP = 4, /* adjacent bins that a thread handles at a time */
  SAMPLE_TILE_BLOCK = 512,
  SAMPLE_SPLITTER_BLOCK = 1024,
  SAMPLE_RANK_BLOCK = 512,
  SAMPLE_WARP_RANKED = 2,     /* pairs that a warp ranks */
  SAMPLE_SCATTER_BLOCK = 512, /* threads of a block that counts or scatters */
  SAMPLE_SCATTER_ITEMS = 8,   /* pairs of each of its threads */
  SAMPLE_MOST_BUCKETS = 1024, /* two for each thread */
  SAMPLE_ENDS_STRIDE = 8      /* words between the ends of buckets, which all blocks add to */
};

/* The parameters of plans. Tests point device_job.tuning to others, to reach every kernel with few
 * pairs. */
typedef struct sample_tuning {
  uint64_t most_small;      /* the most pairs that are ranked */
  uint64_t most_small_wide; /* the same for keys of more than 64 bits */
  uint64_t most_alone;      /* the most ranked pairs that make a single run */
  uint64_t run;             /* keys of a run, if there are several */
  uint64_t least_detected;  /* the fewest pairs whose order is detected, which costs a wait */
  uint64_t least_decided;   /* the same where the device decides, which costs no wait */
  uint64_t least_merged;    /* the fewest keys whose sorted runs are merged, not sorted */
  uint32_t drop_share;      /* at most one in so many keys may be dropped */
  uint32_t limit;           /* a bin with more pairs may be overfull */
  bool asked;               /* true: sorts of many pairs use the members below */
  bool padded;              /* pairs go to padded buckets; false: they never do */
  bool searched;            /* which are looked up without a table */
  uint32_t tile;            /* the most pairs of a tile */
} sample_tuning;

static inline sample_tuning sample_default_tuning(void)
{
  sample_tuning usual = {0};
  usual.most_small = SAMPLE_MOST_SMALL;
  usual.most_small_wide = 8 << 10;
  usual.most_alone = SAMPLE_MOST_ALONE;
  usual.run = SAMPLE_RUN;
  usual.least_detected = 1 << 23;
  usual.least_decided = SAMPLE_LEAST_DECIDED;
  usual.least_merged = 1 << 22;
  usual.drop_share = 16;
  usual.limit = 32;
  return usual;
}

static inline sample_tuning sample_tuning_of(const device_job *job)
{
  return job->tuning ? *(const sample_tuning *)job->tuning : sample_default_tuning();
}

/* True if the pairs are few enough to be ranked. */
static inline bool sample_is_small(const device_job *job)
{
  const sample_tuning tuning = sample_tuning_of(job);
  return job->count <= (job->key_width > 64 ? tuning.most_small_wide : tuning.most_small);
}

/* The way in which few pairs, or a sample of many, are ranked. */
typedef struct sample_ranking {
  uint32_t block;    /* threads; a warp at least */
  uint32_t run_bits; /* a run has 2^run_bits keys, at least WARP_SIZE */
  bool alone;        /* there is one run */
} sample_ranking;

static inline sample_ranking sample_ranking_of(const device_job *job, uint64_t count)
{
  enum { ALONE_BLOCK = 256, KEY_BYTES = 16 };
  const sample_tuning tuning = sample_tuning_of(job);
  RS_ASSERT(job->shared_bytes >= KEY_BYTES);
  const uint64_t most = plan_power_below(job->shared_bytes / KEY_BYTES);
  const uint64_t most_alone = plan_min(most, tuning.most_alone);
  const bool alone = count <= most_alone;
  const uint32_t asked = job->block ? plan_block(job) : (uint32_t)SAMPLE_RANK_BLOCK;
  const uint32_t most_threads = alone ? (uint32_t)ALONE_BLOCK : (uint32_t)SAMPLE_RANK_BLOCK;
  const sample_ranking how = {
      (uint32_t)plan_clamp(asked, WARP_SIZE, most_threads),
      (uint32_t)__builtin_ctzll(alone ? most_alone : plan_min(most, tuning.run)), alone};
  RS_ASSERT(how.block % WARP_SIZE == 0 && UINT32_C(1) << how.run_bits >= WARP_SIZE);
  return how;
}

static inline uint64_t sample_rank_blocks(const sample_ranking *how, uint64_t count)
{
  RS_ASSERT(how->block >= WARP_SIZE);
  return plan_blocks(count, how->block / WARP_SIZE * SAMPLE_WARP_RANKED);
}

/* The fences of all runs: WARP_SIZE for each, or none if there is one run. */
static inline uint64_t sample_fences(const sample_ranking *how, uint64_t count)
{
  return how->alone ? 0 : plan_blocks(count, UINT64_C(1) << how->run_bits) * WARP_SIZE;
}

typedef struct sample_plan {
  uint32_t block;         /* threads that sort a tile: a power of two, a warp at least */
  uint32_t scatter_block; /* threads that scatter */
  uint32_t tile;          /* the most pairs of a tile */
  uint32_t limit;         /* a bin with more pairs may be overfull */
  uint32_t samples;
  uint32_t scattered; /* pairs of a block that scatters */
  uint32_t capacity;  /* pairs of a padded bucket, which is a tile */
  uint32_t bins;      /* entries of a table for each bucket */
  bool searched;      /* buckets are found without a table */
  uint32_t buckets;   /* 0: there is no such plan */
} sample_plan;

/* A type of pair, and how a block sorts a tile of it. */
typedef struct sample_traits {
  uint32_t pair_bytes;
  uint32_t items; /* the most pairs of a thread */
  uint32_t bins;  /* bins of a thread */
} sample_traits;

/* Shared memory of a block that sorts a tile: pairs, tags, and bins with one behind the last. */
static inline uint64_t sample_tile_bytes(uint32_t block, sample_traits traits)
{
  RS_ASSERT(block > 0 && traits.items > 0);
  const uint64_t pairs = (uint64_t)block * traits.items * (traits.pair_bytes + sizeof(uint32_t));
  return pairs + ((uint64_t)block * traits.bins + 4) * sizeof(uint32_t);
}

/* The same with a bound between pairs. */
static inline uint64_t sample_bounded_bytes(uint32_t block, sample_traits traits)
{
  return sample_tile_bytes(block, traits) + traits.pair_bytes;
}

/* The same with splitters: room for what a block that scatters has in their place. */
static inline uint64_t sample_block_bytes(uint32_t block, sample_traits traits)
{
  return sample_tile_bytes(block, traits) + SAMPLE_MOST_BUCKETS * traits.pair_bytes;
}

/* Entries of the lookup table: a multiple of 8. */
static inline uint32_t sample_table_bins(const sample_plan *plan)
{
  enum { MOST = 12 }; /* for each thread */
  return (uint32_t)plan_min(plan->bins * plan->buckets, MOST * plan->scatter_block);
}

/* The host has to learn what was detected, or the device decides. */
static inline bool sample_detects_order(const device_job *job)
{
  const sample_tuning tuning = sample_tuning_of(job);
  return job->count >= (job->mailbox ? tuning.least_detected : tuning.least_decided);
}

/* The most keys that a drop-merge may drop. With more, an ordinary sort is faster. */
static inline uint64_t sample_most_dropped(const device_job *job)
{
  RS_ASSERT(sample_tuning_of(job).drop_share > 0);
  return job->count / sample_tuning_of(job).drop_share;
}

/* The most pairs of a tile that is filled: one with many more pairs than bins would be slow. */
static inline uint32_t sample_joined(const sample_plan *plan, sample_traits traits)
{
  return (uint32_t)plan_min(plan->tile, plan->block * (traits.bins + traits.bins / 4));
}

/* Pairs of a block that scatters: if possible, so few that each multiprocessor gets two blocks. */
static inline uint32_t sample_scattered(const sample_plan *plan, const device_job *job)
{
  const uint64_t most = (uint64_t)plan->scatter_block * SAMPLE_SCATTER_ITEMS;
  const uint64_t blocks = 2 * (uint64_t)plan->scatter_block * job->multiprocessors;
  return (uint32_t)plan_min(plan->scatter_block * plan_blocks(job->count, blocks), most);
}

/* Plans padded buckets: each has space for several times its expected pairs, and enough samples
 * that at most about 2 in 1000 sorts have a bucket that overflows (the tail of a gamma
 * distribution). Leaves the plan alone if that would take too much memory. */
static inline void sample_set_padded(sample_plan *plan, sample_traits traits, const device_job *job)
{
  enum { LEAST = 256, MOST = 1024, BUCKETS = 256, MOST_ROOM = 60 << 20 /* bytes */ };
  enum { SPARE = 8, LEAST_SPARE = 3, SAMPLES = 4 };
  uint32_t each = LEAST;
  while (each < MOST && plan_blocks(job->count, each) > BUCKETS)
    each *= 2;
  const uint64_t buckets = plan_blocks(job->count, each);
  const uint64_t block = plan_min(plan->block, SPARE * each / traits.items);
  const uint64_t capacity =
      plan_min(block * traits.items, MOST_ROOM / (buckets * traits.pair_bytes));
  if (buckets > 2 * plan->scatter_block || capacity < LEAST_SPARE * each) return;
  plan->block = (uint32_t)block;
  plan->tile = plan->capacity = (uint32_t)capacity;
  plan->buckets = (uint32_t)buckets;
  plan->samples = plan->buckets * (capacity >= SPARE * each ? SAMPLES : 2 * SAMPLES);
  plan->scattered = sample_scattered(plan, job);
  plan->searched = buckets <= BUCKETS;
}

/* Plans with the sizes that a test's tuning asks for. */
static inline void sample_set_asked(sample_plan *plan, const device_job *job)
{
  const sample_tuning tuning = sample_tuning_of(job);
  if (!tuning.padded) return;
  plan->tile = plan->capacity = (uint32_t)plan_min(plan->tile, tuning.tile);
  const uint64_t buckets = plan_max(plan_blocks(job->count, plan->tile / 2), 2);
  plan->buckets = (uint32_t)plan_min(buckets, 2 * plan->scatter_block);
  plan->samples = 2 * plan->buckets;
  plan->scattered = sample_scattered(plan, job);
  plan->searched = tuning.searched;
}

/* The part of a plan that does not depend on the number of pairs: how blocks sort tiles. */
static inline sample_plan sample_plan_of_tiles(const device_job *job, sample_traits traits)
{
  enum { STATIC = 6 << 10 /* bytes */ };
  const sample_tuning tuning = sample_tuning_of(job);
  const uint32_t asked = job->block ? plan_block(job) : (uint32_t)SAMPLE_TILE_BLOCK;
  sample_plan plan = {0};
  plan.block = (uint32_t)plan_clamp(asked, WARP_SIZE, SAMPLE_TILE_BLOCK);
  while (plan.block > WARP_SIZE &&
         sample_block_bytes(plan.block, traits) + STATIC > job->shared_bytes)
    plan.block /= 2;
  plan.scatter_block = plan.block;
  plan.tile = plan.block * traits.items;
  plan.limit = tuning.limit;
  plan.bins = (uint32_t)plan_max(plan.block / (traits.pair_bytes > sizeof(uint64_t) ? 32 : 16), 8);
  RS_ASSERT((plan.block & (plan.block - 1)) == 0);
  return plan;
}

/* The plan of a sort with padded buckets, if there is memory for them. */
static inline sample_plan sample_plan_of(const device_job *job, sample_traits traits)
{
  sample_plan plan = sample_plan_of_tiles(job, traits);
  if (sample_tuning_of(job).asked)
    sample_set_asked(&plan, job);
  else
    sample_set_padded(&plan, traits, job);
  RS_ASSERT(plan.buckets <= SAMPLE_MOST_BUCKETS);
  return plan;
}

#endif
