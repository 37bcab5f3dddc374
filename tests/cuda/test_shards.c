/* Records in the memory of several devices: sorted as an oracle of this file says. Built twice:
 * with the stand-in for the CUDA runtime, which has four devices, and, with RS_REAL_GPU, for real
 * ones: for those that there are, with several shards on each. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recsort/recsort.h"
#include "support/failing_allocator.h"
#include "support/native.h"
#include "support/random.h"
#include "support/refused.h"

#include "cuda/device_memory.h"
#include "cuda/shared_kinds.h"

#ifdef RS_REAL_GPU
enum { MOST = 3000001 };
static const size_t sizes[] = {2, 1000, 50003};
enum { APART = 2 }; /* every second case: to open devices takes longer than to sort */
#else
enum { MOST = 1200, DEVICES = STANDIN_DEVICES };
static const size_t sizes[] = {2, 3, 31, 1200};
enum { APART = 1 };
#endif
#ifndef SHARDS_PART
#define SHARDS_PART (1 << 22)
#endif
enum { GUARD = 64, POISON = 0xa5, MOST_SHARDS = 20 };

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- Records ---- */

static const struct {
  const char *yaml;
  size_t size;
} kinds[] = {
    SHARED_KINDS,
    {"record: Pair\n" NATIVE "fields:\n- {name: key, type: float32}\n- {name: value, type: "
     "uint32}\nkeys: [key]\n",
     8},
    {"record: Long\n" NATIVE "fields:\n- {name: value, type: float64}\n- {name: key, type: "
     "int64}\nkeys: [key]\n",
     16},
};
enum { ROW, SMALL, ENTITY, WIDE, PAIR, LONG };

/* How the keys are spread: ties are many in all but the last two. */
typedef enum spread { EQUAL, FEW, SOME, SKEWED, ASCENDING, DESCENDING, SPREADS } spread;

static uint64_t value_of(spread how, size_t i, size_t count, uint64_t *random)
{
  switch (how) {
  case EQUAL:
    return 5;
  case FEW:
    return random_below(random, 3);
  case SKEWED:
    return random_below(random, 100) ? 7 : random_below(random, count);
  case ASCENDING:
    return i;
  case DESCENDING:
    return count - i;
  default:
    return random_below(random, count + 1);
  }
}

/* Writes the value's key to a record. Returns its place among keys. */
static uint64_t put_key(unsigned kind, unsigned char *record, uint64_t value)
{
  const uint32_t half = (uint32_t)(value / 2);
  const uint16_t narrow = (uint16_t)(value % 50000);
  const float number = (float)(value % (1 << 22)) - 1000.5f;
  const uint64_t wide[2] = {value / 3, value % 3};
  if (kind == ROW) {
    memcpy(record, &half, sizeof half);
    record[4] = (unsigned char)(value % 2);
    return (uint64_t)half * 2 + 1 - value % 2;
  }
  if (kind == SMALL) {
    memcpy(record, &narrow, sizeof narrow);
    return narrow;
  }
  if (kind == WIDE) {
    memcpy(record, wide, sizeof wide);
    return value;
  }
  if (kind == LONG) {
    const int64_t from_below = (int64_t)value - 300;
    memcpy(record + 8, &from_below, sizeof from_below);
    return value;
  }
  memcpy(record + (kind == ENTITY ? 16 : 0), &number, sizeof number);
  return kind == ENTITY ? (1 << 22) - value % (1 << 22) : value % (1 << 22);
}

/* ---- Shards ---- */

typedef struct setting {
  size_t count; /* shards */
  int devices[MOST_SHARDS];
  size_t counts[MOST_SHARDS], after[MOST_SHARDS], room[MOST_SHARDS];
  bool balance; /* `after` differs from `counts` */
  unsigned char *memory[MOST_SHARDS], *workspace[MOST_SHARDS];
  size_t bytes[MOST_SHARDS]; /* of the workspaces */
  size_t offset;             /* of the records in the memory */
} setting;

/* A record: its place among keys, and among records. */
typedef struct placed {
  uint64_t key, place;
} placed;

static int compare(const void *a, const void *b)
{
  const placed *const x = a, *const y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->place < y->place ? -1 : x->place > y->place;
}

static size_t total(const setting *s)
{
  size_t all = 0;
  for (size_t i = 0; i < s->count; i++)
    all += s->counts[i];
  return all;
}

static int device_count(void)
{
#ifdef RS_REAL_GPU
  int count = 0;
  assert_int_equal(cudaGetDeviceCount(&count), cudaSuccess);
  return count;
#else
  return DEVICES;
#endif
}

static void begin_shards(long apart)
{
#ifdef RS_REAL_GPU
  (void)apart;
#else
  standin_begin((standin_plan){.memory = 1 << 28, .devices = DEVICES - 1, .apart = apart});
#endif
}

/* The counts of n shards with `all` records. */
typedef enum way { EVEN, UNEVEN, SOME_EMPTY, LAST_HAS_ALL, WAYS } way;

static void divide(setting *s, size_t n, size_t all, way how, bool spread_out, bool balance,
                   uint64_t *random)
{
  size_t rest = all;
  s->count = n;
  s->balance = balance;
  for (size_t i = 0; i < n; i++) {
    const bool none = how == LAST_HAS_ALL || (how == SOME_EMPTY && i % 2 == 0);
    s->counts[i] = i + 1 == n    ? rest
                   : none        ? 0
                   : how == EVEN ? all / n
                                 : (size_t)random_below(random, rest + 1);
    rest -= s->counts[i];
    s->devices[i] = spread_out ? (int)i % device_count() : 0;
    s->after[i] = balance ? all / n + (i < all % n) : s->counts[i];
    s->room[i] = (s->after[i] > s->counts[i] ? s->after[i] : s->counts[i]) + 1;
  }
}

static unsigned char *records_of(const setting *s, size_t i)
{
  return s->memory[i] + s->offset;
}

static void make_shards(setting *s, size_t size, const unsigned char *records)
{
  unsigned char guard[GUARD];
  memset(guard, POISON, GUARD);
  for (size_t i = 0, at = 0; i < s->count; at += s->counts[i++]) {
    assert_int_equal(cudaSetDevice(s->devices[i]), cudaSuccess);
    s->memory[i] = make(s->offset + s->room[i] * size + GUARD);
    put(records_of(s, i), records + at * size, s->counts[i] * size);
    put(records_of(s, i) + s->after[i] * size, guard, s->after[i] < s->counts[i] ? 0 : GUARD);
  }
  assert_int_equal(cudaSetDevice(0), cudaSuccess);
}

static void drop_shards(setting *s)
{
  for (size_t i = 0; i < s->count; i++) {
    assert_int_equal(cudaSetDevice(s->devices[i]), cudaSuccess);
    drop(s->memory[i]);
    if (s->workspace[i]) drop(s->workspace[i]);
    s->workspace[i] = NULL;
  }
  assert_int_equal(cudaSetDevice(0), cudaSuccess);
}

/* The shards have the records in that order; NULL: as they were. */
static bool are_as(const setting *s, size_t size, const unsigned char *records, const placed *order,
                   const size_t *counts)
{
  bool same = true;
  for (size_t i = 0, at = 0; i < s->count; at += counts[i++]) {
    unsigned char *const found = malloc(counts[i] * size + GUARD);
    assert_non_null(found);
    get(found, records_of(s, i), counts[i] * size + GUARD);
    for (size_t r = 0; r < counts[i] && same; r++) {
      const size_t from = order ? (size_t)order[at + r].place : at + r;
      same = memcmp(found + r * size, records + from * size, size) == 0;
    }
    for (size_t g = 0; g < GUARD && s->after[i] >= s->counts[i]; g++)
      same = same && (counts != s->after || found[counts[i] * size + g] == POISON);
    free(found);
  }
  return same;
}

/* ---- Sorters ---- */

static failing_allocator host_memory; /* of the library */

static const char *plugin = "cuda";

static recsort_status try_create(const char *yaml, recsort_sorter **sorter, recsort_error *error)
{
  const recsort_allocator hook = failing_hook(&host_memory);
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = plugin, .allocator = &hook, .on_device = true};
  recsort_schema *schema = NULL;
  const recsort_status status =
      recsort_schema_load_memory(yaml, strlen(yaml), "test", NULL, &schema, error);
  if (status) fail_msg("%s", error->text);
  const recsort_status made = recsort_sorter_create(schema, &options, sorter, error);
  recsort_schema_destroy(schema);
  return made;
}

static recsort_sorter *create(const char *yaml)
{
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  if (try_create(yaml, &sorter, &error)) fail_msg("%s", error.text);
  return sorter;
}

static void describe_jobs(const setting *s, recsort_job *jobs)
{
  for (size_t i = 0; i < s->count; i++)
    jobs[i] = (recsort_job){.struct_size = sizeof *jobs,
                            .count = s->counts[i],
                            .records = s->memory[i] ? records_of(s, i) : NULL,
                            .sorted = s->memory[i] ? records_of(s, i) : NULL,
                            .head = s->balance ? s->after[i] : 0,
                            .device = s->devices[i],
                            .workspace = s->workspace[i],
                            .workspace_size = s->bytes[i]};
}

static recsort_status try_plan(recsort_sorter *sorter, setting *s, recsort_error *error)
{
  recsort_needs needs[MOST_SHARDS];
  recsort_job jobs[MOST_SHARDS];
  for (size_t i = 0; i < s->count; i++)
    needs[i] = (recsort_needs){.struct_size = sizeof *needs};
  describe_jobs(s, jobs);
  const recsort_status status = recsort_plan(sorter, jobs, s->count, needs, error);
  for (size_t i = 0; i < s->count && !status; i++)
    s->bytes[i] = needs[i].device;
  return status;
}

/* Workspaces of the least size. */
static void equip(recsort_sorter *sorter, setting *s)
{
  recsort_error error = {0};
  if (try_plan(sorter, s, &error)) fail_msg("%s", error.text);
  for (size_t i = 0; i < s->count; i++) {
    assert_int_equal(cudaSetDevice(s->devices[i]), cudaSuccess);
    s->workspace[i] = make(s->bytes[i] + 1);
  }
  assert_int_equal(cudaSetDevice(0), cudaSuccess);
}

static recsort_status try_sort(recsort_sorter *sorter, const setting *s, recsort_error *error)
{
  recsort_job jobs[MOST_SHARDS];
  describe_jobs(s, jobs);
  return recsort_run(sorter, jobs, s->count, error);
}

static void sort(recsort_sorter *sorter, const setting *s)
{
  recsort_error error = {0};
  int device = -1;
  if (try_sort(sorter, s, &error)) fail_msg("%s", error.text);
  assert_int_equal(cudaGetDevice(&device), cudaSuccess);
  assert_int_equal(device, 0);
#ifndef RS_REAL_GPU
  assert_int_equal(standin_depth(), 0);
  assert_int_equal(standin_look().misuses, 0);
#endif
}

/* Sorts, and what the sorter then has of the host's memory was planned; again, this takes none. */
static void sort_as_planned(recsort_sorter *sorter, const setting *s)
{
  const size_t before = host_memory.bytes;
  recsort_needs needs[MOST_SHARDS];
  recsort_job jobs[MOST_SHARDS];
  size_t planned = 0;
  for (size_t i = 0; i < s->count; i++)
    needs[i] = (recsort_needs){.struct_size = sizeof *needs};
  describe_jobs(s, jobs);
  assert_int_equal(recsort_plan(sorter, jobs, s->count, needs, NULL), RECSORT_OK);
  for (size_t i = 0; i < s->count; i++)
    planned += needs[i].host;
  sort(sorter, s);
  assert_int_equal(host_memory.bytes, before + planned);
}

/* ---- Cases ---- */

static void fill(unsigned kind, spread how, size_t count, unsigned char *records, placed *order,
                 uint64_t *random)
{
  const size_t size = kinds[kind].size;
  fill_random(records, count * size, random);
  for (size_t i = 0; i < count; i++)
    order[i] = (placed){put_key(kind, records + i * size, value_of(how, i, count, random)), i};
  qsort(order, count, sizeof *order, compare);
}

static void check_bytes(const setting *s, size_t size)
{
  for (size_t i = 0; i < s->count; i++) {
    const size_t most = s->after[i] > s->counts[i] ? s->after[i] : s->counts[i];
    assert_in_range(s->bytes[i], s->after[i] * size + s->counts[i],
                    most * (2 * size + 4 * 16 + 2 * 8) + (71 << 20) + (32 << 20));
  }
}

/* The shard of record `i` of all. */
static size_t shard_of(const size_t *counts, size_t i)
{
  size_t s = 0;
  while (i >= counts[s])
    i -= counts[s++];
  return s;
}

static size_t key_size(unsigned kind)
{
  return kind == WIDE ? 16 : kind == ROW || kind == LONG ? 8 : 4;
}

static bool is_word(unsigned kind)
{
  return kind == ENTITY || kind == PAIR || kind == LONG;
}

/* The parts in which each shard gets its records: shards.c. */
static size_t parts_of(const setting *s)
{
  size_t largest = 0;
  bool apart = false;
  for (size_t i = 0; i < s->count; i++) {
    apart = apart || s->devices[i] != s->devices[0];
    if (s->after[i] > largest) largest = s->after[i];
  }
  const size_t parts = largest / SHARDS_PART;
  return !apart || s->count > 8 || parts < 2 ? 1 : parts < 8 ? parts : 8;
}

/* The bytes that come from other shards. Keys that are not words of records come with these, unless
 * a part is one piece. */
static size_t bytes_sent(unsigned kind, const setting *s, const placed *order)
{
  const size_t parts = parts_of(s);
  size_t bytes = 0;
  for (size_t d = 0, at = 0; d < s->count; at += s->after[d++])
    for (size_t part = 0; part < parts; part++) {
      const size_t first = s->after[d] / parts * part;
      const size_t end = part + 1 < parts ? first + s->after[d] / parts : s->after[d];
      size_t came[MOST_SHARDS] = {0}, pieces = 0;
      for (size_t i = first; i < end; i++)
        pieces += came[shard_of(s->counts, (size_t)order[at + i].place)]++ == 0;
      const size_t key = pieces > 1 && !is_word(kind) ? key_size(kind) : 0;
      bytes += (end - first - came[d]) * (kinds[kind].size + key);
    }
  return bytes;
}

/* Returns bytes_sent(). */
static size_t check(unsigned kind, spread how, setting *s, uint64_t *random)
{
  const size_t size = kinds[kind].size, all = total(s);
  unsigned char *const records = malloc(all * size + 8);
  placed *const order = malloc((all + 1) * sizeof *order);
  assert_true(records && order);
  fill(kind, how, all, records, order, random);
  s->offset = random_below(random, 2) ? random_below(random, 17) : 0;
  make_shards(s, size, records);
  recsort_sorter *const sorter = create(kinds[kind].yaml);
  equip(sorter, s);
  check_bytes(s, size);
  sort_as_planned(sorter, s);
  if (!are_as(s, size, records, order, s->after))
    fail_msg("kind %u, spread %d, %zu shards, %zu records", kind, (int)how, s->count, all);
  const size_t bytes = bytes_sent(kind, s, order);
  recsort_sorter_destroy(sorter);
  drop_shards(s);
  free(order);
  free(records);
  assert_int_equal(host_memory.blocks, 0);
  assert_int_equal(host_memory.wrong, 0);
  return bytes;
}

static void sorts_as_one_array(void **state)
{
  static const size_t numbers[] = {2, 3, 4, 5, 8};
  uint64_t random = 1;
  unsigned turn = 0;
  (void)state;
  for (size_t n = 0; n < COUNT_OF(numbers); n++)
    for (size_t c = 0; c < COUNT_OF(sizes); c++)
      for (unsigned how = 0; how < SPREADS; how++)
        for (unsigned rest = (how + n) % APART; rest < 4; rest += APART, turn++) {
          setting s = {0};
          begin_shards(0);
          const bool balance = rest == 3;
          divide(&s, numbers[n], at_most(sizes[c]), (way)((how + turn / 5) % WAYS), rest % 2,
                 balance, &random);
          (void)check(turn % COUNT_OF(kinds), (spread)how, &s, &random);
        }
}

/* So many that they are sorted, and merged, in another way. */
static void sorts_many_records(void **state)
{
  uint64_t random = 13;
  (void)state;
  for (unsigned turn = 0; turn < 3 * COUNT_OF(kinds); turn++) {
    setting s = {0};
    begin_shards(0);
    divide(&s, turn % 3 + 2, at_most(MOST), UNEVEN, turn % 2, false, &random);
    (void)check(turn % COUNT_OF(kinds), turn % 4 ? SOME : SKEWED, &s, &random);
  }
}

/* So many that each shard gets its records in several parts. */
static void sorts_in_parts(void **state)
{
  static const unsigned of[] = {PAIR, ROW, SMALL};
  uint64_t random = 15;
  (void)state;
  for (size_t i = 0; i < COUNT_OF(of); i++) {
    setting s = {0};
    begin_shards(0);
    divide(&s, 2, at_most(2 * (2 * SHARDS_PART + 1001)), EVEN, true, false, &random);
    (void)check(of[i], SOME, &s, &random);
  }
}

/* More pieces than a kernel takes. */
static void sorts_many_shards(void **state)
{
  uint64_t random = 2;
  (void)state;
  for (unsigned spread_out = 0; spread_out < 2; spread_out++) {
    setting s = {0};
    begin_shards(0);
    divide(&s, MOST_SHARDS, at_most(MOST), EVEN, spread_out, false, &random);
    (void)check(ENTITY, SOME, &s, &random);
  }
}

/* The same sorter again and again, with fewer records too. */
static void sorts_again(void **state)
{
  enum { SORTS = 6 };
  const size_t size = kinds[ROW].size;
  uint64_t random = 3;
  (void)state;
  begin_shards(0);
  setting most = {0};
  divide(&most, 3, at_most(MOST), EVEN, true, false, &random);
  recsort_sorter *const sorter = create(kinds[ROW].yaml);
  assert_int_equal(try_plan(sorter, &most, NULL), RECSORT_OK);
  size_t allocations = 0;
  for (unsigned i = 0; i < SORTS; i++) {
    setting s = most;
    for (size_t n = 0; n < s.count; n++)
      s.counts[n] = s.after[n] = (size_t)random_below(&random, most.counts[n] + 1);
    unsigned char *const records = malloc(total(&s) * size + 8);
    placed *const order = malloc((total(&s) + 1) * sizeof *order);
    assert_true(records && order);
    fill(ROW, (spread)(i % SPREADS), total(&s), records, order, &random);
    make_shards(&s, size, records);
    for (size_t n = 0; n < s.count; n++) {
      assert_int_equal(cudaSetDevice(s.devices[n]), cudaSuccess);
      s.workspace[n] = make(s.bytes[n]);
    }
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    sort(sorter, &s);
    if (i) assert_int_equal(host_memory.calls, allocations);
    allocations = host_memory.calls;
    assert_true(are_as(&s, size, records, order, s.after));
    sort(sorter, &s); /* in order already */
    assert_true(are_as(&s, size, records, order, s.after));
    drop_shards(&s);
    free(order);
    free(records);
  }
  recsort_sorter_destroy(sorter);
}

/* The first invalid record is named, and nothing moves. */
static void invalid_records_are_named(void **state)
{
  enum { CASES = 12 };
  const size_t size = kinds[ROW].size;
  uint64_t random = 4;
  (void)state;
  for (unsigned c = 0; c < CASES; c++) {
    setting s = {0};
    begin_shards(0);
    divide(&s, 4, 1000, EVEN, c % 2, false, &random);
    unsigned char *const records = malloc(1000 * size + 8);
    placed *const order = malloc(1000 * sizeof *order);
    assert_true(records && order);
    fill(ROW, SOME, 1000, records, order, &random);
    size_t first = 1000;
    for (unsigned bad = 0; bad <= c % 3; bad++) {
      const size_t at = c == 0 ? 0 : c == 1 ? 999 : (size_t)random_below(&random, 1000);
      records[at * size + 4] = 2;
      if (at < first) first = at;
    }
    make_shards(&s, size, records);
    recsort_sorter *const sorter = create(kinds[ROW].yaml);
    recsort_error error = {0};
    char text[60];
    equip(sorter, &s);
    assert_int_equal(try_sort(sorter, &s, &error), RECSORT_INVALID_RECORD);
    assert_true(snprintf(text, sizeof text, "shard %zu: record %zu", first / 250, first % 250) > 0);
    if (!strstr(error.text, text)) fail_msg("%s, not %s", error.text, text);
    assert_true(are_as(&s, size, records, NULL, s.counts));
    unsigned char valid = 0;
    for (size_t i = 0; i < 1000; i++) {
      if (records[i * size + 4] != 2) continue;
      records[i * size + 4] = valid;
      put(records_of(&s, i / 250) + i % 250 * size + 4, &valid, 1);
    }
    sort(sorter, &s); /* it works as before */
    recsort_sorter_destroy(sorter);
    drop_shards(&s);
    free(order);
    free(records);
  }
}

static void the_cpu_has_no_device(void **state)
{
  recsort_sorter *sorter = NULL;
  (void)state;
  begin_shards(0);
  plugin = "cpu";
  REFUSED(try_create(kinds[ROW].yaml, &sorter, &error), RECSORT_PLUGIN_ERROR);
  plugin = "cuda";
  assert_null(sorter);
}

static void wrong_jobs_are_refused(void **state)
{
  enum { FEW_RECORDS = 100 };
  setting s = {0}, wrong;
  uint64_t random = 5;
  unsigned char records[FEW_RECORDS * 24];
  placed order[FEW_RECORDS];
  recsort_error refusal = {0};
  (void)state;
  begin_shards(0);
  divide(&s, 2, FEW_RECORDS, EVEN, false, false, &random);
  fill(ROW, SOME, FEW_RECORDS, records, order, &random);
  make_shards(&s, 24, records);
  plugin = "auto";
  recsort_sorter *const sorter = create(kinds[ROW].yaml);
  plugin = "cuda";
  equip(sorter, &s);
#define WRONG(why, words, ...)                                                                     \
  do {                                                                                             \
    recsort_job jobs[MOST_SHARDS];                                                                 \
    describe_jobs(&s, jobs);                                                                       \
    __VA_ARGS__;                                                                                   \
    assert_int_equal(recsort_run(sorter, jobs, 2, &refusal), why);                                 \
    if (!strstr(refusal.text, words)) fail_msg("%s", refusal.text);                                \
    assert_int_equal(recsort_run(sorter, jobs, 2, NULL), why);                                     \
  } while (0)
#define OTHER(...)                                                                                 \
  WRONG(RECSORT_INVALID_ARGUMENT, "jobs[1]: of several jobs, each sorts records in place",         \
        __VA_ARGS__)
  uint32_t word;
  OTHER(jobs[1].sorted = NULL);
  OTHER(jobs[1].sorted = (unsigned char *)jobs[1].sorted + 24);
  OTHER(jobs[1].device_count = &word);
  OTHER(jobs[1].columns = &(recsort_column){"key", &word, 0});
  OTHER(jobs[1].column_count = 1);
  OTHER(jobs[1].parts = RECSORT_SEGMENTS);
  OTHER(jobs[1].offsets = &word);
  OTHER(jobs[1].part_count = 1);
  OTHER(jobs[1].part_records = &(const void *){&word});
  OTHER(jobs[1].longest_part = 1);
  OTHER(jobs[1].first_bit = 1);
  OTHER(jobs[1].bits = 1);
  OTHER(jobs[1].keys_out = &word);
  OTHER(jobs[1].permutation = &word);
  OTHER(jobs[1].arrays = &(recsort_array){NULL, NULL, 1});
  OTHER(jobs[1].array_count = 1);
  OTHER(jobs[1].status = &word);
  WRONG(RECSORT_INVALID_ARGUMENT, "jobs[1]: the number of the device is -1", jobs[1].device = -1);
  WRONG(RECSORT_PLUGIN_ERROR, "shard 1: option \"device=99\": there are", jobs[1].device = 99);
  WRONG(RECSORT_INVALID_ARGUMENT, "100 records in all, but by their heads 99 after",
        jobs[0].head = 99);
  WRONG(RECSORT_INVALID_ARGUMENT, "jobs[1]: records must not be NULL",
        jobs[1].records = jobs[1].sorted = NULL);
  WRONG(RECSORT_INVALID_ARGUMENT, "jobs[1]: workspace must not be NULL", jobs[1].workspace = NULL);
  WRONG(RECSORT_INVALID_ARGUMENT, "jobs[0].records and jobs[1].records overlap",
        jobs[1].records = jobs[1].sorted = (unsigned char *)jobs[0].sorted + 49 * 24);
  /* On a device, what overlaps may overlap its neighbours, too. */
  WRONG(RECSORT_INVALID_ARGUMENT, "jobs[0].records and jobs[1].",
        jobs[0].records = jobs[0].sorted = jobs[1].workspace);
  WRONG(RECSORT_INVALID_ARGUMENT, "jobs[1].workspace overlap",
        jobs[1].workspace = (void *)((uintptr_t)jobs[1].records / 256 * 256));
  WRONG(RECSORT_INVALID_ARGUMENT, "jobs[1]: workspace is not at a multiple of 256 bytes",
        jobs[1].workspace = (unsigned char *)jobs[1].workspace + 128);
  WRONG(RECSORT_INVALID_ARGUMENT, "jobs[0].workspace and jobs[1].workspace overlap",
        jobs[1].workspace = jobs[0].workspace);
  WRONG(RECSORT_PLUGIN_ERROR, "shard 1: the workspace has 256 bytes; this job takes ",
        jobs[1].workspace_size = 256);
  WRONG(RECSORT_OUT_OF_MEMORY, "", jobs[1].count = SIZE_MAX);
  WRONG(RECSORT_INVALID_ARGUMENT, "jobs[1]: struct_size is 0, but a recsort_job has ",
        jobs[1].struct_size = 0);
  static recsort_job many[257];
  for (size_t i = 0; i < COUNT_OF(many); i++)
    many[i] = (recsort_job){.struct_size = sizeof *many};
  REFUSED(recsort_run(sorter, many, COUNT_OF(many), &error), RECSORT_INVALID_ARGUMENT);
  assert_int_equal(recsort_run(sorter, many, 3, NULL), RECSORT_OK); /* all are empty */
  assert_true(are_as(&s, 24, records, NULL, s.counts));
  wrong = s;
  wrong.devices[1] = 99;
  REFUSED(try_plan(sorter, &wrong, &error), RECSORT_PLUGIN_ERROR);
  wrong = s;
  wrong.counts[1] = (size_t)1 << 59; /* its bytes overflow */
  assert_int_equal(try_plan(sorter, &wrong, &refusal), RECSORT_PLUGIN_ERROR);
  if (!strstr(refusal.text, "shard 1: there are too many records")) fail_msg("%s", refusal.text);
  recsort_sorter_destroy(sorter);
  drop_shards(&s);
}

/* By the distance from a point, which may change. */
static void parameters_can_be_set(void **state)
{
  static const char yaml[] = "record: Point\n" NATIVE "fields: [{name: x, type: float32}]\n"
                             "keys: [{distance: {fields: [x], from: point}}]\n";
  enum { POINTS = 64 };
  float points[POINTS], found[POINTS];
  setting s = {0};
  uint64_t random = 6;
  (void)state;
  begin_shards(0);
  divide(&s, 2, POINTS, EVEN, true, false, &random);
  for (size_t i = 0; i < POINTS; i++)
    points[i] = (float)(i * 37 % POINTS);
  make_shards(&s, 4, (unsigned char *)points);
  recsort_sorter *const sorter = create(yaml);
  REFUSED(try_sort(sorter, &s, &error), RECSORT_INVALID_ARGUMENT);
  for (double from = 0; from < 100; from += 33) {
    assert_int_equal(recsort_sorter_set_parameter(sorter, "point", &from, 1, NULL), RECSORT_OK);
    if (from == 0) equip(sorter, &s);
    sort(sorter, &s);
    get(found, s.memory[0], sizeof found / 2);
    get(found + POINTS / 2, s.memory[1], sizeof found / 2);
    for (size_t i = 1; i < POINTS; i++)
      assert_true(fabs(found[i - 1] - from) <= fabs(found[i] - from));
  }
  recsort_sorter_destroy(sorter);
  drop_shards(&s);
}

/* What comes on a stream is there before the sort begins. */
static void waits_for_streams(void **state)
{
  enum { RECORDS = 2000, SIZE = 20 };
  unsigned char *records = NULL;
  placed order[RECORDS];
  setting s = {0};
  uint64_t random = 12;
  (void)state;
  divide(&s, 2, RECORDS, EVEN, false, false, &random);
  assert_int_equal(cudaMallocHost((void **)&records, RECORDS * SIZE), cudaSuccess);
  fill(ENTITY, DESCENDING, RECORDS, records, order, &random);
  make_shards(&s, SIZE, records);
  fill(ENTITY, SOME, RECORDS, records, order, &random);
  recsort_sorter *const sorter = create(kinds[ENTITY].yaml);
  recsort_job jobs[2];
  equip(sorter, &s);
  describe_jobs(&s, jobs);
  for (size_t i = 0; i < 2; i++) {
    jobs[i].stream = stream;
    assert_int_equal(cudaMemcpyAsync(jobs[i].sorted, records + i * s.counts[0] * SIZE,
                                     s.counts[i] * SIZE, cudaMemcpyHostToDevice, stream),
                     cudaSuccess);
  }
  assert_int_equal(recsort_run(sorter, jobs, 2, NULL), RECSORT_OK);
  assert_true(are_as(&s, SIZE, records, order, s.after));
  recsort_sorter_destroy(sorter);
  drop_shards(&s);
  assert_int_equal(cudaFreeHost(records), cudaSuccess);
}

#ifndef RS_REAL_GPU

/* ---- Only with the stand-in ---- */

/* With and without access to peers, what belongs to another device comes by copies, once. */
static void sorts_without_access_to_peers(void **state)
{
  uint64_t random = 7;
  (void)state;
  for (unsigned kind = 0; kind < COUNT_OF(kinds); kind++)
    for (unsigned how = 0; how < SPREADS; how++)
      for (size_t n = 2; n <= DEVICES; n++)
        for (long apart = 0; apart < 2; apart++) {
          setting s = {0};
          begin_shards(apart);
          divide(&s, n, MOST, EVEN, true, false, &random);
          const size_t bytes = check(kind, (spread)how, &s, &random);
          assert_int_equal(standin_sent(), bytes);
        }
}

/* Each call of the runtime fails in turn: an error and no leak; the shards are as they were, or the
 * last step had begun; and the next sort works. */
static void survives_failing_calls(void **state)
{
  enum { RECORDS = 500 };
  const size_t size = kinds[ROW].size;
  unsigned char records[RECORDS * 24];
  placed order[RECORDS];
  uint64_t random = 8;
  unsigned changed = 0, failures = 0;
  bool failed = true;
  (void)state;
  fill(ROW, SOME, RECORDS, records, order, &random);
  begin_shards(0);
  recsort_sorter *const planner = create(kinds[ROW].yaml);
  const standin_state opened = standin_look();
  for (long fail_at = 1; failed; fail_at++) {
    recsort_sorter *sorter = NULL;
    recsort_error error = {0};
    setting s = {0};
    begin_shards(fail_at % 2);
    divide(&s, 3, RECORDS, EVEN, true, false, &random);
    make_shards(&s, size, records);
    equip(planner, &s);
    standin_begin(
        (standin_plan){.fail_at = (fail_at + 1) / 2, .devices = DEVICES - 1, .apart = fail_at % 2});
    recsort_status status = try_create(kinds[ROW].yaml, &sorter, &error);
    if (!status) status = try_sort(sorter, &s, &error);
    failed = status != RECSORT_OK || fail_at < 200;
    failures += status != RECSORT_OK;
    if (status) {
      assert_true(error.text[0] && error.status == status && !strchr(error.text, '\n'));
      const bool same = are_as(&s, size, records, NULL, s.counts);
      changed += !same;
      assert_true(same || status == RECSORT_DEVICE_ERROR);
      if (sorter && same) assert_int_equal(try_sort(sorter, &s, &error), RECSORT_OK);
      if (sorter && same) assert_true(are_as(&s, size, records, order, s.after));
    } else {
      assert_true(are_as(&s, size, records, order, s.after));
    }
    recsort_sorter_destroy(sorter);
    assert_int_equal(standin_look().misuses, 0);
    assert_int_equal(standin_depth(), 0);
    assert_int_equal(standin_current(), 0);
    drop_shards(&s);
    assert_int_equal(standin_look().blocks, opened.blocks);
    assert_int_equal(standin_look().streams, opened.streams);
    assert_true(fail_at < 3000);
  }
  recsort_sorter_destroy(planner);
  assert_true(failures > 200);
  assert_in_range(changed, 1, failures / 4);
}

static void survives_failing_allocations(void **state)
{
  setting s = {0};
  uint64_t random = 9;
  unsigned char records[300 * 24];
  placed order[300];
  (void)state;
  fill(ROW, SOME, 300, records, order, &random);
  begin_shards(0);
  divide(&s, 3, 300, EVEN, true, false, &random);
  make_shards(&s, 24, records);
  recsort_sorter *const planner = create(kinds[ROW].yaml);
  equip(planner, &s);
  recsort_sorter_destroy(planner);
  const standin_state opened = standin_look();
  recsort_status status = RECSORT_OUT_OF_MEMORY;
  for (size_t at = 1; status; at++) {
    recsort_sorter *sorter = NULL;
    host_memory = (failing_allocator){.fail_at = at};
    status = try_create(kinds[ROW].yaml, &sorter, &(recsort_error){0});
    assert_true(!status == (sorter != NULL));
    if (!status) status = try_sort(sorter, &s, &(recsort_error){0});
    assert_true(!status || status == RECSORT_OUT_OF_MEMORY);
    if (status) assert_true(are_as(&s, 24, records, NULL, s.counts));
    recsort_sorter_destroy(sorter);
    assert_int_equal(host_memory.blocks + host_memory.wrong, 0);
    assert_int_equal(standin_look().blocks, opened.blocks);
    assert_int_equal(standin_look().streams, opened.streams);
    assert_true(at < 200);
  }
  assert_true(are_as(&s, 24, records, order, s.after));
  host_memory = (failing_allocator){0};
  drop_shards(&s);
}

/* A device is lost in a sort; from then on everything is refused. */
static void lose_a_device(long call)
{
  setting s = {0};
  uint64_t random = 10;
  recsort_sorter *other = NULL;
  recsort_error refusal = {0};
  unsigned char records[300 * 24];
  placed order[300];
  begin_shards(0);
  divide(&s, 3, 300, EVEN, true, false, &random);
  fill(ROW, SOME, 300, records, order, &random);
  make_shards(&s, 24, records);
  recsort_sorter *const sorter = create(kinds[ROW].yaml);
  equip(sorter, &s);
  sort(sorter, &s);
  standin_begin((standin_plan){
      .fail_at = call, .sticky = 1, .code = cudaErrorIllegalAddress, .devices = DEVICES - 1});
  REFUSED(try_sort(sorter, &s, &error), RECSORT_DEVICE_LOST);
  REFUSED(try_sort(sorter, &s, &error), RECSORT_DEVICE_LOST);
  assert_int_equal(try_create(kinds[ROW].yaml, &other, &refusal), RECSORT_PLUGIN_ERROR);
  if (!strstr(refusal.text, "the CUDA device failed earlier in this process"))
    fail_msg("%s", refusal.text);
  recsort_sorter_destroy(sorter);
}

static void lost_devices_are_reported(void **state)
{
  (void)state;
  for (long call = 1; call <= 60; call += 7) {
    int status = 0;
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
      lose_a_device(call);
      _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

#endif

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sorts_as_one_array),
      cmocka_unit_test(sorts_many_records),
      cmocka_unit_test(sorts_in_parts),
      cmocka_unit_test(sorts_many_shards),
      cmocka_unit_test(sorts_again),
      cmocka_unit_test(invalid_records_are_named),
      cmocka_unit_test(the_cpu_has_no_device),
      cmocka_unit_test(wrong_jobs_are_refused),
      cmocka_unit_test(parameters_can_be_set),
      cmocka_unit_test_setup_teardown(waits_for_streams, open_stream, close_stream),
#ifndef RS_REAL_GPU
      cmocka_unit_test(sorts_without_access_to_peers),
      cmocka_unit_test(survives_failing_calls),
      cmocka_unit_test(survives_failing_allocations),
      cmocka_unit_test(lost_devices_are_reported),
#endif
  };
  choose_tests();
#ifndef RS_REAL_GPU
  if (setenv("RECSORT_PLUGIN_PATH", RS_CUDA_PLUGIN, 1) != 0) return 2;
#endif
  return cmocka_run_group_tests_name("shards", tests, NULL, NULL);
}
