/* hybrid.cu - the device sort that is meant to be fast.
 *
 *   look     whether the keys ascend already, or descend: then they are copied or turned round
 *   pack     the leading bits of a key that vary, and its place below them, in 64 bits: all pairs
 *            differ, so no step need be stable, and one array moves instead of two
 *   tiles    in registers by a network, then in shared memory by co-ranks (hybrid_pairs.inc)
 *   merges   where pairs are few: two runs into one, a tile of the output a block
 *   buckets  where they are many: ranked among splitters until a bucket is a tile at most
 *            (hybrid_buckets.inc)
 *   repair   pairs whose windows tie, by their whole keys (hybrid_keys.inc)
 *
 * A pair that fills up a tile is the greatest integer; that a real one may be the same does no
 * harm. Two arrays of pairs overlay the buffers: where pairs hold all of a key, each a side's keys
 * and indices, for the keys are not wanted any more once they are packed; otherwise all but the
 * keys.
 */
#include "cuda/hybrid.h"

#include "cuda/device.h"
#include "cuda/hybrid_plan.h"

#ifdef __CUDACC__
#define DEVICE_UNROLL _Pragma("unroll")
#else
#define DEVICE_UNROLL
#endif

enum {
  HYBRID_BLOCK = 256,   /* threads of the kernels that need no tile */
  HYBRID_FEW_TIES = 16, /* that one thread repairs */
  WARP_THREADS = 32
};

/* What is found out about the keys. */
typedef struct hybrid_facts {
  uint64_t varying[2];
  uint64_t many_ties;
  uint64_t unsorted;   /* some key is less than the one before */
  uint64_t unreversed; /* some key is not */
} hybrid_facts;

/* Where the pairs of a first step come from: keys, of which a window of `width` bits is packed. */
typedef struct pair_source {
  const void *keys;          /* NULL: pairs are there already */
  const void *order;         /* indices, in whose order the keys are taken; NULL: as they stand */
  const hybrid_facts *facts; /* the window ends with the leading bit that varies; NULL: see low */
  uint64_t mask;
  uint32_t key_width, index_bits;
  uint32_t width, low; /* the window's bits, and the place of its lowest */
} pair_source;

/* Where those of the last step go: sorted keys and their indices. */
typedef struct pair_sink {
  void *keys;
  void *indices; /* NULL: to pairs */
  uint32_t key_width, index_bits;
} pair_sink;

/* From pairs to pairs. */
typedef struct pairs_step {
  const uint64_t *from;
  uint64_t *to;
  uint64_t count;
  uint64_t run; /* pairs of a run that is merged */
  uint32_t place_bits;
  pair_source source;
  pair_sink sink;
} pairs_step;

/* Places in an array of pairs, 32 or 64 bits each, every so many. */
typedef struct places {
  void *at;
  uint32_t bits, stride;
} places;

typedef struct bucket_step {
  pairs_step pairs;
  places segment_ends, ends; /* of buckets; before any pair is there, begins */
  uint64_t *splitters;       /* a segment's after the other's, ascending */
  uint64_t *spare;           /* an array of pairs that is free */
  uint64_t counted;          /* pairs a block that counts */
  uint32_t segments;
  uint32_t buckets; /* a segment */
} bucket_step;

/* Between keys and pairs. */
typedef struct keys_step {
  const void *keys;
  const void *order;
  uint64_t *pairs;
  void *to; /* indices */
  void *keys_to;
  hybrid_facts *facts;
  uint64_t count;
  uint32_t place_bits;
  uint32_t width; /* of a window */
} keys_step;

typedef struct hybrid_memory {
  uint64_t *pairs[2]; /* the last step goes to the first one, or to what overlays it */
  pair_sink sink;
  places ends[2];
  uint64_t *splitters;
  hybrid_facts *facts;
} hybrid_memory;

static uint32_t place_bits_of(const device_job *job)
{
  return job->count > 1 ? 64 - (uint32_t)__builtin_clzll(job->count - 1) : 1;
}

/* ---- From keys, and back ---- */

/* `keys` begin at a multiple of their size. */
DEVICE_INLINE uint64_t load_window(const pair_source *source, uint32_t low, uint64_t i)
{
  if (source->key_width == 32)
    return (uint64_t)(((const uint32_t *)source->keys)[i] >> low) & source->mask;
  if (source->key_width == 64) return ((const uint64_t *)source->keys)[i] >> low & source->mask;
  return (uint64_t)(((const device_uint128 *)source->keys)[i] >> low) & source->mask;
}

DEVICE_INLINE uint32_t varying_bits(const hybrid_facts *facts)
{
  if (facts->varying[1]) return 128 - (uint32_t)device_clz64(facts->varying[1]);
  return facts->varying[0] ? 64 - (uint32_t)device_clz64(facts->varying[0]) : 1;
}

/* Where the window begins. */
DEVICE_INLINE uint32_t window_low(const pair_source *source)
{
  if (!source->facts) return source->low;
  const uint32_t bits = varying_bits(source->facts);
  return bits > source->width ? bits - source->width : 0;
}

DEVICE_INLINE uint64_t load_index(const void *indices, uint32_t bits, uint64_t i)
{
  return bits == 32 ? ((const uint32_t *)indices)[i] : ((const uint64_t *)indices)[i];
}

DEVICE_INLINE uint64_t load_pair(const pairs_step *step, uint32_t low, uint64_t i)
{
  const pair_source *const source = &step->source;
  if (!source->keys) return step->from[i];
  const uint64_t at = source->order ? load_index(source->order, source->index_bits, i) : i;
  return load_window(source, low, at) << step->place_bits | i;
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

DEVICE_INLINE uint64_t place_get(const places *all, uint64_t i)
{
  return load_index(all->at, all->bits, i * all->stride);
}

DEVICE_INLINE void place_set(const places *all, uint64_t i, uint64_t place)
{
  if (all->bits == 32)
    ((uint32_t *)all->at)[i * all->stride] = (uint32_t)place;
  else
    ((uint64_t *)all->at)[i * all->stride] = place;
}

/* Returns what was there before. */
DEVICE_INLINE uint64_t place_add(const places *all, uint64_t i, uint32_t more)
{
  return all->bits == 32 ? device_add32((uint32_t *)all->at + i * all->stride, more)
                         : device_add64((uint64_t *)all->at + i * all->stride, more);
}

/* ---- Segments, of which each is split into buckets ---- */

DEVICE_INLINE uint64_t segment_begin(const bucket_step *step, uint32_t segment)
{
  return segment ? place_get(&step->segment_ends, segment - 1) : 0;
}

DEVICE_INLINE uint64_t segment_end(const bucket_step *step, uint32_t segment)
{
  return segment + 1 == step->segments ? step->pairs.count
                                       : place_get(&step->segment_ends, segment);
}

/* One of some places that are `distance` / 2^16 apart, but for 16 bits of chance, so that no
 * pattern of the input is in step with them. */
DEVICE_INLINE uint64_t sample_place(uint32_t i, uint64_t distance)
{
  const uint32_t chance = (i + 1) * 2654435761u >> 16; /* Knuth, volume 3, 6.4 */
  return (i * distance + (chance * distance >> 16)) >> 16;
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
    if (shared[a] < shared[b])
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

/* ---- Pairs ---- */

/* A sort's next step, with `left` more to come: from where the one before went, or from the keys.
 */
static void step_to(pairs_step *step, const hybrid_memory *memory, uint32_t left)
{
  step->from = step->to;
  if (step->from) step->source.keys = NULL;
  step->to = memory->pairs[left % 2];
  if (left == 0) step->sink = memory->sink;
}

#define ITEMS 5
#define SIZED(name) name##_5
#include "cuda/hybrid_pairs.inc"
#define ITEMS 17
#define SIZED(name) name##_17
#include "cuda/hybrid_pairs.inc"

#include "cuda/hybrid_buckets.inc"

/* Leaves the sorted pairs in the first array of pairs, or in the sink. */
static device_status sort_pairs(const device_job *job, const hybrid_plan *plan, pair_source source,
                                const hybrid_memory *memory)
{
  const pair_sink none = {NULL, NULL, 0, 0};
  const pairs_step step = {NULL, NULL, job->count, 0, place_bits_of(job), source, none};
  if (plan->levels) return sort_by_buckets(job, plan, step, memory);
  return (plan->items == HYBRID_FEW_ITEMS ? sort_by_merges_5 : sort_by_merges_17)(job, plan, step,
                                                                                  memory);
}

/* A window of the keys that begins at bit `low`, or with the leading bit that varies. */
static pair_source source_of(const device_job *job, const void *keys, uint32_t width, uint32_t low,
                             const hybrid_facts *facts)
{
  const uint64_t mask = width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
  const pair_source source = {keys, NULL, facts, mask, job->key_width, job->index_bits, width, low};
  return source;
}

/* ---- Memory ---- */

static uint64_t aligned(uint64_t bytes)
{
  return (bytes + 15) / 16 * 16;
}

static uint32_t end_bits_of(const device_job *job)
{
  return job->count <= UINT32_MAX ? 32 : 64;
}

/* Of the last level and the one before. */
static void count_places(const hybrid_plan *plan, uint64_t kept[2])
{
  uint64_t buckets = 1;
  kept[0] = kept[1] = 0;
  for (uint32_t level = 0; level < plan->levels; level++) {
    const uint32_t after = (plan->levels - 1 - level) % 2;
    buckets *= plan->buckets[level];
    if (buckets * hybrid_stride(plan, level) > kept[after])
      kept[after] = buckets * hybrid_stride(plan, level);
  }
}

static uint64_t splitter_bytes(const hybrid_plan *plan)
{
  uint64_t buckets = 1;
  for (uint32_t level = 0; level < plan->levels; level++)
    buckets *= plan->buckets[level];
  return plan->levels ? buckets * sizeof(uint64_t) : 0;
}

uint64_t hybrid_extra_bytes(const device_job *job)
{
  const hybrid_plan plan = hybrid_plan_of(job);
  const uint64_t end_size = end_bits_of(job) / 8;
  uint64_t kept[2];
  count_places(&plan, kept);
  return aligned(sizeof(hybrid_facts)) + aligned(splitter_bytes(&plan)) +
         aligned(kept[0] * end_size) + aligned(kept[1] * end_size);
}

/* What lies in `extra`; pairs and sink are still to be set. */
static hybrid_memory memory_of(const device_job *job, const hybrid_plan *plan,
                               const device_buffers *buffers)
{
  const uint32_t end_bits = end_bits_of(job);
  char *at = (char *)buffers->extra;
  uint64_t kept[2];
  count_places(plan, kept);
  assert(buffers->extra_bytes >= hybrid_extra_bytes(job));
  hybrid_memory memory;
  memory.facts = (hybrid_facts *)at;
  at += aligned(sizeof(hybrid_facts));
  memory.splitters = (uint64_t *)at;
  at += aligned(splitter_bytes(plan));
  for (unsigned i = 0; i < 2; i++) {
    memory.ends[i].at = at;
    memory.ends[i].bits = end_bits;
    memory.ends[i].stride = 1;
    at += aligned(kept[i] * (end_bits / 8));
  }
  memory.pairs[0] = memory.pairs[1] = NULL;
  memory.sink.keys = memory.sink.indices = NULL;
  memory.sink.key_width = memory.sink.index_bits = 0;
  return memory;
}

/* A pair holds all of a key: the keys lie in side 0, so that the first step goes to side 1. */
static unsigned overlay_sides(const device_job *job, const hybrid_plan *plan,
                              const device_buffers *buffers, hybrid_memory *memory)
{
  const unsigned last = plan->steps % 2;
  void *const sides[2] = {buffers->keys[0], buffers->indices[1]};
  memory->pairs[0] = (uint64_t *)sides[last];
  memory->pairs[1] = (uint64_t *)sides[1 - last];
  memory->sink.keys = buffers->keys[last];
  memory->sink.indices = buffers->indices[last];
  memory->sink.key_width = job->key_width;
  memory->sink.index_bits = job->index_bits;
  return last;
}

/* The keys are still needed. */
static void overlay_rest(const device_job *job, const device_buffers *buffers,
                         hybrid_memory *memory)
{
  if (job->key_width == 128) { /* and the indices stay free */
    memory->pairs[0] = (uint64_t *)buffers->keys[1];
    memory->pairs[1] = memory->pairs[0] + job->count;
  } else if (job->index_bits == 64) {
    memory->pairs[0] = (uint64_t *)buffers->indices[1];
    memory->pairs[1] = (uint64_t *)buffers->indices[0];
  } else {
    memory->pairs[0] = (uint64_t *)buffers->keys[1];
    memory->pairs[1] = (uint64_t *)buffers->indices[0]; /* and the other indices behind them */
  }
}

/* ---- Keys ---- */

#define TYPED_SOURCE "cuda/hybrid_keys.inc"
#include "cuda/each_type.h"

DEVICE_SORT(hybrid)
