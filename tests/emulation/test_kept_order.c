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
  bool in_place; /* the records are moved */
  row *rows, *copy;
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

/* What the caller does: it sorts if the order is lost. */
static device_status go_on(void *context, bool lost, const device_job *job, kept_order *order)
{
  loop *const l = context;
  l->outcome = lost ? LOST : *order->still ? STILL : FOUND;
  assert_true(lost || *order->pairs.skip <= *order->still);
  assert_true(!lost || (!job->branches[0] && *order->pairs.skip));
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
  }
  l->order = order->pairs;
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
  l->block = aligned_alloc(DEVICE_ALIGNMENT, device_bytes(&l->job, 0) + DEVICE_ALIGNMENT -
                                                 device_bytes(&l->job, 0) % DEVICE_ALIGNMENT);
  l->kept = (device_kept_order){.memory = aligned_alloc(DEVICE_ALIGNMENT, bytes),
                                .most = MOST,
                                .program = &l->program,
                                .records = l->rows,
                                .array = l->rows,
                                .sorted = in_place ? l->rows : NULL,
                                .facts = &l->facts};
  assert_true(l->rows && l->copy && l->block && l->kept.memory);
  memset(l->block, 0xee, device_bytes(&l->job, 0));
  l->buffers = device_divide(&l->job, l->block, 0);
  assert_int_equal(device_forget_order(l->kept.memory, bytes, NULL), 0);
}

static void close_loop(loop *l)
{
  free(l->rows);
  free(l->copy);
  free(l->block);
  free(l->kept.memory);
}

/* Sorts, and compares with the order that the host finds. */
static outcome sort_frame(loop *l)
{
  uint32_t expected[MOST];
  const uint32_t *found;
  find_order(l, expected);
  assert_int_equal(device_sort_kept(&l->kept, &l->job, &l->buffers, go_on, l), 0);
  found = l->order.indices;
  for (uint64_t i = 0; i < l->count; i++) {
    const unsigned char *const key = (const unsigned char *)l->order.keys + i * (l->width / 8);
    if (found[i] != expected[i])
      fail_msg("place %u: %u, not %u", (unsigned)i, found[i], expected[i]);
    if (l->width == 64) assert_memory_equal(key, l->rows[found[i]].words, 8);
  }
  if (l->in_place) {
    memcpy(l->copy, l->rows, l->count * sizeof *l->rows);
    for (uint64_t i = 0; i < l->count; i++)
      l->rows[i] = l->copy[expected[i]];
  }
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
      }
      close_loop(&l);
    }
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
  row *const other = l.copy; /* as the records were before the sort */
  l.copy = l.rows;
  l.rows = other;
  l.kept.records = l.kept.array = l.kept.sorted = other;
  assert_int_equal(sort_frame(&l), FOUND); /* in that order, and not in place */
  assert_int_equal(sort_frame(&l), STILL);
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
      cmocka_unit_test(follows_equal_keys),
      cmocka_unit_test(follows_records_within_their_chunk),
      cmocka_unit_test(ends_are_open),
      cmocka_unit_test(many_to_one_chunk_are_sorted),
      cmocka_unit_test(another_count_is_sorted),
      cmocka_unit_test(other_records_are_sorted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
