/* twin.h - deliberate mistakes, to show that the tests would see them.
 *
 * TWIN(name, broken, right) is `right`, but for the emulated kernels of the tests: there one
 * mistake of the list in emulator.h can be switched on. (A barrier needs no twin: the emulator can
 * ignore any.)
 */
#ifndef RECSORT_CUDA_TWIN_H
#define RECSORT_CUDA_TWIN_H

#if defined RECSORT_EMULATED && !defined __CUDACC__
#include "emulator.h"
#define TWIN(name, broken, right) (emulator_twin == TWIN_##name ? (broken) : (right))
#else
#define TWIN(name, broken, right) (right)
#endif

#endif
