/* Faults in the device's memory, between any two kernels of a job whose records are there: bits are
 * turned, tiles lost or swapped, words repeated, old memory comes back. Each job is done in a
 * process of its own, as kernels may be led astray. Its result is right, or its status tells; a
 * wrong one with the status OK is silent, and there must be none.
 *
 * Faults strike the workspace, and the results until the sort has written them. They do not strike
 * what a result consists of besides keys and numbers: the bytes of records, and values.
 *
 * Usage: test_faults [SEED [TIMES]] */
#define _GNU_SOURCE /* memmem */
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/standin.h"
#include "recsort/recsort.h"
#include "support/native.h"
#include "support/random.h"

enum { MOST = 3000, SIZE = 40, SEGMENTS = 40 };

/* The jobs. Their counts lead to small sorts, with one run or several, padded and carried ones. */
typedef struct shape {
  const char *name, *yaml;
  size_t size, count;
  bool sorted, permutation, values, in_place, segments;
} shape;

#define ENTITY(size)                                                                               \
  "record: E\n" NATIVE "size: " #size "\nfields: [{name: key, type: uint32}]\nkeys: [key]\n"

static const shape shapes[] = {
    {"keys", "record: K\n" NATIVE "fields: [{name: key, type: uint32}]\nkeys: [key]\n", 4, 3000,
     .sorted = true},
    {"keys in place", "record: K\n" NATIVE "fields: [{name: key, type: int64}]\nkeys: [key]\n", 8,
     2500, .sorted = true, .in_place = true},
    {"numbered keys", "record: K\n" NATIVE "fields: [{name: key, type: float32}]\nkeys: [key]\n", 4,
     3000, .sorted = true, .permutation = true},
    {"keys and values", "record: K\n" NATIVE "fields: [{name: key, type: uint64}]\nkeys: [key]\n",
     8, 3000, .sorted = true, .values = true},
    {"few keys", "record: K\n" NATIVE "fields: [{name: key, type: uint32}]\nkeys: [key]\n", 4, 450,
     .sorted = true, .permutation = true},
    {"few keys, one run", "record: K\n" NATIVE "fields: [{name: key, type: uint32}]\nkeys: [key]\n",
     4, 250, .sorted = true, .permutation = true},
    {"few keys in place",
     "record: K\n" NATIVE "fields: [{name: key, type: float32}]\nkeys: [key]\n", 4, 350,
     .sorted = true, .in_place = true},
    {"few keys and values",
     "record: K\n" NATIVE "fields: [{name: key, type: uint64}]\nkeys: [key]\n", 8, 400,
     .sorted = true, .values = true},
    {"an order of few keys",
     "record: K\n" NATIVE "fields: [{name: key, type: int64}]\nkeys: [key]\n", 8, 400,
     .permutation = true},
    {"padded keys", "record: K\n" NATIVE "fields: [{name: key, type: uint32}]\nkeys: [key]\n", 4,
     555, .sorted = true, .permutation = true},
    {"an order", ENTITY(20), 20, 3000, .permutation = true},
    {"an order of few", ENTITY(20), 20, 480, .permutation = true},
    {"small records", ENTITY(20), 20, 2500, .sorted = true},
    {"large records", ENTITY(40), 40, 2500, .sorted = true},
    {"few records", ENTITY(40), 40, 500, .sorted = true},
    {"few records, one run", ENTITY(20), 20, 200, .sorted = true},
    {"few records in place", ENTITY(20), 20, 500, .sorted = true, .in_place = true},
    {"few records with wide keys",
     "record: E\n" NATIVE "size: 24\nfields: [{name: key, type: int64}]\nkeys: [key]\n", 24, 450,
     .sorted = true},
    {"few records with wide keys in place",
     "record: E\n" NATIVE "size: 24\nfields: [{name: key, type: int64}]\nkeys: [key]\n", 24, 450,
     .sorted = true, .in_place = true},
    {"keys in segments", "record: K\n" NATIVE "fields: [{name: key, type: uint32}]\nkeys: [key]\n",
     4, 3000, .sorted = true, .permutation = true, .segments = true},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* ---- A job ---- */

static uint64_t random_state;
static const shape *of;
static recsort_sorter *sorter;
static unsigned char input[MOST * SIZE], *records, *sorted, *workspace, *before;
static uint32_t order[MOST], *permutation, values_in[MOST], *values, *status;
static uint64_t offsets[SEGMENTS + 1], *device_offsets;
static uint32_t *device_values;
static cudaStream_t stream;
static size_t workspace_size;
static recsort_job job;

static void demand(bool good, const char *what)
{
  if (good) return;
  fprintf(stderr, "%s: %s\n", of ? of->name : "", what);
  exit(1);
}

static void *make(size_t size)
{
  void *memory = NULL;
  demand(cudaMalloc(&memory, size) == cudaSuccess, "no memory");
  memset(memory, 0, size);
  return memory;
}

/* The stable order, by a sort that only this test has. */
static double key_of(uint32_t i)
{
  const unsigned char *const at = input + i * of->size;
  uint32_t word;
  int64_t wide;
  float number;
  if (strstr(of->yaml, "float32")) return memcpy(&number, at, sizeof number), (double)number;
  if (strstr(of->yaml, "64")) return memcpy(&wide, at, sizeof wide), (double)wide;
  return memcpy(&word, at, sizeof word), (double)word;
}

static size_t segment_of(uint32_t i)
{
  size_t s = 0;
  while (of->segments && s < SEGMENTS && offsets[s + 1] <= i)
    s++;
  return s;
}

static int compare(const void *a, const void *b)
{
  const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
  const size_t s = segment_of(i), t = segment_of(j);
  const double x = key_of(i), y = key_of(j);
  if (s != t) return s < t ? -1 : 1;
  return x < y ? -1 : x > y ? 1 : i < j ? -1 : 1;
}

static void fill(void)
{
  const uint64_t domain =
      1 + random_below(&random_state, 2) * 5000 + random_below(&random_state, 60);
  fill_random(input, of->count * of->size, &random_state);
  for (size_t i = 0; i < of->count; i++) {
    const int64_t value = (int64_t)random_below(&random_state, domain);
    const float number = (float)value - 20;
    if (strstr(of->yaml, "float32"))
      memcpy(input + i * of->size, &number, sizeof number);
    else
      memcpy(input + i * of->size, &value,
             strstr(of->yaml, "64") ? sizeof value : sizeof(uint32_t));
    values_in[i] = (uint32_t)next_random(&random_state);
    order[i] = (uint32_t)i;
  }
  for (size_t s = 0; s < SEGMENTS; s++)
    offsets[s + 1] = s + 1 == SEGMENTS ? of->count : of->count * (s + 1) / SEGMENTS;
  qsort(order, of->count, sizeof *order, compare);
}

static bool is_right(void)
{
  bool right = true;
  for (size_t i = 0; i < of->count; i++) {
    if (of->permutation) right = right && permutation[i] == order[i];
    if (of->values) right = right && values[i] == values_in[order[i]];
    if (of->sorted)
      right = right && !memcmp(sorted + i * of->size, input + order[i] * of->size, of->size);
  }
  return right;
}

static void begin(const shape *wanted)
{
  static recsort_array array;
  recsort_schema *schema = NULL;
  recsort_options options = RECSORT_INIT(recsort_options);
  recsort_needs needs = RECSORT_INIT(recsort_needs);
  recsort_error error = {0};
  of = wanted;
  standin_watch(NULL);
  standin_begin((standin_plan){0});
  options.plugin = "cuda";
  options.on_device = true;
  options.verify = RECSORT_VERIFY_DEFAULT;
  demand(!recsort_schema_load_memory(of->yaml, strlen(of->yaml), "test", NULL, &schema, &error),
         error.text);
  demand(!recsort_sorter_create(schema, &options, &sorter, &error), error.text);
  recsort_schema_destroy(schema);
  fill();
  records = make(of->count * of->size);
  sorted = of->in_place ? records : make(of->count * of->size);
  permutation = make(of->count * sizeof *permutation);
  values = make(of->count * sizeof *values);
  demand(cudaMallocHost((void **)&status, sizeof *status) == cudaSuccess, "no memory");
  device_values = make(sizeof values_in);
  device_offsets = make(sizeof offsets);
  memcpy(device_values, values_in, sizeof values_in);
  memcpy(device_offsets, offsets, sizeof offsets);
  demand(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess, "no stream");
  array = (recsort_array){device_values, values, sizeof *values};
  job = RECSORT_INIT(recsort_job);
  job.count = of->count;
  job.records = records;
  job.sorted = of->sorted ? sorted : NULL;
  job.permutation = of->permutation ? permutation : NULL;
  job.index_bits = 32;
  job.arrays = &array;
  job.array_count = of->values;
  job.status = status;
  job.stream = stream;
  if (of->segments) {
    job.parts = RECSORT_SEGMENTS;
    job.offsets = device_offsets;
    job.part_count = SEGMENTS;
    job.offset_bits = 64;
    job.longest_part = of->count / SEGMENTS + 1;
  }
  demand(!recsort_plan(sorter, &job, 1, &needs, &error), error.text);
  workspace_size = needs.device;
  workspace = make(workspace_size);
  before = malloc(workspace_size);
  demand(before != NULL, "no memory");
  job.workspace = workspace;
  job.workspace_size = workspace_size;
}

static void run(void)
{
  recsort_error error = {0};
  memcpy(records, input, of->count * of->size);
  *status = UINT32_MAX;
  demand(!recsort_run(sorter, &job, 1, &error), error.text);
  demand(cudaStreamSynchronize(stream) == cudaSuccess, "the stream failed");
}

static void end(void)
{
  recsort_sorter_destroy(sorter);
  free(before);
  (void)cudaFree(records);
  if (!of->in_place) (void)cudaFree(sorted);
  (void)cudaFree(permutation);
  (void)cudaFree(values);
  (void)cudaFree(device_values);
  (void)cudaFree(device_offsets);
  (void)cudaStreamDestroy(stream);
  (void)cudaFree(workspace);
  (void)cudaFreeHost(status);
}

/* ---- Faults ---- */

enum { TURN, LOSE, SWAP, REPEAT, OLD, KINDS };
static const char *const kinds[] = {"bit turned", "tile lost", "tiles swapped", "word repeated",
                                    "old memory"};

static struct {
  unsigned kind;
  long at; /* the launch before which it strikes */
  unsigned char *memory;
  size_t size, first, second, length;
  bool struck;
} fault;

/* What is learnt of a job without a fault: its launches; the first one that finds what `result` has
 * in the end; the first that finds the final order in the workspace, and where; and where a copy of
 * the records is. */
static struct {
  long from, launches, first_written, first_ordered;
  size_t ordered_at, copied_at, copied_end;
  const unsigned char *result;
} learnt;

static const unsigned char *result(void)
{
  return of->sorted ? sorted : (const unsigned char *)permutation;
}

static void look(long number)
{
  const unsigned char *const at =
      memmem(workspace, workspace_size, order, of->count * sizeof *order);
  if (learnt.first_written == 0 && !memcmp(result(), learnt.result, of->count * 4))
    learnt.first_written = number - learnt.from;
  if (learnt.first_ordered || !at) return;
  learnt.first_ordered = number - learnt.from;
  learnt.ordered_at = (size_t)(at - workspace);
}

static void find_copy(void)
{
  learnt.copied_at = learnt.copied_end = workspace_size;
  for (size_t i = 0; i < of->count && of->size > 8; i++) {
    const unsigned char *const found =
        memmem(workspace, workspace_size, input + i * of->size, of->size);
    const size_t at = (size_t)(found - workspace);
    if (!found) continue;
    if (learnt.copied_at == workspace_size) learnt.copied_end = 0;
    if (at < learnt.copied_at) learnt.copied_at = at;
    if (at + of->size > learnt.copied_end) learnt.copied_end = at + of->size;
  }
}

static void learn(void)
{
  unsigned char *const kept = malloc(of->count * 4);
  demand(kept != NULL, "no memory");
  memset(&learnt, 0, sizeof learnt);
  learnt.from = standin_look().launches;
  run();
  demand(*status == RECSORT_OK && is_right(), "wrong without a fault");
  learnt.launches = standin_look().launches - learnt.from;
  find_copy();
  memcpy(kept, result(), of->count * 4);
  learnt.result = kept;
  learnt.from += learnt.launches;
  memset(sorted, 0, of->count * of->size);
  memset(permutation, 0, of->count * sizeof *permutation);
  memset(workspace, 0, workspace_size);
  standin_watch(look);
  run();
  standin_watch(NULL);
  learnt.from += learnt.launches;
  if (!learnt.first_written) learnt.first_written = learnt.launches + 1;
  if (!learnt.first_ordered) learnt.first_ordered = learnt.launches + 1;
  free(kept);
}

static bool overlaps(size_t at, size_t begin, size_t end)
{
  return at + fault.length > begin && at < end;
}

/* True if nothing looks at what the fault strikes any more but who copies or moves it: a copy of
 * records, or the order that is a job's only result. */
static bool is_beyond(long at)
{
  const size_t places[] = {fault.first, fault.kind == SWAP ? fault.second : fault.first};
  const size_t end = learnt.ordered_at + of->count * sizeof *order;
  bool beyond = false;
  if (fault.memory != workspace) return false;
  for (size_t p = 0; p < 2; p++) {
    beyond = beyond || overlaps(places[p], learnt.copied_at, learnt.copied_end);
    beyond = beyond || (!of->sorted && at >= learnt.first_ordered &&
                        overlaps(places[p], learnt.ordered_at, end));
  }
  return beyond;
}

/* Draws the place of a fault. Returns whether it changes anything that is still looked at. */
static bool draw(void)
{
  fault.length = 4u << random_below(&random_state, 7);
  fault.first = random_below(&random_state, (fault.size - fault.length) / 4 - 1) * 4;
  fault.second = random_below(&random_state, (fault.size - fault.length) / 4) * 4;
  const unsigned char *const one = fault.memory + fault.first, *const two =
                                                                   fault.memory + fault.second;
  static const unsigned char zeros[256];
  if (is_beyond(fault.at - learnt.from)) return false;
  switch (fault.kind) {
  case TURN:
    return memcmp(one, zeros, 4) != 0;
  case LOSE:
    return memcmp(one, zeros, fault.length) != 0;
  case SWAP:
    return memcmp(one, two, fault.length) != 0 && memcmp(one, zeros, 4) != 0;
  case REPEAT:
    return memcmp(one, one + 4, 4) != 0;
  default:
    return memcmp(one, before + fault.first, fault.length) != 0;
  }
}

/* Most of the workspace is not in use, so this tries many places. Old memory is that of the launch
 * before. */
static void strike(long number)
{
  enum { TRIES = 200 };
  unsigned char kept[256], *const memory = fault.memory;
  if (number == fault.at - 1 && memory == workspace) memcpy(before, workspace, workspace_size);
  for (unsigned t = 0; number == fault.at && t < TRIES && !fault.struck; t++)
    fault.struck = draw();
  if (number != fault.at || !fault.struck) return;
  unsigned char *const one = memory + fault.first, *const two = memory + fault.second;
  if (fault.kind == TURN) one[fault.second % 3] ^= (unsigned char)(1u << fault.second / 4 % 8);
  if (fault.kind == LOSE) memset(one, 0, fault.length);
  if (fault.kind == REPEAT) memcpy(one, one + 4, 4);
  if (fault.kind == OLD) memcpy(one, before + fault.first, fault.length);
  if (fault.kind != SWAP) return;
  memcpy(kept, one, fault.length);
  memmove(one, two, fault.length);
  memcpy(two, kept, fault.length);
}

static void tell_silent(void)
{
  printf(
      "silent: %s, %s before launch %ld of %ld, at %zu of %zu of the %s, %zu bytes; written before "
      "%ld, the order in the workspace at %zu before %ld\n",
      of->name, kinds[fault.kind], fault.at - learnt.from, learnt.launches, fault.first, fault.size,
      fault.memory == workspace ? "workspace" : "result", fault.length, learnt.first_written,
      learnt.ordered_at, learnt.first_ordered);
  fflush(stdout);
}

typedef enum outcome { MISSED, RIGHT, TOLD, ASTRAY, SILENT, OUTCOMES } outcome;

enum { TELLS = 64 }; /* added to the outcome, for an exit status that only this test has */

/* Does the job in a process of its own. */
static outcome try_fault(void)
{
  int ended = 0;
  const pid_t child = fork();
  demand(child >= 0, "no process");
  if (child == 0) {
    (void)!freopen("/dev/null", "w", stderr);
    alarm(60);
    standin_watch(strike);
    run();
    const bool told = *status != RECSORT_OK, right = is_right();
    if (!told && !right) tell_silent();
    _exit(TELLS + (int)(!fault.struck ? MISSED : told ? TOLD : right ? RIGHT : SILENT));
  }
  demand(waitpid(child, &ended, 0) == child, "no child");
  const int told = WIFEXITED(ended) ? WEXITSTATUS(ended) - TELLS : -1;
  return told >= MISSED && told < OUTCOMES ? (outcome)told : ASTRAY;
}

static unsigned long totals[OUTCOMES], by_kind[KINDS][OUTCOMES];

static void try_shape(const shape *wanted, uint64_t seed, unsigned times)
{
  random_state = seed;
  begin(wanted);
  learn();
  for (unsigned t = 0; t < times; t++)
    for (long at = 1; at <= learnt.launches; at++)
      for (unsigned kind = 0; kind < KINDS; kind++) {
        const bool strikes_result = kind != OLD && at > 2 * of->in_place &&
                                    at + 1 < learnt.first_written &&
                                    random_below(&random_state, 3) == 0;
        unsigned char *const memory =
            strikes_result ? (unsigned char *)(uintptr_t)result() : workspace;
        fault.kind = kind;
        fault.at = learnt.from + at;
        fault.memory = memory;
        fault.size = strikes_result ? of->count * 4 : workspace_size;
        (void)next_random(&random_state);
        const outcome found = try_fault();
        totals[found]++;
        by_kind[kind][found]++;
      }
  end();
}

int main(int argc, char **argv)
{
  const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const unsigned times = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
  demand(setenv("RECSORT_PLUGIN_PATH", RS_CUDA_PLUGIN, 1) == 0, "no environment");
  for (size_t s = 0; s < SHAPES; s++)
    try_shape(&shapes[s], seed, times);
  printf("%-14s %8s %8s %8s %8s\n", "", "no harm", "told", "astray", "silent");
  for (unsigned k = 0; k < KINDS; k++)
    printf("%-14s %8lu %8lu %8lu %8lu\n", kinds[k], by_kind[k][RIGHT], by_kind[k][TOLD],
           by_kind[k][ASTRAY], by_kind[k][SILENT]);
  demand(totals[TOLD] > 0 && totals[RIGHT] > 0, "faults strike nothing, or everything");
  return totals[SILENT] > 0;
}
