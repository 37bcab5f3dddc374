/* The kernels of the GPU plugin in the emulator, on all orderings of a few elements, whose keys are
 * at both ends: sorts, merges of all cuts into runs, and sorts of all cuts into segments.
 * Tunings and what a job says make these few go through tiles and buckets of many.
 *
 * Usage: all_kernels MOST-ELEMENTS */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/sort/sample/plan.h"
#include "emulation/emulator.h"
#include "exhaustive/orderings.h"
#include "gpu/algorithms.h"
#include "gpu/device_merge.h"
#include "gpu/device_segments.h"
#include "recsort/key_interpreter.h"

static size_t most;

enum { ROOM = 1 << 20, MOST_RECORD = 24, GUARD = 8, POISON = 0xee };

__extension__ typedef unsigned __int128 wide_key;

typedef struct trial {
  const device_algorithm *algorithm;
  device_job job;
  uint64_t longest; /* of a segment, which is what the job says */
  bool made;        /* keys are made of words in the records */
  unsigned char *memory;
  unsigned tried;
} trial;

static void fail_with(const trial *t, const ordering *o, unsigned cuts, const char *call)
{
  for (size_t i = 0; i < o->count; i++)
    print_error("%u ", o->rank[i]);
  fail_msg("%s, cuts %#x, %u of %u bits, tile %u, longest %u: %s", call, cuts, t->job.key_bits,
           t->job.key_width, t->job.tile, (unsigned)t->longest, emulator_failure());
}

/* Threads and blocks take turns in another order each time. */
static void begin(trial *t)
{
  emulator_set_order((emulator_order)(t->tried % EMULATOR_ORDERS), t->tried + 1);
  t->tried++;
}

static wide_key key_of(const trial *t, const ordering *o, size_t i)
{
  const wide_key greatest = ~(wide_key)0 >> (128 - t->job.key_bits);
  const size_t rank = o->rank[i];
  return 2 * rank < o->ranks ? rank : greatest - (o->ranks - 1 - rank);
}

static void put_keys(const trial *t, const ordering *o, void *to)
{
  for (size_t i = 0; i < o->count; i++) {
    const wide_key key = key_of(t, o, i);
    memcpy((char *)to + i * t->job.key_width / 8, &key, t->job.key_width / 8);
  }
}

/* ---- Pairs of keys and indices ---- */

static bool pairs_are_right(const trial *t, const ordering *o, const device_buffers *buffers,
                            unsigned result)
{
  const size_t key_size = t->job.key_width / 8, index_size = t->job.index_bits / 8;
  if (result > 1) return false;
  for (size_t i = 0; i < o->count; i++) {
    wide_key key = 0;
    uint64_t index = 0;
    memcpy(&key, (char *)buffers->keys[result] + i * key_size, key_size);
    memcpy(&index, (char *)buffers->indices[result] + i * index_size, index_size);
    if (key != key_of(t, o, o->place[i]) || index != o->place[i]) return false;
  }
  return true;
}

/* Sorts, or merges the runs. */
static void try_pairs(trial *t, const ordering *o, unsigned cuts, const device_runs *runs,
                      const char *call)
{
  uint64_t mailbox[DEVICE_MAILBOX / 8] = {0};
  device_job job = t->job;
  unsigned result = 2;
  job.count = o->count;
  job.mailbox = mailbox;
  const uint64_t extra = runs                        ? device_merge_extra_bytes(&job)
                         : t->algorithm->extra_bytes ? t->algorithm->extra_bytes(&job)
                                                     : 0;
  const device_buffers buffers = device_divide(&job, t->memory, extra);
  assert_true(device_bytes(&job, extra) <= ROOM);
  put_keys(t, o, buffers.keys[0]);
  begin(t);
  const device_status status = runs ? device_merge(&job, runs, &buffers, &result)
                                    : t->algorithm->sort(&job, &buffers, &result);
  if (status || !pairs_are_right(t, o, &buffers, result)) fail_with(t, o, cuts, call);
}

static void try_sort(const ordering *o, void *argument)
{
  trial *const t = argument;
  try_pairs(t, o, 0, NULL, t->algorithm->shown.name);
}

/* ---- Merges ---- */

/* Bounds of the parts that begin at the bits of `cuts`, `times` each: so parts are empty between
 * others. Returns how many parts there are. */
static uint32_t bounds_of(const ordering *o, unsigned cuts, unsigned times, uint64_t *bounds)
{
  uint32_t parts = 0;
  bounds[0] = 0;
  for (size_t i = 1; i <= o->count; i++)
    for (unsigned n = 0; n < times && (i == o->count || cuts >> i & 1); n++)
      bounds[++parts] = i;
  return parts;
}

static void try_merges(const ordering *o, void *argument)
{
  trial *const t = argument;
  uint64_t bounds[2 * MOST_ELEMENTS + 1];
  for (unsigned cuts = 0; cuts < 1u << o->count; cuts += 2) {
    if (descents_of(o) & ~cuts) continue;
    const device_runs runs = {bounds, bounds_of(o, cuts, 1 + t->tried % 2, bounds)};
    try_pairs(t, o, cuts, &runs, "merge");
  }
}

/* Records: the key or another byte, and the record's number. Keys have other bits where records
 * have them: the sign is turned. */
static size_t put_records(const trial *t, const ordering *o, unsigned char *records,
                          device_words *words)
{
  const size_t width = t->job.key_width / 8, size = t->made ? 2 * width : 5;
  const uint64_t sign = UINT64_C(1) << (t->job.key_width - 1) % 64;
  memset(records, POISON, o->count * size);
  *words = (device_words){
      .data = records,
      .stride = size,
      .code = {.bytes = (uint32_t)width, .negative = sign, .if_set = sign, .if_clear = sign}};
  for (size_t i = 0; i < o->count; i++) {
    const uint64_t word = (uint64_t)key_of(t, o, i) ^ sign;
    if (t->made) memcpy(records + i * size, &word, width);
    records[(i + 1) * size - 1] = (unsigned char)i;
  }
  return size;
}

/* Of sorted runs the kernel reports no disorder. Of other runs it may write any order, but it
 * reports each wrong one. */
static void try_moves(const ordering *o, void *argument)
{
  trial *const t = argument;
  unsigned char records[MOST_ELEMENTS * MOST_RECORD], to[sizeof records + GUARD];
  _Alignas(16) unsigned char keys[MOST_ELEMENTS * sizeof(wide_key)];
  uint64_t bounds[MOST_ELEMENTS + 1];
  device_words words;
  device_piece pieces[MOST_ELEMENTS];
  t->job.count = o->count;
  for (unsigned cuts = 0; cuts < 1u << o->count; cuts += 2) {
    const uint32_t parts = bounds_of(o, cuts, 1, bounds);
    const size_t size = put_records(t, o, records, &words), width = t->job.key_width / 8;
    uint32_t disorder = 0;
    const device_merge_move move = {to, size, &disorder, t->made ? &words : NULL};
    bool right = true;
    put_keys(t, o, keys);
    for (uint32_t p = 0; p < parts; p++)
      pieces[p] = (device_piece){t->made ? records + bounds[p] * size : keys + bounds[p] * width,
                                 records + bounds[p] * size, bounds[p + 1] - bounds[p]};
    memset(to, POISON, sizeof to);
    begin(t);
    if (device_merge_records(&t->job, pieces, parts, &move)) fail_with(t, o, cuts, "move");
    for (size_t i = 0; i < o->count; i++)
      right = right && !memcmp(to + i * size, records + o->place[i] * size, size);
    if (to[o->count * size] != POISON || (!right && !disorder) ||
        ((!right || disorder) && !(descents_of(o) & ~cuts)))
      fail_with(t, o, cuts, "move");
  }
}

/* ---- Records ---- */

/* The words of a key in the order of their weight. */
static records_program program_of(const trial *t)
{
  const uint32_t width = t->job.key_width, words = width > 64 ? 2 : 1;
  records_program program = {.record_size = MOST_RECORD, .key_width = width, .step_count = words};
  for (uint32_t w = 0; w < words; w++)
    program.steps[w] =
        (recsort_key_step){.kind = RECSORT_KEY_UNSIGNED,
                           .flags = key_host_is_big_endian() ? RECSORT_KEY_BIG_ENDIAN : 0,
                           .offset = 8 * w,
                           .bytes = width < 64 ? 4 : 8,
                           .width = (uint8_t)(width < 64 ? 32 : 64),
                           .shift = (uint8_t)(64 * (words - 1 - w))};
  return program;
}

static void put_program_records(const trial *t, const ordering *o, unsigned char *records)
{
  for (size_t i = 0; i < o->count; i++) {
    const wide_key key = key_of(t, o, i);
    const uint64_t high = (uint64_t)(key >> 64), low = (uint64_t)key;
    const uint32_t half = (uint32_t)low;
    unsigned char *const record = records + i * MOST_RECORD;
    if (t->job.key_width == 32) memcpy(record, &half, sizeof half);
    if (t->job.key_width == 64) memcpy(record, &low, sizeof low);
    if (t->job.key_width == 128) memcpy(record, &high, sizeof high);
    if (t->job.key_width == 128) memcpy(record + 8, &low, sizeof low);
  }
}

static bool segments_are_right(const ordering *o, const uint64_t *bounds, uint32_t parts,
                               const uint64_t *order, const uint32_t *moved)
{
  size_t at = 0;
  for (uint32_t part = 0; part < parts; part++)
    for (size_t i = 0; i < o->count; i++)
      if (o->place[i] >= bounds[part] && o->place[i] < bounds[part + 1]) {
        if (order[at] != o->place[i] || moved[at] != ~(uint32_t)o->place[i]) return false;
        at++;
      }
  return at == o->count;
}

/* All cuts into segments, of which none has more than t->longest records. */
static void try_segments(const ordering *o, void *argument)
{
  trial *const t = argument;
  const records_program program = program_of(t);
  unsigned char records[MOST_ELEMENTS * MOST_RECORD] = {0};
  uint64_t bounds[2 * MOST_ELEMENTS + 1], order[MOST_ELEMENTS + 1];
  put_program_records(t, o, records);
  for (unsigned cuts = 0; cuts < 1u << o->count; cuts += 2) {
    const uint32_t parts = bounds_of(o, cuts, 1 + t->tried % 2, bounds);
    uint32_t moved[MOST_ELEMENTS + 1], disorder = 0;
    records_facts facts = {0};
    const device_segment_sort job = {.program = &program,
                                     .key_bits = t->job.key_width,
                                     .records = records,
                                     .count = o->count,
                                     .segments = {bounds, parts, 64, t->longest},
                                     .shared_bytes = t->job.shared_bytes,
                                     .order = order,
                                     .index_bits = 64,
                                     .moved = {{moved, moved, 1}},
                                     .moved_count = 1,
                                     .disorder = &disorder,
                                     .facts = &facts};
    for (size_t i = 0; i <= o->count; i++)
      moved[i] = ~(uint32_t)i;
    order[o->count] = POISON;
    begin(t);
    if (!device_segments_suit(&job) || device_segments_sort(&job) || disorder || facts.invalid ||
        facts.overlong || order[o->count] != POISON || moved[o->count] != ~(uint32_t)o->count ||
        !segments_are_right(o, bounds, parts, order, moved))
      fail_with(t, o, cuts, "segments");
  }
}

/* ---- All of them ---- */

/* Keys of the same width: all bits of the last two cannot be packed with an index. */
static const struct {
  uint32_t width, bits, index_bits;
} pairs[] = {{32, 32, 32}, {64, 64, 64}, {128, 128, 32}, {64, 40, 32}, {64, 64, 32}};
enum { SORTED = 3, PAIRS = sizeof pairs / sizeof *pairs };

static device_job job_of(size_t pair, uint32_t tile, const sample_tuning *tuning)
{
  return (device_job){.key_bits = pairs[pair].bits,
                      .key_width = pairs[pair].width,
                      .index_bits = pairs[pair].index_bits,
                      .block = 32,
                      .tile = tile,
                      .shared_bytes = 8192,
                      .tuning = tuning,
                      .multiprocessors = 2};
}

static void try_all(size_t least, size_t greatest, void (*body)(const ordering *, void *), trial *t)
{
  for (size_t count = least; count <= greatest; count++)
    assert_int_equal(each_ordering(count, body, t), orderings_of[count]);
}

static void test_sorts(void **state)
{
  static const sample_tuning buckets = {.most_small = 2,
                                        .most_small_wide = 2,
                                        .most_alone = 2,
                                        .run = 2,
                                        .least_detected = 2,
                                        .least_decided = 2,
                                        .drop_share = 1,
                                        .limit = 2,
                                        .padded = true,
                                        .tile = 4};
  static const uint32_t tiles[] = {0, 2, 4};
  trial t = {.memory = *state};
  for (uint32_t a = 0; a < device_algorithm_count; a++)
    for (size_t p = 0; p < SORTED; p++)
      for (unsigned way = 0; way < 3; way++) {
        t.algorithm = &device_algorithms[a];
        t.job = job_of(p, tiles[way], way == 2 ? &buckets : NULL);
        try_all(2, most, try_sort, &t);
      }
}

/* More than two runs are sorted with the usual tuning. With this one pieces are merged, by
 * splitters, unless indices have 64 bits. */
static void test_merges(void **state)
{
  static const sample_tuning pieces = {.most_alone = 2, .run = 2, .drop_share = 16, .limit = 2};
  trial t = {.memory = *state};
  for (size_t p = 0; p < PAIRS; p++)
    for (unsigned way = 0; way < 2; way++) {
      t.job = job_of(p, 0, way ? &pieces : NULL);
      t.job.shared_bytes = EMULATOR_SHARED_BYTES;
      try_all(1, most, try_merges, &t);
    }
}

static void test_moves(void **state)
{
  trial t = {.memory = *state};
  for (size_t p = 0; p < SORTED; p++)
    for (unsigned made = 0; made < (pairs[p].width > 64 ? 1 : 2); made++) {
      t.job = job_of(p, 0, NULL);
      t.made = made;
      try_all(1, most, try_moves, &t);
    }
}

/* Ranked, by digits in tiles of several segments, and in a block for each; of more elements, which
 * take long, each way with keys of one width. */
static void test_segments(void **state)
{
  enum { EVERY_WIDTH = 5 };
  static const uint64_t longest[] = {MOST_ELEMENTS, 100, 300};
  trial t = {.memory = *state};
  for (size_t p = 0; p < SORTED; p++)
    for (size_t l = 0; l < sizeof longest / sizeof *longest; l++) {
      t.job = job_of(p, 0, NULL);
      t.job.shared_bytes = EMULATOR_SHARED_BYTES;
      t.longest = longest[l];
      try_all(1, p == l || most < EVERY_WIDTH ? most : EVERY_WIDTH, try_segments, &t);
    }
}

static int make_room(void **state)
{
  *state = aligned_alloc(DEVICE_ALIGNMENT, ROOM);
  return *state ? 0 : -1;
}

static int leave_room(void **state)
{
  free(*state);
  return 0;
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sorts), cmocka_unit_test(test_merges),
                                     cmocka_unit_test(test_moves), cmocka_unit_test(test_segments)};
  if (argc != 2) return 2;
  most = strtoul(argv[1], NULL, 10);
  if (most < 2 || most > MOST_ELEMENTS) return 2;
  return cmocka_run_group_tests(tests, make_room, leave_room);
}
