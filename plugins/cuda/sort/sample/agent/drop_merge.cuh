/* drop_merge.cuh - for keys that ascend except for a few: drops these, sorts them separately, and
 * merges them with the kept ones.
 *
 *   find_bounds         a thread for each chunk: the median of some keys around its start
 *   filter              a warp for each chunk: keeps the keys that lie between its bound and the
 *                       next one and are not less than a key kept before
 *   sum_dropped         one block: counts the dropped keys; if there are too many, all keys are
 *                       sorted instead
 *   extract_dropped     a warp for each chunk: copies the dropped pairs, in index order; behind
 *                       them, the greatest key, if the host sorts more than there are
 *   partition_dropped   a thread for each chunk: finds the first sorted dropped pair in it
 *   merge_sparse        a warp for each chunk: stores the kept pairs and up to 32 dropped ones at
 *                       their ranks
 *   merge_dense         a thread for each dropped pair of a chunk that has more than 32
 *
 * The bounds ascend, so all kept keys do too. A chunk's kept pairs lie between its bound and the
 * next one.
 */
#ifndef RECSORT_CUDA_SAMPLE_DROP_MERGE_CUH
#define RECSORT_CUDA_SAMPLE_DROP_MERGE_CUH

#include "cuda/sort/sample/agent/order_flags.cuh"
#include "cuda/pair.cuh"
#include "cuda/sort/sample/block/shares.cuh"
namespace sample
{

enum {
  CHUNK_ROWS = DROP_MERGE_CHUNK / WARP_SIZE,
  SUM_GROUP = 64 /* chunks whose counts one thread adds up */
};

DEVICE_INLINE uint64_t global_thread()
{
  return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* Loads a chunk for a warp: row r has a key for each lane. Beyond the end it repeats the last
 * key. */
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
  key_of<Pair> *bounds; /* the lower bound of each chunk */
};

/* A thread for each chunk. Reads 9 keys around the chunk's start. Writes their median, the chunk's
 * bound. Memory limits it, so a thread loads all nine before it ranks them, in registers. */
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
  filter_result out; /* except the sums of groups */
  order_flags *flags;
};

template <class Pair>
DEVICE_INLINE key_of<Pair> next_bound(const filter_args<Pair> *args, uint64_t chunk)
{
  return chunk + 1 < args->in.chunks ? args->bounds[chunk + 1] : (key_of<Pair>)~(key_of<Pair>)0;
}

/* Inclusive maximum scan: the greatest key of this lane and those before it. */
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

/* A bit for each lane whose key is kept, usually all of them. Updates the greatest kept key. */
template <class Key> DEVICE_INLINE uint32_t filter_row(Key key, bool within, Key low, Key *greatest)
{
  const uint32_t lane = threadIdx.x % WARP_SIZE;
  const Key before = key_from_lane(key, lane ? lane - 1 : 0);
  const Key least = *greatest; /* lower bound of kept keys */
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

/* A warp for each chunk. Reads the keys of the chunk and two bounds. Writes a bit for each key
 * that is kept, how many are dropped, and a flag if the bounds are not in order. Memory limits it:
 * keys are loaded once, to registers, a row of the warp at a time, and a ballot makes the bits of
 * a row. */
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
  key_of<Pair> greatest = low; /* greatest kept key */
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

/* ---- Counts of dropped keys ---- */

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
  uint64_t most; /* dropped keys with which a drop-merge is of use */
  order_report report;
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

/* One block. Reads the counts of dropped keys. Writes the exclusive prefix sums of groups of them,
 * and reports how many keys are dropped, 0 if a drop-merge is of no use; the decision is whether
 * it is. The loads of a single block take the time, so a thread loads eight counts of 16 bits at
 * once. */
static __global__ void __launch_bounds__(SAMPLE_SPLITTER_BLOCK)
    sum_dropped(const __grid_constant__ sum_dropped_args args)
{
  device_await_before();
  const uint64_t groups = plan_blocks(args.chunks, SUM_GROUP);
  const uint64_t each = plan_blocks(groups, blockDim.x);
  const uint64_t first = plan_min(threadIdx.x * each, groups), end = plan_min(first + each, groups);
  uint32_t sum = 0; /* pairs with indices of 32 bits are at most 2^32 */
  for (uint64_t group = first; group < end; group++) {
    const uint32_t count = group_sum(&args, group);
    args.groups[group] = count;
    sum += count;
  }
  uint64_t before = block_before(sum);
  if (threadIdx.x + 1 == blockDim.x) {
    const bool useful = !args.flags->unmergeable && before + sum <= args.most;
    args.flags->dropped = before + sum;
    report(&args.report, useful ? before + sum : 0, useful);
  }
  for (uint64_t group = first; group < end; group++) {
    const uint64_t count = args.groups[group];
    args.groups[group] = before;
    before += count;
  }
}

/* The number of keys that were dropped in all chunks before. By all lanes of a warp. */
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

/* A mask of the lanes before this one. */
DEVICE_INLINE uint32_t lanes_before()
{
  return (1u << threadIdx.x % WARP_SIZE) - 1;
}

template <class Pair> struct extract_dropped_args {
  static constexpr uint32_t max_threads = DROP_MERGE_BLOCK;
  /* reads */
  key_chunks<Pair> in;
  filter_result filtered;
  const uint64_t *dropped; /* how many */
  uint64_t sorted;         /* how many the host sorts */
  key_of<Pair> greatest;
  /* writes */
  pair_array<Pair> to; /* in index order */
};

/* A warp for each chunk. Reads the bits of the filter and the dropped keys. Writes the dropped
 * pairs in index order and, behind them, the greatest key as often as the host sorts more than
 * there are. Memory limits it, so chunks without dropped keys leave at once, and lanes get
 * neighbouring places by a ballot. */
template <class Pair>
__global__ void __launch_bounds__(DROP_MERGE_BLOCK)
    extract_dropped(const __grid_constant__ extract_dropped_args<Pair> args)
{
  device_await_before();
  const uint64_t chunk = global_thread() / WARP_SIZE;
  const uint32_t lane = threadIdx.x % WARP_SIZE;
  for (uint64_t i = *args.dropped + global_thread(); i < args.sorted;
       i += (uint64_t)gridDim.x * blockDim.x)
    args.to.keys[i] = args.greatest;
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

/* The first of the sorted dropped pairs [first, end) that is not less than a pair. */
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
  uint64_t *firsts; /* each chunk's first dropped pair; then their number */
};

/* A thread for each chunk. Reads the chunk's bound and, by bisection, sorted dropped keys. Writes
 * the number of the chunk's first dropped pair. The loads of a search wait for each other, so each
 * chunk has a thread of its own. */
template <class Pair>
__global__ void __launch_bounds__(DROP_MERGE_BLOCK)
    partition_dropped(const __grid_constant__ partition_dropped_args<Pair> args)
{
  device_await_before();
  const uint64_t chunk = global_thread();
  if (chunk > args.chunks) return;
  args.firsts[chunk] = chunk == 0 ? 0
                       : chunk == args.chunks
                           ? *args.dropped.count
                           : first_dropped(&args.dropped, 0, *args.dropped.count,
                                           args.bounds[chunk], chunk * DROP_MERGE_CHUNK);
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
  order_flags *flags; /* `dense` is set for merge_dense if a chunk has many dropped pairs */
};

/* Stores the kept pairs of a chunk with many dropped ones, at ranks that a search finds. By all
 * lanes of a warp. */
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

/* A warp for each chunk. Reads the chunk's keys and bits, and its dropped pairs. Writes all of
 * them at their ranks; if there are more than 32 dropped ones, only the kept ones, and a flag for
 * merge_dense. Memory limits it, so keys stay in registers: each lane has at most one dropped
 * pair, and lanes tell each other by shuffles. */
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
  DEVICE_ASSERT(first <= args.firsts[chunk + 1]);
  uint64_t at = begin - dropped_before(&args.filtered, chunk); /* the rank among kept pairs */
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

/* The number of a chunk's kept keys that go before a pair. */
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

/* A thread for each dropped pair of a chunk that has more than 32. Reads where the pairs of chunks
 * begin, and the chunk's kept keys. Writes the pair at its rank. The host does not know whether
 * there are such chunks, so it is launched in any case; without the flag all threads leave at
 * once. */
template <class Pair>
__global__ void __launch_bounds__(DROP_MERGE_BLOCK)
    merge_dense(const __grid_constant__ merge_args<Pair> args)
{
  device_await_before();
  const uint64_t i = global_thread();
  uint64_t chunk = 0, high = args.in.chunks - 1; /* the last chunk that may hold it */
  if (i >= *args.dropped.count || !args.flags->dense) return;
  while (chunk < high) {
    const uint64_t middle = (chunk + high + 1) / 2;
    if (args.firsts[middle] <= i)
      chunk = middle;
    else
      high = middle - 1;
  }
  DEVICE_ASSERT(args.firsts[chunk] <= i);
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
  DEVICE_PATH("dense drop-merge");
}

} // namespace sample

#endif
