/* load.cuh - loads pairs: some or all of a block's, or a sample of them. */
#ifndef RECSORT_CUDA_SAMPLE_LOAD_CUH
#define RECSORT_CUDA_SAMPLE_LOAD_CUH

#include "cuda/key_words.h"
#include "cuda/sort/sample/agent/args.cuh"
#include "cuda/sort/sample/agent/policy.cuh"

namespace sample
{

template <class Pair>
DEVICE_INLINE index_of<Pair> load_index(const pair_source<Pair> *source, uint64_t i)
{
  return source->pairs.indices ? source->pairs.indices[i] : (index_of<Pair>)i;
}

template <class Pair>
DEVICE_INLINE Pair pack(const pair_source<Pair> *source, uint64_t key, uint64_t i)
{
  DEVICE_ASSERT(i >> source->index_bits == 0);
  DEVICE_ASSERT(key << source->index_bits >> source->index_bits == key);
  const Pair pair = {key << source->index_bits | i};
  return pair;
}

template <class Pair> DEVICE_INLINE Pair load(const pair_source<Pair> *source, uint64_t i)
{
  if constexpr (Pair::packed) {
    switch (source->form) {
    case SOURCE_KEYS_32:
      return pack(source, ((const uint32_t *)source->keys)[i], i);
    case SOURCE_KEYS_64:
      return pack(source, ((const uint64_t *)source->keys)[i], i);
    case SOURCE_KEYS_128:
      return pack(source, (uint64_t)((const device_uint128 *)source->keys)[i], i);
    case SOURCE_WORDS:
      return pack(source, key_of_word(&source->words, i), i);
    default:
      return pair_get(&source->pairs, i);
    }
  } else {
    Pair pair;
    pair.key = source->pairs.keys[i];
    pair.index = load_index(source, i);
    return pair;
  }
}

/* The position of sample `i`. Samples are `distance` / 2^16 pairs apart, with a random offset, so
 * that no pattern of the input is in step with them. All positions differ. */
DEVICE_INLINE uint64_t sample_position(uint32_t i, uint64_t distance)
{
  const uint64_t first = i * distance >> 16, next = (i + 1) * distance >> 16;
  const uint32_t chance = (i + 1) * 2654435761u >> 16; /* Knuth, volume 3, 6.4 */
  return first + (chance * (next - first) >> 16);
}

/* Which pairs a block loads, consecutive ones or a sample: at(i) is the position of the i-th. */
struct neighbours {
  uint64_t begin;

  __device__ __forceinline__ uint64_t at(uint32_t i) const
  {
    return begin + i;
  }
};

struct sampled {
  uint32_t begin;
  uint64_t distance; /* between samples, in 2^-16 pairs */

  __device__ __forceinline__ uint64_t at(uint32_t i) const
  {
    return sample_position(begin + i, distance);
  }
};

/* Loads the thread's share, at most `items` pairs. Elements of `mine` beyond the share of the whole
 * warp are left alone. `whole` is a compile-time constant. Tests the form of the source once, not
 * for each pair. */
template <source_reading How = READS_EITHER, class Pair, class Which>
DEVICE_INLINE void load_items(const pair_source<Pair> *source, Which &&which,
                              const block_share *share, uint32_t items, bool whole, Pair *mine)
{
  const auto load_each = [&](auto load_one) {
    DEVICE_UNROLL
    for (uint32_t t = 0; t < items; t++) {
      if (!share_goes_on(share, t, whole)) break;
      if (share_has(share, t, whole)) mine[t] = load_one(which.at(share_at(share, t)));
    }
  };
  if constexpr (Pair::packed) {
    const uint32_t *const narrow = (const uint32_t *)source->keys;
    const uint64_t *const wide = (const uint64_t *)source->keys;
    if (source->form == SOURCE_KEYS_32) {
      load_each([&](uint64_t at) { return pack(source, narrow[at], at); });
      return;
    }
    if (source->form == SOURCE_WORDS) {
      load_each([&](uint64_t at) { return pack(source, key_of_word(&source->words, at), at); });
      return;
    }
    if (source->form == SOURCE_KEYS_64) {
      load_each([&](uint64_t at) { return pack(source, wide[at], at); });
      return;
    }
    if (How == READS_KEYS || source->form == SOURCE_KEYS_128) {
      const device_uint128 *const widest = (const device_uint128 *)source->keys;
      load_each([&](uint64_t at) { return pack(source, (uint64_t)widest[at], at); });
      return;
    }
  }
  load_each([&](uint64_t at) {
    if constexpr (Pair::packed)
      return pair_get(&source->pairs, at);
    else
      return load(source, at);
  });
}

/* Loads the thread's share of a tile to shared memory, in two halves to save registers: unrolled,
 * they spill. */
template <class Pair, class Which>
DEVICE_INLINE void load_to_tile(const pair_source<Pair> *source, Which which,
                                const block_share *mine, const pair_array<Pair> *to)
{
  enum { HALF = policy<Pair>::items / 2 };
  DEVICE_ROLLED
  for (uint32_t half = 0; half < 2; half++) {
    const block_share share = share_from(mine, half * HALF);
    Pair some[HALF] = {};
    load_items(source, which, &share, HALF, false, some);
    DEVICE_UNROLL
    for (uint32_t t = 0; t < HALF; t++)
      if (share_has(&share, t, false)) pair_put(to, share_at(&share, t), some[t]);
  }
}

} // namespace sample

#endif
