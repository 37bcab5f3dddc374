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
 */
#include <string.h>

#include "common/stream_copy.h"
#include "runs/runs.h"

/* A run, or what a piece has of it. */
typedef struct run_state {
  const unsigned char *next; /* the record of the first key in the window */
  const unsigned char *keys; /* of the window: records themselves, if these are keys as they are */
  uint64_t beyond;           /* records behind those in the window */
  uint64_t index;            /* of the record at `next` */
  size_t have;               /* keys in the window */
  size_t taken;              /* of them, in this tile */
} run_state;

typedef struct tile {
  run_pass *pass;
  size_t fan;
  size_t key_size;
  size_t window;      /* keys of a run */
  unsigned shift;     /* log2 of that */
  unsigned pair_bits; /* of run and place */
  run_state runs[RUN_MOST];
  unsigned char *keys; /* of each run the key before the window, and the window */
  uint64_t *pairs;
  uint64_t *other;
  unsigned char *stage; /* STAGE_BYTES of output on their way past the caches; NULL: none */
  const merge_kernels *kernels;
  unsigned char *out;
  unsigned trees; /* tiles that shall go to the tree without a try */
} tile;

enum { STAGE_BYTES = 32 << 10, STAGE_MOST = 256 /* bytes of a record that goes there */ };

/* ---- Memory ---- */

static unsigned log2_of(size_t value)
{
  return 63 - (unsigned)__builtin_clzll(value);
}

/* Keys that a window holds, a power of two. */
static size_t window_for(size_t fan, size_t key_size)
{
  enum { FEW_RUNS = 16, BYTES = RUN_TILE_PAIRS * 8 };
  const size_t pairs = fan <= FEW_RUNS ? TILE_PAIRS : RUN_TILE_PAIRS;
  const size_t bytes = key_size > 8 ? BYTES / key_size : pairs;
  const size_t keys = (bytes < pairs ? bytes : pairs) / fan;
  return keys < 2 ? 1 : (size_t)1 << log2_of(keys);
}

static size_t keys_bytes(size_t fan, size_t key_size)
{
  return (fan * (window_for(fan, key_size) + 1) * key_size + 63) / 64 * 64;
}

size_t run_tile_scratch(size_t fan, size_t key_size)
{
  const size_t pairs = fan * window_for(fan, key_size) * sizeof(uint64_t);
  size_t keys;
  if (__builtin_mul_overflow(fan * (window_for(fan, key_size) + 1), key_size, &keys) ||
      keys > SIZE_MAX / 4)
    return 0;
  /* The cuts are made in the same memory: they take two keys. */
  return keys_bytes(fan, key_size) + 2 * ((pairs + 63) / 64 * 64) + STAGE_BYTES + 2 * key_size;
}

static unsigned char *window_of(const tile *t, size_t run)
{
  return t->keys + run * (t->window + 1) * t->key_size;
}

static const unsigned char *key_of(const tile *t, size_t run, size_t place)
{
  return t->runs[run].keys + place * t->key_size;
}

/* ---- Fill ---- */

/* `has_before`: the key before those that are read is there, too. */
static bool fill(tile *t, size_t r, bool has_before)
{
  run_state *const run = &t->runs[r];
  const run_format *const format = &t->pass->format;
  const size_t room = t->window - run->have,
               count = run->beyond < room ? (size_t)run->beyond : room;
  if (count == 0) return true;
  const unsigned char *const keys = run->keys + run->have * t->key_size;
  if (run->keys != run->next &&
      !run_read_keys(format, run->next + run->have * format->record_size, count,
                     window_of(t, r) + (run->have + 1) * t->key_size))
    return false;
  run->have += count;
  run->beyond -= count;
  if (!t->pass->check) return true;
  return has_before ? run_in_order(t->key_size, keys - t->key_size, count + 1)
                    : run_in_order(t->key_size, keys, count);
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
  return format->is_plain && format->flip == 0 && (uintptr_t)records % sizeof(uint64_t) == 0;
}

/* What a piece has of its runs. */
static bool begin(tile *t, const run_piece *piece)
{
  const run_pass *const pass = t->pass;
  const size_t first = piece->group * pass->fan, size = pass->format.record_size;
  for (size_t r = 0; r < t->fan; r++) {
    run_state *const run = &t->runs[r];
    const uint64_t from = piece->from[r];
    *run = (run_state){.next = t->keys,
                       .keys = t->keys,
                       .beyond = piece->to[r] - from,
                       .index = pass->first[first + r] + from};
    if (run->beyond == 0) continue;
    run->next = (const unsigned char *)pass->runs[first + r].records + from * size;
    run->keys = are_keys(&pass->format, run->next) ? run->next : window_of(t, r) + t->key_size;
    if (pass->check && from && run->keys != run->next &&
        !run_read_keys(&pass->format, run->next - size, 1, window_of(t, r)))
      return false;
    if (!fill(t, r, from != 0)) return false;
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

/* Sets what is taken of each run. Returns the sum. */
static size_t cut(tile *t)
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

static unsigned bits_of(uint64_t value)
{
  return value ? 64u - (unsigned)__builtin_clzll(value) : 0;
}

static inline uint64_t word_at(const unsigned char *key, size_t word)
{
  return ((const uint64_t *)(const void *)key)[word];
}

/* Of the least and the greatest key that are taken. */
static key_bits choose_bits(const tile *t, const unsigned char *least,
                            const unsigned char *greatest)
{
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
  return choose_bits(t, least, greatest);
}

static void pack_run(const tile *t, size_t r, key_bits bits, uint64_t *to)
{
  const unsigned char *const keys = key_of(t, r, 0);
  const size_t count = t->runs[r].taken;
  const uint64_t tag = PAIR_MARK | (uint64_t)r << t->shift;
  if (t->key_size == 4) {
    const uint32_t base = (uint32_t)bits.base, *const key = (const void *)keys;
    for (size_t i = 0; i < count; i++)
      to[i] = (uint64_t)(key[i] - base) << t->pair_bits | tag | i;
  } else if (t->key_size == 8) {
    const uint64_t *const key = (const void *)keys;
    for (size_t i = 0; i < count; i++)
      to[i] = (key[i] - bits.base) >> bits.low << t->pair_bits | tag | i;
  } else {
    const size_t word = bits.low / 64, next = word + 1 < t->key_size / 8 ? word + 1 : word;
    const unsigned bit = bits.low % 64;
    const uint64_t mask = (UINT64_C(1) << (PAIR_BITS - t->pair_bits)) - 1;
    for (size_t i = 0; i < count; i++) {
      const unsigned char *const key = keys + i * t->key_size;
      uint64_t part = word_at(key, word) >> bit;
      if (bit) part |= word_at(key, next) << (64 - bit);
      to[i] = (part & mask) << t->pair_bits | tag | i;
    }
  }
}

/* ---- Merge ---- */

/* Merges neighbours until one run is left, which is in the returned one of two buffers. Only what
 * is at `from` in the beginning may lie elsewhere. */
static uint64_t *merge_pairs(const merge_kernels *kernels, run64 *runs, size_t count, uint64_t *to,
                             uint64_t *other)
{
  while (count > 1) {
    const size_t half = (count + 1) / 2;
    uint64_t *at = to;
    for (size_t r = 0; r < half; r++) {
      const run64 a = runs[2 * r];
      const run64 b = 2 * r + 1 < count ? runs[2 * r + 1] : (run64){a.at, 0};
      const run64 merged = {at, a.count + b.count};
      merge_runs(kernels, a, b, at);
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
  run_keys runs[RUN_MOST];
  for (size_t r = 0; r < t->fan; r++)
    runs[r] = (run_keys){key_of(t, r, 0), t->runs[r].taken};
  run_tree_merge(runs, t->fan, t->key_size, t->shift, t->pairs);
}

static const unsigned char *key_of_pair(const tile *t, uint64_t pair)
{
  const size_t id = (size_t)(pair & ((UINT64_C(1) << t->pair_bits) - 1));
  return key_of(t, id >> t->shift, id & (t->window - 1));
}

/* Sorts pairs of equal bits by their keys, by insertion. Returns false if that takes too long. */
static bool repair(tile *t, uint64_t *pairs, size_t total)
{
  enum { MOVES_A_PAIR = 4 };
  size_t moves = MOVES_A_PAIR * total;
  for (size_t i = 1; i < total; i++) {
    const uint64_t pair = pairs[i];
    if (pair >> t->pair_bits != pairs[i - 1] >> t->pair_bits) continue;
    const unsigned char *const key = key_of_pair(t, pair);
    size_t j = i;
    for (; j > 0 && pairs[j - 1] >> t->pair_bits == pair >> t->pair_bits; j--) {
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
  run64 runs[RUN_MOST];
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
    runs[count++] = (run64){at, taken};
    at += taken;
  }
  uint64_t *const merged = merge_pairs(t->kernels, runs, count, t->other, t->pairs);
  if (bits.all || repair(t, merged, total)) return merged;
  t->trees = TREES;
  merge_by_tree(t);
  return t->pairs;
}

/* ---- Emit ---- */

/* What emits needs to know of a pair's record. */
typedef struct emission {
  const unsigned char *from[RUN_MOST];
  const unsigned char *ahead[RUN_MOST]; /* what is read after this tile, if there is more */
  uint64_t index[RUN_MOST];
  uint64_t mask;
  uint64_t place;
  unsigned shift;
} emission;

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

static void gather(const emission *e, const uint64_t *pairs, size_t count, unsigned char *out,
                   size_t size)
{
  switch (size) {
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
    emit_as(e, pairs, count, out, size);
  }
}

static void emit_records(const tile *t, const emission *e, const uint64_t *pairs, size_t count)
{
  const size_t size = t->pass->format.record_size;
  if (!t->stage || size > STAGE_MOST) {
    gather(e, pairs, count, t->out, size);
    return;
  }
  const size_t most = STAGE_BYTES / size;
  for (size_t i = 0; i < count; i += most) {
    const size_t part = count - i < most ? count - i : most;
    gather(e, pairs + i, part, t->stage, size);
    stream_copy(t->out + i * size, t->stage, part * size);
  }
}

/* The index of a record: its own, if it is keyed. */
static inline uint64_t index_of(const run_pass *pass, const emission *e, uint64_t pair)
{
  const size_t run = run_of(e, pair);
  const uint64_t place = pair & e->place;
  uint64_t index;
  if (!pass->format.is_keyed) return e->index[run] + place;
  memcpy(&index,
         e->from[run] + place * pass->format.record_size + keyed_index_at(pass->format.key_size),
         sizeof index);
  return index;
}

static void emit_indices(const run_pass *pass, const emission *e, const uint64_t *pairs,
                         size_t count, unsigned char *out)
{
  if (pass->index_bits == 32)
    for (size_t i = 0; i < count; i++)
      ((uint32_t *)(void *)out)[i] = (uint32_t)index_of(pass, e, pairs[i]);
  else
    for (size_t i = 0; i < count; i++)
      ((uint64_t *)(void *)out)[i] = index_of(pass, e, pairs[i]);
}

static void emit_keyed(const tile *t, const emission *e, const uint64_t *pairs, size_t count)
{
  const size_t index_at = keyed_index_at(t->key_size);
  unsigned char *out = t->out;
  for (size_t i = 0; i < count; i++, out += index_at + sizeof(uint64_t)) {
    const uint64_t index = index_of(t->pass, e, pairs[i]);
    memcpy(out, key_of(t, run_of(e, pairs[i]), pairs[i] & e->place), t->key_size);
    memcpy(out + index_at, &index, sizeof index);
  }
}

static size_t element_size(const run_pass *pass)
{
  switch (pass->output) {
  case RUN_INDEX:
    return pass->index_bits / 8;
  case RUN_KEYED:
    return keyed_index_at(pass->format.key_size) + sizeof(uint64_t);
  default:
    return pass->format.record_size;
  }
}

static void emit(tile *t, const uint64_t *pairs, size_t count)
{
  emission e = {
      .mask = (UINT64_C(1) << t->pair_bits) - 1, .place = t->window - 1, .shift = t->shift};
  for (size_t r = 0; r < t->fan; r++) {
    const run_state *const run = &t->runs[r];
    e.from[r] = run->next;
    e.ahead[r] = run->next + (run->beyond ? run->have * t->pass->format.record_size : 0);
    e.index[r] = run->index;
  }
  switch (t->pass->output) {
  case RUN_INDEX:
    emit_indices(t->pass, &e, pairs, count, t->out);
    break;
  case RUN_KEYED:
    emit_keyed(t, &e, pairs, count);
    break;
  default:
    emit_records(t, &e, pairs, count);
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

static void copy_only(const tile *t, size_t run)
{
  const size_t bytes = t->runs[run].taken * t->pass->format.record_size;
  if (t->stage)
    stream_copy(t->out, t->runs[run].next, bytes);
  else
    memcpy(t->out, t->runs[run].next, bytes);
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
  const unsigned bits = bits_of(t->fan - 1);
  const bool fits = greatest - least < PAIR_MARK >> bits;
  return fits ? (plain_pairs){least, PAIR_MARK, bits} : (plain_pairs){0, 0, 0};
}

/* Plain records need no index, as a record is made from its key. */
static void merge_plain(tile *t, size_t total)
{
  const plain_pairs how = choose_plain(t);
  run64 runs[RUN_MOST];
  size_t count = 0;
  uint64_t *to = t->pairs;
  for (size_t r = 0; r < t->fan; r++) {
    const size_t taken = t->runs[r].taken;
    const uint64_t *const keys = (const void *)t->runs[r].keys;
    const uint64_t tag = how.mark ? how.mark | r : 0;
    if (taken == 0) continue;
    for (size_t i = 0; i < taken; i++)
      to[i] = (keys[i] - how.base) << how.bits | tag;
    runs[count++] = (run64){to, taken};
    to += taken;
  }
  const merge_kernels *const kernels = how.mark ? t->kernels : &rs_scalar_kernels;
  unpack_plain(t, merge_pairs(kernels, runs, count, t->other, t->pairs), total, how);
}

/* Merges a tile of two runs as records; false, with nothing done, if it is none, or not so. */
static bool merge_two(const tile *t)
{
  const size_t size = t->pass->format.record_size;
  const run_state *two[2];
  size_t count = 0;
  if (t->key_size > 8 || size > STAGE_MOST) return false;
  for (size_t r = 0; r < t->fan; r++) {
    if (t->runs[r].taken == 0) continue;
    if (count == 2) return false;
    two[count++] = &t->runs[r];
  }
  const bool ahead = two[0]->beyond && two[1]->beyond;
  const run_zip zip = {.a = {two[0]->keys, two[0]->next, two[0]->taken},
                       .b = {two[1]->keys, two[1]->next, two[1]->taken},
                       .out = t->out,
                       .stage = t->stage,
                       .stage_size = STAGE_BYTES,
                       .ahead = ahead ? t->window * size : 0};
  run_zip_merge(&zip, t->key_size, size);
  return true;
}

static void merge_pairs_of(tile *t, size_t total)
{
  if (t->pass->output == RUN_RECORDS && t->pass->format.is_plain)
    merge_plain(t, total);
  else
    emit(t, order_tile(t, total), total);
}

static void merge_tile(tile *t, size_t total)
{
  const bool records = t->pass->output == RUN_RECORDS;
  const size_t only = only_run(t, total);
  if (records && only < t->fan)
    copy_only(t, only);
  else if (!records || !merge_two(t))
    merge_pairs_of(t, total);
  t->out += total * element_size(t->pass);
}

static void slide(tile *t)
{
  for (size_t r = 0; r < t->fan; r++) {
    run_state *const run = &t->runs[r];
    if (run->taken == 0) continue;
    const bool direct = run->keys == run->next;
    unsigned char *const keys = window_of(t, r);
    run->have -= run->taken;
    if (!direct) memmove(keys, keys + run->taken * t->key_size, (run->have + 1) * t->key_size);
    run->next += run->taken * t->pass->format.record_size;
    if (direct) run->keys = run->next;
    run->index += run->taken;
  }
}

void run_merge_piece(run_pass *pass, const run_piece *piece, unsigned char *scratch)
{
  tile t = {.pass = pass,
            .fan = run_group_size(pass, piece->group),
            .key_size = pass->format.key_size,
            .window = window_for(pass->fan, pass->format.key_size),
            .keys = scratch,
            .kernels = rs_best_kernels(),
            .out = pass->to + piece->at * element_size(pass)};
  const size_t pairs_at = keys_bytes(pass->fan, t.key_size);
  t.shift = log2_of(t.window);
  t.pair_bits = t.shift + bits_of(t.fan - 1);
  t.pairs = (uint64_t *)(void *)(scratch + pairs_at);
  t.other = t.pairs + (pass->fan * t.window + 7) / 8 * 8;
  if (pass->stream) t.stage = (unsigned char *)(t.other + (pass->fan * t.window + 7) / 8 * 8);
  bool good = begin(&t, piece);
  while (good && !atomic_load_explicit(&pass->bad, memory_order_relaxed)) {
    const size_t total = cut(&t);
    if (total == 0) return;
    merge_tile(&t, total);
    slide(&t);
    good = fill_all(&t, true);
  }
  if (!good) atomic_store_explicit(&pass->bad, true, memory_order_relaxed);
}
