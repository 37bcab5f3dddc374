/* suite.h - the cases that every device sort must pass in the emulator. */
#ifndef RS_EMULATION_SUITE_H
#define RS_EMULATION_SUITE_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu/algorithms.h"

typedef struct suite_tally {
  size_t passed;
  size_t failed;
  double longest; /* seconds that a case took */
} suite_tally;

/* Runs widths of keys and indices x patterns x lengths, with random orders of threads and blocks,
 * numbers of threads and sizes of tiles. Stops after `most_failures`; prints them if `loud`.
 * `patience` is the limit of a case, for barriers_limit(). */
suite_tally suite_run(const device_algorithm *algorithm, size_t most_failures, bool loud,
                      unsigned patience);

/* Cases that take the path of sample's kernels that DEVICE_PATH names so. Returns how often threads
 * took it. */
size_t suite_run_path(const device_algorithm *algorithm, const char *name, suite_tally *t);

/* suite_run with the shared memory of real devices, 48 to 227 KiB for a block, with the sort's own
 * blocks and tiles. No block may use more. */
suite_tally suite_run_devices(const device_algorithm *algorithm);

#endif
