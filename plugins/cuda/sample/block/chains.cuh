/* chains.cuh - buckets that are chains of extents: areas of the same size in one array. A bucket
 * takes another extent when its last one fills up. So nothing is counted before, and space for all
 * pairs, and an extent and a quarter for each bucket, is enough for any keys. When all pairs are
 * there, the extents are listed, those of a bucket one behind the other.
 */
#ifndef RECSORT_CUDA_SAMPLE_CHAINS_CUH
#define RECSORT_CUDA_SAMPLE_CHAINS_CUH

#include "cuda/sample/block/offsets.cuh"
#include "cuda/sample/block/shares.cuh"

namespace sample
{

/* Of a bucket. */
struct chain_state {
  uint64_t open;     /* an extent's number, in the upper half, and the pairs there and behind it */
  uint32_t more;     /* extents after the first one */
  uint32_t apart[5]; /* from the next bucket's, as all blocks add to it */
};

/* Which one of a bucket's an extent is. */
struct extent_owner {
  uint32_t bucket, number;
};

struct DEVICE_ALIGNED(16) extent {
  uint64_t from; /* a place in the array */
  uint32_t count;
  uint16_t bucket;
  bool one_key; /* the bucket's */
};

struct bucket_chains {
  uint32_t bits; /* one has space for 2^bits pairs */
  uint32_t buckets;
  uint32_t most;
  chain_state *states;  /* a bucket's */
  extent_owner *owners; /* an extent's */
  uint32_t *next;       /* an extent's: the number of the one behind it; 0: there is none yet */
  uint32_t *counts;     /* how many were taken, and how many are listed */
  extent *list;         /* of a bucket after the other's */
  uint32_t *firsts;     /* a bucket's in the list */
  bool *one_key;        /* whether all pairs of a bucket have one key; NULL: not asked for */
};

RECSORT_HD static inline uint32_t extent_size(const bucket_chains *all)
{
  return 1u << all->bits;
}

/* By many threads, of which this is number `i`: each bucket has an extent. */
DEVICE_INLINE void chains_begin(const bucket_chains *all, uint32_t i, uint32_t threads)
{
  if (i == 0) all->counts[0] = all->buckets;
  for (uint32_t number = i; number < all->most; number += threads)
    all->next[number] = 0;
  for (uint32_t bucket = i; bucket < all->buckets; bucket += threads) {
    const chain_state space = {(uint64_t)bucket << 32, 0, {0}};
    const extent_owner owner = {bucket, 0};
    all->states[bucket] = space;
    all->owners[bucket] = owner;
  }
}

/* ---- Space for a block's pairs ----
 *
 * Each block adds its pairs to a bucket's count. The block that reaches the end of an extent takes
 * that many from the count and moves the bucket on to the next extent. Others do not wait for it:
 * where the count is beyond the extent until then, they follow `next`. The next extent is taken
 * when this one is 75% full. Only a block that also fills the next extent spins, so that ends are
 * published in order.
 */

/* What a block finds for the pairs of each bucket, which lie one behind the other among its own:
 * how far they move from there; and those from `cuts` on, which are in another extent. */
struct chain_moves {
  uint16_t *starts; /* of a bucket's pairs */
  uint64_t *first, *second;
  uint32_t *cuts; /* beside the counts, which they replace */
  uint32_t *cut;  /* whether there are any */
};

/* A bucket's pairs that ask for space, from place `at` of an extent on. */
struct reservation {
  uint32_t bucket, start, count;
  uint32_t number, at;
};

/* The block whose pairs are the first in the last quarter of an extent takes the next one. */
DEVICE_INLINE void extent_prepare(const bucket_chains *all, uint32_t bucket, uint32_t number,
                                  uint32_t at, uint32_t count)
{
  const uint32_t threshold = extent_size(all) / 4 * 3;
  if (at > threshold || at + count <= threshold) return;
  const uint32_t taken = device_add32(&all->counts[0], 1);
  const extent_owner owner = {bucket, device_add32(&all->states[bucket].more, 1) + 1};
  all->owners[taken] = owner;
  device_poke32(&all->next[number], taken);
}

/* False: try again. */
DEVICE_INLINE bool extent_reserve(const bucket_chains *all, reservation *seeker,
                                  const chain_moves *moves)
{
  const uint32_t size = extent_size(all), bucket = seeker->bucket;
  const uint32_t next = device_peek32(&all->next[seeker->number]);
  if (seeker->at >= size) {
    if (next) seeker->at -= size;
    if (next) seeker->number = next;
    return false;
  }
  const uint32_t fits = (uint32_t)plan_min(seeker->count, size - seeker->at);
  const bool ends = seeker->at + fits == size;
  if (!next) extent_prepare(all, bucket, seeker->number, seeker->at, fits);
  if (ends && (!next || device_peek64(&all->states[bucket].open) >> 32 != seeker->number))
    return false;
  moves->first[bucket] = ((uint64_t)seeker->number << all->bits) + seeker->at - seeker->start;
  moves->cuts[bucket] = seeker->start + fits;
  if (!ends) return true;
  (void)device_add64(&all->states[bucket].open, ((uint64_t)(next - seeker->number) << 32) - size);
  extent_prepare(all, bucket, next, 0, seeker->count - fits);
  if (fits < seeker->count) {
    moves->second[bucket] = ((uint64_t)next << all->bits) - (seeker->start + fits);
    *moves->cut = 1;
  }
  return true;
}

/* By counts. A warp goes on together, so that no lane that spins keeps others from what other
 * blocks spin for. One barrier, and those of block_before(). */
DEVICE_INLINE void chains_reserve(const bucket_chains *all, const chain_moves *moves)
{
  const uint32_t *const counts = moves->cuts;
  const uint32_t i = 2 * threadIdx.x;
  const uint32_t one = i < all->buckets ? counts[i] : 0;
  const uint32_t before = block_before(one + (i + 1 < all->buckets ? counts[i + 1] : 0));
  if (i < all->buckets) moves->starts[i] = (uint16_t)before;
  if (i + 1 < all->buckets) moves->starts[i + 1] = (uint16_t)(before + one);
  __syncthreads();
  for (uint32_t bucket = threadIdx.x; bucket - threadIdx.x % WARP_SIZE < all->buckets;
       bucket += blockDim.x) {
    const uint32_t count = bucket < all->buckets ? counts[bucket] : 0;
    bool waits = count > 0;
    const uint64_t open = waits ? device_add64(&all->states[bucket].open, count) : 0;
    reservation seeker = {bucket, waits ? moves->starts[bucket] : 0u, count, (uint32_t)(open >> 32),
                          (uint32_t)open};
    while (device_ballot(waits))
      if (waits) waits = !extent_reserve(all, &seeker, moves);
  }
}

/* ---- The list ---- */

struct list_args {
  static constexpr uint32_t max_threads = SAMPLE_SCATTER_BLOCK;

  bucket_chains all;
  offsets ends; /* of buckets, one behind the other, as they will be */
};

/* Of a bucket: which extent is the last, and how many pairs are there. */
struct extent_last {
  uint32_t number, count;
};

DEVICE_INLINE extent_last chain_last(const bucket_chains *all, uint32_t bucket)
{
  const uint64_t open = all->states[bucket].open;
  const extent_last last = {all->owners[open >> 32].number, (uint32_t)open};
  return last;
}

/* Where in the array pair `i` of a bucket is. */
DEVICE_INLINE uint64_t chain_position(const bucket_chains *all, uint32_t bucket, uint64_t i)
{
  const uint64_t number = all->firsts[bucket] + (i >> all->bits);
  return all->list[number].from + (i & (extent_size(all) - 1));
}

} // namespace sample

#endif
