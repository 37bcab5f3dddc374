#define _GNU_SOURCE
#include "base/platform/threads.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/platform/quota.h"

enum { STACK_BYTES = 1 << 20 };

bool rs_thread_prepare(void (*before_fork)(void), void (*in_parent)(void), void (*in_child)(void))
{
  return pthread_atfork(before_fork, in_parent, in_child) == 0;
}

static void *start(void *thread)
{
  const rs_thread *const own = thread;
  own->run(own->argument);
  return NULL;
}

/* Signals are left to the program's threads. */
bool rs_thread_create(rs_thread *thread, void (*run)(void *argument), void *argument)
{
  RS_ASSERT(run);
  sigset_t all, before;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  thread->run = run;
  thread->argument = argument;
  const bool made = pthread_create(&thread->handle, &attributes, start, thread) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  (void)pthread_attr_destroy(&attributes);
#ifdef __linux__
  if (made) (void)pthread_setname_np(thread->handle, "recsort"); /* for debuggers and top */
#endif
  return made;
}

void rs_thread_join(rs_thread *thread)
{
  (void)pthread_join(thread->handle, NULL);
}

void rs_thread_yield(void)
{
  (void)sched_yield();
}

int rs_thread_hold(void)
{
  int held;
  (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &held);
  return held;
}

void rs_thread_let_go(int held)
{
  (void)pthread_setcancelstate(held, NULL);
}

unsigned rs_processors(void)
{
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return (unsigned)CPU_COUNT(&set);
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (unsigned)online : 1;
}

unsigned rs_processors_in_quota(void)
{
  const unsigned all = rs_processors();
#ifdef RS_LOADS_PLUGINS /* otherwise the library opens no file */
  const unsigned quota = rs_quota_in("");
  RS_ASSERT(all > 0 && quota > 0);
  return all < quota ? all : quota;
#else
  return all;
#endif
}

void rs_mutex_init(rs_mutex *mutex)
{
  (void)pthread_mutex_init(mutex, NULL);
}

void rs_mutex_lock(rs_mutex *mutex)
{
  (void)pthread_mutex_lock(mutex);
}

bool rs_mutex_try(rs_mutex *mutex)
{
  return pthread_mutex_trylock(mutex) == 0;
}

void rs_mutex_unlock(rs_mutex *mutex)
{
  (void)pthread_mutex_unlock(mutex);
}

void rs_condition_init(rs_condition *condition)
{
  (void)pthread_cond_init(condition, NULL);
}

void rs_condition_wait(rs_condition *condition, rs_mutex *mutex)
{
  (void)pthread_cond_wait(condition, mutex);
}

void rs_condition_signal(rs_condition *condition)
{
  (void)pthread_cond_signal(condition);
}

void rs_condition_broadcast(rs_condition *condition)
{
  (void)pthread_cond_broadcast(condition);
}
