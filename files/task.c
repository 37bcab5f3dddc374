/* task.c - runs a function in a thread, or at once. */
#include "task.h"

#include <signal.h>
#include <stddef.h>

static void *run_task(void *argument)
{
  const rf_task *const task = argument;
  task->run(task->context);
  return NULL;
}

void rf_task_begin(rf_task *task, void (*run)(void *context), void *context)
{
  enum { STACK = 1 << 20 }; /* what these functions need; the default may be 8 MiB of a limit */
  sigset_t all, old;
  pthread_attr_t attributes;
  task->run = run;
  task->context = context;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &old); /* which the thread inherits */
  task->running = pthread_attr_init(&attributes) == 0;
  if (task->running) {
    pthread_attr_setstacksize(&attributes, STACK);
    task->running = pthread_create(&task->thread, &attributes, run_task, task) == 0;
    pthread_attr_destroy(&attributes);
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (!task->running) run(context);
}

void rf_task_end(rf_task *task)
{
  if (task->running) pthread_join(task->thread, NULL);
  task->running = false;
}
