/* Numbers in device memory, with values or without. Built twice: with the stand-in for the CUDA
 * runtime, which counts what a sort may not do; and, with RS_REAL_GPU, for a real one, where each
 * sort is captured in a graph, which runs twice, with other contents. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/device_memory.h"
#include "recsort/recsort.h"
#include "support/failing_allocator.h"
#include "support/random.h"
#include "support/refused.h"

#ifdef RS_REAL_GPU
enum { MOST = (1 << 21) + 24, MOST_IN_SEGMENTS = (3 << 17) + 24 };
static const size_t counts[] = {0, 1, 2, 3, 31, 1000, 2049, 16385, 16384, 50000, 100003};
#else
enum { MOST = 2500, MOST_IN_SEGMENTS = MOST };
static const size_t counts[] = {0, 1, 2, 3, 31, 32, 257, 600, 601, 1023, 1025, 2049, MOST};
#endif
enum { GUARD = 64, POISON = 0xa5, PATTERNS = 7 };

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

__extension__ typedef unsigned __int128 wide;

/* ---- What is sorted ---- */

static const struct {
  recsort_type type;
  unsigned width;
  bool is_signed;
  unsigned fraction; /* bits; 0: no float */
} types[] = {{RECSORT_UINT32, 32, false, 0},   {RECSORT_INT32, 32, true, 0},
             {RECSORT_FLOAT32, 32, true, 23},  {RECSORT_UINT64, 64, false, 0},
             {RECSORT_INT64, 64, true, 0},     {RECSORT_FLOAT64, 64, true, 52},
             {RECSORT_UINT128, 128, false, 0}, {RECSORT_INT128, 128, true, 0}};

/* What a case sorts: a job in short. */
typedef struct pairs_job {
  size_t count;
  recsort_order order;
  recsort_nan nan;
  unsigned begin_bit, end_bit; /* 0: all from begin_bit on */
  unsigned value_bits;         /* 0: no values */
  size_t segments;             /* 0: none. Else their offsets are `offsets` */
  bool told;                   /* how long the longest is */
} pairs_job;

enum { MOST_SEGMENTS = 6 };
static uint64_t offsets[MOST_SEGMENTS + 1];
static void *device_offsets;

/* How many offsets are not behind an element. */
static size_t offsets_up_to(const pairs_job *job, size_t i)
{
  size_t s = 0;
  while (job->segments && s <= job->segments && offsets[s] <= i)
    s++;
  return s;
}

static bool is_outside(const pairs_job *job, size_t i)
{
  const size_t s = offsets_up_to(job, i);
  return job->segments && (s == 0 || s > job->segments);
}

static wide load(const void *at, unsigned width)
{
  uint32_t narrow;
  uint64_t middle;
  wide all;
  if (width == 32) return memcpy(&narrow, at, 4), narrow;
  if (width == 64) return memcpy(&middle, at, 8), middle;
  return memcpy(&all, at, 16), all;
}

static void save(void *at, unsigned width, wide value)
{
  const uint32_t narrow = (uint32_t)value;
  const uint64_t middle = (uint64_t)value;
  memcpy(at,
         width == 32   ? (const void *)&narrow
         : width == 64 ? (const void *)&middle
                       : &value,
         width / 8);
}

static wide power(unsigned exponent)
{
  return (wide)1 << exponent;
}

/* The bits of a key that are compared, by arithmetic on its value: the definition that the library
 * is compared with. */
static wide rank_of(const pairs_job *job, unsigned t, wide key)
{
  const unsigned width = types[t].width, end = job->end_bit ? job->end_bit : width;
  const wide half = power(width - 1), most = half - 1 + half;
  const bool negative = types[t].is_signed && key >= half;
  wide place = key;
  if (types[t].fraction) {
    const wide size = key & (half - 1), infinity = half - power(types[t].fraction);
    const bool total = job->nan == RECSORT_NAN_TOTAL;
    place = negative ? half - 1 - size : half + size;
    if (!total && size == 0) place = half;
    if (job->order == RECSORT_DESCENDING) place = most - place;
    if (!total && size > infinity) place = job->nan == RECSORT_NAN_FIRST ? 0 : most;
  } else {
    if (types[t].is_signed) place = negative ? key - half : key + half;
    if (job->order == RECSORT_DESCENDING) place = most - place;
  }
  place >>= job->begin_bit;
  return end - job->begin_bit == 128 ? place : place & (power(end - job->begin_bit) - 1);
}

/* Bits at random; few values; all equal; ascending, descending, nearly ascending integers; for
 * floats also NaNs, infinities and both zeros. */
static wide value_at(unsigned t, unsigned pattern, size_t i, size_t count, uint64_t *random)
{
  const unsigned width = types[t].width;
  const uint64_t low = next_random(random), high = next_random(random);
  const wide any = (wide)high << 64 | low;
  const wide infinity = power(width - 1) - power(types[t].fraction);
  const wide odd[] = {0,
                      power(width - 1),
                      infinity,
                      infinity + 1,
                      infinity | 5 | power(width - 1),
                      infinity + power(width - 1),
                      1,
                      power(width - 1) | 1,
                      infinity - 1};
  switch (pattern) {
  case 0:
    return any;
  case 1:
    return low % 5 + ((wide)(high % 3) << (width / 2)) + ((wide)(high >> 5 & 1) << (width - 1));
  case 2:
    return 77;
  case 3:
    return i / 3;
  case 4:
    return (count - i) / 3;
  case 5:
    return low % 100 ? i / 2 : low % count;
  default:
    return types[t].fraction && low % 4 ? odd[high % COUNT_OF(odd)] : any;
  }
}

/* ---- Arrays ---- */

/* An array of the host and one of the device, with guards behind both. The device's begins `offset`
 * bytes behind what was allocated: it is only aligned to its elements. */
typedef struct both {
  unsigned char *host, *device;
  size_t size, offset;
} both;

/* What is between the guards on the device is not initialized, as tools can tell. */
static both make_empty(size_t size, size_t offset)
{
  unsigned char *const memory = make(size + offset + GUARD);
  both made = {malloc(size + GUARD), memory + offset, size, offset};
  assert_non_null(made.host);
  memset(made.host + size, POISON, GUARD);
  put(made.device + size, made.host + size, GUARD);
  return made;
}

static both make_both(size_t count, unsigned width, size_t offset, uint64_t *random)
{
  both made = make_empty(count * (width / 8), offset);
  fill_random(made.host, made.size, random);
  put(made.device, made.host, made.size);
  return made;
}

static void drop_both(both *array)
{
  free(array->host);
  drop(array->device - array->offset);
}

/* The device has the host's bytes. */
static bool is_same(const both *array, const unsigned char *device)
{
  unsigned char *const found = malloc(array->size + GUARD);
  assert_non_null(found);
  get(found, device, array->size + GUARD);
  const bool same = memcmp(found, array->host, array->size + GUARD) == 0;
  free(found);
  return same;
}

/* ---- The oracle ---- */

typedef struct place {
  wide rank;
  size_t from;
} place;

static unsigned byte_of(wide rank, unsigned byte)
{
  return (unsigned)(rank >> 8 * byte) & 255;
}

/* Moves the places, stably, to the order of one byte. */
static void order_by_byte(const place *from, size_t count, unsigned byte, const size_t *sizes,
                          place *to)
{
  size_t next[256] = {0};
  for (unsigned b = 1; b < 256; b++)
    next[b] = next[b - 1] + sizes[b - 1];
  for (size_t i = 0; i < count; i++)
    to[next[byte_of(from[i].rank, byte)]++] = from[i];
}

/* By counting, byte by byte from the lowest one; those that are the same in all ranks are left out.
 * For millions of keys qsort takes most of a test's time. */
static place *order_places(place *places, size_t count)
{
  static size_t sizes[sizeof(wide)][256];
  place *other = malloc((count + 1) * sizeof *other);
  assert_non_null(other);
  memset(sizes, 0, sizeof sizes);
  for (size_t i = 0; i < count; i++)
    for (unsigned byte = 0; byte < sizeof(wide); byte++)
      sizes[byte][byte_of(places[i].rank, byte)]++;
  for (unsigned byte = 0; count && byte < sizeof(wide); byte++) {
    if (sizes[byte][byte_of(places[0].rank, byte)] == count) continue;
    order_by_byte(places, count, byte, sizes[byte], other);
    place *const ordered = other;
    other = places;
    places = ordered;
  }
  free(other);
  return places;
}

/* Moves places in order, stably, to the order of their segments. */
static place *by_segments(const pairs_job *job, place *places)
{
  place *const to = malloc((job->count + 1) * sizeof *to);
  size_t done = 0;
  assert_non_null(to);
  for (size_t s = 0; s <= job->segments + 1; s++)
    for (size_t i = 0; i < job->count; i++)
      if (offsets_up_to(job, places[i].from) == s) to[done++] = places[i];
  assert_int_equal(done, job->count);
  free(places);
  return to;
}

static place *find_order(const pairs_job *job, unsigned t, const unsigned char *keys)
{
  place *places = malloc((job->count + 1) * sizeof *places);
  const unsigned width = types[t].width;
  assert_non_null(places);
  for (size_t i = 0; i < job->count; i++)
    places[i] =
        (place){is_outside(job, i) ? 0 : rank_of(job, t, load(keys + i * (width / 8), width)), i};
  places = order_places(places, job->count);
  if (job->segments) return by_segments(job, places);
  for (size_t i = 1; i < job->count; i++)
    assert_true(places[i - 1].rank < places[i].rank ||
                (places[i - 1].rank == places[i].rank && places[i - 1].from < places[i].from));
  return places;
}

/* Rearranges the host's elements; those of `from` NULL are positions. */
static void rearrange(const place *places, size_t count, unsigned width, const unsigned char *from,
                      unsigned char *to)
{
  for (size_t i = 0; i < count; i++)
    save(to + i * (width / 8), width,
         from ? load(from + places[i].from * (width / 8), width) : places[i].from);
}

/* ---- A case ---- */

static failing_allocator host_memory;

static recsort_status try_open(unsigned t, const pairs_job *job, const char *plugin,
                               const char *algorithm, recsort_sorter **sorter, recsort_error *error)
{
  const recsort_allocator hook = failing_hook(&host_memory);
  const recsort_options options = {.struct_size = sizeof options,
                                   .plugin = plugin,
                                   .algorithm = algorithm,
                                   .allocator = &hook,
                                   .on_device = true};
  const recsort_nan nan = types[t].fraction ? job->nan : (recsort_nan)0;
  recsort_schema *schema = NULL;
  if (recsort_schema_create_number(types[t].type, job->order, nan, NULL, &schema, error))
    fail_msg("%s", error->text);
  const recsort_status status = recsort_sorter_create(schema, &options, sorter, error);
  recsort_schema_destroy(schema);
  return status;
}

static const char *algorithm;

static recsort_sorter *open_sorter(unsigned t, const pairs_job *job)
{
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  if (try_open(t, job, NULL, algorithm, &sorter, &error)) fail_msg("%s", error.text);
  return sorter;
}

typedef struct shape {
  unsigned t, pattern;
  bool keys_in_place, values_in_place, no_keys, numbered;
} shape;

/* The arrays of a case; those out are not used in place. */
typedef struct arrays {
  both keys, keys_out, values, values_out, workspace;
} arrays;

static arrays make_arrays(const pairs_job *job, unsigned width, size_t bytes, uint64_t *random)
{
  const unsigned value = job->value_bits ? job->value_bits : 32;
  const size_t key = random_below(random, 3) * (width / 8),
               other = random_below(random, 3) * (value / 8);
  return (arrays){make_both(job->count, width, key, random),
                  make_both(job->count, width, 2 * key, random),
                  make_both(job->count, value, other, random),
                  make_both(job->count, value, 2 * other, random), make_both(bytes, 8, 0, random)};
}

static void drop_arrays(arrays *a)
{
  drop_both(&a->keys);
  drop_both(&a->keys_out);
  drop_both(&a->values);
  drop_both(&a->values_out);
  drop_both(&a->workspace);
}

/* Fresh keys and values. */
static void fill(const pairs_job *job, const shape *s, arrays *a, uint64_t *random)
{
  const unsigned width = types[s->t].width;
  for (size_t i = 0; i < job->count; i++)
    save(a->keys.host + i * (width / 8), width, value_at(s->t, s->pattern, i, job->count, random));
  fill_random(a->values.host, a->values.size, random);
  put(a->keys.device, a->keys.host, a->keys.size);
  put(a->values.device, a->values.host, a->values.size);
}

static void expect(const pairs_job *job, const shape *s, arrays *a)
{
  const unsigned width = types[s->t].width;
  place *const places = find_order(job, s->t, a->keys.host);
  const unsigned char guard = POISON;
  unsigned char last;
  if (!s->no_keys) rearrange(places, job->count, width, a->keys.host, a->keys_out.host);
  if (job->value_bits)
    rearrange(places, job->count, job->value_bits, s->numbered ? NULL : a->values.host,
              a->values_out.host);
  const bool right =
      is_same(&a->keys_out, s->keys_in_place ? a->keys.device : a->keys_out.device) &&
      is_same(&a->values_out, s->values_in_place ? a->values.device : a->values_out.device) &&
      (s->keys_in_place || is_same(&a->keys, a->keys.device)) &&
      (s->values_in_place || is_same(&a->values, a->values.device));
  get(&last, a->workspace.device + a->workspace.size, 1);
  if (!right || last != guard)
    fail_msg("%zu keys of type %u, pattern %u, bits [%u, %u), order %d, nan %d, values of %u bits, "
             "in place %d %d, keys wanted %d, numbered %d%s",
             job->count, (unsigned)types[s->t].type, s->pattern, job->begin_bit, job->end_bit,
             (int)job->order, (int)job->nan, job->value_bits, s->keys_in_place, s->values_in_place,
             !s->no_keys, s->numbered, right ? ": wrote behind the workspace" : "");
  free(places);
}

/* The job of the case; `array` holds its values. */
static recsort_job full_job(const pairs_job *job, const shape *s, const arrays *a,
                            recsort_array *array)
{
  recsort_job full = RECSORT_JOB_INIT;
  const bool values = job->value_bits && !s->numbered;
  void *const values_out = s->values_in_place ? a->values.device : a->values_out.device;
  *array = (recsort_array){a->values.device, values_out, job->value_bits / 8};
  full.stream = stream;
  full.count = job->count;
  full.records = a->keys.device;
  full.first_bit = job->begin_bit;
  full.bits = job->end_bit ? job->end_bit - job->begin_bit : 0;
  full.sorted = s->no_keys ? NULL : s->keys_in_place ? a->keys.device : a->keys_out.device;
  full.arrays = values ? array : NULL;
  full.array_count = values;
  full.permutation = s->numbered && job->value_bits ? values_out : NULL;
  full.index_bits = s->numbered ? job->value_bits : 0;
  if (job->segments) {
    full.parts = RECSORT_SEGMENTS;
    full.offsets = device_offsets;
    full.part_count = job->segments;
    for (size_t i = 0; i < job->segments && job->told; i++)
      if (offsets[i + 1] - offsets[i] > full.longest_part)
        full.longest_part = offsets[i + 1] - offsets[i];
  }
  full.workspace = a->workspace.device;
  full.workspace_size = a->workspace.size;
  return full;
}

/* A sort may neither wait nor allocate. Runs it; a graph runs again with other contents. */
static void run(recsort_sorter *sorter, const pairs_job *job, const shape *s, arrays *a,
                uint64_t *random)
{
  recsort_error error = {0};
  recsort_array array;
  recsort_job full = full_job(job, s, a, &array);
  uint32_t *status = NULL;
  assert_int_equal(cudaMallocHost((void **)&status, sizeof *status), cudaSuccess);
  *status = POISON;
  if (random_below(random, 2)) full.status = status;
#ifdef RS_REAL_GPU
  begin_capture();
  if (recsort_run(sorter, &full, 1, &error)) fail_msg("%s", error.text);
  const cudaGraphExec_t graph = end_capture();
  for (int round = 0; round < 1 + captures(); round++) {
    if (round) fill(job, s, a, random);
    replay(graph);
    expect(job, s, a);
  }
  drop_graph(graph);
#else
  const standin_state before = standin_look();
  if (recsort_run(sorter, &full, 1, &error)) fail_msg("%s", error.text);
  const standin_state after = standin_look();
  assert_int_equal(after.waits, before.waits);
  assert_int_equal(after.blocks, before.blocks);
  assert_int_equal(after.allocations, before.allocations);
  assert_int_equal(after.streams, before.streams);
  assert_int_equal(after.misuses, before.misuses);
  assert_int_equal(standin_depth(), 0);
  expect(job, s, a);
#endif
  assert_int_equal(*(volatile uint32_t *)status, full.status ? RECSORT_OK : POISON);
  assert_int_equal(cudaFreeHost(status), cudaSuccess);
}

static size_t workspace_of(recsort_sorter *sorter, const recsort_job *job)
{
  recsort_error error = {0};
  recsort_needs needs = RECSORT_NEEDS_INIT;
  if (recsort_plan(sorter, job, 1, &needs, &error)) fail_msg("%s", error.text);
  return needs.device;
}

/* The workspace for `most` pairs; of addresses only matters which are equal. */
static size_t workspace_for(recsort_sorter *sorter, const pairs_job *job, const shape *s,
                            size_t most)
{
  static unsigned char somewhere[5 * 64];
  recsort_array array;
  arrays none = {0};
  both *const each[] = {&none.keys, &none.keys_out, &none.values, &none.values_out};
  for (size_t i = 0; i < COUNT_OF(each); i++)
    each[i]->device = somewhere + -(uintptr_t)somewhere % 64 + 64 * i;
  recsort_job full = full_job(job, s, &none, &array);
  full.count = most;
  full.workspace = NULL;
  return workspace_of(sorter, &full);
}

/* With a workspace for `most` pairs. */
static void check_case(pairs_job job, const shape *s, size_t most, uint64_t *random)
{
  recsort_sorter *const sorter = open_sorter(s->t, &job);
  arrays a = make_arrays(&job, types[s->t].width, workspace_for(sorter, &job, s, most), random);
  fill(&job, s, &a, random);
  run(sorter, &job, s, &a, random);
  drop_arrays(&a);
  recsort_sorter_destroy(sorter);
}

/* ---- Tests ---- */

/* All bits; those below; those above; some between, of 1 to 64. */
static void choose_range(pairs_job *job, unsigned t, unsigned way, uint64_t *random)
{
  const unsigned width = types[t].width, some = 1 + (unsigned)random_below(random, width - 1);
  job->begin_bit = way == 2 ? some : way == 3 ? (unsigned)random_below(random, width) : 0;
  const unsigned left = width - job->begin_bit;
  job->end_bit = way == 1 ? some
                 : way == 3
                     ? job->begin_bit + 1 + (unsigned)random_below(random, left < 64 ? left : 64)
                     : 0;
}

static void choose_values(pairs_job *job, shape *s, unsigned way)
{
  static const unsigned bits[] = {0, 32, 64, 32, 64, 32, 64, 128, 128};
  job->value_bits = bits[way];
  s->numbered = way == 3 || way == 4;
  s->values_in_place = way == 5 || way == 6 || way == 8;
}

/* Each type with each range, values and place of keys; the rest at random. */
static void sorts_stably(void **state)
{
  enum { RANGES = 4, VALUES = 9, KEYS = 3, ORDERS = 2, NANS = 3 };
  uint64_t random = 1;
  size_t c = 0;
  (void)state;
  for (unsigned t = 0; t < COUNT_OF(types); t++)
    for (unsigned range = 0; range < RANGES; range++)
      for (unsigned values = 0; values < VALUES; values++)
        for (unsigned keys = 0; keys < KEYS; keys++) {
          const size_t count = at_most(counts[c++ % COUNT_OF(counts)]);
          pairs_job job = {.count = count,
                           .order = (recsort_order)random_below(&random, ORDERS),
                           .nan = (recsort_nan)random_below(&random, NANS)};
          shape s = {.t = t,
                     .pattern = (unsigned)random_below(&random, PATTERNS),
                     .keys_in_place = keys == 1,
                     .no_keys = keys == 2};
          choose_range(&job, t, range, &random);
          choose_values(&job, &s, values);
          if (s.no_keys && !job.value_bits) s.no_keys = false;
          check_case(job, &s, count, &random);
        }
}

/* Floats: each order of NaNs and of numbers, in place and not. */
static void orders_floats(void **state)
{
  uint64_t random = 2;
  (void)state;
  for (unsigned which = 0; which < 24; which++) {
    const shape s = {.t = which % 2 ? 5 : 2, .pattern = 6, .keys_in_place = which / 2 % 2};
    check_case((pairs_job){.count = 700,
                           .order = (recsort_order)(which / 4 % 2),
                           .nan = (recsort_nan)(which / 8)},
               &s, 700, &random);
  }
}

/* Keys that are in order already, or reversed, or nearly in order: what a graph decides upon. */
static void leaves_keys_in_order(void **state)
{
  uint64_t random = 3;
  (void)state;
  for (unsigned which = 0; which < 24; which++) {
    const shape s = {.t = which % COUNT_OF(types),
                     .pattern = 3 + which % 3,
                     .keys_in_place = which % 2,
                     .values_in_place = which / 2 % 2};
    const size_t count = at_most(MOST - which);
    check_case((pairs_job){.count = count,
                           .value_bits = which % 4 < 2 ? 32 : 64,
                           .nan = RECSORT_NAN_TOTAL},
               &s, count, &random);
  }
}

static void has_memory_for_fewer(void **state)
{
  uint64_t random = 4;
  (void)state;
  for (unsigned round = 0; round < 30; round++) {
    const size_t most = 1 + random_below(&random, at_most(MOST) / (round % 2 ? 1 : 100));
    pairs_job job = {.count = 1 + random_below(&random, most), .value_bits = round % 3 ? 64 : 128};
    const shape s = {
        .t = round % COUNT_OF(types), .keys_in_place = round & 8, .values_in_place = true};
    choose_range(&job, s.t, round % 4, &random);
    check_case(job, &s, most, &random);
  }
}

/* Pairs in segments that are too long for a block: random ones, of which some may be empty. In one
 * round of twelve they are so many that they are carried even if nobody tells how long the longest
 * is. */
static void sorts_segments(void **state)
{
  uint64_t random = 5;
  (void)state;
  device_offsets = make(sizeof offsets);
  for (unsigned round = 0; round < 144; round++) {
    const size_t all = random_below(&random, 12) ? MOST_IN_SEGMENTS : MOST;
    const size_t most = at_most(round % 4 ? all : all / 3);
    pairs_job job = {.count = round % 3 ? most : 1 + random_below(&random, most),
                     .order = (recsort_order)(round / 8 % 2),
                     .nan = (recsort_nan)random_below(&random, 3),
                     .segments = 1 + random_below(&random, MOST_SEGMENTS),
                     .told = round / 2 % 2};
    shape s = {.t = round % 6, /* with keys of 128 bits there is no room for a segment's number */
               .pattern = (unsigned)random_below(&random, PATTERNS),
               .keys_in_place = round / 4 % 2};
    choose_values(&job, &s, round % 9);
    for (size_t i = 0; i <= job.segments; i++) {
      size_t at = i;
      const uint64_t offset = random_below(&random, job.count + 1);
      for (; at > 0 && offsets[at - 1] > offset; at--)
        offsets[at] = offsets[at - 1];
      offsets[at] = offset;
    }
    put(device_offsets, offsets, sizeof offsets);
    check_case(job, &s, most, &random);
  }
  drop(device_offsets);
}

/* Each algorithm, with keys that it reads where they are, and with others. */
static void sorts_by_each_algorithm(void **state)
{
  static const char *const names[] = {"merge",   "rank",   "rank-sm8",     "rank-sm9",
                                      "rank-sm", "corank", "corank-tiled", "corank-circular"};
  uint64_t random = 8;
  (void)state;
  for (unsigned n = 0; n < COUNT_OF(names); n++) {
    algorithm = names[n];
    for (unsigned which = 0; which < 6; which++) {
      const shape s = {.t = which, .pattern = 1, .keys_in_place = which % 2};
      check_case((pairs_job){.count = 1025 + n, .value_bits = 32}, &s, 1025 + n, &random);
    }
  }
  algorithm = NULL;
}

/* ---- All results at once ---- */

/* Places as integers of `width` bits. */
static void expect_places(const both *at, const place *places, size_t count, unsigned width)
{
  rearrange(places, count, width, NULL, at->host);
  assert_true(is_same(at, at->device));
}

/* Each with values, in place or not, beside other arrays, the permutation, and encoded keys. */
static void writes_all_that_is_wanted(void **state)
{
  enum { ROUNDS = 48, ODD = 3 };
  uint64_t random = 9;
  (void)state;
  for (unsigned round = 0; round < ROUNDS; round++) {
    const unsigned t = round % COUNT_OF(types), width = types[t].width, index = round & 8 ? 64 : 32,
                   value = round & 1 ? 64 : 32;
    pairs_job job = {.count = at_most(counts[round % COUNT_OF(counts)]),
                     .order = (recsort_order)(round / 3 % 2),
                     .value_bits = value};
    const shape s = {.t = t,
                     .pattern = (unsigned)random_below(&random, PATTERNS),
                     .keys_in_place = round & 16,
                     .values_in_place = round & 4};
    choose_range(&job, t, round % 4, &random);
    recsort_sorter *const sorter = open_sorter(t, &job);
    arrays a = make_arrays(&job, width, 0, &random);
    both order = make_both(job.count, index, 0, &random),
         codes = make_both(job.count, width, 0, &random),
         odd = make_both(ODD * job.count, 8, 1, &random),
         odd_to = make_both(ODD * job.count, 8, 2, &random),
         four = make_both(job.count, 32, 0, &random);
    recsort_array more[3];
    recsort_job full = full_job(&job, &s, &a, &more[1]);
    fill(&job, &s, &a, &random);
    more[0] = (recsort_array){odd.device, round & 2 ? odd.device : odd_to.device, ODD};
    more[2] = (recsort_array){four.device, four.device, 4};
    full.arrays = more;
    full.array_count = 3;
    full.permutation = order.device;
    full.index_bits = index;
    full.keys_out = codes.device;
    full.workspace_size = workspace_of(sorter, &full);
    full.workspace = make(full.workspace_size + 1);
    assert_int_equal(recsort_run(sorter, &full, 1, NULL), RECSORT_OK);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    place *const places = find_order(&job, t, a.keys.host);
    pairs_job all = job;
    all.begin_bit = all.end_bit = 0;
    for (size_t i = 0; i < job.count; i++)
      save(codes.host + i * (width / 8), width,
           rank_of(&all, t, load(a.keys.host + places[i].from * (width / 8), width)));
    assert_true(is_same(&codes, codes.device));
    expect_places(&order, places, job.count, index);
    unsigned char *const moved = malloc(four.size + 1);
    assert_non_null(moved);
    rearrange(places, job.count, 32, four.host, moved);
    memcpy(four.host, moved, four.size);
    free(moved);
    assert_true(is_same(&four, four.device));
    both *const to = round & 2 ? &odd : &odd_to;
    unsigned char *const from = malloc(odd.size + 1);
    assert_non_null(from);
    memcpy(from, odd.host, odd.size);
    for (size_t i = 0; i < job.count; i++)
      memcpy(to->host + i * ODD, from + places[i].from * ODD, ODD);
    free(from);
    assert_true(is_same(to, to->device));
    free(places);
    expect(&job, &s, &a);
    drop(full.workspace);
    drop_arrays(&a);
    drop_both(&order);
    drop_both(&codes);
    drop_both(&odd);
    drop_both(&odd_to);
    drop_both(&four);
    recsort_sorter_destroy(sorter);
  }
}

/* What is refused changes nothing. */
static void wrong_jobs_are_refused(void **state)
{
  uint64_t random = 5;
  const pairs_job small = {.count = 100, .value_bits = 32};
  const shape s = {.t = 2};
  recsort_sorter *const sorter = open_sorter(s.t, &small);
  const size_t bytes = workspace_for(sorter, &small, &s, small.count);
  arrays a = make_arrays(&small, 32, bytes, &random);
  recsort_array values;
  const recsort_job good = full_job(&small, &s, &a, &values);
  (void)state;
  memset(a.workspace.host, 1, bytes);
  put(a.workspace.device, a.workspace.host, bytes);
#define WRONG(member, value, why)                                                                  \
  do {                                                                                             \
    recsort_job job = good;                                                                        \
    recsort_error error = {0};                                                                     \
    job.member = value;                                                                            \
    assert_int_equal(recsort_run(sorter, &job, 1, &error), RECSORT_INVALID_ARGUMENT);              \
    assert_string_equal(error.text, why);                                                          \
  } while (0)
#define WRONG_VALUES(in, out, why) WRONG(arrays, (&(recsort_array){in, out, sizeof(uint32_t)}), why)
  WRONG(first_bit, 32, "bits [32, 32 + 0) are not all in a key of 32");
  WRONG(bits, 33, "bits [0, 0 + 33) are not all in a key of 32");
  WRONG(records, NULL, "records must not be NULL");
  WRONG(sorted, a.keys.device + 4, "records and sorted overlap");
  WRONG(records, a.keys_out.device + 396, "records and sorted overlap");
  WRONG(sorted, a.values.device, "arrays[0].from and sorted overlap");
  WRONG(sorted, a.workspace.device, "sorted and workspace overlap");
  WRONG_VALUES(a.values.device, a.values.device + 4, "arrays[0].from and arrays[0].to overlap");
  WRONG_VALUES(a.values.device, a.keys_out.device, "sorted and arrays[0].to overlap");
  WRONG_VALUES(a.values.device, a.keys.device, "records and arrays[0].to overlap");
  WRONG_VALUES(a.workspace.device + bytes - 4, a.values_out.device,
               "arrays[0].from and workspace overlap");
#undef WRONG
  recsort_job job = good;
  job.workspace_size = 256;
  REFUSED(recsort_run(sorter, &job, 1, &error), RECSORT_PLUGIN_ERROR);
  assert_true(is_same(&a.keys, a.keys.device) && is_same(&a.keys_out, a.keys_out.device));
  assert_true(is_same(&a.values, a.values.device) && is_same(&a.values_out, a.values_out.device));
  assert_true(is_same(&a.workspace, a.workspace.device));
  job = good;
  job.arrays = &(recsort_array){job.records, values.to, sizeof(uint32_t)}; /* both are only read */
  assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
  job = good;
  job.count = 0;
  job.workspace = NULL;
  job.workspace_size = 0;
  assert_int_equal(recsort_run(sorter, &job, 1, NULL), RECSORT_OK);
  assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
  drop_arrays(&a);
  recsort_sorter_destroy(sorter);
}

/* ---- Threads ---- */

enum { THREADS = 4, SORTS = 6, SMALL = 1500 };

typedef struct worker {
  pthread_t thread;
  cudaStream_t stream;
  recsort_sorter *sorter;
  arrays arrays;
  pairs_job job;
  unsigned failed;
} worker;

static const shape shared = {.t = 2, .pattern = 1, .keys_in_place = true};

static void *sort_often(void *argument)
{
  worker *const w = argument;
  recsort_array none;
  recsort_job job = full_job(&w->job, &shared, &w->arrays, &none);
  job.stream = w->stream;
  for (unsigned i = 0; i < SORTS; i++)
    w->failed += recsort_run(w->sorter, &job, 1, NULL) != RECSORT_OK;
  return NULL;
}

/* A sorter for each of several threads, with a stream of its own. */
static void threads_sort_at_once(void **state)
{
  uint64_t random = 6;
  worker workers[THREADS];
  (void)state;
  for (unsigned i = 0; i < THREADS; i++) {
    worker *const w = &workers[i];
    *w = (worker){.job = {.count = SMALL + i}};
    w->sorter = open_sorter(shared.t, &w->job);
    w->arrays =
        make_arrays(&w->job, 32, workspace_for(w->sorter, &w->job, &shared, w->job.count), &random);
    fill(&w->job, &shared, &w->arrays, &random);
    assert_int_equal(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking), cudaSuccess);
  }
  for (unsigned i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&workers[i].thread, NULL, sort_often, &workers[i]), 0);
  for (unsigned i = 0; i < THREADS; i++) {
    worker *const w = &workers[i];
    assert_int_equal(pthread_join(w->thread, NULL), 0);
    assert_int_equal(w->failed, 0);
    assert_int_equal(cudaStreamSynchronize(w->stream), cudaSuccess);
    expect(&w->job, &shared, &w->arrays);
    assert_int_equal(cudaStreamDestroy(w->stream), cudaSuccess);
    drop_arrays(&w->arrays);
    recsort_sorter_destroy(w->sorter);
  }
}

#ifndef RS_REAL_GPU
/* ---- Failures ---- */

/* Each call of the runtime fails in turn: an error and no leak. */
static void survives_failing_calls(void **state)
{
  enum { COUNT = 700 };
  const shape s = {.t = 2, .pattern = 6, .keys_in_place = true, .values_in_place = true};
  uint64_t random = 7;
  (void)state;
  for (long fail_at = 1;; fail_at++) {
    recsort_error error = {0};
    recsort_needs needs = RECSORT_NEEDS_INIT;
    recsort_sorter *sorter = NULL;
    recsort_array array;
    const pairs_job job = {.count = COUNT, .value_bits = 64};
    standin_begin((standin_plan){0});
    assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    arrays a = make_arrays(&job, 32, 1 << 20, &random);
    fill(&job, &s, &a, &random);
    const recsort_job full = full_job(&job, &s, &a, &array);
    standin_begin((standin_plan){.fail_at = fail_at});
    recsort_status status = try_open(s.t, &job, "cuda", NULL, &sorter, &error);
    if (!status) status = recsort_plan(sorter, &full, 1, &needs, &error);
    assert_true(needs.device < a.workspace.size);
    if (!status) status = recsort_run(sorter, &full, 1, &error);
    if (status) assert_true(error.text[0] && error.status == status);
    if (!status) expect(&job, &s, &a);
    recsort_sorter_destroy(sorter);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
    assert_int_equal(standin_look().misuses, 0);
    assert_int_equal(standin_look().streams, 0);
    assert_int_equal(standin_depth(), 0);
    drop_arrays(&a);
    assert_int_equal(standin_look().blocks, 0);
    if (!status) break;
    assert_true(fail_at < 1000);
  }
}
#endif

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_stream, close_stream)
  const struct CMUnitTest tests[] = {
      TEST(sorts_stably),
      TEST(orders_floats),
      TEST(leaves_keys_in_order),
      TEST(has_memory_for_fewer),
      TEST(sorts_segments),
      TEST(sorts_by_each_algorithm),
      TEST(wrong_jobs_are_refused),
      TEST(threads_sort_at_once),
      TEST(writes_all_that_is_wanted),
#ifndef RS_REAL_GPU
      cmocka_unit_test(survives_failing_calls),
#endif
  };
#ifndef RS_REAL_GPU
  if (setenv("RECSORT_PLUGIN_PATH", RS_CUDA_PLUGIN, 1)) return 2;
#endif
  choose_tests();
  return cmocka_run_group_tests_name("pairs", tests, NULL, NULL);
}
