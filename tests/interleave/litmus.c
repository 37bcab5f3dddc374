/* litmus.c - that the checker's memory is C11's: small programs of which the standard says whether
 * an outcome is possible. Each fails in the outcome that its name is known for. */
#include <stdatomic.h>

#include "interleave/checker.h"
#include "interleave/scenarios.h"

static atomic_int x, y;
static int data, seen[4];

static void run_all(void (*const threads[])(void *), unsigned count)
{
  for (unsigned i = 0; i < count; i++)
    (void)checker_start(threads[i], NULL);
  for (unsigned i = 1; i <= count; i++)
    checker_join(i);
}

#define THREAD(name, ...)                                                                          \
  static void name(void *unused)                                                                   \
  {                                                                                                \
    (void)unused;                                                                                  \
    __VA_ARGS__                                                                                    \
  }
#define PROGRAM(name, bad, ...)                                                                    \
  static void name(void)                                                                           \
  {                                                                                                \
    static void (*const threads[])(void *) = {__VA_ARGS__};                                        \
    run_all(threads, sizeof threads / sizeof *threads);                                            \
    checker_assert(!(bad));                                                                        \
  }
#define STORE(object, value, order) atomic_store_explicit(&(object), value, memory_order_##order)
#define LOAD(object, order) atomic_load_explicit(&(object), memory_order_##order)

/* Store buffering: both threads miss the other's store. */
#define BUFFERING(order, store, load, fence)                                                       \
  THREAD(buffer_x_##order, STORE(x, 1, store); fence; seen[0] = LOAD(y, load);)                    \
  THREAD(buffer_y_##order, STORE(y, 1, store); fence; seen[1] = LOAD(x, load);)                    \
  PROGRAM(buffering_##order, seen[0] == 0 && seen[1] == 0, buffer_x_##order, buffer_y_##order)
BUFFERING(seq_cst, seq_cst, seq_cst, )
BUFFERING(acq_rel, release, acquire, )
BUFFERING(fences, relaxed, relaxed, checker_fence())

/* Message passing: the data is a race unless the flag orders it. */
#define PASSING(order, store, load, before, behind)                                                \
  THREAD(send_##order, data = 1; before; STORE(x, 1, store);)                                      \
  THREAD(                                                                                          \
      receive_##order, if (LOAD(x, load)) {                                                        \
        behind;                                                                                    \
        seen[0] = 1 - data;                                                                        \
      })                                                                                           \
  PROGRAM(passing_##order, seen[0] == 1, send_##order, receive_##order)
PASSING(acq_rel, release, acquire, , )
PASSING(release, release, relaxed, , )
PASSING(acquire, relaxed, acquire, , )
PASSING(fences, relaxed, relaxed, checker_fence(), checker_fence())
PASSING(fence_before, relaxed, relaxed, checker_fence(), )
PASSING(fence_behind, relaxed, relaxed, , checker_fence())

/* Two readers see two stores in different orders. */
#define READERS(order, store, load)                                                                \
  THREAD(write_x_##order, STORE(x, 1, store);)                                                     \
  THREAD(write_y_##order, STORE(y, 1, store);)                                                     \
  THREAD(read_xy_##order, seen[0] = LOAD(x, load); seen[1] = LOAD(y, load);)                       \
  THREAD(read_yx_##order, seen[2] = LOAD(y, load); seen[3] = LOAD(x, load);)                       \
  PROGRAM(readers_##order, seen[0] && !seen[1] && seen[2] && !seen[3], write_x_##order,            \
          write_y_##order, read_xy_##order, read_yx_##order)
READERS(seq_cst, seq_cst, seq_cst)
READERS(acq_rel, release, acquire)

/* Of two stores of each thread, the first one is the last in the end. */
#define STORES(order)                                                                              \
  THREAD(stores_xy_##order, STORE(x, 1, order); STORE(y, 2, order);)                               \
  THREAD(stores_yx_##order, STORE(y, 1, order); STORE(x, 2, order);)                               \
  PROGRAM(stores_##order, x == 1 && y == 1, stores_xy_##order, stores_yx_##order)
STORES(seq_cst)
STORES(relaxed)

/* One thread sees a newer value before an older one. */
THREAD(store_twice, STORE(x, 1, relaxed); STORE(x, 2, relaxed);)
THREAD(load_twice, seen[0] = LOAD(x, relaxed); seen[1] = LOAD(x, relaxed);)
PROGRAM(coherence, seen[0] > seen[1], store_twice, load_twice)

/* One of two additions is lost. */
THREAD(add, atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);)
THREAD(add_by_two_steps, STORE(x, LOAD(x, seq_cst) + 1, seq_cst);)
PROGRAM(additions, x != 2, add, add)
PROGRAM(additions_by_two_steps, x != 2, add_by_two_steps, add_by_two_steps)

/* A thread waits for a value, and for a mutex that another thread holds. */
static char mutex;
THREAD(lock, checker_lock(&mutex); while (!LOAD(x, relaxed)) checker_await();
       checker_unlock(&mutex);)
THREAD(lock_and_store, checker_lock(&mutex); STORE(x, 1, relaxed); checker_unlock(&mutex);)
THREAD(store, STORE(x, 1, relaxed);)
PROGRAM(waits, false, lock, store)
PROGRAM(waits_for_ever, false, lock, lock_and_store)

const litmus litmus_tests[] = {
    {{"store buffering, seq_cst", buffering_seq_cst, 0, CHECKER_ANY}, false},
    {{"store buffering, release and acquire", buffering_acq_rel, 0, CHECKER_ANY}, true},
    {{"store buffering, fences", buffering_fences, 0, CHECKER_ANY}, false},
    {{"message passing, release and acquire", passing_acq_rel, 0, CHECKER_ANY}, false},
    {{"message passing, only release", passing_release, 0, CHECKER_ANY}, true},
    {{"message passing, only acquire", passing_acquire, 0, CHECKER_ANY}, true},
    {{"message passing, fences", passing_fences, 0, CHECKER_ANY}, false},
    {{"message passing, only the first fence", passing_fence_before, 0, CHECKER_ANY}, true},
    {{"message passing, only the second fence", passing_fence_behind, 0, CHECKER_ANY}, true},
    {{"two readers of two stores, seq_cst", readers_seq_cst, 0, CHECKER_ANY}, false},
    {{"two readers of two stores, release and acquire", readers_acq_rel, 0, CHECKER_ANY}, true},
    {{"stores in opposite orders, seq_cst", stores_seq_cst, 0, CHECKER_ANY}, false},
    {{"stores in opposite orders, relaxed", stores_relaxed, 0, CHECKER_ANY}, true},
    {{"coherence", coherence, 0, CHECKER_ANY}, false},
    {{"additions", additions, 0, CHECKER_ANY}, false},
    {{"additions by two steps", additions_by_two_steps, 0, CHECKER_ANY}, true},
    {{"a wait with a mutex", waits, 0, CHECKER_ANY}, false},
    {{"a wait for who waits for the mutex", waits_for_ever, 0, CHECKER_ANY}, true},
};
const size_t litmus_count = sizeof litmus_tests / sizeof *litmus_tests;
