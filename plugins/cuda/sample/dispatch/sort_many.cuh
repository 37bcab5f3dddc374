/* sort_many.cuh - the host side of a sort of many pairs: memory, plan and launches.
 */
#ifndef RECSORT_CUDA_SAMPLE_SORT_MANY_CUH
#define RECSORT_CUDA_SAMPLE_SORT_MANY_CUH

#include "cuda/sample/agent/partition.cuh"
#include "cuda/sample/agent/sort_buckets.cuh"
#include "cuda/sample/agent/splitters.cuh"
#include "cuda/sample/dispatch/sorts.cuh"

namespace sample
{

template <class Pair> struct packed_sink {
};
template <> struct packed_sink<packed_pair> {
  pair_sink sink;
};

/* Where things are on the device. */
template <class Pair> struct sort_memory : packed_sink<Pair> {
  pair_array<Pair> pairs[2]; /* the last step goes to the first one, or to what overlays it */
  pair_array<Pair> splitters;
  bucket_lookup<Pair> *lookups;
  uint16_t *tables;
  tile_list tiles;
  uint32_t *oversized;
  offsets ends[2];
  key_of<Pair> *fences;
  pair_array<Pair> sampled, candidates;
  pair_array<Pair> padded;
  pair_array<Pair>
      chained; /* the first level's buckets, in place of where else they went, and beyond */
  bucket_chains chains;
};

/* To a sort's next step, with `left` more to come: from where the one before went, if there was. */
template <class Pair>
static void advance(sample_args<Pair> *args, const sort_memory<Pair> *memory, uint32_t left)
{
  if constexpr (Pair::packed) {
    if (args->to.keys) args->source.keys = NULL;
    if (left == 0) args->sink = memory->sink;
  }
  if (args->to.keys) args->from = args->to;
  args->to = memory->pairs[left % 2];
}

/* Before the first level. */
template <class Pair>
static device_status rank_sample(const device_job *job, const sample_args<Pair> *args)
{
  const sample_ranking how = sample_ranking_of(job, args->samples);
  sample_args<Pair> sampled = *args;
  sampled.distance = (args->count << 16) / args->samples;
  sampled.runs.count = args->samples;
  sampled.runs.bits = how.run_bits;
  const device_status status =
      device_launch(rank_samples<Pair>, sample_rank_blocks(&how, args->samples), how.block,
                    run_bytes<key_of<Pair>>(&how), job->stream, sampled);
  if (status || how.alone) return status;
  return device_launch(rank_all_samples<Pair>, plan_blocks(args->samples, WARP_SIZE), how.block, 0,
                       job->stream, sampled);
}

/* ---- Their grids ---- */

/* Of all pairs: in which no block has much to do. Those that tabulate ask for so much shared memory
 * that two hardly meet on a multiprocessor, on whichever is free first. */
template <class Pair>
static device_status choose_by_ranks(const device_job *job, const sample_plan *plan,
                                     const sample_args<Pair> *args)
{
  const device_status status = rank_sample(job, args);
  if (status || args->bins == 0) return status;
  const uint64_t needed = lookup_capacity(args) * Pair::bytes, most = job->shared_bytes;
  return device_launch(tabulate_lookup<Pair>, plan_blocks(args->bins, plan->block), plan->block,
                       plan_max(needed, most / 2), job->stream, *args);
}

template <class Pair>
static device_status choose_splitters_of(const device_job *job, const sample_plan *plan,
                                         const sample_args<Pair> *args)
{
  if (args->segments == 1) return choose_by_ranks(job, plan, args);
  return device_launch(choose_splitters<Pair>, args->segments, plan->sample_block,
                       sample_block_bytes(plan->sample_block, policy<Pair>::traits()), job->stream,
                       *args);
}

/* Blocks that take `each` of all pairs. */
template <class Pair>
static uint64_t scatter_blocks_of(const device_job *job, const sample_plan *plan,
                                  const sample_args<Pair> *args, uint32_t each)
{
  const uint64_t chained = sample_extents(plan, job->count) << plan->extent_bits;
  return plan_blocks(args->from_chains ? chained : job->count, each);
}

template <class Pair>
static device_status scatter_all(const device_job *job, const sample_plan *plan,
                                 const sample_args<Pair> *args)
{
  const uint64_t blocks = scatter_blocks_of(job, plan, args, args->scattered);
  const uint64_t shared = scatter_bytes(args);
  if (args->to_chains)
    return device_launch(scatter_to_chains<Pair>, blocks, plan->scatter_block, shared, job->stream,
                         *args);
  if (args->capacity)
    return device_launch(scatter_to_padded<Pair>, blocks, plan->scatter_block, shared, job->stream,
                         *args);
  return device_launch(scatter_to_counted<Pair>, blocks, plan->scatter_block, shared, job->stream,
                       *args);
}

template <class Pair>
static device_status list_extents_of(const device_job *job, const sample_plan *plan,
                                     const sample_args<Pair> *args)
{
  const list_args list = {args->chains, args->ends};
  return start_list_extents(job, plan_blocks(sample_extents(plan, job->count), plan->scatter_block),
                            plan->scatter_block, list);
}

template <class Pair>
static device_status count_all(const device_job *job, const sample_plan *plan,
                               sample_args<Pair> *args)
{
  enum { BLOCKS = 4, MOST_TILES = 8 }; /* blocks a multiprocessor at least, tiles a block at most */
  const uint64_t tiles = plan_blocks(job->count, args->scattered);
  const uint64_t most = plan_min(MOST_TILES, 1 + tiles / (BLOCKS * job->multiprocessors));
  args->counted = args->scattered * (uint32_t)plan_power_below(most);
  const uint64_t blocks = scatter_blocks_of(job, plan, args, args->counted);
  const uint64_t shared = lookup_bytes(args);
  if (args->from_chains && args->counted > extent_size(&args->chains))
    return device_launch(count_chained<Pair>, blocks, plan->scatter_block, shared, job->stream,
                         *args);
  return device_launch(count_buckets<Pair>, blocks, plan->scatter_block, shared, job->stream,
                       *args);
}

template <class Pair>
static device_status split_level(const device_job *job, const sample_plan *plan,
                                 sample_args<Pair> *args)
{
  device_status status = choose_splitters_of(job, plan, args);
  if (args->to_chains) {
    if (status == 0) status = scatter_all(job, plan, args);
    return status ? status : list_extents_of(job, plan, args);
  }
  if (status == 0) status = count_all(job, plan, args);
  if (status == 0)
    status = device_launch(place_buckets<Pair>, args->segments, plan->scatter_block, 0, job->stream,
                           *args);
  return status ? status : scatter_all(job, plan, args);
}

template <class Pair>
static device_status sort_by_levels(const device_job *job, const sample_plan *plan,
                                    const sort_memory<Pair> *memory, sample_args<Pair> args)
{
  device_status status = 0;
  for (uint32_t level = 0; level < plan->levels && status == 0; level++) {
    args.buckets = plan->buckets[level];
    args.bins = sample_table_cells(plan, args.buckets);
    args.segment_ends = args.ends;
    args.ends = memory->ends[(plan->levels - 1 - level) % 2];
    args.ends.stride = sample_stride(plan, level);
    args.last = level + 1 == plan->levels;
    advance(&args, memory, plan->steps - 1 - level);
    args.from_chains = args.to_chains;
    args.to_chains = level == 0 && plan->extent_bits > 0;
    if (args.to_chains) args.to = memory->chained;
    status = split_level(job, plan, &args);
    args.segments *= args.buckets;
  }
  advance(&args, memory, 0);
  return status ? status : sort_tiles(job, plan, &args);
}

template <class Pair>
static device_status sort_by_padding(const device_job *job, const sample_plan *plan,
                                     const sort_memory<Pair> *memory, sample_args<Pair> args)
{
  sample_args<Pair> padded = args;
  padded.to = memory->padded;
  device_status status = choose_splitters_of(job, plan, &padded);
  if (status == 0) status = scatter_all(job, plan, &padded);
  args.padded = memory->padded;
  advance(&args, memory, 0); /* pairs still are where they were */
  return status ? status : sort_padded_tiles(job, plan, &args);
}

/* ---- Their grids ---- */

template <class Pair>
static device_status sort_tiles(const device_job *job, const sample_plan *plan,
                                const sample_args<Pair> *args)
{
  const uint64_t most = sample_sizes_of(plan, job->count).tiles;
  const device_status status =
      device_launch(sort_buckets<Pair>, most, plan->block,
                    sample_tile_bytes(plan->block, policy<Pair>::traits()), job->stream, *args);
  if (status) return status;
  return device_launch(sort_oversized<Pair>, 2 * job->multiprocessors, plan->block,
                       sample_part_bytes(plan->block, policy<Pair>::traits()), job->stream, *args);
}

template <class Pair>
static device_status sort_padded_tiles(const device_job *job, const sample_plan *plan,
                                       const sample_args<Pair> *args)
{
  return device_launch(sort_padded<Pair>, args->buckets, plan->block,
                       sample_part_bytes(plan->block, policy<Pair>::traits()), job->stream, *args);
}

template <class Pair> static pair_array<Pair> take_array(arena *from, uint64_t pairs)
{
  pair_array<Pair> array;
  array.keys = (key_of<Pair> *)arena_take(from, pairs * sizeof(key_of<Pair>));
  if constexpr (!Pair::packed) {
    array.indices = (index_of<Pair> *)arena_take(from, pairs * sizeof(index_of<Pair>));
  }
  return array;
}

/* What the first level's buckets take behind a side's pairs. */
template <class Pair> static uint64_t bytes_behind(const device_job *job, const sample_sizes *sizes)
{
  const uint64_t side = device_aligned(job->count * (job->key_width / 8)) +
                        device_aligned(job->count * (job->index_bits / 8));
  const uint64_t bytes = sizes->chained * Pair::bytes;
  return bytes > side ? bytes - side : 0;
}

/* Gives out what lies in `extra`, and returns the bytes; the pairs are still to be set. */
template <class Pair>
static uint64_t divide_extra(const device_job *job, const sample_plan *plan, void *extra,
                             sort_memory<Pair> *memory)
{
  const sample_sizes sizes = sample_sizes_of(plan, job->count);
  const sample_ranking how = sample_ranking_of(job, plan->samples);
  arena at = {(char *)extra, 0};
  (void)arena_take(&at, bytes_behind<Pair>(job, &sizes)); /* the first thing there */
  memory->splitters = take_array<Pair>(&at, sizes.buckets);
  memory->lookups =
      (bucket_lookup<Pair> *)arena_take(&at, sizes.segments * sizeof(bucket_lookup<Pair>));
  memory->tables = (uint16_t *)arena_take(&at, sizes.table_bins * sizeof(uint16_t));
  memory->tiles.of = (bucket_tile *)arena_take(&at, sizes.tiles * sizeof(bucket_tile));
  memory->tiles.count = (uint32_t *)arena_take(&at, sizeof(uint32_t));
  memory->oversized = (uint32_t *)arena_take(&at, (sizes.tiles + 1) * sizeof(uint32_t));
  for (unsigned i = 0; i < 2; i++) {
    memory->ends[i].bits = job->count <= UINT32_MAX ? 32 : 64;
    memory->ends[i].stride = 1;
    memory->ends[i].at = arena_take(&at, sizes.places[i] * (memory->ends[i].bits / 8));
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
    chains->one_key = NULL; /* a key is no part of its own to be left behind */
  } else {
    chains->one_key = (bool *)arena_take(&at, sizes.chains * sizeof(bool));
    if (plan->levels != 2 || plan->extent_bits == 0) chains->one_key = NULL;
  }
  return at.taken;
}

/* Packed: a side's keys and indices lie in one piece, and are where pairs go, too: the keys, in
 * side 0, are not wanted any more when the second step begins. */
template <class Pair>
static unsigned set_pairs(const device_job *job, const sample_plan *plan,
                          const device_buffers *buffers, sort_memory<Pair> *memory)
{
  const unsigned last = plan->steps % 2;
  if constexpr (Pair::packed) {
    void *const sides[2] = {buffers->keys[0], buffers->indices[1]};
    memory->pairs[0].keys = (key_of<Pair> *)sides[last];
    memory->pairs[1].keys = (key_of<Pair> *)sides[1 - last];
    memory->sink.keys = buffers->keys[last];
    memory->sink.indices = buffers->indices[last];
    memory->sink.key_width = job->key_width;
    memory->sink.index_bits = job->index_bits;
  } else {
    for (unsigned i = 0; i < 2; i++) {
      memory->pairs[i].keys = (key_of<Pair> *)buffers->keys[i ? 1 - last : last];
      memory->pairs[i].indices = (index_of<Pair> *)buffers->indices[i ? 1 - last : last];
    }
  }
  return last;
}

template <class Pair>
static sample_args<Pair> first_step(const device_job *job, const sample_plan *plan,
                                    const device_buffers *buffers, const sort_memory<Pair> *memory)
{
  sample_args<Pair> args = {};
  if constexpr (Pair::packed) {
    args.source.keys = buffers->keys[0];
    args.source.key_width = job->key_width;
  } else {
    args.from.keys = (key_of<Pair> *)buffers->keys[0];
  }
  args.count = job->count;
  args.index_bits = index_bits_of(job);
  args.tile = plan->tile;
  args.joined = plan->joined;
  args.limit = plan->limit;
  args.tile_threads = plan->block;
  args.samples = plan->samples;
  args.segments = 1;
  args.splitters = memory->splitters;
  args.lookups = memory->lookups;
  args.tables = memory->tables;
  args.tiles = memory->tiles;
  args.oversized = memory->oversized;
  args.buckets = plan->buckets[0];
  args.bins = plan->searched ? 0 : sample_table_cells(plan, args.buckets);
  args.ends = memory->ends[0];
  args.ends.stride = sample_stride(plan, 0);
  args.scattered = plan->scattered;
  args.capacity = plan->capacity;
  args.runs.keys = memory->sampled.keys;
  args.runs.fences = memory->fences;
  args.sampled = memory->sampled;
  args.candidates = memory->candidates;
  args.chains = memory->chains;
  return args;
}

template <class Pair> uint64_t many_sort<Pair>::extra_bytes(const device_job *job)
{
  const sample_plan plan = sample_plan_of(job, policy<Pair>::traits());
  sort_memory<Pair> memory;
  return divide_extra(job, &plan, NULL, &memory);
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
  sample_args<Pair> args = first_step(job, &plan, buffers, &memory);
  if (plan.way == SAMPLE_LEVELS) return sort_by_levels(job, &plan, &memory, args);
  return sort_by_padding(job, &plan, &memory, args);
}

} // namespace sample

#endif
