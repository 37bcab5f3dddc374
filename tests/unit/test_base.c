/* The base: overflowing sizes, messages of one line, memory that is freed. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "recsort/record_hash.h"
#include "support/failing_allocator.h"

static void test_checked_sizes(void **state)
{
  (void)state;
  assert_true(rs_sum(SIZE_MAX - 2, 1) == SIZE_MAX - 1);
  assert_true(rs_sum(SIZE_MAX - 1, 1) == SIZE_MAX);
  assert_true(rs_sum(SIZE_MAX, 0) == SIZE_MAX);
  assert_true(rs_sum(SIZE_MAX, SIZE_MAX) == SIZE_MAX);
  assert_true(rs_product(SIZE_MAX / 2, 2) == SIZE_MAX - 1);
  assert_true(rs_product(SIZE_MAX / 2 + 1, 2) == SIZE_MAX);
  assert_true(rs_product(SIZE_MAX, 1) == SIZE_MAX);
  assert_true(rs_product(SIZE_MAX, 0) == 0);
  assert_true(rs_round_up(0, 64) == 0);
  assert_true(rs_round_up(1, 64) == 64);
  assert_true(rs_round_up(64, 64) == 64);
  assert_true(rs_round_up(65, 64) == 128);
  assert_true(rs_round_up(SIZE_MAX - 127, 64) == SIZE_MAX - 127);
  assert_true(rs_round_up(SIZE_MAX - 62, 64) == SIZE_MAX);
  assert_true(rs_round_up(SIZE_MAX, 64) == SIZE_MAX);
}

static void test_messages(void **state)
{
  recsort_error error;
  (void)state;
  assert_int_equal(rs_fail(&error, RECSORT_IO_ERROR, "%s %d", "a\nb\x1b", 5), RECSORT_IO_ERROR);
  assert_string_equal(error.text, "a?b? 5");
  assert_int_equal(error.status, RECSORT_IO_ERROR);
  assert_int_equal(error.line, 0);
  const rs_place place = {"f.yaml", 12, 5};
  rs_fail_at(&error, RECSORT_INVALID_SCHEMA, place, "wrong");
  assert_string_equal(error.text, "f.yaml:12:5: wrong");
  assert_int_equal(error.line, 12);
  assert_int_equal(error.column, 5);
  rs_fail_at(&error, RECSORT_INVALID_SCHEMA, (rs_place){.source = "f.yaml"}, "wrong");
  assert_string_equal(error.text, "f.yaml: wrong");
  rs_fail_at(&error, RECSORT_INVALID_SCHEMA, (rs_place){.line = 3}, "wrong");
  assert_string_equal(error.text, "wrong");
  assert_int_equal(rs_fail(NULL, RECSORT_IO_ERROR, "nobody"), RECSORT_IO_ERROR);
  assert_int_equal(rs_fail_memory(&error, 12), RECSORT_OUT_OF_MEMORY);
  assert_string_equal(error.text, "out of memory (12 bytes wanted)");
}

static void test_long_messages_are_cut(void **state)
{
  struct {
    recsort_error error;
    char guard[16];
  } box;
  char longer[2000];
  (void)state;
  memset(longer, 'x', sizeof longer - 1);
  longer[sizeof longer - 1] = '\0';
  memset(&box, 0x7e, sizeof box);
  rs_fail(&box.error, RECSORT_IO_ERROR, "%s", longer);
  assert_int_equal(strlen(box.error.text), sizeof box.error.text - 1);
  rs_fail_at(&box.error, RECSORT_IO_ERROR, (rs_place){longer, 1, 1}, "%s", longer);
  assert_int_equal(strlen(box.error.text), sizeof box.error.text - 1);
  assert_int_equal(box.guard[0], 0x7e);
}

static void test_an_arena_gives_all_back(void **state)
{
  failing_allocator memory = {0};
  const recsort_allocator hook = failing_hook(&memory);
  rs_arena arena;
  (void)state;
  rs_arena_init(&arena, &hook);
  for (size_t i = 0; i < 3000; i++) {
    unsigned char *array = rs_arena_array(&arena, i % 50, i % 17 + 1);
    assert_non_null(array);
    assert_int_equal((uintptr_t)array % _Alignof(max_align_t), 0);
    for (size_t b = 0; b < i % 50 * (i % 17 + 1); b++) {
      assert_int_equal(array[b], 0);
      array[b] = 0xff;
    }
  }
  assert_non_null(rs_arena_array(&arena, 100000, 3)); /* larger than a block */
  assert_string_equal(rs_arena_text(&arena, "text"), "text");
  assert_null(rs_arena_array(&arena, SIZE_MAX, 2));
  assert_null(rs_arena_array(&arena, SIZE_MAX, 1));
  rs_arena_free(&arena);
  assert_int_equal(memory.blocks, 0);
  assert_int_equal(memory.wrong, 0);
  rs_arena_free(&arena);
}

static void test_the_librarys_own_allocator(void **state)
{
  const recsort_allocator memory = rs_allocator(NULL);
  static const size_t sizes[] = {1, 63, 4096, (5 << 20) + 1};
  (void)state;
  for (size_t i = 0; i < 4; i++) {
    unsigned char *block = rs_allocate(&memory, sizes[i]);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % 64, 0);
    memset(block, 1, sizes[i]);
    rs_release(&memory, block, sizes[i]);
  }
  assert_null(rs_allocate(&memory, 0));
  assert_null(rs_allocate(&memory, SIZE_MAX));
  assert_null(rs_allocate(&memory, SIZE_MAX - 1)); /* which cannot be rounded up */
  assert_null(rs_allocate(&memory, SIZE_MAX / 2));
  rs_release(&memory, NULL, 0);
}

/* Whatever a record is read by. It is read in the order of this machine's bytes, if not by bytes.
 */
static void test_hashes_of_any_unit_are_the_same(void **state)
{
  enum { MOST = 40 };
  _Alignas(8) unsigned char record[MOST];
  (void)state;
  if (key_host_is_big_endian()) skip();
  for (size_t i = 0; i < MOST; i++)
    record[i] = (unsigned char)(37 * i + 11);
  for (unsigned size = 4; size <= MOST; size += 4) {
    const uint64_t hash = record_hash(record, size, 1);
    assert_true(record_hash(record, size, 4) == hash);
    if (size % 8 == 0) assert_true(record_hash(record, size, 8) == hash);
    record[size - 1] ^= 1;
    assert_true(record_hash(record, size, 4) != hash);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checked_sizes),
      cmocka_unit_test(test_messages),
      cmocka_unit_test(test_long_messages_are_cut),
      cmocka_unit_test(test_an_arena_gives_all_back),
      cmocka_unit_test(test_the_librarys_own_allocator),
      cmocka_unit_test(test_hashes_of_any_unit_are_the_same),
  };
  return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
