/* pairs.c - the sort of pairs: by the order that is there, or by merging blocks. */
#include "cpu/pairs.h"

void rs_pairs_sort(pair_buffers buffers)
{
  enum { WORTH_A_LOOK = 512 };
  if (buffers.count < WORTH_A_LOOK || !rs_presorted_sort(buffers)) rs_random_sort(buffers, true);
}
