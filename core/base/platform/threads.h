/* threads.h - threads, and what they wait with. */
#ifndef RS_PLATFORM_THREADS_H
#define RS_PLATFORM_THREADS_H

#include <stdbool.h>

#ifdef _WIN32
typedef void *rs_thread_handle;
typedef struct rs_mutex {
  void *lock; /* an SRWLOCK, as which NULL is free */
} rs_mutex;
typedef struct rs_condition {
  void *variable; /* a CONDITION_VARIABLE; NULL: no thread waits */
} rs_condition;
#define RS_MUTEX_INIT                                                                              \
  {                                                                                                \
    0                                                                                              \
  }
#define RS_CONDITION_INIT                                                                          \
  {                                                                                                \
    0                                                                                              \
  }
#define RS_AT_UNLOAD __attribute__((unused))
#else
#include <pthread.h>
typedef pthread_t rs_thread_handle;
typedef pthread_mutex_t rs_mutex;
typedef pthread_cond_t rs_condition;
#define RS_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
#define RS_CONDITION_INIT PTHREAD_COND_INITIALIZER
/* Marks a function that runs before the library is unloaded. Windows allows no library to wait for
 * its threads then, so there the library stays loaded once it has prepared for threads. */
#define RS_AT_UNLOAD __attribute__((destructor))
#endif

typedef struct rs_thread {
  rs_thread_handle handle;
  void (*run)(void *argument);
  void *argument;
} rs_thread;

/* Call it once, before the first thread. The functions run around a fork; their caller keeps other
 * threads from creating threads meanwhile. False: the system refuses. */
bool rs_thread_prepare(void (*before_fork)(void), void (*in_parent)(void), void (*in_child)(void));

/* Starts a thread that runs run(argument), with a small stack and all signals blocked. `thread`
 * stays where it is until the thread is joined. False: the system refuses. */
bool rs_thread_create(rs_thread *thread, void (*run)(void *argument), void *argument);
void rs_thread_join(rs_thread *thread);
void rs_thread_yield(void);

/* Keeps the calling thread from being cancelled until the other function gets the result. */
int rs_thread_hold(void);
void rs_thread_let_go(int held);

/* The processors that the calling thread may run on, at least 1. */
unsigned rs_processors(void);
/* The same, but no more than CPU quotas leave. Reads files. */
unsigned rs_processors_in_quota(void);

void rs_mutex_init(rs_mutex *mutex);
void rs_mutex_lock(rs_mutex *mutex);
bool rs_mutex_try(rs_mutex *mutex);
void rs_mutex_unlock(rs_mutex *mutex);

void rs_condition_init(rs_condition *condition);
void rs_condition_wait(rs_condition *condition, rs_mutex *mutex);
void rs_condition_signal(rs_condition *condition);
void rs_condition_broadcast(rs_condition *condition);

#endif
