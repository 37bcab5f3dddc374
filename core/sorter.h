/* sorter.h - what a sorter is, for the files at the top of core: the only ones that see all stages.
 *
 *   sorter.c     makes one, and tells about it
 *   pipeline.c   sorts
 *   check.c      looks whether records are sorted, and at what a plugin gave
 *   unique.c     keeps the first of each run of equal keys
 *   window.c     neighbours, for these two
 *   keys.c       gives the keys out
 */
#ifndef RS_SORTER_H
#define RS_SORTER_H

#include "base/error.h"
#include "base/memory.h"
#include "base/pool.h"
#include "plan/plan.h"
#include "plugin/choice.h"

struct recsort_sorter {
  recsort_allocator allocator;
  rs_arena arena;
  rs_plan plan;
  rs_choice choice; /* of the plugin that sorts */
  recsort_verify verify;
  team team;
  void *block; /* aligned as plugins ask for, which an allocator need not do */
  size_t block_size;
  void *allocation; /* what the block lies in */
  size_t allocation_size;
  uint64_t sortings;         /* sorting calls so far */
  recsort_permutation order; /* that the last one left in the block, if it left one */
  recsort_stats stats;
};

/* What every call on records needs: OK, and how many bytes `count` of them are. */
recsort_status rs_sorter_check(const recsort_sorter *sorter, const void *records, size_t count,
                               size_t *bytes, recsort_error *error);

/* Reads a permutation that a caller hands over. */
recsort_status rs_read_permutation(recsort_permutation *to, const recsort_permutation *from,
                                   recsort_error *error);

/* Whether `order` is the one that the sorter's block holds. */
bool rs_sorter_holds(const recsort_sorter *sorter, const recsort_permutation *order);

/* Of a result of the plugin in use: CORRUPT_RESULT, and where, unless keys ascend by `order`, a
 * permutation, and equal ones are in input order; or unless `sorted` holds the same records and
 * their keys ascend. Bounded memory. */
recsort_status rs_sorter_check_order(const recsort_sorter *sorter, const void *records,
                                     const recsort_permutation *order, recsort_error *error);
recsort_status rs_sorter_check_moved(recsort_sorter *sorter, const void *records,
                                     const void *sorted, size_t count, recsort_error *error);

/* Frees the block that sorting works in. */
void rs_sorter_release_block(recsort_sorter *sorter);

#endif
