/* task.h - runs a function concurrently with its caller. */
#ifndef TOOL_TASK_H
#define TOOL_TASK_H

#include <pthread.h>
#include <stdbool.h>

/* Zero it before use. */
typedef struct tool_task {
  void (*run)(void *context);
  void *context;
  pthread_t thread;
  bool running;
} tool_task;

/* Starts run(context) in a new thread, or runs it at once if no thread can be created. The task
 * must not move until it has ended. */
void tool_task_begin(tool_task *task, void (*run)(void *context), void *context);
/* Waits for the task. Does nothing if it has ended or never started. */
void tool_task_end(tool_task *task);

#endif
