/* ranks.cuh - ranks keys by counting those that go before each.
 *
 *   rank_in_run   ranks within a run of a few hundred keys: a warp ranks two keys, and each lane
 *                 compares them with its part of the run
 *   rank_in_all   ranks among several runs, now sorted: searches in each other run, first among
 *                 its fences, of which each lane of a warp holds one
 *
 * (These are the ranks of bSearchFirst and bSearchLast, among all runs at once.) Keys are in index
 * order, so the first of two equal keys goes before the other.
 */
#ifndef RECSORT_CUDA_SAMPLE_RANKS_CUH
#define RECSORT_CUDA_SAMPLE_RANKS_CUH

#include "cuda/pair.cuh"
#include "cuda/sort/sample/block/shares.cuh"

namespace sample
{

/* Adjacent keys that are loaded at once. */
template <class Key> inline constexpr uint32_t group_size = 16 / sizeof(Key);
template <class Key> struct DEVICE_ALIGNED(16) key_group {
  Key of[group_size<Key>];
};

/* The groups of `count` keys, rounded up so that all lanes of a warp have equally many. */
template <class Key> RECSORT_HD static inline uint32_t groups_of(uint32_t count)
{
  return (uint32_t)plan_blocks(count, WARP_SIZE * group_size<Key>) * WARP_SIZE;
}

template <class Key> static inline uint64_t run_bytes(const sample_ranking *how)
{
  return groups_of<Key>(1u << how->run_bits) * sizeof(key_group<Key>);
}

/* Sorted runs of 2^bits keys (the last one may be shorter) and their fences. Fences are keys at
 * equal distances, as many in a run as a warp has lanes. */
template <class Key> struct key_runs {
  Key *keys, *fences;
  uint32_t count; /* keys */
  uint32_t bits;
};

/* ---- Within a run, which is in shared memory ---- */

template <class Key> DEVICE_INLINE void put_group(key_group<Key> *groups, uint32_t i, Key key)
{
  groups[i / group_size<Key>].of[i % group_size<Key>] = key;
}

/* Pads a run in shared memory with the greatest key. */
template <class Key> DEVICE_INLINE void fill_groups(key_group<Key> *groups, uint32_t count)
{
  const uint32_t all = groups_of<Key>(count) * group_size<Key>;
  for (uint32_t i = count + threadIdx.x; i < all; i += blockDim.x)
    put_group(groups, i, (Key) ~(Key)0);
}

/* Puts the keys of run `share` in shared memory. code() makes each key of a word; words are
 * `stride` bytes apart. A thread loads several words before it makes keys of them. By all threads
 * of the block. */
template <class Key, class Code>
DEVICE_INLINE void load_coded(const run_share *share, const void *words, uint64_t stride,
                              key_group<Key> *groups, const Code &code)
{
  enum { SOME = 4 };
  const char *const run = (const char *)words + share->begin * stride;
  DEVICE_ASSERT(((uintptr_t)words | stride) % sizeof(Key) == 0);
  const auto word = [&](uint32_t i) { return *(const Key *)(const void *)(run + i * stride); };
  uint32_t i = threadIdx.x;
  for (; i + blockDim.x < share->count; i += SOME * blockDim.x) {
    Key some[SOME];
    DEVICE_UNROLL
    for (uint32_t s = 0; s < SOME; s++)
      some[s] = word((uint32_t)plan_min(i + s * blockDim.x, share->count - 1));
    DEVICE_UNROLL
    for (uint32_t s = 0; s < SOME; s++)
      if (i + s * blockDim.x < share->count) put_group(groups, i + s * blockDim.x, code(some[s]));
  }
  if (i < share->count) put_group(groups, i, code(word(i)));
  fill_groups(groups, share->count);
}

/* Adds to `counts` the number of the lane's keys, in groups [low, high), that are less than each
 * key of `than`, or, with `or_equal`, not greater. */
template <class Key>
DEVICE_INLINE void count_less(const key_group<Key> *groups, uint32_t low, uint32_t high,
                              const Key *than, bool or_equal, uint32_t *counts)
{
  DEVICE_UNROLL_BY_4
  for (uint32_t g = low + threadIdx.x % WARP_SIZE; g < high; g += WARP_SIZE) {
    const key_group<Key> keys = groups[g];
    DEVICE_UNROLL
    for (uint32_t i = 0; i < SAMPLE_WARP_RANKED * group_size<Key>; i++) {
      const Key key = keys.of[i % group_size<Key>], other = than[i / group_size<Key>];
      counts[i / group_size<Key>] += or_equal ? key <= other : key < other;
    }
  }
}

/* The same for the lane's group from `low` on, which may hold the ranked keys: of equal keys, those
 * at earlier positions count. */
template <class Key>
DEVICE_INLINE void count_before(const key_group<Key> *groups, uint32_t low, const Key *than,
                                uint32_t first, uint32_t *counts)
{
  const uint32_t mine = low + threadIdx.x % WARP_SIZE;
  const key_group<Key> keys = groups[mine];
  DEVICE_UNROLL
  for (uint32_t i = 0; i < SAMPLE_WARP_RANKED * group_size<Key>; i++) {
    const uint32_t k = i % group_size<Key>, r = i / group_size<Key>,
                   at = mine * group_size<Key> + k;
    counts[r] += keys.of[k] < than[r] || (keys.of[k] == than[r] && at < first + r);
  }
}

/* The key that the lane holds after its warp has ranked some; valid if run_share_has(). */
template <class Key> struct ranked_key {
  Key key;
  uint32_t rank;
};

template <class Key>
DEVICE_INLINE ranked_key<Key> rank_in_run(const key_group<Key> *groups, const run_share *share)
{
  const uint32_t all = groups_of<Key>(share->count);
  const uint32_t own = share->first / group_size<Key> / WARP_SIZE * WARP_SIZE;
  uint32_t counts[SAMPLE_WARP_RANKED] = {};
  Key than[SAMPLE_WARP_RANKED];
  ranked_key<Key> mine = {};
  DEVICE_UNROLL
  for (uint32_t r = 0; r < SAMPLE_WARP_RANKED; r++)
    than[r] = groups[(share->first + r) / group_size<Key>].of[(share->first + r) % group_size<Key>];
  count_less(groups, 0, own, than, true, counts);
  count_before(groups, own, than, share->first, counts);
  count_less(groups, own + WARP_SIZE, all, than, false, counts);
  DEVICE_UNROLL
  for (uint32_t r = 0; r < SAMPLE_WARP_RANKED; r++) {
    const ranked_key<Key> one = {than[r], device_warp_sum(counts[r])};
    if (threadIdx.x % WARP_SIZE == r) mine = one;
  }
  return mine;
}

template <class Key> DEVICE_INLINE bool are_several(const key_runs<Key> *runs)
{
  return runs->count > 1u << runs->bits;
}

/* The position of a ranked key among all runs. Also stores the key as a fence if it is one. */
template <class Key>
DEVICE_INLINE uint32_t place_in_run(const key_runs<Key> *runs, const run_share *share,
                                    ranked_key<Key> ranked)
{
  const uint32_t bits = runs->bits - WARP_BITS, last = (1u << bits) - 1;
  const uint32_t place = share->begin + ranked.rank;
  if (are_several(runs) && (place & last) == last) runs->fences[place >> bits] = ranked.key;
  return place;
}

/* ---- In all runs ---- */

/* The search for each lane's key in one run. */
template <class Key> struct run_search {
  uint32_t begin, count; /* the run's keys; count is 0 for the keys' own run */
  bool equal;            /* equal keys of the run go before */
  Key fence;             /* the lane's fence of the run */
  uint32_t rank;         /* keys known to go before */
};

template <class Key>
DEVICE_INLINE run_search<Key> search_of(const key_runs<Key> *runs, uint32_t run, uint32_t own)
{
  const uint32_t lane = threadIdx.x % WARP_SIZE;
  run_search<Key> search = {};
  search.begin = run << runs->bits;
  if (search.begin < runs->count && run != own)
    search.count = (uint32_t)plan_min(1u << runs->bits, runs->count - search.begin);
  search.equal = run < own;
  if (lane < search.count >> (runs->bits - WARP_BITS))
    search.fence = runs->fences[run * WARP_SIZE + lane];
  return search;
}

template <class Key>
DEVICE_INLINE bool run_goes_before(const run_search<Key> *search, Key other, Key key)
{
  return other < key || (other == key && search->equal);
}

/* The number of keys in this warp's share of the other runs that go before the lane's key. Searches
 * in several runs at a time, so that their loads overlap. */
template <class Key>
DEVICE_INLINE uint32_t rank_in_others(const key_runs<Key> *runs, uint32_t own, Key key)
{
  enum { SOME = 2 };
  const uint32_t all = ((runs->count - 1) >> runs->bits) + 1, every = blockDim.x / WARP_SIZE;
  const uint32_t bits = runs->bits - WARP_BITS; /* log2 of the distance between fences */
  uint32_t sum = 0;
  for (uint32_t run = threadIdx.x / WARP_SIZE; run < all; run += SOME * every) {
    run_search<Key> some[SOME];
    DEVICE_UNROLL
    for (uint32_t s = 0; s < SOME; s++)
      some[s] = search_of(runs, run + s * every, own);
    DEVICE_UNROLL
    for (uint32_t width = WARP_SIZE; width > 0; width /= 2) {
      DEVICE_UNROLL
      for (uint32_t s = 0; s < SOME; s++) {
        const uint32_t next = some[s].rank + width;
        const Key fence = key_from_lane(some[s].fence, (next - 1) % WARP_SIZE);
        if (next << bits <= some[s].count && run_goes_before(&some[s], fence, key))
          some[s].rank = next;
      }
    }
    DEVICE_UNROLL
    for (uint32_t s = 0; s < SOME; s++)
      some[s].rank <<= bits;
    DEVICE_UNROLL_BY_4
    for (uint32_t width = (1u << bits) / 2; width > 0; width /= 2) {
      DEVICE_UNROLL
      for (uint32_t s = 0; s < SOME; s++) {
        const uint32_t next = some[s].rank + width;
        if (next <= some[s].count &&
            run_goes_before(&some[s], runs->keys[some[s].begin + next - 1], key))
          some[s].rank = next;
      }
    }
    DEVICE_UNROLL
    for (uint32_t s = 0; s < SOME; s++)
      sum += some[s].rank;
  }
  return sum;
}

/* The rank of key `i` among all runs, valid in the first warp. A block ranks one key for each lane
 * of a warp; its warps share the runs. By all threads of the block; one barrier. */
template <class Key>
DEVICE_INLINE uint32_t rank_in_all(const key_runs<Key> *runs, uint32_t i, Key key)
{
  const uint32_t own = (blockIdx.x * WARP_SIZE) >> runs->bits;
  return rank_sum(rank_in_others(runs, own, key)) + i - (own << runs->bits);
}

} // namespace sample

#endif
