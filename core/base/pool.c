#define _GNU_SOURCE
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum {
  MOST_JOBS = 64, /* at once; a caller that finds no slot works alone */
  MOST_THREADS = 1024,
  CACHE_LINE = 64,
  STACK_BYTES = 1 << 20
};

#define POLL_NS INT64_C(1000000)    /* before an idle worker sleeps */
#define WAIT_NS INT64_C(200000)     /* before a caller that waits for workers sleeps */
#define RETRY_NS INT64_C(100000000) /* before a thread is asked for again that could not be had */

/* A job. The caller fills it in, then publishes it by `ticket`: the next number to claim, and
 * in the upper half how many there are. A claim holds the job until it is counted in `done`, so a
 * thread that has claimed a number may read the rest. */
typedef struct slot {
  _Alignas(CACHE_LINE) atomic_bool taken;
  _Atomic uint64_t ticket;
  atomic_size_t done;
  atomic_bool awaited; /* the caller sleeps until `done` is complete */
  void (*task)(void *argument, size_t number);
  void *argument;
} slot;

static struct {
  slot slots[MOST_JOBS];
  _Alignas(CACHE_LINE) atomic_uint posted; /* jobs so far; idle workers watch it */
  atomic_uint slots_used;                  /* workers look at the slots below */
  atomic_uint workers;
  atomic_uint sleeping; /* of the workers */
  atomic_bool stopped;
  pthread_mutex_t lock; /* for what follows, and around going to sleep */
  pthread_cond_t work;
  pthread_cond_t finished;
  pthread_t threads[MOST_THREADS];
  int64_t retry_at;
  bool forks_handled;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .finished = PTHREAD_COND_INITIALIZER};

static int64_t now_ns(void)
{
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* One step of polling; false when it is time to sleep. A thread that polls takes no time from one
 * that has something to do. */
static bool poll_on(unsigned *step, int64_t deadline)
{
  enum { STEPS_A_YIELD = 64 };
  relax();
  if (++*step % STEPS_A_YIELD) return true;
  (void)sched_yield();
  return now_ns() < deadline;
}

/* ---- Claims ---- */

/* Claims the next number of a job; false if none is left. */
static bool claim(slot *job, size_t *number)
{
  uint64_t ticket = atomic_load_explicit(&job->ticket, memory_order_relaxed);
  do {
    if ((uint32_t)ticket >= (uint32_t)(ticket >> 32)) return false;
  } while (!atomic_compare_exchange_weak_explicit(&job->ticket, &ticket, ticket + 1,
                                                  memory_order_acquire, memory_order_relaxed));
  *number = (uint32_t)ticket;
  return true;
}

static bool is_open(slot *job)
{
  const uint64_t ticket = atomic_load_explicit(&job->ticket, memory_order_relaxed);
  return (uint32_t)ticket < (uint32_t)(ticket >> 32);
}

/* Each worker that wakes wakes two more, so that a large team is there soon. */
static void wake_workers(void)
{
  if (atomic_load(&pool.sleeping) == 0) return;
  (void)pthread_mutex_lock(&pool.lock); /* after a worker looked, and before it sleeps */
  (void)pthread_mutex_unlock(&pool.lock);
  (void)pthread_cond_signal(&pool.work);
  (void)pthread_cond_signal(&pool.work);
}

static void count_done(slot *job)
{
  (void)atomic_fetch_add(&job->done, 1);
  if (!atomic_load(&job->awaited)) return;
  (void)pthread_mutex_lock(&pool.lock);
  (void)pthread_mutex_unlock(&pool.lock);
  (void)pthread_cond_broadcast(&pool.finished);
}

/* ---- Workers ---- */

/* One number of any job; false if no job has one left. */
static bool work_once(void)
{
  const unsigned used = atomic_load(&pool.slots_used);
  for (unsigned s = 0; s < used; s++) {
    slot *const job = &pool.slots[s];
    size_t number;
    if (!claim(job, &number)) continue;
    if (is_open(job)) wake_workers();
    job->task(job->argument, number);
    count_done(job);
    return true;
  }
  return false;
}

/* Until a job was posted after number `seen`. */
static void sleep_after(unsigned seen)
{
  (void)pthread_mutex_lock(&pool.lock);
  (void)atomic_fetch_add(&pool.sleeping, 1);
  while (atomic_load(&pool.posted) == seen && !atomic_load(&pool.stopped))
    (void)pthread_cond_wait(&pool.work, &pool.lock);
  (void)atomic_fetch_sub(&pool.sleeping, 1);
  (void)pthread_mutex_unlock(&pool.lock);
}

static void *work(void *unused)
{
  int64_t deadline = now_ns() + POLL_NS;
  (void)unused;
  while (!atomic_load(&pool.stopped)) {
    const unsigned seen = atomic_load(&pool.posted);
    unsigned step = 0;
    bool polling = true, worked = false;
    while (work_once())
      worked = true;
    if (worked) deadline = now_ns() + POLL_NS;
    while (atomic_load(&pool.posted) == seen && polling && !atomic_load(&pool.stopped))
      polling = poll_on(&step, deadline);
    if (!polling) sleep_after(seen);
  }
  return NULL;
}

/* ---- The life of the pool ---- */

static void before_fork(void)
{
  (void)pthread_mutex_lock(&pool.lock);
}

static void after_fork_in_parent(void)
{
  (void)pthread_mutex_unlock(&pool.lock);
}

/* The child has the calling thread alone. */
static void after_fork_in_child(void)
{
  for (unsigned s = 0; s < MOST_JOBS; s++) {
    atomic_store(&pool.slots[s].ticket, 0);
    atomic_store(&pool.slots[s].awaited, false);
    atomic_store(&pool.slots[s].taken, false);
  }
  atomic_store(&pool.workers, 0);
  atomic_store(&pool.sleeping, 0);
  pool.retry_at = 0;
  (void)pthread_mutex_init(&pool.lock, NULL);
  (void)pthread_cond_init(&pool.work, NULL);
  (void)pthread_cond_init(&pool.finished, NULL);
}

/* The workers run the library's code, so they end before it is unmapped. */
__attribute__((destructor)) static void stop_workers(void)
{
  (void)pthread_mutex_lock(&pool.lock);
  atomic_store(&pool.stopped, true);
  const unsigned workers = atomic_load(&pool.workers);
  (void)pthread_cond_broadcast(&pool.work);
  (void)pthread_mutex_unlock(&pool.lock);
  for (unsigned i = 0; i < workers; i++)
    (void)pthread_join(pool.threads[i], NULL);
}

/* For debuggers and top. */
static void name_worker(pthread_t worker)
{
#ifdef __linux__
  (void)pthread_setname_np(worker, "recsort");
#else
  (void)worker;
#endif
}

/* A worker leaves all signals to the threads of the program. */
static bool create_worker(void)
{
  sigset_t all, before;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool made = pthread_create(&pool.threads[pool.workers], &attributes, work, NULL) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  (void)pthread_attr_destroy(&attributes);
  if (!made) return false;
  name_worker(pool.threads[pool.workers]);
  (void)atomic_fetch_add(&pool.workers, 1);
  return true;
}

static bool handle_forks(void)
{
  if (!pool.forks_handled)
    pool.forks_handled =
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
  return pool.forks_handled;
}

/* As many workers as there can be, up to `wanted`. */
static void hire(size_t wanted)
{
  if (wanted > MOST_THREADS - 1) wanted = MOST_THREADS - 1;
  if (atomic_load(&pool.workers) >= wanted || pthread_mutex_trylock(&pool.lock) != 0) return;
  if (!atomic_load(&pool.stopped) && (pool.retry_at == 0 || now_ns() >= pool.retry_at)) {
    pool.retry_at = 0;
    while (atomic_load(&pool.workers) < wanted && pool.retry_at == 0)
      if (!handle_forks() || !create_worker()) pool.retry_at = now_ns() + RETRY_NS;
  }
  (void)pthread_mutex_unlock(&pool.lock);
}

/* ---- Callers ---- */

static slot *take_slot(void)
{
  for (unsigned s = 0; s < MOST_JOBS; s++) {
    slot *const found = &pool.slots[s];
    bool taken = false;
    if (!atomic_compare_exchange_strong(&found->taken, &taken, true)) continue;
    unsigned used = atomic_load(&pool.slots_used);
    while (used <= s && !atomic_compare_exchange_weak(&pool.slots_used, &used, s + 1))
      continue;
    return found;
  }
  return NULL;
}

/* Polls for as long as most last pieces take, and then sleeps. It does not yield: whoever gets the
 * processor keeps it for a slice of the scheduler's time, many times what a short job takes. */
static void wait_for(slot *job, size_t others)
{
  const int64_t deadline = now_ns() + WAIT_NS;
  while (atomic_load(&job->done) < others && now_ns() < deadline)
    relax();
  if (atomic_load(&job->done) == others) return;
  (void)pthread_mutex_lock(&pool.lock);
  atomic_store(&job->awaited, true);
  while (atomic_load(&job->done) < others)
    (void)pthread_cond_wait(&pool.finished, &pool.lock);
  atomic_store(&job->awaited, false);
  (void)pthread_mutex_unlock(&pool.lock);
}

static void run_in_slot(slot *job, void (*task)(void *argument, size_t number), void *argument,
                        size_t count)
{
  size_t mine = 0, number;
  job->task = task;
  job->argument = argument;
  atomic_store(&job->done, 0);
  atomic_store_explicit(&job->ticket, (uint64_t)count << 32, memory_order_release);
  (void)atomic_fetch_add(&pool.posted, 1);
  wake_workers();
  for (; claim(job, &number); mine++)
    task(argument, number);
  wait_for(job, count - mine);
  atomic_store(&job->taken, false);
}

/* To wait is a cancellation point; a caller that was cancelled there would leave its job behind. */
static void pool_run(void *context, void (*task)(void *argument, size_t number), void *argument,
                     size_t count)
{
  slot *const job = count > 1 && count <= UINT32_MAX ? take_slot() : NULL;
  int cancel;
  if (!job) {
    team_run_alone(context, task, argument, count);
    return;
  }
  (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  hire(count - 1);
  run_in_slot(job, task, argument, count);
  (void)pthread_setcancelstate(cancel, NULL);
}

static const recsort_executor own = {.struct_size = sizeof own, .run = pool_run};

const recsort_executor *recsort_executor_default(void)
{
  return &own;
}

/* ---- Teams ---- */

unsigned rs_processors(void)
{
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return (unsigned)CPU_COUNT(&set);
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (unsigned)online : 1;
}

team rs_team(const recsort_executor *executor, unsigned threads)
{
  if (!executor) executor = &own;
  if (threads == 0) threads = executor->threads ? executor->threads : rs_processors();
  return (team){executor->run, executor->context, threads < MOST_THREADS ? threads : MOST_THREADS};
}
