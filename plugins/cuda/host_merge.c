#include "cuda/host_merge.h"

#include <omp.h>
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

void host_merge(const host_runs *runs, void *order, uint32_t index_bits, unsigned threads)
{
  const uint64_t count = runs->bounds[runs->count];
#pragma omp parallel num_threads(threads)
  {
    const uint64_t number = (uint64_t)omp_get_thread_num(), team = (uint64_t)omp_get_num_threads();
    const order_part part = {order, index_bits, count * number / team, count * (number + 1) / team};
    if (runs->key_width == 32)
      merge_32(runs, part);
    else if (runs->key_width == 64)
      merge_64(runs, part);
    else
      merge_128(runs, part);
  }
}
