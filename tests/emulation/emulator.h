/* emulator.h - what kernels need of CUDA, emulated on the host: device.h includes it if there is no
 * nvcc.
 *
 * Every thread of a block is a fiber, which runs until its next barrier, shuffle or end, in an
 * order that a test can choose; in a shuffled order, some warps run ahead of others. Blocks run one
 * after the other, also in a chosen order. A correct program gives the same result in every order.
 * An error shows in some order as a wrong result, as an access that a sanitizer reports, or as a
 * failed launch:
 *
 *  - threads wait at a barrier that others never reach, or at different ones;
 *  - accesses beyond the end of shared memory. This is filled with 0xee before each block or, in a
 *    shuffled order, with 0 or a random byte.
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

/* Passes `value` to the other lanes of the warp, and returns that of one. */
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
  const char *name; /* more text may follow the identifier */
} emulator_kernel;

enum {
  EMULATOR_OK = 0,
  EMULATOR_OUT_OF_MEMORY = 2,  /* cudaErrorMemoryAllocation */
  EMULATOR_BAD_LAUNCH = 9,     /* cudaErrorInvalidConfiguration */
  EMULATOR_LAUNCH_FAILED = 719 /* cudaErrorLaunchFailure */
};

void emulator_take_path(const char *name);

/* Called before each launch, copy and clear on a stream, and before the host waits for one. Returns
 * an error if that fails: then it is not done. */
int emulator_begin(const void *stream, bool waits);

/* Clears the memory if `from` is NULL. */
int emulator_copy(void *to, const void *from, size_t size);

int emulator_launch(const emulator_kernel *kernel, uint64_t grid, uint32_t block,
                    uint64_t shared_bytes, const void *args);

/* Additions of CUDA C++ to C++. The bounds of a launch are those of the kernel's arguments
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

/* Sets the order of threads and blocks in later launches. A shuffled one needs a seed other than
 * 0. */
void emulator_set_order(emulator_order order, uint64_t seed);

/* Sets the shared memory that a block may use, static arrays included, in later launches: at most
 * EMULATOR_SHARED_BYTES, the default. */
enum { EMULATOR_SHARED_BYTES = 227 * 1024 };
void emulator_set_shared(size_t bytes);

/* A barrier in the source. */
typedef struct emulator_site {
  const char *file;
  int line;
} emulator_site;

enum { EMULATOR_MAX_SITES = 64 };

/* Writes the barriers that were reached since the last emulator_clear_sites, at most
 * EMULATOR_MAX_SITES. Returns their number. */
size_t emulator_sites(emulator_site sites[EMULATOR_MAX_SITES]);
void emulator_clear_sites(void);

/* True if a block has had shared memory since then. */
bool emulator_used_shared(void);

/* From now on, threads do not wait at this barrier. */
void emulator_ignore(emulator_site site);

/* Counts from now on how often threads take a path that DEVICE_PATH names in a kernel. */
void emulator_count_path(const char *name);
size_t emulator_path_count(void);

/* What emulator_begin calls; NULL: nothing. */
extern int (*emulator_watch)(const void *stream, bool waits);

/* The reason of the last failed launch. */
const char *emulator_failure(void);

#ifdef __cplusplus
}
#endif

#endif
