/* partition.c - marks, splitters, and the parts between them: see recsort/partition.h. */
#include "recsort/partition.h"

#include <stdatomic.h>
#include <string.h>

#include "base/assert.h"
#include "base/checked.h"
#include "key/encode.h"
#include "sorter.h"

enum { WORTH_A_THREAD = 1 << 14 /* records */ };

/* A call on records of a rank. Each thread has a slot with the key of a record and its mark. */
typedef struct marking {
  const rs_plan *plan;
  const char *records;
  size_t count;
  uint64_t first; /* position of the first record */
  size_t key_size, mark_size, slot_bytes;
  char *slots;
  atomic_size_t invalid; /* the first record that is known to have an invalid value */
  team team;
} marking;

static void *key_in(const marking *m, unsigned slot)
{
  RS_ASSERT(m->slots && slot < m->team.threads);
  return m->slots + slot * m->slot_bytes;
}

static unsigned char *mark_in(const marking *m, unsigned slot)
{
  return (unsigned char *)key_in(m, slot) + m->key_size;
}

static const char *record_at(const marking *m, size_t i)
{
  RS_ASSERT(i < m->count);
  return m->records + i * (size_t)m->plan->program.record_size;
}

/* ---- Marks ---- */

static unsigned char *put_big(unsigned char *to, uint64_t value, size_t bytes)
{
  for (size_t i = bytes; i-- > 0; value >>= 8)
    to[i] = (unsigned char)value;
  return to + bytes;
}

/* The mark of record `i`, whose key is at `key`. */
static void put_mark(const marking *m, const void *key, size_t i, unsigned char *mark)
{
  RS_ASSERT(m->key_size == sizeof(uint32_t) || m->key_size % sizeof(uint64_t) == 0);
  if (m->key_size == sizeof(uint32_t)) {
    mark = put_big(mark, *(const uint32_t *)key, sizeof(uint32_t));
  } else {
    for (size_t w = m->key_size / sizeof(uint64_t); w-- > 0;)
      mark = put_big(mark, ((const uint64_t *)key)[w], sizeof(uint64_t));
  }
  put_big(mark, m->first + i, RECSORT_MARK_EXTRA);
}

static void note_invalid(marking *m, size_t i)
{
  size_t known = m->invalid;
  while (i < known && !atomic_compare_exchange_weak(&m->invalid, &known, i))
    continue;
}

/* False if the record has a value that its schema rules out. */
static bool mark_record(marking *m, size_t i, unsigned slot, unsigned char *mark)
{
  void *const key = key_in(m, slot);
  if (!rs_key_encode_some(&m->plan->program, record_at(m, i), 0, 1, key)) {
    note_invalid(m, i);
    return false;
  }
  put_mark(m, key, i, mark);
  return true;
}

/* What a call ends with: the first invalid record that was met, if any. */
static recsort_status outcome(const marking *m, recsort_error *error)
{
  const size_t i = m->invalid;
  if (i == SIZE_MAX) return RECSORT_OK;
  return rs_key_encode(m->plan, record_at(m, i), 1, key_in(m, 0), team_of_at_most(m->team, 1),
                       (size_t)m->first + i, error);
}

/* ---- Calls ---- */

static recsort_status begin(const recsort_sorter *sorter, const void *records, size_t count,
                            uint64_t first, marking *m, recsort_error *error)
{
  size_t bytes;
  if (!sorter) return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter must not be NULL");
  *m = (marking){.plan = &sorter->plan,
                 .records = records,
                 .count = count,
                 .first = first,
                 .key_size = rs_key_size(&sorter->plan),
                 .invalid = SIZE_MAX,
                 .team = sorter->team};
  m->mark_size = m->key_size + RECSORT_MARK_EXTRA;
  return rs_sorter_check(sorter, records, count, &bytes, error);
}

/* Allots a slot to each of at most `threads` threads, beside the sorter's block. */
static recsort_status open_slots(recsort_sorter *sorter, marking *m, size_t threads,
                                 recsort_error *error)
{
  m->team = team_of_at_most(m->team, threads);
  RS_ASSERT(m->team.threads > 0);
  const size_t each = m->key_size + m->mark_size + RS_BLOCK_ALIGNMENT;
  m->slot_bytes = each - each % RS_BLOCK_ALIGNMENT;
  RS_ASSERT(m->slot_bytes >= m->key_size + m->mark_size);
  m->slots = rs_sorter_spare(sorter, m->team.threads * m->slot_bytes);
  return m->slots ? RECSORT_OK : rs_fail_memory(error, m->team.threads * m->slot_bytes);
}

recsort_status recsort_partition_sample(recsort_sorter *sorter, const void *records, size_t count,
                                        uint64_t first, size_t wanted, void *marks,
                                        recsort_error *error)
{
  marking m;
  recsort_status status = begin(sorter, records, count, first, &m, error);
  if (status == RECSORT_OK && !marks && wanted)
    status = rs_fail(error, RECSORT_INVALID_ARGUMENT, "marks must not be NULL");
  if (status == RECSORT_OK && wanted > count)
    status = rs_fail(error, RECSORT_INVALID_ARGUMENT, "%zu samples are more than %zu records",
                     wanted, count);
  if (status == RECSORT_OK) status = open_slots(sorter, &m, 1, error);
  size_t at = wanted ? count / 2 / wanted : 0;        /* the next sample, */
  size_t part = wanted ? count - at * 2 * wanted : 0; /* and so many 2 * wanted-ths */
  for (size_t i = 0; status == RECSORT_OK && i < wanted; i++) {
    RS_ASSERT(at < count);
    if (!mark_record(&m, at, 0, (unsigned char *)marks + i * m.mark_size))
      status = outcome(&m, error);
    part += 2 * (count % wanted);
    at += count / wanted + part / (2 * wanted);
    part %= 2 * wanted;
    RS_ASSERT(part < 2 * wanted);
  }
  return status;
}

/* ---- Splitters ---- */

/* Sorts marks as records of bytes, with the threads and the memory of `sorter`. */
static recsort_status sort_marks(recsort_sorter *sorter, void *marks, size_t count,
                                 size_t mark_size, recsort_error *error)
{
  RS_ASSERT(mark_size > RECSORT_MARK_EXTRA);
  const recsort_field_desc field = {.name = "mark", .type = RECSORT_BYTES, .size = mark_size};
  const recsort_key_desc key = {.path = field.name};
  const recsort_schema_desc desc = {.struct_size = sizeof desc,
                                    .record = "marks",
                                    .layout = RECSORT_LAYOUT_PACKED,
                                    .fields = &field,
                                    .field_count = 1,
                                    .keys = &key,
                                    .key_count = 1};
  const recsort_executor executor = {.struct_size = sizeof executor,
                                     .context = sorter->team.context,
                                     .run = sorter->team.run,
                                     .threads = sorter->team.threads};
  const recsort_options options = {.struct_size = sizeof options,
                                   .plugin = "cpu",
                                   .allocator = &sorter->allocator,
                                   .executor = &executor};
  recsort_schema *schema = NULL;
  recsort_sorter *of_marks = NULL;
  recsort_status status = recsort_schema_create(&desc, &sorter->allocator, &schema, error);
  if (status == RECSORT_OK) status = recsort_sorter_create(schema, &options, &of_marks, error);
  if (status == RECSORT_OK) status = recsort_sort(of_marks, marks, count, error);
  recsort_sorter_destroy(of_marks);
  recsort_schema_destroy(schema);
  return status;
}

recsort_status recsort_partition_splitters(recsort_sorter *sorter, void *marks, size_t mark_count,
                                           void *splitters, size_t splitter_count,
                                           recsort_error *error)
{
  const size_t size = recsort_key_size(sorter) + RECSORT_MARK_EXTRA;
  if (!sorter || (!marks && mark_count) || (!splitters && splitter_count))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "sorter, marks and splitters must not be NULL");
  if (!mark_count && splitter_count)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "no marks to choose splitters from");
  if (rs_overlap(marks, mark_count * size, splitters, splitter_count * size))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "marks and splitters overlap");
  const recsort_status status = sort_marks(sorter, marks, mark_count, size, error);
  if (status) return status;
  for (size_t i = 0; i < splitter_count; i++) {
    const size_t at = team_cut(mark_count, i + 1, splitter_count + 1).begin;
    RS_ASSERT(mark_count > 0 && at <= mark_count);
    memcpy((char *)splitters + i * size,
           (const char *)marks + (at < mark_count ? at : at - 1) * size, size);
  }
  return RECSORT_OK;
}

static const unsigned char *splitter_at(const marking *m, const void *splitters, size_t i)
{
  return (const unsigned char *)splitters + i * m->mark_size;
}

/* ---- Cuts ---- */

typedef struct cutting {
  marking m;
  const void *splitters;
  size_t splitter_count, pieces;
  size_t *cuts;
} cutting;

/* The number of records before the splitter: a binary search. */
static size_t cut(marking *m, const unsigned char *splitter, unsigned slot)
{
  unsigned char *const mark = mark_in(m, slot);
  size_t low = 0, high = m->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (!mark_record(m, middle, slot, mark)) return 0;
    if (memcmp(mark, splitter, m->mark_size) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  RS_ASSERT(low <= m->count);
  return low;
}

static void cut_piece(void *argument, size_t piece, unsigned slot)
{
  cutting *const c = argument;
  const team_range range = team_cut(c->splitter_count, piece, c->pieces);
  RS_ASSERT(range.begin <= range.end && range.end <= c->splitter_count);
  for (size_t i = range.begin; i < range.end; i++)
    c->cuts[i] = cut(&c->m, splitter_at(&c->m, c->splitters, i), slot);
}

recsort_status recsort_partition_sorted(recsort_sorter *sorter, const void *records, size_t count,
                                        uint64_t first, const void *splitters,
                                        size_t splitter_count, size_t *cuts, recsort_error *error)
{
  enum { SPLITTERS_WORTH_A_THREAD = 64 };
  cutting c;
  recsort_status status = begin(sorter, records, count, first, &c.m, error);
  if (status == RECSORT_OK && splitter_count && (!splitters || !cuts))
    status = rs_fail(error, RECSORT_INVALID_ARGUMENT, "splitters and cuts must not be NULL");
  if (status == RECSORT_OK)
    status = open_slots(sorter, &c.m, splitter_count / SPLITTERS_WORTH_A_THREAD, error);
  if (status) return status;
  c.splitters = splitters;
  c.splitter_count = splitter_count;
  c.cuts = cuts;
  c.pieces = team_pieces(c.m.team);
  team_each(c.m.team, c.pieces, cut_piece, &c);
  return outcome(&c.m, error);
}

/* ---- Parts ---- */

/* Each piece of the records counts its records of each part; then it knows where they go. */
typedef struct partitioning {
  marking m;
  const void *splitters;
  size_t splitter_count, pieces;
  size_t *places;  /* of each piece: the place of its next record of each part */
  uint32_t *parts; /* of each record */
  char *to;
} partitioning;

static size_t *places_of(const partitioning *p, size_t piece)
{
  return p->places + piece * (p->splitter_count + 1);
}

/* The part of a record: the number of splitters that do not come after it. */
static size_t part_of(const partitioning *p, const unsigned char *mark)
{
  size_t low = 0, high = p->splitter_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (memcmp(splitter_at(&p->m, p->splitters, middle), mark, p->m.mark_size) <= 0)
      low = middle + 1;
    else
      high = middle;
  }
  RS_ASSERT(low <= p->splitter_count);
  return low;
}

static void count_piece(void *argument, size_t piece, unsigned slot)
{
  partitioning *const p = argument;
  size_t *const counts = places_of(p, piece);
  unsigned char *const mark = mark_in(&p->m, slot);
  const team_range range = team_cut(p->m.count, piece, p->pieces);
  RS_ASSERT(piece < p->pieces && range.end <= p->m.count);
  memset(counts, 0, (p->splitter_count + 1) * sizeof *counts);
  for (size_t i = range.begin; i < range.end && mark_record(&p->m, i, slot, mark); i++) {
    p->parts[i] = (uint32_t)part_of(p, mark);
    counts[p->parts[i]]++;
  }
}

static void move_piece(void *argument, size_t piece, unsigned slot)
{
  partitioning *const p = argument;
  size_t *const places = places_of(p, piece);
  const size_t size = (size_t)p->m.plan->program.record_size;
  const team_range range = team_cut(p->m.count, piece, p->pieces);
  RS_ASSERT(piece < p->pieces && range.end <= p->m.count);
  (void)slot;
  for (size_t i = range.begin; i < range.end; i++)
    memcpy(p->to + places[p->parts[i]]++ * size, record_at(&p->m, i), size);
}

/* Turns counts into places: parts follow one another, and in each of them the pieces. */
static void find_places(const partitioning *p, size_t *offsets)
{
  size_t sum = 0;
  for (size_t part = 0; part <= p->splitter_count; part++) {
    offsets[part] = sum;
    for (size_t piece = 0; piece < p->pieces; piece++) {
      size_t *const place = &places_of(p, piece)[part];
      const size_t count = *place;
      *place = sum;
      sum += count;
    }
  }
  offsets[p->splitter_count + 1] = sum;
  RS_ASSERT(sum == p->m.count);
}

static recsort_status check_parts(const partitioning *p, const size_t *offsets,
                                  recsort_error *error)
{
  const size_t bytes = p->m.count * (size_t)p->m.plan->program.record_size;
  if (!offsets || (!p->splitters && p->splitter_count))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "splitters and offsets must not be NULL");
  if ((uint64_t)p->splitter_count > UINT32_MAX)
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "%zu splitters are too many",
                   p->splitter_count);
  if (p->to && rs_overlap(p->m.records, bytes, p->to, bytes))
    return rs_fail(error, RECSORT_INVALID_ARGUMENT, "records and partitioned overlap");
  for (size_t i = 1; i < p->splitter_count; i++)
    if (memcmp(splitter_at(&p->m, p->splitters, i - 1), splitter_at(&p->m, p->splitters, i),
               p->m.mark_size) > 0)
      return rs_fail(error, RECSORT_INVALID_ARGUMENT, "splitter %zu is less than the one before it",
                     i);
  return RECSORT_OK;
}

/* The places, and behind them the parts, in the sorter's block. */
static recsort_status take_memory(recsort_sorter *sorter, partitioning *p, recsort_error *error)
{
  const size_t places = rs_product(p->splitter_count + 1, p->pieces * sizeof *p->places);
  RS_ASSERT(p->pieces > 0);
  rs_sorter_begin(sorter, p->m.count);
  const recsort_status status =
      rs_sorter_reserve(sorter, rs_sum(places, rs_product(p->m.count, sizeof *p->parts)), error);
  if (status) return status;
  p->places = sorter->block;
  p->parts = (uint32_t *)(void *)((char *)sorter->block + places);
  RS_ASSERT((uintptr_t)p->parts % sizeof *p->parts == 0);
  return RECSORT_OK;
}

recsort_status recsort_partition_records(recsort_sorter *sorter, const void *records, size_t count,
                                         uint64_t first, const void *splitters,
                                         size_t splitter_count, void *partitioned, size_t *offsets,
                                         recsort_error *error)
{
  partitioning p;
  recsort_status status = begin(sorter, records, count, first, &p.m, error);
  if (status) return status;
  p.splitters = splitters;
  p.splitter_count = splitter_count;
  p.to = partitioned;
  status = check_parts(&p, offsets, error);
  if (status == RECSORT_OK) status = open_slots(sorter, &p.m, p.m.count / WORTH_A_THREAD, error);
  if (status) return status;
  p.pieces = p.m.team.threads;
  status = take_memory(sorter, &p, error);
  if (status) return status;
  team_each(p.m.team, p.pieces, count_piece, &p);
  status = outcome(&p.m, error);
  if (status) return status;
  find_places(&p, offsets);
  if (p.to) team_each(p.m.team, p.pieces, move_piece, &p);
  return RECSORT_OK;
}
