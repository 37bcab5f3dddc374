/* corank.c - the merge sort whose threads co-rank their part of the output and merge it serially,
 * all in global memory (Kirk and Hwu, "Programming Massively Parallel Processors", ch. 12, fig.
 * 12.9, the basic kernel).
 *
 * Unlike the published kernel it merges all pairs of runs of a pass at once: a thread's outputs may
 * begin in one pair and end in another. Extra memory: none.
 */
#include "cuda/algorithms.h"
#include "cuda/plan.h"

#define TYPED_SOURCE "cuda/corank.inc"
#include "cuda/each_type.h"

DEVICE_SORT(corank)
