/* check.cuh - checks an order: that it is a permutation, and that the pairs of keys and indices
 * ascend. */
#ifndef RECSORT_CUDA_RECORDS_CHECK_CUH
#define RECSORT_CUDA_RECORDS_CHECK_CUH

#include "cuda/records/key.cuh"
#include "cuda/records/threads.cuh"
#include "gpu/records.h"

namespace records
{

struct check_args {
  static constexpr uint32_t max_threads = BLOCK;
  const void *order;
  uint32_t *seen;
  records_facts *facts;
  uint64_t count;
  uint32_t index_bits;
};

/* Reads the indices. Sets bit `index` of `seen` for each, and facts->broken if it was set already:
 * if n indices below n all differ, they are a permutation.
 *
 * The bits are far apart, so each atomic operation takes a sector of the cache: a bit of a record,
 * and not a byte, lets more of `seen` stay in the L2 cache. */
template <class = void>
__global__ void __launch_bounds__(check_args::max_threads)
    check_order(const __grid_constant__ check_args args)
{
  device_await_before();
  const uint64_t i = thread_number();
  if (i >= args.count) return;
  const uint64_t at = index_at(args.order, args.index_bits, i);
  if (at >= args.count) {
    args.facts->broken = 1;
    return;
  }
  const uint32_t bit = 1u << at % 32;
  const uint32_t before = device_or32(&args.seen[at / 32], bit);
  if (before & bit) args.facts->broken = 1;
}

/* `seen` has records_seen_bytes(count) bytes. */
template <class = void>
device_status start_check_order(const void *order, uint32_t index_bits, uint64_t count,
                                uint32_t *seen, records_facts *facts, void *stream)
{
  const check_args args = {order, seen, facts, count, index_bits};
  const device_status status = device_clear(seen, records_seen_bytes(count), stream);
  if (status) return status;
  return device_launch(check_order<>, plan_blocks(count, BLOCK), BLOCK, 0, stream, args);
}

/* ---- Pairs ---- */

struct ordered_args {
  static constexpr uint32_t max_threads = BLOCK;
  records_order order;
};

/* Less than, equal to or greater than 0 if key a is less than, equal to or greater than key b. */
DEVICE_INLINE int compare_keys(const void *keys, uint32_t key_width, uint64_t a, uint64_t b)
{
  if (key_width == 32) {
    const uint32_t x = ((const uint32_t *)keys)[a], y = ((const uint32_t *)keys)[b];
    return (x > y) - (x < y);
  }
  const uint64_t *const words = (const uint64_t *)keys;
  const uint32_t each = key_width / 64;
  for (uint32_t w = each; w-- > 0;) {
    const uint64_t x = words[a * each + w], y = words[b * each + w];
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

/* True if index `i` does not come after the one before it. */
DEVICE_INLINE bool is_turned(const records_order *order, uint64_t i)
{
  return index_at(order->indices, order->index_bits, i - 1) >=
         index_at(order->indices, order->index_bits, i);
}

/* True if pair `i` does not come after the one before it. */
DEVICE_INLINE bool is_disordered(const records_order *order, uint64_t i)
{
  const int compared = compare_keys(order->keys, order->key_width, i - 1, i);
  return compared > 0 || (compared == 0 && is_turned(order, i));
}

enum { CHECKED = 8 }; /* pairs of a thread, whose loads overlap */

/* The place of the thread's pair number `t`. Beyond the end it is that of the last pair. */
DEVICE_INLINE uint64_t checked_place(const records_order *order, uint64_t first, uint32_t t)
{
  return plan_min(first + t * blockDim.x, order->count - 1);
}

/* Compares each of the thread's pairs with the one before it. `key_width` is a compile-time
 * constant. */
DEVICE_INLINE bool are_disordered(const records_order *order, uint64_t first, uint32_t key_width)
{
  int compared[CHECKED];
  bool wrong = false;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CHECKED; t++) {
    const uint64_t i = checked_place(order, first, t);
    compared[t] = compare_keys(order->keys, key_width, i - 1, i);
  }
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CHECKED; t++) {
    const bool tie = compared[t] == 0;
    wrong |= compared[t] > 0 || (tie && is_turned(order, checked_place(order, first, t)));
  }
  return wrong;
}

/* What pair `i` adds to the balance, so that it becomes 0. A sort that leaves no keys has added the
 * indices with their places. If the balance has the pairs of the input, the pair is subtracted.
 * Otherwise it shows whether the indices are a permutation. */
DEVICE_INLINE uint64_t balance_at(const records_order *order, uint64_t i)
{
  const uint64_t index = index_at(order->indices, order->index_bits, i);
  if (!order->keys) return 0 - hash_placed((uint32_t)index, (uint32_t)i);
  if (!order->certificate.index_bits) return hash_index(index) - hash_index(i);
  return 0 - hash_numbered(load_key(order->keys, order->key_width, i), order->key_width, index,
                           order->index_bits);
}

/* Reads the sorted pairs. Writes the certificate: whether they ascend, and what makes the
 * balance 0.
 *
 * A load takes so long that a thread needs several in flight: it loads CHECKED pairs before it
 * compares one. What a pair is compared with, its neighbour has loaded, so it is in the cache. */
template <class = void>
__global__ void __launch_bounds__(ordered_args::max_threads)
    check_pairs(const __grid_constant__ ordered_args args)
{
  device_await_before();
  const uint64_t first = (uint64_t)blockIdx.x * blockDim.x * CHECKED + threadIdx.x + 1;
  const records_order *const order = &args.order;
  uint64_t sum = 0;
  const bool wrong =
      order->count > 1 && (order->key_width == 32   ? are_disordered(order, first, 32)
                           : order->key_width == 64 ? are_disordered(order, first, 64)
                                                    : are_disordered(order, first, 128));
  if (wrong) device_poke32(order->certificate.disorder, 1);
  if (!order->certificate.balance) return;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CHECKED; t++) {
    const uint64_t i = first - 1 + t * blockDim.x;
    if (i < order->count) sum += balance_at(order, i);
  }
  add_to_balance<BLOCK>(order->certificate, sum);
}

template <class = void> device_status start_check_pairs(const records_order *order, void *stream)
{
  const ordered_args args = {*order};
  return device_launch(check_pairs<>, plan_blocks(order->count, BLOCK * CHECKED), BLOCK, 0, stream,
                       args);
}

} // namespace records

#endif
