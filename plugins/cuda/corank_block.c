/* corank_block.c - co-ranking merge sorts through shared memory (Kirk and Hwu, "Programming
 * Massively Parallel Processors", ch. 12).
 *
 *   tiles             each block sorts one in shared memory (corank_block.inc)
 *   corank-tiled      a block co-ranks its part of a pass's output, then again and again loads a
 *                     tile of both runs, of which each thread merges a part (corank_tiled.inc)
 *   corank-circular   the same, but what a tile still holds stays there (corank_circular.inc)
 *
 * Unlike the published code: a block's bounds have an array of their own; the last, short tile
 * counts as what it is; every thread's part is rounded up. Extra memory: none.
 */
#include "cuda/algorithms.h"
#include "cuda/plan.h"

#define TYPED_SOURCE "cuda/corank_block.inc"
#include "cuda/each_type.h"

DEVICE_SORT(corank_tiled)
DEVICE_SORT(corank_circular)
