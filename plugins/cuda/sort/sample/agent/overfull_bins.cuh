/* overfull_bins.cuh - sorts the pairs of a tile's overfull bins. They are too many to be ranked:
 * many keys are equal or nearly so.
 *
 *   sort_one_key     a warp a bin: if its pairs are not too many, and have one key, their indices
 *                    are sorted in registers
 *   split_overfull   all other overfull bins at once, each into new bins of its own, by the first
 *                    bits in which its pairs differ; and what is still overfull then, again
 *
 * If a few samples suggest it, the kernel guesses that all pairs of a bin have one key and indices
 * from the whole range. A right guess saves the search for differing bits; a wrong one is noticed
 * when pairs are counted.
 */
#ifndef RECSORT_CUDA_SAMPLE_OVERFULL_BINS_CUH
#define RECSORT_CUDA_SAMPLE_OVERFULL_BINS_CUH

#include "cuda/sort/sample/agent/tile_bins.cuh"
#include "cuda/sort/sample/block/overfull.cuh"
namespace sample
{

/* The number of leading bits, of key and index, that are 0 in `unlike`, the XOR of two pairs; at
 * most as many as leave 32 bits for window(). UINT32_MAX: all bits are 0. */
template <class Pair> DEVICE_INLINE uint32_t alike_bits(Pair unlike, uint32_t index_bits)
{
  if constexpr (Pair::packed) {
    return unlike.key ? (uint32_t)plan_min(device_clz64(unlike.key), 32) : UINT32_MAX;
  } else {
    const uint64_t place = (uint64_t)unlike.index << (64 - index_bits);
    if (unlike.key) return leading_zeros(unlike.key);
    return place ? 8 * sizeof(key_of<Pair>) + (uint32_t)plan_min(device_clz64(place), 32)
                 : UINT32_MAX;
  }
}

/* The 32 bits of a pair, key and then index, that follow the first `zeros` bits. */
template <class Pair> DEVICE_INLINE uint32_t window(Pair pair, uint32_t zeros, uint32_t index_bits)
{
  if constexpr (Pair::packed) {
    return lead_of(pair.key, zeros);
  } else {
    enum { KEY_BITS = 8 * sizeof(key_of<Pair>), LAST = KEY_BITS - 32 };
    const uint64_t place = (uint64_t)pair.index << (64 - index_bits);
    if (zeros >= KEY_BITS) return lead_of(place, zeros - KEY_BITS);
    if (zeros > LAST) return lead_of((uint64_t)pair.key << 32 | place >> 32, zeros - LAST);
    return lead_of_key(pair.key, zeros);
  }
}

/* The pair of a tag. */
template <class Pair> DEVICE_INLINE Pair tagged_pair(const tile_storage<Pair> *tile, uint32_t tag)
{
  return pair_get(&tile->pairs, tag_number(tag));
}

template <class Pair> DEVICE_INLINE bool keys_equal(const tile_storage<Pair> *tile, Pair a, Pair b)
{
  if constexpr (Pair::packed) {
    return (a.key ^ b.key) >> tile->index_bits == 0;
  } else {
    return a.key == b.key;
  }
}

/* ---- Few pairs of one key ---- */

template <class Pair> DEVICE_INLINE uint32_t pair_index(const tile_storage<Pair> *tile, Pair pair)
{
  if constexpr (Pair::packed) {
    return (uint32_t)(pair.key & ~UINT64_C(0) >> (64 - tile->index_bits));
  } else {
    return (uint32_t)pair.index;
  }
}

template <class Pair>
DEVICE_INLINE void set_pair_index(const tile_storage<Pair> *tile, uint32_t i, Pair pair,
                                  uint32_t index)
{
  if constexpr (Pair::packed) {
    tile->pairs.keys[i] = pair.key >> tile->index_bits << tile->index_bits | index;
  } else {
    tile->pairs.indices[i] = index;
  }
}

/* Sorts an overfull bin whose pairs have one key, if they are few enough: the pairs exchange their
 * indices, so that the tags need not move. False if they are too many or the keys differ. By all
 * lanes of a warp. */
template <class Pair>
DEVICE_INLINE bool sort_one_key(const tile_storage<Pair> *tile, overfull_bin bin)
{
  enum { MOST_BITS = 32 };
  const uint32_t count = (uint32_t)bin.end - bin.begin, lane = threadIdx.x % WARP_SIZE;
  const uint32_t *const tags = tile->tags + bin.begin;
  const Pair first = tagged_pair(tile, tags[0]);
  uint32_t indices[OVERFULL_EACH];
  bool equal = true;
  if (count > OVERFULL_EACH * plan_min(tile->limit, WARP_SIZE)) return false;
  if (tile->index_bits > MOST_BITS) return false;
  DEVICE_UNROLL
  for (uint32_t k = 0; k < OVERFULL_EACH; k++) {
    const uint32_t i = lane * OVERFULL_EACH + k;
    const Pair pair = i < count ? tagged_pair(tile, tags[i]) : first;
    equal &= keys_equal(tile, pair, first);
    indices[k] = i < count ? pair_index(tile, pair) : UINT32_MAX;
  }
  if (device_ballot(!equal)) return false;
  overfull_sort(indices);
  __syncwarp();
  DEVICE_UNROLL
  for (uint32_t k = 0; k < OVERFULL_EACH; k++) {
    const uint32_t i = lane * OVERFULL_EACH + k;
    if (i < count) set_pair_index(tile, tag_number(tags[i]), first, indices[k]);
  }
  return true;
}

/* Sorts the overfull bins that have one key, and marks the tags of the others for split_overfull. A
 * warp for each bin. */
template <class Pair>
DEVICE_INLINE void sort_overfull(const tile_storage<Pair> *tile, overfull_bins overfull)
{
  DEVICE_ROLLED
  for (uint32_t i = threadIdx.x / WARP_SIZE; i < *overfull.count; i += blockDim.x / WARP_SIZE) {
    if (sort_one_key(tile, overfull.of[i]))
      overfull.of[i].end = overfull.of[i].begin;
    else
      overfull_leave(tile->tags, overfull, i);
  }
}

/* ---- What tells the pairs of an overfull bin apart ---- */

template <class Pair>
DEVICE_INLINE Pair sample_of_bin(const tile_storage<Pair> *tile, const overfull_split *cut,
                                 uint32_t bin)
{
  return pair_get(&tile->pairs, cut->samples[bin] % OVERFULL_GUESSED);
}

/* The least or the greatest pair that can have this pair's key. */
template <class Pair>
DEVICE_INLINE Pair end_of_key(const tile_storage<Pair> *tile, Pair pair, bool greatest)
{
  const uint64_t all = ~UINT64_C(0) >> (64 - tile->index_bits);
  if constexpr (Pair::packed) {
    pair.key = greatest ? pair.key | all : pair.key & ~all;
  } else {
    pair.index = greatest ? (index_of<Pair>)all : 0;
  }
  return pair;
}

/* True if some samples suggest that the pairs of an overfull bin have one key and indices from the
 * whole range. The samples' indices differ in their first bits, so each round separates at least
 * these pairs. */
template <class Pair>
DEVICE_INLINE bool seems_equal(const tile_storage<Pair> *tile, const overfull_split *cut,
                               uint32_t bin)
{
  enum { LOOKS = 4, SPREAD = 3 }; /* SPREAD: first bits of an index */
  const overfull_bin *const one = &cut->overfull.of[bin];
  const Pair sample = sample_of_bin(tile, cut, bin);
  uint64_t unlike = 0;
  bool equal = true;
  DEVICE_UNROLL
  for (uint32_t i = 1; i <= LOOKS; i++) {
    const uint32_t at = one->begin + (one->end - 1u - one->begin) * i / LOOKS;
    const Pair pair = tagged_pair(tile, tile->tags[at]);
    equal &= keys_equal(tile, sample, pair);
    if constexpr (Pair::packed) {
      unlike |= sample.key ^ pair.key;
    } else {
      unlike |= sample.index ^ pair.index;
    }
  }
  return equal && unlike << SPREAD >> tile->index_bits != 0;
}

/* Finds the number of leading bits that all pairs of each overfull bin share with its sample. Skips
 * bins whose scale is guessed. */
template <class Pair>
DEVICE_INLINE void find_alike(const tile_storage<Pair> *tile, const overfull_split *cut,
                              overfull_piece piece)
{
  for (; overfull_piece_is(&piece); overfull_next_piece(cut, &piece)) {
    const overfull_bin *const bin = &cut->overfull.of[piece.bin];
    const uint32_t *const tags = tile->tags + bin->begin - bin->at;
    if (overfull_is_guessed(cut, piece.bin)) continue;
    const Pair sample = sample_of_bin(tile, cut, piece.bin);
    Pair unlike = {};
    for (uint32_t i = piece.at + piece.lane; i < piece.end; i += WARP_SIZE) {
      const Pair pair = tagged_pair(tile, tags[i]);
      unlike.key |= pair.key ^ sample.key;
      if constexpr (!Pair::packed) {
        unlike.index |= pair.index ^ sample.index;
      }
    }
    const uint32_t zeros = device_warp_min(alike_bits(unlike, tile->index_bits));
    if (piece.lane == 0) (void)device_min32(&cut->scales[piece.bin].zeros, zeros);
  }
}

/* Finds the least and the greatest window() of each overfull bin. */
template <class Pair>
DEVICE_INLINE void find_ends(const tile_storage<Pair> *tile, const overfull_split *cut,
                             overfull_piece piece)
{
  for (; overfull_piece_is(&piece); overfull_next_piece(cut, &piece)) {
    const overfull_bin *const bin = &cut->overfull.of[piece.bin];
    const uint32_t *const tags = tile->tags + bin->begin - bin->at;
    if (overfull_is_guessed(cut, piece.bin)) continue;
    overfull_scale *const scale = &cut->scales[piece.bin];
    uint32_t least = UINT32_MAX, greatest = 0;
    for (uint32_t i = piece.at + piece.lane; i < piece.end; i += WARP_SIZE) {
      const uint32_t next = window(tagged_pair(tile, tags[i]), scale->zeros, tile->index_bits);
      least = (uint32_t)plan_min(least, next);
      greatest = (uint32_t)plan_max(greatest, next);
    }
    least = device_warp_min(least);
    greatest = device_warp_max(greatest);
    if (piece.lane == 0) (void)device_min32(&scale->origin, least);
    if (piece.lane == 0) (void)device_max32(&scale->factor, greatest);
  }
}

/* Finds the scales of all overfull bins that are not guessed, from all of their pairs. By all
 * threads of the block; two barriers. */
template <class Pair>
DEVICE_INLINE void find_scales(const tile_storage<Pair> *tile, const overfull_split *cut)
{
  const overfull_piece first = overfull_first_piece(cut);
  find_alike(tile, cut, first);
  __syncthreads();
  find_ends(tile, cut, first);
  __syncthreads();
}

/* Sets the scale of a bin whose pairs are guessed to have one key. */
template <class Pair>
DEVICE_INLINE void guess_scale(const tile_storage<Pair> *tile, const overfull_split *cut,
                               uint32_t bin)
{
  const Pair sample = sample_of_bin(tile, cut, bin);
  const Pair least = end_of_key(tile, sample, false);
  const Pair greatest = end_of_key(tile, sample, true);
  Pair unlike = {};
  if constexpr (Pair::packed) {
    unlike.key = least.key ^ greatest.key;
  } else {
    unlike.index = least.index ^ greatest.index;
  }
  overfull_scale *const scale = &cut->scales[bin];
  scale->zeros = alike_bits(unlike, tile->index_bits);
  scale->origin = window(least, scale->zeros, tile->index_bits);
  scale->factor = window(greatest, scale->zeros, tile->index_bits);
}

/* Sets the scales of all overfull bins: guesses, which may turn out to be wrong, or exact ones. By
 * all threads of the block; one barrier or three. */
template <class Pair>
DEVICE_INLINE void scale_overfull(const tile_storage<Pair> *tile, const overfull_split *cut,
                                  bool may_guess)
{
  const uint32_t bin = threadIdx.x;
  const bool mine =
      bin < *cut->overfull.count && cut->overfull.of[bin].begin < cut->overfull.of[bin].end;
  const bool guess = mine && may_guess && seems_equal(tile, cut, bin);
  if (guess) guess_scale(tile, cut, bin);
  if (guess) cut->samples[bin] |= OVERFULL_GUESSED;
  if (mine && !guess) *cut->unknown = 1;
  __syncthreads();
  if (*cut->unknown) find_scales(tile, cut);
  if (mine) overfull_scale_set(cut, bin, blockDim.x * policy<Pair>::bins);
}

/* ---- Their new bins ---- */

/* The position of a pair of overfull bin `bin` among all new bins, in 2^-32 bins. */
template <class Pair>
DEVICE_INLINE uint64_t overfull_position(const tile_storage<Pair> *tile, const overfull_split *cut,
                                         uint32_t bin, Pair pair)
{
  const overfull_scale by = cut->scales[bin];
  const uint32_t from = window(pair, by.zeros, tile->index_bits) - by.origin;
  return ((uint64_t)by.first << 32) + device_product(from << by.shift, by.factor);
}

/* Counts the overfull tags among `count` tags in their new bins. Sets tags and slots as count_bins
 * does; the slot of other tags is NO_SLOT. */
template <class Pair>
DEVICE_INLINE void count_overfull(const tile_storage<Pair> *tile, uint32_t count,
                                  const overfull_split *cut, uint32_t *tags, uint32_t *slots)
{
  bool wrong = false;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < policy<Pair>::items; t++)
    slots[t] = NO_SLOT;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < policy<Pair>::items; t++) {
    const uint32_t i = t * blockDim.x + threadIdx.x, tag = i < count ? tile->tags[i] : 0;
    if (t * blockDim.x >= count) break;
    if (!tag_is_overfull(tag)) continue;
    const uint32_t old = tag_overfull(tag);
    const Pair pair = tagged_pair(tile, tag);
    if (overfull_is_guessed(cut, old))
      wrong |= !keys_equal(tile, sample_of_bin(tile, cut, old), pair);
    const uint64_t place = overfull_position(tile, cut, old, pair);
    const uint32_t bin = (uint32_t)(place >> 32);
    tags[t] = tag_of(place, tag_number(tag));
    slots[t] = bin << 16 | device_add32(&tile->bins[bin], 1);
  }
  if (wrong) *cut->wrong = 1;
}

/* Scatters tags to the new bins, whose overfull ones go to `made`. False if a scale was guessed
 * wrongly. By all threads of the block. */
template <class Pair>
DEVICE_INLINE bool scatter_overfull(const tile_storage<Pair> *tile, uint32_t count,
                                    const overfull_split *cut, bool may_guess, overfull_bins made)
{
  uint32_t tags[policy<Pair>::items] = {}, slots[policy<Pair>::items];
  scale_overfull(tile, cut, may_guess);
  bins_clear(tile->bins, policy<Pair>::bin_groups);
  __syncthreads();
  count_overfull(tile, count, cut, tags, slots);
  __syncthreads();
  if (*cut->wrong) return false;
  bins_place(tile->bins, policy<Pair>::bin_groups, tile->limit, made);
  __syncthreads();
  DEVICE_UNROLL
  for (uint32_t t = 0; t < policy<Pair>::items; t++) {
    if (t * blockDim.x >= count) break;
    if (slots[t] != NO_SLOT) tile->tags[tile->bins[slots[t] >> 16] + (slots[t] & 0xffff)] = tags[t];
  }
  return true;
}

/* Stores the pairs of the new bins, except those that are still overfull. `simply`, a compile-time
 * constant: out->simple. */
template <class Pair>
DEVICE_INLINE void store_overfull(const tile_storage<Pair> *tile, const overfull_split *cut,
                                  const pair_output<Pair> *out, bool simply)
{
  const uint32_t each = overfull_share(cut), first = threadIdx.x / WARP_SIZE * each;
  const uint32_t last = (uint32_t)plan_min(first + each, *cut->tags);
  uint32_t i = first + threadIdx.x % WARP_SIZE, number = overfull_of(cut, i);
  overfull_bin bin = cut->overfull.of[number];
  DEVICE_ROLLED
  for (; i < last; i += WARP_SIZE) {
    while (i >= overfull_end(bin))
      bin = cut->overfull.of[++number];
    const uint32_t tag = tile->tags[i];
    if (tag_is_overfull(tag)) continue;
    const Pair pair = tagged_pair(tile, tag);
    uint32_t rank = i;
    if (tag & TAG_UNRANKED) {
      const uint64_t place = overfull_position(tile, cut, number, pair);
      rank = rank_in_bin(tile, (uint32_t)(place >> 32), tag, pair);
    }
    store_pair(out, rank + overfull_shift(bin), pair, simply);
  }
}

/* Sorts the remaining overfull bins of a tile of `count` tags: splits all of them at once, and
 * repeats this until none is overfull. By all threads of the block. */
template <class Pair>
DEVICE_INLINE void split_overfull(const tile_storage<Pair> *tile, uint32_t count,
                                  const pair_output<Pair> *out)
{
  DEVICE_SHARED_ARRAY(overfull_scale, scales, MOST_OVERFULL);
  DEVICE_SHARED_ARRAY(uint16_t, samples, MOST_OVERFULL);
  DEVICE_SHARED_ARRAY(uint32_t, tags, 1);
  DEVICE_SHARED_ARRAY(uint32_t, unknown, 1);
  DEVICE_SHARED_ARRAY(uint32_t, wrong, 1);
  overfull_split cut = {overfull_list(0), scales, samples, tags, unknown, wrong};
  bool spread = true; /* false: a guess was wrong */
  for (uint32_t round = 1; *cut.overfull.left;) {
    const overfull_bins made = overfull_list(round % 2);
    overfull_forget(made);
    overfull_begin(&cut, tile->tags);
    spread = scatter_overfull(tile, count, &cut, spread, made);
    __syncthreads();
    if (!spread) continue;
    count = *cut.tags;
    bins_sort(tile->tags, tile->bins, policy<Pair>::bin_groups, tile->limit);
    overfull_aim(&cut, made);
    sort_overfull(tile, made);
    __syncthreads();
    if (out->simple)
      store_overfull(tile, &cut, out, true);
    else
      store_overfull(tile, &cut, out, false);
    __syncthreads();
    cut.overfull = made;
    round++;
  }
}

/* Finishes a tile of `count` pairs that has overfull bins. Not inlined: few tiles have any, and it
 * would cost the others registers. It gets the address of shared memory itself, as the compiler
 * could not tell the address space of a pointer argument. */
template <class Pair>
DEVICE_APART void sort_rest(uint32_t index_bits, uint32_t limit, uint32_t count, uint32_t each,
                            pair_output<Pair> out)
{
  void *const shared = device_shared_memory();
  const tile_storage<Pair> tile = tile_storage_at<Pair>(shared, index_bits, limit);
  sort_overfull(&tile, overfull_list(0));
  __syncthreads();
  block_share mine = share_of(count, each, policy<Pair>::usual);
  mine.whole = false;
  store_all(&tile, &mine, saved_scale<Pair>(), &out);
  split_overfull(&tile, count, &out);
}

} // namespace sample

#endif
