/* narrow.cuh - keeps the first pairs of many, digit by digit. */
#ifndef RECSORT_CUDA_HEAD_NARROW_CUH
#define RECSORT_CUDA_HEAD_NARROW_CUH

#include "cuda/head/matrix.cuh"

namespace head
{

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
  DEVICE_ASSERT(shift + DIGIT_BITS <= 192);
  const uint32_t word = shift / 64, bit = shift % 64;
  uint64_t bits = one.words[word] >> bit;
  if (bit > 64 - DIGIT_BITS && word < 2) bits |= one.words[word + 1] << (64 - bit);
  return (uint32_t)bits % DIGITS;
}

/* ORs a digit into bits that are 0. */
DEVICE_INLINE void put_digit(pair *one, uint32_t shift, uint32_t digit)
{
  DEVICE_ASSERT(digit < DIGITS && shift < 192);
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
  DEVICE_ASSERT(top < 192);
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
  DEVICE_ASSERT(range->below < head);
  const uint32_t reached = device_ballot(up_to >= wanted);
  DEVICE_ASSERT(reached != 0);
  if (lane != device_first_lane(reached)) return;
  uint32_t digit = lane * EACH;
  uint64_t before = up_to - sum;
  for (; before + counts[digit] < wanted; digit++)
    before += counts[digit];
  DEVICE_ASSERT(digit < DIGITS);
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
  DEVICE_ASSERT(top == 1 || top == 2);
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

/* Reads pairs. Writes the first `head` of them, or up to SLACK times as many, or all if there are
 * no more; and how many, and their bound.
 *
 * One block, as the choice of a digit needs the counts of all pairs, and blocks cannot wait for
 * each other. Its time is that of waiting for loads, so a thread keeps what it needs of its pairs
 * in registers, if they fit. */
template <class = void>
__global__ void __launch_bounds__(narrow_args::max_threads)
    narrow(const __grid_constant__ narrow_args args)
{
  DEVICE_SHARED_ARRAY(pair, shared, NARROW_WARPS);
  DEVICE_SHARED_ARRAY(uint32_t, counts, DIGITS);
  DEVICE_SHARED_ARRAY(interval, range, 1);
  DEVICE_SHARED_ARRAY(uint64_t, kept, 1);
  device_await_before();
  const uint64_t count = args.from_count ? *args.from_count : args.all;
  DEVICE_ASSERT(args.head > 0);
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
  DEVICE_ASSERT(*kept >= plan_min(count, args.head));
  *args.to_count = *kept;
  if (args.bound) *args.bound = high;
}

} // namespace head

#endif
