/* rank.cu - merge sorts by ranking: each thread finds the rank of one element: its offset in its
 * own chunk and a search in the sibling chunk (Montalto, "GPU merge sort", 3.1).
 *
 *   rank       every pass in global memory
 *   rank-sm8   the passes within a block in shared memory: the first 8 with blocks of 256
 *   rank-sm9   the pass after these with the sibling chunk staged in shared memory
 *   rank-sm    every pass in which the sibling chunk fits there
 *
 * Unlike the published code: it takes any count, without padding; threads without an element still
 * reach the barriers; it sorts pairs instead of structs. Extra memory: none.
 */
#include "pass.cuh"

/* parallelMergeSortDesc: moves each element to its place in the merge of its pair of chunks, all
 * in global memory. A thread reads its pair and, by bisection, keys of the sibling chunk; it
 * writes the pair to its place. The loads of a search wait for each other. */
template <class Pair>
__global__ void __launch_bounds__(merge_pass<Pair>::max_threads)
    rank_pass(const __grid_constant__ merge_pass<Pair> pass)
{
  device_await_before();
  const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pass.from.count) return; /* there is no barrier */
  const uint64_t place = place_of(i, pass.width, pass.from);
  pass.to.keys[place] = pass.from.keys[i];
  pass.to.indices[place] = index_at(pass.from, i);
}

/* parallelMergeSortDescSM8: all passes on chunks that fit in a block, in shared memory. Reads the
 * keys of a tile; writes its sorted pairs. A tile has a key for each thread of the block, and a
 * pass two barriers. */
template <class Pair>
__global__ void __launch_bounds__(merge_pass<Pair>::max_threads)
    rank_tile(const __grid_constant__ merge_pass<Pair> pass)
{
  device_await_before();
  key_of<Pair> *const keys = (key_of<Pair> *)device_shared_memory();
  uint32_t *const origins = (uint32_t *)(keys + blockDim.x);
  const uint32_t t = threadIdx.x;
  const uint64_t first = (uint64_t)blockIdx.x * blockDim.x;
  const uint32_t count = (uint32_t)plan_min(blockDim.x, pass.from.count - first);
  const tile_run<Pair> all = {keys, NULL, 0, count};
  if (t < count) keys[t] = pass.from.keys[first + t];
  if (t < count) origins[t] = t;
  __syncthreads();
  for (uint32_t width = 1; width < count; width *= 2) {
    const key_of<Pair> key = t < count ? keys[t] : 0;
    const uint32_t origin = t < count ? origins[t] : 0;
    const uint32_t place = t < count ? place_of(t, width, all) : 0;
    __syncthreads();
    if (t < count) keys[place] = key;
    if (t < count) origins[place] = origin;
    __syncthreads();
  }
  if (t >= count) return;
  pass.to.keys[first + t] = keys[t];
  pass.to.indices[first + t] = (index_of<Pair>)(first + origins[t]);
}

/* parallelMergeSortDescSM9 and SM: a block for each chunk, which has at least as many elements as
 * the block has threads. The block reads the sibling chunk to shared memory, which has to hold it,
 * and walks its own; it writes each pair of its own to its place. Searches then load from shared
 * memory only. */
template <class Pair>
__global__ void __launch_bounds__(merge_pass<Pair>::max_threads)
    rank_staged(const __grid_constant__ merge_pass<Pair> pass)
{
  device_await_before();
  key_of<Pair> *const staged = (key_of<Pair> *)device_shared_memory();
  const uint64_t begin = blockIdx.x * pass.width;
  const pair_range pair = plan_pair_at(begin, pass.width, pass.from.count);
  const bool is_left = begin == pair.begin;
  const uint64_t end = is_left ? pair.middle : pair.end;
  const uint64_t sibling_begin = is_left ? pair.middle : pair.begin;
  const uint64_t sibling_end = is_left ? pair.end : pair.middle;
  const tile_run<Pair> sibling = {staged, NULL, 0, (uint32_t)(sibling_end - sibling_begin)};
  for (uint32_t i = threadIdx.x; i < sibling.count; i += blockDim.x)
    staged[i] = pass.from.keys[sibling_begin + i];
  __syncthreads();
  for (uint64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const key_of<Pair> key = pass.from.keys[i];
    const uint32_t rank = is_left ? rank_in_right(key, sibling) : rank_in_left(key, sibling);
    const uint64_t place = (is_left ? i : i - sibling.count) + rank;
    pass.to.keys[place] = key;
    pass.to.indices[place] = index_at(pass.from, i);
  }
}

/* The passes from chunks of `width` elements up. Chunks of at most `staged` elements are staged. */
template <class Pair>
static device_status rank_passes(const device_job *job, const device_buffers *buffers,
                                 unsigned source, uint64_t width, uint64_t staged, unsigned *result)
{
  const uint32_t block = plan_block(job);
  const uint64_t blocks = plan_blocks(job->count, block);
  for (; width < job->count || width == 1; width *= 2) {
    const merge_pass<Pair> pass = make_pass<Pair>(job, buffers, source, width);
    const device_status status =
        width <= staged ? device_launch(rank_staged<Pair>, plan_blocks(job->count, width), block,
                                        width * sizeof(key_of<Pair>), job->stream, pass)
                        : device_launch(rank_pass<Pair>, blocks, block, 0, job->stream, pass);
    if (status) return status;
    source = 1 - source;
  }
  *result = source;
  return 0;
}

/* Sorts tiles in shared memory, then runs the passes. */
template <class Pair>
static device_status rank_from_tiles(const device_job *job, const device_buffers *buffers,
                                     uint64_t staged, unsigned *result)
{
  const uint32_t block = plan_block(job);
  const merge_pass<Pair> pass = make_pass<Pair>(job, buffers, 0, 1);
  const device_status status =
      device_launch(rank_tile<Pair>, plan_blocks(job->count, block), block,
                    block * (sizeof(key_of<Pair>) + sizeof(uint32_t)), job->stream, pass);
  return status ? status : rank_passes<Pair>(job, buffers, 1, block, staged, result);
}

device_status rank_sort(const device_job *job, const device_buffers *buffers, unsigned *result)
{
  return sort_pairs(job, buffers, result, [=](auto pair) {
    return rank_passes<decltype(pair)>(job, buffers, 0, 1, 0, result);
  });
}

device_status rank_sm8_sort(const device_job *job, const device_buffers *buffers, unsigned *result)
{
  return sort_pairs(job, buffers, result, [=](auto pair) {
    return rank_from_tiles<decltype(pair)>(job, buffers, 0, result);
  });
}

device_status rank_sm9_sort(const device_job *job, const device_buffers *buffers, unsigned *result)
{
  return sort_pairs(job, buffers, result, [=](auto pair) {
    return rank_from_tiles<decltype(pair)>(job, buffers, plan_block(job), result);
  });
}

device_status rank_sm_sort(const device_job *job, const device_buffers *buffers, unsigned *result)
{
  return sort_pairs(job, buffers, result, [=](auto pair) {
    const uint64_t staged = plan_staged(job, sizeof(key_of<decltype(pair)>));
    return rank_from_tiles<decltype(pair)>(job, buffers, staged, result);
  });
}
