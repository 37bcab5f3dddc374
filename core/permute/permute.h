/* permute.h - a permutation verified, and elements moved by it. */
#ifndef RS_PERMUTE_PERMUTE_H
#define RS_PERMUTE_PERMUTE_H

#include "base/error.h"

/* CORRUPT_RESULT unless every index is below order->count and none comes twice. `seen` is memory
 * for order->count bytes. */
recsort_status rs_permutation_verify(const recsort_permutation *order, void *seen, unsigned threads,
                                     recsort_error *error);

/* True if index[i] == i for all i. */
bool rs_permutation_is_identity(const recsort_permutation *order);

/* Writes the permutation to `index`, widened or narrowed to `index_bits`; in place if both are the
 * same address and the width is the same. */
void rs_permutation_copy(const recsort_permutation *order, void *index, unsigned index_bits,
                         unsigned threads);

/* memcpy by several threads. */
void rs_copy(void *to, const void *from, size_t size, unsigned threads);

#endif
