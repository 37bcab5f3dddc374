/* task.h - something that is done while the caller does something else. */
#ifndef TOOL_TASK_H
#define TOOL_TASK_H

#include <pthread.h>
#include <stdbool.h>

/* All zero: none. */
typedef struct tool_task {
  void (*run)(void *context);
  void *context;
  pthread_t thread;
  bool running;
} tool_task;

/* Begins `run(context)` in a thread of its own. Where there can be none, it is done when this
 * returns. The task must stay where it is until it has ended. */
void tool_task_begin(tool_task *task, void (*run)(void *context), void *context);
/* Waits until it is done. Nothing happens if it has ended, or never begun. */
void tool_task_end(tool_task *task);

#endif
