/* merge_plan.h - how the merge of sorted runs divides a job: pure functions, for the host.
 *
 * The runs are cut into tiles by splitters, and a block sorts a tile. Splitters are samples: every
 * `step`-th element of a run is one, and every `samples`-th of all runs' samples, in their order,
 * is a splitter. This bounds a tile for any keys: if it contains c samples of a run, it has fewer
 * than (c + 1) * step elements of that run, as between two samples there are step - 1. So it has
 * fewer than (samples + runs) * step in all, and the plan makes this the size of a tile.
 *
 * The samples are sorted runs too, and are merged likewise: level by level, until those of a level
 * are a tile. */
#ifndef RECSORT_CUDA_SAMPLE_MERGE_PLAN_H
#define RECSORT_CUDA_SAMPLE_MERGE_PLAN_H

#include "base/assert.h"
#include "cuda/sort/sample/plan.h"

enum {
  SAMPLE_CUT_BLOCK = 128,
  SAMPLE_MOST_RUNS = 128,  /* if a block has enough memory */
  SAMPLE_MERGED_RUNS = 64, /* in the last pass of a merge sort: with twice as many it is no faster,
                              and needs twice the memory */
};

/* Runs that are not empty, one after the other. */
typedef struct sample_runs {
  uint32_t count;
  uint32_t shift; /* of each run, every 2^shift-th element is meant */
  uint64_t bounds[SAMPLE_MOST_RUNS + 1];
} sample_runs;

typedef struct sample_merge_plan {
  uint32_t block;     /* threads that sort a tile: a power of two, a warp at least */
  uint32_t tile;      /* the most elements of a tile */
  uint32_t joined;    /* pairs that fill a tile */
  uint32_t limit;     /* as in sample_plan */
  uint32_t step_bits; /* the step is a power of two */
  uint32_t samples;   /* of a tile */
} sample_merge_plan;

/* The elements of a run, and the position of one of them among all keys. */
RECSORT_HD static inline uint64_t sample_run_length(const sample_runs *runs, uint32_t run)
{
  RS_ASSERT(run < runs->count && runs->bounds[run] <= runs->bounds[run + 1]);
  return (runs->bounds[run + 1] - runs->bounds[run]) >> runs->shift;
}
RECSORT_HD static inline uint64_t sample_run_at(const sample_runs *runs, uint32_t run, uint64_t i)
{
  RS_ASSERT(run < runs->count);
  return runs->bounds[run] + ((i + 1) << runs->shift) - 1;
}

/* The elements of all runs. */
static inline uint64_t sample_runs_length(const sample_runs *runs)
{
  uint64_t length = 0;
  for (uint32_t r = 0; r < runs->count; r++)
    length += sample_run_length(runs, r);
  return length;
}

/* The samples of runs. */
static inline sample_runs sample_runs_sampled(const sample_runs *runs,
                                              const sample_merge_plan *plan)
{
  sample_runs sampled = *runs;
  sampled.shift += plan->step_bits;
  return sampled;
}

/* The tiles of runs that have `samples` samples in all. */
static inline uint64_t sample_merge_tiles(const sample_merge_plan *plan, uint64_t samples)
{
  return plan_blocks(samples, plan->samples);
}

/* The most bytes of the cuts and of the samples of two levels, `sample_bytes` each: those of a
 * level replace those of the one two levels before. */
static inline uint64_t sample_merge_bytes(const sample_merge_plan *plan, const sample_runs *runs,
                                          uint32_t sample_bytes)
{
  enum { ROUNDED = 5 * 16 }; /* five arrays, each rounded up to 16 bytes */
  const sample_runs first = sample_runs_sampled(runs, plan);
  const sample_runs second = sample_runs_sampled(&first, plan);
  const uint64_t samples = sample_runs_length(&first);
  return sample_merge_tiles(plan, samples) * runs->count * sizeof(uint64_t) +
         (samples + sample_runs_length(&second)) * sample_bytes + ROUNDED;
}

/* A quarter of a tile at most is left for elements between samples. A longer step makes fewer
 * samples; beyond MOST_STEP_BITS these cost nothing any more, and fuller tiles are better. */
static inline sample_merge_plan sample_merge_plan_of(const device_job *job, sample_traits traits,
                                                     uint32_t runs)
{
  enum { MOST_STEP_BITS = 6, SHARE = 4 };
  const sample_plan usual = sample_plan_of_tiles(job, traits);
  const uint64_t most_step = plan_max(usual.tile / (SHARE * plan_max(runs, 1)), 1);
  sample_merge_plan plan;
  plan.block = usual.block;
  plan.tile = usual.tile;
  plan.joined = sample_joined(&usual, traits);
  plan.limit = usual.limit;
  plan.step_bits =
      (uint32_t)plan_min(MOST_STEP_BITS, (uint64_t)__builtin_ctzll(plan_power_below(most_step)));
  plan.samples =
      (uint32_t)plan_min((plan.tile >> plan.step_bits) - runs, plan.joined >> plan.step_bits);
  return plan;
}

/* True if merging is faster than sorting: measured at 2^20 keys, where up to 8 runs of wide pairs
 * were merged faster and all others sorted faster, and at 2^24, where all were merged faster; the
 * bounds between are estimates (tools/results/NOTES.md). */
static inline bool sample_merge_pays(const device_job *job, bool packed, uint32_t runs)
{
  enum { FEW_RUNS = 8 };
  const uint64_t least = sample_tuning_of(job).least_merged;
  if (runs > FEW_RUNS) return job->count >= least;
  return !packed || job->count >= least / 2;
}

/* True if so many runs can be merged: with at least LEAST_STEP elements from sample to sample, what
 * a merge needs besides the keys fits in the indices that they do not have yet. */
static inline bool sample_merge_fits(const device_job *job, sample_traits traits, uint32_t runs)
{
  enum { LEAST_STEP_BITS = 3 };
  return runs <= SAMPLE_MOST_RUNS &&
         sample_merge_plan_of(job, traits, runs).step_bits >= LEAST_STEP_BITS;
}

/* ---- The last pass of a merge sort ---- */

/* Runs of `width` pairs each, but for the last one. */
static inline sample_runs sample_runs_of_width(const device_job *job, uint64_t width)
{
  sample_runs runs = {(uint32_t)plan_blocks(job->count, width), 0, {0}};
  RS_ASSERT(runs.count <= SAMPLE_MOST_RUNS);
  for (uint32_t r = 1; r <= runs.count; r++)
    runs.bounds[r] = plan_min(r * width, job->count);
  return runs;
}

/* True if it takes so many runs of pairs, and the pairs are so many that it is faster than passes
 * of two runs. It takes none if indices have 64 bits. */
static inline bool sample_merges_pairs(const device_job *job, sample_traits traits, uint64_t runs)
{
  return job->index_bits == 32 && job->count >= sample_tuning_of(job).least_merged &&
         runs <= SAMPLE_MERGED_RUNS && sample_merge_fits(job, traits, (uint32_t)runs);
}

#endif
