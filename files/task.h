/* task.h - runs a function concurrently with its caller. */
#ifndef FILES_TASK_H
#define FILES_TASK_H

#include <pthread.h>
#include <stdbool.h>

/* Zero it before use. */
typedef struct rf_task {
  void (*run)(void *context);
  void *context;
  pthread_t thread;
  bool running;
} rf_task;

/* Starts run(context) in a new thread that blocks all signals, or runs it at once if no thread can
 * be created. The task must not move until it has ended. */
void rf_task_begin(rf_task *task, void (*run)(void *context), void *context);
/* Waits for the task. Does nothing if it has ended or never started. */
void rf_task_end(rf_task *task);

#endif
