/* Tests the kernels that start a sort from a kept order: what they find, and what they sort. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/device_kept_order.h"
#include "emulator.h"
#include "recsort/key_interpreter.h"
#include "support/random.h"

enum { MOST = 5000, CHUNK = 1024, FRAMES = 12, MOST_ARRIVED = 128 };

/* A record has a number of 32, 64 or 128 bits: its words, most significant first. */
typedef struct row {
  uint64_t before;
  uint64_t words[2];
} row;

/* What is found: the order; that the records are still in order where they are; or nothing. */
typedef enum outcome { FOUND, STILL, LOST } outcome;

/* A loop that sorts records frame by frame. */
typedef struct loop {
  uint32_t width;
  uint64_t count;
  bool in_place; /* or they are moved to another array */
  bool lies;     /* an order that another sort found has a record twice */
  unsigned frame;
  row *rows, *copy, *moved;
  uint32_t permutation[MOST], disorder;
  records_program program;
  device_kept_order kept;
  device_job job;
  device_buffers buffers;
  void *block;
  records_facts facts;
  outcome outcome;
  records_order order;
} loop;

static records_program program_of(uint32_t width)
{
  const bool big = key_host_is_big_endian();
  records_program program = {
      .record_size = sizeof(row), .key_width = width, .step_count = width > 64 ? 2 : 1};
  for (uint32_t s = 0; s < program.step_count; s++)
    program.steps[s] = (recsort_key_step){.kind = RECSORT_KEY_UNSIGNED,
                                          .flags = big ? RECSORT_KEY_BIG_ENDIAN : 0,
                                          .offset = offsetof(row, words) + s * sizeof(uint64_t) +
                                                    (big && width == 32 ? 4 : 0),
                                          .bytes = width == 32 ? 4 : 8,
                                          .width = width == 32 ? 32 : 64,
                                          .shift = program.step_count > 1 && s == 0 ? 64 : 0};
  return program;
}

static int compare_rows(const row *a, const row *b)
{
  if (a->words[0] != b->words[0]) return a->words[0] < b->words[0] ? -1 : 1;
  return a->words[1] < b->words[1] ? -1 : a->words[1] > b->words[1];
}

static const row *sorted_rows;

static int compare_indices(const void *a, const void *b)
{
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  const int compared = compare_rows(&sorted_rows[x], &sorted_rows[y]);
  return compared ? compared : x < y ? -1 : x > y;
}

/* The indices of the records in order. */
static void find_order(const loop *l, uint32_t *order)
{
  for (uint32_t i = 0; i < l->count; i++)
    order[i] = i;
  sorted_rows = l->rows;
  qsort(order, l->count, sizeof *order, compare_indices);
}

/* As a sort does it whose order is lost. */
static void move_rows(loop *l, const uint32_t *order)
{
  memcpy(l->copy, l->rows, l->count * sizeof *l->rows);
  for (uint64_t i = 0; i < l->count; i++)
    ((row *)l->kept.move.to)[i] = l->copy[order[i]];
  memcpy(l->permutation, order, l->count * sizeof *order);
}

/* What the caller does: it sorts if the order is lost. */
static device_status go_on(void *context, bool lost, const device_job *job, kept_order *order)
{
  loop *const l = context;
  assert_true(lost || *order->pairs.skip == (l->outcome == LOST));
  assert_true(lost || *order->pairs.skip <= *order->still);
  assert_true(!lost || !job->branches[0]);
  if (lost) {
    const size_t bytes = l->width / 8;
    uint32_t *const indices = l->buffers.indices[1];
    find_order(l, indices);
    for (uint64_t i = 0; i < l->count; i++) {
      const row *const from = &l->rows[indices[i]];
      unsigned char *const to = (unsigned char *)l->buffers.keys[1] + i * bytes;
      const uint32_t narrow = (uint32_t)from->words[0];
      const bool big = key_host_is_big_endian();
      const uint64_t wide[2] = {from->words[!big], from->words[big]};
      memcpy(to,
             l->width == 32   ? (const void *)&narrow
             : l->width == 64 ? from->words
                              : wide,
             bytes);
    }
    order->pairs.indices = indices;
    order->pairs.keys = l->buffers.keys[1];
    l->outcome = LOST;
    move_rows(l, indices);
    if (l->lies) indices[7] = indices[8];
  } else if (l->outcome != LOST) {
    l->outcome = *order->still ? STILL : FOUND;
    l->order = order->pairs;
  }
  return 0;
}

static void open_loop(loop *l, uint32_t width, uint64_t count, bool in_place)
{
  static int streams[2];
  *l = (loop){.width = width, .count = count, .in_place = in_place, .program = program_of(width)};
  const uint64_t bytes = device_kept_order_bytes(MOST, width);
  l->job = (device_job){.count = count,
                        .key_width = width,
                        .key_bits = width,
                        .index_bits = 32,
                        .branches = {&streams[0], &streams[1]}};
  l->rows = calloc(MOST, sizeof *l->rows);
  l->copy = calloc(MOST, sizeof *l->copy);
  l->moved = calloc(MOST, sizeof *l->moved);
  l->block = aligned_alloc(DEVICE_ALIGNMENT, device_bytes(&l->job, 0) + DEVICE_ALIGNMENT -
                                                 device_bytes(&l->job, 0) % DEVICE_ALIGNMENT);
  l->kept = (device_kept_order){.memory = aligned_alloc(DEVICE_ALIGNMENT, bytes),
                                .most = MOST,
                                .program = &l->program,
                                .records = l->rows,
                                .array = l->rows,
                                .sorted = in_place ? l->rows : l->moved,
                                .facts = &l->facts,
                                .move = {l->rows, in_place ? l->rows : l->moved, sizeof(row)},
                                .copy = l->copy,
                                .disorder = &l->disorder};
  assert_true(l->rows && l->copy && l->moved && l->block && l->kept.memory);
  memset(l->block, 0xee, device_bytes(&l->job, 0));
  l->buffers = device_divide(&l->job, l->block, 0);
  assert_int_equal(device_forget_order(l->kept.memory, bytes, NULL), 0);
}

static void close_loop(loop *l)
{
  free(l->rows);
  free(l->copy);
  free(l->moved);
  free(l->block);
  free(l->kept.memory);
}

static void expect_order(const uint32_t *found, const uint32_t *expected, uint64_t count)
{
  for (uint64_t i = 0; i < count; i++)
    if (found[i] != expected[i])
      fail_msg("place %u: %u, not %u", (unsigned)i, found[i], expected[i]);
}

/* Sorts, and compares with the order that the host finds. Not each frame wants all results. */
static outcome sort_frame(loop *l)
{
  uint32_t expected[MOST];
  row *const sorted = malloc(l->count * sizeof *sorted);
  assert_non_null(sorted);
  find_order(l, expected);
  for (uint64_t i = 0; i < l->count; i++)
    sorted[i] = l->rows[expected[i]];
  l->outcome = FOUND;
  l->kept.wants_order = l->frame % 2;
  l->kept.permutation = l->frame % 3 ? l->permutation : NULL;
  l->frame++;
  memset(l->permutation, 0xee, sizeof l->permutation);
  memset(l->copy, 0xee, MOST * sizeof *l->copy);
  memset(l->moved, 0xee, MOST * sizeof *l->moved);
  assert_int_equal(device_sort_kept(&l->kept, &l->job, &l->buffers, go_on, l), 0);
  assert_int_equal(l->disorder, 0);
  if (l->kept.permutation) expect_order(l->permutation, expected, l->count);
  if (l->outcome != LOST && l->kept.wants_order) expect_order(l->order.indices, expected, l->count);
  assert_memory_equal(l->kept.move.to, sorted, l->count * sizeof *sorted);
  free(sorted);
  return l->outcome;
}

static void set_row(const loop *l, uint64_t i, uint64_t value)
{
  l->rows[i] = (row){7, {l->width == 128 ? value / 3 : value, l->width == 128 ? value % 3 : 0}};
  if (l->width == 32) l->rows[i].words[0] = (uint32_t)l->rows[i].words[0];
}

/* Frames of which the first finds no order, and in the others few records move. */
static void follows_few_that_move(void **state)
{
  uint64_t random = 3;
  (void)state;
  for (uint32_t width = 32; width <= 128; width *= 2)
    for (int in_place = 0; in_place < 2; in_place++) {
      loop l;
      open_loop(&l, width, 4 * CHUNK + 77, in_place);
      for (uint64_t i = 0; i < l.count; i++)
        set_row(&l, i, random_below(&random, l.count / 2));
      assert_int_equal(sort_frame(&l), LOST);
      for (unsigned frame = 0; frame < FRAMES; frame++) {
        assert_int_equal(sort_frame(&l), in_place ? STILL : FOUND);
        for (unsigned moved = 0; moved < 90; moved++)
          set_row(&l, random_below(&random, l.count), random_below(&random, l.count / 2));
        assert_int_equal(sort_frame(&l), FOUND);
        if (frame % 2) assert_int_equal(sort_frame(&l), in_place ? STILL : FOUND);
      }
      close_loop(&l);
    }
}

/* Records go to the other array, and from there back: they are read in order, and always moved. */
static void moves_there_and_back(void **state)
{
  loop l;
  (void)state;
  open_loop(&l, 32, 3 * CHUNK, false);
  for (uint64_t i = 0; i < l.count; i++)
    set_row(&l, i, l.count - i);
  assert_int_equal(sort_frame(&l), LOST);
  for (unsigned frame = 0; frame < 4; frame++) {
    row *const from = l.rows;
    l.rows = l.moved;
    l.moved = from;
    l.kept.records = l.kept.array = l.kept.move.from = l.rows;
    l.kept.sorted = l.kept.move.to = l.moved;
    if (frame == 2) set_row(&l, 7, 2 * CHUNK);
    assert_int_equal(sort_frame(&l), frame == 2 ? FOUND : STILL);
  }
  close_loop(&l);
}

/* Equal keys are on both sides of a chunk's first place: the index decides where they belong. */
static void follows_equal_keys(void **state)
{
  loop l;
  (void)state;
  open_loop(&l, 32, 4 * CHUNK, false);
  for (uint64_t i = 0; i < l.count; i++)
    set_row(&l, i, i % 2);
  assert_int_equal(sort_frame(&l), LOST);
  assert_int_equal(sort_frame(&l), FOUND);
  close_loop(&l);
}

/* All records of a chunk change places with their neighbours: none leaves its chunk. */
static void follows_records_within_their_chunk(void **state)
{
  loop l;
  (void)state;
  open_loop(&l, 64, 2 * CHUNK, true);
  for (uint64_t i = 0; i < l.count; i++)
    set_row(&l, i, i);
  assert_int_equal(sort_frame(&l), LOST);
  for (uint64_t i = 1; i + 1 < CHUNK; i++)
    set_row(&l, i, CHUNK - 1 - i);
  assert_int_equal(sort_frame(&l), FOUND);
  set_row(&l, 0, 1);
  set_row(&l, 1, 0);
  assert_int_equal(sort_frame(&l), FOUND);
  close_loop(&l);
}

/* What is less than all before still belongs to the first chunk, what is greater to the last one.
 */
static void ends_are_open(void **state)
{
  loop l;
  (void)state;
  open_loop(&l, 32, 2 * CHUNK, true);
  for (uint64_t i = 0; i < l.count; i++)
    set_row(&l, i, CHUNK + i);
  assert_int_equal(sort_frame(&l), LOST);
  for (uint64_t i = 0; i < l.count; i++)
    set_row(&l, i, i < CHUNK ? i : 2 * CHUNK + i);
  assert_int_equal(sort_frame(&l), STILL);
  close_loop(&l);
}

/* `moved` records of the second chunk go to the first one, which must have room for them. */
static void many_to_one_chunk_are_sorted(void **state)
{
  (void)state;
  for (unsigned moved = MOST_ARRIVED; moved <= MOST_ARRIVED + 1; moved++)
    for (int in_place = 0; in_place < 2; in_place++) {
      loop l;
      open_loop(&l, 32, 3 * CHUNK, in_place);
      for (uint64_t i = 0; i < l.count; i++)
        set_row(&l, i, i);
      assert_int_equal(sort_frame(&l), LOST);
      for (unsigned i = 0; i < moved; i++)
        set_row(&l, CHUNK + i, moved - i);
      assert_int_equal(sort_frame(&l), moved > MOST_ARRIVED ? LOST : FOUND);
      assert_int_equal(sort_frame(&l), in_place ? STILL : FOUND);
      close_loop(&l);
    }
}

/* Records that have moved once do not move again, although only the sort wants the order. */
static void the_order_is_the_last_one(void **state)
{
  enum { MOVED = 100 };
  loop l;
  (void)state;
  open_loop(&l, 32, 3 * CHUNK, false);
  for (uint64_t i = 0; i < l.count; i++)
    set_row(&l, i, i);
  assert_int_equal(sort_frame(&l), LOST);
  for (unsigned frame = 0; frame < 4; frame++) {
    for (unsigned i = 0; i < MOVED; i++)
      set_row(&l, CHUNK + frame * MOVED + i, i);
    l.frame = 0;
    assert_int_equal(sort_frame(&l), FOUND);
  }
  close_loop(&l);
}

/* Another number of records is another order. */
static void another_count_is_sorted(void **state)
{
  loop l;
  (void)state;
  open_loop(&l, 64, CHUNK + 1, true);
  assert_int_equal(sort_frame(&l), LOST);
  assert_int_equal(sort_frame(&l), STILL);
  l.job.count = l.count = CHUNK;
  l.buffers = device_divide(&l.job, l.block, 0);
  assert_int_equal(sort_frame(&l), LOST);
  assert_int_equal(sort_frame(&l), STILL);
  close_loop(&l);
}

/* The order of one array is of use for another one, but does not decide its result. */
static void other_records_are_sorted(void **state)
{
  uint64_t random = 5;
  loop l;
  (void)state;
  open_loop(&l, 32, 3 * CHUNK, true);
  for (uint64_t i = 0; i < l.count; i++)
    set_row(&l, i, random_below(&random, 99));
  assert_int_equal(sort_frame(&l), LOST);
  for (uint64_t i = 0; i < l.count; i++) /* as the records were before the sort */
    l.moved[l.permutation[i]] = l.rows[i];
  row *const other = l.moved;
  l.moved = l.rows;
  l.rows = other;
  l.kept.records = l.kept.array = l.kept.sorted = l.kept.move.from = l.kept.move.to = other;
  assert_int_equal(sort_frame(&l), FOUND); /* in that order, and not in place */
  assert_int_equal(sort_frame(&l), STILL);
  close_loop(&l);
}

/* A pair that is not before the next one. */
static void disorder_is_reported(void **state)
{
  loop l;
  (void)state;
  open_loop(&l, 32, 2 * CHUNK, false);
  for (uint64_t i = 0; i < l.count; i++)
    set_row(&l, i, i);
  l.lies = true;
  assert_int_equal(sort_frame(&l), LOST);
  l.outcome = FOUND;
  assert_int_equal(device_sort_kept(&l.kept, &l.job, &l.buffers, go_on, &l), 0);
  assert_int_equal(l.outcome, FOUND);
  assert_int_equal(l.disorder, 1);
  close_loop(&l);
}

/* 5 bytes for each record, with keys of 128 bits almost 7. */
static void takes_little_memory(void **state)
{
  enum { COUNT = 1 << 22 };
  (void)state;
  for (uint32_t width = 32; width <= 128; width *= 2)
    assert_in_range(device_kept_order_bytes(COUNT, width), 5 * COUNT, 7 * COUNT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(takes_little_memory),
      cmocka_unit_test(follows_few_that_move),
      cmocka_unit_test(moves_there_and_back),
      cmocka_unit_test(follows_equal_keys),
      cmocka_unit_test(follows_records_within_their_chunk),
      cmocka_unit_test(ends_are_open),
      cmocka_unit_test(many_to_one_chunk_are_sorted),
      cmocka_unit_test(the_order_is_the_last_one),
      cmocka_unit_test(another_count_is_sorted),
      cmocka_unit_test(other_records_are_sorted),
      cmocka_unit_test(disorder_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
