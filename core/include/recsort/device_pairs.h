/* device_pairs.h - sorts keys in a device's memory, with values or without, on your stream.
 *
 * Use it if you have arrays of keys already, in place of cub::DeviceRadixSort. That is still
 * faster for a million pairs or more of 32-bit keys with
 * values, and for 2^22 or more 32-bit floats without; docs/gpu-sort.md compares them. Records are
 * device.h's.
 *
 *   recsort_device_pairs_create       once
 *   recsort_device_pairs_workspace    once: how much device memory a sort takes
 *   recsort_device_pairs_sort         enqueues a sort, in memory of yours
 *   recsort_device_pairs_check        reports errors of sorts that have finished; optional
 *   recsort_device_pairs_destroy
 *
 * Distances with the numbers of entities, the farthest first:
 *
 *   recsort_device_pairs_job job = {.struct_size = sizeof job, .stream = stream, .count = count,
 *                                   .type = RECSORT_FLOAT32, .order = RECSORT_DESCENDING,
 *                                   .value_bits = 32, .keys_in = distances, .keys_out = sorted,
 *                                   .values_in = entities, .values_out = nearest_last};
 *   size_t bytes;
 *   void *workspace;
 *   recsort_device_pairs_workspace(pairs, &job, &bytes, &error);
 *   cudaMalloc(&workspace, bytes);
 *   recsort_device_pairs_sort(pairs, &job, workspace, bytes, &error);
 *
 * device.h says what "device memory" is, recsort.h what holds for every function. This header needs
 * no header of a GPU's maker.
 */
#ifndef RECSORT_DEVICE_PAIRS_H
#define RECSORT_DEVICE_PAIRS_H

#include "recsort.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct recsort_device_pairs recsort_device_pairs;

/* Opens what sorts pairs on a device; `options` may be NULL. You own it: destroy it with
 * recsort_device_pairs_destroy.
 *  - `plugin`, `algorithm`, `allocator` and `plugin_options` of the options mean what they mean
 *    elsewhere; the others have no meaning here. "auto" is the best plugin that can; there is one,
 *    "cuda".
 *  - The device is the one that is current in your thread, or the one of the plugin's option
 *    `device`. If the current context is one of that device, it is used; otherwise the device's
 *    primary one is. Streams and memory must be of that context, which must outlive what is opened
 *    here. Calls here change neither the current device nor the context of your thread.
 *  - It holds no device memory, but some pinned memory and streams.
 * Errors: PLUGIN_ERROR (no plugin here can, and why), OUT_OF_MEMORY, DEVICE_ERROR,
 * INVALID_ARGUMENT. Any thread. Waits for the device. */
RECSORT_API recsort_status recsort_device_pairs_create(const recsort_options *options,
                                                       recsort_device_pairs **pairs,
                                                       recsort_error *error);

/* Frees what create made; NULL is allowed. Its sorts must have finished, and graphs that have them
 * must not run any more.
 */
RECSORT_API void recsort_device_pairs_destroy(recsort_device_pairs *pairs);

/* A sort. Arrays are device memory with `count` elements each, aligned to the size of an element.
 */
typedef struct recsort_device_pairs_job {
  size_t struct_size;  /* RECSORT_DEVICE_PAIRS_JOB_INIT sets it */
  void *stream;        /* a cudaStream_t; NULL: the default stream */
  size_t count;        /* pairs; may be 0 */
  recsort_type type;   /* of keys: RECSORT_UINT32, INT32, FLOAT32, UINT64, INT64, FLOAT64, UINT128
                        * or INT128; in the device's byte order */
  recsort_order order; /* ascending or descending; equal keys keep their order in both */
  recsort_nan nan;     /* for floats. See "Floats" below */
  unsigned begin_bit;  /* only bits [begin_bit, end_bit) of a key are compared, the lowest one is
                        * bit 0. See "A range of bits" below */
  unsigned end_bit;    /* 0: all from begin_bit on */
  unsigned value_bits; /* of a value: 32 or 64, of any type; 0: there are no values */
  const void *keys_in;
  void *keys_out; /* sorted keys: `keys_in`, in place; or memory that overlaps no other array;
                   * NULL: not wanted */
  const void *values_in; /* NULL: the value of a key is its position, 0, 1, 2 ... */
  void *values_out; /* the values in the order of the keys: `values_in`, in place; or memory that
                     * overlaps no other array. So without values_in it gets the permutation:
                     * an argsort */
} recsort_device_pairs_job;

#define RECSORT_DEVICE_PAIRS_JOB_INIT RECSORT_INIT(recsort_device_pairs_job)

/* Floats: -0 equals +0 and all NaNs are equal, after the numbers or, with RECSORT_NAN_FIRST, before
 * them, in both orders. This is how recsort sorts records; equal keys keep their order and their
 * bits. With RECSORT_NAN_TOTAL keys are compared by all their bits, as in IEEE 754 totalOrder,
 * which takes less memory in place. (CUB compares NaNs by their bits too, and has -0 equal +0.) */

/* A range of bits: it is one of the key as an unsigned integer of the same order. So the sign bit
 * of an INT is inverted first, and a FLOAT is turned to such an integer; with a descending order
 * its bits are inverted then. All bits of a key move along with those that are compared. The fewer
 * bits are compared, the faster is the sort: keys of 64 or 128 bits whose range, with the bits of a
 * position, has at most 64 bits are sorted as fast as such narrower keys. */

/* Computes the bytes of workspace: enough for this job, and for any that differs from it only in
 * its stream and in having fewer pairs. Arrays are not accessed: of their pointers it only matters
 * whether those in and out are equal, as with all of them NULL, which asks for a sort in place.
 * Errors: INVALID_ARGUMENT, PLUGIN_ERROR (too many pairs). Any thread. */
RECSORT_API recsort_status recsort_device_pairs_workspace(const recsort_device_pairs *pairs,
                                                          const recsort_device_pairs_job *job,
                                                          size_t *bytes, recsort_error *error);

/* Enqueues a stable sort and returns. It does not wait for the device and allocates nothing, so you
 * may capture the stream in a graph and replay it with other contents of the same arrays.
 *  - `workspace` is device memory of `bytes` bytes, at a multiple of 256, that overlaps no array. A
 *    sort that follows on the same stream may have the same one.
 *  - Arrays in are not changed, unless they are also those out.
 *  - Whether a pointer is to device memory is not checked.
 *  - On a stream that you capture, keys in order are detected as recsort_device_sort says. In place
 *    they cost little then, as nothing moves.
 * Any thread: several threads may use `pairs` at once, and each waits while another one enqueues.
 * Sorts with different workspaces and arrays may run at the same time, on different streams.
 *
 * Errors: PLUGIN_ERROR (the workspace is too small, and what the sort takes), DEVICE_ERROR (a
 * launch failed, perhaps because of work enqueued earlier), INVALID_ARGUMENT. With an error of the
 * last kind nothing is written; with others arrays out may be partly written. */
RECSORT_API recsort_status recsort_device_pairs_sort(recsort_device_pairs *pairs,
                                                     const recsort_device_pairs_job *job,
                                                     void *workspace, size_t bytes,
                                                     recsort_error *error);

/* Reports what finished sorts have found since the last call. Wait for their streams first: this
 * call does not. Errors: CORRUPT_RESULT (the keys of a sort of many pairs are not in order; see the
 * plugin's option `verify`). Any thread. */
RECSORT_API recsort_status recsort_device_pairs_check(recsort_device_pairs *pairs,
                                                      recsort_error *error);

#ifdef __cplusplus
}
#endif

#endif
