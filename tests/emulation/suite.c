#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barriers.h"
#include "conformance/patterns.h"
#include "cuda/sort/sample/plan.h"
#include "emulator.h"
#include "support/random.h"

__extension__ typedef unsigned __int128 wide_key;

enum { SMALL_LENGTHS = 71, MAX_COUNT = 5000, RANK_BITS = 20, GUARD_BYTES = 64, POISON = 0xee };
enum { SHARED_BYTES = 227 * 1024 };

/* More lengths: around blocks, tiles and powers of two. */
static const uint64_t lengths[] = {96,   127,  128,  129,  191,  255, 256,  257,      300,
                                   383,  511,  512,  513,  768,  777, 1000, 1023,     1024,
                                   1025, 2047, 2048, 2049, 3000, 576, 1152, MAX_COUNT};
static const uint32_t blocks[] = {4, 32, 64, 128};
static const uint32_t tiles[] = {0, 5, 8, 13, 32, 64, 150};

/* What the sample sort must do with few pairs. */
typedef enum sample_path {
  PATH_USUAL,
  PATH_RANKED,
  PATH_PADDED,
  PATH_CARRIED,
  PATH_FULL /* to padded buckets as large as can be */
} sample_path;
static const uint64_t domains[] = {2, 5, 40, 1 << RANK_BITS};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Device memory with guard bytes behind it. */
typedef struct memory {
  unsigned char *at;
  size_t size;
} memory;

typedef struct sample {
  const char *pattern;
  device_job job;
  sample_tuning tuning;
  bool decided; /* the host must not wait: the device decides what it would */
  emulator_order order;
  uint64_t seed;
  wide_key *keys;
  uint64_t *expected; /* the stable order */
} sample;

/* ---- Inputs ---- */

static wide_key all_ones(uint32_t width)
{
  return ~(wide_key)0 >> (128 - width);
}

/* Exponential keys: each octave gets equally many ranks. */
static wide_key octave_key(uint64_t rank, uint64_t domain, uint32_t width)
{
  const unsigned octaves = width > 100 ? 100 : width;
  const uint64_t place = rank * octaves / domain, rest = rank * octaves % domain;
  return ((wide_key)1 << place) + ((wide_key)rest << place) / domain;
}

typedef enum key_way { WAY_WHOLE, WAY_LOW, WAY_HIGH, WAY_ZEROS, WAY_OCTAVES, KEY_WAYS } key_way;

/* Maps ranks to keys in the whole range, near its lower or upper end, with mostly zero low bits, or
 * mostly small. In the first and third way the greatest rank becomes the greatest key. */
static wide_key key_of(uint64_t rank, uint64_t domain, uint32_t width, key_way way)
{
  const wide_key top = all_ones(width);
  switch (way) {
  case WAY_LOW:
    return rank;
  case WAY_HIGH:
    return top - (domain - 1 - rank);
  case WAY_ZEROS:
    return (wide_key)rank << (width - RANK_BITS) | (rank % 50 == 49 ? 5 : 0);
  case WAY_OCTAVES:
    return octave_key(rank, domain, width);
  default:
    return rank == domain - 1 ? top : rank * (top / (domain - 1));
  }
}

/* All keys but one share their leading half: code that searches for varying bits must read every
 * key. */
static void set_one_apart(sample *s, uint64_t *random)
{
  const wide_key low = all_ones(s->job.key_width / 2);
  for (size_t i = 0; i < s->job.count; i++)
    s->keys[i] &= low;
  if (s->job.count)
    s->keys[random_below(random, s->job.count)] |= ~low & all_ones(s->job.key_width);
}

/* A row of pairs with one key, most of them just before an index whose first bit differs. */
static void set_row(sample *s)
{
  enum { BEFORE = 90, BEHIND = 12 };
  uint64_t place = 1;
  while (2 * place < s->job.count)
    place *= 2;
  for (uint64_t i = place < BEFORE ? 0 : place - BEFORE; i < place + BEHIND && i < s->job.count;
       i++)
    s->keys[i] = s->keys[place];
}

static void fill_keys(sample *s, const pattern *p, uint64_t *random)
{
  const uint64_t domain = domains[random_below(random, COUNT_OF(domains))];
  const key_way way = (key_way)random_below(random, KEY_WAYS);
  p->fill(s->expected, (size_t)s->job.count, UINT64_C(1) << RANK_BITS, random);
  for (size_t i = 0; i < s->job.count; i++)
    s->keys[i] = key_of(s->expected[i] * domain >> RANK_BITS, domain, s->job.key_width, way);
  if (random_below(random, 8) == 0) set_one_apart(s, random);
  if (random_below(random, 8) == 0 && s->job.count > 1) set_row(s);
  s->pattern = p->name;
}

/* qsort has no context. */
static const wide_key *compared_keys;

static int compare(const void *a, const void *b)
{
  const uint64_t i = *(const uint64_t *)a, j = *(const uint64_t *)b;
  const wide_key x = compared_keys[i], y = compared_keys[j];
  return x != y ? (x < y ? -1 : 1) : i < j ? -1 : i > j;
}

static void find_expected(sample *s)
{
  for (size_t i = 0; i < s->job.count; i++)
    s->expected[i] = i;
  compared_keys = s->keys;
  qsort(s->expected, (size_t)s->job.count, sizeof *s->expected, compare);
}

/* Makes everything small, so that few pairs reach the code for many. The count selects whether
 * buckets are found by a search. Pairs that are carried are merged if blocks have too little shared
 * memory. */
static void set_path(sample *s, sample_path path)
{
  enum { FEW = 40, RUN = 128, LIMIT = 10, TILE = 48 };
  const uint64_t most_small = path == PATH_RANKED ? UINT64_MAX : (uint64_t)FEW;
  s->job.tuning = path == PATH_USUAL ? NULL : &s->tuning;
  s->tuning = (sample_tuning){.most_small = most_small,
                              .most_small_wide = most_small,
                              .most_alone = RUN,
                              .run = RUN,
                              .least_detected = 2,
                              .least_decided = 2,
                              .drop_share = 3,
                              .limit = LIMIT,
                              .asked = true,
                              .padded = path != PATH_CARRIED,
                              .searched = s->job.count % 2 == 0,
                              .tile = path == PATH_FULL ? UINT32_MAX : (uint32_t)TILE};
}

static void pick_ways(sample *s, uint64_t *random)
{
  static const sample_path paths[] = {PATH_USUAL,  PATH_RANKED,  PATH_PADDED, PATH_PADDED,
                                      PATH_PADDED, PATH_CARRIED, PATH_FULL};
  const bool many = s->job.count > 2000; /* enough for several warps */
  s->job.block = blocks[many ? 2 + random_below(random, 2) : random_below(random, 3)];
  const uint64_t way = random_below(random, COUNT_OF(tiles));
  s->job.tile = tiles[way];
  set_path(s, paths[way]);
  s->job.shared_bytes = UINT64_C(1024) << (many ? 7 : random_below(random, 6));
  s->job.multiprocessors = 2;
  s->decided = random_below(random, 3) == 0;
  s->order = (emulator_order)random_below(random, EMULATOR_ORDERS);
  s->seed = next_random(random) | 1;
}

/* ---- A case ---- */

static bool allocate(memory *m, uint64_t size)
{
  m->size = (size_t)size;
  m->at = aligned_alloc(DEVICE_ALIGNMENT, device_aligned(m->size + GUARD_BYTES));
  if (m->at) memset(m->at, POISON, m->size + GUARD_BYTES);
  return m->at != NULL;
}

/* The most seconds of a case. */
static unsigned patience;

static bool is_whole(memory m)
{
  bool good = true;
  for (size_t i = 0; i < GUARD_BYTES; i++)
    good = good && m.at[m.size + i] == POISON;
  return good;
}

static void put_keys(const sample *s, unsigned char *to)
{
  const size_t width = s->job.key_width / 8;
  for (size_t i = 0; i < s->job.count; i++)
    memcpy(to + i * width, &s->keys[i], width);
}

static bool is_expected(const sample *s, const unsigned char *keys, const unsigned char *indices)
{
  const size_t key_size = s->job.key_width / 8, index_size = s->job.index_bits / 8;
  for (size_t i = 0; i < s->job.count; i++)
    if (memcmp(keys + i * key_size, &s->keys[s->expected[i]], key_size) != 0 ||
        memcmp(indices + i * index_size, &s->expected[i], index_size) != 0)
      return false;
  return true;
}

static bool is_identity(const sample *s)
{
  for (size_t i = 0; i < s->job.count; i++)
    if (s->expected[i] != i) return false;
  return true;
}

static const char *sort_sample(const device_algorithm *algorithm, const sample *s, memory m,
                               uint64_t extra_bytes)
{
  const device_buffers buffers = device_divide(&s->job, m.at, extra_bytes);
  uint64_t mailbox[DEVICE_MAILBOX / 8];
  device_job job = s->job;
  unsigned result = 2;
  uint32_t found = 0;
  device_unchanged unchanged = {&found, false};
  job.mailbox = s->decided ? NULL : memset(mailbox, POISON, sizeof mailbox);
  job.unchanged = s->decided ? &unchanged : NULL;
  for (unsigned i = 0; i < 2 && s->decided; i++)
    job.branches[i] = &mailbox; /* any will do */
  put_keys(s, buffers.keys[0]);
  emulator_set_order(s->order, s->seed);
  if (algorithm->sort(&job, &buffers, &result)) return emulator_failure();
  if (result > 1) return "no result";
  if (!is_whole(m)) return "wrote behind the end";
  if (unchanged.looks && found != is_identity(s)) return "wrong about whether keys are in order";
  return is_expected(s, buffers.keys[result], buffers.indices[result]) ? NULL : "wrong order";
}

static void check(const device_algorithm *algorithm, const sample *s, bool loud, suite_tally *t)
{
  static const char *const orders[EMULATOR_ORDERS] = {"forward", "reverse", "shuffled"};
  const uint64_t extra_bytes = algorithm->extra_bytes ? algorithm->extra_bytes(&s->job) : 0;
  const double start = barriers_worked();
  memory m = {NULL, 0};
  const char *wrong = "no memory";
  barriers_limit(patience);
  if (allocate(&m, device_bytes(&s->job, extra_bytes)))
    wrong = sort_sample(algorithm, s, m, extra_bytes);
  free(m.at);
  barriers_limit(0);
  if (barriers_worked() - start > t->longest) t->longest = barriers_worked() - start;
  t->passed += !wrong;
  t->failed += wrong != NULL;
  if (wrong && loud)
    (void)printf("FAILED: %s, %llu keys of %u bits, %u-bit indices, %s, blocks of %u, tile %u, %s: "
                 "%s\n",
                 algorithm->shown.name, (unsigned long long)s->job.count, s->job.key_width,
                 s->job.index_bits, s->pattern, s->job.block, s->job.tile, orders[s->order], wrong);
}

/* ---- All cases ---- */

static const uint32_t key_widths[] = {32, 64, 128}, index_widths[] = {32, 64};

static void prepare(sample *s, const pattern *p, uint64_t *random)
{
  s->job.key_bits = s->job.key_width;
  /* As if an index took so many bits that it could not be packed with a key of 32. */
  if (s->job.key_width == 32 && s->job.index_bits == 64 && s->job.count % 2) s->job.key_bits = 64;
  fill_keys(s, p, random);
  find_expected(s);
  pick_ways(s, random);
}

static void check_length(const device_algorithm *algorithm, sample *s, uint64_t count, bool loud,
                         uint64_t *random, suite_tally *t)
{
  s->job.count = count;
  for (size_t k = 0; k < COUNT_OF(key_widths); k++)
    for (size_t i = 0; i < COUNT_OF(index_widths); i++) {
      s->job.key_width = key_widths[k];
      s->job.index_bits = index_widths[i];
      prepare(s, &patterns[random_below(random, pattern_count)], random);
      check(algorithm, s, loud, t);
    }
}

/* The detection of orders needs more keys than most other lengths, and space in place of indices.
 * Pairs are ranked; where the device decides, only dropped pairs are. */
static void check_pattern(const device_algorithm *algorithm, sample *s, const pattern *p, bool loud,
                          uint64_t *random, suite_tally *t)
{
  enum { TILE = 5 /* for the other sorts */, SHARE = 16 };
  s->job.count = MAX_COUNT;
  s->job.key_width = key_widths[random_below(random, COUNT_OF(key_widths))];
  s->job.index_bits = 32;
  prepare(s, p, random);
  s->job.tile = TILE;
  set_path(s, PATH_RANKED);
  s->decided = false;
  check(algorithm, s, loud, t);
  set_path(s, PATH_PADDED);
  s->decided = true;
  s->tuning.drop_share = SHARE;
  s->tuning.most_small = s->tuning.most_small_wide = MAX_COUNT / SHARE;
  check(algorithm, s, loud, t);
}

/* Few different keys, in small or large buckets. */
static void check_values(const device_algorithm *algorithm, sample *s, uint64_t values, bool loud,
                         uint64_t *random, suite_tally *t)
{
  static const struct {
    uint64_t count;
    uint32_t tile, block;
    sample_path path;
  } ways[] = {{1000, 8, 64, PATH_PADDED},
              {2500, 16, 64, PATH_PADDED},
              {4500, 32, 64, PATH_CARRIED},
              {MAX_COUNT, 150, 512, PATH_FULL}};
  for (size_t w = 0; w < COUNT_OF(ways); w++) {
    s->job.count = ways[w].count;
    s->job.key_width = key_widths[random_below(random, COUNT_OF(key_widths))];
    s->job.key_bits = s->job.key_width;
    s->job.index_bits = 32;
    for (size_t i = 0; i < s->job.count; i++)
      s->keys[i] = key_of(random_below(random, values), values, s->job.key_width, WAY_WHOLE);
    s->pattern = "values";
    find_expected(s);
    pick_ways(s, random);
    s->job.tile = ways[w].tile;
    set_path(s, ways[w].path);
    s->job.block = ways[w].block;
    s->job.shared_bytes = SHARED_BYTES;
    check(algorithm, s, loud, t);
  }
}

suite_tally suite_run(const device_algorithm *algorithm, size_t most_failures, bool loud,
                      unsigned seconds)
{
  enum { ROUNDS = 6, MOST_VALUES = 45 };
  suite_tally t = {0, 0, 0};
  patience = seconds;
  uint64_t random = 1;
  sample s = {.keys = malloc(MAX_COUNT * sizeof *s.keys),
              .expected = malloc(MAX_COUNT * sizeof *s.expected)};
  if (!s.keys || !s.expected) t.failed = most_failures;
  for (size_t round = 0; round < ROUNDS && t.failed < most_failures; round++) {
    for (uint64_t n = 0; n < SMALL_LENGTHS && t.failed < most_failures; n++)
      check_length(algorithm, &s, n, loud, &random, &t);
    for (size_t i = 0; i < COUNT_OF(lengths) && t.failed < most_failures; i++)
      if (random_below(&random, 1 + lengths[i] / 600) == 0)
        check_length(algorithm, &s, lengths[i], loud, &random, &t);
  }
  for (size_t p = 0; p < pattern_count && t.failed < most_failures; p++)
    check_pattern(algorithm, &s, &patterns[p], loud, &random, &t);
  for (uint64_t values = 2; values <= MOST_VALUES && t.failed < most_failures; values++)
    check_values(algorithm, &s, values, loud, &random, &t);
  free(s.keys);
  free(s.expected);
  return t;
}

/* ---- Rare paths of the sample sort ---- */

/* Keys that ascend, but for a sixteenth at the end, which belong to one place before. */
static void set_dropped(sample *s)
{
  const uint64_t count = s->job.count;
  for (uint64_t i = 0; i < count; i++)
    s->keys[i] = i < count - count / 16 ? 8 * i : 5 * count + i % 3;
  s->pattern = "dropped";
}

static void set_values(sample *s, uint64_t values, uint64_t *random)
{
  for (uint64_t i = 0; i < s->job.count; i++)
    s->keys[i] = key_of(random_below(random, values), values, s->job.key_width, WAY_WHOLE);
  s->pattern = "values";
}

size_t suite_run_path(const device_algorithm *algorithm, const char *name, suite_tally *t)
{
  enum { ROUNDS = 12, MOST = 2048 };
  static const struct {
    const char *name;
    uint64_t count, values; /* 0: keys that set_dropped makes */
    uint32_t tile, block;
    sample_path path;
  } paths[] = {{"padded overflow", 500, 1 << RANK_BITS, 13, 64, PATH_PADDED},
               {"dense drop-merge", 1024, 0, 5, 32, PATH_RANKED}};
  size_t p = 0, taken = 0;
  uint64_t random = 3;
  sample s = {.keys = malloc(MOST * sizeof *s.keys), .expected = malloc(MOST * sizeof *s.expected)};
  while (p < COUNT_OF(paths) && strcmp(paths[p].name, name) != 0)
    p++;
  if (!s.keys || !s.expected || p == COUNT_OF(paths)) t->failed++;
  for (size_t i = 0; i < ROUNDS * COUNT_OF(key_widths) && !t->failed; i++) {
    s.job.count = paths[p].count;
    s.job.key_width = s.job.key_bits = key_widths[i % COUNT_OF(key_widths)];
    s.job.index_bits = 32;
    if (paths[p].values)
      set_values(&s, paths[p].values, &random);
    else
      set_dropped(&s);
    find_expected(&s);
    pick_ways(&s, &random);
    s.job.tile = paths[p].tile;
    s.job.block = paths[p].block;
    s.job.shared_bytes = SHARED_BYTES;
    set_path(&s, paths[p].path);
    emulator_count_path(name);
    check(algorithm, &s, true, t);
    taken += emulator_path_count();
  }
  free(s.keys);
  free(s.expected);
  return taken;
}

/* ---- Real GPUs ---- */

suite_tally suite_run_devices(const device_algorithm *algorithm)
{
  static const struct {
    size_t shared_kib; /* for a block; 48 is available without asking */
    uint32_t multiprocessors;
  } devices[] = {{48, 40}, {64, 40}, {99, 84}, {163, 108}, {227, 132}};
  static const uint64_t counts[] = {1500, 40000};
  enum { MOST = 40000 };
  suite_tally t = {0, 0, 0};
  uint64_t random = 2;
  sample s = {.keys = malloc(MOST * sizeof *s.keys), .expected = malloc(MOST * sizeof *s.expected)};
  if (!s.keys || !s.expected) t.failed++;
  for (size_t d = 0; d < COUNT_OF(devices) && !t.failed; d++)
    for (size_t c = 0; c < COUNT_OF(counts); c++)
      for (size_t k = 0; k < COUNT_OF(key_widths); k++) {
        s.job = (device_job){.count = counts[c],
                             .key_bits = key_widths[k],
                             .key_width = key_widths[k],
                             .index_bits = index_widths[(d + k) % 2],
                             .shared_bytes = devices[d].shared_kib * 1024,
                             .multiprocessors = devices[d].multiprocessors};
        fill_keys(&s, &patterns[random_below(&random, pattern_count)], &random);
        find_expected(&s);
        emulator_set_shared((size_t)s.job.shared_bytes);
        check(algorithm, &s, true, &t);
      }
  emulator_set_shared(EMULATOR_SHARED_BYTES);
  free(s.keys);
  free(s.expected);
  return t;
}
