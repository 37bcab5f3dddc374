/* jobs.c - runs jobs through a plugin's table, each in exactly the memory it asked for. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "base/pool.h"
#include "patterns.h"
#include "support/random.h"

enum { MAX_WORDS = 10, GUARD = 4096, POISON = 0xee };

static const unsigned key_bits[] = {1,  2,   8,   17,  31,  32,  33,  45,  50,  57,  63,  64, 65,
                                    80, 100, 127, 128, 129, 191, 192, 193, 256, 320, 500, 640};
/* Counts at which sorts change their behaviour; tested with their neighbours. */
static const size_t edges[] = {128,     256,     512,     1024,    2048,
                               1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16};
static const size_t counts[] = {1000, (1 << 15) + 3, 40000, (1 << 17) + 9};
enum {
  BITS = sizeof key_bits / sizeof *key_bits,
  EDGES = sizeof edges / sizeof *edges,
  COUNTS = sizeof counts / sizeof *counts,
  SMALL_COUNTS = 71,  /* all of them */
  LONG_RUNS = 3 << 16 /* keys; more than in any other job */
};

/* Keys as words, least significant first, and their expected order. */
typedef struct key_set {
  uint64_t *words; /* MAX_WORDS for each */
  uint64_t *order;
  size_t count;
} key_set;

static const uint64_t *oracle_words;

static int compare_keys(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  for (size_t w = MAX_WORDS; w-- > 0;) {
    const uint64_t left = oracle_words[x * MAX_WORDS + w], right = oracle_words[y * MAX_WORDS + w];
    if (left != right) return left < right ? -1 : 1;
  }
  return x < y ? -1 : x > y;
}

static void find_order(key_set *keys)
{
  for (size_t i = 0; i < keys->count; i++)
    keys->order[i] = i;
  oracle_words = keys->words;
  qsort(keys->order, keys->count, sizeof *keys->order, compare_keys);
}

/* Each word of a key is the rank, a hash of the rank, all ones, or 0. */
static uint64_t word_for(uint64_t rank, unsigned shape, size_t word)
{
  switch (shape >> 2 * word & 3) {
  case 0:
    return rank;
  case 1:
    return mix(rank + word);
  case 2:
    return UINT64_MAX;
  default:
    return 0;
  }
}

static void make_keys(key_set *keys, unsigned bits, uint64_t *random)
{
  const pattern *p = &patterns[random_below(random, pattern_count)];
  const unsigned shape = (unsigned)next_random(random) & 0xfffff;
  const uint64_t end = bits < 20 ? UINT64_C(1) << bits : 1 << 20;
  p->fill(keys->order, keys->count, end, random);
  for (size_t i = 0; i < keys->count; i++)
    for (size_t w = 0; w < MAX_WORDS; w++) {
      uint64_t word = word_for(keys->order[i], shape, w);
      if (bits <= 64 * w) word = 0;
      if (bits > 64 * w && bits < 64 * (w + 1)) word &= (UINT64_C(1) << bits % 64) - 1;
      keys->words[i * MAX_WORDS + w] = word;
    }
  find_order(keys);
}

static void store_keys(const key_set *keys, unsigned width, void *at)
{
  for (size_t i = 0; i < keys->count; i++) {
    const uint64_t *words = keys->words + i * MAX_WORDS;
    if (width == 32)
      ((uint32_t *)at)[i] = (uint32_t)words[0];
    else
      memcpy((char *)at + i * (width / 8), words, width / 8);
  }
}

static bool is_poison(const unsigned char *at, size_t size)
{
  for (size_t i = 0; i < size; i++)
    if (at[i] != POISON) return false;
  return true;
}

/* Runs a job. Returns what went wrong; NULL: nothing. */
static const char *run_job(const rs_plugin_instance *instance, const recsort_plugin_job *job,
                           const key_set *keys)
{
  recsort_error error = {0};
  recsort_plugin_work work = {.size = sizeof work};
  void *memory;
  recsort_plugin_limits limits = {.size = sizeof limits};
  instance->plugin->limits(instance->state, &limits);
  const recsort_status sized = instance->plugin->work_size(instance->state, job, &work, &error);
  if (job->key_width > limits.max_key_bits)
    return sized == RECSORT_PLUGIN_ERROR ? NULL : "keys beyond its limits are not refused";
  if (sized) return "work_size failed";
  if (work.keys_offset % 64) return "keys_offset is no multiple of 64";
  if (work.bytes < job->count * (job->index_bits / 8)) return "no room for the permutation";
  if (work.keys_offset > work.bytes ||
      job->count * (job->key_width / 8) > work.bytes - work.keys_offset)
    return "no room for the keys";
  if (posix_memalign(&memory, 64, (size_t)work.bytes + 2 * GUARD)) return "no memory for the test";
  memset(memory, POISON, (size_t)work.bytes + 2 * GUARD);
  unsigned char *block = (unsigned char *)memory + GUARD;
  store_keys(keys, job->key_width, block + work.keys_offset);
  const char *why = NULL;
  if (instance->plugin->sort(instance->state, job, block, &error))
    why = "sort failed";
  else if (!is_poison(memory, GUARD) || !is_poison(block + work.bytes, GUARD))
    why = "wrote outside its memory";
  else if (!is_order(block, job->index_bits, keys->order, keys->count))
    why = "wrong order";
  free(memory);
  return why;
}

/* A width that holds `bits`; sometimes a larger one than necessary. */
static unsigned width_for(unsigned bits, uint64_t *random)
{
  const unsigned least = bits <= 32 ? 32 : (bits + 63) / 64 * 64;
  if (random_below(random, 3)) return least;
  const unsigned words = (least + 63) / 64;
  return 64 * (words + (unsigned)random_below(random, MAX_WORDS + 1 - words));
}

static void test_job(const rs_plugin_instance *instance, const way *tested, unsigned bits,
                     key_set *keys, uint64_t *random, tally *t)
{
  const recsort_plugin_job job = {.size = sizeof job,
                                  .algorithm = instance->algorithm,
                                  .count = keys->count,
                                  .key_bits = bits,
                                  .key_width = width_for(bits, random),
                                  .index_bits = random_below(random, 2) ? 32 : 64,
                                  .threads = thread_counts[random_below(random, THREAD_COUNTS)]};
  make_keys(keys, bits, random);
  const char *why = run_job(instance, &job, keys);
  count_case(t, !why, "%s %s: job of %zu keys, %u of %u bits, %u-bit index, %u threads: %s",
             tested->plugin, tested->algorithm, keys->count, job.key_bits, job.key_width,
             job.index_bits, job.threads, why);
}

/* The most significant word has two or three values, so frequent that a plugin may use all threads
 * for one of them; only the least significant word tells such keys apart. */
static void test_long_runs(const rs_plugin_instance *instance, const way *tested, key_set *keys,
                           tally *t)
{
  recsort_plugin_limits limits = {.size = sizeof limits};
  instance->plugin->limits(instance->state, &limits);
  keys->count = LONG_RUNS;
  for (size_t values = 2; values <= 3 && limits.max_key_bits >= 192; values++) {
    for (size_t i = 0; i < keys->count; i++) {
      uint64_t *words = keys->words + i * MAX_WORDS;
      memset(words, 0, MAX_WORDS * sizeof *words);
      words[0] = mix(i / 2);
      words[2] = 1 + mix(i) % values;
    }
    find_order(keys);
    for (size_t threads = 0; threads < THREAD_COUNTS; threads++) {
      const recsort_plugin_job job = {.size = sizeof job,
                                      .algorithm = instance->algorithm,
                                      .count = keys->count,
                                      .key_bits = 192,
                                      .key_width = 192,
                                      .index_bits = 32,
                                      .threads = thread_counts[threads]};
      const char *why = run_job(instance, &job, keys);
      count_case(t, !why, "%s %s: %zu long runs, %u threads: %s", tested->plugin, tested->algorithm,
                 values, job.threads, why);
    }
  }
}

/* Tests keys of every `stride`th width, starting with one that `turn` selects. */
static void test_widths(const rs_plugin_instance *instance, const way *tested, size_t count,
                        size_t turn, size_t stride, key_set *keys, uint64_t *random, tally *t)
{
  recsort_plugin_limits limits = {.size = sizeof limits};
  instance->plugin->limits(instance->state, &limits);
  keys->count = count;
  for (size_t b = turn % stride; b < BITS; b += stride)
    if (key_bits[b] <= limits.max_key_bits)
      test_job(instance, tested, key_bits[b], keys, random, t);
}

/* Tests every width at every length up to 70, and as many widths as time allows, but at least some,
 * at each other length. */
static void test_all(const rs_plugin_instance *instance, const way *tested, bool few, key_set *keys,
                     tally *t)
{
  enum { EACH = 8000, LEAST = 5, FEW = 16 };
  uint64_t random = 42;
  size_t turn = 0;
  for (size_t count = 0; count < SMALL_COUNTS; count++)
    test_widths(instance, tested, count, 7 * turn++, few ? FEW : 1, keys, &random, t);
  for (size_t e = 0; e < EDGES && !few; e++)
    for (size_t count = edges[e] - 1; count <= edges[e] + 1; count++) {
      const size_t stride = count / EACH + 1;
      test_widths(instance, tested, count, turn++, stride < LEAST ? stride : LEAST, keys, &random,
                  t);
    }
  for (size_t c = 0; c < COUNTS; c++)
    test_widths(instance, tested, counts[c], 7 * turn++, few ? FEW : 1, keys, &random, t);
  if (!few) test_long_runs(instance, tested, keys, t);
}

void test_jobs(const way *tested, bool few, tally *t)
{
  key_set keys = {.words = malloc((size_t)LONG_RUNS * MAX_WORDS * sizeof *keys.words),
                  .order = malloc(LONG_RUNS * sizeof *keys.order)};
  const team all = rs_team(NULL, 0);
  rs_registry *list = NULL;
  rs_candidate *candidate;
  rs_plugin_instance instance = {0};
  const bool open =
      keys.words && keys.order &&
      rs_registry_create(NULL, &all, NULL, 0, &list, NULL) == RECSORT_OK &&
      rs_registry_find(list, tested->plugin, &candidate, NULL) == RECSORT_OK &&
      rs_plugin_open(list, candidate, tested->algorithm, &instance, NULL) == RECSORT_OK;
  count_case(t, open, "%s %s: cannot be opened", tested->plugin, tested->algorithm);
  if (open) test_all(&instance, tested, few, &keys, t);
  rs_plugin_close(&instance);
  rs_registry_destroy(list);
  free(keys.words);
  free(keys.order);
}
