/* permute.h - verifies permutations and moves elements by them. */
#ifndef RS_PERMUTE_PERMUTE_H
#define RS_PERMUTE_PERMUTE_H

#include "base/error.h"
#include "recsort/team.h"

/* CORRUPT_RESULT unless all indices are below order->count and differ. `seen` is memory for
 * order->count bytes. */
recsort_status rs_permutation_verify(const recsort_permutation *order, void *seen, team t,
                                     recsort_error *error);

/* recsort_gather with a team. */
void rs_gather(const recsort_permutation *order, size_t first, size_t count, const void *from,
               size_t element_size, void *to, team t);

/* True if index[i] == i for all i. */
bool rs_permutation_is_identity(const recsort_permutation *order);

/* Writes the permutation to `index`, widened or narrowed to `index_bits`; in place if both are the
 * same address and the width is the same. */
void rs_permutation_copy(const recsort_permutation *order, void *index, unsigned index_bits,
                         team t);

/* memcpy with a team. */
void rs_copy(void *to, const void *from, size_t size, team t);

#endif
