/* rank.c - merge sorts by ranking: each thread finds the place of one element by its own offset and
 * a search in the sibling chunk (Montalto, "GPU merge sort", 3.1).
 *
 *   rank       every pass in global memory
 *   rank-sm8   the passes within a block in shared memory: the first 8 with blocks of 256
 *   rank-sm9   the pass after these with the sibling chunk staged in shared memory
 *   rank-sm    every pass in which the sibling chunk fits there
 *
 * Unlike the published code: any count, without padding; threads that have no element still reach
 * the barriers; pairs instead of structs. Extra memory: none.
 */
#include "cuda/algorithms.h"
#include "cuda/plan.h"

#define TYPED_SOURCE "cuda/rank.inc"
#include "cuda/each_type.h"

DEVICE_SORT(rank)
DEVICE_SORT(rank_sm8)
DEVICE_SORT(rank_sm9)
DEVICE_SORT(rank_sm)
