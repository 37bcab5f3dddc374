/* certificate.cuh - what shows that a result is right, from what kernels have at hand anyway.
 *
 * The balance is a sum of hashes: split adds those of the elements that it reads from the caller,
 * and whoever writes a sorted element subtracts its hash. list_parts adds the hash of each part,
 * and who sorts the part subtracts it. So the balance is 0 in the end, unless an element or a part
 * was lost, came twice or was changed. It tells so with a probability of about 1 - 2^-32.
 *
 * list_parts also checks that splitters ascend. The block that writes a part checks that its codes
 * ascend and are between its splitters, and that equal codes of numbered elements are in the order
 * of their numbers. Nothing checks that order from one part to the next.
 */
#ifndef RECSORT_CUDA_CARRY_CERTIFICATE_CUH
#define RECSORT_CUDA_CARRY_CERTIFICATE_CUH

#include <string.h>

#include "cuda/balance.cuh"
#include "cuda/sort/carry/elements.cuh"

namespace carry
{

/* The hash of element `at` of an array. */
template <class Key, class Value>
DEVICE_INLINE uint64_t hash_at(const element_array<Key, Value> &from, uint64_t at)
{
  if constexpr (has_value<Value>)
    return hash_both(from.keys[at], from.values[at]);
  else
    return hash_key(from.keys[at]);
}

/* Adds the numbers of a warp's lanes to one in shared memory. */
DEVICE_INLINE void add_to_block(uint64_t *sum, uint64_t mine)
{
  const uint64_t all = sum_wide(mine);
  if (threadIdx.x % WARP_SIZE == 0) (void)device_add64(sum, all);
}

/* Adds the sum of a block. One of its threads does, behind a barrier. */
DEVICE_INLINE void add_block(const device_certificate &certificate, uint64_t sum)
{
  if (certificate.disorder && threadIdx.x == 0) (void)device_add64(certificate.balance, sum);
}

/* The number of the lane before; that of lane 0 is its own. */
template <class Number> DEVICE_INLINE Number number_before(Number number)
{
  words_of<Number> words(number);
  Number before;
  DEVICE_UNROLL
  for (uint32_t w = 0; w < words.count; w++)
    words.of[w] = __shfl_up_sync(UINT32_MAX, words.of[w], 1);
  memcpy(&before, words.of, sizeof before);
  return before;
}

} // namespace carry

#endif
