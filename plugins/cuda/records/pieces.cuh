/* pieces.cuh - moves records by an order to the memory of several devices at a time. */
#ifndef RECSORT_CUDA_RECORDS_PIECES_CUH
#define RECSORT_CUDA_RECORDS_PIECES_CUH

#include "cuda/records/gather.cuh"

namespace records
{

/* Blocks that follow one another take parts that are far apart: some go to this device and some to
 * each of the others. Otherwise all would go over the same wire, then none. */
enum { PARTS = 16, LINE = 128 };

struct pieces_args {
  static constexpr uint32_t max_threads = BLOCK;
  record_units units; /* without a target */
  records_order order;
  uint64_t part; /* blocks */
  uint32_t piece_count;
  uint32_t skips[RECORDS_MOST_PIECES]; /* records that the first block of a piece has not */
  records_piece pieces[RECORDS_MOST_PIECES];
};

/* How many blocks gather a piece. */
DEVICE_INLINE uint64_t piece_blocks(const pieces_args *args, uint32_t p)
{
  return plan_blocks(args->pieces[p].count + args->skips[p], BLOCK);
}

/* Writes key `i` of the order to place `at`. */
DEVICE_INLINE void copy_key(const records_order *order, uint64_t i, void *to, uint64_t at)
{
  if (order->key_width == 32)
    ((uint32_t *)to)[at] = ((const uint32_t *)order->keys)[i];
  else if (order->key_width == 64)
    ((uint64_t *)to)[at] = ((const uint64_t *)order->keys)[i];
  else
    ((records_unit16 *)to)[at] = ((const records_unit16 *)order->keys)[i];
}

/* Reads the order, and each record where it lies. Writes the records of each piece to its memory,
 * and their keys, if these are wanted. If the order has a certificate, looks whether the keys
 * ascend.
 *
 * The wires between devices limit it: each block writes a part of one piece, and blocks that run at
 * a time write to all devices. */
template <class = void>
__global__ void __launch_bounds__(pieces_args::max_threads)
    gather_pieces(const __grid_constant__ pieces_args args)
{
  device_await_before();
  DEVICE_SHARED_ARRAY(uint64_t, places, BLOCK);
  const records_order *const order = &args.order;
  record_units units = args.units;
  uint64_t block = blockIdx.x % PARTS * args.part + blockIdx.x / PARTS;
  uint32_t p = 0;
  while (p < args.piece_count && block >= piece_blocks(&args, p))
    block -= piece_blocks(&args, p++);
  if (p == args.piece_count) return;
  const records_piece *const piece = &args.pieces[p];
  const uint64_t first = block ? block * BLOCK - args.skips[p] : 0;
  const uint64_t end = plan_min((block + 1) * BLOCK - args.skips[p], piece->count);
  const uint64_t i = piece->first + first + threadIdx.x;
  const uint32_t count = (uint32_t)(end - first);
  if (threadIdx.x < count) places[threadIdx.x] = index_at(order->indices, order->index_bits, i);
  __syncthreads();
  if (order->certificate.disorder && i > 0 && threadIdx.x < count && is_disordered(order, i))
    device_poke32(order->certificate.disorder, 1);
  if (piece->keys_to && threadIdx.x < count)
    copy_key(order, i, piece->keys_to, first + threadIdx.x);
  units.to = piece->to;
  move_records<GATHERED>(&units, first, places, count);
}

/* So many fewer records in the first block, that the others begin where a line of memory does, if
 * records allow it: each warp then writes whole lines to another device. */
static inline uint32_t skip_of(const records_piece *piece, uint64_t record_size)
{
  uint32_t skip = 0;
  while (skip + 1 < BLOCK && ((uintptr_t)piece->to + (BLOCK - skip) * record_size) % LINE != 0)
    skip++;
  return skip;
}

template <class = void>
device_status start_gather_pieces(const void *records, uint64_t record_size,
                                  const records_order *order, const records_piece *pieces,
                                  uint32_t piece_count, void *stream)
{
  pieces_args args = {{}, *order, 0, piece_count, {}, {}};
  uintptr_t targets = 0;
  uint64_t blocks = 0;
  for (uint32_t p = 0; p < piece_count; p++) {
    args.pieces[p] = pieces[p];
    args.skips[p] = skip_of(&pieces[p], record_size);
    targets |= (uintptr_t)pieces[p].to;
    blocks += plan_blocks(pieces[p].count + args.skips[p], BLOCK);
  }
  args.units = record_units_of(records, (void *)targets, record_size, BLOCK);
  args.part = plan_blocks(blocks, PARTS);
  return blocks ? device_launch(gather_pieces<>, args.part * PARTS, BLOCK, 0, stream, args) : 0;
}

} // namespace records

#endif
