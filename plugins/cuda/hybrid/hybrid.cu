/* hybrid.cu - the device sort that is meant to be fast.
 *
 *   look    whether very many keys ascend already, or descend: then they are numbered, or turned
 *           round (order.inc); or ascend but for a few, which are sorted apart and merged
 *           with the others (mend.inc)
 *   rank    few pairs: for each the others before it are counted (few.inc)
 *   deal    more: to buckets with room to spare, which are then sorted
 *   split   many: to buckets of known sizes, level by level (find.inc and buckets.inc
 *           for both)
 *   parts   what is too large for a tile: each block collects a part (select.inc)
 *
 * Blocks sort up to some thousand pairs in shared memory, as a tile (tile.inc).
 *
 * A pair is a key and its index, and all pairs differ: so no step need be stable. Where both fit in
 * 64 bits they are packed, the index below, and one array moves instead of two.
 */
#include "cuda/hybrid/hybrid.h"

#include "cuda/device.h"
#include "cuda/hybrid/block.h"
#include "cuda/hybrid/cells.h"
#include "cuda/hybrid/extents.h"
#include "cuda/hybrid/heavy.h"
#include "cuda/hybrid/places.h"
#include "cuda/hybrid/plan.h"

enum {
  HYBRID_ORDER_BLOCK = 256,
  HYBRID_FEW_DESCEND = 12, /* one of so many, of keys that may be nearly sorted */
  HYBRID_CHUNK = 256,      /* of these, for a warp */
  HYBRID_MEND_BLOCK = 128
};
#define HYBRID_ONE_BUCKET (1u << 15) /* of a table of cells */

static uint32_t place_bits_of(const device_job *job)
{
  return job->count > 1 ? 64 - (uint32_t)__builtin_clzll(job->count - 1) : 1;
}

/* ---- Few pairs ---- */

#define KEY uint32_t
#define KEYED(name) name##_32
#include "cuda/hybrid/rank.inc"

#define KEY uint64_t
#define KEYED(name) name##_64
#include "cuda/hybrid/rank.inc"

#define KEY device_uint128
#define KEYED(name) name##_128
#include "cuda/hybrid/rank.inc"

#define TYPED_SOURCE "cuda/hybrid/few.inc"
#include "cuda/each_type.h"

/* ---- From keys to packed pairs, and back ---- */

typedef struct key_source {
  const void *keys; /* NULL: pairs are there already */
  uint32_t key_width;
} key_source;

typedef struct pair_sink {
  void *keys;
  void *indices; /* NULL: to pairs */
  uint32_t key_width, index_bits;
} pair_sink;

/* A key of which only the low 64 bits can be other than 0. */
DEVICE_INLINE uint64_t load_key(const key_source *source, uint64_t i)
{
  if (source->key_width == 32) return ((const uint32_t *)source->keys)[i];
  if (source->key_width == 64) return ((const uint64_t *)source->keys)[i];
  return (uint64_t)((const device_uint128 *)source->keys)[i];
}

DEVICE_INLINE void store_unpacked(const pair_sink *sink, uint32_t place_bits, uint32_t i,
                                  uint64_t pair)
{
  const uint64_t place = pair & ((UINT64_C(1) << place_bits) - 1), key = pair >> place_bits;
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

/* The part that begins with pair `first`. */
DEVICE_INLINE pair_sink sink_from(const pair_sink *all, uint64_t first)
{
  pair_sink sink = *all;
  if (!sink.indices) return sink;
  sink.keys = (char *)sink.keys + first * (sink.key_width / 8);
  sink.indices = (char *)sink.indices + first * (sink.index_bits / 8);
  return sink;
}

/* ---- Tiles of neighbouring buckets ---- */

/* Pairs [from, from + count), of bucket `first` or of some from there on. If it is known between
 * which splitters they are: what their scale is beside the lesser one. */
typedef struct bucket_tile {
  uint64_t from;
  uint32_t count, first;
  uint32_t factor;
  uint8_t zeros, tail;
  bool by_index : 1, known : 1;
  bool one_key : 1; /* that of the splitters; only indices are there */
} bucket_tile;

typedef struct tile_list {
  bucket_tile *of;
  uint32_t *count;
} tile_list;

/* The end of the tile that begins with bucket `first`: it has room for `tile` pairs, or has one
 * bucket. */
DEVICE_INLINE uint32_t tile_end(const uint64_t *begins, uint32_t first, uint32_t buckets,
                                uint32_t tile)
{
  uint32_t low = first + 1, high = buckets;
  while (low < high) {
    const uint32_t middle = (low + high + 1) / 2;
    if (begins[middle] - begins[first] <= tile)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* ---- Samples ---- */

/* One of some places that are `distance` / 2^16 apart, but for 16 bits of chance, so that no
 * pattern of the input is in step with them. No two are the same. */
DEVICE_INLINE uint64_t sample_place(uint32_t i, uint64_t distance)
{
  const uint64_t first = i * distance >> 16, next = (i + 1) * distance >> 16;
  const uint32_t chance = (i + 1) * 2654435761u >> 16; /* Knuth, volume 3, 6.4 */
  return first + (chance * (next - first) >> 16);
}

/* How many of `count` ascending numbers are less than `bound`. */
DEVICE_INLINE uint32_t count_below(const uint32_t *numbers, uint32_t count, uint32_t bound)
{
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (numbers[middle] < bound)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ---- Buckets of a block's pairs ---- */

/* By counts: where each bucket's pairs begin among the block's, and how far they move from there to
 * the room that is taken for them behind `ends` number `first` and on. Two buckets a thread. */
DEVICE_INLINE void take_room(uint32_t buckets, const uint32_t *counts, const places *ends,
                             uint64_t first, uint16_t *starts, uint64_t *moves)
{
  const uint32_t i = 2 * threadIdx.x;
  const uint32_t one = i < buckets ? counts[i] : 0, two = i + 1 < buckets ? counts[i + 1] : 0;
  const uint32_t before = block_before(one + two);
  if (i < buckets) starts[i] = (uint16_t)before;
  if (one) moves[i] = place_add(ends, first + i, one) - before;
  if (i + 1 < buckets) starts[i + 1] = (uint16_t)(before + one);
  if (two) moves[i + 1] = place_add(ends, first + i + 1, two) - before - one;
}

/* ---- Cells of octaves: the wider, the greater what falls there is ---- */

/* With so many cells: the bits behind the first one of a number that tell its place in an octave.
 */
DEVICE_INLINE uint32_t octave_bits_of(uint32_t cells)
{
  return cells >= 64 ? 31 - device_clz32(cells / 32) : 0;
}

DEVICE_INLINE uint32_t octave_cell(uint32_t lead, uint32_t bits)
{
  const uint32_t zeros = device_clz32(lead | 1);
  return ((30 - zeros) << bits) + ((lead | 1) << zeros >> (31 - bits));
}

/* The least lead of a cell. */
DEVICE_INLINE uint64_t octave_lead(uint32_t cell, uint32_t bits)
{
  const uint64_t all = UINT64_C(1) << bits, first = all | (cell & (all - 1));
  return ((first << (cell >> bits)) + all - 1) >> bits;
}

/* ---- Where pairs are scattered to ---- */

typedef enum hybrid_target { HYBRID_TO_PLACES, HYBRID_TO_LISTS, HYBRID_TO_ROOMS } hybrid_target;

/* What a block has collected of the pairs that it looked at (select.inc). */
typedef struct collection {
  uint64_t below; /* pairs below the bounds */
  uint32_t count; /* within; there may not have been room for all of them */
} collection;

/* ---- Memory ---- */

typedef struct arena {
  char *at; /* NULL: only to add up */
  uint64_t taken;
} arena;

static void *arena_take(arena *from, uint64_t bytes)
{
  const uint64_t taken = from->taken;
  from->taken += (bytes + 15) / 16 * 16;
  return from->at ? from->at + taken : NULL;
}

/* ---- Kinds of pairs ---- */

#define KEY uint64_t
#define PACKED
#define ITEMS 8
#define CELLS 8
#define TILE_BLOCKS 3
#define SCATTER_BLOCKS 3
#define TYPED(name) name##_packed
#define KEYED(name) name##_64
#include "cuda/hybrid/kind.inc"
#undef PACKED

#define KEY uint32_t
#define INDEX uint64_t
#define ITEMS 8
#define CELLS 4
#define TILE_BLOCKS 3
#define SCATTER_BLOCKS 2
#define TYPED(name) name##_32_64
#define KEYED(name) name##_32
#include "cuda/hybrid/kind.inc"

#define KEY uint64_t
#define INDEX uint32_t
#define ITEMS 8
#define CELLS 4
#define TILE_BLOCKS 3
#define SCATTER_BLOCKS 2
#define TYPED(name) name##_64_32
#define KEYED(name) name##_64
#include "cuda/hybrid/kind.inc"

#define KEY uint64_t
#define INDEX uint64_t
#define ITEMS 8
#define CELLS 4
#define TILE_BLOCKS 3
#define SCATTER_BLOCKS 2
#define TYPED(name) name##_64_64
#define KEYED(name) name##_64
#include "cuda/hybrid/kind.inc"

#define KEY device_uint128
#define INDEX uint32_t
#define ITEMS 8
#define CELLS 4
#define TILE_BLOCKS 2
#define SCATTER_BLOCKS 2
#define TYPED(name) name##_128_32
#define KEYED(name) name##_128
#include "cuda/hybrid/kind.inc"

#define KEY device_uint128
#define INDEX uint64_t
#define ITEMS 8
#define CELLS 4
#define TILE_BLOCKS 2
#define SCATTER_BLOCKS 2
#define TYPED(name) name##_128_64
#define KEYED(name) name##_128
#include "cuda/hybrid/kind.inc"

typedef struct pair_kind {
  uint64_t (*extra_bytes)(const device_job *job);
  device_status (*sort)(const device_job *job, const device_buffers *buffers, void *extra,
                        unsigned *result);
} pair_kind;

#define KIND(name)                                                                                 \
  {                                                                                                \
    extra_bytes_##name, sort_##name                                                                \
  }

static pair_kind kind_of(const device_job *job)
{
  static const pair_kind packed = KIND(packed), key32 = KIND(32_64),
                         key64[2] = {KIND(64_32), KIND(64_64)},
                         key128[2] = {KIND(128_32), KIND(128_64)};
  static const pair_kind few32[2] = {KIND(few_32_32), KIND(few_32_64)},
                         few64[2] = {KIND(few_64_32), KIND(few_64_64)},
                         few128[2] = {KIND(few_128_32), KIND(few_128_64)};
  const unsigned wide = job->index_bits == 64;
  if (hybrid_is_few(job))
    return (job->key_width == 32 ? few32 : job->key_width == 64 ? few64 : few128)[wide];
  const bool test = job->tile && wide && job->key_width == 32; /* what else many pairs alone need */
  if (job->key_bits + place_bits_of(job) <= 64 && !test) return packed;
  if (job->key_width == 32) return key32; /* 2^32 and more */
  return job->key_width == 64 ? key64[wide] : key128[wide];
}

static device_status sort_pairs(const device_job *job, const device_buffers *buffers, void *extra,
                                unsigned *result)
{
  return kind_of(job).sort(job, buffers, extra, result);
}

/* ---- An order that is there already ---- */

/* Behind all other memory, as what there is first has its place. */
typedef struct hybrid_facts {
  uint32_t unsorted;   /* some key is less than the one before */
  uint32_t unreversed; /* some key is not */
  uint32_t unlike;     /* more than a few of those that were glanced at descend */
  uint32_t unmendable; /* what seems to be an order is none */
  uint32_t crowded;    /* many keys that are in nobody's order belong to one place */
  uint32_t looked;     /* blocks that have looked */
  uint64_t gone;       /* keys that are in nobody's order */
} hybrid_facts;

enum { FACTS_BYTES = 32 };

/* In the mailbox. */
typedef struct hybrid_news {
  hybrid_facts facts;
  uint32_t ready;
} hybrid_news;

/* By one thread. */
DEVICE_INLINE void news_post(volatile hybrid_news *news, const volatile hybrid_facts *facts)
{
  news->facts.unsorted = facts->unsorted;
  news->facts.unreversed = facts->unreversed;
  news->facts.unlike = facts->unlike;
  news->facts.unmendable = facts->unmendable;
  news->facts.gone = facts->gone;
  device_post(&news->ready, 1);
}

/* Before a kernel that will. */
static hybrid_news *news_expect(const device_job *job)
{
  hybrid_news *const news = (hybrid_news *)job->mailbox;
  assert(sizeof *news <= DEVICE_MAILBOX);
  news->ready = 0;
  return news;
}

static device_status news_await(const device_job *job, hybrid_facts *facts)
{
  const hybrid_news *const news = (const hybrid_news *)job->mailbox;
  const device_status status = device_await(&news->ready, job->stream);
  if (status == 0) *facts = news->facts;
  return status;
}

typedef struct order_step {
  const void *keys;
  void *numbered; /* indices, if keys ascend */
  void *turned_keys;
  void *turned; /* and their indices, if keys descend */
  hybrid_facts *facts;
  hybrid_news *news;
  uint64_t count;
} order_step;

/* By one thread, sooner than by a memset, as the next kernel may come meanwhile. */
DEVICE_KERNEL(forget_facts, HYBRID_WARP, order_step, step)
{
  const hybrid_facts none = {0};
  *step.facts = none;
}

/* So many may be out of order: sorted apart and merged, they cost less than all of them. */
static uint64_t hybrid_most_gone(const device_job *job)
{
  return job->count / (job->tile ? 3 : 16);
}

#define TYPED_SOURCE "cuda/hybrid/order.inc"
#include "cuda/each_type.h"

DEVICE_SORT(hybrid)

uint64_t hybrid_extra_bytes(const device_job *job)
{
  return kind_of(job).extra_bytes(job) + FACTS_BYTES;
}
