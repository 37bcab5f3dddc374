/* meeting.h - tasks that wait until all of them run, or for so long that they never will. */
#ifndef TEST_THREADS_MEETING_H
#define TEST_THREADS_MEETING_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

typedef struct meeting {
  atomic_uint come;
  unsigned wanted;
  atomic_bool missed; /* a task has left before all were there: they run one after the other */
} meeting;

static inline void meet(void *argument, size_t number)
{
  meeting *const m = argument;
  const time_t end = time(NULL) + 120;
  (void)number;
  (void)atomic_fetch_add(&m->come, 1);
  while (m->come < m->wanted && time(NULL) < end)
    (void)sched_yield();
  if (m->come < m->wanted) m->missed = true;
}

#endif
