/* plan.h - how a carry sort divides a job: pure functions, for the host. */
#ifndef RECSORT_CUDA_CARRY_PLAN_H
#define RECSORT_CUDA_CARRY_PLAN_H

#include "base/assert.h"
#include "cuda/plan.h"

/* Tests have fewer, so that a few elements make many tiles and parts. */
#ifndef CARRY_THREADS
#define CARRY_THREADS 512
#endif

/* Up to so many are split once, if there are buckets for them. */
#ifndef CARRY_MOST_SPLIT_ONCE
#define CARRY_MOST_SPLIT_ONCE UINT64_MAX
#endif

/* From so many keys of 64 bits on, this sort is faster than others; of other widths, from one more
 * on. */
#ifndef CARRY_LEAST
#define CARRY_LEAST (UINT64_C(1) << 20)
#endif

enum {
  CARRY_BLOCK = CARRY_THREADS,            /* threads of a block that splits a tile */
  CARRY_SORT_BLOCK = CARRY_THREADS,       /* of one that sorts a part */
  CARRY_CHOOSE_BLOCK = 2 * CARRY_THREADS, /* of one that chooses splitters */
  CARRY_LIST_BLOCK = 2 * CARRY_THREADS,   /* of one that lists the parts of the only section */
  CARRY_MOST = 16 * CARRY_THREADS,        /* the most elements that a block sorts */
  CARRY_BINS = CARRY_MOST / 4 * 3,        /* bins of such a block */
  CARRY_FIRST_ITEMS = 16, /* the most elements of a thread that splits a tile of the first level */
  CARRY_MOVED_ITEMS = 8,  /* the same if these are records that move */
  CARRY_SECOND_ITEMS = 9, /* of the second: more blocks of a multiprocessor have less */
  CARRY_KEYS_ITEMS = 16,  /* of keys only, on both levels */
  CARRY_KEYS_TILE = CARRY_BLOCK * CARRY_KEYS_ITEMS,
  CARRY_MOST_BUCKETS = 512,                   /* of a section; at most two for each thread */
  CARRY_KEYS_COUNTS = CARRY_MOST_BUCKETS + 4, /* one more than buckets, in words of 16 bytes */
  CARRY_SAMPLES = 8,                          /* the fewest of each bucket */
  CARRY_FEW_SAMPLES = 4 * CARRY_BLOCK,        /* of a section, for half as many threads */
  CARRY_CELLS = 64,    /* equal parts of the splitters' range in a lookup table */
  CARRY_CELL_BITS = 6, /* of an entry's number in a cell, if all cells have as many */
  CARRY_MAX_LEVELS = 2
};

typedef struct carry_plan {
  uint64_t count;
  bool keys_only;    /* see keys_only.cuh */
  uint32_t segments; /* sections of the only level, each of which is sorted by itself; 0: none */
  uint32_t most;     /* elements that a block sorts: a multiple of its threads */
  uint32_t joined;  /* buckets are sorted together as long as their first `joined` elements reach */
  uint32_t samples; /* the most of a section */
  uint32_t levels;
  uint32_t buckets[CARRY_MAX_LEVELS]; /* of a section; a multiple of 2 */
  bool far_befores; /* what is before each tile of the first level is not in shared memory */
  uint32_t tiles[CARRY_MAX_LEVELS]; /* elements that a block splits: a multiple of its threads */
} carry_plan;

/* The bits of an entry's number in its cell, if all cells have as many: 16 entries for each bucket,
 * or 8 if these are too many. */
RECSORT_HD static inline uint32_t carry_cell_bits(uint32_t buckets)
{
  enum { EACH = 16 };
  uint32_t bits = 0;
  while (bits < CARRY_CELL_BITS && (uint32_t)CARRY_CELLS << bits < EACH * buckets)
    bits++;
  return bits;
}

/* A lookup table: a word for each cell, four more, and entries of 16 bits; see lookup.cuh. It
 * has room for 2^carry_cell_bits() entries of each cell, and for one more. */
enum { CARRY_HEAD_WORDS = CARRY_CELLS + 4 };
RECSORT_HD static inline uint32_t carry_table_words(uint32_t buckets)
{
  const uint32_t entries = ((uint32_t)CARRY_CELLS << carry_cell_bits(buckets)) + CARRY_CELLS;
  return CARRY_HEAD_WORDS + entries / 2;
}

/* Bytes of shared memory for splitters and their table. */
static inline uint64_t carry_lookup_bytes(uint32_t buckets, uint32_t code)
{
  return buckets * code + carry_table_words(buckets) * sizeof(uint32_t);
}

/* Behind elements: for what a block that splits a tile has there besides. */
static inline uint64_t carry_split_bytes(uint32_t tile, uint32_t buckets, uint32_t code)
{
  const uint64_t order = (tile + 8) * sizeof(uint16_t);
  const uint64_t counts = CARRY_BLOCK / WARP_SIZE * buckets * sizeof(uint16_t);
  const uint64_t runs = (tile + CARRY_BLOCK) * sizeof(uint32_t);
  const uint64_t words = tile / WARP_SIZE * 2 * sizeof(uint32_t);
  return plan_max(order + counts, runs) + words + 16 + carry_lookup_bytes(buckets, code);
}

/* Of a block that splits a tile of keys only. */
static inline uint64_t carry_keys_bytes(uint32_t buckets)
{
  const uint64_t keys = (CARRY_KEYS_TILE + CARRY_KEYS_COUNTS) * sizeof(uint32_t);
  const uint64_t words = CARRY_KEYS_TILE / WARP_SIZE * 2 * sizeof(uint32_t);
  return keys + words + carry_lookup_bytes(buckets, sizeof(uint32_t));
}

/* The same for one that sorts `most` elements: for words and bins, or runs, and for a sample. */
static inline uint64_t carry_sort_bytes(uint32_t most, uint32_t code)
{
  enum { CELLS = 256 };
  const uint64_t words = (most + 32) * sizeof(uint32_t), bins = CARRY_BINS * sizeof(uint16_t);
  return words + bins + most / WARP_SIZE * 2 * sizeof(uint32_t) + CELLS * code +
         (2 * CELLS + 2) * sizeof(uint32_t);
}

/* The most tiles of all sections together on a level; see list_section(). */
static inline uint64_t carry_most_tiles(const carry_plan *plan, uint32_t level)
{
  RS_ASSERT(level < CARRY_MAX_LEVELS && plan->tiles[level] > 0);
  return plan_blocks(plan->count, plan->tiles[level]) + (level ? plan->buckets[0] : plan->segments);
}

/* Bytes for the elements of a section before each tile of the first level. */
static inline uint64_t carry_befores_bytes(const carry_plan *plan)
{
  return carry_most_tiles(plan, 0) * sizeof(uint32_t);
}

/* The sections of the last level. */
static inline uint64_t carry_sections(const carry_plan *plan)
{
  return plan->levels == 1 ? plan_max(plan->segments, 1) : plan->buckets[0];
}

/* The sample of a section: more on the first of two levels, as its errors add to those of the
 * second, and more for large buckets, of which few fit in a part. */
static inline uint32_t carry_samples(const carry_plan *plan, uint32_t level)
{
  RS_ASSERT(level < plan->levels);
  const uint64_t all = carry_sections(plan) * plan->buckets[plan->levels - 1];
  const bool more =
      level + 1 < plan->levels || plan->segments || plan->count / all > plan->most / 7;
  return (uint32_t)plan_min(plan->samples,
                            plan->buckets[level] * (uint64_t)CARRY_SAMPLES * (more ? 2 : 1));
}

/* Bytes of shared memory of a block that chooses splitters, but for what is before tiles. */
static inline uint64_t carry_choose_bytes(const carry_plan *plan, uint32_t level, uint32_t code)
{
  const uint32_t samples = carry_samples(plan, level);
  return (samples + plan->buckets[level]) * code + carry_sort_bytes(samples, code);
}

/* The parts that blocks sort, as expected and at most. */
static inline uint64_t carry_usual_parts(const carry_plan *plan)
{
  RS_ASSERT(plan->joined > 0);
  return plan->count / plan->joined + carry_sections(plan);
}

static inline uint64_t carry_most_parts(const carry_plan *plan)
{
  return 3 * (carry_usual_parts(plan) + plan->count / plan->most) + 1;
}

/* The most of `items` elements for each thread with which a block that splits has room. */
static inline uint32_t carry_tile_of(uint64_t room, uint32_t items, uint32_t element, uint32_t code,
                                     uint32_t buckets)
{
  uint32_t tile = CARRY_BLOCK * items;
  while (tile > 0 && tile * element + carry_split_bytes(tile, buckets, code) > room)
    tile -= CARRY_BLOCK;
  return tile;
}

/* What one of two or three blocks of a multiprocessor has, if a block may have `shared` bytes of
 * shared memory. */
static inline uint64_t carry_room(uint64_t shared, uint32_t blocks)
{
  RS_ASSERT(blocks == 2 || blocks == 3);
  enum { LARGE = 200 << 10, TWO_BLOCKS = 113 << 10, THREE_BLOCKS = 75 << 10, STATIC = 1 << 10 };
  if (shared < LARGE) return shared - STATIC;
  return (blocks == 2 ? (uint64_t)TWO_BLOCKS : (uint64_t)THREE_BLOCKS) - STATIC;
}

/* Sizes that suit `shared` bytes of shared memory for each block, of a multiprocessor that has as
 * much for all of its blocks; false if there is too little. */
static inline bool carry_set_sizes(carry_plan *plan, uint64_t shared, uint32_t element,
                                   uint32_t code)
{
  const uint64_t two = carry_room(shared, 2), three = carry_room(shared, 3);
  const uint32_t buckets = plan->buckets[plan->levels - 1];
  const uint64_t splitters = plan_max(plan->buckets[0], buckets); /* of a level, at most */
  RS_ASSERT(plan->levels > 0 && plan->levels <= CARRY_MAX_LEVELS);
  plan->tiles[0] = carry_tile_of(two, CARRY_FIRST_ITEMS, element, code, plan->buckets[0]);
  plan->tiles[1] = carry_tile_of(three, CARRY_SECOND_ITEMS, element, code, buckets);
  plan->keys_only &= carry_keys_bytes(CARRY_MOST_BUCKETS) <= three;
  if (plan->keys_only) plan->tiles[0] = plan->tiles[1] = CARRY_KEYS_TILE;
  plan->most = plan->samples = CARRY_MOST;
  while (plan->most > CARRY_SORT_BLOCK &&
         plan->most * element + carry_sort_bytes(plan->most, code) > two)
    plan->most -= CARRY_SORT_BLOCK;
  while (plan->samples > CARRY_CHOOSE_BLOCK &&
         (plan->samples + splitters) * code + carry_sort_bytes(plan->samples, code) > two)
    plan->samples -= CARRY_CHOOSE_BLOCK;
  if (!plan->tiles[0] || !plan->tiles[1]) return false;
  plan->far_befores =
      plan->levels > 1 && carry_choose_bytes(plan, 1, code) + carry_befores_bytes(plan) > two;
  return plan->most * element + carry_sort_bytes(plan->most, code) <= two &&
         (plan->samples + splitters) * code + carry_sort_bytes(plan->samples, code) <= two;
}

/* True if this sort is faster for so many elements, whose keys have `code` bytes. */
static inline bool carry_is_fast(uint64_t count, uint32_t code)
{
  return count >= CARRY_LEAST + (code != sizeof(uint64_t));
}

/* Chooses how many buckets there are. Several make a part that is sorted; but on one level they may
 * be larger. A bucket that is larger than what a block sorts takes long, so few may be. */
static inline void carry_set_buckets(carry_plan *plan, uint64_t count)
{
  enum { USUAL = 1024, LARGE = 2048, PARTS = 5, LEAST = 2 };
  const uint64_t buckets = plan_blocks(count, plan_min(USUAL, plan->most / PARTS));
  plan->levels = 1;
  plan->buckets[0] = (uint32_t)plan_clamp((buckets + 1) / 2 * 2, LEAST, CARRY_MOST_BUCKETS);
  RS_ASSERT(plan->buckets[0] % 2 == 0);
  if (count <=
      plan_min(CARRY_MOST_SPLIT_ONCE, CARRY_MOST_BUCKETS * plan_min(LARGE, plan->most * 2 / 5)))
    return;
  uint32_t root = LEAST;
  while ((uint64_t)root * root < buckets && root < CARRY_MOST_BUCKETS)
    root += 2;
  plan->levels = 2;
  plan->buckets[0] = root;
  plan->buckets[1] = (uint32_t)plan_clamp((buckets / root + 1) / 2 * 2, LEAST, CARRY_MOST_BUCKETS);
  RS_ASSERT(plan->buckets[1] % 2 == 0 && plan->buckets[0] <= CARRY_MOST_BUCKETS);
}

/* Changes a plan with two levels for records of `size` bytes that the first one moves, so that
 * tiles have fewer; false if a block has no room. */
static inline bool carry_move_records(carry_plan *plan, uint64_t shared, uint32_t size,
                                      uint32_t code)
{
  plan->tiles[0] =
      carry_tile_of(carry_room(shared, 2), CARRY_MOVED_ITEMS, size, code, plan->buckets[0]);
  if (plan->levels < 2 || !plan->tiles[0]) return false;
  plan->far_befores =
      carry_choose_bytes(plan, 1, code) + carry_befores_bytes(plan) > carry_room(shared, 2);
  return true;
}

/* Plans a sort of `count` elements of so many bytes, whose keys have `code` bytes. False if it is
 * not for this sort. */
static inline bool carry_plan_of(carry_plan *plan, uint64_t count, uint64_t shared,
                                 uint32_t element, uint32_t code, bool keys_only)
{
  const carry_plan none = {0};
  *plan = none;
  plan->keys_only = keys_only;
  plan->count = count;
  plan->most = CARRY_MOST;
  for (unsigned round = 0; round < 2;
       round++) { /* with the most for any elements, then for these */
    carry_set_buckets(plan, count);
    if (!carry_set_sizes(plan, shared, element, code)) return false;
  }
  const uint64_t each = count / carry_sections(plan) / plan->buckets[plan->levels - 1];
  plan->joined = plan->most - (uint32_t)plan_min(each + each / 4, plan->most / 2);
  RS_ASSERT(plan->joined > 0 && plan->joined <= plan->most);
  return count <= (uint64_t)CARRY_MOST_BUCKETS * CARRY_MOST_BUCKETS * (plan->most / 8 * 5);
}

/* True if this sort is faster for so many elements in so many segments than one of all together. */
static inline bool carry_segments_are_fast(uint64_t count, uint64_t segments)
{
  enum { FEWER = 8, AVERAGE = 1 << 12 };
  return count >= CARRY_LEAST / FEWER && count / plan_min(AVERAGE, CARRY_LEAST) >= segments;
}

/* Plans a sort of segments, of which the longest has so many elements: they are the sections of
 * one level. False if a segment is too long, or there are too many elements. */
static inline bool carry_plan_segments(carry_plan *plan, uint64_t count, uint64_t segments,
                                       uint64_t longest, uint64_t shared, uint32_t element,
                                       uint32_t code, bool keys_only)
{
  const carry_plan none = {0};
  *plan = none;
  plan->count = count;
  plan->keys_only = keys_only;
  plan->most = CARRY_MOST;
  for (unsigned round = 0; round < 2; round++) {
    carry_set_buckets(plan, longest);
    if (!carry_set_sizes(plan, shared, element, code)) return false;
  }
  const uint64_t each = longest / plan->buckets[0];
  plan->joined = plan->most - (uint32_t)plan_min(each + each / 4, plan->most / 2);
  RS_ASSERT(plan->joined > 0 && plan->joined <= plan->most);
  plan->segments = (uint32_t)segments;
  return plan->levels == 1 && count < UINT64_C(1) << 31 && segments < UINT64_C(1) << 31;
}

#endif
