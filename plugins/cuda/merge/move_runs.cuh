/* move_runs.cuh - merges a few runs of keys, and moves the records that they belong to in place of
 * pairs. A block merges a range of the output, tile by tile:
 *
 *   it finds where the next tile ends in each run, by samples of the run's remaining keys
 *   each thread loads keys of the pieces between, and puts their elements (elements.cuh) in shared
 *   memory
 *   rounds of merges there make one list of the pieces: two lists at a time, each thread a part of
 *   the output
 *   the records move from where the elements' tags say: they are neighbours in one of the pieces
 *
 * So each record is read and written once, for any number of runs.
 */
#ifndef RECSORT_CUDA_MERGE_MOVE_RUNS_CUH
#define RECSORT_CUDA_MERGE_MOVE_RUNS_CUH

#include "cuda/key_words.h"
#include "cuda/merge/elements.cuh"
#include "cuda/merge/plan.h"
#include "cuda/record_units.cuh"
#include "gpu/device_merge.h"

namespace merge
{

/* Keys of a thread: as many as there are registers for, and odd, so that the parts of a warp's
 * threads begin in different banks of shared memory. */
template <class Key>
static constexpr uint32_t moved_items = sizeof(Key) <= 4   ? 13
                                        : sizeof(Key) <= 8 ? 9
                                                           : 7;

enum {
  MOVED_RUNS = DEVICE_MOVED_RUNS,
  MOVED_BLOCKS = 5, /* of a multiprocessor at once */
  MOVED_UNITS = 8,  /* of a thread, whose loads overlap, of up to 4 bytes; see move_units */
  PLACE_BITS = 12,  /* of a record's place in its piece */
  NO_SAMPLE = MOVED_RUNS * WARP_SIZE
};
static_assert(moved_items<uint32_t> * MERGE_TILE_BLOCK <= 1 << PLACE_BITS, "a tile has places");

/* Keys in arrays. */
template <class Key> struct stored_keys {
  using type = Key;
  static constexpr uint32_t stride = sizeof(Key);

  DEVICE_MEMBER Key code(Key word) const
  {
    return word;
  }
};

/* Keys that are made of words of the records, and need not come with them. */
template <class Key> struct made_keys {
  using type = Key;
  uint32_t stride;
  records_word how;

  DEVICE_MEMBER Key code(Key word) const
  {
    if constexpr (sizeof(Key) == sizeof(uint32_t))
      return word_code_32(&how, word);
    else
      return word_code_64(&how, word);
  }
};

/* A run: its keys or words, the units in front of its first record, and its length. */
struct moved_run {
  const char *keys;
  uint64_t units;
  uint64_t count;
};

template <class Keys> struct move_runs_args {
  static constexpr uint32_t max_threads = MERGE_TILE_BLOCK;
  /* reads */
  Keys keys;
  moved_run run[MOVED_RUNS];
  uint32_t runs;
  uint32_t tile;  /* the most records of a tile */
  uint64_t count; /* of all records, */
  uint64_t range; /* and of those of a block */
  /* writes */
  record_units move;
  uint32_t *disorder; /* set if they are not in order; NULL: not looked at */
};

/* What a block has in shared memory besides samples and elements. */
struct moved_state {
  uint64_t begin[MOVED_RUNS], end[MOVED_RUNS]; /* of the tile's pieces in their runs */
  uint64_t units[MOVED_RUNS];                  /* in front of the records of each piece */
  uint32_t offsets[MOVED_RUNS + 1];            /* of the pieces in the tile */
  uint32_t samples[MOVED_RUNS];                /* of each run */
  uint32_t winner;                             /* the last sample that is taken, or NO_SAMPLE */
};

template <class Keys>
DEVICE_INLINE typename Keys::type word_at(const move_runs_args<Keys> &args, uint32_t run,
                                          uint64_t record)
{
  DEVICE_ASSERT(run < args.runs && record < args.run[run].count);
  return *(const typename Keys::type *)(const void *)(args.run[run].keys +
                                                      record * args.keys.stride);
}

template <class Keys>
DEVICE_INLINE typename Keys::type key_at(const move_runs_args<Keys> &args, uint32_t run,
                                         uint64_t record)
{
  return args.keys.code(word_at(args, run, record));
}

/* ---- Cuts ---- */

/* Puts samples of each run's remaining keys, behind `end`, in shared memory: every `step`-th key,
 * up to a warp's. */
template <class Keys>
DEVICE_INLINE void take_samples(const move_runs_args<Keys> &args, uint64_t step, moved_state *state,
                                typename Keys::type *samples)
{
  const uint32_t lane = threadIdx.x % WARP_SIZE;
  if (threadIdx.x == 0) state->winner = NO_SAMPLE;
  for (uint32_t run = threadIdx.x / WARP_SIZE; run < args.runs; run += blockDim.x / WARP_SIZE) {
    const uint64_t at = state->end[run] + (lane + 1) * step - 1;
    const bool is_there = at < args.run[run].count;
    if (is_there) samples[run * WARP_SIZE + lane] = key_at(args, run, at);
    const uint32_t count = device_popc(device_ballot(is_there));
    if (lane == 0) state->samples[run] = count;
  }
}

/* How many samples of a run go before a sample of another one. */
template <class Key>
DEVICE_INLINE uint32_t samples_before(const Key *run, uint32_t count, Key key, bool is_behind)
{
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t i = (low + high) / 2;
    if (run[i] < key || (is_behind && run[i] == key))
      low = i + 1;
    else
      high = i;
  }
  return low;
}

/* Finds the sample that is number `wanted` in the order of all, from 1 on. */
template <class Key>
DEVICE_INLINE void rank_samples(uint32_t runs, uint32_t wanted, moved_state *state,
                                const Key *samples)
{
  for (uint32_t s = threadIdx.x; s < runs * WARP_SIZE; s += blockDim.x) {
    const uint32_t own = s / WARP_SIZE, i = s % WARP_SIZE;
    if (i >= state->samples[own] || i >= wanted) continue;
    uint32_t rank = i + 1;
    for (uint32_t run = 0; run < runs; run++)
      if (run != own)
        rank +=
            samples_before(samples + run * WARP_SIZE, state->samples[run], samples[s], run < own);
    if (rank == wanted) state->winner = s;
  }
}

/* How many keys of a run, of `count` from `first` on, go before a key of another run. A warp, which
 * tries 32 of them a round. */
template <class Keys>
DEVICE_INLINE uint64_t keys_before(const move_runs_args<Keys> &args, uint32_t run, uint64_t first,
                                   uint64_t count, typename Keys::type key, bool is_behind)
{
  uint64_t low = 0;
  uint32_t bits = 0;
  while (count >> bits >= WARP_SIZE)
    bits += WARP_BITS;
  for (;; bits -= WARP_BITS) {
    const uint64_t i = ((low >> bits) + 1 + threadIdx.x % WARP_SIZE) << bits;
    bool found = i <= count;
    if (found) {
      const auto other = key_at(args, run, first + i - 1);
      found = other < key || (is_behind && other == key);
    }
    const uint32_t more = device_popc(device_ballot(found));
    if (more) low = ((low >> bits) + more) << bits;
    if (bits == 0) return low;
  }
}

/* Moves the ends of the pieces forward by what goes before or with the last sample that is taken:
 * by whole steps; or by all keys, of which fewer than a step are behind the last sample of a run.
 */
template <class Keys>
DEVICE_INLINE void move_ends(const move_runs_args<Keys> &args, uint64_t step, bool by_keys,
                             moved_state *state, const typename Keys::type *samples)
{
  const uint32_t own = state->winner / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
  const auto key = samples[state->winner];
  for (uint32_t run = threadIdx.x / WARP_SIZE; run < args.runs; run += blockDim.x / WARP_SIZE) {
    bool goes = lane < state->samples[run];
    if (run == own)
      goes = lane <= state->winner % WARP_SIZE;
    else if (goes)
      goes = samples[run * WARP_SIZE + lane] < key ||
             (run < own && samples[run * WARP_SIZE + lane] == key);
    uint64_t end = state->end[run] + device_popc(device_ballot(goes)) * step;
    if (by_keys && run != own)
      end += keys_before(args, run, end, plan_min(step - 1, args.run[run].count - end), key,
                         run < own);
    if (lane == 0) state->end[run] = end;
  }
}

/* Moves the ends of the pieces forward by the first records of what is left of all runs: by
 * `count`, which is not 0 unless `exactly`; or, if that is faster, by as many as there are up to
 * some sample, at most `count`. Between two samples of a run are fewer than a step of its keys, so
 * those before the sample that is number w of all are fewer than (w + runs - 1) steps. Of runs that
 * are not sorted it may be any number, within the runs. Ends with a barrier, if count is not 0. */
template <class Keys>
DEVICE_INLINE void cut_pieces(const move_runs_args<Keys> &args, uint64_t count, bool exactly,
                              moved_state *state, typename Keys::type *samples)
{
  const uint32_t others = args.runs - 1;
  while (count > 0) {
    const uint64_t most = count + others;
    const uint32_t share = WARP_SIZE + others;
    const uint64_t whole =
        most >> 32 ? most / share : (uint32_t)most / share; /* the latter is faster */
    const uint64_t step = whole ? whole : 1;
    take_samples(args, step, state, samples);
    __syncthreads();
    uint32_t wanted = (uint32_t)plan_min(count, WARP_SIZE), all = 0;
    for (uint32_t run = 0; run < args.runs; run++)
      all += state->samples[run];
    if (all < wanted) wanted = all;
    rank_samples(args.runs, wanted, state, samples);
    __syncthreads();
    if (state->winner == NO_SAMPLE) return; /* the runs are not sorted */
    move_ends(args, step, !exactly, state, samples);
    __syncthreads();
    if (!exactly) break;
    count -= wanted * step;
  }
}

/* ---- Tiles ---- */

/* Sets what says where the tile's pieces are. Ends with a barrier. */
template <class Keys>
DEVICE_INLINE void place_pieces(const move_runs_args<Keys> &args, moved_state *state)
{
  if (threadIdx.x <= args.runs) {
    uint32_t offset = 0;
    for (uint32_t run = 0; run < threadIdx.x; run++)
      offset += (uint32_t)(state->end[run] - state->begin[run]);
    state->offsets[threadIdx.x] = offset;
    if (threadIdx.x < args.runs)
      state->units[threadIdx.x] =
          args.run[threadIdx.x].units + state->begin[threadIdx.x] * args.move.each;
  }
  __syncthreads();
}

/* The keys of a tile, by their numbers in it. */
template <class Keys> struct tile_keys {
  const move_runs_args<Keys> &args;
  const moved_state *state;

  DEVICE_MEMBER uint32_t run_of(uint32_t number) const
  {
    uint32_t run = 0;
    for (uint32_t next = 1; next < args.runs; next++)
      run += number >= state->offsets[next];
    return run;
  }
  DEVICE_MEMBER typename Keys::type at(uint32_t number) const
  {
    const uint32_t run = run_of(number);
    return key_at(args, run, state->begin[run] + (number - state->offsets[run]));
  }
};

/* The form of the tile's elements, by the first and the last key of each piece, which the first
 * threads put in shared memory. One barrier. */
template <class Keys>
DEVICE_INLINE element_form<typename Keys::type>
form_tile(const move_runs_args<Keys> &args, const moved_state *state, typename Keys::type *ends)
{
  if (threadIdx.x < args.runs && state->begin[threadIdx.x] < state->end[threadIdx.x]) {
    ends[2 * threadIdx.x] = key_at(args, threadIdx.x, state->begin[threadIdx.x]);
    ends[2 * threadIdx.x + 1] = key_at(args, threadIdx.x, state->end[threadIdx.x] - 1);
  }
  __syncthreads();
  bool is_first = true;
  typename Keys::type least = {}, greatest = {};
  for (uint32_t run = 0; run < args.runs; run++) {
    if (state->offsets[run] == state->offsets[run + 1]) continue;
    if (is_first || ends[2 * run] < least) least = ends[2 * run];
    if (is_first || greatest < ends[2 * run + 1]) greatest = ends[2 * run + 1];
    is_first = false;
  }
  return form_elements(least, greatest < least ? least : greatest, args.tile);
}

/* Writes the elements of the tile's keys. Returns their form, and sets *good to whether the keys of
 * this thread are in its range too: one that is out of order may have any digest. A thread loads
 * its words before it looks at one. One barrier. */
template <class Keys>
DEVICE_INLINE element_form<typename Keys::type>
put_elements(const move_runs_args<Keys> &args, const moved_state *state, typename Keys::type *ends,
             uint32_t *elements, bool *good)
{
  constexpr uint32_t items = moved_items<typename Keys::type>;
  typename Keys::type words[items] = {};
  const uint32_t count = state->offsets[args.runs];
  uint32_t run = 0;
  DEVICE_UNROLL
  for (uint32_t k = 0; k < items; k++) {
    const uint32_t i = threadIdx.x + k * blockDim.x;
    if (i >= count) break;
    while (i >= state->offsets[run + 1])
      run++;
    words[k] = word_at(args, run, state->begin[run] + (i - state->offsets[run]));
  }
  const auto form = form_tile(args, state, ends);
  DEVICE_UNROLL
  for (uint32_t k = 0; k < items; k++) {
    const uint32_t i = threadIdx.x + k * blockDim.x;
    if (i >= count) break;
    const auto code = args.keys.code(words[k]);
    const auto digest = (code - form.digest.least) >> form.digest.shift;
    elements[i] = (uint32_t)digest << form.tag_bits | i;
    *good &= !(code < form.digest.least) && digest >> (32 - form.tag_bits) == 0;
  }
  return form;
}

/* ---- Merging lists ---- */

/* A thread's part of a round: `count` elements of the merge of lists [begin, middle) and [middle,
 * end), from number `rank` on. */
struct list_part {
  uint32_t begin, middle, end;
  uint32_t rank, count;
};

/* Lists are each as many pieces. */
template <uint32_t items>
DEVICE_INLINE list_part part_of_round(const moved_state *state, uint32_t runs, uint32_t pieces)
{
  uint32_t thread = threadIdx.x;
  for (uint32_t run = 0; run < runs; run += 2 * pieces) {
    const uint32_t middle = run + pieces < runs ? run + pieces : runs;
    const uint32_t next = run + 2 * pieces < runs ? run + 2 * pieces : runs;
    const uint32_t begin = state->offsets[run], end = state->offsets[next];
    const uint32_t threads = (end - begin + items - 1) / items, rank = thread * items;
    if (thread < threads) {
      const uint32_t rest = end - begin - rank;
      return {begin, state->offsets[middle], end, rank, rest < items ? rest : items};
    }
    thread -= threads;
  }
  return {0, 0, 0, 0, 0};
}

/* How elements are compared: as numbers; or those of one digest by their keys. */
enum element_rule { BY_ELEMENT, BY_KEY };

template <element_rule rule, class Keys>
DEVICE_INLINE bool left_goes(const tile_keys<Keys> &keys,
                             const element_form<typename Keys::type> &form, uint32_t left,
                             uint32_t right)
{
  if (rule == BY_KEY && left != no_element && right != no_element && form.same_digest(left, right))
    return LEFT_GOES_FIRST(keys.at(form.tag(left)), keys.at(form.tag(right)));
  return left < right;
}

/* Merges a thread's part of a round. */
template <element_rule rule, uint32_t items, class Keys>
DEVICE_INLINE void merge_part(const tile_keys<Keys> &keys,
                              const element_form<typename Keys::type> &form, list_part part,
                              const uint32_t *from, uint32_t *to)
{
  const uint32_t a_count = part.middle - part.begin, b_count = part.end - part.middle;
  const uint32_t *const a = from + part.begin, *const b = from + part.middle;
  uint32_t low = part.rank > b_count ? part.rank - b_count : 0;
  uint32_t high = part.rank < a_count ? part.rank : a_count;
  if (part.count == 0) return;
  while (low < high) { /* PMPP, fig. 12.5 */
    const uint32_t i = (low + high) / 2;
    if (left_goes<rule>(keys, form, a[i], b[part.rank - i - 1]))
      low = i + 1;
    else
      high = i;
  }
  DEVICE_ASSERT(low <= a_count && part.rank - low <= b_count);
  uint32_t i = low, j = part.rank - low;
  uint32_t left = i < a_count ? a[i] : no_element, right = j < b_count ? b[j] : no_element;
  DEVICE_UNROLL
  for (uint32_t k = 0; k < items; k++) {
    const bool is_left = left_goes<rule>(keys, form, left, right);
    if (k < part.count) to[part.begin + part.rank + k] = is_left ? left : right;
    i += is_left;
    j += !is_left;
    const uint32_t at = is_left ? i : part.middle - part.begin + j;
    const uint32_t next = (is_left ? i < a_count : j < b_count) ? a[at] : no_element;
    left = is_left ? next : left;
    right = is_left ? right : next;
  }
}

/* Merges the pieces of a tile, of which elements are in lists[0]. Returns the number of the list
 * that has them in order, the same to all threads. Begins and ends with a barrier. */
template <element_rule rule, uint32_t items, class Keys>
DEVICE_INLINE uint32_t merge_lists(const tile_keys<Keys> &keys,
                                   const element_form<typename Keys::type> &form,
                                   uint32_t *const *lists)
{
  const uint32_t runs = keys.args.runs;
  uint32_t side = 0;
  __syncthreads();
  for (uint32_t pieces = 1; pieces < runs; pieces *= 2, side = 1 - side) {
    merge_part<rule, items>(keys, form, part_of_round<items>(keys.state, runs, pieces), lists[side],
                            lists[1 - side]);
    __syncthreads();
  }
  return side;
}

/* True if record `next` of the tile may follow record `one`. */
template <class Keys>
DEVICE_INLINE bool comes_before(const tile_keys<Keys> &keys, uint32_t one, uint32_t next)
{
  const auto x = keys.at(one), y = keys.at(next);
  return x < y || (x == y && one < next);
}

/* The greatest key before the ends of the pieces; 0 if no key is before them. */
template <class Keys>
DEVICE_INLINE typename Keys::type last_before(const move_runs_args<Keys> &args,
                                              const moved_state *state)
{
  typename Keys::type last = 0;
  for (uint32_t run = 0; run < args.runs; run++) {
    if (state->end[run] == 0) continue;
    const auto key = key_at(args, run, state->end[run] - 1);
    if (last < key) last = key;
  }
  return last;
}

/* True if the tile's records may follow those in front of it, of which *last is the last key: a
 * thread, which replaces it. */
template <class Keys, class Key>
DEVICE_INLINE bool may_follow_tile(const tile_keys<Keys> &keys, const element_form<Key> &form,
                                   uint32_t count, const uint32_t *elements, Key *last)
{
  const bool may = !(keys.at(form.tag(elements[0])) < *last);
  *last = keys.at(form.tag(elements[count - 1]));
  return may;
}

/* Turns elements into the numbers of records: their places in pieces, and above them the runs.
 * Returns whether the records of this thread and those in front of them are in order. Ends with a
 * barrier. */
template <class Keys>
DEVICE_INLINE bool find_places(const tile_keys<Keys> &keys,
                               const element_form<typename Keys::type> &form, uint32_t count,
                               bool looks, const uint32_t *elements, uint32_t *places)
{
  bool good = true;
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const uint32_t next = elements[i], number = form.tag(next), run = keys.run_of(number);
    places[i] = run << PLACE_BITS | (number - keys.state->offsets[run]);
    if (!looks || i == 0) continue;
    const uint32_t one = elements[i - 1];
    good &= form.digest.shift > 0 && form.same_digest(one, next)
                ? comes_before(keys, form.tag(one), number)
                : one < next;
  }
  __syncthreads();
  return good;
}

/* Where the records of a tile come from, in their order. */
struct piece_places {
  const uint32_t *places;
  const moved_state *state;
};

DEVICE_INLINE uint64_t unit_from(const piece_places &from, uint32_t record, uint32_t unit,
                                 uint32_t each)
{
  const uint32_t place = from.places[record];
  return from.state->units[place >> PLACE_BITS] +
         ((place & ((1u << PLACE_BITS) - 1)) * each + unit);
}

/* A block merges a range of the output. Reads the keys, or the words of records that keys are made
 * of, and the records; writes the records in order, and a flag if they are not. Shared memory has 8
 * bytes a record of a tile, and a thread 48 registers, so five blocks of a multiprocessor have
 * room.
 */
template <class Keys>
__global__ void __launch_bounds__(MERGE_TILE_BLOCK, device_blocks(MERGE_TILE_BLOCK, MOVED_BLOCKS))
    move_runs(const __grid_constant__ move_runs_args<Keys> args)
{
  using key = typename Keys::type;
  constexpr uint32_t items = moved_items<key>;
  device_await_before();
  DEVICE_SHARED_ARRAY(moved_state, state, 1);
  DEVICE_SHARED_ARRAY(key, last, 1); /* in front of the tile: one thread knows of it */
  key *const samples = (key *)device_shared_memory();
  uint32_t *const elements = (uint32_t *)(samples + MOVED_RUNS * WARP_SIZE);
  uint32_t *const lists[2] = {elements, elements + args.tile};
  const tile_keys<Keys> keys = {args, state};
  const uint64_t first = blockIdx.x * args.range;
  uint64_t left = plan_min(args.range, args.count - first), at = first;
  bool good = true;
  if (threadIdx.x < args.runs) state->end[threadIdx.x] = 0;
  __syncthreads();
  cut_pieces(args, first, true, state, samples);
  if (args.disorder && threadIdx.x == 0) *last = last_before(args, state);
  while (left > 0) {
    if (threadIdx.x < args.runs) state->begin[threadIdx.x] = state->end[threadIdx.x];
    cut_pieces(args, plan_min(left, args.tile), left <= args.tile, state, samples);
    place_pieces(args, state);
    const uint32_t count = state->offsets[args.runs];
    if (count == 0 || count > left || count > args.tile) { /* the runs are not sorted */
      good = false;
      break;
    }
    const auto form = put_elements(args, state, samples, lists[0], &good);
    uint32_t side = merge_lists<BY_ELEMENT, items>(keys, form, lists);
    if (!repair_order(lists[side], count, keys, form)) {
      (void)put_elements(args, state, samples, lists[0], &good);
      side = merge_lists<BY_KEY, items>(keys, form, lists);
    }
    if (args.disorder && threadIdx.x == 0)
      good &= may_follow_tile(keys, form, count, lists[side], last);
    good &= find_places(keys, form, count, args.disorder != NULL, lists[side], lists[1 - side]);
    move_records<MOVED_UNITS>(&args.move, at, piece_places{lists[1 - side], state}, count);
    at += count;
    left -= count;
  }
  if (args.disorder && !good) device_poke32(args.disorder, 1);
}

/* ---- Launch ---- */

/* Units of the records of all pieces, which are counted from the first piece in memory. */
static inline record_units units_of_pieces(const device_piece *pieces, uint32_t count,
                                           const device_merge_move *move, uint32_t block)
{
  const void *first = pieces[0].records;
  uintptr_t all = 0;
  for (uint32_t p = 0; p < count; p++) {
    if ((uintptr_t)pieces[p].records < (uintptr_t)first) first = pieces[p].records;
    all |= (uintptr_t)pieces[p].records;
  }
  record_units units = record_units_of((const void *)all, move->to, move->size, block);
  units.from = first;
  return units;
}

/* As many blocks as run at once, so that each looks for the begin of its range once. */
template <class Keys>
static device_status start_move_runs(const device_job *job, const device_piece *pieces,
                                     uint32_t count, Keys keys, const device_merge_move *move)
{
  using key = typename Keys::type;
  RS_ASSERT(count > 0 && count <= MOVED_RUNS);
  const move_plan plan = move_plan_of(job, moved_items<key>, sizeof(key));
  move_runs_args<Keys> args = {};
  args.keys = keys;
  args.runs = count;
  args.tile = plan.tile;
  args.count = job->count;
  args.range = plan_blocks(job->count, plan_min(plan_blocks(job->count, plan.tile),
                                                job->multiprocessors * MOVED_BLOCKS));
  args.move = units_of_pieces(pieces, count, move, plan.block);
  args.disorder = move->disorder;
  uint64_t all = 0;
  for (uint32_t p = 0; p < count; p++)
    all += pieces[p].count;
  RS_ASSERT(all == job->count);
  for (uint32_t p = 0; p < count; p++)
    args.run[p] = {(const char *)pieces[p].keys,
                   ((uintptr_t)pieces[p].records - (uintptr_t)args.move.from) / args.move.unit,
                   pieces[p].count};
  return device_launch(move_runs<Keys>, plan_blocks(job->count, args.range), plan.block,
                       move_bytes(&plan, sizeof(key)), job->stream, args);
}

/* Merges pieces, of which none is empty: see device_merge_records. job->key_width is that of Key.
 */
template <class Key>
static device_status moved_runs(const device_job *job, const device_piece *pieces, uint32_t count,
                                const device_merge_move *move)
{
  const device_words *const words = move->words;
  if constexpr (sizeof(Key) <= sizeof(uint64_t))
    if (words)
      return start_move_runs(job, pieces, count,
                             made_keys<Key>{(uint32_t)words->stride, words->code}, move);
  return start_move_runs(job, pieces, count, stored_keys<Key>{}, move);
}

} // namespace merge

#endif
