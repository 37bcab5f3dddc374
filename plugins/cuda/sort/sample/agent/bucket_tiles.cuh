/* bucket_tiles.cuh - a bucket as a tile: its pairs, and the scale of their keys. */
#ifndef RECSORT_CUDA_SAMPLE_BUCKET_TILES_CUH
#define RECSORT_CUDA_SAMPLE_BUCKET_TILES_CUH

#include "cuda/sort/sample/agent/args.cuh"
#include "cuda/sort/sample/agent/policy.cuh"

namespace sample
{

/* Pairs [from, from + count), those of a bucket. `known`: they lie between two splitters, which
 * tell their scale: `factor`, `zeros`, `tail` and `by_index`. Its origin, the lower splitter, is
 * not stored here. */
struct bucket_tile {
  uint64_t from;
  uint32_t count, first;
  uint32_t factor;
  uint8_t zeros, tail;
  bool by_index : 1, known : 1;
};

/* The low zero bits that keys share, by their lookup; 0 if it has none. */
template <class Pair> DEVICE_INLINE uint32_t lookup_tail(const splitter_set<Pair> *set)
{
  if constexpr (Pair::packed) {
    return 0;
  } else {
    return set->mode == LOOKUP_BY_TABLE ? set->lookup->scale.tail : 0;
  }
}

/* Sets the scale of a tile from the splitters around it. Tiles at either end lack a splitter, and
 * their scale is not known. */
template <class Pair> DEVICE_INLINE void set_scale(const splitter_set<Pair> *set, bucket_tile *tile)
{
  const uint32_t tail = lookup_tail(set);
  Pair least = {}, greatest = pair_get(&set->splitters, tile->first);
  if (tile->first > 0) least = pair_get(&set->splitters, tile->first - 1);
  const bin_scale<Pair> scale =
      scale_of(least, greatest, set->index_bits, tail, blockDim.x * policy<Pair>::bins);
  tile->factor = scale.factor;
  tile->zeros = (uint8_t)scale.zeros;
  tile->tail = (uint8_t)tail;
  tile->known = least.key && greatest.key;
  if constexpr (Pair::packed) {
    tile->by_index = false;
  } else {
    tile->by_index = scale.index_bits > 0;
  }
}

/* The scale of a tile; meaningless unless it is known. */
template <class Pair>
DEVICE_INLINE bin_scale<Pair> scale_from(const tile_work<Pair> *work, const bucket_tile *tile)
{
  bin_scale<Pair> scale;
  const Pair least = pair_get(&work->set.splitters, tile->known ? tile->first - 1 : 0);
  scale.origin = least.key;
  scale.zeros = tile->zeros;
  scale.factor = tile->factor;
  if constexpr (!Pair::packed) {
    scale.index_origin = least.index;
    scale.index_bits = tile->by_index ? work->source.index_bits : 0;
    scale.tail = tile->tail;
  }
  return scale;
}

} // namespace sample

#endif
