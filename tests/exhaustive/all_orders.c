/* The CPU's orders of keys (order.h, wide_order.h) on all orderings of a few keys, without what
 * calls do before and after. CMakeLists.txt also builds this with other thresholds.
 *
 * Usage: all_orders MOST-KEYS */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/wide_order.h"
#include "exhaustive/orderings.h"

static size_t most;

enum { MAPPINGS = 4, MOST_WORDS = 3, ROOM = 64 /* for each key, where all are taken out */ };

/* Ranks become neighbours, both ends, powers of two, or numbers that need all bits. */
static uint64_t number_of(unsigned how, size_t rank, unsigned bits)
{
  const uint64_t greatest = UINT64_MAX >> (64 - bits), last = MOST_ELEMENTS - 1;
  switch (how) {
  case 0:
    return rank;
  case 1:
    return rank < MOST_ELEMENTS / 2 ? rank : greatest - (last - rank);
  case 2:
    return rank == 0 ? 0 : UINT64_C(1) << ((bits - 1) / last * rank);
  default:
    return greatest / MOST_ELEMENTS * rank + rank % 2;
  }
}

typedef keys_found order_function(const void *keys, unsigned width, size_t count, uint32_t *order,
                                  uint32_t *other);

typedef struct trial {
  unsigned how;
  size_t words;
} trial;

static void check(const ordering *o, const trial *t, const char *call, keys_found found,
                  const uint32_t *order)
{
  bool ascend = true, right = found == KEYS_ORDERED;
  for (size_t i = 0; i < o->count; i++)
    ascend &= o->place[i] == i;
  if (ascend && found == KEYS_IN_ORDER) return;
  for (size_t i = 0; i < o->count; i++)
    right &= order[i] == o->place[i];
  if (right && !ascend) return;
  for (size_t i = 0; i < o->count; i++)
    print_error("%u ", o->rank[i]);
  fail_msg("%s, mapping %u: %d", call, t->how, (int)found);
}

static void try_narrow(const ordering *o, void *argument)
{
  static const struct {
    order_function *find;
    const char *name;
  } ways[] = {{rs_keys_order, "order"},
              {rs_keys_order_plainly, "order without vectors"},
              {rs_keys_order_nearly, "order of nearly sorted keys"}};
  uint32_t halves[MOST_ELEMENTS] = {0}, order[MOST_ELEMENTS], other[ROOM * MOST_ELEMENTS];
  uint64_t keys[MOST_ELEMENTS] = {0};
  const trial *const t = argument;
  for (unsigned width = 32; width <= 64; width += 32) {
    for (size_t i = 0; i < o->count; i++) {
      keys[i] = number_of(t->how, o->rank[i], width);
      halves[i] = (uint32_t)keys[i];
    }
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
      const keys_found found =
          ways[w].find(width == 32 ? (const void *)halves : keys, width, o->count, order, other);
      if (ways[w].find == rs_keys_order_nearly && found == KEYS_UNORDERED) continue;
      check(o, t, ways[w].name, found, order);
    }
  }
}

/* Keys whose lowest ranks differ in the lowest word, and so on: all words above tie. */
static void try_wide(const ordering *o, void *argument)
{
  const trial *const t = argument;
  uint64_t keys[MOST_ELEMENTS * MOST_WORDS] = {0}, column[MOST_ELEMENTS];
  uint32_t order[MOST_ELEMENTS], other[ROOM * MOST_ELEMENTS], spare[ROOM * MOST_ELEMENTS];
  const size_t each = (MOST_ELEMENTS + t->words - 1) / t->words;
  for (size_t i = 0; i < o->count; i++)
    for (size_t w = 0; w < t->words; w++) {
      const size_t rank = o->rank[i], first = w * each;
      keys[i * t->words + w] = rank < first ? 0
                               : rank >= first + each
                                   ? UINT64_MAX - w
                                   : number_of(t->how, rank - first + (w > 0), 64);
    }
  const wide_keys wide = {keys, t->words, 64 * (unsigned)t->words};
  check(o, t, "order of wide keys", rs_wide_order(&wide, o->count, column, order, other, spare),
        order);
  const keys_found found = rs_wide_order_nearly(&wide, o->count, column, order, other);
  if (found != KEYS_UNORDERED) check(o, t, "order of nearly sorted wide keys", found, order);
}

static void test_narrow(void **state)
{
  (void)state;
  for (trial t = {0}; t.how < MAPPINGS; t.how++)
    for (size_t count = 0; count <= most; count++)
      assert_int_equal(each_ordering(count, try_narrow, &t), orderings_of[count]);
}

static void test_wide(void **state)
{
  (void)state;
  for (trial t = {0}; t.how < MAPPINGS; t.how++)
    for (t.words = 2; t.words <= MOST_WORDS; t.words++)
      for (size_t count = 0; count <= most; count++)
        assert_int_equal(each_ordering(count, try_wide, &t), orderings_of[count]);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_narrow), cmocka_unit_test(test_wide)};
  if (argc != 2) return 2;
  most = strtoul(argv[1], NULL, 10);
  if (most == 0 || most > MOST_ELEMENTS) return 2;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
