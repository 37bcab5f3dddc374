/* load.cuh - one step of the hybrid sort for one kind of pair: the argument of its kernels,
 * and how they load pairs. */
#ifndef RECSORT_CUDA_SAMPLE_LOAD_CUH
#define RECSORT_CUDA_SAMPLE_LOAD_CUH

#include "cuda/sample/agent/args.cuh"
#include "cuda/sample/agent/tile_sort.cuh"
namespace sample
{

template <class Pair>
DEVICE_INLINE index_of<Pair> load_index(const sample_args<Pair> *args, uint64_t i)
{
  return args->from.indices ? args->from.indices[i] : (index_of<Pair>)i;
}

template <class Pair>
DEVICE_INLINE Pair pack(const sample_args<Pair> *args, uint64_t key, uint64_t i)
{
  const Pair pair = {key << args->index_bits | i};
  return pair;
}

template <class Pair> DEVICE_INLINE Pair load(const sample_args<Pair> *args, uint64_t i)
{
  if constexpr (Pair::packed) {
    if (args->source.keys) return pack(args, load_key(&args->source, i), i);
    return pair_get(&args->from, i);
  } else {
    Pair pair;
    pair.key = args->from.keys[i];
    pair.index = load_index(args, i);
    return pair;
  }
}

/* A thread's share, of at most `items`, of the pairs from `begin` on, or, if these are `sampled`,
 * of the samples; where no lane of the warp has any more, `mine` stays as it is. `whole`,
 * `sampled`: constants. Where pairs come from is asked once. */
template <class Pair>
DEVICE_INLINE void load_items(const sample_args<Pair> *args, uint64_t begin,
                              const block_share *share, uint32_t items, bool whole, bool sampled,
                              Pair *mine)
{
  const auto load_each = [&](auto load_one) {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < items; t++) {
      const uint32_t i = share_at(share, t);
      if (!share_goes_on(share, t, whole)) break;
      if (!share_has(share, t, whole)) continue;
      mine[t] =
          load_one(sampled ? sample_position((uint32_t)begin + i, args->distance) : begin + i);
    }
  };
  if constexpr (Pair::packed) {
    const uint32_t *const narrow = (const uint32_t *)args->source.keys;
    const uint64_t *const wide = (const uint64_t *)args->source.keys;
    if (args->source.keys && args->source.key_width == 32) {
      load_each([&](uint64_t at) { return pack(args, narrow[at], at); });
      return;
    }
    if (args->source.keys && args->source.key_width == 64) {
      load_each([&](uint64_t at) { return pack(args, wide[at], at); });
      return;
    }
    if (!args->source.keys) {
      load_each([&](uint64_t at) { return pair_get(&args->from, at); });
      return;
    }
  }
  load_each([&](uint64_t at) { return load(args, at); });
}

/* A splitter's of the segment that a bucket is of. */
template <class Pair>
DEVICE_INLINE key_of<Pair> segment_key(const sample_args<Pair> *args, uint32_t bucket)
{
  return args->splitters.keys[bucket - bucket % args->buckets];
}

/* Likewise, but the indices alone, of pairs that are there. */
template <class Pair>
DEVICE_INLINE void load_indices(const sample_args<Pair> *args, uint64_t begin,
                                const block_share *share, uint32_t items, bool whole, Pair *mine)
{
  if constexpr (!Pair::packed) {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < items; t++) {
      if (!share_goes_on(share, t, whole)) break;
      if (share_has(share, t, whole))
        mine[t].index = args->from.indices[begin + share_at(share, t)];
    }
  }
}

/* The keys alone. */
template <class Pair>
DEVICE_INLINE void load_keys(const sample_args<Pair> *args, uint64_t begin,
                             const block_share *share, uint32_t items, bool whole,
                             key_of<Pair> *keys)
{
  if constexpr (Pair::packed) {
    Pair mine[SAMPLE_SCATTER_ITEMS] = {};
    load_items(args, begin, share, items, whole, false, mine);
    DEVICE_UNROLL
    for (uint32_t t = 0; t < items; t++)
      keys[t] = mine[t].key;
  } else {
    const key_of<Pair> *const from = args->from.keys + begin;
    DEVICE_UNROLL
    for (uint32_t t = 0; t < items; t++)
      keys[t] = share_has(share, t, whole) ? from[share_at(share, t)] : 0;
  }
}

template <class Pair>
DEVICE_INLINE tile_output<Pair> output_of(const sample_args<Pair> *args, uint64_t first)
{
  tile_output<Pair> out;
  out.to = args->to;
  out.to.keys += first;
  out.samples = out.chosen = 0;
  if constexpr (Pair::packed) {
    out.sink = sink_from(&args->sink, first);
    out.index_bits = args->index_bits;
    out.simple = out.sink.key_width <= 64 && out.sink.index_bits == 32;
  } else {
    out.to.indices += first;
    out.simple = true;
  }
  return out;
}

/* `chosen` - 1 of so many sorted samples. */
template <class Pair>
DEVICE_INLINE tile_output<Pair> choice_of(pair_array<Pair> to, uint32_t samples, uint32_t chosen)
{
  tile_output<Pair> out;
  out.to = to;
  out.samples = samples;
  out.chosen = chosen;
  out.simple = false;
  if constexpr (Pair::packed) {
    out.sink.keys = out.sink.indices = NULL;
    out.index_bits = 0;
  }
  return out;
}

/* A sorted sample of a segment, of pairs [begin, begin + count) if these are not in a list: of it
 * `chosen` - 1 at even distances, to `to`. */
template <class Pair>
DEVICE_INLINE void sort_sample(const sample_args<Pair> *args, const tile_storage<Pair> *tile,
                               uint32_t segment, uint64_t begin, uint64_t count, uint32_t samples,
                               uint32_t chosen, pair_array<Pair> to)
{
  const tile_output<Pair> out = choice_of(to, samples, chosen);
  const uint64_t distance = (count << 16) / samples;
  const block_share mine = share_of(samples, policy<Pair>::items, policy<Pair>::items);
  DEVICE_UNROLL
  for (uint32_t t = 0; t < policy<Pair>::items; t++) {
    const uint32_t i = share_at(&mine, t);
    if (i >= mine.end) continue;
    const uint64_t at = sample_position(i, distance);
    pair_put(
        &tile->pairs, i,
        load(args, args->from_chains ? chain_position(&args->chains, segment, at) : begin + at));
  }
  sort_tile(tile, samples, &out);
}

} // namespace sample

#endif
