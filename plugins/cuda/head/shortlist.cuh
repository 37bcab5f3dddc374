/* shortlist.cuh - the first few of the keys that a block has seen.
 *
 * A block reads keys batch by batch. Its list has the codes of those that may be wanted, each with
 * its place: where the key is in its segment. Once `head` of them are known, none beyond the last
 * of these is wanted: that is the bound of the list, and hardly a key of the later batches comes
 * before it. If list and batch together have more than there is room for, they are cut: digit by
 * digit, list and batch are counted, until not many more than `head` are left.
 *
 * A code is the unsigned integer that has the order of its key. Of equal codes, those in earlier
 * places come first, so what is left depends on no race. */
#ifndef RECSORT_CUDA_HEAD_SHORTLIST_CUH
#define RECSORT_CUDA_HEAD_SHORTLIST_CUH

#include "cuda/device.h"
#include "cuda/plan.h"

namespace head
{

enum {
  LIST_BLOCK = 512, /* threads */
  LIST_WARPS = LIST_BLOCK / WARP_SIZE,
  LIST_DIGIT = 11, /* bits */
  LIST_BINS = 1 << LIST_DIGIT,
  LIST_BINS_EACH = LIST_BINS / LIST_BLOCK,
  LIST_MOST = 1024 /* that may be wanted */
};

/* How many codes a list has room for. Four digits fit beside it in 48 KiB. */
template <class Code> constexpr uint32_t list_room = sizeof(Code) == 4 ? 4096 : 3072;

/* What a cut leaves at most: fewer would take another digit, often for nothing. */
RECSORT_HD static inline uint32_t list_kept(uint32_t head)
{
  return head + head / 4 + 64;
}

/* What the threads of a block tell each other. */
struct list_words {
  uint32_t added[3]; /* of this batch; the next one; the one before */
  uint32_t kept;
  uint64_t varied;
  uint32_t sums[LIST_WARPS];
  uint32_t digit, below, inside;
};

/* All threads have the same in it. */
template <class Code> struct shortlist {
  Code *codes;
  uint32_t *places;
  uint32_t *bins; /* 0 between the cuts */
  list_words *words;
  uint32_t head, held;
  uint32_t turn; /* which of `added` */
  bool bounded;
  Code bound;
  uint32_t bound_place;
};

/* The keys of a batch that a thread has: those of them whose bits are set in `wanted`. */
template <class Code, uint32_t Each> struct list_batch {
  Code codes[Each];
  uint32_t places[Each], wanted;
};

template <class Code> static constexpr uint64_t list_bytes()
{
  return list_room<Code> * (sizeof(Code) + sizeof(uint32_t)) + LIST_BINS * sizeof(uint32_t);
}

/* An empty list in the dynamic shared memory. What the threads still read of a list that was sorted
 * or cut before is written only after the barrier. By all threads; one barrier. */
template <class Code>
DEVICE_INLINE shortlist<Code> begin_list(void *shared, list_words *words, uint32_t head)
{
  DEVICE_ASSERT(head > 0 && head <= LIST_MOST);
  Code *const codes = (Code *)shared;
  uint32_t *const places = (uint32_t *)(codes + list_room<Code>);
  const shortlist<Code> list = {codes, places, places + list_room<Code>, words, head, 0, 0, false,
                                0,     0};
  for (uint32_t i = threadIdx.x; i < LIST_BINS; i += LIST_BLOCK)
    list.bins[i] = 0;
  if (threadIdx.x == 0) {
    words->added[0] = 0;
    words->varied = 0;
  }
  __syncthreads();
  return list;
}

/* Takes `mine` places of a count. By all lanes of a warp, which takes its places at once: atomic
 * operations on one address come one after the other. */
DEVICE_INLINE uint32_t take_places(uint32_t *taken, uint32_t mine)
{
  if (!device_ballot(mine != 0)) return 0;
  uint32_t up_to = mine, first = 0;
  DEVICE_UNROLL
  for (uint32_t by = 1; by < WARP_SIZE; by *= 2) {
    const uint32_t other = __shfl_up_sync(UINT32_MAX, up_to, by);
    if (threadIdx.x % WARP_SIZE >= by) up_to += other;
  }
  if (threadIdx.x % WARP_SIZE == WARP_SIZE - 1) first = device_add32(taken, up_to);
  return __shfl_sync(UINT32_MAX, first, WARP_SIZE - 1) + up_to - mine;
}

/* Writes what a thread has to the list, from `at` on. */
template <class Code, uint32_t Each>
DEVICE_INLINE void put_batch(const shortlist<Code> &list, const list_batch<Code, Each> &batch,
                             uint32_t at)
{
  DEVICE_UNROLL
  for (uint32_t e = 0; e < Each; e++)
    if (batch.wanted >> e & 1) {
      DEVICE_ASSERT(at < list_room<Code>);
      list.codes[at] = batch.codes[e];
      list.places[at++] = batch.places[e];
    }
}

/* ---- Cuts ---- */

/* The codes from `low` to `high`, and, if these are equal, the places likewise, are left to choose
 * from; `below` come before them, `inside` are these. */
template <class Code> struct list_range {
  Code low, high;
  uint32_t place_low, place_high;
  uint32_t below, inside;
};

template <class Code>
DEVICE_INLINE bool is_within(const list_range<Code> &range, Code code, uint32_t place)
{
  return code < range.high || (code == range.high && place <= range.place_high);
}

/* A number whose bits are set where codes of list and batch differ from `like`, and maybe
 * elsewhere. `varied` is 0 before and after. By all threads; two barriers. */
template <class Code, uint32_t Each>
DEVICE_INLINE Code varied_bits(const shortlist<Code> &list, const list_batch<Code, Each> &batch,
                               Code like)
{
  Code bits = 0;
  for (uint32_t i = threadIdx.x; i < list.held; i += LIST_BLOCK)
    bits |= list.codes[i] ^ like;
  DEVICE_UNROLL
  for (uint32_t e = 0; e < Each; e++)
    if (batch.wanted >> e & 1) bits |= batch.codes[e] ^ like;
  DEVICE_UNROLL
  for (uint32_t by = WARP_SIZE / 2; by > 0; by /= 2)
    bits |= __shfl_xor_sync(UINT32_MAX, bits, by);
  if (threadIdx.x % WARP_SIZE == 0 && bits) (void)device_or64(&list.words->varied, bits);
  __syncthreads();
  bits = (Code)list.words->varied;
  __syncthreads();
  if (threadIdx.x == 0) list.words->varied = 0;
  return bits;
}

/* Finds the digit that the last wanted one has, whose counts are in the bins, and clears these. By
 * all threads; three barriers. */
template <class Code> DEVICE_INLINE void choose_digit(const shortlist<Code> &list, uint32_t below)
{
  uint32_t counts[LIST_BINS_EACH], sum = 0, before = 0;
  const uint32_t lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
  uint32_t *const mine = list.bins + threadIdx.x * LIST_BINS_EACH;
  __syncthreads();
  DEVICE_UNROLL
  for (uint32_t i = 0; i < LIST_BINS_EACH; i++) {
    counts[i] = mine[i];
    mine[i] = 0;
    sum += counts[i];
  }
  uint32_t up_to = sum;
  DEVICE_UNROLL
  for (uint32_t by = 1; by < WARP_SIZE; by *= 2) {
    const uint32_t other = __shfl_up_sync(UINT32_MAX, up_to, by);
    if (lane >= by) up_to += other;
  }
  if (lane == WARP_SIZE - 1) list.words->sums[warp] = up_to;
  __syncthreads();
  DEVICE_UNROLL
  for (uint32_t w = 0; w < LIST_WARPS; w++)
    before += w < warp ? list.words->sums[w] : 0;
  before += below + up_to - sum;
  DEVICE_UNROLL
  for (uint32_t i = 0; i < LIST_BINS_EACH; i++) {
    if (before < list.head && list.head <= before + counts[i]) {
      list.words->digit = threadIdx.x * LIST_BINS_EACH + i;
      list.words->below = before;
      list.words->inside = counts[i];
    }
    before += counts[i];
  }
  __syncthreads();
}

/* Counts digits, and continues with the one that is chosen: of the codes, or of the places of one
 * code. By all threads. */
template <bool Places, class Code, uint32_t Each>
DEVICE_INLINE void cut_digit(const shortlist<Code> &list, const list_batch<Code, Each> &batch,
                             uint32_t shift, list_range<Code> *range)
{
  const auto count = [&](Code code, uint32_t place) {
    const bool inside =
        Places ? code == range->low && place >= range->place_low && place <= range->place_high
               : code >= range->low && code <= range->high;
    const uint32_t digit = Places ? (place - range->place_low) >> shift
                                  : (uint32_t)((Code)(code - range->low) >> shift);
    DEVICE_ASSERT(!inside || digit < LIST_BINS);
    if (inside) device_add32(&list.bins[digit], 1);
  };
  for (uint32_t i = threadIdx.x; i < list.held; i += LIST_BLOCK)
    count(list.codes[i], list.places[i]);
  DEVICE_UNROLL
  for (uint32_t e = 0; e < Each; e++)
    if (batch.wanted >> e & 1) count(batch.codes[e], batch.places[e]);
  choose_digit(list, range->below);
  const uint32_t digit = list.words->digit;
  range->below = list.words->below;
  range->inside = list.words->inside;
  if constexpr (Places) {
    range->place_low += digit << shift;
    range->place_high = range->place_low + ((1u << shift) - 1);
  } else {
    range->low = (Code)(range->low + ((Code)digit << shift));
    range->high = (Code)(range->low + (((Code)1 << shift) - 1));
  }
}

/* The range in which the last wanted one is, so small that at most `most` are not beyond it. By all
 * threads. */
template <class Code, uint32_t Each>
DEVICE_INLINE list_range<Code> find_range(const shortlist<Code> &list,
                                          const list_batch<Code, Each> &batch, uint32_t total,
                                          uint32_t most, Code like)
{
  DEVICE_ASSERT(total > most);
  const Code varied = varied_bits(list, batch, like);
  const Code free =
      varied ? (Code)(~(Code)0 >> (device_clz64(varied) - (64 - 8 * sizeof(Code)))) : 0;
  list_range<Code> range = {(Code)(like & ~free), (Code)(like | free), 0, UINT32_MAX, 0, total};
  uint32_t shift = free ? 64 - device_clz64(free) : 0;
  while (range.below + range.inside > most && shift > 0) {
    shift -= (uint32_t)plan_min(shift, LIST_DIGIT);
    cut_digit<false>(list, batch, shift, &range);
  }
  shift = 32;
  while (range.below + range.inside > most) { /* all codes that are left are equal */
    shift -= (uint32_t)plan_min(shift, LIST_DIGIT);
    cut_digit<true>(list, batch, shift, &range);
  }
  DEVICE_ASSERT(range.below + range.inside <= most);
  return range;
}

/* Keeps what is in the range, of the list and of the batch. What is kept of a list's part goes to
 * parts that have been read. By all threads. */
template <class Code, uint32_t Each>
DEVICE_INLINE void keep_range(const shortlist<Code> &list, const list_batch<Code, Each> &batch,
                              const list_range<Code> &range)
{
  for (uint32_t first = 0; first < list.held; first += LIST_BLOCK) {
    const uint32_t i = first + threadIdx.x;
    Code code = 0;
    uint32_t place = 0;
    if (i < list.held) {
      code = list.codes[i];
      place = list.places[i];
    }
    const bool keeps = i < list.held && is_within(range, code, place);
    __syncthreads();
    const uint32_t at = take_places(&list.words->kept, keeps);
    if (!keeps) continue;
    list.codes[at] = code;
    list.places[at] = place;
  }
  list_batch<Code, Each> kept = batch;
  DEVICE_UNROLL
  for (uint32_t e = 0; e < Each; e++)
    if (!is_within(range, batch.codes[e], batch.places[e])) kept.wanted &= ~(1u << e);
  put_batch(list, kept, take_places(&list.words->kept, device_popc(kept.wanted)));
}

/* Cuts list and batch, which have `total` together, to at most `most`; `total` is more. By all
 * threads, after a barrier. */
template <class Code, uint32_t Each>
DEVICE_INLINE void cut(shortlist<Code> *list, const list_batch<Code, Each> &batch, uint32_t total,
                       uint32_t most, Code like)
{
  if (threadIdx.x == 0) list->words->kept = 0;
  const list_range<Code> range = find_range(*list, batch, total, most, like);
  keep_range(*list, batch, range);
  list->held = range.below + range.inside;
  DEVICE_ASSERT(list->held <= most && list->held >= list->head);
  list->bounded = true;
  list->bound = range.high;
  list->bound_place = range.place_high;
}

/* Cuts the list alone, if it has more. By all threads; ends with a barrier. */
template <class Code> DEVICE_INLINE void cut_to(shortlist<Code> *list, uint32_t most)
{
  const list_batch<Code, 1> none = {{0}, {0}, 0};
  __syncthreads();
  if (list->held > most) {
    const Code like = list->codes[0];
    cut(list, none, list->held, most, like);
    __syncthreads();
  }
}

/* Adds a batch of keys that are not beyond the bound. `like` is a code that is the same for all
 * threads, best one of the keys. By all threads; one barrier, and more if there is a cut. */
template <class Code, uint32_t Each>
DEVICE_INLINE void add_batch(shortlist<Code> *list, const list_batch<Code, Each> &batch, Code like)
{
  const uint32_t turn = list->turn, next = turn == 2 ? 0 : turn + 1;
  const uint32_t mine = device_popc(batch.wanted);
  const uint32_t at = list->held + take_places(&list->words->added[turn], mine);
  if (threadIdx.x == 0) list->words->added[next] = 0; /* read two barriers ago */
  __syncthreads();
  const uint32_t total = list->held + list->words->added[turn];
  list->turn = next;
  if (total > list_room<Code>) {
    cut(list, batch, total, list_kept(list->head), list->held ? list->codes[0] : like);
    return;
  }
  list->held = total;
  if (mine) put_batch(*list, batch, at);
}

/* ---- The order ---- */

/* Sorts the list, by a bitonic sort: a warp has its own 64 of them in the steps of up to 32, and
 * waits for no other. By all threads; ends with a barrier. */
template <class Code> DEVICE_INLINE void sort_list(const shortlist<Code> &list)
{
  uint32_t size = 2, before = UINT32_MAX;
  while (size < list.held)
    size *= 2;
  DEVICE_ASSERT(size <= list_room<Code>);
  for (uint32_t i = list.held + threadIdx.x; i < size; i += LIST_BLOCK) {
    list.codes[i] = (Code) ~(Code)0;
    list.places[i] = UINT32_MAX;
  }
  for (uint32_t width = 2; width <= size; width *= 2)
    for (uint32_t by = width / 2; by > 0; by /= 2) {
      if (by > WARP_SIZE || before > WARP_SIZE)
        __syncthreads();
      else
        __syncwarp();
      before = by;
      for (uint32_t p = threadIdx.x; p < size / 2; p += LIST_BLOCK) {
        const uint32_t low = p + (p & ~(by - 1)), high = low + by;
        const Code a = list.codes[low], b = list.codes[high];
        const uint32_t of_a = list.places[low], of_b = list.places[high];
        const bool swaps = a != b ? b < a : of_b < of_a;
        if (swaps != ((low & width) != 0)) {
          list.codes[low] = b;
          list.codes[high] = a;
          list.places[low] = of_b;
          list.places[high] = of_a;
        }
      }
    }
  __syncthreads();
}

} // namespace head

#endif
