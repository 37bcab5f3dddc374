/* head.h - the first records of the order, for a sorter that has a head. */
#ifndef RS_HEAD_H
#define RS_HEAD_H

#include "sorter.h"

/* How many of `count` records are wanted. */
static inline size_t rs_head_count(const recsort_sorter *sorter, size_t count)
{
  return sorter->head && sorter->head < count ? sorter->head : count;
}

/* True if sorter->head of `count` records are selected; otherwise all are sorted. */
bool rs_head_suits(const recsort_sorter *sorter, size_t count);

/* The most records, up to `count`, that are sorted all and not selected from. */
size_t rs_head_most_sorted(const recsort_sorter *sorter, size_t count);

/* The size of the block that selecting takes. */
recsort_status rs_head_memory(const recsort_sorter *sorter, size_t count, size_t *bytes,
                              recsort_error *error);

/* Leaves the order of the first sorter->head of `count` records in the block. */
recsort_status rs_head_find(recsort_sorter *sorter, const void *records, size_t count,
                            recsort_permutation *order, recsort_error *error);

#endif
