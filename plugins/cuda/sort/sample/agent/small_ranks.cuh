/* small_ranks.cuh - sorts few pairs by the ranks of their keys (ranks.cuh). */
#ifndef RECSORT_CUDA_SAMPLE_SMALL_RANKS_CUH
#define RECSORT_CUDA_SAMPLE_SMALL_RANKS_CUH

#include "cuda/balance.cuh"
#include "cuda/key_words.h"
#include "cuda/record_units.cuh"
#include "cuda/sort/sample/block/ranks.cuh"

namespace sample
{

/* Loads the block's run to shared memory, in whole groups where possible. By all threads of the
 * block. */
template <class Pair>
DEVICE_INLINE void load_run(const key_of<Pair> *keys, uint32_t count,
                            key_group<key_of<Pair>> *groups)
{
  const uint32_t whole = count / group_size<key_of<Pair>>;
  DEVICE_UNROLL_BY_4
  for (uint32_t g = threadIdx.x; g < whole; g += blockDim.x)
    groups[g] = ((const key_group<key_of<Pair>> *)keys)[g];
  for (uint32_t i = whole * group_size<key_of<Pair>> + threadIdx.x; i < count; i += blockDim.x)
    put_group(groups, i, keys[i]);
  fill_groups(groups, count);
}

/* Copies the records of the warp's keys, whose places its first lanes hold: half of the lanes copy
 * a record each. By all lanes. */
DEVICE_INLINE void move_ranked(const record_units *move, const run_share *share, uint32_t place)
{
  const uint32_t lane = threadIdx.x % WARP_SIZE, each = WARP_SIZE / SAMPLE_WARP_RANKED;
  const uint32_t record = share->first + lane / each;
  const uint64_t to = __shfl_sync(UINT32_MAX, place, lane / each);
  if (record >= share->count) return;
  for (uint32_t unit = lane % each; unit < move->each; unit += each)
    copy_unit(move, to * move->each + unit, (uint64_t)(share->begin + record) * move->each + unit);
}

/* Ranks each key in its run. */
template <class Pair> struct rank_runs_args {
  static constexpr uint32_t max_threads = SAMPLE_RANK_BLOCK;
  /* reads */
  const key_of<Pair> *keys;
  device_words words; /* of which keys are made, if there are `data` */
  /* writes */
  record_units move;           /* if there is one run */
  key_runs<key_of<Pair>> runs; /* sorted; with fences if there are several */
  index_of<Pair> *indices;     /* the indices of the runs' keys */
  uint64_t *tally;             /* device_job.tally */
};

/* Reads the keys, or the words that keys are made of. Writes sorted runs and the fences of each,
 * every 16th key; if one run has all keys, that is the result, and records move too. Comparisons
 * are bound by integer throughput, so a block ranks only 32 keys of its run, or 16 if one run has
 * all: all multiprocessors take part. A warp ranks two keys, so that its lanes add up their counts
 * without shared memory. */
template <class Pair>
__global__ void __launch_bounds__(SAMPLE_RANK_BLOCK)
    rank_runs(const __grid_constant__ rank_runs_args<Pair> args)
{
  device_await_before();
  auto *const groups = (key_group<key_of<Pair>> *)device_shared_memory();
  const run_share share = run_share_of(args.runs.count, args.runs.bits);
  clear_tally(args.tally);
  if (sizeof(key_of<Pair>) == sizeof(uint32_t) && args.words.data)
    load_coded(&share, args.words.data, args.words.stride, groups, [&](key_of<Pair> word) {
      return (key_of<Pair>)word_code_32(&args.words.code, (uint32_t)word);
    });
  else
    load_run<Pair>(args.keys + share.begin, share.count, groups);
  __syncthreads();
  const ranked_key<key_of<Pair>> ranked = rank_in_run(groups, &share);
  if (args.move.from) move_ranked(&args.move, &share, share.begin + ranked.rank);
  if (!run_share_has(&share)) return;
  const uint32_t place = place_in_run(&args.runs, &share, ranked);
  args.runs.keys[place] = ranked.key;
  args.indices[place] = share.begin + share.first + threadIdx.x % WARP_SIZE;
}

/* Ranks each key among the keys of all runs. */
template <class Pair> struct rank_all_args {
  static constexpr uint32_t max_threads = SAMPLE_RANK_BLOCK;
  /* reads */
  key_runs<key_of<Pair>> runs;
  const index_of<Pair> *indices;
  /* writes */
  pair_array<Pair> to;
  record_units move;
};

/* Copies the records of the block's `count` keys, whose ranks the lanes of its first warp hold, to
 * their places. By all threads of the block; one barrier. */
template <class Index>
DEVICE_INLINE void move_all_ranked(const record_units *move, const Index *indices, uint32_t rank,
                                   uint32_t count)
{
  DEVICE_SHARED_ARRAY(uint32_t, places, WARP_SIZE);
  if (threadIdx.x < WARP_SIZE) places[threadIdx.x] = rank;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count * move->each; i += blockDim.x) {
    const uint32_t record = i / move->each, unit = i % move->each;
    copy_unit(move, (uint64_t)places[record] * move->each + unit,
              (uint64_t)indices[record] * move->each + unit);
  }
}

/* A block ranks a key for each lane of a warp; its warps share the runs. Reads the runs and
 * fences. Writes each pair at its rank, and moves its record if that is asked for. The time is the
 * wait for loads of other runs. So lanes hold the fences of a run, with which a search loads from
 * memory twice, not nine times, and a warp searches two runs at once. */
template <class Pair>
__global__ void __launch_bounds__(SAMPLE_RANK_BLOCK)
    rank_all(const __grid_constant__ rank_all_args<Pair> args)
{
  device_await_before();
  const uint32_t i = blockIdx.x * WARP_SIZE + threadIdx.x % WARP_SIZE;
  const bool mine = threadIdx.x < WARP_SIZE && i < args.runs.count;
  const key_of<Pair> key = args.runs.keys[plan_min(i, args.runs.count - 1)];
  const uint32_t rank = rank_in_all(&args.runs, i, key);
  if (mine) args.to.keys[rank] = key;
  if (mine) args.to.indices[rank] = args.indices[i];
  const uint32_t first = blockIdx.x * WARP_SIZE;
  if (args.move.from)
    move_all_ranked(&args.move, args.indices + first, rank,
                    (uint32_t)plan_min(WARP_SIZE, args.runs.count - first));
}

} // namespace sample

#endif
