/* suite.h - the cases that every device sort must pass, its kernels run by the emulator. */
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

/* Widths of keys and indices x patterns x lengths; chance picks the order of threads and blocks,
 * the number of threads and the size of tiles. Stops after `most_failures`, tells of them if
 * `loud`. A case that takes longer than `patience` seconds ends the process, by SIGALRM; 0: none
 * does. */
suite_tally suite_run(const device_algorithm *algorithm, size_t most_failures, bool loud,
                      unsigned patience);

/* The same as on real devices, which have 48 to 227 KiB of shared memory a block: the sort's own
 * blocks and tiles, and no block that uses more than there is. */
suite_tally suite_run_devices(const device_algorithm *algorithm);

#endif
