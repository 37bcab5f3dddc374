/* sample.h - the default sort of the device, a sample sort, and the merge of sorted runs that it
 * can also do. docs/gpu-sort.md shows how they go. */
#ifndef RECSORT_CUDA_SAMPLE_H
#define RECSORT_CUDA_SAMPLE_H

#include <stdbool.h>

#include "gpu/device_sort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sorts pairs of a key and its index, no two of which are equal: few by their ranks, many by
 * scattering them to buckets; pairs with indices of 64 bits, as merge_sort does. Waits for the
 * device only if pairs are many and the job has a mailbox, to see whether their keys are in order
 * already. */
device_sort sample_sort;

/* The bytes of device_buffers.extra that it needs, aligned to 16. */
uint64_t sample_extra_bytes(const device_job *job);

device_skills sample_skills(const device_job *job);

enum { SAMPLE_MOST_RUNS = 128 }; /* that sample_merge takes, if a block has enough memory */

/* True if sample_merge takes so many runs, and is faster than sample_sort. It takes none if indices
 * have 64 bits. */
bool sample_merges(const device_job *job, uint32_t runs);

/* The last pass of the merge sort: merges sorted runs of pairs, each of `width` but for the last
 * one, from one side of the buffers to the other. No two pairs have the same index. Packed pairs
 * are where pair_array_of_side() says; those of the result are unpacked. Needs
 * sample_merge_pairs_bytes() of buffers.extra; waits for nothing. */
device_status sample_merge_pairs(const device_job *job, uint64_t width,
                                 const device_buffers *buffers, unsigned side);
uint64_t sample_merge_pairs_bytes(const device_job *job, uint64_t width);

/* True if it takes so many runs, and the pairs are so many that it is faster than passes of two. It
 * takes none if indices have 64 bits. With twice as many runs it is no faster, and needs twice the
 * memory. */
enum { SAMPLE_MERGED_RUNS = 64 };
bool sample_merges_pairs(const device_job *job, uint64_t runs);

/* Merges sorted runs of keys in buffers.keys[0], none of them empty: run r is keys [bounds[r],
 * bounds[r + 1]). The pairs go to the second pair of buffers. Needs no other memory; waits for
 * nothing. */
device_status sample_merge(const device_job *job, const uint64_t *bounds, uint32_t runs,
                           const device_buffers *buffers);

#ifdef __cplusplus
}
#endif

#endif
