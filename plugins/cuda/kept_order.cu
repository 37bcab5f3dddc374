/* kept_order.cu - sorts records of which most are still where the last sort's order puts them.
 *
 * The kept order is cut into chunks of 1024 places. The pair at a chunk's first place is its fence:
 * fences ascend, so they say for any pair to which chunk it belongs.
 *
 *   sift         a block for each chunk: makes the keys of its records, in the kept order. Pairs
 *                that still belong to the chunk, in that order, stay; each other one is sent to the
 *                chunk where it belongs
 *   judge        one block: adds up how many pairs the chunks have. If there is no kept order, or
 *                too many pairs came to a chunk, the order is lost
 *   merge        a block for each chunk: sorts the pairs that came, and merges them with those that
 *                stayed, which it sorts first if they do not ascend
 *   keep         if the order is lost: takes over the one that another sort has found
 *
 * Where an order is lost the device decides to sort all records. What else follows is launched in
 * any case, and its kernels leave at once: a decision takes longer.
 *
 * What is kept may be stale: any permutation and any ascending fences give the right result. So
 * records may have changed, be others, or be at another place; then more of them move. There are
 * two ways to read them. If they are where the last sort left them in order, the kept order is 0,
 * 1, 2 ...; otherwise it is the permutation that the last sort found.
 */
#include "cuda/decision.cuh"
#include "cuda/pair.cuh"
#include "cuda/record_reading.cuh"
#include "cuda/sample/block/shares.cuh"
#include "gpu/device_kept_order.h"

#ifndef KEPT_LEAST
#define KEPT_LEAST (1 << 18) /* fewer records are sorted faster */
#endif

namespace
{

enum {
  BLOCK = 128,
  ROWS = 8,
  CHUNK = ROWS * BLOCK, /* places */
  MOST_CAME = 128,      /* pairs that may come to a chunk */
  FEW_STRAGGLERS = 32,  /* so many come back to their own chunk; with more it is sorted */
  MOST_PAIRS = CHUNK + MOST_CAME
};

/* From sort to sort. */
struct state {
  uint64_t count;     /* records of the last sort; 0: there is no order */
  const void *sorted; /* where it left them; NULL: nowhere */
  uint32_t lost;      /* the order is lost: all records must be sorted */
  uint32_t still;     /* or they are in order where they are: nothing is to be moved in place */
};

template <class Key> using pair_of = wide_pair<Key, uint32_t>;
template <class Key> using pairs_of = pair_array<pair_of<Key>>;

constexpr uint32_t DESCENDS = UINT32_C(1) << 31;

template <class Key> struct kept_memory {
  state *kept;
  uint32_t *indices; /* the order: the record at each place */
  Key *fences;
  /* Of each chunk: */
  uint32_t *stayed;       /* how many pairs did, with DESCENDS if some of them descend */
  uint32_t *came;         /* how many came; 0 between sorts */
  uint32_t *firsts;       /* the place of its first pair in the new order */
  pairs_of<Key> arrivals; /* the pairs that came, MOST_CAME of each chunk */
};

/* Divides a block of memory; returns its bytes. NULL: only adds up. */
template <class Key> uint64_t divide(void *block, uint64_t most, kept_memory<Key> *memory)
{
  const uint64_t chunks = plan_blocks(most, CHUNK), arrivals = chunks * MOST_CAME;
  uint64_t used = 0;
  const auto take = [&](uint64_t bytes) {
    void *const taken = block ? (char *)block + used : NULL;
    used += device_aligned(bytes);
    return taken;
  };
  memory->kept = (state *)take(sizeof(state));
  memory->stayed = (uint32_t *)take(chunks * sizeof(uint32_t));
  memory->came = (uint32_t *)take(chunks * sizeof(uint32_t));
  memory->firsts = (uint32_t *)take(chunks * sizeof(uint32_t));
  memory->fences = (Key *)take(chunks * sizeof(Key));
  memory->arrivals.keys = (Key *)take(arrivals * sizeof(Key));
  memory->arrivals.indices = (uint32_t *)take(arrivals * sizeof(uint32_t));
  memory->indices = (uint32_t *)take(most * sizeof(uint32_t));
  return used;
}

/* ---- sift ---- */

template <class Key> struct sift_args {
  static constexpr uint32_t max_threads = BLOCK;
  /* reads */
  record_source source;
  const void *array; /* as in device_kept_order */
  uint64_t count, chunks;
  /* writes */
  kept_memory<Key> memory;
  pairs_of<Key> stayed; /* each chunk's at its places */
};

/* The first pair of a chunk in the kept order. */
template <class Key>
DEVICE_INLINE pair_of<Key> fence_of(const sift_args<Key> *args, bool in_order, uint64_t number)
{
  const uint64_t place = number * CHUNK;
  return {args->memory.fences[number], in_order ? (uint32_t)place : args->memory.indices[place]};
}

/* The chunk where a pair belongs. */
template <class Key>
DEVICE_INLINE uint64_t chunk_of(const sift_args<Key> *args, bool in_order, pair_of<Key> pair)
{
  uint64_t low = 0, high = args->chunks - 1;
  while (low < high) {
    const uint64_t middle = (low + high + 1) / 2;
    if (pair_less(pair, fence_of(args, in_order, middle)))
      high = middle - 1;
    else
      low = middle;
  }
  return low;
}

template <class Key>
DEVICE_INLINE void send(const sift_args<Key> *args, uint64_t number, pair_of<Key> pair)
{
  const uint32_t slot = device_add32(&args->memory.came[number], 1);
  if (slot < MOST_CAME) pair_put(&args->memory.arrivals, number * MOST_CAME + slot, pair);
}

/* Pairs of a chunk, those of this thread. */
template <class Key> struct rows_of {
  pair_of<Key> pairs[ROWS];
  bool stays[ROWS];
};

/* Makes the pairs of the chunk; all but those beyond the last record stay. */
template <class Key, reading How>
DEVICE_INLINE void load_rows(const sift_args<Key> *args, bool in_order, rows_of<Key> *rows)
{
  const uint64_t first = (uint64_t)blockIdx.x * CHUNK + threadIdx.x;
  uint64_t words[ROWS];
  bool valid = true;
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++) {
    const uint64_t place = plan_min(first + r * BLOCK, args->count - 1);
    rows->stays[r] = first + r * BLOCK < args->count;
    rows->pairs[r].index = in_order ? (uint32_t)place : args->memory.indices[place];
  }
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++)
    words[r] = load_word<How>(args->source, rows->pairs[r].index);
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++) {
    const records_key key = key_with<How>(args->source, rows->pairs[r].index, words[r], &valid);
    rows->pairs[r].key = (Key)key.words[0];
    if constexpr (sizeof(Key) > sizeof(uint64_t)) rows->pairs[r].key |= (Key)key.words[1] << 64;
  }
  if (!valid) args->source.facts->invalid = 1;
}

/* Sends the pairs that belong to other chunks. */
template <class Key>
DEVICE_INLINE void send_strangers(const sift_args<Key> *args, bool in_order, rows_of<Key> *rows)
{
  const uint64_t number = blockIdx.x;
  const bool has_next = number + 1 < args->chunks;
  const pair_of<Key> low = fence_of(args, in_order, number);
  const pair_of<Key> high = has_next ? fence_of(args, in_order, number + 1) : low;
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++) {
    const bool after = number == 0 || !pair_less(rows->pairs[r], low);
    const bool before = !has_next || pair_less(rows->pairs[r], high);
    if (!rows->stays[r] || (after && before)) continue;
    send(args, chunk_of(args, in_order, rows->pairs[r]), rows->pairs[r]);
    rows->stays[r] = false;
  }
}

/* Stores the pairs that stay to the tile, without gaps and in the order of places. Returns how many
 * they are. Two barriers. */
template <class Key>
DEVICE_INLINE uint32_t store_stayed(const rows_of<Key> *rows, const pairs_of<Key> *tile)
{
  enum { WARPS = BLOCK / WARP_SIZE };
  DEVICE_SHARED_ARRAY(uint32_t, counts, ROWS * WARPS);
  const uint32_t lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
  uint32_t bits[ROWS];
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++) {
    bits[r] = device_ballot(rows->stays[r]);
    if (lane == 0) counts[r * WARPS + warp] = device_popc(bits[r]);
  }
  __syncthreads();
  const uint32_t count = counts[lane];
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++) {
    const uint32_t before = device_warp_sum(lane < r * WARPS + warp ? count : 0);
    const uint32_t at = before + device_popc(bits[r] & ((1u << lane) - 1));
    if (rows->stays[r]) pair_put(tile, at, rows->pairs[r]);
  }
  __syncthreads();
  return device_warp_sum(count);
}

/* Loads the pairs of the tile. Those that are in order with both neighbours stay. Returns how many
 * are not. */
template <class Key>
DEVICE_INLINE uint32_t find_stragglers(const pairs_of<Key> *tile, uint32_t count,
                                       rows_of<Key> *rows)
{
  uint32_t mine = 0;
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++) {
    const uint32_t i = r * BLOCK + threadIdx.x;
    rows->stays[r] = i < count;
    if (i >= count) continue;
    const pair_of<Key> pair = rows->pairs[r] = pair_get(tile, i);
    const bool before = i > 0 && pair_less(pair, pair_get(tile, i - 1));
    const bool after = i + 1 < count && pair_less(pair_get(tile, i + 1), pair);
    rows->stays[r] = !before && !after;
    mine += !rows->stays[r];
  }
  return sample::block_sum(mine);
}

template <class Key, reading How>
DEVICE_INLINE void sift_chunk(const sift_args<Key> *args, bool in_order)
{
  DEVICE_SHARED_ARRAY(Key, keys, CHUNK);
  DEVICE_SHARED_ARRAY(uint32_t, indices, CHUNK);
  const pairs_of<Key> tile = {keys, indices};
  rows_of<Key> rows;
  load_rows<Key, How>(args, in_order, &rows);
  send_strangers(args, in_order, &rows);
  uint32_t stayed = store_stayed(&rows, &tile);
  uint32_t stragglers = find_stragglers(&tile, stayed, &rows);
  if (stragglers > 0 && stragglers <= FEW_STRAGGLERS) { /* without them the others mostly ascend */
    DEVICE_UNROLL
    for (uint32_t r = 0; r < ROWS; r++)
      if (r * BLOCK + threadIdx.x < stayed && !rows.stays[r]) send(args, blockIdx.x, rows.pairs[r]);
    stayed = store_stayed(&rows, &tile);
    stragglers = find_stragglers(&tile, stayed, &rows);
  }
  DEVICE_UNROLL
  for (uint32_t r = 0; r < ROWS; r++) {
    const uint32_t i = r * BLOCK + threadIdx.x;
    if (i < stayed) pair_put(&args->stayed, (uint64_t)blockIdx.x * CHUNK + i, rows.pairs[r]);
  }
  if (threadIdx.x == 0)
    args->memory.stayed[blockIdx.x] = stayed | (stragglers > 0 ? (uint32_t)DESCENDS : 0);
}

template <class Key, reading How>
__global__ void __launch_bounds__(sift_args<Key>::max_threads)
    sift(const __grid_constant__ sift_args<Key> args)
{
  device_await_before();
  if (args.memory.kept->count != args.count) return;
  sift_chunk<Key, How>(&args, args.memory.kept->sorted == args.array);
}

/* ---- judge ---- */

struct judge_args {
  static constexpr uint32_t max_threads = SAMPLE_SPLITTER_BLOCK;
  /* reads */
  uint64_t count, chunks;
  const void *array, *sorted; /* as in device_kept_order */
  const uint32_t *stayed, *came;
  /* writes */
  state *kept;
  uint32_t *firsts;
  device_decision decision;
};

/* What is found of all chunks. */
constexpr uint32_t SOME_MOVED = 1, SOME_OVERFLOWED = 1 << 16;

/* Writes where each chunk begins. By all threads. */
DEVICE_INLINE uint32_t add_chunks(const judge_args *args)
{
  enum { EACH = 4 };
  bool moved = false, overflowed = false;
  uint32_t before = 0;
  for (uint64_t begin = 0; begin < args->chunks; begin += EACH * judge_args::max_threads) {
    const uint64_t own = begin + threadIdx.x * EACH;
    uint32_t counts[EACH], mine = 0, all;
    DEVICE_UNROLL
    for (uint32_t i = 0; i < EACH; i++) {
      const bool is_one = own + i < args->chunks;
      const uint32_t stayed = is_one ? args->stayed[own + i] : 0;
      const uint32_t came = is_one ? args->came[own + i] : 0;
      counts[i] = (stayed & ~DESCENDS) + came;
      mine += counts[i];
      moved |= came > 0 || stayed & DESCENDS;
      overflowed |= came > MOST_CAME;
    }
    uint32_t first = before + sample::block_before_all(mine, &all);
    DEVICE_UNROLL
    for (uint32_t i = 0; i < EACH; i++) {
      if (own + i < args->chunks) args->firsts[own + i] = first;
      first += counts[i];
    }
    before += all;
    __syncthreads();
  }
  return sample::block_sum((moved ? SOME_MOVED : 0) + (overflowed ? SOME_OVERFLOWED : 0));
}

__global__ void __launch_bounds__(judge_args::max_threads)
    judge(const __grid_constant__ judge_args args)
{
  device_await_before();
  const state before = *args.kept;
  const bool known = before.count == args.count, in_order = before.sorted == args.array;
  const uint32_t found = known ? add_chunks(&args) : 0;
  const bool lost = !known || found >= SOME_OVERFLOWED;
  __syncthreads();
  if (threadIdx.x > 0) return;
  *args.kept = {args.count, args.sorted, lost, lost || (in_order && !found)};
  device_decide(args.decision, lost ? 0 : 1);
}

/* ---- merge ---- */

template <class Key> struct merge_args {
  static constexpr uint32_t max_threads = BLOCK;
  /* reads */
  kept_memory<Key> memory; /* what `sift` and `judge` found */
  pairs_of<Key> stayed;
  /* writes */
  Key *keys; /* the sorted ones; indices and fences to `memory` */
};

/* Sorts a tile: a bitonic sort for any count, whose comparators all put the less pair first (K. E.
 * Batcher, "Sorting networks and their applications", 1968). By all threads of the block. */
template <class Key> DEVICE_INLINE void sort_tile(const pairs_of<Key> *tile, uint32_t count)
{
  for (uint32_t run = 2; run < 2 * count; run *= 2)
    for (uint32_t apart = run / 2; apart > 0; apart /= 2) {
      for (uint32_t t = threadIdx.x; t < count; t += BLOCK) {
        const uint32_t other = apart == run / 2 ? t ^ (run - 1) : t ^ apart;
        if (other <= t || other >= count) continue;
        const pair_of<Key> here = pair_get(tile, t), there = pair_get(tile, other);
        if (!pair_less(there, here)) continue;
        pair_put(tile, t, there);
        pair_put(tile, other, here);
      }
      __syncthreads();
    }
}

/* How many pairs of a sorted tile are less than a pair. */
template <class Key>
DEVICE_INLINE uint32_t rank_in(const pairs_of<Key> *tile, uint32_t count, pair_of<Key> pair)
{
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (pair_less(pair_get(tile, middle), pair))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

template <class Key>
DEVICE_INLINE void put_sorted(const merge_args<Key> *args, uint64_t place, pair_of<Key> pair)
{
  args->keys[place] = pair.key;
  args->memory.indices[place] = pair.index;
  if (place % CHUNK == 0) args->memory.fences[place / CHUNK] = pair.key;
}

template <class Key>
__global__ void __launch_bounds__(merge_args<Key>::max_threads)
    merge(const __grid_constant__ merge_args<Key> args)
{
  DEVICE_SHARED_ARRAY(Key, keys, MOST_PAIRS);
  DEVICE_SHARED_ARRAY(uint32_t, indices, MOST_PAIRS);
  device_await_before();
  if (args.memory.kept->lost) return;
  const uint64_t number = blockIdx.x, first = args.memory.firsts[number];
  const uint32_t count = args.memory.stayed[number], came = args.memory.came[number];
  const pairs_of<Key> stayed = {keys, indices}, arrivals = {keys + CHUNK, indices + CHUNK};
  for (uint32_t i = threadIdx.x; i < (count & ~DESCENDS); i += BLOCK)
    pair_put(&stayed, i, pair_get(&args.stayed, number * CHUNK + i));
  for (uint32_t i = threadIdx.x; i < came; i += BLOCK)
    pair_put(&arrivals, i, pair_get(&args.memory.arrivals, number * MOST_CAME + i));
  __syncthreads();
  if (threadIdx.x == 0) args.memory.came[number] = 0;
  if (count & DESCENDS) sort_tile(&stayed, count & ~DESCENDS);
  sort_tile(&arrivals, came);
  DEVICE_UNROLL_BY_4
  for (uint32_t i = threadIdx.x; i < (count & ~DESCENDS); i += BLOCK) {
    const pair_of<Key> pair = pair_get(&stayed, i);
    put_sorted(&args, first + i + rank_in(&arrivals, came, pair), pair);
  }
  for (uint32_t i = threadIdx.x; i < came; i += BLOCK) {
    const pair_of<Key> pair = pair_get(&arrivals, i);
    put_sorted(&args, first + i + rank_in(&stayed, count & ~DESCENDS, pair), pair);
  }
}

/* ---- keep ---- */

template <class Key> struct keep_args {
  static constexpr uint32_t max_threads = BLOCK;
  pairs_of<Key> sorted;
  uint64_t count;
  kept_memory<Key> memory;
};

template <class Key>
__global__ void __launch_bounds__(keep_args<Key>::max_threads)
    keep(const __grid_constant__ keep_args<Key> args)
{
  device_await_before();
  const uint64_t i = (uint64_t)blockIdx.x * BLOCK + threadIdx.x;
  if (i >= args.count) return;
  args.memory.indices[i] = args.sorted.indices[i];
  if (i % CHUNK != 0) return;
  args.memory.fences[i / CHUNK] = args.sorted.keys[i];
  args.memory.came[i / CHUNK] = 0;
}

/* ---- A sort ---- */

template <class Key>
device_status start_sift(const device_job *job, uint64_t chunks, const sift_args<Key> &args)
{
  const reading how = reading_of(args.source);
  return device_launch(how == WORDS_OF_4   ? sift<Key, WORDS_OF_4>
                       : how == WORDS_OF_8 ? sift<Key, WORDS_OF_8>
                       : how == FIELDS     ? sift<Key, FIELDS>
                                           : sift<Key, COMPUTED>,
                       chunks, BLOCK, 0, job->stream, args);
}

template <class Key>
device_status sort(const device_kept_order *kept, const device_job *job,
                   const device_buffers *buffers, device_kept_work *work, void *context)
{
  const uint64_t chunks = plan_blocks(job->count, CHUNK);
  const record_source source = source_of(kept->program, kept->records, kept->facts);
  kept_memory<Key> memory;
  (void)divide(kept->memory, kept->most, &memory);
  const pairs_of<Key> stayed = pair_array_of_side<pair_of<Key>>(buffers, 0);
  const sift_args<Key> sifted = {source, kept->array, job->count, chunks, memory, stayed};
  judge_args judged = {job->count,   chunks,        kept->array,
                       kept->sorted, memory.stayed, memory.came,
                       memory.kept,  memory.firsts, {}};
  const merge_args<Key> merged = {memory, stayed, (Key *)buffers->keys[1]};
  kept_order found = {{memory.indices, job->count, job->index_bits, job->key_width, merged.keys,
                       NULL, &memory.kept->lost},
                      &memory.kept->still};
  device_status status = device_begin_decision(job, &judged.decision);
  if (!status) status = start_sift(job, chunks, sifted);
  if (!status) status = device_launch(judge, 1, judge_args::max_threads, 0, job->stream, judged);
  if (!status) status = device_launch(merge<Key>, chunks, BLOCK, 0, job->stream, merged);
  if (!status) status = work(context, false, job, &found);
  if (status) return status;
  return device_branch(job, judged.decision, 1, [&](unsigned, const device_job *branch) {
    device_job inner = *branch;
    inner.branches[0] = NULL; /* it decides nothing */
    const device_status started = work(context, true, &inner, &found);
    const pairs_of<Key> sorted = {(Key *)found.pairs.keys, (uint32_t *)found.pairs.indices};
    const keep_args<Key> args = {sorted, job->count, memory};
    return started ? started
                   : device_launch(keep<Key>, plan_blocks(job->count, BLOCK), BLOCK, 0,
                                   inner.stream, args);
  });
}

} // namespace

uint64_t device_kept_order_bytes(uint64_t most, uint32_t key_width)
{
  kept_memory<uint32_t> narrow;
  kept_memory<uint64_t> wide;
  kept_memory<device_uint128> widest;
  return key_width == 32   ? divide(NULL, most, &narrow)
         : key_width == 64 ? divide(NULL, most, &wide)
                           : divide(NULL, most, &widest);
}

device_status device_forget_order(void *memory, uint64_t bytes, void *stream)
{
  return device_clear(memory, bytes, stream);
}

bool device_can_keep_order(const device_job *job)
{
  return job->index_bits == 32 && job->count >= KEPT_LEAST && device_can_decide(job);
}

device_status device_sort_kept(const device_kept_order *kept, const device_job *job,
                               const device_buffers *buffers, device_kept_work *work, void *context)
{
  return (job->key_width == 32   ? sort<uint32_t>
          : job->key_width == 64 ? sort<uint64_t>
                                 : sort<device_uint128>)(kept, job, buffers, work, context);
}
