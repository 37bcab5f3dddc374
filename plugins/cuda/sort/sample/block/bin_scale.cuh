/* bin_scale.cuh - the bins of a range of keys, of equal width, for one type of pair. */
#ifndef RECSORT_CUDA_SAMPLE_BIN_SCALE_CUH
#define RECSORT_CUDA_SAMPLE_BIN_SCALE_CUH

#include "cuda/pair.cuh"
#include "cuda/sort/sample/block/bins.cuh"

namespace sample
{

/* The 32 bits after the first `zeros` bits of a key; these are not all of its bits. */
template <class Key> DEVICE_INLINE uint32_t lead_of_key(Key key, uint32_t zeros)
{
  DEVICE_ASSERT(zeros < 8 * sizeof(Key));
  if (sizeof(Key) == sizeof(uint32_t)) return (uint32_t)key << zeros;
  if (sizeof(Key) > sizeof(uint64_t)) {
    const uint64_t high = (uint64_t)((device_uint128)key >> 64);
    if (zeros <= 32) return lead_of(high, zeros);
    if (zeros < 64) return lead_of(high << 32 | (uint64_t)key >> 32, zeros - 32);
    return lead_of((uint64_t)key, zeros - 64);
  }
  return lead_of((uint64_t)key, zeros);
}

/* Maps a pair to its bin by its distance from the origin, of which it uses the most significant 32
 * bits. If key and index fit in 64 bits, the distance includes the index, and leaves out the low
 * zero bits that most keys share. */
template <class Pair> struct index_scale {
  uint64_t index_origin;
  uint32_t index_bits; /* 0: the distance does not include the index */
  uint32_t tail;       /* low zero bits that keys share */
};
template <> struct index_scale<packed_pair> {
};

template <class Pair> struct bin_scale : index_scale<Pair> {
  key_of<Pair> origin;
  uint32_t zeros;
  uint32_t factor;
};

/* The distance of a pair from the origin; `key` already is a distance. A key whose low bits are not
 * zero counts as the last index of the next lower key whose low bits are. */
template <class Pair>
DEVICE_INLINE uint64_t wide_in(const bin_scale<Pair> *scale, key_of<Pair> key, index_of<Pair> index)
{
  DEVICE_ASSERT(scale->index_bits < 64);
  const key_of<Pair> head = key >> scale->tail;
  const uint64_t last = (UINT64_C(1) << scale->index_bits) - 1;
  const uint64_t place = head << scale->tail == key ? index : last;
  return ((uint64_t)head << scale->index_bits) + place - scale->index_origin;
}

/* The scale that cuts the range from `least` to `greatest`, inclusive, into `bins` bins. The two
 * keys, and most of those between them, agree in their last `tail` bits. */
template <class Pair>
DEVICE_INLINE bin_scale<Pair> scale_of(Pair least, Pair greatest, uint32_t index_bits,
                                       uint32_t tail, uint32_t bins)
{
  const key_of<Pair> range = greatest.key - least.key;
  bin_scale<Pair> scale;
  scale.origin = least.key;
  scale.zeros = range ? leading_zeros(range) : 0;
  uint32_t top = lead_of_key(range, scale.zeros);
  if constexpr (!Pair::packed) {
    const uint32_t bits = range ? 8 * sizeof(key_of<Pair>) - scale.zeros : tail;
    scale.index_bits = packs(bits - tail, index_bits, 64) ? index_bits : 0;
    scale.index_origin = least.index;
    scale.tail = tail;
    if (scale.index_bits) {
      const uint64_t wide = wide_in(&scale, range, greatest.index);
      scale.zeros = wide ? device_clz64(wide) : 0;
      top = lead_of(wide, scale.zeros);
    }
  }
  scale.factor = bin_factor(top, bins);
  return scale;
}

/* The most significant 32 bits of a pair's distance; bin_at() maps them to a bin. */
template <class Pair> DEVICE_INLINE uint32_t lead_in(const bin_scale<Pair> *scale, Pair pair)
{
  const key_of<Pair> key = pair.key - scale->origin;
  if constexpr (!Pair::packed) {
    if (scale->index_bits) return lead_of(wide_in(scale, key, pair.index), scale->zeros);
  }
  return lead_of_key(key, scale->zeros);
}

} // namespace sample

#endif
