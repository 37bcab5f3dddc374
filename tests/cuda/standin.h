/* standin.h - a CUDA runtime without a GPU, which tests can make fail.
 *
 * Device memory and pinned memory are host memory, poisoned at first; kernels run in the emulator.
 * A copy down arrives when its stream is waited for, and the source of a copy up must not change
 * until then. Each thread has a current device and a stack of contexts; calls are counted for each
 * device. A lock serializes calls. It is a shared library, so that a test and the plugin that it
 * loads share it. A test sets the plan by calls; a tool gets it through the environment:
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
  long fail_at;    /* the call that fails, from 1; 0: none */
  long code;       /* its error; 0: the usual one for such a call */
  long sticky;     /* not 0: every later call fails too */
  long memory;     /* bytes of the device; 0: 64 MiB */
  long devices;    /* number of devices, less one */
  long driver;     /* 0: new enough; 1: no driver; otherwise the version of an old one */
  long capability; /* 0: 90 */
  long capturing;  /* not 0: a stream is being captured, so the device cannot be waited for */
  long apart;      /* not 0: no device can access the memory of another one */
} standin_plan;

typedef struct standin_state {
  long calls;
  long blocks;      /* blocks of device or pinned memory that were not freed */
  long allocations; /* how many were made */
  long streams;     /* streams that were not destroyed */
  long most;        /* the most bytes of device memory at a time */
  long launches;
  long waits;      /* for a stream or the device */
  long misuses;    /* copies outside device or pinned memory, wrong frees, changed sources, pushed
                    * contexts that were not retained, threads that ended without popping */
  long first_down; /* the first call that started a copy down; 0: none */
  /* Of the devices in their primary contexts, then in the others that tests have made: */
  long work[2 * STANDIN_DEVICES];  /* calls that went there: memory, copies, streams, kernels */
  bool woken[2 * STANDIN_DEVICES]; /* there was a context */
} standin_state;

void standin_begin(standin_plan plan);
standin_state standin_look(void);

/* The bytes that copies between devices have taken from one to another since the plan began. */
size_t standin_sent(void);

/* The size of standin_state, which tests in Python describe a second time. */
size_t standin_state_size(void);

/* Counts a call, for functions outside the stand-in. Returns 0, or the code with which it must
 * fail. */
int standin_call(int likely_code);

/* The same for a call to the thread's current device. */
int standin_work(int likely_code);

/* The calling thread's current device, and how many contexts it has pushed and not popped. */
int standin_current(void);
unsigned standin_depth(void);

/* Sets a function that is called before each later launch, with its number from 1, under the lock.
 * It can do to the device's memory what a faulty device might. NULL: none. */
void standin_watch(void (*before)(long number));
void standin_launching(void);

/* The lock that serializes threads. */
void standin_lock(void);
void standin_unlock(void);

#endif
