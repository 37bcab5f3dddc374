/* bucket_tiles.cuh - tiles of neighbouring buckets: their pairs, and the scale of their keys. The
 * last level of a sort makes them (place_buckets), and the last step sorts them (sort_buckets). */
#ifndef RECSORT_CUDA_SAMPLE_BUCKET_TILES_CUH
#define RECSORT_CUDA_SAMPLE_BUCKET_TILES_CUH

#include "cuda/sort/sample/agent/args.cuh"
#include "cuda/sort/sample/agent/policy.cuh"

namespace sample
{

/* Pairs [from, from + count): those of one or more buckets from `first` on. `known`: they lie
 * between two splitters, so place_buckets has computed their scale: `factor`, `zeros`, `tail` and
 * `by_index`. Its origin, the lower splitter, is not stored here. */
struct bucket_tile {
  uint64_t from;
  uint32_t count, first;
  uint32_t factor;
  uint8_t zeros, tail;
  bool by_index : 1, known : 1;
  bool one_key : 1; /* all have the splitters' key; only their indices are stored */
};

/* The tiles of a sort by levels. A level begins with none (start_level); on the last level,
 * place_buckets adds those of each section; then sort_buckets has a block for each. */
struct tile_list {
  bucket_tile *of;
  uint32_t *count;
};

/* The end of the tile that begins with bucket `first`: as many buckets as have at most `tile`
 * pairs, but at least one. */
DEVICE_INLINE uint32_t tile_end(const uint64_t *begins, uint32_t first, uint32_t buckets,
                                uint32_t tile)
{
  uint32_t low = first + 1, high = buckets;
  while (low < high) {
    const uint32_t middle = (low + high + 1) / 2;
    if (begins[middle] - begins[first] <= tile)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* The low zero bits that a section's keys share, by its lookup; 0 if it has none. */
template <class Pair>
DEVICE_INLINE uint32_t section_tail(const splitter_set<Pair> *set, uint32_t section)
{
  if constexpr (Pair::packed) {
    return 0;
  } else {
    return set->mode == LOOKUP_BY_TABLE ? set->lookups[section].scale.tail : 0;
  }
}

/* Sets the scale of a tile from the splitters around it. Tiles at either end lack a splitter, and
 * their scale is not known. */
template <class Pair>
DEVICE_INLINE void set_scale(const splitter_set<Pair> *set, uint32_t end, uint32_t tail,
                             uint32_t tile_threads, bucket_tile *tile)
{
  Pair least = {}, greatest = pair_get(&set->splitters, end - 1);
  if (tile->first > 0) least = pair_get(&set->splitters, tile->first - 1);
  const bin_scale<Pair> scale =
      scale_of(least, greatest, set->index_bits, tail, tile_threads * policy<Pair>::bins);
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
