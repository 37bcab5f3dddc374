/* drop_merge.cuh - keys that ascend but for a few: these are dropped, sorted apart, and merged with
 * the kept ones.
 *
 *   find_bounds         a thread a chunk: the median of some keys around its begin
 *   filter              a warp a chunk: keeps the keys that lie within its bound and the next one's
 *                       and are not less than a kept one before
 *   sum_dropped         one block: how many are dropped; if these are too many, that was all
 *   extract_dropped     a warp a chunk: the dropped pairs, in the order of their indices
 *   partition_dropped   a thread a chunk: which of these, now sorted, belong there
 *   merge_sparse        a warp a chunk: the kept pairs, and up to 32 dropped ones, each behind as
 * many of the others as go before it merge_dense         a thread a dropped pair of a chunk that
 * has more than 32
 *
 * As bounds ascend, so do all kept keys; and as a chunk's bound stands for a key at the chunk's
 * begin, all its kept pairs lie between that bound and the next.
 */
#ifndef RECSORT_CUDA_SAMPLE_DROP_MERGE_CUH
#define RECSORT_CUDA_SAMPLE_DROP_MERGE_CUH

#include "cuda/sample/agent/order_flags.cuh"
#include "cuda/pair.cuh"
#include "cuda/sample/block/shares.cuh"
namespace sample
{

enum {
  CHUNK_ROWS = DROP_MERGE_CHUNK / WARP_SIZE,
  SUM_GROUP = 64 /* chunks whose counts are added up by one thread */
};

DEVICE_INLINE uint64_t global_thread()
{
  return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* Row `r` of a chunk: a key for each lane; behind the end the last one of all. */
template <class Pair>
DEVICE_INLINE void load_rows(const key_chunks<Pair> *in, uint64_t chunk, key_of<Pair> *rows)
{
  const uint64_t begin = chunk * DROP_MERGE_CHUNK + threadIdx.x % WARP_SIZE;
  DEVICE_UNROLL
  for (uint32_t r = 0; r < CHUNK_ROWS; r++)
    rows[r] = in->keys[plan_min(begin + r * WARP_SIZE, in->count - 1)];
}

/* ---- Filter ---- */

template <class Pair> struct find_bounds_args {
  static constexpr uint32_t max_threads = DROP_MERGE_BLOCK;
  /* reads */
  key_chunks<Pair> in;
  /* writes */
  key_of<Pair> *bounds; /* a chunk's lower one */
};

template <class Pair>
__global__ void __launch_bounds__(DROP_MERGE_BLOCK)
    find_bounds(const __grid_constant__ find_bounds_args<Pair> args)
{
  device_await_before();
  enum { AROUND = 4, ALL = 2 * AROUND + 1 };
  const uint64_t chunk = global_thread(), at = chunk * DROP_MERGE_CHUNK;
  key_of<Pair> keys[ALL], median = 0; /* for the first chunk */
  if (chunk >= args.in.chunks) return;
  DEVICE_UNROLL
  for (uint32_t i = 0; i < ALL && chunk > 0; i++)
    keys[i] = args.in.keys[plan_min(at - AROUND + i, args.in.count - 1)];
  DEVICE_UNROLL
  for (uint32_t i = 0; i < ALL && chunk > 0; i++) {
    uint32_t rank = 0;
    DEVICE_UNROLL
    for (uint32_t k = 0; k < ALL; k++)
      rank += keys[k] < keys[i] || (keys[k] == keys[i] && k < i);
    if (rank == AROUND) median = keys[i];
  }
  args.bounds[chunk] = median;
}

template <class Pair> struct filter_args {
  static constexpr uint32_t max_threads = DROP_MERGE_BLOCK;
  /* reads */
  key_chunks<Pair> in;
  const key_of<Pair> *bounds;
  /* writes */
  filter_result out; /* but for the sums of groups */
  order_flags *flags;
};

template <class Pair>
DEVICE_INLINE key_of<Pair> next_bound(const filter_args<Pair> *args, uint64_t chunk)
{
  return chunk + 1 < args->in.chunks ? args->bounds[chunk + 1] : (key_of<Pair>)~(key_of<Pair>)0;
}

/* The greatest of this lane's key and those of the lanes before. */
template <class Key> DEVICE_INLINE Key greatest_so_far(Key key)
{
  const uint32_t lane = threadIdx.x % WARP_SIZE;
  DEVICE_UNROLL
  for (uint32_t lanes = 1; lanes < WARP_SIZE; lanes *= 2) {
    const Key before = key_from_lane(key, lane < lanes ? lane : lane - lanes);
    if (before > key) key = before;
  }
  return key;
}

/* A bit for each lane whose key is kept. Mostly all are. */
template <class Key> DEVICE_INLINE uint32_t filter_row(Key key, bool within, Key low, Key *greatest)
{
  const uint32_t lane = threadIdx.x % WARP_SIZE;
  const Key before = key_from_lane(key, lane ? lane - 1 : 0);
  const Key least = *greatest; /* of a key that is kept */
  uint32_t bits = device_ballot(within && key >= (lane ? before : least));
  Key so_far = key;
  if (bits != UINT32_MAX) {
    so_far = greatest_so_far(within ? key : low);
    bits = device_ballot(within && key >= so_far && key >= least);
  }
  so_far = key_from_lane(so_far, WARP_SIZE - 1);
  if (so_far > *greatest) *greatest = so_far;
  return bits;
}

template <class Pair>
__global__ void __launch_bounds__(DROP_MERGE_BLOCK)
    filter(const __grid_constant__ filter_args<Pair> args)
{
  device_await_before();
  const uint64_t chunk = global_thread() / WARP_SIZE, begin = chunk * DROP_MERGE_CHUNK;
  const uint32_t lane = threadIdx.x % WARP_SIZE;
  if (chunk >= args.in.chunks) return;
  key_of<Pair> rows[CHUNK_ROWS];
  load_rows(&args.in, chunk, rows);
  const key_of<Pair> low = args.bounds[chunk], high = next_bound(&args, chunk);
  key_of<Pair> greatest = low; /* of the kept ones */
  uint32_t kept_count = 0, mine = 0;
  DEVICE_UNROLL
  for (uint32_t r = 0; r < CHUNK_ROWS; r++) {
    const bool within =
        begin + r * WARP_SIZE + lane < args.in.count && rows[r] >= low && rows[r] <= high;
    const uint32_t bits = filter_row(rows[r], within, low, &greatest);
    kept_count += device_popc(bits);
    if (lane == r) mine = bits;
  }
  if (lane < CHUNK_ROWS) args.out.kept[chunk * CHUNK_ROWS + lane] = mine;
  if (lane > 0) return;
  args.out.drops[chunk] =
      (uint16_t)(plan_min(args.in.count - begin, DROP_MERGE_CHUNK) - kept_count);
  if (low > high) args.flags->unmergeable = 1;
}

/* ---- How many are dropped ---- */

struct DEVICE_ALIGNED(16) some_counts {
  uint16_t of[8];
};

struct sum_dropped_args {
  static constexpr uint32_t max_threads = SAMPLE_SPLITTER_BLOCK;
  /* reads */
  const uint16_t *drops;
  uint64_t chunks;
  /* writes */
  uint64_t *groups;
  order_flags *flags;
  host_flags *to_host;
};

DEVICE_INLINE uint32_t group_sum(const sum_dropped_args *args, uint64_t group)
{
  const uint64_t first = group * SUM_GROUP, left = args->chunks - first;
  const some_counts *const all = (const some_counts *)(args->drops + first);
  uint32_t sum = 0;
  if (left < SUM_GROUP) {
    for (uint32_t i = 0; i < left; i++)
      sum += args->drops[first + i];
    return sum;
  }
  DEVICE_UNROLL
  for (uint32_t i = 0; i < SUM_GROUP / 8; i++) {
    const some_counts some = all[i];
    DEVICE_UNROLL
    for (uint32_t k = 0; k < 8; k++)
      sum += some.of[k];
  }
  return sum;
}

/* One block. */
static __global__ void __launch_bounds__(SAMPLE_SPLITTER_BLOCK)
    sum_dropped(const __grid_constant__ sum_dropped_args args)
{
  device_await_before();
  const uint64_t groups = plan_blocks(args.chunks, SUM_GROUP);
  const uint64_t each = plan_blocks(groups, blockDim.x);
  const uint64_t first = plan_min(threadIdx.x * each, groups), end = plan_min(first + each, groups);
  uint64_t sum = 0;
  for (uint64_t group = first; group < end; group++) {
    const uint32_t count = group_sum(&args, group);
    args.groups[group] = count;
    sum += count;
  }
  uint64_t before = block_before64(sum);
  if (threadIdx.x + 1 == blockDim.x) {
    args.flags->dropped = before + sum;
    notify_host(args.to_host, args.flags);
  }
  for (uint64_t group = first; group < end; group++) {
    const uint64_t count = args.groups[group];
    args.groups[group] = before;
    before += count;
  }
}

/* How many are dropped of the chunks before: for a warp. */
DEVICE_INLINE uint64_t dropped_before(const filter_result *in, uint64_t chunk)
{
  const uint64_t group = chunk / SUM_GROUP;
  uint32_t sum = 0;
  DEVICE_UNROLL
  for (uint32_t i = 0; i < SUM_GROUP; i += WARP_SIZE) {
    const uint64_t other = group * SUM_GROUP + i + threadIdx.x % WARP_SIZE;
    sum += other < chunk ? in->drops[other] : 0u;
  }
  return in->groups[group] + device_warp_sum(sum);
}

/* ---- Extract ---- */

/* Bits of the lanes before this one. */
DEVICE_INLINE uint32_t lanes_before()
{
  return (1u << threadIdx.x % WARP_SIZE) - 1;
}

template <class Pair> struct extract_dropped_args {
  static constexpr uint32_t max_threads = DROP_MERGE_BLOCK;
  /* reads */
  key_chunks<Pair> in;
  filter_result filtered;
  /* writes */
  pair_array<Pair> to; /* in the order of their indices */
};

template <class Pair>
__global__ void __launch_bounds__(DROP_MERGE_BLOCK)
    extract_dropped(const __grid_constant__ extract_dropped_args<Pair> args)
{
  device_await_before();
  const uint64_t chunk = global_thread() / WARP_SIZE;
  const uint32_t lane = threadIdx.x % WARP_SIZE;
  if (chunk >= args.in.chunks || args.filtered.drops[chunk] == 0) return;
  uint64_t to = dropped_before(&args.filtered, chunk);
  const uint32_t mine = args.filtered.kept[chunk * CHUNK_ROWS + lane % CHUNK_ROWS];
  DEVICE_ROLLED
  for (uint32_t r = 0; r < CHUNK_ROWS; r++) {
    const uint64_t i = chunk * DROP_MERGE_CHUNK + r * WARP_SIZE + lane;
    const uint32_t kept = __shfl_sync(UINT32_MAX, mine, r);
    const bool goes = i < args.in.count && !(kept >> lane & 1);
    const uint32_t bits = device_ballot(goes);
    const uint64_t at = to + device_popc(bits & lanes_before());
    if (goes) {
      args.to.keys[at] = args.in.keys[i];
      args.to.indices[at] = (index_of<Pair>)i;
    }
    to += device_popc(bits);
  }
}

/* ---- Merge ---- */

/* The first of sorted dropped pairs [first, end) that does not go before a pair. */
template <class Pair>
DEVICE_INLINE uint64_t first_dropped(const dropped_pairs<Pair> *dropped, uint64_t first,
                                     uint64_t end, key_of<Pair> key, uint64_t index)
{
  while (first < end) {
    const uint64_t middle = (first + end) / 2;
    const key_of<Pair> other = dropped->keys[middle];
    if (other < key || (other == key && dropped->indices[dropped->numbers[middle]] < index))
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

template <class Pair> struct partition_dropped_args {
  static constexpr uint32_t max_threads = DROP_MERGE_BLOCK;
  /* reads */
  const key_of<Pair> *bounds;
  uint64_t chunks;
  dropped_pairs<Pair> dropped;
  /* writes */
  uint64_t *firsts; /* the first dropped pair that is not below a chunk; and how many there are */
};

template <class Pair>
__global__ void __launch_bounds__(DROP_MERGE_BLOCK)
    partition_dropped(const __grid_constant__ partition_dropped_args<Pair> args)
{
  device_await_before();
  const uint64_t chunk = global_thread();
  if (chunk > args.chunks) return;
  args.firsts[chunk] = chunk == 0 ? 0
                       : chunk == args.chunks
                           ? args.dropped.count
                           : first_dropped(&args.dropped, 0, args.dropped.count, args.bounds[chunk],
                                           chunk * DROP_MERGE_CHUNK);
}

template <class Pair> struct merge_args {
  static constexpr uint32_t max_threads = DROP_MERGE_BLOCK;
  /* reads */
  key_chunks<Pair> in;
  filter_result filtered;
  dropped_pairs<Pair> dropped;
  const uint64_t *firsts;
  /* writes */
  pair_array<Pair> to;
  order_flags *flags; /* whether a chunk has many dropped pairs: merge_dense reads it */
};

/* The kept pairs of a chunk with so many dropped ones that only their places can be looked up. */
template <class Pair>
DEVICE_INLINE void merge_kept(const merge_args<Pair> *args, uint64_t chunk, uint64_t at)
{
  const uint32_t lane = threadIdx.x % WARP_SIZE;
  DEVICE_ROLLED
  for (uint32_t r = 0; r < CHUNK_ROWS; r++) {
    const uint64_t i = chunk * DROP_MERGE_CHUNK + r * WARP_SIZE + lane;
    const uint32_t bits = args->filtered.kept[chunk * CHUNK_ROWS + r];
    if (bits >> lane & 1) {
      const key_of<Pair> key = args->in.keys[i];
      const uint64_t to =
          at + device_popc(bits & lanes_before()) +
          first_dropped(&args->dropped, args->firsts[chunk], args->firsts[chunk + 1], key, i);
      args->to.keys[to] = key;
      args->to.indices[to] = (index_of<Pair>)i;
    }
    at += device_popc(bits);
  }
}

/* The dropped pairs of a chunk are so few that each lane has one. */
template <class Pair>
__global__ void __launch_bounds__(DROP_MERGE_BLOCK)
    merge_sparse(const __grid_constant__ merge_args<Pair> args)
{
  device_await_before();
  const uint64_t chunk = global_thread() / WARP_SIZE, begin = chunk * DROP_MERGE_CHUNK;
  const uint32_t lane = threadIdx.x % WARP_SIZE;
  if (chunk >= args.in.chunks) return;
  key_of<Pair> rows[CHUNK_ROWS], dropped_key = 0;
  uint32_t ranks[CHUNK_ROWS] = {}, dropped_rank = 0;
  index_of<Pair> dropped = 0;
  load_rows(&args.in, chunk, rows);
  const uint32_t mine = args.filtered.kept[chunk * CHUNK_ROWS + lane % CHUNK_ROWS];
  const uint64_t first = args.firsts[chunk], dropped_count = args.firsts[chunk + 1] - first;
  uint64_t at = begin - dropped_before(&args.filtered, chunk); /* among the kept ones */
  if (dropped_count > WARP_SIZE) {
    if (lane == 0) args.flags->dense = 1;
    merge_kept(&args, chunk, at);
    return;
  }
  if (lane < dropped_count) {
    dropped_key = args.dropped.keys[first + lane];
    dropped = args.dropped.indices[args.dropped.numbers[first + lane]];
  }
  DEVICE_ROLLED
  for (uint32_t g = 0; g < dropped_count; g++) {
    const key_of<Pair> key = key_from_lane(dropped_key, g);
    const uint64_t index = __shfl_sync(UINT32_MAX, (uint64_t)dropped, g);
    uint32_t before = 0;
    DEVICE_UNROLL
    for (uint32_t r = 0; r < CHUNK_ROWS; r++) {
      const uint64_t i = begin + r * WARP_SIZE + lane;
      const bool kept_after = key < rows[r] || (key == rows[r] && index < i);
      ranks[r] += kept_after;
      before += device_popc(device_ballot(!kept_after) & __shfl_sync(UINT32_MAX, mine, r));
    }
    if (lane == g) dropped_rank = before;
  }
  if (lane < dropped_count) {
    args.to.keys[at + first + lane + dropped_rank] = dropped_key;
    args.to.indices[at + first + lane + dropped_rank] = dropped;
  }
  DEVICE_UNROLL
  for (uint32_t r = 0; r < CHUNK_ROWS; r++) {
    const uint32_t bits = __shfl_sync(UINT32_MAX, mine, r);
    const uint64_t to = at + first + device_popc(bits & lanes_before()) + ranks[r];
    if (bits >> lane & 1) {
      args.to.keys[to] = rows[r];
      args.to.indices[to] = (index_of<Pair>)(begin + r * WARP_SIZE + lane);
    }
    at += device_popc(bits);
  }
}

/* How many of a chunk's kept keys go before a pair. */
template <class Pair>
DEVICE_INLINE uint32_t rank_in_chunk(const merge_args<Pair> *args, uint64_t chunk, key_of<Pair> key,
                                     uint64_t index)
{
  uint32_t rank = 0;
  for (uint32_t r = 0; r < CHUNK_ROWS; r++)
    for (uint32_t bits = args->filtered.kept[chunk * CHUNK_ROWS + r]; bits; bits &= bits - 1) {
      const uint64_t i = chunk * DROP_MERGE_CHUNK + r * WARP_SIZE + device_first_lane(bits);
      if (args->in.keys[i] > key || (args->in.keys[i] == key && i > index)) return rank;
      rank++;
    }
  return rank;
}

template <class Pair>
__global__ void __launch_bounds__(DROP_MERGE_BLOCK)
    merge_dense(const __grid_constant__ merge_args<Pair> args)
{
  device_await_before();
  const uint64_t i = global_thread();
  uint64_t chunk = 0, high = args.in.chunks - 1; /* the last one that is not behind it */
  if (i >= args.dropped.count || !args.flags->dense) return;
  while (chunk < high) {
    const uint64_t middle = (chunk + high + 1) / 2;
    if (args.firsts[middle] <= i)
      chunk = middle;
    else
      high = middle - 1;
  }
  if (args.firsts[chunk + 1] - args.firsts[chunk] <= WARP_SIZE) return;
  const key_of<Pair> key = args.dropped.keys[i];
  const index_of<Pair> index = args.dropped.indices[args.dropped.numbers[i]];
  uint64_t before = args.filtered.groups[chunk / SUM_GROUP];
  for (uint64_t c = chunk / SUM_GROUP * SUM_GROUP; c < chunk; c++)
    before += args.filtered.drops[c];
  const uint64_t to =
      i + chunk * DROP_MERGE_CHUNK - before + rank_in_chunk(&args, chunk, key, index);
  args.to.keys[to] = key;
  args.to.indices[to] = index;
}

} // namespace sample

#endif
