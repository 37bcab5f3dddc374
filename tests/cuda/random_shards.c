/* random_shards - a program that sorts random records, of random layouts and by random keys, which
 * are spread over up to 16 shards on all devices, and compares each byte with what an order of
 * values makes of it (fuzz/drawn_schema.h). Built twice: with the stand-in for the CUDA runtime
 * and, with RS_REAL_GPU, for real devices.
 *
 * Usage: random_shards JOBS [SEED]
 *
 * In some jobs devices cannot access each other's memory. In some, there is no memory left on a
 * device: then the sort may fail, and nothing has changed. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>

#include "cuda/device_memory.h"
#include "fuzz/drawn_schema.h"
#include "support/random.h"

enum { MOST_SHARDS = 16, GUARD = 32, POISON = 0xa5, MOST_DRAWN = 48 };
#ifdef RS_REAL_GPU
enum { FEW = 5000, MANY = 300000 };
#else
enum { FEW = 300, MANY = 3000 };
#endif

typedef struct trial {
  uint64_t random;
  uint8_t drawn[MOST_DRAWN];
  drawing d;
  drawn_schema schema;
  recsort_sorter *sorter;
  size_t count; /* records */
  uint8_t *records, *expected;
  size_t shards, counts[MOST_SHARDS], after[MOST_SHARDS], offsets[MOST_SHARDS];
  int devices[MOST_SHARDS];
  uint8_t *memory[MOST_SHARDS];
  recsort_job jobs[MOST_SHARDS];
} trial;

static struct {
  size_t jobs, records, refused, apart, without_memory;
} done;

static int device_count(void)
{
  int count = 0;
  EXPECT(cudaGetDeviceCount(&count) == cudaSuccess);
  return count;
}

static uint64_t below(trial *t, uint64_t end)
{
  return random_below(&t->random, end);
}

static void use(int device)
{
  EXPECT(cudaSetDevice(device) == cudaSuccess);
}

/* ---- What is sorted ---- */

static void set_parameters(trial *t)
{
  for (size_t i = 0; i < t->schema.computed_count; i++) {
    const computed *const c = &t->schema.computed[i];
    if (c->parameter[0])
      (void)recsort_sorter_set_parameter(t->sorter, c->parameter, c->origin, c->count, NULL);
  }
}

/* Makes a sorter for a schema that is drawn. Returns false if no device sorts by its keys. */
static bool make_sorter(trial *t)
{
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = "cuda", .on_device = true};
  recsort_schema *schema = NULL;
  recsort_error error = {0};
  memset(&t->schema, 0, sizeof t->schema);
  fill_random(t->drawn, sizeof t->drawn, &t->random);
  t->d = begin_drawing(t->drawn, sizeof t->drawn);
  draw_schema(&t->schema, &t->d);
  t->schema.chosen = t->schema.keys[0];
  t->schema.chosen_count = t->schema.key_counts[0];
  if (recsort_schema_create(&t->schema.desc, NULL, &schema, &error)) return false;
  const recsort_status status = recsort_sorter_create(schema, &options, &t->sorter, &error);
  recsort_schema_destroy(schema);
  if (status) return false;
  set_parameters(t);
  return true;
}

/* Few kinds of records, so that there are ties, some of them with another byte. */
static void fill_records(trial *t)
{
  const size_t size = t->schema.record_size, kinds = 1 + (size_t)below(t, 40);
  const uint64_t noise = 1 + below(t, 8);
  uint8_t *const models = malloc(kinds * size);
  EXPECT(models);
  generate_bytes(&t->d, models, kinds * size);
  for (size_t i = 0; i < t->count; i++) {
    uint8_t *const record = t->records + i * size;
    memcpy(record, models + below(t, kinds) * size, size);
    if (below(t, noise) == 0) generate_bytes(&t->d, record + below(t, size), 1);
    for (size_t e = 0; e < t->schema.enum_count; e++)
      give_name(&t->schema.enums[e], record);
  }
  free(models);
}

/* By merges of neighbours, as the C library's sort is not stable. */
static void expect(trial *t)
{
  const size_t size = t->schema.record_size;
  size_t *from = malloc((t->count + 1) * sizeof *from), *to = malloc((t->count + 1) * sizeof *to);
  EXPECT(from && to);
  for (size_t i = 0; i < t->count; i++)
    from[i] = i;
  for (size_t width = 1; width < t->count; width *= 2) {
    for (size_t first = 0; first < t->count; first += 2 * width) {
      const size_t middle = first + width < t->count ? first + width : t->count;
      const size_t end = middle + width < t->count ? middle + width : t->count;
      for (size_t i = first, j = middle, k = first; k < end; k++)
        to[k] = j == end || (i < middle &&
                             compare_records(&t->schema, false, t->records + from[i] * size,
                                             t->records + from[j] * size) <= 0)
                    ? from[i++]
                    : from[j++];
    }
    size_t *const other = from;
    from = to;
    to = other;
  }
  for (size_t i = 0; i < t->count; i++)
    memcpy(t->expected + i * size, t->records + from[i] * size, size);
  free(from);
  free(to);
}

/* ---- Shards ---- */

/* Divides all records at random; many shards have none. */
static void divide(trial *t, size_t *counts)
{
  size_t left = t->count;
  memset(counts, 0, MOST_SHARDS * sizeof *counts);
  for (size_t s = 0; s + 1 < t->shards; s++) {
    const size_t share = 2 * t->count / t->shards + 1, some = (size_t)below(t, share);
    if (below(t, 5) > 0) counts[s] = some < left ? some : left;
    left -= counts[s];
  }
  counts[t->shards - 1] = left;
}

static uint8_t *records_of(const trial *t, size_t s)
{
  return t->memory[s] + t->offsets[s];
}

static size_t room_of(const trial *t, size_t s)
{
  return (t->counts[s] > t->after[s] ? t->counts[s] : t->after[s]) * t->schema.record_size;
}

static uint8_t *make_poisoned(size_t bytes)
{
  uint8_t *const made = make(bytes), *const poison = malloc(bytes);
  EXPECT(poison);
  memset(poison, POISON, bytes);
  put(made, poison, bytes);
  free(poison);
  return made;
}

static void put_records(const trial *t)
{
  const size_t size = t->schema.record_size;
  for (size_t s = 0, at = 0; s < t->shards; at += t->counts[s++]) {
    use(t->devices[s]);
    put(records_of(t, s), t->records + at * size, t->counts[s] * size);
  }
}

static void make_shards(trial *t)
{
  const bool balance = below(t, 3) == 0;
  t->shards = 2 + (size_t)below(t, MOST_SHARDS - 1);
  divide(t, t->counts);
  memcpy(t->after, t->counts, sizeof t->after);
  if (balance && t->count) divide(t, t->after);
  for (size_t s = 0; s < t->shards; s++) {
    t->devices[s] = (int)below(t, (uint64_t)device_count());
    t->offsets[s] = below(t, 2) ? (size_t)below(t, 17) : 0;
    use(t->devices[s]);
    t->memory[s] = make_poisoned(t->offsets[s] + room_of(t, s) + GUARD);
    t->jobs[s] = (recsort_job){.struct_size = sizeof(recsort_job),
                               .count = t->counts[s],
                               .records = records_of(t, s),
                               .sorted = records_of(t, s),
                               .head = balance ? t->after[s] : 0,
                               .device = t->devices[s]};
  }
  put_records(t);
}

/* True if keys are too wide for a device. */
static bool equip(trial *t)
{
  recsort_needs needs[MOST_SHARDS];
  recsort_error error = {0};
  for (size_t s = 0; s < t->shards; s++)
    needs[s] = (recsort_needs){.struct_size = sizeof *needs};
  const recsort_status status = recsort_plan(t->sorter, t->jobs, t->shards, needs, &error);
  EXPECT(status == RECSORT_OK ||
         (status == RECSORT_PLUGIN_ERROR && strstr(error.text, "128 bits")));
  for (size_t s = 0; s < t->shards && !status; s++) {
    use(t->devices[s]);
    t->jobs[s].workspace = make(needs[s].device + 1);
    t->jobs[s].workspace_size = needs[s].device;
  }
  return status != RECSORT_OK;
}

static void drop_shards(trial *t)
{
  for (size_t s = 0; s < t->shards; s++) {
    use(t->devices[s]);
    drop(t->memory[s]);
    if (t->jobs[s].workspace) drop(t->jobs[s].workspace);
  }
}

/* The shards have those records, and nothing was written around them. */
static bool are(const trial *t, const uint8_t *records, const size_t *counts)
{
  const size_t size = t->schema.record_size;
  bool same = true;
  for (size_t s = 0, at = 0; s < t->shards && same; at += counts[s++]) {
    const size_t bytes = t->offsets[s] + room_of(t, s) + GUARD;
    uint8_t *const found = malloc(bytes);
    EXPECT(found);
    get(found, t->memory[s], bytes);
    same = memcmp(found + t->offsets[s], records + at * size, counts[s] * size) == 0;
    for (size_t i = 0; i < t->offsets[s]; i++)
      same = same && found[i] == POISON;
    for (size_t i = bytes - GUARD; i < bytes; i++)
      same = same && found[i] == POISON;
    free(found);
  }
  return same;
}

/* ---- What devices refuse ---- */

static void set_access(trial *t, bool on)
{
  for (int a = 0; a < device_count(); a++)
    for (int b = 0; b < device_count(); b++) {
      if (a == b || (!on && below(t, 2))) continue;
      use(a);
#ifdef RS_REAL_GPU
      (void)(on ? cudaDeviceEnablePeerAccess(b, 0) : cudaDeviceDisablePeerAccess(b));
      (void)cudaGetLastError();
#endif
    }
}

enum { MOST_TAKEN = 64 };

/* Takes all memory of a device. */
static size_t take_memory(int device, void **blocks)
{
  size_t count = 0;
  use(device);
#ifdef RS_REAL_GPU
  size_t left = 0, all = 0;
  EXPECT(cudaMemGetInfo(&left, &all) == cudaSuccess);
  for (size_t size = left; size > 4096 && count < MOST_TAKEN; size -= size / 8)
    while (count < MOST_TAKEN && cudaMalloc(&blocks[count], size) == cudaSuccess)
      count++;
  (void)cudaGetLastError();
#else
  (void)blocks;
#endif
  return count;
}

static void give_back(int device, void **blocks, size_t count)
{
  use(device);
  for (size_t i = 0; i < count; i++)
    drop(blocks[i]);
}

/* ---- A job ---- */

static recsort_status sort(trial *t, recsort_error *error)
{
  use(0);
  return recsort_run(t->sorter, t->jobs, t->shards, error);
}

static void fail_job(size_t number, const trial *t, const char *why)
{
  (void)fprintf(stderr, "job %zu: %s: %zu records of %zu bytes, %zu shards\n", number, why,
                t->count, t->schema.record_size, t->shards);
  exit(1);
}

static void check(size_t number, trial *t)
{
  const bool apart = number % 4 == 1, without_memory = number % 16 == 2;
  void *blocks[MOST_TAKEN];
  const int device = (int)below(t, (uint64_t)device_count());
  recsort_error error = {0};
  recsort_status status = RECSORT_OK;
  if (without_memory) {
    const size_t taken = take_memory(device, blocks);
    status = sort(t, &error);
    give_back(device, blocks, taken);
    if (status && !are(t, t->records, t->counts)) fail_job(number, t, "a failure changed records");
    if (status && !error.text[0]) fail_job(number, t, "a failure without a text");
    done.without_memory += status != RECSORT_OK;
  } else if (apart) {
    status = sort(t, &error);
    if (status || !are(t, t->expected, t->after)) fail_job(number, t, error.text);
    put_records(t);
    set_access(t, false); /* the sorter has had it enabled */
    done.apart++;
  }
  if (status || !without_memory) status = sort(t, &error);
  if (status) fail_job(number, t, error.text);
  if (!are(t, t->expected, t->after)) fail_job(number, t, "wrong records");
  if (apart) set_access(t, true);
}

/* Returns false if there is no such job on a device. */
static bool run_job(size_t number, uint64_t seed)
{
  static trial t;
  t = (trial){.random = seed + number};
  if (!make_sorter(&t)) return false;
  const size_t most = below(&t, 20) ? below(&t, 4) ? FEW : 10 * FEW : MANY;
  t.count = (size_t)below(&t, most);
  if (number % 32 == 5) t.count = (size_t)below(&t, 3);
  t.records = malloc(t.count * t.schema.record_size + 1);
  t.expected = malloc(t.count * t.schema.record_size + 1);
  EXPECT(t.records && t.expected);
  fill_records(&t);
  make_shards(&t);
  const bool refused = equip(&t);
  if (!refused) {
    expect(&t);
    check(number, &t);
    done.jobs++;
    done.records += t.count;
  }
  done.refused += refused;
  drop_shards(&t);
  recsort_sorter_destroy(t.sorter);
  free(t.records);
  free(t.expected);
  return !refused;
}

int main(int argc, char **argv)
{
  const size_t jobs = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
  const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
#ifndef RS_REAL_GPU
  if (setenv("RECSORT_PLUGIN_PATH", RS_CUDA_PLUGIN, 1) != 0) return 2;
  standin_begin((standin_plan){.memory = 1 << 28, .devices = STANDIN_DEVICES - 1});
#endif
  if (jobs == 0) {
    (void)fprintf(stderr, "Usage: random_shards JOBS [SEED]\n");
    return 2;
  }
  for (size_t number = 0; done.jobs < jobs; number++)
    (void)run_job(number, mix(seed) << 32);
  (void)printf(
      "%zu jobs with %zu records on %d devices, seed %llu: all are right. %zu of them also "
      "without access between some devices; %zu sorts found no memory, and changed nothing. "
      "%zu more jobs had keys that no device sorts by\n",
      done.jobs, done.records, device_count(), (unsigned long long)seed, done.apart,
      done.without_memory, done.refused);
  return 0;
}
