/* gather.cuh - moves records by an order. The memory limits it: of a record that lies anywhere,
 * whole sectors of 32 bytes are read. */
#ifndef RECSORT_CUDA_RECORDS_GATHER_CUH
#define RECSORT_CUDA_RECORDS_GATHER_CUH

#include "cuda/records/check.cuh"
#include "cuda/record_units.cuh"

namespace records
{

enum { GATHERED = 2 }; /* units of a thread, whose loads overlap */

struct gather_args {
  static constexpr uint32_t max_threads = BLOCK;
  record_units units;
  records_order order;
};

/* Reads the order, and each record where it lies. Writes the records one behind the other. If the
 * order has a certificate, reads the keys too, if there are any, and does what check_pairs does.
 *
 * A block has the indices of its records in shared memory. Its threads share the units of the
 * records, so that a warp writes whole lines, and reads whole sectors of each record. */
template <class = void>
__global__ void __launch_bounds__(gather_args::max_threads)
    gather_records(const __grid_constant__ gather_args args)
{
  device_await_before();
  DEVICE_SHARED_ARRAY(uint64_t, places, BLOCK);
  DEVICE_SHARED_ARRAY(uint64_t, parts, BLOCK / WARP_SIZE);
  const records_order *const order = &args.order;
  const uint64_t i = thread_number(), first = i - threadIdx.x;
  const uint32_t count = (uint32_t)plan_min(order->count - first, blockDim.x);
  if (i < order->count) places[threadIdx.x] = index_at(order->indices, order->index_bits, i);
  if (order->certificate.balance) sum_parts(parts, i < order->count ? balance_at(order, i) : 0);
  __syncthreads();
  if (order->certificate.balance) add_parts(order->certificate, parts);
  const bool checked = order->certificate.disorder && order->keys;
  if (checked && i > 0 && i < order->count && is_disordered(order, i))
    device_poke32(order->certificate.disorder, 1);
  move_records<GATHERED>(&args.units, first, places, count);
}

template <class = void>
device_status start_gather(const void *records, uint64_t record_size, const records_order *order,
                           void *to, void *stream)
{
  const gather_args args = {record_units_of(records, to, record_size, BLOCK), *order};
  const device_status status = device_prefer_cache(gather_records<>);
  return status ? status
                : device_launch(gather_records<>, plan_blocks(order->count, BLOCK), BLOCK, 0,
                                stream, args);
}

} // namespace records

#endif
