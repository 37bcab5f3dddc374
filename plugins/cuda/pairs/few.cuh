/* few.cuh - sorts few pairs by the ranks of their keys, in one kernel or two: values move along, so
 * no kernel is needed before or after.
 *
 *   rank_few    reads keys and values. Pairs that are one run go to their places; else, or if a
 *               place may still be read, to sorted runs in the workspace
 *   merge_few   from there to their places
 *
 * settle_few.cuh looks at the result. */
#ifndef RECSORT_CUDA_PAIRS_FEW_CUH
#define RECSORT_CUDA_PAIRS_FEW_CUH

#include "cuda/pairs/pairs.cuh"
#include "cuda/sort/sample/block/ranks.cuh"

namespace pairs
{

/* A pair's value is held while its rank is found. */
template <class Values> using held_value = typename Values::held;

/* Sorted runs of pairs. */
template <class Key> struct few_runs {
  sample::key_runs<Key> codes;
  Key *keys;        /* NULL: the codes tell the keys */
  void *values;     /* of the job's values */
  uint64_t *hashes; /* NULL; or of each pair that is read */
};

/* Makes the codes of keys: code_of() in a fifth of the instructions, which a short kernel has to
 * load. */
template <class Key> struct key_coder {
  Key negative; /* a key with this bit ... */
  Key if_set;   /* ... is XORed with this mask, */
  Key if_clear; /* another one with this one */
  Key special;  /* the bits of a float without its sign; 0: no key is special */
  Key nan_code;

  DEVICE_MEMBER Key operator()(Key key) const
  {
    if constexpr (sizeof(Key) <= sizeof(uint64_t)) {
      const Key magnitude = key & special;
      if (magnitude > (Key)infinity_of<Key>) return nan_code;
      if (special && magnitude == 0) key = 0;
    }
    return key ^ (key & negative ? if_set : if_clear);
  }
};

template <class Key> static key_coder<Key> key_coder_of(const device_pairs *job)
{
  const Key all = all_of<Key>, sign = sign_of<Key>,
            flip = job->flags & RECSORT_KEY_DESCENDING ? all : (Key)0;
  key_coder<Key> coder = {};
  coder.if_set = coder.if_clear = job->kind == RECSORT_KEY_UNSIGNED ? flip : flip ^ sign;
  if (job->kind != RECSORT_KEY_FLOAT) return coder;
  coder.negative = sign;
  coder.if_set = (Key)~flip;
  coder.special = job->flags & RECSORT_KEY_NAN_TOTAL ? (Key)0 : all ^ sign;
  coder.nan_code = job->flags & RECSORT_KEY_NAN_FIRST ? (Key)0 : all;
  return coder;
}

template <class Key> struct few_args {
  static constexpr uint32_t max_threads = SAMPLE_RANK_BLOCK;
  device_pairs job;
  key_coder<Key> coder;
  few_runs<Key> runs;
  uint64_t written; /* so many of the result */
  uint64_t *tally;  /* device_job.tally, of a job that is certified */
};

template <class Key, class Values>
DEVICE_INLINE void write_pair(const few_args<Key> &args, uint64_t place, Key key,
                              const held_value<Values> &value)
{
  if (place >= args.written) return;
  if (args.job.keys_out) ((Key *)args.job.keys_out)[place] = key;
  if (args.job.values_out) Values::put(args.job, args.job.values_out, place, value);
}

/* The pairs that are sorted are the first ones; each of the others stays at its place. */
template <class Key> DEVICE_INLINE uint32_t sorted_count(const few_args<Key> &args)
{
  const uint32_t all = args.runs.codes.count;
  return args.job.device_count ? (uint32_t)plan_min(*args.job.device_count, all) : all;
}

template <class Key, class Values>
DEVICE_INLINE uint64_t hash_pair(const device_pairs &job, Key key, const held_value<Values> &value)
{
  return fold_hash(job.values_out ? hash_both(key, value) : hash_key(key));
}

/* Reads keys and values. Writes the pairs to their places, if one run has all; or sorted runs, with
 * the fences of each, every 16th code. Comparisons are bound by integer throughput, so a block
 * ranks only 32 keys of its run, or 16 if one run has all: all multiprocessors take part. A warp
 * ranks two keys, so that its lanes add up their counts without shared memory. The first two lanes
 * load these keys and their values before, as memory takes longer to answer than to rank. */
template <class Key, class Values, bool direct, bool certified>
__global__ void __launch_bounds__(SAMPLE_RANK_BLOCK)
    rank_few(const __grid_constant__ few_args<Key> args)
{
  device_await_before();
  const device_pairs &job = args.job;
  auto *const groups = (sample::key_group<Key> *)device_shared_memory();
  const uint32_t sorted = sorted_count(args);
  if constexpr (certified) clear_tally(args.tally);
  sample::run_share share = sample::run_share_of(args.runs.codes.count, args.runs.codes.bits);
  const bool mine = sample::run_share_has(&share);
  const uint32_t from = share.begin + share.first + threadIdx.x % WARP_SIZE;
  const Key key = mine ? ((const Key *)job.keys_in)[from] : 0;
  held_value<Values> value{};
  if (mine && job.values_out) value = Values::get(job, job.values_in, from);
  share.count = (uint32_t)plan_min(share.count, sorted - plan_min(sorted, share.begin));
  const Key mask = compared_mask<Key>(job);
  sample::load_coded(&share, job.keys_in, sizeof(Key), groups,
                     [&](Key other) { return (Key)((args.coder(other) & mask) >> job.first_bit); });
  __syncthreads();
  const sample::ranked_key<Key> ranked = sample::rank_in_run(groups, &share);
  if (!mine) return;
  if constexpr (certified) args.runs.hashes[from] = hash_pair<Key, Values>(job, key, value);
  const bool stays = from >= sorted;
  if constexpr (direct) {
    write_pair<Key, Values>(args, stays ? from : ranked.rank, key, value);
  } else {
    const uint32_t place = stays ? from : sample::place_in_run(&args.runs.codes, &share, ranked);
    DEVICE_ASSERT(place < args.runs.codes.count);
    args.runs.codes.keys[place] = stays ? args.coder(key) : ranked.key;
    if (args.runs.keys) args.runs.keys[place] = key;
    if (job.values_out) Values::put(job, args.runs.values, place, value);
  }
}

/* A block ranks a pair for each lane of a warp; its warps share the runs. Reads the runs and
 * fences. Writes each pair at its rank. The time is the wait for loads of other runs. So lanes hold
 * the fences of a run, with which a search loads from memory twice, not nine times, and a warp
 * searches two runs at once. */
template <class Key, class Values>
__global__ void __launch_bounds__(SAMPLE_RANK_BLOCK)
    merge_few(const __grid_constant__ few_args<Key> args)
{
  device_await_before();
  const few_runs<Key> &runs = args.runs;
  const uint32_t sorted = sorted_count(args);
  const uint32_t i = blockIdx.x * WARP_SIZE + threadIdx.x % WARP_SIZE;
  const bool mine = threadIdx.x < WARP_SIZE && i < runs.codes.count;
  const Key code = runs.codes.keys[plan_min(i, runs.codes.count - 1)];
  Key key = 0;
  held_value<Values> value{};
  if (mine) key = runs.keys ? runs.keys[i] : key_of_code(args.job, code);
  if (mine && args.job.values_out) value = Values::get(args.job, runs.values, i);
  uint32_t place = i;
  if (sample::are_several(&runs.codes) && blockIdx.x * WARP_SIZE < sorted) {
    sample::key_runs<Key> codes = runs.codes;
    codes.count = sorted;
    const uint32_t rank = sample::rank_in_all(&codes, i, code);
    if (i < sorted) place = rank;
  }
  DEVICE_ASSERT(!mine || place < runs.codes.count);
  if (mine) write_pair<Key, Values>(args, place, key, value);
}

/* ---- Launches ---- */

/* Takes the runs' arrays from the `bytes` behind `at`; NULL: only adds them up. `value_bytes` is 0
 * if there are no values. If a value has at most 8 bytes, the arrays fit in the device_buffers of
 * the job: the fences, which are last, in `extra`. */
template <class Key>
static few_runs<Key> divide_few(const device_job *job, bool reads_keys, uint64_t value_bytes,
                                char *at, uint64_t *bytes)
{
  const sample_ranking how = sample_ranking_of(job, job->count);
  RS_ASSERT(job->count <= UINT32_MAX);
  const auto take = [&](uint64_t size) {
    char *const taken = at ? at + *bytes : NULL;
    *bytes += device_aligned(size);
    return taken;
  };
  few_runs<Key> runs = {};
  *bytes = 0;
  runs.codes.count = (uint32_t)job->count;
  runs.codes.bits = how.run_bits;
  runs.codes.keys = (Key *)take(job->count * sizeof(Key));
  if (reads_keys) runs.keys = (Key *)take(job->count * sizeof(Key));
  if (value_bytes) runs.values = take(job->count * value_bytes);
  runs.codes.fences = (Key *)take(sample_fences(&how, job->count) * sizeof(Key));
  return runs;
}

/* True if what is written may still be read. */
static inline bool are_in_place(const device_pairs *pairs)
{
  return pairs->keys_in == pairs->keys_out ||
         (pairs->values_in && pairs->values_in == pairs->values_out);
}

/* Sorts pairs that sample_is_small(job), by codes as wide as keys, and writes the first `written`.
 */
template <class Key, class Values>
static device_status start_few(const device_job *job, const device_pairs *pairs,
                               const few_runs<Key> &runs, uint64_t written)
{
  const sample_ranking how = sample_ranking_of(job, job->count);
  const few_args<Key> args = {*pairs, key_coder_of<Key>(pairs), runs, written, job->tally};
  const uint64_t grid = sample_rank_blocks(&how, job->count), shared = sample::run_bytes<Key>(&how);
  const bool direct = how.alone && !are_in_place(pairs);
  auto *kernel = direct ? rank_few<Key, Values, true, false> : rank_few<Key, Values, false, false>;
  if constexpr (Values::certifies)
    if (runs.hashes)
      kernel = direct ? rank_few<Key, Values, true, true> : rank_few<Key, Values, false, true>;
  const device_status status = device_launch(kernel, grid, how.block, shared, job->stream, args);
  if (status || direct) return status;
  return device_launch(merge_few<Key, Values>, plan_blocks(job->count, WARP_SIZE), how.block, 0,
                       job->stream, args);
}

} // namespace pairs

#endif
