/* Records in device memory: sorted there as the CPU sorts them on the host. Built twice: with the
 * stand-in for the CUDA runtime, which counts what a sort may not do; and, with RS_REAL_GPU, for a
 * real one, where the sorts are captured in a graph. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recsort/device.h"
#include "support/failing_allocator.h"
#include "support/native.h"
#include "support/random.h"
#include "support/refused.h"

#include "cuda/device_memory.h"
#ifdef RS_REAL_GPU
enum { MOST = 3000001 };
static const size_t counts[] = {0, 1, 2, 3, 31, 1000, 9000, 16384, 16385, 100003, 1 << 20, MOST};
#else
enum { MOST = 4000 };
static const size_t counts[] = {0, 1, 2, 3, 31, 32, 100, 1000, 2047, 2500, 4000};
#endif
enum { GUARD = 64, POISON = 0xa5, WIDE = 3 /* a kind whose keys have 128 bits */ };

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* With a variable in the environment fewer, for tools that are slow. */
static size_t most(void)
{
  enum { FEW = 20000 };
  return (size_t)MOST > FEW && getenv("RECSORT_TEST_FEW") ? FEW : MOST;
}

/* ---- Records ---- */

/* Kinds of records, each with keys whose ties are many. */
static const struct {
  const char *yaml;
  size_t size;
} kinds[] = {
    {"record: Row\n" NATIVE "fields:\n- {name: key, type: uint32}\n"
     "- {name: kind, type: enum, base: uint8, values: [x, y]}\n- {name: rest, type: uint8, count: "
     "7}\n"
     "- {name: place, type: uint64}\nkeys: [{field: key}, {field: kind, order: desc}]\n",
     24},
    {"record: Small\n" NATIVE "layout: packed\nfields:\n- {name: low, type: uint16}\n"
     "- {name: rest, type: uint8, count: 3}\nkeys: [low]\n",
     5},
    {"record: Entity\n" NATIVE "fields:\n- {name: x, type: float32}\n- {name: y, type: float32}\n"
     "- {name: angle, type: float32}\n- {name: sprite, type: int16}\n"
     "- {name: distance, type: float32}\nkeys: [{field: distance, order: desc}]\n",
     20},
    {"record: Wide\n" NATIVE "fields:\n- {name: high, type: uint64}\n- {name: low, type: int64}\n"
     "keys: [high, low]\n",
     16},
    {"record: Key\n" NATIVE "fields:\n- {name: key, type: uint64}\nkeys: [key]\n", 8},
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
  for (size_t i = 0; i < count * size; i++)
    records[i] = (unsigned char)next_random(random);
  for (size_t i = 0; i < count; i++) {
    unsigned char *const record = records + i * size;
    const uint64_t place = (as.descends ? count - 1 - i : i) * domain / count;
    const bool placed = as.ordered && random_below(random, as.moved) != 0;
    const uint64_t value = placed ? place : random_below(random, domain);
    const uint16_t narrow = (uint16_t)(value % 100);
    const uint32_t key = (uint32_t)value;
    const float distance = (float)value - (float)domain / 2;
    const uint64_t wide[2] = {value / 3, value % 3};
    if (kind == 0) {
      memcpy(record, &key, sizeof key);
      record[4] = (unsigned char)(value >> 3 & 1);
    } else if (kind == 1) {
      memcpy(record, &narrow, sizeof narrow);
    } else if (kind == 2) {
      memcpy(record + 16, &distance, sizeof distance);
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

static recsort_status try_create(const char *yaml, const char *plugin, recsort_device_limits limits,
                                 recsort_device_sorter **sorter, recsort_error *error)
{
  const recsort_allocator hook = failing_hook(&host_memory);
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = plugin, .allocator = &hook};
  recsort_schema *const schema = load(yaml);
  limits.struct_size = sizeof limits;
  const recsort_status status =
      recsort_device_sorter_create(schema, &options, &limits, sorter, error);
  recsort_schema_destroy(schema);
  return status;
}

static recsort_device_sorter *create(const char *yaml, recsort_device_limits limits)
{
  recsort_device_sorter *sorter = NULL;
  recsort_error error = {0};
  if (try_create(yaml, NULL, limits, &sorter, &error)) fail_msg("%s", error.text);
  const size_t index = limits.index_bits == 64 ? 8 : 4;
  const size_t pairs = limits.most_records * 2 * (16 + index);
  const size_t moved = limits.most_records * limits.most_in_place;
  assert_in_range(recsort_device_sorter_memory(sorter), moved + 1, moved + pairs + (70 << 20));
  return sorter;
}

/* The permutation, by the host. */
static void find_expected(unsigned kind, const void *records, size_t count, uint64_t *order)
{
  const recsort_options options = {.struct_size = sizeof options, .plugin = "cpu"};
  recsort_schema *const schema = load(kinds[kind].yaml);
  recsort_sorter *sorter = NULL;
  assert_int_equal(recsort_sorter_create(schema, &options, &sorter, NULL), RECSORT_OK);
  assert_int_equal(recsort_argsort(sorter, records, count, order, 64, NULL), RECSORT_OK);
  recsort_sorter_destroy(sorter);
  recsort_schema_destroy(schema);
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
  for (size_t i = 0; i < made.size; i++)
    made.host[i] = (unsigned char)next_random(random);
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

/* Runs a job: it may neither wait nor allocate. */
static void enqueue(recsort_device_sorter *sorter, recsort_device_job job)
{
  recsort_error error = {0};
  const size_t allocations = host_memory.calls;
  job.struct_size = sizeof job;
  job.stream = stream;
#ifdef RS_REAL_GPU
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  if (recsort_device_sort(sorter, &job, &error)) fail_msg("%s", error.text);
  assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  assert_int_equal(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
  assert_int_equal(cudaGraphLaunch(replay, stream), cudaSuccess);
  assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
  assert_int_equal(cudaGraphExecDestroy(replay), cudaSuccess);
  assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
#else
  const standin_state before = standin_look();
  if (recsort_device_sort(sorter, &job, &error)) fail_msg("%s", error.text);
  const standin_state after = standin_look();
  assert_int_equal(after.waits, before.waits);
  assert_int_equal(after.blocks, before.blocks);
  assert_int_equal(after.streams, before.streams);
  assert_int_equal(after.misuses, before.misuses);
  assert_int_equal(standin_depth(), 0);
#endif
  assert_int_equal(host_memory.calls - allocations, job.array_count > 16);
  assert_int_equal(host_memory.wrong, 0);
  if (recsort_device_sorter_check(sorter, &error)) fail_msg("%s", error.text);
}

/* To another array with a permutation and companions; then the permutation alone; then in place. */
static void check_count(unsigned kind, size_t count, unsigned bits, size_t offset,
                        recsort_device_sorter *sorter, uint64_t *random)
{
  const size_t size = kinds[kind].size;
  both records = make_both(count, size, offset, random);
  both sorted = make_both(count, size, offset / 2, random);
  both order = make_both(count, bits / 8, 0, random);
  both some = make_both(count, 3, 1, random), other = make_both(count, 32, 0, random),
       moved = make_both(count, 3, 2, random);
  uint64_t *const expected = malloc((count + 1) * sizeof *expected);
  assert_non_null(expected);
  fill(kind, records.host, count, random);
  put(records.device, records.host, records.size);
  find_expected(kind, records.host, count, expected);
  const recsort_device_array arrays[] = {{some.device, moved.device, 3},
                                         {other.device, other.device, 32}};
  enqueue(sorter, (recsort_device_job){.count = count,
                                       .records = records.device,
                                       .sorted = sorted.device,
                                       .permutation = order.device,
                                       .arrays = arrays,
                                       .array_count = 2});
  expect_moved(&sorted, records.host, expected);
  expect_moved(&moved, some.host, expected);
  expect_moved(&other, other.host, expected);
  expect_permutation(&order, expected);
  put(order.device, order.host, order.size);
  enqueue(sorter, (recsort_device_job){
                      .count = count, .records = records.device, .permutation = order.device});
  expect_permutation(&order, expected);
  enqueue(sorter, (recsort_device_job){
                      .count = count, .records = records.device, .sorted = records.device});
  expect_moved(&records, records.host, expected);
  free(expected);
  drop_both(&records, offset);
  drop_both(&sorted, offset / 2);
  drop_both(&order, 0);
  drop_both(&some, 1);
  drop_both(&other, 0);
  drop_both(&moved, 2);
}

static void sorts_as_the_host_does(void **state)
{
  uint64_t random = 1;
  (void)state;
  for (unsigned kind = 0; kind < COUNT_OF(kinds); kind++)
    for (unsigned bits = 32; bits <= 64; bits += 32) {
      recsort_device_sorter *const sorter = create(
          kinds[kind].yaml,
          (recsort_device_limits){.most_records = most(), .most_in_place = 32, .index_bits = bits});
      for (size_t c = 0; c < COUNT_OF(counts); c++)
        if (counts[c] <= most()) check_count(kind, counts[c], bits, c % 4, sorter, &random);
      recsort_device_sorter_destroy(sorter);
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
                       recsort_device_sorter *sorter, unsigned bits, uint64_t *random)
{
  enum { WAYS = 4 };
  const size_t wanted = head && head < count ? head : count, size = kinds[kind].size;
  both records = make_both(count, size, 0, random), sorted = make_both(wanted, size, 0, random);
  both order = make_both(wanted, bits / 8, 0, random);
  both some = make_both(count, 3, 1, random), moved = make_both(wanted, 3, 2, random);
  uint64_t *const expected = malloc((count + 1) * sizeof *expected);
  assert_non_null(expected);
  fill(kind, records.host, count, random);
  find_expected(kind, records.host, count, expected);
  if (way < WAYS) rearrange(kind, way, &records, expected);
  put(records.device, records.host, records.size);
  enqueue(sorter,
          (recsort_device_job){.count = count,
                               .records = records.device,
                               .sorted = sorted.device,
                               .permutation = order.device,
                               .arrays = &(recsort_device_array){some.device, moved.device, 3},
                               .array_count = 1,
                               .head = head});
  expect_moved(&sorted, records.host, expected);
  expect_moved(&moved, some.host, expected);
  expect_permutation(&order, expected);
  free(expected);
  drop_both(&records, 0);
  drop_both(&sorted, 0);
  drop_both(&order, 0);
  drop_both(&some, 1);
  drop_both(&moved, 2);
}

static void finds_the_first_records(void **state)
{
  enum { WAYS = 5 };
  static const size_t sizes[] = {1, 17, 4000, 1 << 16, 100003, 1 << 18, MOST};
  uint64_t random = 11;
  (void)state;
  for (unsigned kind = 0; kind < COUNT_OF(kinds); kind++) {
    const unsigned bits = kind % 2 ? 64 : 32;
    recsort_device_sorter *const sorter = create(
        kinds[kind].yaml, (recsort_device_limits){.most_records = most(), .index_bits = bits});
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
    recsort_device_sorter_destroy(sorter);
  }
}

#ifdef RS_REAL_GPU
/* From 2^23 records on, sorts of the host's records ask the host whether they are in order. */
static void many_records_ask_no_host(void **state)
{
  enum { MANY = 9000001 };
  uint64_t random = 8;
  recsort_device_sorter *const sorter =
      create(kinds[4].yaml, (recsort_device_limits){.most_records = MANY, .most_in_place = 32});
  (void)state;
  check_count(4, MANY, 32, 0, sorter, &random);
  recsort_device_sorter_destroy(sorter);
}
#endif

/* Whatever the count, its plan fits in the memory of the most records. */
static void has_memory_for_fewer(void **state)
{
  uint64_t random = 2;
  (void)state;
  for (int round = 0; round < 20; round++) {
    const size_t limit = 1 + random_below(&random, most());
    recsort_device_sorter *const sorter =
        create(kinds[4].yaml, (recsort_device_limits){.most_records = limit, .most_in_place = 32});
    for (int i = 0; i < 3; i++)
      check_count(4, i ? random_below(&random, limit + 1) : limit, 32, 0, sorter, &random);
    recsort_device_sorter_destroy(sorter);
  }
}

/* ---- Segments ---- */

enum { SHORT = 60, SHORT_WAY = 3 };

/* Offsets of `segments` segments: even; or some before the first, behind the last and between two
 * equal ones; or a giant among small ones; or short ones, of at most SHORT records, from somewhere
 * on. */
static void fill_offsets(uint64_t *offsets, size_t segments, size_t count, unsigned way,
                         uint64_t *random)
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
      const uint64_t length = random_below(random, 4) ? random_below(random, SHORT + 1) : SHORT;
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
                           recsort_device_sorter *sorter, uint64_t *random)
{
  const size_t size = kinds[kind].size;
  const unsigned offset_bits = way == 0 ? 0 : way == 1 ? 64 : 32;
  both records = make_both(count, size, 0, random), order = make_both(count, 4, 0, random);
  uint64_t *const expected = malloc((count + 1) * sizeof *expected);
  uint64_t *const offsets = malloc((segments + 1) * sizeof *offsets);
  uint32_t *const narrow = malloc((segments + 1) * sizeof *narrow);
  void *const given = make((segments + 1) * sizeof *offsets);
  assert_true(expected && offsets && narrow);
  fill_offsets(offsets, segments, count, way, random);
  for (size_t s = 0; s <= segments; s++)
    narrow[s] = (uint32_t)offsets[s];
  put(given, offset_bits == 64 ? (void *)offsets : (void *)narrow,
      (segments + 1) * (offset_bits == 64 ? 8 : 4));
  fill(kind, records.host, count, random);
  put(records.device, records.host, records.size);
  for (size_t i = 0; i < count; i++)
    expected[i] = i;
  for (size_t s = 0; s < segments; s++) {
    const size_t begin = (size_t)offsets[s], length = (size_t)offsets[s + 1] - begin;
    find_expected(kind, records.host + begin * size, length, expected + begin);
    for (size_t i = 0; i < length; i++)
      expected[begin + i] += begin;
  }
  enqueue(sorter, (recsort_device_job){.count = count,
                                       .records = records.device,
                                       .sorted = records.device,
                                       .permutation = order.device,
                                       .offsets = given,
                                       .segment_count = segments,
                                       .offset_bits = offset_bits});
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
  static const size_t numbers[] = {1, 2, 40, 700};
  uint64_t random = 6;
  (void)state;
  for (unsigned kind = 0; kind < COUNT_OF(kinds); kind++)
    for (size_t m = 0; m < COUNT_OF(numbers) && kind != WIDE; m++) {
      recsort_device_sorter *const sorter =
          create(kinds[kind].yaml, (recsort_device_limits){.most_records = 3000,
                                                           .most_in_place = 32,
                                                           .most_segments = numbers[m]});
      for (unsigned way = 0; way < 3; way++) {
        check_segments(kind, 3000, numbers[m], way, sorter, &random);
        check_segments(kind, 1 + random_below(&random, 3000), 1 + random_below(&random, numbers[m]),
                       way, sorter, &random);
      }
      check_count(kind, 500, 32, 0, sorter, &random); /* without segments */
      recsort_device_sorter_destroy(sorter);
    }
}

/* Short segments, sorted where they are: in one tile, and in several. */
static void short_segments_are_sorted_in_tiles(void **state)
{
  static const size_t lengths[] = {1, 59, 1000, 4096, 9000};
  uint64_t random = 7;
  (void)state;
  for (unsigned kind = 0; kind < COUNT_OF(kinds); kind++) {
    if (kind == WIDE) continue;
    recsort_device_sorter *const sorter =
        create(kinds[kind].yaml, (recsort_device_limits){.most_records = 9000,
                                                         .most_in_place = 32,
                                                         .most_segments = 400,
                                                         .most_in_segment = SHORT});
    for (size_t i = 0; i < COUNT_OF(lengths); i++)
      check_segments(kind, lengths[i], 1 + random_below(&random, 400), SHORT_WAY, sorter, &random);
    check_count(kind, 500, 32, 0, sorter, &random);
    recsort_device_sorter_destroy(sorter);
  }
}

/* A segment that is longer than was said stays as it is, and is reported. */
static void long_segments_are_reported(void **state)
{
  enum { COUNT = 9000 };
  recsort_device_sorter *const sorter = create(
      kinds[4].yaml,
      (recsort_device_limits){.most_records = COUNT, .most_segments = 2, .most_in_segment = SHORT});
  const uint32_t offsets[] = {10, 8000, 8050};
  uint64_t *const keys = malloc(COUNT * sizeof *keys), *const memory = make(COUNT * sizeof *keys);
  uint32_t *const order = make(COUNT * sizeof *order), *const given = make(sizeof offsets);
  uint32_t *const found = malloc(COUNT * sizeof *found);
  const recsort_device_job job = {.struct_size = sizeof job,
                                  .stream = stream,
                                  .count = COUNT,
                                  .records = memory,
                                  .permutation = order,
                                  .offsets = given,
                                  .segment_count = 2};
  (void)state;
  assert_true(keys && found);
  for (size_t i = 0; i < COUNT; i++)
    keys[i] = COUNT - i;
  put(memory, keys, COUNT * sizeof *keys);
  put(given, offsets, sizeof offsets);
  assert_int_equal(recsort_device_sort(sorter, &job, NULL), RECSORT_OK);
  assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
  recsort_error error = {0};
  assert_int_equal(recsort_device_sorter_check(sorter, &error), RECSORT_CORRUPT_RESULT);
  if (!strstr(error.text, "longer than most_in_segment")) fail_msg("%s", error.text);
  assert_int_equal(recsort_device_sorter_check(sorter, NULL), RECSORT_OK);
  get(found, order, COUNT * sizeof *found);
  for (uint32_t i = 0; i < COUNT; i++)
    assert_int_equal(found[i], i >= 8000 && i < 8050 ? 8000 + 8050 - 1 - i : i);
  free(keys);
  free(found);
  drop(memory);
  drop(order);
  drop(given);
  recsort_device_sorter_destroy(sorter);
}

/* ---- What is refused or reported ---- */

static void wrong_limits_are_refused(void **state)
{
  static const char long_keys[] =
      "record: L\nfields: [{name: text, type: bytes, count: 24}]\nkeys: [text]\n";
  recsort_device_sorter *sorter = NULL;
  recsort_error error = {0};
  (void)state;
#define LIMITS(...) ((recsort_device_limits){__VA_ARGS__})
#define TRY(yaml, plugin, limits, status, words)                                                   \
  assert_int_equal(try_create(yaml, plugin, limits, &sorter, &error), status);                     \
  if (!strstr(error.text, words)) fail_msg("%s", error.text);                                      \
  assert_null(sorter)
  TRY(kinds[0].yaml, NULL, LIMITS(.most_records = 0), RECSORT_INVALID_ARGUMENT, "is 0");
  TRY(kinds[0].yaml, NULL, LIMITS(.most_records = 1, .index_bits = 33), RECSORT_INVALID_ARGUMENT,
      "index_bits is 33");
  TRY(kinds[0].yaml, NULL, LIMITS(.most_records = ((size_t)1 << 32) + 1), RECSORT_INVALID_ARGUMENT,
      "of 64 bits");
  TRY(kinds[0].yaml, NULL, LIMITS(.most_records = 1, .most_in_place = SIZE_MAX),
      RECSORT_INVALID_ARGUMENT, "most_in_place");
  TRY(kinds[0].yaml, NULL,
      LIMITS(.most_records = SIZE_MAX / 2, .most_in_place = 8, .index_bits = 64),
      RECSORT_INVALID_ARGUMENT, "most_in_place");
  TRY(kinds[0].yaml, NULL, LIMITS(.most_records = (size_t)1 << 32, .most_in_place = 8 << 20),
      RECSORT_OUT_OF_MEMORY, "memory");
  TRY(kinds[0].yaml, "cpu", LIMITS(.most_records = 1), RECSORT_PLUGIN_ERROR,
      "\"cpu\" sorts no records on a device");
  TRY(long_keys, NULL, LIMITS(.most_records = 1), RECSORT_PLUGIN_ERROR, "at most 128 bits");
  TRY(kinds[WIDE].yaml, NULL, LIMITS(.most_records = 1, .most_segments = 1), RECSORT_PLUGIN_ERROR,
      "more than 128 bits together");
  TRY(kinds[0].yaml, NULL, LIMITS(.most_records = 1, .most_segments = SIZE_MAX),
      RECSORT_INVALID_ARGUMENT, "most_segments");
}

static void wrong_jobs_are_refused(void **state)
{
  recsort_device_sorter *const sorter =
      create(kinds[4].yaml,
             (recsort_device_limits){.most_records = 10, .most_in_place = 8, .most_segments = 2});
  unsigned char *const memory = make(1000);
  const recsort_device_array none[] = {{memory, NULL, 8}}, empty[] = {{memory, memory + 100, 0}},
                             large[] = {{memory, memory, 9}}, over[] = {{memory, memory + 79, 8}};
  (void)state;
#define JOB(...)                                                                                   \
  (&(const recsort_device_job){                                                                    \
      .struct_size = sizeof(recsort_device_job), .stream = stream, __VA_ARGS__})
#define REFUSED_JOB(status, words, ...)                                                            \
  do {                                                                                             \
    recsort_error error = {0};                                                                     \
    assert_int_equal(recsort_device_sort(sorter, JOB(__VA_ARGS__), &error), status);               \
    if (!strstr(error.text, words)) fail_msg("%s", error.text);                                    \
  } while (0)
  REFUSED_JOB(RECSORT_PLUGIN_ERROR, "11 records; the sorter is for at most 10", .count = 11,
              .records = memory);
  REFUSED_JOB(RECSORT_INVALID_ARGUMENT, "must not be NULL", .count = 10);
  REFUSED_JOB(RECSORT_INVALID_ARGUMENT, "must not be NULL", .count = 10, .records = memory,
              .array_count = 1);
  REFUSED_JOB(RECSORT_INVALID_ARGUMENT, "array 0: from and to must not", .count = 10,
              .records = memory, .arrays = none, .array_count = 1);
  REFUSED_JOB(RECSORT_INVALID_ARGUMENT, "1 byte to 8 MiB", .count = 10, .records = memory,
              .arrays = empty, .array_count = 1);
  REFUSED_JOB(RECSORT_INVALID_ARGUMENT, "9 bytes are moved in place; most_in_place is 8",
              .count = 10, .records = memory, .arrays = large, .array_count = 1);
  REFUSED_JOB(RECSORT_INVALID_ARGUMENT, "array 0: from and to overlap", .count = 10,
              .records = memory, .arrays = over, .array_count = 1);
  REFUSED_JOB(RECSORT_INVALID_ARGUMENT, "sorted 0: from and to overlap", .count = 10,
              .records = memory, .sorted = memory + 8);
  REFUSED_JOB(RECSORT_INVALID_ARGUMENT, "3 segments; the sorter is for 1 to 2", .count = 10,
              .records = memory, .offsets = memory, .segment_count = 3);
  REFUSED_JOB(RECSORT_INVALID_ARGUMENT, "0 segments", .count = 10, .records = memory,
              .offsets = memory);
  REFUSED_JOB(RECSORT_INVALID_ARGUMENT, "offset_bits is 16", .count = 10, .records = memory,
              .offsets = memory, .segment_count = 1, .offset_bits = 16);
  REFUSED(recsort_device_sort(NULL, JOB(.count = 0), &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_device_sort(sorter, NULL, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_device_sort(sorter, &(recsort_device_job){.struct_size = 8}, &error),
          RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_device_sorter_check(NULL, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED_JOB(RECSORT_INVALID_ARGUMENT, "from and to must not be NULL", .count = 10,
              .records = memory, .arrays = &(recsort_device_array){NULL, memory, 8},
              .array_count = 1);
  REFUSED_JOB(RECSORT_INVALID_ARGUMENT, "1 byte to 8 MiB", .count = 10, .records = memory,
              .arrays = &(recsort_device_array){memory, memory, (8 << 20) + 1}, .array_count = 1);
  REFUSED_JOB(RECSORT_INVALID_ARGUMENT, "records and arrays", .count = 10, .records = memory,
              .arrays = none, .array_count = UINT32_MAX);
  REFUSED_JOB(RECSORT_INVALID_ARGUMENT, "sorted 0: only the first 9 records are wanted",
              .count = 10, .records = memory, .sorted = memory, .head = 9);
  REFUSED_JOB(RECSORT_INVALID_ARGUMENT, "array 0: only the first 9 records are wanted", .count = 10,
              .records = memory, .arrays = &(recsort_device_array){memory, memory, 8},
              .array_count = 1, .head = 9);
  REFUSED_JOB(RECSORT_INVALID_ARGUMENT, "head is 9, but with segments", .count = 10,
              .records = memory, .offsets = memory, .segment_count = 1, .head = 9);
  const recsort_options headed = {.struct_size = sizeof headed, .head = 1};
  const recsort_device_limits good = {.struct_size = sizeof good, .most_records = 1},
                              bad = {.struct_size = 4};
  recsort_device_sorter *made = NULL;
  REFUSED(recsort_device_sorter_create(NULL, NULL, NULL, &made, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_device_sorter_create(NULL, NULL, &good, NULL, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_device_sorter_create(NULL, NULL, &good, &made, &error), RECSORT_INVALID_ARGUMENT);
  REFUSED(recsort_device_sorter_create(NULL, NULL, &bad, &made, &error), RECSORT_INVALID_ARGUMENT);
  recsort_schema *const schema = load(kinds[0].yaml);
  REFUSED(recsort_device_sorter_create(schema, &headed, &good, &made, &error),
          RECSORT_INVALID_ARGUMENT);
  recsort_schema_destroy(schema);
  assert_int_equal(recsort_device_sorter_memory(NULL), 0);
  recsort_device_sorter_destroy(NULL);
  drop(memory);
  recsort_device_sorter_destroy(sorter);
}

static void many_arrays_move(void **state)
{
  enum { COUNT = 50, ARRAYS = 40 };
  recsort_device_array arrays[ARRAYS];
  both records, moved[ARRAYS];
  uint64_t random = 3, expected[COUNT];
  recsort_device_sorter *const sorter = create(
      kinds[0].yaml, (recsort_device_limits){.most_records = COUNT, .most_in_place = ARRAYS});
  (void)state;
  records = make_both(COUNT, kinds[0].size, 0, &random);
  fill(0, records.host, COUNT, &random);
  put(records.device, records.host, records.size);
  find_expected(0, records.host, COUNT, expected);
  for (size_t a = 0; a < ARRAYS; a++) {
    moved[a] = make_both(COUNT, a + 1, 0, &random);
    arrays[a] = (recsort_device_array){moved[a].device, moved[a].device, a + 1};
  }
  enqueue(sorter,
          (recsort_device_job){
              .count = COUNT, .records = records.device, .arrays = arrays, .array_count = ARRAYS});
  for (size_t a = 0; a < ARRAYS; a++) {
    expect_moved(&moved[a], moved[a].host, expected);
    drop_both(&moved[a], 0);
  }
  drop_both(&records, 0);
  recsort_device_sorter_destroy(sorter);
}

static void invalid_values_are_reported(void **state)
{
  enum { COUNT = 10, SIZE = 24 };
  recsort_device_sorter *const sorter =
      create(kinds[0].yaml, (recsort_device_limits){.most_records = COUNT});
  unsigned char records[COUNT * SIZE] = {0}, *const memory = make(2 * sizeof records);
  const recsort_device_job job = {.struct_size = sizeof job,
                                  .stream = stream,
                                  .count = COUNT,
                                  .records = memory,
                                  .sorted = memory + sizeof records};
  (void)state;
  for (int valid = 0; valid < 2; valid++) {
    records[2 * SIZE + 4] = valid ? 1 : 9; /* 9: neither x nor y */
    put(memory, records, sizeof records);
    assert_int_equal(recsort_device_sort(sorter, &job, NULL), RECSORT_OK);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    if (!valid) REFUSED(recsort_device_sorter_check(sorter, &error), RECSORT_INVALID_RECORD);
    assert_int_equal(recsort_device_sorter_check(sorter, NULL), RECSORT_OK);
  }
  drop(memory);
  recsort_device_sorter_destroy(sorter);
}

/* A point that is set later counts for later sorts. */
static void points_are_set_between_sorts(void **state)
{
  static const char yaml[] = "record: P\n" NATIVE "fields: [{name: x, type: float32}]\n"
                             "keys: [{distance: {fields: [x], from: eye}}]\n";
  const float xs[] = {0, 1, 2, 3};
  recsort_device_sorter *const sorter = create(yaml, (recsort_device_limits){.most_records = 4});
  float *const memory = make(sizeof xs);
  uint32_t *const order = make(sizeof xs), found[4];
  const recsort_device_job job = {.struct_size = sizeof job,
                                  .stream = stream,
                                  .count = 4,
                                  .records = memory,
                                  .permutation = order};
  (void)state;
  put(memory, xs, sizeof xs);
  REFUSED(recsort_device_sort(sorter, &job, &error), RECSORT_INVALID_ARGUMENT);
  for (int at = 0; at < 4; at++) {
    const double eye = at;
    recsort_error error = {0};
    if (recsort_device_sorter_set_parameter(sorter, "eye", &eye, 1, &error))
      fail_msg("%s", error.text);
    if (recsort_device_sort(sorter, &job, &error)) fail_msg("%s", error.text);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    get(found, order, sizeof found);
    assert_int_equal(found[0], at);
    assert_int_equal(found[3], at < 2 ? 3 : 0);
  }
  REFUSED(recsort_device_sorter_set_parameter(NULL, "eye", (double[]){0}, 1, &error),
          RECSORT_INVALID_ARGUMENT);
  drop(memory);
  drop(order);
  recsort_device_sorter_destroy(sorter);
}

/* The first records by a key that is computed, some of them as far on the other side. */
static void first_records_by_distance(void **state)
{
  enum { COUNT = 70000, AROUND = 250, HEAD = 8 };
  static const char yaml[] = "record: P\n" NATIVE "fields: [{name: x, type: float32}]\n"
                             "keys: [{distance: {fields: [x], from: [100]}}]\n";
  static const uint32_t nearest[] = {100, 99, 101, 98, 102, 97, 103};
  recsort_device_sorter *const sorter =
      create(yaml, (recsort_device_limits){.most_records = COUNT});
  float *const xs = malloc(COUNT * sizeof *xs), *const memory = make(COUNT * sizeof *xs);
  uint32_t *const order = make(HEAD * sizeof *order), found[HEAD];
  (void)state;
  assert_non_null(xs);
  for (size_t i = 0; i < COUNT; i++)
    xs[i] = i < AROUND ? (float)i : 1e9f;
  xs[AROUND] = 100;
  put(memory, xs, COUNT * sizeof *xs);
  enqueue(sorter, (recsort_device_job){
                      .count = COUNT, .records = memory, .permutation = order, .head = HEAD});
  get(found, order, sizeof found);
  assert_true(found[0] == nearest[0] && found[1] == AROUND);
  for (size_t i = 1; i + 1 < HEAD; i++)
    assert_int_equal(found[i + 1], nearest[i]);
  free(xs);
  drop(memory);
  drop(order);
  recsort_device_sorter_destroy(sorter);
}

#ifndef RS_REAL_GPU
/* ---- Failures ---- */

/* Each call of the runtime fails in turn: an error and no leak, and the next sort works. */
static void survives_failing_calls(void **state)
{
  enum { COUNT = 600 };
  (void)state;
  for (long fail_at = 1;; fail_at++) {
    recsort_device_sorter *sorter = NULL;
    recsort_error error = {0};
    uint32_t order[COUNT];
    standin_begin((standin_plan){0});
    cudaStream_t own;
    assert_int_equal(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking), cudaSuccess);
    unsigned char *const memory = make(COUNT * (kinds[0].size + 4));
    uint64_t random = 4;
    fill(0, memory, COUNT, &random);
    standin_begin((standin_plan){.fail_at = fail_at});
    const recsort_device_job job = {.struct_size = sizeof job,
                                    .stream = own,
                                    .count = COUNT,
                                    .records = memory,
                                    .sorted = memory,
                                    .permutation = memory + COUNT * kinds[0].size};
    recsort_status status = try_create(
        kinds[0].yaml, "cuda", (recsort_device_limits){.most_records = COUNT, .most_in_place = 24},
        &sorter, &error);
    if (!status) status = recsort_device_sort(sorter, &job, &error);
    const bool failed = status != RECSORT_OK;
    if (failed) assert_true(error.text[0] && error.status == status);
    if (sorter && failed) {
      assert_int_equal(recsort_device_sort(sorter, &job, &error), RECSORT_OK);
      memcpy(order, memory + COUNT * kinds[0].size, sizeof order);
      assert_true(order[0] < COUNT);
    }
    recsort_device_sorter_destroy(sorter);
    assert_int_equal(standin_look().misuses, 0);
    drop(memory);
    assert_int_equal(cudaStreamDestroy(own), cudaSuccess);
    assert_int_equal(standin_depth(), 0);
    if (!failed) break;
    assert_true(fail_at < 1000);
  }
}

/* Without a device there is a reason. */
static void no_device_is_explained(void **state)
{
  recsort_device_sorter *sorter = NULL;
  recsort_error error = {0};
  (void)state;
  standin_begin((standin_plan){.devices = -1});
  assert_int_equal(
      try_create(kinds[0].yaml, NULL, (recsort_device_limits){.most_records = 1}, &sorter, &error),
      RECSORT_PLUGIN_ERROR);
  assert_string_equal(error.text, "no plugin here sorts on a device; \"cuda\" cannot be used: "
                                  "no CUDA device was found");
}
#endif

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(sorts_as_the_host_does, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(has_memory_for_fewer, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(finds_the_first_records, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(segments_are_sorted_by_themselves, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(short_segments_are_sorted_in_tiles, open_stream,
                                      close_stream),
      cmocka_unit_test_setup_teardown(long_segments_are_reported, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(wrong_limits_are_refused, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(wrong_jobs_are_refused, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(many_arrays_move, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(invalid_values_are_reported, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(points_are_set_between_sorts, open_stream, close_stream),
      cmocka_unit_test_setup_teardown(first_records_by_distance, open_stream, close_stream),
#ifdef RS_REAL_GPU
      cmocka_unit_test_setup_teardown(many_records_ask_no_host, open_stream, close_stream),
#else
      cmocka_unit_test(survives_failing_calls),
      cmocka_unit_test(no_device_is_explained),
#endif
  };
#ifndef RS_REAL_GPU
  if (setenv("RECSORT_PLUGIN_PATH", RS_CUDA_PLUGIN, 1)) return 2;
#endif
  return cmocka_run_group_tests_name("resident", tests, NULL, NULL);
}
