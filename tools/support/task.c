/* task.c - runs a function in a thread, or at once. */
#include "support/task.h"

#include <stddef.h>

static void *run_task(void *argument)
{
  const tool_task *const task = argument;
  task->run(task->context);
  return NULL;
}

void tool_task_begin(tool_task *task, void (*run)(void *context), void *context)
{
  task->run = run;
  task->context = context;
  task->running = pthread_create(&task->thread, NULL, run_task, task) == 0;
  if (!task->running) run(context);
}

void tool_task_end(tool_task *task)
{
  if (task->running) pthread_join(task->thread, NULL);
  task->running = false;
}
