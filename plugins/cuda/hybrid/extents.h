/* extents.h - buckets that nobody has counted: each is a list of extents, areas of the same
 * size in one array, and takes another extent when its last one is full. So as much room as all
 * pairs need, and one extent a bucket, are enough whatever the pairs are like. Which extents are
 * whose is listed when all pairs are there, those of a bucket one behind the other.
 */
#ifndef RECSORT_CUDA_HYBRID_EXTENTS_H
#define RECSORT_CUDA_HYBRID_EXTENTS_H

#include "cuda/device.h"
#include "cuda/hybrid/block.h"
#include "cuda/hybrid/places.h"
#include "cuda/hybrid/plan.h"

/* Of a bucket. */
typedef struct extent_room {
  uint64_t open;     /* an extent's number, in the upper half, and the pairs there and behind it */
  uint32_t more;     /* extents after the first one */
  uint32_t apart[5]; /* from the next bucket's, as all blocks add to it */
} extent_room;

/* Which one of a bucket's an extent is. */
typedef struct extent_owner {
  uint32_t bucket, number;
} extent_owner;

typedef struct DEVICE_ALIGNED(16) extent {
  uint64_t from; /* a place in the array */
  uint32_t count;
  uint16_t bucket;
  bool one_key; /* the bucket's */
} extent;

typedef struct extents {
  uint32_t bits; /* one has room for 2^bits pairs */
  uint32_t buckets;
  uint32_t most;
  extent_room *rooms;   /* a bucket's */
  extent_owner *owners; /* an extent's */
  uint32_t *next;       /* an extent's: the number of the one behind it; 0: there is none yet */
  uint32_t *counts;     /* how many were taken, and how many are listed */
  extent *list;         /* of a bucket after the other's */
  uint32_t *firsts;     /* a bucket's in the list */
  bool *one_key;        /* whether all pairs of a bucket have one key; NULL: nobody wants to know */
} extents;

RECSORT_HD static inline uint32_t extents_size(const extents *all)
{
  return 1u << all->bits;
}

/* By many threads, of which this is number `i`: each bucket has an extent. */
DEVICE_INLINE void extents_begin(const extents *all, uint32_t i, uint32_t threads)
{
  if (i == 0) all->counts[0] = all->buckets;
  for (uint32_t number = i; number < all->most; number += threads)
    all->next[number] = 0;
  for (uint32_t bucket = i; bucket < all->buckets; bucket += threads) {
    const extent_room room = {(uint64_t)bucket << 32, 0, {0}};
    const extent_owner owner = {bucket, 0};
    all->rooms[bucket] = room;
    all->owners[bucket] = owner;
  }
}

/* ---- Room for a block's pairs ----
 *
 * All blocks add to a bucket's count; who comes to the end of an extent takes that many from it,
 * and goes on to the next extent. Others need not wait for that: where the count is too large until
 * then, they follow `next`. It is there in time, as who comes to the last quarter of an extent
 * takes the next one. Only he who comes to the end of that, too, waits, lest ends are told out of
 * order.
 */

/* What a block finds for the pairs of each bucket, which lie one behind the other among its own:
 * how far they move from there; and those from `cuts` on, which are in another extent. */
typedef struct extent_moves {
  uint16_t *starts; /* of a bucket's pairs */
  uint64_t *first, *second;
  uint32_t *cuts; /* beside the counts, which they replace */
  uint32_t *cut;  /* whether there are any */
} extent_moves;

/* A bucket's pairs that want room: from place `at` of an extent on. */
typedef struct extent_seeker {
  uint32_t bucket, start, count;
  uint32_t number, at;
} extent_seeker;

/* Whoever is the first to have a pair in the last quarter of an extent takes the next one. */
DEVICE_INLINE void extent_prepare(const extents *all, uint32_t bucket, uint32_t number, uint32_t at,
                                  uint32_t count)
{
  const uint32_t mark = extents_size(all) / 4 * 3;
  if (at > mark || at + count <= mark) return;
  const uint32_t taken = device_add32(&all->counts[0], 1);
  const extent_owner owner = {bucket, device_add32(&all->rooms[bucket].more, 1) + 1};
  all->owners[taken] = owner;
  device_poke32(&all->next[number], taken);
}

/* False if one has to wait, and try again. */
DEVICE_INLINE bool extent_settle(const extents *all, extent_seeker *seeker,
                                 const extent_moves *moves)
{
  const uint32_t size = extents_size(all), bucket = seeker->bucket;
  const uint32_t next = device_peek32(&all->next[seeker->number]);
  if (seeker->at >= size) {
    if (next) seeker->at -= size;
    if (next) seeker->number = next;
    return false;
  }
  const uint32_t fits = (uint32_t)plan_min(seeker->count, size - seeker->at);
  const bool ends = seeker->at + fits == size;
  if (!next) extent_prepare(all, bucket, seeker->number, seeker->at, fits);
  if (ends && (!next || device_peek64(&all->rooms[bucket].open) >> 32 != seeker->number))
    return false;
  moves->first[bucket] = ((uint64_t)seeker->number << all->bits) + seeker->at - seeker->start;
  moves->cuts[bucket] = seeker->start + fits;
  if (!ends) return true;
  (void)device_add64(&all->rooms[bucket].open, ((uint64_t)(next - seeker->number) << 32) - size);
  extent_prepare(all, bucket, next, 0, seeker->count - fits);
  if (fits < seeker->count) {
    moves->second[bucket] = ((uint64_t)next << all->bits) - (seeker->start + fits);
    *moves->cut = 1;
  }
  return true;
}

/* By counts. A warp goes on together, so that no lane that waits for another block keeps one from
 * what others wait for. One barrier, and those of block_before(). */
DEVICE_INLINE void extents_take(const extents *all, const extent_moves *moves)
{
  const uint32_t *const counts = moves->cuts;
  const uint32_t i = 2 * threadIdx.x;
  const uint32_t one = i < all->buckets ? counts[i] : 0;
  const uint32_t before = block_before(one + (i + 1 < all->buckets ? counts[i + 1] : 0));
  if (i < all->buckets) moves->starts[i] = (uint16_t)before;
  if (i + 1 < all->buckets) moves->starts[i + 1] = (uint16_t)(before + one);
  __syncthreads();
  for (uint32_t bucket = threadIdx.x; bucket - threadIdx.x % HYBRID_WARP < all->buckets;
       bucket += blockDim.x) {
    const uint32_t count = bucket < all->buckets ? counts[bucket] : 0;
    bool waits = count > 0;
    const uint64_t open = waits ? device_add64(&all->rooms[bucket].open, count) : 0;
    extent_seeker seeker = {bucket, waits ? moves->starts[bucket] : 0u, count,
                            (uint32_t)(open >> 32), (uint32_t)open};
    while (device_ballot(waits))
      if (waits) waits = !extent_settle(all, &seeker, moves);
  }
}

/* ---- The list ---- */

typedef struct list_step {
  extents all;
  places ends; /* of buckets, one behind the other, as they will be */
} list_step;

/* Of a bucket: which extent is the last, and how many pairs are there. */
typedef struct extent_last {
  uint32_t number, count;
} extent_last;

DEVICE_INLINE extent_last extents_last(const extents *all, uint32_t bucket)
{
  const uint64_t open = all->rooms[bucket].open;
  const extent_last last = {all->owners[open >> 32].number, (uint32_t)open};
  return last;
}

/* Every block adds up all buckets, two a thread, and lists some extents; the first one tells ends.
 */
DEVICE_KERNEL(list_extents, HYBRID_SPREAD_BLOCK, list_step, step)
{
  DEVICE_SHARED_ARRAY(uint32_t, firsts, HYBRID_MOST_BUCKETS);
  DEVICE_SHARED_ARRAY(extent_last, lasts, HYBRID_MOST_BUCKETS);
  const extents *const all = &step.all;
  const uint32_t i = 2 * threadIdx.x;
  uint64_t counts[2] = {0, 0};
  uint32_t of[2] = {0, 0}, listed;
  DEVICE_UNROLL
  for (uint32_t k = 0; k < 2; k++)
    if (i + k < all->buckets) {
      lasts[i + k] = extents_last(all, i + k);
      counts[k] = ((uint64_t)lasts[i + k].number << all->bits) + lasts[i + k].count;
      of[k] = lasts[i + k].number + 1;
    }
  const uint64_t end = block_before64(counts[0] + counts[1]) + counts[0];
  const uint32_t first = block_before_all(of[0] + of[1], &listed);
  DEVICE_UNROLL
  for (uint32_t k = 0; k < 2; k++)
    if (i + k < all->buckets) {
      firsts[i + k] = first + (k ? of[0] : 0);
      if (blockIdx.x > 0) continue;
      all->firsts[i + k] = firsts[i + k];
      place_set(&step.ends, i + k, end + (k ? counts[1] : 0));
    }
  if (blockIdx.x == 0 && threadIdx.x == 0) all->counts[1] = listed;
  __syncthreads();
  for (uint32_t number = blockIdx.x * blockDim.x + threadIdx.x; number < all->counts[0];
       number += gridDim.x * blockDim.x) {
    const extent_owner owner = all->owners[number];
    const extent_last last = lasts[owner.bucket];
    const extent one = {(uint64_t)number << all->bits,
                        owner.number < last.number ? extents_size(all) : last.count,
                        (uint16_t)owner.bucket, all->one_key && all->one_key[owner.bucket]};
    if (owner.number <= last.number) all->list[firsts[owner.bucket] + owner.number] = one;
  }
}

/* Where in the array pair `i` of a bucket is. */
DEVICE_INLINE uint64_t extents_place(const extents *all, uint32_t bucket, uint64_t i)
{
  const uint64_t number = all->firsts[bucket] + (i >> all->bits);
  return all->list[number].from + (i & (extents_size(all) - 1));
}

#endif
