/* test_flips.c - the disk has another bit than was written to a temporary file: there is one error,
 * and the old output; or the result is right, as the bit was not wanted.
 *
 * The library's calls of pwrite come here, and one of them, which was drawn, flips a bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "random.h"
#include "recsort/file.h"

enum { SIZE = 20, RECORDS = 60000, FLIPS = 10 };

static uint64_t state = 20261129;
static unsigned char records[RECORDS * SIZE], sorted[RECORDS * SIZE];

/* ---- The disk ---- */

static atomic_ulong writes;    /* to temporary files, so far */
static atomic_ulong temporary; /* the file */
static unsigned long flipped;  /* the write that flips a bit; 0: none does */
static uint64_t bit;
static _Alignas(4096) unsigned char changed[4 << 20]; /* as much as is written at a time */

/* A temporary file has no name; and the output, which has none either, comes after it. */
__attribute__((visibility("default"))) ssize_t pwrite(int file, const void *from, size_t size,
                                                      off_t offset)
{
  struct stat status;
  if (fstat(file, &status) != 0 || status.st_nlink > 0) status.st_ino = 0;
  if (temporary == 0) temporary = status.st_ino;
  if (temporary == status.st_ino && atomic_fetch_add(&writes, 1) + 1 == flipped) {
    assert_true(size <= sizeof changed);
    memcpy(changed, from, size);
    changed[bit / 8 % size] ^= (unsigned char)(1 << bit % 8);
    from = changed;
  }
  return syscall(SYS_pwrite64, file, from, size, offset);
}

/* The writes so far, after which another sort begins. `next`: the one of that sort that flips. */
static unsigned long begin_writes(unsigned long next)
{
  flipped = next;
  temporary = 0;
  return atomic_exchange(&writes, 0);
}

/* ---- Sorts ---- */

/* A sort that takes temporary files. */
typedef struct way {
  const char *name;
  size_t count;
  uint64_t memory; /* KiB */
  uint64_t head;
  size_t stops; /* after so many records; 0: after all */
  size_t most_runs;
  unsigned least; /* flips that must be errors, of FLIPS: others hit what is not wanted */
} way;

static const way ways[] = {
    {"many runs", RECORDS, 1000, 0, 0, 0, FLIPS / 2},
    {"groups of runs", RECORDS, 700, 0, 0, 2, FLIPS / 2},
    {"a record of each run at a time", 3000, 50, 0, 0, 0, FLIPS / 2},
    {"a head", RECORDS, 1000, RECORDS / 2, 0, 0, FLIPS / 4},
    {"a head by groups", RECORDS, 700, RECORDS / 2, 0, 2, FLIPS / 4},
    {"a head, a record of each run at a time", 3000, 50, 2000, 0, 0, FLIPS / 4},
    {"a part", RECORDS, 1000, 0, RECORDS / 2, 0, FLIPS / 4},
    {"a part, a record of each run at a time", 3000, 50, 0, 1000, 0, FLIPS / 4}};

static int by_key(const void *a, const void *b)
{
  uint32_t x[2], y[2];
  memcpy(x, a, sizeof x);
  memcpy(y, b, sizeof y);
  return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* A key with ties, the number, which the oracle compares, too, and random bytes. */
static void make_records(size_t count)
{
  for (uint32_t i = 0; i < count; i++) {
    unsigned char *const to = records + (size_t)i * SIZE;
    const uint32_t words[] = {(uint32_t)random_below(&state, count / 4), i};
    fill_random(to, SIZE, &state);
    memcpy(to, words, sizeof words);
  }
  memcpy(sorted, records, count * SIZE);
  qsort(sorted, count, SIZE, by_key);
}

static recsort_sorter *open_sorter(void)
{
  static const char text[] = "record: Example\nfields:\n  - {name: key, type: uint32}\n"
                             "  - {name: rest, type: bytes, count: 16}\nkeys: [key]\n";
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  recsort_options options = RECSORT_OPTIONS_INIT;
  recsort_error error = {0};
  options.threads = 1;
  if (recsort_schema_load_memory(text, strlen(text), "text", NULL, &schema, &error) ||
      recsort_sorter_create(schema, &options, &sorter, &error))
    fail_msg("%s", error.text);
  recsort_schema_destroy(schema);
  return sorter;
}

/* True if all wanted records came, and are right. False if there was the error. */
static bool sorts(recsort_sorter *sorter, const way *w)
{
  recsort_file *file = NULL;
  recsort_error error = {0};
  const void *given;
  size_t got = 0, count = 1;
  const size_t all = w->head != 0 ? (size_t)w->head : w->count;
  const size_t wanted = w->stops != 0 ? w->stops : all;
  recsort_file_options options = RECSORT_FILE_OPTIONS_INIT;
  options.memory = w->memory << 10;
  options.head = w->head;
  options.most_runs = w->most_runs;
  assert_int_equal(recsort_file_open(sorter, &options, &file, &error), RECSORT_OK);
  recsort_status status = recsort_file_append(file, records, w->count, &error);
  if (status == RECSORT_OK) status = recsort_file_finish(file, &error);
  bool right = true;
  while (status == RECSORT_OK && count > 0 && got < wanted) { /* the last call is not needed */
    status = recsort_file_next(file, &given, &count, &error);
    if (status) break;
    assert_true(got + count <= all);
    right &= memcmp(given, sorted + got * SIZE, count * SIZE) == 0;
    got += count;
  }
  if (status == RECSORT_OK) {
    if (w->stops != 0) status = recsort_file_verify(file, &error);
    if (status == RECSORT_OK) status = recsort_file_next(file, &given, &count, &error);
    assert_true(status != RECSORT_OK || count == 0);
  }
  recsort_file_close(file);
  if (status == RECSORT_OK) {
    assert_true(got >= wanted);
    assert_true(right);
    return true;
  }
  assert_int_equal(status, RECSORT_IO_ERROR);
  assert_non_null(strstr(error.text, ": a temporary file does not hold what was written to it"));
  return false;
}

static void finds_each_bit(void **unused)
{
  recsort_sorter *const sorter = open_sorter();
  (void)unused;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    unsigned found = 0;
    make_records(ways[i].count);
    begin_writes(0);
    assert_true(sorts(sorter, &ways[i]));
    const unsigned long all = begin_writes(0);
    assert_true(all > 0);
    for (unsigned flip = 0; flip < FLIPS; flip++) {
      begin_writes(1 + (unsigned long)random_below(&state, all));
      bit = next_random(&state);
      found += !sorts(sorter, &ways[i]);
    }
    print_message("%s: %lu writes, %u of %d flips were errors\n", ways[i].name, all, found, FLIPS);
    assert_true(found >= ways[i].least);
  }
  recsort_sorter_destroy(sorter);
}

/* ---- Whole files ---- */

static void write_file(const char *path, const void *data, size_t size)
{
  FILE *const file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static bool has(const char *path, const void *data, size_t size)
{
  static unsigned char found[sizeof records + 1];
  FILE *const file = fopen(path, "rb");
  assert_non_null(file);
  const size_t got = fread(found, 1, sizeof found, file);
  fclose(file);
  return got == size && memcmp(found, data, size) == 0;
}

static void leaves_the_old_output(void **unused)
{
  char folder[] = "test-flips-XXXXXX";
  const char *const input = "in", *const folders = ".";
  recsort_sorter *const sorter = open_sorter();
  recsort_file_options options = RECSORT_FILE_OPTIONS_INIT;
  recsort_error error;
  unsigned found = 0;
  (void)unused;
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chdir(folder), 0);
  make_records(RECORDS);
  write_file("in", records, sizeof records);
  options.memory = 1000 << 10;
  options.folders = &folders;
  options.folder_count = 1;
  begin_writes(0);
  assert_int_equal(recsort_file_sort(sorter, &input, 1, "out", &options, &error), RECSORT_OK);
  const unsigned long all = begin_writes(0);
  for (unsigned flip = 0; flip < FLIPS; flip++) {
    write_file("out", "old", 3);
    begin_writes(1 + (unsigned long)random_below(&state, all));
    bit = next_random(&state);
    const recsort_status status = recsort_file_sort(sorter, &input, 1, "out", &options, &error);
    assert_true(status == RECSORT_OK ? has("out", sorted, sizeof sorted) : has("out", "old", 3));
    if (status) assert_int_equal(status, RECSORT_IO_ERROR);
    found += status != RECSORT_OK;
  }
  assert_true(found >= FLIPS / 2);
  assert_int_equal(unlink("in") | unlink("out") | chdir(".."), 0);
  assert_int_equal(rmdir(folder), 0); /* nothing is left */
  recsort_sorter_destroy(sorter);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(finds_each_bit),
                                     cmocka_unit_test(leaves_the_old_output)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
