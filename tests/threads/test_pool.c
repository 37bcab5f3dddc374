/* The pool and what surrounds it: several sorters, executors, forks and signals. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h needs these first. */
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/pool.h"
#include "support/told.h"
#include "threads/array.h"
#include "threads/meeting.h"

enum { COUNT = 150000 };

/* ---- Sorters ---- */

static recsort_sorter *open_sorter(unsigned threads, const recsort_executor *executor)
{
  const recsort_options options = {
      .struct_size = sizeof options, .plugin = "cpu", .threads = threads, .executor = executor};
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  assert_int_equal(recsort_schema_create(&numbered_schema, NULL, &schema, NULL), RECSORT_OK);
  assert_int_equal(recsort_sorter_create(schema, &options, &sorter, NULL), RECSORT_OK);
  recsort_schema_destroy(schema);
  return sorter;
}

static bool sorts(recsort_sorter *sorter, uint32_t seed)
{
  numbered *const records = make_numbered(COUNT, seed);
  const bool good = records && recsort_sort(sorter, records, COUNT, NULL) == RECSORT_OK &&
                    in_order(records, COUNT);
  free(records);
  return good;
}

typedef struct sorting {
  uint32_t seed;
  bool good;
} sorting;

static void *sort_with_own_sorter(void *argument)
{
  sorting *const s = argument;
  recsort_sorter *const sorter = open_sorter(4, NULL);
  s->good = true;
  for (uint32_t i = 0; i < 5; i++)
    s->good = s->good && sorts(sorter, s->seed + i);
  recsort_sorter_destroy(sorter);
  return NULL;
}

/* Several sorters share threads: as many as the largest needs. */
static void test_sorters_share_threads(void **state)
{
  enum { SORTERS = 6 };
  pthread_t threads[SORTERS];
  sorting sortings[SORTERS];
  recsort_sorter *const sorter = open_sorter(4, NULL);
  (void)state;
  assert_true(sorts(sorter, 1));
  const size_t before = pool_threads();
  assert_true(before >= 3);
  for (uint32_t i = 0; i < SORTERS; i++) {
    sortings[i] = (sorting){100 * i, false};
    assert_int_equal(pthread_create(&threads[i], NULL, sort_with_own_sorter, &sortings[i]), 0);
  }
  for (size_t i = 0; i < SORTERS; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_true(sortings[i].good);
  }
  assert_int_equal(pool_threads(), before);
  recsort_sorter_destroy(sorter);
}

/* ---- A caller's executor ---- */

typedef struct job_system {
  size_t runs;
  size_t most_tasks;
  bool backwards;
} job_system;

static void run_here(void *context, void (*task)(void *argument, size_t number), void *argument,
                     size_t count)
{
  job_system *const system = context;
  system->runs++;
  if (count > system->most_tasks) system->most_tasks = count;
  for (size_t i = 0; i < count; i++)
    task(argument, system->backwards ? count - 1 - i : i);
}

/* One thread runs all tasks, in either order. None waits for another, and no thread is created. */
static void sort_by_executor(bool backwards)
{
  job_system system = {.backwards = backwards};
  const recsort_executor executor = {sizeof executor, &system, run_here, 4};
  recsort_sorter *const sorter = open_sorter(0, &executor);
  assert_int_equal(stats_of(sorter).threads, 4);
  assert_true(sorts(sorter, 3));
  assert_int_equal(pool_threads(), 0);
  assert_true(system.runs >= 3);
  assert_int_equal(system.most_tasks, 4);
  recsort_sorter_destroy(sorter);
}

static int in_a_child(void (*act)(void))
{
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    alarm(600);
    act();
    _exit(0);
  }
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void sort_by_executors(void)
{
  sort_by_executor(false);
  sort_by_executor(true);
}

/* In a child process, which starts with a single thread. */
static void test_an_executor_in_place_of_the_pool(void **state)
{
  (void)state;
  assert_int_equal(in_a_child(sort_by_executors), 0);
}

static unsigned processors(void)
{
  cpu_set_t set;
  assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
  return (unsigned)CPU_COUNT(&set);
}

static unsigned threads_with(unsigned threads, unsigned of_executor, job_system *system)
{
  const recsort_executor executor = {sizeof executor, system, run_here, of_executor};
  recsort_sorter *const sorter = open_sorter(threads, &executor);
  const unsigned used = stats_of(sorter).threads;
  assert_true(sorts(sorter, 3));
  recsort_sorter_destroy(sorter);
  return used;
}

static void test_an_executor_has_no_more_threads_than_it_says(void **state)
{
  job_system system = {.backwards = false};
  (void)state;
  assert_int_equal(threads_with(8, 2, &system), 2);
  assert_int_equal(system.most_tasks, 2);
  assert_int_equal(threads_with(2, 8, &system), 2);
  assert_int_equal(system.most_tasks, 2);
  assert_int_equal(threads_with(processors() + 3, 0, &system), processors());
}

/* ---- The default executor ---- */

typedef struct crowd {
  atomic_size_t here;
  atomic_size_t most;
  atomic_size_t runs;
} crowd;

static void join_crowd(void *argument, size_t number)
{
  crowd *const c = argument;
  const size_t here = atomic_fetch_add(&c->here, 1) + 1;
  size_t most = c->most;
  (void)number;
  while (most < here && !atomic_compare_exchange_weak(&c->most, &most, here))
    continue;
  (void)sched_yield();
  (void)atomic_fetch_add(&c->runs, 1);
  (void)atomic_fetch_sub(&c->here, 1);
}

static void run_crowd(const recsort_executor *executor, size_t count, size_t most)
{
  crowd c = {.runs = 0};
  executor->run(executor->context, join_crowd, &c, count);
  if (c.runs != count || c.most > most) _exit(1);
}

/* Also when the pool has more threads, as a sorter wanted them. */
static void run_crowds(void)
{
  enum { MANY = 100000 };
  const recsort_executor *const pool = recsort_executor_default();
  const unsigned most = processors();
  recsort_sorter *const sorter = open_sorter(most + 3, NULL);
  recsort_sorter *const by_pool = open_sorter(most + 7, pool);
  run_crowd(pool, MANY, most);
  if (pool_threads() > most - 1) _exit(2);
  if (!sorts(by_pool, 4) || stats_of(by_pool).threads != most) _exit(3);
  if (pool_threads() > most - 1) _exit(4);
  if (!sorts(sorter, 5) || stats_of(sorter).threads != most + 3) _exit(5);
  if (pool_threads() != most + 2) _exit(6);
  run_crowd(pool, MANY, most);
  if (pool_threads() != most + 2) _exit(7);
  recsort_sorter_destroy(by_pool);
  recsort_sorter_destroy(sorter);
}

static void test_the_default_executor_has_a_thread_a_processor(void **state)
{
  (void)state;
  assert_int_equal(in_a_child(run_crowds), 0);
}

static void test_a_wrong_executor_is_refused(void **state)
{
  const recsort_executor wrong[] = {{sizeof wrong[0], NULL, NULL, 2}, {1, NULL, run_here, 2}};
  recsort_schema *schema = NULL;
  recsort_sorter *sorter = NULL;
  (void)state;
  assert_int_equal(recsort_schema_create(&numbered_schema, NULL, &schema, NULL), RECSORT_OK);
  for (size_t i = 0; i < 2; i++) {
    const recsort_options options = {.struct_size = sizeof options, .executor = &wrong[i]};
    assert_int_equal(recsort_sorter_create(schema, &options, &sorter, NULL),
                     RECSORT_INVALID_ARGUMENT);
    assert_null(sorter);
  }
  recsort_schema_destroy(schema);
}

/* ---- Forks ---- */

static recsort_sorter *shared_sorter;

static void sort_anew_and_again(void)
{
  recsort_sorter *const sorter = open_sorter(4, NULL);
  if (!sorts(sorter, 5) || !sorts(shared_sorter, 6) || pool_threads() != 3) _exit(1);
  recsort_sorter_destroy(sorter);
  recsort_sorter_destroy(shared_sorter);
}

static void test_a_child_sorts_after_a_parallel_sort(void **state)
{
  (void)state;
  shared_sorter = open_sorter(4, NULL);
  assert_true(sorts(shared_sorter, 4));
  assert_int_equal(in_a_child(sort_anew_and_again), 0);
  assert_true(sorts(shared_sorter, 7));
  recsort_sorter_destroy(shared_sorter);
}

static atomic_bool stop;

static void *sort_until_stopped(void *good)
{
  recsort_sorter *const sorter = open_sorter(4, NULL);
  *(bool *)good = true;
  for (uint32_t i = 0; !stop; i++)
    *(bool *)good = *(bool *)good && sorts(sorter, i);
  recsort_sorter_destroy(sorter);
  return NULL;
}

static void sort_anew(void)
{
  recsort_sorter *const sorter = open_sorter(3, NULL);
  if (!sorts(sorter, 8)) _exit(1);
  recsort_sorter_destroy(sorter);
}

static void test_forks_while_another_thread_sorts(void **state)
{
  enum { FORKS = 20 };
  pthread_t thread;
  bool good = false;
  (void)state;
  assert_int_equal(pthread_create(&thread, NULL, sort_until_stopped, &good), 0);
  for (int i = 0; i < FORKS; i++)
    assert_int_equal(in_a_child(sort_anew), 0);
  stop = true;
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_true(good);
}

/* Nested jobs: the innermost takes the last of the pool's slots. Each has so many tasks, and may
 * use as many threads, that there are idle workers for the innermost, even where a worker runs the
 * nested job and its caller waits. */
enum { NESTED_TASKS = 12 };

typedef struct nest {
  unsigned jobs;
  meeting innermost;
} nest;

static void descend(void *argument, size_t number)
{
  const team t = rs_team(NULL, NESTED_TASKS);
  nest *const n = argument;
  if (number > 0) return;
  if (--n->jobs > 1)
    t.run(t.context, descend, n, NESTED_TASKS);
  else
    t.run(t.context, meet, &n->innermost, 2);
}

static void use_all_places(void)
{
  enum { PLACES = 64 };
  const team t = rs_team(NULL, NESTED_TASKS);
  nest n = {.jobs = PLACES, .innermost.wanted = 2};
  t.run(t.context, descend, &n, NESTED_TASKS);
  if (n.innermost.missed) _exit(1);
}

static void *run_a_meeting(void *met)
{
  const team t = rs_team(NULL, 2);
  t.run(t.context, meet, met, 2);
  return NULL;
}

static void test_a_child_has_all_places_of_the_pool(void **state)
{
  meeting met = {.wanted = 3}; /* its tasks wait for this thread, too */
  pthread_t thread;
  (void)state;
  assert_int_equal(pthread_create(&thread, NULL, run_a_meeting, &met), 0);
  while (met.come < 2)
    (void)sched_yield();
  assert_int_equal(in_a_child(use_all_places), 0);
  met.come++;
  assert_int_equal(pthread_join(thread, NULL), 0);
}

/* ---- Signals ---- */

static atomic_size_t handled_elsewhere;
static pthread_t sorting_thread;

static void note_thread(int number)
{
  (void)number;
  if (!pthread_equal(pthread_self(), sorting_thread)) handled_elsewhere++;
}

static void test_signals_are_left_to_the_program(void **state)
{
  const struct sigaction act = {.sa_handler = note_thread, .sa_flags = SA_RESTART};
  struct sigaction before;
  recsort_sorter *const sorter = open_sorter(4, NULL);
  (void)state;
  sorting_thread = pthread_self();
  assert_int_equal(sigaction(SIGUSR1, &act, &before), 0);
  sigset_t usr1;
  (void)sigemptyset(&usr1);
  (void)sigaddset(&usr1, SIGUSR1);
  /* while this thread blocks it, any other thread that does not would get it */
  assert_int_equal(pthread_sigmask(SIG_BLOCK, &usr1, NULL), 0);
  for (uint32_t i = 0; i < 5; i++) {
    assert_true(sorts(sorter, i));
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    usleep(5000);
  }
  assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &usr1, NULL), 0);
  assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
  assert_int_equal(handled_elsewhere, 0);
  recsort_sorter_destroy(sorter);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_an_executor_in_place_of_the_pool),
      cmocka_unit_test(test_an_executor_has_no_more_threads_than_it_says),
      cmocka_unit_test(test_the_default_executor_has_a_thread_a_processor),
      cmocka_unit_test(test_a_wrong_executor_is_refused),
      cmocka_unit_test(test_sorters_share_threads),
      cmocka_unit_test(test_a_child_sorts_after_a_parallel_sort),
      cmocka_unit_test(test_forks_while_another_thread_sorts),
      cmocka_unit_test(test_a_child_has_all_places_of_the_pool),
      cmocka_unit_test(test_signals_are_left_to_the_program),
  };
  return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
