/* The kernels of the GPU plugin on all orderings of a few elements, whose keys are at both ends:
 * sorts, merges of all cuts into runs, sorts of all cuts into segments, and heads. Tunings and what
 * a job says make these few go through tiles and buckets of many. Built twice: for the emulator
 * and, with RS_REAL_GPU, for a device.
 *
 * Usage: all_kernels MOST-ELEMENTS [TEST] */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/sort/sample/plan.h"
#include "exhaustive/carried.h"
#include "exhaustive/orderings.h"
#include "gpu/algorithms.h"
#include "gpu/device_head.h"
#include "gpu/device_merge.h"
#include "gpu/device_pairs.h"
#include "gpu/device_segments.h"
#include "recsort/key_interpreter.h"

static size_t most;

/* With more elements than ALL_CUTS, two of the cuts are tried; with more than ALL_WAYS, some of the
 * ways. The emulator takes long for a carry sort. */
enum { ALL_CUTS = 6, ALL_WAYS = 5, MOST_RECORD = 24, GUARD = 8, POISON = 0xee };
#ifdef RS_REAL_GPU
enum { MOST_CARRIED = MOST_ELEMENTS, ALL_CARRIED = ALL_WAYS, BATCH = 1024 };
#else
enum { MOST_CARRIED = 3, ALL_CARRIED = 2, BATCH = 16 };
#endif

__extension__ typedef unsigned __int128 wide_key;

typedef struct trial {
  ordering o;
  unsigned cuts; /* bit i: a run or a segment begins at element i */
  uint64_t head; /* elements that are wanted */
  unsigned result;
} trial;

/* A way to sort: what is put into a slot of memory, the work on it, and whether it is right then.
 */
typedef struct way {
  const char *name;
  uint64_t (*bytes)(const struct way *, uint64_t count); /* of a slot */
  void (*put)(const struct way *, const trial *, void *slot);
  device_status (*start)(const struct way *, trial *, void *slot);
  bool (*right)(const struct way *, const trial *, void *slot);
  device_job job;
  const device_algorithm *algorithm;
  uint64_t longest;  /* of a segment, which is what the job says */
  bool made;         /* keys are made of words in the records */
  uint32_t values;   /* bits of a value */
  carried_plan plan; /* of a carry sort */
  bool fixed; /* `start` launches the same work for all trials, so that a graph, which takes less
               * time to launch, can be replayed */
} way;

/* ---- Memory ---- */

/* Slots of memory, and what is tried in them: the work for all is started, then all are looked at.
 */
static struct {
  unsigned char *host, *device; /* one in the emulator */
  uint64_t bytes, slot;         /* of all slots, and of one */
  trial trials[BATCH];
  size_t filled;
  unsigned long tried;
} batch;

static const char *failure(void);

static void fail_with(const way *w, const trial *t)
{
  for (size_t i = 0; i < t->o.count; i++)
    print_error("%u ", t->o.rank[i]);
  fail_msg(
      "%s, cuts %#x, head %u, %u of %u bits, values of %u, tile %u, longest %u, %u levels of %u "
      "buckets%s: %s",
      w->name, t->cuts, (unsigned)t->head, w->job.key_bits, w->job.key_width, w->values,
      w->job.tile, (unsigned)w->longest, w->plan.levels, w->plan.buckets,
      w->plan.apart ? " apart" : "", failure());
}

static void start(const way *w, size_t i)
{
  if (w->start(w, &batch.trials[i], batch.device + i * batch.slot)) fail_with(w, &batch.trials[i]);
}

static uint64_t mailbox_of_emulator[DEVICE_MAILBOX / 8];
static void *mailbox = mailbox_of_emulator;

#ifdef RS_REAL_GPU
#include <cuda_runtime_api.h>

enum { BRANCHES = 16 }; /* of the graph of a batch, which the device runs side by side */
static cudaStream_t stream, branches[BRANCHES]; /* the first of these */
static cudaGraphExec_t graph;                   /* NULL: none is made */
static unsigned results[BATCH];                 /* of the trials in the graph */

static int make_room(void **state)
{
  (void)state;
  for (unsigned b = 0; b < BRANCHES; b++)
    if (cudaStreamCreateWithFlags(&branches[b], cudaStreamNonBlocking)) return -1;
  stream = branches[0];
  return cudaHostAlloc(&mailbox, DEVICE_MAILBOX, cudaHostAllocDefault);
}

static int leave_room(void **state)
{
  (void)state;
  for (unsigned b = 0; b < BRANCHES; b++)
    if (cudaStreamDestroy(branches[b])) return -1;
  return cudaFree(batch.device) || cudaFreeHost(batch.host) || cudaFreeHost(mailbox);
}

static void allocate(uint64_t bytes)
{
  void *host, *device;
  assert_int_equal(cudaFree(batch.device), cudaSuccess);
  assert_int_equal(cudaFreeHost(batch.host), cudaSuccess);
  assert_int_equal(cudaHostAlloc(&host, bytes, cudaHostAllocDefault), cudaSuccess);
  assert_int_equal(cudaMalloc(&device, bytes), cudaSuccess);
  batch.host = host;
  batch.device = device;
}

static void copy(void *to, const void *from, enum cudaMemcpyKind kind)
{
  const size_t size = batch.filled * batch.slot;
  assert_int_equal(cudaMemcpyAsync(to, from, size, kind, stream), cudaSuccess);
  assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
}

static void to_device(void)
{
  copy(batch.device, batch.host, cudaMemcpyHostToDevice);
}

static void to_host(void)
{
  copy(batch.host, batch.device, cudaMemcpyDeviceToHost);
}

static void drop_graph(void)
{
  if (graph) assert_int_equal(cudaGraphExecDestroy(graph), cudaSuccess);
  graph = NULL;
}

/* Of the work for a whole batch. */
static void make_graph(way *w)
{
  cudaGraph_t made;
  cudaEvent_t event;
  assert_int_equal(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  assert_int_equal(cudaEventRecord(event, stream), cudaSuccess);
  for (unsigned b = 1; b < BRANCHES; b++)
    assert_int_equal(cudaStreamWaitEvent(branches[b], event, 0), cudaSuccess);
  for (size_t i = 0; i < BATCH; i++) {
    w->job.stream = branches[i % BRANCHES];
    start(w, i);
    results[i] = batch.trials[i].result;
  }
  for (unsigned b = 1; b < BRANCHES; b++) {
    assert_int_equal(cudaEventRecord(event, branches[b]), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(stream, event, 0), cudaSuccess);
  }
  w->job.stream = stream;
  assert_int_equal(cudaStreamEndCapture(stream, &made), cudaSuccess);
  assert_int_equal(cudaGraphInstantiate(&graph, made, 0), cudaSuccess);
  assert_int_equal(cudaGraphDestroy(made), cudaSuccess);
  assert_int_equal(cudaEventDestroy(event), cudaSuccess);
}

static bool start_together(way *w)
{
  if (!w->fixed || batch.filled < BATCH) return false;
  if (!graph) make_graph(w);
  for (size_t i = 0; i < BATCH; i++)
    batch.trials[i].result = results[i];
  assert_int_equal(cudaGraphLaunch(graph, stream), cudaSuccess);
  return true;
}

static const char *failure(void)
{
  return cudaGetErrorString(cudaGetLastError());
}
#else
#include "emulation/emulator.h"

static void *const stream = NULL;

static int make_room(void **state)
{
  (void)state;
  return 0;
}

static int leave_room(void **state)
{
  (void)state;
  free(batch.host);
  return 0;
}

static void allocate(uint64_t bytes)
{
  free(batch.host);
  batch.host = batch.device = aligned_alloc(DEVICE_ALIGNMENT, bytes);
  assert_non_null(batch.host);
}

/* Threads and blocks take turns in another order each time. */
static void to_device(void)
{
  emulator_set_order((emulator_order)(batch.tried / BATCH % EMULATOR_ORDERS), batch.tried + 1);
}

static void to_host(void)
{
}

static void drop_graph(void)
{
}

static bool start_together(way *w)
{
  (void)w;
  return false;
}

static const char *failure(void)
{
  return emulator_failure();
}
#endif

static void finish(way *w)
{
  to_device();
  if (!start_together(w))
    for (size_t i = 0; i < batch.filled; i++)
      start(w, i);
  to_host();
  for (size_t i = 0; i < batch.filled; i++)
    if (!w->right(w, &batch.trials[i], batch.host + i * batch.slot)) fail_with(w, &batch.trials[i]);
  batch.filled = 0;
}

static void try_one(way *w, const ordering *o, unsigned cuts, uint64_t head)
{
  unsigned char *const slot = batch.host + batch.filled * batch.slot;
  trial *const t = &batch.trials[batch.filled++];
  *t = (trial){*o, cuts, head, 2};
  memset(slot, POISON, batch.slot);
  w->put(w, t, slot);
  batch.tried++;
  if (batch.filled == BATCH) finish(w);
}

/* Calls `body` with all orderings of up to so many elements, and the way. */
static void try_all(way *w, size_t greatest, void (*body)(const ordering *, void *))
{
  for (size_t count = 1; count <= greatest; count++) {
    w->job.count = count;
    batch.slot = device_aligned(w->bytes(w, count));
    if (batch.slot * BATCH > batch.bytes) allocate(batch.bytes = batch.slot * BATCH);
    assert_int_equal(each_ordering(count, body, w), orderings_of[count]);
    finish(w);
    drop_graph();
  }
}

static size_t at_most(size_t elements)
{
  return most < elements ? most : elements;
}

static void try_ordering(const ordering *o, void *argument)
{
  try_one(argument, o, 0, o->count);
}

/* ---- Keys ---- */

/* Keys of the same width: all bits of the last two cannot be packed with an index. */
static const struct {
  uint32_t width, bits, index_bits;
} pairs[] = {{32, 32, 32}, {64, 64, 64}, {128, 128, 32}, {64, 40, 32}, {64, 64, 32}};
enum { WIDTHS = 3, PAIRS = sizeof pairs / sizeof *pairs };

static device_job job_of(size_t pair, uint32_t tile, const sample_tuning *tuning)
{
  return (device_job){.key_bits = pairs[pair].bits,
                      .key_width = pairs[pair].width,
                      .index_bits = pairs[pair].index_bits,
                      .block = 32,
                      .tile = tile,
                      .shared_bytes = 8192,
                      .tuning = tuning,
                      .multiprocessors = 2,
                      .stream = stream,
                      .mailbox = mailbox};
}

static wide_key key_of(const way *w, const ordering *o, size_t i)
{
  const wide_key greatest = ~(wide_key)0 >> (128 - w->job.key_bits);
  const size_t rank = o->rank[i];
  return 2 * rank < o->ranks ? rank : greatest - (o->ranks - 1 - rank);
}

static void put_keys(const way *w, const trial *t, void *to)
{
  for (size_t i = 0; i < t->o.count; i++) {
    const wide_key key = key_of(w, &t->o, i);
    memcpy((char *)to + i * w->job.key_width / 8, &key, w->job.key_width / 8);
  }
}

/* Keys, and the number of each, are in the order of the oracle. */
static bool in_order(const way *w, const trial *t, const void *keys, const void *numbers,
                     uint32_t number_bits)
{
  const size_t key_size = w->job.key_width / 8, number_size = number_bits / 8;
  for (size_t i = 0; i < t->o.count; i++) {
    wide_key key = 0, number = 0;
    memcpy(&key, (const char *)keys + i * key_size, key_size);
    memcpy(&number, (const char *)numbers + i * number_size, number_size);
    if (key != key_of(w, &t->o, t->o.place[i]) || (number_size && number != t->o.place[i]))
      return false;
  }
  return true;
}

/* ---- Pairs of keys and indices ---- */

static uint64_t extra_of(const way *w)
{
  if (!w->algorithm) return device_merge_extra_bytes(&w->job);
  return w->algorithm->extra_bytes ? w->algorithm->extra_bytes(&w->job) : 0;
}

static device_buffers buffers_of(const way *w, void *slot)
{
  return device_divide(&w->job, slot, extra_of(w));
}

static uint64_t bytes_of_pairs(const way *w, uint64_t count)
{
  (void)count;
  return device_bytes(&w->job, extra_of(w));
}

static void put_pairs(const way *w, const trial *t, void *slot)
{
  put_keys(w, t, buffers_of(w, slot).keys[0]);
}

static bool pairs_are_right(const way *w, const trial *t, void *slot)
{
  const device_buffers buffers = buffers_of(w, slot);
  return t->result < 2 &&
         in_order(w, t, buffers.keys[t->result], buffers.indices[t->result], w->job.index_bits);
}

static device_status start_sort(const way *w, trial *t, void *slot)
{
  const device_buffers buffers = buffers_of(w, slot);
  memset(mailbox, 0, DEVICE_MAILBOX);
  return w->algorithm->sort(&w->job, &buffers, &t->result);
}

/* ---- Merges ---- */

/* Bounds of the parts that begin at the bits of `cuts`, some of them twice: so parts are empty
 * between others. Returns how many parts there are. */
static uint32_t bounds_of(const trial *t, uint64_t *bounds)
{
  uint32_t parts = 0;
  const unsigned times = 1 + (t->cuts / 2 + t->o.ranks) % 2;
  bounds[0] = 0;
  for (size_t i = 1; i <= t->o.count; i++)
    for (unsigned n = 0; n < times && (i == t->o.count || t->cuts >> i & 1); n++)
      bounds[++parts] = i;
  return parts;
}

/* The same, with empty parts at the end: always as many. */
static uint64_t segments_of(const trial *t, uint64_t *bounds)
{
  const uint64_t all = 2 * t->o.count;
  for (uint64_t part = bounds_of(t, bounds); part < all; part++)
    bounds[part + 1] = t->o.count;
  return all;
}

/* Cuts among which are `needed` ones. Of many elements these, and others besides. */
static void try_cuts(way *w, const ordering *o, unsigned needed)
{
  const unsigned all = (1u << o->count) - 2;
  if (o->count > ALL_CUTS) {
    try_one(w, o, needed, o->count);
    try_one(w, o, (needed | (unsigned)(batch.tried * 2654435761u >> 8)) & all, o->count);
    return;
  }
  for (unsigned cuts = 0; cuts <= all; cuts += 2)
    if (!(needed & ~cuts)) try_one(w, o, cuts, o->count);
}

static void try_runs(const ordering *o, void *argument)
{
  try_cuts(argument, o, descents_of(o));
}

static void try_any_cuts(const ordering *o, void *argument)
{
  try_cuts(argument, o, 0);
}

static device_status start_merge(const way *w, trial *t, void *slot)
{
  uint64_t bounds[2 * MOST_ELEMENTS + 1];
  const device_runs runs = {bounds, bounds_of(t, bounds)};
  const device_buffers buffers = buffers_of(w, slot);
  memset(mailbox, 0, DEVICE_MAILBOX);
  return device_merge(&w->job, &runs, &buffers, &t->result);
}

/* ---- Merges that move records ---- */

typedef struct moved_slot {
  _Alignas(16) unsigned char keys[MOST_ELEMENTS * sizeof(wide_key)];
  unsigned char records[MOST_ELEMENTS * MOST_RECORD], to[MOST_ELEMENTS * MOST_RECORD + GUARD];
  uint32_t disorder;
} moved_slot;

static uint64_t bytes_of_moves(const way *w, uint64_t count)
{
  (void)w, (void)count;
  return sizeof(moved_slot);
}

static size_t record_size(const way *w)
{
  return w->made ? w->job.key_width / 4 : 5;
}

/* Keys have other bits where records have them: the sign is turned. */
static uint64_t sign_of(const way *w)
{
  return UINT64_C(1) << (w->job.key_width - 1) % 64;
}

/* Records: the key or another byte, and the record's number. */
static void put_moves(const way *w, const trial *t, void *slot)
{
  moved_slot *const s = slot;
  const size_t width = w->job.key_width / 8, size = record_size(w);
  for (size_t i = 0; i < t->o.count; i++) {
    const uint64_t word = (uint64_t)key_of(w, &t->o, i) ^ sign_of(w);
    if (w->made) memcpy(s->records + i * size, &word, width);
    s->records[(i + 1) * size - 1] = (unsigned char)i;
  }
  put_keys(w, t, s->keys);
  s->disorder = 0;
}

static device_status start_move(const way *w, trial *t, void *slot)
{
  moved_slot *const s = slot;
  uint64_t bounds[2 * MOST_ELEMENTS + 1];
  device_piece pieces[MOST_ELEMENTS];
  const size_t size = record_size(w), width = w->job.key_width / 8;
  const uint64_t sign = sign_of(w);
  const device_words words = {
      .data = s->records,
      .stride = size,
      .code = {.bytes = (uint32_t)width, .negative = sign, .if_set = sign, .if_clear = sign}};
  const device_merge_move move = {s->to, size, &s->disorder, w->made ? &words : NULL};
  const uint32_t parts = bounds_of(t, bounds);
  uint32_t used = 0;
  for (uint32_t p = 0; p < parts; p++)
    if (bounds[p] < bounds[p + 1])
      pieces[used++] =
          (device_piece){w->made ? s->records + bounds[p] * size : s->keys + bounds[p] * width,
                         s->records + bounds[p] * size, bounds[p + 1] - bounds[p]};
  return device_merge_records(&w->job, pieces, used, &move);
}

/* Of sorted runs the kernel reports no disorder. Of other runs it may write any order, but it
 * reports each wrong one. */
static bool move_is_right(const way *w, const trial *t, void *slot)
{
  const moved_slot *const s = slot;
  const size_t size = record_size(w);
  bool right = true;
  for (size_t i = 0; i < t->o.count; i++)
    right = right && !memcmp(s->to + i * size, s->records + t->o.place[i] * size, size);
  if (s->to[t->o.count * size] != POISON || (!right && !s->disorder)) return false;
  return (right && !s->disorder) || (descents_of(&t->o) & ~t->cuts);
}

/* ---- Records ---- */

/* The words of a key in the order of their weight. */
static records_program program_of(const way *w)
{
  const uint32_t width = w->job.key_width, words = width > 64 ? 2 : 1;
  records_program program = {.record_size = MOST_RECORD, .key_width = width, .step_count = words};
  for (uint32_t i = 0; i < words; i++)
    program.steps[i] =
        (recsort_key_step){.kind = RECSORT_KEY_UNSIGNED,
                           .flags = key_host_is_big_endian() ? RECSORT_KEY_BIG_ENDIAN : 0,
                           .offset = 8 * i,
                           .bytes = width < 64 ? 4 : 8,
                           .width = (uint8_t)(width < 64 ? 32 : 64),
                           .shift = (uint8_t)(64 * (words - 1 - i))};
  return program;
}

static void put_record(const way *w, const ordering *o, size_t i, unsigned char *record)
{
  const wide_key key = key_of(w, o, i);
  const uint64_t high = (uint64_t)(key >> 64), low = (uint64_t)key;
  const uint32_t half = (uint32_t)low;
  if (w->job.key_width == 32) memcpy(record, &half, sizeof half);
  if (w->job.key_width == 64) memcpy(record, &low, sizeof low);
  if (w->job.key_width == 128) memcpy(record, &high, sizeof high);
  if (w->job.key_width == 128) memcpy(record + 8, &low, sizeof low);
}

typedef struct segment_slot {
  unsigned char records[MOST_ELEMENTS * MOST_RECORD];
  uint64_t bounds[2 * MOST_ELEMENTS + 1], order[MOST_ELEMENTS + 1];
  uint32_t moved[MOST_ELEMENTS + 1], disorder;
  records_facts facts;
} segment_slot;

static uint64_t bytes_of_segments(const way *w, uint64_t count)
{
  (void)w, (void)count;
  return sizeof(segment_slot);
}

static void put_segments(const way *w, const trial *t, void *slot)
{
  segment_slot *const s = slot;
  for (size_t i = 0; i < t->o.count; i++)
    put_record(w, &t->o, i, s->records + i * MOST_RECORD);
  (void)segments_of(t, s->bounds);
  for (size_t i = 0; i <= t->o.count; i++)
    s->moved[i] = ~(uint32_t)i;
  s->disorder = 0;
  memset(&s->facts, 0, sizeof s->facts);
}

static device_status start_segments(const way *w, trial *t, void *slot)
{
  segment_slot *const s = slot;
  const records_program program = program_of(w);
  const device_segment_sort job = {.program = &program,
                                   .key_bits = w->job.key_width,
                                   .records = s->records,
                                   .count = t->o.count,
                                   .segments = {s->bounds, 2 * t->o.count, 64, w->longest},
                                   .shared_bytes = w->job.shared_bytes,
                                   .order = s->order,
                                   .index_bits = 64,
                                   .moved = {{s->moved, s->moved, 1}},
                                   .moved_count = 1,
                                   .disorder = &s->disorder,
                                   .facts = &s->facts,
                                   .stream = w->job.stream};
  return device_segments_suit(&job) ? device_segments_sort(&job) : -1;
}

/* The number of the element that goes to each place, if each part is sorted by itself. */
static void places_of(const trial *t, size_t *places)
{
  uint64_t bounds[2 * MOST_ELEMENTS + 1];
  const uint32_t parts = bounds_of(t, bounds);
  size_t at = 0;
  for (uint32_t part = 0; part < parts; part++)
    for (size_t i = 0; i < t->o.count; i++)
      if (t->o.place[i] >= bounds[part] && t->o.place[i] < bounds[part + 1])
        places[at++] = t->o.place[i];
}

static bool segments_are_right(const way *w, const trial *t, void *slot)
{
  const segment_slot *const s = slot;
  size_t places[MOST_ELEMENTS];
  (void)w;
  places_of(t, places);
  for (size_t i = 0; i < t->o.count; i++)
    if (s->order[i] != places[i] || s->moved[i] != ~(uint32_t)places[i]) return false;
  return !s->disorder && !s->facts.invalid && !s->facts.overlong &&
         (unsigned char)s->order[t->o.count] == POISON &&
         s->moved[t->o.count] == ~(uint32_t)t->o.count;
}

/* ---- Heads ---- */

/* The elements are among others, which are greater: two in each of some columns, if there are more
 * than half of the most. */
enum { AMONG = 1024, COLUMNS = 256 };

typedef struct head_slot {
  unsigned char records[AMONG * MOST_RECORD];
  uint64_t order[MOST_ELEMENTS + 1];
  records_facts facts;
  uint64_t memory[]; /* device_head_bytes() */
} head_slot;

static size_t place_among(size_t i)
{
  enum { HALF = MOST_ELEMENTS / 2 };
  return i / HALF * COLUMNS + i % HALF * 61;
}

static uint64_t bytes_of_head(const way *w, uint64_t count)
{
  (void)w;
  return sizeof(head_slot) + device_head_bytes(AMONG, count);
}

static void put_head(const way *w, const trial *t, void *slot)
{
  head_slot *const s = slot;
  memset(s->records, UCHAR_MAX, sizeof s->records);
  for (size_t i = 0; i < t->o.count; i++)
    put_record(w, &t->o, i, s->records + place_among(i) * MOST_RECORD);
  memset(&s->facts, 0, sizeof s->facts);
}

static device_status start_head(const way *w, trial *t, void *slot)
{
  head_slot *const s = slot;
  const records_program program = program_of(w);
  const device_head job = {.program = &program,
                           .records = s->records,
                           .count = AMONG,
                           .head = t->head,
                           .index_bits = 64,
                           .memory = s->memory,
                           .order = s->order,
                           .facts = &s->facts,
                           .stream = w->job.stream};
  return device_head_find(&job);
}

static bool head_is_right(const way *w, const trial *t, void *slot)
{
  const head_slot *const s = slot;
  (void)w;
  for (size_t i = 0; i < t->head; i++)
    if (s->order[i] != place_among(t->o.place[i])) return false;
  return !s->facts.invalid && (unsigned char)s->order[t->head] == POISON;
}

/* All heads; of many elements one. */
static void try_heads(const ordering *o, void *argument)
{
  if (o->count > ALL_CUTS)
    try_one(argument, o, 0, 1 + batch.tried % o->count);
  else
    for (uint64_t head = 1; head <= o->count; head++)
      try_one(argument, o, 0, head);
}

/* ---- Numbers with their positions ---- */

typedef struct numbers_slot {
  _Alignas(16) unsigned char in[MOST_ELEMENTS * sizeof(wide_key)],
      out[MOST_ELEMENTS * sizeof(wide_key)], values[MOST_ELEMENTS * sizeof(wide_key)];
  wide_key numbers[MOST_ELEMENTS]; /* values of 128 bits; others are positions */
  uint64_t bounds[2 * MOST_ELEMENTS + 1], hashes[MOST_ELEMENTS], tally, balance;
  uint32_t disorder, status;
  _Alignas(DEVICE_ALIGNMENT) unsigned char memory[];
} numbers_slot;

static device_pairs numbers_of(const way *w, numbers_slot *s)
{
  return (device_pairs){.stream = w->job.stream,
                        .count = w->job.count,
                        .kind = RECSORT_KEY_UNSIGNED,
                        .key_width = w->job.key_width,
                        .bits = w->job.key_width,
                        .value_width = w->values,
                        .keys_in = s->in,
                        .keys_out = s->out,
                        .values_in = w->values > 64 ? s->numbers : NULL,
                        .values_out = w->values ? s->values : NULL};
}

static void put_numbers(const way *w, const trial *t, void *slot)
{
  numbers_slot *const s = slot;
  put_keys(w, t, s->in);
  for (size_t i = 0; i < t->o.count; i++)
    s->numbers[i] = i;
  (void)segments_of(t, s->bounds);
  s->balance = s->disorder = 0;
}

static uint64_t bytes_of_few(const way *w, uint64_t count)
{
  (void)count;
  return sizeof(numbers_slot) + device_bytes(&w->job, extra_of(w));
}

static device_status start_few(const way *w, trial *t, void *slot)
{
  numbers_slot *const s = slot;
  const device_pairs job = numbers_of(w, s);
  device_job on = w->job;
  (void)t;
  on.tally = &s->tally;
  return device_pairs_sort_few(&job, &on, s->memory, s->hashes, &s->status);
}

static bool few_are_right(const way *w, const trial *t, void *slot)
{
  const numbers_slot *const s = slot;
  return in_order(w, t, s->out, s->values, w->values) && s->status == RECSORT_OK;
}

/* In one section, or in segments. */
static device_pairs carried_of(const way *w, numbers_slot *s)
{
  device_pairs job = numbers_of(w, s);
  if (w->longest) job.segments = (device_segments){s->bounds, 2 * job.count, 64, w->longest};
  return job;
}

static uint64_t bytes_of_carried(const way *w, uint64_t count)
{
  numbers_slot s;
  (void)count;
  const device_pairs job = carried_of(w, &s);
  const uint64_t bytes = carried_bytes(&job, &w->job, &w->plan);
  assert_true(bytes > 0);
  return sizeof s + bytes;
}

static device_status start_carried(const way *w, trial *t, void *slot)
{
  numbers_slot *const s = slot;
  const device_pairs job = carried_of(w, s);
  device_job on = w->job;
  (void)t;
  on.certificate = (device_certificate){&s->disorder, &s->balance, 0};
  return carried_sort(&job, &on, &w->plan, s->memory);
}

static bool carried_are_right(const way *w, const trial *t, void *slot)
{
  const numbers_slot *const s = slot;
  trial parts = *t;
  if (w->longest) places_of(t, parts.o.place);
  return in_order(w, &parts, s->out, s->values, w->values) && !s->disorder && !s->balance;
}

/* ---- All of them ---- */

/* Tunings send the default sort through its ways for many pairs, too. The published sorts get one
 * element fewer than the others. */
static void test_sorts(void **state)
{
  static const sample_tuning usual = {.most_small = 3, /* or there would be too few to sample */
                                      .most_small_wide = 3,
                                      .most_alone = 2,
                                      .run = 32,
                                      .least_detected = 100,
                                      .least_decided = 100,
                                      .drop_share = 1,
                                      .limit = 2,
                                      .asked = true,
                                      .padded = true,
                                      .tile = 6};
  enum { PLAIN, TILES, BUCKETS, SEARCHED, CARRIED, DROPPED, FORMS };
  sample_tuning tunings[FORMS];
  (void)state;
  for (size_t f = 0; f < FORMS; f++)
    tunings[f] = usual;
  tunings[SEARCHED].searched = true;
  tunings[CARRIED].padded = false;
  tunings[DROPPED].least_detected = 2;
  for (uint32_t a = 0; a < device_algorithm_count; a++)
    for (size_t p = 0; p < WIDTHS; p++)
      for (unsigned form = 0; form < (a == 0 ? FORMS : BUCKETS + 1); form++) {
        way w = {.bytes = bytes_of_pairs,
                 .put = put_pairs,
                 .start = start_sort,
                 .right = pairs_are_right,
                 .algorithm = &device_algorithms[a],
                 .name = device_algorithms[a].shown.name};
        const bool used = !strcmp(w.name, "sample") || !strcmp(w.name, "merge");
        w.job = job_of(p,
                       form == PLAIN   ? 0
                       : form == TILES ? 2
                                       : 4,
                       form < BUCKETS ? NULL : &tunings[form]);
        if (a == 0) w.job.index_bits = 32; /* merge sorts others */
        if (form == CARRIED) w.job.shared_bytes = 100 << 10;
        w.fixed = form != DROPPED; /* then the host waits to hear what the device has found */
        try_all(&w, used ? most : most - 1, try_ordering);
      }
}

/* More than two runs are sorted with the usual tuning. With this one pieces are merged, by
 * splitters, unless indices have 64 bits. */
static void test_merges(void **state)
{
  static const sample_tuning pieces = {.most_alone = 2, .run = 32, .drop_share = 16, .limit = 2};
  (void)state;
  for (size_t p = 0; p < PAIRS; p++)
    for (unsigned form = 0; form < 2; form++) {
      way w = {.name = "merge of runs",
               .bytes = bytes_of_pairs,
               .put = put_pairs,
               .start = start_merge,
               .right = pairs_are_right,
               .job = job_of(p, 0, form ? &pieces : NULL)};
      w.job.shared_bytes = 227 << 10;
      try_all(&w, most, try_runs);
    }
}

static void test_moves(void **state)
{
  (void)state;
  for (size_t p = 0; p < WIDTHS; p++)
    for (unsigned made = 0; made < (pairs[p].width > 64 ? 1 : 2); made++) {
      way w = {.name = "move",
               .bytes = bytes_of_moves,
               .put = put_moves,
               .start = start_move,
               .right = move_is_right,
               .job = job_of(p, 0, NULL),
               .made = made};
      try_all(&w, most, try_any_cuts);
    }
}

/* Ranked, by digits in tiles of several segments, and in a block for each. */
static void test_segments(void **state)
{
  static const uint64_t longest[] = {MOST_ELEMENTS, 100, 300};
  (void)state;
  for (size_t p = 0; p < WIDTHS; p++)
    for (size_t l = 0; l < sizeof longest / sizeof *longest; l++) {
      way w = {.name = "segments",
               .bytes = bytes_of_segments,
               .put = put_segments,
               .start = start_segments,
               .right = segments_are_right,
               .job = job_of(p, 0, NULL),
               .longest = longest[l],
               .fixed = true};
      w.job.shared_bytes = 227 << 10;
      try_all(&w, p == l ? most : at_most(ALL_WAYS), try_any_cuts);
    }
}

static void test_heads(void **state)
{
  (void)state;
  for (size_t p = 0; p < WIDTHS; p++) {
    way w = {.name = "head",
             .bytes = bytes_of_head,
             .put = put_head,
             .start = start_head,
             .right = head_is_right,
             .job = job_of(p, 0, NULL)};
    w.job.key_bits--; /* others have greater keys */
    try_all(&w, most, try_heads);
  }
}

/* As one run, and with what several runs have. */
static void test_few(void **state)
{
  static const sample_tuning runs = {
      .most_small = 100, .most_small_wide = 100, .most_alone = 2, .run = 32};
  (void)state;
  for (size_t p = 0; p < WIDTHS; p++)
    for (unsigned form = 0; form < 2; form++) {
      way w = {.name = "few",
               .bytes = bytes_of_few,
               .put = put_numbers,
               .start = start_few,
               .right = few_are_right,
               .algorithm = &device_algorithms[0],
               .job = job_of(p, 0, form ? &runs : NULL),
               .values = form ? 64 : 32,
               .fixed = true};
      w.job.index_bits = 32;
      try_all(&w, most, try_ordering);
    }
}

/* Each key with each value; of many elements each key with one. */
static void test_carried(void **state)
{
  static const uint32_t values[] = {0, 32, 64, 128};
  static const carried_plan plans[] = {{1, 2, false}, {1, 6, true}, {2, 2, false}, {2, 4, true}};
  enum { VALUES = sizeof values / sizeof *values, PLANS = sizeof plans / sizeof *plans };
  (void)state;
  for (size_t p = 0; p < WIDTHS; p++)
    for (size_t v = 0; v < VALUES; v++)
      for (size_t form = 0; form < PLANS; form++)
        for (uint64_t longest = 0; longest < (plans[form].levels > 1 ? 1 : 200); longest += 100) {
          way w = {.name = longest ? "carried segments" : "carried",
                   .bytes = bytes_of_carried,
                   .put = put_numbers,
                   .start = start_carried,
                   .right = carried_are_right,
                   .job = job_of(p, 0, NULL),
                   .values = values[v],
                   .longest = longest,
                   .plan = plans[form],
                   .fixed = true};
          w.job.shared_bytes = 227 << 10;
          const size_t all = (p + form) % VALUES == v ? MOST_CARRIED : ALL_CARRIED;
          try_all(&w, at_most(all), longest ? try_any_cuts : try_ordering);
        }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sorts),  cmocka_unit_test(test_merges),
                                     cmocka_unit_test(test_moves),  cmocka_unit_test(test_segments),
                                     cmocka_unit_test(test_heads),  cmocka_unit_test(test_few),
                                     cmocka_unit_test(test_carried)};
  if (argc < 2) return 2;
  most = strtoul(argv[1], NULL, 10);
  if (most < 2 || most > MOST_ELEMENTS) return 2;
  if (argc > 2) cmocka_set_test_filter(argv[2]);
  const int failed = cmocka_run_group_tests(tests, make_room, leave_room);
  if (!failed) printf("%lu sorts and merges of up to %zu elements are right\n", batch.tried, most);
  return failed;
}
