#include "cpu/gather.h"

#include <string.h>

/* `as` is a constant in each call. */
__attribute__((always_inline)) static inline bool move_as(const gathering *g, size_t i,
                                                          const char *from, char *to, copy_class as)
{
  const uint32_t index = g->order[i];
  if (index >= g->count) return false;
  g->seen[index] = 1;
  copy_record(to, from + index * g->size, g->size, as);
  return true;
}

/* Many records do not fit the caches of a processor: the lines of both their ends are fetched
 * ahead. */
__attribute__((always_inline)) static inline bool
gather_as(gathering g, size_t first, size_t end, const char *from, char *to, copy_class as)
{
  enum { AHEAD = 32, CACHED = 1 << 19 };
  size_t i = first;
  if (g.count * g.size > CACHED)
    for (; i + AHEAD < end; i++) {
      const char *const ahead = from + g.order[i + AHEAD] * g.size;
      __builtin_prefetch(ahead);
      __builtin_prefetch(ahead + g.size - 1);
      if (!move_as(&g, i, from, to + (i - first) * g.size, as)) return false;
    }
  for (; i < end; i++)
    if (!move_as(&g, i, from, to + (i - first) * g.size, as)) return false;
  return true;
}

static bool gather_each(const gathering *g, size_t first, size_t count, const char *from, char *to)
{
  switch (g->copy) {
  case COPY_TWO_4:
    return gather_as(*g, first, first + count, from, to, COPY_TWO_4);
  case COPY_TWO_8:
    return gather_as(*g, first, first + count, from, to, COPY_TWO_8);
  case COPY_TWO_16:
    return gather_as(*g, first, first + count, from, to, COPY_TWO_16);
  case COPY_TWO_32:
    return gather_as(*g, first, first + count, from, to, COPY_TWO_32);
  case COPY_BYTES:
    break;
  }
  return gather_as(*g, first, first + count, from, to, COPY_BYTES);
}

/* ---- Nearly sorted records ---- */

enum { RUN = 16 }; /* records that follow one another move at once */

/* Looks at a few places of an order. */
static bool has_runs(const uint32_t *order, size_t count)
{
  enum { LOOKS = 4 };
  if (count < RUN) return false;
  for (size_t n = 0; n < LOOKS; n++) {
    const uint32_t *const at = order + (count - 1) * n / LOOKS;
    if (at[1] - at[0] != 1) return false;
  }
  return true;
}

/* False, and nothing has moved, if the next RUN records of the order do not follow one another. */
static bool move_run(const gathering *g, size_t i, const char *from, char *to)
{
  const uint32_t *const order = g->order + i;
  uint32_t differ = 0;
  for (uint32_t j = 0; j < RUN; j++)
    differ |= (order[j] - order[0]) ^ j;
  if (differ || order[0] >= g->count || g->count - order[0] < RUN) return false;
  memset(g->seen + order[0], 1, RUN);
  memcpy(to, from + order[0] * g->size, RUN * g->size);
  return true;
}

bool gather_some(const gathering *g, size_t first, size_t count, const char *from, char *to)
{
  if (!g->order) {
    memcpy(to, from + first * g->size, count * g->size);
    return true;
  }
  if (!has_runs(g->order + first, count)) return gather_each(g, first, count, from, to);
  for (size_t i = 0; i < count; i += RUN) {
    const size_t some = count - i < RUN ? count - i : RUN;
    if (some == RUN && move_run(g, first + i, from, to + i * g->size)) continue;
    if (!gather_each(g, first + i, some, from, to + i * g->size)) return false;
  }
  return true;
}

bool gathered_all(const gathering *g)
{
  return !g->order || !memchr(g->seen, 0, g->count);
}
