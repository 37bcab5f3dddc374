/* tile.c - a piece of the output, a tile at a time.
 *
 *   fill    reads keys of each run into its window
 *   cut     takes of each window what is before the least of the windows' last records: that can be
 *           merged now, without regard to what lies beyond
 *   pack    the bits in which these keys differ, as many as fit, above their run and place
 *   merge   pairs, as merges of two
 *   repair  where bits that did not fit decide
 *   emit    moves the records; they are in the cache, as their keys have been read
 *   slide   keeps the keys that were not taken
 *   drain   what is equal to the record that bounded the tile, run by run, and if it was of one run
 *           only, what comes before all others: else many tiles would hold one window of one run
 */
#include <string.h>

#include "base/assert.h"
#include "base/bits.h"
#include "base/stream_copy.h"
#include "base/work_size.h"
#include "runs/runs.h"

#define INLINE static inline __attribute__((always_inline))

/* What a piece has of a run. */
typedef struct run_state {
  const unsigned char *next; /* the record of the first key in the window */
  const unsigned char *keys; /* of the window: records themselves, if these are keys as they are */
  uint64_t beyond;           /* records behind those in the window */
  uint64_t first;            /* the records before the run */
  uint64_t index;            /* of the record at `next`, among all */
  size_t have;               /* keys in the window */
  size_t taken;              /* of them, in this tile */
} run_state;

/* What is emitted of each run: `size` bytes of each record of its window. */
typedef struct emission {
  const unsigned char **from;
  const unsigned char **ahead; /* what is read after this tile, if there is more */
  uint64_t *index;             /* to be added, if it is an index */
  size_t size;
  uint64_t mask;
  uint64_t place;
  unsigned shift;
} emission;

/* What is emitted, and the runs [begin, end) that occur in it. */
typedef struct tile_order {
  const uint64_t *pairs; /* NULL: the first `count` records of run `begin` */
  size_t count;
  size_t begin;
  size_t end;
} tile_order;

typedef struct tile {
  run_pass *pass;
  size_t fan; /* runs of which the piece has something */
  size_t key_size;
  size_t window;      /* keys of a run */
  unsigned shift;     /* log2 of that */
  unsigned pair_bits; /* of run and place */
  run_state *runs;
  run64 *sorted; /* pairs of runs */
  run_player *players;
  unsigned char *keys; /* of each run the key before the window, and the window */
  uint64_t *pairs;
  uint64_t *other;
  unsigned char *stage; /* STAGE_BYTES of output on their way past the caches; NULL: none */
  const merge_kernels *kernels;
  unsigned char *out;
  unsigned char *out_indices; /* of RUN_KEYED */
  emission emission;
  unsigned trees; /* tiles that shall go to the tree without a try */
} tile;

enum { STAGE_BYTES = 32 << 10, STAGE_MOST = 256 /* bytes of a record that goes there */ };

/* ---- Memory ---- */

static unsigned log2_of(size_t value)
{
  RS_ASSERT(value > 0);
  return 63 - (unsigned)__builtin_clzll(value);
}

/* Keys of all windows together, at most, unless there are more runs. More runs get more keys: a
 * tile ends where the first window is used up, so short windows make small tiles. */
static size_t keys_for(size_t fan, size_t key_size)
{
  RS_ASSERT(fan > 0);
  enum { FEW_RUNS = 16, SOME_RUNS = 64, SOME_PAIRS = 1 << 14, MANY_PAIRS = 1 << 15 };
  const size_t pairs = fan <= FEW_RUNS ? TILE_PAIRS : fan <= SOME_RUNS ? SOME_PAIRS : MANY_PAIRS;
  return key_size > 16 ? pairs * 16 / key_size : pairs;
}

/* Keys that a window holds, a power of two. It has more than SHORT keys only if the cache holds the
 * lines that the keys of a tile are read from, as its records are moved from there. */
static size_t window_for(size_t fan, size_t key_size, size_t record_size)
{
  enum { SHORT = 64, LINES = 128, CACHED = 2 << 20 };
  const size_t keys = keys_for(fan, key_size) / fan,
               line = record_size < LINES ? record_size : LINES;
  size_t window = keys < 2 ? 1 : (size_t)1 << log2_of(keys);
  while (window > SHORT && window * fan * line > CACHED)
    window /= 2;
  RS_ASSERT(window == 1 || window * fan <= keys_for(fan, key_size));
  return window;
}

/* Where in a thread's scratch what is. */
typedef struct tile_parts {
  uint64_t runs, sorted, players, from, ahead, index, keys, pairs, other, stage, bytes;
} tile_parts;

/* For pieces of up to `fan` runs. */
static tile_parts divide(size_t fan, size_t key_size)
{
  const size_t keys = keys_for(fan, key_size), most = keys < fan ? fan : keys;
  tile_parts parts = {0};
  work_place(&parts.bytes, &parts.runs, fan, sizeof(run_state));
  work_place(&parts.bytes, &parts.sorted, fan, sizeof(run64));
  work_place(&parts.bytes, &parts.players, fan, sizeof(run_player));
  work_place(&parts.bytes, &parts.from, fan, sizeof(unsigned char *));
  work_place(&parts.bytes, &parts.ahead, fan, sizeof(unsigned char *));
  work_place(&parts.bytes, &parts.index, fan, sizeof(uint64_t));
  work_place(&parts.bytes, &parts.keys, most + fan, key_size);
  work_place(&parts.bytes, &parts.pairs, most, sizeof(uint64_t));
  work_place(&parts.bytes, &parts.other, most, sizeof(uint64_t));
  work_place(&parts.bytes, &parts.stage, 1, STAGE_BYTES);
  return parts;
}

uint64_t rs_run_tile_scratch(size_t fan, size_t key_size)
{
  return divide(fan, key_size).bytes; /* there is a place for two keys, which the cuts take */
}

static unsigned char *window_of(const tile *t, size_t run)
{
  RS_ASSERT(run < t->fan);
  return t->keys + run * (t->window + 1) * t->key_size;
}

static const unsigned char *key_of(const tile *t, size_t run, size_t place)
{
  RS_ASSERT(run < t->fan && place <= t->runs[run].have);
  return t->runs[run].keys + place * t->key_size;
}

/* ---- Fill ---- */

/* `has_before`: the key before those that are read is there, too. */
static bool fill(tile *t, size_t r, bool has_before)
{
  run_state *const run = &t->runs[r];
  const run_format *const format = &t->pass->format;
  RS_ASSERT(run->have <= t->window);
  const size_t room = t->window - run->have,
               count = run->beyond < room ? (size_t)run->beyond : room;
  if (count == 0) return true;
  const unsigned char *const keys = run->keys + run->have * t->key_size;
  if (run->keys != run->next &&
      !rs_run_read_keys(format, run->next + run->have * format->record_size, count,
                        window_of(t, r) + (run->have + 1) * t->key_size))
    return false;
  run->have += count;
  run->beyond -= count;
  if (!t->pass->check) return true;
  return has_before ? rs_run_in_order(t->key_size, keys - t->key_size, count + 1)
                    : rs_run_in_order(t->key_size, keys, count);
}

static bool fill_all(tile *t, bool has_before)
{
  for (size_t r = 0; r < t->fan; r++)
    if (t->runs[r].beyond && !fill(t, r, has_before || t->runs[r].have)) return false;
  return true;
}

/* Whether records are keys as they are. */
static bool are_keys(const run_format *format, const unsigned char *records)
{
  const size_t alignment = format->key_size == 4 ? 4 : sizeof(uint64_t);
  return format->is_plain && format->flip == 0 && (uintptr_t)records % alignment == 0;
}

/* Fills the windows of the runs of which the piece has something. */
static bool begin(tile *t, const run_piece *piece)
{
  const run_pass *const pass = t->pass;
  const size_t first = piece->group * pass->fan, size = pass->format.record_size;
  size_t r = 0;
  for (size_t g = 0; r < t->fan; g++) {
    const uint64_t from = piece->from[g], before = pass->first[first + g];
    RS_ASSERT(first + g < pass->run_count);
    if (piece->to[g] == from) continue;
    RS_ASSERT(from < piece->to[g]);
    const unsigned char *const next =
        (const unsigned char *)pass->runs[first + g].records + from * size;
    unsigned char *const window = window_of(t, r) + t->key_size;
    const bool direct = are_keys(&pass->format, next);
    t->runs[r] = (run_state){.next = next,
                             .keys = direct ? next : window,
                             .beyond = piece->to[g] - from,
                             .first = before,
                             .index = before + from};
    if (pass->check && from && !direct &&
        !rs_run_read_keys(&pass->format, next - size, 1, window - t->key_size))
      return false;
    if (!fill(t, r++, from != 0)) return false;
  }
  return true;
}

/* ---- Cut ---- */

/* The keys of a window that are less than a key, or `or_equal`. */
static size_t count_below(const tile *t, size_t r, const unsigned char *key, bool or_equal)
{
  size_t low = 0, high = t->runs[r].have;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = run_compare(t->key_size, key_of(t, r, middle), key);
    if (order < 0 || (or_equal && order == 0))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Sets what is taken of each run, and *bounding to the run whose window is taken to its end though
 * it has more, or to `fan` if nothing is left. Returns the sum. */
static size_t cut(tile *t, size_t *bounding)
{
  size_t bound = t->fan, total = 0;
  const unsigned char *least = NULL;
  for (size_t r = 0; r < t->fan; r++) {
    const run_state *const run = &t->runs[r];
    if (run->beyond == 0) continue;
    const unsigned char *const last = key_of(t, r, run->have - 1);
    if (least && run_compare(t->key_size, last, least) >= 0) continue;
    least = last;
    bound = r;
  }
  for (size_t r = 0; r < t->fan; r++) {
    run_state *const run = &t->runs[r];
    run->taken = !least || r == bound ? run->have : count_below(t, r, least, r < bound);
    total += run->taken;
  }
  *bounding = bound;
  RS_ASSERT(bound == t->fan || t->runs[bound].taken == t->runs[bound].have);
  return total;
}

/* ---- Pack ---- */

/* The bits of keys that go into pairs: of the difference to `base` if a key has up to 64 bits, and
 * otherwise those from `low` up, above which all keys are the same. */
typedef struct key_bits {
  uint64_t base;
  size_t low;
  bool all; /* no bit in which keys differ is left out */
} key_bits;

static inline uint64_t word_at(const unsigned char *key, size_t word)
{
  return ((const uint64_t *)(const void *)key)[word];
}

/* Of the least and the greatest key that are taken. */
static key_bits choose_bits(const tile *t, const unsigned char *least,
                            const unsigned char *greatest)
{
  RS_ASSERT(t->pair_bits < PAIR_BITS);
  const unsigned room = PAIR_BITS - t->pair_bits;
  if (t->key_size == 4) return (key_bits){*(const uint32_t *)(const void *)least, 0, true};
  if (t->key_size == 8) {
    const unsigned used = bits_of(word_at(greatest, 0) - word_at(least, 0));
    return (key_bits){word_at(least, 0), used > room ? used - room : 0, used <= room};
  }
  size_t high = 0;
  for (size_t w = t->key_size / 8; w-- > 0 && high == 0;) {
    const uint64_t differing = word_at(greatest, w) ^ word_at(least, w);
    if (differing) high = 64 * w + bits_of(differing);
  }
  return (key_bits){0, high > room ? high - room : 0, high <= room};
}

static key_bits find_bits(const tile *t)
{
  const unsigned char *least = NULL, *greatest = NULL;
  for (size_t r = 0; r < t->fan; r++) {
    const size_t taken = t->runs[r].taken;
    if (taken == 0) continue;
    const unsigned char *const first = key_of(t, r, 0), *const last = key_of(t, r, taken - 1);
    if (!least || run_compare(t->key_size, first, least) < 0) least = first;
    if (!greatest || run_compare(t->key_size, last, greatest) > 0) greatest = last;
  }
  RS_ASSERT(least && greatest);
  return choose_bits(t, least, greatest);
}

/* How a pair is made of a key's bits, and of what is added to its place. */
typedef struct packing {
  key_bits bits;
  unsigned shift;
  uint64_t tag;
} packing;

/* `key_size` is a constant at most calls. */
INLINE void pack_wide(packing how, const unsigned char *keys, size_t count, size_t key_size,
                      uint64_t *to)
{
  const size_t word = how.bits.low / 64, next = word + 1 < key_size / 8 ? word + 1 : word;
  const unsigned bit = how.bits.low % 64;
  RS_ASSERT(word < key_size / 8);
  const uint64_t mask = (UINT64_C(1) << (PAIR_BITS - how.shift)) - 1;
  for (size_t i = 0; i < count; i++) {
    const unsigned char *const key = keys + i * key_size;
    /* without a shift by 64 */
    const uint64_t part = word_at(key, word) >> bit | word_at(key, next) << 1 << (63 - bit);
    to[i] = (part & mask) << how.shift | how.tag | i;
  }
}

static void pack_run(const tile *t, size_t r, key_bits bits, uint64_t *to)
{
  const unsigned char *const keys = key_of(t, r, 0);
  const size_t count = t->runs[r].taken;
  const packing how = {bits, t->pair_bits, PAIR_MARK | (uint64_t)r << t->shift};
  if (t->key_size == 4) {
    const uint32_t base = (uint32_t)bits.base, *const key = (const void *)keys;
    for (size_t i = 0; i < count; i++)
      to[i] = (uint64_t)(key[i] - base) << how.shift | how.tag | i;
  } else if (t->key_size == 8) {
    const uint64_t *const key = (const void *)keys;
    for (size_t i = 0; i < count; i++)
      to[i] = (key[i] - bits.base) >> bits.low << how.shift | how.tag | i;
  } else if (t->key_size == 16) {
    pack_wide(how, keys, count, 16, to);
  } else {
    pack_wide(how, keys, count, t->key_size, to);
  }
}

/* ---- Merge ---- */

/* Merges neighbours until one run is left, which is in the returned one of two buffers. Only what
 * is at `from` in the beginning may lie elsewhere. */
static uint64_t *merge_pairs(const merge_kernels *kernels, run64 *runs, size_t count, uint64_t *to,
                             uint64_t *other)
{
  RS_ASSERT(count > 0);
  while (count > 1) {
    const size_t half = (count + 1) / 2;
    uint64_t *at = to;
    for (size_t r = 0; r < half; r++) {
      const run64 a = runs[2 * r];
      const run64 b = 2 * r + 1 < count ? runs[2 * r + 1] : (run64){a.at, 0};
      const run64 merged = {at, a.count + b.count};
      rs_merge_runs(kernels, a, b, at);
      runs[r] = merged;
      at += merged.count;
    }
    count = half;
    uint64_t *const swap = to;
    to = other;
    other = swap;
  }
  return other;
}

static void merge_by_tree(tile *t)
{
  for (size_t r = 0; r < t->fan; r++)
    t->players[r] = (run_player){.at = key_of(t, r, 0), .count = t->runs[r].taken};
  rs_run_tree_merge(t->players, t->fan, t->key_size, t->shift, t->pairs);
}

static const unsigned char *key_of_pair(const tile *t, uint64_t pair)
{
  const size_t id = (size_t)(pair & ((UINT64_C(1) << t->pair_bits) - 1));
  return key_of(t, id >> t->shift, id & (t->window - 1));
}

/* Sorts pairs of equal bits by their keys, by insertion. Returns false if that takes too long. Two
 * of one run are in order. */
static bool repair(tile *t, uint64_t *pairs, size_t total)
{
  enum { MOVES_A_PAIR = 16 };
  const unsigned bits = t->pair_bits;
  const uint64_t run = UINT64_C(1) << t->shift, other_runs = (UINT64_C(1) << bits) - run;
  size_t moves = MOVES_A_PAIR * total;
  for (size_t i = 1; i < total; i++) {
    const uint64_t pair = pairs[i];
    if ((pair ^ pairs[i - 1]) - run >= other_runs) continue;
    const unsigned char *const key = key_of_pair(t, pair);
    size_t j = i;
    for (; j > 0 && pairs[j - 1] >> bits == pair >> bits; j--) {
      if (run_compare(t->key_size, key_of_pair(t, pairs[j - 1]), key) <= 0) break;
      if (moves-- == 0) return false;
      pairs[j] = pairs[j - 1];
    }
    pairs[j] = pair;
  }
  return true;
}

/* The order of a tile: pairs whose low bits are run and place. */
static const uint64_t *order_tile(tile *t, size_t total)
{
  enum { TREES = 16 };
  size_t count = 0;
  uint64_t *at = t->pairs;
  const key_bits bits = find_bits(t);
  if (!bits.all && t->trees) {
    t->trees--;
    merge_by_tree(t);
    return t->pairs;
  }
  for (size_t r = 0; r < t->fan; r++) {
    const size_t taken = t->runs[r].taken;
    if (taken == 0) continue;
    pack_run(t, r, bits, at);
    t->sorted[count++] = (run64){at, taken};
    at += taken;
  }
  RS_ASSERT((size_t)(at - t->pairs) == total);
  uint64_t *const merged = merge_pairs(t->kernels, t->sorted, count, t->other, t->pairs);
  if (bits.all || repair(t, merged, total)) return merged;
  t->trees = TREES;
  merge_by_tree(t);
  return t->pairs;
}

/* ---- Emit ---- */

static inline size_t run_of(const emission *e, uint64_t pair)
{
  return (size_t)((pair & e->mask) >> e->shift);
}

/* `size` is a constant at most calls. For each record that leaves a window one is prefetched that
 * comes into it. */
static inline void emit_as(const emission *e, const uint64_t *pairs, size_t count,
                           unsigned char *out, size_t size)
{
  for (size_t i = 0; i < count; i++) {
    const size_t run = run_of(e, pairs[i]), place = (size_t)(pairs[i] & e->place);
    __builtin_prefetch(e->ahead[run] + place * size);
    memcpy(out + i * size, e->from[run] + place * size, size);
  }
}

static void gather(const emission *e, const uint64_t *pairs, size_t count, unsigned char *out)
{
  RS_ASSERT(e->size > 0);
  switch (e->size) {
  case 4:
    emit_as(e, pairs, count, out, 4);
    break;
  case 8:
    emit_as(e, pairs, count, out, 8);
    break;
  case 12:
    emit_as(e, pairs, count, out, 12);
    break;
  case 16:
    emit_as(e, pairs, count, out, 16);
    break;
  case 20:
    emit_as(e, pairs, count, out, 20);
    break;
  case 24:
    emit_as(e, pairs, count, out, 24);
    break;
  case 32:
    emit_as(e, pairs, count, out, 32);
    break;
  case 48:
    emit_as(e, pairs, count, out, 48);
    break;
  case 64:
    emit_as(e, pairs, count, out, 64);
    break;
  default:
    emit_as(e, pairs, count, out, e->size);
  }
}

/* The index of a record: its own, of `size` bytes, or its place. */
INLINE uint64_t index_at(const unsigned char *from, size_t place, size_t size)
{
  RS_ASSERT(size == 0 || size == 4 || size == 8);
  if (size == 0) return place;
  return size == 4 ? ((const uint32_t *)(const void *)from)[place]
                   : ((const uint64_t *)(const void *)from)[place];
}

INLINE void put_index(void *out, size_t i, uint64_t index, size_t order_size)
{
  if (order_size == 4)
    ((uint32_t *)out)[i] = (uint32_t)index;
  else
    ((uint64_t *)out)[i] = index;
}

/* Both sizes are constants. */
INLINE void emit_indices_as(const emission *all, tile_order order, void *out, size_t size,
                            size_t order_size)
{
  const emission own = *all, *const e = &own; /* which the output cannot alias */
  if (!order.pairs) {
    const unsigned char *const from = e->from[order.begin];
    const uint64_t index = e->index[order.begin];
    for (size_t i = 0; i < order.count; i++)
      put_index(out, i, index + index_at(from, i, size), order_size);
    return;
  }
  for (size_t i = 0; i < order.count; i++) {
    const size_t run = run_of(e, order.pairs[i]), place = (size_t)(order.pairs[i] & e->place);
    if (size) __builtin_prefetch(e->ahead[run] + place * size);
    put_index(out, i, e->index[run] + index_at(e->from[run], place, size), order_size);
  }
}

static void emit_indices(const emission *e, tile_order order, void *out, size_t order_size)
{
  RS_ASSERT(order_size == 4 || order_size == 8);
  if (e->size == 0 && order_size == 4)
    emit_indices_as(e, order, out, 0, 4);
  else if (e->size == 0)
    emit_indices_as(e, order, out, 0, 8);
  else if (order_size == 4)
    emit_indices_as(e, order, out, 4, 4);
  else if (e->size == 4)
    emit_indices_as(e, order, out, 4, 8);
  else
    emit_indices_as(e, order, out, 8, 8);
}

/* Says where what is emitted of a run lies: `from`, `size` bytes a record. */
static void aim(const tile *t, size_t r, const unsigned char *from, size_t size)
{
  const run_state *const run = &t->runs[r];
  t->emission.from[r] = from;
  t->emission.ahead[r] = from + (run->beyond ? run->have * size : 0);
}

static void emit_keys(tile *t, tile_order order)
{
  t->emission.size = t->key_size;
  for (size_t r = order.begin; r < order.end; r++)
    aim(t, r, t->runs[r].keys, t->key_size);
  gather(&t->emission, order.pairs, order.count, t->out);
}

static void emit_records(tile *t, tile_order order)
{
  const size_t size = t->pass->format.record_size;
  t->emission.size = size;
  for (size_t r = order.begin; r < order.end; r++)
    aim(t, r, t->runs[r].next, size);
  if (!t->stage || size > STAGE_MOST) {
    gather(&t->emission, order.pairs, order.count, t->out);
    return;
  }
  const size_t most = STAGE_BYTES / size;
  RS_ASSERT(most > 0);
  for (size_t i = 0; i < order.count; i += most) {
    const size_t part = order.count - i < most ? order.count - i : most;
    gather(&t->emission, order.pairs + i, part, t->stage);
    stream_copy(t->out + i * size, t->stage, part * size);
  }
}

static void emit_order(tile *t, tile_order order, void *out)
{
  const run_pass *const pass = t->pass;
  const size_t size = pass->indices ? pass->index_size : 0;
  t->emission.size = size;
  for (size_t r = order.begin; r < order.end; r++) {
    const uint64_t at = t->runs[r].index;
    if (size) aim(t, r, pass->indices + at * size, size);
    t->emission.index[r] = !size ? at : pass->relative ? t->runs[r].first : 0;
  }
  emit_indices(&t->emission, order, out, pass->order_size);
}

static void emit(tile *t, tile_order order)
{
  switch (t->pass->output) {
  case RUN_INDEX:
    emit_order(t, order, t->out);
    break;
  case RUN_KEYED:
    emit_keys(t, order);
    emit_order(t, order, t->out_indices);
    break;
  default:
    emit_records(t, order);
  }
}

static size_t element_size(const run_pass *pass)
{
  switch (pass->output) {
  case RUN_INDEX:
    return pass->order_size;
  case RUN_KEYED:
    return pass->format.key_size;
  default:
    return pass->format.record_size;
  }
}

/* ---- Tiles ---- */

/* The only run of which something is taken, or `fan`. */
static size_t only_run(const tile *t, size_t total)
{
  for (size_t r = 0; r < t->fan; r++)
    if (t->runs[r].taken) return t->runs[r].taken == total ? r : t->fan;
  return t->fan;
}

/* The first `count` records of a run. */
static void emit_run(tile *t, size_t r, size_t count)
{
  enum { WORTH_A_FENCE = 4096 };
  const run_state *const run = &t->runs[r];
  const size_t bytes = count * element_size(t->pass);
  const tile_order order = {NULL, count, r, r + 1};
  RS_ASSERT(count <= run->have);
  switch (t->pass->output) {
  case RUN_INDEX:
    emit_order(t, order, t->out);
    break;
  case RUN_KEYED:
    memcpy(t->out, run->keys, bytes);
    emit_order(t, order, t->out_indices);
    break;
  default:
    if (t->stage && bytes >= WORTH_A_FENCE)
      stream_copy(t->out, run->next, bytes);
    else
      memcpy(t->out, run->next, bytes);
  }
}

/* How the keys of plain records stand in pairs: (key - base) << bits above the number of the run,
 * behind a mark. */
typedef struct plain_pairs {
  uint64_t base;
  uint64_t mark;
  unsigned bits;
} plain_pairs;

/* The records of such pairs: of a part that fits in the stage, if there is one. */
static void unpack_plain(const tile *t, const uint64_t *pairs, size_t count, plain_pairs how)
{
  const size_t most = t->stage ? STAGE_BYTES / sizeof(uint64_t) : count;
  const uint64_t flip = t->pass->format.flip;
  for (size_t i = 0; i < count; i += most) {
    const size_t part = count - i < most ? count - i : most;
    unsigned char *const out = t->out + i * sizeof(uint64_t), *const to = t->stage ? t->stage : out;
    for (size_t j = 0; j < part; j++) {
      const uint64_t record = (((pairs[i + j] ^ how.mark) >> how.bits) + how.base) ^ flip;
      memcpy(to + j * sizeof record, &record, sizeof record);
    }
    if (t->stage) stream_copy(out, to, part * sizeof(uint64_t));
  }
}

/* The kernels that use doubles need keys of different runs to differ (of one run they may be the
 * same), so a pair has the number of its run. Keys that are too far apart for that are merged by
 * the others, as they are. */
static plain_pairs choose_plain(const tile *t)
{
  uint64_t least = UINT64_MAX, greatest = 0;
  for (size_t r = 0; r < t->fan; r++) {
    const size_t taken = t->runs[r].taken;
    if (taken == 0) continue;
    const uint64_t first = word_at(key_of(t, r, 0), 0), last = word_at(key_of(t, r, taken - 1), 0);
    if (first < least) least = first;
    if (last > greatest) greatest = last;
  }
  RS_ASSERT(least <= greatest);
  const unsigned bits = bits_of(t->fan - 1);
  const bool fits = greatest - least < PAIR_MARK >> bits;
  return fits ? (plain_pairs){least, PAIR_MARK, bits} : (plain_pairs){0, 0, 0};
}

/* Plain records need no index, as a record is made from its key. */
static void merge_plain(tile *t, size_t total)
{
  const plain_pairs how = choose_plain(t);
  size_t count = 0;
  uint64_t *to = t->pairs;
  for (size_t r = 0; r < t->fan; r++) {
    const size_t taken = t->runs[r].taken;
    const uint64_t *const keys = (const void *)t->runs[r].keys;
    const uint64_t tag = how.mark ? how.mark | r : 0;
    if (taken == 0) continue;
    for (size_t i = 0; i < taken; i++)
      to[i] = (keys[i] - how.base) << how.bits | tag;
    t->sorted[count++] = (run64){to, taken};
    to += taken;
  }
  RS_ASSERT((size_t)(to - t->pairs) == total);
  const merge_kernels *const kernels = how.mark ? t->kernels : &rs_scalar_kernels;
  unpack_plain(t, merge_pairs(kernels, t->sorted, count, t->other, t->pairs), total, how);
}

/* What is taken of a run, and for an order their indices, which are listed at *list. */
static run_records records_of(tile *t, size_t r, unsigned char **list)
{
  const run_state *const run = &t->runs[r];
  if (t->pass->output == RUN_RECORDS) return (run_records){run->keys, run->next, run->taken};
  const run_records listed = {run->keys, *list, run->taken};
  emit_order(t, (tile_order){NULL, run->taken, r, r + 1}, *list);
  *list += run->taken * t->pass->order_size;
  return listed;
}

/* Merges a tile of two runs as records, or as indices; false, with nothing done, if it has more, or
 * not so. */
static bool merge_two(tile *t)
{
  const bool records = t->pass->output == RUN_RECORDS;
  const size_t size = element_size(t->pass);
  unsigned char *list = (void *)t->other;
  size_t two[2], count = 0;
  if (t->pass->output == RUN_KEYED || t->key_size > (records ? 8 : 16) || size > STAGE_MOST)
    return false;
  for (size_t r = 0; r < t->fan; r++) {
    if (t->runs[r].taken == 0) continue;
    if (count == 2) return false;
    two[count++] = r;
  }
  RS_ASSERT(count == 2);
  const bool ahead = records && t->runs[two[0]].beyond && t->runs[two[1]].beyond;
  const run_zip zip = {.a = records_of(t, two[0], &list),
                       .b = records_of(t, two[1], &list),
                       .out = t->out,
                       .stage = t->stage,
                       .stage_size = STAGE_BYTES,
                       .ahead = ahead ? t->window * size : 0};
  rs_run_zip_merge(&zip, t->key_size, size);
  return true;
}

static void merge_pairs_of(tile *t, size_t total)
{
  const run_format *const format = &t->pass->format;
  if (t->pass->output == RUN_RECORDS && format->is_plain && format->key_size == sizeof(uint64_t))
    merge_plain(t, total);
  else
    emit(t, (tile_order){order_tile(t, total), total, 0, t->fan});
}

static void advance(tile *t, size_t count)
{
  t->out += count * element_size(t->pass);
  if (t->out_indices) t->out_indices += count * t->pass->order_size;
}

/* Returns the only run of which something is taken, or `fan`. */
static size_t merge_tile(tile *t, size_t total)
{
  RS_ASSERT(total > 0);
  const size_t only = only_run(t, total);
  if (only < t->fan)
    emit_run(t, only, total);
  else if (!merge_two(t))
    merge_pairs_of(t, total);
  advance(t, total);
  return only;
}

static void slide(tile *t, size_t r, size_t taken)
{
  run_state *const run = &t->runs[r];
  const bool direct = run->keys == run->next;
  unsigned char *const keys = window_of(t, r);
  RS_ASSERT(taken <= run->have);
  run->have -= taken;
  if (!direct) memmove(keys, keys + taken * t->key_size, (run->have + 1) * t->key_size);
  run->next += taken * t->pass->format.record_size;
  if (direct) run->keys = run->next;
  run->index += taken;
}

static void slide_all(tile *t)
{
  for (size_t r = 0; r < t->fan; r++)
    if (t->runs[r].taken) slide(t, r, t->runs[r].taken);
}

/* ---- Drain ---- */

/* Moves the records of a run whose keys are less than a key, or `or_equal`; NULL: all. */
static bool drain_run(tile *t, size_t r, const unsigned char *key, bool or_equal)
{
  const run_state *const run = &t->runs[r];
  while (run->have) {
    const int order = key ? run_compare(t->key_size, key_of(t, r, run->have - 1), key) : -1;
    const bool all = order < 0 || (or_equal && order == 0);
    const size_t count = all ? run->have : count_below(t, r, key, or_equal);
    if (count == 0) break;
    emit_run(t, r, count);
    advance(t, count);
    slide(t, r, count);
    if (!fill(t, r, true)) return false;
  }
  return true;
}

/* Moves what is equal to the last record that was taken of run `bound`. */
static bool drain_equal(tile *t, size_t bound)
{
  RS_ASSERT(bound < t->fan);
  const unsigned char *const key = t->runs[bound].keys - t->key_size;
  for (size_t r = bound; r < t->fan; r++)
    if (t->runs[r].have && run_compare(t->key_size, t->runs[r].keys, key) <= 0 &&
        !drain_run(t, r, key, true))
      return false;
  return true;
}

/* Moves what comes in a run before the first record of any other. */
static bool drain_only(tile *t, size_t only)
{
  RS_ASSERT(only < t->fan);
  const unsigned char *least = NULL;
  size_t from = t->fan;
  for (size_t r = 0; r < t->fan; r++) {
    const unsigned char *const key = t->runs[r].keys;
    if (r == only || t->runs[r].have == 0) continue;
    if (least && run_compare(t->key_size, key, least) >= 0) continue;
    least = key;
    from = r;
  }
  return drain_run(t, only, least, only < from);
}

/* ---- A piece ---- */

/* Gives the parts of a tile their places in a thread's scratch. */
static void open_tile(tile *t, unsigned char *scratch)
{
  RS_ASSERT((uintptr_t)scratch % sizeof(uint64_t) == 0);
  const tile_parts parts = divide(t->pass->fan, t->key_size);
  t->window = window_for(t->fan, t->key_size, t->pass->format.record_size);
  t->shift = log2_of(t->window);
  t->pair_bits = t->shift + bits_of(t->fan - 1);
  RS_ASSERT(t->fan <= t->pass->fan && t->pair_bits < PAIR_BITS);
  t->runs = (void *)(scratch + parts.runs);
  t->sorted = (void *)(scratch + parts.sorted);
  t->players = (void *)(scratch + parts.players);
  t->keys = scratch + parts.keys;
  t->pairs = (void *)(scratch + parts.pairs);
  t->other = (void *)(scratch + parts.other);
  if (t->pass->stream) t->stage = scratch + parts.stage;
  t->emission = (emission){.from = (void *)(scratch + parts.from),
                           .ahead = (void *)(scratch + parts.ahead),
                           .index = (void *)(scratch + parts.index),
                           .mask = (UINT64_C(1) << t->pair_bits) - 1,
                           .place = t->window - 1,
                           .shift = t->shift};
}

static bool merge_tiles(tile *t)
{
  size_t total, bound;
  while ((total = cut(t, &bound)) > 0) {
    const size_t only = merge_tile(t, total);
    slide_all(t);
    if (!fill_all(t, true)) return false;
    if (bound < t->fan && !drain_equal(t, bound)) return false;
    if (only < t->fan && !drain_only(t, only)) return false;
    if (atomic_load_explicit(&t->pass->bad, memory_order_relaxed)) return false;
  }
  return true;
}

void rs_run_merge_piece(run_pass *pass, const run_piece *piece, unsigned char *scratch)
{
  tile t = {.pass = pass,
            .key_size = pass->format.key_size,
            .kernels = rs_best_kernels(),
            .out = pass->to + piece->at * element_size(pass)};
  const size_t runs = run_group_size(pass, piece->group);
  RS_ASSERT(runs > 0);
  for (size_t r = 0; r < runs; r++)
    t.fan += piece->from[r] < piece->to[r];
  if (t.fan == 0) return;
  if (pass->output == RUN_KEYED) t.out_indices = pass->to_indices + piece->at * pass->order_size;
  open_tile(&t, scratch);
  if (!begin(&t, piece) || !merge_tiles(&t))
    atomic_store_explicit(&pass->bad, true, memory_order_relaxed);
}
