/* device_soak - a program that sorts on a device in each frame and runs for a long time. Built
 * twice: with the stand-in for the CUDA runtime and, with RS_REAL_GPU, for a real one.
 *
 * Usage: device_soak FRAMES
 *
 * Two lanes have a stream each, and sorters, a workspace and graphs of their own. Each frame makes
 * new contents of another length, sorts them in one of several ways, and checks the whole result.
 * First one thread starts a frame on both streams before it waits for them; then each lane has a
 * thread. After the first part neither memory, of the host or the device, nor descriptors or
 * threads may grow, and no sort may allocate. The end shows that all this would be noticed. */
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdlib.h>

#include "growth.h"
#include "recsort/recsort.h"
#include "support/native.h"
#include "support/random.h"
#ifdef RS_REAL_GPU
#include "commit.h"
#else
#include "cuda/standin.h"
#endif

#ifdef RS_REAL_GPU
enum {
  SMALL = 1 << 15, /* most frames are shorter */
  HEADED = 70000,  /* so many that the first ones are selected */
  PLAIN = 20000,   /* of the graph whose count does not change */
  SHORT = 500,     /* records of the longest segment */
  MOST_HEAD = 200
};
#else
enum { SMALL = 700, HEADED = 300, PLAIN = 650, SHORT = 60, MOST_HEAD = 8 };
#endif
enum {
  MOST = (int)HEADED > (int)SMALL ? HEADED : SMALL, /* of all */
  SEGMENTS = 64,
  LANES = 2,
  PARTS = 10 /* growth is checked after each of them */
};

_Static_assert(SMALL >= PLAIN, "room for all");

/* A record. Distances are few; `place` is its number in the input; `mark` depends on it. */
typedef struct row {
  float distance;
  uint32_t place;
  uint64_t mark;
} row;

static const char schema_text[] =
    "record: Row\n" NATIVE "fields:\n- {name: distance, type: float32}\n"
    "- {name: place, type: uint32}\n- {name: mark, type: uint64}\n"
    "keys: [{field: distance, order: desc}]\n";

/* How a frame is sorted. Those from COUNTED on are graphs, which are captured once and replayed. */
typedef enum way {
  IN_PLACE,
  AWAY,    /* with a permutation and a companion array */
  HEAD,    /* the first records */
  SHORTS,  /* segments that are short */
  PAIRS,   /* keys and values, of several types */
  COUNTED, /* the device knows how many records there are */
  STILL,   /* as many records in each frame */
  PAIRED,  /* as many pairs in each frame */
  WAYS
} way;

static const way schedule[] = {IN_PLACE, COUNTED, AWAY,     STILL, SHORTS,   PAIRED,
                               PAIRS,    COUNTED, HEAD,     STILL, IN_PLACE, PAIRED,
                               COUNTED,  AWAY,    SHORTS,   STILL, PAIRS,    PAIRED,
                               HEAD,     COUNTED, IN_PLACE, STILL, AWAY,     PAIRED};

enum { SCHEDULE = sizeof schedule / sizeof *schedule };

/* What a lane has on the host, and the same on the device. Arrays follow one another, so most are
 * only aligned to their elements. */
typedef struct arrays {
  uint64_t counted; /* records of COUNTED */
  uint64_t keys[SMALL];
  uint32_t offsets[SEGMENTS + 1], values[SMALL];
  row from[MOST];
  uint64_t companions[MOST];
  uint32_t order[MOST];
  uint32_t values_to[SMALL];
  uint64_t keys_to[SMALL];
  row to[MOST];
} arrays;

/* Of keys of pairs. */
static const recsort_type types[] = {RECSORT_UINT32, RECSORT_FLOAT32, RECSORT_INT64};
typedef enum type_number { UINT32, FLOAT32, INT64, TYPES } type_number;

typedef struct frame {
  way way;
  size_t count, head, segments;
  type_number type; /* of keys of pairs */
} frame;

typedef struct lane {
  cudaStream_t stream;
  arrays *host, *device; /* pinned; device memory */
  recsort_sorter *sorter, *numbers[TYPES];
  uint32_t *status; /* pinned */
  void *workspace;
  size_t workspace_size;
#ifdef RS_REAL_GPU
  cudaGraphExec_t graphs[WAYS];
#endif
  size_t replays[WAYS];
  frame frame;
  uint64_t random;
  size_t begin, end; /* the frames of a thread */
  size_t frames, records, wrong, mallocs;
} lane;

static struct {
  counted_memory memory;
  recsort_allocator hook;
  lane lanes[LANES];
  size_t frames, records, wrong, grown, allocated, mallocs, replays;
} soak;

/* ---- Allocations ---- */

/* Those of a thread, by whatever code is in the process. */
static _Thread_local size_t mallocs;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size)
{
  mallocs++;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
  mallocs++;
  return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
  mallocs++;
  return __libc_realloc(memory, size);
}

/* Blocks of device and pinned memory that were made; a real device does not tell. */
static size_t device_allocations(void)
{
#ifdef RS_REAL_GPU
  return 0;
#else
  return (size_t)standin_look().allocations;
#endif
}

static size_t device_memory_left(void)
{
  size_t left = 0, all;
  return cudaMemGetInfo(&left, &all) ? 0 : left;
}

/* ---- Lanes ---- */

static void demand(recsort_status status, const recsort_error *error)
{
  if (status == RECSORT_OK) return;
  (void)printf("%s\n", error->text);
  exit(1);
}

static void demand_cuda(cudaError_t code)
{
  if (code == cudaSuccess) return;
  (void)printf("CUDA: %s\n", cudaGetErrorString(code));
  exit(1);
}

static recsort_sorter *make_sorter(recsort_schema *schema)
{
  const recsort_options options = {
      .struct_size = sizeof options, .allocator = &soak.hook, .on_device = true};
  recsort_error error;
  recsort_sorter *sorter = NULL;
  demand(recsort_sorter_create(schema, &options, &sorter, &error), &error);
  recsort_schema_destroy(schema);
  return sorter;
}

/* Most jobs know how many segments there are; others have one. */
static recsort_job describe(lane *l, frame f, recsort_array *array)
{
  arrays *const device = l->device;
  const bool cut = f.way == HEAD || f.way == AWAY;
  recsort_job job = RECSORT_JOB_INIT;
  job.stream = l->stream;
  job.count = f.count;
  job.status = l->status;
  job.workspace = l->workspace;
  job.workspace_size = l->workspace_size;
  job.array_count = f.way == AWAY || f.way == PAIRS || f.way == PAIRED;
  job.arrays = array;
  job.head = f.head;
  if (f.way == PAIRS || f.way == PAIRED) {
    *array = (recsort_array){device->values, device->values_to, sizeof *device->values};
    job.records = device->keys;
    job.sorted = device->keys_to;
    return job;
  }
  *array = (recsort_array){device->companions, device->companions, sizeof *device->companions};
  job.records = device->from;
  job.sorted = cut ? device->to : device->from;
  job.permutation = f.way == AWAY ? device->order : NULL;
  if (f.way == COUNTED) {
    job.count = SMALL;
    job.device_count = &device->counted;
  } else if (f.segments) {
    job.parts = RECSORT_SEGMENTS;
    job.offsets = device->offsets;
    job.part_count = f.segments;
    job.offset_bits = 32;
    job.longest_part = SHORT;
  }
  return job;
}

static recsort_sorter *sorter_of(const lane *l, frame f)
{
  return f.way == PAIRS || f.way == PAIRED ? l->numbers[f.type] : l->sorter;
}

/* One workspace for all ways. */
static void make_workspace(lane *l)
{
  for (way which = 0; which < WAYS; which++) {
    const frame f = {.way = which,
                     .count = which == HEAD ? HEADED : SMALL,
                     .head = which == HEAD ? MOST_HEAD : 0,
                     .segments = which == SHORTS ? SEGMENTS : 0,
                     .type = INT64};
    recsort_needs needs = RECSORT_NEEDS_INIT;
    recsort_array array;
    recsort_error error;
    const recsort_job job = describe(l, f, &array);
    demand(recsort_plan(sorter_of(l, f), &job, 1, &needs, &error), &error);
    if (needs.device > l->workspace_size) l->workspace_size = needs.device;
  }
  demand_cuda(cudaMalloc(&l->workspace, l->workspace_size));
}

static void sort_frame(lane *l, frame f);

/* The graph of a way; the stand-in has none. */
static void capture(lane *l, way which)
{
#ifdef RS_REAL_GPU
  const frame f = {.way = which, .count = which == COUNTED ? SMALL : PLAIN, .type = FLOAT32};
  cudaGraph_t graph;
  demand_cuda(cudaStreamBeginCapture(l->stream, cudaStreamCaptureModeThreadLocal));
  sort_frame(l, f);
  demand_cuda(cudaStreamEndCapture(l->stream, &graph));
  demand_cuda(cudaGraphInstantiate(&l->graphs[which], graph, 0));
  demand_cuda(cudaGraphDestroy(graph));
#else
  (void)l;
  (void)which;
#endif
}

static void make_lane(lane *l, uint64_t random)
{
  *l = (lane){.random = random};
  demand_cuda(cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking));
  demand_cuda(cudaMallocHost((void **)&l->host, sizeof *l->host));
  demand_cuda(cudaMalloc((void **)&l->device, sizeof *l->device));
  demand_cuda(cudaMallocHost((void **)&l->status, sizeof *l->status));
  recsort_error error;
  recsort_schema *schema = NULL;
  demand(recsort_schema_load_memory(schema_text, sizeof schema_text - 1, "soak", &soak.hook,
                                    &schema, &error),
         &error);
  l->sorter = make_sorter(schema);
  for (type_number t = 0; t < TYPES; t++) {
    demand(
        recsort_schema_create_number(types[t], RECSORT_ASCENDING, 0, &soak.hook, &schema, &error),
        &error);
    l->numbers[t] = make_sorter(schema);
  }
  make_workspace(l);
  for (way which = COUNTED; which < WAYS; which++)
    capture(l, which);
}

static void drop_lane(lane *l)
{
#ifdef RS_REAL_GPU
  for (way which = COUNTED; which < WAYS; which++)
    demand_cuda(cudaGraphExecDestroy(l->graphs[which]));
#endif
  recsort_sorter_destroy(l->sorter);
  for (type_number t = 0; t < TYPES; t++)
    recsort_sorter_destroy(l->numbers[t]);
  demand_cuda(cudaFreeHost(l->status));
  demand_cuda(cudaFree(l->workspace));
  demand_cuda(cudaFree(l->device));
  demand_cuda(cudaFreeHost(l->host));
  demand_cuda(cudaStreamDestroy(l->stream));
}

/* ---- Contents ---- */

static uint64_t mark_of(uint64_t place)
{
  return mix(place + 1);
}

/* In some order, from sorted to random, with ties. */
static void fill_rows(lane *l, size_t count)
{
  const uint64_t disorder = random_below(&l->random, 3) ? count / 4 + 1 : 2;
  for (size_t i = 0; i < count; i++)
    l->host->from[i] = (row){(float)((count - i) / 3 + random_below(&l->random, disorder)),
                             (uint32_t)i, mark_of(i)};
}

/* Integers of 64 bits, or floats and integers of 32, half of them negative. */
static void fill_pairs(lane *l, const frame *f)
{
  uint32_t *const narrow = (uint32_t *)(void *)l->host->keys;
  for (size_t i = 0; i < f->count; i++) {
    const int64_t key = (int64_t)random_below(&l->random, f->count) - (int64_t)f->count / 2;
    const float real = (float)key / 4;
    const uint32_t number = (uint32_t)key;
    l->host->values[i] = (uint32_t)i;
    if (f->type == INT64)
      l->host->keys[i] = (uint64_t)key * UINT64_C(10000000000);
    else
      memcpy(&narrow[i], f->type == FLOAT32 ? (const void *)&real : &number, 4);
  }
}

/* Segments of up to SHORT records, with some records before the first. */
static void fill_offsets(lane *l, frame *f)
{
  uint32_t *const offsets = l->host->offsets;
  f->segments = 1 + random_below(&l->random, SEGMENTS);
  offsets[0] = (uint32_t)random_below(&l->random, f->count / 8 + 1);
  for (size_t s = 0; s < f->segments; s++) {
    const size_t length = random_below(&l->random, SHORT + 1);
    const size_t left = f->count - offsets[s];
    offsets[s + 1] = offsets[s] + (uint32_t)(length < left ? length : left);
  }
}

/* Short frames are as many as long ones. */
static size_t any_count(lane *l)
{
  uint64_t most = SMALL;
  while (most > 1 && random_below(&l->random, 4))
    most /= 2;
  return (size_t)random_below(&l->random, most + 1);
}

static frame choose_frame(lane *l, way which)
{
  frame f = {.way = which, .count = any_count(l), .type = FLOAT32};
  if (which == HEAD) f.count = HEADED - random_below(&l->random, HEADED / 20);
  if (which == HEAD) f.head = 1 + random_below(&l->random, MOST_HEAD);
  if (which == STILL || which == PAIRED) f.count = PLAIN;
  if (which == PAIRS) f.type = (type_number)random_below(&l->random, TYPES);
  if (which == SHORTS) fill_offsets(l, &f);
  l->host->counted = f.count;
  return f;
}

/* ---- Frames ---- */

static void copy(lane *l, void *to, const void *from, size_t size, enum cudaMemcpyKind kind)
{
  if (size) demand_cuda(cudaMemcpyAsync(to, from, size, kind, l->stream));
}

#define UP(member, count)                                                                          \
  copy(l, l->device->member, l->host->member, (count) * sizeof *l->host->member,                   \
       cudaMemcpyHostToDevice)
#define DOWN(to, member, count)                                                                    \
  copy(l, l->host->to, l->device->member, (count) * sizeof *l->host->member, cudaMemcpyDeviceToHost)

/* Enqueues the sort, by a call or, in capture(), to a graph. */
static void sort_frame(lane *l, frame f)
{
  recsort_array array;
  recsort_error error;
  const recsort_job job = describe(l, f, &array);
  demand(recsort_run(sorter_of(l, f), &job, 1, &error), &error);
}

static void run_sort(lane *l)
{
  const way which = l->frame.way;
#ifdef RS_REAL_GPU
  if (which >= COUNTED) {
    l->replays[which]++;
    demand_cuda(cudaGraphLaunch(l->graphs[which], l->stream));
    return;
  }
#endif
  const size_t before = mallocs;
  sort_frame(l, l->frame);
  l->mallocs += mallocs - before;
  l->replays[which]++;
}

/* Enqueues a frame: what it sorts goes to the device, the sort, and the result comes back. */
static void start_frame(lane *l, way which)
{
  l->frame = choose_frame(l, which);
  const frame *const f = &l->frame;
  const bool pairs = which == PAIRS || which == PAIRED, away = which == AWAY || which == HEAD;
  if (pairs)
    fill_pairs(l, f);
  else
    fill_rows(l, f->count);
  for (size_t i = 0; which == AWAY && i < f->count; i++)
    l->host->companions[i] = mark_of(i);
  if (f->segments) UP(offsets, f->segments + 1);
  if (which == COUNTED)
    copy(l, &l->device->counted, &l->host->counted, sizeof l->host->counted,
         cudaMemcpyHostToDevice);
  if (pairs) {
    UP(keys, f->count);
    UP(values, f->count);
  } else {
    UP(from, f->count);
  }
  if (which == AWAY) UP(companions, f->count);
  run_sort(l);
  if (pairs) {
    DOWN(keys_to, keys_to, f->count);
    DOWN(values_to, values_to, f->count);
  } else if (away) {
    DOWN(to, to, f->head && f->head < f->count ? f->head : f->count);
  } else {
    DOWN(to, from, f->count);
  }
  if (which == AWAY) {
    DOWN(order, order, f->count);
    DOWN(companions, companions, f->count);
  }
}

/* ---- The oracle ---- */

/* Whether a comes before b. */
static bool is_before(const row *a, const row *b)
{
  return a->distance > b->distance || (a->distance == b->distance && a->place < b->place);
}

/* The records [begin, end) of the result are the same ones of the input, in order. As each is one
 * of the input and comes before the next one, they are all there, and those that are equal have
 * kept their order. */
static bool is_sorted(const arrays *a, size_t begin, size_t end)
{
  for (size_t i = begin; i < end; i++) {
    const row *const r = &a->to[i];
    if (r->place < begin || r->place >= end || memcmp(r, &a->from[r->place], sizeof *r) != 0)
      return false;
    if (i > begin && !is_before(&a->to[i - 1], r)) return false;
  }
  return true;
}

static bool is_same(const arrays *a, size_t begin, size_t end)
{
  return memcmp(&a->to[begin], &a->from[begin], (end - begin) * sizeof *a->to) == 0;
}

static bool are_segments_sorted(const arrays *a, const frame *f)
{
  bool good = is_same(a, 0, a->offsets[0]) && is_same(a, a->offsets[f->segments], f->count);
  for (size_t s = 0; good && s < f->segments; s++)
    good = is_sorted(a, a->offsets[s], a->offsets[s + 1]);
  return good;
}

/* Each is one of the input, they ascend, and no other one comes before the last of them. */
static bool is_head(const arrays *a, const frame *f)
{
  const size_t head = f->head < f->count ? f->head : f->count;
  size_t before = 0;
  for (size_t i = 0; i < head; i++) {
    const row *const r = &a->to[i];
    if (r->place >= f->count || memcmp(r, &a->from[r->place], sizeof *r) != 0) return false;
    if (i > 0 && !is_before(&a->to[i - 1], r)) return false;
  }
  for (size_t i = 0; i < f->count; i++)
    before += is_before(&a->from[i], &a->to[head - 1]);
  return before == head - 1;
}

static bool is_permuted(const arrays *a, size_t count)
{
  bool good = true;
  for (size_t i = 0; good && i < count; i++)
    good = a->order[i] == a->to[i].place && a->companions[i] == mark_of(a->to[i].place);
  return good;
}

/* A double holds each key exactly. */
static double key_at(type_number type, const uint64_t *keys, size_t i)
{
  const size_t size = type == INT64 ? 8 : 4;
  const char *const at = (const char *)keys + i * size;
  uint32_t number;
  float real;
  int64_t wide = 0;
  memcpy(&number, at, sizeof number);
  memcpy(&real, at, sizeof real);
  if (type == INT64) memcpy(&wide, at, sizeof wide);
  return type == UINT32 ? (double)number : type == FLOAT32 ? (double)real : (double)wide;
}

static bool are_pairs_sorted(const arrays *a, const frame *f)
{
  bool good = true;
  for (size_t i = 0; good && i < f->count; i++) {
    const uint32_t value = a->values_to[i];
    const double key = key_at(f->type, a->keys_to, i);
    const double before = i ? key_at(f->type, a->keys_to, i - 1) : 0;
    good = value < f->count && key == key_at(f->type, a->keys, value) &&
           (i == 0 || before < key || (before == key && a->values_to[i - 1] < value));
  }
  return good;
}

static bool is_right(const lane *l)
{
  const frame *const f = &l->frame;
  const arrays *const a = l->host;
  switch (f->way) {
  case HEAD:
    return is_head(a, f);
  case SHORTS:
    return are_segments_sorted(a, f);
  case PAIRS:
  case PAIRED:
    return are_pairs_sorted(a, f);
  case AWAY:
    return is_sorted(a, 0, f->count) && is_permuted(a, f->count);
  default:
    return is_sorted(a, 0, f->count);
  }
}

static void finish_frame(lane *l)
{
  demand_cuda(cudaStreamSynchronize(l->stream));
  l->wrong += !is_right(l) || *(volatile uint32_t *)l->status != RECSORT_OK;
  *l->status = RECSORT_CORRUPT_RESULT; /* until the next sort sets it */
  l->frames++;
  l->records += l->frame.count;
}

/* ---- Phases ---- */

/* One thread, both streams at once. The lanes sort in different ways. */
static void take_turns(size_t begin, size_t end)
{
  for (size_t i = begin; i < end; i++) {
    for (size_t l = 0; l < LANES; l++)
      start_frame(&soak.lanes[l], schedule[(i + l * 5) % SCHEDULE]);
    for (size_t l = 0; l < LANES; l++)
      finish_frame(&soak.lanes[l]);
  }
}

static void *run_lane(void *argument)
{
  lane *const l = argument;
  for (size_t i = l->begin; i < l->end; i++) {
    start_frame(l, schedule[i % SCHEDULE]);
    finish_frame(l);
  }
  return NULL;
}

/* A thread for each lane. */
static void run_threads(size_t begin, size_t end)
{
  pthread_t threads[LANES];
  for (size_t l = 0; l < LANES; l++) {
    soak.lanes[l].begin = begin;
    soak.lanes[l].end = end;
    if (pthread_create(&threads[l], NULL, run_lane, &soak.lanes[l])) exit(1);
  }
  for (size_t l = 0; l < LANES; l++)
    (void)pthread_join(threads[l], NULL);
}

static bool has_grown_anywhere(const char *name, holding before, size_t left_before)
{
  const bool grown = has_grown(name, before, hold(&soak.memory));
  const size_t left = device_memory_left();
  if (left < left_before) (void)printf("  device memory grew by %zu bytes\n", left_before - left);
  return grown || left < left_before;
}

static void add_up(void)
{
  for (size_t i = 0; i < LANES; i++) {
    const lane *const l = &soak.lanes[i];
    soak.frames += l->frames;
    soak.records += l->records;
    soak.wrong += l->wrong;
    soak.mallocs += l->mallocs;
    for (way which = COUNTED; which < WAYS; which++)
      if (soak.replays == 0 || l->replays[which] < soak.replays) soak.replays = l->replays[which];
  }
}

/* The first part allocates what is then kept. */
static void run_phase(const char *name, size_t frames, void (*run)(size_t begin, size_t end))
{
  holding before = {0};
  size_t left = 0;
  for (size_t l = 0; l < LANES; l++)
    make_lane(&soak.lanes[l], mix(frames + l));
  const size_t calls = soak.memory.calls + device_allocations();
  for (size_t part = 0; part < PARTS; part++) {
    run(part * frames / PARTS, (part + 1) * frames / PARTS);
    if (part == 0) {
      before = hold(&soak.memory);
      left = device_memory_left();
      for (size_t l = 0; l < LANES; l++)
        soak.lanes[l].mallocs = 0;
    } else if (part == PARTS / 2 || part == PARTS - 1) {
      soak.grown += has_grown_anywhere(name, before, left);
    }
  }
  soak.allocated += soak.memory.calls + device_allocations() - calls;
  add_up();
  for (size_t l = 0; l < LANES; l++)
    drop_lane(&soak.lanes[l]);
}

static void run_lives(size_t lives)
{
  holding before = {0};
  size_t left = 0;
  for (size_t i = 0; i < lives; i++) {
    for (size_t l = 0; l < LANES; l++)
      make_lane(&soak.lanes[l], i);
    take_turns(0, SCHEDULE);
    for (size_t l = 0; l < LANES; l++) {
      soak.wrong += soak.lanes[l].wrong;
      drop_lane(&soak.lanes[l]);
    }
    if (i == lives / 2) {
      before = hold(&soak.memory);
      left = device_memory_left();
    }
  }
  soak.grown += has_grown_anywhere("sorters and graphs that are made and destroyed", before, left);
}

/* ---- Would it be noticed? ---- */

/* The first two records or pairs of a segment change places. */
static void spoil(lane *l)
{
  const size_t at = l->frame.segments ? l->host->offsets[0] : 0;
  row *const to = &l->host->to[at], first = *to;
  const uint32_t value = l->host->values_to[0];
  to[0] = to[1];
  to[1] = first;
  l->host->values_to[0] = l->host->values_to[1];
  l->host->values_to[1] = value;
}

static bool has_two(const lane *l)
{
  const frame *const f = &l->frame;
  const uint32_t *const offsets = l->host->offsets;
  return f->count > 1 && f->head != 1 && (!f->segments || offsets[0] + 2 <= offsets[1]);
}

static size_t wrong_unseen(lane *l)
{
  size_t unseen = 0;
  for (way which = 0; which < WAYS; which++) {
    do {
      start_frame(l, which);
      finish_frame(l);
    } while (!has_two(l));
    spoil(l);
    unseen += is_right(l);
  }
  return unseen + l->wrong;
}

/* A sorter that is made takes memory of the host and the device. */
static size_t allocations_unseen(void)
{
  const size_t calls = soak.memory.calls + device_allocations(), before = mallocs;
  recsort_schema *schema = NULL;
  recsort_error error;
  demand(recsort_schema_create_number(RECSORT_UINT32, RECSORT_ASCENDING, 0, &soak.hook, &schema,
                                      &error),
         &error);
  recsort_sorter_destroy(make_sorter(schema));
  return soak.memory.calls + device_allocations() == calls || mallocs == before;
}

static size_t leaks_unseen(void)
{
  enum { LEAK = 8 << 20 };
  void *leak = NULL;
  const holding before = hold(&soak.memory);
  const size_t left = device_memory_left();
  demand_cuda(cudaMalloc(&leak, LEAK));
  const size_t unseen = !has_grown_anywhere("device memory left behind", before, left);
  demand_cuda(cudaFree(leak));
  return unseen;
}

static size_t faults_unseen(void)
{
  lane *const l = &soak.lanes[0];
  make_lane(l, 7);
  const size_t unseen = wrong_unseen(l) + allocations_unseen() + leaks_unseen();
  drop_lane(l);
  return unseen;
}

int main(int argc, char **argv)
{
  const size_t frames = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
  if (frames < 100) return 2;
  (void)setvbuf(stdout, NULL, _IOLBF, 0);
#ifdef RS_REAL_GPU
  (void)printf("%s, commit %s\n", recsort_version(), BENCH_COMMIT);
#else
  if (setenv("RECSORT_PLUGIN_PATH", RS_CUDA_PLUGIN, 1)) return 2;
  standin_begin((standin_plan){.memory = 1 << 28});
#endif
  soak.hook = (recsort_allocator){&soak.memory, counted_allocate, counted_release};
  run_lives(4 + frames / 1500);
  run_phase("frames on two streams of one thread", frames / 4, take_turns);
  run_phase("frames of two threads", frames / 4, run_threads);
  const size_t left = soak.memory.blocks;
  (void)printf(
      "%zu frames, %zu records, %zu replays of each graph at the least: %zu wrong, %zu grew, "
      "%zu allocations and %zu calls of malloc in sorts\n",
      soak.frames, soak.records, soak.replays, soak.wrong, soak.grown, soak.allocated,
      soak.mallocs);
  const size_t unseen = faults_unseen();
  (void)printf("%zu blocks left at the end, %zu faults unseen\n", left, unseen);
  return soak.wrong || soak.grown || soak.allocated || soak.mallocs || left || unseen;
}
