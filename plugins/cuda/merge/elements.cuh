/* elements.cuh - what a block sorts in shared memory in place of keys: elements of 32 bits, each a
 * digest of a key, and below it the key's tag, its number in the chunk. No two elements are the
 * same, so they are compared as numbers, and equal digests go by tag.
 *
 * That is the stable order unless keys that differ share a digest. repair_order() then exchanges
 * neighbours; where it gives up, the caller compares keys.
 */
#ifndef RECSORT_CUDA_MERGE_ELEMENTS_CUH
#define RECSORT_CUDA_MERGE_ELEMENTS_CUH

#include "cuda/merge/digest.cuh"
#include "cuda/merge/plan.h"

namespace merge
{

/* Goes behind all elements: no tag has all bits set, as the keys of a chunk are no power of two. */
static constexpr uint32_t no_element = UINT32_MAX;

template <class Key> struct element_form {
  key_digest<Key> digest;
  uint32_t tag_bits;

  DEVICE_MEMBER uint32_t of(Key key, uint32_t tag) const
  {
    DEVICE_ASSERT(tag >> tag_bits == 0);
    return digest.of(key) << tag_bits | tag;
  }
  DEVICE_MEMBER uint32_t tag(uint32_t element) const
  {
    return element & ((1u << tag_bits) - 1);
  }
  DEVICE_MEMBER bool same_digest(uint32_t a, uint32_t b) const
  {
    return (a ^ b) >> tag_bits == 0;
  }
};

/* For a chunk of up to `count` keys from `least` to `greatest`. */
template <class Key>
DEVICE_INLINE element_form<Key> form_elements(Key least, Key greatest, uint32_t count)
{
  DEVICE_ASSERT(count > 1);
  const uint32_t tag_bits = 32 - device_clz32(count - 1);
  return {digest_of(least, greatest, 32 - tag_bits), tag_bits};
}

/* ---- Merging two runs ---- */

/* Two runs of `width` elements in one piece: the left one ascends from place `first` on, the right
 * one behind it descends to it from place `last` on. Where one run ends the greatest elements of
 * the other begin, so a thread that merges them need not look for the end. */
struct sibling_runs {
  const uint32_t *elements;
  uint32_t first, last, width;
};

/* The co-rank: how many of the first `rank` elements of the merge come from the left run (PMPP,
 * fig. 12.5). */
DEVICE_INLINE uint32_t sibling_co_rank(sibling_runs runs, uint32_t rank)
{
  DEVICE_ASSERT(rank <= 2 * runs.width);
  const uint32_t *const lefts = runs.elements + runs.first;
  const uint32_t *const rights = runs.elements + runs.last + 1 - rank;
  uint32_t low = rank > runs.width ? rank - runs.width : 0;
  uint32_t high = rank < runs.width ? rank : runs.width;
  while (low < high) {
    const uint32_t i = (low + high) / 2;
    if (lefts[i] < rights[i])
      low = i + 1;
    else
      high = i;
  }
  DEVICE_ASSERT(low <= runs.width && rank - low <= runs.width);
  return low;
}

/* Merges elements [rank, rank + MERGE_CHUNK_ITEMS) of the output, a thread. */
DEVICE_INLINE void merge_items(sibling_runs runs, uint32_t rank, uint32_t *merged)
{
  const uint32_t i = sibling_co_rank(runs, rank);
  uint32_t at_left = runs.first + i, at_right = runs.last - (rank - i);
  uint32_t left = runs.elements[at_left], right = runs.elements[at_right];
  DEVICE_UNROLL
  for (uint32_t k = 0; k < MERGE_CHUNK_ITEMS; k++) {
    const bool goes_left = left < right;
    merged[k] = goes_left ? left : right;
    at_left += goes_left;
    at_right -= !goes_left;
    if (k + 1 == MERGE_CHUNK_ITEMS) break;
    const uint32_t next = runs.elements[goes_left ? at_left : at_right];
    left = goes_left ? next : left;
    right = goes_left ? right : next;
  }
}

/* ---- Keys of one digest ---- */

/* Exchanges neighbours of one digest whose keys are out of order, of the pairs of places that begin
 * at an even place, or at an odd one. All threads of the block share the work. Returns whether this
 * thread exchanged any. */
template <class Keys, class Key>
DEVICE_INLINE bool swap_inverted(uint32_t *elements, uint32_t count, uint32_t odd, const Keys &keys,
                                 const element_form<Key> &form)
{
  bool any = false;
  DEVICE_UNROLL_BY_4
  for (uint32_t i = 2 * threadIdx.x + odd; i + 1 < count; i += 2 * blockDim.x) {
    const uint32_t left = elements[i], right = elements[i + 1];
    if (!form.same_digest(left, right)) continue;
    if (LEFT_GOES_FIRST(keys.at(form.tag(left)), keys.at(form.tag(right)))) continue;
    elements[i] = right;
    elements[i + 1] = left;
    any = true;
  }
  return any;
}

/* Sorts elements of one digest by their keys, if a few rounds of odd-even transposition are enough.
 * Returns whether all `count` elements are in order, the same to all threads. Up to 12 barriers. */
template <class Keys, class Key>
DEVICE_INLINE bool repair_order(uint32_t *elements, uint32_t count, const Keys &keys,
                                const element_form<Key> &form)
{
  enum { ROUNDS = 4 };
  DEVICE_SHARED_ARRAY(uint32_t, inverted, 1);
  if (form.digest.shift == 0) return true;
  for (uint32_t round = 0; round < ROUNDS; round++) {
    if (threadIdx.x == 0) *inverted = 0;
    const bool even = swap_inverted(elements, count, 0, keys, form);
    __syncthreads();
    const bool odd = swap_inverted(elements, count, 1, keys, form);
    if (even || odd) (void)device_or32(inverted, 1);
    __syncthreads();
    const bool done = *inverted == 0;
    __syncthreads();
    if (done) return true;
  }
  return false;
}

} // namespace merge

#endif
