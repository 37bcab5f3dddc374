/* standin.h - a CUDA runtime with no GPU behind it, and how tests make it fail.
 *
 * Device memory and pinned memory are host memory that begins poisoned; kernels run through the
 * emulator. A copy down arrives when its stream is waited for, and the source of a copy up must
 * stay as it is until then. Each thread has a current device and a stack of contexts; what is done
 * on a device is counted for it. Threads take turns. It is a library of its own, so that a test and
 * the plugin that the test loads share it. A test sets the plan through calls; a tool gets it
 * through the environment:
 *
 *   STANDIN_PLAN     numbers, those of standin_plan in their order
 *   STANDIN_CALLS    a file that gets the number of calls when the process ends
 */
#ifndef STANDIN_H
#define STANDIN_H

#include <stdbool.h>
#include <stddef.h>

enum { STANDIN_DEVICES = 4 };

typedef struct standin_plan {
  long fail_at; /* the call that fails, from 1; 0: none */
  long code;    /* what with; 0: what such a call is likely to fail with */
  long sticky;  /* not 0: and every call after it */
  long memory;  /* bytes of the device; 0: 64 MiB */
  long devices; /* one less than there are */
  long driver; /* 0: new enough; otherwise, what cudaDriverGetVersion says of an old one, 1: none */
  long capability; /* 0: 90 */
} standin_plan;

typedef struct standin_state {
  long calls;
  long blocks;  /* of device or pinned memory that were not freed */
  long streams; /* not destroyed */
  long most;    /* bytes of device memory at once, since it began */
  long launches;
  long misuses;    /* copies outside device or pinned memory, wrong frees, a source that changed,
                      contexts pushed that were not retained, threads that left what they pushed */
  long first_down; /* the call that first started a copy down; 0: none did */
  long work[STANDIN_DEVICES];  /* calls that went to a device: memory, copies, streams, kernels */
  bool woken[STANDIN_DEVICES]; /* it has had a context */
} standin_state;

void standin_begin(standin_plan plan);
standin_state standin_look(void);

/* Counts a call as any other, for functions that the stand-in does not have itself: 0, or the code
 * that it is to fail with. */
int standin_call(int likely_code);

/* The same for one that goes to the thread's current device. */
int standin_work(int likely_code);

/* The calling thread's current device, and how many contexts it has pushed and not popped. */
int standin_current(void);
unsigned standin_depth(void);

/* Called before each launch to come, with its number from 1, while no other thread has its turn; to
 * do to the device's memory what a faulty device might. NULL: nothing. */
void standin_watch(void (*before)(long number));
void standin_launching(void);

/* Around what threads must do by turns. */
void standin_lock(void);
void standin_unlock(void);

#endif
