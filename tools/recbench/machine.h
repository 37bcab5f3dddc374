/* machine.h - the context of a figure: the machine, and how recsort was built. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdint.h>

typedef struct bench_machine {
  char cpu[128];
  unsigned cores; /* processors that this process may run on */
  uint64_t memory;
  char kernel[160];
  char date[32];        /* UTC, ISO 8601 */
  const char *compiler; /* its name and version */
  const char *build;    /* the build type */
  const char *commit;   /* "unknown" outside a clone */
} bench_machine;

bench_machine machine_here(void);

#endif
