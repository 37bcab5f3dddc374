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

template <class Pair> struct drop_merge_args {
  static constexpr uint32_t max_threads = SAMPLE_SPLITTER_BLOCK;

  const key_of<Pair> *keys;
  uint64_t count, chunks;
  uint32_t *kept;       /* a bit a key */
  key_of<Pair> *bounds; /* a chunk's lower one */
  uint16_t *drops;      /* how many of a chunk's keys */
  uint64_t *groups;     /* how many of those of the groups before */
  uint64_t *firsts; /* the first of the dropped ones, sorted, that is not below a chunk; and all */
  order_flags *flags;
  host_flags *notice;
  key_of<Pair> *dropped_keys; /* in the order of their indices */
  index_of<Pair> *dropped;    /* and their indices */
  const key_of<Pair> *sorted_keys;
  const index_of<Pair> *sorted; /* which of these they are */
  uint64_t dropped_count;
  key_of<Pair> *to_keys;
  index_of<Pair> *to;
};

DEVICE_INLINE uint64_t global_thread()
{
  return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* Row `r` of a chunk: a key for each lane; behind the end the last one of all. */
template <class Pair>
DEVICE_INLINE void load_rows(const drop_merge_args<Pair> *args, uint64_t chunk, key_of<Pair> *rows)
{
  const uint64_t begin = chunk * DROP_MERGE_CHUNK + threadIdx.x % WARP_SIZE;
  DEVICE_UNROLL
  for (uint32_t r = 0; r < CHUNK_ROWS; r++)
    rows[r] = args->keys[plan_min(begin + r * WARP_SIZE, args->count - 1)];
}

/* ---- Filter ---- */

template <class Pair>
__global__ void __launch_bounds__(DROP_MERGE_BLOCK)
    find_bounds(const __grid_constant__ drop_merge_args<Pair> args)
{
  device_await_before();
  enum { AROUND = 4, ALL = 2 * AROUND + 1 };
  const uint64_t chunk = global_thread(), at = chunk * DROP_MERGE_CHUNK;
  key_of<Pair> keys[ALL], median = 0; /* for the first chunk */
  if (chunk >= args.chunks) return;
  DEVICE_UNROLL
  for (uint32_t i = 0; i < ALL && chunk > 0; i++)
    keys[i] = args.keys[plan_min(at - AROUND + i, args.count - 1)];
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

template <class Pair>
DEVICE_INLINE key_of<Pair> next_bound(const drop_merge_args<Pair> *args, uint64_t chunk)
{
  return chunk + 1 < args->chunks ? args->bounds[chunk + 1] : (key_of<Pair>)~(key_of<Pair>)0;
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
    filter(const __grid_constant__ drop_merge_args<Pair> args)
{
  device_await_before();
  const uint64_t chunk = global_thread() / WARP_SIZE, begin = chunk * DROP_MERGE_CHUNK;
  const uint32_t lane = threadIdx.x % WARP_SIZE;
  if (chunk >= args.chunks) return;
  key_of<Pair> rows[CHUNK_ROWS];
  load_rows(&args, chunk, rows);
  const key_of<Pair> low = args.bounds[chunk], high = next_bound(&args, chunk);
  key_of<Pair> greatest = low; /* of the kept ones */
  uint32_t kept_count = 0, mine = 0;
  DEVICE_UNROLL
  for (uint32_t r = 0; r < CHUNK_ROWS; r++) {
    const bool within =
        begin + r * WARP_SIZE + lane < args.count && rows[r] >= low && rows[r] <= high;
    const uint32_t bits = filter_row(rows[r], within, low, &greatest);
    kept_count += device_popc(bits);
    if (lane == r) mine = bits;
  }
  if (lane < CHUNK_ROWS) args.kept[chunk * CHUNK_ROWS + lane] = mine;
  if (lane > 0) return;
  args.drops[chunk] = (uint16_t)(plan_min(args.count - begin, DROP_MERGE_CHUNK) - kept_count);
  if (low > high) args.flags->unmergeable = 1;
}

/* ---- How many are dropped ---- */

struct DEVICE_ALIGNED(16) some_counts {
  uint16_t of[8];
};

template <class Pair>
DEVICE_INLINE uint32_t group_sum(const drop_merge_args<Pair> *args, uint64_t group)
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
template <class Pair>
__global__ void __launch_bounds__(SAMPLE_SPLITTER_BLOCK)
    sum_dropped(const __grid_constant__ drop_merge_args<Pair> args)
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
    notify_host(args.notice, args.flags);
  }
  for (uint64_t group = first; group < end; group++) {
    const uint64_t count = args.groups[group];
    args.groups[group] = before;
    before += count;
  }
}

/* How many are dropped of the chunks before: for a warp. */
template <class Pair>
DEVICE_INLINE uint64_t dropped_before(const drop_merge_args<Pair> *args, uint64_t chunk)
{
  const uint64_t group = chunk / SUM_GROUP;
  uint32_t sum = 0;
  DEVICE_UNROLL
  for (uint32_t i = 0; i < SUM_GROUP; i += WARP_SIZE) {
    const uint64_t other = group * SUM_GROUP + i + threadIdx.x % WARP_SIZE;
    sum += other < chunk ? args->drops[other] : 0u;
  }
  return args->groups[group] + device_warp_sum(sum);
}

/* ---- Extract ---- */

/* Bits of the lanes before this one. */
DEVICE_INLINE uint32_t lanes_before()
{
  return (1u << threadIdx.x % WARP_SIZE) - 1;
}

template <class Pair>
__global__ void __launch_bounds__(DROP_MERGE_BLOCK)
    extract_dropped(const __grid_constant__ drop_merge_args<Pair> args)
{
  device_await_before();
  const uint64_t chunk = global_thread() / WARP_SIZE;
  const uint32_t lane = threadIdx.x % WARP_SIZE;
  if (chunk >= args.chunks || args.drops[chunk] == 0) return;
  uint64_t to = dropped_before(&args, chunk);
  const uint32_t mine = args.kept[chunk * CHUNK_ROWS + lane % CHUNK_ROWS];
  DEVICE_ROLLED
  for (uint32_t r = 0; r < CHUNK_ROWS; r++) {
    const uint64_t i = chunk * DROP_MERGE_CHUNK + r * WARP_SIZE + lane;
    const uint32_t kept = __shfl_sync(UINT32_MAX, mine, r);
    const bool goes = i < args.count && !(kept >> lane & 1);
    const uint32_t bits = device_ballot(goes);
    const uint64_t at = to + device_popc(bits & lanes_before());
    if (goes) {
      args.dropped_keys[at] = args.keys[i];
      args.dropped[at] = (index_of<Pair>)i;
    }
    to += device_popc(bits);
  }
}

/* ---- Merge ---- */

/* The first of sorted dropped pairs [first, end) that does not go before a pair. */
template <class Pair>
DEVICE_INLINE uint64_t first_dropped(const drop_merge_args<Pair> *args, uint64_t first,
                                     uint64_t end, key_of<Pair> key, uint64_t index)
{
  while (first < end) {
    const uint64_t middle = (first + end) / 2;
    const key_of<Pair> other = args->sorted_keys[middle];
    if (other < key || (other == key && args->dropped[args->sorted[middle]] < index))
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

template <class Pair>
__global__ void __launch_bounds__(DROP_MERGE_BLOCK)
    partition_dropped(const __grid_constant__ drop_merge_args<Pair> args)
{
  device_await_before();
  const uint64_t chunk = global_thread();
  if (chunk > args.chunks) return;
  args.firsts[chunk] = chunk == 0 ? 0
                       : chunk == args.chunks
                           ? args.dropped_count
                           : first_dropped(&args, 0, args.dropped_count, args.bounds[chunk],
                                           chunk * DROP_MERGE_CHUNK);
}

/* The kept pairs of a chunk with so many dropped ones that only their places can be looked up. */
template <class Pair>
DEVICE_INLINE void merge_kept(const drop_merge_args<Pair> *args, uint64_t chunk, uint64_t at)
{
  const uint32_t lane = threadIdx.x % WARP_SIZE;
  DEVICE_ROLLED
  for (uint32_t r = 0; r < CHUNK_ROWS; r++) {
    const uint64_t i = chunk * DROP_MERGE_CHUNK + r * WARP_SIZE + lane;
    const uint32_t bits = args->kept[chunk * CHUNK_ROWS + r];
    if (bits >> lane & 1) {
      const key_of<Pair> key = args->keys[i];
      const uint64_t to = at + device_popc(bits & lanes_before()) +
                          first_dropped(args, args->firsts[chunk], args->firsts[chunk + 1], key, i);
      args->to_keys[to] = key;
      args->to[to] = (index_of<Pair>)i;
    }
    at += device_popc(bits);
  }
}

/* The dropped pairs of a chunk are so few that each lane has one. */
template <class Pair>
__global__ void __launch_bounds__(DROP_MERGE_BLOCK)
    merge_sparse(const __grid_constant__ drop_merge_args<Pair> args)
{
  device_await_before();
  const uint64_t chunk = global_thread() / WARP_SIZE, begin = chunk * DROP_MERGE_CHUNK;
  const uint32_t lane = threadIdx.x % WARP_SIZE;
  if (chunk >= args.chunks) return;
  key_of<Pair> rows[CHUNK_ROWS], dropped_key = 0;
  uint32_t ranks[CHUNK_ROWS] = {}, dropped_rank = 0;
  index_of<Pair> dropped = 0;
  load_rows(&args, chunk, rows);
  const uint32_t mine = args.kept[chunk * CHUNK_ROWS + lane % CHUNK_ROWS];
  const uint64_t first = args.firsts[chunk], dropped_count = args.firsts[chunk + 1] - first;
  uint64_t at = begin - dropped_before(&args, chunk); /* among the kept ones */
  if (dropped_count > WARP_SIZE) {
    if (lane == 0) args.flags->dense = 1;
    merge_kept(&args, chunk, at);
    return;
  }
  if (lane < dropped_count) {
    dropped_key = args.sorted_keys[first + lane];
    dropped = args.dropped[args.sorted[first + lane]];
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
    args.to_keys[at + first + lane + dropped_rank] = dropped_key;
    args.to[at + first + lane + dropped_rank] = dropped;
  }
  DEVICE_UNROLL
  for (uint32_t r = 0; r < CHUNK_ROWS; r++) {
    const uint32_t bits = __shfl_sync(UINT32_MAX, mine, r);
    const uint64_t to = at + first + device_popc(bits & lanes_before()) + ranks[r];
    if (bits >> lane & 1) {
      args.to_keys[to] = rows[r];
      args.to[to] = (index_of<Pair>)(begin + r * WARP_SIZE + lane);
    }
    at += device_popc(bits);
  }
}

/* How many of a chunk's kept keys go before a pair. */
template <class Pair>
DEVICE_INLINE uint32_t rank_in_chunk(const drop_merge_args<Pair> *args, uint64_t chunk,
                                     key_of<Pair> key, uint64_t index)
{
  uint32_t rank = 0;
  for (uint32_t r = 0; r < CHUNK_ROWS; r++)
    for (uint32_t bits = args->kept[chunk * CHUNK_ROWS + r]; bits; bits &= bits - 1) {
      const uint64_t i = chunk * DROP_MERGE_CHUNK + r * WARP_SIZE + device_first_lane(bits);
      if (args->keys[i] > key || (args->keys[i] == key && i > index)) return rank;
      rank++;
    }
  return rank;
}

template <class Pair>
__global__ void __launch_bounds__(DROP_MERGE_BLOCK)
    merge_dense(const __grid_constant__ drop_merge_args<Pair> args)
{
  device_await_before();
  const uint64_t i = global_thread();
  uint64_t chunk = 0, high = args.chunks - 1; /* the last one that is not behind it */
  if (i >= args.dropped_count || !args.flags->dense) return;
  while (chunk < high) {
    const uint64_t middle = (chunk + high + 1) / 2;
    if (args.firsts[middle] <= i)
      chunk = middle;
    else
      high = middle - 1;
  }
  if (args.firsts[chunk + 1] - args.firsts[chunk] <= WARP_SIZE) return;
  const key_of<Pair> key = args.sorted_keys[i];
  const index_of<Pair> index = args.dropped[args.sorted[i]];
  uint64_t before = args.groups[chunk / SUM_GROUP];
  for (uint64_t c = chunk / SUM_GROUP * SUM_GROUP; c < chunk; c++)
    before += args.drops[c];
  const uint64_t to =
      i + chunk * DROP_MERGE_CHUNK - before + rank_in_chunk(&args, chunk, key, index);
  args.to_keys[to] = key;
  args.to[to] = index;
}

} // namespace sample

#endif
