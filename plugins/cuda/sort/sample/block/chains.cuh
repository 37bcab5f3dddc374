/* chains.cuh - buckets as chains of extents, which are areas of equal size in one array. A bucket
 * allocates another extent when its last one fills up, so nothing needs counting beforehand. Space
 * for all pairs, and 1.25 extents for each bucket, is enough for any keys. When all pairs are
 * stored, list_extents lists the extents bucket by bucket.
 */
#ifndef RECSORT_CUDA_SAMPLE_CHAINS_CUH
#define RECSORT_CUDA_SAMPLE_CHAINS_CUH

#include "cuda/sort/sample/block/offsets.cuh"
#include "cuda/sort/sample/block/shares.cuh"

namespace sample
{

/* The state of a bucket. */
struct chain_state {
  uint64_t open;     /* upper half: the last extent's number; lower: pairs added from there on */
  uint32_t more;     /* extents after the first one */
  uint32_t apart[5]; /* padding to keep the states of buckets, which all blocks add to, apart */
};

/* The bucket of an extent, and the extent's number in it. */
struct extent_owner {
  uint32_t bucket, number;
};

struct DEVICE_ALIGNED(16) extent {
  uint64_t from; /* position in the array */
  uint32_t count;
  uint16_t bucket;
  bool one_key; /* all pairs of its bucket have one key */
};

struct bucket_chains {
  uint32_t bits; /* an extent has space for 2^bits pairs */
  uint32_t buckets;
  uint32_t most;
  chain_state *states;  /* of each bucket */
  extent_owner *owners; /* of each extent */
  uint32_t *next;       /* of each extent: the number of the next one; 0: none yet */
  uint32_t *counts;     /* the numbers of allocated and of listed extents */
  extent *list;         /* all extents, bucket by bucket */
  uint32_t *firsts;     /* each bucket's first extent in the list */
  bool *one_key;        /* for each bucket: all its pairs have one key; NULL: not known */
};

RECSORT_HD static inline uint32_t extent_size(const bucket_chains *all)
{
  return 1u << all->bits;
}

/* Gives each bucket its first extent. By `threads` threads, of which this is number `i`. */
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

/* Where a block's pairs go. A bucket's pairs are adjacent in the block; they move by `first`, those
 * from `cuts` on by `second`, as they are in the next extent. */
struct chain_moves {
  uint16_t *starts; /* of each bucket's pairs in the block */
  uint64_t *first, *second;
  uint32_t *cuts; /* overwrite the counts */
  uint32_t *cut;  /* nonzero if some bucket has a cut inside */
};

/* A block's request of space for `count` pairs of a bucket, at position `at` of extent `number`. */
struct reservation {
  uint32_t bucket, start, count;
  uint32_t number, at;
};

/* Allocates the next extent, if these pairs are the ones that reach the last quarter of this
 * one. */
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

/* Tries to reserve space for a bucket's pairs. False: try again. */
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
    DEVICE_PATH("second extent");
    moves->second[bucket] = ((uint64_t)next << all->bits) - (seeker->start + fits);
    *moves->cut = 1;
  }
  return true;
}

/* Reserves space for the block's pairs, from the block's counts. The lanes of a warp advance
 * together, so that a lane that spins does not block lanes that other blocks wait for. By all
 * threads of the block; one barrier, and those of block_before(). */
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
  offsets ends; /* of the buckets, as if these were adjacent */
};

/* The last extent of a bucket, and the pairs in it. */
struct extent_last {
  uint32_t number, count;
};

DEVICE_INLINE extent_last chain_last(const bucket_chains *all, uint32_t bucket)
{
  const uint64_t open = all->states[bucket].open;
  const extent_last last = {all->owners[open >> 32].number, (uint32_t)open};
  return last;
}

/* The position of pair `i` of a bucket in the array. */
DEVICE_INLINE uint64_t chain_position(const bucket_chains *all, uint32_t bucket, uint64_t i)
{
  const uint64_t number = all->firsts[bucket] + (i >> all->bits);
  return all->list[number].from + (i & (extent_size(all) - 1));
}

} // namespace sample

#endif
