/* Runs that are written and read by pieces of any size, however small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "files/store.h"

enum { SIZE = 3 * RF_SECTOR + 17 };

/* Writes bytes in parts, and compares them. */
static void check(size_t piece, size_t part)
{
  const char *const folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
  static unsigned char bytes[SIZE];
  rf_store store;
  rf_writer writer;
  rf_extent run;
  recsort_error error;
  void *memory = NULL, *at = NULL;
  assert_int_equal(posix_memalign(&memory, RF_SECTOR, SIZE + 2 * RF_SECTOR), 0);
  assert_int_equal(rf_store_open(&store, &folder, 1, &error), RECSORT_OK);
  assert_true(rf_writer_open(&writer, piece));
  for (size_t i = 0; i < SIZE; i++)
    bytes[i] = (unsigned char)(i * 7 + i / 256 + piece);
  for (unsigned r = 0; r < 2; r++) { /* the second run begins behind the first one */
    assert_int_equal(rf_store_begin(&store, &writer, SIZE, &error), RECSORT_OK);
    for (size_t done = 0; done < SIZE; done += part)
      assert_true(rf_writer_add(&writer, bytes + done, SIZE - done < part ? SIZE - done : part));
    assert_int_equal(rf_store_end(&store, &writer, &run, &error), RECSORT_OK);
    assert_int_equal(rf_store_wait(&writer, &error), RECSORT_OK);
    assert_true(run.size == SIZE);
    memset(memory, 0xee, SIZE + 2 * RF_SECTOR);
    assert_int_equal(rf_store_read(&store, &run, 0, SIZE, memory, &at, &error), RECSORT_OK);
    assert_memory_equal(at, bytes, SIZE);
  }
  rf_writer_close(&writer);
  rf_store_close(&store);
  free(memory);
}

static void any_piece(void **state)
{
  static const size_t pieces[] = {1, 20, 4095, 4096, 4097, 5000, 8192, 2 * SIZE};
  static const size_t parts[] = {1, 20, 4095, 4096, 6000, SIZE};
  (void)state;
  for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++)
    for (size_t n = 0; n < sizeof parts / sizeof *parts; n++)
      check(pieces[p], parts[n]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_piece)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
