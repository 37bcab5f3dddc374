/* sort_parts.cuh - the last step: a block gathers a part in shared memory, finds its order and
 * writes keys and values to their places. */
#ifndef RECSORT_CUDA_CARRY_SORT_PARTS_CUH
#define RECSORT_CUDA_CARRY_SORT_PARTS_CUH

#include "cuda/sort/carry/block_sort.cuh"
#include "cuda/sort/carry/sections.cuh"

namespace carry
{

template <class Key, class Value> struct sort_parts_args {
  static constexpr uint32_t max_threads = CARRY_SORT_BLOCK;
  /* reads */
  key_order<Key> order;
  element_array<Key, Value> from;
  split_tiles tiles;
  const section *sections; /* NULL: one, all elements */
  part_list<Key> list;
  uint32_t most;
  /* writes */
  element_array<Key, Value> to;
};

template <class Key, class Value> struct sort_parts_storage {
  element_array<Key, Value> elements;
  sort_storage by;
  run_list runs;           /* overlays the words and bins */
  code_sample<Key> sample; /* only of sort_hard */
};

template <class Key, class Value>
DEVICE_INLINE sort_parts_storage<Key, Value> sort_parts_storage_at(void *memory, uint32_t most)
{
  sort_parts_storage<Key, Value> all;
  void *at;
  all.elements = elements_at<Key, Value>(memory, most, &at);
  all.by = {(uint32_t *)at, (uint32_t *)at + most + GROUP};
  uint32_t *const heads = all.by.bins + CARRY_BINS / 2 * blockDim.x;
  all.runs = run_list_at((uint32_t *)at, heads, most);
  all.sample = code_sample_at<Key>(heads + most / WARP_SIZE * 2);
  return all;
}

template <class Key, class Value>
DEVICE_INLINE section_tiles tiles_of_part(const sort_parts_args<Key, Value> &args, uint32_t s)
{
  return tiles_of(args.tiles,
                  args.sections ? args.sections[s] : section{0, args.order.count(), 0, 0});
}

/* Gathers a part. By all threads of the block; ends with a barrier. */
template <class Key, class Value>
DEVICE_INLINE void gather_part(const sort_parts_args<Key, Value> &args,
                               sort_parts_storage<Key, Value> by, const section_tiles &from,
                               const bucket_part &part)
{
  list_runs(from, part, by.runs);
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CARRY_SORT_ITEMS; t++) {
    const uint32_t i = t * blockDim.x + threadIdx.x;
    if (i < part.count) copy_element_in(args.from, run_element(by.runs, i), by.elements, i);
  }
  device_await_copies();
  __syncthreads();
}

/* Writes the elements in shared memory in their order, from place `begin` on. */
template <class Key, class Value>
DEVICE_INLINE void write_elements(const sort_parts_args<Key, Value> &args,
                                  sort_parts_storage<Key, Value> by, uint32_t count,
                                  sort_result sorted, uint32_t begin)
{
  const element_array<Key, Value> to = elements_from(args.to, begin);
  DEVICE_UNROLL
  for (uint32_t t = 0; t < CARRY_SORT_ITEMS; t++) {
    const uint32_t j = t * blockDim.x + threadIdx.x;
    if (j < count) copy_element(by.elements, sorted == ALIKE ? j : element_at(by.by, j), to, j);
  }
}

/* The range of the codes in shared memory, which are in `range`. */
template <class Key, class Value>
DEVICE_INLINE code_range<Key> narrow_range(const sort_parts_args<Key, Value> &args,
                                           sort_parts_storage<Key, Value> by, uint32_t count,
                                           code_range<Key> range)
{
  if (range.least > 0 && range.greatest < (Key) ~(Key)0) return range; /* splitters have told it */
  return range_of_codes<Key>(count, key_codes<Key>{&args.order, by.elements.keys});
}

/* Reads parts from the runs of their buckets. Writes them sorted, each to its place; crowded ones
 * are left to sort_hard. Usually a block has one part: there are as many blocks as parts are
 * expected. Shared memory for elements, words and bins leaves room for two blocks of a
 * multiprocessor, so that one loads while the other sorts. */
template <class Key, class Value>
__global__ void __launch_bounds__(CARRY_SORT_BLOCK, device_blocks(CARRY_SORT_BLOCK, 2))
    sort_parts(const __grid_constant__ sort_parts_args<Key, Value> args)
{
  DEVICE_SHARED(char, memory);
  const auto by = sort_parts_storage_at<Key, Value>(memory, args.most);
  device_await_before();
  const uint32_t parts = *args.list.count;
  for (uint32_t p = blockIdx.x; p < parts; p += gridDim.x) {
    const sorted_part<Key> &part = args.list.parts[p];
    const uint32_t count = part.of.count;
    gather_part(args, by, tiles_of_part(args, part.section), part.of);
    const code_range<Key> range = narrow_range(args, by, count, {part.least, part.greatest});
    const sort_result sorted =
        sort_by_bins<Key>(by.by, count, range, key_codes<Key>{&args.order, by.elements.keys});
    if (sorted != CROWDED)
      write_elements(args, by, count, sorted, part.begin);
    else if (threadIdx.x == 0)
      args.list.hard[device_add32(args.list.hard_count, 1)] = part;
    __syncthreads();
  }
}

/* ---- Parts that are hard to sort: crowded or oversized ---- */

/* Calls work(key, i) for all elements of a bucket, block by block; i is its number. */
template <class Key, class Value, class Work>
DEVICE_INLINE void for_each_of_bucket(const sort_parts_args<Key, Value> &args,
                                      sort_parts_storage<Key, Value> by, const section_tiles &from,
                                      const bucket_part &all, const Work &work)
{
  bucket_part part = all;
  for (uint32_t done = 0; done < all.count; done += part.count) {
    part.count = (uint32_t)plan_min(all.count - done, args.most);
    list_runs(from, part, by.runs);
    for (uint32_t i = threadIdx.x; i - threadIdx.x < part.count; i += blockDim.x) {
      const bool has = i < part.count;
      const uint32_t at = has ? run_element(by.runs, i) : 0;
      work(has, has ? args.order.code(args.from.keys[at]) : 0, at);
    }
    __syncthreads();
    go_on(from, &part);
  }
}

/* The elements with codes in [low, high]. By all threads of the block. */
template <class Key, class Value>
DEVICE_INLINE uint32_t count_between(const sort_parts_args<Key, Value> &args,
                                     sort_parts_storage<Key, Value> by, const section_tiles &from,
                                     const bucket_part &all, Key low, Key high)
{
  uint32_t count = 0;
  for_each_of_bucket(args, by, from, all, [&](bool has, Key code, uint32_t) {
    count += has && code >= low && code <= high;
  });
  count = sample::block_sum(count);
  __syncthreads();
  return count;
}

/* Sorts the elements in shared memory by a sample, and writes them. */
template <class Key, class Value>
DEVICE_INLINE void sort_roughly(const sort_parts_args<Key, Value> &args,
                                sort_parts_storage<Key, Value> by, uint32_t count,
                                code_range<Key> range, uint32_t begin)
{
  const sort_result sorted =
      sort_by_sample<Key>(by.by, count, narrow_range(args, by, count, range), by.sample,
                          key_codes<Key>{&args.order, by.elements.keys});
  write_elements(args, by, count, sorted, begin);
}

/* Sorts a bucket that does not fit in shared memory, range by range of its codes: the greatest
 * range whose elements fit, found by bisection; or all elements with one code, which need no sort.
 * Slow, but a sample has to be far off before there is such a bucket. */
template <class Key, class Value>
DEVICE_INLINE void sort_oversized(const sort_parts_args<Key, Value> &args,
                                  sort_parts_storage<Key, Value> by, const sorted_part<Key> &bucket)
{
  const section_tiles from = tiles_of_part(args, bucket.section);
  const bucket_part &all = bucket.of;
  Key low = 0;
  for (uint32_t done = 0; done < all.count;) {
    Key high = low;
    uint32_t count = count_between(args, by, from, all, low, low);
    for (uint32_t bit = 8 * sizeof(Key); count <= args.most && bit-- > 0;) {
      const Key more = (Key)((high - low) + ((Key)1 << bit));
      if (more < (Key)(high - low) || more > (Key)((Key) ~(Key)0 - low)) continue;
      const uint32_t found = count_between(args, by, from, all, low, (Key)(low + more));
      if (found > args.most) continue;
      high = (Key)(low + more);
      count = found;
    }
    uint32_t taken = 0;
    for_each_of_bucket(args, by, from, all, [&](bool has, Key code, uint32_t at) {
      uint32_t some;
      const bool wanted = has && code >= low && code <= high;
      const uint32_t place = taken + sample::block_before_all(wanted, &some);
      if (wanted && count <= args.most) copy_element(args.from, at, by.elements, place);
      if (wanted && count > args.most)
        copy_element(args.from, at, elements_from(args.to, bucket.begin + done), place);
      taken += some;
      __syncthreads();
    });
    if (count <= args.most) sort_roughly(args, by, count, {low, high}, bucket.begin + done);
    __syncthreads();
    done += count;
    low = (Key)(high + 1);
  }
}

/* Reads parts that sort_parts has left, and buckets that are too large for it; writes them sorted,
 * a block for each. Usually there is none. */
template <class Key, class Value>
__global__ void __launch_bounds__(CARRY_SORT_BLOCK, device_blocks(CARRY_SORT_BLOCK, 2))
    sort_hard(const __grid_constant__ sort_parts_args<Key, Value> args)
{
  DEVICE_SHARED(char, memory);
  const auto by = sort_parts_storage_at<Key, Value>(memory, args.most);
  device_await_before();
  for (uint32_t i = blockIdx.x; i < *args.list.hard_count; i += gridDim.x) {
    const sorted_part<Key> part = args.list.hard[i];
    if (part.of.count > args.most) {
      sort_oversized(args, by, part);
    } else {
      gather_part(args, by, tiles_of_part(args, part.section), part.of);
      sort_roughly(args, by, part.of.count, {part.least, part.greatest}, part.begin);
    }
    __syncthreads();
  }
}

} // namespace carry

#endif
