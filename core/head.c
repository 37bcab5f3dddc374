/* head.c - finds the first records of the order without sorting the others.
 *
 * A candidate is one unsigned integer: a record's key, and below it the record's index. So all
 * candidates differ, and their order is the stable one, whatever the keys. Each thread collects
 * candidates; when its array is full, it keeps the `head` least of them, and the last of these is
 * its bound from then on. A record beyond the bound of a thread is not among the first ones of
 * all: one comparison refuses most records.
 *
 * The array holds four times as many candidates as are kept. So even if no record is refused, as
 * when keys descend, selecting takes a constant time for each, and the time never depends on luck
 * with the data.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/assert.h"
#include "base/checked.h"
#include "base/platform/clock.h"
#include "call.h"
#include "key/encode.h"

enum {
  FEW = 16,              /* fewer than a record in so many are selected; for more, all are sorted */
  ROOM = 4,              /* candidates for each record that is wanted */
  BLOCK_BYTES = 1 << 13, /* of keys that are made at a time */
  WORTH_A_THREAD = 1 << 16 /* records */
};

/* The plan of a selection, and its memory. */
typedef struct selection {
  const recsort_sorter *sorter;
  const unsigned char *records;
  bool plain; /* the records are their keys */
  size_t count;
  size_t head;
  size_t words;    /* of a candidate, least significant first: the index, then the key's */
  size_t block;    /* records whose keys are made at a time */
  size_t capacity; /* candidates of a thread */
  size_t order_bytes, slot_bytes, key_bytes; /* parts of the block: the order, then the slots */
  team team;
  size_t pieces;
  atomic_size_t invalid; /* the first record of the first block with an invalid value */
} selection;

/* The candidates of a thread. Behind them in the slot are the keys and the array. */
typedef struct candidates {
  _Alignas(RS_BLOCK_ALIGNMENT) uint64_t *at;
  const void *keys; /* of a block of records: in the slot, or the records */
  size_t count;
  bool bounded; /* number head - 1 is the bound */
  uint64_t random;
} candidates;

static candidates *slot_of(const selection *s, size_t slot)
{
  RS_ASSERT(s->sorter->block && slot < s->team.threads);
  return (void *)((char *)s->sorter->block + s->order_bytes + slot * s->slot_bytes);
}

/* ---- Order ---- */

static inline bool is_less(const uint64_t *a, const uint64_t *b, size_t words)
{
  RS_ASSERT(words >= 2);
  for (size_t w = words; w-- > 0;)
    if (a[w] != b[w]) return a[w] < b[w];
  return false;
}

static inline void swap(uint64_t *a, uint64_t *b, size_t words)
{
  for (size_t w = 0; w < words; w++) {
    const uint64_t word = a[w];
    a[w] = b[w];
    b[w] = word;
  }
}

/* Divides candidates [low, high) by a random one of them, and returns its place. */
static inline size_t divide(candidates *c, size_t low, size_t high, size_t words)
{
  RS_ASSERT(low < high && high <= c->count);
  uint64_t *const pivot = c->at + low * words;
  c->random ^= c->random << 13;
  c->random ^= c->random >> 7;
  c->random ^= c->random << 17;
  swap(pivot, c->at + (low + c->random % (high - low)) * words, words);
  size_t i = low, j = high;
  for (;;) {
    do
      i++;
    while (i < high && is_less(c->at + i * words, pivot, words));
    do
      j--;
    while (is_less(pivot, c->at + j * words, words));
    if (i >= j) break;
    swap(c->at + i * words, c->at + j * words, words);
  }
  swap(pivot, c->at + j * words, words);
  RS_ASSERT(low <= j && j < high);
  return j;
}

/* Brings the candidates that belong to places [first, end) there: a quicksort that leaves alone
 * what cannot hold them. The larger part waits, so few parts do. */
static inline void place_as(candidates *c, size_t first, size_t end, size_t words)
{
  struct {
    size_t low, high;
  } waiting[64], part = {0, c->count};
  size_t count = 0;
  RS_ASSERT(first < end && end <= c->count);
  for (;;) {
    if (part.high - part.low > 1 && part.low < end && part.high > first) {
      const size_t middle = divide(c, part.low, part.high, words);
      const bool left = middle - part.low < part.high - middle;
      RS_ASSERT(count < sizeof waiting / sizeof *waiting);
      waiting[count].low = left ? middle + 1 : part.low;
      waiting[count++].high = left ? part.high : middle;
      part.low = left ? part.low : middle + 1;
      part.high = left ? middle : part.high;
    } else if (count > 0) {
      part = waiting[--count];
    } else {
      return;
    }
  }
}

static void place(candidates *c, size_t first, size_t end, size_t words)
{
  if (words == 2)
    place_as(c, first, end, 2);
  else
    place_as(c, first, end, words);
}

/* ---- Candidates ---- */

static void keep_least(const selection *s, candidates *c)
{
  RS_ASSERT(c->count >= s->head);
  place(c, s->head - 1, s->head, s->words);
  c->count = s->head;
  c->bounded = true;
}

static const uint64_t *bound_of(const selection *s, const candidates *c)
{
  RS_ASSERT(c->bounded && c->count >= s->head);
  return c->at + (s->head - 1) * s->words;
}

/* The keys of a block, `width` bits each; a candidate has `words`. Both are constants in each call.
 */
static inline uint64_t top_of(const void *keys, size_t i, unsigned width, size_t words)
{
  return width == 32 ? ((const uint32_t *)keys)[i]
                     : ((const uint64_t *)keys)[(i + 1) * (words - 1) - 1];
}

/* Adds those of records [i, end) of a block that are not beyond the bound. */
static inline void add_some(const selection *s, candidates *c, size_t first, size_t i, size_t end,
                            unsigned width, size_t words)
{
  const uint64_t *const bound = c->bounded ? bound_of(s, c) : NULL;
  RS_ASSERT(i <= end && end - i <= s->capacity - c->count);
  RS_ASSERT(words >= 2);
  for (; i < end; i++) {
    uint64_t *const added = c->at + c->count * words;
    added[0] = first + i;
    if (words > 2)
      memcpy(added + 1, (const uint64_t *)c->keys + i * (words - 1), (words - 2) * sizeof *added);
    added[words - 1] = top_of(c->keys, i, width, words);
    c->count += !bound || is_less(added, bound, words);
  }
}

/* Adds a block. It looks at some records at a time, as most are beyond the bound. */
static inline void add_block_as(const selection *s, candidates *c, size_t first, size_t count,
                                unsigned width, size_t words)
{
  enum { GROUP = 16 };
  uint64_t most = c->bounded ? bound_of(s, c)[words - 1] : UINT64_MAX;
  size_t i = 0;
  RS_ASSERT(count <= s->block);
  if (c->bounded && words == 2 && bound_of(s, c)[0] < first) { /* equal keys come too late */
    if (most == 0) return;
    most--;
  }
  for (; count - i >= GROUP; i += GROUP) {
    bool any = false;
    for (size_t j = 0; j < GROUP; j++)
      any |= top_of(c->keys, i + j, width, words) <= most;
    if (any) add_some(s, c, first, i, i + GROUP, width, words);
  }
  add_some(s, c, first, i, count, width, words);
}

static void add_block(const selection *s, candidates *c, size_t first, size_t count)
{
  const unsigned width = s->sorter->plan.program.key_width;
  RS_ASSERT(c->count <= s->capacity);
  if (c->count + s->block > s->capacity) keep_least(s, c);
  if (width == 32)
    add_block_as(s, c, first, count, 32, 2);
  else if (width == 64)
    add_block_as(s, c, first, count, 64, 2);
  else
    add_block_as(s, c, first, count, width, s->words);
}

static void note_invalid(selection *s, size_t first)
{
  size_t known = s->invalid;
  while (first < known && !atomic_compare_exchange_weak(&s->invalid, &known, first))
    continue;
}

/* The records from number `first` on; those of columns have no address. */
static const void *records_from(const selection *s, size_t first)
{
  RS_ASSERT(first < s->count);
  return s->records ? s->records + first * (size_t)s->sorter->plan.program.record_size : NULL;
}

static void select_piece(void *argument, size_t piece, unsigned slot)
{
  selection *const s = argument;
  candidates *const c = slot_of(s, slot);
  const team_range range = team_cut(s->count, piece, s->pieces);
  RS_ASSERT(piece < s->pieces && range.end <= s->count);
  for (size_t first = range.begin; first < range.end; first += s->block) {
    const size_t left = range.end - first, count = left < s->block ? left : s->block;
    const void *const records = records_from(s, first);
    if (s->plain) {
      c->keys = records;
    } else if (!rs_key_encode_part(&s->sorter->plan, records, first, count, (void *)(c + 1))) {
      note_invalid(s, first);
      return;
    }
    add_block(s, c, first, count);
  }
}

/* Brings the first ones of all threads into order, as the first slot's. */
static void join(const selection *s)
{
  candidates *const c = slot_of(s, 0);
  for (size_t slot = 1; slot < s->team.threads; slot++) {
    const candidates *const other = slot_of(s, slot);
    for (size_t i = 0; i < other->count; i++) {
      const uint64_t *const one = other->at + i * s->words;
      if (c->bounded && !is_less(one, bound_of(s, c), s->words)) continue;
      if (c->count == s->capacity) keep_least(s, c);
      memcpy(c->at + c->count++ * s->words, one, s->words * sizeof *one);
    }
  }
  RS_ASSERT(c->count <= s->capacity);
  place(c, 0, s->head, s->words);
}

/* ---- A call ---- */

bool rs_head_suits(const recsort_sorter *sorter, const rs_call *call)
{
  return call->job->head && call->job->head <= call->count / FEW &&
         call->job->parts == RECSORT_ONE_PART && !sorter->verify;
}

size_t rs_head_most_sorted(const recsort_sorter *sorter, const rs_call *call)
{
  return rs_head_suits(sorter, call) ? FEW * call->job->head - 1 : call->count;
}

static size_t round_up(size_t bytes)
{
  return (bytes + RS_BLOCK_ALIGNMENT - 1) / RS_BLOCK_ALIGNMENT * RS_BLOCK_ALIGNMENT;
}

/* Plans a selection of job->head of the records. Threads have at least WORTH_A_THREAD
 * records each, and so many that what they keep is little beside them. */
static recsort_status plan_selection(const recsort_sorter *sorter, const rs_call *call,
                                     selection *s, size_t *bytes, recsort_error *error)
{
  const size_t key_size = rs_key_size(&sorter->plan), head = call->wanted, count = call->count;
  const size_t block = key_size < BLOCK_BYTES ? BLOCK_BYTES / key_size : 1;
  const size_t words = 1 + (key_size + 7) / 8;
  RS_ASSERT(head > 0 && head <= count / FEW);
  *s = (selection){.sorter = sorter, .count = count, .head = head, .words = words, .block = block};
  const size_t each = FEW * head > WORTH_A_THREAD ? FEW * head : WORTH_A_THREAD;
  s->team = team_of_at_most(sorter->team, count / each);
  s->pieces = team_pieces(s->team);
  s->capacity = ROOM * head + block;
  s->key_bytes = round_up(block * key_size);
  s->order_bytes = round_up(head * sizeof(uint64_t));
  s->slot_bytes = rs_round_up(
      rs_sum(rs_product(s->capacity, words * sizeof(uint64_t)), sizeof(candidates) + s->key_bytes),
      RS_BLOCK_ALIGNMENT);
  RS_ASSERT(s->team.threads > 0 && s->capacity > head);
  *bytes = rs_sum(s->order_bytes, rs_product(s->team.threads, s->slot_bytes));
  return *bytes < SIZE_MAX ? RECSORT_OK : rs_fail_memory(error, SIZE_MAX);
}

recsort_status rs_head_memory(const recsort_sorter *sorter, const rs_call *call, size_t *bytes,
                              recsort_error *error)
{
  selection s;
  return plan_selection(sorter, call, &s, bytes, error);
}

/* Writes the indices of the first ones to the start of the block. */
static void write_order(const selection *s, rs_order *order)
{
  const bool wide = (uint64_t)s->count > UINT64_C(1) << 32;
  void *const index = s->sorter->block;
  const uint64_t *const at = slot_of(s, 0)->at;
  RS_ASSERT(slot_of(s, 0)->count >= s->head && s->head * (wide ? 8 : 4) <= s->order_bytes);
  for (size_t i = 0; i < s->head; i++)
    if (wide)
      ((uint64_t *)index)[i] = at[i * s->words];
    else
      ((uint32_t *)index)[i] = (uint32_t)at[i * s->words];
  RS_ASSERT(at[(s->head - 1) * s->words] < s->count);
  order->index = index;
  order->index_bits = wide ? 64 : 32;
  order->count = s->head;
}

static void open_slots(const selection *s, uint64_t random)
{
  for (size_t i = 0; i < s->team.threads; i++) {
    candidates *const c = slot_of(s, i);
    char *const keys = (char *)(c + 1);
    RS_ASSERT((uintptr_t)(keys + s->key_bytes) % sizeof(uint64_t) == 0);
    *c = (candidates){
        .at = (uint64_t *)(void *)(keys + s->key_bytes), .keys = keys, .random = (random + i) | 1};
  }
}

static recsort_status report_invalid(const selection *s, recsort_error *error)
{
  const size_t first = s->invalid, left = s->count - first;
  RS_ASSERT(first < s->count);
  return rs_key_encode(&s->sorter->plan, records_from(s, first), left < s->block ? left : s->block,
                       (void *)(slot_of(s, 0) + 1), team_of_at_most(s->team, 1), first, error);
}

recsort_status rs_head_find(recsort_sorter *sorter, rs_call *call, recsort_error *error)
{
  selection s;
  size_t bytes = 0;
  recsort_status status = plan_selection(sorter, call, &s, &bytes, error);
  if (status == RECSORT_OK) status = rs_sorter_reserve(sorter, bytes, error);
  if (status) return status;
  const double begin = rs_clock_seconds();
  s.records = call->job->records;
  s.plain =
      rs_key_is_record(&sorter->plan) && (uintptr_t)s.records % rs_key_size(&sorter->plan) == 0;
  s.invalid = SIZE_MAX;
  RS_ASSERT(s.records || call->job->columns);
  open_slots(
      &s,
      (uint64_t)(1e9 * begin)); /* at random by the clock, so that no input can be made for it */
  team_each(s.team, s.pieces, select_piece, &s);
  if (s.invalid < s.count) return report_invalid(&s, error);
  const double selected = rs_clock_seconds();
  join(&s);
  write_order(&s, &call->order);
  sorter->stats.index_bits = call->order.index_bits;
  sorter->selected = true;
  sorter->stats.encode_seconds = selected - begin;
  sorter->stats.sort_seconds = rs_clock_seconds() - selected;
  return RECSORT_OK;
}
