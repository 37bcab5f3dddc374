#include "suite.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kinds.h"
#include "patterns.h"
#include "support/random.h"

enum { GUARD = 4096, POISON = 0xee, SMALL_LENGTHS = 71 };

struct suite {
  suite_case now;
  const kind *kind;
  oracle_key keys[KIND_MAX_KEYS];
  bool has_nan, contradicts;
  atomic_bool strayed; /* suite_compare was given a pointer into a guard */
  unsigned char *input, *expected;
  unsigned char *block;  /* a guard, the records to sort, a guard */
  unsigned char *placed; /* a guard, their places, a guard */
  unsigned char *seen;
  uint64_t *order, *got;
};

const char *const suite_fault_names[SUITE_FAULTS] = {"order",
                                                     "order with NaNs",
                                                     "stability",
                                                     "equal keys told apart",
                                                     "records lost or changed",
                                                     "memory outside",
                                                     "says that it failed",
                                                     "crash",
                                                     "endless"};

/* Counts at which sorts change their behaviour: powers of two, tiles, blocks; tested with their
 * neighbours. */
static const size_t edges[] = {128,
                               256,
                               512,
                               1024,
                               2048,
                               1 << 12,
                               3 << 11, /* tiles of devices */
                               1 << 13,
                               3 << 12,
                               1 << 14,
                               1 << 15,
                               (3 << 14) + 5461,
                               1 << 16,
                               (5 << 14) + 77,
                               1 << 17,
                               (1 << 17) + (1 << 16),
                               1 << 18};
enum { EDGES = sizeof edges / sizeof *edges };

suite *suite_create(size_t most)
{
  const size_t bytes = most * KIND_MAX_RECORD + 2 * (size_t)GUARD;
  suite *const s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->input = malloc(bytes);
  s->expected = malloc(bytes);
  s->block = malloc(bytes);
  s->placed = malloc(most * sizeof *s->order + 2 * (size_t)GUARD);
  s->seen = malloc(most + 1);
  s->order = malloc((most + 1) * sizeof *s->order);
  s->got = malloc((most + 1) * sizeof *s->got);
  if (s->input && s->expected && s->block && s->placed && s->seen && s->order && s->got) return s;
  suite_destroy(s);
  return NULL;
}

void suite_destroy(suite *s)
{
  if (!s) return;
  free(s->input);
  free(s->expected);
  free(s->block);
  free(s->placed);
  free(s->seen);
  free(s->order);
  free(s->got);
  free(s);
}

/* ---- Inputs ---- */

size_t suite_kinds(void)
{
  return kind_count;
}

const char *suite_kind(size_t number)
{
  return kinds[number].name;
}

const char *suite_pattern(size_t number)
{
  return patterns[number].name;
}

/* Inputs around edge `e`, with fewer kinds the larger it is. Up to 2^16, every pattern is tested
 * with at least one kind at one of the three lengths, and with other kinds at the next edge. */
static void each_at_edge(size_t number, size_t e, suite_visit *visit, void *context)
{
  enum { EACH = 400, NEIGHBOURS = 3, LARGE = 1 << 16 };
  const size_t least = (edges[e] > LARGE ? 4u : 1u) * NEIGHBOURS * kind_count;
  const size_t stride = edges[e] / EACH < least ? edges[e] / EACH + 1 : least;
  for (size_t p = 0; p < pattern_count; p++)
    for (size_t n = 0; n < NEIGHBOURS; n++)
      if ((number + n * kind_count + 11 * p + 7 * e) % stride == 0)
        visit(context, (suite_input){number, p, edges[e] - 1 + n});
}

void suite_each(size_t number, bool few, suite_visit *visit, void *context)
{
  enum { FEW = 100 };
  uint64_t random = number;
  for (size_t p = 0; p < pattern_count; p++)
    for (size_t count = 0; count < SMALL_LENGTHS; count++)
      if (!few || random_below(&random, FEW) == 0) visit(context, (suite_input){number, p, count});
  for (size_t e = 0; e < EDGES; e++)
    if (!few || random_below(&random, FEW) == 0) each_at_edge(number, e, visit, context);
}

static const unsigned char *input_at(const suite *s, uint64_t place)
{
  return s->input + place * s->now.record_size;
}

static bool is_nan(const oracle_key *key, const unsigned char *record)
{
  if (!oracle_is_float(key->type) || key->nan == RECSORT_NAN_TOTAL) return false;
  oracle_key element = *key;
  for (size_t i = 0; i < (key->count ? key->count : 1); i++, element.offset += key->size)
    if (oracle_real(&element, record).nan) return true;
  return false;
}

static bool has_nan(const suite *s)
{
  for (size_t k = 0; k < s->kind->count; k++)
    for (size_t i = 0; i < s->now.count; i++)
      if (is_nan(&s->keys[k], input_at(s, i))) return true;
  return false;
}

const suite_case *suite_make(suite *s, suite_input input, uint64_t *random)
{
  const size_t count = input.count, size = kind_record_size(&kinds[input.kind]);
  const pattern *const p = &patterns[input.pattern];
  s->kind = &kinds[input.kind];
  kind_keys(s->kind, s->keys);
  s->now = (suite_case){.kind = s->kind->name,
                        .pattern = p->name,
                        .count = count,
                        .record_size = size,
                        .key_size = size - sizeof(uint64_t),
                        .input = s->input,
                        .records = s->block + GUARD,
                        .places = (uint64_t *)(void *)(s->placed + GUARD),
                        .owner = s};
  p->fill(s->order, count, UINT64_C(1) << RANK_BITS, random);
  for (size_t i = 0; i < count; i++)
    kind_fill(s->kind, s->keys, s->order[i], next_random(random), i, s->input + i * size);
  for (size_t i = 0; i < count; i++)
    s->order[i] = i;
  kind_sort(s->kind, s->keys, s->input, s->order, count);
  for (size_t i = 0; i < count; i++)
    memcpy(s->expected + i * size, input_at(s, s->order[i]), size);
  s->has_nan = has_nan(s);
  return &s->now;
}

const uint64_t *suite_places(const suite *s)
{
  return s->order;
}

static int compare_places(const suite *s, uint64_t a, uint64_t b)
{
  return oracle_compare(s->keys, s->kind->count, input_at(s, a), input_at(s, b));
}

bool suite_has_ties(const suite *s)
{
  for (size_t i = 1; i < s->now.count; i++)
    if (compare_places(s, s->order[i - 1], s->order[i]) == 0) return true;
  return false;
}

void suite_contradict(suite *s, bool contradicts)
{
  s->contradicts = contradicts;
}

/* ---- Comparisons ---- */

static bool is_outside(const suite *s, const void *record)
{
  const uintptr_t at = (uintptr_t)record, first = (uintptr_t)s->now.records;
  const uintptr_t end = first + s->now.count * s->now.record_size;
  return (at < first && at >= first - GUARD) || (at >= end && at < end + GUARD);
}

static uint64_t hash(const unsigned char *bytes, size_t size)
{
  uint64_t value = size;
  for (size_t i = 0; i < size; i++)
    value = mix(value + bytes[i] + 1);
  return value;
}

int suite_compare(const suite_case *c, const void *a, const void *b)
{
  const suite *const s = c->owner;
  if (is_outside(s, a) || is_outside(s, b)) {
    /* The owner is constant for sorts; this is all that they may change in it. */
    atomic_store_explicit(&((suite *)(uintptr_t)s)->strayed, true, memory_order_relaxed);
    return 0;
  }
  const int order = oracle_compare(s->keys, s->kind->count, a, b);
  if (!s->contradicts) return order;
  if (order == 0) return -1; /* as if it were <= */
  return mix(hash(a, c->record_size) + 3 * hash(b, c->record_size)) % 4 ? order : -order;
}

/* ---- Judgement ---- */

static bool is_poison(const unsigned char *at)
{
  for (size_t i = 0; i < GUARD; i++)
    if (at[i] != POISON) return false;
  return true;
}

/* Which record of the input is at each place of the result. False: some is lost or changed. */
static bool find_places(suite *s, bool sorted)
{
  const size_t size = s->now.record_size;
  bool good = true;
  memset(s->seen, 0, s->now.count);
  for (size_t i = 0; i < s->now.count && good; i++) {
    const unsigned char *const record = s->now.records + i * size;
    if (sorted)
      memcpy(&s->got[i], record + s->now.key_size, sizeof *s->got);
    else
      s->got[i] = s->now.places[i];
    good = s->got[i] < s->now.count && !s->seen[s->got[i]]++ &&
           (!sorted || memcmp(record, input_at(s, s->got[i]), size) == 0);
  }
  return good;
}

static unsigned order_faults(const suite *s)
{
  unsigned faults = 0;
  for (size_t i = 1; i < s->now.count; i++) {
    const uint64_t left = s->got[i - 1], right = s->got[i];
    const int found = compare_places(s, left, right);
    if (found > 0) return 1u << (s->has_nan ? SUITE_NAN : SUITE_ORDER);
    if (found < 0 || left < right) continue;
    const bool same = memcmp(input_at(s, left), input_at(s, right), s->now.key_size) == 0;
    faults |= 1u << (same ? SUITE_STABILITY : SUITE_EQUALS);
  }
  return faults;
}

unsigned suite_try(suite *s, suite_sort *sort, void *context, bool *refused)
{
  const size_t bytes = s->now.count * s->now.record_size;
  unsigned char *const end = s->now.records + bytes;
  unsigned char *const end_of_places = s->placed + GUARD + s->now.count * sizeof *s->now.places;
  unsigned faults = 0;
  memset(s->block, POISON, GUARD);
  memcpy(s->now.records, s->input, bytes);
  memset(end, POISON, GUARD);
  memset(s->placed, POISON, s->now.count * sizeof *s->now.places + 2 * (size_t)GUARD);
  atomic_store(&s->strayed, false);
  const int answer = sort(context, &s->now);
  if (refused) *refused = answer == SUITE_REFUSED;
  if (!is_poison(s->block) || !is_poison(end) || !is_poison(s->placed) ||
      !is_poison(end_of_places) || atomic_load(&s->strayed))
    faults |= 1u << SUITE_OUTSIDE;
  if (answer == SUITE_REFUSED) return faults;
  if (answer == SUITE_BROKEN) return faults | 1u << SUITE_FAILURE;
  if (answer == SUITE_SORTED && memcmp(s->now.records, s->expected, bytes) == 0) return faults;
  if (!find_places(s, answer == SUITE_SORTED)) return faults | 1u << SUITE_LOST;
  return s->contradicts ? faults : faults | order_faults(s);
}
