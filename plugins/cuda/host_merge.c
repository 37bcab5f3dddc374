#include "cuda/host_merge.h"

#include <stdbool.h>

#include "common/co_rank.h"

#define SPENT (UINT32_C(1) << 31)

__extension__ typedef unsigned __int128 uint128;

/* Elements [begin, end) of an order of 32 or 64 bits each. */
typedef struct order_part {
  void *order;
  uint32_t bits;
  uint64_t begin;
  uint64_t end;
} order_part;

static inline void set(order_part part, uint64_t i, uint64_t value)
{
  if (part.bits == 32)
    ((uint32_t *)part.order)[i] = (uint32_t)value;
  else
    ((uint64_t *)part.order)[i] = value;
}

#define KEY uint32_t
#define TYPED(name) name##_32
#include "cuda/host_merge.inc"
#undef KEY
#undef TYPED

#define KEY uint64_t
#define TYPED(name) name##_64
#include "cuda/host_merge.inc"
#undef KEY
#undef TYPED

#define KEY uint128
#define TYPED(name) name##_128
#include "cuda/host_merge.inc"
#undef KEY
#undef TYPED

typedef struct merge_job {
  const host_runs *runs;
  void *order;
  uint32_t index_bits;
  size_t pieces;
} merge_job;

static void merge_piece(void *argument, size_t piece, unsigned slot)
{
  const merge_job *const job = argument;
  const host_runs *const runs = job->runs;
  const team_range range = team_cut((size_t)runs->bounds[runs->count], piece, job->pieces);
  const order_part part = {job->order, job->index_bits, range.begin, range.end};
  (void)slot;
  if (runs->key_width == 32)
    merge_32(runs, part);
  else if (runs->key_width == 64)
    merge_64(runs, part);
  else
    merge_128(runs, part);
}

void host_merge(const host_runs *runs, void *order, uint32_t index_bits, team t)
{
  merge_job job = {runs, order, index_bits, team_pieces(t)};
  team_each(t, job.pieces, merge_piece, &job);
}
