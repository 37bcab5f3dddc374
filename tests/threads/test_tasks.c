/* The pool runs each task once in all circumstances, also for several callers. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h needs these first. */
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/pool.h"
#include "threads/meeting.h"

typedef struct tally {
  atomic_uint *runs; /* runs of each number */
  size_t count;
} tally;

static void count_run(void *argument, size_t number)
{
  const tally *const t = argument;
  (void)atomic_fetch_add(&t->runs[number], 1);
}

enum { TEAM = 4 };

/* Counts the numbers that did not run exactly once. */
static size_t run_tally(size_t count, unsigned threads)
{
  const team pool = rs_team(NULL, threads);
  tally t = {.runs = calloc(count + 1, sizeof *t.runs), .count = count};
  size_t wrong = t.runs ? 0 : count;
  if (t.runs) pool.run(pool.context, count_run, &t, count);
  for (size_t i = 0; t.runs && i < count; i++)
    wrong += t.runs[i] != 1;
  free(t.runs);
  return wrong;
}

static void test_each_task_runs_once(void **state)
{
  (void)state;
  for (size_t count = 0; count < 40; count++)
    for (int repeat = 0; repeat < 50; repeat++)
      assert_int_equal(run_tally(count, repeat % 2 ? TEAM : 40), 0);
  for (size_t count = 64; count <= 2048; count *= 2)
    for (size_t around = count - 1; around <= count + 1; around++)
      for (unsigned threads = 0; threads <= 2048; threads = 4 * threads + 1)
        assert_int_equal(run_tally(around, threads), 0);
  assert_int_equal(run_tally(100000, 0), 0);
  assert_int_equal(run_tally(100000, TEAM), 0);
}

static void count_piece(void *argument, size_t piece, unsigned slot)
{
  count_run(argument, slot < TEAM ? piece : 0);
}

/* Threads that have finished their own share race for the last pieces of another one. */
static void test_each_piece_runs_once(void **state)
{
  enum { PIECES = 5, REPEATS = 100000 };
  const team t = rs_team(NULL, TEAM);
  (void)state;
  const time_t end = time(NULL) + 5; /* sanitizers take much longer */
  for (int repeat = 0; repeat < REPEATS && time(NULL) < end; repeat++) {
    atomic_uint runs[PIECES + 1] = {0};
    tally counted = {runs, PIECES};
    team_each(t, PIECES, count_piece, &counted);
    for (size_t piece = 0; piece < PIECES; piece++)
      assert_int_equal(runs[piece], 1);
    assert_int_equal(runs[PIECES], 0);
  }
}

static void *run_many(void *wrong)
{
  for (size_t i = 0; i < 200; i++)
    *(size_t *)wrong += run_tally(1 + i % 9, 9);
  return NULL;
}

/* More callers than the pool has slots. */
static void test_many_callers_at_once(void **state)
{
  enum { CALLERS = 80 };
  pthread_t threads[CALLERS];
  size_t wrong[CALLERS] = {0};
  (void)state;
  for (size_t i = 0; i < CALLERS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, run_many, &wrong[i]), 0);
  for (size_t i = 0; i < CALLERS; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(wrong[i], 0);
  }
}

/* Tasks wait for each other: all of them run at once, even after the workers slept. */
static void test_workers_wake_again(void **state)
{
  enum { ROUNDS = 20 };
  const team pool = rs_team(NULL, TEAM);
  (void)state;
  for (int i = 0; i < ROUNDS; i++) {
    meeting m = {.wanted = TEAM};
    pool.run(pool.context, meet, &m, TEAM);
    assert_false(m.missed);
    usleep(i % 2 ? 20000 : 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_task_runs_once),
      cmocka_unit_test(test_each_piece_runs_once),
      cmocka_unit_test(test_many_callers_at_once),
      cmocka_unit_test(test_workers_wake_again),
  };
  return cmocka_run_group_tests_name("tasks", tests, NULL, NULL);
}
