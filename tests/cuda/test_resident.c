/* Records in device memory: sorted there as the CPU sorts them on the host. Built twice: with the
 * stand-in for the CUDA runtime, which counts what a sort may not do; and, with RS_REAL_GPU, for a
 * real one, where the sorts are captured in a graph. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recsort/recsort.h"
#include "support/columns.h"
#include "support/failing_allocator.h"
#include "support/native.h"
#include "support/random.h"
#include "support/refused.h"

#include "cuda/device_memory.h"
#include "cuda/shared_kinds.h"
#include "cuda/driver.h"
#ifdef RS_REAL_GPU
enum { MOST = 3000001 };
static const size_t counts[] = {0, 1, 2, 3, 31, 1000, 9000, 16384, 16385, 100003, 1 << 20, MOST};
#else
enum { MOST = 4000 };
static const size_t counts[] = {0, 1, 2, 3, 31, 32, 100, 1000, 2047, 2500, 4000};
#endif
enum { GUARD = 64, POISON = 0xa5 };
static unsigned char guards[GUARD];

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static size_t most(void)
{
  return at_most(MOST);
}

/* ---- Records ---- */

/* Kinds of records, each with keys whose ties are many. */
static const struct {
  const char *yaml;
  size_t size;
} kinds[] = {
    SHARED_KINDS,
    {"record: Key\n" NATIVE "fields:\n- {name: key, type: uint64}\nkeys: [key]\n", 8},
    {"record: Text\n" NATIVE "layout: packed\nfields:\n- {name: text, type: cstring, count: 3}\n"
     "- {name: depth, type: int16, null: [-99, 7]}\n- {name: small, type: float8_e4m3fnuz}\n"
     "- {name: nibble, type: int4}\n"
     "keys: [{field: text, order: desc}, {field: depth, nan: first}, small, nibble]\n",
     7},
    {"record: Long\n" NATIVE "layout: packed\nfields:\n- {name: high, type: uint64}\n"
     "- {name: low, type: uint32}\nkeys: [high, low]\n",
     12},
    {"record: Point\n" NATIVE "fields: [{name: x, type: float32}]\n"
     "keys: [{distance: {fields: [x], from: [0]}}]\n",
     4},
};
enum {
  WIDE = 3, /* has keys of 128 bits, which leaves none for the number of a segment */
  TEXT = 5,
  POINT = 7,
  KINDS = 6 /* the others are for segments only, to save time */
};

/* Values at random; or in order but for one in `moved`, ascending or descending. */
typedef struct arrangement {
  bool ordered, descends;
  uint64_t moved;
} arrangement;

static arrangement arrange(uint64_t *random)
{
  static const uint64_t moved[] = {5, 40, 300, UINT64_MAX};
  return (arrangement){random_below(random, 2), random_below(random, 2),
                       moved[random_below(random, COUNT_OF(moved))]};
}

static void fill(unsigned kind, unsigned char *records, size_t count, uint64_t *random)
{
  const size_t size = kinds[kind].size;
  const arrangement as = arrange(random);
  const uint64_t domain = 2 + random_below(random, 2) * count + random_below(random, count + 1);
  fill_random(records, count * size, random);
  for (size_t i = 0; i < count; i++) {
    unsigned char *const record = records + i * size;
    const uint64_t place = (as.descends ? count - 1 - i : i) * domain / count;
    const bool placed = as.ordered && random_below(random, as.moved) != 0;
    const uint64_t value = placed ? place : random_below(random, domain);
    const uint16_t narrow = (uint16_t)(value % 100);
    const uint32_t key = (uint32_t)value;
    const float distance = (float)value - (float)domain / 2;
    const uint64_t wide[2] = {value / 3, value % 3};
    const int16_t depths[] = {-100, -99, 7, 8, 0};
    if (kind == TEXT) { /* the last byte of the text stays random: most are behind a NUL */
      record[0] = (unsigned char)('a' + value % 3);
      record[1] = value % 7 ? 0 : 'b';
      memcpy(record + 3, &depths[value % 5], sizeof *depths);
      record[5] = (unsigned char)(value % 4 * 64); /* 0, a number, the NaN and a negative one */
      record[6] = (unsigned char)((record[6] & 0xf0) | value % 2);
    } else if (kind == 0) {
      memcpy(record, &key, sizeof key);
      record[4] = (unsigned char)(value >> 3 & 1);
    } else if (kind == 1) {
      memcpy(record, &narrow, sizeof narrow);
    } else if (kind == 2 || kind == POINT) {
      memcpy(record + size - sizeof distance, &distance, sizeof distance);
    } else {
      memcpy(record, wide, kinds[kind].size);
    }
  }
}

/* ---- Sorters ---- */

static recsort_schema *load(const char *yaml)
{
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  if (recsort_schema_load_memory(yaml, strlen(yaml), "test", NULL, &schema, &error))
    fail_msg("%s", error.text);
  return schema;
}

/* What the library allocates on the host. */
static failing_allocator host_memory;

static recsort_status try_create(const char *yaml, const char *plugin, recsort_sorter **sorter,
                                 recsort_error *error)
{
  const recsort_allocator hook = failing_hook(&host_memory);
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = plugin, .allocator = &hook, .on_device = true};
  recsort_schema *const schema = load(yaml);
  const recsort_status status = recsort_sorter_create(schema, &options, sorter, error);
  recsort_schema_destroy(schema);
  return status;
}

static recsort_sorter *create(const char *yaml)
{
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  if (try_create(yaml, NULL, &sorter, &error)) fail_msg("%s", error.text);
  return sorter;
}

static recsort_sorter *open_host(const char *yaml)
{
  const recsort_options options = {.struct_size = sizeof options, .plugin = "cpu"};
  recsort_schema *const schema = load(yaml);
  recsort_sorter *sorter = NULL;
  assert_int_equal(recsort_sorter_create(schema, &options, &sorter, NULL), RECSORT_OK);
  recsort_schema_destroy(schema);
  return sorter;
}

/* The permutation, by the host. */
static void find_order(const char *yaml, const void *records, size_t count, uint64_t *order)
{
  recsort_sorter *const sorter = open_host(yaml);
  assert_int_equal(recsort_argsort(sorter, records, count, order, 64, NULL), RECSORT_OK);
  recsort_sorter_destroy(sorter);
}

/* The same, of segments. */
static void find_expected_segments(unsigned kind, const unsigned char *records, size_t count,
                                   const uint64_t *offsets, size_t segments, uint64_t *order)
{
  recsort_sorter *const sorter = open_host(kinds[kind].yaml);
  for (size_t i = 0; i < count; i++)
    order[i] = i;
  for (size_t s = 0; s < segments; s++) {
    const size_t begin = (size_t)offsets[s], length = (size_t)offsets[s + 1] - begin;
    assert_int_equal(recsort_argsort(sorter, records + begin * kinds[kind].size, length,
                                     order + begin, 64, NULL),
                     RECSORT_OK);
    for (size_t i = 0; i < length; i++)
      order[begin + i] += begin;
  }
  recsort_sorter_destroy(sorter);
}

static void find_expected(unsigned kind, const void *records, size_t count, uint64_t *order)
{
  find_order(kinds[kind].yaml, records, count, order);
}

/* ---- A case ---- */

/* An array of the host and one of the device, with guards behind it. */
typedef struct both {
  unsigned char *host, *device;
  size_t size, element;
} both;

static both make_both(size_t count, size_t element, size_t offset, uint64_t *random)
{
  both made = {malloc(count * element + GUARD), make(count * element + GUARD + 16), count * element,
               element};
  assert_non_null(made.host);
  fill_random(made.host, made.size, random);
  memset(made.host + made.size, POISON, GUARD);
  made.device += offset;
  put(made.device, made.host, made.size + GUARD);
  return made;
}

static void drop_both(both *array, size_t offset)
{
  free(array->host);
  drop(array->device - offset);
}

/* The device has the elements in that order; `from` are those of before. */
static void expect_moved(const both *at, const unsigned char *from, const uint64_t *order)
{
  unsigned char *const found = malloc(at->size + GUARD);
  assert_non_null(found);
  get(found, at->device, at->size + GUARD);
  for (size_t i = 0; i < at->size / at->element; i++)
    if (memcmp(found + i * at->element, from + order[i] * at->element, at->element) != 0)
      fail_msg("element %zu of %zu, of %zu bytes", i, at->size / at->element, at->element);
  for (size_t i = 0; i < GUARD; i++)
    assert_int_equal(found[at->size + i], POISON);
  free(found);
}

static void expect_permutation(const both *at, const uint64_t *order)
{
  unsigned char *const found = malloc(at->size + GUARD);
  assert_non_null(found);
  get(found, at->device, at->size + GUARD);
  for (size_t i = 0; i < at->size / at->element; i++) {
    uint32_t narrow;
    uint64_t wide;
    memcpy(&narrow, found + i * at->element, sizeof narrow);
    memcpy(&wide, found + i * at->element, at->element);
    assert_true((at->element == 4 ? narrow : wide) == order[i]);
  }
  for (size_t i = 0; i < GUARD; i++)
    assert_int_equal(found[at->size + i], POISON);
  free(found);
}

/* What a job takes: for each record two keys, two indices, its own key and the largest element that
 * moves in place, and up to 70 MiB. */
static size_t workspace_of(recsort_sorter *sorter, const recsort_job *job)
{
  recsort_needs needs = RECSORT_NEEDS_INIT;
  recsort_error error = {0};
  size_t moved = 0;
  if (recsort_plan(sorter, job, 1, &needs, &error)) fail_msg("%s", error.text);
  for (size_t a = 0; a < job->array_count; a++)
    if (job->arrays[a].element_size > moved) moved = job->arrays[a].element_size;
  if (job->count > 0)
    assert_in_range(needs.device, 1,
                    job->count * (2 * (16 + 8) + 16 + (moved > 40 ? moved : 40)) + (70 << 20));
  assert_int_equal(needs.host, 0);
  return needs.device;
}

/* A job's workspace, of the least size, and status; it may have been planned for more records. */
static void equip_for(recsort_sorter *sorter, recsort_job *job, size_t most_records)
{
  recsort_job planned;
  job->struct_size = sizeof *job;
  job->stream = stream;
  planned = *job;
  planned.count = most_records;
  job->workspace_size = workspace_of(sorter, &planned);
  job->workspace = make(job->workspace_size + GUARD);
  put((unsigned char *)job->workspace + job->workspace_size, guards, GUARD);
  assert_int_equal(cudaMallocHost(&job->status, sizeof(uint32_t)), cudaSuccess);
  *(uint32_t *)job->status = POISON;
}

static void equip(recsort_sorter *sorter, recsort_job *job)
{
  equip_for(sorter, job, job->count);
}

static void unequip(const recsort_job *job)
{
  unsigned char behind[GUARD];
  get(behind, (unsigned char *)job->workspace + job->workspace_size, GUARD);
  assert_memory_equal(behind, guards, GUARD);
  drop(job->workspace);
  assert_int_equal(cudaFreeHost(job->status), cudaSuccess);
}

static recsort_status status_of(const recsort_job *job)
{
  const recsort_status status = (recsort_status) * (volatile uint32_t *)job->status;
  *(uint32_t *)job->status = POISON;
  return status;
}

/* Runs a job: it may neither wait nor allocate. */
static void run_equipped(recsort_sorter *sorter, const recsort_job *job)
{
  recsort_error error = {0};
  const size_t allocations = host_memory.calls;
#ifdef RS_REAL_GPU
  begin_capture();
  if (recsort_run(sorter, job, 1, &error)) fail_msg("%s", error.text);
  const cudaGraphExec_t graph = end_capture();
  replay(graph);
  drop_graph(graph);
#else
  const standin_state before = standin_look();
  const unsigned depth = standin_depth();
  if (recsort_run(sorter, job, 1, &error)) fail_msg("%s", error.text);
  const standin_state after = standin_look();
  assert_int_equal(after.waits, before.waits);
  assert_int_equal(after.blocks, before.blocks);
  assert_int_equal(after.allocations, before.allocations);
  assert_int_equal(after.streams, before.streams);
  assert_int_equal(after.misuses, before.misuses);
  assert_int_equal(standin_depth(), depth);
#endif
  assert_int_equal(host_memory.calls, allocations);
  assert_int_equal(host_memory.wrong, 0);
  assert_int_equal(status_of(job), RECSORT_OK);
}

static void enqueue(recsort_sorter *sorter, recsort_job job)
{
  equip(sorter, &job);
  run_equipped(sorter, &job);
  unequip(&job);
}

static size_t key_size_of(const char *yaml)
{
  recsort_sorter *const sorter = open_host(yaml);
  const size_t size = recsort_key_size(sorter);
  recsort_sorter_destroy(sorter);
  return size;
}

/* The device has the keys that the host encodes, in that order; `records` are those of before. */
static void expect_keys(const char *yaml, const both *at, const both *records,
                        const uint64_t *order)
{
  recsort_sorter *const sorter = open_host(yaml);
  const size_t count = records->size / records->element;
  unsigned char *const keys = malloc(count * at->element + 1);
  assert_non_null(keys);
  assert_int_equal(recsort_encode(sorter, records->host, count, keys, NULL), RECSORT_OK);
  expect_moved(at, keys, order);
  free(keys);
  recsort_sorter_destroy(sorter);
}

/* To another array with a permutation, keys and companions; then the permutation alone; then in
 * place. */
static void check_count(unsigned kind, size_t count, unsigned bits, size_t offset,
                        recsort_sorter *sorter, uint64_t *random)
{
  const size_t size = kinds[kind].size;
  both records = make_both(count, size, offset, random);
  both sorted = make_both(count, size, offset / 2, random);
  both order = make_both(count, bits / 8, 0, random);
  both some = make_both(count, 3, 1, random), other = make_both(count, 32, 0, random),
       moved = make_both(count, 3, 2, random);
  both keys = make_both(count, key_size_of(kinds[kind].yaml), 0, random);
  uint64_t *const expected = malloc((count + 1) * sizeof *expected);
  assert_non_null(expected);
  fill(kind, records.host, count, random);
  put(records.device, records.host, records.size);
  find_expected(kind, records.host, count, expected);
  const recsort_array arrays[] = {{some.device, moved.device, 3}, {other.device, other.device, 32}};
  enqueue(sorter, (recsort_job){.count = count,
                                .records = records.device,
                                .sorted = sorted.device,
                                .permutation = order.device,
                                .index_bits = bits,
                                .keys_out = keys.device,
                                .arrays = arrays,
                                .array_count = 2});
  expect_moved(&sorted, records.host, expected);
  expect_moved(&moved, some.host, expected);
  expect_moved(&other, other.host, expected);
  expect_permutation(&order, expected);
  expect_keys(kinds[kind].yaml, &keys, &records, expected);
  put(order.device, order.host, order.size);
  enqueue(sorter, (recsort_job){.count = count,
                                .records = records.device,
                                .permutation = order.device,
                                .index_bits = bits});
  expect_permutation(&order, expected);
  enqueue(sorter,
          (recsort_job){.count = count, .records = records.device, .sorted = records.device});
  expect_moved(&records, records.host, expected);
  free(expected);
  drop_both(&records, offset);
  drop_both(&sorted, offset / 2);
  drop_both(&order, 0);
  drop_both(&some, 1);
  drop_both(&other, 0);
  drop_both(&moved, 2);
  drop_both(&keys, 0);
}

static void sorts_as_the_host_does(void **state)
{
  uint64_t random = 1;
  (void)state;
  for (unsigned kind = 0; kind < KINDS; kind++)
    for (unsigned bits = 32; bits <= 64; bits += 32) {
      recsort_sorter *const sorter = create(kinds[kind].yaml);
      for (size_t c = 0; c < COUNT_OF(counts); c++)
        if (counts[c] <= most()) check_count(kind, counts[c], bits, c % 4, sorter, &random);
      recsort_sorter_destroy(sorter);
    }
}

/* ---- Frames ---- */

/* What changes between two frames. */
typedef enum change { NOTHING, FEW, MANY_TO_ONE_PLACE, ALL, CHANGES } change;

static void change_records(unsigned kind, change what, both *records, uint64_t *random)
{
  enum { ONE_IN = 100, CROWD = 300 };
  const size_t size = records->element, count = records->size / size;
  unsigned char *const fresh = malloc(records->size + 1);
  assert_non_null(fresh);
  fill(kind, fresh, count, random);
  for (size_t i = 0; i < count; i++) {
    const bool crowd = what == MANY_TO_ONE_PLACE && i < CROWD;
    if (what == ALL || crowd || (what == FEW && random_below(random, ONE_IN) == 0))
      memcpy(records->host + i * size, fresh + (crowd ? 0 : i) * size, size);
  }
  free(fresh);
  put(records->device, records->host, records->size);
}

/* One array on the device is sorted again and again: in place, to the other one, from which the
 * next frame may go on, or not moved. */
static void check_frames(unsigned kind, size_t count, unsigned frames, recsort_sorter *sorter,
                         uint64_t *random)
{
  typedef enum way { IN_PLACE, TO_OTHER, THERE_AND_ON, STAYING, WAYS } way;
  const size_t size = kinds[kind].size;
  both records = make_both(count, size, 0, random), other = make_both(count, size, 0, random);
  both order = make_both(count, 4, 0, random);
  both some = make_both(count, 3, 1, random), moved = make_both(count, 3, 2, random);
  uint64_t *const expected = malloc((count + 1) * sizeof *expected);
  assert_non_null(expected);
  way how = IN_PLACE;
  change_records(kind, ALL, &records, random);
  for (unsigned frame = 0; frame < frames; frame++) {
    if (random_below(random, 4) == 0) how = (way)random_below(random, WAYS);
    change_records(kind, (change)random_below(random, CHANGES), &records, random);
    find_expected(kind, records.host, count, expected);
    put(order.device, order.host, order.size);
    put(moved.device, moved.host, moved.size);
    void *const to = how == IN_PLACE ? records.device : how == STAYING ? NULL : other.device;
    enqueue(sorter, (recsort_job){.count = count,
                                  .records = records.device,
                                  .sorted = to,
                                  .permutation = order.device,
                                  .arrays = &(recsort_array){some.device, moved.device, 3},
                                  .array_count = 1});
    expect_permutation(&order, expected);
    expect_moved(&moved, some.host, expected);
    if (how != STAYING) expect_moved(how == IN_PLACE ? &records : &other, records.host, expected);
    if (how == IN_PLACE) get(records.host, records.device, records.size);
    if (how == THERE_AND_ON) {
      const both before = records;
      records = other;
      other = before;
      get(records.host, records.device, records.size);
    }
  }
  free(expected);
  drop_both(&records, 0);
  drop_both(&other, 0);
  drop_both(&order, 0);
  drop_both(&some, 1);
  drop_both(&moved, 2);
}

static void sorts_again_what_has_changed(void **state)
{
  static const size_t sizes[] = {1, 1025, 4000, 300001};
  enum { FRAMES = 10 };
  uint64_t random = 21;
  (void)state;
  for (unsigned kind = 0; kind < COUNT_OF(kinds); kind++) {
    recsort_sorter *const sorter = create(kinds[kind].yaml);
    for (size_t s = 0; s < COUNT_OF(sizes) && sizes[s] <= most(); s++)
      check_frames(kind, sizes[s], sizes[s] > 1 ? FRAMES : 2, sorter, &random);
    recsort_sorter_destroy(sorter);
  }
}

/* ---- The first records ---- */

/* Rearranges the records, of which `order` is known: ascending, descending, all equal, or the least
 * ones at regular distances; then finds their order again. */
static void rearrange(unsigned kind, unsigned way, both *records, uint64_t *order)
{
  enum { DISTANCE = 64 };
  const size_t size = records->element, count = records->size / size;
  unsigned char *const copy = malloc(records->size + 1);
  assert_non_null(copy);
  memcpy(copy, records->host, records->size);
  for (size_t i = 0, next = 0, regular = (count + DISTANCE - 1) / DISTANCE; i < count; i++) {
    const size_t from = way == 0            ? i
                        : way == 1          ? count - 1 - i
                        : way == 2          ? 0
                        : i % DISTANCE == 0 ? i / DISTANCE
                                            : regular + next++;
    memcpy(records->host + i * size, copy + order[from] * size, size);
  }
  free(copy);
  find_expected(kind, records->host, count, order);
}

/* Records, permutation and a companion: as many as are wanted, and no more. */
static void check_head(unsigned kind, size_t count, size_t head, unsigned way,
                       recsort_sorter *sorter, unsigned bits, uint64_t *random)
{
  enum { WAYS = 4 };
  const size_t wanted = head && head < count ? head : count, size = kinds[kind].size;
  both records = make_both(count, size, 0, random), sorted = make_both(wanted, size, 0, random);
  both order = make_both(wanted, bits / 8, 0, random);
  both some = make_both(count, 3, 1, random), moved = make_both(wanted, 3, 2, random);
  both keys = make_both(wanted, key_size_of(kinds[kind].yaml), 0, random);
  uint64_t *const expected = malloc((count + 1) * sizeof *expected);
  assert_non_null(expected);
  fill(kind, records.host, count, random);
  find_expected(kind, records.host, count, expected);
  if (way < WAYS) rearrange(kind, way, &records, expected);
  put(records.device, records.host, records.size);
  enqueue(sorter, (recsort_job){.count = count,
                                .records = records.device,
                                .sorted = sorted.device,
                                .permutation = order.device,
                                .index_bits = bits,
                                .keys_out = keys.device,
                                .arrays = &(recsort_array){some.device, moved.device, 3},
                                .array_count = 1,
                                .head = head});
  expect_moved(&sorted, records.host, expected);
  expect_moved(&moved, some.host, expected);
  expect_permutation(&order, expected);
  expect_keys(kinds[kind].yaml, &keys, &records, expected);
  free(expected);
  drop_both(&records, 0);
  drop_both(&sorted, 0);
  drop_both(&order, 0);
  drop_both(&some, 1);
  drop_both(&moved, 2);
  drop_both(&keys, 0);
}

static void finds_the_first_records(void **state)
{
  enum { WAYS = 5 };
  static const size_t sizes[] = {1, 17, 4000, 1 << 16, 100003, 1 << 18, MOST};
  uint64_t random = 11;
  (void)state;
  for (unsigned kind = 0; kind < KINDS; kind++) {
    const unsigned bits = kind % 2 ? 64 : 32;
    recsort_sorter *const sorter = create(kinds[kind].yaml);
    for (size_t s = 0; s < COUNT_OF(sizes) && sizes[s] <= most(); s++) {
      const size_t count = sizes[s];
      const size_t heads[] = {1, 2048, count / 2, count + 1};
      for (size_t h = 0; h < COUNT_OF(heads); h++)
        check_head(kind, count, heads[h], (unsigned)random_below(&random, WAYS), sorter, bits,
                   &random);
      for (unsigned way = 0; way < WAYS; way++)
        check_head(kind, count,
                   count < 20        ? 1
                   : count < 1000000 ? count / 150
                                     : 2000,
                   way, sorter, bits, &random);
    }
    recsort_sorter_destroy(sorter);
  }
}

#ifdef RS_REAL_GPU
/* From 2^23 records on, sorts of the host's records ask the host whether they are in order. */
static void many_records_ask_no_host(void **state)
{
  const size_t many = at_most(9000001);
  uint64_t random = 8;
  recsort_sorter *const sorter = create(kinds[4].yaml);
  (void)state;
  check_count(4, many, 32, 0, sorter, &random);
  recsort_sorter_destroy(sorter);
}
#endif

/* ---- One number ---- */

/* Records with one number for a key: those of 4 and 8 bytes may be sorted as words, and others
 * moved by way of a copy. */
#define FIELD(name, type) "- {name: " name ", type: " type "}\n"
static const struct {
  const char *yaml;
  size_t size, offset; /* of the key */
  size_t bytes;
  bool is_float;
} numbered[] = {
    {"record: A\n" NATIVE "fields:\n" FIELD("k", "uint32") FIELD("v", "uint32") "keys: [k]\n", 8, 0,
     4, false},
    {"record: B\n" NATIVE "fields:\n" FIELD("v", "uint32")
         FIELD("k", "int32") "keys: [{field: k, order: desc}]\n",
     8, 4, 4, false},
    {"record: C\n" NATIVE "fields:\n" FIELD("k", "float32") FIELD("v", "uint32") "keys: [k]\n", 8,
     0, 4, true},
    {"record: D\n" NATIVE "fields:\n" FIELD("v", "uint32")
         FIELD("k", "float32") "keys: [{field: k, order: desc, nan: first}]\n",
     8, 4, 4, true},
    {"record: E\n" NATIVE "fields:\n" FIELD("a", "uint16") FIELD("k", "int16")
         FIELD("b", "uint32") "keys: [k]\n",
     8, 2, 2, false},
    {"record: F\n" NATIVE "fields:\n" FIELD("a", "uint16")
         FIELD("k", "uint16") "keys: [{field: k, order: desc}]\n",
     4, 2, 2, false},
    {"record: G\n" NATIVE "fields:\n" FIELD("a", "uint32") FIELD("k", "float32")
         FIELD("b", "uint32") "keys: [{field: k, order: desc}]\n",
     12, 4, 4, true},
    {"record: H\n" NATIVE "fields:\n" FIELD("a", "uint64") FIELD("k", "float64") "keys: [k]\n", 16,
     8, 8, true},
    {"record: I\n" NATIVE "fields:\n" FIELD("a", "uint64") FIELD("k", "int64") FIELD("b", "uint64")
         FIELD("c", "uint64") "keys: [{field: k, order: desc}]\n",
     32, 8, 8, false},
    {"record: J\n" NATIVE "fields:\n" FIELD("a", "uint32") FIELD("k", "uint32") FIELD("b", "uint32")
         FIELD("c", "uint32") FIELD("d", "uint32") "keys: [k]\n",
     20, 4, 4, false},
};

/* Few numbers, so that there are ties; of floats also NaNs, zeros of both signs, and infinity. */
static void fill_numbered(unsigned kind, unsigned char *records, size_t count, uint64_t *random)
{
  static const double some[] = {0.0, -0.0, 1.5, -1.5, 1e30, INFINITY, -INFINITY};
  const size_t bytes = numbered[kind].bytes;
  const uint64_t few = 1 + random_below(random, 3) * random_below(random, count);
  fill_random(records, count * numbered[kind].size, random);
  for (size_t i = 0; i < count; i++) {
    unsigned char *const key = records + i * numbered[kind].size + numbered[kind].offset;
    const uint64_t number = random_below(random, few) - few / 2;
    const size_t which = (size_t)random_below(random, 2 * COUNT_OF(some));
    const double wide = which < COUNT_OF(some) ? some[which] : (double)(int64_t)number;
    const float narrow = (float)wide;
    if (!numbered[kind].is_float)
      memcpy(key, &number, bytes);
    else if (random_below(random, 8) == 0) /* a NaN: its low bits stay random */
      key[bytes - 1] |= 0x7f, key[bytes - 2] |= 0xf8;
    else
      memcpy(key, bytes == 4 ? (const void *)&narrow : (const void *)&wide, bytes);
  }
}

/* Without a status, which it may have or not, nothing is checked. */
static void sort_unchecked(recsort_sorter *sorter, recsort_job job)
{
  recsort_error error = {0};
  equip(sorter, &job);
  recsort_job unchecked = job;
  unchecked.status = NULL;
  if (recsort_run(sorter, &unchecked, 1, &error)) fail_msg("%s", error.text);
  assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
  unequip(&job);
}

static void check_numbered(unsigned kind, size_t count, size_t offset, uint64_t *random)
{
  const size_t size = numbered[kind].size;
  recsort_sorter *const sorter = create(numbered[kind].yaml);
  both records = make_both(count, size, offset, random);
  both sorted = make_both(count, size, 0, random), order = make_both(count, 4, 0, random);
  uint64_t *const expected = malloc((count + 1) * sizeof *expected);
  assert_non_null(expected);
  fill_numbered(kind, records.host, count, random);
  put(records.device, records.host, records.size);
  find_order(numbered[kind].yaml, records.host, count, expected);
  recsort_job job = {.count = count, .records = records.device, .sorted = sorted.device};
  enqueue(sorter, job);
  expect_moved(&sorted, records.host, expected);
  put(sorted.device, sorted.host, sorted.size);
  sort_unchecked(sorter, job);
  expect_moved(&sorted, records.host, expected);
  put(sorted.device, sorted.host, sorted.size);
  job.permutation = order.device;
  enqueue(sorter, job);
  expect_moved(&sorted, records.host, expected);
  expect_permutation(&order, expected);
  job.permutation = NULL;
  job.sorted = records.device;
  enqueue(sorter, job);
  expect_moved(&records, records.host, expected);
  put(records.device, records.host, records.size);
  sort_unchecked(sorter, job);
  expect_moved(&records, records.host, expected);
  free(expected);
  drop_both(&records, offset);
  drop_both(&sorted, 0);
  drop_both(&order, 0);
  recsort_sorter_destroy(sorter);
}

static void records_have_one_number(void **state)
{
#ifdef RS_REAL_GPU
  static const size_t some[] = {1000003, 1 << 20, (1 << 20) + 1, 1500007, MOST};
#else
  static const size_t some[] = {399, 401, 555, 561, 599, 600, 4000};
#endif
  uint64_t random = 31;
  (void)state;
  for (unsigned kind = 0; kind < COUNT_OF(numbered); kind++)
    for (size_t c = 0; c < COUNT_OF(some); c++)
      if (at_most(some[c]) == some[c])
        check_numbered(kind, some[c], c % 3 == 2 ? 4 * random_below(&random, 4) : 0, &random);
}

/* Whatever the count, what it takes fits in the workspace for the most records. */
static void has_memory_for_fewer(void **state)
{
  static const unsigned some_kinds[] = {0, 2, 4};
  uint64_t random = 2, *const expected = malloc((most() + 1) * sizeof *expected);
  (void)state;
  assert_non_null(expected);
  for (unsigned round = 0; round < 20; round++) {
    const unsigned kind = some_kinds[round % COUNT_OF(some_kinds)];
    const size_t limit = 1 + random_below(&random, most());
    recsort_sorter *const sorter = create(kinds[kind].yaml);
    for (int i = 0; i < 3; i++) {
      const size_t count = i ? 1 + random_below(&random, limit) : limit;
      both records = make_both(count, kinds[kind].size, 0, &random);
      recsort_job job = {.count = count, .records = records.device, .sorted = records.device};
      fill(kind, records.host, count, &random);
      put(records.device, records.host, records.size);
      find_expected(kind, records.host, count, expected);
      equip_for(sorter, &job, limit);
      run_equipped(sorter, &job);
      unequip(&job);
      expect_moved(&records, records.host, expected);
      drop_both(&records, 0);
    }
    recsort_sorter_destroy(sorter);
  }
  free(expected);
}

/* ---- Segments ---- */

enum { SHORT_WAY = 3 };

/* Offsets of `segments` segments: even; or some before the first, behind the last and between two
 * equal ones; or a giant among small ones; or short ones, of at most `longest` records, from
 * somewhere on. */
static void fill_offsets(uint64_t *offsets, size_t segments, size_t count, unsigned way,
                         size_t longest, uint64_t *random)
{
  for (size_t s = 0; s <= segments; s++)
    offsets[s] = count * s / segments;
  if (way == 1)
    for (size_t s = 0; s <= segments; s++)
      offsets[s] = random_below(random, count + 1);
  if (way == 2)
    for (size_t s = 1; s < segments; s++)
      offsets[s] = s < segments / 2 ? s : count - (segments - s < count ? segments - s : count);
  if (way == SHORT_WAY) {
    offsets[0] = random_below(random, count / 4 + 1);
    for (size_t s = 0; s < segments; s++) {
      const uint64_t length = random_below(random, 4) ? random_below(random, longest + 1) : longest;
      offsets[s + 1] = offsets[s] + length < count ? offsets[s] + length : count;
    }
  }
  for (size_t s = 1; s <= segments; s++) /* insertion sort: most are in order */
    for (size_t i = s; i > 0 && offsets[i] < offsets[i - 1]; i--) {
      const uint64_t other = offsets[i];
      offsets[i] = offsets[i - 1];
      offsets[i - 1] = other;
    }
}

static void check_segments(unsigned kind, size_t count, size_t segments, unsigned way,
                           size_t longest, recsort_sorter *sorter, uint64_t *random)
{
  const size_t size = kinds[kind].size;
  static const unsigned bits_of_ways[] = {0, 64, 32};
  const unsigned offset_bits = bits_of_ways[way == SHORT_WAY ? segments % 3 : way];
  both records = make_both(count, size, 0, random), order = make_both(count, 4, 0, random);
  uint64_t *const expected = malloc((count + 1) * sizeof *expected);
  uint64_t *const offsets = malloc((segments + 1) * sizeof *offsets);
  uint32_t *const narrow = malloc((segments + 1) * sizeof *narrow);
  void *const given = make((segments + 1) * sizeof *offsets);
  assert_true(expected && offsets && narrow);
  fill_offsets(offsets, segments, count, way, longest, random);
  for (size_t s = 0; s <= segments; s++)
    narrow[s] = (uint32_t)offsets[s];
  put(given, offset_bits == 32 ? (void *)narrow : (void *)offsets,
      (segments + 1) * (offset_bits == 32 ? 4 : 8));
  fill(kind, records.host, count, random);
  put(records.device, records.host, records.size);
  find_expected_segments(kind, records.host, count, offsets, segments, expected);
  enqueue(sorter, (recsort_job){.count = count,
                                .records = records.device,
                                .sorted = records.device,
                                .permutation = order.device,
                                .parts = RECSORT_SEGMENTS,
                                .offsets = given,
                                .part_count = segments,
                                .offset_bits = offset_bits,
                                .longest_part = longest});
  expect_moved(&records, records.host, expected);
  expect_permutation(&order, expected);
  drop(given);
  free(narrow);
  free(offsets);
  free(expected);
  drop_both(&records, 0);
  drop_both(&order, 0);
}

static void segments_are_sorted_by_themselves(void **state)
{
  static const size_t numbers[] = {1, 2, 700, 40};
  uint64_t random = 6;
  (void)state;
  for (unsigned kind = 0; kind < COUNT_OF(kinds); kind++)
    for (size_t m = kind < KINDS ? 0 : COUNT_OF(numbers) - 1; m < COUNT_OF(numbers); m++) {
      if (kind == WIDE) continue;
      recsort_sorter *const sorter = create(kinds[kind].yaml);
      for (unsigned way = 0; way < 3; way++) {
        check_segments(kind, 3000, numbers[m], way, 0, sorter, &random);
        check_segments(kind, 1 + random_below(&random, 3000), 1 + random_below(&random, numbers[m]),
                       way, 0, sorter, &random);
      }
      check_count(kind, 500, 32, 0, sorter, &random); /* without segments */
      recsort_sorter_destroy(sorter);
    }
}

/* Short segments, sorted where they are: in one tile, and in several, or a tile for each. */
static void short_segments_are_sorted_in_tiles(void **state)
{
  static const size_t lengths[] = {1, 59, 1000, 4096, 9000}, longest[] = {60, 300};
  uint64_t random = 7;
  (void)state;
  for (unsigned kind = 0; kind < COUNT_OF(kinds); kind++)
    for (size_t l = 0; l < COUNT_OF(longest) && kind != WIDE; l++) {
      recsort_sorter *const sorter = create(kinds[kind].yaml);
      for (size_t i = 0; i < COUNT_OF(lengths); i++)
        check_segments(kind, lengths[i], 1 + random_below(&random, 400), SHORT_WAY, longest[l],
                       sorter, &random);
      if (l == 1) check_segments(kind, 9000, 40, 0, 300, sorter, &random); /* each has 225 */
      check_count(kind, 500, 32, 0, sorter, &random);
      recsort_sorter_destroy(sorter);
    }
}

/* Segments of any length, at their limits and beyond, by one graph: the device finds which sort of
 * them suits. */
static void segments_are_measured(void **state)
{
#ifdef RS_REAL_GPU
  enum { COUNT = 100003, SEGMENTS = 1000 };
#else
  enum { COUNT = 3000, SEGMENTS = 40 };
#endif
  static const size_t longest[] = {64, 65, 20000, 1, 256, 257, 1024, 1025, 4096, 8192, 16385, 0};
  static const unsigned some_kinds[] = {0, 4};
  (void)state;
  for (size_t k = 0; k < COUNT_OF(some_kinds); k++) {
    const unsigned kind = some_kinds[k];
    uint64_t random = 17, *const expected = malloc(COUNT * sizeof *expected);
    uint64_t offsets[SEGMENTS + 1], *const given = make(sizeof offsets);
    both records = make_both(COUNT, kinds[kind].size, 0, &random);
    recsort_sorter *const sorter = create(kinds[kind].yaml);
    recsort_job job = {.count = COUNT,
                       .records = records.device,
                       .sorted = records.device,
                       .parts = RECSORT_SEGMENTS,
                       .offsets = given,
                       .part_count = SEGMENTS};
    assert_non_null(expected);
    equip(sorter, &job);
#ifdef RS_REAL_GPU
    begin_capture();
    if (captures()) assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
    const cudaGraphExec_t graph = end_capture();
#endif
    for (size_t l = 0; l < COUNT_OF(longest); l++) {
      fill_offsets(offsets, SEGMENTS, COUNT, SHORT_WAY, longest[l], &random);
      fill(kind, records.host, COUNT, &random);
      put(given, offsets, sizeof offsets);
      put(records.device, records.host, records.size);
      find_expected_segments(kind, records.host, COUNT, offsets, SEGMENTS, expected);
#ifdef RS_REAL_GPU
      if (graph)
        replay(graph);
      else
#endif
        assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
      assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
      assert_int_equal(status_of(&job), RECSORT_OK);
      expect_moved(&records, records.host, expected);
    }
    unequip(&job);
#ifdef RS_REAL_GPU
    drop_graph(graph);
#endif
    free(expected);
    drop(given);
    drop_both(&records, 0);
    recsort_sorter_destroy(sorter);
  }
}

/* Some arrays are moved by the sort of short segments, and some are not. */
static void arrays_of_segments_move(void **state)
{
  enum { COUNT = 3000, EACH = 50, SEGMENTS = COUNT / EACH, ARRAYS = 7, KEY = 4 };
  static const size_t sizes[ARRAYS] = {8, 4, 8, 12, 4, 4, 3};
  uint64_t random = 9, expected[COUNT], offsets[SEGMENTS + 1], *const given = make(sizeof offsets);
  recsort_sorter *const sorter = create(kinds[KEY].yaml);
  (void)state;
  for (uint64_t s = 0; s <= SEGMENTS; s++)
    offsets[s] = s * EACH;
  put(given, offsets, sizeof offsets);
  for (unsigned way = 0; way < 1 << ARRAYS; way += 1 + (unsigned)random_below(&random, 3)) {
    recsort_array arrays[ARRAYS];
    both records = make_both(COUNT, 8, 0, &random), from[ARRAYS], to[ARRAYS];
    const size_t used = 1 + random_below(&random, ARRAYS), odd = random_below(&random, 2);
    fill(KEY, records.host, COUNT, &random);
    put(records.device, records.host, records.size);
    find_expected_segments(KEY, records.host, COUNT, offsets, SEGMENTS, expected);
    for (size_t a = 0; a < ARRAYS; a++) {
      from[a] = make_both(COUNT, sizes[a], 0, &random);
      to[a] = make_both(COUNT, sizes[a], a == 0 ? odd : 0, &random);
      arrays[a] =
          (recsort_array){from[a].device, way >> a & 1 ? from[a].device : to[a].device, sizes[a]};
    }
    enqueue(sorter, (recsort_job){.count = COUNT,
                                  .records = records.device,
                                  .sorted = records.device,
                                  .arrays = arrays,
                                  .array_count = used,
                                  .parts = RECSORT_SEGMENTS,
                                  .offsets = given,
                                  .part_count = SEGMENTS,
                                  .longest_part = EACH});
    expect_moved(&records, records.host, expected);
    for (size_t a = 0; a < used; a++)
      expect_moved(way >> a & 1 ? &from[a] : &to[a], from[a].host, expected);
    for (size_t a = 0; a < ARRAYS; a++) {
      drop_both(&from[a], 0);
      drop_both(&to[a], a == 0 ? odd : 0);
    }
    drop_both(&records, 0);
  }
  drop(given);
  recsort_sorter_destroy(sorter);
}

/* A segment that is longer than was said stays as it is, and is reported. */
static void long_segments_are_reported(void **state)
{
  enum { COUNT = 9000, SHORT = 60 };
  recsort_sorter *const sorter = create(kinds[4].yaml);
  const uint32_t offsets[] = {10, 8000, 8050};
  uint64_t *const keys = malloc(COUNT * sizeof *keys), *const memory = make(COUNT * sizeof *keys);
  uint32_t *const order = make(COUNT * sizeof *order), *const given = make(sizeof offsets);
  uint32_t *const found = malloc(COUNT * sizeof *found);
  recsort_job job = {.count = COUNT,
                     .records = memory,
                     .permutation = order,
                     .parts = RECSORT_SEGMENTS,
                     .offsets = given,
                     .part_count = 2,
                     .offset_bits = 32,
                     .longest_part = SHORT};
  (void)state;
  assert_true(keys && found);
  for (size_t i = 0; i < COUNT; i++)
    keys[i] = COUNT - i;
  put(memory, keys, COUNT * sizeof *keys);
  put(given, offsets, sizeof offsets);
  equip(sorter, &job);
  assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
  assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
  assert_int_equal(status_of(&job), RECSORT_INVALID_ARGUMENT);
  get(found, order, COUNT * sizeof *found);
  for (uint32_t i = 0; i < COUNT; i++)
    assert_int_equal(found[i], i >= 8000 && i < 8050 ? 8000 + 8050 - 1 - i : i);
  unequip(&job);
  free(keys);
  free(found);
  drop(memory);
  drop(order);
  drop(given);
  recsort_sorter_destroy(sorter);
}

/* ---- Columns ---- */

static const char body[] =
    "record: Body\n" NATIVE "layout: packed\nfields:\n- {name: h, type: float16}\n"
    "- {name: y, type: float64}\n- {name: x, type: float32}\n- {name: kind, type: uint8}\n"
    "keys: [{distance: {fields: [x, y, h], from: [1, 2, 0]}, order: desc}, kind]\n";
enum { BODY = 15, BODY_Y = 2, BODY_X = 10, BODY_KIND = 14 };

static void fill_bodies(unsigned char *records, size_t count, uint64_t *random)
{
  memset(records, 0, count * BODY);
  for (size_t i = 0; i < count; i++) {
    const float x = (float)random_below(random, 40);
    const double y = (double)random_below(random, 40);
    memcpy(records + i * BODY + BODY_X, &x, sizeof x);
    memcpy(records + i * BODY + BODY_Y, &y, sizeof y);
    records[i * BODY + BODY_KIND] = (unsigned char)random_below(random, 2);
  }
}

/* The permutation of all records or of the first ones, or of the segments before and behind the
 * middle; companions move, and so does the first column, in place, if its values follow one
 * another. */
static void check_columns(const char *yaml, const both *records, size_t head, bool halves,
                          recsort_sorter *sorter, uint64_t *random)
{
  const size_t size = records->element, count = records->size / size,
               bytes = columns_bytes(size, count);
  const size_t wanted = head && head < count ? head : count;
  unsigned char *const host = malloc(bytes), *const device = make(bytes);
  uint64_t *const expected = malloc(count * sizeof *expected);
  both order = make_both(wanted, 4, 0, random);
  both some = make_both(count, 3, 1, random), moved = make_both(wanted, 3, 2, random);
  const uint32_t offsets[] = {0, (uint32_t)count / 2, (uint32_t)count};
  uint32_t *const given = make(sizeof offsets);
  recsort_schema *const schema = load(yaml);
  recsort_column columns[COLUMNS_MOST];
  assert_true(host && expected);
  const size_t column_count = columns_split(schema, records->host, count, host, random, columns);
  const recsort_field_desc *const first = recsort_schema_describe(schema)->fields;
  const unsigned char *const values = columns[0].data;
  put(device, host, bytes);
  put(given, offsets, sizeof offsets);
  for (size_t c = 0; c < column_count; c++)
    columns[c].data = device + ((const unsigned char *)columns[c].data - host);
  const size_t half = halves ? offsets[1] : count;
  find_order(yaml, records->host, half, expected);
  if (halves) find_order(yaml, records->host + half * size, count - half, expected + half);
  for (size_t i = half; i < count; i++)
    expected[i] += half;
  both own = {(unsigned char *)values, (unsigned char *)columns[0].data, count * first->size,
              first->size};
  const bool moves = columns[0].stride == 0 && !head;
  enqueue(sorter, (recsort_job){.count = count,
                                .permutation = order.device,
                                .arrays = (recsort_array[]){{some.device, moved.device, 3},
                                                            {own.device, own.device, own.element}},
                                .array_count = 1 + moves,
                                .parts = halves ? RECSORT_SEGMENTS : RECSORT_ONE_PART,
                                .offsets = halves ? given : NULL,
                                .part_count = halves ? 2 : 0,
                                .offset_bits = 32,
                                .head = head,
                                .columns = columns,
                                .column_count = column_count});
  expect_permutation(&order, expected);
  expect_moved(&moved, some.host, expected);
  if (moves) {
    unsigned char *const found = malloc(own.size + 1);
    assert_non_null(found);
    get(found, own.device, own.size);
    for (size_t i = 0; i < count; i++)
      assert_memory_equal(found + i * own.element, own.host + expected[i] * own.element,
                          own.element);
    free(found);
  }
  free(host);
  free(expected);
  drop(device);
  drop(given);
  drop_both(&order, 0);
  drop_both(&some, 1);
  drop_both(&moved, 2);
  recsort_schema_destroy(schema);
}

static void columns_are_read_where_they_are(void **state)
{
  static const size_t sizes[] = {2, 100, 4000, 70000};
  uint64_t random = 12;
  (void)state;
  for (unsigned kind = 0; kind <= COUNT_OF(kinds); kind++) {
    const bool computed = kind == COUNT_OF(kinds);
    const char *const yaml = computed ? body : kinds[kind].yaml;
    recsort_sorter *const sorter = create(yaml);
    for (size_t s = 0; s < COUNT_OF(sizes) && sizes[s] <= most(); s++) {
      both records = make_both(sizes[s], computed ? BODY : kinds[kind].size, 0, &random);
      if (computed)
        fill_bodies(records.host, sizes[s], &random);
      else
        fill(kind, records.host, sizes[s], &random);
      check_columns(yaml, &records, 0, false, sorter, &random);
      check_columns(yaml, &records, 1 + sizes[s] / 150, false, sorter, &random);
      if (kind != WIDE) check_columns(yaml, &records, 0, true, sorter, &random);
      drop_both(&records, 0);
    }
    recsort_sorter_destroy(sorter);
  }
}

/* ---- What is refused or reported ---- */

static void wrong_sorters_are_refused(void **state)
{
  static const char long_keys[] =
      "record: L\nfields: [{name: text, type: bytes, count: 24}]\nkeys: [text]\n";
  recsort_sorter *sorter = NULL;
  recsort_error refusal = {0};
  (void)state;
#define TRY(yaml, plugin, status, words)                                                           \
  assert_int_equal(try_create(yaml, plugin, &sorter, &refusal), status);                           \
  if (!strstr(refusal.text, words)) fail_msg("%s", refusal.text);                                  \
  assert_null(sorter)
  TRY(kinds[0].yaml, "cpu", RECSORT_PLUGIN_ERROR, "\"cpu\" sorts nothing on a device");
  TRY(long_keys, NULL, RECSORT_PLUGIN_ERROR, "at most 128 bits");
  const recsort_options options = {
      .struct_size = sizeof options, .algorithm = "sample", .on_device = true}; /* not the CPU's */
  recsort_schema *const schema = load(long_keys);
  assert_int_equal(recsort_sorter_create(schema, &options, &sorter, &refusal),
                   RECSORT_PLUGIN_ERROR);
  assert_non_null(strstr(refusal.text, "at most 128 bits"));
  recsort_schema_destroy(schema);
}

/* A sorter for a device's memory takes none of the host's, and the other way round. */
static void memories_are_not_mixed(void **state)
{
  recsort_sorter *const device = create(kinds[4].yaml), *const host = open_host(kinds[4].yaml);
  uint64_t keys[2] = {2, 1};
  uint32_t order[2];
  size_t disorder;
  const double point = 0;
  (void)state;
  recsort_error refusal;
  assert_int_equal(recsort_sort(device, keys, 2, &refusal), RECSORT_INVALID_ARGUMENT);
  assert_non_null(strstr(refusal.text, "which recsort_run sorts"));
  REFUSED(recsort_sort(device, keys, 2, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_sort_to(device, keys, 1, keys + 1, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_argsort(device, keys, 2, order, 32, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_check(device, keys, 2, &disorder, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_encode(device, keys, 1, keys + 1, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_sorter_bind_parameter(host, "eye", &point, 1, &error), RECSORT_INVALID_ARGUMENT);
  recsort_sorter_destroy(host);
  recsort_sorter_destroy(device);
}

/* A job that is right, and memory for those that are not. */
typedef struct attempt {
  recsort_sorter *sorter; /* of numbers of 64 bits */
  unsigned char *memory;
  recsort_job good;
} attempt;

static attempt begin_attempt(void)
{
  attempt a = {create(kinds[4].yaml), make(1000), RECSORT_JOB_INIT};
  a.good.count = 10;
  a.good.records = a.good.sorted = a.memory;
  equip(a.sorter, &a.good);
  return a;
}

static void end_attempt(attempt *a)
{
  unequip(&a->good);
  drop(a->memory);
  recsort_sorter_destroy(a->sorter);
}

static void refuse(const attempt *a, const char *words, recsort_job job)
{
  recsort_error refusal = {0};
  job.struct_size = sizeof job;
  job.count = 10;
  job.stream = stream;
  job.workspace = a->good.workspace;
  job.workspace_size = a->good.workspace_size;
  assert_int_equal(recsort_run(a->sorter, &job, 1, &refusal), RECSORT_INVALID_ARGUMENT);
  if (!strstr(refusal.text, words)) fail_msg("%s", refusal.text);
}

#define WRONG(words, ...) refuse(&a, words, (recsort_job){__VA_ARGS__})
#define FROM .records = a.memory
#define TO .permutation = a.memory + 400
#define PARTS .parts = RECSORT_SEGMENTS, .offsets = a.memory + 800
#define ARRAY(...) .arrays = &(recsort_array){__VA_ARGS__}, .array_count = 1
#define COLUMN(name, data) .columns = &(recsort_column){name, data, 0}, .column_count = 1

static void wrong_members_are_refused(void **state)
{
  attempt a = begin_attempt();
  unsigned char *const memory = a.memory;
  (void)state;
  WRONG("only one of records, columns and part_records", FROM, TO, COLUMN("key", memory));
  WRONG("with columns, sorted must be NULL", .sorted = memory, COLUMN("key", memory));
  WRONG("column_count is 1, columns is NULL", TO, .column_count = 1);
  WRONG("no field of the record is \"other\"", TO, COLUMN("other", memory));
  WRONG("need the field \"key\"", TO, .columns = &(recsort_column){"key", memory, 0});
  WRONG("parts is no recsort_parts", FROM, TO, .parts = (recsort_parts)7);
  WRONG("runs are merged in the host's memory only", FROM, TO, .parts = RECSORT_RUNS,
        .offsets = memory + 800, .part_count = 1);
  WRONG("runs are merged in the host's memory only", .part_records = (const void *[]){memory}, TO);
  WRONG("parts must be RECSORT_SEGMENTS", FROM, TO, .offsets = memory + 800);
  WRONG("parts must be RECSORT_SEGMENTS", FROM, TO, .part_count = 1);
  WRONG("longest_part is for segments", FROM, TO, .longest_part = 1);
  WRONG("with a device_count there are no parts", FROM, TO, PARTS, .part_count = 1,
        .device_count = memory + 900);
  WRONG("offsets must not be NULL", FROM, TO, .parts = RECSORT_SEGMENTS, .part_count = 1);
  WRONG("0 segments", FROM, TO, PARTS);
  WRONG("4294967296 segments", FROM, TO, PARTS, .part_count = (size_t)1 << 32);
  WRONG("offset_bits is 16", FROM, TO, PARTS, .part_count = 1, .offset_bits = 16);
  WRONG("index_bits is 16", FROM, TO, .index_bits = 16);
  WRONG("bits [64, 64 + 0) are not all in a key of 64", FROM, TO, .first_bit = 64);
  WRONG("bits [60, 60 + 5) are not all in a key of 64", FROM, TO, .first_bit = 60, .bits = 5);
  WRONG("nothing is wanted", FROM);
  WRONG("head is 9, but with segments", FROM, TO, PARTS, .part_count = 1, .head = 9);
  WRONG("head is 9, but with a device_count", FROM, TO, .device_count = memory + 800, .head = 9);
  WRONG("the records behind the first 9 would be lost", FROM, .sorted = memory, .head = 9);
  WRONG("array_count is 1, arrays is NULL", FROM, .array_count = 1);
  WRONG("arrays[0]: from and to must not", FROM, ARRAY(memory, NULL, 8));
  WRONG("arrays[0]: from and to must not", FROM, ARRAY(NULL, memory, 8));
  WRONG("nor element_size 0", FROM, ARRAY(memory, memory + 100, 0));
  WRONG("at most 8 MiB", FROM, ARRAY(memory + 100, memory + 100, (8 << 20) + 1));
  WRONG("arrays[0]: in place, the elements behind the first 9 would be lost", FROM,
        ARRAY(memory, memory, 8), .head = 9);
  WRONG("device is for several jobs", FROM, TO, .device = 1);
  end_attempt(&a);
}

static void wrong_arrays_are_refused(void **state)
{
  attempt a = begin_attempt();
  unsigned char *const memory = a.memory;
  (void)state;
  WRONG("records must not be NULL", TO);
  WRONG("permutation is not at a multiple of 4 bytes", FROM, .permutation = memory + 402);
  WRONG("permutation is not at a multiple of 8 bytes", FROM, .permutation = memory + 404,
        .index_bits = 64);
  WRONG("keys_out is not at a multiple of 8 bytes", FROM, .keys_out = memory + 404);
  WRONG("status is not at a multiple of 4 bytes", FROM, TO, .status = memory + 802);
  WRONG("offsets is not at a multiple of 8 bytes", FROM, TO, .parts = RECSORT_SEGMENTS,
        .offsets = memory + 804, .part_count = 1);
  WRONG("device_count is not at a multiple of 8 bytes", FROM, TO, .device_count = memory + 804);
  WRONG("records and sorted overlap", FROM, .sorted = memory + 8);
  WRONG("records and keys_out overlap", FROM, .keys_out = memory + 72);
  WRONG("records and arrays[0].to overlap", FROM, ARRAY(memory, memory, 8));
  WRONG("arrays[0].from and arrays[0].to overlap", FROM, ARRAY(memory + 100, memory + 179, 8));
  WRONG("offsets and permutation overlap", FROM, TO, .parts = RECSORT_SEGMENTS,
        .offsets = memory + 432, .part_count = 1);
  WRONG("device_count and permutation overlap", FROM, TO, .device_count = memory + 432);
  WRONG("sorted and permutation overlap", FROM, .sorted = memory + 400,
        .permutation = memory + 476);
  WRONG("permutation and workspace overlap", FROM, .permutation = a.good.workspace);
  WRONG("permutation and status overlap", FROM, TO, .status = memory + 436);
  WRONG("permutation and arrays[0].to overlap", FROM, .permutation = memory + 276,
        ARRAY(memory + 100, memory + 200, 8));
  WRONG("a column and permutation overlap", .permutation = memory + 76, COLUMN("key", memory));
  end_attempt(&a);
}

static void wrong_calls_are_refused(void **state)
{
  attempt a = begin_attempt();
  recsort_sorter *const sorter = a.sorter, *const wide = create(kinds[WIDE].yaml);
  recsort_needs needs = RECSORT_NEEDS_INIT, small = {.struct_size = 8};
  recsort_error refusal = {0};
  recsort_job job = a.good;
  (void)state;
  job.count = SIZE_MAX / 4;
  REFUSED(recsort_run(sorter, &job, 1, &error), RECSORT_OUT_OF_MEMORY);
  job = a.good;
  job.workspace = NULL;
  REFUSED(recsort_run(sorter, &job, 1, &error), RECSORT_INVALID_ARGUMENT);
  job.workspace = (unsigned char *)a.good.workspace + 128;
  REFUSED(recsort_run(sorter, &job, 1, &error), RECSORT_INVALID_ARGUMENT);
  job = a.good;
  job.struct_size = 8;
  REFUSED(recsort_run(sorter, &job, 1, &error), RECSORT_INVALID_ARGUMENT);
  job = a.good;
  job.workspace_size = 256;
  assert_int_equal(recsort_run(sorter, &job, 1, &refusal), RECSORT_PLUGIN_ERROR);
  if (!strstr(refusal.text, "the workspace has 256 bytes; this job takes "))
    fail_msg("%s", refusal.text);
  job = a.good;
  job.count = (size_t)1 << 41;
  REFUSED(recsort_plan(sorter, &job, 1, &needs, &error), RECSORT_PLUGIN_ERROR);
  job.sorted = NULL;
  job.permutation = a.memory + 400;
  job.index_bits = 32;
  assert_int_equal(recsort_plan(sorter, &job, 1, &needs, &refusal), RECSORT_INVALID_ARGUMENT);
  if (!strstr(refusal.text, "need an index of 64 bits")) fail_msg("%s", refusal.text);
  REFUSED(recsort_plan(sorter, &a.good, 1, &small, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_plan(sorter, &a.good, 1, NULL, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_plan(sorter, NULL, 1, &needs, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_plan(NULL, &a.good, 1, &needs, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_run(NULL, &a.good, 1, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_run(sorter, NULL, 1, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_run(sorter, &a.good, 0, &error), RECSORT_INVALID_ARGUMENT);
  const recsort_job segments = {
      .struct_size = sizeof segments, .count = 10, FROM, TO, PARTS, .part_count = 1};
  assert_int_equal(recsort_plan(wide, &segments, 1, &needs, &refusal), RECSORT_PLUGIN_ERROR);
  if (!strstr(refusal.text, "more than 128 bits together")) fail_msg("%s", refusal.text);
  recsort_sorter *const large = create("record: Large\nfields: [{name: key, type: uint64}, "
                                       "{name: rest, type: bytes, count: 8388608}]\nkeys: [key]\n");
  assert_int_equal(recsort_plan(large, &a.good, 1, &needs, &refusal), RECSORT_INVALID_ARGUMENT);
  if (!strstr(refusal.text, "are not moved on a device; at most 8 MiB"))
    fail_msg("%s", refusal.text);
  recsort_sorter_destroy(large);
  recsort_sorter_destroy(wide);
  end_attempt(&a);
}

/* ---- Numbers that the device knows, and parts of keys ---- */

/* Only the first records, as many as the device says, are sorted. */
static void counts_are_read_by_the_device(void **state)
{
  static const size_t counts_there[] = {0, 1, 99, 100, 101, 125, 126, 499, 501, 700, 1999, 2000};
  enum { COUNT = 2000 };
  uint64_t random = 31, *const there = make(sizeof *there);
  uint64_t *const expected = malloc(COUNT * sizeof *expected);
  (void)state;
  assert_non_null(expected);
  for (unsigned kind = 0; kind < COUNT_OF(kinds); kind++) {
    recsort_sorter *const sorter = create(kinds[kind].yaml);
    for (size_t c = 0; c < COUNT_OF(counts_there) && kind != WIDE; c++) {
      const uint64_t count = counts_there[c];
      const uint64_t offsets[] = {0, count};
      both records = make_both(COUNT, kinds[kind].size, 0, &random),
           other = make_both(COUNT, kinds[kind].size, 0, &random),
           order = make_both(COUNT, 4, 0, &random);
      both *const sorted = c % 2 ? &other : &records;
      fill(kind, records.host, COUNT, &random);
      put(records.device, records.host, records.size);
      put(there, &count, sizeof count);
      find_expected_segments(kind, records.host, COUNT, offsets, 1, expected);
      enqueue(sorter, (recsort_job){.count = COUNT,
                                    .device_count = there,
                                    .records = records.device,
                                    .sorted = sorted->device,
                                    .permutation = c % 3 ? order.device : NULL});
      expect_moved(sorted, records.host, expected);
      if (c % 3) expect_permutation(&order, expected);
      drop_both(&records, 0);
      drop_both(&other, 0);
      drop_both(&order, 0);
    }
    recsort_sorter_destroy(sorter);
  }
  free(expected);
  drop(there);
}

/* Some bits of encoded keys, most significant word first, and where they are from. */
typedef struct some_bits {
  uint64_t words[2];
  uint64_t from;
} some_bits;

static int compare_bits(const void *one, const void *two)
{
  const some_bits *const a = one, *const b = two;
  for (unsigned w = 0; w < 2; w++)
    if (a->words[w] != b->words[w]) return a->words[w] < b->words[w] ? -1 : 1;
  return (a->from > b->from) - (a->from < b->from);
}

static bool bit_of(const unsigned char *key, size_t size, unsigned bit)
{
  uint32_t narrow;
  uint64_t words[2] = {0};
  memcpy(&narrow, key, sizeof narrow);
  memcpy(words, key, size);
  if (size == 4) words[0] = narrow;
  return words[bit / 64] >> bit % 64 & 1;
}

/* The order by bits [first, first + bits) of the keys that the host encodes. */
static void find_by_bits(const char *yaml, const both *records, unsigned first, unsigned bits,
                         uint64_t *order)
{
  recsort_sorter *const sorter = open_host(yaml);
  const size_t count = records->size / records->element, size = recsort_key_size(sorter);
  unsigned char *const keys = malloc(count * size + 8);
  some_bits *const found = calloc(count + 1, sizeof *found);
  assert_true(keys && found);
  assert_int_equal(recsort_encode(sorter, records->host, count, keys, NULL), RECSORT_OK);
  for (size_t i = 0; i < count; i++) {
    found[i].from = i;
    for (unsigned b = 0; b < bits; b++)
      if (bit_of(keys + i * size, size, first + b)) found[i].words[b < 64] |= UINT64_C(1) << b % 64;
  }
  qsort(found, count, sizeof *found, compare_bits);
  for (size_t i = 0; i < count; i++)
    order[i] = found[i].from;
  free(found);
  free(keys);
  recsort_sorter_destroy(sorter);
}

static unsigned key_bits_of(const char *yaml)
{
  recsort_sorter *const sorter = open_host(yaml);
  recsort_stats stats;
  recsort_sorter_get_stats(sorter, &stats, sizeof stats);
  recsort_sorter_destroy(sorter);
  return stats.key_bits;
}

/* Of any records, also with a head. */
static void some_bits_are_compared(void **state)
{
  enum { ROUNDS = 6 };
  uint64_t random = 32, *const expected = malloc((most() + 1) * sizeof *expected);
  (void)state;
  assert_non_null(expected);
  for (unsigned kind = 0; kind < COUNT_OF(kinds); kind++) {
    recsort_sorter *const sorter = create(kinds[kind].yaml);
    const unsigned all = key_bits_of(kinds[kind].yaml);
    for (unsigned round = 0; round < ROUNDS; round++) {
      const size_t count = 1 + random_below(&random, most() < 5000 ? most() : 5000),
                   head = round % 3 == 2 ? 1 + count / 200 : 0, wanted = head ? head : count;
      const unsigned first = round ? (unsigned)random_below(&random, all) : 0,
                     bits = 1 + (unsigned)random_below(&random, all - first);
      const size_t offset = round % 2 ? 3 : 0;
      both records = make_both(count, kinds[kind].size, offset, &random),
           sorted = make_both(wanted, kinds[kind].size, offset, &random),
           keys = make_both(wanted, key_size_of(kinds[kind].yaml), 0, &random),
           order = make_both(wanted, 4, 0, &random);
      fill(kind, records.host, count, &random);
      put(records.device, records.host, records.size);
      find_by_bits(kinds[kind].yaml, &records, first, bits, expected);
      enqueue(sorter, (recsort_job){.count = count,
                                    .records = records.device,
                                    .sorted = sorted.device,
                                    .keys_out = keys.device,
                                    .permutation = order.device,
                                    .head = head,
                                    .first_bit = first,
                                    .bits = bits});
      expect_moved(&sorted, records.host, expected);
      expect_permutation(&order, expected);
      expect_keys(kinds[kind].yaml, &keys, &records, expected);
      drop_both(&records, offset);
      drop_both(&sorted, offset);
      drop_both(&keys, 0);
      drop_both(&order, 0);
    }
    recsort_sorter_destroy(sorter);
  }
  free(expected);
}

/* ---- Keys that are words, which arrays may move over ---- */

enum { ROW = 12, KEY_AT = 8 };

/* Where an array goes from and to, counted from the rows that hold the keys; FAR: elsewhere. */
typedef struct keyed_move {
  size_t from, to, element;
} keyed_move;

enum { FAR = 1000 };

/* Sorts by the last word of each row, and moves one array, which may be the rows, a part of them,
 * or another one that goes there. */
static void check_keyed_move(recsort_sorter *sorter, size_t count, keyed_move move,
                             uint64_t *random)
{
  static const char yaml[] =
      "record: Key\n" NATIVE "fields: [{name: key, type: float32}]\nkeys: [key]\n";
  both rows = make_both(count + 1, ROW, 0, random), other = make_both(count + 1, ROW, 0, random);
  float *const keys = malloc(count * sizeof *keys);
  uint64_t *const expected = malloc(count * sizeof *expected);
  assert_true(keys && expected);
  for (size_t i = 0; i < count; i++) {
    keys[i] = (float)random_below(random, count / 2 + 1);
    memcpy(rows.host + i * ROW + KEY_AT, &keys[i], sizeof *keys);
  }
  put(rows.device, rows.host, rows.size);
  find_order(yaml, keys, count, expected);
  const both *const from = move.from == FAR ? &other : &rows, *const to =
                                                                  move.to == FAR ? &other : &rows;
  const size_t begin = move.from == FAR ? 0 : move.from, end = move.to == FAR ? 0 : move.to;
  const recsort_array array = {from->device + begin, to->device + end, move.element};
  const recsort_column column = {.name = "key", .data = rows.device + KEY_AT, .stride = ROW};
  enqueue(sorter, (recsort_job){.count = count,
                                .columns = &column,
                                .column_count = 1,
                                .arrays = &array,
                                .array_count = 1});
  both seen = {to->host + end, to->device + end, count * move.element, move.element};
  unsigned char *const found = malloc(seen.size);
  assert_non_null(found);
  get(found, seen.device, seen.size);
  for (size_t i = 0; i < count; i++)
    assert_memory_equal(found + i * move.element, from->host + begin + expected[i] * move.element,
                        move.element);
  free(found);
  free(keys);
  free(expected);
  drop_both(&rows, 0);
  drop_both(&other, 0);
}

static void arrays_move_over_keys(void **state)
{
  static const size_t lengths[] = {1, 2, 33, 1000, 2048, 2049, 16384, 40000};
  static const keyed_move moves[] = {
      {FAR, FAR, ROW}, {0, 0, ROW},         {0, FAR, ROW}, {0, 0, 4},
      {0, 0, 1},       {KEY_AT, KEY_AT, 4}, {1, 1, ROW}}; /* in a copy, keys are not aligned */
  uint64_t random = 21;
  (void)state;
  recsort_sorter *const sorter =
      create("record: Key\n" NATIVE "fields: [{name: key, type: float32}]\nkeys: [key]\n");
  for (size_t c = 0; c < COUNT_OF(lengths) && lengths[c] <= most(); c++)
    for (size_t m = 0; m < COUNT_OF(moves); m++)
      check_keyed_move(sorter, lengths[c], moves[m], &random);
  recsort_sorter_destroy(sorter);
}

static void many_arrays_move(void **state)
{
  enum { COUNT = 50, ARRAYS = 40 };
  recsort_array arrays[ARRAYS];
  both records, moved[ARRAYS];
  uint64_t random = 3, expected[COUNT];
  recsort_sorter *const sorter = create(kinds[0].yaml);
  (void)state;
  records = make_both(COUNT, kinds[0].size, 0, &random);
  fill(0, records.host, COUNT, &random);
  put(records.device, records.host, records.size);
  find_expected(0, records.host, COUNT, expected);
  for (size_t a = 0; a < ARRAYS; a++) {
    moved[a] = make_both(COUNT, a + 1, 0, &random);
    arrays[a] = (recsort_array){moved[a].device, moved[a].device, a + 1};
  }
  enqueue(sorter,
          (recsort_job){
              .count = COUNT, .records = records.device, .arrays = arrays, .array_count = ARRAYS});
  for (size_t a = 0; a < ARRAYS; a++) {
    expect_moved(&moved[a], moved[a].host, expected);
    drop_both(&moved[a], 0);
  }
  drop_both(&records, 0);
  recsort_sorter_destroy(sorter);
}

static void invalid_values_are_reported(void **state)
{
  enum { COUNT = 10, SIZE = 24 };
  recsort_sorter *const sorter = create(kinds[0].yaml);
  unsigned char records[COUNT * SIZE] = {0}, *const memory = make(2 * sizeof records);
  recsort_job job = {.count = COUNT, .records = memory, .sorted = memory + sizeof records};
  (void)state;
  equip(sorter, &job);
  for (unsigned frame = 0; frame < 4; frame++) {
    const bool valid = frame % 2 > 0;
    records[2 * SIZE + 4] = valid ? 1 : 9; /* 9: neither x nor y */
    put(memory, records, sizeof records);
    assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    assert_int_equal(status_of(&job), valid ? RECSORT_OK : RECSORT_INVALID_RECORD);
  }
  unequip(&job);
  drop(memory);
  recsort_sorter_destroy(sorter);
}

/* The oracle of a point or vector and another point; static, as qsort has no context. */
static const float *judged;
static double judged_eye[2], judged_other;
static bool judged_dot;

static float far_from(const float *at)
{
  if (judged_dot) return (float)((double)at[0] * judged_eye[0] + (double)at[1] * judged_eye[1]);
  const double x = (double)at[0] - judged_eye[0], y = (double)at[1] - judged_eye[1];
  return (float)(x * x + y * y);
}

static int compare_places(const void *one, const void *two)
{
  const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)two;
  const float *const p = judged + 2 * a, *const q = judged + 2 * b;
  const float near = far_from(p), far = far_from(q);
  const double there = fabs((double)p[1] - judged_other), here = fabs((double)q[1] - judged_other);
  if (near < far || near > far) return near < far ? -1 : 1; /* NaNs are equal */
  if (there < here || there > here) return there > here ? -1 : 1;
  return (a > b) - (a < b);
}

static void find_by_points(const float *records, size_t count, const double *eye, double other,
                           uint64_t *order)
{
  judged = records;
  memcpy(judged_eye, eye, sizeof judged_eye);
  judged_other = other;
  for (size_t i = 0; i < count; i++)
    order[i] = i;
  qsort(order, count, sizeof *order, compare_places);
}

/* A point that is set later counts for later sorts. */
static void points_are_set_between_sorts(void **state)
{
  static const char yaml[] = "record: P\n" NATIVE "fields: [{name: x, type: float32}]\n"
                             "keys: [{distance: {fields: [x], from: eye}}]\n";
  const float xs[] = {0, 1, 2, 3};
  recsort_sorter *const sorter = create(yaml);
  float *const memory = make(sizeof xs);
  uint32_t *const order = make(sizeof xs), found[4];
  recsort_job job = {
      .struct_size = sizeof job, .count = 4, .records = memory, .permutation = order};
  (void)state;
  put(memory, xs, sizeof xs);
  REFUSED(recsort_plan(sorter, &job, 1, &RECSORT_NEEDS_INIT, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_run(sorter, &job, 1, &error), RECSORT_INVALID_ARGUMENT);
  for (int at = 0; at < 4; at++) {
    const double eye = at;
    recsort_error error = {0};
    if (recsort_sorter_set_parameter(sorter, "eye", &eye, 1, &error)) fail_msg("%s", error.text);
    if (at == 0) equip(sorter, &job);
    if (recsort_run(sorter, &job, 1, &error)) fail_msg("%s", error.text);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    get(found, order, sizeof found);
    assert_int_equal(found[0], at);
    assert_int_equal(found[3], at < 2 ? 3 : 0);
  }
  REFUSED(recsort_sorter_set_parameter(NULL, "eye", (double[]){0}, 1, &error),
          RECSORT_INVALID_ARGUMENT);
  unequip(&job);
  drop(memory);
  drop(order);
  recsort_sorter_destroy(sorter);
}

static void read_points(const char *yaml, bool dot)
{
  enum { COUNT = 3000, POINTS = 6 };
  uint64_t random = 13, expected[COUNT];
  recsort_sorter *const sorter = create(yaml);
  both records = make_both(COUNT, 8, 0, &random), order = make_both(COUNT, 4, 0, &random);
  double *const eye = make(2 * sizeof *eye);
  const double other = -3;
  recsort_job job = {.count = COUNT, .records = records.device, .permutation = order.device};
  REFUSED(recsort_plan(sorter, &job, 1, &RECSORT_NEEDS_INIT, &error), RECSORT_INVALID_ARGUMENT);
  recsort_error error = {0};
  judged_dot = dot;
  for (size_t i = 0; i < COUNT; i++) {
    const float at[] = {(float)random_below(&random, 30), (float)random_below(&random, 30)};
    memcpy(records.host + i * sizeof at, at, sizeof at);
  }
  put(records.device, records.host, records.size);
  if (recsort_sorter_bind_parameter(sorter, "eye", eye, 2, &error) ||
      recsort_sorter_set_parameter(sorter, "other", &other, 1, &error))
    fail_msg("%s", error.text);
  equip(sorter, &job);
#ifdef RS_REAL_GPU
  begin_capture();
  if (captures() && recsort_run(sorter, &job, 1, &error)) fail_msg("%s", error.text);
  const cudaGraphExec_t graph = end_capture();
#endif
  for (int p = 0; p < POINTS; p++) {
    const double point[] = {p == 4 ? 1e300 : 5 * p, p == 5 ? (double)NAN : 20 - 3 * p};
    put(eye, point, sizeof point);
#ifdef RS_REAL_GPU
    if (graph)
      replay(graph);
    else
#endif
        if (recsort_run(sorter, &job, 1, &error))
      fail_msg("%s", error.text);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    find_by_points((const float *)(const void *)records.host, COUNT, point, other, expected);
    expect_permutation(&order, expected);
  }
  const double fixed[] = {7, 7}; /* from the host again; what the device has does not matter */
  assert_int_equal(recsort_sorter_set_parameter(sorter, "eye", fixed, 2, NULL), RECSORT_OK);
  assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
  assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
  find_by_points((const float *)(const void *)records.host, COUNT, fixed, other, expected);
  expect_permutation(&order, expected);
#ifdef RS_REAL_GPU
  drop_graph(graph);
#endif
  unequip(&job);
  drop(eye);
  drop_both(&records, 0);
  drop_both(&order, 0);
  recsort_sorter_destroy(sorter);
}

/* A point or vector in the device's memory counts when the stream gets there: a graph of one sort
 * is replayed with others. */
static void points_are_read_by_the_device(void **state)
{
#define PLACE "record: P\n" NATIVE "fields: [{name: x, type: float32}, {name: y, type: float32}]\n"
#define THEN ", {distance: {fields: [y], from: other}, order: desc}]\n"
  (void)state;
  read_points(PLACE "keys: [{distance: {fields: [x, y], from: eye}}" THEN, false);
  read_points(PLACE "keys: [{dot: {fields: [x, y], with: eye}}" THEN, true);
}

static void wrong_points_are_refused(void **state)
{
  static const char yaml[] = "record: P\n" NATIVE "fields: [{name: x, type: float32}]\n"
                             "keys: [{distance: {fields: [x, x], from: eye}}]\n";
  recsort_sorter *const sorter = create(yaml);
  double *const eye = make(3 * sizeof *eye);
  (void)state;
  REFUSED(recsort_sorter_bind_parameter(NULL, "eye", eye, 2, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_sorter_bind_parameter(sorter, NULL, eye, 2, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_sorter_bind_parameter(sorter, "eye", NULL, 2, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_sorter_bind_parameter(sorter, "nose", eye, 2, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_sorter_bind_parameter(sorter, "eye", eye, 1, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_sorter_bind_parameter(
              sorter, "eye", (const double *)(const void *)((const char *)eye + 4), 2, &error),
          RECSORT_INVALID_ARGUMENT);
  drop(eye);
  recsort_sorter_destroy(sorter);
}

/* The first records by a key that is computed, some of them as far on the other side. */
static void first_records_by_distance(void **state)
{
  enum { COUNT = 70000, AROUND = 250, HEAD = 8 };
  static const char yaml[] = "record: P\n" NATIVE "fields: [{name: x, type: float32}]\n"
                             "keys: [{distance: {fields: [x], from: [100]}}]\n";
  static const uint32_t nearest[] = {100, 99, 101, 98, 102, 97, 103};
  recsort_sorter *const sorter = create(yaml);
  float *const xs = malloc(COUNT * sizeof *xs), *const memory = make(COUNT * sizeof *xs);
  uint32_t *const order = make(HEAD * sizeof *order), found[HEAD];
  (void)state;
  assert_non_null(xs);
  for (size_t i = 0; i < COUNT; i++)
    xs[i] = i < AROUND ? (float)i : 1e9f;
  xs[AROUND] = 100;
  put(memory, xs, COUNT * sizeof *xs);
  enqueue(sorter,
          (recsort_job){.count = COUNT, .records = memory, .permutation = order, .head = HEAD});
  get(found, order, sizeof found);
  assert_true(found[0] == nearest[0] && found[1] == AROUND);
  for (size_t i = 1; i + 1 < HEAD; i++)
    assert_int_equal(found[i + 1], nearest[i]);
  free(xs);
  drop(memory);
  drop(order);
  recsort_sorter_destroy(sorter);
}

/* ---- Contexts ---- */

typedef CUresult get_context(CUcontext *context);

static void expect_current(get_context *get_current, CUcontext context)
{
  CUcontext current = NULL;
  assert_int_equal(get_current(&current), CUDA_SUCCESS);
  assert_true(current == context);
}

/* A sorter works in the context that was current when it was made, also from a thread with another
 * one, and leaves the thread's current. A stream of another context cannot be expected to fail: a
 * device may run kernels in the context of their stream. */
static void any_context_will_do(void **state)
{
  enum { COUNT = 3000 };
  CUresult (*create_context)(CUcontext *, unsigned, CUdevice);
  CUresult (*destroy_context)(CUcontext);
  get_context *get_current;
  CUcontext context = NULL;
  cudaStream_t const other = stream;
  recsort_sorter *const primary = create(kinds[0].yaml);
  uint64_t expected[COUNT], random = 14;
  both records = make_both(COUNT, kinds[0].size, 0, &random);
  recsort_job job = {.count = COUNT, .records = records.device, .sorted = records.device};
  recsort_error error = {0};
  int device = 0;
  (void)state;
  fill(0, records.host, COUNT, &random);
  put(records.device, records.host, records.size);
  find_expected(0, records.host, COUNT, expected);
  equip(primary, &job);
  driver_call("cuCtxCreate", &create_context);
  driver_call("cuCtxDestroy", &destroy_context);
  driver_call("cuCtxGetCurrent", &get_current);
  assert_int_equal(cudaGetDevice(&device), cudaSuccess);
  assert_int_equal(create_context(&context, 0, device), CUDA_SUCCESS);
  assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  recsort_sorter *const sorter = create(kinds[0].yaml);
  expect_current(get_current, context);
  check_count(0, COUNT, 32, 0, sorter, &random);
  expect_current(get_current, context);
  job.stream = other;
  if (recsort_run(primary, &job, 1, &error)) fail_msg("%s", error.text);
  expect_current(get_current, context);
  recsort_sorter_destroy(sorter);
  assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
  assert_int_equal(destroy_context(context), CUDA_SUCCESS);
  stream = other;
  assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
  assert_int_equal(status_of(&job), RECSORT_OK);
  unequip(&job);
  expect_moved(&records, records.host, expected);
  drop_both(&records, 0);
  recsort_sorter_destroy(primary);
}

/* ---- Failures ---- */

/* Sorts of records and of numbers, of which the device may not survive the first. */
typedef struct last_sorts {
  recsort_sorter *sorters[2];
  recsort_job job;
} last_sorts;

enum { LAST_COUNT = 600, LAST_WORKSPACE = 1 << 20 };

static last_sorts open_last_sorts(void)
{
  unsigned char keys[LAST_COUNT * sizeof(uint64_t)], *const memory = make(sizeof keys);
  uint64_t random = 15;
  fill_random(keys, sizeof keys, &random);
  put(memory, keys, sizeof keys);
  return (last_sorts){
      .sorters = {create("record: Key\n" NATIVE "fields: [{name: low, type: uint32}, {name: high, "
                         "type: uint32}]\nkeys: [high, low]\n"),
                  create(kinds[4].yaml)},
      .job = {.struct_size = sizeof(recsort_job),
              .stream = stream,
              .count = LAST_COUNT,
              .records = memory,
              .sorted = memory,
              .workspace = make(LAST_WORKSPACE),
              .workspace_size = LAST_WORKSPACE}};
}

static recsort_status sort_last(const last_sorts *s, bool numbers, recsort_error *error)
{
  return recsort_run(s->sorters[numbers], &s->job, 1, error);
}

static void close_last_sorts(const last_sorts *s)
{
  recsort_sorter_destroy(s->sorters[0]);
  recsort_sorter_destroy(s->sorters[1]);
}

/* While a capture is spoilt, each sort is an error. Then the device works as before: it was not
 * lost. */
static void spoilt_captures_are_errors(void **state)
{
  (void)state;
#ifdef RS_REAL_GPU
  if (!captures()) skip();
#endif
  last_sorts s = open_last_sorts();
#ifdef RS_REAL_GPU
  for (int pairs = 0; pairs < 2; pairs++) {
    cudaGraph_t graph;
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    assert_int_not_equal(cudaStreamSynchronize(stream), cudaSuccess);
    REFUSED(sort_last(&s, pairs, &error), RECSORT_DEVICE_ERROR);
    assert_int_not_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    (void)cudaGetLastError();
#else
  unsigned errors = 0;
  for (long call = 2; call < 60; call++) {
    const bool pairs = call % 2;
    recsort_error error = {0};
    standin_begin((standin_plan){
        .fail_at = call / 2, .code = cudaErrorStreamCaptureInvalidated, .capturing = 1});
    const recsort_status status = sort_last(&s, pairs, &error);
    assert_true(status == RECSORT_OK || status == RECSORT_DEVICE_ERROR);
    errors += status != RECSORT_OK;
    begin();
#endif
    assert_int_equal(sort_last(&s, pairs, NULL), RECSORT_OK);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    recsort_sorter_destroy(create(kinds[4].yaml)); /* not refused */
  }
#ifndef RS_REAL_GPU
  assert_in_range(errors, 8, 50);
#endif
  close_last_sorts(&s);
  drop(s.job.sorted);
  drop(s.job.workspace);
}

/* Loses the device in a sort; from then on everything is refused. */
static void lose_the_device(long call, bool pairs)
{
  last_sorts s = open_last_sorts();
  recsort_sorter *none = NULL;
  recsort_error refusal = {0};
#ifdef RS_REAL_GPU
  (void)call;
  s.job.permutation = s.job.sorted;
  s.job.records = (void *)512; /* no memory of the device, and only kernels read it */
  s.job.sorted = NULL;
  assert_int_equal(sort_last(&s, pairs, NULL), RECSORT_OK);
  assert_int_not_equal(cudaStreamSynchronize(stream), cudaSuccess);
#else
  standin_begin((standin_plan){.fail_at = call, .sticky = 1, .code = cudaErrorIllegalAddress});
#endif
  REFUSED(sort_last(&s, pairs, &error), RECSORT_DEVICE_LOST);
  REFUSED(sort_last(&s, !pairs, &error), RECSORT_DEVICE_LOST);
  assert_int_equal(try_create(kinds[4].yaml, NULL, &none, &refusal), RECSORT_PLUGIN_ERROR);
  if (!strstr(refusal.text, "the CUDA device failed earlier in this process: an illegal memory"))
    fail_msg("%s", refusal.text);
  close_last_sorts(&s);
}

#ifdef RS_REAL_GPU
/* The last test. */
static void lost_devices_are_reported(void **state)
{
  (void)state;
  if (!captures()) skip(); /* it is an error on purpose */
  assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  lose_the_device(0, false);
}
#else
/* Each call loses it in turn, in a process of its own. */
static void lost_devices_are_reported(void **state)
{
  (void)state;
  for (long call = 1; call <= 8; call++) {
    int status = 0;
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
      lose_the_device(call / 2 + 1, call % 2);
      _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

/* Each call of the runtime fails in turn: an error and no leak, and the next sort works. */
static void survives_failing_calls(void **state)
{
  enum { COUNT = 600 };
  (void)state;
  for (long fail_at = 1;; fail_at++) {
    recsort_sorter *sorter = NULL;
    recsort_error error = {0};
    uint32_t order[COUNT];
    standin_begin((standin_plan){0});
    cudaStream_t own;
    assert_int_equal(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking), cudaSuccess);
    unsigned char *const memory = make(COUNT * (kinds[0].size + 4) + LAST_WORKSPACE);
    uint32_t *status = NULL;
    assert_int_equal(cudaMallocHost((void **)&status, sizeof *status), cudaSuccess);
    uint64_t random = 4;
    fill(0, memory + LAST_WORKSPACE, COUNT, &random);
    standin_begin((standin_plan){.fail_at = fail_at});
    const recsort_job job = {.struct_size = sizeof job,
                             .stream = own,
                             .count = COUNT,
                             .records = memory + LAST_WORKSPACE,
                             .sorted = memory + LAST_WORKSPACE,
                             .permutation = memory + LAST_WORKSPACE + COUNT * kinds[0].size,
                             .workspace = memory,
                             .workspace_size = LAST_WORKSPACE,
                             .status = status};
    recsort_status done = try_create(kinds[0].yaml, "cuda", &sorter, &error);
    if (!done) done = recsort_run(sorter, &job, 1, &error);
    const bool failed = done != RECSORT_OK;
    if (failed) assert_true(error.text[0] && error.status == done);
    if (sorter && failed) {
      assert_int_equal(recsort_run(sorter, &job, 1, &error), RECSORT_OK);
      memcpy(order, memory + LAST_WORKSPACE + COUNT * kinds[0].size, sizeof order);
      assert_true(order[0] < COUNT);
    }
    recsort_sorter_destroy(sorter);
    assert_int_equal(standin_look().misuses, 0);
    drop(memory);
    assert_int_equal(cudaFreeHost(status), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(own), cudaSuccess);
    assert_int_equal(standin_look().blocks + standin_look().streams, 0);
    assert_int_equal(standin_depth(), 0);
    if (!failed) break;
    assert_true(fail_at < 1000);
  }
}

/* Without a device there is a reason, also if only the CUDA plugin has the algorithm. */
static void no_device_is_explained(void **state)
{
  static const char *const algorithms[] = {NULL, "sample"};
  recsort_schema *const schema = load(kinds[0].yaml);
  (void)state;
  standin_begin((standin_plan){.devices = -1});
  for (size_t a = 0; a < 2; a++) {
    const recsort_options options = {
        .struct_size = sizeof options, .algorithm = algorithms[a], .on_device = true};
    recsort_sorter *sorter = NULL;
    recsort_error error = {0};
    assert_int_equal(recsort_sorter_create(schema, &options, &sorter, &error),
                     RECSORT_PLUGIN_ERROR);
    assert_string_equal(error.text, "no plugin here sorts on a device; \"cuda\" cannot be used: "
                                    "no CUDA device was found");
  }
  recsort_schema_destroy(schema);
}

/* The kernels of a sort of Entities, in order or not, with a permutation or without. */
static long launches_of(bool ordered, bool with_order)
{
  enum { COUNT = 4000 };
  const unsigned kind = 2;
  uint64_t random = 8;
  recsort_sorter *const sorter = create(kinds[kind].yaml);
  both records = make_both(COUNT, kinds[kind].size, 0, &random),
       sorted = make_both(COUNT, kinds[kind].size, 0, &random),
       order = make_both(COUNT, 4, 0, &random);
  for (size_t i = 0; i < COUNT; i++) {
    const float distance = ordered ? -(float)i : (float)random_below(&random, COUNT);
    memcpy(records.host + (i + 1) * records.element - sizeof distance, &distance, sizeof distance);
  }
  put(records.device, records.host, records.size);
  const long before = standin_look().launches;
  enqueue(sorter, (recsort_job){.count = COUNT,
                                .records = records.device,
                                .sorted = sorted.device,
                                .permutation = with_order ? order.device : NULL,
                                .index_bits = with_order ? 32 : 0});
  const long launches = standin_look().launches - before;
  drop_both(&records, 0);
  drop_both(&sorted, 0);
  drop_both(&order, 0);
  recsort_sorter_destroy(sorter);
  return launches;
}

/* The device does not look whether records that are staged are in order, as it does at others. */
static void staged_records_are_not_looked_at(void **state)
{
  (void)state;
  assert_int_equal(launches_of(true, false), launches_of(false, false));
  assert_true(launches_of(true, true) < launches_of(false, true));
}

/* The launches of a job with a status by a sorter that checks results so. */
static long checked_launches(recsort_verify verify)
{
  enum { COUNT = 300 };
  const unsigned kind = 2;
  uint64_t random = 8;
  recsort_schema *const schema = load(kinds[kind].yaml);
  const recsort_options options = {
      .struct_size = sizeof options, .on_device = true, .verify = verify};
  recsort_sorter *sorter = NULL;
  assert_int_equal(recsort_sorter_create(schema, &options, &sorter, NULL), RECSORT_OK);
  both records = make_both(COUNT, kinds[kind].size, 0, &random),
       sorted = make_both(COUNT, kinds[kind].size, 0, &random);
  put(records.device, records.host, records.size);
  const long before = standin_look().launches;
  enqueue(sorter,
          (recsort_job){.count = COUNT, .records = records.device, .sorted = sorted.device});
  const long launches = standin_look().launches - before;
  drop_both(&records, 0);
  drop_both(&sorted, 0);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
  return launches;
}

/* Then nothing looks at the result. FULL is as the default. */
static void results_are_not_looked_at_if_verify_is_off(void **state)
{
  (void)state;
  const long usual = checked_launches(RECSORT_VERIFY_DEFAULT);
  assert_int_equal(checked_launches(RECSORT_VERIFY_OFF), usual - 1);
  assert_int_equal(checked_launches(RECSORT_VERIFY_FULL), usual);
}
#endif

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(sorts_as_the_host_does, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(records_have_one_number, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(has_memory_for_fewer, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(sorts_again_what_has_changed, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(finds_the_first_records, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(segments_are_sorted_by_themselves, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(segments_are_measured, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(short_segments_are_sorted_in_tiles, open_stream,
                                      close_stream),
      cmocka_unit_test_setup_teardown(arrays_of_segments_move, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(long_segments_are_reported, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(columns_are_read_where_they_are, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(counts_are_read_by_the_device, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(some_bits_are_compared, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(memories_are_not_mixed, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(wrong_members_are_refused, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(wrong_arrays_are_refused, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(wrong_calls_are_refused, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(wrong_sorters_are_refused, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(arrays_move_over_keys, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(many_arrays_move, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(invalid_values_are_reported, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(points_are_set_between_sorts, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(points_are_read_by_the_device, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(wrong_points_are_refused, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(first_records_by_distance, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(any_context_will_do, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(spoilt_captures_are_errors, open_stream, close_stream),
#ifdef RS_REAL_GPU
      cmocka_unit_test_setup_teardown(many_records_ask_no_host, open_stream, close_stream),
      cmocka_unit_test(lost_devices_are_reported),
#else
      cmocka_unit_test_setup_teardown(staged_records_are_not_looked_at, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(results_are_not_looked_at_if_verify_is_off, open_stream,
                                      close_stream),
      cmocka_unit_test_setup_teardown(lost_devices_are_reported, open_stream, close_stream),
      cmocka_unit_test(survives_failing_calls),
      cmocka_unit_test(no_device_is_explained),
#endif
  };
#ifndef RS_REAL_GPU
  if (setenv("RECSORT_PLUGIN_PATH", RS_CUDA_PLUGIN, 1)) return 2;
#endif
  memset(guards, POISON, sizeof guards);
  choose_tests();
  return cmocka_run_group_tests_name("resident", tests, NULL, NULL);
}
