/* plan.h - how the sample sort divides a job: pure functions, for the host. */
#ifndef RECSORT_CUDA_SAMPLE_PLAN_H
#define RECSORT_CUDA_SAMPLE_PLAN_H

#include "cuda/plan.h"

#ifndef SAMPLE_LEAST_DECIDED
#define SAMPLE_LEAST_DECIDED (1 << 21)
#endif

enum {
  SAMPLE_BIN_GROUP = 4, /* adjacent bins that a thread handles at a time */
  SAMPLE_TILE_BLOCK = 512,
  SAMPLE_SPLITTER_BLOCK = 1024,
  SAMPLE_RANK_BLOCK = 512,
  SAMPLE_WARP_RANKED = 2,     /* pairs that a warp ranks */
  SAMPLE_SCATTER_BLOCK = 512, /* threads of a block that counts or scatters */
  SAMPLE_SCATTER_ITEMS = 8,   /* pairs of each of its threads */
  SAMPLE_MOST_BUCKETS = 1024, /* buckets of a section: two for each thread */
  SAMPLE_MOST_PARTS = 256,
  SAMPLE_MAX_LEVELS = 8
};

/* The way in which many pairs are split: to padded buckets, or level by level to buckets of known
 * sizes. */
typedef enum sample_way { SAMPLE_PADDED, SAMPLE_LEVELS } sample_way;

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
  sample_way way;
  bool searched;         /* padded buckets are looked up without a table */
  bool joined;           /* neighbouring buckets make a tile */
  uint32_t tile;         /* the most pairs of a tile */
  uint32_t buckets;      /* the most of a section */
  uint32_t samples;      /* of a section */
  uint32_t scattered;    /* pairs for each thread of a block that scatters */
  uint32_t extent_parts; /* an extent's size, in multiples of the pairs that a block scatters */
} sample_tuning;

static inline sample_tuning sample_default_tuning(void)
{
  sample_tuning usual = {0};
  usual.most_small = 16 << 10;
  usual.most_small_wide = 8 << 10;
  usual.most_alone = 2048;
  usual.run = 512;
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
  const uint64_t most = plan_power_below(job->shared_bytes / KEY_BYTES);
  const uint64_t most_alone = plan_min(most, tuning.most_alone);
  const bool alone = count <= most_alone;
  const uint32_t asked = job->block ? plan_block(job) : (uint32_t)SAMPLE_RANK_BLOCK;
  const uint32_t most_threads = alone ? (uint32_t)ALONE_BLOCK : (uint32_t)SAMPLE_RANK_BLOCK;
  const sample_ranking how = {
      (uint32_t)plan_clamp(asked, WARP_SIZE, most_threads),
      (uint32_t)__builtin_ctzll(alone ? most_alone : plan_min(most, tuning.run)), alone};
  return how;
}

static inline uint64_t sample_rank_blocks(const sample_ranking *how, uint64_t count)
{
  return plan_blocks(count, how->block / WARP_SIZE * SAMPLE_WARP_RANKED);
}

/* The fences of all runs: WARP_SIZE for each, or none if there is one run. */
static inline uint64_t sample_fences(const sample_ranking *how, uint64_t count)
{
  return how->alone ? 0 : plan_blocks(count, UINT64_C(1) << how->run_bits) * WARP_SIZE;
}

/* Each step writes all pairs once: a level writes them to their buckets, and the last step sorts
 * tiles. Padded buckets are in memory of their own, so there the
 * last step alone counts. */
typedef struct sample_plan {
  uint32_t block;         /* threads that sort a tile: a power of two, a warp at least */
  uint32_t sample_block;  /* threads that sort a section's sample */
  uint32_t scatter_block; /* threads that count and scatter */
  uint32_t tile;          /* the most pairs of a tile */
  uint32_t joined;        /* the most pairs of buckets joined to a tile; 0: each bucket is a tile */
  uint32_t limit;         /* a bin with more pairs may be overfull */
  uint32_t samples;       /* of a section */
  uint32_t scattered;     /* pairs of a block that scatters */
  uint32_t capacity;      /* pairs of a padded bucket */
  uint32_t bins;          /* entries of a table for each bucket */
  bool searched;          /* buckets are found without a table */
  uint32_t levels;
  uint32_t buckets[SAMPLE_MAX_LEVELS]; /* of a section, for each level */
  uint32_t extent_bits; /* the first level's buckets are chains of extents of 2^extent_bits pairs;
                         * 0: they are counted */
  uint32_t steps;
  sample_way way;
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
  const uint64_t pairs = (uint64_t)block * traits.items * (traits.pair_bytes + sizeof(uint32_t));
  return pairs + ((uint64_t)block * traits.bins + 4) * sizeof(uint32_t);
}

/* The same with the splitters of a sample. */
static inline uint64_t sample_block_bytes(uint32_t block, sample_traits traits)
{
  return sample_tile_bytes(block, traits) + SAMPLE_MOST_BUCKETS * traits.pair_bytes;
}

/* The same with the bounds of parts. */
static inline uint64_t sample_part_bytes(uint32_t block, sample_traits traits)
{
  return sample_tile_bytes(block, traits) + SAMPLE_MOST_PARTS * traits.pair_bytes;
}

/* The least integer whose power of `levels` is at least `buckets`. */
static inline uint64_t sample_root_up(uint64_t buckets, uint32_t levels)
{
  for (uint64_t root = 1;; root++) {
    uint64_t power = 1;
    for (uint32_t level = 0; level < levels && power < buckets; level++)
      power *= root;
    if (power >= buckets) return root;
  }
}

/* Divides at least `buckets` buckets evenly among as few levels as possible. The first of several
 * levels gets at most `most_lists` if that needs no further level. */
static inline void sample_set_levels(sample_plan *plan, uint64_t buckets, uint32_t most,
                                     uint64_t most_lists)
{
  uint64_t power = most, left = 1; /* the most buckets of all levels, and of all but the first */
  plan->way = SAMPLE_LEVELS;
  plan->scattered = plan->scatter_block * SAMPLE_SCATTER_ITEMS;
  plan->levels = 1;
  for (; power < buckets; power *= most, left *= most)
    plan->levels++;
  for (uint32_t level = 0; level < plan->levels; level++) {
    uint64_t root = sample_root_up(buckets, plan->levels - level);
    if (level == 0 && most_lists * left >= buckets) root = plan_min(root, most_lists);
    plan->buckets[level] = (uint32_t)root;
    buckets = plan_blocks(buckets, root);
  }
  plan->steps = plan->levels + 1;
}

/* The most unused space in chains of extents of `pairs` pairs: 1.25 extents for each bucket, as one
 * whose last extent is 75% full has allocated the next one. */
static inline uint64_t sample_spare(uint64_t buckets, uint64_t pairs)
{
  return (buckets + buckets / 4 + 1) * pairs;
}

/* The most spare pairs. */
static inline uint64_t sample_most_spare(sample_traits traits)
{
  enum { MOST = 41 << 20 /* bytes */ };
  return MOST / traits.pair_bytes;
}

/* The most buckets that the spare space allows with the smallest extents. */
static inline uint64_t sample_most_chains(const sample_plan *plan, sample_traits traits)
{
  const uint64_t pairs = (uint64_t)plan->scatter_block * SAMPLE_SCATTER_ITEMS;
  return (sample_most_spare(traits) / pairs - 1) * 4 / 5;
}

/* Chooses the size of extents. Large ones are allocated less often: up to `most_parts` times what a
 * block scatters, as long as spare space stays within its limit and below half of the pairs. */
static inline void sample_set_extents(sample_plan *plan, sample_traits traits, uint64_t count,
                                      uint32_t most_parts)
{
  const uint64_t spare = sample_spare(plan->buckets[0], plan->scattered);
  const uint64_t most = plan_min(sample_most_spare(traits), count / 2) / spare;
  if (plan->levels < 2 || spare > sample_most_spare(traits)) return;
  const uint64_t parts = plan_power_below(plan_clamp(most, 1, most_parts));
  plan->extent_bits = (uint32_t)__builtin_ctzll(plan->scattered * parts);
}

static inline uint64_t sample_extents(const sample_plan *plan, uint64_t count)
{
  return plan->extent_bits ? (count >> plan->extent_bits) + sample_spare(plan->buckets[0], 1) : 0;
}

/* The distance between the offsets of buckets. On the first level, all blocks add to a few of them,
 * so they lie in separate sectors to avoid contention. */
static inline uint32_t sample_stride(const sample_plan *plan, uint32_t level)
{
  return level == 0 && plan->levels != 1 ? 8 : 1;
}

/* Entries of the lookup table of a section: a multiple of 8. */
static inline uint32_t sample_table_bins(const sample_plan *plan, uint32_t buckets)
{
  enum { MOST = 12 }; /* for each thread */
  return (uint32_t)plan_min(plan->bins * buckets, MOST * plan->scatter_block);
}

/* The sizes of the arrays that a plan needs besides the pairs. */
typedef struct sample_sizes {
  uint64_t buckets;    /* on the last level */
  uint64_t sections;   /* on the last level */
  uint64_t table_bins; /* the most entries of a level's tables */
  uint64_t offsets[2]; /* of the buckets of the last level, and of the one before */
  uint64_t tiles;      /* the most tiles */
  uint64_t padded;     /* space for pairs in padded buckets */
  uint64_t chains;     /* buckets that are chains */
  uint64_t extents;    /* of these chains */
  uint64_t chained;    /* space for pairs in these extents */
} sample_sizes;

static inline sample_sizes sample_sizes_of(const sample_plan *plan, uint64_t count)
{
  sample_sizes sizes = {1, 1, 0, {0, 0}, 0, 0, 0, 0, 0};
  if (plan->way == SAMPLE_PADDED) {
    sizes.buckets = plan->buckets[0];
    sizes.tiles = sizes.buckets;
    sizes.table_bins = sample_table_bins(plan, plan->buckets[0]);
    sizes.offsets[0] = sizes.buckets * sample_stride(plan, 0);
    sizes.padded = sizes.buckets * plan->capacity;
    return sizes;
  }
  for (uint32_t level = 0; level < plan->levels; level++) {
    const uint32_t after = (plan->levels - 1 - level) % 2;
    const uint64_t bins = sizes.buckets * sample_table_bins(plan, plan->buckets[level]);
    sizes.sections = sizes.buckets;
    sizes.buckets *= plan->buckets[level];
    const uint64_t offsets = sizes.buckets * sample_stride(plan, level);
    if (bins > sizes.table_bins) sizes.table_bins = bins;
    if (offsets > sizes.offsets[after]) sizes.offsets[after] = offsets;
  }
  sizes.chains = plan->extent_bits ? plan->buckets[0] : 0;
  sizes.extents = sample_extents(plan, count);
  sizes.chained = sizes.extents << plan->extent_bits;
  sizes.tiles = sizes.buckets;
  if (plan->joined) /* two adjacent tiles have more pairs than one can */
    sizes.tiles = plan_min(sizes.tiles, 2 * (count / plan->joined) + sizes.sections);
  return sizes;
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
  return job->count / sample_tuning_of(job).drop_share;
}

/* The most buckets of a section: two for each thread, with enough samples for each bucket. */
static inline uint32_t sample_most_buckets(const sample_plan *plan)
{
  enum { SAMPLES = 8 };
  return (uint32_t)plan_min(2 * plan->scatter_block, plan->samples / SAMPLES);
}

/* The most pairs of joined buckets: a tile with many more pairs than bins would be slow. */
static inline uint32_t sample_joined(const sample_plan *plan, sample_traits traits)
{
  return (uint32_t)plan_min(plan->tile, plan->block * (traits.bins + traits.bins / 4));
}

/* Plans a sort of many pairs by levels. Each bucket is a fraction of a tile, and as many as fit are
 * joined. Smaller buckets fill tiles better but cost more to split. */
static inline void sample_set_many(sample_plan *plan, sample_traits traits, uint64_t count)
{
  enum { EACH = 2, SAMPLES = 16 }; /* EACH: a bucket's pairs for each thread that sorts a tile */
  enum { MOST_PARTS = 8 };         /* of an extent */
  sample_set_levels(plan, plan_blocks(count, EACH * plan->block), sample_most_buckets(plan),
                    sample_most_chains(plan, traits));
  if (plan->block == SAMPLE_TILE_BLOCK) /* with smaller blocks, tiles need too much memory */
    sample_set_extents(plan, traits, count, MOST_PARTS);
  plan->joined = sample_joined(plan, traits);
  plan->samples = (uint32_t)plan_min(plan->samples, SAMPLES * plan->buckets[0]);
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
 * distribution). False if that would take too much memory. */
static inline bool sample_set_padded(sample_plan *plan, sample_traits traits, const device_job *job)
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
  if (buckets > 2 * plan->scatter_block || capacity < LEAST_SPARE * each) return false;
  plan->way = SAMPLE_PADDED;
  plan->block = (uint32_t)block;
  plan->tile = plan->capacity = (uint32_t)capacity;
  plan->buckets[0] = (uint32_t)buckets;
  plan->samples = plan->buckets[0] * (capacity >= SPARE * each ? SAMPLES : 2 * SAMPLES);
  plan->scattered = sample_scattered(plan, job);
  plan->searched = buckets <= BUCKETS;
  return true;
}

/* Plans with the way and the sizes that a test's tuning asks for. */
static inline void sample_set_asked(sample_plan *plan, sample_traits traits, const device_job *job)
{
  const sample_tuning tuning = sample_tuning_of(job);
  plan->tile = (uint32_t)plan_min(plan->tile, tuning.tile);
  plan->joined = tuning.joined ? sample_joined(plan, traits) : 0;
  plan->samples = tuning.samples;
  const uint64_t buckets = plan_max(plan_blocks(job->count, plan->tile / 2), 2);
  if (tuning.way == SAMPLE_LEVELS) {
    sample_set_levels(plan, buckets, (uint32_t)plan_min(tuning.buckets, 2 * plan->scatter_block),
                      sample_most_chains(plan, traits));
    plan->scattered = tuning.scattered * plan->scatter_block;
    sample_set_extents(plan, traits, UINT64_MAX, tuning.extent_parts);
    return;
  }
  plan->way = SAMPLE_PADDED;
  plan->capacity = plan->tile;
  plan->buckets[0] = (uint32_t)plan_min(buckets, 2 * plan->scatter_block);
  plan->samples = 2 * plan->buckets[0];
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
  plan.sample_block = 2 * plan.block;
  while (plan.sample_block > plan.block &&
         sample_block_bytes(plan.sample_block, traits) + STATIC > job->shared_bytes)
    plan.sample_block -= WARP_SIZE;
  plan.scatter_block = plan.block;
  plan.tile = plan.block * traits.items;
  plan.limit = tuning.limit;
  plan.samples = plan.sample_block * traits.items;
  plan.steps = 1;
  plan.bins = (uint32_t)plan_max(plan.block / (traits.pair_bytes > sizeof(uint64_t) ? 32 : 16), 8);
  return plan;
}

/* The plan of a sort of many pairs. */
static inline sample_plan sample_plan_of(const device_job *job, sample_traits traits)
{
  sample_plan plan = sample_plan_of_tiles(job, traits);
  if (sample_tuning_of(job).asked)
    sample_set_asked(&plan, traits, job);
  else if (!sample_set_padded(&plan, traits, job))
    sample_set_many(&plan, traits, job->count);
  return plan;
}

#endif
