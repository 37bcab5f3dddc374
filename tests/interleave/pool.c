/* pool.c - the pool of threads (core/base/pool.c) as it is, with the checker's threads. */
#include "base/platform/clock.h"
#include "base/platform/threads.h"

#include "interleave/checker.h"
#include "interleave/scenarios.h"

#define rs_mutex_init(mutex) ((void)(mutex))
#define rs_mutex_lock(mutex) checker_lock(mutex)
#define rs_mutex_try(mutex) checker_try(mutex)
#define rs_mutex_unlock(mutex) checker_unlock(mutex)
#define rs_condition_init(condition) ((void)(condition))
#define rs_condition_wait(condition, mutex) checker_wait(condition, mutex)
#define rs_condition_signal(condition) checker_signal(condition, false)
#define rs_condition_broadcast(condition) checker_signal(condition, true)
#define rs_thread_prepare(before, in_parent, in_child)                                             \
  ((void)(before), (void)(in_parent), (void)(in_child), true)
#define rs_thread_create create
#define rs_thread_join(thread) checker_join((unsigned)(thread)->handle)
#define rs_thread_yield() ((void)0)
#define rs_thread_hold() 0
#define rs_thread_let_go(held) ((void)(held))
#define rs_processors_in_quota() 2u
#define rs_clock_ns checker_time
#define __builtin_ia32_pause checker_pause

#include "base/assert.h"
#undef RS_ASSERT
#define RS_ASSERT checker_assert

static unsigned most_workers;

static bool create(rs_thread *thread, void (*run)(void *argument), void *argument)
{
  if ((uintptr_t)argument >= most_workers) return false;
  thread->handle = checker_start(run, argument);
  return true;
}

#include "base/pool.c"

/* ---- Jobs ---- */

enum { MOST_TASKS = 4 };

typedef struct job {
  int input;
  int done[MOST_TASKS];
} job;

/* Each access is a plain one, so it is a data race if the pool does not order it. */
static void task(void *argument, size_t number)
{
  job *const j = argument;
  j->done[number] += j->input;
}

static void run_job(unsigned threads, size_t tasks)
{
  job j = {.input = 1};
  pool_run((void *)(uintptr_t)threads, task, &j, tasks);
  for (size_t i = 0; i < tasks; i++)
    checker_assert(j.done[i] == 1);
}

/* Tasks that wait for each other: no thread may sleep on. */
typedef struct meeting {
  atomic_uint come;
  unsigned wanted;
} meeting;

static void meet(void *argument, size_t number)
{
  meeting *const m = argument;
  (void)number;
  (void)atomic_fetch_add_explicit(&m->come, 1, memory_order_relaxed);
  while (atomic_load_explicit(&m->come, memory_order_relaxed) < m->wanted)
    checker_await();
}

static void run_meeting(unsigned threads)
{
  meeting m = {.wanted = threads};
  pool_run((void *)(uintptr_t)threads, meet, &m, threads);
}

/* ---- Pieces of a team (recsort/team.h) ---- */

enum { PIECES = 3 };

typedef struct pieces {
  int done[PIECES];
  int used[2]; /* how often each slot of the team */
} pieces;

static void piece(void *argument, size_t number, unsigned part)
{
  pieces *const p = argument;
  p->done[number]++;
  p->used[part]++;
}

static void run_pieces(const recsort_executor *executor)
{
  pieces p = {{0}, {0}};
  team_each(rs_team(executor, 2), PIECES, piece, &p);
  for (size_t i = 0; i < PIECES; i++)
    checker_assert(p.done[i] == 1);
}

typedef struct call {
  void (*task)(void *argument, size_t number);
  void *argument;
  size_t number;
} call;

static void run_call(void *made)
{
  const call *const c = made;
  c->task(c->argument, c->number);
}

/* An executor of two threads: this one, and a new one for the second task. */
static void run_apart(void *context, void (*run)(void *argument, size_t number), void *argument,
                      size_t count)
{
  call second = {run, argument, 1};
  (void)context;
  checker_assert(count == 2);
  const unsigned other = checker_start(run_call, &second);
  run(argument, 0);
  checker_join(other);
}

/* ---- Scenarios ---- */

static void one_job(void)
{
  most_workers = 1;
  run_job(2, 2);
}

static void spare_task(void)
{
  most_workers = 1;
  run_job(2, 3);
}

static void pieces_of_pool(void)
{
  most_workers = 1;
  run_pieces(NULL);
}

static void pieces_of_executor(void)
{
  const recsort_executor own = {sizeof own, NULL, .run = run_apart, .threads = 2};
  run_pieces(&own);
}

static void two_jobs(void)
{
  most_workers = 1;
  run_job(2, 2);
  run_job(2, 2);
}

/* The worker may be asleep, or about to be. */
static void woken(void)
{
  most_workers = 1;
  hire(1);
  run_meeting(2);
}

static void woken_twice(void)
{
  most_workers = 1;
  hire(1);
  run_meeting(2);
  run_meeting(2);
}

static void two_woken(void)
{
  most_workers = 2;
  hire(2);
  run_meeting(3);
}

static void unloaded(void)
{
  most_workers = 1;
  run_job(2, 2);
  stop_workers();
  for (unsigned i = 0; i < atomic_load(&pool.workers); i++)
    checker_assert(checker_has_ended((unsigned)pool.threads[i].handle));
}

static void refused(void)
{
  most_workers = 0;
  run_job(2, 2);
  run_job(2, 2);
}

static void two_workers(void)
{
  most_workers = 2;
  run_job(3, 4);
}

/* Only the first worker is wanted. */
static void smaller_team(void)
{
  most_workers = 2;
  hire(2);
  run_meeting(2);
}

static void run_caller(void *run)
{
  (*(void (**)(void))run)();
}

static void job_of_two(void)
{
  run_job(2, 2);
}

static void meeting_of_two(void)
{
  run_meeting(2);
}

static void call_twice(void (*one)(void), void (*other)(void))
{
  most_workers = 1;
  const unsigned caller = checker_start(run_caller, &other);
  one();
  checker_join(caller);
}

static void two_callers(void)
{
  call_twice(job_of_two, job_of_two);
}

static void meeting_and_job(void)
{
  most_workers = 1;
  hire(1);
  call_twice(job_of_two, meeting_of_two);
}

const scenario pool_scenarios[] = {
    {"a job of two threads", one_job, 1, CHECKER_ANY},
    {"a job with a task that no thread begins with", spare_task, 0, CHECKER_ANY},
    {"a team's pieces", pieces_of_pool, 0, CHECKER_ANY},
    {"a team's pieces, by an executor", pieces_of_executor, 0, CHECKER_ANY},
    {"a job whose tasks meet", woken, 0, CHECKER_ANY},
    {"the same twice", woken_twice, 0, CHECKER_ANY},
    {"two jobs", two_jobs, 0, CHECKER_ANY},
    {"a job, and the end of the pool", unloaded, 0, CHECKER_ANY},
    {"the system refuses threads", refused, 0, CHECKER_ANY},
    {"a job of three threads", two_workers, 0, 2},
    {"a job of three threads that meet", two_woken, 0, 2},
    {"a job of two of three threads that meet", smaller_team, 0, 2},
    {"two callers, one worker", two_callers, 0, 2},
    {"two callers, tasks of one meet, one worker", meeting_and_job, 0, 2},
};
const size_t pool_scenario_count = sizeof pool_scenarios / sizeof *pool_scenarios;
