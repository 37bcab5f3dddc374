/* wrong_sorts.c - sorts with one error each, which the suite has to find and to name. */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "sorts.h"

enum { LENGTH = 37 }; /* where some go wrong */

typedef int compare(const suite_case *c, const void *a, const void *b);

static unsigned char *record(const suite_case *c, size_t place)
{
  return c->records + place * c->record_size;
}

/* Merges places by way of `c->places`; `least`: a tie goes to the right half if it is 1. */
static void merge_places(const suite_case *c, compare *by, int least, uint64_t *places,
                         size_t count, uint64_t *space)
{
  const size_t half = count / 2;
  if (count < 2) return;
  merge_places(c, by, least, places, half, space);
  merge_places(c, by, least, places + half, count - half, space);
  memcpy(space, places, half * sizeof *space);
  for (size_t left = 0, right = half, to = 0; left < half; to++) {
    const bool take_right =
        right < count && by(c, record(c, space[left]), record(c, places[right])) >= least;
    places[to] = take_right ? places[right++] : space[left++];
  }
}

static bool place_by(const suite_case *c, compare *by, int least)
{
  uint64_t *const space = malloc((c->count + 1) * sizeof *space);
  if (!space) return false;
  for (size_t i = 0; i < c->count; i++)
    c->places[i] = i;
  merge_places(c, by, least, c->places, c->count, space);
  free(space);
  return true;
}

/* Sorts the records themselves, for errors in them. */
static bool sort_records(const suite_case *c)
{
  if (!place_by(c, suite_compare, 1)) return false;
  for (size_t i = 0; i < c->count; i++)
    memcpy(record(c, i), c->input + c->places[i] * c->record_size, c->record_size);
  return true;
}

static int right(void *context, const suite_case *c)
{
  (void)context;
  return sort_records(c) ? SUITE_SORTED : SUITE_BROKEN;
}

static int right_places(void *context, const suite_case *c)
{
  (void)context;
  return place_by(c, suite_compare, 1) ? SUITE_PLACED : SUITE_BROKEN;
}

static int unstable(void *context, const suite_case *c)
{
  (void)context;
  return place_by(c, suite_compare, 0) ? SUITE_PLACED : SUITE_BROKEN;
}

static int one_length(void *context, const suite_case *c)
{
  if (!sort_records(c)) return SUITE_BROKEN;
  if (c->count != LENGTH) return SUITE_SORTED;
  for (size_t i = 0; i < c->count / 2; i++) { /* the wrong way round */
    unsigned char *const left = record(c, i), *const other = record(c, c->count - 1 - i);
    for (size_t byte = 0; byte < c->record_size; byte++) {
      const unsigned char kept = left[byte];
      left[byte] = other[byte];
      other[byte] = kept;
    }
  }
  (void)context;
  return SUITE_SORTED;
}

static int loses_one(void *context, const suite_case *c)
{
  (void)context;
  if (!sort_records(c)) return SUITE_BROKEN;
  if (c->count > 1) memcpy(record(c, c->count - 1), record(c, c->count - 2), c->record_size);
  return SUITE_SORTED;
}

static int places_one_twice(void *context, const suite_case *c)
{
  (void)context;
  if (!place_by(c, suite_compare, 1)) return SUITE_BROKEN;
  if (c->count > 1) c->places[0] = c->places[1];
  return SUITE_PLACED;
}

/* Moves keys without what belongs to them. */
static int keys_only(void *context, const suite_case *c)
{
  (void)context;
  if (!place_by(c, suite_compare, 1)) return SUITE_BROKEN;
  for (size_t i = 0; i < c->count; i++)
    memcpy(record(c, i), c->input + c->places[i] * c->record_size, c->key_size);
  return SUITE_SORTED;
}

static int writes_behind(void *context, const suite_case *c)
{
  (void)context;
  if (!sort_records(c)) return SUITE_BROKEN;
  record(c, c->count)[0] = 1;
  return SUITE_SORTED;
}

static int writes_before(void *context, const suite_case *c)
{
  (void)context;
  if (!sort_records(c)) return SUITE_BROKEN;
  c->records[-1] = 1;
  return SUITE_SORTED;
}

static int writes_a_place_behind(void *context, const suite_case *c)
{
  (void)context;
  if (!place_by(c, suite_compare, 1)) return SUITE_BROKEN;
  c->places[c->count] = 0;
  return SUITE_PLACED;
}

static int fails(void *context, const suite_case *c)
{
  (void)context;
  return c->count == LENGTH || !sort_records(c) ? SUITE_BROKEN : SUITE_SORTED;
}

static int crashes(void *context, const suite_case *c)
{
  (void)context;
  if (c->count == LENGTH) (void)raise(SIGSEGV);
  return sort_records(c) ? SUITE_SORTED : SUITE_BROKEN;
}

static int exits(void *context, const suite_case *c)
{
  (void)context;
  if (c->count == LENGTH) _Exit(3);
  return sort_records(c) ? SUITE_SORTED : SUITE_BROKEN;
}

static int never_ends(void *context, const suite_case *c)
{
  (void)context;
  for (volatile bool forever = c->count == LENGTH; forever;)
    ;
  return sort_records(c) ? SUITE_SORTED : SUITE_BROKEN;
}

/* ---- Floats ---- */

static float key_of(const void *at)
{
  float key;
  memcpy(&key, at, sizeof key);
  return key;
}

/* As `<` compares: a NaN ties with everything. */
static int by_less(const suite_case *c, const void *a, const void *b)
{
  (void)c;
  return (key_of(a) > key_of(b)) - (key_of(a) < key_of(b));
}

/* The bits as an integer: -0 goes before 0, and NaNs to both ends. */
static int by_bits(const suite_case *c, const void *a, const void *b)
{
  int32_t bits[2];
  (void)c;
  memcpy(&bits[0], a, sizeof *bits);
  memcpy(&bits[1], b, sizeof *bits);
  for (size_t i = 0; i < 2; i++)
    bits[i] ^= bits[i] < 0 ? INT32_MAX : 0;
  return (bits[0] > bits[1]) - (bits[0] < bits[1]);
}

/* NaNs last as they should be, but the zeros by their bits. */
static int by_zero_bits(const suite_case *c, const void *a, const void *b)
{
  const bool zeros = key_of(a) == 0 && key_of(b) == 0;
  return zeros ? by_bits(c, a, b) : suite_compare(c, a, b);
}

static int of_floats(const suite_case *c, compare *by)
{
  if (strcmp(c->kind, "float32") != 0) return SUITE_REFUSED;
  return place_by(c, by, 1) ? SUITE_PLACED : SUITE_BROKEN;
}

static int less(void *context, const suite_case *c)
{
  (void)context;
  return of_floats(c, by_less);
}

static int bits(void *context, const suite_case *c)
{
  (void)context;
  return of_floats(c, by_bits);
}

static int zeros(void *context, const suite_case *c)
{
  (void)context;
  return of_floats(c, by_zero_bits);
}

/* Puts the least record first, and then trusts that no other goes before it. */
static int unguarded(void *context, const suite_case *c)
{
  unsigned char moved[256];
  const size_t size = c->record_size;
  size_t least = 0;
  (void)context;
  for (size_t i = 1; i < c->count; i++)
    if (suite_compare(c, record(c, i), record(c, least)) < 0) least = i;
  for (size_t i = 0; i < c->count; i++) {
    const size_t from = i ? i : least;
    size_t to = i;
    memcpy(moved, record(c, from), size);
    while (i && suite_compare(c, moved, record(c, to) - size) < 0)
      to--;
    memmove(record(c, to + 1), record(c, to), (from - to) * size);
    memcpy(record(c, to), moved, size);
  }
  return SUITE_SORTED;
}

#define WRONG(f)                                                                                   \
  {                                                                                                \
    "wrong: " #f, true, false, f, NULL, NULL                                                       \
  }
const sort_entry wrong_sorts[] = {{"right", true, true, right, NULL, NULL},
                                  {"right places", true, true, right_places, NULL, NULL},
                                  WRONG(unstable),
                                  WRONG(one_length),
                                  WRONG(loses_one),
                                  WRONG(places_one_twice),
                                  WRONG(keys_only),
                                  WRONG(writes_behind),
                                  WRONG(writes_before),
                                  WRONG(writes_a_place_behind),
                                  WRONG(fails),
                                  WRONG(crashes),
                                  WRONG(exits),
                                  WRONG(never_ends),
                                  WRONG(less),
                                  WRONG(bits),
                                  WRONG(zeros),
                                  {"wrong: unguarded", true, true, unguarded, NULL, NULL},
                                  {NULL, false, false, NULL, NULL, NULL}};
