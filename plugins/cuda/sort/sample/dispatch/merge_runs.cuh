/* merge_runs.cuh - launches the merge of sorted runs: its levels, and the memory that they share.
 */
#ifndef RECSORT_CUDA_SAMPLE_MERGE_RUNS_CUH
#define RECSORT_CUDA_SAMPLE_MERGE_RUNS_CUH

#include "cuda/sort/sample/agent/merge_pieces.cuh"
#include "cuda/sort/sample/dispatch/sort_many.cuh"

namespace sample
{

template <class Pair> struct run_merging {
  const device_job *job;
  sample_merge_plan plan;
  pair_source<Pair> source;
  pair_target<Pair> target;
  merged_samples<Pair> samples[2]; /* those of odd levels in the second */
  uint64_t *cuts;
};

/* Where the samples of a level go. */
template <class Pair> static pair_target<Pair> target_of(const merged_samples<Pair> *samples)
{
  pair_target<Pair> target = {};
  if constexpr (Pair::packed)
    target.sink = {samples->pairs.keys, samples->pairs.indices, 64, 64};
  else
    target.pairs = samples->pairs;
  return target;
}

/* Finds where the splitters cut the runs of a level. */
template <class Pair>
static device_status start_cuts(const run_merging<Pair> *m, const sample_runs *runs,
                                const merged_samples<Pair> *samples, uint64_t splitters)
{
  const uint64_t run_blocks = plan_blocks(splitters, SAMPLE_CUT_BLOCK);
  const cut_runs_args<Pair> args = {m->source, *runs, *samples, splitters, (uint32_t)run_blocks,
                                    m->cuts};
  return device_launch(cut_runs<Pair>, run_blocks * runs->count, SAMPLE_CUT_BLOCK, 0,
                       m->job->stream, args);
}

/* Merges the elements of a level: those of level 0 are all, and those of each later one the samples
 * of the one before. */
template <class Pair>
static device_status merge_level(const run_merging<Pair> *m, const sample_runs *runs,
                                 uint32_t level)
{
  const sample_merge_plan *const plan = &m->plan;
  const merged_samples<Pair> *const samples = &m->samples[(level + 1) % 2];
  uint64_t tiles = 1;
  if (sample_runs_length(runs) > plan->tile) {
    const sample_runs sampled = sample_runs_sampled(runs, plan);
    tiles = sample_merge_tiles(plan, sample_runs_length(&sampled));
    device_status status = merge_level(m, &sampled, level + 1);
    if (status == 0) status = start_cuts(m, runs, samples, tiles - 1);
    if (status) return status;
  }
  const merge_pieces_args<Pair> args = {m->source,
                                        *runs,
                                        *samples,
                                        m->cuts,
                                        plan->joined,
                                        plan->limit,
                                        level ? target_of(&m->samples[level % 2]) : m->target};
  return device_launch(merge_pieces<Pair>, tiles, plan->block,
                       sample_tile_bytes(plan->block, policy<Pair>::traits()), m->job->stream,
                       args);
}

/* Divides sample_merge_bytes(). */
template <class Pair>
static void divide_samples(run_merging<Pair> *m, const sample_runs *runs, void *memory)
{
  using sample = typename sample_of<Pair>::type;
  const sample_runs first = sample_runs_sampled(runs, &m->plan);
  const sample_runs second = sample_runs_sampled(&first, &m->plan);
  const uint64_t lengths[2] = {sample_runs_length(&second), sample_runs_length(&first)};
  arena at = {(char *)memory, 0};
  if (sample_runs_length(runs) <= m->plan.tile) return; /* no samples */
  m->cuts = (uint64_t *)arena_take(&at, sample_merge_tiles(&m->plan, lengths[1]) * runs->count *
                                            sizeof *m->cuts);
  for (unsigned i = 0; i < 2; i++)
    m->samples[i] = {take_array<sample>(&at, lengths[i]), m->plan.samples};
  RS_ASSERT(at.taken <= sample_merge_bytes(&m->plan, runs, sample::bytes));
}

/* Merges runs of a source, with samples in `memory`, to a side. */
template <class Pair>
static device_status merge_source(const device_job *job, const sample_runs *runs,
                                  pair_source<Pair> source, void *memory,
                                  const device_buffers *buffers, unsigned side)
{
  run_merging<Pair> m = {};
  m.job = job;
  m.plan = sample_merge_plan_of(job, policy<Pair>::traits(), runs->count);
  m.source = source;
  if constexpr (Pair::packed)
    m.target.sink = {buffers->keys[side], buffers->indices[side], job->key_width, job->index_bits};
  else
    m.target.pairs = pair_array_of_side<Pair>(buffers, side);
  divide_samples(&m, runs, memory);
  return merge_level(&m, runs, 0);
}

template <class Pair>
device_status run_merge<Pair>::merge(const device_job *job, const sample_runs *runs,
                                     const device_buffers *buffers)
{
  return merge_source<Pair>(job, runs, source_of<Pair>(job, buffers), buffers->indices[0], buffers,
                            1);
}

template <class Pair>
uint64_t run_merge<Pair>::extra_bytes(const device_job *job, const sample_runs *runs)
{
  const sample_merge_plan plan = sample_merge_plan_of(job, policy<Pair>::traits(), runs->count);
  return sample_merge_bytes(&plan, runs, sample_of<Pair>::type::bytes);
}

template <class Pair>
device_status run_merge<Pair>::merge_pairs(const device_job *job, const sample_runs *runs,
                                           const device_buffers *buffers, unsigned side)
{
  pair_source<Pair> source = {};
  source.index_bits = plan_index_bits(job);
  source.pairs = pair_array_of_side<Pair>(buffers, side);
  if constexpr (Pair::packed) source.form = SOURCE_PAIRS;
  RS_ASSERT(extra_bytes(job, runs) <= buffers->extra_bytes);
  return merge_source<Pair>(job, runs, source, buffers->extra, buffers, 1 - side);
}

} // namespace sample

#endif
