/* sort_many.cuh - sorts many pairs by padded buckets: divides memory and launches the kernels. */
#ifndef RECSORT_CUDA_SAMPLE_SORT_MANY_CUH
#define RECSORT_CUDA_SAMPLE_SORT_MANY_CUH

#include "cuda/sort/sample/agent/scatter.cuh"
#include "cuda/sort/sample/agent/sort_padded.cuh"
#include "cuda/sort/sample/agent/splitters.cuh"
#include "cuda/sort/sample/dispatch/sorts.cuh"

namespace sample
{

/* The arrays in device memory. */
template <class Pair> struct sort_memory {
  pair_target<Pair> target;
  pair_array<Pair> splitters;
  bucket_lookup<Pair> *lookup;
  uint16_t *table;
  bucket_ends ends;
  key_of<Pair> *fences;
  pair_array<Pair> sampled, candidates;
  pair_array<Pair> padded;
};

/* What the kernels of a sort share. */
template <class Pair> struct sort_state {
  const device_job *job;
  const sample_plan *plan;
  const sort_memory<Pair> *memory;
  pair_source<Pair> source;
  splitter_set<Pair> set;
  bucket_set buckets;
};

template <class Pair>
static sort_state<Pair> state_of(const device_job *job, const sample_plan *plan,
                                 const sort_memory<Pair> *memory, pair_source<Pair> source)
{
  const splitter_set<Pair> set = {memory->splitters,
                                  memory->lookup,
                                  memory->table,
                                  plan->buckets,
                                  plan->searched ? 0 : sample_table_bins(plan),
                                  plan->searched ? LOOKUP_BY_SEARCH : LOOKUP_BY_TABLE,
                                  source.index_bits};
  return {job, plan, memory, source, set, {memory->ends, plan->capacity}};
}

/* ---- Splitters ---- */

/* Ranks the samples with many blocks. */
template <class Pair> static device_status rank_sample(const sort_state<Pair> *sort)
{
  const device_job *const job = sort->job;
  const sort_memory<Pair> *const memory = sort->memory;
  const uint32_t samples = sort->plan->samples;
  const sample_ranking how = sample_ranking_of(job, samples);
  const key_runs<key_of<Pair>> runs = {memory->sampled.keys, memory->fences, samples, how.run_bits};
  const sample_choice<Pair> choice = {sort->set.mode == LOOKUP_BY_TABLE ? memory->candidates
                                                                        : memory->splitters,
                                      samples, sort->set.buckets};
  const rank_samples_args<Pair> args = {sort->source, (job->count << 16) / samples,
                                        runs,         memory->sampled,
                                        choice,       {sort->set, sort->buckets}};
  const device_status status =
      device_launch(rank_samples<Pair>, sample_rank_blocks(&how, samples), how.block,
                    run_bytes<key_of<Pair>>(&how), job->stream, args);
  if (status || how.alone) return status;
  const rank_all_samples_args<Pair> all = {runs, memory->sampled, choice};
  return device_launch(rank_all_samples<Pair>, plan_blocks(samples, WARP_SIZE), how.block, 0,
                       job->stream, all);
}

/* Chooses the splitters and makes their lookup. The blocks of tabulate_lookup ask for half of the
 * shared memory, so that they spread over the multiprocessors. */
template <class Pair> static device_status choose(const sort_state<Pair> *sort)
{
  const device_job *const job = sort->job;
  const device_status status = rank_sample(sort);
  if (status || sort->set.mode == LOOKUP_BY_SEARCH) return status;
  const uint64_t needed = lookup_capacity(&sort->set) * Pair::bytes;
  const tabulate_args<Pair> args = {sort->memory->candidates, sort->set};
  return device_launch(tabulate_lookup<Pair>, plan_blocks(sort->set.bins, sort->plan->block),
                       sort->plan->block, plan_max(needed, job->shared_bytes / 2), job->stream,
                       args);
}

/* ---- Buckets ---- */

template <class Pair> static device_status scatter(const sort_state<Pair> *sort)
{
  const scatter_args<Pair> args = {sort->source,          sort->job->count, sort->set,
                                   sort->plan->scattered, sort->buckets,    sort->memory->padded};
  return device_launch(scatter_to_padded<Pair>, plan_blocks(args.count, args.each),
                       sort->plan->scatter_block, scatter_bytes(&args), sort->job->stream, args);
}

template <class Pair> static device_status sort_buckets(const sort_state<Pair> *sort)
{
  const sample_plan *const plan = sort->plan;
  const sort_memory<Pair> *const memory = sort->memory;
  const sort_padded_args<Pair> args = {
      memory->padded,
      memory->ends,
      plan->capacity,
      sort->job->count,
      {sort->source, sort->set, memory->target, plan->tile, plan->limit}};
  return device_launch(sort_padded<Pair>, sort->set.buckets, plan->block,
                       sample_bounded_bytes(plan->block, policy<Pair>::traits()), sort->job->stream,
                       args);
}

/* ---- Memory ---- */

template <class Pair> static pair_array<Pair> take_array(arena *from, uint64_t pairs)
{
  pair_array<Pair> array;
  array.keys = (key_of<Pair> *)arena_take(from, pairs * sizeof(key_of<Pair>));
  if constexpr (!Pair::packed) {
    array.indices = (index_of<Pair> *)arena_take(from, pairs * sizeof(index_of<Pair>));
  }
  return array;
}

/* Divides `extra` into arrays and returns its bytes. Does not set the target. */
template <class Pair>
static uint64_t divide_extra(const device_job *job, const sample_plan *plan, void *extra,
                             sort_memory<Pair> *memory)
{
  const uint64_t buckets = plan->buckets;
  const sample_ranking how = sample_ranking_of(job, plan->samples);
  arena at = {(char *)extra, 0};
  memory->splitters = take_array<Pair>(&at, buckets);
  memory->lookup = (bucket_lookup<Pair> *)arena_take(&at, sizeof(bucket_lookup<Pair>));
  memory->table = (uint16_t *)arena_take(&at, sample_table_bins(plan) * sizeof(uint16_t));
  memory->ends.at = (uint32_t *)arena_take(&at, buckets * SAMPLE_ENDS_STRIDE * sizeof(uint32_t));
  memory->fences =
      (key_of<Pair> *)arena_take(&at, sample_fences(&how, plan->samples) * sizeof(key_of<Pair>));
  memory->sampled = take_array<Pair>(&at, how.alone ? 0 : plan->samples);
  memory->candidates = take_array<Pair>(&at, SAMPLE_MOST_BUCKETS);
  memory->padded = take_array<Pair>(&at, buckets * plan->capacity);
  return at.taken;
}

/* Sorted pairs go to side 1. */
template <class Pair>
static pair_target<Pair> target_of_sort(const device_job *job, const device_buffers *buffers)
{
  pair_target<Pair> target = {};
  if constexpr (Pair::packed)
    target.sink = {buffers->keys[1], buffers->indices[1], job->key_width, job->index_bits};
  else
    target.pairs = pair_array_of_side<Pair>(buffers, 1);
  return target;
}

/* The job's keys, the source of the first step. */
template <class Pair>
static pair_source<Pair> source_of(const device_job *job, const device_buffers *buffers)
{
  pair_source<Pair> source = {};
  source.index_bits = plan_index_bits(job);
  if constexpr (Pair::packed) {
    source.keys = device_input(buffers);
    source.form = job->key_width == 32   ? SOURCE_KEYS_32
                  : job->key_width == 64 ? SOURCE_KEYS_64
                                         : SOURCE_KEYS_128;
    if (buffers->words) {
      source.words = *buffers->words;
      source.form = SOURCE_WORDS;
    }
  } else {
    source.pairs.keys = (key_of<Pair> *)device_input(buffers);
  }
  return source;
}

template <class Pair> bool many_sort<Pair>::suits(const device_job *job)
{
  return sample_plan_of(job, policy<Pair>::traits()).buckets > 0;
}

template <class Pair> uint64_t many_sort<Pair>::extra_bytes(const device_job *job)
{
  const sample_plan plan = sample_plan_of(job, policy<Pair>::traits());
  sort_memory<Pair> memory;
  return divide_extra(job, &plan, NULL, &memory);
}

template <class Pair> unsigned many_sort<Pair>::side(const device_job *)
{
  return 1;
}

template <class Pair>
device_status many_sort<Pair>::sort(const device_job *job, const device_buffers *buffers,
                                    unsigned *result)
{
  const sample_plan plan = sample_plan_of(job, policy<Pair>::traits());
  sort_memory<Pair> memory;
  (void)divide_extra(job, &plan, buffers->extra, &memory);
  memory.target = target_of_sort<Pair>(job, buffers);
  const sort_state<Pair> state = state_of<Pair>(job, &plan, &memory, source_of<Pair>(job, buffers));
  *result = 1;
  device_status status = choose(&state);
  if (status == 0) status = scatter(&state);
  return status ? status : sort_buckets(&state);
}

} // namespace sample

#endif
