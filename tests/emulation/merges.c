/* merges - tests the merges of sorted runs on the device without a GPU, and that the cases notice a
 * missing barrier.
 *
 *   merges [--cases]    only the cases: for builds with sanitizers, which are slow
 *
 * Exit status: 0 if all cases passed, and failed where they should; otherwise 1.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barriers.h"
#include "cuda/sort/sample/merge_plan.h"
#include "emulator.h"
#include "gpu/device_merge.h"
#include "support/random.h"

__extension__ typedef unsigned __int128 wide_key;

enum { MOST_COUNT = 3 << 16, MOST_RUNS = 1 << 16, GUARD_BYTES = 64, POISON = 0xee };
enum { SHARED_BYTES = 227 * 1024 };

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* How long the runs are. */
typedef enum run_lengths { EVEN, UNEVEN, GIANT, LENGTHS } run_lengths;

/* What merges them. */
typedef enum merge_way { BY_PAIRS, BY_PIECES, BY_SORT } merge_way;

/* Keys at the low end of their range, over all of it, with zeros in their low bits, in clusters
 * that only their low bits tell apart, or in its upper half. */
typedef enum key_way { WAY_LOW, WAY_WHOLE, WAY_ZEROS, WAY_CLUSTERS, WAY_UPPER, KEY_WAYS } key_way;

typedef struct sample {
  device_job job;
  device_runs runs;
  run_lengths lengths;
  uint64_t values; /* different keys */
  uint64_t record_size;
  key_way keys_way;
  emulator_order order;
  uint64_t seed;
  uint64_t *bounds;
  wide_key *keys;
  uint64_t *expected; /* the stable order */
} sample;

typedef struct tally {
  size_t passed, failed;
  double longest; /* seconds that a case took */
} tally;

/* ---- Inputs ---- */

/* In sorts, few pairs are ranked; the merges that are tested here must take them. */
static const sample_tuning tuning = {
    .most_alone = 128, .run = 128, .least_detected = UINT64_MAX, .drop_share = 16, .limit = 10};

/* Even lengths; or each fourth run is empty; or one run has most keys. */
static void fill_bounds(sample *s, uint64_t *random)
{
  const uint64_t count = s->job.count, runs = s->runs.count, share = count / runs;
  const uint64_t giant = random_below(random, runs), tiny = share > 8 ? share / 8 : 1;
  s->bounds[0] = 0;
  for (uint64_t r = 1; r < runs; r++) {
    const uint64_t even = share * r + count % runs * r / runs;
    if (s->lengths == EVEN || share < 2)
      s->bounds[r] = even;
    else if (s->lengths == GIANT)
      s->bounds[r] = r > giant ? count - (runs - r) * tiny : r * tiny;
    else
      s->bounds[r] = r % 4 == 3 ? s->bounds[r - 1] : even + random_below(random, share);
  }
  s->bounds[runs] = count;
}

static wide_key key_of(const sample *s, uint64_t value)
{
  const wide_key top = ~(wide_key)0 >> (128 - s->job.key_bits);
  switch (s->keys_way) {
  case WAY_WHOLE:
    return s->values > 1 ? value * (top / (s->values - 1)) : top;
  case WAY_ZEROS:
    return (wide_key)value << (s->job.key_bits - 20);
  case WAY_CLUSTERS:
    return (wide_key)(value / 8) << (s->job.key_bits - 20) | value % 8;
  case WAY_UPPER:
    return top / 2 + 1 + value * (top >> 24);
  default:
    return value;
  }
}

static int compare_values(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* qsort has no context. */
static const wide_key *compared_keys;

static int compare_places(const void *a, const void *b)
{
  const uint64_t i = *(const uint64_t *)a, j = *(const uint64_t *)b;
  const wide_key x = compared_keys[i], y = compared_keys[j];
  return x != y ? (x < y ? -1 : 1) : i < j ? -1 : i > j;
}

static void fill_keys(sample *s, uint64_t *random)
{
  const size_t count = (size_t)s->job.count;
  for (size_t i = 0; i < count; i++)
    s->expected[i] = random_below(random, s->values);
  for (uint32_t r = 0; r < s->runs.count; r++)
    qsort(s->expected + s->bounds[r], (size_t)(s->bounds[r + 1] - s->bounds[r]),
          sizeof *s->expected, compare_values);
  for (size_t i = 0; i < count; i++) {
    s->keys[i] = key_of(s, s->expected[i]);
    s->expected[i] = i;
  }
  compared_keys = s->keys;
  qsort(s->expected, count, sizeof *s->expected, compare_places);
}

/* ---- A case ---- */

static bool merges_pieces(const device_job *job, uint32_t runs)
{
  const bool packed = plan_packs(job);
  const sample_traits traits = {packed ? 8 : (job->key_width + job->index_bits) / 8, 8,
                                packed ? 8 : 4};
  return job->index_bits == 32 && !sample_is_small(job) && sample_merge_pays(job, packed, runs) &&
         sample_merge_fits(job, traits, runs);
}

static uint32_t runs_of(const sample *s)
{
  uint32_t runs = 0;
  for (uint32_t r = 0; r < s->runs.count; r++)
    runs += s->bounds[r + 1] > s->bounds[r];
  return runs;
}

static merge_way way_of(const sample *s)
{
  const uint32_t runs = runs_of(s);
  return runs <= 2 ? BY_PAIRS : merges_pieces(&s->job, runs) ? BY_PIECES : BY_SORT;
}

static const char *merge_sample(const sample *s, unsigned char *memory, uint64_t bytes,
                                uint64_t extra_bytes)
{
  const device_buffers buffers = device_divide(&s->job, memory, extra_bytes);
  const size_t key_size = s->job.key_width / 8, index_size = s->job.index_bits / 8;
  uint64_t mailbox[DEVICE_MAILBOX / 8];
  device_job job = s->job;
  unsigned result = 2;
  job.mailbox = memset(mailbox, POISON, sizeof mailbox);
  memset(memory, POISON, (size_t)bytes + GUARD_BYTES);
  for (size_t i = 0; i < job.count; i++)
    memcpy((char *)buffers.keys[0] + i * key_size, &s->keys[i], key_size);
  emulator_set_order(s->order, s->seed);
  if (device_merge(&job, &s->runs, &buffers, &result)) return emulator_failure();
  if (result > 1) return "no result";
  for (size_t i = 0; i < GUARD_BYTES; i++)
    if (memory[bytes + i] != POISON) return "wrote behind the end";
  for (size_t i = 0; i < job.count; i++)
    if (memcmp((char *)buffers.keys[result] + i * key_size, &s->keys[s->expected[i]], key_size) ||
        memcmp((char *)buffers.indices[result] + i * index_size, &s->expected[i], index_size))
      return "wrong order";
  return NULL;
}

/* ---- Records that move ---- */

enum { MOST_TURNED = 400 }; /* keys that are one tile, in which disorder is seen */

/* Keys, or the words of which they are made. */
typedef struct key_words {
  char *at;
  size_t stride;
  const device_words *words; /* NULL: they are keys */
} key_words;

static void fill_records(const sample *s, unsigned char *records)
{
  for (uint64_t i = 0; i < s->job.count * s->record_size; i++)
    records[i] = (unsigned char)((i + 1) * 0x9e3779b97f4a7c15 >> 56);
}

/* Puts a word of each key into its record, and says how the key is made of it; of wide keys, and in
 * records that have no place for words, it does nothing. */
static const device_words *put_words(const sample *s, unsigned char *records, device_words *words)
{
  const size_t width = s->job.key_width / 8, size = (size_t)s->record_size;
  const size_t offset = size >= 2 * width ? width : 0;
  const uint64_t negative = width > 8 ? 0 : UINT64_C(1) << (8 * width - 1);
  if (width > 8 || size % width) return NULL;
  *words = (device_words){.data = records + offset,
                          .stride = size,
                          .code = {.bytes = (uint32_t)width,
                                   .negative = negative,
                                   .if_set = negative | 0x1234,
                                   .if_clear = negative | 0x4321}};
  for (size_t i = 0; i < s->job.count; i++) {
    const uint64_t key = (uint64_t)s->keys[i];
    const uint64_t word = key ^ (key & negative ? words->code.if_clear : words->code.if_set);
    memcpy(records + i * size + offset, &word, width);
  }
  return words;
}

/* Exchanges two neighbours of a run, if there are two that differ. */
static bool turn_keys(const sample *s, key_words keys)
{
  const size_t width = s->job.key_width / 8;
  for (uint32_t r = 0; r < s->runs.count; r++)
    for (uint64_t i = s->bounds[r]; i + 1 < s->bounds[r + 1]; i++) {
      char *const left = keys.at + i * keys.stride, *const right = left + keys.stride;
      char other[sizeof(wide_key)];
      if (s->keys[i] == s->keys[i + 1]) continue;
      memcpy(other, left, width);
      memcpy(left, right, width);
      memcpy(right, other, width);
      return true;
    }
  return false;
}

/* Makes a wide key within a run so much less that its distance from the least one keeps the bits
 * that digests are made of. */
static bool lower_key(const sample *s, key_words keys)
{
  const uint64_t last = s->job.count - 1;
  const wide_key range = s->keys[s->expected[last]] - s->keys[s->expected[0]];
  wide_key less = UINT64_C(1) << 32;
  if (keys.words || s->keys_way != WAY_UPPER || keys.stride < sizeof(uint64_t)) return false;
  while (less <= range)
    less *= 2;
  for (uint32_t r = 0; r < s->runs.count; r++) {
    if (s->bounds[r + 1] - s->bounds[r] < 3) continue;
    const uint64_t i = s->bounds[r] + 1;
    const wide_key lower = s->keys[i] - less;
    memcpy(keys.at + i * keys.stride, &lower, keys.stride);
    return true;
  }
  return false;
}

static const char *look_at_moved(const sample *s, const unsigned char *from,
                                 const unsigned char *to)
{
  const size_t count = (size_t)s->job.count, size = (size_t)s->record_size;
  for (size_t i = 0; i < count; i++)
    if (memcmp(to + i * size, from + s->expected[i] * size, size) != 0) return "wrong record";
  for (size_t i = 0; i < GUARD_BYTES; i++)
    if (to[count * size + i] != POISON) return "moved behind the end";
  return NULL;
}

/* Merges the runs. Every other one lies elsewhere, in front of the others, if there is room in
 * `aside` for its records. */
static device_status merge_moved(const sample *s, const unsigned char *from, key_words keys,
                                 unsigned char *aside, const device_merge_move *move)
{
  const size_t size = (size_t)s->record_size;
  const ptrdiff_t in_record = keys.words ? keys.at - (const char *)from : 0;
  device_piece pieces[DEVICE_MOVED_RUNS];
  uint32_t count = 0;
  for (uint32_t r = 0; r < s->runs.count; r++) {
    const uint64_t first = s->bounds[r], length = s->bounds[r + 1] - first;
    const unsigned char *records = from + first * size;
    if (length == 0) continue;
    if (count % 2) records = memcpy(aside + first * size, records, (size_t)length * size);
    pieces[count++] = (device_piece){keys.words ? (const char *)records + in_record
                                                : keys.at + first * keys.stride,
                                     records, length};
  }
  return count ? device_merge_records(&s->job, pieces, count, move) : 0;
}

static const char *move_with(const sample *s, unsigned char *from, key_words keys)
{
  const size_t bytes = (size_t)(s->job.count * s->record_size);
  unsigned char *const to = from + bytes, *const aside = from - bytes;
  uint32_t disorder = 0;
  device_merge_move move = {to, s->record_size, &disorder, keys.words};
  memset(to, POISON, bytes + GUARD_BYTES);
  if (merge_moved(s, from, keys, aside, &move)) return emulator_failure();
  const char *const wrong = look_at_moved(s, from, to);
  if (wrong || disorder) return wrong ? wrong : "an order that is right is not seen";
  if (!(lower_key(s, keys) || turn_keys(s, keys))) return NULL;
  if (merge_moved(s, from, keys, aside, &move)) return emulator_failure();
  if (!disorder && s->job.count <= MOST_TURNED) return "an order that is wrong is not seen";
  for (size_t i = 0; i < GUARD_BYTES; i++)
    if (to[bytes + i] != POISON) return "moved wrong runs behind the end";
  move.disorder = NULL;
  return merge_moved(s, from, keys, aside, &move) ? emulator_failure() : NULL;
}

/* With the keys in the buffers; then without them, with keys that are made of the records. */
static const char *move_sample(const sample *s, const device_buffers *buffers)
{
  const size_t width = s->job.key_width / 8;
  const size_t bytes = (size_t)(s->job.count * s->record_size);
  unsigned char *const memory = malloc(3 * bytes + GUARD_BYTES), *const from = memory + bytes;
  key_words keys = {buffers->keys[0], width, NULL};
  device_words words;
  if (!memory) return "no memory";
  fill_records(s, from);
  const char *wrong = move_with(s, from, keys);
  if (!wrong && put_words(s, from, &words)) {
    keys = (key_words){(char *)(uintptr_t)words.data, (size_t)words.stride, &words};
    memset(buffers->keys[0], POISON, (size_t)s->job.count * width);
    wrong = move_with(s, from, keys);
  }
  free(memory);
  return wrong;
}

static void check(const sample *s, merge_way way, bool loud, unsigned patience, tally *t)
{
  const uint64_t extra_bytes = device_merge_extra_bytes(&s->job);
  const uint64_t bytes = device_bytes(&s->job, extra_bytes);
  unsigned char *const memory =
      aligned_alloc(DEVICE_ALIGNMENT, device_aligned(bytes + GUARD_BYTES));
  const double start = barriers_worked();
  const char *wrong = "no memory";
  barriers_limit(patience);
  if (memory) wrong = way_of(s) == way ? merge_sample(s, memory, bytes, extra_bytes) : "wrong way";
  if (!wrong && device_merge_moves(runs_of(s), s->record_size)) {
    const device_buffers buffers = device_divide(&s->job, memory, extra_bytes);
    wrong = move_sample(s, &buffers); /* the merge of pairs has left the keys */
  }
  barriers_limit(0);
  free(memory);
  if (barriers_worked() - start > t->longest) t->longest = barriers_worked() - start;
  t->passed += !wrong;
  t->failed += wrong != NULL;
  if (wrong && loud)
    (void)printf("FAILED: %u runs of %llu keys of %u bits (lengths %d, values %llu, way %d), "
                 "%u-bit indices, blocks of %u: %s\n",
                 s->runs.count, (unsigned long long)s->job.count, s->job.key_width, (int)s->lengths,
                 (unsigned long long)s->values, (int)s->keys_way, s->job.index_bits, s->job.block,
                 wrong);
}

/* ---- All cases ---- */

static const uint32_t key_widths[] = {32, 64, 128}, index_widths[] = {32, 64};

/* Merges `count` keys in `runs` runs. */
static void check_runs(sample *s, merge_way way, uint32_t runs, uint64_t count, bool loud,
                       unsigned patience, uint64_t *random, tally *t)
{
  static const uint64_t values[] = {1, 2, 5, 40, 1000, 1 << 20};
  static const uint64_t sizes[] = {1, 5, 8, 12, 20, 34, 64, 72};
  s->runs = (device_runs){s->bounds, runs};
  s->job.count = count;
  s->values = values[random_below(random, COUNT_OF(values))];
  s->keys_way = (key_way)random_below(random, KEY_WAYS);
  s->order = (emulator_order)random_below(random, EMULATOR_ORDERS);
  s->seed = next_random(random) | 1;
  s->record_size = sizes[random_below(random, COUNT_OF(sizes))];
  fill_bounds(s, random);
  fill_keys(s, random);
  check(s, way, loud, patience, t);
}

/* A number of runs and keys, with threads of a block. */
typedef struct shape {
  merge_way way;
  uint32_t runs, block;
  uint64_t count;
} shape;

static const shape merged[] = {
    {BY_PAIRS, 1, 64, 1},
    {BY_PAIRS, 2, 64, 2},
    {BY_PAIRS, 1, 64, 1000},
    {BY_PAIRS, 2, 64, 300},
    {BY_PAIRS, 2, 64, 399},
    {BY_PAIRS, 2, 64, 400},
    {BY_PAIRS, 2, 64, 500},
    {BY_PAIRS, 2, 128, 5000},
    {BY_PAIRS, 2, 256, 9000},
    {BY_PIECES, 3, 32, 3},
    {BY_PIECES, 3, 32, 200},
    {BY_PIECES, 3, 32, 257},
    {BY_PIECES, 4, 32, 3000},
    {BY_PIECES, 7, 32, 300},
    {BY_PIECES, 7, 32, 2500},
    {BY_PIECES, 8, 64, 4000},
    {BY_PIECES, 16, 128, 5000},
    {BY_PIECES, 64, 512, 4500},
    {BY_PIECES, 64, 512, 20000},
    {BY_PIECES, 100, 512, 9000},
    {BY_PIECES, 128, 512, 30000},
    /* So many that a block which moves records has several tiles. */
    {BY_PAIRS, 2, 64, 12000},
    {BY_PIECES, 4, 64, 12000},
    {BY_PIECES, 8, 64, 12000},
};

/* More runs than are merged. Sorts of these are tested elsewhere. */
static const shape sorted[] = {
    {BY_SORT, 16, 32, 400},
    {BY_SORT, 180, 512, 3000},
    {BY_SORT, 1000, 512, 9000},
    {BY_SORT, MOST_RUNS, 512, MOST_COUNT},
};

static void check_shape(sample *s, const shape *of, run_lengths lengths, bool loud,
                        unsigned patience, uint64_t *random, tally *t)
{
  s->lengths = lengths;
  s->job.block = of->block;
  s->job.key_width = key_widths[random_below(random, COUNT_OF(key_widths))];
  s->job.index_bits =
      of->way == BY_PIECES ? 32 : index_widths[random_below(random, COUNT_OF(index_widths))];
  s->job.key_bits = s->job.key_width;
  check_runs(s, of->way, of->runs, of->count, loud, patience, random, t);
}

/* Stops after `most_failures`. */
static tally run_cases(const shape *shapes, size_t count, size_t rounds, size_t most_failures,
                       bool loud, unsigned patience)
{
  tally t = {0, 0, 0};
  uint64_t random = 3;
  sample s = {.job = {.tuning = &tuning, .shared_bytes = SHARED_BYTES, .multiprocessors = 2},
              .bounds = malloc((MOST_RUNS + 1) * sizeof *s.bounds),
              .keys = malloc(MOST_COUNT * sizeof *s.keys),
              .expected = malloc(MOST_COUNT * sizeof *s.expected)};
  if (!s.bounds || !s.keys || !s.expected) t.failed = most_failures;
  for (size_t round = 0; round < rounds && t.failed < most_failures; round++)
    for (size_t i = 0; i < count && t.failed < most_failures; i++)
      check_shape(&s, &shapes[i], (run_lengths)((round + i) % LENGTHS), loud, patience, &random,
                  &t);
  free(s.bounds);
  free(s.keys);
  free(s.expected);
  return t;
}

/* The kernel also tells exchanged neighbours where a tile or a block ends: a block has two tiles
 * of one run. */
static bool borders_are_seen(void)
{
  enum { COUNT = 5000, BEGIN = 740, END = 1040, BLOCK = 64 };
  static uint32_t keys[COUNT], moved[COUNT];
  const device_job job = {.count = COUNT,
                          .key_bits = 32,
                          .key_width = 32,
                          .index_bits = 32,
                          .block = BLOCK,
                          .shared_bytes = SHARED_BYTES,
                          .multiprocessors = 1};
  const device_piece piece = {keys, keys, COUNT};
  bool good = true;
  for (uint32_t i = 0; i < COUNT; i++)
    keys[i] = i;
  for (uint32_t i = BEGIN; i < END; i++) {
    uint32_t disorder = 0;
    const device_merge_move move = {moved, sizeof *moved, &disorder, NULL};
    keys[i] = i + 1;
    keys[i + 1] = i;
    good = device_merge_records(&job, &piece, 1, &move) == 0 && disorder == 1 && good;
    keys[i] = i;
    keys[i + 1] = i + 1;
  }
  (void)printf("borders of tiles: %s\n", good ? "seen" : "NOT SEEN");
  return good;
}

enum { ROUNDS = 24, SHOWN_FAILURES = 20 };

static bool pass_cases(const void *context, unsigned patience)
{
  (void)context;
  return run_cases(merged, COUNT_OF(merged), ROUNDS, 1, false, patience).failed == 0;
}

static bool passed(const char *name, tally t)
{
  (void)printf("%s: %zu passed, %zu failed\n", name, t.passed, t.failed);
  return t.passed > 0 && t.failed == 0;
}

int main(int argc, char **argv)
{
  const bool only_cases = argc > 1 && strcmp(argv[1], "--cases") == 0;
  bool good = borders_are_seen();
  good = passed("sorted", run_cases(sorted, COUNT_OF(sorted), 3, SHOWN_FAILURES, true, 0)) && good;
  emulator_clear_sites();
  const tally t = run_cases(merged, COUNT_OF(merged), ROUNDS, SHOWN_FAILURES, true, 0);
  good = passed("merged", t) && good;
  if (good && !only_cases) good = barriers_check("merges", pass_cases, NULL, t.longest);
  return good ? 0 : 1;
}
