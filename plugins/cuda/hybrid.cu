/* hybrid.cu - the device sort that is meant to be fast.
 *
 *   pack       the leading bits of a key that vary, and its place below them, in 64 bits: all pairs
 *              differ, so no merge need be stable, and one array moves instead of two
 *   tile_sort  in registers by a network, then in shared memory by co-ranks
 *   merge_tiles  two runs into one, a tile of the output a block; the blocks find their cuts
 *              themselves while there are few, and have them found by a kernel of its own if many
 *   repair     pairs whose windows tie, by their whole keys; where they are many, all windows are
 *              sorted from the least significant up
 *
 * A pair has one bit less than 64, so that the greatest integer is no pair and can fill up the last
 * tile. Buffers.extra holds two arrays of pairs, the cuts, and a few facts.
 */
#include "cuda/hybrid.h"

#include "cuda/device.h"
#include "cuda/plan.h"

#ifdef __CUDACC__
#define DEVICE_UNROLL _Pragma("unroll")
DEVICE_INLINE void device_or(uint64_t *at, uint64_t bits)
{
  atomicOr((unsigned long long *)at, (unsigned long long)bits);
}
static device_status device_read(void *host, const void *device, size_t size, void *stream)
{
  const cudaError_t error =
      cudaMemcpyAsync(host, device, size, cudaMemcpyDeviceToHost, (cudaStream_t)stream);
  return (device_status)(error ? error : cudaStreamSynchronize((cudaStream_t)stream));
}
static device_status device_write(void *device, const void *host, size_t size, void *stream)
{
  return (device_status)cudaMemcpyAsync(device, host, size, cudaMemcpyHostToDevice,
                                        (cudaStream_t)stream);
}
#else
#include <string.h>
#define DEVICE_UNROLL
DEVICE_INLINE void device_or(uint64_t *at, uint64_t bits)
{
  *at |= bits;
}
static device_status device_read(void *host, const void *device, size_t size, void *stream)
{
  (void)stream;
  memcpy(host, device, size);
  return 0;
}
static device_status device_write(void *device, const void *host, size_t size, void *stream)
{
  (void)stream;
  memcpy(device, host, size);
  return 0;
}
#endif

enum {
  HYBRID_BLOCK = 256,         /* threads of the kernels that take one element each */
  HYBRID_MAX_BLOCK = 256,
  HYBRID_FEW_TIES = 16,       /* that one thread repairs */
  HYBRID_SEARCHED_TILES = 2048 /* above that many, cuts are found by a kernel of their own */
};

typedef struct hybrid_facts {
  uint64_t varying[2];
  uint64_t many_ties;
} hybrid_facts;

typedef struct hybrid_memory {
  uint64_t *pairs[2];
  uint64_t *cuts;
  hybrid_facts *facts;
} hybrid_memory;

/* Where the pairs of a first step come from: keys, the window [low, low + width of mask) of which is
 * packed. */
typedef struct pair_source {
  const void *keys; /* NULL: pairs are there already */
  uint64_t mask;
  uint32_t key_width;
  uint32_t low;
} pair_source;

/* Where those of the last step go: sorted keys and their indices. */
typedef struct pair_sink {
  void *keys;
  void *indices; /* NULL: to pairs */
  uint32_t key_width;
  uint32_t index_bits;
} pair_sink;

/* From pairs to pairs. */
typedef struct pairs_step {
  const uint64_t *from;
  uint64_t *to;
  const uint64_t *cuts; /* NULL: the block finds its own */
  uint64_t count;
  uint64_t run;
  uint32_t place_bits;
  pair_source source;
  pair_sink sink;
} pairs_step;

typedef struct cut_step {
  const uint64_t *pairs;
  uint64_t *cuts;
  uint64_t count;
  uint64_t run;
  uint64_t tile;
  uint64_t tiles;
} cut_step;

/* Between keys and pairs. */
typedef struct keys_step {
  const void *keys;
  const void *order; /* of the keys; NULL: that of the input */
  uint64_t *pairs;
  void *to;
  void *keys_to;
  hybrid_facts *facts;
  uint64_t count;
  uint32_t low; /* the window of a key that is packed begins at this bit */
  uint32_t place_bits;
  uint64_t mask;
} keys_step;

static uint32_t place_bits_of(const device_job *job)
{
  return job->count > 1 ? 64 - (uint32_t)__builtin_clzll(job->count - 1) : 1;
}

/* The tile of the output that begins at `first`. All sizes but the count are powers of two: a division
 * would cost more than a merge. */
DEVICE_INLINE output_range output_of(uint64_t first, uint64_t tile, uint64_t run, uint64_t count)
{
  const pair_range pair = plan_pair_at(first, run, count);
  const uint64_t begin = first - pair.begin;
  const output_range range = {pair, begin, plan_min(begin + tile, pair.end - pair.begin)};
  return range;
}

/* ---- From keys, and back ---- */

/* `keys` begin at a multiple of their size. */
DEVICE_INLINE uint64_t load_window(const pair_source *source, uint64_t i)
{
  if (source->key_width == 32)
    return (uint64_t)(((const uint32_t *)source->keys)[i] >> source->low) & source->mask;
  if (source->key_width == 64)
    return ((const uint64_t *)source->keys)[i] >> source->low & source->mask;
  return (uint64_t)(((const device_uint128 *)source->keys)[i] >> source->low) & source->mask;
}

DEVICE_INLINE uint64_t load_pair(const pairs_step *step, uint64_t i)
{
  return step->source.keys ? load_window(&step->source, i) << step->place_bits | i : step->from[i];
}

DEVICE_INLINE void store_pair(const pairs_step *step, uint64_t i, uint64_t pair)
{
  const pair_sink *const sink = &step->sink;
  const uint64_t place = pair & ((UINT64_C(1) << step->place_bits) - 1);
  const uint64_t key = pair >> step->place_bits;
  if (!sink->indices) {
    step->to[i] = pair;
    return;
  }
  if (sink->index_bits == 32)
    ((uint32_t *)sink->indices)[i] = (uint32_t)place;
  else
    ((uint64_t *)sink->indices)[i] = place;
  if (sink->key_width == 32)
    ((uint32_t *)sink->keys)[i] = (uint32_t)key;
  else if (sink->key_width == 64)
    ((uint64_t *)sink->keys)[i] = key;
  else
    ((device_uint128 *)sink->keys)[i] = key;
}

/* ---- Cuts ---- */

/* Within a tile: the left run ascends from `left`, the right one descends to... from `top` down. */
DEVICE_INLINE uint32_t tile_co_rank(const uint64_t *shared, uint32_t rank, uint32_t left,
                                    uint32_t left_count, uint32_t top, uint32_t right_count)
{
  uint32_t low = rank > right_count ? rank - right_count : 0;
  uint32_t high = rank < left_count ? rank : left_count;
  while (low < high) {
    const uint32_t i = (low + high) / 2, a = left + i, b = top - (rank - 1 - i);
    if (shared[a + (a >> 4)] < shared[b + (b >> 4)])
      low = i + 1;
    else
      high = i;
  }
  return low;
}

DEVICE_INLINE run64 left_of(const uint64_t *pairs, const pair_range *pair)
{
  const run64 run = {pairs + pair->begin, (size_t)(pair->middle - pair->begin)};
  return run;
}

DEVICE_INLINE run64 right_of(const uint64_t *pairs, const pair_range *pair)
{
  const run64 run = {pairs + pair->middle, (size_t)(pair->end - pair->middle)};
  return run;
}

/* One thread a tile: the co-rank of the tile's begin. */
DEVICE_KERNEL(cut_tiles, HYBRID_MAX_BLOCK, cut_step, step)
{
  const uint64_t tile = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (tile >= step.tiles) return;
  const output_range range = output_of(tile * step.tile, step.tile, step.run, step.count);
  step.cuts[tile] = co_rank((size_t)range.begin, left_of(step.pairs, &range.pair),
                            right_of(step.pairs, &range.pair));
}

/* What half of a block's threads tries next for one cut between `low` and `high`. */
DEVICE_INLINE uint64_t probe_at(uint64_t low, uint64_t high, uint32_t lane, uint32_t lanes)
{
  const uint64_t width = high - low;
  return width <= lanes ? low + lane : low + width / (lanes + 1) * (lane + 1);
}

/* Both co-ranks of a range, cuts[0] and cuts[1], by all threads of a block, half for each: in each
 * round every thread tries one place, and the last one that says "further" narrows the interval. */
DEVICE_INLINE void search_cuts(const uint64_t *pairs, const output_range *range, uint64_t *cuts,
                               uint32_t *flags)
{
  const uint32_t lanes = blockDim.x / 2, half = threadIdx.x >= lanes, lane = threadIdx.x % lanes;
  const uint64_t rank = half ? range->end : range->begin;
  const run64 a = left_of(pairs, &range->pair), b = right_of(pairs, &range->pair);
  if (lane == 0) {
    cuts[half] = rank > b.count ? rank - b.count : 0;
    cuts[2 + half] = rank < a.count ? rank : a.count;
  }
  __syncthreads();
  while (cuts[0] < cuts[2] || cuts[1] < cuts[3]) {
    const uint64_t low = cuts[half], high = cuts[2 + half];
    const uint64_t at = probe_at(low, high, lane, lanes);
    const bool further = at < high && left_goes_first(a.at[at], b.at[rank - at - 1]);
    flags[threadIdx.x] = further;
    __syncthreads();
    const bool last = lane + 1 == lanes || !flags[threadIdx.x + 1];
    const bool narrow = high - low <= lanes;
    if (further && last) {
      cuts[half] = at + 1;
      if (narrow)
        cuts[2 + half] = at + 1;
      else if (lane + 1 < lanes)
        cuts[2 + half] = probe_at(low, high, lane + 1, lanes);
    }
    if (lane == 0 && !further) cuts[2 + half] = at;
    __syncthreads();
  }
}

/* cuts[0] and cuts[1]: how many pairs of the left run lie before the tile, and before its end. */
DEVICE_INLINE void tile_cuts(const pairs_step *step, const output_range *range, uint64_t *cuts,
                             uint32_t *flags)
{
  if (!step->cuts) {
    search_cuts(step->from, range, cuts, flags);
    return;
  }
  if (threadIdx.x == 0) {
    const uint64_t pair_end = range->pair.end - range->pair.begin;
    cuts[0] = step->cuts[blockIdx.x];
    cuts[1] = range->end == pair_end ? range->pair.middle - range->pair.begin
                                     : step->cuts[blockIdx.x + 1];
  }
  __syncthreads();
}

/* ---- Pairs ---- */

#define ITEMS 4
#define SIZED(name) name##_4
#include "cuda/hybrid_pairs.inc"
#define ITEMS 16
#define SIZED(name) name##_16
#include "cuda/hybrid_pairs.inc"

/* Few pairs are sorted soonest by many threads that have little to do, many by fewer with more. */
enum { SMALL_COUNT = 1 << 17, LARGE_COUNT = 1 << 23 };

/* `step` says where the pairs come from and go to; *sorted is where they are if it names no sink. */
static device_status sort_pairs(const device_job *job, pairs_step step, const hybrid_memory *memory,
                                uint64_t **sorted)
{
  const uint32_t most = (uint32_t)plan_power_below(plan_min(job->block, HYBRID_MAX_BLOCK));
  const uint32_t many = most < 128 ? most : 128;
  if (job->count <= SMALL_COUNT && !job->tile)
    return sort_pairs_4(job, most, step, memory, sorted);
  return sort_pairs_16(job, job->count < LARGE_COUNT ? most : many, step, memory, sorted);
}

static uint64_t window_mask(uint32_t width)
{
  return width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
}

/* Bits [low, low + width) of the keys, in the order of the input. */
static device_status sort_keys(const device_job *job, const hybrid_memory *memory,
                               const device_buffers *buffers, uint32_t low, uint32_t width,
                               const pair_sink *sink, uint64_t **sorted)
{
  const pair_source source = {buffers->keys[0], window_mask(width), job->key_width, low};
  const pairs_step step = {NULL, NULL, NULL, job->count, 0, place_bits_of(job), source, *sink};
  return sort_pairs(job, step, memory, sorted);
}

/* ---- Memory ---- */

enum { LEAST_TILE = 4 }; /* pairs: a block of one thread */

uint64_t hybrid_extra_bytes(const device_job *job)
{
  const uint64_t pairs = (job->count + 1) * sizeof(uint64_t) / 16 * 16;
  const uint64_t cuts = (plan_blocks(job->count, LEAST_TILE) + 1) * sizeof(uint64_t) / 16 * 16;
  return 2 * pairs + cuts + sizeof(hybrid_facts);
}

static hybrid_memory memory_of(const device_job *job, const device_buffers *buffers)
{
  const uint64_t pairs = (job->count + 1) * sizeof(uint64_t) / 16 * 2; /* words */
  uint64_t *const start = (uint64_t *)buffers->extra;
  const uint64_t cuts = (plan_blocks(job->count, LEAST_TILE) + 1) * sizeof(uint64_t) / 16 * 2;
  const hybrid_memory memory = {{start, start + pairs},
                                start + 2 * pairs,
                                (hybrid_facts *)(start + 2 * pairs + cuts)};
  assert(buffers->extra_bytes >= hybrid_extra_bytes(job));
  return memory;
}

/* ---- Keys ---- */

#define TYPED_SOURCE "cuda/hybrid_keys.inc"
#include "cuda/each_type.h"

DEVICE_SORT(hybrid)
