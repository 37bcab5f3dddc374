/* head.cu - the first records of the order.
 *
 *   find_minima    cuts the records into groups, and finds the first record of each
 *   narrow         keeps the first `head` of these, or up to twice as many. No record beyond the
 *                  last of them is wanted, as `head` others come before it
 *   collect        reads the groups of those again, and collects the records that are not beyond
 *                  the last of them: other groups have none
 *   narrow         again, of the records that were collected, if they are many
 *   rank_pairs     counts how many come before each, which is its place
 *
 * Each record is read once, and those of a few groups again. In most inputs hardly more than `head`
 * records are collected, and in none more than two groups for each. Which records are wanted, and
 * that all of them are collected, depends on no guess: an unlucky input takes longer in the second
 * `narrow`, which one block does.
 *
 * A group is a strand of a matrix of records, 8 neighbours wide: then `collect` reads few sectors
 * of memory. From row to row the strands are turned by some strips of 64, at random: so what comes
 * in regular distances is in several groups.
 */
#include "cuda/plan.h"
#include "cuda/records/reading.cuh"
#include "gpu/device_head.h"

#ifndef HEAD_LEAST
#define HEAD_LEAST (1 << 19) /* fewer records are sorted faster, */
#define HEAD_MANY (1 << 21)  /* and below this number unless very few are wanted */
#endif

namespace
{

using namespace records;

enum {
  WIDE = 8,            /* records of a strand in a row */
  STRIP = 64,          /* strands of a block */
  MOST_STRIPS = 256,   /* blocks that an H200 runs at a time */
  LEAST_ROWS = 2,      /* of a group */
  GROUPS_A_RECORD = 8, /* groups for each record that is wanted, */
  GROUPS_IF_FEW = 64,  /* below HEAD_MANY */
  SLACK = 2,           /* narrow leaves up to so many times as many as are wanted, */
  RANKED = 4,          /* and rank_pairs takes so many times as many */
  DIGIT_BITS = 8,
  DIGITS = 1 << DIGIT_BITS
};

/* A key, and below it the index of its record: one number, least significant word first. */
struct pair {
  uint64_t words[3];
};

DEVICE_INLINE bool key_is_less(const pair &a, const pair &b)
{
  return a.words[2] != b.words[2] ? a.words[2] < b.words[2] : a.words[1] < b.words[1];
}

DEVICE_INLINE bool is_less(const pair &a, const pair &b)
{
  const bool tie = a.words[2] == b.words[2] && a.words[1] == b.words[1];
  return tie ? a.words[0] < b.words[0] : key_is_less(a, b);
}

/* The least pair, or the greatest one. */
DEVICE_INLINE pair pair_of(uint64_t word)
{
  return {{word, word, word}};
}

struct matrix {
  uint64_t count; /* records */
  uint64_t rows;
  uint32_t strands;
};

/* Memory of the device: what the kernels pass on. */
struct workspace {
  pair *minima, *chosen, *collected, *last;
  pair *bound; /* of the groups' first records */
  uint64_t *chosen_count, *collected_count, *last_count;
};

struct read_args : record_source {
  matrix shape;
};

/* By how many strands a row is turned: a number of strips. */
DEVICE_INLINE uint32_t turn_of(const matrix &shape, uint64_t row)
{
  uint32_t mixed = (uint32_t)row * 0x9e3779b9;
  mixed = (mixed ^ mixed >> 15) * 0x85ebca6b;
  mixed ^= mixed >> 13;
  return (uint32_t)(device_product(mixed, shape.strands / STRIP) >> 32) * STRIP;
}

/* A strand's record number `lane` in a row. */
DEVICE_INLINE uint64_t record_at(const matrix &shape, uint32_t strand, uint32_t lane, uint64_t row)
{
  const uint32_t turned = strand + turn_of(shape, row);
  const uint32_t place = turned < shape.strands ? turned : turned - shape.strands;
  return row * shape.strands * WIDE + (place * WIDE + lane);
}

/* The inverse. */
DEVICE_INLINE uint32_t strand_of(const matrix &shape, uint64_t record)
{
  const uint64_t row = record / WIDE / shape.strands;
  const uint32_t turned = (uint32_t)(record / WIDE % shape.strands), turn = turn_of(shape, row);
  return turned >= turn ? turned - turn : turned + shape.strands - turn;
}

template <reading How> DEVICE_INLINE pair read_pair(const read_args &args, uint64_t at, bool *valid)
{
  const record_key key = key_with<How>(args, at, load_word<How>(args, at), valid);
  return {{at, key.words[0], key.words[1]}};
}

/* ---- minima ---- */

struct minima_args {
  static constexpr uint32_t max_threads = STRIP * WIDE;
  read_args from;
  workspace to;
};

/* The first record that a thread has seen. */
struct first_seen {
  record_key key;
  uint32_t row;
  bool any;
};

/* Rows ascend, so the first of equal keys stays. A key that is a word is in words[0]. */
template <reading How>
DEVICE_INLINE void note_less(first_seen *best, const record_key &key, uint64_t row)
{
  const bool high_ties = How < FIELDS || key.words[1] == best->key.words[1];
  const bool less =
      high_ties ? key.words[0] < best->key.words[0] : key.words[1] < best->key.words[1];
  if (best->any && !less) return;
  *best = {key, (uint32_t)row, true};
}

/* A block has a strip of strands, and a thread one record of each row. */
template <reading How>
__global__ void __launch_bounds__(minima_args::max_threads,
                                  device_blocks(minima_args::max_threads, 2))
    find_minima(const __grid_constant__ minima_args args)
{
  enum { BATCH = How == WORDS_OF_4 ? 16 : How == WORDS_OF_8 ? 8 : 1 };
  DEVICE_SHARED_ARRAY(pair, found, minima_args::max_threads);
  device_await_before();
  const matrix &shape = args.from.shape;
  const uint32_t lane = threadIdx.x % WIDE;
  const uint32_t strand = blockIdx.x * STRIP + threadIdx.x / WIDE;
  const uint64_t whole = shape.count / ((uint64_t)shape.strands * WIDE);
  uint64_t row = 0;
  first_seen best = {{{UINT64_MAX, UINT64_MAX}}, 0, false};
  bool valid = true;
  const auto load_rows = [&](uint64_t first, uint64_t *words) {
    DEVICE_UNROLL
    for (uint32_t i = 0; i < BATCH; i++)
      words[i] = load_word<How>(args.from, record_at(shape, strand, lane, first + i));
  };
  uint64_t words[BATCH] = {};
  if (whole >= BATCH) load_rows(0, words);
  for (; row + (BATCH - 1) < whole; row += BATCH) {
    uint64_t next[BATCH] = {};
    if (row + (2 * BATCH - 1) < whole) load_rows(row + BATCH, next);
    DEVICE_UNROLL
    for (uint32_t i = 0; i < BATCH; i++) {
      const uint64_t at = How < FIELDS ? 0 : record_at(shape, strand, lane, row + i);
      note_less<How>(&best, key_with<How>(args.from, at, words[i], &valid), row + i);
      words[i] = next[i];
    }
  }
  for (; row < shape.rows; row++) {
    const uint64_t at = record_at(shape, strand, lane, row);
    if (at >= shape.count) continue;
    note_less<How>(&best, key_with<How>(args.from, at, load_word<How>(args.from, at), &valid), row);
  }
  if (!valid) args.from.facts->invalid = 1;
  pair least = pair_of(UINT64_MAX);
  if (best.any)
    least = {{record_at(shape, strand, lane, best.row), best.key.words[0], best.key.words[1]}};
  found[threadIdx.x] = least;
  if (blockIdx.x == 0 && threadIdx.x == 0) *args.to.collected_count = 0;
  __syncthreads();
  if (lane != 0) return;
  for (uint32_t i = 1; i < WIDE; i++)
    if (is_less(found[threadIdx.x + i], least)) least = found[threadIdx.x + i];
  args.to.minima[strand] = least;
}

/* ---- narrow ---- */

struct narrow_args {
  static constexpr uint32_t max_threads = 1024;
  const pair *from;
  const uint64_t *from_count; /* NULL: `all` */
  uint64_t all;
  pair *to;
  uint64_t *to_count;
  pair *bound; /* the greatest that was kept, or a pair above it; NULL: not wanted */
  uint64_t head;
  uint64_t most; /* nothing is done if there are no more pairs */
  uint32_t top;  /* the most significant word that is not 0 in all pairs */
};

/* The pairs that are left to choose from are those from `low` to `high`; `below` are less. */
struct interval {
  pair low, high;
  uint64_t below;
  uint32_t shift; /* of the next digit */
  bool done;
};

/* DIGIT_BITS bits from bit `shift` on. */
DEVICE_INLINE uint32_t digit_of(const pair &one, uint32_t shift)
{
  const uint32_t word = shift / 64, bit = shift % 64;
  uint64_t bits = one.words[word] >> bit;
  if (bit > 64 - DIGIT_BITS && word < 2) bits |= one.words[word + 1] << (64 - bit);
  return (uint32_t)bits % DIGITS;
}

/* ORs a digit into bits that are 0. */
DEVICE_INLINE void put_digit(pair *one, uint32_t shift, uint32_t digit)
{
  const uint32_t word = shift / 64, bit = shift % 64;
  one->words[word] |= (uint64_t)digit << bit;
  if (bit > 64 - DIGIT_BITS && word < 2) one->words[word + 1] |= (uint64_t)digit >> (64 - bit);
}

/* The interval of all pairs that begin as `least` and `greatest` do. */
DEVICE_INLINE interval first_interval(const pair &least, const pair &greatest)
{
  interval found = {least, greatest, 0, 0, false};
  uint32_t word = 2;
  while (word > 0 && least.words[word] == greatest.words[word])
    word--;
  const uint64_t differing = least.words[word] ^ greatest.words[word];
  const uint32_t top = word * 64 + 63 - (differing ? device_clz64(differing) : 63);
  found.shift = top < DIGIT_BITS ? 0 : top + 1 - DIGIT_BITS;
  for (uint32_t w = 0; w < 3; w++) { /* the bits up to `top` become 0, or 1 */
    const uint32_t bits = top + 1 <= w * 64 ? 0 : top + 1 - w * 64;
    const uint64_t free = bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    found.low.words[w] &= ~free;
    found.high.words[w] |= free;
  }
  return found;
}

/* Continues with the digit that pair number `head` has. By the first warp. */
DEVICE_INLINE void choose_digit(interval *range, const uint32_t *counts, uint64_t head)
{
  enum { EACH = DIGITS / WARP_SIZE };
  const uint32_t lane = threadIdx.x;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < EACH; i++)
    sum += counts[lane * EACH + i];
  uint32_t up_to = sum;
  for (uint32_t by = 1; by < WARP_SIZE; by *= 2) {
    const uint32_t other = __shfl_up_sync(UINT32_MAX, up_to, by);
    if (lane >= by) up_to += other;
  }
  const uint64_t wanted = head - range->below;
  const uint32_t reached = device_ballot(up_to >= wanted);
  if (lane != device_first_lane(reached)) return;
  uint32_t digit = lane * EACH;
  uint64_t before = up_to - sum;
  for (; before + counts[digit] < wanted; digit++)
    before += counts[digit];
  range->below += before;
  range->done = range->below + counts[digit] <= SLACK * head;
  pair bits = pair_of(0);
  put_digit(&bits, range->shift, DIGITS - 1);
  for (uint32_t w = 0; w < 3; w++) {
    range->low.words[w] &= ~bits.words[w];
    range->high.words[w] &= ~bits.words[w];
  }
  put_digit(&range->low, range->shift, digit);
  put_digit(&range->high, range->shift, digit);
  range->shift = range->shift < DIGIT_BITS ? 0 : range->shift - DIGIT_BITS;
}

/* The least pair of the warp, or the greatest one, for all lanes. */
template <bool Least> DEVICE_INLINE pair warp_extreme(pair one)
{
  DEVICE_UNROLL
  for (uint32_t by = WARP_SIZE / 2; by > 0; by /= 2) {
    pair other;
    for (uint32_t w = 0; w < 3; w++)
      other.words[w] = __shfl_xor_sync(UINT32_MAX, one.words[w], by);
    if (Least ? is_less(other, one) : is_less(one, other)) one = other;
  }
  return one;
}

enum { NARROW_WARPS = narrow_args::max_threads / WARP_SIZE }; /* as many as a warp has lanes */

/* The same of the block, for all threads. */
template <bool Least> DEVICE_INLINE pair find_extreme(pair one, pair *shared)
{
  one = warp_extreme<Least>(one);
  __syncthreads();
  if (threadIdx.x % WARP_SIZE == 0) shared[threadIdx.x / WARP_SIZE] = one;
  __syncthreads();
  return warp_extreme<Least>(shared[threadIdx.x % WARP_SIZE]);
}

/* The most significant words of the pairs, if there are not more: most often they suffice, and a
 * thread has its own in registers. */
struct top_words {
  enum { EACH = MOST_STRIPS * STRIP / narrow_args::max_threads };
  bool fit;
  uint32_t top;
  uint64_t words[EACH];
};

DEVICE_INLINE top_words load_tops(const narrow_args &args, uint64_t count)
{
  top_words tops = {count <= top_words::EACH * narrow_args::max_threads, args.top, {}};
  DEVICE_UNROLL
  for (uint32_t e = 0; e < top_words::EACH; e++) {
    const uint64_t i = (uint64_t)e * narrow_args::max_threads + threadIdx.x;
    tops.words[e] = tops.fit && i < count ? args.from[i].words[args.top] : UINT64_MAX;
  }
  return tops;
}

/* The pair with that top word, and `rest` in those below it. */
DEVICE_INLINE pair pair_with_top(uint32_t top, uint64_t word, uint64_t rest)
{
  return {{rest, top == 2 ? rest : word, top == 2 ? word : 0}};
}

/* An interval that all pairs are in. By all threads. */
DEVICE_INLINE interval survey(const narrow_args &args, const top_words &tops, uint64_t count,
                              pair *shared)
{
  pair least = pair_of(UINT64_MAX), greatest = pair_of(0);
  if (tops.fit) {
    uint64_t low = UINT64_MAX, high = 0;
    DEVICE_UNROLL
    for (uint32_t e = 0; e < top_words::EACH; e++) {
      const bool is_one = (uint64_t)e * narrow_args::max_threads + threadIdx.x < count;
      low = plan_min(low, tops.words[e]);
      if (is_one) high = plan_max(high, tops.words[e]);
    }
    least = pair_with_top(tops.top, low, 0);
    greatest = pair_with_top(tops.top, high, UINT64_MAX);
  }
  DEVICE_UNROLL_BY_4
  for (uint64_t i = threadIdx.x; i < count && !tops.fit; i += narrow_args::max_threads) {
    const pair one = args.from[i];
    if (is_less(one, least)) least = one;
    if (is_less(greatest, one)) greatest = one;
  }
  least = find_extreme<true>(least, shared);
  greatest = find_extreme<false>(greatest, shared);
  return first_interval(least, greatest);
}

/* Counts the next digit of the pairs that are in an interval. By all threads. */
DEVICE_INLINE void count_digits(const narrow_args &args, const top_words &tops, uint64_t count,
                                const interval &range, uint32_t *counts)
{
  const uint32_t first = tops.top * 64;
  const uint64_t low = range.low.words[tops.top], high = range.high.words[tops.top];
  if (tops.fit && range.shift >= first) {
    DEVICE_UNROLL
    for (uint32_t e = 0; e < top_words::EACH; e++) {
      const uint64_t i = (uint64_t)e * narrow_args::max_threads + threadIdx.x, word = tops.words[e];
      if (i < count && word >= low && word <= high)
        device_add32(&counts[(word >> (range.shift - first)) % DIGITS], 1);
    }
    return;
  }
  DEVICE_UNROLL_BY_4
  for (uint64_t i = threadIdx.x; i < count; i += narrow_args::max_threads) {
    const pair one = args.from[i];
    if (!is_less(one, range.low) && !is_less(range.high, one))
      device_add32(&counts[digit_of(one, range.shift)], 1);
  }
}

/* Takes a place for each lane that wants one, from *taken on. By all lanes of a warp. */
DEVICE_INLINE uint64_t take_place(uint64_t *taken, bool wanted)
{
  const uint32_t takers = device_ballot(wanted), lane = threadIdx.x % WARP_SIZE;
  if (takers == 0) return 0;
  const uint32_t first = device_first_lane(takers);
  uint64_t place = 0;
  if (lane == first) place = device_add64(taken, device_popc(takers));
  place = __shfl_sync(UINT32_MAX, place, first);
  return place + device_popc(takers & ((1u << lane) - 1));
}

/* Keeps a pair unless it is above `high`. By all lanes of a warp; some have none. */
DEVICE_INLINE void keep_pair(const narrow_args &args, uint64_t i, bool keeps, const pair &high,
                             uint64_t *kept)
{
  pair one = high;
  if (keeps) one = args.from[i];
  keeps = keeps && !is_less(high, one);
  const uint64_t place = take_place(kept, keeps);
  if (keeps) args.to[place] = one;
}

/* Keeps the pairs that are not above `high`. By all threads. */
DEVICE_INLINE void keep_pairs(const narrow_args &args, const top_words &tops, uint64_t count,
                              const pair &high, uint64_t *kept)
{
  const uint64_t top = high.words[tops.top];
  if (tops.fit) {
    DEVICE_UNROLL
    for (uint32_t e = 0; e < top_words::EACH; e++) {
      const uint64_t i = (uint64_t)e * narrow_args::max_threads + threadIdx.x;
      keep_pair(args, i, i < count && tops.words[e] <= top, high, kept);
    }
    return;
  }
  for (uint64_t begin = 0; begin < count; begin += narrow_args::max_threads)
    keep_pair(args, begin + threadIdx.x, begin + threadIdx.x < count, high, kept);
}

/* Keeps the first `head` pairs, or up to SLACK times as many; all if there are no more. One block.
 */
__global__ void __launch_bounds__(narrow_args::max_threads)
    narrow(const __grid_constant__ narrow_args args)
{
  DEVICE_SHARED_ARRAY(pair, shared, NARROW_WARPS);
  DEVICE_SHARED_ARRAY(uint32_t, counts, DIGITS);
  DEVICE_SHARED_ARRAY(interval, range, 1);
  DEVICE_SHARED_ARRAY(uint64_t, kept, 1);
  device_await_before();
  const uint64_t count = args.from_count ? *args.from_count : args.all;
  if (count <= args.most) return;
  const top_words tops = load_tops(args, count);
  interval first = {pair_of(0), pair_of(UINT64_MAX), 0, 0, true};
  if (count > SLACK * args.head) first = survey(args, tops, count, shared);
  if (threadIdx.x == 0) {
    *range = first;
    *kept = 0;
  }
  __syncthreads();
  while (!range->done) {
    if (threadIdx.x < DIGITS) counts[threadIdx.x] = 0;
    __syncthreads();
    count_digits(args, tops, count, *range, counts);
    __syncthreads();
    if (threadIdx.x < WARP_SIZE) choose_digit(range, counts, args.head);
    __syncthreads();
  }
  const pair high = range->high;
  keep_pairs(args, tops, count, high, kept);
  __syncthreads();
  if (threadIdx.x != 0) return;
  *args.to_count = *kept;
  if (args.bound) *args.bound = high;
}

/* ---- collect ---- */

struct collect_args {
  static constexpr uint32_t max_threads = 256;
  read_args from;
  workspace to;
};

/* A block reads one group after the other. */
template <reading How>
__global__ void __launch_bounds__(collect_args::max_threads)
    collect(const __grid_constant__ collect_args args)
{
  device_await_before();
  const matrix &shape = args.from.shape;
  const pair bound = *args.to.bound;
  const uint64_t groups = *args.to.chosen_count;
  bool valid = true;
  for (uint64_t g = blockIdx.x; g < groups; g += gridDim.x) {
    const uint32_t strand = strand_of(shape, args.to.chosen[g].words[0]);
    for (uint64_t first = 0; first < shape.rows * WIDE; first += blockDim.x) {
      const uint64_t row = (first + threadIdx.x) / WIDE;
      const uint64_t at = record_at(shape, strand, threadIdx.x % WIDE, row);
      pair one = pair_of(UINT64_MAX);
      if (at < shape.count) one = read_pair<How>(args.from, at, &valid);
      const bool taken = at < shape.count && !is_less(bound, one);
      const uint64_t place = take_place(args.to.collected_count, taken);
      if (taken) args.to.collected[place] = one;
    }
  }
}

/* ---- rank ---- */

struct rank_args {
  static constexpr uint32_t max_threads = 256;
  workspace from; /* the pairs that were collected; if they are more than `most`, the last ones */
  uint64_t most;
  uint64_t head;
  void *order;
  uint32_t index_bits;
};

/* A warp counts the pairs before one. */
__global__ void __launch_bounds__(rank_args::max_threads)
    rank_pairs(const __grid_constant__ rank_args args)
{
  device_await_before();
  const bool few = *args.from.collected_count <= args.most;
  const uint64_t count = few ? *args.from.collected_count : *args.from.last_count;
  const pair *const pairs = few ? args.from.collected : args.from.last;
  const uint64_t mine = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP_SIZE;
  const uint64_t lane = threadIdx.x % WARP_SIZE;
  if (mine >= count) return;
  const pair one = pairs[mine];
  uint32_t before = 0;
  for (uint64_t i = lane; i < count; i += WARP_SIZE)
    before += is_less(pairs[i], one);
  before = device_warp_sum(before);
  if (lane != 0 || before >= args.head) return;
  if (args.index_bits == 32)
    ((uint32_t *)args.order)[before] = (uint32_t)one.words[0];
  else
    ((uint64_t *)args.order)[before] = one.words[0];
}

/* ---- The plan ---- */

matrix shape_of(uint64_t count)
{
  const uint64_t strips = plan_clamp(count / (LEAST_ROWS * STRIP * WIDE), 1, MOST_STRIPS);
  return {count, plan_blocks(count, strips * STRIP * WIDE), (uint32_t)strips * STRIP};
}

/* Divides `memory`; returns how much. NULL: only adds up. */
uint64_t divide(const matrix &shape, uint64_t head, char *memory, workspace *work)
{
  uint64_t used = 0;
  const auto take = [&](uint64_t pairs) {
    pair *const taken = memory ? (pair *)(memory + used) : NULL;
    used += pairs * sizeof(pair);
    return taken;
  };
  pair *const counts = take(1);
  work->chosen_count = counts ? &counts->words[0] : NULL;
  work->collected_count = counts ? &counts->words[1] : NULL;
  work->last_count = counts ? &counts->words[2] : NULL;
  work->bound = take(1);
  work->minima = take(shape.strands);
  work->chosen = take(SLACK * head);
  work->last = take(SLACK * head);
  work->collected = take(SLACK * head * shape.rows * WIDE);
  return used;
}

template <reading How>
device_status find(const device_head *job, const read_args &from, const workspace &work)
{
  const minima_args minima = {from, work};
  const uint32_t top = from.program.key_width > 64 ? 2 : 1;
  const uint64_t most = RANKED * job->head;
  const narrow_args groups = {
      work.minima, NULL, from.shape.strands, work.chosen, work.chosen_count, work.bound, job->head,
      0,           top};
  const collect_args collected = {from, work};
  const narrow_args records = {work.collected,
                               work.collected_count,
                               0,
                               work.last,
                               work.last_count,
                               NULL,
                               job->head,
                               most,
                               top};
  const rank_args ranked = {work, most, job->head, job->order, job->index_bits};
  const uint64_t warps = rank_args::max_threads / WARP_SIZE;
  void *const on = job->stream;
  device_status status = device_launch(find_minima<How>, from.shape.strands / STRIP,
                                       minima_args::max_threads, 0, on, minima);
  if (!status) status = device_launch(narrow, 1, narrow_args::max_threads, 0, on, groups);
  if (!status)
    status =
        device_launch(collect<How>, SLACK * job->head, collect_args::max_threads, 0, on, collected);
  if (!status) status = device_launch(narrow, 1, narrow_args::max_threads, 0, on, records);
  if (!status)
    status =
        device_launch(rank_pairs, plan_blocks(most, warps), rank_args::max_threads, 0, on, ranked);
  return status;
}

} // namespace

bool device_head_suits(uint64_t count, uint64_t head)
{
  const uint32_t groups = count < HEAD_MANY ? GROUPS_IF_FEW : GROUPS_A_RECORD;
  return count >= HEAD_LEAST && head <= shape_of(count).strands / groups;
}

uint64_t device_head_bytes(uint64_t count, uint64_t head)
{
  workspace work;
  return divide(shape_of(count), head, NULL, &work);
}

device_status device_head_find(const device_head *job)
{
  const read_args from = {source_of(job->program, job->records, job->facts), shape_of(job->count)};
  workspace work;
  (void)divide(from.shape, job->head, (char *)job->memory, &work);
  return with_reading(from, [&](auto how) { return find<how>(job, from, work); });
}
