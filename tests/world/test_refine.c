/* test_refine.c - a disk gives another record than was written while splitters are sought: the
 * rounds end, and either fail, or the check after them finds each cut that is another one, and no
 * other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mpi/refine.h"
#include "support/random.h"

enum { RECORDS = 500, SPLITTERS = 3, SORTS = 900 };

static uint64_t state = 20261129;

/* What a disk does: a bit of a record stays another one, or a read gives other records once. */
enum { HOLDS, CHANGES, MISREADS, WAYS };

/* The sorted records of a rank, which are read in pieces. */
typedef struct disk {
  uint64_t records[RECORDS], read[RECORDS];
  int way;
  size_t changed;
  unsigned char bit;
} disk;

static recsort_status read_around(void *context, const unsigned char *mark, size_t *low,
                                  size_t *high, const void **records, recsort_error *error)
{
  disk *const d = context;
  (void)mark, (void)high, (void)error;
  memcpy(d->read, d->records, sizeof d->read);
  if (d->way == CHANGES) *(unsigned char *)&d->read[d->changed] ^= d->bit;
  for (size_t i = 1; i + 1 < RECORDS && d->way == MISREADS; i++)
    if (random_below(&state, 8) == 0) d->read[i] = d->records[i + 1 - 2 * (i % 2)];
  *records = d->read + *low;
  return RECSORT_OK;
}

static recsort_sorter *open_sorter(void)
{
  static const char text[] =
      "record: R\nfields: [{name: key, type: bytes, count: 8}]\nkeys: [key]\n";
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_error error = {0};
  if (recsort_schema_load_memory(text, strlen(text), "text", NULL, &schema, &error) ||
      recsort_sorter_create(schema, NULL, &sorter, &error))
    fail_msg("%s", error.text);
  recsort_schema_destroy(schema);
  return sorter;
}

/* All rounds of one rank. */
static recsort_status find(refine *r)
{
  static unsigned char samples[SPLITTERS * REFINE_SAMPLES * (8 + RECSORT_MARK_EXTRA)];
  static uint64_t cuts[SPLITTERS * REFINE_SAMPLES];
  static refine_sum sorted[SPLITTERS * REFINE_SAMPLES];
  const uint64_t before[SPLITTERS] = {0};
  recsort_error error;
  for (size_t left; (left = refine_left(r)) > 0;) {
    const recsort_status status = refine_sample(r, before, samples, &error);
    if (status) return status;
    assert_int_equal(refine_cut(r, samples, cuts, &error), RECSORT_OK);
    refine_narrow(r, samples, left * REFINE_SAMPLES, cuts, cuts, sorted);
  }
  return RECSORT_OK;
}

/* The records before a splitter: a mark is a key and a place, as bytes in order. */
static size_t true_cut(const disk *d, const unsigned char *mark)
{
  size_t cut = 0;
  for (size_t i = 0; i < RECORDS; i++) {
    unsigned char own[8 + RECSORT_MARK_EXTRA];
    memcpy(own, &d->records[i], 8);
    for (unsigned b = 0; b < RECSORT_MARK_EXTRA; b++)
      own[8 + b] = (unsigned char)((uint64_t)i >> 8 * (RECSORT_MARK_EXTRA - 1 - b));
    cut += memcmp(own, mark, sizeof own) < 0;
  }
  return cut;
}

static void finds_each_wrong_cut(void **unused)
{
  recsort_sorter *const sorter = open_sorter();
  static disk d;
  unsigned wrong = 0, endless = 0;
  (void)unused;
  for (unsigned sort = 0; sort < SORTS; sort++) {
    refine r = {.sorter = sorter,
                .read = read_around,
                .context = &d,
                .record_count = RECORDS,
                .count = SPLITTERS};
    recsort_error error = {0};
    bool right = true;
    fill_random(d.records, sizeof d.records, &state);
    assert_int_equal(recsort_sort(sorter, d.records, RECORDS, &error), RECSORT_OK);
    d.changed = (size_t)random_below(&state, RECORDS);
    d.bit = (unsigned char)(1 << random_below(&state, 8)); /* of the byte that decides */
    d.way = (int)sort % WAYS;
    void *const memory = malloc(refine_memory(8 + RECSORT_MARK_EXTRA, SPLITTERS));
    refine_open(&r, RECORDS, memory);
    for (size_t i = 0; i < SPLITTERS; i++)
      r.splitters[i].target = (i + 1) * RECORDS / (SPLITTERS + 1);
    const recsort_status status = find(&r);
    d.way = HOLDS;
    for (size_t i = 0; i < SPLITTERS && !status; i++)
      right &= true_cut(&d, r.marks + 2 * i * r.mark_size) == r.splitters[i].low_cut;
    if (!status)
      assert_int_equal(refine_check(&r, &error), right ? RECSORT_OK : RECSORT_CORRUPT_RESULT);
    assert_true(status == RECSORT_OK || (sort % WAYS != HOLDS && status == RECSORT_CORRUPT_RESULT));
    endless += status != RECSORT_OK;
    wrong += !right;
    free(memory);
  }
  print_message("of %d sorts %u had a wrong cut, and %u found none\n", SORTS, wrong, endless);
  assert_true(wrong > 0 && endless > 0 && wrong + endless < SORTS);
  recsort_sorter_destroy(sorter);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(finds_each_wrong_cut)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
