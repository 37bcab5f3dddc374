/* digest.cuh - what blocks compare in place of keys: 32 bits or fewer of how far a key is from the
 * block's least one. Two digests that differ order their keys. Two that are equal may leave out
 * where the keys differ; that is rare if keys are spread evenly, and never so if the range of the
 * block's keys has no more bits than the digest.
 */
#ifndef RECSORT_CUDA_MERGE_DIGEST_CUH
#define RECSORT_CUDA_MERGE_DIGEST_CUH

#include "cuda/pair.cuh"

namespace merge
{

template <class Key> struct key_digest {
  Key least;
  uint32_t shift; /* bits left out at the end; 0: digests tell all of the block's keys apart */

  DEVICE_MEMBER uint32_t of(Key key) const
  {
    return (uint32_t)((key - least) >> shift);
  }
};

/* A digest of `bits` bits for the keys from `least` to `greatest`. */
template <class Key> DEVICE_INLINE key_digest<Key> digest_of(Key least, Key greatest, uint32_t bits)
{
  DEVICE_ASSERT(!(greatest < least) && bits <= 32);
  const Key range = greatest - least;
  const uint32_t used = range ? 8 * sizeof(Key) - leading_zeros(range) : 0;
  return {least, used > bits ? used - bits : 0};
}

} // namespace merge

#endif
