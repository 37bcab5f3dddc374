#include "cpu/gather.h"

#include <stdbool.h>
#include <string.h>

#include "base/assert.h"
#include "cpu/order.h"

/* `as` is a constant in each call. */
__attribute__((always_inline)) static inline void
gather_as(gathering g, size_t first, size_t count, const char *from, char *to, copy_class as)
{
  for (size_t i = 0; i < count; i++)
    copy_record(to + i * g.size, from + g.order[first + i] * g.size, g.size, as);
}

static void gather_each(const gathering *g, size_t first, size_t count, const char *from, char *to)
{
  switch (g->copy) {
  case COPY_TWO_4:
    gather_as(*g, first, count, from, to, COPY_TWO_4);
    break;
  case COPY_TWO_8:
    gather_as(*g, first, count, from, to, COPY_TWO_8);
    break;
  case COPY_TWO_16:
    gather_as(*g, first, count, from, to, COPY_TWO_16);
    break;
  case COPY_TWO_32:
    gather_as(*g, first, count, from, to, COPY_TWO_32);
    break;
  case COPY_BYTES:
    gather_as(*g, first, count, from, to, COPY_BYTES);
  }
}

/* ---- Nearly sorted records ---- */

enum { STRETCH = INDEX_STRETCH }; /* records that follow one another move at once */

/* Looks at a few places of an order. */
static bool has_stretches(const uint32_t *order, size_t count)
{
  enum { LOOKS = 4 };
  if (count < STRETCH) return false;
  for (size_t n = 0; n < LOOKS; n++) {
    const uint32_t *const at = order + (count - 1) * n / LOOKS;
    if (at[1] - at[0] != 1) return false;
  }
  return true;
}

void rs_gather_some(const gathering *g, size_t first, size_t count, const char *from, char *to)
{
  RS_ASSERT(first <= g->count && count <= g->count - first);
  if (!g->order) {
    memcpy(to, from + first * g->size, count * g->size);
    return;
  }
  if (!has_stretches(g->order + first, count)) {
    gather_each(g, first, count, from, to);
    return;
  }
  for (size_t i = 0; i < count; i += STRETCH) {
    const size_t some = count - i < STRETCH ? count - i : STRETCH;
    if (some == STRETCH && is_index_stretch(g->order + first + i))
      memcpy(to + i * g->size, from + g->order[first + i] * g->size, STRETCH * g->size);
    else
      gather_each(g, first + i, some, from, to + i * g->size);
  }
}
