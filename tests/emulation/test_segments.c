/* Tests the kernels that sort short segments: with every kind of key and of lengths, in every way,
 * and that a barrier left out is noticed. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "barriers.h"
#include "emulator.h"
#include "gpu/device_segments.h"
#include "recsort/key_interpreter.h"
#include "support/random.h"

enum { POISON = 0xee, GUARD = 64 };

/* ---- Keys: each kind puts a rank into a record so that keys are in the order of ranks ---- */

static void put_float(unsigned char *record, uint64_t rank)
{
  const float value = (float)(int64_t)(rank % 10000) - 5000;
  memcpy(record, &value, sizeof value);
}

static void put_descending(unsigned char *record, uint64_t rank)
{
  const int32_t value = 5000 - (int32_t)rank;
  memcpy(record, &value, sizeof value);
}

static void put_word(unsigned char *record, uint64_t rank)
{
  const uint64_t value = UINT64_MAX - 20000 + rank; /* all bits can be set */
  memcpy(record, &value, sizeof value);
}

static void put_short(unsigned char *record, uint64_t rank)
{
  const uint16_t value = (uint16_t)rank;
  memcpy(record + 3, &value, sizeof value);
}

static void put_wide(unsigned char *record, uint64_t rank)
{
  const uint64_t high = rank / 100 << 40, low = rank % 100 << 35 | rank % 100;
  memcpy(record, &high, sizeof high);
  memcpy(record + 8, &low, sizeof low);
}

static const struct {
  uint32_t size, bits, step_count;
  recsort_key_step steps[2];
  void (*put)(unsigned char *record, uint64_t rank);
} kinds[] = {
    {4,
     32,
     1,
     {{.kind = RECSORT_KEY_FLOAT, .bytes = 4, .width = 32, .limit = 0x7f800000}},
     put_float},
    {8, 64, 1, {{.kind = RECSORT_KEY_UNSIGNED, .bytes = 8, .width = 64}}, put_word},
    {5, 16, 1, {{.kind = RECSORT_KEY_UNSIGNED, .offset = 3, .bytes = 2, .width = 16}}, put_short},
    {24,
     128,
     2,
     {{.kind = RECSORT_KEY_UNSIGNED, .bytes = 8, .width = 64, .shift = 64},
      {.kind = RECSORT_KEY_UNSIGNED, .offset = 8, .bytes = 8, .width = 64}},
     put_wide},
    {8,
     32,
     1,
     {{.kind = RECSORT_KEY_SIGNED, .flags = RECSORT_KEY_DESCENDING, .bytes = 4, .width = 32}},
     put_descending}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static records_program program_of(unsigned kind)
{
  records_program program = {.record_size = kinds[kind].size,
                             .key_width = kinds[kind].bits,
                             .step_count = kinds[kind].step_count};
  for (uint32_t s = 0; s < program.step_count; s++) {
    program.steps[s] = kinds[kind].steps[s];
    if (key_host_is_big_endian()) program.steps[s].flags |= RECSORT_KEY_BIG_ENDIAN;
  }
  return program;
}

/* ---- Segments ---- */

/* Lengths from `least` to `longest`, which is `most` of the job unless that is given. */
typedef struct shape {
  uint32_t count, least, longest, most;
  uint32_t before, behind; /* records outside */
  uint64_t shared;         /* 0: as much as there is */
} shape;

/* Fills offsets of at most shape.count segments; returns how many. The first is of the longest, and
 * some are empty if the shape allows it. */
static uint64_t fill_offsets(uint64_t *offsets, const shape *s, uint64_t *random)
{
  const uint64_t end = s->count - s->behind;
  uint64_t segments = 0;
  offsets[0] = s->before;
  while (segments < s->count && offsets[segments] < end) {
    const uint64_t drawn = s->least + random_below(random, s->longest - s->least + 1);
    const uint64_t length = segments == 0                               ? s->longest
                            : s->least == 0 && !random_below(random, 3) ? 0
                                                                        : drawn;
    const uint64_t next = offsets[segments] + length;
    offsets[++segments] = next < end ? next : end;
  }
  return segments;
}

/* ---- A case ---- */

enum { ARRAYS = 4, WORDS = 2 };

/* A job with all of its memory; what comes out is followed by guards. */
typedef struct trial {
  device_segment_sort job;
  records_program program;
  records_facts facts;
  uint64_t *ranks, *offsets, *expected;
  uint32_t *narrow;
  unsigned char *records, *order;
  uint32_t *from[ARRAYS], *to[ARRAYS]; /* of elements of 1 or 2 words; the last two are the same */
  uint32_t disorder;
} trial;

static unsigned char *allocate(size_t size)
{
  unsigned char *const at = malloc(size + GUARD);
  if (!at) abort();
  memset(at, POISON, size + GUARD);
  return at;
}

static const uint64_t *compared;

static int compare_ranks(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  if (compared[x] != compared[y]) return compared[x] < compared[y] ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* By qsort, of ranks and not of keys. */
static void find_expected(trial *t, uint64_t segments)
{
  for (uint64_t i = 0; i < t->job.count; i++)
    t->expected[i] = i;
  compared = t->ranks;
  for (uint64_t s = 0; s < segments; s++)
    qsort(t->expected + t->offsets[s], t->offsets[s + 1] - t->offsets[s], sizeof *t->expected,
          compare_ranks);
}

static void fill_records(trial *t, unsigned kind, uint64_t *random)
{
  static const uint64_t ranks[] = {1, 3, 200, 10000};
  const uint64_t below = ranks[random_below(random, sizeof ranks / sizeof *ranks)];
  const uint32_t size = kinds[kind].size;
  for (uint64_t i = 0; i < t->job.count; i++) {
    t->ranks[i] = random_below(random, below);
    kinds[kind].put(t->records + i * size, t->ranks[i]);
  }
  for (unsigned a = 0; a < ARRAYS; a++)
    for (uint64_t i = 0; i < t->job.count * WORDS; i++)
      t->from[a][i] = (uint32_t)next_random(random);
}

static trial *make_trial(const shape *s, unsigned kind, uint64_t *random)
{
  trial *const t = calloc(1, sizeof *t);
  const uint64_t count = s->count;
  if (!t) abort();
  t->program = program_of(kind);
  t->ranks = (uint64_t *)(void *)allocate(count * sizeof *t->ranks);
  t->offsets = (uint64_t *)(void *)allocate((count + 1) * sizeof *t->offsets);
  t->narrow = (uint32_t *)(void *)allocate((count + 1) * sizeof *t->narrow);
  t->expected = (uint64_t *)(void *)allocate(count * sizeof *t->expected);
  t->records = allocate(count * kinds[kind].size);
  for (unsigned a = 0; a < ARRAYS; a++) {
    t->from[a] = (uint32_t *)(void *)allocate(count * WORDS * sizeof(uint32_t));
    t->to[a] = (uint32_t *)(void *)allocate(count * WORDS * sizeof(uint32_t));
  }
  const uint64_t segments = fill_offsets(t->offsets, s, random);
  for (uint64_t i = 0; i <= segments; i++)
    t->narrow[i] = (uint32_t)t->offsets[i];
  const bool wide = random_below(random, 2);
  t->job =
      (device_segment_sort){.program = &t->program,
                            .key_bits = kinds[kind].bits,
                            .records = t->records,
                            .count = count,
                            .segments = {wide ? (void *)t->offsets : (void *)t->narrow, segments,
                                         wide ? 64 : 32, s->most ? s->most : s->longest},
                            .shared_bytes = s->shared ? s->shared : EMULATOR_SHARED_BYTES,
                            .index_bits = random_below(random, 2) ? 32 : 64,
                            .facts = &t->facts,
                            .disorder = &t->disorder};
  t->order = allocate(count * t->job.index_bits / 8);
  fill_records(t, kind, random);
  find_expected(t, segments);
  return t;
}

static void free_trial(trial *t)
{
  for (unsigned a = 0; a < ARRAYS; a++) {
    free(t->from[a]);
    free(t->to[a]);
  }
  free(t->ranks);
  free(t->offsets);
  free(t->narrow);
  free(t->expected);
  free(t->records);
  free(t->order);
  free(t);
}

/* Adds an array: elements of 1 or 2 words, in place or not. Where they are in place, `from` keeps
 * what was there. */
static void add_moved(trial *t, unsigned a, bool in_place)
{
  const uint32_t words = 1 + a % WORDS;
  if (in_place) memcpy(t->to[a], t->from[a], t->job.count * words * sizeof(uint32_t));
  t->job.moved[t->job.moved_count++] =
      (device_moved){in_place ? t->to[a] : t->from[a], t->to[a], words};
}

static bool is_guarded(const void *array, size_t size)
{
  for (size_t i = 0; i < GUARD; i++)
    if (((const unsigned char *)array)[size + i] != POISON) return false;
  return true;
}

static bool order_is_right(const trial *t)
{
  for (uint64_t i = 0; i < t->job.count; i++) {
    const uint64_t index = t->job.index_bits == 32 ? ((const uint32_t *)(const void *)t->order)[i]
                                                   : ((const uint64_t *)(const void *)t->order)[i];
    if (index != t->expected[i]) return false;
  }
  return is_guarded(t->order, t->job.count * t->job.index_bits / 8);
}

static bool array_is_right(const trial *t, unsigned a)
{
  const uint32_t words = 1 + a % WORDS;
  for (uint64_t i = 0; i < t->job.count; i++)
    if (memcmp(t->to[a] + i * words, t->from[a] + t->expected[i] * words,
               words * sizeof(uint32_t)) != 0)
      return false;
  return is_guarded(t->to[a], t->job.count * WORDS * sizeof(uint32_t));
}

/* Sorts, with the order and without. */
static bool run_trial(trial *t, bool ordered)
{
  if (ordered) t->job.order = t->order;
  for (unsigned a = 0; a < ARRAYS; a++)
    add_moved(t, a, a >= 2);
  bool right = device_segments_suit(&t->job) && device_segments_sort(&t->job) == 0;
  for (unsigned a = 0; a < ARRAYS; a++)
    right = right && array_is_right(t, a);
  return right && (!ordered || order_is_right(t)) && !t->facts.invalid && !t->disorder;
}

static bool check_shape(const shape *s, unsigned kind, bool overlong, uint64_t *random)
{
  trial *const t = make_trial(s, kind, random);
  emulator_set_order((emulator_order)random_below(random, EMULATOR_ORDERS),
                     1 + next_random(random));
  const bool right = run_trial(t, random_below(random, 4)) && t->facts.overlong == overlong;
  free_trial(t);
  return right;
}

/* ---- Tests ---- */

static const shape shapes[] = {
    /* counted */
    {1, 1, 1, 0, 0, 0, 0},
    {40, 0, 0, 3, 7, 9, 0}, /* all are empty */
    {3000, 0, 5, 0, 0, 0, 0},
    {5000, 1, 32, 0, 10, 2500, 0},
    {4200, 64, 64, 0, 2100, 0, 0},
    {2000, 0, 64, 0, 33, 1, 0},
    /* tiles, by digits */
    {5000, 0, 200, 0, 0, 0, 0},
    {5000, 65, 66, 0, 1, 1, 0},
    {2500, 0, 3, 100, 0, 0, 0}, /* their numbers have two digits */
    {255, 1, 1, 70, 0, 0, 0},
    {256, 1, 1, 70, 0, 0, 0},
    {257, 1, 1, 70, 0, 0, 0},
    {285, 1, 1, 70, 0, 0, 0},
    {4000, 0, 70, 500, 2100, 100, 0},
    {9000, 0, 1000, 0, 5, 0, 48 << 10},
    {3000, 0, 1, 1000, 0, 0, 0},
    /* a block for each */
    {3000, 250, 300, 0, 0, 0, 0},
    {4100, 512, 512, 0, 4, 0, 0},
    {4000, 513, 513, 0, 700, 90, 0},
    {5000, 1000, 1700, 0, 0, 33, 0},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static void sorts_every_shape(void **state)
{
  uint64_t random = 1;
  (void)state;
  for (unsigned kind = 0; kind < KINDS; kind++)
    for (unsigned s = 0; s < SHAPES; s++)
      if (!check_shape(&shapes[s], kind, false, &random))
        fail_msg("kind %u, shape %u: %s", kind, s, emulator_failure());
}

/* The longest that fit in a block: keys of 128 bits leave less space. */
static void sorts_the_longest(void **state)
{
  static const shape longest[] = {{33000, 16384, 16384, 0, 100, 0, 0},
                                  {20000, 2000, 8192, 0, 0, 3, 0}};
  uint64_t random = 2;
  (void)state;
  assert_true(check_shape(&longest[0], 0, false, &random));
  assert_true(check_shape(&longest[1], 3, false, &random));
}

/* The first segment, which ends at `end`, is longer than was said and does not fit. */
static void check_overlong(uint32_t most, uint32_t end, unsigned kind, uint64_t *random)
{
  enum { COUNT = 9000, BEGIN = 10 };
  const shape s = {COUNT, most, most, 0, end, 0, 0};
  trial *const t = make_trial(&s, kind, random);
  memmove(t->offsets + 1, t->offsets, (t->job.segments.count + 1) * sizeof *t->offsets);
  t->offsets[0] = BEGIN;
  t->job.segments.count++;
  t->job.segments.offsets = t->offsets;
  t->job.segments.offset_bits = 64;
  assert_true(run_trial(t, true));
  assert_int_equal(t->facts.overlong, 1);
  free_trial(t);
}

/* A segment that does not fit is left as it is, but moved; those that are not beside it are
 * sorted. Tiles have 2048, 2048 and 1024 records. */
static void leaves_overlong_segments(void **state)
{
  static const uint32_t most[] = {20, 200, 1000}, ends[] = {2510, 6010};
  uint64_t random = 3;
  (void)state;
  for (unsigned m = 0; m < sizeof most / sizeof *most; m++)
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
      check_overlong(most[m], ends[e], m, &random);
}

/* Only records in segments can be invalid. */
static void reports_invalid_records(void **state)
{
  enum { COUNT = 600, BEGIN = 100 };
  static uint8_t values[COUNT];
  static const uint32_t most[] = {50, 100, 500};
  records_program program = {.record_size = 1, .key_width = 32, .step_count = 1};
  (void)state;
  program.steps[0] =
      (recsort_key_step){.kind = RECSORT_KEY_OFFSET, .bytes = 1, .width = 2, .limit = 3};
  for (size_t m = 0; m < sizeof most / sizeof *most; m++)
    for (uint32_t invalid = BEGIN - 1; invalid <= BEGIN; invalid++) {
      const uint32_t offsets[] = {BEGIN, BEGIN + most[m]};
      records_facts facts = {0};
      memset(values, 0, sizeof values);
      values[invalid] = 9;
      const device_segment_sort job = {.program = &program,
                                       .key_bits = 2,
                                       .records = values,
                                       .count = COUNT,
                                       .segments = {offsets, 1, 32, most[m]},
                                       .shared_bytes = EMULATOR_SHARED_BYTES,
                                       .facts = &facts};
      assert_int_equal(device_segments_sort(&job), 0);
      assert_int_equal(facts.invalid, invalid == BEGIN);
      assert_int_equal(facts.overlong, 0);
    }
}

/* ---- Lengths that the device finds ---- */

static device_status note_longest(void *context, uint64_t longest, const device_job *inner)
{
  *(uint64_t *)context = inner->branches[0] ? 0 : longest;
  return 0;
}

/* Whether the kernel finds the limit of these offsets, in each order of threads and blocks, again
 * and again with the same memory. */
static bool finds_limit(const uint64_t *offsets, uint64_t segments, uint64_t limit,
                        uint32_t *memory)
{
  int stream = 0;
  const device_job sort = {.branches = {&stream, &stream}};
  const device_segment_sort job = {.key_bits = 32,
                                   .count = 1000000,
                                   .segments = {offsets, segments, 64, 0},
                                   .shared_bytes = 227 << 10};
  for (unsigned order = 0; order < EMULATOR_ORDERS; order++) {
    uint64_t found = 1;
    emulator_set_order((emulator_order)order, 5);
    if (!device_segments_measurable(&job, &sort) ||
        device_segments_measure(&job, &sort, memory, note_longest, &found) || found != limit)
      return false;
  }
  return true;
}

static bool finds_limits(const void *context, unsigned patience)
{
  static const uint64_t limits[] = {64, 256, 1024, 4096, 8192, 0};
  uint32_t memory[DEVICE_MEASURE_WORDS] = {0};
  enum { SEGMENTS = 3000 };
  static uint64_t offsets[SEGMENTS + 1];
  (void)context;
  barriers_limit(patience);
  for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
    for (unsigned above = 0; above < 2; above++) {
      const uint64_t longest = limits[l] ? limits[l] + above : above ? UINT64_C(1) << 33 : 20000;
      const uint64_t limit = limits[above && limits[l] ? l + 1 : l];
      const size_t at = 977 * (l + 3) % SEGMENTS; /* of the longest */
      for (size_t s = 0; s < SEGMENTS; s++)
        offsets[s + 1] = offsets[s] + (s == at ? longest : s % 65 * (l > 0));
      if (!finds_limit(offsets, SEGMENTS, limit, memory) ||
          !finds_limit(offsets + at, 1, longest == 8193 ? 16384 : limit, memory))
        return false;
    }
  barriers_limit(0);
  return true;
}

static void measures_segments(void **state)
{
  int stream = 0;
  const device_job decides = {.branches = {&stream, &stream}}, waits = {.count = 0};
  const device_segment_sort few = {.count = 599}, many = {.count = 600};
  const device_segment_sort known = {.count = 600, .segments.most = 9};
  (void)state;
  assert_true(finds_limits(NULL, 60));
  assert_true(device_segments_measurable(&many, &decides));
  assert_false(device_segments_measurable(&few, &decides));
  assert_false(device_segments_measurable(&known, &decides));
  assert_false(device_segments_measurable(&many, &waits));
}

static void suits_short_segments(void **state)
{
  static const struct {
    uint32_t key_bits, segments;
    uint64_t shared, most;
    bool suits;
  } rows[] = {
      {32, 1000, 227 << 10, 0, false},    {32, 1000, 227 << 10, 1, true},
      {32, 1000, 227 << 10, 8192, true},  {32, 1000, 227 << 10, 8193, false},
      {128, 1000, 227 << 10, 4096, true}, {128, 1000, 227 << 10, 4097, false},
      {64, 100, 227 << 10, 16384, true},  {64, 100, 227 << 10, 16385, false},
      {64, 123, 227 << 10, 16384, false}, {128, 100, 227 << 10, 8192, true},
      {128, 100, 227 << 10, 8193, false}, {128, 9000, 48 << 10, 1024, true},
      {128, 9000, 48 << 10, 1025, false}, {64, 100, 227 << 10, ((uint64_t)1 << 63) + 1, false},
  };
  (void)state;
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    const device_segment_sort job = {.key_bits = rows[r].key_bits,
                                     .count = 1000000,
                                     .segments = {.count = rows[r].segments, .most = rows[r].most},
                                     .shared_bytes = rows[r].shared};
    if (device_segments_suit(&job) != rows[r].suits) fail_msg("row %zu", r);
  }
}

/* ---- Faults ---- */

/* All keys but one are the same: only one thread sees that a digit varies. */
static bool check_lone(unsigned kind, emulator_order order)
{
  enum { COUNT = 400, LONE = 333 };
  static const shape one = {COUNT, COUNT, COUNT, 0, 0, 0, 0};
  uint64_t random = 6;
  trial *const t = make_trial(&one, kind, &random);
  for (uint64_t i = 0; i < COUNT; i++) {
    t->ranks[i] = i != LONE;
    kinds[kind].put(t->records + i * kinds[kind].size, t->ranks[i]);
  }
  find_expected(t, 1);
  emulator_set_order(order, 1);
  const bool right = run_trial(t, true);
  free_trial(t);
  return right;
}

/* Shapes of every way, in every order. */
static bool pass_cases(const void *context, unsigned patience)
{
  static const unsigned some[] = {5, 6, 8, 15, 17};
  uint64_t random = 4;
  (void)context;
  for (unsigned round = 0; round < 6; round++)
    for (size_t s = 0; s < sizeof some / sizeof *some; s++) {
      barriers_limit(patience);
      if (!check_shape(&shapes[some[s]], round % KINDS, false, &random)) return false;
    }
  for (unsigned order = 0; order < EMULATOR_ORDERS; order++)
    for (unsigned kind = 0; kind < KINDS; kind++) {
      barriers_limit(patience);
      if (!check_lone(kind, (emulator_order)order)) return false;
    }
  barriers_limit(0);
  return true;
}

static void needs_every_barrier(void **state)
{
  (void)state;
  emulator_clear_sites();
  assert_true(pass_cases(NULL, 0));
  assert_true(barriers_check("segments", pass_cases, NULL, 1));
  emulator_clear_sites();
  assert_true(finds_limits(NULL, 0));
  assert_true(barriers_check("lengths", finds_limits, NULL, 1));
}

/* Without some barrier it sorts wrongly, and finds that out by itself. */
static void notices_its_mistakes(void **state)
{
  emulator_site sites[EMULATOR_MAX_SITES];
  size_t noticed = 0;
  (void)state;
  emulator_clear_sites();
  assert_true(pass_cases(NULL, 0));
  const size_t count = emulator_sites(sites);
  for (size_t i = 0; i < count; i++) {
    const pid_t child = fork();
    if (child == 0) {
      uint64_t random = 5;
      barriers_limit(10);
      emulator_ignore(sites[i]);
      emulator_set_order(EMULATOR_REVERSE, 1);
      trial *const t = make_trial(&shapes[17], 0, &random);
      (void)run_trial(t, true);
      _exit(t->disorder == 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    noticed += WIFEXITED(status) && WEXITSTATUS(status) == 1;
  }
  assert_true(noticed > 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sorts_every_shape),        cmocka_unit_test(sorts_the_longest),
      cmocka_unit_test(leaves_overlong_segments), cmocka_unit_test(reports_invalid_records),
      cmocka_unit_test(suits_short_segments),     cmocka_unit_test(measures_segments),
      cmocka_unit_test(needs_every_barrier),      cmocka_unit_test(notices_its_mistakes),
  };
  return cmocka_run_group_tests_name("segments", tests, NULL, NULL);
}
