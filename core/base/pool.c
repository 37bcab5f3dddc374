#include "base/pool.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/platform/clock.h"
#include "base/platform/threads.h"

enum {
  MOST_JOBS = 64, /* jobs at once; a caller that finds no slot works alone */
  MOST_THREADS = 1024,
  WORD_BITS = 64,
  WORDS = MOST_THREADS / WORD_BITS,
  CACHE_LINE = 64
};

#define POLL_NS INT64_C(1000000)    /* an idle worker polls for this long before it sleeps */
#define WAIT_NS INT64_C(200000)     /* the same for a caller that waits for workers */
#define RETRY_NS INT64_C(100000000) /* pause after the system refused a thread */

/* A job. It has a stripe for each thread that may work on it, but no more than tasks. Stripe s
 * begins with task s; then it takes tasks that no stripe begins with, from `next` on. The caller
 * fills the job in, then publishes it by setting the bits of `open`, one for each unclaimed stripe.
 * A thread that has claimed a stripe may read the job until it has counted the stripe in `done`. */
typedef struct slot {
  _Alignas(CACHE_LINE) atomic_bool taken;
  _Atomic uint64_t open[WORDS];
  atomic_uint stripes; /* 0: no job */
  atomic_uint done;
  atomic_size_t next;
  atomic_bool awaited; /* the caller is about to sleep until `done` is complete */
  void (*task)(void *argument, size_t number);
  void *argument;
  size_t count;
} slot;

static struct {
  slot slots[MOST_JOBS];
  _Alignas(CACHE_LINE) atomic_uint posted; /* number of jobs so far, which idle workers poll */
  atomic_uint slots_used;                  /* workers search only the slots below */
  atomic_uint workers;
  atomic_uint sleeping; /* number of sleeping workers */
  atomic_bool stopped;
  atomic_bool asleep[MOST_THREADS]; /* one for each worker; the thread that clears it wakes it */
  rs_mutex lock;                    /* protects the members below, and going to sleep */
  rs_condition work[MOST_THREADS];
  rs_condition finished;
  rs_thread threads[MOST_THREADS];
  int64_t retry_at;
  bool prepared;
  recsort_executor own; /* made by its first user */
} pool = {.lock = RS_MUTEX_INIT, .finished = RS_CONDITION_INIT};

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Polls once. False when it is time to sleep. Yields, so that a polling thread takes no time from
 * busy ones. */
static bool poll_on(unsigned *polls, int64_t deadline)
{
  enum { POLLS_A_YIELD = 64 };
  relax();
  if (++*polls % POLLS_A_YIELD) return true;
  rs_thread_yield();
  return rs_clock_ns() < deadline;
}

/* ---- Claims ---- */

static size_t words_of(unsigned stripes)
{
  RS_ASSERT(stripes <= MOST_THREADS);
  return (stripes + WORD_BITS - 1) / WORD_BITS;
}

/* Claims stripe `wanted` of a job or, if that is taken, another one. False if none is left. */
static bool claim(slot *job, unsigned wanted, unsigned *stripe)
{
  const size_t words = words_of(atomic_load(&job->stripes));
  uint64_t bit = UINT64_C(1) << wanted % WORD_BITS;
  RS_ASSERT(wanted < MOST_THREADS && words <= WORDS);
  for (size_t i = 0; i < words; i++) {
    const size_t word = (wanted / WORD_BITS + i) % words;
    uint64_t open;
    while ((open = atomic_load_explicit(&job->open[word], memory_order_relaxed)) != 0) {
      if (!(open & bit)) bit = open & -open;
      if (!(atomic_fetch_and(&job->open[word], ~bit) & bit)) continue;
      *stripe = (unsigned)(word * WORD_BITS) + (unsigned)__builtin_ctzll(bit);
      RS_ASSERT(*stripe < MOST_THREADS);
      return true;
    }
  }
  return false;
}

static bool is_open(slot *job)
{
  const size_t words = words_of(atomic_load(&job->stripes));
  for (size_t word = 0; word < words; word++)
    if (atomic_load(&job->open[word])) return true;
  return false;
}

static void run_stripe(slot *job, unsigned stripe)
{
  RS_ASSERT(job->task && stripe < job->count);
  size_t number = stripe;
  do
    job->task(job->argument, number);
  while (atomic_load(&job->next) < job->count &&
         (number = atomic_fetch_add(&job->next, 1)) < job->count);
}

/* The number of workers that a job can use. Its caller works too. */
static unsigned workers_wanted(slot *job)
{
  const unsigned stripes = atomic_load(&job->stripes);
  RS_ASSERT(stripes <= MOST_THREADS);
  return stripes ? stripes - 1 : 0;
}

/* Wakes two of the workers that the jobs can use. Each of them wakes two more, so that a large team
 * starts quickly. */
static void wake_workers(void)
{
  const unsigned used = atomic_load(&pool.slots_used), workers = atomic_load(&pool.workers);
  unsigned wanted = 0, woken = 0;
  RS_ASSERT(used <= MOST_JOBS && workers <= MOST_THREADS);
  if (atomic_load(&pool.sleeping) == 0) return;
  for (unsigned s = 0; s < used; s++)
    wanted += workers_wanted(&pool.slots[s]);
  for (unsigned w = 0; w < workers && w < wanted && woken < 2; w++) {
    if (!atomic_load(&pool.asleep[w]) || !atomic_exchange(&pool.asleep[w], false)) continue;
    rs_mutex_lock(&pool.lock); /* waits until a worker that found no job is asleep */
    rs_mutex_unlock(&pool.lock);
    rs_condition_signal(&pool.work[w]);
    woken++;
  }
}

static void count_done(slot *job)
{
  RS_ASSERT(atomic_load(&job->done) < atomic_load(&job->stripes));
  (void)atomic_fetch_add(&job->done, 1);
  if (!atomic_load(&job->awaited)) return;
  rs_mutex_lock(&pool.lock);
  rs_mutex_unlock(&pool.lock);
  rs_condition_broadcast(&pool.finished);
}

/* ---- Workers ---- */

/* Finds an open job for a worker, and the stripe that it should take. Jobs go to the workers with
 * the lowest numbers, no more than the jobs can use, and a worker takes the same stripe in each
 * job. So a small team keeps its data in its caches, and the other workers sleep. */
static slot *find_job(unsigned worker, unsigned *stripe)
{
  const unsigned used = atomic_load(&pool.slots_used);
  unsigned before = 0;
  RS_ASSERT(worker < MOST_THREADS && used <= MOST_JOBS);
  for (unsigned s = 0; s < used; s++) {
    slot *const job = &pool.slots[s];
    const unsigned end = before + workers_wanted(job);
    *stripe = worker >= before ? worker - before + 1 : 0;
    if (worker < end && is_open(job)) return job;
    before = end;
  }
  return NULL;
}

/* Runs one stripe of a job. False if no job has one left for this worker. */
static bool work_once(unsigned worker)
{
  unsigned stripe;
  slot *const job = find_job(worker, &stripe);
  if (!job) return false;
  if (!claim(job, stripe, &stripe)) return true;
  if (is_open(job)) wake_workers();
  run_stripe(job, stripe);
  count_done(job);
  return true;
}

static void sleep_until_wanted(unsigned worker)
{
  unsigned stripe;
  RS_ASSERT(worker < MOST_THREADS);
  rs_mutex_lock(&pool.lock);
  (void)atomic_fetch_add(&pool.sleeping, 1);
  for (;;) {
    atomic_store(&pool.asleep[worker], true);
    if (find_job(worker, &stripe) || atomic_load(&pool.stopped)) break;
    rs_condition_wait(&pool.work[worker], &pool.lock);
  }
  atomic_store(&pool.asleep[worker], false);
  RS_ASSERT(atomic_load(&pool.sleeping) > 0);
  (void)atomic_fetch_sub(&pool.sleeping, 1);
  rs_mutex_unlock(&pool.lock);
}

static void work(void *number)
{
  const unsigned worker = (unsigned)(uintptr_t)number;
  int64_t deadline = rs_clock_ns() + POLL_NS;
  while (!atomic_load(&pool.stopped)) {
    const unsigned seen = atomic_load(&pool.posted);
    unsigned polls = 0;
    bool polling = true, worked = false;
    while (work_once(worker))
      worked = true;
    if (worked) deadline = rs_clock_ns() + POLL_NS;
    while (atomic_load(&pool.posted) == seen && polling && !atomic_load(&pool.stopped))
      polling = poll_on(&polls, deadline);
    if (!polling) sleep_until_wanted(worker);
  }
}

/* ---- Start and end of the pool ---- */

static void before_fork(void)
{
  rs_mutex_lock(&pool.lock);
}

static void after_fork_in_parent(void)
{
  rs_mutex_unlock(&pool.lock);
}

/* The child has only the calling thread, so it starts with an empty pool. */
static void after_fork_in_child(void)
{
  for (unsigned s = 0; s < MOST_JOBS; s++) {
    atomic_store(&pool.slots[s].stripes, 0);
    for (size_t word = 0; word < WORDS; word++)
      atomic_store(&pool.slots[s].open[word], 0);
    atomic_store(&pool.slots[s].awaited, false);
    atomic_store(&pool.slots[s].taken, false);
  }
  atomic_store(&pool.workers, 0);
  atomic_store(&pool.sleeping, 0);
  pool.retry_at = 0;
  rs_mutex_init(&pool.lock);
  rs_condition_init(&pool.finished);
}

/* The workers run the library's code, so they end before it is unmapped. */
RS_AT_UNLOAD static void stop_workers(void)
{
  rs_mutex_lock(&pool.lock);
  atomic_store(&pool.stopped, true);
  const unsigned workers = atomic_load(&pool.workers);
  for (unsigned i = 0; i < workers; i++)
    rs_condition_signal(&pool.work[i]);
  rs_mutex_unlock(&pool.lock);
  for (unsigned i = 0; i < workers; i++)
    rs_thread_join(&pool.threads[i]);
}

static bool create_worker(void)
{
  const unsigned number = atomic_load(&pool.workers);
  RS_ASSERT(number < MOST_THREADS);
  rs_condition_init(&pool.work[number]);
  RS_ASSERT(pool.prepared);
  atomic_store(&pool.asleep[number], false);
  if (!rs_thread_create(&pool.threads[number], work, (void *)(uintptr_t)number)) return false;
  (void)atomic_fetch_add(&pool.workers, 1);
  return true;
}

static bool prepare(void)
{
  if (!pool.prepared)
    pool.prepared = rs_thread_prepare(before_fork, after_fork_in_parent, after_fork_in_child);
  return pool.prepared;
}

/* Creates workers until there are `wanted`, or the system refuses one. */
static void hire(unsigned wanted)
{
  RS_ASSERT(wanted < MOST_THREADS);
  if (atomic_load(&pool.workers) >= wanted || !rs_mutex_try(&pool.lock)) return;
  if (!atomic_load(&pool.stopped) && (pool.retry_at == 0 || rs_clock_ns() >= pool.retry_at)) {
    pool.retry_at = 0;
    while (atomic_load(&pool.workers) < wanted && pool.retry_at == 0)
      if (!prepare() || !create_worker()) pool.retry_at = rs_clock_ns() + RETRY_NS;
  }
  rs_mutex_unlock(&pool.lock);
}

/* ---- Callers ---- */

static unsigned capped(unsigned threads)
{
  return threads < MOST_THREADS ? threads : MOST_THREADS;
}

static slot *take_slot(void)
{
  for (unsigned s = 0; s < MOST_JOBS; s++) {
    slot *const found = &pool.slots[s];
    bool taken = false;
    if (!atomic_compare_exchange_strong(&found->taken, &taken, true)) continue;
    unsigned used = atomic_load(&pool.slots_used);
    while (used <= s && !atomic_compare_exchange_weak(&pool.slots_used, &used, s + 1))
      continue;
    RS_ASSERT(atomic_load(&pool.slots_used) > s && atomic_load(&found->stripes) == 0);
    return found;
  }
  return NULL;
}

/* Waits for the other threads: polls for as long as most last pieces take, then sleeps. It does not
 * yield: another thread would keep the processor for a time slice, far longer than a short job
 * takes. */
static void wait_for(slot *job, unsigned others)
{
  RS_ASSERT(others <= atomic_load(&job->stripes));
  const int64_t deadline = rs_clock_ns() + WAIT_NS;
  while (atomic_load(&job->done) < others && rs_clock_ns() < deadline)
    relax();
  if (atomic_load(&job->done) == others) return;
  rs_mutex_lock(&pool.lock);
  atomic_store(&job->awaited, true);
  while (atomic_load(&job->done) < others)
    rs_condition_wait(&pool.finished, &pool.lock);
  atomic_store(&job->awaited, false);
  rs_mutex_unlock(&pool.lock);
  RS_ASSERT(atomic_load(&job->done) == others);
}

static void publish(slot *job, unsigned stripes)
{
  RS_ASSERT(stripes > 1 && stripes <= MOST_THREADS && stripes <= job->count);
  atomic_store(&job->done, 0);
  atomic_store(&job->next, stripes);
  atomic_store(&job->stripes, stripes);
  for (unsigned left = stripes, word = 0; left > 0; word++) {
    const unsigned bits = left < WORD_BITS ? left : WORD_BITS;
    RS_ASSERT(word < WORDS && atomic_load(&job->open[word]) == 0);
    atomic_store(&job->open[word], UINT64_MAX >> (WORD_BITS - bits));
    left -= bits;
  }
  (void)atomic_fetch_add(&pool.posted, 1);
}

static void run_in_slot(slot *job, unsigned stripes, void (*task)(void *argument, size_t number),
                        void *argument, size_t count)
{
  unsigned mine = 0, stripe;
  RS_ASSERT(task && atomic_load(&job->taken));
  job->task = task;
  job->argument = argument;
  job->count = count;
  publish(job, stripes);
  wake_workers();
  for (; claim(job, 0, &stripe); mine++)
    run_stripe(job, stripe);
  RS_ASSERT(mine <= stripes);
  wait_for(job, stripes - mine);
  RS_ASSERT(!is_open(job) && atomic_load(&job->next) >= count);
  atomic_store(&job->stripes, 0);
  atomic_store(&job->taken, false);
}

/* `context` is the number of threads that may work, at most MOST_THREADS. A caller that is
 * cancelled while it waits would abandon its job. */
static void pool_run(void *context, void (*task)(void *argument, size_t number), void *argument,
                     size_t count)
{
  RS_ASSERT(task);
  const unsigned most = (unsigned)(uintptr_t)context;
  RS_ASSERT(most > 0 && most <= MOST_THREADS);
  const unsigned stripes = count < most ? (unsigned)count : most;
  slot *const job = stripes > 1 ? take_slot() : NULL;
  if (!job) {
    team_run_alone(context, task, argument, count);
    return;
  }
  const int held = rs_thread_hold();
  hire(stripes - 1);
  run_in_slot(job, stripes, task, argument, count);
  rs_thread_let_go(held);
}

const recsort_executor *recsort_executor_default(void)
{
  rs_mutex_lock(&pool.lock);
  if (!pool.own.run) {
    const unsigned threads = capped(rs_processors_in_quota());
    pool.own = (recsort_executor){sizeof pool.own, (void *)(uintptr_t)threads, .run = pool_run,
                                  .threads = threads};
  }
  RS_ASSERT(pool.own.threads > 0);
  rs_mutex_unlock(&pool.lock);
  return &pool.own;
}

/* ---- Teams ---- */

team rs_team(const recsort_executor *executor, unsigned threads)
{
  if (executor) {
    const unsigned most = executor->threads ? executor->threads : rs_processors_in_quota();
    if (threads == 0 || threads > most) threads = most;
    RS_ASSERT(threads > 0);
    return (team){executor->run, executor->context, capped(threads)};
  }
  threads = capped(threads ? threads : rs_processors_in_quota());
  RS_ASSERT(threads > 0);
  return (team){pool_run, (void *)(uintptr_t)threads, threads};
}
