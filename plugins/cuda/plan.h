/* plan.h - divides a sort into passes, blocks and tiles: pure functions of 64-bit integers, for the
 * host and the device. */
#ifndef RECSORT_CUDA_PLAN_H
#define RECSORT_CUDA_PLAN_H

#include "base/assert.h"
#include "base/bits.h"
#include "base/co_rank.h"
#include "gpu/device_sort.h"

enum { WARP_SIZE = 32, WARP_BITS = 5 };

RECSORT_HD static inline uint64_t plan_min(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

RECSORT_HD static inline uint64_t plan_max(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

/* `value`, limited to [low, high]. */
RECSORT_HD static inline uint64_t plan_clamp(uint64_t value, uint64_t low, uint64_t high)
{
  RS_ASSERT(low <= high);
  return value < low ? low : value < high ? value : high;
}

/* The number of blocks of `each` elements that hold `count`. */
RECSORT_HD static inline uint64_t plan_blocks(uint64_t count, uint64_t each)
{
  RS_ASSERT(each > 0);
  return count / each + (count % each != 0);
}

/* The largest power of two that is not greater than `value`, which is at least 1. */
static inline uint64_t plan_power_below(uint64_t value)
{
  RS_ASSERT(value > 0);
  return UINT64_C(1) << (63 - __builtin_clzll(value));
}

/* ---- A pass merges pairs of adjacent runs of `width` elements; the last ones may be shorter
 * ---- */

/* The left run is [begin, middle), the right one [middle, end), and may be empty. */
typedef struct pair_range {
  uint64_t begin;
  uint64_t middle;
  uint64_t end;
} pair_range;

RECSORT_HD static inline pair_range plan_pair_from(uint64_t begin, uint64_t width, uint64_t count)
{
  RS_ASSERT(width > 0);
  const pair_range pair = {begin, plan_min(begin + width, count),
                           plan_min(begin + 2 * width, count)};
  return pair;
}

/* The pair of runs that contains element `at`; `width` is a power of two. */
RECSORT_HD static inline pair_range plan_pair_at(uint64_t at, uint64_t width, uint64_t count)
{
  RS_ASSERT((width & (width - 1)) == 0);
  return plan_pair_from(at & ~(2 * width - 1), width, count);
}

/* ---- Blocks that each merge a range of the output of one pair ---- */

typedef struct output_range {
  pair_range pair;
  uint64_t begin; /* counted from pair.begin */
  uint64_t end;
} output_range;

/* Outputs of a block, at most `most`. Each pair but the last gets a whole number of blocks if
 * `width` and `most` are each a number of tiles times a power of two. */
RECSORT_HD static inline uint64_t plan_outputs(uint64_t width, uint64_t most)
{
  return plan_min(2 * width, most);
}

RECSORT_HD static inline output_range plan_output(uint64_t block, uint64_t outputs, uint64_t width,
                                                  uint64_t count)
{
  RS_ASSERT(outputs > 0 && width > 0);
  const uint64_t first = block * outputs;
  const pair_range pair = plan_pair_from(first - first % (2 * width), width, count);
  const output_range range = {pair, first - pair.begin,
                              plan_min(first - pair.begin + outputs, pair.end - pair.begin)};
  return range;
}

/* ---- Sizes ---- */

/* The bits of an index that can be other than 0. */
static inline uint32_t plan_index_bits(const device_job *job)
{
  return index_bits_for(job->count);
}

/* True if pairs are packed: many are, but not those of a sort that ranks few of them, which hardly
 * move. */
static inline bool plan_packs(const device_job *job)
{
  return packs(job->key_bits, plan_index_bits(job), 64);
}

/* Threads of a block: a power of two, as some kernels find a run's start with a mask. */
static inline uint32_t plan_block(const device_job *job)
{
  enum { USUAL_BLOCK = 256 };
  RS_ASSERT(job->block <= DEVICE_MAX_BLOCK);
  return job->block ? (uint32_t)plan_power_below(job->block) : (uint32_t)USUAL_BLOCK;
}

/* The elements of `bytes` each that fit in a block's shared memory. */
static inline uint64_t plan_staged(const device_job *job, uint64_t bytes)
{
  RS_ASSERT(bytes > 0);
  return job->tile ? job->tile : job->shared_bytes / bytes;
}

/* Elements of a tile, of which a block holds two: a power of two, unless the job says how many.
 * Leaves shared memory for other blocks on the same multiprocessor. */
static inline uint32_t plan_tile(const device_job *job, uint64_t pair_bytes)
{
  enum { USEFUL_BYTES = 48 * 1024 };
  RS_ASSERT(pair_bytes > 0);
  const uint64_t fitting = plan_min(job->shared_bytes, USEFUL_BYTES) / (2 * pair_bytes);
  return job->tile ? job->tile : (uint32_t)plan_power_below(fitting ? fitting : 1);
}

#endif
