/* checker.h - runs a few threads of real code in every order.
 *
 * The code under test is compiled with -fsanitize=thread, which makes each access to memory a call,
 * and is linked with checker.c instead of the sanitizer's library. The threads are fibers. Each
 * atomic access, and each call of a mutex, a condition or a thread, is a step; plain accesses are
 * none, as they are either ordered or an error. The checker takes the steps in every order, depth
 * first. It copies the state before each choice, and goes back to the copy to choose otherwise. It
 * leaves a state that it has been in before: two orders of steps that do not depend on each other
 * end in the same one, so only one of them is followed further. The state is the threads' stacks
 * and what they have written; what no thread can read any more is no part of it.
 *
 * Memory is that of C11. An atomic object has all of its values so far, in modification order. A
 * thread has a view: the oldest value of each object that it may still read. A load reads any value
 * that is not older than that; a store takes any place behind it. A release hands the view on, with
 * the value; an acquire adds it to the own one (Kang et al., A Promising Semantics for
 * Relaxed-Memory Concurrency, 2017, without promises). Accesses of seq_cst are in the order in
 * which they are taken: a load sees no value older than the last of their stores. Fences of seq_cst
 * hand on all that the ones before have seen. A plain access that is not ordered with another
 * thread's is a data race. litmus.c tests this.
 *
 * Not modelled: a load that takes effect after a later store of the same thread; a failure of a
 * weak exchange without a reason; that an access of seq_cst is ordered with a fence. Plain accesses
 * to neighbours in the same four bytes count as accesses to the same memory.
 */
#ifndef INTERLEAVE_CHECKER_H
#define INTERLEAVE_CHECKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CHECKER_THREADS = 6 };

/* ---- For the code under test ---- */

/* Starts a thread. Returns its number; the first one, 0, runs the scenario. */
unsigned checker_start(void (*run)(void *argument), void *argument);
void checker_join(unsigned thread);
unsigned checker_self(void);
bool checker_has_ended(unsigned thread);

/* Barrier `number`, of so many threads. */
void checker_barrier(unsigned number, unsigned threads);

/* Relaxed. Return the old value. */
uint32_t checker_min32(uint32_t *at, uint32_t other);
uint32_t checker_max32(uint32_t *at, uint32_t other);

/* Of seq_cst. */
void checker_fence(void);

void checker_lock(const void *mutex);
bool checker_try(const void *mutex);
void checker_unlock(const void *mutex);
void checker_wait(const void *condition, const void *mutex);
void checker_signal(const void *condition, bool broadcast);

/* A pause in a loop that polls what it has loaded since the last pause. It ends when there is a
 * newer value, or, at any moment, when the thread has lost patience: then its time goes on to
 * beyond each deadline. */
void checker_pause(void);
int64_t checker_time(void);

/* Waits until another thread stores a newer value where this thread has loaded last. */
void checker_await(void);

/* Fails unless the condition is true. The loads in it are no steps, and order nothing. */
#define checker_assert(condition)                                                                  \
  (checker_quiet(true), (condition) ? (void)0 : checker_fail(#condition, __FILE__, __LINE__),      \
   checker_quiet(false))
void checker_quiet(bool quiet);
void checker_fail(const char *what, const char *file, int line);

/* ---- For main.c ---- */

typedef struct scenario {
  const char *name;
  void (*run)(void);    /* the first thread */
  unsigned spurious;    /* waits for a condition that end without a signal */
  unsigned preemptions; /* so often another thread goes on though the one before could; or: */
#define CHECKER_ANY UINT32_MAX
} scenario;

/* What is changed in the code: at `place`, a call. */
typedef enum change {
  CHANGE_NONE,
  CHANGE_ORDER, /* the memory order is `order` instead */
  CHANGE_SPLIT, /* a load and a store instead of one atomic step */
  CHANGE_OMIT   /* a fence, a lock with its unlock, a signal, or a join is left out */
} change;

typedef struct mutant {
  const void *place;
  change how;
  int order;
} mutant;

typedef enum site_kind {
  SITE_LOAD,
  SITE_STORE,
  SITE_EXCHANGE, /* each that loads and stores */
  SITE_FENCE,
  SITE_LOCK,
  SITE_SIGNAL,
  SITE_JOIN,
  SITE_BARRIER
} site_kind;

/* A call in the code under test that the checker has met. */
typedef struct site {
  const void *place;
  site_kind kind;
  int order;
} site;

typedef struct outcome {
  const char *failure; /* NULL: none was found */
  bool complete;       /* all states were seen, or a failure was found */
  size_t states, steps;
} outcome;

/* Explores a scenario, up to `most` states. */
outcome checker_explore(const scenario *s, mutant m, size_t most);

/* Shows each step of the run of the last exploration, which failed. */
void checker_show(const scenario *s,
                  void (*show)(unsigned thread, const void *place, const char *text));

size_t checker_sites(const site **sites);

#ifdef __cplusplus
}
#endif

#endif
