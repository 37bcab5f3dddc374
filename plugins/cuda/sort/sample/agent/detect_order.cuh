/* detect_order.cuh - detects whether the keys ascend or descend already, and writes the result in
 * case they do. */
#ifndef RECSORT_CUDA_SAMPLE_DETECT_ORDER_CUH
#define RECSORT_CUDA_SAMPLE_DETECT_ORDER_CUH

#include "cuda/sort/sample/agent/order_flags.cuh"
#include "cuda/pair.cuh"
#include "cuda/sort/sample/block/shares.cuh"
namespace sample
{

struct detect_args {
  static constexpr uint32_t max_threads = DETECT_BLOCK;

  /* reads */
  const void *keys;
  uint64_t count;
  bool mergeable; /* keys that nearly ascend are of use */
  /* writes */
  void *numbered;    /* indices, if keys ascend */
  void *copied_keys; /* and a copy of them; NULL: not wanted */
  void *turned_keys;
  void *turned; /* and their indices, if keys descend */
  order_flags *flags;
  uint32_t *unchanged; /* set to whether keys ascend; NULL: not wanted */
  order_report report;
};

DEVICE_INLINE void report_order(const detect_args *args, const volatile order_flags *flags)
{
  const key_order found = !flags->unsorted                    ? KEYS_ASCEND
                          : !flags->unreversed                ? KEYS_DESCEND
                          : args->mergeable && !flags->unlike ? KEYS_NEARLY_ASCEND
                                                              : KEYS_MIXED;
  if (args->unchanged) *args->unchanged = found == KEYS_ASCEND;
  report(&args->report, found, found);
}

/* One thread. Reads nothing; writes empty flags. Faster than a memset, as the next kernel may
 * overlap it. */
static __global__ void __launch_bounds__(WARP_SIZE)
    clear_flags(const __grid_constant__ detect_args args)
{
  device_await_before();
  const order_flags none = {0};
  *args.flags = none;
}

/* Samples pairs of keys, both neighbours and distant ones, two for each thread of the block, and
 * counts those that descend. By all threads of the block; one barrier. */
template <class Pair> DEVICE_INLINE uint32_t sample_order(const key_of<Pair> *keys, uint64_t last)
{
  const uint64_t distance = last / blockDim.x, i = plan_min(threadIdx.x * distance, last - 1);
  const key_of<Pair> here = keys[i], neighbour = keys[i + 1];
  const bool less = neighbour < here;
  const bool far_less = distance > 1 ? keys[i + distance] < neighbour : less;
  return block_sum((less ? 1u : 0) + (far_less ? 1u : 0));
}

/* Reads 512 neighbours and far pairs, and writes nothing if these are mixed, so that this case is
 * fast. Otherwise it reads all keys and writes the result as it goes: indices for keys that
 * ascend, and reversed pairs for keys that descend. A thread stops when the keys turn out to do
 * neither. Memory limits it, so a thread loads eight rounds of keys before it compares any. It
 * reports at its end: if all threads wrote flags as they went, they would wait for two words. */
template <class Pair>
__global__ void __launch_bounds__(DETECT_BLOCK, 1)
    detect_order(const __grid_constant__ detect_args args)
{
  enum { LOOKS = 8 };
  const key_of<Pair> *const keys = (const key_of<Pair> *)args.keys;
  const uint64_t chunk = (uint64_t)blockDim.x * LOOKS, last = args.count - 1;
  bool less = false, not_less = false;
  const uint32_t seen = sample_order<Pair>(keys, last);
  const bool mixed = seen > 0 && seen < 2 * blockDim.x;
  const bool first = blockIdx.x == 0 && threadIdx.x == 0;
  const order_flags sampled = {mixed, mixed, seen > 2 * blockDim.x / FEW_DESCEND, 0, 0, 0, 0};
  if (mixed && first) report_order(&args, &sampled);
  device_await_before();
  if (mixed) return;
  volatile order_flags *const flags = args.flags;
  if (first) flags->unlike = sampled.unlike;
  for (uint64_t begin = blockIdx.x * chunk; begin < args.count && !(less && not_less);
       begin += gridDim.x * chunk) {
    key_of<Pair> mine[LOOKS], before[LOOKS], behind[LOOKS];
    DEVICE_UNROLL
    for (uint32_t t = 0; t < LOOKS; t++) {
      const uint64_t i = begin + t * blockDim.x + threadIdx.x, pair = plan_min(i, last - 1);
      mine[t] = keys[plan_min(i, last)];
      before[t] = keys[pair];
      behind[t] = keys[pair + 1];
    }
    DEVICE_UNROLL
    for (uint32_t t = 0; t < LOOKS; t++) {
      less |= behind[t] < before[t];
      not_less |= behind[t] >= before[t];
    }
    if (less && not_less) break;
    DEVICE_UNROLL
    for (uint32_t t = 0; t < LOOKS; t++) {
      const uint64_t i = begin + t * blockDim.x + threadIdx.x;
      if (i > last) continue;
      if (less) {
        ((key_of<Pair> *)args.turned_keys)[last - i] = mine[t];
        ((index_of<Pair> *)args.turned)[last - i] = (index_of<Pair>)i;
      } else {
        if (args.copied_keys) ((key_of<Pair> *)args.copied_keys)[i] = mine[t];
        ((index_of<Pair> *)args.numbered)[i] = (index_of<Pair>)i;
      }
    }
  }
  if (less && !flags->unsorted) flags->unsorted = 1; /* a write costs more than a read */
  if (not_less && !flags->unreversed) flags->unreversed = 1;
  __syncthreads();
  if (threadIdx.x == 0 && device_is_last(&args.flags->looked)) report_order(&args, flags);
}

} // namespace sample

#endif
