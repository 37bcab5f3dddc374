/* meeting.h - tasks that wait until all of them run. */
#ifndef TEST_THREADS_MEETING_H
#define TEST_THREADS_MEETING_H

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

typedef struct meeting {
  atomic_uint come;
  unsigned wanted;
} meeting;

static inline void meet(void *argument, size_t number)
{
  meeting *const m = argument;
  const time_t end = time(NULL) + 20;
  (void)number;
  (void)atomic_fetch_add(&m->come, 1);
  while (m->come < m->wanted && time(NULL) < end)
    (void)sched_yield();
}

#endif
