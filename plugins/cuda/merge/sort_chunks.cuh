/* sort_chunks.cuh - the first kernel: a block sorts a chunk of keys in shared memory. Each thread
 * ranks its neighbouring elements among each other; then stage after stage merges pairs of sibling
 * runs, until one has the whole chunk.
 */
#ifndef RECSORT_CUDA_MERGE_SORT_CHUNKS_CUH
#define RECSORT_CUDA_MERGE_SORT_CHUNKS_CUH

#include "cuda/merge/elements.cuh"
#include "cuda/merge/target.cuh"

namespace merge
{

template <class Key, class Pair> struct sort_chunks_args {
  static constexpr uint32_t max_threads = MERGE_CHUNK_BLOCK;
  /* reads */
  const Key *keys;
  uint64_t count;
  uint32_t index_bits; /* packed: of an index */
  /* writes */
  merge_target<Pair> to;
};

template <class Key> struct chunk_keys {
  const Key *first;

  DEVICE_MEMBER Key at(uint32_t tag) const
  {
    return first[tag];
  }
};

/* ---- The range of the keys ---- */

template <class Key> struct key_range {
  Key least, greatest;
};

template <class Key> DEVICE_INLINE void widen(key_range<Key> *range, Key least, Key greatest)
{
  if (least < range->least) range->least = least;
  if (range->greatest < greatest) range->greatest = greatest;
}

/* The range of the chunk's keys, for all threads. One barrier. */
template <class Key> DEVICE_INLINE key_range<Key> block_range(chunk_keys<Key> keys, uint32_t count)
{
  DEVICE_ASSERT(count > 0);
  DEVICE_SHARED_ARRAY(key_range<Key>, ranges, MERGE_CHUNK_BLOCK / WARP_SIZE);
  const uint32_t lane = threadIdx.x % WARP_SIZE;
  key_range<Key> range = {(Key) ~(Key)0, 0};
  DEVICE_UNROLL
  for (uint32_t k = 0; k < MERGE_CHUNK_ITEMS; k++) {
    const uint32_t i = threadIdx.x + k * blockDim.x;
    if (i < count) widen(&range, keys.at(i), keys.at(i));
  }
  for (uint32_t bit = WARP_SIZE / 2; bit > 0; bit /= 2) {
    const Key least = key_from_lane(range.least, lane ^ bit);
    widen(&range, least, key_from_lane(range.greatest, lane ^ bit));
  }
  if (lane == 0) ranges[threadIdx.x / WARP_SIZE] = range;
  __syncthreads();
  for (uint32_t warp = 0; warp < blockDim.x / WARP_SIZE; warp++)
    widen(&range, ranges[warp].least, ranges[warp].greatest);
  return range;
}

/* ---- Stages ---- */

/* The places of a thread's neighbouring elements of a run: ascending, or in a right sibling
 * descending. */
struct run_places {
  uint32_t first;
  int32_t step;

  DEVICE_MEMBER uint32_t at(uint32_t k) const
  {
    return first + (uint32_t)step * k;
  }
};

/* In the runs that `threads` threads have written. */
DEVICE_INLINE run_places places_in_run(uint32_t threads)
{
  DEVICE_ASSERT(threads > 0 && (threads & (threads - 1)) == 0 && threads <= blockDim.x);
  const uint32_t number = threadIdx.x & (threads - 1), begin = threadIdx.x - number;
  const bool is_right = threads < blockDim.x && (threadIdx.x & threads);
  if (!is_right) return {threadIdx.x * MERGE_CHUNK_ITEMS, 1};
  return {(begin + threads - number) * MERGE_CHUNK_ITEMS - 1, -1};
}

/* Sorts each thread's neighbouring elements by their ranks among each other. These are bSearchFirst
 * and bSearchLast (Montalto, "GPU merge sort", 3.1) in siblings of one element, for all siblings at
 * once. */
DEVICE_INLINE void rank_neighbours(uint32_t *elements)
{
  const run_places places = places_in_run(1);
  uint32_t mine[MERGE_CHUNK_ITEMS], ranks[MERGE_CHUNK_ITEMS] = {};
  DEVICE_UNROLL
  for (uint32_t k = 0; k < MERGE_CHUNK_ITEMS; k++)
    mine[k] = elements[threadIdx.x * MERGE_CHUNK_ITEMS + k];
  DEVICE_UNROLL
  for (uint32_t k = 1; k < MERGE_CHUNK_ITEMS; k++) {
    DEVICE_UNROLL
    for (uint32_t i = 0; i < k; i++) {
      const bool left = LEFT_GOES_FIRST(mine[i], mine[k]);
      ranks[k] += left;
      ranks[i] += !left;
    }
  }
  DEVICE_UNROLL
  for (uint32_t k = 0; k < MERGE_CHUNK_ITEMS; k++)
    elements[places.at(ranks[k])] = mine[k];
}

/* Merges sibling runs of `threads` threads each. Two barriers. */
DEVICE_INLINE void merge_stage(uint32_t *elements, uint32_t threads)
{
  const uint32_t number = threadIdx.x & (2 * threads - 1), width = threads * MERGE_CHUNK_ITEMS;
  const uint32_t first = (threadIdx.x - number) * MERGE_CHUNK_ITEMS;
  const run_places places = places_in_run(2 * threads);
  DEVICE_ASSERT(2 * threads <= blockDim.x);
  uint32_t merged[MERGE_CHUNK_ITEMS];
  __syncthreads();
  merge_items({elements, first, first + 2 * width - 1, width}, number * MERGE_CHUNK_ITEMS, merged);
  __syncthreads();
  DEVICE_UNROLL
  for (uint32_t k = 0; k < MERGE_CHUNK_ITEMS; k++)
    elements[places.at(k)] = merged[k];
}

/* ---- By keys ---- */

/* How many of a run's keys go before `key`, which is of its left sibling or its right one. */
template <class Key>
DEVICE_INLINE uint32_t rank_among(chunk_keys<Key> keys, const uint32_t *tags, uint32_t count,
                                  Key key, bool is_left)
{
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t i = (low + high) / 2;
    const Key other = keys.at(tags[i]);
    if (is_left ? other < key : LEFT_GOES_FIRST(other, key))
      low = i + 1;
    else
      high = i;
  }
  return low;
}

/* Sorts tags by keys alone, for chunks in which too many keys share a digest: in each stage a tag's
 * place is its own number and its rank in the sibling run. */
template <class Key>
DEVICE_APART void sort_by_keys(chunk_keys<Key> keys, uint32_t *tags, uint32_t count)
{
  for (uint32_t k = 0; k < MERGE_CHUNK_ITEMS; k++)
    tags[threadIdx.x + k * blockDim.x] = threadIdx.x + k * blockDim.x;
  for (uint32_t width = 1; width < count; width *= 2) {
    uint32_t places[MERGE_CHUNK_ITEMS] = {}, mine[MERGE_CHUNK_ITEMS] = {};
    __syncthreads();
    DEVICE_ROLLED
    for (uint32_t k = 0; k < MERGE_CHUNK_ITEMS; k++) {
      const uint32_t i = threadIdx.x + k * blockDim.x;
      if (i >= count) break;
      const pair_range pair = plan_pair_at(i, width, count);
      const bool is_left = i < pair.middle;
      const uint32_t first = (uint32_t)(is_left ? pair.middle : pair.begin);
      const uint32_t others = (uint32_t)(is_left ? pair.end - pair.middle : width);
      mine[k] = tags[i];
      DEVICE_ASSERT(mine[k] < count);
      places[k] = (is_left ? i : i - width) +
                  rank_among(keys, tags + first, others, keys.at(mine[k]), is_left);
    }
    __syncthreads();
    DEVICE_ROLLED
    for (uint32_t k = 0; k < MERGE_CHUNK_ITEMS; k++)
      if (threadIdx.x + k * blockDim.x < count) tags[places[k]] = mine[k];
  }
  __syncthreads();
}

/* A block sorts a chunk. Reads its keys; writes its sorted pairs. Keys of 64 or 128 bits would
 * conflict in the banks of shared memory, so elements of 32 bits move there; each thread has an
 * odd number of them, as otherwise the searches of a warp begin in the same banks. Keys are read
 * again at the end, by their numbers, so shared memory has 4 bytes a key, whatever its width. */
template <class Key, class Pair>
__global__ void __launch_bounds__(MERGE_CHUNK_BLOCK, device_blocks(MERGE_CHUNK_BLOCK, 3))
    sort_chunks(const __grid_constant__ sort_chunks_args<Key, Pair> args)
{
  device_await_before();
  uint32_t *const elements = (uint32_t *)device_shared_memory();
  const uint64_t first = (uint64_t)blockIdx.x * blockDim.x * MERGE_CHUNK_ITEMS;
  const uint32_t count = (uint32_t)plan_min(blockDim.x * MERGE_CHUNK_ITEMS, args.count - first);
  const chunk_keys<Key> keys = {args.keys + first};
  const key_range<Key> range = block_range(keys, count);
  const element_form<Key> form =
      form_elements(range.least, range.greatest, blockDim.x * MERGE_CHUNK_ITEMS);
  DEVICE_UNROLL
  for (uint32_t k = 0; k < MERGE_CHUNK_ITEMS; k++) {
    const uint32_t i = threadIdx.x + k * blockDim.x;
    elements[i] = i < count ? form.of(keys.at(i), i) : no_element;
  }
  __syncthreads();
  rank_neighbours(elements);
  DEVICE_ROLLED
  for (uint32_t threads = 1; threads < blockDim.x; threads *= 2)
    merge_stage(elements, threads);
  __syncthreads();
  if (!repair_order(elements, count, keys, form)) sort_by_keys(keys, elements, count);
  uint32_t tags[MERGE_CHUNK_ITEMS];
  DEVICE_UNROLL
  for (uint32_t k = 0; k < MERGE_CHUNK_ITEMS; k++) {
    const uint32_t i = threadIdx.x + k * blockDim.x;
    tags[k] = i < count ? form.tag(elements[i]) : 0;
  }
  Key sorted[MERGE_CHUNK_ITEMS];
  DEVICE_UNROLL
  for (uint32_t k = 0; k < MERGE_CHUNK_ITEMS; k++)
    sorted[k] = keys.at(tags[k]);
  DEVICE_UNROLL
  for (uint32_t k = 0; k < MERGE_CHUNK_ITEMS; k++) {
    const uint32_t i = threadIdx.x + k * blockDim.x;
    if (i >= count) break;
    Pair pair;
    if constexpr (Pair::packed) {
      pair.key = (uint64_t)sorted[k] << args.index_bits | (first + tags[k]);
    } else {
      pair.key = sorted[k];
      pair.index = (index_of<Pair>)(first + tags[k]);
    }
    target_put(&args.to, first + i, pair);
  }
}

} // namespace merge

#endif
