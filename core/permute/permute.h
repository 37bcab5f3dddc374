/* permute.h - verifies permutations and moves elements by them. */
#ifndef RS_PERMUTE_PERMUTE_H
#define RS_PERMUTE_PERMUTE_H

#include "base/assert.h"
#include "base/error.h"
#include "recsort/team.h"

/* A permutation: record at(i) of the input comes to place i. */
typedef struct rs_order {
  const void *index;   /* uint32_t or uint64_t */
  unsigned index_bits; /* 32 or 64 */
  size_t count;        /* of places; of a head, fewer than there are records */
} rs_order;

static inline uint64_t rs_order_at(const rs_order *order, size_t place)
{
  RS_ASSERT(place < order->count);
  return order->index_bits == 32 ? ((const uint32_t *)order->index)[place]
                                 : ((const uint64_t *)order->index)[place];
}

/* CORRUPT_RESULT unless all indices are below order->count and differ. `seen` is memory for
 * order->count bytes. */
recsort_status rs_order_verify(const rs_order *order, void *seen, team t, recsort_error *error);

/* Writes the elements of `from` at the indices of places [first, first + count) to `to`. */
void rs_gather(const rs_order *order, size_t first, size_t count, const void *from,
               size_t element_size, void *to, team t);

/* True if index[i] == i for all i. */
bool rs_order_is_identity(const rs_order *order);

/* Writes the permutation to `index`, widened or narrowed to `index_bits`; in place if both are the
 * same address and the width is the same. */
void rs_order_copy(const rs_order *order, void *index, unsigned index_bits, team t);

/* memcpy with a team. */
void rs_copy(void *to, const void *from, size_t size, team t);

#endif
