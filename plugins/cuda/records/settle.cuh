/* settle.cuh - looks at the order of few records, and writes the job's status. */
#ifndef RECSORT_CUDA_RECORDS_SETTLE_CUH
#define RECSORT_CUDA_RECORDS_SETTLE_CUH

#include "cuda/records/check.cuh"
#include "cuda/records/reading.cuh"
#include "cuda/tally.cuh"

namespace records
{

/* True if the first pair comes before the other one. */
DEVICE_INLINE bool is_before(const record_key &key, uint64_t index, const record_key &other,
                             uint64_t other_index)
{
  if (key.words[1] != other.words[1]) return key.words[1] < other.words[1];
  if (key.words[0] != other.words[0]) return key.words[0] < other.words[0];
  return index < other_index;
}

struct settle_args {
  static constexpr uint32_t max_threads = BLOCK;
  record_source source;
  records_order order;
  uint64_t *tally;
  uint32_t *status;
};

enum { SETTLED = 4 }; /* pairs of a thread, whose loads overlap */

/* Reads the sorted pairs, and the records where they were, or a copy. Writes the status: whether
 * the pairs ascend, and each key is that of the record with its index. Then all indices differ, and
 * so they are a permutation. */
template <reading How>
__global__ void __launch_bounds__(settle_args::max_threads)
    settle(const __grid_constant__ settle_args args)
{
  device_await_before();
  const records_order *const order = &args.order;
  const uint64_t first = (uint64_t)blockIdx.x * blockDim.x * SETTLED + threadIdx.x,
                 last = order->count - 1;
  uint64_t indices[SETTLED], indices_before[SETTLED], words[SETTLED];
  record_key keys[SETTLED], keys_before[SETTLED];
  bool wrong = false;
  DEVICE_UNROLL
  for (uint32_t t = 0; t < SETTLED; t++) {
    const uint64_t i = checked_place(order, first, t), before = i - (i > 0);
    indices[t] = index_at(order->indices, order->index_bits, i);
    indices_before[t] = index_at(order->indices, order->index_bits, before);
    keys[t] = load_key(order->keys, order->key_width, i);
    keys_before[t] = load_key(order->keys, order->key_width, before);
  }
  DEVICE_UNROLL
  for (uint32_t t = 0; t < SETTLED; t++)
    words[t] = load_word<How>(args.source, plan_min(indices[t], last));
  DEVICE_UNROLL
  for (uint32_t t = 0; t < SETTLED; t++) {
    const uint64_t i = first + t * blockDim.x;
    bool valid = true;
    if (i > last) continue;
    const record_key key = key_with<How>(args.source, plan_min(indices[t], last), words[t], &valid);
    wrong |= indices[t] > last || !is_key(key, keys[t]) ||
             (i > 0 && !is_before(keys_before[t], indices_before[t], key, indices[t]));
  }
  settle_status<BLOCK>(args.tally, wrong, 0, args.status);
}

/* Starts it, for an order of at least one pair. */
template <class = void>
device_status start_settle(const records_program *program, const void *records,
                           const records_order *order, uint64_t *tally, uint32_t *status,
                           void *stream)
{
  const record_source source = source_of(program, records, NULL);
  const uint64_t grid = plan_blocks(order->count, BLOCK * SETTLED);
  RS_ASSERT(order->count > 0 && grid < TALLY_BLOCKS);
  return with_reading(source, [&](auto how) {
    const settle_args args = {source, *order, tally, status};
    return device_launch(settle<how>, grid, BLOCK, 0, stream, args);
  });
}

} // namespace records

#endif
