/* records.c - sorts the records themselves: the extension "recsort.host-records/1".
 *
 *   classify   encodes the keys, and finds the bucket of each record by splitters (splitters.h)
 *   scatter    moves each record to its bucket, in input order
 *   finish     for each bucket, whose records fit a second-level cache: encodes its keys once more,
 *              finds their order (order.h), which is checked, and moves the records to their places
 *
 * So memory is read and written twice, by streams, where a gather by a permutation of all records
 * would wait for memory at each record. As many records as fit a cache are one bucket, and so are
 * nearly sorted ones for one thread. Other ordered records are left to the sort of keys.
 *
 * In place, the buckets are in the working memory and go back to the records. Should a check fail,
 * the numbers of the buckets tell where each record came from, and all of them are put back. Sorted
 * to another array, the buckets are in that already, and each is sorted by way of a thread's cache.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/platform/clock.h"
#include "base/stream_copy.h"
#include "base/work_size.h"
#include "cpu/gather.h"
#include "cpu/order.h"
#include "cpu/sorts.h"
#include "cpu/splitters.h"
#include "cpu/streams.h"
#include "cpu/wide_order.h"

enum {
  BUCKET_BYTES = 3 << 16,  /* of records in a bucket, about */
  FEWEST_RECORDS = 1 << 9, /* in a bucket, about */
  MOST_RECORDS = 1 << 14,
  WORTH_BUCKETS = 32, /* fewer are one bucket of one thread, while all fit a third-level cache */
  MANY_BUCKETS = 1 << 10, /* as their streams fill the caches, more of them are twice as large */
  LARGEST_BUCKET = 5,     /* times the mean; a sample of 16 a bucket is hardly ever so wrong */
  STAGE_BYTES = 1 << 12,
  MOST_KEY_WORDS = 4 /* of 64 bits */
};

/* The parts of the job's memory. A size of 0: there is no such part. */
typedef struct layout {
  uint64_t copy;    /* of the records, if they are sorted in place in several buckets */
  uint64_t buckets; /* the bucket of each record; before that the sample */
  uint64_t splitters;
  uint64_t begin; /* where the part of each piece begins in each bucket, bucket by bucket */
  uint64_t next;  /* where those parts end once the records have moved */
  uint64_t slots; /* what a thread needs to order a bucket */
  uint64_t bytes;
} layout;

typedef struct record_sort {
  const recsort_plugin_job *job;
  const recsort_key_program *program;
  const char *records;
  char *sorted;
  char *scattered; /* the records by buckets, if there are several: the copy, or sorted */
  layout at;
  char *memory;
  size_t count;
  size_t size; /* of a record */
  size_t key_size;
  unsigned index_bits; /* below the key in a word; 0: a word is 64 bits of a key, the upper ones */
  copy_class copy;
  size_t buckets;
  size_t room; /* records that a bucket may have */
  bool nearly; /* sorted: then one bucket may have any number of records */
  size_t pieces;
  team team;
  atomic_bool good;
} record_sort;

/* ---- The plan ---- */

/* Records that a bucket should have at most, on average. */
static size_t fitting(size_t size)
{
  const size_t fits = BUCKET_BYTES / size;
  return fits < FEWEST_RECORDS ? FEWEST_RECORDS : fits < MOST_RECORDS ? fits : MOST_RECORDS;
}

static size_t buckets_for(const record_sort *s)
{
  const size_t wanted = s->count / fitting(s->size);
  size_t buckets = 2;
  if (s->team.threads == 1 && wanted < WORTH_BUCKETS) return 1;
  while (buckets <= (buckets < MANY_BUCKETS ? wanted : wanted / 2) && buckets < MOST_BUCKETS)
    buckets *= 2;
  return buckets;
}

/* Room for a bucket that is larger than the mean, as the sample cannot tell exactly. More records
 * never need less. */
static size_t room_for(const record_sort *s)
{
  const size_t mean = s->count / s->buckets + 1;
  const size_t fits = (s->buckets < MANY_BUCKETS ? 1 : 2) * fitting(s->size);
  return LARGEST_BUCKET * (mean > fits ? mean : fits);
}

/* A bucket whose records stay in place goes by way of a copy. */
static bool goes_by_way(const record_sort *s, bool in_place)
{
  return (s->buckets == 1) == in_place;
}

static bool is_wide(const record_sort *s)
{
  return s->key_size > sizeof(uint64_t);
}

/* Bytes that a thread needs for a bucket: an order, its keys and what it takes to find the order,
 * and later in their place the copy. Before that, for the streams to all buckets. */
static uint64_t slot_bytes(const record_sort *s, bool in_place)
{
  const size_t more = is_wide(s) ? sizeof(uint64_t) + sizeof(uint32_t) : 0;
  const size_t scratch = s->key_size + sizeof(uint32_t) + more;
  const size_t copy = goes_by_way(s, in_place) ? s->size : 0;
  const uint64_t streams = s->buckets * (STREAM_BYTES + sizeof(stream));
  uint64_t bytes = 0;
  (void)work_add(&bytes, s->room, sizeof(uint32_t));
  (void)work_add(&bytes, s->room, scratch > copy ? scratch : copy);
  return bytes > streams ? bytes : (streams + 63) / 64 * 64;
}

static bool place_all(record_sort *s, bool in_place)
{
  layout *const at = &s->at;
  const bool parted = s->buckets > 1;
  const uint64_t counts = parted ? s->pieces * s->buckets + 1 : 0;
  *at = (layout){.bytes = 0};
  return work_place(&at->bytes, &at->copy, in_place && parted ? s->count : 0, s->size) &&
         work_place(&at->bytes, &at->buckets, parted ? s->count : 0, sizeof(uint16_t)) &&
         work_place(&at->bytes, &at->splitters, parted, splitters_size(s->buckets)) &&
         work_place(&at->bytes, &at->begin, counts, sizeof(uint64_t)) &&
         work_place(&at->bytes, &at->next, counts, sizeof(uint64_t)) &&
         work_place(&at->bytes, &at->slots, s->team.threads, slot_bytes(s, in_place));
}

static bool place_one_bucket(record_sort *s, bool in_place)
{
  s->buckets = 1;
  s->room = s->count;
  return place_all(s, in_place);
}

/* What records look like is not known yet, so there is room for either sort of them. */
static bool plan_memory(record_sort *s, bool in_place)
{
  if (!place_all(s, in_place)) return false;
  if (s->buckets == 1 || s->team.threads > 1) return true;
  record_sort whole = *s;
  const bool fits = place_one_bucket(&whole, in_place);
  if (fits && whole.at.bytes > s->at.bytes) s->at.bytes = whole.at.bytes;
  return fits;
}

/* Threads worth waking. One sorts so few records as one bucket, which several cannot, and is as
 * fast as two or three of them. */
static size_t threads_for(uint64_t count, unsigned threads)
{
  enum { WORTH_A_THREAD = 1 << 15, WORTH_THREE = 1 << 16, WORTH_TWO = 1 << 17 };
  if (count < (threads < 3 ? WORTH_TWO : WORTH_THREE)) return 1;
  return (size_t)(count / WORTH_A_THREAD + 1);
}

/* Plans the sort. False: it should be done by keys. */
static bool plan(record_sort *s, const recsort_plugin_job *job, const recsort_key_program *program,
                 bool in_place, team t)
{
  enum { PIECES_A_THREAD = 4, WORTH_A_GATHER = 64 };
  const unsigned index_bits = index_bits_for(job->count);
  if (job->algorithm != 0 || job->key_width > 64 * MOST_KEY_WORDS) return false;
  if (job->count > UINT64_C(1) << 42 || job->count == 0) return false;
  if (!in_place && program->record_size > WORTH_A_GATHER) return false;
  s->job = job; /* member by member: to fill all with zeros takes as long as ten records */
  s->program = program;
  s->count = (size_t)job->count;
  s->size = (size_t)program->record_size;
  s->key_size = job->key_width / 8;
  s->index_bits = packs(job->key_bits, index_bits, 64) ? index_bits : 0;
  s->copy = copy_class_of((size_t)program->record_size);
  s->team = team_of_at_most(t, threads_for(job->count, t.threads));
  s->good = true;
  s->buckets = buckets_for(s);
  s->room = s->buckets > 1 ? room_for(s) : s->count;
  s->nearly = false;
  s->pieces = s->team.threads > 1 ? (size_t)PIECES_A_THREAD * s->team.threads : 1;
  return s->room <= (size_t)1 << KEYS_ORDER_BITS && plan_memory(s, in_place);
}

/* ---- Keys ---- */

static wide_keys wide_keys_of(const record_sort *s, const void *keys)
{
  return (wide_keys){keys, s->key_size / sizeof(uint64_t), s->job->key_bits};
}

/* The word of record `i`, whose key is keys[at]: words of different records differ and are in the
 * order of the sort; but if there is no room for an index, keys may have the same word. */
static inline uint64_t word_of(const record_sort *s, const void *keys, size_t at, size_t i)
{
  if (is_wide(s)) {
    const wide_keys wide = wide_keys_of(s, keys);
    return wide_prefix(&wide, at);
  }
  uint64_t key;
  if (s->key_size == sizeof(uint32_t)) {
    uint32_t half;
    memcpy(&half, (const char *)keys + at * sizeof half, sizeof half);
    key = half;
  } else {
    memcpy(&key, (const char *)keys + at * sizeof key, sizeof key);
  }
  return s->index_bits ? key << s->index_bits | i : key;
}

/* ---- One bucket ---- */

typedef struct slot_memory {
  uint32_t *order;
  char *keys;
  uint64_t *column; /* this and `spare` only for wide keys */
  uint32_t *other;
  uint32_t *spare;
  char *copy; /* overlaps all but `order` */
} slot_memory;

static char *slot_at(const record_sort *s, unsigned slot)
{
  return s->memory + s->at.slots + slot * slot_bytes(s, s->sorted == s->records);
}

static slot_memory memory_of(const record_sort *s, unsigned slot)
{
  char *const order = slot_at(s, slot);
  char *const keys = order + (s->room * sizeof(uint32_t) + 63) / 64 * 64;
  char *const column = keys + s->room * s->key_size;
  char *const other = column + (is_wide(s) ? s->room * sizeof(uint64_t) : 0);
  char *const spare = other + s->room * sizeof(uint32_t);
  return (slot_memory){(uint32_t *)(void *)order,  keys,
                       (uint64_t *)(void *)column, (uint32_t *)(void *)other,
                       (uint32_t *)(void *)spare,  keys};
}

/* Gathers to memory that is too large for the caches: by way of a stage that stays in one. */
__attribute__((noinline)) static void gather_far(const gathering *g, const char *from, char *to)
{
  char stage[STAGE_BYTES];
  const size_t most = STAGE_BYTES / g->size;
  for (size_t i = 0; i < g->count; i += most) {
    const size_t some = g->count - i < most ? g->count - i : most;
    rs_gather_some(g, i, some, from, stage);
    stream_part(to + i * g->size, stage, some * g->size);
  }
  stream_done();
}

/* Gathers within the bucket. */
static void gather_by_way(const gathering *g, char *bucket, char *copy)
{
  if (!g->order) return;
  rs_gather_some(g, 0, g->count, bucket, copy);
  memcpy(bucket, copy, g->count * g->size);
}

static keys_found find_order(const record_sort *s, size_t count, const slot_memory *mine)
{
  if (is_wide(s)) {
    const wide_keys wide = wide_keys_of(s, mine->keys);
    return rs_wide_order(&wide, s->nearly, count, mine->column, mine->order, mine->other,
                         mine->spare);
  }
  const unsigned width = 8 * (unsigned)s->key_size;
  return (s->nearly ? rs_keys_order_nearly : rs_keys_order)(mine->keys, width, count, mine->order,
                                                            mine->other);
}

/* Finds the order of the records of a bucket. */
static recsort_status order_bucket(const record_sort *s, const char *records, size_t count,
                                   unsigned slot, gathering *found)
{
  const slot_memory mine = memory_of(s, slot);
  *found = (gathering){NULL, count, s->size, s->copy};
  if (!s->job->encode(s->program, records, count, mine.keys)) return RECSORT_PLUGIN_ERROR;
  switch (find_order(s, count, &mine)) {
  case KEYS_ORDERED:
    found->order = mine.order;
    return RECSORT_OK;
  case KEYS_IN_ORDER:
    return RECSORT_OK;
  case KEYS_UNORDERED:
    return RECSORT_PLUGIN_ERROR;
  case KEYS_WRONG:
    break;
  }
  return RECSORT_CORRUPT_RESULT;
}

/* ---- Classify ---- */

static uint64_t *words_at(const record_sort *s, uint64_t offset)
{
  return (uint64_t *)(void *)(s->memory + offset);
}

static splitters *splitters_of(const record_sort *s)
{
  return (splitters *)(void *)(s->memory + s->at.splitters);
}

static uint16_t *buckets_of(const record_sort *s)
{
  return (uint16_t *)(void *)(s->memory + s->at.buckets);
}

/* Sample `number` of `samples`: one out of each of as many equal stretches, at a place in it that
 * no data follows. */
static size_t sampled(const record_sort *s, size_t number, size_t samples)
{
  const team_range stretch = team_cut(s->count, number, samples);
  const uint64_t mixed = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
  return stretch.begin + (size_t)((mixed >> 32) % (stretch.end - stretch.begin));
}

/* The sample and its order are where the numbers of buckets will be. */
static void sample_piece(void *argument, size_t piece, unsigned slot)
{
  enum { AHEAD = 16 };
  record_sort *const s = argument;
  const size_t samples = s->buckets * SAMPLES_A_BUCKET;
  const team_range range = team_cut(samples, piece, s->pieces);
  uint64_t *const words = words_at(s, s->at.buckets);
  (void)slot;
  for (size_t n = range.begin; n < range.end; n++) {
    uint64_t key[MOST_KEY_WORDS] = {0};
    const size_t i = sampled(s, n, samples);
    if (n + AHEAD < range.end)
      __builtin_prefetch(s->records + sampled(s, n + AHEAD, samples) * s->size);
    if (!s->job->encode(s->program, s->records + i * s->size, 1, key)) s->good = false;
    words[n] = word_of(s, key, 0, i);
  }
}

static bool make_splitters(record_sort *s)
{
  const size_t samples = s->buckets * SAMPLES_A_BUCKET;
  uint64_t *const words = words_at(s, s->at.buckets), *const sorted = words + samples;
  uint32_t *const order = (uint32_t *)(void *)(sorted + samples);
  team_each(s->team, s->pieces, sample_piece, s);
  if (!s->good || rs_keys_order(words, 64, samples, order, order + samples) == KEYS_WRONG)
    return false;
  for (size_t n = 0; n < samples; n++)
    sorted[n] = words[order[n]];
  rs_splitters_make(splitters_of(s), sorted, s->buckets, s->index_bits);
  return true;
}

/* Writes the buckets of records [first, first + count), of which these are the keys. */
static void find_buckets(const record_sort *s, const uint64_t *keys, size_t first, size_t count)
{
  uint64_t words[CLASSIFY_AT_ONCE];
  uint16_t *const buckets = buckets_of(s) + first;
  if (s->key_size == sizeof(uint32_t) && splitters_need_keys_only(splitters_of(s))) {
    rs_splitters_classify_keys(splitters_of(s), keys, count, buckets);
  } else if (s->key_size == sizeof *keys && s->index_bits == 0) {
    rs_splitters_classify(splitters_of(s), keys, count, buckets);
  } else {
    for (size_t n = 0; n < count; n++)
      words[n] = word_of(s, keys, n, first + n);
    rs_splitters_classify(splitters_of(s), words, count, buckets);
  }
}

static void classify_piece(void *argument, size_t piece, unsigned slot)
{
  record_sort *const s = argument;
  const team_range range = team_cut(s->count, piece, s->pieces);
  uint64_t counts[MOST_BUCKETS] = {0}, keys[CLASSIFY_AT_ONCE * MOST_KEY_WORDS];
  bool valid = true;
  (void)slot;
  for (size_t i = range.begin; i < range.end; i += CLASSIFY_AT_ONCE) {
    const size_t left = range.end - i, count = left < CLASSIFY_AT_ONCE ? left : CLASSIFY_AT_ONCE;
    valid &= s->job->encode(s->program, s->records + i * s->size, count, keys) != 0;
    find_buckets(s, keys, i, count);
    for (size_t n = i; n < i + count; n++)
      counts[buckets_of(s)[n]]++;
  }
  for (size_t b = 0; b < s->buckets; b++)
    words_at(s, s->at.begin)[b * s->pieces + piece] = counts[b];
  if (!valid) s->good = false;
}

/* Turns counts into places. False: a bucket has more records than there is room for. */
static bool place_buckets(const record_sort *s)
{
  uint64_t *const begin = words_at(s, s->at.begin);
  uint64_t at = 0;
  for (size_t b = 0; b < s->buckets; b++) {
    const uint64_t first = at;
    for (size_t i = b * s->pieces; i < (b + 1) * s->pieces; i++) {
      const uint64_t count = begin[i];
      begin[i] = at;
      at += count;
    }
    if (at - first > s->room) return false;
  }
  begin[s->buckets * s->pieces] = at;
  return true;
}

/* ---- Scatter ---- */

/* Moves the records of a piece to their buckets. `as` is a constant in each call. */
__attribute__((always_inline)) static inline void scatter_as(const record_sort *s, size_t piece,
                                                             unsigned slot, copy_class as)
{
  enum { AHEAD = 128 }; /* records; what fetches ahead by itself stops at the end of a page */
  const team_range range = team_cut(s->count, piece, s->pieces);
  const uint16_t *const buckets = buckets_of(s);
  char *const parts = slot_at(s, slot);
  stream *const streams = (stream *)(void *)(parts + s->buckets * STREAM_BYTES);
  for (size_t b = 0; b < s->buckets; b++)
    streams[b] =
        stream_at(s->scattered + words_at(s, s->at.begin)[b * s->pieces + piece] * s->size);
  for (size_t i = range.begin; i < range.end; i++) {
    if (i + AHEAD < range.end) __builtin_prefetch(s->records + (i + AHEAD) * s->size);
    stream *const to = &streams[buckets[i]];
    char *const part = parts + buckets[i] * (size_t)STREAM_BYTES;
    copy_record(part + to->filled, s->records + i * s->size, s->size, as);
    to->filled += (uint32_t)s->size;
    if (to->filled >= STREAM_PART) stream_leave(to, part);
  }
  for (size_t b = 0; b < s->buckets; b++) {
    stream_end(&streams[b], parts + b * STREAM_BYTES);
    words_at(s, s->at.next)[b * s->pieces + piece] =
        (uint64_t)(streams[b].to - s->scattered) / s->size;
  }
  stream_done();
}

/* Records that are too large for streams. If `back`, from the buckets to where they were. */
static void move_piece(const record_sort *s, size_t piece, bool back)
{
  const team_range range = team_cut(s->count, piece, s->pieces);
  const uint16_t *const buckets = buckets_of(s);
  uint64_t next[MOST_BUCKETS];
  for (size_t b = 0; b < s->buckets; b++)
    next[b] = words_at(s, s->at.begin)[b * s->pieces + piece];
  for (size_t i = range.begin; i < range.end; i++) {
    char *const there = s->scattered + next[buckets[i]]++ * s->size;
    if (back)
      memcpy(s->sorted + i * s->size, there, s->size);
    else
      memcpy(there, s->records + i * s->size, s->size);
  }
  for (size_t b = 0; b < s->buckets; b++)
    words_at(s, s->at.next)[b * s->pieces + piece] = next[b];
}

static void scatter_piece(void *argument, size_t piece, unsigned slot)
{
  const record_sort *const s = argument;
  switch (s->copy) {
  case COPY_TWO_4:
    scatter_as(s, piece, slot, COPY_TWO_4);
    break;
  case COPY_TWO_8:
    scatter_as(s, piece, slot, COPY_TWO_8);
    break;
  case COPY_TWO_16:
    scatter_as(s, piece, slot, COPY_TWO_16);
    break;
  case COPY_TWO_32:
    scatter_as(s, piece, slot, COPY_TWO_32);
    break;
  case COPY_BYTES:
    move_piece(s, piece, false);
  }
}

/* Each place has got one record if each piece has filled its part of each bucket, up to where the
 * next part begins. */
static bool all_places_taken(const record_sort *s)
{
  const uint64_t *const begin = words_at(s, s->at.begin), *const next = words_at(s, s->at.next);
  for (size_t i = 0; i < s->buckets * s->pieces; i++)
    if (next[i] != begin[i + 1]) return false;
  return true;
}

static void put_back_piece(void *argument, size_t piece, unsigned slot)
{
  (void)slot;
  move_piece(argument, piece, true);
}

/* ---- The sort ---- */

static void finish_one(void *argument, size_t bucket, unsigned slot)
{
  record_sort *const s = argument;
  const uint64_t *const begin = words_at(s, s->at.begin) + bucket * s->pieces;
  const size_t count = begin[s->pieces] - begin[0];
  const char *const from = s->scattered + begin[0] * s->size;
  char *const to = s->sorted + begin[0] * s->size;
  const bool far = s->count >= STREAM_LEAST / s->size && s->size <= STAGE_BYTES;
  gathering found;
  if (order_bucket(s, from, count, slot, &found) != RECSORT_OK)
    s->good = false;
  else if (from == to)
    gather_by_way(&found, to, memory_of(s, slot).copy);
  else if (far)
    gather_far(&found, from, to);
  else
    rs_gather_some(&found, 0, count, from, to);
}

/* Adds the time since the last lap. */
static void lap(double *since, double *total)
{
  const double seconds = rs_clock_seconds();
  if (*since > 0) *total += seconds - *since;
  *since = seconds;
}

static recsort_status sort_in_buckets(record_sort *s, recsort_plugin_times *times)
{
  double clock = 0;
  lap(&clock, &times->encode);
  if (!make_splitters(s)) return RECSORT_PLUGIN_ERROR;
  team_each(s->team, s->pieces, classify_piece, s);
  if (!s->good || !place_buckets(s)) return RECSORT_PLUGIN_ERROR;
  lap(&clock, &times->encode);
  team_each(s->team, s->pieces, scatter_piece, s);
  lap(&clock, &times->permute);
  if (!all_places_taken(s)) return RECSORT_CORRUPT_RESULT;
  team_each(s->team, s->buckets, finish_one, s);
  lap(&clock, &times->sort);
  if (s->good) return RECSORT_OK;
  if (s->sorted == s->records) team_each(s->team, s->pieces, put_back_piece, s);
  return RECSORT_CORRUPT_RESULT;
}

/* So few records that they are one bucket. */
static recsort_status sort_at_once(const record_sort *s, recsort_plugin_times *times)
{
  enum { WORTH_A_CLOCK = 256 }; /* two looks at it take as long as 10 to 20 records */
  const bool timed = s->count >= WORTH_A_CLOCK;
  gathering found;
  double clock = 0;
  if (timed) lap(&clock, &times->sort);
  const recsort_status status = order_bucket(s, s->records, s->count, 0, &found);
  if (status) return status;
  if (s->sorted == s->records)
    gather_by_way(&found, s->sorted, memory_of(s, 0).copy);
  else
    rs_gather_some(&found, 0, s->count, s->records, s->sorted);
  if (timed) lap(&clock, &times->sort);
  return RECSORT_OK;
}

/* FOR_KEYS: the sort of keys reverses a descending order, tells which record is invalid, and looks
 * for the bits that tell wide keys apart. */
typedef enum trend { NO_TREND, ASCENDING, FOR_KEYS } trend;

/* What a sample of neighbours looks like. One bucket makes use of an ascending order itself, so
 * then one ascent is enough to know. */
static trend trend_of(const record_sort *s)
{
  enum { WORTH_A_LOOK = 512, APART = 64, MOST = 1024 };
  const size_t looks = s->count / APART < MOST ? s->count / APART : MOST;
  size_t descents = 0, ascents = 0, same = 0;
  if (s->count < WORTH_A_LOOK) return NO_TREND;
  for (size_t n = 0; n < looks; n++) {
    const size_t i = s->count / looks * n;
    uint64_t keys[2 * MOST_KEY_WORDS] = {0};
    if (!s->job->encode(s->program, s->records + i * s->size, 2, keys)) return FOR_KEYS;
    const uint64_t first = word_of(s, keys, 0, 0), second = word_of(s, keys, 1, 0);
    descents += first > second;
    ascents += first < second;
    same += first == second;
    if (ascents > 0 && s->buckets == 1) return NO_TREND;
  }
  if (is_wide(s) && same > looks / 2) return FOR_KEYS;
  return descents <= looks / 8 ? ASCENDING : ascents == 0 ? FOR_KEYS : NO_TREND;
}

static recsort_status sort_records(void *instance, const recsort_plugin_job *job,
                                   const recsort_key_program *program, const void *records,
                                   void *sorted, recsort_plugin_times *times, recsort_error *error)
{
  record_sort s;
  if (!plan(&s, job, program, sorted == records, team_of_host(instance, job->threads)))
    return RECSORT_PLUGIN_ERROR;
  s.records = records;
  s.sorted = sorted;
  s.memory = job->memory;
  s.scattered = sorted == records ? s.memory + s.at.copy : s.sorted;
  const trend look = trend_of(&s);
  s.nearly = look == ASCENDING && s.buckets > 1;
  if (look == FOR_KEYS || (s.nearly && s.team.threads > 1)) return RECSORT_PLUGIN_ERROR;
  if (s.nearly && !place_one_bucket(&s, sorted == records)) return RECSORT_PLUGIN_ERROR;
  const recsort_status status =
      s.buckets > 1 ? sort_in_buckets(&s, times) : sort_at_once(&s, times);
  if (status == RECSORT_CORRUPT_RESULT)
    (void)snprintf(error->text, sizeof error->text,
                   "the order found is not a permutation of %zu records", s.count);
  return status;
}

static recsort_status work_size(const void *instance, const recsort_plugin_job *job,
                                const recsort_key_program *program, uint32_t in_place,
                                uint64_t *bytes, recsort_error *error)
{
  record_sort s;
  (void)error;
  if (!plan(&s, job, program, in_place, team_of_host(instance, job->threads)))
    return RECSORT_PLUGIN_ERROR;
  *bytes = s.at.bytes;
  return RECSORT_OK;
}

static uint32_t suits(const void *instance, const recsort_key_program *program)
{
  (void)instance;
  return program->key_width <= 64 * MOST_KEY_WORDS;
}

static const char *reason(const void *instance, const recsort_key_program *program)
{
  (void)instance;
  (void)program;
  return NULL;
}

const recsort_plugin_records rs_cpu_records = {.size = sizeof rs_cpu_records,
                                               .suits = suits,
                                               .reason = reason,
                                               .sort = sort_records,
                                               .work_size = work_size};
