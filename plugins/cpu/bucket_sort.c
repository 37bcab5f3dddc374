/* bucket_sort.c - the sort: of records ("recsort.host-records/1"), or of keys, whose permutation it
 * finds.
 *
 *   classify   encodes the keys, and finds the bucket of each by splitters (splitters.h)
 *   scatter    moves each element to its bucket, in input order
 *   finish     for each bucket, whose elements fit a second-level cache: encodes its keys once
 *              more, finds their order (order.h), which is checked, and moves the elements to
 *              their places
 *   check      the last key of each bucket is less than the first one of the next
 *
 * An element is a record; or a key with its index, of which only the index goes to its place.
 *
 * So memory is read and written twice, by streams, where a gather by a permutation of all records
 * would wait for memory at each record. As many elements as fit a cache are one bucket, and so are
 * nearly sorted ones for one thread.
 *
 * Records in place: the buckets are in the working memory and go back to the records. Should a
 * check fail, the numbers of the buckets tell where each record came from, and all of them are put
 * back. Records to another array: the buckets are in that already, and each is sorted by way of a
 * thread's cache.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
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
  BUCKET_BYTES = 3 << 16,   /* of elements in a bucket, about */
  FEWEST_ELEMENTS = 1 << 9, /* in a bucket, about */
  MOST_ELEMENTS = 1 << 14,
  WORTH_BUCKETS = 32, /* fewer are one bucket of one thread, while all fit a third-level cache */
  MANY_BUCKETS = 1 << 10,  /* as their streams fill the caches, more of them are twice as large */
  USUAL_BUCKETS = 1 << 12, /* at most, unless there are billions of elements */
  COUNTED_BITS = 9,        /* keys of so few bits get a bucket for each value */
  STAGE_BYTES = 1 << 12
};

/* The parts of the job's memory. */
typedef struct layout {
  uint64_t keys;    /* of a sort of keys; later the permutation */
  uint64_t copy;    /* elements by buckets, if they are not where the result goes */
  uint64_t buckets; /* the bucket of each element */
  uint64_t sample;  /* later the ends of the buckets */
  uint64_t splitters;
  uint64_t begin; /* where the part of each piece begins in each bucket, bucket by bucket */
  uint64_t next;  /* where those parts end once the elements have moved */
  uint64_t slots; /* what a thread needs to order a bucket */
  uint64_t bytes;
} layout;

/* Where elements come from. */
typedef struct element_source {
  const char *at;    /* records, or keys */
  size_t size;       /* of a record, or a key */
  size_t index_size; /* 0 for records */
} element_source;

typedef struct bucket_sort {
  const recsort_plugin_job *job;
  const recsort_key_program *program; /* NULL: keys are sorted */
  element_source source;
  char *sorted;    /* records, or the permutation */
  char *scattered; /* the elements by buckets, if there are several */
  layout at;
  char *memory;
  size_t count;
  size_t size; /* of an element: of a record, or of a key and its index */
  size_t key_size;
  copy_class copy; /* of source.size */
  bool in_place;   /* the records go where they were */
  size_t buckets;
  size_t room; /* elements that a bucket may have, if they are not all equal */
  bool nearly; /* sorted: then one bucket may have any number of elements */
  size_t pieces;
  team team;
  atomic_bool good;
} bucket_sort;

/* ---- The plan ---- */

static size_t larger(size_t a, size_t b)
{
  return a > b ? a : b;
}

/* Elements that a bucket should have at most, on average. */
static size_t fitting(size_t size)
{
  RS_ASSERT(size > 0);
  const size_t fits = BUCKET_BYTES / size;
  return fits < FEWEST_ELEMENTS ? FEWEST_ELEMENTS : fits < MOST_ELEMENTS ? fits : MOST_ELEMENTS;
}

static size_t buckets_for(const bucket_sort *s)
{
  const size_t wanted = s->count / fitting(s->size);
  size_t buckets = 2;
  if (s->team.threads == 1 && wanted < WORTH_BUCKETS) return 1;
  while (buckets <= (buckets < MANY_BUCKETS ? wanted : wanted / 2) && buckets < USUAL_BUCKETS)
    buckets *= 2;
  while (s->count / buckets >= ((size_t)1 << KEYS_ORDER_BITS) / LARGEST_BUCKET)
    buckets *= 2;
  while (s->job->key_bits <= COUNTED_BITS && buckets < (size_t)2 << s->job->key_bits)
    buckets *= 2;
  RS_ASSERT((buckets & (buckets - 1)) == 0 && buckets <= MOST_BUCKETS);
  return buckets;
}

/* Room for a bucket that is larger than the mean, as the sample cannot tell exactly. More elements
 * never need less. */
static size_t room_for(const bucket_sort *s)
{
  RS_ASSERT(s->buckets > 1);
  const size_t mean = s->count / s->buckets + 1;
  if (s->buckets > USUAL_BUCKETS) return (size_t)1 << KEYS_ORDER_BITS;
  const size_t fits = (s->buckets < MANY_BUCKETS ? 1 : 2) * fitting(s->size);
  return LARGEST_BUCKET * larger(mean, fits);
}

static bool is_wide(const bucket_sort *s)
{
  return s->key_size > sizeof(uint64_t);
}

static size_t key_words(const bucket_sort *s)
{
  RS_ASSERT(s->key_size == sizeof(uint32_t) || s->key_size % sizeof(uint64_t) == 0);
  return is_wide(s) ? s->key_size / sizeof(uint64_t) : 1;
}

/* A bucket of records that stay where they are goes by way of a copy. */
static bool goes_by_way(const bucket_sort *s)
{
  return s->program && (s->buckets == 1) == s->in_place;
}

/* Of a key in the memory of a bucket. Keys that are one bucket stay where they are. */
static size_t bucket_key_size(const bucket_sort *s)
{
  return s->program || s->buckets > 1 ? s->key_size : 0;
}

/* Bytes of a thread's slot. It holds the counts and keys of classify, then the streams of scatter,
 * and then for each bucket an order with its keys and scratch, over which a copy goes. */
static uint64_t slot_bytes(const bucket_sort *s)
{
  const size_t more = is_wide(s) ? sizeof(uint64_t) + sizeof(uint32_t) : 0;
  const size_t scratch = bucket_key_size(s) + sizeof(uint32_t) + more;
  const uint64_t streams = s->buckets * (STREAM_BYTES + sizeof(stream));
  uint64_t bytes = 0;
  work_add(&bytes, s->room, sizeof(uint32_t));
  work_add(&bytes, s->room, larger(scratch, goes_by_way(s) ? s->size : 0));
  return bytes > streams ? bytes : (streams + 63) / 64 * 64;
}

/* Bytes of one key of the sample: the key in full words, its place in the order, and scratch. */
static uint64_t sample_bytes(const bucket_sort *s)
{
  const size_t key = key_words(s) * sizeof(uint64_t);
  return key + 3 * sizeof(uint32_t) + (is_wide(s) ? sizeof(uint64_t) : 0);
}

/* The parts that only several buckets need. */
static void place_parts(bucket_sort *s)
{
  layout *const at = &s->at;
  const uint64_t counts = s->pieces * s->buckets + 1;
  RS_ASSERT(s->buckets > 1 && s->pieces > 0);
  const bool copied = s->in_place || !s->program;
  work_place(&at->bytes, &at->copy, copied ? s->count : 0, s->size);
  work_place(&at->bytes, &at->buckets, s->count, sizeof(uint16_t));
  work_place(&at->bytes, &at->sample, s->buckets * SAMPLES_A_BUCKET, sample_bytes(s));
  work_place(&at->bytes, &at->splitters, 1, rs_splitters_size(s->buckets, key_words(s)));
  work_place(&at->bytes, &at->begin, counts, sizeof(uint64_t));
  work_place(&at->bytes, &at->next, counts, sizeof(uint64_t));
}

static bool place_all(bucket_sort *s)
{
  layout *const at = &s->at;
  const size_t key = s->program ? 0 : larger(s->key_size, s->source.index_size);
  at->bytes = 0;
  at->copy = 0;
  work_place(&at->bytes, &at->keys, s->count, key);
  if (s->buckets > 1) place_parts(s);
  work_place(&at->bytes, &at->slots, s->team.threads, slot_bytes(s));
  return work_fits(at->bytes);
}

static bool place_one_bucket(bucket_sort *s)
{
  s->buckets = 1;
  s->room = s->count;
  return place_all(s);
}

/* What the elements look like is not known yet, so there is room for one bucket of all of them. */
static bool plan_memory(bucket_sort *s)
{
  if (!place_all(s)) return false;
  if (s->buckets == 1 || s->team.threads > 1) return true;
  bucket_sort whole = *s;
  if (whole.count > UINT32_MAX) whole.count = UINT32_MAX; /* more are not one bucket */
  const bool fits = place_one_bucket(&whole);
  if (fits && whole.at.bytes > s->at.bytes) s->at.bytes = whole.at.bytes;
  return fits;
}

/* Threads worth waking. One sorts so few elements as one bucket, which several cannot, and is as
 * fast as two or three of them. */
static size_t threads_for(uint64_t count, unsigned threads)
{
  enum { WORTH_A_THREAD = 1 << 15, WORTH_THREE = 1 << 16, WORTH_TWO = 1 << 17 };
  if (count < (threads < 3 ? WORTH_TWO : WORTH_THREE)) return 1;
  return (size_t)(count / WORTH_A_THREAD + 1);
}

/* Plans the sort. False: there are more elements than memory can hold. */
static bool plan(bucket_sort *s, const recsort_plugin_job *job, const recsort_key_program *program,
                 bool in_place)
{
  enum { PIECES_A_THREAD = 4 };
  if (job->count > RS_CPU_MOST) return false;
  s->job = job; /* member by member: to fill all with zeros takes as long as ten records */
  s->program = program;
  s->count = (size_t)job->count;
  s->key_size = job->key_width / 8;
  s->source.size = program ? (size_t)program->record_size : s->key_size;
  s->source.index_size = program ? 0 : job->index_bits / 8;
  s->size = s->source.size + s->source.index_size;
  RS_ASSERT(s->size > 0 && s->key_size > 0);
  s->copy = s->size <= STREAM_RECORD ? copy_class_of(s->source.size) : COPY_BYTES;
  s->in_place = in_place;
  s->team = team_of_at_most((team){.threads = job->threads}, threads_for(job->count, job->threads));
  s->good = true;
  s->buckets = buckets_for(s);
  s->room = s->buckets > 1 ? room_for(s) : s->count;
  s->nearly = false;
  s->pieces = s->team.threads > 1 ? (size_t)PIECES_A_THREAD * s->team.threads : 1;
  return plan_memory(s);
}

/* ---- Keys ---- */

/* The keys of [first, first + count): in `space`, or where they are. NULL: one is invalid. */
static const void *keys_at(const bucket_sort *s, size_t first, size_t count, void *space)
{
  RS_ASSERT(first <= s->count && count <= s->count - first);
  const char *const from = s->source.at + first * s->source.size;
  if (!s->program) return from;
  return s->job->encode(s->program, from, count, space) ? space : NULL;
}

static bool is_less(const bucket_sort *s, const void *keys, size_t a, size_t b)
{
  const uint64_t *const words = keys;
  if (s->key_size == sizeof(uint32_t))
    return ((const uint32_t *)keys)[a] < ((const uint32_t *)keys)[b];
  return wide_is_less(words + a * key_words(s), words + b * key_words(s), key_words(s));
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

static char *slot_at(const bucket_sort *s, unsigned slot)
{
  RS_ASSERT(slot < s->team.threads);
  return s->memory + s->at.slots + slot * slot_bytes(s);
}

static slot_memory memory_of(const bucket_sort *s, unsigned slot)
{
  char *const order = slot_at(s, slot);
  char *const keys = order + (s->room * sizeof(uint32_t) + 63) / 64 * 64;
  char *const column = keys + s->room * bucket_key_size(s);
  char *const other = column + (is_wide(s) ? s->room * sizeof(uint64_t) : 0);
  char *const spare = other + s->room * sizeof(uint32_t);
  RS_ASSERT((uintptr_t)column % sizeof(uint64_t) == 0 || !is_wide(s));
  return (slot_memory){(uint32_t *)(void *)order,  keys,
                       (uint64_t *)(void *)column, (uint32_t *)(void *)other,
                       (uint32_t *)(void *)spare,  keys};
}

/* Gathers to memory that is too large for the caches: by way of a stage that stays in one. */
__attribute__((noinline)) static void gather_far(const gathering *g, const char *from, char *to)
{
  char stage[STAGE_BYTES];
  const size_t most = STAGE_BYTES / g->size;
  RS_ASSERT(most > 0);
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

static keys_found find_order(const bucket_sort *s, const void *keys, size_t count,
                             const slot_memory *mine)
{
  const unsigned width = 8 * (unsigned)s->key_size;
  RS_ASSERT(count <= s->room);
  if (is_wide(s)) {
    const wide_keys wide = {keys, key_words(s), s->job->key_bits};
    return s->nearly
               ? rs_wide_order_nearly(&wide, count, mine->column, mine->order, mine->other)
               : rs_wide_order(&wide, count, mine->column, mine->order, mine->other, mine->spare);
  }
  return (s->nearly ? rs_keys_order_nearly : rs_keys_order)(keys, width, count, mine->order,
                                                            mine->other);
}

/* The keys of elements in a bucket. */
static bool bucket_keys(const bucket_sort *s, const char *elements, size_t count, char *keys)
{
  if (s->program) return s->job->encode(s->program, elements, count, keys) != 0;
  for (size_t i = 0; i < count; i++, elements += s->size)
    switch (s->key_size) {
    case 4:
      memcpy(keys + i * 4, elements, 4);
      break;
    case 8:
      memcpy(keys + i * 8, elements, 8);
      break;
    case 16:
      memcpy(keys + i * 16, elements, 16);
      break;
    default:
      memcpy(keys + i * s->key_size, elements, s->key_size);
    }
  return true;
}

/* Writes an index of the permutation. */
static void write_index(const bucket_sort *s, size_t place, uint64_t index)
{
  RS_ASSERT(place < s->count && index < s->count);
  if (s->source.index_size == sizeof(uint32_t))
    ((uint32_t *)(void *)s->sorted)[place] = (uint32_t)index;
  else
    ((uint64_t *)(void *)s->sorted)[place] = index;
}

/* Writes the indices of elements, by an order or as they are if that is NULL. */
static void write_indices(const bucket_sort *s, const char *elements, const uint32_t *order,
                          size_t place, size_t count)
{
  elements += s->key_size;
  for (size_t i = 0; i < count; i++) {
    const char *const from = elements + (order ? order[i] : i) * s->size;
    uint64_t index = 0;
    uint32_t half;
    if (s->source.index_size == sizeof half) {
      memcpy(&half, from, sizeof half);
      index = half;
    } else {
      memcpy(&index, from, sizeof index);
    }
    write_index(s, place + i, index);
  }
}

/* Moves the elements of a bucket, which begins at `place`, to where they go. */
static void deliver(const bucket_sort *s, const gathering *found, const char *elements,
                    size_t place, char *copy)
{
  const bool far = s->count >= STREAM_LEAST / s->size && s->size <= STAGE_BYTES;
  char *const to = s->sorted + place * s->size;
  RS_ASSERT(place <= s->count && found->count <= s->count - place);
  if (!s->program)
    write_indices(s, elements, found->order, place, found->count);
  else if (elements == to)
    gather_by_way(found, to, copy);
  else if (far)
    gather_far(found, elements, to);
  else
    rs_gather_some(found, 0, found->count, elements, to);
}

/* ---- Classify ---- */

static splitters *splitters_of(const bucket_sort *s)
{
  return (splitters *)(void *)(s->memory + s->at.splitters);
}

static uint16_t *buckets_of(const bucket_sort *s)
{
  return (uint16_t *)(void *)(s->memory + s->at.buckets);
}

static uint64_t *words_at(const bucket_sort *s, uint64_t offset)
{
  return (uint64_t *)(void *)(s->memory + offset);
}

_Static_assert(FEWEST_ELEMENTS >= 2 * SAMPLES_A_BUCKET, "each sample has a stretch of its own");

/* A sample is made anew if a bucket turns out to be too large. The first one is always the same. */
typedef struct sampling {
  bucket_sort *sort;
  size_t samples;
  uint64_t seed;
} sampling;

/* The place of sample `number`: one out of each of as many equal stretches, at a place in it that
 * no data follows. */
static size_t sampled(const sampling *of, size_t number)
{
  const team_range stretch = team_cut(of->sort->count, number, of->samples);
  RS_ASSERT(number < of->samples && stretch.begin < stretch.end);
  const uint64_t mixed = (number + 1 + of->seed) * UINT64_C(0x9e3779b97f4a7c15);
  return stretch.begin + (size_t)((mixed >> 32) % (stretch.end - stretch.begin));
}

static void sample_piece(void *argument, size_t piece, unsigned slot)
{
  enum { AHEAD = 16 };
  const sampling *const of = argument;
  bucket_sort *const s = of->sort;
  const team_range range = team_cut(of->samples, piece, s->pieces);
  uint64_t *const keys = words_at(s, s->at.sample);
  (void)slot;
  for (size_t n = range.begin; n < range.end; n++) {
    uint64_t *const to = keys + n * key_words(s);
    if (n + AHEAD < range.end)
      __builtin_prefetch(s->source.at + sampled(of, n + AHEAD) * s->source.size);
    const void *const key = keys_at(s, sampled(of, n), 1, to);
    if (!key)
      s->good = false;
    else if (s->key_size == sizeof(uint32_t))
      *to = *(const uint32_t *)key;
    else if (key != to)
      memcpy(to, key, s->key_size);
  }
}

static bool make_splitters(bucket_sort *s, uint64_t seed)
{
  sampling of = {s, s->buckets * SAMPLES_A_BUCKET, seed};
  const size_t words = key_words(s), samples = of.samples;
  uint64_t *const keys = words_at(s, s->at.sample), *const column = keys + samples * words;
  uint32_t *const order = (uint32_t *)(void *)(is_wide(s) ? column + samples : column);
  const wide_keys wide = {keys, words, s->job->key_bits};
  team_each(s->team, s->pieces, sample_piece, &of);
  if (!s->good) return false;
  const keys_found found = is_wide(s) ? rs_wide_order(&wide, samples, column, order,
                                                      order + samples, order + 2 * samples)
                                      : rs_keys_order(keys, 64, samples, order, order + samples);
  if (found == KEYS_WRONG) return false;
  rs_splitters_make(splitters_of(s), s->buckets, &(key_sample){keys, order, words});
  return true;
}

/* Finds the buckets of the keys of a piece, and how many each bucket gets. */
static void classify_piece(void *argument, size_t piece, unsigned slot)
{
  bucket_sort *const s = argument;
  const team_range range = team_cut(s->count, piece, s->pieces);
  uint64_t *const counts = (uint64_t *)(void *)slot_at(s, slot), *const space = counts + s->buckets;
  RS_ASSERT(piece < s->pieces);
  memset(counts, 0, s->buckets * sizeof *counts);
  for (size_t i = range.begin; i < range.end; i += CLASSIFY_AT_ONCE) {
    const size_t left = range.end - i, count = left < CLASSIFY_AT_ONCE ? left : CLASSIFY_AT_ONCE;
    const void *const keys = keys_at(s, i, count, space);
    if (!keys) {
      s->good = false;
      return;
    }
    rs_splitters_classify(splitters_of(s), keys, 8 * (unsigned)s->key_size, count,
                          buckets_of(s) + i);
    for (size_t n = i; n < i + count; n++)
      counts[buckets_of(s)[n]]++;
  }
  for (size_t b = 0; b < s->buckets; b++)
    words_at(s, s->at.begin)[b * s->pieces + piece] = counts[b];
}

/* Turns counts into places. False: a bucket has more elements than there is room for. */
static bool place_buckets(const bucket_sort *s)
{
  uint64_t *const begin = words_at(s, s->at.begin);
  const uint8_t *const equal = splitters_of(s)->equal;
  uint64_t at = 0;
  bool fits = true;
  for (size_t b = 0; b < s->buckets; b++) {
    const uint64_t first = at;
    for (size_t i = b * s->pieces; i < (b + 1) * s->pieces; i++) {
      const uint64_t count = begin[i];
      begin[i] = at;
      at += count;
    }
    fits &= equal[b] || at - first <= s->room;
  }
  begin[s->buckets * s->pieces] = at;
  RS_ASSERT(at == s->count);
  return fits;
}

/* Finds the buckets of all elements, with another sample if one misled. PLUGIN_ERROR: all did, a
 * check failed, or a record is invalid. Nothing has moved. */
static recsort_status find_buckets(bucket_sort *s)
{
  enum { TRIES = 64 };
  uint64_t seed = 0;
  for (unsigned n = 0; n < TRIES; n++) {
    if (!make_splitters(s, seed)) return RECSORT_PLUGIN_ERROR;
    team_each(s->team, s->pieces, classify_piece, s);
    if (!s->good) return RECSORT_PLUGIN_ERROR;
    if (place_buckets(s)) return RECSORT_OK;
    const double now = rs_clock_seconds();
    memcpy(&seed, &now, sizeof seed);
  }
  return RECSORT_PLUGIN_ERROR;
}

/* ---- Scatter ---- */

/* Copies element `i` to its bucket. `as` and `keyed` are constants in each call that is fast. */
__attribute__((always_inline)) static inline void copy_element(const element_source *from, size_t i,
                                                               char *to, copy_class as, bool keyed)
{
  const uint32_t half = (uint32_t)i;
  const uint64_t index = i;
  copy_record(to, from->at + i * from->size, from->size, as);
  if (!keyed) return;
  if (from->index_size == sizeof half)
    memcpy(to + from->size, &half, sizeof half);
  else
    memcpy(to + from->size, &index, sizeof index);
}

/* Moves the elements of a piece to their buckets. */
__attribute__((always_inline)) static inline void
scatter_as(const bucket_sort *s, size_t piece, unsigned slot, copy_class as, bool keyed)
{
  enum { AHEAD = 128 }; /* elements; what fetches ahead by itself stops at the end of a page */
  const element_source from = s->source; /* compilers do not know that no store changes it */
  const size_t size = s->size;
  const team_range range = team_cut(s->count, piece, s->pieces);
  const uint16_t *const buckets = buckets_of(s);
  char *const parts = slot_at(s, slot);
  stream *const streams = (stream *)(void *)(parts + s->buckets * STREAM_BYTES);
  RS_ASSERT(size <= STREAM_RECORD);
  for (size_t b = 0; b < s->buckets; b++)
    streams[b] =
        stream_at(s->scattered + words_at(s, s->at.begin)[b * s->pieces + piece] * s->size);
  for (size_t i = range.begin; i < range.end; i++) {
    if (i + AHEAD < range.end) __builtin_prefetch(from.at + (i + AHEAD) * from.size);
    stream *const to = &streams[buckets[i]];
    RS_ASSERT(buckets[i] < s->buckets);
    char *const part = parts + buckets[i] * (size_t)STREAM_BYTES;
    copy_element(&from, i, part + to->filled, as, keyed);
    to->filled += (uint32_t)size;
    RS_ASSERT(to->filled <= STREAM_BYTES);
    if (to->filled >= STREAM_PART) stream_leave(to, part);
  }
  for (size_t b = 0; b < s->buckets; b++) {
    stream_end(&streams[b], parts + b * STREAM_BYTES);
    words_at(s, s->at.next)[b * s->pieces + piece] =
        (uint64_t)(streams[b].to - s->scattered) / s->size;
  }
  stream_done();
}

/* Elements that are too large for streams. If `back`, from the buckets to where they were. */
static void move_piece(const bucket_sort *s, size_t piece, unsigned slot, bool back)
{
  const team_range range = team_cut(s->count, piece, s->pieces);
  const uint16_t *const buckets = buckets_of(s);
  uint64_t *const next = (uint64_t *)(void *)slot_at(s, slot);
  for (size_t b = 0; b < s->buckets; b++)
    next[b] = words_at(s, s->at.begin)[b * s->pieces + piece];
  for (size_t i = range.begin; i < range.end; i++) {
    RS_ASSERT(buckets[i] < s->buckets);
    char *const there = s->scattered + next[buckets[i]]++ * s->size;
    if (back)
      memcpy(s->sorted + i * s->size, there, s->size);
    else
      copy_element(&s->source, i, there, COPY_BYTES, !s->program);
  }
  for (size_t b = 0; b < s->buckets; b++)
    words_at(s, s->at.next)[b * s->pieces + piece] = next[b];
}

#define SCATTER_AS(as)                                                                             \
  case as:                                                                                         \
    if (s->program)                                                                                \
      scatter_as(s, piece, slot, as, false);                                                       \
    else                                                                                           \
      scatter_as(s, piece, slot, as, true);                                                        \
    break;

static void scatter_piece(void *argument, size_t piece, unsigned slot)
{
  const bucket_sort *const s = argument;
  switch (s->copy) {
    SCATTER_AS(COPY_TWO_4)
    SCATTER_AS(COPY_TWO_8)
    SCATTER_AS(COPY_TWO_16)
    SCATTER_AS(COPY_TWO_32)
  case COPY_BYTES:
    move_piece(s, piece, slot, false);
  }
}

/* Each place has got one element if each piece has filled its part of each bucket, up to where the
 * next part begins. */
static bool all_places_taken(const bucket_sort *s)
{
  const uint64_t *const begin = words_at(s, s->at.begin), *const next = words_at(s, s->at.next);
  for (size_t i = 0; i < s->buckets * s->pieces; i++)
    if (next[i] != begin[i + 1]) return false;
  return true;
}

static void put_back_piece(void *argument, size_t piece, unsigned slot)
{
  move_piece(argument, piece, slot, true);
}

/* ---- Finish ---- */

/* Where the elements of a bucket are. */
static team_range places_of(const bucket_sort *s, size_t bucket)
{
  RS_ASSERT(bucket < s->buckets);
  const uint64_t *const begin = words_at(s, s->at.begin) + bucket * s->pieces;
  RS_ASSERT(begin[0] <= begin[s->pieces]);
  return (team_range){(size_t)begin[0], (size_t)begin[s->pieces]};
}

/* The first key of a bucket in its order, and behind it the last one. */
static char *ends_of(const bucket_sort *s, size_t bucket)
{
  return s->memory + s->at.sample + 2 * bucket * s->key_size;
}

static void note_ends(const bucket_sort *s, size_t bucket, const char *first, const char *last)
{
  char *const ends = ends_of(s, bucket);
  memcpy(ends, first, s->key_size);
  memcpy(ends + s->key_size, last, s->key_size);
}

static void finish_one(void *argument, size_t bucket, unsigned slot)
{
  bucket_sort *const s = argument;
  const team_range places = places_of(s, bucket);
  const char *const elements = s->scattered + places.begin * s->size;
  const size_t count = places.end - places.begin;
  if (splitters_of(s)->equal[bucket] || count == 0) return;
  const slot_memory mine = memory_of(s, slot);
  keys_found found = KEYS_WRONG;
  if (bucket_keys(s, elements, count, mine.keys)) found = find_order(s, mine.keys, count, &mine);
  if (found == KEYS_WRONG) {
    s->good = false;
    return;
  }
  const gathering by = {found == KEYS_ORDERED ? mine.order : NULL, count, s->size,
                        copy_class_of(s->size)};
  const size_t first = by.order ? by.order[0] : 0,
               last = by.order ? by.order[count - 1] : count - 1;
  note_ends(s, bucket, mine.keys + first * s->key_size, mine.keys + last * s->key_size);
  deliver(s, &by, elements, places.begin, mine.copy);
}

/* True if all these elements have the first one of `keys`; the others are memory. */
static bool all_have(const bucket_sort *s, const char *elements, size_t count, char *keys)
{
  enum { AT_ONCE = 512 };
  const size_t most = s->room <= AT_ONCE ? s->room - 1 : AT_ONCE, size = s->key_size;
  RS_ASSERT(s->room > 1);
  for (size_t i = 0; i < count; i += most) {
    const size_t some = count - i < most ? count - i : most;
    if (!bucket_keys(s, elements + i * s->size, some, keys + size) ||
        memcmp(keys + size, keys, some * size))
      return false;
  }
  return true;
}

/* Places [begin, end) of a piece in buckets whose keys are all equal. */
static void finish_equal_piece(void *argument, size_t piece, unsigned slot)
{
  bucket_sort *const s = argument;
  const team_range range = team_cut(s->count, piece, s->pieces);
  for (size_t b = 0; b < s->buckets; b++) {
    const team_range places = places_of(s, b);
    const size_t begin = larger(places.begin, range.begin);
    const size_t end = places.end < range.end ? places.end : range.end;
    const gathering as_they_are = {NULL, end - begin, s->size, copy_class_of(s->size)};
    if (!splitters_of(s)->equal[b] || begin >= end) continue;
    char *const keys = memory_of(s, slot).keys;
    const char *const elements = s->scattered + begin * s->size;
    if (!bucket_keys(s, s->scattered + places.begin * s->size, 1, keys) ||
        !all_have(s, elements, end - begin, keys))
      s->good = false;
    if (begin == places.begin) note_ends(s, b, keys, keys);
    deliver(s, &as_they_are, elements, begin, keys);
  }
}

static bool has_equal(const bucket_sort *s)
{
  return memchr(splitters_of(s)->equal, 1, s->buckets);
}

/* True if the last key of each bucket is less than the first one of the next. */
static bool buckets_ascend(const bucket_sort *s)
{
  size_t before = s->buckets;
  for (size_t b = 0; b < s->buckets; b++) {
    const team_range places = places_of(s, b);
    if (places.begin == places.end) continue;
    if (before < s->buckets && !is_less(s, ends_of(s, 0), 2 * before + 1, 2 * b)) return false;
    before = b;
  }
  return true;
}

/* ---- The sort ---- */

/* Adds the time since the last lap. */
static void lap(double *since, double *total)
{
  const double seconds = rs_clock_seconds();
  RS_ASSERT(seconds >= *since);
  if (*since > 0) *total += seconds - *since;
  *since = seconds;
}

static recsort_status sort_in_buckets(bucket_sort *s, recsort_plugin_times *times)
{
  double clock = 0;
  lap(&clock, &times->encode);
  const recsort_status status = find_buckets(s);
  if (status) return status;
  lap(&clock, &times->encode);
  team_each(s->team, s->pieces, scatter_piece, s);
  lap(&clock, &times->permute);
  if (!all_places_taken(s)) return RECSORT_CORRUPT_RESULT;
  team_each(s->team, s->buckets, finish_one, s);
  if (s->good && has_equal(s)) team_each(s->team, s->pieces, finish_equal_piece, s);
  if (s->good && !buckets_ascend(s)) s->good = false;
  lap(&clock, &times->sort);
  if (s->good) return RECSORT_OK;
  if (s->in_place) team_each(s->team, s->pieces, put_back_piece, s);
  return RECSORT_CORRUPT_RESULT;
}

/* So few elements, or so nearly sorted ones, that they are one bucket. PLUGIN_ERROR: they are not
 * nearly sorted, or a record is invalid. */
static recsort_status sort_at_once(const bucket_sort *s, recsort_plugin_times *times)
{
  enum { WORTH_A_CLOCK = 256 }; /* two looks at it take as long as 10 to 20 records */
  const bool timed = s->count >= WORTH_A_CLOCK;
  const slot_memory mine = memory_of(s, 0);
  RS_ASSERT(s->buckets == 1 && s->room >= s->count);
  double clock = 0;
  if (timed) lap(&clock, &times->sort);
  const void *const keys = keys_at(s, 0, s->count, mine.keys);
  if (!keys) return RECSORT_PLUGIN_ERROR;
  const keys_found found = find_order(s, keys, s->count, &mine);
  if (found == KEYS_WRONG) return RECSORT_CORRUPT_RESULT;
  if (found == KEYS_UNORDERED) return RECSORT_PLUGIN_ERROR;
  const gathering by = {found == KEYS_ORDERED ? mine.order : NULL, s->count, s->size, s->copy};
  if (!s->program)
    for (size_t i = 0; i < s->count; i++)
      write_index(s, i, mine.order[i]);
  else if (s->in_place)
    gather_by_way(&by, s->sorted, mine.copy);
  else
    rs_gather_some(&by, 0, s->count, s->source.at, s->sorted);
  if (timed) lap(&clock, &times->sort);
  return RECSORT_OK;
}

/* How many of a sample of neighbours are out of order, of 64; all if keys are invalid, as the sort
 * will tell, or if the elements are few. */
static size_t sampled_descents(const bucket_sort *s)
{
  enum { WORTH_A_LOOK = 512, APART = 64, MOST = 1024, OF = 64 };
  const size_t looks = s->count / APART < MOST ? s->count / APART : MOST;
  size_t descents = 0;
  if (s->count < WORTH_A_LOOK) return OF;
  for (size_t n = 0; n < looks; n++) {
    const void *const keys = keys_at(s, s->count / looks * n, 2, slot_at(s, 0));
    if (!keys) return OF;
    descents += is_less(s, keys, 1, 0);
  }
  RS_ASSERT(descents <= looks);
  return (descents * OF + looks - 1) / looks;
}

/* Notes if a key of a piece is less than the one before it. */
static void compare_piece(void *argument, size_t piece, unsigned slot)
{
  bucket_sort *const s = argument;
  const team_range range = team_cut(s->count, piece, s->pieces);
  const size_t first = range.begin > 0 ? range.begin - 1 : 0;
  bool descends = false;
  for (size_t i = first; i < range.end && !descends; i += CLASSIFY_AT_ONCE - 1) {
    const size_t left = range.end - i, count = left < CLASSIFY_AT_ONCE ? left : CLASSIFY_AT_ONCE;
    const void *const keys = keys_at(s, i, count, slot_at(s, slot));
    if (!keys) descends = true;
    for (size_t n = 1; n < count && keys; n++)
      descends |= is_less(s, keys, n, n - 1);
  }
  if (descends) s->good = false;
}

/* Delivers the elements of a piece as they are. */
static void keep_piece(void *argument, size_t piece, unsigned slot)
{
  const bucket_sort *const s = argument;
  const team_range range = team_cut(s->count, piece, s->pieces);
  (void)slot;
  const gathering as_they_are = {NULL, range.end - range.begin, s->size, s->copy};
  if (s->program) deliver(s, &as_they_are, s->source.at + range.begin * s->size, range.begin, NULL);
  for (size_t i = range.begin; i < range.end && !s->program; i++)
    write_index(s, i, i);
}

/* True if the elements were in order, which several threads find out as fast as they read. */
static bool keep_order(bucket_sort *s, recsort_plugin_times *times)
{
  double clock = 0;
  lap(&clock, &times->sort);
  team_each(s->team, s->pieces, compare_piece, s);
  const bool in_order = s->good;
  if (in_order && !s->in_place) team_each(s->team, s->pieces, keep_piece, s);
  lap(&clock, &times->sort);
  s->good = true;
  return in_order;
}

static recsort_status sort(bucket_sort *s, recsort_plugin_times *times)
{
  enum { NEARLY = 8 /* of 64 */ };
  RS_ASSERT(s->count > 0);
  if (s->buckets == 1) return sort_at_once(s, times);
  const size_t descents = sampled_descents(s);
  if (s->team.threads > 1 && descents == 0 && keep_order(s, times)) return RECSORT_OK;
  if (s->team.threads == 1 && s->count <= UINT32_MAX && descents <= NEARLY) {
    bucket_sort whole = *s;
    whole.nearly = true;
    (void)place_one_bucket(&whole);
    const recsort_status status = sort_at_once(&whole, times);
    if (status != RECSORT_PLUGIN_ERROR) return status;
  }
  return sort_in_buckets(s, times);
}

/* ---- Records ---- */

static recsort_status sort_records(void *instance, const recsort_plugin_job *job,
                                   const recsort_key_program *program, const void *records,
                                   void *sorted, recsort_plugin_times *times, recsort_error *error)
{
  bucket_sort s;
  const bool planned = plan(&s, job, program, sorted == records);
  RS_ASSERT(planned); /* as when its memory was asked for */
  s.team = team_of_host(instance, s.team.threads);
  s.source.at = records;
  s.sorted = sorted;
  s.memory = job->memory;
  s.scattered = s.in_place ? s.memory + s.at.copy : s.sorted;
  RS_ASSERT((uintptr_t)s.memory % 64 == 0);
  const recsort_status status = s.count ? sort(&s, times) : RECSORT_OK;
  if (status == RECSORT_CORRUPT_RESULT)
    (void)snprintf(error->text, sizeof error->text,
                   "the order found of %zu records is wrong: a check failed", s.count);
  return status;
}

static recsort_status work_size(const void *instance, const recsort_plugin_job *job,
                                const recsort_key_program *program, uint32_t in_place,
                                uint64_t *bytes, recsort_error *error)
{
  enum { WORTH_A_GATHER = 64 };
  bucket_sort s;
  (void)instance;
  (void)error;
  if (job->algorithm != 0 || (!in_place && program->record_size > WORTH_A_GATHER) ||
      !plan(&s, job, program, in_place))
    return RECSORT_PLUGIN_ERROR;
  *bytes = s.at.bytes;
  return RECSORT_OK;
}

static uint32_t suits(const void *instance, const recsort_key_program *program)
{
  (void)instance;
  (void)program;
  return 1;
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

/* ---- Keys ---- */

bool rs_parallel_work_size(const recsort_host *host, const recsort_plugin_job *job,
                           recsort_plugin_work *work)
{
  bucket_sort s;
  (void)host;
  if (!plan(&s, job, NULL, false)) return false;
  work->bytes = s.at.bytes;
  work->keys_offset = s.at.keys;
  return true;
}

recsort_status rs_parallel_sort(const recsort_host *host, const recsort_plugin_job *job,
                                void *memory)
{
  recsort_plugin_times times = {.size = sizeof times};
  bucket_sort s;
  const bool planned = plan(&s, job, NULL, false);
  RS_ASSERT(planned);
  s.team = team_of_host(host, s.team.threads);
  s.memory = memory;
  s.source.at = s.memory + s.at.keys;
  s.sorted = s.memory;
  s.scattered = s.memory + s.at.copy;
  RS_ASSERT((uintptr_t)s.memory % 64 == 0);
  return s.count ? sort(&s, &times) : RECSORT_OK;
}
