/* balance.cuh - sums of hashes that tell whether elements were lost, came twice or were changed:
 * what is read is added, and what is written is subtracted. */
#ifndef RECSORT_CUDA_BALANCE_CUH
#define RECSORT_CUDA_BALANCE_CUH

#include <string.h>

#include "cuda/device.h"
#include "cuda/plan.h"

/* A hash of two words, with other constants for each `number`: a product as in NH (Black and
 * others, "UMAC", 1999), so that it matters which words come together. Three instructions add it to
 * a sum.
 */
DEVICE_INLINE uint64_t hash_words(uint32_t a, uint32_t b, uint32_t number)
{
  const uint32_t more = number * 0xc2b2ae35u;
  return (uint64_t)(a + (0x9e3779b9u + more)) * (b + (0x85ebca6bu + more));
}

/* The words of a number, or of other bytes. */
template <class Type> struct words_of {
  static constexpr uint32_t count = (sizeof(Type) + 3) / 4;
  uint32_t of[count] = {};

  DEVICE_MEMBER explicit words_of(const Type &from)
  {
    memcpy(of, &from, sizeof from);
  }
};

template <class Key> DEVICE_INLINE uint64_t hash_key(const Key &key)
{
  const words_of<Key> words(key);
  if constexpr (words_of<Key>::count == 1) {
    return hash_words(words.of[0], words.of[0] * 0x27d4eb2fu, 0);
  } else {
    uint64_t hash = 0;
    DEVICE_UNROLL
    for (uint32_t w = 1; w < words.count; w++)
      hash += hash_words(words.of[w - 1], words.of[w], w - 1);
    return hash;
  }
}

/* Each word of either comes together with one of the other. */
template <class Key, class Value>
DEVICE_INLINE uint64_t hash_both(const Key &key, const Value &value)
{
  const words_of<Key> keys(key);
  const words_of<Value> values(value);
  constexpr uint32_t most = keys.count > values.count ? keys.count : values.count;
  uint64_t hash = 0;
  DEVICE_UNROLL
  for (uint32_t w = 0; w < most; w++)
    hash += hash_words(keys.of[w % keys.count], values.of[w % values.count], w);
  return hash;
}

/* The hash of an index in its place. */
DEVICE_INLINE uint64_t hash_placed(uint32_t index, uint32_t place)
{
  return hash_words(index, place, 8);
}

/* If the sum of the hashes of n indices is that of the numbers below n, they are a permutation. */
DEVICE_INLINE uint64_t hash_index(uint64_t index)
{
  const uint32_t low = (uint32_t)index;
  return hash_words(low, (uint32_t)(index >> 32) ^ low * 0x27d4eb2fu, 0);
}

/* The sum of 32-bit numbers over a warp. Sums their halves separately, so that nothing
 * overflows. */
DEVICE_INLINE uint64_t sum_warp(uint32_t number)
{
  const uint64_t low = device_warp_sum(number & 0xffff), high = device_warp_sum(number >> 16);
  return low + (high << 16);
}

/* The sum of the lanes' numbers. By all lanes of the warp. */
DEVICE_INLINE uint64_t sum_wide(uint64_t number)
{
  return sum_warp((uint32_t)number) + (sum_warp((uint32_t)(number >> 32)) << 32);
}

/* The sum of the numbers of a block's warps, in shared memory: `parts` has one for each. By all
 * threads of the block; a barrier, and add_parts(), must follow. */
DEVICE_INLINE void sum_parts(uint64_t *parts, uint64_t number)
{
  const uint64_t mine = sum_wide(number);
  if (threadIdx.x % WARP_SIZE == 0) parts[threadIdx.x / WARP_SIZE] = mine;
}

/* Adds these to the balance: atomic additions to one address come one after the other, so a block
 * adds once. */
DEVICE_INLINE void add_parts(const device_certificate &certificate, const uint64_t *parts)
{
  uint64_t all = 0;
  if (threadIdx.x != 0) return;
  for (uint32_t w = 0; w < blockDim.x / WARP_SIZE; w++)
    all += parts[w];
  (void)device_add64(certificate.balance, all);
}

/* A hash for a sum that loses its upper bits, which are the better ones of a product. */
DEVICE_INLINE uint64_t fold_hash(uint64_t hash)
{
  return hash ^ hash >> 32;
}

/* Sets a tally to 0 (tally.cuh), if there is one: a sort of few does, as a launch only for that
 * takes longer. */
DEVICE_INLINE void clear_tally(uint64_t *tally)
{
  if (tally && blockIdx.x == 0 && threadIdx.x == 0) *tally = 0;
}

/* Adds the numbers of all threads of the block, of which there are `threads`, to the balance. By
 * all threads; one barrier. */
template <uint32_t threads>
DEVICE_INLINE void add_to_balance(const device_certificate &certificate, uint64_t number)
{
  DEVICE_SHARED_ARRAY(uint64_t, parts, threads / WARP_SIZE);
  sum_parts(parts, number);
  __syncthreads();
  add_parts(certificate, parts);
}

#endif
