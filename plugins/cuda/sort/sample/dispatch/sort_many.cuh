/* sort_many.cuh - sorts many pairs: divides memory and launches the kernels. The steps of a plan
 * are its levels, each of which scatters all pairs, and the sort of tiles. With padded buckets
 * there is only one step. */
#ifndef RECSORT_CUDA_SAMPLE_SORT_MANY_CUH
#define RECSORT_CUDA_SAMPLE_SORT_MANY_CUH

#include "cuda/sort/sample/agent/list_extents.cuh"
#include "cuda/sort/sample/agent/scatter.cuh"
#include "cuda/sort/sample/agent/sort_buckets.cuh"
#include "cuda/sort/sample/agent/splitters.cuh"
#include "cuda/sort/sample/dispatch/sorts.cuh"

namespace sample
{

/* The arrays in device memory. */
template <class Pair> struct sort_memory {
  pair_array<Pair> pairs[2]; /* the last step writes to pairs[0], or to arrays that overlay it */
  pair_target<Pair> target;
  pair_array<Pair> splitters;
  bucket_lookup<Pair> *lookups;
  uint16_t *tables;
  tile_list tiles;
  uint32_t *oversized;
  offsets ends[2]; /* of the buckets of the last level, and of the one before */
  key_of<Pair> *fences;
  pair_array<Pair> sampled, candidates;
  pair_array<Pair> padded;
  pair_array<Pair> chained; /* buckets of the first level: overlay a side and extend beyond it */
  bucket_chains chains;
};

/* A sort and its current step. */
template <class Pair> struct sort_state {
  const device_job *job;
  const sample_plan *plan;
  const sort_memory<Pair> *memory;
  pair_source<Pair> source;
  section_set sections;
  splitter_set<Pair> set;
  bucket_set buckets;
};

/* ---- A level ---- */

static inline uint32_t lookup_bins(const sample_plan *plan, uint32_t buckets)
{
  return plan->searched ? 0 : sample_table_bins(plan, buckets);
}

/* Sets the splitters and buckets of a level; `sections` is set already. */
template <class Pair>
static void set_level(sort_state<Pair> *sort, uint32_t level, bucket_form form)
{
  const sample_plan *const plan = sort->plan;
  const sort_memory<Pair> *const memory = sort->memory;
  const uint32_t buckets = plan->buckets[level];
  sort->set = {memory->splitters,
               memory->lookups,
               memory->tables,
               buckets,
               lookup_bins(plan, buckets),
               plan->searched ? LOOKUP_BY_SEARCH : LOOKUP_BY_TABLE,
               sort->source.index_bits};
  const uint32_t left = plan->way == SAMPLE_PADDED ? 0 : plan->levels - 1 - level;
  sort->buckets = {form, memory->ends[left % 2], memory->chains, plan->capacity};
  sort->buckets.ends.stride = sample_stride(plan, level);
}

template <class Pair> static level_start<Pair> level_start_of(const sort_state<Pair> *sort)
{
  return {sort->set, sort->buckets, sort->memory->tiles.count, sort->memory->oversized};
}

/* Flags for chained buckets that have one key, which the first of two levels sets. */
template <class Pair> static bool *one_key_of(const sort_state<Pair> *sort)
{
  return sort->memory->chains.one_key;
}

/* ---- Splitters ---- */

/* Chooses the splitters of the first level: ranks the samples with many blocks. */
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
                                        choice,       level_start_of(sort)};
  const device_status status =
      device_launch(rank_samples<Pair>, sample_rank_blocks(&how, samples), how.block,
                    run_bytes<key_of<Pair>>(&how), job->stream, args);
  if (status || how.alone) return status;
  const rank_all_samples_args<Pair> all = {runs, memory->sampled, choice};
  return device_launch(rank_all_samples<Pair>, plan_blocks(samples, WARP_SIZE), how.block, 0,
                       job->stream, all);
}

/* Chooses the splitters of the first level and makes its lookup. The blocks of tabulate_lookup ask
 * for half of the shared memory, so that they spread over the multiprocessors. */
template <class Pair> static device_status choose_by_ranks(const sort_state<Pair> *sort)
{
  const device_job *const job = sort->job;
  const device_status status = rank_sample(sort);
  if (status || sort->set.mode == LOOKUP_BY_SEARCH) return status;
  const uint64_t needed = lookup_capacity(&sort->set) * Pair::bytes;
  const tabulate_args<Pair> args = {sort->memory->candidates, sort->set,
                                    sort->buckets.form == TO_CHAINED ? one_key_of(sort)
                                                                     : (bool *)NULL};
  return device_launch(tabulate_lookup<Pair>, plan_blocks(sort->set.bins, sort->plan->block),
                       sort->plan->block, plan_max(needed, job->shared_bytes / 2), job->stream,
                       args);
}

template <class Pair> static device_status choose(const sort_state<Pair> *sort)
{
  const sample_plan *const plan = sort->plan;
  if (sort->sections.count == 1) return choose_by_ranks(sort);
  const choose_splitters_args<Pair> args = {sort->source, sort->sections, plan->samples,
                                            plan->limit, level_start_of(sort)};
  return device_launch(choose_splitters<Pair>, sort->sections.count, plan->sample_block,
                       sample_block_bytes(plan->sample_block, policy<Pair>::traits()),
                       sort->job->stream, args);
}

/* ---- Buckets ---- */

/* The number of blocks that take `each` pairs. */
template <class Pair> static uint64_t blocks_of(const sort_state<Pair> *sort, uint32_t each)
{
  const uint64_t chained = sample_extents(sort->plan, sort->job->count) << sort->plan->extent_bits;
  return plan_blocks(sort->sections.form == SECTIONS_CHAINED ? chained : sort->job->count, each);
}

template <class Pair>
static device_status scatter(const sort_state<Pair> *sort, pair_array<Pair> to)
{
  const scatter_args<Pair> args = {sort->source,          sort->sections, sort->set,
                                   sort->plan->scattered, sort->buckets,  to};
  const uint64_t blocks = blocks_of(sort, args.each), shared = scatter_bytes(&args);
  const uint32_t block = sort->plan->scatter_block;
  void *const stream = sort->job->stream;
  switch (sort->buckets.form) {
  case TO_CHAINED:
    return device_launch(scatter_to_chains<Pair>, blocks, block, shared, stream, args);
  case TO_PADDED:
    return device_launch(scatter_to_padded<Pair>, blocks, block, shared, stream, args);
  default:
    return device_launch(scatter_to_counted<Pair>, blocks, block, shared, stream, args);
  }
}

template <class Pair> static device_status count(const sort_state<Pair> *sort)
{
  enum { BLOCKS = 4, MOST_TILES = 8 }; /* least blocks of a multiprocessor; most tiles of a block */
  const device_job *const job = sort->job;
  const uint32_t scattered = sort->plan->scattered, block = sort->plan->scatter_block;
  const uint64_t tiles = plan_blocks(job->count, scattered);
  const uint64_t most = plan_min(MOST_TILES, 1 + tiles / (BLOCKS * job->multiprocessors));
  const count_args<Pair> args = {sort->source, sort->sections, sort->set,
                                 scattered * (uint32_t)plan_power_below(most), sort->buckets.ends};
  const uint64_t blocks = blocks_of(sort, args.each), shared = lookup_bytes(&args.set);
  if (sort->sections.form == SECTIONS_CHAINED && args.each > extent_size(&sort->sections.chains))
    return device_launch(count_chained<Pair>, blocks, block, shared, job->stream, args);
  return device_launch(count_buckets<Pair>, blocks, block, shared, job->stream, args);
}

template <class Pair> static device_status place(const sort_state<Pair> *sort, bool last)
{
  const sample_plan *const plan = sort->plan;
  const place_buckets_args<Pair> args = {
      sort->sections.ends, sort->set,   one_key_of(sort),   last,
      plan->joined,        plan->block, sort->buckets.ends, sort->memory->tiles};
  return device_launch(place_buckets<Pair>, sort->sections.count, plan->scatter_block, 0,
                       sort->job->stream, args);
}

template <class Pair> static device_status list_chains(const sort_state<Pair> *sort)
{
  const list_args args = {sort->buckets.chains, sort->buckets.ends};
  const uint32_t block = sort->plan->scatter_block;
  const uint64_t extents = sample_extents(sort->plan, sort->job->count);
  return device_launch(list_extents<>, plan_blocks(extents, block), block, 0, sort->job->stream,
                       args);
}

/* Splits all sections of a level: counts and scatters their pairs. */
template <class Pair>
static device_status split(const sort_state<Pair> *sort, bool last, pair_array<Pair> to)
{
  device_status status = choose(sort);
  if (sort->buckets.form == TO_CHAINED) {
    if (status == 0) status = scatter(sort, to);
    return status ? status : list_chains(sort);
  }
  if (status == 0) status = count(sort);
  if (status == 0) status = place(sort, last);
  return status ? status : scatter(sort, to);
}

/* Makes the pairs that a step has scattered the source of the next one. */
template <class Pair> static void read_from(sort_state<Pair> *sort, pair_array<Pair> pairs)
{
  sort->source.pairs = pairs;
  if constexpr (Pair::packed) sort->source.form = SOURCE_PAIRS;
}

/* ---- Tiles ---- */

template <class Pair> static tile_work<Pair> tile_work_of(const sort_state<Pair> *sort)
{
  const sample_plan *const plan = sort->plan;
  return {sort->source, sort->set,   sort->memory->target, plan->tile,
          plan->joined, plan->limit, plan->samples};
}

template <class Pair> static device_status sort_tiles(const sort_state<Pair> *sort)
{
  const device_job *const job = sort->job;
  const sample_plan *const plan = sort->plan;
  const sort_memory<Pair> *const memory = sort->memory;
  const sample_traits traits = policy<Pair>::traits();
  const sort_buckets_args<Pair> args = {memory->tiles, memory->oversized, tile_work_of(sort)};
  const device_status status =
      device_launch(sort_buckets<Pair>, sample_sizes_of(plan, job->count).tiles, plan->block,
                    sample_tile_bytes(plan->block, traits), job->stream, args);
  if (status) return status;
  const sort_oversized_args<Pair> oversized = {memory->oversized, sort->buckets.ends,
                                               one_key_of(sort), args.work};
  return device_launch(sort_oversized<Pair>, 2 * job->multiprocessors, plan->block,
                       sample_part_bytes(plan->block, traits), job->stream, oversized);
}

/* ---- Levels and padded buckets ---- */

/* Sorts level by level, to counted buckets; on the first of several levels, to chains. */
template <class Pair> static device_status sort_by_levels(sort_state<Pair> *sort)
{
  const sample_plan *const plan = sort->plan;
  const sort_memory<Pair> *const memory = sort->memory;
  device_status status = 0;
  for (uint32_t level = 0; level < plan->levels && status == 0; level++) {
    const bool chained = level == 0 && plan->extent_bits > 0;
    const pair_array<Pair> to =
        chained ? memory->chained : memory->pairs[(plan->steps - 1 - level) % 2];
    set_level(sort, level, chained ? TO_CHAINED : TO_COUNTED);
    status = split(sort, level + 1 == plan->levels, to);
    read_from(sort, to);
    sort->sections.form = chained ? SECTIONS_CHAINED : SECTIONS_ADJACENT;
    sort->sections.ends = sort->buckets.ends;
    sort->sections.count *= sort->set.buckets;
  }
  return status ? status : sort_tiles(sort);
}

/* Sorts with padded buckets, each of which is a tile. */
template <class Pair> static device_status sort_by_padding(sort_state<Pair> *sort)
{
  const device_job *const job = sort->job;
  const sample_plan *const plan = sort->plan;
  set_level(sort, 0, TO_PADDED);
  device_status status = choose(sort);
  if (status == 0) status = scatter(sort, sort->memory->padded);
  if (status) return status;
  const sort_padded_args<Pair> args = {sort->memory->padded, sort->buckets.ends, plan->capacity,
                                       job->count, tile_work_of(sort)};
  return device_launch(sort_padded<Pair>, sort->set.buckets, plan->block,
                       sample_part_bytes(plan->block, policy<Pair>::traits()), job->stream, args);
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

/* The bytes that the first level's buckets take beyond a side's pairs. */
template <class Pair> static uint64_t bytes_behind(const device_job *job, const sample_sizes *sizes)
{
  const uint64_t side = device_aligned(job->count * (job->key_width / 8)) +
                        device_aligned(job->count * (job->index_bits / 8));
  const uint64_t bytes = sizes->chained * Pair::bytes;
  return bytes > side ? bytes - side : 0;
}

/* Divides `extra` into arrays and returns its bytes. Does not set the arrays of pairs. */
template <class Pair>
static uint64_t divide_extra(const device_job *job, const sample_plan *plan, void *extra,
                             sort_memory<Pair> *memory)
{
  const sample_sizes sizes = sample_sizes_of(plan, job->count);
  const sample_ranking how = sample_ranking_of(job, plan->samples);
  arena at = {(char *)extra, 0};
  (void)arena_take(&at, bytes_behind<Pair>(job, &sizes)); /* must be first: it extends a side */
  memory->splitters = take_array<Pair>(&at, sizes.buckets);
  memory->lookups =
      (bucket_lookup<Pair> *)arena_take(&at, sizes.sections * sizeof(bucket_lookup<Pair>));
  memory->tables = (uint16_t *)arena_take(&at, sizes.table_bins * sizeof(uint16_t));
  memory->tiles.of = (bucket_tile *)arena_take(&at, sizes.tiles * sizeof(bucket_tile));
  memory->tiles.count = (uint32_t *)arena_take(&at, sizeof(uint32_t));
  memory->oversized = (uint32_t *)arena_take(&at, (sizes.tiles + 1) * sizeof(uint32_t));
  for (unsigned i = 0; i < 2; i++) {
    memory->ends[i].bits = job->count <= UINT32_MAX ? 32 : 64;
    memory->ends[i].stride = 1;
    memory->ends[i].at = arena_take(&at, sizes.offsets[i] * (memory->ends[i].bits / 8));
  }
  memory->fences =
      (key_of<Pair> *)arena_take(&at, sample_fences(&how, plan->samples) * sizeof(key_of<Pair>));
  memory->sampled = take_array<Pair>(&at, how.alone ? 0 : plan->samples);
  memory->candidates = take_array<Pair>(&at, SAMPLE_MOST_BUCKETS);
  memory->padded = take_array<Pair>(&at, sizes.padded);
  bucket_chains *const chains = &memory->chains;
  chains->bits = plan->extent_bits;
  chains->buckets = plan->buckets[0];
  chains->most = (uint32_t)sizes.extents;
  chains->counts = (uint32_t *)arena_take(&at, 2 * sizeof(uint32_t));
  chains->states = (chain_state *)arena_take(&at, sizes.chains * sizeof(chain_state));
  chains->firsts = (uint32_t *)arena_take(&at, sizes.chains * sizeof(uint32_t));
  chains->owners = (extent_owner *)arena_take(&at, sizes.extents * sizeof(extent_owner));
  chains->next = (uint32_t *)arena_take(&at, sizes.extents * sizeof(uint32_t));
  chains->list = (extent *)arena_take(&at, sizes.extents * sizeof(extent));
  if constexpr (Pair::packed) {
    chains->one_key = NULL; /* packed keys cannot be left out */
  } else {
    chains->one_key = (bool *)arena_take(&at, sizes.chains * sizeof(bool));
    if (plan->levels != 2 || plan->extent_bits == 0) chains->one_key = NULL;
  }
  return at.taken;
}

/* Each step writes to the other side, and the first one reads from side 0. */
static inline unsigned last_side(const sample_plan *plan)
{
  return plan->steps % 2;
}

/* Sets the arrays of packed pairs, which overlay the keys and indices of a side. The input keys in
 * side 0 are no longer needed when the second step begins. */
template <class Pair>
static unsigned set_pairs(const device_job *job, const sample_plan *plan,
                          const device_buffers *buffers, sort_memory<Pair> *memory)
{
  const unsigned last = last_side(plan);
  if constexpr (Pair::packed) {
    void *const sides[2] = {buffers->keys[0], buffers->indices[1]};
    memory->pairs[0].keys = (key_of<Pair> *)sides[last];
    memory->pairs[1].keys = (key_of<Pair> *)sides[1 - last];
    memory->target.sink = {buffers->keys[last], buffers->indices[last], job->key_width,
                           job->index_bits};
  } else {
    for (unsigned i = 0; i < 2; i++) {
      memory->pairs[i].keys = (key_of<Pair> *)buffers->keys[i ? 1 - last : last];
      memory->pairs[i].indices = (index_of<Pair> *)buffers->indices[i ? 1 - last : last];
    }
    memory->target.pairs = memory->pairs[0];
  }
  return last;
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

template <class Pair> uint64_t many_sort<Pair>::extra_bytes(const device_job *job)
{
  const sample_plan plan = sample_plan_of(job, policy<Pair>::traits());
  sort_memory<Pair> memory;
  return divide_extra(job, &plan, NULL, &memory);
}

template <class Pair> unsigned many_sort<Pair>::side(const device_job *job)
{
  const sample_plan plan = sample_plan_of(job, policy<Pair>::traits());
  return last_side(&plan);
}

template <class Pair>
device_status many_sort<Pair>::sort(const device_job *job, const device_buffers *buffers,
                                    void *extra, unsigned *result)
{
  const sample_plan plan = sample_plan_of(job, policy<Pair>::traits());
  sort_memory<Pair> memory;
  (void)divide_extra(job, &plan, extra, &memory);
  *result = set_pairs(job, &plan, buffers, &memory);
  memory.chained =
      pair_array_at<Pair>(buffers->indices[1], sample_sizes_of(&plan, job->count).chained);
  sort_state<Pair> state = {};
  state.job = job;
  state.plan = &plan;
  state.memory = &memory;
  state.source = source_of<Pair>(job, buffers);
  state.sections = {SECTIONS_ADJACENT, {}, memory.chains, 1, job->count};
  return plan.way == SAMPLE_LEVELS ? sort_by_levels(&state) : sort_by_padding(&state);
}

} // namespace sample

#endif
