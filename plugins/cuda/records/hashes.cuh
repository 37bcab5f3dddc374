/* hashes.cuh - adds the hashes of records to a sum. */
#ifndef RECSORT_CUDA_RECORDS_HASHES_CUH
#define RECSORT_CUDA_RECORDS_HASHES_CUH

#include "cuda/balance.cuh"
#include "cuda/records/threads.cuh"
#include "recsort/record_hash.h"

namespace records
{

/* The bytes that are loaded at once: they divide the address and size of each record. */
static inline uint32_t load_unit(uint64_t record_size)
{
  return record_size % 8 == 0 ? 8 : record_size % 4 == 0 ? 4 : 1;
}

DEVICE_INLINE uint64_t hash_record(const unsigned char *record, uint64_t size, uint32_t unit)
{
  if (unit == 8) return record_hash(record, size, 8);
  if (unit == 4) return record_hash(record, size, 4);
  return record_hash(record, size, 1);
}

/* Adds the hashes of all threads of the block to `sums`. By all threads; one barrier. */
DEVICE_INLINE void add_hashes(record_sums *sums, uint64_t hash)
{
  constexpr uint32_t WARPS = BLOCK / WARP_SIZE;
  DEVICE_SHARED_ARRAY(record_sums, parts, WARPS);
  const uint64_t low = sum_warp((uint32_t)hash), high = sum_warp((uint32_t)(hash >> 32));
  if (threadIdx.x % WARP_SIZE == 0) {
    parts[threadIdx.x / WARP_SIZE].low = low;
    parts[threadIdx.x / WARP_SIZE].high = high;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  record_sums all = parts[0];
  for (uint32_t w = 1; w < WARPS; w++) {
    all.low += parts[w].low;
    all.high += parts[w].high;
  }
  (void)device_add64(&sums->low, all.low);
  (void)device_add64(&sums->high, all.high);
}

} // namespace records

#endif
