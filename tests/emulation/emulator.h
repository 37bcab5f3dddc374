/* emulator.h - what a kernel needs of CUDA, without CUDA: device.h includes it where there is no
 * nvcc.
 *
 * Every thread of a block is a fiber, which runs until its next barrier, shuffle or end, in an
 * order that a test can choose, in a shuffled one some warps ahead of others; so are the blocks,
 * one after the other. A program that is right gives the same result in every order. What is wrong
 * in one order shows as a wrong result, as an access that a sanitizer reports, or as a failed
 * launch:
 *
 *  - threads that wait at a barrier which others never reach, or at different ones;
 *  - accesses behind the end of shared memory. It is filled with 0xee before each block; if
 * the order is shuffled with 0 or any byte.
 *
 * Not thread-safe: one launch at a time. Not emulated: threads of a warp that shuffle without all
 * others of the warp; atomics, for which plain accesses do, as only one thread runs at a time.
 */
#ifndef RS_EMULATOR_H
#define RS_EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- For kernels ---- */

typedef struct emulator_index {
  unsigned x, y, z;
} emulator_index;

extern emulator_index threadIdx, blockIdx, blockDim, gridDim;

#define __syncthreads() emulator_barrier(__FILE__, __LINE__)
#define __syncwarp() ((void)emulator_exchange(0, 0, __FILE__, __LINE__))

/* For values of up to 64 bits, and all 32 lanes. */
#define EMULATOR_LANE (threadIdx.x % EMULATOR_WARP)
#define EMULATOR_SHUFFLE(value, lane)                                                              \
  ((__typeof__(+(value)))emulator_exchange((uint64_t)(value), lane, __FILE__, __LINE__))
#define __shfl_sync(mask, value, lane) ((void)(mask), EMULATOR_SHUFFLE(value, lane))
#define __shfl_xor_sync(mask, value, bits)                                                         \
  ((void)(mask), EMULATOR_SHUFFLE(value, EMULATOR_LANE ^ (unsigned)(bits)))
#define __shfl_up_sync(mask, value, by)                                                            \
  ((void)(mask),                                                                                   \
   EMULATOR_SHUFFLE(value, EMULATOR_LANE < (unsigned)(by) ? EMULATOR_LANE                          \
                                                          : EMULATOR_LANE - (unsigned)(by)))
#define __shfl_down_sync(mask, value, by)                                                          \
  ((void)(mask), EMULATOR_SHUFFLE(value, EMULATOR_LANE + (unsigned)(by) < EMULATOR_WARP            \
                                             ? EMULATOR_LANE + (unsigned)(by)                      \
                                             : EMULATOR_LANE))

#define __ballot_sync(mask, value) ((void)(mask), emulator_ballot(value, __FILE__, __LINE__))
#define __match_any_sync(mask, value) ((void)(mask), emulator_match(value, __FILE__, __LINE__))

enum { EMULATOR_WARP = 32 };

void emulator_barrier(const char *file, int line);

/* Gives `value` to the other lanes of the warp, and returns that of one. */
uint64_t emulator_exchange(uint64_t value, unsigned lane, const char *file, int line);

/* A bit for each lane whose value is true. */
uint32_t emulator_ballot(bool value, const char *file, int line);

/* A bit for each lane that gives the same value. */
uint32_t emulator_match(uint64_t value, const char *file, int line);

void *emulator_shared(void);
void *emulator_shared_array(const char *id, size_t size);

/* ---- For device.h ---- */

typedef struct emulator_kernel {
  void (*thread)(const void *args);
  unsigned max_threads;
} emulator_kernel;

enum {
  EMULATOR_OK = 0,
  EMULATOR_OUT_OF_MEMORY = 2,  /* cudaErrorMemoryAllocation */
  EMULATOR_BAD_LAUNCH = 9,     /* cudaErrorInvalidConfiguration */
  EMULATOR_LAUNCH_FAILED = 719 /* cudaErrorLaunchFailure */
};

int emulator_launch(const emulator_kernel *kernel, uint64_t grid, uint32_t block,
                    uint64_t shared_bytes, const void *args);

/* What CUDA C++ adds to C++. The bounds of a launch are those of the kernel's arguments
 * (device_launch in device.h). */
#ifdef __cplusplus
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __grid_constant__
#define __launch_bounds__(...)
#endif

/* ---- For tests ---- */

typedef enum emulator_order {
  EMULATOR_FORWARD,
  EMULATOR_REVERSE,
  EMULATOR_SHUFFLED,
  EMULATOR_ORDERS
} emulator_order;

/* The order of threads and of blocks in the launches to come. A shuffled one wants a seed that is
 * not 0. */
void emulator_set_order(emulator_order order, uint64_t seed);

/* The shared memory that a block of the emulated device may use, static arrays included, in the
 * launches to come: at most EMULATOR_SHARED_BYTES, which it is at first. */
enum { EMULATOR_SHARED_BYTES = 227 * 1024 };
void emulator_set_shared(size_t bytes);

/* A barrier in the source. */
typedef struct emulator_site {
  const char *file;
  int line;
} emulator_site;

enum { EMULATOR_MAX_SITES = 64 };

/* The barriers that were reached since the last emulator_clear_sites, in at most
 * EMULATOR_MAX_SITES; returns how many. */
size_t emulator_sites(emulator_site sites[EMULATOR_MAX_SITES]);
void emulator_clear_sites(void);

/* From now on, threads do not wait at this barrier. */
void emulator_ignore(emulator_site site);

/* Why the last launch that failed did. */
const char *emulator_failure(void);

#ifdef __cplusplus
}
#endif

#endif
